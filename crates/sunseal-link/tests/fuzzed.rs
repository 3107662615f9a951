// SPDX-License-Identifier: MIT OR Apache-2.0
//! The corpus of `fuzz/`: nothing that comes from the air panics, and what is read is written as it was.

#[path = "../../../fuzz/bodies/frames.rs"]
mod bodies;
#[path = "../../../fuzz/bodies/replay.rs"]
mod replay;

#[test]
fn frames_of_noise_neither_panic_nor_change_when_written_again() {
    replay::shake(&replay::corpus("frames"), 2000, bodies::frames);
}
