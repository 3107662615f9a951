// SPDX-License-Identifier: MIT OR Apache-2.0
//! The System Control Space of a Cortex-M4: NVIC, system control block, SysTick, FPU control
//! (Armv7-M ARM, DDI0403, chapters B1.5 and B3).
//!
//! It decides; the core stacks. An exception is its number: 2 NMI, 3 HardFault, 16 the first input.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::thumb::{Scb, ccr};
use sunseal_registers::armv7m::core::*;
use sunseal_trace::Picos;

use super::{Access, merge};
use crate::clock::Line;
use crate::device::INPUTS_MAX;
use crate::device::Nvic;

pub(crate) const NMI: u32 = 2;
pub(crate) const HARD_FAULT: u32 = 3;
pub(crate) const MEM_MANAGE: u32 = 4;
pub(crate) const BUS_FAULT: u32 = 5;
pub(crate) const USAGE_FAULT: u32 = 6;
pub(crate) const SVCALL: u32 = 11;
pub(crate) const DEBUG_MONITOR: u32 = 12;
pub(crate) const PENDSV: u32 = 14;
pub(crate) const SYSTICK: u32 = 15;
/// The first input of the NVIC.
pub(crate) const IRQ0: u32 = 16;
const _: () = assert!(IRQ0 + INPUTS_MAX == 128, "a set of exceptions has 128 bits");

/// Priority of thread mode, below every exception.
pub(crate) const THREAD: i16 = 256;

const CCR_ALL: u32 = ccr::NONBASETHRDENA
    | ccr::USERSETMPEND
    | ccr::UNALIGN_TRP
    | ccr::DIV_0_TRP
    | ccr::BFHFNMIGN
    | ccr::STKALIGN;

const SHCSR_ENABLES: u32 = 7 << 16;
/// Written to make an input pend; not for reading (DDI0403, B3.4.9).
const STIR: u32 = 0xF00;

/// What the CPU's mask registers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    pub primask: bool,
    pub faultmask: bool,
    pub basepri: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SysTick {
    csr: u32,
    reload: u32,
    /// Count at tick `origin` of the free-running clock, or of the reference that is that clock divided.
    value: u32,
    origin: u64,
    /// The reference clock is the processor's divided by so much; 0 where the chip has none.
    reference: u32,
}

impl SysTick {
    /// With a reference clock it starts on that.
    const fn new(reference: u32) -> Self {
        let csr = if reference == 0 { SYST_CSR_CLKSOURCE } else { 0 };
        Self { csr, reload: 0, value: 0, origin: 0, reference }
    }

    /// Cycles of the processor's clock that a count takes.
    fn divider(&self) -> u64 {
        if self.csr & SYST_CSR_CLKSOURCE != 0 { 1 } else { u64::from(self.reference.max(1)) }
    }

    fn ticks_at(&self, line: &Line, t: Picos) -> u64 {
        line.ticks_at(t) / self.divider()
    }

    fn running(&self) -> bool {
        self.csr & SYST_CSR_ENABLE != 0 && (self.reload != 0 || self.value != 0)
    }

    fn value_at(&self, line: &Line, t: Picos) -> u32 {
        if !self.running() {
            return self.value;
        }
        let n = self.ticks_at(line, t).saturating_sub(self.origin);
        if n <= u64::from(self.value) {
            return self.value - n as u32;
        }
        if self.reload == 0 {
            return 0;
        }
        let past = (n - u64::from(self.value) - 1) % (u64::from(self.reload) + 1);
        self.reload - past as u32
    }

    /// Ticks until the count next becomes zero.
    fn until_zero(&self) -> Option<u64> {
        if !self.running() {
            None
        } else if self.value != 0 {
            Some(u64::from(self.value))
        } else {
            Some(u64::from(self.reload) + 1)
        }
    }

    fn latch(&mut self, line: &Line, t: Picos) {
        self.value = self.value_at(line, t);
        self.origin = self.ticks_at(line, t);
    }

    fn next_event(&self, line: &Line) -> Option<Picos> {
        // With neither an interrupt nor a fresh flag to give, nobody need be woken for it.
        if self.csr & SYST_CSR_TICKINT == 0 && self.csr & SYST_CSR_COUNTFLAG != 0 {
            return None;
        }
        let tick = self.origin.checked_add(self.until_zero()?)?.checked_mul(self.divider())?;
        let t = line.time_of(tick);
        (t != Picos::MAX).then_some(t)
    }

