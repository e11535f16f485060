"""--live without an engine: what is made of what the engine and the vantages say, and what is said when they cannot."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest

from netdiag.app.configuration import CheckOptions, LiveOptions
from netdiag.app.live_check import LiveCheck, check_live, explained
from netdiag.app.progress import SILENT
from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Cell
from netdiag.deployment.observation.live_view import LiveVantage, SkippedVantage, StoppedContainer, docker_host_vantage
from netdiag.deployment.prediction.mesh import Edge
from netdiag.deployment.scope import Scope
from netdiag.deployment.sources.compose import from_compose
from netdiag.distribution import install_line
from netdiag.engine.events import ContainerEvent, parse_events
from netdiag.errors import EngineError
from netdiag.io.engine import live_deployment as live_module
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.live_deployment import Live, OtherVantages
from netdiag.io.network import observation as observe_module
from netdiag.io.network.observation import Observed
from netdiag.io.network.registry import RegistryAnswers, RegistryQuestions, ZookeeperAnswer, ZookeeperQuestion
from netdiag.kafka.zookeeper import Znode, ZookeeperRead
from netdiag.linux.netns import ProcessNamespace
from netdiag.render.formats.json import render
from netdiag.render.report import Matrix
from tests.cli.shell import CLEAN, environment
from tests.engine.test_events import document
from tests.render.literals import OK, REFUSED
from tests.render.schemas import strict_schema

SCHEMA = strict_schema("check-listeners.v1.json")
ARGV = ("/opt/netdiag", "check-listeners", "--live")
INSIDE = LiveVantage(
    vantage=Vantage(kind=VantageKind.BROKER, label="inside kafka", member="kafka", networks=("default",)),
    entrance=ProcessNamespace(pid=1, container_id="c"),
)


def running() -> Live:
    """One broker that runs, one that does not."""
    second = CLEAN.partition("\n")[2].replace("kafka:", "spare:", 1).replace("9092", "9093")
    deployment = from_compose(load(Source("c.yml", CLEAN + second)))
    return Live(
        address=EngineAddress(url="unix:///run/user/1000/docker.sock", said_by="DOCKER_HOST"),
        release="28",
        scope=Scope(asked=frozenset()),
        containers=(),
        deployment=replace(deployment, host_addresses=("192.168.8.133",)),
        vantages=(docker_host_vantage(), INSIDE),
        stopped={
            "spare": StoppedContainer(
                container="spare", exit_code=1, oom_killed=False, crash_looping=False, line="it says why"
            )
        },
        sockets={},
    )


def test_prediction_and_observation_meet_in_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def look(**words: object) -> Live:
        asked.update(words)
        return running()

    def observe(vantages: object, addresses: list[object], edges: tuple[Edge, ...], **words: object) -> Observed:
        asked.update(words)
        asked["edges"] = [(edge.kind.value, edge.source, str(edge.address)) for edge in edges]
        cells = tuple(
            Cell(vantage="docker host", bootstrap=a, observed=OK if str(a) == "localhost:9092" else REFUSED)  # type: ignore[arg-type]
            for a in addresses
        )
        untaken = SkippedVantage(vantage=INSIDE.vantage, because="takes CAP_SYS_ADMIN", rights=True)
        return Observed(cells=cells, skipped=(untaken,), notes=("a note",))

    monkeypatch.setattr(live_module, "read_live", look)
    monkeypatch.setattr(observe_module, "observe", observe)
    options = LiveOptions(
        containers=("kafka",), host="unix:///x", netns=("lan",), vantages=("app",), timeout=1.5, argv=ARGV
    )
    report = check_live(CheckOptions(isolated=True), options).report
    registry = asked.pop("registry")
    assert isinstance(registry, RegistryQuestions)
    assert [(str(one.servers[0]), one.chroot) for one in registry.zookeepers] == [("zookeeper:2181", "")]
    assert asked == {
        "host": "unix:///x",
        "project": None,
        "compose_file": None,
        "names": ("kafka",),
        "vantages": OtherVantages(netns=("lan",), containers=("app",)),
        "timeout": 1.5,
        "client": None,
        "warn_days": 30,
        "edges": [
            ("inter-broker", "kafka", "localhost:9093"),
            ("zookeeper", "kafka", "zookeeper:2181"),
        ],
    }
    assert [(item.name, item.kind, item.brokers) for item in report.inputs] == [("kafka", "engine", ("kafka", "spare"))]
    (matrix,) = report.matrices
    cells = {(cell.vantage, str(cell.bootstrap)): cell for cell in matrix.cells}
    assert cells["docker host", "localhost:9092"].agrees is True
    assert cells["docker host", "192.168.8.133:9092"].agrees is False
    assert cells["inside kafka", "localhost:9092"].observed is None
    assert matrix.not_running == {"spare": "not running, exit code 1: it says why"}
    assert report.notes == ("a note",)
    assert report.is_cut
    assert report.skipped[0].command is not None
    assert report.skipped[0].command.startswith("sudo ")


def test_what_is_registered_is_judged_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = (Address(host="zookeeper", port=2181),)
    question = ZookeeperQuestion(servers=servers, chroot="", vantages=())
    elsewhere = json.dumps({"endpoints": ["PLAINTEXT://localhost:9999"]}).encode()
    read = ZookeeperRead(nodes={"/brokers/ids/1": Znode(data=elsewhere, czxid=1, ctime=1)})
    told = ZookeeperAnswer(question=question, server=servers[0], vantage="inside kafka", outcome=read)
    observed = Observed(cells=(), registry=RegistryAnswers(zookeepers=(told,)))
    monkeypatch.setattr(live_module, "read_live", lambda **_: running())
    monkeypatch.setattr(observe_module, "observe", lambda *_, **__: observed)
    report = check_live(CheckOptions(isolated=True), LiveOptions(containers=("kafka",))).report
    (finding,) = [one for one in report.findings if one.rule == "live-duplicate-registration"]
    assert finding.message == "spare is node 1, which another broker has registered with PLAINTEXT://localhost:9999"
    document = json.loads(render(report))
    jsonschema.validate(document, SCHEMA)
    (cluster,) = document["registered"]
    assert (cluster["input"], cluster["registries"][0]["kind"]) == ("kafka", "zookeeper")


def test_a_vantage_on_another_machine_is_told_with_the_way_there(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = SkippedVantage(vantage=INSIDE.vantage, because="the engine runs on another machine")
    seen = replace(running(), vantages=(docker_host_vantage(),), skipped=(elsewhere,))
    monkeypatch.setattr(live_module, "read_live", lambda **_: seen)
    monkeypatch.setattr(observe_module, "observe", lambda *_, **__: Observed(cells=()))
    (skipped,) = check_live(CheckOptions(isolated=True), LiveOptions(containers=("kafka",), argv=ARGV)).report.skipped
    assert (skipped.vantage, (skipped.command or "").endswith(" --via container")) == ("inside kafka", True)


def test_a_project_is_named_by_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_text("name: shop\n" + CLEAN, encoding="utf-8")

    def look(**words: object) -> Live:
        assert words["compose_file"] == str(tmp_path / "c.yml")
        raise EngineError(f"no containers of {words['project']}", where="engine")

    monkeypatch.setattr(live_module, "read_live", look)
    report = check_live(CheckOptions(files=(str(tmp_path / "c.yml"),), isolated=True), LiveOptions()).report
    assert [item.error.message for item in report.inputs if item.error] == ["no containers of shop"]


def test_what_came_and_went_between_two_looks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[datetime | None] = [datetime(2026, 1, 1, 12, 0, second, tzinfo=UTC) for second in (0, 5, 10)]
    clock, asked = iter([*looks, looks[1], None, looks[0]]), []

    def events(self: Live, since: datetime, until: datetime, timeout: float) -> tuple[ContainerEvent, ...]:
        asked.append((since, until))
        return parse_events(json.dumps(document("start", str(until))).encode() + b"\n" + died(str(until)))

    def died(identifier: str) -> bytes:
        return json.dumps(document("die", identifier)).encode()

    monkeypatch.setattr(live_module, "read_live", lambda **_: replace(running(), engine_time=next(clock)))
    monkeypatch.setattr(Live, "events_between", events)
    monkeypatch.setattr(observe_module, "observe", lambda *_, **__: Observed(cells=()))
    names = tuple(f"name-{look}" for look in looks[:2])
    check = LiveCheck(CheckOptions(isolated=True), LiveOptions(containers=("kafka", *names)))
    told = [[one.life.start.name for one in check.run().report.came_and_went] for _ in range(6)]
    # nothing at the first look, what is asked about at the next, and nothing where the engine's clock stands still
    assert told == [[], [names[1]], [], [], [], []]
    assert asked == [(looks[0], looks[1]), (looks[1], looks[2])]


def test_an_engine_without_events_is_a_note_and_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    clock, asked = iter([begin + timedelta(seconds=n) for n in range(4)]), []

    def events(self: Live, since: datetime, until: datetime, timeout: float) -> tuple[ContainerEvent, ...]:
        asked.append(since)
        raise EngineError("the engine answers 403")

    monkeypatch.setattr(live_module, "read_live", lambda **_: replace(running(), engine_time=next(clock)))
    monkeypatch.setattr(Live, "events_between", events)
    monkeypatch.setattr(observe_module, "observe", lambda *_, **__: Observed(cells=()))
    check = LiveCheck(CheckOptions(isolated=True), LiveOptions(containers=("kafka",)))
    reports = [check.run().report for _ in range(4)]
    note = "containers that come and go between two looks are not told: the engine answers 403"
    assert [note in report.notes for report in reports] == [False, True, True, True]
    assert all(item.error is None for report in reports for item in report.inputs)
    assert len(asked) == 1


@pytest.mark.parametrize("library", ["docker", "requests", "cryptography"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_missing_extra_is_a_line_with_what_to_run(tmp_path: Path, library: str, form: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; from netdiag.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check-listeners", "--live", "--format", form],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    if form == "json":
        value = json.loads(done.stdout)
        jsonschema.validate(value, SCHEMA)
        assert value["inputs"][0]["error"]["hint"] == install_line("live")
    else:
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line == f"netdiag: --live needs {library}, which is not installed: {install_line('live')}"


def test_nothing_failed_and_no_cause_is_looked_for() -> None:
    matrix = Matrix(input="t", vantages=(), cells=())
    assert explained(matrix, {}, "unix:///nowhere", SILENT) == (matrix, ())
