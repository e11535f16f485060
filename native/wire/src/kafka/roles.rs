//! Which fields of which messages tell something: paths into the layouts of the table, and what they are for.
//!
//! A path is the names of the fields from the outside in, joined by dots. What follows from names alone is decided
//! here, too: which fields hold topics, which hold error codes.

use serde::{Deserialize, Serialize};

use super::program::{Embedded, Text, To};
use super::table::{CREATE_PARTITIONS, FETCH, FIND_COORDINATOR, JOIN_GROUP, PRODUCE, SHARE_FETCH};

const OFFSET_FETCH: i16 = 9;

/// The kind of row that a struct, or a number in an array of partitions, becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RowKind {
    Partition,
    Leader,
    Endpoint,
}

/// What a field of such a struct fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Number(To),
    Text(Text),
    /// The first number of an array.
    First(To),
    /// How many elements an array has.
    Count(To),
    ErrorCode,
    Records,
}

/// What a struct at a path becomes: `needs` is the field with which the row counts, "" for an array of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) kind: RowKind,
    pub(super) needs: &'static str,
    columns: &'static [(&'static str, Column)],
}

impl Row {
    /// What the field at this path inside of the struct fills.
    pub(super) fn column(&self, path: &str) -> Option<Column> {
        self.columns
            .iter()
            .find(|(name, _)| *name == path)
            .map(|(_, column)| *column)
    }

    pub(super) fn has_records(&self) -> bool {
        self.columns.iter().any(|(_, column)| *column == Column::Records)
    }
}

const ERROR: (&str, Column) = ("error_code", Column::ErrorCode);
const RECORDS: (&str, Column) = ("records", Column::Records);
const INDEX: (&str, Column) = ("partition_index", Column::Number(To::Partition));
const LEADER_ID: (&str, Column) = ("current_leader.leader_id", Column::Number(To::LeaderId));
const LEADER_EPOCH: (&str, Column) = ("current_leader.leader_epoch", Column::Number(To::LeaderEpoch));
const HOST: (&str, Column) = ("host", Column::Text(Text::Host));
const PORT: (&str, Column) = ("port", Column::Number(To::Port));
const RACK: (&str, Column) = ("rack", Column::Text(Text::Rack));
const NODE: (&str, Column) = ("node_id", Column::Number(To::NodeId));

const fn partition(needs: &'static str, columns: &'static [(&'static str, Column)]) -> Option<Row> {
    Some(Row {
        kind: RowKind::Partition,
        needs,
        columns,
    })
}

const fn endpoint(columns: &'static [(&'static str, Column)]) -> Option<Row> {
    Some(Row {
        kind: RowKind::Endpoint,
        needs: "port",
        columns,
    })
}

/// The same in all responses that have such (KIP-951).
const NODE_ENDPOINTS: Option<Row> = endpoint(&[NODE, HOST, PORT, RACK]);
const NUMBER: Option<Row> = partition("", &[]);
const PARTITION: Option<Row> = partition("partition_index", &[INDEX]);
const INDEX_AND_ERROR: Option<Row> = partition("partition_index", &[INDEX, ERROR]);
const TXN_RESULT: Option<Row> = partition("partition_index", &[INDEX, ("partition_error_code", Column::ErrorCode)]);
const COMMIT: Option<Row> = partition(
    "partition_index",
    &[
        INDEX,
        ("committed_offset", Column::Number(To::Offset)),
        ("committed_leader_epoch", Column::Number(To::LeaderEpoch)),
    ],
);
const COMMITTED: Option<Row> = partition(
    "partition_index",
    &[
        INDEX,
        ("committed_offset", Column::Number(To::Offset)),
        ("committed_leader_epoch", Column::Number(To::LeaderEpoch)),
        ERROR,
    ],
);
const TOPIC_LEADER: Option<Row> = Some(Row {
    kind: RowKind::Leader,
    needs: "partition_index",
    columns: &[
        ERROR,
        ("partition_index", Column::Number(To::LedPartition)),
        ("leader_id", Column::Number(To::LedBy)),
        ("leader_epoch", Column::Number(To::LedInEpoch)),
        ("replica_nodes", Column::Count(To::Replicas)),
        ("isr_nodes", Column::Count(To::InSync)),
    ],
});

/// What the struct at a path, or an array of partition numbers, becomes.
pub(super) fn row_of(api_key: i16, is_request: bool, path: &str) -> Option<Row> {
    if is_request {
        row_of_request(api_key, path)
    } else {
        row_of_response(api_key, path)
    }
}

