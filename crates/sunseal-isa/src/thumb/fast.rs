// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded instructions in the sixteen bytes that the loop reads, and fast handlers for the common ones.

use super::Cpu;
use super::bus::Bus;
use super::execute::recent;
use super::insn::{Insn, Kind};
use super::run::{general, it, not_decoded};
use super::timing::Timing;
use crate::Observer;

/// Numbers of the handlers. Zero is "not decoded".
pub(crate) mod kind {
    pub const GENERAL: u16 = 1;
    pub const IT: u16 = 2;
    pub const COUNT: usize = 3;
}

pub(crate) type Handler<B, O> = fn(&mut Cpu, &mut B, &mut O, u64, u64, u32) -> u32;

/// A power of two, so that an index needs a mask and no check.
pub(crate) const HANDLERS: usize = 1024;
const _: () = assert!(kind::COUNT <= HANDLERS);

pub(crate) struct Table<B, O>(std::marker::PhantomData<(B, O)>);

impl<B: Bus, O: Observer> Table<B, O> {
    pub(crate) const HANDLERS: [Handler<B, O>; HANDLERS] = {
        let mut t: [Handler<B, O>; HANDLERS] = [not_decoded::<B, O>; HANDLERS];
        t[kind::GENERAL as usize] = general;
        t[kind::IT as usize] = it;
        t
    };
}

/// A decoded instruction: two machine words, so that handlers take it in registers.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Op {
    /// kind 10 from bit 54 | single store | unaligned wide | narrow as in `recent` (bit 17) | registers 16
    pub head: u64,
    /// A constant, an address, or where the decoded form is.
    pub data: u64,
}

const UNALIGNED_WIDE: u64 = 1 << 18;
const SINGLE_STORE: u64 = 1 << 19;
const KIND_SHIFT: u32 = 54;

impl Op {
    #[inline(always)]
    pub fn kind(self) -> usize {
        (self.head >> KIND_SHIFT) as usize
    }
    /// [`recent::NARROW`] if it is.
    #[inline(always)]
    pub fn narrow(self) -> u32 {
        self.head as u32 & recent::NARROW
    }
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        4 - (self.narrow() >> 16)
    }
    #[inline(always)]
    pub fn unaligned_wide(self) -> bool {
        self.head & UNALIGNED_WIDE != 0
    }
    #[inline(always)]
    pub fn single_store(self) -> bool {
        self.head & SINGLE_STORE != 0
    }
}

/// The instruction at `pc` as the loop runs it; `keep` says where its decoded form was put.
pub(crate) fn lower(insn: &Insn, pc: u32, timing: &Timing, keep: impl FnOnce() -> u32) -> Op {
    let _ = timing;
    let mut head = 0;
    if insn.bytes == 2 {
        head |= u64::from(recent::NARROW);
    } else if pc & 2 != 0 {
        head |= UNALIGNED_WIDE;
    }
    if matches!(insn.kind, Kind::Store { .. }) {
        head |= SINGLE_STORE;
    }
    let kind = match insn.kind {
        Kind::It { .. } => kind::IT,
        _ => kind::GENERAL,
    };
    Op { head: head | u64::from(kind) << KIND_SHIFT, data: keep().into() }
}
