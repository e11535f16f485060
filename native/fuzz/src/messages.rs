//! The message interpreter: facts of any body are bounded, the same in pieces as in one piece, and of a cut body never
//! others than of the whole one.

use std::ops::ControlFlow;

use netdiag_wire::facts::{Decoded, Facts, RequestFacts, ResponseFacts, Topic};
use netdiag_wire::kafka::{Bodies, Passed, fits, members, payloads, request_header, response_header};
use netdiag_wire::message::Walker;
use netdiag_wire::options::{Table, Wanted};

use crate::Script;

/// What a batch may unpack to here.
const MOST_UNPACKED: usize = 1 << 20;

/// An input: of which message a body is, what is done with it, and the body.
pub fn check(input: &[u8]) {
    let mut script = Script::new(input);
    let (api_key, api_version) = (i16::from(script.byte()), i16::from(script.byte() % 32));
    let ways = script.byte();
    let is_request = ways & 1 != 0;
    let more = u64::from(if ways & 2 != 0 { script.long() } else { 0 });
    let body = script;
    let tables = if ways & 4 != 0 {
        Wanted::of(&[Table::Exchanges, Table::Partitions])
    } else {
        Wanted::of(&Table::ALL)
    };
    let of = Of {
        api_key,
        api_version,
        is_request,
        tables,
    };
    match ways >> 3 & 3 {
        0 => headers(body.rest(), api_key, api_version),
        1 => of.in_pieces(body),
        2 => of.cut(body),
        _ => {}
    }
    of.whole(body.rest(), more);
}

/// Which message, and what of it is wanted.
#[derive(Clone, Copy)]
struct Of {
    api_key: i16,
    api_version: i16,
    is_request: bool,
    tables: Wanted,
}

/// What either message tells.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Request(RequestFacts),
    Response(ResponseFacts),
}

impl Told {
    fn both(&self) -> &Facts {
        match self {
            Told::Request(facts) => &facts.both,
            Told::Response(facts) => &facts.both,
        }
    }

    /// Without what a message that passes by does not keep.
    fn without_pieces(mut self) -> Told {
        match &mut self {
            Told::Request(facts) => facts.both.pieces.clear(),
            Told::Response(facts) => facts.both.pieces.clear(),
        }
        self
    }
}

impl Of {
    fn facts(self, body: &[u8], declared: u64) -> Told {
        let mut bodies = Bodies::new(self.tables);
        if self.is_request {
            Told::Request(bodies.request_facts(self.api_key, self.api_version, body, declared))
        } else {
            Told::Response(bodies.response_facts(self.api_key, self.api_version, body, declared))
        }
    }

    fn whole(self, body: &[u8], more: u64) {
        let told = self.facts(body, body.len() as u64 + more);
        let both = told.both();
        let rows = both.topics.len() + both.partitions.len() + both.batches.len() + both.names.len();
        assert!(rows <= 2 * body.len() + 2, "{rows} rows of {} bytes", body.len());
        if let Told::Response(facts) = &told {
            assert!(facts.endpoints.len() + facts.leaders.len() <= 2 * body.len());
        }
        if more > 0 && both.decoded == Decoded::Full {
            assert_eq!(
                told,
                self.facts(body, body.len() as u64),
                "bytes that nobody has change what is told"
            );
        }
        fits(self.api_key, self.api_version, self.is_request, body, body.len());
        for piece in &both.pieces {
            assert!(piece.kept.len() <= body.len() && piece.size >= piece.kept.len() as u64);
            records(&piece.kept, piece.size);
        }
    }

