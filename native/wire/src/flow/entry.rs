//! What the packets of a connection tell, whatever it speaks.

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};
use serde::{Deserialize, Serialize};

use crate::decode::{KeptKey, Key};
use crate::packet::{ACK, FIN, RST, SYN, Segment};

/// So many interfaces, and other addresses, of a connection are told.
const MOST_PLACES: usize = 16;
/// What is seen again so much later is no copy that a network made.
const LATER: i64 = 50_000_000;

/// How a connection was opened, as the column `opening` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    Complete,
    Unseen,
    Refused,
    Half,
    Unreachable,
    Unanswered,
}

impl Opening {
    pub fn as_str(self) -> &'static str {
        match self {
            Opening::Complete => "complete",
            Opening::Unseen => "unseen",
            Opening::Refused => "refused",
            Opening::Half => "half",
            Opening::Unreachable => "unreachable",
            Opening::Unanswered => "unanswered",
        }
    }
}

/// The first segments of both sides; `opener` is the side of the SYN, None before one was seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Handshake {
    /// From the SYN to the ACK of its SYN-ACK; as long as one of them was not seen, what the other one adds to it.
    took: i64,
    is_sent: bool,
    is_answered: bool,
    is_acknowledged: bool,
    opener: Option<u8>,
    refused: bool,
    saw_data: bool,
    unreachable: bool,
}

impl Handshake {
    /// Whether no later segment without SYN can tell anything new.
    #[inline]
    fn is_over(&self) -> bool {
        self.is_acknowledged || (self.saw_data && self.opener.is_none())
    }

    fn push(&mut self, side: u8, segment: &Segment<'_>) {
        let Segment { flags, time, .. } = *segment;
        if flags & SYN != 0 {
            if flags & ACK != 0 {
                self.opener.get_or_insert(1 - side);
                self.is_answered = true;
            } else if !self.is_sent {
                self.is_sent = true;
                self.took = self.took.wrapping_sub(time);
                self.opener = Some(side);
            }
            return;
        }
        if flags & RST != 0 {
            if self.opener.is_some_and(|opener| opener != side) && !self.is_answered {
                self.refused = true;
            }
        } else if flags & ACK != 0 && self.opener == Some(side) && self.is_answered && !self.is_acknowledged {
            self.is_acknowledged = true;
            self.took = self.took.wrapping_add(time);
        }
        self.saw_data |= segment.length > 0;
    }
}

/// Where a connection was seen under other addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// With side 0 as the source.
    pub key: Key,
    pub interface: u32,
}

/// One connection. There may be very many: what few have lies elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The same in every run over the same packets, whoever computes it.
    pub number: i64,
    /// How many connections began before it.
    pub order: u64,
    /// The first key by which it was seen, with side 0 as the source.
    key: KeptKey,
    pub first_time: i64,
    pub last_time: i64,
    /// The file of its first packet.
    pub file: u32,
    /// The first one that was named; 0 before.
    interface: u32,
    handshake: Handshake,
    /// The numbers of the SYNs, of both sides, and whether they were seen.
    initial: [u32; 2],
    syns: [bool; 2],
    fins: [bool; 2],
    reset: Option<u8>,
    rare: Option<Box<Rare>>,
}

/// Of a connection that was seen at several places.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Rare {
    /// Other keys that it is known by, as often as it was seen under them.
    keys: Vec<KeptKey>,
    places: Vec<Place>,
    sightings: u32,
    like_copies: u32,
    /// Behind the first one.
    interfaces: Vec<u32>,
}

impl Entry {
    /// Of its first segment, whose sender sees these ends; side 0 opened it where the segment tells that.
    pub(super) fn new(key: &Key, segment: &Segment<'_>, order: u64) -> (Entry, u8) {
        let side = u8::from(segment.flags & (SYN | ACK) == SYN | ACK);
        let entry = Entry {
            number: number_of(key, segment.time),
            order,
            key: oriented(key, side).into(),
            first_time: segment.time,
            last_time: segment.time,
            file: segment.file,
            interface: 0,
            handshake: Handshake::default(),
            initial: [0; 2],
            syns: [false; 2],
            fins: [false; 2],
            reset: None,
            rare: None,
        };
        (entry, side)
    }

    /// The first key by which it was seen, with side 0 as the source.
    pub fn first_key(&self) -> Key {
        self.key.key()
    }

    /// What it is known by, each with side 0 as the source: the first one by which it was seen.
    pub fn keys(&self) -> impl Iterator<Item = &KeptKey> {
        std::iter::once(&self.key).chain(self.rare.iter().flat_map(|rare| &rare.keys))
    }

    /// One of these.
    #[inline]
    pub(super) fn key(&self, at: usize) -> Option<&KeptKey> {
        match at.checked_sub(1) {
            None => Some(&self.key),
            Some(at) => self.rare.as_ref()?.keys.get(at),
        }
    }

    /// The places at which it was seen under other keys later.
    pub fn places(&self) -> &[Place] {
        self.rare.as_ref().map_or(&[], |rare| &rare.places)
    }

    /// How often it was seen again under other addresses.
    pub fn sightings(&self) -> u32 {
        self.rare.as_ref().map_or(0, |rare| rare.sightings)
    }

    /// How often of these as a file that was copied or replayed has it.
    pub fn like_copies(&self) -> u32 {
        self.rare.as_ref().map_or(0, |rare| rare.like_copies)
    }

