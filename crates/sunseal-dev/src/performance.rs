// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes `docs/reference/performance.md`: runs the benchmarks, reads what Criterion noted, and runs the same
//! programs in other simulators. Figures are of the machine that made them; no test looks at them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use sunseal_isa::{Access, Cycles, Flow, Observer, Width, avr, msp430, thumb};

use crate::msp430::{asm, mspdebug};
use crate::tools::{self, Driver, Scratch};

#[path = "../../sunseal-isa/tests/program/mod.rs"]
mod program;

/// For how long another simulator runs.
const SECONDS: u32 = 3;
/// Where the programs count their rounds (`crates/sunseal-isa/benches/programs`).
const AVR_ROUNDS: u16 = 0x0F00;
const THUMB_ROUNDS: u32 = 0x2000_7000;

/// What Criterion notes of a benchmark, as far as it is read here.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

#[derive(Deserialize)]
struct Benchmark {
    throughput: Throughput,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Throughput {
    elements: u64,
}

/// Nanoseconds a turn, with the bounds of their confidence interval, and elements a turn.
#[derive(Clone, Copy, Debug)]
struct Figure {
    ns: f64,
    lower_ns: f64,
    upper_ns: f64,
    elements: f64,
}

impl Figure {
    fn read(folder: &Path) -> Result<Self, String> {
        let estimates: Estimates = read(&folder.join("estimates.json"))?;
        let benchmark: Benchmark = read(&folder.join("benchmark.json"))?;
        let Estimate { point_estimate, confidence_interval } = estimates.median;
        Ok(Self {
            ns: point_estimate,
            lower_ns: confidence_interval.lower_bound,
            upper_ns: confidence_interval.upper_bound,
            elements: benchmark.throughput.elements as f64,
        })
    }

    /// Million elements a second.
    fn mega(self) -> f64 {
        self.elements / self.ns * 1e3
    }

