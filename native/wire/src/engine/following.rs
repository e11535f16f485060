//! Files that grow, read batch by batch: between two batches all that goes on can be saved.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::single::Engine;
use crate::capture::{Following, FollowingState, Found, GrowingFile, Identity, Shared, Window};
use crate::options::{Options, Table};
use crate::packet::Undecoded;
use crate::rows::{Batch, Rows, Shape};
use crate::state::{self, Unsound};

const SECOND: f64 = 1e9;

/// What was read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub packets: u64,
    /// The times of the earliest and the latest packet.
    pub first: Option<i64>,
    pub last: Option<i64>,
    /// Rows of each table, by its name.
    pub rows: BTreeMap<String, u64>,
}

/// What may be read of a file now.
#[derive(Clone, Debug)]
pub struct Allowed {
    pub found: Found,
    /// Bytes as they lie there.
    pub size: u64,
    /// No more come.
    pub is_ended: bool,
    /// Others need not wait for more.
    pub is_quiet: bool,
    /// It went away before a later one had come.
    pub is_gone: bool,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    engine: Vec<u8>,
    files: FollowingState,
    tally: Tally,
}

/// An engine, and the files that it reads.
pub struct Follower {
    engine: Engine,
    files: Following,
    tally: Tally,
    rows: Rows,
    window: Window,
    shared: Shared,
}

impl Follower {
    pub fn new(options: &Options, shapes: &[Shape]) -> Follower {
        let shared = Shared::default();
        Follower {
            engine: Engine::new(options, shared.interfaces.clone()),
            files: Following::default(),
            tally: Tally::default(),
            rows: Rows::new(shapes),
            window: Window::new(options.since, options.until),
            shared,
        }
    }

    /// Goes on from what was saved under the same options.
    pub fn restored(options: &Options, shapes: &[Shape], bytes: &[u8]) -> Result<Follower, Unsound> {
        let saved: Saved = state::read(bytes)?;
        let engine = Engine::restored(options, &saved.engine)?;
        let shared = Shared {
            interfaces: engine.interfaces().clone(),
            ..Shared::default()
        };
        let files = Following::restored(saved.files, &shared).ok_or(Unsound::Contradiction)?;
        Ok(Follower {
            engine,
            files,
            tally: saved.tally,
            rows: Rows::new(shapes),
            window: Window::new(options.since, options.until),
            shared,
        })
    }

    /// What [`Follower::restored`] goes on from; when all rows are taken.
    pub fn save(&mut self) -> Vec<u8> {
        let open: Vec<u32> = self.files.files_mut().map(|file| file.found().number).collect();
        state::write(&Saved {
            engine: self.engine.save(open),
            files: self.files.state(),
            tally: self.tally.clone(),
        })
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Tells what may be read of a file now, which is a new one where its number is the next; files come in the order of
    /// their numbers, and those that are over by now are let go.
    pub fn allow(&mut self, allowed: Allowed) {
        let Allowed {
            found,
            size,
            is_ended,
            is_quiet,
            is_gone,
        } = allowed;
        let is_it = |file: &GrowingFile| file.found().number == found.number;
        if !self.files.files_mut().any(|file| is_it(file)) {
            if found.number < self.engine.next_file() {
                return;
            }
            let number = self.engine.add_file(found.name.clone());
            let found = Found {
                number,
                ..found.clone()
            };
            self.files.add(GrowingFile::new(found, self.window, &self.shared));
        }
        if let Some(file) = self.files.files_mut().find(|file| is_it(file)) {
            file.go_to(found.path.clone(), found.identity.clone());
            file.allow(size, is_ended, is_quiet);
            file.is_gone = is_gone;
        }
    }

    /// Nothing more comes than what is there.
    pub fn end_files(&mut self) {
        for file in self.files.files_mut() {
            file.end();
        }
    }

    /// Reads on, up to a time (nanoseconds, None for all), until a piece was read; rows that are ready, and whether that
    /// was all.
    pub fn turn(&mut self, until: Option<i64>) -> (Vec<Batch>, bool) {
        let Some(chunk) = self.files.next_chunk(until) else {
            for file in self.files.ended() {
                self.account(&file);
            }
            return (self.drain(), true);
        };
        for packet in chunk.packets() {
            let Tally { first, last, .. } = &mut self.tally;
            *first = Some(first.map_or(packet.time, |first| first.min(packet.time)));
            *last = Some(last.map_or(packet.time, |last| last.max(packet.time)));
        }
        self.tally.packets += chunk.packets().len() as u64;
        self.engine.feed(&chunk, &mut self.rows);
        let ready = if self.rows.is_due() { self.drain() } else { Vec::new() };
        (ready, false)
    }

    /// There are no more packets: the rest of the rows.
    pub fn finish(&mut self) -> Vec<Batch> {
        self.engine.finish(&mut self.rows);
        self.drain()
    }

    /// Lets go of all files until they are read on.
    pub fn close(&mut self) {
        self.files.close();
    }

    fn drain(&mut self) -> Vec<Batch> {
        self.engine.drained();
        let batches = self.rows.drain();
        for batch in &batches {
            let table: Table = batch.shape().table;
            *self.tally.rows.entry(table.as_str().into()).or_default() += batch.rows() as u64;
        }
        batches
    }

    /// What a file that is over has lost.
    fn account(&mut self, file: &GrowingFile) {
        let Found {
            number,
            late,
            first_time,
            ..
        } = *file.found();
        let lost = |kind: &str, detail: &str| Undecoded {
            kind: kind.into(),
            detail: detail.into(),
            bytes: 0,
        };
        self.engine.dropped(number, file.account().dropped);
        for loss in &file.account().losses {
            self.engine.lose(number, loss, None);
        }
        if let Some(failure) = file.failure() {
            self.engine.lose(number, failure, None);
        } else if file.is_gone {
            let gone = lost("removed", "went away before a later one had come");
            self.engine.lose(number, &gone, None);
        }
        if late > 0 {
            let detail = format!("began {:.1} s before what was taken by then", late as f64 / SECOND);
            self.engine.lose(number, &lost("late", &detail), Some(first_time));
        }
        self.engine.end_file(number, &mut self.rows);
    }
}

/// When a file that grows was seen last: looks at its packets as it grows.
pub struct Latest {
    file: GrowingFile,
    latest: i64,
}

impl Latest {
    pub fn new(path: std::path::PathBuf, identity: Identity, first_time: i64) -> Latest {
        let found = Found {
            number: 0,
            name: String::new(),
            path,
            first_time,
            late: 0,
            identity,
        };
        Latest {
            file: GrowingFile::new(found, Window::default(), &Shared::default()),
            latest: first_time,
        }
    }

    /// The time of the latest packet in so many bytes, as they lie there.
    pub fn within(&mut self, size: u64) -> i64 {
        self.file.allow(size, false, false);
        self.latest = self.file.latest(self.latest);
        self.latest
    }
}
