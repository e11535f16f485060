//! Reads a message that is too large to keep while its bytes pass by.
//!
//! What is held besides the facts is less than 64 KB whatever passes, and the facts are bounded, too. Where bytes are
//! lost inside of records, the rest of these records is stepped over, as their length is known; anywhere else, but in
//! what is stepped over anyway, the facts end.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::machine::{Coming, Exit, State};
use super::program::{Program, Tells};
use super::table::{FETCH, PRODUCE, SHARE_FETCH};
use crate::facts::{Decoded, RequestFacts, ResponseFacts};
use crate::message::Walker;

/// What a message told that has passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Passed {
    Request(RequestFacts),
    Response(ResponseFacts),
}

/// A Produce request, or the response to a Fetch or ShareFetch, on its way.
#[derive(Debug, Serialize, Deserialize)]
pub struct BodyWalker(Box<Walk>);

#[derive(Debug, Serialize, Deserialize)]
struct Walk {
    api_key: i16,
    api_version: i16,
    is_request: bool,
    tells: Tells,
    /// Found again by what stands above.
    #[serde(skip)]
    program: Option<Arc<Program>>,
    /// Bytes of the header that are still to come.
    header: u64,
    state: State,
    facts: Passed,
    /// So many bytes are needed in one piece, of which these have come.
    needed: usize,
    carry: Vec<u8>,
    is_over: bool,
    has_lost: bool,
}

impl BodyWalker {
    /// For a message of `size` bytes whose body begins behind `header` bytes.
    pub(super) fn new(
        program: Arc<Program>,
        api_key: i16,
        api_version: i16,
        is_request: bool,
        tells: Tells,
        header: usize,
        size: u32,
    ) -> Option<BodyWalker> {
        let facts = match (api_key, is_request) {
            (PRODUCE, true) => {
                let mut facts = RequestFacts::default();
                (facts.both.records, facts.both.record_bytes) = (Some(0), Some(0));
                Passed::Request(facts)
            }
            (FETCH | SHARE_FETCH, false) => {
                let mut facts = ResponseFacts::default();
                (facts.both.records, facts.both.record_bytes) = (Some(0), Some(0));
                Passed::Response(facts)
            }
            _ => return None,
        };
        let header = header as u64;
        Some(BodyWalker(Box::new(Walk {
            api_key,
            api_version,
            is_request,
            tells,
            program: Some(program),
            header,
            state: State::new(Coming::Passing, tells, u64::from(size).saturating_sub(header)),
            facts,
            needed: 0,
            carry: Vec::new(),
            is_over: false,
            has_lost: false,
        })))
    }

    /// What the message told; to be called when no more of its bytes are to come.
    pub fn ended(mut self) -> Passed {
        let walk = &mut *self.0;
        if !walk.is_over && walk.header == 0 && walk.carry.is_empty() && !walk.state.is_passing() {
            // Behind the last byte the program may have steps that need none.
            walk.advance();
        }
        if !walk.is_over {
            // A message whose bytes all came, and that should have more, was wrong. (The reader that this one replaces
            // took it for one that was cut, unlike the same message in one piece.)
            let is_there = walk.state.position.saturating_add(walk.carry.len() as u64) >= walk.state.declared;
            walk.stop(if is_there && !walk.has_lost {
                Exit::Wrong
            } else {
                Exit::More(0)
            });
        } else if walk.has_lost {
            let both = match &mut walk.facts {
                Passed::Request(facts) => &mut facts.both,
                Passed::Response(facts) => &mut facts.both,
            };
            both.decoded = both.decoded.max(Decoded::Truncated);
        }
        std::mem::replace(&mut walk.facts, Passed::Request(RequestFacts::default()))
    }
}

impl Walker for BodyWalker {
    fn feed(&mut self, piece: &[u8]) {
        let walk = &mut *self.0;
        let header = piece.len().min(usize::try_from(walk.header).unwrap_or(usize::MAX));
        walk.header -= header as u64;
        let piece = piece.get(header..).unwrap_or_default();
        let left = walk
            .state
            .declared
            .saturating_sub(walk.state.position + walk.carry.len() as u64);
        let piece = usize::try_from(left)
            .ok()
            .and_then(|left| piece.get(..left))
            .unwrap_or(piece);
        if !walk.is_over && walk.header == 0 {
            walk.feed(piece);
        }
    }

    fn lost(&mut self, count: u64) {
        let walk = &mut *self.0;
        walk.has_lost |= count > 0;
        let header = count.min(walk.header);
        walk.header -= header;
        if !walk.is_over && walk.header == 0 {
            walk.lost(count - header);
        }
    }
}

