//! The link layers.

use compact_str::{CompactString, ToCompactString, format_compact};

use super::internet::{IPV4, IPV6};
use super::tunnel;
use super::walk::{Loss, Next, Passed, Step, Walk};
use crate::packet::Packet;

pub(super) const ETHERNET: Next = Next::Link(1);
/// A packet of IP, of the version that its first bits say.
pub(super) const RAW: Next = Next::Link(101);
pub(super) const LINUX_COOKED_2: u16 = 276;
const PKTAP: u16 = 258;
const LARGEST_PKTAP: u32 = 1024;
const LEAST_ETHERTYPE: u16 = 0x600;
const SNAP: [u8; 6] = [0xAA, 0xAA, 3, 0, 0, 0];
const NFULA_PAYLOAD: u16 = 9;
const MOST_ATTRIBUTES: usize = 64;
/// Of NFLOG: a longer first one has the other byte order.
const MOST_ATTRIBUTE: u16 = 1024;

/// The interface that a packet itself names, which counts more than what the file says: that of PKTAP; of Linux cooked
/// v2 only where the file does not say one.
#[inline]
pub fn own_interface(packet: &Packet, data: &[u8]) -> Option<CompactString> {
    if matches!(packet.link_type, PKTAP | LINUX_COOKED_2) {
        named_interface(packet, data)
    } else {
        None
    }
}

fn named_interface(packet: &Packet, data: &[u8]) -> Option<CompactString> {
    match packet.link_type {
        PKTAP => {
            let head = data.first_chunk::<36>()?;
            let [_, _, _, _, _, _, _, _, _, _, _, _, name @ ..] = head;
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            if !name.is_empty() {
                let text = |byte: &u8| {
                    if byte.is_ascii() {
                        char::from(*byte)
                    } else {
                        char::REPLACEMENT_CHARACTER
                    }
                };
                return Some(name.iter().map(text).collect());
            }
            let (header, link) = pktap_header(head)?;
            let is_cooked = packet.interface == 0 && link == LINUX_COOKED_2;
            is_cooked.then(|| data.get(header..).and_then(cooked_index)).flatten()
        }
        LINUX_COOKED_2 if packet.interface == 0 => cooked_index(data),
        _ => None,
    }
}

fn cooked_index(data: &[u8]) -> Option<CompactString> {
    let [_, _, _, _, index @ ..] = data.first_chunk::<8>()?;
    Some(u32::from_be_bytes(*index).to_compact_string())
}

pub(super) fn link(walk: &mut Walk<'_>, number: u16) -> Step {
    match number {
        0 | 108 => family(walk),
        1 => ethernet(walk),
        113 => cooked(walk),
        LINUX_COOKED_2 => cooked_2(walk),
        // DLT_RAW is 12, or 14 on OpenBSD, in files that did not translate it.
        12 | 14 | 101 | 228 | 229 => raw(walk),
        239 => nflog(walk),
        PKTAP => pktap(walk),
        9 | 50 | 104 => tunnel::ppp(walk),
        51 => tunnel::pppoe(walk),
        _ => Err(Loss {
            kind: "unsupported-link",
            detail: format_compact!("link type {number}"),
        }),
    }
}

fn ethernet(walk: &mut Walk<'_>) -> Step {
    let [.., high, low] = *walk.peek::<14>("Ethernet header")?;
    walk.pass(14);
    typed(walk, u16::from_be_bytes([high, low]))
}

/// An EtherType, or the length of an IEEE 802.3 frame with LLC.
fn typed(walk: &mut Walk<'_>, ethertype: u16) -> Step {
    if ethertype >= LEAST_ETHERTYPE {
        return Ok(Next::EtherType(ethertype));
    }
    walk.limit(usize::from(ethertype));
    match walk.rest().first_chunk::<8>() {
        Some(&[a, b, c, d, e, f, high, low]) if [a, b, c, d, e, f] == SNAP => {
            walk.pass(8);
            Ok(Next::EtherType(u16::from_be_bytes([high, low])))
        }
        _ => Err(Loss::not_tcp("LLC")),
    }
}

/// IEEE 802.1Q and 802.1ad; number 0 is no VLAN, only a priority.
pub(super) fn vlan(walk: &mut Walk<'_>) -> Step {
    let [a, b, c, d] = *walk.peek::<4>("VLAN tag")?;
    let number = u16::from_be_bytes([a, b]) & 0xFFF;
    if number != 0 {
        walk.pass_through(Passed::Vlan, u32::from(number));
    }
    walk.pass(4);
    typed(walk, u16::from_be_bytes([c, d]))
}

