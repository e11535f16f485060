//! Reading captures, in a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use netdiag_wire::capture::{self, Captures, Compression, FromDisk, Shared, Window};
use netdiag_wire::engine::reading::said;
use netdiag_wire::engine::{Broken, Progress, Reading as Engine, Turn};
use netdiag_wire::folds::Folded as FoldedRows;
use netdiag_wire::rows::Batch as RowBatch;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyListMethods;
use pyo3::types::{PyDict, PyList};

use crate::asked::Asked;
use crate::batch::{Batch, Folded};
use crate::failure::raised;

/// So long Python waits for rows before it looks whether it was interrupted.
const PATIENCE: Duration = Duration::from_millis(50);
/// So often it is told how far reading is.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// What is ready and not taken yet: while one is written, the next ones are made.
const AHEAD: usize = 2;
/// More threads than this wait for the one that tells connections apart.
const MOST_WORKERS: usize = 4;

/// Connections and requests that were taken as ones seen elsewhere, and how many of the connections look like copies.
type Copies = [AtomicU64; 3];

type Ready = Result<(Vec<RowBatch>, Vec<FoldedRows>), Broken>;

/// Captures that are being read: an iterator of dicts, of each table a list of batches.
///
/// The rows of one exchange come in the same dict. Iterating raises what reading fails with, and KeyboardInterrupt in the
/// middle of a file.
#[pyclass(frozen, module = "netdiag_native")]
pub struct Reading {
    ready: Mutex<Option<Receiver<Ready>>>,
    progress: Arc<Progress>,
    copies: Arc<Copies>,
    is_given_up: Arc<AtomicBool>,
    tell: Option<Py<PyAny>>,
    told: Mutex<Option<Instant>>,
}

/// Begin to read captures.
///
/// `files`: paths, or "-" for standard input; CaptureError where one is no capture. `asked`: see `Asked`. `names`: what
/// they are called in rows. `workers`: threads that read messages, besides three others; 0 does everything in one.
/// `tell` is called with (bytes read, packets, time of the first one, of the last one) from time to time, and once at the
/// end.
#[pyfunction]
#[pyo3(signature = (files, asked, *, names = None, workers = None, tell = None))]
pub fn read(
    py: Python<'_>,
    files: Vec<PathBuf>,
    asked: Asked,
    names: Option<Vec<String>>,
    workers: Option<usize>,
    tell: Option<Py<PyAny>>,
) -> PyResult<Reading> {
    let (options, shapes) = asked.options()?;
    let names = names.unwrap_or_else(|| files.iter().map(|file| file.to_string_lossy().into_owned()).collect());
    if files.is_empty() || names.len() != files.len() {
        return Err(PyValueError::new_err("one name for each of at least one file"));
    }
    let workers =
        workers.unwrap_or_else(|| thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_WORKERS)));
    let engine = py
        .detach(|| Engine::start(&files, &names, &options, &shapes, workers))
        .map_err(|broken| raised(py, broken))?;
    let (sender, receiver) = sync_channel(AHEAD);
    let is_given_up = Arc::new(AtomicBool::new(false));
    let (progress, copies) = (Arc::clone(engine.progress()), Arc::new(Copies::default()));
    let working = {
        let (is_given_up, copies) = (Arc::clone(&is_given_up), Arc::clone(&copies));
        move || work(engine, &sender, &is_given_up, &copies)
    };
    thread::Builder::new().name("netdiag-reading".into()).spawn(working)?;
    Ok(Reading {
        ready: Mutex::new(Some(receiver)),
        progress,
        copies,
        is_given_up,
        tell,
        told: Mutex::new(None),
    })
}

/// Whether a file begins as a capture does, compressed or not; what cannot be opened is taken for one.
#[pyfunction]
pub fn is_capture(py: Python<'_>, file: PathBuf) -> bool {
    py.detach(|| capture::is_capture(&file, &FromDisk))
}

/// Whether captures begin with these bytes, of which four are looked at, compressed or not.
#[pyfunction]
pub fn begins_as_capture(begin: &[u8]) -> bool {
    begin
        .first_chunk()
        .is_some_and(|begin| capture::begins_as_capture(*begin))
}

/// Whether a compressed stream begins with these bytes, of which four are looked at.
#[pyfunction]
pub fn is_compressed(begin: &[u8]) -> bool {
    Compression::of(begin).is_some()
}

