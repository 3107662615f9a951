// SPDX-License-Identifier: MIT OR Apache-2.0
//! USART0 and USART1, asynchronous. Whole bytes take their time; single bits do not show on pins.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::atmega128::usart::*;
use sunseal_trace::Picos;

use super::Cx;
use crate::blocks::serial::{Incoming, Sampling};
use crate::clock::Line;

const UPM: u8 = 0x30;

/// Registers, in an order of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reg {
    Udr,
    A,
    B,
    C,
    UbrrL,
    UbrrH,
}

/// Its interrupts, in the order of their vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Receive,
    Empty,
    Transmit,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usart {
    txc: bool,
    overrun: bool,
    u2x: bool,
    b: u8,
    c: u8,
    ubrr: u16,
    /// A byte that waits, and one that goes out with its end.
    waiting: Option<u8>,
    sending: Option<(u8, u128)>,
    /// Bytes received, with their framing errors: two, and a third in the shift register.
    received: VecDeque<(u8, bool)>,
    pub incoming: Incoming,
}

impl Usart {
    pub fn new() -> Self {
        Self { c: 0x06, ..Self::default() }
    }

    pub fn reset(&mut self) {
        let incoming = std::mem::take(&mut self.incoming);
        *self = Self { incoming, ..Self::new() };
    }

    /// clk_I/O ticks of a bit.
    fn bit_ticks(&self) -> u64 {
        (u64::from(self.ubrr) + 1) * if self.u2x { 8 } else { 16 }
    }

    /// Bits of data and of parity.
    fn format(&self) -> (u32, u32) {
        (5 + u32::from(self.c >> 1 & 3), u32::from(self.c & UPM != 0))
    }

    /// clk_I/O ticks of a frame.
    pub fn frame_ticks(&self) -> u64 {
        let (data, parity) = self.format();
        let stop = 1 + u64::from(self.c & USBS != 0);
        (u64::from(1 + data + parity) + stop) * self.bit_ticks()
    }

    /// Duration of a bit at the rate that is set.
    pub fn bit_ps(&self, io: &Line) -> u128 {
        io.lasting(self.bit_ticks()).unwrap_or(0)
    }

    fn data_mask(&self) -> u8 {
        0xFF >> (3 - (self.c >> 1 & 3))
    }

    fn send(&mut self, byte: u8, tick: u64, io: &Line) {
        self.sending = Some((byte, io.time_of(tick + self.frame_ticks()).0));
    }

    pub fn uart_in(&mut self, time: Picos, byte: u8, bit_ps: u128) {
        self.incoming.push(time, byte, bit_ps);
    }

    pub fn next_event(&self) -> Option<Picos> {
        let tx = self.sending.map(|s| s.1).filter(|&t| t != u128::MAX);
        tx.into_iter().chain(self.incoming.due()).min().map(Picos)
    }

    /// What is due at `t`; answers a byte that has left. `clocked`: clk_I/O runs.
    pub fn event(&mut self, t: Picos, io: &Line, clocked: bool) -> Option<u8> {
        let (data, parity) = self.format();
        let on = self.b & RXEN != 0 && clocked;
        let sampling = on.then(|| Sampling { bit_ps: self.bit_ps(io), data, parity });
        self.incoming.listen(t, sampling);
        while let Some(received) = self.incoming.take(t) {
            if !on {
                continue;
            }
            if self.received.len() == 3 {
                (self.overrun, self.incoming.overran) = (true, true);
            } else {
                self.received.push_back((received.byte & self.data_mask(), received.misframed));
            }
        }
        let (byte, end) = self.sending.take_if(|s| s.1 <= t.0)?;
        match self.waiting.take() {
            Some(next) => self.send(next, io.ticks_at(Picos(end)), io),
            None => self.txc = true,
        }
        Some(byte)
    }

    pub fn pending(&self) -> Option<Source> {
        if self.b & RXCIE != 0 && !self.received.is_empty() {
            Some(Source::Receive)
        } else if self.b & UDRIE != 0 && self.b & TXEN != 0 && self.waiting.is_none() {
            Some(Source::Empty)
        } else if self.b & TXCIE != 0 && self.txc {
            Some(Source::Transmit)
        } else {
            None
        }
    }

    pub fn may_interrupt(&self) -> bool {
        self.pending().is_some()
            || self.b & (TXCIE | UDRIE) != 0 && self.sending.is_some()
            || self.b & RXCIE != 0 && self.b & RXEN != 0 && self.incoming.due().is_some()
    }

    pub fn acknowledge(&mut self, source: Source) {
        if source == Source::Transmit {
            self.txc = false;
        }
    }

    pub fn read(&mut self, reg: Reg) -> u8 {
        let flag = |on: bool, flag: u8| if on { flag } else { 0 };
        match reg {
            Reg::Udr => {
                self.overrun = false;
                self.received.pop_front().map_or(0, |(byte, _)| byte)
            }
            Reg::A => {
                flag(!self.received.is_empty(), RXC)
                    | flag(self.txc, TXC)
                    | flag(self.waiting.is_none(), UDRE)
                    | flag(self.received.front().is_some_and(|(_, misframed)| *misframed), FE)
                    | flag(self.overrun, DOR)
                    | flag(self.u2x, U2X)
            }
            Reg::B => self.b,
            Reg::C => self.c,
            Reg::UbrrL => self.ubrr as u8,
            Reg::UbrrH => (self.ubrr >> 8) as u8,
        }
    }

    pub fn write(&mut self, reg: Reg, value: u8, cx: &Cx<'_>) -> Result<(), Fault> {
        match reg {
            Reg::Udr => {
                if self.b & TXEN == 0 {
                    return Ok(());
                }
                let value = value & self.data_mask();
                if self.sending.is_none() {
                    self.send(value, cx.io + 1, &cx.clocks.io);
                } else if self.waiting.is_none() {
                    self.waiting = Some(value);
                }
                // With the buffer full, the write is lost (datasheet, UDRn).
            }
            Reg::A => {
                if value & MPCM != 0 {
                    return Err(cx.refuse("multi-processor mode (MPCMn) is not modelled"));
                }
                if value & TXC != 0 {
                    self.txc = false;
                }
                self.u2x = value & U2X != 0;
            }
            Reg::B => {
                if value & UCSZ2 != 0 {
                    return Err(cx.refuse("frames of nine bits (UCSZn2) are not modelled"));
                }
                self.b = value & 0xFC;
                if value & RXEN == 0 {
                    self.received.clear();
                }
            }
            Reg::C => {
                if value & UMSEL != 0 {
                    return Err(cx.refuse("synchronous mode (UMSELn) is not modelled"));
                }
                self.c = value & 0x7F;
            }
            Reg::UbrrL => self.ubrr = self.ubrr & 0x0F00 | u16::from(value),
            Reg::UbrrH => self.ubrr = self.ubrr & 0x00FF | u16::from(value & 0x0F) << 8,
        }
        Ok(())
    }
}
