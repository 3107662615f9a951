// SPDX-License-Identifier: MIT OR Apache-2.0
//! What leaves and enters the chip when a serial interface is done, whichever of USART, USCI and eUSCI it is.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::{Cycles, Picos};

use super::Ctx;
use crate::accounts::Event;
use crate::common::{Common, Drive, Exchange, OnBus, Shifting, UartByte};

/// What an interface did when its time came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// A byte left over SPI, as the line carries it.
    Spi(u8),
    /// A byte left over the UART.
    Uart(u8),
    /// A step on the I2C bus.
    I2c(OnBus),
}

/// Bytes that come in over a UART, each with the time its last bit ends, the earliest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Incoming(Vec<(u128, u8)>);

impl Incoming {
    pub fn push(&mut self, time: Picos, byte: u8) {
        self.0.push((time.0, byte));
        self.0.sort_by_key(|e| e.0);
    }

    /// When the next byte is there.
    pub fn due(&self) -> Option<u128> {
        self.0.first().map(|e| e.0)
    }

    /// The next byte that is there by `now`.
    pub fn take(&mut self, now: Picos) -> Option<u8> {
        self.due().filter(|t| *t <= now.0)?;
        Some(self.0.remove(0).1)
    }
}

/// A serial interface as those see it that it speaks to.
pub(crate) trait Serial {
    /// When a byte is out, or in, or the I2C master is done with a step.
    fn next_event(&self) -> Option<Picos>;
    /// What is due by `now` happens; answers what has left.
    fn event(&mut self, now: Picos) -> Option<Done>;
    /// Begins what waits: the byte in TXBUF, or what the I2C master does next.
    fn go_on(&mut self, cx: &Ctx<'_>) -> Result<(), Fault>;
    /// The byte of SPI that has begun since this was last asked.
    fn begun(&mut self) -> Option<Shifting> {
        None
    }
    /// A byte arrives over the UART, its last bit ending at `time`.
    fn uart_in(&mut self, time: Picos, byte: u8);
    /// Whether the clock rests low and data stand at its rising edge (SPI mode 0), as the parts here want it.
    fn is_mode_0(&self) -> bool;
    /// What the other side sent during an SPI byte.
    fn spi_received(&mut self, mosi: u8, miso: u8);
    /// What became of a step on the I2C bus; `None` where nobody acknowledged. An interface without I2C takes none.
    fn i2c_answered(&mut self, _answer: Option<u8>, _now: Picos) {}
}

/// Which interface of a chip it is.
#[derive(Clone, Copy)]
pub(crate) struct Which {
    /// Its place among the chip's.
    pub index: usize,
    pub name: &'static str,
    /// What a byte of it is called in the ledger.
    pub byte: Event,
    /// Where lints about it point.
    pub base: u32,
}

impl Common {
    /// Carries out what an interface did: a byte of the UART is kept, one of SPI exchanged, a step on the I2C bus
    /// answered. Returns what parts drive by it.
    pub fn carry_out(
        &mut self,
        serial: &mut impl Serial,
        which: Which,
        done: Done,
        (t, cycles): (Picos, Cycles),
    ) -> Vec<Drive> {
        if done != Done::I2c(OnBus::Stop) {
            self.accounts.count(which.byte);
        }
        match done {
            Done::Uart(byte) => {
                let usci = which.name.to_owned();
                self.state.uart_log.push(UartByte { time_ps: t.0, usci, byte });
                Vec::new()
            }
            Done::Spi(mosi) => {
                let is_mode_0 = serial.is_mode_0();
                let spi = Exchange { serial: which.index, mosi, is_mode_0, addr: which.base };
                let (miso, drives) = self.exchange(&spi, t, cycles);
                serial.spi_received(mosi, miso);
                drives
            }
            Done::I2c(step) => {
                let (answer, drives) = self.i2c(which.index, step, t, cycles);
                serial.i2c_answered(answer, t);
                drives
            }
        }
    }
}
