// SPDX-License-Identifier: MIT OR Apache-2.0
//! eUSCI_A and eUSCI_B (SLAU367P, SLAU356I): UART with its modulation, SPI master and slave, I2C master. Whole bytes take
//! their time; single bits do not show.

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
const CTLW1: u32 = 0x02;
const BRW: u32 = 0x06;
const MCTLW: u32 = 0x08;
const STATW: u32 = 0x0A;
const B_STATW: u32 = 0x08;
const B_TBCNT: u32 = 0x0A;
const RXBUF: u32 = 0x0C;
const TXBUF: u32 = 0x0E;
const ABCTL: u32 = 0x10;
const IRCTL: u32 = 0x12;
const I2COA0: u32 = 0x14;
const I2COA3: u32 = 0x1A;
const ADDRX: u32 = 0x1C;
const ADDMASK: u32 = 0x1E;
const I2CSA: u32 = 0x20;
const A_IE: u32 = 0x1A;
const A_IFG: u32 = 0x1C;
const A_IV: u32 = 0x1E;
const B_IE: u32 = 0x2A;
const B_IFG: u32 = 0x2C;
const B_IV: u32 = 0x2E;

const UCSWRST: u16 = 0x0001;
const UCTXNACK: u16 = 0x0008;
const UCSSEL: u16 = 0x00C0;
const UCSYNC: u16 = 0x0100;
const UCMODE: u16 = 0x0600;
const UCMODE_I2C: u16 = 0x0600;
const UCMST: u16 = 0x0800;
/// I2C: ten bits of address.
const UCSLA10: u16 = 0x4000;
const UCSPB: u16 = 0x0800;
const UC7BIT: u16 = 0x1000;
const UCMSB: u16 = 0x2000;
const UCCKPL: u16 = 0x4000;
const UCCKPH: u16 = 0x8000;
const UCPEN: u16 = 0x8000;
const UCDORM: u16 = 0x0008;
const UCTXADDR: u16 = 0x0004;
const UCTXBRK: u16 = 0x0002;

const UCOS16: u16 = 0x0001;

const UCLISTEN: u16 = 0x80;
const UCOE: u16 = 0x20;
const UCBUSY: u16 = 0x01;
const B_UCBBUSY: u16 = 0x10;
const B_UCSCLLOW: u16 = 0x40;

const UCRXIFG: u16 = 0x0001;
const UCTXIFG: u16 = 0x0002;
/// UART: a start bit came.
const UCSTTIFG: u16 = 0x0004;
/// UART: the last stop bit left and nothing follows.
const UCTXCPTIFG: u16 = 0x0008;

/// UCCLTOx in nanoseconds: 135,000, 150,000 and 165,000 periods of MODCLK's 4.8 MHz (SLAU367P, UCBxCTLW1).
const CLOCK_LOW_NS: [u128; 4] = [0, 28_125_000, 31_250_000, 34_375_000];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Eusci {
    is_a: bool,
    ctlw0: u16,
    ctlw1: u16,
    brw: u16,
    mctlw: u16,
    statw: u16,
    rxbuf: u8,
    txbuf: u8,
    own: [u16; 4],
    add_mask: u16,
    slave: u16,
    ie: u16,
    ifg: u16,
    tbcnt: u16,
    i2c: I2c,
    waiting: bool,
    shifting: Option<(u8, u128)>,
    /// A byte of SPI that begins, until somebody asks.
    #[serde(skip)]
    begun: Option<Shifting>,
    /// Bytes that come in over the UART, with the time their last bit ends.
    incoming: Vec<(u128, u8)>,
}

