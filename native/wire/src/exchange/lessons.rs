//! What the exchanges of some connections tell of those of all: workers that read connections apart from each other learn it
//! from here, and make the same rows as one that reads them all.

use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::losses::Losses;
use super::sessions::{Fetch, Offsets, Sessions};
use super::topics::Topics;

/// Pairs of topic id and name.
pub type Names = Vec<([u8; 16], CompactString)>;

/// What a worker found in a round.
#[derive(Debug, Default)]
pub struct Lessons {
    /// With the place of the work in the round.
    names: Vec<(u32, Names)>,
    fetches: Vec<(u32, Fetch)>,
}

impl Lessons {
    /// An exchange of the work at this place tells names.
    pub fn name(&mut self, order: u32, names: Names) {
        self.names.push((order, names));
    }

    /// The next Fetch of the worker.
    pub fn fetch(&mut self, order: u32, fetch: Fetch) {
        self.fetches.push((order, fetch));
    }
}

/// What a worker has to know to make the rows of its round.
#[derive(Debug, Default)]
pub struct Known {
    /// What all workers were told, in the order of the capture.
    pub names: Arc<[(u32, Names)]>,
    /// For each Fetch of the worker, the offsets that are in force behind it.
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
    /// Takes what the workers found in a round; what each of them has to know.
    pub fn learn(&mut self, lessons: Vec<Lessons>) -> Vec<Known> {
        let mut known: Vec<Known> = lessons.iter().map(|_| Known::default()).collect();
        let (mut names, mut fetches) = (Vec::new(), Vec::new());
        for (worker, lessons) in lessons.into_iter().enumerate() {
            names.extend(lessons.names);
            let of_worker = lessons.fetches.into_iter();
            fetches.extend(of_worker.map(|(order, fetch)| (order, worker, fetch)));
        }
        // A work is of one worker, whose lessons are in their order.
        names.sort_by_key(|(order, _)| *order);
        fetches.sort_by_key(|(order, ..)| *order);
        for (_, worker, fetch) in fetches {
            known[worker].offsets.push(self.sessions.follow(fetch));
        }
        if !names.is_empty() {
            for (_, names) in &names {
                self.topics.learn(names);
            }
            let names: Arc<[_]> = names.into();
            known.iter_mut().for_each(|known| known.names = Arc::clone(&names));
        }
        known
    }

    /// Whether this can have come about by exchanges.
    pub fn is_sound(&self) -> bool {
        self.sessions.is_sound() && self.losses.is_sound()
    }
}
