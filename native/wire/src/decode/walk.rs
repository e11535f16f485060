//! The way through the headers of one packet: where it is, what it passed, what comes next.

use std::net::{IpAddr, Ipv4Addr};

use compact_str::{CompactString, format_compact};

use super::{Decoded, internet, link, tunnel};
use crate::packet::{Context, Datagram, Packet, Unreachable};

const MOST_LAYERS: usize = 40;

/// What comes next, in the numbers of each registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A link-layer header type.
    Link(u16),
    EtherType(u16),
    /// A protocol of IP.
    Protocol(u8),
    /// A port of UDP where a tunnel may be; the header of UDP was checked and not passed.
    Port(u16),
    /// A protocol of PPP, whose number 0 stands for the header of PPP itself.
    Ppp(u16),
    /// A UDP datagram that is no tunnel, and so the end; its header was checked and not passed.
    Datagram,
}

/// What the entries of a context are about.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Passed {
    Vlan = b'v',
    Gre = b'g',
    Vxlan = b'x',
    Geneve = b'n',
    Pppoe = b'p',
}

/// The way ends without a segment: the kind of loss and a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub kind: &'static str,
    pub detail: CompactString,
}

impl Loss {
    pub fn new(kind: &'static str, detail: &'static str) -> Loss {
        Loss {
            kind,
            detail: CompactString::const_new(detail),
        }
    }

    pub fn not_tcp(detail: &'static str) -> Loss {
        Loss::new("not-tcp", detail)
    }
}

/// A layer reads its header at `position`, moves on and names the next one, or ends the way.
pub(super) type Step = Result<Next, Loss>;

pub(super) struct Walk<'a> {
    pub packet: Packet,
    pub data: &'a [u8],
    pub position: usize,
    /// Where what the layer holds ends on the wire, perhaps behind the end of `data`.
    pub end: usize,
    /// Of each VLAN and tunnel that has a number, outermost first.
    pub context: Context,
    pub source: IpAddr,
    pub destination: IpAddr,
    /// Of the last IPv4 header, else -1.
    pub identification: i32,
}

impl<'a> Walk<'a> {
    pub fn new(packet: &Packet, data: &'a [u8]) -> Walk<'a> {
        Walk {
            packet: *packet,
            data,
            position: 0,
            end: data.len().max(packet.length as usize),
            context: Context::new(),
            source: Ipv4Addr::UNSPECIFIED.into(),
            destination: Ipv4Addr::UNSPECIFIED.into(),
            identification: -1,
        }
    }

    /// Goes the whole way.
    pub fn decode(mut self) -> Decoded<'a> {
        self.go().unwrap_or_else(|Loss { kind, detail }| Decoded::Undecoded {
            kind,
            detail,
            bytes: self.data.len() as u64,
        })
    }

