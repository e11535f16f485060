"""What the first bytes of a stream are: a Kafka request, or who else speaks.

Nothing here guesses from ports. A request is believed when its api key and version exist and its body can be what they
say, as far as it was captured: protocols that also begin with a length of four bytes are refused that way.
"""

import struct
from enum import Enum
from functools import cache
from typing import NamedTuple

from netdiag.kafka.protocol import table
from netdiag.kafka.protocol.errors import DecodeError
from netdiag.kafka.protocol.reader import decode
from netdiag.kafka.protocol.table import Direction
from netdiag.traffic.engine.message import Spoken

Bytes = bytes | bytearray | memoryview

LARGEST = 0x0FFFFFFF
"""No message is larger: brokers refuse requests above 100 MiB, clients may be allowed larger responses."""

SMALLEST_REQUEST = 8
SMALLEST_RESPONSE = 4
HEADER = struct.Struct(">ihhi")
"""Size, api key, api version, correlation id: how every request begins."""

_VALUES = 20_000
_PROXY_V2 = b"\r\n\r\n\x00\r\nQUIT\n"
_HTTP = (b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE", b"PATC", b"CONN", b"TRAC", b"PRI ", b"HTTP")
_ZOOKEEPER_WORDS = (b"ruok", b"stat", b"mntr", b"conf", b"cons", b"srvr", b"envi", b"dump", b"isro", b"wchs")


class Start(Enum):
    """What the first bytes of the client can be when they are not a stranger's."""

    REQUEST = "request"
    TOKEN = "token"
    MORE = "more"
    OTHER = "other"


class RequestHead(NamedTuple):
    """The beginning of a request; `client_id` as far as it was kept, None for null or where nothing was kept."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: bytes | None
    body: int


@cache
def known_requests() -> frozenset[int]:
    """Every api key with every version, as `key << 16 | version`."""
    return frozenset(key << 16 | version for key in table.api_keys() for version in table.api_versions(key))


@cache
def least_response(api: int) -> int:
    """The least size of a response to a request of `key << 16 | version`; error answers of ApiVersions are v0's."""
    key, version = api >> 16, api & 0xFFFF
    if api not in known_requests():
        return SMALLEST_RESPONSE
    if key == table.API_VERSIONS:
        version = 0
    header = table.header_version(key, version, Direction.RESPONSE)
    return 4 + header + table.layout(key, version, Direction.RESPONSE).min_size


def request_head(head: Bytes, size: int) -> RequestHead | None:
    """Read the beginning of a request from the bytes behind its size field, or None where it cannot be one."""
    if len(head) < SMALLEST_REQUEST or size < SMALLEST_REQUEST:
        return None
    key, version, correlation = struct.unpack_from(">hhi", head)
    if key < 0 or version < 0:
        return None
    if key == table.CONTROLLED_SHUTDOWN and version == 0:
        return RequestHead(key, version, correlation, None, SMALLEST_REQUEST)
    if size < 10:
        return None
    if len(head) < 10:
        return RequestHead(key, version, correlation, None, 10)
    length = struct.unpack_from(">h", head, 8)[0]
    if length < -1 or 10 + length > size:
        return None
    if length == -1:
        return RequestHead(key, version, correlation, None, 10)
    client_id = bytes(head[10 : 10 + length])
    if not printable(client_id):
        return None
    return RequestHead(key, version, correlation, client_id, 10 + length)


def printable(text: bytes) -> bool:
    """Whether bytes can be a client id: no control characters."""
    return not text or (min(text) >= 32 and 127 not in text)


def is_request(head: Bytes, size: int) -> bool:
    """Whether bytes behind a size field are the beginning of a request that Kafka knows, its body included."""
    found = request_head(head, size)
    if found is None or found.api_key << 16 | found.api_version not in known_requests():
        return False
    body = found.body
    if body >= len(head):
        return True
    if table.header_version(found.api_key, found.api_version, Direction.REQUEST) == 2:
        if head[body] != 0:  # no tagged field of a request header is known
            return head[body] < 8
        body += 1
    return fits(found.api_key, found.api_version, Direction.REQUEST, head[body:], size - body)


def fits(key: int, version: int, direction: Direction, body: Bytes, declared: int) -> bool:
    """Whether a body, as far as it was kept, can be what the table says."""
    try:
        value = decode(key, version, direction, body, declared=declared, max_values=_VALUES)
    except DecodeError as error:
        return error.reason.startswith("more values")
    if value.truncated is None and value.left_over > 16:
        return False
    acks = value.value.get("acks") if key == 0 and direction is Direction.REQUEST else None
    return acks in (None, -1, 0, 1)


def opening(first: Bytes, whole: bool) -> Start | Spoken:
    """What a client's first bytes are. `whole`: no more of them will come without a hole."""
    stranger = _stranger(first)
    if stranger is not None:
        return stranger
    if len(first) < 4:
        return Start.OTHER if whole else Start.MORE
    size = struct.unpack_from(">i", first)[0]
    if not 1 <= size <= LARGEST:
        return Start.OTHER
    if len(first) >= 5 and first[4] == 0x60 and _is_token(first, size):
        return Start.TOKEN
    if not whole and len(first) < min(4 + size, 128):
        return Start.MORE
    return Start.REQUEST if is_request(first[4 : 4 + size], size) else Start.OTHER


def proxy_header(first: Bytes) -> int | None:
    """The length of a PROXY protocol header in front of everything; None: none; 0: more bytes are needed."""
    start = bytes(first[:108])
    if start[:12] == _PROXY_V2[: len(start[:12])] and start:
        return 16 + struct.unpack_from(">H", start, 14)[0] if len(start) >= 16 else 0
    if start[:6] == b"PROXY "[: len(start[:6])] and start:
        end = start.find(b"\r\n")
        if end >= 0:
            return end + 2
        return 0 if len(start) < 108 else None
    return None


def is_tls(first: Bytes) -> bool:
    """Whether these bytes begin a TLS record."""
    return len(first) >= 3 and 0x14 <= first[0] <= 0x17 and first[1] == 3 and first[2] <= 4


def stranger_midway(first: Bytes) -> Spoken | None:
    """Who else a segment in mid-stream shows: a TLS record of a possible length, or the first line of HTTP."""
    if is_tls(first) and len(first) >= 5 and 0 < int.from_bytes(bytes(first[3:5])) <= 18_432:
        return Spoken.TLS
    line = bytes(first[:64]).partition(b"\n")[0]
    if line.startswith(b"HTTP/1.") or (line[:4] in _HTTP and b" HTTP/1." in line):
        return Spoken.HTTP
    return None


def tls_length(first: Bytes) -> int:
    """The length of the first TLS record."""
    return 5 + int.from_bytes(bytes(first[3:5])) if len(first) >= 5 else 5


def server_name(first: Bytes) -> str | None:
    """The server name (SNI) of a TLS ClientHello at the beginning of these bytes."""
    hello = bytes(first)
    if len(hello) < 44 or hello[0] != 0x16 or hello[5] != 1:
        return None
    at = 43
    at += 1 + hello[at]
    if at + 2 > len(hello):
        return None
    at += 2 + int.from_bytes(hello[at : at + 2])
    if at >= len(hello):
        return None
    at += 1 + hello[at] + 2
    while at + 4 <= len(hello):
        kind, length = struct.unpack_from(">HH", hello, at)
        at += 4
        if kind == 0:
            name = hello[at + 5 : at + 5 + int.from_bytes(hello[at + 3 : at + 5])]
            whole = len(hello) >= at + 5 and len(name) == int.from_bytes(hello[at + 3 : at + 5])
            return name.decode("ascii", "replace") if whole and name and printable(name) else None
        at += length
    return None


def _stranger(first: Bytes) -> Spoken | None:
    if is_tls(first):
        return Spoken.TLS
    if len(first) >= 5 and first[0] & 0x80 and first[2] == 1 and first[3] == 3 and first[4] <= 4:
        return Spoken.TLS  # a ClientHello in the form of SSL 2
    word = bytes(first[:4])
    if word in _HTTP:
        return Spoken.HTTP
    if word in _ZOOKEEPER_WORDS:
        return Spoken.ZOOKEEPER
    if len(first) >= 28 and word in (b"\0\0\0\x2c", b"\0\0\0\x2d") and bytes(first[4:8]) == bytes(4):
        # ConnectRequest: protocol version 0, last zxid, timeout, session id, a password of 16 bytes
        return Spoken.ZOOKEEPER if bytes(first[28:32]) == b"\0\0\0\x10"[: max(0, len(first) - 28)] else None
    return None


def _is_token(first: Bytes, size: int) -> bool:
    """Whether a size is followed by a GSSAPI token (a DER sequence of application 0) of just that size."""
    if len(first) < 9:
        return False
    length = first[5]
    if length < 0x80:
        return size == length + 2
    count = length & 0x7F
    return 1 <= count <= 3 and size == int.from_bytes(bytes(first[6 : 6 + count])) + 2 + count
