//! Whether a message begins at a place: what stands there, and where that would make the next one begin.

use super::identify::{
    LARGEST, SMALLEST_REQUEST, SMALLEST_RESPONSE, first, index, is_request, part, request_head, response_fits,
};
use super::talk::Talk;
use super::unframed::Unframed;
use crate::kafka;

const NEAR: u32 = 4096;
/// How far correlation ids may rise over a hole: one counter may serve the connections to many brokers.
const FAR: u32 = 1 << 20;
/// A response whose request was not seen may be followed by one whose id is larger by so much.
const NEXT: u32 = 8;

/// No request is believed to be larger that does not show the client id of its connection.
const UNNAMED: i32 = 1 << 21;

/// Bytes of a body that are held against its layout.
const BODY: usize = 512;

/// So much of a response has to be seen where nothing behind it is: what stands in record batches looks like the first
/// eight bytes of one.
const SEEN: usize = 16;

/// Messages in a row that are proof by themselves.
const CHAIN: u32 = 3;

/// Whether a message begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No,
    Later,
}

/// What comes where the next message would begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    /// Another message.
    Good,
    /// The end of a segment, and nothing yet behind it.
    Edge,
    /// Bytes that are not in the capture.
    Dark,
    /// Not captured yet.
    Open,
    /// No message.
    Bad,
}

/// Where a message may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Place {
    pub position: u64,
    /// A segment begins there.
    pub at_edge: bool,
}

/// How much larger an id is than one before it, where it is larger by 1 to `limit`.
fn rises(from: i32, to: i32, limit: u32) -> bool {
    (1..=limit).contains(&(to.wrapping_sub(from) as u32))
}

fn is_response_size(size: i32) -> bool {
    (SMALLEST_RESPONSE..=LARGEST).contains(&size)
}

/// Size, api key, api version and correlation id: how every request begins.
fn request_header(bytes: &[u8]) -> Option<(i32, i16, i16, i32)> {
    let [s1, s2, s3, s4, k1, k2, v1, v2, c1, c2, c3, c4] = first(bytes, 0)?;
    Some((
        i32::from_be_bytes([s1, s2, s3, s4]),
        i16::from_be_bytes([k1, k2]),
        i16::from_be_bytes([v1, v2]),
        i32::from_be_bytes([c1, c2, c3, c4]),
    ))
}

/// Size and correlation id: how every response begins.
fn response_header(bytes: &[u8]) -> Option<(i32, i32)> {
    Some((
        first(bytes, 0).map(i32::from_be_bytes)?,
        first(bytes, 4).map(i32::from_be_bytes)?,
    ))
}

/// Whether a request begins at a place. `name`: the client id, as requests of this connection have it; `last`: nothing
/// more comes.
pub(super) fn judge_request(talk: &Talk, name: Option<&[u8]>, stream: &Unframed, place: Place, last: bool) -> Verdict {
    let Place { position, at_edge } = place;
    let head = stream.peek(position, 16 + BODY);
    let Some((size, api_key, api_version, correlation_id)) = request_header(&head) else {
        return Verdict::No;
    };
    let behind_size = part(&head, 4, 4 + index(size));
    if !(SMALLEST_REQUEST..=LARGEST).contains(&size) || request_head(behind_size, size).is_none() {
        return Verdict::No;
    }
    let named = is_named(name, &head);
    let is_named = named == Some(true);
    if named == Some(false) {
        return Verdict::No;
    }
    if let Some(before) = talk.last_request()
        && !rises(before, correlation_id, if is_named { FAR } else { NEAR })
    {
        return Verdict::No;
    }
    let follows = talk.last_request().is_some();
    let is_believed = kafka::is_known(api_key, api_version) || (is_named && follows);
    if !is_believed {
        return Verdict::No;
    }
    if follows && !is_named && !at_edge && (talk.version(api_key) != Some(api_version) || size > UNNAMED) {
        return Verdict::No;
    }
    let (chain, links) = follow_requests(stream, position, size, correlation_id, &head);
    if chain == Chain::Bad {
        return Verdict::No;
    }
    if follows && (is_named || links > 0 || at_edge || head.len() < 14 || chain == Chain::Dark) {
        return if is_named || is_request(behind_size, size) {
            Verdict::Yes
        } else {
            Verdict::No
        };
    }
    if !is_request(behind_size, size) {
        return Verdict::No;
    }
    let whole = head.len() == 4 + index(size) || head.len() == 16 + BODY;
    let long = head.len() >= 24;
    if links >= CHAIN - 1 || (at_edge && whole && long && matches!(chain, Chain::Edge | Chain::Good)) {
        return Verdict::Yes;
    }
    // Its own client id; no length at all is what numbers begin with.
    let tells_name =
        named.is_none() && first(&head, 12).is_some_and(|length| (1..256).contains(&i16::from_be_bytes(length)));
    if at_edge
        && chain != Chain::Open
        && long
        && (links > 0 || tells_name)
        && (links > 0 || chain == Chain::Edge || last)
    {
        return Verdict::Yes;
    }
    Verdict::Later
}

