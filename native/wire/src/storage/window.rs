//! A file that is read from its beginning to its end, a piece at a time.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// So much is read at a time: small enough to stay in a processor's cache until it is looked at.
const CHUNK: usize = 256 << 10;

/// What of a file was read, and not looked at yet.
pub(super) struct Window {
    file: File,
    /// Of the file when it was opened: what a broker adds while it is read is left for the next time.
    size: u64,
    /// Where in the file the first byte is that was not passed.
    position: u64,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Window {
    /// Opens a regular file; `buffer` is used again, whatever is in it.
    pub fn open(path: &Path, buffer: Vec<u8>) -> io::Result<Window> {
        let is_file = |status: &fs::Metadata| status.file_type().is_file();
        // A link or a pipe is nothing that a broker made, and opening a pipe would wait for somebody who writes.
        if !is_file(&fs::symlink_metadata(path)?) {
            return Err(io::Error::other("is not a regular file"));
        }
        let file = File::open(path)?;
        let status = file.metadata()?;
        if !is_file(&status) {
            return Err(io::Error::other("is not a regular file"));
        }
        Ok(Window {
            file,
            size: status.len(),
            position: 0,
            buffer,
            start: 0,
            end: 0,
        })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    /// So many bytes of the file were not passed yet.
    pub fn left(&self) -> u64 {
        self.size.saturating_sub(self.position)
    }

    /// The next bytes: at least so many, unless the file ends before.
    pub fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        if self.end - self.start < wanted {
            self.fill(wanted)?;
        }
        let left = usize::try_from(self.left()).unwrap_or(usize::MAX);
        Ok(&self.buffer[self.start..self.end.min(self.start.saturating_add(left))])
    }

    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let room = wanted.max(CHUNK);
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        while self.end < wanted {
            match self.file.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    // Somebody made it shorter.
                    self.size = self.size.min(self.position + self.end as u64);
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Goes on behind so many bytes, which were peeked at.
    pub fn pass(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.position += count as u64;
    }

    /// The buffer, for the next file.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}
