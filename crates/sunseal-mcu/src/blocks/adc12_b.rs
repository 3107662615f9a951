// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC12_B (SLAU367P, ADC12_B chapter): sample, convert, sequence, window comparator; software start.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::adc12_b::*;
use sunseal_trace::Picos;

use super::adc12::{self, Sequence};
use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;
use crate::clock::Clocks;

const END: u32 = 0xA0;

/// Bits of CTL0 that may change while ENC is set.
const ALWAYS: u16 = ADC12SC | ADC12ENC;

/// A conversion that is over and wants its input voltage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub channel: u8,
    /// What an inner channel measures instead of a pin.
    pub inner: Option<Inner>,
    pub time: Picos,
    vrsel: u16,
    mem: u8,
}

/// Channels inside the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    Temperature,
    HalfSupply,
}

impl Sample {
    /// Whether it is measured against the built-in reference.
    pub fn uses_reference(&self) -> bool {
        self.vrsel == 1
    }
}

/// ADC12CLK cycles of sampling by ADC12SHTx, and of a conversion at 8, 10 and 12 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AdcCycles {
    pub sample: Vec<u32>,
    pub convert: [u32; 3],
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adc12B {
    cycles: AdcCycles,
    ctl: [u16; 4],
    lo: u16,
    hi: u16,
    /// Flags and enables of the 32 memories.
    ifg: u32,
    ie: u32,
    ifg2: u16,
    ie2: u16,
    mctl: [u16; 32],
    mem: [u16; 32],
    sequence: Sequence,
    /// A conversion was completed, which DMA may wait for.
    pub done: bool,
}

impl Adc12B {
    pub fn new(cycles: AdcCycles) -> Self {
        Self { cycles, ctl: [0, 0, 0x0020, 0], hi: 0x0FFF, ..Self::default() }
    }

    fn fresh(&self) -> Self {
        Self::new(self.cycles.clone())
    }

    pub fn busy(&self) -> bool {
        self.sequence.busy()
    }

    /// Whether the conversions to come are measured against the built-in reference.
    pub fn wants_reference(&self) -> bool {
        self.busy() && self.mctl[usize::from(self.sequence.next)] & ADC12VRSEL == 0x0100
    }

    fn resolution(&self) -> usize {
        usize::from((self.ctl[2] & ADC12RES) >> 4).min(2)
    }

    fn bits(&self) -> u32 {
        8 + 2 * self.resolution() as u32
    }

    fn start(&mut self, from: Picos, cx: &Ctx<'_>) -> Result<(), Fault> {
        Sequence::may_start(self.ctl[0], self.ctl[1], cx)?;
        let mem = self.sequence.next;
        let predivider = [1, 4, 32, 64][usize::from((self.ctl[1] & ADC12PDIV) >> 13)];
        // Memories 8 to 23 have the second sampling time.
        let sht = if (8..24).contains(&mem) { self.ctl[0] >> 12 } else { self.ctl[0] >> 8 & 15 };
        let Some(&sample) = self.cycles.sample.get(usize::from(sht)) else {
            return Err(cx.refuse("ADC12SHTx is reserved above 10"));
        };
        let (sample, convert) =
            (u64::from(sample), u64::from(self.cycles.convert[self.resolution()]));
        self.sequence.start(from, self.ctl[1], predivider, (sample, convert), cx.clocks);
        Ok(())
    }

    /// ADC12SHS: what starts a conversion, 0 for software.
    pub fn trigger_source(&self) -> usize {
        usize::from((self.ctl[1] & ADC12SHS) >> 10)
    }

    /// True if a conversion waits for its trigger.
    pub fn is_armed(&self) -> bool {
        self.trigger_source() != 0 && self.sequence.is_armed(self.ctl[0])
    }

    /// The trigger that ADC12SHS chooses has risen.
    pub fn triggered(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        if !self.is_armed() {
            return Ok(());
        }
        if self.busy() {
            self.ifg2 |= ADC12TOVIFG;
            return Ok(());
        }
        self.start(cx.now, cx)
    }

