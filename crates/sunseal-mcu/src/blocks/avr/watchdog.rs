// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watchdog timer: WDTCR with its timed sequence, on an oscillator of its own.

use serde::{Deserialize, Serialize};
use sunseal_registers::atmega128::system::{WDCE, WDE};
use sunseal_trace::{Cycles, Picos};

use super::Window;
use crate::clock::Line;

const WDP: u8 = 0x07;
/// Oscillator cycles of the shortest time-out (datasheet, table "Watchdog Timer Prescale Select").
const SHORTEST: u64 = 16 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Watchdog {
    wdtcr: u8,
    window: Window,
    start: u64,
    /// WDTON programmed: always on.
    pub always_on: bool,
}

impl Watchdog {
    pub fn reset(&mut self, always_on: bool, line: &Line, now: Picos) {
        let wdtcr = if always_on { WDE } else { 0 };
        *self = Self { wdtcr, start: line.ticks_at(now), always_on, window: Window::default() };
    }

    pub fn is_on(&self) -> bool {
        self.wdtcr & WDE != 0
    }

    pub fn read(&self, at: Cycles) -> u8 {
        self.wdtcr | if self.window.is_open(at) { WDCE } else { 0 }
    }

    /// Safety level 1 (WDTON unprogrammed) or 2. Changes outside the timed sequence have no effect.
    pub fn write(&mut self, value: u8, at: Cycles, line: &Line, now: Picos) {
        let was_on = self.is_on();
        if self.window.is_open(at) && value & WDCE == 0 {
            self.window.close();
            self.wdtcr = value & (WDE | WDP);
            if self.always_on {
                self.wdtcr |= WDE;
            }
        } else if value & (WDCE | WDE) == WDCE | WDE {
            self.window.open(at, 4);
            self.wdtcr |= WDE;
        } else if !was_on {
            // Off, the time-out and the bit that starts it are free at this level.
            self.wdtcr = value & (WDE | WDP);
        }
        if self.is_on() && !was_on {
            self.kick(line, now);
        }
    }

    /// Restarts the watchdog, as instruction WDR does.
    pub fn kick(&mut self, line: &Line, now: Picos) {
        self.start = line.ticks_at(now);
    }

    pub fn next_event(&self, line: &Line) -> Option<Picos> {
        self.is_on().then(|| line.time_of(self.start + (SHORTEST << (self.wdtcr & WDP))))
    }
}
