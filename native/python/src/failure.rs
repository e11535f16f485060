//! What is raised where captures cannot be read.

use netdiag_wire::engine::Broken;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError};
use pyo3::prelude::*;

create_exception!(
    netdiag_native,
    CaptureError,
    PyException,
    "A capture cannot be read: `message` says why, `file` which, `hint` what to do or None."
);

/// As Python raises it.
pub fn raised(py: Python<'_>, broken: Broken) -> PyErr {
    match broken {
        Broken::Refused(refused) => {
            let (message, file, hint) = (refused.why.to_string(), refused.name, refused.why.hint());
            let error = CaptureError::new_err((message.clone(), file.clone(), hint));
            let value = error.value(py);
            let set = value
                .setattr("message", message)
                .and_then(|()| value.setattr("file", file))
                .and_then(|()| value.setattr("hint", hint));
            set.err().unwrap_or(error)
        }
        Broken::NoThread(error) => PyOSError::new_err(error.to_string()),
        Broken::Defect(what) => PyRuntimeError::new_err(what),
    }
}
