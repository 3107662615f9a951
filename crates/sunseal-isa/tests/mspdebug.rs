// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core against mspdebug's simulator (Debian's 0.22, the 16-bit CPU): random sequences of all its
//! instructions; registers after each instruction, all memory in the end.
//!
//! A sequence is grown one instruction at a time: what would leave the data window, access a word at
//! an odd address, stop the CPU, or meet one of the simulator's [known faults](fault_of_mspdebug) is
//! thrown away and another drawn.

mod asm;

use asm::{Arg, Size};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use sunseal_isa::msp430::{Cpu, Exit, PC, SP, SR, State, Timing, sr};
use sunseal_isa::msp430::{FlatBus, PageKind};
use sunseal_isa::{Access, Cycles, Flow, Observer, Width};

const DATA: std::ops::Range<u32> = 0x0400..0x6000;
const STACK_TOP: u32 = 0x5000;
const CODE: u32 = 0x6000;
/// Room for the longest sequence.
const PITCH: u32 = 0x100;
const SEQUENCES: u32 = 150;
const INSTRUCTIONS: usize = 40;
const FLAGS: u32 = sr::C | sr::Z | sr::N | sr::V;

/// Where mspdebug 0.22 departs from the manual, and so no judge.
fn fault_of_mspdebug(form: &Form, r: &[u32; 16]) -> Option<&'static str> {
    match *form {
        Form::Double("DADD", size, src, dst) => {
            let digits = |arg| {
                let value = match arg {
                    Arg::R(reg @ 4..) => r[usize::from(reg)],
                    Arg::Imm(n) => n,
                    Arg::Cg(n @ 0..) => n as u32,
                    _ => 0xA,
                };
                let shown = if size == Size::B { 2 } else { 4 };
                (0..shown).all(|i| value >> (4 * i) & 0xF <= 9)
            };
            let known = digits(src) && digits(dst);
            (!known).then_some("DADD of digits above nine, or in memory: undefined in the manual")
        }
        Form::Single("PUSH", Size::B, _) => {
            Some("PUSH.B clears the byte above; the manual has it push a byte")
        }
        Form::Double(_, Size::B, Arg::Inc(1), _) | Form::Single(_, Size::B, Arg::Inc(1)) => {
            Some("@SP+ of a byte moves SP by one; SLAU445I 4.6.2 (POP) has it move by two")
        }
        Form::Double(_, _, Arg::Cg(2 | 4 | 8), Arg::R(1)) => None,
        Form::Double(_, _, _, Arg::R(1)) => {
            Some("SP may become odd; SLAU445I 4.3.2 has its lowest bit always zero")
        }
        _ => None,
    }
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Double(&'static str, Size, Arg, Arg),
    Single(&'static str, Size, Arg),
    /// To the next instruction, whichever way.
    CallNext,
    BranchNext,
    /// Over one word.
    Jump(&'static str),
}

impl Form {
    fn words(self, pc: u32) -> Vec<u16> {
        match self {
            Self::Double(op, size, src, dst) => asm::double(op, size, src, dst),
            Self::Single(op, size, arg) => asm::single(op, size, arg),
            Self::CallNext => asm::single("CALL", Size::W, Arg::Imm(pc + 4)),
            Self::BranchNext => asm::double("MOV", Size::W, Arg::Imm(pc + 4), Arg::R(0)),
            Self::Jump(condition) => asm::jump(condition, 1),
        }
    }
}

/// xorshift64*, so that every run draws the same sequences.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % u64::from(n)) as u32
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    fn general(&mut self) -> u16 {
        4 + self.below(12) as u16
    }

    /// An address in the data window, for words mostly.
    fn data(&mut self) -> u32 {
        (DATA.start + self.below(DATA.end - DATA.start)) & if self.below(8) == 0 { !0 } else { !1 }
    }

    /// A word of the kinds that show carries, signs and digits.
    fn word(&mut self) -> u32 {
        match self.below(4) {
            0 => self.pick(&[0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF]),
            1 => self.data(),
            _ => self.below(0x1_0000),
        }
    }

    /// `X(Rn)` or `X(PC)` that reaches the data window.
    fn indexed(&mut self, r: &[u32; 16], word_at: u32) -> Arg {
        let target = self.data();
        let reg = if self.below(6) == 0 { 0 } else { self.general() };
        let base = if reg == 0 { word_at } else { r[usize::from(reg)] };
        Arg::X(i32::from(target.wrapping_sub(base) as u16 as i16), reg)
    }

    fn source(&mut self, r: &[u32; 16], pc: u32) -> Arg {
        match self.below(8) {
            0 => Arg::R(self.below(16) as u16),
            1 => Arg::R(self.general()),
            2 => self.indexed(r, pc + 2),
            3 => Arg::Abs(self.data()),
            4 => Arg::At(self.general()),
            5 => Arg::Inc(if self.below(6) == 0 { asm::SP } else { self.general() }),
            6 => Arg::Imm(self.word()),
            _ => Arg::Cg(self.pick(&[0, 1, 2, 4, 8, -1])),
        }
    }

    fn form(&mut self, r: &[u32; 16], pc: u32) -> Form {
        match self.below(20) {
            0 => Form::CallNext,
            1 => Form::BranchNext,
            2 | 3 => Form::Jump(self.pick(&["JNE", "JEQ", "JNC", "JC", "JN", "JGE", "JL", "JMP"])),
            4..8 => {
                let op = self.pick(&asm::SINGLE[..5]);
                let byte = matches!(op, "RRC" | "RRA" | "PUSH") && self.below(2) == 0;
                let arg = match self.source(r, pc) {
                    Arg::Imm(_) | Arg::Cg(_) | Arg::R(_) if op != "PUSH" => Arg::R(self.general()),
                    arg => arg,
                };
                Form::Single(op, if byte { Size::B } else { Size::W }, arg)
            }
            _ => {
                let op = self.pick(&asm::DOUBLE);
                let size = if self.below(3) == 0 { Size::B } else { Size::W };
                let src = match self.source(r, pc) {
                    Arg::Imm(_) if op == "DADD" => Arg::Imm(self.below(10) * 0x1011),
                    src => src,
                };
                let extra = u32::from(matches!(src, Arg::X(..) | Arg::Abs(_) | Arg::Imm(_))) * 2;
                let dst = match self.below(8) {
                    0 | 1 => self.indexed(r, pc + 2 + extra),
                    2 => Arg::Abs(self.data()),
                    3 if matches!(src, Arg::Cg(1 | 2 | 4)) => Arg::R(asm::SR),
                    3 if matches!(op, "ADD" | "SUB") && size == Size::W => Arg::R(asm::SP),
                    _ => Arg::R(self.general()),
                };
                Form::Double(op, size, src, dst)
            }
        }
    }
}

/// Addresses written, and whether all accesses were in the data window.
#[derive(Default)]
struct Watch {
    written: Vec<u32>,
    astray: bool,
}

impl Observer for Watch {
    const INSTRUCTIONS: bool = false;
    const ACCESSES: bool = true;
    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {}
    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, _: u32, _: Cycles) {
        self.astray |= !DATA.contains(&addr);
        if kind == Access::Write {
            self.written.extend(addr..addr + width.bytes());
        }
    }
}

