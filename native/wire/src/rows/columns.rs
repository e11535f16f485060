//! What columns a table has, and the columns of a table while rows come in.

use std::fmt;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::batch::Batch;
use super::cells::{Bits, Cells, Lists, Put, PutValue, Texts, Value, element, time_type};
use super::packed::{Filling, Packed, Packer, Unpacking};
use super::{MOST_ROWS, MUCH_TEXT};
use crate::exchange::row::*;
use crate::options::Table;
use crate::storage::{CommittedOffsetRow, LogBatchRow, LogProblemRow, LogRecordRow, LogSegmentRow, StoredRecordRow};

/// The type of a column. A time is a whole number of nanoseconds since 1970 UTC in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int16,
    Int32,
    Int64,
    Float64,
    String,
    Strings,
    Time,
}

/// What times are counted in where Arrow has them: Spark knows microseconds only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    #[default]
    Nanoseconds,
    Microseconds,
}

/// One column; of one that is required every row has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
}

impl Column {
    /// Whether a cell may hold this.
    fn takes(&self, value: &Value) -> bool {
        match (self.kind, value) {
            (_, Value::Null) => !self.required,
            (Kind::Bool, Value::Bool(_))
            | (Kind::Int64 | Kind::Time, Value::Int(_))
            | (Kind::Float64, Value::Float(_))
            | (Kind::String, Value::String(_))
            | (Kind::Strings, Value::Strings(_)) => true,
            (Kind::Int32, Value::Int(value)) => i32::try_from(*value).is_ok(),
            (Kind::Int16, Value::Int(value)) => i16::try_from(*value).is_ok(),
            _ => false,
        }
    }

    fn field(&self, unit: Unit) -> Field {
        let data_type = match self.kind {
            Kind::Bool => DataType::Boolean,
            Kind::Int16 => DataType::Int16,
            Kind::Int32 => DataType::Int32,
            Kind::Int64 => DataType::Int64,
            Kind::Float64 => DataType::Float64,
            Kind::String => DataType::Utf8,
            Kind::Strings => DataType::List(element()),
            Kind::Time => time_type(unit),
        };
        Field::new(self.name, data_type, !self.required)
    }
}

/// Somebody asked for a column that its table does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn {
    pub table: Table,
    pub name: String,
}

impl fmt::Display for UnknownColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no column '{}' in {}", self.name, self.table.as_str())
    }
}

impl std::error::Error for UnknownColumn {}

/// Some columns of a table, in the order asked for.
#[derive(Clone, Debug)]
pub struct Shape {
    pub table: Table,
    pub unit: Unit,
    schema: SchemaRef,
    places: Arc<[usize]>,
}

impl Shape {
    /// All columns.
    pub fn all(table: Table, unit: Unit) -> Shape {
        Shape::at(table, (0..columns_of(table).len()).collect(), unit)
    }

    /// The columns of these names; one may be named twice.
    pub fn of<N: AsRef<str>>(table: Table, names: &[N], unit: Unit) -> Result<Shape, UnknownColumn> {
        let place = |name: &N| {
            let name = name.as_ref();
            let found = columns_of(table).iter().position(|column| column.name == name);
            found.ok_or_else(|| UnknownColumn {
                table,
                name: name.to_owned(),
            })
        };
        Ok(Shape::at(
            table,
            names.iter().map(place).collect::<Result<_, _>>()?,
            unit,
        ))
    }

    fn at(table: Table, places: Arc<[usize]>, unit: Unit) -> Shape {
        let known = columns_of(table);
        let fields: Vec<Field> = places.iter().map(|&place| known[place].field(unit)).collect();
        Shape {
            table,
            unit,
            schema: Arc::new(Schema::new(fields)),
            places,
        }
    }

    /// As Arrow describes them.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &'static Column> + use<'_> {
        let known = columns_of(self.table);
        self.places.iter().map(move |&place| &known[place])
    }

    /// The columns as a set of their places in the table.
    pub(super) fn set(&self) -> u64 {
        self.places.iter().fold(0, |set, &place| set | 1 << place)
    }
}

