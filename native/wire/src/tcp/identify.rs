//! What the first bytes of a stream are: a Kafka request, or who else speaks.
//!
//! Nothing here guesses from ports. A request is believed when its api key and version exist and its body can be what
//! they say, as far as it was captured: protocols that also begin with a length of four bytes are refused that way.

use memchr::memmem;

use super::talk::ascii;
use crate::kafka;
use crate::message::Spoken;

/// No message is larger: brokers refuse requests above 100 MiB, clients may be allowed larger responses.
pub(super) const LARGEST: i32 = 0x0FFF_FFFF;

pub(super) const SMALLEST_REQUEST: i32 = 8;
pub(super) const SMALLEST_RESPONSE: i32 = 4;

const API_VERSIONS: i16 = 18;
const CONTROLLED_SHUTDOWN: i16 = 7;

const PROXY_V2: &[u8; 12] = b"\r\n\r\n\x00\r\nQUIT\n";
const HTTP: [&[u8; 4]; 11] = [
    b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE", b"PATC", b"CONN", b"TRAC", b"PRI ", b"HTTP",
];
const ZOOKEEPER_WORDS: [&[u8; 4]; 10] = [
    b"ruok", b"stat", b"mntr", b"conf", b"cons", b"srvr", b"envi", b"dump", b"isro", b"wchs",
];

/// What the first bytes of a client are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Request,
    /// A GSSAPI token, as was sent before SaslHandshake was invented.
    Token,
    /// More bytes are needed.
    More,
    /// Nothing that is known.
    Other,
    Stranger(Spoken),
}

/// The PROXY protocol header in front of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proxy {
    None,
    /// More bytes are needed.
    More,
    /// Its length.
    Header(usize),
}

/// The beginning of a request; `body` is where its body begins, or its tagged fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub api_key: i16,
    pub api_version: i16,
    pub body: usize,
}

/// The beginning of the bytes, of a size that is known.
pub(super) fn first<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The bytes from one offset to another, as many of them as there are.
pub(super) fn part(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    let to = to.min(bytes.len());
    bytes.get(from..to).unwrap_or(&[])
}

/// The number of an int32 that is no less than 0 as an index.
pub(super) fn index(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Read the beginning of a request from the bytes behind its size field, or `None` where it cannot be one.
pub(super) fn request_head(head: &[u8], size: i32) -> Option<RequestHead> {
    let [k1, k2, v1, v2, ..] = first::<8>(head, 0)?;
    let (api_key, api_version) = (i16::from_be_bytes([k1, k2]), i16::from_be_bytes([v1, v2]));
    if size < SMALLEST_REQUEST || api_key < 0 || api_version < 0 {
        return None;
    }
    let found = |body| {
        Some(RequestHead {
            api_key,
            api_version,
            body,
        })
    };
    if api_key == CONTROLLED_SHUTDOWN && api_version == 0 {
        return found(8);
    }
    if size < 10 {
        return None;
    }
    let Some(length) = first(head, 8).map(i16::from_be_bytes) else {
        return found(10);
    };
    if length < -1 || 10 + i32::from(length) > size {
        return None;
    }
    let end = 10 + index(length.into());
    if is_printable(part(head, 10, end)) {
        found(end)
    } else {
        None
    }
}

/// Whether bytes can be a client id: no control characters.
pub(super) fn is_printable(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte >= 32 && byte != 127)
}

/// Whether bytes behind a size field are the beginning of a request that Kafka knows, its body included.
pub(super) fn is_request(head: &[u8], size: i32) -> bool {
    let Some(RequestHead {
        api_key,
        api_version,
        mut body,
    }) = request_head(head, size)
    else {
        return false;
    };
    if !kafka::is_known(api_key, api_version) {
        return false;
    }
    let Some(&next) = head.get(body) else {
        return true;
    };
    if kafka::header_version(api_key, api_version, true) == Some(2) {
        if next != 0 {
            // No tagged field of a request header is known.
            return next < 8;
        }
        body += 1;
    }
    kafka::fits(
        api_key,
        api_version,
        true,
        part(head, body, head.len()),
        index(size).saturating_sub(body),
    )
}

