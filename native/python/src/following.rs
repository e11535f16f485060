//! Captures that grow, read batch by batch.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use netdiag_wire::capture::{Captures, Found, FromDisk, Identity, Shared, Window};
use netdiag_wire::engine::{self, Allowed};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::asked::Asked;
use crate::failure::raised;
use crate::reading::by_table;

create_exception!(
    netdiag_native,
    StateError,
    PyException,
    "These bytes are not a state that reading can go on from."
);

/// Packets, the times of the earliest and the latest one, and rows by table.
type Tally<'py> = (u64, Option<i64>, Option<i64>, Bound<'py, PyDict>);

/// Reads files that grow; goes on from a state, where it is given one that was saved under the same options.
#[pyclass(frozen, module = "netdiag_native")]
pub struct Follower {
    follower: Mutex<engine::Follower>,
}

#[pymethods]
impl Follower {
    #[new]
    #[pyo3(signature = (asked, state = None))]
    fn new(py: Python<'_>, asked: Asked, state: Option<&[u8]>) -> PyResult<Follower> {
        let (options, shapes) = asked.options()?;
        let follower = py.detach(|| match state {
            None => Ok(engine::Follower::new(&options, &shapes)),
            Some(state) => engine::Follower::restored(&options, &shapes, state),
        });
        let follower = follower.map_err(|unsound| StateError::new_err(unsound.to_string()))?;
        Ok(Follower {
            follower: Mutex::new(follower),
        })
    }

    /// Let so many bytes of a file be read, which is a new one where its number is the next.
    ///
    /// `name`: as rows call it. `first_time` and `late` in nanoseconds; `inode` and `begin` are what it is known again
    /// by. `ended`: no more come. `quiet`: others need not wait for more. `gone`: it went away before a later one had
    /// come.
    #[pyo3(signature = (*, number, name, path, first_time, late, inode, begin, size, ended, quiet, gone))]
    #[allow(clippy::too_many_arguments)] // an interface of keywords
    fn allow(
        &self,
        number: u32,
        name: String,
        path: PathBuf,
        first_time: i64,
        late: i64,
        inode: u64,
        begin: Vec<u8>,
        size: u64,
        ended: bool,
        quiet: bool,
        gone: bool,
    ) {
        self.follower().allow(Allowed {
            found: Found {
                number,
                name,
                path,
                first_time,
                late,
                identity: Identity { inode, begin },
            },
            size,
            is_ended: ended,
            is_quiet: quiet,
            is_gone: gone,
        });
    }

    /// Nothing more comes than what is there.
    fn end_files(&self) {
        self.follower().end_files();
    }

    /// Read on, up to a time (nanoseconds since 1970 UTC, None for all): of each table a list of batches, and whether
    /// that was all.
    #[pyo3(signature = (until = None))]
    fn read<'py>(&self, py: Python<'py>, until: Option<i64>) -> PyResult<(Bound<'py, PyDict>, bool)> {
        let (batches, is_all) = py.detach(|| self.follower().turn(until));
        py.check_signals()?;
        Ok((by_table(py, batches)?, is_all))
    }

    /// There are no more packets: the rest of the rows.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let batches = py.detach(|| self.follower().finish());
        by_table(py, batches)
    }

    /// What another one goes on from; when all rows were taken.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.follower().save()))
    }

    /// Let go of all files until they are read on.
    fn close(&self) {
        self.follower().close();
    }

    /// What was read so far.
    #[getter]
    fn tally<'py>(&self, py: Python<'py>) -> PyResult<Tally<'py>> {
        let tally = self.follower().tally().clone();
        let rows = PyDict::new(py);
        for (table, count) in tally.rows {
            rows.set_item(table, count)?;
        }
        Ok((tally.packets, tally.first, tally.last, rows))
    }
}

impl Follower {
    fn follower(&self) -> MutexGuard<'_, engine::Follower> {
        self.follower.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks for the latest packet of a file as it grows; see `Follower.allow` for what a file is known by.
#[pyclass(frozen, module = "netdiag_native")]
pub struct Latest {
    latest: Mutex<engine::Latest>,
}

#[pymethods]
impl Latest {
    #[new]
    fn new(path: PathBuf, first_time: i64, inode: u64, begin: Vec<u8>) -> Latest {
        Latest {
            latest: Mutex::new(engine::Latest::new(path, Identity { inode, begin }, first_time)),
        }
    }

    /// The time of the latest packet in so many bytes, in nanoseconds since 1970 UTC.
    fn within(&self, py: Python<'_>, size: u64) -> i64 {
        py.detach(|| self.latest.lock().unwrap_or_else(PoisonError::into_inner).within(size))
    }
}

/// When a capture begins, in nanoseconds since 1970 UTC; 0 as long as it has no packet. CaptureError where it is none.
#[pyfunction]
pub fn first_time(py: Python<'_>, file: PathBuf) -> PyResult<i64> {
    let opened = py.detach(|| {
        let captures = Captures::open(
            &[file],
            std::sync::Arc::new(FromDisk),
            Window::default(),
            &Shared::default(),
        )?;
        Ok(captures.files().next().map(|file| file.first_time()))
    });
    let time = opened.map_err(|refused: netdiag_wire::capture::Refused| raised(py, refused.into()))?;
    time.ok_or_else(|| PyValueError::new_err("no file"))
}
