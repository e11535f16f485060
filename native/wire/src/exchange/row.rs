//! The rows of the tables, as whoever makes them hands them over: plain values and borrowed text.
//!
//! The fields stand in the order of the columns in `netdiag/traffic/tables.json`, which says what each means. All
//! times are nanoseconds since 1970 UTC.

use crate::storage::{CommittedOffsetRow, LogBatchRow, LogProblemRow, LogRecordRow, LogSegmentRow, StoredRecordRow};

/// Some texts of one cell, one behind the other.
///
/// They are equal where the texts are, so that a builder can take `text` as a whole and shift `ends`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List<'a> {
    /// All texts without anything between them.
    pub text: &'a str,
    /// Where each ends in `text`, in bytes.
    pub ends: &'a [u32],
}

impl<'a> List<'a> {
    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Each text.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let (text, mut start) = (self.text, 0);
        self.ends.iter().map(move |&end| {
            let each = text.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            each
        })
    }
}

/// Where the texts of a [`List`] are put together; used again and again.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    /// Without any text.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// One more text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.end();
    }

    /// One more text, put together of several pieces.
    pub fn push_all(&mut self, pieces: &[&str]) {
        for piece in pieces {
            self.text.push_str(piece);
        }
        self.end();
    }

    /// Ends a text; texts of more than 4 GB in all have no place in a cell and are cut there.
    fn end(&mut self) {
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// What there is so far.
    pub fn list(&self) -> List<'_> {
        List {
            text: &self.text,
            ends: &self.ends,
        }
    }

    /// What there is so far, unless there is nothing.
    pub fn some(&self) -> Option<List<'_>> {
        (!self.ends.is_empty()).then(|| self.list())
    }
}

/// A row of `exchanges`: one request and its response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExchangeRow<'a> {
    pub time: i64,
    pub client: &'a str,
    pub broker: &'a str,
    pub api_key: Option<i16>,
    pub api_name: Option<&'a str>,
    pub api_version: Option<i16>,
    pub correlation_id: i32,
    pub client_id: Option<&'a str>,
    pub request_bytes: Option<i64>,
    pub response_bytes: Option<i64>,
    pub latency_ms: Option<f64>,
    pub error_code: Option<i16>,
    pub topics: Option<List<'a>>,
    pub group: Option<&'a str>,
    pub decoded: &'a str,
    pub outcome: &'a str,
    pub response_time: Option<i64>,
    pub service_ms: Option<f64>,
    pub wait_ms: Option<i32>,
    pub empty: Option<bool>,
    pub throttle_ms: Option<i32>,
    pub acks: Option<i16>,
    pub records: Option<i64>,
    pub record_bytes: Option<i64>,
    pub transactional_id: Option<&'a str>,
    pub replica_id: Option<i32>,
    pub client_name: Option<&'a str>,
    pub broker_name: Option<&'a str>,
    pub listener: Option<&'a str>,
    pub connection: i64,
    pub request_packet: Option<i64>,
    pub response_packet: Option<i64>,
    pub file: &'a str,
    pub committed: Option<bool>,
}

/// A row of `partitions`: one partition that a request or its response names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartitionRow<'a> {
    pub time: i64,
    pub connection: i64,
    pub correlation_id: i32,
    pub api_key: i16,
    pub client_id: Option<&'a str>,
    pub group: Option<&'a str>,
    pub topic: Option<&'a str>,
    pub topic_id: Option<&'a str>,
    pub partition: i32,
    pub error_code: Option<i16>,
    pub records: Option<i64>,
    pub record_bytes: Option<i64>,
    pub request_offset: Option<i64>,
    pub response_offset: Option<i64>,
    pub last_offset: Option<i64>,
    pub high_watermark: Option<i64>,
    pub last_stable_offset: Option<i64>,
    pub log_start_offset: Option<i64>,
    pub timestamp: Option<i64>,
    pub max_timestamp: Option<i64>,
    pub leader_id: Option<i32>,
    pub leader_epoch: Option<i32>,
    pub replica_id: Option<i32>,
    pub session_id: Option<i32>,
}