    /// Half its confidence interval, in percent of it.
    fn spread(self) -> f64 {
        (self.upper_ns - self.lower_ns) / 2.0 / self.ns * 100.0
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, String> {
    let text = std::fs::read(path).map_err(|e| {
        format!("{}: {e}; without `--keep`, `cargo bench` makes it", path.display())
    })?;
    serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Observer that counts instructions, and nothing else.
#[derive(Default)]
struct Count(u64);

impl Observer for Count {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {
        self.0 += 1;
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// Cycles after which our cores are asked how far they came.
const CYCLES: Cycles = 20_000_000;

/// Instructions a round of the program, of the MSP430, on our core.
fn msp430_round() -> Result<f64, String> {
    let (mut cpu, mut bus) = program::machine(msp430::Timing::CPU);
    let mut count = Count::default();
    bus.deadline = CYCLES;
    match cpu.run(&mut bus, &mut count) {
        msp430::Exit::Deadline => Ok(count.0 as f64 / f64::from(bus.word(program::ROUNDS))),
        other => Err(format!("the benchmark's program ends with {other:?}")),
    }
}

fn avr_round(words: &[u16]) -> Result<f64, String> {
    let mut bus = avr::FlatBus::new();
    bus.load(0, words);
    bus.deadline = CYCLES;
    let mut count = Count::default();
    match avr::Cpu::new(avr::Timing::AVRE).run(&mut bus, &mut count) {
        avr::Exit::Deadline => {
            let at = usize::from(AVR_ROUNDS);
            let rounds = u16::from_le_bytes([bus.data()[at], bus.data()[at + 1]]);
            Ok(count.0 as f64 / f64::from(rounds))
        }
        other => Err(format!("the benchmark's program ends with {other:?}")),
    }
}

fn thumb_round(code: &[u8]) -> Result<f64, String> {
    let mut bus = thumb::FlatBus::new();
    bus.code_mut()[..code.len()].copy_from_slice(code);
    bus.scb.cpacr = 0xF << 20;
    bus.deadline = CYCLES;
    let mut cpu = thumb::Cpu::new(thumb::Timing::CORTEX_M4);
    cpu.r[thumb::SP] = thumb::FlatBus::RAM + 0x8000;
    let mut count = Count::default();
    match cpu.run(&mut bus, &mut count) {
        thumb::Exit::Deadline => {
            let at = (THUMB_ROUNDS - thumb::FlatBus::RAM) as usize;
            let rounds = u16::from_le_bytes([bus.ram()[at], bus.ram()[at + 1]]);
            Ok(count.0 as f64 / f64::from(rounds))
        }
        other => Err(format!("the benchmark's program ends with {other:?}")),
    }
}

/// A file of a program that a tool makes of others, in `folder`.
fn make(folder: &Path, tool: &str, args: &[&str]) -> Result<(), String> {
    let done = Command::new(tools::program(tool)?).current_dir(folder).args(args).output();
    let done = done.map_err(|e| format!("{tool} cannot be run: {e}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{tool} {args:?}: {}", String::from_utf8_lossy(&done.stderr)))
}

fn source(name: &str) -> String {
    let path = tools::root().join("crates/sunseal-isa/benches/programs").join(name);
    path.display().to_string()
}

/// The flash image that the AVR's benchmark runs.
fn avr_program(folder: &Path) -> Result<Vec<u16>, String> {
    let flags = ["-mmcu=atmega128", "-O2", "-std=gnu99", "-o", "avr.elf"];
    make(folder, "avr-gcc", &[&flags[..], &[&source("avr.c")]].concat())?;
    let sections = ["-O", "binary", "-j", ".text", "-j", ".data", "avr.elf", "avr.bin"];
    make(folder, "avr-objcopy", &sections)?;
    let bytes = std::fs::read(folder.join("avr.bin")).map_err(|e| e.to_string())?;
    Ok(bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], *b.get(1).unwrap_or(&0)])).collect())
}

/// The image that the Cortex-M4's benchmark runs.
fn thumb_program(folder: &Path) -> Result<Vec<u8>, String> {
    let script = "SECTIONS { .text 0 : { *(.start) *(.text*) *(.rodata*) } \
                  .bss 0x20000000 (NOLOAD) : { *(.bss* .data* COMMON) } /DISCARD/ : { *(.ARM.*) } }";
    std::fs::write(folder.join("thumb.ld"), script).map_err(|e| e.to_string())?;
    let cpu = ["-mcpu=cortex-m4", "-mthumb", "-std=gnu11", "-ffreestanding", "-nostdlib"];
    let flags = ["-O2", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-Tthumb.ld", "-o", "thumb.elf"];
    let program = source("thumb.c");
    make(folder, "arm-none-eabi-gcc", &[&cpu[..], &flags, &[&program, "-lgcc"]].concat())?;
    let sections = ["-O", "binary", "-j", ".text", "thumb.elf", "thumb.bin"];
    make(folder, "arm-none-eabi-objcopy", &sections)?;
    std::fs::read(folder.join("thumb.bin")).map_err(|e| e.to_string())
}

/// Rounds and seconds that a driver answers with.
fn rounds(answer: &[u8]) -> Result<(f64, f64), String> {
    let word = |i: usize| {
        let bytes = answer.get(8 * i..8 * i + 8).ok_or("the driver's answer is cut short")?;
        Ok::<_, String>(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    };
    Ok((word(0)? as f64, word(1)? as f64 * 1e-9))
}

/// Million instructions a second of libsimavr.
fn simavr(folder: &Path) -> Result<f64, String> {
    let words = avr_program(folder)?;
    let driver = Driver::compile(folder, "simavr", include_str!("avr/speed.c"))?;
    let mut request: Vec<u8> = [words.len() as u32, AVR_ROUNDS.into(), SECONDS]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    request.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    let (done, time_s) = rounds(&driver.ask(request)?)?;
    Ok(done * avr_round(&words)? / time_s / 1e6)
}

/// Million instructions a second of Unicorn, which translates (it is QEMU's code).
fn unicorn(folder: &Path) -> Result<f64, String> {
    let code = thumb_program(folder)?;
    let driver = Driver::compile(folder, "unicorn", include_str!("thumb/speed.c"))?;
    let mut request: Vec<u8> =
        [code.len() as u32, THUMB_ROUNDS, SECONDS].iter().flat_map(|w| w.to_le_bytes()).collect();
    request.extend(&code);
    let (done, time_s) = rounds(&driver.ask(request)?)?;
    Ok(done * thumb_round(&code)? / time_s / 1e6)
}

/// CPU time of a process in seconds, from the kernel's clock ticks.
fn cpu_time_s(process: u32) -> Result<f64, String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let stat = stat.map_err(|e| format!("no times of process {process}: {e}"))?;
    let fields: Vec<&str> =
        stat.rsplit_once(')').map_or("", |f| f.1).split_whitespace().skip(11).take(2).collect();
    let ticks: f64 = fields.iter().filter_map(|t| t.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}

/// Million instructions a second of mspdebug's simulator, stopped by Ctrl-C as its user would.
fn mspdebug_speed() -> Result<f64, String> {
    let (words, start) = program::words();
    let mut commands = String::new();
    let mut put = |addr: u32, words: &[u16]| {
        for (n, chunk) in words.chunks(8).enumerate() {
            let _ = write!(commands, "mw {:#x}", addr + 16 * n as u32);
            for byte in chunk.iter().flat_map(|w| w.to_le_bytes()) {
                let _ = write!(commands, " {byte:#x}");
            }
            commands.push('\n');
        }
    };
    put(program::CODE, &words);
    put(program::ROUNDS, &[0]);
    put(program::FACTOR_A, &[0x1234, 0x5678, 0x9ABC, 0xDEF0]);
    put(program::FACTOR_B, &[0x0FED, 0xCBA9, 0x8765, 0x4321]);
    let _ = write!(commands, "set 2 0\nset 1 {:#x}\nset 0 {start:#x}\nrun\n", program::STACK);
    let mut child = Command::new(mspdebug::mspdebug()?)
        .args(["-n", "-q", "sim"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("mspdebug cannot be run: {e}"))?;
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let mut drive = || -> std::io::Result<Result<f64, String>> {
        stdin.write_all(commands.as_bytes())?;
        std::thread::sleep(Duration::from_secs(SECONDS.into()));
        let time_s = cpu_time_s(child.id());
        Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
        std::thread::sleep(Duration::from_millis(300));
        writeln!(stdin, "md {:#x} 2", program::ROUNDS)?;
        Ok(time_s)
    };
    let driven = drive();
    drop(stdin);
    let out = child.wait_with_output().map_err(|e| e.to_string())?;
    let time_s = driven.map_err(|e| format!("mspdebug does not listen: {e}"))??;
    let answer = String::from_utf8_lossy(&out.stdout).into_owned();
    let shown = format!("{:05x}: ", program::ROUNDS);
    let line = answer.lines().find_map(|l| l.trim().strip_prefix(&shown));
    let bytes: Vec<u16> = line
        .unwrap_or_default()
        .split_whitespace()
        .take(2)
        .filter_map(|b| u16::from_str_radix(b, 16).ok())
        .collect();
    let [low, high] = bytes[..] else {
        return Err(format!("mspdebug does not show its rounds:\n{answer}"));
    };
    Ok(f64::from(low | high << 8) * msp430_round()? / time_s / 1e6)
}

fn first_line(program: &Path, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output();
    let text = out.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").trim().to_owned()
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |name: &str| {
        let line = info.lines().find(|l| l.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let cores = info.lines().filter(|l| l.starts_with("processor")).count();
    format!("{}, {cores} logical cores", named("model name").unwrap_or_else(|| "unknown".into()))
}

/// Names of machines in the order of the table.
const MACHINES: [&str; 6] =
    ["msp430f1611", "msp430f5438a", "msp430fr5994", "atmega128l", "msp432p401r", "stm32l476rg"];
const KINDS: [&str; 5] = ["silent", "counting", "leakage", "taint", "leakage-and-taint"];

/// Where Criterion keeps its figures.
fn criterion() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| tools::root().join("target"), PathBuf::from).join("criterion")
}

/// A speed by the yardstick's, and itself.
fn cell(figure: Result<Figure, String>, yardstick: Figure) -> String {
    figure.map_or_else(
        |_| "—".to_owned(),
        |f| format!("{:.2} ({:.0})", f.mega() / yardstick.mega(), f.mega()),
    )
}

/// Commit that the page was measured of, as `sunseal bench --check` reads it.
fn provenance() -> String {
    let git = |args: &[&str]| Command::new("git").current_dir(tools::root()).args(args).output();
    let as_committed = git(&["diff", "--quiet", "HEAD", "--", "crates", "Cargo.lock"]);
    let head = git(&["rev-parse", "HEAD"]).ok().filter(|out| out.status.success());
    match (as_committed, head) {
        (Ok(done), Some(head)) if done.status.success() => {
            format!("of commit {}", String::from_utf8_lossy(&head.stdout).trim())
        }
        _ => "of code that no commit has,".to_owned(),
    }
}

/// Mean number of processes that wanted a processor in the last minute.
fn load_average() -> String {
    let told = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split(' ').next().filter(|l| !l.is_empty()).unwrap_or("unknown").to_owned()
}

fn report() -> Result<String, String> {
    let scratch = Scratch::new()?;
    let folder = scratch.path();
    let figure =
        |group: &str, name: &str| Figure::read(&criterion().join(group).join(name).join("new"));
    let others = [
        ("msp430", "mspdebug 0.22's simulator, an interpreter without cycles", mspdebug_speed()?),
        ("avr", "libsimavr, an interpreter with cycles", simavr(folder)?),
        ("thumb", "libunicorn, QEMU's translator, without cycles", unicorn(folder)?),
    ];
    let load = load_average();
    let date = first_line(Path::new("date"), &["-u", "+%Y-%m-%d"]);
    let rustc = first_line(Path::new("rustc"), &["--version"]);
    let kernel = first_line(Path::new("uname"), &["-sr"]);
    let compiler = |name: &str| tools::program(name).map(|p| first_line(&p, &["--version"]));
    let (avr_gcc, arm_gcc) = (compiler("avr-gcc")?, compiler("arm-none-eabi-gcc")?);
    let mut text = format!(
        "# Performance\n\n\
         Generated by `cargo run --release -p sunseal-dev -- performance`, which runs `cargo bench -p sunseal-isa -p sunseal-mcu` \
         and then the same programs in other simulators; do not edit. No test looks at these figures: they are those of one machine on one day. \
         `sunseal bench --check` says whether the engine has changed since.\n\n\
         Measured {date} {} on {}, {kernel}, {rustc}, profile `release`, no flags for the processor. \
         Everything is CPU time of one core, Criterion's median. Other work costs it cache and clock, and the load was {load}: \
         a figure is first the ratio to the yardstick, a fixed loop that each group of benchmarks ends with, and behind it, in \
         brackets, million instructions a second.\n\n",
        provenance(),
        processor()
    );
    text.push_str(
        "## Cores\n\n\
         The interpreter alone with flat memory and an exact cycle limit before every instruction, on \
         `crates/sunseal-isa/benches`: multi-word multiplication, CRC, copies, calls. *Silent*: nobody looks on. \
         *Counting*: an observer hears of every instruction and data access, and counts cycles by where control went, \
         accesses and bits. *Leakage and taint*: a sample of Hamming weights and distances for each cycle, and a factor of \
         the multiplication marked and followed into nearly all that is computed (`crates/sunseal-mcu/benches/cores.rs`). \
         *Other* runs the same program; instructions are counted by the rounds it made.\n\n\
         | core | silent | counting | leakage and taint | other | which |\n|---|---|---|---|---|---|\n",
    );
    for (group, what, theirs) in &others {
        let name = match *group {
            "msp430" => "MSP430X (CPUXV2)",
            "avr" => "AVRe (ATmega128)",
            _ => "Cortex-M4F",
        };
        let yardstick = figure(group, "yardstick")?;
        let mut cells = String::new();
        for kind in ["silent", "counting", "leakage-and-taint"] {
            let f = figure(group, kind)?;
            let _ = write!(cells, " {} ± {:.0} % |", cell(Ok(f), yardstick), f.spread());
        }
        let ratio = theirs / yardstick.mega();
        let _ = writeln!(text, "| {name} |{cells} {ratio:.2} ({theirs:.0}) | {what} |");
    }
    let _ = writeln!(text, "\nPrograms by {avr_gcc} and {arm_gcc}; the MSP430's is assembly.");
    text.push_str(
        "\n## Machines\n\n\
         A whole machine with peripherals, events, wait states and its ledger open, on one ECDSA signature over secp160r1 by the bench image of its \
         board, from reset to halt. *Leakage*: a sample of Hamming weights and distances for each cycle. *Taint*: key and entropy marked and followed; \
         the mark is on most registers most of the time.\n\n\
         | device | silent | counting | leakage | taint | leakage and taint |\n|---|---|---|---|---|---|\n",
    );
    for device in MACHINES {
        let yardstick = figure(device, "yardstick")?;
        let cells = KINDS.map(|kind| cell(figure(device, kind), yardstick));
        let _ = writeln!(text, "| {device} | {} |", cells.join(" | "));
    }
    let (wakes, snapshot, fork) =
        (figure("machine", "wakes")?, figure("machine", "snapshot")?, figure("machine", "fork")?);
    let _ = write!(
        text,
        "\nOn the MSP430F5438A:\n\n| what | figure |\n|---|---|\n\
         | a node asleep in LPM3, woken 1024 times a second by a timer's interrupt | {:.0} simulated seconds a second |\n\
         | snapshot | {:.1} µs |\n| going back to one and running 100 cycles | {:.1} µs |\n\n\
         Runs to breakpoints, hooks and addresses (`Until::pc`) are as fast as free runs: breakpoints are marks among the decoded instructions, which the loop does not look for.\n",
        1e9 / wakes.ns,
        snapshot.ns / 1e3,
        fork.ns / 1e3,
    );
    Ok(text)
}

/// Measures and writes the page to `out`; with `keep`, with the figures of the last `cargo bench`.
///
/// # Errors
/// If a benchmark fails, or another simulator is not there.
pub fn write(out: &Path, keep: bool) -> Result<(), String> {
    if !keep {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let benches = ["bench", "-p", "sunseal-isa", "-p", "sunseal-mcu", "--benches"];
        let done = Command::new(cargo).current_dir(tools::root()).args(benches).status();
        let done = done.map_err(|e| format!("cargo cannot be run: {e}"))?;
        if !done.success() {
            return Err(format!("cargo bench ended with {done}"));
        }
    }
    let text = report()?;
    std::fs::write(out, text).map_err(|e| format!("cannot write {}: {e}", out.display()))
}
