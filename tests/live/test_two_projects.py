"""Two projects on one engine: a check of one says what it says of it alone, and what the other causes, and no more.

The projects are arranged as on laptops. A name of both is told in every cell that it touches. That each client meets
whom the cell says is asked of kcat, kafka-python and Java from inside every container.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from netdiag.app.configuration import CheckOptions, LiveOptions
from netdiag.app.live_check import check_live
from netdiag.deployment.model.verdict import Cell
from netdiag.io.files.projects import ReadOptions
from netdiag.render.report import Report
from tests.figures import Report as Figure
from tests.lab.errors import LabImpossible
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab, start_lab
from tests.lab.lead_topics import lead_topics
from tests.lab.processes import run
from tests.lab.run_record import MARK
from tests.lab.stack import Stack
from tests.lab.vantages import Vantage, inside

SHARED_NETWORK = "two-projects"
_KCAT = """
for _ in $(seq {times}); do kcat -L -b {address} -m 10 2>&1 | grep -o 'topic "nd-[a-z]*"' || echo none; done
"""
_PYTHON = """
import sys
sys.path.insert(0, "/opt/lab/python")
from kafka import KafkaAdminClient
print(*KafkaAdminClient(bootstrap_servers="{address}").list_topics())
"""
_LIST = "org.apache.kafka.tools.TopicCommand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One of the two; `network` is how it declares the network of its services."""

    name: str
    port: int
    network: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The two projects, and the rules of the findings that each has only because of the other.

    `shares_name` is whether `kafka` leads to both; `template` is one file for both.
    """

    name: str
    projects: tuple[Project, Project]
    caused: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    shares_name: bool = False
    template: bool = False


_NAME = frozenset({"live-ambiguous-name"})
_PORT = frozenset({"live-config-crash", "live-other-cluster-answers"})
_EXTERNAL = f"{{external: true, name: {SHARED_NETWORK}}}"

ARRANGEMENTS = (
    Arrangement(name="separate", projects=(Project(name="a", port=9092), Project(name="b", port=9192))),
    Arrangement(
        name="one host port",
        projects=(Project(name="a", port=9092), Project(name="b", port=9092)),
        caused=(frozenset(), _PORT),
    ),
    Arrangement(
        name="shared external network",
        projects=(
            Project(name="a", port=9092, network=_EXTERNAL),
            Project(name="b", port=9192, network=_EXTERNAL),
        ),
        caused=(_NAME, _NAME),
        shares_name=True,
    ),
    Arrangement(
        name="same network name",
        projects=(
            Project(name="a", port=9092, network="{name: together}"),
            Project(name="b", port=9192, network="{name: together}"),
        ),
        caused=(_NAME, _NAME),
        shares_name=True,
    ),
    Arrangement(
        name="one project twice",
        projects=(Project(name="a", port=9092), Project(name="b", port=9092)),
        caused=(frozenset(), _PORT),
        template=True,
    ),
)

# KAFKA_ADVERTISED_LISTENER is a mistake of its own, which each project has alone, too.
_FILE = """\
services:
  kafka:
    image: apache/kafka:3.9.1
    ports: ["{port}:9092"]
    networks: [net]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
      KAFKA_LISTENERS: INTERNAL://:29092,HOST://:9092,CONTROLLER://localhost:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,HOST://localhost:{port}
      KAFKA_ADVERTISED_LISTENER: HOST://localhost:{port}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,HOST:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: 1
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_HEAP_OPTS: -Xmx300m -Xms300m
  app:
    image: {client}
    networks: [net]
    environment:
      KAFKA_BOOTSTRAP_SERVERS: kafka:29092
