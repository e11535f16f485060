//! Delivery, framing and identification: nothing is invented where packets are only missing, repeated, cut short or out
//! of order, all is found where none is, and every byte of a stream is in a message or in a loss.

use netdiag_wire::kafka::request_header;
use netdiag_wire::message::{Message, MessageSink, Spare, Walker};
use netdiag_wire::packet::Segment;
use netdiag_wire::tcp::{Dialogue, KEEP, Lost};

use crate::{Conversation, Packet, Script};

/// A message that was found.
#[derive(Debug)]
struct Found {
    is_request: bool,
    size: u32,
    head: Vec<u8>,
    /// What passed by, byte by byte, where it was too large to keep: None where bytes are missing.
    passed: Option<Vec<Option<u8>>>,
}

#[derive(Debug, Default)]
struct Sink {
    found: Vec<Found>,
    spare: Spare<Notes>,
}

/// Notes what passes by.
#[derive(Debug, Default)]
struct Notes(Vec<Option<u8>>);

/// No message of these conversations is larger.
const MOST_NOTED: usize = 1 << 20;

impl Walker for Notes {
    fn feed(&mut self, piece: &[u8]) {
        if self.0.len() < MOST_NOTED {
            self.0.extend(piece.iter().copied().map(Some));
        }
    }

    fn lost(&mut self, count: u64) {
        let room = MOST_NOTED.saturating_sub(self.0.len()) as u64;
        self.0.resize(self.0.len() + count.min(room) as usize, None);
    }
}

impl MessageSink for Sink {
    type Walker = Notes;

    fn message(&mut self, message: Message<'_, Notes>) {
        assert!(message.head.len() <= message.size as usize);
        self.found.push(Found {
            is_request: message.is_request,
            size: message.size,
            head: message.head.to_vec(),
            passed: message.walker.map(|notes| notes.0),
        });
    }

    fn begin_walk(&mut self, _: bool, size: u32, _: &[u8]) -> Option<Notes> {
        (!size.is_multiple_of(3)).then(Notes::default)
    }

    fn spare(&mut self) -> &mut Spare<Notes> {
        &mut self.spare
    }

    fn client_id(&self) -> Option<&str> {
        let mut requests = self.found.iter().filter(|found| found.is_request);
        let id = requests.find_map(|found| request_header(&found.head, found.size).client_id)?;
        std::str::from_utf8(id).ok()
    }
}

/// An input: how much is kept of messages, then a conversation and what befalls its packets, or segments.
pub fn check(input: &[u8]) {
    let mut script = Script::new(input);
    let keep = script.pick(&[KEEP, 600, 20, 4096]);
    if script.byte() % 4 == 3 {
        any_segments(script, keep);
    } else {
        conversation(&mut script, keep);
    }
}

fn conversation(script: &mut Script<'_>, keep: u32) {
    let said = Conversation::of(script);
    let mut packets = said.packets.clone();
    let is_whole = befall(script, &mut packets);
    let mut dialogue = Dialogue::new(keep);
    let mut sink = Sink::default();
    for (number, packet) in (1..).zip(&packets) {
        dialogue.push(packet.side, &packet.segment(number), &mut sink);
    }
    dialogue.finish(&mut sink);
    is_balanced(&dialogue, &sink);
    let mut left = [&said.said[0][..], &said.said[1][..]];
    let mut count = 0;
    for found in &sink.found {
        let messages = &mut left[usize::from(!found.is_request)];
        let place = messages.iter().position(|message| is_it(found, message));
        let place = place.unwrap_or_else(|| panic!("a message that nobody sent: {found:?}"));
        *messages = &messages[place + 1..];
        count += 1;
        assert!(
            !is_whole || found.passed.is_some() || found.head.len() == found.size as usize || found.size > keep,
            "a part of a message of which all bytes are there"
        );
    }
    assert!(
        !is_whole || count == said.said[0].len() + said.said[1].len(),
        "messages were not found"
    );
}

/// Whether what was found is what is there of a message.
fn is_it(found: &Found, message: &[u8]) -> bool {
    let notes = found.passed.as_deref().unwrap_or_default();
    found.size as usize == message.len()
        && message.starts_with(&found.head)
        && notes.len() <= message.len()
        && notes
            .iter()
            .zip(message)
            .all(|(note, byte)| note.is_none_or(|note| note == *byte))
}