    /// Takes the count to `t`; true if it has become zero on the way.
    fn advance(&mut self, line: &Line, t: Picos) -> bool {
        let n = self.ticks_at(line, t).saturating_sub(self.origin);
        let zero = self.until_zero().is_some_and(|z| n >= z);
        if zero {
            self.csr |= SYST_CSR_COUNTFLAG;
        }
        self.latch(line, t);
        zero && self.csr & SYST_CSR_TICKINT != 0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scs {
    /// The bits of a priority that are there, the upper ones.
    priority_mask: u8,
    inputs: u32,
    pending: u128,
    active: u128,
    /// Inputs that are enabled, as exception numbers.
    enabled: u128,
    /// Levels of the inputs.
    lines: u128,
    priority: Vec<u8>,
    prigroup: u8,
    scr: u32,
    shcsr: u32,
    pub cfsr: u32,
    pub hfsr: u32,
    pub mmfar: u32,
    pub bfar: u32,
    demcr: u32,
    actlr: u32,
    pub systick: SysTick,
    /// Of WFE and SEV.
    pub event_register: bool,
}

impl Scs {
    /// As the chip's maker has built it.
    pub fn new(nvic: &Nvic) -> Self {
        Self::built(nvic.priority_mask(), nvic.inputs, nvic.systick_reference_divider.unwrap_or(0))
    }

    fn built(priority_mask: u8, inputs: u32, reference: u32) -> Self {
        Self {
            priority_mask,
            inputs,
            priority: vec![0; (IRQ0 + inputs) as usize],
            systick: SysTick::new(reference),
            ..Self::default()
        }
    }

    /// Debug settings and the counter's own state are all that a reset of the processor keeps.
    pub fn reset(&mut self) {
        let built = Self::built(self.priority_mask, self.inputs, self.systick.reference);
        *self = Self { demcr: self.demcr, ..built };
    }

    pub fn sleep_on_exit(&self) -> bool {
        self.scr & SLEEPONEXIT != 0
    }

    pub fn sleep_deep(&self) -> bool {
        self.scr & SLEEPDEEP != 0
    }

    pub fn trace_enabled(&self) -> bool {
        self.demcr & TRCENA != 0
    }

    // ---- priorities

    /// The part of a priority that pre-empts.
    fn group(&self, priority: u8) -> i16 {
        let sub = (2u16 << self.prigroup) - 1;
        i16::from(priority & !(sub as u8))
    }

    /// The priority of an exception as pre-emption sees it.
    fn group_of(&self, exception: u32) -> i16 {
        match exception {
            1 => -3,
            NMI => -2,
            HARD_FAULT => -1,
            e => self.group(self.priority[e as usize]),
        }
    }

    /// Whole priority, then number: what decides between two that are pending.
    fn order_of(&self, exception: u32) -> (i16, i16, u32) {
        let full = match exception {
            1 => -3,
            NMI => -2,
            HARD_FAULT => -1,
            e => i16::from(self.priority[e as usize]),
        };
        (self.group_of(exception), full, exception)
    }

    fn active_priority(&self) -> i16 {
        bits(self.active).map(|e| self.group_of(e)).min().unwrap_or(THREAD)
    }

    /// What an exception must be above to be taken.
    pub fn execution_priority(&self, masks: Masks) -> i16 {
        let mut priority = self.active_priority();
        if masks.basepri & self.priority_mask != 0 {
            priority = priority.min(self.group(masks.basepri & self.priority_mask));
        }
        if masks.primask {
            priority = priority.min(0);
        }
        if masks.faultmask {
            priority = priority.min(-1);
        }
        priority
    }

    fn takeable(&self) -> u128 {
        let faults = u128::from(self.shcsr >> 16 & 7) << MEM_MANAGE;
        let always = 1 << NMI | 1 << HARD_FAULT | 1 << SVCALL | 1 << PENDSV | 1 << SYSTICK;
        self.pending & (self.enabled | faults | always)
    }

    /// The pending exception that would be taken first, if any is enabled.
    fn first(&self) -> Option<u32> {
        let p = self.takeable();
        if p == 0 {
            return None;
        }
        bits(p).min_by_key(|&e| self.order_of(e))
    }

    /// The exception that is taken now.
    pub fn next(&self, masks: Masks) -> Option<u32> {
        let e = self.first()?;
        (self.group_of(e) < self.execution_priority(masks)).then_some(e)
    }

    /// Whether `a` comes before `b` where both could be taken: a late arrival.
    pub fn pre_empts(&self, a: u32, b: u32) -> bool {
        self.group_of(a) < self.group_of(b)
    }

    /// WFI ends: an exception would be taken if PRIMASK were clear.
    pub fn wakes(&self, masks: Masks) -> bool {
        self.next(Masks { primask: false, ..masks }).is_some()
    }

    /// Whether the exception may be taken at the present execution priority: otherwise a fault escalates.
    pub fn can_take(&self, exception: u32, masks: Masks) -> bool {
        self.group_of(exception) < self.execution_priority(masks)
    }

    pub fn fault_enabled(&self, exception: u32) -> bool {
        exception == HARD_FAULT || self.shcsr >> (exception + 12) & 1 != 0
    }

    // ---- pending and active

    pub fn pend(&mut self, exception: u32) {
        if self.pending >> exception & 1 == 0 {
            self.pending |= 1 << exception;
            if self.scr & SEVONPEND != 0 && exception >= IRQ0 {
                self.event_register = true;
            }
        }
    }

    #[cfg(test)]
    pub fn is_pending(&self, exception: u32) -> bool {
        self.pending >> exception & 1 != 0
    }

    pub fn is_active(&self, exception: u32) -> bool {
        self.active >> exception & 1 != 0
    }

    /// Whether more than one handler is under way.
    pub fn nested(&self) -> bool {
        self.active.count_ones() > 1
    }

    /// The exception is entered.
    pub fn activate(&mut self, exception: u32) {
        self.pending &= !(1 << exception);
        self.active |= 1 << exception;
        // An exception entry is an event (DDI0403 B1.5.18).
        self.event_register = true;
    }

    /// The handler is left; an input that is still high is pending again.
    pub fn deactivate(&mut self, exception: u32) {
        self.active &= !(1 << exception);
        if exception >= IRQ0 && self.lines >> (exception - IRQ0) & 1 != 0 {
            self.pend(exception);
        }
    }

    /// Another exception has taken its place before its first instruction: it waits again.
    pub fn put_back(&mut self, exception: u32) {
        self.active &= !(1 << exception);
        self.pending |= 1 << exception;
    }

    /// Levels of the inputs now. A rising input is pending, and stays so.
    pub fn set_lines(&mut self, lines: u128) {
        let risen = lines & !self.lines;
        self.lines = lines;
        let mut fresh = risen;
        while fresh != 0 {
            let i = fresh.trailing_zeros();
            fresh &= fresh - 1;
            self.pend(IRQ0 + i);
        }
    }

    /// Whether an exception that is to come would end a sleep.
    pub fn may_wake(&self, exception: u32, masks: Masks, for_event: bool) -> bool {
        if exception >= IRQ0 && self.enabled >> exception & 1 == 0 {
            return for_event && self.scr & SEVONPEND != 0;
        }
        let masks = Masks { primask: false, ..masks };
        self.group_of(exception) < self.execution_priority(masks)
    }

    pub fn systick_interrupts(&self) -> bool {
        self.systick.csr & SYST_CSR_TICKINT != 0 && self.systick.running()
    }

    // ---- time

    pub fn next_event(&self, fclk: &Line) -> Option<Picos> {
        self.systick.next_event(fclk)
    }

    pub fn event(&mut self, fclk: &Line, now: Picos) {
        if self.systick.advance(fclk, now) {
            self.pend(SYSTICK);
        }
    }

    // ---- registers

    fn icsr(&self, ipsr: u32) -> u32 {
        let first = self.first().unwrap_or(0);
        ipsr & 0x1FF
            | if self.active.count_ones() > 1 { 0 } else { 1 << 11 }
            | first << 12
            | u32::from(self.pending >> IRQ0 != 0) << 22
            | ((self.pending >> SYSTICK) as u32 & 1) << 26
            | ((self.pending >> PENDSV) as u32 & 1) << 28
            | ((self.pending >> NMI) as u32 & 1) << 31
    }

    fn shcsr_value(&self) -> u32 {
        let a = |e: u32| (self.active >> e) as u32 & 1;
        let p = |e: u32| (self.pending >> e) as u32 & 1;
        self.shcsr
            | a(MEM_MANAGE)
            | a(BUS_FAULT) << 1
            | a(USAGE_FAULT) << 3
            | a(SVCALL) << 7
            | a(DEBUG_MONITOR) << 8
            | a(PENDSV) << 10
            | a(SYSTICK) << 11
            | p(USAGE_FAULT) << 12
            | p(MEM_MANAGE) << 13
            | p(BUS_FAULT) << 14
            | p(SVCALL) << 15
    }

    fn word(bits: u128, i: u32) -> u32 {
        bits.checked_shr(IRQ0 + 32 * i).unwrap_or(0) as u32
    }

    /// The bits of word `i` of a register of the inputs, as exceptions; those of no input are dropped.
    fn exceptions(&self, word: u32, i: u32) -> u128 {
        let there = u128::MAX >> (INPUTS_MAX - self.inputs);
        let at = u128::from(word).checked_shl(IRQ0 + 32 * i).unwrap_or(0);
        at & there
    }

    fn priorities(&self, first: u32) -> u32 {
        let of = |i: u32| self.priority.get((first + i) as usize).copied().unwrap_or(0);
        (0..4).fold(0, |w, i| w | u32::from(of(i)) << (8 * i))
    }

    /// A register at `off` from 0xE000E000; words.
    pub fn read(&mut self, off: u32, ipsr: u32, scb: &Scb, cx: &Access<'_>) -> Result<u32, Fault> {
        Ok(match off {
            ICTR => self.inputs.div_ceil(32) - 1,
            ACTLR => self.actlr,
            SYST_CSR => {
                self.event(cx.clock, cx.now);
                let csr = self.systick.csr;
                self.systick.csr &= !SYST_CSR_COUNTFLAG;
                csr
            }
            SYST_RVR => self.systick.reload,
            SYST_CVR => self.systick.value_at(cx.clock, cx.now),
            // No calibration value; NOREF where there is no reference clock.
            SYST_CALIB => u32::from(self.systick.reference == 0) << 31,
            // Inputs that the chip does not have read as zero.
            NVIC_ISER0..=NVIC_ISER7 | NVIC_ICER0..=NVIC_ICER7 => {
                Self::word(self.enabled, off >> 2 & 7)
            }
            NVIC_ISPR0..=NVIC_ISPR7 | NVIC_ICPR0..=NVIC_ICPR7 => {
                Self::word(self.pending, off >> 2 & 7)
            }
            NVIC_IABR0..=NVIC_IABR7 => Self::word(self.active, off >> 2 & 7),
            NVIC_IPR0..=NVIC_IPR59 => self.priorities(IRQ0 + off - NVIC_IPR0),
            CPUID => 0x410F_C241,
            ICSR => self.icsr(ipsr),
            VTOR => scb.vtor,
            AIRCR => 0xFA05_0000 | u32::from(self.prigroup) << 8,
            SCR => self.scr,
            CCR => scb.ccr,
            SHPR1 | SHPR2 | SHPR3 => self.priorities(off - SHPR1 + 4),
            SHCSR => self.shcsr_value(),
            CFSR => self.cfsr,
            HFSR => self.hfsr,
            DFSR => 0,
            MMFAR => self.mmfar,
            BFAR => self.bfar,
            AFSR => 0,
            // Processor features: the Cortex-M4 with DSP extension (DDI0439 table 4-1).
            ID_PFR0 => 0x0000_0030,
            ID_PFR1 => 0x0000_0200,
            ID_DFR0 => 0x0010_0000,
            ID_AFR0 => 0,
            ID_MMFR0 => 0x0010_0030,
            ID_MMFR1 => 0,
            ID_MMFR2 => 0x0100_0000,
            ID_MMFR3 => 0,
            ID_ISAR0 => 0x0110_1110,
            ID_ISAR1 => 0x0211_2000,
            ID_ISAR2 => 0x2123_2231,
            ID_ISAR3 => 0x0111_1131,
            ID_ISAR4 => 0x0131_0102,
            CPACR => scb.cpacr,
            // No protection unit as far as software can see.
            MPU_TYPE => 0,
            DEMCR => self.demcr,
            FPCCR => scb.fpccr,
            FPCAR => scb.fpcar,
            FPDSCR => scb.fpdscr,
            MVFR0 => 0x1011_0021,
            MVFR1 => 0x1100_0011,
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(
        &mut self,
        off: u32,
        value: u32,
        mask: u32,
        scb: &mut Scb,
        cx: &mut Access<'_>,
    ) -> Result<(), Fault> {
        let set = self.exceptions(value & mask, off >> 2 & 7);
        match off {
            ICTR | SYST_CALIB | CPUID | NVIC_IABR0..=NVIC_IABR7 | MPU_TYPE => {}
            ACTLR => self.actlr = merge(self.actlr, value, mask),
            SYST_CSR..=SYST_CVR => self.write_systick(off, value, mask, cx)?,
            NVIC_ISER0..=NVIC_ISER7 => self.enabled |= set,
            NVIC_ICER0..=NVIC_ICER7 => self.enabled &= !set,
            NVIC_ISPR0..=NVIC_ISPR7 => {
                for e in bits(set) {
                    self.pend(e);
                }
            }
            NVIC_ICPR0..=NVIC_ICPR7 => {
                self.pending &= !set;
                // An input that is high stays pending.
                self.pending |= self.lines << IRQ0 & set;
            }
            NVIC_IPR0..=NVIC_IPR59 => self.set_priorities(IRQ0 + off - NVIC_IPR0, value, mask),
            ICSR => self.write_icsr(value & mask),
            VTOR => scb.vtor = merge(scb.vtor, value, mask) & 0xFFFF_FF80,
            // Without its key the write is ignored.
            AIRCR if mask != u32::MAX || value >> 16 != 0x05FA => {}
            AIRCR => self.write_aircr(value, cx)?,
            SCR => {
                self.scr = merge(self.scr, value, mask) & (SLEEPONEXIT | SLEEPDEEP | SEVONPEND);
            }
            CCR => scb.ccr = merge(scb.ccr, value, mask) & CCR_ALL,
            SHPR1 | SHPR2 | SHPR3 => self.set_priorities(off - SHPR1 + 4, value, mask),
            SHCSR => {
                let new = merge(self.shcsr_value(), value, mask);
                self.shcsr = new & SHCSR_ENABLES;
                for (bit, e) in [(12, USAGE_FAULT), (13, MEM_MANAGE), (14, BUS_FAULT), (15, SVCALL)]
                {
                    self.pending = self.pending & !(1 << e) | u128::from(new >> bit & 1) << e;
                }
            }
            CFSR => self.cfsr &= !(value & mask),
            HFSR => self.hfsr &= !(value & mask),
            DFSR | AFSR => {}
            MMFAR => self.mmfar = merge(self.mmfar, value, mask),
            BFAR => self.bfar = merge(self.bfar, value, mask),
            CPACR => scb.cpacr = merge(scb.cpacr, value, mask) & 0x00F0_0000,
            DEMCR => self.demcr = merge(self.demcr, value, mask) & 0x010F_07F1,
            STIR => {
                let e = IRQ0 + (value & mask & 0x1FF);
                if e < IRQ0 + self.inputs {
                    self.pend(e);
                }
            }
            FPCCR => scb.fpccr = merge(scb.fpccr, value, mask) & 0xC000_017B,
            FPCAR => scb.fpcar = merge(scb.fpcar, value, mask) & !7,
            FPDSCR => scb.fpdscr = merge(scb.fpdscr, value, mask) & 0x07C0_0000,
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    /// SYST_CSR, SYST_RVR or SYST_CVR is written.
    fn write_systick(
        &mut self,
        off: u32,
        value: u32,
        mask: u32,
        cx: &Access<'_>,
    ) -> Result<(), Fault> {
        self.event(cx.clock, cx.now);
        match off {
            SYST_CSR => {
                let bits = SYST_CSR_ENABLE | SYST_CSR_TICKINT | SYST_CSR_CLKSOURCE;
                let new = merge(self.systick.csr & bits, value, mask) & bits;
                if new & SYST_CSR_CLKSOURCE == 0
                    && new & SYST_CSR_ENABLE != 0
                    && self.systick.reference == 0
                {
                    return Err(cx.refuse(
                        "SysTick on a reference clock, which this chip does not have; set SYST_CSR.CLKSOURCE",
                    ));
                }
                self.systick.csr = new | self.systick.csr & SYST_CSR_COUNTFLAG;
                self.systick.origin = self.systick.ticks_at(cx.clock, cx.now);
            }
            SYST_RVR => self.systick.reload = merge(self.systick.reload, value, mask) & 0xFF_FFFF,
            _ => {
                self.systick.latch(cx.clock, cx.now);
                self.systick.value = 0;
                self.systick.csr &= !SYST_CSR_COUNTFLAG;
            }
        }
        Ok(())
    }

    /// Sets and clears what ICSR can set and clear pending.
    fn write_icsr(&mut self, v: u32) {
        if v >> 31 & 1 != 0 {
            self.pend(NMI);
        }
        if v >> 28 & 1 != 0 {
            self.pend(PENDSV);
        } else if v >> 27 & 1 != 0 {
            self.pending &= !(1 << PENDSV);
        }
        if v >> 26 & 1 != 0 {
            self.pend(SYSTICK);
        } else if v >> 25 & 1 != 0 {
            self.pending &= !(1 << SYSTICK);
        }
    }

    /// AIRCR is written with its key.
    fn write_aircr(&mut self, value: u32, cx: &mut Access<'_>) -> Result<(), Fault> {
        self.prigroup = (value >> 8 & 7) as u8;
        if value & 4 != 0 {
            cx.reset = true;
        }
        if value & 3 != 0 {
            return Err(
                cx.refuse("AIRCR.VECTRESET and VECTCLRACTIVE are for debuggers; use SYSRESETREQ")
            );
        }
        Ok(())
    }

    fn set_priorities(&mut self, first: u32, value: u32, mask: u32) {
        let new = merge(self.priorities(first), value, mask);
        for i in 0..4 {
            let e = first + i;
            // Of the system exceptions only those that exist have a priority.
            let there = e >= IRQ0 || matches!(e, 4..=6 | 11 | 12 | 14 | 15);
            if let Some(priority) = self.priority.get_mut(e as usize).filter(|_| there) {
                *priority = (new >> (8 * i)) as u8 & self.priority_mask;
            }
        }
    }
}

/// The numbers of the bits that are set.
fn bits(mut set: u128) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let i = set.trailing_zeros();
        set &= set - 1;
        Some(i)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_MASKS: Masks = Masks { primask: false, faultmask: false, basepri: 0 };

    fn with(priorities: &[(u32, u8)]) -> Scs {
        let mut s = Scs::built(0xE0, 64, 0);
        for &(irq, priority) in priorities {
            s.enabled |= 1 << (IRQ0 + irq);
            s.priority[(IRQ0 + irq) as usize] = priority;
        }
        s
    }

    #[test]
    fn the_lower_number_wins_then_the_lower_input() {
        let mut s = with(&[(3, 0x40), (9, 0x20), (10, 0x20)]);
        s.set_lines(1 << 3 | 1 << 9 | 1 << 10);
        assert_eq!(s.next(NO_MASKS), Some(IRQ0 + 9));
        s.activate(IRQ0 + 9);
        // Equal priority does not pre-empt.
        assert_eq!(s.next(NO_MASKS), None);
        s.set_lines(1 << 3 | 1 << 10);
        s.deactivate(IRQ0 + 9);
        assert_eq!(s.next(NO_MASKS), Some(IRQ0 + 10));
    }

    #[test]
    fn subpriority_orders_but_does_not_pre_empt() {
        let mut s = with(&[(1, 0x40), (2, 0x20)]);
        // Group bits 7 and 6 only: 0x40 and 0x60 are one group, 0x20 is group 0.
        s.prigroup = 5;
        s.priority[IRQ0 as usize + 1] = 0x60;
        s.priority[IRQ0 as usize + 2] = 0x40;
        s.set_lines(1 << 1);
        s.activate(IRQ0 + 1);
        s.set_lines(1 << 1 | 1 << 2);
        assert_eq!(s.next(NO_MASKS), None, "one group");
        s.prigroup = 4;
        assert_eq!(s.next(NO_MASKS), Some(IRQ0 + 2), "now two");
    }

    #[test]
    fn masks_hold_back_what_they_name() {
        let mut s = with(&[(1, 0x40)]);
        s.set_lines(2);
        let primask = Masks { primask: true, ..NO_MASKS };
        assert_eq!(s.next(primask), None);
        assert!(s.wakes(primask), "WFI wakes all the same");
        assert_eq!(s.next(Masks { basepri: 0x40, ..NO_MASKS }), None);
        assert_eq!(s.next(Masks { basepri: 0x60, ..NO_MASKS }), Some(IRQ0 + 1));
        assert!(!s.wakes(Masks { basepri: 0x40, ..NO_MASKS }));
        s.pend(NMI);
        assert_eq!(s.next(Masks { faultmask: true, ..NO_MASKS }), Some(NMI));
    }

    #[test]
    fn a_level_that_stays_is_pending_again_and_a_pulse_is_kept() {
        let mut s = with(&[(1, 0)]);
        s.set_lines(2);
        s.activate(IRQ0 + 1);
        assert!(!s.is_pending(IRQ0 + 1));
        s.deactivate(IRQ0 + 1);
        assert!(s.is_pending(IRQ0 + 1), "the flag was not cleared");
        s.activate(IRQ0 + 1);
        s.set_lines(0);
        s.set_lines(2);
        s.set_lines(0);
        s.deactivate(IRQ0 + 1);
        assert!(s.is_pending(IRQ0 + 1), "a pulse during the handler");
    }

    #[test]
    fn inputs_beyond_the_chips_are_not_there() {
        let mut s = Scs::built(0xF0, 82, 8);
        let line = Line::STOPPED;
        let mut access = Access {
            now: Picos(0),
            at: 0,
            addr: 0xE000_E000,
            clock: &line,
            chip: "a chip",
            reset: false,
        };
        let mut scb = Scb::default();
        let mut put = |s: &mut Scs, off: u32| {
            s.write(off, u32::MAX, u32::MAX, &mut scb, &mut access).unwrap();
            s.read(off, 0, &scb, &access).unwrap()
        };
        assert_eq!((put(&mut s, 0x104), put(&mut s, 0x108)), (u32::MAX, 0x3_FFFF));
        assert_eq!((put(&mut s, 0x10C), put(&mut s, 0x450), put(&mut s, 0x454)), (0, 0xF0F0, 0));
        assert_eq!(s.read(0x004, 0, &scb, &access).unwrap(), 2, "words of 32 inputs, less one");
        assert_eq!(s.read(0x01C, 0, &scb, &access).unwrap(), 0, "it has a reference clock");
        s.set_lines(1 << 81);
        assert_eq!(s.next(NO_MASKS), Some(IRQ0 + 81));
    }

    #[test]
    fn systick_counts_a_reference_that_is_the_clock_divided() {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 8_000_000, 1, None);
        let mut tick = SysTick { csr: SYST_CSR_ENABLE, reload: 9, value: 9, ..SysTick::new(8) };
        let us = |n: u128| Picos(n * 1_000_000);
        assert_eq!((tick.value_at(&line, us(4)), tick.next_event(&line)), (5, Some(us(9))));
        tick.csr |= SYST_CSR_CLKSOURCE;
        assert_eq!(tick.next_event(&line), Some(Picos(9 * 125_000)));
    }

    #[test]
    fn sevonpend_makes_a_pending_input_an_event() {
        let mut s = Scs::built(0xE0, 64, 0);
        s.set_lines(1);
        assert!(!s.event_register);
        s.scr = SEVONPEND;
        s.set_lines(0);
        s.set_lines(2);
        assert!(s.event_register);
    }

    #[test]
    fn the_tick_counts_down_and_reloads() {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 1_000_000, 1, None);
        let us = |n: u128| Picos(n * 1_000_000);
        let mut t = SysTick {
            csr: SYST_CSR_ENABLE | SYST_CSR_TICKINT | SYST_CSR_CLKSOURCE,
            reload: 9,
            ..SysTick::new(0)
        };
        // The first tick loads, and ten more make a period.
        assert_eq!(t.value_at(&line, us(1)), 9);
        assert_eq!(t.value_at(&line, us(10)), 0);
        assert_eq!(t.value_at(&line, us(11)), 9);
        assert_eq!(t.next_event(&line), Some(us(10)));
        assert!(t.advance(&line, us(10)));
        assert_eq!(t.next_event(&line), Some(us(20)));
        assert!(t.advance(&line, us(25)));
        assert_eq!(t.value, 5);
        assert_eq!(t.next_event(&line), Some(us(30)));
    }
}
