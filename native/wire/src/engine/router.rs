//! From packets to work for connections: headers, flows, names, and what is none of these.

use std::hint::black_box;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::work::{Aside, Begun, Light, Round, What, Work};
use super::worker::{CACHED, TOUCHED};
use crate::capture::{Chunk, Interfaces};
use crate::decode::names::Names;
use crate::decode::{self, Decoded, endpoint_text};
use crate::exchange::losses::Of;
use crate::exchange::{Losses, Sum};
use crate::flow::{Entry, FlowSink, Flows};
use crate::options::{Options, Table};
use crate::packet::{Packet, Segment};

/// So many connections are ended in a round: what they were is held until their rows are made.
const ENDED_AT_ONCE: usize = 2048;

/// What of a router goes on where a capture goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Routes {
    pub flows: Flows,
    pub names: Names,
}

impl Routes {
    pub fn new(options: &Options) -> Routes {
        Routes {
            flows: Flows::new(options.max_connections, options.all_sightings),
            names: Names::default(),
        }
    }
}

/// Knows which connection a packet belongs to.
#[derive(Debug)]
pub(super) struct Router {
    options: Options,
    interfaces: Interfaces,
    pub routes: Routes,
    workers: usize,
    losses: Losses,
}

impl Router {
    pub fn new(options: &Options, interfaces: Interfaces, routes: Routes, workers: usize) -> Router {
        Router {
            options: options.clone(),
            interfaces,
            routes,
            workers: workers.max(1),
            losses: Losses::default(),
        }
    }

    /// The work for the packets of a piece.
    pub fn route(&mut self, chunk: &Chunk) -> Round {
        let mut works = self.works(chunk.packets().len());
        let Routes { flows, names } = &mut self.routes;
        let mut passing = Passing {
            interfaces: &self.interfaces,
            names,
            losses: &mut self.losses,
            // What belongs to no connection is counted by the first of several engines only.
            counts_strays: self.options.flow_class.0 == 0,
            sink: Sink {
                options: &self.options,
                works: &mut works,
                bytes: chunk.bytes(),
                order: 0,
            },
        };
        let mut ahead: SmallVec<[Decoded<'_>; TOUCHED]> = SmallVec::new();
        let mut hashes: SmallVec<[u64; TOUCHED]> = SmallVec::new();
        let mut guesses: SmallVec<[u32; TOUCHED]> = SmallVec::new();
        for group in chunk.packets().chunks(TOUCHED) {
            // Another core read them: several are waited for at a time.
            let headers = group.iter().map(|packet| touch(chunk.data(packet)));
            black_box(headers.fold(0, u8::wrapping_add));
            if flows.count() <= CACHED {
                for packet in group {
                    let data = chunk.data(packet);
                    passing.take(packet, data, decode::decode(packet, data), None, flows);
                }
                continue;
            }
            ahead.extend(group.iter().map(|packet| decode::decode(packet, chunk.data(packet))));
            hashes.clear();
            hashes.extend(ahead.iter().map(|decoded| match decoded {
                Decoded::Segment { key, .. } => flows.hash(key),
                _ => 0,
            }));
            flows.ahead(&hashes, &mut guesses);
            for ((packet, decoded), &guess) in group.iter().zip(ahead.drain(..)).zip(&guesses) {
                passing.take(packet, chunk.data(packet), decoded, Some(guess), flows);
            }
        }
        self.round(works)
    }

    /// Work when nothing more comes, and whether there is more of it.
    pub fn finish(&mut self) -> (Round, bool) {
        let mut works = self.works(0);
        let mut sink = Sink {
            options: &self.options,
            works: &mut works,
            bytes: &[],
            order: 0,
        };
        let is_more = self.routes.flows.finish(ENDED_AT_ONCE, &mut sink);
        self.routes.names.finish();
        (self.round(works), is_more)
    }

    /// Room for the work of so many packets.
    fn works(&self, packets: usize) -> Vec<Vec<Work>> {
        let each = packets / self.workers + packets / 8;
        (0..self.workers).map(|_| Vec::with_capacity(each)).collect()
    }

    fn round(&mut self, works: Vec<Vec<Work>>) -> Round {
        Round {
            works,
            aside: Aside {
                losses: self.losses.drain(),
                names: self.routes.names.drain(),
            },
        }
    }
}

/// Packets on their way to their connections.
struct Passing<'a> {
    interfaces: &'a Interfaces,
    names: &'a mut Names,
    losses: &'a mut Losses,
    counts_strays: bool,
    sink: Sink<'a>,
}

