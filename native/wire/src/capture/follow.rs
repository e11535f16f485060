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

    /// Takes away all packets that are there, and lets go of the file; gives the latest time among them and the one
    /// before.
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
        self.close();
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use proptest::prelude::*;

    use super::super::captures::{Captures, FromDisk};
    use super::super::testing::{LITTLE, SECOND, START, pcap};
    use super::*;

    /// A folder that goes away with its files.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Folder {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let name = format!("netdiag-follow-{}-{}", std::process::id(), COUNT.fetch_add(1, SeqCst));
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn write(&self, name: &str, data: &[u8]) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, data).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn identified(path: &Path) -> Identity {
        let mut begin = fs::read(path).unwrap();
        begin.truncate(BEGIN);
        Identity {
            inode: inode(&fs::metadata(path).unwrap()),
            begin,
        }
    }

    fn growing(number: u32, path: &Path, first_time: i64, shared: &Shared) -> GrowingFile {
        let name = path.display().to_string();
        let found = Found {
            number,
            name,
            path: path.to_owned(),
            first_time,
            late: 0,
            identity: identified(path),
        };
        GrowingFile::new(found, Window::default(), shared)
    }

    fn file(seconds: &[i64]) -> Vec<u8> {
        let packets = seconds
            .iter()
            .map(|second| (START + second * SECOND, vec![*second as u8; 700]));
        pcap(LITTLE, &packets.collect::<Vec<_>>())
    }

    fn taken(following: &mut Following, until: Option<i64>) -> Vec<(i64, u32)> {
        let mut found = Vec::new();
        while let Some(chunk) = following.next_chunk(until) {
            for packet in chunk.packets() {
                let second = (packet.time - START) / SECOND;
                assert_eq!(chunk.data(packet), [second as u8; 700]);
                found.push((second, packet.file));
            }
        }
        found
    }

    fn again(following: Following, shared: &Shared) -> Following {
        Following::restored(following.state(), shared).unwrap()
    }

    fn seconds(found: &[(i64, u32)]) -> Vec<i64> {
        found.iter().map(|(second, _)| *second).collect()
    }

    #[test]
    fn nothing_passes_a_file_that_may_have_more() {
        let (folder, shared) = (Folder::new(), Shared::default());
        let mut following = Following::default();
        for (number, times) in [[1, 5], [3, 9]].iter().enumerate() {
            let path = folder.write(&number.to_string(), &file(times));
            let mut file = growing(number as u32, &path, START + times[0] * SECOND, &shared);
            file.allow(fs::metadata(&path).unwrap().len(), false, false);
            following.add(file);
        }
        assert_eq!(seconds(&taken(&mut following, None)), [1, 3, 5]);
        following
            .files_mut()
            .find(|file| file.found().number == 0)
            .unwrap()
            .allow(0, false, true);
        assert_eq!(seconds(&taken(&mut following, None)), [9]);
        assert!(following.ended().is_empty());
        following.files_mut().for_each(GrowingFile::end);
        assert!(taken(&mut following, None).is_empty());
        let mut ended: Vec<u32> = following.ended().iter().map(|file| file.found().number).collect();
        ended.sort_unstable();
        assert_eq!(ended, [0, 1]);
    }

    #[test]
    fn a_file_goes_on_where_it_was_also_under_another_name_and_compressed() {
        let (folder, shared) = (Folder::new(), Shared::default());
        let data = file(&(0..90).collect::<Vec<i64>>());
        let path = folder.write("a.pcap", &data);
        let mut following = Following::default();
        following.add(growing(3, &path, START, &shared));
        following.files_mut().for_each(|file| file.allow(30_000, false, false));
        let mut found = taken(&mut following, Some(START + 20 * SECOND));
        assert_eq!(found.len(), 21);
        let mut following = again(following, &shared);
        found.extend(taken(&mut following, None));
        assert_eq!(found.len(), (30_000 - 24) / 716);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&data).unwrap();
        let packed = folder.write("a.pcap.gz", &encoder.finish().unwrap());
        fs::remove_file(&path).unwrap();
        for file in following.files_mut() {
            file.go_to(packed.clone(), identified(&packed));
            file.allow(1, true, false);
        }
        found.extend(taken(&mut following, None));
        assert_eq!(seconds(&found), (0..90).collect::<Vec<i64>>());
        let ended = following.ended();
        assert_eq!((ended[0].failure(), ended[0].account().packets), (None, 90));
        assert_eq!(ended[0].account().losses, []);
    }

    #[test]
    fn what_goes_away_or_is_replaced_is_told() {
        let (folder, shared) = (Folder::new(), Shared::default());
        let data = file(&[1, 2, 3]);
        let after: [fn(&Path); 3] = [
            |path| fs::remove_file(path).unwrap(),
            |path| {
                // Held under another name, so that its inode is not used again at once.
                fs::rename(path, path.with_extension("old")).unwrap();
                fs::write(path, "another").unwrap();
            },
            |path| {
                fs::OpenOptions::new()
                    .write(true)
                    .open(path)
                    .unwrap()
                    .set_len(1000)
                    .unwrap()
            },
        ];
        for (number, after) in after.into_iter().enumerate() {
            let path = folder.write(&number.to_string(), &data);
            let mut following = Following::default();
            following.add(growing(number as u32, &path, START + SECOND, &shared));
            following.files_mut().for_each(|file| file.allow(800, false, false));
            assert_eq!(seconds(&taken(&mut following, None)), [1]);
            following.close();
            after(&path);
            following
                .files_mut()
                .for_each(|file| file.allow(data.len() as u64, true, false));
            assert!(taken(&mut following, None).is_empty());
            let ended = following.ended();
            let failure = ended[0].failure().unwrap();
            assert_eq!(
                (failure.kind.as_str(), failure.detail.as_str()),
                ("removed", "the file is gone")
            );
            let read = if number == 2 { 1000 } else { 800 };
            assert_eq!(failure.bytes, data.len() as u64 - read);
        }
    }

    #[test]
    fn the_latest_time_is_found_as_a_file_grows() {
        let (folder, shared) = (Folder::new(), Shared::default());
        let path = folder.write("a", &file(&[5, 9, 7, 8, 11]));
        let mut file = growing(0, &path, START, &shared);
        assert_eq!(file.latest(3), 3);
        file.allow(24 + 4 * 716, false, false);
        assert_eq!(file.latest(3), START + 9 * SECOND);
        file.allow(24 + 5 * 716, false, false);
        assert_eq!(file.latest(3), START + 11 * SECOND);
    }

    /// What is done between two looks: bytes of each file that are there by then as a share, a time, and whether the
    /// state is saved.
    type Step = (Vec<f64>, i64, bool);

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn files_read_piece_by_piece_come_in_the_order_in_which_they_come_at_once(
            files in prop::collection::vec((0_i64..30, prop::collection::vec(-2_i64..4, 0..30)), 1..6),
            steps in prop::collection::vec((prop::collection::vec(0.0..1.0, 6), 0_i64..50, any::<bool>()), 0..6),
        ) {
            let (folder, shared) = (Folder::new(), Shared::default());
            let steps: Vec<Step> = steps;
            let mut names = Vec::new();
            for (index, (first, offsets)) in files.iter().enumerate() {
                let mut time = *first + 2;
                let times: Vec<i64> = std::iter::once(time).chain(offsets.iter().map(|step| {
                    time = (time + step / 2).max(1);
                    time
                })).collect();
                names.push(folder.write(&index.to_string(), &file(&times)));
            }
            let mut captures = Captures::open(&names, Arc::new(FromDisk), Window::default(), &Shared::default()).unwrap();
            let mut whole = Vec::new();
            while let Some(chunk) = captures.next_chunk().unwrap() {
                whole.extend(chunk.packets().iter().map(|packet| ((packet.time - START) / SECOND, packet.file)));
            }
            let mut following = Following::default();
            let firsts: Vec<i64> = captures.files().map(|file| file.first_time()).collect();
            for (index, (path, first)) in names.iter().zip(firsts).enumerate() {
                following.add(growing(index as u32, path, first, &shared));
            }
            let mut found = Vec::new();
            let mut ended = 0;
            for (shares, until, is_saved) in steps {
                for (file, share) in following.files_mut().zip(shares) {
                    let size = fs::metadata(&file.found().path).unwrap().len();
                    file.allow((size as f64 * share) as u64, false, false);
                }
                found.extend(taken(&mut following, Some(START + until * SECOND)));
                ended += following.ended().len();
                if is_saved {
                    following = again(following, &shared);
                }
            }
            for file in following.files_mut() {
                let size = fs::metadata(&file.found().path).unwrap().len();
                file.allow(size, true, false);
            }
            found.extend(taken(&mut following, None));
            ended += following.ended().len();
            prop_assert_eq!(found, whole);
            prop_assert_eq!(ended, names.len());
        }
    }
}
