// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC32: the CRC-32 of ISO 3309 and the CRC-16 of CCITT, side by side (SLAU356I chapter 16).
//!
//! Bits go in with bit 0 of a byte first through CRC32DI and with bit 7 first through CRC32DIRB; RESR
//! is the result with its bits reversed.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::crc32::{
    CRC16DI, CRC16DIRB, CRC16RESR, CRC32DI, CRC32DIRB, CRC32RESR_HI, CRC32RESR_LO,
};

use super::crc32::{self, Sums};
use super::wide::{Block, Cx, P4};
use crate::blocks::follow::Follow;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crc32(Sums);

impl Crc32 {
    pub fn new() -> Self {
        Self(Sums::new())
    }
}

impl Block<P4> for Crc32 {
    /// Side by side (SLAU356I): CRC32DI to CRC32RESR, then CRC16DI to CRC16RESR, as on the FR5xx.
    const TAINT: Follow = <crc32::Crc32 as super::Block>::TAINT;

    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        let reversed = self.0.res32.reverse_bits();
        Ok(match off {
            CRC32DI | CRC32DIRB | CRC16DI | CRC16DIRB => 0,
            CRC32RESR_LO => reversed & 0xFFFF,
            CRC32RESR_HI => reversed >> 16,
            _ => return self.0.read(off).map(u32::from).ok_or_else(|| cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let bytes = value.to_le_bytes();
        let written = (0..2).filter(|i| mask >> (8 * i) & 0xFF != 0).map(|i| bytes[i]);
        match off {
            CRC32DI => written.for_each(|b| self.0.feed32(b.reverse_bits())),
            CRC32DIRB => written.for_each(|b| self.0.feed32(b)),
            CRC16DI => written.for_each(|b| self.0.feed16(b.reverse_bits())),
            CRC16DIRB => written.for_each(|b| self.0.feed16(b)),
            CRC32RESR_LO | CRC32RESR_HI | CRC16RESR => {}
            _ if self.0.write(off, value as u16, mask as u16) => {}
            _ => return Err(cx.no_register()),
        }
        self.0.book(cx.accounts);
        Ok(())
    }
}
