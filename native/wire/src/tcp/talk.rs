//! What both directions of a connection know of each other: who asks, what waits for an answer, what is spoken.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::identify::is_printable;
use crate::message::Spoken;
use crate::queue::Queue;

/// Requests kept to know their responses again; those with acks=0 are never answered.
const WAITING: usize = 512;

/// All that wait are not so far apart that the numbers would begin anew.
const MOST_RISE: i32 = i32::MAX / WAITING as i32;

const SASL_HANDSHAKE: i16 = 17;

/// Api keys from here on are in no table of messages, so nobody asks for their versions.
const NO_API: i16 = 512;

/// A request without a response yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub correlation_id: i32,
    pub api_key: i16,
    pub api_version: i16,
}

/// What few connections have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Names {
    server_name: Option<String>,
    sasl_mechanism: Option<String>,
}

/// State that requests and responses of one connection share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Talk {
    /// Oldest first.
    waiting: Queue<Waiting>,
    /// Whether the correlation ids of those rise.
    rises: bool,
    /// The version last used of every api key, by key: a client stays with the one that it negotiated.
    versions: SmallVec<[(i16, i16); 6]>,
    /// Api key and version of the last request.
    last_api: (i16, i16),
    names: Option<Box<Names>>,
    /// Messages up to this size are kept whole until they are complete.
    pub keep: u32,
    /// The correlation ids of the last request and the last response, if there was one.
    last_request: i32,
    last_response: i32,
    pub spoken: Spoken,
    /// Bare SASL tokens travel in the frames, as they do after SaslHandshake v0 (and without one before Kafka 1.0).
    pub raw: bool,
    /// Whether a request was seen.
    pub asked: bool,
    /// Whether a response was seen.
    answered: bool,
    /// Whether the first request had no client id.
    is_nameless: bool,
    /// Whether side 1 is the one of the SYN, where that was captured.
    pub opener: Option<bool>,
    /// Whether side 1 is the one that sends requests, where that is known.
    pub client_side: Option<bool>,
}

impl Talk {
    pub fn new(keep: u32) -> Talk {
        Talk {
            waiting: Queue::default(),
            rises: true,
            versions: SmallVec::new(),
            last_api: (-1, -1),
            names: None,
            keep,
            last_request: 0,
            last_response: 0,
            spoken: Spoken::None,
            raw: false,
            asked: false,
            answered: false,
            is_nameless: false,
            opener: None,
            client_side: None,
        }
    }

    /// A request was found.
    #[inline]
    pub fn request(&mut self, head: &[u8]) {
        let Some(&[k1, k2, v1, v2, c1, c2, c3, c4]) = head.first_chunk() else {
            return;
        };
        let (api_key, api_version) = (i16::from_be_bytes([k1, k2]), i16::from_be_bytes([v1, v2]));
        let correlation_id = i32::from_be_bytes([c1, c2, c3, c4]);
        if self.waiting.len() >= WAITING {
            self.waiting.pop_front();
        }
        self.rises = self.waiting.front().is_none() || (self.rises && self.is_later(correlation_id));
        self.waiting.push_back(Waiting {
            correlation_id,
            api_key,
            api_version,
        });
        self.last_request = correlation_id;
        if !self.asked {
            self.asked = true;
            self.is_nameless = short(head, 8).is_some_and(|length| length < 0);
        }
        if self.last_api != (api_key, api_version) {
            self.last_api = (api_key, api_version);
            self.remember_version(api_key, api_version);
        }
        if api_key == SASL_HANDSHAKE {
            self.handshake(api_version, head);
        }
    }

    /// A response was found: its request does not wait any longer, nor do older ones.
    #[inline]
    pub fn response(&mut self, head: &[u8]) {
        let Some(&correlation) = head.first_chunk() else {
            return;
        };
        let correlation_id = i32::from_be_bytes(correlation);
        (self.last_response, self.answered) = (correlation_id, true);
        // Where a client waits for many responses, the one to this request may be remembered no longer.
        let Some(first) = self.waiting.front().map(|first| first.correlation_id) else {
            return;
        };
        let behind = correlation_id.wrapping_sub(first);
        let known = if self.rises && behind < 0 {
            return;
        } else if self.rises {
            self.waiting
                .position_of(behind, |it| it.correlation_id.wrapping_sub(first))
        } else {
            self.waiting.iter().position(|it| it.correlation_id == correlation_id)
        };
        for _ in 0..known.map_or(0, |before| before + 1) {
            self.waiting.pop_front();
        }
    }

    /// Whether a correlation id is a little larger than the last one.
    fn is_later(&self, correlation_id: i32) -> bool {
        let last = self.last_request().unwrap_or(correlation_id);
        (1..=MOST_RISE).contains(&correlation_id.wrapping_sub(last))
    }

    /// The correlation id of the last request.
    pub fn last_request(&self) -> Option<i32> {
        self.asked.then_some(self.last_request)
    }

    /// The correlation id of the last response.
    pub fn last_response(&self) -> Option<i32> {
        self.answered.then_some(self.last_response)
    }

    /// Requests without a response yet, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }

    /// The oldest request with this id that has no response yet.
    pub fn waits(&self, correlation_id: i32) -> Option<Waiting> {
        self.waiting
            .iter()
            .find(|it| it.correlation_id == correlation_id)
            .copied()
    }

    /// Length and bytes of the client id, as every request has them on the wire, where they are those of a text.
    pub fn name(&self, client_id: Option<&str>) -> Option<Vec<u8>> {
        if self.is_nameless {
            return Some((-1i16).to_be_bytes().into());
        }
        let id = client_id.filter(|id| is_printable(id.as_bytes()) && !id.contains(char::REPLACEMENT_CHARACTER))?;
        let length = i16::from(u8::try_from(id.len()).ok()?);
        Some([&length.to_be_bytes(), id.as_bytes()].concat())
    }

