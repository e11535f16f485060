//! One direction of a connection in order, by its TCP sequence numbers.
//!
//! Sequence numbers are unwrapped to positions that only grow. What is captured before an earlier piece is held until
//! the piece comes or is proven not to be in the capture; where bytes came twice, the first copy counts.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::copies::{At, Copies};
use super::unframed::behind;
use crate::packet::Segment;

/// The largest window of TCP: a segment farther off than this belongs to something else.
pub(super) const FAR: i64 = 0x4000_0000;

const HOLD_BYTES: u64 = 4 << 20;
const HOLD_PIECES: usize = 2048;
const PATIENCE_PACKETS: u64 = 16;
/// What was acknowledged but not captured may still come, when the capture swapped packets: for so long.
const PATIENCE_TIME: u64 = 20_000_000;

/// How long a hole may be filled where nothing of the other side, so no acknowledgement, is captured.
const UNANSWERED_TIME: u64 = 1_000_000_000;

/// Nanoseconds within which a late segment counts as swapped, not as sent again (Wireshark's limit as well).
const REORDERED: i64 = 3_000_000;

/// A piece of the stream that waits for the ones before it; `kept` may be shorter than `length`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Held {
    pub position: i64,
    pub kept: Vec<u8>,
    pub length: u32,
    pub time: i64,
    pub number: u64,
    pub file: u32,
    /// The position of the other direction that its sender had received: what comes there goes first.
    pub answers: i64,
}

impl Held {
    fn end(&self) -> i64 {
        self.position + i64::from(self.length)
    }
}

/// Payload at its position.
#[derive(Clone, Copy)]
pub(super) struct Arrived<'a> {
    pub position: i64,
    pub kept: &'a [u8],
    pub length: u32,
    pub time: i64,
    pub number: u64,
    pub file: u32,
    pub answers: i64,
}

impl Arrived<'_> {
    fn end(&self) -> i64 {
        self.position + i64::from(self.length)
    }

    /// What is left behind the first bytes, which are no more than there are.
    fn behind(self, count: i64) -> Self {
        let count = u32::try_from(count).unwrap_or(0).min(self.length);
        Arrived {
            position: self.position + i64::from(count),
            kept: behind(self.kept, count.into()),
            length: self.length - count,
            ..self
        }
    }

    fn hold(self, length: u32) -> Held {
        let Arrived {
            position,
            kept,
            time,
            number,
            file,
            answers,
            ..
        } = self;
        let kept = kept[..kept.len().min(length as usize)].to_vec();
        Held {
            position,
            kept,
            length,
            time,
            number,
            file,
            answers,
        }
    }
}

/// The packet that shows that something before it is missing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Evidence {
    pub time: i64,
    pub number: u64,
    pub file: u32,
}

impl From<&Held> for Evidence {
    fn from(held: &Held) -> Evidence {
        Evidence {
            time: held.time,
            number: held.number,
            file: held.file,
        }
    }
}

/// What only directions have in which not every packet comes once and in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Disorder {
    /// The other side has acknowledged what comes before this position; -1 as long as that is of no interest.
    pub acked: i64,
    /// By position; they do not overlap.
    pub held: VecDeque<Held>,
    held_bytes: u64,
    pub evidence: Option<Evidence>,
    /// When the last packet was captured.
    last_time: i64,
    proven_at: Option<i64>,
    /// Packets since the hole was proven.
    pub waited: u64,
    pub duplicates: u64,
    pub retransmissions: u64,
    pub out_of_order: u64,
    pub zero_windows: u64,
    pub keep_alives: u64,
    pub lost_bytes: u64,
    pub strays: u64,
    pub stray_bytes: u64,
}

impl Default for Disorder {
    fn default() -> Disorder {
        Disorder {
            acked: -1,
            held: VecDeque::new(),
            held_bytes: 0,
            evidence: None,
            last_time: -1,
            proven_at: None,
            waited: 0,
            duplicates: 0,
            retransmissions: 0,
            out_of_order: 0,
            zero_windows: 0,
            keep_alives: 0,
            lost_bytes: 0,
            strays: 0,
            stray_bytes: 0,
        }
    }
}

