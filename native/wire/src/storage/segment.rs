//! One file of batches, read from its beginning to its end.

use std::io;

use super::index::{Indexes, Passing, Wrong, check_snapshot};
use super::message_set::{Inner, Message};
use super::row::{LogBatchRow, LogProblemRow, LogRecordRow, LogSegmentRow};
use super::window::Window;
use super::{LogFile, MOST_BATCH, Showing};
use crate::exchange::row::{RowSink, Strings};
use crate::kafka::payloads::{CODECS, Reader, Record, codec_name};
use crate::kafka::records::{
    BATCH_HEADER, BatchHeader, CODEC, CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL,
};
use crate::kafka::shown::{Shown, show_headers};
use crate::kafka::unpacking::{Refused, unpack};
use crate::rows::Rows;

/// Offset and length, which the length does not count.
const BEFORE_LENGTH: usize = 12;
/// Offset, length, four bytes that differ, and the magic: what all formats begin with.
const START: usize = 17;
/// What the length of an entry counts at least, by its magic.
const LEAST: [i32; 3] = [14, 22, BATCH_HEADER as i32 - BEFORE_LENGTH as i32];
/// Where the bytes begin that the checksum of a batch of magic 2 is of.
const CHECKED: usize = 21;
/// So many problems of one file are told.
const MOST_PROBLEMS: i64 = 100;
/// So many bytes of zeros at the end are looked at.
const MOST_ZEROS: u64 = 1 << 30;

/// What control records say, by their type.
const CONTROLS: [&str; 7] = [
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
];

/// Why something is a problem.
mod kind {
    pub const UNREADABLE: &str = "unreadable";
    pub const TRUNCATED: &str = "truncated";
    pub const ZEROS: &str = "zeros";
    pub const GARBAGE: &str = "garbage";
    pub const CHECKSUM: &str = "checksum";
    pub const RECORDS: &str = "records";
    pub const ORDER: &str = "order";
    pub const LIMIT: &str = "limit";
    pub const INDEX: &str = "index";
}

/// A file that is being read.
pub(super) struct Segment {
    file: LogFile,
    window: Window,
    /// None beside what is no log.
    indexes: Option<Indexes>,
    sums: Sums,
    problems: i64,
    /// Whether the entry before had a checksum that does not hold.
    is_doubtful: bool,
    /// Records that are told one by one.
    telling: Option<Telling>,
    texts: Strings,
    is_over: bool,
}

#[derive(Default)]
struct Sums {
    batches: i64,
    records: i64,
    control_records: i64,
    first_offset: Option<i64>,
    last_offset: Option<i64>,
    min_timestamp: Option<i64>,
    max_timestamp: Option<i64>,
    leader_epoch: Option<i32>,
    magic: Option<i16>,
    codecs: u8,
}

/// What is left of the records of one entry.
struct Telling {
    position: i64,
    data: Vec<u8>,
    at: usize,
    of: Of,
}

enum Of {
    Batch(BatchHeader, i32),
    /// Messages in one that was compressed.
    Set(Wrapper),
}

struct Wrapper {
    magic: u8,
    codec: u8,
    /// What is added to their offsets.
    base: i64,
    log_append_time: Option<bool>,
    timestamp: Option<i64>,
}

impl Segment {
    /// None where it cannot be opened, which is a problem of its own.
    pub fn open(file: LogFile, buffer: Vec<u8>, rows: &mut Rows) -> Option<Segment> {
        let ending = file
            .path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        if ending == "snapshot" {
            if let Some(detail) = check_snapshot(&file.path) {
                rows.log_problem(&LogProblemRow {
                    file: &file.name,
                    topic: file.topic.as_deref(),
                    partition: file.partition,
                    position: None,
                    kind: kind::INDEX,
                    detail: &detail,
                });
            }
            return None;
        }
        // Before the log: a broker that is writing adds to it first, and to its indexes then.
        let mut wrong = Vec::new();
        let base = file.base_offset.filter(|_| ending == "log");
        let indexes = base.map(|base| Indexes::beside(&file.path, base, &mut wrong));
        match Window::open(&file.path, buffer) {
            Ok(window) => {
                let mut segment = Segment {
                    file,
                    window,
                    indexes,
                    sums: Sums::default(),
                    problems: 0,
                    is_doubtful: false,
                    telling: None,
                    texts: Strings::default(),
                    is_over: false,
                };
                segment.tell_wrong(wrong, rows);
                Some(segment)
            }
            Err(error) => {
                rows.log_problem(&LogProblemRow {
                    file: &file.name,
                    topic: file.topic.as_deref(),
                    partition: file.partition,
                    position: None,
                    kind: kind::UNREADABLE,
                    detail: &reason(&error),
                });
                None
            }
        }
    }

