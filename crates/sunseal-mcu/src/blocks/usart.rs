// SPDX-License-Identifier: MIT OR Apache-2.0
//! USART0 and USART1 (SLAU049, chapters 13 and 14): UART, SPI master and slave. Whole bytes take their
//! time; single bits do not show.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430x1xx::usart::*;
use sunseal_trace::Picos;

use super::serial::{Done, Incoming, Received, Sampling, Serial};
use super::{Block, Ctx, Reset};
use crate::blocks::follow::Follow;
use crate::clock::{Clocks, Line};

const SSEL: u8 = 0x30;

/// Error bits and RXWAKE, which reading UxRXBUF clears.
const RCTL_ERRORS: u8 = 0xF3;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usart {
    has_i2c: bool,
    ctl: u8,
    tctl: u8,
    rctl: u8,
    mctl: u8,
    br: u16,
    rxbuf: u8,
    txbuf: u8,
    /// A byte in TXBUF waits for the shift register.
    waiting: bool,
    shifting: Option<(u8, u128)>,
    /// Duration of the last byte.
    frame_ps: u128,
    /// The slave's shift register, and whether a byte of TXBUF stands in it.
    slave: u8,
    loaded: bool,
    incoming: Incoming,
    pub rx_ifg: bool,
    pub tx_ifg: bool,
    pub rx_ie: bool,
    pub tx_ie: bool,
    pub rx_on: bool,
    pub tx_on: bool,
}

impl Usart {
    pub fn new(has_i2c: bool) -> Self {
        Self { has_i2c, ctl: SWRST, tctl: TXEPT, slave: 0xFF, tx_ifg: true, ..Self::default() }
    }

    /// A PUC. Bytes on their way from outside arrive all the same.
    pub fn reset(&mut self) {
        let incoming = std::mem::take(&mut self.incoming);
        *self = Self { incoming, ..Self::new(self.has_i2c) };
    }

    fn is_spi(&self) -> bool {
        self.ctl & SYNC != 0
    }

    fn is_master(&self) -> bool {
        self.ctl & MM != 0
    }

    fn held(&self) -> bool {
        self.ctl & SWRST != 0
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> Option<&'a Line> {
        match self.tctl & SSEL {
            0x00 => None,
            0x10 => Some(&clocks.aclk),
            _ => Some(&clocks.smclk),
        }
    }

    /// Bits of data of a frame, those of address and parity behind them, stop bits.
    fn format(&self) -> [u32; 3] {
        let bit = |mask| u32::from(self.ctl & mask != 0);
        [7 + bit(CHAR), bit(MM) + bit(PENA), 1 + bit(SPB)]
    }

    fn bits(&self) -> u32 {
        1 + self.format().iter().sum::<u32>()
    }

    /// Ticks of BRCLK that one byte takes, modulation bit by bit: m0 belongs to the start bit.
    fn byte_ticks(&self) -> u64 {
        let br = u64::from(self.br);
        if self.is_spi() {
            return u64::from(self.format()[0]) * br;
        }
        (0..self.bits()).map(|i| br + u64::from(self.mctl >> (i & 7) & 1)).sum()
    }

    fn start(&mut self, byte: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
        let Some(line) = self.line(cx.clocks) else {
            return Err(cx.refuse("USART clocked from its UCLK pin is not modelled here; select ACLK or SMCLK (SSELx)"));
        };
        let least = if self.is_spi() { 2 } else { 3 };
        if self.br < least {
            return Err(cx.refuse(format!(
                "USART with a divider of {}; UxBR must be at least {least} here",
                self.br
            )));
        }
        let first = line.tick_not_before(cx.now);
        let end = line.time_of(first + self.byte_ticks());
        self.frame_ps = end.0.saturating_sub(line.time_of(first).0);
        let kept = if self.ctl & CHAR != 0 { byte } else { byte & 0x7F };
        self.shifting = Some((kept, end.0));
        self.tx_ifg = true;
        Ok(())
    }

