// SPDX-License-Identifier: MIT OR Apache-2.0
//! GCC's torture tests (`gcc.c-torture/execute`), programs that check themselves: compiled for each instruction set,
//! run here on the core as it runs firmware, and in another simulator of it. Both must end alike in status, registers,
//! memory and, where the other counts them, cycles.

mod build;
mod known;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use sunseal_mcu::Elf;

use crate::random::Random;
use crate::tools;

pub use build::{Avr, Msp430, Thumb};

/// The levels of optimisation of the whole; of a sample each program has one of them.
pub const LEVELS: [&str; 2] = ["-O0", "-O2"];

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// What it gave `exit`, 0x0BAD from `abort`; or why it never came there.
    pub status: Result<u32, String>,
    /// The registers, flags and program counter among them.
    pub registers: Vec<u32>,
    /// Its variables and stack.
    pub memory: Vec<u8>,
    /// Cycles from reset, from a simulator that counts them.
    pub cycles: Option<u64>,
}

/// An instruction set beside another simulator of it, and a compiler for it.
pub trait Place {
    /// As the command line has it.
    fn name(&self) -> &'static str;

    /// Effective targets of GCC's that it is not, and the triple by which tests leave it out.
    fn is_not(&self) -> Vec<&'static str>;

    /// Compiles and links.
    ///
    /// # Errors
    /// Why it cannot be built, or does not fit.
    fn build(&self, source: &Path, options: &[&str]) -> Result<Elf, String>;

    /// Runs it here to the function `ended`.
    fn here(&mut self, elf: &Elf, ended: u32) -> End;

    /// Runs it in the other simulator.
    ///
    /// # Errors
    /// If that cannot be run.
    fn there(&mut self, elf: &Elf, ended: u32) -> Result<End, String>;
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It finds itself right, and both simulators end alike.
    Passes,
    /// It finds itself wrong or never ends, and so it does in the other simulator: the compiler's doing, or its own.
    Fails(String),
    /// There is no program.
    NotBuilt(String),
    /// The two simulators do not agree.
    Differs(String),
}

/// A program and a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The C file in GCC's collection.
    pub source: PathBuf,
    /// Optimisation, as [`LEVELS`] lists them.
    pub level: &'static str,
}

impl Job {
    /// The file without its ending; those of `ieee/` with their folder, as some have a namesake.
    #[must_use]
    pub fn name(&self) -> String {
        let stem = self.source.file_stem().unwrap_or_default().to_string_lossy();
        let folder =
            if self.source.iter().rev().nth(1).is_some_and(|f| f == "ieee") { "ieee/" } else { "" };
        format!("{folder}{stem}")
    }
}

/// What became of many.
#[derive(Debug, Default)]
pub struct Report {
    /// Programs that find themselves right.
    pub passes: usize,
    /// Those that do not, in both simulators, with a reason that is known.
    pub known: BTreeMap<String, &'static str>,
    /// Those whose reason is not in the table of known ones.
    pub unknown: BTreeMap<String, String>,
    /// How many were not built, by the reason.
    pub not_built: BTreeMap<String, usize>,
    /// Programs that end differently in the two simulators.
    pub differ: BTreeMap<String, String>,
}

impl Report {
    /// Whether there is nothing to look into.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.differ.is_empty() && self.unknown.is_empty()
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { passes, known, unknown, not_built, differ } = self;
        let absent: usize = not_built.values().sum();
        writeln!(
            f,
            "{passes} pass, {} fail alike in both simulators, {} differ, {absent} are not built",
            known.len() + unknown.len(),
            differ.len()
        )?;
        for (name, why) in differ {
            writeln!(f, "  differs: {name}: {why}")?;
        }
        for (name, why) in unknown {
            writeln!(f, "  not in the table of known failures: {name}: {why}")?;
        }
        let mut reasons: BTreeMap<_, usize> = BTreeMap::new();
        for why in known.values() {
            *reasons.entry(why).or_default() += 1;
        }
        for (why, count) in reasons {
            writeln!(f, "  fail: {count}: {why}")?;
        }
        for (why, count) in not_built {
            writeln!(f, "  not built: {count}: {why}")?;
        }
        Ok(())
    }
}

