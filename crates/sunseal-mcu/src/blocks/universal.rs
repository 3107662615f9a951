// SPDX-License-Identifier: MIT OR Apache-2.0
//! What USCI and eUSCI have alike (SLAU208 chapters 36 to 38; SLAU367P, eUSCI chapters): the control word, the byte that
//! shifts, bytes that come in over the UART, and the I2C master.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::eusci_a::{
    UC7BIT, UCBUSY, UCMODE, UCMODE_3, UCMSB, UCPEN, UCSPB, UCSSEL, UCSWRST, UCSYNC,
};
use sunseal_registers::msp430fr5xx::eusci_b::{
    UCBBUSY, UCCKPH, UCCKPL, UCSCLLOW, UCSLA10, UCTXSTP, UCTXSTT,
};
use sunseal_trace::Picos;

use super::Ctx;
use super::i2c::{self, Counter, I2c, Regs};
use super::serial::{Incoming, Received, Sampling};
use crate::clock::{Clocks, Line};
use crate::common::Shifting;

// UCxCTLW0: CTL1 is its low byte, CTL0 its high byte.

// UCxSTAT.

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Universal {
    pub is_a: bool,
    pub ctlw0: u16,
    pub brw: u16,
    pub rxbuf: u8,
    pub txbuf: u8,
    /// Address of the slave that the master speaks to, UCBxI2CSA.
    pub slave: u16,
    pub i2c: I2c,
    /// A byte waits in TXBUF.
    pub waiting: bool,
    pub shifting: Option<(u8, u128)>,
    /// A byte of SPI that begins, until somebody asks.
    #[serde(skip)]
    pub begun: Option<Shifting>,
    pub incoming: Incoming,
    /// Duration of the last byte.
    pub frame_ps: u128,
}

/// The bits of a UART's frame.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pub data: u32,
    pub parity: u32,
    pub stop: u32,
}

impl Format {
    /// All of them, the start bit with them.
    pub fn bits(self) -> u32 {
        1 + self.data + self.parity + self.stop
    }
}

impl Universal {
    pub fn new(is_a: bool, ctlw0: u16) -> Self {
        Self { is_a, ctlw0, ..Self::default() }
    }

    /// UCSWRST: what is under way is forgotten.
    pub fn hold(&mut self) {
        self.shifting = None;
        self.waiting = false;
        self.i2c = I2c::default();
    }

    /// The control word as it is kept: UCSYNC of an interface B always reads as 1, whatever is written (SLAU208,
    /// UCBxCTL0; SLAU367P and SLAU356I, UCBxCTLW0).
    pub fn control(&self, written: u16) -> u16 {
        if self.is_a { written } else { written | UCSYNC }
    }

    pub fn is_held(&self) -> bool {
        self.ctlw0 & UCSWRST != 0
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> Option<&'a Line> {
        match self.ctlw0 & UCSSEL {
            0x00 => None,
            0x40 => Some(&clocks.aclk),
            _ => Some(&clocks.smclk),
        }
    }

    /// BRCLK; `name` is what a refusal calls the interface.
    fn brclk<'a>(&self, name: &str, cx: &'a Ctx<'_>) -> Result<&'a Line, Fault> {
        self.line(cx.clocks).ok_or_else(|| {
            cx.refuse(format!(
                "{name} clocked from its UCLK pin is not modelled; select ACLK or SMCLK"
            ))
        })
    }

    pub fn is_i2c(&self) -> bool {
        !self.is_a && self.ctlw0 & (UCSYNC | UCMODE) == UCSYNC | UCMODE_3
    }

    pub fn is_spi(&self) -> bool {
        self.ctlw0 & UCSYNC != 0 && !self.is_i2c()
    }

    pub fn is_mode_0(&self) -> bool {
        self.ctlw0 & (UCCKPH | UCCKPL) == UCCKPH
    }

    /// A byte of the buffers as the line carries it, first bit in the top place; and back again.
    pub fn wire(&self, byte: u8) -> u8 {
        if self.ctlw0 & UCMSB != 0 { byte } else { byte.reverse_bits() }
    }

    /// The byte in TXBUF begins.
    pub fn start(&mut self, ticks: u64, name: &str, cx: &Ctx<'_>) -> Result<(), Fault> {
        let line = *self.brclk(name, cx)?;
        self.shift(self.txbuf, line, ticks, cx.now);
        Ok(())
    }

    /// A byte begins with the next tick of its clock; at no time while that stands still.
    fn shift(&mut self, byte: u8, line: Line, ticks: u64, now: Picos) {
        let first = line.tick_not_before(now);
        let (begin, end) = (line.time_of(first), line.time_of(first + ticks));
        self.shifting = Some((byte, end.0));
        self.frame_ps = end.0.saturating_sub(begin.0);
        let begins = self.is_spi() && end.0 != u128::MAX;
        self.begun = begins.then(|| Shifting { mosi: self.wire(byte), begin, end });
    }

