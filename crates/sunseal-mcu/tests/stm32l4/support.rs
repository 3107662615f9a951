// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly with register names, and machines that run it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Cycles, Silent};

/// Words that programs keep, one behind the other: `keep` in the assembly.
pub const KEPT: u32 = 0x2000_1000;

const REGISTERS: &str = "
.equ TIM2,      0x40000000
.equ RTC,       0x40002800
.equ IWDG,      0x40003000
.equ USART2,    0x40004400
.equ PWR_CR1,   0x40007000
.equ PWR_CR3,   0x40007008
.equ PWR_SR1,   0x40007010
.equ PWR_SR2,   0x40007014
.equ LPTIM1,    0x40007C00
.equ SYSCFG_EXTICR4, 0x40010014
.equ EXTI_IMR1, 0x40010400
.equ EXTI_RTSR1, 0x40010408
.equ EXTI_FTSR1, 0x4001040C
.equ EXTI_PR1,  0x40010414
.equ SPI1,      0x40013000
.equ RCC_CR,    0x40021000
.equ RCC_CFGR,  0x40021008
.equ RCC_PLLCFGR, 0x4002100C
.equ RCC_AHB2ENR, 0x4002104C
.equ RCC_APB1ENR1, 0x40021058
.equ RCC_APB2ENR, 0x40021060
.equ RCC_CCIPR, 0x40021088
.equ RCC_BDCR,  0x40021090
.equ RCC_CSR,   0x40021094
.equ FLASH_ACR, 0x40022000
.equ FLASH_KEYR, 0x40022008
.equ FLASH_SR,  0x40022010
.equ FLASH_CR,  0x40022014
.equ GPIOA,     0x48000000
.equ GPIOC,     0x48000800
.equ RNG,       0x50060800
.equ SCR,       0xE000ED10
.equ NVIC_ISER, 0xE000E100

@ Stores a word; loads a word and keeps it.
.macro put addr, value
  ldr r0, =\\addr
  ldr r1, =\\value
  str r1, [r0]
.endm
.macro get reg, addr
  ldr \\reg, =\\addr
  ldr \\reg, [\\reg]
.endm
.macro keepr reg
  str \\reg, [r7], #4
.endm
.macro keep addr
  get r0, \\addr
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
  put (NVIC_ISER + 4 * (\\n / 32)), (1 << (\\n % 32))
.endm
@ PWR has its clock and the backup domain can be written; LSE runs, waited for at 100 kHz, and is the RTC's clock.
.macro lse
  put RCC_APB1ENR1, 0x10000000
  put PWR_CR1, 0x300
  put RCC_BDCR, 1
  put RCC_CR, 0x09
  until_set RCC_BDCR, 2
  put RCC_CR, 0x69
  put RCC_BDCR, 0x8101
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
}

impl Program {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), vectors: Vec::new() }
    }

    /// The handler of an input of the NVIC.
    pub fn irq(mut self, input: usize, label: &str) -> Self {
        self.vectors.push((16 + input, label.to_owned()));
        self
    }

    fn source(&self) -> String {
        let vector = |n: usize| match self.vectors.iter().find(|v| v.0 == n) {
            Some((_, label)) => format!(".word {label} + 1\n"),
            None => ".word 0\n".to_owned(),
        };
        let vectors: String = (2..98).map(vector).collect();
        format!(
            ".syntax unified\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n.thumb\n.text\n.global start\n{REGISTERS}\
             .word 0x20018000\n.word start + 1\n{vectors}.balign 32\nstart:\n  ldr r7, =0x20001000\n{}\
             \n.balign 4\n.ltorg\n",
            self.text
        )
    }

    pub fn machine(&self) -> Run {
        let elf = assemble(&self.source());
        let mut m = Machine::new(&Device::named("stm32l476rg").unwrap());
        m.load(&elf).unwrap();
        m.fit_crystal("lse", 32_768).unwrap();
        Run { m, elf }
    }

    /// Runs it to its halt.
    pub fn run(&self) -> Run {
        let mut run = self.machine();
        run.halt();
        run
    }

    /// The fault that it ends in, as its sentence.
    pub fn fault(&self) -> String {
        let mut run = self.machine();
        match run.m.run(&run.limit(), &mut Silent) {
            Stop::Fault(f) => f.to_string(),
            other => panic!("no fault but {other:?} at {:#010x}", run.m.pc()),
        }
    }
}

/// A machine with the image that it runs.
pub struct Run {
    pub m: Machine,
    pub elf: Elf,
}

impl Run {
    fn limit(&self) -> Until {
        Until { cycles: Some(self.m.cycles() + 50_000_000), ..Until::default() }
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

    /// The n-th kept word.
    pub fn kept(&self, n: u32) -> u32 {
        let b = self.m.read_mem(KEPT + 4 * n, 4).unwrap();
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }
}

/// Where a program is: on PATH or where `firmware/toolchain/get` puts it.
fn tool(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file());
    found.unwrap_or_else(|| {
        let get = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware/toolchain/get");
        let args = ["--for", "tests", "--print-bin"];
        let out = Command::new("python3").arg(get).args(args).output().unwrap();
        PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()).join(name)
    })
}

/// Links an assembly program at the start of the flash.
fn assemble(source: &str) -> Elf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("stm32l4-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("program.s"), source).unwrap();
    let mut command = Command::new(tool("arm-none-eabi-gcc"));
    command.current_dir(&folder).args(["-mcpu=cortex-m4", "-mthumb", "-g", "-nostdlib"]);
    command.args(["-Wl,-Ttext=0x08000000", "-Wl,-e,start", "-o", "program.elf", "program.s"]);
    let out = command.output().unwrap();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "arm-none-eabi-gcc: {error}");
    let elf = std::fs::read(folder.join("program.elf")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    Elf::parse(&elf).unwrap()
}
