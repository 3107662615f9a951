// SPDX-License-Identifier: MIT OR Apache-2.0
//! FLCTL: two flash banks that are read with wait states through a line buffer each, programmed by
//! words and erased by sectors (SLAU356I chapter 9).
//!
//! Memory changes when an operation ends. A supply cut in between leaves a word of which some bits
//! are programmed, or a sector of which some bits are erased, by the machine's seed.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::flctl::*;
use sunseal_trace::{Cycles, Picos, StateId, Width};

use super::flash_cells::{self, Operation, Running};
use super::wide::{Block, Cx, Lines, P4, merge};
use crate::accounts::Event;
use crate::device::us;
use crate::lint::LintKind;

const FLAGS: u32 = 0x33F;

pub(crate) const INFO: u32 = 0x0020_0000;
pub(crate) const MAIN_BYTES: u32 = 0x4_0000;
pub(crate) const INFO_BYTES: u32 = 0x4000;
const SECTOR: u32 = 0x1000;
const NO_LINE: u32 = u32::MAX;

/// What one bank's buffer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Bank {
    rdctl: u32,
    /// Number of the line of 16 bytes in the buffer.
    line: u32,
    /// The word that came last without the buffer, which the fetch unit still has.
    word: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flctl {
    banks: [Bank; 2],
    prg: u32,
    erase: u32,
    sectaddr: u32,
    protect_main: [u32; 2],
    protect_info: [u32; 2],
    ifg: u32,
    ie: u32,
    running: Running,
    /// The bits of a 128-bit word that have come so far in full word mode.
    gathered: Option<(u32, Vec<u8>)>,
}

/// Place of information flash in the chip's memory, behind the main flash's.
const INFO_AT: u32 = MAIN_BYTES;

/// Place of a flash address in the chip's memory.
pub(crate) fn place(addr: u32) -> Option<u32> {
    match addr {
        0..MAIN_BYTES => Some(addr),
        INFO.. if addr < INFO + INFO_BYTES => Some(INFO_AT + addr - INFO),
        _ => None,
    }
}

/// The same of an address that the controller works on.
fn cell(addr: u32) -> usize {
    place(addr).expect("the controller has flash there") as usize
}

/// The bank of a flash address.
fn bank(addr: u32) -> usize {
    let (offset, half) =
        if addr >= INFO { (addr - INFO, INFO_BYTES / 2) } else { (addr, MAIN_BYTES / 2) };
    usize::from(offset >= half)
}

impl Flctl {
    pub fn new() -> Self {
        let bank = || Bank { rdctl: 0, line: NO_LINE, word: NO_LINE };
        Self {
            banks: [bank(), bank()],
            prg: 0xC,
            protect_main: [u32::MAX; 2],
            protect_info: [3; 2],
            ..Self::default()
        }
    }

    /// What a soft or hard reset leaves: reads go on as they were set.
    pub fn reset(&mut self) {
        let banks = self.banks.clone();
        *self = Self { banks, ..Self::new() };
    }

    // ---- reading

    pub fn wait_states(&self, bank: usize) -> u32 {
        self.banks[bank].rdctl >> 12 & 0xF
    }

    pub fn normal_read(&self, bank: usize) -> bool {
        self.banks[bank].rdctl & FLCTL_BANK0_RDCTL_RD_MODE == 0
    }

    /// Whether any read may take longer than a cycle.
    pub fn may_wait(&self) -> bool {
        self.running.is_some() || (0..2).any(|b| self.wait_states(b) != 0)
    }

    fn access(&mut self, addr: u32, buffered: u32) -> Cycles {
        let b = &mut self.banks[bank(addr)];
        let waits = Cycles::from(b.rdctl >> 12 & 0xF);
        if b.rdctl & buffered != 0 {
            let line = addr >> 4;
            if b.line == line {
                return 0;
            }
            b.line = line;
        }
        waits
    }