/// Our machine, with what memory was before the instruction that is being tried.
struct Ours {
    cpu: Cpu,
    bus: FlatBus,
    kept: Box<[u8; FlatBus::BYTES]>,
}

impl Ours {
    /// Runs one instruction; goes back to `before` and says false where it may not stay.
    fn try_step(&mut self, before: &State) -> bool {
        let mut watch = Watch::default();
        let exit = self.cpu.step(&mut self.bus, &mut watch);
        let r = &self.cpu.r;
        let stays = exit == Exit::Deadline
            && !watch.astray
            && r[SR] & !FLAGS == 0
            && (DATA.start + 0x100..=STACK_TOP).contains(&r[SP]);
        for addr in watch.written {
            let (from, to) = (self.kept.as_mut(), self.bus.bytes_mut());
            let (old, new) = (&mut from[addr as usize], &mut to[addr as usize]);
            if stays { *old = *new } else { *new = *old }
        }
        if !stays {
            self.cpu.set_state(before);
        }
        stays
    }

    fn put(&mut self, addr: u32, words: &[u16]) {
        self.bus.load(addr, words);
        for (i, byte) in words.iter().flat_map(|w| w.to_le_bytes()).enumerate() {
            self.kept[addr as usize + i] = byte;
        }
        self.cpu.invalidate(addr..addr + 2 * words.len() as u32);
    }
}

