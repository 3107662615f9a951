// SPDX-License-Identifier: MIT OR Apache-2.0
//! The only crate that knows Python.
