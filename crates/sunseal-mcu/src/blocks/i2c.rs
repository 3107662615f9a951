// SPDX-License-Identifier: MIT OR Apache-2.0
//! The I2C master of eUSCI_B (SLAU367P, chapter 32; SLAU356I, chapter 26) and of USCI_B (SLAU208, chapter 38).
//!
//! Both have UCTR, UCTXSTT and UCTXSTP at the same places of their control word's low byte, and their flags at the same
//! places of an interrupt register. Whole bytes take their time: START and the address ten bits, a byte nine, STOP one.

use serde::{Deserialize, Serialize};
use sunseal_registers::msp430fr5xx::eusci_b::{
    UCBCNTIFG, UCBIT9IFG, UCCLTOIFG, UCNACKIFG, UCRXIFG0, UCSTPIFG, UCTR, UCTXIFG0, UCTXSTP,
    UCTXSTT,
};
use sunseal_trace::Picos;

use crate::clock::Line;
use crate::common::OnBus;

/// The slowest divider of BRCLK: the bit clock of a single master is at most a quarter of it (SLAU367P 32.3.6).
pub(crate) const DIVIDER_MIN: u16 = 4;

/// What the master reads and writes of its block's registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regs {
    /// Low byte of the control word.
    pub ctl: u16,
    pub ifg: u16,
    pub address: u8,
    /// The counter of an eUSCI_B; a USCI_B has none.
    pub counter: Option<Counter>,
}

/// UCBxTBCNT and UCASTPx of an eUSCI_B, which tells its own STOP by a flag too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    pub threshold: u8,
    pub tells: bool,
    pub stops: bool,
}

/// What happens on the bus. SCL is low in those that hold it, until software has done its part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    #[default]
    Free,
    Start,
    Send(u8),
    Receive,
    Stop,
    /// A byte to send is wanted.
    HoldSend,
    /// The byte received has no room in UCBxRXBUF.
    HoldReceive,
    /// Not acknowledged: STOP or START is wanted.
    HoldRefused,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct I2c {
    phase: Phase,
    /// When the phase ends; none of one that holds, `u128::MAX` while BRCLK rests.
    ends: Option<u128>,
    /// The phase was just entered and its end is not known yet.
    fresh: bool,
    sends: bool,
    /// STOP was asked for before the START that waits.
    stop_first: bool,
    /// The byte that waits in UCBxTXBUF, and that in the shift register which UCBxRXBUF has no room for.
    waiting: Option<u8>,
    held: Option<u8>,
    pub count: u8,
    /// Since when SCL is held low.
    low_since: Option<u128>,
}

/// Whether a START can be made with a divider and an address; else why not.
pub(crate) fn check(divider: u16, ten_bits: bool, address: u16) -> Result<(), String> {
    if divider < DIVIDER_MIN {
        return Err(format!(
            "I2C with a divider of {divider}: UCBxBRW must be at least {DIVIDER_MIN}, as the bit clock is at most a quarter of BRCLK"
        ));
    }
    if ten_bits || address > 0x7F {
        return Err("I2C addresses of ten bits are not modelled; clear UCSLA10 and write one of seven bits to UCBxI2CSA".to_owned());
    }
    Ok(())
}

impl I2c {
    pub fn is_busy(&self) -> bool {
        self.phase != Phase::Free
    }

    pub fn holds_low(&self) -> bool {
        matches!(self.phase, Phase::HoldSend | Phase::HoldReceive | Phase::HoldRefused)
    }

    /// Whether BRCLK is needed.
    pub fn is_clocked(&self) -> bool {
        self.is_busy() && !self.holds_low()
    }

    /// Whether it has waited since BRCLK stood still.
    pub fn wants_clock(&self) -> bool {
        self.ends == Some(u128::MAX)
    }

    pub fn next_event(&self, low_max: Option<Picos>) -> Option<Picos> {
        let end = self.ends.filter(|&t| t != u128::MAX);
        let timeout = self.low_since.zip(low_max).map(|(since, most)| since + most.0);
        end.into_iter().chain(timeout).min().map(Picos)
    }

