"""What the body of a request or a response tells: the values that `assemble` makes rows of.

Made by the million, so not dataclasses: the defaults stand in the class, an object holds what differs from them. A
topic is its name, or the 16 bytes of its id where the message has no name (KIP-516).
"""

from collections.abc import Sequence
from typing import NamedTuple

FULL, TRUNCATED, HEADER, FAILED = "full", "truncated", "header", "failed"
"""How far a body was decoded, see column `decoded` of table `exchanges`."""

Topic = str | bytes


class BatchFacts(NamedTuple):
    """One record batch; the columns of table `batches`."""

    topic: Topic
    partition: int
    magic: int
    base_offset: int | None
    last_offset_delta: int | None
    records: int | None
    bytes: int
    codec: int | None
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    transactional: bool | None
    control: bool | None
    first_timestamp: int | None
    max_timestamp: int | None
    log_append_time: bool | None
    complete: bool


class PartitionFacts(NamedTuple):
    """What a message says of one partition; `offset` is that of the direction, see table `partitions`."""

    topic: Topic
    partition: int
    group: str | None
    error_code: int | None
    offset: int | None
    high_watermark: int | None
    last_stable_offset: int | None
    log_start_offset: int | None
    timestamp: int | None
    leader_id: int | None
    leader_epoch: int | None
    records: int | None
    record_bytes: int | None
    last_offset: int | None
    max_timestamp: int | None


class EndpointFacts(NamedTuple):
    """An address that a response tells."""

    node_id: int
    host: str
    port: int
    rack: str | None
    coordinator_key: str | None


class LeaderFacts(NamedTuple):
    """A partition's leader; without partition where the topic itself is in error."""

    topic: Topic | None
    topic_id: bytes | None
    partition: int | None
    leader_id: int | None
    leader_epoch: int | None
    replicas: int | None
    in_sync: int | None
    error_code: int | None


class Facts:
    """What both directions tell; `names` are the pairs of topic id and name, `decoded` is how far the bytes went.

    `pieces` are the records of each partition as far as they were kept, and their size: where payloads are wanted only.

    `is_counted` is of use while a message is read only: all its records were seen.
    """

    is_counted: bool = False

    decoded: str = FULL
    topics: Sequence[Topic] = ()
    names: Sequence[tuple[bytes, str]] = ()
    group: str | None = None
    transactional_id: str | None = None
    partitions: Sequence[PartitionFacts] = ()
    batches: Sequence[BatchFacts] = ()
    pieces: Sequence[tuple[Topic, int, bytes, int]] = ()
    records: int | None = None
    record_bytes: int | None = None
    session_id: int | None = None
    member_id: str | None = None
    instance_id: str | None = None
    generation: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    members: Sequence[str] | None = None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class RequestFacts(Facts):
    """What a request tells. `replica_id` of a Fetch from the field or the tag `replica_state`."""

    acks: int | None = None
    wait_ms: int | None = None
    replica_id: int | None = None
    session_epoch: int | None = None
    forgotten: Sequence[tuple[Topic, int]] = ()
    software_name: str | None = None
    software_version: str | None = None
    coordinator_keys: Sequence[str] = ()
    key_type: int | None = None
    committed: bool | None = None
    sasl_mechanism: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    reason: str | None = None
    subscription: Sequence[str] | None = None
    owned: Sequence[tuple[Topic, int]] | None = None

    @property
    def client_software(self) -> str | None:
        """Name and version of the client library (KIP-511)."""
        if self.software_name is None:
            return None
        return f"{self.software_name} {self.software_version or ''}".rstrip()


class ResponseFacts(Facts):
    """What a response tells. `error_code`: the first that is not 0 in the order of the wire, else 0."""

    error_code: int | None = None
    throttle_ms: int | None = None
    empty: bool | None = None
    endpoints: Sequence[EndpointFacts] = ()
    leaders: Sequence[LeaderFacts] = ()
    cluster_id: str | None = None
    controller_id: int | None = None
    leader: str | None = None
    assignment: Sequence[tuple[Topic, int]] | None = None
