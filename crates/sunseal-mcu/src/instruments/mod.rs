// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruments: what looks on while a machine runs, and what is made of what was seen.

pub mod coverage;
pub mod leakage;
pub mod offline;
pub mod profile;
pub mod taint;
pub mod war;
pub mod watch;
