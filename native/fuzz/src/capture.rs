//! Capture files: the same packets however the bytes come, and every byte is accounted for.

use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netdiag_wire::capture::{
    Account, CaptureReader, Captures, Chunk, Compression, LARGEST_PACKET, Open, Opened, Shared, Window,
};
use netdiag_wire::decode::{self, Decoded, names::Names};
use netdiag_wire::packet::Packet;

use crate::Script;

/// What one look at a file gave: packets with their bytes, what became of the rest, and why it was refused.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    packets: Vec<(Packet, Vec<u8>)>,
    account: Account,
    refusal: Option<String>,
}

impl Seen {
    fn add(&mut self, chunk: &Chunk) {
        assert!(!chunk.packets().is_empty(), "a chunk without packets");
        for packet in chunk.packets() {
            let data = chunk.data(packet);
            assert_eq!(packet.captured as usize, data.len());
            assert!(packet.captured <= LARGEST_PACKET);
            // Where it lay depends on the pieces.
            self.packets.push((Packet { offset: 0, ..*packet }, data.to_vec()));
        }
    }
}

/// An input: how the file comes, then the file.
pub fn check(input: &[u8]) {
    let mut script = Script::new(input);
    let step = script.pick(&[1_usize << 20, 1, 7, 100, 1500, 65_536]);
    let form = script.pick(&[
        Compression::Gzip,
        Compression::Zstd,
        Compression::Lz4,
        Compression::Snappy,
    ]);
    let file = script.rest();
    let whole = read(file, 1 << 20, true);
    let piped = read(file, step, false);
    assert_eq!(whole.packets, piped.packets, "a pipe gives other packets");
    assert_eq!(whole.refusal, piped.refusal);
    let numbers = whole.packets.windows(2);
    assert!(numbers.clone().all(|two| two[0].0.number < two[1].0.number));
    if Compression::of(file).is_none() {
        assert_eq!(whole.account, piped.account);
        let fed = fed(file, step);
        assert_eq!(whole.refusal, fed.refusal);
        if whole.refusal.is_none() {
            account_for(&whole.account, file.len());
            assert_eq!(whole, fed, "pieces change what is read");
            let packed = read(&compressed(form, file), step, step.is_multiple_of(2));
            assert_eq!(whole, packed, "{form:?} changes what is read");
        }
    }
    decode_all(&whole.packets);
}

/// Headers and names of what was found.
fn decode_all(packets: &[(Packet, Vec<u8>)]) {
    let mut names = Names::default();
    for (packet, data) in packets {
        decode::own_interface(packet, data);
        match decode::decode(packet, data) {
            Decoded::Segment { segment, .. } => {
                assert!(segment.payload.len() <= data.len());
                assert!(segment.payload.len() <= segment.length as usize);
            }
            Decoded::Datagram(datagram) => {
                names.push(&datagram);
            }
            Decoded::Unreachable(_) => {}
            Decoded::Undecoded { bytes, .. } => assert!(bytes <= data.len() as u64),
        }
    }
    names.finish();
    names.drain();
}

fn account_for(account: &Account, size: usize) {
    let lost = account.losses.iter().map(|loss| loss.bytes).sum::<u64>();
    assert_eq!(lost, account.lost_bytes);
    let bytes = account.packet_bytes + account.header_bytes + account.filtered_bytes + lost;
    assert_eq!(bytes, size as u64, "bytes without an explanation: {account:?}");
}

/// As files and pipes are read.
fn read(file: &[u8], step: usize, is_file: bool) -> Seen {
    let memory = Memory {
        file: file.to_vec(),
        step,
        is_file,
    };
    let mut seen = Seen::default();
    let opened = Captures::open(
        &[PathBuf::from("file")],
        Arc::new(memory),
        Window::default(),
        &Shared::default(),
    );
    let mut captures = match opened {
        Ok(captures) => captures,
        Err(refused) => {
            seen.refusal = Some(refused.to_string());
            return seen;
        }
    };
    loop {
        match captures.next_chunk() {
            Ok(Some(chunk)) => seen.add(&chunk),
            Ok(None) => break,
            Err(refused) => {
                seen.refusal = Some(refused.to_string());
                break;
            }
        }
    }
    seen.account
        .clone_from(captures.files().next().expect("there is one").account());
    seen
}

/// As whoever has the bytes in hand reads them.
fn fed(file: &[u8], step: usize) -> Seen {
    let mut seen = Seen::default();
    let mut reader = CaptureReader::new(0, Window::default(), Shared::default());
    for piece in file.chunks(step).map(Some).chain([None]) {
        let found = match piece {
            Some(piece) => reader.feed(piece),
            None => reader.finish(),
        };
        match found {
            Ok(Some(chunk)) => seen.add(&chunk),
            Ok(None) => {}
            Err(refusal) => {
                seen.refusal = Some(format!("file: {refusal}"));
                break;
            }
        }
    }
    seen.account.clone_from(reader.account());
    seen
}

/// A file that comes in steps.
struct Memory {
    file: Vec<u8>,
    step: usize,
    is_file: bool,
}

impl Open for Memory {
    fn open(&self, _: &Path) -> io::Result<Opened> {
        Ok(Opened {
            stream: Box::new(Steps(Cursor::new(self.file.clone()), self.step)),
            size: self.is_file.then_some(self.file.len() as u64),
            is_lasting: self.is_file,
        })
    }
}

struct Steps(Cursor<Vec<u8>>, usize);

impl Read for Steps {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = room.len().min(self.1);
        self.0.read(&mut room[..count])
    }
}

/// The same bytes as a compressed file.
pub fn compressed(form: Compression, data: &[u8]) -> Vec<u8> {
    let made = match form {
        Compression::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(data).and_then(|()| writer.finish())
        }
        Compression::Zstd => zstd::encode_all(data, 1),
        Compression::Lz4 => {
            let mut writer = lz4_flex::frame::FrameEncoder::new(Vec::new());
            writer.write_all(data).and_then(|()| Ok(writer.finish()?))
        }
        Compression::Snappy => {
            let mut writer = snap::write::FrameEncoder::new(Vec::new());
            writer
                .write_all(data)
                .and_then(|()| writer.into_inner().map_err(|error| io::Error::other(error.to_string())))
        }
    };
    made.expect("a vector takes all")
}
