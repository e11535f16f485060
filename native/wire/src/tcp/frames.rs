//! Kafka messages from one direction of a connection, by their size fields, also where bytes are missing.
//!
//! TCP says how many bytes a hole has. So a message that the snap length cut short, or that lost a packet, ends where
//! its size says, and the next one begins there. Boundaries are lost only with a size field; `resync` finds them again.

use serde::{Deserialize, Serialize};

use super::identify::{LARGEST, SMALLEST_REQUEST, SMALLEST_RESPONSE, index, is_request, part};
use super::losses::{Losses, Lost};
use super::resync::Searcher;
use super::talk::Talk;
use super::unframed::{Piece, behind};
use crate::message::{Message, MessageSink, Partial, Times, Walker};

/// The bytes of a message that a walker eats which are kept all the same.
const WALK_HEAD: usize = 4096;

/// A buffer has room for no more than this ahead of what has come, whatever size a message says it has.
const ROOM: usize = 65_536;

/// What a direction is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Mode {
    /// At the first byte of the stream.
    Start,
    /// No boundary is known.
    Search,
    Frames,
    /// This is not Kafka.
    Aside,
}

/// Bytes of a stream in order: `view` is what was kept of `length`.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub view: &'a [u8],
    pub length: u64,
    pub time: i64,
    pub number: u64,
    pub file: u32,
}

impl Run<'_> {
    fn behind(self, count: u64) -> Self {
        Run {
            view: behind(self.view, count),
            length: self.length.saturating_sub(count),
            ..self
        }
    }

    fn piece(self, gap: bool) -> Piece {
        let Run {
            view,
            length,
            time,
            number,
            file,
        } = self;
        Piece {
            start: 0,
            kept: view.to_vec(),
            length,
            time,
            number,
            file,
            gap,
        }
    }
}

/// What is in no message, or not in one yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Rest {
    searcher: Option<Searcher>,
    losses: Losses,
}

/// Takes one direction in order and hands its messages to the sink.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Framer<W> {
    partial: Option<Box<Partial<W>>>,
    rest: Option<Box<Rest>>,
    /// Bytes that the partial message lacks; 0 where there is none.
    left: u32,
    /// How many bytes of a split size field have come; they are in the buffer of the partial message.
    header: u8,
    pub mode: Mode,
    /// Whether requests or responses travel this way; `None` as long as nobody knows.
    pub is_request: Option<bool>,
    aside: Lost,
}

impl<W: Walker> Framer<W> {
    pub fn new() -> Framer<W> {
        Framer {
            partial: None,
            rest: None,
            left: 0,
            header: 0,
            mode: Mode::Search,
            is_request: None,
            aside: Lost::Unknown,
        }
    }

    /// The next bytes.
    #[inline]
    pub fn take<S: MessageSink<Walker = W>>(&mut self, talk: &mut Talk, sink: &mut S, run: Run<'_>) {
        let kept = run.view.len() as u64;
        if kept < run.length {
            let losses = &mut self.rest.get_or_insert_default().losses;
            losses.truncated_bytes = losses.truncated_bytes.saturating_add(run.length - kept);
        }
        if self.mode == Mode::Frames {
            self.cut(talk, sink, run);
        } else {
            self.put_aside(run.piece(false));
        }
    }

    /// The next `length` bytes are in no packet; the given one shows that they were sent.
    pub fn gap<S: MessageSink<Walker = W>>(&mut self, talk: &mut Talk, sink: &mut S, run: Run<'_>) {
        if self.mode != Mode::Frames {
            self.put_aside(run.piece(true));
            return;
        }
        let inside = run.length.min(self.left.into());
        if inside > 0 {
            self.note(Lost::GapInside, inside, run.time);
            self.body(
                talk,
                sink,
                Run {
                    view: &[],
                    length: inside,
                    ..run
                },
                true,
            );
        }
        if run.length > inside {
            self.lose(run.behind(inside).piece(true));
        }
    }

