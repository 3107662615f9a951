// SPDX-License-Identifier: MIT OR Apache-2.0
//! USCI_A and USCI_B (SLAU208, chapters 36 to 38): SPI master, UART, I2C master. Whole bytes take their time; single bits
//! do not show.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::eusci_a::{
    UCFE, UCLISTEN, UCMODE, UCMODE_3, UCMST, UCOE, UCRXEIE, UCRXERR, UCSWRST, UCSYNC,
};
use sunseal_registers::msp430fr5xx::eusci_b::{UCTXSTP, UCTXSTT};
use sunseal_registers::msp430x5xx::usci_a::{
    UCAABCTL, UCABRW, UCACTLW0, UCAICTL, UCAIRTCTL, UCAIV, UCAMCTL, UCARXBUF, UCASTAT, UCATXBUF,
};
use sunseal_registers::msp430x5xx::usci_b::{UCBI2COA, UCBI2CSA};
use sunseal_trace::Picos;

use super::i2c::{self, I2c};
use super::serial::{Done, Incoming, Received, Serial};
use super::universal::{self, Universal};
use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;
use crate::clock::Clocks;

const UCRXIFG: u16 = 0x0100;
const UCTXIFG: u16 = 0x0200;
const INTERRUPTS: u16 = 0x03;
const I2C_INTERRUPTS: u16 = 0x3F;
/// Flags of I2C in the order of their vectors (SLAU208, UCBxIV): lost arbitration 2, not acknowledged 4, START 6, STOP 8,
/// received 10, to be sent 12.
const I2C_ORDER: [(u16, u16); 6] =
    [(0x10, 2), (0x20, 4), (0x04, 6), (0x08, 8), (0x01, 10), (0x02, 12)];

/// What refusals call it.
const NAME: &str = "USCI";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usci {
    core: Universal,
    mctl: u16,
    stat: u16,
    /// Enables in the low byte, flags in the high one.
    ictl: u16,
    own: u16,
}

impl Usci {
    universal::buffers!(ictl, stat);

    pub fn new(is_a: bool) -> Self {
        let core = Universal::new(is_a, UCSWRST | if is_a { 0 } else { UCSYNC });
        Self { core, mctl: 0, stat: 0, ictl: UCTXIFG, own: 0 }
    }

    /// The interrupts that the mode has, by their bits in UCxIE.
    fn interrupts(&self) -> u16 {
        if self.core.is_i2c() { I2C_INTERRUPTS } else { INTERRUPTS }
    }

    /// Ticks of its clock that one byte takes; the UART's are reckoned in eighths.
    fn byte_ticks(&self) -> u64 {
        let format = self.core.format();
        let br = u64::from(self.core.brw);
        if self.core.is_spi() {
            return u64::from(format.data) * br.max(1);
        }
        let bit = if self.mctl & 1 != 0 {
            8 * (16 * br + u64::from(self.mctl >> 4))
        } else {
            8 * br + u64::from(self.mctl >> 1 & 7)
        };
        (u64::from(format.bits()) * bit).div_ceil(8).max(1)
    }

    // ---- I2C

    /// As [`Universal::with_i2c`]: UCBxIFG is the upper half of `ictl`.
    fn with_i2c<T>(&mut self, act: impl FnOnce(&mut I2c, &mut i2c::Regs) -> T) -> T {
        let mut ifg = self.ictl >> 8;
        let result = self.core.with_i2c(&mut ifg, None, act);
        self.ictl = self.ictl & 0x00FF | ifg << 8;
        result
    }

    fn write_i2c(&mut self, new: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        if new & UCMST == 0 {
            return Err(cx.refuse("I2C slave mode of the USCI is not modelled; set UCMST"));
        }
        if !self.core.is_i2c() || self.core.is_held() {
            self.ictl &= 0x00FF;
        }
        if let Some(already) = self.core.write_i2c(new, cx)? {
            self.with_i2c(|i2c, regs| i2c.asked(already, regs, cx.now));
        }
        self.core.time_i2c(NAME, cx)
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.ictl & self.interrupts() != 0
    }

    pub fn pending(&self) -> bool {
        self.ictl & (self.ictl >> 8) & self.interrupts() != 0
    }

