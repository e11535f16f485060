"""Segments become messages: swapped, repeated, late, lost, cut; what is found was sent, and every byte is counted."""

import random
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.kafka import protocol as wire
from tests.native.conversations import FETCH, PRODUCE, metadata_request, metadata_response
from tests.native.packets import ACK, FIN, MILLISECOND, PSH, Packet, TcpConnection
from tests.native.reading import Rows, rows_of_packets

Sent = tuple[int, bytes]
# A size field is not part of the size.
SIZE = 4


def messages(rows: Rows) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The requests and the responses that were found: correlation id and size, in the order of their packets."""
    found = rows["exchanges"]
    asked = sorted((row.request_packet, row.correlation_id, row.request_bytes) for row in found if row.request_packet)
    told = sorted((row.response_packet, row.correlation_id, row.response_bytes) for row in found if row.response_packet)
    return [(number, size) for _, number, size in asked], [(number, size) for _, number, size in told]


def requests(rows: Rows) -> list[int]:
    """Correlation ids of the requests found."""
    return [number for number, _ in messages(rows)[0]]


def losses(rows: Rows) -> dict[tuple[str | None, str], int]:
    """Bytes lost, by direction and kind."""
    found: dict[tuple[str | None, str], int] = {}
    for row in rows["losses"]:
        found[row.direction, row.kind] = found.get((row.direction, row.kind), 0) + row.bytes
    return found


def check_balance(rows: Rows) -> None:
    """The bytes of the streams are those of messages and those of losses outside of messages.

    A message whose header was not captured has no row.
    """
    for connection in rows["connections"]:
        own = [row for row in rows["exchanges"] if row.connection == connection.connection]
        asked = [row.request_bytes + SIZE for row in own if row.request_bytes is not None]
        told = [row.response_bytes + SIZE for row in own if row.response_bytes is not None]
        outside = sum(
            row.bytes
            for row in rows["losses"]
            if row.connection == connection.connection and row.detail != "inside messages" and row.kind != "limit"
        )
        explained = sum(asked) + sum(told) + outside
        if (len(asked), len(told)) == (connection.requests, connection.responses):
            assert connection.client_bytes + connection.broker_bytes + connection.lost_bytes == explained
        else:
            assert len(asked) <= connection.requests
            assert len(told) <= connection.responses
            assert connection.client_bytes + connection.broker_bytes + connection.lost_bytes > explained


def test_a_request_and_its_response() -> None:
    asked, told = metadata_request(1), metadata_response(1)
    rows = rows_of_packets(TcpConnection().open().ask(asked).answer(told).packets)
    assert messages(rows) == ([(1, len(asked) - SIZE)], [(1, len(told) - SIZE)])
    (connection,) = rows["connections"]
    assert (connection.protocol, connection.client, connection.requests, connection.responses) == (
        "kafka",
        "10.0.0.1:40000",
        1,
        1,
    )
    assert rows["losses"] == []


def test_a_message_in_pieces_of_one_byte() -> None:
    talk = TcpConnection().open()
    for byte in metadata_request(1) + metadata_request(2):
        talk.send(0, bytes([byte]))
    assert requests(rows_of_packets(talk.packets)) == [1, 2]


def test_swapped_segments() -> None:
    talk, data = TcpConnection().open(), metadata_request(1) + metadata_request(2)
    first, *others = [talk.packet(0, data[at : at + 10]) for at in range(0, len(data), 10)]
    rows = rows_of_packets([*talk.packets, first, *reversed(others)])
    assert sorted(requests(rows)) == [1, 2]
    (connection,) = rows["connections"]
    assert connection.out_of_order + connection.retransmissions == len(others) - 1


def test_sequence_numbers_wrap() -> None:
    talk = TcpConnection(sequences=(0xFFFFFFF0, 0xFFFFFFFF)).open()
    for number in range(4):
        talk.ask(metadata_request(number))
    assert requests(rows_of_packets(talk.packets)) == [0, 1, 2, 3]


def test_the_same_packet_on_another_interface_is_a_copy() -> None:
    talk = TcpConnection().open()
    packets = [packet._replace(interface="eth0") for packet in talk.packets]
    packet = talk.packet(0, metadata_request(1), interface="eth0")
    again = talk.packet(0, metadata_request(1), sequence=1001, interface="eth0")
    again = again._replace(time=packet.time + 300 * MILLISECOND)
    rows = rows_of_packets([*packets, packet, packet._replace(interface="br0"), again, again._replace(interface="br0")])
    assert requests(rows) == [1]
    (connection,) = rows["connections"]
    assert (connection.duplicates, connection.retransmissions) == (2, 1)
    assert connection.interfaces == ("eth0", "br0")


def test_probes_are_no_payload() -> None:
    talk = TcpConnection().open().ask(metadata_request(1))
    for payload in (b"", b"\0"):
        talk.packets.append(talk.packet(0, payload, sequence=talk.next[0] - 1))
    talk.packets += [talk.packet(1, window=window) for window in (0, 0, 900)]
    rows = rows_of_packets(talk.ask(metadata_request(2)).packets)
    assert requests(rows) == [1, 2]
    assert [(row.keep_alives, row.zero_windows) for row in rows["connections"]] == [(2, 1)]


def test_a_hole_without_an_acknowledgement_is_waited_for() -> None:
    talk = TcpConnection().open()
    before = talk.next[0]
    late = talk.packet(0, metadata_request(1))
    for number in range(2, 60):
        talk.ask(metadata_request(number))
        talk.packets.append(talk.packet(1, acknowledgement=before))
    assert sorted(requests(rows_of_packets([*talk.packets, late]))) == list(range(1, 60))


def test_a_response_that_was_captured_before_its_request() -> None:
    talk = TcpConnection().open()
    late = talk.packet(0, metadata_request(1))
    rows = rows_of_packets([*talk.answer(metadata_response(1)).packets, late])
    assert [row.outcome for row in rows["exchanges"]] == ["answered"]


def test_packets_far_away_are_not_of_this_stream() -> None:
    talk = TcpConnection().open().ask(metadata_request(1))
    talk.packets.append(talk.packet(0, b"stray", sequence=talk.next[0] + 0x50000000))
    rows = rows_of_packets(talk.ask(metadata_request(2)).packets)
    assert requests(rows) == [1, 2]
    assert losses(rows) == {("request", "limit"): 5}


def test_behind_a_lost_packet() -> None:
    talk = TcpConnection().open()
    for number in range(1, 6):
        (talk.lose if number == 3 else talk.send)(0, metadata_request(number, topics=5))
        (talk.lose if number == 4 else talk.send)(1, metadata_response(number, brokers=5))
    rows = rows_of_packets(talk.packets)
    asked, told = messages(rows)
    assert {number for number, _ in asked} >= {1, 2, 4, 5}
    assert {number for number, _ in told} >= {1, 2, 5}
    assert len(asked) + len(told) <= 8
    check_balance(rows)


def test_a_size_that_cannot_be_one_loses_the_boundary() -> None:
    talk = TcpConnection().open().ask(metadata_request(1)).ask(b"\xff\xff\xff\xff" + bytes(20))
    rows = rows_of_packets(talk.ask(metadata_request(2)).packets)
    assert requests(rows) == [1, 2]
    assert losses(rows) == {("request", "resync"): 24}


def test_a_message_cut_off_by_the_end_is_no_message() -> None:
    rows = rows_of_packets(TcpConnection().open().ask(metadata_request(1, topics=9)[:50]).packets)
    assert rows["exchanges"] == []
    check_balance(rows)


def test_headers_only() -> None:
    """A snap length that leaves 30 bytes of payload: enough for api key, version, correlation id and client id."""
    talk = TcpConnection(snap=84).open().ask(metadata_request(1, topics=20)).answer(metadata_response(1, brokers=20))
    rows = rows_of_packets(talk.ask(metadata_request(2, topics=20)).packets)
    assert [(row.correlation_id, row.client_id, row.decoded) for row in rows["exchanges"]] == [
        (1, "app", "truncated"),
        (2, "app", "truncated"),
    ]
    assert {row.detail for row in rows["losses"]} == {"inside messages"}
    check_balance(rows)


def _fetched(talk: TcpConnection, lost: int | None) -> int:
    """A Fetch response of 1.2 MB in packets of 60 kB, of which one may be missing; how many bytes it has."""
    batch = struct.pack(">qiibIhiqqqhii", 10, 49 + 100_000, 0, 2, 0, 0, 2, 1000, 3000, 7, 1, 0, 3) + bytes(100_000)
    told = {"responses": [{"topic": "t", "partitions": [{"partition_index": 0, "records": batch * 12}]}]}
    data = wire.encode_response(FETCH, 11, 1, told)
    talk.ask(wire.encode_request(FETCH, 11, 1, "app", {}))
    for number, at in enumerate(range(0, len(data), 60_000)):
        (talk.lose if number == lost else talk.send)(1, data[at : at + 60_000])
    return len(data) - SIZE


@pytest.mark.parametrize("lost", [None, 2, 8])
@pytest.mark.parametrize("snap", [None, 154])
def test_a_large_message_is_read_as_it_passes(snap: int | None, lost: int | None) -> None:
    talk = TcpConnection(snap=snap).open()
    size = _fetched(talk, lost)
    for _ in range(20):
        talk.send(0)
    rows = rows_of_packets(talk.ask(metadata_request(2)).answer(metadata_response(2)).packets)
    first, second = rows["exchanges"]
    assert (first.response_bytes, first.topics, second.correlation_id) == (size, ("t",), 2)
    assert first.decoded == ("full" if lost is None and snap is None else "truncated")
    assert first.records in ((36,) if lost is None and snap is None else (36, None))
    check_balance(rows)


def test_what_begins_before_the_capture_is_told_by_its_content() -> None:
    talk = TcpConnection().answer(metadata_request(1)).ask(metadata_response(1))
    rows = rows_of_packets(talk.packets)
    assert messages(rows)[0] == [(1, len(metadata_request(1)) - SIZE)]
    assert [row.client for row in rows["connections"]] == ["10.0.0.2:9092"]


def test_responses_only() -> None:
    talk = TcpConnection()
    for number in range(10, 16):
        talk.lose(0, metadata_request(number)).send(1, metadata_response(number, brokers=3))
    rows = rows_of_packets(talk.packets)
    assert [number for number, _ in messages(rows)[1]] == list(range(10, 16))
    assert [row.client for row in rows["connections"]] == ["10.0.0.1:40000"]
    assert {row.outcome for row in rows["exchanges"]} == {"no-request"}


def test_responses_at_the_start_of_a_stream_need_no_request() -> None:
    talk = TcpConnection().open()
    for number in range(1, 6):
        (talk.lose if number < 3 else talk.send)(0, metadata_request(number))
        talk.send(1, metadata_response(number, brokers=3))
    rows = rows_of_packets(talk.packets)
    assert [number for number, _ in messages(rows)[1]] == [1, 2, 3, 4, 5]
    outcomes = {row.correlation_id: row.outcome for row in rows["exchanges"]}
    assert outcomes == dict.fromkeys((1, 2), "no-request") | dict.fromkeys((3, 4, 5), "answered")
    check_balance(rows)


# Conversations at random: what was sent is known.


def conversation(rng: random.Random, count: int) -> list[Sent]:
    """Requests with their responses in order; a few are large, some are pipelined."""
    out: list[Sent] = []
    waiting: list[Sent] = []
    for number in range(1, count + 1):
        if rng.random() < 0.2:
            records = rng.randbytes(rng.choice((10, 700, 5000)))
            parts = [{"name": "abc", "partition_data": [{"index": 0, "records": records}]}]
            out.append((0, wire.encode_request(PRODUCE, 3, number, "app", {"acks": 1, "topic_data": parts})))
            told = [{"name": "abc", "partition_responses": [{"index": 0, "base_offset": 7}]}]
            waiting.append((1, wire.encode_response(PRODUCE, 3, number, {"responses": told})))
        else:
            out.append((0, metadata_request(number, topics=rng.choice((1, 3, 40)))))
            waiting.append((1, metadata_response(number, brokers=rng.choice((1, 3, 90)))))
        while waiting and rng.random() < 0.8:
            out.append(waiting.pop(0))
    return out + waiting


def packets_of(talk: TcpConnection, sent: Sequence[Sent], rng: random.Random) -> list[tuple[int, Packet]]:
    """The packets of a conversation, each message in one or several segments, or several messages in one."""
    out: list[tuple[int, Packet]] = []
    pending: list[bytes] = [b"", b""]

    def flush(side: int) -> None:
        data, pending[side] = pending[side], b""
        while data:
            size = rng.choice((7, 100, 1448, 65_000))
            if len(data) == size + 1:  # a byte alone looks as a FIN does in an acknowledgement
                size += 1
            out.append((side, talk.packet(side, data[:size], flags=ACK | PSH)))
            data = data[size:]

    for side, message in sent:
        if pending[1 - side]:
            flush(1 - side)
        pending[side] += message
        if rng.random() < 0.7:
            flush(side)
    flush(0)
    flush(1)
    return out


def truth(sent: Sequence[Sent]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Correlation ids and sizes of what each side sent, in order."""
    asked = [(struct.unpack_from(">i", data, 8)[0], len(data) - SIZE) for side, data in sent if side == 0]
    told = [(struct.unpack_from(">i", data, 4)[0], len(data) - SIZE) for side, data in sent if side == 1]
    return asked, told


