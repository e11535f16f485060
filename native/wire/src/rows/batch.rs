//! Rows that are ready.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::columns::{Column, Kind, Shape, Unit};
use super::{csv, json};

/// Rows of one table, in the columns asked for.
#[derive(Clone, Debug)]
pub struct Batch {
    shape: Shape,
    arrow: RecordBatch,
}

impl Batch {
    /// Of arrays of so many cells each, one for each column of the shape.
    pub(super) fn new(shape: &Shape, arrays: Vec<ArrayRef>, rows: usize) -> Batch {
        // Without columns there are still rows.
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let arrow = RecordBatch::try_new_with_options(shape.schema().clone(), arrays, &options)
            .expect("columns are built as the shape describes them");
        Batch {
            shape: shape.clone(),
            arrow,
        }
    }

    /// Which columns of which table.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The rows as Arrow has them.
    pub fn arrow(&self) -> &RecordBatch {
        &self.arrow
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.arrow.num_rows()
    }

    /// The columns to be read cell by cell.
    pub fn views(&self) -> Vec<View<'_>> {
        let columns = self.shape.columns().zip(self.arrow.columns());
        columns
            .map(|(column, array)| View::new(column, array, self.shape.unit))
            .collect()
    }

    /// Lines of comma-separated values, without the line of names.
    pub fn to_csv(&self) -> Vec<u8> {
        csv::lines(&self.views(), self.rows())
    }

    /// A JSON object a line.
    pub fn to_json(&self) -> Vec<u8> {
        json::lines(&self.views(), self.rows())
    }
}

/// A column to be read cell by cell.
pub struct View<'a> {
    pub column: &'static Column,
    pub nulls: Option<&'a NullBuffer>,
    pub values: Values<'a>,
}

/// The cells of a column; those that are null have any value.
pub enum Values<'a> {
    Bool(&'a BooleanBuffer),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float64(&'a [f64]),
    String(&'a StringArray),
    /// The texts of all rows, and where those of each row begin and end.
    Strings(&'a StringArray, &'a [i32]),
    /// Times, and how many nanoseconds their unit has.
    Time(&'a [i64], i64),
}

impl<'a> View<'a> {
    fn new(column: &'static Column, array: &'a ArrayRef, unit: Unit) -> View<'a> {
        let values = match column.kind {
            Kind::Bool => Values::Bool(array.as_boolean().values()),
            Kind::Int16 => Values::Int16(array.as_primitive::<Int16Type>().values()),
            Kind::Int32 => Values::Int32(array.as_primitive::<Int32Type>().values()),
            Kind::Int64 => Values::Int64(array.as_primitive::<Int64Type>().values()),
            Kind::Float64 => Values::Float64(array.as_primitive::<Float64Type>().values()),
            Kind::String => Values::String(array.as_string::<i32>()),
            Kind::Strings => {
                let lists = array.as_list::<i32>();
                Values::Strings(lists.values().as_string::<i32>(), lists.value_offsets())
            }
            Kind::Time => match unit {
                Unit::Nanoseconds => Values::Time(array.as_primitive::<TimestampNanosecondType>().values(), 1),
                Unit::Microseconds => Values::Time(array.as_primitive::<TimestampMicrosecondType>().values(), 1000),
            },
        };
        View {
            column,
            nulls: array.nulls(),
            values,
        }
    }

    /// Whether the cell of a row has no value.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }
}

impl<'a> Values<'a> {
    /// The texts of one row, where there are several in a cell.
    pub fn strings(texts: &'a StringArray, ends: &[i32], row: usize) -> impl Iterator<Item = &'a str> + use<'a> {
        let (begin, end) = (ends[row] as usize, ends[row + 1] as usize);
        (begin..end).map(|place| texts.value(place))
    }
}
