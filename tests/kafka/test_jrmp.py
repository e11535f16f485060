"""The conversation with an RMI registry and an RMI server: as Java's speak, in pieces, damaged, and with strangers."""

import random
import struct

import pytest

from netdiag.kafka.jrmp import LARGEST_ANSWER, NoRmi, NoRmiKind, RegistryLookup, RmiAnswers, RmiStub, VersionCall

ACK = b"N\x00\x09127.0.0.1\x00\x00\x95\xb8"
UID = bytes.fromhex("825096aa000001a21a175c4a8003")
ID = bytes.fromhex("07140599a4db8c26") + UID
STREAM = b"\xac\xed\x00\x05"


def text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()


def block(data: bytes) -> bytes:
    return b"w" + bytes([len(data)]) + data


def returned(result: bytes, kind: int = 1) -> bytes:
    return b"Q" + STREAM + block(bytes([kind]) + UID) + result


def class_of(name: str, flags: int = 2, fields: int = 0) -> bytes:
    return b"r" + text(name) + bytes(8) + bytes([flags]) + struct.pack(">H", fields) + b"px"


CLASSES = (
    b"s"
    + class_of("javax.management.remote.rmi.RMIServerImpl_Stub")
    + class_of("java.rmi.server.RemoteStub")
    + class_of("java.rmi.server.RemoteObject", flags=3)
    + b"p"
)


def stub(reference: bytes) -> bytes:
    return returned(CLASSES + block(reference) + b"x")


def unicast(host: str, port: int) -> bytes:
    return text("UnicastRef") + text(host) + struct.pack(">i", port) + ID + b"\x01"


def looked_up(*pieces: bytes) -> RegistryLookup:
    talk = RegistryLookup()
    assert talk.start() == b"JRMI\x00\x02K"
    for piece in pieces:
        talk.receive(piece)
    return talk


def test_the_registry_names_host_and_port() -> None:
    talk = looked_up(ACK)
    call = talk.bytes_to_send()
    assert call.startswith(bytes(6) + b"P" + STREAM)
    assert call.endswith(text("jmxrmi"))
    assert talk.outcome is None
    talk.receive(stub(unicast("172.18.0.2", 36415)))
    assert talk.outcome == RmiStub(host="172.18.0.2", port=36415, object_id=ID)
    assert talk.bytes_to_send() == b"T" + UID


def test_pieces_of_any_size_say_the_same() -> None:
    answer = ACK + stub(unicast("kafka", 9101))
    talk = looked_up(*(answer[at : at + 1] for at in range(len(answer))))
    assert talk.outcome == RmiStub(host="kafka", port=9101, object_id=ID)
    assert talk.bytes_to_send().count(b"jmxrmi") == 1


def test_a_reference_with_its_own_format() -> None:
    plain = text("UnicastRef2") + b"\x00" + text("localhost") + struct.pack(">i", 9101) + ID + b"\x01"
    assert looked_up(ACK, stub(plain)).outcome == RmiStub(host="localhost", port=9101, object_id=ID)
    secured = text("UnicastRef2") + b"\x01" + text("localhost") + struct.pack(">i", 9101)
    assert looked_up(ACK, stub(secured)).outcome == RmiStub(host="localhost", port=9101, object_id=b"", uses_tls=True)


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", NoRmiKind.OTHER, "it answers with HTTP, not RMI"),
        (b"\x15\x03\x03\x00\x02\x02\x46", NoRmiKind.TLS, "it speaks TLS"),
        (b"\x00\x00\x00\x0a\x00\x00", NoRmiKind.OTHER, "it answers with bytes that start with 00 00 00 0a, not RMI"),
        (
            ACK + returned(b"s" + class_of("java.rmi.NotBoundException"), kind=2),
            NoRmiKind.OTHER,
            "it answers with java.rmi.NotBoundException",
        ),
        (ACK + returned(b"p"), NoRmiKind.OTHER, "it has no stub under jmxrmi"),
        (ACK + b"Q\x00\x00\x00\x00", NoRmiKind.OTHER, "its answer is no return of a call"),
        (ACK + stub(unicast("kafka", 0)), NoRmiKind.OTHER, "its stub has the port 0"),
        (ACK + stub(text("Other") + bytes(40)), NoRmiKind.OTHER, "its stub is of a kind that netdiag does not read"),
        (
            ACK + returned(b"s" + class_of("a.B", fields=1) + bytes(99)),
            NoRmiKind.OTHER,
            "its stub is of a kind that netdiag does not read",
        ),
        (
            ACK + returned(b"s" + class_of("a.B") * 9),
            NoRmiKind.OTHER,
            "its stub is of a kind that netdiag does not read",
        ),
        (b"N" + text("x" * 256) + bytes(4), NoRmiKind.OTHER, "it has a text that is too long"),
        (ACK + stub(unicast("kafka\u00e9", 9101)), NoRmiKind.OTHER, "it has a text that is no name"),
        (ACK + returned(CLASSES + b"z\x7f\xff\xff\xff"), NoRmiKind.OTHER, "its answer is too long for RMI"),
    ],
)
def test_what_is_no_answer_of_a_registry(answer: bytes, kind: NoRmiKind, said: str) -> None:
    assert looked_up(answer).outcome == NoRmi(kind=kind, said=said)


def test_the_end_and_silence() -> None:
    ended, broken, silent = looked_up(), looked_up(ACK), looked_up(ACK)
    ended.closed()
    broken.closed()
    silent.timed_out()
    assert ended.outcome == NoRmi(kind=NoRmiKind.CLOSED, said="it closed without an answer")
    assert broken.outcome == NoRmi(kind=NoRmiKind.CLOSED, said="it closed within its answer")
    assert silent.outcome == NoRmi(kind=NoRmiKind.SILENT, said="it accepts, but does not answer")


def test_the_rmi_server_tells_its_version() -> None:
    talk = VersionCall(RmiStub(host="kafka", port=9101, object_id=ID))
    assert talk.start() == b"JRMI\x00\x02K"
    talk.receive(ACK)
    assert ID in talk.bytes_to_send()
    talk.receive(returned(b"t" + text("1.0 java_runtime_17")))
    assert talk.outcome == RmiAnswers(version="1.0 java_runtime_17")


def test_another_jvm_than_the_stubs() -> None:
    talk = VersionCall(RmiStub(host="kafka", port=9101, object_id=ID))
    talk.receive(ACK + returned(b"s" + class_of("java.rmi.NoSuchObjectException"), kind=2))
    assert talk.outcome == NoRmi(kind=NoRmiKind.OTHER, said="it is another JVM than the stub's")


def test_damaged_answers_end_in_an_outcome_and_nothing_is_kept_beyond_the_limit() -> None:
    chance = random.Random(23)
    whole = ACK + stub(unicast("kafka", 9101))
    for _ in range(3000):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        talk = looked_up(bytes(damaged[: chance.randint(1, len(damaged))]))
        talk.closed()
        assert talk.outcome is not None
    endless = looked_up(ACK, b"Q" + STREAM + b"z" + struct.pack(">i", LARGEST_ANSWER))
    for _ in range(64):
        endless.receive(bytes(1024))
    assert isinstance(endless.outcome, NoRmi)
