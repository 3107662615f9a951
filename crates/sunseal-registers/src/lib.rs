// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of registers and vectors by the makers' names, a module a chip, for tests that name them: made of `data/`
//! when they are built, by what makes the C headers of the firmware too.

// The makers' manuals say what each is.
#![allow(missing_docs)]

include!(concat!(env!("OUT_DIR"), "/chips.rs"));
