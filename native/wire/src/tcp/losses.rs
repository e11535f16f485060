//! What is no message, or not all of one: sums by kind and detail, in the order in which they were noted first.

use serde::{Deserialize, Serialize};

use crate::message::Spoken;

/// Why bytes are no message; see columns `kind` and `detail` of table `losses`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Lost {
    /// In no packet of the capture, inside of a message whose size is known.
    GapInside,
    /// In no packet of the capture, where no message is known.
    GapBetween,
    /// A message that the end of the capture, or of the connection, cut off.
    GapAtEnd,
    /// Cut off by the snap length, inside of a message whose size is known.
    TruncatedInside,
    /// Cut off by the snap length, where no message is known.
    TruncatedBetween,
    /// Passed over until a message was found.
    Resync,
    /// The header of the PROXY protocol in front of everything.
    ProxyHeader,
    Tls,
    Http,
    Zookeeper,
    /// Neither Kafka nor anything else that is known.
    Unknown,
    /// Bare SASL tokens in the frames.
    SaslToken,
    /// So far outside of the window that they belong to something else.
    FarAway,
}

impl Lost {
    /// As the column `kind` has it.
    pub fn kind(self) -> &'static str {
        match self {
            Lost::GapInside | Lost::GapBetween | Lost::GapAtEnd => "gap",
            Lost::TruncatedInside | Lost::TruncatedBetween => "truncated",
            Lost::Resync => "resync",
            Lost::Tls => "tls",
            Lost::ProxyHeader | Lost::Http | Lost::Zookeeper | Lost::Unknown => "other-protocol",
            Lost::SaslToken => "sasl",
            Lost::FarAway => "limit",
        }
    }

    /// As the column `detail` has it.
    pub fn detail(self) -> &'static str {
        match self {
            Lost::GapInside | Lost::TruncatedInside => "inside messages",
            Lost::GapBetween | Lost::TruncatedBetween | Lost::Resync => "between messages",
            Lost::GapAtEnd => "unfinished message at the end",
            Lost::ProxyHeader => "PROXY protocol header",
            Lost::Tls => "tls",
            Lost::Http => "http",
            Lost::Zookeeper => "zookeeper",
            Lost::Unknown => "unknown",
            Lost::SaslToken => "SASL tokens",
            Lost::FarAway => "segments far outside the window",
        }
    }

    /// What all bytes of a connection are that speaks something else than Kafka.
    pub(super) fn to(spoken: Spoken) -> Lost {
        match spoken {
            Spoken::Tls => Lost::Tls,
            Spoken::Http => Lost::Http,
            Spoken::Zookeeper => Lost::Zookeeper,
            Spoken::Kafka | Spoken::None | Spoken::Unknown => Lost::Unknown,
        }
    }
}

/// Bytes of one kind that are no message, or not all of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Which way they travelled; `None` where nobody knows who asks.
    pub is_request: Option<bool>,
    pub lost: Lost,
    pub bytes: u64,
    pub times: u64,
    /// When the first were noted; 0 for [`Lost::FarAway`].
    pub time: i64,
}

/// The sums of one direction; there are as many as there are kinds at most.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Losses {
    sums: Vec<Loss>,
    /// Bytes that the snap length cut off, whatever they were.
    pub truncated_bytes: u64,
}

impl Losses {
    pub fn note(&mut self, lost: Lost, bytes: u64, time: i64) {
        match self.sums.iter_mut().find(|sum| sum.lost == lost) {
            Some(sum) => {
                sum.bytes = sum.bytes.saturating_add(bytes);
                sum.times = sum.times.saturating_add(1);
            }
            None => self.sums.push(Loss {
                is_request: None,
                lost,
                bytes,
                times: 1,
                time,
            }),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.truncated_bytes == 0
    }

    pub fn sums(&self) -> &[Loss] {
        &self.sums
    }
}
