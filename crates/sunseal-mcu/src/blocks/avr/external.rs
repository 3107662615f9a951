// SPDX-License-Identifier: MIT OR Apache-2.0
//! External interrupts INT7:0: EICRA, EICRB, EIMSK, EIFR.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct External {
    pub eicra: u8,
    pub eicrb: u8,
    pub eimsk: u8,
    flags: u8,
    /// Levels at the pins, INT0 lowest.
    levels: u8,
}

impl External {
    pub fn reset(&mut self) {
        *self = Self { levels: self.levels, ..Self::default() };
    }

    /// Sense of an external interrupt, bits ISCn1:0.
    fn sense(&self, n: u8) -> u8 {
        let (register, place) = if n < 4 { (self.eicra, n) } else { (self.eicrb, n - 4) };
        register >> (2 * place) & 3
    }

    /// The levels of all eight pins; `clocked`: clk_I/O runs, without which INT7:4 see no edges.
    pub fn levels(&mut self, levels: u8, clocked: bool) {
        let changed = levels ^ self.levels;
        self.levels = levels;
        for n in 0..8 {
            let bit = 1 << n;
            if changed & bit == 0 || n >= 4 && !clocked {
                continue;
            }
            let rising = levels & bit != 0;
            let edge = match self.sense(n) {
                1 => n >= 4,
                2 => !rising,
                3 => rising,
                _ => false,
            };
            if edge {
                self.flags |= bit;
            }
        }
    }

    /// EIFR. A level has no flag.
    pub fn eifr(&self) -> u8 {
        self.flags
    }

    pub fn clear(&mut self, flags: u8) {
        self.flags &= !flags;
    }

    /// Interrupts that are enabled and requested.
    pub fn pending(&self) -> u8 {
        let low = (0..8).filter(|&n| self.sense(n) == 0).fold(0, |m, n| m | 1 << n) & !self.levels;
        (self.flags | low) & self.eimsk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_levels_and_changes_are_told_apart() {
        let mut e = External {
            eicra: 0b11_10_00_00,
            eicrb: 0b0000_0001,
            eimsk: 0xFF,
            ..External::default()
        };
        e.levels(0xFF, true); // INT3 rises; INT4 changes
        assert_eq!(e.eifr(), 0x18);
        e.clear(0xFF);
        e.levels(0xFA, true); // INT2 falls, INT0 low
        assert_eq!((e.eifr(), e.pending()), (0x04, 0x05));
        e.clear(0xFF);
        e.levels(0xEF, false); // no clock: INT4's change is not seen
        assert_eq!((e.eifr(), e.pending() & 0x10), (0, 0));
    }
}
