"""What both directions of a connection know of each other: who asks, what waits for an answer, what is spoken."""

import struct
from collections import deque

from netdiag.traffic.engine.identify import printable
from netdiag.traffic.engine.message import MessageSink, Spoken

WAITING = 512
"""Requests kept to know their responses again; those with acks=0 are never answered."""

SASL_HANDSHAKE = 17
_KEY_VERSION_CORRELATION = struct.Struct(">hhi").unpack_from
_SHORT = struct.Struct(">h").unpack_from
_INT = struct.Struct(">i").unpack_from


class Talk:
    """State that requests and responses of one connection share.

    `waiting`: (correlation id, `api_key << 16 | api_version`) of requests without a response yet, oldest first.
    `raw`: bare SASL tokens travel in the frames, as they do after SaslHandshake v0 (and without one before Kafka 1.0).
    """

    __slots__ = (
        "asked",
        "client_id",
        "keep",
        "last_request",
        "last_response",
        "raw",
        "sasl_mechanism",
        "server_name",
        "sink",
        "spoken",
        "versions",
        "waiting",
    )

    def __init__(self, sink: MessageSink, keep: int) -> None:
        self.sink = sink
        self.keep = keep
        self.spoken = Spoken.NONE
        self.server_name: str | None = None
        self.sasl_mechanism: str | None = None
        self.raw = False
        self.waiting: deque[tuple[int, int]] = deque(maxlen=WAITING)
        self.client_id: bytes | None = None
        """Length and bytes of the first client id, as on the wire."""
        self.last_request: int | None = None
        self.last_response: int | None = None
        self.asked = 0
        self.versions: dict[int, int] = {}
        """The version last used of every api key: a client stays with the one that it negotiated."""

    def request(self, head: bytes) -> None:
        """A request was found."""
        if len(head) < 8:
            return
        key, version, correlation = _KEY_VERSION_CORRELATION(head)
        self.waiting.append((correlation, key << 16 | version))
        self.last_request = correlation
        self.asked += 1
        self.versions[key] = version
        if self.client_id is None and len(head) >= 10:
            length = _SHORT(head, 8)[0]
            if length <= 0 or (len(head) >= 10 + length and printable(head[10 : 10 + length])):
                self.client_id = head[8 : 10 + max(length, 0)]
        if key == SASL_HANDSHAKE:
            self._handshake(version, head)

    def response(self, head: bytes) -> None:
        """A response was found: its request does not wait any longer, nor do older ones."""
        if len(head) < 4:
            return
        correlation = _INT(head)[0]
        self.last_response = correlation
        waiting = self.waiting
        if not waiting:
            return
        if waiting[0][0] == correlation:
            waiting.popleft()
            return
        for index, (waits, _) in enumerate(waiting):
            if waits == correlation:
                for _ in range(index + 1):
                    waiting.popleft()
                return

    def waits(self, correlation: int) -> bool:
        """Whether a request with this id has no response yet."""
        return any(waits == correlation for waits, _ in self.waiting)

    def _handshake(self, version: int, head: bytes) -> None:
        if len(head) >= 12:
            at = 10 + max(0, _SHORT(head, 8)[0])
            if len(head) >= at + 2:
                name = head[at + 2 : at + 2 + max(0, _SHORT(head, at)[0])]
                if name and printable(name):
                    self.sasl_mechanism = name.decode("ascii", "replace")
        if version == 0:
            self.raw = True
