//! The records of one partition, summed up from the headers of their batches without a look at keys and values.
//!
//! Nothing is decompressed, no checksum is taken. Batches of magic 2 have their count in the header (KIP-98). A message
//! set of magic 0 or 1 has none: neighbours that are not compressed are gathered into one batch, and of a compressed
//! wrapper the count is not known. The last batch of a Fetch response may be cut short by the broker; what it would hold
//! is not counted, as no client sees it.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use thin_vec::ThinVec;

use crate::facts::{BatchFacts, Topic};

/// So many bytes of a batch are looked at.
pub const BATCH_HEADER: usize = 61;
/// So many bytes of a message of magic 1 are looked at, eight fewer of one of magic 0.
pub const MESSAGE_HEADER: usize = 26;
/// So many batches of one message have rows; those behind them are counted only.
pub const MOST_BATCHES: usize = 10_000;

/// Offset, length, four bytes that differ, and the magic: what all formats begin with.
const START: usize = 17;
/// Offset and length, which the length does not count.
const BEFORE_LENGTH: u64 = 12;
/// What the length of a batch counts at least.
const LEAST_BATCH: i32 = 49;
const NO_TIMESTAMP: i64 = -1;

pub(crate) const CODEC: i16 = 7;
pub(crate) const LOG_APPEND_TIME: i16 = 8;
pub(crate) const TRANSACTIONAL: i16 = 16;
pub(crate) const CONTROL: i16 = 32;
/// The timestamp of the first record is the time from which on the cleaner may drop tombstones and marks.
pub(crate) const DELETE_HORIZON: i16 = 64;

/// What is known of all batches together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Without control records; not known where a batch was not seen or does not tell.
    pub records: Option<i64>,
    /// Of the last record.
    pub last_offset: Option<i64>,
    /// The greatest, milliseconds since 1970 UTC.
    pub max_timestamp: Option<i64>,
}

/// Where the rows of batches go, if anywhere.
pub type Batches = ThinVec<BatchFacts>;

/// Sums up records of `size` bytes, of which `data` is there, and adds a row for each batch.
pub fn summarise(
    data: &[u8],
    size: usize,
    topic: &Option<Topic>,
    partition: i32,
    mut batches: Option<&mut Batches>,
) -> Summary {
    let data = data.get(..size).unwrap_or(data);
    let size = size as u64;
    let mut records = Some(0i64);
    let mut last_offset = None;
    let mut latest = NO_TIMESTAMP;
    let mut start = 0u64;
    while start < size {
        // Where `start` is behind what is there, nothing of the entry is.
        let rest = usize::try_from(start)
            .ok()
            .and_then(|at| data.get(at..))
            .unwrap_or_default();
        let left = size - start;
        if let Some(header) = rest.first_chunk::<BATCH_HEADER>()
            && header[16] == 2
        {
            let header = BatchHeader::of(header);
            if header.length < LEAST_BATCH || header.count < 0 || header.last_offset_delta < 0 {
                records = None;
                break;
            }
            let bytes = BEFORE_LENGTH + header.length as u64;
            let complete = bytes <= left;
            if complete {
                if header.flags & CONTROL == 0 {
                    records = records.map(|sum| sum + i64::from(header.count));
                }
                last_offset = header.base_offset.checked_add(i64::from(header.last_offset_delta));
                latest = latest.max(header.max_timestamp);
            }
            if let Some(batches) = batches.as_deref_mut()
                && batches.len() < MOST_BATCHES
            {
                batches.push(header.row(topic, partition, bytes.min(left), complete));
            }
            start += bytes;
            continue;
        }
        let Some((row, bytes)) = entry(rest, left, topic, partition) else {
            if !ends_early(rest, left) {
                records = None;
            }
            break;
        };
        if row.complete {
            records = records.and_then(|sum| Some(sum + i64::from(row.records?)));
            last_offset = Some(int64(rest, 0));
            latest = latest.max(row.max_timestamp.unwrap_or(NO_TIMESTAMP));
        }
        if let Some(batches) = batches.as_deref_mut() {
            add(batches, row);
        }
        start += bytes;
    }
    Summary {
        records,
        last_offset,
        max_timestamp: (latest >= 0).then_some(latest),
    }
}

