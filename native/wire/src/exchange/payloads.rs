//! The rows of the table `records`: keys and values, which nobody gets who has not asked for payloads.
//!
//! They are made when a message is complete, so that no bytes are held; how many rows are held until they are drained is
//! bounded for all threads together, and so is what batches unpack to.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foldhash::HashSet;

use super::pairing::Header;
use super::row::{RecordRow, RowSink, Strings};
use super::topics::Topics;
use crate::facts::{Decoded, Piece};
use crate::kafka::payloads::{Record, Unread, codec_name, records_of};
use crate::kafka::unpacking;

/// So many bytes of a key, of a value, of the name and of the value of a header are shown.
const MOST_SHOWN: usize = 4096;
/// So many bytes of rows are held until they are drained.
const MOST_HELD: u64 = 64 << 20;
/// What a row takes besides its keys, values and headers.
const ROW: u64 = 256;

/// Room for rows of records, shared by all threads that make them.
#[derive(Clone, Debug)]
pub struct Room(Arc<AtomicU64>);

impl Default for Room {
    fn default() -> Room {
        Room(Arc::new(AtomicU64::new(MOST_HELD)))
    }
}

impl Room {
    /// Takes so many bytes, where there are as many.
    fn take(&self, bytes: u64) -> bool {
        let less = |room: u64| room.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Rows of so many bytes were drained.
    pub fn give_back(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A message that carries records.
pub(super) struct Carrier<'a> {
    pub connection: i64,
    pub header: &'a Header,
    /// When its request was complete.
    pub time: i64,
    pub decoded: Decoded,
    pub record_bytes: i64,
    pub pieces: &'a [Piece],
    /// In a request the broker has not given them offsets yet.
    pub is_request: bool,
}

/// Makes rows until there is no more room.
#[derive(Debug)]
pub(super) struct Payloads {
    room: Room,
    held: u64,
    texts: Strings,
}

impl Payloads {
    pub fn new(room: Room) -> Payloads {
        Payloads {
            room,
            held: 0,
            texts: Strings::default(),
        }
    }

    /// How many bytes of the room the rows since the last time have.
    pub fn held(&mut self) -> u64 {
        std::mem::take(&mut self.held)
    }

    /// Adds the records of a message, of these topics only where there are some; what is not shown is told to `lose`.
    pub fn add(
        &mut self,
        carrier: &Carrier<'_>,
        topics: &Topics,
        wanted: &HashSet<String>,
        rows: &mut impl RowSink,
        lose: &mut impl FnMut(Unread),
    ) {
        if carrier.decoded == Decoded::Failed {
            return;
        }
        let mut seen = 0;
        for piece in carrier.pieces {
            seen += piece.size;
            let is_wanted = wanted.is_empty()
                || piece
                    .topic
                    .as_ref()
                    .is_some_and(|topic| wanted.contains(&*topics.shown(topic)));
            if is_wanted {
                self.piece(carrier, piece, topics, rows, lose);
            }
        }
        let missed = u64::try_from(carrier.record_bytes).unwrap_or(0).saturating_sub(seen);
        if missed > 0 && carrier.decoded == Decoded::Full {
            lose(Unread {
                kind: Unread::LIMIT,
                bytes: missed,
                detail: "records of a message that is too large to keep".into(),
            });
        }
    }

    fn piece(
        &mut self,
        carrier: &Carrier<'_>,
        piece: &Piece,
        topics: &Topics,
        rows: &mut impl RowSink,
        lose: &mut impl FnMut(Unread),
    ) {
        let (topic, topic_id) = topics.both(piece.topic.as_ref());
        let mut number = 0u64;
        let mut take = |found: Result<Record<'_>, Unread>| {
            number += 1;
            let record = match found {
                Ok(record) => record,
                Err(unread) => {
                    lose(unread);
                    return ControlFlow::Continue(());
                }
            };
            let weight = weight(&record);
            if !self.room.take(weight) {
                lose(Unread {
                    kind: Unread::LIMIT,
                    bytes: piece.size,
                    detail: format!("records of a partition from its record {number} on"),
                });
                return ControlFlow::Break(());
            }
            self.held += weight;
            self.row(carrier, piece, (topic, topic_id.as_deref()), &record, rows);
            ControlFlow::Continue(())
        };
        // Broken off is only this partition.
        let _ = records_of(&piece.kept, piece.size, unpacking::MOST, &mut take);
    }

    fn row(
        &mut self,
        carrier: &Carrier<'_>,
        piece: &Piece,
        (topic, topic_id): (Option<&str>, Option<&str>),
        record: &Record<'_>,
        rows: &mut impl RowSink,
    ) {
        let (key, value) = (record.key.map(shown), record.value.map(shown));
        self.texts.clear();
        for (name, value) in &record.headers {
            let name = shown(name);
            match value.map(shown) {
                None => self.texts.push(&name.text),
                Some(value) if value.is_base64 => self.texts.push_all(&[&name.text, "=base64:", &value.text]),
                Some(value) => self.texts.push_all(&[&name.text, "=", &value.text]),
            }
        }
        let size = |bytes: &[u8]| i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        rows.record(&RecordRow {
            time: carrier.time,
            connection: carrier.connection,
            correlation_id: carrier.header.correlation_id,
            api_key: carrier.header.api_key,
            client_id: carrier.header.client_id.as_deref(),
            topic,
            topic_id,
            partition: piece.partition,
            offset: record.offset.filter(|_| !carrier.is_request),
            offset_delta: record.offset_delta,
            timestamp: record.timestamp,
            key: key.as_ref().map(|it| &*it.text),
            key_encoding: key.as_ref().map(Shown::encoding),
            key_bytes: record.key.map(size),
            value: value.as_ref().map(|it| &*it.text),
            value_encoding: value.as_ref().map(Shown::encoding),
            value_bytes: record.value.map(size),
            headers: self.texts.some(),
            codec: &codec_name(record.codec),
            producer_id: record.producer_id,
        });
    }
}

/// The beginning of some bytes, and how it is written.
struct Shown<'a> {
    text: Cow<'a, str>,
    is_base64: bool,
}

