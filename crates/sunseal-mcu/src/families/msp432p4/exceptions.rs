// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the machine decides about the core: sleep, exceptions, faults.

use super::*;
use crate::engine::Ran;

impl Msp432 {
    pub(super) fn masks(&self) -> Masks {
        Masks {
            primask: self.cpu.primask & 1 != 0,
            faultmask: self.cpu.faultmask & 1 != 0,
            basepri: self.cpu.basepri as u8,
        }
    }

    pub(super) fn start_at_vector(&mut self) {
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
        self.soc.exception = 0;
    }

    /// WFI or WFE: the mode that SCR and PCM ask for.
    pub(super) fn fall_asleep(&mut self, for_event: bool) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        let r = &mut self.soc.r;
        let mut sleep = Sleep::Lpm0;
        if r.scs.sleep_deep() {
            let deep = r.pcm.deep();
            let clocks_asked = r.timers.iter().any(|t| t.requests_smclk() || t.requests_aclk())
                || r.eusci.iter().any(|u| u.requests_smclk() || u.requests_aclk())
                || r.adc.busy()
                || !r.wdt.held() && !r.wdt.low_frequency();
            if r.pcm.refuses(deep) {
                r.pcm.flag(pcm::LPM_INVALID_TR);
            } else if clocks_asked && !r.pcm.forces_entry() {
                r.pcm.flag(pcm::LPM_INVALID_CLK);
            } else {
                sleep = match deep {
                    Deep::Lpm3 if r.rtc.held() && r.wdt.held() => Sleep::Lpm4,
                    Deep::Lpm3 => Sleep::Lpm3,
                    Deep::Lpm35 => Sleep::Lpm35,
                    Deep::Lpm45 => Sleep::Lpm45,
                };
            }
        }
        r.sleep = Some(sleep);
        r.for_event = for_event;
        let mut start = now;
        if sleep != Sleep::Lpm0 {
            // The way down still costs what the CPU costs.
            start = now + us(self.soc.facts.pcm.lpm3_entry_us);
            self.soc.common.state.now_ps = start.0;
        }
        self.soc.r.slept_from = self.soc.r.lines.fclk.ticks_at(start);
        if matches!(sleep, Sleep::Lpm35 | Sleep::Lpm45) {
            let keep = sleep == Sleep::Lpm35;
            let seed = self.soc.common.state.seed ^ start.0 as u64;
            self.soc.scramble_ram(seed, |bank| !(keep && bank == 0));
        } else if sleep != Sleep::Lpm0 {
            let retained = self.soc.r.sysctl.retained();
            let seed = self.soc.common.state.seed ^ start.0 as u64;
            self.soc.scramble_ram(seed, |bank| retained >> bank & 1 == 0);
        }
        self.soc.update_clocks(start, cycles);
        self.soc.refresh(start, cycles);
    }

    /// The CPU goes on: at an edge of its clock from LPM0, behind the wake-up time from deeper modes,
    /// by a reset from those that lose their registers.
    pub(super) fn wake(&mut self) {
        let Some(sleep) = self.soc.r.sleep.take() else { return };
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        let p = &self.soc.facts.pcm;
        let fclk = self.soc.r.lines.fclk;
        let start = match sleep {
            Sleep::Lpm0 => {
                let trace = self.soc.r.scs.trace_enabled();
                let slept = fclk.ticks_at(now).saturating_sub(self.soc.r.slept_from);
                self.soc.r.dwt.slept(trace, slept);
                let edge = fclk.tick_not_before(now);
                fclk.time_of(edge + u64::from(p.lpm0_wake_cycles))
            }
            Sleep::Lpm3 | Sleep::Lpm4 => now + us(p.lpm3_wake_us),
            Sleep::Lpm35 | Sleep::Lpm45 => {
                let wait = if sleep == Sleep::Lpm35 { p.lpm35_wake_us } else { p.lpm45_wake_us };
                let start = now + us(wait);
                self.soc.common.state.now_ps = start.0;
                let rtc = self.soc.r.rtc.clone();
                self.soc.reset_with(Class::Por, 0, true, start, cycles);
                if sleep == Sleep::Lpm35 {
                    self.soc.r.rtc = rtc;
                }
                self.soc.r.pcm.lock(sleep == Sleep::Lpm35);
                self.start_at_vector();
                return;
            }
        };
        self.soc.common.state.now_ps = start.0;
        self.soc.r.lines.base.mclk.restart(start, cycles);
        self.soc.update_clocks(start, cycles);
    }

    // ---- exceptions

    /// Whether a vector leads somewhere.
    pub(super) fn has_handler(&self, exception: u32) -> bool {
        let vector = self.soc.scb.vtor.wrapping_add(4 * exception);
        self.soc.word(vector).is_some_and(|v| v & 1 != 0 && place(v & !1).is_some())
    }

    /// A fault of the program: its handler's, HardFault's, or the end.
    pub(super) fn raise(
        &mut self,
        exception: u32,
        status: u32,
        addr: Option<u32>,
        end: Fault,
    ) -> Result<(), Fault> {
        let masks = self.masks();
        let s = &mut self.soc.r.scs;
        s.cfsr |= status;
        if let Some(addr) = addr {
            s.bfar = addr;
        }
        if s.fault_enabled(exception) && s.can_take(exception, masks) {
            s.pend(exception);
            return Ok(());
        }
        if s.can_take(scs::HARD_FAULT, masks) && self.has_handler(scs::HARD_FAULT) {
            let s = &mut self.soc.r.scs;
            s.hfsr |= hfsr::FORCED;
            s.pend(scs::HARD_FAULT);
            return Ok(());
        }
        Err(end)
    }

    pub(super) fn usage_fault(&mut self, cause: Usage, addr: u32) -> Result<(), Fault> {
        let pc = self.cpu.r[thumb::PC];
        let (bit, what) = match cause {
            Usage::Undefined => (cfsr::UNDEFINSTR, "UNDEFINSTR: no instruction of this core"),
            Usage::InvalidState => (
                cfsr::INVSTATE,
                "INVSTATE: a branch to an even address, which leaves Thumb state; function pointers have bit 0 set",
            ),
            Usage::InvalidPc => (cfsr::INVPC, "INVPC: an impossible EXC_RETURN"),
            Usage::NoCoprocessor => (
                cfsr::NOCP,
                "NOCP: a floating-point instruction while the unit is off; set CPACR bits 20 to 23",
            ),
            Usage::Unaligned => (cfsr::UNALIGNED, "UNALIGNED: an access that must be aligned"),
            Usage::DivideByZero => {
                (cfsr::DIVBYZERO, "DIVBYZERO: division by zero with CCR.DIV_0_TRP")
            }
        };
        let lockup = !self.soc.r.scs.can_take(scs::HARD_FAULT, self.masks());
        let why = if lockup { "lockup" } else { "no handler" };
        let end = Fault::device(addr, format!("UsageFault with {why}: {what}")).at_pc(pc);
        self.raise(scs::USAGE_FAULT, bit, None, end)
    }

    /// An access that failed: a BusFault where the program has enabled it, else the end, because the
    /// sentence tells its author more than a default handler's loop would.
    pub(super) fn bus_fault(&mut self, fault: Fault) -> Result<(), Fault> {
        let masks = self.masks();
        let addr = fault.addr();
        let status = match fault.kind() {
            FaultKind::Unmapped | FaultKind::ReadOnly => cfsr::PRECISERR | cfsr::BFARVALID,
            FaultKind::NotCode => cfsr::IBUSERR,
            _ => return Err(fault),
        };
        let s = &self.soc.r.scs;
        if !s.fault_enabled(scs::BUS_FAULT) || !s.can_take(scs::BUS_FAULT, masks) {
            return Err(fault);
        }
        let precise = (status & cfsr::PRECISERR != 0).then_some(addr);
        self.raise(scs::BUS_FAULT, status, precise, fault)
    }

    pub(super) fn supervisor_call(&mut self) -> Result<(), Fault> {
        let masks = self.masks();
        if self.soc.r.scs.can_take(scs::SVCALL, masks) {
            self.soc.r.scs.pend(scs::SVCALL);
            return Ok(());
        }
        // At its own or a higher priority SVC escalates (DDI0403 B1.5.10).
        let pc = self.cpu.r[thumb::PC];
        let end =
            Fault::device(pc, "SVC at a priority that does not allow it, and no HardFault handler")
                .at_pc(pc);
        if self.soc.r.scs.can_take(scs::HARD_FAULT, masks) && self.has_handler(scs::HARD_FAULT) {
            self.soc.r.scs.hfsr |= hfsr::FORCED;
            self.soc.r.scs.pend(scs::HARD_FAULT);
            return Ok(());
        }
        Err(end)
    }

    /// Carries out the events up to `end`; the exception that would now be taken.
    pub(super) fn look_ahead(&mut self, end: Picos) -> Option<u32> {
        let masks = self.masks();
        loop {
            if let Some(e) = self.soc.r.scs.next(masks) {
                return Some(e);
            }
            let t = self.next_event().filter(|t| *t <= end)?;
            self.event_at(t);
        }
    }

    pub(super) fn event_at(&mut self, t: Picos) {
        let cycles = self.soc.r.lines.base.mclk.ticks_at(t).max(self.cpu.cycles);
        self.process(t, t, cycles);
    }

    pub(super) fn process(&mut self, t: Picos, now: Picos, cycles: Cycles) {
        let soc = &mut self.soc;
        soc.process_at(t, cycles);
        if soc.common.next_event().is_some_and(|e| e <= t) {
            let (drives, shifts) = soc.common.events(t, now, cycles);
            for shift in shifts {
                let gave = soc.r.eusci[shift.serial].slave_exchange(shift.byte);
                soc.common.shifted_out(&shift, t, gave);
            }
            soc.drive(drives);
            soc.settle_effects(now, cycles);
        }
    }

    pub(super) fn enter<O: Observer>(
        &mut self,
        first: u32,
        entry: Entry,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let start = self.cpu.cycles;
        // Until its vector is fetched a higher exception takes its place, and the stacking serves it.
        let window = u64::from(self.soc.facts.core_timing.late_arrival_cycles);
        let end = self.soc.time_of(start + window);
        let exception = self.higher(first, end);
        self.soc.r.scs.activate(exception);
        self.soc.stall = 0;
        self.cpu.enter(&mut self.soc, observer, exception, entry)?;
        // Behind that, until its first instruction, only the vector is fetched anew.
        let end = self.soc.time_of(self.cpu.cycles - 1);
        let late = self.higher(exception, end);
        if late != exception {
            self.soc.r.scs.put_back(exception);
            self.soc.r.scs.activate(late);
            self.cpu.enter(&mut self.soc, observer, late, Entry::Late)?;
        }
        self.soc.exception = self.cpu.exception();
        let trace = self.soc.r.scs.trace_enabled();
        self.soc.r.dwt.exception(trace, self.cpu.cycles - start);
        self.after_cpu();
        Ok(())
    }

    /// The exception that is to be entered if those that arrive up to `end` are looked at.
    pub(super) fn higher(&mut self, mut exception: u32, end: Picos) -> u32 {
        while let Some(t) = self.next_event().filter(|t| *t <= end) {
            if self.soc.fx.reset.is_some() || self.soc.common.pending_fault.is_some() {
                break;
            }
            self.event_at(t);
            let other = self.soc.r.scs.next(self.masks());
            if let Some(other) = other.filter(|o| self.soc.r.scs.pre_empts(*o, exception)) {
                exception = other;
            }
        }
        exception
    }

    /// A handler has branched to EXC_RETURN.
    pub(super) fn exception_return<O: Observer>(
        &mut self,
        exc_return: u32,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let current = self.cpu.exception();
        let to_thread = exc_return & 8 != 0;
        if current == 0 || !self.soc.r.scs.is_active(current) {
            return self.usage_fault(Usage::InvalidPc, exc_return);
        }
        if to_thread
            && self.soc.r.scs.nested()
            && self.soc.scb.ccr & thumb::ccr::NONBASETHRDENA == 0
        {
            return self.usage_fault(Usage::InvalidPc, exc_return);
        }
        self.soc.r.scs.deactivate(current);
        let faultmask = self.cpu.faultmask;
        if current != scs::NMI {
            self.cpu.faultmask = 0;
        }
        if let Some(next) = self.soc.r.scs.next(self.masks()) {
            return self.enter(next, Entry::TailChain(exc_return), observer);
        }
        if to_thread && self.soc.r.scs.sleep_on_exit() {
            self.returning = Some(exc_return);
            self.fall_asleep(false);
            return Ok(());
        }
        // What arrives while the registers are popped is tail-chained.
        let start = self.cpu.cycles;
        let window = u64::from(self.soc.facts.core_timing.pop_preemption_cycles);
        let end = self.soc.time_of(start + window);
        if let Some(next) = self.look_ahead(end) {
            let t = self.soc.now();
            self.cpu.cycles =
                self.soc.r.lines.base.mclk.ticks_at(t.max(self.soc.time_of(start))).max(start);
            return self.enter(next, Entry::TailChain(exc_return), observer);
        }
        self.cpu.faultmask = faultmask;
        match self.cpu.leave(&mut self.soc, observer, exc_return) {
            Ok(()) => {}
            Err(Exit::Usage { cause, addr }) => return self.usage_fault(cause, addr),
            Err(Exit::Fault(fault)) => {
                self.soc.r.scs.cfsr |= cfsr::UNSTKERR;
                return Err(fault);
            }
            Err(_) => {}
        }
        self.soc.r.scs.event_register = true;
        self.soc.exception = self.cpu.exception();
        let trace = self.soc.r.scs.trace_enabled();
        self.soc.r.dwt.exception(trace, self.cpu.cycles - start);
        self.after_cpu();
        Ok(())
    }

    pub(super) fn act_on(&mut self, exit: Exit) -> Result<Ran, Fault> {
        match exit {
            Exit::Deadline if self.cpu.cycles < self.soc.deadline => return Ok(Ran::On),
            Exit::Deadline => {}
            Exit::Breakpoint => return Ok(Ran::Breakpoint),
            Exit::Status => {}
            Exit::Wfi => {
                self.after_cpu();
                if !self.soc.r.scs.wakes(self.masks()) {
                    self.fall_asleep(false);
                }
            }
            Exit::Wfe => {
                self.after_cpu();
                if !std::mem::take(&mut self.soc.r.scs.event_register) {
                    self.fall_asleep(true);
                }
            }
            Exit::Sev => self.soc.r.scs.event_register = true,
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
