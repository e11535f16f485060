//! Rows of the tables as columns: Arrow, CSV and JSON.
//!
//! Which tables and columns there are stands in `netdiag/traffic/tables.json` alone: `build.rs` makes the columns
//! of it, so a row that lacks a column, or has one of another type, does not compile.
//!
//! [`Rows`] takes rows and gives [`Batch`]es, which are bounded and hold the columns that were asked for, in the order
//! in which they were asked for.

mod batch;
mod cells;
mod columns;
mod csv;
mod json;
mod packed;
mod stream;
mod text;

pub use batch::{Batch, Values, View};
pub use cells::Value;
pub use columns::{Column, Kind, Rows, Shape, Unfit, Unit, UnknownColumn, columns_of};
pub use packed::{Packed, Packer};
pub use stream::ArrowStream;

/// Rows of one batch at most: several of each table are under way at a time.
pub const MOST_ROWS: usize = 8192;

/// A batch is cut behind the row that makes its text as long as this: lists of topics can be long.
pub const MUCH_TEXT: usize = 8 << 20;