/// The header of a batch of magic 2.
pub(crate) struct BatchHeader {
    pub base_offset: i64,
    pub length: i32,
    pub leader_epoch: i32,
    /// CRC-32C of what follows.
    pub checksum: u32,
    pub flags: i16,
    pub last_offset_delta: i32,
    pub first_timestamp: i64,
    pub max_timestamp: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub base_sequence: i32,
    pub count: i32,
}

impl BatchHeader {
    #[inline]
    pub(crate) fn of(header: &[u8; BATCH_HEADER]) -> BatchHeader {
        fn part<const SIZE: usize>(header: &[u8; BATCH_HEADER], at: usize) -> [u8; SIZE] {
            std::array::from_fn(|index| header[at + index])
        }
        BatchHeader {
            base_offset: i64::from_be_bytes(part(header, 0)),
            length: i32::from_be_bytes(part(header, 8)),
            leader_epoch: i32::from_be_bytes(part(header, 12)),
            checksum: u32::from_be_bytes(part(header, 17)),
            flags: i16::from_be_bytes(part(header, 21)),
            last_offset_delta: i32::from_be_bytes(part(header, 23)),
            first_timestamp: i64::from_be_bytes(part(header, 27)),
            max_timestamp: i64::from_be_bytes(part(header, 35)),
            producer_id: i64::from_be_bytes(part(header, 43)),
            producer_epoch: i16::from_be_bytes(part(header, 51)),
            base_sequence: i32::from_be_bytes(part(header, 53)),
            count: i32::from_be_bytes(part(header, 57)),
        }
    }

    #[inline]
    fn row(&self, topic: &Option<Topic>, partition: i32, bytes: u64, complete: bool) -> BatchFacts {
        BatchFacts {
            topic: topic.clone(),
            partition,
            magic: 2,
            base_offset: Some(self.base_offset),
            last_offset_delta: Some(self.last_offset_delta),
            records: Some(self.count),
            bytes: bytes as i64,
            codec: Some((self.flags & CODEC) as u8),
            producer_id: Some(self.producer_id),
            producer_epoch: Some(self.producer_epoch),
            base_sequence: Some(self.base_sequence),
            transactional: Some(self.flags & TRANSACTIONAL != 0),
            control: Some(self.flags & CONTROL != 0),
            first_timestamp: Some(self.first_timestamp),
            max_timestamp: Some(self.max_timestamp),
            log_append_time: Some(self.flags & LOG_APPEND_TIME != 0),
            complete,
        }
    }
}

/// Whether the last `left` bytes of the records, of which `rest` is there, are the beginning of an entry that the
/// broker cut.
fn ends_early(rest: &[u8], left: u64) -> bool {
    let Some(head) = rest.first_chunk::<START>() else {
        return rest.len() as u64 == left;
    };
    let takes = BEFORE_LENGTH as i64 + i64::from(int32(head, 8));
    // Of a batch with a whole header more is asked than its length.
    let by_length = match head[16] {
        0 | 1 => true,
        2 => left < BATCH_HEADER as u64,
        _ => false,
    };
    by_length && u64::try_from(takes).is_ok_and(|takes| takes > left)
}

/// An older message, or a batch whose header is not there as a whole, with the bytes that it says it takes.
///
/// None for neither. `left` is what the records have from here on, of which `rest` is there.
fn entry(rest: &[u8], left: u64, topic: &Option<Topic>, partition: i32) -> Option<(BatchFacts, u64)> {
    let head = rest.first_chunk::<START>()?;
    let (length, magic) = (int32(head, 8), head[16]);
    let (least, needed) = match magic {
        0 => (14, MESSAGE_HEADER - 8),
        1 => (22, MESSAGE_HEADER),
        2 => (LEAST_BATCH, START),
        _ => return None,
    };
    if length < least || rest.len() < needed {
        return None;
    }
    let declared = BEFORE_LENGTH + length as u64;
    let (bytes, complete) = (declared.min(left) as i64, declared <= left);
    let row = match magic {
        2 => cut_batch(rest, topic, partition, bytes, complete),
        _ => message(rest, magic, topic, partition, bytes, complete),
    };
    Some((row, declared))
}

