// SPDX-License-Identifier: MIT OR Apache-2.0
//! USCI_A and USCI_B (SLAU208, chapters 36 to 38): SPI master, UART, I2C master. Whole bytes take their time; single bits
//! do not show.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::i2c::{self, I2c, UCTXSTP, UCTXSTT};
use super::serial::{Done, Serial};
use super::{Block, Ctx, Reset, merge};
use crate::clock::{Clocks, Line};
use crate::common::Shifting;
use crate::instruments::taint::Follow;

const CTLW0: u32 = 0x00;
const BRW: u32 = 0x06;
const MCTL: u32 = 0x08;
const STAT: u32 = 0x0A;
const RXBUF: u32 = 0x0C;
const TXBUF: u32 = 0x0E;
const ABCTL: u32 = 0x10;
const IRCTL: u32 = 0x12;
const I2COA: u32 = 0x10;
const I2CSA: u32 = 0x12;
const ICTL: u32 = 0x1C;
const IV: u32 = 0x1E;

// CTL1 is the low byte of CTLW0, CTL0 the high byte.
const UCSWRST: u16 = 0x0001;
const UCSSEL: u16 = 0x00C0;
const UCSYNC: u16 = 0x0100;
const UCMODE: u16 = 0x0600;
const UCMODE_I2C: u16 = 0x0600;
const UCMST: u16 = 0x0800;
const UCSPB: u16 = 0x0800;
const UC7BIT: u16 = 0x1000;
const UCMSB: u16 = 0x2000;
const UCCKPL: u16 = 0x4000;
const UCCKPH: u16 = 0x8000;
const UCPEN: u16 = 0x8000;
/// I2C: ten bits of address.
const UCSLA10: u16 = 0x4000;

const UCLISTEN: u16 = 0x80;
const UCOE: u16 = 0x20;
const UCBUSY: u16 = 0x01;
const B_UCBBUSY: u16 = 0x10;
const B_UCSCLLOW: u16 = 0x40;

const UCRXIFG: u16 = 0x0100;
const UCTXIFG: u16 = 0x0200;
const INTERRUPTS: u16 = 0x03;
const I2C_INTERRUPTS: u16 = 0x3F;
/// Flags of I2C in the order of their vectors (SLAU208, UCBxIV): lost arbitration 2, not acknowledged 4, START 6, STOP 8,
/// received 10, to be sent 12.
const I2C_ORDER: [(u16, u16); 6] =
    [(0x10, 2), (0x20, 4), (0x04, 6), (0x08, 8), (0x01, 10), (0x02, 12)];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usci {
    is_a: bool,
    ctlw0: u16,
    brw: u16,
    mctl: u16,
    stat: u16,
    rxbuf: u8,
    txbuf: u8,
    ictl: u16,
    own: u16,
    slave: u16,
    i2c: I2c,
    waiting: bool,
    shifting: Option<(u8, u128)>,
    /// A byte of SPI that begins, until somebody asks.
    #[serde(skip)]
    begun: Option<Shifting>,
    /// Bytes that come in over the UART, with the time their last bit ends.
    incoming: Vec<(u128, u8)>,
}

