// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly with register names, and machines that run it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Cycles, Silent};

/// Words that programs keep, one behind the other: `keep` in the assembly.
pub const KEPT: u32 = 0x2000_1000;

const REGISTERS: &str = "
.equ WDTCTL,        0x4000480C
.equ TA0,           0x40000000
.equ TA1,           0x40000400
.equ UCA0,          0x40001000
.equ UCB0,          0x40002000
.equ REFCTL0,       0x40003000
.equ AES,           0x40003C00
.equ CRC32,         0x40004000
.equ RTC,           0x40004400
.equ DIO,           0x40004C00
.equ P1OUT,         0x40004C02
.equ P1DIR,         0x40004C04
.equ PASEL0,        0x40004C0A
.equ P1IV,          0x40004C0E
.equ P1IES,         0x40004C18
.equ P1IE,          0x40004C1A
.equ P1IFG,         0x40004C1C
.equ PJSEL0,        0x40004D2A
.equ T32,           0x4000C000
.equ DMA_CH0_SRCCFG, 0x4000E010
.equ DMA_INT0_CLRFLG, 0x4000E114
.equ DMA_SW_CHTRIG, 0x4000E004
.equ DMA_CFG,       0x4000F004
.equ DMA_CTLBASE,   0x4000F008
.equ DMA_ENASET,    0x4000F028
.equ PCMCTL0,       0x40010000
.equ PCMCTL1,       0x40010004
.equ PCMIFG,        0x4001000C
.equ CSKEY,         0x40010400
.equ CSCTL0,        0x40010404
.equ CSCTL1,        0x40010408
.equ CSCTL2,        0x4001040C
.equ CSSTAT,        0x40010434
.equ CSIFG,         0x40010448
.equ CSCLRIFG,      0x40010450
.equ FLCTL,         0x40011000
.equ BANK0_RDCTL,   0x40011010
.equ BANK1_RDCTL,   0x40011014
.equ PRG_CTLSTAT,   0x40011050
.equ ERASE_CTLSTAT, 0x400110A0
.equ ERASE_SECTADDR, 0x400110A4
.equ BANK0_MAIN_WEPROT, 0x400110B4
.equ BANK1_MAIN_WEPROT, 0x400110C4
.equ FLCTL_IFG,     0x400110F0
.equ FLCTL_IE,      0x400110F4
.equ FLCTL_CLRIFG,  0x400110F8
.equ ADC14,         0x40012000
.equ RSTCTL,        0xE0042000
.equ SYS_SRAM_BANKEN, 0xE0043014
.equ SYS_SRAM_BANKRET, 0xE0043018
.equ DWT_CTRL,      0xE0001000
.equ DWT_CYCCNT,    0xE0001004
.equ DWT_EXCCNT,    0xE000100C
.equ SYST_CSR,      0xE000E010
.equ SYST_RVR,      0xE000E014
.equ SYST_CVR,      0xE000E018
.equ ISER0,         0xE000E100
.equ ISER1,         0xE000E104
.equ ISPR0,         0xE000E200
.equ ICPR0,         0xE000E280
.equ IPR,           0xE000E400
.equ ICSR,          0xE000ED04
.equ VTOR,          0xE000ED08
.equ AIRCR,         0xE000ED0C
.equ SCR,           0xE000ED10
.equ CCR,           0xE000ED14
.equ SHPR3,         0xE000ED20
.equ SHCSR,         0xE000ED24
.equ CFSR,          0xE000ED28
.equ HFSR,          0xE000ED2C
.equ BFAR,          0xE000ED38
.equ CPACR,         0xE000ED88
.equ DEMCR,         0xE000EDFC
.equ STIR,          0xE000EF00

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

/// A program: `start` is its first instruction, the watchdog is held, R7 points at the kept words.
pub struct Program {
    text: String,
    vectors: Vec<(usize, String)>,
    watchdog: bool,
}

impl Program {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), vectors: Vec::new(), watchdog: false }
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

    /// Leaves the watchdog running.
    pub fn with_watchdog(mut self) -> Self {
        self.watchdog = true;
        self
    }

    fn source(&self) -> String {
        let mut s = String::from(
            ".syntax unified\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n.thumb\n.text\n.global start\n",
        );
        s.push_str(REGISTERS);
        s.push_str(".word 0x20010000\n.word start + 1\n");
        for n in 2..80 {
            match self.vectors.iter().find(|v| v.0 == n) {
                Some((_, label)) => writeln!(s, ".word {label} + 1").unwrap(),
                None => s.push_str(".word 0\n"),
            }
        }
        s.push_str(".balign 16\nstart:\n  ldr r7, =0x20001000\n");
        if !self.watchdog {
            s.push_str("  puth WDTCTL, 0x5A84\n");
        }
        s.push_str(&self.text);
        s.push_str("\n.balign 4\n.ltorg\n");
        s
    }

    /// The linked image.
    pub fn elf(&self) -> Elf {
        assemble(&self.source())
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
        let mut m = Machine::new(&Device::named("msp432p401r").unwrap());
        m.load(&elf).unwrap();
        Self { m, elf }
    }

    fn limit(&self) -> Until {
        Until { cycles: Some(self.m.cycles() + 20_000_000), ..Until::default() }
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

/// Links an assembly program at 0.
fn assemble(source: &str) -> Elf {
    build(&[("program.s", source)], &["-nostdlib", "-Wl,-Ttext=0", "-Wl,-e,start", "program.s"])
}

/// Compiles a C program with its own linker script and the compiler's library.
pub fn compile(source: &str, script: &str) -> Elf {
    let files = [("program.c", source), ("program.ld", script)];
    let args = ["-O2", "-nostartfiles", "-specs=nosys.specs", "-Tprogram.ld", "program.c"];
    build(&files, &args)
}

fn build(files: &[(&str, &str)], args: &[&str]) -> Elf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("msp432-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
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
