// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCC: oscillators, PLL, bus clocks and who has one (RM0351 chapter 6).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::rcc::*;
use sunseal_trace::Picos;

use crate::blocks::st::{Cause, Cx, merge, only};
use crate::device::{Stm32l4, us};
use crate::lint::{ClockOutput, LintKind};
use crate::pin::Pin;

const CR_KNOWN: u32 = RCC_CR_MSION
    | RCC_CR_MSIPLLEN
    | RCC_CR_MSIRGSEL
    | 0xF << 4
    | RCC_CR_HSION
    | 1 << 9
    | RCC_CR_HSEON
    | RCC_CR_HSEBYP
    | RCC_CR_PLLON;
const CR_RESET: u32 = 0x61;

const CFGR_KNOWN: u32 =
    3 | 0xF << 4 | 7 << 8 | 7 << 11 | RCC_CFGR_STOPWUCK | RCC_CFGR_MCOSEL | RCC_CFGR_MCOPRE;
/// Pin at which MCO comes out (RM0351 section 6.2.16).
const MCO_PIN: Pin = Pin::new(b'A', 8);

const BDCR_KNOWN: u32 =
    RCC_BDCR_LSEON | 1 << 2 | 3 << 3 | RCC_BDCR_RTCSEL | RCC_BDCR_RTCEN | RCC_BDCR_BDRST;

/// Offsets within each six registers that no register has.
const HOLE: usize = 3;

/// Where a clock comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    #[default]
    Msi,
    Hsi,
    Hse,
    Pll,
}

/// What runs, and since when it is ready.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rcc {
    cr: u32,
    icscr: u32,
    cfgr: u32,
    pllcfgr: u32,
    enr: [u32; 7],
    smenr: [u32; 7],
    ccipr: u32,
    bdcr: u32,
    /// LSION, MSISRANGE and the flags of resets.
    csr: u32,
    msi: Option<u128>,
    hsi: Option<u128>,
    hse: Option<u128>,
    pll: Option<u128>,
    lse: Option<u128>,
    lsi: Option<u128>,
    system: Source,
    lse_hz: u32,
    hse_hz: u32,
    /// Up to when oscillators that became ready have been seen.
    seen: u128,
}

fn ready(since: Option<u128>, now: Picos) -> bool {
    since.is_some_and(|t| t <= now.0)
}

impl Rcc {
    pub fn new(lse_hz: u32, hse_hz: u32) -> Self {
        let mut enr = [0; 7];
        enr[0] = 0x100;
        Self {
            cr: CR_RESET,
            icscr: 0x1000_0000,
            pllcfgr: 0x1000,
            enr,
            smenr: [0x0001_1303, 0x0005_32FF, 0x101, 0, 0xF2FE_CA3F, 0x25, 0x0167_7C01],
            csr: 6 << 8,
            msi: Some(0),
            system: Source::Msi,
            lse_hz,
            hse_hz,
            ..Self::default()
        }
    }

    /// The board's crystals; 0 where none is fitted.
    pub fn fit(&mut self, oscillator: &str, hz: u32) -> bool {
        match oscillator {
            "lse" => self.lse_hz = hz,
            "hse" => self.hse_hz = hz,
            _ => return false,
        }
        true
    }

    /// A system reset: the backup domain and the flags of resets stay.
    pub fn reset(&mut self, cause: Cause) {
        let flag = match cause {
            Cause::Brownout => RCC_CSR_BORRSTF,
            Cause::Software => RCC_CSR_SFTRSTF,
            Cause::Watchdog => RCC_CSR_IWDGRSTF,
        };
        // Each of them pulls the reset pin low.
        let flags = self.csr & 0xFF00_0000 | flag | RCC_CSR_PINRSTF;
        *self = Self {
            bdcr: self.bdcr,
            lse: self.lse,
            seen: self.seen,
            csr: 6 << 8 | flags,
            ..Self::new(self.lse_hz, self.hse_hz)
        };
    }

    /// The board's crystals: LSE, HSE.
    pub fn fitted(&self) -> (u32, u32) {
        (self.lse_hz, self.hse_hz)
    }

    /// The flags of resets are those from before.
    pub fn keep_causes(&mut self, before: &Self) {
        self.csr = self.csr & 0x00FF_FFFF | before.csr & 0xFF00_0000;
    }

    pub fn reset_backup(&mut self) {
        (self.bdcr, self.lse) = (0, None);
    }