    /// A master outside shifted a byte in; answers the one shifted out.
    pub fn slave_exchange(&mut self, mosi: u8) -> u8 {
        if self.held() || !self.is_spi() || self.is_master() || !self.rx_on {
            return 0xFF;
        }
        let out = std::mem::replace(&mut self.slave, mosi);
        self.loaded = false;
        self.receive(mosi);
        if std::mem::take(&mut self.waiting) {
            self.load_slave();
        }
        out
    }

    fn load_slave(&mut self) {
        self.slave = self.txbuf;
        self.loaded = true;
        self.tx_ifg = true;
    }

    /// A frame without a stop bit is dropped unless URXEIE lets it in (SLAU049, receive error conditions).
    fn uart_receive(&mut self, received: Received) {
        if received.misframed && self.rx_on {
            if self.rctl & URXEIE == 0 {
                return;
            }
            self.rctl |= FE | RXERR;
        }
        self.incoming.overran |= self.rx_on && self.rx_ifg;
        self.receive(received.byte);
    }

    fn receive(&mut self, byte: u8) {
        if !self.rx_on {
            return;
        }
        if self.rx_ifg {
            self.rctl |= OE;
        }
        self.rxbuf = byte;
        self.rx_ifg = true;
    }

    /// Whether any of its interrupts is enabled.
    pub fn enabled(&self) -> bool {
        self.rx_ie || self.tx_ie
    }

    pub fn rx_pending(&self) -> bool {
        self.rx_ie && self.rx_ifg
    }

    pub fn tx_pending(&self) -> bool {
        self.tx_ie && self.tx_ifg
    }

    fn register(&mut self, off: u32) -> u8 {
        match off {
            U0CTL => self.ctl,
            U0TCTL => {
                let empty = self.shifting.is_none() && !self.waiting;
                self.tctl & !TXEPT | if empty { TXEPT } else { 0 }
            }
            U0RCTL => self.rctl,
            U0MCTL => self.mctl,
            U0BR0 => self.br as u8,
            U0BR1 => (self.br >> 8) as u8,
            U0RXBUF => {
                self.rx_ifg = false;
                self.rctl &= !RCTL_ERRORS;
                self.rxbuf
            }
            _ => self.txbuf,
        }
    }

