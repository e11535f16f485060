//! Connections: which one a segment belongs to, and on which side of it, also under translated addresses.
//!
//! A connection is found by addresses and ports in either direction; under other addresses (behind translation) by what
//! `linker` knows. A SYN with another initial sequence number on known addresses begins another connection (port reuse).

mod entry;
mod linker;

use std::cmp::Reverse;
use std::hint::black_box;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::decode::Key;
use crate::packet::{SYN, Segment, Unreachable};
use linker::Linker;

pub use entry::{Entry, Opening, Place};

const SWEEP_EVERY: i64 = 5_000_000_000;
/// A connection is forgotten so long after it was closed, or after its last packet.
const CLOSED_FOR: i64 = 30_000_000_000;
const IDLE_FOR: i64 = 3_600_000_000_000;

/// Takes connections as they begin, their segments, and connections as they end.
pub trait FlowSink {
    /// A connection begins; the number of its place is that of no other as long as it lasts.
    fn open(&mut self, slot: u32, entry: &Entry);
    /// The next segment of a connection, sent by this side.
    fn segment(&mut self, slot: u32, side: u8, entry: &Entry, segment: &Segment<'_>);
    /// Nothing more comes of it.
    fn close(&mut self, slot: u32, entry: Box<Entry>);
}

/// A place for one connection after the other.
type Slot = Option<Entry>;

/// Where a key leads.
#[derive(Clone, Copy, Debug)]
struct Found {
    slot: u32,
    side: u8,
}

/// Which connection has a key, in either direction: the keys themselves stand with the connections.
#[derive(Clone, Debug, Default)]
struct Index {
    /// Places of connections, and which of its keys; hashed so that nobody who sends packets can choose where they
    /// collide.
    table: HashTable<(u32, u32)>,
    hasher: RandomState,
}

impl Index {
    #[inline]
    fn hash(&self, key: &Key) -> u64 {
        key.hash_both_ways(&self.hasher)
    }

    #[inline]
    fn find(&self, key: &Key, slots: &[Slot]) -> Option<Found> {
        let mut found = None;
        self.table.find(self.hash(key), |&(slot, at)| {
            let entry = slots.get(slot as usize).and_then(Option::as_ref);
            let side = entry.and_then(|entry| entry.key(at as usize)?.side_of(key));
            found = side.map(|side| Found { slot, side });
            found.is_some()
        });
        found
    }

    /// The place of a key with this hash, most likely; 0 if there is none. The key itself is not compared.
    #[inline]
    fn guess(&self, hash: u64) -> u32 {
        self.table.find(hash, |_| true).map_or(0, |&(slot, _)| slot)
    }

    /// Adds a key of a connection, which is none of another one.
    fn insert(&mut self, slot: u32, at: usize, slots: &[Slot]) {
        let key_of = |(slot, at): (u32, u32)| {
            let entry = slots.get(slot as usize)?.as_ref()?;
            Some(entry.key(at as usize)?.key())
        };
        let item = (slot, at as u32);
        let hasher = &self.hasher;
        if let Some(key) = key_of(item) {
            let hash = |item: &(u32, u32)| key_of(*item).map_or(0, |key| key.hash_both_ways(hasher));
            self.table.insert_unique(key.hash_both_ways(hasher), item, hash);
        }
    }

    fn remove(&mut self, slot: u32, key: &Key) {
        let hash = self.hash(key);
        let mut is_removed = true;
        while is_removed {
            let item = self.table.find_entry(hash, |&(other, _)| other == slot);
            is_removed = item.map(|item| item.remove()).is_ok();
        }
    }
}

/// The connections that are open.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Flows {
    index: Index,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// None where each sighting counts by itself.
    linker: Option<Linker>,
    next_sweep: i64,
    opened: u64,
    most: usize,
    /// Those that are still to be ended when a capture is over, the last one first.
    left: Vec<u32>,
    /// The connection of the last segment, which the next one nearly always belongs to.
    last: u32,
}

impl Flows {
    /// For so many connections at most; `all_sightings`: a connection that is seen at several places is several.
    pub fn new(most: usize, all_sightings: bool) -> Flows {
        Flows {
            index: Index::default(),
            slots: Vec::new(),
            free: Vec::new(),
            linker: (!all_sightings).then(Linker::default),
            next_sweep: i64::MIN,
            opened: 0,
            most: most.max(1),
            left: Vec::new(),
            last: 0,
        }
    }