@given(seed=st.integers(0, 1 << 32), start=st.sampled_from((0, 1 << 31, (1 << 32) - 300)))
def test_swapped_and_repeated_packets_change_nothing(seed: int, start: int) -> None:
    rng = random.Random(seed)
    talk = TcpConnection(sequences=(start, (start + 77) & 0xFFFFFFFF)).open()
    sent = conversation(rng, 8)
    late: list[tuple[int, Packet]] = []
    seen: list[tuple[int, Packet]] = []
    captured = [packet._replace(interface="eth0") for packet in talk.packets]
    for number, (side, packet) in enumerate(packets_of(talk, sent, rng)):
        packet = packet._replace(interface="eth0")
        draw = rng.random()
        if draw < 0.1:
            late.append((number + rng.randrange(1, 6), packet))
            continue
        captured.append(packet)
        seen.append((side, packet))
        if draw < 0.2:
            captured.append(packet._replace(interface="br0"))
        elif draw < 0.3:
            again, old = rng.choice(seen)
            sequence, acknowledged = struct.unpack_from(">II", old.data, 38)
            cut = rng.randrange(len(old.data) - 54)
            resent = talk.packet(
                again,
                old.data[54 + cut :],
                sequence=sequence + cut,
                acknowledgement=acknowledged,
                interface="eth0",
            )
            captured.append(resent._replace(time=packet.time))
        for due in [entry for entry in late if entry[0] <= number]:
            late.remove(due)
            captured.append(due[1])
    rows = rows_of_packets([*captured, *(packet for _, packet in late)])
    asked, told = truth(sent)
    assert sorted(messages(rows)[0]) == sorted(asked)
    assert sorted(messages(rows)[1]) == sorted(told)
    assert {row.outcome for row in rows["exchanges"]} == {"answered"}
    check_balance(rows)


