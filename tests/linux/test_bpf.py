"""Programs that choose packets: the kernel runs ours, tcpdump judges the same frames by the expression."""

import ctypes
import itertools
import random
import socket
import struct
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from netdiag.linux.bpf import (
    LONGEST,
    NO_PACKETS,
    Instruction,
    LinkKind,
    Program,
    all_packets,
    for_all_links,
    kafka_expression,
    kafka_filter,
    parse_dump,
)
from tests.tools import tool

PORTS = (9092, 29092, 19094)
IP4 = bytes.fromhex("0a000001 0a000002")
IP6 = bytes.fromhex("fd00" + "00" * 13 + "01" + "fd00" + "00" * 13 + "02")


def taken(program: Program, frames: Sequence[bytes]) -> list[bytes]:
    """What the kernel lets through: a filter on a socket of datagrams sees each from its first byte."""
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, receiver:
        receiver.setblocking(False)
        code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in program))
        receiver.setsockopt(socket.SOL_SOCKET, 26, struct.pack("@HP", len(program), ctypes.addressof(code)))
        found: list[bytes] = []
        for frame in frames:
            sender.send(frame)
            with suppress(BlockingIOError):
                found.append(receiver.recv(65536))
    return found


def ip4(protocol: int, payload: bytes, *, options: int = 0, fragment: int = 0) -> bytes:
    head = struct.pack("!BBHHHBBH", 0x45 + options, 0, 20 + 4 * options + len(payload), 1, fragment, 64, protocol, 0)
    return head + IP4 + b"\1" * 4 * options + payload


def ip6(protocol: int, payload: bytes) -> bytes:
    return struct.pack("!IHBB", 0x60000000, len(payload), protocol, 64) + IP6 + payload


def ports(source: int, destination: int) -> bytes:
    return struct.pack("!HH", source, destination) + b"\0" * 16


def packets() -> list[tuple[int, bytes]]:
    """IP packets of every kind that the filter tells apart, each with its ethertype."""
    found: list[tuple[int, bytes]] = []
    numbers = (9092, 29092, 19094, 53, 80, 9093, 0, 65535, 9092 ^ 0x8000)
    for protocol, (one, two) in itertools.product((6, 17, 132, 1, 58), itertools.product(numbers, (40000, 9092, 53))):
        for payload in (ports(one, two), ports(two, one)):
            found += [(0x0800, ip4(protocol, payload, options=o)) for o in (0, 1, 10)]
            found += [(0x0800, ip4(protocol, payload, fragment=f)) for f in (0x2000, 0x4000, 1, 0x2001, 0x1FFF)]
            found.append((0x86DD, ip6(protocol, payload)))
    for kind in range(20):
        found.append((0x0800, ip4(1, bytes([kind, 1]) + b"\0" * 30)))
        found.append((0x86DD, ip6(58, bytes([kind, 1]) + b"\0" * 30)))
        found.append((0x86DD, ip6(1, bytes([kind, 1]) + b"\0" * 30)))
    for number in (6, 17, 1):
        for fragment in (0, 0x2000, 1):
            packet = ip4(number, ports(4000, 5000), fragment=fragment)
            resolver = socket.inet_aton("127.0.0.11")
            found += [(0x0800, packet[:at] + resolver + packet[at + 4 :]) for at in (12, 16)]
    found.append((0x0806, b"\0" * 28))
    found += [(kind, data[:size]) for kind, data in found[:60:7] for size in range(0, len(data), 3)]
    return found


def mutated() -> list[bytes]:
    """Frames, some of them damaged."""
    chance = random.Random(7)
    frames = [b"\2" * 12 + struct.pack("!H", kind) + data for kind, data in packets()]
    for frame in frames[:]:
        broken = bytearray(frame)
        broken[chance.randrange(len(broken))] = chance.randrange(256)
        frames.append(bytes(broken))
    return frames


def judged_by_tcpdump(tmp_path: Path, frames: Sequence[bytes], linktype: int, expression: str) -> list[bytes]:
    source, chosen = tmp_path / "all.pcap", tmp_path / "chosen.pcap"
    head = struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, linktype)
    source.write_bytes(head + b"".join(struct.pack("=IIII", 1, 0, len(f), len(f)) + f for f in frames))
    subprocess.run(
        [tool("tcpdump"), "-r", source, "-w", chosen, expression], check=True, capture_output=True, timeout=60
    )
    data, at = chosen.read_bytes(), 24
    found: list[bytes] = []
    while at < len(data):
        (size,) = struct.unpack_from("=I", data, at + 8)
        found.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return found


def test_ethernet_as_tcpdump_judges(tmp_path: Path) -> None:
    frames = mutated()
    ours = taken(kafka_filter(PORTS, LinkKind.ETHERNET), frames)
    assert ours == judged_by_tcpdump(tmp_path, frames, 1, kafka_expression(PORTS))
    assert 100 < len(ours) < len(frames) - 100


def test_bare_ip_as_tcpdump_judges(tmp_path: Path) -> None:
    bare = [data for kind, data in packets() if kind != 0x0806 and data]
    ours = taken(kafka_filter(PORTS, LinkKind.IP), bare)
    assert ours == judged_by_tcpdump(tmp_path, bare, 101, kafka_expression(PORTS))
    assert 100 < len(ours) < len(bare) - 100


def test_many_ports_need_no_long_jump() -> None:
    many = range(1000, 1400)
    program = kafka_filter(many, LinkKind.ETHERNET)
    frames = [b"\2" * 12 + b"\x08\0" + ip4(6, ports(1, port)) for port in (1000, 1399, 1400)]
    assert taken(program, frames) == frames[:2]


def test_what_is_kept_of_a_packet() -> None:
    program = for_all_links(all_packets(), all_packets(), snaplen=100)
    assert {one.k for one in program if one.code == 6} == {0, 100}


def test_too_long_for_the_kernel() -> None:
    long = (Instruction(0x20, 0, 0, 0),) * LONGEST
    with pytest.raises(ValueError, match="the kernel allows 4096"):
        for_all_links(long, long, snaplen=1)


def test_nothing_passes_nothing() -> None:
    assert taken(NO_PACKETS, [b"x"]) == []
    assert taken(all_packets(), [b"x"]) == [b"x"]


def test_a_printed_program_is_read() -> None:
    assert parse_dump("2\n40 0 0 12\n6 0 0 262144\n") == (Instruction(40, 0, 0, 12), Instruction(6, 0, 0, 262144))


@pytest.mark.parametrize("text", ["", "x", "2\n6 0 0 0", "1\n6 0 0", "1\n6 0 0 0 0"])
def test_what_is_no_program(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_dump(text)
