//! One fold: rows that no question can tell apart become one, with how many they were.
//!
//! A row is words, one for each column: a number, the bits of a float, or the number that a text has among [`Texts`].

use std::collections::HashMap as Map;
use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::texts::Texts;
use crate::rows::Kind;

/// What becomes of a column of rows that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// They have the same.
    Key,
    /// They have the same, which is needed to fold what is folded once more only.
    Beside,
    /// A sum; of nothing but nulls it is null, and nulls are never added to numbers.
    Sum,
    Greatest,
    /// That of the earliest row, by all columns of this role.
    First,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Role::Key => "key",
            Role::Beside => "beside",
            Role::Sum => "sum",
            Role::Greatest => "greatest",
            Role::First => "first",
        }
    }
}

/// The name, the type and the role of a column.
pub(super) type Column = (&'static str, Kind, Role);

/// What a fold is called, and its columns: those that rows have in common stand first. One that is `apart` is a choice of
/// rows, of which each stays one of its own.
#[derive(Debug)]
pub(super) struct Spec {
    pub name: &'static str,
    pub columns: &'static [Column],
    pub apart: bool,
}

/// No fold has more columns.
const MOST_COLUMNS: usize = 20;

/// The cells of a row, in the order of the columns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cells {
    words: [u64; MOST_COLUMNS],
    nulls: u32,
    count: usize,
}

impl Cells {
    /// The first cell of another row is next.
    #[inline(always)]
    pub fn begin(&mut self) -> &mut Cells {
        (self.nulls, self.count) = (0, 0);
        self
    }

    #[inline(always)]
    fn word(&mut self, word: Option<u64>) -> &mut Cells {
        self.words[self.count] = word.unwrap_or_default();
        self.nulls |= u32::from(word.is_none()) << self.count;
        self.count += 1;
        self
    }

    /// A whole number, a time in microseconds, or whether something is so.
    #[inline(always)]
    pub fn int(&mut self, value: Option<impl Into<i64>>) -> &mut Cells {
        self.word(value.map(|value| value.into().cast_unsigned()))
    }

    #[inline(always)]
    pub fn float(&mut self, value: Option<f64>) -> &mut Cells {
        self.word(value.map(f64::to_bits))
    }

    /// A text, or some.
    #[inline(always)]
    pub fn text(&mut self, value: Option<u32>) -> &mut Cells {
        self.word(value.map(u64::from))
    }
}

/// Rows of one fold.
#[derive(Debug)]
pub(super) struct Fold {
    spec: &'static Spec,
    /// How many columns rows have in common.
    keys: usize,
    /// The columns whose nulls tell rows apart.
    telling: u32,
    words: Vec<u64>,
    nulls: Vec<u32>,
    times: Vec<i64>,
    until: Vec<i64>,
    places: HashTable<u32>,
    seed: RandomState,
}

impl Fold {
    pub fn new(spec: &'static Spec) -> Fold {
        let is_common = |role: Role| matches!(role, Role::Key | Role::Beside);
        let keys = spec.columns.iter().take_while(|(.., role)| is_common(*role)).count();
        let telling = spec
            .columns
            .iter()
            .enumerate()
            .filter(|(_, (.., role))| is_common(*role) || *role == Role::Sum);
        Fold {
            keys,
            telling: telling.fold(0, |set, (place, _)| set | 1 << place),
            spec,
            words: Vec::new(),
            nulls: Vec::new(),
            times: Vec::new(),
            until: Vec::new(),
            places: HashTable::new(),
            seed: RandomState::default(),
        }
    }

    /// How many rows are held.
    pub fn rows(&self) -> usize {
        self.times.len()
    }

    /// Folds a row in; `time` is in microseconds. Gives whether one more is held.
    pub fn add(&mut self, row: &Cells, time: i64, texts: &Texts) -> bool {
        debug_assert_eq!(row.count, self.spec.columns.len(), "{}", self.spec.name);
        let stride = self.spec.columns.len();
        if self.spec.apart {
            self.push(row, time);
            return true;
        }
        let (keys, telling) = (self.keys, self.telling);
        let common = &row.words[..keys];
        let hash = self.seed.hash_one((common, row.nulls & telling));
        let found = self.places.find(hash, |&place| {
            let (place, begin) = (place as usize, place as usize * stride);
            // The words are few: a call to compare them takes longer.
            self.nulls[place] & telling == row.nulls & telling
                && self.words[begin..begin + keys]
                    .iter()
                    .zip(common)
                    .all(|(one, other)| one == other)
        });
        match found {
            Some(&place) => {
                self.join(place as usize, row, time, texts);
                false
            }
            None => {
                let place = self.rows() as u32;
                self.push(row, time);
                let Fold { seed, words, nulls, .. } = self;
                self.places.insert_unique(hash, place, |&place| {
                    let (place, begin) = (place as usize, place as usize * stride);
                    seed.hash_one((&words[begin..begin + keys], nulls[place] & telling))
                });
                true
            }
        }
    }

