// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verifying server and the gateway between it and the air.
//!
//! * [`store`]: what is kept, in one SQLite file; the event log only grows;
//! * [`writer`]: the one thread that writes, its transactions and grouped commits;
//! * [`judge`]: what a message from the air is worth; it happens whole or not at all;
//! * [`tokens`]: who may speak as operator, and who as gateway;
//! * [`private`]: files that only their owner may read;
//! * [`limits`]: requests a second that a caller may make;
//! * [`api`]: HTTP around the two, `docs/reference/http.md` is the normative text;
//! * [`page`]: the same for people;
//! * [`serve`]: its connections, and their bounds; [`seats`]: who gives way when all places are taken;
//! * [`tls`]: certificates of both sides;
//! * [`gateway`]: the air protocol on one side, HTTP on the other, a capture of both.
//!
//! No physics here: time comes from the system's clock or, for simulations, from whoever sends
//! the request.

pub mod api;
pub mod client;
pub mod clock;
pub mod gateway;
pub mod hex;
pub mod judge;
pub mod limits;
pub mod log;
pub mod page;
pub mod private;
pub mod seats;
pub mod serve;
pub mod store;
pub mod tls;
pub mod tokens;
pub mod writer;
