//! What the threads of an engine hand to each other.

use std::sync::Arc;

use compact_str::CompactString;

use crate::decode::names::NameRow;
use crate::exchange::{Event, FreeRequests, Lessons, Sum};
use crate::flow::Entry;
use crate::message::Spoken;
use crate::packet::Segment;
use crate::tcp::{Figures, Loss};

/// A segment without its payload, which lies in a piece at `begin`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Light {
    time: i64,
    number: u64,
    begin: u32,
    kept: u32,
    length: u32,
    sequence: u32,
    acknowledgement: u32,
    window: u32,
    identification: i32,
    interface: u32,
    file: u32,
    flags: u8,
    window_scale: i8,
    pub side: u8,
}

impl Light {
    /// Of a segment whose payload lies in these bytes.
    #[inline]
    pub fn new(segment: &Segment<'_>, side: u8, bytes: &[u8]) -> Light {
        let begin = (segment.payload.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        let is_inside = begin
            .checked_add(segment.payload.len())
            .is_some_and(|end| end <= bytes.len());
        let (begin, kept) = if is_inside {
            (begin, segment.payload.len())
        } else {
            (0, 0)
        };
        Light {
            time: segment.time,
            number: segment.number,
            begin: begin as u32,
            kept: kept as u32,
            length: segment.length,
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            window: segment.window,
            identification: segment.identification,
            interface: segment.interface,
            file: segment.file,
            flags: segment.flags,
            window_scale: segment.window_scale,
            side,
        }
    }

    /// Looks at where a message may begin in its payload.
    #[inline]
    pub fn touch(&self, bytes: &[u8]) -> u8 {
        bytes.get(self.begin as usize).copied().unwrap_or(0)
    }

    /// The segment, with its payload.
    #[inline]
    pub fn segment<'a>(&self, bytes: &'a [u8]) -> Segment<'a> {
        let begin = self.begin as usize;
        Segment {
            time: self.time,
            number: self.number,
            payload: bytes.get(begin..begin + self.kept as usize).unwrap_or_default(),
            length: self.length,
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            window: self.window,
            identification: self.identification,
            interface: self.interface,
            file: self.file,
            flags: self.flags,
            window_scale: self.window_scale,
        }
    }
}

/// A connection begins.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub number: i64,
    /// address:port of both sides.
    pub ends: [CompactString; 2],
    pub file: u32,
}

/// What is to be done for a connection.
#[derive(Debug)]
pub(super) enum What {
    Segment(Light),
    Open(Box<Begun>),
    Close(Box<Entry>),
}

/// What is to be done; `order` tells what comes first among all of a round.
#[derive(Debug)]
pub(super) struct Work {
    pub order: u32,
    pub slot: u32,
    pub what: What,
}

/// What the packets of one piece ask for.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// For each worker.
    pub works: Vec<Vec<Work>>,
    pub aside: Aside,
}

/// What belongs to no connection.
#[derive(Debug, Default)]
pub(super) struct Aside {
    pub losses: Vec<Sum>,
    pub names: Vec<NameRow>,
}

/// What a connection was, when nothing more comes of it.
#[derive(Debug)]
pub(super) struct Over {
    pub entry: Box<Entry>,
    pub client_side: Option<usize>,
    pub spoken: Spoken,
    pub server_name: Option<String>,
    pub sasl_mechanism: Option<CompactString>,
    pub client_software: Option<Arc<CompactString>>,
    pub client_id: Option<CompactString>,
    pub requests: u64,
    pub responses: u64,
    pub digest: Option<i64>,
    /// Of both sides.
    pub figures: [Figures; 2],
    pub losses: Vec<Loss>,
}

/// What came of a work.
#[derive(Debug)]
pub(super) enum Came {
    Begun(Box<Begun>),
    /// So many of the events of the round, with the side of the client, where it is known, and the client.id that the
    /// connection showed first, which only a response without its request needs.
    Events(u32, Option<usize>, Option<CompactString>),
    Over(Box<Over>),
}

/// What came of the works of a round, in their order.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// With the order of the work and its connection.
    pub came: Vec<(u32, u32, Came)>,
    pub events: Vec<Event>,
    pub lessons: Lessons,
    /// Of the requests among the events, when their rows are made.
    pub free: FreeRequests,
}
