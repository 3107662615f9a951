// SPDX-License-Identifier: MIT OR Apache-2.0
//! eUSCI_A and eUSCI_B (SLAU367P, SLAU356I): UART with its modulation, SPI master and slave, I2C master. Whole bytes take
//! their time; single bits do not show.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::eusci_a::{
    UCAABCTL, UCABRW, UCACTLW0, UCACTLW1, UCAIE, UCAIFG, UCAIRCTL, UCAIV, UCAMCTLW, UCARXBUF,
    UCASTATW, UCATXBUF, UCDORM, UCFE, UCLISTEN, UCMODE, UCMODE_3, UCMST, UCOE, UCOS16, UCRXEIE,
    UCRXERR, UCRXIFG, UCSSEL, UCSTTIFG, UCSWRST, UCSYNC, UCTXADDR, UCTXBRK, UCTXCPTIFG, UCTXIFG,
};
use sunseal_registers::msp430fr5xx::eusci_b::{
    UCBADDMASK, UCBADDRX, UCBI2COA0, UCBI2COA3, UCBI2CSA, UCBIE, UCBIFG, UCBIV, UCBSTATW, UCBTBCNT,
    UCTXNACK, UCTXSTP, UCTXSTT,
};
use sunseal_trace::Picos;

use super::i2c::{self, I2c};
use super::serial::{Done, Incoming, Received, Serial};
use super::universal::{self, Universal};
use super::{Block, Ctx, Reset, merge};
use crate::accounts::Event;
use crate::blocks::follow::Follow;
use crate::clock::Clocks;

/// UCCLTOx in nanoseconds: 135,000, 150,000 and 165,000 periods of MODCLK's 4.8 MHz (SLAU367P, UCBxCTLW1).
const CLOCK_LOW_NS: [u128; 4] = [0, 28_125_000, 31_250_000, 34_375_000];

/// Their names on every chip that has them, and what a byte of each is called in the ledger.
pub(crate) const NAMES: [&str; 8] = [
    "eusci_a0", "eusci_a1", "eusci_a2", "eusci_a3", "eusci_b0", "eusci_b1", "eusci_b2", "eusci_b3",
];
pub(crate) const BYTES: [Event; 8] = [
    Event::EusciA0Byte,
    Event::EusciA1Byte,
    Event::EusciA2Byte,
    Event::EusciA3Byte,
    Event::EusciB0Byte,
    Event::EusciB1Byte,
    Event::EusciB2Byte,
    Event::EusciB3Byte,
];

/// What refusals call it.
const NAME: &str = "eUSCI";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Eusci {
    core: Universal,
    ctlw1: u16,
    mctlw: u16,
    statw: u16,
    own: [u16; 4],
    add_mask: u16,
    ie: u16,
    ifg: u16,
    tbcnt: u16,
}

impl Eusci {
    universal::buffers!(ifg, statw);

    pub fn new(is_a: bool) -> Self {
        Self {
            // UCB0CTLW0 wakes as 01C1h: UCSYNC is fixed to 1, SMCLK selected.
            core: Universal::new(is_a, UCSWRST | if is_a { 0 } else { UCSYNC | UCSSEL }),
            ctlw1: 3,
            add_mask: 0x03FF,
            ifg: UCTXIFG,
            ..Self::default()
        }
    }

    /// Source ticks that bit `i` of a UART frame takes: the first-stage modulation in sixteenths of a
    /// bit, the second stage one tick for each bit that UCBRSx marks.
    fn uart_bit(&self, i: u32) -> u64 {
        let br = u64::from(self.core.brw);
        let second = u64::from(self.mctlw >> (8 + i % 8) & 1);
        if self.mctlw & UCOS16 != 0 {
            16 * br + u64::from(self.mctlw >> 4 & 15) + second
        } else {
            br + second
        }
    }

    fn byte_ticks(&self) -> u64 {
        let format = self.core.format();
        if self.core.is_spi() {
            return u64::from(format.data) * u64::from(self.core.brw).max(1);
        }
        (0..format.bits()).map(|i| self.uart_bit(i)).sum::<u64>().max(1)
    }

    // ---- I2C

    /// As [`Universal::with_i2c`], with the counter of bytes.
    fn with_i2c<T>(&mut self, act: impl FnOnce(&mut I2c, &mut i2c::Regs) -> T) -> T {
        let counter = i2c::Counter {
            threshold: self.tbcnt as u8,
            tells: self.ctlw1 & 0x000C != 0,
            stops: self.ctlw1 & 0x000C == 0x0008,
        };
        self.core.with_i2c(&mut self.ifg, Some(counter), act)
    }

    fn low_max(&self) -> Option<Picos> {
        let chosen = self.ctlw1 >> 6 & 3;
        (chosen != 0).then(|| Picos(CLOCK_LOW_NS[usize::from(chosen)] * 1000))
    }

