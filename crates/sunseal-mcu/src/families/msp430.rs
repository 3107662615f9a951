// SPDX-License-Identifier: MIT OR Apache-2.0
//! What chips with an MSP430 core have alike beside the core: states of the CPU and of flash, pins that follow
//! the registers of a pair of ports, flash that cannot be read while it is busy.

use std::sync::Arc;

use sunseal_isa::Fault;
use sunseal_isa::msp430::sr;
use sunseal_trace::{Cycles, Picos, StateId};

use crate::accounts;
use crate::blocks::port::PortPair;
use crate::common::Drive;
use crate::cores::msp430::{CODE, Env, READ};
use crate::device::RegionKind;
use crate::pin::Pin;

/// States of a chip with flash, by the numbers that follow.
pub(crate) const FLASH_STATES: &[&str] = &[
    "active.flash",
    "active.ram",
    "off",
    "idle",
    "on",
    "lpm0",
    "lpm1",
    "lpm2",
    "lpm3",
    "lpm4",
    "write",
    "erase",
];
/// Number of "lpm0"; those of the deeper modes follow, on every MSP430.
const LPM0: u16 = 5;
pub(crate) const WRITE: StateId = StateId(10);
pub(crate) const ERASE: StateId = StateId(11);

/// What a block sees of the chip that has the blocks and effects of `$soc`.
macro_rules! cx {
    ($soc:expr, $env:expr, $addr:expr, $at:expr, $now:expr) => {
        $crate::blocks::Ctx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.chip.clocks,
            dev: &$env.common.dev,
            accounts: &mut $env.common.accounts,
            lints: &mut $env.common.state.lints,
            fx: &mut $soc.fx,
            vcc_v: $env.common.state.vcc_v,
            mode: $env.mode,
        }
    };
}
pub(crate) use cx;

/// The low-power mode that SR's bits and the requests of modules make: a module that asks for its clock keeps the
/// oscillator on, and that is what the mode costs.
pub(crate) fn lpm(mode: u32, smclk_on: bool, aclk_on: bool) -> u16 {
    match (mode & sr::SCG0 != 0, mode & sr::SCG1 != 0) {
        _ if mode & sr::OSCOFF != 0 && !aclk_on && !smclk_on => 4,
        (scg0, true) if !smclk_on => 2 + u16::from(scg0),
        (scg0, _) => u16::from(scg0),
    }
}

/// The CPU's state: off, active or in a low-power mode.
pub(crate) fn cpu_state(mode: u32, on: bool, smclk_on: bool, aclk_on: bool) -> StateId {
    match mode & sr::CPUOFF {
        _ if !on => accounts::OFF,
        0 => accounts::ACTIVE,
        _ => StateId(LPM0 + lpm(mode, smclk_on, aclk_on)),
    }
}

/// What parts do when the outputs of a pair of ports are what they are now. `seen` are those told last, `pin` is the
/// one of a bit, `place` the pair and the bit of one.
pub(crate) fn tell_outputs(
    env: &mut Env,
    ports: &[PortPair],
    (i, seen): (usize, &mut u16),
    pin: impl Fn(u8) -> Pin,
    place: impl Fn(Pin) -> Option<(usize, u16)>,
    (now, cycles): (Picos, Cycles),
) -> Vec<Drive> {
    let outputs = ports[i].outputs();
    let mut changed = outputs ^ std::mem::replace(seen, outputs);
    let mut drives = Vec::new();
    while changed != 0 {
        let bit = changed.trailing_zeros() as u8;
        changed &= changed - 1;
        drives.extend(env.common.output(pin(bit), outputs >> bit & 1 != 0, now, cycles));
    }
    let low = |pin| {
        place(pin).is_some_and(|(i, mask)| {
            ports[i].output_bits() & mask != 0 && ports[i].outputs() & mask == 0
        })
    };
    drives.extend(env.common.select(low, now, cycles));
    drives
}

/// While flash is busy it cannot be read. Code in flash is held; code in RAM goes on, and its
/// reads must be caught, those of instructions decoded before included.
pub(crate) fn hide_flash(env: &mut Env, is_flash: fn(RegionKind) -> bool, hidden: bool) {
    let dev = Arc::clone(&env.common.dev);
    for r in dev.memory.iter().filter(|r| is_flash(r.kind)) {
        env.set_pages(r.start, r.end, if hidden { 0 } else { READ | CODE });
        if hidden {
            env.changed.push(r.start..r.end + 1);
        }
    }
}

/// Why flash that is hidden cannot be read.
pub(crate) fn flash_is_busy(addr: u32) -> Fault {
    let what = "access to flash while BUSY is set, by code in RAM; wait until FCTL3.BUSY is clear";
    Fault::device(addr, what)
}