    pub fn position(&self) -> u64 {
        self.window.position()
    }

    /// Reads about so many bytes, or until a batch of rows is full; whether the file is read.
    pub fn read(&mut self, rows: &mut Rows, budget: u64, tells_records: bool, showing: Showing) -> bool {
        let until = self.position().saturating_add(budget);
        loop {
            self.tell_records(rows, showing);
            if rows.is_due() {
                return false;
            }
            if self.is_over || self.window.left() == 0 {
                return true;
            }
            if self.position() >= until {
                return false;
            }
            if let Err(error) = self.entry(rows, tells_records) {
                self.stop(rows, kind::UNREADABLE, &reason(&error));
            }
        }
    }

    /// Tells what the file holds; gives back the buffer.
    pub fn close(mut self, rows: &mut Rows) -> Vec<u8> {
        if let Some(indexes) = self.indexes.take() {
            let mut wrong = Vec::new();
            indexes.finish(!self.is_over && !self.is_doubtful, &mut wrong);
            self.tell_wrong(wrong, rows);
        }
        self.texts.clear();
        for (number, name) in CODECS.iter().enumerate() {
            if self.sums.codecs & 1 << number != 0 {
                self.texts.push(name);
            }
        }
        rows.log_segment(&LogSegmentRow {
            file: &self.file.name,
            topic: self.file.topic.as_deref(),
            partition: self.file.partition,
            bytes: self.window.size() as i64,
            read_bytes: self.window.position() as i64,
            batches: self.sums.batches,
            records: self.sums.records,
            control_records: self.sums.control_records,
            first_offset: self.sums.first_offset,
            last_offset: self.sums.last_offset,
            min_timestamp: self.sums.min_timestamp,
            max_timestamp: self.sums.max_timestamp,
            leader_epoch: self.sums.leader_epoch,
            magic: self.sums.magic,
            codecs: self.texts.some(),
            problems: self.problems,
        });
        self.window.into_buffer()
    }

    /// Reads a batch or a message.
    fn entry(&mut self, rows: &mut Rows, tells_records: bool) -> io::Result<()> {
        let left = self.window.left();
        let head = self.window.peek(START)?;
        let Some(head) = head.first_chunk::<START>() else {
            let is_zero = head.iter().all(|&byte| byte == 0);
            if is_zero {
                return self.zeros(rows);
            }
            self.stop(
                rows,
                kind::TRUNCATED,
                &format!("ends with {left} bytes that begin a batch"),
            );
            return Ok(());
        };
        let length = i32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        let magic = head[16];
        if head.iter().all(|&byte| byte == 0) {
            return self.zeros(rows);
        }
        if LEAST.get(usize::from(magic)).is_none_or(|&least| length < least) {
            self.stop(
                rows,
                kind::GARBAGE,
                &format!("ends with {left} bytes that are no batch"),
            );
            return Ok(());
        }
        let size = BEFORE_LENGTH + length as usize;
        if size as u64 > left {
            let detail = format!("ends with {left} bytes of a batch that says it has {size}");
            self.stop(rows, kind::TRUNCATED, &detail);
            return Ok(());
        }
        if size > MOST_BATCH {
            let detail = format!("a batch of {size} bytes is larger than netdiag looks at; the rest is not read");
            self.stop(rows, kind::LIMIT, &detail);
            return Ok(());
        }
        // The buffer is taken out as long as the entry borrows from it.
        let entry = self.window.peek(size)?;
        let Some(entry) = entry.get(..size) else {
            return Err(io::Error::other("became shorter while it was read"));
        };
        let found = match magic {
            2 => Entry::batch(entry, tells_records),
            _ => Entry::message(entry, tells_records),
        };
        self.take(found, size, rows);
        Ok(())
    }

