// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flash controller: FCTL1, FCTL3, FCTL4 and the operations they allow.
//!
//! Memory changes when an operation ends. A supply cut in between leaves a word of which some bits
//! are programmed, or a segment of which some bits are erased, by the machine's seed.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::msp430::Width;
use sunseal_registers::msp430x5xx::flash::*;
use sunseal_trace::{Picos, StateId};

use super::flash_cells::{self, Operation, Running, as_is};
use super::{Block, Ctx, Reset, ResetKind, cause};
use crate::accounts::Event;
use crate::blocks::follow::Follow;
use crate::clock::Clocks;
use crate::device::{Region, RegionKind, us};
use crate::lint::LintKind;

const FWPW_HIGH: u16 = 0xA5;
const FRPW: u16 = 0x9600;

const F1_BITS: u16 = 0xE6;

const INFO_A_BYTES: u32 = 128;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlashController {
    fctl1: u16,
    fctl3: u16,
    fctl4: u16,
    running: Running,
    /// First half of a 32-bit write.
    half: Option<(u32, u16)>,
}

impl FlashController {
    pub fn new() -> Self {
        Self { fctl3: WAIT | LOCK | LOCKA, ..Self::default() }
    }

    pub fn reset(&mut self) {
        self.fctl1 = 0;
        self.fctl3 = WAIT | LOCK | LOCKA | (self.fctl3 & KEYV);
        self.fctl4 = 0;
        self.half = None;
    }

    /// When the running operation ends.
    pub fn busy_until(&self) -> Option<Picos> {
        flash_cells::ends(&self.running)
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.busy_until()
    }

    pub fn access_violation(&self) -> bool {
        self.fctl3 & ACCVIFG != 0
    }

    fn state(&self) -> StateId {
        flash_cells::state(&self.running, flash_cells::WRITE, flash_cells::ERASE)
    }

    /// Refuses a store that the controller's state or the supply does not allow.
    fn may_store(&mut self, region: &Region, cx: &Ctx<'_>) -> Result<(), Fault> {
        if self.running.is_some() {
            self.fctl3 |= ACCVIFG;
            return Err(cx.refuse("store to flash while BUSY is set; wait for it to clear"));
        }
        if self.fctl3 & LOCK != 0 {
            return Err(cx.refuse(
                "store to flash while it is locked; write FWPW to FCTL3 to clear LOCK first",
            ));
        }
        if region.kind == RegionKind::InfoFlash {
            if self.fctl4 & LOCKINFO != 0 {
                return Err(cx.refuse("store to information flash while LOCKINFO is set"));
            }
            if cx.addr > region.end - INFO_A_BYTES && self.fctl3 & LOCKA != 0 {
                return Err(cx.refuse("store to information segment A while LOCKA is set; write FWPW + LOCKA to FCTL3"));
            }
        }
        if cx.vcc_v < cx.dev.f5xx().flash.vcc_min_v {
            let (is, min) = (cx.vcc_v, cx.dev.f5xx().flash.vcc_min_v);
            return Err(
                cx.refuse(format!("flash operation at a supply of {is:.3} V; it needs {min} V"))
            );
        }
        Ok(())
    }

