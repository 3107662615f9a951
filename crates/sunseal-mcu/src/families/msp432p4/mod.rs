// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSP432P4xx: a Cortex-M4F, its memory, and TI's peripherals around it.
//!
//! The core stacks and runs; which exception comes when, sleep, and faults are decided here.

mod cs;
mod pcm;
mod sysctl;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::thumb::{Bus, Scb};
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos, StateId, Width};

use crate::accounts::{self, Event, Names};
use crate::blocks::adc14::{Adc14, Inside, Reference};
use crate::blocks::aes256::Aes256;
use crate::blocks::crc32_p4::Crc32;
use crate::blocks::eusci::{self, Eusci};
use crate::blocks::flctl::{self, Flctl};
use crate::blocks::port::PortPair;
use crate::blocks::ref_a_p4::RefA;
use crate::blocks::rtc_c_p4::RtcC;
use crate::blocks::serial::{Serial as _, Which};
use crate::blocks::timer_a::TimerA;
use crate::blocks::timer32::Timer32;
use crate::blocks::udma::{self as dma, Dma};
use crate::blocks::wdt_a_p4::{self as wdt, Wdt};
use crate::blocks::wide::{Class, Cx, Fx, Lines};
use crate::blocks::{Block as _, Ctx, Effects};
use crate::clock::{Jitter, Line, splitmix64};
use crate::common::{Common, Drive, SharedBytes};
use crate::cores::armv7m::dwt::Dwt;
use crate::cores::armv7m::scs::{self, Scs};
use crate::cores::armv7m::{Around, CortexM, SavedCore, arm};
use crate::device::{self, Device, us};
use crate::families::Makes;
use crate::instruments::lint::LintKind;
use crate::instruments::taint::Follow;
use crate::pin::{PORT_J, Pin};
use crate::resets::ResetCause;
use cs::{Cs, Source, Tap};
use pcm::{Deep, Pcm, Pss};
use sysctl::Sysctl;

const SERIALS: [&str; 8] = eusci::NAMES;
const TIMERS: [&str; 4] = ["ta0", "ta1", "ta2", "ta3"];

const FLASH: ComponentId = ComponentId(1);
const ADC14: ComponentId = ComponentId(2);
const REF: ComponentId = ComponentId(3);
const AES: ComponentId = ComponentId(4);
const LPM0: StateId = StateId(5);
const LPM3: StateId = StateId(6);
const LPM4: StateId = StateId(7);
const LPM35: StateId = StateId(8);
const LPM45: StateId = StateId(9);
pub(crate) const WRITE: StateId = StateId(10);
pub(crate) const ERASE: StateId = StateId(11);

const NAMES: Names = Names {
    components: &[
        ("cpu", accounts::OFF),
        ("flash", accounts::IDLE),
        ("adc14", accounts::OFF),
        ("ref", accounts::OFF),
        ("aes256", accounts::IDLE),
    ],
    active: "active.flash",
    states: &["lpm0", "lpm3", "lpm4", "lpm35", "lpm45", "write", "erase"],
    events: &[
        &[
            Event::FlashWordWrite,
            Event::FlashSegmentErase,
            Event::FlashMassErase,
            Event::Adc14Conversion,
            Event::Crc32Byte,
            Event::AesEncrypt,
            Event::AesDecrypt,
            Event::AesRoundKey,
        ],
        &eusci::BYTES,
    ],
};

/// What a device file of this family lists: all of it.
pub(crate) fn makes() -> Makes {
    let blocks: Vec<_> = device::Msp432Bases::NAMES.iter().map(|n| (*n, kind(n))).collect();
    let ports = ["port2", "port3", "port4", "port5", "port6"];
    let interrupts = [device::Msp432Interrupts::NAMES, &ports].concat();
    Makes::of((blocks, interrupts))
        .needs(device::Msp432Bases::NAMES)
        .core(&["fpu"])
        .clocks(&["mclk", "hsmclk", "smclk", "aclk", "bclk", "vlo", "modosc", "sysosc"])
}

/// The kind of the block of a name: `eusci_a1` is an `eusci_a`.
fn kind(name: &'static str) -> &'static str {
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "ta" => "timer_a",
        numbered @ ("eusci_a" | "eusci_b") => numbered,
        _ => name,
    }
}

