//! Both directions of one TCP connection: segments in, Kafka messages out, in the order in which they can have happened.
//!
//! A response is never handed on before its request: when the answer to something shows that packets are missing, the
//! answer waits a moment for them (captures swap packets), and then their bytes count as lost.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::copies::At;
use super::delivery::{Arrived, Delivery, Disorder, Evidence, FAR, Held};
use super::frames::{Framer, Mode, Run};
use super::identify::{self, Proxy, Start};
use super::losses::{Loss, Lost};
use super::talk::Talk;
use crate::message::{MessageSink, Spoken, Walker};
use crate::packet::{ACK, FIN, RST, SYN, Segment};

/// What a segment without an acknowledgement answers.
const NOTHING: i64 = -(1 << 62);

/// Bytes of a direction in which nothing was recognised, until it counts as not being Kafka.
const GIVE_UP: u64 = 4 << 20;

/// Messages up to this size are kept whole until they are complete, unless another size is asked for.
pub const KEEP: u32 = 262_144;

/// So many segments of the other side are waited for before its first bytes are taken for a stream in its middle.
const POLITE: usize = 8;

/// What one direction was like. `payload_bytes`: every byte of the stream once; those lost are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub packets: u64,
    pub payload_bytes: u64,
    pub retransmissions: u64,
    pub out_of_order: u64,
    pub duplicates: u64,
    pub zero_windows: u64,
    pub keep_alives: u64,
    pub lost_bytes: u64,
    pub truncated_bytes: u64,
    /// From the first byte of the stream to the last, those lost included.
    pub span: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Side<W> {
    delivery: Delivery,
    framer: Framer<W>,
}

/// One connection; side 0 is the sender of its first packet. `W` eats messages that are too large to keep.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "W: Walker + Deserialize<'de>"))]
pub struct Dialogue<W> {
    #[serde(deserialize_with = "sound_talk")]
    talk: Talk,
    #[serde(deserialize_with = "sound_sides")]
    sides: [Side<W>; 2],
}

impl<W: Walker> Dialogue<W> {
    /// A connection that messages of up to `keep` bytes are kept whole of, usually [`KEEP`].
    pub fn new(keep: u32) -> Dialogue<W> {
        let side = || Side {
            delivery: Delivery::new(),
            framer: Framer::new(),
        };
        Dialogue {
            talk: Talk::new(keep),
            sides: [side(), side()],
        }
    }

    /// What the connection speaks, as far as is known.
    pub fn spoken(&self) -> Spoken {
        self.talk.spoken
    }

    /// The server name that a TLS client asked for.
    pub fn server_name(&self) -> Option<&str> {
        self.talk.server_name()
    }

    /// The mechanism of a SaslHandshake.
    pub fn sasl_mechanism(&self) -> Option<&str> {
        self.talk.sasl_mechanism()
    }

    /// The side that sends requests, where that is known.
    pub fn client_side(&self) -> Option<usize> {
        self.talk.client_side.map(usize::from)
    }

    /// The side of the SYN, where that was captured.
    fn opener(&self) -> Option<usize> {
        self.talk.opener.map(usize::from)
    }

    /// The files that what is to come may name; some of them more than once.
    pub fn files(&self) -> impl Iterator<Item = u32> {
        self.sides.iter().flat_map(|side| {
            let pieces = side.framer.searcher().map_or(&[][..], |searcher| searcher.pieces());
            side.delivery.files().chain(pieces.iter().map(|piece| piece.file))
        })
    }

    /// Looks at what the next packet of this side will look at, so that it comes into the cache: where there are very many
    /// connections, waiting for memory is most of what a packet costs, and several can be waited for at a time.
    #[inline]
    pub fn touch(&self, side: usize) -> u64 {
        let (here, there) = (&self.sides[side & 1], &self.sides[1 - (side & 1)]);
        (here.delivery.touch() ^ there.delivery.next.cast_unsigned())
            .wrapping_add(self.talk.last_request().unwrap_or(0).unsigned_abs().into())
            .wrapping_add(
                self.talk
                    .waiting()
                    .next()
                    .map_or(0, |it| it.api_key.unsigned_abs().into()),
            )
    }