    /// Wait states of fetching the words that the instruction at `pc` lies in.
    pub fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        let (first, last) = (pc >> 2, (pc + bytes - 1) >> 2);
        let mut waits = 0;
        for word in first..=last {
            let i = bank(word << 2);
            if self.banks[i].word != word {
                waits += self.access(word << 2, FLCTL_BANK0_RDCTL_BUFI);
                self.banks[i].word = word;
            }
        }
        waits
    }

    /// Wait states of a read of data.
    pub fn loaded(&mut self, addr: u32) -> Cycles {
        self.access(addr, FLCTL_BANK0_RDCTL_BUFD)
    }

    /// What the buffers hold is not the memory any more.
    fn forget(&mut self) {
        for b in &mut self.banks {
            (b.line, b.word) = (NO_LINE, NO_LINE);
        }
    }

    // ---- changing

    pub fn busy_until(&self) -> Option<Picos> {
        flash_cells::ends(&self.running)
    }

    /// Whether the bank of `addr` is worked on and cannot be read.
    pub fn is_busy(&self, addr: u32) -> bool {
        let touches = |range: &Range<u32>| bank(range.start) == bank(addr);
        self.running.as_ref().is_some_and(|(o, _)| o.touches().iter().any(touches))
    }

    pub fn state(&self) -> StateId {
        flash_cells::state(&self.running, flash_cells::WRITE, flash_cells::ERASE)
    }

    fn protected(&self, addr: u32) -> bool {
        let b = bank(addr);
        if addr >= INFO {
            let sector = (addr - INFO) / SECTOR % 2;
            self.protect_info[b] >> sector & 1 != 0
        } else {
            let sector = addr / SECTOR % 32;
            self.protect_main[b] >> sector & 1 != 0
        }
    }

    /// A store to flash.
    pub fn store(&mut self, width: Width, value: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let addr = cx.addr;
        if self.prg & FLCTL_PRG_CTLSTAT_ENABLE == 0 {
            return Err(cx.refuse(
                "store to flash while it is not being programmed; set FLCTL_PRG_CTLSTAT.ENABLE first",
            ));
        }
        if self.protected(addr) {
            return Err(cx.refuse(
                "store to a flash sector that is protected; clear its bit in FLCTL_BANKx_MAIN_WEPROT or INFO_WEPROT",
            ));
        }
        if self.running.is_some() {
            return Err(cx.refuse(
                "store to flash while a program or erase operation runs; wait for its flag",
            ));
        }
        let bytes = &value.to_le_bytes()[..width.bytes() as usize];
        if self.prg & FLCTL_PRG_CTLSTAT_MODE != 0 {
            return self.gather(addr, bytes, cx);
        }
        let time = cx.dev.msp432().flash.word_program_us;
        self.begin(Operation::Program { addr, bytes: bytes.to_vec() }, time, cx);
        cx.accounts.count(Event::FlashWordWrite);
        Ok(())
    }

    /// Full word mode: words of 32 bits from the first to the fourth of 128 bits.
    fn gather(&mut self, addr: u32, bytes: &[u8], cx: &mut Cx<'_>) -> Result<(), Fault> {
        let (start, mut all) = self.gathered.take().unwrap_or((addr, Vec::new()));
        if bytes.len() != 4 || !start.is_multiple_of(16) || addr != start + all.len() as u32 {
            // A word composition error: nothing is programmed.
            self.ifg |= FLCTL_IFG_PRG_ERR;
            return Ok(());
        }
        all.extend_from_slice(bytes);
        if all.len() < 16 {
            self.gathered = Some((start, all));
            return Ok(());
        }
        let time = cx.dev.msp432().flash.full_word_program_us;
        self.begin(Operation::Program { addr: start, bytes: all }, time, cx);
        cx.accounts.count(Event::FlashWordWrite);
        Ok(())
    }

    fn begin(&mut self, operation: Operation, time_us: f64, cx: &mut Cx<'_>) {
        self.running = Some((operation, (cx.now + us(time_us)).0));
        self.forget();
        cx.fx.memory = true;
    }

    fn start_erase(&mut self, cx: &mut Cx<'_>) {
        let all = if self.erase & FLCTL_ERASE_CTLSTAT_MODE != 0 {
            let main = (0..MAIN_BYTES / SECTOR).map(|i| i * SECTOR);
            let info = (0..INFO_BYTES / SECTOR).map(|i| INFO + i * SECTOR);
            main.chain(info).collect()
        } else if self.erase & FLCTL_ERASE_CTLSTAT_TYPE_1 != 0 {
            vec![INFO + (self.sectaddr & 0x3000)]
        } else {
            vec![self.sectaddr & 0x3_F000]
        };
        let open = all.into_iter().filter(|s| !self.protected(*s));
        let sectors: Vec<_> = open.map(|s| s..s + SECTOR).collect();
        if sectors.is_empty() {
            self.erase |= FLCTL_ERASE_CTLSTAT_ADDR_ERR | 3 << 16;
            self.ifg |= FLCTL_IFG_ERASE;
            return;
        }
        let mass = self.erase & FLCTL_ERASE_CTLSTAT_MODE != 0;
        let f = &cx.dev.msp432().flash;
        let ms = if mass { f.mass_erase_ms } else { f.sector_erase_ms };
        cx.accounts.count(if mass { Event::FlashMassErase } else { Event::FlashSegmentErase });
        self.begin(Operation::Erase(sectors), ms * 1e3, cx);
    }

    /// Ends the operation that is due.
    pub fn event(&mut self, memory: &mut [u8]) {
        match &self.running {
            None => return,
            Some((program @ Operation::Program { .. }, _)) => {
                self.ifg |= FLCTL_IFG_PRG;
                if self.prg & FLCTL_PRG_CTLSTAT_VER_PST != 0 && program.overwrites(memory, cell) {
                    self.ifg |= FLCTL_IFG_AVPST;
                }
            }
            Some((Operation::Erase(_), _)) => {
                self.erase |= 3 << 16;
                self.ifg |= FLCTL_IFG_ERASE;
            }
        }
        flash_cells::finish(&mut self.running, memory, cell);
        self.forget();
    }

    /// The supply goes away: what was under way is left half done. False if nothing was.
    pub fn cut(&mut self, memory: &mut [u8], seed: u64) -> bool {
        let cut = !flash_cells::cut(&mut self.running, memory, cell, seed).is_empty();
        if cut {
            self.forget();
        }
        cut
    }
}

