// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins, what is wired to them, and their record.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sunseal_trace::{Cycles, Picos};

/// Number under which port J is known.
pub const PORT_J: u8 = 12;

/// A pin of a digital port, such as P1.0 or PJ.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pin {
    /// 1 to 11, or [`PORT_J`].
    pub port: u8,
    /// 0 to 7.
    pub bit: u8,
}

impl Pin {
    /// Pin `bit` of port `port`.
    ///
    /// # Panics
    /// If there is no such pin.
    #[must_use]
    pub const fn new(port: u8, bit: u8) -> Self {
        assert!(
            port >= 1 && port <= PORT_J && bit < 8,
            "ports are 1 to 11 and 12 for PJ, bits 0 to 7"
        );
        Self { port, bit }
    }

    pub(crate) const fn mask(self) -> u8 {
        1 << self.bit
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            PORT_J => write!(f, "PJ.{}", self.bit),
            port => write!(f, "P{port}.{}", self.bit),
        }
    }
}

/// A text that names no pin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no pin; write P1.0 to P11.7 or PJ.0 to PJ.3")]
pub struct PinError(String);

impl FromStr for Pin {
    type Err = PinError;
    fn from_str(s: &str) -> Result<Self, PinError> {
        let parse = || {
            let (port, bit) = s.strip_prefix('P')?.split_once('.')?;
            let port = if port == "J" {
                PORT_J
            } else {
                port.parse().ok().filter(|p| (1..PORT_J).contains(p))?
            };
            let bit = bit.parse().ok().filter(|b| *b < 8)?;
            Some(Self { port, bit })
        };
        parse().ok_or_else(|| PinError(s.to_owned()))
    }
}

/// An output pin that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinEdge {
    /// Machine time in picoseconds.
    pub time_ps: u64,
    /// CPU cycles.
    pub cycles: Cycles,
    /// Which pin.
    pub pin: Pin,
    /// Its new level.
    pub level: bool,
}

impl PinEdge {
    /// When it was.
    #[must_use]
    pub fn time(&self) -> Picos {
        Picos(self.time_ps)
    }
}

/// A device on an SPI bus: it answers bytes, drives pins, and has a state that costs energy.
pub trait SpiDevice: Send {
    /// Chip select went low.
    fn select(&mut self, now: Picos);
    /// A byte went over the bus; it ends at `now`. Answers the byte that the device sent.
    fn transfer(&mut self, now: Picos, mosi: u8) -> u8;
    /// Chip select went high.
    fn deselect(&mut self, now: Picos);
    /// When the device wants to be called next.
    fn next_event(&self) -> Option<Picos>;
    /// The time that [`next_event`](Self::next_event) named has come.
    fn event(&mut self, now: Picos);
    /// The pins it drives, with their levels.
    fn pins(&self) -> &[(Pin, bool)];
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_read_and_written_as_in_the_data_sheet() {
        for text in ["P1.0", "P11.2", "PJ.3"] {
            assert_eq!(text.parse::<Pin>().unwrap().to_string(), text);
        }
        for text in ["P0.1", "P12.0", "P1.8", "1.0", "P1", "PJ.x"] {
            assert!(text.parse::<Pin>().is_err(), "{text}");
        }
    }
}
