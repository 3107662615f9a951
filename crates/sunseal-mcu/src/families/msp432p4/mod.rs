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
use sunseal_isa::thumb::{self, Bus, Cpu, Entry, Scb, Timing};
use sunseal_trace::{ComponentId, Cycles, Observer, OperatingPoint, Picos, StateId, Width};

use crate::accounts::{self, Event, Names};
use crate::blocks::adc14::{Adc14, Inside, Reference};
use crate::blocks::aes256::{Aes256, AesCycles};
use crate::blocks::crc32_p4::Crc32;
use crate::blocks::dio::Ports;
use crate::blocks::eusci::Eusci;
use crate::blocks::flctl::{self, Flctl};
use crate::blocks::ref_a_p4::RefA;
use crate::blocks::rtc_c_p4::RtcC;
use crate::blocks::serial::Which;
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
use crate::cores::armv7m::{Access, Around, CortexM, SavedCore};
use crate::device::{self, Device, us};
use crate::engine::{Chip, Ran};
use crate::families::Makes;
use crate::instruments::lint::LintKind;
use crate::instruments::taint::Follow;
use crate::machine::Register;
use crate::pin::{PORT_J, Pin};
use crate::resets::ResetCause;
use cs::{Cs, Source, Tap};
use pcm::{Deep, Pcm, Pss};
use sysctl::Sysctl;

