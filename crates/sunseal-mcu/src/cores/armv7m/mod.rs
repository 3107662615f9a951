// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is Arm's of a Cortex-M chip: the core with its exceptions, the System Control Space with NVIC
//! and SysTick, and the DWT. It knows no maker's registers; a chip is what is [`Around`] it.

mod chip;
pub(crate) mod dwt;
mod exceptions;
pub(crate) mod memory;
mod registers;
pub(crate) mod scs;

use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use sunseal_isa::Fault;
use sunseal_isa::thumb::{Bus, Cpu, Scb};
use sunseal_trace::{ComponentId, Cycles, Picos, Width};

use crate::clock::Line;
use crate::common::{Common, Drive};
use crate::device::Device;
use crate::pin::Pin;
use crate::resets::ResetCause;
use dwt::Dwt;
pub(crate) use registers::SavedCore;
use scs::{Masks, Scs};

/// Those of [`Around`] that only reach into what the struct of every chip has, or call its own method of that name.
/// `$clock` is the line whose ticks are the CPU's cycles.
macro_rules! reaches {
    ($clock:ident $(. $field:ident)*) => {
        fn common(&self) -> &Common {
            &self.common
        }
        fn common_mut(&mut self) -> &mut Common {
            &mut self.common
        }
        fn scs(&self) -> &Scs {
            &self.r.scs
        }
        fn scs_mut(&mut self) -> &mut Scs {
            &mut self.r.scs
        }
        fn dwt_mut(&mut self) -> &mut Dwt {
            &mut self.r.dwt
        }
        fn priority_mask(&self) -> u8 {
            self.facts.nvic.priority_mask()
        }
        fn set_exception(&mut self, number: u32) {
            self.side.exception = number;
        }
        fn late_arrival_cycles(&self) -> Cycles {
            self.facts.core_timing.late_arrival_cycles.into()
        }
        fn pop_preemption_cycles(&self) -> Cycles {
            self.facts.core_timing.pop_preemption_cycles.into()
        }
        fn clock(&self) -> &Line {
            &self.r.lines.$clock $(. $field)*
        }
        fn clock_mut(&mut self) -> &mut Line {
            &mut self.r.lines.$clock $(. $field)*
        }
        fn free_clock(&self) -> &Line {
            &self.r.lines.fclk
        }
        fn update_clocks(&mut self, now: Picos, cycles: Cycles) {
            Soc::update_clocks(self, now, cycles);
        }
        fn set_deadline(&mut self, deadline: Cycles) {
            self.side.deadline = deadline;
        }
        fn asleep(&self) -> bool {
            self.r.sleep.is_some()
        }
        fn fall_asleep(&mut self, at: Cycles, for_event: bool) {
            Soc::fall_asleep(self, at, for_event);
        }
        fn for_event(&self) -> bool {
            self.r.for_event
        }
        fn wake(&mut self, cycles: Cycles) -> bool {
            Soc::wake(self, cycles)
        }
        fn end_sleep(&mut self) {
            self.r.sleep = None;
        }
        fn next_event(&self) -> Option<Picos> {
            [self.own_event(), self.common.next_event()].into_iter().flatten().min()
        }
        fn reset_pending(&self) -> bool {
            self.fx.reset.is_some()
        }
        fn abort_flash(&mut self, seed: u64) {
            Soc::abort_flash(self, seed);
        }
        fn take_changed(&mut self) -> bool {
            std::mem::take(&mut self.side.changed)
        }
        fn drive(&mut self, drives: Vec<Drive>) {
            Soc::drive(self, drives);
        }
    };
}
pub(crate) use reaches;

