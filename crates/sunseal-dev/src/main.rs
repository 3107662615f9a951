// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sunseal-dev`: makes and checks single-step files, fuzzes the cores against other simulators, measures
//! how fast they are.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use sunseal_dev::fuzz::{self, Target, Until};
use sunseal_dev::msp430::Compiled;
use sunseal_dev::single_step::{self, Core};
use sunseal_dev::tools::Scratch;
use sunseal_dev::{likely, performance, torture};
use sunseal_isa::msp430::Timing;

#[derive(Parser)]
#[command(
    name = "sunseal-dev",
    about = "Single-step test files and differential fuzzing of the instruction sets."
)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Test files of single instructions (docs/reference/single-step.md).
    SingleStep {
        #[arg(value_enum)]
        action: Action,
        /// Instruction set that is tested.
        #[arg(long, value_enum)]
        isa: Isa,
        /// The folder that has one for each instruction set.
        #[arg(long, default_value = "data/single-step")]
        out: PathBuf,
        /// What the cases are drawn from.
        #[arg(long, default_value_t = single_step::SEED)]
        seed: u64,
        /// Cases of each mnemonic.
        #[arg(long, default_value_t = single_step::CASES)]
        cases: usize,
    },
    /// Runs random programs here and in another simulator until they differ.
    Fuzz {
        /// Instruction set that is tested.
        #[arg(long, value_enum)]
        isa: Isa,
        /// Seconds that the campaign runs.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// What the programs are drawn from.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Compiled C programs instead of instruction sequences (MSP430).
        #[arg(long)]
        compiled: bool,
    },
    /// Runs GCC's torture tests here and in another simulator (`firmware/toolchain/get --for torture`).
    Torture {
        /// The instruction sets: msp430, avr, thumb.
        #[arg(value_enum)]
        isa: Vec<Isa>,
        /// Only so many of each, drawn from a seed.
        #[arg(long)]
        sample: Option<usize>,
        /// What the sample is drawn by; the same seed draws the same programs.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Only what is compiled at this level, such as -O2.
        #[arg(long)]
        level: Option<String>,
        /// Only the program of this name, without its ending.
        #[arg(long)]
        only: Option<String>,
    },
    /// Counts which instructions follow which in the bench images, for the cores' dispatch.
    Likely {
        /// Where the boards' images are.
        #[arg(long, default_value = "firmware/build")]
        firmware: PathBuf,
        /// Where the cores are.
        #[arg(long, default_value = "crates/sunseal-isa/src")]
        out: PathBuf,
    },
    /// Runs the benchmarks and other simulators, and writes what they take.
    Performance {
        /// File that the page is written to.
        #[arg(long, default_value = "docs/reference/performance.md")]
        out: PathBuf,
        /// With the figures of the last `cargo bench`.
        #[arg(long)]
        keep: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Action {
    Generate,
    /// Runs them on our core.
    Check,
}

#[derive(Clone, Copy, ValueEnum)]
enum Isa {
    /// MSP430 CPU of the 1xx devices.
    Msp430,
    /// First MSP430X CPU, of the 2xx and 4xx devices.
    Cpux,
    /// MSP430X CPU of the 5xx, 6xx and FR devices.
    Cpuxv2,
    /// AVRe+ as in the ATmega128.
    Avr,
    Thumb,
    ThumbFloat,
}

impl Isa {
    fn core(self) -> Box<dyn Core> {
        match self {
            Self::Msp430 => Box::new(sunseal_dev::msp430::SingleStep::cpu()),
            Self::Cpux => Box::new(sunseal_dev::msp430::SingleStep::cpux()),
            Self::Cpuxv2 => Box::new(sunseal_dev::msp430::SingleStep::cpuxv2()),
            Self::Avr => Box::new(sunseal_dev::avr::Avr::new()),
            Self::Thumb => Box::new(sunseal_dev::thumb::Thumb::integer()),
            Self::ThumbFloat => Box::new(sunseal_dev::thumb::Thumb::float()),
        }
    }

    fn fuzz(self, compiled: bool, seed: u64, until: Until) -> Result<(), String> {
        match self {
            Self::Msp430 if compiled => report(&mut Compiled::new(Timing::CPU)?, seed, until),
            Self::Cpuxv2 if compiled => report(&mut Compiled::new(Timing::CPUXV2)?, seed, until),
            _ if compiled => Err("compiled programs are there for msp430 and cpuxv2".into()),
            Self::Msp430 => report(&mut sunseal_dev::msp430::Mspdebug::cpu()?, seed, until),
            Self::Cpux => Err(
                "mspdebug's simulator has no timing: fuzz cpuxv2, which runs the same instructions"
                    .into(),
            ),
            Self::Cpuxv2 => report(&mut sunseal_dev::msp430::Mspdebug::cpuxv2()?, seed, until),
            Self::Avr => {
                let scratch = Scratch::new()?;
                report(&mut sunseal_dev::avr::Simavr::new(scratch.path())?, seed, until)
            }
            Self::Thumb | Self::ThumbFloat => {
                let scratch = Scratch::new()?;
                report(&mut sunseal_dev::thumb::Unicorn::new(scratch.path())?, seed, until)
            }
        }
    }
}

/// Fuzzes and says what came of it.
fn report<T: Target>(target: &mut T, seed: u64, until: Until) -> Result<(), String> {
    let (report, failure) = fuzz::run(target, seed, until)?;
    println!(
        "{}: {} programs, {} instructions agree",
        target.name(),
        report.programs,
        report.instructions
    );
    for (why, count) in report.masked {
        println!("not judged: {count} programs: {why}");
    }
    match failure {
        None => Ok(()),
        Some(failure) => {
            println!("{}", failure.test);
            Err(format!(
                "seed {seed}: {} instructions end differently: {}",
                failure.instructions, failure.why
            ))
        }
    }
}

fn run(options: Options) -> Result<(), String> {
    match options.command {
        Command::SingleStep { action: Action::Generate, isa, out, seed, cases } => {
            let bytes = single_step::write(isa.core().as_mut(), &out, seed, cases)?;
            println!("{bytes} bytes in {}", out.join(isa.core().name()).display());
        }
        Command::SingleStep { action: Action::Check, isa, out, .. } => {
            let cases = single_step::check_all(isa.core().as_mut(), &out, None)?;
            println!("{cases} cases end as the files say");
        }
        Command::Torture { isa, sample, seed, level, only } => {
            let mut jobs = match sample {
                Some(count) => torture::sample(seed, count)?,
                None => torture::whole()?,
            };
            jobs.retain(|job| level.as_ref().is_none_or(|level| *level == job.level));
            jobs.retain(|job| only.as_ref().is_none_or(|only| *only == job.name()));
            let mut good = true;
            for isa in isa {
                let report = match isa {
                    Isa::Cpuxv2 | Isa::Msp430 => torture::run(torture::Msp430::new, &jobs)?,
                    Isa::Avr => torture::run(torture::Avr::new, &jobs)?,
                    Isa::Thumb => torture::run(torture::Thumb::new, &jobs)?,
                    Isa::Cpux | Isa::ThumbFloat => {
                        return Err("torture tests are there for msp430, avr and thumb".into());
                    }
                };
                let name =
                    isa.to_possible_value().map_or(String::new(), |v| v.get_name().to_owned());
                println!("{name}: {report}");
                good &= report.is_good();
            }
            if !good {
                return Err("there are programs to look into".into());
            }
        }
        Command::Likely { firmware, out } => likely::write(&firmware, &out)?,
        Command::Performance { out, keep } => performance::write(&out, keep)?,
        Command::Fuzz { isa, seconds, seed, compiled } => {
            isa.fuzz(compiled, seed, Until::Elapsed(Duration::from_secs(seconds)))?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("sunseal-dev: {why}");
            ExitCode::FAILURE
        }
    }
}
