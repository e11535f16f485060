//! Captures that are read together, in the order of their packets.
//!
//! Files that follow one another (rotated ones) are open one after the other, files that overlap at the same time.

use std::cmp::Ordering;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64, AtomicUsize};

use super::account::{Account, Window};
use super::decompression::{Content, Trouble};
use super::merge::{Merge, Source};
use super::piece::{Chunk, PIECE};
use super::reader::{CaptureReader, Shared};
use super::refusal::{Refusal, Refused};
use crate::packet::Undecoded;

/// The name of standard input.
pub const STDIN: &str = "-";
const LEAST_PIECE: usize = 64 * 1024;
/// What the pieces of all files may take together.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// So far a file is looked into for its first packet, in steps.
const GLANCE: u64 = 4 * 1024 * 1024;
const GLANCE_STEP: usize = 64 * 1024;

/// A file that was opened.
pub struct Opened {
    pub stream: Box<dyn Read + Send>,
    /// Bytes, None where nobody knows, as of a pipe: such a stream is given on as it comes.
    pub size: Option<u64>,
    /// Whether it can be opened once more.
    pub is_lasting: bool,
}

/// How files are opened.
pub trait Open: Send + Sync {
    /// Opens the file of that name at its beginning.
    fn open(&self, name: &Path) -> io::Result<Opened>;
}

/// So many files are held open; of others that overlap with them each piece is read by opening them once more, as
/// systems allow a process no more than a thousand or so.
const MOST_OPEN: usize = 256;
/// How many are.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The files of this machine, and standard input.
#[derive(Clone, Copy, Debug, Default)]
pub struct FromDisk;

impl Open for FromDisk {
    fn open(&self, name: &Path) -> io::Result<Opened> {
        let is_stdin = name == Path::new(STDIN);
        let file = if is_stdin { standard_input()? } else { File::open(name)? };
        let status = file.metadata()?;
        if status.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
        }
        let size = status.is_file().then_some(status.len());
        let is_lasting = size.is_some() && !is_stdin;
        let stream: Box<dyn Read + Send> = if is_lasting {
            OPEN.fetch_add(1, atomic::Ordering::Relaxed);
            Box::new(Lasting {
                name: name.to_owned(),
                identity: identity(&status),
                at: 0,
                file: Some(file),
            })
        } else {
            Box::new(file)
        };
        Ok(Opened {
            stream,
            size,
            is_lasting,
        })
    }
}

/// A regular file, which is held open as long as not too many others are.
struct Lasting {
    name: PathBuf,
    identity: (u64, u64),
    at: u64,
    file: Option<File>,
}

impl Read for Lasting {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut file = File::open(&self.name)?;
                if identity(&file.metadata()?) != self.identity {
                    return Err(io::Error::other("was replaced by another file while it was read"));
                }
                file.seek(SeekFrom::Start(self.at))?;
                OPEN.fetch_add(1, atomic::Ordering::Relaxed);
                none.insert(file)
            }
        };
        let count = file.read(room)?;
        self.at += count as u64;
        if OPEN.load(atomic::Ordering::Relaxed) > MOST_OPEN {
            self.let_go();
        }
        Ok(count)
    }
}