    /// The system clock behind a Stop mode: MSI or HSI16; what else there was is off.
    pub fn stopped(&mut self, now: Picos) {
        let hsi = self.cfgr & RCC_CFGR_STOPWUCK != 0;
        self.system = if hsi { Source::Hsi } else { Source::Msi };
        self.cfgr = self.cfgr & !3 | u32::from(hsi);
        self.cr &= !(RCC_CR_PLLON | RCC_CR_HSEON | if hsi { RCC_CR_MSION } else { RCC_CR_HSION });
        self.cr |= if hsi { RCC_CR_HSION } else { RCC_CR_MSION };
        self.msi = (!hsi).then_some(now.0);
        self.hsi = hsi.then_some(now.0);
        (self.hse, self.pll) = (None, None);
    }

    // ---- frequencies

    fn msi_range(&self) -> usize {
        let range = if self.cr & RCC_CR_MSIRGSEL != 0 { self.cr >> 4 } else { self.csr >> 8 };
        (range & 0xF).min(11) as usize
    }

    pub fn msi_hz(&self, dev: &Stm32l4) -> u32 {
        dev.clock.msi_hz[self.msi_range()]
    }

    /// Whether MSI is held to the crystal, and does not drift.
    pub fn msi_is_locked(&self, now: Picos) -> bool {
        self.cr & RCC_CR_MSIPLLEN != 0 && ready(self.lse, now)
    }

    fn hz(&self, source: Source, now: Picos, dev: &Stm32l4) -> u32 {
        match source {
            Source::Msi if ready(self.msi, now) => self.msi_hz(dev),
            Source::Hsi if ready(self.hsi, now) => dev.clock.hsi_hz,
            Source::Hse if ready(self.hse, now) => self.hse_hz,
            Source::Pll if ready(self.pll, now) && self.pllcfgr & RCC_PLLCFGR_PLLREN != 0 => {
                (self.vco_hz(now, dev) / u64::from(2 * (self.pllcfgr >> 25 & 3) + 2)) as u32
            }
            _ => 0,
        }
    }

    pub fn pll_source(&self) -> Option<Source> {
        match self.pllcfgr & 3 {
            1 => Some(Source::Msi),
            2 => Some(Source::Hsi),
            3 => Some(Source::Hse),
            _ => None,
        }
    }

    /// Frequency of the PLL's input, behind the divider PLLM.
    fn pll_input_hz(&self, now: Picos, dev: &Stm32l4) -> u64 {
        let hz = self.pll_source().map_or(0, |s| self.hz(s, now, dev));
        u64::from(hz) / u64::from((self.pllcfgr >> 4 & 7) + 1)
    }

    fn vco_hz(&self, now: Picos, dev: &Stm32l4) -> u64 {
        self.pll_input_hz(now, dev) * u64::from(self.pllcfgr >> 8 & 0x7F)
    }

    pub fn system(&self) -> Source {
        self.system
    }

    pub fn sysclk_hz(&self, now: Picos, dev: &Stm32l4) -> u32 {
        self.hz(self.system, now, dev)
    }

    pub fn hsi_hz(&self, now: Picos, dev: &Stm32l4) -> u32 {
        self.hz(Source::Hsi, now, dev)
    }

    pub fn lse_hz(&self, now: Picos) -> u32 {
        if ready(self.lse, now) { self.lse_hz } else { 0 }
    }

    /// The crystal's oscillator draws its current.
    pub fn lse_is_on(&self) -> bool {
        self.bdcr & RCC_BDCR_LSEON != 0
    }

    pub fn lsi_is_on(&self) -> bool {
        self.csr & RCC_CSR_LSION != 0
    }

    /// HSE divided by 32, which the RTC may have.
    pub fn hse_for_rtc_hz(&self, now: Picos, dev: &Stm32l4) -> u32 {
        self.hz(Source::Hse, now, dev) / 32
    }

    /// The 48 MHz clock of the RNG.
    pub fn clk48_hz(&self, now: Picos, dev: &Stm32l4) -> u32 {
        match self.ccipr >> 26 & 3 {
            2 if ready(self.pll, now) && self.pllcfgr & RCC_PLLCFGR_PLLQEN != 0 => {
                (self.vco_hz(now, dev) / u64::from(2 * (self.pllcfgr >> 21 & 3) + 2)) as u32
            }
            3 => self.hz(Source::Msi, now, dev),
            _ => 0,
        }
    }

