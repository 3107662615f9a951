// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peripherals of the ATmega128, one file each, with the datasheet's register names and bytes as registers.
//!
//! Time inside is counted in ticks of clk_I/O, clk_ADC or clk_ASY. A write in tick `n` shows from tick `n + 1` on.

pub(crate) mod adc;
pub(crate) mod eeprom;
pub(crate) mod external;
pub(crate) mod port;
pub(crate) mod selfprog;
pub(crate) mod spi;
pub(crate) mod timer;
pub(crate) mod twi;
pub(crate) mod usart;
pub(crate) mod watchdog;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::avr::DATA_SPACE;
use sunseal_trace::{Cycles, Picos};

use crate::accounts::Accounts;
use crate::clock::Line;
use crate::lint::{LintKind, Lints};

/// The clock domains of the datasheet's figure "Clock Distribution".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clocks {
    /// clk_CPU: its ticks are the CPU's cycles.
    pub cpu: Line,
    /// clk_I/O: stops in all sleep modes but Idle.
    pub io: Line,
    /// clk_ADC before its prescaler: runs in ADC Noise Reduction too.
    pub adc: Line,
    /// clk_ASY: the watch crystal at TOSC1.
    pub asy: Line,
    pub wdt: Line,
}

/// What a peripheral sees during an access.
pub(crate) struct Cx<'a> {
    /// Address in the data space.
    pub addr: u16,
    pub at: Cycles,
    /// Ticks of clk_I/O before the access.
    pub io: u64,
    pub now: Picos,
    pub clocks: &'a Clocks,
    pub lints: &'a mut Lints,
    pub accounts: &'a mut Accounts,
}

impl Cx<'_> {
    #[cold]
    pub fn refuse(&self, what: &str) -> Fault {
        Fault::device(DATA_SPACE | u32::from(self.addr), what)
    }

    pub fn lint(&mut self, kind: LintKind) {
        self.lints.report(kind, DATA_SPACE | u32::from(self.addr), self.at);
    }
}

/// A bit that opens another for a few cycles: EEMWE, WDCE, IVCE, SPMEN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Window(Option<Cycles>);

impl Window {
    /// Written in cycle `at`, it is open for the next `cycles`.
    pub fn open(&mut self, at: Cycles, cycles: Cycles) {
        self.0 = Some(at + cycles);
    }

    pub fn close(&mut self) {
        self.0 = None;
    }

    pub fn is_open(self, at: Cycles) -> bool {
        self.0.is_some_and(|last| at <= last)
    }
}
