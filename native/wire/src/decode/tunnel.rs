//! Packets inside of packets: MPLS, PPP, PPPoE, GRE, ERSPAN, VXLAN, Geneve, GTP-U, IP in IP.
//!
//! Only what has the same number in both directions goes into the context; labels of MPLS, tunnels of GTP and sessions
//! of ERSPAN tell a direction or who looked, not a network.

use compact_str::format_compact;

use super::internet::{IPV4, IPV6};
use super::link::{ETHERNET, RAW};
use super::walk::{Loss, Next, Passed, Step, Walk};

pub(super) const TRANSPARENT_ETHERNET: u16 = 0x6558;
pub(super) const MPLS: u16 = 0x8847;
const PPP_IN_GRE: u16 = 0x880B;
const ERSPAN: u16 = 0x88BE;
const ERSPAN_3: u16 = 0x22EB;
const MOST_LABELS: usize = 16;
// Flags of GRE.
const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ACKNOWLEDGEMENT: u16 = 0x0080;
const VERSION: u16 = 0x0007;
// GTP-U: version 1, a packet of a user; which optional fields there are.
const GTP: u8 = 0x30;
const GTP_MASK: u8 = 0xF0;
const GTP_DATA: u8 = 0xFF;
const GTP_OPTIONAL: u8 = 0x07;
const GTP_EXTENDED: u8 = 0x04;

/// The tunnel that may be at a port of UDP; anything else there is just UDP.
pub(super) fn port(walk: &mut Walk<'_>, number: u16) -> Step {
    match number {
        // 8472 is what Linux, and so flannel, takes where nobody says a port.
        4789 | 4790 | 8472 => vxlan(walk),
        6081 => geneve(walk),
        2152 => gtp(walk),
        6635 => {
            // RFC 7510.
            walk.pass(8);
            mpls(walk)
        }
        _ => Ok(Next::Datagram),
    }
}

/// RFC 3032; what follows the last label says nobody, so its first bits must (RFC 4928).
pub(super) fn mpls(walk: &mut Walk<'_>) -> Step {
    let mut labels = 0;
    loop {
        let [_, _, last, _] = *walk.peek::<4>("MPLS label")?;
        walk.pass(4);
        labels += 1;
        if last & 1 != 0 {
            break;
        }
        if labels == MOST_LABELS {
            return Err(Loss::new("limit", "more than 16 MPLS labels"));
        }
    }
    let [first] = *walk.peek::<1>("packet behind MPLS labels")?;
    match first >> 4 {
        0 => {
            // The control word of a pseudowire (RFC 4385).
            walk.pass(4);
            Ok(ETHERNET)
        }
        4 => Ok(Next::EtherType(IPV4)),
        6 => Ok(Next::EtherType(IPV6)),
        _ => Err(Loss::not_tcp("MPLS")),
    }
}

/// RFC 2516, a session.
pub(super) fn pppoe(walk: &mut Walk<'_>) -> Step {
    let [k1, k2, s1, s2, l1, l2] = *walk.peek::<6>("PPPoE header")?;
    if [k1, k2] != [0x11, 0x00] {
        return Err(Loss::not_tcp("PPPoE discovery"));
    }
    walk.pass(6);
    walk.limit(usize::from(u16::from_be_bytes([l1, l2])));
    walk.pass_through(Passed::Pppoe, u32::from(u16::from_be_bytes([s1, s2])));
    Ok(Next::Ppp(0))
}

/// RFC 1661; address and control, and the first byte of the protocol, may be left out. Or Cisco's HDLC.
pub(super) fn ppp(walk: &mut Walk<'_>) -> Step {
    let [a, b, c, d] = *walk.peek::<4>("PPP header")?;
    let second = u16::from_be_bytes([c, d]);
    let protocol = match [a, b] {
        [0x0F | 0x8F, 0x00] => {
            walk.pass(4);
            return Ok(Next::EtherType(second));
        }
        [0xFF, 0x03] => {
            walk.pass(2);
            second
        }
        first => u16::from_be_bytes(first),
    };
    let short = protocol >> 8;
    if short & 1 != 0 {
        walk.pass(1);
        return Ok(Next::Ppp(short));
    }
    walk.pass(2);
    Ok(Next::Ppp(protocol))
}

/// RFC 2784 with 2890; version 1 is that of PPTP (RFC 2637).
pub(super) fn gre(walk: &mut Walk<'_>) -> Step {
    let [f1, f2, p1, p2] = *walk.peek::<4>("GRE header")?;
    let (flags, protocol) = (u16::from_be_bytes([f1, f2]), u16::from_be_bytes([p1, p2]));
    let (version, has) = (flags & VERSION, |flag: u16| flags & flag != 0);
    if has(ROUTING) {
        return Err(Loss::not_tcp("GRE with routing"));
    }
    if version > 1 {
        return Err(Loss {
            kind: "not-tcp",
            detail: format_compact!("GRE of version {version}"),
        });
    }
    let word = |is_there: bool| if is_there { 4 } else { 0 };
    let key_at = 4 + word(has(CHECKSUM));
    let header = key_at + word(has(KEY)) + word(has(SEQUENCE)) + word(version != 0 && has(ACKNOWLEDGEMENT));
    let rest = walk.rest();
    if rest.len() < header {
        return Err(walk.short("GRE header"));
    }
    let key = rest
        .get(key_at..)
        .and_then(|bytes| bytes.first_chunk().copied())
        .filter(|_| has(KEY));
    let key = key.map_or(0, u32::from_be_bytes);
    walk.pass(header);
    if let ERSPAN | ERSPAN_3 = protocol {
        return erspan(walk, protocol, has(SEQUENCE));
    }
    if key != 0 && version == 0 {
        // The last byte of NVGRE tells flows apart (RFC 7637).
        let is_nvgre = protocol == TRANSPARENT_ETHERNET && !has(SEQUENCE);
        walk.pass_through(Passed::Gre, if is_nvgre { key >> 8 } else { key });
    }
    Ok(match protocol {
        PPP_IN_GRE => Next::Ppp(0),
        _ => Next::EtherType(protocol),
    })
}

