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
use crate::blocks::adc14::{Inside, Reference};
use crate::blocks::eusci::{self, Eusci};
use crate::blocks::follow::Follow;
use crate::blocks::net::{self, Net};
use crate::blocks::serial::{Serial as _, Which};
use crate::blocks::udma::{self as dma, Dma};
use crate::blocks::wdt_a_p4 as wdt;
use crate::blocks::wide::{self, Block as _, Class, Cx, Fx, Lines, Map};
use crate::blocks::{flash_cells, flctl};
use crate::clock::{Jitter, Line, STILL, retune_together, splitmix64};
use crate::common::{Common, Drive, SharedBytes};
use crate::cores::armv7m::dwt::Dwt;
use crate::cores::armv7m::memory::{Memory, Window};
use crate::cores::armv7m::scs::{self, Scs};
use crate::cores::armv7m::{Around, CortexM, SavedCore, Side, arm};
use crate::device::{self, Device, us};
use crate::lint::LintKind;
use crate::pin::{PORT_J, Pin};
use crate::resets::ResetCause;
use blocks::{Blocks, Slot};
use cs::{Source, Tap};
use pcm::Deep;
use sysctl::Sysctl;

const SERIALS: [&str; 8] = eusci::NAMES;
const TIMERS: [&str; 4] = ["ta0", "ta1", "ta2", "ta3"];
/// Pairs of numbered ports, PA to PE.
const PAIRS: usize = 5;

accounts::vocabulary! {
    components
    FLASH "flash" IDLE, ADC14 "adc14" OFF, REF "ref" OFF, AES "aes256" IDLE;
}
accounts::vocabulary! {
    states
    LPM0 "lpm0", LPM3 "lpm3", LPM4 "lpm4", LPM35 "lpm35", LPM45 "lpm45", WRITE "write", ERASE "erase";
}
const _: () = assert!(WRITE.0 == flash_cells::WRITE.0 && ERASE.0 == flash_cells::ERASE.0);

const NAMES: Names = Names {
    components: COMPONENTS,
    active: "active.flash",
    states: STATES,
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

/// How secrets go through the blocks, by their names in the device's data.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    wide::known(blocks::listed())
}

// ---- memory

/// Flash, information flash, ROM and SRAM lie in one buffer, SRAM at a place of its own.
const BYTES: usize = 1 << 19;
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
const SCS: u32 = 0xE000_E000;
const DWT: u32 = 0xE000_1000;

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
    sysctl: Sysctl,
    blocks: Blocks,
    /// Outputs of the pairs of ports as they were told.
    outputs: [u16; 6],
    sleep: Option<Sleep>,
    /// The sleep is one of WFE.
    for_event: bool,
    slept_from: u64,
}

/// The bus: memory and peripherals.
pub(crate) struct Soc {
    common: Common,
    facts: Arc<device::Msp432>,
    memory: Memory<BYTES>,
    map: Map<Slot>,
    net: Net,
    r: Registers,
    fx: Fx,
    side: Side,
    /// A bank is read faster than it can be.
    too_fast: [bool; 2],
}

/// What a block sees.
macro_rules! cx {
    ($soc:expr, $addr:expr, $at:expr, $now:expr) => {
        Cx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.r.lines,
            dev: &$soc.common.dev,
            accounts: &mut $soc.common.accounts,
            lints: &mut $soc.common.state.lints,
            fx: &mut $soc.fx,
            vcc_v: $soc.common.state.vcc_v,
            beside: $soc.r.sysctl.watchdog_is_hard(),
        }
    };
}

/// The place of memory in the buffer.
pub(crate) fn place(addr: u32) -> Option<u32> {
    if let Some(at) = flctl::place(addr) {
        return Some(at);
    }
    match addr {
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
mod blocks;
mod bus;
mod modes;
mod soc;

/// MSP432P4xx with core, blocks and clocks.
pub(crate) type Msp432 = CortexM<Soc>;

pub(crate) use blocks::{check, makes};

/// What a snapshot keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedMsp432 {
    flash: SharedBytes,
    sram: Vec<u8>,
    registers: Registers,
    stall: Cycles,
    core: SavedCore,
}