    /// The next packet of the capture.
    #[inline]
    pub fn push<S: MessageSink<Walker = W>>(&mut self, side: usize, segment: &Segment<'_>, sink: &mut S) {
        let side = side & 1;
        let [one, two] = &mut self.sides;
        let (here, there) = if side == 0 { (one, two) } else { (two, one) };
        let (here, there) = (&here.delivery, &there.delivery);
        if segment.flags & (FIN | SYN | RST | ACK) == ACK
            && segment.length > 0
            && segment.sequence == here.next32()
            && segment.acknowledgement.wrapping_sub(there.next32()) as i32 <= 0
            && here.has_begun()
            && there.has_begun()
            && !here.has_held()
            && !there.has_held()
        {
            self.plain(side, segment, sink);
            return;
        }
        self.push_any(side, segment, sink);
    }

    /// Nothing more comes.
    pub fn finish<S: MessageSink<Walker = W>>(&mut self, sink: &mut S) {
        self.settle(sink);
        while self.sides.iter().any(|side| side.delivery.has_gap()) {
            for side in 0..2 {
                if self.sides[side].delivery.has_gap() {
                    self.give_up(side, sink);
                    self.settle(sink);
                }
            }
        }
        self.identify(true, sink);
        if self.talk.spoken == Spoken::None && self.sides.iter().any(|side| side.delivery.span() > 0) {
            let showed_tls = |side: &Side<W>| side.framer.searcher().is_some_and(|it| it.showed_tls());
            let spoken = if self.sides.iter().any(showed_tls) {
                Spoken::Tls
            } else {
                Spoken::Unknown
            };
            self.refuse(None, spoken, None);
        }
        for side in &mut self.sides {
            side.framer.finish(sink);
        }
    }

    /// The figures of one direction.
    pub fn figures(&self, side: usize) -> Figures {
        let Side { delivery: it, framer } = &self.sides[side & 1];
        let disorder = it.disorder();
        let of = |figure: fn(&Disorder) -> u64| disorder.map_or(0, figure);
        let lost_bytes = of(|it| it.lost_bytes);
        let span = it.span();
        Figures {
            packets: it.packets(),
            payload_bytes: span.saturating_sub(lost_bytes),
            retransmissions: of(|it| it.retransmissions),
            out_of_order: of(|it| it.out_of_order),
            duplicates: of(|it| it.duplicates),
            zero_windows: of(|it| it.zero_windows),
            keep_alives: of(|it| it.keep_alives),
            lost_bytes,
            truncated_bytes: framer.losses().map_or(0, |losses| losses.truncated_bytes),
            span,
        }
    }

    /// What is no message or not all of one, by direction.
    ///
    /// The bytes of a direction are its messages and its losses; those "inside messages" are part of both.
    pub fn losses(&self) -> Vec<Loss> {
        let mut found = Vec::new();
        for (number, Side { delivery, framer }) in self.sides.iter().enumerate() {
            let is_request = self.client_side().map(|client| client == number);
            let sums = framer.losses().map_or(&[][..], |losses| losses.sums());
            found.extend(sums.iter().map(|&loss| Loss { is_request, ..loss }));
            if let Some(it) = delivery.disorder()
                && it.strays > 0
            {
                found.push(Loss {
                    is_request,
                    lost: Lost::FarAway,
                    bytes: it.stray_bytes,
                    times: it.strays,
                    time: 0,
                });
            }
        }
        found
    }

    /// The usual case: the next bytes, and nothing is missing.
    #[inline]
    fn plain<S: MessageSink<Walker = W>>(&mut self, side: usize, segment: &Segment<'_>, sink: &mut S) {
        let Side { delivery, framer } = &mut self.sides[side & 1];
        delivery.count(segment, true);
        delivery.copies.remember(segment);
        delivery.next += i64::from(segment.length);
        let Segment { time, number, file, .. } = *segment;
        framer.take(
            &mut self.talk,
            sink,
            Run {
                view: kept(segment),
                length: segment.length.into(),
                time,
                number,
                file,
            },
        );
        if matches!(framer.mode, Mode::Start | Mode::Search) {
            self.identify(false, sink);
        }
    }

