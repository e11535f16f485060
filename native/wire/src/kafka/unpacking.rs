//! Undoes the compression of a record batch, never beyond a bound.

use std::io::Read;

use flate2::{Decompress, FlushDecompress, Status};

/// So many bytes become of one batch at most; of a small one fewer.
pub const MOST: usize = 16 << 20;
const FLOOR: usize = 1 << 20;
const RATIO: usize = 1024;
/// As snappy-java's SnappyOutputStream begins, which the Java client writes; two versions follow.
const XERIAL: &[u8] = b"\x82SNAPPY\x00";
const XERIAL_HEADER: usize = 16;
const LZ4_MAGIC: u32 = 0x184D_2204;
/// The lower four bits differ.
const LZ4_SKIPPABLE: u32 = 0x184D_2A50;

pub const GZIP: u8 = 1;
pub const SNAPPY: u8 = 2;
pub const LZ4: u8 = 3;
pub const ZSTD: u8 = 4;

/// Why there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Nothing here undoes this compression.
    Unknown,
    /// These are no bytes of this compression.
    Damaged,
    /// More would become of it than the bound allows.
    Beyond,
}

/// What was compressed: at most `most` bytes, and not much more than a thousand times `data`.
pub fn unpack(codec: u8, data: &[u8], most: usize) -> Result<Vec<u8>, Refused> {
    let most = most.min(FLOOR.saturating_add(RATIO.saturating_mul(data.len())));
    match codec {
        GZIP => gzip(data, most),
        SNAPPY => snappy(data, most),
        LZ4 => lz4(data, most),
        // No frame at all, as none behind another.
        ZSTD if data.is_empty() => Ok(Vec::new()),
        ZSTD => {
            let reader = zstd::stream::read::Decoder::with_buffer(data).map_err(|_| Refused::Damaged)?;
            bounded(reader, most)
        }
        _ => Err(Refused::Unknown),
    }
}

/// One member; what follows it is not looked at.
fn gzip(data: &[u8], most: usize) -> Result<Vec<u8>, Refused> {
    let mut reader = Decompress::new_gzip(15);
    // One byte beyond the bound tells that it is passed.
    let room = most.saturating_add(1);
    let mut out = Vec::with_capacity(data.len().saturating_mul(4).max(64).min(room));
    loop {
        let read = usize::try_from(reader.total_in())
            .ok()
            .and_then(|read| data.get(read..))
            .unwrap_or_default();
        let before = (reader.total_in(), out.len());
        let status = reader
            .decompress_vec(read, &mut out, FlushDecompress::None)
            .map_err(|_| Refused::Damaged)?;
        if out.len() > most {
            return Err(Refused::Beyond);
        }
        if status == Status::StreamEnd {
            return Ok(out);
        }
        if out.len() == out.capacity() {
            out.reserve_exact(out.len().max(64).min(room - out.len()));
        } else if before == (reader.total_in(), out.len()) {
            return Err(Refused::Damaged);
        }
    }
}

/// Bare, or in the blocks of xerial.
fn snappy(data: &[u8], most: usize) -> Result<Vec<u8>, Refused> {
    let mut out = Vec::new();
    if !data.starts_with(XERIAL) {
        snappy_block(data, most, &mut out)?;
        return Ok(out);
    }
    let mut rest = data.get(XERIAL_HEADER..).unwrap_or_default();
    while !rest.is_empty() {
        let (size, behind) = rest.split_first_chunk().ok_or(Refused::Damaged)?;
        let size = usize::try_from(i32::from_be_bytes(*size)).map_err(|_| Refused::Damaged)?;
        if size == 0 || size > behind.len() {
            return Err(Refused::Damaged);
        }
        let (block, following) = behind.split_at(size);
        snappy_block(block, most - out.len(), &mut out)?;
        rest = following;
    }
    Ok(out)
}

