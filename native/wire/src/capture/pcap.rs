//! The records of a pcap file: both byte orders, micro and nanoseconds, and the variant of Alexey Kuznetzov.
//!
//! A record header that cannot be true means damage. Either it is damaged itself, or the length of the record before it
//! was a lie, so the search begins in the record before. A true header is told by the true headers that follow it.

use serde::{Deserialize, Serialize};

use super::account::LARGEST_PACKET;
use super::records::{Order, SECOND, Sink, word};
use super::refusal::Refusal;
use crate::packet::Packet;

const FILE_HEADER: usize = 24;
const HEADER: usize = 16;
/// With the index of the interface behind.
const MODIFIED_HEADER: usize = 24;
/// So many true headers follow one another where one is believed.
const CHAIN: usize = 3;
const NO_HEADER: (&str, &str) = ("damage", "no record header");
const CUT_OFF: (&str, &str) = ("truncated", "the file ends inside a packet");
const DAY: u32 = 86_400;
const YEAR: u32 = 366 * DAY;
/// Nothing longer was on any wire.
const LONGEST_FRAME: u32 = 1 << 24;
/// The search goes on only when so much more has come, or the end.
const MORE: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Form {
    order: Order,
    is_nanoseconds: bool,
    is_modified: bool,
}

impl Form {
    /// Of a file that begins like this.
    fn of(magic: [u8; 4]) -> Option<Form> {
        let (order, is_nanoseconds, is_modified) = match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, false, false),
            [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, false, false),
            [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, true, false),
            [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, true, false),
            [0x34, 0xcd, 0xb2, 0xa1] => (Order::Little, false, true),
            [0xa1, 0xb2, 0xcd, 0x34] => (Order::Big, false, true),
            _ => return None,
        };
        Some(Form {
            order,
            is_nanoseconds,
            is_modified,
        })
    }

    fn at(data: &[u8], position: usize) -> Option<Form> {
        Form::of(*data.get(position..)?.first_chunk()?)
    }

    fn header(self) -> usize {
        if self.is_modified { MODIFIED_HEADER } else { HEADER }
    }

    /// Nanoseconds of one fraction of a second.
    fn fraction(self) -> u32 {
        if self.is_nanoseconds { 1 } else { 1000 }
    }
}

/// Whether a file that begins like this is a pcap file.
pub(super) fn is_pcap(magic: [u8; 4]) -> bool {
    Form::of(magic).is_some()
}

/// Reads a pcap file. What it is given begins with the last record that was read, in case its length was a lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pcap {
    /// None before the header of the file is there.
    form: Option<Form>,
    link: u16,
    /// Where the next record begins.
    next: usize,
    is_searching: bool,
    search_from: usize,
    /// With so many bytes the search goes on.
    search_at: usize,
    /// Of the last packet.
    seconds: Option<u32>,
    was_wanted: bool,
}

/// Where the next true header begins; or from where on to search when there is more.
enum Found {
    Sure(usize),
    Unsure(usize),
}

impl Pcap {
    pub fn new() -> Pcap {
        Pcap {
            form: None,
            link: 0,
            next: 0,
            is_searching: false,
            search_from: 0,
            search_at: 0,
            seconds: None,
            was_wanted: true,
        }
    }

