//! The indexes beside a segment, held against its batches as they pass, and snapshots of producers.
//!
//! Sources: OffsetIndex, TimeIndex, TransactionIndex and ProducerStateManager of Kafka 3.9 and 4.x. A broker makes room
//! for an index before it has entries, so zeros at its end are none.

use std::io;
use std::path::Path;

use super::window::Window;

/// A larger index is not looked at; segment.index.bytes is 10 MiB, unless somebody changes it.
const MOST_INDEX: usize = 128 << 20;
const OFFSET_ENTRY: usize = 8;
const TIME_ENTRY: usize = 12;
const ABORTED_ENTRY: usize = 34;
/// Version, checksum and number of producers.
const SNAPSHOT_HEAD: usize = 10;
const SNAPSHOT_ENTRY: usize = 46;
const SNAPSHOT_VERSION: i16 = 1;

/// What is wrong with the file of this ending.
pub(super) struct Wrong {
    pub ending: &'static str,
    pub detail: String,
}

/// The three indexes of a segment.
pub(super) struct Indexes {
    base: i64,
    offsets: Option<Entries<OFFSET_ENTRY>>,
    times: Option<Entries<TIME_ENTRY>>,
    aborted: Option<Entries<ABORTED_ENTRY>>,
    /// The last offset of the batches so far, and their greatest timestamp.
    last: Option<i64>,
    latest: Option<i64>,
}

/// A batch, as an index sees it.
pub(super) struct Passing {
    pub position: i64,
    pub base_offset: i64,
    pub last_offset: i64,
    pub max_timestamp: Option<i64>,
}

impl Indexes {
    /// Of a log that begins with this offset; those that are not there are none.
    pub fn beside(log: &Path, base: i64, wrong: &mut Vec<Wrong>) -> Indexes {
        Indexes {
            base,
            offsets: Entries::read(log, "index", wrong),
            times: Entries::read(log, "timeindex", wrong),
            aborted: Entries::read(log, "txnindex", wrong),
            last: None,
            latest: None,
        }
    }

    /// The next batch, whose checksum holds.
    pub fn pass(&mut self, batch: &Passing) {
        if let Some(offsets) = &mut self.offsets {
            while let Some(entry) = offsets.entry() {
                let (offset, position) = (self.base + i64::from(int32(entry, 0)), i64::from(int32(entry, 4)));
                if position > batch.position {
                    break;
                }
                if position < batch.position {
                    offsets.wrong(|| format!("points at byte {position}, where no batch begins"));
                } else if offset < batch.base_offset || self.last.is_some_and(|last| offset <= last) {
                    let begins = batch.base_offset;
                    offsets.wrong(|| format!("has offset {offset} for a batch that begins at offset {begins}"));
                }
                offsets.next += 1;
            }
        }
        self.last = self.last.max(Some(batch.last_offset));
        self.latest = self.latest.max(batch.max_timestamp);
        if let Some(times) = &mut self.times {
            while let Some(entry) = times.entry() {
                let (time, offset) = (int64(entry, 0), self.base + i64::from(int32(entry, 8)));
                if offset > batch.last_offset {
                    break;
                }
                if self.latest != Some(time) {
                    let latest = self.latest.unwrap_or(-1);
                    times.wrong(|| format!("has timestamp {time} up to offset {offset}, where the log has {latest}"));
                }
                times.next += 1;
            }
        }
    }

    /// A batch whose checksum does not hold: what it says about offsets and times is not known.
    pub fn pass_damaged(&mut self, at: i64) {
        self.times = None;
        if let Some(offsets) = &mut self.offsets {
            while let Some(entry) = offsets.entry() {
                let position = i64::from(int32(entry, 4));
                if position > at {
                    break;
                }
                if position < at {
                    offsets.wrong(|| format!("points at byte {position}, where no batch begins"));
                }
                offsets.next += 1;
            }
        }
    }

