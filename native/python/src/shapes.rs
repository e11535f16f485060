//! Tables and columns by their names.

use arrow_buffer::Buffer;
use netdiag_wire::options::Table;
use netdiag_wire::rows::{self, Kind, Shape, Unit};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::batch::Batch;
use crate::capsules;

/// The table of that name; KeyError for any other.
pub fn table_of(name: &str) -> PyResult<Table> {
    Table::of(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

/// `ns` or `us`; ValueError for any other.
pub fn unit_of(name: &str) -> PyResult<Unit> {
    match name {
        "ns" => Ok(Unit::Nanoseconds),
        "us" => Ok(Unit::Microseconds),
        _ => Err(PyValueError::new_err("unit is 'ns' or 'us'")),
    }
}

/// Columns of a table, all of them where none are named; KeyError for a strange name.
pub fn shape_of(table: &str, names: Option<&[String]>, unit: &str) -> PyResult<Shape> {
    let (table, unit) = (table_of(table)?, unit_of(unit)?);
    match names {
        None => Ok(Shape::all(table, unit)),
        Some(names) => Shape::of(table, names, unit).map_err(|unknown| PyKeyError::new_err(unknown.to_string())),
    }
}

fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Int16 => "int16",
        Kind::Int32 => "int32",
        Kind::Int64 => "int64",
        Kind::Float64 => "float64",
        Kind::String => "string",
        Kind::Strings => "strings",
        Kind::Time => "time",
    }
}

/// The columns of a table: name, kind as tables.json has it, and whether every row has a value.
#[pyfunction]
pub fn columns(table: &str) -> PyResult<Vec<(&'static str, &'static str, bool)>> {
    let columns = rows::columns_of(table_of(table)?).iter();
    Ok(columns
        .map(|column| (column.name, kind_text(column.kind), column.required))
        .collect())
}

/// The Arrow schema of some columns of a table.
#[pyclass(frozen, module = "netdiag_native")]
pub struct Schema {
    shape: Shape,
}

#[pymethods]
impl Schema {
    #[new]
    #[pyo3(signature = (table, columns = None, *, unit = "ns"))]
    fn new(table: &str, columns: Option<Vec<String>>, unit: &str) -> PyResult<Schema> {
        Ok(Schema {
            shape: shape_of(table, columns.as_deref(), unit)?,
        })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsules::schema(py, self.shape.schema())
    }
}

/// Batches as an IPC stream of Arrow: what it gives belongs one behind the other.
#[pyclass(module = "netdiag_native")]
pub struct ArrowStream {
    /// None after the end.
    stream: Option<rows::ArrowStream>,
}

#[pymethods]
impl ArrowStream {
    #[new]
    #[pyo3(signature = (table, columns = None, *, unit = "ns"))]
    fn new(table: &str, columns: Option<Vec<String>>, unit: &str) -> PyResult<ArrowStream> {
        let shape = shape_of(table, columns.as_deref(), unit)?;
        Ok(ArrowStream {
            stream: Some(rows::ArrowStream::new(&shape).map_err(defect)?),
        })
    }

    /// The bytes of the next rows, which have the columns of the stream.
    fn encode<'py>(&mut self, py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyBytes>> {
        let stream = self.stream.as_mut().ok_or_else(over)?;
        let pieces = py
            .detach(|| stream.encode(&batch.batch))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        joined(py, &pieces)
    }

    /// The bytes that end the stream.
    fn end<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stream = self.stream.take().ok_or_else(over)?;
        joined(py, &stream.end().map_err(defect)?)
    }
}

fn over() -> PyErr {
    PyValueError::new_err("the stream is over")
}

/// The pieces as one, which copies each once.
fn joined<'py>(py: Python<'py>, pieces: &[Buffer]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, pieces.iter().map(|piece| piece.len()).sum(), |mut bytes| {
        for piece in pieces {
            let (begin, behind) = std::mem::take(&mut bytes).split_at_mut(piece.len());
            begin.copy_from_slice(piece);
            bytes = behind;
        }
        Ok(())
    })
}

fn defect(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