impl Lasting {
    fn let_go(&mut self) {
        if self.file.take().is_some() {
            OPEN.fetch_sub(1, atomic::Ordering::Relaxed);
        }
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// What tells files apart that have the same name at different times: device and inode.
#[cfg(unix)]
fn identity(status: &Metadata) -> (u64, u64) {
    (status.dev(), status.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Without a buffer between, so that a pipe gives what is there.
fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    use std::os::fd::AsFd as Handle;
    #[cfg(windows)]
    use std::os::windows::io::AsHandle as Handle;
    #[cfg(unix)]
    let own = io::stdin().as_fd().try_clone_to_owned()?;
    #[cfg(windows)]
    let own = io::stdin().as_handle().try_clone_to_owned()?;
    Ok(own.into())
}

/// Captures that are read together.
///
/// A regular file is read in whole pieces; what comes through a pipe is given on as it comes, so that a capture can be
/// read while it is made.
#[derive(Debug)]
pub struct Captures {
    merge: Merge<CaptureFile>,
    progress: Arc<AtomicU64>,
    has_failed: bool,
}

impl Captures {
    /// Looks into all files for their first packets; what packets name as their file is the index of its name here.
    ///
    /// The names are those of files, or `-`; folders and patterns were led to their files before.
    pub fn open(names: &[PathBuf], open: Arc<dyn Open>, window: Window, shared: &Shared) -> Result<Captures, Refused> {
        let piece = (MOST_BYTES / names.len().max(1)).clamp(LEAST_PIECE, PIECE);
        let (mut merge, progress, glance) = (Merge::new(), Arc::new(AtomicU64::new(0)), Shared::default());
        for (index, name) in names.iter().enumerate() {
            let mut file = CaptureFile {
                name: name.clone(),
                index: index as u32,
                size: None,
                first_time: 0,
                reader: CaptureReader::new(index as u32, window, shared.clone()),
                piece,
                open: Arc::clone(&open),
                progress: Arc::clone(&progress),
                content: None,
                kept: Vec::new(),
                trouble: None,
                read_bytes: 0,
                ready: None,
                is_over: false,
            };
            file.look_into(&glance)?;
            merge.add(file);
        }
        Ok(Captures {
            merge,
            progress,
            has_failed: false,
        })
    }

    /// The next packets, all of one piece; None behind the last one.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Refused> {
        if self.has_failed {
            return Ok(None);
        }
        let chunk = self.merge.next(i64::MAX);
        self.has_failed = chunk.is_err();
        chunk
    }

    /// Whether the next packets are there, so that nothing must be read for them.
    pub fn is_ready(&self) -> bool {
        self.merge.is_ready()
    }

    /// In the order of their names, with what became of each so far.
    pub fn files(&self) -> impl Iterator<Item = &CaptureFile> {
        self.merge.sources()
    }

    /// How many bytes of all files were read, as they lie there: shared, so that it can be looked at meanwhile.
    pub fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }
}

/// One file: how far it was read, and what its bytes were.
pub struct CaptureFile {
    name: PathBuf,
    index: u32,
    size: Option<u64>,
    first_time: i64,
    reader: CaptureReader,
    piece: usize,
    open: Arc<dyn Open>,
    progress: Arc<AtomicU64>,
    /// Open while it is read; that of a pipe from the first look on, with what was read then.
    content: Option<Content>,
    kept: Vec<u8>,
    /// What ended reading; what was read before is to be worked off first.
    trouble: Option<Trouble>,
    read_bytes: u64,
    ready: Option<Chunk>,
    is_over: bool,
}

impl CaptureFile {
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// As it lies there, None where nobody knows.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// How much of that was read.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// Nanoseconds since 1970; 0 where it has no packet, or none near its beginning.
    pub fn first_time(&self) -> i64 {
        self.first_time
    }

    /// Of the capture in it, decompressed.
    pub fn account(&self) -> &Account {
        self.reader.account()
    }

    /// Finds the time of the first packet.
    fn look_into(&mut self, shared: &Shared) -> Result<(), Refused> {
        let mut reader = CaptureReader::new(0, Window::default(), shared.clone());
        let opened = self.open.open(&self.name).map_err(|error| self.refused(error.into()))?;
        self.size = opened.size;
        let mut content = Content::new(opened.stream).map_err(|error| self.refused(error.into()))?;
        let mut total = 0;
        loop {
            let room = reader.room(GLANCE_STEP);
            let (count, found) = match content.read(room) {
                Ok(0) => (0, reader.finish()),
                Ok(count) => {
                    if !opened.is_lasting {
                        self.kept.extend_from_slice(&room[..count]);
                    }
                    (count, reader.filled(count))
                }
                Err(Trouble::Broken(broken)) if reader.account().header_bytes > 0 => {
                    self.trouble = Some(Trouble::Broken(broken));
                    break;
                }
                Err(Trouble::Broken(broken)) => return Err(self.refused(Refusal::Broken(broken))),
                Err(Trouble::Refused(why)) => return Err(self.refused(why)),
            };
            let found = found.map_err(|why| self.refused(why))?;
            total += count as u64;
            if let Some(packet) = found.as_ref().and_then(|chunk| chunk.packets().first()) {
                self.first_time = packet.time;
                break;
            }
            if count == 0 || total > GLANCE {
                break;
            }
        }
        if opened.is_lasting {
            // Read again when its turn comes: not all files can be open at the same time.
            self.trouble = None;
        } else {
            self.count(content.read_bytes());
            self.content = Some(content);
        }
        Ok(())
    }

