//! One capture, whatever its format: bytes in pieces of any size in, packets out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::account::{Account, Window};
use super::interfaces::Interfaces;
use super::pcap::{self, Pcap};
use super::pcapng::{self, Pcapng};
use super::piece::{Chunk, Piece, Pool};
use super::records::Sink;
use super::refusal::Refusal;

/// Sizes of buffers are multiples of this, so that what is carried over seldom makes one grow.
const GRAIN: usize = 64 * 1024;
/// Nobody fed more than this, so sums stay within 64 bits.
const MOST_BYTES: u64 = 1 << 62;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl Format {
    fn of(magic: [u8; 4]) -> Result<Format, Refusal> {
        if pcap::is_pcap(magic) {
            Ok(Format::Pcap(Pcap::new()))
        } else if magic == pcapng::MAGIC {
            Ok(Format::Pcapng(Pcapng::new()))
        } else {
            Err(Refusal::Other(magic))
        }
    }

    fn read(&mut self, data: &[u8], is_last: bool, to: &mut Sink<'_>) -> Result<usize, Refusal> {
        match self {
            Format::Pcap(format) => format.read(data, is_last, to),
            Format::Pcapng(format) => Ok(format.read(data, is_last, to)),
        }
    }
}

/// What readers have in common.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub interfaces: Interfaces,
    pub pool: Pool,
}

/// Eats one capture and tells its format from its first bytes.
///
/// Bytes are put where [`CaptureReader::room`] says, or lie elsewhere and are copied by [`CaptureReader::feed`]. A
/// packet lies whole in one piece: what is unfinished is carried to the front of the next one.
#[derive(Debug)]
pub struct CaptureReader {
    account: Account,
    format: Option<Format>,
    file: u32,
    window: Window,
    shared: Shared,
    /// What is filled, or was given away and ends with what must be carried over.
    filling: Option<Piece>,
    given: Option<Arc<Piece>>,
    /// Where in it the bytes are that were not read yet, or must be looked at again.
    begin: usize,
    end: usize,
}

impl CaptureReader {
    /// `file` is what packets name as their file.
    pub fn new(file: u32, window: Window, shared: Shared) -> CaptureReader {
        CaptureReader {
            account: Account::default(),
            format: None,
            file,
            window,
            shared,
            filling: None,
            given: None,
            begin: 0,
            end: 0,
        }
    }

    /// What became of the bytes so far.
    pub fn account(&self) -> &Account {
        &self.account
    }

    pub(super) fn account_mut(&mut self) -> &mut Account {
        &mut self.account
    }

    /// Where the next so many bytes are to be put.
    pub fn room(&mut self, size: usize) -> &mut [u8] {
        let mut piece = self.own_piece(size);
        if piece.bytes.len() - self.end < size {
            piece.bytes.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
            let needed = (self.end + size).next_multiple_of(GRAIN);
            if piece.bytes.len() < needed {
                piece.bytes.reserve_exact(needed - piece.bytes.len());
                piece.bytes.resize(needed, 0);
            }
        }
        &mut self.filling.insert(piece).bytes[self.end..self.end + size]
    }

    /// Reads on behind so many bytes that were put into the room; the packets that are complete with them.
    pub fn filled(&mut self, count: usize) -> Result<Option<Chunk>, Refusal> {
        let room = self.filling.as_ref().map_or(0, |piece| piece.bytes.len() - self.end);
        self.end += count.min(room);
        self.read(false)
    }

    /// The packets that are complete with these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<Chunk>, Refusal> {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.filled(bytes.len())
    }

    /// The packets that only the end of the file makes sure of; what is left is lost.
    pub fn finish(&mut self) -> Result<Option<Chunk>, Refusal> {
        self.room(0);
        let found = self.read(true);
        self.filling = None;
        self.given = None;
        (self.begin, self.end) = (0, 0);
        found
    }

    /// All that reading on depends on, but for the table of interfaces.
    pub fn state(&self) -> ReaderState {
        let bytes = match (&self.filling, &self.given) {
            (Some(piece), _) => piece.bytes.get(self.begin..self.end),
            (None, Some(piece)) => piece.bytes.get(self.begin..self.end),
            (None, None) => None,
        };
        ReaderState {
            account: self.account.clone(),
            format: self.format.clone(),
            file: self.file,
            window: self.window,
            rest: bytes.unwrap_or_default().to_vec(),
        }
    }

    /// A reader that goes on where another one was; None where that cannot be.
    pub fn restored(state: ReaderState, shared: Shared) -> Option<CaptureReader> {
        if !state.account.is_within(MOST_BYTES) {
            return None;
        }
        let mut reader = CaptureReader::new(state.file, state.window, shared);
        reader.room(state.rest.len()).copy_from_slice(&state.rest);
        reader.end = state.rest.len();
        reader.account = state.account;
        reader.format = state.format;
        Some(reader)
    }

    /// A piece that nobody else reads, with what was carried over.
    fn own_piece(&mut self, size: usize) -> Piece {
        if let Some(piece) = self.filling.take() {
            return piece;
        }
        match self.given.take().map(Arc::try_unwrap) {
            // All chunks are gone: the same piece once more.
            Some(Ok(mut piece)) => {
                piece.packets.clear();
                piece
            }
            Some(Err(given)) => {
                let carried = &given.bytes[self.begin..self.end];
                let mut piece = self.shared.pool.take((carried.len() + size).next_multiple_of(GRAIN));
                piece.bytes[..carried.len()].copy_from_slice(carried);
                (self.begin, self.end) = (0, carried.len());
                piece
            }
            None => {
                (self.begin, self.end) = (0, 0);
                self.shared.pool.take(size.next_multiple_of(GRAIN))
            }
        }
    }

    fn read(&mut self, is_last: bool) -> Result<Option<Chunk>, Refusal> {
        let Some(mut piece) = self.filling.take() else {
            return Ok(None);
        };
        let data = &piece.bytes[self.begin..self.end];
        let format = match (&mut self.format, data.first_chunk()) {
            (Some(format), _) => format,
            (none, Some(&magic)) => none.insert(Format::of(magic)?),
            (None, None) if is_last => {
                return Err(if data.is_empty() {
                    Refusal::Empty
                } else {
                    Refusal::Short
                });
            }
            (None, None) => {
                self.filling = Some(piece);
                return Ok(None);
            }
        };
        let mut to = Sink {
            account: &mut self.account,
            packets: &mut piece.packets,
            interfaces: &self.shared.interfaces,
            window: self.window,
            file: self.file,
            base: self.begin,
        };
        self.begin += format.read(data, is_last, &mut to)?;
        if piece.packets.is_empty() {
            self.filling = Some(piece);
            return Ok(None);
        }
        let count = piece.packets.len();
        let piece = Arc::new(piece);
        self.given = Some(Arc::clone(&piece));
        Ok(Some(Chunk::new(piece, 0, count)))
    }
}

/// What [`CaptureReader::restored`] goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderState {
    account: Account,
    format: Option<Format>,
    file: u32,
    window: Window,
    rest: Vec<u8>,
}
