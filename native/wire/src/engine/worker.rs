//! From the segments of connections to what they tell.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use super::work::{Came, Made, Over, What, Work};
use crate::exchange::{Event, KEEP_WHOLE, Pairing, PairingSink};
use crate::flow::Entry;
use crate::kafka::{Bodies, BodyWalker};
use crate::options::{Options, Table};
use crate::tcp::{Dialogue, KEEP};

/// So many connections stay in the caches of a core.
pub(super) const CACHED: usize = 1024;
/// So many are looked at ahead.
pub(super) const TOUCHED: usize = 16;

/// A connection whose messages are read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Talk {
    dialogue: Dialogue<BodyWalker>,
    pairing: Pairing,
}

impl Talk {
    /// The files that what is to come may name.
    pub fn files(&self) -> impl Iterator<Item = u32> {
        self.dialogue.files().chain(self.pairing.files())
    }

    /// Whether this can have come about by segments.
    pub fn is_sound(&self) -> bool {
        self.pairing.is_sound()
    }
}

/// Reads the messages of some connections.
#[derive(Debug)]
pub(super) struct Worker {
    bodies: Bodies,
    /// By the number of their places among those of all workers.
    talks: Vec<Option<Box<Talk>>>,
    workers: usize,
    /// Whether keys and values are wanted.
    hears: bool,
    events: Vec<Event>,
}

impl Worker {
    /// One of so many.
    pub fn new(options: &Options, workers: usize) -> Worker {
        Worker {
            bodies: Bodies::new(options.tables),
            talks: Vec::new(),
            workers: workers.max(1),
            hears: options.tables.has(Table::Records),
            events: Vec::new(),
        }
    }

    /// Does what is to be done for the packets of a piece, whose bytes these are.
    pub fn work(&mut self, works: Vec<Work>, bytes: &[u8]) -> Vec<Made> {
        let mut made = Vec::new();
        let mut works = works.into_iter();
        let mut untouched = 0;
        while let Some(Work { order, slot, what }) = {
            if untouched == 0 && self.talks.len() > CACHED {
                self.touch(works.as_slice());
                untouched = TOUCHED;
            }
            untouched = untouched.saturating_sub(1);
            works.next()
        } {
            match what {
                What::Segment(light) => self.segment(order, slot, light.side, &light.segment(bytes), &mut made),
                What::Open(begun) => {
                    self.open(slot);
                    let came = Came::Begun(begun);
                    made.push(Made { order, slot, came });
                }
                What::Close(entry) => self.close(order, slot, entry, &mut made),
            }
        }
        made
    }

    /// Looks at the connections of the next segments, so that several are waited for at a time.
    fn touch(&self, works: &[Work]) {
        let talks = works.iter().take(TOUCHED).map(|work| match &work.what {
            What::Segment(light) => {
                let talk = self
                    .talks
                    .get(work.slot as usize / self.workers)
                    .and_then(Option::as_ref);
                talk.map_or(0, |talk| talk.dialogue.touch(light.side.into()))
            }
            What::Open(_) | What::Close(_) => 0,
        });
        black_box(talks.fold(0, u64::wrapping_add));
    }

    /// The connections that are open, by the numbers of their places.
    pub fn talks(&self) -> &[Option<Box<Talk>>] {
        &self.talks
    }

    /// Takes up a connection.
    pub fn go_on(&mut self, slot: u32, talk: Box<Talk>) {
        *self.place(slot) = Some(talk);
    }

    fn open(&mut self, slot: u32) {
        let keep = if self.hears { KEEP_WHOLE } else { KEEP };
        let talk = Talk {
            dialogue: Dialogue::new(keep),
            pairing: Pairing::new(),
        };
        *self.place(slot) = Some(Box::new(talk));
    }

    #[inline]
    fn segment(&mut self, order: u32, slot: u32, side: u8, segment: &crate::packet::Segment<'_>, made: &mut Vec<Made>) {
        let at = slot as usize / self.workers;
        let Some(Some(talk)) = self.talks.get_mut(at) else {
            return;
        };
        let Talk { dialogue, pairing } = &mut **talk;
        let mut sink = PairingSink {
            pairing,
            bodies: &mut self.bodies,
            events: &mut self.events,
            hears: self.hears,
        };
        dialogue.push(side.into(), segment, &mut sink);
        if !self.events.is_empty() {
            tell(order, slot, talk, &mut self.events, made);
        }
    }

    fn close(&mut self, order: u32, slot: u32, entry: Box<Entry>, made: &mut Vec<Made>) {
        let Some(mut talk) = self.place(slot).take() else {
            return;
        };
        let Talk { dialogue, pairing } = &mut *talk;
        dialogue.finish(&mut PairingSink {
            pairing,
            bodies: &mut self.bodies,
            events: &mut self.events,
            hears: self.hears,
        });
        pairing.finish(&mut self.events);
        tell(order, slot, &talk, &mut self.events, made);
        let Talk { dialogue, pairing } = *talk;
        let over = Over {
            entry,
            client_side: dialogue.client_side(),
            spoken: dialogue.spoken(),
            server_name: dialogue.server_name().map(str::to_owned),
            sasl_mechanism: pairing
                .sasl_mechanism
                .as_deref()
                .filter(|name| !name.is_empty())
                .or(dialogue.sasl_mechanism())
                .map(Into::into),
            digest: pairing.digest(),
            client_software: pairing.client_software,
            client_id: pairing.client_id,
            requests: pairing.requests,
            responses: pairing.responses,
            figures: [dialogue.figures(0), dialogue.figures(1)],
            losses: dialogue.losses(),
        };
        let came = Came::Over(Box::new(over));
        made.push(Made { order, slot, came });
    }

    fn place(&mut self, slot: u32) -> &mut Option<Box<Talk>> {
        let at = slot as usize / self.workers;
        if self.talks.len() <= at {
            self.talks.resize_with(at + 1, || None);
        }
        &mut self.talks[at]
    }
}

fn tell(order: u32, slot: u32, talk: &Talk, events: &mut Vec<Event>, made: &mut Vec<Made>) {
    let client_side = talk.dialogue.client_side();
    made.extend(events.drain(..).map(|event| {
        let is_alone = matches!(&event, Event::Exchange(exchange) if exchange.asked.is_none());
        let client_id = if is_alone { talk.pairing.client_id.clone() } else { None };
        let came = Came::Event(event, client_side, client_id);
        Made { order, slot, came }
    }));
}
