//! What is kept of every batch, as numbers one behind the other: the sequences that a producer sent, and where batches lie
//! in the log. Who needs which of them is known only when everything was read.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{Field, Schema};
use foldhash::HashMap;

use super::fold::{array, field};
use super::texts::Texts;
use super::{Folded, Topic};
use crate::rows::Kind;

/// So many bytes of numbers are held at most.
const MOST_BYTES: usize = 64 << 20;
/// From so many places on, those that are told twice are looked for.
const SOME: usize = 256;

/// Who numbers batches: a producer's sequences are those of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Producer {
    pub host: u32,
    pub client_id: Option<u32>,
    pub named: Topic,
    pub partition: i32,
    pub id: i64,
    pub epoch: Option<i16>,
}

/// Where a batch lies, and the times of its first and last record in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp {
    pub base: i64,
    pub last: i64,
    pub first_stamp: i64,
    pub last_stamp: i64,
}

pub(super) const SEQUENCES: &str = "sequences";
pub(super) const STAMPS: &str = "stamps";

/// Those that are wanted.
#[derive(Debug)]
pub(super) struct Runs {
    sequences: Option<HashMap<Producer, Vec<i32>>>,
    stamps: Option<HashMap<(Topic, i32), Vec<Stamp>>>,
    bytes: usize,
}

impl Runs {
    /// Nothing yet, of sequences and of stamps if they are wanted.
    pub fn new(sequences: bool, stamps: bool) -> Runs {
        Runs {
            sequences: sequences.then(HashMap::default),
            stamps: stamps.then(HashMap::default),
            bytes: 0,
        }
    }

    /// Keeps the sequence of a batch, as often as it is sent.
    pub fn sequence(&mut self, producer: Producer, base: i32) {
        let Some(sequences) = &mut self.sequences else { return };
        sequences.entry(producer).or_default().push(base);
        self.bytes += size_of::<i32>();
    }

    /// Keeps the place of a batch, which is mostly told several times: by who produces, copies and fetches it.
    pub fn stamp(&mut self, topic: Topic, partition: i32, stamp: Stamp) {
        let Some(stamps) = &mut self.stamps else { return };
        let known = stamps.entry((topic, partition)).or_default();
        if known.len() == known.capacity() && known.len() >= SOME {
            let before = known.len();
            known.sort_unstable();
            known.dedup();
            self.bytes -= (before - known.len()) * size_of::<Stamp>();
        }
        known.push(stamp);
        self.bytes += size_of::<Stamp>();
    }

    /// How many producers and partitions are held.
    pub fn held(&self) -> usize {
        let sequences = self.sequences.as_ref().map_or(0, HashMap::len);
        sequences + self.stamps.as_ref().map_or(0, HashMap::len)
    }

    /// Whether it is time to give away what is held.
    pub fn are_full(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// All that is held, a row for each producer and for each partition.
    pub fn take(&mut self, texts: &Texts) -> impl Iterator<Item = Folded> {
        self.bytes = 0;
        let sequences = self.sequences.as_mut().map(|held| Folded {
            name: SEQUENCES,
            rows: sequences(std::mem::take(held), texts),
        });
        let stamps = self.stamps.as_mut().map(|held| Folded {
            name: STAMPS,
            rows: stamps(std::mem::take(held), texts),
        });
        sequences.into_iter().chain(stamps)
    }
}

fn sequences(held: HashMap<Producer, Vec<i32>>, texts: &Texts) -> RecordBatch {
    let (producers, bases): (Vec<Producer>, Vec<Vec<i32>>) = held.into_iter().unzip();
    let lengths: Vec<usize> = bases.iter().map(Vec::len).collect();
    let bases: ArrayRef = Arc::new(Int32Array::from(bases.concat()));
    let text = |of: fn(&Producer) -> Option<u32>| {
        array(
            Kind::String,
            producers.iter().map(|each| of(each).map(u64::from)),
            texts,
        )
    };
    let int = |kind, of: fn(&Producer) -> Option<i64>| {
        array(
            kind,
            producers.iter().map(|each| of(each).map(i64::cast_unsigned)),
            texts,
        )
    };
    table([
        ("client", text(|each| Some(each.host))),
        ("client_id", text(|each| each.client_id)),
        ("topic", text(|each| each.named.topic)),
        ("topic_id", text(|each| each.named.topic_id)),
        ("partition", int(Kind::Int32, |each| Some(each.partition.into()))),
        ("producer_id", int(Kind::Int64, |each| Some(each.id))),
        ("producer_epoch", int(Kind::Int16, |each| each.epoch.map(i64::from))),
        ("base_sequence", list(&lengths, bases)),
    ])
}

fn stamps(held: HashMap<(Topic, i32), Vec<Stamp>>, texts: &Texts) -> RecordBatch {
    let (places, mut stamps): (Vec<(Topic, i32)>, Vec<Vec<Stamp>>) = held.into_iter().unzip();
    for each in &mut stamps {
        each.sort_unstable();
        each.dedup();
    }
    let lengths: Vec<usize> = stamps.iter().map(Vec::len).collect();
    let numbers = |of: fn(&Stamp) -> i64| {
        let values: Int64Array = stamps.iter().flatten().map(|stamp| Some(of(stamp))).collect();
        list(&lengths, Arc::new(values))
    };
    let text = |of: fn(&Topic) -> Option<u32>| {
        array(
            Kind::String,
            places.iter().map(|(topic, _)| of(topic).map(u64::from)),
            texts,
        )
    };
    let partitions = places
        .iter()
        .map(|(_, partition)| Some(i64::from(*partition).cast_unsigned()));
    table([
        ("topic", text(|topic| topic.topic)),
        ("topic_id", text(|topic| topic.topic_id)),
        ("partition", array(Kind::Int32, partitions, texts)),
        ("_base", numbers(|stamp| stamp.base)),
        ("_last", numbers(|stamp| stamp.last)),
        ("_first_stamp", numbers(|stamp| stamp.first_stamp)),
        ("_last_stamp", numbers(|stamp| stamp.last_stamp)),
    ])
}

fn list(lengths: &[usize], values: ArrayRef) -> ArrayRef {
    let element = Arc::new(Field::new("element", values.data_type().clone(), true));
    Arc::new(ListArray::new(
        element,
        OffsetBuffer::from_lengths(lengths.iter().copied()),
        values,
        None,
    ))
}

fn table<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    let fields = columns
        .iter()
        .map(|(name, array)| field(name, array.data_type().clone(), "key"));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(schema), arrays).expect("arrays are as long as each other")
}
