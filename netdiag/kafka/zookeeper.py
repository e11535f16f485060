"""Whether a ZooKeeper server answers, without any I/O: a four-letter word, or the opening of a session.

`srvr` is on every server's whitelist unless somebody took it off; the server that refuses a word says so, and thereby
that it lives (`FourLetterCommands`, `NopCommand` of ZooKeeper 3.9). A server that closes without a word, as one behind
a secured port does, is asked once more by opening a session, which is closed at once (`ConnectRequest`, `closeSession`
of zookeeper.jute).
"""

import struct

from netdiag.values import dataclass

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
            self.outcome = _told(self._data)

    def closed(self) -> None:
        """The server ended the connection."""
        if self.outcome is None and self._data.startswith(_VERSION):
            self.outcome = _told(self._data)
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


def parse_connect(value: str) -> tuple[tuple[str, int], ...]:
    """The servers of `zookeeper.connect` ("a:2181,b/chroot") as (host, port); invalid ones are left out.

    As in `ConnectStringParser`: the path comes last, the port is 2181 where none is given, IPv6 stands in brackets.
    """
    found: dict[tuple[str, int], None] = {}
    for item in value.partition("/")[0].split(","):
        text = item.strip()
        host, colon, port = text.rpartition(":")
        if not colon or text.endswith("]"):
            host, port = text, "2181"
        host = host.removeprefix("[").removesuffix("]")
        if host and port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536:
            found[(host, int(port))] = None
    return tuple(found)


def _may_be_ours(data: bytes) -> bool:
    starts = (_VERSION, WORD + b" ", _NOT_SERVING)
    return any(data[: len(start)] == start[: len(data)] for start in starts)


def _told(data: bytes) -> Alive:
    lines = data.decode("utf-8", errors="replace").splitlines()
    mode = next((line.partition(":")[2].strip()[:20] for line in lines if line.startswith("Mode:")), "")
    version = lines[0].partition(":")[2].strip().partition(",")[0].partition("-")[0][:20]
    return Alive(said=f"ZooKeeper {version} answers" + (f", {mode}" if mode else ""), mode=mode)


def _framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def _buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data
