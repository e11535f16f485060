//! Whether bytes can be a body of a message: what tells Kafka from protocols that also begin with a length.
//!
//! Stricter than the reading of facts, which takes what brokers and mocks have been seen to send: here null stands only
//! where it may, a tag once, and a tagged field has just its length.

use super::table::{Field, Kind, Layout, PRODUCE, layout};

/// So many values are looked at; what fits that far is believed.
const MOST_VALUES: u64 = 20_000;

/// Brokers and mocks have been seen to leave a few bytes behind a message.
const MOST_LEFT_OVER: usize = 16;

/// Whether a body of `declared` bytes, of which `body` was kept, can be what the table says.
pub fn fits(api_key: i16, api_version: i16, is_request: bool, body: &[u8], declared: usize) -> bool {
    let Some(layout) = layout(api_key, api_version, is_request) else {
        return false;
    };
    let mut check = Check {
        data: body,
        at: 0,
        end: body.len(),
        declared: declared.max(body.len()),
        values: MOST_VALUES,
        acks: None,
    };
    let left_over = match check.layout(layout) {
        Ok(()) => check.declared - check.at,
        Err(Stop::Cut) => 0,
        Err(Stop::Wrong) => return false,
        Err(Stop::Many) => return true,
    };
    let acks = check.acks.filter(|_| is_request && api_key == PRODUCE);
    left_over <= MOST_LEFT_OVER && acks.is_none_or(|acks| (-1..=1).contains(&acks))
}

/// Why a body is not looked at any further.
enum Stop {
    /// The kept bytes end before the declared ones do.
    Cut,
    /// This cannot be the message.
    Wrong,
    /// More values than are looked at.
    Many,
}

/// A position in the data, with the two ends that bound it: of the bytes that are there, and of those that were there
/// when the message was sent. Never more than `end <= data.len()` is read, and `at <= end <= declared` holds throughout.
struct Check<'a> {
    data: &'a [u8],
    at: usize,
    end: usize,
    declared: usize,
    values: u64,
    acks: Option<i16>,
}