    /// Reads all there is; gives how much of it need not come again. `is_last`: no more comes.
    pub fn read(&mut self, data: &[u8], is_last: bool, to: &mut Sink<'_>) -> Result<usize, Refusal> {
        let (mut form, mut previous, mut position) = match self.form {
            Some(form) => (form, 0, self.next.min(data.len())),
            None if data.len() >= FILE_HEADER => (self.take_header(data, 0, to)?, FILE_HEADER, FILE_HEADER),
            None if is_last => {
                to.account
                    .lose("truncated", "the file ends inside its header", data.len() as u64);
                return Ok(data.len());
            }
            None => return Ok(0),
        };
        let mut why = NO_HEADER;
        loop {
            if !self.is_searching {
                (previous, position) = self.run(form, data, previous, position, to);
                if is_appended(data, position) {
                    form = self.take_header(data, position, to)?;
                    position += FILE_HEADER;
                    previous = position;
                    continue;
                }
                self.search_from = if previous < position {
                    previous + form.header()
                } else {
                    position + 1
                };
                self.search_at = 0;
                if !self.is_searching {
                    if !is_last || position == data.len() {
                        break;
                    }
                    // Either the file ends here, or the length of this record is a lie and others follow.
                    self.is_searching = true;
                    self.search_from = position + 1;
                    if self.seconds.is_none() && position + form.header() <= data.len() {
                        // Of the only packet that is begun: others would be near it.
                        self.seconds = Some(form.order.word(data, position));
                    }
                    why = CUT_OFF;
                }
            }
            if data.len() < self.search_at && !is_last {
                break;
            }
            match self.search(form, data, is_last) {
                Found::Unsure(_) if is_last => {
                    to.account
                        .lose(why.0, why.1, data.len().saturating_sub(position) as u64);
                    previous = data.len();
                    position = data.len();
                    break;
                }
                Found::Unsure(found) => {
                    if found > position {
                        to.account.lose(NO_HEADER.0, NO_HEADER.1, (found - position) as u64);
                        position = found;
                    }
                    self.search_from = found;
                    self.search_at = data.len() + MORE;
                    previous = found;
                    break;
                }
                Found::Sure(found) => {
                    if found > position {
                        to.account.lose(NO_HEADER.0, NO_HEADER.1, (found - position) as u64);
                    } else {
                        self.give_back(position - found, to);
                    }
                    previous = found;
                    position = found;
                    self.is_searching = false;
                    why = NO_HEADER;
                }
            }
        }
        self.next = position.saturating_sub(previous);
        self.search_from = self.search_from.saturating_sub(previous);
        self.search_at = self.search_at.saturating_sub(previous);
        Ok(previous)
    }

    /// From the header of the file, or of another file that was appended to it.
    fn take_header(&mut self, data: &[u8], position: usize, to: &mut Sink<'_>) -> Result<Form, Refusal> {
        let form = Form::at(data, position).ok_or(Refusal::Short)?;
        let (major, minor) = (form.order.half(data, position + 4), form.order.half(data, position + 6));
        if major != 2 {
            return Err(Refusal::Version { major, minor });
        }
        // The upper bits tell of a checksum behind each frame.
        self.link = form.order.word(data, position + 20) as u16;
        self.form = Some(form);
        to.account.header_bytes += FILE_HEADER as u64;
        Ok(form)
    }

    fn run(&mut self, form: Form, data: &[u8], previous: usize, position: usize, to: &mut Sink<'_>) -> (usize, usize) {
        match (form.order, form.is_modified) {
            (Order::Little, false) => self.run_of::<false, HEADER>(form, data, previous, position, to),
            (Order::Big, false) => self.run_of::<true, HEADER>(form, data, previous, position, to),
            (Order::Little, true) => self.run_of::<false, MODIFIED_HEADER>(form, data, previous, position, to),
            (Order::Big, true) => self.run_of::<true, MODIFIED_HEADER>(form, data, previous, position, to),
        }
    }

    /// Reads records up to the end of `data`, or up to damage; where the last record began, and the next begins.
    fn run_of<const BIG: bool, const SIZE: usize>(
        &mut self,
        form: Form,
        data: &[u8],
        mut previous: usize,
        mut position: usize,
        to: &mut Sink<'_>,
    ) -> (usize, usize) {
        let (window, file, link, base) = (to.window, to.file, self.link, to.base);
        let fraction = i64::from(form.fraction());
        let mut number = to.account.packets;
        let (mut kept, mut interface) = (0, (0, 0));
        while let Some(head) = data.get(position..).and_then(<[u8]>::first_chunk::<SIZE>) {
            let (seconds, part) = (word::<BIG>(head, 0), word::<BIG>(head, 4));
            let (included, length) = (word::<BIG>(head, 8), word::<BIG>(head, 12));
            let begin = position + SIZE;
            if included > LARGEST_PACKET || (included | length) == 0 {
                // What a crash leaves at the end of a file are zeros, and no packets of 1970.
                self.is_searching = included != 0 || seconds == 0;
                if self.is_searching || may_be_appended(data, position) {
                    break;
                }
            }
            let following = begin + included as usize;
            if following > data.len() {
                break;
            }
            number += 1;
            let time = i64::from(seconds) * SECOND + i64::from(part) * fraction;
            self.was_wanted = window.has(time);
            if self.was_wanted {
                if SIZE == MODIFIED_HEADER {
                    let index = word::<BIG>(head, 16);
                    if interface.1 == 0 || interface.0 != index {
                        interface = (index, to.interfaces.id(&index.to_string()));
                    }
                }
                kept += u64::from(included);
                to.packets.push(Packet {
                    time,
                    number,
                    offset: (base + begin) as u32,
                    captured: included,
                    length: length.max(included),
                    interface: interface.1,
                    file,
                    link_type: link,
                });
            } else {
                to.account.filtered += 1;
                to.account.filtered_bytes += u64::from(included);
            }
            self.seconds = Some(seconds);
            previous = position;
            position = following;
        }
        to.account.header_bytes += (number - to.account.packets) * SIZE as u64;
        to.account.packets = number;
        to.account.packet_bytes += kept;
        (previous, position)
    }

