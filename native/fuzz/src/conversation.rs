//! Conversations of a Kafka client with a broker, made of decisions: what was said is known, and as which packets.

use netdiag_wire::packet::{ACK, FIN, PSH, SYN, Segment};

use crate::Script;

/// What a segment carries at most; of one byte each for the worst of clients.
const SEGMENTS: [usize; 6] = [1448, 1, 7, 100, 536, 9000];
const MOST_EXCHANGES: u8 = 24;
const MILLISECOND: i64 = 1_000_000;

/// A segment of the client (side 0) or the broker, and what was captured of it.
#[derive(Clone, Debug)]
pub struct Packet {
    pub side: usize,
    pub sequence: u32,
    pub acknowledgement: u32,
    pub flags: u8,
    pub payload: Vec<u8>,
    /// Bytes of the payload that were captured.
    pub kept: usize,
    pub time: i64,
    pub interface: u32,
}

impl Packet {
    pub fn segment(&self, number: u64) -> Segment<'_> {
        Segment {
            time: self.time,
            number,
            payload: &self.payload[..self.kept.min(self.payload.len())],
            length: self.payload.len() as u32,
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            window: 65_535,
            identification: -1,
            interface: self.interface,
            file: 0,
            flags: self.flags,
            window_scale: -1,
        }
    }
}

/// What client and broker said, and the packets that it took.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The messages of the client and of the broker, without their size fields, in the order in which they were sent.
    pub said: [Vec<Vec<u8>>; 2],
    pub packets: Vec<Packet>,
    next: [u32; 2],
    time: i64,
}

impl Conversation {
    /// As a script decides.
    pub fn of(script: &mut Script<'_>) -> Conversation {
        let mut made = Conversation {
            next: [script.long(), script.long()],
            time: 1_700_000_000_000_000_000,
            ..Conversation::default()
        };
        made.segment(0, SYN, &[]);
        made.segment(1, SYN | ACK, &[]);
        made.segment(0, ACK, &[]);
        let most = script.pick(&SEGMENTS);
        let is_answered_at_once = script.byte().is_multiple_of(2);
        let client_id = script.pick(&[Some("producer-1"), Some("a"), Some(""), None]);
        // Without zeros, also when it is counted up: behind a hole boundaries are found by ids that wait, and small ones
        // stand everywhere.
        let mut correlation_id = (script.long() & 0x7F7F_7F7F | 0x0101_0101) as i32;
        let mut left = script.byte() % MOST_EXCHANGES + 1;
        while left > 0 {
            let together = (script.byte() % 4 + 1).min(left);
            left -= together;
            let mut answers = Vec::new();
            for _ in 0..together {
                let kind = script.pick(&KINDS);
                let (asked, answer) = kind.bodies(script);
                let (key, version) = kind.api();
                let mut request = Out::default();
                request.int16(key).int16(version).int32(correlation_id);
                request.nullable(client_id).bytes(&asked);
                made.say(0, &request.0, most, !is_answered_at_once);
                if let Some(answer) = answer {
                    let mut response = Out::default();
                    response.int32(correlation_id).bytes(&answer);
                    answers.push(response.0);
                }
                correlation_id = correlation_id.wrapping_add(1);
            }
            for answer in answers {
                made.say(1, &answer, most, !is_answered_at_once);
            }
        }
        made.segment(0, FIN | ACK, &[]);
        made.segment(1, FIN | ACK, &[]);
        made
    }

    /// A message, in segments that the other side acknowledges at once or with what it says next.
    fn say(&mut self, side: usize, message: &[u8], most: usize, is_acknowledged: bool) {
        let whole = [&(message.len() as u32).to_be_bytes()[..], message].concat();
        // Not more packets than a round of fuzzing has time for.
        for piece in whole.chunks(most.max(whole.len() / 64)) {
            self.segment(side, ACK | PSH, piece);
            if is_acknowledged {
                self.segment(1 - side, ACK, &[]);
            }
        }
        self.said[side].push(message.to_vec());
    }

    fn segment(&mut self, side: usize, flags: u8, payload: &[u8]) {
        self.time += MILLISECOND;
        self.packets.push(Packet {
            side,
            sequence: self.next[side],
            acknowledgement: if flags & ACK != 0 { self.next[1 - side] } else { 0 },
            flags,
            payload: payload.to_vec(),
            kept: payload.len(),
            time: self.time,
            interface: 0,
        });
        let length = payload.len() as u32 + u32::from(flags & (SYN | FIN) != 0);
        self.next[side] = self.next[side].wrapping_add(length);
    }
}

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Heartbeat,
    Metadata,
    Produce,
    /// With acks=0, so that there is no answer.
    ProduceUnanswered,
    Fetch,
    ApiVersions,
}

