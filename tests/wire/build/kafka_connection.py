"""Kafka spoken over a built connection: requests with their answers, encoded from the message table."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from netdiag.kafka.protocol import encode_request, encode_response
from tests.wire.build.packets import Network, Tcp

PRODUCE, FETCH, METADATA = 0, 1, 3
FIND_COORDINATOR, JOIN_GROUP, HEARTBEAT, LEAVE_GROUP = 10, 11, 12, 13
SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 17, 18, 36
VERSIONS = {
    PRODUCE: 8,
    FETCH: 11,
    METADATA: 9,
    FIND_COORDINATOR: 3,
    JOIN_GROUP: 8,
    HEARTBEAT: 3,
    LEAVE_GROUP: 5,
    SASL_HANDSHAKE: 1,
    API_VERSIONS: 2,
    SASL_AUTHENTICATE: 1,
}
LATENCY = 0.002

Values = Mapping[str, Any]


class Client:
    """An application at an address."""

    def __init__(self, network: Network, host: str, client_id: str) -> None:
        self.network = network
        self.host = host
        self.client_id = client_id

    def dial(self, at: float, broker: str) -> "KafkaConnection":
        """A connection that is established, with the question for versions that every client begins with."""
        tcp = Tcp(self.network, self.host, broker)
        tcp.open(at)
        talk = KafkaConnection(tcp, self.client_id)
        keys = [{"api_key": key, "min_version": 0, "max_version": version} for key, version in VERSIONS.items()]
        talk.ask(at + 0.003, API_VERSIONS, {}, {"error_code": 0, "api_keys": keys})
        return talk


class KafkaConnection:
    """The requests of one connection; `at` is when a request is sent."""

    def __init__(self, tcp: Tcp, client_id: str) -> None:
        self.tcp = tcp
        self._client_id = client_id
        self._correlation_id = 0

    def ask(self, at: float, api_key: int, body: Values, answer: Values | None, *, version: int | None = None) -> None:
        """A request, and its answer a little later; None for no answer."""
        self._correlation_id += 1
        spoken = VERSIONS[api_key] if version is None else version
        self.tcp.send(at, encode_request(api_key, spoken, self._correlation_id, self._client_id, body))
        if answer is not None:
            self.tcp.answer(at + LATENCY, encode_response(api_key, spoken, self._correlation_id, answer))

    def metadata(
        self,
        at: float,
        brokers: Mapping[int, tuple[str, int]],
        topic: str = "orders",
        leaders: Sequence[int] = (1,),
        *,
        error: int = 0,
        epoch: int = 0,
        replicas: int = 1,
        cluster: str = "one",
    ) -> None:
        """Which brokers there are, and who leads the partitions of a topic."""
        partitions = [
            {
                "error_code": 0,
                "partition_index": index,
                "leader_id": leader,
                "leader_epoch": epoch,
                "replica_nodes": list(range(1, replicas + 1)),
                "isr_nodes": list(range(1, replicas + 1)),
                "offline_replicas": [],
            }
            for index, leader in enumerate(leaders)
        ]
        answer = {
            "brokers": [
                {"node_id": node, "host": host, "port": port, "rack": None} for node, (host, port) in brokers.items()
            ],
            "cluster_id": cluster,
            "controller_id": 1,
            "topics": [{"error_code": error, "name": topic, "partitions": [] if error else partitions}],
        }
        self.ask(at, METADATA, {"topics": [{"name": topic}], "allow_auto_topic_creation": False}, answer)

    def coordinator(self, at: float, group: str, node: int, host: str, port: int, *, error: int = 0) -> None:
        """Where the coordinator of a group is."""
        answer = {"error_code": error, "error_message": None, "node_id": node, "host": host, "port": port}
        self.ask(at, FIND_COORDINATOR, {"key": group, "key_type": 0}, answer)

    def produce(
        self,
        at: float,
        batch: bytes,
        topic: str = "orders",
        partition: int = 0,
        *,
        acks: int = -1,
        error: int = 0,
        throttle: int = 0,
        version: int | None = None,
    ) -> None:
        """One batch to one partition."""
        data = [{"name": topic, "partition_data": [{"index": partition, "records": batch}]}]
        body: dict[str, Any] = {"acks": acks, "timeout_ms": 30_000, "topic_data": data}
        told = [{"index": partition, "error_code": error, "base_offset": 0}]
        answer = {"responses": [{"name": topic, "partition_responses": told}], "throttle_time_ms": throttle}
        self.ask(at, PRODUCE, body, answer if acks else None, version=version)

    def fetch(self, at: float, topic: str = "orders", *, error: int = 0) -> None:
        """Nothing of one partition, or an error."""
        wanted = [{"topic": topic, "partitions": [{"partition": 0, "fetch_offset": 5, "partition_max_bytes": 1 << 20}]}]
        told = [{"partition_index": 0, "error_code": error, "high_watermark": 5, "records": b""}]
        body = {"replica_id": -1, "max_wait_ms": 500, "min_bytes": 1, "topics": wanted}
        self.ask(at, FETCH, body, {"responses": [{"topic": topic, "partitions": told}]})

    def join(self, at: float, group: str, member: str, generation: int, leader: str, members: Sequence[str]) -> None:
        """A member joins a group, or joins again."""
        body = {
            "group_id": group,
            "session_timeout_ms": 45_000,
            "rebalance_timeout_ms": 300_000,
            "member_id": member,
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": b""}],
        }
        listed = [{"member_id": each, "metadata": b""} for each in members] if member == leader else []
        answer = {
            "error_code": 0,
            "generation_id": generation,
            "protocol_type": "consumer",
            "protocol_name": "range",
            "leader": leader,
            "member_id": member,
            "members": listed,
        }
        self.ask(at, JOIN_GROUP, body, answer)

    def leave(self, at: float, group: str, member: str, reason: str) -> None:
        """A member leaves a group."""
        body = {"group_id": group, "members": [{"member_id": member, "reason": reason}]}
        answer = {"error_code": 0, "members": [{"member_id": member, "group_instance_id": None, "error_code": 0}]}
        self.ask(at, LEAVE_GROUP, body, answer)

    def authenticate(self, at: float, *, error: int = 0) -> None:
        """SASL with a user and a password that are right, or not."""
        self.ask(at, SASL_HANDSHAKE, {"mechanism": "PLAIN"}, {"error_code": 0, "mechanisms": ["PLAIN"]})
        told = {"error_code": error, "error_message": None, "auth_bytes": b""}
        self.ask(at + 0.005, SASL_AUTHENTICATE, {"auth_bytes": b"\0user\0secret"}, told)


def batch(
    records: int = 10, size: int = 1000, *, codec: int = 0, producer: int = -1, epoch: int = -1, sequence: int = -1
) -> bytes:
    """A record batch of format 2 with so many records in so many bytes; what the records hold is no matter."""
    after = struct.pack(
        ">hiqqqhii", codec, records - 1, 1_700_000_000_000, 1_700_000_000_000, producer, epoch, sequence, records
    )
    body = struct.pack(">ibI", 0, 2, 0) + after + bytes(max(0, size - 61))
    return struct.pack(">qi", 0, len(body)) + body


def old_batch(size: int = 100) -> bytes:
    """A message set of format 1 with one message."""
    message = struct.pack(">bbqii", 1, 0, 1_700_000_000_000, -1, size) + bytes(size)
    entry = struct.pack(">I", 0) + message
    return struct.pack(">qi", 0, len(entry)) + entry
