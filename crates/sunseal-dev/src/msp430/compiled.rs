// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random C programs, compiled by clang at every level of optimisation, beside mspdebug's simulator: all data and stack
//! in the end, and the registers that the program leaves.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use sunseal_isa::Silent;
use sunseal_isa::msp430::{Cpu, DaddOverflow, Exit, FlatBus, PC, PageKind, Timing};

use super::mspdebug::{ask, mspdebug, registers};
use crate::fuzz::{Program, Target, Verdict};
use crate::random::Random;
use crate::tools::{self, Scratch};

/// Data from its start, the stack down from its end.
const DATA: std::ops::Range<u32> = 0x0400..0x1200;
const CODE: u32 = 0x4000;
/// The loop behind the call in [`START`].
const STOP: u32 = CODE + 8;
/// Far more than a program of these statements takes.
const INSTRUCTIONS_MOST: u64 = 2_000_000;

const SCRIPT: &str = "ENTRY(start)
SECTIONS {
  .text 0x4000 : { *(.start) *(.text*) *(.rodata*) }
  .bss 0x400 (NOLOAD) : { *(.data*) *(.bss*) *(COMMON) }
  /DISCARD/ : { *(.comment) *(.note*) *(.MSP430.attributes) }
}
";

const HEAD: &str = "typedef unsigned char u8; typedef signed char s8;
typedef unsigned short u16; typedef short s16; typedef unsigned long u32; typedef long s32;
u16 a[8]; u8 b[8]; s16 s[8]; u32 l[4]; s8 c[4];
__attribute__((noinline)) static u16 mul(u16 x, u16 y) {
  u16 p = 0;
  while (y) { if (y & 1) p += x; x <<= 1; y >>= 1; }
  return p;
}
__attribute__((noinline)) static u16 depth(u16 n) { return n ? n + depth(n - 1) : a[7]; }
__attribute__((noinline)) static u32 wide(u32 x, s16 y, u8 z) { return (x ^ (u32)(s32)y) + z; }
__attribute__((noinline)) static u16 sum(const u8 *p, u16 n) { u16 t = 0; while (n--) t = (u16)(t << 1) + *p++; return t; }
static u16 (*const table[2])(u16, u16) = {mul, mul};
// What the compiler calls, and may not turn into calls of itself.
#define HELPER __attribute__((optnone, noinline, used))
HELPER u16 __mspabi_mpyi(u16 x, u16 y) { u16 p = 0; while (y) { if (y & 1) p += x; x += x; y >>= 1; } return p; }
HELPER u32 __mspabi_mpyl(u32 x, u32 y) { u32 p = 0; while (y) { if (y & 1) p += x; x += x; y >>= 1; } return p; }
HELPER void *memset(void *d, int v, u16 n) { u8 *p = d; while (n--) *p++ = (u8)v; return d; }
HELPER void *memcpy(void *d, const void *s, u16 n) { u8 *p = d; const u8 *q = s; while (n--) *p++ = *q++; return d; }
";

const START: &str = "__attribute__((naked, section(\".start\"))) void start(void) {
  __asm__(\"mov #0x1200, r1\\n call #body\\nstop: jmp stop\");
}
";

/// One C statement on the globals of [`HEAD`].
pub type Statement = String;

/// Our core beside mspdebug's simulator, on compiled programs.
pub struct Compiled {
    cpu: Cpu,
    bus: FlatBus,
    mspdebug: PathBuf,
    compiler: [PathBuf; 3],
    scratch: Scratch,
}

fn data(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed, "compiled");
    DATA.map(|_| random.value(8) as u8).collect()
}

/// Runs a program of the toolchain to its end.
fn run(command: &mut Command) -> Result<(), String> {
    let out = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    if out.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} fails: {}", String::from_utf8_lossy(&out.stderr)))
}

impl Compiled {
    /// A core with this timing.
    ///
    /// # Errors
    /// If mspdebug or the compiler is not there.
    pub fn new(timing: Timing) -> Result<Self, String> {
        let mut bus = FlatBus::new();
        bus.map(DATA, PageKind::Ram);
        bus.map(CODE..0x1_0000, PageKind::Code);
        let timing =
            Timing { push_sp_stores_old: true, dadd_overflow: DaddOverflow::Clear, ..timing };
        Ok(Self {
            cpu: Cpu::new(timing),
            bus,
            mspdebug: mspdebug()?,
            compiler: [
                tools::program("clang")?,
                tools::program("ld.lld")?,
                tools::program("llvm-objcopy")?,
            ],
            scratch: Scratch::new()?,
        })
    }

