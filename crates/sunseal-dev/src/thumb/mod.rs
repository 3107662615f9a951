// SPDX-License-Identifier: MIT OR Apache-2.0
//! Armv7E-M: instructions drawn at random, and programs beside Unicorn.

mod draw;
mod step;
mod unicorn;

pub use draw::Unit;
pub use step::Thumb;
pub use unicorn::{Linked, Unicorn};
