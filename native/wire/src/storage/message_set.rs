//! Messages of magic 0 and 1: one by one, or several in the value of another one that is compressed.

use crate::kafka::payloads::{Reader, Record};
use crate::kafka::records::{CODEC, LOG_APPEND_TIME};

/// A message with its offset in front.
pub(super) struct Message<'a> {
    pub magic: u8,
    pub codec: u8,
    pub offset: i64,
    /// CRC-32 of what follows.
    pub checksum: u32,
    pub is_valid: bool,
    pub log_append_time: Option<bool>,
    /// None in magic 0, and where it says that there is none.
    pub timestamp: Option<i64>,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
}

impl<'a> Message<'a> {
    /// Of all bytes of an entry; None where keys and values do not fill it.
    pub fn of(entry: &'a [u8]) -> Option<Message<'a>> {
        let mut reader = Reader { rest: entry };
        let offset = i64::from_be_bytes(reader.chunk()?);
        reader.take(4)?;
        let checksum = u32::from_be_bytes(reader.chunk()?);
        let mut crc = flate2::Crc::new();
        crc.update(reader.rest);
        let [magic, flags] = reader.chunk()?;
        let flags = i16::from(flags);
        let timestamp = match magic {
            0 => None,
            1 => Some(i64::from_be_bytes(reader.chunk()?)),
            _ => return None,
        };
        let length = i32::from_be_bytes(reader.chunk()?);
        let key = reader.sized(length)?;
        let length = i32::from_be_bytes(reader.chunk()?);
        let value = reader.sized(length)?;
        reader.rest.is_empty().then_some(Message {
            magic,
            codec: (flags & CODEC) as u8,
            offset,
            checksum,
            is_valid: crc.sum() == checksum,
            log_append_time: (magic == 1).then_some(flags & LOG_APPEND_TIME != 0),
            timestamp: timestamp.filter(|timestamp| *timestamp >= 0),
            key,
            value,
        })
    }

    /// As a record.
    pub fn record(&self) -> Record<'a> {
        Record {
            offset: Some(self.offset),
            timestamp: self.timestamp,
            key: self.key,
            value: self.value,
            codec: self.codec,
            ..Record::default()
        }
    }
}

/// The messages in another one, one behind the other.
pub(super) struct Inner<'a> {
    reader: Reader<'a>,
}

impl<'a> Inner<'a> {
    pub fn of(data: &'a [u8]) -> Inner<'a> {
        Inner {
            reader: Reader { rest: data },
        }
    }

    /// The next one, and the bytes that it takes; None where there is none, or no message of this magic.
    pub fn next(&mut self, magic: u8) -> Option<(Message<'a>, usize)> {
        let length = self.reader.rest.get(8..12)?.first_chunk()?;
        let size = usize::try_from(i32::from_be_bytes(*length)).ok()?.checked_add(12)?;
        let message = Message::of(self.reader.take(size)?)?;
        (message.magic == magic && message.codec == 0).then_some((message, size))
    }

    pub fn is_over(&self) -> bool {
        self.reader.rest.is_empty()
    }
}
