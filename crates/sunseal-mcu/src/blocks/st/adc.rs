// SPDX-License-Identifier: MIT OR Apache-2.0
//! ADC1 to ADC3 (RM0351 chapter 16): regular sequences on software's start or a timer's trigger, single or continuous, one
//! analogue watchdog, requests of DMA. A sample is held at the end of its sampling time.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::adc::*;
use sunseal_registers::stm32l4::adc_common::ADC_COMMON_CCR;
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::Line;

const CFGR_KNOWN: u32 = ADC_CFGR_DMAEN
    | ADC_CFGR_DMACFG
    | ADC_CFGR_RES
    | ADC_CFGR_ALIGN
    | ADC_CFGR_EXTSEL
    | ADC_CFGR_EXTEN
    | ADC_CFGR_OVRMOD
    | ADC_CFGR_CONT
    | ADC_CFGR_AUTDLY
    | ADC_CFGR_AWD1SGL
    | ADC_CFGR_AWD1EN
    | ADC_CFGR_AWD1CH
    | ADC_CFGR_JQDIS;
const FLAGS: u32 = 0x7FF;
/// Bits of ADC_CR that software sets and hardware clears.
const ACTIONS: u32 =
    ADC_CR_ADEN | ADC_CR_ADDIS | ADC_CR_ADSTART | ADC_CR_JADSTART | ADC_CR_ADSTP | ADC_CR_ADCAL;
/// Sampling times by SMPx and conversion times by RES, in halves of ADC clocks (RM0351 sections 16.4.12 and 16.4.23).
const SAMPLE_HALVES: [u64; 8] = [5, 13, 25, 49, 95, 185, 495, 1281];
const CONVERT_HALVES: [u64; 4] = [25, 21, 17, 13];
/// ADC clocks of a calibration (DS10198, ADC characteristics).
const CALIBRATION_CLOCKS: u64 = 116;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adc {
    isr: u32,
    ier: u32,
    cr: u32,
    cfgr: u32,
    smpr: [u32; 2],
    tr: [u32; 3],
    sqr: [u32; 4],
    calfact: u32,
    dr: u16,
    /// Ends of a start-up and of a calibration.
    ready_at: Option<u128>,
    calibrated_at: Option<u128>,
    /// Rank that is converted, when it is held and when it is done.
    running: Option<(u8, u128, u128)>,
    /// Twelve bits of what is held.
    held: Option<u16>,
    /// AUTDLY keeps the next one back until DR is read.
    waits: Option<u8>,
    clock: Line,
}

