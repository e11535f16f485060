//! Which topic an id means (KIP-516), as far as the capture has told it.
//!
//! Newer versions of Fetch, Produce and OffsetCommit name topics by id only; Metadata and others tell both. Rows are
//! given away as they come, so a row may carry an id whose name is told later.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use compact_str::CompactString;
use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};

use crate::facts::Topic;

/// So many ids are remembered.
const MOST: usize = 200_000;
/// The metadata log of KRaft has the same id everywhere (Uuid.METADATA_TOPIC_ID), and no message names it.
const METADATA: ([u8; 16], CompactString) = (
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    CompactString::const_new("__cluster_metadata"),
);

/// Ids and names of one capture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Topics {
    names: HashMap<[u8; 16], CompactString>,
}

impl Default for Topics {
    fn default() -> Topics {
        let mut names = HashMap::new();
        names.extend([METADATA]);
        Topics { names }
    }
}

impl Topics {
    /// Remembers what a message tells; an id means the same topic for ever.
    pub fn learn(&mut self, pairs: &[([u8; 16], CompactString)]) {
        for (id, name) in pairs {
            if self.names.len() <= MOST {
                self.names.entry(*id).or_insert_with(|| name.clone());
            }
        }
    }

    /// The name of a topic, its id where the name is not known.
    pub fn shown<'a>(&'a self, topic: &'a Topic) -> Cow<'a, str> {
        match topic {
            Topic::Name(name) => Cow::Borrowed(name),
            Topic::Id(id) => match self.name(id) {
                Some(name) if !name.is_empty() => Cow::Borrowed(name),
                _ => Cow::Owned(id_text(id).into()),
            },
        }
    }

    /// Name and id of a topic, as far as they are known.
    pub fn both<'a>(&'a self, topic: Option<&'a Topic>) -> (Option<&'a str>, Option<CompactString>) {
        match topic {
            None => (None, None),
            Some(Topic::Name(name)) => (Some(name), None),
            Some(Topic::Id(id)) => (self.name(id), Some(id_text(id))),
        }
    }

    /// The name, if it was told by now.
    pub fn name(&self, id: &[u8; 16]) -> Option<&str> {
        self.names.get(id).map(CompactString::as_str)
    }

    /// All names by id, as the rows have it.
    pub fn names(&self) -> impl Iterator<Item = (CompactString, &str)> {
        self.names.iter().map(|(id, name)| (id_text(id), name.as_str()))
    }
}

/// Sixteen bytes as Kafka writes them: base64url of 22 characters.
pub(super) fn id_text(id: &[u8; 16]) -> CompactString {
    let mut text = [0; 22];
    // 16 bytes are 22 characters.
    let _ = URL_SAFE_NO_PAD.encode_slice(id, &mut text);
    std::str::from_utf8(&text).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_means_what_it_was_told_first() {
        let mut topics = Topics::default();
        let id = 5u128.to_be_bytes();
        let topic = Topic::Id(id);
        assert_eq!(topics.both(Some(&topic)), (None, Some("AAAAAAAAAAAAAAAAAAAABQ".into())));
        assert_eq!(topics.shown(&topic), "AAAAAAAAAAAAAAAAAAAABQ");
        topics.learn(&[(id, "orders".into()), (id, "payments".into())]);
        assert_eq!(topics.both(Some(&topic)).0, Some("orders"));
        assert_eq!(topics.shown(&topic), "orders");
        assert_eq!(topics.name(&METADATA.0), Some("__cluster_metadata"));
        assert_eq!(topics.both(Some(&Topic::Name("plain".into()))), (Some("plain"), None));
        assert_eq!(topics.names().count(), 2);
    }

    #[test]
    fn ids_are_bounded() {
        let mut topics = Topics::default();
        for number in 10..300_000u128 {
            topics.learn(&[(number.to_be_bytes(), "t".into())]);
        }
        assert_eq!(topics.names().count(), MOST + 1);
    }
}