impl Walk {
    fn feed(&mut self, piece: &[u8]) {
        let Some(program) = self.taken_program() else {
            return self.stop(Exit::Wrong);
        };
        let mut rest = piece;
        while !self.is_over && !rest.is_empty() {
            let passed = match &mut self.facts {
                Passed::Request(facts) => self.state.pass(rest, facts),
                Passed::Response(facts) => self.state.pass(rest, facts),
            };
            if passed > 0 {
                rest = rest.get(passed..).unwrap_or_default();
                continue;
            }
            if self.carry.is_empty() {
                let (exit, taken) = self.run(&program, rest);
                rest = rest.get(taken..).unwrap_or_default();
                if let Exit::More(needed) = exit {
                    self.needed = needed;
                    self.carry.extend_from_slice(rest);
                    rest = &[];
                }
                self.stand(exit);
                continue;
            }
            let missing = self.needed.saturating_sub(self.carry.len());
            let more = rest.get(..missing).unwrap_or(rest);
            self.carry.extend_from_slice(more);
            rest = rest.get(more.len()..).unwrap_or_default();
            if self.carry.len() >= self.needed {
                let mut carry = std::mem::take(&mut self.carry);
                let (exit, taken) = self.run(&program, &carry);
                carry.drain(..taken.min(carry.len()));
                self.carry = carry;
                if let Exit::More(needed) = exit {
                    self.needed = needed;
                }
                self.stand(exit);
            }
        }
        self.program = Some(program);
    }

    fn lost(&mut self, count: u64) {
        let Some(program) = self.taken_program() else {
            return self.stop(Exit::Wrong);
        };
        let mut left = count;
        while !self.is_over && left > 0 {
            if !self.carry.is_empty() {
                self.stop(Exit::More(0));
            } else if self.state.is_passing() {
                let taken = match &mut self.facts {
                    Passed::Request(facts) => self.state.lose(left, facts),
                    Passed::Response(facts) => self.state.lose(left, facts),
                };
                match taken {
                    Some(taken) => left = left.saturating_sub(taken),
                    None => self.stop(Exit::More(0)),
                }
            } else {
                match self.run(&program, &[]).0 {
                    Exit::More(_) => self.stop(Exit::More(0)),
                    exit => self.stand(exit),
                }
            }
        }
        self.program = Some(program);
    }

    /// Does the steps that need no more bytes.
    fn advance(&mut self) {
        if let Some(program) = self.taken_program() {
            let (exit, _) = self.run(&program, &[]);
            self.stand(exit);
            self.program = Some(program);
        }
    }

    fn run(&mut self, program: &Program, data: &[u8]) -> (Exit, usize) {
        match &mut self.facts {
            Passed::Request(facts) => self.state.run(program, data, facts),
            Passed::Response(facts) => self.state.run(program, data, facts),
        }
    }

    /// The machine stands still: it may be at the end.
    fn stand(&mut self, exit: Exit) {
        match exit {
            Exit::More(_) | Exit::Passing => {}
            Exit::Wrong => self.stop(Exit::Wrong),
            Exit::Done => {
                self.is_over = true;
                if let Passed::Response(facts) = &mut self.facts {
                    facts.error_code = facts.error_code.or(Some(0));
                    facts.empty = Some(facts.both.record_bytes.unwrap_or(0) == 0);
                }
            }
        }
    }

    /// The message is not read any further.
    fn stop(&mut self, exit: Exit) {
        self.is_over = true;
        self.carry = Vec::new();
        match &mut self.facts {
            Passed::Request(facts) => self.state.settle(exit, facts),
            Passed::Response(facts) => self.state.settle(exit, facts),
        }
    }

