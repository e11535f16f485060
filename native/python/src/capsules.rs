//! Arrow's PyCapsule interface: how arrays of ours become those of any library of Arrow's, without a copy.

use arrow_array::ffi::to_ffi;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::Schema;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

fn defect(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A schema.
pub fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(defect)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// A record batch, as an array of structs.
pub fn array<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let structs = match (batch.num_rows(), batch.num_columns()) {
        (rows, 0) => StructArray::new_empty_fields(rows, None),
        _ => StructArray::from(batch.clone()),
    };
    let (array, _) = to_ffi(&structs.to_data()).map_err(defect)?;
    let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
    Ok((schema(py, batch.schema_ref())?, array))
}

/// A stream of one record batch.
pub fn stream<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