/// Takes the segments of one direction, gives their bytes in order and counts what happens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Delivery {
    /// The position of the next byte; -1 as long as the beginning is not known. It grows from a sequence number on.
    pub next: i64,
    /// The sequence number of the first byte.
    start: u32,
    packets: u64,
    /// Where the first packet was captured, once that is known.
    place: At,
    has_place: bool,
    /// Whether the last window was 0.
    is_shut: bool,
    pub copies: Copies,
    disorder: Option<Box<Disorder>>,
}

impl Delivery {
    pub fn new() -> Delivery {
        Delivery {
            next: -1,
            start: 0,
            packets: 0,
            place: At::default(),
            has_place: false,
            is_shut: false,
            copies: Copies::default(),
            disorder: None,
        }
    }

    /// The first byte of the stream has this sequence number.
    pub fn begin(&mut self, sequence: u32) {
        self.start = sequence;
        self.next = sequence.into();
    }

    #[inline]
    pub fn touch(&self) -> u64 {
        self.next.cast_unsigned() ^ self.packets ^ self.copies.touch()
    }

    #[inline]
    pub fn has_begun(&self) -> bool {
        self.next >= 0
    }

    /// The position of the first byte; -1 as long as it is not known.
    pub fn start(&self) -> i64 {
        if self.has_begun() { self.start.into() } else { -1 }
    }

    /// How far it is from the first byte to the next.
    pub fn span(&self) -> u64 {
        u64::try_from(self.next - self.start()).unwrap_or(0)
    }

    /// The sequence number of the next byte.
    #[inline]
    pub fn next32(&self) -> u32 {
        self.next as u32
    }

    /// The position that a sequence number stands for: the one nearest to what comes next.
    #[inline]
    pub fn position(&self, sequence: u32) -> i64 {
        self.next + i64::from(sequence.wrapping_sub(self.next32()) as i32)
    }

    pub fn disorder(&self) -> Option<&Disorder> {
        self.disorder.as_deref()
    }

    pub fn disorder_mut(&mut self) -> &mut Disorder {
        self.disorder.get_or_insert_default()
    }

    #[inline]
    pub fn has_held(&self) -> bool {
        self.disorder.as_ref().is_some_and(|it| !it.held.is_empty())
    }

    fn acked(&self) -> i64 {
        self.disorder.as_ref().map_or(-1, |it| it.acked)
    }

    /// Whether the other side has acknowledged what was not delivered.
    #[inline]
    pub fn is_acked_ahead(&self) -> bool {
        self.disorder.as_ref().is_some_and(|it| it.acked > self.next)
    }

    fn first_held(&self) -> Option<&Held> {
        self.disorder.as_ref().and_then(|it| it.held.front())
    }

    /// How many packets were counted.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Where the first packet was captured; `at` where this is the first one.
    pub fn place(&mut self, at: At) -> At {
        if !self.has_place {
            (self.place, self.has_place) = (at, true);
        }
        self.place
    }

    /// Counts a packet. `tells`: its window is one.
    #[inline]
    pub fn count(&mut self, segment: &Segment<'_>, tells: bool) {
        self.packets += 1;
        if let Some(disorder) = &mut self.disorder {
            disorder.last_time = segment.time;
        }
        let is_shut = segment.window == 0;
        if is_shut != self.is_shut {
            self.is_shut = is_shut;
            if is_shut && tells {
                self.disorder_mut().zero_windows += 1;
            }
        }
    }