    /// Reads on until there is a packet, or the end.
    fn fill(&mut self) -> Result<(), Refused> {
        while self.ready.is_none() && !self.is_over {
            let found = if !self.kept.is_empty() {
                self.reader.feed(&std::mem::take(&mut self.kept))
            } else if let Some(trouble) = self.trouble.take() {
                self.end_with(trouble)?;
                self.reader.finish()
            } else {
                match self.put() {
                    Ok(0) if self.trouble.is_some() => continue,
                    Ok(0) => {
                        self.is_over = true;
                        self.reader.finish()
                    }
                    Ok(count) => self.reader.filled(count),
                    Err(error) => Err(error.into()),
                }
            };
            self.ready = found.map_err(|why| self.refused(why))?;
        }
        Ok(())
    }

    /// Puts the next piece into the reader's room; 0 at the end, and where there is trouble.
    fn put(&mut self) -> io::Result<usize> {
        let content = match &mut self.content {
            Some(content) => content,
            none => {
                let opened = self.open.open(&self.name)?;
                self.size = opened.size;
                self.read_bytes = 0;
                none.insert(Content::new(opened.stream)?)
            }
        };
        let room = self.reader.room(self.piece);
        let mut count = 0;
        while count < room.len() {
            match content.read(&mut room[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(trouble) => {
                    self.trouble = Some(trouble);
                    break;
                }
            }
            // What comes through a pipe is not held back.
            if self.size.is_none() {
                break;
            }
        }
        let read = content.read_bytes();
        self.count(read);
        Ok(count)
    }

    /// So many bytes were read.
    fn count(&mut self, read: u64) {
        self.progress
            .fetch_add(read.saturating_sub(self.read_bytes), atomic::Ordering::Relaxed);
        self.read_bytes = read;
    }

    /// A damaged stream keeps what is left for itself; else it is refused.
    fn end_with(&mut self, trouble: Trouble) -> Result<(), Refused> {
        self.is_over = true;
        let broken = match trouble {
            Trouble::Broken(broken) => broken,
            Trouble::Refused(why) => return Err(self.refused(why)),
        };
        let left = self.size.unwrap_or(0).saturating_sub(self.read_bytes);
        let account = self.reader.account_mut();
        account.losses.push(Undecoded {
            kind: if broken.ends { "truncated" } else { "damage" }.into(),
            detail: compact_str::format_compact!("{broken}"),
            bytes: left,
        });
        account.lost_bytes = account.lost_bytes.saturating_add(left);
        Ok(())
    }

    fn refused(&self, why: Refusal) -> Refused {
        Refused {
            file: self.index,
            name: self.name.to_string_lossy().into_owned(),
            why,
        }
    }
}

impl fmt::Debug for CaptureFile {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("CaptureFile")
            .field("name", &self.name)
            .field("account", self.account())
            .finish()
    }
}

impl Source for CaptureFile {
    fn first_time(&self) -> i64 {
        self.first_time
    }

    fn compare(&self, other: &CaptureFile) -> Ordering {
        self.index.cmp(&other.index)
    }

    fn head(&mut self) -> Result<Option<i64>, Refused> {
        self.fill()?;
        Ok(self
            .ready
            .as_ref()
            .and_then(|chunk| chunk.packets().first())
            .map(|packet| packet.time))
    }

    fn take(&mut self, limit: i64) -> Option<Chunk> {
        let taken = self.ready.as_mut()?.take_until(limit);
        self.ready = self.ready.take().filter(|chunk| !chunk.packets().is_empty());
        taken
    }

    fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    fn is_over(&self) -> bool {
        self.is_over && self.ready.is_none()
    }

    fn is_quiet(&self) -> bool {
        false
    }

    fn close(&mut self) {
        self.content = None;
        self.kept = Vec::new();
    }
}