    /// All batches have passed, unless something stopped reading before the end of the log.
    pub fn finish(mut self, is_whole: bool, found: &mut Vec<Wrong>) {
        let (base, end) = (self.base, self.last.map_or(self.base, |last| last.saturating_add(1)));
        if is_whole {
            if let Some(offsets) = &mut self.offsets {
                while let Some(entry) = offsets.entry() {
                    let position = int32(entry, 4);
                    offsets.wrong(|| format!("points at byte {position}, where no batch begins"));
                    offsets.next += 1;
                }
            }
            if let Some(times) = &mut self.times {
                while let Some(entry) = times.entry() {
                    let offset = base + i64::from(int32(entry, 8));
                    times.wrong(|| format!("is about offset {offset}, and the log ends at {end}"));
                    times.next += 1;
                }
            }
        }
        if let Some(aborted) = &mut self.aborted {
            while let Some(entry) = aborted.entry() {
                let version = i16::from_be_bytes([entry[0], entry[1]]);
                let (first, last) = (int64(entry, 10), int64(entry, 18));
                if version != 0 {
                    aborted.wrong(|| format!("has version {version}"));
                } else if first > last || last < base || (is_whole && last >= end) {
                    aborted.wrong(|| {
                        format!(
                            "is about offsets {first} to {last}, and the log has {base} to {}",
                            end - 1
                        )
                    });
                }
                aborted.next += 1;
            }
        }
        found.extend(self.offsets.and_then(Entries::told));
        found.extend(self.times.and_then(Entries::told));
        found.extend(self.aborted.and_then(Entries::told));
    }
}

/// The entries of an index.
struct Entries<const SIZE: usize> {
    ending: &'static str,
    data: Vec<u8>,
    next: usize,
    wrong: usize,
    first: Option<String>,
}

impl<const SIZE: usize> Entries<SIZE> {
    fn read(log: &Path, ending: &'static str, wrong: &mut Vec<Wrong>) -> Option<Entries<SIZE>> {
        let data = match read(&log.with_extension(ending)) {
            Ok(data) => data,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                let detail = error.to_string().to_lowercase();
                wrong.push(Wrong { ending, detail });
                return None;
            }
        };
        let used = data.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        // The last bytes of an entry may be zeros, too.
        let whole = data.len() / SIZE * SIZE;
        let used = used.next_multiple_of(SIZE);
        if used > whole {
            let detail = format!("has {} bytes, which is no multiple of {SIZE}", data.len());
            wrong.push(Wrong { ending, detail });
        }
        let mut data = data;
        data.truncate(used.min(whole));
        Some(Entries {
            ending,
            data,
            next: 0,
            wrong: 0,
            first: None,
        })
    }

    fn entry(&self) -> Option<[u8; SIZE]> {
        self.data.get(self.next * SIZE..)?.first_chunk().copied()
    }

    fn wrong(&mut self, what: impl FnOnce() -> String) {
        if self.wrong == 0 {
            self.first = Some(format!("entry {} {}", self.next, what()));
        }
        self.wrong += 1;
    }

    fn told(self) -> Option<Wrong> {
        let first = self.first?;
        let detail = match self.wrong {
            1 => first,
            count => format!("{count} of {} entries are wrong: {first}", self.data.len() / SIZE),
        };
        Some(Wrong {
            ending: self.ending,
            detail,
        })
    }
}

/// What is wrong with a snapshot of producers.
pub(super) fn check_snapshot(path: &Path) -> Option<String> {
    let data = match read(path) {
        Ok(data) => data,
        Err(error) => return Some(error.to_string().to_lowercase()),
    };
    let Some(head) = data.first_chunk::<SNAPSHOT_HEAD>() else {
        return Some(format!("ends after {} bytes", data.len()));
    };
    let version = i16::from_be_bytes([head[0], head[1]]);
    if version != SNAPSHOT_VERSION {
        return Some(format!("has version {version}, which is not {SNAPSHOT_VERSION}"));
    }
    if crc32c::crc32c(data.get(6..).unwrap_or_default()) != int32(*head, 2) as u32 {
        return Some("its checksum does not hold".to_owned());
    }
    let count = i64::from(int32(*head, 6));
    let size = SNAPSHOT_HEAD as i64 + count * SNAPSHOT_ENTRY as i64;
    (size != data.len() as i64).then(|| format!("says that it has {count} producers, and has {} bytes", data.len()))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut window = Window::open(path, Vec::new())?;
    let size = usize::try_from(window.size()).unwrap_or(usize::MAX);
    if size > MOST_INDEX {
        return Err(io::Error::other(format!(
            "has {size} bytes, more than netdiag looks at"
        )));
    }
    Ok(window.peek(size)?.to_vec())
}

fn int32<const SIZE: usize>(data: [u8; SIZE], at: usize) -> i32 {
    i32::from_be_bytes(std::array::from_fn(|place| data[at + place]))
}

fn int64<const SIZE: usize>(data: [u8; SIZE], at: usize) -> i64 {
    i64::from_be_bytes(std::array::from_fn(|place| data[at + place]))
}