/// Whether a response begins at a place. `last`: nothing more comes.
pub(super) fn judge_response(talk: &Talk, stream: &Unframed, place: Place, last: bool) -> Verdict {
    let Place { position, at_edge } = place;
    let head = stream.peek(position, 8 + BODY);
    let Some((size, correlation_id)) = response_header(&head) else {
        return Verdict::No;
    };
    if !is_response_size(size) {
        return Verdict::No;
    }
    let Some(asked) = talk.waits(correlation_id) else {
        return judge_unasked(talk, stream, place, &head, last);
    };
    if index(size) < kafka::least_response(asked.api_key, asked.api_version) {
        return Verdict::No;
    }
    let chain = follow_response(stream, position, size, correlation_id);
    if chain == Chain::Bad {
        return Verdict::No;
    }
    let good = matches!(chain, Chain::Good | Chain::Edge);
    if at_edge && good {
        return Verdict::Yes;
    }
    if !response_fits(asked.api_key, asked.api_version, part(&head, 4, 4 + index(size)), size) {
        return Verdict::No;
    }
    if good || (is_seen(&head, size) && (at_edge || chain == Chain::Dark || last)) {
        Verdict::Yes
    } else {
        Verdict::Later
    }
}

/// Whether the client id is that of the connection; `None` where there is none to tell it by.
fn is_named(name: Option<&[u8]>, head: &[u8]) -> Option<bool> {
    let known = name?;
    if head.len() < 15 {
        return None;
    }
    if !known.starts_with(part(head, 12, 12 + known.len())) {
        return Some(false);
    }
    (known.len() > 3).then_some(true)
}

/// What is at a position where a message might begin: its first bytes, or why there are none.
fn reach(stream: &Unframed, position: u64) -> Result<std::borrow::Cow<'_, [u8]>, Chain> {
    if position > stream.end {
        return Err(Chain::Open);
    }
    if position == stream.end {
        let in_gap = stream.pieces.last().is_some_and(|piece| piece.gap);
        return Err(if in_gap { Chain::Dark } else { Chain::Edge });
    }
    let Some((_, piece)) = stream.piece(position) else {
        return Err(Chain::Dark);
    };
    if piece.gap && position == piece.start {
        return Err(Chain::Edge);
    }
    let head = stream.peek(position, 64);
    if head.len() >= 12 {
        Ok(head)
    } else if position + 12 > stream.end && piece.is_whole() {
        Err(Chain::Open)
    } else {
        Err(Chain::Dark)
    }
}

/// The position behind a message of a size that was checked.
fn after(position: u64, size: i32) -> u64 {
    position.saturating_add(4).saturating_add(index(size) as u64)
}

/// Follow the sizes: what comes at last, and how many more requests of the same client are on the way.
fn follow_requests(stream: &Unframed, position: u64, size: i32, correlation_id: i32, head: &[u8]) -> (Chain, u32) {
    let (mut position, mut size, mut correlation_id) = (position, size, correlation_id);
    let named = name_end(head);
    for links in 0..CHAIN {
        position = after(position, size);
        let next = match reach(stream, position) {
            Ok(next) => next,
            Err(what) => return (what, links),
        };
        let Some((next_size, api_key, api_version, following)) = request_header(&next) else {
            return (Chain::Bad, links);
        };
        if !(SMALLEST_REQUEST..=LARGEST).contains(&next_size)
            || api_key < 0
            || api_version < 0
            || !rises(correlation_id, following, FAR)
        {
            return (Chain::Bad, links);
        }
        let end = named.min(next.len()).min(64);
        if part(head, 12, end) != part(&next, 12, end) {
            return (Chain::Bad, links);
        }
        (size, correlation_id) = (next_size, following);
    }
    (Chain::Good, CHAIN)
}

/// Where the client id of a request ends, as far as it is there.
fn name_end(head: &[u8]) -> usize {
    let length = first(head, 12).map(|length| index(i16::from_be_bytes(length).into()));
    length.map_or(12, |length| 14 + length).min(head.len())
}

/// What comes where a response ends.
fn follow_response(stream: &Unframed, position: u64, size: i32, correlation_id: i32) -> Chain {
    match reach(stream, after(position, size)) {
        Err(what) => what,
        Ok(head) => match response_header(&head) {
            Some((size, following)) if is_response_size(size) && rises(correlation_id, following, FAR) => Chain::Good,
            _ => Chain::Bad,
        },
    }
}

