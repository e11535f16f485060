//! Find where a message begins in a stream whose boundaries are not known: in mid-stream, or behind a hole.
//!
//! Places to look at are the beginnings of segments, and in between what looks like a header: the client id of the
//! connection, the correlation ids of requests that wait for their responses. What cannot be decided yet is looked at
//! again when more has come; a message that only could be one is never enough.

use std::borrow::Cow;
use std::ops::ControlFlow;

use memchr::{memchr, memmem};
use serde::{Deserialize, Serialize};

use super::candidates::{Place, Verdict, judge_request, judge_response, precedes, responses_lead};
use super::identify::{LARGEST, first, part, stranger_midway};
use super::talk::Talk;
use super::unframed::{Piece, Unframed};
use crate::message::Spoken;

const KEPT_PIECES: usize = 1024;
const KEPT_BYTES: usize = 131_072;
/// Places that wait for more; of more than so many the oldest are given up.
const PENDING: usize = 16;

/// Places that are looked at in one segment.
const PLACES: usize = 512;

/// Correlation ids that are looked for at a time, those that wait longest first.
const PATTERNS: usize = 32;

/// In a segment up to this size every request is looked for, else those of the known client.
const SMALL: usize = 256;
/// Size, api key, api version and correlation id stand before the client id.
const HEADER: usize = 12;
const LEAST: i32 = 4;

/// Bytes from the start that tell what a stream is.
const FIRST: usize = 4096;

/// The pieces of a direction that are not framed yet, and the search for a boundary in them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Searcher {
    stream: Unframed,
    /// Pieces in which places were looked for.
    looked: usize,
    pending: Vec<Place>,
    /// Pieces at whose beginnings responses without a request were looked for.
    tried: usize,
    alone: Vec<u64>,
    /// TLS records that were seen.
    strangers: u32,
}

impl Searcher {
    pub fn add(&mut self, piece: Piece) {
        self.stream.add(piece);
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.stream.pieces
    }

    /// The position behind everything that was ever added.
    pub fn end(&self) -> u64 {
        self.stream.end
    }

    /// The position of the first byte that is here.
    pub fn first(&self) -> u64 {
        self.stream.first().unwrap_or(self.stream.end)
    }

    /// Whether TLS showed itself.
    pub fn showed_tls(&self) -> bool {
        self.strangers > 0
    }

    /// Whether there is something that was not looked at.
    pub fn has_news(&self) -> bool {
        self.looked != self.stream.pieces.len()
    }

    /// Whether the oldest pieces are to be given up.
    pub fn is_full(&self) -> bool {
        self.stream.bytes > KEPT_BYTES || self.stream.pieces.len() > KEPT_PIECES
    }

    /// Part the pieces at a position, and forget them and what was seen in them.
    pub fn cut(&mut self, position: u64) -> (Vec<Piece>, Vec<Piece>) {
        (self.looked, self.tried) = (0, 0);
        (self.pending, self.alone) = (Vec::new(), Vec::new());
        self.stream.cut(position)
    }

    /// Forget the older half of the pieces.
    pub fn drop_half(&mut self) -> Vec<Piece> {
        let old = self.stream.drop_half();
        self.looked = self.looked.saturating_sub(old.len());
        self.tried = self.tried.saturating_sub(old.len());
        let first = self.first();
        self.pending.retain(|place| place.position >= first);
        self.alone.retain(|&position| position >= first);
        old
    }

    /// What is there from the start without a hole, and whether there is a hole behind it.
    pub fn first_bytes(&self) -> (Cow<'_, [u8]>, bool) {
        let out = self.stream.peek(self.first(), FIRST);
        let mut total = 0;
        for piece in &self.stream.pieces {
            total += piece.kept.len();
            if piece.gap || !piece.is_whole() {
                let cut = total <= out.len();
                return (out, cut);
            }
        }
        (out, false)
    }

