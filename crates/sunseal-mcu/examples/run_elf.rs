// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a bench image to its end and prints what it cost.
//!
//! `cargo run --release -p sunseal-mcu --example run_elf -- ELF [--input HEX] [--stack] [--profile]
//! [--lines] [--folded FILE] [--hash] [--vcc V] [--limit CYCLES] [--strict]`
//!
//! Input bytes go to the symbol `bench_input` (their number to `bench_input_len`), the run ends when the
//! machine halts (LPM4). Cycles are those between the edges of P1.0. `--profile` lists functions, `--lines`
//! the fifty most expensive source lines.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sunseal_mcu::device::RegionKind;
use sunseal_mcu::profile::{Profiler, StackWatch, TraceHash};
use sunseal_mcu::{Device, Elf, Machine, Pin, Stop, Until};
use sunseal_trace::Silent;

const MARK: Pin = Pin::new(1, 0);

#[derive(Default)]
struct Options {
    elf: String,
    input: Vec<u8>,
    stack: bool,
    profile: bool,
    lines: bool,
    folded: Option<String>,
    hash: bool,
    strict: bool,
    state: Option<PathBuf>,
    vcc_v: Option<f64>,
    limit: Option<u64>,
}

fn unhex(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    if !text.len().is_multiple_of(2) {
        return Err("--input needs an even number of hexadecimal digits".into());
    }
    (0..text.len())
        .step_by(2)
        .map(|i| {
            u8::from_str_radix(text.get(i..i + 2).unwrap_or("?"), 16)
                .map_err(|_| format!("--input has no hexadecimal byte at digit {i}").into())
        })
        .collect()
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut o = Options::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = |name: &str| args.next().ok_or_else(|| format!("{name} needs a value"));
        match arg.as_str() {
            "--input" => o.input = unhex(&value("--input")?)?,
            "--stack" => o.stack = true,
            "--profile" => o.profile = true,
            "--lines" => o.lines = true,
            "--folded" => o.folded = Some(value("--folded")?),
            "--hash" => o.hash = true,
            "--strict" => o.strict = true,
            "--state" => o.state = Some(value("--state")?.into()),
            "--vcc" => o.vcc_v = Some(value("--vcc")?.parse()?),
            "--limit" => o.limit = Some(value("--limit")?.parse()?),
            _ if arg.starts_with('-') => return Err(format!("unknown option {arg}").into()),
            _ => o.elf = arg,
        }
    }
    if o.elf.is_empty() {
        return Err("give the path of an ELF".into());
    }
    Ok(o)
}

