// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC32: the CRC-32 of ISO 3309 and the CRC-16 of CCITT, side by side (SLAU356I chapter 16).
//!
//! Bits go in with bit 0 of a byte first through CRC32DI and with bit 7 first through CRC32DIRB; RESR
//! is the result with its bits reversed.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::Block;
use super::wide::{Cx, merge16};
use crate::accounts::Event;
use crate::instruments::taint::Follow;

const DI: u32 = 0x00;
const DIRB: u32 = 0x04;
const INIRES_LO: u32 = 0x08;
const INIRES_HI: u32 = 0x0A;
const RESR_LO: u32 = 0x0C;
const RESR_HI: u32 = 0x0E;
const CRC16_DI: u32 = 0x10;
const CRC16_DIRB: u32 = 0x14;
const CRC16_INIRES: u32 = 0x18;
const CRC16_RESR: u32 = 0x1E;

const POLYNOMIAL_32: u32 = 0x04C1_1DB7;
const POLYNOMIAL_16: u16 = 0x1021;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crc32 {
    crc32: u32,
    crc16: u16,
}

impl Default for Crc32 {
    /// All ones behind a reset (TI's description of the MSP432P401R: CRC16INIRES, CRC32RESR_LO).
    fn default() -> Self {
        Self { crc32: u32::MAX, crc16: u16::MAX }
    }
}

impl Crc32 {
    /// Side by side (SLAU356I): CRC32DI to CRC32RESR, then CRC16DI to CRC16RESR, as on the FR5xx.
    pub const TAINT: Follow = super::crc32::Crc32::TAINT;

    fn shift_32(&mut self, byte: u8) {
        self.crc32 ^= u32::from(byte) << 24;
        for _ in 0..8 {
            let carry = self.crc32 >> 31 != 0;
            self.crc32 = self.crc32 << 1 ^ if carry { POLYNOMIAL_32 } else { 0 };
        }
    }

    fn shift_16(&mut self, byte: u8) {
        self.crc16 ^= u16::from(byte) << 8;
        for _ in 0..8 {
            let carry = self.crc16 >> 15 != 0;
            self.crc16 = self.crc16 << 1 ^ if carry { POLYNOMIAL_16 } else { 0 };
        }
    }

    pub fn read(&self, off: u32, cx: &Cx<'_>) -> Result<u32, Fault> {
        let reversed = self.crc32.reverse_bits();
        Ok(match off {
            DI | DIRB | CRC16_DI | CRC16_DIRB => 0,
            INIRES_LO => self.crc32 & 0xFFFF,
            INIRES_HI => self.crc32 >> 16,
            RESR_LO => reversed & 0xFFFF,
            RESR_HI => reversed >> 16,
            CRC16_INIRES => u32::from(self.crc16),
            CRC16_RESR => u32::from(self.crc16.reverse_bits()),
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            DI | DIRB | CRC16_DI | CRC16_DIRB => {
                for i in (0..2).filter(|i| mask >> (8 * i) & 0xFF != 0) {
                    let byte = (value >> (8 * i)) as u8;
                    let byte =
                        if matches!(off, DI | CRC16_DI) { byte.reverse_bits() } else { byte };
                    if off < CRC16_DI {
                        self.shift_32(byte);
                    } else {
                        self.shift_16(byte);
                    }
                    cx.accounts.count(Event::Crc32Byte);
                }
            }
            INIRES_LO => {
                let low = merge16(self.crc32 as u16, value, mask);
                self.crc32 = self.crc32 & 0xFFFF_0000 | u32::from(low);
            }
            INIRES_HI => {
                let high = merge16((self.crc32 >> 16) as u16, value, mask);
                self.crc32 = self.crc32 & 0xFFFF | u32::from(high) << 16;
            }
            CRC16_INIRES => self.crc16 = merge16(self.crc16, value, mask),
            RESR_LO | RESR_HI | CRC16_RESR => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_values_of_both_polynomials() {
        let mut c = Crc32::default();
        for b in *b"123456789" {
            c.shift_32(b.reverse_bits());
            c.shift_16(b);
        }
        // CRC-32/ISO-HDLC and CRC-16/IBM-3740.
        assert_eq!(c.crc32.reverse_bits() ^ u32::MAX, 0xCBF4_3926);
        assert_eq!(c.crc16, 0x29B1);
    }
}
