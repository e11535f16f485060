//! The offsets that are in force in fetch sessions (KIP-227).
//!
//! An incremental Fetch names only the partitions whose offset changed, and its answer only those with news; what a
//! partition of the answer was fetched from has then been said by an earlier request. A session belongs to a broker and
//! outlives the connection. Memory is bounded: the sessions that were not used for longest are forgotten.

use std::collections::VecDeque;
use std::sync::Arc;

use compact_str::CompactString;
use foldhash::HashMap;
use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;

use crate::facts::{PartitionFacts, RequestFacts, ResponseFacts, Topic};

const MOST_SESSIONS: usize = 4096;
const MOST_PARTITIONS: usize = 500_000;

const NO_SESSION: i32 = 0;
const LAST: i32 = -1;
/// Epochs of requests that name all their partitions: the first one of a session, and one without or after it. An error
/// of the session itself is answered with session id 0.
const FULL: [i32; 2] = [0, LAST];

/// What partitions are fetched from.
pub type Offsets = HashMap<(Topic, i32), i64>;

/// A Fetch of a session, and what its answer says of the session.
#[derive(Clone, Debug)]
pub struct Fetch {
    broker: CompactString,
    session_id: i32,
    epoch: i32,
    /// Where the partitions that it names are fetched from.
    offsets: Vec<((Topic, i32), i64)>,
    forgotten: ThinVec<(Topic, i32)>,
    /// The session that the next one may belong to.
    following: i32,
}

impl Fetch {
    /// None where the version knows no sessions. `broker`: address:port
    pub fn of(broker: &str, asked: &RequestFacts, said: Option<&ResponseFacts>) -> Option<Fetch> {
        let session_id = asked.both.session_id.unwrap_or(NO_SESSION);
        let offset = |row: &PartitionFacts| Some(((row.topic.clone()?, row.partition), row.offset?));
        Some(Fetch {
            broker: broker.into(),
            session_id,
            epoch: asked.session_epoch?,
            offsets: asked.both.partitions.iter().filter_map(offset).collect(),
            forgotten: asked.forgotten.clone(),
            following: said.and_then(|said| said.both.session_id).unwrap_or(session_id),
        })
    }
}

/// A broker, and a session of it.
type Number = (CompactString, i32);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Session {
    used: u64,
    offsets: Arc<Offsets>,
}

/// The sessions of all brokers of a capture.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sessions {
    sessions: HashMap<Number, Session>,
    partitions: usize,
    /// When which session was used, the oldest first; those that were used again later stand there more than once.
    uses: VecDeque<(u64, Number)>,
    clock: u64,
}

impl Sessions {
    /// Follows a Fetch and its answer; gives the offsets that the answer's partitions were fetched from.
    pub fn follow(&mut self, fetch: Fetch) -> Arc<Offsets> {
        let Fetch {
            broker,
            session_id,
            epoch,
            offsets,
            forgotten,
            following,
        } = fetch;
        let mut number = (broker, session_id);
        let known = if session_id == NO_SESSION {
            None
        } else {
            self.take(&number)
        };
        let mut shared = known.filter(|_| !FULL.contains(&epoch)).unwrap_or_default();
        if !offsets.is_empty() || !forgotten.is_empty() {
            let known = Arc::make_mut(&mut shared);
            known.extend(offsets);
            for forgotten in &forgotten {
                known.remove(forgotten);
            }
        }
        if following != NO_SESSION && epoch != LAST {
            number.1 = following;
            self.put(number, Arc::clone(&shared));
        }
        shared
    }

    fn take(&mut self, number: &Number) -> Option<Arc<Offsets>> {
        let session = self.sessions.remove(number)?;
        self.partitions = self.partitions.saturating_sub(session.offsets.len());
        Some(session.offsets)
    }

