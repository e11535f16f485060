//! Requests and responses of one connection, paired by their correlation id.
//!
//! A broker answers the requests of a connection in their order, so a response closes what was asked before it: a
//! request with acks=0 had no response to come, that of the others was lost. A response whose request is not there yet
//! may have been captured before it (a card with two queues), so the last few of these wait. Memory is bounded.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;
use twox_hash::XxHash3_64;

use super::sessions::Fetch;
use crate::facts::{Decoded, Piece, RequestFacts, ResponseFacts};
use crate::kafka::{Bodies, BodyWalker, Passed, request_header, response_header, shortened_text};
use crate::message::{Message, MessageSink, Spare, Times};
use crate::queue::Queue;

/// Messages up to this size are kept whole where payloads are wanted.
pub const KEEP_WHOLE: u32 = 16 << 20;

const PRODUCE: i16 = 0;
const FETCH: i16 = 1;
/// What of a connection tells it from others: so many messages of each side, so many bytes of each.
const DIGESTED: u64 = 8;
const DIGESTED_BYTES: usize = 64;
const MOST_PENDING: usize = 10_000;
/// So many rows of partitions and batches of those that wait are held; then the oldest are given up as well.
const MOST_ROWS: usize = 100_000;
const MOST_ORPHANS: usize = 64;
/// So much is kept of a response that waits for its request.
const ORPHAN_BYTES: usize = 16_384;
/// The room of so many requests is used again at most.
const MOST_FREE: usize = 1024;
/// So many kinds of clients are known again.
const MOST_SHARED: usize = 16;
/// A response may have been captured so long before its request.
const EARLY: i64 = 1_000_000_000;

/// What became of a request, as the column `outcome` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    /// There was none to come.
    NoResponse,
    Unanswered,
    /// A response without a request.
    NoRequest,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::NoResponse => "no-response",
            Outcome::Unanswered => "unanswered",
            Outcome::NoRequest => "no-request",
        }
    }
}

/// What the header of a request says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    pub api_key: i16,
    pub api_version: i16,
    pub correlation_id: i32,
    pub client_id: Option<CompactString>,
    /// Whether the table has a layout for the body.
    pub known: bool,
}

/// A request, and what its body says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked {
    pub header: Header,
    pub size: u32,
    pub times: Times,
    pub facts: RequestFacts,
}

/// A response, and what its body says if its request is known.
#[derive(Clone, Debug)]
pub struct Answer {
    pub correlation_id: i32,
    pub size: u32,
    pub times: Times,
    pub facts: Option<ResponseFacts>,
}

/// A request with its response; one of them is there.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub asked: Option<Box<Asked>>,
    pub answer: Option<Answer>,
    pub outcome: Outcome,
}

impl Exchange {
    /// The names of topics that it tells; what the response says comes first.
    pub fn names(&self) -> impl Iterator<Item = &([u8; 16], CompactString)> {
        let said = self.answer.as_ref().and_then(|answer| answer.facts.as_ref());
        let said = said.map_or(&[][..], |said| &said.both.names);
        let asked = self.asked.as_ref().map_or(&[][..], |asked| &asked.facts.both.names);
        said.iter().chain(asked)
    }

    /// Whether it is a Fetch of a version that knows sessions.
    pub fn is_of_session(&self) -> bool {
        let asked = self.asked.as_ref();
        asked.is_some_and(|asked| asked.header.api_key == FETCH && asked.facts.session_epoch.is_some())
    }

    /// What it means for a fetch session of this broker.
    pub fn fetch(&self, broker: &str) -> Option<Fetch> {
        let asked = self.asked.as_ref().filter(|_| self.is_of_session())?;
        let said = self.answer.as_ref().and_then(|answer| answer.facts.as_ref());
        Fetch::of(broker, &asked.facts, said)
    }
}

/// The records of a request, as it comes: their bytes are not held until its response does.
#[derive(Clone, Debug)]
pub struct Heard {
    pub header: Header,
    pub time: i64,
    pub decoded: Decoded,
    pub record_bytes: i64,
    pub pieces: ThinVec<Piece>,
}

/// What a connection tells.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all events are exchanges, made by the million"
)]
pub enum Event {
    Exchange(Exchange),
    Heard(Box<Heard>),
}