    fn set_register(&mut self, off: u32, value: u8, cx: &Ctx<'_>) -> Result<(), Fault> {
        match off {
            U0CTL => {
                if self.has_i2c && value & (SYNC | I2C) == SYNC | I2C {
                    return Err(cx.refuse("I2C mode of USART0 is not modelled"));
                }
                self.ctl = value;
                if self.held() {
                    self.hold();
                } else {
                    self.check(cx)?;
                }
            }
            U0TCTL => {
                self.tctl = value;
                if !self.held() {
                    self.check(cx)?;
                }
            }
            U0RCTL => {
                if value & URXWIE != 0 {
                    return Err(
                        cx.refuse("wake-up characters of the UART (URXWIE) are not modelled")
                    );
                }
                self.rctl = value;
            }
            U0MCTL => self.mctl = value,
            U0BR0 => self.br = self.br & 0xFF00 | u16::from(value),
            U0BR1 => self.br = self.br & 0x00FF | u16::from(value) << 8,
            U0TXBUF => {
                self.txbuf = value;
                self.tx_ifg = false;
                if !self.held() {
                    self.begin(cx)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// SWRST: everything under way is forgotten.
    fn hold(&mut self) {
        self.shifting = None;
        self.waiting = false;
        self.slave = 0xFF;
        self.loaded = false;
        self.rctl &= !RCTL_ERRORS;
        (self.rx_ifg, self.tx_ifg, self.rx_ie, self.tx_ie) = (false, true, false, false);
    }

    fn check(&self, cx: &Ctx<'_>) -> Result<(), Fault> {
        if self.is_spi() && self.tctl & STC == 0 {
            return Err(cx.refuse(
                "4-pin SPI (STC = 0) is not modelled; set STC and drive the select pin by software",
            ));
        }
        if !self.is_spi() && self.tctl & URXSE != 0 {
            return Err(cx.refuse("start-edge detection (URXSE) is not modelled"));
        }
        Ok(())
    }

    /// A byte stands in TXBUF: on to the shift register, if that is free and the transmitter is on.
    fn begin(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        let on = if self.is_spi() { self.rx_on } else { self.tx_on };
        if self.is_spi() && !self.is_master() {
            if on && !self.loaded {
                self.load_slave();
            } else {
                self.waiting = true;
            }
        } else if on && self.shifting.is_none() {
            self.start(self.txbuf, cx)?;
        } else {
            self.waiting = true;
        }
        Ok(())
    }

    /// The module enables changed: a byte that waited may begin.
    pub fn enabled_changed(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        let on = if self.is_spi() { self.rx_on } else { self.tx_on };
        if self.waiting && on && !self.held() && self.shifting.is_none() {
            self.waiting = false;
            self.begin(cx)?;
        }
        Ok(())
    }
}

impl Serial for Usart {
    fn next_event(&self) -> Option<Picos> {
        let shift = self.shifting.map(|(_, t)| t).filter(|&t| t != u128::MAX);
        shift.into_iter().chain(self.incoming.due()).min().map(Picos)
    }

    fn event(&mut self, now: Picos) -> Option<Done> {
        while let Some(received) = self.incoming.take(now) {
            if self.ctl & (SWRST | SYNC) == 0 {
                self.uart_receive(received);
            }
        }
        let (byte, _) = self.shifting.take_if(|(_, t)| *t <= now.0)?;
        if self.is_spi() {
            return Some(Done::Spi(byte));
        }
        if self.ctl & LISTEN != 0 {
            self.receive(byte);
        }
        Some(Done::Uart(byte))
    }

    fn go_on(&mut self, cx: &Ctx<'_>) -> Result<(), Fault> {
        if std::mem::take(&mut self.waiting) { self.start(self.txbuf, cx) } else { Ok(()) }
    }

    fn uart_in(&mut self, time: Picos, byte: u8, bit_ps: u128) {
        self.incoming.push(time, byte, bit_ps);
    }

    fn listen(&mut self, cx: &Ctx<'_>) {
        let frame = self.line(cx.clocks).and_then(|line| line.lasting(self.byte_ticks()));
        let bit_ps = frame.unwrap_or(0) / u128::from(self.bits());
        let [data, parity, _] = self.format();
        let on = self.ctl & (SWRST | SYNC) == 0 && self.rx_on && bit_ps != 0;
        self.incoming.listen(cx.now, on.then_some(Sampling { bit_ps, data, parity }));
    }

    fn incoming(&mut self) -> &mut Incoming {
        &mut self.incoming
    }

    fn bit_ps(&self) -> u128 {
        self.frame_ps / u128::from(self.bits())
    }

    fn is_mode_0(&self) -> bool {
        self.tctl & (CKPH | CKPL) == CKPH
    }

    fn spi_received(&mut self, mosi: u8, miso: u8) {
        self.receive(if self.ctl & LISTEN != 0 { mosi } else { miso });
    }
}

impl Block for Usart {
    /// The receiver's and the transmitter's.
    const LINES: usize = 2;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        // Reading the received byte clears its flag.
        cx.fx.touched = true;
        Ok(u16::from(self.register(off)))
    }

    fn write(&mut self, off: u32, value: u16, _: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        cx.fx.clocks = true;
        self.set_register(off, value as u8, cx)
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event()
    }

    fn requests_smclk(&self) -> bool {
        self.shifting.is_some() && self.tctl & SSEL >= 0x20
    }

    fn asks(&self, line: usize) -> bool {
        if line == 0 { self.rx_pending() } else { self.tx_pending() }
    }

    fn taken(&mut self, line: usize) {
        if line == 0 {
            self.rx_ifg = false;
        } else {
            self.tx_ifg = false;
        }
    }

    fn may_ask(&self, _: &Clocks, _: Picos, pins: bool) -> bool {
        (self.enabled() || pins) && self.next_event().is_some()
    }
}