    fn search(&self, form: Form, data: &[u8], is_last: bool) -> Found {
        let begin = self.search_from.min(data.len());
        let mut from = begin;
        while let Some(found) = self.candidate(form, data, from) {
            match self.is_chain(form, data, found, is_last) {
                Some(true) => return Found::Sure(found),
                Some(false) => from = found + 1,
                None => return Found::Unsure(found),
            }
        }
        Found::Unsure(begin.max((data.len() + 1).saturating_sub(form.header())))
    }

    /// Where a header may begin: a time near the last one, a fraction of a second, lengths that are small.
    fn candidate(&self, form: Form, data: &[u8], from: usize) -> Option<usize> {
        let (low, high) = self.seconds.map_or((0, 255), |seconds| {
            (
                (seconds.saturating_sub(YEAR) >> 24) as u8,
                (seconds.saturating_add(YEAR) >> 24) as u8,
            )
        });
        let is_near = |top: u8| low <= top && top <= high;
        let is_fraction = |top: u8, next: u8| {
            if form.is_nanoseconds {
                top <= 0x3b
            } else {
                top == 0 && next <= 0x0f
            }
        };
        let rest = data.get(from..)?;
        let found = match form.order {
            Order::Little => rest.windows(16).position(|at| {
                at[15] == 0 && at[11] == 0 && at[10] <= 4 && is_near(at[3]) && is_fraction(at[7], at[6])
            }),
            Order::Big => rest
                .windows(13)
                .position(|at| at[12] == 0 && at[8] == 0 && at[9] <= 4 && is_near(at[0]) && is_fraction(at[4], at[5])),
        };
        found.map(|found| from + found)
    }

    /// Whether true headers follow one another from here on; None: more bytes will tell.
    fn is_chain(&self, form: Form, data: &[u8], mut position: usize, is_last: bool) -> Option<bool> {
        let (order, mut near) = (form.order, self.seconds);
        for count in 0..CHAIN {
            if position + form.header() > data.len() {
                return if is_last {
                    Some(count > 0 && position == data.len())
                } else {
                    None
                };
            }
            let (now, part) = (order.word(data, position), order.word(data, position + 4));
            let (included, length) = (order.word(data, position + 8), order.word(data, position + 12));
            let is_true = near.is_none_or(|near| now.abs_diff(near) <= if count == 0 { YEAR } else { DAY })
                && (1..=LARGEST_PACKET).contains(&included)
                && (1..LONGEST_FRAME).contains(&length)
                && u64::from(part) * u64::from(form.fraction()) < SECOND as u64;
            if !is_true {
                return Some(false);
            }
            near = Some(now);
            position += form.header() + included as usize;
        }
        Some(true)
    }

    /// The last record had eaten that many bytes of those behind it.
    fn give_back(&self, count: usize, to: &mut Sink<'_>) {
        let bytes = if self.was_wanted {
            &mut to.account.packet_bytes
        } else {
            &mut to.account.filtered_bytes
        };
        *bytes = bytes.saturating_sub(count as u64);
    }
}

/// Whether the header of another file stands here: captures that somebody joined with cat.
fn is_appended(data: &[u8], position: usize) -> bool {
    let Some(header) = data.get(position..).and_then(<[u8]>::first_chunk::<FILE_HEADER>) else {
        return false;
    };
    // Time zone and accuracy are 0 in every file; of a packet these are its lengths.
    Form::at(header, 0).is_some_and(|Form { order, .. }| {
        order.half(header, 4) == 2 && order.half(header, 6) == 4 && header[8..16] == [0; 8]
    })
}

/// The same, or more bytes will tell.
fn may_be_appended(data: &[u8], position: usize) -> bool {
    let is_begun = position + FILE_HEADER > data.len() && Form::at(data, position).is_some();
    is_begun || is_appended(data, position)
}

