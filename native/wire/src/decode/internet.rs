//! IPv4, IPv6, TCP, UDP, and ICMP as far as it tells of TCP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Key;
use super::walk::{Loss, Next, Step, Walk};
use crate::packet::{Datagram, Packet, SYN, Segment, Unreachable};

pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86DD;
pub(super) const TCP: u8 = 6;
pub(super) const ICMP: u8 = 1;
pub(super) const ICMPV6: u8 = 58;
/// Of the half word with the place of a fragment: anything but "don't fragment" and the reserved bit.
pub(super) const IS_FRAGMENT: u16 = 0x3FFF;
const IS_FRAGMENT_6: u16 = 0xFFF9;
const HOP_BY_HOP: u8 = 0;
const FRAGMENT: u8 = 44;
const MOST_EXTENSIONS: usize = 16;
const JUMBO: u8 = 0xC2;
const WINDOW_SCALE: u8 = 3;
/// RFC 7323: more than 14 counts as 14.
const MOST_WINDOW_SCALE: u8 = 14;

/// RFC 791. A total length of 0 is what TSO leaves there; padding of the link lies behind the total length.
pub(super) fn ipv4(walk: &mut Walk<'_>) -> Step {
    let bytes = walk.peek::<20>("IPv4 header")?;
    let [
        first,
        _,
        t1,
        t2,
        i1,
        i2,
        f1,
        f2,
        _,
        protocol,
        _,
        _,
        s1,
        s2,
        s3,
        s4,
        d1,
        d2,
        d3,
        d4,
    ] = *bytes;
    walk.source = Ipv4Addr::new(s1, s2, s3, s4).into();
    walk.destination = Ipv4Addr::new(d1, d2, d3, d4).into();
    let (header, total) = (usize::from(first & 15) * 4, usize::from(u16::from_be_bytes([t1, t2])));
    if first >> 4 != 4 || header < 20 || (total > 0 && total < header) {
        return Err(Loss::new("damage", "IPv4 header"));
    }
    let end = walk.position.saturating_add(total);
    if total > 0 && (end <= walk.end || is_sound(walk, header)) {
        walk.end = end;
    }
    if u16::from_be_bytes([f1, f2]) & IS_FRAGMENT != 0 {
        return Err(Loss::new("fragment", "IPv4 fragment"));
    }
    walk.identification = i32::from(u16::from_be_bytes([i1, i2]));
    walk.pass(header);
    Ok(Next::Protocol(protocol))
}

/// Whether the checksum of an IPv4 header is right: then a frame shorter than it says was cut, and hides it.
fn is_sound(walk: &Walk<'_>, header: usize) -> bool {
    let bytes = walk.data.get(walk.position..).and_then(|rest| rest.get(..header));
    bytes.is_some_and(|bytes| {
        let (halves, _) = bytes.as_chunks::<2>();
        let total: u32 = halves.iter().map(|half| u32::from(u16::from_be_bytes(*half))).sum();
        total > 0 && total.is_multiple_of(0xFFFF)
    })
}

