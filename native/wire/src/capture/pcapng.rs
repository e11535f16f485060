//! The blocks of a pcapng file: sections of either byte order, interfaces, and all four kinds of packets.
//!
//! Every block ends with its length once more: where the two differ there is damage, and the next block of a known kind
//! whose lengths agree goes on.

use serde::{Deserialize, Serialize};

use super::account::LARGEST_PACKET;
use super::records::{Order, SECOND, Sink, word};
use crate::packet::Packet;

pub(super) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE: u32 = 2;
const SIMPLE: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED: u32 = 6;
/// Options of interfaces.
const NAME: u16 = 2;
const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;
/// Options of statistics.
const DROPPED_BY_INTERFACE: u16 = 5;
const DROPPED_BY_SYSTEM: u16 = 7;
/// A packet with its options; larger blocks are no blocks, or hold what is of no use here and are skipped unread.
const LARGEST_KEPT: usize = LARGEST_PACKET as usize + 128 * 1024;
const LARGEST_BLOCK: usize = 64 * 1024 * 1024;
const LEAST_BLOCK: usize = 12;
const LEAST_SECTION: usize = 28;
/// An enhanced or obsolete packet without content: its head of 28 bytes, and its length once more.
const LEAST_ENHANCED: usize = 32;
const ENHANCED_HEAD: usize = 28;
const MOST_INTERFACES: usize = 8192;
const LONGEST_NAME: usize = 256;
const NO_BLOCK: (&str, &str) = ("damage", "no block");
const CUT_OFF: (&str, &str) = ("truncated", "the file ends inside a block");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Interface {
    link: u16,
    snaplen: u32,
    /// Of its name.
    id: u32,
    /// Nanoseconds of one tick, 0 where that is no whole number.
    multiplier: u64,
    /// As the option has it: ticks of a second as a power of 10, or of 2 with the highest bit.
    resolution: u8,
    /// Seconds to add.
    offset: i64,
    /// Packets that were dropped so far, as the file says.
    dropped: u64,
}

impl Interface {
    /// A time in nanoseconds where it is made without a division and lies within 64 bits.
    #[inline(always)]
    fn quick_time(&self, ticks: u64) -> Option<i64> {
        if self.multiplier == 0 {
            return None;
        }
        let time = i64::try_from(ticks.checked_mul(self.multiplier)?).ok()?;
        time.checked_add(self.offset.checked_mul(SECOND)?)
            .filter(|&time| time >= 0)
    }

    /// A time in nanoseconds, the nearest one that 63 bits hold.
    fn time(&self, ticks: u64) -> i64 {
        let since = if self.multiplier == 0 {
            u128::from(ticks) * SECOND as u128 / units(self.resolution)
        } else {
            u128::from(ticks) * u128::from(self.multiplier)
        };
        let time = since as i128 + i128::from(self.offset) * i128::from(SECOND);
        time.clamp(0, i64::MAX.into()) as i64
    }
}