    /// Payload that is not simply the next: old, overlapping, too early, or what fills a hole. Gives what is next.
    ///
    /// `wait`: what it answers is missing, so that it cannot be delivered yet even if it is the next.
    pub fn data<'a>(&mut self, mut piece: Arrived<'a>, wait: bool) -> Option<Arrived<'a>> {
        if piece.end() <= self.next {
            return None;
        }
        if piece.position < self.next {
            piece = piece.behind(self.next - piece.position);
        }
        if piece.position == self.next && !wait && !self.has_held() {
            return Some(piece);
        }
        self.forget_filled();
        let disorder = self.disorder_mut();
        if disorder.held.back().is_some_and(|last| piece.position < last.end()) {
            let late = disorder
                .evidence
                .map_or(i64::MIN, |evidence| piece.time.saturating_sub(evidence.time));
            if late <= REORDERED {
                disorder.out_of_order += 1;
            } else {
                disorder.retransmissions += 1;
            }
        }
        let Arrived { time, number, file, .. } = piece;
        disorder.evidence.get_or_insert(Evidence { time, number, file });
        disorder.last_time = time;
        disorder.hold(piece);
        None
    }

    /// What the first held piece answers, where that piece is the next.
    pub fn next_held(&self) -> Option<&Held> {
        self.first_held().filter(|held| held.position == self.next)
    }

    /// The first held piece, which is the next.
    pub fn step(&mut self) -> Option<Held> {
        let disorder = self.disorder.as_mut()?;
        let piece = disorder.held.pop_front()?;
        disorder.held_bytes = disorder.held_bytes.saturating_sub(piece.kept.len() as u64);
        if disorder.held.is_empty() {
            disorder.held.shrink_to_fit();
        }
        self.next = piece.end();
        disorder.evidence = disorder.held.front().map(Evidence::from);
        if !self.is_proven() {
            self.disorder_mut().proven_at = None;
        }
        Some(piece)
    }

    /// The other side has everything up to here, so the capture should have it too.
    pub fn acknowledged(&mut self, position: i64, segment: &Segment<'_>) {
        if position <= self.acked() {
            return;
        }
        self.forget_filled();
        let next = self.next;
        let disorder = self.disorder_mut();
        disorder.acked = position;
        if disorder.evidence.is_none() && position > next + 1 {
            disorder.evidence = Some(Evidence {
                time: segment.time,
                number: segment.number,
                file: segment.file,
            });
        }
        if disorder.proven_at.is_none() && self.is_proven() {
            let disorder = self.disorder_mut();
            disorder.proven_at = Some(segment.time);
            disorder.waited = 0;
        }
    }

    /// Forgets how an earlier hole was known that late packets have filled while nothing was held behind it.
    fn forget_filled(&mut self) {
        if !self.has_held()
            && !self.has_gap()
            && let Some(disorder) = &mut self.disorder
        {
            (disorder.evidence, disorder.proven_at) = (None, None);
        }
    }

    /// Where the hole ends that the next bytes are missing in; the next position where there is none.
    ///
    /// A position acknowledged just one byte further is that of a FIN, not of a byte.
    fn gap_end(&self) -> i64 {
        let held = self.first_held().map(|held| held.position);
        let acked = Some(self.acked()).filter(|&acked| acked > self.next + 1);
        match (held, acked) {
            (Some(held), Some(acked)) => held.min(acked),
            (Some(end), None) | (None, Some(end)) => end,
            (None, None) => self.next,
        }
    }

    /// Whether the next bytes are missing, and more is known to have been sent.
    pub fn has_gap(&self) -> bool {
        self.gap_end() > self.next
    }

    /// Whether there is a hole, and the other side has acknowledged what is missing in it.
    fn is_proven(&self) -> bool {
        let end = self.gap_end();
        self.acked() >= end && end > self.next
    }

    /// Whether no more can be held.
    pub fn is_full(&self) -> bool {
        self.disorder
            .as_ref()
            .is_some_and(|it| it.held_bytes > HOLD_BYTES || it.held.len() > HOLD_PIECES)
    }

    /// Whether the hole has waited long enough. `alone`: nothing of the other side was ever captured.
    pub fn is_given_up(&mut self, time: i64, alone: bool) -> bool {
        if !self.has_gap() {
            return false;
        }
        if self.is_full() {
            return true;
        }
        let is_proven = self.is_proven();
        let disorder = self.disorder_mut();
        if is_proven {
            let proven_at = *disorder.proven_at.get_or_insert_with(|| {
                disorder.waited = 0;
                time
            });
            return disorder.waited > PATIENCE_PACKETS || time.abs_diff(proven_at) > PATIENCE_TIME;
        }
        alone
            && disorder
                .evidence
                .is_some_and(|evidence| time.abs_diff(evidence.time) > UNANSWERED_TIME)
    }

    /// The bytes up to the next held piece, or up to what was acknowledged, are not in the capture: so many.
    pub fn give_up(&mut self) -> Option<(u64, Evidence)> {
        let end = self.gap_end();
        let length = u64::try_from(end - self.next).ok().filter(|&length| length > 0)?;
        self.next = end;
        let file = self.place.file;
        let disorder = self.disorder_mut();
        let unknown = Evidence {
            time: disorder.last_time,
            number: 0,
            file,
        };
        disorder.lost_bytes += length;
        Some((length, disorder.evidence.unwrap_or(unknown)))
    }

    /// The files that what is to come may name.
    pub fn files(&self) -> impl Iterator<Item = u32> {
        let disorder = self.disorder.iter();
        let held = disorder.flat_map(|it| {
            it.held
                .iter()
                .map(|held| held.file)
                .chain(it.evidence.iter().map(|evidence| evidence.file))
        });
        held.chain(self.has_place.then_some(self.place.file))
    }

    /// Whether this can have come about by segments.
    pub fn is_sound(&self) -> bool {
        let far = |position: i64| (-1..1 << 61).contains(&position);
        far(self.next)
            && (!self.has_begun() || self.next >= self.start.into())
            && self.copies.is_sound()
            && self.disorder.as_ref().is_none_or(|it| {
                let held = || it.held.iter();
                far(it.acked)
                    && held().all(|piece| far(piece.position) && piece.length > 0)
                    && held().all(|piece| piece.position >= self.next && piece.kept.len() <= piece.length as usize)
                    && held().zip(held().skip(1)).all(|(one, two)| one.end() <= two.position)
                    && it.held_bytes == held().map(|piece| piece.kept.len() as u64).sum::<u64>()
            })
    }
}