    fn take(&mut self, found: Entry, size: usize, rows: &mut Rows) {
        let position = self.position() as i64;
        if self.is_doubtful && !found.is_valid {
            let left = self.window.left();
            let detail = format!("ends with {left} bytes behind a damaged batch that are no batch");
            self.stop(rows, kind::GARBAGE, &detail);
            return;
        }
        let file = (&*self.file.name, self.file.topic.as_deref(), self.file.partition);
        rows.log_batch(&found.row(file, position, size as i64));
        self.is_doubtful = !found.is_valid;
        if found.is_valid {
            self.sum(&found, rows);
            if let Some(problem) = &found.problem {
                self.problem(rows, Some(position), kind::RECORDS, problem);
            }
        } else {
            if let Some(indexes) = &mut self.indexes {
                indexes.pass_damaged(position);
            }
            self.problem(
                rows,
                Some(position),
                kind::CHECKSUM,
                "the checksum of a batch does not hold",
            );
        }
        self.telling = found.telling.map(|telling| Telling { position, ..telling });
        self.window.pass(size);
    }

    /// Adds an entry whose checksum holds.
    fn sum(&mut self, found: &Entry, rows: &mut Rows) {
        let sums = &mut self.sums;
        sums.batches += 1;
        let records = found.records.unwrap_or(0);
        if found.flags & CONTROL != 0 && found.magic == 2 {
            sums.control_records += records;
        } else {
            sums.records += records;
        }
        if let Some(&codec) = CODECS.get(usize::from(found.codec)).and(Some(&found.codec)) {
            sums.codecs |= 1 << codec;
        }
        sums.magic = sums.magic.max(Some(i16::from(found.magic)));
        sums.leader_epoch = sums.leader_epoch.max(found.leader_epoch.filter(|&epoch| epoch >= 0));
        sums.max_timestamp = sums.max_timestamp.max(found.max_timestamp);
        if let Some(least) = found.min_timestamp {
            sums.min_timestamp = Some(sums.min_timestamp.map_or(least, |known| known.min(least)));
        }
        let before = sums.last_offset;
        if let (Some(indexes), Some(base_offset), Some(last_offset)) =
            (&mut self.indexes, found.base_offset, found.last_offset)
        {
            indexes.pass(&Passing {
                position: self.window.position() as i64,
                base_offset,
                last_offset,
                max_timestamp: found.max_timestamp,
            });
        }
        sums.first_offset = sums.first_offset.or(found.base_offset);
        sums.last_offset = sums.last_offset.max(found.last_offset);
        let wrong = match (found.base_offset, found.last_offset) {
            (Some(base), Some(last)) if last < base => Some("a batch ends before it begins".to_owned()),
            (Some(base), _) if before.is_some_and(|before| base <= before) => {
                let before = before.unwrap_or_default();
                Some(format!(
                    "a batch begins at offset {base}, and the one before ends at {before}"
                ))
            }
            (Some(base), _) if self.file.base_offset.is_some_and(|least| base < least) => Some(format!(
                "a batch begins at offset {base}, before that of the file's name"
            )),
            (None, _) | (_, None) if found.problem.is_none() => Some("offsets of a batch pass 64 bits".to_owned()),
            _ => None,
        };
        if let Some(wrong) = wrong {
            let position = self.position() as i64;
            self.problem(rows, Some(position), kind::ORDER, &wrong);
        }
    }