    /// The machine code of a program.
    fn compile(&self, program: &Program<Statement>) -> Result<Vec<u8>, String> {
        let [clang, lld, objcopy] = &self.compiler;
        let source = self.scratch.write("program.c", source(program).as_bytes())?;
        let script = self.scratch.write("program.ld", SCRIPT.as_bytes())?;
        let file = |name: &str| self.scratch.path().join(name);
        let (object, elf, binary) = (file("program.o"), file("program.elf"), file("program.bin"));
        let level = ["-O0", "-O1", "-O2", "-Os"][(program.memory % 4) as usize];
        let flags =
            ["--target=msp430", "-std=c11", "-ffreestanding", "-fwrapv", "-w", level, "-c", "-o"];
        run(Command::new(clang).args(flags).arg(&object).arg(&source))?;
        run(Command::new(lld).arg("-T").arg(&script).arg(&object).arg("-o").arg(&elf))?;
        run(Command::new(objcopy).args(["-O", "binary", "-j", ".text"]).args([&elf, &binary]))?;
        std::fs::read(&binary).map_err(|e| format!("cannot read {}: {e}", binary.display()))
    }

    /// Registers and memory where the program stops here, and how many instructions that took; or why it does not.
    fn ours(&mut self, code: &[u8], seed: u64) -> Result<([u32; 16], Vec<u8>, u64), String> {
        let window = DATA.start as usize..DATA.end as usize;
        let bytes = self.bus.bytes_mut();
        bytes[window.clone()].copy_from_slice(&data(seed));
        bytes[CODE as usize..][..code.len()].copy_from_slice(code);
        self.cpu.invalidate(CODE..0x1_0000);
        self.cpu.r = [0; 16];
        self.cpu.r[PC] = CODE;
        let mut count = 0;
        while self.cpu.r[PC] != STOP {
            if let Exit::Fault(fault) = self.cpu.step(&mut self.bus, &mut Silent) {
                return Err(fault.to_string());
            }
            count += 1;
            if count == INSTRUCTIONS_MOST {
                return Err(format!("it runs for {count} instructions"));
            }
        }
        Ok((self.cpu.r, self.bus.bytes()[window].to_vec(), count))
    }

    fn judge_one(&mut self, program: &Program<Statement>) -> Result<Verdict, String> {
        let code = self.compile(program)?;
        let (here, memory, instructions) = match self.ours(&code, program.memory) {
            Ok(end) => end,
            Err(why) => {
                return Ok(Verdict::Differ(format!("here it does not reach its end: {why}")));
            }
        };
        let (code, before) = (
            self.scratch.write("code", &code)?,
            self.scratch.write("data", &data(program.memory))?,
        );
        let after = self.scratch.path().join("after");
        let mut commands = format!("load_raw {} {CODE:#x}\n", code.display());
        let mut add = |line: String| commands.push_str(&format!("{line}\n"));
        add(format!("load_raw {} {:#x}", before.display(), DATA.start));
        for reg in 1..16 {
            add(format!("set {reg} 0"));
        }
        add(format!("set 0 {CODE:#x}"));
        add(format!("setbreak {STOP:#x}"));
        add("run".into());
        add(format!("save_raw {:#x} {} {}", DATA.start, DATA.end - DATA.start, after.display()));
        let answer = ask(&self.mspdebug, &self.scratch, &commands)?;
        let Some(there) = registers(&answer, "run").pop() else {
            return Ok(Verdict::Differ("there it does not reach its end".into()));
        };
        let here = here.map(|value| value & 0xFFFF);
        if let Some(reg) = (0..16).find(|&reg| here[reg] != there[reg]) {
            let (here, there) = (here[reg], there[reg]);
            return Ok(Verdict::Differ(format!(
                "R{reg} ends as {here:#x} here and {there:#x} there"
            )));
        }
        let theirs = std::fs::read(&after).map_err(|e| format!("mspdebug left no memory: {e}"))?;
        Ok(match (0..memory.len()).find(|&i| memory[i] != theirs[i]) {
            None => Verdict::Agree { instructions },
            Some(i) => Verdict::Differ(format!(
                "the byte at {:#x} ends as {:#x} here and {:#x} there",
                DATA.start as usize + i,
                memory[i],
                theirs[i]
            )),
        })
    }
}

