// SPDX-License-Identifier: MIT OR Apache-2.0
//! Remains of losses of power, and when two of them have the same run behind them, and the same runs behind further
//! losses.
//!
//! A run is decided by the registers and parts that were left, and by the bytes that it reads before it writes
//! them: its [`Footprint`] `F`. A campaign keeps known states `t` (what a loss left), each with a footprint `F(t)`
//! that it joins with those behind its own cuts ([`Footprint::join`]) until, for each cut `c` of the run from `t`
//! and the known state `u` that what `c` left was taken for,
//!
//! 1. `F(t)` has all that the run from `t` reads first, and what of `F(u)` that run has not written before `c`;
//! 2. what `c` left agrees with `u` in registers and parts, and in each byte of `F(u)`.
//!
//! Then a state `s` that agrees with `t` so, on `F(t)`, has the same verdict however often the power goes on. By
//! induction on the losses that follow: none follows, and the run from `s` reads first only what agrees, so it is
//! the one from `t`, cycle by cycle and write by write. Or the first comes in cycle `c`. A byte of `F(u)` that was
//! written before `c` was written the same; one that was not lies in `F(t)` by 1 and is as it was in both. So
//! what `c` leaves behind `s` agrees on `F(u)` with what it leaves behind `t`, and by 2 with `u`: the induction
//! goes on from there, with a loss less. What a store does to flash depends on what was there, and counts as
//! read; a store that FRAM may have refused, noise in RAM or in the multiplier, and DMA are not followed: a run that
//! meets them is taken for no other ([`Footprint::alone`]).
//!
//! Both conditions must hold for the footprints as they are in the end. So a state is compared again when the one
//! that it was taken for has grown ([`Differing::read_by`]), and is a known one of its own if it differs there.

use std::sync::Arc;

use sunseal_mcu::Machine;
use sunseal_mcu::device::RegionKind;
use sunseal_trace::Picos;

use super::footprint::{Footprint, follows, ranges};

/// Memory is kept, and shared where it is the same, in pieces of so many bytes.
const PAGE_BYTES: usize = 1024;

/// Registers, parts and memory behind a loss of power.
pub struct Left {
    registers: Arc<[u8]>,
    /// Address of each, in rising order.
    pages: Vec<(u32, Arc<[u8]>)>,
    ram_held: bool,
}

/// Addresses at which two of them differ.
pub struct Differing {
    addresses: Vec<u32>,
    ram_held: bool,
}

impl Left {
    /// By a loss of power for `off` on the machine, which is about to boot; none where registers cannot be told.
    /// What is the same as in `like` is kept once.
    pub fn of(machine: &mut Machine, off: Picos, like: Option<&Self>) -> Option<Self> {
        if !follows(machine.device()) {
            return None;
        }
        let registers = machine.remains()?;
        let registers = match like.filter(|like| *like.registers == registers[..]) {
            Some(like) => Arc::clone(&like.registers),
            None => registers.into(),
        };
        let ram_held = off <= machine.ram_holds();
        let kept = ranges(machine.device(), |kind| match kind {
            RegionKind::Fram | RegionKind::Flash | RegionKind::InfoFlash => true,
            RegionKind::Ram => ram_held,
            _ => false,
        });
        let mut pages = Vec::new();
        for (start, end) in kept {
            let bytes = (end - start + 1) as usize;
            let held = machine.read_mem(start, bytes).expect("a region of the device");
            for (addr, page) in (start..).step_by(PAGE_BYTES).zip(held.chunks(PAGE_BYTES)) {
                let before = like.and_then(|like| like.pages.get(pages.len()));
                pages.push(match before.filter(|(a, known)| *a == addr && **known == *page) {
                    Some(same) => same.clone(),
                    None => (addr, page.into()),
                });
            }
        }
        Some(Self { registers, pages, ram_held })
    }

    /// Addresses at which this and another one of the same machine differ, if registers and parts are the same.
    #[must_use]
    pub fn differing(&self, other: &Self) -> Option<Differing> {
        if self.registers != other.registers || self.ram_held != other.ram_held {
            return None;
        }
        let mut addresses = Vec::new();
        for ((addr, own), (_, others)) in self.pages.iter().zip(&other.pages) {
            if !Arc::ptr_eq(own, others) && own != others {
                let bytes = (*addr..).zip(own.iter().zip(&others[..]));
                addresses.extend(bytes.filter(|(_, (a, b))| a != b).map(|(addr, _)| addr));
            }
        }
        Some(Differing { addresses, ram_held: self.ram_held })
    }

    /// The bytes from `addr` on, where they survive.
    #[must_use]
    pub fn bytes(&self, addr: u32, bytes: u32) -> Option<Vec<u8>> {
        let byte = |addr: u32| {
            let behind = self.pages.partition_point(|(start, _)| *start <= addr);
            let (start, page) = self.pages.get(behind.checked_sub(1)?)?;
            page.get((addr - start) as usize).copied()
        };
        (addr..addr.saturating_add(bytes)).map(byte).collect()
    }
}

impl Differing {
    /// True if a run, or one behind further losses, tells the two apart, or may: the footprint is that of one of them.
    #[must_use]
    pub fn read_by(&self, run: &Footprint) -> bool {
        run.alone().is_some()
            || (!self.ram_held && run.reads_ram())
            || self.addresses.iter().any(|addr| run.read.has(*addr))
    }

    /// Those that it reads.
    #[must_use]
    pub fn seen_by(&self, run: &Footprint) -> Vec<u32> {
        self.addresses.iter().copied().filter(|addr| run.read.has(*addr)).collect()
    }
}