    /// The rest of the file begins with zeros.
    fn zeros(&mut self, rows: &mut Rows) -> io::Result<()> {
        let (left, mut looked_at) = (self.window.left(), 0);
        let position = self.position() as i64;
        while self.window.left() > 0 && looked_at < MOST_ZEROS {
            let piece = self.window.peek(START)?;
            let size = piece.len();
            if size == 0 {
                break;
            }
            if piece.iter().any(|&byte| byte != 0) {
                let detail = format!("ends with {left} bytes that begin with zeros, and are no batch");
                self.problem(rows, Some(position), kind::GARBAGE, &detail);
                self.is_over = true;
                return Ok(());
            }
            looked_at += size as u64;
            self.window.pass(size);
        }
        let detail = format!("ends with {left} bytes of zeros, as a segment that was preallocated");
        self.problem(rows, Some(position), kind::ZEROS, &detail);
        self.is_over = true;
        Ok(())
    }

    /// Problems of the indexes, by the names of their files.
    fn tell_wrong(&mut self, wrong: Vec<Wrong>, rows: &mut Rows) {
        for Wrong { ending, detail } in wrong {
            self.problems += 1;
            let name = self.file.name.strip_suffix("log").unwrap_or(&self.file.name);
            rows.log_problem(&LogProblemRow {
                file: &format!("{name}{ending}"),
                topic: self.file.topic.as_deref(),
                partition: self.file.partition,
                position: None,
                kind: kind::INDEX,
                detail: &detail,
            });
        }
    }

    /// The rest of the file is not read.
    fn stop(&mut self, rows: &mut Rows, kind: &str, detail: &str) {
        let position = self.position() as i64;
        self.problem(rows, Some(position), kind, detail);
        self.is_over = true;
    }

    fn problem(&mut self, rows: &mut Rows, position: Option<i64>, kind: &str, detail: &str) {
        self.problems += 1;
        if self.problems <= MOST_PROBLEMS {
            rows.log_problem(&LogProblemRow {
                file: &self.file.name,
                topic: self.file.topic.as_deref(),
                partition: self.file.partition,
                position,
                kind,
                detail,
            });
        }
    }

    /// Rows of the records of the last entry, until a batch of rows is full.
    fn tell_records(&mut self, rows: &mut Rows, showing: Showing) {
        let Some(telling) = &mut self.telling else { return };
        let file = (&*self.file.name, self.file.topic.as_deref(), self.file.partition);
        while !rows.is_due() {
            if !telling.next(file, rows, showing, &mut self.texts) {
                self.telling = None;
                return;
            }
        }
    }
}

/// Name, topic and partition of a file.
type FileOf<'a> = (&'a str, Option<&'a str>, Option<i32>);

/// What one batch or message is.
struct Entry {
    magic: u8,
    codec: u8,
    flags: i16,
    base_offset: Option<i64>,
    last_offset: Option<i64>,
    records: Option<i64>,
    leader_epoch: Option<i32>,
    producer: Option<(i64, i16, i32)>,
    first_timestamp: Option<i64>,
    min_timestamp: Option<i64>,
    max_timestamp: Option<i64>,
    delete_horizon: Option<i64>,
    log_append_time: Option<bool>,
    checksum: u32,
    is_valid: bool,
    /// What is wrong with its records.
    problem: Option<String>,
    telling: Option<Telling>,
}

