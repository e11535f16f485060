//! Kafka's messages: the table of their layouts, and programs made of it that read what a body tells.

mod fits;
mod headers;
pub mod members;
#[rustfmt::skip]
mod messages;
pub mod payloads;
pub mod records;
mod table;
pub mod unpacking;

pub use fits::fits;
pub use headers::{RequestHeader, ResponseHeader, request_header, response_header};
pub use table::{SMALLEST_RESPONSE, api_name, header_version, is_known, least_response, least_size};
