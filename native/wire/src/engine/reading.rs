//! From files to rows, in threads that take turns.
//!
//! Each thread reads a piece of a file and takes it through all stages: its packets to work for connections, that to
//! exchanges, these to rows. A stage takes the pieces in their order, so while one thread makes rows, another one finds
//! messages in the next piece, and whoever waits for the disk keeps nobody from working.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::{io, mem, panic};

use super::assembler::{Assembler, Copies};
use super::ledger::Ledger;
use super::raw::Raw;
use super::router::{Router, Routes};
use super::turns::Stage;
use super::work::{Aside, Made, Round};
use super::worker::Worker;
use crate::capture::{CaptureFile, Captures, Chunk, FromDisk, Refused, Shared, Window};
use crate::exchange::{Learned, Topics};
use crate::folds::{Folded, Folds, Through};
use crate::options::Options;
use crate::rows::{Batch, Rows, Shape};

/// So many chunks at most are taken in a turn, where files overlap and make small ones.
const MOST_CHUNKS: usize = 512;

/// Why reading ended before its end.
#[derive(Debug)]
pub enum Broken {
    /// A file cannot be read as a capture.
    Refused(Refused),
    /// The system does not give another thread.
    NoThread(io::Error),
    /// A defect of ours.
    Defect(String),
}

impl From<Refused> for Broken {
    fn from(refused: Refused) -> Broken {
        Broken::Refused(refused)
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::NoThread(error)
    }
}

/// How far reading is; looked at from another thread.
#[derive(Debug)]
pub struct Progress {
    /// Bytes of all files that were read, as they lie there.
    pub bytes: Arc<AtomicU64>,
    pub packets: AtomicU64,
    first: AtomicI64,
    last: AtomicI64,
}

impl Progress {
    /// The times of the earliest and the latest packet so far.
    pub fn times(&self) -> Option<(i64, i64)> {
        let times = (self.first.load(Ordering::Relaxed), self.last.load(Ordering::Relaxed));
        (times.0 <= times.1).then_some(times)
    }

    fn add(&self, chunk: &Chunk) {
        let packets = chunk.packets();
        self.packets.fetch_add(packets.len() as u64, Ordering::Relaxed);
        // Packets of a chunk are in their order; files may be anything.
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for packet in packets {
            (first, last) = (first.min(packet.time), last.max(packet.time));
        }
        self.first.fetch_min(first, Ordering::Relaxed);
        self.last.fetch_max(last, Ordering::Relaxed);
    }
}

/// What became of a turn.
pub enum Turn {
    /// Rows are ready: those of one exchange in all tables, and the batches of a table in their order; and folded rows.
    Ready(Vec<Batch>, Vec<Folded>),
    /// There is more to read.
    More,
    /// All is read, and all rows were given.
    End,
}

/// What is ready.
struct Ready {
    batches: Vec<Batch>,
    folded: Vec<Folded>,
    copies: Copies,
    is_last: bool,
}

/// Files that are read piece by piece.
struct Source {
    captures: Captures,
    /// That of the piece that is read next.
    turn: u64,
    is_over: bool,
}

/// What one thread carries through the stages, and room that it uses again.
#[derive(Default)]
struct Load {
    chunks: Vec<Chunk>,
    rounds: Vec<Round>,
    made: Vec<Made>,
    used: Vec<Made>,
    is_last: bool,
    failure: Option<Refused>,
}

/// Makes rows.
struct Maker {
    assembler: Assembler,
    ledger: Ledger,
    /// Rows are folded where they are made.
    folds: Option<Folds>,
    folded: Vec<Folded>,
    rows: Rows,
    copies: Copies,
}

/// All that a piece goes through.
struct Stages {
    source: Mutex<Source>,
    router: Stage<Router>,
    worker: Stage<Worker>,
    maker: Stage<Maker>,
    progress: Arc<Progress>,
}

