// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction sets, tested by rows of their manuals, a second reading of them and other makers' tools: one
//! program, because each program of tests compiles the interpreters anew.

#[path = "../asm/mod.rs"]
mod asm;
#[path = "../avr_tools/mod.rs"]
mod avr_tools;
#[path = "../program/mod.rs"]
mod program;
#[path = "../thumb_tools/mod.rs"]
mod thumb_tools;

mod avr {
    mod cycles;
    mod disassembler;
    mod semantics;
}
mod msp430 {
    mod core;
    mod cycles;
    mod dataflow;
    mod disassembler;
    mod reference;
    mod semantics;
}
mod thumb {
    mod cycles;
    mod dataflow;
    mod disassembler;
    mod routines;
    mod semantics;
}
mod log;
mod threading;
