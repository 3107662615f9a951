// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of a machine under Python's buffer protocol.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::machine::Machine;

/// A read-only window into the memory of a machine, by the buffer protocol.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct View {
    /// Keeps the memory alive.
    _machine: Py<Machine>,
    at: usize,
    len: usize,
}

impl View {
    pub fn new(machine: Py<Machine>, at: usize, len: usize) -> Self {
        Self { _machine: machine, at, len }
    }
}

#[pymethods]
impl View {
    fn __len__(&self) -> usize {
        self.len
    }

    #[allow(clippy::missing_safety_doc)]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE != 0 {
            return Err(PyBufferError::new_err("this window is read-only; use Machine.write"));
        }
        let (at, len) = (slf.get().at, slf.get().len as ffi::Py_ssize_t);
        // Safety: a machine's memory is allocated once and never moved while the machine lives, which the
        // view sees to; Python only reads it, and nothing runs the machine meanwhile but by its leave.
        let done =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), at as *mut c_void, len, 1, flags) };
        if done == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
