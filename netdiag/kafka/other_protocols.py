"""Other protocols that a broker's port or its neighbour may speak, without any I/O: told apart, ZooKeeper, TLS hello.

Servers that do not speak Kafka are told by the first bytes of their answer. Four decide, because the four bytes of a
size are all that a frame reader waits for: the verdict is the same however the bytes were cut on their way.

Whether a ZooKeeper server answers: by a four-letter word, or the opening of a session. `srvr` is on every server's
whitelist unless somebody took it off; the server that refuses a word says so, and thereby that it lives
(`FourLetterCommands`, `NopCommand` of ZooKeeper 3.9). A server that closes without a word, as one behind a secured port
does, is asked once more by opening a session, which is closed at once (`ConnectRequest`, `closeSession` of
zookeeper.jute).

The first flight of a TLS handshake, without a key: what a server says before anything is secret.

    exchange = HelloExchange(version="TLSv1.2", host="kafka.example")
    send(exchange.hello(randomness))                 # 64 fresh bytes
    while not exchange.ended: exchange.receive(receive())
    exchange.accepted, exchange.cipher, exchange.chain, exchange.wants_client

One version is offered at a time, so that the answer tells whether the server speaks it. Up to TLS 1.2 certificates and
the wish for a client's go in clear (RFC 5246, 7.4); in TLS 1.3 only the server's choice does (RFC 8446, 4.1.3). Nothing
is proven by this: who connects in earnest checks. Bytes and certificates of a server are bounded.
"""

import struct
from enum import StrEnum

from netdiag.kafka.security import server_name
from netdiag.values import dataclass

_TEXT = {
    b"HTTP": "HTTP",
    b"<htm": "HTTP",
    b"<!DO": "HTTP",
    b"<?xm": "HTTP",
    b"SSH-": "SSH",
    b"RFB ": "VNC",
    b"+OK ": "POP3",
    b"-ERR": "Redis",
    b"* OK": "IMAP",
    b"AMQP": "AMQP",
    b"INFO": "NATS",
    b"220 ": "FTP or SMTP",
    b"220-": "FTP or SMTP",
}


class OtherProtocol(StrEnum):
    """What answers instead of a Kafka broker."""

    TLS = "TLS"
    TEXT = "text"
    BINARY = "binary"
    ZOOKEEPER = "ZooKeeper"
    ECHO = "echo"


def who_answers(first: bytes) -> tuple[OtherProtocol, str]:
    """Classify an answer whose first four bytes are no frame size; the text names the protocol or shows the bytes.

    TLS: a record of type alert (21) or handshake (22) with major version 3 (RFC 8446, 5.1), which is how a TLS server
    refuses a plaintext client. Kafka's own TLS listener may close without it.
    """
    head = first[:4]
    if len(head) >= 2 and head[0] in (20, 21, 22, 23) and head[1] == 3:
        record = {21: "a TLS alert", 22: "a TLS handshake"}.get(head[0], "a TLS record")
        return OtherProtocol.TLS, record
    known = _TEXT.get(head)
    if known is not None:
        return OtherProtocol.TEXT, known
    if head and all(byte in b"\t\r\n" or 0x20 <= byte < 0x7F for byte in head):
        return OtherProtocol.TEXT, f"text that starts with {head.decode('ascii')!r}"
    return OtherProtocol.BINARY, f"bytes that start with {head.hex(' ')}"


def who_answers_frame(frame: bytes, request: bytes) -> OtherProtocol:
    """Classify a frame that answers no request of ours; both without their size.

    ZooKeeper: a ConnectResponse is protocol version 0, time-out, session id, password of 16 bytes, and since 3.4 one
    byte more.
    """
    if frame == request:
        return OtherProtocol.ECHO
    if len(frame) in (36, 37) and frame[:4] == bytes(4) and frame[16:20] == b"\x00\x00\x00\x10":
        return OtherProtocol.ZOOKEEPER
    return OtherProtocol.BINARY


WORD = b"srvr"
_LARGEST = 16 * 1024
_REFUSED = b"is not executed because it is not in the whitelist"
_NOT_SERVING = b"This ZooKeeper instance is not currently serving requests"
_VERSION = b"Zookeeper version:"
_SESSION_MS = 4000
_CONNECT_RESPONSE = 36
_CLOSE_SESSION = -11


@dataclass(frozen=True, slots=True, kw_only=True)
class Alive:
    """A ZooKeeper answers; `serves` false where it has no quorum, `mode` as it calls itself ("leader")."""

    said: str
    serves: bool = True
    mode: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAlive:
    """No ZooKeeper answers; `closed` where the end came without a byte."""

    said: str
    closed: bool = False