/// LINKTYPE_LINUX_SLL.
fn cooked(walk: &mut Walk<'_>) -> Step {
    let [.., high, low] = *walk.peek::<16>("Linux cooked header")?;
    walk.pass(16);
    cooked_protocol(u16::from_be_bytes([high, low]))
}

/// LINKTYPE_LINUX_SLL2.
fn cooked_2(walk: &mut Walk<'_>) -> Step {
    let [high, low, ..] = *walk.peek::<20>("Linux cooked header")?;
    walk.pass(20);
    cooked_protocol(u16::from_be_bytes([high, low]))
}

fn cooked_protocol(protocol: u16) -> Step {
    if protocol < LEAST_ETHERTYPE {
        return Err(Loss::not_tcp("LLC"));
    }
    Ok(Next::EtherType(protocol))
}

/// What an address family of Linux, Windows, the BSDs or macOS is called by EtherType.
fn ethertype_of_family(number: u32) -> Option<u16> {
    match number {
        2 => Some(IPV4),
        10 | 23 | 24 | 28 | 30 => Some(IPV6),
        _ => None,
    }
}

/// LINKTYPE_NULL has the byte order of who captured it, LINKTYPE_LOOP that of the network.
fn family(walk: &mut Walk<'_>) -> Step {
    let number = u32::from_be_bytes(*walk.peek("loopback header")?);
    let ethertype = ethertype_of_family(number).or_else(|| ethertype_of_family(number.swap_bytes()));
    let ethertype = ethertype.ok_or(Loss::not_tcp("loopback of another address family"))?;
    walk.pass(4);
    Ok(Next::EtherType(ethertype))
}

/// LINKTYPE_NFLOG: what a rule of netfilter logged, an IP packet among other attributes of either byte order.
///
/// All of it lies from `position` on, which is not the beginning of the packet where PKTAP stands before it.
fn nflog(walk: &mut Walk<'_>) -> Step {
    let [family, _, _, _, a, b, _, _] = *walk.peek::<8>("NFLOG header")?;
    let is_little = u16::from_le_bytes([a, b]) <= MOST_ATTRIBUTE;
    let half = |bytes: [u8; 2]| {
        if is_little {
            u16::from_le_bytes(bytes)
        } else {
            u16::from_be_bytes(bytes)
        }
    };
    walk.pass(4);
    for _ in 0..MOST_ATTRIBUTES {
        let Some(&[a, b, c, d]) = walk.rest().first_chunk() else {
            break;
        };
        let (length, kind) = (usize::from(half([a, b])), half([c, d]));
        if length < 4 {
            break;
        }
        if kind & 0x7FFF == NFULA_PAYLOAD {
            walk.limit(length);
            walk.pass(4);
            return Ok(ethertype_of_family(u32::from(family)).map_or(RAW, Next::EtherType));
        }
        walk.pass(length.next_multiple_of(4));
    }
    if walk.data.len() < walk.end {
        return Err(walk.short("NFLOG attributes"));
    }
    Err(Loss::not_tcp("NFLOG"))
}

/// LINKTYPE_PKTAP of macOS: the name of an interface, and a packet of its link type.
fn pktap(walk: &mut Walk<'_>) -> Step {
    let head = walk.peek::<36>("PKTAP header")?;
    let (header, link) = pktap_header(head).ok_or(Loss::new("damage", "PKTAP header"))?;
    walk.pass(header);
    Ok(Next::Link(link))
}

/// How long the header is, and the link type of the packet behind it.
fn pktap_header(head: &[u8; 36]) -> Option<(usize, u16)> {
    let [a, b, c, d, _, _, _, _, e, f, g, h, ..] = *head;
    let header = u32::from_le_bytes([a, b, c, d]);
    let link = u16::try_from(u32::from_le_bytes([e, f, g, h])).ok()?;
    ((36..=LARGEST_PKTAP).contains(&header) && link != PKTAP).then_some((header as usize, link))
}

fn raw(walk: &mut Walk<'_>) -> Step {
    let [first] = *walk.peek::<1>("IP header")?;
    match first >> 4 {
        4 => Ok(Next::EtherType(IPV4)),
        6 => Ok(Next::EtherType(IPV6)),
        version => Err(Loss {
            kind: "not-tcp",
            detail: format_compact!("raw IP of version {version}"),
        }),
    }
}