fn row_of_request(api_key: i16, path: &str) -> Option<Row> {
    match (api_key, path) {
        (PRODUCE, "topic_data.partition_data") => {
            partition("index", &[("index", Column::Number(To::Partition)), RECORDS])
        }
        (FETCH, "topics.partitions") => partition(
            "partition",
            &[
                ("partition", Column::Number(To::Partition)),
                ("current_leader_epoch", Column::Number(To::LeaderEpoch)),
                ("fetch_offset", Column::Number(To::Offset)),
            ],
        ),
        (2, "topics.partitions") => partition(
            "partition_index",
            &[
                INDEX,
                ("current_leader_epoch", Column::Number(To::LeaderEpoch)),
                ("timestamp", Column::Number(To::Timestamp)),
            ],
        ),
        (8 | 28, "topics.partitions") => COMMIT,
        (OFFSET_FETCH, "topics.partition_indexes" | "groups.topics.partition_indexes") => NUMBER,
        (21, "topics.partitions") => partition("partition_index", &[INDEX, ("offset", Column::Number(To::Offset))]),
        (23, "topics.partitions") => partition(
            "partition",
            &[
                ("partition", Column::Number(To::Partition)),
                ("leader_epoch", Column::Number(To::LeaderEpoch)),
            ],
        ),
        (24, "v3_and_below_topics.partitions" | "transactions.topics.partitions") => NUMBER,
        (27, "markers.topics.partition_indexes") => NUMBER,
        (47 | SHARE_FETCH | 79, "topics.partitions") => PARTITION,
        _ => None,
    }
}

fn row_of_response(api_key: i16, path: &str) -> Option<Row> {
    match (api_key, path) {
        (_, "node_endpoints") => NODE_ENDPOINTS,
        (PRODUCE, "responses.partition_responses") => partition(
            "index",
            &[
                ("index", Column::Number(To::Partition)),
                ERROR,
                ("base_offset", Column::Number(To::Offset)),
                ("log_start_offset", Column::Number(To::LogStartOffset)),
                LEADER_ID,
                LEADER_EPOCH,
            ],
        ),
        (FETCH, "responses.partitions") => partition(
            "partition_index",
            &[
                INDEX,
                ERROR,
                ("high_watermark", Column::Number(To::HighWatermark)),
                ("last_stable_offset", Column::Number(To::LastStableOffset)),
                ("log_start_offset", Column::Number(To::LogStartOffset)),
                RECORDS,
                LEADER_ID,
                LEADER_EPOCH,
            ],
        ),
        (2, "topics.partitions") => partition(
            "partition_index",
            &[
                INDEX,
                ERROR,
                ("old_style_offsets", Column::First(To::Offset)),
                ("offset", Column::Number(To::Offset)),
                ("leader_epoch", Column::Number(To::LeaderEpoch)),
            ],
        ),
        (3, "brokers") => NODE_ENDPOINTS,
        (3 | 75, "topics.partitions") => TOPIC_LEADER,
        (8 | 28 | 47, "topics.partitions") | (27, "markers.topics.partitions") => INDEX_AND_ERROR,
        (OFFSET_FETCH, "topics.partitions" | "groups.topics.partitions") => COMMITTED,
        (FIND_COORDINATOR, "") => NODE_ENDPOINTS,
        (FIND_COORDINATOR, "coordinators") => {
            endpoint(&[("key", Column::Text(Text::CoordinatorKey)), NODE, HOST, PORT, RACK])
        }
        (21, "topics.partitions") => partition(
            "partition_index",
            &[INDEX, ("low_watermark", Column::Number(To::LogStartOffset)), ERROR],
        ),
        (23, "topics.partitions") => partition(
            "partition",
            &[
                ("partition", Column::Number(To::Partition)),
                ERROR,
                ("leader_epoch", Column::Number(To::LeaderEpoch)),
                ("end_offset", Column::Number(To::Offset)),
            ],
        ),
        (
            24,
            "results_by_topic_v3_and_below.results_by_partition"
            | "results_by_transaction.topic_results.results_by_partition",
        ) => TXN_RESULT,
        (60, "brokers") => endpoint(&[("broker_id", Column::Number(To::NodeId)), HOST, PORT, RACK]),
        (SHARE_FETCH, "responses.partitions") => {
            partition("partition_index", &[INDEX, ERROR, RECORDS, LEADER_ID, LEADER_EPOCH])
        }
        (79, "responses.partitions") => partition("partition_index", &[INDEX, ERROR, LEADER_ID, LEADER_EPOCH]),
        _ => None,
    }
}

