// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers by the makers' names: a module a chip with the addresses of its registers and vectors, for tests, and a module
//! a family with one for each kind of block, its registers' offsets, bits and masks, for the simulators. They are made of
//! `data/` when they are built, by what makes the C headers of the firmware too.

// The makers' manuals say what each is.

include!(concat!(env!("OUT_DIR"), "/chips.rs"));
