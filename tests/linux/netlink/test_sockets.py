"""Listeners from inet_diag."""

import os
import socket
import struct

import pytest

from netdiag.io.kernel.netlink import SOCK_DIAG, Channel
from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.sockets import decode_listener, request_listeners, request_tcp_listeners
from netdiag.linux.socket import Listener, Protocol
from tests.linux.netlink.assembling import message, nla, u8


def answer(
    family: int, state: int, address: str, port: int, *, waiting: int = 0, most: int = 0, device: int = 0
) -> bytes:
    raw = socket.inet_pton(socket.AF_INET if family == 2 else socket.AF_INET6, address).ljust(16, b"\0")
    ports = struct.pack(">HH", port, 0)
    return (
        struct.pack("=BBBB", family, state, 0, 0)
        + ports
        + raw
        + bytes(16)
        + struct.pack("=IIIIIIII", device, 1, 2, 0, waiting, most, 1000, 4711)
    )


def test_the_requests() -> None:
    tcp = struct.pack("=BBBBI", 2, 6, 0, 0, 1 << 10) + bytes(48)
    udp = struct.pack("=BBBBI", 10, 17, 0, 0, 1 << 7) + bytes(48)
    assert request_listeners(Protocol.TCP, 4) == message(20, tcp, flags=0x301, sequence=0)
    assert request_listeners(Protocol.UDP, 6) == message(20, udp, flags=0x301, sequence=0)


def test_tcp() -> None:
    data = answer(2, 10, "127.0.0.1", 9092, waiting=3, most=128, device=5)
    assert decode_listener(memoryview(data), Protocol.TCP) == Listener(
        protocol=Protocol.TCP,
        family=4,
        address="127.0.0.1",
        port=9092,
        inode=4711,
        uid=1000,
        ifindex=5,
        queue=3,
        backlog=128,
    )


@pytest.mark.parametrize("v6only", [True, False])
def test_udp_over_ipv6(v6only: bool) -> None:
    data = answer(10, 7, "::", 53, waiting=212992, most=9) + nla(11, u8(v6only))
    assert decode_listener(data, Protocol.UDP) == Listener(
        protocol=Protocol.UDP, family=6, address="::", port=53, inode=4711, uid=1000, v6only=v6only
    )


def test_other_states_and_families_are_none_of_ours() -> None:
    assert decode_listener(answer(2, 1, "127.0.0.1", 9092), Protocol.TCP) is None
    assert decode_listener(answer(2, 10, "127.0.0.1", 9092), Protocol.UDP) is None
    assert decode_listener(b"\x01" + answer(2, 10, "0.0.0.0", 1)[1:], Protocol.TCP) is None
    assert decode_listener(answer(2, 255, "0.0.0.0", 1), Protocol.TCP) is None


@pytest.mark.parametrize("data", [b"", answer(2, 10, "0.0.0.0", 1)[:-1], answer(10, 10, "::", 1) + nla(11, b"")])
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_listener(data, Protocol.TCP)


def test_the_older_question_gives_both_families_at_once() -> None:
    """What listens here, asked in both ways of the kernel itself."""
    with socket.socket() as four, socket.socket(socket.AF_INET6) as six:
        four.bind(("127.0.0.1", 0))
        six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, True)
        six.bind(("::1", 0))
        for one in (four, six):
            one.listen(3)
        inodes = {os.fstat(one.fileno()).st_ino for one in (four, six)}
        with Channel(SOCK_DIAG) as channel:
            once = channel.payloads(request_tcp_listeners())
            twice = [p for family in (4, 6) for p in channel.payloads(request_listeners(Protocol.TCP, family))]
    answers = [
        {told.inode: told for payload in payloads if (told := decode_listener(payload, Protocol.TCP)) is not None}
        for payloads in (once, twice)
    ]
    assert inodes <= answers[0].keys()
    assert [answers[0][inode] for inode in sorted(inodes)] == [answers[1][inode] for inode in sorted(inodes)]
    assert {answers[0][inode].v6only for inode in inodes} == {False, True}
