"""What real clients get in one cell: kcat, Java's console tools, kafka-python.

Each oracle does both hops and tells *which brokers answered it*. The topic of `lead_topics`
tells brokers apart: an offset of partition i can only come from its leader.

What each can tell when an advertised endpoint leads to another broker than the one it names:
- kcat and kafka-python get NOT_LEADER (or, from another cluster, UNKNOWN_TOPIC) and retry until
  their time is up; `wrong` holds the brokers whose partition ended that way. Of several node ids
  that share one address librdkafka can use at most one, so kcat may reach fewer brokers than the
  two others: a difference between clients, not an error of the lab.
- Java's `kafka-broker-api-versions` does not notice: it prints the answer of whoever listens
  there under the name it wanted. So reached is what `kafka-get-offsets` got, and `wrong` is what
  only the former got.
Where no topic can be made, Java's `reached` is what `kafka-broker-api-versions` got and the two
others know hop 1 alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.lab.answers import Answer, read_java, read_kcat, read_python
from tests.lab.errors import LabError
from tests.lab.java_tools import JavaTools
from tests.lab.lead_topics import Topic
from tests.lab.processes import run
from tests.lab.run_record import MARK
from tests.lab.vantages import Vantage

ORACLES = ("kcat", "java", "kafka-python")
_SECONDS = 5
_API_VERSIONS = "kafka.admin.BrokerApiVersionsCommand"
_GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
_CONFIG = ("--command-config", "/opt/lab/client.properties")
# Cells wait for time-outs far more than they compute, yet a working cell must not starve.
_CELLS_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One question: from where, with which bootstrap address, knowing which topic."""

    vantage: Vantage
    bootstrap: str
    topic: Topic | None


class Oracles:
    """The three clients; close at the end (the JVMs are kept between questions)."""

    def __init__(self, root: Path, run_id: str) -> None:
        self._root = root
        self._run_id = run_id
        self._java = JavaTools(root, run_id)

    def close(self) -> None:
        """End the JVMs."""
        self._java.close()

    def ask(self, oracle: str, cell: Cell) -> Answer:
        """What one client gets."""
        match oracle:
            case "kcat":
                return self.kcat(cell)
            case "java":
                return self.java(cell)
            case "kafka-python":
                return self.kafka_python(cell)
        raise LabError(f"no oracle {oracle!r}, there are {', '.join(ORACLES)}")

    def ask_all(self, cells: Iterable[Cell], oracles: Sequence[str] = ORACLES) -> dict[tuple[Cell, str], Answer]:
        """Every cell by every oracle, several at once; one they disagree on again, alone."""
        questions = [(cell, oracle) for cell in cells for oracle in oracles]
        with ThreadPoolExecutor(_CELLS_AT_ONCE) as pool:
            answers = pool.map(lambda question: self.ask(question[1], question[0]), questions)
            found = dict(zip(questions, answers, strict=True))
        for cell in {cell for cell, _ in questions}:
            if len({found[cell, oracle].verdict() for oracle in oracles}) > 1:
                # Perhaps the machine was only busy: what is reported was asked alone.
                found.update({(cell, oracle): self.ask(oracle, cell) for oracle in oracles})
        return found

    def kcat(self, cell: Cell) -> Answer:
        """librdkafka."""
        return read_kcat(self.kcat_prints(cell), cell.topic)

    def kcat_prints(self, cell: Cell) -> str:
        """What librdkafka writes meanwhile."""
        name, count = _topic_words(cell)
        return self._run(cell, ["sh", "/opt/lab/kcat-cell", cell.bootstrap, name, str(count), str(_SECONDS)])

    def kafka_python(self, cell: Cell) -> Answer:
        """kafka-python."""
        name, count = _topic_words(cell)
        words = ["python3", "/opt/lab/offsets.py", cell.bootstrap, name, str(count), str(_SECONDS)]
        return read_python(self._run(cell, words), cell.topic)

    def java(self, cell: Cell) -> Answer:
        """The Java client, through two of Kafka's console tools."""
        start = ("--bootstrap-server", cell.bootstrap, *_CONFIG)
        place = cell.vantage.place
        with ThreadPoolExecutor(2) as pool:
            versions = pool.submit(self._java.call, place, _API_VERSIONS, start, 20)
            offsets = None
            if cell.topic is not None:
                words = (*start, "--topic", cell.topic.name)
                offsets = pool.submit(self._java.call, place, _GET_OFFSETS, words, 40)
            return read_java(versions.result(), offsets.result() if offsets else None, cell.topic)

    def java_tool(self, vantage: Vantage, tool: str, arguments: Sequence[str], limit: float) -> str:
        """What one of Kafka's console tools prints at a vantage."""
        return self._java.call(vantage.place, tool, arguments, limit).text

    def _run(self, cell: Cell, words: Sequence[str]) -> str:
        done = run(
            cell.vantage.place.argv_in_root(self._root, words),
            check=False,
            timeout=60,
            env={MARK: self._run_id, "LC_ALL": "C.UTF-8"},
        )
        if done.returncode == 125:
            raise LabError(f"cannot stand at {cell.vantage.name}: {done.stderr}")
        return done.stdout + done.stderr


def _topic_words(cell: Cell) -> tuple[str, int]:
    return (cell.topic.name, len(cell.topic.leaders)) if cell.topic else ("", 0)
