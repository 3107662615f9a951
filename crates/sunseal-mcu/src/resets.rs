// SPDX-License-Identifier: MIT OR Apache-2.0
//! A loop of resets: a program that its watchdog, or a slip of its own, sends back to its start for ever.

use sunseal_trace::Cycles;

use crate::elf::Elf;

/// Why a chip resets itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCause {
    /// The watchdog's interval is over.
    Watchdog,
    /// A protected register was written without its password.
    Password,
    /// An access that memory protection forbids.
    Protection,
    /// The program asked for it.
    Software,
    /// None of the others: an end of deep sleep, a supervisor.
    Other,
}

impl ResetCause {
    fn explain(self) -> (&'static str, &'static str) {
        match self {
            Self::Watchdog => (
                "the watchdog's time-out",
                "stop the watchdog first thing in `main`, or clear its count in time",
            ),
            Self::Password => (
                "a write to a protected register without its password",
                "write the register's password with the value, such as WDTPW or FWKEY",
            ),
            Self::Protection => (
                "an access that memory protection forbids",
                "keep to the segments that are open, or open this one",
            ),
            Self::Software => {
                ("a reset that the program asks for", "ask for it only behind some progress")
            }
            Self::Other => ("a reset of the chip", "look at what comes in front of it"),
        }
    }
}

/// Resets in a row that came from the same cause and left the same memory behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetLoop {
    /// Of each of them.
    pub cause: ResetCause,
    /// How many there were.
    pub times: u64,
    /// The instruction that the last of them kept from running.
    pub pc: u32,
    /// CPU cycles between the last two.
    pub period: Cycles,
}

impl ResetLoop {
    /// A sentence for whoever wrote the program.
    #[must_use]
    pub fn explain(&self, elf: Option<&Elf>) -> String {
        let (cause, hint) = self.cause.explain();
        format!(
            "the program is reset again and again: {} times in a row by {cause}, before the instruction at \
             {}, every {} cycles, with nothing new in memory; {hint}",
            self.times,
            self.place(elf),
            self.period
        )
    }

    /// The same where it is not known to be a loop: the last reset, and how many in a row were like it.
    #[must_use]
    pub fn explain_last(&self, elf: Option<&Elf>) -> String {
        let (cause, hint) = self.cause.explain();
        let row = if self.times > 1 {
            format!("the last {} by", self.times)
        } else {
            "the last by".into()
        };
        format!("{row} {cause}, before the instruction at {}; {hint}", self.place(elf))
    }

    fn place(&self, elf: Option<&Elf>) -> String {
        match elf.map(|elf| (elf.describe(self.pc), elf.line_at(self.pc))) {
            Some((place, Some(line))) => format!("{place} ({line})"),
            Some((place, None)) => place,
            None => format!("{:#x}", self.pc),
        }
    }
}

/// So many resets with all of memory as it was at the one before are a loop.
const SAME_MEMORY: u64 = 16;
/// Where RAM differs (a clock that is not the CPU's cuts off at another instruction each time), so many with
/// non-volatile memory as it was.
const SAME_NON_VOLATILE: u64 = 256;

/// What the last resets had in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResetWatch {
    last: ResetLoop,
    at: Cycles,
    /// Hashes of RAM and of what survives the supply.
    memory: (u64, u64),
    same_memory: u64,
}

impl ResetWatch {
    pub fn new() -> Self {
        let last = ResetLoop { cause: ResetCause::Other, times: 0, pc: 0, period: 0 };
        Self { last, at: 0, memory: (0, 0), same_memory: 0 }
    }

    /// Whether memory is to be looked at: in a loop that is known, now and then.
    pub fn wants_memory(&self) -> bool {
        self.found().is_none() || self.last.times.is_multiple_of(SAME_NON_VOLATILE)
    }

    /// Takes down a reset where memory was not looked at.
    pub fn note_unseen(&mut self, cause: ResetCause, pc: u32, at: Cycles) {
        self.note(cause, pc, at, self.memory);
    }

    /// Takes down a reset; `memory` are hashes of RAM and of non-volatile memory.
    pub fn note(&mut self, cause: ResetCause, pc: u32, at: Cycles, memory: (u64, u64)) {
        let again = cause == self.last.cause && memory.1 == self.memory.1;
        let times = if again { self.last.times + 1 } else { 1 };
        self.same_memory = if again && memory == self.memory { self.same_memory + 1 } else { 1 };
        self.last = ResetLoop { cause, times, pc, period: at - self.at };
        (self.at, self.memory) = (at, memory);
    }

    /// The last reset, with how many in a row had its cause and left non-volatile memory as it was.
    pub fn last(&self) -> Option<ResetLoop> {
        (self.last.times > 0).then_some(self.last)
    }

    /// Waking from deep sleep is a reset by design, however often.
    pub fn found(&self) -> Option<ResetLoop> {
        let times = self.last.times;
        let found = self.same_memory >= SAME_MEMORY || times >= SAME_NON_VOLATILE;
        (found && self.last.cause != ResetCause::Other).then_some(self.last)
    }
}

/// A hash of memory: fast, and good enough to tell whether anything changed.
pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(seed, |h, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (h.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517C_C1B7_2722_0A95)
    })
}
