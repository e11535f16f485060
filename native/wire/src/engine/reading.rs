//! From files to rows, in threads of their own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::{io, panic};

use super::assembler::{Assembler, Copies};
use super::raw::Raw;
use super::router::{Router, Routes};
use super::work::{Aside, Made, Work};
use super::worker::Worker;
use crate::capture::{Ahead, CaptureFile, Captures, Chunk, FromDisk, Refused, Shared, Window};
use crate::exchange::Learned;
use crate::options::Options;
use crate::rows::{Batch, Rows, Shape};

/// So many pieces may wait between two threads.
const AHEAD: usize = 2;

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
    /// Rows are ready: those of one exchange in all tables, and the batches of a table in their order.
    Ready(Vec<Batch>),
    /// There is more to read.
    More,
    /// All is read, and all rows were given.
    End,
}

/// A round for a worker: what is to be done for the packets of a piece.
type Task = (Option<Chunk>, Vec<Work>);

/// What came of a round, from each worker; with the last one the files that were read.
type Done = (Aside, Vec<Vec<Made>>, Option<Captures>);

/// What the router tells the assembler of a round.
enum Routed {
    Round(Aside),
    /// The last round, and the files that were read.
    End(Aside, Box<Captures>),
    Failed(Broken),
}

/// Where rounds come from.
enum Source {
    /// Threads for the router and each worker.
    Threads {
        routed: Receiver<Routed>,
        made: Vec<Receiver<Vec<Made>>>,
        threads: Vec<JoinHandle<()>>,
    },
    /// All in the thread that takes the turns.
    Here {
        captures: Captures,
        router: Box<Router>,
        worker: Box<Worker>,
    },
    /// What no connection is needed for.
    Raw {
        captures: Captures,
        raw: Box<Raw>,
    },
    Over,
}

/// Captures on their way to rows.
pub struct Reading {
    source: Source,
    assembler: Assembler,
    rows: Rows,
    progress: Arc<Progress>,
    is_over: bool,
}

impl Reading {
    /// Opens the files, or `-` for standard input; fails where one is no capture. `names`: what they are called in
    /// rows, one for each. `workers`: threads that read messages, besides three others; 0 does everything in one.
    pub fn start(
        files: &[PathBuf],
        names: &[String],
        options: &Options,
        shapes: &[Shape],
        workers: usize,
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
        let names: BTreeMap<u32, String> = (0..).zip(names.iter().cloned()).collect();
        let router = Router::new(options, interfaces.clone(), Routes::new(options), workers);
        let source = if let Some(raw) = Raw::of(options, &interfaces) {
            Source::Raw {
                captures,
                raw: Box::new(raw),
            }
        } else if workers == 0 {
            Source::Here {
                captures,
                router: Box::new(router),
                worker: Box::new(Worker::new(options, 1)),
            }
        } else {
            threads(captures, router, options, workers, &progress)?
        };
        Ok(Reading {
            source,
            assembler: Assembler::new(options, interfaces, names, Learned::default()),
            rows: Rows::new(shapes),
            progress,
            is_over: false,
        })
    }

    /// Works for about as long as a piece takes, or until rows are ready.
    pub fn turn(&mut self) -> Result<Turn, Broken> {
        if self.is_over {
            return Ok(Turn::End);
        }
        if let Source::Raw { .. } = &self.source {
            return self.raw_turn();
        }
        let (aside, made, captures) = match self.round() {
            Ok(round) => round,
            Err(broken) => {
                self.is_over = true;
                self.source = Source::Over;
                return Err(broken);
            }
        };
        self.assembler.take(aside, made, &mut self.rows);
        if let Some(captures) = captures {
            self.is_over = true;
            self.end(captures.files());
        } else if !self.rows.is_due() {
            return Ok(Turn::More);
        }
        self.assembler.drained();
        Ok(Turn::Ready(self.rows.drain()))
    }

    /// How far reading is.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Connections that were taken as ones that had been seen elsewhere; all of them at the end only.
    pub fn copies(&self) -> Copies {
        self.assembler.copies
    }

    fn raw_turn(&mut self) -> Result<Turn, Broken> {
        let Source::Raw { captures, raw } = &mut self.source else {
            return Ok(Turn::End);
        };
        match captures.next_chunk() {
            Ok(Some(chunk)) => {
                self.progress.add(&chunk);
                raw.take(&chunk, &self.assembler.files, &mut self.rows);
                if !self.rows.is_due() {
                    return Ok(Turn::More);
                }
            }
            Ok(None) => self.is_over = true,
            Err(refused) => {
                self.is_over = true;
                return Err(refused.into());
            }
        }
        Ok(Turn::Ready(self.rows.drain()))
    }

