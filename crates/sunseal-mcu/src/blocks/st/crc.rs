// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC calculation unit (RM0351 chapter 15): polynomials of 7, 8, 16 and 32 bits, data of 8, 16 and 32, reversed on the way in
//! and out. A result stands at once; on silicon a word takes four cycles of HCLK, for which a read waits.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::crc::*;

use super::{Block, Cx, Stm32, merge, only};

const CR_KNOWN: u32 = CRC_CR_RESET | CRC_CR_POLYSIZE | CRC_CR_REV_IN | CRC_CR_REV_OUT;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crc {
    dr: u32,
    idr: u8,
    cr: u32,
    init: u32,
    pol: u32,
}

impl Default for Crc {
    fn default() -> Self {
        Self { dr: u32::MAX, idr: 0, cr: 0, init: u32::MAX, pol: 0x04C1_1DB7 }
    }
}

/// Each group of `bits` of the low `all` bits turned end for end.
fn reversed(value: u32, all: u32, bits: u32) -> u32 {
    (0..all).fold(0, |to, i| to | (value >> i & 1) << (i / bits * bits + bits - 1 - i % bits))
}

impl Crc {
    /// Bits of the polynomial.
    fn size(&self) -> u32 {
        [32, 16, 8, 7][((self.cr & CRC_CR_POLYSIZE) >> 3) as usize]
    }

    fn cut(&self, value: u32) -> u32 {
        value & u32::MAX >> (32 - self.size())
    }

    /// Takes in data of so many bits, the highest first.
    fn take(&mut self, data: u32, bits: u32) {
        let data = match (self.cr & CRC_CR_REV_IN) >> 5 {
            0 => data,
            by => reversed(data, bits, bits.min(4 << by)),
        };
        let top = self.size() - 1;
        for i in (0..bits).rev() {
            let turns = (self.dr >> top ^ data >> i) & 1 != 0;
            self.dr = self.cut(self.dr << 1 ^ if turns { self.pol } else { 0 });
        }
    }
}

impl Block<Stm32> for Crc {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            CRC_DR if self.cr & CRC_CR_REV_OUT != 0 => reversed(self.dr, self.size(), self.size()),
            CRC_DR => self.dr,
            CRC_IDR => self.idr.into(),
            CRC_CR => self.cr,
            CRC_INIT => self.init,
            CRC_POL => self.pol,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            CRC_DR => self.take((value & mask) >> mask.trailing_zeros(), mask.count_ones()),
            CRC_IDR => self.idr = merge(self.idr.into(), value, mask) as u8,
            CRC_CR => {
                let new = merge(self.cr, value, mask);
                only(new, CR_KNOWN, "it has bits that are reserved", cx)?;
                self.cr = new & !CRC_CR_RESET;
                self.dr = self.cut(if new & CRC_CR_RESET != 0 { self.init } else { self.dr });
            }
            CRC_INIT => {
                self.init = merge(self.init, value, mask);
                // "automatically initialized upon CRC_INIT register write access"
                self.dr = self.cut(self.init);
            }
            CRC_POL => self.pol = merge(self.pol, value, mask),
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The catalogue of CRC algorithms' check values, of "123456789".
    #[test]
    fn it_gives_the_check_values_of_known_algorithms() {
        for (name, cr, init, pol, check) in [
            ("CRC-32/MPEG-2", 0x00, u32::MAX, 0x04C1_1DB7, 0x0376_E6E7),
            (
                "CRC-32/ISO-HDLC, without its last inversion",
                0xA0,
                u32::MAX,
                0x04C1_1DB7,
                !0xCBF4_3926,
            ),
            ("CRC-16/IBM-3740", 0x08, 0xFFFF, 0x1021, 0x29B1),
            ("CRC-16/ARC", 0xA8, 0, 0x8005, 0xBB3D),
            ("CRC-8/SMBUS", 0x10, 0, 0x07, 0xF4),
            ("CRC-7/MMC", 0x18, 0, 0x09, 0x75),
        ] {
            let mut crc = Crc { cr, init, pol, ..Crc::default() };
            crc.dr = crc.cut(init);
            b"123456789".iter().for_each(|byte| crc.take((*byte).into(), 8));
            let out = if cr & CRC_CR_REV_OUT != 0 {
                reversed(crc.dr, crc.size(), crc.size())
            } else {
                crc.dr
            };
            assert_eq!(out, check, "{name}");
        }
        // Words and halfwords are their bytes, the highest first.
        let mut words = Crc::default();
        words.take(0x3132_3334, 32);
        words.take(0x3536, 16);
        let mut bytes = Crc::default();
        b"123456".iter().for_each(|byte| bytes.take((*byte).into(), 8));
        assert_eq!(words.dr, bytes.dr);
        assert_eq!(reversed(0x1122_3344, 32, 8), 0x8844_CC22, "by bytes");
        assert_eq!(reversed(0x1122_3344, 32, 32), 0x22CC_4488, "by words");
    }
}