    /// Gives a segment to its connection, whose place may be the guessed one, else that of the last segment.
    #[inline]
    pub fn push(&mut self, key: &Key, guess: Option<u32>, segment: &Segment<'_>, sink: &mut impl FlowSink) {
        if segment.time >= self.next_sweep {
            self.sweep(segment.time, sink);
        }
        let mut found = self.find(key, guess.unwrap_or(self.last));
        if segment.flags & SYN != 0
            && let Some(Found { slot, side }) = found
            && self.entry(slot).is_some_and(|entry| entry.is_another(side, segment))
        {
            self.forget(slot, sink);
            found = None;
        }
        let Found { slot, side } = match found {
            Some(found) => found,
            None => self.find_or_make(key, segment, sink),
        };
        let Some(Some(entry)) = self.slots.get_mut(slot as usize) else {
            return;
        };
        self.last = slot;
        entry.push(side, segment);
        sink.segment(slot, side, entry, segment);
        if let Some(linker) = &mut self.linker {
            let ports = (key.source_port(), key.destination_port());
            linker.note(segment, ports, slot, entry.order as u32, side);
        }
    }

    /// Which connection has a key. The one at place `first` is tried before the index.
    #[inline]
    fn find(&self, key: &Key, first: u32) -> Option<Found> {
        let side = self.entry(first).and_then(|entry| entry.key(0)?.side_of(key));
        match side {
            Some(side) => Some(Found { slot: first, side }),
            None => self.index.find(key, &self.slots),
        }
    }

    /// Guesses the places of the connections of the next segments by the hashes of their keys. Each step reads the memory
    /// of all of them, so that the processor waits for several cache misses at a time.
    #[inline]
    pub fn ahead<const MOST: usize>(&self, hashes: &[u64], guesses: &mut SmallVec<[u32; MOST]>) {
        guesses.clear();
        guesses.extend(hashes.iter().map(|&hash| self.index.guess(hash)));
        let touched = guesses.iter().map(|&slot| self.entry(slot).map_or(0, Entry::touch));
        black_box(touched.fold(0, |all, one| all ^ one));
    }

    /// What a key is found by.
    #[inline]
    pub fn hash(&self, key: &Key) -> u64 {
        self.index.hash(key)
    }

    /// Tells the connection that an ICMP error is about.
    pub fn unreachable(&mut self, error: &Unreachable) {
        let key = Key::new(
            error.source,
            error.destination,
            error.source_port,
            error.destination_port,
            &[],
        );
        if let Some(Found { slot, .. }) = self.index.find(&key, &self.slots)
            && let Some(entry) = self.entry_mut(slot)
        {
            entry.unreachable();
        }
    }

    /// The capture is over, and with it every connection, in the order in which they began: so many of them; whether
    /// there are more.
    pub fn finish(&mut self, most: usize, sink: &mut impl FlowSink) -> bool {
        if self.left.is_empty() {
            let mut slots: Vec<_> = self.entries().map(|(slot, entry)| (entry.order, slot)).collect();
            slots.sort_unstable();
            self.left = slots.into_iter().rev().map(|(_, slot)| slot).collect();
        }
        for _ in 0..most {
            let Some(slot) = self.left.pop() else { break };
            self.forget(slot, sink);
        }
        !self.left.is_empty()
    }

