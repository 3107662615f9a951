// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruments: images of every compiler, taint, leakage, profiles, waveforms, the debugger.

mod debugger;
mod differing;
mod fixture;
mod fuzzed;
mod images;
mod leakages;
mod mistakes;
mod profiling;
mod taints;
mod waveforms;