    /// Gives a phase just entered its end.
    pub fn time(&mut self, line: &Line, divider: u16, now: Picos) {
        if std::mem::take(&mut self.fresh) {
            self.retime(line, divider, now);
        }
    }

    /// Times the present phase from `now` on, where BRCLK has come back.
    pub fn retime(&mut self, line: &Line, divider: u16, now: Picos) {
        let bits = match self.phase {
            Phase::Start => 10,
            Phase::Send(_) | Phase::Receive => 9,
            _ => 1,
        };
        let ticks = bits * u64::from(divider.max(1));
        self.ends = Some(line.time_of(line.tick_not_before(now) + ticks).0);
    }

    fn enter(&mut self, phase: Phase, now: Picos) {
        self.phase = phase;
        self.ends = None;
        self.fresh = self.is_clocked();
        self.low_since = self.holds_low().then_some(now.0);
    }

    fn start(&mut self, r: &mut Regs, now: Picos) {
        self.sends = r.ctl & UCTR != 0;
        // What lay in UCBxTXBUF is discarded; the first byte may be written at once.
        self.waiting = None;
        self.count = 0;
        if self.sends {
            r.ifg |= UCTXIFG0;
        }
        if r.counter.is_none() {
            r.ifg &= !(UCNACKIFG | UCSTPIFG);
        }
        self.enter(Phase::Start, now);
    }

    fn stop(&mut self, now: Picos) {
        self.waiting = None;
        self.stop_first = false;
        self.enter(Phase::Stop, now);
    }

    /// UCTXSTT or UCTXSTP was set, while `already` stood there.
    pub fn asked(&mut self, already: u16, r: &mut Regs, now: Picos) {
        let new = r.ctl & !already;
        if new & UCTXSTT != 0 && already & UCTXSTP != 0 {
            self.stop_first = true;
        }
        match self.phase {
            Phase::Free if r.ctl & UCTXSTT != 0 => self.start(r, now),
            // Nothing is there to be stopped.
            Phase::Free => r.ctl &= !UCTXSTP,
            Phase::HoldSend | Phase::HoldRefused if r.ctl & UCTXSTT != 0 => self.start(r, now),
            Phase::HoldSend | Phase::HoldRefused if r.ctl & UCTXSTP != 0 => self.stop(now),
            // The NACK comes at once, the byte stays to be read.
            Phase::HoldReceive if r.ctl & (UCTXSTT | UCTXSTP) != 0 => self.received(r, now),
            _ => {}
        }
    }

    /// A byte was written to UCBxTXBUF.
    pub fn written(&mut self, byte: u8, r: &mut Regs, now: Picos) {
        self.waiting = Some(byte);
        r.ifg &= !UCTXIFG0;
        if self.phase == Phase::HoldSend {
            self.send_waiting(r, now);
        }
    }

    /// UCBxRXBUF was read: the byte that waited for its room, if there is one.
    pub fn read(&mut self, r: &mut Regs, now: Picos) -> Option<u8> {
        let byte = self.held.take()?;
        r.ifg |= UCRXIFG0;
        if self.phase == Phase::HoldReceive {
            self.received(r, now);
        }
        Some(byte)
    }

    /// What is due at `now`: the step that was completed on the bus, to be answered by [`answered`](Self::answered).
    pub fn event(&mut self, low_max: Option<Picos>, r: &mut Regs, now: Picos) -> Option<OnBus> {
        if self.low_since.zip(low_max).is_some_and(|(since, most)| since + most.0 <= now.0) {
            self.low_since = None;
            r.ifg |= UCCLTOIFG;
        }
        self.ends.take_if(|end| *end <= now.0)?;
        Some(match self.phase {
            Phase::Start => OnBus::Address { address: r.address, read: !self.sends },
            Phase::Send(byte) => OnBus::Write(byte),
            Phase::Receive => OnBus::Read,
            _ => OnBus::Stop,
        })
    }