    fn put(&mut self, off: u32, value: u16, mask: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        match off {
            UCACTLW0 => {
                let new = self.core.control(merge(self.core.ctlw0, value, mask));
                let i2c = new & (UCSYNC | UCMODE) == UCSYNC | UCMODE_3;
                if i2c && self.core.is_a {
                    return Err(cx.refuse("UCMODEx = 3 (I2C) on a USCI_A, which has no I2C"));
                }
                if i2c && new & UCSWRST == 0 {
                    return self.write_i2c(new, cx);
                }
                if new & UCSWRST == 0 {
                    if new & UCSYNC != 0 && new & UCMST == 0 {
                        return Err(
                            cx.refuse("SPI slave mode of the USCI is not modelled; set UCMST")
                        );
                    }
                    if new & UCSYNC != 0 && new & UCMODE != 0 {
                        return Err(cx.refuse("4-pin SPI modes of the USCI are not modelled; drive the select pin by software"));
                    }
                    if new & UCSYNC == 0 && new & UCMODE != 0 {
                        return Err(cx.refuse("multiprocessor and automatic baud rate modes of the UART are not modelled"));
                    }
                } else {
                    self.core.hold();
                    self.ictl = if i2c { 0 } else { UCTXIFG };
                    self.stat &= UCLISTEN;
                    self.core.ctlw0 = new & !(if i2c { UCTXSTT | UCTXSTP } else { 0 });
                    return Ok(());
                }
                self.core.ctlw0 = new;
            }
            UCABRW => self.core.brw = merge(self.core.brw, value, mask),
            UCAMCTL if self.core.is_a => self.mctl = merge(self.mctl, value, mask) & 0xFF,
            UCASTAT => self.stat = merge(self.stat, value, mask) & 0xFE,
            UCATXBUF => return self.write_txbuf(value as u8, cx),
            UCAABCTL | UCAIRTCTL if self.core.is_a => {
                if value & mask != 0 {
                    return Err(cx.refuse("LIN and IrDA functions of the USCI are not modelled"));
                }
            }
            UCBI2COA if !self.core.is_a => self.own = merge(self.own, value, mask),
            UCBI2CSA if !self.core.is_a => {
                self.core.slave = merge(self.core.slave, value, mask) & 0x03FF
            }
            UCAICTL => self.ictl = merge(self.ictl, value, mask),
            UCARXBUF | UCAIV => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}

impl Serial for Usci {
    universal::serial!();

    fn next_event(&self) -> Option<Picos> {
        self.core.next_event(None)
    }

    fn event(&mut self, now: Picos) -> Option<Done> {
        while let Some(received) = self.core.uart_received(now) {
            self.uart_receive(received);
        }
        if self.core.is_i2c() {
            return self.with_i2c(|i2c, regs| i2c.event(None, regs, now)).map(Done::I2c);
        }
        let byte = self.core.shifted(now)?;
        if self.core.is_spi() {
            return Some(Done::Spi(self.core.wire(byte)));
        }
        if self.stat & UCLISTEN != 0 {
            self.receive(byte);
        }
        Some(Done::Uart(byte))
    }

    fn spi_received(&mut self, mosi: u8, miso: u8) {
        self.receive(self.core.wire(if self.stat & UCLISTEN != 0 { mosi } else { miso }));
    }
}

impl Block for Usci {
    universal::block!();

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            UCACTLW0 => self.core.ctlw0,
            UCABRW => self.core.brw,
            UCAMCTL if self.core.is_a => self.mctl,
            UCASTAT => self.stat | self.core.activity(),
            UCARXBUF => return self.read_rxbuf(cx),
            UCATXBUF => u16::from(self.core.txbuf),
            UCAABCTL | UCAIRTCTL if self.core.is_a => 0,
            UCBI2COA if !self.core.is_a => self.own,
            UCBI2CSA if !self.core.is_a => self.core.slave,
            UCAICTL => self.ictl,
            UCAIV if self.core.is_i2c() => {
                let on = self.ictl & (self.ictl >> 8);
                match I2C_ORDER.iter().find(|(flag, _)| on & flag != 0) {
                    Some(&(flag, code)) => {
                        self.ictl &= !(flag << 8);
                        code
                    }
                    None => 0,
                }
            }
            UCAIV => match self.ictl & (self.ictl >> 8) & INTERRUPTS {
                0 => 0,
                i if i & 1 != 0 => {
                    self.ictl &= !UCRXIFG;
                    2
                }
                _ => {
                    self.ictl &= !UCTXIFG;
                    4
                }
            },
            _ => return Err(cx.no_register()),
        })
    }
}
