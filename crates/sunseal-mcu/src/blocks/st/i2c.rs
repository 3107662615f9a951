// SPDX-License-Identifier: MIT OR Apache-2.0
//! I2C1 to I2C3 (RM0351 chapter 39) as masters of addresses of seven bits; as a slave one waits for an address that nobody
//! sends. START goes with the address and takes ten bits, a byte nine, STOP one.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::i2c::*;
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::Line;
use crate::common::OnBus;

/// PE, the interrupts, the filters, DMA and NOSTRETCH, which a master does not look at.
const CR1_KNOWN: u32 = 0x0002_DFFF;
/// I2CCLK ticks that SCL's edges take to be seen: the least of the manual (RM0351 section 39.4.9).
const SYNC_TICKS: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Address,
    Send(u8),
    Receive,
    Stop,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct I2c {
    cr1: u32,
    cr2: u32,
    oar: [u32; 2],
    timingr: u32,
    isr: u32,
    rxdr: u8,
    txdr: u8,
    /// Bytes of the present NBYTES that are still to go.
    left: u32,
    /// What moves on the bus, and when it ends.
    moving: Option<(Phase, u128)>,
    /// A byte was received that RXDR has no room for: SCL is held.
    held: Option<u8>,
    clock: Line,
}

impl I2c {
    pub fn new() -> Self {
        Self { isr: I2C_ISR_TXE, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self { clock: self.clock, ..Self::new() };
    }

    /// Something moves on the bus.
    pub fn is_busy(&self) -> bool {
        self.moving.is_some()
    }

    /// A request of DMA, to receive or to send.
    pub fn requests(&self, receive: bool) -> bool {
        let (on, flag) = if receive { (15, I2C_ISR_RXNE) } else { (14, I2C_ISR_TXIS) };
        self.cr1 >> on & 1 != 0 && self.isr & flag != 0
    }

    /// I2CCLK ticks of a bit: SCLL + 1 and SCLH + 1 times PRESC + 1, and the edges.
    fn bit_ticks(&self) -> u64 {
        let t = self.timingr;
        u64::from(((t & 0xFF) + (t >> 8 & 0xFF) + 2) * ((t >> 28) + 1)) + SYNC_TICKS
    }

    fn enter(&mut self, phase: Phase, now: Picos) {
        let bits = match phase {
            Phase::Address => 10,
            Phase::Send(_) | Phase::Receive => 9,
            Phase::Stop => 1,
        };
        let end = self.clock.tick_not_before(now) + bits * self.bit_ticks();
        self.moving = Some((phase, self.clock.time_of(end).0));
    }

    fn reads(&self) -> bool {
        self.cr2 & I2C_CR2_RD_WRN != 0
    }

    /// Tells the step on the bus that has ended by `t`; it stays until [`answered`](Self::answered) takes the reply.
    pub fn event(&mut self, t: Picos) -> Option<OnBus> {
        let (phase, _) = self.moving.filter(|m| m.1 <= t.0)?;
        Some(match phase {
            Phase::Address => {
                OnBus::Address { address: (self.cr2 >> 1 & 0x7F) as u8, read: self.reads() }
            }
            Phase::Send(byte) => OnBus::Write(byte),
            Phase::Receive => OnBus::Read,
            Phase::Stop => OnBus::Stop,
        })
    }

    /// Goes on behind a step; none is no acknowledge.
    pub fn answered(&mut self, answer: Option<u8>) {
        let Some((phase, end)) = self.moving.take() else { return };
        let now = Picos(end);
        match (phase, answer) {
            (Phase::Stop, _) => {
                self.isr = self.isr & !I2C_ISR_BUSY | I2C_ISR_STOPF | I2C_ISR_TXE;
                self.cr2 &= !I2C_CR2_STOP;
                if self.cr2 & I2C_CR2_START != 0 {
                    self.start(now);
                }
            }
            (Phase::Receive, byte) => {
                let byte = byte.unwrap_or(0xFF);
                if self.isr & I2C_ISR_RXNE != 0 {
                    self.held = Some(byte);
                } else {
                    self.received(byte, now);
                }
            }
            (_, None) => {
                // A STOP follows by itself (RM0351 section 39.4.9).
                self.isr = self.isr & !(I2C_ISR_TXIS | I2C_ISR_TC) | I2C_ISR_NACKF;
                self.cr2 &= !I2C_CR2_START;
                self.enter(Phase::Stop, now);
            }
            (Phase::Address, Some(_)) => {
                self.cr2 &= !I2C_CR2_START;
                self.go_on(now);
            }
            (Phase::Send(_), Some(_)) => {
                self.left -= 1;
                self.go_on(now);
            }
        }
    }

    fn received(&mut self, byte: u8, now: Picos) {
        self.rxdr = byte;
        self.isr |= I2C_ISR_RXNE;
        self.left -= 1;
        self.go_on(now);
    }

    /// The next byte, or what the end of NBYTES leads to.
    fn go_on(&mut self, now: Picos) {
        if self.cr2 & I2C_CR2_STOP != 0 {
            self.isr &= !(I2C_ISR_TC | I2C_ISR_TCR | I2C_ISR_TXIS);
            self.enter(Phase::Stop, now);
        } else if self.left != 0 {
            if self.reads() {
                self.enter(Phase::Receive, now);
            } else {
                self.isr |= I2C_ISR_TXIS;
            }
        } else if self.cr2 & I2C_CR2_RELOAD != 0 {
            self.isr |= I2C_ISR_TCR;
        } else if self.cr2 & I2C_CR2_AUTOEND != 0 {
            self.enter(Phase::Stop, now);
        } else {
            self.isr |= I2C_ISR_TC;
        }
    }

    fn start(&mut self, now: Picos) {
        self.isr = self.isr & !(I2C_ISR_TC | I2C_ISR_TXIS) | I2C_ISR_BUSY | I2C_ISR_TXE;
        self.left = self.cr2 >> 16 & 0xFF;
        self.enter(Phase::Address, now);
    }

    fn write_cr2(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let new = merge(self.cr2, value, mask);
        let what = "addresses of ten bits and packet error checking of the I2C are not modelled";
        only(new, 0x03FF_E7FF, what, cx)?;
        // START and STOP are cleared by hardware alone.
        self.cr2 = new | self.cr2 & (I2C_CR2_START | I2C_CR2_STOP);
        let waits = self.moving.is_none() && self.isr & I2C_ISR_BUSY != 0;
        if self.isr & I2C_ISR_TCR != 0 && new >> 16 & 0xFF != 0 {
            self.isr &= !I2C_ISR_TCR;
            self.left = new >> 16 & 0xFF;
            self.go_on(cx.now);
        } else if waits && new & I2C_CR2_STOP != 0 && self.held.is_none() {
            self.go_on(cx.now);
        } else if new & I2C_CR2_START != 0 {
            if self.cr1 & I2C_CR1_PE == 0 {
                return Err(
                    cx.refuse("I2C_CR2.START is set while I2C_CR1.PE is clear; set PE first")
                );
            }
            if !self.clock.is_running() {
                return Err(cx.refuse(
                    "the I2C's kernel clock is off; RCC_CCIPR chooses it, and its oscillator must run",
                ));
            }
            if self.isr & I2C_ISR_BUSY == 0 || self.isr & I2C_ISR_TC != 0 {
                self.start(cx.now);
            }
        }
        Ok(())
    }

    fn write_cr1(&mut self, value: u32, mask: u32, cx: &Cx<'_>) -> Result<(), Fault> {
        self.cr1 = merge(self.cr1, value, mask);
        let what = "SMBus, wake-up from Stop, general calls and byte control of the I2C as a slave are not modelled";
        only(self.cr1, CR1_KNOWN, what, cx)?;
        if self.cr1 & I2C_CR1_PE == 0 {
            // A software reset: state and flags go, settings stay.
            self.isr = I2C_ISR_TXE;
            self.cr2 &= !(I2C_CR2_START | I2C_CR2_STOP);
            (self.moving, self.held) = (None, None);
        }
        Ok(())
    }
}

impl Block<Stm32> for I2c {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            I2C_CR1 => self.cr1,
            I2C_CR2 => self.cr2,
            I2C_OAR1 | I2C_OAR2 => self.oar[usize::from(off == I2C_OAR2)],
            I2C_TIMINGR => self.timingr,
            I2C_TIMEOUTR | I2C_ICR | I2C_PECR => 0,
            I2C_ISR => self.isr,
            I2C_RXDR => {
                self.isr &= !I2C_ISR_RXNE;
                let byte = self.rxdr;
                if let Some(held) = self.held.take() {
                    self.received(held, cx.now);
                }
                byte.into()
            }
            I2C_TXDR => self.txdr.into(),
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            I2C_CR1 => self.write_cr1(value, mask, cx)?,
            I2C_CR2 => self.write_cr2(value, mask, cx)?,
            I2C_OAR1 | I2C_OAR2 => {
                let kept = &mut self.oar[usize::from(off == I2C_OAR2)];
                *kept = merge(*kept, value, mask) & 0x87FF;
            }
            I2C_TIMINGR if self.cr1 & I2C_CR1_PE != 0 => {
                return Err(cx.refuse("I2C_TIMINGR is written only while I2C_CR1.PE is clear"));
            }
            I2C_TIMINGR => self.timingr = merge(self.timingr, value, mask),
            I2C_TIMEOUTR => only(value & mask, 0, "time-outs of the I2C are not modelled", cx)?,
            // Writing 1 to TXE flushes TXDR.
            I2C_ISR | I2C_PECR | I2C_RXDR => {}
            I2C_ICR => self.isr &= !(value & mask & 0x3F38),
            I2C_TXDR => {
                self.txdr = value as u8;
                if self.isr & I2C_ISR_TXIS != 0 {
                    self.isr &= !I2C_ISR_TXIS;
                    self.enter(Phase::Send(self.txdr), cx.now);
                }
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, _: Picos) {
        self.clock = *clock;
    }

    fn due(&self, _: &()) -> Option<Picos> {
        self.moving.map(|(_, end)| Picos(end))
    }

    /// The event input; no error that is the other one's is modelled.
    fn asks(&mut self) -> u32 {
        let on = |enable: u32, flags: u32| self.cr1 >> enable & 1 != 0 && self.isr & flags != 0;
        let asks = on(1, I2C_ISR_TXIS)
            || on(2, I2C_ISR_RXNE)
            || on(4, I2C_ISR_NACKF)
            || on(5, I2C_ISR_STOPF)
            || on(6, I2C_ISR_TC | I2C_ISR_TCR);
        asks.into()
    }

    fn may_ask(&self, _: &()) -> bool {
        self.cr1 & 0x7E != 0 && self.moving.is_some()
    }
}
