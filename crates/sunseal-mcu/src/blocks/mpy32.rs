// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPY32, the 32-bit hardware multiplier (SLAU208, MPY32 chapter).
//!
//! Results are computed at once and carry the cycle from which a program may read them.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::mpy32::*;
use sunseal_trace::Cycles;

use super::{Block, Ctx, Reset, merge};
use crate::accounts::Event;
use crate::blocks::follow::Follow;
use crate::clock::splitmix64;
use crate::device;
use crate::lint::LintKind;

/// What its registers take in the address map.
pub(crate) const MPY_BYTES: u32 = 0x30;

/// Sets of registers, a bit each.
const OP1_NARROW: u64 = registers(MPY, MACS);
const OP1_WIDE: u64 = registers(MPY32L, MACS32H);
const RESULTS: u64 = registers(RES0, RES3);

const fn registers(first: u32, last: u32) -> u64 {
    (1 << (last + 1)) - (1 << first)
}

/// Cycles from operand to RES0..RES3 and MPYC, in eight bytes so that one move copies them.
type Columns = [u8; 8];
/// The column of MPYC and SUMEXT.
const CARRY: usize = 4;

/// The device's latencies: without and with MPYSAT. MPYFRAC costs nothing (SLAU367P, table 5-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Latency {
    op16: [Columns; 2],
    op1_32: [Columns; 2],
    op2_32l: [Columns; 2],
    op2_32h: [Columns; 2],
    op32l: [Columns; 2],
    op32h: [Columns; 2],
}