    fn go(&mut self) -> Result<Decoded<'a>, Loss> {
        let mut next = Next::Link(self.packet.link_type);
        for _ in 0..MOST_LAYERS {
            next = match next {
                Next::Link(number) => link::link(self, number)?,
                Next::EtherType(number) => ethertype(self, number)?,
                Next::Protocol(internet::TCP) => {
                    let (key, segment) = internet::tcp(self)?;
                    return Ok(Decoded::Segment { key, segment });
                }
                Next::Protocol(number @ (internet::ICMP | internet::ICMPV6)) => {
                    return internet::icmp(self, number).map(Decoded::Unreachable);
                }
                Next::Protocol(number) => protocol(self, number)?,
                Next::Port(number) => tunnel::port(self, number)?,
                Next::Ppp(number) => ppp(self, number)?,
                Next::Datagram => Next::Datagram,
            };
            if next == Next::Datagram {
                return internet::datagram(self).map(Decoded::Datagram);
            }
        }
        Err(Loss::new("limit", "more than 40 headers"))
    }

    /// What is there of this layer.
    pub fn rest(&self) -> &'a [u8] {
        let end = self.end.min(self.data.len());
        self.data.get(self.position..end).unwrap_or_default()
    }

    /// Whether the next `count` bytes are there and belong to this layer.
    pub fn has(&self, count: usize) -> bool {
        self.position.saturating_add(count) <= self.end.min(self.data.len())
    }

    /// The next `N` bytes, which stay where they are; without them the packet is too short for `what`.
    #[inline]
    pub fn peek<const N: usize>(&self, what: &'static str) -> Result<&'a [u8; N], Loss> {
        self.rest().first_chunk().ok_or_else(|| self.short(what))
    }

    /// Moves on.
    pub fn pass(&mut self, count: usize) {
        self.position = self.position.saturating_add(count);
    }

    /// What the layer holds ends at most `count` bytes from here.
    pub fn limit(&mut self, count: usize) {
        self.end = self.end.min(self.position.saturating_add(count));
    }

    /// The header does not fit: the capture has cut it off, or the packet is too short for it.
    pub fn short(&self, what: &'static str) -> Loss {
        Loss::new(
            if self.data.len() < self.end {
                "truncated"
            } else {
                "damage"
            },
            what,
        )
    }

    /// Remembers a VLAN or tunnel.
    pub fn pass_through(&mut self, passed: Passed, number: u32) {
        self.context.push(passed as u8);
        self.context.extend_from_slice(&number.to_be_bytes());
    }

    /// The datagram with these ports and its payload behind a header of 8 bytes.
    pub fn datagram(&self, source_port: u16, destination_port: u16) -> Datagram<'a> {
        Datagram {
            time: self.packet.time,
            number: self.packet.number,
            source: self.source,
            destination: self.destination,
            source_port,
            destination_port,
            payload: self.rest().get(8..).unwrap_or_default(),
            interface: self.packet.interface,
            file: self.packet.file,
        }
    }

    /// The error of this type and code that `reporter` sends about a segment with the addresses of the walk.
    pub fn unreachable(&self, reporter: IpAddr, kind: u8, code: u8, ports: (u16, u16)) -> Unreachable {
        Unreachable {
            time: self.packet.time,
            number: self.packet.number,
            reporter,
            source: self.source,
            destination: self.destination,
            source_port: ports.0,
            destination_port: ports.1,
            kind,
            code,
            file: self.packet.file,
        }
    }
}

fn ethertype(walk: &mut Walk<'_>, number: u16) -> Step {
    match number {
        internet::IPV4 => internet::ipv4(walk),
        internet::IPV6 => internet::ipv6(walk),
        0x8100 | 0x88A8 | 0x9100 | 0x9200 => link::vlan(walk),
        tunnel::TRANSPARENT_ETHERNET => Ok(link::ETHERNET),
        tunnel::MPLS | 0x8848 => tunnel::mpls(walk),
        0x8864 => tunnel::pppoe(walk),
        0x88E7 => tunnel::backbone(walk),
        0x0806 => Err(Loss::not_tcp("ARP")),
        0x88CC => Err(Loss::not_tcp("LLDP")),
        _ => Err(Loss {
            kind: "not-tcp",
            detail: format_compact!("EtherType 0x{number:04x}"),
        }),
    }
}

fn protocol(walk: &mut Walk<'_>, number: u8) -> Step {
    match number {
        17 => internet::udp(walk),
        4 => Ok(Next::EtherType(internet::IPV4)),
        41 => Ok(Next::EtherType(internet::IPV6)),
        47 => tunnel::gre(walk),
        51 => internet::authentication(walk),
        97 => tunnel::ether_ip(walk),
        137 => tunnel::mpls(walk),
        2 => Err(Loss::not_tcp("IGMP")),
        50 => Err(Loss::not_tcp("ESP")),
        89 => Err(Loss::not_tcp("OSPF")),
        103 => Err(Loss::not_tcp("PIM")),
        112 => Err(Loss::not_tcp("VRRP")),
        132 => Err(Loss::not_tcp("SCTP")),
        _ => Err(Loss {
            kind: "not-tcp",
            detail: format_compact!("IP protocol {number}"),
        }),
    }
}

fn ppp(walk: &mut Walk<'_>, number: u16) -> Step {
    match number {
        0 => tunnel::ppp(walk),
        0x21 => Ok(Next::EtherType(internet::IPV4)),
        0x57 => Ok(Next::EtherType(internet::IPV6)),
        0x281 => tunnel::mpls(walk),
        _ => Err(Loss {
            kind: "not-tcp",
            detail: format_compact!("PPP protocol 0x{number:04x}"),
        }),
    }
}
