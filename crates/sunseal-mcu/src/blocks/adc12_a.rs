// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC12_A: sample, convert, sequence; software start.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::{Block, Ctx, Reset, merge};
use crate::clock::{Clocks, Line};
use crate::instruments::lint::LintKind;
use crate::instruments::taint::Follow;

const CTL0: u32 = 0x00;
const CTL1: u32 = 0x02;
const CTL2: u32 = 0x04;
const IFG: u32 = 0x0A;
const IE: u32 = 0x0C;
const IV: u32 = 0x0E;
const MCTL0: u32 = 0x10;
const MEM0: u32 = 0x20;

const ADC12SC: u16 = 0x0001;
const ADC12ENC: u16 = 0x0002;
const ADC12TOVIE: u16 = 0x0004;
const ADC12OVIE: u16 = 0x0008;
const ADC12ON: u16 = 0x0010;
const ADC12REFON: u16 = 0x0020;
const ADC12REF2_5V: u16 = 0x0040;
const ADC12MSC: u16 = 0x0080;
/// Bits of CTL0 that may change while ENC is set.
const ALWAYS: u16 = ADC12SC | ADC12ENC | ADC12TOVIE | ADC12OVIE;

const ADC12BUSY: u16 = 0x0001;
const CONSEQ: u16 = 0x0006;
const ADC12SSEL: u16 = 0x0018;
const ADC12DIV: u16 = 0x00E0;
const ADC12SHP: u16 = 0x0200;
const ADC12SHS: u16 = 0x0C00;
const CSTARTADD: u16 = 0xF000;

const ADC12RES: u16 = 0x0030;
const ADC12DF: u16 = 0x0008;
const ADC12PDIV: u16 = 0x0100;

const EOS: u8 = 0x80;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Conversion {
    mem: u8,
    sample_end: u128,
    done: u128,
}

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    running: Option<Conversion>,
    next: u8,
    timing: Timing,
}

