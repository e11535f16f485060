//! Where batches come from: what reading in Python asks of the engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use netdiag_wire::capture::{Captures, FromDisk, Shared, Window};
use netdiag_wire::exchange::row::{LossRow, RowSink};
use netdiag_wire::options::Options;
use netdiag_wire::rows::{Batch, Rows, Shape};

use crate::failure::Failure;

/// What is to be read.
pub struct Asked {
    /// Files, or `-` for standard input; folders and patterns were led to their files before.
    pub files: Vec<PathBuf>,
    /// What the files are called in rows, one for each.
    pub names: Vec<String>,
    pub options: Options,
    /// The columns of each table that is wanted.
    pub shapes: Vec<Shape>,
}

/// How far reading is; looked at from another thread.
#[derive(Debug)]
pub struct Progress {
    /// Packets read so far.
    pub packets: AtomicU64,
    /// The times of the earliest and the latest packet; `i64::MAX` and `i64::MIN` while there is none.
    pub first: AtomicI64,
    pub last: AtomicI64,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            packets: 0.into(),
            first: i64::MAX.into(),
            last: i64::MIN.into(),
        }
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

/// Reads captures, a piece at a time.
pub trait Source: Send {
    /// Works for about as long as reading a piece takes, or until rows are ready.
    fn turn(&mut self) -> Result<Turn, Failure>;

    /// Bytes of all files that were read, as they lie there.
    fn read_bytes(&self) -> Arc<AtomicU64>;
}

/// Opens the files; fails where one is no capture.
pub fn open(asked: Asked, progress: Arc<Progress>) -> Result<Box<dyn Source>, Failure> {
    let window = Window::new(asked.options.since, asked.options.until);
    let captures = Captures::open(&asked.files, Arc::new(FromDisk), window, &Shared::default())?;
    let rows = Rows::new(&asked.shapes);
    Ok(Box::new(Files {
        captures,
        rows,
        names: asked.names,
        progress,
        is_over: false,
    }))
}

/// Packets that are counted, and what of the files could not be read.
struct Files {
    captures: Captures,
    rows: Rows,
    names: Vec<String>,
    progress: Arc<Progress>,
    is_over: bool,
}

impl Source for Files {
    fn turn(&mut self) -> Result<Turn, Failure> {
        if let Some(chunk) = self.captures.next_chunk()? {
            let packets = chunk.packets();
            self.progress.packets.fetch_add(packets.len() as u64, Ordering::Relaxed);
            for packet in packets {
                self.progress.first.fetch_min(packet.time, Ordering::Relaxed);
                self.progress.last.fetch_max(packet.time, Ordering::Relaxed);
            }
            return Ok(Turn::More);
        }
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(Turn::End);
        }
        for (file, name) in self.captures.files().zip(&self.names) {
            for lost in &file.account().losses {
                self.rows.loss(&LossRow {
                    file: name,
                    time: None,
                    connection: None,
                    direction: None,
                    kind: &lost.kind,
                    bytes: i64::try_from(lost.bytes).unwrap_or(i64::MAX),
                    times: 1,
                    detail: Some(&lost.detail),
                });
            }
        }
        Ok(Turn::Ready(self.rows.drain()))
    }

    fn read_bytes(&self) -> Arc<AtomicU64> {
        self.captures.progress()
    }
}
