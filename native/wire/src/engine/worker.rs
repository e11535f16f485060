//! From the segments of connections to what they tell.

use std::hint::black_box;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::work::{Begun, Came, Made, Over, What, Work};
use crate::exchange::{Event, KEEP_WHOLE, Pairing, PairingSink, Rooms};
use crate::flow::Entry;
use crate::kafka::{Bodies, BodyWalker};
use crate::options::{Options, Table};
use crate::packet::Segment;
use crate::tcp::{Dialogue, KEEP};

/// So many connections stay in the caches of a core.
pub(super) const CACHED: usize = 1024;
/// Room for so many events is used again at most.
const MOST_KEPT: usize = 16_384;
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
    rooms: Rooms,
    /// By the number of their places among those of all workers.
    talks: Vec<Option<Box<Talk>>>,
    workers: usize,
    /// Whether keys and values are wanted.
    hears: bool,
    /// Whether the offsets that are in force in fetch sessions are wanted.
    follows: bool,
    /// What connections are called, where that is asked for.
    begun: Vec<Option<Begun>>,
    made: Made,
    /// Those of earlier rounds, whose room is used again.
    taken: Vec<Made>,
}

impl Worker {
    /// One of so many.
    pub fn new(options: &Options, workers: usize) -> Worker {
        Worker {
            bodies: Bodies::new(options.tables),
            rooms: Rooms::default(),
            talks: Vec::new(),
            workers: workers.max(1),
            hears: options.tables.has(Table::Records),
            follows: options.tables.has(Table::Partitions),
            begun: Vec::new(),
            made: Made::default(),
            taken: Vec::new(),
        }
    }

    /// Does what is to be done for the packets of a piece, whose bytes these are.
    pub fn work(&mut self, works: Vec<Work>, bytes: &[u8]) -> Made {
        let mut works = works.into_iter();
        let mut untouched = 0;
        while let Some(Work { order, slot, what }) = {
            if untouched == 0 {
                self.touch(works.as_slice(), bytes);
                untouched = TOUCHED;
            }
            untouched -= 1;
            works.next()
        } {
            match what {
                What::Segment(light) => self.segment(order, slot, light.side, &light.segment(bytes)),
                What::Open(begun) => {
                    self.open(slot, &begun);
                    self.made.came.push((order, slot, Came::Begun(begun)));
                }
                What::Close(entry) => self.close(order, slot, entry),
            }
        }
        let next = self.taken.pop().unwrap_or_default();
        std::mem::replace(&mut self.made, next)
    }

    /// What came of a round was taken out of it.
    pub fn use_again(&mut self, mut made: Made) {
        self.rooms.requests.append(&mut made.free);
        if made.events.capacity() <= MOST_KEPT {
            self.taken.push(made);
        }
    }

    /// Looks at the next segments, which another core read, and at their connections where these are very many, so that
    /// several are waited for at a time.
    fn touch(&self, works: &[Work], bytes: &[u8]) {
        let works = works.get(..TOUCHED).unwrap_or(works);
        let payloads = works.iter().map(|work| match &work.what {
            What::Segment(light) => light.touch(bytes),
            What::Open(_) | What::Close(_) => 0,
        });
        black_box(payloads.fold(0, u8::wrapping_add));
        if self.talks.len() <= CACHED {
            return;
        }
        let talks = works.iter().map(|work| match &work.what {
            What::Segment(light) => {
                let talk = self
                    .talks
                    .get(work.slot as usize / self.workers)
                    .and_then(Option::as_ref);
                talk.map_or(0, |talk| talk.dialogue.touch(light.side.into()) ^ talk.pairing.touch())
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
    pub fn go_on(&mut self, slot: u32, talk: Box<Talk>, begun: &Begun) {
        *self.place(slot) = Some(talk);
        self.remember(slot, begun);
    }

    fn remember(&mut self, slot: u32, begun: &Begun) {
        if self.follows {
            *place(&mut self.begun, slot, self.workers) = Some(begun.clone());
        }
    }

    fn open(&mut self, slot: u32, begun: &Begun) {
        let keep = if self.hears { KEEP_WHOLE } else { KEEP };
        let talk = Talk {
            dialogue: Dialogue::new(keep),
            pairing: Pairing::new(),
        };
        *self.place(slot) = Some(Box::new(talk));
        self.remember(slot, begun);
    }

    #[inline]
    fn segment(&mut self, order: u32, slot: u32, side: u8, segment: &Segment<'_>) {
        let at = slot as usize / self.workers;
        let Some(Some(talk)) = self.talks.get_mut(at) else {
            return;
        };
        let Talk { dialogue, pairing } = &mut **talk;
        let known = self.made.events.len();
        let mut sink = PairingSink {
            pairing,
            bodies: &mut self.bodies,
            rooms: &mut self.rooms,
            events: &mut self.made.events,
            hears: self.hears,
        };
        dialogue.push(side.into(), segment, &mut sink);
        if self.made.events.len() > known {
            let begun = self.begun.get(at).and_then(Option::as_ref);
            self.made.tell(order, slot, talk, known, begun);
        }
    }

    fn close(&mut self, order: u32, slot: u32, entry: Box<Entry>) {
        let Some(mut talk) = self.place(slot).take() else {
            return;
        };
        let Talk { dialogue, pairing } = &mut *talk;
        let known = self.made.events.len();
        dialogue.finish(&mut PairingSink {
            pairing,
            bodies: &mut self.bodies,
            rooms: &mut self.rooms,
            events: &mut self.made.events,
            hears: self.hears,
        });
        pairing.finish(&mut self.made.events);
        let begun = if self.follows {
            place(&mut self.begun, slot, self.workers).take()
        } else {
            None
        };
        self.made.tell(order, slot, &talk, known, begun.as_ref());
        let Talk { dialogue, pairing } = *talk;
        let over = Over {
            entry,
            client_side: dialogue.client_side(),
            spoken: dialogue.spoken(),
            server_name: dialogue.server_name().map(str::to_owned),
            sasl_mechanism: pairing
                .sasl_mechanism
                .as_deref()
                .map(CompactString::as_str)
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
        self.made.came.push((order, slot, Came::Over(Box::new(over))));
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

impl Made {
    /// The events behind those that were known before are of this work and connection.
    fn tell(&mut self, order: u32, slot: u32, talk: &Talk, known: usize, begun: Option<&Begun>) {
        let client_side = talk.dialogue.client_side();
        let broker = begun.map(|begun| &begun.ends[1 - (client_side.unwrap_or(0) & 1)]);
        let events = &self.events[known..];
        let mut client_id = &None;
        for event in events {
            let Event::Exchange(exchange) = event else { continue };
            if exchange.asked.is_none() {
                client_id = &talk.pairing.client_id;
            }
            if exchange.names().next().is_some() {
                self.lessons.name(order, exchange.names().cloned().collect());
            }
            if let Some(fetch) = broker.and_then(|broker| exchange.fetch(broker)) {
                self.lessons.fetch(order, fetch);
            }
        }
        let came = Came::Events(events.len() as u32, client_side, client_id.clone());
        self.came.push((order, slot, came));
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    /// There may be a hundred thousand of them, and more.
    #[test]
    fn a_connection_is_as_small_as_it_is_said_to_be() {
        assert_eq!(
            (size_of::<Talk>(), size_of::<Entry>(), size_of::<Begun>()),
            (440, 96, 64)
        );
    }
}