    /// Those that packets named, in the order in which they were seen first.
    pub fn interfaces(&self) -> impl Iterator<Item = u32> {
        let first = Some(self.interface).filter(|interface| *interface != 0);
        let others = self.rare.iter().flat_map(|rare| rare.interfaces.iter().copied());
        first.into_iter().chain(others)
    }

    /// Looks at what the next segment will look at.
    #[inline]
    pub(super) fn touch(&self) -> u64 {
        let is_over = u64::from(self.handshake.is_over());
        (self.last_time ^ self.first_time).cast_unsigned() ^ is_over ^ u64::from(self.interface)
    }

    /// The next segment, in the order of the capture.
    #[inline]
    pub(super) fn push(&mut self, side: u8, segment: &Segment<'_>) {
        if segment.time > self.last_time {
            self.last_time = segment.time;
        } else if segment.time < self.first_time {
            self.first_time = segment.time;
        }
        if segment.interface != self.interface {
            self.on(segment.interface);
        }
        if !self.handshake.is_over() || segment.flags & SYN != 0 {
            self.handshake.push(side, segment);
        }
        if segment.flags & (SYN | FIN | RST) != 0 {
            let at = usize::from(side & 1);
            if segment.flags & SYN != 0 {
                (self.initial[at], self.syns[at]) = (segment.sequence, true);
            } else if segment.flags & FIN != 0 {
                self.fins[at] = true;
            } else {
                self.reset.get_or_insert(side);
            }
        }
    }

    #[cold]
    fn on(&mut self, interface: u32) {
        if self.interface == 0 {
            self.interface = interface;
        } else if interface != 0 {
            let others = &mut self.rare.get_or_insert_default().interfaces;
            if others.len() + 1 < MOST_PLACES && !others.contains(&interface) {
                others.push(interface);
            }
        }
    }

    /// It is seen under other addresses, too; `original` is when the same segment was seen, and where.
    pub(super) fn also_seen(&mut self, key: &Key, side: u8, segment: &Segment<'_>, original: (i64, u32)) {
        let key = oriented(key, side);
        let rare = self.rare.get_or_insert_default();
        rare.sightings = rare.sightings.saturating_add(1);
        let (time, interface) = original;
        let passed = segment.time.saturating_sub(time);
        if interface == segment.interface && (passed == 0 || passed > LATER) {
            rare.like_copies = rare.like_copies.saturating_add(1);
        }
        let place = Place {
            key: key.clone(),
            interface: segment.interface,
        };
        if rare.places.len() < MOST_PLACES && !rare.places.contains(&place) {
            rare.places.push(place);
        }
        rare.keys.push(key.into());
    }

    /// An ICMP error came back for one of its segments.
    pub(super) fn unreachable(&mut self) {
        self.handshake.unreachable = true;
    }

    /// Whether a SYN of this side opens another connection on the same addresses.
    pub(super) fn is_another(&self, side: u8, segment: &Segment<'_>) -> bool {
        let at = usize::from(side & 1);
        if self.syns[at] {
            self.initial[at] != segment.sequence
        } else {
            self.handshake.saw_data || self.is_closed()
        }
    }

    /// Whether nothing more is to come: reset, refused, or closed by both sides.
    pub fn is_closed(&self) -> bool {
        self.reset.is_some() || self.fins == [true; 2]
    }

    /// The side of the SYN, where one was seen.
    pub fn opener(&self) -> Option<usize> {
        self.handshake.opener.map(usize::from)
    }

    pub fn opening(&self) -> Opening {
        let Handshake {
            opener,
            refused,
            saw_data,
            unreachable,
            is_answered,
            is_acknowledged,
            ..
        } = self.handshake;
        if is_acknowledged || (opener.is_some() && saw_data) {
            Opening::Complete
        } else if opener.is_none() {
            Opening::Unseen
        } else if refused {
            Opening::Refused
        } else if is_answered {
            Opening::Half
        } else if unreachable {
            Opening::Unreachable
        } else {
            Opening::Unanswered
        }
    }

    /// From SYN to the ACK of the SYN-ACK; None unless all three were captured.
    pub fn handshake_ms(&self) -> Option<f64> {
        let it = &self.handshake;
        let is_whole = it.is_sent && it.is_answered && it.is_acknowledged;
        is_whole.then_some(it.took as f64 / 1e6)
    }

    /// As the column `ending` has it.
    pub fn ending(&self, client_side: usize) -> &'static str {
        match self.reset {
            Some(side) if usize::from(side) == client_side => "reset-by-client",
            Some(_) => "reset-by-broker",
            None if self.fins.contains(&true) => "fin",
            None => "open",
        }
    }

    /// Whether this can have come about by segments.
    pub(super) fn is_sound(&self) -> bool {
        let is_side = |side: Option<u8>| side.is_none_or(|side| side < 2);
        self.places().len() <= MOST_PLACES
            && self.interfaces().count() <= MOST_PLACES
            && is_side(self.reset)
            && is_side(self.handshake.opener)
    }
}

/// A key with side 0 as the source, where the sender of this side sees it.
fn oriented(key: &Key, side: u8) -> Key {
    if side == 0 { key.clone() } else { key.reversed() }
}

fn number_of(key: &Key, time: i64) -> i64 {
    let mut hash = Blake2b::<U8>::new();
    hash.update(format!("{time}|"));
    hash.update(key.source_bytes());
    hash.update("|");
    hash.update(key.destination_bytes());
    hash.update(format!("|{}|{}|", key.source_port(), key.destination_port()));
    hash.update(key.context());
    i64::from_be_bytes(hash.finalize().into())
}
