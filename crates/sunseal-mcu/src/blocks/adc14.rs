// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC14: single channels and sequences on software's trigger (SLAU356I chapter 22).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::adc14::*;
use sunseal_trace::Picos;

use super::wide::{Block, Cx, Lines, P4, merge};
use crate::clock::Line;
use crate::device::Msp432;
use crate::lint::LintKind;

const CELLS: u32 = 32;

/// A sample that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub time: Picos,
    pub channel: u8,
    /// The channel is the half supply, or the temperature sensor.
    pub inside: Option<Inside>,
    pub reference: Reference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    HalfSupply,
    Temperature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Supply,
    RefA,
    Outside,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adc14 {
    ctl0: u32,
    ctl1: u32,
    lo_hi: [u32; 4],
    mctl: Vec<u32>,
    mem: Vec<u16>,
    ier: [u32; 2],
    ifgr: [u32; 2],
    /// The cell that is being converted, when its sample ends, when its conversion ends.
    running: Option<(u8, u128, u128)>,
    sampled: bool,
    result: u16,
    /// Cells filled since they were last read by DMA.
    pub filled: u32,
}

impl Adc14 {
    pub fn new() -> Self {
        Self {
            ctl1: 0x30,
            lo_hi: [0, 0x3FFF, 0, 0x3FFF],
            mctl: vec![0; CELLS as usize],
            mem: vec![0; CELLS as usize],
            ..Self::default()
        }
    }

    pub fn busy(&self) -> bool {
        self.running.is_some()
    }

    fn line<'a>(&self, clocks: &'a Lines) -> &'a Line {
        match (self.ctl0 & ADC14SSEL) >> 19 {
            0 => &clocks.base.modosc,
            1 => &clocks.sysosc,
            2 => &clocks.base.aclk,
            3 => &clocks.fclk,
            4 => &clocks.base.smclk,
            _ => &clocks.hsmclk,
        }
    }

    fn divider(&self) -> u64 {
        let pre = [1, 4, 32, 64][(self.ctl0 >> 30 & 3) as usize];
        pre * u64::from((self.ctl0 >> 22 & 7) + 1)
    }

    fn resolution(&self) -> usize {
        (self.ctl1 >> 4 & 3) as usize
    }

    /// Width of a result.
    pub fn bits(&self, dev: &Msp432) -> u32 {
        dev.adc14.bits[self.resolution()]
    }

    fn convert(&mut self, cell: u8, now: Picos, cx: &Cx<'_>) -> Result<(), Fault> {
        let line = self.line(cx.clocks);
        if !line.is_running() {
            return Err(
                cx.refuse("ADC14 started on a clock that is at rest; choose another ADC14SSEL")
            );
        }
        let mctl = self.mctl[usize::from(cell)];
        if mctl & (ADC14DIF | ADC14WINC) != 0 {
            return Err(cx.refuse(
                "differential inputs and window comparators of the ADC14 are not modelled",
            ));
        }
        // The second sample time is that of MEM8 to MEM23.
        let shift = if (8..24).contains(&cell) { 12 } else { 8 };
        let sht = (self.ctl0 >> shift & 0xF) as usize;
        let f = &cx.dev.msp432().adc14;
        let sample = u64::from(f.sample_cycles[sht.min(f.sample_cycles.len() - 1)]);
        let convert = u64::from(f.convert_cycles[self.resolution()]);
        let d = self.divider();
        if f64::from(line.freq_hz()) / d as f64 > f.clock_max_mhz * 1.01e6 {
            return Err(
                cx.refuse(format!("ADC14CLK above {} MHz; raise ADC14DIV", f.clock_max_mhz))
            );
        }
        let start = line.tick_not_before(now);
        self.running = Some((
            cell,
            line.time_of(start + sample * d).0,
            line.time_of(start + (sample + convert) * d).0,
        ));
        self.sampled = false;
        Ok(())
    }

    /// The sample that ends at `t`, if one does.
    pub fn take_sample(&mut self, t: Picos) -> Option<Sample> {
        let (cell, time, _) = self.running.filter(|(_, s, _)| !self.sampled && *s <= t.0)?;
        self.sampled = true;
        let mctl = self.mctl[usize::from(cell)];
        let channel = (mctl & 0x1F) as u8;
        let inside = match channel {
            23 if self.ctl1 & ADC14BATMAP != 0 => Some(Inside::HalfSupply),
            22 if self.ctl1 & ADC14TCMAP != 0 => Some(Inside::Temperature),
            _ => None,
        };
        let reference = match mctl >> 8 & 0xF {
            0 => Reference::Supply,
            1 => Reference::RefA,
            _ => Reference::Outside,
        };
        Some(Sample { time: Picos(time), channel, inside, reference })
    }

    /// The voltage of the sample, against its reference.
    pub fn hold(&mut self, volts: f64, vref: f64, bits: u32) {
        let full = f64::from(1u32 << bits);
        let code = (volts / vref * full).round().clamp(0.0, full - 1.0) as u16;
        self.result = code;
    }

    /// The conversion that ends at `now`, if one does; the next of a sequence begins.
    pub fn event(&mut self, now: Picos, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let Some((cell, _, end)) = self.running.filter(|(.., e)| self.sampled && *e <= now.0)
        else {
            return Ok(());
        };
        self.running = None;
        let i = usize::from(cell);
        let bits = cx.dev.msp432().adc14.bits[self.resolution()];
        self.mem[i] = if self.ctl1 & ADC14DF != 0 {
            // Signed, left aligned.
            (self.result ^ 1 << (bits - 1)) << (16 - bits)
        } else {
            self.result
        };
        if self.ifgr[0] >> i & 1 != 0 {
            self.ifgr[1] |= ADC14OVIFG;
        }
        self.ifgr[0] |= 1 << i;
        self.filled |= 1 << i;
        let conseq = self.ctl0 >> 17 & 3;
        let first = (self.ctl1 >> 16 & 0x1F) as u8;
        let last = conseq & 1 == 0 || self.mctl[i] & ADC14EOS != 0 || cell == 31;
        let next = if last { first } else { cell + 1 };
        let repeats = conseq >= 2 && self.ctl0 & ADC14ENC != 0;
        if self.ctl0 & ADC14MSC != 0 && (!last || repeats) {
            return self.convert(next, Picos(end), cx);
        }
        if !last || repeats {
            return Err(cx.refuse("an ADC14 sequence without ADC14MSC needs a trigger for each conversion, which is not modelled"));
        }
        Ok(())
    }

    fn vector(&mut self) -> u32 {
        if self.ier[1] & self.ifgr[1] & ADC14OVIFG != 0 {
            self.ifgr[1] &= !ADC14OVIFG;
            return 0x02;
        }
        if self.ier[1] & self.ifgr[1] & ADC14RDYIFG != 0 {
            self.ifgr[1] &= !ADC14RDYIFG;
            return 0x0A;
        }
        let on = self.ier[0] & self.ifgr[0];
        if on == 0 {
            return 0;
        }
        let i = on.trailing_zeros();
        self.ifgr[0] &= !(1 << i);
        0x0C + 2 * i
    }
}

