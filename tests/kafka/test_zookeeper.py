"""Reading ZooKeeper: against what a real server answered, and against what no server should."""

import struct

import pytest

from netdiag.kafka import zookeeper
from netdiag.kafka.digest_md5 import DigestMd5
from netdiag.kafka.zookeeper import NotRead, SaslUser, ZookeeperRead, ZookeeperReading
from tests.kafka.registry_answers import EMPTY_ZOOKEEPER, ZOOKEEPER

SESSION = struct.pack(">iiiqi", 36, 0, 10_000, 77, 16) + bytes(16)
_NO_AUTH, _NO_NODE, _AUTH_FAILED = -102, -101, -115


def read(data: bytes, *, size: int | None = None, digest: str | None = None) -> tuple[ZookeeperReading, bytes]:
    """The reading of what a server sends, in chunks of a size, and all that it was sent."""
    talk = ZookeeperReading(chroot="/kafka", digest=digest)
    sent = talk.start()
    for at in range(0, len(data), size or len(data) or 1):
        talk.receive(data[at : at + (size or len(data))])
        sent += talk.bytes_to_send()
    return talk, sent


def answer(xid: int, *, error: int = 0, body: bytes = b"") -> bytes:
    """A frame with the header of an answer."""
    return struct.pack(">iiqi", 16 + len(body), xid, 5, error) + body


# Neither the cluster nor a controller is there.
_ABSENT = SESSION + answer(1, error=_NO_NODE) + answer(2, error=_NO_NODE)


@pytest.mark.parametrize("size", [1, 7, None])
def test_what_a_real_zookeeper_has(size: int | None) -> None:
    talk, sent = read(ZOOKEEPER, size=size)
    assert isinstance(talk.outcome, ZookeeperRead)
    assert talk.outcome.data("/cluster/id") == b'{"version":"1","id":"D3u-YjCPSHefPgUPtJNIFg"}'
    assert list(talk.outcome.nodes) == [
        "/cluster/id",
        "/controller",
        *(f"/brokers/ids/{number}" for number in (1, 2, 3)),
    ]
    assert talk.outcome.nodes["/brokers/ids/1"].czxid == 65
    assert talk.outcome.nodes["/brokers/ids/1"].ctime == 1795733509123
    assert talk.outcome.refused == ()
    assert b"/kafka/brokers/ids/2" in sent
    assert sent.endswith(struct.pack(">iii", 8, 7, -11))


def test_nothing_is_there() -> None:
    talk, _ = read(EMPTY_ZOOKEEPER)
    assert talk.outcome == ZookeeperRead()


def test_it_logs_in_first() -> None:
    talk, sent = read(SESSION + answer(-4) + answer(1, error=_NO_NODE), digest="reader:secret")
    assert talk.outcome is None
    assert struct.pack(">iii", -4, 100, 0) + b"\0\0\0\x06digest\0\0\0\x0dreader:secret" in sent
    assert sent.index(b"reader:secret") < sent.index(b"/kafka/cluster/id")


def test_a_refused_login() -> None:
    talk, _ = read(SESSION + answer(-4, error=_AUTH_FAILED), digest="reader:secret")
    assert talk.outcome == NotRead(because="it refuses the login")


def test_a_node_that_may_not_be_read() -> None:
    talk, _ = read(SESSION + answer(1, error=_NO_AUTH) + answer(2, error=_NO_NODE) + answer(3, error=_NO_AUTH))
    assert talk.outcome == ZookeeperRead(refused=("/cluster/id", "/brokers/ids"))


def test_an_error_ends_it() -> None:
    talk, _ = read(SESSION + answer(1, error=-112))
    assert talk.outcome == NotRead(because="it answers SessionExpired")


def test_a_server_that_closes() -> None:
    talk = ZookeeperReading()
    talk.closed()
    assert talk.outcome == NotRead(because="it closed without an answer", closed=True)
    talk, _ = read(ZOOKEEPER[:200])
    talk.closed()
    assert talk.outcome == NotRead(because="it closed before all was read")


def test_names_that_are_no_ids_are_not_asked_for() -> None:
    names = [b"1", b"../../zookeeper", b"x", b"007", b"99999999999", b"-1"]
    body = struct.pack(">i", len(names)) + b"".join(struct.pack(">i", len(name)) + name for name in names)
    talk, sent = read(_ABSENT + answer(3, body=body))
    assert talk.outcome is None
    assert sent.endswith(b"/kafka/brokers/ids/1\0")


