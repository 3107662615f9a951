// SPDX-License-Identifier: MIT OR Apache-2.0
//! EEPROM access: EECR, EEDR, EEAR.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::atmega128::eeprom::{EEMWE, EERE, EERIE, EEWE};
use sunseal_trace::Picos;

use super::{Cx, Window};
use crate::accounts::Event;

/// Cycles that the CPU is halted behind a read and behind the start of a write (datasheet, EECR).
const READ_STALL: u32 = 4;
const WRITE_STALL: u32 = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Eeprom {
    pub eear: u16,
    pub eedr: u8,
    eerie: bool,
    window: Window,
    /// A write under way: its end, address and byte.
    writing: Option<(u128, u16, u8)>,
}

impl Eeprom {
    pub fn reset(&mut self) {
        // A write under way goes on (datasheet, EEWE); the address survives a reset undefined, kept here.
        *self = Self { eear: self.eear, writing: self.writing, ..Self::default() };
    }

    pub fn eecr(&self, at: u64) -> u8 {
        let mut value = if self.eerie { EERIE } else { 0 };
        if self.window.is_open(at) {
            value |= EEMWE;
        }
        if self.writing.is_some() {
            value |= EEWE;
        }
        value
    }

    /// Its address and data, which stand still while a write is under way.
    pub fn idle(&mut self, cx: &Cx<'_>) -> Result<&mut Self, Fault> {
        if self.writing.is_some() {
            return Err(cx.refuse(
                "EEPROM address or data changed while a write is under way; wait until EECR.EEWE is clear",
            ));
        }
        Ok(self)
    }

    /// Answers how many cycles the CPU is halted.
    pub fn write_eecr(
        &mut self,
        value: u8,
        memory: &[u8],
        write_time: Picos,
        flash_busy: bool,
        cx: &mut Cx<'_>,
    ) -> Result<u32, Fault> {
        self.eerie = value & EERIE != 0;
        let open = self.window.is_open(cx.at);
        let mut stall = 0;
        if value & EEWE != 0 && self.writing.is_none() {
            if open && !flash_busy {
                self.window.close();
                let end = cx.now + write_time;
                self.writing = Some((end.0, self.eear, self.eedr));
                cx.accounts.count(Event::EepromWrite);
                stall = WRITE_STALL;
            }
        } else if value & EEMWE != 0 {
            self.window.open(cx.at, 4);
        }
        if value & EERE != 0 {
            if self.writing.is_some() {
                return Err(cx.refuse(
                    "EEPROM read while a write is under way reads nothing; wait until EECR.EEWE is clear",
                ));
            }
            self.eedr = memory[usize::from(self.eear) % memory.len()];
            cx.accounts.count(Event::EepromRead);
            stall += READ_STALL;
        }
        Ok(stall)
    }

    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    pub fn pending(&self) -> bool {
        self.eerie && self.writing.is_none()
    }

    pub fn may_interrupt(&self) -> bool {
        self.eerie
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.writing.map(|w| Picos(w.0))
    }

    /// The write is done: address and byte.
    pub fn event(&mut self, t: Picos) -> Option<(u16, u8)> {
        self.writing.take_if(|w| w.0 <= t.0).map(|w| (w.1, w.2))
    }

    /// The supply went away: which byte is left half written.
    pub fn cut(&mut self) -> Option<u16> {
        self.writing.take().map(|w| w.1)
    }
}