/// Runs from edge to edge of the mark; at each, 16 registers as text and RAM and flash up to 0xFFFF.
fn keep_states(m: &mut Machine, folder: &Path) -> Result<(), Box<dyn Error>> {
    let regions = &m.device().memory;
    let whole = |kind| regions.iter().find(move |r| r.kind == kind);
    let (ram, flash) = (whole(RegionKind::Ram), whole(RegionKind::Flash));
    let (ram, flash) = ram.zip(flash).ok_or("the device has no RAM or no flash")?;
    let areas = [("ram", ram.start, ram.end), ("flash", flash.start, flash.end.min(0xFFFF))];
    for edge in ["begin", "end"] {
        match m.run(&Until::pin_edge(MARK), &mut Silent) {
            Stop::Pin(_) => {}
            other => return Err(format!("no {edge} of the mark: {other:?}").into()),
        }
        let registers: Vec<String> =
            m.registers().iter().map(|r| format!("{:05x}", r.value)).collect();
        std::fs::write(folder.join(format!("{edge}.registers")), registers.join("\n"))?;
        for (name, start, end) in areas {
            let bytes = m.read_mem(start, (end - start + 1) as usize)?;
            std::fs::write(folder.join(format!("{edge}.{name}.{start:05x}")), bytes)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => {
            eprintln!("run_elf: {e}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let o = options()?;
    let bytes = std::fs::read(&o.elf).map_err(|e| format!("{}: {e}", o.elf))?;
    let elf = Elf::parse(&bytes)?;
    let device = Device::msp430f5438a();
    let mut m = Machine::new(&device);
    if let Some(v) = o.vcc_v {
        m.set_vcc(v);
    }
    m.fault_on_lints(o.strict);
    m.load(&elf)?;
    if !o.input.is_empty() {
        m.write_symbol(&elf, "bench_input", &o.input)?;
        m.write_symbol(&elf, "bench_input_len", &(o.input.len() as u16).to_le_bytes())?;
    }
    let until = Until { cycles: o.limit, ..Until::default() };
    let mut profiler = Profiler::of(&device);
    if o.lines {
        profiler = profiler.by_address();
    }
    let mut stack = StackWatch::default();
    let mut hash = TraceHash::<true>::default();
    let begin = std::time::Instant::now();
    if let Some(folder) = &o.state {
        keep_states(&mut m, folder)?;
    }
    let stop = if o.profile || o.lines || o.folded.is_some() {
        m.run(&until, &mut profiler)
    } else if o.stack {
        m.run(&until, &mut stack)
    } else if o.hash {
        m.run(&until, &mut hash)
    } else {
        m.run(&until, &mut Silent)
    };
    let wall_s = begin.elapsed().as_secs_f64();
    print_results(&m, &elf, wall_s);
    if o.stack {
        println!("stack_bytes {}", stack.bytes());
    }
    if o.hash {
        println!("trace_hash {:016x} over {} instructions", hash.hash(), hash.instructions());
    }
    print_profile(&o, &profiler, &elf)?;
    print_books(&m, &elf);
    match stop {
        Stop::Halted => Ok(true),
        Stop::Fault(fault) => {
            let at = fault.pc().map_or(String::new(), |pc| format!(" in {}", elf.describe(pc)));
            println!("fault: {fault}{at}");
            Ok(false)
        }
        other => {
            println!("stopped: {other:?} at {}", elf.describe(m.reg(0)));
            Ok(false)
        }
    }
}

/// Cycles between the marks, sizes, and what the program says of itself.
fn print_results(m: &Machine, elf: &Elf, wall_s: f64) {
    let marks: Vec<_> = m.pin_log().iter().filter(|e| e.pin == MARK).copied().collect();
    for pair in marks.chunks(2) {
        if let [up, down] = pair {
            println!("cycles {}", down.cycles - up.cycles);
        }
    }
    println!(
        "cycles_total {} in {wall_s:.3} s of wall time ({:.1} Mcycle/s)",
        m.cycles(),
        m.cycles() as f64 / wall_s / 1e6
    );
    let sizes = elf.sizes(m.device());
    println!("flash_bytes {} ram_bytes {}", sizes.flash_bytes, sizes.ram_bytes);
    if let Ok(status) = m.read_symbol(elf, "bench_status") {
        println!("bench_status {}", i16::from_le_bytes([status[0], status[1]]));
    }
    if let Ok(output) = m.read_symbol(elf, "bench_output") {
        let hex = output.iter().fold(String::new(), |mut s, b| {
            let _ = write!(s, "{b:02x}");
            s
        });
        println!("bench_output {hex}");
    }
}

fn print_profile(o: &Options, profiler: &Profiler, elf: &Elf) -> Result<(), Box<dyn Error>> {
    if o.profile {
        println!("{:>12} {:>12}  function", "own", "with calls");
        for (name, own, all) in profiler.functions(elf) {
            println!("{own:>12} {all:>12}  {name}");
        }
    }
    for (line, cycles) in profiler.lines(elf).iter().take(50) {
        println!("{cycles:>12}  {line}");
    }
    if let Some(path) = &o.folded {
        std::fs::write(path, profiler.folded(elf))?;
    }
    Ok(())
}

/// Counted events and lints.
fn print_books(m: &Machine, elf: &Elf) {
    let ledger = m.ledger();
    for (event, count) in ledger.events() {
        println!("event {} {count}", m.vocabulary().event_name(event));
    }
    for lint in m.lints() {
        let place = elf.describe(lint.next_pc);
        let line = elf
            .line_at(lint.next_pc.saturating_sub(2))
            .map_or(String::new(), |l| format!(" {}:{}", l.file, l.line));
        println!(
            "lint x{} before {:#07x} ({place}{line}): {} [{:#06x}]",
            lint.count, lint.next_pc, lint.kind, lint.addr
        );
    }
}