    /// The next round, and with the last one the files that were read.
    fn round(&mut self) -> Result<Done, Broken> {
        match &mut self.source {
            Source::Threads { routed, made, .. } => {
                let (aside, captures) = match routed.recv() {
                    Ok(Routed::Round(aside)) => (aside, None),
                    Ok(Routed::End(aside, captures)) => (aside, Some(*captures)),
                    Ok(Routed::Failed(broken)) => return Err(broken),
                    Err(_) => return Err(self.defect()),
                };
                match made.iter().map(Receiver::recv).collect() {
                    Ok(made) => Ok((aside, made, captures)),
                    Err(_) => Err(self.defect()),
                }
            }
            Source::Here {
                captures,
                router,
                worker,
            } => {
                let chunk = captures.next_chunk()?;
                let (mut round, is_more) = match &chunk {
                    Some(chunk) => {
                        self.progress.add(chunk);
                        (router.route(chunk), true)
                    }
                    None => router.finish(),
                };
                let bytes = chunk.as_ref().map_or(&[][..], Chunk::bytes);
                let works = round.works.pop().unwrap_or_default();
                let made = vec![worker.work(works, bytes)];
                let captures = if is_more {
                    None
                } else {
                    match std::mem::replace(&mut self.source, Source::Over) {
                        Source::Here { captures, .. } => Some(captures),
                        _ => None,
                    }
                };
                Ok((round.aside, made, captures))
            }
            Source::Raw { .. } | Source::Over => Err(Broken::Defect("reading went on behind its end".into())),
        }
    }

    /// A thread broke off: what it said last.
    fn defect(&mut self) -> Broken {
        let Source::Threads { routed, made, threads } = std::mem::replace(&mut self.source, Source::Over) else {
            return Broken::Defect("a thread ended".into());
        };
        // Those that wait end as well.
        drop((routed, made));
        let cause = threads.into_iter().find_map(|thread| thread.join().err());
        Broken::Defect(cause.map_or_else(|| "a thread ended".into(), |cause| said(&*cause)))
    }

    fn end<'a>(&mut self, files: impl Iterator<Item = &'a CaptureFile>) {
        for (index, file) in (0..).zip(files) {
            let account = file.account();
            for lost in &account.losses {
                self.assembler.lose(index, lost, None);
            }
            self.assembler.dropped(index, account.dropped);
        }
        self.assembler.finish(&mut self.rows);
    }
}

/// What a panic said.
pub fn said(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
    format!("the engine broke off: {}", text.unwrap_or("no words"))
}

fn threads(
    captures: Captures,
    router: Router,
    options: &Options,
    workers: usize,
    progress: &Arc<Progress>,
) -> Result<Source, Broken> {
    let (routed_sender, routed) = sync_channel(AHEAD);
    let (mut tasks, mut made, mut threads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..workers {
        let (task_sender, task) = sync_channel::<Task>(AHEAD);
        let (made_sender, made_receiver) = sync_channel(AHEAD);
        let mut worker = Worker::new(options, workers);
        let work = move || {
            for (chunk, works) in task {
                let bytes = chunk.as_ref().map_or(&[][..], Chunk::bytes);
                if made_sender.send(worker.work(works, bytes)).is_err() {
                    return;
                }
            }
        };
        threads.push(Builder::new().name("messages".into()).spawn(work)?);
        tasks.push(task_sender);
        made.push(made_receiver);
    }
    let ahead = Ahead::start(captures, AHEAD)?;
    let progress = Arc::clone(progress);
    let route = move || route(ahead, router, &progress, &tasks, &routed_sender);
    threads.push(Builder::new().name("packets".into()).spawn(route)?);
    Ok(Source::Threads { routed, made, threads })
}

/// Hands out rounds until there are no more packets, or nobody wants them.
fn route(
    mut ahead: Ahead,
    mut router: Router,
    progress: &Progress,
    tasks: &[SyncSender<Task>],
    routed: &SyncSender<Routed>,
) {
    let hand_out = |chunk: Option<Chunk>, works: Vec<Vec<Work>>| {
        let mut tasks = tasks.iter().zip(works);
        tasks.all(|(task, works)| task.send((chunk.clone(), works)).is_ok())
    };
    loop {
        match ahead.next_chunk() {
            Ok(Some(chunk)) => {
                progress.add(&chunk);
                let round = router.route(&chunk);
                if !hand_out(Some(chunk), round.works) || routed.send(Routed::Round(round.aside)).is_err() {
                    return;
                }
            }
            Ok(None) => loop {
                let (round, is_more) = router.finish();
                if !hand_out(None, round.works) {
                    return;
                }
                // Whoever is gone need not know.
                if !is_more {
                    let _ = routed.send(Routed::End(round.aside, Box::new(ahead.finish())));
                    return;
                }
                if routed.send(Routed::Round(round.aside)).is_err() {
                    return;
                }
            },
            Err(refused) => {
                let _ = routed.send(Routed::Failed(refused.into()));
                return;
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Source::Threads { routed, made, threads } = std::mem::replace(&mut self.source, Source::Over) {
            drop((routed, made));
            for thread in threads {
                // What a thread had to say was said, or nobody asks any more.
                let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| thread.join()));
            }
        }
    }
}