#[cfg(test)]
mod tests {
    use super::super::account::Window;
    use super::super::testing::{BIG, Kind, LITTLE, SECOND, START, pcap, read, read_in, word};
    use super::*;

    fn three() -> Vec<(i64, Vec<u8>)> {
        let data = [vec![b'a'; 60], vec![b'b'], vec![b'c'; 1514]];
        [START, START + 1500, START + SECOND + 999_999_000]
            .into_iter()
            .zip(data)
            .collect()
    }

    /// A hundred packets, each of other bytes and of another length.
    fn many() -> Vec<(i64, Vec<u8>)> {
        (0..100)
            .map(|index| (START + index * 1000, vec![index as u8; 60 + index as usize]))
            .collect()
    }

    /// Where the record of one of them begins.
    fn offset(index: usize) -> usize {
        24 + (0..index).map(|before| 16 + 60 + before).sum::<usize>()
    }

    #[test]
    fn every_variant_gives_the_same_packets() {
        for kind in [LITTLE, BIG] {
            for is_nanoseconds in [false, true] {
                let data = pcap(
                    Kind {
                        is_nanoseconds,
                        link: 113 | 0xf000_0000,
                        ..kind
                    },
                    &three(),
                );
                for piece in [1, 7, 64, 10_000] {
                    let read = read_in(&data, &[piece], Window::default()).unwrap();
                    let grain = if is_nanoseconds { 1 } else { 1000 };
                    let times: Vec<i64> = three().iter().map(|(time, _)| time / grain * grain).collect();
                    assert_eq!(read.times(), times);
                    assert_eq!(read.numbers(), [1, 2, 3]);
                    for ((packet, data), (_, expected)) in read.packets.iter().zip(three()) {
                        assert_eq!(*data, expected);
                        assert_eq!((packet.link_type, packet.file, packet.interface), (113, 4, 0));
                        assert_eq!(packet.length as usize, expected.len());
                    }
                    assert!(read.account.losses.is_empty());
                    assert_eq!(read.accounted(), data.len() as u64);
                }
            }
        }
    }

    #[test]
    fn the_modified_variant_tells_the_interface() {
        for kind in [LITTLE, BIG] {
            let data = pcap(
                Kind {
                    is_modified: true,
                    ..kind
                },
                &three(),
            );
            let read = read(&data);
            assert_eq!(read.names, ["1", "2", "3"]);
            assert_eq!(read.packets[2].1.len(), 1514);
            assert_eq!(read.accounted(), data.len() as u64);
        }
    }

    #[test]
    fn lengths_are_those_on_the_wire_and_no_less_than_what_was_kept() {
        let cut = read(&pcap(Kind { snaplen: 96, ..LITTLE }, &three()));
        let lengths: Vec<(u32, u32)> = cut
            .packets
            .iter()
            .map(|(packet, _)| (packet.captured, packet.length))
            .collect();
        assert_eq!(lengths, [(60, 60), (1, 1), (96, 1514)]);
        let mut data = pcap(LITTLE, &three());
        data[36..40].copy_from_slice(&20_u32.to_le_bytes());
        assert_eq!(read(&data).packets[0].0.length, 60);
    }

    #[test]
    fn a_file_that_is_still_written_gives_its_full_packets() {
        let whole = pcap(LITTLE, &three());
        for cut in [1, 1000, 1514, 1520] {
            let read = read(&whole[..whole.len() - cut]);
            assert_eq!(read.numbers(), [1, 2]);
            assert_eq!(read.losses(), [("truncated", "the file ends inside a packet")]);
            assert_eq!(read.accounted(), (whole.len() - cut) as u64);
        }
        let begun = read(&whole[..20]);
        assert_eq!(
            (begun.accounted(), begun.losses()[0].1),
            (20, "the file ends inside its header")
        );
        assert_eq!(read(&whole[..24]).account.losses, []);
    }

    #[test]
    fn what_is_begun_of_the_first_packet_is_no_other_packet() {
        // In it stands what would be the header of three bytes in 1970.
        let header = [0, 33, 3, 3].map(u32::to_le_bytes).concat();
        let data = [vec![9; 40], header, vec![9; 50]].concat();
        let whole = pcap(LITTLE, &[(START, data)]);
        let read = read(&whole[..24 + 16 + 40 + 16 + 3]);
        assert_eq!(read.numbers(), []);
        assert_eq!(read.losses(), [("truncated", "the file ends inside a packet")]);
    }

