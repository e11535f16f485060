//! Captures that are not all there yet: read as far as they go, and on from there later.
//!
//! A file is the same as long as its inode and its first bytes are; else it was removed or written anew. What was read
//! but not given yet is part of the state, so nothing is read twice.

use std::cmp::Ordering;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use compact_str::{CompactString, format_compact};
use serde::{Deserialize, Serialize};

use super::account::{Account, Window};
use super::decompression::{Compression, Content, Trouble};
use super::merge::{Merge, Source};
use super::piece::Chunk;
use super::reader::{CaptureReader, ReaderState, Shared};
use super::refusal::{Refusal, Refused};
use crate::packet::{Packet, Undecoded};

/// So much is read at a time.
const PIECE: usize = 256 * 1024;
/// So many first bytes tell a file from others.
pub const BEGIN: usize = 64;

/// What a file is known again by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub inode: u64,
    /// The first bytes, at most [`BEGIN`].
    pub begin: Vec<u8>,
}

impl Identity {
    /// Whether a file with these is it; it may have grown since.
    pub fn holds(&self, inode: u64, begin: &[u8]) -> bool {
        inode == self.inode && begin.starts_with(&self.begin)
    }
}

/// What is known of a file before it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// What packets name as their file.
    pub number: u32,
    /// As rows call it.
    pub name: String,
    #[serde(with = "path")]
    pub path: PathBuf,
    /// Nanoseconds since 1970.
    pub first_time: i64,
    /// It begins so many nanoseconds before what was taken.
    pub late: i64,
    pub identity: Identity,
}

/// One file that grows.
pub struct GrowingFile {
    found: Found,
    /// Others need not wait for more.
    is_quiet: bool,
    /// It went away before a later one had come; reading takes no notice.
    pub is_gone: bool,
    failure: Option<Undecoded>,
    reader: CaptureReader,
    /// How far it was read, decompressed, and may be read.
    read: u64,
    limit: u64,
    /// No more comes than `limit`.
    is_ended: bool,
    /// All was read.
    is_finished: bool,
    ready: Option<Chunk>,
    stream: Option<Stream>,
    trouble: Option<Trouble>,
}

enum Stream {
    Plain(File),
    Packed(Content),
}

impl GrowingFile {
    /// A file of which nothing may be read yet.
    pub fn new(found: Found, window: Window, shared: &Shared) -> GrowingFile {
        GrowingFile {
            is_quiet: false,
            is_gone: false,
            failure: None,
            reader: CaptureReader::new(found.number, window, shared.clone()),
            read: 0,
            limit: 0,
            is_ended: false,
            is_finished: false,
            ready: None,
            stream: None,
            trouble: None,
            found,
        }
    }

    pub fn found(&self) -> &Found {
        &self.found
    }

    pub fn account(&self) -> &Account {
        self.reader.account()
    }

    /// Why the rest could not be read.
    pub fn failure(&self) -> Option<&Undecoded> {
        self.failure.as_ref()
    }

    /// Lets the file be read up to so many bytes. `is_ended`: no more come. `is_quiet`: others need not wait for more.
    pub fn allow(&mut self, size: u64, is_ended: bool, is_quiet: bool) {
        self.limit = self.limit.max(size);
        self.is_ended = is_ended;
        self.is_quiet = is_quiet;
    }

    /// The same capture lies elsewhere, or is compressed by now.
    pub fn go_to(&mut self, path: PathBuf, identity: Identity) {
        if self.found.path != path || self.found.identity != identity {
            self.close();
            self.found.path = path;
            self.found.identity = identity;
        }
    }

    /// Takes what is there for all of it.
    pub fn end(&mut self) {
        self.is_ended = true;
    }

    /// Takes away all packets that are there; gives the latest time among them and the one before.
    pub fn latest(&mut self, before: i64) -> i64 {
        let mut latest = before;
        while let Ok(Some(_)) = self.head() {
            let times = self
                .ready
                .iter()
                .flat_map(|chunk| chunk.packets().iter().map(|packet| packet.time));
            latest = times.fold(latest, i64::max);
            self.ready = None;
        }
        latest
    }