impl Shown<'_> {
    fn encoding(&self) -> &'static str {
        if self.is_base64 { "base64" } else { "text" }
    }
}

/// UTF-8 without control characters as it is, anything else as base64.
fn shown(bytes: &[u8]) -> Shown<'_> {
    let head = bytes.get(..MOST_SHOWN).unwrap_or(bytes);
    let text = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        // A character may have been cut.
        Err(error) if error.error_len().is_none() && head.len() < bytes.len() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    match text.filter(|text| !text.contains(is_control)) {
        Some(text) => Shown {
            text: Cow::Borrowed(text),
            is_base64: false,
        },
        None => Shown {
            text: Cow::Owned(STANDARD.encode(head)),
            is_base64: true,
        },
    }
}

/// Those that a terminal may do something with; tabs and ends of lines are text.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r')
}

/// The bytes of a row.
fn weight(record: &Record<'_>) -> u64 {
    let headers = record.headers.iter().flat_map(|(name, value)| [Some(*name), *value]);
    let parts = [record.key, record.value].into_iter().chain(headers);
    let text: u64 = parts.flatten().map(|part| part.len().min(MOST_SHOWN) as u64).sum();
    ROW + text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> (String, &'static str) {
        let shown = shown(bytes);
        (shown.text.to_string(), shown.encoding())
    }

    #[test]
    fn what_is_text_is_shown_as_it_is() {
        assert_eq!(texts(b""), (String::new(), "text"));
        assert_eq!(texts("ä\t語\n".as_bytes()), ("ä\t語\n".into(), "text"));
        for bytes in [&b"\x1b[31m"[..], b"\0", b"\xff", "\u{85}".as_bytes(), b"a\x7f"] {
            assert_eq!(texts(bytes).1, "base64", "{bytes:?}");
        }
        assert_eq!(texts(b"\xff\x00").0, "/wA=");
    }

    #[test]
    fn a_character_may_be_cut_where_the_text_is() {
        let long = "ä".repeat(3000);
        assert_eq!(texts(&long.as_bytes()[..5001]), ("ä".repeat(2048), "text"));
        let odd = format!("x{long}");
        assert_eq!(texts(odd.as_bytes()), (format!("x{}", "ä".repeat(2047)), "text"));
        assert_eq!(texts(&odd.as_bytes()[..4]).1, "base64", "nothing more is to come");
    }
}