    /// Goes on behind a step; a byte is what goes into UCBxRXBUF.
    pub fn answered(&mut self, answer: Option<u8>, r: &mut Regs, now: Picos) -> Option<u8> {
        let counts = r.counter.is_some();
        if counts && self.phase != Phase::Stop {
            r.ifg |= UCBIT9IFG;
        }
        match (self.phase, answer) {
            (Phase::Stop, _) => {
                r.ctl &= !UCTXSTP;
                if counts {
                    r.ifg |= UCSTPIFG;
                }
                self.enter(Phase::Free, now);
                if r.ctl & UCTXSTT != 0 {
                    self.start(r, now);
                }
            }
            (Phase::Receive, answer) => {
                let byte = answer.unwrap_or(0xFF);
                if r.ifg & UCRXIFG0 == 0 {
                    r.ifg |= UCRXIFG0;
                    self.received(r, now);
                    return Some(byte);
                }
                self.held = Some(byte);
                self.enter(Phase::HoldReceive, now);
                if r.ctl & UCTXSTP != 0 || self.is_last(r) {
                    self.received(r, now);
                }
            }
            (_, None) => {
                // The byte in UCBxTXBUF and a START that was asked for are discarded; a STOP that was frees the bus.
                r.ifg = r.ifg & !UCTXIFG0 | UCNACKIFG;
                r.ctl &= !UCTXSTT;
                self.waiting = None;
                if r.ctl & UCTXSTP != 0 {
                    self.stop(now);
                } else {
                    self.enter(Phase::HoldRefused, now);
                }
            }
            (Phase::Start, Some(_)) => {
                r.ctl &= !UCTXSTT;
                if self.sends {
                    self.send_next(r, now);
                } else {
                    self.enter(Phase::Receive, now);
                }
            }
            (_, Some(_)) => {
                self.count_byte(r);
                self.send_next(r, now);
            }
        }
        None
    }

    fn is_last(&self, r: &Regs) -> bool {
        r.counter.is_some_and(|c| c.stops && self.count.wrapping_add(1) == c.threshold)
    }

    fn count_byte(&mut self, r: &mut Regs) {
        self.count = self.count.wrapping_add(1);
        if r.counter.is_some_and(|c| c.tells && self.count == c.threshold) {
            r.ifg |= UCBCNTIFG;
        }
    }

    fn counted_out(&self, r: &Regs) -> bool {
        r.counter.is_some_and(|c| c.stops && self.count == c.threshold)
    }

    /// A byte has come and is acknowledged, or was the last.
    fn received(&mut self, r: &mut Regs, now: Picos) {
        self.count_byte(r);
        if self.ends_now(r) {
            self.stop(now);
        } else if r.ctl & UCTXSTT != 0 {
            self.start(r, now);
        } else {
            self.enter(Phase::Receive, now);
        }
    }

    fn ends_now(&self, r: &Regs) -> bool {
        let asked = r.ctl & UCTXSTP != 0 && (r.ctl & UCTXSTT == 0 || self.stop_first);
        asked || self.counted_out(r)
    }

    /// Behind an acknowledged byte of a sender.
    fn send_next(&mut self, r: &mut Regs, now: Picos) {
        if self.ends_now(r) {
            self.stop(now);
        } else if r.ctl & UCTXSTT != 0 {
            self.start(r, now);
        } else if self.waiting.is_some() {
            self.send_waiting(r, now);
        } else {
            self.enter(Phase::HoldSend, now);
        }
    }

    fn send_waiting(&mut self, r: &mut Regs, now: Picos) {
        if let Some(byte) = self.waiting.take() {
            self.enter(Phase::Send(byte), now);
            // With a STOP by the counter, as many bytes are asked for as it counts.
            if !self.is_last(r) {
                r.ifg |= UCTXIFG0;
            }
        }
    }
}
