//! Recognising a connection that is seen at several places: on a veth, on its bridge, behind address translation.
//!
//! Translation changes addresses and the broker's port, never sequence and acknowledgement numbers, and the client's
//! port only where it is taken. So the first packet of a pair of addresses that nobody knows is held against the port
//! and the initial number of connections that have just been opened, and against the numbers of the last packets of
//! all. Captures that somebody made up repeat numbers, but not the client's port.

use serde::{Deserialize, Serialize};

use crate::packet::{ACK, SYN, Segment};

/// So many packets are remembered of each kind.
const RECENT: usize = 8192;
const BUCKETS: usize = 2 * RECENT;
const OPENED_WITHIN: i64 = 3_000_000_000;
const SEEN_WITHIN: i64 = 1_000_000_000;

/// Who sent a packet, when and where it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sent {
    pub slot: u32,
    /// The lower half of the order of the connection, as others may have its slot later.
    pub order: u32,
    pub side: u8,
    pub time: i64,
    pub interface: u32,
    ports: (u16, u16),
}

/// Remembers who sent which numbers lately.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Linker {
    opened: Recent,
    sent: Recent,
}

impl Linker {
    /// Who sent this segment, whose pair of addresses is not known; with that side.
    pub fn find(&self, segment: &Segment<'_>, ports: (u16, u16)) -> Option<Sent> {
        if segment.flags & SYN == 0 {
            let sent = self
                .sent
                .get(numbers(segment), segment.time.saturating_sub(SEEN_WITHIN))?;
            let is_kept = sent.ports.0 == ports.0 || sent.ports.1 == ports.1;
            return is_kept.then_some(sent);
        }
        let since = segment.time.saturating_sub(OPENED_WITHIN);
        if segment.flags & ACK == 0 {
            return self.opened.get(opening(segment.sequence, ports.0), since);
        }
        let initial = segment.acknowledgement.wrapping_sub(1);
        let opener = self.opened.get(opening(initial, ports.1), since)?;
        Some(Sent {
            side: 1 - opener.side,
            ..opener
        })
    }

    /// Remembers a segment of a known connection.
    #[inline]
    pub fn note(&mut self, segment: &Segment<'_>, ports: (u16, u16), slot: u32, order: u32, side: u8) {
        let sent = Sent {
            slot,
            order,
            side,
            time: segment.time,
            interface: segment.interface,
            ports,
        };
        if segment.flags & (SYN | ACK) == SYN {
            self.opened.put(opening(segment.sequence, ports.0), sent);
        } else {
            self.sent.put(numbers(segment), sent);
        }
    }
}

/// What a packet is known by.
type Numbers = (u32, u32, u32);

fn numbers(segment: &Segment<'_>) -> Numbers {
    (segment.sequence, segment.acknowledgement, segment.length)
}

fn opening(sequence: u32, port: u16) -> Numbers {
    (sequence, port.into(), 0)
}

/// The last packets; of those with the same numbers the last is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<(Numbers, Sent)>", into = "Vec<(Numbers, Sent)>")]
struct Recent {
    /// A ring, which grows to `RECENT` packets.
    packets: Vec<Noted>,
    /// How many there were, from 0 again behind the largest number.
    count: u32,
    /// The count behind the last packet in each bucket.
    buckets: Box<[u32]>,
}

#[derive(Clone, Copy, Debug)]
struct Noted {
    numbers: Numbers,
    sent: Sent,
    /// The count behind the one before in the same bucket.
    before: u32,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent {
            packets: Vec::new(),
            count: 0,
            buckets: vec![0; BUCKETS].into(),
        }
    }
}

impl Recent {
    fn get(&self, numbers: Numbers, since: i64) -> Option<Sent> {
        let mut place = self.buckets[bucket(numbers)];
        let mut newer = None;
        loop {
            // What was overwritten ends the chain, which leads to older ones only.
            let age = self.count.wrapping_sub(place) as usize;
            if age >= RECENT || newer.is_some_and(|newer| age <= newer) {
                return None;
            }
            let noted = self.packets.get(place.wrapping_sub(1) as usize % RECENT)?;
            if noted.numbers == numbers {
                return Some(noted.sent).filter(|sent| sent.time >= since);
            }
            (place, newer) = (noted.before, Some(age));
        }
    }

    #[inline]
    fn put(&mut self, numbers: Numbers, sent: Sent) {
        let bucket = &mut self.buckets[bucket(numbers)];
        let noted = Noted {
            numbers,
            sent,
            before: *bucket,
        };
        let place = self.count as usize % RECENT;
        match self.packets.get_mut(place) {
            Some(oldest) => *oldest = noted,
            None => self.packets.push(noted),
        }
        self.count = self.count.wrapping_add(1);
        *bucket = self.count;
    }
}

#[inline]
fn bucket((sequence, acknowledgement, length): Numbers) -> usize {
    let mixed = (u64::from(sequence) << 32 | u64::from(acknowledgement))
        .wrapping_add(u64::from(length) << 17)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % BUCKETS
}

impl From<Vec<(Numbers, Sent)>> for Recent {
    fn from(packets: Vec<(Numbers, Sent)>) -> Recent {
        let mut recent = Recent::default();
        for (numbers, sent) in packets {
            recent.put(
                numbers,
                Sent {
                    side: sent.side & 1,
                    ..sent
                },
            );
        }
        recent
    }
}

impl From<Recent> for Vec<(Numbers, Sent)> {
    fn from(recent: Recent) -> Vec<(Numbers, Sent)> {
        let oldest = recent.count as usize % RECENT;
        let (later, earlier) = recent.packets.split_at(oldest.min(recent.packets.len()));
        let both = earlier.iter().chain(later);
        both.map(|noted| (noted.numbers, noted.sent)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(slot: u32, time: i64) -> Sent {
        Sent {
            slot,
            order: 0,
            side: 0,
            time,
            interface: 0,
            ports: (1, 2),
        }
    }

    #[test]
    fn the_last_packets_are_remembered() {
        let mut recent = Recent::default();
        for number in 0..20_000u32 {
            recent.put((number, 0, 0), sent(number, number.into()));
            if number == 5000 || number == 19_999 {
                let stored = postcard::to_stdvec(&recent).unwrap();
                recent = postcard::from_bytes(&stored).unwrap();
            }
        }
        let slot = |number: u32| recent.get((number, 0, 0), 0).map(|sent| sent.slot);
        assert_eq!((slot(19_999), slot(20_000 - 8192)), (Some(19_999), Some(20_000 - 8192)));
        assert_eq!((slot(20_000 - 8193), slot(20_000)), (None, None));
        assert_eq!(recent.get((19_000, 0, 0), 19_001), None, "too long ago");
        recent.put((19_000, 0, 0), sent(7, 30_000));
        assert_eq!(recent.get((19_000, 0, 0), 0).map(|sent| sent.slot), Some(7));
    }
}
