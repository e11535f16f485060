//! Compressed streams of any length, told by their first bytes and never by a name: gzip, zstd, lz4 and snappy.
//!
//! What came out before a stream breaks is good. Memory is bounded by the format: 128 MiB for the window of zstd, 4 MiB
//! for a block of lz4, less for the others.

use std::fmt;
use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};
use serde::{Deserialize, Serialize};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::refusal::Refusal;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const LZ4: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
const SNAPPY: [u8; 4] = [0xff, 0x06, 0x00, 0x00];
const SNAPPY_NAME: [u8; 6] = *b"sNaPpY";
/// So much is read of a stream at a time.
const STEP: usize = 1024 * 1024;
/// No capture shrinks like this, a bomb does; the first so many bytes may be anything.
pub(super) const MOST_TIMES: u64 = 2000;
const FREE: u64 = 1024 * 1024 * 1024;
/// Decoders of zstd may have to look back 2^27 bytes; the tool zstd refuses more, too, unless it is told otherwise.
const WINDOW_LOG: u32 = 27;
const LARGEST_ZSTD_BLOCK: usize = 128 * 1024;
/// Blocks of lz4 may refer to so many bytes before them.
const LZ4_WINDOW: usize = 64 * 1024;
const LARGEST_SNAPPY_BLOCK: usize = 64 * 1024;

/// A form of compression, as people call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compression {
    Gzip,
    Zstd,
    Lz4,
    Snappy,
}

impl Compression {
    /// Of a file that begins like this; None where it is not compressed, or not in a way that is known here.
    pub fn of(begun: &[u8]) -> Option<Compression> {
        if begun.starts_with(&GZIP) {
            Some(Compression::Gzip)
        } else if begun.starts_with(&LZ4) {
            Some(Compression::Lz4)
        } else if begun.starts_with(&SNAPPY) {
            Some(Compression::Snappy)
        } else {
            let is_zstd = begun
                .first_chunk()
                .is_some_and(|&magic| magic == ZSTD || is_skippable(magic));
            is_zstd.then_some(Compression::Zstd)
        }
    }

    /// As in "the gzip stream is damaged".
    pub fn as_str(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Snappy => "snappy",
        }
    }
}

/// A compressed stream ends early or contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    pub form: Compression,
    pub ends: bool,
}

impl fmt::Display for Broken {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.ends { "ends early" } else { "is damaged" };
        write!(to, "the {} stream {how}", self.form.as_str())
    }
}

/// Why no more can be read.
#[derive(Debug)]
pub(super) enum Trouble {
    Broken(Broken),
    Refused(Refusal),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Refused(error.into())
    }
}

/// The content of a stream, decompressed where it is compressed.
pub(super) struct Content {
    source: Source,
    form: Form,
    /// What came out of a block and was not given yet.
    block: Vec<u8>,
    given: usize,
    made: u64,
    free: u64,
}

enum Form {
    Plain,
    Gzip(Option<Box<Decompress>>),
    Zstd(Option<Box<ZstdFrame>>),
    Lz4(Option<Box<Lz4Frame>>),
    Snappy(Box<snap::raw::Decoder>),
}

impl Content {
    /// Looks at the first bytes, for which it may wait.
    pub fn new(stream: Box<dyn Read + Send>) -> io::Result<Content> {
        let mut source = Source::new(stream);
        let form = match Compression::of(source.begin()?) {
            None => Form::Plain,
            Some(Compression::Gzip) => Form::Gzip(None),
            Some(Compression::Zstd) => Form::Zstd(None),
            Some(Compression::Lz4) => Form::Lz4(None),
            Some(Compression::Snappy) => Form::Snappy(Box::default()),
        };
        Ok(Content {
            source,
            form,
            block: Vec::new(),
            given: 0,
            made: 0,
            free: FREE,
        })
    }

    /// How many bytes of the stream itself were read.
    pub fn read_bytes(&self) -> u64 {
        self.source.read
    }

