//! What the stages hand to each other about packets.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;

/// A packet as a capture file holds it; its bytes are `offset..offset + captured` of the piece that it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds since 1970 UTC.
    pub time: i64,
    /// From 1 in its file, as Wireshark counts.
    pub number: u64,
    pub offset: u32,
    /// Bytes kept, of the `length` that the packet had on the wire.
    pub captured: u32,
    pub length: u32,
    /// An index into the names of interfaces; 0 is "", where the file does not say.
    pub interface: u32,
    /// An index into the list of files that are read together.
    pub file: u32,
    /// Number of the registry of link-layer header types (1 Ethernet).
    pub link_type: u16,
}

/// What addresses are to be understood in, usually empty: of each VLAN and numbered tunnel, outermost first, a letter
/// and four bytes, so that the context of a packet seen inside of an overlay is the end of that seen outside.
pub type Context = SmallVec<[u8; 16]>;

/// Both ends of a segment as its sender sees them, which tells connections apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ends {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub source_port: u16,
    pub destination_port: u16,
    pub context: Context,
}

/// A TCP segment, without its addresses: what belongs to a stream once its connection is known.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    pub time: i64,
    pub number: u64,
    /// What was kept of the `length` payload bytes on the wire.
    pub payload: &'a [u8],
    pub length: u32,
    pub sequence: u32,
    pub acknowledgement: u32,
    /// Not scaled.
    pub window: u32,
    /// Of the IPv4 header, else -1.
    pub identification: i32,
    pub interface: u32,
    pub file: u32,
    pub flags: u8,
    /// -1 without the option (SYN only).
    pub window_scale: i8,
}

/// A UDP datagram, kept for its DNS.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    pub time: i64,
    pub number: u64,
    pub source: IpAddr,
    pub destination: IpAddr,
    pub source_port: u16,
    pub destination_port: u16,
    pub payload: &'a [u8],
    pub interface: u32,
    pub file: u32,
}

/// An ICMP error about a TCP segment: whose, and why (type and code of ICMP or ICMPv6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    pub time: i64,
    pub number: u64,
    pub reporter: IpAddr,
    pub source: IpAddr,
    pub destination: IpAddr,
    pub source_port: u16,
    pub destination_port: u16,
    pub kind: u8,
    pub code: u8,
    pub file: u32,
}

/// Bytes that are none of these: the kind of loss that they count as, with a few words (see table losses).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undecoded {
    pub kind: compact_str::CompactString,
    pub detail: compact_str::CompactString,
    pub bytes: u64,
}