    /// The byte that has left by `now`.
    pub fn shifted(&mut self, now: Picos) -> Option<u8> {
        let (byte, _) = self.shifting.take_if(|(_, t)| *t <= now.0)?;
        self.begun = None;
        Some(byte)
    }

    /// The format of a UART's frame.
    pub fn format(&self) -> Format {
        let bit = |mask| u32::from(self.ctlw0 & mask != 0);
        Format { data: 8 - bit(UC7BIT), parity: bit(UCPEN), stop: 1 + bit(UCSPB) }
    }

    /// Sampling of its line, if it receives: a frame of its own takes `ticks`.
    pub fn sampling(&self, ticks: u64, clocks: &Clocks) -> Option<Sampling> {
        let frame = self.line(clocks).and_then(|line| line.lasting(ticks))?;
        let Format { data, parity, .. } = self.format();
        let bit_ps = frame / u128::from(self.format().bits());
        (self.ctlw0 & (UCSWRST | UCSYNC) == 0 && bit_ps != 0).then_some(Sampling {
            bit_ps,
            data,
            parity,
        })
    }

    /// The next byte that came in by `now`, where the UART takes any.
    pub fn uart_received(&mut self, now: Picos) -> Option<Received> {
        while let Some(received) = self.incoming.take(now) {
            if self.ctlw0 & (UCSWRST | UCSYNC) == 0 {
                return Some(received);
            }
        }
        None
    }

    pub fn is_clocked(&self) -> bool {
        self.shifting.is_some() || self.i2c.is_clocked()
    }

    /// Whether a byte has waited since its clock stood still.
    pub fn wants_clock(&self) -> bool {
        self.shifting.is_some_and(|(_, end)| end == u128::MAX) || self.i2c.wants_clock()
    }

    /// `low_max` is how long SCL may be held low until a flag tells of it.
    pub fn next_event(&self, low_max: Option<Picos>) -> Option<Picos> {
        let shift = self.shifting.map(|(_, t)| t).filter(|&t| t != u128::MAX);
        let i2c = self.i2c.next_event(low_max).map(|t| t.0);
        shift.into_iter().chain(self.incoming.due()).chain(i2c).min().map(Picos)
    }

    pub fn requests_smclk(&self) -> bool {
        self.is_clocked() && self.ctlw0 & UCSSEL >= 0x80
    }

    pub fn requests_aclk(&self) -> bool {
        self.is_clocked() && self.ctlw0 & UCSSEL == 0x40
    }

    /// The lines changed: what waits for its clock begins anew; a byte takes `ticks`.
    pub fn clocked(&mut self, ticks: u64, clocks: &Clocks, now: Picos) {
        if !self.wants_clock() {
            return;
        }
        let Some(line) = self.line(clocks) else { return };
        if let Some((byte, _)) = self.shifting {
            self.shift(byte, *line, ticks, now);
        } else {
            self.i2c.retime(line, self.brw, now);
        }
    }

    /// Bits of the status register that tell what happens now.
    pub fn activity(&self) -> u16 {
        if self.is_i2c() {
            let busy = if self.i2c.is_busy() { UCBBUSY } else { 0 };
            return busy | if self.i2c.holds_low() { UCSCLLOW } else { 0 };
        }
        if self.shifting.is_some() { UCBUSY } else { 0 }
    }

    // ---- I2C

    /// Has the master do something, and takes over the registers it changed. `ifg` are the flags as UCBxIFG has them.
    pub fn with_i2c<T>(
        &mut self,
        ifg: &mut u16,
        counter: Option<Counter>,
        act: impl FnOnce(&mut I2c, &mut Regs) -> T,
    ) -> T {
        let (ctl, address) = (self.ctlw0 & 0x00FF, self.slave as u8 & 0x7F);
        let mut regs = Regs { ctl, ifg: *ifg, address, counter };
        let result = act(&mut self.i2c, &mut regs);
        self.ctlw0 = self.ctlw0 & 0xFF00 | regs.ctl;
        *ifg = regs.ifg;
        result
    }

    /// Times what the master has begun.
    pub fn time_i2c(&mut self, name: &str, cx: &Ctx<'_>) -> Result<(), Fault> {
        if !self.is_i2c() || !self.i2c.is_clocked() {
            return Ok(());
        }
        let line = *self.brclk(name, cx)?;
        self.i2c.time(&line, self.brw, cx.now);
        Ok(())
    }

    /// The control word of the I2C master is written; answers which of START and STOP had been asked for, if now there is
    /// more. What has been asked for and not been done yet stands.
    pub fn write_i2c(&mut self, new: u16, cx: &Ctx<'_>) -> Result<Option<u16>, Fault> {
        let already = self.ctlw0 & (UCTXSTT | UCTXSTP);
        self.ctlw0 = new | already;
        if self.ctlw0 & UCTXSTT != 0 {
            i2c::check(self.brw, self.ctlw0 & UCSLA10 != 0, self.slave)
                .map_err(|e| cx.refuse(e))?;
        }
        Ok((self.ctlw0 & (UCTXSTT | UCTXSTP) != already).then_some(already))
    }

