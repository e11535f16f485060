//! Compressed record batches: never beyond the bound, the same as what others make of them, and what was compressed
//! comes back.

use std::io::{Read, Write};

use netdiag_wire::kafka::unpacking::{GZIP, LZ4, Refused, SNAPPY, ZSTD, unpack};

use crate::Script;

/// Codecs and, of snappy, the blocks that the Java client writes.
pub const WAYS: [Way; 5] = [Way::Gzip, Way::Snappy, Way::Xerial, Way::Lz4, Way::Zstd];

/// How batches are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Gzip,
    Snappy,
    Xerial,
    Lz4,
    Zstd,
}

impl Way {
    fn codec(self) -> u8 {
        match self {
            Way::Gzip => GZIP,
            Way::Snappy | Way::Xerial => SNAPPY,
            Way::Lz4 => LZ4,
            Way::Zstd => ZSTD,
        }
    }
}

/// An input: a way, a bound, whether what follows is compressed already, and bytes.
pub fn check(input: &[u8]) {
    let mut script = Script::new(input);
    let way = script.pick(&WAYS);
    let most = script.pick(&[1 << 20, 0, 100, 5000, 16 << 20]);
    let is_packed = !script.byte().is_multiple_of(4);
    let data = script.rest();
    if is_packed {
        let made = unpack(way.codec(), data, most);
        let Ok(made) = made else {
            return;
        };
        assert!(made.len() <= most, "{} bytes, {most} are allowed", made.len());
        if let Some(others) = unpacked_by_others(way, data, most) {
            assert!(made == others, "others read it otherwise");
        }
        for codec in [0, 5, 255] {
            assert_eq!(unpack(codec, data, most), Err(Refused::Unknown));
        }
    } else {
        let packed = packed(way, data);
        assert_eq!(unpack(way.codec(), &packed, data.len()).as_deref(), Ok(data));
        if let Some(less) = data.len().checked_sub(1) {
            assert_eq!(unpack(way.codec(), &packed, less), Err(Refused::Beyond));
        }
    }
}

/// What is compressed so.
pub fn packed(way: Way, data: &[u8]) -> Vec<u8> {
    let written = match way {
        Way::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(data).and_then(|()| writer.finish())
        }
        Way::Snappy => Ok(block(data)),
        Way::Xerial => {
            let mut out = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01".to_vec();
            for piece in data.chunks(1000) {
                let block = block(piece);
                out.extend((block.len() as u32).to_be_bytes());
                out.extend(block);
            }
            Ok(out)
        }
        Way::Lz4 => {
            let mut writer = lz4_flex::frame::FrameEncoder::new(Vec::new());
            writer.write_all(data).and_then(|()| Ok(writer.finish()?))
        }
        Way::Zstd => zstd::encode_all(data, 1),
    };
    written.expect("a vector takes all")
}

fn block(data: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new()
        .compress_vec(data)
        .expect("what is short fits")
}

/// What readers that are not bounded make of it; None where they refuse it.
fn unpacked_by_others(way: Way, data: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let most = most as u64 + 1;
    match way {
        Way::Gzip => flate2::read::GzDecoder::new(data)
            .take(most)
            .read_to_end(&mut out)
            .ok()?,
        Way::Lz4 => frames(data, most, &mut out)?,
        Way::Zstd => zstd::stream::read::Decoder::with_buffer(data)
            .ok()?
            .take(most)
            .read_to_end(&mut out)
            .ok()?,
        Way::Snappy | Way::Xerial => return None,
    };
    Some(out)
}

/// All LZ4 frames, one behind another: this reader ends with each of them.
fn frames(data: &[u8], most: u64, out: &mut Vec<u8>) -> Option<usize> {
    let mut reader = lz4_flex::frame::FrameDecoder::new(data);
    loop {
        let left = reader.get_ref().len();
        let room = most.saturating_sub(out.len() as u64);
        reader.by_ref().take(room).read_to_end(out).ok()?;
        let is_over = reader.get_ref().is_empty() || reader.get_ref().len() == left;
        if is_over || out.len() as u64 >= most {
            return Some(out.len());
        }
    }
}