impl Event {
    /// Looks at what the rows of it are made of, which may have gone from the cache since it was read.
    #[inline]
    pub fn touch(&self) -> u64 {
        let Event::Exchange(Exchange { asked: Some(asked), .. }) = self else {
            return 0;
        };
        let topics = asked.facts.both.topics.len() as u64;
        topics ^ asked.times.end_number ^ u64::from(asked.header.api_key.unsigned_abs())
    }

    /// Frees what it holds, as long as that is in the cache, and where it stands: moving it away would take longer. The
    /// room of a request can be used again.
    #[inline]
    pub fn let_go(&mut self, free: &mut FreeRequests) {
        if let Event::Exchange(exchange) = self {
            exchange.answer = None;
            if let Some(mut asked) = exchange.asked.take()
                && free.0.len() < MOST_FREE
            {
                asked.header.client_id = None;
                asked.facts = RequestFacts::default();
                free.0.push(asked);
            }
        }
    }
}

/// A hash of pieces, each with that of those before: so eight bytes are all that is to be kept in between.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Digest(u64);

impl Digest {
    fn update(&mut self, size: u32, data: &[u8]) {
        let seed = self.0 ^ u64::from(size).rotate_left(32);
        self.0 = XxHash3_64::oneshot_with_seed(seed, data);
    }
}

/// A response whose request is not there, yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Orphan {
    correlation_id: i32,
    size: u32,
    times: Times,
    head: Vec<u8>,
}

/// A request without a response yet. Its correlation id stands beside it, to be looked through quickly.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pending {
    correlation_id: i32,
    asked: Box<Asked>,
}

/// What waits for its other half, and what a connection said of itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pairing {
    pending: Queue<Pending>,
    /// Rows of partitions and batches in `pending`.
    rows: usize,
    /// Few at most, and nearly never any.
    orphans: ThinVec<Orphan>,
    /// Of the messages that the broker and the client sent.
    digests: [Digest; 2],
    /// Requests and responses so far.
    pub requests: u64,
    pub responses: u64,
    /// The one that was seen first.
    pub client_id: Option<CompactString>,
    pub client_software: Option<Arc<CompactString>>,
    /// Few say one.
    pub sasl_mechanism: Option<Box<CompactString>>,
}

impl Pairing {
    pub fn new() -> Pairing {
        Pairing::default()
    }

    /// A hash of the first messages of both sides; None without any.
    pub fn digest(&self) -> Option<i64> {
        let [broker, client] = self.digests.map(|digest| digest.0);
        (self.requests + self.responses > 0).then(|| (broker ^ client.rotate_left(32)).cast_signed())
    }

    /// Looks at what the next message will look at, as [`crate::tcp::Dialogue::touch`] does.
    #[inline]
    pub fn touch(&self) -> u64 {
        let first = self.pending.iter().next();
        self.requests ^ self.digests[0].0 ^ first.map_or(0, |pending| pending.asked.times.end_number)
    }

    /// The files that rows to come may name.
    pub fn files(&self) -> impl Iterator<Item = u32> {
        let pending = self.pending.iter().map(|pending| pending.asked.times.file);
        pending.chain(self.orphans.iter().map(|orphan| orphan.times.file))
    }