    /// RXBUF was read, and the I2C master had this byte waiting for its room.
    pub fn refill(&mut self, next: u8, name: &str, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        self.rxbuf = next;
        self.time_i2c(name, cx)?;
        cx.fx.touched = true;
        cx.fx.clocks |= self.wants_clock();
        Ok(())
    }
}

/// Their buffers, over the field that has UCRXIFG and UCTXIFG and the one that has UCOE.
macro_rules! buffers {
    ($flags:ident, $status:ident) => {
        pub fn reset(&mut self) {
            *self = Self::new(self.core.is_a);
        }

        fn start(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
            self.core.start(self.byte_ticks(), NAME, cx)?;
            self.$flags |= UCTXIFG;
            Ok(())
        }

        /// A frame without a stop bit is dropped unless UCRXEIE lets it in (SLAU367 and SLAU208, receive errors).
        fn uart_receive(&mut self, received: Received) {
            if received.misframed {
                if self.core.ctlw0 & UCRXEIE == 0 {
                    return;
                }
                self.$status |= UCFE | UCRXERR;
            }
            self.core.incoming.overran |= self.$flags & UCRXIFG != 0;
            self.receive(received.byte);
        }

        fn receive(&mut self, byte: u8) {
            if self.$flags & UCRXIFG != 0 {
                self.$status |= UCOE;
            }
            self.core.rxbuf = byte;
            self.$flags |= UCRXIFG;
        }

        fn read_rxbuf(&mut self, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
            self.$flags &= !UCRXIFG;
            self.$status &= !(UCOE | UCFE | UCRXERR);
            let byte = u16::from(self.core.rxbuf);
            if self.core.is_i2c()
                && let Some(next) = self.with_i2c(|i2c, regs| i2c.read(regs, cx.now))
            {
                self.core.refill(next, NAME, cx)?;
            }
            Ok(byte)
        }

        fn write_txbuf(&mut self, byte: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
            self.core.txbuf = byte;
            if self.core.is_held() {
                return Ok(());
            }
            if self.core.is_i2c() {
                self.with_i2c(|i2c, regs| i2c.written(byte, regs, cx.now));
                return self.core.time_i2c(NAME, cx);
            }
            let is_slave = self.core.is_spi() && self.core.ctlw0 & UCMST == 0;
            if !is_slave && self.core.shifting.is_none() {
                return self.start(cx);
            }
            // Waits for the master, or for the byte before it.
            self.core.waiting |= !is_slave;
            self.$flags &= !UCTXIFG;
            Ok(())
        }
    };
}
pub(super) use buffers;

/// What [`Serial`](super::serial::Serial) asks and both answer alike.
macro_rules! serial {
    () => {
        fn go_on(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
            self.core.time_i2c(NAME, cx)?;
            if std::mem::take(&mut self.core.waiting) { self.start(cx) } else { Ok(()) }
        }
        fn begun(&mut self) -> Option<crate::common::Shifting> {
            self.core.begun.take()
        }
        fn uart_in(&mut self, time: Picos, byte: u8, bit_ps: u128) {
            self.core.incoming.push(time, byte, bit_ps);
        }
        fn listen(&mut self, cx: &Ctx<'_>) {
            let sampling = self.core.sampling(self.byte_ticks(), cx.clocks);
            self.core.incoming.listen(cx.now, sampling);
        }
        fn incoming(&mut self) -> &mut Incoming {
            &mut self.core.incoming
        }
        fn bit_ps(&self) -> u128 {
            self.core.frame_ps / u128::from(self.core.format().bits())
        }
        fn is_mode_0(&self) -> bool {
            self.core.is_mode_0()
        }
        fn i2c_answered(&mut self, answer: Option<u8>, now: Picos) {
            if let Some(byte) = self.with_i2c(|i2c, regs| i2c.answered(answer, regs, now)) {
                self.core.rxbuf = byte;
            }
        }
    };
}
pub(super) use serial;

/// What [`Block`](super::Block) asks and both answer alike.
macro_rules! block {
    () => {
        const LINES: usize = 1;
        const TAINT: Follow = Follow::Hole;

        fn write(
            &mut self,
            off: u32,
            value: u16,
            mask: u16,
            cx: &mut Ctx<'_>,
        ) -> Result<(), Fault> {
            self.put(off, value, mask, cx)?;
            // It asks for its clock (SLAU367P 3.2.7; SLAU208, UCS, operation from low-power modes).
            cx.fx.clocks |= self.core.wants_clock();
            Ok(())
        }
        fn clocked(&mut self, clocks: &Clocks, now: Picos) {
            self.core.clocked(self.byte_ticks(), clocks, now);
        }
        fn requests_smclk(&self) -> bool {
            self.core.requests_smclk()
        }
        fn restart(&mut self, _: Reset) {
            self.reset();
        }
        fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
            self.next_event()
        }
        fn asks(&self, _: usize) -> bool {
            self.pending()
        }
        fn may_ask(&self, _: &Clocks, _: Picos, pins: bool) -> bool {
            (self.enabled() || pins) && self.next_event().is_some()
        }
    };
}
pub(super) use block;