    /// What a store begins by FCTL1, how long it takes and what it is booked as; none for the first half of a long word.
    fn asked(
        &mut self,
        region: &Region,
        width: Width,
        value: u16,
        cx: &Ctx<'_>,
    ) -> Result<Option<(Operation, Picos, Event)>, Fault> {
        let addr = cx.addr;
        let f = &cx.dev.f5xx().flash;
        let asked = match (self.fctl1 & (ERASE | MERAS), self.fctl1 & (WRT | BLKWRT)) {
            (0, WRT) => {
                let bytes = match width {
                    Width::Byte => vec![value as u8],
                    Width::Word => value.to_le_bytes().to_vec(),
                };
                (Operation::Program { addr, bytes }, us(f.word_write_us), Event::FlashWordWrite)
            }
            (0, blk) if blk & BLKWRT != 0 => {
                if width == Width::Byte {
                    return Err(cx.refuse(
                        "byte store in a 32-bit flash write; write two words, low one first",
                    ));
                }
                let Some((low_addr, low)) = self.half.take() else {
                    if !addr.is_multiple_of(4) {
                        return Err(
                            cx.refuse("32-bit flash write must begin at an address divisible by 4")
                        );
                    }
                    self.half = Some((addr, value));
                    return Ok(None);
                };
                if addr != low_addr + 2 {
                    return Err(
                        cx.refuse("32-bit flash write must go on in the word behind its first")
                    );
                }
                let bytes = [low.to_le_bytes(), value.to_le_bytes()].concat();
                (
                    Operation::Program { addr: low_addr, bytes },
                    us(f.long_word_write_us),
                    Event::FlashWordWrite,
                )
            }
            (ERASE, 0) => {
                let bytes = region.segment_bytes.unwrap_or(1);
                let start = addr & !(bytes - 1);
                (
                    Operation::Erase(vec![start..start + bytes]),
                    us(f.segment_erase_ms * 1e3),
                    Event::FlashSegmentErase,
                )
            }
            (e, 0) if e == ERASE | MERAS && region.kind == RegionKind::Flash => {
                let (start, bytes) = (region.start, region.size_bytes());
                (
                    Operation::Erase(vec![start..start + bytes]),
                    us(f.mass_erase_ms * 1e3),
                    Event::FlashMassErase,
                )
            }
            (MERAS, 0) => {
                return Err(cx.refuse(
                    "bank erase is not modelled; erase segments, or all with ERASE + MERAS",
                ));
            }
            _ => {
                self.fctl3 |= ACCVIFG;
                return Err(
                    cx.refuse("store to flash while FCTL1 selects neither a write nor an erase")
                );
            }
        };
        Ok(Some(asked))
    }

    /// A store to flash at `cx.addr`. `old` is what the word holds.
    pub fn store(
        &mut self,
        region: &Region,
        width: Width,
        value: u16,
        memory: &[u8],
        cx: &mut Ctx<'_>,
    ) -> Result<StateId, Fault> {
        self.may_store(region, cx)?;
        let Some((operation, time, event)) = self.asked(region, width, value, cx)? else {
            return Ok(self.state());
        };
        if operation.overwrites(memory, as_is) {
            cx.lint(LintKind::FlashOverwrite);
        }
        self.running = Some((operation, cx.now.0 + time.0));
        cx.accounts.count(event);
        Ok(self.state())
    }

    /// The running operation is over: memory changes, and where.
    pub fn event(&mut self, memory: &mut [u8]) -> Vec<Range<u32>> {
        flash_cells::finish(&mut self.running, memory, as_is)
    }

    /// The supply went away in the middle.
    pub fn cut(&mut self, memory: &mut [u8], seed: u64) -> Vec<Range<u32>> {
        flash_cells::cut(&mut self.running, memory, as_is, seed)
    }
}

impl Block for FlashController {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        let busy = if self.running.is_some() { BUSY } else { 0 };
        match off {
            FCTL1 => Ok(FRPW | self.fctl1),
            FCTL3 => Ok(FRPW | self.fctl3 | busy),
            FCTL4 => Ok(FRPW | self.fctl4),
            _ => Err(cx.no_register()),
        }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if !matches!(off, FCTL1 | FCTL3 | FCTL4) {
            return Err(cx.no_register());
        }
        if mask != 0xFFFF || value >> 8 != FWPW_HIGH {
            self.fctl3 |= KEYV;
            cx.reset(ResetKind::Puc, cause::KEYV);
            return Ok(());
        }
        match off {
            FCTL1 if self.running.is_some() => self.fctl3 |= ACCVIFG,
            FCTL1 => {
                self.fctl1 = value & F1_BITS;
                self.half = None;
            }
            FCTL3 if value & EMEX != 0 => {
                return Err(cx.refuse("emergency exit of a flash operation (EMEX) is not modelled"));
            }
            FCTL3 => {
                let toggled = if value & LOCKA != 0 { LOCKA } else { 0 };
                let kept = self.fctl3 & LOCKA ^ toggled;
                self.fctl3 = WAIT | kept | value & (LOCK | KEYV | ACCVIFG);
            }
            _ => self.fctl4 = value & 0xB1,
        }
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn forget(&mut self, _: u64) {
        self.fctl3 &= !KEYV;
    }

    fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event()
    }
}
