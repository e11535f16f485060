//! The header of a request or a response, from as many of its bytes as a capture kept.
//!
//! A header is read even where the body behind it cannot be: of an unknown api key or version the first eight bytes
//! mean the same, and the client id stands at the same place since Kafka 0.8. Sources: RequestHeader.json,
//! ResponseHeader.json, KIP-482 (tagged fields), KIP-511 (an ApiVersions response always has header 0).

use super::table::{CONTROLLED_SHUTDOWN, header_version};

/// What is there of a request header; `None` where the bytes end before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHeader<'a> {
    pub api_key: Option<i16>,
    pub api_version: Option<i16>,
    pub correlation_id: Option<i32>,
    pub client_id: Option<&'a [u8]>,
    /// Where the body begins; `None` where that is not known (unknown api key or version) or not there.
    pub body: Option<usize>,
    /// Whether the table has a layout for the body.
    pub known: bool,
}

/// What is there of a response header; `body` as in [`RequestHeader`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseHeader {
    pub correlation_id: Option<i32>,
    pub body: Option<usize>,
}

/// Reads the header of a request of `size` bytes, of which `head` was kept (both without the size field).
pub fn request_header(head: &[u8], size: u32) -> RequestHeader<'_> {
    let api_key = int16(head, 0);
    let api_version = int16(head, 2);
    let correlation_id = int32(head, 4);
    let version = api_key
        .zip(api_version)
        .and_then(|(key, version)| header_version(key, version, true));
    let known = version.is_some();
    let header = RequestHeader {
        api_key,
        api_version,
        correlation_id,
        client_id: None,
        body: None,
        known,
    };
    if version == Some(0) && api_key == Some(CONTROLLED_SHUTDOWN) {
        let body = (head.len() >= 8 && size >= 8).then_some(8);
        return RequestHeader { body, ..header };
    }
    let Some(length) = int16(head, 8) else { return header };
    let end = 10 + usize::try_from(length).unwrap_or(0);
    let client_id = head.get(10..end).filter(|_| length >= 0);
    let body = match version {
        Some(version) if length >= -1 && end <= head.len() => {
            if version == 1 {
                Some(end)
            } else {
                behind_tags(head, end)
            }
        }
        _ => None,
    };
    RequestHeader {
        client_id,
        body,
        ..header
    }
}

/// Reads the header of the response to a request of this api key and version.
pub fn response_header(head: &[u8], api_key: i16, api_version: i16) -> ResponseHeader {
    let correlation_id = int32(head, 0);
    let body = correlation_id.and_then(|_| match header_version(api_key, api_version, false)? {
        0 => Some(4),
        _ => behind_tags(head, 4),
    });
    ResponseHeader { correlation_id, body }
}

/// Where the tagged fields that begin here end; `None` where they do not end in the head.
fn behind_tags(head: &[u8], start: usize) -> Option<usize> {
    let (count, mut at) = varint(head, start)?;
    if count > head.len() as u64 {
        return None;
    }
    for _ in 0..count {
        let (_, behind) = varint(head, at)?;
        let (size, behind) = varint(head, behind)?;
        at = behind
            .checked_add(usize::try_from(size).ok()?)
            .filter(|&end| end <= head.len())?;
    }
    Some(at)
}

/// An unsigned varint of at most five bytes, with where it ends.
fn varint(head: &[u8], start: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for (index, &byte) in head.get(start..)?.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((value, start + index + 1));
        }
    }
    None
}

fn int16(head: &[u8], at: usize) -> Option<i16> {
    head.get(at..)?.first_chunk().map(|bytes| i16::from_be_bytes(*bytes))
}

