//! What belongs to no single connection: what all of them tell together, and what was lost.

use std::collections::BTreeMap;

use super::assembler::Told;
use super::work::Aside;
use crate::exchange::losses::Of;
use crate::exchange::row::RowSink;
use crate::exchange::{Assembly, Known, Learned, Lessons, Room, Sum};
use crate::options::{Options, Table, Wanted};
use crate::packet::Undecoded;

/// Keeps it for all workers.
#[derive(Debug)]
pub(super) struct Ledger {
    pub learned: Learned,
    /// For records, of all workers; so many bytes of it have the rows that are not drained.
    pub room: Room,
    held: u64,
    tables: Wanted,
    counts_strays: bool,
}

impl Ledger {
    pub fn new(options: &Options, learned: Learned) -> Ledger {
        Ledger {
            learned,
            room: Room::default(),
            held: 0,
            tables: options.tables,
            counts_strays: options.flow_class.0 == 0,
        }
    }

    /// Takes what the workers found in a round; what each of them has to know.
    pub fn learn(&mut self, lessons: Vec<Lessons>) -> Vec<Known> {
        self.learned.learn(lessons)
    }

    /// Takes what came of a round besides the rows of connections.
    pub fn take(&mut self, aside: Aside, told: impl IntoIterator<Item = Told>, rows: &mut impl RowSink) {
        for loss in aside.losses {
            self.learned.losses.add(loss);
        }
        for name in &aside.names {
            rows.name(&name.row());
        }
        let mut losses = Vec::new();
        for told in told {
            losses.extend(told.losses);
            self.held += told.held;
        }
        losses.sort_by_key(|(order, _)| *order);
        losses.into_iter().for_each(|(_, loss)| self.learned.losses.add(loss));
    }

    /// The rows so far were taken.
    pub fn drained(&mut self) {
        self.room.give_back(std::mem::take(&mut self.held));
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
            self.learned.losses.add(Sum {
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
    pub fn end_file(&mut self, file: u32, files: &BTreeMap<u32, String>, rows: &mut impl RowSink) {
        if self.tables.has(Table::Losses) {
            let sums = self.learned.losses.drain_file(file);
            Assembly::losses(&sums, files, rows);
        }
    }

    /// Nothing more comes.
    pub fn finish(&mut self, files: &BTreeMap<u32, String>, rows: &mut impl RowSink) {
        if self.tables.has(Table::Losses) {
            let sums = self.learned.losses.drain();
            Assembly::losses(&sums, files, rows);
        }
    }
}