    #[inline(never)]
    fn push_any<S: MessageSink<Walker = W>>(&mut self, side: usize, segment: &Segment<'_>, sink: &mut S) {
        if !self.sides[side].delivery.has_begun() || segment.flags & SYN != 0 {
            self.begin(side, segment);
        }
        let there = &mut self.sides[1 - side].delivery;
        let mut answers = NOTHING;
        if segment.flags & (ACK | RST) == ACK && there.has_begun() {
            let position = there.position(segment.acknowledgement);
            if position < there.next + FAR {
                answers = position;
                if position > there.next {
                    there.acknowledged(position, segment);
                }
            }
        }
        let wait = answers > there.next + 1;
        self.count(side, segment, answers, wait, sink);
        if self
            .sides
            .iter()
            .any(|side| side.delivery.has_held() || side.delivery.is_acked_ahead())
        {
            self.release(segment.time, sink);
        }
    }

    /// Tell copies, repetitions and probes from new payload.
    fn count<S: MessageSink<Walker = W>>(
        &mut self,
        side: usize,
        segment: &Segment<'_>,
        answers: i64,
        wait: bool,
        sink: &mut S,
    ) {
        let here = &mut self.sides[side].delivery;
        let Segment {
            flags,
            length,
            sequence,
            time,
            number,
            file,
            ..
        } = *segment;
        let at = At::of(segment);
        let place = here.place(at);
        if here.copies.is_copy(segment) {
            here.disorder_mut().duplicates += 1;
            return;
        }
        let first = sequence.wrapping_add(u32::from(flags & SYN != 0));
        let position = if here.has_begun() { here.position(first) } else { 0 };
        let is_old = length > 0 && position + i64::from(length) <= here.next;
        if is_old && at != place {
            here.disorder_mut().duplicates += 1;
            return;
        }
        here.count(segment, flags & RST == 0);
        let is_probe = flags & (SYN | FIN | RST) == 0 && length <= 1 && position == here.next - 1;
        if is_probe && here.has_begun() && here.next > here.start() {
            here.disorder_mut().keep_alives += 1;
            return;
        }
        if length == 0 || flags & RST != 0 {
            return;
        }
        if !(-FAR + 1..FAR).contains(&(position - here.next)) {
            let disorder = here.disorder_mut();
            disorder.strays += 1;
            disorder.stray_bytes += u64::from(length);
            return;
        }
        if position < here.next {
            here.disorder_mut().retransmissions += 1;
        }
        let piece = Arrived {
            position,
            kept: kept(segment),
            length,
            time,
            number,
            file,
            answers,
        };
        if let Some(Arrived {
            position, kept, length, ..
        }) = here.data(piece, wait)
        {
            here.next = position + i64::from(length);
            let run = Run {
                view: kept,
                length: length.into(),
                time,
                number,
                file,
            };
            self.sides[side].framer.take(&mut self.talk, sink, run);
        }
        if self.sides.iter().any(|side| side.delivery.has_held()) {
            self.settle(sink);
        } else if matches!(self.sides[side].framer.mode, Mode::Start | Mode::Search) {
            self.identify(false, sink);
        }
    }

    /// Find where the streams begin: behind a SYN, else with the first payload.
    fn begin(&mut self, side: usize, segment: &Segment<'_>) {
        fn start<W>(side: &mut Side<W>, sequence: u32) {
            if !side.delivery.has_begun() {
                side.delivery.begin(sequence);
                side.framer.mode = Mode::Start;
            }
        }
        let other = 1 - side;
        if segment.flags & SYN != 0 {
            start(&mut self.sides[side], segment.sequence.wrapping_add(1));
            if segment.flags & ACK != 0 {
                self.talk.opener.get_or_insert(other == 1);
                start(&mut self.sides[other], segment.acknowledgement);
            } else {
                self.talk.opener.get_or_insert(side == 1);
            }
        } else if segment.length > 0 && segment.flags & RST == 0 {
            self.sides[side].delivery.begin(segment.sequence);
        }
    }

    /// Give up holes that will not be filled any more.
    fn release<S: MessageSink<Walker = W>>(&mut self, time: i64, sink: &mut S) {
        for side in 0..2 {
            if !self.sides[side].delivery.has_gap() {
                continue;
            }
            self.sides[side].delivery.disorder_mut().waited += 1;
            loop {
                let alone = self.sides[1 - side].delivery.packets() == 0;
                let is_full = self.sides[1 - side].delivery.is_full();
                let here = &mut self.sides[side].delivery;
                let is_over = here.is_given_up(time, alone) || (is_full && here.has_gap());
                if !is_over {
                    break;
                }
                self.give_up(side, sink);
                self.settle(sink);
            }
        }
    }

