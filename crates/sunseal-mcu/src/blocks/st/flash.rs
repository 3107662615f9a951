// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flash interface of the STM32L4 (RM0351 chapter 3): wait states and caches, double words that are programmed, pages
//! and banks that are erased.
//!
//! Memory changes when an operation ends. A supply cut in between leaves a double word of which some bits are
//! programmed, or a page of which some bits are erased, by the machine's seed.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::flash::*;
use sunseal_trace::{Picos, StateId, Width};

use super::art::Art;
use super::{Block, Cx, Stm32, merge, only};
use crate::accounts::Event;
use crate::blocks::flash_cells::{self, Operation, Running, as_is};
use crate::device::us;
use crate::lint::LintKind;

const ACR_RESET: u32 = FLASH_ACR_ICEN | FLASH_ACR_DCEN;

const ERRORS: u32 = 0xC3FA;

const CR_PLAIN: u32 = FLASH_CR_PG
    | FLASH_CR_PER
    | FLASH_CR_MER1
    | 0xFF << 3
    | FLASH_CR_BKER
    | FLASH_CR_MER2
    | FLASH_CR_EOPIE
    | FLASH_CR_ERRIE;

/// The option bytes as the part is delivered: no protection, brown-out level 0, both banks used.
const OPTR_DELIVERED: u32 = 0xFFEF_F8AA;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flash {
    pub art: Art,
    acr: u32,
    sr: u32,
    cr: u32,
    key: u8,
    /// A wrong key locks it until the next reset.
    jammed: bool,
    /// The first half of a double word.
    first: Option<(u32, u32)>,
    running: Running,
    bank_bytes: u32,
}

impl Flash {
    pub fn new(dev: &crate::device::Stm32l4) -> Self {
        Self {
            art: Art::new(&dev.art),
            acr: ACR_RESET,
            cr: FLASH_CR_LOCK | FLASH_CR_OPTLOCK,
            bank_bytes: dev.flash.bank_bytes,
            sr: 0,
            key: 0,
            jammed: false,
            first: None,
            running: None,
        }
    }

    pub fn wait_states(&self) -> u32 {
        self.acr & FLASH_ACR_LATENCY
    }

    /// Whether any read may take longer than a cycle.
    pub fn may_wait(&self) -> bool {
        self.running.is_some() || self.wait_states() != 0
    }

    pub fn busy_until(&self) -> Option<Picos> {
        flash_cells::ends(&self.running)
    }

    fn bank(&self, offset: u32) -> u32 {
        offset / self.bank_bytes
    }

    /// Whether the bank of an offset in the flash is worked on and cannot be read.
    pub fn is_busy(&self, offset: u32) -> bool {
        let touches = |range: &Range<u32>| {
            (self.bank(range.start)..=self.bank(range.end - 1)).contains(&self.bank(offset))
        };
        self.running.as_ref().is_some_and(|(o, _)| o.touches().iter().any(touches))
    }

    pub fn state(&self, write: StateId, erase: StateId) -> StateId {
        flash_cells::state(&self.running, write, erase)
    }

    /// A store to flash at `offset`.
    pub fn store(
        &mut self,
        offset: u32,
        width: Width,
        value: u32,
        cx: &mut Cx<'_>,
    ) -> Result<(), Fault> {
        if self.cr & FLASH_CR_PG == 0 {
            return Err(cx.refuse(
                "store to flash while it is not being programmed; unlock it with FLASH_KEYR and set FLASH_CR.PG first",
            ));
        }
        if self.running.is_some() {
            return Err(cx.refuse(
                "store to flash while an operation runs; wait until FLASH_SR.BSY is clear",
            ));
        }
        if self.sr & ERRORS != 0 {
            self.sr |= FLASH_SR_PGSERR;
            return Ok(());
        }
        if width != Width::W32 {
            self.sr |= FLASH_SR_SIZERR;
            return Ok(());
        }
        match self.first.take() {
            None if offset.is_multiple_of(8) => self.first = Some((offset, value)),
            None => self.sr |= FLASH_SR_PGAERR,
            Some((first, low)) if offset == first + 4 => {
                let bytes = [low.to_le_bytes(), value.to_le_bytes()].concat();
                let time = cx.dev.stm32l4().flash.double_word_program_us;
                self.begin(Operation::Program { addr: first, bytes }, time, cx);
                cx.accounts.count(Event::FlashDoubleWordWrite);
            }
            Some(_) => self.sr |= FLASH_SR_PGAERR,
        }
        Ok(())
    }

    fn begin(&mut self, operation: Operation, time_us: f64, cx: &mut Cx<'_>) {
        self.running = Some((operation, (cx.now + us(time_us)).0));
        self.art.flash_changed();
        cx.fx.memory = true;
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.running.is_some() || self.sr & ERRORS != 0 {
            self.sr |= FLASH_SR_PGSERR;
            return;
        }
        let f = &cx.dev.stm32l4().flash;
        let (from, to, ms) =
            match (self.cr & FLASH_CR_PER != 0, self.cr & (FLASH_CR_MER1 | FLASH_CR_MER2)) {
                (true, 0) => {
                    let bank = if self.cr & FLASH_CR_BKER != 0 { self.bank_bytes } else { 0 };
                    let from = bank + (self.cr >> 3 & 0xFF) * f.page_bytes;
                    (from, from + f.page_bytes, f.page_erase_ms)
                }
                (false, FLASH_CR_MER1) => (0, self.bank_bytes, f.mass_erase_ms),
                (false, FLASH_CR_MER2) => (self.bank_bytes, 2 * self.bank_bytes, f.mass_erase_ms),
                (false, both) if both == FLASH_CR_MER1 | FLASH_CR_MER2 => {
                    (0, 2 * self.bank_bytes, f.mass_erase_ms)
                }
                _ => {
                    self.sr |= FLASH_SR_PGSERR;
                    return;
                }
            };
        let page = self.cr & FLASH_CR_PER != 0;
        cx.accounts.count(if page { Event::FlashPageErase } else { Event::FlashMassErase });
        self.begin(Operation::Erase(vec![from..to]), ms * 1e3, cx);
    }