    /// As many bytes as there are without waiting for more, at least one; 0 at the end, or without room.
    pub fn read(&mut self, room: &mut [u8]) -> Result<usize, Trouble> {
        if room.is_empty() {
            return Ok(0);
        }
        let count = match &mut self.form {
            Form::Plain => return Ok(self.source.read(room)?),
            Form::Gzip(member) => gzip(&mut self.source, member, room)?,
            _ => {
                while self.given == self.block.len() {
                    self.given = 0;
                    let done = match &mut self.form {
                        Form::Zstd(frame) => zstd(&mut self.source, frame, &mut self.block),
                        Form::Lz4(frame) => lz4(&mut self.source, frame, &mut self.block),
                        Form::Snappy(decoder) => snappy(&mut self.source, decoder, &mut self.block),
                        Form::Plain | Form::Gzip(_) => Ok(false),
                    };
                    if !matches!(done, Ok(true)) {
                        self.block.clear();
                        return done.map(|_| 0);
                    }
                }
                let left = &self.block[self.given..];
                let count = left.len().min(room.len());
                room[..count].copy_from_slice(&left[..count]);
                self.given += count;
                count
            }
        };
        self.made += count as u64;
        if self.made > self.free && self.made / MOST_TIMES > self.source.taken {
            return Err(Trouble::Refused(Refusal::Bomb));
        }
        Ok(count)
    }
}

/// A stream of which some bytes are held.
struct Source {
    stream: Box<dyn Read + Send>,
    held: Vec<u8>,
    begin: usize,
    end: usize,
    /// So many bytes were read, and so many of them taken.
    read: u64,
    taken: u64,
}

impl Source {
    fn new(stream: Box<dyn Read + Send>) -> Source {
        Source {
            stream,
            held: Vec::new(),
            begin: 0,
            end: 0,
            read: 0,
            taken: 0,
        }
    }

    /// The first four bytes, fewer where there are no more.
    fn begin(&mut self) -> io::Result<&[u8]> {
        self.held.resize(4, 0);
        while self.end < 4 {
            let count = read_some(&mut self.stream, &mut self.held[self.end..4])?;
            if count == 0 {
                break;
            }
            self.end += count;
            self.read += count as u64;
        }
        Ok(&self.held[..self.end])
    }

    /// What is held, or else the next bytes of the stream itself.
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = if self.begin < self.end {
            let held = self.held();
            let count = held.len().min(room.len());
            room[..count].copy_from_slice(&held[..count]);
            self.begin += count;
            count
        } else {
            let count = read_some(&mut self.stream, room)?;
            self.read += count as u64;
            count
        };
        self.taken += count as u64;
        Ok(count)
    }

    fn held(&self) -> &[u8] {
        &self.held[self.begin..self.end]
    }

    /// Whatever is there: nothing at the end only.
    fn some(&mut self) -> io::Result<&[u8]> {
        self.at_least(1)
    }

    /// At least so many bytes, fewer at the end only.
    fn at_least(&mut self, size: usize) -> io::Result<&[u8]> {
        while self.end - self.begin < size {
            if self.begin > 0 {
                self.held.copy_within(self.begin..self.end, 0);
                self.end -= self.begin;
                self.begin = 0;
            }
            if self.held.len() < self.end + STEP {
                self.held.resize(self.end + STEP, 0);
            }
            let count = read_some(&mut self.stream, &mut self.held[self.end..self.end + STEP])?;
            if count == 0 {
                break;
            }
            self.end += count;
            self.read += count as u64;
        }
        Ok(self.held())
    }

    fn take(&mut self, count: usize) {
        let count = count.min(self.end - self.begin);
        self.begin += count;
        self.taken += count as u64;
    }

    /// Exactly so many bytes, which are still to be taken.
    fn exactly(&mut self, size: usize, form: Compression) -> Result<&[u8], Trouble> {
        self.at_least(size)?
            .get(..size)
            .ok_or(Trouble::Broken(Broken { form, ends: true }))
    }

    /// The same, taken.
    fn array<const SIZE: usize>(&mut self, form: Compression) -> Result<[u8; SIZE], Trouble> {
        let bytes = *self.exactly(SIZE, form)?.first_chunk().ok_or(damaged(form))?;
        self.take(SIZE);
        Ok(bytes)
    }

    /// Passes over so many bytes, or those that are there.
    fn skip(&mut self, mut count: usize) -> io::Result<()> {
        while count > 0 {
            let there = self.some()?.len().min(count);
            if there == 0 {
                break;
            }
            self.take(there);
            count -= there;
        }
        Ok(())
    }
}