/// RFC 8200, with jumbograms (RFC 2675); a payload length of 0 without that option is what TSO leaves there.
pub(super) fn ipv6(walk: &mut Walk<'_>) -> Step {
    let bytes = walk.peek::<40>("IPv6 header")?;
    let [first, _, _, _, l1, l2, protocol, _, addresses @ ..] = bytes;
    let ([source, destination], _) = addresses.as_chunks::<16>() else {
        return Err(Loss::new("damage", "IPv6 header"));
    };
    walk.source = Ipv6Addr::from(*source).into();
    walk.destination = Ipv6Addr::from(*destination).into();
    if first >> 4 != 6 {
        return Err(Loss::new("damage", "IPv6 header"));
    }
    walk.identification = -1;
    walk.pass(40);
    let (length, mut protocol) = (u16::from_be_bytes([*l1, *l2]), *protocol);
    if length > 0 {
        walk.limit(usize::from(length));
    }
    for _ in 0..MOST_EXTENSIONS {
        match protocol {
            FRAGMENT => {
                let [following, _, high, low, ..] = *walk.peek::<8>("IPv6 extension header")?;
                if u16::from_be_bytes([high, low]) & IS_FRAGMENT_6 != 0 {
                    return Err(Loss::new("fragment", "IPv6 fragment"));
                }
                protocol = following;
                walk.pass(8);
            }
            HOP_BY_HOP | 43 | 60 | 135 | 139 | 140 => {
                let [following, units, ..] = *walk.peek::<8>("IPv6 extension header")?;
                let header = 8 + 8 * usize::from(units);
                if protocol == HOP_BY_HOP && length == 0 {
                    take_jumbo(walk, header);
                }
                protocol = following;
                walk.pass(header);
            }
            _ => return Ok(Next::Protocol(protocol)),
        }
    }
    Err(Loss::new("limit", "more than 16 IPv6 extension headers"))
}

/// The payload length of a jumbogram, from its option.
fn take_jumbo(walk: &mut Walk<'_>, header: usize) {
    let bytes = walk.data.get(walk.position..).unwrap_or_default();
    let mut options = bytes.get(2..header.min(bytes.len())).unwrap_or_default();
    while let [kind, length, value @ ..] = options
        && let Some(value) = value.first_chunk::<4>()
    {
        if *kind == JUMBO && *length == 4 {
            walk.limit(u32::from_be_bytes(*value) as usize);
            return;
        }
        let size = if *kind == 0 { 1 } else { 2 + usize::from(*length) };
        options = options.get(size..).unwrap_or_default();
    }
}

/// RFC 4302: signed and not encrypted.
pub(super) fn authentication(walk: &mut Walk<'_>) -> Step {
    let [following, words, ..] = *walk.peek::<12>("authentication header")?;
    walk.pass(4 * (usize::from(words) + 2));
    Ok(Next::Protocol(following))
}

/// The first 16 bytes of a TCP header; behind the window only its options are of use.
pub(super) struct TcpHeader {
    pub source_port: u16,
    pub destination_port: u16,
    pub sequence: u32,
    pub acknowledgement: u32,
    /// Bytes of the header with its options.
    pub length: usize,
    pub flags: u8,
    pub window: u16,
}

impl TcpHeader {
    #[inline]
    pub fn of(bytes: &[u8; 16]) -> TcpHeader {
        let [s1, s2, d1, d2, n1, n2, n3, n4, a1, a2, a3, a4, offset, flags, w1, w2] = *bytes;
        TcpHeader {
            source_port: u16::from_be_bytes([s1, s2]),
            destination_port: u16::from_be_bytes([d1, d2]),
            sequence: u32::from_be_bytes([n1, n2, n3, n4]),
            acknowledgement: u32::from_be_bytes([a1, a2, a3, a4]),
            length: usize::from(offset >> 4) * 4,
            flags,
            window: u16::from_be_bytes([w1, w2]),
        }
    }

    /// The segment with this header and with what was kept of the `length` bytes of its payload.
    #[inline]
    pub fn segment<'a>(
        &self,
        packet: &Packet,
        payload: &'a [u8],
        length: usize,
        identification: i32,
        window_scale: i8,
    ) -> Segment<'a> {
        Segment {
            time: packet.time,
            number: packet.number,
            payload,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            window: u32::from(self.window),
            identification,
            interface: packet.interface,
            file: packet.file,
            flags: self.flags,
            window_scale,
        }
    }

    /// The scale of the window among the options, -1 without; `bytes` begin with the header, as far as it was kept.
    #[inline]
    pub fn window_scale(&self, bytes: &[u8]) -> i8 {
        if self.flags & SYN == 0 {
            return -1;
        }
        let options = bytes.get(20..self.length.min(bytes.len()));
        options.and_then(window_scale).unwrap_or(-1)
    }
}