    /// Reads on until there is a packet, or nothing more to read.
    fn fill(&mut self) {
        while self.ready.is_none() && !self.is_finished {
            let count = match self.trouble.take() {
                Some(trouble) => Err(trouble),
                None => self.put(),
            };
            match count {
                Ok(0) if self.trouble.is_some() => {}
                Ok(0) if self.is_ended => self.finish(),
                Ok(0) => return,
                Ok(count) => match self.reader.filled(count) {
                    Ok(chunk) => self.ready = chunk,
                    Err(why) => self.fail("damage", format_compact!("{why}"), 0),
                },
                Err(Trouble::Broken(broken)) => {
                    let kind = if broken.ends { "truncated" } else { "damage" };
                    self.fail(kind, format_compact!("{broken}"), 0);
                }
                Err(Trouble::Refused(Refusal::Unreadable { .. })) => {
                    self.fail(
                        "removed",
                        "the file is gone".into(),
                        self.limit.saturating_sub(self.read),
                    );
                }
                Err(Trouble::Refused(why)) => self.fail("damage", format_compact!("{why}"), 0),
            }
        }
    }

    fn fail(&mut self, kind: &str, detail: CompactString, bytes: u64) {
        self.failure = Some(Undecoded {
            kind: kind.into(),
            detail,
            bytes,
        });
        self.finish();
    }

    fn finish(&mut self) {
        self.is_finished = true;
        match self.reader.finish() {
            Ok(chunk) => self.ready = chunk,
            Err(why) => {
                let detail = format_compact!("{why}");
                self.failure.get_or_insert(Undecoded {
                    kind: "damage".into(),
                    detail,
                    bytes: 0,
                });
            }
        }
    }

    /// Puts the next piece into the reader's room; 0 where there is no more, and where there is trouble.
    fn put(&mut self) -> Result<usize, Trouble> {
        let is_packed = Compression::of(&self.found.identity.begin).is_some();
        if self.read >= self.limit && self.stream.is_none() && !is_packed {
            return Ok(0);
        }
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(open(&self.found, is_packed, self.read)?),
        };
        let count = match stream {
            Stream::Plain(file) => {
                let size = self.limit.saturating_sub(self.read).min(PIECE as u64) as usize;
                let room = self.reader.room(size);
                let count = read_whole(file, room)?;
                if count < size {
                    self.trouble = Some(io::Error::other("shorter than it was").into());
                }
                count
            }
            Stream::Packed(content) => {
                let room = self.reader.room(PIECE);
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
                }
                count
            }
        };
        self.read += count as u64;
        Ok(count)
    }

    fn state(&self) -> FileState {
        let mut content = Vec::new();
        let mut packets = Vec::new();
        if let Some(chunk) = &self.ready {
            for packet in chunk.packets() {
                let data = chunk.data(packet);
                packets.push(PacketState {
                    time: packet.time,
                    number: packet.number,
                    captured: data.len() as u32,
                    length: packet.length,
                    interface: packet.interface,
                    link_type: packet.link_type,
                });
                content.extend_from_slice(data);
            }
        }
        FileState {
            found: self.found.clone(),
            is_quiet: self.is_quiet,
            is_gone: self.is_gone,
            failure: self.failure.clone(),
            reader: self.reader.state(),
            read: self.read,
            limit: self.limit,
            is_ended: self.is_ended,
            is_finished: self.is_finished,
            content,
            packets,
        }
    }

    fn restored(state: FileState, shared: &Shared) -> Option<GrowingFile> {
        let mut packets = Vec::with_capacity(state.packets.len());
        let mut offset = 0_u32;
        for packet in &state.packets {
            packets.push(Packet {
                time: packet.time,
                number: packet.number,
                offset,
                captured: packet.captured,
                length: packet.length,
                interface: packet.interface,
                file: state.found.number,
                link_type: packet.link_type,
            });
            offset = offset.checked_add(packet.captured)?;
        }
        if offset as usize != state.content.len() {
            return None;
        }
        let reader = CaptureReader::restored(state.reader, shared.clone())?;
        let ready = (!packets.is_empty()).then(|| shared.pool.chunk(&state.content, &packets));
        Some(GrowingFile {
            found: state.found,
            is_quiet: state.is_quiet,
            is_gone: state.is_gone,
            failure: state.failure,
            reader,
            read: state.read,
            limit: state.limit,
            is_ended: state.is_ended,
            is_finished: state.is_finished,
            ready,
            stream: None,
            trouble: None,
        })
    }
}

impl fmt::Debug for GrowingFile {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("GrowingFile")
            .field("found", &self.found)
            .field("read", &self.read)
            .finish()
    }
}

impl Source for GrowingFile {
    fn first_time(&self) -> i64 {
        self.found.first_time
    }

    fn compare(&self, other: &GrowingFile) -> Ordering {
        let (one, other) = (&self.found.path, &other.found.path);
        one.as_os_str().cmp(other.as_os_str())
    }