/// Ticks of one second, as many as 128 bits hold at most: then all times are 0.
fn units(resolution: u8) -> u128 {
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    base.saturating_pow(u32::from(resolution & 0x7f))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pcapng {
    order: Order,
    /// So many bytes are still to be skipped, and were skipped, of a block that is of no use.
    skip: usize,
    skipped: usize,
    is_searching: bool,
    interfaces: Vec<Interface>,
    /// Of the last packet.
    time: i64,
}

impl Pcapng {
    pub fn new() -> Pcapng {
        Pcapng {
            order: Order::Little,
            skip: 0,
            skipped: 0,
            is_searching: false,
            interfaces: Vec::new(),
            time: 0,
        }
    }

    /// Reads all there is; gives how much of it need not come again. `is_last`: no more comes.
    pub fn read(&mut self, data: &[u8], is_last: bool, to: &mut Sink<'_>) -> usize {
        let mut position = self.skip_on(data, 0, to);
        let mut begin = position;
        let mut why = NO_BLOCK;
        while position < data.len() {
            if self.is_searching {
                let found = self.search(data, begin, is_last);
                let why = if found < data.len() { NO_BLOCK } else { why };
                to.account.lose(why.0, why.1, found.saturating_sub(position) as u64);
                position = found;
                begin = found;
                if self.is_searching {
                    break;
                }
            }
            position = self.run(data, position, to);
            match self.block_length(data, position) {
                Some(length) if length > LARGEST_KEPT => {
                    (self.skip, self.skipped) = (length, 0);
                    position += self.skip_on(data, position, to);
                }
                Some(length) if position + length <= data.len() => {
                    if length == 0 || self.order.word(data, position + length - 4) as usize != length {
                        self.is_searching = true;
                        begin = position + 4;
                        continue;
                    }
                    if !self.block(&data[position..position + length], position, to) {
                        to.account
                            .lose("damage", "a block that contradicts itself", length as u64);
                    }
                    position += length;
                }
                _ if !is_last => break,
                _ => {
                    // Either the file ends here, or the length of this block is a lie and others follow.
                    self.is_searching = true;
                    why = CUT_OFF;
                    begin = position + 4;
                }
            }
        }
        if is_last && self.skip > 0 {
            to.account.header_bytes = to.account.header_bytes.saturating_sub(self.skipped as u64);
            to.account.lose(CUT_OFF.0, CUT_OFF.1, self.skipped as u64);
        }
        position
    }

    fn run(&mut self, data: &[u8], position: usize, to: &mut Sink<'_>) -> usize {
        match self.order {
            Order::Little => self.run_of::<false>(data, position, to),
            Order::Big => self.run_of::<true>(data, position, to),
        }
    }

    /// Reads the enhanced packets that follow one another, which most blocks are; where something else begins.
    fn run_of<const BIG: bool>(&mut self, data: &[u8], begun: usize, to: &mut Sink<'_>) -> usize {
        let (window, file, base) = (to.window, to.file, to.base);
        let first = to.account.packets;
        let (mut number, mut kept, mut position) = (first, 0, begun);
        while let Some(head) = data.get(position..).and_then(<[u8]>::first_chunk::<ENHANCED_HEAD>) {
            let length = word::<BIG>(head, 4) as usize;
            let included = word::<BIG>(head, 20);
            if word::<BIG>(head, 0) != ENHANCED
                || included > LARGEST_PACKET
                || length > LARGEST_KEPT
                || !length.is_multiple_of(4)
                || included as usize + LEAST_ENHANCED > length
            {
                break;
            }
            let following = position + length;
            let Some(interface) = self.interfaces.get(word::<BIG>(head, 8) as usize) else {
                break;
            };
            let ticks = u64::from(word::<BIG>(head, 12)) << 32 | u64::from(word::<BIG>(head, 16));
            let Some(time) = interface.quick_time(ticks).filter(|&time| window.has(time)) else {
                break;
            };
            if following > data.len() || word::<BIG>(data, following - 4) as usize != length {
                break;
            }
            number += 1;
            kept += u64::from(included);
            self.time = time;
            to.packets.push(Packet {
                time,
                number,
                offset: (base + position + ENHANCED_HEAD) as u32,
                captured: included,
                length: word::<BIG>(head, 24).max(included),
                interface: interface.id,
                file,
                link_type: interface.link,
            });
            position = following;
        }
        to.account.packets = number;
        to.account.packet_bytes += kept;
        to.account.header_bytes += (position - begun) as u64 - kept;
        position
    }

    /// Passes over what is there of a block that is of no use; how many bytes that were.
    fn skip_on(&mut self, data: &[u8], position: usize, to: &mut Sink<'_>) -> usize {
        let taken = self.skip.min(data.len().saturating_sub(position));
        self.skip -= taken;
        self.skipped = self.skipped.saturating_add(taken);
        to.account.header_bytes += taken as u64;
        taken
    }

    /// The length of the block that begins here, 0 where none does; None: more bytes will tell.
    fn block_length(&mut self, data: &[u8], position: usize) -> Option<usize> {
        let head = data.get(position..)?.first_chunk::<LEAST_BLOCK>()?;
        if head.starts_with(&MAGIC) {
            let order = match head[8..] {
                [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
                [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
                _ => return Some(0),
            };
            let length = order.word(head, 4) as usize;
            if !(LEAST_SECTION..=LARGEST_KEPT).contains(&length) || !length.is_multiple_of(4) {
                return Some(0);
            }
            // Only a whole section header makes its byte order that of the file.
            if position + length <= data.len() {
                self.order = order;
            }
            return Some(length);
        }
        let length = self.order.word(head, 4) as usize;
        let largest = if self.order.word(head, 0) <= ENHANCED {
            LARGEST_KEPT
        } else {
            LARGEST_BLOCK
        };
        Some(
            if (LEAST_BLOCK..=largest).contains(&length) && length.is_multiple_of(4) {
                length
            } else {
                0
            },
        )
    }

    /// Where the next block of a known kind begins; where there is none yet, from where on to search again.
    fn search(&mut self, data: &[u8], begin: usize, is_last: bool) -> usize {
        // A section header that turns out to be none may change the order on the way.
        let order = self.order;
        let mut from = begin;
        while let Some(position) = candidate(order, data, from) {
            match self.block_length(data, position) {
                Some(length) if position + length <= data.len() => {
                    if length > 0 && self.order.word(data, position + length - 4) as usize == length {
                        self.is_searching = false;
                        return position;
                    }
                }
                _ if is_last => {}
                _ => return position,
            }
            from = position + 1;
        }
        if is_last {
            data.len()
        } else {
            begin.max((data.len() + 1).saturating_sub(LEAST_BLOCK))
        }
    }

    /// Takes in a whole block, which begins at a position of what is read; false where its content does not fit into
    /// it.
    fn block(&mut self, block: &[u8], position: usize, to: &mut Sink<'_>) -> bool {
        let (order, length) = (self.order, block.len());
        match order.word(block, 0) {
            kind @ (ENHANCED | OBSOLETE) => {
                if length < LEAST_ENHANCED {
                    return false;
                }
                let index = if kind == ENHANCED {
                    order.word(block, 8)
                } else {
                    order.half(block, 8).into()
                };
                let (included, wire) = (order.word(block, 20), order.word(block, 24));
                if included as usize > length - LEAST_ENHANCED || included > LARGEST_PACKET {
                    return false;
                }
                let Some(interface) = self.interfaces.get(index as usize) else {
                    return false;
                };
                self.time = interface.time(u64::from(order.word(block, 12)) << 32 | u64::from(order.word(block, 16)));
                let packet = self.packet(interface, position + ENHANCED_HEAD, included, wire);
                give(packet, length, to);
            }
            SIMPLE => {
                let Some(interface) = self.interfaces.first().filter(|_| length >= 16) else {
                    return false;
                };
                let wire = order.word(block, 8);
                let snaplen = if interface.snaplen == 0 {
                    wire
                } else {
                    interface.snaplen
                };
                let included = wire.min(snaplen).min(LARGEST_PACKET).min((length - 16) as u32);
                let packet = self.packet(interface, position + 12, included, wire);
                give(packet, length, to);
            }
            INTERFACE => {
                if length < 20 || self.interfaces.len() >= MOST_INTERFACES {
                    return false;
                }
                to.account.header_bytes += length as u64;
                self.describe(block, to);
            }
            kind => {
                to.account.header_bytes += length as u64;
                if kind == SECTION {
                    self.interfaces.clear();
                } else if kind == STATISTICS && length >= 24 {
                    self.count_drops(block, to);
                }
            }
        }
        true
    }

    fn packet(&self, interface: &Interface, offset: usize, included: u32, wire: u32) -> Packet {
        Packet {
            time: self.time,
            number: 0,
            offset: offset as u32,
            captured: included,
            length: wire.max(included),
            interface: interface.id,
            file: 0,
            link_type: interface.link,
        }
    }

    /// Takes in the description of an interface.
    fn describe(&mut self, block: &[u8], to: &mut Sink<'_>) {
        let order = self.order;
        let mut name = String::new();
        let (mut resolution, mut offset) = (6, 0);
        for (code, value) in options(order, block, 16) {
            match (code, value) {
                (NAME, _) => {
                    let mut kept = value.get(..LONGEST_NAME).unwrap_or(value);
                    while let [before @ .., 0] = kept {
                        kept = before;
                    }
                    if !kept.is_empty() {
                        name = String::from_utf8_lossy(kept).into_owned();
                    }
                }
                (RESOLUTION, &[value]) => resolution = value,
                (OFFSET, &[_, _, _, _, _, _, _, _]) => offset = order.long(value, 0) as i64,
                _ => {}
            }
        }
        if name.is_empty() {
            name = self.interfaces.len().to_string();
        }
        let units = units(resolution);
        self.interfaces.push(Interface {
            link: order.half(block, 8),
            snaplen: order.word(block, 12),
            id: to.interfaces.id(&name),
            multiplier: if (SECOND as u128).is_multiple_of(units) {
                (SECOND as u128 / units) as u64
            } else {
                0
            },
            resolution,
            offset,
            dropped: 0,
        });
    }

    /// Each interface tells again and again how many were dropped since the beginning.
    fn count_drops(&mut self, block: &[u8], to: &mut Sink<'_>) {
        let order = self.order;
        let Some(interface) = self.interfaces.get_mut(order.word(block, 8) as usize) else {
            return;
        };
        let dropped = options(order, block, 20)
            .filter(|(code, value)| matches!(*code, DROPPED_BY_INTERFACE | DROPPED_BY_SYSTEM) && value.len() == 8)
            .fold(0_u64, |sum, (_, value)| sum.saturating_add(order.long(value, 0)));
        to.account.dropped = to
            .account
            .dropped
            .saturating_add(dropped.saturating_sub(interface.dropped));
        interface.dropped = interface.dropped.max(dropped);
    }
}

/// Counts a packet of a block of this length, and gives it where it is wanted.
fn give(packet: Packet, length: usize, to: &mut Sink<'_>) {
    let included = u64::from(packet.captured);
    let account = &mut *to.account;
    account.packets += 1;
    account.header_bytes += length as u64 - included;
    if to.window.has(packet.time) {
        account.packet_bytes += included;
        let offset = (to.base + packet.offset as usize) as u32;
        to.packets.push(Packet {
            number: account.packets,
            file: to.file,
            offset,
            ..packet
        });
    } else {
        account.filtered += 1;
        account.filtered_bytes += included;
    }
}

/// Where a block of a known kind may begin: small numbers, or a section.
fn candidate(order: Order, data: &[u8], from: usize) -> Option<usize> {
    let rest = data.get(from..)?;
    let is_kind = |at: &[u8]| match (order, at) {
        (Order::Little, [1..=6, 0, 0, 0, _, _, _, 0, ..]) => true,
        (Order::Big, [0, 0, 0, 1..=6, 0, _, _, _, ..]) => true,
        (_, at) => at.starts_with(&MAGIC),
    };
    let whole = rest.windows(8).position(is_kind);
    // The last bytes have room for the beginning of a section only.
    let found = whole.or_else(|| {
        let tail = rest.len().saturating_sub(7);
        rest.get(tail..)?
            .windows(4)
            .position(|at| at == MAGIC)
            .map(|found| tail + found)
    });
    found.map(|found| from + found)
}

/// The options of a block from a position on, with their codes, up to the end of them or of the block.
fn options(order: Order, block: &[u8], mut position: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let block = &block[..block.len().saturating_sub(4)];
    std::iter::from_fn(move || {
        let head = block.get(position..position + 4)?;
        let (code, length) = (order.half(head, 0), usize::from(order.half(head, 2)));
        if code == 0 {
            return None;
        }
        let value = block.get(position + 4..position + 4 + length)?;
        position += 4 + length.next_multiple_of(4);
        Some((code, value))
    })
}

#[cfg(test)]
mod tests {
    use super::super::account::Window;
    use super::super::testing::{START, block, enhanced, interface, option, read, read_in, section, word};
    use super::*;

    const TICKS: u64 = (START / 1000) as u64;
    const DATA: [u8; 61] = [b'x'; 61];

    /// One interface with these options, and a packet at these ticks of it.
    fn one(options: &[u8], ticks: u64) -> Vec<u8> {
        [
            section(false),
            interface(false, 1, 0, options),
            enhanced(false, 0, ticks, &DATA, 61),
        ]
        .concat()
    }

    #[test]
    fn all_kinds_of_packets_are_read() {
        for big in [false, true] {
            let options = [option(big, 2, b"eth0"), option(big, 0, b"")].concat();
            let old = [TICKS as u32, 61, 61].map(|value| word(big, value)).concat();
            let old = [&[0; 4][..], &word(big, (TICKS >> 32) as u32), &old, &DATA].concat();
            let data = [
                section(big),
                interface(big, 1, 20, b""),
                interface(big, 276, 0, &options),
                block(big, 4, &[0; 8]),
                enhanced(big, 1, TICKS, &DATA, 1000),
                block(big, 0x0bad, b"custom block"),
                block(big, 3, &[&word(big, 61)[..], &DATA[..20]].concat()),
                block(big, 2, &old),
            ]
            .concat();
            for piece in [1, 7, 100_000] {
                let read = read_in(&data, &[piece], Window::default()).unwrap();
                assert_eq!(read.times(), [START; 3]);
                assert_eq!(read.numbers(), [1, 2, 3]);
                assert_eq!(read.names, ["eth0", "0", "0"]);
                let packets = read.packets.iter();
                let found: Vec<_> = packets
                    .map(|(packet, data)| (packet.link_type, data.len(), packet.length))
                    .collect();
                assert_eq!(found, [(276, 61, 1000), (1, 20, 61), (1, 61, 61)]);
                assert!(read.account.losses.is_empty());
                assert_eq!(read.accounted(), data.len() as u64);
            }
        }
    }

    #[test]
    fn every_resolution_of_time_is_known() {
        let start = START as u64;
        for (resolution, ticks, time) in [
            (6, start / 1000, START),
            (9, start + 7, START + 7),
            (3, start / 1_000_000, START),
            (0, start / 1_000_000_000, START),
            (12, 5 * 1_000_000_000_000 + 999, 5 * SECOND),
            (0x80, 1_700_000_000, START),
            (0x80 | 10, 1_700_000_000 * 1024 + 512, START + SECOND / 2),
            (0x80 | 32, (1_700_000_000 << 32) + (1 << 30), START + SECOND / 4),
            (0xff, 1 << 63, 0),
            (0x7f, u64::MAX, 0),
            (0, u64::MAX, i64::MAX),
        ] {
            assert_eq!(
                read(&one(&option(false, 9, &[resolution]), ticks)).times(),
                [time],
                "{resolution}"
            );
        }
        assert_eq!(read(&one(b"", TICKS)).times(), [START]);
    }

    #[test]
    fn an_offset_of_time_is_added() {
        for (seconds, time) in [
            (100, START),
            (-5, START - 105 * SECOND),
            (-(1 << 62), 0),
            (i64::MAX, i64::MAX),
        ] {
            let options = option(false, 14, &i64::to_le_bytes(seconds));
            assert_eq!(read(&one(&options, TICKS - 100_000_000)).times(), [time]);
        }
    }

    #[test]
    fn sections_have_their_own_order_and_interfaces() {
        let data = [(false, 1), (true, 113), (false, 276)]
            .map(|(big, link)| {
                [
                    section(big),
                    interface(big, link, 0, b""),
                    enhanced(big, 0, TICKS, &DATA, 61),
                ]
                .concat()
            })
            .concat();
        let read = read_in(&data, &[50], Window::default()).unwrap();
        assert_eq!(
            read.packets
                .iter()
                .map(|(packet, _)| packet.link_type)
                .collect::<Vec<u16>>(),
            [1, 113, 276]
        );
        assert!(read.account.losses.is_empty());
    }

    #[test]
    fn drops_are_those_of_the_last_statistics() {
        let statistics = |index: u32, by_interface: u64, by_system: u64| {
            let head = [index, 0, 0].map(|value| word(false, value)).concat();
            let options = [
                option(false, 5, &by_interface.to_le_bytes()),
                option(false, 7, &by_system.to_le_bytes()),
            ];
            block(false, 5, &[head, options.concat(), option(false, 0, b"")].concat())
        };
        let interfaces = [interface(false, 1, 0, b""), interface(false, 1, 0, b"")].concat();
        let data = [
            section(false),
            interfaces,
            statistics(0, 1, 2),
            statistics(0, 5, 6),
            statistics(1, 100, 0),
        ];
        assert_eq!(read(&data.concat()).account.dropped, 111);
        let endless = [
            section(false),
            interface(false, 1, 0, b""),
            statistics(0, u64::MAX, u64::MAX),
        ];
        assert_eq!(read(&endless.concat()).account.dropped, u64::MAX);
    }

    #[test]
    fn packets_of_another_time_are_counted_and_not_given() {
        let packets = (0..10).flat_map(|second| enhanced(false, 0, second * 1_000_000, &DATA, 61));
        let data: Vec<u8> = section(false)
            .into_iter()
            .chain(interface(false, 1, 0, b""))
            .chain(packets)
            .collect();
        let read = read_in(&data, &[1000], Window::new(Some(3 * SECOND), Some(5 * SECOND))).unwrap();
        assert_eq!((read.numbers(), read.account.filtered), (vec![4, 5], 8));
        assert_eq!(read.accounted(), data.len() as u64);
    }

    #[test]
    fn large_blocks_that_are_of_no_use_are_passed_over() {
        let data = [
            section(false),
            interface(false, 1, 0, b""),
            block(false, 0x0bad, &vec![b's'; 3_000_000]),
            enhanced(false, 0, TICKS, &DATA, 61),
        ]
        .concat();
        let read = read_in(&data, &[65_536], Window::default()).unwrap();
        assert_eq!((read.packets.len(), read.accounted()), (1, data.len() as u64));
        let cut = read_in(&data[..2_000_000], &[65_536], Window::default()).unwrap();
        assert_eq!((cut.losses(), cut.accounted()), (vec![CUT_OFF], 2_000_000));
    }

    #[test]
    fn a_damaged_block_costs_no_other_packet() {
        let one = enhanced(false, 0, TICKS, &DATA, 61);
        let begin = [section(false), interface(false, 1, 0, b"")].concat();
        // Lengths that are endless, empty, odd and too long, an unknown interface, too much content, another end.
        let wounds = [
            (4, u32::MAX),
            (4, 0),
            (4, 61),
            (4, 1000),
            (8, 7),
            (20, 5000),
            (one.len() - 4, 5),
        ];
        for (at, value) in wounds {
            let mut data = [begin.clone(), one.repeat(9)].concat();
            let at = begin.len() + 4 * one.len() + at;
            data[at..at + 4].copy_from_slice(&value.to_le_bytes());
            for piece in [13, 100_000] {
                let read = read_in(&data, &[piece], Window::default()).unwrap();
                assert_eq!(read.packets.len(), 8, "{at} {value}");
                assert!(read.losses().iter().all(|(kind, _)| *kind == "damage"));
                assert_eq!(read.accounted(), data.len() as u64);
            }
        }
    }

    #[test]
    fn a_file_that_is_still_written_gives_its_full_packets() {
        let data = one(b"", TICKS);
        let read = read(&data[..data.len() - 1]);
        assert_eq!((read.packets.len(), read.losses()), (0, vec![CUT_OFF]));
    }

    #[test]
    fn names_are_text_of_bounded_length() {
        let long = [b'n'; 300];
        for (value, name) in [
            (&b"lo\0\0"[..], "lo"),
            (b"\0", "0"),
            (b"a\xffb", "a\u{fffd}b"),
            (&long, &"n".repeat(256)),
        ] {
            assert_eq!(read(&one(&option(false, 2, value), TICKS)).names, [name]);
        }
    }
}
