//! Addresses of packets as text.

use std::net::{IpAddr, Ipv6Addr};

use compact_str::{CompactString, format_compact};

/// `10.0.0.1:9092`, `[fe80::1]:9092`; an IPv4-mapped address as IPv4.
pub fn endpoint_text(address: IpAddr, port: u16) -> CompactString {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format_compact!("{a}.{b}.{c}.{d}:{port}")
        }
        IpAddr::V6(address) => format_compact!("[{address}]:{port}"),
    }
}

/// An address of IPv6 as RFC 5952 recommends; an IPv4-mapped one in hexadecimal as well, as answers of name servers
/// have always been shown here.
pub(super) fn version6_text(address: Ipv6Addr) -> CompactString {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xFFFF, high, low] => format_compact!("::ffff:{high:x}:{low:x}"),
        _ => format_compact!("{address}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_its_port() {
        for (address, text) in [
            ("10.0.0.1", "10.0.0.1:9092"),
            ("255.255.255.255", "255.255.255.255:9092"),
            ("fe80::1", "[fe80::1]:9092"),
            ("::1", "[::1]:9092"),
            ("::", "[::]:9092"),
            ("::1.2.3.4", "[::102:304]:9092"),
            ("1:0:0:2:0:0:0:3", "[1:0:0:2::3]:9092"),
            ("1:0:2:0:3:0:4:0", "[1:0:2:0:3:0:4:0]:9092"),
            ("::ffff:172.18.0.2", "172.18.0.2:9092"),
        ] {
            assert_eq!(endpoint_text(address.parse().unwrap(), 9092), text);
        }
    }

    #[test]
    fn an_answer_keeps_its_form() {
        for text in ["fd00::1", "::ffff:ac12:2", "::ffff:0:0", "1:0:0:2::3"] {
            assert_eq!(version6_text(text.parse().unwrap()), text);
        }
    }
}