    fn give_up<S: MessageSink<Walker = W>>(&mut self, side: usize, sink: &mut S) {
        let Side { delivery, framer } = &mut self.sides[side];
        if let Some((length, evidence)) = delivery.give_up() {
            let Evidence { time, number, file } = evidence;
            framer.gap(
                &mut self.talk,
                sink,
                Run {
                    view: &[],
                    length,
                    time,
                    number,
                    file,
                },
            );
        }
    }

    /// Deliver what was held and has become possible, each piece behind what it answers.
    fn settle<S: MessageSink<Walker = W>>(&mut self, sink: &mut S) {
        loop {
            let [one, two] = self.sides.each_ref().map(|side| &side.delivery);
            let side = match (one.next_held(), two.next_held()) {
                (Some(held), _) if held.answers <= two.next + 1 => 0,
                (_, Some(held)) if held.answers <= one.next + 1 => 1,
                (Some(one), Some(two)) => usize::from(one.number >= two.number),
                _ => break,
            };
            let Side { delivery, framer } = &mut self.sides[side];
            if let Some(piece) = delivery.step() {
                let Held {
                    ref kept,
                    length,
                    time,
                    number,
                    file,
                    ..
                } = piece;
                framer.take(
                    &mut self.talk,
                    sink,
                    Run {
                        view: kept,
                        length: length.into(),
                        time,
                        number,
                        file,
                    },
                );
            }
            self.identify(false, sink);
        }
        self.identify(false, sink);
    }

    /// See what can be recognised, on one side and then with what that tells about the other. `last`: nothing more comes.
    fn identify<S: MessageSink<Walker = W>>(&mut self, last: bool, sink: &mut S) {
        loop {
            let first = self.client_side().unwrap_or(0);
            let mut more = false;
            for side in [first, 1 - first] {
                more |= match self.sides[side].framer.mode {
                    Mode::Start => self.open(side, last, sink),
                    Mode::Search => self.find(side, last, sink),
                    Mode::Frames | Mode::Aside => false,
                };
            }
            if !more {
                return;
            }
        }
    }

    /// Recognise a stream by its first bytes; true where that changes something.
    fn open<S: MessageSink<Walker = W>>(&mut self, side: usize, last: bool, sink: &mut S) -> bool {
        let other = 1 - side;
        let other_mode = self.sides[other].framer.mode;
        let (client, opener) = (self.client_side(), self.opener());
        let framer = &mut self.sides[side].framer;
        let pieces = framer.searcher().map_or(0, |searcher| searcher.pieces().len());
        if client == Some(other) {
            if other_mode != Mode::Frames || pieces == 0 {
                return false;
            }
            let first = framer.searcher_mut().first();
            framer.found(&mut self.talk, sink, first);
            return true;
        }
        if opener == Some(other) {
            if other_mode == Mode::Start && !last && pieces < POLITE {
                return false;
            }
            framer.mode = Mode::Search;
            return true;
        }
        let Some(searcher) = framer.searcher() else {
            return false;
        };
        let position = searcher.first();
        let (first, cut) = searcher.first_bytes();
        match recognise(&first, cut, last) {
            Opening::More => return false,
            Opening::Proxy(length) => framer.skip(length, Lost::ProxyHeader),
            Opening::Midstream => framer.mode = Mode::Search,
            Opening::Unknown => self.refuse(None, Spoken::Unknown, None),
            Opening::Stranger(spoken, server_name) => self.refuse(Some(side), spoken, server_name),
            Opening::Kafka { raw } => {
                self.be_client(side);
                self.talk.raw = raw;
                self.sides[side].framer.found(&mut self.talk, sink, position);
            }
        }
        true
    }

