// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flash controller of the MSP430x1xx (SLAU049, chapter 5): FCTL1 to FCTL3, with its own timing
//! generator.
//!
//! Memory changes when an operation ends. A supply cut in between leaves a word of which some bits
//! are programmed, or a segment of which some bits are erased, by the machine's seed.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::msp430::Width;
use sunseal_registers::msp430x1xx::flash::{BLKWRT, ERASE, FCTL1, FCTL2, FCTL3, FSSEL, MERAS, WRT};
use sunseal_registers::msp430x5xx::flash::{ACCVIFG, BUSY, EMEX, KEYV, LOCK, WAIT};
use sunseal_trace::Picos;

use super::flash_cells::{self, Operation, Running, as_is};
use super::{Block, Ctx, Reset, ResetKind, cause};
use crate::accounts::Event;
use crate::blocks::follow::Follow;
use crate::clock::Clocks;
use crate::device::{Region, RegionKind};
use crate::lint::LintKind;

const FWPW: u16 = 0xA5;
const FRPW: u16 = 0x9600;

const F1_BITS: u16 = 0xC6;

const FN: u16 = 0x3F;

/// A row under one programming voltage; also what a block write fills.
const ROW_BYTES: u32 = 64;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlashF1xx {
    fctl1: u16,
    fctl2: u16,
    fctl3: u16,
    running: Running,
    /// The row of a block write under way.
    block: Option<u32>,
    /// Nanoseconds of programming voltage by row, since it was erased.
    programmed_ns: BTreeMap<u32, u64>,
}

/// What the controller does, for the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Idle,
    Write,
    Erase,
}

impl FlashF1xx {
    pub fn new() -> Self {
        Self { fctl2: 0x42, fctl3: WAIT | LOCK, ..Self::default() }
    }

    /// A PUC. KEYV tells its cause until a power-on reset clears it.
    pub fn reset(&mut self, power_on: bool) {
        let programmed_ns = std::mem::take(&mut self.programmed_ns);
        let keyv = if power_on { 0 } else { self.fctl3 & KEYV };
        *self = Self { fctl3: WAIT | LOCK | keyv, programmed_ns, ..Self::new() };
    }

    pub fn activity(&self) -> Activity {
        match &self.running {
            Some((Operation::Erase(_), _)) => Activity::Erase,
            Some(_) => Activity::Write,
            None if self.block.is_some() => Activity::Write,
            None => Activity::Idle,
        }
    }

    /// When the running operation ends.
    pub fn next_event(&self) -> Option<Picos> {
        flash_cells::ends(&self.running)
    }

    /// Flash cannot be read: an operation runs or a block is open.
    pub fn is_busy(&self) -> bool {
        self.running.is_some() || self.block.is_some()
    }

    /// A block is being written, which code in flash cannot do.
    pub fn in_block(&self) -> bool {
        self.block.is_some()
    }

    pub fn access_violation(&self) -> bool {
        self.fctl3 & ACCVIFG != 0
    }

    fn finish_block_at(&mut self, end_ps: u128) {
        // A word that is still being written lands with the end of the block.
        let last = self.running.take();
        self.block = None;
        let operation = match last {
            Some((word @ Operation::Program { .. }, _)) => word,
            // The voltage goes down behind a block.
            _ => Operation::Program { addr: 0, bytes: Vec::new() },
        };
        self.running = Some((operation, end_ps));
    }

    /// Time of `n` cycles of the timing generator, whose clock must be legal.
    fn cycles(&self, n: u32, cx: &Ctx<'_>) -> Result<Picos, Fault> {
        let line = match self.fctl2 & FSSEL {
            0x00 => &cx.clocks.aclk,
            0x40 => &cx.clocks.mclk,
            _ => &cx.clocks.smclk,
        };
        let divider = u64::from(self.fctl2 & FN) + 1;
        let f = &cx.dev.f1xx().flash;
        let khz = f64::from(line.freq_hz()) / divider as f64 / 1e3;
        if khz < f.timing_min_khz || khz > f.timing_max_khz {
            return Err(cx.refuse(format!(
                "flash timing generator at {khz:.1} kHz; it needs {} to {} kHz: set FSSELx and FNx of FCTL2",
                f.timing_min_khz, f.timing_max_khz
            )));
        }
        Ok(Picos::of_ticks(u64::from(n) * divider, line.freq_hz()))
    }

