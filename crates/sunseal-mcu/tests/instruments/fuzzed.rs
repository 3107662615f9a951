// SPDX-License-Identifier: MIT OR Apache-2.0
//! The corpus of `fuzz/`, each input as it is and with bytes changed: nothing panics, nothing hangs.

#[path = "../../../../fuzz/bodies/machine.rs"]
mod bodies;
#[path = "../../../../fuzz/bodies/replay.rs"]
mod replay;

use replay::{corpus, shake};

use crate::fixture::{Tool, leaks};

#[test]
fn images_of_noise_neither_panic_nor_hang() {
    shake(&corpus("elf"), 200, bodies::elf);
    // Real ones have debug data.
    let real: Vec<Vec<u8>> = [Tool::AvrGcc, Tool::ArmClang].map(leaks).into();
    shake(&real, 60, bodies::elf);
}

#[test]
fn a_debugger_that_talks_nonsense_neither_breaks_nor_stops_the_machine() {
    shake(&corpus("gdb"), 150, bodies::gdb);
}

#[test]
fn waveforms_of_noise_neither_panic_nor_hang() {
    shake(&corpus("vcd"), 300, bodies::vcd);
}
