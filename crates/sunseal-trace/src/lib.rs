// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words that CPU and power share: counters, states, events, observers.
//!
//! The machine counts in integers ([`Ledger`]) under names it publishes ([`Vocabulary`]); the power
//! room weighs those counts later, at any voltage and clock it likes. Nothing here knows an opcode
//! or a joule.

mod constants;
mod ledger;
mod observer;
mod time;
mod vocabulary;

pub use ledger::{Ledger, LedgerError, Span, SpanKey};
pub use observer::{Access, Flow, Observer, Pointed, Silent, Width};
pub use time::{Cycles, OperatingPoint, Picos};
pub use vocabulary::{ComponentId, EventId, StateId, Vocabulary};
