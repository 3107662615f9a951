// SPDX-License-Identifier: MIT OR Apache-2.0
//! Differential fuzzing: random programs run here and in another simulator until they differ; what differs is
//! made short and printed as a test to add.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use crate::random::Random;

/// An instruction set beside another simulator of it.
pub trait Target {
    /// One instruction of a program, free of its address: a program that lost some is still a program.
    type Insn: Clone + Debug;

    /// Ours and the other, for the report.
    fn name(&self) -> String;

    /// How many programs are worth judging at once.
    fn batch(&self) -> usize {
        64
    }

    /// A program. It may be one that [`judge`](Self::judge) refuses, but should rarely be.
    fn draw(&mut self, random: &mut Random) -> Program<Self::Insn>;

    /// Runs each here and there.
    ///
    /// # Errors
    /// If the other simulator cannot be run, in one sentence.
    fn judge(&mut self, programs: &[Program<Self::Insn>]) -> Result<Vec<Verdict>, String>;

    /// Simpler instructions to try in its place while a failing program is made shorter; none of them may lead back to
    /// it, or that would not end.
    fn simpler(&self, insn: &Self::Insn) -> Vec<Self::Insn> {
        let _ = insn;
        Vec::new()
    }

    /// The failing program as a test to add to the crate's tests.
    fn as_test(&self, program: &Program<Self::Insn>, why: &str) -> String;
}

/// Instructions and the state they start from.
#[derive(Clone, Debug)]
pub struct Program<I> {
    /// Registers in the target's order.
    pub registers: Vec<u32>,
    /// What the content of data memory is drawn from.
    pub memory: u64,
    pub insns: Vec<I>,
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Agree {
        /// How many instructions were compared.
        instructions: u64,
    },
    /// Neither can be judged: it leaves its memory, or meets a known fault, whose name this is.
    Masked(&'static str),
    /// They do not: where and how.
    Differ(String),
}

/// Result of a campaign: programs, instructions, what differed.
#[derive(Debug, Default)]
pub struct Report {
    /// Programs that ended alike.
    pub programs: u64,
    pub instructions: u64,
    /// Programs not judged, by the reason.
    pub masked: BTreeMap<&'static str, u64>,
}

/// A program that ends differently, made short.
#[derive(Debug)]
pub struct Failure {
    pub why: String,
    /// How many instructions are left.
    pub instructions: usize,
    /// It as a test.
    pub test: String,
}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// So many programs are judged.
    Programs(u64),
    /// So much time has passed.
    Elapsed(Duration),
}

/// Draws and judges until something differs or `until`; the failure is short already.
///
/// # Errors
/// If the other simulator cannot be run.
pub fn run<T: Target>(
    target: &mut T,
    seed: u64,
    until: Until,
) -> Result<(Report, Option<Failure>), String> {
    let mut random = Random::new(seed, "fuzz");
    let mut report = Report::default();
    let begin = Instant::now();
    let mut drawn = 0;
    loop {
        let batch = match until {
            Until::Programs(n) if drawn >= n => return Ok((report, None)),
            Until::Elapsed(time) if begin.elapsed() >= time => return Ok((report, None)),
            Until::Programs(n) => (n - drawn).min(target.batch() as u64),
            Until::Elapsed(_) => target.batch() as u64,
        };
        drawn += batch;
        let programs: Vec<_> = (0..batch).map(|_| target.draw(&mut random)).collect();
        for (program, verdict) in programs.iter().zip(target.judge(&programs)?) {
            match verdict {
                Verdict::Agree { instructions } => {
                    report.programs += 1;
                    report.instructions += instructions;
                }
                Verdict::Masked(why) => *report.masked.entry(why).or_default() += 1,
                Verdict::Differ(why) => {
                    let (program, why) = shrink(target, program.clone(), why)?;
                    let test = target.as_test(&program, &why);
                    let instructions = program.insns.len();
                    return Ok((report, Some(Failure { why, instructions, test })));
                }
            }
        }
    }
}

/// A program that differs, and how.
type Differing<I> = (Program<I>, String);