    /// Channels of the conversions that are asked for: one, or a sequence.
    pub fn channels(&self) -> Vec<u8> {
        let first = usize::from(self.first());
        let alone = self.ctl[1] & ADC12CONSEQ & 2 == 0;
        let mut channels = Vec::new();
        for i in (first..32).chain(0..first) {
            channels.push((self.mctl[i] & ADC12INCH) as u8);
            if alone || self.mctl[i] & ADC12EOS != 0 {
                break;
            }
        }
        channels
    }

    /// The conversion that is over, if one is.
    pub fn take_sample(&mut self, now: Picos) -> Option<Sample> {
        let c = self.sequence.take(now)?;
        let mctl = self.mctl[usize::from(c.mem)];
        let channel = (mctl & ADC12INCH) as u8;
        let inner = match channel {
            30 if self.ctl[3] & ADC12TCMAP != 0 => Some(Inner::Temperature),
            31 if self.ctl[3] & ADC12BATMAP != 0 => Some(Inner::HalfSupply),
            _ => None,
        };
        Some(Sample {
            channel,
            inner,
            time: Picos(c.sample_end),
            vrsel: (mctl & ADC12VRSEL) >> 8,
            mem: c.mem,
        })
    }

    /// Stores the result of `sample` and goes on with the sequence. `vref` is the internal
    /// reference with its soundness, if it is on.
    pub fn finish(
        &mut self,
        s: Sample,
        input_v: f64,
        vref: Option<(f64, bool)>,
        cx: &mut Ctx<'_>,
    ) -> Result<(), Fault> {
        let top_v = adc12::top_v(s.vrsel, vref, cx)?;
        let i = usize::from(s.mem);
        let mctl = self.mctl[i];
        if mctl & ADC12DIF != 0 {
            return Err(cx.refuse("differential mode of the ADC12_B (ADC12DIF) is not modelled"));
        }
        let code = adc12::code(input_v, top_v, self.bits(), self.ctl[2]);
        if self.ifg & 1 << i != 0 {
            self.ifg2 |= ADC12OVIFG;
        }
        self.mem[i] = code;
        self.ifg |= 1 << i;
        self.done = true;
        if mctl & ADC12WINC != 0 {
            let (low, high) = if self.ctl[2] & ADC12DF != 0 {
                ((code as i16) < self.lo as i16, code as i16 > self.hi as i16)
            } else {
                (code < self.lo, code > self.hi)
            };
            self.ifg2 |= if high {
                ADC12HIIFG
            } else if low {
                ADC12LOIFG
            } else {
                ADC12INIFG
            };
        }
        self.go_on(s.mem, cx)
    }

    fn go_on(&mut self, mem: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
        let ends = self.mctl[usize::from(mem)] & ADC12EOS != 0;
        let first = self.first();
        if self.sequence.go_on((self.ctl[0], self.ctl[1]), mem, ends, first, 31) {
            self.start(cx.now, cx)
        } else {
            Ok(())
        }
    }

    /// The memory that a sequence begins with.
    fn first(&self) -> u8 {
        (self.ctl[3] & ADC12CSTARTADD) as u8
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.ie != 0 || self.ie2 != 0
    }

    pub fn pending(&self) -> bool {
        self.ie & self.ifg != 0 || self.ie2 & self.ifg2 != 0
    }

    fn vector(&mut self) -> u16 {
        let on = self.ie2 & self.ifg2;
        let first = [
            (ADC12OVIFG, 2),
            (ADC12TOVIFG, 4),
            (ADC12HIIFG, 6),
            (ADC12LOIFG, 8),
            (ADC12INIFG, 0xA),
        ];
        if let Some((flag, code)) = first.into_iter().find(|(flag, _)| on & flag != 0) {
            self.ifg2 &= !flag;
            return code;
        }
        // The flags of the memories stay until the memory is read.
        match self.ie & self.ifg {
            0 if on & ADC12RDYIFG != 0 => {
                self.ifg2 &= !ADC12RDYIFG;
                0x4C
            }
            0 => 0,
            pending => 0xC + 2 * pending.trailing_zeros() as u16,
        }
    }
}