impl Latency {
    pub fn of(d: &device::Mpy32) -> Self {
        // A saturated word needs the top word of the result, which decides whether it overflowed.
        let both = |plain: [u8; 5], top: usize| {
            let mut columns = [0; 8];
            columns[..5].copy_from_slice(&plain);
            let mut saturated = columns;
            saturated[..=top].fill(plain[top]);
            [columns, saturated]
        };
        Self {
            op16: both(d.op16_after_op2, 1),
            op1_32: both(d.op1_32_after_op2, 3),
            op2_32l: both(d.op2_32_after_op2l, 3),
            op2_32h: both(d.op2_32_after_op2h, 3),
            op32l: both(d.op32_after_op2l, 3),
            op32h: both(d.op32_after_op2h, 3),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mpy32 {
    latency: Latency,
    op1: u32,
    op2: u32,
    ctl0: u16,
    res: u64,
    /// The result before OP2L, which OP2H completes.
    res_before: u64,
    carry_before: bool,
    sumext: u16,
    /// When the operation began (OP2 or OP2L was written).
    begun: Cycles,
    /// From when on each result may be read, counted from `begun`.
    wait: Columns,
    wide: bool,
}

impl Mpy32 {
    pub fn new(d: &device::Mpy32) -> Self {
        Self { latency: Latency::of(d), wide: true, ..Self::default() }
    }

    /// The multiplier of the MSP430x1xx, which has the registers up to SUMEXT and no others.
    pub fn sixteen(after_op2: [u8; 5]) -> Self {
        let d = device::Mpy32 {
            op16_after_op2: after_op2,
            op1_32_after_op2: after_op2,
            op2_32_after_op2l: after_op2,
            op2_32_after_op2h: after_op2,
            op32_after_op2l: after_op2,
            op32_after_op2h: after_op2,
            source: String::new(),
            recalled: false,
            assumed: None,
        };
        Self::new(&d)
    }

    /// Another operation begins at `at`; answers true if it comes before the results of the one before.
    pub fn abandon(&mut self, at: Cycles) -> bool {
        let early = at < self.ready(3);
        if early {
            self.wait = [0; 8];
        }
        early
    }

    pub fn reset(&mut self) {
        // Results and operands keep their values over a reset; only the control bits are defined.
        self.ctl0 &= !(MPYFRAC | MPYSAT | MPYDLYWRTEN | MPYDLY32);
    }

    #[inline]
    fn ready(&self, column: usize) -> Cycles {
        self.begun + Cycles::from(self.wait[column])
    }

    fn signed(&self) -> bool {
        self.ctl0 & MPYM_1 != 0
    }

    /// The result as the result registers show it, under MPYFRAC and MPYSAT.
    fn visible(&self) -> u64 {
        if self.ctl0 & (MPYFRAC | MPYSAT) == 0 {
            return self.res;
        }
        let bits = if self.wide { 64 } else { 32 };
        let top = 1u64 << (bits - 1);
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let res = self.res & mask;
        let carry = self.ctl0 & MPYC != 0;
        let frac = self.ctl0 & MPYFRAC != 0;
        let shown = if frac { res << 1 & mask } else { res };
        if self.ctl0 & MPYSAT == 0 {
            return shown | (self.res & !mask);
        }
        if !self.signed() {
            return if carry || (frac && res & top != 0) { mask } else { shown };
        }
        // MPYC is the sign; a fractional result must also agree in the bit that moves up to the sign.
        let agree = |bit: u64| (res & bit != 0) == carry;
        if agree(top) && (!frac || agree(top >> 1)) {
            shown
        } else if carry {
            top
        } else {
            top - 1
        }
    }

    #[inline]
    fn read_word(&mut self, word: usize, cx_at: Cycles) -> (u16, bool) {
        let early = cx_at < self.ready(word);
        ((self.visible() >> (16 * word)) as u16, early)
    }

    /// Like [`read`](Self::read), for an access that needs nothing else: the hot path.
    #[inline]
    pub fn read_fast(&self, off: u32, at: Cycles) -> Option<u16> {
        let word = match off {
            RESLO | RESHI => ((off - RESLO) / 2) as usize,
            RES0..=RES3 => ((off - RES0) / 2) as usize,
            SUMEXT if at >= self.ready(CARRY) => return Some(self.sumext),
            _ => return None,
        };
        if at < self.ready(word) || (word >= 2 && !self.wide) || self.ctl0 & (MPYFRAC | MPYSAT) != 0
        {
            return None;
        }
        Some((self.res >> (16 * word)) as u16)
    }

    /// A word write that needs nothing else: the hot path, without what is rare on it. Answers what it counts as.
    #[inline(always)]
    pub fn write_fast(&mut self, off: u32, value: u16, at: Cycles) -> Option<Option<Event>> {
        let wide = matches!(off, OP2L | OP2H) || off == OP2 && self.ctl0 & MPYOP1_32 != 0;
        if wide && self.signed() {
            return None;
        }
        self.write_word(off, value, at)
    }

    #[inline(always)]
    fn write_word(&mut self, off: u32, value: u16, at: Cycles) -> Option<Option<Event>> {
        let value = u32::from(value);
        // Questions one by one, not a jump by `off`: it would go elsewhere with each write.
        let asked = |registers: u64| registers >> (off & 63) & 1 != 0;
        if asked(OP1_WIDE) {
            let mode = (off as u16 & 0xC) << 2;
            self.ctl0 = (self.ctl0 & !MPYM) | mode | MPYOP1_32;
            self.op1 = if off & 2 == 0 {
                (self.op1 & 0xFFFF_0000) | value
            } else {
                (self.op1 & 0xFFFF) | value << 16
            };
        } else if off == OP2L && at >= self.ready(3) {
            self.ctl0 |= MPYOP2_32;
            self.op2 = value;
            self.res_before = self.res;
            self.carry_before = self.ctl0 & MPYC != 0;
            self.half(at);
        } else if off == OP2H {
            self.op2 = (self.op2 & 0xFFFF) | value << 16;
            self.ctl0 |= MPYOP2_32;
            self.res = self.res_before;
            return Some(Some(self.finish(at)));
        } else if asked(OP1_NARROW) {
            let mode = (off as u16 & 6) << 3;
            self.ctl0 = (self.ctl0 & !(MPYM | MPYOP1_32)) | mode;
            self.op1 = (self.op1 & 0xFFFF_0000) | value;
        } else if off == OP2 && at >= self.ready(3) {
            self.ctl0 &= !MPYOP2_32;
            self.op2 = value;
            return Some(Some(self.start(at)));
        } else if asked(RESULTS) {
            self.set_result((off - RES0) / 2, value as u16);
            // The accumulator is now 64 bits of the program's own making.
            self.wide = true;
        } else if matches!(off, RESLO | RESHI) {
            self.set_result((off - RESLO) / 2, value as u16);
        } else {
            return None;
        }
        Some(None)
    }

    #[inline]
    fn set_result(&mut self, word: u32, value: u16) {
        let shift = 16 * word;
        self.res = (self.res & !(0xFFFF << shift)) | u64::from(value) << shift;
        self.wait[word as usize] = 0;
    }

    #[inline]
    fn begin(&mut self, at: Cycles, columns: [Columns; 2]) {
        self.begun = at;
        self.wait = columns[usize::from(self.ctl0 & MPYSAT != 0)];
    }

    #[inline]
    fn start(&mut self, at: Cycles) -> Event {
        if self.ctl0 & MPYOP1_32 == 0 {
            self.begin(at, self.latency.op16);
            self.op16();
            Event::MpyOp16
        } else {
            self.begin(at, self.latency.op1_32);
            let op2 = if self.signed() { self.op2 as u16 as i16 as i32 as u32 } else { self.op2 };
            self.op32(self.op1, op2);
            Event::MpyOp32
        }
    }

    /// OP2L is written: the low words of the product are known, the rest waits for OP2H.
    fn half(&mut self, at: Cycles) {
        let l = &self.latency;
        self.begin(at, if self.ctl0 & MPYOP1_32 == 0 { l.op2_32l } else { l.op32l });
        self.op32(self.extended_op1(), self.op2);
    }

    fn finish(&mut self, at: Cycles) -> Event {
        let l = &self.latency;
        let columns = if self.ctl0 & MPYOP1_32 == 0 { l.op2_32h } else { l.op32h };
        let saturates = self.ctl0 & MPYSAT != 0;
        let columns = columns[usize::from(saturates)];
        // Whichever of the two operand halves came too late decides; RES0, as it is, needs the low one only.
        // An operation that was delayed may yet have to begin.
        let since = at.saturating_sub(self.begun).min(64) as u8;
        if since == 64 {
            self.begun = at - 64;
        }
        let low = self.wait[0];
        for (wait, high) in self.wait.iter_mut().zip(columns) {
            *wait = (*wait).max(since + high);
        }
        if !saturates {
            self.wait[0] = low;
        }
        self.ctl0 = (self.ctl0 & !MPYC) | u16::from(self.carry_before);
        self.op32(self.extended_op1(), self.op2);
        Event::MpyOp32
    }

    fn extended_op1(&self) -> u32 {
        match (self.ctl0 & MPYOP1_32 != 0, self.signed()) {
            (true, _) => self.op1,
            (false, true) => self.op1 as u16 as i16 as i32 as u32,
            (false, false) => self.op1 & 0xFFFF,
        }
    }

    fn set_carry(&mut self, carry: bool) {
        self.ctl0 = (self.ctl0 & !MPYC) | u16::from(carry);
    }

    fn op16(&mut self) {
        self.wide = false;
        let (a, b) = (self.op1 as u16, self.op2 as u16);
        let accumulate = self.ctl0 & MPYM_2 != 0;
        if self.signed() {
            let acc = if accumulate { i64::from(self.res as u32 as i32) } else { 0 };
            let sum = acc + i64::from(a as i16) * i64::from(b as i16);
            self.set_carry(sum < 0);
            self.sumext = if accumulate { ((sum as i32) >> 31) as u16 } else { (sum >> 63) as u16 };
            self.res = sum as u64;
            if accumulate {
                self.res = (sum as u32 as i32) as i64 as u64;
            }
        } else {
            let acc = if accumulate { self.res & 0xFFFF_FFFF } else { 0 };
            let sum = acc + u64::from(a) * u64::from(b);
            let carry = sum >> 32 != 0;
            self.set_carry(carry);
            self.sumext = u16::from(carry);
            self.res = sum & 0xFFFF_FFFF;
        }
    }

    fn op32(&mut self, a: u32, b: u32) {
        self.wide = true;
        let accumulate = self.ctl0 & MPYM_2 != 0;
        if self.signed() {
            let product = i128::from(a as i32) * i128::from(b as i32);
            let acc = if accumulate { i128::from(self.res as i64) } else { 0 };
            let sum = acc + product;
            self.set_carry(sum < 0);
            self.res = sum as u64;
            self.sumext = ((self.res as i64) >> 63) as u16;
        } else {
            let product = u64::from(a) * u64::from(b);
            let acc = if accumulate { self.res } else { 0 };
            let (sum, carry) = acc.overflowing_add(product);
            self.set_carry(carry);
            self.res = sum;
            self.sumext = u16::from(carry);
        }
    }
}

impl Block for Mpy32 {
    const TAINT: Follow = Follow::Multiplier { bytes: MPY_BYTES };
    const QUIET: bool = true;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            RESLO | RESHI => {
                let (v, early) = self.read_word(((off - RESLO) / 2) as usize, cx.at);
                if early {
                    cx.lint(LintKind::EarlyMpyRead);
                }
                v
            }
            RES0..=RES3 => {
                let word = ((off - RES0) / 2) as usize;
                let (v, early) = self.read_word(word, cx.at);
                if early {
                    cx.lint(LintKind::EarlyMpyRead);
                } else if word >= 2 && !self.wide {
                    cx.lint(LintKind::Mpy16HighWords);
                }
                v
            }
            SUMEXT => {
                if cx.at < self.ready(CARRY) {
                    cx.lint(LintKind::EarlyMpyRead);
                }
                self.sumext
            }
            MPY32CTL0 => {
                if cx.at < self.ready(CARRY) {
                    cx.lint(LintKind::EarlyMpyRead);
                }
                self.ctl0
            }
            MPY..=MACS => self.op1 as u16,
            MPY32L..=MACS32H if off & 2 == 0 => self.op1 as u16,
            MPY32L..=MACS32H => (self.op1 >> 16) as u16,
            OP2 | OP2L => self.op2 as u16,
            OP2H => (self.op2 >> 16) as u16,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let mut value = value;
        if off != MPY32CTL0 && mask == 0xFF00 {
            return Err(cx.refuse("byte write to the high byte of a multiplier register; write the low byte or the word"));
        }
        if mask == 0x00FF && off <= OP2H {
            // A byte operand is extended by the mode of the register it is written to.
            let signed = match off {
                MPY..=MACS => off & 2 != 0,
                MPY32L..=MACS32H => off & 4 != 0,
                _ => self.signed(),
            };
            value = if signed { value as u8 as i8 as u16 } else { value & 0xFF };
        }
        if mask == 0x00FF && matches!(off, RESLO | RESHI | RES0..=RES3) {
            let word = if off < RES0 { (off - RESLO) / 2 } else { (off - RES0) / 2 };
            value = merge((self.res >> (16 * word)) as u16, value, mask);
        }
        let mut at = cx.at;
        if matches!(off, OP2 | OP2L) && at < self.ready(3) {
            if self.ctl0 & MPYDLYWRTEN != 0 {
                // MPYDLY32 = 0: until RES3 is there, 1: until RES1 is (TI's register description, MPY32CTL0). The
                // CPU goes on.
                at = at.max(self.ready(if self.ctl0 & MPYDLY32 == 0 { 3 } else { 1 }));
            } else {
                cx.lint(LintKind::MpyOverlap);
            }
            self.wait = [0; 8];
        }
        if let Some(event) = self.write_word(off, value, at) {
            if let Some(event) = event {
                cx.accounts.count(event);
            }
            return Ok(());
        }
        match off {
            SUMEXT => return Err(cx.refuse("write to SUMEXT, which is read-only")),
            MPY32CTL0 => {
                self.ctl0 = merge(self.ctl0, value, mask);
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn forget(&mut self, noise: u64) {
        let word = |n: u64| splitmix64(noise ^ 0x6D70_7933 ^ n << 32);
        *self = Self {
            latency: self.latency,
            op1: word(0) as u32,
            op2: word(1) as u32,
            ctl0: word(2) as u16 & (MPYC | MPYM | MPYOP1_32 | MPYOP2_32),
            res: word(3),
            res_before: word(4),
            carry_before: word(5) & 1 != 0,
            sumext: word(6) as u16,
            begun: 0,
            wait: [0; 8],
            wide: true,
        };
    }
}
