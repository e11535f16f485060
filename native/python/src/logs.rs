//! Reading the files that a broker keeps.

use std::collections::HashMap;
use std::path::PathBuf;

use netdiag_wire::storage::{LogFile, LogReader, MOST_SHOWN, Showing};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};

use crate::reading::by_table;
use crate::shapes::shape_of;

/// A file, with all of these attributes; see `LogFile` in `netdiag.traffic.native`.
#[derive(FromPyObject)]
pub struct AskedFile {
    path: PathBuf,
    name: String,
    topic: Option<String>,
    partition: Option<i32>,
    base_offset: Option<i64>,
}

/// Files of record batches that are being read: an iterator of dicts, of each table a list of batches.
#[pyclass(frozen, module = "netdiag_native")]
pub struct LogReading {
    reader: Mutex<LogReader>,
}

/// Begin to read files of record batches.
///
/// `tables`: those wanted, each with the names of the columns wanted or None for all. `most`: bytes of a key or a value
/// that are shown, None for none of them.
#[pyfunction]
#[pyo3(signature = (files, tables, *, most = None, unit = "ns"))]
pub fn read_logs(
    files: Vec<AskedFile>,
    tables: HashMap<String, Option<Vec<String>>>,
    most: Option<usize>,
    unit: &str,
) -> PyResult<LogReading> {
    let shapes = tables
        .iter()
        .map(|(name, columns)| shape_of(name, columns.as_deref(), unit));
    let shapes = shapes.collect::<PyResult<Vec<_>>>()?;
    let files = files.into_iter().map(|file| LogFile {
        path: file.path,
        name: file.name,
        topic: file.topic,
        partition: file.partition,
        base_offset: file.base_offset,
    });
    let showing = Showing {
        payloads: most.is_some(),
        most: most.unwrap_or(MOST_SHOWN),
    };
    Ok(LogReading {
        reader: Mutex::new(LogReader::new(files.collect(), &shapes, showing)),
    })
}

#[pymethods]
impl LogReading {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// What is ready after about 32 MiB, which may be nothing.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let batches = py.detach(|| self.reader.lock().unwrap_or_else(PoisonError::into_inner).turn());
        py.check_signals()?;
        batches.map(|batches| by_table(py, batches)).transpose()
    }

    /// Bytes of files that were read so far.
    #[getter]
    fn passed(&self) -> u64 {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).passed()
    }
}
