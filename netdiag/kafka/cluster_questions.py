"""What one broker tells of its cluster beyond Metadata: fenced brokers and, with KRaft, the quorum, without any I/O.

DescribeCluster gives the endpoints of the listener that is asked, from version 2 on (KIP-1073) those of fenced brokers,
too. With KRaft its `controller_id` is any broker that takes requests for the controller; who leads the quorum is told
by DescribeQuorum, which a broker passes on to that controller, so there is no answer without one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from netdiag.kafka.error_codes import NONE, error_name
from netdiag.kafka.listeners import Endpoint
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
from netdiag.kafka.stored_records import METADATA_TOPIC
from netdiag.values import dataclass

_DESCRIBE_CLUSTER, DESCRIBE_QUORUM = 60, 55
_LARGEST = 1 << 20
_MOST_VALUES = 50_000
_MOST_NODES = 1000
_FIRST_CORRELATION_ID = 0x6E64_5001
_LONGEST_HOST = 255
# From this version on, fenced brokers are told.
_TELLS_FENCED = 2
# REQUEST_TIMED_OUT, BROKER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, NOT_CONTROLLER: what a broker says that finds none.
_NO_CONTROLLER = frozenset({7, 8, 6, 41})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterBroker:
    """A broker, as the listener that was asked has it; `is_fenced` None: this is not told."""

    endpoint: NodeEndpoint
    is_fenced: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """The quorum of a KRaft cluster; `leader_id` None: it has no leader.

    `endpoints` are those of its voters, by node, where they are told (from version 2 on).
    """

    leader_id: int | None
    voters: tuple[int, ...]
    observers: tuple[int, ...]
    endpoints: Mapping[int, tuple[Endpoint, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTold:
    """What the broker told. `cluster_refused` and `quorum_refused` say why a part was not told; "" where it was.

    `quorum` None with nothing refused: the cluster has none. `quorum_is_silent`: the broker got no answer from the
    controller, or gave none.
    """

    cluster_id: str | None = None
    brokers: tuple[ClusterBroker, ...] = ()
    cluster_refused: str = ""
    quorum: Quorum | None = None
    quorum_refused: str = ""
    quorum_is_silent: bool = False


class ClusterConversation:
    """Both questions on a connection that is open; `offered` is what the broker answered to ApiVersions."""

    def __init__(self, offered: Sequence[ApiVersion], *, client_id: str = "netdiag") -> None:
        self._versions = {key: _common(offered, key) for key in (_DESCRIBE_CLUSTER, DESCRIBE_QUORUM)}
        self._client_id = client_id
        self._frames = FrameSplitter(_LARGEST)
        self._asking = _DESCRIBE_CLUSTER
        self._correlation_id = _FIRST_CORRELATION_ID
        self._to_send = b""
        self._cluster = ClusterTold()
        self.outcome: ClusterTold | None = None

    def start(self) -> bytes:
        """The first bytes to send; empty, with an outcome, where the broker cannot be asked."""
        if self._versions[_DESCRIBE_CLUSTER] is None:
            self._cluster = ClusterTold(cluster_refused="it does not offer DescribeCluster")
            self._ask_quorum()
        else:
            self._ask(_DESCRIBE_CLUSTER, {"endpoint_type": 1, "include_fenced_brokers": True})
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
            self._end(f"its answer cannot be read, {error}")

    def ended(self, because: str) -> None:
        """There will be no more answers: the broker closed, or the time of the caller is over."""
        if self.outcome is None:
            self._end(because)

    def _ask(self, api_key: int, body: Mapping[str, object]) -> None:
        version = self._versions[api_key]
        assert version is not None
        present = {field.name for field in layout(api_key, version, Direction.REQUEST).fields}
        fitting = {name: value for name, value in body.items() if name in present}
        self._asking = api_key
        self._correlation_id += 1
        self._to_send = encode_request(api_key, version, self._correlation_id, self._client_id, fitting)

    def _ask_quorum(self) -> None:
        if self._versions[DESCRIBE_QUORUM] is None:
            self.outcome = self._cluster
            return
        topic = {"topic_name": METADATA_TOPIC, "partitions": ({"partition_index": 0},)}
        self._ask(DESCRIBE_QUORUM, {"topics": (topic,)})

    def _take(self, frame: bytes) -> None:
        if frame[:4] != self._correlation_id.to_bytes(4, "big"):
            self._end("its answer is to another request")
            return
        version = self._versions[self._asking]
        assert version is not None
        value = decode_response(frame, self._asking, version, max_values=_MOST_VALUES).body.value
        if self._asking == _DESCRIBE_CLUSTER:
            self._cluster = _read_cluster(value, version)
            self._ask_quorum()
        else:
            self.outcome = _with_quorum(self._cluster, value)

    def _end(self, because: str) -> None:
        told = self._cluster
        if self._asking == _DESCRIBE_CLUSTER:
            self.outcome = ClusterTold(cluster_refused=because, quorum_refused=because)
        else:
            self.outcome = _quorum_refused(told, because, is_silent=True)


def _common(offered: Sequence[ApiVersion], api_key: int) -> int | None:
    newest = stable_versions(api_key)[-1]
    for api in offered:
        if api.api_key == api_key and api.min_version <= newest:
            return min(api.max_version, newest)
    return None


def _read_cluster(value: Mapping[str, Any], version: int) -> ClusterTold:
    if value["error_code"] != NONE:
        return ClusterTold(cluster_refused=f"it answers with {error_name(value['error_code'])}")
    tells = version >= _TELLS_FENCED
    return ClusterTold(
        cluster_id=str(value["cluster_id"])[:_LONGEST_HOST],
        brokers=tuple(
            ClusterBroker(
                endpoint=NodeEndpoint(
                    node_id=one["broker_id"],
                    host=str(one["host"])[:_LONGEST_HOST],
                    port=one["port"],
                    rack=None if one["rack"] is None else str(one["rack"])[:_LONGEST_HOST],
                ),
                is_fenced=one["is_fenced"] if tells else None,
            )
            for one in value["brokers"][:_MOST_NODES]
        ),
    )


def _with_quorum(told: ClusterTold, value: Mapping[str, Any]) -> ClusterTold:
    partition = next((one for topic in value["topics"] for one in topic["partitions"]), None)
    codes = [value["error_code"], *([] if partition is None else [partition["error_code"]])]
    code = next((one for one in codes if one != NONE), NONE)
    if code != NONE or partition is None:
        said = error_name(code) if code != NONE else "nothing"
        return _quorum_refused(told, f"it answers with {said}", is_silent=code in _NO_CONTROLLER)
    leader = partition["leader_id"]
    return ClusterTold(
        cluster_id=told.cluster_id,
        brokers=told.brokers,
        cluster_refused=told.cluster_refused,
        quorum=Quorum(
            leader_id=leader if leader >= 0 else None,
            voters=_ids(partition["current_voters"]),
            observers=_ids(partition["observers"]),
            endpoints={
                node["node_id"]: tuple(
                    Endpoint(
                        listener=str(one["name"])[:_LONGEST_HOST],
                        host=str(one["host"])[:_LONGEST_HOST],
                        port=one["port"],
                    )
                    for one in node["listeners"][:_MOST_NODES]
                )
                for node in value.get("nodes", ())[:_MOST_NODES]
            },
        ),
    )


def _quorum_refused(told: ClusterTold, because: str, *, is_silent: bool) -> ClusterTold:
    return ClusterTold(
        cluster_id=told.cluster_id,
        brokers=told.brokers,
        cluster_refused=told.cluster_refused,
        quorum_refused=because,
        quorum_is_silent=is_silent,
    )


def _ids(replicas: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    return tuple(sorted(one["replica_id"] for one in replicas[:_MOST_NODES]))
