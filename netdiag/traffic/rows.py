"""The rows of the tables, one NamedTuple a table: made by the million, so a tuple that Arrow turns into columns.

What every column means stands in `tables`; a test holds the two together.
"""

from typing import NamedTuple


class ExchangeRow(NamedTuple):
    """A row of `exchanges`."""

    time: int
    client: str
    broker: str
    api_key: int | None
    api_name: str | None
    api_version: int | None
    correlation_id: int
    client_id: str | None
    request_bytes: int | None
    response_bytes: int | None
    latency_ms: float | None
    error_code: int | None
    topics: tuple[str, ...] | None
    group: str | None
    decoded: str
    outcome: str
    response_time: int | None
    service_ms: float | None
    wait_ms: int | None
    empty: bool | None
    throttle_ms: int | None
    acks: int | None
    records: int | None
    record_bytes: int | None
    transactional_id: str | None
    replica_id: int | None
    client_name: str | None
    broker_name: str | None
    listener: str | None
    connection: int
    request_packet: int | None
    response_packet: int | None
    file: str
    committed: bool | None = None


class PartitionRow(NamedTuple):
    """A row of `partitions`."""

    time: int
    connection: int
    correlation_id: int
    api_key: int
    client_id: str | None
    group: str | None
    topic: str | None
    topic_id: str | None
    partition: int
    error_code: int | None
    records: int | None
    record_bytes: int | None
    request_offset: int | None
    response_offset: int | None
    last_offset: int | None
    high_watermark: int | None
    last_stable_offset: int | None
    log_start_offset: int | None
    timestamp: int | None
    max_timestamp: int | None
    leader_id: int | None
    leader_epoch: int | None
    replica_id: int | None
    session_id: int | None


class BatchRow(NamedTuple):
    """A row of `batches`."""

    time: int
    connection: int
    correlation_id: int
    api_key: int
    client_id: str | None
    topic: str | None
    topic_id: str | None
    partition: int
    magic: int
    base_offset: int | None
    last_offset_delta: int | None
    records: int | None
    bytes: int
    codec: str | None
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    transactional: bool | None
    control: bool | None
    first_timestamp: int | None
    max_timestamp: int | None
    log_append_time: bool | None
    complete: bool


class GroupEventRow(NamedTuple):
    """A row of `group_events`."""

    time: int
    response_time: int | None
    connection: int
    correlation_id: int
    api_key: int
    group: str | None
    client: str
    broker: str
    client_id: str | None
    member_id: str | None
    instance_id: str | None
    generation: int | None
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    members: tuple[str, ...] | None
    subscription: tuple[str, ...] | None
    owned: tuple[str, ...] | None
    assignment: tuple[str, ...] | None
    session_timeout_ms: int | None
    rebalance_timeout_ms: int | None
    reason: str | None
    error_code: int | None
    wait_ms: float | None


class EndpointRow(NamedTuple):
    """A row of `endpoints`."""

    time: int
    connection: int
    correlation_id: int
    api_key: int
    client: str
    broker: str
    client_id: str | None
    node_id: int
    host: str
    port: int
    rack: str | None
    cluster_id: str | None
    controller_id: int | None
    coordinator_key: str | None


class LeaderRow(NamedTuple):
    """A row of `leaders`."""

    time: int
    connection: int
    correlation_id: int
    topic: str | None
    topic_id: str | None
    partition: int | None
    leader_id: int | None
    leader_epoch: int | None
    replicas: int | None
    in_sync: int | None
    error_code: int | None


class ConnectionRow(NamedTuple):
    """A row of `connections`."""

    connection: int
    client: str
    broker: str
    first_time: int
    last_time: int
    opening: str
    ending: str
    handshake_ms: float | None
    protocol: str
    sasl_mechanism: str | None
    server_name: str | None
    client_software: str | None
    client_id: str | None
    client_packets: int
    broker_packets: int
    client_bytes: int
    broker_bytes: int
    requests: int
    responses: int
    retransmissions: int
    out_of_order: int
    duplicates: int
    zero_windows: int
    keep_alives: int
    lost_bytes: int
    truncated_bytes: int
    seen_as: tuple[str, ...] | None
    interfaces: tuple[str, ...] | None
    digest: int | None
    relay_of: int | None
    client_name: str | None
    broker_name: str | None
    listener: str | None
    file: str


class NameRow(NamedTuple):
    """A row of `names`."""

    time: int
    client: str
    server: str
    name: str
    type: str
    result: str
    addresses: tuple[str, ...] | None
    latency_ms: float | None


class LossRow(NamedTuple):
    """A row of `losses`."""

    file: str
    time: int | None
    connection: int | None
    direction: str | None
    kind: str
    bytes: int
    times: int
    detail: str | None


class RecordRow(NamedTuple):
    """A row of `records`."""

    time: int
    connection: int
    correlation_id: int
    api_key: int
    client_id: str | None
    topic: str | None
    topic_id: str | None
    partition: int
    offset: int | None
    offset_delta: int
    timestamp: int | None
    key: str | None
    key_encoding: str | None
    key_bytes: int | None
    value: str | None
    value_encoding: str | None
    value_bytes: int | None
    headers: tuple[str, ...] | None
    codec: str
    producer_id: int | None


class PacketRow(NamedTuple):
    """A row of `packets`."""

    time: int
    file: str
    number: int
    interface: str
    link_type: int
    length: int
    captured: int


class SegmentRow(NamedTuple):
    """A row of `segments`."""

    time: int
    file: str
    number: int
    interface: str
    source: str
    destination: str
    sequence: int
    acknowledgement: int
    flags: int
    window: int
    length: int
    captured: int


class LatencyRow(NamedTuple):
    """A row of `latencies`."""

    api_name: str | None
    client: str
    client_id: str | None
    broker: str
    bucket: int | None
    requests: int
    responses: int
    unanswered: int
    errors: int
    request_bytes: int
    response_bytes: int
    latency_ns: int
