// SPDX-License-Identifier: MIT OR Apache-2.0
#![no_main]

#[path = "../bodies/http.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::http(data));
