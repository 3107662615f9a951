// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compilers, and where their programs lie.

use std::path::{Path, PathBuf};
use std::process::Command;

use sunseal_isa::Silent;
use sunseal_isa::msp430::{self, FlatBus, PC, PageKind, Timing};
use sunseal_mcu::Elf;

use super::{End, Place};
use crate::avr::Simavr;
use crate::msp430::mspdebug;
use crate::thumb::{Linked, Unicorn};
use crate::tools::{self, Scratch};

/// What none of the small places has, in the words of GCC's test suite.
const NOWHERE: &[&str] = &["int128", "dfp", "mmap", "fileio", "trampolines", "signal"];

const END: &str = include_str!("end.c");

/// Why a compiler or linker refuses, as short as can be counted.
fn refusal(said: &str) -> String {
    let missing = said.lines().find_map(|line| {
        let (_, name) =
            line.split_once("undefined reference to").or(line.split_once("undefined symbol:"))?;
        Some(name.trim_matches([' ', '`', '\'']).to_owned())
    });
    match missing {
        Some(name) if name.starts_with("__") => {
            format!("it needs {name} of the compiler's library")
        }
        Some(name) => format!("it needs {name}()"),
        None if said.contains("overflow") || said.contains("will not fit") => {
            "it is too large".to_owned()
        }
        None if said.contains("LLVM ERROR") || said.contains("internal compiler error") => {
            "the compiler breaks".to_owned()
        }
        None => "the compiler refuses it".to_owned(),
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let done = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    if done.status.success() {
        Ok(())
    } else {
        Err(refusal(&String::from_utf8_lossy(&done.stderr)))
    }
}

fn parse(path: &Path) -> Result<Elf, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Elf::parse(&bytes).map_err(|e| e.to_string())
}

/// The bytes of all segments between two addresses: those where they are stored, or where the program sees them.
fn content(elf: &Elf, range: std::ops::Range<u32>, stored: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for segment in &elf.segments {
        let addr = if stored { segment.load_addr } else { segment.addr };
        if range.contains(&addr) {
            let at = (addr - range.start) as usize;
            bytes.resize(bytes.len().max(at + segment.data.len()), 0);
            bytes[at..at + segment.data.len()].copy_from_slice(&segment.data);
        }
    }
    bytes
}

/// Compiles what every program is linked with; the object.
fn support(
    scratch: &Scratch,
    compiler: &Path,
    flags: &[&str],
    name: &str,
    source: &str,
) -> Result<PathBuf, String> {
    let c = scratch.write(&format!("{name}.c"), source.as_bytes())?;
    let object = scratch.path().join(format!("{name}.o"));
    let done =
        Command::new(compiler).args(flags).args(["-w", "-c", "-o"]).arg(&object).arg(&c).output();
    let done = done.map_err(|e| format!("{} cannot be run: {e}", compiler.display()))?;
    if done.status.success() {
        return Ok(object);
    }
    Err(format!("{name}.c of the torture tests: {}", String::from_utf8_lossy(&done.stderr)))
}

/// The ATmega128 by avr-gcc, beside simavr.
pub struct Avr {
    simavr: Simavr,
    gcc: PathBuf,
    end: PathBuf,
    scratch: Scratch,
}

impl Avr {
    const DEVICE: &[&str] = &["-mmcu=atmega128"];
    /// What must be left of 4 KB of static memory for the stack.
    const STACK_BYTES: u32 = 256;

    /// # Errors
    /// If a tool is missing.
    pub fn new() -> Result<Self, String> {
        let (scratch, gcc) = (Scratch::new()?, tools::program("avr-gcc")?);
        let end = support(&scratch, &gcc, &[Self::DEVICE, &["-O1"]].concat(), "end", END)?;
        Ok(Self { simavr: Simavr::new(scratch.path())?, gcc, end, scratch })
    }

    fn flash(elf: &Elf) -> Vec<u16> {
        let bytes = content(elf, 0..0x2_0000, true);
        bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], *b.get(1).unwrap_or(&0)])).collect()
    }
}

impl Place for Avr {
    fn name(&self) -> &'static str {
        "avr"
    }

    fn is_not(&self) -> Vec<&'static str> {
        [NOWHERE, &["avr-*-*", "int32plus", "int32", "double64plus"]].concat()
    }

    fn build(&self, source: &Path, options: &[&str]) -> Result<Elf, String> {
        let elf = self.scratch.path().join("program.elf");
        let mut gcc = Command::new(&self.gcc);
        gcc.args(Self::DEVICE)
            .args(options)
            .args(["-w", "-o"])
            .arg(&elf)
            .arg(source)
            .arg(&self.end);
        run(gcc.arg("-lm"))?;
        let elf = parse(&elf)?;
        // The linker's own limit is that of the largest AVR.
        match elf.symbol("_end") {
            Ok(end) if end.addr > 0x80_1100 - Self::STACK_BYTES => {
                Err("it is too large".to_owned())
            }
            Ok(_) => Ok(elf),
            Err(e) => Err(e.to_string()),
        }
    }

    fn here(&mut self, elf: &Elf, ended: u32) -> End {
        Simavr::image_here(&Self::flash(elf), ended)
    }

    fn there(&mut self, elf: &Elf, ended: u32) -> Result<End, String> {
        self.simavr.image_there(&Self::flash(elf), ended)
    }
}

