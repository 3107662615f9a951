// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cycle table a device follows, and the forms whose count is disputed.

/// The three timings that MSP430 cores have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// MSP430 CPU of the 1xx devices (SLAU049).
    Cpu,
    /// First MSP430X CPU, of the 2xx and 4xx devices (SLAU144, SLAU056).
    CpuX,
    /// MSP430X CPU version 2, of the 5xx, 6xx and FR devices (SLAU208, SLAU367, SLAU445).
    CpuXV2,
}

/// A timing that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimingError {
    /// The family has no tables here.
    #[error("CPU timing family {0:?} has no cycle tables in this version; CpuXV2 has")]
    NotImplemented(Family),
}

/// The timing of a device: its family, and a named switch for each form about which sources differ.
/// The defaults follow TI's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The cycle tables.
    pub family: Family,
    /// Whether a word access at an odd address is a fault. Hardware clears the lowest address bit
    /// and goes on.
    pub trap_misaligned: bool,
}

impl Timing {
    /// The tables of a family, disputed forms as printed.
    #[must_use]
    pub const fn new(family: Family) -> Self {
        Self { family, trap_misaligned: true }
    }

    /// CPUXV2 as in the MSP430F5438A.
    pub const CPUXV2: Self = Self::new(Family::CpuXV2);

    pub(crate) fn check(&self) -> Result<(), TimingError> {
        match self.family {
            Family::CpuXV2 => Ok(()),
            family => Err(TimingError::NotImplemented(family)),
        }
    }
}
