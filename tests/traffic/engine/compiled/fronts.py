"""Captures read by the front and by the readers in plain Python, to be held against each other."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle
from typing import Any

from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.compiled.front import Chunk, Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.packet import SYN, Packet, Segment
from netdiag.traffic.engine.records import CaptureReader
from netdiag.traffic.engine.walk import Decoded

Read = list[tuple[Packet, Decoded, bool]]


def by_front(data: bytes, sizes: Sequence[int], **options: Any) -> tuple[Read, Account]:
    """Each packet with what the front finds in it, and whether it did; in pieces of these sizes, again and again."""
    keys = options.pop("keys", None) or Keys()
    front = Front(keys, **options)
    found: Read = []
    for chunk in chain((front.take(piece) for piece in pieces(data, sizes)), (front.end() for _ in range(1))):
        found += unpacked(chunk)
    return found, front.account


def by_twin(data: bytes, sizes: Sequence[int], **options: Any) -> tuple[Read, Account]:
    """The same by the reference."""
    reader = CaptureReader(**options)
    packets = [_copied(packet) for piece in pieces(data, sizes) for packet in reader.feed(piece)]
    packets += map(_copied, reader.finish())
    decoded = ((packet, decode_packet(packet)) for packet in packets)
    return [(packet, found, isinstance(found, Segment) and not found.context) for packet, found in decoded], (
        reader.account
    )


def pieces(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """The bytes in pieces of these sizes, again and again."""
    begin = 0
    for size in cycle(sizes):
        if begin >= len(data):
            return
        yield data[begin : begin + size]
        begin += size


def unpacked(chunk: Chunk) -> Read:
    """The packets of a chunk; of what the front has not decoded, the reference says what it is."""
    found: Read = []
    for index, row in enumerate(chunk.packets):
        packet = chunk.packet(index)
        if not row["segment"]:
            found.append((packet, decode_packet(packet), False))
            continue
        assert 0 <= row["key"] < chunk.pairs
        key, back = chunk.keys[row["key"]], chunk.keys[row["key"] ^ 1]
        assert (key["back"], back["back"]) == (row["key"] ^ 1, row["key"])
        assert bytes(key["source"]) == bytes(back["destination"])
        assert (key["source_port"], key["destination_port"]) == (back["destination_port"], back["source_port"])
        width, begin = int(key["width"]), int(row["payload"])
        payload = chunk.data[begin : begin + int(row["kept"])].tobytes()
        assert len(payload) == row["kept"]
        flags = int(row["flags"])
        segment = Segment(
            time=int(row["time"]),
            source=bytes(key["source"])[:width],
            destination=bytes(key["destination"])[:width],
            source_port=int(key["source_port"]),
            destination_port=int(key["destination_port"]),
            sequence=int(row["sequence"]),
            acknowledgement=int(row["acknowledgement"]),
            flags=flags,
            window=int(row["window"]),
            payload=memoryview(payload),
            length=int(row["size"]),
            identification=int(row["identification"]),
            # Who wants it asks the reference.
            window_scale=_scale(packet) if flags & SYN else -1,
            context=b"",
            interface=chunk.interfaces[row["interface"]],
            number=int(row["number"]),
            file=packet.file,
        )
        found.append((packet, segment, True))
    return found


def explained(account: Account) -> tuple[object, ...]:
    """What an account says."""
    return (
        account.packets,
        account.filtered,
        account.dropped,
        account.packet_bytes,
        account.header_bytes,
        account.filtered_bytes,
        account.lost_bytes,
        account.losses,
    )


def assert_same(data: bytes, sizes: Sequence[int], **options: Any) -> tuple[int, int]:
    """The front says what the reference says; how many packets there are, and how many of them the front decoded."""
    expected, account = by_twin(data, sizes, **options)
    found, own = by_front(data, sizes, **options)
    assert explained(own) == explained(account)
    assert len(found) == len(expected)
    for (packet, decoded, is_done), (right, meant, may_be) in zip(found, expected, strict=True):
        assert decoded == meant, (packet, right)
        assert not is_done or may_be
        assert _without_name(packet) == _without_name(right)
    return len(found), sum(is_done for _, _, is_done in found)


def _without_name(packet: Packet) -> Packet:
    """Of a packet with a header of Linux (SLL2) the front gives the name that the header tells."""
    return packet._replace(interface="") if packet.link_type == 276 else packet


def _scale(packet: Packet) -> int:
    decoded = decode_packet(packet)
    assert isinstance(decoded, Segment)
    return decoded.window_scale


def _copied(packet: Packet) -> Packet:
    return packet._replace(data=memoryview(bytes(packet.data)))
