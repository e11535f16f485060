"""A netlink channel: against this kernel, and against a kernel that is played by a socket pair."""

import errno
import socket
import struct
import threading
from collections.abc import Callable

import pytest

from netdiag.errors import MissingRight
from netdiag.io.kernel.netlink import ROUTE, Channel, Refused
from netdiag.linux.netlink.routes import request_routing_rules

GETLINK, NEWLINK, DONE, ERROR = 18, 16, 3, 2
MULTI, INTERRUPTED = 0x2, 0x10
RULES = request_routing_rules()
LINKS = struct.pack("=IHHII", 32, GETLINK, 0, 0, 0) + bytes(16)


def message(kind: int, sequence: int, payload: bytes, flags: int = MULTI) -> bytes:
    length = 16 + len(payload)
    return struct.pack("=IHHII", length, kind, flags, sequence, 0) + payload + bytes(-length % 4)


def done(sequence: int, number: int = 0, flags: int = MULTI) -> bytes:
    return message(DONE, sequence, struct.pack("=i", -number), flags)


def played(answer: Callable[[int], list[bytes]], asked: int = 1) -> Channel:
    """A channel whose kernel answers the request of each sequence number with these datagrams."""
    ours, kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def play() -> None:
        with kernel:
            for _ in range(asked):
                _, _, _, sequence, _ = struct.unpack_from("=IHHII", kernel.recv(4096))
                for datagram in answer(sequence):
                    kernel.send(datagram)

    threading.Thread(target=play, daemon=True).start()
    return Channel(ROUTE, ours, bytearray(512))


def test_the_kernel_answers_a_dump_with_every_device() -> None:
    with Channel(ROUTE) as channel:
        first, again = ([kind for kind, _ in channel.dump(LINKS)] for _ in range(2))
    assert first == again == [NEWLINK] * len(socket.if_nameindex())


def test_payloads_are_those_of_the_dump() -> None:
    # Of links they would differ: counters of packets are in them.
    with Channel(ROUTE) as channel:
        assert channel.payloads(RULES) == [bytes(payload) for _, payload in channel.dump(RULES)] != []


def test_the_kernel_answers_a_question() -> None:
    index, _ = socket.if_nameindex()[0]
    request = struct.pack("=IHHII", 32, GETLINK, 0, 0, 0) + struct.pack("=BxHiII", 0, 0, index, 0, 0)
    with Channel(ROUTE) as channel:
        kind, payload = channel.ask(request)
    assert (kind, struct.unpack_from("=i", payload, 4)[0]) == (NEWLINK, index)


def test_what_is_not_there_is_refused_with_its_number() -> None:
    request = struct.pack("=IHHII", 32, GETLINK, 0, 0, 0) + struct.pack("=BxHiII", 0, 0, 2**31 - 1, 0, 0)
    with Channel(ROUTE) as channel, pytest.raises(Refused, match="rtnetlink: no such device") as caught:
        channel.ask(request)
    assert caught.value.number == errno.ENODEV


def test_a_protocol_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Refused, match="netlink 31: protocol not supported"):
        Channel(31)


def test_an_answer_may_come_in_pieces_and_answers_to_others_are_passed_over() -> None:
    def answer(sequence: int) -> list[bytes]:
        return [
            message(NEWLINK, sequence, b"one!") + message(NEWLINK, sequence + 7, b"late") + message(1, sequence, b""),
            message(NEWLINK, sequence, b"two") + done(sequence),
        ]

    with played(answer) as channel:
        assert [bytes(payload) for _, payload in channel.dump(LINKS)] == [b"one!", b"two"]


def test_a_dump_that_was_disturbed_is_asked_again() -> None:
    def answer(sequence: int) -> list[bytes]:
        flags = INTERRUPTED if sequence < 3 else 0
        return [message(NEWLINK, sequence, b"%d" % sequence), done(sequence, flags=MULTI | flags)]

    with played(answer, asked=3) as channel:
        assert [bytes(payload) for _, payload in channel.dump(LINKS)] == [b"3"]
        assert not channel.interrupted


def test_tables_that_never_stand_still_give_the_last_answer() -> None:
    def answer(sequence: int) -> list[bytes]:
        return [message(NEWLINK, sequence, b"%d" % sequence, MULTI | INTERRUPTED), done(sequence)]

    with played(answer, asked=5) as channel:
        assert [bytes(payload) for _, payload in channel.dump(LINKS)] == [b"5"]
        assert channel.interrupted


def test_a_message_larger_than_the_room_is_asked_for_again() -> None:
    def answer(sequence: int) -> list[bytes]:
        return [message(NEWLINK, sequence, bytes(3000)) + done(sequence)]

    with played(answer, asked=2) as channel:
        assert [len(payload) for _, payload in channel.dump(LINKS)] == [3000]
    with played(lambda sequence: [message(NEWLINK, sequence, bytes(3000))], asked=2) as channel:
        assert len(channel.ask(LINKS)[1]) == 3000


@pytest.mark.parametrize(
    ("number", "expected"), [(errno.EPERM, MissingRight), (errno.EACCES, MissingRight), (errno.EOPNOTSUPP, Refused)]
)
@pytest.mark.parametrize("kind", [DONE, ERROR])
def test_errors_in_a_dump_are_translated(number: int, expected: type[Exception], kind: int) -> None:
    def answer(sequence: int) -> list[bytes]:
        return [message(NEWLINK, sequence, b"x"), message(kind, sequence, struct.pack("=i", -number))]

    with played(answer) as channel, pytest.raises(expected):
        channel.dump(LINKS)


@pytest.mark.parametrize("length", [0, 15, 4000])
def test_a_length_that_lies_is_refused(length: int) -> None:
    def answer(sequence: int) -> list[bytes]:
        return [struct.pack("=IHHII", length, NEWLINK, MULTI, sequence, 0) + b"payload!"]

    with played(answer) as channel, pytest.raises(Refused, match="wrong length"):
        channel.dump(LINKS)


def test_an_empty_acknowledgement_is_no_answer() -> None:
    acknowledged = played(lambda sequence: [message(ERROR, sequence, bytes(20))])
    with acknowledged as channel, pytest.raises(Refused, match="acknowledgement"):
        channel.ask(LINKS)
