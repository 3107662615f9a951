// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs, encoded by hand, as ELF files.
#![allow(dead_code, reason = "each benchmark takes what it needs")]

pub mod gateway;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use sunseal_mcu::Machine;
use sunseal_node::Scenario;
use sunseal_power::PowerSet;
use sunseal_trace::OperatingPoint;

pub const CODE: u32 = 0x5C00;

/// Stops the watchdog: mov #0x5A80, &WDTCTL.
pub const STOP_WATCHDOG: [u16; 3] = [0x40B2, 0x5A80, 0x015C];
/// Endless loop, `jmp $`.
pub const FOREVER: u16 = 0x3FFF;
/// bis #CPUOFF+SCG0+SCG1, SR: LPM3.
pub const LPM3: [u16; 2] = [0xD032, 0x00D0];

/// Puts the radio to sleep: USCI_B0 as SPI master, CSn low, SPWD, CSn high.
pub const SILENCE_RADIO: [u16; 32] = [
    0x40F2, 0x000E, 0x022A, // mov.b #SIMO|SOMI|CLK, &P3SEL
    0x40F2, 0x0001, 0x0222, // mov.b #CSN, &P3OUT
    0x40F2, 0x0001, 0x0224, // mov.b #CSN, &P3DIR
    0x40F2, 0x0001, 0x05E0, // mov.b #UCSWRST, &UCB0CTL1
    0x40F2, 0x00A9, 0x05E1, // mov.b #UCCKPH|UCMSB|UCMST|UCSYNC, &UCB0CTL0
    0x40F2, 0x0080, 0x05E0, // mov.b #UCSSEL__SMCLK, &UCB0CTL1
    0x40F2, 0x0000, 0x0222, // mov.b #0, &P3OUT
    0x403F, 0x0200, 0x831F, 0x23FE, // until the crystal runs
    0x40F2, 0x0039, 0x05EE, // mov.b #SPWD, &UCB0TXBUF
    0x403F, 0x0040, 0x831F, 0x23FE, // until the byte is out
];
/// mov.b #CSN, &P3OUT: the radio goes to sleep here.
pub const RELEASE_RADIO: [u16; 3] = [0x40F2, 0x0001, 0x0222];

/// Vector of the watchdog's interval timer.
pub const WDT_VECTOR: u32 = 0xFFF4;

/// Sleeps in LPM3 and counts a register down in the watchdog's interrupt, 64 times a second.
pub fn blinker(turns: u16) -> (Vec<u16>, Vec<(u32, u32)>) {
    let words = vec![
        // mov #0x5C00, SP ; mov #WDTPW|WDTSSEL__ACLK|WDTTMSEL|WDTCNTCL|WDTIS__512, &WDTCTL
        0x4031, 0x5C00, 0x40B2, 0x5A3E, 0x015C, // bis.b #WDTIE, &SFRIE1
        0xD3D2, 0x0100, // bis #GIE|LPM3, SR ; jmp $
        0xD032, 0x00D8, FOREVER, // the handler: mov #turns, R15 ; dec R15 ; jnz ; reti
        0x403F, turns, 0x831F, 0x23FE, 0x1300,
    ];
    (words, vec![(WDT_VECTOR, CODE + 20)])
}

/// An ELF file for the MSP430: `words` at 0x5C00, reset vector there.
pub fn elf(words: &[u16]) -> Vec<u8> {
    elf_with(words, &[])
}

