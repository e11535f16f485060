//! Rows of one table for Python.

use arrow_array::RecordBatch;
use netdiag_wire::rows::{self, Rows, Unfit, Value, Values, View};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;

use crate::capsules;
use crate::shapes::shape_of;

/// Rows of one table, in the columns asked for; at most 8,192.
#[pyclass(frozen, module = "netdiag_native")]
pub struct Batch {
    pub batch: rows::Batch,
}

#[pymethods]
impl Batch {
    /// The name of the table.
    #[getter]
    fn table(&self) -> &'static str {
        self.batch.shape().table.as_str()
    }

    /// The names of the columns.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.batch.shape().columns().map(|column| column.name))
    }

    fn __len__(&self) -> usize {
        self.batch.rows()
    }

    /// Lines of comma-separated values, without the line of names.
    fn to_csv<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.batch.to_csv()))
    }

    /// A JSON object a line.
    fn to_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.batch.to_json()))
    }

    /// The rows as tuples; times are nanoseconds since 1970 UTC.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let views = self.batch.views();
        let mut columns = views.iter().map(Cells::new).collect::<Vec<_>>();
        let rows = (0..self.batch.rows()).map(|row| {
            let cells = columns
                .iter_mut()
                .map(|column| column.cell(py, row))
                .collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, cells)
        });
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsules::schema(py, self.batch.shape().schema())
    }

    /// Whoever asks for another schema gets this one, as the interface allows, and casts it.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        capsules::array(py, self.batch.arrow())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        capsules::stream(py, self.batch.arrow())
    }
}

/// Rows of a fold; Arrow's C data interface takes them as they are.
#[pyclass(frozen, module = "netdiag_native")]
pub struct Folded {
    pub rows: RecordBatch,
}

#[pymethods]
impl Folded {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsules::schema(py, self.rows.schema_ref())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        capsules::array(py, &self.rows)
    }
}

/// A column whose cells become objects of Python; each text does once, however many rows have it.
struct Cells<'a, 'py> {
    view: &'a View<'a>,
    texts: FxHashMap<&'a str, Bound<'py, PyString>>,
}

impl<'a, 'py> Cells<'a, 'py> {
    fn new(view: &'a View<'a>) -> Cells<'a, 'py> {
        Cells {
            view,
            texts: FxHashMap::default(),
        }
    }

    fn cell(&mut self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        if self.view.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        match self.view.values {
            Values::Bool(values) => Ok(PyBool::new(py, values.value(row)).to_owned().into_any()),
            Values::Int16(values) => Ok(values[row].into_pyobject(py)?.into_any()),
            Values::Int32(values) => Ok(values[row].into_pyobject(py)?.into_any()),
            Values::Int64(values) => Ok(values[row].into_pyobject(py)?.into_any()),
            Values::Float64(values) => Ok(values[row].into_pyobject(py)?.into_any()),
            Values::Time(values, unit) => Ok(values[row].saturating_mul(unit).into_pyobject(py)?.into_any()),
            Values::String(values) => Ok(self.text(py, values.value(row)).into_any()),
            Values::Strings(texts, ends) => {
                let texts: Vec<_> = Values::strings(texts, ends, row)
                    .map(|text| self.text(py, text))
                    .collect();
                Ok(PyTuple::new(py, texts)?.into_any())
            }
        }
    }

    fn text(&mut self, py: Python<'py>, text: &'a str) -> Bound<'py, PyString> {
        self.texts
            .entry(text)
            .or_insert_with(|| PyString::new(py, text))
            .clone()
    }
}

/// A batch of rows that are tuples in the order of the table: what `Batch.rows` gives, the other way round.
#[pyfunction]
#[pyo3(signature = (table, rows, columns = None, *, unit = "ns"))]
pub fn make_batch(
    table: &str,
    rows: Vec<Bound<'_, PyTuple>>,
    columns: Option<Vec<String>>,
    unit: &str,
) -> PyResult<Batch> {
    let shape = shape_of(table, columns.as_deref(), unit)?;
    let mut made = Rows::new(std::slice::from_ref(&shape));
    for row in &rows {
        let values = row
            .iter()
            .map(|cell| value_of(&cell))
            .collect::<PyResult<Vec<Value>>>()?;
        made.push_values(shape.table, &values).map_err(|unfit| match unfit {
            Unfit::Cells => PyValueError::new_err(format!("{table}: a row of {} cells", values.len())),
            Unfit::Type(column) => PyTypeError::new_err(format!("{table}: a cell of {} does not fit", column.name)),
        })?;
    }
    let [batch] = <[rows::Batch; 1]>::try_from(made.drain())
        .map_err(|batches| PyValueError::new_err(format!("these rows are {} batches, not one", batches.len())))?;
    Ok(Batch { batch })
}

fn value_of(cell: &Bound<'_, PyAny>) -> PyResult<Value> {
    if cell.is_none() {
        Ok(Value::Null)
    } else if let Ok(value) = cell.cast::<PyBool>() {
        Ok(Value::Bool(value.is_true()))
    } else if let Ok(value) = cell.cast::<PyString>() {
        Ok(Value::String(value.to_str()?.to_owned()))
    } else if cell.is_instance_of::<pyo3::types::PyFloat>() {
        Ok(Value::Float(cell.extract()?))
    } else if cell.is_instance_of::<PyTuple>() {
        Ok(Value::Strings(cell.extract()?))
    } else {
        Ok(Value::Int(cell.extract()?))
    }
}
