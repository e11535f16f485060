//! From files to rows, in threads of their own.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvError, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::{io, panic};

use super::assembler::{Assembler, Copies, Told};
use super::ledger::Ledger;
use super::raw::Raw;
use super::router::{Router, Routes};
use super::work::{Aside, Made, Work};
use super::worker::Worker;
use crate::capture::{Ahead, CaptureFile, Captures, Chunk, FromDisk, Refused, Shared, Window};
use crate::exchange::{Known, Learned, Lessons, Topics};
use crate::folds::{Folded, Folds, Through};
use crate::options::{Options, Table};
use crate::rows::{Batch, Packed, Packer, Rows, Shape};

/// So many pieces may wait between two threads.
const AHEAD: usize = 2;
/// A worker is so many rounds ahead of its rows at most. It needs what all workers found in a round to make the rows of it,
/// and some have more to do in a round than others.
const BEHIND: usize = 3;

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

/// A round for a worker: what is to be done for the packets of a piece.
type Task = (Option<Chunk>, Vec<Work>);

/// The rows of a round of a worker.
type Rowed = (Packed, Told);

/// What the router tells of a round.
enum Routed {
    Round(Aside),
    /// The last round, and the files that were read.
    End(Aside, Box<Captures>),
    Failed(Broken),
}

/// The ends of the channels of a worker. In a round it gives lessons, takes what all workers learned, and gives rows; it
/// works at the next round before it makes the rows of one, so that nobody waits.
struct Connected {
    lessons: Receiver<Lessons>,
    known: SyncSender<Known>,
    rowed: Receiver<Rowed>,
    /// Where rows are folded; the last ones come at the end of the thread.
    folded: Receiver<Vec<Folded>>,
    copies: Copies,
}