    /// The position at which a message begins, where that is proven. `name`: the client id, as requests of this connection
    /// have it; `last`: nothing more comes; `from_start`: the first byte that was ever added is the first one of the
    /// stream.
    pub fn find(
        &mut self,
        talk: &Talk,
        name: Option<&[u8]>,
        is_request: bool,
        last: bool,
        from_start: bool,
    ) -> Option<u64> {
        let judge = |stream: &Unframed, place| match is_request {
            true => judge_request(talk, name, stream, place, last),
            false => judge_response(talk, stream, place, last),
        };
        let first_of = |stream: &Unframed, waiting: &[Place], found: u64| {
            // Responses to requests that were lost.
            if from_start && !is_request && stream.first() == Some(0) && responses_lead(stream, found) {
                return 0;
            }
            let mut early = waiting.iter().filter(|early| early.position < found);
            early
                .find(|early| precedes(talk, stream, is_request, **early, found))
                .map_or(found, |early| early.position)
        };
        let mut waiting = Vec::new();
        for &place in &self.pending {
            match judge(&self.stream, place) {
                Verdict::Yes => return Some(first_of(&self.stream, &waiting, place.position)),
                Verdict::Later => waiting.push(place),
                Verdict::No => {}
            }
        }
        for index in self.looked..self.stream.pieces.len() {
            self.looked = index + 1;
            let found = each_place(&self.stream, (talk, name), index, is_request, |place| {
                match judge(&self.stream, place) {
                    Verdict::Yes => return ControlFlow::Break(place.position),
                    Verdict::Later => waiting.push(place),
                    Verdict::No => {}
                }
                ControlFlow::Continue(())
            });
            if let ControlFlow::Break(position) = found {
                return Some(first_of(&self.stream, &waiting, position));
            }
        }
        waiting.drain(..waiting.len().saturating_sub(PENDING));
        self.pending = waiting;
        None
    }

    /// The position at which responses begin, where no request was seen: from a segment's beginning on, in a row.
    pub fn find_unasked(&mut self, talk: &Talk) -> Option<u64> {
        let new = self.stream.pieces.get(self.tried..).unwrap_or(&[]);
        let new = new
            .iter()
            .filter(|piece| !piece.kept.is_empty())
            .map(|piece| piece.start);
        let mut waiting = Vec::new();
        for position in self.alone.iter().copied().chain(new) {
            match judge_response(
                talk,
                &self.stream,
                Place {
                    position,
                    at_edge: true,
                },
                false,
            ) {
                Verdict::Yes => return Some(position),
                Verdict::Later => waiting.push(position),
                Verdict::No => {}
            }
        }
        self.tried = self.stream.pieces.len();
        waiting.drain(..waiting.len().saturating_sub(PENDING));
        self.alone = waiting;
        None
    }

    /// What else the segments not looked at yet begin with; TLS has to show itself twice.
    pub fn stranger(&mut self) -> Option<Spoken> {
        for piece in self.stream.pieces.get(self.looked..).unwrap_or(&[]) {
            match stranger_midway(&piece.kept) {
                None => {}
                Some(Spoken::Tls) if self.strangers == 0 => self.strangers = 1,
                Some(spoken) => {
                    self.strangers = self.strangers.saturating_add(u32::from(spoken == Spoken::Tls));
                    return Some(spoken);
                }
            }
        }
        None
    }

    /// Whether this can have come about by pieces.
    pub fn is_sound(&self) -> bool {
        self.stream.is_sound()
            && self.looked <= self.stream.pieces.len()
            && self.tried <= self.stream.pieces.len()
            && self.pending.len() <= PENDING
            && self.alone.len() <= PENDING
    }
}

type Flow = ControlFlow<u64>;

/// Where a message may begin in a piece, or just before it where its header lies in two pieces.
fn each_place(
    stream: &Unframed,
    (talk, name): (&Talk, Option<&[u8]>),
    index: usize,
    is_request: bool,
    mut visit: impl FnMut(Place) -> Flow,
) -> Flow {
    let Some(piece) = stream.pieces.get(index) else {
        return Flow::Continue(());
    };
    let start = piece.start;
    if piece.kept.is_empty() {
        return Flow::Continue(());
    }
    let before = index.checked_sub(1).and_then(|index| stream.pieces.get(index));
    let joined = before.filter(|before| before.is_whole());
    if piece.kept.len() >= 8 || joined.is_some() {
        visit(Place {
            position: start,
            at_edge: true,
        })?;
    }
    let reach = HEADER + if is_request { name.map_or(0, <[u8]>::len) } else { 0 };
    let carry = joined.map_or(&[][..], |before| {
        &before.kept[before.kept.len().saturating_sub(reach)..]
    });
    let data = if carry.is_empty() {
        Cow::Borrowed(&piece.kept)
    } else {
        Cow::Owned([carry, &piece.kept].concat())
    };
    let base = start - carry.len() as u64;
    let mut places = 0;
    let mut likely = |offset: usize| {
        let size = first(&data, offset).map_or(0, u32::from_be_bytes);
        if !(LEAST as u32..=LARGEST as u32).contains(&size) {
            return Flow::Continue(());
        }
        places += 1;
        if offset != carry.len() {
            let position = base + offset as u64;
            visit(Place {
                position,
                at_edge: before.is_some_and(|before| before.start == position),
            })?;
        }
        // No position is so large.
        if places >= PLACES {
            Flow::Break(u64::MAX)
        } else {
            Flow::Continue(())
        }
    };
    let found = if is_request {
        requests(name, &data, &mut likely)
    } else {
        responses(talk, &data, &mut likely)
    };
    if found == Flow::Break(u64::MAX) {
        Flow::Continue(())
    } else {
        found
    }
}

