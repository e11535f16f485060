//! One fold: rows that no question can tell apart become one, with how many they were.
//!
//! A row is words, one for each column: a number, the bits of a float, or the number that a text has among [`Texts`].

use std::collections::HashMap as Map;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use smallvec::SmallVec;

use super::Folded;
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

/// Behind the cells of a row: the set of those that are null, how many rows it was, and when the last of them was.
const NULLS: usize = 0;
const TIMES: usize = 1;
const UNTIL: usize = 2;
const BEHIND: usize = 3;
/// Where more rows are held than stay in the caches of a core, so many wait to be folded in together.
const CACHED: usize = 1024;
const WAITING: usize = 16;

/// Rows of one fold.
#[derive(Debug)]
pub(super) struct Fold {
    spec: &'static Spec,
    /// How many columns rows have in common.
    keys: usize,
    /// The columns whose nulls tell rows apart.
    telling: u64,
    /// How many words a row takes.
    stride: usize,
    /// The rows that are held, one behind the other.
    words: Vec<u64>,
    places: HashTable<u32>,
    seed: RandomState,
    /// Rows that are to be folded in, and their hashes.
    waiting: Vec<u64>,
    hashes: Vec<u64>,
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
            stride: spec.columns.len() + BEHIND,
            spec,
            words: Vec::new(),
            places: HashTable::new(),
            seed: RandomState::default(),
            waiting: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Takes a row to be folded in, now or with the next ones; `time` is in microseconds. Gives how many more are held.
    pub fn add(&mut self, row: &Cells, time: i64, texts: &Texts) -> usize {
        debug_assert_eq!(row.count, self.spec.columns.len(), "{}", self.spec.name);
        let to = if self.spec.apart {
            &mut self.words
        } else {
            &mut self.waiting
        };
        let begin = to.len();
        to.extend_from_slice(&row.words[..row.count]);
        to.extend([row.nulls.into(), 1, time.cast_unsigned()]);
        if self.spec.apart {
            return 1;
        }
        self.hashes
            .push(hash(&self.seed, &self.waiting[begin..], self.keys, self.telling));
        if self.places.len() > CACHED && self.hashes.len() < WAITING {
            return 0;
        }
        self.fold_in(texts)
    }

    /// Folds in what waits; gives how many more are held.
    fn fold_in(&mut self, texts: &Texts) -> usize {
        let known = self.places.len();
        let (mut waiting, mut hashes) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.hashes));
        if hashes.len() > 1 {
            // What will be looked at, a step for all of them at a time: memory is waited for once.
            let guesses: SmallVec<[u32; WAITING]> = hashes
                .iter()
                .map(|&hash| self.places.find(hash, |_| true).copied().unwrap_or(0))
                .collect();
            let ends = guesses.iter().map(|&place| {
                let begin = place as usize * self.stride;
                self.words[begin] ^ self.words[begin + self.stride - 1]
            });
            black_box(ends.fold(0, |all, one| all ^ one));
        }
        for (row, &hash) in waiting.chunks_exact(self.stride).zip(&hashes) {
            self.fold_one(row, hash, texts);
        }
        waiting.clear();
        hashes.clear();
        (self.waiting, self.hashes) = (waiting, hashes);
        self.places.len() - known
    }

    fn fold_one(&mut self, row: &[u64], hash_of_it: u64, texts: &Texts) {
        let (keys, telling, stride) = (self.keys, self.telling, self.stride);
        let nulls = stride - BEHIND + NULLS;
        let words = &self.words;
        let found = self.places.find(hash_of_it, |&place| {
            let held = &words[place as usize * stride..][..stride];
            // The words are few: a call to compare them takes longer.
            (held[nulls] ^ row[nulls]) & telling == 0
                && held[..keys].iter().zip(&row[..keys]).all(|(one, other)| one == other)
        });
        match found {
            Some(&place) => self.join(place as usize, row, texts),
            None => {
                let place = (words.len() / stride) as u32;
                self.words.extend_from_slice(row);
                let Fold { seed, words, .. } = self;
                self.places.insert_unique(hash_of_it, place, |&place| {
                    hash(seed, &words[place as usize * stride..][..stride], keys, telling)
                });
            }
        }
    }

    fn join(&mut self, place: usize, row: &[u64], texts: &Texts) {
        let columns = self.spec.columns;
        let held = &mut self.words[place * self.stride..][..self.stride];
        let (held, behind) = held.split_at_mut(columns.len());
        let (row, behind_row) = row.split_at(columns.len());
        behind[TIMES] += behind_row[TIMES];
        behind[UNTIL] = behind[UNTIL]
            .cast_signed()
            .max(behind_row[UNTIL].cast_signed())
            .cast_unsigned();
        let (nulls, new_nulls) = (&mut behind[NULLS], behind_row[NULLS]);
        let mut is_earlier = None;
        for (at, (_, kind, role)) in columns.iter().enumerate().skip(self.keys) {
            let (bit, new) = (1 << at, row[at]);
            let (was_null, is_null) = (*nulls & bit != 0, new_nulls & bit != 0);
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
                                rank(kind, row[at], new_nulls & 1 << at != 0, texts).cmp(&old)
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
    pub fn take(&mut self, texts: &Texts) -> Folded {
        self.fold_in(texts);
        let columns = self.spec.columns;
        let words = std::mem::take(&mut self.words);
        self.places = HashTable::new();
        let rows = || words.chunks_exact(self.stride);
        let behind = |at: usize| rows().map(move |row| row[columns.len() + at].cast_signed());
        let mut fields = Vec::with_capacity(columns.len() + 2);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len() + 2);
        for (at, (name, kind, role)) in columns.iter().enumerate() {
            let cells = rows().map(|row| (row[columns.len() + NULLS] >> at & 1 == 0).then(|| row[at]));
            let array = array(*kind, cells, texts);
            fields.push(field(name, array.data_type().clone(), role.as_str()));
            arrays.push(array);
        }
        if !self.spec.apart {
            fields.push(field("times", DataType::Int64, "sum"));
            arrays.push(Arc::new(Int64Array::from_iter_values(behind(TIMES))));
            if columns.iter().any(|(.., role)| *role == Role::First) {
                fields.push(field("until", time_type(), "greatest"));
                let until = TimestampMicrosecondArray::from_iter_values(behind(UNTIL));
                arrays.push(Arc::new(until.with_timezone("UTC")));
            }
        }
        Folded {
            name: self.spec.name,
            rows: RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
                .expect("arrays are as long as each other"),
        }
    }
}

