"""The functions of the API: their options reach what they are about, and their reports have the published shapes."""

import json
import math
from pathlib import Path

import jsonschema
import pytest

import netdiag
from netdiag.errors import EngineError, UsageError
from netdiag.io.engine import live_deployment as live
from tests.cli.shell import BROKEN, CLEAN, ROOT
from tests.cli.shell import netdiag as command
from tests.render.schemas import strict_schema
from tests.render.topology.topologies import cluster

SCHEMA = strict_schema("check-listeners.v1.json")
CAPTURE = ROOT / "compose/scenarios/S08-single-listener-localhost/client.pcapng"
FOREIGN = "listener-bound-to-foreign-address"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compose.yml").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "clean.yml").write_text(CLEAN, encoding="utf-8")
    return tmp_path


def test_a_check_says_what_the_command_says(folder: Path) -> None:
    report = netdiag.check(folder / "compose.yml")
    assert not report.ok
    assert [finding.rule for finding in report.findings] == [FOREIGN]
    jsonschema.validate(report.to_dict(), SCHEMA)
    printed = command("check-listeners", "--format", "json", folder / "compose.yml", cwd=folder).stdout
    assert report.to_dict() == json.loads(printed)
    assert FOREIGN in report.to_text()
    assert "\x1b" not in report.to_text()


def test_paths_of_every_kind_and_the_options_of_a_check() -> None:
    assert [item.name for item in netdiag.check().inputs] == ["compose.yml"]
    assert [item.name for item in netdiag.check(["clean.yml", Path("compose.yml")]).inputs] == [
        "clean.yml",
        "compose.yml",
    ]
    assert netdiag.check("compose.yml", ignore=["listener-"]).findings == ()
    assert netdiag.check("compose.yml", select=["kraft-"]).ok
    assert netdiag.check(project_files=["compose.yml", "clean.yml"]).ok
    assert netdiag.check("clean.yml", fail_on=netdiag.Severity.NOTE).ok is False
    assert netdiag.check("clean.yml", matrix=False).matrices == ()
    Path("env.yml").write_text(BROKEN.replace("1.2.3.4", "${BIND}"), encoding="utf-8")
    assert netdiag.check("env.yml", environ={"BIND": "0.0.0.0"}).ok


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(UsageError, match="no rule is called"):
        netdiag.check(ignore=["nonsense"])
    with pytest.raises(UsageError, match="use one of them"):
        netdiag.check("clean.yml", project_files="compose.yml")
    with pytest.raises(UsageError, match="there is no table"):
        netdiag.read_captures(CAPTURE).rows("nonsense")
    with pytest.raises(netdiag.NetdiagError):
        netdiag.read_captures("nothing.pcap").rows().to_dicts()


def test_a_live_check_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def look(**words: object) -> None:
        asked.update(words)
        raise EngineError("no engine answers there")

    monkeypatch.setattr(live, "read_live", look)
    report = netdiag.check_live(containers=["kafka"], host="unix:///x", netns=["lan"], vantages=["app"])
    assert [item.error and item.error.message for item in report.inputs] == ["no engine answers there"]
    assert (asked["names"], asked["host"]) == (("kafka",), "unix:///x")
    assert asked["vantages"] == live.OtherVantages(netns=("lan",), containers=("app",))
    assert not report.ok


def test_rows_of_captures_in_every_form() -> None:
    captures = netdiag.read_captures([CAPTURE])
    rows = captures.rows("exchanges", ["api_name", "client", "request_bytes"])
    (first, *_), frame = rows.to_dicts(), rows.to_pandas()
    assert list(first) == ["api_name", "client", "request_bytes"]
    assert rows.to_arrow().to_pylist()[0] == first
    assert not math.isnan(frame["request_bytes"][0])
    assert len(frame) == len(rows.to_dicts())
    assert "<td>" in rows._repr_html_()
    empty = netdiag.read_captures(CAPTURE, topics=["no-such-topic"], ports=[1]).rows()
    assert (empty.to_dicts(), empty.to_arrow().num_rows) == ([], 0)
    assert empty.to_arrow().column_names == list(captures.rows().columns)


def test_one_name_is_a_filter_too() -> None:
    one, several = (netdiag.read_captures(CAPTURE, clients=given).rows() for given in ("rdkafka", ["rdkafka"]))
    assert one.to_dicts() == several.to_dicts() != []
    topic = netdiag.read_captures(CAPTURE, topics="nd-lab2ff829").rows("exchanges", ["topics"])
    assert {name for row in topic for name in row["topics"]} == {"nd-lab2ff829"}


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_what_is_no_port(port: int) -> None:
    with pytest.raises(UsageError, match=f"{port} is not a port"):
        netdiag.read_captures(CAPTURE, ports=[port])


def test_a_span_may_be_wider_than_what_captures_can_hold() -> None:
    everything = netdiag.read_captures(CAPTURE).rows().to_dicts()
    assert netdiag.read_captures(CAPTURE, since="0001-01-01", until="9999-12-31").rows().to_dicts() == everything
    assert netdiag.read_captures(CAPTURE, since="2262-04-12").rows().to_dicts() == []


def test_rows_are_those_of_the_command(folder: Path) -> None:
    rows = netdiag.read_captures(CAPTURE).rows("connections")
    printed = command("exchanges", CAPTURE, "--table", "connections", "--format", "json", cwd=folder).stdout
    assert rows.to_dicts() == [json.loads(line) for line in printed.splitlines()]


def test_a_topology_has_the_published_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdiag.io.topology.read_topology", lambda **_: cluster())
    report = netdiag.read_topology()
    value = report.to_dict()
    assert value["format"] == "netdiag-topology"
    assert report.findings == ()
    assert "<svg" in report._repr_html_()
    assert "broker-1" in report.to_text()


def test_what_a_notebook_shows_is_escaped(folder: Path) -> None:
    (folder / "compose.yml").write_text(BROKEN.replace("1.2.3.4", "<script>"), encoding="utf-8")
    shown = netdiag.check("compose.yml")._repr_html_()
    assert shown.startswith("<pre")
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