/// Whether the bytes behind the size field can be the response to a request of this api key and version.
pub(super) fn response_fits(api_key: i16, api_version: i16, head: &[u8], size: i32) -> bool {
    if !kafka::is_known(api_key, api_version) {
        return true;
    }
    let mut body = 4;
    if kafka::header_version(api_key, api_version, false) == Some(1) {
        if head.get(4).is_some_and(|&tags| tags != 0) {
            return false;
        }
        body = 5;
    }
    if head.len() <= body {
        return true;
    }
    let (rest, declared) = (part(head, body, head.len()), index(size).saturating_sub(body));
    kafka::fits(api_key, api_version, false, rest, declared)
        || (api_key == API_VERSIONS && kafka::fits(api_key, 0, false, rest, declared))
}

/// What a client's first bytes are. `whole`: no more of them will come without a hole.
pub(super) fn opening(bytes: &[u8], whole: bool) -> Start {
    if let Some(spoken) = stranger(bytes) {
        return Start::Stranger(spoken);
    }
    let Some(size) = first(bytes, 0).map(i32::from_be_bytes) else {
        return if whole { Start::Other } else { Start::More };
    };
    if !(1..=LARGEST).contains(&size) {
        return Start::Other;
    }
    if bytes.get(4) == Some(&0x60) && is_token(bytes, size) {
        return Start::Token;
    }
    let end = 4 + index(size);
    if !whole && bytes.len() < end.min(128) {
        return Start::More;
    }
    if is_request(part(bytes, 4, end), size) {
        Start::Request
    } else {
        Start::Other
    }
}

/// Whether a PROXY protocol header stands in front of everything.
pub(super) fn proxy_header(bytes: &[u8]) -> Proxy {
    let start = part(bytes, 0, 108);
    if start.is_empty() {
        return Proxy::None;
    }
    if PROXY_V2.starts_with(part(start, 0, 12)) {
        return match first(start, 14).map(u16::from_be_bytes) {
            Some(length) => Proxy::Header(16 + usize::from(length)),
            None => Proxy::More,
        };
    }
    if b"PROXY ".starts_with(part(start, 0, 6)) {
        return match memmem::find(start, b"\r\n") {
            Some(end) => Proxy::Header(end + 2),
            None if start.len() < 108 => Proxy::More,
            None => Proxy::None,
        };
    }
    Proxy::None
}

/// Who else a segment in mid-stream shows: a TLS record of a possible length, or the first line of HTTP.
pub(super) fn stranger_midway(bytes: &[u8]) -> Option<Spoken> {
    if is_tls(bytes) && first(bytes, 3).is_some_and(|length| (1..=18_432).contains(&u16::from_be_bytes(length))) {
        return Some(Spoken::Tls);
    }
    let line = part(bytes, 0, 64);
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    if line.starts_with(b"HTTP/1.") || (is_http(line) && memmem::find(line, b" HTTP/1.").is_some()) {
        return Some(Spoken::Http);
    }
    None
}

/// The length of the first TLS record, as far as it is known.
pub(super) fn tls_length(bytes: &[u8]) -> usize {
    5 + first(bytes, 3).map_or(0, |length| usize::from(u16::from_be_bytes(length)))
}

/// The server name (SNI) of a TLS ClientHello at the beginning of these bytes.
pub(super) fn server_name(hello: &[u8]) -> Option<String> {
    let short = |at| first(hello, at).map(|two| usize::from(u16::from_be_bytes(two)));
    if hello.len() < 44 || hello[0] != 0x16 || hello[5] != 1 {
        return None;
    }
    // Behind the random bytes: session id, cipher suites, compression methods, extensions.
    let mut at = 44 + usize::from(hello[43]);
    at += 2 + short(at)?;
    at += 1 + usize::from(*hello.get(at)?) + 2;
    while let (Some(kind), Some(length)) = (short(at), short(at + 2)) {
        at += 4;
        if kind == 0 {
            let name = hello.get(at + 5..at + 5 + short(at + 3)?)?;
            return if !name.is_empty() && is_printable(name) {
                Some(ascii(name))
            } else {
                None
            };
        }
        at += length;
    }
    None
}

fn stranger(bytes: &[u8]) -> Option<Spoken> {
    if is_tls(bytes) {
        return Some(Spoken::Tls);
    }
    // A ClientHello in the form of SSL 2.
    if let Some([size, _, 1, 3, 0..=4]) = first(bytes, 0)
        && size & 0x80 != 0
    {
        return Some(Spoken::Tls);
    }
    if is_http(bytes) {
        return Some(Spoken::Http);
    }
    if ZOOKEEPER_WORDS.iter().any(|word| bytes.starts_with(*word)) {
        return Some(Spoken::Zookeeper);
    }
    // ConnectRequest: protocol version 0, last zxid, timeout, session id, a password of 16 bytes.
    if bytes.len() >= 28 && matches!(first(bytes, 0), Some([0, 0, 0, 0x2c | 0x2d, 0, 0, 0, 0])) {
        return b"\0\0\0\x10"
            .starts_with(part(bytes, 28, 32))
            .then_some(Spoken::Zookeeper);
    }
    None
}

