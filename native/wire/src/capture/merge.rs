//! The packets of several files by time; those of one file stay in its order.
//!
//! The order depends on the files alone: of those that overlap the earliest packet is next, and the file whose turn it
//! is goes on as long as no other has an earlier one. So it can be made piece by piece, as long as nothing is given that
//! a file which is not there yet could come before: nothing later than a time up to which all files are known, and
//! nothing of other files while one that is not over has no next packet yet.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::piece::Chunk;
use super::refusal::Refused;

/// A file that packets come from.
pub(super) trait Source {
    /// When its first packet was captured: it is not opened before.
    fn first_time(&self) -> i64;

    /// Which one of two goes first when their packets have the same time.
    fn compare(&self, other: &Self) -> Ordering;

    /// The time of the next packet; None where there is none, or none yet.
    fn head(&mut self) -> Result<Option<i64>, Refused>;

    /// The next packets that lie in one piece, up to the first one that is later than `limit`.
    fn take(&mut self, limit: i64) -> Option<Chunk>;

    /// Whether no more packets come, once there is no next one.
    fn is_over(&self) -> bool;

    /// Whether others need not wait for more of it.
    fn is_quiet(&self) -> bool;

    /// Lets go of the file.
    fn close(&mut self);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Open,
    Over,
}

/// Sources that are read together. Each has a slot, an index that stays the same.
#[derive(Debug)]
pub(super) struct Merge<S> {
    sources: Vec<Option<S>>,
    status: Vec<Status>,
    /// The place of every slot among packets of the same time.
    ranks: Vec<u32>,
    /// Those that are not open yet, the first one last.
    waiting: Vec<usize>,
    /// The next packets of those that are open but for the current one: time, rank, slot.
    heads: BinaryHeap<Reverse<(i64, u32, usize)>>,
    current: Option<usize>,
    /// A source that is not over has no next packet.
    is_blocked: bool,
    /// Something changed from outside.
    is_stale: bool,
    over: Vec<usize>,
}

impl<S: Source> Merge<S> {
    pub fn new() -> Merge<S> {
        Merge {
            sources: Vec::new(),
            status: Vec::new(),
            ranks: Vec::new(),
            waiting: Vec::new(),
            heads: BinaryHeap::new(),
            current: None,
            is_blocked: false,
            is_stale: false,
            over: Vec::new(),
        }
    }

    /// One more source; gives its slot.
    pub fn add(&mut self, source: S) -> usize {
        let slot = self
            .sources
            .iter()
            .position(Option::is_none)
            .unwrap_or(self.sources.len());
        if slot == self.sources.len() {
            self.sources.push(None);
            self.status.push(Status::Waiting);
        }
        self.sources[slot] = Some(source);
        self.status[slot] = Status::Waiting;
        self.is_stale = true;
        slot
    }

    /// All of them, with their slots, also those that are over and were not taken away.
    pub fn sources(&self) -> impl Iterator<Item = (usize, &S)> {
        self.sources
            .iter()
            .enumerate()
            .filter_map(|(slot, source)| Some((slot, source.as_ref()?)))
    }