/// RFC 9293.
pub(super) fn tcp<'a>(walk: &mut Walk<'a>) -> Result<(Key, Segment<'a>), Loss> {
    let header = TcpHeader::of(walk.peek("TCP header")?);
    let payload = walk.position.saturating_add(header.length);
    if header.length < 20 || payload > walk.end {
        return Err(Loss::new("damage", "TCP header"));
    }
    let kept = walk
        .data
        .get(payload..walk.end.min(walk.data.len()))
        .unwrap_or_default();
    let scale = header.window_scale(walk.data.get(walk.position..).unwrap_or_default());
    let segment = header.segment(&walk.packet, kept, walk.end - payload, walk.identification, scale);
    let (source, destination) = (walk.source, walk.destination);
    let key = Key::new(
        source,
        destination,
        header.source_port,
        header.destination_port,
        &walk.context,
    );
    Ok((key, segment))
}

fn window_scale(mut options: &[u8]) -> Option<i8> {
    while let [kind, length, value @ ..] = options {
        let size = match (*kind, *length, value) {
            (0, ..) => break,
            (1, ..) => 1,
            (WINDOW_SCALE, 3, [scale, ..]) => return Some((*scale).min(MOST_WINDOW_SCALE) as i8),
            _ => usize::from((*length).max(2)),
        };
        options = options.get(size..)?;
    }
    None
}

/// RFC 768.
pub(super) fn udp(walk: &mut Walk<'_>) -> Step {
    let [_, _, p1, p2, l1, l2, _, _] = *walk.peek::<8>("UDP header")?;
    let (port, length) = (u16::from_be_bytes([p1, p2]), u16::from_be_bytes([l1, l2]));
    if length >= 8 {
        walk.limit(usize::from(length));
    }
    match port {
        // Where a tunnel may be, to be told by its header.
        2152 | 4789 | 4790 | 6081 | 6635 | 8472 if walk.has(9) => Ok(Next::Port(port)),
        _ => Ok(Next::Datagram),
    }
}

/// What is no tunnel.
pub(super) fn datagram<'a>(walk: &Walk<'a>) -> Result<Datagram<'a>, Loss> {
    let [s1, s2, d1, d2, ..] = *walk.peek::<8>("UDP header")?;
    Ok(walk.datagram(u16::from_be_bytes([s1, s2]), u16::from_be_bytes([d1, d2])))
}

/// RFC 792 and RFC 4443: errors quote the beginning of the packet that they are about.
pub(super) fn icmp(walk: &mut Walk<'_>, protocol: u8) -> Result<Unreachable, Loss> {
    let (header, other, error) = match protocol {
        ICMP => ("ICMP header", "ICMP", "ICMP error"),
        _ => ("ICMPv6 header", "ICMPv6", "ICMPv6 error"),
    };
    let [kind, code, ..] = *walk.peek::<8>(header)?;
    if !matches!((protocol, kind), (ICMP, 3 | 4 | 11 | 12) | (ICMPV6, 1..=4)) {
        return Err(Loss::not_tcp(other));
    }
    let reporter: IpAddr = walk.source;
    walk.pass(8);
    let ports = quoted(walk).ok_or(Loss::not_tcp(error))?;
    Ok(walk.unreachable(reporter, kind, code, ports))
}

/// The ports of a quoted TCP segment; its addresses become those of the walk.
fn quoted(walk: &mut Walk<'_>) -> Option<(u16, u16)> {
    // A quoted packet is cut and so shorter than its header says; only its first bytes are of use.
    let end = walk.end;
    let next = if walk.rest().first()? >> 4 == 4 {
        ipv4(walk)
    } else {
        ipv6(walk)
    };
    if next != Ok(Next::Protocol(TCP)) {
        return None;
    }
    walk.end = end;
    let [s1, s2, d1, d2] = *walk.rest().first_chunk()?;
    Some((u16::from_be_bytes([s1, s2]), u16::from_be_bytes([d1, d2])))
}
