// SPDX-License-Identifier: MIT OR Apache-2.0
//! One exception for everything the engine refuses; its text is the Rust sentence.

use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};

create_exception!(
    _engine,
    EngineError,
    PyException,
    "The engine refused an input; the text says what and where."
);

/// Turns any error into the exception.
pub fn refuse(e: impl std::fmt::Display) -> PyErr {
    EngineError::new_err(e.to_string())
}

/// The same with the place in front.
pub fn refuse_at<E: std::fmt::Display>(place: impl std::fmt::Display) -> impl FnOnce(E) -> PyErr {
    move |e| EngineError::new_err(format!("{place}: {e}"))
}
