"""Damaged captures: no error but ours, every byte accounted for, the same packets whatever the pieces, little lost."""

import tracemalloc
from random import Random

import pytest

from netdiag.errors import InputError
from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.names import Names
from netdiag.traffic.engine.packet import Datagram, Packet, Segment
from netdiag.traffic.engine.records import CaptureReader
from tests.figures import Report as Figure
from tests.traffic.engine.capture_files import START, accounted, block, enhanced, interface, pcap, read, section
from tests.traffic.engine.frames import ethernet, ipv4, packet, tcp, udp
from tests.traffic.engine.nested import nested

COUNT = 120
MILLISECOND = 1_000_000


def _contents() -> list[bytes]:
    random = Random(7)
    made = [ethernet(ipv4(tcp(random.randbytes(random.randrange(1400)), sequence=index))) for index in range(COUNT)]
    made[5:10] = [ethernet(ipv4(udp(random.randbytes(60)), protocol=17)) for _ in range(5)]
    return made


def _files() -> dict[str, bytes]:
    contents = [(START + index * MILLISECOND, data) for index, data in enumerate(_contents())]
    files = {
        "pcap": pcap(contents),
        "pcap, big-endian nanoseconds": pcap(contents, order=">", nanoseconds=True),
        "pcap, modified": pcap(contents, modified=True),
        "pcap, snaplen 96": pcap(contents, snaplen=96),
    }
    for order in ("<", ">"):
        parts = [section(order=order), interface(order=order), interface(order=order)]
        for index, (time, data) in enumerate(contents):
            parts.append(enhanced(time // 1000, data, index=index % 2, order=order))
            if index % 40 == 39:
                parts += [block(5, bytes(12), order=order), section(order=order), interface(order=order) * 2]
        files[f"pcapng {order}"] = b"".join(parts)
    return files


FILES = _files()


def mutated(random: Random, data: bytes) -> bytes:
    """The file with one to three wounds."""
    made = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(made))
        match random.randrange(6):
            case 0:
                made[at] ^= 1 << random.randrange(8)
            case 1:
                value = random.choice((0, 1, 0xFFFF, 0xFFFFFF, 0x7FFFFFFF, 0xFFFFFFFF, random.randrange(1 << 32)))
                made[at : at + 4] = value.to_bytes(4, random.choice(("little", "big")))
            case 2:
                del made[at : at + random.randrange(1, 3000)]
            case 3:
                made[at:at] = random.randbytes(random.randrange(1, 3000))
            case 4:
                made[at:at] = made[at : at + random.randrange(1, 3000)]
            case _:
                del made[max(24, at) :]
        made = made or bytearray(b"\0")
    return bytes(made)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_byte_of_a_damaged_file_is_accounted_for(name: str) -> None:
    random = Random(name)
    refused, names = 0, Names()
    for _ in range(150):
        data = mutated(random, FILES[name])
        try:
            packets, reader = read(data)
        except InputError:
            refused += 1
            continue
        assert accounted(reader) == len(data)
        piece = random.choice((11, 500, 1460, 65_536))
        again, other = read(data, piece=piece)
        assert [(each.time, bytes(each.data), each.number) for each in again] == [
            (each.time, bytes(each.data), each.number) for each in packets
        ], piece
        assert accounted(other) == len(data)
        for each in packets:
            decoded = decode_packet(each)
            if isinstance(decoded, Datagram):
                names.push(decoded)
    assert refused < 15


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_one_wound_costs_few_packets(name: str, figure: Figure) -> None:
    random, begin = Random(name), 200
    whole = {(each.time, bytes(each.data)) for each in read(FILES[name])[0]}
    lost = []
    for _ in range(300):
        data = bytearray(FILES[name])
        at = random.randrange(begin, len(data) - 4)
        data[at : at + 4] = random.randbytes(4)
        found = {(each.time, bytes(each.data)) for each in read(bytes(data))[0]}
        lost.append(len(whole - found))
    figure(f"packets lost by one wound in {name}", f"{sum(lost) / len(lost):.2f}", "packets")
    # The wounded one, and where a header was hit the one before it.
    assert sum(lost) / len(lost) < 1.3
    assert max(lost) <= (45 if name.startswith("pcapng") else 3)


@pytest.mark.slow
def test_damaged_packets_are_decoded_or_refused() -> None:
    random = Random(3)
    for _ in range(300):
        link, data = nested(random)
        for _ in range(20):
            made = bytearray(data)
            for _ in range(random.randrange(1, 4)):
                made[random.randrange(len(made))] = random.randrange(256)
            kept = random.choice((len(made), random.randrange(len(made) + 1)))
            length = random.choice((len(made), kept, 0, 1 << 20))
            decoded = decode_packet(packet(bytes(made[:kept]), link=link, length=length))
            if isinstance(decoded, Segment):
                assert len(decoded.payload) <= decoded.length <= max(1 << 20, 0xFFFF)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["noise", "zeros", "ones", "headers", "blocks"])
@pytest.mark.parametrize("begin", ["pcap", "pcapng <"])
def test_endless_garbage_takes_no_memory(kind: str, begin: str) -> None:
    """2 MB in pieces of 64 KB; a piece, a packet and what was read of it is all that may be held."""
    filler = {
        "noise": Random(1).randbytes(65_536),
        "zeros": bytes(65_536),
        "ones": b"\xff" * 65_536,
        "headers": (b"\x01\0\0\0" + b"\x00\x01\0\0" * 3) * 4096,
        "blocks": (b"\x06\0\0\0\x00\x04\x05\x00") * 8192,
    }[kind]
    reader = CaptureReader()
    reader.feed(FILES[begin][:5000])
    packets: list[Packet] = []
    tracemalloc.start()
    try:
        for _ in range(32):
            packets += [each._replace(data=memoryview(b"")) for each in reader.feed(filler)][:10]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    reader.finish()
    assert accounted(reader) == 5000 + 32 * 65_536
    assert peak < 2_000_000
