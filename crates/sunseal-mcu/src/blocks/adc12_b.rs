// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC12_B (SLAU367P, ADC12_B chapter): sample, convert, sequence, window comparator; software start.

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
const CTL3: u32 = 0x06;
const LO: u32 = 0x08;
const HI: u32 = 0x0A;
const IFGR0: u32 = 0x0C;
const IFGR2: u32 = 0x10;
const IER0: u32 = 0x12;
const IER2: u32 = 0x16;
const IV: u32 = 0x18;
const MCTL0: u32 = 0x20;
const MEM0: u32 = 0x60;
const END: u32 = 0xA0;

const ADC12SC: u16 = 0x0001;
const ADC12ENC: u16 = 0x0002;
const ADC12ON: u16 = 0x0010;
const ADC12MSC: u16 = 0x0080;
/// Bits of CTL0 that may change while ENC is set.
const ALWAYS: u16 = ADC12SC | ADC12ENC;

const ADC12BUSY: u16 = 0x0001;
const CONSEQ: u16 = 0x0006;
const ADC12SSEL: u16 = 0x0018;
const ADC12DIV: u16 = 0x00E0;
const ADC12SHP: u16 = 0x0200;
const ADC12SHS: u16 = 0x1C00;
const ADC12PDIV: u16 = 0x6000;

const ADC12DF: u16 = 0x0008;
const ADC12RES: u16 = 0x0030;

const CSTARTADD: u16 = 0x001F;
const BATMAP: u16 = 0x0040;
const TCMAP: u16 = 0x0080;

const INIFG: u16 = 0x0002;
const LOIFG: u16 = 0x0004;
const HIIFG: u16 = 0x0008;
const OVIFG: u16 = 0x0010;
const TOVIFG: u16 = 0x0020;
const RDYIFG: u16 = 0x0040;

const INCH: u16 = 0x001F;
const EOS: u16 = 0x0080;
const VRSEL: u16 = 0x0F00;
const DIF: u16 = 0x2000;
const WINC: u16 = 0x4000;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AdcCycles {
    pub sample: Vec<u32>,
    pub convert: [u32; 3],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    running: Option<Conversion>,
    next: u8,
    /// A conversion was completed, which DMA may wait for.
    pub done: bool,
}

impl Adc12B {
    pub fn new(cycles: AdcCycles) -> Self {
        Self {
            cycles,
            ctl: [0, 0, 0x0020, 0],
            lo: 0,
            hi: 0x0FFF,
            ifg: 0,
            ie: 0,
            ifg2: 0,
            ie2: 0,
            mctl: [0; 32],
            mem: [0; 32],
            running: None,
            next: 0,
            done: false,
        }
    }

    pub fn reset(&mut self) {
        // Conversion memory keeps its contents.
        *self = Self { mem: self.mem, ..Self::new(self.cycles.clone()) };
    }

    pub fn busy(&self) -> bool {
        self.running.is_some()
    }

    /// Whether the conversions to come are measured against the built-in reference.
    pub fn wants_reference(&self) -> bool {
        self.busy() && self.mctl[usize::from(self.next)] & VRSEL == 0x0100
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.running.map(|c| Picos(c.done)).filter(|t| *t != Picos::MAX)
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> &'a Line {
        match self.ctl[1] & ADC12SSEL {
            0x00 => &clocks.modosc,
            0x08 => &clocks.aclk,
            0x10 => &clocks.mclk,
            _ => &clocks.smclk,
        }
    }

    fn resolution(&self) -> usize {
        usize::from((self.ctl[2] & ADC12RES) >> 4).min(2)
    }

    fn bits(&self) -> u32 {
        8 + 2 * self.resolution() as u32
    }

