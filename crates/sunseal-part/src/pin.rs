// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins by the names of data sheets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Number under which port J is known.
pub const PORT_J: u8 = 12;

/// A pin of a digital port, such as P1.0 or PJ.3; PB0 on an AVR, PC13 on an STM32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pin {
    /// 1 to 11, or [`PORT_J`]; the ASCII letter of an AVR's or an STM32's port.
    pub port: u8,
    /// 0 to 7; to 15 where ports are letters.
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
            port >= 1 && port <= PORT_J && bit < 8 || port.is_ascii_uppercase() && bit < 16,
            "ports are 1 to 11, 12 for PJ, with bits 0 to 7, and letters with bits 0 to 15"
        );
        Self { port, bit }
    }

    /// Its bit in the registers of its port of eight pins.
    #[must_use]
    pub const fn mask(self) -> u8 {
        1 << self.bit
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            PORT_J => write!(f, "PJ.{}", self.bit),
            port if port.is_ascii_uppercase() => write!(f, "P{}{}", char::from(port), self.bit),
            port => write!(f, "P{port}.{}", self.bit),
        }
    }
}

/// A text that names no pin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no pin; write P1.0 to P11.7 or PJ.0 to PJ.3, on an AVR PA0 to PG7, on an STM32 PA0 to PH15"
)]
pub struct PinError(String);

impl FromStr for Pin {
    type Err = PinError;
    fn from_str(s: &str) -> Result<Self, PinError> {
        let parse = || {
            let rest = s.strip_prefix('P')?;
            let (port, bit, bits) = match rest.split_once('.') {
                Some(("J", bit)) => (PORT_J, bit, 8),
                Some((port, bit)) => {
                    (port.parse().ok().filter(|p| (1..PORT_J).contains(p))?, bit, 8)
                }
                None => {
                    let letter = rest.bytes().next().filter(|l| (b'A'..=b'H').contains(l))?;
                    (letter, &rest[1..], 16)
                }
            };
            let bit = bit.parse().ok().filter(|b| *b < bits)?;
            Some(Self { port, bit })
        };
        parse().ok_or_else(|| PinError(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_read_and_written_as_in_the_data_sheet() {
        for text in ["P1.0", "P11.2", "PJ.3", "PB0", "PG4", "PC13", "PH15"] {
            assert_eq!(text.parse::<Pin>().unwrap().to_string(), text);
        }
        for text in ["P0.1", "P12.0", "P1.8", "1.0", "P1", "PJ.x", "PI0", "PB16", "PB"] {
            assert!(text.parse::<Pin>().is_err(), "{text}");
        }
    }
}