fn read_some(stream: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn damaged(form: Compression) -> Trouble {
    Trouble::Broken(Broken { form, ends: false })
}

/// One member after the other; zeros behind the last one are padding, as on tapes.
fn gzip(source: &mut Source, member: &mut Option<Box<Decompress>>, room: &mut [u8]) -> Result<usize, Trouble> {
    const FORM: Compression = Compression::Gzip;
    loop {
        let decoder = match member {
            Some(decoder) => decoder,
            None => {
                let begun = source.at_least(2)?;
                if begun.is_empty() {
                    return Ok(0);
                }
                if !GZIP.starts_with(&begun[..begun.len().min(2)]) {
                    return padding(source).map(|()| 0);
                }
                // With the largest window.
                member.insert(Box::new(Decompress::new_gzip(15)))
            }
        };
        let held = source.some()?;
        let (is_over, before_in, before_out) = (held.is_empty(), decoder.total_in(), decoder.total_out());
        let status = decoder.decompress(held, room, FlushDecompress::None);
        let taken = decoder.total_in().wrapping_sub(before_in) as usize;
        let made = decoder.total_out().wrapping_sub(before_out) as usize;
        source.take(taken);
        match status {
            Ok(Status::StreamEnd) => *member = None,
            Ok(Status::Ok | Status::BufError) if is_over && made == 0 => {
                return Err(Trouble::Broken(Broken { form: FORM, ends: true }));
            }
            Ok(Status::Ok | Status::BufError) if taken == 0 && made == 0 => return Err(damaged(FORM)),
            Ok(Status::Ok | Status::BufError) => {}
            // What came out before is good; the error comes again.
            Err(_) if made > 0 => {}
            Err(_) => return Err(damaged(FORM)),
        }
        if made > 0 {
            return Ok(made);
        }
    }
}

/// Zeros up to the end.
fn padding(source: &mut Source) -> Result<(), Trouble> {
    loop {
        let held = source.some()?;
        let count = held.len();
        if held.iter().any(|&byte| byte != 0) {
            return Err(damaged(Compression::Gzip));
        }
        if count == 0 {
            return Ok(());
        }
        source.take(count);
    }
}

fn is_skippable(magic: [u8; 4]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

/// Passes over frames that are to be skipped; whether another frame begins behind, whose magic number is taken.
fn next_frame(source: &mut Source, magic: [u8; 4], form: Compression) -> Result<bool, Trouble> {
    loop {
        let held = source.at_least(4)?;
        let Some(&begun) = held.first_chunk() else {
            return if held.is_empty() { Ok(false) } else { Err(damaged(form)) };
        };
        source.take(4);
        if begun == magic {
            return Ok(true);
        }
        if !is_skippable(begun) {
            return Err(damaged(form));
        }
        let mut size = [0; 4];
        let held = source.at_least(4)?;
        let count = held.len().min(4);
        size[..count].copy_from_slice(&held[..count]);
        source.take(count);
        source.skip(u32::from_le_bytes(size) as usize)?;
    }
}

struct ZstdFrame {
    decoder: Decoder<'static>,
    has_checksum: bool,
    is_last: bool,
}

/// Block by block, none of which can hold more than 128 KiB (RFC 8878), so that nothing is lost that came before damage.
fn zstd(source: &mut Source, frame: &mut Option<Box<ZstdFrame>>, block: &mut Vec<u8>) -> Result<bool, Trouble> {
    const FORM: Compression = Compression::Zstd;
    block.clear();
    let Some(current) = frame else {
        if !next_frame(source, ZSTD, FORM)? {
            return Ok(false);
        }
        let mut begun = Box::new(ZstdFrame {
            decoder: new_decoder()?,
            has_checksum: false,
            is_last: false,
        });
        let flags = source.exactly(1, FORM)?[0];
        let is_single = flags & 0x20 != 0;
        let of_content = [usize::from(is_single), 2, 4, 8][usize::from(flags >> 6)];
        let size = 1 + usize::from(!is_single) + [0, 1, 2, 4][usize::from(flags & 3)] + of_content;
        let header = [&ZSTD, source.exactly(size, FORM)?].concat();
        source.take(size);
        run_zstd(&mut begun.decoder, &header, block)?;
        begun.has_checksum = flags & 4 != 0;
        *frame = Some(begun);
        return Ok(true);
    };
    if current.is_last {
        if current.has_checksum {
            run_zstd(&mut current.decoder, source.exactly(4, FORM)?, block)?;
            source.take(4);
        }
        *frame = None;
        return Ok(true);
    }
    let head = source.exactly(3, FORM)?;
    let word = u32::from_le_bytes([head[0], head[1], head[2], 0]);
    let (kind, size) = (word >> 1 & 3, (word >> 3) as usize);
    if size > LARGEST_ZSTD_BLOCK {
        return Err(damaged(FORM));
    }
    current.is_last = word & 1 != 0;
    // A block of kind 1 is one byte, so many times.
    let size = 3 + if kind == 1 { 1 } else { size };
    run_zstd(&mut current.decoder, source.exactly(size, FORM)?, block)?;
    source.take(size);
    Ok(true)
}

fn new_decoder() -> Result<Decoder<'static>, Trouble> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
    Ok(decoder)
}

/// What comes out of a part of a frame that is no longer than a block.
fn run_zstd(decoder: &mut Decoder<'_>, data: &[u8], block: &mut Vec<u8>) -> Result<(), Trouble> {
    block.resize(LARGEST_ZSTD_BLOCK, 0);
    let (mut input, mut output) = (InBuffer::around(data), OutBuffer::around(&mut block[..]));
    while input.pos() < data.len() {
        let before = (input.pos(), output.pos());
        decoder.run(&mut input, &mut output).map_err(|error| {
            if error.to_string().contains("memory") {
                Trouble::Refused(Refusal::Window)
            } else {
                damaged(Compression::Zstd)
            }
        })?;
        if (input.pos(), output.pos()) == before {
            return Err(damaged(Compression::Zstd));
        }
    }
    let made = output.pos();
    block.truncate(made);
    Ok(())
}

struct Lz4Frame {
    largest: usize,
    has_block_checksums: bool,
    /// Over all content, where it has one.
    checksum: Option<Xxh32>,
    /// The last bytes that came out, where blocks refer to them.
    window: Option<Vec<u8>>,
}

/// Block by block; of at most 4 MiB each.
fn lz4(source: &mut Source, frame: &mut Option<Box<Lz4Frame>>, block: &mut Vec<u8>) -> Result<bool, Trouble> {
    const FORM: Compression = Compression::Lz4;
    block.clear();
    let Some(current) = frame else {
        if !next_frame(source, LZ4, FORM)? {
            return Ok(false);
        }
        let flags = source.exactly(2, FORM)?[0];
        let size = 2 + if flags & 8 != 0 { 8 } else { 0 } + if flags & 1 != 0 { 4 } else { 0 };
        let header = source.exactly(size + 1, FORM)?;
        let largest = match header[1] {
            code @ (0x40 | 0x50 | 0x60 | 0x70) => 1 << (2 * (code >> 4) + 8),
            _ => return Err(damaged(FORM)),
        };
        // Version 1, no reserved bit, and no dictionary, which nobody has.
        let is_known = flags & 0xc3 == 0x40 && xxh32(&header[..size]).to_le_bytes()[1] == header[size];
        if !is_known {
            return Err(damaged(FORM));
        }
        source.take(size + 1);
        *frame = Some(Box::new(Lz4Frame {
            largest,
            has_block_checksums: flags & 0x10 != 0,
            checksum: (flags & 4 != 0).then(Xxh32::default),
            window: (flags & 0x20 == 0).then(Vec::new),
        }));
        return Ok(true);
    };
    let head = u32::from_le_bytes(*source.exactly(4, FORM)?.first_chunk().ok_or(damaged(FORM))?);
    if head == 0 {
        source.take(4);
        if let Some(checksum) = current.checksum.take()
            && source.array(FORM)? != checksum.finish().to_le_bytes()
        {
            return Err(damaged(FORM));
        }
        *frame = None;
        return Ok(true);
    }
    let (is_plain, size) = (head & 0x8000_0000 != 0, (head & 0x7fff_ffff) as usize);
    if size > current.largest {
        return Err(damaged(FORM));
    }
    let whole = size + if current.has_block_checksums { 8 } else { 4 };
    let (content, checksum) = source.exactly(whole, FORM)?[4..].split_at(size);
    if current.has_block_checksums && xxh32(content).to_le_bytes() != checksum {
        return Err(damaged(FORM));
    }
    if is_plain {
        block.extend_from_slice(content);
    } else {
        block.resize(current.largest, 0);
        let window = current.window.as_deref().unwrap_or_default();
        let made = lz4_flex::block::decompress_into_with_dict(content, block, window).map_err(|_| damaged(FORM))?;
        block.truncate(made);
    }
    source.take(whole);
    if let Some(window) = &mut current.window {
        let fresh = &block[block.len().saturating_sub(LZ4_WINDOW)..];
        window.drain(..(window.len() + fresh.len()).saturating_sub(LZ4_WINDOW));
        window.extend_from_slice(fresh);
    }
    if let Some(checksum) = &mut current.checksum {
        checksum.update(block);
    }
    Ok(true)
}

/// The next chunk of the framing of snappy, of at most 64 KiB.
fn snappy(source: &mut Source, decoder: &mut snap::raw::Decoder, block: &mut Vec<u8>) -> Result<bool, Trouble> {
    const FORM: Compression = Compression::Snappy;
    block.clear();
    if source.some()?.is_empty() {
        return Ok(false);
    }
    let [kind, a, b, c] = source.array(FORM)?;
    let size = u32::from_le_bytes([a, b, c, 0]) as usize;
    match kind {
        0x00 | 0x01 => {
            // A checksum comes first.
            if !(4..=4 + snap::raw::max_compress_len(LARGEST_SNAPPY_BLOCK)).contains(&size) {
                return Err(damaged(FORM));
            }
            let (checksum, content) = source.exactly(size, FORM)?.split_at(4);
            if kind == 0 {
                block.resize(LARGEST_SNAPPY_BLOCK, 0);
                let made = decoder.decompress(content, block).map_err(|_| damaged(FORM))?;
                block.truncate(made);
            } else {
                block.extend_from_slice(content);
            }
            let masked = crc32c::crc32c(block).rotate_right(15).wrapping_add(0xa282_ead8);
            if checksum != masked.to_le_bytes() {
                block.clear();
                return Err(damaged(FORM));
            }
            source.take(size);
        }
        0xff => {
            if size != SNAPPY_NAME.len() || source.array(FORM)? != SNAPPY_NAME {
                return Err(damaged(FORM));
            }
        }
        0x80..=0xfe => source.skip(size)?,
        0x02..=0x7f => return Err(damaged(FORM)),
    }
    Ok(true)
}

/// XXH32 with seed 0, the checksum of lz4 frames.
#[derive(Clone, Default)]
struct Xxh32 {
    lanes: [u32; 4],
    held: Vec<u8>,
    length: u64,
}

const PRIMES: [u32; 5] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f, 0x1656_67b1];

