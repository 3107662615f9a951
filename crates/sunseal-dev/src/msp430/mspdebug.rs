// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random instruction sequences beside mspdebug's simulator (Debian's 0.22, the 16-bit CPU): registers behind each
//! instruction, all memory in the end.
//!
//! A program is grown one instruction at a time: what would leave the data window, access a word at an odd
//! address, stop the CPU, or meet a [known fault](fault_of_mspdebug) is thrown away and another drawn.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sunseal_isa::msp430::{
    Cpu, DaddOverflow, Exit, FlatBus, PC, PageKind, SP, SR, State, Timing, sr,
};
use sunseal_isa::{Access, Cycles, Flow, Observer, Width};

use super::asm::{self, Arg, Size};
use crate::fuzz::{Program, Target, Verdict};
use crate::random::Random;
use crate::tools::{self, Scratch};

/// Where data lies; no instruction may reach out of it.
const DATA: Range<u32> = 0x0400..0x1400;
/// The stack pointer stays in here, so that pushes stay in the window.
const STACK: Range<u32> = 0x0600..0x1200;
const CODE: u32 = 0x4000;
/// Room for the longest program.
const PITCH: u32 = 0x200;
const INSTRUCTIONS: u32 = 40;
const BATCH: usize = 80;
const FLAGS: u32 = sr::C | sr::Z | sr::N | sr::V;
/// Programs that fit behind [`CODE`].
const _: () = assert!(CODE as usize + BATCH * PITCH as usize <= 0x1_0000);

/// Where mspdebug 0.22 departs from the manual, and so is no judge.
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
        Form::Single("PUSH" | "CALL", _, Arg::X(_, 1) | Arg::At(1) | Arg::Inc(1)) => Some(
            "it decrements SP behind the operand; silicon in front of X(SP), and steps @SP+ last",
        ),
        Form::Double(_, _, Arg::R(0), Arg::X(..) | Arg::Abs(_)) => {
            Some("PC as a source does not count the destination's word; the FR5994 does")
        }
        Form::Double(_, _, Arg::Cg(2 | 4 | 8), Arg::R(1)) => None,
        Form::Double(_, _, _, Arg::R(1)) => {
            Some("SP may become odd; SLAU445I 4.3.2 has its lowest bit always zero")
        }
        _ => None,
    }
}

/// One instruction. `X(target, 0)`, the symbolic mode, has the address meant in place of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Double(&'static str, Size, Arg, Arg),
    Single(&'static str, Size, Arg),
    /// To the next instruction, whichever way.
    CallNext,
    BranchNext,
    /// Over `XOR #-1, Rn` or not.
    JumpOver(&'static str, u16),
}

/// The symbolic mode's index, given where its word is.
fn place(arg: Arg, word_at: u32) -> Arg {
    match arg {
        Arg::X(target, 0) => {
            Arg::X(i32::from((target as u32).wrapping_sub(word_at) as u16 as i16), 0)
        }
        arg => arg,
    }
}

fn has_word(arg: Arg) -> bool {
    matches!(arg, Arg::X(..) | Arg::Abs(_) | Arg::Imm(_))
}

impl Form {
    fn words(self, pc: u32) -> Vec<u16> {
        match self {
            Self::Double(op, size, src, dst) => {
                let behind = pc + 2 + 2 * u32::from(has_word(src));
                asm::double(op, size, place(src, pc + 2), place(dst, behind))
            }
            Self::Single(op, size, arg) => asm::single(op, size, place(arg, pc + 2)),
            Self::CallNext => asm::single("CALL", Size::W, Arg::Imm(pc + 4)),
            Self::BranchNext => asm::double("MOV", Size::W, Arg::Imm(pc + 4), Arg::R(0)),
            Self::JumpOver(condition, reg) => {
                let mut words = asm::jump(condition, 1);
                words.extend(asm::double("XOR", Size::W, Arg::Cg(-1), Arg::R(reg)));
                words
            }
        }
    }
}

/// Generator of random programs for the MSP430.
struct Draw<'a>(&'a mut Random);