/// draft-foschiano-erspan: type I has no header of its own, and GRE without sequence numbers tells it.
fn erspan(walk: &mut Walk<'_>, protocol: u16, has_sequence: bool) -> Step {
    let (header, next) = match (protocol, walk.rest().first_chunk::<12>()) {
        (ERSPAN, _) => (if has_sequence { 8 } else { 0 }, ETHERNET),
        (_, Some([.., kind, flags])) => {
            let next = match kind >> 2 & 0x1F {
                0 => ETHERNET,
                2 => RAW,
                kind => {
                    return Err(Loss {
                        kind: "not-tcp",
                        detail: format_compact!("ERSPAN of frame type {kind}"),
                    });
                }
            };
            (if flags & 1 != 0 { 20 } else { 12 }, next)
        }
        (_, None) => (12, ETHERNET),
    };
    if !walk.has(header) {
        return Err(walk.short("ERSPAN header"));
    }
    walk.pass(header);
    Ok(next)
}

/// RFC 7348, with the bits of VXLAN-GBP and VXLAN-GPE; anything else at its port is just UDP.
fn vxlan(walk: &mut Walk<'_>) -> Step {
    let Some(&[_, _, _, _, _, _, _, _, flags, _, _, holds, n1, n2, n3, _]) = walk.rest().first_chunk::<16>() else {
        return Ok(Next::Datagram);
    };
    // What VXLAN-GPE says that it holds.
    let inner = match (flags & 0x04 != 0, holds) {
        (false, _) | (true, 3) => ETHERNET,
        (true, 1) => Next::EtherType(IPV4),
        (true, 2) => Next::EtherType(IPV6),
        (true, 5) => Next::EtherType(MPLS),
        _ => return Ok(Next::Datagram),
    };
    if flags & 0x7B != 0x08 {
        return Ok(Next::Datagram);
    }
    walk.pass_through(Passed::Vxlan, u32::from_be_bytes([0, n1, n2, n3]));
    walk.pass(16);
    Ok(inner)
}

/// RFC 8926.
fn geneve(walk: &mut Walk<'_>) -> Step {
    let (first, p1, p2, n1, n2, n3) = match walk.rest().first_chunk::<16>() {
        Some(&[_, _, _, _, _, _, _, _, first, _, p1, p2, n1, n2, n3, _]) if first >> 6 == 0 => {
            (first, p1, p2, n1, n2, n3)
        }
        _ => return Ok(Next::Datagram),
    };
    let header = 16 + 4 * usize::from(first & 0x3F);
    if !walk.has(header) {
        return Err(walk.short("Geneve header"));
    }
    walk.pass_through(Passed::Geneve, u32::from_be_bytes([0, n1, n2, n3]));
    walk.pass(header);
    Ok(Next::EtherType(u16::from_be_bytes([p1, p2])))
}

/// 3GPP TS 29.281.
fn gtp(walk: &mut Walk<'_>) -> Step {
    let flags = match walk.rest().first_chunk::<16>() {
        Some(&[_, _, _, _, _, _, _, _, flags, kind, ..]) if flags & GTP_MASK == GTP && kind == GTP_DATA => flags,
        _ => return Ok(Next::Datagram),
    };
    walk.pass(16);
    if flags & GTP_OPTIONAL != 0 {
        let [_, _, _, following] = *walk.peek::<4>("GTP header")?;
        walk.pass(4);
        let mut extension = if flags & GTP_EXTENDED != 0 { following } else { 0 };
        for _ in 0..MOST_LABELS {
            if extension == 0 {
                break;
            }
            let rest = walk.rest();
            let size = 4 * usize::from(rest.first().copied().unwrap_or_default());
            extension = match rest.get(..size).and_then(<[u8]>::last) {
                Some(following) => *following,
                None => return Err(walk.short("GTP extension header")),
            };
            walk.pass(size);
        }
    }
    Ok(RAW)
}

/// RFC 3378.
pub(super) fn ether_ip(walk: &mut Walk<'_>) -> Step {
    walk.peek::<2>("EtherIP header")?;
    walk.pass(2);
    Ok(ETHERNET)
}

/// IEEE 802.1ah: a whole frame behind a service number.
pub(super) fn backbone(walk: &mut Walk<'_>) -> Step {
    walk.peek::<4>("802.1ah tag")?;
    walk.pass(4);
    Ok(ETHERNET)
}
