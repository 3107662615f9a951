// SPDX-License-Identifier: MIT OR Apache-2.0
//! Things a program does that work here by luck and fail on a chip.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sunseal_trace::Cycles;

use crate::pin::Pin;

/// Kind of slip: what a program did that fails on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LintKind {
    /// A multiplier result was read before it was ready.
    EarlyMpyRead,
    /// A multiplication was started while the one before was not complete.
    MpyOverlap,
    /// RES2 or RES3 was read after a 16 x 16 bit operation.
    Mpy16HighWords,
    /// DCORSEL does not reach the wanted clock on every part.
    DcoRange,
    /// Flash was written that was not erased: bits that are 0 stay 0.
    FlashOverwrite,
    /// A conversion used the reference while it was off or settling.
    ReferenceNotReady,
    /// A conversion used a reference level for which the supply is too low.
    ReferenceSupply,
    /// SPI bytes were sent while no device was selected.
    SpiNobody,
    /// SPI bytes were sent while several devices were selected.
    SpiSeveral,
    /// SPI bytes were exchanged in another mode than mode 0, which the device speaks.
    SpiMode,
    /// A TWI master began with TWBR below 10.
    TwiTooFast,
    /// PMMCOREV was raised by more than one level at a time.
    CoreVoltageStep,
    /// A timer's output unit was set up; its pins do not move here.
    TimerOutput,
    /// A pin was given to a clock output, whose edges do not show.
    ClockOutput {
        /// Pin that carries no clock.
        pin: Pin,
        /// Clock that the program gave it to.
        clock: ClockOutput,
    },
    /// A register was written whose bits are locked at that moment.
    LockedBits,
    /// A capture input that nothing is wired to was armed.
    CaptureNobody,
    /// A capture was armed on a pin that the chip drives itself.
    CaptureOutput {
        /// Pin that the capture waits for, or that went past it.
        pin: Pin,
    },
    /// An edge at a pin that a capture waits for did not reach the timer.
    CaptureUnselected {
        /// Pin that the capture waits for, or that went past it.
        pin: Pin,
    },
    /// A DMA controller accessed what refuses it, and stopped.
    DmaRefused,
    /// The clock is above what data sheets allow, by permission of whoever runs the machine.
    Overclocked,
    /// A row of flash was programmed longer than it stands between two erasures.
    FlashProgramTime,
    /// A word access to a register of an 8-bit module.
    ByteModule,
    /// The fastest part's DCO exceeds what the supply allows with these settings.
    DcoTooFast,
    /// A register of an asynchronous timer was written while the write before was not taken over.
    AsynchronousBusy,
    /// A UART received a frame whose stop bit was low.
    UartFraming,
    /// A UART received a byte while the one before was not read.
    UartOverrun,
    /// A PUSH or CALL whose operand's address is made of SP was executed.
    StackOperand,
}

/// A clock that a chip brings out on a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ClockOutput {
    /// MCLK, the CPU's clock.
    Mclk,
    /// That of fast peripherals.
    Smclk,
    /// That of slow ones.
    Aclk,
    /// That of peripherals at full speed of an MSP432.
    Hsmclk,
    /// Clock that RCC_CFGR.MCOSEL chooses on an STM32.
    Mco,
}

impl ClockOutput {
    /// By its name in the device's data.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "mclk" => Self::Mclk,
            "smclk" => Self::Smclk,
            "aclk" => Self::Aclk,
            "hsmclk" => Self::Hsmclk,
            "mco" => Self::Mco,
            _ => return None,
        })
    }
}

impl fmt::Display for LintKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClockOutput { pin, clock } => {
                let clock = match clock {
                    ClockOutput::Mclk => "MCLK",
                    ClockOutput::Smclk => "SMCLK",
                    ClockOutput::Aclk => "ACLK",
                    ClockOutput::Hsmclk => "HSMCLK",
                    ClockOutput::Mco => "MCO",
                };
                write!(
                    f,
                    "{pin} should carry {clock}, whose edges do not show on pins in this machine"
                )
            }
            Self::CaptureOutput { pin } => {
                write!(
                    f,
                    "capture armed on {pin}, which is an output: it sees what the chip itself drives there, no signal from outside"
                )
            }
            Self::CaptureUnselected { pin } => {
                write!(
                    f,
                    "an edge at {pin} went past the capture that waits for it: the pin is not given to the timer; set its bit in PxSEL"
                )
            }
            _ => f.write_str(self.sentence()),
        }
    }
}

