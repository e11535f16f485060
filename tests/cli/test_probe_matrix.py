"""Which addresses the matrix of a probe has: those named, and those that are told."""

from pathlib import Path

from netdiag.cli.probe_matrix import addresses_of
from netdiag.deployment.observations import Address
from netdiag.io.probing import Question, probe
from netdiag.linux.netns import OwnNamespace
from tests.cli.shell import netdiag
from tests.io.hostile import ScriptedBroker, serving


def test_the_addresses() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(2, "127.0.0.1", 1), (1, "127.0.0.1", port)]
        named = (Address(host="127.0.0.1", port=port), Address(host="127.0.0.1", port=2))
        story = probe("host", OwnNamespace(), Question(bootstraps=named, group="shop"))
    assert addresses_of(story) == (*named, Address(host="127.0.0.1", port=1))


def test_without_an_engine_there_is_none(tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    found = netdiag("probe", "127.0.0.1:1", "--matrix", cwd=tmp_path, env=nowhere)
    assert found.returncode == 3, found
