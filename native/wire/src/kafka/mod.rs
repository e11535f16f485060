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
mod table;
pub mod unpacking;
mod walker;

pub use bodies::Bodies;
pub use fits::fits;
pub use headers::{RequestHeader, ResponseHeader, request_header, response_header};
pub use table::{SMALLEST_RESPONSE, api_name, header_version, is_known, least_response, least_size};
pub use walker::{BodyWalker, Passed};

/// So many partitions, topics and addresses of one message that passes by are told.
pub const MOST_ROWS: usize = 50_000;