    /// Ends the operation that is due.
    pub fn event(&mut self, memory: &mut [u8]) {
        // Only an erased double word, or zeros over anything, can be programmed (RM0351 3.3.7).
        if let Some((Operation::Program { addr, bytes }, _)) = &self.running
            && bytes.iter().any(|b| *b != 0)
            && memory[as_is(*addr)..][..bytes.len()].iter().any(|b| *b != 0xFF)
        {
            self.sr |= FLASH_SR_PROGERR;
            self.running = None;
        } else {
            flash_cells::finish(&mut self.running, memory, as_is);
        }
        if self.cr & FLASH_CR_EOPIE != 0 && self.sr & ERRORS == 0 {
            self.sr |= FLASH_SR_EOP;
        }
        self.art.flash_changed();
    }

    /// The supply goes away: what was under way is left half done. False if nothing was.
    pub fn cut(&mut self, memory: &mut [u8], seed: u64) -> bool {
        let cut = !flash_cells::cut(&mut self.running, memory, as_is, seed).is_empty();
        if cut {
            self.art.flash_changed();
        }
        cut
    }

    fn write_acr(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let new = merge(self.acr, value, mask);
        let known = FLASH_ACR_LATENCY
            | FLASH_ACR_PRFTEN
            | FLASH_ACR_ICEN
            | FLASH_ACR_DCEN
            | FLASH_ACR_ICRST
            | FLASH_ACR_DCRST
            | FLASH_ACR_SLEEP_PD;
        only(new, known, "flash that is off in Run mode (FLASH_ACR.RUN_PD) is not modelled", cx)?;
        if new & FLASH_ACR_LATENCY > 4 {
            return Err(cx.refuse("FLASH_ACR.LATENCY is reserved above 4"));
        }
        // Caches may be reset only while they are off.
        if new & FLASH_ACR_ICRST != 0 && self.acr & FLASH_ACR_ICEN != 0
            || new & FLASH_ACR_DCRST != 0 && self.acr & FLASH_ACR_DCEN != 0
        {
            cx.lint(LintKind::LockedBits);
        }
        if new & FLASH_ACR_ICRST != 0 && self.acr & FLASH_ACR_ICEN == 0 {
            self.art.clear_instructions();
        }
        if new & FLASH_ACR_DCRST != 0 && self.acr & FLASH_ACR_DCEN == 0 {
            self.art.clear_data();
        }
        self.acr = new;
        self.art.waits = new & FLASH_ACR_LATENCY;
        self.art.icache = new & FLASH_ACR_ICEN != 0;
        self.art.dcache = new & FLASH_ACR_DCEN != 0;
        self.art.prefetch = new & FLASH_ACR_PRFTEN != 0;
        (cx.fx.memory, cx.fx.clocks) = (true, true);
        Ok(())
    }

    fn write_cr(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        if self.cr & FLASH_CR_LOCK != 0 {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        let new = merge(self.cr, value, mask);
        only(
            new & !(FLASH_CR_LOCK | FLASH_CR_OPTLOCK | FLASH_CR_STRT),
            CR_PLAIN,
            "fast programming and option bytes are not modelled; program double words with FLASH_CR.PG",
            cx,
        )?;
        self.cr = new & CR_PLAIN | self.cr & FLASH_CR_OPTLOCK | new & FLASH_CR_LOCK;
        self.first = None;
        if new & FLASH_CR_STRT != 0 {
            self.start(cx);
        }
        Ok(())
    }

    fn write_key(&mut self, value: u32, cx: &mut Cx<'_>) {
        match (self.key, value) {
            _ if self.jammed || self.cr & FLASH_CR_LOCK == 0 => cx.lint(LintKind::LockedBits),
            (0, FLASH_KEYR_KEY1) => self.key = 1,
            (1, FLASH_KEYR_KEY2) => {
                self.key = 0;
                self.cr &= !FLASH_CR_LOCK;
            }
            _ => self.jammed = true,
        }
    }
}

impl Block<Stm32> for Flash {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            FLASH_ACR => self.acr,
            FLASH_SR => self.sr | if self.running.is_some() { FLASH_SR_BSY } else { 0 },
            FLASH_CR => self.cr | if self.running.is_some() { FLASH_CR_STRT } else { 0 },
            FLASH_ECCR | FLASH_KEYR | FLASH_PDKEYR | FLASH_OPTKEYR => 0,
            FLASH_OPTR => OPTR_DELIVERED,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            FLASH_ACR => self.write_acr(value, mask, cx)?,
            FLASH_KEYR => self.write_key(value, cx),
            FLASH_SR => self.sr &= !(value & mask & (FLASH_SR_EOP | ERRORS)),
            FLASH_CR => self.write_cr(value, mask, cx)?,
            FLASH_ECCR => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn asks(&mut self) -> u32 {
        u32::from(
            self.cr & FLASH_CR_EOPIE != 0 && self.sr & FLASH_SR_EOP != 0
                || self.cr & FLASH_CR_ERRIE != 0 && self.sr & ERRORS != 0,
        )
    }

    fn may_ask(&self, _: &()) -> bool {
        self.cr & (FLASH_CR_EOPIE | FLASH_CR_ERRIE) != 0 && self.running.is_some()
    }
}
