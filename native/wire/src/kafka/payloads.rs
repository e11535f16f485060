//! The records of batches with their keys and values, for whoever asks for them.
//!
//! Records come in the order of the wire; what cannot be read is an [`Unread`] in its place. A batch that is not there as
//! a whole is neither: the broker cut it, or the capture, and then it is counted as that. No checksum is taken, control
//! batches (marks of transactions) are passed over. Time and memory are linear in the bytes, and in the bounded number
//! that they unpack to.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::records::{BATCH_HEADER, BatchHeader, CODEC, CONTROL, LOG_APPEND_TIME};
use super::unpacking::{Refused, unpack};

/// The names of the codecs, by their number.
pub const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];
/// So many headers of one record are told.
pub const MOST_HEADERS: usize = 100;

const UNREADABLE: &str = "records that cannot be read";
/// What the length of an entry counts at least, by its magic.
const LEAST: [i32; 3] = [14, 22, BATCH_HEADER as i32 - 12];
/// Offset, length, four bytes that differ, the magic and the attributes of old messages.
const START: usize = 18;

/// The name of a header, and its value.
pub type Header<'a> = (&'a [u8], Option<&'a [u8]>);

/// A record; offset and timestamp (milliseconds since 1970 UTC) are not known beyond 64 bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<'a> {
    pub offset: Option<i64>,
    pub offset_delta: i32,
    pub timestamp: Option<i64>,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub headers: SmallVec<[Header<'a>; 4]>,
    /// Of the batch, see [`CODECS`].
    pub codec: u8,
    pub producer_id: Option<i64>,
}

/// So many bytes of a batch were not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The kind of loss that they count as.
    pub kind: &'static str,
    pub bytes: u64,
    pub detail: String,
}

impl Unread {
    pub const UNDECODED: &'static str = "undecoded";
    pub const LIMIT: &'static str = "limit";

    fn undecoded(bytes: u64, detail: impl Into<String>) -> Unread {
        Unread {
            kind: Unread::UNDECODED,
            bytes,
            detail: detail.into(),
        }
    }
}

/// A codec's name, CODEC(n) for one that Kafka does not have.
pub fn codec_name(codec: u8) -> std::borrow::Cow<'static, str> {
    match CODECS.get(usize::from(codec)) {
        Some(name) => (*name).into(),
        None => format!("CODEC({codec})").into(),
    }
}

/// Gives `take` the records of a partition: `size` bytes, of which `data` was kept; `most` bounds what a batch unpacks
/// to. Breaks off when `take` does.
pub fn records_of(
    data: &[u8],
    size: u64,
    most: usize,
    take: &mut impl FnMut(Result<Record<'_>, Unread>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut rest = data;
    while let Some(head) = rest.first_chunk::<START>() {
        let at = (data.len() - rest.len()) as u64;
        let length = i32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        let (magic, codec) = (head[16], head[17] & 7);
        if LEAST.get(usize::from(magic)).is_none_or(|least| length < *least) {
            return take(Err(Unread::undecoded(size.saturating_sub(at), UNREADABLE)));
        }
        let Some((entry, following)) = rest.split_at_checked(12 + length as usize) else {
            break;
        };
        let bytes = entry.len() as u64;
        if magic == 2 {
            batch(entry, most, take)?;
        } else if codec != 0 {
            let detail = format!("compressed with {} in message format {magic}", codec_name(codec));
            take(Err(Unread::undecoded(bytes, detail)))?;
        } else {
            take(message(entry, magic).ok_or_else(|| Unread::undecoded(bytes, UNREADABLE)))?;
        }
        rest = following;
    }
    ControlFlow::Continue(())
}

/// A message of magic 0 or 1: a record by itself.
fn message(entry: &[u8], magic: u8) -> Option<Record<'_>> {
    let mut reader = Reader { rest: entry };
    let offset = i64::from_be_bytes(reader.chunk()?);
    reader.take(START - 8)?;
    let timestamp = if magic == 1 {
        Some(i64::from_be_bytes(reader.chunk()?))
    } else {
        None
    };
    let length = i32::from_be_bytes(reader.chunk()?);
    let key = reader.sized(length)?;
    let length = i32::from_be_bytes(reader.chunk()?);
    let value = reader.sized(length)?;
    let timestamp = timestamp.filter(|timestamp| *timestamp != -1);
    Some(Record {
        offset: Some(offset),
        timestamp,
        key,
        value,
        ..Record::default()
    })
}

