// SPDX-License-Identifier: MIT OR Apache-2.0
//! STM32L4x6: a Cortex-M4F, its memory, and STMicroelectronics' peripherals around it (RM0351).
//!
//! The core stacks and runs; clocks, interrupts and sleep are decided here.

mod around;
mod blocks;
mod bus;
mod converter;
mod modes;
mod outputs;
mod pwr;
mod rcc;
mod soc;
mod transfers;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::thumb::{Bus, Scb};
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos, StateId, Width};

use crate::accounts::{self, Event, Names};
use crate::blocks::follow::Follow;
use crate::blocks::st::{Beside, Block as _, Cause, Cx, Fx, exti};
use crate::blocks::wide::{self, Map};
use crate::clock::{Line, retune_together, splitmix64};
use crate::common::{Common, Drive, Exchange, OnBus, SharedBytes, UartByte};
use crate::cores::armv7m::dwt::Dwt;
use crate::cores::armv7m::memory::{Memory, Window};
use crate::cores::armv7m::scs::{self, Scs};
use crate::cores::armv7m::{Around, CortexM, SavedCore, Side, arm};
use crate::device::{self, Device, Drifting, RegionKind, us};
use crate::lint::LintKind;
use crate::pin::Pin;
use crate::resets::ResetCause;
use blocks::{Blocks, Slot};
use pwr::{Deep, Pwr};
use rcc::{Rcc, Source};

pub(crate) use blocks::makes;

/// The serial interfaces: their places are their numbers.
const SERIALS: [&str; 10] =
    ["usart1", "usart2", "usart3", "lpuart1", "spi1", "spi2", "spi3", "i2c1", "i2c2", "i2c3"];
const USARTS: usize = 4;
const SPIS: usize = 3;
const SERIAL_BYTE: [Event; 10] = [
    Event::Usart1Byte,
    Event::Usart2Byte,
    Event::Usart3Byte,
    Event::Lpuart1Byte,
    Event::Spi1Byte,
    Event::Spi2Byte,
    Event::Spi3Byte,
    Event::I2c1Byte,
    Event::I2c2Byte,
    Event::I2c3Byte,
];

accounts::vocabulary! {
    components
    FLASH "flash" IDLE, TIMER_OSCILLATOR "timer_oscillator" OFF, RNG "rng" OFF, ADC "adc" OFF;
}
accounts::vocabulary! {
    states
    SLEEP "sleep", STOP0 "stop0", STOP1 "stop1", STOP2 "stop2", STANDBY "standby",
    SHUTDOWN "shutdown", WRITE "write", ERASE "erase";
}

const NAMES: Names = Names {
    components: COMPONENTS,
    active: "active.flash",
    states: STATES,
    events: &[
        &[Event::FlashDoubleWordWrite, Event::FlashPageErase, Event::FlashMassErase],
        &SERIAL_BYTE,
        &[Event::AdcConversion, Event::DmaTransfer],
    ],
};

/// How secrets go through the blocks, by their names in the device's data.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    wide::known(blocks::listed())
}

// ---- memory

/// Flash, then SRAM1, then SRAM2, in one buffer.
const BYTES: usize = 1 << 21;
const FLASH_AT: u32 = 0;
const SRAM1_AT: u32 = 0x10_0000;
const SRAM2_AT: u32 = 0x18_0000;
const FLASH_START: u32 = 0x0800_0000;
const SRAM1_START: u32 = 0x2000_0000;
const SRAM2_START: u32 = 0x1000_0000;
const SCS: u32 = 0xE000_E000;
const DWT: u32 = 0xE000_1000;

/// How much of each memory the part has.
#[derive(Clone, Copy, Debug)]
struct Layout {
    flash: u32,
    sram1: u32,
    sram2: u32,
}

impl Layout {
    fn of(dev: &Device) -> Self {
        let bytes = |start: u32| {
            let region = dev.memory.iter().find(|r| r.start == start);
            region
                .filter(|r| r.kind != RegionKind::Peripheral)
                .map_or(0, device::Region::size_bytes)
        };
        Self {
            flash: bytes(FLASH_START).min(SRAM1_AT - FLASH_AT),
            sram1: bytes(SRAM1_START).min(SRAM2_AT - SRAM1_AT),
            sram2: bytes(SRAM2_START).min(BYTES as u32 - SRAM2_AT),
        }
    }

    /// The place of memory in the buffer. At address 0 lies the flash, too (RM0351 section 2.6, boot from flash).
    fn place(self, addr: u32) -> Option<u32> {
        let within = |start: u32, bytes: u32, at: u32| {
            let off = addr.wrapping_sub(start);
            (off < bytes).then_some(at + off)
        };
        within(FLASH_START, self.flash, FLASH_AT)
            .or_else(|| within(0, self.flash, FLASH_AT))
            .or_else(|| within(SRAM1_START, self.sram1, SRAM1_AT))
            .or_else(|| within(SRAM2_START, self.sram2, SRAM2_AT))
    }

    /// The offset in the flash of an address.
    fn flash_offset(self, addr: u32) -> Option<u32> {
        self.place(addr).filter(|i| *i < SRAM1_AT)
    }
}

fn is_flash(addr: u32) -> bool {
    addr < SRAM2_START
}

/// How the CPU sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Sleep {
    Light,
    Deep(Deep),
}

impl Sleep {
    /// Registers are lost: only a reset leads out.
    fn is_lost(self) -> bool {
        matches!(self, Self::Deep(Deep::Standby | Deep::Shutdown))
    }
}

/// The clock lines of the chip. Ticks of `hclk` are the CPU's cycles; `fclk` has its rate and goes on while the CPU
/// sleeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lines {
    hclk: Line,
    fclk: Line,
    sysclk: Line,
    pclk1: Line,
    pclk2: Line,
    /// Of the timers on APB1.
    timers: Line,
    hsi: Line,
    hse_by_32: Line,
    lse: Line,
    lsi: Line,
    clk48: Line,
    adc: Line,
}

/// The registers of all blocks.
#[derive(Clone, Serialize, Deserialize)]
struct Registers {
    lines: Lines,
    scs: Scs,
    dwt: Dwt,
    rcc: Rcc,
    pwr: Pwr,
    blocks: Blocks,
    /// Levels of the ports' outputs as they were told.
    outputs: [u16; 8],
    sleep: Option<Sleep>,
    /// The sleep is one of WFE.
    for_event: bool,
    slept_from: u64,
}

/// The bus: memory and peripherals.
pub(crate) struct Soc {
    common: Common,
    facts: Arc<device::Stm32l4>,
    memory: Memory<BYTES>,
    layout: Layout,
    map: Map<Slot>,
    routes: Vec<outputs::Route>,
    requests: transfers::Requests,
    r: Registers,
    fx: Fx,
    side: Side,
    /// Flash is read faster than it can be.
    too_fast: bool,
}

/// The chip: the core, and what is around it.
pub(crate) type Stm32l4 = CortexM<Soc>;

/// What a snapshot keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedStm32l4 {
    flash: SharedBytes,
    sram1: Vec<u8>,
    sram2: Vec<u8>,
    registers: Registers,
    stall: Cycles,
    core: SavedCore,
}
