//! What the framing of a connection hands to the pairing of requests with responses.

use serde::{Deserialize, Serialize};

/// What a connection speaks, as far as its first bytes tell; the names are those of the column `protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spoken {
    Kafka,
    Tls,
    Http,
    Zookeeper,
    /// Nothing was said.
    None,
    Unknown,
}

impl Spoken {
    /// As the column `protocol` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Spoken::Kafka => "kafka",
            Spoken::Tls => "tls",
            Spoken::Http => "http",
            Spoken::Zookeeper => "zookeeper",
            Spoken::None => "none",
            Spoken::Unknown => "unknown",
        }
    }
}

/// Eats the body of a message that is too large to keep, from its first byte, in pieces of any size.
pub trait Walker {
    /// The next bytes.
    fn feed(&mut self, piece: &[u8]);
    /// The next `count` bytes are not in the capture.
    fn lost(&mut self, count: u64);
}

/// A frame of a Kafka connection.
#[derive(Debug)]
pub struct Message<'a, W> {
    pub is_request: bool,
    /// The size field.
    pub size: u32,
    /// The bytes behind the size field as far as they are there without a hole and are kept; the whole message when
    /// `head.len() == size`.
    pub head: &'a [u8],
    /// Has eaten all of the message where it was too large to keep.
    pub walker: Option<W>,
    pub times: Times,
}

/// When and where a message was: of the packets with the first byte (of the size field) and with the last byte; where
/// the last byte is missing, of the first packet that proves that it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub start_time: i64,
    pub end_time: i64,
    pub start_number: u64,
    pub end_number: u64,
    /// The file of the last byte.
    pub file: u32,
}

/// A message that is not cut out of one segment, as far as it has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Partial<W> {
    pub(crate) buffer: Vec<u8>,
    pub(crate) walker: Option<W>,
    pub(crate) start_time: i64,
    pub(crate) start_number: u64,
    pub(crate) size: u32,
    /// What comes now is behind a hole.
    pub(crate) broken: bool,
    /// Whether a walker eats it was asked.
    pub(crate) decided: bool,
    /// Whether its room is that of a [`Spare`].
    #[serde(skip)]
    is_lent: bool,
}

impl<W> Default for Partial<W> {
    fn default() -> Partial<W> {
        Partial {
            buffer: Vec::new(),
            walker: None,
            start_time: 0,
            start_number: 0,
            size: 0,
            broken: false,
            decided: false,
            is_lent: false,
        }
    }
}

/// Room of messages that were complete, for others. Only few messages have it at a time: where very many connections are
/// in the middle of one, each of the others takes no more than it needs.
#[derive(Debug)]
pub struct Spare<W> {
    #[allow(clippy::vec_box, reason = "they are handed out, and come back")]
    free: Vec<Box<Partial<W>>>,
    lent: usize,
}

impl<W> Default for Spare<W> {
    fn default() -> Spare<W> {
        Spare {
            free: Vec::new(),
            lent: 0,
        }
    }
}

impl<W> Spare<W> {
    const MOST: usize = 32;
    const LARGEST: usize = 65_536;

    /// Room for a message that begins.
    #[inline]
    pub fn take(&mut self) -> Box<Partial<W>> {
        if let Some(partial) = self.free.pop() {
            return partial;
        }
        let mut partial = Box::<Partial<W>>::default();
        if self.lent < Spare::<W>::MOST {
            self.lent += 1;
            partial.is_lent = true;
        }
        partial
    }

    /// Nobody needs what came of a message any longer.
    #[inline]
    pub fn give(&mut self, mut partial: Box<Partial<W>>) {
        // A copy of a connection may give back what only the original was lent.
        if !partial.is_lent || self.free.len() >= Spare::<W>::MOST {
            return;
        }
        let mut buffer = std::mem::take(&mut partial.buffer);
        buffer.clear();
        buffer.shrink_to(Spare::<W>::LARGEST);
        *partial = Partial {
            buffer,
            is_lent: true,
            ..Partial::default()
        };
        self.free.push(partial);
    }
}

/// Takes the messages of one connection in the order in which they were complete.
pub trait MessageSink {
    /// What eats large messages.
    type Walker: Walker;

    /// A frame is complete, or as complete as it will ever be.
    fn message(&mut self, message: Message<'_, Self::Walker>);

    /// Whoever wants to eat a message that is too large to keep, told its size and its first kept bytes.
    ///
    /// The walker is fed from the first byte behind the size field on, those of `head` included.
    fn begin_walk(&mut self, is_request: bool, size: u32, head: &[u8]) -> Option<Self::Walker>;

    /// Where messages that are not cut out of one segment have their room.
    fn spare(&mut self) -> &mut Spare<Self::Walker>;

    /// The first client id that a request showed, as text: what a request found by looking is held against.
    fn client_id(&self) -> Option<&str>;
}