impl Disorder {
    /// Keep a piece, cut down to what no held piece covers.
    fn hold(&mut self, mut piece: Arrived<'_>) {
        let mut at = self.held.partition_point(|held| held.position <= piece.position);
        if let Some(before) = at.checked_sub(1).and_then(|at| self.held.get(at)) {
            let covered = before.end() - piece.position;
            if covered >= piece.length.into() {
                return;
            }
            if covered > 0 {
                piece = piece.behind(covered);
            }
        }
        while let Some(other) = self.held.get(at).filter(|other| other.position < piece.end()) {
            let (free, covered) = (other.position - piece.position, other.end() - piece.position);
            if free > 0 {
                self.insert(at, piece.hold(u32::try_from(free).unwrap_or(0)));
                at += 1;
            }
            if covered >= piece.length.into() {
                return;
            }
            piece = piece.behind(covered);
            at += 1;
        }
        self.insert(at, piece.hold(piece.length));
    }

    fn insert(&mut self, at: usize, piece: Held) {
        self.held_bytes += piece.kept.len() as u64;
        self.held.insert(at, piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_the_one_nearest_to_what_comes_next() {
        let mut delivery = Delivery::new();
        delivery.begin(0xffff_fff0);
        delivery.next += 0x20;
        for (sequence, position) in [
            (0x10, 0x1_0000_0010),
            (0x30, 0x1_0000_0030),
            (0, 0x1_0000_0000),
            (0xffff_fff0, 0xffff_fff0),
            (0xffff_ff00, 0xffff_ff00),
        ] {
            assert_eq!(delivery.position(sequence), position);
        }
    }
}