impl Adc {
    pub fn new() -> Self {
        let tr = [0x0FFF_0000, 0x00FF_0000, 0x00FF_0000];
        Self { cr: ADC_CR_DEEPPWD, cfgr: ADC_CFGR_JQDIS, tr, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self { clock: self.clock, ..Self::new() };
    }

    /// ADEN is set: it draws current.
    pub fn is_on(&self) -> bool {
        self.cr & ADC_CR_ADEN != 0
    }

    /// A request of DMA.
    pub fn requests(&self) -> bool {
        self.cfgr & ADC_CFGR_DMAEN != 0 && self.isr & ADC_ISR_EOC != 0
    }

    /// DMA has made its last transfer: in one-shot mode conversions end (RM0351 section 16.4.27).
    pub fn served(&mut self) {
        if self.cfgr & (ADC_CFGR_DMAEN | ADC_CFGR_DMACFG) == ADC_CFGR_DMAEN {
            (self.running, self.waits) = (None, None);
        }
    }

    fn is_started(&self) -> bool {
        self.cr & ADC_CR_ADSTART != 0
    }

    /// The channel at a rank from 0 on.
    fn channel(&self, rank: u8) -> u8 {
        let place = u32::from(rank) + 1;
        (self.sqr[(place / 5) as usize] >> (6 * (place % 5)) & 0x1F) as u8
    }

    fn last_rank(&self) -> u8 {
        (self.sqr[0] & 0xF) as u8
    }

    fn convert(&mut self, rank: u8, now: Picos) {
        let channel = u32::from(self.channel(rank));
        let select = self.smpr[(channel / 10).min(1) as usize] >> (3 * (channel % 10)) & 7;
        let sample = SAMPLE_HALVES[select as usize];
        let all = sample + CONVERT_HALVES[(self.cfgr >> 3 & 3) as usize];
        let start = self.clock.tick_not_before(now);
        let at = |halves: u64| self.clock.time_of(start + halves.div_ceil(2)).0;
        self.running = Some((rank, at(sample), at(all)));
        self.held = None;
    }

    /// A trigger of that number.
    pub fn trigger(&mut self, select: u32, t: Picos) {
        let asked = self.cfgr & ADC_CFGR_EXTEN != 0 && self.cfgr >> 6 & 0xF == select;
        if asked && self.is_started() && self.running.is_none() && self.waits.is_none() {
            self.convert(0, t);
        }
    }

    /// The channel whose sampling time has ended, to be answered by [`hold`](Self::hold).
    pub fn sampled(&self, t: Picos) -> Option<(u8, Picos)> {
        let (rank, at, _) = self.running.filter(|r| self.held.is_none() && r.1 <= t.0)?;
        Some((self.channel(rank), Picos(at)))
    }

    /// Takes the sampled voltage against its reference; none where there is none, of which the machine tells.
    pub fn hold(&mut self, volts: f64, reference: f64) {
        let code = (volts / reference * 4096.0).round().clamp(0.0, 4095.0);
        self.held = Some(code as u16);
        self.isr |= ADC_ISR_EOSMP;
    }

    /// The conversion that ends at `t`, if one does.
    pub fn ended(&mut self, t: Picos) {
        let Some((rank, _, end)) = self.running.filter(|r| self.held.is_some() && r.2 <= t.0)
        else {
            return;
        };
        self.running = None;
        self.watch(rank);
        let drop = 2 * (self.cfgr >> 3 & 3);
        let code = self.held.take().unwrap_or(0) >> drop;
        let shift = match (self.cfgr & ADC_CFGR_ALIGN != 0, drop) {
            (false, _) => 0,
            // Six bits are aligned within a byte.
            (true, 6) => 2,
            (true, drop) => 4 + drop,
        };
        let overruns = self.isr & ADC_ISR_EOC != 0;
        if overruns {
            self.isr |= ADC_ISR_OVR;
        }
        if !overruns || self.cfgr & ADC_CFGR_OVRMOD != 0 {
            self.dr = code << shift;
        }
        self.isr |= ADC_ISR_EOC;
        let last = rank == self.last_rank();
        if last {
            self.isr |= ADC_ISR_EOS;
        }
        let next = if last { 0 } else { rank + 1 };
        // With DMA an overrun that loses data ends the requests, and the conversions with them.
        let lost = overruns && self.cfgr & ADC_CFGR_DMAEN != 0 && self.cfgr & ADC_CFGR_OVRMOD == 0;
        if last && self.cfgr & (ADC_CFGR_CONT | ADC_CFGR_EXTEN) == 0 {
            self.cr &= !ADC_CR_ADSTART;
        } else if lost || last && self.cfgr & ADC_CFGR_CONT == 0 {
        } else if self.cfgr & ADC_CFGR_AUTDLY != 0 {
            self.waits = Some(next);
        } else {
            self.convert(next, Picos(end));
        }
    }

    /// The analogue watchdog looks at what was converted, as twelve bits.
    fn watch(&mut self, rank: u8) {
        let one = self.cfgr & ADC_CFGR_AWD1SGL != 0;
        let watched = !one || self.cfgr >> 26 & 0x1F == u32::from(self.channel(rank));
        let held = u32::from(self.held.unwrap_or(0));
        let outside = held < self.tr[0] & 0xFFF || held > self.tr[0] >> 16 & 0xFFF;
        if self.cfgr & ADC_CFGR_AWD1EN != 0 && watched && outside {
            self.isr |= ADC_ISR_AWD1;
        }
    }

    fn enable(&mut self, cx: &Cx<'_>) -> Result<(), Fault> {
        if self.cr & (ADC_CR_DEEPPWD | ADC_CR_ADVREGEN) != ADC_CR_ADVREGEN {
            return Err(cx.refuse(
                "the ADC is used while its voltage regulator is off; clear ADC_CR.DEEPPWD, set ADVREGEN and wait 20 us",
            ));
        }
        if !self.clock.is_running() {
            return Err(cx.refuse(
                "the ADC has no clock; set CKMODE of ADC123_COMMON_CCR, or ADCSEL of RCC_CCIPR to SYSCLK (PLLSAI1 and PLLSAI2 are not modelled)",
            ));
        }
        Ok(())
    }

    fn after(&self, clocks: u64, now: Picos) -> Option<u128> {
        Some(self.clock.time_of(self.clock.tick_not_before(now) + clocks).0)
    }

    fn write_cr(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let set = value & mask;
        let what = "injected conversions and calibration for differential inputs of the ADC are not modelled";
        only(set, ACTIONS & !ADC_CR_JADSTART | ADC_CR_ADVREGEN | ADC_CR_DEEPPWD, what, cx)?;
        self.cr =
            self.cr & ACTIONS | merge(self.cr, value, mask) & (ADC_CR_ADVREGEN | ADC_CR_DEEPPWD);
        if set & ADC_CR_ADCAL != 0 {
            self.enable(cx)?;
            if self.is_on() {
                return Err(cx.refuse("the ADC is calibrated while ADEN is clear"));
            }
            self.cr |= ADC_CR_ADCAL;
            self.calibrated_at = self.after(CALIBRATION_CLOCKS, cx.now);
        }
        if set & ADC_CR_ADEN != 0 && !self.is_on() {
            self.enable(cx)?;
            if self.cr & ADC_CR_ADCAL != 0 {
                return Err(cx.refuse(
                    "ADEN is set while the ADC is calibrated; wait until ADC_CR.ADCAL is clear",
                ));
            }
            self.cr |= ADC_CR_ADEN;
            // One conversion (DS10198, tSTAB).
            self.ready_at = self.after(15, cx.now);
        }
        if set & ADC_CR_ADDIS != 0 && self.is_on() {
            self.cr &= !(ADC_CR_ADEN | ADC_CR_ADSTART);
            self.isr &= !ADC_ISR_ADRDY;
            (self.running, self.waits, self.ready_at) = (None, None, None);
        }
        if set & ADC_CR_ADSTP != 0 && self.is_started() {
            self.cr &= !ADC_CR_ADSTART;
            (self.running, self.waits) = (None, None);
        }
        if set & ADC_CR_ADSTART != 0 && !self.is_started() {
            if !self.is_on() || self.ready_at.is_some() {
                return Err(cx.refuse("ADC_CR.ADSTART is set before the ADC is ready; set ADEN and wait for ADC_ISR.ADRDY"));
            }
            self.cr |= ADC_CR_ADSTART;
            if self.cfgr & ADC_CFGR_EXTEN == 0 {
                self.convert(0, cx.now);
            }
        }
        Ok(())
    }

    /// Registers that are written while no conversion goes on (RM0351 section 16.4.9).
    fn write_setting(&mut self, off: u32, value: u32, mask: u32, cx: &Cx<'_>) -> Result<(), Fault> {
        if self.is_started() {
            return Err(cx.refuse("this register of the ADC is written only while ADSTART is clear; set ADSTP and wait"));
        }
        match off {
            ADC_CFGR => {
                let new = merge(self.cfgr, value, mask);
                let what = "discontinuous and injected sequences of the ADC are not modelled";
                only(new, CFGR_KNOWN, what, cx)?;
                if new & ADC_CFGR_EXTEN != 0 && !matches!(new >> 6 & 0xF, 4 | 11 | 12) {
                    return Err(cx.refuse("of the ADC's triggers TIM2_TRGO, TIM3_TRGO and TIM4_TRGO are modelled (EXTSEL 11, 4, 12)"));
                }
                self.cfgr = new;
            }
            ADC_CFGR2 => only(value & mask, 0, "oversampling of the ADC is not modelled", cx)?,
            ADC_SMPR1 | ADC_SMPR2 => {
                let kept = &mut self.smpr[usize::from(off == ADC_SMPR2)];
                *kept = merge(*kept, value, mask) & 0x3FFF_FFFF;
            }
            ADC_TR1 | ADC_TR2 | ADC_TR3 => {
                let kept = &mut self.tr[((off - ADC_TR1) / 4) as usize];
                *kept = merge(*kept, value, mask);
            }
            ADC_CALFACT => self.calfact = merge(self.calfact, value, mask),
            ADC_DIFSEL => {
                only(value & mask, 0, "differential inputs of the ADC are not modelled", cx)?
            }
            _ => {
                let kept = &mut self.sqr[((off - ADC_SQR1) / 4) as usize];
                *kept = merge(*kept, value, mask);
            }
        }
        Ok(())
    }
}

impl Block<Stm32> for Adc {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            ADC_ISR => self.isr,
            ADC_IER => self.ier,
            ADC_CR => self.cr,
            ADC_CFGR => self.cfgr,
            ADC_CFGR2 | ADC_DIFSEL => 0,
            ADC_SMPR1 => self.smpr[0],
            ADC_SMPR2 => self.smpr[1],
            ADC_TR1 | ADC_TR2 | ADC_TR3 => self.tr[((off - ADC_TR1) / 4) as usize],
            ADC_SQR1..=ADC_SQR4 => self.sqr[((off - ADC_SQR1) / 4) as usize],
            ADC_CALFACT => self.calfact,
            ADC_DR => {
                self.isr &= !ADC_ISR_EOC;
                if let Some(rank) = self.waits.take() {
                    self.convert(rank, cx.now);
                }
                self.dr.into()
            }
            _ => return Err(cx.refuse("injected channels, offsets and the second and third watchdog of the ADC are not modelled")),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            // Flags are cleared by writing 1.
            ADC_ISR => self.isr &= !(value & mask),
            ADC_IER => self.ier = merge(self.ier, value, mask) & FLAGS,
            ADC_CR => self.write_cr(value, mask, cx)?,
            ADC_DR => {}
            ADC_CFGR | ADC_CFGR2 | ADC_SMPR1 | ADC_SMPR2 | ADC_TR1 | ADC_TR2 | ADC_TR3
            | ADC_SQR1..=ADC_SQR4 | ADC_DIFSEL | ADC_CALFACT => {
                self.write_setting(off, value, mask, cx)?;
            }
            _ => return Err(cx.refuse("injected channels, offsets and the second and third watchdog of the ADC are not modelled")),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, _: Picos) {
        self.clock = *clock;
    }