def test_a_hole_that_was_filled_leaves_the_next_its_time() -> None:
    """The first is known by an answer that came before its question, the second comes long after."""
    talk = TcpConnection().open()
    opened = list(talk.packets)
    first, answer = talk.packet(0, metadata_request(1)), talk.packet(1, metadata_response(1))
    talk.time += 100_000_000
    request = metadata_request(2)
    parts = [talk.packet(0, request[:7]), talk.packet(0, request[7:]), talk.packet(1, metadata_response(2))]
    rows = rows_of_packets([*opened, answer, first, parts[0], parts[2], parts[1]])
    assert [row.outcome for row in rows["exchanges"]] == ["answered", "answered"]
    assert losses(rows) == {}


@given(
    seed=st.integers(0, 1 << 32),
    snap=st.sampled_from((None, 84, 116, 244)),
    lost=st.sampled_from((0.0, 0.02, 0.2)),
    opened=st.booleans(),
)
def test_nothing_is_invented_and_every_byte_is_counted(seed: int, snap: int | None, lost: float, opened: bool) -> None:
    rng = random.Random(seed)
    talk = TcpConnection(snap=snap)
    if opened:
        talk.open()
    sent = conversation(rng, 12)
    made = packets_of(talk, sent, rng)
    rows = rows_of_packets([*talk.packets, *(packet for _, packet in made if rng.random() >= lost)])
    asked, told = truth(sent)
    assert set(messages(rows)[0]) <= set(asked)
    assert set(messages(rows)[1]) <= set(told)
    check_balance(rows)
    if lost == 0 and snap is None and opened:
        assert len(rows["exchanges"]) == len(asked)


@given(st.lists(st.tuples(st.integers(0, 1), st.binary(max_size=80), st.integers(0, 31), st.integers(-200, 200))))
def test_any_packets_at_all(drawn: list[tuple[int, bytes, int, int]]) -> None:
    talk = TcpConnection()
    for side, payload, flags, offset in drawn:
        sequence, talk.next[side] = talk.next[side] + offset, talk.next[side] + len(payload) + bool(flags & (FIN | 2))
        talk.packets.append(talk.packet(side, payload, flags=flags, sequence=sequence))
    check_balance(rows_of_packets(talk.packets))
