// SPDX-License-Identifier: MIT OR Apache-2.0
//! SPI as a master of bytes (RM0351 chapter 42), with its FIFOs of four bytes each.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::spi::*;
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::Line;

const CR1_KNOWN: u32 = SPI_CR1_CPHA
    | SPI_CR1_CPOL
    | SPI_CR1_MSTR
    | SPI_CR1_BR
    | SPI_CR1_SPE
    | SPI_CR1_SSI
    | SPI_CR1_SSM;
const CR2_KNOWN: u32 = SPI_CR2_RXDMAEN
    | SPI_CR2_TXDMAEN
    | SPI_CR2_SSOE
    | SPI_CR2_RXNEIE
    | SPI_CR2_TXEIE
    | SPI_CR2_DS
    | SPI_CR2_FRXTH
    | 1 << 5;

const FIFO: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spi {
    cr1: u32,
    cr2: u32,
    crcpr: u32,
    out: VecDeque<u8>,
    come: VecDeque<u8>,
    overrun: bool,
    shifting: Option<(u8, u128)>,
    clock: Line,
}

impl Spi {
    pub fn new() -> Self {
        Self { cr2: SPI_CR2_DS_8, crcpr: 7, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self { clock: self.clock, ..Self::new() };
    }

    /// CPOL and CPHA are clear.
    pub fn is_mode_0(&self) -> bool {
        self.cr1 & (SPI_CR1_CPOL | SPI_CR1_CPHA) == 0
    }

    fn go_on(&mut self, now: Picos) {
        if self.cr1 & SPI_CR1_SPE == 0 || self.shifting.is_some() || !self.clock.is_running() {
            return;
        }
        if let Some(byte) = self.out.pop_front() {
            let ticks = 8 * (2u64 << (self.cr1 >> 3 & 7));
            let end = self.clock.time_of(self.clock.tick_not_before(now) + ticks);
            self.shifting = Some((byte, end.0));
        }
    }

    /// The byte whose last bit has gone over the wire by `t`.
    pub fn shifted(&mut self, t: Picos) -> Option<(u8, Picos)> {
        let (byte, end) = self.shifting.take_if(|(_, end)| *end <= t.0)?;
        Some((byte, Picos(end)))
    }

    /// What came back for it; the next one begins.
    pub fn received(&mut self, byte: u8, end: Picos) {
        if self.come.len() < FIFO {
            self.come.push_back(byte);
        } else {
            self.overrun = true;
        }
        self.go_on(end);
    }

    /// A request of DMA, to receive or to send.
    pub fn requests(&self, receive: bool) -> bool {
        let (on, flag) =
            if receive { (SPI_CR2_RXDMAEN, SPI_SR_RXNE) } else { (SPI_CR2_TXDMAEN, SPI_SR_TXE) };
        let spe = self.cr1 & SPI_CR1_SPE != 0;
        spe && self.cr2 & on != 0 && self.sr() & flag != 0
    }

    fn level(bytes: usize) -> u32 {
        match bytes {
            0 => 0,
            1 => 1,
            2 | 3 => 2,
            _ => 3,
        }
    }

    fn sr(&self) -> u32 {
        let least = if self.cr2 & SPI_CR2_FRXTH != 0 { 1 } else { 2 };
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        flag(self.come.len() >= least, SPI_SR_RXNE)
            | flag(self.out.len() <= FIFO / 2, SPI_SR_TXE)
            | flag(self.overrun, SPI_SR_OVR)
            | flag(self.shifting.is_some() || !self.out.is_empty(), SPI_SR_BSY)
            | Self::level(self.come.len()) << 9
            | Self::level(self.out.len()) << 11
    }

    fn check(&self, cx: &Cx<'_>) -> Result<(), Fault> {
        let what =
            "receive-only, bit-reversed, bidirectional and CRC modes of the SPI are not modelled";
        only(self.cr1, CR1_KNOWN, what, cx)?;
        let what = "TI frames, NSS pulses and packing of an odd number by DMA (LDMA) of the SPI are not modelled";
        only(self.cr2, CR2_KNOWN, what, cx)?;
        if self.cr1 & SPI_CR1_SPE == 0 {
            return Ok(());
        }
        if self.cr1 & SPI_CR1_MSTR == 0 {
            return Err(cx.refuse("the SPI as a slave is not modelled; set SPI_CR1.MSTR"));
        }
        if self.cr1 & SPI_CR1_SSM != 0 && self.cr1 & SPI_CR1_SSI == 0
            || self.cr1 & SPI_CR1_SSM == 0 && self.cr2 & SPI_CR2_SSOE == 0
        {
            return Err(cx.refuse(
                "a mode fault: the SPI sees its own NSS low; set SPI_CR1.SSM and SSI, or SPI_CR2.SSOE",
            ));
        }
        // Sizes below 4 bits count as 8.
        if self.cr2 & SPI_CR2_DS >= 3 << 8 && self.cr2 & SPI_CR2_DS != SPI_CR2_DS_8 {
            return Err(
                cx.refuse("of the SPI's data sizes only 8 bits are modelled (SPI_CR2.DS = 7)")
            );
        }
        Ok(())
    }
}

impl Block<Stm32> for Spi {
    fn read(&mut self, off: u32, mask: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            SPI_CR1 => self.cr1,
            SPI_CR2 => self.cr2,
            SPI_SR => {
                let sr = self.sr();
                // OVR ends with a read of DR and one of SR (RM0351 42.4.12); here with that of SR.
                self.overrun = false;
                sr
            }
            SPI_DR => {
                let low = self.come.pop_front().unwrap_or(0);
                let high = if mask & 0xFF00 != 0 { self.come.pop_front().unwrap_or(0) } else { 0 };
                u32::from(low) | u32::from(high) << 8
            }
            SPI_CRCPR => self.crcpr,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            SPI_CR1 => {
                self.cr1 = merge(self.cr1, value, mask) & 0xFFFF;
                self.check(cx)?;
                self.go_on(cx.now);
            }
            SPI_CR2 => {
                self.cr2 = merge(self.cr2, value, mask) & 0x7FFF;
                self.check(cx)?;
            }
            SPI_SR => {}
            SPI_DR => {
                // A halfword is two frames of a byte.
                let bytes = if mask & 0xFF00 != 0 { 2 } else { 1 };
                for byte in &value.to_le_bytes()[..bytes] {
                    if self.out.len() == FIFO {
                        return Err(
                            cx.refuse("SPI_DR written while its FIFO is full; wait for SPI_SR.TXE")
                        );
                    }
                    self.out.push_back(*byte);
                    self.go_on(cx.now);
                }
            }
            SPI_CRCPR => self.crcpr = merge(self.crcpr, value, mask) & 0xFFFF,
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, _: Picos) {
        self.clock = *clock;
    }

    fn due(&self, _: &()) -> Option<Picos> {
        self.shifting.map(|(_, end)| Picos(end))
    }

    fn asks(&mut self) -> u32 {
        let sr = self.sr();
        (self.cr2 & SPI_CR2_RXNEIE != 0 && sr & SPI_SR_RXNE != 0
            || self.cr2 & SPI_CR2_TXEIE != 0 && sr & SPI_SR_TXE != 0)
            .into()
    }

    fn may_ask(&self, _: &()) -> bool {
        self.cr2 & (SPI_CR2_RXNEIE | SPI_CR2_TXEIE) != 0 && self.shifting.is_some()
    }
}
