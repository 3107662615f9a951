// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC32 (SLAU367P, CRC32 chapter): CRC-32-ISO3309 and CRC-CCITT over bytes and words.
//!
//! Data written to the plain inputs go in with bit 0 as the most significant one, data written to the
//! reversed inputs with bit 7. Results read plain or mirrored. A mirrored register has the bits of the plain one of its
//! number: CRC32RESRW0 those of CRC32INIRESW0, and so the upper half of the mirrored result (TI's headers name the bytes
//! so, RESRB0 to RESRB3; driverlib's CRC32_getResultReversed puts them together so).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::crc32::*;

use super::{Block, Ctx, merge};
use crate::accounts::{Accounts, Event};
use crate::blocks::follow::{Follow, Mix};

const POLYNOMIAL_32: u32 = 0x04C1_1DB7;
const POLYNOMIAL_16: u16 = 0x1021;

/// Both sums, as the MSP432P4xx has them too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sums {
    pub res32: u32,
    res16: u16,
    /// Bytes that went in and are not told of.
    bytes: u32,
}

impl Sums {
    /// All ones behind a reset (TI's description of the MSP432P401R: CRC16INIRES, CRC32RESR_LO).
    pub fn new() -> Self {
        Self { res32: 0xFFFF_FFFF, res16: 0xFFFF, bytes: 0 }
    }

    pub fn feed32(&mut self, byte: u8) {
        self.bytes += 1;
        self.res32 ^= u32::from(byte) << 24;
        for _ in 0..8 {
            let out = self.res32 >> 31 != 0;
            self.res32 = self.res32 << 1 ^ if out { POLYNOMIAL_32 } else { 0 };
        }
    }

    pub fn feed16(&mut self, byte: u8) {
        self.bytes += 1;
        self.res16 ^= u16::from(byte) << 8;
        for _ in 0..8 {
            let out = self.res16 >> 15 != 0;
            self.res16 = self.res16 << 1 ^ if out { POLYNOMIAL_16 } else { 0 };
        }
    }

    /// The results that read as they are, and the mirrored one of 16 bits.
    pub fn read(&self, off: u32) -> Option<u16> {
        Some(match off {
            CRC32INIRESW0 => self.res32 as u16,
            CRC32INIRESW1 => (self.res32 >> 16) as u16,
            CRC16INIRESW0 => self.res16,
            CRC16RESRW0 => self.res16.reverse_bits(),
            _ => return None,
        })
    }

    /// A sum begins anew from what is written; false if that is another register.
    pub fn write(&mut self, off: u32, value: u16, mask: u16) -> bool {
        match off {
            CRC32INIRESW0 | CRC32INIRESW1 => {
                let shift = 8 * (off - CRC32INIRESW0);
                let new = merge((self.res32 >> shift) as u16, value, mask);
                self.res32 = self.res32 & !(0xFFFF << shift) | u32::from(new) << shift;
            }
            CRC16INIRESW0 => self.res16 = merge(self.res16, value, mask),
            _ => return false,
        }
        true
    }

    /// Books the bytes that went in.
    pub fn book(&mut self, accounts: &mut Accounts) {
        accounts.add(Event::Crc32Byte, std::mem::take(&mut self.bytes).into());
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crc32 {
    sums: Sums,
    data32: u32,
    data16: u16,
}

impl Crc32 {
    pub fn new() -> Self {
        Self { sums: Sums::new(), data32: 0, data16: 0 }
    }
}

impl Block for Crc32 {
    /// Side by side (SLAU367P): CRC32DI to CRC32RESR, then CRC16DI to CRC16RESR.
    const TAINT: Follow = Follow::Mixers(&[
        Mix { input: 0..8, output: 0..0x10, start: 8..0xC, reset: None },
        Mix { input: 0x10..0x18, output: 0x10..0x20, start: 0x18..0x1A, reset: None },
    ]);
    const QUIET: bool = true;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            CRC32DIW0 => self.data32 as u16,
            CRC32DIW1 => (self.data32 >> 16) as u16,
            CRC32DIRBW1 => ((self.data32 >> 16) as u16).reverse_bits(),
            CRC32DIRBW0 => (self.data32 as u16).reverse_bits(),
            CRC32RESRW1 => ((self.sums.res32 >> 16) as u16).reverse_bits(),
            CRC32RESRW0 => (self.sums.res32 as u16).reverse_bits(),
            CRC16DIW0 => self.data16,
            CRC16DIRBW0 => self.data16.reverse_bits(),
            _ => return self.sums.read(off).ok_or_else(|| cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let bytes = value.to_le_bytes();
        let written = (0..2).filter(|i| mask >> (8 * i) & 0xFF != 0).map(|i| bytes[i as usize]);
        match off {
            CRC32DIW0 | CRC32DIW1 => {
                let shift = if off == CRC32DIW0 { 0 } else { 16 };
                self.data32 = (self.data32 & !(0xFFFF << shift)) | u32::from(value) << shift;
                written.for_each(|b| self.sums.feed32(b.reverse_bits()));
            }
            // A reversed word is the word with all of its bits the other way round: its high byte is the first.
            CRC32DIRBW1 | CRC32DIRBW0 => written.rev().for_each(|b| self.sums.feed32(b)),
            CRC16DIW0 => {
                self.data16 = merge(self.data16, value, mask);
                written.for_each(|b| self.sums.feed16(b.reverse_bits()));
            }
            CRC16DIRBW0 => written.rev().for_each(|b| self.sums.feed16(b)),
            CRC32RESRW1 | CRC32RESRW0 | CRC16RESRW0 => {}
            _ if self.sums.write(off, value, mask) => {}
            _ => return Err(cx.no_register()),
        }
        self.sums.book(cx.accounts);
        Ok(())
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the catalogue of CRCs, over "123456789".
    #[test]
    fn the_check_values_of_the_catalogue() {
        let mut c = Sums::new();
        b"123456789".iter().for_each(|&b| c.feed32(b));
        assert_eq!(c.res32 ^ 0xFFFF_FFFF, 0xFC89_1918, "CRC-32/BZIP2: bit 7 first");
        let mut c = Sums::new();
        b"123456789".iter().for_each(|&b| c.feed32(b.reverse_bits()));
        assert_eq!(!c.res32.reverse_bits(), 0xCBF4_3926, "CRC-32/ISO-HDLC: bit 0 first, mirrored");
        let mut c = Sums::new();
        b"123456789".iter().for_each(|&b| c.feed16(b));
        assert_eq!(c.res16, 0x29B1, "CRC-16/IBM-3740");
        assert_eq!(c.bytes, 9);
    }
}