impl Entry {
    /// Of magic 2; the header is there.
    fn batch(entry: &[u8], tells_records: bool) -> Entry {
        let (header, payload) = entry
            .split_first_chunk::<BATCH_HEADER>()
            .expect("its length was checked");
        let head = BatchHeader::of(header);
        let is_valid = crc32c::crc32c(&entry[CHECKED..]) == head.checksum;
        let has_horizon = head.flags & DELETE_HORIZON != 0;
        let known = |time: i64| (time >= 0).then_some(time);
        let mut made = Entry {
            magic: 2,
            codec: (head.flags & CODEC) as u8,
            flags: head.flags,
            base_offset: Some(head.base_offset),
            last_offset: head.base_offset.checked_add(i64::from(head.last_offset_delta)),
            records: Some(i64::from(head.count)),
            leader_epoch: Some(head.leader_epoch),
            producer: Some((head.producer_id, head.producer_epoch, head.base_sequence)),
            first_timestamp: known(head.first_timestamp).filter(|_| !has_horizon),
            min_timestamp: None,
            max_timestamp: known(head.max_timestamp),
            delete_horizon: has_horizon.then_some(head.first_timestamp),
            log_append_time: Some(head.flags & LOG_APPEND_TIME != 0),
            checksum: head.checksum,
            is_valid,
            problem: None,
            telling: None,
        };
        if !is_valid {
            return made;
        }
        let unpacked = match unpacked(made.codec, payload) {
            Ok(unpacked) => unpacked,
            Err(problem) => {
                made.problem = Some(problem);
                return made;
            }
        };
        match check(unpacked.as_deref().unwrap_or(payload), &head) {
            Ok(min_timestamp) => made.min_timestamp = min_timestamp,
            Err(problem) => {
                made.problem = Some(problem);
                return made;
            }
        }
        let count = head.count;
        made.telling = tells_records.then(|| Telling {
            position: 0,
            data: unpacked.unwrap_or_else(|| payload.to_vec()),
            at: 0,
            of: Of::Batch(head, count),
        });
        made
    }

    /// Of magic 0 or 1.
    fn message(entry: &[u8], tells_records: bool) -> Entry {
        let magic = entry.get(START - 1).copied().unwrap_or_default();
        let mut made = Entry {
            magic,
            codec: 0,
            flags: 0,
            base_offset: None,
            last_offset: None,
            records: None,
            leader_epoch: None,
            producer: None,
            first_timestamp: None,
            min_timestamp: None,
            max_timestamp: None,
            delete_horizon: None,
            log_append_time: None,
            checksum: 0,
            is_valid: false,
            problem: None,
            telling: None,
        };
        let Some(message) = Message::of(entry) else {
            return made;
        };
        made.codec = message.codec;
        made.log_append_time = message.log_append_time;
        made.checksum = message.checksum;
        made.is_valid = message.is_valid;
        made.last_offset = Some(message.offset);
        made.max_timestamp = message.timestamp;
        if message.codec == 0 {
            made.base_offset = Some(message.offset);
            made.records = Some(1);
            (made.first_timestamp, made.min_timestamp) = (message.timestamp, message.timestamp);
            if message.is_valid && tells_records {
                let log_append_time = message.log_append_time;
                made.telling = Some(Telling::of_set(entry.to_vec(), &message, 0, log_append_time));
            }
            return made;
        }
        if message.is_valid {
            match wrapped(&message) {
                Ok((data, base, count, first)) => {
                    made.base_offset = Some(first);
                    made.records = Some(count);
                    if tells_records {
                        made.telling = Some(Telling::of_set(data, &message, base, message.log_append_time));
                    }
                }
                Err(problem) => made.problem = Some(problem),
            }
        }
        made
    }

    fn row<'a>(&self, (file, topic, partition): FileOf<'a>, position: i64, bytes: i64) -> LogBatchRow<'a> {
        let is_batch = self.magic == 2;
        let sequence = self.producer.map(|producer| producer.2);
        let delta = self
            .last_offset
            .zip(self.base_offset)
            .map(|(last, base)| last.wrapping_sub(base));
        LogBatchRow {
            file,
            topic,
            partition,
            position,
            bytes,
            magic: i16::from(self.magic),
            base_offset: self.base_offset,
            last_offset: self.last_offset,
            records: self.records,
            codec: CODECS.get(usize::from(self.codec)).copied().unwrap_or("unknown"),
            leader_epoch: self.leader_epoch,
            producer_id: self.producer.map(|producer| producer.0),
            producer_epoch: self.producer.map(|producer| producer.1),
            base_sequence: sequence,
            last_sequence: sequence.map(|sequence| later(sequence, delta.unwrap_or(0))),
            transactional: is_batch.then_some(self.flags & TRANSACTIONAL != 0),
            control: is_batch.then_some(self.flags & CONTROL != 0),
            first_timestamp: self.first_timestamp,
            max_timestamp: self.max_timestamp,
            log_append_time: self.log_append_time,
            delete_horizon: self.delete_horizon,
            checksum: i64::from(self.checksum),
            checksum_valid: self.is_valid,
        }
    }
}