impl Usci {
    pub fn new(is_a: bool) -> Self {
        Self {
            is_a,
            ctlw0: UCSWRST | if is_a { 0 } else { UCSYNC },
            brw: 0,
            mctl: 0,
            stat: 0,
            rxbuf: 0,
            txbuf: 0,
            ictl: UCTXIFG,
            own: 0,
            slave: 0,
            i2c: I2c::default(),
            waiting: false,
            shifting: None,
            begun: None,
            incoming: Vec::new(),
        }
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.is_a);
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> Option<&'a Line> {
        match self.ctlw0 & UCSSEL {
            0x00 => None,
            0x40 => Some(&clocks.aclk),
            _ => Some(&clocks.smclk),
        }
    }

    fn is_spi(&self) -> bool {
        self.ctlw0 & UCSYNC != 0 && !self.is_i2c()
    }

    fn is_i2c(&self) -> bool {
        !self.is_a && self.ctlw0 & (UCSYNC | UCMODE) == UCSYNC | UCMODE_I2C
    }

    /// The interrupts that the mode has, by their bits in UCxIE.
    fn interrupts(&self) -> u16 {
        if self.is_i2c() { I2C_INTERRUPTS } else { INTERRUPTS }
    }

    /// A byte of the buffers as the line carries it, first bit in the top place; and back again.
    fn wire(&self, byte: u8) -> u8 {
        if self.ctlw0 & UCMSB != 0 { byte } else { byte.reverse_bits() }
    }

    /// Source ticks of one byte, in eighths.
    fn byte_eighths(&self) -> u64 {
        let data = if self.ctlw0 & UC7BIT != 0 { 7 } else { 8 };
        let br = u64::from(self.brw);
        if self.is_spi() {
            return data * 8 * br.max(1);
        }
        let parity = u64::from(self.ctlw0 & UCPEN != 0);
        let stop = 1 + u64::from(self.ctlw0 & UCSPB != 0);
        let bit = if self.mctl & 1 != 0 {
            8 * (16 * br + u64::from(self.mctl >> 4))
        } else {
            8 * br + u64::from(self.mctl >> 1 & 7)
        };
        (1 + data + parity + stop) * bit
    }

    fn is_clocked(&self) -> bool {
        self.shifting.is_some() || self.i2c.is_clocked()
    }

    /// Whether a byte has waited since its clock stood still.
    fn wants_clock(&self) -> bool {
        self.shifting.is_some_and(|(_, end)| end == u128::MAX) || self.i2c.wants_clock()
    }

    fn brclk<'a>(&self, cx: &'a Ctx<'_>) -> Result<&'a Line, Fault> {
        self.line(cx.clocks).ok_or_else(|| {
            cx.refuse("USCI clocked from its UCLK pin is not modelled; select ACLK or SMCLK")
        })
    }

    /// The byte begins with the next tick of its clock; at no time while that stands still.
    fn shift(&mut self, byte: u8, line: Line, ticks: u64, now: Picos) {
        let first = line.tick_not_before(now);
        let (begin, end) = (line.time_of(first), line.time_of(first + ticks));
        self.shifting = Some((byte, end.0));
        let begins = self.is_spi() && end.0 != u128::MAX;
        self.begun = begins.then(|| Shifting { mosi: self.wire(byte), begin, end });
    }

    /// The byte of SPI that has begun since this was last asked.
    pub fn begun(&mut self) -> Option<Shifting> {
        self.begun.take()
    }

    fn start(&mut self, byte: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
        let line = self.brclk(cx)?;
        let ticks = self.byte_eighths().div_ceil(8).max(1);
        self.shift(byte, *line, ticks, cx.now);
        self.ictl |= UCTXIFG;
        Ok(())
    }

    // ---- I2C

    /// Has the master do something and takes over the registers it changed: UCBxIFG is the upper half of `ictl`.
    fn with_i2c<T>(&mut self, act: impl FnOnce(&mut I2c, &mut i2c::Regs) -> T) -> T {
        let mut regs = i2c::Regs {
            ctl: self.ctlw0 & 0x00FF,
            ifg: self.ictl >> 8,
            address: self.slave as u8 & 0x7F,
            counter: None,
        };
        let result = act(&mut self.i2c, &mut regs);
        self.ctlw0 = self.ctlw0 & 0xFF00 | regs.ctl;
        self.ictl = self.ictl & 0x00FF | regs.ifg << 8;
        result
    }

    fn time_i2c(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        if !self.is_i2c() || !self.i2c.is_clocked() {
            return Ok(());
        }
        let line = *self.brclk(cx)?;
        self.i2c.time(&line, self.brw, cx.now);
        Ok(())
    }

    fn write_i2c(&mut self, new: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        if new & UCMST == 0 {
            return Err(cx.refuse("I2C slave mode of the USCI is not modelled; set UCMST"));
        }
        if !self.is_i2c() || self.ctlw0 & UCSWRST != 0 {
            self.ictl &= 0x00FF;
        }
        let already = self.ctlw0 & (UCTXSTT | UCTXSTP);
        // What has been asked for and not been done yet stands.
        self.ctlw0 = new | already;
        if self.ctlw0 & UCTXSTT != 0 {
            i2c::check(self.brw, self.ctlw0 & UCSLA10 != 0, self.slave)
                .map_err(|e| cx.refuse(&e))?;
        }
        if self.ctlw0 & (UCTXSTT | UCTXSTP) != already {
            self.with_i2c(|i2c, regs| i2c.asked(already, regs, cx.now));
        }
        self.time_i2c(cx)
    }

    /// A byte arrives over the UART, its last bit ending at `time`.
    pub fn uart_in(&mut self, time: Picos, byte: u8) {
        self.incoming.push((time.0, byte));
        self.incoming.sort_by_key(|e| e.0);
    }

    pub fn next_event(&self) -> Option<Picos> {
        let shift = self.shifting.map(|(_, t)| t).filter(|&t| t != u128::MAX);
        let rx = self.incoming.first().map(|e| e.0);
        let i2c = self.i2c.next_event(None).map(|t| t.0);
        shift.into_iter().chain(rx).chain(i2c).min().map(Picos)
    }

    pub fn event(&mut self, now: Picos) -> Option<Done> {
        while let Some(&(t, byte)) = self.incoming.first() {
            if t > now.0 {
                break;
            }
            self.incoming.remove(0);
            if self.ctlw0 & (UCSWRST | UCSYNC) == 0 {
                self.receive(byte);
            }
        }
        if self.is_i2c() {
            return self.with_i2c(|i2c, regs| i2c.event(None, regs, now)).map(Done::I2c);
        }
        let (byte, _) = self.shifting.take_if(|(_, t)| *t <= now.0)?;
        self.begun = None;
        if self.is_spi() {
            return Some(Done::Spi(self.wire(byte)));
        }
        if self.stat & UCLISTEN != 0 {
            self.receive(byte);
        }
        Some(Done::Uart(byte))
    }

    /// Starts the byte that waits in TXBUF, if any, or what the I2C master does next.
    pub fn go_on(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        self.time_i2c(cx)?;
        if std::mem::take(&mut self.waiting) { self.start(self.txbuf, cx) } else { Ok(()) }
    }

    fn receive(&mut self, byte: u8) {
        if self.ictl & UCRXIFG != 0 {
            self.stat |= UCOE;
        }
        self.rxbuf = byte;
        self.ictl |= UCRXIFG;
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.ictl & self.interrupts() != 0
    }

    pub fn pending(&self) -> bool {
        self.ictl & (self.ictl >> 8) & self.interrupts() != 0
    }

    fn write_register(
        &mut self,
        off: u32,
        value: u16,
        mask: u16,
        cx: &Ctx<'_>,
    ) -> Result<(), Fault> {
        match off {
            CTLW0 => {
                let new = merge(self.ctlw0, value, mask);
                let i2c = new & (UCSYNC | UCMODE) == UCSYNC | UCMODE_I2C;
                if i2c && self.is_a {
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
                    self.shifting = None;
                    self.waiting = false;
                    self.i2c = I2c::default();
                    self.ictl = if i2c { 0 } else { UCTXIFG };
                    self.stat &= UCLISTEN;
                    self.ctlw0 = new & !(if i2c { UCTXSTT | UCTXSTP } else { 0 });
                    return Ok(());
                }
                self.ctlw0 = new;
            }
            BRW => self.brw = merge(self.brw, value, mask),
            MCTL if self.is_a => self.mctl = merge(self.mctl, value, mask) & 0xFF,
            STAT => self.stat = merge(self.stat, value, mask) & 0xFE,
            TXBUF => {
                self.txbuf = value as u8;
                if self.ctlw0 & UCSWRST != 0 {
                    return Ok(());
                }
                if self.is_i2c() {
                    let byte = self.txbuf;
                    self.with_i2c(|i2c, regs| i2c.written(byte, regs, cx.now));
                    self.time_i2c(cx)?;
                } else if self.shifting.is_none() {
                    self.start(self.txbuf, cx)?;
                } else {
                    self.waiting = true;
                    self.ictl &= !UCTXIFG;
                }
            }
            ABCTL | IRCTL if self.is_a => {
                if value & mask != 0 {
                    return Err(cx.refuse("LIN and IrDA functions of the USCI are not modelled"));
                }
            }
            I2COA if !self.is_a => self.own = merge(self.own, value, mask),
            I2CSA if !self.is_a => self.slave = merge(self.slave, value, mask) & 0x03FF,
            ICTL => self.ictl = merge(self.ictl, value, mask),
            RXBUF | IV => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}

impl Serial for Usci {
    fn is_mode_0(&self) -> bool {
        self.ctlw0 & (UCCKPH | UCCKPL) == UCCKPH
    }

    fn spi_received(&mut self, mosi: u8, miso: u8) {
        self.receive(self.wire(if self.stat & UCLISTEN != 0 { mosi } else { miso }));
    }

    fn i2c_answered(&mut self, answer: Option<u8>, now: Picos) {
        if let Some(byte) = self.with_i2c(|i2c, regs| i2c.answered(answer, regs, now)) {
            self.rxbuf = byte;
        }
    }
}

impl Block for Usci {
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            CTLW0 => self.ctlw0,
            BRW => self.brw,
            MCTL if self.is_a => self.mctl,
            STAT if self.is_i2c() => {
                let busy = if self.i2c.is_busy() { B_UCBBUSY } else { 0 };
                self.stat | busy | if self.i2c.holds_low() { B_UCSCLLOW } else { 0 }
            }
            STAT => self.stat | if self.shifting.is_some() { UCBUSY } else { 0 },
            RXBUF => {
                self.ictl &= !UCRXIFG;
                self.stat &= !UCOE;
                let byte = u16::from(self.rxbuf);
                if self.is_i2c()
                    && let Some(next) = self.with_i2c(|i2c, regs| i2c.read(regs, cx.now))
                {
                    self.rxbuf = next;
                    self.time_i2c(cx)?;
                    cx.fx.touched = true;
                    cx.fx.clocks |= self.wants_clock();
                }
                byte
            }
            TXBUF => u16::from(self.txbuf),
            ABCTL | IRCTL if self.is_a => 0,
            I2COA if !self.is_a => self.own,
            I2CSA if !self.is_a => self.slave,
            ICTL => self.ictl,
            IV if self.is_i2c() => {
                let on = self.ictl & (self.ictl >> 8);
                match I2C_ORDER.iter().find(|(flag, _)| on & flag != 0) {
                    Some(&(flag, code)) => {
                        self.ictl &= !(flag << 8);
                        code
                    }
                    None => 0,
                }
            }
            IV => match self.ictl & (self.ictl >> 8) & INTERRUPTS {
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

    fn requests_smclk(&self) -> bool {
        self.is_clocked() && self.ctlw0 & UCSSEL >= 0x80
    }

    fn clocked(&mut self, clocks: &Clocks, now: Picos) {
        if !self.wants_clock() {
            return;
        }
        let Some(line) = self.line(clocks) else { return };
        if let Some((byte, _)) = self.shifting {
            let ticks = self.byte_eighths().div_ceil(8).max(1);
            self.shift(byte, *line, ticks, now);
        } else {
            self.i2c.retime(line, self.brw, now);
        }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        self.write_register(off, value, mask, cx)?;
        // It asks for its clock (SLAU367P 3.2.7; SLAU208, UCS, operation from low-power modes).
        cx.fx.clocks |= self.wants_clock();
        Ok(())
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
}