/// A batch of magic 2 whose header is not there as a whole.
fn cut_batch(rest: &[u8], topic: &Option<Topic>, partition: i32, bytes: i64, complete: bool) -> BatchFacts {
    // The low byte of the attributes.
    let flags = rest.get(22).map(|&flags| i16::from(flags));
    BatchFacts {
        topic: topic.clone(),
        partition,
        magic: 2,
        base_offset: Some(int64(rest, 0)),
        last_offset_delta: None,
        records: None,
        bytes,
        codec: flags.map(|flags| (flags & CODEC) as u8),
        producer_id: None,
        producer_epoch: None,
        base_sequence: None,
        transactional: flags.map(|flags| flags & TRANSACTIONAL != 0),
        control: flags.map(|flags| flags & CONTROL != 0),
        first_timestamp: None,
        max_timestamp: None,
        log_append_time: flags.map(|flags| flags & LOG_APPEND_TIME != 0),
        complete,
    }
}

/// A message of magic 0 or 1; a compressed one holds others, whose number it does not say.
fn message(rest: &[u8], magic: u8, topic: &Option<Topic>, partition: i32, bytes: i64, complete: bool) -> BatchFacts {
    let flags = rest.get(START).copied().unwrap_or_default();
    let codec = flags & CODEC as u8;
    let timestamp = (magic == 1).then(|| int64(rest, 18));
    let plain = codec == 0;
    BatchFacts {
        topic: topic.clone(),
        partition,
        magic: magic as i8,
        base_offset: plain.then(|| int64(rest, 0)),
        last_offset_delta: plain.then_some(0),
        records: plain.then_some(1),
        bytes,
        codec: Some(codec),
        producer_id: None,
        producer_epoch: None,
        base_sequence: None,
        transactional: None,
        control: None,
        first_timestamp: timestamp.filter(|_| plain),
        max_timestamp: timestamp,
        log_append_time: (magic == 1).then_some(flags & LOG_APPEND_TIME as u8 != 0),
        complete,
    }
}

/// Adds the row of an entry; a message that is not compressed becomes one with the one before it.
fn add(batches: &mut Batches, row: BatchFacts) {
    if row.magic < 2
        && row.codec == Some(0)
        && row.complete
        && let Some(before) = batches.last_mut()
        && before.partition == row.partition
        && before.magic == row.magic
        && before.codec == Some(0)
        && before.complete
        && before.log_append_time == row.log_append_time
        && before.topic == row.topic
    {
        let delta = row
            .base_offset
            .unwrap_or(0)
            .checked_sub(before.base_offset.unwrap_or(0));
        before.last_offset_delta = delta
            .and_then(|delta| i32::try_from(delta).ok())
            .filter(|delta| *delta >= 0);
        before.records = Some(before.records.unwrap_or(0).saturating_add(1));
        before.bytes = before.bytes.saturating_add(row.bytes);
        before.max_timestamp = before.max_timestamp.max(row.max_timestamp);
    } else if batches.len() < MOST_BATCHES {
        batches.push(row);
    }
}

/// Eight bytes as a number; whoever asks has seen that they are there.
fn int64(data: &[u8], at: usize) -> i64 {
    data.get(at..)
        .and_then(|data| data.first_chunk())
        .map_or(0, |bytes| i64::from_be_bytes(*bytes))
}

fn int32(data: &[u8], at: usize) -> i32 {
    data.get(at..)
        .and_then(|data| data.first_chunk())
        .map_or(0, |bytes| i32::from_be_bytes(*bytes))
}

/// Sums up records that pass by in pieces: [`summarise`] for a message that is too large to keep.
///
/// Holds the beginning of one batch at most. Where bytes of a header are lost, the rest of the records is stepped over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summariser {
    /// Bytes of the records that have not come yet.
    left: u64,
    /// Of these, so many are not looked at.
    over: u64,
    /// So many bytes of an entry are waited for, of which `carry` has come.
    wanted: usize,
    carry: SmallVec<[u8; BATCH_HEADER]>,
    summary: Summary,
}