    fn push(&mut self, row: &Cells, time: i64) {
        self.words.extend_from_slice(&row.words[..row.count]);
        self.nulls.push(row.nulls);
        self.times.push(1);
        self.until.push(time);
    }

    fn join(&mut self, place: usize, row: &Cells, time: i64, texts: &Texts) {
        let columns = self.spec.columns;
        let begin = place * columns.len();
        let held = &mut self.words[begin..begin + columns.len()];
        let nulls = &mut self.nulls[place];
        self.times[place] += 1;
        self.until[place] = self.until[place].max(time);
        let mut is_earlier = None;
        for (at, (_, kind, role)) in columns.iter().enumerate().skip(self.keys) {
            let (bit, new) = (1 << at, row.words[at]);
            let (was_null, is_null) = (*nulls & bit != 0, row.nulls & bit != 0);
            let takes = match role {
                Role::Key | Role::Beside => false,
                Role::Sum => {
                    held[at] = held[at].wrapping_add(new);
                    false
                }
                Role::Greatest => !is_null && (was_null || is_less(*kind, held[at], new)),
                Role::First => {
                    if is_earlier.is_none() {
                        let order = (at..columns.len())
                            .map(|at| {
                                let kind = columns[at].1;
                                let old = rank(kind, held[at], *nulls & 1 << at != 0, texts);
                                rank(kind, row.words[at], row.nulls & 1 << at != 0, texts).cmp(&old)
                            })
                            .find(|order| order.is_ne());
                        is_earlier = Some(order.is_some_and(|order| order.is_lt()));
                    }
                    is_earlier == Some(true)
                }
            };
            if takes {
                held[at] = new;
                *nulls = *nulls & !bit | if is_null { bit } else { 0 };
            }
        }
    }

    /// The rows since the last time, as Arrow has them: with `times`, and with `until` where a row has a time.
    pub fn take(&mut self, texts: &Texts) -> RecordBatch {
        let columns = self.spec.columns;
        let (words, nulls) = (std::mem::take(&mut self.words), std::mem::take(&mut self.nulls));
        let (times, until) = (std::mem::take(&mut self.times), std::mem::take(&mut self.until));
        self.places = HashTable::new();
        let mut fields = Vec::with_capacity(columns.len() + 2);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len() + 2);
        for (at, (name, kind, role)) in columns.iter().enumerate() {
            let cells =
                (0..times.len()).map(|row| (nulls[row] >> at & 1 == 0).then(|| words[row * columns.len() + at]));
            let array = array(*kind, cells, texts);
            fields.push(field(name, array.data_type().clone(), role.as_str()));
            arrays.push(array);
        }
        if !self.spec.apart {
            fields.push(field("times", DataType::Int64, "sum"));
            arrays.push(Arc::new(Int64Array::from(times)));
            if columns.iter().any(|(.., role)| *role == Role::First) {
                fields.push(field("until", time_type(), "greatest"));
                arrays.push(Arc::new(TimestampMicrosecondArray::from(until).with_timezone("UTC")));
            }
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("arrays are as long as each other")
    }
}

/// A column of a fold, with what becomes of it where folded rows are folded again.
pub(super) fn field(name: &str, kind: DataType, role: &str) -> Field {
    Field::new(name, kind, true).with_metadata(Map::from([("role".to_owned(), role.to_owned())]))
}

fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

fn is_less(kind: Kind, one: u64, other: u64) -> bool {
    match kind {
        Kind::Float64 => f64::from_bits(one) < f64::from_bits(other),
        _ => one.cast_signed() < other.cast_signed(),
    }
}

/// What rows are ordered by: nulls first.
fn rank(kind: Kind, word: u64, is_null: bool, texts: &Texts) -> (i64, &str) {
    match kind {
        Kind::String if is_null => (0, ""),
        Kind::String => (0, texts.text(word as u32)),
        _ if is_null => (-1, ""),
        _ => (word.cast_signed(), ""),
    }
}