/// A block begins with the size of what becomes of it.
fn snappy_block(data: &[u8], most: usize, out: &mut Vec<u8>) -> Result<(), Refused> {
    let mut size = 0u64;
    for place in 0..5 {
        let byte = *data.get(place).ok_or(Refused::Damaged)?;
        size |= u64::from(byte & 0x7F) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    let size = usize::try_from(size)
        .ok()
        .filter(|size| *size <= most)
        .ok_or(Refused::Beyond)?;
    let start = out.len();
    out.resize(start + size, 0);
    let place = out.get_mut(start..).unwrap_or_default();
    match snap::raw::Decoder::new().decompress(data, place) {
        Ok(made) if made == size => Ok(()),
        _ => Err(Refused::Damaged),
    }
}

/// Whatever a reader gives, unless it is too much.
fn bounded(reader: impl Read, most: usize) -> Result<Vec<u8>, Refused> {
    let mut out = Vec::new();
    reader
        .take(most as u64 + 1)
        .read_to_end(&mut out)
        .map_err(|_| Refused::Damaged)?;
    if out.len() > most {
        Err(Refused::Beyond)
    } else {
        Ok(out)
    }
}

/// Frames, one behind the other; those that may be skipped are.
///
/// The frames are taken apart here because a reader must not take the end of the bytes for the end of a frame.
fn lz4(data: &[u8], most: usize) -> Result<Vec<u8>, Refused> {
    let mut out = Lz4 {
        rest: data,
        out: Vec::new(),
        filled: 0,
    };
    while !out.rest.is_empty() {
        let magic = out.int32()?;
        if magic & !0xF == LZ4_SKIPPABLE {
            let size = out.int32()?;
            out.take(size as usize)?;
        } else if magic == LZ4_MAGIC {
            out.frame(most)?;
        } else {
            return Err(Refused::Damaged);
        }
    }
    out.out.truncate(out.filled);
    Ok(out.out)
}

/// Takes LZ4 frames apart.
struct Lz4<'a> {
    rest: &'a [u8],
    /// Longer than what is `filled`, so that many small blocks do not clear the same bytes again and again.
    out: Vec<u8>,
    filled: usize,
}

impl<'a> Lz4<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8], Refused> {
        let (taken, rest) = self.rest.split_at_checked(size).ok_or(Refused::Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn int32(&mut self) -> Result<u32, Refused> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Refused::Damaged)?;
        self.rest = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn frame(&mut self, most: usize) -> Result<(), Refused> {
        let start = self.rest;
        let flags = self.take(2)?;
        let (flags, sizes) = (flags[0], flags[1]);
        let has = |flag: u8| flags & flag != 0;
        if flags >> 6 != 1 || has(2) || sizes & 0x8F != 0 || sizes < 0x40 {
            return Err(Refused::Damaged);
        }
        let largest = 1usize << (8 + 2 * (sizes >> 4));
        let declared = if has(8) {
            u64::from(self.int32()?) | u64::from(self.int32()?) << 32
        } else {
            0
        };
        if has(1) {
            self.int32()?;
        }
        let header = &start[..start.len() - self.rest.len()];
        if self.take(1)?[0] != (xxh32(header) >> 8) as u8 {
            return Err(Refused::Damaged);
        }
        let begin = self.filled;
        loop {
            let size = self.int32()?;
            if size == 0 {
                break;
            }
            let block = self.take((size & 0x7FFF_FFFF) as usize)?;
            if block.len() > largest || (has(16) && self.int32()? != xxh32(block)) {
                return Err(Refused::Damaged);
            }
            // Blocks of a frame may copy from those before them, from up to 64 KB back.
            let window = if has(32) { 0 } else { (self.filled - begin).min(65_536) };
            // No block becomes more than 255 times of what it was.
            let largest = largest.min(block.len() * 255 + 64);
            self.block(block, size >> 31 == 1, largest, window)?;
            if self.filled > most {
                return Err(Refused::Beyond);
            }
        }
        let made = &self.out[begin..self.filled];
        if (declared != 0 && declared != made.len() as u64) || (has(4) && xxh32(made) != self.int32()?) {
            return Err(Refused::Damaged);
        }
        Ok(())
    }

    fn block(&mut self, block: &[u8], plain: bool, largest: usize, window: usize) -> Result<(), Refused> {
        let needed = self.filled + if plain { block.len() } else { largest };
        if self.out.len() < needed {
            self.out.resize(needed, 0);
        }
        let (before, place) = self.out.split_at_mut(self.filled);
        self.filled += if plain {
            place[..block.len()].copy_from_slice(block);
            block.len()
        } else {
            let window = &before[before.len() - window..];
            lz4_flex::block::decompress_into_with_dict(block, &mut place[..largest], window)
                .map_err(|_| Refused::Damaged)?
        };
        Ok(())
    }
}

