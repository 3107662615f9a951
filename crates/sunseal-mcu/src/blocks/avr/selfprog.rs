// SPDX-License-Identifier: MIT OR Apache-2.0
//! Self-programming of flash: SPMCSR, the page buffer, read-while-write sections.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::atmega128::system::{BLBSET, PGERS, PGWRT, RWWSB, RWWSRE, SPMEN, SPMIE};
use sunseal_trace::{Cycles, Picos};

use super::Window;

/// Size of a page of flash, 128 words.
pub(crate) const PAGE_BYTES: u32 = 256;

/// Where the no-read-while-write section begins (datasheet, table "Read-While-Write Limit").
pub(crate) const NRWW: u32 = 0x1_E000;

/// Work on flash that an SPM instruction has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    Erase,
    Write,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SelfProgramming {
    command: u8,
    window: Window,
    buffer: Vec<u8>,
    pub spmie: bool,
    /// The lower section cannot be read.
    pub rww_busy: bool,
    /// Work under way: its end, what, where.
    work: Option<(u128, Work, u32)>,
}

impl SelfProgramming {
    pub fn new() -> Self {
        Self {
            command: 0,
            window: Window::default(),
            buffer: vec![0xFF; PAGE_BYTES as usize],
            spmie: false,
            rww_busy: false,
            work: None,
        }
    }

    pub fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// The CPU is halted until then: the section that it runs from is erased or written.
    pub fn halts_until(&self) -> Option<Picos> {
        self.work.filter(|w| w.2 >= NRWW).map(|w| Picos(w.0))
    }

    pub fn read(&self, at: Cycles) -> u8 {
        let mut value = if self.spmie { SPMIE } else { 0 };
        if self.rww_busy {
            value |= RWWSB;
        }
        if self.is_busy() || self.window.is_open(at) {
            value |= self.command | SPMEN;
        }
        value
    }

    pub fn write(&mut self, value: u8, at: Cycles) {
        self.spmie = value & SPMIE != 0;
        if value & SPMEN != 0 && !self.is_busy() {
            self.command = value & (RWWSRE | BLBSET | PGWRT | PGERS);
            self.window.open(at, 4);
        }
    }

    /// LPM within three cycles behind BLBSET and SPMEN reads fuses and lock bits.
    pub fn reads_fuses(&self, at: Cycles) -> bool {
        self.command == BLBSET && self.window.is_open(at)
    }

    /// SPM with Z and R1:R0, run from the boot section. Answers what has begun.
    pub fn spm(
        &mut self,
        addr: u32,
        word: u16,
        at: Cycles,
        now: Picos,
        page_time: Picos,
    ) -> Result<Option<Work>, Fault> {
        if !self.window.is_open(at) || self.is_busy() {
            return Ok(None);
        }
        self.window.close();
        let work = match self.command {
            0 => {
                let place = ((addr % PAGE_BYTES) & !1) as usize;
                self.buffer[place..place + 2].copy_from_slice(&word.to_le_bytes());
                return Ok(None);
            }
            RWWSRE => {
                self.rww_busy = false;
                self.buffer.fill(0xFF);
                return Ok(None);
            }
            PGERS => Work::Erase,
            PGWRT => Work::Write,
            BLBSET => {
                return Err(Fault::device(
                    addr,
                    "SPM that sets boot lock bits is not modelled; set them in the board's fuses",
                ));
            }
            _ => return Ok(None),
        };
        let page = addr & !(PAGE_BYTES - 1);
        self.rww_busy |= page < NRWW;
        self.work = Some(((now + page_time).0, work, page));
        Ok(Some(work))
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.work.map(|w| Picos(w.0))
    }

    /// Work that is done by `t`, carried out on the page; answers its place.
    pub fn event(&mut self, t: Picos, flash: &mut [u8]) -> Option<u32> {
        let (_, work, page) = self.work.take_if(|w| w.0 <= t.0)?;
        let bytes = &mut flash[page as usize..(page + PAGE_BYTES) as usize];
        match work {
            Work::Erase => bytes.fill(0xFF),
            Work::Write => {
                // Flash can only clear bits.
                bytes.iter_mut().zip(&self.buffer).for_each(|(old, new)| *old &= new);
                self.buffer.fill(0xFF);
            }
        }
        Some(page)
    }

    /// The supply went away: which page is left half done.
    pub fn cut(&mut self) -> Option<u32> {
        self.work.take().map(|w| w.2)
    }
}