/// Where rows come from.
enum Origin {
    Threads {
        ready: Receiver<Result<Ready, Broken>>,
        stages: Arc<Stages>,
        threads: Vec<JoinHandle<()>>,
    },
    /// The thread that takes the turns does everything.
    Here {
        stages: Box<Stages>,
        load: Load,
    },
    /// What no connection is needed for.
    Raw {
        captures: Captures,
        raw: Box<Raw>,
        files: BTreeMap<u32, String>,
        rows: Box<Rows>,
    },
    Over,
}

/// Captures on their way to rows.
pub struct Reading {
    origin: Origin,
    progress: Arc<Progress>,
    copies: Copies,
}

impl Reading {
    /// Opens the files, or `-` for standard input; fails where one is no capture. `names`: what they are called in
    /// rows, one for each. `threads`: so many work, besides the one that takes the turns; 0 does everything in that.
    pub fn start(
        files: &[PathBuf],
        names: &[String],
        options: &Options,
        shapes: &[Shape],
        threads: usize,
    ) -> Result<Reading, Broken> {
        let shared = Shared::default();
        let interfaces = shared.interfaces.clone();
        let window = Window::new(options.since, options.until);
        let captures = Captures::open(files, Arc::new(FromDisk), window, &shared)?;
        let progress = Arc::new(Progress {
            bytes: captures.progress(),
            packets: 0.into(),
            first: i64::MAX.into(),
            last: i64::MIN.into(),
        });
        let files: BTreeMap<u32, String> = (0..).zip(names.iter().cloned()).collect();
        let origin = if let Some(raw) = Raw::of(options, &interfaces) {
            Origin::Raw {
                captures,
                raw: Box::new(raw),
                files,
                rows: Box::new(Rows::new(shapes)),
            }
        } else {
            let ledger = Ledger::new(options, Learned::default());
            let known = (Topics::default(), ledger.room.clone());
            let stages = Stages {
                source: Mutex::new(Source {
                    captures,
                    turn: 0,
                    is_over: false,
                }),
                router: Stage::new(Router::new(options, interfaces.clone(), Routes::new(options))),
                worker: Stage::new(Worker::new(options)),
                maker: Stage::new(Maker {
                    assembler: Assembler::new(options, interfaces, files, known),
                    ledger,
                    folds: options.folded.clone().map(Folds::new),
                    folded: Vec::new(),
                    rows: Rows::new(shapes),
                    copies: Copies::default(),
                }),
                progress: Arc::clone(&progress),
            };
            match threads {
                0 => Origin::Here {
                    stages: Box::new(stages),
                    load: Load::default(),
                },
                _ => in_threads(stages, threads)?,
            }
        };
        Ok(Reading {
            origin,
            progress,
            copies: Copies::default(),
        })
    }

    /// Works for about as long as a piece takes, or until rows are ready.
    pub fn turn(&mut self) -> Result<Turn, Broken> {
        let ready = match &mut self.origin {
            Origin::Over => return Ok(Turn::End),
            Origin::Raw { .. } => return self.raw_turn(),
            Origin::Here { stages, load } => {
                let mut ready = None;
                let take = &mut |given| {
                    ready = Some(given);
                    true
                };
                // Nobody closes the stages here.
                let _ = stages.step(load, take);
                ready.unwrap_or_else(|| {
                    Ok(Ready {
                        batches: Vec::new(),
                        folded: Vec::new(),
                        copies: self.copies,
                        is_last: false,
                    })
                })
            }
            Origin::Threads { ready, .. } => ready.recv().unwrap_or_else(|_| Err(self.defect())),
        };
        let Ready {
            batches,
            folded,
            copies,
            is_last,
        } = ready.inspect_err(|_| self.end())?;
        self.copies = copies;
        if is_last {
            self.end();
        } else if batches.is_empty() && folded.is_empty() {
            return Ok(Turn::More);
        }
        Ok(Turn::Ready(batches, folded))
    }

