//! Packets and segments as they are, before any connection is known.

use std::collections::BTreeMap;

use super::router::own;
use crate::capture::{Chunk, Interfaces};
use crate::decode::{self, Decoded, Key, endpoint_text};
use crate::exchange::row::{PacketRow, RowSink, SegmentRow};
use crate::options::{Options, Table};
use crate::packet::{Packet, Segment};

/// Makes rows of packets; of several engines over the same packets each takes every n-th.
#[derive(Debug)]
pub(super) struct Raw {
    options: Options,
    interfaces: Interfaces,
}

impl Raw {
    /// Where the rows that are wanted are these, and no others.
    pub fn of(options: &Options, interfaces: &Interfaces) -> Option<Raw> {
        let is_raw = [Table::Packets, Table::Segments]
            .into_iter()
            .any(|table| options.tables.has(table));
        is_raw.then(|| Raw {
            options: options.clone(),
            interfaces: interfaces.clone(),
        })
    }

    /// The rows of the next packets. `files`: the names of files, by the index that packets have.
    pub fn take(&self, chunk: &Chunk, files: &BTreeMap<u32, String>, rows: &mut impl RowSink) {
        let (class, classes) = self.options.flow_class;
        let classes = u64::from(classes.max(1));
        for packet in chunk.packets() {
            if packet.number % classes != u64::from(class) {
                continue;
            }
            let file = files.get(&packet.file).map_or("", String::as_str);
            let wants_packets = self.options.tables.has(Table::Packets);
            if self.options.ports.is_empty() && !self.options.tables.has(Table::Segments) {
                self.packet(packet, file, rows);
                continue;
            }
            let data = chunk.data(packet);
            if let Decoded::Segment { key, mut segment } = decode::decode(packet, data) {
                if !self.is_wanted(&key) {
                    continue;
                }
                segment.interface = own(&self.interfaces, packet, data).unwrap_or(segment.interface);
                self.segment(&key, &segment, file, rows);
                if wants_packets {
                    self.packet(packet, file, rows);
                }
            } else if wants_packets && self.options.ports.is_empty() {
                self.packet(packet, file, rows);
            }
        }
    }

    fn is_wanted(&self, key: &Key) -> bool {
        let ports = &self.options.ports;
        ports.is_empty() || ports.contains(&key.source_port()) || ports.contains(&key.destination_port())
    }

    fn packet(&self, packet: &Packet, file: &str, rows: &mut impl RowSink) {
        rows.packet(&PacketRow {
            time: packet.time,
            file,
            number: i64::try_from(packet.number).unwrap_or(i64::MAX),
            interface: &self.interfaces.name(packet.interface),
            link_type: packet.link_type.into(),
            length: packet.length.into(),
            captured: packet.captured.into(),
        });
    }

    fn segment(&self, key: &Key, segment: &Segment<'_>, file: &str, rows: &mut impl RowSink) {
        rows.segment(&SegmentRow {
            time: segment.time,
            file,
            number: i64::try_from(segment.number).unwrap_or(i64::MAX),
            interface: &self.interfaces.name(segment.interface),
            source: &endpoint_text(key.source(), key.source_port()),
            destination: &endpoint_text(key.destination(), key.destination_port()),
            sequence: segment.sequence.into(),
            acknowledgement: segment.acknowledgement.into(),
            flags: i16::from(segment.flags & 0x1F),
            window: i32::try_from(segment.window).unwrap_or(i32::MAX),
            length: segment.length.into(),
            captured: segment.payload.len() as i64,
        });
    }
}