/// The same, with more vectors.
pub fn elf_with(words: &[u16], vectors: &[(u32, u32)]) -> Vec<u8> {
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut out = vec![0x7F, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |out: &mut Vec<u8>, v: u16| out.extend(v.to_le_bytes());
    let word = |out: &mut Vec<u8>, v: u32| out.extend(v.to_le_bytes());
    half(&mut out, 2);
    half(&mut out, 105);
    word(&mut out, 1);
    word(&mut out, CODE);
    word(&mut out, 52);
    word(&mut out, 0);
    word(&mut out, 0);
    let vectors: Vec<_> = [(0xFFFE, CODE)].iter().chain(vectors).copied().collect();
    let count = 1 + vectors.len() as u32;
    for v in [52, 32, count as u16, 40, 0, 0] {
        half(&mut out, v);
    }
    let mut offset = 52 + count * 32;
    let mut segments = vec![(CODE, code.len() as u32)];
    segments.extend(vectors.iter().map(|(at, _)| (*at, 2)));
    for (addr, size) in segments {
        for v in [1, offset, addr, addr, size, size, 5, 2] {
            word(&mut out, v);
        }
        offset += size;
    }
    out.extend(code);
    for (_, to) in vectors {
        half(&mut out, to as u16);
    }
    out
}

pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

/// Writes a program where a scenario can name it.
pub fn program(name: &str, words: &[u16]) -> PathBuf {
    program_with(name, words, &[])
}

/// The same, with more vectors.
pub fn program_with(name: &str, words: &[u16], vectors: &[(u32, u32)]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.elf"));
    // Whole or not at all: tests that run at the same time share names.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let own = path.with_extension(format!("{}-{number}", std::process::id()));
    std::fs::write(&own, elf_with(words, vectors)).unwrap();
    std::fs::rename(&own, &path).unwrap();
    path
}

/// Computes all the time and keeps its state in FRAM, as a program that outlasts its supply does: 256 turns of four
/// instructions, then two words written.
pub fn busy_fram() -> (Vec<u16>, Vec<(u32, u32)>) {
    let words = vec![
        // mov #WDTPW|WDTHOLD, &WDTCTL ; clr R14
        0x40B2, 0x5A80, 0x015C, 0x430E, // add R14, R15 ; inc R14 ; bit #0xFF, R14 ; jnz
        0x5E0F, 0x531E, 0xB03E, 0x00FF, 0x23FB, // mov R15, &0xF000 ; inc &0xF002 ; jmp
        0x4F82, 0xF000, 0x5392, 0xF002, 0x3FF6,
    ];
    (words, Vec::new())
}

/// Mean cycles of its instructions.
pub const BUSY_FRAM_CYCLES: f64 = 1.5;

/// Boards with a shipped scenario that plays bench/duty.c: the mica's radios, those of 802.15.4 and a board without; a
/// rail that follows a cell's voltage, and events that the FR5994 prices one by one. Board, file, its supply.
pub const DUTIES: [(&str, &str, &str); 5] = [
    ("mica2dot", "duty-mica2dot", ""),
    ("mica2", "duty-mica2dot", ""),
    ("micaz", "duty-mica2dot", ""),
    ("telosb", "duty-telosb", ""),
    ("msp430fr5994-launchpad", "duty-fr5994", "output = \"direct\"\n"),
];

/// A short run of it, a signature every 40 s.
pub fn duty((board, file, supply): (&str, &str, &str), duration_s: u32, output: &str) -> Scenario {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    let text = std::fs::read_to_string(at.join(format!("{file}.toml"))).unwrap();
    let text = text
        .replace("board = \"mica2dot\"", &format!("board = \"{board}\""))
        .replace("build/mica2dot/", &format!("build/{board}/"))
        .replace("../../", &format!("{}/../../", env!("CARGO_MANIFEST_DIR")))
        .replace("duration_s = 86400", &format!("duration_s = {duration_s}"))
        .replace("duty_period_s = 600", "duty_period_s = 40")
        .replace("[supply]\n", &format!("[supply]\n{supply}"))
        .replace("[output]\n", &format!("[output]\n{output}"));
    Scenario::parse(&text, file).unwrap()
}

/// That a set has a current for each state that a component of the machine can be in.
pub fn covers_states(set: &PowerSet, machine: &Machine, point: &OperatingPoint) {
    let v = machine.vocabulary();
    let all: Vec<&str> = v.states().map(|(_, name)| name).collect();
    let of_cpu = |s: &&str| s.starts_with("active") || s.starts_with("lpm") || *s == "off";
    for (_, component) in v.components() {
        let own: Vec<&str> = match component {
            "cpu" => all.iter().copied().filter(of_cpu).collect(),
            "flash" => vec!["idle", "off", "write", "erase"],
            "aes256" => vec!["idle", "off", "on"],
            _ => vec!["on", "off"],
        };
        for state in own {
            assert!(all.contains(&state), "{state}");
            set.current_a(component, state, point, 3.0).unwrap();
        }
    }
}