impl Eusci {
    pub fn new(is_a: bool) -> Self {
        Self {
            is_a,
            // UCB0CTLW0 wakes as 01C1h: UCSYNC is fixed to 1, SMCLK selected.
            ctlw0: UCSWRST | if is_a { 0 } else { UCSYNC | UCSSEL },
            ctlw1: 3,
            brw: 0,
            mctlw: 0,
            statw: 0,
            rxbuf: 0,
            txbuf: 0,
            own: [0; 4],
            add_mask: 0x03FF,
            slave: 0,
            ie: 0,
            ifg: UCTXIFG,
            tbcnt: 0,
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

    fn is_sync(&self) -> bool {
        self.ctlw0 & UCSYNC != 0
    }

    fn is_i2c(&self) -> bool {
        self.is_sync() && self.ctlw0 & UCMODE == UCMODE_I2C && !self.is_a
    }

    fn is_spi(&self) -> bool {
        self.is_sync() && !self.is_i2c()
    }

    /// A byte of the buffers as the line carries it, first bit in the top place; and back again.
    fn wire(&self, byte: u8) -> u8 {
        if self.ctlw0 & UCMSB != 0 { byte } else { byte.reverse_bits() }
    }

    /// Source ticks that bit `i` of a UART frame takes: the first-stage modulation in sixteenths of a
    /// bit, the second stage one tick for each bit that UCBRSx marks.
    fn uart_bit(&self, i: u32) -> u64 {
        let br = u64::from(self.brw);
        let second = u64::from(self.mctlw >> (8 + i % 8) & 1);
        if self.mctlw & UCOS16 != 0 {
            16 * br + u64::from(self.mctlw >> 4 & 15) + second
        } else {
            br + second
        }
    }

    fn byte_ticks(&self) -> u64 {
        let data = if self.ctlw0 & UC7BIT != 0 { 7 } else { 8 };
        if self.is_spi() {
            return u64::from(data) * u64::from(self.brw).max(1);
        }
        let parity = u32::from(self.ctlw0 & UCPEN != 0);
        let stop = 1 + u32::from(self.ctlw0 & UCSPB != 0);
        (0..1 + data + parity + stop).map(|i| self.uart_bit(i)).sum::<u64>().max(1)
    }

    fn brclk<'a>(&self, cx: &'a Ctx<'_>) -> Result<&'a Line, Fault> {
        self.line(cx.clocks).ok_or_else(|| {
            cx.refuse("eUSCI clocked from its UCLK pin is not modelled; select ACLK or SMCLK")
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
        let ticks = self.byte_ticks();
        self.shift(byte, *line, ticks, cx.now);
        self.ifg |= UCTXIFG;
        Ok(())
    }

    // ---- I2C

    fn i2c_regs(&self) -> i2c::Regs {
        let counter = i2c::Counter {
            threshold: self.tbcnt as u8,
            tells: self.ctlw1 & 0x000C != 0,
            stops: self.ctlw1 & 0x000C == 0x0008,
        };
        i2c::Regs {
            ctl: self.ctlw0 & 0x00FF,
            ifg: self.ifg,
            address: self.slave as u8 & 0x7F,
            counter: Some(counter),
        }
    }

    /// Has the master do something, takes over the registers it changed, and times what it has begun.
    fn with_i2c<T>(&mut self, act: impl FnOnce(&mut I2c, &mut i2c::Regs) -> T) -> T {
        let mut regs = self.i2c_regs();
        let result = act(&mut self.i2c, &mut regs);
        self.ctlw0 = self.ctlw0 & 0xFF00 | regs.ctl;
        self.ifg = regs.ifg;
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

    fn low_max(&self) -> Option<Picos> {
        let chosen = self.ctlw1 >> 6 & 3;
        (chosen != 0).then(|| Picos(CLOCK_LOW_NS[usize::from(chosen)] * 1000))
    }

    fn is_clocked(&self) -> bool {
        self.shifting.is_some() || self.i2c.is_clocked()
    }

    /// Whether a byte has waited since its clock stood still.
    fn wants_clock(&self) -> bool {
        self.shifting.is_some_and(|(_, end)| end == u128::MAX) || self.i2c.wants_clock()
    }

    /// A byte arrives over the UART, its last bit ending at `time`.
    pub fn uart_in(&mut self, time: Picos, byte: u8) {
        self.incoming.push((time.0, byte));
        self.incoming.sort_by_key(|e| e.0);
    }

    /// A byte that a part shifts into the interface, which is its SPI slave; answers the byte that went back.
    pub fn slave_exchange(&mut self, byte: u8) -> u8 {
        if self.ctlw0 & (UCSWRST | UCSYNC | UCMST) != UCSYNC {
            return 0xFF;
        }
        let sent = self.txbuf;
        self.ifg |= UCTXIFG;
        self.receive(self.wire(byte));
        self.wire(sent)
    }

    pub fn next_event(&self) -> Option<Picos> {
        let shift = self.shifting.map(|(_, t)| t).filter(|&t| t != u128::MAX);
        let rx = self.incoming.first().map(|e| e.0);
        let i2c = self.i2c.next_event(self.low_max()).map(|t| t.0);
        shift.into_iter().chain(rx).chain(i2c).min().map(Picos)
    }

    pub fn event(&mut self, now: Picos) -> Option<Done> {
        while let Some(&(t, byte)) = self.incoming.first() {
            if t > now.0 {
                break;
            }
            self.incoming.remove(0);
            if self.ctlw0 & (UCSWRST | UCSYNC) == 0 {
                self.ifg |= UCSTTIFG;
                self.receive(byte);
            }
        }
        if self.is_i2c() {
            let low_max = self.low_max();
            return self.with_i2c(|i2c, regs| i2c.event(low_max, regs, now)).map(Done::I2c);
        }
        let (byte, _) = self.shifting.take_if(|(_, t)| *t <= now.0)?;
        self.begun = None;
        if self.is_spi() {
            return Some(Done::Spi(self.wire(byte)));
        }
        if self.statw & UCLISTEN != 0 {
            self.receive(byte);
        }
        if !self.waiting {
            self.ifg |= UCTXCPTIFG;
        }
        Some(Done::Uart(byte))
    }

    /// Starts the byte that waits in TXBUF, if any, or what the I2C master does next.
    pub fn go_on(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        self.time_i2c(cx)?;
        if std::mem::take(&mut self.waiting) { self.start(self.txbuf, cx) } else { Ok(()) }
    }

    fn receive(&mut self, byte: u8) {
        if self.ifg & UCRXIFG != 0 {
            self.statw |= UCOE;
        }
        self.rxbuf = byte;
        self.ifg |= UCRXIFG;
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
        self.ifg & UCTXIFG != 0 && self.ie & UCTXIFG == 0 && self.ctlw0 & UCSWRST == 0
    }

    /// The interrupt flags in the order of their vectors.
    fn order(&self) -> &'static [(u16, u16)] {
        if self.is_i2c() {
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
        } else if self.is_spi() {
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
        if self.is_i2c() {
            let busy = if self.i2c.is_busy() { B_UCBBUSY } else { 0 };
            let low = if self.i2c.holds_low() { B_UCSCLLOW } else { 0 };
            return u16::from(self.i2c.count) << 8 | self.statw | busy | low;
        }
        self.statw | if self.shifting.is_some() { UCBUSY } else { 0 }
    }

    fn write_ctlw0(&mut self, new: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        if new & UCSWRST != 0 {
            let listen = self.statw & UCLISTEN;
            self.shifting = None;
            self.waiting = false;
            self.i2c = I2c::default();
            self.ie = 0;
            self.statw = listen;
            self.ctlw0 = new & !(UCTXSTT | UCTXSTP);
            self.ifg = if self.is_i2c() { 0 } else { UCTXIFG };
            return Ok(());
        }
        let sync = new & UCSYNC != 0;
        if sync && new & UCMODE == UCMODE_I2C {
            if self.is_a {
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
        self.ctlw0 = new;
        Ok(())
    }

    fn write_i2c(&mut self, new: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        if self.ctlw0 & UCMODE != UCMODE_I2C || self.ctlw0 & UCSWRST != 0 {
            self.ifg = 0;
        }
        let already = self.ctlw0 & (UCTXSTT | UCTXSTP);
        // What has been asked for and not been done yet stands.
        self.ctlw0 = new & !UCTXNACK | already;
        if self.ctlw0 & UCTXSTT != 0 {
            i2c::check(self.brw, self.ctlw0 & UCSLA10 != 0, self.slave)
                .map_err(|e| cx.refuse(&e))?;
        }
        if self.ctlw0 & (UCTXSTT | UCTXSTP) != already {
            self.with_i2c(|i2c, regs| i2c.asked(already, regs, cx.now));
        }
        self.time_i2c(cx)
    }

    fn write_register(
        &mut self,
        off: u32,
        value: u16,
        mask: u16,
        cx: &Ctx<'_>,
    ) -> Result<(), Fault> {
        match off {
            CTLW0 => self.write_ctlw0(merge(self.ctlw0, value, mask), cx)?,
            CTLW1 => self.ctlw1 = merge(self.ctlw1, value, mask) & 0x01FF,
            BRW => self.brw = merge(self.brw, value, mask),
            MCTLW if self.is_a => self.mctlw = merge(self.mctlw, value, mask) & 0xFFF1,
            STATW if self.is_a => self.statw = merge(self.statw, value, mask) & 0x00FE,
            B_STATW if !self.is_a => self.statw = merge(self.statw, value, mask) & 0x0080,
            TXBUF if mask & 0xFF == 0 => {}
            TXBUF => {
                self.txbuf = value as u8;
                self.ifg &= !UCTXCPTIFG;
                if self.ctlw0 & UCSWRST != 0 {
                    return Ok(());
                }
                if self.is_i2c() {
                    let byte = self.txbuf;
                    self.with_i2c(|i2c, regs| i2c.written(byte, regs, cx.now));
                    self.time_i2c(cx)?;
                } else if self.is_spi() && self.ctlw0 & UCMST == 0 {
                    // Waits for the master.
                    self.ifg &= !UCTXIFG;
                } else if self.shifting.is_none() {
                    self.start(self.txbuf, cx)?;
                } else {
                    self.waiting = true;
                    self.ifg &= !UCTXIFG;
                }
            }
            ABCTL | IRCTL if self.is_a => {
                if value & mask != 0 {
                    return Err(cx.refuse("LIN and IrDA functions of the eUSCI are not modelled"));
                }
            }
            A_IE if self.is_a => self.ie = merge(self.ie, value, mask) & 0x000F,
            A_IFG if self.is_a => self.ifg = merge(self.ifg, value, mask) & 0x000F,
            I2COA0..=I2COA3 if !self.is_a => {
                let own = &mut self.own[((off - I2COA0) / 2) as usize];
                *own = merge(*own, value, mask);
            }
            ADDMASK if !self.is_a => self.add_mask = merge(self.add_mask, value, mask) & 0x03FF,
            I2CSA if !self.is_a => self.slave = merge(self.slave, value, mask) & 0x03FF,
            B_IE if !self.is_a => self.ie = merge(self.ie, value, mask) & 0x7FFF,
            B_IFG if !self.is_a => self.ifg = merge(self.ifg, value, mask) & 0x7FFF,
            // May be set in reset alone (SLAU367P, UCBxTBCNT).
            B_TBCNT if !self.is_a && self.ctlw0 & UCSWRST != 0 => {
                self.tbcnt = merge(self.tbcnt, value, mask) & 0x00FF;
            }
            B_TBCNT | ADDRX if !self.is_a => {}
            RXBUF | A_IV | B_IV => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}

impl Serial for Eusci {
    fn is_mode_0(&self) -> bool {
        self.ctlw0 & (UCCKPH | UCCKPL) == UCCKPH
    }

    fn spi_received(&mut self, mosi: u8, miso: u8) {
        self.receive(self.wire(if self.statw & UCLISTEN != 0 { mosi } else { miso }));
    }

    fn i2c_answered(&mut self, answer: Option<u8>, now: Picos) {
        if let Some(byte) = self.with_i2c(|i2c, regs| i2c.answered(answer, regs, now)) {
            self.rxbuf = byte;
        }
    }
}

impl Block for Eusci {
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            CTLW0 => self.ctlw0,
            CTLW1 => self.ctlw1,
            BRW => self.brw,
            MCTLW if self.is_a => self.mctlw,
            STATW if self.is_a => self.status(),
            B_STATW if !self.is_a => self.status(),
            B_TBCNT if !self.is_a => self.tbcnt,
            RXBUF => {
                self.ifg &= !UCRXIFG;
                self.statw &= !UCOE;
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
            A_IE if self.is_a => self.ie,
            A_IFG if self.is_a => self.ifg,
            A_IV if self.is_a => self.vector(),
            I2COA0..=I2COA3 if !self.is_a => self.own[((off - I2COA0) / 2) as usize],
            ADDRX if !self.is_a => 0,
            ADDMASK if !self.is_a => self.add_mask,
            I2CSA if !self.is_a => self.slave,
            B_IE if !self.is_a => self.ie,
            B_IFG if !self.is_a => self.ifg,
            B_IV if !self.is_a => self.vector(),
            _ => return Err(cx.no_register()),
        })
    }

    fn requests_smclk(&self) -> bool {
        self.is_clocked() && self.ctlw0 & UCSSEL >= 0x80
    }

    fn requests_aclk(&self) -> bool {
        self.is_clocked() && self.ctlw0 & UCSSEL == 0x40
    }

    fn clocked(&mut self, clocks: &Clocks, now: Picos) {
        if !self.wants_clock() {
            return;
        }
        let Some(line) = self.line(clocks) else { return };
        if let Some((byte, _)) = self.shifting {
            self.shift(byte, *line, self.byte_ticks(), now);
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

    fn trigger(name: &str) -> Option<u8> {
        ["rx", "tx"].iter().position(|n| *n == name).map(|n| n as u8)
    }

    fn triggers(&self, number: u8) -> bool {
        if number == 0 { self.rx_trigger() } else { self.tx_trigger() }
    }
}
