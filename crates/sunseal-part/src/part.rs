// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is wired to a chip.

use sunseal_trace::Picos;

use crate::Pin;

/// How a chip holds one of its pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Driven(bool),
    /// An input with its pull-up on: high where nobody else drives the line.
    PulledUp,
    /// An input without: the line has no level of the chip's.
    Floating,
}

/// A signal inside a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its name, with the modules above it.
    pub name: String,
    /// Its width, 1 to 64.
    pub bits: u32,
    pub value: u64,
}

/// A part beside the chip: it answers bytes on a serial bus, drives and hears pins, and has a state
/// that costs energy.
pub trait Part: Send {
    /// What goes on inside it, for a waveform; from the first call on it keeps the changes.
    fn signals(&self) -> Vec<Signal> {
        Vec::new()
    }
    /// What has changed by now since it was last asked: when, which signal, and its value.
    fn changes(&self, _now: Picos) -> Vec<(Picos, usize, u64)> {
        Vec::new()
    }
    /// Chip select went low.
    fn select(&mut self, _now: Picos) {}
    /// A byte begins on the SPI whose master the chip is: its first bit stands from `begin` on, and it ends at `end`, behind
    /// eight periods of SCK, unless the chip changes its clock meanwhile. Told by USCI and eUSCI of the MSP430 alone.
    fn shifting(&mut self, _begin: Picos, _end: Picos, _mosi: u8) {}
    /// A byte went over the bus; it ends at `now`. Answers the byte that the part sent.
    fn transfer(&mut self, _now: Picos, _mosi: u8) -> u8 {
        0xFF
    }
    /// Chip select went high.
    fn deselect(&mut self, _now: Picos) {}
    /// The addresses at which it answers on an I2C bus; none for a part that is on none.
    fn addresses(&self) -> &[u8] {
        &[]
    }
    /// START, one of its addresses and the direction went over the bus; the acknowledge bit ends at `now`. Whether the
    /// part acknowledges.
    fn addressed(&mut self, _now: Picos, _address: u8, _read: bool) -> bool {
        true
    }
    /// The master sent it a byte; whether it acknowledges.
    fn written(&mut self, _now: Picos, _byte: u8) -> bool {
        true
    }
    /// The byte that it sent to the master.
    fn given(&mut self, _now: Picos) -> u8 {
        0xFF
    }
    /// STOP, or START for another part.
    fn stopped(&mut self, _now: Picos) {}
    /// What it has found wrong since it was last asked, which ends the run.
    fn problem(&mut self) -> Option<String> {
        None
    }
    /// When the part wants to be called next.
    fn next_event(&self) -> Option<Picos> {
        None
    }
    /// The time that [`next_event`](Self::next_event) named has come.
    fn event(&mut self, _now: Picos) {}
    /// The pins it drives, with their levels.
    fn pins(&self) -> &[(Pin, bool)] {
        &[]
    }
    /// The chip's output pins that it wants to hear of.
    fn listens(&self) -> &[Pin] {
        &[]
    }
    /// Such a pin changed.
    fn pin(&mut self, _now: Picos, _pin: Pin, _level: bool) {}
    /// Whether the chip drives such a pin, pulls it up or lets it float has changed. Told by the ATmega128 alone, behind
    /// [`pin`](Self::pin).
    fn held(&mut self, _now: Picos, _pin: Pin, _held: Held) {}
    /// A byte that the chip's UART sent, from the beginning of its start bit to the end of its stop bit. Told by the
    /// ATmega128 alone.
    fn uart(&mut self, _start: Picos, _end: Picos, _byte: u8) {}
    /// For a part that clocks the chip's serial slave, or sends to its UART: the byte it has shifted into the chip. Asked
    /// behind each [`event`](Self::event).
    fn shifted_in(&mut self) -> Option<u8> {
        None
    }
    /// The byte that the chip's shift register gave for it.
    fn shifted_out(&mut self, _now: Picos, _byte: u8) {}
    /// Its state, for the ledger.
    fn state(&self) -> &str;
    /// The supply went away or came back.
    fn power(&mut self, _now: Picos, _on: bool) {}
    /// Everything a snapshot must keep.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
    /// Goes back to what [`save`](Self::save) gave.
    fn restore(&mut self, _saved: &[u8]) {}
    /// Asked just behind a start: bytes that are the same wherever the part goes on the same from there, whatever it did
    /// before and whenever that was.
    fn remains(&self) -> Vec<u8> {
        self.save()
    }
}

/// Which of the chip's connections a part is wired to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wiring<'a> {
    /// A serial interface by its name: "usci_b0".
    pub serial: Option<&'a str>,
    /// The pin that selects the part while it is driven low; a part without one is always selected.
    pub cs: Option<Pin>,
}
