// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the documents leave open, as switches. docs/accuracy.md lists them with the experiment that would
//! settle each.

/// Where cores may differ, or the manual is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Whether one instruction runs before an interrupt also where a write to SREG (OUT, ST) sets I. The
    /// manual promises it for SEI (DS40002198 6.104) and RETI; avr-gcc's prologues rely on it for OUT.
    pub write_delays_interrupts: bool,
    /// Whether a load or store that also steps its own operand (`LD R26, X+`) is a fault: the manual leaves
    /// the result undefined. Where it runs, the load wins over the step and the store stores the old value.
    pub trap_undefined: bool,
}

switches!(Timing { write_delays_interrupts, trap_undefined });

impl Timing {
    /// AVRe with multiplier: ATmega128 and its kin.
    pub const AVRE: Self = Self { write_delays_interrupts: true, trap_undefined: true };
}

impl Default for Timing {
    fn default() -> Self {
        Self::AVRE
    }
}