impl Block<P4> for Adc14 {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            ADC14CTL0 => self.ctl0 | if self.busy() { ADC14BUSY } else { 0 },
            ADC14CTL1 => self.ctl1,
            0x008..=0x014 => self.lo_hi[(off as usize - 8) / 4],
            _ if (ADC14MCTL0..ADC14MCTL0 + 4 * CELLS).contains(&off) => {
                self.mctl[((off - ADC14MCTL0) / 4) as usize]
            }
            _ if (ADC14MEM0..ADC14MEM0 + 4 * CELLS).contains(&off) => {
                let i = (off - ADC14MEM0) / 4;
                self.ifgr[0] &= !(1 << i);
                self.filled &= !(1 << i);
                u32::from(self.mem[i as usize])
            }
            ADC14IER0 => self.ier[0],
            ADC14IER1 => self.ier[1],
            ADC14IFGR0 => self.ifgr[0],
            ADC14IFGR1 => self.ifgr[1],
            ADC14CLRIFGR0 | ADC14CLRIFGR1 => 0,
            ADC14IV => self.vector(),
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            ADC14CTL0 => {
                let new = merge(self.ctl0, value, mask) & !ADC14BUSY;
                let started = new & ADC14SC != 0;
                if self.ctl0 & ADC14ENC != 0
                    && new & ADC14ENC != 0
                    && (new ^ self.ctl0) & !(ADC14SC | ADC14ENC) != 0
                {
                    // All else is locked while ENC is set.
                    cx.lint(LintKind::LockedBits);
                    self.ctl0 = self.ctl0 & !ADC14ENC | new & ADC14ENC;
                } else {
                    self.ctl0 = new & !ADC14SC;
                }
                if new & ADC14ENC == 0 && self.ctl0 >> 17 & 3 == 0 {
                    // Clearing ENC ends a single conversion at once.
                    self.running = None;
                }
                if started && new & ADC14ENC != 0 && !self.busy() {
                    if new & ADC14ON == 0 {
                        return Err(cx.refuse("ADC14 started while ADC14ON is clear"));
                    }
                    if new & ADC14SHP == 0 || new & ADC14SHS != 0 {
                        return Err(cx.refuse("ADC14 triggers other than ADC14SC, and sampling by level (ADC14SHP = 0), are not modelled"));
                    }
                    let first = (self.ctl1 >> 16 & 0x1F) as u8;
                    self.convert(first, cx.now, cx)?;
                    cx.fx.clocks = true;
                }
            }
            ADC14CTL1 => self.ctl1 = merge(self.ctl1, value, mask),
            0x008..=0x014 => {
                let r = &mut self.lo_hi[(off as usize - 8) / 4];
                *r = merge(*r, value, mask);
            }
            _ if (ADC14MCTL0..ADC14MCTL0 + 4 * CELLS).contains(&off) => {
                let r = &mut self.mctl[((off - ADC14MCTL0) / 4) as usize];
                *r = merge(*r, value, mask);
            }
            _ if (ADC14MEM0..ADC14MEM0 + 4 * CELLS).contains(&off) => {
                let r = &mut self.mem[((off - ADC14MEM0) / 4) as usize];
                *r = merge(u32::from(*r), value, mask) as u16;
            }
            ADC14IER0 => self.ier[0] = merge(self.ier[0], value, mask),
            ADC14IER1 => self.ier[1] = merge(self.ier[1], value, mask) & 0x7E,
            ADC14IFGR0 | ADC14IFGR1 => {}
            ADC14CLRIFGR0 => self.ifgr[0] &= !(value & mask),
            ADC14CLRIFGR1 => self.ifgr[1] &= !(value & mask),
            ADC14IV => {
                self.vector();
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn due(&self, _: &Lines) -> Option<Picos> {
        self.running.map(|(_, sample, end)| Picos(if self.sampled { end } else { sample }))
    }

    fn asks(&mut self) -> u32 {
        u32::from(self.ier[0] & self.ifgr[0] != 0 || self.ier[1] & self.ifgr[1] != 0)
    }

    fn may_ask(&self, _: &Lines) -> bool {
        self.ier != [0; 2] && self.busy()
    }
}