/// Where rounds come from.
enum Source {
    /// Threads for the router and each worker.
    Threads {
        routed: Receiver<Routed>,
        workers: Vec<Connected>,
        threads: Vec<JoinHandle<()>>,
        /// How many rounds are under way, whose rows are to come.
        under_way: usize,
    },
    /// All in the thread that takes the turns.
    Here {
        captures: Captures,
        router: Box<Router>,
        worker: Box<Worker>,
        assembler: Box<Assembler>,
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
    ledger: Ledger,
    /// The names of files, by the index that packets have.
    files: BTreeMap<u32, String>,
    rows: Rows,
    folded: Vec<Folded>,
    progress: Arc<Progress>,
    copies: Copies,
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
        // Rows are folded where they are made, in a thread of its own.
        let workers = if options.folded.is_some() {
            workers.max(1)
        } else {
            workers
        };
        let router = Router::new(options, interfaces.clone(), Routes::new(options), workers);
        let ledger = Ledger::new(options, Learned::default());
        let assembler = || {
            let known = (Topics::default(), ledger.room.clone());
            Assembler::new(options, interfaces.clone(), names.clone(), known, workers)
        };
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
                assembler: Box::new(assembler()),
            }
        } else {
            let folds = || options.folded.clone().map(Folds::new);
            let workers =
                (0..workers).map(|_| (Worker::new(options, workers), assembler(), Packer::new(shapes), folds()));
            threads(
                captures,
                router,
                workers,
                (&progress, options.tables.has(Table::Records)),
            )?
        };
        Ok(Reading {
            source,
            ledger,
            files: names,
            rows: Rows::new(shapes),
            folded: Vec::new(),
            progress,
            copies: Copies::default(),
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
        let ended = match self.round() {
            Ok(ended) => ended,
            Err(broken) => {
                self.is_over = true;
                self.source = Source::Over;
                return Err(broken);
            }
        };
        if let Some(captures) = ended {
            self.is_over = true;
            self.end(captures.files());
        } else if !self.rows.is_due() && self.folded.is_empty() {
            return Ok(Turn::More);
        }
        self.ledger.drained();
        Ok(Turn::Ready(self.rows.drain(), std::mem::take(&mut self.folded)))
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
        let Source::Raw { captures, raw } = &mut self.source else {
            return Ok(Turn::End);
        };
        match captures.next_chunk() {
            Ok(Some(chunk)) => {
                self.progress.add(&chunk);
                raw.take(&chunk, &self.files, &mut self.rows);
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
        Ok(Turn::Ready(self.rows.drain(), Vec::new()))
    }

    /// Takes the next round; with the last one gives the files that were read.
    fn round(&mut self) -> Result<Option<Captures>, Broken> {
        match &mut self.source {
            Source::Threads { .. } => match self.threaded_round() {
                Ok(Some(Routed::End(_, captures))) => Ok(Some(*captures)),
                Ok(Some(Routed::Failed(broken))) => Err(broken),
                Ok(_) => Ok(None),
                Err(_) => Err(self.defect()),
            },
            Source::Here {
                captures,
                router,
                worker,
                assembler,
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
                let mut made = worker.work(works, bytes);
                let lessons = std::mem::take(&mut made.lessons);
                let known = self.ledger.learn(vec![lessons]).pop().unwrap_or_default();
                let told = assembler.take(&mut made, known, &mut self.rows);
                worker.use_again(made);
                self.copies = told.copies;
                self.ledger.take(round.aside, [told], &mut self.rows);
                if is_more {
                    return Ok(None);
                }
                match std::mem::replace(&mut self.source, Source::Over) {
                    Source::Here { captures, .. } => Ok(Some(captures)),
                    _ => Ok(None),
                }
            }
            Source::Raw { .. } | Source::Over => Err(Broken::Defect("reading went on behind its end".into())),
        }
    }

    /// Tells the workers what all of them found in a round, and takes the rows of an earlier one; behind the last round, of
    /// all that are under way.
    fn threaded_round(&mut self) -> Result<Option<Routed>, RecvError> {
        let Source::Threads {
            routed,
            workers,
            under_way,
            ..
        } = &mut self.source
        else {
            return Ok(None);
        };
        let mut next = routed.recv()?;
        let aside = match &mut next {
            Routed::Round(aside) | Routed::End(aside, _) => std::mem::take(aside),
            Routed::Failed(_) => return Ok(Some(next)),
        };
        let lessons = workers.iter().map(|worker| worker.lessons.recv());
        let known = self.ledger.learn(lessons.collect::<Result<_, _>>()?);
        for (worker, known) in workers.iter().zip(known) {
            worker.known.send(known).map_err(|_| RecvError)?;
        }
        self.ledger.take(aside, [], &mut self.rows);
        *under_way += 1;
        let most = if matches!(next, Routed::End(..)) { 0 } else { BEHIND };
        while *under_way > most {
            *under_way -= 1;
            let rowed = workers.iter().map(|worker| worker.rowed.recv());
            let (packed, told): (Vec<_>, Vec<_>) = rowed.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
            self.rows.merge(&packed);
            for (worker, told) in workers.iter_mut().zip(&told) {
                worker.copies = told.copies;
            }
            self.ledger.take(Aside::default(), told, &mut self.rows);
        }
        self.copies = workers.iter().map(|worker| worker.copies).sum();
        for worker in workers {
            if most == 0 {
                self.folded.extend(worker.folded.iter().flatten());
            } else {
                self.folded.extend(worker.folded.try_iter().flatten());
            }
        }
        Ok(Some(next))
    }

    /// A thread broke off: what it said last.
    fn defect(&mut self) -> Broken {
        let Source::Threads {
            routed,
            workers,
            threads,
            ..
        } = std::mem::replace(&mut self.source, Source::Over)
        else {
            return Broken::Defect("a thread ended".into());
        };
        // Those that wait end as well.
        drop((routed, workers));
        let cause = threads.into_iter().find_map(|thread| thread.join().err());
        Broken::Defect(cause.map_or_else(|| "a thread ended".into(), |cause| said(&*cause)))
    }

    fn end<'a>(&mut self, files: impl Iterator<Item = &'a CaptureFile>) {
        for (index, file) in (0..).zip(files) {
            let account = file.account();
            for lost in &account.losses {
                self.ledger.lose(index, lost, None);
            }
            self.ledger.dropped(index, account.dropped);
        }
        self.ledger.finish(&self.files, &mut self.rows);
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
    workers: impl Iterator<Item = (Worker, Assembler, Packer, Option<Folds>)>,
    (progress, waits): (&Arc<Progress>, bool),
) -> Result<Source, Broken> {
    let rows_ahead = if waits { 0 } else { BEHIND + AHEAD };
    let (routed_sender, routed) = sync_channel(AHEAD);
    let (mut tasks, mut connected, mut threads) = (Vec::new(), Vec::new(), Vec::new());
    for (worker, assembler, packer, folds) in workers {
        let (task_sender, tasks_of_it) = sync_channel(AHEAD);
        let (lessons_sender, lessons) = sync_channel(AHEAD);
        let (known, known_receiver) = sync_channel(BEHIND + AHEAD);
        let (rowed_sender, rowed) = sync_channel(rows_ahead);
        let (folded_sender, folded) = channel();
        let work = move || {
            // Whoever is gone wants nothing more.
            let _ = work(
                (worker, assembler, packer, waits),
                (folds, &folded_sender),
                &tasks_of_it,
                &lessons_sender,
                &known_receiver,
                &rowed_sender,
            );
        };
        threads.push(Builder::new().name("messages".into()).spawn(work)?);
        tasks.push(task_sender);
        connected.push(Connected {
            lessons,
            known,
            rowed,
            folded,
            copies: Copies::default(),
        });
    }
    let ahead = Ahead::start(captures, AHEAD)?;
    let progress = Arc::clone(progress);
    let route = move || route(ahead, router, &progress, &tasks, &routed_sender);
    threads.push(Builder::new().name("packets".into()).spawn(route)?);
    Ok(Source::Threads {
        routed,
        workers: connected,
        threads,
        under_way: 0,
    })
}

/// Works at rounds until there are no more; None when nobody wants them. One that `waits` makes the rows of a round when
/// those of the round before were taken, as rows of records may be large.
fn work(
    (mut worker, mut assembler, mut packer, waits): (Worker, Assembler, Packer, bool),
    (mut folds, folded): (Option<Folds>, &Sender<Vec<Folded>>),
    tasks: &Receiver<Task>,
    lessons: &SyncSender<Lessons>,
    known: &Receiver<Known>,
    rowed: &SyncSender<Rowed>,
) -> Option<()> {
    let mut make_rows = |made: &mut Made, known| {
        let told = match &mut folds {
            Some(folds) => {
                let told = assembler.take(
                    made,
                    known,
                    &mut Through {
                        folds,
                        rows: &mut packer,
                    },
                );
                let full = folds.take();
                if !full.is_empty() {
                    folded.send(full).ok()?;
                }
                told
            }
            None => assembler.take(made, known, &mut packer),
        };
        rowed.send((packer.take(), told)).ok()
    };
    let mut waiting: VecDeque<Made> = VecDeque::new();
    for (chunk, works) in tasks {
        let bytes = chunk.as_ref().map_or(&[][..], Chunk::bytes);
        let mut made = worker.work(works, bytes);
        drop(chunk);
        lessons.send(std::mem::take(&mut made.lessons)).ok()?;
        waiting.push_back(made);
        loop {
            let known = if waiting.len() > BEHIND {
                known.recv().ok()?
            } else if !waits && let Ok(known) = known.try_recv() {
                known
            } else {
                break;
            };
            let mut made = waiting.pop_front()?;
            make_rows(&mut made, known)?;
            worker.use_again(made);
        }
    }
    for mut made in waiting {
        make_rows(&mut made, known.recv().ok()?)?;
    }
    folds.map_or(Some(()), |mut folds| folded.send(folds.finish()).ok())
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
        if let Source::Threads {
            routed,
            workers,
            threads,
            ..
        } = std::mem::replace(&mut self.source, Source::Over)
        {
            drop((routed, workers));
            for thread in threads {
                // What a thread had to say was said, or nobody asks any more.
                let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| thread.join()));
            }
        }
    }
}
