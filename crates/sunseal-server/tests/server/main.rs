// SPDX-License-Identifier: MIT OR Apache-2.0
//! The real server on a free port with a database of its own, and what it must refuse.

#[path = "../common/mod.rs"]
mod common;

mod lasting;
mod lists;
mod requests;
mod tokens;
mod verdicts;