/// Looks into the files as reading does at first: CaptureError where one is no capture.
#[pyfunction]
pub fn check(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<()> {
    let opened = py.detach(|| Captures::open(&files, Arc::new(FromDisk), Window::default(), &Shared::default()));
    opened.map(drop).map_err(|refused| raised(py, refused.into()))
}

/// Takes turn after turn until there is no more, or nobody wants it.
fn work(mut engine: Engine, sender: &SyncSender<Ready>, is_given_up: &AtomicBool, copies: &Copies) {
    while !is_given_up.load(Ordering::Relaxed) {
        let turn = catch_unwind(AssertUnwindSafe(|| engine.turn()));
        let turn = turn.unwrap_or_else(|cause| Err(Broken::Defect(said(&*cause))));
        let (is_last, ready) = match turn {
            Ok(Turn::More) => continue,
            Ok(Turn::End) => return,
            Ok(Turn::Ready(batches, folded)) => (false, Ok((batches, folded))),
            Err(broken) => (true, Err(broken)),
        };
        let found = engine.copies();
        let found = [found.connections, found.requests, found.like_copies];
        for (to, count) in copies.iter().zip(found) {
            to.store(count, Ordering::Relaxed);
        }
        if sender.send(ready).is_err() || is_last {
            return;
        }
    }
}

#[pymethods]
impl Reading {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        loop {
            match py.detach(|| self.wait()) {
                Ok(Ok((batches, folded))) if batches.is_empty() && folded.is_empty() => {}
                Ok(Ok((batches, folded))) => {
                    self.tell(py, false)?;
                    let ready = by_table(py, batches)?;
                    for FoldedRows { name, rows } in folded {
                        append(py, &ready, name, Bound::new(py, Folded { rows })?.into_any())?;
                    }
                    return Ok(Some(ready));
                }
                Ok(Err(broken)) => {
                    self.close();
                    return Err(raised(py, broken));
                }
                Err(RecvTimeoutError::Timeout) => self.tell(py, false)?,
                Err(RecvTimeoutError::Disconnected) => {
                    if !self.is_given_up.load(Ordering::Relaxed) {
                        self.tell(py, true)?;
                    }
                    self.close();
                    return Ok(None);
                }
            }
            if let Err(interrupt) = py.check_signals() {
                self.close();
                return Err(interrupt);
            }
        }
    }

    /// How far it is: bytes read, packets, time of the first one and of the last one.
    #[getter]
    fn progress(&self) -> (u64, u64, Option<i64>, Option<i64>) {
        let times = self.progress.times();
        (
            self.progress.bytes.load(Ordering::Relaxed),
            self.progress.packets.load(Ordering::Relaxed),
            times.map(|times| times.0),
            times.map(|times| times.1),
        )
    }

    /// Connections, and requests in them, that were taken as ones seen elsewhere, and how many of the connections look
    /// like a file that was copied or replayed. All of them at the end only.
    #[getter]
    fn copies(&self) -> (u64, u64, u64) {
        let [connections, requests, like_copies] = &*self.copies;
        (
            connections.load(Ordering::Relaxed),
            requests.load(Ordering::Relaxed),
            like_copies.load(Ordering::Relaxed),
        )
    }

    /// Read no more.
    fn close(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Reading {
    fn wait(&self) -> Result<Ready, RecvTimeoutError> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        ready
            .as_ref()
            .ok_or(RecvTimeoutError::Disconnected)?
            .recv_timeout(PATIENCE)
    }

    fn tell(&self, py: Python<'_>, is_last: bool) -> PyResult<()> {
        let Some(tell) = &self.tell else { return Ok(()) };
        let is_due = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = is_last || told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
            if is_due {
                *told = Some(Instant::now());
            }
            is_due
        };
        if is_due {
            tell.call1(py, self.progress())?;
        }
        Ok(())
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }
}

pub fn by_table<'py>(py: Python<'py>, batches: Vec<RowBatch>) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    for batch in batches {
        let name = batch.shape().table.as_str();
        append(py, &tables, name, Bound::new(py, Batch { batch })?.into_any())?;
    }
    Ok(tables)
}

fn append<'py>(py: Python<'py>, tables: &Bound<'py, PyDict>, name: &str, batch: Bound<'py, PyAny>) -> PyResult<()> {
    match tables.get_item(name)? {
        Some(list) => list
            .cast::<PyList>()
            .map_err(|_| PyRuntimeError::new_err("not a list"))?
            .append(batch),
        None => tables.set_item(name, PyList::new(py, [batch])?),
    }
}