/// The first of `candidates` that still differs.
fn first_failing<T: Target>(
    target: &mut T,
    candidates: Vec<Program<T::Insn>>,
) -> Result<Option<Differing<T::Insn>>, String> {
    for part in candidates.chunks(target.batch().max(1)) {
        for (program, verdict) in part.iter().zip(target.judge(part)?) {
            if let Verdict::Differ(why) = verdict {
                return Ok(Some((program.clone(), why)));
            }
        }
    }
    Ok(None)
}

/// Leaves out instructions, halves first, then puts simpler ones and zeros, as long as it still differs.
fn shrink<T: Target>(
    target: &mut T,
    mut program: Program<T::Insn>,
    mut why: String,
) -> Result<Differing<T::Insn>, String> {
    loop {
        let n = program.insns.len();
        let mut candidates = Vec::new();
        let mut size = n / 2;
        while size > 0 {
            for start in (0..n).step_by(size) {
                let mut shorter = program.clone();
                shorter.insns.drain(start..(start + size).min(n));
                if !shorter.insns.is_empty() {
                    candidates.push(shorter);
                }
            }
            size /= 2;
        }
        if n <= 8 {
            for i in 0..n {
                for insn in target.simpler(&program.insns[i]) {
                    let mut simpler = program.clone();
                    simpler.insns[i] = insn;
                    candidates.push(simpler);
                }
            }
            for i in (0..program.registers.len()).filter(|&i| program.registers[i] != 0) {
                let mut simpler = program.clone();
                simpler.registers[i] = 0;
                candidates.push(simpler);
            }
        }
        match first_failing(target, candidates)? {
            Some(found) => (program, why) = found,
            None => return Ok((program, why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers; wrong where a 7 stands before a 13 and the register is even.
    struct Toy {
        judged: u64,
    }

    impl Target for Toy {
        type Insn = u32;

        fn name(&self) -> String {
            "toy".into()
        }

        fn draw(&mut self, random: &mut Random) -> Program<u32> {
            let insns = (0..30).map(|_| random.below(20)).collect();
            Program { registers: vec![random.word() & !1, 3], memory: 0, insns }
        }

        fn judge(&mut self, programs: &[Program<u32>]) -> Result<Vec<Verdict>, String> {
            self.judged += programs.len() as u64;
            let judge = |program: &Program<u32>| {
                let seven = program.insns.iter().position(|&n| n % 10 == 7);
                let wrong = seven.is_some_and(|at| program.insns[at..].contains(&13));
                match program {
                    _ if program.insns.contains(&19) => Verdict::Masked("nineteen"),
                    Program { registers, .. } if wrong && registers[0] % 2 == 0 => {
                        Verdict::Differ("7 then 13".into())
                    }
                    _ => Verdict::Agree { instructions: program.insns.len() as u64 },
                }
            };
            Ok(programs.iter().map(judge).collect())
        }

        fn simpler(&self, insn: &u32) -> Vec<u32> {
            if *insn > 7 { vec![7] } else { Vec::new() }
        }

        fn as_test(&self, program: &Program<u32>, why: &str) -> String {
            format!("{why}: {program:?}")
        }
    }

    #[test]
    fn a_failing_program_shrinks_to_what_makes_it_fail() {
        let mut toy = Toy { judged: 0 };
        let (_, failure) = run(&mut toy, 3, Until::Programs(10_000)).unwrap();
        let failure = failure.expect("three in a hundred programs of thirty differ");
        assert_eq!(failure.instructions, 2);
        assert_eq!(
            failure.test,
            "7 then 13: Program { registers: [0, 0], memory: 0, insns: [7, 13] }"
        );
    }

    #[test]
    fn programs_are_counted_and_named_where_masked() {
        let mut toy = Toy { judged: 0 };
        // Few enough to meet no failure with this seed.
        let (report, failure) = run(&mut toy, 1, Until::Programs(3)).unwrap();
        assert!(failure.is_none());
        assert_eq!((toy.judged, report.programs + report.masked.values().sum::<u64>()), (3, 3));
        assert_eq!(report.instructions, 30 * report.programs);
    }

    #[test]
    fn the_same_seed_draws_the_same_programs() {
        let draw = |seed| Toy { judged: 0 }.draw(&mut Random::new(seed, "fuzz")).insns;
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
}
