// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chip families: which blocks a chip has and how they hang together, its clock system, its power
//! management and its low-power modes.

pub(crate) mod atmega128;
mod checks;
pub(crate) mod f1xx;
pub(crate) mod f5xx;
pub(crate) mod fr5xx;
pub(crate) mod msp430;
pub(crate) mod msp432p4;
mod reading;
pub(crate) mod stm32l4;

use crate::blocks::Made;
use crate::blocks::follow::Follow;
use crate::device::{Device, Facts};

pub(crate) use atmega128::Avr;
pub(crate) use f1xx::F1xx;
pub(crate) use f5xx::F5xx;
pub(crate) use fr5xx::Fr5xx;
pub(crate) use msp432p4::Msp432;
pub(crate) use stm32l4::Stm32l4;

/// What a device file of a family may list, and what it must.
#[derive(Default)]
pub(crate) struct Makes {
    /// The blocks that it can make, by name and kind.
    pub blocks: Vec<(&'static str, &'static str)>,
    /// Those that no chip of it is without.
    pub needed: Vec<&'static str>,
    /// Interrupts of blocks, of the core, and of what is not modelled.
    pub interrupts: Vec<&'static str>,
    /// Interrupts of the core, which no chip is without.
    pub needed_interrupts: Vec<&'static str>,
    /// Lines of the clock system.
    pub clocks: &'static [&'static str],
    /// States of the CPU beside running.
    pub states: &'static [&'static str],
}

impl Makes {
    fn of((blocks, interrupts): Made) -> Self {
        Self { blocks, interrupts, ..Self::default() }
    }

    fn needs(self, names: &[&'static str]) -> Self {
        Self { needed: names.to_vec(), ..self }
    }

    fn core(mut self, interrupts: &[&'static str]) -> Self {
        self.interrupts.extend(interrupts);
        Self { needed_interrupts: interrupts.to_vec(), ..self }
    }

    fn unmodelled(mut self, interrupts: &[&'static str]) -> Self {
        self.interrupts.extend(interrupts);
        self
    }

    fn clocks(self, clocks: &'static [&'static str]) -> Self {
        Self { clocks, ..self }
    }

    fn states(self, states: &'static [&'static str]) -> Self {
        Self { states, ..self }
    }
}

/// What device files of the family of `facts` may list.
pub(crate) fn makes(facts: &Facts) -> Makes {
    match facts {
        Facts::Atmega128(_) => atmega128::makes(),
        Facts::F1xx(_) => f1xx::makes(),
        Facts::F5xx(_) => f5xx::makes(),
        Facts::Fr5xx(_) => fr5xx::makes(),
        Facts::Msp432(_) => msp432p4::makes(),
        Facts::Stm32l4(_) => stm32l4::makes(),
    }
}

/// The kinds of blocks that any family makes.
pub(crate) fn kinds() -> Vec<&'static str> {
    let all = [
        atmega128::makes(),
        f1xx::makes(),
        f5xx::makes(),
        fr5xx::makes(),
        msp432p4::makes(),
        stm32l4::makes(),
    ];
    all.iter().flat_map(|m| &m.blocks).map(|b| b.1).collect()
}

/// How secrets go through a block of `device`.
pub(crate) fn follow(device: &Device, block: &str) -> Follow {
    let known = match &device.facts {
        Facts::Atmega128(_) => atmega128::known(),
        Facts::F1xx(_) => f1xx::known(),
        Facts::F5xx(_) => f5xx::Blocks::known(),
        Facts::Fr5xx(_) => fr5xx::Blocks::known(),
        Facts::Msp432(_) => msp432p4::known(),
        Facts::Stm32l4(_) => stm32l4::known(),
    };
    known.into_iter().find(|(name, _)| *name == block).map_or(Follow::Hole, |(_, rule)| rule)
}