class FourLetterWord:
    """The server answers the word and closes: `start`, `receive` until `outcome`, `closed` at the end."""

    def __init__(self) -> None:
        self._data = b""
        self.outcome: Alive | NotAlive | None = None

    def start(self) -> bytes:
        """The bytes to send."""
        return WORD

    def receive(self, data: bytes) -> None:
        """Take bytes in any chunks; the outcome is set as soon as it is clear."""
        self._data = (self._data + data)[:_LARGEST]
        if self.outcome is not None:
            return
        if _REFUSED in self._data:
            self.outcome = Alive(said=f'it is alive, but "{WORD.decode()}" is not on its whitelist')
        elif _NOT_SERVING in self._data:
            self.outcome = Alive(said="it is alive, but has no quorum", serves=False)
        elif len(self._data) >= _LARGEST or not _may_be_ours(self._data):
            self.outcome = NotAlive(said="something other than ZooKeeper answers")
        elif b"Node count:" in self._data:
            self.outcome = _zookeeper(self._data)

    def closed(self) -> None:
        """The server ended the connection."""
        if self.outcome is None and self._data.startswith(_VERSION):
            self.outcome = _zookeeper(self._data)
        elif self.outcome is None:
            said = "it closed without an answer" if not self._data else "it closed within its answer"
            self.outcome = NotAlive(said=said, closed=not self._data)


class SessionOpening:
    """Opens a session and closes it at once."""

    def __init__(self) -> None:
        self._data = b""
        self.outcome: Alive | NotAlive | None = None

    def start(self) -> bytes:
        """The bytes to send: protocol 0, no transaction seen, a short time-out, no session, no password."""
        return _framed(struct.pack(">iqiq", 0, 0, _SESSION_MS, 0) + _buffer(bytes(16)))

    def receive(self, data: bytes) -> None:
        """Take bytes in any chunks."""
        self._data = (self._data + data)[:_LARGEST]
        if self.outcome is not None or len(self._data) < 4:
            return
        (size,) = struct.unpack_from(">i", self._data)
        if size not in (_CONNECT_RESPONSE, _CONNECT_RESPONSE + 1):
            self.outcome = NotAlive(said="something other than ZooKeeper answers")
        elif len(self._data) >= 4 + size:
            protocol, timeout, session = struct.unpack_from(">iiq", self._data, 4)
            if protocol == 0 and timeout > 0 and session != 0:
                self.outcome = Alive(said="it opens a session")
            else:
                self.outcome = NotAlive(said="something other than ZooKeeper answers")

    def closed(self) -> None:
        """The server ended the connection."""
        self.outcome = self.outcome or NotAlive(said="it closed without an answer", closed=not self._data)

    def farewell(self) -> bytes:
        """What closes the session again."""
        return _framed(struct.pack(">ii", 1, _CLOSE_SESSION))


def _may_be_ours(data: bytes) -> bool:
    starts = (_VERSION, WORD + b" ", _NOT_SERVING)
    return any(data[: len(start)] == start[: len(data)] for start in starts)


def _zookeeper(data: bytes) -> Alive:
    lines = data.decode("utf-8", errors="replace").splitlines()
    mode = next((line.partition(":")[2].strip()[:20] for line in lines if line.startswith("Mode:")), "")
    version = lines[0].partition(":")[2].strip().partition(",")[0].partition("-")[0][:20]
    return Alive(said=f"ZooKeeper {version} answers" + (f", {mode}" if mode else ""), mode=mode)


def _framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def _buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


VERSIONS = {"TLSv1": 0x0301, "TLSv1.1": 0x0302, "TLSv1.2": 0x0303, "TLSv1.3": 0x0304}
MOST_BYTES = 256 * 1024
MOST_CERTIFICATES = 16
RANDOM_BYTES = 96

_ALERT, _HANDSHAKE = 21, 22
_SERVER_HELLO, _CERTIFICATE, _CERTIFICATE_REQUEST, _DONE = 2, 11, 13, 14
_SUPPORTED_VERSIONS = 43

_CIPHERS = {
    0x1301: "TLS_AES_128_GCM_SHA256",
    0x1302: "TLS_AES_256_GCM_SHA384",
    0x1303: "TLS_CHACHA20_POLY1305_SHA256",
    0xC02C: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    0xC02B: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    0xCCA9: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    0xC030: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    0xC02F: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    0xCCA8: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    0x009F: "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
    0x009E: "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
    0xC024: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384",
    0xC023: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    0xC028: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
    0xC027: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    0x006B: "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256",
    0x0067: "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256",
    0xC00A: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    0xC009: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    0xC014: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    0xC013: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    0x0039: "TLS_DHE_RSA_WITH_AES_256_CBC_SHA",
    0x0033: "TLS_DHE_RSA_WITH_AES_128_CBC_SHA",
    0x009D: "TLS_RSA_WITH_AES_256_GCM_SHA384",
    0x009C: "TLS_RSA_WITH_AES_128_GCM_SHA256",
    0x003D: "TLS_RSA_WITH_AES_256_CBC_SHA256",
    0x003C: "TLS_RSA_WITH_AES_128_CBC_SHA256",
    0x0035: "TLS_RSA_WITH_AES_256_CBC_SHA",
    0x002F: "TLS_RSA_WITH_AES_128_CBC_SHA",
    0x000A: "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
}
_GROUPS = (0x001D, 0x0017, 0x0018, 0x0019, 0x0100, 0x0101)
_SIGNATURES = (
    *(0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0804, 0x0805, 0x0806, 0x0809, 0x080A, 0x080B),
    *(0x0401, 0x0501, 0x0601, 0x0402, 0x0303, 0x0203, 0x0301, 0x0201, 0x0202, 0x0101),
)