    fn due(&self, _: &()) -> Option<Picos> {
        let step = self.running.map(|(_, held, end)| if self.held.is_some() { end } else { held });
        [step, self.ready_at, self.calibrated_at].into_iter().flatten().min().map(Picos)
    }

    /// Start-up and calibration; conversions need a voltage from outside.
    fn advance(&mut self, _: &(), t: Picos) {
        if self.ready_at.take_if(|end| *end <= t.0).is_some() {
            self.isr |= ADC_ISR_ADRDY;
        }
        if self.calibrated_at.take_if(|end| *end <= t.0).is_some() {
            self.cr &= !ADC_CR_ADCAL;
        }
    }

    fn asks(&mut self) -> u32 {
        u32::from(self.isr & self.ier != 0)
    }

    fn may_ask(&self, lines: &()) -> bool {
        // A timer's trigger may begin one.
        self.ier != 0 && (self.due(lines).is_some() || self.is_started())
    }
}

/// What the three converters share: their clock, and the channels inside the chip.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Common {
    ccr: u32,
}

impl Common {
    /// HCLK divided by so much; none where ADCSEL's clock is taken, divided by PRESC.
    pub fn of_hclk(&self) -> Option<u32> {
        [None, Some(1), Some(2), Some(4)][(self.ccr >> 16 & 3) as usize]
    }

    pub fn prescaler(&self) -> u32 {
        const BY: [u32; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];
        BY[(self.ccr >> 18 & 0xF).min(11) as usize]
    }

    /// VREFEN, CH17SEL (the temperature sensor) and CH18SEL (VBAT) as channel 0, 17 and 18 have them.
    pub fn connects(&self, channel: u8) -> bool {
        let bit = match channel {
            0 => 22,
            17 => 23,
            _ => 24,
        };
        self.ccr >> bit & 1 != 0
    }
}

impl Block<Stm32> for Common {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        match off {
            ADC_COMMON_CCR => Ok(self.ccr),
            _ => Err(cx.refuse(
                "the flags of several ADCs in one register, and dual modes, are not modelled",
            )),
        }
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        if off != ADC_COMMON_CCR {
            return Err(cx.refuse(
                "the flags of several ADCs in one register, and dual modes, are not modelled",
            ));
        }
        self.ccr = merge(self.ccr, value, mask);
        only(self.ccr, 0x01FF_0000, "dual modes of the ADCs are not modelled", cx)?;
        cx.fx.clocks = true;
        Ok(())
    }
}