impl Xxh32 {
    fn update(&mut self, mut data: &[u8]) {
        if self.length == 0 {
            self.lanes = [
                PRIMES[0].wrapping_add(PRIMES[1]),
                PRIMES[1],
                0,
                PRIMES[0].wrapping_neg(),
            ];
        }
        self.length += data.len() as u64;
        if !self.held.is_empty() {
            let (first, rest) = data.split_at(data.len().min(16 - self.held.len()));
            self.held.extend_from_slice(first);
            data = rest;
            if self.held.len() == 16 {
                let held = std::mem::take(&mut self.held);
                self.stripes(&held);
            }
        }
        let whole = data.len() - data.len() % 16;
        self.stripes(&data[..whole]);
        self.held.extend_from_slice(&data[whole..]);
    }

    fn stripes(&mut self, data: &[u8]) {
        for stripe in data.chunks_exact(16) {
            for (lane, word) in self.lanes.iter_mut().zip(stripe.as_chunks().0) {
                let added = lane.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(PRIMES[1]));
                *lane = added.rotate_left(13).wrapping_mul(PRIMES[0]);
            }
        }
    }

    fn finish(&self) -> u32 {
        let [a, b, c, d] = self.lanes;
        let mut hash = if self.length < 16 {
            PRIMES[4]
        } else {
            let sum = a
                .rotate_left(1)
                .wrapping_add(b.rotate_left(7))
                .wrapping_add(c.rotate_left(12));
            sum.wrapping_add(d.rotate_left(18))
        };
        hash = hash.wrapping_add(self.length as u32);
        let (words, bytes) = self.held.as_chunks();
        for word in words {
            hash = hash.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(PRIMES[2]));
            hash = hash.rotate_left(17).wrapping_mul(PRIMES[3]);
        }
        for &byte in bytes {
            hash = hash.wrapping_add(u32::from(byte).wrapping_mul(PRIMES[4]));
            hash = hash.rotate_left(11).wrapping_mul(PRIMES[0]);
        }
        hash = (hash ^ hash >> 15).wrapping_mul(PRIMES[1]);
        hash = (hash ^ hash >> 13).wrapping_mul(PRIMES[2]);
        hash ^ hash >> 16
    }
}