class HelloExchange:
    """One ClientHello in one version, and its answer; a `host` that is a DNS name is sent."""

    def __init__(self, *, version: str, host: str = "") -> None:
        self.version = version
        self.accepted = False
        self.ended = False
        self.answered = False
        self.cipher = ""
        self.chain: tuple[bytes, ...] = ()
        self.wants_client = False
        self._host = host
        self._records = bytearray()
        self._messages = bytearray()
        self._received = 0

    def hello(self, randomness: bytes) -> bytes:
        """The ClientHello; `randomness` is `RANDOM_BYTES` long."""
        newest = self.version == "TLSv1.3"
        legacy = min(VERSIONS[self.version], 0x0303)
        ciphers = [code for code in _CIPHERS if (code >> 8 == 0x13) == newest]
        body = struct.pack(">H", legacy) + randomness[:32]
        body += _sized(1, randomness[32:64] if newest else b"")
        body += _sized(2, b"".join(struct.pack(">H", code) for code in ciphers)) + b"\x01\x00"
        body += _sized(2, self._extensions(randomness[64:96]))
        message = b"\x01" + _sized(3, body)
        return struct.pack(">BH", _HANDSHAKE, min(legacy, 0x0301)) + _sized(2, message)

    def receive(self, data: bytes) -> None:
        """Take bytes of the server; nothing at all is the end of the connection."""
        self._received += len(data)
        if not data or self._received > MOST_BYTES:
            self.ended = True
        self._records += data
        while not self.ended and len(self._records) >= 5:
            kind, major, _, size = struct.unpack_from(">BBBH", self._records)
            if kind not in (_ALERT, _HANDSHAKE) or major != 3:
                self.ended = True
                return
            self.answered = True
            if len(self._records) < 5 + size:
                return
            if kind == _ALERT:
                self.ended = True
                return
            self._messages += self._records[5 : 5 + size]
            del self._records[: 5 + size]
            self._take_messages()

    def _extensions(self, key_share: bytes) -> bytes:
        found = b""
        name = server_name(self._host)
        if name is not None:
            found += _extension(0, _sized(2, b"\x00" + _sized(2, name.encode())))
        found += _extension(10, _sized(2, b"".join(struct.pack(">H", group) for group in _GROUPS)))
        found += _extension(11, b"\x01\x00")
        found += _extension(13, _sized(2, b"".join(struct.pack(">H", code) for code in _SIGNATURES)))
        if self.version == "TLSv1.3":
            found += _extension(_SUPPORTED_VERSIONS, b"\x02\x03\x04") + _extension(45, b"\x01\x01")
            return found + _extension(51, _sized(2, struct.pack(">H", _GROUPS[0]) + _sized(2, key_share)))
        return found + _extension(23, b"") + _extension(0xFF01, b"\x00")

    def _take_messages(self) -> None:
        while not self.ended and len(self._messages) >= 4:
            size = int.from_bytes(self._messages[1:4], "big")
            if len(self._messages) < 4 + size:
                return
            kind, body = self._messages[0], bytes(self._messages[4 : 4 + size])
            del self._messages[: 4 + size]
            try:
                self._take(kind, body)
            except (struct.error, IndexError):
                self.ended = True

    def _take(self, kind: int, body: bytes) -> None:
        if kind == _SERVER_HELLO:
            self._take_hello(body)
        elif not self.accepted:
            self.ended = True
        elif kind == _CERTIFICATE:
            self.chain = tuple(_certificates(body))
        elif kind == _CERTIFICATE_REQUEST:
            self.wants_client = True
        elif kind == _DONE:
            self.ended = True

    def _take_hello(self, body: bytes) -> None:
        (chosen,) = struct.unpack_from(">H", body)
        at = 35 + body[34]
        (cipher,) = struct.unpack_from(">H", body, at)
        if _extensions_of(body[at + 3 :]).get(_SUPPORTED_VERSIONS) == b"\x03\x04":
            chosen = 0x0304
        self.accepted = chosen == VERSIONS[self.version]
        self.cipher = _CIPHERS.get(cipher, f"0x{cipher:04X}") if self.accepted else ""
        # A TLS 1.3 server goes on in secret.
        self.ended = not self.accepted or chosen == 0x0304


def _certificates(body: bytes) -> list[bytes]:
    found: list[bytes] = []
    position = 3
    while position + 3 <= len(body) and len(found) < MOST_CERTIFICATES:
        size = int.from_bytes(body[position : position + 3], "big")
        found.append(body[position + 3 : position + 3 + size])
        position += 3 + size
    return found


def _extensions_of(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    position = 2
    while position + 4 <= len(data):
        kind, size = struct.unpack_from(">HH", data, position)
        found[kind] = data[position + 4 : position + 4 + size]
        position += 4 + size
    return found


def _extension(kind: int, data: bytes) -> bytes:
    return struct.pack(">H", kind) + _sized(2, data)


def _sized(width: int, data: bytes) -> bytes:
    return len(data).to_bytes(width, "big") + data
