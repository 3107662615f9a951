// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC12_A: sample, convert, sequence; software start.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430x5xx::adc12_a::{
    ADC12BUSY, ADC12CONSEQ, ADC12CSTARTADD, ADC12CTL0, ADC12CTL1, ADC12CTL2, ADC12ENC, ADC12EOS,
    ADC12IE, ADC12IFG, ADC12IV, ADC12MCTL0, ADC12MEM0, ADC12OVIE, ADC12PDIV, ADC12REF2_5V,
    ADC12REFON, ADC12RES, ADC12SC, ADC12SHS, ADC12TOVIE,
};
use sunseal_trace::Picos;

use super::adc12::{self, Sequence};
use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;
use crate::clock::Clocks;

/// Bits of CTL0 that may change while ENC is set.
const ALWAYS: u16 = ADC12SC | ADC12ENC | ADC12TOVIE | ADC12OVIE;

/// A conversion that is over and wants its input voltage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub channel: u8,
    pub time: Picos,
    sref: u8,
    mem: u8,
}

impl Sample {
    /// Whether it is measured against the built-in reference.
    pub fn uses_reference(&self) -> bool {
        self.sref == 1
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adc12A {
    ctl0: u16,
    ctl1: u16,
    ctl2: u16,
    ifg: u16,
    ie: u16,
    mctl: [u8; 16],
    mem: [u16; 16],
    overflow: bool,
    time_overflow: bool,
    sequence: Sequence,
    timing: Timing,
}

/// ADC12CLK cycles of a device's converter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Timing {
    sample: [u32; 16],
    /// Of a conversion of full width, and that width.
    convert: u32,
    bits: u32,
}

impl Adc12A {
    /// # Panics
    /// Unless there are 16 sample times; device data are checked for that.
    pub fn new(sample_cycles: &[u32], convert: u32, bits: u32) -> Self {
        let sample = sample_cycles.try_into().expect("a device's sample times were counted");
        Self::with(Timing { sample, convert, bits })
    }

    fn with(timing: Timing) -> Self {
        Self { timing, ctl2: 0x0020, ..Self::default() }
    }

    fn fresh(&self) -> Self {
        Self::with(self.timing.clone())
    }

    pub fn busy(&self) -> bool {
        self.sequence.busy()
    }

    /// The reference that CTL0 asks for while REFMSTR is 0.
    pub fn reference(&self) -> (bool, u8) {
        (self.ctl0 & ADC12REFON != 0, if self.ctl0 & ADC12REF2_5V != 0 { 2 } else { 0 })
    }

    fn bits(&self) -> u32 {
        8 + 2 * u32::from((self.ctl2 & ADC12RES) >> 4).min(2)
    }

    fn start(&mut self, from: Picos, cx: &Ctx<'_>) -> Result<(), Fault> {
        Sequence::may_start(self.ctl0, self.ctl1, cx)?;
        let mem = self.sequence.next;
        let predivider = if self.ctl2 & ADC12PDIV != 0 { 4 } else { 1 };
        let sht = if mem < 8 { self.ctl0 >> 8 & 15 } else { self.ctl0 >> 12 };
        let sample = u64::from(self.timing.sample[usize::from(sht)]);
        // One cycle per bit and one to begin: 13 for 12 bits.
        let convert = u64::from(self.timing.convert - (self.timing.bits - self.bits()));
        self.sequence.start(from, self.ctl1, predivider, (sample, convert), cx.clocks);
        Ok(())
    }

    /// ADC12SHS: what starts a conversion, 0 for software.
    pub fn trigger_source(&self) -> usize {
        usize::from((self.ctl1 & ADC12SHS) >> 10)
    }

    /// True if a conversion waits for its trigger.
    pub fn is_armed(&self) -> bool {
        self.trigger_source() != 0 && self.sequence.is_armed(self.ctl0)
    }

    /// The trigger that ADC12SHS chooses has risen.
    pub fn triggered(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        if !self.is_armed() {
            return Ok(());
        }
        if self.busy() {
            self.time_overflow = true;
            return Ok(());
        }
        self.start(cx.now, cx)
    }

    /// Channels of the conversions that are asked for: one, or a sequence.
    pub fn channels(&self) -> Vec<u8> {
        let first = usize::from(self.first());
        let alone = self.ctl1 & ADC12CONSEQ & 2 == 0;
        let mut channels = Vec::new();
        for i in (first..16).chain(0..first) {
            channels.push(self.mctl[i] & 15);
            if alone || u16::from(self.mctl[i]) & ADC12EOS != 0 {
                break;
            }
        }
        channels
    }