    /// All of them, to be changed.
    pub fn sources_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.is_stale = true;
        self.sources.iter_mut().flatten()
    }

    /// Whether one is open, and whether it is its turn.
    pub fn standing(&self, slot: usize) -> (bool, bool) {
        (self.status.get(slot) == Some(&Status::Open), self.current == Some(slot))
    }

    /// Goes on with a source where another merge was.
    pub fn set_standing(&mut self, slot: usize, (is_open, is_current): (bool, bool)) {
        if let Some(status) = self.status.get_mut(slot).filter(|_| is_open) {
            *status = Status::Open;
            if is_current {
                self.current = Some(slot);
            }
        }
    }

    /// Takes away the sources that have come to their end since the last time, in that order.
    pub fn ended(&mut self) -> Vec<S> {
        self.over
            .drain(..)
            .filter_map(|slot| self.sources.get_mut(slot)?.take())
            .collect()
    }

    /// The next packets, up to a time, as far as they lie in one piece and no others come between; None where none are
    /// sure to be next.
    pub fn next(&mut self, last: i64) -> Result<Option<Chunk>, Refused> {
        if self.is_stale {
            self.refresh()?;
        }
        while let Some(slot) = self.turn(last)? {
            let first = self.first_waiting().map_or(i64::MAX, |slot| self.time_of(slot));
            let other = self.heads.peek().map_or(i64::MAX, |Reverse((time, _, _))| *time);
            let limit = last.min(first).min(other);
            let Some(source) = self.sources.get_mut(slot).and_then(Option::as_mut) else {
                self.current = None;
                continue;
            };
            match source.head()? {
                Some(time) if time <= limit => return Ok(source.take(limit)),
                Some(time) if time > last => return Ok(None),
                Some(time) => {
                    self.heads.push(Reverse((time, self.ranks[slot], slot)));
                    self.current = None;
                }
                None if source.is_over() => self.end(slot),
                None if source.is_quiet() => self.current = None,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Whose turn it is; None where that cannot be told yet, or where nobody has a packet up to `last`.
    fn turn(&mut self, last: i64) -> Result<Option<usize>, Refused> {
        if self.current.is_some() {
            return Ok(self.current);
        }
        if self.is_blocked {
            return Ok(None);
        }
        while let Some(slot) = self.first_waiting() {
            let first = self.heads.peek().map_or(i64::MAX, |Reverse((time, _, _))| *time);
            if self.time_of(slot) > first {
                break;
            }
            let Some(source) = self.sources.get_mut(slot).and_then(Option::as_mut) else {
                self.waiting.pop();
                continue;
            };
            let head = source.head()?;
            if head.is_none() && !source.is_over() && !source.is_quiet() {
                return Ok(None);
            }
            self.waiting.pop();
            self.status[slot] = Status::Open;
            self.place(slot, head);
        }
        match self.heads.peek() {
            Some(Reverse((time, _, slot))) if *time <= last => {
                self.current = Some(*slot);
                self.heads.pop();
            }
            _ => {}
        }
        Ok(self.current)
    }

    fn first_waiting(&self) -> Option<usize> {
        self.waiting.last().copied()
    }

    fn time_of(&self, slot: usize) -> i64 {
        self.sources
            .get(slot)
            .and_then(Option::as_ref)
            .map_or(i64::MIN, Source::first_time)
    }

    /// Puts an open source where it belongs.
    fn place(&mut self, slot: usize, head: Option<i64>) {
        let Some(source) = self.sources.get(slot).and_then(Option::as_ref) else {
            return;
        };
        match head {
            Some(time) => self.heads.push(Reverse((time, self.ranks[slot], slot))),
            None if source.is_over() => self.end(slot),
            None if source.is_quiet() => {}
            None => self.is_blocked = true,
        }
    }

    fn end(&mut self, slot: usize) {
        if let Some(source) = self.sources.get_mut(slot).and_then(Option::as_mut) {
            source.close();
        }
        if self.current == Some(slot) {
            self.current = None;
        }
        self.status[slot] = Status::Over;
        self.over.push(slot);
    }

    /// Looks at all sources again.
    fn refresh(&mut self) -> Result<(), Refused> {
        let mut slots: Vec<usize> = self.sources().map(|(slot, _)| slot).collect();
        slots.sort_by(|&one, &other| match (&self.sources[one], &self.sources[other]) {
            (Some(one), Some(other)) => one.compare(other),
            _ => Ordering::Equal,
        });
        self.ranks = vec![0; self.sources.len()];
        for (rank, &slot) in slots.iter().enumerate() {
            self.ranks[slot] = rank as u32;
        }
        self.waiting = slots
            .iter()
            .copied()
            .filter(|&slot| self.status[slot] == Status::Waiting)
            .collect();
        // Among those with the same first time the order of ranks stays.
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|&slot| self.time_of(slot));
        waiting.reverse();
        self.waiting = waiting;
        self.heads.clear();
        self.is_blocked = false;
        for slot in slots {
            if self.status[slot] != Status::Open || self.current == Some(slot) {
                continue;
            }
            let head = match &mut self.sources[slot] {
                Some(source) => source.head()?,
                None => None,
            };
            self.place(slot, head);
        }
        self.is_stale = false;
        Ok(())
    }
}
