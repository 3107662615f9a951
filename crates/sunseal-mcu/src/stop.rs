// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of a run, asked for and met, and registers as whoever looks on sees them.

use std::borrow::Cow;

use sunseal_isa::Fault;
use sunseal_trace::{Cycles, Picos};

use crate::pin::{Pin, PinEdge};

/// Until when to run. Everything that is set ends the run; with nothing set, a halt or a fault does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Until {
    /// CPU cycles since power-on: stops at the first instruction boundary at or behind it.
    pub cycles: Option<Cycles>,
    /// Machine time: asleep, stops exactly there; awake, at the first instruction boundary.
    pub time: Option<Picos>,
    /// Addresses: stops before the instruction there runs (not at the first instruction of the run).
    pub pc: Vec<u32>,
    /// An output pin: stops behind the instruction that changes it.
    pub pin_edge: Option<Pin>,
    /// Stops when a component's state or the operating point has changed.
    pub state_change: bool,
}

impl Until {
    /// Until the machine halts or faults.
    #[must_use]
    pub fn halted() -> Self {
        Self::default()
    }

    /// Until `cycles` since power-on.
    #[must_use]
    pub fn cycles(cycles: Cycles) -> Self {
        Self { cycles: Some(cycles), ..Self::default() }
    }

    /// Until machine time `time`.
    #[must_use]
    pub fn time(time: Picos) -> Self {
        Self { time: Some(time), ..Self::default() }
    }

    /// Until the program counter is at `pc`.
    #[must_use]
    pub fn pc(pc: u32) -> Self {
        Self { pc: vec![pc], ..Self::default() }
    }

    /// Until the output at `pin` changes its level.
    #[must_use]
    pub fn pin_edge(pin: Pin) -> Self {
        Self { pin_edge: Some(pin), ..Self::default() }
    }
}

/// Reason for which a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The limit of cycles is reached.
    Cycles,
    /// The limit of machine time is reached.
    Time,
    /// The program counter is at this address.
    Pc(u32),
    /// The pin that was asked for has changed.
    Pin(PinEdge),
    /// The observer has ended it ([`Observer::ends`]).
    Observer,
    /// The CPU is off and nothing inside the machine can wake it.
    Halted,
    /// A component's state or the operating point changed.
    StateChange,
    /// The program or its operating point broke a rule.
    Fault(Fault),
    /// The supply is too low: the machine is off or held in reset.
    BrownOut,
}

/// A register of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name in the manual.
    pub name: Cow<'static, str>,
    /// Width in bits, as the core has it.
    pub bits: u8,
    /// Value that it holds now.
    pub value: u32,
}
