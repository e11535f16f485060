//! The cells of one column while rows come in.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, ListArray, PrimitiveArray, StringArray, new_null_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, TimeUnit};

use super::columns::Unit;
use crate::exchange::row::{List, Strings};

/// A cell whose type is known when it comes only.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// Whole numbers of any width, and times in nanoseconds since 1970 UTC.
    Int(i64),
    Float(f64),
    String(String),
    Strings(Vec<String>),
}

/// The cells of a column, which may all be null: then nothing is kept of them but how many there are.
#[derive(Default)]
pub(super) struct Cells<S> {
    /// Before the first value.
    nulls: usize,
    has_begun: bool,
    /// Of every cell since then, whatever it is where there is none.
    values: S,
    is_there: Bits,
}

/// Values of one type, which become an array of Arrow.
pub(super) trait Store: Default {
    /// None, with room for as many.
    fn like(&self) -> Self;
    /// Adds so many of any value.
    fn fill(&mut self, count: usize);
    fn array(self, nulls: Option<NullBuffer>) -> ArrayRef;
    fn data_type() -> DataType;
}

impl<S: Store> Cells<S> {
    /// Where the next value goes.
    #[inline]
    fn next(&mut self) -> &mut S {
        if !self.has_begun {
            self.begin();
        }
        self.is_there.push(true);
        &mut self.values
    }

    #[cold]
    fn begin(&mut self) {
        self.has_begun = true;
        let nulls = std::mem::take(&mut self.nulls);
        self.values.fill(nulls);
        (0..nulls).for_each(|_| self.is_there.push(false));
    }

    #[inline]
    fn null(&mut self) {
        if self.has_begun {
            self.values.fill(1);
            self.is_there.push(false);
        } else {
            self.nulls += 1;
        }
    }

    /// The cells since the last time.
    pub(super) fn finish(&mut self) -> ArrayRef {
        if !std::mem::take(&mut self.has_begun) {
            return new_null_array(&S::data_type(), std::mem::take(&mut self.nulls));
        }
        // The next array will be about as large, and growing copies.
        let next = self.values.like();
        let values = std::mem::replace(&mut self.values, next);
        let next = self.is_there.like();
        let is_there = NullBuffer::new(std::mem::replace(&mut self.is_there, next).buffer());
        values.array((is_there.null_count() > 0).then_some(is_there))
    }
}

impl Cells<Vec<i64>> {
    /// The cells since the last time, as times.
    pub(super) fn finish_times(&mut self, unit: Unit) -> ArrayRef {
        let array = self.finish();
        let Some(whole) = array.as_any().downcast_ref::<PrimitiveArray<Int64Type>>() else {
            return array;
        };
        match unit {
            Unit::Nanoseconds => Arc::new(whole.reinterpret_cast::<TimestampNanosecondType>().with_timezone("UTC")),
            // Towards zero, as Arrow divides.
            Unit::Microseconds => {
                let times = whole.unary::<_, TimestampMicrosecondType>(|time| time / 1000);
                Arc::new(times.with_timezone("UTC"))
            }
        }
    }
}

/// A bit for each cell.
#[derive(Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    /// Those that fill no word yet.
    last: u64,
    count: usize,
}

impl Bits {
    #[inline]
    fn push(&mut self, bit: bool) {
        self.last |= u64::from(bit) << (self.count % 64);
        self.count += 1;
        if self.count.is_multiple_of(64) {
            self.words.push(std::mem::take(&mut self.last).to_le());
        }
    }

    fn buffer(mut self) -> BooleanBuffer {
        self.words.push(self.last.to_le());
        BooleanBuffer::new(Buffer::from_vec(self.words), 0, self.count)
    }
}

impl Store for Bits {
    fn like(&self) -> Bits {
        Bits {
            words: Vec::with_capacity(self.words.len() + 1),
            ..Bits::default()
        }
    }

    #[inline]
    fn fill(&mut self, count: usize) {
        (0..count).for_each(|_| self.push(false));
    }

    fn array(self, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(BooleanArray::new(self.buffer(), nulls))
    }

    fn data_type() -> DataType {
        DataType::Boolean
    }
}

