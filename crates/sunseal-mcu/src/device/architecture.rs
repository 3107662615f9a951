// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruction sets by name.

/// An instruction set, as the ELF header names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// MSP430 with 16-bit addresses, and MSP430X with 20.
    #[default]
    Msp430,
    /// AVR. Flash is at 0, the data space at 0x800000, EEPROM at 0x810000.
    Avr,
    /// ARM; the devices here run Thumb code.
    Arm,
}

impl Architecture {
    /// That of a number in an ELF header.
    pub(crate) const fn of_machine(machine: u16) -> Option<Self> {
        match machine {
            105 => Some(Self::Msp430),
            83 => Some(Self::Avr),
            40 => Some(Self::Arm),
            _ => None,
        }
    }

    /// Its name in the plural of sentences.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Msp430 => "MSP430",
            Self::Avr => "AVR",
            Self::Arm => "ARM",
        }
    }
}
