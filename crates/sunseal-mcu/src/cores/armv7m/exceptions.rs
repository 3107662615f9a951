// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptions of a Cortex-M: which comes when, how one is entered and left, what a fault becomes.

use sunseal_isa::thumb::{self, Entry, Exit, Usage};
use sunseal_isa::{Fault, FaultKind};
use sunseal_registers::armv7m::core::*;
use sunseal_trace::{Observer, Picos};

use super::scs::{self, Masks};
use super::{Around, CortexM};
use crate::engine::Ran;

impl<S: Around> CortexM<S> {
    pub(crate) fn masks(&self) -> Masks {
        Masks {
            primask: self.cpu.primask & 1 != 0,
            faultmask: self.cpu.faultmask & 1 != 0,
            basepri: self.cpu.basepri as u8,
        }
    }

    pub(crate) fn start_at_vector(&mut self) {
        let word = |addr: u32| self.soc.word(addr).unwrap_or(u32::MAX);
        let (sp, pc) = (word(0), word(4));
        let state = thumb::State {
            psr: thumb::psr::T * (pc & 1),
            cycles: self.cpu.cycles,
            cycles_uncached: self.cpu.cycles_uncached,
            ..thumb::State::default()
        };
        self.cpu.set_state(&state);
        self.cpu.r[thumb::SP] = sp & !3;
        self.cpu.r[thumb::PC] = pc & !1;
        self.cpu.r[thumb::LR] = u32::MAX;
        self.returning = None;
        self.soc.set_exception(0);
    }

    // ---- exceptions

    /// Whether a vector leads somewhere.
    pub(crate) fn has_handler(&self, exception: u32) -> bool {
        let vector = self.soc.scb().vtor.wrapping_add(4 * exception);
        self.soc.word(vector).is_some_and(|v| v & 1 != 0 && self.soc.holds(v & !1))
    }

    /// A fault of the program: its handler's, HardFault's, or the end.
    pub(crate) fn raise(
        &mut self,
        exception: u32,
        status: u32,
        addr: Option<u32>,
        end: Fault,
    ) -> Result<(), Fault> {
        let masks = self.masks();
        let s = self.soc.scs_mut();
        s.cfsr |= status;
        if let Some(addr) = addr {
            s.bfar = addr;
        }
        if s.fault_enabled(exception) && s.can_take(exception, masks) {
            s.pend(exception);
            return Ok(());
        }
        if s.can_take(scs::HARD_FAULT, masks) && self.has_handler(scs::HARD_FAULT) {
            let s = self.soc.scs_mut();
            s.hfsr |= FORCED;
            s.pend(scs::HARD_FAULT);
            return Ok(());
        }
        Err(end)
    }

    pub(crate) fn usage_fault(&mut self, cause: Usage, addr: u32) -> Result<(), Fault> {
        let pc = self.cpu.r[thumb::PC];
        let (bit, what) = match cause {
            Usage::Undefined => (UNDEFINSTR, "UNDEFINSTR: no instruction of this core"),
            Usage::InvalidState => (
                INVSTATE,
                "INVSTATE: a branch to an even address, which leaves Thumb state; function pointers have bit 0 set",
            ),
            Usage::InvalidPc => (INVPC, "INVPC: an impossible EXC_RETURN"),
            Usage::NoCoprocessor => (
                NOCP,
                "NOCP: a floating-point instruction while the unit is off; set CPACR bits 20 to 23",
            ),
            Usage::Unaligned => (UNALIGNED, "UNALIGNED: an access that must be aligned"),
            Usage::DivideByZero => (DIVBYZERO, "DIVBYZERO: division by zero with CCR.DIV_0_TRP"),
        };
        let lockup = !self.soc.scs().can_take(scs::HARD_FAULT, self.masks());
        let why = if lockup { "lockup" } else { "no handler" };
        let end = Fault::device(addr, format!("UsageFault with {why}: {what}")).at_pc(pc);
        self.raise(scs::USAGE_FAULT, bit, None, end)
    }