    /// As it passes by.
    fn in_pieces(self, mut script: Script<'_>) {
        let sizes = [script.byte(), script.byte(), script.byte()].map(|size| usize::from(size) * 3 + 1);
        let lost = usize::from(script.byte());
        let body = script.rest();
        let mut bodies = Bodies::new(self.tables);
        let size = body.len() as u32;
        let made = if self.is_request {
            bodies.request_walker(self.api_key, self.api_version, 0, size)
        } else {
            bodies.response_walker(self.api_key, self.api_version, 0, size)
        };
        let Some(mut walker) = made else {
            return;
        };
        let mut rest = body;
        for (turn, size) in sizes.iter().cycle().enumerate() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at(rest.len().min(*size));
            if lost > 0 && turn == lost {
                walker.lost(piece.len() as u64);
            } else {
                walker.feed(piece);
            }
            rest = behind;
        }
        let found = match walker.ended() {
            Passed::Request(facts) => Told::Request(facts),
            Passed::Response(facts) => Told::Response(facts),
        };
        let whole = self.facts(body, body.len() as u64).without_pieces();
        if lost == 0 {
            assert_eq!(found.both().decoded, whole.both().decoded);
            assert!(
                found.both().decoded != Decoded::Full || found == whole,
                "{found:?} {whole:?}"
            );
        } else {
            is_of(&found, &whole);
        }
    }

    /// As far as it was captured.
    fn cut(self, mut script: Script<'_>) {
        let place = usize::from(script.short());
        let body = script.rest();
        let whole = self.facts(body, body.len() as u64);
        let cut = self.facts(&body[..place.min(body.len())], body.len() as u64);
        is_of(&cut, &whole);
    }
}

/// Nothing is told of a damaged message that the whole one does not tell, where that one is read to its end.
fn is_of(part: &Told, whole: &Told) {
    let (one, all) = (part.both(), whole.both());
    if all.decoded != Decoded::Full || one.decoded == Decoded::Failed {
        return;
    }
    assert!(
        one.topics.iter().all(|topic| all.topics.contains(topic)),
        "{part:?} {whole:?}"
    );
    assert!(
        one.names.iter().all(|name| all.names.contains(name)),
        "{part:?} {whole:?}"
    );
    let partitions = |facts: &Facts| -> Vec<(Option<Topic>, i32)> {
        let rows = facts.partitions.iter();
        rows.map(|row| (row.topic.clone(), row.partition)).collect()
    };
    let known = partitions(all);
    assert!(
        partitions(one).iter().all(|row| known.contains(row)),
        "{part:?} {whole:?}"
    );
    if let (Told::Response(one), Told::Response(all)) = (part, whole) {
        assert!(
            one.leaders.iter().all(|row| all
                .leaders
                .iter()
                .any(|it| it.topic == row.topic && it.topic_id == row.topic_id && it.partition == row.partition)),
            "{part:?} {whole:?}"
        );
        assert!(
            one.endpoints
                .iter()
                .all(|row| all.endpoints.iter().any(|it| it.node_id == row.node_id))
        );
    }
}

fn headers(head: &[u8], api_key: i16, api_version: i16) {
    for size in [head.len() as u32, u32::MAX] {
        assert!(request_header(head, size).body.is_none_or(|body| body <= head.len()));
    }
    let header = response_header(head, api_key, api_version);
    assert!(header.body.is_none_or(|body| body <= head.len()));
    for size in [head.len(), head.len() / 2, head.len() * 2] {
        members::subscription(head, size);
        members::assignment(head, size);
    }
    records(head, head.len() as u64);
}

/// Keys and values.
fn records(data: &[u8], size: u64) {
    let mut bytes = 0;
    let _ = payloads::records_of(data, size, MOST_UNPACKED, &mut |record| {
        match record {
            Ok(record) => {
                assert!(record.headers.len() <= payloads::MOST_HEADERS);
                bytes += record.key.map_or(0, <[u8]>::len) + record.value.map_or(0, <[u8]>::len);
            }
            Err(unread) => assert!(unread.bytes <= size),
        }
        ControlFlow::Continue(())
    });
    // Each batch has bytes of its own, which grow by a thousand times at most.
    assert!(bytes <= data.len().saturating_mul(1100) + MOST_UNPACKED * (1 + data.len() / 61));
}