const SERIALS: [&str; 8] = [
    "eusci_a0", "eusci_a1", "eusci_a2", "eusci_a3", "eusci_b0", "eusci_b1", "eusci_b2", "eusci_b3",
];
const SERIAL_BYTE: [Event; 8] = [
    Event::EusciA0Byte,
    Event::EusciA1Byte,
    Event::EusciA2Byte,
    Event::EusciA3Byte,
    Event::EusciB0Byte,
    Event::EusciB1Byte,
    Event::EusciB2Byte,
    Event::EusciB3Byte,
];
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
    states: &[
        "active.flash",
        "active.ram",
        "off",
        "idle",
        "on",
        "lpm0",
        "lpm3",
        "lpm4",
        "lpm35",
        "lpm45",
        "write",
        "erase",
    ],
    events: &[
        Event::FlashWordWrite,
        Event::FlashSegmentErase,
        Event::FlashMassErase,
        Event::Adc14Conversion,
        Event::Crc32Byte,
        Event::AesEncrypt,
        Event::AesDecrypt,
        Event::AesRoundKey,
        Event::EusciA0Byte,
        Event::EusciA1Byte,
        Event::EusciA2Byte,
        Event::EusciA3Byte,
        Event::EusciB0Byte,
        Event::EusciB1Byte,
        Event::EusciB2Byte,
        Event::EusciB3Byte,
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
    ports: [Ports; 6],
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
        let a = &facts.aes256;
        Self {
            lines: Lines::STOPPED,
            scs: Scs::new(&facts.nvic),
            dwt: Dwt::default(),
            cs: Cs::new(0, 0),
            pcm: Pcm::new(),
            pss: Pss::new(),
            flctl: Flctl::new(),
            sysctl: Sysctl::new(),
            ports: std::array::from_fn(|i| Ports::new(i < 3)),
            outputs: [0; 6],
            timers: std::array::from_fn(|_| TimerA::new(5, false)),
            timer32: Timer32::new(),
            eusci: std::array::from_fn(|i| Eusci::new(i < 4)),
            reference: RefA::default(),
            aes: Aes256::new(AesCycles {
                encrypt: a.encrypt_cycles,
                decrypt: a.decrypt_cycles,
                round_key: a.round_key_cycles,
                decrypt_round_key: a.decrypt_round_cycles,
            }),
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

/// What Arm's own registers see.
macro_rules! arm {
    ($soc:expr, $clock:expr, $addr:expr, $at:expr, $now:expr) => {
        Access {
            now: $now,
            at: $at,
            addr: $addr,
            clock: $clock,
            chip: &$soc.common.dev.name,
            reset: false,
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

fn level(ports: &[Ports; 6], pin: Pin) -> bool {
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

impl Chip for Msp432 {
    type Saved = SavedMsp432;

    fn new(dev: Arc<Device>) -> Self {
        let facts = Arc::new(dev.msp432().clone());
        let priority_mask = facts.nvic.priority_mask();
        let timing = dev.timed(Timing::CORTEX_M4, Timing::set);
        let memory: Box<[u8; BYTES]> =
            vec![0xFF; BYTES].into_boxed_slice().try_into().expect("the vector has as many bytes");
        let soc = Soc {
            common: Common::new(dev, &NAMES),
            memory,
            windows: [Window::default(); 256],
            blocks: blocks(&facts.peripherals),
            r: Registers::new(&facts),
            scb: Scb::default(),
            fx: Fx::default(),
            deadline: 0,
            stall: 0,
            waits: false,
            too_fast: [false; 2],
            exception: 0,
            changed: false,
            image: None,
            facts,
        };
        let mut cpu = Cpu::new(timing);
        cpu.basepri_mask = priority_mask.into();
        let mut chip = Self { cpu, soc, returning: None };
        chip.soc.write_tlv();
        chip.soc.scramble_ram(0, |_| true);
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
        &self.soc.r.lines.base.mclk
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
        let end = self.soc.r.flctl.busy_until()?;
        // A handler's vector and code may lie in the bank too; the core waits for them itself.
        (!self.sleeping() && is_flash(self.pc()) && self.soc.r.flctl.is_busy(self.pc()))
            .then_some(end)
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
        if self.sleeping() {
            let r = &mut self.soc.r;
            let lost = matches!(r.sleep, Some(Sleep::Lpm35 | Sleep::Lpm45));
            let event = r.for_event && std::mem::take(&mut r.scs.event_register);
            // Behind SLEEPONEXIT there is no program to go on with: only an exception ends it.
            let wakes = if lost {
                self.wakes_from_shutdown()
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
            if lost || stop_on_change && self.soc.common.accounts.changed {
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
        let r = &self.soc.r;
        let masks = self.masks();
        if r.scs.wakes(masks) || r.for_event && r.scs.event_register {
            return true;
        }
        if !matches!(r.sleep, Some(Sleep::Lpm45))
            && r.wdt.resets()
            && r.wdt.next_event(&r.lines).is_some()
        {
            return true;
        }
        let i = &self.soc.facts.interrupts;
        let on = |input: u32| r.scs.may_wake(scs::IRQ0 + input, masks, r.for_event);
        let l = &r.lines;
        let pins = self.pins_may_wake();
        let timer = |n: usize, t: &TimerA| {
            let first = i.ta0_0 + 2 * n as u32;
            t.enabled() && (on(first) || on(first + 1)) && t.next_event(&l.base).is_some()
        };
        let serial = |n: usize, u: &Eusci| {
            (u.enabled() && on(i.eusci_a0 + n as u32) || pins) && u.next_event().is_some()
        };
        let timer32 = on(i.t32_int1) || on(i.t32_int2) || on(i.t32_intc);
        r.scs.systick_interrupts()
            && r.scs.may_wake(scs::SYSTICK, masks, false)
            && r.scs.next_event(&l.fclk).is_some()
            || on(i.wdt_a) && r.wdt.next_event(l).is_some()
            || on(i.rtc_c) && r.rtc.enabled() && r.rtc.next_event(&l.bclk).is_some()
            || timer32 && r.timer32.enabled() && r.timer32.next_event(&l.fclk).is_some()
            || r.timers.iter().enumerate().any(|(n, t)| timer(n, t))
            || r.eusci.iter().enumerate().any(|(n, u)| serial(n, u))
            || on(i.adc14) && r.adc.enabled() && r.adc.busy()
            || on(i.aes256) && r.aes.enabled() && r.aes.busy()
            || on(i.flctl) && r.flctl.enabled() && r.flctl.busy_until().is_some()
            || on(i.pcm) && r.pcm.next_event().is_some()
            || r.dma.is_on() && (r.dma.next_event(&l.fclk).is_some() || self.dma_may_go_on())
            || pins && self.soc.common.next_event().is_some()
    }

    fn pins_may_wake(&self) -> bool {
        let r = &self.soc.r;
        let port1 = self.soc.facts.interrupts.port1;
        let shut_down = matches!(r.sleep, Some(Sleep::Lpm35 | Sleep::Lpm45));
        let may = |n| r.scs.may_wake(scs::IRQ0 + port1 + n, self.masks(), r.for_event);
        (shut_down || (0..6).any(may)) && r.ports[..3].iter().any(Ports::may_wake)
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
        self.soc.refresh(now, cycles);
        None
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.soc.changed) {
            self.cpu.invalidate(0..flctl::INFO + flctl::INFO_BYTES);
        }
    }

    fn reset_pending(&self) -> bool {
        self.soc.fx.reset.is_some()
    }

    fn reset_cause(&self) -> ResetCause {
        match self.soc.fx.reset {
            Some((Class::Soft | Class::Hard, wdt::SOURCE_TIMEOUT)) => ResetCause::Watchdog,
            Some((Class::Soft | Class::Hard, wdt::SOURCE_PASSWORD)) => ResetCause::Password,
            Some(_) => ResetCause::Software,
            None => ResetCause::Other,
        }
    }

    fn carry_out_reset(&mut self) {
        let Some((class, source)) = self.soc.fx.reset.take() else { return };
        let cycles = self.cpu.cycles;
        if class >= Class::Reboot {
            // The boot code's time passes, booked as off.
            self.soc.common.state.held_in_reset = true;
            self.soc.update_clocks(self.soc.now(), cycles);
            self.soc.common.state.held_in_reset = false;
            self.soc.common.state.now_ps += us(self.soc.facts.pcm.reset_ms * 1e3).0;
        }
        self.soc.abort_flash(self.soc.now().0 as u64 ^ cycles);
        self.soc.reset_as(class, source, self.soc.now(), cycles);
        self.start_at_vector();
    }

    fn reset(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.abort_flash(now.0 as u64 ^ cycles);
        self.soc.reset_as(Class::Por, 0, now, cycles);
        self.start_at_vector();
    }

    fn vcc_changed(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        let levels = &self.soc.facts.svs.svsmh_falling_v;
        let least = self.soc.r.pss.svsmh_level().map_or(0.0, |l| levels[l]);
        let state = &mut self.soc.common.state;
        if state.held_in_reset && state.vcc_v >= least.max(self.soc.facts.pcm.vcc_min_v) {
            state.held_in_reset = false;
            // SVSMH tripped: source 1 of the PSS.
            self.soc.reset_as(Class::Por, 1, now, cycles);
            self.start_at_vector();
        }
        self.soc.update_clocks(now, cycles);
    }

    fn too_low(&self) -> Option<Picos> {
        let (r, svs) = (&self.soc.r, &self.soc.facts.svs);
        let asleep = !matches!(r.sleep, None | Some(Sleep::Lpm0));
        let delay_us = match asleep && r.pss.svsmh_low_power() {
            true => svs.delay_normal_us,
            false => svs.delay_full_performance_us,
        };
        let level = r.pss.svsmh_level()?;
        let common = &self.soc.common;
        (common.runs() && common.state.vcc_v < svs.svsmh_falling_v[level]).then(|| us(delay_us))
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
        for component in [FLASH, ADC14, REF, AES] {
            self.soc.common.accounts.set_state(component, accounts::OFF, now, cycles, uncached);
        }
        let drives = self.soc.common.power_parts(false, now, cycles);
        self.soc.drive(drives);
        self.soc.update_clocks(now, cycles);
    }

    fn power_on(&mut self, ram_seed: u64) {
        let cycles = self.cpu.cycles;
        self.soc.scramble_ram(ram_seed, |_| true);
        // A power-up is not the reset that keeps the causes of those before it.
        self.soc.r.sysctl = Sysctl::new();
        self.soc.common.state.now_ps += us(self.soc.facts.pcm.reset_ms * 1e3).0;
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
        let i = place(addr)? as usize;
        self.soc.memory.get(i..i + bytes)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        if let Some(i) = place(addr).map(|i| i as usize) {
            let end = (i + bytes.len()).min(BYTES);
            self.soc.memory[i..end].copy_from_slice(&bytes[..end - i]);
            self.soc.changed = true;
            self.soc.image = None;
            self.settle();
        }
    }

    fn pin_level(&self, pin: Pin) -> bool {
        level(&self.soc.r.ports, pin)
    }

    fn drive(&mut self, drives: Vec<Drive>) {
        self.soc.drive(drives);
    }

    fn serials(&self) -> &'static [&'static str] {
        &SERIALS
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8) {
        self.soc.r.eusci[serial].uart_in(time, byte);
    }

    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        let timer = TIMERS.iter().position(|n| *n == timer);
        let side = ['A', 'B'].iter().position(|n| *n == input);
        let (Some(timer), Some(side)) = (timer, side) else { return false };
        let block = self.soc.r.timers[timer].aclk_inputs.get_mut(usize::from(ccr));
        block.is_some_and(|b| {
            b[side] = true;
            true
        })
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.soc.r.cs.fit(oscillator, hz)
    }

    fn cycles_from_ram(&self) -> Cycles {
        self.cpu.cycles_uncached
    }

    fn save(&mut self) -> Self::Saved {
        let core = self.save_core();
        let soc = &mut self.soc;
        let memory = &soc.memory;
        let flash =
            soc.image.get_or_insert_with(|| Arc::new(memory[..SRAM_AT as usize].to_vec())).clone();
        SavedMsp432 {
            flash: SharedBytes(flash),
            sram: memory[SRAM_AT as usize..(SRAM_AT + SRAM_BYTES) as usize].to_vec(),
            registers: soc.r.clone(),
            stall: soc.stall,
            core,
        }
    }

    fn restore(&mut self, s: Self::Saved) {
        let soc = &mut self.soc;
        let same = soc.image.as_ref().is_some_and(|i| Arc::ptr_eq(i, &s.flash.0));
        if !same {
            let n = s.flash.0.len().min(SRAM_AT as usize);
            soc.memory[..n].copy_from_slice(&s.flash.0[..n]);
            soc.image = Some(Arc::clone(&s.flash.0));
            soc.changed = true;
        }
        let n = s.sram.len().min(SRAM_BYTES as usize);
        soc.memory[SRAM_AT as usize..SRAM_AT as usize + n].copy_from_slice(&s.sram[..n]);
        soc.r = s.registers;
        soc.stall = s.stall;
        soc.fx = Fx::default();
        self.restore_core(&s.core);
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.map();
        self.soc.update_clocks(now, cycles);
    }
}

impl Msp432 {
    /// LPM3.5 ends by RTC or pins, LPM4.5 by pins.
    fn wakes_from_shutdown(&self) -> bool {
        let r = &self.soc.r;
        let rtc = matches!(r.sleep, Some(Sleep::Lpm35)) && r.rtc.pending();
        rtc || r.ports[..3].iter().any(|p| p.pending(0) || p.pending(1))
    }

    fn dma_may_go_on(&self) -> bool {
        let r = &self.soc.r;
        r.aes.busy()
            || r.adc.busy()
            || r.eusci.iter().any(|u| u.next_event().is_some())
            || r.timers.iter().any(|t| t.next_event(&r.lines.base).is_some())
    }
}
