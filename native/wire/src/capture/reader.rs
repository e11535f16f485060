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

/// Whether captures begin with these bytes.
pub fn is_begin(bytes: [u8; 4]) -> bool {
    Format::of(bytes).is_ok()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{
        BIG, Kind, LITTLE, START, block, enhanced, interface, option, pcap, read, read_in, section,
    };
    use super::*;

    /// Files of every format, small enough to be damaged often.
    fn files() -> Vec<Vec<u8>> {
        let packets: Vec<(i64, Vec<u8>)> = (0..40)
            .map(|index| {
                (
                    START + index * 1_000_000,
                    vec![index as u8; (index * 29 % 400) as usize],
                )
            })
            .collect();
        let kinds = [
            LITTLE,
            Kind {
                is_nanoseconds: true,
                ..BIG
            },
            Kind {
                is_modified: true,
                ..LITTLE
            },
            Kind { snaplen: 96, ..BIG },
        ];
        let mut files: Vec<Vec<u8>> = kinds.into_iter().map(|kind| pcap(kind, &packets)).collect();
        for big in [false, true] {
            let mut made = Vec::new();
            for (index, (time, data)) in packets.iter().enumerate() {
                if index % 10 == 0 {
                    made.extend(
                        [
                            section(big),
                            interface(big, 1, 0, &option(big, 9, &[9])),
                            interface(big, 1, 0, b""),
                        ]
                        .concat(),
                    );
                }
                made.extend(enhanced(big, index as u32 % 2, *time as u64 / 1000, data, data.len()));
            }
            made.extend(block(big, 5, &[0; 12]));
            files.push(made);
        }
        files
    }

    /// What happens to a file: a place in it, as a share of its length, and what is done there.
    #[derive(Clone, Debug)]
    enum Wound {
        Flip(u8),
        Write([u8; 4]),
        Cut(usize),
        Insert(Vec<u8>),
        Repeat(usize),
        End,
    }

    fn wounds() -> impl Strategy<Value = Vec<(f64, Wound)>> {
        let wound = prop_oneof![
            (0_u8..8).prop_map(|bit| Wound::Flip(1 << bit)),
            prop_oneof![any::<u32>(), Just(0), Just(1), Just(0xffff), Just(u32::MAX)]
                .prop_flat_map(|value| prop_oneof![Just(value.to_le_bytes()), Just(value.to_be_bytes())])
                .prop_map(Wound::Write),
            (1_usize..1000).prop_map(Wound::Cut),
            prop::collection::vec(any::<u8>(), 1..1000).prop_map(Wound::Insert),
            (1_usize..1000).prop_map(Wound::Repeat),
            Just(Wound::End),
        ];
        prop::collection::vec((0.0..1.0, wound), 0..4)
    }

    fn damaged(mut data: Vec<u8>, wounds: Vec<(f64, Wound)>) -> Vec<u8> {
        for (share, wound) in wounds {
            let at = (share * data.len() as f64) as usize;
            let end = |length: usize| (at + length).min(data.len());
            match wound {
                Wound::Flip(bit) => data.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit),
                Wound::Write(value) => data
                    .iter_mut()
                    .skip(at)
                    .zip(value)
                    .for_each(|(byte, value)| *byte = value),
                Wound::Cut(length) => {
                    let end = end(length);
                    data.drain(at..end);
                }
                Wound::Insert(bytes) => {
                    data.splice(at..at, bytes);
                }
                Wound::Repeat(length) => {
                    let again = data[at..end(length)].to_vec();
                    data.splice(at..at, again);
                }
                Wound::End => data.truncate(at),
            }
        }
        data
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn damage_in_pieces_of_any_size_is_the_same_and_every_byte_is_accounted_for(
            which in 0_usize..6,
            wounds in wounds(),
            pieces in prop::collection::vec(1_usize..3000, 1..5),
        ) {
            let data = damaged(files().swap_remove(which), wounds);
            let whole = read_in(&data, &[data.len().max(1)], Window::default());
            if let Ok(whole) = &whole {
                prop_assert_eq!(whole.accounted(), data.len() as u64);
            }
            prop_assert_eq!(read_in(&data, &pieces, Window::default()), whole);
        }

        #[test]
        fn what_is_no_capture_is_refused_or_lost(
            which in 0_usize..6,
            noise in prop::collection::vec(any::<u8>(), 0..3000),
        ) {
            prop_assert!(noise.first_chunk().is_none_or(|&magic| Format::of(magic).is_err()) == read_in(&noise, &[700], Window::default()).is_err());
            let begun = [&files()[which][..24], &noise].concat();
            let read = read(&begun);
            prop_assert_eq!(read.accounted(), begun.len() as u64);
        }

        #[test]
        fn a_reader_goes_on_where_another_one_was(which in 0_usize..6, wounds in wounds(), share in 0.0..1.0) {
            let data = damaged(files().swap_remove(which), wounds);
            let Ok(whole) = read_in(&data, &[data.len().max(1)], Window::default()) else {
                return Ok(());
            };
            let (first, second) = data.split_at((share * data.len() as f64) as usize);
            let shared = Shared::default();
            let mut reader = CaptureReader::new(4, Window::default(), shared.clone());
            let mut count = 0;
            let mut counted = |chunk: Option<Chunk>| count += chunk.map_or(0, |chunk| chunk.packets().len());
            counted(reader.feed(first).unwrap());
            let mut other = CaptureReader::restored(reader.state(), shared).unwrap();
            prop_assert_eq!(other.state(), reader.state());
            counted(other.feed(second).unwrap());
            counted(other.finish().unwrap());
            prop_assert_eq!(count, whole.packets.len());
            prop_assert_eq!(other.account(), &whole.account);
        }
    }

    #[test]
    fn what_is_no_capture_is_said() {
        for (data, said) in [
            (
                &b"GET / HTTP/1.1"[..],
                "is not a packet capture: it begins with 47 45 54 20",
            ),
            (&[0; 100], "is not a packet capture: it begins with 00 00 00 00"),
            (b"ab", "is not a packet capture"),
            (b"", "is empty"),
        ] {
            for piece in [1, 100] {
                assert_eq!(
                    read_in(data, &[piece], Window::default()).unwrap_err().to_string(),
                    said
                );
            }
        }
    }

    #[test]
    fn chunks_stay_as_they_are_while_others_are_read() {
        let shared = Shared::default();
        let mut reader = CaptureReader::new(0, Window::default(), shared.clone());
        let packets: Vec<(i64, Vec<u8>)> = (0..200).map(|index| (START, vec![index as u8; 100])).collect();
        let data = pcap(LITTLE, &packets);
        let chunks: Vec<Chunk> = data
            .chunks(999)
            .filter_map(|piece| reader.feed(piece).unwrap())
            .collect();
        assert!(chunks.len() > 10);
        let found = chunks
            .iter()
            .flat_map(|chunk| chunk.packets().iter().map(|packet| chunk.data(packet)));
        assert!(found.eq(packets.iter().map(|(_, data)| &data[..])));
    }

    #[test]
    fn endless_garbage_takes_no_memory() {
        let noise: Vec<u8> = (0..65_536_u32)
            .map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        let headers = [&[1, 0, 0, 0][..], &[0, 1, 0, 0].repeat(3)].concat().repeat(4096);
        let fillers = [
            noise,
            vec![0; 65_536],
            vec![255; 65_536],
            headers,
            [6, 0, 0, 0, 0, 4, 5, 0].repeat(8192),
        ];
        for file in files() {
            for filler in &fillers {
                let mut reader = CaptureReader::new(0, Window::default(), Shared::default());
                reader.feed(&file[..2000]).unwrap();
                for _ in 0..12 {
                    reader.feed(filler).unwrap();
                    assert!(reader.state().rest.len() < 1 << 20);
                }
                reader.finish().unwrap();
                let account = reader.account();
                let sum = account.packet_bytes + account.header_bytes + account.lost_bytes;
                assert_eq!(sum, 2000 + 12 * 65_536);
            }
        }
    }

    #[test]
    fn a_state_that_nobody_saved_is_refused_or_harmless() {
        let mut reader = CaptureReader::new(0, Window::default(), Shared::default());
        reader.feed(&files()[0][..500]).unwrap();
        let mut state = reader.state();
        state.rest.clear();
        let mut other = CaptureReader::restored(state.clone(), Shared::default()).unwrap();
        other.feed(&files()[0][500..]).unwrap();
        other.finish().unwrap();
        state.account.packets = u64::MAX;
        assert!(CaptureReader::restored(state, Shared::default()).is_none());
    }
}
