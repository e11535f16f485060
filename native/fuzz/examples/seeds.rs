//! `seeds FOLDER FILE...`: what fuzzing begins with, made of captures and of logs of brokers (`.log`, with their indexes):
//! a folder of inputs for each target.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::{env, fs};

use netdiag_fuzz::capture::compressed;
use netdiag_fuzz::unpacking::{WAYS, packed};
use netdiag_wire::capture::{CaptureReader, Compression, Shared, Window};
use netdiag_wire::decode::{self, Decoded};
use netdiag_wire::flow::{Entry, FlowSink, Flows};
use netdiag_wire::kafka::{request_header, response_header};
use netdiag_wire::message::{Message, MessageSink, Spare, Walker};
use netdiag_wire::packet::{Packet, Segment};
use netdiag_wire::tcp::Dialogue;

/// So long is a piece of a capture, and so long the largest message.
const PIECE: usize = 3000;
const MESSAGE: usize = 1500;
/// So many messages of one kind.
const ALIKE: usize = 2;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [folder, captures @ ..] = &words[..] else {
        panic!("seeds FOLDER FILE...");
    };
    let mut made: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
    let mut messages = Messages::default();
    let (logs, captures): (Vec<_>, Vec<_>) = captures.iter().partition(|name| name.ends_with(".log"));
    for log in logs {
        made.entry("logs").or_default().push(log_with_indexes(Path::new(log))?);
    }
    for capture in captures {
        let packets = packets(&fs::read(capture)?);
        for piece in pieces(&packets) {
            let little = pcap(piece);
            let next = pcapng(piece);
            let forms = [
                Compression::Gzip,
                Compression::Zstd,
                Compression::Lz4,
                Compression::Snappy,
            ];
            let which = made.entry("capture").or_default();
            which.push([&[0, 0], &little[..]].concat());
            which.push([&[3, 1], &next[..]].concat());
            let form = forms[which.len() / 2 % forms.len()];
            which.push([&[2, 0], &compressed(form, &little)[..]].concat());
            let states = made.entry("state").or_default();
            states.push([&[0, 0x2c, 1, 0], &little[..]].concat());
            states.push([&[16, 0x2c, 1, 0], &next[..]].concat());
            states.push([&[0, 0x2c, 4, 1, 90, 0, 2, 1], &little[..]].concat());
            states.push([&[16, 0x2c, 4, 1, 90, 0, 2, 1], &little[..]].concat());
        }
        messages.add(&packets);
    }
    for (key, version, is_request, body) in messages.bodies {
        for way in [8 + 4 * u8::from(version % 2 == 0), 24, 16] {
            let head = [key, version, u8::from(is_request) | way];
            let more: &[u8] = match way {
                24 => &[],
                16 => &[20, 0],
                _ => &[0, 7, 90, 0],
            };
            made.entry("messages").or_default().push([&head, more, &body].concat());
        }
    }
    for (number, way) in (0..).zip(WAYS) {
        let text = b"some text, some text and some more text ".repeat(6);
        let inputs = made.entry("unpacking").or_default();
        inputs.push([&[number, 0, 1], &packed(way, &text)[..]].concat());
        inputs.push([&[number, 0, 0], &text[..]].concat());
    }
    for number in 0..=255_u8 {
        let conversation: Vec<u8> = (0..90)
            .map(|place: u8| place.wrapping_mul(number | 1) ^ number)
            .collect();
        made.entry("tcp")
            .or_default()
            .push([&[number, number], &conversation[..]].concat());
    }
    for (target, inputs) in made {
        let folder = Path::new(folder).join(target);
        fs::create_dir_all(&folder)?;
        for (number, input) in inputs.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), input)?;
        }
    }
    Ok(())
}

/// The beginning of a log, and of each index beside it.
fn log_with_indexes(log: &Path) -> std::io::Result<Vec<u8>> {
    let name = log.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let base: u8 = name.parse().unwrap_or_default();
    let mut input = vec![0, 1, base];
    let mut indexes = Vec::new();
    for (ending, entry) in [("index", 8), ("timeindex", 12), ("txnindex", 34)] {
        let whole = fs::read(log.with_extension(ending)).unwrap_or_default();
        let used = whole.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let kept = used.next_multiple_of(entry).min(3 * entry).min(whole.len());
        input.push(kept as u8);
        indexes.extend(&whole[..kept]);
    }
    let data = fs::read(log)?;
    Ok([input, indexes, data[..data.len().min(PIECE)].to_vec()].concat())
}

type Kept = (Packet, Vec<u8>);

fn packets(file: &[u8]) -> Vec<Kept> {
    let mut reader = CaptureReader::new(0, Window::default(), Shared::default());
    let chunks = [reader.feed(file), reader.finish()].map(|chunk| chunk.expect("a capture"));
    let all = chunks.iter().flatten();
    all.flat_map(|chunk| {
        chunk
            .packets()
            .iter()
            .map(|packet| (*packet, chunk.data(packet).to_vec()))
    })
    .collect()
}

/// Packets that follow one another, of so many bytes.
fn pieces(packets: &[Kept]) -> impl Iterator<Item = &[Kept]> {
    let mut size = 0;
    packets.chunk_by(move |one, _| {
        size += one.1.len();
        let fits = size < PIECE;
        size *= usize::from(fits);
        fits
    })
}