impl Draw<'_> {
    fn general(&mut self) -> u16 {
        4 + self.0.below(12) as u16
    }

    /// An address in the data window, for words mostly.
    fn data(&mut self) -> u32 {
        (DATA.start + self.0.below(DATA.end - DATA.start)) & if self.0.one_in(8) { !0 } else { !1 }
    }

    fn word(&mut self) -> u32 {
        if self.0.one_in(3) { self.data() } else { self.0.value(16) }
    }

    /// `X(Rn)`, or the symbolic mode, that reaches the data window.
    fn indexed(&mut self, r: &[u32; 16]) -> Arg {
        let target = self.data();
        if self.0.one_in(6) {
            return Arg::X(target as i32, 0);
        }
        let reg = self.general();
        Arg::X(i32::from(target.wrapping_sub(r[usize::from(reg)]) as u16 as i16), reg)
    }

    /// A register that points into the data window, if there is one.
    fn pointer(&mut self, r: &[u32; 16]) -> u16 {
        (0..4).map(|_| self.general()).find(|&reg| DATA.contains(&r[usize::from(reg)])).unwrap_or(4)
    }

    fn source(&mut self, r: &[u32; 16]) -> Arg {
        match self.0.below(8) {
            0 => Arg::R(self.0.below(16) as u16),
            1 => Arg::R(self.general()),
            2 => self.indexed(r),
            3 => Arg::Abs(self.data()),
            4 => Arg::At(self.pointer(r)),
            5 => Arg::Inc(if self.0.one_in(6) { asm::SP } else { self.pointer(r) }),
            6 => Arg::Imm(self.word()),
            _ => Arg::Cg(self.0.pick(&[0, 1, 2, 4, 8, -1])),
        }
    }

    fn form(&mut self, r: &[u32; 16]) -> Form {
        match self.0.below(20) {
            0 => Form::CallNext,
            1 => Form::BranchNext,
            2 | 3 => {
                let all = ["JNE", "JEQ", "JNC", "JC", "JN", "JGE", "JL", "JMP"];
                Form::JumpOver(self.0.pick(&all), self.general())
            }
            4..8 => {
                let op = self.0.pick(&asm::SINGLE[..5]);
                let byte = matches!(op, "RRC" | "RRA" | "PUSH") && self.0.one_in(2);
                let arg = match self.source(r) {
                    Arg::Imm(_) | Arg::Cg(_) | Arg::R(_) if op != "PUSH" => Arg::R(self.general()),
                    arg => arg,
                };
                Form::Single(op, if byte { Size::B } else { Size::W }, arg)
            }
            _ => {
                let op = self.0.pick(&asm::DOUBLE);
                let size = if self.0.one_in(3) { Size::B } else { Size::W };
                let src = match self.source(r) {
                    Arg::Imm(_) if op == "DADD" => Arg::Imm(self.0.below(10) * 0x1011),
                    src => src,
                };
                let dst = match self.0.below(8) {
                    0 | 1 => self.indexed(r),
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

/// The data window's content.
fn data(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed, "data");
    DATA.map(|_| random.value(8) as u8).collect()
}

impl Ours {
    fn new(timing: Timing) -> Self {
        let mut bus = FlatBus::new();
        bus.map(DATA, PageKind::Ram);
        bus.map(CODE..0x1_0000, PageKind::Code);
        let kept = Box::new(*bus.bytes());
        // mspdebug's readings of what the manual leaves open: PUSH SP stores SP as it was, DADD clears V.
        let dadd_overflow = DaddOverflow::Clear;
        let cpu = Cpu::new(Timing { push_sp_stores_old: true, dadd_overflow, ..timing });
        Self { cpu, bus, kept }
    }

    fn start(&mut self, registers: &[u32], memory: u64) {
        let window = DATA.start as usize..DATA.end as usize;
        let data = data(memory);
        self.bus.bytes_mut()[window.clone()].copy_from_slice(&data);
        self.kept[window].copy_from_slice(&data);
        self.cpu.r.copy_from_slice(registers);
    }

    /// Puts one instruction at PC and runs it, both of a jump where it is not taken. Registers behind each; or why it
    /// may not stay, and then all is as it was.
    fn try_form(&mut self, form: Form) -> Result<Vec<[u32; 16]>, &'static str> {
        let before = self.cpu.state();
        let pc = before.r[PC];
        if let Some(why) = fault_of_mspdebug(&form, &before.r) {
            return Err(why);
        }
        let words = form.words(pc);
        let end = pc + 2 * words.len() as u32;
        self.bus.load(pc, &words);
        self.cpu.invalidate(pc..end);
        let mut behind = Vec::new();
        while behind.is_empty() || matches!(form, Form::JumpOver(..)) && self.cpu.r[PC] != end {
            if !self.step(&before) {
                return Err("it leaves the data window, its words are odd, or it stops the CPU");
            }
            behind.push(self.cpu.r);
        }
        Ok(behind)
    }

    fn step(&mut self, before: &State) -> bool {
        let mut watch = Watch::default();
        let exit = self.cpu.step(&mut self.bus, &mut watch);
        let r = &self.cpu.r;
        let stays = exit == Exit::Deadline
            && !watch.astray
            && r[SR] & !FLAGS == 0
            && STACK.contains(&r[SP]);
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

    fn memory(&self) -> &[u8] {
        &self.bus.bytes()[DATA.start as usize..DATA.end as usize]
    }
}

/// What a program does here.
struct Expected {
    words: Vec<u16>,
    /// Which instruction, and the registers behind it.
    steps: Vec<(usize, [u32; 16])>,
    memory: Vec<u8>,
}

/// Our core beside mspdebug's simulator.
pub struct Mspdebug {
    ours: Ours,
    program: PathBuf,
    scratch: Scratch,
}

impl Mspdebug {
    /// The 16-bit core, whose instructions these are.
    ///
    /// # Errors
    /// If mspdebug is not there or is not the version whose faults are known.
    pub fn cpu() -> Result<Self, String> {
        Self::new(Timing::CPU)
    }

    /// The MSP430X core, which runs the same instructions.
    ///
    /// # Errors
    /// As [`cpu`](Self::cpu).
    pub fn cpuxv2() -> Result<Self, String> {
        Self::new(Timing::CPUXV2)
    }

    fn new(timing: Timing) -> Result<Self, String> {
        let program = mspdebug()?;
        Ok(Self { ours: Ours::new(timing), program, scratch: Scratch::new()? })
    }

    fn expect(&mut self, program: &Program<Form>, at: u32) -> Result<Expected, &'static str> {
        let mut registers = program.registers.clone();
        registers[PC] = at;
        self.ours.start(&registers, program.memory);
        let (mut words, mut steps) = (Vec::new(), Vec::new());
        for (i, &form) in program.insns.iter().enumerate() {
            words.extend(form.words(self.ours.cpu.r[PC]));
            steps.extend(self.ours.try_form(form)?.into_iter().map(|r| (i, r)));
        }
        Ok(Expected { words, steps, memory: self.ours.memory().to_vec() })
    }
}

/// mspdebug 0.22.
///
/// # Errors
/// If it is not there or is another version.
pub fn mspdebug() -> Result<PathBuf, String> {
    let program = tools::program("mspdebug")?;
    let out = Command::new(&program).arg("--version").output();
    let out = out.map_err(|e| format!("{} cannot be run: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if !text.contains("version 0.22") {
        return Err(format!("faults are named for mspdebug 0.22; {} is {text}", program.display()));
    }
    Ok(program)
}

/// mspdebug's answer to a file of commands.
///
/// # Errors
/// If it cannot be run or does not answer.
pub fn ask(program: &Path, scratch: &Scratch, commands: &str) -> Result<String, String> {
    let script = scratch.write("commands", commands.as_bytes())?;
    let answer = scratch.write("answer", b"")?;
    let open = fs::File::options().write(true).open(&answer);
    let file = open.map_err(|e| format!("cannot write {}: {e}", answer.display()))?;
    let mut child = Command::new(program)
        .args(["-n", "-q", "sim", &format!("read {}", script.display())])
        .stdin(Stdio::null())
        .stdout(file.try_clone().map_err(|e| e.to_string())?)
        .stderr(file)
        .spawn()
        .map_err(|e| format!("{} cannot be run: {e}", program.display()))?;
    let begin = Instant::now();
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        if begin.elapsed() > Duration::from_secs(120) {
            child.kill().map_err(|e| e.to_string())?;
            return Err(format!(
                "mspdebug did not answer within two minutes; see {}",
                answer.display()
            ));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    fs::read_to_string(&answer).map_err(|e| format!("cannot read {}: {e}", answer.display()))
}

/// The registers that mspdebug shows behind each line that repeats `command`.
#[must_use]
pub fn registers(answer: &str, command: &str) -> Vec<[u32; 16]> {
    const NAMES: [&str; 16] = [
        "PC", "SP", "SR", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13",
        "R14", "R15",
    ];
    let mut all = Vec::new();
    for part in answer.split(&format!("=> {command}\n")).skip(1) {
        let mut r = BTreeMap::new();
        for item in part.lines().take(8).flat_map(|line| line.split(['(', ')'])) {
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

/// Compares one program with mspdebug's registers and memory.
fn compare(
    program: &Program<Form>,
    expected: &Expected,
    theirs: &mut impl Iterator<Item = [u32; 16]>,
    memory: &[u8],
) -> Verdict {
    let mut before = program.registers.clone();
    for (i, here) in &expected.steps {
        let form = &program.insns[*i];
        let Some(there) = theirs.next() else {
            return Verdict::Differ(format!("mspdebug stops at {form:?} from {before:x?}"));
        };
        // Theirs has 16 bits in a register.
        let here = here.map(|value| value & 0xFFFF);
        if let Some(reg) = (0..16).find(|&reg| here[reg] != there[reg]) {
            return Verdict::Differ(format!(
                "R{reg} is {:#x} here and {:#x} there behind {form:?} from {before:x?}",
                here[reg], there[reg]
            ));
        }
        before = here.to_vec();
    }
    match (0..memory.len()).find(|&i| memory[i] != expected.memory[i]) {
        None => Verdict::Agree { instructions: expected.steps.len() as u64 },
        Some(i) => Verdict::Differ(format!(
            "the byte at {:#x} is {:#x} here and {:#x} there in the end",
            DATA.start as usize + i,
            expected.memory[i],
            memory[i]
        )),
    }
}

impl Target for Mspdebug {
    type Insn = Form;

    fn name(&self) -> String {
        format!("{:?} and mspdebug 0.22", self.ours.cpu.timing().family)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn draw(&mut self, random: &mut Random) -> Program<Form> {
        let mut registers = vec![0; 16];
        let memory = u64::from(random.word());
        let mut draw = Draw(random);
        for value in &mut registers[4..] {
            *value = draw.word();
        }
        registers[SP] = (STACK.start + STACK.end) / 2;
        registers[SR] = draw.0.below(512) & FLAGS;
        registers[PC] = CODE;
        self.ours.start(&registers, memory);
        let count = 1 + draw.0.below(INSTRUCTIONS) as usize;
        let mut insns = Vec::new();
        while insns.len() < count {
            let form = draw.form(&self.ours.cpu.r);
            if self.ours.try_form(form).is_ok() {
                insns.push(form);
            }
        }
        Program { registers, memory, insns }
    }

    fn judge(&mut self, programs: &[Program<Form>]) -> Result<Vec<Verdict>, String> {
        let folder = self.scratch.path().to_owned();
        let after = |i: usize| folder.join(format!("{i}.after"));
        let mut commands = String::new();
        let mut expected = Vec::new();
        for (i, program) in programs.iter().enumerate() {
            let at = CODE + i as u32 * PITCH;
            let outcome = self.expect(program, at);
            if let Ok(ours) = &outcome {
                let code: Vec<u8> = ours.words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let code = self.scratch.write(&format!("{i}.code"), &code)?;
                let before = self.scratch.write(&format!("{i}.data"), &data(program.memory))?;
                let mut add = |line: std::fmt::Arguments| {
                    writeln!(commands, "{line}").map_err(|e| e.to_string())
                };
                add(format_args!("load_raw {} {at:#x}", code.display()))?;
                add(format_args!("load_raw {} {:#x}", before.display(), DATA.start))?;
                for (reg, value) in program.registers.iter().enumerate() {
                    add(format_args!("set {reg} {:#x}", if reg == PC { at } else { *value }))?;
                }
                for _ in &ours.steps {
                    add(format_args!("step"))?;
                }
                let length = DATA.end - DATA.start;
                add(format_args!("save_raw {:#x} {length} {}", DATA.start, after(i).display()))?;
            }
            expected.push(outcome);
        }
        let answer = ask(&self.program, &self.scratch, &commands)?;
        let mut theirs = registers(&answer, "step").into_iter();
        let mut verdicts = Vec::new();
        for (i, outcome) in expected.into_iter().enumerate() {
            verdicts.push(match outcome {
                Err(why) => Verdict::Masked(why),
                Ok(ours) => {
                    let memory =
                        fs::read(after(i)).map_err(|e| format!("mspdebug left no memory: {e}"))?;
                    compare(&programs[i], &ours, &mut theirs, &memory)
                }
            });
            if matches!(verdicts.last(), Some(Verdict::Differ(_))) {
                // What mspdebug shows from here on belongs to other programs.
                verdicts.extend(
                    (i + 1..programs.len()).map(|_| Verdict::Masked("one before it differs")),
                );
                break;
            }
        }
        Ok(verdicts)
    }

    fn simpler(&self, insn: &Form) -> Vec<Form> {
        match *insn {
            Form::Double(op, size, src, dst) => {
                let plain = |arg| matches!(arg, Arg::R(_) | Arg::Cg(_));
                let mut simpler = Vec::new();
                if !plain(src) {
                    simpler.extend(
                        [Arg::Cg(1), Arg::R(4)].map(|src| Form::Double(op, size, src, dst)),
                    );
                }
                if !plain(dst) {
                    simpler.push(Form::Double(op, size, src, Arg::R(5)));
                }
                simpler
            }
            Form::Single(op, size, arg) if !matches!(arg, Arg::R(_)) => {
                vec![Form::Single(op, size, Arg::R(4))]
            }
            _ => Vec::new(),
        }
    }

    fn as_test(&self, program: &Program<Form>, why: &str) -> String {
        format!(
            "// {why}\n#[test]\nfn seed_{:08x}() {{\n    agrees(Program {{\n        registers: vec!{:?},\n        memory: {:#x},\n        insns: vec!{:?},\n    }});\n}}",
            program.memory, program.registers, program.memory, program.insns
        )
    }
}