/// Whether a message begins at a place that is not decided yet, now that one was found behind it.
pub(super) fn precedes(talk: &Talk, stream: &Unframed, is_request: bool, early: Place, found: u64) -> bool {
    let does_lead = leads(stream, early.position, found);
    let head = stream.peek(early.position, 16 + BODY);
    let next = stream.peek(found, 64);
    if is_request {
        let (Some((_, api_key, api_version, correlation_id)), Some((_, _, _, following))) =
            (request_header(&head), request_header(&next))
        else {
            return false;
        };
        let is_used = !talk.asked || talk.version(api_key) == Some(api_version);
        let end = name_end(&head).min(next.len()).min(64);
        let is_alike = part(&head, 12, end) == part(&next, 12, end);
        return does_lead && is_used && is_alike && rises(correlation_id, following, NEAR);
    }
    let (Some((size, correlation_id)), Some((_, following))) = (response_header(&head), response_header(&next)) else {
        return false;
    };
    if talk.waits(correlation_id).is_some() {
        return does_lead && rises(correlation_id, following, FAR);
    }
    // A record batch ends where its response does, and its size also stands before a small number.
    let is_between = talk
        .last_response()
        .is_some_and(|before| rises(before, correlation_id, NEXT));
    let is_possible = rises(correlation_id, following, NEXT) && is_seen(&head, size);
    if does_lead {
        return is_possible && answers(kafka::all(), &head, size);
    }
    let has_room = after(early.position, size) <= found;
    is_possible && early.at_edge && is_between && has_room && answers(kafka::all(), &head, size)
}

/// Whether the sizes from one place on lead to another.
fn leads(stream: &Unframed, mut start: u64, goal: u64) -> bool {
    while start < goal {
        let Some(size) = first(&stream.peek(start, 4), 0).map(u32::from_be_bytes) else {
            return false;
        };
        start += 4 + u64::from(size);
    }
    start == goal
}

/// Whether responses, each with an id a little larger than the one before, lead from the first byte to another one.
pub(super) fn responses_lead(stream: &Unframed, goal: u64) -> bool {
    let (mut position, mut before) = (0, None);
    while position <= goal {
        let Some((size, correlation_id)) = response_header(&stream.peek(position, 8)) else {
            return false;
        };
        if !is_response_size(size) || before.is_some_and(|before| !rises(before, correlation_id, NEXT)) {
            return false;
        }
        if position == goal {
            return true;
        }
        (position, before) = (after(position, size), Some(correlation_id));
    }
    false
}

/// Whether enough of a response is there to hold it against a layout.
fn is_seen(head: &[u8], size: i32) -> bool {
    head.len() >= SEEN.min(4 + index(size))
}

/// Whether a response can answer a request of one of these kinds.
fn answers(mut kinds: impl Iterator<Item = (i16, i16)>, head: &[u8], size: i32) -> bool {
    kinds.any(|(api_key, api_version)| {
        index(size) >= kafka::least_response(api_key, api_version)
            && response_fits(api_key, api_version, part(head, 4, 4 + index(size)), size)
    })
}

/// A response whose request was not seen: believed for others that follow, or as what comes next at the very end.
fn judge_unasked(talk: &Talk, stream: &Unframed, place: Place, head: &[u8], last: bool) -> Verdict {
    let Place { position, at_edge } = place;
    let Some((size, correlation_id)) = response_header(head) else {
        return Verdict::No;
    };
    if talk
        .last_response()
        .is_some_and(|before| !rises(before, correlation_id, FAR))
    {
        return Verdict::No;
    }
    if talk
        .last_request()
        .is_some_and(|asked| asked.wrapping_add(NEAR as i32).wrapping_sub(correlation_id) < 0)
    {
        return Verdict::No;
    }
    if !answers(kafka::all(), head, size) {
        return Verdict::No;
    }
    let is_seen = is_seen(head, size);
    let is_next = talk
        .last_response()
        .is_some_and(|before| rises(before, correlation_id, NEXT));
    if last
        && at_edge
        && is_next
        && is_seen
        && after(position, size) <= stream.end
        && answers(talk.versions(), head, size)
    {
        return Verdict::Yes;
    }
    let (mut position, mut size, mut correlation_id) = (position, size, correlation_id);
    for _ in 1..CHAIN {
        position = after(position, size);
        let head = match reach(stream, position) {
            Ok(head) => head,
            Err(Chain::Bad) => return Verdict::No,
            Err(_) => return Verdict::Later,
        };
        let Some((next, following)) = response_header(&head) else {
            return Verdict::No;
        };
        if !is_response_size(next) || !rises(correlation_id, following, NEXT) {
            return Verdict::No;
        }
        let is_answer = |api_key, api_version| index(next) >= kafka::least_response(api_key, api_version);
        if is_seen
            && talk
                .waiting()
                .any(|it| it.correlation_id == following && is_answer(it.api_key, it.api_version))
        {
            return Verdict::Yes;
        }
        (size, correlation_id) = (next, following);
    }
    Verdict::Yes
}
