//! The cells of one column while rows come in.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, BooleanBuilder, ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray, new_null_array};
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
pub(super) struct Cells<B> {
    nulls: usize,
    builder: Option<B>,
    /// Of the last array: the next one will be about as large, and growing copies.
    last: Size,
}

/// Cells of an array, and bytes of their text.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    cells: usize,
    /// Texts in all lists.
    texts: usize,
    bytes: usize,
}

/// What builds an array of Arrow out of the values of one type.
pub(super) trait Build: ArrayBuilder + Sized {
    fn begin(size: Size) -> Self;
    fn size(&self) -> Size;
    fn null(&mut self);
    fn data_type() -> DataType;
}

impl<B: Build> Cells<B> {
    /// What takes the next value, once there is one.
    #[inline]
    fn filled(&mut self) -> &mut B {
        if self.builder.is_none() {
            self.begin();
        }
        self.builder.get_or_insert_with(|| B::begin(self.last))
    }

    #[cold]
    fn begin(&mut self) {
        let mut builder = B::begin(self.last);
        (0..std::mem::take(&mut self.nulls)).for_each(|_| builder.null());
        self.builder = Some(builder);
    }

    #[inline]
    fn null(&mut self) {
        match &mut self.builder {
            Some(builder) => builder.null(),
            None => self.nulls += 1,
        }
    }

    /// The cells since the last time.
    pub(super) fn finish(&mut self) -> ArrayRef {
        let nulls = std::mem::take(&mut self.nulls);
        match self.builder.take() {
            Some(mut builder) => {
                self.last = builder.size();
                builder.finish()
            }
            None => new_null_array(&B::data_type(), nulls),
        }
    }
}

impl Cells<PrimitiveBuilder<Int64Type>> {
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

impl<T: ArrowPrimitiveType> Build for PrimitiveBuilder<T> {
    fn begin(size: Size) -> Self {
        PrimitiveBuilder::with_capacity(size.cells)
    }

    fn size(&self) -> Size {
        Size {
            cells: self.len(),
            ..Size::default()
        }
    }

    #[inline]
    fn null(&mut self) {
        self.append_null();
    }

    fn data_type() -> DataType {
        T::DATA_TYPE
    }
}

impl Build for BooleanBuilder {
    fn begin(size: Size) -> Self {
        BooleanBuilder::with_capacity(size.cells)
    }

    fn size(&self) -> Size {
        Size {
            cells: self.len(),
            ..Size::default()
        }
    }

    #[inline]
    fn null(&mut self) {
        self.append_null();
    }

    fn data_type() -> DataType {
        DataType::Boolean
    }
}

impl Build for StringBuilder {
    fn begin(size: Size) -> Self {
        StringBuilder::with_capacity(size.cells, size.bytes)
    }

    fn size(&self) -> Size {
        Size {
            cells: self.len(),
            bytes: self.values_slice().len(),
            ..Size::default()
        }
    }

    #[inline]
    fn null(&mut self) {
        self.append_null();
    }

    fn data_type() -> DataType {
        DataType::Utf8
    }
}

impl Build for ListBuilder<StringBuilder> {
    fn begin(size: Size) -> Self {
        let texts = StringBuilder::with_capacity(size.texts, size.bytes);
        ListBuilder::with_capacity(texts, size.cells).with_field(element())
    }

    fn size(&self) -> Size {
        let texts = self.values_ref();
        Size {
            cells: self.len(),
            texts: texts.len(),
            bytes: texts.values_slice().len(),
        }
    }

    #[inline]
    fn null(&mut self) {
        self.append_null();
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

impl<V, B: Build> Put<Option<V>> for Cells<B>
where
    Cells<B>: Put<V>,
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

macro_rules! put_native {
    ($native:ty, $builder:ty) => {
        impl Put<$native> for Cells<$builder> {
            #[inline]
            fn put(&mut self, value: $native) -> usize {
                self.filled().append_value(value);
                0
            }
        }
    };
}

put_native!(bool, BooleanBuilder);
put_native!(i16, PrimitiveBuilder<Int16Type>);
put_native!(i32, PrimitiveBuilder<Int32Type>);
put_native!(i64, PrimitiveBuilder<Int64Type>);
put_native!(f64, PrimitiveBuilder<Float64Type>);

/// Text of so many bytes fits into one array; Arrow's offsets are of 32 bits.
const MOST_TEXT: usize = i32::MAX as usize;

/// The text as far as a column of so many bytes has room for it: cut nearly never, and never refused.
fn fitting(text: &str, used: usize) -> &str {
    let room = MOST_TEXT.saturating_sub(used);
    if text.len() <= room {
        return text;
    }
    // A letter has four bytes at most.
    (0..4)
        .find_map(|less| text.get(..room.saturating_sub(less)))
        .unwrap_or_default()
}

impl Put<&str> for Cells<StringBuilder> {
    #[inline]
    fn put(&mut self, value: &str) -> usize {
        let builder = self.filled();
        builder.append_value(fitting(value, builder.values_slice().len()));
        value.len()
    }
}

impl Put<List<'_>> for Cells<ListBuilder<StringBuilder>> {
    #[inline]
    fn put(&mut self, value: List<'_>) -> usize {
        let builder = self.filled();
        let mut bytes = 0;
        for text in value.iter() {
            let values = builder.values();
            values.append_value(fitting(text, values.values_slice().len()));
            bytes += text.len() + size_of::<i32>();
        }
        builder.append(true);
        bytes
    }
}

/// Takes a cell whose type is known now only, as null where the column is of another one; gives the bytes of its text.
pub(super) trait PutValue {
    fn put_value(&mut self, value: &Value) -> usize;
}

macro_rules! put_value {
    ($builder:ty, $value:ident => $cell:expr) => {
        impl PutValue for Cells<$builder> {
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

put_value!(PrimitiveBuilder<Int16Type>, value => int::<i16>(value));
put_value!(PrimitiveBuilder<Int32Type>, value => int::<i32>(value));
put_value!(PrimitiveBuilder<Int64Type>, value => int::<i64>(value));
put_value!(BooleanBuilder, value => match value {
    Value::Bool(value) => Some(*value),
    _ => None,
});
put_value!(PrimitiveBuilder<Float64Type>, value => match value {
    Value::Float(value) => Some(*value),
    _ => None,
});
put_value!(StringBuilder, value => match value {
    Value::String(value) => Some(value.as_str()),
    _ => None,
});

impl PutValue for Cells<ListBuilder<StringBuilder>> {
    fn put_value(&mut self, value: &Value) -> usize {
        let Value::Strings(texts) = value else {
            return self.put(None::<List<'_>>);
        };
        let mut strings = Strings::default();
        texts.iter().for_each(|text| strings.push(text));
        self.put(strings.list())
    }
}
