// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fault injection: the power is lost at any cycle of a stretch of a run, and the machine boots again.
//!
//! A [`Stretch`] is walked once, instruction by instruction; every cut goes back to a snapshot in front of
//! it. What survives is what the hardware leaves: non-volatile memory with the words that were written
//! before the cut, a flash operation half done, RAM as far as it holds its charge.

mod classes;
mod footprint;
mod left;

pub use classes::ELSEWHERE;
use classes::Survivors;
pub use footprint::{Alone, Footprint};
pub use left::{Differing, Left};
use sunseal_mcu::device::RegionKind;
use sunseal_mcu::listing::Listing;
use sunseal_mcu::{Elf, Machine, MachineError, Register, Snapshot, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Silent, Width};

/// A snapshot serves cuts so far behind it before another is made.
const REBASE_CYCLES: Cycles = 400;

/// Logarithm of the cycles between two words about how far a walk is.
const TOLD_BITS: u32 = 22;

/// Reason for which power could not be cut.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    /// The uninterrupted run breaks a rule.
    #[error("the uninterrupted run stops in cycle {cycle} of the stretch: {fault}")]
    Fault {
        /// Cycles since the stretch began.
        cycle: Cycles,
        /// Fault of the machine, in words.
        fault: String,
    },
    /// The uninterrupted run does not get there.
    #[error(
        "the uninterrupted run does not reach the end of the stretch: after {cycles} cycles {why}; \
         name an end that it reaches, or allow more cycles"
    )]
    NoEnd {
        /// Cycles up to which it got.
        cycles: Cycles,
        /// Clause that tells what it did instead, and where.
        why: String,
    },
    /// Not of this stretch.
    #[error("cycle {at} is not in the stretch, which has {cycles} cycles")]
    Outside {
        /// Cycle that was asked for, from the beginning of the stretch.
        at: Cycles,
        /// Length of the stretch.
        cycles: Cycles,
    },
    /// The machine is another one.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// Events that a walk looks for, and where it met them.
#[derive(Default)]
struct Seen {
    ran: bool,
    /// Cycles of writes to FRAM.
    writes: Vec<Cycles>,
    fram: Vec<(u32, u32)>,
}

impl Observer for Seen {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {
        self.ran = true;
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, _: Width, _: u32, at: Cycles) {
        let is_fram = |(start, end): &(u32, u32)| (*start..=*end).contains(&addr);
        if kind == Access::Write && self.fram.iter().any(is_fram) {
            self.writes.push(at);
        }
    }
}

/// A stretch of an uninterrupted run: where its instructions begin, where non-volatile memory changes.
pub struct Stretch {
    first: Snapshot,
    origin: Cycles,
    /// A snapshot in front of the last cut.
    base: (Cycles, Snapshot),
    boundaries: Boundaries,
    writes: Vec<Cycles>,
    cycles: Cycles,
    survivors: Option<(Picos, Survivors)>,
}

/// The cycles at which instructions begin and waits go on: a bit for each, as a stretch may have 10^9.
#[derive(Default)]
struct Boundaries(Vec<u64>);

impl Boundaries {
    fn push(&mut self, cycle: Cycles) {
        let word = (cycle / 64) as usize;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (cycle % 64);
    }

    /// The last one at `cycle` or before it.
    fn before(&self, cycle: Cycles) -> Option<Cycles> {
        let last = ((cycle / 64) as usize).min(self.0.len().checked_sub(1)?);
        let mut known = self.0[last];
        if last as u64 == cycle / 64 {
            known &= u64::MAX >> (63 - cycle % 64);
        }
        let mut words = std::iter::once(known).chain(self.0[..last].iter().rev().copied()).zip(0..);
        let (word, back) = words.find(|(word, _)| *word != 0)?;
        Some((last as u64 - back) * 64 + 63 - Cycles::from(word.leading_zeros()))
    }
}

/// The state of controllers that write on their own.
fn writers(machine: &Machine) -> Vec<String> {
    let own = |c: &str| c == "flash" || c == "eeprom";
    machine.states().into_iter().filter(|(c, _)| own(c)).map(|(_, s)| s.to_owned()).collect()
}

