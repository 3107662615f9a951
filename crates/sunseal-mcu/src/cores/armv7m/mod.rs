// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is Arm's of a Cortex-M chip: the core with its exceptions, the System Control Space with NVIC
//! and SysTick, and the DWT. It knows no maker's registers; a chip is what is [`Around`] it.

pub(crate) mod dwt;
mod exceptions;
pub(crate) mod memory;
mod registers;
pub(crate) mod scs;

use sunseal_isa::Fault;
use sunseal_isa::thumb::{Bus, Cpu};
use sunseal_trace::{Cycles, Picos};

use crate::clock::Line;
use crate::common::Common;
use dwt::Dwt;
pub(crate) use registers::SavedCore;
pub(crate) use scs::INPUTS_MAX;
use scs::Scs;

/// What a Cortex-M needs of the chip around it.
pub(crate) trait Around: Bus {
    fn common(&self) -> &Common;
    fn common_mut(&mut self) -> &mut Common;
    fn scs(&self) -> &Scs;
    fn scs_mut(&mut self) -> &mut Scs;
    fn dwt_mut(&mut self) -> &mut Dwt;
    /// The line whose ticks are the CPU's cycles.
    fn clock(&self) -> &Line;
    fn asleep(&self) -> bool;
    /// WFI or WFE at cycle `at`: the mode that SCR and the power management ask for, or none where the chip refuses.
    fn fall_asleep(&mut self, at: Cycles, for_event: bool);
    /// A word of memory, without side effects.
    fn word(&self, addr: u32) -> Option<u32>;
    /// Whether there is memory at `addr`.
    fn holds(&self, addr: u32) -> bool;
    /// IPSR, which ICSR shows.
    fn set_exception(&mut self, number: u32);
    /// Cycles of an entry in which a higher exception takes the place of the first.
    fn late_arrival_cycles(&self) -> Cycles;
    /// Cycles of a return in which an exception is tail-chained.
    fn pop_preemption_cycles(&self) -> Cycles;
    fn reset_pending(&self) -> bool;
    fn next_event(&self) -> Option<Picos>;
    /// Carries out what is due at `t`.
    fn process(&mut self, t: Picos, now: Picos, cycles: Cycles);
}

/// A Cortex-M in a chip.
pub(crate) struct CortexM<S> {
    pub cpu: Cpu,
    pub soc: S,
    /// An EXC_RETURN that has been branched to and not been acted upon; asleep, that of SLEEPONEXIT.
    pub returning: Option<u32>,
}

impl<S: Around> CortexM<S> {
    /// The CPU ran: time stands at its cycle.
    pub fn catch_up(&mut self) {
        if self.soc.asleep() {
            return;
        }
        let now = self.soc.clock().time_of(self.cpu.cycles);
        let uncached = self.cpu.cycles_uncached;
        let common = self.soc.common_mut();
        common.uncached = uncached;
        common.state.now_ps = now.0;
    }
}

/// What an access to Arm's own registers sees, and whether it asks for a reset (AIRCR.SYSRESETREQ).
pub(crate) struct Access<'a> {
    pub now: Picos,
    pub at: Cycles,
    pub addr: u32,
    /// FCLK, which goes on while the CPU sleeps.
    pub clock: &'a Line,
    pub chip: &'a str,
    pub reset: bool,
}

impl Access<'_> {
    #[cold]
    fn no_register(&self) -> Fault {
        Fault::device(self.addr, format!("{} has no modelled register here", self.chip))
    }

    #[cold]
    fn refuse(&self, what: &str) -> Fault {
        Fault::device(self.addr, what)
    }
}

/// `old` with the masked bits from `value`.
fn merge(old: u32, value: u32, mask: u32) -> u32 {
    (old & !mask) | (value & mask)
}

/// The byte and the bit that a word of an alias region stands for (Armv7-M ARM B3.1; DDI0439 3.7).
pub(crate) fn bit_band(addr: u32) -> (u32, u32) {
    let off = addr & 0x01FF_FFFF;
    (addr & 0xF000_0000 | off >> 5, off >> 2 & 7)
}