/// The same of the bus, and plain accesses.
macro_rules! bus_reaches {
    () => {
        const WAITS: bool = true;

        #[inline]
        fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
            match self.memory.read_plain(addr, width) {
                Some(value) => Ok(value),
                None => self.read_slow(addr, width, at),
            }
        }
        #[inline]
        fn write(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
            if self.memory.write_plain(addr, width, value) {
                return Ok(());
            }
            self.write_slow(addr, width, value, at)
        }
        #[inline(always)]
        fn read_plain(&self, addr: u32, width: Width, _at: Cycles) -> Option<u32> {
            self.memory.read_plain(addr, width)
        }
        #[inline(always)]
        fn write_plain(&mut self, addr: u32, width: Width, value: u32, _at: Cycles) -> bool {
            self.memory.write_plain(addr, width, value)
        }
        #[inline]
        fn cacheable(&self, addr: u32) -> bool {
            is_flash(addr)
        }
        #[inline]
        fn deadline(&self) -> Cycles {
            self.side.deadline
        }
        #[inline]
        fn scb(&self) -> &Scb {
            &self.side.scb
        }
        #[inline]
        fn scb_mut(&mut self) -> &mut Scb {
            &mut self.side.scb
        }
        #[inline(always)]
        fn stall(&mut self) -> Cycles {
            if self.side.stall == 0 { 0 } else { std::mem::take(&mut self.side.stall) }
        }
    };
}
pub(crate) use bus_reaches;

/// Accesses to registers, Arm's own among them, and to single bits. `$reset` asks the chip for the reset of AIRCR.SYSRESETREQ.
macro_rules! core_registers {
    ($reset:expr) => {
        /// None where Arm has no register.
        #[inline]
        fn read_core(&mut self, addr: u32, at: Cycles) -> Option<Result<u32, Fault>> {
            if addr < DWT {
                return None;
            }
            let (now, clock) = (self.time_of(at), self.r.lines.fclk);
            let access = arm!(self, &clock, addr, at, now);
            if (SCS..SCS + 0x1000).contains(&addr) && self.common.dev.gap_at(addr).is_none() {
                return Some(self.r.scs.read(
                    addr - SCS,
                    self.side.exception,
                    &self.side.scb,
                    &access,
                ));
            }
            let trace = self.r.scs.trace_enabled();
            (addr & !0xFFF == DWT).then(|| self.r.dwt.read(addr - DWT, trace, &access))
        }

        #[inline]
        fn write_core(
            &mut self,
            addr: u32,
            value: u32,
            mask: u32,
            at: Cycles,
        ) -> Option<Result<(), Fault>> {
            if addr < DWT {
                return None;
            }
            let (now, clock) = (self.time_of(at), self.r.lines.fclk);
            let mut access = arm!(self, &clock, addr, at, now);
            let trace = self.r.scs.trace_enabled();
            if (SCS..SCS + 0x1000).contains(&addr) && self.common.dev.gap_at(addr).is_none() {
                let done =
                    self.r.scs.write(addr - SCS, value, mask, &mut self.side.scb, &mut access);
                if access.reset {
                    let ask: fn(&mut Fx) = $reset;
                    ask(&mut self.fx);
                }
                let after = self.r.scs.trace_enabled();
                if after != trace {
                    self.r.dwt.trace_switched(after, at);
                }
                return Some(done);
            }
            (addr & !0xFFF == DWT)
                .then(|| self.r.dwt.write(addr - DWT, value, mask, trace, &access))
        }

        fn read_register(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
            let bytes = Self::register_bytes(addr);
            let value = if width.bytes() > bytes {
                self.read_one(addr, 0xFFFF, at)? | self.read_one(addr + 2, 0xFFFF, at)? << 16
            } else {
                let (shift, bits) = lanes(addr, bytes, width);
                self.read_one(addr & !(bytes - 1), bits << shift, at)? >> shift & bits
            };
            // Reading may clear a flag, and with it the next event or an interrupt is another one.
            self.side.deadline = 0;
            self.refresh(self.time_of(at), at);
            Ok(value)
        }

        fn write_register(
            &mut self,
            addr: u32,
            width: Width,
            value: u32,
            at: Cycles,
        ) -> Result<(), Fault> {
            // Whatever it leads to is looked at behind this instruction.
            self.side.deadline = 0;
            let bytes = Self::register_bytes(addr);
            if width.bytes() > bytes {
                self.write_one(addr, value & 0xFFFF, 0xFFFF, at)?;
                self.write_one(addr + 2, value >> 16, 0xFFFF, at)?;
            } else {
                let (shift, bits) = lanes(addr, bytes, width);
                self.write_one(addr & !(bytes - 1), (value & bits) << shift, bits << shift, at)?;
            }
            self.settle_effects(self.time_of(at), at);
            Ok(())
        }

        /// A bit of a byte, by its word in an alias region.
        fn read_bit(&mut self, addr: u32, at: Cycles) -> Result<u32, Fault> {
            let (byte, bit) = bit_band(addr);
            Ok(self.read(byte, Width::W8, at)? >> bit & 1)
        }

        fn write_bit(&mut self, addr: u32, value: u32, at: Cycles) -> Result<(), Fault> {
            let (byte, bit) = bit_band(addr);
            let old = self.read(byte, Width::W8, at)?;
            self.write(byte, Width::W8, old & !(1 << bit) | (value & 1) << bit, at)
        }
    };
}
pub(crate) use core_registers;