    /// The conversion that is over, if one is.
    pub fn take_sample(&mut self, now: Picos) -> Option<Sample> {
        let c = self.sequence.take(now)?;
        let mctl = self.mctl[usize::from(c.mem)];
        Some(Sample {
            channel: mctl & 15,
            time: Picos(c.sample_end),
            sref: mctl >> 4 & 7,
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
        let top_v = adc12::top_v(u16::from(s.sref), vref, cx)?;
        let code = adc12::code(input_v, top_v, self.bits(), self.ctl2);
        let i = usize::from(s.mem);
        if self.ifg & 1 << i != 0 {
            self.overflow = true;
        }
        self.mem[i] = code;
        self.ifg |= 1 << i;
        self.go_on(s.mem, cx)
    }

    fn go_on(&mut self, mem: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
        let ends = u16::from(self.mctl[usize::from(mem)]) & ADC12EOS != 0;
        let first = self.first();
        if self.sequence.go_on((self.ctl0, self.ctl1), mem, ends, first, 15) {
            self.start(cx.now, cx)
        } else {
            Ok(())
        }
    }

    /// The memory that a sequence begins with.
    fn first(&self) -> u8 {
        (self.ctl1 >> 12) as u8
    }

    /// The flag that triggers a DMA transfer: of the one conversion, or of a sequence's last.
    pub fn dma_flag(&self) -> bool {
        let single = self.ctl1 & ADC12CONSEQ & 2 == 0;
        let start = usize::from(self.ctl1 >> 12);
        let ends = |i: &usize| single || u16::from(self.mctl[*i]) & ADC12EOS != 0;
        (start..16).chain(0..start).find(ends).is_some_and(|i| self.ifg & 1 << i != 0)
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.ie != 0 || self.ctl0 & (ADC12OVIE | ADC12TOVIE) != 0
    }

    pub fn pending(&self) -> bool {
        self.ie & self.ifg != 0
            || (self.overflow && self.ctl0 & ADC12OVIE != 0)
            || (self.time_overflow && self.ctl0 & ADC12TOVIE != 0)
    }
}

impl Block for Adc12A {
    adc12::block!();

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            ADC12CTL0 => self.ctl0,
            ADC12CTL1 => self.ctl1 | if self.busy() { ADC12BUSY } else { 0 },
            ADC12CTL2 => self.ctl2,
            ADC12IFG => self.ifg,
            ADC12IE => self.ie,
            ADC12IV => {
                if self.overflow && self.ctl0 & ADC12OVIE != 0 {
                    self.overflow = false;
                    2
                } else if self.time_overflow && self.ctl0 & ADC12TOVIE != 0 {
                    self.time_overflow = false;
                    4
                } else {
                    let pending = self.ie & self.ifg;
                    if pending == 0 { 0 } else { 6 + 2 * pending.trailing_zeros() as u16 }
                }
            }
            ADC12MCTL0..ADC12MEM0 => {
                let i = (off - ADC12MCTL0) as usize;
                u16::from(self.mctl[i]) | u16::from(self.mctl[i + 1]) << 8
            }
            ADC12MEM0..0x40 => {
                let i = (off - ADC12MEM0) as usize / 2;
                self.ifg &= !(1 << i);
                self.mem[i]
            }
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let enabled = self.ctl0 & ADC12ENC != 0;
        match off {
            ADC12CTL0 => {
                let new =
                    adc12::locked(enabled, self.ctl0, merge(self.ctl0, value, mask), ALWAYS, cx);
                let before = self.ctl0;
                self.ctl0 = new & !ADC12SC;
                let first = self.first();
                let started = self.sequence.controlled(before, new, self.ctl1, first);
                let source = self.trigger_source();
                if adc12::by_software((before, new), started, source, cx)? {
                    if self.busy() {
                        self.time_overflow = true;
                    } else {
                        self.start(cx.now, cx)?;
                    }
                }
            }
            ADC12CTL1 => {
                self.ctl1 = adc12::locked(
                    enabled,
                    self.ctl1,
                    merge(self.ctl1, value, mask) & !ADC12BUSY,
                    ADC12CONSEQ | ADC12CSTARTADD,
                    cx,
                )
            }
            ADC12CTL2 => {
                self.ctl2 = adc12::locked(enabled, self.ctl2, merge(self.ctl2, value, mask), 0, cx)
            }
            ADC12IFG => self.ifg = merge(self.ifg, value, mask),
            ADC12IE => self.ie = merge(self.ie, value, mask),
            ADC12IV => {}
            ADC12MCTL0..ADC12MEM0 => {
                let i = (off - ADC12MCTL0) as usize;
                let old = u16::from_le_bytes([self.mctl[i], self.mctl[i + 1]]);
                let new = adc12::locked(enabled, old, merge(old, value, mask), 0, cx);
                [self.mctl[i], self.mctl[i + 1]] = new.to_le_bytes();
            }
            ADC12MEM0..0x40 => {
                let i = (off - ADC12MEM0) as usize / 2;
                self.mem[i] = merge(self.mem[i], value, mask);
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn requests_smclk(&self) -> bool {
        self.sequence.requests_smclk(self.ctl1)
    }

    fn requests_aclk(&self) -> bool {
        self.sequence.requests_aclk(self.ctl1)
    }
}