/// The whole program in C.
fn source(program: &Program<Statement>) -> String {
    let mut text = format!("{HEAD}__attribute__((noinline)) void body(void) {{\n");
    for statement in &program.insns {
        text.push_str("  ");
        text.push_str(statement);
        text.push('\n');
    }
    text.push_str("}\n");
    text.push_str(START);
    text
}

/// Draws C. Multiplications are calls, since the multiplier's library is not there; shifts are by constants.
struct Draw<'a>(&'a mut Random);

impl Draw<'_> {
    fn variable(&mut self) -> String {
        let (name, len) = self.0.pick(&[("a", 7), ("b", 8), ("s", 8), ("l", 4), ("c", 4)]);
        match self.0.below(4) {
            0 => format!("{name}[b[{}] & 3]", self.0.below(8)),
            _ => format!("{name}[{}]", self.0.below(len)),
        }
    }

    fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.0.one_in(4) {
            return if self.0.one_in(3) {
                format!("{}", self.0.value(16))
            } else {
                self.variable()
            };
        }
        let (x, y) = (self.value(depth - 1), self.value(depth - 1));
        match self.0.below(14) {
            0 => format!("({x} + {y})"),
            1 | 2 => format!("({x} - {y})"),
            3 => format!("({x} & {y})"),
            4 => format!("({x} | {y})"),
            5 => format!("({x} ^ {y})"),
            6 => format!("((u16)({x}) >> {})", 1 + self.0.below(15)),
            7 => format!("((s16)({x}) >> {})", 1 + self.0.below(15)),
            8 => format!("((u32)({x}) << {})", 1 + self.0.below(31)),
            9 => format!("(~{x})"),
            10 => format!(
                "({x} {} {y} ? {x} : {y})",
                self.0.pick(&["<", "<=", "==", "!=", ">", ">="])
            ),
            11 => format!("mul({x}, {y})"),
            12 => format!("wide({x}, {y}, {x})"),
            _ => {
                self.0.pick(&["(s8)b[1]", "sum(b, 8)", "(u32)s[2]", "depth(5)", "(s32)c[3]"]).into()
            }
        }
    }

    fn assignment(&mut self) -> String {
        let (to, value) = (self.variable(), self.value(3));
        format!("{to} {} {value};", self.0.pick(&["=", "=", "+=", "-=", "^=", "|=", "&="]))
    }

    fn statement(&mut self) -> Statement {
        match self.0.below(8) {
            0 => {
                let (x, y) = (self.value(2), self.value(2));
                let compare = self.0.pick(&["<", "<=", "==", "!=", ">", ">="]);
                format!(
                    "if ({x} {compare} {y}) {{ {} }} else {{ {} }}",
                    self.assignment(),
                    self.assignment()
                )
            }
            1 => {
                let (count, body) = (1 + self.0.below(8), self.assignment());
                format!("for (u8 i = 0; i < {count}; i++) {{ a[i & 7] += i; {body} }}")
            }
            2 => {
                let mut text = format!("switch (b[{}] & 7) {{", self.0.below(8));
                for case in 0..7 {
                    // Writing to a string does not fail.
                    let _ = write!(text, " case {case}: {} break;", self.assignment());
                }
                format!("{text} default: {} }}", self.assignment())
            }
            3 => format!("a[{}] = table[{}](a[1], b[2]);", self.0.below(8), self.0.below(2)),
            _ => self.assignment(),
        }
    }
}

impl Target for Compiled {
    type Insn = Statement;

    fn name(&self) -> String {
        format!("{:?} and mspdebug 0.22 on compiled programs", self.cpu.timing().family)
    }

    fn batch(&self) -> usize {
        4
    }

    fn draw(&mut self, random: &mut Random) -> Program<Statement> {
        let memory = u64::from(random.word());
        let mut draw = Draw(random);
        let count = 2 + draw.0.below(10);
        Program {
            registers: Vec::new(),
            memory,
            insns: (0..count).map(|_| draw.statement()).collect(),
        }
    }

    fn judge(&mut self, programs: &[Program<Statement>]) -> Result<Vec<Verdict>, String> {
        programs.iter().map(|program| self.judge_one(program)).collect()
    }

    fn as_test(&self, program: &Program<Statement>, why: &str) -> String {
        format!(
            "// {why}\n#[test]\nfn compiled_{:08x}() {{\n    compiled_agrees({:#x}, &{:#?});\n}}",
            program.memory, program.memory, program.insns
        )
    }
}