/// All programs at all levels. Those of `builtins/` are of two files each and bring their own C library: left out.
///
/// # Errors
/// If they are not there, and how to get them.
pub fn whole() -> Result<Vec<Job>, String> {
    let folder = tools::torture()?;
    let mut jobs = Vec::new();
    for folder in [folder.clone(), folder.join("ieee")] {
        let files = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let files = files.filter_map(|file| Some(file.ok()?.path()));
        for source in files.filter(|path| path.extension().is_some_and(|e| e == "c")) {
            jobs.extend(LEVELS.map(|level| Job { source: source.clone(), level }));
        }
    }
    jobs.sort_by(|a, b| (&a.source, a.level).cmp(&(&b.source, b.level)));
    Ok(jobs)
}

/// So many of them, drawn from a seed.
///
/// # Errors
/// As [`whole`].
pub fn sample(seed: u64, count: usize) -> Result<Vec<Job>, String> {
    let mut jobs = whole()?;
    let mut random = Random::new(seed, "torture");
    let drawn = (0..count.min(jobs.len()))
        .map(|_| jobs.swap_remove(random.below(jobs.len() as u32) as usize));
    Ok(drawn.collect())
}

/// Options and needs that a program has in its comments for DejaGnu.
fn wants<'a>(source: &'a str, place: &dyn Place) -> Result<Vec<&'a str>, String> {
    let mut options = Vec::new();
    for line in source.lines() {
        let Some((_, line)) = line.split_once("{ dg-") else { continue };
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let (directive, first) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        match directive {
            "options" | "additional-options" if !line.contains("target ") => {
                options.extend(line.split('"').nth(1).unwrap_or("").split_whitespace());
            }
            "require-effective-target" if place.is_not().contains(&first) => {
                return Err(format!("it needs {first}"));
            }
            "skip-if" if place.is_not().iter().any(|what| line.contains(what)) => {
                return Err("GCC leaves it out for this target".to_owned());
            }
            _ => {}
        }
    }
    Ok(options)
}

/// Builds and runs one.
///
/// # Errors
/// If a tool cannot be run.
pub fn judge(place: &mut dyn Place, job: &Job) -> Result<Verdict, String> {
    // Some are not in UTF-8.
    let source =
        std::fs::read(&job.source).map_err(|e| format!("{}: {e}", job.source.display()))?;
    let source = String::from_utf8_lossy(&source).into_owned();
    let built = wants(&source, place).and_then(|mut options| {
        options.insert(0, job.level);
        place.build(&job.source, &options)
    });
    let elf = match built {
        Ok(elf) => elf,
        Err(why) => return Ok(Verdict::NotBuilt(why)),
    };
    let ended = elf.symbol("ended").map_err(|e| e.to_string())?.addr;
    let here = place.here(&elf, ended);
    let there = place.there(&elf, ended)?;
    Ok(compare(&here, &there))
}