impl Telling {
    fn of_set(data: Vec<u8>, of: &Message<'_>, base: i64, log_append_time: Option<bool>) -> Telling {
        Telling {
            position: 0,
            data,
            at: 0,
            of: Of::Set(Wrapper {
                magic: of.magic,
                codec: of.codec,
                base,
                log_append_time,
                timestamp: of.timestamp,
            }),
        }
    }

    /// A row of the next record; false where there is none.
    fn next(&mut self, file: FileOf<'_>, rows: &mut Rows, showing: Showing, texts: &mut Strings) -> bool {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let mut reader = Reader { rest };
        match &mut self.of {
            Of::Batch(head, left) => {
                if *left <= 0 {
                    return false;
                }
                let Some(record) = reader.record(head) else {
                    return false;
                };
                *left -= 1;
                self.at += rest.len() - reader.rest.len();
                let is_control = head.flags & CONTROL != 0;
                let facts = Facts {
                    log_append_time: Some(head.flags & LOG_APPEND_TIME != 0),
                    sequence: Some(later(head.base_sequence, i64::from(record.offset_delta))),
                    producer_epoch: Some(head.producer_epoch),
                    is_control,
                };
                tell(&record, &facts, file, self.position, rows, showing, texts);
            }
            Of::Set(wrapper) => {
                let mut messages = Inner::of(rest);
                let is_whole = wrapper.base == 0 && wrapper.codec == 0;
                let Some((message, size)) = messages.next(wrapper.magic) else {
                    return false;
                };
                self.at += size;
                let mut record = message.record();
                record.codec = wrapper.codec;
                record.offset = message.offset.checked_add(wrapper.base);
                if wrapper.log_append_time == Some(true) && !is_whole {
                    record.timestamp = wrapper.timestamp;
                }
                let facts = Facts {
                    log_append_time: wrapper.log_append_time,
                    sequence: None,
                    producer_epoch: None,
                    is_control: false,
                };
                tell(&record, &facts, file, self.position, rows, showing, texts);
            }
        }
        true
    }
}

/// What a record has of its batch.
struct Facts {
    log_append_time: Option<bool>,
    sequence: Option<i32>,
    producer_epoch: Option<i16>,
    is_control: bool,
}

fn tell(
    record: &Record<'_>,
    facts: &Facts,
    (file, topic, partition): FileOf<'_>,
    position: i64,
    rows: &mut Rows,
    showing: Showing,
    texts: &mut Strings,
) {
    let shown = |bytes| showing.payloads.then(|| Shown::of(bytes, showing.most));
    let (key, value) = (record.key.and_then(shown), record.value.and_then(shown));
    if showing.payloads {
        show_headers(&record.headers, showing.most, texts);
    } else {
        let names: smallvec::SmallVec<[_; 4]> = record.headers.iter().map(|(name, _)| (*name, None)).collect();
        show_headers(&names, showing.most, texts);
    }
    let (control, coordinator_epoch) = if facts.is_control {
        control(record)
    } else {
        (None, None)
    };
    let size = |bytes: &[u8]| i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    rows.log_record(&LogRecordRow {
        file,
        topic,
        partition,
        position,
        offset: record.offset.unwrap_or(i64::MAX),
        timestamp: record.timestamp,
        log_append_time: facts.log_append_time,
        sequence: facts.sequence,
        control: control.as_deref(),
        coordinator_epoch,
        key: key.as_ref().map(|it| &*it.text),
        key_encoding: key.as_ref().map(Shown::encoding),
        key_bytes: record.key.map(size),
        value: value.as_ref().map(|it| &*it.text),
        value_encoding: value.as_ref().map(Shown::encoding),
        value_bytes: record.value.map(size),
        headers: texts.some(),
        codec: &codec_name(record.codec),
        producer_id: record.producer_id,
        producer_epoch: facts.producer_epoch,
    });
}