/// Offsets at which a request may begin.
fn requests(name: Option<&[u8]>, data: &[u8], visit: &mut impl FnMut(usize) -> Flow) -> Flow {
    match name {
        Some(known) if known.len() > 3 && data.len() > SMALL => {
            all(data, known, &mut |at| {
                at.checked_sub(HEADER).map_or(Flow::Continue(()), &mut *visit)
            })?;
            any_requests(data, data.len().saturating_sub(HEADER + known.len()), visit)
        }
        _ => any_requests(data, 0, visit),
    }
}

/// Offsets at which a response may begin, for each request that waits.
fn responses(talk: &Talk, data: &[u8], visit: &mut impl FnMut(usize) -> Flow) -> Flow {
    for waiting in talk.waiting().take(PATTERNS) {
        let pattern = waiting.correlation_id.to_be_bytes();
        all(data, &pattern, &mut |at| {
            at.checked_sub(4).map_or(Flow::Continue(()), &mut *visit)
        })?;
    }
    Flow::Continue(())
}

/// Offsets from one on at which there is a size below 2^28, an api key below 128 and a version below 32.
fn any_requests(data: &[u8], from: usize, visit: &mut impl FnMut(usize) -> Flow) -> Flow {
    let mut at = from;
    while let Some(zero) = data.get(at + 4..).and_then(|rest| memchr(0, rest)) {
        at += zero;
        let Some(header) = first::<HEADER>(data, at) else {
            break;
        };
        if let [0..=0x0f, _, _, _, 0, 0..=0x7f, 0, 0..=0x1f, ..] = header {
            visit(at)?;
        }
        at += 1;
    }
    Flow::Continue(())
}

/// Every offset of a pattern, also where one lies in another.
fn all(data: &[u8], pattern: &[u8], visit: &mut impl FnMut(usize) -> Flow) -> Flow {
    let finder = memmem::Finder::new(pattern);
    let mut at = 0;
    loop {
        // Patterns may stand side by side, where it would take long to begin the search anew for each.
        if part(data, at, at + pattern.len()) == pattern {
            visit(at)?;
            at += 1;
        } else {
            match data.get(at..).and_then(|rest| finder.find(rest)) {
                Some(found) => at += found,
                None => return Flow::Continue(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(search: impl FnOnce(&mut dyn FnMut(usize) -> Flow) -> Flow) -> Vec<usize> {
        let mut out = Vec::new();
        let _ = search(&mut |at| {
            out.push(at);
            Flow::Continue(())
        });
        out
    }

    proptest! {
        #[test]
        fn every_place_is_found(
            data in proptest::collection::vec(prop_oneof![Just(0u8), 0u8..3, 0u8..=255], 0..200),
            pattern in proptest::collection::vec(0u8..2, 1..5),
            from in 0usize..220,
        ) {
            let windows = || data.windows(pattern.len()).enumerate();
            let expected: Vec<usize> = windows().filter(|it| it.1 == pattern).map(|it| it.0).collect();
            prop_assert_eq!(found(|mut visit| all(&data, &pattern, &mut visit)), expected);
            let is_header = |it: &[u8]| it[0] < 16 && it[4] == 0 && it[5] < 128 && it[6] == 0 && it[7] < 32;
            let headers = data.windows(12).enumerate().skip(from);
            let expected: Vec<usize> = headers.filter(|it| is_header(it.1)).map(|it| it.0).collect();
            prop_assert_eq!(found(|mut visit| any_requests(&data, from, &mut visit)), expected);
        }
    }
}
