//! From what connections tell to rows.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use compact_str::CompactString;

use super::work::{Begun, Came, Made, Over};
use super::worker::{TOUCHED, place};
use crate::capture::Interfaces;
use crate::decode::endpoint_text;
use crate::exchange::row::{ConnectionRow, LossRow, RowSink, Strings};
use crate::exchange::sessions::Offsets;
use crate::exchange::{Assembly, Context, Event, Known, Room, Sum, Topics};
use crate::options::{Options, Table, Wanted};
use crate::tcp::Figures;

/// Connections that were taken as ones that had been seen elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Sightings under other addresses.
    pub connections: u64,
    /// Requests in them.
    pub requests: u64,
    /// How many of the connections look like a file that was copied or replayed: the same packets, at the same place, at
    /// the same time or much later.
    pub like_copies: u64,
}

impl std::iter::Sum for Copies {
    fn sum<I: Iterator<Item = Copies>>(all: I) -> Copies {
        all.fold(Copies::default(), |one, other| Copies {
            connections: one.connections + other.connections,
            requests: one.requests + other.requests,
            like_copies: one.like_copies + other.like_copies,
        })
    }
}

/// Makes rows of what the connections of one worker tell.
#[derive(Debug)]
pub(super) struct Assembler {
    assembly: Assembly,
    interfaces: Interfaces,
    tables: Wanted,
    /// The names of files, by the index that packets have.
    pub files: BTreeMap<u32, String>,
    connections: Vec<Option<Begun>>,
    workers: usize,
    copies: Copies,
}

/// What comes of a round besides rows.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// With the place of the work in the round.
    pub losses: Vec<(u32, Sum)>,
    /// Since the beginning.
    pub copies: Copies,
    /// Bytes of the room for records that the rows have.
    pub held: u64,
}

impl Assembler {
    /// Of one of so many workers. `topics`: what is known of them before the first round.
    pub fn new(
        options: &Options,
        interfaces: Interfaces,
        files: BTreeMap<u32, String>,
        (topics, room): (Topics, Room),
        workers: usize,
    ) -> Assembler {
        Assembler {
            assembly: Assembly::new(options, topics, room),
            interfaces,
            tables: options.tables,
            files,
            connections: Vec::new(),
            workers: workers.max(1),
            copies: Copies::default(),
        }
    }

    /// Takes what came of a round, out of `made`.
    pub fn take(&mut self, made: &mut Made, known: Known, rows: &mut impl RowSink) -> Told {
        let mut told = Told::default();
        let mut names = known.names.iter().peekable();
        let mut offsets = known.offsets.into_iter();
        let Made { came, events, free, .. } = made;
        let mut left = events.iter_mut();
        let mut untouched = 0;
        for (order, slot, came) in came.drain(..) {
            while let Some((_, names)) = names.next_if(|(told, _)| *told <= order) {
                self.assembly.learn(names);
            }
            rows.go_to(order);
            match came {
                Came::Begun(begun) => self.begin(slot, *begun),
                Came::Events(count, client_side, client_id) => {
                    let mut lose = |loss| told.losses.push((order, loss));
                    for _ in 0..count {
                        if untouched == 0 {
                            let ahead = left.as_slice().iter().take(TOUCHED);
                            black_box(ahead.map(Event::touch).fold(0, u64::wrapping_add));
                            untouched = TOUCHED;
                        }
                        untouched -= 1;
                        let Some(event) = left.next() else { break };
                        let told = (&*event, client_side, client_id.as_deref());
                        self.event(slot, told, &mut offsets, rows, &mut lose);
                        event.let_go(free);
                    }
                }
                Came::Over(over) => {
                    if let Some(begun) = self.place(slot).take() {
                        self.over(&begun, &over, rows);
                    }
                }
            }
        }
        events.clear();
        names.for_each(|(_, names)| self.assembly.learn(names));
        told.copies = self.copies;
        told.held = self.assembly.held();
        told
    }

    /// A connection begins.
    pub fn begin(&mut self, slot: u32, begun: Begun) {
        *self.place(slot) = Some(begun);
    }

    fn place(&mut self, slot: u32) -> &mut Option<Begun> {
        place(&mut self.connections, slot, self.workers)
    }