/// Where the bits that an access of that width touches begin in a register of `bytes`, and as many bits.
pub(crate) fn lanes(addr: u32, bytes: u32, width: Width) -> (u32, u32) {
    (8 * (addr & (bytes - 1)), u32::MAX >> (32 - 8 * width.bytes()))
}

/// What the bus of every chip keeps for the core.
#[derive(Default)]
pub(crate) struct Side {
    pub scb: Scb,
    /// The cycle at which the CPU's run ends; 0 ends it behind the present instruction.
    pub deadline: Cycles,
    /// Wait states of data accesses that the core has not been told.
    pub stall: Cycles,
    /// Fetches from flash may wait.
    pub waits: bool,
    pub exception: u32,
    /// Flash changed: the core forgets.
    pub changed: bool,
    /// Flash as the last snapshot has it, until it changes.
    pub image: Option<Arc<Vec<u8>>>,
}

/// What a Cortex-M needs of the chip around it.
pub(crate) trait Around: Bus + Sized {
    /// What a snapshot keeps of the whole chip.
    type Saved: Clone + Serialize + DeserializeOwned;
    /// What is off without supply, beside the CPU.
    const COMPONENTS: &'static [ComponentId];
    /// Names of the serial interfaces; their places are their numbers.
    const SERIALS: &'static [&'static str];

    /// All of it as it is before the first reset, its memory erased.
    fn new(dev: Arc<Device>) -> Self;
    fn common(&self) -> &Common;
    fn common_mut(&mut self) -> &mut Common;
    fn scs(&self) -> &Scs;
    fn scs_mut(&mut self) -> &mut Scs;
    fn dwt_mut(&mut self) -> &mut Dwt;
    /// The bits of a priority that the interrupt controller has.
    fn priority_mask(&self) -> u8;
    /// IPSR, which ICSR shows.
    fn set_exception(&mut self, number: u32);
    /// Cycles of an entry in which a higher exception takes the place of the first.
    fn late_arrival_cycles(&self) -> Cycles;
    /// Cycles of a return in which an exception is tail-chained.
    fn pop_preemption_cycles(&self) -> Cycles;

    // ---- clocks and sleep

    /// The line whose ticks are the CPU's cycles.
    fn clock(&self) -> &Line;
    fn clock_mut(&mut self) -> &mut Line;
    /// FCLK, which goes on while the CPU sleeps.
    fn free_clock(&self) -> &Line;
    fn update_clocks(&mut self, now: Picos, cycles: Cycles);
    /// The cycle at which the CPU's run ends.
    fn set_deadline(&mut self, deadline: Cycles);
    fn asleep(&self) -> bool;
    /// WFI or WFE at cycle `at`: the mode that SCR and the power management ask for, or none where the chip refuses.
    fn fall_asleep(&mut self, at: Cycles, for_event: bool);
    /// Whether an event ends the sleep, too.
    fn for_event(&self) -> bool;
    /// Whether the sleep has lost the core's registers: only a reset leads out.
    fn is_lost(&self) -> bool;
    /// Whether something leads out of such a sleep now.
    fn leaves_loss(&self) -> bool;
    /// The CPU goes on, the wake-up time included. True if it starts at its vector.
    fn wake(&mut self, cycles: Cycles) -> bool;
    /// Without supply nothing sleeps.
    fn end_sleep(&mut self);
    /// Whether anything of the chip, or a part that is wired to it, may end the sleep that nothing ends yet.
    fn may_wake(&self, masks: Masks) -> bool;
    fn pins_may_wake(&self, masks: Masks) -> bool;
    /// True if something that shows goes on while the CPU sleeps for good.
    fn works_on(&self) -> bool {
        false
    }
    /// Whether SysTick counts and its exception may end the sleep.
    fn systick_may_wake(&self, masks: Masks) -> bool {
        let scs = self.scs();
        scs.systick_interrupts()
            && scs.may_wake(scs::SYSTICK, masks, false)
            && scs.next_event(self.free_clock()).is_some()
    }

    // ---- events and resets

    fn next_event(&self) -> Option<Picos>;
    /// Carries out what is due at `t`.
    fn process(&mut self, t: Picos, now: Picos, cycles: Cycles);
    /// Behind whatever may have changed a flag or a level.
    fn refresh(&mut self, now: Picos, cycles: Cycles);
    fn reset_pending(&self) -> bool;
    fn reset_cause(&self) -> ResetCause;
    /// Carries out the reset that is pending, its start-up time included; the core follows.
    fn carry_out_reset(&mut self, cycles: Cycles);
    fn power_on_reset(&mut self, now: Picos, cycles: Cycles);

    // ---- supply

    /// The supply is another: whether a supervisor lets go of the chip, which it resets.
    fn supervisor_lets_go(&mut self, _now: Picos, _cycles: Cycles) -> bool {
        false
    }
    /// A supervisor of the running chip finds the supply too low: how long that must last.
    fn too_low(&self) -> Option<Picos> {
        None
    }
    /// From the supply's rise to the reset vector.
    fn start_up(&self) -> Picos;
    /// The supply was gone: what no reset sets is lost.
    fn forget(&mut self);

    // ---- memory and pins

    /// A word of memory, without side effects.
    fn word(&self, addr: u32) -> Option<u32>;
    /// Whether there is memory at `addr`.
    fn holds(&self, addr: u32) -> bool;
    /// Bytes of memory, or none if they are not all memory.
    fn bytes(&self, addr: u32, bytes: usize) -> Option<&[u8]>;
    /// Changes memory of any kind, as a programmer would.
    fn put(&mut self, addr: u32, bytes: &[u8]);
    /// RAM wakes with its pattern.
    fn wake_ram(&mut self, seed: u64);
    /// Brings what plain accesses may touch in step with the controllers.
    fn map_memory(&mut self);
    /// Flash that holds the code at `pc` is busy until then.
    fn code_busy_until(&self, pc: u32) -> Option<Picos>;
    /// Flash that is written half stays half.
    fn abort_flash(&mut self, seed: u64);
    /// Whether code may have changed since the last look.
    fn take_changed(&mut self) -> bool;
    /// Where such code lies; a part may need one range only.
    fn code(&self) -> [Range<u32>; 2];
    fn pin_level(&self, pin: Pin) -> bool;
    fn drive(&mut self, drives: Vec<Drive>);
    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128);
    /// Wires ACLK to a capture input, where the chip has such timers.
    fn wire_aclk(&mut self, _timer: &str, _ccr: u8, _input: char) -> bool {
        false
    }
    /// Fits a crystal to an oscillator, where the chip has one of that name; 0 Hz takes it away.
    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool;

    fn save(&mut self, core: SavedCore) -> Self::Saved;
    /// Takes all back but the core, which is given.
    fn restore(&mut self, saved: Self::Saved) -> SavedCore;
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

/// What Arm's own registers see of the chip that has the books of `$soc`.
macro_rules! arm {
    ($soc:expr, $clock:expr, $addr:expr, $at:expr, $now:expr) => {
        $crate::cores::armv7m::Access {
            now: $now,
            at: $at,
            addr: $addr,
            clock: $clock,
            chip: &$soc.common.dev.name,
            reset: false,
        }
    };
}
pub(crate) use arm;

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
