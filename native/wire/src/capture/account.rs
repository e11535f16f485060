//! Where the bytes of a capture file went: packets, headers, packets outside the wanted time, damage.

use serde::{Deserialize, Serialize};

use crate::packet::Undecoded;

/// Nobody else reads larger packets either (`MAXIMUM_SNAPLEN` of libpcap, `WTAP_MAX_PACKET_SIZE_STANDARD` of
/// Wireshark).
pub const LARGEST_PACKET: u32 = 262_144;
/// So many losses are kept apart.
const MOST_LOSSES: usize = 1000;

/// Sums of one file; `packet_bytes + header_bytes + filtered_bytes + lost_bytes` is what was fed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// All of them, as Wireshark numbers them.
    pub packets: u64,
    /// Those outside the wanted time.
    pub filtered: u64,
    /// Packets that were not written, as the file itself says.
    pub dropped: u64,
    pub packet_bytes: u64,
    /// Headers, padding, options and blocks without a packet.
    pub header_bytes: u64,
    pub filtered_bytes: u64,
    pub lost_bytes: u64,
    pub losses: Vec<Undecoded>,
    /// How far reading was at the last loss: packets and bytes of headers.
    place: Option<(u64, u64)>,
}

impl Account {
    /// Counts bytes that belong to no packet; what follows a loss of the same kind at once belongs to it.
    pub fn lose(&mut self, kind: &str, detail: &str, count: u64) {
        if count == 0 {
            return;
        }
        self.lost_bytes = self.lost_bytes.saturating_add(count);
        let place = Some((self.packets, self.header_bytes));
        let is_full = self.losses.len() >= MOST_LOSSES;
        match self.losses.last_mut() {
            Some(last) if place == self.place && last.kind == kind && last.detail == detail => {
                last.bytes = last.bytes.saturating_add(count);
            }
            Some(last) if is_full => {
                last.kind = "damage".into();
                last.detail = "further damage".into();
                last.bytes = last.bytes.saturating_add(count);
            }
            _ => self.losses.push(Undecoded {
                kind: kind.into(),
                detail: detail.into(),
                bytes: count,
            }),
        }
        self.place = place;
    }

    /// Whether all sums are below a limit, as those of a reader are.
    pub(super) fn is_within(&self, limit: u64) -> bool {
        let sums = [
            self.packets,
            self.filtered,
            self.packet_bytes,
            self.header_bytes,
            self.filtered_bytes,
        ];
        sums.into_iter()
            .chain(self.losses.iter().map(|loss| loss.bytes))
            .all(|sum| sum < limit)
    }
}

/// The wanted times; packets outside are counted and not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The first and the last wanted nanosecond since 1970.
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Window {
    /// From `since` on and before `until`.
    pub fn new(since: Option<i64>, until: Option<i64>) -> Window {
        match until {
            // Nothing is before the first time of all.
            Some(i64::MIN) => Window {
                first: i64::MAX,
                last: i64::MIN,
            },
            Some(until) => Window {
                first: since.unwrap_or(i64::MIN),
                last: until - 1,
            },
            None => Window {
                first: since.unwrap_or(i64::MIN),
                last: i64::MAX,
            },
        }
    }

    pub(super) fn has(self, time: i64) -> bool {
        self.first <= time && time <= self.last
    }
}

impl Default for Window {
    fn default() -> Window {
        Window::new(None, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_bounded_and_none_is_forgotten() {
        let mut account = Account::default();
        for _ in 0..5000 {
            account.packets += 1;
            account.lose("damage", "no block", 3);
        }
        account.lose("damage", "no block", 0);
        assert_eq!(account.lost_bytes, 15_000);
        assert_eq!(account.losses.iter().map(|loss| loss.bytes).sum::<u64>(), 15_000);
        assert_eq!(account.losses.len(), 1000);
        assert_eq!(
            account.losses[0],
            Undecoded {
                kind: "damage".into(),
                detail: "no block".into(),
                bytes: 3
            }
        );
        assert_eq!(account.losses[999].detail, "further damage");
    }

    #[test]
    fn a_loss_found_piece_by_piece_is_one() {
        let mut account = Account::default();
        for detail in ["no block", "no block", "another", "no block"] {
            account.lose("damage", detail, 2);
        }
        account.header_bytes += 12;
        account.lose("damage", "no block", 2);
        let found: Vec<(&str, u64)> = account
            .losses
            .iter()
            .map(|loss| (loss.detail.as_str(), loss.bytes))
            .collect();
        assert_eq!(
            found,
            [("no block", 4), ("another", 2), ("no block", 2), ("no block", 2)]
        );
    }

    #[test]
    fn a_window_has_its_first_time_and_not_its_last() {
        let window = Window::new(Some(3), Some(5));
        assert_eq!([2, 3, 4, 5].map(|time| window.has(time)), [false, true, true, false]);
        assert!(Window::default().has(i64::MIN) && Window::default().has(i64::MAX));
        assert!(!Window::new(None, Some(i64::MIN)).has(i64::MIN));
    }
}