    /// A byte that a part shifts into the interface, which is its SPI slave; answers the byte that went back.
    pub fn slave_exchange(&mut self, byte: u8) -> u8 {
        if self.core.ctlw0 & (UCSWRST | UCSYNC | UCMST) != UCSYNC {
            return 0xFF;
        }
        let sent = self.core.txbuf;
        self.ifg |= UCTXIFG;
        self.receive(self.core.wire(byte));
        self.core.wire(sent)
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.ie != 0
    }

    pub fn pending(&self) -> bool {
        self.ie & self.ifg != 0
    }

    /// A byte was received, and no interrupt takes care of it: what a DMA trigger sees.
    pub fn rx_trigger(&self) -> bool {
        self.ifg & UCRXIFG != 0 && self.ie & UCRXIFG == 0
    }

    /// TXBUF is free, and no interrupt takes care of it.
    pub fn tx_trigger(&self) -> bool {
        self.ifg & UCTXIFG != 0 && self.ie & UCTXIFG == 0 && !self.core.is_held()
    }

    /// The interrupt flags in the order of their vectors.
    fn order(&self) -> &'static [(u16, u16)] {
        if self.core.is_i2c() {
            // NACK 4, start 6, stop 8, receive 0 22, transmit 0 24, counter 26, clock low 28, bit nine 30 (SLAU367P, UCBxIV in
            // I2C mode).
            &[
                (0x0020, 4),
                (0x0004, 6),
                (0x0008, 8),
                (UCRXIFG, 22),
                (UCTXIFG, 24),
                (0x0040, 26),
                (0x0080, 28),
                (0x4000, 30),
            ]
        } else if self.core.is_spi() {
            &[(UCRXIFG, 2), (UCTXIFG, 4)]
        } else {
            &[(UCRXIFG, 2), (UCTXIFG, 4), (UCSTTIFG, 6), (UCTXCPTIFG, 8)]
        }
    }

    fn vector(&mut self) -> u16 {
        let on = self.ie & self.ifg;
        match self.order().iter().find(|(flag, _)| on & flag != 0) {
            Some(&(flag, code)) => {
                self.ifg &= !flag;
                code
            }
            None => 0,
        }
    }

    fn status(&self) -> u16 {
        let count = if self.core.is_i2c() { u16::from(self.core.i2c.count) << 8 } else { 0 };
        count | self.statw | self.core.activity()
    }

    fn write_ctlw0(&mut self, new: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        if new & UCSWRST != 0 {
            let listen = self.statw & UCLISTEN;
            self.core.hold();
            self.ie = 0;
            self.statw = listen;
            self.core.ctlw0 = new & !(UCTXSTT | UCTXSTP);
            self.ifg = if self.core.is_i2c() { 0 } else { UCTXIFG };
            return Ok(());
        }
        let sync = new & UCSYNC != 0;
        if sync && new & UCMODE == UCMODE_3 {
            if self.core.is_a {
                return Err(cx.refuse("UCMODEx = 3 (I2C) on an eUSCI_A, which has no I2C"));
            }
            if new & UCMST == 0 {
                return Err(cx.refuse("I2C slave mode of the eUSCI is not modelled; set UCMST"));
            }
            return self.write_i2c(new, cx);
        }
        if sync && new & UCMODE != 0 {
            return Err(cx.refuse(
                "4-pin SPI modes of the eUSCI are not modelled; drive the select pin by software",
            ));
        }
        if !sync && new & (UCMODE | UCDORM | UCTXADDR | UCTXBRK) != 0 {
            return Err(cx.refuse(
                "multiprocessor modes, automatic baud rate and breaks of the UART are not modelled",
            ));
        }
        self.core.ctlw0 = new;
        Ok(())
    }

    fn write_i2c(&mut self, new: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        if self.core.ctlw0 & UCMODE != UCMODE_3 || self.core.is_held() {
            self.ifg = 0;
        }
        if let Some(already) = self.core.write_i2c(new & !UCTXNACK, cx)? {
            self.with_i2c(|i2c, regs| i2c.asked(already, regs, cx.now));
        }
        self.core.time_i2c(NAME, cx)
    }

    fn put(&mut self, off: u32, value: u16, mask: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        match off {
            UCACTLW0 => {
                let new = self.core.control(merge(self.core.ctlw0, value, mask));
                self.write_ctlw0(new, cx)?;
            }
            UCACTLW1 => self.ctlw1 = merge(self.ctlw1, value, mask) & 0x01FF,
            UCABRW => self.core.brw = merge(self.core.brw, value, mask),
            UCAMCTLW if self.core.is_a => self.mctlw = merge(self.mctlw, value, mask) & 0xFFF1,
            UCASTATW if self.core.is_a => self.statw = merge(self.statw, value, mask) & 0x00FE,
            UCBSTATW if !self.core.is_a => self.statw = merge(self.statw, value, mask) & 0x0080,
            UCATXBUF if mask & 0xFF == 0 => {}
            UCATXBUF => {
                self.ifg &= !UCTXCPTIFG;
                return self.write_txbuf(value as u8, cx);
            }
            UCAABCTL | UCAIRCTL if self.core.is_a => {
                if value & mask != 0 {
                    return Err(cx.refuse("LIN and IrDA functions of the eUSCI are not modelled"));
                }
            }
            UCAIE if self.core.is_a => self.ie = merge(self.ie, value, mask) & 0x000F,
            UCAIFG if self.core.is_a => self.ifg = merge(self.ifg, value, mask) & 0x000F,
            UCBI2COA0..=UCBI2COA3 if !self.core.is_a => {
                let own = &mut self.own[((off - UCBI2COA0) / 2) as usize];
                *own = merge(*own, value, mask);
            }
            UCBADDMASK if !self.core.is_a => {
                self.add_mask = merge(self.add_mask, value, mask) & 0x03FF
            }
            UCBI2CSA if !self.core.is_a => {
                self.core.slave = merge(self.core.slave, value, mask) & 0x03FF
            }
            UCBIE if !self.core.is_a => self.ie = merge(self.ie, value, mask) & 0x7FFF,
            UCBIFG if !self.core.is_a => self.ifg = merge(self.ifg, value, mask) & 0x7FFF,
            // May be set in reset alone (SLAU367P, UCBxTBCNT).
            UCBTBCNT if !self.core.is_a && self.core.is_held() => {
                self.tbcnt = merge(self.tbcnt, value, mask) & 0x00FF;
            }
            UCBTBCNT | UCBADDRX if !self.core.is_a => {}
            UCARXBUF | UCAIV | UCBIV => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}

impl Serial for Eusci {
    universal::serial!();

    fn next_event(&self) -> Option<Picos> {
        self.core.next_event(self.low_max())
    }

    fn event(&mut self, now: Picos) -> Option<Done> {
        while let Some(received) = self.core.uart_received(now) {
            self.ifg |= UCSTTIFG;
            self.uart_receive(received);
        }
        if self.core.is_i2c() {
            let low_max = self.low_max();
            return self.with_i2c(|i2c, regs| i2c.event(low_max, regs, now)).map(Done::I2c);
        }
        let byte = self.core.shifted(now)?;
        if self.core.is_spi() {
            return Some(Done::Spi(self.core.wire(byte)));
        }
        if self.statw & UCLISTEN != 0 {
            self.receive(byte);
        }
        if !self.core.waiting {
            self.ifg |= UCTXCPTIFG;
        }
        Some(Done::Uart(byte))
    }

    fn spi_received(&mut self, mosi: u8, miso: u8) {
        self.receive(self.core.wire(if self.statw & UCLISTEN != 0 { mosi } else { miso }));
    }
}

impl Block for Eusci {
    universal::block!();

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            UCACTLW0 => self.core.ctlw0,
            UCACTLW1 => self.ctlw1,
            UCABRW => self.core.brw,
            UCAMCTLW if self.core.is_a => self.mctlw,
            UCASTATW if self.core.is_a => self.status(),
            UCBSTATW if !self.core.is_a => self.status(),
            UCBTBCNT if !self.core.is_a => self.tbcnt,
            UCARXBUF => return self.read_rxbuf(cx),
            UCATXBUF => u16::from(self.core.txbuf),
            UCAABCTL | UCAIRCTL if self.core.is_a => 0,
            UCAIE if self.core.is_a => self.ie,
            UCAIFG if self.core.is_a => self.ifg,
            UCAIV if self.core.is_a => self.vector(),
            UCBI2COA0..=UCBI2COA3 if !self.core.is_a => self.own[((off - UCBI2COA0) / 2) as usize],
            UCBADDRX if !self.core.is_a => 0,
            UCBADDMASK if !self.core.is_a => self.add_mask,
            UCBI2CSA if !self.core.is_a => self.core.slave,
            UCBIE if !self.core.is_a => self.ie,
            UCBIFG if !self.core.is_a => self.ifg,
            UCBIV if !self.core.is_a => self.vector(),
            _ => return Err(cx.no_register()),
        })
    }

    fn requests_aclk(&self) -> bool {
        self.core.requests_aclk()
    }

    fn trigger(name: &str) -> Option<u8> {
        ["rx", "tx"].iter().position(|n| *n == name).map(|n| n as u8)
    }

    fn triggers(&self, number: u8) -> bool {
        if number == 0 { self.rx_trigger() } else { self.tx_trigger() }
    }
}