/// ADC12CLK cycles of a device's converter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        Self {
            timing,
            ctl0: 0,
            ctl1: 0,
            ctl2: 0x0020,
            ifg: 0,
            ie: 0,
            mctl: [0; 16],
            mem: [0; 16],
            overflow: false,
            time_overflow: false,
            running: None,
            next: 0,
        }
    }

    pub fn reset(&mut self) {
        // Conversion memory keeps its contents.
        *self = Self { mem: self.mem, ..Self::with(self.timing.clone()) };
    }

    pub fn busy(&self) -> bool {
        self.running.is_some()
    }

    /// The reference that CTL0 asks for while REFMSTR is 0.
    pub fn reference(&self) -> (bool, u8) {
        (self.ctl0 & ADC12REFON != 0, if self.ctl0 & ADC12REF2_5V != 0 { 2 } else { 0 })
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.running.map(|c| Picos(c.done)).filter(|t| *t != Picos::MAX)
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> &'a Line {
        match self.ctl1 & ADC12SSEL {
            0x00 => &clocks.modosc,
            0x08 => &clocks.aclk,
            0x10 => &clocks.mclk,
            _ => &clocks.smclk,
        }
    }

    fn bits(&self) -> u32 {
        8 + 2 * u32::from((self.ctl2 & ADC12RES) >> 4).min(2)
    }

    fn start(&mut self, from: Picos, cx: &Ctx<'_>) -> Result<(), Fault> {
        if self.ctl0 & ADC12ON == 0 {
            return Err(cx.refuse("conversion started while ADC12ON is clear"));
        }
        if self.ctl1 & ADC12SHP == 0 {
            return Err(cx.refuse("extended sample mode (ADC12SHP = 0) is not modelled"));
        }
        let mem = self.next;
        let divider = u64::from((self.ctl1 & ADC12DIV) >> 5) + 1;
        let divider = divider * if self.ctl2 & ADC12PDIV != 0 { 4 } else { 1 };
        let sht = if mem < 8 { self.ctl0 >> 8 & 15 } else { self.ctl0 >> 12 };
        let sample = u64::from(self.timing.sample[usize::from(sht)]);
        // One cycle per bit and one to begin: 13 for 12 bits.
        let convert = u64::from(self.timing.convert - (self.timing.bits - self.bits()));
        let line = self.line(cx.clocks);
        let first = line.tick_not_before(from);
        self.running = Some(Conversion {
            mem,
            sample_end: line.time_of(first + sample * divider).0,
            done: line.time_of(first + (sample + convert) * divider).0,
        });
        Ok(())
    }

    /// The conversion that is over, if one is.
    pub fn take_sample(&mut self, now: Picos) -> Option<Sample> {
        let c = self.running.take_if(|c| c.done <= now.0)?;
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
        let top_v = match s.sref {
            0 => cx.vcc_v,
            1 => {
                if vref.is_none_or(|(_, settled)| !settled) {
                    cx.lint(LintKind::ReferenceNotReady);
                }
                vref.map_or(0.0, |(v, _)| v)
            }
            _ => {
                return Err(cx.refuse(
                    "conversion against an external reference, which nothing is wired to",
                ));
            }
        };
        let full = (1u32 << self.bits()) - 1;
        let ratio = if top_v > 0.0 { (input_v / top_v).clamp(0.0, 1.0) } else { 1.0 };
        let mut code = (ratio * f64::from(full)).round() as u16;
        if self.ctl2 & ADC12DF != 0 {
            code = code.wrapping_sub(1 << (self.bits() - 1)) << (16 - self.bits());
        }
        let i = usize::from(s.mem);
        if self.ifg & 1 << i != 0 {
            self.overflow = true;
        }
        self.mem[i] = code;
        self.ifg |= 1 << i;
        self.go_on(s.mem, cx)
    }

    fn go_on(&mut self, mem: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
        let conseq = (self.ctl1 & CONSEQ) >> 1;
        let end = conseq & 1 == 0 || self.mctl[usize::from(mem)] & EOS != 0;
        let first = (self.ctl1 >> 12) as u8;
        let again = match (conseq, end) {
            (0, _) => false,
            (1, true) => false,
            (1, false) => true,
            // Repeated modes stop at the end once ENC is clear.
            (_, true) => self.ctl0 & ADC12ENC != 0,
            (_, false) => true,
        };
        self.next = if end { first } else { (mem + 1) & 15 };
        if again && self.ctl0 & ADC12MSC != 0 { self.start(cx.now, cx) } else { Ok(()) }
    }

    /// The flag that triggers a DMA transfer: of the one conversion, or of a sequence's last.
    pub fn dma_flag(&self) -> bool {
        let single = self.ctl1 & CONSEQ & 2 == 0;
        let start = usize::from(self.ctl1 >> 12);
        let ends = |i: &usize| single || self.mctl[*i] & EOS != 0;
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
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            CTL0 => self.ctl0,
            CTL1 => self.ctl1 | if self.busy() { ADC12BUSY } else { 0 },
            CTL2 => self.ctl2,
            IFG => self.ifg,
            IE => self.ie,
            IV => {
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
            MCTL0..MEM0 => {
                let i = (off - MCTL0) as usize;
                u16::from(self.mctl[i]) | u16::from(self.mctl[i + 1]) << 8
            }
            MEM0..0x40 => {
                let i = (off - MEM0) as usize / 2;
                self.ifg &= !(1 << i);
                self.mem[i]
            }
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let enabled = self.ctl0 & ADC12ENC != 0;
        let mut locked = |old: u16, new: u16, free: u16| {
            if enabled && (old ^ new) & !free != 0 {
                cx.lints.report(LintKind::LockedBits, cx.addr, cx.at);
                (old & !free) | (new & free)
            } else {
                new
            }
        };
        match off {
            CTL0 => {
                let new = locked(self.ctl0, merge(self.ctl0, value, mask), ALWAYS);
                let before = self.ctl0;
                self.ctl0 = new & !ADC12SC;
                if new & ADC12ENC == 0 && before & ADC12ENC != 0 && self.ctl1 & CONSEQ == 0 {
                    self.running = None;
                }
                if new & ADC12ENC != 0 && before & ADC12ENC == 0 {
                    self.next = (self.ctl1 >> 12) as u8;
                }
                if new & (ADC12SC | ADC12ENC) == ADC12SC | ADC12ENC {
                    if self.ctl1 & ADC12SHS != 0 {
                        return Err(cx.refuse(
                            "ADC12 triggers other than ADC12SC (ADC12SHS) are not modelled",
                        ));
                    }
                    if self.busy() {
                        self.time_overflow = true;
                    } else {
                        self.start(cx.now, cx)?;
                    }
                }
            }
            CTL1 => {
                self.ctl1 = locked(
                    self.ctl1,
                    merge(self.ctl1, value, mask) & !ADC12BUSY,
                    CONSEQ | CSTARTADD,
                )
            }
            CTL2 => self.ctl2 = locked(self.ctl2, merge(self.ctl2, value, mask), 0),
            IFG => self.ifg = merge(self.ifg, value, mask),
            IE => self.ie = merge(self.ie, value, mask),
            IV => {}
            MCTL0..MEM0 => {
                let i = (off - MCTL0) as usize;
                let old = u16::from_le_bytes([self.mctl[i], self.mctl[i + 1]]);
                let new = locked(old, merge(old, value, mask), 0);
                [self.mctl[i], self.mctl[i + 1]] = new.to_le_bytes();
            }
            MEM0..0x40 => {
                let i = (off - MEM0) as usize / 2;
                self.mem[i] = merge(self.mem[i], value, mask);
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn requests_smclk(&self) -> bool {
        self.busy() && self.ctl1 & ADC12SSEL == 0x18
    }

    fn requests_aclk(&self) -> bool {
        self.busy() && self.ctl1 & ADC12SSEL == 0x08
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn forget(&mut self, _: u64) {
        *self = Self::with(self.timing.clone());
    }

    fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event()
    }

    fn asks(&self, _: usize) -> bool {
        self.pending()
    }

    fn may_ask(&self, _: &Clocks, _: Picos, _: bool) -> bool {
        self.enabled() && self.busy()
    }
}