    /// Nothing more is to come.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        for orphan in mem::take(&mut self.orphans) {
            events.push(alone(&orphan));
        }
        self.give_up(self.pending.len(), events);
    }

    /// Whether this can have come about by messages.
    pub fn is_sound(&self) -> bool {
        self.pending.len() <= MOST_PENDING
            && self.orphans.len() <= MOST_ORPHANS
            && self.rows == self.pending.iter().map(|pending| rows_of(&pending.asked.facts)).sum()
            && self
                .pending
                .iter()
                .all(|pending| pending.asked.header.correlation_id == pending.correlation_id)
    }

    fn request(
        &mut self,
        message: Message<'_, BodyWalker>,
        bodies: &mut Bodies,
        rooms: &mut Rooms,
        hears: bool,
        events: &mut Vec<Event>,
    ) {
        let said = request_header(message.head, message.size);
        let (Some(api_key), Some(api_version), Some(correlation_id)) =
            (said.api_key, said.api_version, said.correlation_id)
        else {
            return;
        };
        let mut facts = match (said.body, message.walker.map(BodyWalker::ended)) {
            (None, _) => headless(said.known, message.head, message.size),
            (Some(_), Some(Passed::Request(facts))) => facts,
            (Some(at), _) => {
                let body = message.head.get(at..).unwrap_or_default();
                bodies.request_facts(
                    api_key,
                    api_version,
                    body,
                    u64::from(message.size).saturating_sub(at as u64),
                )
            }
        };
        let header = Header {
            api_key,
            api_version,
            correlation_id,
            client_id: said.client_id.map(|id| match &self.client_id {
                // Nearly always that of the request before.
                Some(known) if known.as_bytes() == id => known.clone(),
                _ => shortened_text(id),
            }),
            known: said.known,
        };
        if self.client_id.is_none() {
            self.client_id.clone_from(&header.client_id);
        }
        if hears && facts.both.record_bytes.is_some_and(|bytes| bytes > 0) {
            events.push(Event::Heard(Box::new(Heard {
                header: header.clone(),
                time: message.times.end_time,
                decoded: facts.both.decoded,
                record_bytes: facts.both.record_bytes.unwrap_or(0),
                pieces: mem::take(&mut facts.both.pieces),
            })));
        }
        if let Some(client) = &facts.client {
            if let Some(name) = &client.software_name {
                let version = client.software_version.as_deref().unwrap_or_default();
                let both = compact_str::format_compact!("{name} {version}");
                self.client_software = Some(rooms.shared(both.trim_end()));
            }
            if let Some(mechanism) = &client.sasl_mechanism {
                self.sasl_mechanism = Some(Box::new(mechanism.clone()));
            }
        }
        let rows = rows_of(&facts);
        let asked = rooms.requests.fill(Asked {
            header,
            size: message.size,
            times: message.times,
            facts,
        });
        let since = message.times.start_time.saturating_sub(EARLY);
        let fits = |orphan: &Orphan| orphan.correlation_id == correlation_id && orphan.times.end_time >= since;
        if let Some(place) = self.orphans.iter().position(fits) {
            let orphan = self.orphans.remove(place);
            let answer = answer_of(&asked, orphan.size, orphan.times, &orphan.head, None, bodies);
            events.push(answered(asked, answer));
            return;
        }
        self.rows += rows;
        self.pending.push_back(Pending { correlation_id, asked });
        while self.pending.len() > MOST_PENDING || (self.rows > MOST_ROWS && self.pending.len() > 1) {
            self.give_up(1, events);
        }
    }

    fn response(&mut self, message: Message<'_, BodyWalker>, bodies: &mut Bodies, events: &mut Vec<Event>) {
        let Some(&correlation_id) = message.head.first_chunk() else {
            return;
        };
        let correlation_id = i32::from_be_bytes(correlation_id);
        let Message {
            size,
            head,
            walker,
            times,
            ..
        } = message;
        let Some(before) = self.position(correlation_id) else {
            self.orphans.push(Orphan {
                correlation_id,
                size,
                times,
                head: head[..head.len().min(ORPHAN_BYTES)].to_vec(),
            });
            if self.orphans.len() > MOST_ORPHANS {
                events.push(alone(&self.orphans.remove(0)));
            }
            return;
        };
        self.give_up(before, events);
        if let Some(Pending { asked, .. }) = self.pending.pop_front() {
            self.rows = self.rows.saturating_sub(rows_of(&asked.facts));
            let answer = answer_of(&asked, size, times, head, walker, bodies);
            events.push(answered(asked, answer));
        }
    }

    /// Which of the requests that wait has this id.
    #[inline]
    fn position(&self, correlation_id: i32) -> Option<usize> {
        let mut pending = self.pending.iter();
        pending.position(|pending| pending.correlation_id == correlation_id)
    }

    /// So many of the oldest requests have no response.
    fn give_up(&mut self, count: usize, events: &mut Vec<Event>) {
        for _ in 0..count {
            let Some(Pending { asked, .. }) = self.pending.pop_front() else {
                return;
            };
            self.rows = self.rows.saturating_sub(rows_of(&asked.facts));
            let is_silent = asked.header.api_key == PRODUCE && asked.facts.acks == Some(0);
            events.push(Event::Exchange(Exchange {
                asked: Some(asked),
                answer: None,
                outcome: if is_silent {
                    Outcome::NoResponse
                } else {
                    Outcome::Unanswered
                },
            }));
        }
    }
}

