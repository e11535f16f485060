//! An engine in one thread, whose state can be saved between two pieces.

use std::collections::{BTreeMap, BTreeSet};

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::assembler::{Assembler, Copies};
use super::ledger::Ledger;
use super::router::{Router, Routes, begun, is_listened_to};
use super::work::{Aside, Round};
use super::worker::{Talk, Worker};
use crate::capture::{Chunk, Interfaces};
use crate::exchange::Learned;
use crate::exchange::row::RowSink;
use crate::options::{Options, Table};
use crate::packet::Undecoded;
use crate::state::{self, Unsound};

/// Takes packets in the order of the capture, gives rows; holds the state of the connections that are open in the
/// capture, nothing of those that are over.
#[derive(Debug)]
pub struct Engine {
    interfaces: Interfaces,
    next_file: u32,
    router: Router,
    worker: Worker,
    assembler: Assembler,
    ledger: Ledger,
    copies: Copies,
}

/// What is saved of an engine.
#[derive(Serialize, Deserialize)]
struct Saved<R, L, T> {
    files: BTreeMap<u32, String>,
    next_file: u32,
    interfaces: Vec<CompactString>,
    routes: R,
    learned: L,
    /// By the places of connections.
    talks: T,
}

impl Engine {
    /// `interfaces`: the table that the readers of the packets have.
    pub fn new(options: &Options, interfaces: Interfaces) -> Engine {
        Engine::of(
            options,
            interfaces,
            (BTreeMap::new(), 0),
            Routes::new(options),
            Learned::default(),
        )
    }

    fn of(
        options: &Options,
        interfaces: Interfaces,
        (files, next_file): (BTreeMap<u32, String>, u32),
        routes: Routes,
        learned: Learned,
    ) -> Engine {
        let ledger = Ledger::new(options, learned);
        let known = (ledger.learned.topics.clone(), ledger.room.clone());
        Engine {
            next_file,
            router: Router::new(options, interfaces.clone(), routes, 1),
            worker: Worker::new(options, 1),
            assembler: Assembler::new(options, interfaces.clone(), files, known, 1),
            ledger,
            copies: Copies::default(),
            interfaces,
        }
    }

    /// One more capture file; the index by which packets name it.
    pub fn add_file(&mut self, name: String) -> u32 {
        let file = self.next_file;
        self.assembler.files.insert(file, name);
        self.next_file += 1;
        file
    }

    /// The index of the next file.
    pub fn next_file(&self) -> u32 {
        self.next_file
    }

    /// Takes the next packets.
    pub fn feed(&mut self, chunk: &Chunk, rows: &mut impl RowSink) {
        let round = self.router.route(chunk);
        self.take(round, chunk.bytes(), rows);
    }

    /// Counts what belongs to no connection, such as damage of the file.
    pub fn lose(&mut self, file: u32, lost: &Undecoded, time: Option<i64>) {
        self.ledger.lose(file, lost, time);
    }

    /// Counts packets that whoever captured says were dropped.
    pub fn dropped(&mut self, file: u32, packets: u64) {
        self.ledger.dropped(file, packets);
    }

    /// A file has no more packets.
    pub fn end_file(&mut self, file: u32, rows: &mut impl RowSink) {
        self.ledger.end_file(file, &self.assembler.files, rows);
    }

    /// There are no more packets.
    pub fn finish(&mut self, rows: &mut impl RowSink) {
        let mut is_more = true;
        while is_more {
            let round;
            (round, is_more) = self.router.finish();
            self.take(round, &[], rows);
        }
        self.ledger.finish(&self.assembler.files, rows);
    }

    /// The rows so far were taken.
    pub fn drained(&mut self) {
        self.ledger.drained();
    }

    /// The names of topics by their ids, as far as the capture told them: also for rows that are gone by now.
    pub fn topic_names(&self) -> impl Iterator<Item = (CompactString, &str)> {
        self.ledger.learned.topics.names()
    }

    /// Connections that were taken as ones that had been seen elsewhere.
    pub fn copies(&self) -> Copies {
        self.copies
    }

    /// The state, from which [`Engine::restored`] goes on; without rows and payloads.
    ///
    /// `open_files`: those with packets to come. The names of others are kept as long as rows to come may name them.
    pub fn save(&self, open_files: impl IntoIterator<Item = u32>) -> Vec<u8> {
        let talks = self.worker.talks();
        let mut used: BTreeSet<u32> = open_files.into_iter().collect();
        used.extend(talks.iter().flatten().flat_map(|talk| talk.files()));
        used.extend(self.router.routes.flows.entries().map(|(_, entry)| entry.file));
        used.extend(self.ledger.learned.losses.files());
        let files = self.assembler.files.iter().filter(|(file, _)| used.contains(file));
        state::write(&Saved {
            files: files.map(|(file, name)| (*file, name.clone())).collect(),
            next_file: self.next_file,
            interfaces: self.interfaces.names(),
            routes: &self.router.routes,
            learned: &self.ledger.learned,
            talks,
        })
    }

    /// The engine that was saved under the same options; its interfaces are those that its readers are to share.
    pub fn restored(options: &Options, bytes: &[u8]) -> Result<Engine, Unsound> {
        let saved: Saved<Routes, Learned, Vec<Option<Box<Talk>>>> = state::read(bytes)?;
        if options.tables.has(Table::Records) {
            return Err(Unsound::Contradiction);
        }
        let Saved {
            files,
            next_file,
            interfaces,
            routes,
            learned,
            mut talks,
        } = saved;
        let is_sound = routes.flows.is_sound(interfaces.len())
            && learned.is_sound()
            && talks.iter().flatten().all(|talk| talk.is_sound())
            && files.keys().all(|file| *file < next_file);
        if !is_sound {
            return Err(Unsound::Contradiction);
        }
        let interfaces = Interfaces::from(interfaces);
        let mut engine = Engine::of(options, interfaces, (files, next_file), routes, learned);
        for (slot, entry) in engine.router.routes.flows.entries() {
            if is_listened_to(options, entry.number) {
                let talk = talks.get_mut(slot as usize).and_then(Option::take);
                let begun = begun(entry);
                engine.worker.go_on(slot, talk.ok_or(Unsound::Contradiction)?, &begun);
                engine.assembler.begin(slot, begun);
            }
        }
        Ok(engine)
    }

    /// The names of interfaces that the readers of its packets are to share.
    pub fn interfaces(&self) -> &Interfaces {
        &self.interfaces
    }

    fn take(&mut self, round: Round, bytes: &[u8], rows: &mut impl RowSink) {
        let Round { works, aside } = round;
        for works in works {
            let mut made = self.worker.work(works, bytes);
            let lessons = std::mem::take(&mut made.lessons);
            let known = self.ledger.learn(vec![lessons]).pop().unwrap_or_default();
            let told = self.assembler.take(&mut made, known, rows);
            self.worker.use_again(made);
            self.copies = told.copies;
            self.ledger.take(Aside::default(), [told], rows);
        }
        self.ledger.take(aside, [], rows);
    }
}