fn compare(here: &End, there: &End) -> Verdict {
    let names = |end: &End| match &end.status {
        Ok(0x0BAD) => "it aborts".to_owned(),
        Ok(status) => format!("it ends with {status:#x}"),
        Err(why) => why.clone(),
    };
    match (&here.status, &there.status) {
        (Ok(a), Ok(b)) => {
            let mut differences = Vec::new();
            if a != b {
                differences.push(format!("{} here, {} there", names(here), names(there)));
            }
            if here.cycles != there.cycles {
                differences
                    .push(format!("{:?} cycles here, {:?} there", here.cycles, there.cycles));
            }
            for i in (0..here.registers.len()).filter(|&i| here.registers[i] != there.registers[i])
            {
                let (here, there) = (here.registers[i], there.registers[i]);
                differences.push(format!("register {i} is {here:#x} here, {there:#x} there"));
            }
            if let Some(i) = (0..here.memory.len()).find(|&i| here.memory[i] != there.memory[i]) {
                let (here, there) = (here.memory[i], there.memory[i]);
                differences.push(format!("byte {i:#x} of RAM is {here:#x} here, {there:#x} there"));
            }
            match a {
                _ if !differences.is_empty() => Verdict::Differs(differences.join(", ")),
                0 => Verdict::Passes,
                _ => Verdict::Fails(names(here)),
            }
        }
        // A program that leaves its memory does so here with a word, there without one.
        (Err(why), Ok(0)) => Verdict::Differs(format!("{why} here; there it passes")),
        (Err(_), _) => Verdict::Fails(names(here)),
        (Ok(_), Err(why)) => Verdict::Differs(format!("{} here; there {why}", names(here))),
    }
}

/// Holds a sample of them, the whole of which is `make test-all`, to be right and at least so many to have run.
///
/// # Panics
/// If a tool cannot be run, or a test went wrong, or too few ran.
pub fn sample_passes<P: Place>(make: impl Fn() -> Result<P, String> + Sync, least: usize) {
    let report = sample(0x6CC, 100).and_then(|jobs| run(make, &jobs)).expect("the tools run");
    assert!(report.is_good() && report.passes >= least, "{report}");
}

/// Judges all on as many threads as there are cores, each with a place of its own.
///
/// # Errors
/// If a tool cannot be run.
pub fn run<P: Place>(
    make: impl Fn() -> Result<P, String> + Sync,
    jobs: &[Job],
) -> Result<Report, String> {
    let (next, report) = (AtomicUsize::new(0), Mutex::new(Report::default()));
    let work = || {
        let mut place = make()?;
        while let Some(job) = jobs.get(next.fetch_add(1, Relaxed)) {
            let verdict = judge(&mut place, job)?;
            let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
            report.add(place.name(), job, verdict);
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err("a thread of the torture tests panicked".to_owned()))
        })
    })?;
    Ok(report.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl Report {
    fn add(&mut self, place: &str, job: &Job, verdict: Verdict) {
        let mut name = job.name();
        let reason = known::reason(place, &name);
        // Writing to a string does not fail.
        let _ = write!(name, " {}", job.level);
        match (verdict, reason) {
            // At one level, perhaps, and not at another.
            (Verdict::Passes, _) => self.passes += 1,
            (Verdict::Fails(_), Some(why)) => {
                self.known.insert(name, why);
            }
            (Verdict::Fails(why), None) => {
                self.unknown.insert(name, why);
            }
            (Verdict::NotBuilt(why), _) => *self.not_built.entry(why).or_default() += 1,
            (Verdict::Differs(why), _) => {
                self.differ.insert(name, why);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(status: Result<u32, String>, cycles: u64) -> End {
        End { status, registers: vec![1, 2], memory: vec![3; 4], cycles: Some(cycles) }
    }

    #[test]
    fn a_cycle_a_register_a_byte_and_a_program_that_only_ends_there_are_differences() {
        let good = end(Ok(0), 7);
        assert_eq!(compare(&good, &good), Verdict::Passes);
        assert!(matches!(compare(&end(Ok(0x0BAD), 7), &end(Ok(0x0BAD), 7)), Verdict::Fails(_)));
        let (mut register, mut byte) = (good.clone(), good.clone());
        register.registers[1] += 1;
        byte.memory[3] += 1;
        let lost = end(Err("unmapped".into()), 7);
        for other in [end(Ok(0), 8), end(Ok(1), 7), register, byte, lost.clone()] {
            assert!(matches!(compare(&other, &good), Verdict::Differs(_)), "{other:?}");
        }
        assert!(matches!(compare(&good, &lost), Verdict::Differs(_)));
        assert!(matches!(compare(&lost, &lost), Verdict::Fails(_)));
    }
}