pub(super) fn array(kind: Kind, cells: impl Iterator<Item = Option<u64>>, texts: &Texts) -> ArrayRef {
    let ints = |cell: Option<u64>| cell.map(u64::cast_signed);
    match kind {
        Kind::Bool => Arc::new(cells.map(|cell| cell.map(|word| word != 0)).collect::<BooleanArray>()),
        Kind::Int16 => Arc::new(cells.map(|cell| cell.map(|word| word as i16)).collect::<Int16Array>()),
        Kind::Int32 => Arc::new(cells.map(|cell| cell.map(|word| word as i32)).collect::<Int32Array>()),
        Kind::Int64 => Arc::new(cells.map(ints).collect::<Int64Array>()),
        Kind::Time => {
            let times: TimestampMicrosecondArray = cells.map(ints).collect();
            Arc::new(times.with_timezone("UTC"))
        }
        Kind::Float64 => Arc::new(cells.map(|cell| cell.map(f64::from_bits)).collect::<Float64Array>()),
        Kind::String => {
            let cells = cells.map(|cell| cell.map(|word| texts.text(word as u32)));
            Arc::new(cells.collect::<StringArray>())
        }
        Kind::Strings => {
            let element = Arc::new(Field::new("element", DataType::Utf8, true));
            let mut lists = ListBuilder::new(StringBuilder::new()).with_field(element);
            for cell in cells {
                for text in cell.map(|word| texts.list(word as u32)).into_iter().flatten() {
                    lists.values().append_value(texts.text(*text));
                }
                lists.append(cell.is_some());
            }
            Arc::new(lists.finish())
        }
    }
}

/// What lies so near to where three digits are rounded up, or to another power of ten, stays a value of its own.
const NEAR: f64 = 1e-6;

/// A number that only those share that are the same at three digits, as `expressions.three_digits` has them.
///
/// It need not be shared by all that are: rounding half a unit, or a power of ten, is Spark's affair.
pub(super) fn digits(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return value;
    }
    let unit = 10f64.powi(value.log10().floor() as i32 - 2);
    let scaled = value / unit;
    let whole = scaled.round_ties_even();
    let is_sure = ((scaled - whole).abs() - 0.5).abs() > NEAR && (101.0..=999.0).contains(&whole);
    if is_sure { whole * unit } else { value }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;

    static SPEC: Spec = Spec {
        name: "spec",
        columns: &[
            ("name", Kind::String, Role::Key),
            ("bytes", Kind::Int64, Role::Sum),
            ("most", Kind::Float64, Role::Greatest),
            ("time", Kind::Time, Role::First),
            ("file", Kind::String, Role::First),
        ],
        apart: false,
    };

    #[test]
    fn rows_that_are_alike_become_one() {
        let mut texts = Texts::default();
        let (one, two) = (texts.intern("one"), texts.intern("two"));
        let mut fold = Fold::new(&SPEC);
        let row = |name, bytes: Option<i64>, most, time: i64, file| {
            let mut cells = Cells::default();
            cells
                .begin()
                .text(name)
                .int(bytes)
                .float(most)
                .int(Some(time))
                .text(file);
            cells
        };
        assert!(fold.add(&row(Some(one), Some(3), None, 7, Some(two)), 7, &texts));
        assert!(!fold.add(&row(Some(one), Some(4), Some(-1.5), 7, Some(one)), 7, &texts));
        assert!(!fold.add(&row(Some(one), Some(5), Some(-2.5), 9, None), 9, &texts));
        // A sum of nothing is no sum of zero, and no name is none that is empty.
        assert!(fold.add(&row(Some(one), None, None, 1, None), 1, &texts));
        assert!(fold.add(&row(None, Some(1), None, 1, None), 1, &texts));
        let found = fold.take(&texts);
        assert_eq!(fold.rows(), 0);
        let ints = |name: &str| {
            found
                .column_by_name(name)
                .map(|column| column.as_primitive::<Int64Type>().clone())
        };
        assert_eq!(
            ints("bytes").map(|it| it.iter().collect::<Vec<_>>()),
            Some(vec![Some(12), None, Some(1)])
        );
        assert_eq!(
            ints("times").map(|it| it.iter().collect::<Vec<_>>()),
            Some(vec![Some(3), Some(1), Some(1)])
        );
        let files = found
            .column_by_name("file")
            .map(|column| column.as_string::<i32>().value(0).to_owned());
        assert_eq!(files.as_deref(), Some("one"));
    }

    #[test]
    fn numbers_that_differ_at_three_digits_have_keys_of_their_own() {
        assert_eq!(digits(1.2341), digits(1.2339));
        assert_ne!(digits(1.2341), digits(1.2451));
        // As near to the edge as this, each is its own.
        assert_eq!(digits(1.235), 1.235);
        assert_eq!(digits(1000.0), 1000.0);
        assert_eq!(digits(0.0), 0.0);
        assert_eq!(digits(-5.0), -5.0);
    }
}
