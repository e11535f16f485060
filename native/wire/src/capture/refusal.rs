//! Why a file cannot be read as a capture, in the words that people are told.

use std::error::Error;
use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use super::decompression::{Broken, MOST_TIMES};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// Nothing is in it.
    Empty,
    /// It ends before it could say what it is.
    Short,
    /// It begins with these bytes, which no capture does.
    Other([u8; 4]),
    /// A pcap file of a version that nobody writes.
    Version { major: u16, minor: u16 },
    /// A compressed stream that shrank as no capture does.
    Bomb,
    /// A compressed stream that needs too much memory.
    Window,
    /// A compressed stream that breaks before any capture is in it.
    Broken(Broken),
    /// The system does not let it be read: why, and whether there is nothing under this name.
    Unreadable { reason: String, is_missing: bool },
}

impl Refusal {
    /// What to do about it, if there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Refusal::Other(_) => Some("give a file in the format pcap or pcapng"),
            Refusal::Window => Some("unpack it with zstd -d"),
            Refusal::Unreadable { is_missing: true, .. } => Some("check the path"),
            Refusal::Empty
            | Refusal::Short
            | Refusal::Version { .. }
            | Refusal::Bomb
            | Refusal::Broken(_)
            | Refusal::Unreadable { .. } => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Empty => to.write_str("is empty"),
            Refusal::Short => to.write_str("is not a packet capture"),
            Refusal::Other([a, b, c, d]) => {
                write!(
                    to,
                    "is not a packet capture: it begins with {a:02x} {b:02x} {c:02x} {d:02x}"
                )
            }
            Refusal::Version { major, minor } => {
                write!(to, "is a pcap file of version {major}.{minor}, which nobody writes")
            }
            Refusal::Bomb => write!(to, "holds more than {MOST_TIMES} times its size, which no capture does"),
            Refusal::Window => to.write_str("needs more than 128 MiB to decompress"),
            Refusal::Broken(broken) => broken.fmt(to),
            Refusal::Unreadable { reason, .. } => to.write_str(reason),
        }
    }
}

impl Error for Refusal {}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        // The words of the system, without its number.
        let said = error.to_string();
        let words = said.split(" (os error").next().unwrap_or_default();
        let mut letters = words.chars();
        let reason = letters
            .next()
            .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect());
        Refusal::Unreadable {
            reason,
            is_missing: error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// A file that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its index in the list of files that are read together.
    pub file: u32,
    /// As it was named.
    pub name: String,
    pub why: Refusal,
}

impl fmt::Display for Refused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.name, self.why)
    }
}

impl Error for Refused {}
