// SPDX-License-Identifier: MIT OR Apache-2.0
//! What leaves and enters the chip when a serial interface is done, whichever of USART, USCI and eUSCI it is.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::{Cycles, Picos};

use super::Ctx;
use crate::LintKind;
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

/// A frame that somebody outside sends at a rate of his own, 8N1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Frame {
    start: u128,
    bit: u128,
    byte: u8,
}

impl Frame {
    fn end(&self) -> u128 {
        self.start + 10 * self.bit
    }

    /// The line's level in the frame: low in the start bit, high in the stop bit.
    fn level(&self, t: u128) -> bool {
        match (t - self.start) / self.bit {
            0 => false,
            i @ 1..9 => self.byte >> (i - 1) & 1 != 0,
            _ => true,
        }
    }
}

/// Sampling of a line by a UART: the time of a bit, and the bits between start and stop bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    pub bit_ps: u128,
    pub data: u32,
    pub parity: u32,
}

/// A byte that a UART has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Received {
    time: u128,
    pub byte: u8,
    /// The stop bit was low.
    pub misframed: bool,
}

/// Bytes that come in over a UART, the earliest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Incoming {
    bytes: Vec<Received>,
    /// Frames on the line, of which so many have been listened to.
    line: Vec<Frame>,
    heard: usize,
    /// Until the stop bit that it sampled last.
    busy_until: u128,
    pub misframed: bool,
    pub overran: bool,
}

impl Incoming {
    /// A byte whose last bit ends at `time`: sent with bits of so many picoseconds, or at the rate that the receiver has
    /// where that is 0.
    pub fn push(&mut self, time: Picos, byte: u8, bit_ps: u128) {
        if bit_ps == 0 {
            return self.arrive(time.0, byte, false);
        }
        let start = time.0.saturating_sub(10 * bit_ps);
        self.line.push(Frame { start, bit: bit_ps, byte });
        self.line[self.heard..].sort_by_key(|f| f.start);
    }

    fn arrive(&mut self, time: u128, byte: u8, misframed: bool) {
        let place = self.bytes.partition_point(|b| b.time <= time);
        self.bytes.insert(place, Received { time, byte, misframed });
    }

    /// Time at which the next byte is there, or the next frame begins.
    pub fn due(&self) -> Option<u128> {
        let frame = self.line.get(self.heard).map(|f| f.start);
        self.bytes.first().map(|b| b.time).into_iter().chain(frame).min()
    }

    /// Samples the frames that have begun; `None`: as they were sent.
    pub fn listen(&mut self, now: Picos, sampling: Option<Sampling>) {
        while let Some(frame) = self.line.get(self.heard).copied().filter(|f| f.start <= now.0) {
            self.heard += 1;
            match sampling {
                Some(sampling) => self.sample(frame, sampling),
                None => self.arrive(frame.end(), frame.byte, false),
            }
            let over = self.line[..self.heard].iter().take_while(|f| f.end() < frame.start).count();
            self.line.drain(..over);
            self.heard -= over;
        }
    }

    /// Receives a frame from its falling edges, as a UART does: it samples each bit in its middle and looks for the
    /// next edge from the middle of its stop bit on.
    fn sample(&mut self, frame: Frame, sampling: Sampling) {
        for k in 0..10 {
            let edge = frame.start + k * frame.bit;
            if edge < self.busy_until || self.level(edge) || !self.level(edge.saturating_sub(1)) {
                continue;
            }
            let middle = |i: u32| edge + u128::from(2 * i + 1) * sampling.bit_ps / 2;
            if self.level(middle(0)) {
                continue;
            }
            let bits = 0..sampling.data;
            let byte = bits.fold(0, |b, i| b | u8::from(self.level(middle(1 + i))) << i);
            let stop = middle(1 + sampling.data + sampling.parity);
            let misframed = !self.level(stop);
            self.busy_until = stop;
            let as_sent = k == 0 && byte == frame.byte && !misframed;
            self.arrive(if as_sent { frame.end() } else { stop }, byte, misframed);
        }
    }

    fn level(&self, t: u128) -> bool {
        self.line.iter().rfind(|f| f.start <= t).is_none_or(|f| t >= f.end() || f.level(t))
    }

    /// The next byte that is there by `now`.
    pub fn take(&mut self, now: Picos) -> Option<Received> {
        self.bytes.first().filter(|b| b.time <= now.0)?;
        let taken = self.bytes.remove(0);
        self.misframed |= taken.misframed;
        Some(taken)
    }

