//! Capture files made from literals: pcap in its variants, pcapng block by block.

use super::account::{Account, Window};
use super::reader::{CaptureReader, Shared};
use super::refusal::Refusal;
use crate::packet::Packet;

pub const SECOND: i64 = 1_000_000_000;
/// The time of the first packet of a test, in nanoseconds.
pub const START: i64 = 1_700_000_000 * SECOND;

/// How a pcap file is written.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub is_big: bool,
    pub is_nanoseconds: bool,
    pub is_modified: bool,
    pub link: u32,
    pub snaplen: usize,
}

pub const LITTLE: Kind = Kind {
    is_big: false,
    is_nanoseconds: false,
    is_modified: false,
    link: 1,
    snaplen: 262_144,
};
pub const BIG: Kind = Kind { is_big: true, ..LITTLE };

/// Four bytes.
pub fn word(is_big: bool, value: u32) -> [u8; 4] {
    if is_big {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    }
}

/// Two bytes.
pub fn half(is_big: bool, value: u16) -> [u8; 2] {
    if is_big {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    }
}

/// A pcap file of (time, bytes); what is longer than the snaplen is cut.
pub fn pcap(kind: Kind, packets: &[(i64, Vec<u8>)]) -> Vec<u8> {
    let magic = match (kind.is_modified, kind.is_nanoseconds) {
        (true, _) => 0xa1b2_cd34,
        (false, true) => 0xa1b2_3c4d,
        (false, false) => 0xa1b2_c3d4,
    };
    let mut made = Vec::new();
    made.extend(word(kind.is_big, magic));
    made.extend(half(kind.is_big, 2));
    made.extend(half(kind.is_big, 4));
    for value in [0, 0, kind.snaplen as u32, kind.link] {
        made.extend(word(kind.is_big, value));
    }
    for (index, (time, data)) in packets.iter().enumerate() {
        let kept = &data[..data.len().min(kind.snaplen)];
        let part = time % SECOND / if kind.is_nanoseconds { 1 } else { 1000 };
        for value in [
            (time / SECOND) as u32,
            part as u32,
            kept.len() as u32,
            data.len() as u32,
        ] {
            made.extend(word(kind.is_big, value));
        }
        if kind.is_modified {
            made.extend(word(kind.is_big, index as u32 + 1));
            made.extend([8, 0, 0, 0]);
        }
        made.extend(kept);
    }
    made
}

fn padded(mut data: Vec<u8>) -> Vec<u8> {
    data.resize(data.len().next_multiple_of(4), 0);
    data
}

/// A block of pcapng.
pub fn block(is_big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let body = padded(body.to_vec());
    let length = word(is_big, body.len() as u32 + 12);
    [&word(is_big, kind)[..], &length, &body, &length].concat()
}

/// An option of a block.
pub fn option(is_big: bool, code: u16, value: &[u8]) -> Vec<u8> {
    padded([&half(is_big, code)[..], &half(is_big, value.len() as u16), value].concat())
}

/// A section header.
pub fn section(is_big: bool) -> Vec<u8> {
    let version = [half(is_big, 1), half(is_big, 0)].concat();
    block(
        is_big,
        0x0a0d_0d0a,
        &[&word(is_big, 0x1a2b_3c4d)[..], &version, &[0xff; 8]].concat(),
    )
}

/// A description of an interface.
pub fn interface(is_big: bool, link: u16, snaplen: u32, options: &[u8]) -> Vec<u8> {
    block(
        is_big,
        1,
        &[&half(is_big, link)[..], &[0, 0], &word(is_big, snaplen), options].concat(),
    )
}

/// An enhanced packet block.
pub fn enhanced(is_big: bool, index: u32, ticks: u64, data: &[u8], wire: usize) -> Vec<u8> {
    let head = [
        index,
        (ticks >> 32) as u32,
        ticks as u32,
        data.len() as u32,
        wire as u32,
    ];
    let mut body: Vec<u8> = head.into_iter().flat_map(|value| word(is_big, value)).collect();
    body.extend(data);
    block(is_big, 6, &body)
}

/// What was read of a file: each packet with its bytes, and the names of interfaces.
#[derive(Debug, Default, PartialEq)]
pub struct Read {
    pub packets: Vec<(Packet, Vec<u8>)>,
    pub names: Vec<String>,
    pub account: Account,
}

impl Read {
    pub fn times(&self) -> Vec<i64> {
        self.packets.iter().map(|(packet, _)| packet.time).collect()
    }

    pub fn numbers(&self) -> Vec<u64> {
        self.packets.iter().map(|(packet, _)| packet.number).collect()
    }

    /// The losses without the bytes.
    pub fn losses(&self) -> Vec<(&str, &str)> {
        self.account
            .losses
            .iter()
            .map(|loss| (loss.kind.as_str(), loss.detail.as_str()))
            .collect()
    }

    /// How many bytes there is an explanation for.
    pub fn accounted(&self) -> u64 {
        let account = &self.account;
        assert_eq!(
            account.losses.iter().map(|loss| loss.bytes).sum::<u64>(),
            account.lost_bytes
        );
        account.packet_bytes + account.header_bytes + account.filtered_bytes + account.lost_bytes
    }
}

/// Reads a file that is fed in pieces of these sizes, again and again.
pub fn read_in(data: &[u8], pieces: &[usize], window: Window) -> Result<Read, Refusal> {
    let shared = Shared::default();
    let mut reader = CaptureReader::new(4, window, shared.clone());
    let mut read = Read::default();
    let mut sizes = pieces.iter().cycle();
    let mut rest = data;
    loop {
        let (piece, behind) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
        rest = behind;
        let chunk = if piece.is_empty() {
            reader.finish()?
        } else {
            reader.feed(piece)?
        };
        if let Some(chunk) = &chunk {
            assert!(!chunk.packets().is_empty());
            for packet in chunk.packets() {
                assert_eq!(packet.captured as usize, chunk.data(packet).len());
                // Where it lay is of no interest.
                read.packets
                    .push((Packet { offset: 0, ..*packet }, chunk.data(packet).to_vec()));
                read.names.push(shared.interfaces.name(packet.interface).into());
            }
        }
        if piece.is_empty() {
            break;
        }
    }
    read.account = reader.account().clone();
    Ok(read)
}

/// Reads a file in one piece.
pub fn read(data: &[u8]) -> Read {
    read_in(data, &[data.len().max(1)], Window::default()).unwrap()
}
