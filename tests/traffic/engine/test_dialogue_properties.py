"""A conversation cut, swapped, repeated, truncated and thinned at random: what is found is true, and all is counted."""

import random
import struct

from hypothesis import given
from hypothesis import strategies as st

from netdiag.traffic.engine.packet import Segment
from tests.traffic.engine.wire import (
    MILLISECOND,
    Wire,
    check_balance,
    framed,
    metadata_request,
    metadata_response,
    request,
)

Sent = tuple[int, bytes]


def conversation(rng: random.Random, count: int) -> list[Sent]:
    """Requests with their responses in order; a few are large, some are pipelined."""
    out: list[Sent] = []
    waiting: list[Sent] = []
    for number in range(1, count + 1):
        if rng.random() < 0.2:
            records = rng.randbytes(rng.choice((10, 700, 5000)))
            body = struct.pack(">hhihhiii", -1, 1, 1000, 1, 6, 0x616263, 0, 0)
            body = struct.pack(">hhi", -1, 1, 1000) + struct.pack(">ih", 1, 3) + b"abc" + struct.pack(">ii", 1, 0)
            out.append((0, request(0, 3, number, body + struct.pack(">i", len(records)) + records)))
            answer = struct.pack(">iih", number, 1, 3) + b"abc" + struct.pack(">iihqq", 1, 0, 0, 7, -1)
            waiting.append((1, answer + struct.pack(">i", 0)))
        else:
            out.append((0, metadata_request(number, topics=rng.choice((1, 3, 40)))))
            waiting.append((1, metadata_response(number, brokers=rng.choice((1, 3, 90)))))
        while waiting and rng.random() < 0.8:
            out.append(waiting.pop(0))
    return out + waiting


def packets(wire: Wire, talk: list[Sent], rng: random.Random) -> list[tuple[int, Segment]]:
    """The packets of a conversation, each message in one or several segments, or several messages in one."""
    out: list[tuple[int, Segment]] = []
    pending: list[bytes] = [b"", b""]

    def flush(side: int) -> None:
        data = pending[side]
        pending[side] = b""
        while data:
            size = rng.choice((7, 100, 1448, 65000))
            if len(data) == size + 1:  # a byte alone looks as a FIN does in an acknowledgement
                size += 1
            out.append((side, wire.packet(side, data[:size], after=MILLISECOND // 4)))
            data = data[size:]

    for side, message in talk:
        if pending[1 - side]:
            flush(1 - side)
        pending[side] += framed(message)
        if rng.random() < 0.7:
            flush(side)
    flush(0)
    flush(1)
    return out


@given(seed=st.integers(0, 1 << 32), start=st.sampled_from((0, 1 << 31, (1 << 32) - 300)))
def test_swapped_and_repeated_packets_change_nothing(seed: int, start: int) -> None:
    rng = random.Random(seed)
    wire = Wire(starts=(start, (start + 77) & 0xFFFFFFFF))
    talk = conversation(rng, 8)
    wire.open()
    sent = packets(wire, talk, rng)
    late: list[tuple[int, int, Segment]] = []
    seen: list[tuple[int, Segment]] = []
    for number, (side, segment) in enumerate(sent):
        draw = rng.random()
        if draw < 0.1:
            late.append((number + rng.randrange(1, 6), side, segment))
            continue
        wire.dialogue.push(side, segment)
        seen.append((side, segment))
        if draw < 0.2:
            wire.dialogue.push(side, segment._replace(interface="br0"))
        elif draw < 0.3:
            again, old = rng.choice(seen)
            cut = rng.randrange(old.length)
            payload = old.payload[cut:]
            resent = old._replace(sequence=(old.sequence + cut) & 0xFFFFFFFF, payload=payload, length=len(payload))
            wire.dialogue.push(again, resent._replace(identification=60000, time=segment.time))
        for due in [entry for entry in late if entry[0] <= number]:
            late.remove(due)
            wire.dialogue.push(*due[1:])
    for _, side, segment in late:
        wire.dialogue.push(side, segment)
    found = wire.finish()
    for side in (0, 1):
        expected = [message for sender, message in talk if sender == side]
        assert [m.head for m in wire.ear.messages if m.is_request == (side == 0)] == expected
    order = [
        struct.unpack_from(">i", head, 4 if m.is_request else 0)[0]
        for m, head in zip(wire.ear.messages, found, strict=True)
    ]
    for message, number in zip(wire.ear.messages, order, strict=True):
        if not message.is_request:
            asked = next(i for i, m in enumerate(wire.ear.messages) if m.is_request and order[i] == number)
            assert asked < wire.ear.messages.index(message)


@given(
    seed=st.integers(0, 1 << 32),
    snap=st.sampled_from((None, 30, 62, 190)),
    lost=st.sampled_from((0.0, 0.02, 0.2)),
    opened=st.booleans(),
)
def test_nothing_is_invented_and_every_byte_is_counted(seed: int, snap: int | None, lost: float, opened: bool) -> None:
    rng = random.Random(seed)
    wire = Wire(snap=snap)
    if opened:
        wire.open()
    talk = conversation(rng, 12)
    true = {(side == 0, len(message), message[:8]) for side, message in talk}
    for side, segment in packets(wire, talk, rng):
        if rng.random() >= lost:
            wire.dialogue.push(side, segment)
    wire.finish()
    for message in wire.ear.messages:
        if len(message.head) >= 8:
            assert (message.is_request, message.size, message.head[:8]) in true
    if lost == 0 and snap is None and opened:
        assert len(wire.ear.messages) == len(talk)


@given(st.lists(st.tuples(st.integers(0, 1), st.binary(max_size=80), st.integers(0, 31), st.integers(-200, 200))))
def test_any_packets_at_all(drawn: list[tuple[int, bytes, int, int]]) -> None:
    wire = Wire()
    for side, payload, flags, offset in drawn:
        segment = wire.packet(side, payload, flags=flags)
        wire.dialogue.push(side, segment._replace(sequence=(segment.sequence + offset) & 0xFFFFFFFF))
    wire.dialogue.finish()
    check_balance(wire.dialogue)
