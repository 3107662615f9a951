// SPDX-License-Identifier: MIT OR Apache-2.0
//! STM32L4x6: a Cortex-M4F, its memory, and STMicroelectronics' peripherals around it (RM0351).
//!
//! The core stacks and runs; clocks, interrupts and sleep are decided here.

mod blocks;
mod bus;
mod modes;
mod pwr;
mod rcc;
mod soc;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::thumb::{self, Bus, Cpu, Entry, Scb, Timing};
use sunseal_trace::{ComponentId, Cycles, Observer, OperatingPoint, Picos, StateId, Width};

use crate::accounts::{self, Event, Names};
use crate::blocks::st::{Block as _, Cause, Cx, Fx, exti};
use crate::clock::{Line, splitmix64};
use crate::common::{Common, Drive, SharedBytes, UartByte};
use crate::cores::armv7m::dwt::Dwt;
use crate::cores::armv7m::memory::{Memory, Window};
use crate::cores::armv7m::scs::{self, Scs};
use crate::cores::armv7m::{Access, Around, CortexM, SavedCore};
use crate::device::{self, Device, Drifting, RegionKind, us};
use crate::engine::{Chip, Ran};
use crate::instruments::lint::LintKind;
use crate::machine::Register;
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
    states: &[
        "active.flash",
        "active.ram",
        "off",
        "idle",
        "on",
        "sleep",
        "stop0",
        "stop1",
        "stop2",
        "standby",
        "shutdown",
        "write",
        "erase",
    ],
    events: &[
        Event::FlashDoubleWordWrite,
        Event::FlashPageErase,
        Event::FlashMassErase,
        Event::Usart1Byte,
        Event::Usart2Byte,
        Event::Usart3Byte,
        Event::Spi1Byte,
        Event::Spi2Byte,
        Event::Spi3Byte,
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

impl Chip for Stm32l4 {
    type Saved = SavedStm32l4;

    fn new(dev: Arc<Device>) -> Self {
        let facts = Arc::new(dev.stm32l4().clone());
        let timing = dev.timed(Timing::CORTEX_M4, Timing::set);
        let layout = Layout::of(&dev);
        let r = Registers {
            lines: Lines::STOPPED,
            scs: Scs::new(&facts.nvic),
            dwt: Dwt::default(),
            rcc: Rcc::new(0, 0),
            pwr: Pwr::new(),
            blocks: Blocks::new(&facts),
            outputs: [0; 8],
            sleep: None,
            for_event: false,
            slept_from: 0,
        };
        let soc = Soc {
            common: Common::new(dev, &NAMES),
            memory: Memory::new(),
            layout,
            map: blocks::map(&facts),
            inputs: Inputs::of(&facts.places),
            r,
            scb: Scb::default(),
            fx: Fx::default(),
            deadline: 0,
            stall: 0,
            waits: false,
            too_fast: false,
            exception: 0,
            changed: false,
            image: None,
            facts,
        };
        let mut cpu = Cpu::new(timing);
        cpu.basepri_mask = soc.facts.nvic.priority_mask().into();
        let mut chip = Self { cpu, soc, returning: None };
        chip.soc.scramble_ram(0, true, true);
        chip.reset();
        chip.settle();
        chip
    }

    fn common(&self) -> &Common {
        &self.soc.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.soc.common
    }

    fn cycles(&self) -> Cycles {
        self.cpu.cycles
    }

    fn set_cycles(&mut self, cycles: Cycles) {
        self.cpu.cycles = cycles;
    }

    fn cpu_clock(&self) -> &Line {
        &self.soc.r.lines.hclk
    }

    fn pc(&self) -> u32 {
        self.cpu.r[thumb::PC]
    }

    fn sp(&self) -> u32 {
        self.cpu.r[thumb::SP]
    }

    fn registers(&self) -> Vec<Register> {
        self.named_registers()
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        self.set_named_register(name, value)
    }

    fn sleeping(&self) -> bool {
        self.soc.r.sleep.is_some()
    }

    fn held_until(&mut self) -> Option<Picos> {
        let flash = &self.soc.r.blocks.flash[0];
        let end = flash.busy_until()?;
        let at = self.soc.layout.flash_offset(self.pc())?;
        (!self.sleeping() && flash.is_busy(at)).then_some(end)
    }

    fn must_step(&self) -> bool {
        false
    }

    fn returning(&self) -> bool {
        self.returning.is_some()
    }

    fn set_breakpoints(&mut self, addrs: &[u32]) {
        self.cpu.set_breakpoints(addrs);
    }

    fn is_breakpoint(&self, addr: u32) -> bool {
        self.cpu.is_breakpoint(addr)
    }

    fn run_cpu<O: Observer>(
        &mut self,
        deadline: Cycles,
        once: bool,
        observer: &mut O,
    ) -> Result<Ran, Fault> {
        self.soc.deadline = deadline;
        let exit = if once {
            self.cpu.step(&mut self.soc, observer)
        } else {
            self.cpu.run(&mut self.soc, observer)
        };
        self.act_on(exit)
    }

    fn after_cpu(&mut self) {
        self.catch_up();
    }

    fn take_interrupt<O: Observer>(
        &mut self,
        stop_on_change: bool,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        let masks = self.masks();
        if let Some(sleep) = self.soc.r.sleep {
            let r = &mut self.soc.r;
            let event = r.for_event && std::mem::take(&mut r.scs.event_register);
            // Behind SLEEPONEXIT there is no program to go on with: only an exception ends it.
            let wakes = if sleep.is_lost() {
                self.soc.leaves_standby().is_some()
            } else if self.returning.is_some() {
                r.scs.next(masks).is_some()
            } else {
                event || r.scs.wakes(masks)
            };
            if !wakes {
                return Ok(false);
            }
            if self.soc.wake(self.cpu.cycles) {
                self.start_at_vector();
            }
            if let Some(fault) = &self.soc.common.illegal {
                return Err(fault.clone().at_pc(self.pc()));
            }
            if sleep.is_lost() || stop_on_change && self.soc.common.accounts.changed {
                return Ok(true);
            }
            if let (Some(exc_return), Some(next)) =
                (self.returning.take(), self.soc.r.scs.next(masks))
            {
                // SLEEPONEXIT: the stack has stayed.
                return self.enter(next, Entry::TailChain(exc_return), observer).map(|()| true);
            }
        }
        if let Some(exc_return) = self.returning.take() {
            return self.exception_return(exc_return, observer).map(|()| true);
        }
        let Some(exception) = self.soc.r.scs.next(masks) else { return Ok(false) };
        self.enter(exception, Entry::Fresh, observer)?;
        Ok(true)
    }

    fn can_wake(&self) -> bool {
        let (soc, masks) = (&self.soc, self.masks());
        let r = &soc.r;
        if r.scs.wakes(masks) || r.for_event && r.scs.event_register {
            return true;
        }
        if r.blocks.iwdg[0].due().is_some() {
            return true;
        }
        let pins = self.pins_may_wake();
        if r.sleep.is_some_and(Sleep::is_lost) {
            return soc.leaves_standby().is_some()
                || r.pwr.internal_wakeup() && r.blocks.rtc[0].due().is_some()
                || pins && soc.common.next_event().is_some();
        }
        let on = |input: u32| r.scs.may_wake(scs::IRQ0 + input, masks, r.for_event);
        let rtc = r.blocks.exti[0].armed() >> exti::RTC_WAKEUP & 1 != 0
            && (on(soc.inputs.rtc_wkup) || r.for_event)
            && r.blocks.rtc[0].due().is_some();
        r.scs.systick_interrupts()
            && r.scs.may_wake(scs::SYSTICK, masks, false)
            && r.scs.next_event(&r.lines.fclk).is_some()
            || rtc
            || soc.inputs.may_ask(&r.blocks, on)
            || pins && (soc.common.next_event().is_some() || soc.serials_busy())
    }

    fn pins_may_wake(&self) -> bool {
        let r = &self.soc.r;
        if r.sleep.is_some_and(Sleep::is_lost) {
            return r.pwr.wakeup_pins().0 != 0;
        }
        r.blocks.exti[0].armed() & exti::PINS != 0
    }

    fn next_event(&self) -> Option<Picos> {
        self.soc.next_event()
    }

    fn process_events(&mut self, now: Picos, cycles: Cycles) -> Option<Picos> {
        while let Some(t) = self.next_event() {
            if t > now || self.soc.common.pending_fault.is_some() {
                break;
            }
            self.soc.process(t, now, cycles);
            if self.soc.fx.reset.is_some() {
                break;
            }
        }
        // Levels from outside are looked at too.
        self.soc.refresh();
        None
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.soc.changed) {
            self.cpu.invalidate(0..self.soc.layout.flash);
            self.cpu.invalidate(FLASH_START..FLASH_START + self.soc.layout.flash);
        }
    }

    fn reset_pending(&self) -> bool {
        self.soc.fx.reset.is_some()
    }

    fn reset_cause(&self) -> ResetCause {
        match self.soc.fx.reset {
            Some(Cause::Watchdog) => ResetCause::Watchdog,
            Some(Cause::Software) => ResetCause::Software,
            _ => ResetCause::Other,
        }
    }

    fn carry_out_reset(&mut self) {
        let Some(cause) = self.soc.fx.reset.take() else { return };
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.abort_flash(now.0 as u64 ^ cycles);
        self.soc.reset_as(cause, now, cycles);
        self.start_at_vector();
    }

    fn reset(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.abort_flash(now.0 as u64 ^ cycles);
        self.soc.reset_as(Cause::Brownout, now, cycles);
        self.start_at_vector();
    }

    fn vcc_changed(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.update_clocks(now, cycles);
    }

    /// Brown-out is the only supervisor that is modelled; the run loop has it.
    fn too_low(&self) -> Option<Picos> {
        None
    }

    fn hold(&mut self) {
        self.soc.common.state.held_in_reset = true;
        self.soc.update_clocks(self.soc.now(), self.cpu.cycles);
    }

    fn power_off(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.abort_flash(now.0 as u64 ^ cycles);
        self.soc.common.state.powered = false;
        self.soc.r.sleep = None;
        let uncached = self.soc.common.uncached;
        for component in [FLASH, TIMER_OSCILLATOR, RNG] {
            self.soc.common.accounts.set_state(component, accounts::OFF, now, cycles, uncached);
        }
        let drives = self.soc.common.power_parts(false, now, cycles);
        self.soc.drive(drives);
        self.soc.update_clocks(now, cycles);
    }

    fn power_on(&mut self, ram_seed: u64) {
        let cycles = self.cpu.cycles;
        self.soc.scramble_ram(ram_seed, true, true);
        self.soc.forget();
        self.soc.common.state.now_ps += us(self.soc.facts.power.power_on_us).0;
        let now = self.soc.now();
        let drives = self.soc.common.power_parts(true, now, cycles);
        self.soc.drive(drives);
        self.reset();
    }

    fn reclock(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.update_clocks(now, cycles);
    }

    fn memory(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        let i = self.soc.layout.place(addr)? as usize;
        self.soc.memory.bytes.get(i..i + bytes)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        if let Some(i) = self.soc.layout.place(addr).map(|i| i as usize) {
            let end = (i + bytes.len()).min(BYTES);
            self.soc.memory.bytes[i..end].copy_from_slice(&bytes[..end - i]);
            self.soc.changed = true;
            self.soc.image = None;
            self.settle();
        }
    }

    fn pin_level(&self, pin: Pin) -> bool {
        self.soc.r.blocks.level(pin)
    }

    fn drive(&mut self, drives: Vec<Drive>) {
        self.soc.drive(drives);
    }

    fn serials(&self) -> &'static [&'static str] {
        &SERIALS
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8) {
        if let Some(usart) = self.soc.r.blocks.usart.get_mut(serial) {
            usart.uart_in(time, byte);
            self.soc.deadline = 0;
        }
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.soc.r.rcc.fit(oscillator, hz)
    }

    fn cycles_from_ram(&self) -> Cycles {
        self.cpu.cycles_uncached
    }

    fn save(&mut self) -> Self::Saved {
        let core = self.save_core();
        let soc = &mut self.soc;
        let (bytes, layout) = (&soc.memory.bytes, soc.layout);
        let part = |at: u32, n: u32| bytes[at as usize..(at + n) as usize].to_vec();
        let flash = soc.image.get_or_insert_with(|| Arc::new(part(FLASH_AT, layout.flash))).clone();
        SavedStm32l4 {
            flash: SharedBytes(flash),
            sram1: part(SRAM1_AT, layout.sram1),
            sram2: part(SRAM2_AT, layout.sram2),
            registers: soc.r.clone(),
            stall: soc.stall,
            core,
        }
    }

    fn restore(&mut self, s: Self::Saved) {
        let soc = &mut self.soc;
        let mut put = |at: u32, from: &[u8]| {
            soc.memory.bytes[at as usize..at as usize + from.len()].copy_from_slice(from);
        };
        if !soc.image.as_ref().is_some_and(|i| Arc::ptr_eq(i, &s.flash.0)) {
            put(FLASH_AT, &s.flash.0);
            soc.image = Some(Arc::clone(&s.flash.0));
            soc.changed = true;
        }
        put(SRAM1_AT, &s.sram1);
        put(SRAM2_AT, &s.sram2);
        soc.r = s.registers;
        soc.stall = s.stall;
        soc.fx = Fx::default();
        self.restore_core(&s.core);
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.map_memory();
        self.soc.update_clocks(now, cycles);
    }
}