    pub fn ahb_divider(&self) -> u32 {
        let hpre = self.cfgr >> 4 & 0xF;
        match hpre {
            0..=7 => 1,
            8..=11 => 2 << (hpre - 8),
            _ => 64 << (hpre - 12),
        }
    }

    /// Of APB1 and APB2.
    pub fn apb_divider(&self, bus: u32) -> u32 {
        let ppre = self.cfgr >> (5 + 3 * bus) & 7;
        if ppre < 4 { 1 } else { 2 << (ppre - 4) }
    }

    /// Two bits of CCIPR.
    pub fn select(&self, shift: u32) -> u32 {
        self.ccipr >> shift & 3
    }

    pub fn rtc_select(&self) -> u32 {
        if self.bdcr & RCC_BDCR_RTCEN != 0 { self.bdcr >> 8 & 3 } else { 0 }
    }

    pub fn rtc_enabled(&self) -> bool {
        self.bdcr & RCC_BDCR_RTCEN != 0
    }

    /// Whether the bus clock of a block is on.
    pub fn enables(&self, [offset, bit]: [u32; 2]) -> bool {
        let i = (offset.wrapping_sub(RCC_AHB1ENR) / 4) as usize;
        self.enr.get(i).is_none_or(|r| r >> bit & 1 != 0)
    }

    // ---- events

    /// An oscillator becomes ready.
    pub fn next_event(&self) -> Option<Picos> {
        let starts = [self.msi, self.hsi, self.hse, self.pll, self.lse, self.lsi];
        starts.into_iter().flatten().filter(|t| *t > self.seen).min().map(Picos)
    }

    /// The system clock goes over to what SW asks for, once that is ready.
    pub fn event(&mut self, now: Picos) {
        self.seen = self.seen.max(now.0);
        let (asked, since) = match self.cfgr & 3 {
            0 => (Source::Msi, self.msi),
            1 => (Source::Hsi, self.hsi),
            2 => (Source::Hse, self.hse),
            _ => (Source::Pll, self.pll),
        };
        if ready(since, now) {
            self.system = asked;
        }
    }

    fn uses(&self, source: Source) -> bool {
        self.system == source || self.system == Source::Pll && self.pll_source() == Some(source)
    }

    fn start(since: &mut Option<u128>, on: bool, now: Picos, time: Picos) {
        match (on, since.is_some()) {
            (false, _) => *since = None,
            (true, false) => *since = Some(now.0 + time.0),
            (true, true) => {}
        }
    }

    fn write_cr(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let mut new = merge(self.cr, value, mask)
            & !(RCC_CR_MSIRDY | RCC_CR_HSIRDY | RCC_CR_HSERDY | RCC_CR_PLLRDY);
        let what = "PLLSAI1, PLLSAI2, the clock security system and HSI16's automatic start are not modelled";
        only(new, CR_KNOWN, what, cx)?;
        // What the system runs on cannot be switched off.
        for (source, bit) in [
            (Source::Msi, RCC_CR_MSION),
            (Source::Hsi, RCC_CR_HSION),
            (Source::Hse, RCC_CR_HSEON),
            (Source::Pll, RCC_CR_PLLON),
        ] {
            if self.uses(source) && new & bit == 0 {
                cx.lint(LintKind::LockedBits);
                new |= bit;
            }
        }
        if new & RCC_CR_MSIPLLEN != 0 && !ready(self.lse, cx.now) {
            return Err(cx.refuse("MSIPLLEN needs LSE: wait for RCC_BDCR.LSERDY first"));
        }
        let ranged = (new ^ self.cr) & (0xF << 4 | RCC_CR_MSIRGSEL) != 0;
        if ranged && self.cr & RCC_CR_MSION != 0 && !ready(self.msi, cx.now) {
            return Err(
                cx.refuse("MSIRANGE changed while MSI is on and not ready; wait for RCC_CR.MSIRDY")
            );
        }
        if new >> 4 & 0xF > 11 {
            return Err(cx.refuse("RCC_CR.MSIRANGE is reserved above 11 (48 MHz)"));
        }
        self.cr = new;
        let (c, now) = (&cx.dev.stm32l4().clock, cx.now);
        Self::start(&mut self.msi, new & RCC_CR_MSION != 0, now, us(c.msi_start_us));
        Self::start(&mut self.hsi, new & RCC_CR_HSION != 0, now, us(c.hsi_start_us));
        let hse_us = if new & RCC_CR_HSEBYP != 0 { 0.0 } else { c.hse_start_ms * 1e3 };
        // Where nothing is fitted it never starts.
        Self::start(&mut self.hse, new & RCC_CR_HSEON != 0 && self.hse_hz != 0, now, us(hse_us));
        if new & RCC_CR_PLLON != 0 && self.pll.is_none() {
            self.check_pll(cx)?;
        }
        Self::start(&mut self.pll, new & RCC_CR_PLLON != 0, now, us(c.pll_lock_us));
        Ok(())
    }