/// A row of `batches`: one record batch that was produced or fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchRow<'a> {
    pub time: i64,
    pub connection: i64,
    pub correlation_id: i32,
    pub api_key: i16,
    pub client_id: Option<&'a str>,
    pub topic: Option<&'a str>,
    pub topic_id: Option<&'a str>,
    pub partition: i32,
    pub magic: i16,
    pub base_offset: Option<i64>,
    pub last_offset_delta: Option<i32>,
    pub records: Option<i64>,
    pub bytes: i64,
    pub codec: Option<&'a str>,
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

/// A row of `group_events`: one exchange of a group protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupEventRow<'a> {
    pub time: i64,
    pub response_time: Option<i64>,
    pub connection: i64,
    pub correlation_id: i32,
    pub api_key: i16,
    pub group: Option<&'a str>,
    pub client: &'a str,
    pub broker: &'a str,
    pub client_id: Option<&'a str>,
    pub member_id: Option<&'a str>,
    pub instance_id: Option<&'a str>,
    pub generation: Option<i32>,
    pub protocol_type: Option<&'a str>,
    pub protocol: Option<&'a str>,
    pub leader: Option<&'a str>,
    pub members: Option<List<'a>>,
    pub subscription: Option<List<'a>>,
    pub owned: Option<List<'a>>,
    pub assignment: Option<List<'a>>,
    pub session_timeout_ms: Option<i32>,
    pub rebalance_timeout_ms: Option<i32>,
    pub reason: Option<&'a str>,
    pub error_code: Option<i16>,
    pub wait_ms: Option<f64>,
}

/// A row of `endpoints`: one address of a broker that a response told a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndpointRow<'a> {
    pub time: i64,
    pub connection: i64,
    pub correlation_id: i32,
    pub api_key: i16,
    pub client: &'a str,
    pub broker: &'a str,
    pub client_id: Option<&'a str>,
    pub node_id: i32,
    pub host: &'a str,
    pub port: i32,
    pub rack: Option<&'a str>,
    pub cluster_id: Option<&'a str>,
    pub controller_id: Option<i32>,
    pub coordinator_key: Option<&'a str>,
}

/// A row of `leaders`: one partition's leader as a Metadata or DescribeTopicPartitions response tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaderRow<'a> {
    pub time: i64,
    pub connection: i64,
    pub correlation_id: i32,
    pub topic: Option<&'a str>,
    pub topic_id: Option<&'a str>,
    pub partition: Option<i32>,
    pub leader_id: Option<i32>,
    pub leader_epoch: Option<i32>,
    pub replicas: Option<i32>,
    pub in_sync: Option<i32>,
    pub error_code: Option<i16>,
}

/// A row of `connections`: one TCP connection between a client and a broker, or an attempt at one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionRow<'a> {
    pub connection: i64,
    pub client: &'a str,
    pub broker: &'a str,
    pub first_time: i64,
    pub last_time: i64,
    pub opening: &'a str,
    pub ending: &'a str,
    pub handshake_ms: Option<f64>,
    pub protocol: &'a str,
    pub sasl_mechanism: Option<&'a str>,
    pub server_name: Option<&'a str>,
    pub client_software: Option<&'a str>,
    pub client_id: Option<&'a str>,
    pub client_packets: i64,
    pub broker_packets: i64,
    pub client_bytes: i64,
    pub broker_bytes: i64,
    pub requests: i64,
    pub responses: i64,
    pub retransmissions: i64,
    pub out_of_order: i64,
    pub duplicates: i64,
    pub zero_windows: i64,
    pub keep_alives: i64,
    pub lost_bytes: i64,
    pub truncated_bytes: i64,
    pub seen_as: Option<List<'a>>,
    pub interfaces: Option<List<'a>>,
    pub digest: Option<i64>,
    pub relay_of: Option<i64>,
    pub client_name: Option<&'a str>,
    pub broker_name: Option<&'a str>,
    pub listener: Option<&'a str>,
    pub file: &'a str,
}