    /// A store to flash at `cx.addr`.
    pub fn store(
        &mut self,
        region: &Region,
        width: Width,
        value: u16,
        memory: &[u8],
        cx: &mut Ctx<'_>,
    ) -> Result<(), Fault> {
        let addr = cx.addr;
        if self.running.is_some() {
            self.fctl3 |= ACCVIFG;
            return Err(
                cx.refuse("store to flash while BUSY is set (in a block: before WAIT is set)")
            );
        }
        if self.fctl3 & LOCK != 0 {
            return Err(cx.refuse(
                "store to flash while it is locked; write FWKEY to FCTL3 to clear LOCK first",
            ));
        }
        let f = &cx.dev.f1xx().flash;
        if cx.vcc_v < f.vcc_min_v {
            let (is, min) = (cx.vcc_v, f.vcc_min_v);
            return Err(
                cx.refuse(format!("flash operation at a supply of {is:.3} V; it needs {min} V"))
            );
        }
        match (self.fctl1 & (ERASE | MERAS), self.fctl1 & (WRT | BLKWRT)) {
            (0, WRT) => {
                let time = self.cycles(f.word_cycles, cx)?;
                self.program(addr, width, value, time, memory, cx);
            }
            (0, w) if w == WRT | BLKWRT => {
                let row = addr & !(ROW_BYTES - 1);
                let cycles = match &self.block {
                    None => f.block_first_cycles,
                    Some(b) if *b == row => f.block_next_cycles,
                    Some(_) => {
                        self.fctl3 |= ACCVIFG;
                        return Err(cx.refuse(
                            "block write that leaves its row of 64 bytes; clear BLKWRT and begin another",
                        ));
                    }
                };
                let time = self.cycles(cycles, cx)?;
                self.program(addr, width, value, time, memory, cx);
                self.block = Some(row);
            }
            (ERASE, 0) => {
                let bytes = region.segment_bytes.unwrap_or(1);
                let time = self.cycles(f.segment_erase_cycles, cx)?;
                let start = addr & !(bytes - 1);
                self.erase(vec![start..start + bytes], time, Event::FlashSegmentErase, cx);
            }
            (e, 0) if e & MERAS != 0 => {
                let time = self.cycles(f.mass_erase_cycles, cx)?;
                let all = |r: &&Region| {
                    r.kind == RegionKind::Flash
                        || (e & ERASE != 0 && r.kind == RegionKind::InfoFlash)
                };
                let ranges = cx.dev.memory.iter().filter(all).map(|r| r.start..r.end + 1).collect();
                self.erase(ranges, time, Event::FlashMassErase, cx);
            }
            _ => {
                self.fctl3 |= ACCVIFG;
                return Err(
                    cx.refuse("store to flash while FCTL1 selects neither a write nor an erase")
                );
            }
        }
        Ok(())
    }

    fn program(
        &mut self,
        addr: u32,
        width: Width,
        value: u16,
        time: Picos,
        memory: &[u8],
        cx: &mut Ctx<'_>,
    ) {
        let bytes = match width {
            Width::Byte => vec![value as u8],
            _ => value.to_le_bytes().to_vec(),
        };
        let operation = Operation::Program { addr, bytes };
        if operation.overwrites(memory, as_is) {
            cx.lint(LintKind::FlashOverwrite);
        }
        let row = self.programmed_ns.entry(addr & !(ROW_BYTES - 1)).or_default();
        *row += (time.0 / 1000) as u64;
        if *row as f64 > cx.dev.f1xx().flash.cumulative_ms * 1e6 {
            cx.lint(LintKind::FlashProgramTime);
        }
        cx.accounts.count(Event::FlashWordWrite);
        self.running = Some((operation, cx.now.0 + time.0));
    }

    fn erase(&mut self, ranges: Vec<Range<u32>>, time: Picos, event: Event, cx: &mut Ctx<'_>) {
        cx.accounts.count(event);
        self.running = Some((Operation::Erase(ranges), cx.now.0 + time.0));
    }

    /// The running operation is over: memory changes, and where.
    pub fn event(&mut self, memory: &mut [u8]) -> Vec<Range<u32>> {
        let erases = matches!(self.running, Some((Operation::Erase(_), _)));
        let done = flash_cells::finish(&mut self.running, memory, as_is);
        self.programmed_ns.retain(|row, _| !(erases && done.iter().any(|r| r.contains(row))));
        done
    }

    /// The supply went away, or a reset came, in the middle.
    pub fn cut(&mut self, memory: &mut [u8], seed: u64) -> Vec<Range<u32>> {
        self.block = None;
        flash_cells::cut(&mut self.running, memory, as_is, seed)
    }
}

impl Block for FlashF1xx {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, _: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            FCTL1 => FRPW | self.fctl1,
            FCTL2 => FRPW | self.fctl2,
            _ => {
                let busy = if self.is_busy() { BUSY } else { 0 };
                let waits = self.block.is_none() || self.running.is_none();
                FRPW | self.fctl3 & !WAIT | busy | if waits { WAIT } else { 0 }
            }
        })
    }

    fn write(&mut self, off: u32, value: u16, _: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if value >> 8 != FWPW {
            self.fctl3 |= KEYV;
            cx.reset(ResetKind::Puc, cause::KEYV);
            return Ok(());
        }
        match off {
            FCTL1 if self.block.is_some() && value & BLKWRT == 0 => {
                let end = cx.dev.f1xx().flash.block_end_cycles;
                let from = self.running.as_ref().map_or(cx.now.0, |(_, t)| *t);
                self.finish_block_at(from + self.cycles(end, cx)?.0);
                self.fctl1 = value & F1_BITS;
            }
            FCTL1 | FCTL2 if self.is_busy() => self.fctl3 |= ACCVIFG,
            FCTL1 => self.fctl1 = value & F1_BITS,
            FCTL2 => self.fctl2 = value & 0xFF,
            FCTL3 if value & EMEX != 0 => {
                return Err(cx.refuse("emergency exit of a flash operation (EMEX) is not modelled"));
            }
            _ => self.fctl3 = WAIT | value & (LOCK | KEYV | ACCVIFG),
        }
        Ok(())
    }

    fn restart(&mut self, how: Reset) {
        self.reset(how.kind != ResetKind::Puc);
    }

    fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event()
    }
}