impl Block<P4> for Flctl {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        let rdctl = |b: usize| {
            let r = self.banks[b].rdctl;
            r | (r & FLCTL_BANK0_RDCTL_RD_MODE) << 16
        };
        Ok(match off {
            // Flash is on and all its supplies are good.
            FLCTL_POWER_STAT => 0x7B,
            FLCTL_BANK0_RDCTL => rdctl(0),
            FLCTL_BANK1_RDCTL => rdctl(1),
            FLCTL_PRG_CTLSTAT => match &self.running {
                Some((Operation::Program { addr, .. }, _)) => {
                    self.prg | 2 << 16 | (bank(*addr) as u32) << 18
                }
                _ => self.prg,
            },
            FLCTL_ERASE_CTLSTAT => match &self.running {
                Some((Operation::Erase(_), _)) => self.erase | 2 << 16,
                _ => self.erase,
            },
            FLCTL_ERASE_SECTADDR => self.sectaddr,
            FLCTL_BANK0_INFO_WEPROT => self.protect_info[0],
            FLCTL_BANK0_MAIN_WEPROT => self.protect_main[0],
            FLCTL_BANK1_INFO_WEPROT => self.protect_info[1],
            FLCTL_BANK1_MAIN_WEPROT => self.protect_main[1],
            FLCTL_IFG => self.ifg,
            FLCTL_IE => self.ie,
            FLCTL_RDBRST_CTLSTAT | FLCTL_BMRK_CTLSTAT | FLCTL_CLRIFG | FLCTL_SETIFG => 0,
            FLCTL_PRGBRST_CTLSTAT => 0xC0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            FLCTL_BANK0_RDCTL | FLCTL_BANK1_RDCTL => {
                let b = &mut self.banks[(off >> 2 & 1) as usize];
                b.rdctl = merge(b.rdctl, value, mask) & 0xF03F;
                (b.line, b.word) = (NO_LINE, NO_LINE);
                cx.fx.memory = true;
                cx.fx.clocks = true;
            }
            FLCTL_PRG_CTLSTAT => {
                self.prg = merge(self.prg, value, mask) & 0xF;
                self.gathered = None;
            }
            FLCTL_ERASE_CTLSTAT => {
                let new = merge(self.erase, value, mask);
                if new & FLCTL_ERASE_CTLSTAT_CLR_STAT != 0 {
                    self.erase &= !(3 << 16 | FLCTL_ERASE_CTLSTAT_ADDR_ERR);
                }
                self.erase = new & 0xE | self.erase & (3 << 16 | FLCTL_ERASE_CTLSTAT_ADDR_ERR);
                if new & FLCTL_ERASE_CTLSTAT_START != 0 {
                    if self.running.is_some() {
                        cx.lint(LintKind::LockedBits);
                    } else {
                        self.erase &= !(3 << 16 | FLCTL_ERASE_CTLSTAT_ADDR_ERR);
                        self.start_erase(cx);
                    }
                }
            }
            FLCTL_ERASE_SECTADDR => self.sectaddr = merge(self.sectaddr, value, mask) & 0x3F_F000,
            FLCTL_BANK0_INFO_WEPROT => {
                self.protect_info[0] = merge(self.protect_info[0], value, mask) & 3;
            }
            FLCTL_BANK1_INFO_WEPROT => {
                self.protect_info[1] = merge(self.protect_info[1], value, mask) & 3;
            }
            FLCTL_BANK0_MAIN_WEPROT => {
                self.protect_main[0] = merge(self.protect_main[0], value, mask)
            }
            FLCTL_BANK1_MAIN_WEPROT => {
                self.protect_main[1] = merge(self.protect_main[1], value, mask)
            }
            FLCTL_IE => self.ie = merge(self.ie, value, mask) & FLAGS,
            FLCTL_CLRIFG => self.ifg &= !(value & mask),
            FLCTL_SETIFG => self.ifg |= value & mask & FLAGS,
            FLCTL_IFG | FLCTL_POWER_STAT => {}
            FLCTL_RDBRST_CTLSTAT | FLCTL_PRGBRST_CTLSTAT | FLCTL_BMRK_CTLSTAT => {
                if value & mask & 1 != 0 {
                    return Err(cx.refuse(
                        "burst operations and benchmark counters of FLCTL are not modelled; program by words",
                    ));
                }
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn due(&self, _: &Lines) -> Option<Picos> {
        self.busy_until()
    }

    fn asks(&mut self) -> u32 {
        u32::from(self.ie & self.ifg & FLAGS != 0)
    }

    fn may_ask(&self, _: &Lines) -> bool {
        self.ie != 0 && self.running.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(rdctl: u32) -> Flctl {
        let mut f = Flctl::new();
        f.banks[0].rdctl = rdctl;
        f
    }

    #[test]
    fn without_buffer_every_word_waits_and_with_it_every_line() {
        let mut f = with(2 << 12);
        // Eight instructions of two bytes lie in four words.
        let waits: u64 = (0..8).map(|i| f.fetched(2 * i, 2)).sum();
        assert_eq!(waits, 4 * 2);
        let mut f = with(2 << 12 | FLCTL_BANK0_RDCTL_BUFI);
        let waits: u64 = (0..16).map(|i| f.fetched(2 * i, 2)).sum();
        assert_eq!(waits, 2 * 2);
        // A wide instruction across two words fetches both.
        let mut f = with(1 << 12);
        assert_eq!(f.fetched(2, 4), 2);
    }

    #[test]
    fn data_goes_through_its_own_switch() {
        let mut f = with(1 << 12 | FLCTL_BANK0_RDCTL_BUFI);
        assert_eq!((f.loaded(0x40), f.loaded(0x44)), (1, 1));
        let mut f = with(1 << 12 | FLCTL_BANK0_RDCTL_BUFD);
        assert_eq!((f.loaded(0x40), f.loaded(0x44), f.loaded(0x50)), (1, 0, 1));
    }

    #[test]
    fn banks_and_sectors_have_their_protection_bits() {
        let mut f = Flctl::new();
        assert!(f.protected(0x1F000) && f.protected(INFO + 0x3000));
        f.protect_main[1] &= !2;
        assert!(!f.protected(0x21FFF) && f.protected(0x22000));
        f.protect_info[0] &= !1;
        assert!(!f.protected(INFO) && f.protected(INFO + 0x1000));
    }
}
