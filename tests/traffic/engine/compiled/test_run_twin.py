"""The contexts of pairs."""

from netdiag.traffic.engine.compiled.handover import Handover, LaneConnection
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.run_twin import Contexts
from tests.traffic.engine.segments import segment


def test_a_connection_keeps_its_context() -> None:
    handover = Handover()
    contexts = Contexts(handover)
    connection = LaneConnection(5, segment(), "a.pcap", handover)
    number = contexts.of(connection)
    assert contexts.of(connection) == number
    context = contexts.all[number]
    assert context is not None
    assert (context.number, context.client, context.broker) == (5, "10.0.0.1:40000", "10.0.0.2:9092")


def test_a_context_is_forgotten_behind_its_pairs() -> None:
    handover = Handover()
    contexts = Contexts(handover)
    connection = LaneConnection(5, segment(), "a.pcap", handover)
    number = contexts.of(connection)
    contexts.end(connection)
    assert connection.context == NOTHING
    assert contexts.all[number].number == 5
    contexts.flushed()
    assert contexts.all[number].number == 0
    assert contexts.of(connection) == number