struct Sequence {
    start: [u32; 16],
    /// What ran, and the registers behind it.
    steps: Vec<(Form, [u32; 16])>,
}

fn grow(
    ours: &mut Ours,
    random: &mut Random,
    at: u32,
    skipped: &mut BTreeMap<&str, u32>,
) -> Sequence {
    let mut r = [0; 16];
    for value in &mut r[4..] {
        *value = random.word();
    }
    (r[PC], r[SP], r[SR]) = (at, STACK_TOP - 0x800, random.below(512) & FLAGS);
    ours.cpu.r = r;
    let (mut pc, mut steps) = (at, Vec::new());
    while steps.len() < INSTRUCTIONS {
        let before = ours.cpu.state();
        let form = random.form(&before.r, pc);
        if let Some(why) = fault_of_mspdebug(&form, &before.r) {
            *skipped.entry(why).or_default() += 1;
            continue;
        }
        let words = form.words(pc);
        ours.put(pc, &words);
        if !ours.try_step(&before) {
            continue;
        }
        pc += 2 * words.len() as u32;
        steps.push((form, ours.cpu.r));
        if let Form::Jump(_) = form {
            // What it jumps over, or not.
            let over = Form::Double("XOR", Size::W, Arg::Cg(-1), Arg::R(random.general()));
            ours.put(pc, &over.words(pc));
            if ours.cpu.r[PC] == pc {
                let before = ours.cpu.state();
                assert!(ours.try_step(&before), "{over:?} touches registers only");
                steps.push((over, ours.cpu.r));
            }
            pc += 2;
        }
        assert_eq!(ours.cpu.r[PC], pc, "behind {form:?}");
    }
    assert!(pc < at + PITCH);
    Sequence { start: r, steps }
}

