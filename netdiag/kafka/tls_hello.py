"""The first flight of a TLS handshake, without any I/O and without a key: what a server says before anything is secret.

    exchange = HelloExchange(version="TLSv1.2", host="kafka.example")
    send(exchange.hello(randomness))                 # 64 fresh bytes
    while not exchange.ended: exchange.receive(receive())
    exchange.accepted, exchange.cipher, exchange.chain, exchange.wants_client

One version is offered at a time, so that the answer tells whether the server speaks it. Up to TLS 1.2 certificates and
the wish for a client's go in clear (RFC 5246, 7.4); in TLS 1.3 only the server's choice does (RFC 8446, 4.1.3). Nothing
is proven by this: who connects in earnest checks. Bytes and certificates of a server are bounded.
"""

import struct

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
    """One ClientHello in one version, and its answer; a `host` that is a DNS name is sent (RFC 6066, section 3)."""

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
        if self._host and not self._host.replace(".", "").isdigit() and ":" not in self._host:
            name = self._host.rstrip(".").encode("ascii", errors="replace")[:255]
            found += _extension(0, _sized(2, b"\x00" + _sized(2, name)))
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