    /// Cut the next bytes into messages.
    #[inline]
    fn cut<S: MessageSink<Walker = W>>(&mut self, talk: &mut Talk, sink: &mut S, run: Run<'_>) {
        let Run {
            view,
            length,
            time,
            number,
            file,
        } = run;
        let kept = view.len();
        let mut offset = 0;
        if self.left > 0 || self.header > 0 {
            match self.go_on(talk, sink, run) {
                Some(next) => offset = next,
                None => return,
            }
        }
        let keep = talk.keep;
        while let Some(&size) = view.get(offset..).and_then(|rest| rest.first_chunk()) {
            let size = i32::from_be_bytes(size);
            if !self.is_size(talk, size) {
                break;
            }
            let size = size as u32;
            let end = offset + 4 + size as usize;
            if end as u64 > length || size > keep {
                self.begin(sink, size, time, number);
                offset += 4;
                let inside = u64::from(size).min(length - offset as u64);
                let body = part(view, offset, offset + inside as usize);
                self.body(
                    talk,
                    sink,
                    Run {
                        view: body,
                        length: inside,
                        ..run
                    },
                    false,
                );
                if self.left > 0 {
                    return;
                }
                offset = end;
                continue;
            }
            if end > kept {
                self.note(Lost::TruncatedInside, (end - kept) as u64, time);
            }
            let times = Times {
                start_time: time,
                end_time: time,
                start_number: number,
                end_number: number,
                file,
            };
            self.emit(talk, sink, size, part(view, offset + 4, end), None, times);
            offset = end;
        }
        if offset as u64 >= length {
            return;
        }
        let rest = run.behind(offset as u64);
        if kept as u64 == length && rest.view.len() < 4 {
            let partial = self.partial(sink);
            partial.buffer.clear();
            partial.buffer.extend_from_slice(rest.view);
            (partial.start_time, partial.start_number) = (time, number);
            self.header = rest.view.len() as u8;
            return;
        }
        self.lose(rest.piece(false));
    }

    /// Count bytes as lost.
    pub fn note(&mut self, lost: Lost, bytes: u64, time: i64) {
        self.rest.get_or_insert_default().losses.note(lost, bytes, time);
    }

    pub fn losses(&self) -> Option<&Losses> {
        self.rest.as_ref().map(|rest| &rest.losses)
    }

    /// The bytes whose boundaries are not known, unless there are none.
    pub fn searcher(&self) -> Option<&Searcher> {
        self.rest.as_ref()?.searcher.as_ref()
    }

    pub fn searcher_mut(&mut self) -> &mut Searcher {
        self.rest.get_or_insert_default().searcher.get_or_insert_default()
    }

    /// This direction is not Kafka: all of it is counted as something else.
    pub fn set_aside(&mut self, lost: Lost) {
        self.mode = Mode::Aside;
        self.aside = lost;
        self.forget_searched(lost);
    }

    /// A message begins at a position of what was put aside.
    pub fn found<S: MessageSink<Walker = W>>(&mut self, talk: &mut Talk, sink: &mut S, position: u64) {
        let Some(mut searcher) = self.rest.as_mut().and_then(|rest| rest.searcher.take()) else {
            return;
        };
        self.rest.take_if(|rest| rest.losses.is_empty());
        let (before, after) = searcher.cut(position);
        self.forget(&before, Lost::Resync);
        self.mode = Mode::Frames;
        for piece in after {
            let Piece {
                ref kept,
                length,
                time,
                number,
                file,
                gap,
                ..
            } = piece;
            let run = Run {
                view: kept,
                length,
                time,
                number,
                file,
            };
            if self.mode != Mode::Frames {
                self.searcher_mut().add(piece);
            } else if gap {
                self.gap(talk, sink, run);
            } else {
                self.cut(talk, sink, run);
            }
        }
    }

    /// Leave out what stands in front of the protocol.
    pub fn skip(&mut self, length: usize, lost: Lost) {
        let searcher = self.searcher_mut();
        let (before, after) = searcher.cut(searcher.first().saturating_add(length as u64));
        for piece in after {
            searcher.add(piece);
        }
        self.forget(&before, lost);
    }

    /// Nothing more comes: what is not a whole message is lost.
    pub fn finish<S: MessageSink<Walker = W>>(&mut self, sink: &mut S) {
        if self.mode != Mode::Frames {
            self.forget_searched(Lost::Resync);
        } else {
            self.cut_off(sink);
        }
        if let Some(partial) = self.partial.take() {
            sink.spare().give(partial);
        }
    }

    fn cut_off<S: MessageSink<Walker = W>>(&mut self, sink: &mut S) {
        let header = u64::from(self.header);
        if self.left > 0 || header > 0 {
            let left = self.left;
            let partial = self.partial(sink);
            let (framed, time) = (u64::from(partial.size.saturating_sub(left)), partial.start_time);
            self.note(Lost::GapAtEnd, if left > 0 { 4 + framed } else { header }, time);
        }
        self.left = 0;
        self.header = 0;
    }