impl LintKind {
    /// Sentence of a kind that names no pin.
    fn sentence(&self) -> &'static str {
        match self {
            Self::ClockOutput { .. }
            | Self::CaptureOutput { .. }
            | Self::CaptureUnselected { .. } => "a pin does not do what it is set up for",
            Self::DmaRefused => {
                "DMA access that the bus refuses, so its channel is off: registers or memory that is not there, or flash that is not being programmed"
            }
            Self::Overclocked => {
                "clock above what the data sheet allows, run as asked for: a part may fail there, in the heat first, and no printed current speaks for it"
            }
            Self::EarlyMpyRead => {
                "early MPY32 read: the result is not ready yet; wait or put NOPs before it"
            }
            Self::MpyOverlap => "MPY32 operation started before the one before it was complete",
            Self::Mpy16HighWords => {
                "RES2/RES3 read after a 16 x 16 bit operation; their contents are not documented"
            }
            Self::DcoRange => {
                "DCORSEL does not reach this clock on every part; choose the next range"
            }
            Self::FlashOverwrite => "flash written that is not erased; erase its segment first",
            Self::ReferenceNotReady => {
                "ADC12 conversion against a reference that is off or settling"
            }
            Self::ReferenceSupply => {
                "ADC12 conversion against a reference level that needs a higher supply"
            }
            Self::SpiNobody => "SPI byte sent while no chip select is low",
            Self::SpiSeveral => {
                "SPI byte sent while the chip selects of several devices are low: all drive MISO; raise all but one"
            }
            Self::SpiMode => {
                "SPI byte in another mode than the device's; set UCCKPH and clear UCCKPL (mode 0)"
            }
            Self::TwiTooFast => {
                "TWI master with TWBR below 10, which may put wrong levels on SDA and SCL; raise TWBR or lower TWPS"
            }
            Self::CoreVoltageStep => "PMMCOREV raised by more than one level; go up one at a time",
            Self::TimerOutput => "timer output unit set up; no pin of it moves in this machine",
            Self::LockedBits => {
                "register bits written that are locked now; the write has no effect"
            }
            Self::CaptureNobody => "capture armed on an input that nothing is wired to",
            Self::FlashProgramTime => {
                "row of 64 bytes of flash programmed for longer than it stands; erase its segment first"
            }
            Self::ByteModule => {
                "word access to a register of an 8-bit module: its high byte is lost; access bytes"
            }
            Self::DcoTooFast => {
                "the fastest part's DCO exceeds what this supply allows; choose a lower RSELx or DCOx, or measure against the crystal"
            }
            Self::UartFraming => {
                "framing error of a UART: the line has another bit rate or format than the program set, and what it receives is garbage"
            }
            Self::UartOverrun => "byte lost by a UART: it was fed faster than the program reads",
            Self::StackOperand => {
                "PUSH or CALL with an operand by SP: the chip decrements SP first, so X(SP) lies lower than compilers such as clang take it for, and sources disagree on @SP, PUSHX and CALLA; put the operand into a register first"
            }
            Self::AsynchronousBusy => {
                "register of asynchronous timer 0 written while its last value is not taken over; wait for the busy flag in ASSR"
            }
        }
    }
}

/// One kind of slip at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lint {
    /// Kind of slip: what a program did that fails on a chip.
    pub kind: LintKind,
    /// Address of the register or memory.
    pub addr: u32,
    /// Address behind the instruction that did it.
    pub next_pc: u32,
    pub count: u64,
    pub first_cycle: Cycles,
}

impl Lint {
    /// A sentence, places named by `describe`.
    #[must_use]
    pub fn sentence(&self, describe: impl Fn(u32) -> String) -> String {
        let (word, at) = match self.kind {
            // A call goes on elsewhere: the instruction itself is named.
            LintKind::StackOperand => ("at", self.addr),
            _ => ("before", self.next_pc),
        };
        format!("{} {word} {} ({} times)", self.kind, describe(at), self.count)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Lints {
    found: BTreeMap<(LintKind, u32, u32), (u64, Cycles)>,
    /// Reported by the bus, without a program counter yet.
    pub pending: Vec<(LintKind, u32, Cycles)>,
}

impl Lints {
    pub fn report(&mut self, kind: LintKind, addr: u32, at: Cycles) {
        self.pending.push((kind, addr, at));
    }

    /// Reports what lasts, of which once is enough.
    pub fn note(&mut self, kind: LintKind, addr: u32, at: Cycles) {
        let known = |k: &(LintKind, u32, u32)| k.0 == kind;
        if !self.found.keys().any(known) && !self.pending.iter().any(|p| p.0 == kind) {
            self.report(kind, addr, at);
        }
    }

    /// Gives the pending ones the program counter; returns the first.
    pub fn settle(&mut self, next_pc: u32) -> Option<(LintKind, u32)> {
        let first = self.pending.first().map(|&(k, a, _)| (k, a));
        for (kind, addr, at) in self.pending.drain(..) {
            self.found.entry((kind, addr, next_pc)).or_insert((0, at)).0 += 1;
        }
        first
    }

    pub fn list(&self) -> Vec<Lint> {
        self.found
            .iter()
            .map(|(&(kind, addr, next_pc), &(count, first_cycle))| Lint {
                kind,
                addr,
                next_pc,
                count,
                first_cycle,
            })
            .collect()
    }

    pub fn clear(&mut self) {
        self.found.clear();
        self.pending.clear();
    }
}
