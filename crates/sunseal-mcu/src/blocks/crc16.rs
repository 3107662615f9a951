// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC16 (SLAU208, CRC chapter): CRC-CCITT over bytes, bit 0 first at CRCDI, bit 7 first at CRCDIRB.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::crc16::{CRCDI, CRCDIRB, CRCINIRES, CRCRESR};

use super::{Block, Ctx, merge};
use crate::accounts::Event;
use crate::blocks::follow::{Follow, Mix};

const POLYNOMIAL: u16 = 0x1021;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crc16 {
    data: u16,
    res: u16,
}

impl Crc16 {
    pub fn new() -> Self {
        Self { data: 0, res: 0xFFFF }
    }

    fn feed(&mut self, byte: u8) {
        self.res ^= u16::from(byte) << 8;
        for _ in 0..8 {
            let out = self.res & 0x8000 != 0;
            self.res = self.res << 1 ^ if out { POLYNOMIAL } else { 0 };
        }
    }
}

impl Block for Crc16 {
    /// CRCDI, CRCDIRB; CRCINIRES, whose value starts it anew, CRCRESR.
    const TAINT: Follow =
        Follow::Mixers(&[Mix { input: 0..4, output: 0..8, start: 4..6, reset: None }]);
    const QUIET: bool = true;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        match off {
            CRCDI => Ok(self.data),
            CRCDIRB => Ok(self.data.reverse_bits()),
            CRCINIRES => Ok(self.res),
            CRCRESR => Ok(self.res.reverse_bits()),
            _ => Err(cx.no_register()),
        }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        match off {
            CRCDI | CRCDIRB => {
                self.data = value;
                for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                    if mask >> (8 * i) & 0xFF != 0 {
                        self.feed(if off == CRCDI { byte.reverse_bits() } else { byte });
                        cx.accounts.count(Event::Crc16Byte);
                    }
                }
            }
            CRCINIRES => self.res = merge(self.res, value, mask),
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_values_of_the_crc_catalogue() {
        let mut c = Crc16::new();
        b"123456789".iter().for_each(|&b| c.feed(b));
        assert_eq!(c.res, 0x29B1);
        let mut c = Crc16::new();
        b"123456789".iter().for_each(|&b| c.feed(b.reverse_bits()));
        assert_eq!(c.res.reverse_bits(), 0x6F91);
    }
}