    fn put(&mut self, number: Number, offsets: Arc<Offsets>) {
        self.take(&number);
        self.partitions += offsets.len();
        self.clock += 1;
        let used = self.clock;
        self.uses.push_back((used, number.clone()));
        self.sessions.insert(number, Session { used, offsets });
        while self.sessions.len() > MOST_SESSIONS || self.partitions > MOST_PARTITIONS {
            let Some((used, number)) = self.uses.pop_front() else {
                break;
            };
            if self.sessions.get(&number).is_some_and(|session| session.used == used) {
                self.take(&number);
            }
        }
        if self.uses.len() > 4 * self.sessions.len() + 64 {
            let sessions = &self.sessions;
            self.uses
                .retain(|(used, number)| sessions.get(number).is_some_and(|session| session.used == *used));
        }
    }

    /// Whether this can have come about by exchanges.
    pub fn is_sound(&self) -> bool {
        let partitions: usize = self.sessions.values().map(|session| session.offsets.len()).sum();
        partitions == self.partitions && self.uses.len() <= 4 * self.sessions.len() + 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(session: i32, epoch: i32, rows: &[(&str, i32, i64)], forgotten: &[(&str, i32)]) -> RequestFacts {
        let mut asked = RequestFacts {
            session_epoch: Some(epoch),
            forgotten: forgotten.iter().map(|(name, at)| (topic(name), *at)).collect(),
            ..RequestFacts::default()
        };
        asked.both.session_id = Some(session);
        asked.both.partitions = rows
            .iter()
            .map(|(name, partition, offset)| PartitionFacts {
                topic: Some(topic(name)),
                partition: *partition,
                offset: Some(*offset),
                ..PartitionFacts::default()
            })
            .collect();
        asked
    }

    fn topic(name: &str) -> Topic {
        Topic::Name(name.into())
    }

    fn response(session: i32) -> ResponseFacts {
        let mut said = ResponseFacts::default();
        said.both.session_id = Some(session);
        said
    }

    impl Sessions {
        fn exchange(&mut self, broker: &str, asked: &RequestFacts, said: Option<&ResponseFacts>) -> Arc<Offsets> {
            self.follow(Fetch::of(broker, asked, said).expect("it knows sessions"))
        }
    }

    fn sorted(offsets: &Offsets) -> Vec<(Topic, i32, i64)> {
        let mut all: Vec<_> = offsets
            .iter()
            .map(|((name, at), offset)| (name.clone(), *at, *offset))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn a_session_remembers_what_it_was_told() {
        let mut sessions = Sessions::default();
        let first = request(0, 0, &[("a", 0, 5), ("a", 1, 6), ("b", 0, 7)], &[]);
        assert_eq!(sessions.exchange("k:1", &first, Some(&response(9))).len(), 3);
        let next = request(9, 1, &[("a", 1, 8)], &[("b", 0)]);
        let offsets = sessions.exchange("k:1", &next, Some(&response(9)));
        assert_eq!(sorted(&offsets), [(topic("a"), 0, 5), (topic("a"), 1, 8)]);
        // The same number at another broker is another session.
        assert!(sessions.exchange("k:2", &request(9, 1, &[], &[]), None).is_empty());
        // A request without an answer still counts; one that ends the session ends it.
        assert_eq!(
            sessions
                .exchange("k:1", &request(9, 2, &[("a", 0, 9)], &[]), None)
                .len(),
            2
        );
        assert_eq!(
            sessions
                .exchange("k:1", &request(9, LAST, &[("a", 0, 1)], &[]), None)
                .len(),
            1
        );
        assert!(sessions.exchange("k:1", &request(9, 3, &[], &[]), None).is_empty());
        assert!(sessions.is_sound());
    }

    #[test]
    fn sessions_and_partitions_are_bounded() {
        let mut sessions = Sessions::default();
        for number in 1..20_000 {
            sessions.exchange("k:1", &request(0, 0, &[("a", 0, 1)], &[]), Some(&response(number)));
            sessions.exchange("k:1", &request(19_999 / number, 1, &[], &[]), None);
        }
        assert!(sessions.sessions.len() <= MOST_SESSIONS && sessions.is_sound());
        let rows: Vec<_> = (0..100_000).map(|partition| ("a", partition, 1)).collect();
        for number in 1..9 {
            sessions.exchange("k:1", &request(0, 0, &rows, &[]), Some(&response(number)));
        }
        assert!(sessions.partitions <= MOST_PARTITIONS && sessions.is_sound());
    }
}
