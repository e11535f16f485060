//! The module `netdiag_native`: captures in, record batches out.
//!
//! Reading goes on in a thread of its own while Python does something else with what is ready. Record batches go to
//! Python by Arrow's C data interface, without a copy; whoever has no pyarrow takes them as CSV, as JSON or as tuples.

mod asked;
mod batch;
mod capsules;
mod failure;
mod following;
mod logs;
mod reading;
mod shapes;

use pyo3::prelude::*;

/// What `netdiag/traffic/native.py` expects: raise both whenever a call or an answer changes.
const INTERFACE: u32 = 4;

/// Captures in, record batches of Kafka's messages out.
#[pymodule]
mod netdiag_native {
    use pyo3::prelude::*;

    use crate::INTERFACE;
    #[pymodule_export]
    use crate::batch::{Batch, Folded, make_batch};
    #[pymodule_export]
    use crate::failure::CaptureError;
    #[pymodule_export]
    use crate::following::{Follower, Latest, StateError, first_time};
    #[pymodule_export]
    use crate::logs::{LogReading, read_logs};
    #[pymodule_export]
    use crate::reading::{Reading, begins_as_capture, check, is_capture, is_compressed, read};
    #[pymodule_export]
    use crate::shapes::{ArrowStream, Schema, columns};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("INTERFACE", INTERFACE)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