/// The room of requests whose rows are made, for others.
#[derive(Debug, Default)]
pub struct FreeRequests(#[allow(clippy::vec_box, reason = "they are handed out, and come back")] Vec<Box<Asked>>);

impl FreeRequests {
    #[inline]
    fn fill(&mut self, asked: Asked) -> Box<Asked> {
        match self.0.pop() {
            Some(mut room) => {
                *room = asked;
                room
            }
            None => Box::new(asked),
        }
    }

    /// Takes over those of another one.
    pub fn append(&mut self, other: &mut FreeRequests) {
        other.0.truncate(MOST_FREE.saturating_sub(self.0.len()));
        self.0.append(&mut other.0);
    }
}

/// Room that is used again and again, by all connections of a worker.
#[derive(Debug, Default)]
pub struct Rooms {
    pub messages: Spare<BodyWalker>,
    pub requests: FreeRequests,
    /// What clients were lately.
    software: VecDeque<Arc<CompactString>>,
}

impl Rooms {
    /// The software of a client, of which most connections have the same.
    fn shared(&mut self, software: &str) -> Arc<CompactString> {
        if let Some(known) = self.software.iter().find(|known| ***known == software) {
            return Arc::clone(known);
        }
        self.software.truncate(MOST_SHARED - 1);
        let shared = Arc::new(CompactString::from(software));
        self.software.push_front(Arc::clone(&shared));
        shared
    }
}

/// Takes the messages of a connection to its pairing; what they tell is added to `events`.
pub struct PairingSink<'a> {
    pub pairing: &'a mut Pairing,
    pub bodies: &'a mut Bodies,
    pub rooms: &'a mut Rooms,
    pub events: &'a mut Vec<Event>,
    /// Whether the records of requests are wanted as they come.
    pub hears: bool,
}

impl MessageSink for PairingSink<'_> {
    type Walker = BodyWalker;

    fn message(&mut self, message: Message<'_, BodyWalker>) {
        let pairing = &mut *self.pairing;
        let seen = if message.is_request {
            &mut pairing.requests
        } else {
            &mut pairing.responses
        };
        *seen += 1;
        if *seen <= DIGESTED {
            let head = message.head.get(..DIGESTED_BYTES).unwrap_or(message.head);
            pairing.digests[usize::from(message.is_request)].update(message.size, head);
        }
        if message.is_request {
            pairing.request(message, self.bodies, self.rooms, self.hears, self.events);
        } else {
            pairing.response(message, self.bodies, self.events);
        }
    }

    fn spare(&mut self) -> &mut Spare<BodyWalker> {
        &mut self.rooms.messages
    }

    /// Produce requests and Fetch responses are read while they pass by.
    fn begin_walk(&mut self, is_request: bool, size: u32, head: &[u8]) -> Option<BodyWalker> {
        if is_request {
            let asked = request_header(head, size);
            return self
                .bodies
                .request_walker(asked.api_key?, asked.api_version?, asked.body?, size);
        }
        let correlation_id = i32::from_be_bytes(*head.first_chunk()?);
        let mut pending = self.pairing.pending.iter();
        let Header {
            api_key, api_version, ..
        } = pending
            .find(|pending| pending.correlation_id == correlation_id)?
            .asked
            .header;
        let body = response_header(head, api_key, api_version).body?;
        self.bodies.response_walker(api_key, api_version, body, size)
    }

    fn client_id(&self) -> Option<&str> {
        self.pairing.client_id.as_deref()
    }
}

/// Rows of partitions and batches that a request holds.
#[inline]
fn rows_of(facts: &RequestFacts) -> usize {
    facts.both.partitions.len() + facts.both.batches.len()
}