/// The hash of LZ4 frames, with the seed 0.
fn xxh32(data: &[u8]) -> u32 {
    const PRIMES: [u32; 5] = [0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D, 0x27D4_EB2F, 0x1656_67B1];
    let [one, two, three, four, five] = PRIMES;
    let mut lanes = [one.wrapping_add(two), two, 0, 0u32.wrapping_sub(one)];
    let (blocks, rest) = data.as_chunks::<16>();
    for block in blocks {
        for (lane, bytes) in lanes.iter_mut().zip(block.as_chunks::<4>().0) {
            let next = lane.wrapping_add(u32::from_le_bytes(*bytes).wrapping_mul(two));
            *lane = next.rotate_left(13).wrapping_mul(one);
        }
    }
    let mut hash = if blocks.is_empty() {
        five
    } else {
        let turned = lanes.iter().zip([1, 7, 12, 18]).map(|(lane, by)| lane.rotate_left(by));
        turned.fold(0, u32::wrapping_add)
    };
    hash = hash.wrapping_add(data.len() as u32);
    let (words, bytes) = rest.as_chunks::<4>();
    for word in words {
        let next = hash.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(three));
        hash = next.rotate_left(17).wrapping_mul(four);
    }
    for &byte in bytes {
        hash = hash
            .wrapping_add(u32::from(byte).wrapping_mul(five))
            .rotate_left(11)
            .wrapping_mul(one);
    }
    hash = (hash ^ hash >> 15).wrapping_mul(two);
    hash = (hash ^ hash >> 13).wrapping_mul(three);
    hash ^ hash >> 16
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// As the codecs of Kafka's clients write it; `xerial` is snappy in blocks.
    pub(crate) fn packed(way: &str, data: &[u8]) -> (u8, Vec<u8>) {
        match way {
            "gzip" => {
                let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                writer.write_all(data).unwrap();
                (GZIP, writer.finish().unwrap())
            }
            "snappy" => (SNAPPY, snap::raw::Encoder::new().compress_vec(data).unwrap()),
            "xerial" => {
                let mut out = [XERIAL, &[0, 0, 0, 1, 0, 0, 0, 1]].concat();
                for block in data.chunks(1000) {
                    let block = snap::raw::Encoder::new().compress_vec(block).unwrap();
                    out.extend((block.len() as i32).to_be_bytes());
                    out.extend(block);
                }
                (SNAPPY, out)
            }
            "lz4" | "lz4-linked" => {
                let mut info = lz4_flex::frame::FrameInfo::new()
                    .block_size(lz4_flex::frame::BlockSize::Max64KB)
                    .block_checksums(true)
                    .content_checksum(true);
                if way == "lz4-linked" {
                    info = info
                        .block_mode(lz4_flex::frame::BlockMode::Linked)
                        .content_size(Some(data.len() as u64));
                }
                let mut writer = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                writer.write_all(data).unwrap();
                (LZ4, writer.finish().unwrap())
            }
            _ => (ZSTD, zstd::stream::encode_all(data, 3).unwrap()),
        }
    }

    pub(crate) const WAYS: [&str; 6] = ["gzip", "snappy", "xerial", "lz4", "lz4-linked", "zstd"];

    /// What compresses well, and what does not.
    fn data() -> Vec<u8> {
        let mut out: Vec<u8> = (0..3000u32)
            .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        out.extend(b"abc".repeat(60_000));
        out
    }

    #[test]
    fn what_was_compressed_comes_back_and_the_bound_holds() {
        let data = data();
        for way in WAYS {
            let (codec, packed) = packed(way, &data);
            assert_eq!(unpack(codec, &packed, MOST).as_ref(), Ok(&data), "{way}");
            assert_eq!(unpack(codec, &packed, data.len()).as_ref(), Ok(&data), "{way}");
            assert_eq!(unpack(codec, &packed, data.len() - 1), Err(Refused::Beyond), "{way}");
        }
    }

    #[test]
    fn nothing_comes_back_as_nothing() {
        for way in WAYS {
            let (codec, packed) = packed(way, b"");
            assert_eq!(unpack(codec, &packed, MOST), Ok(vec![]), "{way}");
        }
    }

    #[test]
    fn a_bomb_and_a_small_batch_that_becomes_a_large_one() {
        for way in WAYS {
            let (codec, packed) = packed(way, &vec![0; 1 << 21]);
            assert_eq!(unpack(codec, &packed, 1 << 20), Err(Refused::Beyond), "{way}");
        }
        let (codec, packed) = packed("zstd", &vec![0; 3 << 20]);
        assert!(packed.len() < 1024);
        assert_eq!(unpack(codec, &packed, MOST), Err(Refused::Beyond));
    }

    #[test]
    fn what_is_cut_is_damaged() {
        for way in WAYS {
            let (codec, packed) = packed(way, &data());
            for kept in 0..packed.len().min(40) {
                let unpacked = unpack(codec, &packed[..kept], MOST);
                let nothing = kept == 0 && matches!(codec, LZ4 | ZSTD) || way == "xerial" && (8..=16).contains(&kept);
                assert_eq!(
                    unpacked,
                    if nothing { Ok(vec![]) } else { Err(Refused::Damaged) },
                    "{way} {kept}"
                );
            }
            assert_eq!(
                unpack(codec, &packed[..packed.len() - 1], MOST),
                Err(Refused::Damaged),
                "{way}"
            );
        }
    }

    #[test]
    fn frames_of_lz4_follow_each_other_and_may_be_skipped() {
        let (_, frame) = packed("lz4", b"some");
        let skipped = [&0x184D_2A5Bu32.to_le_bytes()[..], &3u32.to_le_bytes(), b"abc"].concat();
        let data = [&frame[..], &skipped, &frame].concat();
        assert_eq!(unpack(LZ4, &data, MOST), Ok(b"somesome".to_vec()));
        let mut wrong = frame;
        wrong[6] ^= 1;
        assert_eq!(unpack(LZ4, &wrong, MOST), Err(Refused::Damaged));
    }

    #[test]
    fn other_codecs_are_unknown() {
        for codec in [0, 5, 6, 7] {
            assert_eq!(unpack(codec, b"abc", MOST), Err(Refused::Unknown));
        }
    }

    #[test]
    fn the_hash_is_that_of_the_specification() {
        assert_eq!(xxh32(b""), 0x02CC_5D05);
        assert_eq!(xxh32(b"a"), 0x550D_7456);
        assert_eq!(xxh32(b"Nobody inspects the spammish repetition"), 0xE229_3B2F);
    }

    proptest! {
        #[test]
        fn any_bytes_are_unpacked_or_refused(
            way in prop::sample::select(WAYS.to_vec()),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            kept in any::<prop::sample::Index>(),
            most in 0..9000usize,
        ) {
            let (codec, mut packed) = packed(way, &data()[..4000]);
            packed.truncate(kept.index(2 * packed.len()));
            for (index, value) in damage {
                if !packed.is_empty() {
                    let at = index.index(packed.len().min(64));
                    packed[at] = value;
                }
            }
            if let Ok(unpacked) = unpack(codec, &packed, most) {
                prop_assert!(unpacked.len() <= most);
            }
        }
    }
}
