"""What is known of a message that ends too early."""

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled import endings, machines
from netdiag.traffic.engine.compiled.interpreter import begin, end, feed
from netdiag.traffic.engine.compiled.layout import DECODED
from netdiag.traffic.engine.compiled.program import programs
from netdiag.traffic.engine.compiled.store import new_facts, store
from tests.traffic.engine.compiled.messages import RECORDS, REQUEST, RESPONSE, Both, Piece, header


def test_how_far_it_was_decoded() -> None:
    both = Both()
    message = header(1, 4, RESPONSE) + wire.encode(
        1, 4, RESPONSE, {"responses": [{"topic": "t", "partitions": [{"partition_index": 1, "records": RECORDS[2]}]}]}
    )
    rest = message[4:]
    cut: list[Piece] = [rest[:60], len(rest) - 60]
    for pieces, word, empty in (([rest], "full", 0), (cut, "truncated", 0)):
        row = both.store.facts[both.by_machine(message, pieces, 1, 4, False)]
        assert (DECODED[row["decoded"]], row["empty"]) == (word, empty)
    row = both.store.facts[both.by_machine(message[:-9], [rest[:-9]], 1, 4, False)]
    assert (DECODED[row["decoded"]], row["empty"]) == ("failed", 0)


def test_a_message_of_which_nothing_comes() -> None:
    held, pool = store(), machines.machines(1)
    for key in (1, 11, 900):
        number = new_facts(held)
        begin(held, pool, 0, programs(), number, True, key, 4, 0)
        end(held, pool, 0, programs())
        end(held, pool, 0, programs())
        row = held.facts[number]
        assert DECODED[row["decoded"]] == {900: "header", 1: "failed", 11: "full"}[key]
        assert row["client_id"] == -1
    assert feed(held, pool, 0, programs(), held.raw, 0, 5) == 5
    assert callable(endings.close_kept)
    assert REQUEST is not RESPONSE
