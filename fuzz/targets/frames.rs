// SPDX-License-Identifier: MIT OR Apache-2.0
#![no_main]

#[path = "../bodies/frames.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::frames(data));
