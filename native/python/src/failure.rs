//! What is raised where captures cannot be read.

use netdiag_wire::capture::Refused;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

create_exception!(
    netdiag_native,
    CaptureError,
    PyException,
    "A capture cannot be read: `message` says why, `file` which, `hint` what to do or None."
);

/// Why reading ended before its end.
#[derive(Debug)]
pub enum Failure {
    /// A file cannot be read as a capture.
    Refused(Refused),
    /// A defect of ours.
    Defect(String),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        Failure::Refused(refused)
    }
}

impl Failure {
    /// As Python raises it.
    pub fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Refused(refused) => {
                let (message, file, hint) = (refused.why.to_string(), refused.name, refused.why.hint());
                let error = CaptureError::new_err((message.clone(), file.clone(), hint));
                let value = error.value(py);
                let set = value
                    .setattr("message", message)
                    .and_then(|()| value.setattr("file", file))
                    .and_then(|()| value.setattr("hint", hint));
                set.err().unwrap_or(error)
            }
            Failure::Defect(what) => PyRuntimeError::new_err(what),
        }
    }
}
