//! Headers: a packet in, a TCP segment, UDP datagram or ICMP error out, or why it is none.
//!
//! Nearly all packets are TCP over IP over Ethernet, Linux cooked or one VLAN: these are read in one go. Everything
//! else walks from layer to layer, and tunnels may lead from any layer to any.

mod address;
mod internet;
mod key;
mod link;
pub mod names;
mod plain;
mod tunnel;
mod walk;

use compact_str::CompactString;

use crate::packet::{Datagram, Packet, Segment, Unreachable};

pub use address::endpoint_text;
pub use key::{KeptKey, Key};
pub use link::own_interface;

/// What a packet carries.
#[derive(Clone, Debug)]
pub enum Decoded<'a> {
    Segment {
        key: Key,
        segment: Segment<'a>,
    },
    Datagram(Datagram<'a>),
    Unreachable(Unreachable),
    /// None of these.
    Undecoded {
        /// The kind of loss that it counts as (see table losses).
        kind: &'static str,
        /// A few words; made without the heap.
        detail: CompactString,
        /// How many bytes of the packet were kept.
        bytes: u64,
    },
}

/// What the packet with these bytes carries, whatever they are.
///
/// The interface of what comes out is that of `packet`; [`own_interface`] tells of a packet that names one itself.
#[inline(always)]
pub fn decode<'a>(packet: &Packet, data: &'a [u8]) -> Decoded<'a> {
    match plain::segment(packet, data) {
        Some((key, segment)) => Decoded::Segment { key, segment },
        None => walked(packet, data),
    }
}

/// What a packet of another shape carries.
#[inline(never)]
fn walked<'a>(packet: &Packet, data: &'a [u8]) -> Decoded<'a> {
    walk::Walk::new(packet, data).decode()
}
