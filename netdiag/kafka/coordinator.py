"""Asking which broker coordinates a consumer group, without any I/O, and without creating a topic.

A broker that is asked by FindCoordinator creates the topic of group offsets if there is none yet. So Metadata is asked
first whether the topic is there (from version 4 on it can be asked without creating), and only then FindCoordinator.
Driven as a `Conversation` is: `start`, `receive`, `closed`, `bytes_to_send` until there is an `outcome`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from netdiag.kafka.error_codes import NONE, error_name
from netdiag.kafka.protocol import (
    Direction,
    FrameSplitter,
    RemoteProtocolError,
    decode_response,
    encode_request,
    layout,
    stable_versions,
)
from netdiag.kafka.questions import ApiVersion, NodeEndpoint
from netdiag.values import dataclass

OFFSETS_TOPIC = "__consumer_offsets"
_METADATA = 3
_FIND_COORDINATOR = 10
_LARGEST = 1 << 18
_MOST_VALUES = 20_000
_FIRST_CORRELATION_ID = 0x6E64_4001
_UNKNOWN_TOPIC = 3
_LEAST = {_METADATA: 4, _FIND_COORDINATOR: 0}
_LONGEST_HOST = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinator:
    """The broker that coordinates the group, as the listener that was asked advertises it."""

    endpoint: NodeEndpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCoordinator:
    """No coordinator, and why; `harmless` where no group has been used yet, or the broker cannot be asked."""

    because: str
    harmless: bool = False


class CoordinatorConversation:
    """One conversation on one connection; `offered` is what the broker answered to ApiVersions."""

    def __init__(self, group: str, offered: Sequence[ApiVersion], *, client_id: str = "netdiag") -> None:
        self._group = group
        self._versions = {key: _common(offered, key) for key in _LEAST}
        self._client_id = client_id
        self._frames = FrameSplitter(_LARGEST)
        self._asking = _METADATA
        self._correlation_id = _FIRST_CORRELATION_ID
        self._to_send = b""
        self.outcome: Coordinator | NoCoordinator | None = None

    def start(self) -> bytes:
        """The first bytes to send; empty, with an outcome, where the broker cannot be asked."""
        if None in self._versions.values():
            self.outcome = NoCoordinator(because="it does not offer the requests that are needed", harmless=True)
            return b""
        self._ask(_METADATA, {"topics": ({"name": OFFSETS_TOPIC},), "allow_auto_topic_creation": False})
        return self.bytes_to_send()

    def bytes_to_send(self) -> bytes:
        """The bytes to send next; empty when there are none."""
        data, self._to_send = self._to_send, b""
        return data

    def receive(self, data: bytes) -> None:
        """Take bytes from the broker, in any chunks."""
        if self.outcome is not None:
            return
        try:
            for frame in self._frames.feed(data):
                self._take(frame)
                if self.outcome is not None:
                    return
        except RemoteProtocolError as error:
            self.outcome = NoCoordinator(because=f"its answer cannot be read, {error}")

    def closed(self) -> None:
        """The broker ended the connection."""
        self.outcome = self.outcome or NoCoordinator(because="it closed without an answer")

    def timed_out(self) -> None:
        """The time-out of the caller is over."""
        self.outcome = self.outcome or NoCoordinator(because="no answer in time")

    def _ask(self, api_key: int, body: Mapping[str, object]) -> None:
        version = self._versions[api_key]
        assert version is not None
        present = {field.name for field in layout(api_key, version, Direction.REQUEST).fields}
        fitting = {name: value for name, value in body.items() if name in present}
        self._asking = api_key
        self._correlation_id += 1
        self._to_send = encode_request(api_key, version, self._correlation_id, self._client_id, fitting)

    def _take(self, frame: bytes) -> None:
        if frame[:4] != self._correlation_id.to_bytes(4, "big"):
            self.outcome = NoCoordinator(because="its answer is to another request")
            return
        version = self._versions[self._asking]
        assert version is not None
        value = decode_response(frame, self._asking, version, max_values=_MOST_VALUES).body.value
        if self._asking == _METADATA:
            self._take_topic(value)
        else:
            self.outcome = _read_coordinator(value)

    def _take_topic(self, value: Mapping[str, Any]) -> None:
        codes = [topic["error_code"] for topic in value["topics"][:1]]
        if not codes or codes[0] == _UNKNOWN_TOPIC:
            self.outcome = NoCoordinator(because="no consumer group has been used in this cluster yet", harmless=True)
            return
        self._ask(_FIND_COORDINATOR, {"key": self._group, "key_type": 0, "coordinator_keys": (self._group,)})


def _common(offered: Sequence[ApiVersion], api_key: int) -> int | None:
    newest = stable_versions(api_key)[-1]
    for api in offered:
        if api.api_key == api_key:
            version = min(api.max_version, newest)
            return version if version >= max(api.min_version, _LEAST[api_key]) else None
    return None


def _read_coordinator(value: Mapping[str, Any]) -> Coordinator | NoCoordinator:
    found = value if "coordinators" not in value else next(iter(value["coordinators"]), None)
    if found is None:
        return NoCoordinator(because="its FindCoordinator answer is empty")
    if found["error_code"] != NONE:
        return NoCoordinator(because=f"it answers FindCoordinator with {error_name(found['error_code'])}")
    return Coordinator(
        endpoint=NodeEndpoint(node_id=found["node_id"], host=str(found["host"])[:_LONGEST_HOST], port=found["port"])
    )