const KINDS: [Kind; 6] = [
    Kind::Heartbeat,
    Kind::Metadata,
    Kind::Produce,
    Kind::Fetch,
    Kind::ProduceUnanswered,
    Kind::ApiVersions,
];

impl Kind {
    fn api(self) -> (i16, i16) {
        match self {
            Kind::Heartbeat => (12, 0),
            Kind::Metadata => (3, 1),
            Kind::Produce | Kind::ProduceUnanswered => (0, 3),
            Kind::Fetch => (1, 4),
            Kind::ApiVersions => (18, 0),
        }
    }

    /// A request and its response, where it has one.
    fn bodies(self, script: &mut Script<'_>) -> (Vec<u8>, Option<Vec<u8>>) {
        let topic = Some(script.pick(&["orders", "t", "a.topic.with.a.name.that.is.rather.long", "\u{fc}"]));
        let (mut asked, mut answer) = (Out::default(), Out::default());
        match self {
            Kind::Heartbeat => {
                asked.nullable(Some("group")).int32(7).nullable(Some("member-1"));
                answer.int16(script.pick(&[0, 27, 25]));
            }
            Kind::Metadata => {
                let count = i32::from(script.byte() % 8);
                asked.int32(1).nullable(topic);
                answer
                    .int32(1)
                    .int32(1)
                    .nullable(Some("broker"))
                    .int32(9092)
                    .nullable(None);
                answer
                    .int32(1)
                    .int32(1)
                    .int16(0)
                    .nullable(topic)
                    .bytes(&[0])
                    .int32(count);
                for partition in 0..count {
                    answer.int16(0).int32(partition).int32(1);
                    answer.int32(1).int32(1).int32(1).int32(1);
                }
            }
            Kind::Produce | Kind::ProduceUnanswered => {
                let is_answered = self == Kind::Produce;
                let records = batch(script);
                asked
                    .nullable(None)
                    .int16(i16::from(is_answered))
                    .int32(30_000)
                    .int32(1);
                asked
                    .nullable(topic)
                    .int32(1)
                    .int32(0)
                    .int32(records.len() as i32)
                    .bytes(&records);
                answer
                    .int32(1)
                    .nullable(topic)
                    .int32(1)
                    .int32(0)
                    .int16(0)
                    .int64(100)
                    .int64(-1)
                    .int32(0);
                if !is_answered {
                    return (asked.0, None);
                }
            }
            Kind::Fetch => {
                let records = batch(script);
                asked.int32(-1).int32(500).int32(1).int32(1 << 20).bytes(&[0]).int32(1);
                asked.nullable(topic).int32(1).int32(0).int64(100).int32(1 << 20);
                answer
                    .int32(0)
                    .int32(1)
                    .nullable(topic)
                    .int32(1)
                    .int32(0)
                    .int16(0)
                    .int64(101)
                    .int64(101);
                answer.int32(0).int32(records.len() as i32).bytes(&records);
            }
            Kind::ApiVersions => {
                answer
                    .int16(0)
                    .int32(2)
                    .int16(0)
                    .int16(0)
                    .int16(9)
                    .int16(1)
                    .int16(0)
                    .int16(13);
            }
        }
        (asked.0, Some(answer.0))
    }
}

/// A record batch of a size that is decided, with a content that is none of Kafka's messages.
fn batch(script: &mut Script<'_>) -> Vec<u8> {
    let size = usize::from(script.short() % 20_000);
    let mut state = u64::from(script.byte()) << 8 | 1;
    let mut records = vec![0; size];
    for byte in &mut records {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *byte = (state >> 24) as u8;
    }
    let mut made = Out::default();
    made.int64(100)
        .int32(49 + size as i32)
        .int32(0)
        .bytes(&[2])
        .int32(0x1234_5678)
        .int16(0);
    made.int32(0)
        .int64(1_700_000_000_000)
        .int64(1_700_000_000_000)
        .int64(-1)
        .int16(-1)
        .int32(-1)
        .int32(1);
    made.bytes(&records);
    made.0
}

/// Values of Kafka's protocol, one behind the other.
#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Out {
        self.0.extend_from_slice(bytes);
        self
    }

    fn int16(&mut self, value: i16) -> &mut Out {
        self.bytes(&value.to_be_bytes())
    }

    fn int32(&mut self, value: i32) -> &mut Out {
        self.bytes(&value.to_be_bytes())
    }

    fn int64(&mut self, value: i64) -> &mut Out {
        self.bytes(&value.to_be_bytes())
    }

    fn nullable(&mut self, text: Option<&str>) -> &mut Out {
        match text {
            Some(text) => self.int16(text.len() as i16).bytes(text.as_bytes()),
            None => self.int16(-1),
        }
    }
}
