//! Capture files: bytes in pieces of any size in, packets in the order of time out.

mod account;
mod captures;
mod decompression;
mod interfaces;
#[allow(dead_code)]
mod merge;
mod pcap;
mod pcapng;
#[allow(dead_code)]
mod piece;
mod reader;
mod records;
mod refusal;

pub use account::{Account, LARGEST_PACKET, Window};
pub use captures::{CaptureFile, Captures, FromDisk, Open, Opened, STDIN};
pub use decompression::{Broken, Compression};
pub use interfaces::Interfaces;
pub use piece::{Chunk, PIECE, Piece, Pool};
pub use reader::{CaptureReader, ReaderState, Shared};
pub use refusal::{Refusal, Refused};