impl Summariser {
    /// For records of `size` bytes.
    pub fn new(size: u64) -> Summariser {
        let summary = Summary {
            records: Some(0),
            last_offset: None,
            max_timestamp: None,
        };
        let mut made = Summariser {
            left: size,
            over: 0,
            wanted: 0,
            carry: SmallVec::new(),
            summary,
        };
        made.next_entry();
        made
    }

    /// Whether all bytes of the records came or were lost.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Takes the next bytes and tells how many of them belong to the records.
    pub fn feed(
        &mut self,
        piece: &[u8],
        topic: &Option<Topic>,
        partition: i32,
        mut batches: Option<&mut Batches>,
    ) -> usize {
        let mut rest = piece;
        while self.left > 0 && !rest.is_empty() {
            if self.over > 0 {
                let step = self.over.min(self.left).min(rest.len() as u64);
                self.pass(step);
                rest = rest.get(step as usize..).unwrap_or_default();
                if self.over == 0 {
                    self.next_entry();
                }
                continue;
            }
            let missing = self.wanted.saturating_sub(self.carry.len());
            let taken = rest.get(..missing).unwrap_or(rest);
            self.carry.extend_from_slice(taken);
            self.left = self.left.saturating_sub(taken.len() as u64);
            rest = rest.get(taken.len()..).unwrap_or_default();
            if taken.len() == missing {
                self.read(topic, partition, batches.as_deref_mut());
            }
        }
        piece.len() - rest.len()
    }

    /// The next `count` bytes of the message are not there; tells how many of them belong to the records.
    pub fn lost(&mut self, count: u64) -> u64 {
        let mut rest = count;
        while self.left > 0 && rest > 0 {
            if self.over == 0 {
                self.summary.records = None;
                self.step_over_all();
            }
            let step = self.over.min(self.left).min(rest);
            self.pass(step);
            rest -= step;
            if self.over == 0 {
                self.next_entry();
            }
        }
        count - rest
    }

    /// What is known when the records are over, or when nothing more of the message is to come.
    ///
    /// In the latter case the number of records is known if nothing is missing but bytes that are not looked at, or
    /// the header of what would be the last entry.
    pub fn end(&self) -> Summary {
        let asked_for = self
            .over
            .saturating_add(self.wanted.saturating_sub(self.carry.len()) as u64);
        Summary {
            records: self.summary.records.filter(|_| self.left <= asked_for),
            ..self.summary
        }
    }

    fn pass(&mut self, step: u64) {
        self.over = self.over.saturating_sub(step);
        self.left = self.left.saturating_sub(step);
    }

    fn step_over_all(&mut self) {
        self.carry.clear();
        self.wanted = 0;
        self.over = self.left;
    }

    /// Waits for the beginning of an entry.
    fn next_entry(&mut self) {
        self.carry.clear();
        self.wanted = START.min(usize::try_from(self.left).unwrap_or(START));
    }