/// The number of the whole message that a field tells.
pub(super) fn number_of(is_request: bool, path: &str) -> Option<To> {
    Some(match (is_request, path) {
        (true, "acks") => To::Acks,
        (true, "max_wait_ms") => To::WaitMs,
        (true, "replica_id" | "replica_state.replica_id") => To::ReplicaId,
        (_, "session_id") => To::SessionId,
        (true, "session_epoch" | "share_session_epoch") => To::SessionEpoch,
        (true, "generation_id" | "generation_id_or_member_epoch" | "member_epoch") => To::Generation,
        (true, "session_timeout_ms") => To::SessionTimeout,
        (true, "rebalance_timeout_ms") => To::RebalanceTimeout,
        (true, "key_type") => To::KeyType,
        (true, "committed") => To::Committed,
        (false, "throttle_time_ms") => To::Throttle,
        (false, "controller_id") => To::ControllerId,
        (false, "generation_id" | "member_epoch") => To::Generation,
        _ => return None,
    })
}

/// The text of the whole message that a field tells; where it stands in an array, the first that is not null counts.
pub(super) fn text_of(is_request: bool, path: &str) -> Option<Text> {
    Some(match (is_request, path) {
        (true, "transactional_id" | "v3_and_below_transactional_id" | "transactions.transactional_id") => {
            Text::TransactionalId
        }
        (true, "group_id" | "groups.group_id") => Text::Group,
        (true, "mechanism") => Text::Mechanism,
        (true, "client_software_name") => Text::SoftwareName,
        (true, "client_software_version") => Text::SoftwareVersion,
        (true, "member_id" | "groups.member_id") => Text::MemberId,
        (true, "group_instance_id" | "instance_id" | "members.group_instance_id") => Text::InstanceId,
        (_, "protocol_type") => Text::ProtocolType,
        (_, "protocol_name") => Text::Protocol,
        (true, "server_assignor") => Text::Protocol,
        (true, "reason" | "members.reason") => Text::Reason,
        (false, "cluster_id") => Text::ClusterId,
        (false, "member_id") => Text::MemberId,
        (false, "leader") => Text::Leader,
        _ => return None,
    })
}

/// A list that the strings at a path are gathered in, or what the first of them tells.
pub(super) fn list_of(api_key: i16, is_request: bool, path: &str) -> Option<Text> {
    Some(match (api_key, is_request, path) {
        (FIND_COORDINATOR, true, "key" | "coordinator_keys") => Text::CoordinatorKeys,
        (JOIN_GROUP, false, "members.member_id") | (13, true, "members.member_id") => Text::Members,
        (68 | 76, true, "subscribed_topic_names") => Text::Subscription,
        (15, true, "groups") | (42, true, "groups_names") | (69 | 77 | 89, true, "group_ids") => Text::Group,
        _ => return None,
    })
}

/// A list that the partition numbers at a path are gathered in, as pairs of topic and partition.
pub(super) fn pairs_of(api_key: i16, is_request: bool, path: &str) -> Option<To> {
    Some(match (api_key, is_request, path) {
        (FETCH | SHARE_FETCH, true, "forgotten_topics_data.partitions") => To::Forgotten,
        (68, true, "topic_partitions.partitions") => To::Owned,
        (68 | 76, false, "assignment.topic_partitions.partitions") => To::Assigned,
        _ => return None,
    })
}

/// A message of the consumer's own protocol that bytes hold.
pub(super) fn embedded(api_key: i16, is_request: bool, path: &str) -> Option<Embedded> {
    match (api_key, is_request, path) {
        (JOIN_GROUP, true, "protocols.metadata") => Some(Embedded::Subscription),
        (14, false, "assignment") => Some(Embedded::Assignment),
        _ => None,
    }
}

/// Where one message speaks of several groups: whether this field names the group of the partitions that follow.
pub(super) fn is_group_of_rows(api_key: i16, path: &str) -> bool {
    api_key == OFFSET_FETCH && path == "groups.group_id"
}

/// Whether the records of a message are record batches; those of a snapshot begin anywhere in one.
pub(super) fn has_records(api_key: i16, is_request: bool) -> bool {
    matches!((api_key, is_request), (PRODUCE, true) | (FETCH | SHARE_FETCH, false))
}

/// Whether a string, or an array of strings, at this path names topics.
pub(super) fn is_topic_name(api_key: i16, path: &str) -> bool {
    let (outside, name) = path.rsplit_once('.').unwrap_or(("", path));
    let around = outside.rsplit('.').next().unwrap_or_default();
    match name {
        "topic" | "topic_name" | "topic_names" | "subscribed_topic_names" => true,
        "name" => match around {
            "topics" | "topic_data" | "responses" | "topic_results" | "v3_and_below_topics" => true,
            "results_by_topic_v3_and_below" => true,
            "results" => api_key == CREATE_PARTITIONS,
            _ => false,
        },
        _ => false,
    }
}

/// Whether a field of a response holds an error code.
pub(super) fn is_error_code(name: &str) -> bool {
    name.ends_with("error_code")
}
