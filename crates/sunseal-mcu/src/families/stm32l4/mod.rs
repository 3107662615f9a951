// SPDX-License-Identifier: MIT OR Apache-2.0
//! STM32L4x6: a Cortex-M4F, its memory, and STMicroelectronics' peripherals around it (RM0351).
//!
//! The core stacks and runs; clocks, interrupts and sleep are decided here.

mod around;
mod blocks;
mod bus;
mod modes;
mod pwr;
mod rcc;
mod soc;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::thumb::{Bus, Scb};
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos, StateId, Width};

use crate::accounts::{self, Event, Names};
use crate::blocks::st::{Block as _, Cause, Cx, Fx, exti};
use crate::clock::{Line, splitmix64};
use crate::common::{Common, Drive, SharedBytes, UartByte};
use crate::cores::armv7m::dwt::Dwt;
use crate::cores::armv7m::memory::{Memory, Window};
use crate::cores::armv7m::scs::{self, Scs};
use crate::cores::armv7m::{Around, CortexM, SavedCore, arm};
use crate::device::{self, Device, Drifting, RegionKind, us};
use crate::instruments::lint::LintKind;
use crate::pin::Pin;
use crate::resets::ResetCause;
use blocks::{Blocks, Inputs, Slot};
use pwr::{Deep, Pwr};
use rcc::{Rcc, Source};

pub(crate) use blocks::{known, makes};

/// The serial interfaces: their places are their numbers.
const SERIALS: [&str; 6] = ["usart1", "usart2", "usart3", "spi1", "spi2", "spi3"];
const USARTS: usize = 3;
const SERIAL_BYTE: [Event; 6] = [
    Event::Usart1Byte,
    Event::Usart2Byte,
    Event::Usart3Byte,
    Event::Spi1Byte,
    Event::Spi2Byte,
    Event::Spi3Byte,
];

const FLASH: ComponentId = ComponentId(1);
const TIMER_OSCILLATOR: ComponentId = ComponentId(2);
const RNG: ComponentId = ComponentId(3);
const SLEEP: StateId = StateId(5);
const STOP0: StateId = StateId(6);
const STOP1: StateId = StateId(7);
const STOP2: StateId = StateId(8);
const STANDBY: StateId = StateId(9);
const SHUTDOWN: StateId = StateId(10);
const WRITE: StateId = StateId(11);
const ERASE: StateId = StateId(12);

const NAMES: Names = Names {
    components: &[
        ("cpu", accounts::OFF),
        ("flash", accounts::IDLE),
        ("timer_oscillator", accounts::OFF),
        ("rng", accounts::OFF),
    ],
    active: "active.flash",
    states: &["sleep", "stop0", "stop1", "stop2", "standby", "shutdown", "write", "erase"],
    events: &[
        &[Event::FlashDoubleWordWrite, Event::FlashPageErase, Event::FlashMassErase],
        &SERIAL_BYTE,
    ],
};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Lines {
    const STOPPED: Self = Self {
        hclk: Line::STOPPED,
        fclk: Line::STOPPED,
        sysclk: Line::STOPPED,
        pclk1: Line::STOPPED,
        pclk2: Line::STOPPED,
        timers: Line::STOPPED,
        hsi: Line::STOPPED,
        hse_by_32: Line::STOPPED,
        lse: Line::STOPPED,
        lsi: Line::STOPPED,
        clk48: Line::STOPPED,
    };
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
    /// Blocks by their first address.
    map: Vec<blocks::Mapped>,
    inputs: Inputs,
    r: Registers,
    scb: Scb,
    fx: Fx,
    /// The cycle at which the CPU's run ends; 0 ends it behind the present instruction.
    deadline: Cycles,
    /// Wait states of data accesses that the core has not been told.
    stall: Cycles,
    /// Fetches from flash may wait.
    waits: bool,
    /// Flash is read faster than it can be.
    too_fast: bool,
    /// IPSR, which ICSR shows in turn.
    exception: u32,
    /// Flash changed: the core forgets.
    changed: bool,
    image: Option<Arc<Vec<u8>>>,
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