networks:
  net: {network}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check says of a project: findings as (rule, container or file, line), and the report."""

    findings: frozenset[tuple[str, str]]
    report: Report

    @property
    def rules(self) -> frozenset[str]:
        """The ids of the rules."""
        return frozenset(rule for rule, _ in self.findings)


def files(arrangement: Arrangement, folder: Path) -> tuple[Path, Path]:
    """The compose files of an arrangement."""
    found = []
    for project in arrangement.projects:
        path = folder / ("template" if arrangement.template else project.name) / "compose.yml"
        path.parent.mkdir(exist_ok=True)
        text = _FILE.format(port=project.port, network=project.network, client=CLIENT)
        path.write_text(text, encoding="utf-8")
        found.append(path)
    return found[0], found[1]


@contextmanager
def beside(
    lab: Lab, arrangement: Arrangement, folder: Path
) -> Iterator[tuple[Stack, Stack, tuple[CheckResult, CheckResult]]]:
    """Both projects, and what was said of each of them while it was alone."""
    paths = files(arrangement, folder)
    first, second = arrangement.projects
    external = _EXTERNAL in (first.network, second.network)
    with ExitStack() as stack:
        if external:
            lab.engine.docker("network", "create", SHARED_NETWORK)
            stack.callback(lab.engine.docker, "network", "rm", SHARED_NETWORK)
        with lab.up(paths[1], project=second.name) as alone:
            lead_topics(alone)
            of_second = check_result(lab, paths[1], second.name)
        one = stack.enter_context(lab.up(paths[0], project=first.name))
        lead_topics(one)
        of_first = check_result(lab, paths[0], first.name)
        other = stack.enter_context(lab.up(paths[1], project=second.name, wait="none"))
        if first.port != second.port:
            other.wait_ready()
            lead_topics(other)
        yield one, other, (of_first, of_second)


def check_result(lab: Lab, path: Path | None, project: str | None) -> CheckResult:
    """What `check-listeners --live FILE -p PROJECT` says; without a file and project, of everything."""
    options = CheckOptions(
        files=() if path is None else (str(path),), read=ReadOptions(project_name=project), isolated=True
    )
    # A loaded machine is no finding.
    report = check_live(options, LiveOptions(host=lab.engine.docker_host, timeout=20)).report
    errors = [item.error for item in report.inputs if item.error]
    assert not errors, errors
    places = frozenset((finding.rule, _place(finding)) for finding in report.findings)
    return CheckResult(findings=places, report=report)


def _place(finding: Any) -> str:
    at = finding.location
    return getattr(at, "container", "") or f"{Path(at.path).name}:{at.line}"


def met_by_kcat(lab: Lab, vantage: Vantage, address: str, times: int) -> set[str]:
    """The projects whose broker librdkafka met, asked so many times, each time by a process of its own."""
    said = _run(lab, vantage, ["sh", "-c", _KCAT.format(times=times, address=address)])
    assert "none" not in said, said
    return set(re.findall(r"nd-([a-z]+)", said))


def met_by_python(lab: Lab, vantage: Vantage, address: str, times: int) -> set[str]:
    """The same of kafka-python."""
    script = _PYTHON.format(address=address)
    said = [_run(lab, vantage, ["python3", "-c", script]) for _ in range(times)]
    return {project for text in said for project in re.findall(r"nd-([a-z]+)", text)}


def met_by_java(lab: Lab, vantage: Vantage, address: str) -> set[str]:
    """The same of Java, whose JVM remembers for a while what a name resolved to."""
    printed = lab.oracles.java_tool(vantage, _LIST, ["--bootstrap-server", address, "--list"], 40)
    return set(re.findall(r"nd-([a-z]+)", printed))


def places_of(stacks: Sequence[Stack]) -> Iterator[tuple[str, str, Vantage]]:
    """Every vantage as (project, label, vantage)."""
    for stack in stacks:
        for label, service in (("inside kafka", "kafka"), ("container app", "app")):
            yield stack.project, label, inside(stack, service)


def _run(lab: Lab, vantage: Vantage, words: Sequence[str]) -> str:
    argv = vantage.place.argv_in_root(lab.client_root, words)
    done = run(argv, check=False, timeout=300, env={MARK: lab.engine.record.run_id, "LC_ALL": "C.UTF-8"})
    return done.stdout + done.stderr


_TIMES = 50
_PYTHON_TIMES = 12


@pytest.mark.lab
@pytest.mark.parametrize("arrangement", ARRANGEMENTS[1:3], ids=lambda one: one.name)
def test_each_is_checked_as_if_it_were_alone(lab: Lab, arrangement: Arrangement, tmp_path: Path) -> None:
    with beside(lab, arrangement, tmp_path) as (first, second, alone):
        compare(lab, arrangement, tmp_path, alone)
        if arrangement.shares_name:
            app = next(place for _, label, place in places_of([first]) if label == "container app")
            assert met_by_kcat(lab, app, "kafka:29092", 20) == {first.project, second.project}


@pytest.mark.lab
@pytest.mark.bar("two-projects", long=True)
@pytest.mark.parametrize("release", ["20.10", "28", "29"])
def test_every_arrangement(release: str, compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    assert compose_v2.exists()
    cells = 0
    try:
        with start_lab(release=release) as lab:
            for number, arrangement in enumerate(ARRANGEMENTS):
                folder = tmp_path / str(number)
                folder.mkdir()
                with beside(lab, arrangement, folder) as (first, second, alone):
                    cells += compare(lab, arrangement, folder, alone)
                    if arrangement.shares_name:
                        _as_clients_say(lab, folder, arrangement, [first, second], figure, release)
    except LabImpossible as error:
        pytest.skip(str(error))
    figure(f"engine {release}: arrangements", len(ARRANGEMENTS))
    figure(f"engine {release}: cells compared", cells)


def compare(lab: Lab, arrangement: Arrangement, folder: Path, alone: tuple[CheckResult, CheckResult]) -> int:
    """Both projects against what they had alone, by file and in one check of everything; how many cells there were."""
    paths = files(arrangement, folder)
    cells = 0
    everything = check_result(lab, None, None)
    assert [item.name for item in everything.report.inputs] == [f"{p.name} (running)" for p in arrangement.projects]
    for project, path, before, caused in zip(arrangement.projects, paths, alone, arrangement.caused, strict=True):
        now = check_result(lab, path, project.name)
        assert before.findings <= now.findings
        assert {rule for rule, _ in now.findings - before.findings} == caused
        assert not {place for _, place in now.findings} & {f"{p.name}-kafka-1" for p in arrangement.projects}
        (matrix,) = now.report.matrices
        labels = {vantage.label for vantage in matrix.vantages}
        assert labels <= {"docker host", "inside kafka", "container app"}
        (section,) = (one for one in everything.report.matrices if one.input == f"{project.name} (running)")
        assert [_words(cell) for cell in section.cells] == [_words(cell) for cell in matrix.cells]
        cells += len(matrix.cells)
        for cell in matrix.cells:
            assert cell.agrees is not False, cell
            assert bool(cell.observed and cell.observed.choices) is (arrangement.shares_name and _uses_name(cell)), cell
    return cells


def _words(cell: Cell) -> tuple[str, str, str]:
    return cell.vantage, str(cell.bootstrap), str(cell.observed)


def _uses_name(cell: Cell) -> bool:
    """Whether `kafka` is resolved on the way: at a container, as the bootstrap address or an advertised one."""
    advertised = cell.observed.endpoints if cell.observed else ()
    hosts = {cell.bootstrap.host, *(one.endpoint.host for one in advertised)}
    return cell.vantage != "docker host" and "kafka" in hosts


def _as_clients_say(
    lab: Lab, folder: Path, arrangement: Arrangement, stacks: list[Stack], figure: Figure, release: str
) -> None:
    """Whom each client meets at the name, from inside every container, is whom the cell names."""
    paths = dict(zip((stack.project for stack in stacks), files(arrangement, folder), strict=True))
    for project, label, vantage in places_of(stacks):
        (matrix,) = check_result(lab, paths[project], project).report.matrices
        (cell,) = (c for c in matrix.cells if (c.vantage, str(c.bootstrap)) == (label, "kafka:29092"))
        assert cell.observed is not None
        (choice,) = cell.observed.choices
        other = next(stack.project for stack in stacks if stack.project != project)
        owner = {"kafka": project, f"{other}-kafka-1": other}
        kcat = met_by_kcat(lab, vantage, "kafka:29092", _TIMES)
        python = met_by_python(lab, vantage, "kafka:29092", _PYTHON_TIMES)
        java = met_by_java(lab, vantage, "kafka:29092")
        where = f"engine {release}, {arrangement.name}, {label} of {project}"
        figure(f"{where}: kcat {_TIMES} times, kafka-python {_PYTHON_TIMES} times, Java", f"{kcat} {python} {java}")
        assert kcat == {owner[name] for name in choice.members}
        assert python == {owner[name] for name in choice.first_met}
        assert java <= python
