"""What ZooKeeper keeps for a cluster of Kafka brokers, read without any I/O: a session that only reads.

The requests that are needed (open a session, log in by SASL or with digest, list children, read a node) as ZooKeeper's
own client sends them (`ZooDefs`, `ClientCnxn`, `ZooKeeperSaslClient` and `zookeeper.jute` of ZooKeeper 3.8). Nothing is
written but the session itself, which is closed at the end. A server that answers more than `MOST_BYTES` in all, or a
node larger than `LARGEST`, is not read on.
"""

import struct
from collections import deque
from collections.abc import Mapping
from dataclasses import field

from netdiag.kafka.digest_md5 import ChallengeError, DigestMd5
from netdiag.patterns import regex
from netdiag.values import dataclass

CLUSTER_ID = "/cluster/id"
CONTROLLER = "/controller"
BROKER_IDS = "/brokers/ids"
# Of one answer; ZooKeeper itself allows no larger one (jute.maxbuffer).
LARGEST = 1024 * 1024
MOST_BYTES = 16 * 1024 * 1024
MOST_BROKERS = 1000
_SESSION_MS = 10_000
_CONNECT_RESPONSE = (36, 37)
_AUTH_XID = -4
_GET_DATA, _GET_CHILDREN, _AUTH, _SASL, _CLOSE = 4, 8, 100, 102, -11
# ZooKeeper's client and server agree on this realm, whatever the server is called.
_SASL_URI = "zookeeper/zk-sasl-md5"
_NO_NODE, _NO_AUTH, _AUTH_FAILED, _REQUIRES_SASL = -101, -102, -115, -124
_ERRORS = {
    -4: "ConnectionLoss",
    -5: "MarshallingError",
    -7: "OperationTimeout",
    -8: "BadArguments",
    -112: "SessionExpired",
    _REQUIRES_SASL: "SessionClosedRequireSaslAuth",
}
_NODE_ID = regex(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Znode:
    """A node: its bytes, the transaction that made it, and when that was, in milliseconds since 1970 UTC."""

    data: bytes
    czxid: int
    ctime: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZookeeperRead:
    """What was read: the nodes that are there, by path, and the paths that may not be read."""

    nodes: Mapping[str, Znode] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    has_more: bool = False

    def data(self, path: str) -> bytes | None:
        """The bytes of a node; None where it is not there, or may not be read."""
        node = self.nodes.get(path)
        return None if node is None else node.data


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Nothing could be read, and why; `closed` where the end came without a byte."""

    because: str
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslUser:
    """Who logs in by SASL, with DIGEST-MD5."""

    username: str
    password: str = field(repr=False)


class ZookeeperReading:
    """One session on one connection. `digest` is `user:password`, `chroot` the path above all others, "" for none.

    `sasl` logs in before anything is asked; it takes `cnonce`, random text.
    """

    def __init__(
        self, *, chroot: str = "", digest: str | None = None, sasl: SaslUser | None = None, cnonce: str = ""
    ) -> None:
        self._chroot = chroot.rstrip("/")
        self._digest = digest
        self._sasl: DigestMd5 | None = None
        if sasl is not None:
            name, password = sasl.username, sasl.password
            self._sasl = DigestMd5(username=name, password=password, uri=_SASL_URI, cnonce=cnonce, authzid=name)
        self._has_answered = False
        self._data = bytearray()
        self._received = 0
        self._xid = 0
        self._asked: tuple[int, str] | None = None
        self._waiting = deque([(_GET_DATA, CLUSTER_ID), (_GET_DATA, CONTROLLER), (_GET_CHILDREN, BROKER_IDS)])
        self._nodes: dict[str, Znode] = {}
        self._refused: list[str] = []
        self._has_more = False
        self._to_send = b""
        self.outcome: ZookeeperRead | NotRead | None = None

    def start(self) -> bytes:
        """The first bytes: protocol 0, no transaction seen, a short time-out, no session, no password."""
        return _framed(struct.pack(">iqiq", 0, 0, _SESSION_MS, 0) + _buffer(bytes(16)) + b"\x00")

    def bytes_to_send(self) -> bytes:
        """The bytes to send next; empty when there are none."""
        data, self._to_send = self._to_send, b""
        return data

    def receive(self, data: bytes) -> None:
        """Take bytes in any chunks."""
        if self.outcome is not None:
            return
        self._received += len(data)
        self._data += data
        if self._received > MOST_BYTES:
            self.outcome = NotRead(because="it answers more than netdiag reads")
            return
        while self.outcome is None and len(self._data) >= 4:
            (size,) = struct.unpack_from(">i", self._data)
            if not 0 <= size <= LARGEST or (self._asked is None and size not in _CONNECT_RESPONSE):
                self.outcome = NotRead(because=f"something other than ZooKeeper answers{_beginning(self._data)}")
                return
            if len(self._data) < 4 + size:
                return
            frame = bytes(self._data[4 : 4 + size])
            del self._data[: 4 + size]
            try:
                self._take(frame)
            except (struct.error, UnicodeDecodeError):
                self.outcome = NotRead(because="its answer cannot be read")

    def closed(self) -> None:
        """The server ended the connection."""
        if self.outcome is None:
            said = "it closed before all was read" if self._received else "it closed without an answer"
            self.outcome = NotRead(because=said, closed=not self._received)

    def _take(self, frame: bytes) -> None:
        if self._asked is None:
            protocol, timeout, session = struct.unpack_from(">iiq", frame)
            if protocol != 0 or timeout <= 0 or session == 0:
                self.outcome = NotRead(because="it opens no session")
                return
            if self._sasl is not None:
                # An empty token asks for the challenge.
                self._send_token(b"")
            else:
                self._enter()
            return
        xid, _, error = struct.unpack_from(">iqi", frame)
        kind, path = self._asked
        if xid != (_AUTH_XID if kind == _AUTH else self._xid):
            self.outcome = NotRead(because="its answer is to another request")
            return
        if error == 0 and kind == _SASL:
            self._take_token(frame[16:])
        elif error in (0, _NO_NODE, _NO_AUTH):
            self._take_answer(kind, path, error, frame[16:])
        else:
            # One that takes only clients that log in says the same after a login that failed.
            is_login = error == _AUTH_FAILED or (kind == _SASL and error == _REQUIRES_SASL)
            said = "refuses the login" if is_login else f"answers {_ERRORS.get(error, f'error {error}')}"
            self.outcome = NotRead(because=f"it {said}")

    def _take_answer(self, kind: int, path: str, error: int, body: bytes) -> None:
        if error == _NO_AUTH:
            self._refused.append(path)
        elif error == 0 and kind == _GET_DATA:
            (size,) = struct.unpack_from(">i", body)
            size = max(size, 0)
            czxid, _, ctime = struct.unpack_from(">qqq", body, 4 + size)
            self._nodes[path] = Znode(data=body[4 : 4 + size], czxid=czxid, ctime=ctime)
        elif error == 0 and kind == _GET_CHILDREN:
            names = [name for name in _names(body) if _NODE_ID.fullmatch(name)]
            self._has_more = len(names) > MOST_BROKERS
            self._waiting.extend((_GET_DATA, f"{path}/{name}") for name in sorted(names, key=int)[:MOST_BROKERS])
        self._ask_next()

    def _enter(self) -> None:
        if self._digest is not None:
            self._log_in(self._digest)
        else:
            self._ask_next()

    def _send_token(self, token: bytes) -> None:
        self._xid += 1
        self._asked = (_SASL, "")
        self._to_send += _framed(struct.pack(">ii", self._xid, _SASL) + _buffer(token))

    def _take_token(self, body: bytes) -> None:
        """The challenge, then what proves that the server knows the password."""
        assert self._sasl is not None
        (size,) = struct.unpack_from(">i", body)
        token = body[4 : 4 + max(size, 0)]
        if self._has_answered:
            if self._sasl.is_proven_by(token):
                self._enter()
            else:
                self.outcome = NotRead(because="it does not prove that it knows the password")
            return
        self._has_answered = True
        try:
            self._send_token(self._sasl.answer(token))
        except ChallengeError as error:
            self.outcome = NotRead(because=str(error))

    def _log_in(self, digest: str) -> None:
        self._asked = (_AUTH, "")
        body = struct.pack(">iii", _AUTH_XID, _AUTH, 0) + _buffer(b"digest") + _buffer(digest.encode())
        self._to_send += _framed(body)

    def _ask_next(self) -> None:
        self._xid += 1
        if not self._waiting:
            self._to_send += _framed(struct.pack(">ii", self._xid, _CLOSE))
            self.outcome = ZookeeperRead(nodes=dict(self._nodes), refused=tuple(self._refused), has_more=self._has_more)
            return
        kind, path = self._asked = self._waiting.popleft()
        body = struct.pack(">ii", self._xid, kind) + _buffer((self._chroot + path).encode()) + b"\x00"
        self._to_send += _framed(body)


def _names(body: bytes) -> list[str]:
    """A list of children; as many as there are bytes for."""
    (count,) = struct.unpack_from(">i", body)
    found: list[str] = []
    at = 4
    for _ in range(count):
        (size,) = struct.unpack_from(">i", body, at)
        if size < 0:
            raise struct.error("a negative length")
        found.append(body[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return found


def _beginning(data: bytearray) -> str:
    line = bytes(data[:40]).splitlines()[0].decode("ascii", errors="replace") if data else ""
    return f': "{line}"' if line.isprintable() and line.isascii() else ""


def _framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def _buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data
