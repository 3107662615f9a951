// SPDX-License-Identifier: MIT OR Apache-2.0
//! How instructions read and write memory, and end where they cannot.

use super::exec::FAULT;
use super::insn::{MASK20, Size};
use super::{Bus, Cpu, Width};
use crate::{Access, Cycles, Fault, Observer};

/// The value, or the end of the run at `$pc`.
macro_rules! or_fault {
    ($cpu:expr, $pc:expr, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(fault) => return $crate::msp430::access::stop($cpu, fault, $pc),
        }
    };
}
pub(super) use or_fault;

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

#[inline(always)]
pub(super) fn load<B: Bus, O: Observer>(
    cpu: &Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    at: Cycles,
) -> Result<u32, Fault> {
    let addr = if matches!(width, Width::Word) { align(cpu, addr)? } else { addr };
    let value = u32::from(bus.read(addr, width, at)?);
    if O::ACCESSES {
        obs.access(pc, addr, Access::Read, width.into(), value, at);
    }
    Ok(value)
}

#[inline(always)]
#[allow(clippy::too_many_arguments)] // one access, told whole
pub(super) fn store<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    value: u32,
    at: Cycles,
) -> Result<(), Fault> {
    let addr = if matches!(width, Width::Word) { align(cpu, addr)? } else { addr };
    bus.write(addr, width, value as u16, at)?;
    if B::STORES_CHANGE_CODE && bus.cacheable(addr) {
        cpu.invalidate(addr..addr + width.bytes());
    }
    if O::ACCESSES {
        obs.access(pc, addr, Access::Write, width.into(), value, at);
    }
    Ok(())
}

/// As [`load`]; `None`: it failed, and `Cpu::fault` says why. Not inlined: a handler that keeps a fault on its stack
/// cannot jump to the next one.
#[inline(never)]
pub(super) fn load_slow<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    at: Cycles,
) -> Option<u32> {
    load(cpu, bus, obs, pc, addr, width, at).map_err(|fault| stop(cpu, fault, pc)).ok()
}

/// [`store`] for handlers that a failure leaves, as [`load_slow`] is for [`load`].
#[inline(never)]
#[allow(clippy::too_many_arguments)] // one access, told whole
pub(super) fn store_slow<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    value: u32,
    at: Cycles,
) -> Option<()> {
    store(cpu, bus, obs, pc, addr, width, value, at).map_err(|fault| stop(cpu, fault, pc)).ok()
}

/// An operand of any size; 20-bit ones are two words, low first, the second in the next cycle.
pub(super) fn load_sized<B: Bus, O: Observer>(
    cpu: &Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    size: Size,
    at: Cycles,
) -> Result<u32, Fault> {
    match size {
        Size::B => load(cpu, bus, obs, pc, addr, Width::Byte, at),
        Size::W => load(cpu, bus, obs, pc, addr, Width::Word, at),
        Size::A => {
            let low = load(cpu, bus, obs, pc, addr, Width::Word, at)?;
            let high = load(cpu, bus, obs, pc, (addr + 2) & MASK20, Width::Word, at + 1)?;
            Ok(low | (high & 0xF) << 16)
        }
    }
}

#[allow(clippy::too_many_arguments)] // one access, told whole
pub(super) fn store_sized<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    size: Size,
    value: u32,
    at: Cycles,
) -> Result<(), Fault> {
    match size {
        Size::B => store(cpu, bus, obs, pc, addr, Width::Byte, value & 0xFF, at),
        Size::W => store(cpu, bus, obs, pc, addr, Width::Word, value & 0xFFFF, at),
        Size::A => {
            store(cpu, bus, obs, pc, addr, Width::Word, value & 0xFFFF, at - 1)?;
            let high = value >> 16 & 0xF;
            store(cpu, bus, obs, pc, (addr + 2) & MASK20, Width::Word, high, at)
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