    /// The connections that are open, by their places.
    pub fn entries(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let slots = (0u32..).zip(&self.slots);
        slots.filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    fn entry_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    #[cold]
    fn find_or_make(&mut self, key: &Key, segment: &Segment<'_>, sink: &mut impl FlowSink) -> Found {
        let found = match self.link(key, segment) {
            Some(found) => found,
            None => self.make(key, segment, sink),
        };
        let keys = self.entry(found.slot).map_or(0, |entry| entry.keys().count());
        self.index.insert(found.slot, keys.saturating_sub(1), &self.slots);
        found
    }

    /// A connection that is seen under these addresses for the first time, but is known.
    fn link(&mut self, key: &Key, segment: &Segment<'_>) -> Option<Found> {
        let ports = (key.source_port(), key.destination_port());
        let sent = self.linker.as_ref()?.find(segment, ports)?;
        let entry = self
            .entry_mut(sent.slot)
            .filter(|entry| entry.order as u32 == sent.order)?;
        entry.also_seen(key, sent.side, segment, (sent.time, sent.interface));
        Some(Found {
            slot: sent.slot,
            side: sent.side,
        })
    }

    fn make(&mut self, key: &Key, segment: &Segment<'_>, sink: &mut impl FlowSink) -> Found {
        if self.count() >= self.most {
            self.shed(sink);
        }
        let (entry, side) = Entry::new(key, segment, self.opened);
        self.opened += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        sink.open(slot, &entry);
        self.slots[slot as usize] = Some(entry);
        Found { slot, side }
    }

    /// Lets go of those that are over.
    #[cold]
    fn sweep(&mut self, now: i64, sink: &mut impl FlowSink) {
        self.next_sweep = now.saturating_add(SWEEP_EVERY);
        let is_over = |entry: &Entry| {
            let patience = if entry.is_closed() { CLOSED_FOR } else { IDLE_FOR };
            entry.last_time < now.saturating_sub(patience)
        };
        let mut over: Vec<_> = self
            .entries()
            .filter(|(_, entry)| is_over(entry))
            .map(|(slot, entry)| (entry.order, slot))
            .collect();
        over.sort_unstable();
        for (_, slot) in over {
            self.forget(slot, sink);
        }
    }

    /// Lets go of the tenth that has been silent longest.
    fn shed(&mut self, sink: &mut impl FlowSink) {
        let mut oldest: Vec<_> = self
            .entries()
            .map(|(slot, entry)| (entry.last_time, entry.order, slot))
            .collect();
        oldest.sort_unstable();
        for (_, _, slot) in oldest.into_iter().take((self.most / 10).max(1)) {
            self.forget(slot, sink);
        }
    }

    fn forget(&mut self, slot: u32, sink: &mut impl FlowSink) {
        let Some(entry) = self.slots.get_mut(slot as usize).and_then(Option::take) else {
            return;
        };
        self.free.push(slot);
        for key in entry.keys() {
            self.index.remove(slot, &key.key());
        }
        sink.close(slot, Box::new(entry));
    }

    /// Whether this can have come about by segments that name no other interfaces than these.
    pub fn is_sound(&self, interfaces: usize) -> bool {
        let is_known = |interface: &u32| (*interface as usize) < interfaces.max(1);
        self.count() <= self.most
            && self.entries().all(|(_, entry)| {
                entry.is_sound()
                    && entry.interfaces().all(|interface| is_known(&interface))
                    && entry.places().iter().all(|place| is_known(&place.interface))
            })
    }
}

/// What is stored of the connections; where keys lead follows from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    slots: Vec<Slot>,
    linker: Option<Linker>,
    next_sweep: i64,
    opened: u64,
    most: usize,
}

impl From<Flows> for Stored {
    fn from(flows: Flows) -> Stored {
        Stored {
            slots: flows.slots,
            linker: flows.linker,
            next_sweep: flows.next_sweep,
            opened: flows.opened,
            most: flows.most,
        }
    }
}

impl From<Stored> for Flows {
    fn from(stored: Stored) -> Flows {
        let mut flows = Flows {
            slots: stored.slots,
            linker: stored.linker,
            next_sweep: stored.next_sweep,
            opened: stored.opened,
            ..Flows::new(stored.most, false)
        };
        for (number, slot) in (0u32..).zip(&flows.slots) {
            match slot {
                Some(entry) => (0..entry.keys().count()).for_each(|at| flows.index.insert(number, at, &flows.slots)),
                None => flows.free.push(number),
            }
        }
        // Places are used again from the first on.
        flows.free.sort_unstable_by_key(|slot| Reverse(*slot));
        flows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client ports of connections, as they end.
    #[derive(Default)]
    struct Ended(Vec<u16>);

    impl FlowSink for Ended {
        fn open(&mut self, _: u32, _: &Entry) {}
        fn segment(&mut self, _: u32, _: u8, _: &Entry, _: &Segment<'_>) {}
        fn close(&mut self, _: u32, entry: Box<Entry>) {
            self.0.extend(entry.keys().next().map(|kept| kept.key().source_port()));
        }
    }

    #[test]
    fn who_is_silent_for_long_is_forgotten() {
        let (mut flows, mut ended) = (Flows::new(10, false), Ended::default());
        for (port, time) in [
            (1, 0),
            (2, IDLE_FOR / 2),
            (3, IDLE_FOR),
            (3, IDLE_FOR + SWEEP_EVERY + 1),
        ] {
            assert_eq!(ended.0, [] as [u16; 0]);
            let host = |last: u8| [10, 0, 0, last].into();
            let segment = Segment {
                time,
                number: 1,
                payload: b"",
                length: 0,
                sequence: 1,
                acknowledgement: 1,
                window: 1000,
                identification: -1,
                interface: 0,
                file: 0,
                flags: 0,
                window_scale: -1,
            };
            flows.push(&Key::new(host(1), host(2), port, 9092, b""), None, &segment, &mut ended);
        }
        assert_eq!(ended.0, [1]);
    }
}