    fn check_pll(&self, cx: &Cx<'_>) -> Result<(), Fault> {
        let c = &cx.dev.stm32l4().clock;
        let n = self.pllcfgr >> 8 & 0x7F;
        if !(8..=86).contains(&n) {
            return Err(cx.refuse(format!("RCC_PLLCFGR.PLLN is {n}; the PLL takes 8 to 86")));
        }
        let input = self.pll_input_hz(cx.now, cx.dev.stm32l4()) as f64 / 1e6;
        if input == 0.0 {
            return Err(cx.refuse(
                "PLLON without a source: choose one with RCC_PLLCFGR.PLLSRC and wait until it is ready",
            ));
        }
        let [least, most] = c.pll_input_mhz;
        if input < least || input > most {
            return Err(cx.refuse(format!(
                "the PLL's input is {input} MHz, outside {least} to {most} MHz; choose another PLLM"
            )));
        }
        let vco = input * f64::from(n);
        let most = c.vco_max_mhz[1];
        if vco < c.vco_min_mhz || vco > most {
            let least = c.vco_min_mhz;
            return Err(cx.refuse(format!(
                "the PLL's VCO is at {vco} MHz, outside {least} to {most} MHz; choose another PLLN"
            )));
        }
        Ok(())
    }

    /// The VCO, which Range 2 allows less.
    pub fn vco_mhz(&self, now: Picos, dev: &Stm32l4) -> f64 {
        if self.cr & RCC_CR_PLLON == 0 { 0.0 } else { self.vco_hz(now, dev) as f64 / 1e6 }
    }

