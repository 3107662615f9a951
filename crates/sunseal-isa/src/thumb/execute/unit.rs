// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the instructions of the floating-point unit do and cost.

use super::*;

/// TRM r0p1 table 7-1, VDIV and VSQRT.
const FLOAT_DIVIDE: u32 = 14;

impl Cpu {
    /// Instructions of the floating-point unit.
    pub(super) fn execute_float<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        kind: Kind,
        pc: u32,
        next: u32,
    ) -> Outcome {
        let enabled = match bus.scb().cpacr >> 20 & 3 {
            3 => true,
            1 => self.privileged(),
            _ => false,
        };
        if !enabled {
            return usage(Usage::NoCoprocessor, pc);
        }
        let opened = match self.open_float(bus, observer) {
            Ok(cycles) => cycles,
            Err(fault) => return Err(Exit::Fault(fault.at_pc(pc))),
        };
        let start = self.cycles;
        let results = std::mem::take(&mut self.float_result);
        // Nothing of the unit runs beside a division.
        let mut wait = opened + self.float_ready.saturating_sub(start) as u32;
        let stalls = self.timing.float_result_stall;
        let uses = |registers: u32| u32::from(stalls && results & registers != 0);
        let bit = |n: u8| 1u32 << n;
        let s = |cpu: &Self, n: u8| cpu.s[usize::from(n & 31)];
        let mut fpscr = self.fpscr;
        let mut after = 0;
        let cycles = match kind {
            Kind::Float { op, sd, sn, sm } => {
                use crate::thumb::insn::Float;
                // The addend is wanted a cycle later.
                wait += uses(bit(sn) | bit(sm));
                let value =
                    float::arithmetic(op, s(self, sd), s(self, sn), s(self, sm), &mut fpscr);
                self.put_float(observer, sd, value);
                self.float_result = bit(sd);
                match op {
                    Float::Div => self.divides(start, wait),
                    _ if op.accumulates() => 3,
                    _ => 1,
                }
            }
            Kind::FloatUnary { op, sd, sm } => {
                use crate::thumb::insn::FloatUnary;
                wait += uses(bit(sm));
                let value = float::unary(op, s(self, sd), s(self, sm), &mut fpscr);
                self.put_float(observer, sd, value);
                let moves = matches!(op, FloatUnary::Mov | FloatUnary::Abs | FloatUnary::Neg);
                if !moves {
                    self.float_result = bit(sd);
                }
                if op == FloatUnary::Sqrt { self.divides(start, wait) } else { 1 }
            }
            Kind::FloatImm { sd, bits } => {
                self.put_float(observer, sd, bits);
                1
            }
            Kind::FloatCompare { quiet_too, sd, sm } => {
                wait += uses(bit(sd) | sm.map_or(0, bit));
                let other = sm.map_or(0, |sm| s(self, sm));
                float::compare(s(self, sd), other, quiet_too, &mut fpscr);
                1
            }
            Kind::FloatToCore { rt, sn } | Kind::HalfToCore { rt, s: sn } => {
                wait += uses(bit(sn));
                let value = s(self, sn);
                self.put(observer, rt, value);
                after = mask(rt);
                self.float_move(matches!(kind, Kind::FloatToCore { .. }))
            }
            Kind::CoreToFloat { rt, sn } | Kind::CoreToHalf { rt, s: sn } => {
                let value = self.r[usize::from(rt)];
                self.put_float(observer, sn, value);
                self.float_move(matches!(kind, Kind::CoreToFloat { .. }))
            }
            Kind::FloatsToCore { rt, rt2, sm, .. } => {
                wait += uses(bit(sm) | bit(sm + 1));
                let (low, high) = (s(self, sm), s(self, sm + 1));
                self.put(observer, rt, low);
                self.put(observer, rt2, high);
                after = mask(rt) | mask(rt2);
                2
            }
            Kind::CoreToFloats { rt, rt2, sm, .. } => {
                let (low, high) = (self.r[usize::from(rt)], self.r[usize::from(rt2)]);
                self.put_float(observer, sm, low);
                self.put_float(observer, sm + 1, high);
                2
            }
            Kind::Vmrs { rt: 15 } => {
                let flags = self.flags.apsr() & !0xF000_0000 | fpscr & 0xF000_0000;
                self.flags = alu::Flags::of(flags);
                1
            }
            Kind::Vmrs { rt } => {
                self.put(observer, rt, fpscr);
                after = mask(rt);
                1
            }
            Kind::Vmsr { rt } => {
                fpscr = self.r[usize::from(rt)] & float::fpscr::ALL;
                1
            }
            _ => {
                let (cycles, stepped) = self.float_memory(bus, observer, kind, pc, wait, &uses)?;
                after = stepped;
                cycles
            }
        };
        self.fpscr = fpscr;
        Ok(Done::next(next, wait + cycles, after))
    }

    /// Cycles of a move between one register of each kind.
    fn float_move(&self, single: bool) -> u32 {
        1 + u32::from(single && self.timing.float_move_takes_2)
    }

    /// Cycles of VDIV and VSQRT: fourteen, or one beside which integer instructions go on.
    fn divides(&mut self, start: Cycles, wait: u32) -> u32 {
        if !self.timing.float_divide_overlaps {
            return FLOAT_DIVIDE;
        }
        self.float_ready = start + Cycles::from(wait + FLOAT_DIVIDE);
        1
    }

    /// Loads and stores of the floating-point unit: cycles, and the base register if it was stepped.
    fn float_memory<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        kind: Kind,
        pc: u32,
        wait: u32,
        uses: &dyn Fn(u32) -> u32,
    ) -> Result<(u32, u32), Exit> {
        let base_of = |cpu: &Self, rn: u8| {
            let value = cpu.r[usize::from(rn)];
            if usize::from(rn) == PC { value & !3 } else { value }
        };
        let (load, double, first, count, rn, addr, stepped) = match kind {
            Kind::FloatLoad { double, fd, rn, offset } => {
                let addr = base_of(self, rn).wrapping_add_signed(offset);
                (true, double, fd, 1, rn, addr, None)
            }
            Kind::FloatStore { double, fd, rn, offset } => {
                let addr = base_of(self, rn).wrapping_add_signed(offset);
                (false, double, fd, 1, rn, addr, None)
            }
            Kind::FloatMany { load, double, first, count, rn, writeback, before } => {
                let bytes = u32::from(count) * if double { 8 } else { 4 };
                let base = base_of(self, rn);
                let low = if before { base.wrapping_sub(bytes) } else { base };
                let end = if before { low } else { base.wrapping_add(bytes) };
                (load, double, first, count, rn, low, writeback.then_some(end))
            }
            _ => unreachable!("{kind:?} has its arm in execute or execute_float"),
        };
        let (first, words) = if double { (first * 2, count * 2) } else { (first, count) };
        let registers = if usize::from(rn) == PC { 0 } else { mask(rn) };
        let mut cycles = 1 + u32::from(words);
        cycles = if load {
            self.load_cycles(cycles, registers, false)
        } else {
            self.store_cycles(cycles, registers)
        };
        let touched = (0..words).fold(0, |all, i| all | 1u32 << (first + i));
        if !load {
            cycles += uses(touched);
        }
        let at = self.cycles + Cycles::from(wait + cycles - u32::from(words));
        let mut loaded = [0; 32];
        for i in 0..words {
            let addr = addr.wrapping_add(4 * u32::from(i));
            let register = usize::from(first + i);
            let store = (!load).then(|| self.s[register]);
            let at = at + Cycles::from(i);
            loaded[usize::from(i)] = self.access_word(bus, observer, pc, (addr, at), store)?;
        }
        if load {
            for i in 0..words {
                self.put_float(observer, first + i, loaded[usize::from(i)]);
            }
        }
        if let Some(end) = stepped {
            self.step_base(observer, rn, end);
        }
        Ok((cycles, 0))
    }
}