fn batch(
    batch: &[u8],
    most: usize,
    take: &mut impl FnMut(Result<Record<'_>, Unread>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let bytes = batch.len() as u64;
    let Some((header, payload)) = batch.split_first_chunk::<BATCH_HEADER>() else {
        return take(Err(Unread::undecoded(bytes, UNREADABLE)));
    };
    let head = BatchHeader::of(header);
    if head.flags & CONTROL != 0 {
        return ControlFlow::Continue(());
    }
    let codec = (head.flags & CODEC) as u8;
    let unpacked;
    let mut reader = Reader { rest: payload };
    if codec != 0 {
        unpacked = match unpack(codec, payload, most) {
            Ok(unpacked) => unpacked,
            Err(Refused::Unknown) => {
                return take(Err(Unread::undecoded(
                    bytes,
                    format!("compressed with {}", codec_name(codec)),
                )));
            }
            Err(Refused::Damaged) => return take(Err(Unread::undecoded(bytes, UNREADABLE))),
            Err(Refused::Beyond) => {
                let detail = "a record batch that unpacks to too much".to_owned();
                return take(Err(Unread {
                    kind: Unread::LIMIT,
                    bytes,
                    detail,
                }));
            }
        };
        reader.rest = &unpacked;
    }
    for _ in 0..head.count {
        let Some(record) = reader.record(&head) else {
            return take(Err(Unread::undecoded(bytes, UNREADABLE)));
        };
        take(Ok(record))?;
    }
    ControlFlow::Continue(())
}

/// Takes apart what is left of some bytes.
pub(crate) struct Reader<'a> {
    pub rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn chunk<const SIZE: usize>(&mut self) -> Option<[u8; SIZE]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    pub(crate) fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(size)?;
        self.rest = rest;
        Some(taken)
    }

    /// Bytes of a length that is known; -1 is null, and all below is damage.
    pub(crate) fn sized(&mut self, length: i32) -> Option<Option<&'a [u8]>> {
        if length == -1 {
            Some(None)
        } else {
            self.take(usize::try_from(length).ok()?).map(Some)
        }
    }

    /// The next record of a batch.
    pub(crate) fn record(&mut self, batch: &BatchHeader) -> Option<Record<'a>> {
        let length = usize::try_from(self.varint()?).ok()?;
        let mut inside = Reader {
            rest: self.take(length)?,
        };
        inside.take(1)?;
        let later = inside.varlong()?;
        let offset_delta = inside.varint()?;
        let length = inside.varint()?;
        let key = inside.sized(length)?;
        let length = inside.varint()?;
        let value = inside.sized(length)?;
        let count = usize::try_from(inside.varint()?).ok()?;
        if count > inside.rest.len() / 2 {
            return None;
        }
        let mut headers = SmallVec::new();
        for _ in 0..count.min(MOST_HEADERS) {
            let length = inside.varint()?;
            let name = inside.sized(length)?.unwrap_or_default();
            let length = inside.varint()?;
            headers.push((name, inside.sized(length)?));
        }
        let timestamp = if batch.flags & LOG_APPEND_TIME != 0 {
            Some(batch.max_timestamp)
        } else {
            batch.first_timestamp.checked_add(later)
        };
        Some(Record {
            offset: batch.base_offset.checked_add(i64::from(offset_delta)),
            offset_delta,
            timestamp: timestamp.filter(|timestamp| *timestamp >= 0),
            key,
            value,
            headers,
            codec: (batch.flags & CODEC) as u8,
            producer_id: Some(batch.producer_id),
        })
    }

    /// A number of 32 bits in zigzag.
    #[inline]
    fn varint(&mut self) -> Option<i32> {
        let value = u32::try_from(self.unsigned(5)?).ok()?;
        Some((value >> 1) as i32 ^ -((value & 1) as i32))
    }

    /// A number of 64 bits in zigzag.
    #[inline]
    fn varlong(&mut self) -> Option<i64> {
        let value = self.unsigned(10)?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    #[inline]
    fn unsigned(&mut self, most: u32) -> Option<u64> {
        let mut value = 0;
        for place in 0..most {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7F);
            // The tenth byte has room for one bit.
            if place == 9 && bits > 1 {
                return None;
            }
            value |= bits << (7 * place);
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::records::tests::{batch as around, old_message};
    use super::super::unpacking::MOST;
    use super::super::unpacking::tests::{WAYS, packed};
    use super::*;

    const TIME: i64 = 1_700_000_000_500;
    type Told = Vec<Result<(Option<i64>, Option<i64>, String), Unread>>;

    fn varint(number: i64) -> Vec<u8> {
        let mut left = (number << 1 ^ number >> 63) as u64;
        let mut out = Vec::new();
        while left >= 0x80 {
            out.push(left as u8 | 0x80);
            left >>= 7;
        }
        out.push(left as u8);
        out
    }

    fn sized(data: Option<&[u8]>) -> Vec<u8> {
        data.map_or(varint(-1), |data| [varint(data.len() as i64), data.to_vec()].concat())
    }

    fn record(number: i64, key: Option<&[u8]>, value: Option<&[u8]>, headers: &[(&str, Option<&[u8]>)]) -> Vec<u8> {
        let mut out = vec![0];
        out.extend(
            [
                varint(number),
                varint(number),
                sized(key),
                sized(value),
                varint(headers.len() as i64),
            ]
            .concat(),
        );
        for (name, value) in headers {
            out.extend([sized(Some(name.as_bytes())), sized(*value)].concat());
        }
        [varint(out.len() as i64), out].concat()
    }

    fn three() -> Vec<u8> {
        [
            record(0, Some(b"key"), Some(b"value"), &[("name", Some(b"1")), ("none", None)]),
            record(1, None, Some(&[7; 300]), &[]),
            record(2, Some(b""), None, &[]),
        ]
        .concat()
    }

    fn all(data: &[u8], size: u64) -> Told {
        let mut out = Vec::new();
        let _ = records_of(data, size, MOST, &mut |each| {
            out.push(each.map(|record| {
                let text = format!(
                    "{:?}={:?} {:?}",
                    record.key,
                    record.value.map(<[u8]>::len),
                    record.headers.len()
                );
                (record.offset, record.timestamp, text)
            }));
            ControlFlow::Continue(())
        });
        out
    }

    fn told(base: i64) -> Told {
        ["Some([107, 101, 121])=Some(5) 2", "None=Some(300) 0", "Some([])=None 0"]
            .iter()
            .zip(0..)
            .map(|(text, number)| Ok((Some(base + number), Some(TIME + number), (*text).to_owned())))
            .collect()
    }

    #[test]
    fn every_codec_gives_what_was_written() {
        assert_eq!(all(&around(7, 0, 3, &three()), 0), told(7));
        for way in WAYS {
            let (codec, payload) = packed(way, &three());
            let data = [around(7, codec.into(), 3, &payload), around(90, 0, 3, &three())].concat();
            assert_eq!(all(&data, 0), [told(7), told(90)].concat(), "{way}");
        }
    }

    #[test]
    fn where_the_broker_gives_the_time_it_is_that_of_the_batch() {
        let times: Vec<_> = all(&around(0, 8, 3, &three()), 0)
            .into_iter()
            .map(|each| each.unwrap().1)
            .collect();
        assert_eq!(times, [Some(TIME + 3); 3]);
    }

    #[test]
    fn marks_of_transactions_are_no_records() {
        assert_eq!(all(&around(0, 0x20, 3, &three()), 0), []);
    }

    #[test]
    fn offsets_beyond_64_bits_are_not_known() {
        let offsets: Vec<_> = all(&around(i64::MAX - 1, 0, 3, &three()), 0)
            .into_iter()
            .map(|each| each.unwrap().0)
            .collect();
        assert_eq!(offsets, [Some(i64::MAX - 1), Some(i64::MAX), None]);
    }

    #[test]
    fn old_messages_and_their_wrappers() {
        let data = [
            old_message(3, 0, 0, b"value"),
            old_message(4, 1, 0, b"value"),
            old_message(5, 1, 3, b""),
        ]
        .concat();
        let text = "None=Some(5) 0".to_owned();
        let wrapper = Unread::undecoded(34, "compressed with lz4 in message format 1");
        assert_eq!(
            all(&data, 0),
            [
                Ok((Some(3), None, text.clone())),
                Ok((Some(4), Some(TIME + 4), text)),
                Err(wrapper)
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_the_next_batch_read() {
        let (strange, damaged) = (around(0, 6, 3, b"abc"), around(0, 1, 3, b"abc"));
        let (_, bomb) = packed("zstd", &vec![0; MOST]);
        let bomb = around(0, 4, 3, &bomb);
        let more = around(0, 0, 4, &three());
        let data = [
            &strange[..],
            &damaged,
            &bomb,
            &more,
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0 and more",
        ]
        .concat();
        let mut expected = vec![
            Err(Unread::undecoded(64, "compressed with CODEC(6)")),
            Err(Unread::undecoded(64, UNREADABLE)),
            Err(Unread {
                kind: Unread::LIMIT,
                bytes: bomb.len() as u64,
                detail: "a record batch that unpacks to too much".into(),
            }),
        ];
        expected.extend(told(0));
        expected.push(Err(Unread::undecoded(more.len() as u64, UNREADABLE)));
        expected.push(Err(Unread::undecoded(1027, UNREADABLE)));
        assert_eq!(all(&data, data.len() as u64 + 1000), expected);
    }

    #[test]
    fn more_headers_than_are_told() {
        let many = vec![("n", Some(&b"1"[..])); MOST_HEADERS + 9];
        let data = around(0, 0, 1, &record(0, None, None, &many));
        assert_eq!(all(&data, 0), [Ok((Some(0), Some(TIME), "None=None 100".to_owned()))]);
    }

    #[test]
    fn what_is_not_there_as_a_whole_is_left_out() {
        let data = [around(7, 0, 3, &three()), old_message(4, 1, 0, b"value")].concat();
        for kept in 0..data.len() {
            assert_eq!(
                all(&data[..kept], data.len() as u64).len(),
                if kept < data.len() - 39 { 0 } else { 3 }
            );
        }
    }

    #[test]
    fn whoever_takes_may_break_off() {
        let mut taken = 0;
        let _ = records_of(&around(7, 0, 3, &three()), 0, MOST, &mut |_| {
            taken += 1;
            if taken < 2 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        assert_eq!(taken, 2);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_as_far_as_they_go(
            way in prop::sample::select(WAYS.to_vec()),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
            plain in any::<bool>(),
        ) {
            let (codec, payload) = if plain { (0, three()) } else { packed(way, &three()) };
            let mut data = [around(7, codec.into(), 3, &payload), old_message(4, 1, 0, b"value")].concat();
            for (index, value) in damage {
                let at = index.index(data.len());
                data[at] = value;
            }
            let found = all(&data, data.len() as u64);
            prop_assert!(found.len() <= 60_000);
        }
    }
}