macro_rules! numbers {
    ($($native:ty, $arrow:ty;)*) => {
        $(impl Store for Vec<$native> {
            fn like(&self) -> Self {
                Vec::with_capacity(self.len())
            }

            #[inline]
            fn fill(&mut self, count: usize) {
                (0..count).for_each(|_| self.push(<$native>::default()));
            }

            fn array(self, nulls: Option<NullBuffer>) -> ArrayRef {
                Arc::new(PrimitiveArray::<$arrow>::new(self.into(), nulls))
            }

            fn data_type() -> DataType {
                <$arrow>::DATA_TYPE
            }
        }

        impl Put<$native> for Cells<Vec<$native>> {
            #[inline]
            fn put(&mut self, value: $native) -> usize {
                self.next().push(value);
                0
            }
        })*
    };
}

numbers! {
    i16, Int16Type;
    i32, Int32Type;
    i64, Int64Type;
    f64, Float64Type;
}

/// Texts one behind the other, and where each ends.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<i32>,
}

impl Texts {
    #[inline]
    fn push(&mut self, text: Text<'_>) {
        self.append(text);
        self.end();
    }

    #[inline]
    fn append(&mut self, text: Text<'_>) {
        let (begin, end) = (self.bytes.len(), self.bytes.len() + text.length);
        match text.bytes.first_chunk::<COPIED>() {
            Some(chunk) if text.length <= COPIED && end <= MOST_TEXT => {
                self.bytes.extend_from_slice(chunk);
                self.bytes.truncate(end);
            }
            _ => self.bytes.extend_from_slice(fitting(text, begin)),
        }
    }

    #[inline]
    fn end(&mut self) {
        self.ends.push(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX));
    }

    fn texts(self, nulls: Option<NullBuffer>) -> StringArray {
        StringArray::new(offsets(self.ends), Buffer::from_vec(self.bytes), nulls)
    }
}

/// Where the first begins, and where each ends.
fn offsets(mut ends: Vec<i32>) -> OffsetBuffer<i32> {
    ends.insert(0, 0);
    OffsetBuffer::new(ends.into())
}

impl Store for Texts {
    fn like(&self) -> Texts {
        Texts {
            bytes: Vec::with_capacity(self.bytes.len() + COPIED),
            ends: Vec::with_capacity(self.ends.len() + 1),
        }
    }

    #[inline]
    fn fill(&mut self, count: usize) {
        (0..count).for_each(|_| self.end());
    }

    fn array(self, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(self.texts(nulls))
    }

    fn data_type() -> DataType {
        DataType::Utf8
    }
}

/// Lists of texts one behind the other, and where each ends.
#[derive(Default)]
pub(super) struct Lists {
    texts: Texts,
    ends: Vec<i32>,
}

impl Lists {
    #[inline]
    fn push(&mut self, list: TextList<'_>) {
        let begin = self.texts.bytes.len();
        if begin + list.text.length <= MOST_TEXT {
            self.texts.append(list.text);
            let ends = list.ends.iter().map(|&end| (begin + end as usize) as i32);
            self.texts.ends.extend(ends);
        } else {
            list.texts().for_each(|text| self.texts.push(text));
        }
        self.end();
    }

    #[inline]
    fn end(&mut self) {
        self.ends.push(i32::try_from(self.texts.ends.len()).unwrap_or(i32::MAX));
    }
}

impl Store for Lists {
    fn like(&self) -> Lists {
        Lists {
            texts: self.texts.like(),
            ends: Vec::with_capacity(self.ends.len() + 1),
        }
    }

    #[inline]
    fn fill(&mut self, count: usize) {
        (0..count).for_each(|_| self.end());
    }

    fn array(self, nulls: Option<NullBuffer>) -> ArrayRef {
        let texts = Arc::new(self.texts.texts(None));
        Arc::new(ListArray::new(element(), offsets(self.ends), texts, nulls))
    }

    fn data_type() -> DataType {
        DataType::List(element())
    }
}

/// What lists are made of, by the name that Spark and Parquet give it.
pub(super) fn element() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::Utf8, true))
}

/// The type of times.
pub(super) fn time_type(unit: Unit) -> DataType {
    let unit = match unit {
        Unit::Nanoseconds => TimeUnit::Nanosecond,
        Unit::Microseconds => TimeUnit::Microsecond,
    };
    DataType::Timestamp(unit, Some("UTC".into()))
}

/// Takes the next cell; gives the bytes of its text.
pub(super) trait Put<V> {
    fn put(&mut self, value: V) -> usize;
}

