//! What exchanges tell of those of other connections.

use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::losses::Losses;
use super::sessions::{Fetch, Offsets, Sessions};
use super::topics::Topics;

/// Pairs of topic id and name.
pub type Names = Vec<([u8; 16], CompactString)>;

/// What was found in a round.
#[derive(Debug, Default)]
pub struct Lessons {
    /// With the place of the work in the round.
    names: Vec<(u32, Names)>,
    fetches: Vec<Fetch>,
}

impl Lessons {
    /// An exchange of the work at this place tells names.
    pub fn name(&mut self, order: u32, names: Names) {
        self.names.push((order, names));
    }

    /// The next Fetch.
    pub fn fetch(&mut self, fetch: Fetch) {
        self.fetches.push(fetch);
    }
}

/// What is to be known to make the rows of a round.
#[derive(Debug, Default)]
pub struct Known {
    /// With the place of the work in the round, in the order of the capture.
    pub names: Vec<(u32, Names)>,
    /// For each Fetch, the offsets that are in force behind it.
    pub offsets: Vec<Arc<Offsets>>,
}

/// What is learned from exchanges and goes on where a capture goes on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Learned {
    pub topics: Topics,
    sessions: Sessions,
    pub losses: Losses,
}

impl Learned {
    /// Takes what was found in a round; what its rows need to know.
    pub fn learn(&mut self, lessons: Lessons) -> Known {
        let Lessons { names, fetches } = lessons;
        names.iter().for_each(|(_, names)| self.topics.learn(names));
        let offsets = fetches.into_iter().map(|fetch| self.sessions.follow(fetch));
        Known {
            offsets: offsets.collect(),
            names,
        }
    }

    /// Whether this can have come about by exchanges.
    pub fn is_sound(&self) -> bool {
        self.sessions.is_sound() && self.losses.is_sound()
    }
}