/// What holds the cells of a kind.
macro_rules! cells {
    (Bool) => { Cells<Bits> };
    (Int16) => { Cells<Vec<i16>> };
    (Int32) => { Cells<Vec<i32>> };
    (Int64) => { Cells<Vec<i64>> };
    (Float64) => { Cells<Vec<f64>> };
    (String) => { Cells<Texts> };
    (Strings) => { Cells<Lists> };
    (Time) => { Cells<Vec<i64>> };
}

/// The cells since the last time, as an array of their kind.
macro_rules! finished {
    (Time, $cells:expr, $unit:expr) => {
        $cells.finish_times($unit)
    };
    ($kind:ident, $cells:expr, $unit:expr) => {
        $cells.finish()
    };
}

/// The type of a field of a row.
macro_rules! native {
    (Bool) => { bool };
    (Int16) => { i16 };
    (Int32) => { i32 };
    (Int64) => { i64 };
    (Float64) => { f64 };
    (String) => { &str };
    (Strings) => { List<'_> };
    (Time) => { i64 };
}

/// A field of a row, which may be missing where the column may be null, and there only.
macro_rules! given {
    ($kind:ident, true, $value:expr) => {{
        let given: native!($kind) = $value;
        given
    }};
    ($kind:ident, false, $value:expr) => {{
        let given: Option<native!($kind)> = $value;
        given
    }};
}

/// The next cell of a packed row.
macro_rules! unpacked {
    (Bool, $from:expr) => {
        $from.bool()
    };
    (Int16, $from:expr) => {
        $from.int() as i16
    };
    (Int32, $from:expr) => {
        $from.int() as i32
    };
    (Int64, $from:expr) => {
        $from.int()
    };
    (Float64, $from:expr) => {
        $from.float()
    };
    (String, $from:expr) => {
        $from.string()
    };
    (Strings, $from:expr) => {
        $from.strings()
    };
    (Time, $from:expr) => {
        $from.int()
    };
}

/// A row of one table, whose cells go to the columns of the table.
trait Row {
    const COLUMNS: &'static [Column];
    type Cells: CellsOf;

    /// Put into each column of the set what the row has for it; gives the bytes of text.
    fn put(&self, cells: &mut Self::Cells, wanted: u64) -> usize;

    /// Pack the cells of the columns of the set.
    fn pack(&self, to: &mut Filling<'_>, wanted: u64);
}

/// The cells of all columns of a table.
trait CellsOf: Default + Send {
    /// Put a cell into the column at a place, null where it is of another type; gives the bytes of text.
    fn put_value(&mut self, place: usize, value: &Value) -> usize;

    /// Put into each column of the set the next cell of a packed row, null where it is not among `present`; gives the bytes
    /// of text.
    fn put_packed(&mut self, from: &mut Unpacking<'_>, wanted: u64, present: u64) -> usize;

    /// The cells of the column at a place since the last time.
    fn finish(&mut self, place: usize, unit: Unit) -> ArrayRef;
}

macro_rules! table {
    ($row:ident $($place:literal $name:literal $field:ident $kind:ident $required:ident)*) => {
        const _: () = {
            #[derive(Default)]
            struct Made {
                $($field: cells!($kind),)*
            }

            impl Row for $row<'_> {
                const COLUMNS: &'static [Column] =
                    &[$(Column { name: $name, kind: Kind::$kind, required: $required },)*];
                type Cells = Made;

                #[inline]
                fn put(&self, cells: &mut Made, wanted: u64) -> usize {
                    let mut bytes = 0;
                    $(if wanted & 1 << $place != 0 {
                        bytes += cells.$field.put(given!($kind, $required, self.$field));
                    })*
                    bytes
                }

                #[inline]
                fn pack(&self, to: &mut Filling<'_>, wanted: u64) {
                    $(if wanted & 1 << $place != 0 {
                        to.put($place, given!($kind, $required, self.$field));
                    })*
                }
            }

            impl CellsOf for Made {
                #[inline]
                fn put_packed(&mut self, from: &mut Unpacking<'_>, wanted: u64, present: u64) -> usize {
                    let mut bytes = 0;
                    $(if wanted & 1 << $place != 0 {
                        let is_there = present & 1 << $place != 0;
                        bytes += self.$field.put(is_there.then(|| unpacked!($kind, from)));
                    })*
                    bytes
                }

                fn put_value(&mut self, place: usize, value: &Value) -> usize {
                    match place {
                        $($place => self.$field.put_value(value),)*
                        _ => 0,
                    }
                }

                fn finish(&mut self, place: usize, unit: Unit) -> ArrayRef {
                    // Not every table has times.
                    let _ = unit;
                    match place {
                        $($place => finished!($kind, self.$field, unit),)*
                        _ => unreachable!("places are those of columns"),
                    }
                }
            }
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// Rows of one table as columns.
struct Columns<C> {
    shape: Shape,
    wanted: u64,
    rows: usize,
    bytes: usize,
    cells: C,
}

impl<C: CellsOf> Columns<C> {
    fn new(shape: &Shape) -> Columns<C> {
        Columns {
            wanted: shape.set(),
            shape: shape.clone(),
            rows: 0,
            bytes: 0,
            cells: C::default(),
        }
    }

    /// Whether there are as many rows now as a batch holds.
    #[inline]
    fn push<R: Row<Cells = C>>(&mut self, row: &R) -> bool {
        self.bytes += row.put(&mut self.cells, self.wanted);
        self.rows += 1;
        self.is_full()
    }

    fn push_values(&mut self, values: &[Value]) -> bool {
        for (place, value) in values.iter().enumerate() {
            if self.wanted & 1 << place != 0 {
                self.bytes += self.cells.put_value(place, value);
            }
        }
        self.rows += 1;
        self.is_full()
    }

    #[inline]
    fn push_packed(&mut self, from: &mut Unpacking<'_>, present: u64) -> bool {
        self.bytes += self.cells.put_packed(from, self.wanted, present);
        self.rows += 1;
        self.is_full()
    }

    fn is_full(&self) -> bool {
        self.rows >= MOST_ROWS || self.bytes >= MUCH_TEXT
    }

    /// The rows since the last time, if there are any.
    fn take(&mut self) -> Option<Batch> {
        if self.rows == 0 {
            return None;
        }
        let mut made: Vec<Option<ArrayRef>> = vec![None; columns_of(self.shape.table).len()];
        let arrays = self.shape.places.iter().map(|&place| {
            let unit = self.shape.unit;
            made[place]
                .get_or_insert_with(|| self.cells.finish(place, unit))
                .clone()
        });
        let arrays = arrays.collect();
        self.bytes = 0;
        Some(Batch::new(&self.shape, arrays, std::mem::take(&mut self.rows)))
    }
}

/// A row does not fit its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It has another number of cells than the table has columns.
    Cells,
    /// The cell of this column is of another type.
    Type(&'static Column),
}

macro_rules! rows {
    ($($table:ident $field:ident $method:ident $row:ident)*) => {
        /// Rows of the tables that are wanted, as columns; rows of other tables are let go.
        #[derive(Default)]
        pub struct Rows {
            $($field: Option<Columns<<$row<'static> as Row>::Cells>>,)*
            full: Vec<Batch>,
        }

        impl Rows {
            /// Takes rows of the tables of these shapes.
            pub fn new(shapes: &[Shape]) -> Rows {
                let mut rows = Rows::default();
                for shape in shapes {
                    match shape.table {
                        $(Table::$table => rows.$field = Some(Columns::new(shape)),)*
                    }
                }
                rows
            }

            /// Whether a batch is full. It is best to drain when all rows of an exchange are there: then they are
            /// drained together.
            #[inline]
            pub fn is_due(&self) -> bool {
                !self.full.is_empty()
            }

            /// All rows since the last time; the batches of a table in their order.
            pub fn drain(&mut self) -> Vec<Batch> {
                let mut batches = std::mem::take(&mut self.full);
                $(batches.extend(self.$field.as_mut().and_then(Columns::take));)*
                batches
            }

            /// The packed rows of several workers, in the order of what made them.
            pub fn merge(&mut self, packed: &[Packed]) {
                let mut all: Vec<_> = packed.iter().map(Unpacking::of).collect();
                while let Some((order, at)) = first(&all) {
                    let from = &mut all[at];
                    while from.order() == Some(order) {
                        let (table, present) = from.begin();
                        match table {
                            $(table if table == Table::$table as u8 => if let Some(columns) = &mut self.$field {
                                if columns.push_packed(from, present) {
                                    self.full.extend(columns.take());
                                }
                            },)*
                            _ => unreachable!("numbers are those of tables"),
                        }
                    }
                }
            }

            /// A row whose types are known now only.
            pub fn push_values(&mut self, table: Table, values: &[Value]) -> Result<(), Unfit> {
                let known = columns_of(table);
                if known.len() != values.len() {
                    return Err(Unfit::Cells);
                }
                if let Some((column, _)) = known.iter().zip(values).find(|(column, value)| !column.takes(value)) {
                    return Err(Unfit::Type(column));
                }
                match table {
                    $(Table::$table => if let Some(columns) = &mut self.$field {
                        if columns.push_values(values) {
                            self.full.extend(columns.take());
                        }
                    },)*
                }
                Ok(())
            }
        }

        impl RowSink for Rows {
            $(
                #[inline]
                fn $method(&mut self, row: &$row<'_>) {
                    if let Some(columns) = &mut self.$field {
                        if columns.push(row) {
                            self.full.extend(columns.take());
                        }
                    }
                }
            )*
        }

        impl RowSink for Packer {
            fn go_to(&mut self, order: u32) {
                self.order(order);
            }

            $(
                #[inline]
                fn $method(&mut self, row: &$row<'_>) {
                    if let Some((wanted, mut filling)) = self.begin(Table::$table) {
                        row.pack(&mut filling, wanted);
                    }
                }
            )*
        }

        /// All columns of a table in their order.
        pub fn columns_of(table: Table) -> &'static [Column] {
            match table {
                $(Table::$table => $row::COLUMNS,)*
            }
        }
    };
}

/// Where the next row of all is, and what made it.
#[inline]
fn first(all: &[Unpacking<'_>]) -> Option<(u32, usize)> {
    let orders = all
        .iter()
        .enumerate()
        .filter_map(|(at, from)| Some((from.order()?, at)));
    orders.min()
}

rows! {
    Exchanges exchanges exchange ExchangeRow
    Partitions partitions partition PartitionRow
    Batches batches batch BatchRow
    GroupEvents group_events group_event GroupEventRow
    Endpoints endpoints endpoint EndpointRow
    Leaders leaders leader LeaderRow
    Connections connections connection ConnectionRow
    Names names name NameRow
    Losses losses loss LossRow
    Records records record RecordRow
    Packets packets packet PacketRow
    Segments segments segment SegmentRow
    LogSegments log_segments log_segment LogSegmentRow
    LogBatches log_batches log_batch LogBatchRow
    LogRecords log_records log_record LogRecordRow
    LogProblems log_problems log_problem LogProblemRow
    StoredRecords stored_records stored_record StoredRecordRow
    CommittedOffsets committed_offsets committed_offset CommittedOffsetRow
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;

    use super::*;

    const LOSS: LossRow<'_> = LossRow {
        file: "one.pcap",
        time: None,
        connection: None,
        direction: None,
        kind: "damage",
        bytes: 1,
        times: 1,
        detail: None,
    };

    fn shapes(tables: &[Table]) -> Vec<Shape> {
        tables
            .iter()
            .map(|&table| Shape::all(table, Unit::Nanoseconds))
            .collect()
    }

    #[test]
    fn a_table_has_the_columns_of_its_description() {
        let names: Vec<_> = columns_of(Table::Names).iter().map(|column| column.name).collect();
        assert_eq!(
            names,
            [
                "time",
                "client",
                "server",
                "name",
                "type",
                "result",
                "addresses",
                "latency_ms"
            ]
        );
        for table in Table::ALL {
            assert_eq!(
                Shape::all(table, Unit::Nanoseconds).columns().len(),
                columns_of(table).len()
            );
        }
    }

    #[test]
    fn batches_are_cut_at_so_many_rows() {
        let mut rows = Rows::new(&shapes(&[Table::Losses]));
        for _ in 0..MOST_ROWS - 1 {
            rows.loss(&LOSS);
        }
        assert!(!rows.is_due());
        rows.loss(&LOSS);
        assert!(rows.is_due());
        rows.loss(&LOSS);
        assert_eq!(rows.drain().iter().map(Batch::rows).collect::<Vec<_>>(), [MOST_ROWS, 1]);
        assert!(!rows.is_due());
        assert!(rows.drain().is_empty());
    }

    #[test]
    fn batches_are_cut_at_so_much_text() {
        let mut rows = Rows::new(&shapes(&[Table::Losses]));
        let detail = "x".repeat(MUCH_TEXT / 4);
        for _ in 0..5 {
            rows.loss(&LossRow {
                detail: Some(&detail),
                ..LOSS
            });
        }
        assert_eq!(rows.drain().iter().map(Batch::rows).collect::<Vec<_>>(), [4, 1]);
    }

    #[test]
    fn a_table_that_nobody_wants_takes_nothing() {
        let mut rows = Rows::new(&shapes(&[Table::Names]));
        rows.loss(&LOSS);
        assert!(rows.drain().is_empty());
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        let shape = Shape::of(Table::Losses, &["kind", "file", "kind"], Unit::Nanoseconds).expect("they are there");
        let mut rows = Rows::new(std::slice::from_ref(&shape));
        rows.loss(&LOSS);
        rows.loss(&LossRow { kind: "gap", ..LOSS });
        let batches = rows.drain();
        assert_eq!(batches[0].to_csv(), b"damage,one.pcap,damage\ngap,one.pcap,gap\n");
        // A column that is there twice is one key of JSON.
        assert_eq!(
            batches[0].to_json(),
            b"{\"kind\":\"damage\",\"file\":\"one.pcap\"}\n{\"kind\":\"gap\",\"file\":\"one.pcap\"}\n"
        );
        let unknown = Shape::of(Table::Losses, &["kind", "size"], Unit::Nanoseconds).expect_err("there is no size");
        assert_eq!(unknown.to_string(), "no column 'size' in losses");
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let shape = Shape::of::<&str>(Table::Losses, &[], Unit::Nanoseconds).expect("none is strange");
        let mut rows = Rows::new(&[shape]);
        rows.loss(&LOSS);
        rows.loss(&LOSS);
        assert_eq!(rows.drain()[0].rows(), 2);
    }

    #[test]
    fn nulls_before_and_behind_a_value_stay() {
        let mut rows = Rows::new(&shapes(&[Table::Losses]));
        for time in [None, None, Some(1_500), None] {
            rows.loss(&LossRow { time, ..LOSS });
        }
        let batches = rows.drain();
        let times = batches[0].arrow().column(1);
        assert_eq!(
            (0..4).map(|row| times.is_null(row)).collect::<Vec<_>>(),
            [true, true, false, true]
        );
        // All are null here, and nothing is kept of them.
        assert_eq!(batches[0].arrow().column(2).null_count(), 4);
    }

    #[test]
    fn rows_of_values_fit_or_are_told_apart() {
        let mut rows = Rows::new(&shapes(&[Table::Losses]));
        let row = |bytes| {
            let (text, none) = (|text: &str| Value::String(text.into()), || Value::Null);
            vec![
                text("f"),
                none(),
                none(),
                none(),
                text("gap"),
                bytes,
                Value::Int(1),
                none(),
            ]
        };
        assert_eq!(rows.push_values(Table::Losses, &row(Value::Int(7))), Ok(()));
        let bytes = columns_of(Table::Losses)
            .iter()
            .find(|column| column.name == "bytes")
            .expect("it is there");
        for wrong in [Value::Null, Value::Float(1.0), Value::String("7".into())] {
            assert_eq!(rows.push_values(Table::Losses, &row(wrong)), Err(Unfit::Type(bytes)));
        }
        assert_eq!(rows.push_values(Table::Losses, &[]), Err(Unfit::Cells));
        assert_eq!(rows.drain()[0].to_csv(), b"f,,,,gap,7,1,\n");
    }
}