/// How secrets go through the blocks, by their names in the device's data.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    let timers = TIMERS.iter().map(|name| (*name, TimerA::TAINT));
    let serials = SERIALS.iter().map(|name| (*name, Eusci::TAINT));
    let own = [("aes256", Aes256::TAINT), ("crc32", Crc32::TAINT), ("dma", Follow::Mover)];
    timers.chain(serials).chain(own).collect()
}

// ---- memory

/// Flash, information flash, ROM and SRAM lie in one buffer, SRAM at a place of its own.
const BYTES: usize = 1 << 19;
const INFO_AT: u32 = 0x4_0000;
const ROM_AT: u32 = 0x4_4000;
const SRAM_AT: u32 = 0x5_0000;
const SRAM_BYTES: u32 = 0x1_0000;
const ROM_BYTES: u32 = 0x400;
const SRAM: u32 = 0x2000_0000;
const SRAM_CODE: u32 = 0x0100_0000;
const ROM: u32 = 0x0200_0000;
const BANK_BYTES: u32 = 0x2000;
const TLV: u32 = 0x0020_1000;
const PERIPHERALS: u32 = 0x4000_0000;
const SLOT: u32 = 0x400;
const SLOTS: usize = 0x50;
const SCS: u32 = 0xE000_E000;
const DWT: u32 = 0xE000_1000;

/// What 16 megabytes of the address space hold as far as plain accesses go.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// Place in the buffer.
    base: u32,
    /// Bytes that plain reads, and plain writes, may touch.
    readable: u32,
    writable: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    None,
    Timer(u8),
    Eusci(u8),
    RefA,
    Aes,
    Crc32,
    Rtc,
    Wdt,
    Dio,
    Pmap,
    Timer32,
    Dma,
    Pcm,
    Cs,
    Pss,
    Flctl,
    Adc,
}

/// How the CPU sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Sleep {
    Lpm0,
    Lpm3,
    Lpm4,
    Lpm35,
    Lpm45,
}

/// The registers of all blocks.
#[derive(Clone, Serialize, Deserialize)]
struct Registers {
    lines: Lines,
    scs: Scs,
    dwt: Dwt,
    cs: Cs,
    pcm: Pcm,
    pss: Pss,
    flctl: Flctl,
    sysctl: Sysctl,
    /// PA to PE, and PJ.
    ports: [PortPair; 6],
    outputs: [u16; 6],
    timers: [TimerA; 4],
    timer32: Timer32,
    eusci: [Eusci; 8],
    reference: RefA,
    aes: Aes256,
    crc: Crc32,
    rtc: RtcC,
    wdt: Wdt,
    dma: Dma,
    adc: Adc14,
    pmap: Vec<u16>,
    pmap_unlocked: bool,
    sleep: Option<Sleep>,
    /// The sleep is one of WFE.
    for_event: bool,
    slept_from: u64,
}

impl Registers {
    fn new(facts: &device::Msp432) -> Self {
        Self {
            lines: Lines::STOPPED,
            scs: Scs::new(&facts.nvic),
            dwt: Dwt::default(),
            cs: Cs::new(0, 0),
            pcm: Pcm::new(),
            pss: Pss::new(),
            flctl: Flctl::new(),
            sysctl: Sysctl::new(),
            ports: std::array::from_fn(|i| PortPair::p4(i < 3)),
            outputs: [0; 6],
            timers: std::array::from_fn(|_| TimerA::new(5, false)),
            timer32: Timer32::new(),
            eusci: std::array::from_fn(|i| Eusci::new(i < 4)),
            reference: RefA::default(),
            aes: Aes256::new(&facts.aes256),
            crc: Crc32::default(),
            rtc: RtcC::new(),
            wdt: Wdt::new(),
            dma: Dma::default(),
            adc: Adc14::new(),
            pmap: vec![0; 0x20],
            pmap_unlocked: false,
            sleep: None,
            for_event: false,
            slept_from: 0,
        }
    }
}

/// The bus: memory and peripherals.
pub(crate) struct Soc {
    common: Common,
    facts: Arc<device::Msp432>,
    memory: Box<[u8; BYTES]>,
    windows: [Window; 256],
    blocks: [(Block, u32); SLOTS],
    r: Registers,
    scb: Scb,
    fx: Fx,
    /// The cycle at which the CPU's run ends; 0 ends it behind the present instruction.
    deadline: Cycles,
    /// Wait states of data accesses that the core has not been told.
    stall: Cycles,
    /// Fetches from flash may wait.
    waits: bool,
    /// A bank is read faster than it can be.
    too_fast: [bool; 2],
    /// IPSR, for ICSR.
    exception: u32,
    /// Flash changed: the core forgets.
    changed: bool,
    image: Option<Arc<Vec<u8>>>,
}