    /// The message that is not complete, or room for one.
    fn partial<S: MessageSink<Walker = W>>(&mut self, sink: &mut S) -> &mut Partial<W> {
        self.partial.get_or_insert_with(|| sink.spare().take())
    }

    /// Whether a message can have this size.
    #[inline]
    fn is_size(&self, talk: &Talk, size: i32) -> bool {
        let least = if self.is_request == Some(true) {
            SMALLEST_REQUEST
        } else {
            SMALLEST_RESPONSE
        };
        (least..=LARGEST).contains(&size) || (talk.raw && (0..=LARGEST).contains(&size))
    }

    /// Count pieces as lost that hold no message: what was kept as the given kind, the rest as what it is.
    fn forget(&mut self, pieces: &[Piece], lost: Lost) {
        for piece in pieces {
            let kept = piece.kept.len() as u64;
            if kept > 0 {
                self.note(lost, kept, piece.time);
            }
            if kept < piece.length {
                let missing = if piece.gap {
                    Lost::GapBetween
                } else {
                    Lost::TruncatedBetween
                };
                self.note(missing, piece.length - kept, piece.time);
            }
        }
    }

    fn forget_searched(&mut self, lost: Lost) {
        if let Some(searcher) = self.rest.as_mut().and_then(|rest| rest.searcher.as_mut()) {
            let pieces = searcher.cut(u64::MAX).0;
            self.forget(&pieces, lost);
        }
    }

    fn put_aside(&mut self, piece: Piece) {
        if self.mode == Mode::Aside {
            self.forget(&[piece], self.aside);
            return;
        }
        let searcher = self.searcher_mut();
        searcher.add(piece);
        if searcher.is_full() {
            let old = searcher.drop_half();
            self.mode = Mode::Search;
            self.forget(&old, Lost::Resync);
        }
    }

    /// The size field of the next message is missing or impossible.
    fn lose(&mut self, piece: Piece) {
        if self.header > 0 {
            let time = self.partial.as_ref().map_or(0, |partial| partial.start_time);
            self.note(Lost::Resync, self.header.into(), time);
            self.header = 0;
        }
        self.mode = Mode::Search;
        self.searcher_mut().add(piece);
    }

    /// Continue a message that began before; gives where the next one begins, or `None` where there is none.
    fn go_on<S: MessageSink<Walker = W>>(&mut self, talk: &mut Talk, sink: &mut S, run: Run<'_>) -> Option<usize> {
        let mut offset = 0;
        let known = usize::from(self.header);
        if known > 0 {
            let missing = 4 - known;
            let Some(rest) = run.view.get(..missing) else {
                if run.view.len() as u64 == run.length {
                    self.header += run.view.len() as u8;
                    self.partial(sink).buffer.extend_from_slice(run.view);
                } else {
                    self.lose(run.piece(false));
                }
                return None;
            };
            let partial = self.partial(sink);
            let (start_time, start_number) = (partial.start_time, partial.start_number);
            let mut field = [0; 4];
            field[..known].copy_from_slice(part(&partial.buffer, 0, known));
            field[known..].copy_from_slice(rest);
            let size = i32::from_be_bytes(field);
            if !self.is_size(talk, size) {
                self.lose(run.piece(false));
                return None;
            }
            self.header = 0;
            self.begin(sink, index(size) as u32, start_time, start_number);
            offset = missing;
        }
        let inside = u64::from(self.left).min(run.length - offset as u64);
        let end = offset + inside as usize;
        self.body(
            talk,
            sink,
            Run {
                view: part(run.view, offset, end),
                length: inside,
                ..run
            },
            false,
        );
        (self.left == 0 && (end as u64) < run.length).then_some(end)
    }

    fn begin<S: MessageSink<Walker = W>>(&mut self, sink: &mut S, size: u32, start_time: i64, start_number: u64) {
        self.left = size;
        let partial = self.partial(sink);
        partial.buffer.clear();
        partial.walker = None;
        (partial.size, partial.start_time, partial.start_number) = (size, start_time, start_number);
        (partial.broken, partial.decided) = (false, false);
    }