/// What a response says, whose request is known.
fn answer_of(
    asked: &Asked,
    size: u32,
    times: Times,
    head: &[u8],
    walker: Option<BodyWalker>,
    bodies: &mut Bodies,
) -> Answer {
    let Header {
        api_key,
        api_version,
        known,
        ..
    } = asked.header;
    let said = response_header(head, api_key, api_version);
    let facts = match (walker.map(BodyWalker::ended), said.body) {
        (Some(Passed::Response(facts)), _) => facts,
        (_, None) => ResponseFacts {
            both: headless(known, head, size).both,
            ..ResponseFacts::default()
        },
        (_, Some(at)) => {
            let body = head.get(at..).unwrap_or_default();
            bodies.response_facts(api_key, api_version, body, u64::from(size).saturating_sub(at as u64))
        }
    };
    Answer {
        correlation_id: said.correlation_id.unwrap_or(0),
        size,
        times,
        facts: Some(facts),
    }
}

/// What a message tells whose body was not found.
fn headless(known: bool, head: &[u8], size: u32) -> RequestFacts {
    let mut facts = RequestFacts::default();
    facts.both.decoded = if !known {
        Decoded::Header
    } else if (head.len() as u64) < u64::from(size) {
        Decoded::Truncated
    } else {
        Decoded::Failed
    };
    facts
}

fn answered(asked: Box<Asked>, answer: Answer) -> Event {
    Event::Exchange(Exchange {
        asked: Some(asked),
        answer: Some(answer),
        outcome: Outcome::Answered,
    })
}

