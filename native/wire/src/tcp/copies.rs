//! Knows the last packets of a direction again: a capture may hold a packet twice, as seen at two interfaces.
//!
//! Packets are remembered in generations, which end with 32 packets or after a second or two. The current one and the one
//! before it are known, so at least the last 32 packets of the last second are. One list holds both. Where it is long, a
//! small filter for each tells at once that most packets are not known.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::packet::Segment;

const REMEMBERED: usize = 32;

/// Time in steps of this many bits of nanoseconds, about a second: a generation lasts for two of them at most, as a
/// connection that says little would hold what can have no copies any more.
const STEP: u32 = 30;

/// There may be very many connections: room is kept for no more than so many times the packets that are remembered.
const ROOM: usize = 4;

/// So many packets are looked through without a filter.
const FEW: usize = 8;

/// Nanoseconds within which the same packet is seen a second time, for example by `tcpdump -i any`.
const SAME_PACKET: u64 = 1_000_000;

/// Of the places that a packet was seen at so many are remembered, the last ones.
const PLACES: usize = 8;

/// A generation grows beyond its 32 by packets of the one before that are seen again, but to no more than this.
const MOST_ENTRIES: usize = 256;

/// When there are so many lists of places, those are forgotten that no packet has any more.
const MOST_LISTS: usize = 2 * MOST_ENTRIES;

/// Where a packet was captured: interface and file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct At {
    pub interface: u32,
    pub file: u32,
}

impl At {
    #[inline]
    pub fn of(segment: &Segment<'_>) -> At {
        At {
            interface: segment.interface,
            file: segment.file,
        }
    }
}

type Seen = SmallVec<[At; 2]>;

/// What few directions have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Rare {
    /// What is in the generation before and in the current one; None as long as they are short.
    filters: Option<[Filter; 2]>,
    /// Lists of places from number 1 on, each once.
    lists: Vec<Seen>,
}

/// What a packet is known by: with payload its sequence number, else everything that it says.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    sequence: u32,
    acknowledgement: u32,
    /// Window and flags, or `PAYLOAD`.
    rest: u32,
}

const PAYLOAD: u32 = 1 << 24;
const UNIDENTIFIED: u32 = 1 << 25;

impl Key {
    #[inline]
    fn of(segment: &Segment<'_>) -> Key {
        if segment.length > 0 {
            return Key {
                sequence: segment.sequence,
                acknowledgement: 0,
                rest: PAYLOAD,
            };
        }
        let rest = (segment.window & 0xFFFF) << 8 | u32::from(segment.flags);
        Key {
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            rest,
        }
    }
}

/// A packet that was seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    time: i64,
    sequence: u32,
    /// The acknowledgement, or the length of a packet with payload.
    more: u32,
    /// As in the key, and `UNIDENTIFIED` without identification.
    rest: u32,
    identification: u16,
    /// Which list of places it was seen at.
    places: u16,
}

impl Entry {
    fn key(&self) -> Key {
        let rest = self.rest & !UNIDENTIFIED;
        Key {
            sequence: self.sequence,
            acknowledgement: if rest == PAYLOAD { 0 } else { self.more },
            rest,
        }
    }

    #[inline]
    fn is(&self, key: Key) -> bool {
        self.sequence == key.sequence
            && self.rest & !UNIDENTIFIED == key.rest
            && (key.rest == PAYLOAD || self.more == key.acknowledgement)
    }
}

/// A set of keys that may say that it has one that it has not.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Filter(u64, u64);

impl Filter {
    #[inline]
    fn bits(key: Key) -> (u64, u64) {
        let both = u64::from(key.sequence) | u64::from(key.acknowledgement ^ key.rest) << 32;
        let mixed = (both ^ both >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (1 << (mixed >> 58), 1 << (mixed >> 52 & 63))
    }

    #[inline]
    fn may_have(self, key: Key) -> bool {
        let (one, two) = Filter::bits(key);
        self.0 & one != 0 && self.1 & two != 0
    }

    #[inline]
    fn add(&mut self, key: Key) {
        let (one, two) = Filter::bits(key);
        self.0 |= one;
        self.1 |= two;
    }

    fn of(entries: &[Entry]) -> Filter {
        let mut filter = Filter::default();
        entries.iter().for_each(|entry| filter.add(entry.key()));
        filter
    }
}

/// The packets of a direction that are known again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Copies {
    /// Those of the generation before, then those of the current one: of a connection that says little, only one.
    entries: SmallVec<[Entry; 1]>,
    /// How many are of the generation before.
    older: u32,
    /// The step of time in which the current generation began.
    began: u32,
    /// List 0 of places is this one, which is usually the only one.
    first: At,
    rare: Option<Box<Rare>>,
}