    /// The next bytes of a message that is not cut out of one segment.
    fn body<S: MessageSink<Walker = W>>(&mut self, talk: &mut Talk, sink: &mut S, run: Run<'_>, gap: bool) {
        let kept = run.view.len() as u64;
        self.left = self.left.saturating_sub(u32::try_from(run.length).unwrap_or(u32::MAX));
        if kept < run.length && !gap {
            self.note(Lost::TruncatedInside, run.length - kept, run.time);
        }
        let (left, is_request) = (self.left, self.is_request == Some(true));
        let partial = self.partial(sink);
        if partial.size > talk.keep {
            large(partial, talk, sink, run, is_request, left);
        } else if !partial.broken {
            // Most connections are in the middle of a message, and most messages lie in two segments.
            let (size, held, more) = (partial.size as usize, partial.buffer.len(), run.view.len());
            if held == 0 {
                partial.buffer.reserve_exact(if size <= 2 * more { size } else { more });
            } else if held < ROOM {
                partial
                    .buffer
                    .reserve_exact(size.min(ROOM).saturating_sub(held).max(more));
            }
            partial.buffer.extend_from_slice(run.view);
            partial.broken = kept < run.length;
        }
        // Very many connections are between two messages, and hold nothing of either.
        if left == 0
            && let Some(mut partial) = self.partial.take()
        {
            let Run { time, number, file, .. } = run;
            let times = Times {
                start_time: partial.start_time,
                end_time: time,
                start_number: partial.start_number,
                end_number: number,
                file,
            };
            let walker = partial.walker.take();
            self.emit(talk, sink, partial.size, &partial.buffer, walker, times);
            sink.spare().give(partial);
        }
    }

    /// A message is complete.
    #[inline]
    fn emit<S: MessageSink<Walker = W>>(
        &mut self,
        talk: &mut Talk,
        sink: &mut S,
        size: u32,
        head: &[u8],
        walker: Option<W>,
        times: Times,
    ) {
        if talk.raw && self.is_token(talk, size, head) {
            self.note(Lost::SaslToken, 4 + u64::from(size), times.start_time);
            return;
        }
        let is_request = self.is_request == Some(true);
        if is_request {
            talk.request(head);
        } else {
            talk.response(head);
        }
        sink.message(Message {
            is_request,
            size,
            head,
            walker,
            times,
        });
    }

    /// Whether a frame is a bare SASL token; the first request behind them ends their time.
    fn is_token(&self, talk: &mut Talk, size: u32, head: &[u8]) -> bool {
        if self.is_request == Some(true) {
            if !is_request(head, i32::try_from(size).unwrap_or(0)) {
                return true;
            }
            talk.raw = false;
            return false;
        }
        head.first_chunk()
            .is_none_or(|&id| talk.waits(i32::from_be_bytes(id)).is_none())
    }

    /// Whether this can have come about by bytes.
    pub fn is_sound(&self) -> bool {
        let partial = self.partial.as_ref();
        let held = partial.map_or(0, |partial| partial.buffer.len());
        self.header <= 3
            && (self.header == 0 || (self.left == 0 && held == self.header.into()))
            && (self.left == 0 || partial.is_some_and(|partial| self.left <= partial.size))
            && partial.is_none_or(|partial| partial.size <= LARGEST as u32)
            && self.searcher().is_none_or(Searcher::is_sound)
    }
}

/// The next bytes of a message that is too large to be kept: a walker eats it, or its head is all.
fn large<W: Walker, S: MessageSink<Walker = W>>(
    partial: &mut Partial<W>,
    talk: &Talk,
    sink: &mut S,
    run: Run<'_>,
    is_request: bool,
    left: u32,
) {
    let Run {
        mut view, mut length, ..
    } = run;
    if !partial.decided {
        let kept = view.len();
        let first = part(view, 0, WALK_HEAD.saturating_sub(partial.buffer.len()));
        partial.buffer.extend_from_slice(first);
        partial.broken = first.len() == kept && (kept as u64) < length;
        if partial.buffer.len() < WALK_HEAD && !partial.broken && left > 0 {
            return;
        }
        partial.decided = true;
        partial.walker = sink.begin_walk(is_request, partial.size, &partial.buffer);
        if let Some(walker) = &mut partial.walker {
            walker.feed(&partial.buffer);
        }
        view = &view[first.len()..];
        length -= first.len() as u64;
    }
    let missing = length - view.len() as u64;
    if let Some(walker) = &mut partial.walker {
        if !view.is_empty() {
            walker.feed(view);
        }
        if missing > 0 {
            walker.lost(missing);
        }
    } else if !partial.broken {
        let room = index(i32::try_from(talk.keep).unwrap_or(i32::MAX)).saturating_sub(partial.buffer.len());
        partial.buffer.extend_from_slice(part(view, 0, room));
        partial.broken = missing > 0;
    }
}