impl Passing<'_> {
    /// Compiled into both places that call it: where a packet was just decoded, what came of it stays in registers.
    #[inline(always)]
    fn take(&mut self, packet: &Packet, data: &[u8], decoded: Decoded<'_>, guess: Option<u32>, flows: &mut Flows) {
        let Decoded::Segment { key, mut segment } = decoded else {
            return self.aside(packet, data, decoded, flows);
        };
        let ports = &self.sink.options.ports;
        if ports.is_empty() || ports.contains(&key.source_port()) || ports.contains(&key.destination_port()) {
            if let Some(interface) = own(self.interfaces, packet, data) {
                segment.interface = interface;
            }
            flows.push(&key, guess, &segment, &mut self.sink);
        }
    }

    /// What is no segment.
    #[inline(never)]
    fn aside(&mut self, packet: &Packet, data: &[u8], decoded: Decoded<'_>, flows: &mut Flows) {
        match decoded {
            Decoded::Segment { .. } => {}
            Decoded::Unreachable(error) => flows.unreachable(&error),
            Decoded::Datagram(mut datagram) => {
                datagram.interface = own(self.interfaces, packet, data).unwrap_or(datagram.interface);
                let is_wanted = self.counts_strays && self.sink.options.tables.has(Table::Names);
                if self.counts_strays && !(is_wanted && self.names.push(&datagram)) {
                    self.losses
                        .add(stray(packet, "not-tcp", "UDP".into(), packet.length.into()));
                }
            }
            Decoded::Undecoded { kind, detail, bytes } => {
                if self.counts_strays {
                    self.losses.add(stray(packet, kind, detail, bytes));
                }
            }
        }
    }
}

/// Looks at where a packet has its headers.
#[inline]
fn touch(data: &[u8]) -> u8 {
    /// They begin and end in two lines of the cache at most.
    const HEADERS: usize = 64;
    let behind = data.get(HEADERS).or(data.last());
    data.first().unwrap_or(&0).wrapping_add(*behind.unwrap_or(&0))
}

/// The interface that a packet itself names.
#[inline]
pub(super) fn own(interfaces: &Interfaces, packet: &Packet, data: &[u8]) -> Option<u32> {
    decode::own_interface(packet, data).map(|name| interfaces.id(&name))
}

fn stray(packet: &Packet, kind: &'static str, detail: CompactString, bytes: u64) -> Sum {
    Sum {
        of: Of {
            file: packet.file,
            connection: None,
            is_request: None,
            kind: CompactString::const_new(kind),
            detail: Some(detail),
        },
        time: Some(packet.time),
        bytes,
        times: 1,
    }
}

/// Whether the messages of a connection are read: by one of several engines only.
pub(super) fn is_listened_to(options: &Options, number: i64) -> bool {
    let (class, classes) = options.flow_class;
    // Most engines are the only one, and need not divide.
    classes <= 1 || number.rem_euclid(i64::from(classes.max(1))) == i64::from(class)
}

pub(super) fn begun(entry: &Entry) -> Begun {
    let key = entry.first_key();
    Begun {
        number: entry.number,
        ends: [
            endpoint_text(key.source(), key.source_port()),
            endpoint_text(key.destination(), key.destination_port()),
        ],
        file: entry.file,
    }
}

/// Writes down what is to be done for connections, all of one always for the same worker.
struct Sink<'a> {
    options: &'a Options,
    works: &'a mut [Vec<Work>],
    bytes: &'a [u8],
    order: u32,
}

impl Sink<'_> {
    #[inline]
    fn add(&mut self, slot: u32, number: i64, what: impl FnOnce(&[u8]) -> What) {
        if !is_listened_to(self.options, number) {
            return;
        }
        let order = self.order;
        self.order += 1;
        let worker = slot as usize % self.works.len();
        let what = what(self.bytes);
        self.works[worker].push(Work { order, slot, what });
    }
}

impl FlowSink for Sink<'_> {
    fn open(&mut self, slot: u32, entry: &Entry) {
        self.add(slot, entry.number, |_| What::Open(Box::new(begun(entry))));
    }

    #[inline]
    fn segment(&mut self, slot: u32, side: u8, entry: &Entry, segment: &Segment<'_>) {
        self.add(slot, entry.number, |bytes| {
            What::Segment(Light::new(segment, side, bytes))
        });
    }

    fn close(&mut self, slot: u32, entry: Box<Entry>) {
        self.add(slot, entry.number, |_| What::Close(entry));
    }
}
