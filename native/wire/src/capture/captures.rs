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
use super::decompression::{Compression, Content, Trouble};
use super::merge::{Merge, Source};
use super::piece::{Chunk, PIECE};
use super::reader::{CaptureReader, Shared, is_begin};
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

/// Whether a file begins as a capture does; what cannot be opened is taken for one, so that reading says why.
pub fn is_capture(name: &Path, open: &dyn Open) -> bool {
    let Ok(mut content) = open.open(name).and_then(|opened| Content::new(opened.stream)) else {
        return true;
    };
    let (mut begin, mut count) = ([0; 4], 0);
    while count < begin.len() {
        match content.read(&mut begin[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(Trouble::Broken(_)) => return false,
            Err(Trouble::Refused(_)) => return true,
        }
    }
    count == begin.len() && is_begin(begin)
}

/// Whether captures begin with these bytes, compressed or not.
pub fn begins_as_capture(bytes: [u8; 4]) -> bool {
    is_begin(bytes) || Compression::of(&bytes).is_some()
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fs;
    use std::io::{Cursor, Write};
    use std::sync::Mutex;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::mpsc;

    use proptest::prelude::*;

    use super::super::ahead::Ahead;
    use super::super::testing::{BIG, LITTLE, SECOND, START, enhanced, interface, pcap, section};
    use super::*;

    /// Files that are nowhere; how many are open, and how many were at most.
    #[derive(Default)]
    struct Memory {
        files: HashMap<PathBuf, (Vec<u8>, bool)>,
        open: Arc<AtomicUsize>,
        most: Arc<AtomicUsize>,
    }

    struct Watched(Cursor<Vec<u8>>, Arc<AtomicUsize>);

    impl Read for Watched {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.0.read(room)
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            self.1.fetch_sub(1, SeqCst);
        }
    }

    impl Open for Memory {
        fn open(&self, name: &Path) -> io::Result<Opened> {
            let (data, is_lasting) = self.files.get(name).ok_or(io::Error::from_raw_os_error(2))?.clone();
            let now = self.open.fetch_add(1, SeqCst) + 1;
            self.most.fetch_max(now, SeqCst);
            let size = is_lasting.then_some(data.len() as u64);
            let stream = Box::new(Watched(Cursor::new(data), Arc::clone(&self.open)));
            Ok(Opened {
                stream,
                size,
                is_lasting,
            })
        }
    }

    fn captures(files: &[Vec<u8>], window: Window) -> Result<Captures, Refused> {
        let names: Vec<PathBuf> = (0..files.len()).map(|index| format!("{index}.pcap").into()).collect();
        let files = names
            .iter()
            .cloned()
            .zip(files.iter().map(|data| (data.clone(), true)))
            .collect();
        Captures::open(
            &names,
            Arc::new(Memory {
                files,
                ..Memory::default()
            }),
            window,
            &Shared::default(),
        )
    }

    fn file(seconds: &[i64]) -> Vec<u8> {
        let packets: Vec<(i64, Vec<u8>)> = seconds
            .iter()
            .map(|second| (START + second * SECOND, second.to_string().into_bytes()))
            .collect();
        pcap(LITTLE, &packets)
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(data: &[u8]) -> Vec<u8> {
        zstd::encode_all(data, 1).unwrap()
    }

    /// Second and file of every packet.
    fn order(captures: &mut Captures) -> Vec<(i64, u32)> {
        let mut found = Vec::new();
        while let Some(chunk) = captures.next_chunk().unwrap() {
            assert!(!chunk.packets().is_empty());
            found.extend(
                chunk
                    .packets()
                    .iter()
                    .map(|packet| ((packet.time - START) / SECOND, packet.file)),
            );
        }
        found
    }

    #[test]
    fn files_that_follow_one_another_are_open_one_after_the_other() {
        let seconds = |index: i64| [index * 10, index * 10 + 9];
        let names: Vec<PathBuf> = (0..50).rev().map(|index| format!("{index}").into()).collect();
        let files = (0..50)
            .map(|index| (format!("{index}").into(), (file(&seconds(index)), true)))
            .collect();
        let memory = Arc::new(Memory {
            files,
            ..Memory::default()
        });
        let most = Arc::clone(&memory.most);
        let mut captures = Captures::open(&names, memory, Window::default(), &Shared::default()).unwrap();
        let found = order(&mut captures);
        let expected = (0..50).flat_map(|index| seconds(index).map(|second| (second, 49 - index as u32)));
        assert!(found.into_iter().eq(expected));
        assert!(most.load(SeqCst) <= 2);
    }

    #[test]
    fn files_that_overlap_are_interleaved() {
        let files = [
            file(&[0, 4, 5, 9, 30]),
            gzip(&file(&[1, 2, 6, 40])),
            zstd(&file(&[3, 7, 8, 35, 36])),
            file(&[]),
        ];
        let found = order(&mut captures(&files, Window::default()).unwrap());
        let seconds: Vec<i64> = found.iter().map(|(second, _)| *second).collect();
        assert_eq!(seconds, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 35, 36, 40]);
        assert_eq!(found[..4], [(0, 0), (1, 1), (2, 1), (3, 2)]);
    }

    #[test]
    fn a_file_keeps_its_own_order_and_the_first_one_goes_first() {
        let files = [file(&[0, 20, 3, 4, 25]), file(&[1, 10, 22])];
        let found = order(&mut captures(&files, Window::default()).unwrap());
        assert_eq!(
            found.iter().map(|(second, _)| *second).collect::<Vec<i64>>(),
            [0, 1, 10, 20, 3, 4, 22, 25]
        );
        let same = [file(&[1, 2, 2, 3]), file(&[1, 2, 2, 3])];
        let found = order(&mut captures(&same, Window::default()).unwrap());
        assert_eq!(found, [(1, 0), (1, 1), (2, 1), (2, 1), (2, 0), (2, 0), (3, 0), (3, 1)]);
    }

    #[test]
    fn a_time_window_reaches_the_reader() {
        let files = [file(&[0, 1, 2, 3, 4]), file(&[5, 6, 7, 8])];
        let window = Window::new(Some(START + 3 * SECOND), Some(START + 6 * SECOND));
        let mut captures = captures(&files, window).unwrap();
        assert_eq!(order(&mut captures), [(3, 0), (4, 0), (5, 1)]);
        let files: Vec<&CaptureFile> = captures.files().collect();
        assert_eq!(
            [files[0], files[1]].map(|file| (file.account().packets, file.account().filtered)),
            [(5, 3), (4, 3)]
        );
        assert!(files.iter().all(|file| Some(file.read_bytes()) == file.size()));
        let sum: u64 = files.iter().map(|file| file.read_bytes()).sum();
        assert_eq!(captures.progress().load(SeqCst), sum);
    }

    #[test]
    fn what_cannot_be_read_is_said_in_one_line() {
        for (data, said) in [
            (b"".to_vec(), "is empty"),
            (
                b"hello world".to_vec(),
                "is not a packet capture: it begins with 68 65 6c 6c",
            ),
            (
                gzip(b"hello world"),
                "is not a packet capture: it begins with 68 65 6c 6c",
            ),
            (gzip(b""), "is empty"),
            (
                [b"\x1f\x8b\x08".to_vec(), vec![0xff; 30]].concat(),
                "the gzip stream is damaged",
            ),
            (b"\x28\xb5\x2f\xfdgarbage".to_vec(), "the zstd stream is damaged"),
        ] {
            let refused = captures(&[file(&[0]), data], Window::default()).unwrap_err();
            assert_eq!((refused.to_string(), refused.file), (format!("1.pcap: {said}"), 1));
        }
        let missing = ["nowhere".into()];
        let refused = Captures::open(&missing, Arc::new(FromDisk), Window::default(), &Shared::default()).unwrap_err();
        assert_eq!(refused.to_string(), "nowhere: no such file or directory");
        assert_eq!(refused.why.hint(), Some("check the path"));
        let folder = [std::env::temp_dir()];
        let refused = Captures::open(&folder, Arc::new(FromDisk), Window::default(), &Shared::default()).unwrap_err();
        assert_eq!(refused.why.to_string(), "is a directory");
    }

    #[test]
    fn a_stream_that_ends_early_gives_all_full_packets() {
        // What does not shrink.
        let mut random = 1_u32;
        let mut noise = |_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        };
        let packets: Vec<(i64, Vec<u8>)> = (0..2000)
            .map(|index| (START + index * 1000, (0..500).map(&mut noise).collect()))
            .collect();
        let data = pcap(LITTLE, &packets);
        for (form, packed) in [("gzip", gzip(&data)), ("zstd", zstd(&data))] {
            let mut captures = captures(&[packed[..packed.len() * 2 / 3].to_vec()], Window::default()).unwrap();
            let mut found = Vec::new();
            while let Some(chunk) = captures.next_chunk().unwrap() {
                found.extend(chunk.packets().iter().map(|packet| chunk.data(packet).to_vec()));
            }
            assert!((1000..2000).contains(&found.len()), "{form} {}", found.len());
            assert!(found.iter().eq(packets.iter().take(found.len()).map(|(_, data)| data)));
            let losses = &captures.files().next().unwrap().account().losses;
            assert_eq!((losses[0].kind.as_str(), losses[0].bytes), ("truncated", 0));
            assert_eq!(losses[0].detail, format!("the {form} stream ends early"));
        }
    }

    #[test]
    fn a_pipe_is_read_while_it_is_written() {
        struct Pipe(Mutex<Option<mpsc::Receiver<Vec<u8>>>>);
        struct End(mpsc::Receiver<Vec<u8>>, Vec<u8>);
        impl Read for End {
            fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                if self.1.is_empty() {
                    self.1 = self.0.recv().unwrap_or_default();
                }
                let count = room.len().min(self.1.len());
                room[..count].copy_from_slice(&self.1[..count]);
                self.1.drain(..count);
                Ok(count)
            }
        }
        impl Open for Pipe {
            fn open(&self, _: &Path) -> io::Result<Opened> {
                // It cannot be opened twice.
                let receiver = self.0.lock().unwrap().take().unwrap();
                Ok(Opened {
                    stream: Box::new(End(receiver, Vec::new())),
                    size: None,
                    is_lasting: false,
                })
            }
        }
        let packets = (0..3).flat_map(|index| enhanced(false, 0, 1_700_000_000_000_000 + index, b"x", 1));
        let data: Vec<u8> = [section(false), interface(false, 1, 0, b"")]
            .concat()
            .into_iter()
            .chain(packets)
            .collect();
        for is_ahead in [false, true] {
            let (sender, receiver) = mpsc::channel();
            sender.send(data[..data.len() - 20].to_vec()).unwrap();
            let pipe = Arc::new(Pipe(Mutex::new(Some(receiver))));
            let captures = Captures::open(&["-".into()], pipe, Window::default(), &Shared::default()).unwrap();
            let mut next: Box<dyn FnMut() -> Vec<u64>> = if is_ahead {
                let mut ahead = Ahead::start(captures, 2).unwrap();
                Box::new(move || numbers(ahead.next_chunk()))
            } else {
                let mut captures = captures;
                Box::new(move || numbers(captures.next_chunk()))
            };
            assert_eq!(next(), [1, 2]);
            sender.send(data[data.len() - 20..].to_vec()).unwrap();
            assert_eq!(next(), [3]);
            drop(sender);
            assert_eq!(next(), []);
        }
    }

    fn numbers(chunk: Result<Option<Chunk>, Refused>) -> Vec<u64> {
        chunk
            .unwrap()
            .iter()
            .flat_map(|chunk| chunk.packets().iter().map(|packet| packet.number))
            .collect()
    }

    #[test]
    fn more_files_overlap_than_may_be_open() {
        let folder = std::env::temp_dir().join(format!("netdiag-captures-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let count = MOST_OPEN + 20;
        let names: Vec<PathBuf> = (0..count).map(|index| folder.join(format!("{index}"))).collect();
        // Each is opened again at least to see its end.
        let packets: Vec<(i64, Vec<u8>)> = (0..3).map(|index| (START + index * SECOND, vec![7; 100])).collect();
        for name in &names {
            fs::write(name, pcap(BIG, &packets)).unwrap();
        }
        let mut captures = Captures::open(&names, Arc::new(FromDisk), Window::default(), &Shared::default()).unwrap();
        let found = order(&mut captures);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.len(), 3 * count);
        assert!(found.is_sorted_by_key(|(second, _)| *second));
    }

    /// Times that are nearly in order; the same times come in many files.
    fn times() -> impl Strategy<Value = Vec<Vec<i64>>> {
        prop::collection::vec((0_i64..30, prop::collection::vec(-1_i64..4, 0..30)), 1..6).prop_map(|files| {
            let summed = |(first, steps): (i64, Vec<i64>)| {
                let sums = steps.into_iter().scan(first + 1, |time, step| {
                    *time = (*time + step / 2).max(1);
                    Some(*time)
                });
                sums.collect()
            };
            files.into_iter().map(summed).collect()
        })
    }

    /// The order by definition: whose packet is the earliest goes on until another one's is earlier.
    fn defined(files: &[Vec<i64>]) -> Vec<(i64, u32)> {
        let mut at = vec![0; files.len()];
        let mut found = Vec::new();
        loop {
            let heads = || {
                let all = files.iter().zip(&at).enumerate();
                all.filter_map(|(file, (times, &at))| Some((*times.get(at)?, file)))
            };
            let Some((_, turn)) = heads().min() else {
                return found;
            };
            let others = heads().filter(|(_, file)| *file != turn).map(|(time, _)| time);
            let limit = others.min().unwrap_or(i64::MAX);
            while let Some(&time) = files[turn].get(at[turn]).filter(|&&time| time <= limit) {
                found.push((time, turn as u32));
                at[turn] += 1;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_order_is_as_it_is_defined_also_when_read_ahead(files in times()) {
            let made: Vec<Vec<u8>> = files.iter().map(|times| file(times)).collect();
            let expected = defined(&files);
            prop_assert_eq!(order(&mut captures(&made, Window::default()).unwrap()), expected.clone());
            let mut ahead = Ahead::start(captures(&made, Window::default()).unwrap(), 1).unwrap();
            let mut found = Vec::new();
            while let Some(chunk) = ahead.next_chunk().unwrap() {
                found.extend(chunk.packets().iter().map(|packet| ((packet.time - START) / SECOND, packet.file)));
            }
            prop_assert_eq!(found, expected);
            let counts: u64 = ahead.finish().files().map(|file| file.account().packets).sum();
            prop_assert_eq!(counts as usize, files.iter().map(Vec::len).sum::<usize>());
        }
    }
}
