"""Which response belongs to which request."""

import struct

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pairing import MAX_ORPHANS, MAX_PENDING, Pairing

HEARTBEAT, PRODUCE, VERSIONS = 12, 0, 18


class Pairs:
    """Remembers what was paired: (correlation id asked, correlation id answered, outcome)."""

    def __init__(self) -> None:
        self.got: list[tuple[int | None, int | None, str]] = []
        self.pairing = Pairing(self._take, Bodies())

    def _take(self, asked: Asked | None, answer: Answer | None, outcome: str) -> None:
        asked_for = None if asked is None else asked.header.correlation_id
        self.got.append((asked_for, None if answer is None else answer.correlation_id, outcome))

    def ask(self, correlation_id: int, *, acks: int | None = None, time: int = 0) -> None:
        if acks is None:
            body = {"group_id": "g", "generation_id": 1, "member_id": "m"}
            data = wire.encode_request(HEARTBEAT, 3, correlation_id, "app", body)
        else:
            data = wire.encode_request(PRODUCE, 7, correlation_id, "app", {"acks": acks})
        self.pairing.message(_message(True, data[4:], time))

    def answer(self, correlation_id: int, *, time: int = 0) -> None:
        data = wire.encode_response(HEARTBEAT, 3, correlation_id, {})
        self.pairing.message(_message(False, data[4:], time))


def _message(is_request: bool, head: bytes, time: int) -> Message:
    return Message(is_request, len(head), head, None, time, time, 1, 1, 0)


def test_by_number_in_order() -> None:
    pairs = Pairs()
    for number in (1, 2):
        pairs.ask(number)
    assert pairs.pairing.expects(2)
    for number in (1, 2):
        pairs.answer(number)
    assert pairs.got == [(1, 1, "answered"), (2, 2, "answered")]
    assert not pairs.pairing.expects(2)


def test_the_same_number_again_is_another_pair() -> None:
    pairs = Pairs()
    pairs.ask(1)
    pairs.ask(1)
    pairs.answer(1)
    assert pairs.pairing.expects(1)
    pairs.answer(1)
    assert pairs.got == [(1, 1, "answered")] * 2


def test_a_response_closes_what_was_asked_before() -> None:
    pairs = Pairs()
    pairs.ask(1)
    pairs.ask(2, acks=0)
    pairs.ask(3)
    pairs.answer(3)
    assert pairs.got == [(1, None, "unanswered"), (2, None, "no-response"), (3, 3, "answered")]


def test_a_broker_that_answers_acks_0_all_the_same() -> None:
    pairs = Pairs()
    pairs.ask(1, acks=0)
    pairs.answer(1)
    assert pairs.got == [(1, 1, "answered")]


def test_a_response_captured_before_its_request() -> None:
    pairs = Pairs()
    pairs.answer(1, time=5)
    assert pairs.got == []
    pairs.ask(1, time=6)
    assert pairs.got == [(1, 1, "answered")]


def test_the_end_of_the_capture() -> None:
    pairs = Pairs()
    pairs.answer(9)
    pairs.ask(1)
    pairs.ask(2, acks=0)
    pairs.pairing.finish()
    assert pairs.got == [(None, 9, "no-request"), (1, None, "unanswered"), (2, None, "no-response")]


def test_memory_is_bounded() -> None:
    pairs = Pairs()
    for number in range(MAX_PENDING + 5):
        pairs.ask(number)
    assert pairs.got == [(number, None, "unanswered") for number in range(5)]
    pairs.got.clear()
    for number in range(MAX_ORPHANS + 3):
        pairs.answer(-number - 1)
    assert pairs.got == [(None, -number - 1, "no-request") for number in range(3)]


def test_what_is_learnt_of_the_client() -> None:
    pairs = Pairs()
    body = {"client_software_name": "librdkafka", "client_software_version": "2.3.0"}
    pairs.pairing.message(_message(True, wire.encode_request(VERSIONS, 3, 1, "app", body)[4:], 0))
    assert pairs.pairing.client_id == "app"