    fn head(&mut self) -> Result<Option<i64>, Refused> {
        self.fill();
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
        self.is_finished && self.ready.is_none()
    }

    fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    fn close(&mut self) {
        self.stream = None;
        // It comes again, if it is still there.
        self.trouble = None;
    }
}

/// At the place up to which it was read.
fn open(found: &Found, is_packed: bool, read: u64) -> Result<Stream, Trouble> {
    let mut file = File::open(&found.path)?;
    let mut begin = [0; BEGIN];
    let count = read_whole(&mut file, &mut begin)?;
    if !found.identity.holds(inode(&file.metadata()?), &begin[..count]) {
        return Err(io::Error::other("another file").into());
    }
    if !is_packed {
        file.seek(SeekFrom::Start(read))?;
        return Ok(Stream::Plain(file));
    }
    file.seek(SeekFrom::Start(0))?;
    // A compressed stream has no other way to a place within.
    let mut content = Content::new(Box::new(file))?;
    let (mut left, mut passed) = (read, vec![0; PIECE]);
    while left > 0 {
        let size = left.min(PIECE as u64) as usize;
        match content.read(&mut passed[..size])? {
            0 => break,
            count => left -= count as u64,
        }
    }
    Ok(Stream::Packed(content))
}

/// As much as there is room for, less at the end of the file only.
fn read_whole(file: &mut File, room: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < room.len() {
        match file.read(&mut room[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

#[cfg(unix)]
fn inode(status: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(status)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// Growing files that are read together, in the order in which [`super::Captures`] reads them when all of them are
/// there.
#[derive(Debug)]
pub struct Following {
    merge: Merge<GrowingFile>,
}

impl Default for Following {
    fn default() -> Following {
        Following { merge: Merge::new() }
    }
}

impl Following {
    /// One more file.
    pub fn add(&mut self, file: GrowingFile) {
        self.merge.add(file);
    }

    /// The files that are not over, to be told what may be read of them.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut GrowingFile> {
        self.merge.sources_mut()
    }

    /// The next packets that are sure to be next, up to a time (nanoseconds, None for all); None where there are none.
    pub fn next_chunk(&mut self, until: Option<i64>) -> Option<Chunk> {
        // What cannot be read is the failure of a file, so there is no error.
        self.merge.next(until.unwrap_or(i64::MAX)).ok().flatten()
    }

    /// Takes away the files that have come to their end since the last time, in that order.
    pub fn ended(&mut self) -> Vec<GrowingFile> {
        self.merge.ended()
    }

    /// Lets go of all files until they are read on.
    pub fn close(&mut self) {
        for file in self.merge.sources_mut() {
            file.close();
        }
    }

    /// All that reading on depends on, but for the table of interfaces and the files that have ended.
    pub fn state(&self) -> FollowingState {
        let standing = self.merge.standing();
        FollowingState {
            files: standing
                .map(|(file, is_open, is_current)| (file.state(), is_open, is_current))
                .collect(),
        }
    }

    /// Goes on where another one was; None where that cannot be.
    pub fn restored(state: FollowingState, shared: &Shared) -> Option<Following> {
        let mut merge = Merge::new();
        for (file, is_open, is_current) in state.files {
            merge.add_standing(GrowingFile::restored(file, shared)?, is_open, is_current);
        }
        Some(Following { merge })
    }
}

/// What [`Following::restored`] goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowingState {
    /// Each with whether it is open, and whether it is its turn.
    files: Vec<(FileState, bool, bool)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileState {
    found: Found,
    is_quiet: bool,
    is_gone: bool,
    failure: Option<Undecoded>,
    reader: ReaderState,
    read: u64,
    limit: u64,
    is_ended: bool,
    is_finished: bool,
    /// The packets that were not given yet: their bytes one after the other, and what else is known of each.
    content: Vec<u8>,
    packets: Vec<PacketState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PacketState {
    time: i64,
    number: u64,
    captured: u32,
    length: u32,
    interface: u32,
    link_type: u16,
}

/// Paths as bytes, whatever they are made of.
mod path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[cfg(unix)]
    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).serialize(to)
    }

    #[cfg(unix)]
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<PathBuf, D::Error> {
        let bytes = Vec::<u8>::deserialize(from)?;
        Ok(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into())
    }

    #[cfg(not(unix))]
    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.serialize(to)
    }

    #[cfg(not(unix))]
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<PathBuf, D::Error> {
        PathBuf::deserialize(from)
    }
}
