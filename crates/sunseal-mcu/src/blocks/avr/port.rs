// SPDX-License-Identifier: MIT OR Apache-2.0
//! One of the ports A to G: PORTx, DDRx, PINx.

use serde::{Deserialize, Serialize};

use crate::pin::Held;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Port {
    pub port: u8,
    pub ddr: u8,
    /// Pins that are driven from outside, and their levels.
    driven: u8,
    outside: u8,
    /// Pins that a timer drives in the port's stead where they are outputs, and their levels.
    pub given: (u8, u8),
    pub pull_up_disable: bool,
    /// Levels before the tick in which they last changed, for the synchronizer.
    before: u8,
    changed: u64,
}

impl Port {
    pub fn reset(&mut self) {
        *self = Self { driven: self.driven, outside: self.outside, ..Self::default() };
    }

    /// Levels at the pins. What nobody drives or pulls is low here.
    pub fn levels(&self) -> u8 {
        let pulled = if self.pull_up_disable { 0 } else { self.port };
        let inputs = self.driven & self.outside | !self.driven & pulled;
        self.ddr & self.out() | !self.ddr & inputs
    }

    /// Levels that outputs carry, a timer's or the port's.
    pub fn out(&self) -> u8 {
        let (given, levels) = self.given;
        self.port & !given | levels & given
    }

    /// How the chip holds its pins.
    pub fn held(&self) -> [Held; 8] {
        std::array::from_fn(|bit| {
            let high = self.port >> bit & 1 != 0;
            match self.ddr >> bit & 1 {
                1 => Held::Driven(self.out() >> bit & 1 != 0),
                _ if high && !self.pull_up_disable => Held::PulledUp,
                _ => Held::Floating,
            }
        })
    }

    /// PINx in clk_I/O tick `io`: the synchronizer shows the levels of one tick before.
    pub fn pin(&self, io: u64) -> u8 {
        if io <= self.changed { self.before } else { self.levels() }
    }

    /// A change by register or from outside that shows at the pins from tick `io` on; answers which levels changed.
    pub fn change(&mut self, io: u64, change: impl FnOnce(&mut Self)) -> u8 {
        let before = self.levels();
        change(self);
        let changed = before ^ self.levels();
        if changed != 0 {
            self.before = if io == self.changed { self.before } else { before };
            self.changed = io;
        }
        changed
    }

    pub fn drive(&mut self, mask: u8, level: Option<bool>) {
        match level {
            None => self.driven &= !mask,
            Some(high) => {
                self.driven |= mask;
                self.outside = if high { self.outside | mask } else { self.outside & !mask };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_reads_one_tick_late() {
        let mut p = Port::default();
        p.change(5, |p| p.ddr = 0xFF);
        // OUT in tick 10, at the pins from 11 on, in PINx from 12 on.
        assert_eq!(p.change(11, |p| p.port = 0x0F), 0x0F);
        assert_eq!((p.pin(11), p.pin(12)), (0x00, 0x0F));
        p.change(12, |p| p.port = 0xF0);
        assert_eq!((p.pin(12), p.pin(13)), (0x0F, 0xF0));
    }

    #[test]
    fn pull_ups_hold_what_nobody_drives() {
        let mut p = Port { port: 0x03, ..Port::default() };
        assert_eq!(p.levels(), 0x03);
        p.drive(0x01, Some(false));
        assert_eq!(p.levels(), 0x02);
        p.pull_up_disable = true;
        assert_eq!(p.levels(), 0x00);
        p.drive(0x04, Some(true));
        assert_eq!(p.levels(), 0x04);
    }
}