/// The Cortex-M4 by GCC with newlib, beside Unicorn.
pub struct Thumb {
    unicorn: Unicorn,
    gcc: PathBuf,
    script: PathBuf,
    objects: [PathBuf; 2],
    scratch: Scratch,
}

impl Thumb {
    const CORE: &[&str] = &["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"];
    const START: &str = "int main(); void exit(int);
__attribute__((section(\".start\"))) void _start(void) { exit(main()); }
int _write(int file, const char *text, int bytes) { return bytes; }
";

    /// # Errors
    /// If a tool is missing.
    pub fn new() -> Result<Self, String> {
        let (scratch, gcc) = (Scratch::new()?, tools::program("arm-none-eabi-gcc")?);
        let flags = [Self::CORE, &["-O1"]].concat();
        let objects = [
            support(&scratch, &gcc, &flags, "end", END)?,
            support(&scratch, &gcc, &flags, "start", Self::START)?,
        ];
        let (code, data, end) = Unicorn::LINKED;
        let script = format!(
            "ENTRY(_start) SECTIONS {{ .text {code:#x} : {{ *(.start) *(.text*) *(.rodata*) *(.init) *(.fini) }} \
             .ARM.exidx : {{ __exidx_start = .; *(.ARM.exidx*) __exidx_end = .; }} .data {data:#x} : {{ *(.data*) *(.init_array*) *(.fini_array*) \
             *(.bss*) *(COMMON) . = ALIGN(8); end = .; }} ASSERT(end < {end:#x} - 0x8000, \"will not fit\") }}"
        );
        let script = scratch.write("program.ld", script.as_bytes())?;
        Ok(Self { unicorn: Unicorn::new(scratch.path())?, gcc, script, objects, scratch })
    }

    fn linked(elf: &Elf, until: u32) -> Linked {
        let (code, data, end) = Unicorn::LINKED;
        Linked {
            code: content(elf, code..data, false),
            data: content(elf, data..end, false),
            entry: elf.entry & !1,
            until: until & !1,
        }
    }
}

impl Place for Thumb {
    fn name(&self) -> &'static str {
        "thumb"
    }

    fn is_not(&self) -> Vec<&'static str> {
        vec!["arm*-*-*", "int128", "dfp", "mmap", "fileio"]
    }

    fn build(&self, source: &Path, options: &[&str]) -> Result<Elf, String> {
        let elf = self.scratch.path().join("program.elf");
        let mut gcc = Command::new(&self.gcc);
        gcc.args(Self::CORE).args(options).args([
            "-w",
            "-nostartfiles",
            "--specs=nosys.specs",
            "-T",
        ]);
        run(gcc.arg(&self.script).arg("-o").arg(&elf).arg(source).args(&self.objects).arg("-lm"))?;
        parse(&elf)
    }

    fn here(&mut self, elf: &Elf, ended: u32) -> End {
        Unicorn::linked_here(&Self::linked(elf, ended))
    }

    fn there(&mut self, elf: &Elf, ended: u32) -> Result<End, String> {
        self.unicorn.linked_there(&Self::linked(elf, ended))
    }
}

/// The CPUXV2 by clang, beside mspdebug's simulator, which counts no cycles.
pub struct Msp430 {
    clang: PathBuf,
    lld: PathBuf,
    mspdebug: PathBuf,
    /// Whether the program before came to its end here. Another is not tried there: mspdebug would run it for ever.
    ends: bool,
    script: PathBuf,
    objects: [PathBuf; 2],
    scratch: Scratch,
}

impl Msp430 {
    const TARGET: &[&str] = &["--target=msp430", "-std=gnu11", "-w", "-nostdlibinc"];
    /// What newer compilers refuse in old C.
    const OLD: &[&str] = &[
        "-Wno-implicit-int",
        "-Wno-implicit-function-declaration",
        "-Wno-int-conversion",
        "-Wno-return-type",
    ];
    const HEADERS: [&str; 4] = ["string.h", "stdlib.h", "stdio.h", "memory.h"];
    const RAM: std::ops::Range<u32> = 0x0400..0x8000;
    const CODE: std::ops::Range<u32> = 0x8000..0x1_0000;
    /// Cycles of a program.
    const MOST: u64 = 50_000_000;