/// Runs at full speed to the first of `ends`, or to the halt if there are none; answers the time there.
fn find_end(
    machine: &mut Machine,
    elf: Option<&Elf>,
    ends: &[u32],
    limit: Cycles,
    goes_on: &mut impl FnMut(Cycles) -> bool,
) -> Result<Picos, InjectError> {
    let origin = machine.cycles();
    loop {
        let slice = (machine.cycles() + (1 << TOLD_BITS)).min(origin.saturating_add(limit));
        let until = Until { cycles: Some(slice), pc: ends.to_vec(), ..Until::default() };
        let stop = machine.run(&until, &mut Silent);
        let cycles = machine.cycles() - origin;
        let why = match stop {
            Stop::Pc(_) => return Ok(machine.time()),
            Stop::Halted if ends.is_empty() => return Ok(machine.time()),
            Stop::Halted => "it sleeps, and nothing can wake it,",
            Stop::BrownOut => "it has no supply",
            Stop::Fault(fault) => {
                let fault = elf.map_or_else(|| fault.to_string(), |elf| elf.explain(&fault));
                return Err(InjectError::Fault { cycle: cycles, fault });
            }
            _ if machine.is_at_rest() => "it stays for good in a loop of one jump",
            _ => match machine.reset_loop() {
                Some(found) => return Err(InjectError::NoEnd { cycles, why: found.explain(elf) }),
                None if cycles >= limit => "it still runs",
                None if goes_on(cycles) => continue,
                None => "it was stopped",
            },
        };
        let pc = machine.pc();
        let place = elf.map_or_else(|| format!("{pc:#x}"), |elf| elf.describe(pc));
        let line = elf.and_then(|elf| elf.line_at(pc)).map_or(String::new(), |l| format!(" ({l})"));
        return Err(InjectError::NoEnd { cycles, why: format!("{why} at {place}{line}") });
    }
}

impl Stretch {
    /// Walks from where the machine stands to the first of the addresses `ends`, or to where it halts if there
    /// are none, in at most `limit` cycles. The machine stands at the end then.
    ///
    /// # Errors
    /// If the run does not get there.
    pub fn walk(machine: &mut Machine, ends: &[u32], limit: Cycles) -> Result<Self, InjectError> {
        Self::walk_told(machine, None, ends, limit, |_| true)
    }

    /// The same; errors name places of `elf`; `goes_on` hears the cycles now and then and may end it.
    ///
    /// # Errors
    /// If the run does not get there.
    pub fn walk_told(
        machine: &mut Machine,
        elf: Option<&Elf>,
        ends: &[u32],
        limit: Cycles,
        mut goes_on: impl FnMut(Cycles) -> bool,
    ) -> Result<Self, InjectError> {
        let first = machine.snapshot();
        let origin = machine.cycles();
        let end = find_end(machine, elf, ends, limit, &mut goes_on)?;
        machine.restore(&first)?;
        let mut me = Self {
            base: (0, first.clone()),
            first,
            origin,
            boundaries: Boundaries::default(),
            writes: vec![0],
            cycles: 0,
            survivors: None,
        };
        let fram = machine.device().memory.iter().filter(|r| r.kind == RegionKind::Fram);
        let mut seen = Seen { fram: fram.map(|r| (r.start, r.end)).collect(), ..Seen::default() };
        let mut until = Until { state_change: true, ..Until::default() };
        let mut writing = writers(machine);
        loop {
            let before = machine.cycles();
            me.boundaries.push(before - origin);
            until.cycles = Some(before + 1);
            seen.ran = false;
            let stop = machine.run(&until, &mut seen);
            let cycle = machine.cycles() - origin;
            // A burst of DMA writes while the CPU waits.
            if !seen.ran && cycle > before - origin && !seen.fram.is_empty() {
                seen.writes.push(before);
            }
            me.writes.extend(seen.writes.drain(..).map(|at| at + 1 - origin));
            me.cycles = cycle;
            match stop {
                Stop::StateChange => {
                    let now = writers(machine);
                    if now != writing {
                        writing = now;
                        me.writes.extend([before - origin, cycle]);
                    }
                }
                Stop::Cycles | Stop::Time => {}
                Stop::Halted => break,
                stop => unreachable!("{stop:?} on a way that was gone before"),
            }
            if machine.time() >= end {
                break;
            }
            if cycle >> TOLD_BITS != (before - origin) >> TOLD_BITS && !goes_on(cycle) {
                return Err(InjectError::NoEnd { cycles: cycle, why: "it was stopped".into() });
            }
        }
        me.writes.push(me.cycles);
        me.writes.sort_unstable();
        me.writes.dedup();
        Ok(me)
    }

    /// Length of the run in CPU cycles.
    #[must_use]
    pub fn cycles(&self) -> Cycles {
        self.cycles
    }

