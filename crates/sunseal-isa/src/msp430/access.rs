// SPDX-License-Identifier: MIT OR Apache-2.0
//! How instructions read and write memory, and end where they cannot.

use super::exec::FAULT;
use super::insn::{MASK20, Size};
use super::{Bus, Cpu, Width};
use crate::{Access, Cycles, Fault, Observer};

#[cold]
#[inline(never)]
pub(super) fn stop(cpu: &mut Cpu, fault: Fault, pc: u32) -> u32 {
    cpu.fault = Some(fault.at_pc(pc));
    FAULT | pc
}

#[cold]
#[inline(never)]
pub(super) fn odd(cpu: &mut Cpu, target: u32, pc: u32) -> u32 {
    stop(cpu, Fault::odd_program_counter(target), pc)
}

/// The even address of a word, or why there is none.
#[inline(always)]
pub(super) fn align(cpu: &Cpu, addr: u32) -> Result<u32, Fault> {
    if addr & 1 == 0 {
        return Ok(addr);
    }
    misaligned(cpu.timing.trap_misaligned, addr)
}

#[cold]
#[inline(never)]
pub(super) fn misaligned(trap: bool, addr: u32) -> Result<u32, Fault> {
    if trap { Err(Fault::misaligned(addr)) } else { Ok(addr & !1) }
}

/// One access of a byte or word: what is loaded or stored.
#[inline(always)]
pub(super) fn access<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    (addr, width, at): (u32, Width, Cycles),
    stored: Option<u32>,
) -> Result<u32, Fault> {
    let addr = if matches!(width, Width::Word) { align(cpu, addr)? } else { addr };
    let (kind, value) = match stored {
        None => (Access::Read, bus.read(addr, width, at)?.into()),
        Some(value) => {
            bus.write(addr, width, value as u16, at)?;
            if B::STORES_CHANGE_CODE && bus.cacheable(addr) {
                cpu.invalidate(addr..addr + width.bytes());
            }
            (Access::Write, value)
        }
    };
    if O::ACCESSES {
        obs.access(pc, addr, kind, width.into(), value, at);
    }
    Ok(value)
}

/// As [`access`]; `None`: it failed, and `Cpu::fault` says why. Not inlined: a handler that keeps a fault on its stack
/// cannot jump to the next one.
#[inline(never)]
pub(super) fn access_slow<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    place: (u32, Width, Cycles),
    stored: Option<u32>,
) -> Option<u32> {
    access(cpu, bus, obs, pc, place, stored).map_err(|fault| stop(cpu, fault, pc)).ok()
}

/// An operand of any size; 20-bit ones are two words, low first, in the cycle before where they are stored, the second in
/// the next cycle.
pub(super) fn access_sized<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    (addr, size, at): (u32, Size, Cycles),
    stored: Option<u32>,
) -> Result<u32, Fault> {
    let mut part = |addr, width, at, value| access(cpu, bus, obs, pc, (addr, width, at), value);
    match size {
        Size::B => part(addr, Width::Byte, at, stored.map(|value| value & 0xFF)),
        Size::W => part(addr, Width::Word, at, stored.map(|value| value & 0xFFFF)),
        Size::A => {
            let at = at - Cycles::from(stored.is_some());
            let low = part(addr, Width::Word, at, stored.map(|value| value & 0xFFFF))?;
            let high = stored.map(|value| value >> 16 & 0xF);
            let high = part((addr + 2) & MASK20, Width::Word, at + 1, high)?;
            Ok(low | (high & 0xF) << 16)
        }
    }
}

/// Reads plain memory; `None` has the slow handler run the instruction from its beginning.
#[inline(always)]
pub(super) fn load_plain<B: Bus>(bus: &B, addr: u32, width: Width, at: Cycles) -> Option<u32> {
    if matches!(width, Width::Word) && addr & 1 != 0 {
        return None;
    }
    bus.read_plain(addr, width, at).map(u32::from)
}

/// Writes plain memory, or returns false and nothing is written.
#[inline(always)]
pub(super) fn store_plain<B: Bus>(
    bus: &mut B,
    addr: u32,
    width: Width,
    value: u32,
    at: Cycles,
) -> bool {
    let aligned = matches!(width, Width::Byte) || addr & 1 == 0;
    aligned && bus.write_plain(addr, width, value as u16, at)
}
