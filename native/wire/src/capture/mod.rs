//! Capture files: bytes in pieces of any size in, packets in the order of time out.

mod account;
mod ahead;
mod captures;
mod decompression;
mod follow;
mod interfaces;
mod merge;
mod pcap;
mod pcapng;
mod piece;
mod reader;
mod records;
mod refusal;
#[cfg(test)]
mod testing;

pub use account::{Account, LARGEST_PACKET, Window};
pub use ahead::Ahead;
pub use captures::{CaptureFile, Captures, FromDisk, Open, Opened, STDIN, begins_as_capture, is_capture};
pub use decompression::{Broken, Compression};
pub use follow::{BEGIN, Following, FollowingState, Found, GrowingFile, Identity};
pub use interfaces::Interfaces;
pub use piece::{Chunk, PIECE, Piece, Pool};
pub use reader::{CaptureReader, ReaderState, Shared};
pub use refusal::{Refusal, Refused};
