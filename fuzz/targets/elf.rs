// SPDX-License-Identifier: MIT OR Apache-2.0
#![no_main]

#[allow(dead_code)] // each target takes one
#[path = "../bodies/machine.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::elf(data));