impl Check<'_> {
    /// A struct; goes as deep as the table, not as deep as the data.
    fn layout(&mut self, layout: &Layout) -> Result<(), Stop> {
        self.spend(1 + layout.fields.len() as u64 + layout.tagged.len() as u64)?;
        for field in &layout.fields {
            self.field(field)?;
        }
        if layout.flexible { self.tags(layout) } else { Ok(()) }
    }

    fn field(&mut self, field: &Field) -> Result<(), Stop> {
        if field.array {
            return self.array(field);
        }
        match field.kind {
            Kind::Struct if field.nullable && self.number::<1>()?[0] >= 0x80 => Ok(()),
            Kind::Struct => self.layout(&field.inside),
            Kind::Int16 if field.name == "acks" => {
                self.acks = Some(i16::from_be_bytes(self.number()?));
                Ok(())
            }
            _ => self.element(field),
        }
    }

    fn array(&mut self, field: &Field) -> Result<(), Stop> {
        let Some(count) = self.length(field, true)? else {
            return Ok(());
        };
        if count.saturating_mul(field.least as u64) > (self.declared - self.at) as u64 {
            return Err(Stop::Wrong);
        }
        self.spend(count)?;
        match field.kind {
            Kind::Struct => (0..count).try_for_each(|_| self.layout(&field.inside)),
            // The product is not above the bytes that are left.
            kind => match kind.size() {
                Some(size) => self.take(count * size as u64),
                None => (0..count).try_for_each(|_| self.element(field)),
            },
        }
    }

    /// A value that is neither an array nor a struct.
    fn element(&mut self, field: &Field) -> Result<(), Stop> {
        match field.kind.size() {
            Some(size) => self.take(size as u64),
            None => match self.length(field, false)? {
                Some(length) => self.take(length),
                None => Ok(()),
            },
        }
    }

    /// The tagged fields behind a struct: their number, then tag, size and value of each.
    fn tags(&mut self, layout: &Layout) -> Result<(), Stop> {
        let count = self.varint()?;
        if count * 2 > (self.declared - self.at) as u64 {
            return Err(Stop::Wrong);
        }
        self.spend(count)?;
        let mut seen = rustc_hash::FxHashSet::default();
        for _ in 0..count {
            let tag = self.varint()?;
            if !seen.insert(tag) {
                return Err(Stop::Wrong);
            }
            let size = self.varint()?;
            let known = layout.tagged.iter().find(|field| field.tag.map(u64::from) == Some(tag));
            let Some(field) = known else {
                self.take(size)?;
                continue;
            };
            let stop = usize::try_from(size).ok().and_then(|size| self.at.checked_add(size));
            let stop = stop.filter(|&stop| stop <= self.declared).ok_or(Stop::Wrong)?;
            let outer = (self.end, self.declared);
            (self.end, self.declared) = (self.end.min(stop), stop);
            self.field(field)?;
            if self.at != stop {
                return Err(Stop::Wrong);
            }
            (self.end, self.declared) = outer;
        }
        Ok(())
    }

    /// A length, or the number of elements of an array; `None` is null.
    fn length(&mut self, field: &Field, of_array: bool) -> Result<Option<u64>, Stop> {
        let length = if field.compact {
            self.varint()? as i64 - 1
        } else if field.kind == Kind::String && !of_array {
            i16::from_be_bytes(self.number()?).into()
        } else {
            i32::from_be_bytes(self.number()?).into()
        };
        match u64::try_from(length) {
            Ok(length) => Ok(Some(length)),
            Err(_) if length == -1 && field.nullable => Ok(None),
            Err(_) => Err(Stop::Wrong),
        }
    }

    /// An unsigned varint of at most 32 bits.
    fn varint(&mut self) -> Result<u64, Stop> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let [byte] = self.number()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return if value <= u32::MAX.into() {
                    Ok(value)
                } else {
                    Err(Stop::Wrong)
                };
            }
        }
        Err(Stop::Wrong)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let at = self.at;
        self.take(N as u64)?;
        self.data
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .copied()
            .ok_or(Stop::Wrong)
    }

    fn take(&mut self, size: u64) -> Result<(), Stop> {
        if size > (self.end - self.at) as u64 {
            return Err(if size > (self.declared - self.at) as u64 {
                Stop::Wrong
            } else {
                Stop::Cut
            });
        }
        self.at += size as usize;
        Ok(())
    }

    fn spend(&mut self, values: u64) -> Result<(), Stop> {
        self.values = self.values.checked_sub(values).ok_or(Stop::Many)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_whole_or_cut_fits() {
        // Produce v9 without topics: transactional id null, acks, timeout, no topics, no tags.
        let body = b"\0\0\x01\0\0\x75\x30\x01\0";
        assert!(fits(0, 9, true, body, body.len()));
        for kept in 0..body.len() {
            assert!(fits(0, 9, true, &body[..kept], body.len()), "{kept}");
            assert!(!fits(0, 9, true, &body[..kept], kept), "{kept}");
        }
        assert!(!fits(0, 99, true, body, body.len()));
    }

    #[test]
    fn what_cannot_be_the_message_does_not_fit() {
        let cases: [(&[u8], &str); 8] = [
            (b"\0\0\x02\0\0\x75\x30\x01\0", "acks are -1, 0 or 1"),
            (b"\0\0\x01\0\0\x75\x30\0\0", "no topics where null is not allowed"),
            (b"\0\0\x01\0\0\x75\x30\x7f\0", "more topics than bytes"),
            (b"\x80\x80\x80\x80\x10\0\x01\0\0\x75\x30\x01\0", "a varint of 33 bits"),
            (b"\0\0\x01\0\0\x75\x30\x01\x02\x07\0\x07\0", "a tag that stands twice"),
            (
                b"\0\0\x01\0\0\x75\x30\x01\x01\x07\x02a",
                "a tagged field that does not fit",
            ),
            (
                b"\0\0\x01\0\0\x75\x30\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                "17 bytes left over",
            ),
            (b"\x09abc", "a string that does not fit"),
        ];
        for (body, why) in cases {
            assert!(!fits(0, 9, true, body, body.len()), "{why}");
        }
        assert!(
            fits(
                0,
                9,
                true,
                b"\0\0\x01\0\0\x75\x30\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                25
            ),
            "16 left over"
        );
        assert!(
            fits(0, 9, true, b"\0\0\x01\0\0\x75\x30\x01\x01\x07\x01a", 12),
            "a tag that nobody knows"
        );
    }

    #[test]
    fn what_is_left_over_counts_also_where_it_was_not_kept() {
        // Heartbeat v0: an error code.
        assert!(fits(12, 0, false, b"\0\0", 2 + 16));
        assert!(!fits(12, 0, false, b"\0\0", 2 + 17));
    }

    #[test]
    fn more_values_than_are_looked_at_fit() {
        // Metadata v0: names of topics, all empty, then bytes that are too many.
        let body = [20_000u32.to_be_bytes().to_vec(), vec![0; 40_100]].concat();
        assert!(fits(3, 0, true, &body, body.len()));
        let fewer = [6_000u32.to_be_bytes().to_vec(), vec![0; 12_100]].concat();
        assert!(!fits(3, 0, true, &fewer, fewer.len()));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_fit_or_do_not(body: Vec<u8>, key in 0i16..100, version in 0i16..15, more in 0usize..1000) {
            for is_request in [true, false] {
                fits(key, version, is_request, &body, body.len() + more);
            }
        }
    }
}