    #[test]
    fn packets_of_another_time_are_counted_and_not_given() {
        let data = pcap(
            Kind {
                is_nanoseconds: true,
                ..LITTLE
            },
            &three(),
        );
        let read = read_in(&data, &[9], Window::new(Some(START + 1), Some(START + SECOND))).unwrap();
        assert_eq!(read.numbers(), [2]);
        assert_eq!((read.account.packets, read.account.filtered), (3, 2));
        assert_eq!(read.accounted(), data.len() as u64);
    }

    #[test]
    fn a_length_that_lies_costs_no_other_packet() {
        for kind in [LITTLE, BIG] {
            // Too long: the packet is given with the ones that it ate behind it, and these are given again. Too short:
            // what is cut off is lost, not the packets behind it.
            for value in [0xffff_ffff, 300_000, 200_000, 2000, 30, 0] {
                let mut data = pcap(kind, &many());
                data[offset(50) + 8..offset(50) + 12].copy_from_slice(&word(kind.is_big, value));
                for piece in [13, 1000, 100_000] {
                    let read = read_in(&data, &[piece], Window::default()).unwrap();
                    for index in (0..100).filter(|&index| index != 50) {
                        let is_there = read.packets.iter().any(|(_, data)| data[..] == many()[index].1);
                        assert!(is_there, "{index} of {value} by {piece}");
                    }
                    assert_eq!(read.accounted(), data.len() as u64);
                }
            }
        }
    }

    #[test]
    fn garbage_between_packets_is_passed_over() {
        let data = pcap(LITTLE, &many());
        let garbage: Vec<u8> = (0..5000_u32).map(|index| (index * 37 + 11) as u8).collect();
        let data = [&data[..offset(40)], &garbage, &data[offset(40)..]].concat();
        for piece in [13, 1000, 100_000] {
            let read = read_in(&data, &[piece], Window::default()).unwrap();
            let whole = read
                .packets
                .iter()
                .filter(|(_, data)| many().iter().any(|(_, known)| known == data));
            assert_eq!(whole.count(), 100);
            assert_eq!(read.accounted(), data.len() as u64);
        }
    }

    #[test]
    fn files_that_were_joined_are_read_to_the_end() {
        let kinds = [
            LITTLE,
            Kind {
                is_nanoseconds: true,
                link: 113,
                ..LITTLE
            },
            Kind {
                is_modified: true,
                link: 101,
                ..BIG
            },
            LITTLE,
        ];
        let data = kinds.map(|kind| pcap(kind, &three())).concat();
        for piece in [1, 13, 100_000] {
            let read = read_in(&data, &[piece], Window::default()).unwrap();
            let links: Vec<u16> = read.packets.iter().map(|(packet, _)| packet.link_type).collect();
            assert_eq!(links, [1, 1, 1, 113, 113, 113, 101, 101, 101, 1, 1, 1]);
            assert_eq!(read.numbers(), (1..=12).collect::<Vec<u64>>());
            assert!(read.account.losses.is_empty());
            assert_eq!(read.accounted(), data.len() as u64);
        }
    }

    #[test]
    fn an_empty_packet_is_a_packet() {
        // The time of the second is the number that pcap files begin with.
        let times = [START, 0xa1b2_c3d4 * SECOND, START + 1000, START + 2000];
        let data = [vec![], vec![], b"x".to_vec(), vec![]];
        let data = pcap(LITTLE, &times.into_iter().zip(data).collect::<Vec<_>>());
        for piece in [1, 13, 1000] {
            let read = read_in(&data, &[piece], Window::default()).unwrap();
            assert_eq!(
                read.packets
                    .iter()
                    .map(|(packet, _)| packet.captured)
                    .collect::<Vec<u32>>(),
                [0, 0, 1, 0]
            );
            assert!(read.account.losses.is_empty());
        }
    }

    #[test]
    fn zeros_that_a_crash_left_are_no_packets() {
        let data = [pcap(LITTLE, &three()), vec![0; 4096]].concat();
        let read = read_in(&data, &[1000], Window::default()).unwrap();
        assert_eq!(read.packets.len(), 3);
        assert_eq!((read.losses(), read.account.lost_bytes), (vec![NO_HEADER], 4096));
    }

    #[test]
    fn only_versions_that_exist_are_read() {
        let mut data = pcap(LITTLE, &three());
        data[4] = 9;
        let refused = read_in(&data, &[1000], Window::default()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "is a pcap file of version 9.4, which nobody writes"
        );
    }
}
