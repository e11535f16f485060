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

    /// Whether the next packet is there, so that nobody has to wait for it.
    fn is_ready(&self) -> bool;

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
    /// Those that are open, in the order in which they were opened.
    open: Vec<usize>,
    /// Something changed from outside: all sources are to be looked at again.
    is_stale: bool,
    /// Since then it was not looked which ones are over or have no packet yet.
    is_unsettled: bool,
    over: Vec<usize>,
    /// Slots whose sources were taken away.
    free: Vec<usize>,
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
            open: Vec::new(),
            is_stale: false,
            is_unsettled: false,
            over: Vec::new(),
            free: Vec::new(),
        }
    }

    /// One more source; its slot is the number of those before, as long as none is taken away.
    pub fn add(&mut self, source: S) -> usize {
        self.is_stale = true;
        match self.free.pop() {
            Some(slot) => {
                self.sources[slot] = Some(source);
                self.status[slot] = Status::Waiting;
                slot
            }
            None => {
                self.sources.push(Some(source));
                self.status.push(Status::Waiting);
                self.sources.len() - 1
            }
        }
    }

    /// All of them, also those that are over and were not taken away, in the order of their slots.
    pub fn sources(&self) -> impl Iterator<Item = &S> {
        self.sources.iter().flatten()
    }

    /// Those that are not over, to be changed.
    pub fn sources_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.is_stale = true;
        let all = self.sources.iter_mut().zip(&self.status);
        all.filter_map(|(source, status)| source.as_mut().filter(|_| *status != Status::Over))
    }

    /// Those that are not over, those that are open first: whether each one is open, and whether it is its turn.
    pub fn standing(&self) -> impl Iterator<Item = (&S, bool, bool)> {
        let open = self.open.iter().map(|&slot| (slot, true));
        let waiting = (0..self.sources.len()).filter(|&slot| self.status[slot] == Status::Waiting);
        open.chain(waiting.map(|slot| (slot, false)))
            .filter_map(|(slot, is_open)| Some((self.sources[slot].as_ref()?, is_open, self.current == Some(slot))))
    }

    /// One more source that stands as it did in another merge.
    pub fn add_standing(&mut self, source: S, is_open: bool, is_current: bool) {
        let slot = self.add(source);
        if is_open {
            self.status[slot] = Status::Open;
            self.open.push(slot);
            if is_current {
                self.current = Some(slot);
            }
        }
    }

    /// Takes away the sources that have come to their end since the last time, in that order.
    pub fn ended(&mut self) -> Vec<S> {
        let over = std::mem::take(&mut self.over);
        let ended = over
            .iter()
            .filter_map(|&slot| self.sources.get_mut(slot)?.take())
            .collect();
        self.free.extend(over);
        ended
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

    /// Whether the source whose turn it is has a next packet, so that nothing must be read for it.
    pub fn is_ready(&self) -> bool {
        let current = self.current.and_then(|slot| self.sources.get(slot)?.as_ref());
        current.is_some_and(Source::is_ready)
    }

    /// Whose turn it is; None where that cannot be told yet, or where nobody has a packet up to `last`.
    fn turn(&mut self, last: i64) -> Result<Option<usize>, Refused> {
        if self.current.is_some() {
            return Ok(self.current);
        }
        if self.is_unsettled && !self.settle()? {
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
            let is_over = head.is_none() && source.is_over();
            self.waiting.pop();
            self.status[slot] = Status::Open;
            self.open.push(slot);
            if let Some(time) = head {
                self.heads.push(Reverse((time, self.ranks[slot], slot)));
            } else if is_over {
                self.end(slot);
            }
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

    /// Whether all open sources have a next packet, are quiet or over; the latter are ended.
    fn settle(&mut self) -> Result<bool, Refused> {
        for slot in self.open.clone() {
            let Some(source) = self.sources.get_mut(slot).and_then(Option::as_mut) else {
                continue;
            };
            if source.head()?.is_some() {
                continue;
            }
            if source.is_over() {
                self.end(slot);
            } else if !source.is_quiet() {
                return Ok(false);
            }
        }
        self.is_unsettled = false;
        Ok(true)
    }

    fn end(&mut self, slot: usize) {
        if let Some(source) = self.sources.get_mut(slot).and_then(Option::as_mut) {
            source.close();
        }
        if self.current == Some(slot) {
            self.current = None;
        }
        self.status[slot] = Status::Over;
        self.open.retain(|&open| open != slot);
        self.over.push(slot);
    }

    /// Looks at all sources again.
    fn refresh(&mut self) -> Result<(), Refused> {
        let mut slots: Vec<usize> = (0..self.sources.len()).collect();
        slots.retain(|&slot| self.status[slot] != Status::Over);
        slots.sort_by(|&one, &other| match (&self.sources[one], &self.sources[other]) {
            (Some(one), Some(other)) => one.compare(other),
            _ => Ordering::Equal,
        });
        self.ranks = vec![0; self.sources.len()];
        for (rank, &slot) in slots.iter().enumerate() {
            self.ranks[slot] = rank as u32;
        }
        // Among those with the same first time the order of ranks stays.
        slots.retain(|&slot| self.status[slot] == Status::Waiting);
        slots.sort_by_key(|&slot| self.time_of(slot));
        slots.reverse();
        self.waiting = slots;
        self.heads.clear();
        for &slot in self.open.iter().filter(|&&slot| self.current != Some(slot)) {
            if let Some(source) = &mut self.sources[slot]
                && let Some(time) = source.head()?
            {
                self.heads.push(Reverse((time, self.ranks[slot], slot)));
            }
        }
        self.is_stale = false;
        self.is_unsettled = true;
        Ok(())
    }
}
