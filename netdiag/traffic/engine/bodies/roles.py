"""Which fields of which messages tell something: paths into the layouts of `kafka.protocol`, and what they are for.

A path is the names of the fields from the outside in, joined by dots. Where a path holds for every api key it stands
without one. What follows from names alone is decided here, too: which fields hold topics, which hold error codes.
"""

from typing import NamedTuple

from netdiag.kafka.protocol import Direction
from netdiag.traffic.engine.bodies.facts import EndpointFacts, LeaderFacts, PartitionFacts

REQUEST, RESPONSE = Direction.REQUEST, Direction.RESPONSE

SCALARS: dict[Direction, dict[str, str]] = {
    REQUEST: {
        "transactional_id": "transactional_id",
        "v3_and_below_transactional_id": "transactional_id",
        "transactions.transactional_id": "transactional_id",
        "group_id": "group",
        "groups.group_id": "group",
        "acks": "acks",
        "max_wait_ms": "wait_ms",
        "replica_id": "replica_id",
        "replica_state.replica_id": "replica_id",
        "session_id": "session_id",
        "session_epoch": "session_epoch",
        "share_session_epoch": "session_epoch",
        "mechanism": "sasl_mechanism",
        "client_software_name": "software_name",
        "client_software_version": "software_version",
        "member_id": "member_id",
        "groups.member_id": "member_id",
        "group_instance_id": "instance_id",
        "instance_id": "instance_id",
        "members.group_instance_id": "instance_id",
        "generation_id": "generation",
        "generation_id_or_member_epoch": "generation",
        "member_epoch": "generation",
        "protocol_type": "protocol_type",
        "protocol_name": "protocol",
        "server_assignor": "protocol",
        "session_timeout_ms": "session_timeout_ms",
        "rebalance_timeout_ms": "rebalance_timeout_ms",
        "reason": "reason",
        "members.reason": "reason",
        "key_type": "key_type",
        "committed": "committed",
    },
    RESPONSE: {
        "throttle_time_ms": "throttle_ms",
        "session_id": "session_id",
        "cluster_id": "cluster_id",
        "controller_id": "controller_id",
        "member_id": "member_id",
        "generation_id": "generation",
        "member_epoch": "generation",
        "protocol_type": "protocol_type",
        "protocol_name": "protocol",
        "leader": "leader",
    },
}
"""Field -> attribute of the facts. Where a field stands in an array, the first that is not null counts."""

FIRST_OF = {
    (15, "groups"): "group",
    (42, "groups_names"): "group",
    (69, "group_ids"): "group",
    (77, "group_ids"): "group",
    (89, "group_ids"): "group",
}
"""Arrays of strings whose first element counts; requests."""

LISTS: dict[tuple[int, Direction], dict[str, str]] = {
    (10, REQUEST): {"key": "coordinator_keys", "coordinator_keys": "coordinator_keys"},
    (11, RESPONSE): {"members.member_id": "members"},
    (13, REQUEST): {"members.member_id": "members"},
    (68, REQUEST): {"subscribed_topic_names": "subscription"},
    (76, REQUEST): {"subscribed_topic_names": "subscription"},
}
"""Strings that are gathered in a list."""

PAIRS: dict[tuple[int, Direction], dict[str, str]] = {
    (1, REQUEST): {"forgotten_topics_data.partitions": "forgotten"},
    (68, REQUEST): {"topic_partitions.partitions": "owned"},
    (68, RESPONSE): {"assignment.topic_partitions.partitions": "assignment"},
    (76, RESPONSE): {"assignment.topic_partitions.partitions": "assignment"},
    (78, REQUEST): {"forgotten_topics_data.partitions": "forgotten"},
}
"""Arrays of partition numbers that are gathered as pairs of topic and partition."""

EMBEDDED = {
    (11, REQUEST, "protocols.metadata"): "subscription",
    (14, RESPONSE, "assignment"): "assignment",
}
"""Fields of bytes that hold a message of the consumer's own protocol."""

_TOPIC_ARRAYS = frozenset(
    {"topics", "topic_data", "responses", "topic_results", "v3_and_below_topics", "results_by_topic_v3_and_below"}
)
CREATE_PARTITIONS = 37


class Row(NamedTuple):
    """A struct that becomes a row: its kind (None: none, but its records are looked at), and what column a field fills.

    `replica_nodes#` stands for how many elements the array has. The row counts once the field `needs` is there.
    """

    kind: type[PartitionFacts] | type[LeaderFacts] | type[EndpointFacts] | None
    columns: dict[str, str]
    needs: str


def _partition(partition: str = "partition_index", **columns: str) -> Row:
    return Row(PartitionFacts, {partition: "partition", **columns}, partition)


_LEADER = {
    "current_leader.leader_id": "leader_id",
    "current_leader.leader_epoch": "leader_epoch",
}
_INDEX_AND_ERROR = _partition(error_code="error_code")
_TXN_RESULT = _partition(partition_error_code="error_code")
_NUMBER = _partition("")
_COMMIT = _partition(committed_offset="offset", committed_leader_epoch="leader_epoch")
_COMMITTED = _partition(committed_offset="offset", committed_leader_epoch="leader_epoch", error_code="error_code")
_TOPIC_LEADER = Row(
    LeaderFacts,
    {
        "error_code": "error_code",
        "partition_index": "partition",
        "leader_id": "leader_id",
        "leader_epoch": "leader_epoch",
        "replica_nodes#": "replicas",
        "isr_nodes#": "in_sync",
    },
    "partition_index",
)
_ENDPOINT = {"host": "host", "port": "port", "rack": "rack"}

