// SPDX-License-Identifier: MIT OR Apache-2.0
//! How instructions reach registers and the data space, and end where they cannot.

use super::exec::{FAULT, STATUS};
use super::flags::Flags;
use super::{Access, Bus, Cpu, Cycles, DATA_SPACE, Fault, Observer, Width, io, sreg};

#[cold]
#[inline(never)]
pub(super) fn stop(cpu: &mut Cpu, fault: Fault, pc: u32) -> u32 {
    cpu.fault = Some(fault.at_pc(2 * pc));
    FAULT | pc
}

#[inline(always)]
pub(super) fn reg(cpu: &Cpu, n: u8) -> u8 {
    cpu.r[usize::from(n) & 31]
}

#[inline(always)]
pub(super) fn set<O: Observer>(cpu: &mut Cpu, obs: &mut O, n: u8, value: u8) {
    let slot = &mut cpu.r[usize::from(n) & 31];
    if O::RESULTS {
        obs.result(n, (*slot).into(), value.into());
    }
    *slot = value;
}

#[inline(always)]
pub(super) fn pair(cpu: &Cpu, low: u8) -> u16 {
    u16::from(reg(cpu, low)) | u16::from(reg(cpu, low | 1)) << 8
}

#[inline(always)]
pub(super) fn set_pair<O: Observer>(cpu: &mut Cpu, obs: &mut O, low: u8, value: u16) {
    set(cpu, obs, low, value as u8);
    set(cpu, obs, low | 1, (value >> 8) as u8);
}

/// Whether an address of the data space is a register of the core, the register file apart.
pub(super) fn is_core(addr: u16) -> bool {
    const RAMPZ: u16 = io::BASE + io::RAMPZ as u16;
    const SPL: u16 = io::BASE + io::SPL as u16;
    const SREG: u16 = io::BASE + io::SREG as u16;
    addr == RAMPZ || (SPL..=SREG).contains(&addr)
}

/// Anything but plain memory.
pub(super) fn read_other<B: Bus>(
    cpu: &Cpu,
    bus: &mut B,
    addr: u16,
    at: Cycles,
) -> Result<u8, Fault> {
    if addr < 32 {
        return Ok(cpu.r[usize::from(addr)]);
    }
    if is_core(addr) {
        return Ok(match (addr - io::BASE) as u8 {
            io::RAMPZ => cpu.rampz,
            io::SPL => cpu.sp as u8,
            io::SPH => (cpu.sp >> 8) as u8,
            _ => cpu.sreg(),
        });
    }
    bus.read(addr, at)
}

/// Anything but plain memory: [`STATUS`] and the cycles that the CPU is halted behind it.
#[inline(never)]
pub(super) fn write_other<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    addr: u16,
    value: u8,
    at: Cycles,
) -> Result<u32, Fault> {
    if addr < 32 {
        set(cpu, obs, addr as u8, value);
        return Ok(0);
    }
    if !is_core(addr) {
        bus.write(addr, value, at)?;
        return Ok(bus.stall());
    }
    match (addr - io::BASE) as u8 {
        io::RAMPZ => cpu.rampz = value & 1,
        io::SPL => cpu.sp = cpu.sp & 0xFF00 | u16::from(value),
        io::SPH => cpu.sp = cpu.sp & 0x00FF | u16::from(value) << 8,
        _ => {
            let enabled = value & !cpu.control & sreg::I != 0;
            cpu.flags = Flags::of(value);
            cpu.control = value & (sreg::I | sreg::T);
            if enabled {
                cpu.interrupt_shadow = cpu.timing.write_delays_interrupts;
                return Ok(STATUS);
            }
        }
    }
    Ok(0)
}

/// A byte of the data space. `None`: it failed, and `Cpu::fault` says why.
#[inline(always)]
pub(super) fn read<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u16,
    at: Cycles,
) -> Option<u8> {
    let value = match bus.read_plain(addr) {
        Some(value) => value,
        None => read_slow(cpu, bus, pc, addr, at)?,
    };
    if O::ACCESSES {
        let whole = DATA_SPACE | u32::from(addr);
        obs.access(2 * pc, whole, Access::Read, Width::W8, value.into(), at);
    }
    Some(value)
}

/// As [`read`]. Not inlined: a handler that keeps a fault on its stack cannot jump to the next one.
#[inline(never)]
pub(super) fn read_slow<B: Bus>(
    cpu: &mut Cpu,
    bus: &mut B,
    pc: u32,
    addr: u16,
    at: Cycles,
) -> Option<u8> {
    read_other(cpu, bus, addr, at).map_err(|fault| stop(cpu, fault, pc)).ok()
}

/// [`STATUS`] and the cycles that the CPU is halted behind it.
#[inline(always)]
pub(super) fn write<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u16,
    value: u8,
    at: Cycles,
) -> Result<u32, Fault> {
    let after =
        if bus.write_plain(addr, value) { 0 } else { write_other(cpu, bus, obs, addr, value, at)? };
    if O::ACCESSES {
        let whole = DATA_SPACE | u32::from(addr);
        obs.access(2 * pc, whole, Access::Write, Width::W8, value.into(), at);
    }
    Ok(after)
}