/// Whether these bytes begin a TLS record.
fn is_tls(bytes: &[u8]) -> bool {
    matches!(first(bytes, 0), Some([0x14..=0x17, 3, 0..=4]))
}

fn is_http(bytes: &[u8]) -> bool {
    HTTP.iter().any(|word| bytes.starts_with(*word))
}

/// Whether a size is followed by a GSSAPI token (a DER sequence of application 0) of just that size.
fn is_token(bytes: &[u8], size: i32) -> bool {
    let Some([length, l1, l2, l3]) = first(bytes, 5) else {
        return false;
    };
    let (l1, l2, l3) = (i32::from(l1), i32::from(l2), i32::from(l3));
    match length {
        0..=0x7f => size == i32::from(length) + 2,
        0x81 => size == l1 + 3,
        0x82 => size == (l1 << 8 | l2) + 4,
        0x83 => size == (l1 << 16 | l2 << 8 | l3) + 5,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_begins_with() {
        let zookeeper = [&[0, 0, 0, 0x2d][..], &[0; 24], &[0, 0, 0, 0x10], &[0; 17]].concat();
        let smpp = b"\0\0\0\x2f\0\0\0\x09\0\0\0\0\0\0\0\x01SMPP3TEST\0secret08\0SUBMIT1\0\0\x01\x01\0";
        let cases: [(&[u8], Start); 9] = [
            (
                b"\0\0\0\x1b\0\x03\0\x01\0\0\0\x01\0\x03app\0\0\0\x01\0\x08topic-00",
                Start::Request,
            ),
            (smpp, Start::Other),
            (b"GET / HTTP/1.1\r\n", Start::Stranger(Spoken::Http)),
            (b"\x16\x03\x01\x02\x00\x01", Start::Stranger(Spoken::Tls)),
            (b"\x80\x2e\x01\x03\x01", Start::Stranger(Spoken::Tls)),
            (b"ruok", Start::Stranger(Spoken::Zookeeper)),
            (&zookeeper, Start::Stranger(Spoken::Zookeeper)),
            (b"\0\0", Start::More),
            (b"SSH-2.0-OpenSSH\r\n", Start::Other),
        ];
        for (bytes, expected) in cases {
            assert_eq!(opening(bytes, bytes.len() > 2), expected, "{bytes:?}");
        }
    }

    #[test]
    fn proxy_headers() {
        assert_eq!(
            proxy_header(b"PROXY TCP4 10.0.0.1 10.0.0.2 40000 9092\r\n\0\0"),
            Proxy::Header(41)
        );
        assert_eq!(
            proxy_header(b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\0\0\0\0"),
            Proxy::Header(28)
        );
        assert_eq!(proxy_header(b"\r\n\r\n\x00\r\nQUIT\n\x21"), Proxy::More);
        assert_eq!(proxy_header(b"PRO"), Proxy::More);
        assert_eq!(
            proxy_header(&[b"PROXY ".as_slice(), &[b' '; 102]].concat()),
            Proxy::None
        );
        assert_eq!(proxy_header(b"\0\0\0\x1b"), Proxy::None);
        assert_eq!(proxy_header(b""), Proxy::None);
    }

    #[test]
    fn tokens_are_known_by_their_length() {
        let framed = |token: &[u8]| [&(token.len() as i32).to_be_bytes(), token].concat();
        let long = |head: &[u8], length: usize| [head, &vec![7; length]].concat();
        for token in [
            long(b"\x60\x20", 32),
            long(b"\x60\x81\x80", 128),
            long(b"\x60\x82\x01\x00", 256),
            long(b"\x60\x83\x01\x00\x00", 65_536),
        ] {
            assert_eq!(opening(&framed(&token), true), Start::Token);
            assert_ne!(opening(&framed(&token[..token.len() - 1]), true), Start::Token);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_at_all(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), size: i32) {
            opening(&bytes, true);
            proxy_header(&bytes);
            stranger_midway(&bytes);
            server_name(&bytes);
            is_request(&bytes, size);
            response_fits(3, 1, &bytes, size);
            let mut hello = bytes;
            if hello.len() > 5 {
                hello[0] = 0x16;
                hello[5] = 1;
            }
            server_name(&hello);
        }
    }
}
