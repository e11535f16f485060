"""Rows of the tables that netdiag itself reads row by row, in the order of their columns.

What every column means stands in `tables.json`; a test holds the two together.
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
