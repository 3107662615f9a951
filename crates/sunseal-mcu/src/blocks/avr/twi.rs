// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two-wire serial interface of the ATmega128 as master (datasheet 2467X, "Two-wire Serial Interface"). As a slave it waits
//! for an address that nobody sends. START and STOP take a bit each, a byte nine.

use serde::{Deserialize, Serialize};
use sunseal_registers::atmega128::twi::{TWEA, TWEN, TWIE, TWINT, TWSTA, TWSTO, TWWC};
use sunseal_trace::Picos;

use super::Cx;
use crate::common::OnBus;
use crate::lint::LintKind;

/// In master mode TWBR should not be less (datasheet, "Bit Rate Generator Unit").
const TWBR_MIN: u8 = 10;

/// Status codes (datasheet, tables of the master modes).
mod status {
    pub const START: u8 = 0x08;
    pub const REPEATED_START: u8 = 0x10;
    pub const SLA_W_ACK: u8 = 0x18;
    pub const SLA_W_NACK: u8 = 0x20;
    pub const SENT_ACK: u8 = 0x28;
    pub const SENT_NACK: u8 = 0x30;
    pub const SLA_R_ACK: u8 = 0x40;
    pub const SLA_R_NACK: u8 = 0x48;
    pub const GOT_ACK: u8 = 0x50;
    pub const GOT_NACK: u8 = 0x58;
    pub const NONE: u8 = 0xF8;
}

/// What happens on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Moving {
    Start,
    Address,
    Send,
    Receive,
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Twi {
    pub twbr: u8,
    pub twar: u8,
    twdr: u8,
    twcr: u8,
    status: u8,
    prescaler: u8,
    /// What moves, and the time it ends.
    moving: Option<(Moving, u128)>,
    /// START went over the bus and STOP did not.
    owns: bool,
}

impl Default for Twi {
    fn default() -> Self {
        Self {
            twbr: 0,
            twar: 0xFE,
            twdr: 0xFF,
            twcr: 0,
            status: status::NONE,
            prescaler: 0,
            moving: None,
            owns: false,
        }
    }
}

impl Twi {
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    pub fn twcr(&self) -> u8 {
        self.twcr
    }

    pub fn twsr(&self) -> u8 {
        self.status | self.prescaler
    }

    pub fn write_twsr(&mut self, value: u8) {
        self.prescaler = value & 3;
    }

    pub fn twdr(&self) -> u8 {
        self.twdr
    }

    pub fn write_twdr(&mut self, value: u8) {
        if self.twcr & TWINT == 0 && self.moving.is_some() {
            self.twcr |= TWWC;
        } else {
            self.twdr = value;
            self.twcr &= !TWWC;
        }
    }

    /// clk_I/O ticks of one bit: 16 + 2 TWBR 4^TWPS.
    fn bit_ticks(&self) -> u64 {
        16 + 2 * u64::from(self.twbr) * (1 << (2 * self.prescaler))
    }

    fn begin(&mut self, what: Moving, cx: &Cx<'_>) {
        self.begin_at(what, cx.io + 1, &cx.clocks.io);
        self.status = status::NONE;
    }

    fn begin_at(&mut self, what: Moving, tick: u64, io: &crate::clock::Line) {
        let bits = if matches!(what, Moving::Start | Moving::Stop) { 1 } else { 9 };
        self.moving = Some((what, io.time_of(tick + bits * self.bit_ticks()).0));
    }

    pub fn write_twcr(&mut self, value: u8, cx: &mut Cx<'_>) {
        let kept = self.twcr & (TWWC | TWINT);
        self.twcr = value & (TWEA | TWSTA | TWSTO | TWEN | TWIE) | kept;
        if value & TWEN == 0 {
            (self.moving, self.owns, self.status) = (None, false, status::NONE);
            self.twcr &= !(TWINT | TWSTO);
            return;
        }
        let told = value & TWINT != 0;
        if told {
            self.twcr &= !TWINT;
        }
        if self.moving.is_some() || self.owns && !told {
            return;
        }
        if value & TWSTO != 0 && self.owns {
            self.begin(Moving::Stop, cx);
        } else if value & TWSTA != 0 {
            if self.twbr < TWBR_MIN {
                cx.lint(LintKind::TwiTooFast);
            }
            self.begin(Moving::Start, cx);
        } else if self.owns {
            match self.status {
                status::START | status::REPEATED_START => self.begin(Moving::Address, cx),
                status::SLA_R_ACK | status::GOT_ACK => self.begin(Moving::Receive, cx),
                // Behind a byte that was not acknowledged another may be sent all the same.
                status::SLA_W_ACK | status::SLA_W_NACK | status::SENT_ACK | status::SENT_NACK => {
                    self.begin(Moving::Send, cx);
                }
                _ => {}
            }
        } else {
            // Nothing to be stopped.
            self.twcr &= !TWSTO;
        }
    }

    pub fn pending(&self) -> bool {
        self.twcr & (TWIE | TWINT) == TWIE | TWINT
    }

    pub fn may_interrupt(&self) -> bool {
        self.twcr & TWIE != 0 && self.moving.is_some()
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.moving.map(|m| m.1).filter(|&t| t != u128::MAX).map(Picos)
    }

    /// What is due at `t`: a step completed on the bus, to be answered by [`answered`](Self::answered).
    pub fn event(&mut self, t: Picos, io: &crate::clock::Line) -> Option<OnBus> {
        let (moving, _) = self.moving.filter(|m| m.1 <= t.0)?;
        Some(match moving {
            Moving::Start => {
                let repeated = std::mem::replace(&mut self.owns, true);
                self.done(if repeated { status::REPEATED_START } else { status::START });
                return None;
            }
            Moving::Address => OnBus::Address { address: self.twdr >> 1, read: self.twdr & 1 != 0 },
            Moving::Send => OnBus::Write(self.twdr),
            Moving::Receive => OnBus::Read,
            Moving::Stop => {
                (self.moving, self.owns) = (None, false);
                self.twcr &= !TWSTO;
                if self.twcr & TWSTA != 0 {
                    self.begin_at(Moving::Start, io.tick_not_before(t), io);
                }
                OnBus::Stop
            }
        })
    }

    /// What became of a step; `None` where nobody acknowledged.
    pub fn answered(&mut self, step: OnBus, answer: Option<u8>) {
        let there = answer.is_some();
        let code = |yes, no| if there { yes } else { no };
        let told = match step {
            OnBus::Address { read: false, .. } => code(status::SLA_W_ACK, status::SLA_W_NACK),
            OnBus::Address { read: true, .. } => code(status::SLA_R_ACK, status::SLA_R_NACK),
            OnBus::Write(_) => code(status::SENT_ACK, status::SENT_NACK),
            OnBus::Read => {
                self.twdr = answer.unwrap_or(0xFF);
                if self.twcr & TWEA != 0 { status::GOT_ACK } else { status::GOT_NACK }
            }
            OnBus::Stop => return,
        };
        self.done(told);
    }

    fn done(&mut self, status: u8) {
        self.moving = None;
        self.status = status;
        self.twcr |= TWINT;
    }
}
