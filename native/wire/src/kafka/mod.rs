//! Kafka's messages: the table of their layouts, and programs made of it that read what a body tells.

mod bodies;
mod fits;
mod headers;
mod machine;
pub mod members;
#[rustfmt::skip]
mod messages;
pub mod payloads;
mod program;
pub mod records;
mod roles;
pub(crate) mod shown;
mod table;
pub mod unpacking;
mod walker;

pub use bodies::Bodies;
pub use fits::fits;
pub use headers::{RequestHeader, ResponseHeader, request_header, response_header};
pub use table::{SMALLEST_RESPONSE, all, api_name, header_version, is_known, least_response, least_size};
pub use walker::{BodyWalker, Passed};

/// So many bytes of a name are told: Kafka's own have at most 249, and one name can stand in every row of a message.
const LONGEST_NAME: usize = 1024;

/// A name, or its beginning and an ellipsis.
pub fn shortened(name: &str) -> compact_str::CompactString {
    if name.len() <= LONGEST_NAME {
        return name.into();
    }
    let end = (0..=LONGEST_NAME)
        .rev()
        .find(|&at| name.is_char_boundary(at))
        .unwrap_or(0);
    compact_str::format_compact!("{}…", &name[..end])
}

/// The same of bytes; those that are no text become U+FFFD.
pub fn shortened_text(name: &[u8]) -> compact_str::CompactString {
    match std::str::from_utf8(name) {
        Ok(name) => shortened(name),
        // Much slower, and rare.
        Err(_) => shortened(&String::from_utf8_lossy(name)),
    }
}

/// So many partitions, topics and addresses of one message that passes by are told.
pub const MOST_ROWS: usize = 50_000;
