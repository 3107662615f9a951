// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430FR5994, tested by small programs that name registers as the manual does.
#![allow(missing_docs)]

#[path = "../../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
mod support;

mod aes;
mod cache;
mod dma;