/// What a control record says, and the epoch of the coordinator that ended a transaction.
fn control(record: &Record<'_>) -> (Option<std::borrow::Cow<'static, str>>, Option<i32>) {
    let number = |bytes: Option<&[u8]>, at: usize| {
        let bytes = bytes?.get(at..)?.first_chunk()?;
        Some(i16::from_be_bytes(*bytes))
    };
    let Some(kind) = number(record.key, 2) else {
        return (None, None);
    };
    let name = usize::try_from(kind).ok().and_then(|kind| CONTROLS.get(kind));
    let name = name.map_or_else(|| format!("CONTROL({kind})").into(), |name| (*name).into());
    let epoch = record.value.filter(|_| matches!(kind, 0 | 1));
    let epoch = epoch.and_then(|value| value.get(2..)?.first_chunk());
    (Some(name), epoch.map(|bytes| i32::from_be_bytes(*bytes)))
}

/// What was compressed; None where nothing was.
fn unpacked(codec: u8, data: &[u8]) -> Result<Option<Vec<u8>>, String> {
    if codec == 0 {
        return Ok(None);
    }
    unpack(codec, data, MOST_BATCH)
        .map(Some)
        .map_err(|refused| match refused {
            Refused::Unknown => format!("a batch is compressed with {}", codec_name(codec)),
            Refused::Damaged => format!("a batch is not {}, as it says", codec_name(codec)),
            Refused::Beyond => "a batch unpacks to more than netdiag looks at".to_owned(),
        })
}

/// Whether the records of a batch are as its header says; the earliest of their timestamps.
fn check(data: &[u8], head: &BatchHeader) -> Result<Option<i64>, String> {
    let mut reader = Reader { rest: data };
    let mut least = None;
    let mut before = -1;
    for number in 0..head.count {
        let Some(record) = reader.record(head) else {
            return Err(format!("record {number} of {} in a batch cannot be read", head.count));
        };
        if record.offset_delta <= before || record.offset_delta > head.last_offset_delta || record.offset.is_none() {
            return Err(format!(
                "record {number} of a batch has an offset that is none of its own"
            ));
        }
        before = record.offset_delta;
        if let Some(time) = record.timestamp {
            least = Some(least.map_or(time, |least: i64| least.min(time)));
        }
    }
    if head.count < 0 || !reader.rest.is_empty() {
        return Err(format!(
            "a batch has more than the {} records of its header",
            head.count
        ));
    }
    Ok(least)
}

/// The messages in one that is compressed: their bytes, what is added to their offsets, how many, the first offset.
fn wrapped(wrapper: &Message<'_>) -> Result<(Vec<u8>, i64, i64, i64), String> {
    let data = unpacked(wrapper.codec, wrapper.value.unwrap_or_default())?.unwrap_or_default();
    let mut messages = Inner::of(&data);
    let (mut count, mut first, mut last) = (0, 0, 0);
    while let Some((message, _)) = messages.next(wrapper.magic) {
        if count == 0 {
            first = message.offset;
        }
        last = message.offset;
        count += 1;
    }
    if count == 0 || !messages.is_over() {
        return Err("the messages in a compressed one cannot be read".to_owned());
    }
    // In magic 1 they count from 0, and the last one has the offset of the one around them.
    let base = if wrapper.magic == 1 {
        wrapper.offset.wrapping_sub(last)
    } else {
        0
    };
    let first = first.checked_add(base).ok_or("offsets of messages pass 64 bits")?;
    Ok((data, base, count, first))
}

/// The sequence of a record so much later than the first one: behind the greatest comes 0.
fn later(sequence: i32, delta: i64) -> i32 {
    if sequence < 0 {
        return sequence;
    }
    (i64::from(sequence).wrapping_add(delta) & i64::from(i32::MAX)) as i32
}

/// Why a file cannot be read.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "is not there".to_owned(),
        io::ErrorKind::PermissionDenied => "cannot be read: permission denied".to_owned(),
        _ => error.to_string().to_lowercase(),
    }
}