impl Copies {
    /// Looks at what remembering a packet will look at.
    #[inline]
    pub fn touch(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.sequence.into())
    }

    /// Whether a packet was captured before, at another place or a moment ago; whether or not, it is remembered.
    pub fn is_copy(&mut self, segment: &Segment<'_>) -> bool {
        let key = Key::of(segment);
        let here = At::of(segment);
        if let Some((at, entry)) = self.find(key)
            && (key.rest != PAYLOAD || entry.more == segment.length)
        {
            let same = entry.identification == identification(segment).0
                && entry.rest & UNIDENTIFIED == identification(segment).1
                && entry.time.abs_diff(segment.time) < SAME_PACKET;
            let places = self.list(entry.places);
            if same || !places.contains(&here) {
                let mut places: Seen = places[places.len().saturating_sub(PLACES - 1)..].into();
                places.push(here);
                let places = self.index(places);
                self.see_again(at, Entry { places, ..entry }, key);
                return true;
            }
        }
        self.remember(segment);
        false
    }

    /// Keep what a packet would be known again by; of old ones nothing is kept.
    #[inline]
    pub fn remember(&mut self, segment: &Segment<'_>) {
        let key = Key::of(segment);
        let here = At::of(segment);
        if self.entries.is_empty() {
            self.first = here;
        }
        let places = if here == self.first {
            0
        } else {
            self.index(SmallVec::from_slice(&[here]))
        };
        let (identification, unidentified) = identification(segment);
        let entry = Entry {
            time: segment.time,
            sequence: segment.sequence,
            more: if key.rest == PAYLOAD {
                segment.length
            } else {
                segment.acknowledgement
            },
            rest: key.rest | unidentified,
            identification,
            places,
        };
        let step = (segment.time >> STEP) as u32;
        let current = self.entries.len() - self.older();
        let is_over = step.wrapping_sub(self.began).cast_signed() > 1;
        if current == 0 || current >= REMEMBERED || is_over {
            self.begin_generation(segment.time);
            self.began = step;
        } else if let Some((at, _)) = self.find_in_current(key) {
            self.entries[at] = entry;
            return;
        }
        self.push(entry, key);
    }

    /// Compiled into where every packet comes by: a call would cost half a hundredth of all time.
    #[inline(always)]
    fn push(&mut self, entry: Entry, key: Key) {
        let count = self.entries.len();
        self.entries.push(entry);
        if let Some([_, filter]) = self.filters_mut() {
            filter.add(key);
        } else if count == FEW {
            self.filter();
        }
    }

    #[inline]
    fn filters(&self) -> Option<&[Filter; 2]> {
        self.rare.as_ref()?.filters.as_ref()
    }

    #[inline]
    fn filters_mut(&mut self) -> Option<&mut [Filter; 2]> {
        self.rare.as_mut()?.filters.as_mut()
    }

    /// Has filters from now on.
    #[cold]
    fn filter(&mut self) {
        let (before, current) = self.entries.split_at(self.older());
        let filters = [before, current].map(Filter::of);
        self.rare.get_or_insert_default().filters = Some(filters);
    }

    /// How many are of the generation before.
    #[inline]
    fn older(&self) -> usize {
        (self.older as usize).min(self.entries.len())
    }

    /// What was the current generation is the one before; of one that was silent for a second nothing is kept.
    fn begin_generation(&mut self, now: i64) {
        let is_old = |entry: &Entry| now.saturating_sub(entry.time) >> STEP > 0;
        if self.entries[self.older()..].iter().all(is_old) {
            self.entries.clear();
        } else {
            self.entries.drain(..self.older());
        }
        let count = self.entries.len();
        self.older = count as u32;
        // A connection that said much may be silent from now on.
        if self.entries.capacity() > ROOM * count {
            self.entries.shrink_to_fit();
        }
        if let Some(rare) = &mut self.rare {
            rare.filters = rare
                .filters
                .filter(|_| count > FEW)
                .map(|[_, known]| [known, Filter::default()]);
            if rare.filters.is_none() && rare.lists.is_empty() {
                self.rare = None;
            }
        }
    }

    fn find(&self, key: Key) -> Option<(usize, Entry)> {
        self.find_in_current(key).or_else(|| {
            let may_have = self.filters().is_none_or(|[before, _]| before.may_have(key));
            if may_have {
                self.find_from(0, self.older(), key)
            } else {
                None
            }
        })
    }

    #[inline]
    fn find_in_current(&self, key: Key) -> Option<(usize, Entry)> {
        let may_have = self.filters().is_none_or(|[_, current]| current.may_have(key));
        if may_have {
            self.find_from(self.older(), self.entries.len(), key)
        } else {
            None
        }
    }

    fn find_from(&self, from: usize, to: usize, key: Key) -> Option<(usize, Entry)> {
        let entries = self.entries.get(from..to)?;
        let at = entries.iter().rposition(|entry| entry.is(key))?;
        Some((from + at, entries[at]))
    }

    /// A packet that is known was seen at one more place, which makes it one of the current generation.
    fn see_again(&mut self, at: usize, entry: Entry, key: Key) {
        if at < self.older() && self.entries.len() < MOST_ENTRIES {
            self.push(entry, key);
        } else {
            self.entries[at] = entry;
        }
    }

    fn list(&self, number: u16) -> &[At] {
        match usize::from(number).checked_sub(1) {
            None => std::slice::from_ref(&self.first),
            Some(index) => self.lists().get(index).map_or(&[], |list| list.as_slice()),
        }
    }

    /// Those from number 1 on.
    fn lists(&self) -> &[Seen] {
        self.rare.as_ref().map_or(&[], |rare| &rare.lists)
    }

    /// The number of a list of places.
    fn index(&mut self, places: Seen) -> u16 {
        if self.lists().len() >= MOST_LISTS {
            self.tidy();
        }
        let lists = &mut self.rare.get_or_insert_default().lists;
        let index = lists.iter().position(|list| *list == places).unwrap_or_else(|| {
            lists.push(places);
            lists.len() - 1
        });
        u16::try_from(index + 1).unwrap_or(0)
    }

    /// Forget the lists of places that no packet has any more.
    fn tidy(&mut self) {
        let old = self.rare.as_mut().map(|rare| std::mem::take(&mut rare.lists));
        let old = old.unwrap_or_default();
        let mut entries = std::mem::take(&mut self.entries);
        for entry in &mut entries {
            if let Some(list) = usize::from(entry.places)
                .checked_sub(1)
                .and_then(|index| old.get(index))
            {
                entry.places = self.index(list.clone());
            }
        }
        self.entries = entries;
    }

    /// Whether this can have come about by remembering packets.
    pub fn is_sound(&self) -> bool {
        let lists = self.lists().len();
        self.entries.len() <= MOST_ENTRIES
            && self.older as usize <= self.entries.len()
            && lists <= MOST_LISTS
            && self.entries.iter().all(|entry| usize::from(entry.places) <= lists)
    }
}

