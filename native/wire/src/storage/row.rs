//! The rows of the tables of logs, in the order of the columns in `netdiag/traffic/tables.json`.
//!
//! Timestamps are milliseconds since 1970 UTC.

use crate::exchange::row::List;

/// A row of `log_segments`: what one file of batches holds; sums are over batches whose checksum holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSegmentRow<'a> {
    pub file: &'a str,
    pub topic: Option<&'a str>,
    pub partition: Option<i32>,
    pub bytes: i64,
    pub read_bytes: i64,
    pub batches: i64,
    pub records: i64,
    pub control_records: i64,
    pub first_offset: Option<i64>,
    pub last_offset: Option<i64>,
    pub min_timestamp: Option<i64>,
    pub max_timestamp: Option<i64>,
    pub leader_epoch: Option<i32>,
    pub magic: Option<i16>,
    pub codecs: Option<List<'a>>,
    pub problems: i64,
}

/// A row of `log_batches`: one batch, or one message of an older format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogBatchRow<'a> {
    pub file: &'a str,
    pub topic: Option<&'a str>,
    pub partition: Option<i32>,
    pub position: i64,
    pub bytes: i64,
    pub magic: i16,
    pub base_offset: Option<i64>,
    pub last_offset: Option<i64>,
    pub records: Option<i64>,
    pub codec: &'a str,
    pub leader_epoch: Option<i32>,
    pub producer_id: Option<i64>,
    pub producer_epoch: Option<i16>,
    pub base_sequence: Option<i32>,
    pub last_sequence: Option<i32>,
    pub transactional: Option<bool>,
    pub control: Option<bool>,
    pub first_timestamp: Option<i64>,
    pub max_timestamp: Option<i64>,
    pub log_append_time: Option<bool>,
    pub delete_horizon: Option<i64>,
    pub checksum: i64,
    pub checksum_valid: bool,
}

/// A row of `log_records`: one record; key and value only where they are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRecordRow<'a> {
    pub file: &'a str,
    pub topic: Option<&'a str>,
    pub partition: Option<i32>,
    pub position: i64,
    pub offset: i64,
    pub timestamp: Option<i64>,
    pub log_append_time: Option<bool>,
    pub sequence: Option<i32>,
    pub control: Option<&'a str>,
    pub coordinator_epoch: Option<i32>,
    pub key: Option<&'a str>,
    pub key_encoding: Option<&'a str>,
    pub key_bytes: Option<i64>,
    pub value: Option<&'a str>,
    pub value_encoding: Option<&'a str>,
    pub value_bytes: Option<i64>,
    pub headers: Option<List<'a>>,
    pub codec: &'a str,
    pub producer_id: Option<i64>,
    pub producer_epoch: Option<i16>,
}

/// A row of `log_problems`: what is wrong with a file, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogProblemRow<'a> {
    pub file: &'a str,
    pub topic: Option<&'a str>,
    pub partition: Option<i32>,
    pub position: Option<i64>,
    pub kind: &'a str,
    pub detail: &'a str,
}

/// A row of `stored_records`: a record of an internal topic in words. Made where its layout is known, not here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredRecordRow<'a> {
    pub file: &'a str,
    pub topic: Option<&'a str>,
    pub partition: Option<i32>,
    pub offset: i64,
    pub timestamp: Option<i64>,
    pub kind: &'a str,
    pub version: Option<i16>,
    pub key: Option<&'a str>,
    pub value: Option<&'a str>,
}

/// A row of `committed_offsets`: what a group committed last for a partition. Made of stored records, not here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommittedOffsetRow<'a> {
    pub group: &'a str,
    pub topic: &'a str,
    pub partition: i32,
    pub offset: i64,
    pub leader_epoch: Option<i32>,
    pub metadata: Option<&'a str>,
    pub commit_timestamp: Option<i64>,
    pub topic_id: Option<&'a str>,
    pub file: &'a str,
}