def test_heads_that_were_cut_off_are_no_pairs() -> None:
    pairs = Pairs()
    pairs.pairing.message(_message(True, b"\x00\x03", 0))
    pairs.pairing.message(_message(False, b"\x00\x03", 0))
    pairs.pairing.finish()
    assert pairs.got == []


def test_the_digest_tells_conversations_apart() -> None:
    same, other, none = Pairs(), Pairs(), Pairs()
    for pairs in (same, other):
        pairs.ask(1)
        pairs.answer(1)
    assert same.pairing.digest == other.pairing.digest
    other.ask(2)
    assert same.pairing.digest != other.pairing.digest
    assert none.pairing.digest is None


def _walked(pairing: Pairing, is_request: bool, data: bytes) -> None:
    """A message that is too large to keep, as the framing hands it over."""
    walker = pairing.begin_walk(is_request, len(data), data[:4096])
    assert walker is not None
    walker.feed(memoryview(data)[:4096])
    for at in range(4096, len(data), 1448):
        walker.feed(memoryview(data)[at : at + 1448])
    pairing.message(Message(is_request, len(data), data[:4096], walker, 0, 0, 1, 1, 0))


def test_what_is_too_large_to_keep_is_read_all_the_same() -> None:
    records = struct.pack(">qiibIhiqqqhii", 0, 49 + 400_000, 0, 2, 0, 0, 6, 1, 2, 3, 0, 0, 7) + bytes(400_000)
    taken: list[tuple[Asked | None, Answer | None, str]] = []
    pairing = Pairing(lambda *pair: taken.append(pair), Bodies())
    produced = {"acks": 1, "topic_data": [{"name": "t", "partition_data": [{"index": 2, "records": records}]}]}
    _walked(pairing, True, wire.encode_request(0, 9, 1, "app", produced)[4:])
    response = wire.encode_response(0, 9, 1, {"responses": []})[4:]
    pairing.message(_message(False, response, 0))
    pairing.message(_message(True, wire.encode_request(1, 11, 2, "app", {})[4:], 0))
    fetched = {"responses": [{"topic": "t", "partitions": [{"partition_index": 2, "records": records}]}]}
    _walked(pairing, False, wire.encode_response(1, 11, 2, fetched)[4:])
    (asked, _, _), (_, answer, _) = taken
    assert asked is not None
    assert answer is not None
    assert answer.facts is not None
    for facts in (asked.facts, answer.facts):
        assert (facts.decoded, facts.topics, facts.records, facts.record_bytes) == ("full", ["t"], 7, len(records))


def test_nobody_walks_what_is_not_asked_for() -> None:
    pairing = Pairing(lambda *pair: None, Bodies())
    assert pairing.begin_walk(False, 1 << 20, b"\x00\x00\x00\x05" + bytes(100)) is None
    assert pairing.begin_walk(True, 1 << 20, wire.encode_request(3, 9, 1, "app", {})[4:]) is None
    assert pairing.begin_walk(True, 1 << 20, b"\x00") is None


def test_how_far_it_was_decoded_where_no_body_was_found() -> None:
    taken: list[Asked | None] = []
    pairing = Pairing(lambda asked, answer, outcome: taken.append(asked), Bodies())
    whole = wire.encode_request(3, 12, 1, "app", {})[4:]
    lying = whole[:8] + b"\x70" + whole[9:]
    unknown = b"\x03\xe8" + whole[2:]
    for head, size in ((whole[:11], len(whole)), (lying, len(lying)), (unknown, len(unknown))):
        pairing.message(Message(True, size, head, None, 0, 0, 1, 1, 0))
    pairing.finish()
    assert [None if asked is None else asked.facts.decoded for asked in taken] == ["truncated", "failed", "header"]