def test_more_brokers_than_are_read() -> None:
    names = [str(number).encode() for number in range(zookeeper.MOST_BROKERS + 1)]
    body = struct.pack(">i", len(names)) + b"".join(struct.pack(">i", len(name)) + name for name in names)
    talk, _ = read(_ABSENT + answer(3, body=body))
    for number in range(zookeeper.MOST_BROKERS):
        assert talk.outcome is None
        talk.receive(answer(4 + number, error=_NO_NODE))
    assert talk.outcome == ZookeeperRead(has_more=True)


@pytest.mark.parametrize(
    ("data", "because"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", 'something other than ZooKeeper answers: "HTTP/1.1 400 Bad Request"'),
        (b"\x15\x03\x03\0\x02\x02\x28", "something other than ZooKeeper answers"),
        (struct.pack(">i", -1), "something other than ZooKeeper answers"),
        (struct.pack(">i", 36) + bytes(36), "it opens no session"),
        (SESSION + struct.pack(">i", zookeeper.LARGEST + 1), "something other than ZooKeeper answers"),
        (SESSION + answer(9), "its answer is to another request"),
        (SESSION + answer(1), "its answer cannot be read"),
        (SESSION + answer(1, body=struct.pack(">i", 1 << 30)), "its answer cannot be read"),
        (_ABSENT + answer(3, body=b"\x7f\xff\xff\xff"), "its answer cannot be read"),
    ],
)
def test_what_no_zookeeper_says(data: bytes, because: str) -> None:
    talk, _ = read(data)
    assert isinstance(talk.outcome, NotRead)
    assert talk.outcome.because.startswith(because)


def test_a_flood_ends() -> None:
    talk, _ = read(SESSION)
    node = answer(1, body=struct.pack(">i", 900_000) + bytes(900_000 + 68))
    for number in range(1, 40):
        talk.receive(struct.pack(">ii", len(node) - 4, number) + node[8:])
        if talk.outcome is not None:
            break
        talk.bytes_to_send()
    assert isinstance(talk.outcome, NotRead)


@pytest.mark.parametrize("length", range(0, len(ZOOKEEPER), 41))
def test_any_beginning_and_any_damage(length: int) -> None:
    talk, _ = read(ZOOKEEPER[:length])
    talk.closed()
    assert talk.outcome is not None
    damaged = bytearray(ZOOKEEPER)
    damaged[length] ^= 0xFF
    talk, _ = read(bytes(damaged))
    talk.closed()
    assert talk.outcome is not None


CHALLENGE = b'realm="zk-sasl-md5",nonce="abc",charset=utf-8,algorithm=md5-sess'


def with_sasl(*answers: bytes) -> tuple[ZookeeperReading, list[bytes]]:
    """The reading of a server's answers, and what it was sent after each."""
    talk = ZookeeperReading(sasl=SaslUser(username="broker", password="hunter2"), cnonce="xyz")
    talk.start()
    sent = []
    for each in answers:
        talk.receive(each)
        sent.append(talk.bytes_to_send())
    return talk, sent


def token(xid: int, text: bytes, error: int = 0) -> bytes:
    """The answer to a step of the login."""
    return answer(xid, error=error, body=struct.pack(">i", len(text)) + text)


def test_it_logs_in_by_sasl_before_it_asks() -> None:
    expected = DigestMd5(
        username="broker", password="hunter2", uri="zookeeper/zk-sasl-md5", cnonce="xyz", authzid="broker"
    )
    response = expected.answer(CHALLENGE)
    talk, sent = with_sasl(SESSION, token(1, CHALLENGE), token(2, b"rspauth=" + b"0" * 32))
    assert sent[0] == struct.pack(">iiii", 12, 1, 102, 0)
    assert sent[1] == struct.pack(">iiii", 12 + len(response), 2, 102, len(response)) + response
    assert talk.outcome == NotRead(because="it does not prove that it knows the password")
    assert b"hunter2" not in b"".join(sent)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ((token(1, b""),), "it offers no login with DIGEST-MD5"),
        ((token(1, CHALLENGE), token(2, b"", error=_AUTH_FAILED)), "it refuses the login"),
        ((token(1, CHALLENGE), token(2, b"", error=-124)), "it refuses the login"),
        ((answer(1),), "its answer cannot be read"),
    ],
)
def test_a_login_by_sasl_that_fails(answers: tuple[bytes, ...], why: str) -> None:
    talk, _ = with_sasl(SESSION, *answers)
    assert talk.outcome == NotRead(because=why)