/// Of what rows that are alike have in common.
#[inline]
fn hash(seed: &RandomState, row: &[u64], keys: usize, telling: u64) -> u64 {
    seed.hash_one((&row[..keys], row[row.len() - BEHIND + NULLS] & telling))
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
        assert_eq!(fold.add(&row(Some(one), Some(3), None, 7, Some(two)), 7, &texts), 1);
        assert_eq!(
            fold.add(&row(Some(one), Some(4), Some(-1.5), 7, Some(one)), 7, &texts),
            0
        );
        assert_eq!(fold.add(&row(Some(one), Some(5), Some(-2.5), 9, None), 9, &texts), 0);
        // A sum of nothing is no sum of zero, and no name is none that is empty.
        assert_eq!(fold.add(&row(Some(one), None, None, 1, None), 1, &texts), 1);
        assert_eq!(fold.add(&row(None, Some(1), None, 1, None), 1, &texts), 1);
        let found = fold.take(&texts).rows;
        assert_eq!(fold.take(&texts).rows.num_rows(), 0);
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
    fn more_rows_than_a_cache_holds_are_folded_alike() {
        let mut texts = Texts::default();
        let names: Vec<u32> = (0..2000)
            .map(|number| texts.intern(&format!("name {number}")))
            .collect();
        let mut fold = Fold::new(&SPEC);
        let mut held = 0;
        let rows = 5 * CACHED as i64 + 3;
        for time in 0..rows {
            let mut cells = Cells::default();
            let bytes = (time % 2 == 0).then_some(time);
            cells.begin().text(Some(names[time as usize % 2000])).int(bytes);
            cells.float(Some(time as f64)).int(Some(time)).text(None);
            held += fold.add(&cells, time, &texts);
        }
        held += fold.fold_in(&texts);
        let found = fold.take(&texts).rows;
        assert_eq!((held, found.num_rows()), (2000, 2000));
        let column = |name: &str| found.column_by_name(name).map(|column| column.to_data());
        let expected = |of: fn(i64) -> Option<i64>| {
            let sums = (0..2000).map(|row| (row..rows).step_by(2000).map(of).sum::<Option<i64>>());
            Some(sums.collect::<Int64Array>().to_data())
        };
        assert_eq!(column("bytes"), expected(|time| (time % 2 == 0).then_some(time)));
        assert_eq!(column("times"), expected(|_| Some(1)));
        let first: TimestampMicrosecondArray = (0..2000).map(Some).collect();
        assert_eq!(column("time"), Some(first.with_timezone("UTC").to_data()));
        let until = (0..2000).map(|row| (row..rows).step_by(2000).last());
        let until: TimestampMicrosecondArray = until.collect();
        assert_eq!(column("until"), Some(until.with_timezone("UTC").to_data()));
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