    /// All that was waited for is there: the beginning of an entry, or as much of it as is looked at.
    fn read(&mut self, topic: &Option<Topic>, partition: i32, batches: Option<&mut Batches>) {
        // Of the entry and all behind it.
        let size = self.left.saturating_add(self.carry.len() as u64);
        let (header, least) = match self.carry.get(16) {
            Some(0) => (MESSAGE_HEADER - 8, MESSAGE_HEADER as u64),
            Some(1) => (MESSAGE_HEADER, MESSAGE_HEADER as u64 + 8),
            Some(2) => (BATCH_HEADER, BATCH_HEADER as u64),
            _ => (0, u64::MAX),
        };
        let header = header.min(usize::try_from(size).unwrap_or(header));
        if self.carry.len() < header {
            self.wanted = header;
            return;
        }
        let length = i64::from(int32(&self.carry, 8)) + BEFORE_LENGTH as i64;
        let known = u64::try_from(length).ok().filter(|length| *length >= least);
        let stop = known.map_or(size, |length| length.min(size));
        // An entry by itself is the whole of what it takes, or its beginning.
        let one = summarise(
            &self.carry,
            usize::try_from(stop).unwrap_or(usize::MAX),
            topic,
            partition,
            batches,
        );
        let is_batch = self.carry.get(16) == Some(&2);
        self.summary.records = self.summary.records.and_then(|sum| sum.checked_add(one.records?));
        self.summary.last_offset = one.last_offset.or(self.summary.last_offset);
        self.summary.max_timestamp = self.summary.max_timestamp.max(one.max_timestamp);
        if known.is_none() || (one.records.is_none() && is_batch) {
            self.step_over_all();
            return;
        }
        self.over = stop.saturating_sub(self.carry.len() as u64).min(self.left);
        self.carry.clear();
        self.wanted = 0;
        if self.over == 0 {
            self.next_entry();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use thin_vec::thin_vec;

    use super::*;

    const TIME: i64 = 1_700_000_000_500;

    /// A batch of magic 2 around `payload`.
    pub(crate) fn batch(base: i64, flags: i16, count: i32, payload: &[u8]) -> Vec<u8> {
        let mut out = base.to_be_bytes().to_vec();
        out.extend((payload.len() as i32 + LEAST_BATCH).to_be_bytes());
        out.extend([0, 0, 0, 0, 2, 0, 0, 0, 0]);
        out.extend(flags.to_be_bytes());
        out.extend((count - 1).to_be_bytes());
        out.extend(TIME.to_be_bytes());
        out.extend((TIME + 3).to_be_bytes());
        out.extend((-1i64).to_be_bytes());
        out.extend((-1i16).to_be_bytes());
        out.extend((-1i32).to_be_bytes());
        out.extend(count.to_be_bytes());
        out.extend(payload);
        out
    }

    /// A message of magic 0 or 1 with a value and no key.
    pub(crate) fn old_message(base: i64, magic: u8, flags: u8, value: &[u8]) -> Vec<u8> {
        let mut behind = vec![0, 0, 0, 0, magic, flags];
        if magic == 1 {
            behind.extend((TIME + base).to_be_bytes());
        }
        behind.extend((-1i32).to_be_bytes());
        behind.extend((value.len() as i32).to_be_bytes());
        behind.extend(value);
        let mut out = base.to_be_bytes().to_vec();
        out.extend((behind.len() as i32).to_be_bytes());
        out.extend(behind);
        out
    }

    fn topic() -> Option<Topic> {
        Some(Topic::Name("t".into()))
    }

    fn sum(data: &[u8], size: usize) -> (Summary, Batches) {
        let mut batches = Batches::new();
        (summarise(data, size, &topic(), 4, Some(&mut batches)), batches)
    }

    fn summary(records: Option<i64>, last_offset: Option<i64>, max_timestamp: Option<i64>) -> Summary {
        Summary {
            records,
            last_offset,
            max_timestamp,
        }
    }

    /// The same in pieces: their sizes by turns, and below 0 so many lost bytes.
    fn in_pieces(data: &[u8], sizes: &[i64]) -> (Summary, Batches) {
        let (mut made, mut batches, mut at) = (Summariser::new(data.len() as u64), Batches::new(), 0);
        for &size in sizes.iter().cycle().take(1 + 4 * data.len()) {
            let step = (size.unsigned_abs() as usize).min(data.len() - at);
            let taken = if size < 0 {
                made.lost(step as u64) as usize
            } else {
                made.feed(&data[at..at + step], &topic(), 4, Some(&mut batches))
            };
            assert_eq!(taken, step, "all of it belongs to the records");
            at += step;
        }
        (made.end(), batches)
    }

    #[test]
    fn batches_of_magic_2() {
        let data = [batch(100, 1, 3, b"abc"), batch(205, 0, 2, b"")].concat();
        let (total, rows) = sum(&data, data.len());
        assert_eq!(total, summary(Some(5), Some(206), Some(TIME + 3)));
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.base_offset, row.records, row.bytes, row.codec))
            .collect();
        assert_eq!(
            told,
            [(Some(100), Some(3), 64, Some(1)), (Some(205), Some(2), 61, Some(0))]
        );
        assert_eq!((&rows[0].topic, rows[0].partition, rows[0].magic), (&topic(), 4, 2));
    }