impl<V, S: Store> Put<Option<V>> for Cells<S>
where
    Cells<S>: Put<V>,
{
    #[inline]
    fn put(&mut self, value: Option<V>) -> usize {
        match value {
            Some(value) => self.put(value),
            None => {
                self.null();
                0
            }
        }
    }
}

impl Put<bool> for Cells<Bits> {
    #[inline]
    fn put(&mut self, value: bool) -> usize {
        self.next().push(value);
        0
    }
}

/// Text of so many bytes fits into one array; Arrow's offsets are of 32 bits.
const MOST_TEXT: usize = i32::MAX as usize;
/// To copy so many bytes is faster than to copy fewer, whose number is not known in advance.
const COPIED: usize = 32;

/// A text: the first bytes of these, so many.
#[derive(Clone, Copy, Default)]
pub(super) struct Text<'a> {
    pub bytes: &'a [u8],
    pub length: usize,
}

/// Texts one behind the other, and where each ends.
#[derive(Clone, Copy)]
pub(super) struct TextList<'a> {
    pub text: Text<'a>,
    pub ends: &'a [u32],
}

impl<'a> TextList<'a> {
    fn texts(self) -> impl Iterator<Item = Text<'a>> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let bytes = self.text.bytes.get(begin..end as usize).unwrap_or_default();
            begin = end as usize;
            Text {
                bytes,
                length: bytes.len(),
            }
        })
    }
}

impl<'a> From<List<'a>> for TextList<'a> {
    fn from(list: List<'a>) -> TextList<'a> {
        TextList {
            text: list.text.into(),
            ends: list.ends,
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Text<'a> {
        Text {
            bytes: text.as_bytes(),
            length: text.len(),
        }
    }
}

/// The text as far as a column of so many bytes has room for it: cut nearly never, and never refused.
fn fitting(text: Text<'_>, used: usize) -> &[u8] {
    let room = MOST_TEXT.saturating_sub(used);
    let bytes = text.bytes.get(..text.length).unwrap_or(text.bytes);
    if bytes.len() <= room {
        return bytes;
    }
    // A letter has four bytes at most.
    let is_begin = |at: usize| bytes.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let end = (0..4).map(|less| room.saturating_sub(less)).find(|&at| is_begin(at));
    &bytes[..end.unwrap_or(0)]
}

impl Put<Text<'_>> for Cells<Texts> {
    #[inline]
    fn put(&mut self, value: Text<'_>) -> usize {
        self.next().push(value);
        value.length
    }
}

impl Put<&str> for Cells<Texts> {
    #[inline]
    fn put(&mut self, value: &str) -> usize {
        self.put(Text::from(value))
    }
}

impl Put<TextList<'_>> for Cells<Lists> {
    #[inline]
    fn put(&mut self, value: TextList<'_>) -> usize {
        self.next().push(value);
        value.text.length + size_of_val(value.ends)
    }
}

impl Put<List<'_>> for Cells<Lists> {
    #[inline]
    fn put(&mut self, value: List<'_>) -> usize {
        self.put(TextList::from(value))
    }
}

/// Takes a cell whose type is known now only, as null where the column is of another one; gives the bytes of its text.
pub(super) trait PutValue {
    fn put_value(&mut self, value: &Value) -> usize;
}

macro_rules! put_value {
    ($store:ty, $value:ident => $cell:expr) => {
        impl PutValue for Cells<$store> {
            fn put_value(&mut self, $value: &Value) -> usize {
                self.put($cell)
            }
        }
    };
}

/// The whole number, where it is one of that width.
fn int<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    match value {
        Value::Int(value) => T::try_from(*value).ok(),
        _ => None,
    }
}

put_value!(Vec<i16>, value => int::<i16>(value));
put_value!(Vec<i32>, value => int::<i32>(value));
put_value!(Vec<i64>, value => int::<i64>(value));
put_value!(Bits, value => match value {
    Value::Bool(value) => Some(*value),
    _ => None,
});
put_value!(Vec<f64>, value => match value {
    Value::Float(value) => Some(*value),
    _ => None,
});
put_value!(Texts, value => match value {
    Value::String(value) => Some(value.as_str()),
    _ => None,
});

impl PutValue for Cells<Lists> {
    fn put_value(&mut self, value: &Value) -> usize {
        let Value::Strings(texts) = value else {
            return self.put(None::<List<'_>>);
        };
        let mut strings = Strings::default();
        texts.iter().for_each(|text| strings.push(text));
        self.put(strings.list())
    }
}
