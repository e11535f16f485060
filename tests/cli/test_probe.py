"""The command line of probe."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import netdiag
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.io.network.hostile import ScriptedBroker, serving


def test_the_statuses(tmp_path: Path) -> None:
    broker = ScriptedBroker(node_id=4, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(4, "127.0.0.1", port)]
        well = netdiag("probe", f"127.0.0.1:{port}", "--format", "json", cwd=tmp_path)
        ill = netdiag("probe", f"127.0.0.1:{port},127.0.0.1:1", cwd=tmp_path)
    assert (well.returncode, ill.returncode) == (0, 1), (well, ill)
    assert json.loads(well.stdout)["bootstraps"][0]["contact"]["node_id"] == 4
    assert b"verdict: bootstrap: refused" in ill.stdout
    assert netdiag("probe", "nonsense", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("place", ["netns:there-is-none", "pid:x", "pid:4194305", "container:kafka"])
def test_a_place_that_is_not_there(place: str, tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    found = netdiag("probe", "127.0.0.1:1", "--from", place, cwd=tmp_path, env=nowhere)
    assert found.returncode == 3, found
    assert found.stdout == b""
    assert found.stderr.count(b"\n") <= 2


def test_an_engine_without_containers_leaves_the_docker_host(tmp_path: Path) -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    answers = {"/version": VERSION, "/containers/json": [], "/networks": []}
    with serving(broker) as port, fake_engine(tmp_path / "s", answers) as url:
        broker.brokers = [(1, "127.0.0.1", port)]
        found = netdiag("probe", f"127.0.0.1:{port}", "--matrix", "--format", "json", "--host", url, cwd=tmp_path)
        drawn = netdiag("probe", f"127.0.0.1:{port}", "--matrix", "--host", url, cwd=tmp_path)
    assert (found.returncode, drawn.returncode) == (0, 0), (found, drawn)
    cells = json.loads(found.stdout)["matrix"]
    seen = {cell["vantage"]: cell["observed"] for cell in cells if cell["observed"]}
    assert seen == {"docker host": "ok"}
    assert {cell["address"]["port"] for cell in cells} == {port}
    assert b"Where clients can connect" in drawn.stdout


def test_without_an_engine_there_is_none(tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    found = netdiag("probe", "127.0.0.1:1", "--matrix", cwd=tmp_path, env=nowhere)
    assert found.returncode == 3, found
