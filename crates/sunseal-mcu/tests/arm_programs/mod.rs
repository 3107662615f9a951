// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly for a Cortex-M4 with its registers' names, and machines that run it. The part is `support::PART` of the
//! tests that this is a module of.
// Some tests need what others do not.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Cycles, Silent};

use crate::support::PART;

/// Words that programs keep, one behind the other: `keep` in the assembly.
pub const KEPT: u32 = 0x2000_1000;

/// What a program for a part is made of.
pub struct Part {
    pub device: &'static str,
    /// Names of registers, and macros of the part's own.
    pub names: &'static str,
    pub flash: u32,
    pub stack_top: u32,
    pub vectors: usize,
    /// Bytes to which the first instruction is aligned.
    pub start_align: u32,
    /// What a program begins with unless it says that it is [bare](Program::bare).
    pub begin: &'static str,
    /// Cycles after which a program has lost its way.
    pub most_cycles: Cycles,
    /// Crystals on the board: oscillator and frequency in hertz.
    pub crystals: &'static [(&'static str, u32)],
}

const MACROS: &str = "
@ Stores a word, a halfword, a byte; loads a word or a halfword and keeps it.
.macro put addr, value
  ldr r0, =\\addr
  ldr r1, =\\value
  str r1, [r0]
.endm
.macro puth addr, value
  ldr r0, =\\addr
  ldr r1, =\\value
  strh r1, [r0]
.endm
.macro putb addr, value
  ldr r0, =\\addr
  ldr r1, =\\value
  strb r1, [r0]
.endm
.macro get reg, addr
  ldr \\reg, =\\addr
  ldr \\reg, [\\reg]
.endm
.macro geth reg, addr
  ldr \\reg, =\\addr
  ldrh \\reg, [\\reg]
.endm
.macro keepr reg
  str \\reg, [r7], #4
.endm
.macro keep addr
  get r0, \\addr
  keepr r0
.endm
.macro keeph addr
  geth r0, \\addr
  keepr r0
.endm
@ Waits until bits of a register are set, or clear.
.macro until_set addr, bits
9993:
  get r0, \\addr
  ldr r1, =\\bits
  tst r0, r1
  beq 9993b
.endm
.macro until_clear addr, bits
9992:
  get r0, \\addr
  ldr r1, =\\bits
  tst r0, r1
  bne 9992b
.endm
.macro enable_irq n
  put (0xE000E100 + 4 * (\\n / 32)), (1 << (\\n % 32))
.endm
.macro priority n, p
  putb (0xE000E400 + \\n), \\p
.endm
@ The end: nothing wakes it.
.macro halt
  cpsid f
9991:
  wfi
  b 9991b
.endm
";

/// A program: `start` is its first instruction, R7 points at the kept words.
pub struct Program {
    text: String,
    vectors: Vec<(usize, String)>,
    begin: &'static str,
}

impl Program {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), vectors: Vec::new(), begin: PART.begin }
    }

    /// The handler of an exception by its number.
    pub fn exception(mut self, number: usize, label: &str) -> Self {
        self.vectors.push((number, label.to_owned()));
        self
    }

    /// The handler of an input of the NVIC.
    pub fn irq(self, input: usize, label: &str) -> Self {
        self.exception(16 + input, label)
    }

    /// Without what programs of this part begin with: on the MSP432 the watchdog runs.
    pub fn bare(mut self) -> Self {
        self.begin = "";
        self
    }

    fn source(&self) -> String {
        let vector = |n: usize| match self.vectors.iter().find(|v| v.0 == n) {
            Some((_, label)) => format!(".word {label} + 1\n"),
            None => ".word 0\n".to_owned(),
        };
        let vectors: String = (2..PART.vectors).map(vector).collect();
        let (text, begin) = (&self.text, self.begin);
        let Part { names, stack_top, start_align, .. } = PART;
        format!(
            ".syntax unified\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n.thumb\n.text\n.global start\n{names}{MACROS}\
             .word {stack_top:#x}\n.word start + 1\n{vectors}.balign {start_align}\nstart:\n  ldr r7, ={KEPT:#x}\n\
             {begin}{text}\n.balign 4\n.ltorg\n"
        )
    }

    /// Assembles and links it at the start of flash.
    pub fn elf(&self) -> Elf {
        let text = format!("-Wl,-Ttext={:#x}", PART.flash);
        build(&[("program.s", &self.source())], &["-nostdlib", &text, "-Wl,-e,start", "program.s"])
    }

    pub fn machine(&self) -> Run {
        Run::of(self.elf())
    }

    /// Runs it to its halt.
    pub fn run(&self) -> Run {
        let mut run = self.machine();
        run.halt();
        run
    }

    /// The fault that it ends in, as its sentence.
    pub fn fault(&self) -> String {
        self.machine().fault()
    }
}