/// mspdebug's answer to a file of commands, or why there is none.
fn mspdebug(folder: &Path, commands: &str) -> Result<String, String> {
    let script = folder.join("commands");
    std::fs::write(&script, commands).map_err(|e| e.to_string())?;
    let answer = folder.join("answer");
    let file = std::fs::File::create(&answer).map_err(|e| e.to_string())?;
    let mut child = Command::new("mspdebug")
        .args(["-n", "-q", "sim", &format!("read {}", script.display())])
        .stdin(Stdio::null())
        .stdout(file.try_clone().map_err(|e| e.to_string())?)
        .stderr(file)
        .spawn()
        .map_err(|e| format!("mspdebug cannot be run: {e}"))?;
    let begin = Instant::now();
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        if begin.elapsed() > Duration::from_secs(120) {
            child.kill().map_err(|e| e.to_string())?;
            panic!("mspdebug did not answer within two minutes; see {answer:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::read_to_string(&answer).map_err(|e| e.to_string())
}

/// The registers after each `step` command.
fn registers(answer: &str) -> Vec<[u32; 16]> {
    const NAMES: [&str; 16] = [
        "PC", "SP", "SR", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13",
        "R14", "R15",
    ];
    let mut all = Vec::new();
    for part in answer.split("=> step\n").skip(1) {
        let mut r = BTreeMap::new();
        for item in part.lines().take(4).flat_map(|line| line.split(['(', ')'])) {
            if let Some((name, value)) = item.split_once(": ") {
                let reg = NAMES.iter().position(|n| *n == name.trim());
                r.extend(reg.zip(u32::from_str_radix(value, 16).ok()));
            }
        }
        let values: Vec<u32> = r.into_values().collect();
        match values.try_into() {
            Ok(values) => all.push(values),
            Err(_) => break, // a message instead: it stopped there
        }
    }
    all
}

#[test]
fn random_sequences_end_as_in_mspdebugs_simulator() {
    let required = std::env::var("SUNSEAL_REQUIRE_TOOLS").as_deref() == Ok("1");
    match Command::new("mspdebug").arg("--version").output() {
        Ok(out) => {
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            assert!(text.contains("version 0.22"), "faults are named for mspdebug 0.22: {text}");
        }
        Err(e) if required => panic!("SUNSEAL_REQUIRE_TOOLS=1, but mspdebug cannot be run: {e}"),
        Err(e) => {
            println!("skipped: mspdebug cannot be run ({e}); `firmware/toolchain/get --for tests`");
            return;
        }
    }

    let mut random = Random(0x5EED_0430);
    let mut bus = FlatBus::new();
    bus.map(DATA, PageKind::Ram);
    bus.map(CODE..0x1_0000, PageKind::Code);
    for byte in &mut bus.bytes_mut()[DATA.start as usize..DATA.end as usize] {
        *byte = random.below(256) as u8;
    }
    let initial = bus.bytes()[DATA.start as usize..DATA.end as usize].to_vec();
    let kept = Box::new(*bus.bytes());
    // PUSH SP stores SP as it was, one of the two readings of SLAU445I figure 4-8.
    let cpu = Cpu::new(Timing { push_sp_stores_old: true, ..Timing::CPUXV2 }).unwrap();
    let mut ours = Ours { cpu, bus, kept };
    let mut skipped = BTreeMap::new();
    let sequences: Vec<Sequence> = (0..SEQUENCES)
        .map(|i| grow(&mut ours, &mut random, CODE + i * PITCH, &mut skipped))
        .collect();

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mspdebug");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    let code = &ours.bus.bytes()[CODE as usize..0x1_0000];
    std::fs::write(file("data"), &initial).unwrap();
    std::fs::write(file("code"), code).unwrap();
    let mut commands = format!("load_raw {} {:#x}\n", file("data"), DATA.start);
    writeln!(commands, "load_raw {} {CODE:#x}", file("code")).unwrap();
    for s in &sequences {
        for (i, value) in s.start.iter().enumerate() {
            writeln!(commands, "set {i} {value:#x}").unwrap();
        }
        commands += &"step\n".repeat(s.steps.len());
    }
    let length = DATA.end - DATA.start;
    writeln!(commands, "save_raw {:#x} {length} {}", DATA.start, file("after")).unwrap();
    let answer = mspdebug(&folder, &commands).unwrap();

    let mut theirs = registers(&answer).into_iter();
    for s in &sequences {
        let mut before = s.start;
        for (form, here) in &s.steps {
            let there = theirs.next().unwrap_or_else(|| {
                let end = answer.lines().rev().take(2).collect::<Vec<_>>();
                panic!("mspdebug stopped at {form:?} from {before:x?}: {end:?}")
            });
            // Theirs has 16 bits in a register.
            let here = here.map(|value| value & 0xFFFF);
            assert_eq!(here, there, "registers behind {form:?} from {before:x?}");
            before = here;
        }
    }
    let after = std::fs::read(file("after")).unwrap();
    let here = &ours.bus.bytes()[DATA.start as usize..DATA.end as usize];
    let differs = (0..here.len()).find(|&i| here[i] != after[i]).map(|i| DATA.start + i as u32);
    assert_eq!(differs, None, "the first byte of memory that differs");
    let count: usize = sequences.iter().map(|s| s.steps.len()).sum();
    println!("{count} instructions agree; not judged: {skipped:?}");
}
