//! From the segments of connections to what they tell.

use std::hint::black_box;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::work::{Begun, Came, Made, Over, What, Work};
use crate::exchange::{Event, KEEP_WHOLE, Lessons, Pairing, PairingSink};
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
    /// Whether the offsets that are in force in fetch sessions are wanted.
    follows: bool,
    /// What connections are called, where that is asked for.
    begun: Vec<Option<Arc<Begun>>>,
    events: Vec<Event>,
    lessons: Lessons,
}

impl Worker {
    /// One of so many.
    pub fn new(options: &Options, workers: usize) -> Worker {
        Worker {
            bodies: Bodies::new(options.tables),
            talks: Vec::new(),
            workers: workers.max(1),
            hears: options.tables.has(Table::Records),
            follows: options.tables.has(Table::Partitions),
            begun: Vec::new(),
            events: Vec::new(),
            lessons: Lessons::default(),
        }
    }

    /// Does what is to be done for the packets of a piece, whose bytes these are; what came of it, and what of that other
    /// connections have to know.
    pub fn work(&mut self, works: Vec<Work>, bytes: &[u8]) -> (Vec<Made>, Lessons) {
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
                    self.open(slot, &begun);
                    let came = Came::Begun(begun);
                    made.push(Made { order, slot, came });
                }
                What::Close(entry) => self.close(order, slot, entry, &mut made),
            }
        }
        (made, std::mem::take(&mut self.lessons))
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
    pub fn go_on(&mut self, slot: u32, talk: Box<Talk>, begun: &Arc<Begun>) {
        *self.place(slot) = Some(talk);
        self.remember(slot, begun);
    }

    fn remember(&mut self, slot: u32, begun: &Arc<Begun>) {
        if self.follows {
            *place(&mut self.begun, slot, self.workers) = Some(Arc::clone(begun));
        }
    }

    fn open(&mut self, slot: u32, begun: &Arc<Begun>) {
        let keep = if self.hears { KEEP_WHOLE } else { KEEP };
        let talk = Talk {
            dialogue: Dialogue::new(keep),
            pairing: Pairing::new(),
        };
        *self.place(slot) = Some(Box::new(talk));
        self.remember(slot, begun);
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
            let begun = self.begun.get(at).and_then(Option::as_deref);
            tell(order, slot, talk, &mut self.events, begun, &mut self.lessons, made);
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
        let begun = if self.follows {
            place(&mut self.begun, slot, self.workers).take()
        } else {
            None
        };
        tell(
            order,
            slot,
            &talk,
            &mut self.events,
            begun.as_deref(),
            &mut self.lessons,
            made,
        );
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
        place(&mut self.talks, slot, self.workers)
    }
}

/// The place of a connection among those of one worker.
pub(super) fn place<T>(places: &mut Vec<Option<T>>, slot: u32, workers: usize) -> &mut Option<T> {
    let at = slot as usize / workers;
    if places.len() <= at {
        places.resize_with(at + 1, || None);
    }
    &mut places[at]
}

fn tell(
    order: u32,
    slot: u32,
    talk: &Talk,
    events: &mut Vec<Event>,
    begun: Option<&Begun>,
    lessons: &mut Lessons,
    made: &mut Vec<Made>,
) {
    let client_side = talk.dialogue.client_side();
    made.extend(events.drain(..).map(|event| {
        let mut client_id = None;
        if let Event::Exchange(exchange) = &event {
            if exchange.asked.is_none() {
                client_id.clone_from(&talk.pairing.client_id);
            }
            let names: Vec<_> = exchange.names().cloned().collect();
            if !names.is_empty() {
                lessons.name(order, names);
            }
            let broker = begun.map(|begun| &begun.ends[1 - (client_side.unwrap_or(0) & 1)]);
            if let Some(fetch) = broker.and_then(|broker| exchange.fetch(broker)) {
                lessons.fetch(order, fetch);
            }
        }
        let came = Came::Event(event, client_side, client_id);
        Made { order, slot, came }
    }));
}