/// A machine with the image that it runs.
pub struct Run {
    pub m: Machine,
    pub elf: Elf,
}

impl Run {
    pub fn of(elf: Elf) -> Self {
        let mut m = Machine::new(&Device::named(PART.device).unwrap());
        m.load(&elf).unwrap();
        for (oscillator, hz) in PART.crystals {
            m.fit_crystal(oscillator, *hz).unwrap();
        }
        Self { m, elf }
    }

    fn limit(&self) -> Until {
        Until { cycles: Some(self.m.cycles() + PART.most_cycles), ..Until::default() }
    }

    pub fn halt(&mut self) {
        let stop = self.m.run(&self.limit(), &mut Silent);
        assert_eq!(stop, Stop::Halted, "at {:#010x}", self.m.pc());
    }

    /// Runs to a label; the cycles at which it is there.
    pub fn to(&mut self, label: &str) -> Cycles {
        let addr = self.elf.symbol(label).unwrap().addr & !1;
        let until = Until { pc: vec![addr], ..self.limit() };
        let stop = self.m.run(&until, &mut Silent);
        assert_eq!(stop, Stop::Pc(addr), "on the way to {label}, at {:#010x}", self.m.pc());
        self.m.cycles()
    }

    /// Microseconds from here to a label.
    pub fn us_to(&mut self, label: &str) -> f64 {
        let start = self.m.time();
        self.to(label);
        self.m.time().since(start).as_seconds() * 1e6
    }

    pub fn fault(&mut self) -> String {
        match self.m.run(&self.limit(), &mut Silent) {
            Stop::Fault(f) => f.to_string(),
            other => panic!("no fault but {other:?} at {:#010x}", self.m.pc()),
        }
    }

    pub fn word(&self, addr: u32) -> u32 {
        let b = self.m.read_mem(addr, 4).unwrap();
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }

    /// The n-th kept word.
    pub fn kept(&self, n: u32) -> u32 {
        self.word(KEPT + 4 * n)
    }

    pub fn reg(&self, name: &str) -> u32 {
        self.m.register(name).unwrap()
    }
}

/// Where a program is: on PATH or where `firmware/toolchain/get` puts it.
fn tool(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |folder: PathBuf| Some(folder.join(name)).filter(|program| program.is_file());
    let on_path = std::env::split_paths(&path).find_map(is_there);
    on_path
        .or_else(|| {
            let get = root.join("firmware/toolchain/get");
            let args = ["--for", "tests", "--print-bin"];
            let out = Command::new("python3").arg(get).args(args).output().ok()?;
            is_there(PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()))
        })
        .unwrap_or_else(|| {
            panic!("{name} is neither on PATH nor fetched; `firmware/toolchain/get --for tests` brings it")
        })
}

/// Compiles a C program with its own linker script and the compiler's library.
pub fn compile(source: &str, script: &str) -> Elf {
    let files = [("program.c", source), ("program.ld", script)];
    let args = ["-O2", "-nostartfiles", "-specs=nosys.specs", "-Tprogram.ld", "program.c"];
    build(&files, &args)
}

fn build(files: &[(&str, &str)], args: &[&str]) -> Elf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("arm-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let mut command = Command::new(tool("arm-none-eabi-gcc"));
    command.current_dir(&folder).args(["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard"]);
    command.args(["-mfpu=fpv4-sp-d16", "-g", "-o", "program.elf"]).args(args);
    let out = command.output().unwrap();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "arm-none-eabi-gcc: {error}");
    let elf = std::fs::read(folder.join("program.elf")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    Elf::parse(&elf).unwrap()
}