    /// How far reading is.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Connections that were taken as ones that had been seen elsewhere; all of them at the end only.
    pub fn copies(&self) -> Copies {
        self.copies
    }

    fn raw_turn(&mut self) -> Result<Turn, Broken> {
        let Origin::Raw {
            captures,
            raw,
            files,
            rows,
        } = &mut self.origin
        else {
            return Ok(Turn::End);
        };
        match captures.next_chunk() {
            Ok(Some(chunk)) => {
                self.progress.add(&chunk);
                raw.take(&chunk, files, &mut **rows);
                if !rows.is_due() {
                    return Ok(Turn::More);
                }
                Ok(Turn::Ready(rows.drain(), Vec::new()))
            }
            Ok(None) => {
                let batches = rows.drain();
                self.origin = Origin::Over;
                Ok(Turn::Ready(batches, Vec::new()))
            }
            Err(refused) => {
                self.origin = Origin::Over;
                Err(refused.into())
            }
        }
    }

    /// A thread broke off: what it said last.
    fn defect(&mut self) -> Broken {
        let Origin::Threads { stages, threads, .. } = mem::replace(&mut self.origin, Origin::Over) else {
            return Broken::Defect("a thread ended".into());
        };
        stages.close();
        let cause = threads.into_iter().find_map(|thread| thread.join().err());
        Broken::Defect(cause.map_or_else(|| "a thread ended".into(), |cause| said(&*cause)))
    }

    fn end(&mut self) {
        if let Origin::Threads { ready, stages, threads } = mem::replace(&mut self.origin, Origin::Over) {
            // Whoever wants to give something sees that nobody takes it.
            drop(ready);
            stages.close();
            // A thread that waits for a pipe ends when something comes, or with the process.
            if let Ok(mut source) = stages.source.try_lock() {
                source.is_over = true;
                drop(source);
                for thread in threads {
                    // What a thread had to say was said, or nobody asks any more.
                    let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| thread.join()));
                }
            }
        }
    }
}

/// What a panic said.
pub fn said(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
    format!("the engine broke off: {}", text.unwrap_or("no words"))
}

fn in_threads(stages: Stages, count: usize) -> Result<Origin, Broken> {
    let stages = Arc::new(stages);
    // Whoever gives rows waits until they are taken: so they are held once.
    let (give, ready) = sync_channel(0);
    let mut threads = Vec::new();
    for _ in 0..count {
        let (stages, give) = (Arc::clone(&stages), give.clone());
        let work = move || work(&stages, &give);
        threads.push(Builder::new().name("netdiag-messages".into()).spawn(work)?);
    }
    Ok(Origin::Threads { ready, stages, threads })
}

/// Takes pieces through the stages until there are no more, or nobody wants them.
fn work(stages: &Stages, give: &SyncSender<Result<Ready, Broken>>) {
    let worked = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let mut load = Load::default();
        while stages.step(&mut load, &mut |ready| give.send(ready).is_ok()).is_some() {}
    }));
    if let Err(cause) = worked {
        stages.close();
        panic::resume_unwind(cause);
    }
}

