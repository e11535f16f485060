//! Rows on their way from the thread that makes them to the one that puts those of all threads in order.
//!
//! A row is a head (which work made it, and of which table it is), the set of its columns that are not null, and a word for
//! each of these, two for a list. Text lies apart, one behind the other, and so do the ends of the texts in lists.

use super::cells::{Text, TextList};
use super::columns::Shape;
use crate::exchange::row::List;
use crate::options::Table;

/// Rows of one worker. They are ordered by what made them.
#[derive(Debug, Default)]
pub struct Packed {
    words: Vec<u64>,
    ends: Vec<u32>,
    /// UTF-8.
    text: Vec<u8>,
}

/// Packs the wanted columns of rows.
#[derive(Debug)]
pub struct Packer {
    /// By the number of the table; None where nobody wants it.
    wanted: [Option<u64>; Table::ALL.len()],
    order: u32,
    packed: Packed,
}

impl Packer {
    /// For rows of the tables of these shapes.
    pub fn new(shapes: &[Shape]) -> Packer {
        let mut wanted = [None; Table::ALL.len()];
        for shape in shapes {
            wanted[shape.table as usize] = Some(shape.set());
        }
        Packer {
            wanted,
            order: 0,
            packed: Packed::default(),
        }
    }

    /// The rows since the last time.
    pub fn take(&mut self) -> Packed {
        let Packed { words, ends, text } = &self.packed;
        let next = Packed {
            words: Vec::with_capacity(words.len()),
            ends: Vec::with_capacity(ends.len()),
            text: Vec::with_capacity(text.len()),
        };
        std::mem::replace(&mut self.packed, next)
    }

    /// Rows to come are those of the work with this place in the capture.
    #[inline]
    pub(super) fn order(&mut self, order: u32) {
        self.order = order;
    }

    /// Begins a row; gives the columns that are wanted of it.
    #[inline]
    pub(super) fn begin(&mut self, table: Table) -> Option<(u64, Filling<'_>)> {
        let wanted = self.wanted[table as usize]?;
        let words = &mut self.packed.words;
        words.reserve(2 + 64);
        words.push(u64::from(self.order) << 8 | table as u64);
        let mask = words.len();
        words.push(0);
        let packed = &mut self.packed;
        Some((wanted, Filling { packed, mask }))
    }
}

/// A row that is packed.
pub(super) struct Filling<'a> {
    packed: &'a mut Packed,
    mask: usize,
}

impl Filling<'_> {
    /// The cell of the column at a place.
    #[inline]
    pub fn put(&mut self, place: u32, value: impl Pack) {
        if value.pack(self.packed) {
            self.packed.words[self.mask] |= 1 << place;
        }
    }
}

/// A value of a cell: a word, which stands for text and lists as well.
pub(super) trait Pack {
    /// False where it is null, and nothing was written.
    fn pack(self, to: &mut Packed) -> bool;
}

impl<V: Pack> Pack for Option<V> {
    #[inline]
    fn pack(self, to: &mut Packed) -> bool {
        self.is_some_and(|value| value.pack(to))
    }
}

macro_rules! pack {
    ($($native:ty, $value:ident => $word:expr;)*) => {
        $(impl Pack for $native {
            #[inline]
            fn pack(self, to: &mut Packed) -> bool {
                let $value = self;
                to.words.push($word);
                true
            }
        })*
    };
}

pack! {
    bool, value => value.into();
    i16, value => i64::from(value).cast_unsigned();
    i32, value => i64::from(value).cast_unsigned();
    i64, value => value.cast_unsigned();
    f64, value => value.to_bits();
}

impl Pack for &str {
    #[inline]
    fn pack(self, to: &mut Packed) -> bool {
        to.words.push(self.len() as u64);
        to.text.extend_from_slice(self.as_bytes());
        true
    }
}

impl Pack for List<'_> {
    #[inline]
    fn pack(self, to: &mut Packed) -> bool {
        to.words.extend([self.text.len() as u64, self.ends.len() as u64]);
        to.ends.extend_from_slice(self.ends);
        to.text.extend_from_slice(self.text.as_bytes());
        true
    }
}

/// What is still to be unpacked.
pub(super) struct Unpacking<'a> {
    words: &'a [u64],
    ends: &'a [u32],
    text: &'a [u8],
}