/// What a block sees.
macro_rules! cx {
    ($soc:expr, $addr:expr, $at:expr, $now:expr) => {
        Cx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.r.lines,
            dev: &$soc.facts,
            accounts: &mut $soc.common.accounts,
            lints: &mut $soc.common.state.lints,
            fx: &mut $soc.fx,
            vcc_v: $soc.common.state.vcc_v,
        }
    };
}

/// The same for blocks that the MSP430 has too.
macro_rules! ctx {
    ($soc:expr, $effects:expr, $addr:expr, $at:expr, $now:expr) => {
        Ctx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.r.lines.base,
            dev: &$soc.common.dev,
            accounts: &mut $soc.common.accounts,
            lints: &mut $soc.common.state.lints,
            fx: &mut $effects,
            vcc_v: $soc.common.state.vcc_v,
            mode: 0,
        }
    };
}

fn pair(pin: Pin) -> (usize, u16) {
    if pin.port == PORT_J {
        return (5, u16::from(pin.mask()));
    }
    let n = pin.port - 1;
    (usize::from(n / 2).min(5), u16::from(pin.mask()) << (8 * (n % 2)))
}

fn level(ports: &[PortPair; 6], pin: Pin) -> bool {
    let (i, mask) = pair(pin);
    ports[i].levels() & mask != 0
}

fn blocks(b: &device::Msp432Bases) -> [(Block, u32); SLOTS] {
    let mut blocks = [(Block::None, 0); SLOTS];
    let mut put = |block: Block, base: u32, slots: u32| {
        for i in 0..slots {
            blocks[((base - PERIPHERALS) / SLOT + i) as usize] = (block, base);
        }
    };
    for (i, base) in [b.ta0, b.ta1, b.ta2, b.ta3].into_iter().enumerate() {
        put(Block::Timer(i as u8), base, 1);
    }
    for (i, base) in eusci_bases(b).into_iter().enumerate() {
        put(Block::Eusci(i as u8), base, 1);
    }
    put(Block::RefA, b.ref_a, 1);
    put(Block::Aes, b.aes256, 1);
    put(Block::Crc32, b.crc32, 1);
    put(Block::Rtc, b.rtc_c, 1);
    put(Block::Wdt, b.wdt_a, 1);
    put(Block::Dio, b.dio, 1);
    put(Block::Pmap, b.pmap, 1);
    put(Block::Timer32, b.timer32, 4);
    put(Block::Dma, b.dma, 8);
    put(Block::Pcm, b.pcm, 1);
    put(Block::Cs, b.cs, 1);
    put(Block::Pss, b.pss, 1);
    put(Block::Flctl, b.flctl, 4);
    put(Block::Adc, b.adc14, 4);
    blocks
}

fn eusci_bases(b: &device::Msp432Bases) -> [u32; 8] {
    [b.eusci_a0, b.eusci_a1, b.eusci_a2, b.eusci_a3, b.eusci_b0, b.eusci_b1, b.eusci_b2, b.eusci_b3]
}

/// The place of memory in the buffer.
fn place(addr: u32) -> Option<u32> {
    match addr {
        0..flctl::MAIN_BYTES => Some(addr),
        flctl::INFO.. if addr < flctl::INFO + flctl::INFO_BYTES => {
            Some(INFO_AT + addr - flctl::INFO)
        }
        SRAM_CODE.. if addr < SRAM_CODE + SRAM_BYTES => Some(SRAM_AT + addr - SRAM_CODE),
        ROM.. if addr < ROM + ROM_BYTES => Some(ROM_AT + addr - ROM),
        SRAM.. if addr < SRAM + SRAM_BYTES => Some(SRAM_AT + addr - SRAM),
        _ => None,
    }
}

fn is_flash(addr: u32) -> bool {
    addr < SRAM_CODE
}

mod around;
mod bus;
mod modes;
mod soc;

/// The chip.
pub(crate) type Msp432 = CortexM<Soc>;

/// What a snapshot keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedMsp432 {
    flash: SharedBytes,
    sram: Vec<u8>,
    registers: Registers,
    stall: Cycles,
    core: SavedCore,
}
