//! Packets of the usual shape, read in one go: Ethernet or Linux cooked, perhaps one VLAN, IPv4 without options or
//! IPv6 without extensions, whole, with TCP. What comes out is what the walk from layer to layer gives.

use std::net::Ipv6Addr;

use super::Key;
use super::internet::{IPV4, IPV6, IS_FRAGMENT, TCP, TcpHeader};
use super::link::LINUX_COOKED_2;
use super::walk::Passed;
use crate::packet::{Packet, Segment};

/// The first byte of an IPv4 header without options.
const WITHOUT_OPTIONS: u8 = 0x45;

/// The segment of a packet of this shape; None where the packet is of another one.
#[inline(always)]
pub(super) fn segment<'a>(packet: &Packet, data: &'a [u8]) -> Option<(Key, Segment<'a>)> {
    let (ethertype, rest) = match packet.link_type {
        1 => {
            let ([.., high, low], rest) = data.split_first_chunk::<14>()?;
            (u16::from_be_bytes([*high, *low]), rest)
        }
        113 => {
            let ([.., high, low], rest) = data.split_first_chunk::<16>()?;
            (u16::from_be_bytes([*high, *low]), rest)
        }
        LINUX_COOKED_2 => {
            let ([high, low, ..], rest) = data.split_first_chunk::<20>()?;
            (u16::from_be_bytes([*high, *low]), rest)
        }
        _ => return None,
    };
    if ethertype == IPV4 {
        let room = data.len().max(packet.length as usize) - (data.len() - rest.len());
        return version4(packet, rest, room, &[]);
    }
    other(packet, data, ethertype, rest)
}

/// What is no IPv4 right behind the header of its link.
#[inline(never)]
fn other<'a>(packet: &Packet, data: &'a [u8], mut ethertype: u16, mut rest: &'a [u8]) -> Option<(Key, Segment<'a>)> {
    let mut vlan = 0;
    if ethertype == 0x8100 {
        let ([a, b, c, d], behind) = rest.split_first_chunk()?;
        vlan = u16::from_be_bytes([*a, *b]) & 0xFFF;
        (ethertype, rest) = (u16::from_be_bytes([*c, *d]), behind);
    }
    // Of what the frame held on the wire, from here on.
    let room = data.len().max(packet.length as usize) - (data.len() - rest.len());
    let [high, low] = vlan.to_be_bytes();
    let tag = [Passed::Vlan as u8, 0, 0, high, low];
    let context = if vlan == 0 { &[][..] } else { &tag };
    match ethertype {
        IPV4 => version4(packet, rest, room, context),
        IPV6 => version6(packet, rest, room, context),
        _ => None,
    }
}

#[inline(always)]
fn version4<'a>(packet: &Packet, rest: &'a [u8], room: usize, context: &[u8]) -> Option<(Key, Segment<'a>)> {
    let (ip, behind) = rest.split_first_chunk::<20>()?;
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
    ] = *ip;
    let total = usize::from(u16::from_be_bytes([t1, t2]));
    let is_plain = first == WITHOUT_OPTIONS && protocol == TCP && u16::from_be_bytes([f1, f2]) & IS_FRAGMENT == 0;
    let header = TcpHeader::of(behind.first_chunk()?);
    let payload = 20 + header.length;
    if !is_plain || header.length < 20 || total < payload || total > room {
        return None;
    }
    let (source, destination) = ([s1, s2, s3, s4], [d1, d2, d3, d4]);
    let (source_port, destination_port) = (header.source_port, header.destination_port);
    let key = if context.is_empty() {
        let (source, destination) = (u32::from_be_bytes(source), u32::from_be_bytes(destination));
        Key::version4(source, destination, source_port, destination_port)
    } else {
        Key::new(
            source.into(),
            destination.into(),
            source_port,
            destination_port,
            context,
        )
    };
    let kept = rest.get(payload..total.min(rest.len())).unwrap_or_default();
    let identification = i32::from(u16::from_be_bytes([i1, i2]));
    let scale = header.window_scale(behind);
    Some((
        key,
        header.segment(packet, kept, total - payload, identification, scale),
    ))
}

#[inline(never)]
fn version6<'a>(packet: &Packet, rest: &'a [u8], room: usize, context: &[u8]) -> Option<(Key, Segment<'a>)> {
    let (ip, behind) = rest.split_first_chunk::<40>()?;
    let [first, _, _, _, l1, l2, protocol, _, addresses @ ..] = ip;
    let ([source, destination], _) = addresses.as_chunks::<16>() else {
        return None;
    };
    let total = usize::from(u16::from_be_bytes([*l1, *l2]));
    let header = TcpHeader::of(behind.first_chunk()?);
    if first >> 4 != 6 || *protocol != TCP || header.length < 20 || total < header.length || 40 + total > room {
        return None;
    }
    let (source, destination) = (Ipv6Addr::from(*source), Ipv6Addr::from(*destination));
    let (source_port, destination_port) = (header.source_port, header.destination_port);
    let key = Key::new(
        source.into(),
        destination.into(),
        source_port,
        destination_port,
        context,
    );
    let kept = behind.get(header.length..total.min(behind.len())).unwrap_or_default();
    let scale = header.window_scale(behind);
    Some((key, header.segment(packet, kept, total - header.length, -1, scale)))
}