    fn taken_program(&mut self) -> Option<Arc<Program>> {
        self.program
            .take()
            .or_else(|| Program::of(self.api_key, self.api_version, self.is_request, self.tells).map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Topic;
    use crate::kafka::bodies::tests::{Values, of_all};
    use crate::kafka::records::tests::batch;
    use crate::kafka::table::all;

    const HEADER: &[u8] = b"some header";

    fn walked() -> Vec<(i16, i16, bool)> {
        let is_walked = |key, is_request| matches!((key, is_request), (0, true) | (1 | 78, false));
        let both = all().flat_map(|(key, version)| [(key, version, true), (key, version, false)]);
        both.filter(|(key, _, is_request)| is_walked(*key, *is_request))
            .collect()
    }

    fn walker((key, version, is_request): (i16, i16, bool), size: usize) -> BodyWalker {
        let mut bodies = of_all();
        let made = match is_request {
            true => bodies.request_walker(key, version, HEADER.len(), size as u32),
            false => bodies.response_walker(key, version, HEADER.len(), size as u32),
        };
        made.unwrap()
    }

    fn in_one_piece((key, version, is_request): (i16, i16, bool), body: &[u8]) -> Passed {
        let mut bodies = of_all();
        let mut found = match is_request {
            true => Passed::Request(bodies.request_facts(key, version, body, body.len() as u64)),
            false => Passed::Response(bodies.response_facts(key, version, body, body.len() as u64)),
        };
        both_mut(&mut found).pieces.clear();
        found
    }

    fn both_mut(passed: &mut Passed) -> &mut crate::facts::Facts {
        match passed {
            Passed::Request(facts) => &mut facts.both,
            Passed::Response(facts) => &mut facts.both,
        }
    }

    fn response(passed: Passed) -> ResponseFacts {
        match passed {
            Passed::Response(facts) => facts,
            Passed::Request(facts) => panic!("{facts:?}"),
        }
    }

    /// A Fetch response v13 with one partition for each of these records.
    fn fetched(records: &[&[u8]]) -> Vec<u8> {
        let mut out = b"\0\0\0\x03\0\0\0\0\0\x08\x02".to_vec();
        out.extend(5u128.to_be_bytes());
        out.push(records.len() as u8 + 1);
        for (partition, records) in (0i32..).zip(records) {
            out.extend(partition.to_be_bytes());
            out.extend([0; 26]);
            out.extend(b"\x01\xff\xff\xff\xff");
            let length = records.len() as u32 + 1;
            assert!((128..1 << 14).contains(&length));
            out.extend([length as u8 | 0x80, (length >> 7) as u8]);
            out.extend(*records);
            out.push(0);
        }
        out.extend(b"\0\0");
        out
    }

    /// The facts with some bytes lost, and those without loss.
    fn with_loss(body: &[u8], lost: std::ops::Range<usize>) -> (ResponseFacts, ResponseFacts) {
        let message = (1, 13, false);
        let mut made = walker(message, HEADER.len() + body.len());
        made.feed(HEADER);
        made.feed(&body[..lost.start]);
        made.lost(lost.len() as u64);
        made.feed(&body[lost.end..]);
        (response(made.ended()), response(in_one_piece(message, body)))
    }

    #[test]
    fn bytes_of_records_that_nobody_looks_at_may_be_lost() {
        let body = fetched(&[&batch(10, 0, 3, &[7; 5000]), &batch(20, 0, 3, &[7; 200])]);
        let start = body.windows(9).position(|window| window == [7; 9]).unwrap();
        let (found, mut whole) = with_loss(&body, start..start + 5000);
        whole.both.decoded = Decoded::Truncated;
        assert_eq!(found, whole);
    }

    #[test]
    fn where_a_batch_begins_is_lost_the_next_partition_is_told() {
        let two = [batch(10, 0, 3, &[7; 1000]), batch(13, 0, 3, &[8; 1000])].concat();
        let body = fetched(&[&two, &batch(20, 0, 3, &[9; 200])]);
        let start = body.windows(9).position(|window| window == [8; 9]).unwrap() - 80;
        let (found, whole) = with_loss(&body, start..start + 50);
        assert_eq!((found.both.decoded, found.both.records), (Decoded::Truncated, None));
        assert_eq!(found.both.record_bytes, whole.both.record_bytes);
        assert_eq!(
            found.both.partitions.iter().map(|row| row.records).collect::<Vec<_>>(),
            [None, Some(3)]
        );
        assert_eq!(found.both.partitions[1], whole.both.partitions[1]);
        assert_eq!(
            found.both.batches.to_vec(),
            [whole.both.batches[0].clone(), whole.both.batches[2].clone()]
        );
    }

    #[test]
    fn what_follows_a_loss_between_records_is_not_guessed() {
        let body = fetched(&[&batch(10, 0, 3, &[7; 1000]), &batch(20, 0, 3, &[8; 200])]);
        let start = body.windows(9).position(|window| window == [8; 9]).unwrap() - 75;
        let (found, whole) = with_loss(&body, start..start + 5);
        assert_eq!(
            (found.both.decoded, found.both.records, found.both.record_bytes),
            (Decoded::Truncated, None, None)
        );
        assert_eq!((found.empty, found.throttle_ms), (Some(false), Some(3)));
        assert_eq!(found.both.partitions[0], whole.both.partitions[0]);
    }

    #[test]
    fn only_the_end_is_lost() {
        let body = fetched(&[&batch(20, 0, 3, &[8; 200]), &batch(10, 0, 3, &[7; 1000])]);
        let (found, mut whole) = with_loss(&body, body.len() - 500..body.len());
        whole.both.decoded = Decoded::Truncated;
        assert_eq!(found, whole);
    }

    #[test]
    fn a_message_that_stops_gives_what_a_cut_one_gives() {
        let body = fetched(&[&batch(10, 0, 3, &[7; 300]), &batch(20, 0, 3, &[8; 200])]);
        for length in 0..body.len() {
            let mut made = walker((1, 13, false), HEADER.len() + body.len());
            made.feed(HEADER);
            made.feed(&body[..length]);
            let mut cut = of_all().response_facts(1, 13, &body[..length], body.len() as u64);
            cut.both.pieces.clear();
            let mut found = response(made.ended());
            if found.both.batches.len() < cut.both.batches.len() {
                // Of records in one piece the beginning of a header makes a row, too.
                cut.both.batches.pop();
            }
            // The latest timestamp is none where no batch was seen in full.
            for row in found.both.partitions.iter_mut().chain(&mut cut.both.partitions) {
                if row.record_bytes.is_some() && row.records.is_none() {
                    (row.last_offset, row.max_timestamp) = (None, None);
                }
            }
            assert_eq!(found, cut, "{length}");
        }
    }

    #[test]
    fn a_string_behind_the_end_of_its_message_is_wrong() {
        let mut made = walker((0, 3, true), HEADER.len() + 10);
        made.feed(HEADER);
        made.feed(b"\0\x30abcdefgh");
        assert_eq!(both_mut(&mut made.ended()).decoded, Decoded::Failed);
    }

    #[test]
    fn little_is_held_of_a_hundred_megabytes() {
        let one = batch(10, 0, 3, &vec![7; 1 << 20]);
        let head = b"\0\0\0\x03\0\0\0\0\0\x08\0\0\0\x01\0\x01t\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff";
        let size = 100 * one.len();
        let mut made = walker((1, 11, false), HEADER.len() + head.len() + 4 + size);
        made.feed(HEADER);
        made.feed(head);
        made.feed(&(size as u32).to_be_bytes());
        for _ in 0..100 {
            for piece in one.chunks(1448) {
                made.feed(piece);
                assert!(made.0.carry.capacity() < 1 << 15);
            }
        }
        assert!(
            postcard::to_stdvec(&made).unwrap().len() < 100_000,
            "100 rows of batches and what the walker holds"
        );
        let found = response(made.ended());
        assert_eq!((found.both.decoded, found.both.records), (Decoded::Full, Some(300)));
        assert_eq!(
            (found.both.record_bytes, found.both.topics.to_vec()),
            (Some(size as i64), vec![Topic::Name("t".into())])
        );
    }

    #[test]
    fn a_string_that_is_too_long_is_not_held() {
        let mut made = walker((0, 9, true), HEADER.len() + 10_000_000);
        made.feed(HEADER);
        made.feed(b"\x80\x80\x80\x01");
        for _ in 0..100 {
            made.feed(&[b'x'; 10_000]);
        }
        assert_eq!((made.0.carry.capacity() < 1 << 16, made.0.is_over), (true, true));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        #[test]
        fn pieces_of_any_size_tell_the_same_as_one(
            message in prop::sample::select(walked()), seed: u64, sizes in prop::collection::vec(1usize..2000, 1..40),
            damage in prop::collection::vec((any::<u16>(), prop::sample::select(vec![0u8, 1, 2, 127, 128, 255])), 0..3),
            stored in prop::option::of(0usize..50),
        ) {
            let mut body = Values::body(message.0, message.1, message.2, seed);
            for (place, byte) in damage {
                let place = usize::from(place) % body.len();
                body[place] = byte;
            }
            let mut made = walker(message, HEADER.len() + body.len());
            let whole = [HEADER, &body].concat();
            let mut rest = whole.as_slice();
            for (turn, size) in sizes.iter().cycle().enumerate() {
                if rest.is_empty() {
                    break;
                }
                let (piece, behind) = rest.split_at(rest.len().min(*size));
                made.feed(piece);
                rest = behind;
                if stored == Some(turn) {
                    made = postcard::from_bytes(&postcard::to_stdvec(&made).unwrap()).unwrap();
                }
            }
            let (mut found, mut expected) = (made.ended(), in_one_piece(message, &body));
            prop_assert_eq!(both_mut(&mut found).decoded, both_mut(&mut expected).decoded);
            if both_mut(&mut found).decoded == Decoded::Full {
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn any_bytes_and_losses_give_facts(
            message in prop::sample::select(walked()), seed: u64, more in 0usize..200,
            steps in prop::collection::vec((1usize..400, prop::bool::weighted(0.2)), 1..60),
            damage in prop::collection::vec((any::<u16>(), any::<u8>()), 0..6),
        ) {
            let mut body = [HEADER, &Values::body(message.0, message.1, message.2, seed)].concat();
            for (place, byte) in damage {
                let place = usize::from(place) % body.len();
                body[place] = byte;
            }
            let mut made = walker(message, body.len() + more);
            let mut rest = body.as_slice();
            for (size, is_lost) in steps {
                let (piece, behind) = rest.split_at(rest.len().min(size));
                if is_lost { made.lost(size as u64) } else { made.feed(piece) }
                rest = behind;
            }
            prop_assert!(both_mut(&mut made.ended()).decoded != Decoded::Header);
        }
    }
}
