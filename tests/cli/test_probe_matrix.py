"""Which addresses the matrix of a probe has: those named, and those that are told."""

import json
from pathlib import Path

from netdiag.cli.probe_matrix import addresses_of
from netdiag.deployment.model.contact import Address
from netdiag.io.probing import Question, probe
from netdiag.linux.netns import OwnNamespace
from tests.cli.shell import netdiag
from tests.io.fake_engine import VERSION, fake_engine
from tests.io.hostile import ScriptedBroker, serving


def test_the_addresses() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(2, "127.0.0.1", 1), (1, "127.0.0.1", port)]
        named = (Address(host="127.0.0.1", port=port), Address(host="127.0.0.1", port=2))
        story = probe("host", OwnNamespace(), Question(bootstraps=named, group="shop"))
    assert addresses_of(story) == (*named, Address(host="127.0.0.1", port=1))


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
    assert b"From where a client works" in drawn.stdout


def test_without_an_engine_there_is_none(tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    found = netdiag("probe", "127.0.0.1:1", "--matrix", cwd=tmp_path, env=nowhere)
    assert found.returncode == 3, found