impl<'a> Unpacking<'a> {
    pub fn of(packed: &'a Packed) -> Unpacking<'a> {
        let Packed { words, ends, text } = packed;
        Unpacking { words, ends, text }
    }

    /// What made the next row; None behind the last one.
    #[inline]
    pub fn order(&self) -> Option<u32> {
        self.words.first().map(|head| (head >> 8) as u32)
    }

    /// Begins the next row: of which table it is, by its number, and the columns that are not null.
    #[inline]
    pub fn begin(&mut self) -> (u8, u64) {
        let head = self.word();
        (head as u8, self.word())
    }

    #[inline]
    pub fn bool(&mut self) -> bool {
        self.word() != 0
    }

    /// A whole number of any width.
    #[inline]
    pub fn int(&mut self) -> i64 {
        self.word().cast_signed()
    }

    #[inline]
    pub fn float(&mut self) -> f64 {
        f64::from_bits(self.word())
    }

    #[inline]
    pub fn string(&mut self) -> Text<'a> {
        let length = self.word() as usize;
        let bytes = self.text;
        self.text = bytes.get(length..).unwrap_or_default();
        Text { bytes, length }
    }

    #[inline]
    pub fn strings(&mut self) -> TextList<'a> {
        let text = self.string();
        let count = self.word() as usize;
        let (ends, behind) = self.ends.split_at_checked(count).unwrap_or_default();
        self.ends = behind;
        TextList { text, ends }
    }

    #[inline]
    fn word(&mut self) -> u64 {
        let Some((word, words)) = self.words.split_first() else {
            return 0;
        };
        self.words = words;
        *word
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rows, Shape, Unit};
    use super::*;
    use crate::exchange::row::{LossRow, NameRow, RowSink, Strings};

    /// Puts rows of two tables, made by the works of a round that are `of` a worker.
    fn put(rows: &mut impl RowSink, of: impl Fn(u32) -> bool) {
        for order in (0..500).filter(|order| of(*order)) {
            rows.go_to(order);
            let detail = "ä".repeat(order as usize % 7);
            for times in 0..i64::from(order % 3) {
                rows.loss(&LossRow {
                    file: &format!("{order}.pcap"),
                    time: (order % 2 == 0).then_some(-i64::from(order)),
                    connection: Some(i64::MIN),
                    direction: None,
                    kind: "gap",
                    bytes: i64::from(order) << 40,
                    times,
                    detail: Some(&detail),
                });
            }
            let mut addresses = Strings::default();
            (0..order % 4).for_each(|_| addresses.push(&detail));
            rows.name(&NameRow {
                time: 0,
                client: "10.0.0.1:5",
                server: "",
                name: "kafka",
                kind: "A",
                result: "found",
                addresses: (order % 5 > 0).then(|| addresses.list()),
                latency_ms: Some(f64::from(order) / 3.0),
            });
        }
    }

    #[test]
    fn rows_of_workers_come_out_as_those_of_one() {
        let shapes = [
            Shape::all(Table::Losses, Unit::Nanoseconds),
            Shape::of(Table::Names, &["latency_ms", "addresses", "client"], Unit::Nanoseconds).expect("they are there"),
        ];
        let lines = |rows: &mut Rows| {
            rows.drain()
                .iter()
                .flat_map(|batch| batch.to_json())
                .collect::<Vec<u8>>()
        };
        let mut of_one = Rows::new(&shapes);
        put(&mut of_one, |_| true);
        let expected = lines(&mut of_one);
        assert!(!expected.is_empty());
        for workers in [1, 2, 5] {
            let packed: Vec<_> = (0..workers)
                .map(|worker| {
                    let mut packer = Packer::new(&shapes);
                    put(&mut packer, |order| order * order % workers == worker);
                    packer.take()
                })
                .collect();
            let mut merged = Rows::new(&shapes);
            merged.merge(&packed);
            assert!(lines(&mut merged) == expected);
        }
    }

    #[test]
    fn a_table_that_nobody_wants_is_not_packed() {
        let mut packer = Packer::new(&[Shape::all(Table::Packets, Unit::Nanoseconds)]);
        put(&mut packer, |_| true);
        assert_eq!(Unpacking::of(&packer.take()).order(), None);
    }
}