    #[test]
    fn control_records_are_no_records() {
        let data = batch(9, CONTROL | TRANSACTIONAL, 1, b"");
        let (total, rows) = sum(&data, data.len());
        assert_eq!(total, summary(Some(0), Some(9), Some(TIME + 3)));
        assert_eq!(
            (rows[0].control, rows[0].transactional, rows[0].records),
            (Some(true), Some(true), Some(1))
        );
    }

    #[test]
    fn message_sets_are_one_batch() {
        for magic in [0, 1] {
            let data: Vec<u8> = (0..3).flat_map(|base| old_message(base, magic, 0, b"value")).collect();
            let latest = (magic == 1).then_some(TIME + 2);
            let (total, rows) = sum(&data, data.len());
            assert_eq!(total, summary(Some(3), Some(2), latest));
            assert_eq!(rows.len(), 1);
            assert_eq!((rows[0].last_offset_delta, rows[0].records), (Some(2), Some(3)));
            assert_eq!((rows[0].bytes, rows[0].max_timestamp), (data.len() as i64, latest));
        }
    }

    #[test]
    fn how_many_a_compressed_wrapper_holds_is_not_known() {
        let data = old_message(7, 1, 1, b"packed");
        let (total, rows) = sum(&data, data.len());
        assert_eq!(total, summary(None, Some(7), Some(TIME + 7)));
        assert_eq!(
            (rows[0].records, rows[0].codec, rows[0].base_offset),
            (None, Some(1), None)
        );
    }

    #[test]
    fn the_last_batch_of_a_fetch_may_be_cut_by_the_broker() {
        let written: [fn(i64) -> Vec<u8>; 3] = [
            |base| old_message(base, 0, 0, b"v"),
            |base| old_message(base, 1, 0, b"v"),
            |base| batch(base, 0, 1, b"v"),
        ];
        for (magic, write) in written.iter().enumerate() {
            let (first, second) = (write(100), write(200));
            for length in 1..second.len() {
                let data = [&first[..], &second[..length]].concat();
                let (total, rows) = sum(&data, data.len());
                let latest = [None, Some(TIME + 100), Some(TIME + 3)][magic];
                assert_eq!(
                    total,
                    summary(Some(1), Some(100), latest),
                    "magic {magic}, {length} bytes"
                );
                assert!(rows[0].complete);
                assert!(rows[1..].iter().all(|row| !row.complete && row.bytes == length as i64));
            }
        }
    }

    #[test]
    fn what_the_capture_cut_is_not_counted_as_none() {
        let data: Vec<u8> = [100, 200, 300]
            .iter()
            .flat_map(|&base| batch(base, 0, 2, b"value"))
            .collect();
        for kept in 0..data.len() {
            let (total, rows) = sum(&data[..kept], data.len());
            assert_eq!(
                total.records.is_none(),
                kept < data.len() * 2 / 3 + BATCH_HEADER,
                "{kept} bytes"
            );
            assert!(rows.iter().all(|row| row.complete));
        }
    }

    #[test]
    fn the_records_of_very_many_batches_are_counted_all() {
        let data = batch(0, 0, 1, b"").repeat(MOST_BATCHES + 7);
        let (total, rows) = sum(&data, data.len());
        assert_eq!(
            (total.records, rows.len()),
            (Some(MOST_BATCHES as i64 + 7), MOST_BATCHES)
        );
        assert_eq!(in_pieces(&data, &[1000]), (total, rows));
    }

    #[test]
    fn a_number_beyond_64_bits_is_not_known() {
        let data = batch(i64::MAX, 0, 2, b"");
        assert_eq!(sum(&data, data.len()).0, summary(Some(2), None, Some(TIME + 3)));
    }