    /// An access that failed: a BusFault where the program has enabled it, else the end, because the
    /// sentence tells its author more than a default handler's loop would.
    pub(crate) fn bus_fault(&mut self, fault: Fault) -> Result<(), Fault> {
        let masks = self.masks();
        let addr = fault.addr();
        let status = match fault.kind() {
            FaultKind::Unmapped | FaultKind::ReadOnly => PRECISERR | BFARVALID,
            FaultKind::NotCode => IBUSERR,
            _ => return Err(fault),
        };
        let s = self.soc.scs();
        if !s.fault_enabled(scs::BUS_FAULT) || !s.can_take(scs::BUS_FAULT, masks) {
            return Err(fault);
        }
        let precise = (status & PRECISERR != 0).then_some(addr);
        self.raise(scs::BUS_FAULT, status, precise, fault)
    }

    pub(crate) fn supervisor_call(&mut self) -> Result<(), Fault> {
        let masks = self.masks();
        if self.soc.scs().can_take(scs::SVCALL, masks) {
            self.soc.scs_mut().pend(scs::SVCALL);
            return Ok(());
        }
        // At its own or a higher priority SVC escalates (DDI0403 B1.5.10).
        let pc = self.cpu.r[thumb::PC];
        let end =
            Fault::device(pc, "SVC at a priority that does not allow it, and no HardFault handler")
                .at_pc(pc);
        if self.soc.scs().can_take(scs::HARD_FAULT, masks) && self.has_handler(scs::HARD_FAULT) {
            self.soc.scs_mut().hfsr |= FORCED;
            self.soc.scs_mut().pend(scs::HARD_FAULT);
            return Ok(());
        }
        Err(end)
    }

    /// Carries out the events up to `end`; the exception that would now be taken.
    pub(crate) fn look_ahead(&mut self, end: Picos) -> Option<u32> {
        let masks = self.masks();
        loop {
            if let Some(e) = self.soc.scs().next(masks) {
                return Some(e);
            }
            let t = self.soc.next_event().filter(|t| *t <= end)?;
            self.event_at(t);
        }
    }

    pub(crate) fn event_at(&mut self, t: Picos) {
        let cycles = self.soc.clock().ticks_at(t).max(self.cpu.cycles);
        self.soc.process(t, t, cycles);
    }

    pub(crate) fn enter<O: Observer>(
        &mut self,
        first: u32,
        entry: Entry,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let start = self.cpu.cycles;
        // Until its vector is fetched a higher exception takes its place, and the stacking serves it.
        let window = self.soc.late_arrival_cycles();
        let end = self.soc.clock().time_of(start + window);
        let exception = self.higher(first, end);
        self.soc.scs_mut().activate(exception);
        self.soc.stall();
        self.cpu.enter(&mut self.soc, observer, exception, entry)?;
        // Behind that, until its first instruction, only the vector is fetched anew.
        let end = self.soc.clock().time_of(self.cpu.cycles - 1);
        let late = self.higher(exception, end);
        if late != exception {
            self.soc.scs_mut().put_back(exception);
            self.soc.scs_mut().activate(late);
            self.cpu.enter(&mut self.soc, observer, late, Entry::Late)?;
        }
        self.soc.set_exception(self.cpu.exception());
        let trace = self.soc.scs().trace_enabled();
        self.soc.dwt_mut().exception(trace, self.cpu.cycles - start);
        self.catch_up();
        Ok(())
    }

    /// The exception that is to be entered if those that arrive up to `end` are looked at.
    pub(crate) fn higher(&mut self, mut exception: u32, end: Picos) -> u32 {
        while let Some(t) = self.soc.next_event().filter(|t| *t <= end) {
            if self.soc.reset_pending() || self.soc.common().pending_fault.is_some() {
                break;
            }
            self.event_at(t);
            let other = self.soc.scs().next(self.masks());
            if let Some(other) = other.filter(|o| self.soc.scs().pre_empts(*o, exception)) {
                exception = other;
            }
        }
        exception
    }