    /// The version last used of an api key.
    pub fn version(&self, api_key: i16) -> Option<i16> {
        let at = self.versions.binary_search_by_key(&api_key, |entry| entry.0).ok()?;
        self.versions.get(at).map(|entry| entry.1)
    }

    /// The api keys that were used, each with its last version.
    pub fn versions(&self) -> impl Iterator<Item = (i16, i16)> {
        self.versions.iter().copied()
    }

    /// The server name that a TLS client asked for.
    pub fn server_name(&self) -> Option<&str> {
        self.names.as_ref()?.server_name.as_deref()
    }

    pub fn set_server_name(&mut self, name: Option<String>) {
        if name.is_some() || self.names.is_some() {
            self.names.get_or_insert_default().server_name = name;
        }
    }

    /// The mechanism of a SaslHandshake.
    pub fn sasl_mechanism(&self) -> Option<&str> {
        self.names.as_ref()?.sasl_mechanism.as_deref()
    }

    fn remember_version(&mut self, api_key: i16, api_version: i16) {
        if !(0..NO_API).contains(&api_key) {
            return;
        }
        match self.versions.binary_search_by_key(&api_key, |entry| entry.0) {
            Ok(at) => self.versions[at].1 = api_version,
            Err(at) => self.versions.insert(at, (api_key, api_version)),
        }
    }

    fn handshake(&mut self, api_version: i16, head: &[u8]) {
        if head.len() >= 12 {
            let at = 10 + short(head, 8).map_or(0, |length| usize::try_from(length).unwrap_or(0));
            if let Some(length) = short(head, at) {
                let name = head.get(at + 2..).unwrap_or(&[]);
                let name = &name[..name.len().min(usize::try_from(length).unwrap_or(0))];
                if !name.is_empty() && is_printable(name) {
                    self.names.get_or_insert_default().sasl_mechanism = Some(ascii(name));
                }
            }
        }
        if api_version == 0 {
            self.raw = true;
        }
    }

    /// Whether this can have come about by requests and responses.
    pub fn is_sound(&self) -> bool {
        let mut later = self.waiting.iter().skip(1);
        let does_rise = |one: &Waiting| {
            let next = later.next();
            next.is_none_or(|next| (1..=MOST_RISE).contains(&next.correlation_id.wrapping_sub(one.correlation_id)))
        };
        self.waiting.len() <= WAITING
            && (!self.rises || self.waiting.iter().all(does_rise))
            && self.versions.windows(2).all(|pair| pair[0].0 < pair[1].0)
    }
}

/// The number of two bytes at an offset.
fn short(bytes: &[u8], at: usize) -> Option<i16> {
    bytes.get(at..)?.first_chunk().map(|&two| i16::from_be_bytes(two))
}

/// Text of ASCII; other bytes become U+FFFD.
pub(super) fn ascii(text: &[u8]) -> String {
    text.iter()
        .map(|&byte| {
            if byte < 128 {
                byte as char
            } else {
                char::REPLACEMENT_CHARACTER
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn request(correlation_id: i32) -> Vec<u8> {
        [&[0, 3, 0, 1][..], &correlation_id.to_be_bytes()].concat()
    }

    #[test]
    fn a_name_is_what_requests_have_on_the_wire() {
        let name = |request: &[u8], client_id| {
            let mut talk = Talk::new(1);
            talk.request(request);
            talk.name(client_id)
        };
        let of_app = b"\0\x03\0\x01\0\0\0\x01\0\x03app";
        assert_eq!(name(of_app, Some("app")).as_deref(), Some(&b"\0\x03app"[..]));
        assert_eq!(name(of_app, Some("")).as_deref(), Some(&b"\0\0"[..]));
        assert_eq!(
            name(b"\0\x03\0\x01\0\0\0\x01\xff\xff", None).as_deref(),
            Some(&b"\xff\xff"[..])
        );
        // What these were on the wire is not known.
        let long = "a".repeat(256);
        for unlike in [None, Some("a\u{fffd}"), Some("a\u{7f}"), Some(&*long)] {
            assert_eq!(name(of_app, unlike), None);
        }
    }

    proptest! {
        /// Whether ids rise or not, a response is looked for among all requests that wait.
        #[test]
        fn a_response_closes_what_was_asked_before_it(
            first in prop_oneof![Just(0i32), Just(i32::MAX - 300)],
            asked in proptest::collection::vec((0usize..40, prop_oneof![9 => Just(1i32), 1 => -5i32..9_000_000]), 1..60),
            answers in proptest::collection::vec(0usize..700, 1..60),
        ) {
            let (mut talk, mut expected) = (Talk::new(1), VecDeque::new());
            let (mut ids, mut next) = (Vec::new(), first);
            let mut answers = answers.into_iter().cycle();
            for (count, step) in asked {
                for _ in 0..count {
                    talk.request(&request(next));
                    if expected.len() == WAITING {
                        expected.pop_front();
                    }
                    expected.push_back(next);
                    ids.push(next);
                    next = next.wrapping_add(step);
                }
                let Some(&id) = answers.next().and_then(|at| ids.get(at)) else { continue };
                talk.response(&id.to_be_bytes());
                if let Some(at) = expected.iter().position(|it| *it == id) {
                    expected.drain(..=at);
                }
                prop_assert!(talk.waiting().map(|it| it.correlation_id).eq(expected.iter().copied()));
                prop_assert!(talk.is_sound());
            }
        }
    }
}