fn int32(head: &[u8], at: usize) -> Option<i32> {
    head.get(at..)?.first_chunk().map(|bytes| i32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(api_key: i16, api_version: i16, client_id: &[u8], rest: &[u8]) -> Vec<u8> {
        let mut out = [api_key.to_be_bytes(), api_version.to_be_bytes()].concat();
        out.extend((-7i32).to_be_bytes());
        out.extend((client_id.len() as i16).to_be_bytes());
        out.extend(client_id);
        out.extend(rest);
        out
    }

    #[test]
    fn whole_headers() {
        for client_id in ["", "c", "consumer-1", "ä語"] {
            for (key, version, tags) in [
                (3, 1, b"".as_slice()),
                (3, 12, b"\0"),
                (3, 12, b"\x02\x00\x03abc\x81\x01\x00"),
            ] {
                let head = request(key, version, client_id.as_bytes(), &[tags, b"body"].concat());
                let expected = RequestHeader {
                    api_key: Some(key),
                    api_version: Some(version),
                    correlation_id: Some(-7),
                    client_id: Some(client_id.as_bytes()),
                    body: Some(head.len() - 4),
                    known: true,
                };
                assert_eq!(request_header(&head, head.len() as u32), expected);
            }
        }
        let oldest = request_header(b"\x00\x07\x00\x00\x00\x00\x00\x05\x00\x01a", 11);
        assert_eq!((oldest.client_id, oldest.body, oldest.known), (None, Some(8), true));
    }

    #[test]
    fn a_header_that_is_cut_gives_what_is_there() {
        for (key, version, known) in [(3, 12, true), (3, 1, true), (900, 3, false), (1, 99, false)] {
            let head = request(key, version, b"client", b"\0rest");
            let whole = request_header(&head, head.len() as u32);
            assert_eq!((whole.body.is_some(), whole.known), (known, known));
            for length in 0..head.len() {
                let found = request_header(&head[..length], head.len() as u32);
                assert_eq!(found.api_key, (length >= 2).then_some(key));
                assert_eq!(found.api_version, (length >= 4).then_some(version));
                assert_eq!(found.correlation_id, (length >= 8).then_some(-7));
                assert_eq!(found.client_id, (length >= 16).then_some(&b"client"[..]));
                assert_eq!(found.body, whole.body.filter(|&body| length >= body));
            }
        }
    }

    #[test]
    fn a_client_id_that_cannot_be_one_is_none() {
        for length in [-2i16, 100] {
            let mut head = request(3, 1, b"abc", b"");
            head[8..10].copy_from_slice(&length.to_be_bytes());
            let found = request_header(&head, head.len() as u32);
            assert_eq!(
                (found.correlation_id, found.client_id, found.body),
                (Some(-7), None, None)
            );
        }
        let null = request_header(b"\x00\x03\x00\x01\x00\x00\x00\x05\xff\xff", 10);
        assert_eq!((null.client_id, null.body), (None, Some(10)));
    }

    #[test]
    fn responses() {
        let known: [(&[u8], i16, i16, Option<usize>); 7] = [
            (b"\0\0\0\x05", 3, 12, None),
            (b"\0\0\0\x05\0", 3, 12, Some(5)),
            (b"\0\0\0\x05", 3, 1, Some(4)),
            (b"\0\0\0\x05\0", 3, 99, None),
            (b"\0\0\0\x05\0", 18, 3, Some(4)),
            (b"\0\0\0\x05\x02\x00\x03abc\x81\x01\x00body", 3, 12, Some(13)),
            (b"\0\0\0\x05\x02\x00\x03abc\x81\x01", 3, 12, None),
        ];
        assert_eq!(response_header(b"\0\0\0", 3, 12), ResponseHeader::default());
        for (head, key, version, body) in known {
            let expected = ResponseHeader {
                correlation_id: Some(5),
                body,
            };
            assert_eq!(response_header(head, key, version), expected, "{head:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_a_header(head: Vec<u8>, key in 0i16..100, version in 0i16..15, size: u32) {
            let mut head = head;
            for start in [Vec::new(), [key.to_be_bytes(), version.to_be_bytes()].concat()] {
                head.splice(..0, start);
                assert!(request_header(&head, size).body.is_none_or(|body| body <= head.len()));
                assert!(response_header(&head, key, version).body.is_none_or(|body| body <= head.len()));
            }
        }
    }
}