ROWS: dict[tuple[int, Direction], dict[str, Row]] = {
    (0, REQUEST): {"topic_data.partition_data": _partition("index", records="records")},
    (0, RESPONSE): {
        "responses.partition_responses": _partition(
            "index", error_code="error_code", base_offset="offset", log_start_offset="log_start_offset", **_LEADER
        )
    },
    (1, REQUEST): {
        "topics.partitions": _partition("partition", current_leader_epoch="leader_epoch", fetch_offset="offset")
    },
    (1, RESPONSE): {
        "responses.partitions": _partition(
            error_code="error_code",
            high_watermark="high_watermark",
            last_stable_offset="last_stable_offset",
            log_start_offset="log_start_offset",
            records="records",
            **_LEADER,
        )
    },
    (2, REQUEST): {"topics.partitions": _partition(current_leader_epoch="leader_epoch", timestamp="timestamp")},
    (2, RESPONSE): {
        "topics.partitions": _partition(
            error_code="error_code", old_style_offsets="offset", offset="offset", leader_epoch="leader_epoch"
        )
    },
    (3, RESPONSE): {
        "brokers": Row(EndpointFacts, {"node_id": "node_id", **_ENDPOINT}, "port"),
        "topics.partitions": _TOPIC_LEADER,
    },
    (8, REQUEST): {"topics.partitions": _COMMIT},
    (8, RESPONSE): {"topics.partitions": _INDEX_AND_ERROR},
    (9, REQUEST): {"topics.partition_indexes": _NUMBER, "groups.topics.partition_indexes": _NUMBER},
    (9, RESPONSE): {"topics.partitions": _COMMITTED, "groups.topics.partitions": _COMMITTED},
    (10, RESPONSE): {
        "": Row(EndpointFacts, {"node_id": "node_id", **_ENDPOINT}, "port"),
        "coordinators": Row(EndpointFacts, {"key": "coordinator_key", "node_id": "node_id", **_ENDPOINT}, "port"),
    },
    (21, REQUEST): {"topics.partitions": _partition(offset="offset")},
    (21, RESPONSE): {"topics.partitions": _partition(low_watermark="log_start_offset", error_code="error_code")},
    (23, REQUEST): {"topics.partitions": _partition("partition", leader_epoch="leader_epoch")},
    (23, RESPONSE): {
        "topics.partitions": _partition(
            "partition", error_code="error_code", leader_epoch="leader_epoch", end_offset="offset"
        )
    },
    (24, REQUEST): {"v3_and_below_topics.partitions": _NUMBER, "transactions.topics.partitions": _NUMBER},
    (24, RESPONSE): {
        "results_by_topic_v3_and_below.results_by_partition": _TXN_RESULT,
        "results_by_transaction.topic_results.results_by_partition": _TXN_RESULT,
    },
    (27, REQUEST): {"markers.topics.partition_indexes": _NUMBER},
    (27, RESPONSE): {"markers.topics.partitions": _INDEX_AND_ERROR},
    (28, REQUEST): {"topics.partitions": _COMMIT},
    (28, RESPONSE): {"topics.partitions": _INDEX_AND_ERROR},
    (47, REQUEST): {"topics.partitions": _partition()},
    (47, RESPONSE): {"topics.partitions": _INDEX_AND_ERROR},
    (60, RESPONSE): {"brokers": Row(EndpointFacts, {"broker_id": "node_id", **_ENDPOINT}, "port")},
    (75, RESPONSE): {"topics.partitions": _TOPIC_LEADER},
    (78, REQUEST): {"topics.partitions": _partition()},
    (78, RESPONSE): {"responses.partitions": _partition(error_code="error_code", records="records", **_LEADER)},
    (79, REQUEST): {"topics.partitions": _partition()},
    (79, RESPONSE): {"responses.partitions": _partition(error_code="error_code", **_LEADER)},
}
"""Structs, and arrays of partition numbers (the field ""), that become rows."""

NODE_ENDPOINTS = Row(EndpointFacts, {"node_id": "node_id", **_ENDPOINT}, "port")
GROUP_ARRAYS = {(9, REQUEST): "groups.group_id", (9, RESPONSE): "groups.group_id"}
"""Where one message speaks of several groups: the field with the group of the partitions that follow."""


def row_of(api_key: int, direction: Direction, path: str) -> Row | None:
    """What the struct at a path becomes; `node_endpoints` are the same in all responses that have them (KIP-951)."""
    if path == "node_endpoints" and direction is RESPONSE:
        return NODE_ENDPOINTS
    return ROWS.get((api_key, direction), {}).get(path)


def has_records(api_key: int, direction: Direction) -> bool:
    """Whether the records of a message are record batches; those of a snapshot begin anywhere in one."""
    return any("records" in row.columns for row in ROWS.get((api_key, direction), {}).values())


def is_topic_name(api_key: int, path: str) -> bool:
    """Whether a string, or an array of strings, at this path names topics."""
    *outside, name = path.split(".")
    if name in ("topic", "topic_name", "topic_names", "subscribed_topic_names"):
        return True
    inside = outside[-1] if outside else ""
    return name == "name" and (inside in _TOPIC_ARRAYS or (api_key == CREATE_PARTITIONS and inside == "results"))


def is_error_code(name: str) -> bool:
    """Whether a field of a response holds an error code."""
    return name.endswith("error_code")


OF_GROUPS = frozenset(
    {"member_id", "instance_id", "generation", "protocol", "leader", "reason", "members", "subscription"}
)

OF_CONNECTIONS = frozenset({"software_name", "software_version"})


def unwanted(wanted: frozenset[str]) -> frozenset[str]:
    """What nobody asks for where these tables are asked for."""
    groups: frozenset[str] = frozenset() if "group_events" in wanted else OF_GROUPS
    return groups if "connections" in wanted else groups | OF_CONNECTIONS