fn pcap(packets: &[Kept]) -> Vec<u8> {
    let mut made = Vec::new();
    let link = packets.first().map_or(1, |(packet, _)| packet.link_type);
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, u32::from(link)] {
        made.extend(u32::to_le_bytes(word));
    }
    for (packet, data) in packets {
        let micros = packet.time / 1000;
        for word in [
            (micros / 1_000_000) as u32,
            (micros % 1_000_000) as u32,
            packet.captured,
            packet.length,
        ] {
            made.extend(word.to_le_bytes());
        }
        made.extend(data);
    }
    made
}

fn pcapng(packets: &[Kept]) -> Vec<u8> {
    let link = packets.first().map_or(1, |(packet, _)| packet.link_type);
    let mut made = block(
        0x0a0d_0d0a,
        &[&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat(),
    );
    let name = [&[2, 0, 4, 0][..], b"eth0", &[0; 4]].concat();
    made.extend(block(1, &[&link.to_le_bytes()[..], &[0; 6], &name].concat()));
    for (packet, data) in packets {
        let micros = (packet.time / 1000) as u64;
        let head = [0, (micros >> 32) as u32, micros as u32, packet.captured, packet.length];
        let mut body: Vec<u8> = head.into_iter().flat_map(u32::to_le_bytes).collect();
        body.extend(data);
        body.resize(body.len().next_multiple_of(4), 0);
        made.extend(block(6, &body));
    }
    made
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let size = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &size, body, &size].concat()
}

/// The bodies of messages, a few of each kind: api key, version and whether it is a request.
#[derive(Default)]
struct Messages {
    bodies: Vec<(u8, u8, bool, Vec<u8>)>,
    alike: HashMap<(i16, i16, bool), usize>,
    spare: Spare<Passes>,
}

impl Messages {
    fn add(&mut self, packets: &[Kept]) {
        let mut flows = Flows::new(1000, false);
        let mut talks = Talks {
            messages: self,
            open: HashMap::new(),
        };
        for (packet, data) in packets {
            if let Decoded::Segment { key, segment } = decode::decode(packet, data) {
                flows.push(&key, None, &segment, &mut talks);
            }
        }
        while flows.finish(100, &mut talks) {}
    }

    fn push(&mut self, api_key: i16, api_version: i16, is_request: bool, body: &[u8]) {
        let alike = self.alike.entry((api_key, api_version, is_request)).or_default();
        let (Ok(key), Ok(version)) = (u8::try_from(api_key), u8::try_from(api_version)) else {
            return;
        };
        if *alike < ALIKE && body.len() <= MESSAGE {
            *alike += 1;
            self.bodies.push((key, version, is_request, body.to_vec()));
        }
    }
}

/// Connections, each with the requests that wait for a response.
struct Talks<'a> {
    messages: &'a mut Messages,
    open: HashMap<u32, (Dialogue<Passes>, Waiting)>,
}

type Waiting = HashMap<i32, (i16, i16)>;

struct Passes;

impl Walker for Passes {
    fn feed(&mut self, _: &[u8]) {}

    fn lost(&mut self, _: u64) {}
}

impl FlowSink for Talks<'_> {
    fn open(&mut self, slot: u32, _: &Entry) {
        self.open.insert(slot, (Dialogue::new(1 << 20), Waiting::new()));
    }

    fn segment(&mut self, slot: u32, side: u8, _: &Entry, segment: &Segment<'_>) {
        if let Some((dialogue, waiting)) = self.open.get_mut(&slot) {
            let messages = &mut *self.messages;
            dialogue.push(side.into(), segment, &mut Sink { messages, waiting });
        }
    }

    fn close(&mut self, slot: u32, _: Box<Entry>) {
        if let Some((mut dialogue, mut waiting)) = self.open.remove(&slot) {
            let messages = &mut *self.messages;
            dialogue.finish(&mut Sink {
                messages,
                waiting: &mut waiting,
            });
        }
    }
}

struct Sink<'a> {
    messages: &'a mut Messages,
    waiting: &'a mut Waiting,
}

impl MessageSink for Sink<'_> {
    type Walker = Passes;

    fn message(&mut self, message: Message<'_, Passes>) {
        let Message {
            is_request, size, head, ..
        } = message;
        if is_request {
            let header = request_header(head, size);
            if let (Some(key), Some(version), Some(id), Some(body)) =
                (header.api_key, header.api_version, header.correlation_id, header.body)
            {
                self.waiting.insert(id, (key, version));
                self.messages.push(key, version, true, &head[body..]);
            }
        } else if let Some(id) = head.first_chunk().map(|id| i32::from_be_bytes(*id))
            && let Some((key, version)) = self.waiting.remove(&id)
            && let Some(body) = response_header(head, key, version).body
        {
            self.messages.push(key, version, false, &head[body..]);
        }
    }

    fn begin_walk(&mut self, _: bool, _: u32, _: &[u8]) -> Option<Passes> {
        None
    }

    fn spare(&mut self) -> &mut Spare<Passes> {
        &mut self.messages.spare
    }

    fn client_id(&self) -> Option<&str> {
        None
    }
}