    /// Faults of the line since the last call that a person at the bench would want to know of.
    pub fn slips(&mut self) -> impl Iterator<Item = LintKind> {
        let misframed = std::mem::take(&mut self.misframed).then_some(LintKind::UartFraming);
        let overran = std::mem::take(&mut self.overran).then_some(LintKind::UartOverrun);
        misframed.into_iter().chain(overran)
    }
}

/// Bytes that a terminal of another rate makes of those that left a UART, 8N1: each with whether its stop bit was low.
#[must_use]
pub fn heard(sent: &[UartByte], bit_ps: u128) -> Vec<(u8, bool)> {
    let mut terminal = Incoming::default();
    for byte in sent {
        terminal.push(Picos(byte.time_ps), byte.byte, byte.bit_ps);
    }
    terminal.listen(Picos::MAX, Some(Sampling { bit_ps, data: 8, parity: 0 }));
    std::iter::from_fn(|| terminal.take(Picos::MAX)).map(|b| (b.byte, b.misframed)).collect()
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
    /// A byte arrives over the UART, its last bit ending at `time`; [`Incoming::push`].
    fn uart_in(&mut self, time: Picos, byte: u8, bit_ps: u128);
    /// Samples what is on the UART's line by now.
    fn listen(&mut self, cx: &Ctx<'_>);
    /// Bytes that came in over the UART.
    fn incoming(&mut self) -> &mut Incoming;
    /// Duration of a bit of the UART's last byte.
    fn bit_ps(&self) -> u128;
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
    /// Tells what came in over a UART and was lost or no frame.
    pub fn uart_slips(&mut self, incoming: &mut Incoming, base: u32, cycles: Cycles) {
        for slip in incoming.slips() {
            self.state.lints.report(slip, base, cycles);
        }
    }

    /// Carries out what an interface did: a byte of the UART is kept, one of SPI exchanged, a step on the I2C bus
    /// answered. Returns what parts drive by it.
    pub fn carry_out(
        &mut self,
        serial: &mut impl Serial,
        which: Which,
        done: Done,
        (t, cycles): (Picos, Cycles),
    ) -> Vec<Drive> {
        let bit_ps = serial.bit_ps();
        if done != Done::I2c(OnBus::Stop) {
            self.accounts.count(which.byte);
        }
        match done {
            Done::Uart(byte) => {
                let usci = which.name.to_owned();
                self.state.uart_log.push(UartByte { time_ps: t.0, usci, byte, bit_ps });
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

#[cfg(test)]
mod tests {
    use super::*;

    const BIT_PS: u128 = 1_000_000_000_000 / 9600;

    /// A text at 9600 baud, as a receiver of so many percent of that rate has it.
    fn at(percent: u128, text: &[u8]) -> Vec<(u8, bool)> {
        let sent: Vec<UartByte> = (2..)
            .zip(text)
            .map(|(i, &byte)| {
                let time_ps = i * 10 * BIT_PS;
                UartByte { time_ps, usci: String::new(), byte, bit_ps: BIT_PS }
            })
            .collect();
        heard(&sent, BIT_PS * 100 / percent)
    }

    #[test]
    fn a_receiver_reads_what_was_sent_as_long_as_it_samples_the_last_bit_within_its_edges() {
        let text = [0x00, 0x55, 0xFF, 0x80, 0x7F, b'A'];
        for percent in [96, 98, 100, 102, 104] {
            assert_eq!(at(percent, &text), text.map(|b| (b, false)), "{percent} %");
        }
        for percent in [25, 90, 110, 600, 1200] {
            assert_ne!(at(percent, &text), text.map(|b| (b, false)), "{percent} %");
        }
    }

    #[test]
    fn a_receiver_that_is_much_too_fast_takes_a_start_bit_for_a_break() {
        // At twelve times the rate ten bits are over within the start bit.
        assert_eq!(at(1200, &[0xFF]), [(0x00, true)]);
        // At six times the stop bit falls into bit 1 of the byte: ones, one sixth of a bit after another.
        let (byte, misframed) = at(600, &[0xFF])[0];
        assert_eq!((byte, misframed), (0xE0, false));
    }

    #[test]
    fn a_receiver_that_is_much_too_slow_misses_bytes() {
        assert!(at(25, &[b'A'; 16]).len() < 8);
    }
}
