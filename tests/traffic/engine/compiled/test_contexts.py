"""The contexts of pairs."""

import numpy as np

from netdiag.traffic.engine.compiled.contexts import Contexts
from netdiag.traffic.engine.compiled.ends import Ends
from netdiag.traffic.engine.compiled.handover import Handover, LaneConnection
from netdiag.traffic.engine.compiled.lane_state import CONTEXTS, FRESHES, OVER
from netdiag.traffic.engine.compiled.layout import KEY, NOTHING, PAIR
from tests.traffic.engine.segments import segment

KEYS = np.zeros(2, KEY)
KEYS["source"][:, :4], KEYS["destination"][:, :4] = (10, 0, 0, 1), (10, 0, 0, 2)
KEYS["source_port"], KEYS["destination_port"], KEYS["width"] = 40_000, 9092, 4


def test_a_connection_keeps_its_context() -> None:
    handover = Handover()
    contexts = Contexts(handover)
    connection = LaneConnection(5, segment(), "a.pcap", handover)
    number = contexts.of(connection)
    assert contexts.of(connection) == number
    context = contexts[number]
    assert context is not None
    assert (context.number, context.client, context.broker) == (5, "10.0.0.1:40000", "10.0.0.2:9092")


def test_a_context_is_forgotten_behind_its_pairs() -> None:
    handover = Handover()
    contexts = Contexts(handover)
    connection = LaneConnection(5, segment(), "a.pcap", handover)
    number = contexts.of(connection)
    contexts.end(connection)
    assert connection.context == NOTHING
    assert contexts[number].number == 5
    contexts.flushed()
    assert contexts[number].number == 0
    assert contexts.of(connection) == number


def given(contexts: Contexts, handover: Handover, number: int, client_id: bytes | None) -> int:
    """As the kernels give one to a connection."""
    lane = handover.lane
    lane.numbers[CONTEXTS] -= 1
    context = int(lane.contexts[lane.numbers[CONTEXTS]])
    name = client_id or b""
    told = (number, context, 1, -1 if client_id is None else len(name), np.frombuffer(name.ljust(64), np.uint8))
    lane.fresh[lane.numbers[FRESHES]] = told
    lane.numbers[FRESHES] += 1
    contexts.fill(KEYS)
    return context


def test_what_kernels_give_is_written_down() -> None:
    handover = Handover()
    contexts = Contexts(handover)
    contexts.make_room()
    named, nameless = given(contexts, handover, 7, b"app"), given(contexts, handover, 8, None)
    assert contexts[named] == Ends(7, "10.0.0.1:40000", "10.0.0.2:9092", "app")
    assert contexts[nameless] == Ends(8, "10.0.0.1:40000", "10.0.0.2:9092", None)
    connection = LaneConnection(9, segment(), "a.pcap", handover)
    twins = contexts.of(connection)
    pairs = np.zeros(5, PAIR)
    pairs["connection"] = [named, twins, named, nameless, twins]
    found = contexts.connections(pairs)
    assert [found.ends(int(place)) for place in found.places] == [contexts[each] for each in pairs["connection"]]
    assert [found.ends(place).number for place in range(3)] == [7, 9, 8]


def test_a_number_that_is_given_away_again_is_another_connection() -> None:
    handover = Handover()
    contexts = Contexts(handover)
    contexts.make_room()
    connection = LaneConnection(9, segment(), "a.pcap", handover)
    number = contexts.of(connection)
    pairs = np.zeros(1, PAIR)
    pairs["connection"] = number
    before = contexts.connections(pairs)
    contexts.end(connection)
    assert handover.lane.numbers[OVER] == 1
    contexts.flushed()
    assert given(contexts, handover, 7, b"app") == number
    after = contexts.connections(pairs)
    assert (before.ends(0).number, after.ends(0).number) == (9, 7)
    assert before.rows["stamp"] != after.rows["stamp"]