    /// The cycles at which what survives has just become another: behind each write to FRAM, before, within
    /// and behind each operation of a flash or EEPROM controller, at the beginning and at the end.
    #[must_use]
    pub fn writes(&self) -> &[Cycles] {
        &self.writes
    }

    /// Cycle at which the instruction (or the wait) begins that cycle `at` falls into.
    fn boundary(&self, at: Cycles) -> Cycles {
        self.boundaries.before(at).expect("an instruction begins at the origin")
    }

    fn check(&self, at: Cycles) -> Result<(), InjectError> {
        if at > self.cycles {
            return Err(InjectError::Outside { at, cycles: self.cycles });
        }
        Ok(())
    }

    /// Brings the machine to the instruction boundary at `at`.
    fn go_to(&mut self, machine: &mut Machine, at: Cycles) -> Result<(), InjectError> {
        if self.base.0 > at {
            self.base = (0, self.first.clone());
        }
        machine.restore(&self.base.1)?;
        if self.base.0 < at {
            let _ = machine.run(&Until::cycles(self.origin + at), &mut Silent);
        }
        if at - self.base.0 > REBASE_CYCLES {
            self.base = (at, machine.snapshot());
        }
        Ok(())
    }

    /// Runs the stretch up to cycle `at` (from its beginning) and takes the supply away there, in the middle of
    /// an instruction too. The machine is off then.
    ///
    /// # Errors
    /// If `at` is not in the stretch.
    pub fn cut(&mut self, machine: &mut Machine, at: Cycles) -> Result<(), InjectError> {
        self.check(at)?;
        self.go_to(machine, self.boundary(at))?;
        let _ = machine.run_to_cut(&Until::cycles(self.origin + at));
        Ok(())
    }

    /// The last cut that provably has the same run behind it as the one at `at`, which lasted for `off` and
    /// whose run left the footprint `run`: one verdict holds for all of them.
    ///
    /// # Errors
    /// If `at` is not in the stretch; within, why that cut stands alone.
    pub fn covers(
        &mut self,
        machine: &mut Machine,
        at: Cycles,
        off: Picos,
        run: &Footprint,
    ) -> Result<Result<Cycles, Alone>, InjectError> {
        self.check(at)?;
        if self.survivors.as_ref().is_none_or(|(for_off, _)| *for_off != off) {
            let here = machine.snapshot();
            let survivors = Survivors::survey(machine, &self.first, self.cycles, off);
            machine.restore(&here)?;
            self.survivors = Some((off, survivors));
        }
        let (_, survivors) = self.survivors.as_mut().expect("it has just been made");
        Ok(survivors.covers(at, run))
    }

    /// Instructions that led to cycle `at`: the last `instructions` with what they read and wrote, the one that `at`
    /// falls into last; the address of that one and the registers in front of it.
    ///
    /// # Errors
    /// If `at` is not in the stretch.
    pub fn trace(
        &mut self,
        machine: &mut Machine,
        elf: &Elf,
        at: Cycles,
        instructions: usize,
    ) -> Result<Trace, InjectError> {
        self.check(at)?;
        let last = self.boundary(at);
        let earlier = |from: &Cycles| self.boundaries.before(from.checked_sub(1)?);
        let start = std::iter::successors(Some(last), earlier).take(instructions.max(1)).last();
        let start = start.expect("`last` is one");
        self.go_to(machine, start)?;
        let mut listing = Listing::last(elf, instructions, start);
        let boundary = self.origin + last;
        if machine.cycles() < boundary {
            let _ = machine.run(&Until::cycles(boundary), &mut listing);
        }
        let (pc, registers) = (machine.pc(), machine.registers());
        let _ = machine.run(&Until::cycles(boundary + 1), &mut listing);
        Ok(Trace { text: listing.text(elf), pc, registers })
    }
}

/// Instructions that led to a cut.
#[derive(Clone, Debug)]
pub struct Trace {
    /// A line for each instruction.
    pub text: String,
    /// Address of the instruction that was cut, or would have been next.
    pub pc: u32,
    /// In front of it.
    pub registers: Vec<Register>,
}

/// The supply, which has gone, comes back after `off`; `seed` makes the noise with which RAM wakes.
pub fn reboot(machine: &mut Machine, off: Picos, seed: u64) {
    // A cut of no length is a moment here, behind which RAM has all it had.
    let back = Picos(machine.time().0 + off.0.max(1));
    let _ = machine.run(&Until::time(back), &mut Silent);
    machine.power_on(seed);
}