/// What befalls packets until the script is over; whether the messages are all there still, in their order.
fn befall(script: &mut Script<'_>, packets: &mut Vec<Packet>) -> bool {
    let mut is_whole = true;
    let mut at = 0;
    while at < packets.len() && !script.is_over() {
        let fate = script.byte();
        match fate % 16 {
            9 => {
                let count = usize::from(fate / 16).min(packets.len() - at);
                packets.drain(at..at + count.max(1));
                is_whole = false;
            }
            10 => {
                packets.remove(at);
                is_whole = false;
            }
            11 => {
                let packet = &mut packets[at];
                packet.kept = packet.kept.min(usize::from(script.byte()));
                is_whole &= packet.kept == packet.payload.len();
                at += 1;
            }
            12 => {
                // The same packet at another interface, or sent once more.
                let mut again = packets[at].clone();
                again.interface = u32::from(fate / 16 % 2);
                again.time += i64::from(fate / 32) * 50_000_000;
                packets.insert(at + 1, again);
                at += 2;
            }
            13 => {
                let later = (at + 1 + usize::from(fate / 16)).min(packets.len() - 1);
                packets[at..=later].rotate_left(1);
                is_whole &= at == later;
                at += 1;
            }
            14 => {
                // Silence.
                let wait = i64::from(script.byte()) * 100_000_000;
                packets[at..].iter_mut().for_each(|packet| packet.time += wait);
                at += 1;
            }
            15 => at += usize::from(fate / 16) * 4 + 1,
            _ => at += 1,
        }
    }
    is_whole
}

/// Segments of whatever the bytes are.
fn any_segments(mut script: Script<'_>, keep: u32) {
    let mut dialogue = Dialogue::new(keep);
    let mut sink = Sink::default();
    let mut next = [script.long(), script.long()];
    let (mut time, mut number) = (0_i64, 0);
    while !script.is_over() {
        let how = script.byte();
        let side = usize::from(how & 1);
        let flags = script.pick(&[16, 24, 2, 18, 17, 4, 0, 20]);
        if how & 2 != 0 {
            let off = i32::from(script.short() as i16);
            next[side] = next[side].wrapping_add_signed(if how & 4 != 0 { off } else { off.wrapping_mul(70_000) });
        }
        let acknowledgement = match how & 8 {
            0 => next[1 - side],
            _ => next[1 - side].wrapping_add_signed(i32::from(script.short() as i16)),
        };
        let size = match how >> 4 & 3 {
            0 => 0,
            1 => usize::from(script.byte() % 32),
            _ => usize::from(script.byte()),
        };
        let payload = script.take(size);
        let more = if how & 64 != 0 { u32::from(script.short()) } else { 0 };
        time += if how & 128 != 0 { i64::from(script.long()) } else { 1000 };
        number += 1;
        let length = payload.len() as u32 + more;
        let segment = Segment {
            time,
            number,
            payload,
            length,
            sequence: next[side],
            acknowledgement,
            window: u32::from(how) * 16,
            identification: -1,
            interface: 0,
            file: 0,
            flags,
            window_scale: -1,
        };
        dialogue.push(side, &segment, &mut sink);
        next[side] = next[side].wrapping_add(length + u32::from(flags & 3 != 0));
    }
    dialogue.finish(&mut sink);
    is_balanced(&dialogue, &sink);
}

/// The bytes of each stream are those of its messages and its losses.
fn is_balanced(dialogue: &Dialogue<Notes>, sink: &Sink) {
    let figures = [dialogue.figures(0), dialogue.figures(1)];
    let span: u64 = figures.iter().map(|side| side.span).sum();
    let framed: u64 = sink.found.iter().map(|found| 4 + u64::from(found.size)).sum();
    let is_outside = |lost| !matches!(lost, Lost::GapInside | Lost::TruncatedInside | Lost::FarAway);
    let losses = dialogue.losses();
    let outside: u64 = losses
        .iter()
        .filter(|loss| is_outside(loss.lost))
        .map(|loss| loss.bytes)
        .sum();
    assert_eq!(span, framed + outside, "{figures:?} {losses:?}");
}
