//! The rows of the table `records`: keys and values, which nobody gets who has not asked for payloads.
//!
//! They are made when a message is complete, so that no bytes are held; how many rows are held until they are drained is
//! bounded for all threads together, and so is what batches unpack to.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::HashSet;

use super::pairing::Header;
use super::row::{RecordRow, RowSink, Strings};
use super::topics::Topics;
use crate::facts::{Decoded, Piece};
use crate::kafka::payloads::{Record, Unread, codec_name, records_of};
use crate::kafka::shown::{Shown, show_headers};
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
        let shown = |bytes| Shown::of(bytes, MOST_SHOWN);
        let (key, value) = (record.key.map(shown), record.value.map(shown));
        show_headers(&record.headers, MOST_SHOWN, &mut self.texts);
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

/// The bytes of a row.
fn weight(record: &Record<'_>) -> u64 {
    let headers = record.headers.iter().flat_map(|(name, value)| [Some(*name), *value]);
    let parts = [record.key, record.value].into_iter().chain(headers);
    let text: u64 = parts.flatten().map(|part| part.len().min(MOST_SHOWN) as u64).sum();
    ROW + text
}
