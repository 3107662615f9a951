// SPDX-License-Identifier: MIT OR Apache-2.0
//! SPI: master, and slave of a part that clocks it. Whole bytes take their time; single bits do not show on pins.

use serde::{Deserialize, Serialize};
use sunseal_registers::atmega128::spi::{DORD, MSTR, SPE, SPI2X, SPIE, SPIF, WCOL};
use sunseal_trace::Picos;

use super::Cx;

const MODE: u8 = 0x0C;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spi {
    spcr: u8,
    spsr: u8,
    /// The shift register: what goes out next, and behind a byte what came in.
    shift: u8,
    received: u8,
    /// A byte under way: its end.
    ends: Option<u128>,
    /// SPSR was read with a flag set: the next access of SPDR clears it.
    seen: u8,
}

impl Spi {
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    pub fn spcr(&self) -> u8 {
        self.spcr
    }

    fn is_on(&self) -> bool {
        self.spcr & SPE != 0
    }

    pub fn is_master(&self) -> bool {
        self.is_on() && self.spcr & MSTR != 0
    }

    pub fn is_slave(&self) -> bool {
        self.is_on() && self.spcr & MSTR == 0
    }

    /// CPOL and CPHA are clear, as the parts here want it.
    pub fn is_mode_0(&self) -> bool {
        self.spcr & MODE == 0
    }

    /// A byte as the line carries it, first bit in the top place; and back.
    pub fn wire(&self, byte: u8) -> u8 {
        if self.spcr & DORD != 0 { byte.reverse_bits() } else { byte }
    }

    pub fn write_spcr(&mut self, value: u8) {
        self.spcr = value;
        if !self.is_on() {
            self.ends = None;
        }
    }

    /// SS is an input, the SPI a master, and the pin is low: somebody else wants the bus.
    pub fn lose_bus(&mut self) {
        self.spcr &= !MSTR;
        self.spsr |= SPIF;
        self.ends = None;
    }

    pub fn read_spsr(&mut self) -> u8 {
        self.seen = self.spsr & (SPIF | WCOL);
        self.spsr
    }

    pub fn write_spsr(&mut self, value: u8) {
        self.spsr = self.spsr & !SPI2X | value & SPI2X;
    }

    fn touch_data(&mut self) {
        self.spsr &= !std::mem::take(&mut self.seen);
    }

    pub fn read_spdr(&mut self) -> u8 {
        self.touch_data();
        self.received
    }

    /// clk_I/O ticks of one bit.
    fn bit_ticks(&self) -> u64 {
        let ticks = [4, 16, 64, 128][usize::from(self.spcr & 3)];
        if self.spsr & SPI2X != 0 { ticks / 2 } else { ticks }
    }

    pub fn write_spdr(&mut self, value: u8, cx: &Cx<'_>) {
        self.touch_data();
        if self.ends.is_some() {
            self.spsr |= WCOL;
            return;
        }
        self.shift = value;
        if self.is_master() {
            // The clock generator starts with the write.
            let end = cx.clocks.io.time_of(cx.io + 1 + 8 * self.bit_ticks());
            self.ends = Some(end.0);
        }
    }

    /// Whether a byte goes over the bus, or may come at any time.
    pub fn may_interrupt(&self) -> bool {
        self.spcr & SPIE != 0 && (self.ends.is_some() || self.is_slave())
    }

    pub fn pending(&self) -> bool {
        self.spcr & SPIE != 0 && self.spsr & SPIF != 0
    }

    pub fn acknowledge(&mut self) {
        self.spsr &= !SPIF;
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.ends.filter(|&t| t != u128::MAX).map(Picos)
    }

    /// A byte has left; answer with [`received`](Self::received).
    pub fn event(&mut self, t: Picos) -> Option<u8> {
        self.ends.take_if(|end| *end <= t.0).map(|_| self.wire(self.shift))
    }

    /// What the other side sent.
    pub fn received(&mut self, wire: u8) {
        self.received = self.wire(wire);
        self.shift = self.received;
        self.spsr |= SPIF;
    }

    /// A part has clocked a byte in; answers the one it got.
    pub fn shifted_in(&mut self, wire: u8) -> u8 {
        let out = self.wire(self.shift);
        self.received(wire);
        out
    }
}