/// A row of `names`: one DNS question and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameRow<'a> {
    pub time: i64,
    pub client: &'a str,
    pub server: &'a str,
    pub name: &'a str,
    /// The column `type`.
    pub kind: &'a str,
    pub result: &'a str,
    pub addresses: Option<List<'a>>,
    pub latency_ms: Option<f64>,
}

/// A row of `losses`: bytes that could not be decoded, with the reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRow<'a> {
    pub file: &'a str,
    pub time: Option<i64>,
    pub connection: Option<i64>,
    pub direction: Option<&'a str>,
    pub kind: &'a str,
    pub bytes: i64,
    pub times: i64,
    pub detail: Option<&'a str>,
}

/// A row of `records`: one record with its key and value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordRow<'a> {
    pub time: i64,
    pub connection: i64,
    pub correlation_id: i32,
    pub api_key: i16,
    pub client_id: Option<&'a str>,
    pub topic: Option<&'a str>,
    pub topic_id: Option<&'a str>,
    pub partition: i32,
    pub offset: Option<i64>,
    pub offset_delta: i32,
    pub timestamp: Option<i64>,
    pub key: Option<&'a str>,
    pub key_encoding: Option<&'a str>,
    pub key_bytes: Option<i64>,
    pub value: Option<&'a str>,
    pub value_encoding: Option<&'a str>,
    pub value_bytes: Option<i64>,
    pub headers: Option<List<'a>>,
    pub codec: &'a str,
    pub producer_id: Option<i64>,
}

/// A row of `packets`: one packet as a capture file holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRow<'a> {
    pub time: i64,
    pub file: &'a str,
    pub number: i64,
    pub interface: &'a str,
    pub link_type: i32,
    pub length: i64,
    pub captured: i64,
}

/// A row of `segments`: one TCP segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentRow<'a> {
    pub time: i64,
    pub file: &'a str,
    pub number: i64,
    pub interface: &'a str,
    pub source: &'a str,
    pub destination: &'a str,
    pub sequence: i64,
    pub acknowledgement: i64,
    pub flags: i16,
    pub window: i32,
    pub length: i64,
    pub captured: i64,
}

/// Takes rows, a method for each table.
pub trait RowSink {
    /// The rows to come are those of the work at this place of a round; where rows of several workers are put in order.
    fn go_to(&mut self, _order: u32) {}

    fn exchange(&mut self, row: &ExchangeRow<'_>);
    fn partition(&mut self, row: &PartitionRow<'_>);
    fn batch(&mut self, row: &BatchRow<'_>);
    fn group_event(&mut self, row: &GroupEventRow<'_>);
    fn endpoint(&mut self, row: &EndpointRow<'_>);
    fn leader(&mut self, row: &LeaderRow<'_>);
    fn connection(&mut self, row: &ConnectionRow<'_>);
    fn name(&mut self, row: &NameRow<'_>);
    fn loss(&mut self, row: &LossRow<'_>);
    fn record(&mut self, row: &RecordRow<'_>);
    fn packet(&mut self, row: &PacketRow<'_>);
    fn segment(&mut self, row: &SegmentRow<'_>);

    // Nobody but `storage` has these.
    fn log_segment(&mut self, _row: &LogSegmentRow<'_>) {}
    fn log_batch(&mut self, _row: &LogBatchRow<'_>) {}
    fn log_record(&mut self, _row: &LogRecordRow<'_>) {}
    fn log_problem(&mut self, _row: &LogProblemRow<'_>) {}
    fn stored_record(&mut self, _row: &StoredRecordRow<'_>) {}
    fn committed_offset(&mut self, _row: &CommittedOffsetRow<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_its_texts_back() {
        let mut strings = Strings::default();
        assert_eq!(strings.some(), None);
        strings.push("one");
        strings.push("");
        strings.push_all(&["t", "-", "3"]);
        assert_eq!(strings.list().iter().collect::<Vec<_>>(), ["one", "", "t-3"]);
        assert_eq!(strings.list().len(), 3);
        strings.clear();
        assert!(strings.list().is_empty());
    }
}