impl Block for Adc12B {
    adc12::block!();

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            ADC12CTL1 => self.ctl[1] | if self.busy() { ADC12BUSY } else { 0 },
            ADC12CTL0 | ADC12CTL2 | ADC12CTL3 => self.ctl[(off / 2) as usize],
            ADC12LO => self.lo,
            ADC12HI => self.hi,
            ADC12IFGR0 => self.ifg as u16,
            0x0E => (self.ifg >> 16) as u16,
            ADC12IFGR2 => self.ifg2,
            ADC12IER0 => self.ie as u16,
            0x14 => (self.ie >> 16) as u16,
            ADC12IER2 => self.ie2,
            ADC12IV => self.vector(),
            ADC12MCTL0..ADC12MEM0 => self.mctl[((off - ADC12MCTL0) / 2) as usize],
            ADC12MEM0..END => {
                let i = ((off - ADC12MEM0) / 2) as usize;
                self.ifg &= !(1 << i);
                self.mem[i]
            }
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let enabled = self.ctl[0] & ADC12ENC != 0;
        let half = |old: u32, high: bool| {
            let shift = if high { 16 } else { 0 };
            let new = merge((old >> shift) as u16, value, mask);
            old & !(0xFFFF << shift) | u32::from(new) << shift
        };
        match off {
            ADC12CTL0 => {
                let new = adc12::locked(
                    enabled,
                    self.ctl[0],
                    merge(self.ctl[0], value, mask),
                    ALWAYS,
                    cx,
                );
                let before = self.ctl[0];
                self.ctl[0] = new & !ADC12SC;
                let first = self.first();
                let started = self.sequence.controlled(before, new, self.ctl[1], first);
                let source = self.trigger_source();
                if adc12::by_software((before, new), started, source, cx)? {
                    if self.busy() {
                        self.ifg2 |= ADC12TOVIFG;
                    } else {
                        self.start(cx.now, cx)?;
                    }
                }
            }
            ADC12CTL1 => {
                let new = merge(self.ctl[1], value, mask) & !ADC12BUSY;
                self.ctl[1] = adc12::locked(enabled, self.ctl[1], new, ADC12CONSEQ, cx);
            }
            ADC12CTL2 => {
                self.ctl[2] =
                    adc12::locked(enabled, self.ctl[2], merge(self.ctl[2], value, mask), 0, cx)
            }
            ADC12CTL3 => {
                self.ctl[3] =
                    adc12::locked(enabled, self.ctl[3], merge(self.ctl[3], value, mask), 0, cx)
            }
            ADC12LO => self.lo = merge(self.lo, value, mask),
            ADC12HI => self.hi = merge(self.hi, value, mask),
            ADC12IFGR0 => self.ifg = half(self.ifg, false),
            0x0E => self.ifg = half(self.ifg, true),
            ADC12IFGR2 => self.ifg2 = merge(self.ifg2, value, mask) & 0x007E,
            ADC12IER0 => self.ie = half(self.ie, false),
            0x14 => self.ie = half(self.ie, true),
            ADC12IER2 => self.ie2 = merge(self.ie2, value, mask) & 0x007E,
            ADC12IV => {}
            ADC12MCTL0..ADC12MEM0 => {
                let i = ((off - ADC12MCTL0) / 2) as usize;
                self.mctl[i] =
                    adc12::locked(enabled, self.mctl[i], merge(self.mctl[i], value, mask), 0, cx);
            }
            ADC12MEM0..END => {
                let i = ((off - ADC12MEM0) / 2) as usize;
                self.mem[i] = merge(self.mem[i], value, mask);
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn requests_smclk(&self) -> bool {
        self.sequence.requests_smclk(self.ctl[1])
    }

    fn requests_aclk(&self) -> bool {
        self.sequence.requests_aclk(self.ctl[1])
    }

    fn trigger(name: &str) -> Option<u8> {
        name.is_empty().then_some(0)
    }

    fn triggers(&self, _: u8) -> bool {
        self.done
    }
}