    #[test]
    fn what_is_lost_between_headers_is_not_missed() {
        let data: Vec<u8> = [100, 200]
            .iter()
            .flat_map(|&base| batch(base, 0, 2, &[7; 40]))
            .collect();
        assert_eq!(
            in_pieces(&data, &[61, -40]).0,
            summary(Some(4), Some(201), Some(TIME + 3))
        );
        assert_eq!(
            in_pieces(&data, &[61, -41, 59]).0,
            summary(None, Some(101), Some(TIME + 3))
        );
    }

    #[test]
    fn an_entry_that_the_broker_cut_is_told_alike_however_it_comes() {
        for magic in 0..=3u8 {
            for size in START..=BATCH_HEADER + 2 {
                for length in -13..=BATCH_HEADER as i32 + 2 {
                    let mut data = batch(7, 0, 3, b"more");
                    data.truncate(size);
                    data[8..12].copy_from_slice(&length.to_be_bytes());
                    data[16] = magic;
                    let whole = summarise(&data, size, &None, 0, None);
                    let mut made = Summariser::new(size as u64);
                    made.feed(&data[..9], &None, 0, None);
                    made.feed(&data[9..], &None, 0, None);
                    let told = format!("magic {magic}, {length} of {size} bytes");
                    assert_eq!(made.end().records, whole.records, "{told}");
                    let cut = summarise(&data[..START], size, &None, 0, None);
                    assert!(cut.records.is_none() || cut.records == whole.records, "{told}");
                }
            }
        }
    }

    #[test]
    fn a_message_that_ends_early_has_records_that_were_not_seen_unless_only_payload_is_missing() {
        let data: Vec<u8> = [100, 200]
            .iter()
            .flat_map(|&base| batch(base, 0, 2, &[7; 40]))
            .collect();
        for kept in 0..data.len() {
            let mut made = Summariser::new(data.len() as u64);
            made.feed(&data[..kept], &topic(), 4, None);
            assert_eq!(made.end().records.is_some(), kept >= 101 + 61, "{kept} bytes");
        }
    }

    /// Entries of all formats, whole and strange.
    fn entries() -> impl Strategy<Value = Vec<u8>> {
        let entry = prop_oneof![
            (0..64i16, 0..5i32, 0..90usize).prop_map(|(flags, count, size)| batch(
                count.into(),
                flags,
                count,
                &vec![3; size]
            )),
            (0..2u8, 0..16u8, 0..40usize).prop_map(|(magic, flags, size)| old_message(5, magic, flags, &vec![3; size])),
            prop::collection::vec(any::<u8>(), 0..70),
        ];
        let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
        (prop::collection::vec(entry, 0..6), damage).prop_map(|(parts, damage)| {
            let mut data = parts.concat();
            if !data.is_empty() {
                for (index, value) in damage {
                    let at = index.index(data.len());
                    data[at] = value;
                }
            }
            data
        })
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same(data in entries(), sizes in prop::collection::vec(1..200i64, 1..9)) {
            prop_assert_eq!(in_pieces(&data, &sizes), sum(&data, data.len()));
        }

        #[test]
        fn any_bytes_and_losses_are_taken(
            data in entries(), sizes in prop::collection::vec(-60..90i64, 1..9), size in 0..900usize,
        ) {
            let (total, rows) = sum(&data, size);
            prop_assert!(rows.len() <= data.len() / 17);
            prop_assert!(total.records.is_none_or(|records| records >= 0));
            if sizes.iter().any(|size| *size != 0) {
                in_pieces(&data, &sizes);
            }
        }

        #[test]
        fn a_forged_state_does_no_harm(
            (left, over, wanted) in (any::<u64>(), any::<u64>(), any::<usize>()),
            carry in prop::collection::vec(any::<u8>(), 0..80),
            data in entries(),
        ) {
            let carry = SmallVec::from_vec(carry);
            let mut made = Summariser { left, over, wanted, carry, summary: summary(Some(i64::MAX), None, None) };
            made.feed(&data, &topic(), 4, Some(&mut thin_vec![]));
            made.lost(100);
            made.feed(&data, &topic(), 4, None);
            made.end();
        }
    }
}
