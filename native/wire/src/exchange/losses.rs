//! The sums of the table `losses`: what was not decoded, by file, connection, direction, kind and detail.

use compact_str::CompactString;
use foldhash::HashMap;
use serde::{Deserialize, Serialize};

/// So many details of a kind are told apart where there is no connection.
const MOST_DETAILS: usize = 1000;
const OTHERS: CompactString = CompactString::const_new("others");

/// What a sum is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Of {
    pub file: u32,
    pub connection: Option<i64>,
    /// Which way the bytes travelled.
    pub is_request: Option<bool>,
    pub kind: CompactString,
    pub detail: Option<CompactString>,
}

/// A loss, or a sum of many of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    pub of: Of,
    /// The first, in nanoseconds since 1970.
    pub time: Option<i64>,
    pub bytes: u64,
    pub times: u64,
}

/// Adds up losses, in the order in which they were noted first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Losses {
    sums: Vec<Sum>,
    places: HashMap<Of, usize>,
    details: HashMap<(u32, CompactString), usize>,
}

impl Losses {
    /// Counts a loss.
    pub fn add(&mut self, mut loss: Sum) {
        // Usually the same as before.
        let is_last = self.sums.last().is_some_and(|last| last.of == loss.of);
        let place = match is_last {
            true => Some(self.sums.len() - 1),
            false => self.places.get(&loss.of).copied(),
        };
        let place = place.or_else(|| {
            if loss.of.connection.is_none() && loss.of.detail.is_some() {
                let seen = self.details.entry((loss.of.file, loss.of.kind.clone())).or_default();
                if *seen >= MOST_DETAILS {
                    loss.of.detail = Some(OTHERS);
                    return self.places.get(&loss.of).copied();
                }
                *seen += 1;
            }
            None
        });
        match place.and_then(|place| self.sums.get_mut(place)) {
            Some(sum) => {
                sum.time = match (sum.time, loss.time) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
                sum.bytes = sum.bytes.saturating_add(loss.bytes);
                sum.times = sum.times.saturating_add(loss.times);
            }
            None => {
                self.places.insert(loss.of.clone(), self.sums.len());
                self.sums.push(loss);
            }
        }
    }

    /// The sums so far; they are forgotten.
    pub fn drain(&mut self) -> Vec<Sum> {
        self.places.clear();
        self.details.clear();
        std::mem::take(&mut self.sums)
    }

    /// The sums of one file so far; they are forgotten.
    pub fn drain_file(&mut self, file: u32) -> Vec<Sum> {
        let (taken, left) = std::mem::take(&mut self.sums)
            .into_iter()
            .partition(|sum| sum.of.file == file);
        self.sums = left;
        self.places = self
            .sums
            .iter()
            .enumerate()
            .map(|(place, sum)| (sum.of.clone(), place))
            .collect();
        self.details.retain(|(of, _), _| *of != file);
        taken
    }

    /// The files that the sums name.
    pub fn files(&self) -> impl Iterator<Item = u32> {
        self.sums.iter().map(|sum| sum.of.file)
    }

    /// Whether this can have come about by losses.
    pub fn is_sound(&self) -> bool {
        self.places.len() == self.sums.len()
            && self
                .sums
                .iter()
                .enumerate()
                .all(|(place, sum)| self.places.get(&sum.of) == Some(&place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(file: u32, detail: &str, bytes: u64, time: i64) -> Sum {
        let of = Of {
            file,
            connection: None,
            is_request: None,
            kind: "not-tcp".into(),
            detail: Some(detail.into()),
        };
        Sum {
            of,
            time: Some(time),
            bytes,
            times: 1,
        }
    }

    #[test]
    fn losses_of_a_kind_are_one_sum() {
        let mut losses = Losses::default();
        for each in [
            loss(0, "UDP", 10, 7),
            loss(1, "UDP", 1, 8),
            loss(0, "UDP", 20, 5),
            loss(0, "ARP", 3, 9),
        ] {
            losses.add(each);
        }
        assert!(losses.is_sound());
        let first = losses.drain_file(0);
        assert_eq!(first.len(), 2);
        assert_eq!((first[0].bytes, first[0].times, first[0].time), (30, 2, Some(5)));
        assert!(losses.is_sound());
        assert_eq!(losses.drain(), [loss(1, "UDP", 1, 8)]);
        assert_eq!(losses.drain(), []);
    }

    #[test]
    fn details_are_bounded() {
        let mut losses = Losses::default();
        for number in 0..3000 {
            losses.add(loss(0, &number.to_string(), 1, 0));
        }
        let sums = losses.drain();
        assert_eq!(sums.len(), MOST_DETAILS + 1);
        assert_eq!(
            (sums[MOST_DETAILS].of.detail.as_deref(), sums[MOST_DETAILS].times),
            (Some("others"), 2000)
        );
    }
}