fn xxh32(data: &[u8]) -> u32 {
    let mut hash = Xxh32::default();
    hash.update(data);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::Compression as Level;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    /// Compressible, and longer than several pieces and blocks.
    fn content() -> Vec<u8> {
        let mut random = 1_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 20
        };
        (0..30_000)
            .flat_map(|_| format!("{:08} capture ", next()).into_bytes())
            .collect()
    }

    fn gzip_of(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Level::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd_of(content: &[u8], has_checksum: bool) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(has_checksum).unwrap();
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn lz4_of(content: &[u8], is_linked: bool, has_checksums: bool) -> Vec<u8> {
        use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
        let info = FrameInfo::new()
            .block_mode(if is_linked {
                BlockMode::Linked
            } else {
                BlockMode::Independent
            })
            .block_size(BlockSize::Max64KB)
            .block_checksums(has_checksums)
            .content_checksum(has_checksums);
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn snappy_of(content: &[u8]) -> Vec<u8> {
        let mut encoder = snap::write::FrameEncoder::new(Vec::new());
        encoder.write_all(content).unwrap();
        encoder.into_inner().unwrap()
    }

    const SKIPPABLE: &[u8] = b"\x53\x2a\x4d\x18\x05\0\0\0hello";

    fn forms(content: &[u8]) -> Vec<(Compression, Vec<u8>)> {
        let (first, second) = content.split_at(1000);
        let (gzip, zstd) = (gzip_of(content), zstd_of(content, true));
        vec![
            (Compression::Gzip, [&gzip[..], &[0; 512]].concat()),
            (
                Compression::Gzip,
                [gzip_of(first), gzip_of(b""), gzip_of(second)].concat(),
            ),
            (Compression::Gzip, gzip),
            (
                Compression::Zstd,
                [
                    SKIPPABLE,
                    &zstd_of(first, false),
                    SKIPPABLE,
                    &zstd_of(b"", true),
                    &zstd_of(second, true),
                ]
                .concat(),
            ),
            (Compression::Zstd, zstd),
            (
                Compression::Lz4,
                [
                    lz4_of(first, true, false),
                    SKIPPABLE.to_vec(),
                    lz4_of(second, false, true),
                ]
                .concat(),
            ),
            (Compression::Lz4, lz4_of(content, true, true)),
            (
                Compression::Snappy,
                [snappy_of(first), b"\xfe\x03\0\0pad".to_vec(), snappy_of(second)].concat(),
            ),
            (Compression::Snappy, snappy_of(content)),
        ]
    }

    /// A pipe that never gives much at once.
    struct Trickle(Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let most = room.len().min(self.1);
            self.0.read(&mut room[..most])
        }
    }

    /// What comes out before the end, or before trouble.
    fn read_in(data: &[u8], step: usize, room: usize, free: u64) -> (Vec<u8>, Option<Trouble>) {
        let mut content = Content::new(Box::new(Trickle(Cursor::new(data.to_vec()), step))).unwrap();
        content.free = free;
        let (mut made, mut room) = (Vec::new(), vec![0; room]);
        loop {
            match content.read(&mut room) {
                Ok(0) => return (made, None),
                Ok(count) => made.extend_from_slice(&room[..count]),
                Err(trouble) => return (made, Some(trouble)),
            }
        }
    }

    fn read(data: &[u8]) -> (Vec<u8>, Option<Trouble>) {
        read_in(data, 1 << 20, 1 << 20, FREE)
    }

    #[test]
    fn every_form_is_told_and_its_content_is_the_same() {
        let content = content();
        for (form, data) in forms(&content) {
            assert_eq!(Compression::of(&data[..4]), Some(form));
            for (step, room) in [(1 << 20, 1 << 20), (997, 1 << 16), (1 << 20, 777)] {
                let (made, trouble) = read_in(&data, step, room, FREE);
                assert!(trouble.is_none(), "{form:?} {trouble:?}");
                assert!(made == content, "{form:?}");
            }
        }
        let (made, trouble) = read(b"plain");
        assert!(made == b"plain" && trouble.is_none());
    }

    #[test]
    fn a_stream_that_ends_early_gives_what_is_there() {
        let content = content();
        for (form, data) in forms(&content) {
            let (made, trouble) = read(&data[..data.len() / 2]);
            assert!(
                matches!(trouble, Some(Trouble::Broken(Broken { form: of, ends: true })) if of == form),
                "{form:?}"
            );
            assert!(
                content.starts_with(&made) && made.len() > content.len() / 4,
                "{form:?} {}",
                made.len()
            );
        }
    }

    #[test]
    fn a_broken_stream_gives_what_was_before() {
        let content = content();
        for (form, mut data) in forms(&content) {
            let middle = data.len() / 2;
            data[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 0xff);
            let (made, trouble) = read(&data);
            let Some(Trouble::Broken(broken)) = trouble else {
                panic!("{form:?} {trouble:?}");
            };
            assert_eq!(broken.form, form);
            assert!(made.len() > content.len() / 4, "{form:?}");
            let middle = content.len() / 4;
            assert!(content.starts_with(&made[..middle]), "{form:?}");
        }
    }

    #[test]
    fn what_follows_a_stream_and_is_none_is_damage() {
        let content = content();
        for (form, data) in forms(&content) {
            let (made, trouble) = read(&[&data[..], b"\x02omething else"].concat());
            assert!(
                matches!(trouble, Some(Trouble::Broken(Broken { ends: false, .. }))),
                "{form:?}"
            );
            assert!(made == content);
        }
        let (made, trouble) = read(&[gzip_of(b"one"), b"\0\0\x1f\x8b".to_vec()].concat());
        assert!(made == b"one" && matches!(trouble, Some(Trouble::Broken(_))));
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        let block = [
            b"\x28\xb5\x2f\xfd\x00\x58",
            &(0x7_ffff_u32 << 3).to_le_bytes()[..3],
            &[0; 1 << 20],
        ]
        .concat();
        assert!(matches!(
            read(&block).1,
            Some(Trouble::Broken(Broken { ends: false, .. }))
        ));
        // 3.75 TiB.
        let window = b"\x28\xb5\x2f\xfd\x00\xff\x02\0\x01a";
        assert!(matches!(read(window).1, Some(Trouble::Refused(Refusal::Window))));
        let mut lz4 = lz4_of(b"some", true, false);
        lz4[7..11].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
        assert!(matches!(
            read(&lz4).1,
            Some(Trouble::Broken(Broken { ends: false, .. }))
        ));
    }

    #[test]
    fn a_bomb_is_refused() {
        // Blocks of one byte that is repeated 131,072 times.
        let block = [&((131_072_u32 << 3 | 2).to_le_bytes()[..3]), b"a"].concat();
        let bomb = [b"\x28\xb5\x2f\xfd\x00\x58".to_vec(), block.repeat(1000)].concat();
        let (made, trouble) = read_in(&bomb, 1 << 20, 1 << 20, 1 << 22);
        assert!(matches!(trouble, Some(Trouble::Refused(Refusal::Bomb))), "{trouble:?}");
        assert!(made.len() <= 1 << 23);
        // Shrinks a thousand times, which is not more than a capture of zeros does.
        assert!(
            read_in(&gzip_of(&vec![0; 1 << 24]), 1 << 20, 1 << 20, 1 << 20)
                .1
                .is_none()
        );
    }

    #[test]
    fn the_checksum_of_lz4_is_known() {
        for (data, expected) in [
            ("", 0x02cc_5d05),
            ("abc", 0x32d1_53ff),
            ("Nobody inspects the spammish repetition", 0xe229_3b2f),
        ] {
            assert_eq!(xxh32(data.as_bytes()), expected);
        }
        let mut pieces = Xxh32::default();
        content().chunks(7).take(99).for_each(|piece| pieces.update(piece));
        assert_eq!(pieces.finish(), xxh32(&content()[..99 * 7]));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn damage_never_panics(which in 0_usize..9, at in 0.0..1.0, value in any::<u8>(), step in 1_usize..2000) {
            let content = &b"0123456789 some content that is rather short and repeats and repeats".repeat(40);
            let (_, mut data) = forms(content).swap_remove(which);
            let at = (at * data.len() as f64) as usize;
            data[at] = value;
            let whole = read(&data);
            let pieces = read_in(&data, step, 100, FREE);
            prop_assert_eq!(whole.0.len(), pieces.0.len());
            prop_assert_eq!(format!("{:?}", whole.1), format!("{:?}", pieces.1));
        }
    }
}