    /// Look for a boundary in mid-stream; whoever sends a request there is the client.
    fn find<S: MessageSink<Walker = W>>(&mut self, side: usize, last: bool, sink: &mut S) -> bool {
        let from_start = self.opener() == Some(1 - side);
        let Side { framer, .. } = &mut self.sides[side];
        let role = framer.is_request;
        if framer.searcher().is_none() {
            return false;
        }
        let searcher = framer.searcher_mut();
        if !searcher.has_news() && !last {
            return false;
        }
        if role.is_none() {
            let stranger = searcher.stranger();
            if stranger.is_some() || searcher.end() > GIVE_UP {
                self.refuse(None, stranger.unwrap_or(Spoken::Unknown), None);
                return true;
            }
        }
        let mut client = side;
        let name = self.talk.name(sink.client_id());
        let mut found = searcher.find(&self.talk, name.as_deref(), role != Some(false), last, from_start);
        if found.is_none() && (role.is_none() || (role == Some(false) && !self.talk.asked)) {
            found = searcher.find_unasked(&self.talk);
            client = 1 - side;
        }
        let Some(position) = found else {
            return false;
        };
        if role.is_none() {
            self.be_client(client);
        }
        self.sides[side].framer.found(&mut self.talk, sink, position);
        true
    }

    /// This side sends requests, so the other one responses.
    fn be_client(&mut self, side: usize) {
        self.talk.client_side = Some(side == 1);
        self.talk.spoken = Spoken::Kafka;
        for (number, it) in self.sides.iter_mut().enumerate() {
            it.framer.is_request = Some(number == side);
        }
    }

    /// Something else is spoken: all of it is counted, nothing is read.
    fn refuse(&mut self, client: Option<usize>, spoken: Spoken, server_name: Option<String>) {
        self.talk.spoken = spoken;
        self.talk.client_side = client.map(|side| side == 1).or(self.talk.opener);
        if spoken == Spoken::Tls {
            self.talk.set_server_name(server_name);
        }
        for side in &mut self.sides {
            side.framer.set_aside(Lost::to(spoken));
        }
    }
}

/// What the first bytes of a stream show.
enum Opening {
    /// Nothing as long as there are no more of them.
    More,
    /// The header of the PROXY protocol, of that length.
    Proxy(usize),
    /// Too little before a hole to tell.
    Midstream,
    Unknown,
    /// Something else than Kafka, and the server name that was asked for.
    Stranger(Spoken, Option<String>),
    /// A request, or a bare token.
    Kafka {
        raw: bool,
    },
}

/// See what a stream begins with. `cut`: there is a hole behind these bytes; `last`: nothing more comes.
fn recognise(first: &[u8], cut: bool, last: bool) -> Opening {
    if first.is_empty() && !cut {
        return Opening::More;
    }
    match identify::proxy_header(first) {
        Proxy::Header(length) if length <= first.len() => return Opening::Proxy(length),
        Proxy::Header(_) if cut => {}
        Proxy::Header(_) | Proxy::More => return Opening::More,
        Proxy::None => {}
    }
    match identify::opening(first, cut || last) {
        Start::More => Opening::More,
        Start::Request => Opening::Kafka { raw: false },
        Start::Token => Opening::Kafka { raw: true },
        Start::Other if cut && first.len() < 12 => Opening::Midstream,
        Start::Other => Opening::Unknown,
        Start::Stranger(Spoken::Tls) if !cut && !last && first.len() < identify::tls_length(first) => Opening::More,
        Start::Stranger(Spoken::Tls) => Opening::Stranger(Spoken::Tls, identify::server_name(first)),
        Start::Stranger(spoken) => Opening::Stranger(spoken, None),
    }
}

/// What was kept of the payload of a segment, which is no more than its length.
#[inline]
fn kept<'a>(segment: &Segment<'a>) -> &'a [u8] {
    let payload = segment.payload;
    if payload.len() as u64 <= u64::from(segment.length) {
        payload
    } else {
        &payload[..segment.length as usize]
    }
}

fn sound<'de, D: Deserializer<'de>, T>(value: T, is_sound: bool) -> Result<T, D::Error> {
    if is_sound {
        Ok(value)
    } else {
        Err(D::Error::custom("the state of a connection contradicts itself"))
    }
}

fn sound_talk<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Talk, D::Error> {
    let talk = Talk::deserialize(deserializer)?;
    let is_sound = talk.is_sound();
    sound::<D, _>(talk, is_sound)
}

fn sound_sides<'de, D: Deserializer<'de>, W: Walker + Deserialize<'de>>(
    deserializer: D,
) -> Result<[Side<W>; 2], D::Error> {
    let sides = <[Side<W>; 2]>::deserialize(deserializer)?;
    let is_sound = sides
        .iter()
        .all(|side| side.delivery.is_sound() && side.framer.is_sound());
    sound::<D, _>(sides, is_sound)
}