    fn start(&mut self, from: Picos, cx: &Ctx<'_>) -> Result<(), Fault> {
        if self.ctl[0] & ADC12ON == 0 {
            return Err(cx.refuse("conversion started while ADC12ON is clear"));
        }
        if self.ctl[1] & ADC12SHP == 0 {
            return Err(cx.refuse("extended sample mode (ADC12SHP = 0) is not modelled"));
        }
        let mem = self.next;
        let divider = u64::from((self.ctl[1] & ADC12DIV) >> 5) + 1;
        let divider = divider * [1, 4, 32, 64][usize::from((self.ctl[1] & ADC12PDIV) >> 13)];
        // Memories 8 to 23 have the second sampling time.
        let sht = if (8..24).contains(&mem) { self.ctl[0] >> 12 } else { self.ctl[0] >> 8 & 15 };
        let Some(&sample) = self.cycles.sample.get(usize::from(sht)) else {
            return Err(cx.refuse("ADC12SHTx is reserved above 10"));
        };
        let (sample, convert) =
            (u64::from(sample), u64::from(self.cycles.convert[self.resolution()]));
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
        let channel = (mctl & INCH) as u8;
        let inner = match channel {
            30 if self.ctl[3] & TCMAP != 0 => Some(Inner::Temperature),
            31 if self.ctl[3] & BATMAP != 0 => Some(Inner::HalfSupply),
            _ => None,
        };
        Some(Sample {
            channel,
            inner,
            time: Picos(c.sample_end),
            vrsel: (mctl & VRSEL) >> 8,
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
        let top_v = match s.vrsel {
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
        let i = usize::from(s.mem);
        let mctl = self.mctl[i];
        if mctl & DIF != 0 {
            return Err(cx.refuse("differential mode of the ADC12_B (ADC12DIF) is not modelled"));
        }
        let full = f64::from((1u32 << self.bits()) - 1);
        let ratio = if top_v > 0.0 { (input_v / top_v).clamp(0.0, 1.0) } else { 1.0 };
        let plain = (ratio * full).round() as u16;
        let code = if self.ctl[2] & ADC12DF != 0 {
            plain.wrapping_sub(1 << (self.bits() - 1)) << (16 - self.bits())
        } else {
            plain
        };
        if self.ifg & 1 << i != 0 {
            self.ifg2 |= OVIFG;
        }
        self.mem[i] = code;
        self.ifg |= 1 << i;
        self.done = true;
        if mctl & WINC != 0 {
            let (low, high) = if self.ctl[2] & ADC12DF != 0 {
                ((code as i16) < self.lo as i16, code as i16 > self.hi as i16)
            } else {
                (code < self.lo, code > self.hi)
            };
            self.ifg2 |= if high {
                HIIFG
            } else if low {
                LOIFG
            } else {
                INIFG
            };
        }
        self.go_on(s.mem, cx)
    }

    fn go_on(&mut self, mem: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
        let conseq = (self.ctl[1] & CONSEQ) >> 1;
        let end = conseq & 1 == 0 || self.mctl[usize::from(mem)] & EOS != 0;
        let first = (self.ctl[3] & CSTARTADD) as u8;
        let again = match (conseq, end) {
            (0, _) => false,
            (1, true) => false,
            (1, false) => true,
            // Repeated modes stop at the end once ENC is clear.
            (_, true) => self.ctl[0] & ADC12ENC != 0,
            (_, false) => true,
        };
        self.next = if end { first } else { (mem + 1) & 31 };
        if again && self.ctl[0] & ADC12MSC != 0 { self.start(cx.now, cx) } else { Ok(()) }
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
        let first = [(OVIFG, 2), (TOVIFG, 4), (HIIFG, 6), (LOIFG, 8), (INIFG, 0xA)];
        if let Some((flag, code)) = first.into_iter().find(|(flag, _)| on & flag != 0) {
            self.ifg2 &= !flag;
            return code;
        }
        // The flags of the memories stay until the memory is read.
        match self.ie & self.ifg {
            0 if on & RDYIFG != 0 => {
                self.ifg2 &= !RDYIFG;
                0x4C
            }
            0 => 0,
            pending => 0xC + 2 * pending.trailing_zeros() as u16,
        }
    }
}

impl Block for Adc12B {
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            CTL1 => self.ctl[1] | if self.busy() { ADC12BUSY } else { 0 },
            CTL0 | CTL2 | CTL3 => self.ctl[(off / 2) as usize],
            LO => self.lo,
            HI => self.hi,
            IFGR0 => self.ifg as u16,
            0x0E => (self.ifg >> 16) as u16,
            IFGR2 => self.ifg2,
            IER0 => self.ie as u16,
            0x14 => (self.ie >> 16) as u16,
            IER2 => self.ie2,
            IV => self.vector(),
            MCTL0..MEM0 => self.mctl[((off - MCTL0) / 2) as usize],
            MEM0..END => {
                let i = ((off - MEM0) / 2) as usize;
                self.ifg &= !(1 << i);
                self.mem[i]
            }
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let enabled = self.ctl[0] & ADC12ENC != 0;
        let (addr, at) = (cx.addr, cx.at);
        let lints = &mut *cx.lints;
        let mut locked = |old: u16, new: u16, free: u16| {
            if enabled && (old ^ new) & !free != 0 {
                lints.report(LintKind::LockedBits, addr, at);
                (old & !free) | (new & free)
            } else {
                new
            }
        };
        let half = |old: u32, high: bool| {
            let shift = if high { 16 } else { 0 };
            let new = merge((old >> shift) as u16, value, mask);
            old & !(0xFFFF << shift) | u32::from(new) << shift
        };
        match off {
            CTL0 => {
                let new = locked(self.ctl[0], merge(self.ctl[0], value, mask), ALWAYS);
                let before = self.ctl[0];
                self.ctl[0] = new & !ADC12SC;
                if new & ADC12ENC == 0 && before & ADC12ENC != 0 && self.ctl[1] & CONSEQ == 0 {
                    self.running = None;
                }
                if new & ADC12ENC != 0 && before & ADC12ENC == 0 {
                    self.next = (self.ctl[3] & CSTARTADD) as u8;
                }
                if new & (ADC12SC | ADC12ENC) == ADC12SC | ADC12ENC {
                    if self.ctl[1] & ADC12SHS != 0 {
                        return Err(cx.refuse(
                            "ADC12 triggers other than ADC12SC (ADC12SHS) are not modelled",
                        ));
                    }
                    if self.busy() {
                        self.ifg2 |= TOVIFG;
                    } else {
                        self.start(cx.now, cx)?;
                    }
                }
            }
            CTL1 => {
                let new = merge(self.ctl[1], value, mask) & !ADC12BUSY;
                self.ctl[1] = locked(self.ctl[1], new, CONSEQ);
            }
            CTL2 => self.ctl[2] = locked(self.ctl[2], merge(self.ctl[2], value, mask), 0),
            CTL3 => self.ctl[3] = locked(self.ctl[3], merge(self.ctl[3], value, mask), 0),
            LO => self.lo = merge(self.lo, value, mask),
            HI => self.hi = merge(self.hi, value, mask),
            IFGR0 => self.ifg = half(self.ifg, false),
            0x0E => self.ifg = half(self.ifg, true),
            IFGR2 => self.ifg2 = merge(self.ifg2, value, mask) & 0x007E,
            IER0 => self.ie = half(self.ie, false),
            0x14 => self.ie = half(self.ie, true),
            IER2 => self.ie2 = merge(self.ie2, value, mask) & 0x007E,
            IV => {}
            MCTL0..MEM0 => {
                let i = ((off - MCTL0) / 2) as usize;
                self.mctl[i] = locked(self.mctl[i], merge(self.mctl[i], value, mask), 0);
            }
            MEM0..END => {
                let i = ((off - MEM0) / 2) as usize;
                self.mem[i] = merge(self.mem[i], value, mask);
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn requests_smclk(&self) -> bool {
        self.busy() && self.ctl[1] & ADC12SSEL == 0x18
    }

    fn requests_aclk(&self) -> bool {
        self.busy() && self.ctl[1] & ADC12SSEL == 0x08
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new(self.cycles.clone());
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

    fn trigger(name: &str) -> Option<u8> {
        name.is_empty().then_some(0)
    }

    fn triggers(&self, _: u8) -> bool {
        self.done
    }
}
