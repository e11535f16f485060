//! From the files in a broker's data directory to rows about what they hold.
//!
//! A file is read once, from its beginning to its end, in pieces; of a batch whose checksum does not hold no record is
//! told. What cannot be read is a problem of the file, and never a row: reading goes on behind one damaged batch only if
//! the next one is whole, because nothing protects the length that leads there. Memory is bounded by the largest batch
//! that is looked into ([`MOST_BATCH`]), time by the bytes of the files and by what they may unpack to.

mod index;
mod message_set;
mod row;
mod segment;
mod window;

use std::path::PathBuf;

pub use row::{CommittedOffsetRow, LogBatchRow, LogProblemRow, LogRecordRow, LogSegmentRow, StoredRecordRow};

use crate::options::Table;
use crate::rows::{Batch, Rows, Shape};
use segment::Segment;

/// A larger batch is not looked into, and none unpacks to more.
pub const MOST_BATCH: usize = 128 << 20;
/// So many bytes of the name of a header are shown, where no payload is.
pub const MOST_SHOWN: usize = 4096;
/// So many bytes of files are read until Python may look whether it was interrupted.
const TURN: u64 = 32 << 20;

/// A file of record batches: a segment of a partition's log with the indexes beside it (`.log`), or a snapshot of the
/// cluster's metadata; or a snapshot of producers (`.snapshot`), which is only checked.
#[derive(Clone, Debug)]
pub struct LogFile {
    pub path: PathBuf,
    /// As rows call it.
    pub name: String,
    pub topic: Option<String>,
    pub partition: Option<i32>,
    /// As its name says; no offset in it may be smaller.
    pub base_offset: Option<i64>,
}

/// What is told of records.
#[derive(Clone, Copy, Debug)]
pub struct Showing {
    /// Whether keys, values and values of headers are.
    pub payloads: bool,
    /// So many bytes of each.
    pub most: usize,
}

/// Reads files one behind the other.
pub struct LogReader {
    files: std::vec::IntoIter<LogFile>,
    current: Option<Segment>,
    rows: Rows,
    showing: Showing,
    tells_records: bool,
    buffer: Vec<u8>,
    passed: u64,
}

impl LogReader {
    /// Gives rows of the tables of these shapes.
    pub fn new(files: Vec<LogFile>, shapes: &[Shape], showing: Showing) -> LogReader {
        LogReader {
            files: files.into_iter(),
            current: None,
            rows: Rows::new(shapes),
            showing,
            tells_records: shapes.iter().any(|shape| shape.table == Table::LogRecords),
            buffer: Vec::new(),
            passed: 0,
        }
    }

    /// Bytes of files that were passed so far.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Reads on for a while; the rows that are ready, or None when all files were read.
    pub fn turn(&mut self) -> Option<Vec<Batch>> {
        let mut budget = TURN;
        loop {
            if self.current.is_none() {
                let Some(file) = self.files.next() else {
                    let rest = self.rows.drain();
                    return (!rest.is_empty()).then_some(rest);
                };
                let buffer = std::mem::take(&mut self.buffer);
                self.current = Segment::open(file, buffer, &mut self.rows);
            }
            if let Some(segment) = &mut self.current {
                let before = segment.position();
                let is_over = segment.read(&mut self.rows, budget, self.tells_records, self.showing);
                let read = segment.position() - before;
                self.passed += read;
                budget = budget.saturating_sub(read);
                if is_over && let Some(segment) = self.current.take() {
                    self.buffer = segment.close(&mut self.rows);
                }
            }
            // A file costs something, even if nothing is in it.
            budget = budget.saturating_sub(1 << 12);
            if self.rows.is_due() {
                return Some(self.rows.drain());
            }
            if budget == 0 {
                return Some(Vec::new());
            }
        }
    }
}