    /// # Errors
    /// If a tool is missing.
    pub fn new() -> Result<Self, String> {
        let (scratch, clang) = (Scratch::new()?, tools::program("clang")?);
        for name in Self::HEADERS {
            scratch.write(name, include_bytes!("libc.h"))?;
        }
        let flags = [Self::TARGET, &["-O1"]].concat();
        let objects = [
            support(&scratch, &clang, &flags, "end", END)?,
            support(&scratch, &clang, &flags, "msp430", include_str!("msp430.c"))?,
        ];
        let script = format!(
            "ENTRY(_start) SECTIONS {{ .text {:#x} : {{ *(.start) *(.text*) *(.rodata*) }} .data {:#x} : {{ *(.data*) \
             *(.bss*) *(COMMON) }} /DISCARD/ : {{ *(.comment) *(.note*) *(.MSP430.attributes) }} \
             ASSERT(SIZEOF(.data) < 0x7800, \"will not fit\") ASSERT(SIZEOF(.text) < 0x7F00, \"will not fit\") }}",
            Self::CODE.start,
            Self::RAM.start
        );
        let script = scratch.write("program.ld", script.as_bytes())?;
        Ok(Self {
            clang,
            lld: tools::program("ld.lld")?,
            mspdebug: mspdebug::mspdebug()?,
            ends: false,
            script,
            objects,
            scratch,
        })
    }
}

impl Place for Msp430 {
    fn name(&self) -> &'static str {
        "msp430"
    }

    fn is_not(&self) -> Vec<&'static str> {
        [NOWHERE, &["msp430-*-*", "int32plus", "int32", "c99_runtime"]].concat()
    }

    fn build(&self, source: &Path, options: &[&str]) -> Result<Elf, String> {
        let file = |name: &str| self.scratch.path().join(name);
        let (object, elf) = (file("program.o"), file("program.elf"));
        let mut clang = Command::new(&self.clang);
        clang.args(Self::TARGET).args(Self::OLD).arg("-isystem").arg(self.scratch.path());
        run(clang.args(options).args(["-c", "-o"]).arg(&object).arg(source))?;
        let mut lld = Command::new(&self.lld);
        run(lld.arg("-T").arg(&self.script).arg("-o").arg(&elf).arg(&object).args(&self.objects))?;
        parse(&elf)
    }

    fn here(&mut self, elf: &Elf, ended: u32) -> End {
        let mut bus = FlatBus::new();
        bus.map(Self::RAM, PageKind::Ram);
        bus.map(Self::CODE, PageKind::Code);
        bus.deadline = Self::MOST;
        for range in [Self::RAM, Self::CODE] {
            let (start, bytes) = (range.start as usize, content(elf, range, false));
            bus.bytes_mut()[start..start + bytes.len()].copy_from_slice(&bytes);
        }
        let mut cpu = msp430::Cpu::new(Timing { push_sp_stores_old: true, ..Timing::CPUXV2 });
        cpu.r[PC] = elf.entry;
        cpu.set_breakpoints(&[ended]);
        let status = loop {
            match cpu.run(&mut bus, &mut Silent) {
                msp430::Exit::Status => {}
                msp430::Exit::Breakpoint => break Ok(cpu.r[12] & 0xFFFF),
                msp430::Exit::Deadline => {
                    break Err(format!("it does not end within {} cycles", Self::MOST));
                }
                msp430::Exit::Fault(fault) => break Err(fault.to_string()),
            }
        };
        self.ends = status.is_ok();
        let memory = bus.bytes()[Self::RAM.start as usize..Self::RAM.end as usize].to_vec();
        // Its CPU has 16 bits. SXT leaves the sign in ours.
        let registers = cpu.r.map(|value| value & 0xFFFF).to_vec();
        End { status, registers, memory, cycles: None }
    }

    fn there(&mut self, elf: &Elf, ended: u32) -> Result<End, String> {
        let lost = |why: &str| {
            let status = Err(why.to_owned());
            Ok(End { status, registers: Vec::new(), memory: Vec::new(), cycles: None })
        };
        if !self.ends {
            return lost("it is not tried");
        }
        let mut commands = String::new();
        let mut add = |line: String| commands.push_str(&format!("{line}\n"));
        let bytes_of = |range: std::ops::Range<u32>| content(elf, range, false);
        let mut ram = bytes_of(Self::RAM);
        ram.resize((Self::RAM.end - Self::RAM.start) as usize, 0);
        let mut code = bytes_of(Self::CODE);
        code.resize((Self::CODE.end - Self::CODE.start) as usize, 0);
        let (ram, code) = (self.scratch.write("ram", &ram)?, self.scratch.write("code", &code)?);
        let after = self.scratch.write("after", b"")?;
        add(format!("load_raw {} {:#x}", ram.display(), Self::RAM.start));
        add(format!("load_raw {} {:#x}", code.display(), Self::CODE.start));
        for reg in 1..16 {
            add(format!("set {reg} 0"));
        }
        add(format!("set 0 {:#x}", elf.entry));
        add(format!("setbreak {ended:#x}"));
        add("run".into());
        add(format!(
            "save_raw {:#x} {} {}",
            Self::RAM.start,
            Self::RAM.end - Self::RAM.start,
            after.display()
        ));
        let answer = mspdebug::ask(&self.mspdebug, &self.scratch, &commands)?;
        let Some(registers) = mspdebug::registers(&answer, "run").pop() else {
            return lost("it does not come to its end");
        };
        let status = match registers[PC] {
            pc if pc == ended => Ok(registers[12]),
            pc => Err(format!("it stops at {pc:#x}")),
        };
        let memory = std::fs::read(&after).map_err(|e| format!("mspdebug left no memory: {e}"))?;
        Ok(End { status, registers: registers.to_vec(), memory, cycles: None })
    }
}