impl Stages {
    /// Takes the next piece through all stages, and what is ready then to `give`, which says whether anybody wants it; None
    /// where there is no more to be done.
    fn step(&self, load: &mut Load, give: &mut impl FnMut(Result<Ready, Broken>) -> bool) -> Option<()> {
        let turn = self.source.lock().ok()?.read(load)?;
        let mut router = self.router.enter(turn)?;
        for chunk in &load.chunks {
            self.progress.add(chunk);
            load.rounds.push(router.route(chunk));
        }
        let router = if load.is_last { Some(router) } else { leave(router) };
        let mut worker = self.worker.enter(turn)?;
        for (chunk, round) in load.chunks.iter().zip(&mut load.rounds) {
            let room = load.used.pop().unwrap_or_default();
            load.made.push(worker.work(&mut round.works, chunk.bytes(), room));
        }
        let worker = if load.is_last { Some(worker) } else { leave(worker) };
        // Others may read into their room while these become rows.
        load.chunks.clear();
        let mut maker = self.maker.enter(turn)?;
        for (round, mut made) in load.rounds.drain(..).zip(load.made.drain(..)) {
            maker.take(round.aside, &mut made);
            load.used.extend(made.emptied());
        }
        let failure = load.failure.take();
        let is_wanted = if let Some(refused) = failure {
            give(Err(refused.into()))
        } else if let (Some(mut router), Some(mut worker)) = (router, worker) {
            let mut is_more = true;
            while is_more {
                let mut round;
                (round, is_more) = router.finish();
                let mut made = worker.work(&mut round.works, &[], Made::default());
                maker.take(round.aside, &mut made);
            }
            let source = self.source.lock().ok()?;
            give(Ok(maker.finish(source.captures.files())))
        } else if maker.is_due() {
            give(Ok(maker.drain()))
        } else {
            true
        };
        maker.leave();
        if !is_wanted {
            self.close();
        }
        (is_wanted && !load.is_last).then_some(())
    }

    /// Nobody is to go on.
    fn close(&self) {
        self.router.close();
        self.worker.close();
        self.maker.close();
    }
}

/// The next one may enter a stage.
fn leave<'a, T>(turn: super::turns::Turn<'a, T>) -> Option<super::turns::Turn<'a, T>> {
    turn.leave();
    None
}

impl Source {
    /// Reads the next piece, and what else is there; gives its turn, None behind the end.
    fn read(&mut self, load: &mut Load) -> Option<u64> {
        if self.is_over {
            return None;
        }
        while !self.is_over {
            match self.captures.next_chunk() {
                Ok(Some(chunk)) => load.chunks.push(chunk),
                Ok(None) => (self.is_over, load.is_last) = (true, true),
                Err(refused) => (self.is_over, load.is_last, load.failure) = (true, true, Some(refused)),
            }
            // Nothing that is there waits for what must be read first.
            if !self.captures.is_ready() || load.chunks.len() >= MOST_CHUNKS {
                break;
            }
        }
        self.turn += 1;
        Some(self.turn - 1)
    }
}

impl Maker {
    /// Makes the rows of a round.
    fn take(&mut self, aside: Aside, made: &mut Made) {
        let Maker {
            assembler,
            ledger,
            folds,
            folded,
            rows,
            copies,
        } = self;
        let lessons = mem::take(&mut made.lessons);
        let known = ledger.learn(lessons);
        let told = match folds {
            Some(folds) => {
                let told = assembler.take(made, known, &mut Through { folds, rows });
                folded.extend(folds.take());
                told
            }
            None => assembler.take(made, known, rows),
        };
        *copies = told.copies;
        ledger.take(aside, Some(told), rows);
    }

    /// Whether there is something to give.
    fn is_due(&self) -> bool {
        self.rows.is_due() || !self.folded.is_empty()
    }

    /// What there is so far.
    fn drain(&mut self) -> Ready {
        self.ledger.drained();
        Ready {
            batches: self.rows.drain(),
            folded: mem::take(&mut self.folded),
            copies: self.copies,
            is_last: false,
        }
    }

    /// What there is when nothing more comes.
    fn finish<'a>(&mut self, files: impl Iterator<Item = &'a CaptureFile>) -> Ready {
        for (index, file) in (0..).zip(files) {
            let account = file.account();
            for lost in &account.losses {
                self.ledger.lose(index, lost, None);
            }
            self.ledger.dropped(index, account.dropped);
        }
        self.ledger.finish(&self.assembler.files, &mut self.rows);
        if let Some(mut folds) = self.folds.take() {
            self.folded.extend(folds.finish());
        }
        Ready {
            is_last: true,
            ..self.drain()
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.end();
    }
}