    #[inline]
    fn event(
        &mut self,
        slot: u32,
        (event, client_side, client_id): (&Event, Option<usize>, Option<&str>),
        offsets: &mut impl Iterator<Item = Arc<Offsets>>,
        rows: &mut impl RowSink,
        lose: &mut impl FnMut(Sum),
    ) {
        let Some(Some(begun)) = self.connections.get(slot as usize / self.workers) else {
            return;
        };
        let side = client_side.unwrap_or(0);
        let context = Context {
            connection: begun.number,
            client: &begun.ends[side & 1],
            broker: &begun.ends[1 - (side & 1)],
            client_id,
            file: begun.file,
            files: &self.files,
        };
        let is_fetch = matches!(event, Event::Exchange(exchange) if exchange.is_of_session());
        let offsets = if is_fetch && self.tables.has(Table::Partitions) {
            offsets.next()
        } else {
            None
        };
        self.assembly.take(&context, event, offsets.as_ref(), rows, lose);
    }

    fn over(&mut self, begun: &Begun, over: &Over, rows: &mut impl RowSink) {
        let entry = &*over.entry;
        let side = over.client_side.or(entry.opener()).unwrap_or(0) & 1;
        let (client, broker) = (&begun.ends[side], &begun.ends[1 - side]);
        if !self.assembly.is_wanted(client, broker, over.client_id.as_deref()) {
            return;
        }
        self.copies.connections += u64::from(entry.sightings());
        self.copies.like_copies += u64::from(entry.like_copies());
        self.copies.requests += over.requests.saturating_mul(entry.sightings().into());
        if self.tables.has(Table::Connections) {
            self.connection(begun, over, side, rows);
        }
        if self.tables.has(Table::Losses) {
            let file = self.files.get(&begun.file).map_or("", String::as_str);
            for loss in &over.losses {
                rows.loss(&LossRow {
                    file,
                    time: Some(loss.time),
                    connection: Some(begun.number),
                    direction: loss
                        .is_request
                        .map(|is_request| if is_request { "request" } else { "response" }),
                    kind: loss.lost.kind(),
                    bytes: whole(loss.bytes),
                    times: whole(loss.times),
                    detail: Some(loss.lost.detail()),
                });
            }
        }
    }

    fn connection(&self, begun: &Begun, over: &Over, side: usize, rows: &mut impl RowSink) {
        let entry = &*over.entry;
        let (client, broker) = (&over.figures[side], &over.figures[1 - side]);
        let both = |figure: fn(&Figures) -> u64| whole(figure(client).saturating_add(figure(broker)));
        let mut interfaces = Strings::default();
        for interface in entry.interfaces() {
            interfaces.push(&self.interfaces.name(interface));
        }
        let mut places = Strings::default();
        for place in entry.places() {
            let key = if side == 0 {
                place.key.clone()
            } else {
                place.key.reversed()
            };
            let source = endpoint_text(key.source(), key.source_port());
            let destination = endpoint_text(key.destination(), key.destination_port());
            let interface = self.interfaces.name(place.interface);
            let on = if interface.is_empty() { "" } else { " on " };
            places.push_all(&[&source, ">", &destination, on, &interface]);
        }
        let named = self.assembly.name(&begun.ends[side], &begun.ends[1 - side]);
        rows.connection(&ConnectionRow {
            connection: begun.number,
            client: &begun.ends[side],
            broker: &begun.ends[1 - side],
            first_time: entry.first_time,
            last_time: entry.last_time,
            opening: entry.opening().as_str(),
            ending: entry.ending(side),
            handshake_ms: entry.handshake_ms(),
            protocol: over.spoken.as_str(),
            sasl_mechanism: over.sasl_mechanism.as_deref(),
            server_name: over.server_name.as_deref(),
            client_software: over.client_software.as_deref().map(CompactString::as_str),
            client_id: over.client_id.as_deref(),
            client_packets: whole(client.packets),
            broker_packets: whole(broker.packets),
            client_bytes: whole(client.payload_bytes),
            broker_bytes: whole(broker.payload_bytes),
            requests: whole(over.requests),
            responses: whole(over.responses),
            retransmissions: both(|it| it.retransmissions),
            out_of_order: both(|it| it.out_of_order),
            duplicates: both(|it| it.duplicates),
            zero_windows: both(|it| it.zero_windows),
            keep_alives: both(|it| it.keep_alives),
            lost_bytes: both(|it| it.lost_bytes),
            truncated_bytes: both(|it| it.truncated_bytes),
            seen_as: places.some(),
            interfaces: interfaces.some(),
            digest: over.digest,
            relay_of: None,
            client_name: named.client,
            broker_name: named.broker,
            listener: named.listener,
            file: self.files.get(&begun.file).map_or("", String::as_str),
        });
    }
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