fn alone(orphan: &Orphan) -> Event {
    Event::Exchange(Exchange {
        asked: None,
        answer: Some(Answer {
            correlation_id: orphan.correlation_id,
            size: orphan.size,
            times: orphan.times,
            facts: None,
        }),
        outcome: Outcome::NoRequest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::shortened;
    use crate::options::Wanted;

    /// A Metadata request v1 of all topics, or the response without brokers and topics.
    fn message(is_request: bool, correlation_id: i32) -> Vec<u8> {
        let mut bytes = Vec::new();
        if is_request {
            bytes.extend(b"\0\x03\0\x01");
        }
        bytes.extend(correlation_id.to_be_bytes());
        match is_request {
            true => bytes.extend(b"\0\x03app\xff\xff\xff\xff"),
            false => bytes.extend([0; 12]),
        }
        bytes
    }

    /// Feeds messages, each (is request, correlation id, second), and tells what comes: id, outcome.
    fn outcomes(messages: &[(bool, i32, i64)]) -> (Pairing, Vec<(i32, &'static str)>) {
        let (mut pairing, mut bodies) = (Pairing::new(), Bodies::new(Wanted::all_but_records()));
        let mut events = Vec::new();
        for &(is_request, correlation_id, second) in messages {
            let bytes = message(is_request, correlation_id);
            let times = Times {
                start_time: second * 1_000_000_000,
                end_time: second * 1_000_000_000,
                ..Times::default()
            };
            let mut sink = PairingSink {
                pairing: &mut pairing,
                bodies: &mut bodies,
                rooms: &mut Rooms::default(),
                events: &mut events,
                hears: false,
            };
            sink.message(Message {
                is_request,
                size: bytes.len() as u32,
                head: &bytes,
                walker: None,
                times,
            });
            if messages.len() < 20 {
                assert!(pairing.is_sound());
                let stored = postcard::to_stdvec(&pairing).unwrap();
                pairing = postcard::from_bytes(&stored).unwrap();
            }
        }
        assert!(pairing.is_sound());
        pairing.finish(&mut events);
        let told = events.iter().map(|event| match event {
            Event::Exchange(exchange) => {
                let asked = exchange.asked.as_ref().map(|asked| asked.header.correlation_id);
                let answer = exchange.answer.as_ref().map(|answer| answer.correlation_id);
                assert!(asked.is_none() || answer.is_none() || asked == answer);
                (asked.or(answer).unwrap(), exchange.outcome.as_str())
            }
            Event::Heard(_) => panic!("nobody asked for records"),
        });
        let told = told.collect();
        (pairing, told)
    }

    #[test]
    fn a_response_closes_what_was_asked_before_it() {
        let (pairing, told) = outcomes(&[
            (true, 1, 0),
            (true, 2, 0),
            (true, 3, 0),
            (false, 2, 1),
            (false, 9, 1),
            (false, 3, 1),
            (true, 4, 2),
        ]);
        assert_eq!(
            told,
            [
                (1, "unanswered"),
                (2, "answered"),
                (3, "answered"),
                (9, "no-request"),
                (4, "unanswered")
            ]
        );
        assert_eq!((pairing.requests, pairing.responses), (4, 3));
        assert_eq!(pairing.client_id.as_deref(), Some("app"));
    }

    #[test]
    fn a_response_may_come_a_little_before_its_request() {
        assert_eq!(outcomes(&[(false, 1, 0), (true, 1, 1)]).1, [(1, "answered")]);
        let late = outcomes(&[(false, 1, 0), (true, 1, 2)]).1;
        assert_eq!(late, [(1, "no-request"), (1, "unanswered")]);
    }

    #[test]
    fn what_waits_is_bounded() {
        let many: Vec<_> = (0..11_000).map(|id| (true, id, 0)).collect();
        let (_, told) = outcomes(&many[..10_001]);
        assert_eq!(told.len(), 10_001);
        let many: Vec<_> = (0..100).map(|id| (false, id, 0)).collect();
        assert_eq!(outcomes(&many).1.len(), 100);
    }

    #[test]
    fn the_digest_is_that_of_the_first_messages() {
        let of = |messages: &[(bool, i32, i64)]| outcomes(messages).0.digest();
        assert_eq!(of(&[]), None);
        let one = of(&[(true, 1, 0), (false, 1, 0)]);
        assert_eq!(one, of(&[(true, 1, 5), (false, 1, 6)]));
        assert_ne!(one, of(&[(true, 1, 0)]));
        let many: Vec<_> = (0..20).map(|id| (true, id, 0)).collect();
        assert_eq!(of(&many[..8]), of(&many));
        assert_ne!(of(&many[..7]), of(&many));
    }

    #[test]
    fn a_name_is_shortened_where_it_could_be_told_in_every_row() {
        assert_eq!(shortened("orders"), "orders");
        let long = shortened(&"ä".repeat(20_000));
        assert_eq!((long.chars().count(), long.ends_with("ä…")), (513, true));
    }

    #[test]
    fn the_rows_of_what_waits_are_bounded() {
        let mut pairing = Pairing::new();
        let mut events = Vec::new();
        let mut bodies = Bodies::new(Wanted::all_but_records());
        for id in 0..6i32 {
            // A Fetch v4 of 40,000 partitions.
            let mut body = [&b"\0\x01\0\x04"[..], &id.to_be_bytes(), b"\0\0"].concat();
            body.extend(b"\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\x01t");
            body.extend(40_000i32.to_be_bytes());
            (0..40_000i32).for_each(|at| body.extend([&at.to_be_bytes()[..], &[0; 12]].concat()));
            PairingSink {
                pairing: &mut pairing,
                bodies: &mut bodies,
                rooms: &mut Rooms::default(),
                events: &mut events,
                hears: false,
            }
            .message(Message {
                is_request: true,
                size: body.len() as u32,
                head: &body,
                walker: None,
                times: Times::default(),
            });
            assert!(pairing.is_sound() && pairing.rows <= MOST_ROWS);
        }
        assert_eq!((pairing.pending.len(), events.len()), (2, 4));
    }

    #[test]
    fn the_software_of_a_client_has_a_name_and_perhaps_a_version() {
        for (name, version, told) in [
            ("librdkafka", "2.3.0", "librdkafka 2.3.0"),
            ("librdkafka", "", "librdkafka"),
        ] {
            // ApiVersions v3, of the client "app".
            let mut request = b"\0\x12\0\x03\0\0\0\x01\0\x03app\0".to_vec();
            for text in [name, version] {
                request.push(text.len() as u8 + 1);
                request.extend(text.as_bytes());
            }
            request.push(0);
            let mut pairing = Pairing::new();
            PairingSink {
                pairing: &mut pairing,
                bodies: &mut Bodies::new(Wanted::all_but_records()),
                rooms: &mut Rooms::default(),
                events: &mut Vec::new(),
                hears: false,
            }
            .message(Message {
                is_request: true,
                size: request.len() as u32,
                head: &request,
                walker: None,
                times: Times::default(),
            });
            let software = pairing.client_software.as_deref();
            assert_eq!(software.map(CompactString::as_str), Some(told));
        }
    }
}
