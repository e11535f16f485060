"""From what a client printed to which brokers answered it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.lab.java_tools import Printed
from tests.lab.lead_topics import Topic

_WRONG = re.compile(r"not leader|unknown topic", re.IGNORECASE)
# librdkafka keeps one broker per host:port. Of two node ids that share an address it can use one
# at most; partitions of the other are "unknown" to it although the metadata names their leader.
_MERGED = "Unknown partition"
_NO_BROKERS = ": 0 brokers, "
# What kafka-python says of UNKNOWN_TOPIC_OR_PARTITION.
_NOT_THERE = "not found in cluster metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One client's cell.

    `advertised`: the node ids that the metadata names. `reached`: of those, the ones that
    answered as themselves. `wrong`: the ones in whose place another broker answered.
    """

    oracle: str
    bootstrap_ok: bool
    advertised: tuple[int, ...]
    reached: frozenset[int]
    wrong: frozenset[int]
    error: str
    raw: str

    def verdict(self) -> str:
        """The word of the cell: one table, from the sets above alone."""
        if not self.bootstrap_ok:
            return "bootstrap"
        if not self.advertised:
            return "no-brokers"
        if self.reached >= set(self.advertised):
            return "ok"
        if self.reached:
            return f"partial {len(self.reached)}/{len(self.advertised)}"
        return "wrong-broker" if self.wrong else "advertised"


def read_kcat(printed: str, topic: Topic | None) -> Answer:
    """From the sections that kcat-cell prints."""
    sections = _sections(printed)
    status, metadata = sections.get("metadata", (1, printed))
    start = metadata.find('{"originating_broker"')
    if status != 0 or start < 0:
        return _failed("kcat", metadata, printed, is_empty=_NO_BROKERS in metadata)
    found: dict[str, Any] = json.JSONDecoder().raw_decode(metadata[start:])[0]
    reached, wrong, merged, errors = set(), set(), set(), []
    for number, node in enumerate(topic.leaders if topic else ()):
        status, said = sections.get(str(number), (1, ""))
        if status == 0 and f"[{number}] offset" in said:
            reached.add(node)
        else:
            errors.append(said)
            if _WRONG.search(said):
                wrong.add(node)
            if _MERGED in said:
                merged.add(node)
    if reached or wrong:
        # The shared address answers, as another broker; otherwise nobody answers there.
        wrong |= merged
    return Answer(
        oracle="kcat",
        bootstrap_ok=True,
        advertised=tuple(sorted(broker["id"] for broker in found["brokers"])),
        reached=frozenset(reached),
        wrong=frozenset(wrong),
        error=_last_line("\n".join(errors)),
        raw=printed,
    )


def read_python(printed: str, topic: Topic | None) -> Answer:
    """From the JSON object that offsets.py prints."""
    start = printed.find('{"nodes"')
    if start < 0:
        return _failed("kafka-python", printed, printed)
    found: dict[str, Any] = json.JSONDecoder().raw_decode(printed[start:])[0]
    if found["nodes"] is None:
        return _failed("kafka-python", found["error"], printed)
    leaders = topic.leaders if topic else ()
    ends = dict(zip(leaders, found["partitions"], strict=True))
    wrong = {leaders[number] for number in found["misled"] if ends[leaders[number]] is not None}
    if topic and any(f"Topic {topic.name} {_NOT_THERE}" in line for line in found["log"]):
        # It is in the cluster that the bootstrap address leads to; who was asked afterwards has another one.
        wrong |= {node for node, end in ends.items() if end is not None}
    return Answer(
        oracle="kafka-python",
        bootstrap_ok=True,
        advertised=tuple(found["nodes"]),
        reached=frozenset(node for node, end in ends.items() if end is None),
        wrong=frozenset(wrong),
        error=_last_line("\n".join(end for end in ends.values() if end) or found["error"] or ""),
        raw=printed,
    )


_BROKER_LINE = re.compile(r"^\S+ \(id: (-?\d+) rack: .*?\) -> (ERROR: .*)?", re.MULTILINE)


def read_java(versions: Printed, offsets: Printed | None, topic: Topic | None) -> Answer:
    """From kafka-broker-api-versions and, where there is a topic, kafka-get-offsets."""
    lines = {int(found[1]): found[2] for found in _BROKER_LINE.finditer(versions.text)}
    answered = {node for node, error in lines.items() if error is None}
    raw = f"{versions.text}\n--- offsets\n{offsets.text if offsets else ''}"
    if not lines and versions.status is not None:
        return _failed("java", versions.text, raw)
    # The tool asks again and again while the metadata names no broker; it never ended, so hop 1
    # worked: a dead bootstrap makes it fail.
    reached = answered
    if topic is not None and offsets is not None:
        got = {int(part) for part in re.findall(rf"^{topic.name}:(\d+):\d+", offsets.text, re.M)}
        reached = {topic.leaders[number] for number in got}
    errors = "\n".join(error for error in lines.values() if error)
    return Answer(
        oracle="java",
        bootstrap_ok=True,
        advertised=tuple(sorted(lines)),
        reached=frozenset(reached),
        wrong=frozenset(answered - reached),
        error=_last_line(errors or (offsets.text if offsets and len(reached) < len(lines) else "")),
        raw=raw,
    )


def _failed(oracle: str, said: str, raw: str, *, is_empty: bool = False) -> Answer:
    """No broker was named: hop 1 failed, or it worked and the answer is empty."""
    return Answer(
        oracle=oracle,
        bootstrap_ok=is_empty,
        advertised=(),
        reached=frozenset(),
        wrong=frozenset(),
        error=_last_line(said),
        raw=raw,
    )


def _sections(printed: str) -> dict[str, tuple[int, str]]:
    found = {}
    for part in re.split(r"^=== ", printed, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        name, status = head.split()
        found[name] = (int(status), body)
    return found


def _last_line(text: str) -> str:
    """The last line that says something: clients end with their conclusion, Java with a trace."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("at ", "..."))]
    return told[-1] if told else ""