/// The identification of a packet's IPv4 header, and `UNIDENTIFIED` where there is none.
#[inline]
fn identification(segment: &Segment<'_>) -> (u16, u32) {
    (
        segment.identification as u16,
        if segment.identification < 0 { UNIDENTIFIED } else { 0 },
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// Two generations, each a map: what `Copies` has to be the same as.
    #[derive(Default)]
    struct Maps {
        recent: Generation,
        older: Generation,
        began: i64,
    }

    type Generation = HashMap<(u32, u32, u32), (u32, i64, i32, Vec<At>)>;

    impl Maps {
        fn is_copy(&mut self, segment: &Segment<'_>, is_next: bool) -> bool {
            let key = Key::of(segment);
            let key = (key.sequence, key.acknowledgement, key.rest);
            let here = At::of(segment);
            let known = self.recent.get(&key).or(self.older.get(&key));
            if let Some((length, time, identification, places)) = known
                && *length == segment.length
                && !is_next
            {
                let moment = time.abs_diff(segment.time) < SAME_PACKET;
                if !places.contains(&here) || (moment && *identification == segment.identification) {
                    let mut places = places[places.len().saturating_sub(7)..].to_vec();
                    places.push(here);
                    self.recent.insert(key, (*length, *time, *identification, places));
                    return true;
                }
            }
            let step = segment.time >> STEP;
            if self.recent.is_empty() || self.recent.len() >= REMEMBERED || step > self.began + 1 {
                self.older = std::mem::take(&mut self.recent);
                if self
                    .older
                    .values()
                    .all(|(_, time, ..)| (segment.time - time) >> STEP > 0)
                {
                    self.older.clear();
                }
                self.began = step;
            }
            self.recent
                .insert(key, (segment.length, segment.time, segment.identification, vec![here]));
            false
        }
    }

    fn segment(sequence: u32, length: u32, time: i64, interface: u32) -> Segment<'static> {
        Segment {
            time,
            number: 1,
            payload: &[],
            length,
            sequence,
            acknowledgement: 5,
            window: 100,
            identification: 9,
            interface,
            file: 0,
            flags: 16,
            window_scale: -1,
        }
    }

    #[test]
    fn a_packet_is_as_small_as_it_is_said_to_be() {
        assert_eq!(size_of::<Entry>(), 24);
    }

    #[test]
    fn a_connection_that_says_little_holds_little() {
        let mut copies = Copies::default();
        for number in 0..200 {
            let time = if number < 100 { 0 } else { i64::from(number) << STEP };
            assert!(!copies.is_copy(&segment(number, 1, time, 0)));
        }
        assert!(copies.entries.len() <= 2);
        assert!(copies.entries.capacity() <= 2);
        assert!(copies.rare.is_none());
        assert!(copies.is_copy(&segment(199, 1, 199 << STEP, 1)));
        assert!(!copies.is_copy(&segment(190, 1, 199 << STEP, 1)));
        assert!(!copies.is_copy(&segment(200, 1, 203 << STEP, 0)));
        assert!(!copies.entries.spilled());
    }

    #[test]
    fn places_that_no_packet_has_any_more_are_forgotten() {
        let mut copies = Copies::default();
        for number in 0..5_000 {
            assert!(!copies.is_copy(&segment(number, 1, 0, number)));
            assert!(copies.is_copy(&segment(number, 1, 0, number + 1)));
        }
        assert!((1..=MOST_LISTS).contains(&copies.lists().len()));
        assert!(copies.is_copy(&segment(4_990, 1, 0, 7)));
        assert!(copies.is_sound());
    }

    proptest! {
        #[test]
        fn the_same_as_two_generations_of_maps(
            drawn in proptest::collection::vec((0u32..90, 0u32..4, 0u32..3, 0i64..3, 0u32..3, -1i32..3), 0..900),
            pause in prop_oneof![Just(50_000i64), Just(200_000_000), Just(700_000_000), Just(1_500_000_000)],
        ) {
            let (mut copies, mut maps) = (Copies::default(), Maps::default());
            for (number, (sequence, length, acknowledgement, late, interface, identification)) in
                drawn.into_iter().enumerate()
            {
                let time = number as i64 * pause + late * SAME_PACKET as i64;
                let sequence = sequence + number as u32 / 8;
                let segment = Segment { acknowledgement, identification, ..segment(sequence, length, time, interface) };
                let is_next = length == 3;
                if is_next {
                    copies.remember(&segment);
                }
                let copied = !is_next && copies.is_copy(&segment);
                prop_assert_eq!(copied, maps.is_copy(&segment, is_next));
                prop_assert_eq!(copies.entries.len() - copies.older(), maps.recent.len());
                prop_assert!(copies.is_sound());
            }
        }
    }
}
