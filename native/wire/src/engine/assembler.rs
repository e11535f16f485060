//! From what connections tell to rows, in the order of the capture.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use compact_str::CompactString;

use super::work::{Aside, Begun, Came, Made, Over};
use crate::capture::Interfaces;
use crate::decode::endpoint_text;
use crate::exchange::losses::Of;
use crate::exchange::row::{ConnectionRow, LossRow, RowSink, Strings};
use crate::exchange::{Assembly, Context, Event, Learned, Sum};
use crate::options::{Options, Table};
use crate::packet::Undecoded;
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

/// Makes rows of what connections tell.
#[derive(Debug)]
pub(super) struct Assembler {
    assembly: Assembly,
    interfaces: Interfaces,
    tables: crate::options::Wanted,
    counts_strays: bool,
    /// The names of files, by the index that packets have.
    pub files: BTreeMap<u32, String>,
    connections: Vec<Option<Box<Begun>>>,
    pub copies: Copies,
}

impl Assembler {
    pub fn new(options: &Options, interfaces: Interfaces, files: BTreeMap<u32, String>, learned: Learned) -> Assembler {
        Assembler {
            assembly: Assembly::new(options, learned),
            interfaces,
            tables: options.tables,
            counts_strays: options.flow_class.0 == 0,
            files,
            connections: Vec::new(),
            copies: Copies::default(),
        }
    }

    pub fn learned(&self) -> &Learned {
        &self.assembly.learned
    }

    /// The names of topics by their ids, as far as the capture told them.
    pub fn topic_names(&self) -> impl Iterator<Item = (CompactString, &str)> {
        self.assembly.topic_names()
    }

    /// The rows so far were taken.
    pub fn drained(&mut self) {
        self.assembly.drained();
    }

    /// Takes what came of a round, from all workers.
    pub fn take(&mut self, aside: Aside, made: Vec<Vec<Made>>, rows: &mut impl RowSink) {
        for loss in aside.losses {
            self.assembly.learned.losses.add(loss);
        }
        for name in &aside.names {
            rows.name(&name.row());
        }
        let mut made: Vec<Peekable<IntoIter<Made>>> =
            made.into_iter().map(|made| made.into_iter().peekable()).collect();
        if let [one] = &mut made[..] {
            one.for_each(|made| self.made(made, rows));
            return;
        }
        let next = |made: &mut Vec<Peekable<IntoIter<Made>>>| {
            let orders = made
                .iter_mut()
                .enumerate()
                .filter_map(|(worker, made)| Some((made.peek()?.order, worker)));
            orders.min().map(|(_, worker)| worker)
        };
        while let Some(worker) = next(&mut made) {
            if let Some(each) = made[worker].next() {
                self.made(each, rows);
            }
        }
    }

    /// Counts what belongs to no connection, such as damage of a file.
    pub fn lose(&mut self, file: u32, lost: &Undecoded, time: Option<i64>) {
        self.stray(file, (&lost.kind, &lost.detail), (lost.bytes, 1), time);
    }

    /// Counts packets that whoever captured says were dropped; nobody knows their bytes.
    pub fn dropped(&mut self, file: u32, packets: u64) {
        if packets > 0 {
            self.stray(file, ("dropped", "while capturing"), (0, packets), None);
        }
    }

    fn stray(&mut self, file: u32, (kind, detail): (&str, &str), (bytes, times): (u64, u64), time: Option<i64>) {
        if self.counts_strays {
            self.assembly.learned.losses.add(Sum {
                of: Of {
                    file,
                    connection: None,
                    is_request: None,
                    kind: kind.into(),
                    detail: Some(detail.into()),
                },
                time,
                bytes,
                times,
            });
        }
    }

    /// A file has no more packets: what of it belongs to no connection is summed up.
    pub fn end_file(&mut self, file: u32, rows: &mut impl RowSink) {
        if self.tables.has(Table::Losses) {
            let sums = self.assembly.learned.losses.drain_file(file);
            Assembly::losses(&sums, &self.files, rows);
        }
    }

    /// Nothing more comes.
    pub fn finish(&mut self, rows: &mut impl RowSink) {
        if self.tables.has(Table::Losses) {
            let sums = self.assembly.learned.losses.drain();
            Assembly::losses(&sums, &self.files, rows);
        }
    }

    /// A connection begins.
    pub fn begin(&mut self, slot: u32, begun: Box<Begun>) {
        let slot = slot as usize;
        if self.connections.len() <= slot {
            self.connections.resize_with(slot + 1, || None);
        }
        self.connections[slot] = Some(begun);
    }

    #[inline]
    fn made(&mut self, made: Made, rows: &mut impl RowSink) {
        let Made { slot, came, .. } = made;
        match came {
            Came::Begun(begun) => self.begin(slot, begun),
            Came::Event(event, client_side, client_id) => {
                self.event(slot, event, client_side, client_id.as_deref(), rows);
            }
            Came::Over(over) => {
                if let Some(begun) = self.connections.get_mut(slot as usize).and_then(Option::take) {
                    self.over(&begun, &over, rows);
                }
            }
        }
    }

    #[inline]
    fn event(
        &mut self,
        slot: u32,
        event: Event,
        client_side: Option<usize>,
        client_id: Option<&str>,
        rows: &mut impl RowSink,
    ) {
        let Some(Some(begun)) = self.connections.get(slot as usize) else {
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
        self.assembly.take(&context, event, rows);
    }

    fn over(&mut self, begun: &Begun, over: &Over, rows: &mut impl RowSink) {
        let entry = &*over.entry;
        let side = over.client_side.or(entry.opener()).unwrap_or(0) & 1;
        let (client, broker) = (&begun.ends[side], &begun.ends[1 - side]);
        if !self.assembly.is_wanted(client, broker, over.client_id.as_deref()) {
            return;
        }
        self.copies.connections += u64::from(entry.sightings);
        self.copies.like_copies += u64::from(entry.like_copies);
        self.copies.requests += over.requests.saturating_mul(entry.sightings.into());
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
        for interface in &entry.interfaces {
            interfaces.push(&self.interfaces.name(*interface));
        }
        let mut places = Strings::default();
        for place in &entry.places {
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
            client_software: over.client_software.as_deref(),
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
