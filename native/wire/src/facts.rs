//! What the body of a request or a response tells: the values that `exchange` makes rows of.
//!
//! Made by the million and handed from thread to thread, so strings of up to 24 bytes lie in place, an empty list is one
//! word, and what few messages tell stands apart.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use thin_vec::ThinVec;

/// How far a body was decoded, worst last; see column `decoded` of table `exchanges`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Decoded {
    #[default]
    Full,
    Truncated,
    Header,
    Failed,
}

impl Decoded {
    /// As the column has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Decoded::Full => "full",
            Decoded::Truncated => "truncated",
            Decoded::Header => "header",
            Decoded::Failed => "failed",
        }
    }
}

/// A topic: its name, or the 16 bytes of its id where the message has no name (KIP-516).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Topic {
    Name(CompactString),
    Id([u8; 16]),
}

/// One record batch; the columns of table `batches`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchFacts {
    pub topic: Option<Topic>,
    pub partition: i32,
    pub magic: i8,
    pub base_offset: Option<i64>,
    pub last_offset_delta: Option<i32>,
    pub records: Option<i32>,
    pub bytes: i64,
    pub codec: Option<u8>,
    pub producer_id: Option<i64>,
    pub producer_epoch: Option<i16>,
    pub base_sequence: Option<i32>,
    pub transactional: Option<bool>,
    pub control: Option<bool>,
    pub first_timestamp: Option<i64>,
    pub max_timestamp: Option<i64>,
    pub log_append_time: Option<bool>,
    pub complete: bool,
}

/// What a message says of one partition; `offset` is that of the direction, see table `partitions`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartitionFacts {
    pub topic: Option<Topic>,
    pub partition: i32,
    pub group: Option<CompactString>,
    pub error_code: Option<i16>,
    pub offset: Option<i64>,
    pub high_watermark: Option<i64>,
    pub last_stable_offset: Option<i64>,
    pub log_start_offset: Option<i64>,
    pub timestamp: Option<i64>,
    pub leader_id: Option<i32>,
    pub leader_epoch: Option<i32>,
    pub records: Option<i64>,
    pub record_bytes: Option<i64>,
    pub last_offset: Option<i64>,
    pub max_timestamp: Option<i64>,
}

/// An address that a response tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndpointFacts {
    pub node_id: i32,
    pub host: Option<CompactString>,
    pub port: i32,
    pub rack: Option<CompactString>,
    pub coordinator_key: Option<CompactString>,
}

/// A partition's leader; without partition where the topic itself is in error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeaderFacts {
    pub topic: Option<CompactString>,
    pub topic_id: Option<[u8; 16]>,
    pub partition: Option<i32>,
    pub leader_id: Option<i32>,
    pub leader_epoch: Option<i32>,
    pub replicas: Option<i32>,
    pub in_sync: Option<i32>,
    pub error_code: Option<i16>,
}

/// The records of a partition as far as they were kept, and their size; where payloads are wanted only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub topic: Option<Topic>,
    pub partition: i32,
    pub kept: Vec<u8>,
    pub size: u64,
}

/// What the messages of the group protocols tell, in either direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupFacts {
    pub member_id: Option<CompactString>,
    pub instance_id: Option<CompactString>,
    pub generation: Option<i32>,
    pub protocol_type: Option<CompactString>,
    pub protocol: Option<CompactString>,
    pub members: Option<Vec<CompactString>>,
    /// Requests.
    pub session_timeout_ms: Option<i32>,
    pub rebalance_timeout_ms: Option<i32>,
    pub reason: Option<CompactString>,
    pub subscription: Option<Vec<CompactString>>,
    pub owned: Option<Vec<(Topic, i32)>>,
    /// Responses.
    pub leader: Option<CompactString>,
    pub assignment: Option<Vec<(Topic, i32)>>,
}

/// What both directions tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub decoded: Decoded,
    pub topics: SmallVec<[Topic; 1]>,
    /// Pairs of topic id and name.
    pub names: ThinVec<([u8; 16], CompactString)>,
    pub group: Option<CompactString>,
    pub transactional_id: Option<CompactString>,
    pub partitions: ThinVec<PartitionFacts>,
    pub batches: ThinVec<BatchFacts>,
    pub pieces: ThinVec<Piece>,
    pub records: Option<i64>,
    pub record_bytes: Option<i64>,
    pub session_id: Option<i32>,
    pub of_group: Option<Box<GroupFacts>>,
}

/// What the requests that open a connection tell of the client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientFacts {
    pub software_name: Option<CompactString>,
    pub software_version: Option<CompactString>,
    pub sasl_mechanism: Option<CompactString>,
}

/// What a request tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestFacts {
    pub both: Facts,
    pub acks: Option<i16>,
    pub wait_ms: Option<i32>,
    /// Of a Fetch, from the field or the tag `replica_state`.
    pub replica_id: Option<i32>,
    pub session_epoch: Option<i32>,
    pub forgotten: ThinVec<(Topic, i32)>,
    pub client: Option<Box<ClientFacts>>,
    pub coordinator_keys: ThinVec<CompactString>,
    pub key_type: Option<i8>,
    pub committed: Option<bool>,
}

/// What a response tells of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterFacts {
    pub cluster_id: Option<CompactString>,
    pub controller_id: Option<i32>,
}

/// What a response tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseFacts {
    pub both: Facts,
    /// The first that is not 0 in the order of the wire, else 0.
    pub error_code: Option<i16>,
    pub throttle_ms: Option<i32>,
    pub empty: Option<bool>,
    pub endpoints: ThinVec<EndpointFacts>,
    pub leaders: ThinVec<LeaderFacts>,
    pub cluster: Option<Box<ClusterFacts>>,
}