    /// A handler has branched to EXC_RETURN.
    pub(crate) fn exception_return<O: Observer>(
        &mut self,
        exc_return: u32,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let current = self.cpu.exception();
        let to_thread = exc_return & 8 != 0;
        if current == 0 || !self.soc.scs().is_active(current) {
            return self.usage_fault(Usage::InvalidPc, exc_return);
        }
        if to_thread
            && self.soc.scs().nested()
            && self.soc.scb().ccr & thumb::ccr::NONBASETHRDENA == 0
        {
            return self.usage_fault(Usage::InvalidPc, exc_return);
        }
        self.soc.scs_mut().deactivate(current);
        let faultmask = self.cpu.faultmask;
        if current != scs::NMI {
            self.cpu.faultmask = 0;
        }
        if let Some(next) = self.soc.scs().next(self.masks()) {
            return self.enter(next, Entry::TailChain(exc_return), observer);
        }
        if to_thread && self.soc.scs().sleep_on_exit() {
            self.soc.fall_asleep(self.cpu.cycles, false);
            // A chip may refuse to.
            if self.soc.asleep() {
                self.returning = Some(exc_return);
                return Ok(());
            }
        }
        // What arrives while the registers are popped is tail-chained.
        let start = self.cpu.cycles;
        let window = self.soc.pop_preemption_cycles();
        let end = self.soc.clock().time_of(start + window);
        if let Some(next) = self.look_ahead(end) {
            let t = self.soc.common().now();
            self.cpu.cycles =
                self.soc.clock().ticks_at(t.max(self.soc.clock().time_of(start))).max(start);
            return self.enter(next, Entry::TailChain(exc_return), observer);
        }
        self.cpu.faultmask = faultmask;
        match self.cpu.leave(&mut self.soc, observer, exc_return) {
            Ok(()) => {}
            Err(Exit::Usage { cause, addr }) => return self.usage_fault(cause, addr),
            Err(Exit::Fault(fault)) => {
                self.soc.scs_mut().cfsr |= UNSTKERR;
                return Err(fault);
            }
            Err(_) => {}
        }
        self.soc.scs_mut().event_register = true;
        self.soc.set_exception(self.cpu.exception());
        let trace = self.soc.scs().trace_enabled();
        self.soc.dwt_mut().exception(trace, self.cpu.cycles - start);
        self.catch_up();
        Ok(())
    }

    pub(crate) fn act_on(&mut self, exit: Exit) -> Result<Ran, Fault> {
        match exit {
            Exit::Deadline if self.cpu.cycles < self.soc.deadline() => return Ok(Ran::On),
            Exit::Deadline => {}
            Exit::Breakpoint => return Ok(Ran::Breakpoint),
            Exit::Status => {}
            Exit::Wfi => {
                self.catch_up();
                if !self.soc.scs().wakes(self.masks()) {
                    self.soc.fall_asleep(self.cpu.cycles, false);
                }
            }
            Exit::Wfe => {
                self.catch_up();
                if !std::mem::take(&mut self.soc.scs_mut().event_register) {
                    self.soc.fall_asleep(self.cpu.cycles, true);
                }
            }
            Exit::Sev => self.soc.scs_mut().event_register = true,
            Exit::Svc(_) => self.supervisor_call()?,
            Exit::Bkpt(n) => {
                let pc = self.cpu.r[thumb::PC];
                let what = format!("BKPT #{n} without a debugger; run it under `sunseal gdb`");
                return Err(Fault::device(pc, what).at_pc(pc));
            }
            Exit::Return(exc_return) => self.returning = Some(exc_return),
            Exit::Usage { cause, addr } => self.usage_fault(cause, addr)?,
            Exit::Fault(fault) => self.bus_fault(fault)?,
        }
        Ok(Ran::Look)
    }
}
