// SPDX-License-Identifier: MIT OR Apache-2.0
//! The corpus of `fuzz/`: every body gets an answer, and none says that the server failed.

#[path = "../../../fuzz/bodies/http.rs"]
mod bodies;
#[path = "../../../fuzz/bodies/replay.rs"]
mod replay;

#[test]
fn requests_of_noise_are_answered_and_never_with_a_failure_of_the_server() {
    replay::shake(&replay::corpus("http"), 100, bodies::http);
}
