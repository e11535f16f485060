"""Which addresses the matrix of a probe has: those named, and those that are advertised."""

from netdiag.app.probe import named_and_advertised
from netdiag.deployment.model.verdict import Address
from netdiag.io.network.probe import Question, probe
from netdiag.linux.netns import OwnNamespace
from tests.io.network.hostile import ScriptedBroker, serving


def test_the_addresses() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(2, "127.0.0.1", 1), (1, "127.0.0.1", port)]
        named = (Address(host="127.0.0.1", port=port), Address(host="127.0.0.1", port=2))
        story = probe("host", OwnNamespace(), Question(bootstraps=named, group="shop"))
    assert named_and_advertised(story) == (*named, Address(host="127.0.0.1", port=1))