    fn write_bdcr(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        if !cx.beside.backup_writable {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        let mut new = merge(self.bdcr, value, mask) & !RCC_BDCR_LSERDY;
        let what = "the security system of LSE and its output are not modelled";
        only(new, BDCR_KNOWN, what, cx)?;
        if new & RCC_BDCR_BDRST != 0 {
            self.reset_backup();
            self.bdcr = RCC_BDCR_BDRST;
            cx.fx.backup_reset = true;
            return Ok(());
        }
        // The RTC's clock is chosen once.
        if self.bdcr & RCC_BDCR_RTCSEL != 0 && (new ^ self.bdcr) & RCC_BDCR_RTCSEL != 0 {
            cx.lint(LintKind::LockedBits);
            new = new & !RCC_BDCR_RTCSEL | self.bdcr & RCC_BDCR_RTCSEL;
        }
        self.bdcr = new;
        let time = us(cx.dev.stm32l4().clock.lse_start_ms * 1e3);
        Self::start(&mut self.lse, new & RCC_BDCR_LSEON != 0 && self.lse_hz != 0, cx.now, time);
        Ok(())
    }

    fn write_csr(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) {
        let new = merge(self.csr, value, mask);
        if new & RCC_CSR_RMVF != 0 {
            self.csr &= 0x00FF_FFFF;
        }
        let mut kept = self.csr & !RCC_CSR_LSION | new & RCC_CSR_LSION;
        // MSISRANGE is for the next Standby, and may be written once MSIRANGE rules.
        if self.cr & RCC_CR_MSIRGSEL != 0 && (4..=7).contains(&(new >> 8 & 0xF)) {
            kept = kept & !RCC_CSR_MSISRANGE | new & RCC_CSR_MSISRANGE;
        }
        self.csr = kept;
        Self::start(
            &mut self.lsi,
            kept & RCC_CSR_LSION != 0,
            cx.now,
            us(cx.dev.stm32l4().clock.lsi_start_us),
        );
    }

    pub fn read(&self, off: u32, cx: &Cx<'_>) -> Result<u32, Fault> {
        let flag = |since: Option<u128>, bit: u32| if ready(since, cx.now) { bit } else { 0 };
        let sws = match self.system {
            Source::Msi => 0,
            Source::Hsi => 1,
            Source::Hse => 2,
            Source::Pll => 3,
        };
        let group = |first: u32| Some(((off - first) / 4) as usize).filter(|i| *i != HOLE);
        let of = |set: &[u32; 7], first: u32| group(first).map(|i| set[i]);
        let found = match off {
            RCC_CR => Some(
                self.cr
                    | flag(self.msi, RCC_CR_MSIRDY)
                    | flag(self.hsi, RCC_CR_HSIRDY)
                    | flag(self.hse, RCC_CR_HSERDY)
                    | flag(self.pll, RCC_CR_PLLRDY),
            ),
            RCC_ICSCR => Some(self.icscr),
            RCC_CFGR => Some(self.cfgr | sws << 2),
            RCC_PLLCFGR => Some(self.pllcfgr),
            RCC_PLLSAI1CFGR | RCC_PLLSAI2CFGR => Some(0x1000),
            RCC_CIER | RCC_CIFR | RCC_CICR => Some(0),
            RCC_AHB1RSTR..=RCC_APB2RSTR => group(RCC_AHB1RSTR).map(|_| 0),
            RCC_AHB1ENR..=RCC_APB2ENR => of(&self.enr, RCC_AHB1ENR),
            RCC_AHB1SMENR..=RCC_APB2SMENR => of(&self.smenr, RCC_AHB1SMENR),
            RCC_CCIPR => Some(self.ccipr),
            RCC_BDCR => Some(self.bdcr | flag(self.lse, RCC_BDCR_LSERDY)),
            RCC_CSR => Some(self.csr | flag(self.lsi, RCC_CSR_LSIRDY)),
            _ => None,
        };
        found.ok_or_else(|| cx.no_register())
    }

    pub fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        cx.fx.clocks = true;
        match off {
            RCC_CR => self.write_cr(value, mask, cx)?,
            RCC_ICSCR => self.icscr = merge(self.icscr, value, mask),
            RCC_CFGR => {
                let new = merge(self.cfgr, value, mask) & !(3 << 2);
                only(new, CFGR_KNOWN, "it has bits that are reserved", cx)?;
                if new & RCC_CFGR_MCOSEL != 0 {
                    let kind = LintKind::ClockOutput { pin: MCO_PIN, clock: ClockOutput::Mco };
                    cx.lints.note(kind, cx.addr, cx.at);
                }
                self.cfgr = new;
            }
            RCC_PLLCFGR if self.cr & RCC_CR_PLLON != 0 => {
                let new = merge(self.pllcfgr, value, mask);
                // Its outputs may be switched while it runs.
                if (new ^ self.pllcfgr) & !(RCC_PLLCFGR_PLLREN | RCC_PLLCFGR_PLLQEN | 1 << 16) != 0
                {
                    return Err(cx.refuse(
                        "RCC_PLLCFGR changed while the PLL is on; clear PLLON and wait for PLLRDY to go",
                    ));
                }
                self.pllcfgr = new;
            }
            RCC_PLLCFGR => self.pllcfgr = merge(self.pllcfgr, value, mask),
            RCC_CIER => {
                only(value & mask, 0, "interrupts of RCC are not modelled; poll its flags", cx)?
            }
            RCC_CIFR | RCC_CICR => {}
            RCC_AHB1RSTR..=RCC_APB2RSTR => {
                cx.fx.blocks_reset = Some((off - RCC_AHB1RSTR + RCC_AHB1ENR, value & mask));
            }
            RCC_AHB1ENR..=RCC_APB2ENR if off != RCC_AHB1ENR + 4 * HOLE as u32 => {
                let kept = &mut self.enr[((off - RCC_AHB1ENR) / 4) as usize];
                *kept = merge(*kept, value, mask);
            }
            RCC_AHB1SMENR..=RCC_APB2SMENR if off != RCC_AHB1SMENR + 4 * HOLE as u32 => {
                let kept = &mut self.smenr[((off - RCC_AHB1SMENR) / 4) as usize];
                *kept = merge(*kept, value, mask);
            }
            RCC_CCIPR => self.ccipr = merge(self.ccipr, value, mask),
            RCC_BDCR => self.write_bdcr(value, mask, cx)?,
            RCC_CSR => self.write_csr(value, mask, cx),
            _ => return Err(cx.no_register()),
        }
        self.event(cx.now);
        Ok(())
    }
}
