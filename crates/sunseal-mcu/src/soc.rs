// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything on the chip but the CPU: memory, peripherals, clocks, books. It is the CPU's bus.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::msp430::sr;
use sunseal_isa::msp430::{Bus, Width};
use sunseal_isa::{Fault, FaultKind};
use sunseal_trace::{ComponentId, Cycles, EventId, OperatingPoint, Picos, StateId};

use crate::accounts::{self, Accounts, SavedAccounts};
use crate::clock::{Clocks, Jitter, Line};
use crate::device::{Device, RegionKind, us};
use crate::lint::Lints;
use crate::peripherals::adc12_a::Adc12A;
use crate::peripherals::crc16::Crc16;
use crate::peripherals::flash::FlashController;
use crate::peripherals::mpy32::Mpy32;
use crate::peripherals::pmm::Pmm;
use crate::peripherals::port::PortPair;
use crate::peripherals::reference::Ref;
use crate::peripherals::sfr::{self, Sfr};
use crate::peripherals::sys::{self, Sys};
use crate::peripherals::timer_a::{self, TimerA};
use crate::peripherals::ucs::{Source, Tap, Ucs};
use crate::peripherals::usci::{Done, Usci};
use crate::peripherals::wdt_a::WdtA;
use crate::peripherals::{Ctx, Effects, ResetKind};
use crate::pin::{PORT_J, Pin, PinEdge, SpiDevice};

pub(crate) const ADDRESS_SPACE: usize = 1 << 20;
const MASK: usize = ADDRESS_SPACE - 1;
const PERIPHERALS_END: u32 = 0x1000;

/// Page flags: plain reads, plain writes.
const READ: u8 = 1;
const WRITE: u8 = 2;
const MPY_BYTES: u32 = 0x30;

/// Serial interfaces in the order of their register blocks.
pub(crate) const USCI: [&str; 8] =
    ["usci_a0", "usci_b0", "usci_a1", "usci_b1", "usci_a2", "usci_b2", "usci_a3", "usci_b3"];
pub(crate) const TIMERS: [&str; 3] = ["ta0", "ta1", "tb0"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    None,
    Sfr,
    Pmm,
    Flash,
    Crc16,
    RamControl,
    WdtA,
    Ucs,
    Sys,
    Ref,
    Port(u8),
    Timer(u8),
    Mpy32,
    Usci(u8),
    Adc12,
}

/// The voltage at an ADC input, asked for when a sample ends.
pub struct Probe<'a> {
    /// When the sample ends.
    pub time: Picos,
    /// The machine's supply.
    pub vcc_v: f64,
    ports: &'a [PortPair; 7],
}

impl Probe<'_> {
    /// Level of a pin, for circuits that a pin switches.
    #[must_use]
    pub fn pin(&self, pin: Pin) -> bool {
        level(self.ports, pin)
    }
}

pub(crate) type AdcInput = Box<dyn Fn(&Probe<'_>) -> f64 + Send>;

fn pair(pin: Pin) -> (usize, u16) {
    if pin.port == PORT_J {
        return (6, u16::from(pin.mask()));
    }
    let n = pin.port - 1;
    (usize::from(n / 2), u16::from(pin.mask()) << (8 * (n % 2)))
}

fn level(ports: &[PortPair; 7], pin: Pin) -> bool {
    let (i, mask) = pair(pin);
    ports[i].levels() & mask != 0
}

pub(crate) struct Attached {
    pub name: String,
    usci: usize,
    cs: Pin,
    pub device: Box<dyn SpiDevice>,
    component: ComponentId,
    selected: bool,
    driving: Vec<Pin>,
}

/// A byte that left a UART.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UartByte {
    /// Machine time in picoseconds at which its last bit ended.
    pub time_ps: u64,
    /// Which interface: "usci_a1".
    pub usci: String,
    /// The byte.
    pub byte: u8,
}

/// What a snapshot keeps of the chip.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Chip {
    pub clocks: Clocks,
    pub lints: Lints,
    pub mpy: Mpy32,
    pub pmm: Pmm,
    pub ucs: Ucs,
    pub flash: FlashController,
    crc: Crc16,
    pub wdt: WdtA,
    pub sfr: Sfr,
    pub sys: Sys,
    pub reference: Ref,
    pub ports: [PortPair; 7],
    pub timers: [TimerA; 3],
    pub usci: [Usci; 8],
    pub adc: Adc12A,
    pub vcc_v: f64,
    /// SR bits that decide the clocks.
    pub mode: u32,
    pub now_ps: u64,
    pub powered: bool,
    pub held_in_reset: bool,
    pub vlo_seed: u64,
    pub pin_log: Vec<PinEdge>,
    pub uart_log: Vec<UartByte>,
    outputs: [u16; 7],
}

pub(crate) struct Soc {
    pub dev: Arc<Device>,
    pub memory: Box<[u8; ADDRESS_SPACE]>,
    pages: Box<[u8; ADDRESS_SPACE >> 8]>,
    blocks: Box<[(Block, u16); 1024]>,
    mpy_base: u32,
    pub deadline: Cycles,
    pub chip: Chip,
    pub accounts: Accounts,
    pub fx: Effects,
    pub uncached: Cycles,
    /// Code memory that changed.
    pub changed: Vec<Range<u32>>,
    /// The operating point is not allowed.
    pub illegal: Option<Fault>,
    pub watch: Option<Pin>,
    pub watched: Option<PinEdge>,
    pub devices: Vec<Attached>,
    pub adc_inputs: [Option<AdcInput>; 16],
    /// A fault outside any instruction.
    pub pending_fault: Option<Fault>,
    /// Flash is busy and code in RAM runs: reads and fetches of flash fault.
    flash_hidden: bool,
    pub log_pins: bool,
}

macro_rules! cx {
    ($soc:expr, $addr:expr, $at:expr, $now:expr) => {
        Ctx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.chip.clocks,
            dev: &$soc.dev,
            accounts: &mut $soc.accounts,
            lints: &mut $soc.chip.lints,
            fx: &mut $soc.fx,
            vcc_v: $soc.chip.vcc_v,
        }
    };
}

fn is_flash(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Flash | RegionKind::InfoFlash | RegionKind::Bsl)
}

fn zeroed<const N: usize>() -> Box<[u8; N]> {
    vec![0u8; N].into_boxed_slice().try_into().expect("the vector has as many bytes")
}

impl Soc {
    pub fn new(dev: Arc<Device>) -> Self {
        let mut memory: Box<[u8; ADDRESS_SPACE]> = zeroed();
        let mut pages: Box<[u8; ADDRESS_SPACE >> 8]> = zeroed();
        for r in &dev.memory {
            let flags = match r.kind {
                RegionKind::Peripheral => continue,
                RegionKind::Ram => READ | WRITE,
                _ => READ,
            };
            if r.kind != RegionKind::Ram {
                memory[r.start as usize..=r.end as usize].fill(0xFF);
            }
            pages[(r.start >> 8) as usize..=(r.end >> 8) as usize].fill(flags);
        }
        let tlv =
            dev.memory.iter().find(|r| r.kind == RegionKind::Rom).map_or(0, |r| r.start as usize);
        if tlv != 0 {
            memory[tlv + 4..tlv + 6].copy_from_slice(&dev.tlv.device_id.to_le_bytes());
            memory[tlv + 6] = dev.tlv.firmware_revision;
            memory[tlv + 7] = dev.tlv.hardware_revision;
        }
        let b = &dev.peripherals;
        let mpy_base = b.mpy32;
        let mut blocks = Box::new([(Block::None, 0u16); 1024]);
        let mut put = |block: Block, base: u32, bytes: u32| {
            for i in base / 4..(base + bytes).div_ceil(4) {
                blocks[i as usize] = (block, (i * 4 - base) as u16);
            }
        };
        put(Block::Sfr, b.sfr, 0x20);
        put(Block::Pmm, b.pmm, 0x20);
        put(Block::Flash, b.flash, 0x10);
        put(Block::Crc16, b.crc16, 8);
        put(Block::RamControl, b.ram_control, 4);
        put(Block::WdtA, b.wdt_a, 4);
        put(Block::Ucs, b.ucs, 0x20);
        put(Block::Sys, b.sys, 0x20);
        put(Block::Ref, b.reference, 0x10);
        let ports = [b.port_a, b.port_b, b.port_c, b.port_d, b.port_e, b.port_f, b.port_j];
        for (i, base) in ports.into_iter().enumerate() {
            put(Block::Port(i as u8), base, 0x20);
        }
        for (i, base) in [b.ta0, b.ta1, b.tb0].into_iter().enumerate() {
            put(Block::Timer(i as u8), base, 0x30);
        }
        put(Block::Mpy32, b.mpy32, MPY_BYTES);
        let usci = [
            b.usci_a0, b.usci_b0, b.usci_a1, b.usci_b1, b.usci_a2, b.usci_b2, b.usci_a3, b.usci_b3,
        ];
        for (i, base) in usci.into_iter().enumerate() {
            put(Block::Usci(i as u8), base, 0x20);
        }
        put(Block::Adc12, b.adc12_a, 0x40);
        let chip = Chip::new(&dev);
        let mut soc = Self {
            memory,
            pages,
            blocks,
            mpy_base,
            deadline: 0,
            chip,
            accounts: Accounts::new(),
            fx: Effects::default(),
            uncached: 0,
            changed: Vec::new(),
            illegal: None,
            watch: None,
            watched: None,
            devices: Vec::new(),
            adc_inputs: Default::default(),
            pending_fault: None,
            flash_hidden: false,
            log_pins: true,
            dev,
        };
        soc.update_clocks(Picos::ZERO, 0);
        soc
    }

    /// Fills RAM with a start-up pattern: never zeros, the same for the same seed.
    pub fn scramble_ram(&mut self, seed: u64) {
        let r = self.dev.region_of(RegionKind::Ram);
        let range = r.start as usize..=r.end as usize;
        for (i, chunk) in self.memory[range].chunks_mut(8).enumerate() {
            let noise = crate::clock::splitmix64(seed ^ (i as u64) << 20).to_le_bytes();
            chunk.copy_from_slice(&noise[..chunk.len()]);
        }
    }

    pub fn now(&self) -> Picos {
        Picos(self.chip.now_ps)
    }

    pub fn is_ram(&self, addr: u32) -> bool {
        self.pages[(addr >> 8) as usize & (MASK >> 8)] & WRITE != 0
    }

    pub fn word(&self, addr: u32) -> u16 {
        let i = addr as usize & MASK & !1;
        u16::from_le_bytes([self.memory[i], self.memory[i + 1]])
    }

    // ---- clocks and modes

    fn line_for(&self, tap: Tap) -> (u32, u32, Option<Jitter>) {
        let jitter = (tap.source == Source::Vlo).then(|| self.vlo_jitter());
        (tap.hz, tap.div, jitter)
    }

    fn vlo_jitter(&self) -> Jitter {
        let c = &self.dev.clock;
        let period_ps = 1e12 / f64::from(c.vlo_hz);
        Jitter {
            seed: self.chip.vlo_seed,
            sigma_ps: (period_ps * c.vlo_jitter.sigma_percent / 100.0).round() as u64,
        }
    }

    fn requests_smclk(&self) -> bool {
        let c = &self.chip;
        c.wdt.requests_smclk()
            || c.timers.iter().any(TimerA::requests_smclk)
            || c.usci.iter().any(Usci::requests_smclk)
            || c.adc.requests_smclk()
    }

    fn requests_aclk(&self) -> bool {
        let c = &self.chip;
        c.wdt.requests_aclk() || c.timers.iter().any(TimerA::requests_aclk) || c.adc.requests_aclk()
    }

    /// SMCLK runs: not switched off by SCG1, or asked for by a module.
    fn smclk_on(&self) -> bool {
        let c = &self.chip;
        !c.ucs.smclk_off()
            && (c.mode & sr::SCG1 == 0 || (c.ucs.smclk_requests() && self.requests_smclk()))
    }

    fn aclk_on(&self) -> bool {
        let c = &self.chip;
        c.mode & sr::OSCOFF == 0 || (c.ucs.aclk_requests() && self.requests_aclk())
    }

    /// Brings the lines, the operating point and the CPU's state in step with the registers.
    pub fn update_clocks(&mut self, now: Picos, cycles: Cycles) {
        let dev = Arc::clone(&self.dev);
        let on = self.chip.powered && !self.chip.held_in_reset;
        let cpu_on = on && self.chip.mode & sr::CPUOFF == 0;
        let smclk_on = on && self.smclk_on();
        let aclk_on = on && self.aclk_on();
        let mclk_tap = self.chip.ucs.mclk(&dev);
        let mclk = self.line_for(mclk_tap);
        let smclk = if smclk_on { self.line_for(self.chip.ucs.smclk(&dev)) } else { (0, 1, None) };
        let aclk = if aclk_on { self.line_for(self.chip.ucs.aclk(&dev)) } else { (0, 1, None) };
        let vlo = if on { (dev.clock.vlo_hz, 1, Some(self.vlo_jitter())) } else { (0, 1, None) };
        let modosc = if on { (dev.clock.modosc_mhz * 1e6).round() as u32 } else { 0 };
        let l = &mut self.chip.clocks;
        // MCLK's ticks are the CPU's cycles; while the CPU sleeps its line is put right at wake-up.
        if cpu_on {
            l.mclk.retune(now, mclk.0, mclk.1, mclk.2);
        }
        l.smclk.retune(now, smclk.0, smclk.1, smclk.2);
        l.aclk.retune(now, aclk.0, aclk.1, aclk.2);
        l.vlo.retune(now, vlo.0, vlo.1, vlo.2);
        l.modosc.retune(now, modosc, 1, None);
        let state = self.cpu_state(on, smclk_on, aclk_on);
        let point = OperatingPoint {
            mclk_hz: if cpu_on { mclk_tap.hz / mclk_tap.div } else { 0 },
            smclk_hz: if smclk_on { self.chip.clocks.smclk.freq_hz() } else { 0 },
            aclk_hz: if aclk_on { self.chip.clocks.aclk.freq_hz() } else { 0 },
            vcore: self.chip.pmm.level,
        };
        self.accounts.set_state(accounts::CPU, state, now, cycles, self.uncached);
        self.accounts.set_point(point, now, cycles, self.uncached);
        self.check_point(cpu_on, point);
    }

    fn cpu_state(&self, on: bool, smclk_on: bool, aclk_on: bool) -> StateId {
        let m = self.chip.mode;
        if !on {
            return accounts::OFF;
        }
        if m & sr::CPUOFF == 0 {
            return accounts::ACTIVE_FLASH;
        }
        // A module that asks for its clock keeps the oscillator on: that is what the mode costs.
        let lpm = match (m & sr::SCG0 != 0, m & sr::SCG1 != 0) {
            _ if m & sr::OSCOFF != 0 && !aclk_on && !smclk_on => 4,
            (scg0, true) if !smclk_on => 2 + u16::from(scg0),
            (scg0, _) => u16::from(scg0),
        };
        StateId(accounts::LPM0.0 + lpm)
    }

    fn check_point(&mut self, cpu_on: bool, point: OperatingPoint) {
        self.illegal = None;
        if !cpu_on {
            return;
        }
        let level = &self.dev.pmm.level[usize::from(point.vcore)];
        let vcc_v = self.chip.vcc_v;
        if point.mclk_hz > level.mclk_max_hz() {
            self.illegal = Some(Fault::device(
                self.dev.peripherals.ucs,
                format!(
                    "MCLK {:.3} MHz exceeds the {} MHz that core voltage level {} allows at {vcc_v:.2} V; raise PMMCOREV before the clock",
                    f64::from(point.mclk_hz) / 1e6,
                    level.mclk_max_mhz,
                    point.vcore
                ),
            ));
        } else if vcc_v < level.vcc_min_v || vcc_v > self.dev.supply.vcc_max_v {
            self.illegal = Some(Fault::device(
                self.dev.peripherals.pmm,
                format!(
                    "supply of {vcc_v:.3} V is outside {} to {} V, which core voltage level {} needs (MCLK {:.3} MHz)",
                    level.vcc_min_v,
                    self.dev.supply.vcc_max_v,
                    point.vcore,
                    f64::from(point.mclk_hz) / 1e6
                ),
            ));
        }
    }

    /// The CPU's status register changed.
    pub fn set_mode(&mut self, status: u32, now: Picos, cycles: Cycles) {
        let new = status & (sr::CPUOFF | sr::OSCOFF | sr::SCG0 | sr::SCG1);
        let old = self.chip.mode;
        if old == new {
            return;
        }
        let smclk_was_on = self.smclk_on();
        self.chip.mode = new;
        if old & sr::SCG0 != 0 && new & sr::SCG0 == 0 {
            self.chip.ucs.relock(&mut cx!(self, self.dev.peripherals.ucs, cycles, now));
            self.fx.clocks = false;
            self.note_faults();
        }
        if old & sr::CPUOFF != 0 && new & sr::CPUOFF == 0 {
            self.wake(old, smclk_was_on, now, cycles);
        } else {
            self.update_clocks(now, cycles);
        }
    }

    fn note_faults(&mut self) {
        if std::mem::take(&mut self.fx.ofifg) || self.chip.ucs.has_faults() {
            self.chip.sfr.ifg1 |= sfr::OFIFG;
        }
    }

    /// MCLK starts again: at its next edge from LPM0 and LPM1 (or where a module kept SMCLK on), after
    /// the wake-up time from deeper modes.
    fn wake(&mut self, from: u32, smclk_was_on: bool, now: Picos, cycles: Cycles) {
        let dev = Arc::clone(&self.dev);
        let tap = self.chip.ucs.mclk(&dev);
        let shallow = from & sr::SCG1 == 0 && from & sr::OSCOFF == 0;
        let start = if shallow || smclk_was_on {
            let line = &self.chip.clocks.mclk;
            let edge =
                if line.is_running() { line.time_of(line.tick_not_before(now)) } else { now };
            edge + Picos::of_ticks(u64::from(dev.wake.lpm01_cycles), (tap.hz / tap.div).max(1))
        } else {
            let w = &dev.wake;
            let mhz = f64::from(tap.hz / tap.div) / 1e6;
            let time_us = match self.chip.pmm.wakes_fast() {
                true if mhz >= w.fast_clock_threshold_mhz => w.fast_us,
                true => w.fast_slow_clock_us,
                false => w.slow_us,
            };
            now + us(time_us)
        };
        self.chip.now_ps = start.0;
        self.chip.clocks.mclk.restart(start, cycles);
        self.update_clocks(start, cycles);
    }

    // ---- interrupts

    /// The pending, enabled interrupt of highest priority: its vector, and whether GIE masks it.
    pub fn pending_interrupt(&self) -> Option<(u32, bool)> {
        let c = &self.chip;
        let v = &self.dev.vectors;
        if c.pmm.snmi().is_some() {
            return Some((v.sysnmi, false));
        }
        if self.user_nmi().is_some() {
            return Some((v.unmi, false));
        }
        let (ta0, ta1, tb0) = (&c.timers[0], &c.timers[1], &c.timers[2]);
        let candidates = [
            (v.tb0_ccr0, tb0.pending_ccr0()),
            (v.tb0, tb0.pending()),
            (v.wdt, c.sfr.ie1 & c.sfr.ifg1 & sfr::WDTIFG != 0),
            (v.usci_a0, c.usci[0].pending()),
            (v.usci_b0, c.usci[1].pending()),
            (v.adc12, c.adc.pending()),
            (v.ta0_ccr0, ta0.pending_ccr0()),
            (v.ta0, ta0.pending()),
            (v.usci_a2, c.usci[4].pending()),
            (v.usci_b2, c.usci[5].pending()),
            (v.ta1_ccr0, ta1.pending_ccr0()),
            (v.ta1, ta1.pending()),
            (v.port1, c.ports[0].pending(0)),
            (v.usci_a1, c.usci[2].pending()),
            (v.usci_b1, c.usci[3].pending()),
            (v.usci_a3, c.usci[6].pending()),
            (v.usci_b3, c.usci[7].pending()),
            (v.port2, c.ports[0].pending(1)),
        ];
        candidates.into_iter().find(|&(_, p)| p).map(|(vector, _)| (vector, true))
    }

    fn user_nmi(&self) -> Option<u16> {
        let c = &self.chip;
        let on = c.sfr.ie1 & c.sfr.ifg1;
        if on & sfr::NMIIFG != 0 {
            Some(2)
        } else if on & sfr::OFIFG != 0 {
            Some(4)
        } else if c.sfr.ie1 & sfr::ACCVIE != 0 && c.flash.access_violation() {
            Some(6)
        } else {
            None
        }
    }

    /// The CPU took the interrupt at `vector`: flags of single sources clear themselves.
    pub fn acknowledge(&mut self, vector: u32) {
        let v = &self.dev.vectors;
        let c = &mut self.chip;
        if vector == v.wdt {
            c.sfr.ifg1 &= !sfr::WDTIFG;
        } else if vector == v.ta0_ccr0 {
            c.timers[0].acknowledge_ccr0();
        } else if vector == v.ta1_ccr0 {
            c.timers[1].acknowledge_ccr0();
        } else if vector == v.tb0_ccr0 {
            c.timers[2].acknowledge_ccr0();
        }
    }

    /// Whether anything but a maskable interrupt could end a sleep.
    pub fn unmaskable_possible(&self) -> bool {
        let c = &self.chip;
        c.wdt.resets()
            || c.pmm.snmi_possible()
            || c.sfr.ie1 & sfr::ACCVIE != 0 && c.flash.busy_until().is_some()
    }

    /// Whether the chip or a part attached to it may yet raise an interrupt that is enabled.
    pub fn maskable_possible(&self) -> bool {
        let c = &self.chip;
        let pins = self.pins_may_wake();
        c.sfr.ie1 & sfr::WDTIFG != 0 && c.wdt.next_event(&c.clocks).is_some()
            || c.timers.iter().any(|t| t.enabled() && t.next_event(&c.clocks).is_some())
            || c.usci.iter().any(|u| (u.enabled() || pins) && u.next_event().is_some())
            || c.adc.enabled() && c.adc.busy()
            || pins && self.devices.iter().any(|d| d.device.next_event().is_some())
            || self.pending_interrupt().is_some()
    }

    // ---- events

    pub fn next_event(&self) -> Option<Picos> {
        let c = &self.chip;
        let mut next = Picos::MAX;
        let mut sooner = |t: Option<Picos>| next = next.min(t.unwrap_or(Picos::MAX));
        sooner(c.pmm.next_event());
        sooner(c.wdt.next_event(&c.clocks));
        sooner(c.flash.next_event());
        sooner(c.adc.next_event());
        for t in &c.timers {
            sooner(t.next_event(&c.clocks));
        }
        for u in &c.usci {
            sooner(u.next_event());
        }
        for d in &self.devices {
            sooner(d.device.next_event());
        }
        (next != Picos::MAX).then_some(next)
    }

    /// Carries out the events that are due at `now`, in order of their times.
    pub fn process_events(&mut self, now: Picos, cycles: Cycles) {
        while let Some(t) = self.next_event() {
            if t > now || self.pending_fault.is_some() {
                break;
            }
            self.process_at(t, now, cycles);
            self.settle_effects(now, cycles);
            if self.fx.reset.is_some() {
                break;
            }
        }
    }

    fn process_at(&mut self, t: Picos, now: Picos, cycles: Cycles) {
        if self.chip.pmm.next_event().is_some_and(|e| e <= t) {
            self.chip.pmm.event(&mut cx!(self, self.dev.peripherals.pmm, cycles, t));
        }
        if self.chip.wdt.next_event(&self.chip.clocks).is_some_and(|e| e <= t) {
            self.chip.wdt.event(&mut cx!(self, self.dev.peripherals.wdt_a, cycles, t));
            // A time-out also leaves WDTIFG set, by which start-up code knows it.
            self.chip.sfr.ifg1 |= sfr::WDTIFG;
        }
        if self.chip.flash.next_event().is_some_and(|e| e <= t) {
            let done = self.chip.flash.event(&mut self.memory[..]);
            self.flash_changed(done);
            self.accounts.set_state(accounts::FLASH, accounts::IDLE, now, cycles, self.uncached);
        }
        for timer in &mut self.chip.timers {
            if timer.next_event(&self.chip.clocks).is_some_and(|e| e <= t) {
                timer.event(&self.chip.clocks, t);
            }
        }
        for i in 0..self.chip.usci.len() {
            if self.chip.usci[i].next_event().is_some_and(|e| e <= t) {
                self.usci_event(i, t, cycles);
            }
        }
        self.adc_event(t, cycles);
        for i in 0..self.devices.len() {
            if self.devices[i].device.next_event().is_some_and(|e| e <= t) {
                self.devices[i].device.event(t);
                self.sync_device(i, now, cycles);
            }
        }
    }

    fn flash_changed(&mut self, done: Option<(u32, u32)>) {
        self.hide_flash(false);
        if let Some((start, bytes)) = done {
            self.changed.push(start & !1..start + bytes);
        }
    }

    /// While flash is busy it cannot be read. Code in flash is held; code in RAM goes on, and its
    /// reads must be caught, those of instructions decoded before included.
    pub fn hide_flash(&mut self, hidden: bool) {
        if self.flash_hidden == hidden {
            return;
        }
        self.flash_hidden = hidden;
        let dev = Arc::clone(&self.dev);
        for r in dev.memory.iter().filter(|r| is_flash(r.kind)) {
            let flags = if hidden { 0 } else { READ };
            self.pages[(r.start >> 8) as usize..=(r.end >> 8) as usize].fill(flags);
            if hidden {
                self.changed.push(r.start..r.end + 1);
            }
        }
    }

    /// Why `addr` cannot be read or fetched, if the reason is a busy flash.
    fn flash_busy_at(&self, addr: u32) -> Option<Fault> {
        let flash = self.flash_hidden && self.dev.region(addr).is_some_and(|r| is_flash(r.kind));
        flash.then(|| {
            Fault::device(
                addr,
                "access to flash while BUSY is set, by code in RAM; wait until FCTL3.BUSY is clear",
            )
        })
    }

    fn usci_event(&mut self, i: usize, t: Picos, cycles: Cycles) {
        let mut usci = self.chip.usci[i].clone();
        let done = usci.event(t);
        if let Some(done) = done {
            self.accounts.count(EventId(accounts::USCI_BYTE.0 + i as u16));
            match done {
                Done::Uart(byte) => {
                    self.chip.uart_log.push(UartByte {
                        time_ps: t.0,
                        usci: USCI[i].to_owned(),
                        byte,
                    });
                }
                Done::Spi(mosi) => {
                    let base = self.usci_base(i);
                    let mut miso = 0xFF;
                    let mut answered = false;
                    for d in 0..self.devices.len() {
                        if self.devices[d].usci == i && self.devices[d].selected {
                            miso = self.devices[d].device.transfer(t, mosi);
                            answered = true;
                            self.sync_device(d, t, cycles);
                        }
                    }
                    if !answered {
                        self.chip.lints.report(crate::lint::LintKind::SpiNobody, base, cycles);
                    } else if !usci.is_mode_0() {
                        self.chip.lints.report(crate::lint::LintKind::SpiMode, base, cycles);
                    }
                    usci.spi_received(mosi, miso);
                }
            }
            let base = self.usci_base(i);
            if let Err(fault) = usci.go_on(&cx!(self, base, cycles, t)) {
                self.pending_fault = Some(fault);
            }
        }
        self.chip.usci[i] = usci;
        self.fx.clocks = true;
    }

    fn usci_base(&self, i: usize) -> u32 {
        let b = &self.dev.peripherals;
        [b.usci_a0, b.usci_b0, b.usci_a1, b.usci_b1, b.usci_a2, b.usci_b2, b.usci_a3, b.usci_b3][i]
    }

    fn adc_event(&mut self, t: Picos, cycles: Cycles) {
        let Some(sample) = self.chip.adc.take_sample(t) else { return };
        self.accounts.count(accounts::ADC12_CONVERSION);
        let probe = Probe { time: sample.time, vcc_v: self.chip.vcc_v, ports: &self.chip.ports };
        let volts = match (&self.adc_inputs[usize::from(sample.channel)], sample.channel) {
            (Some(input), _) => Some(input(&probe)),
            (None, 10) => Some(self.dev.adc12.sensor_25c_mv * 1e-3),
            (None, 11) => Some(self.chip.vcc_v / 2.0),
            (None, _) => None,
        };
        let base = self.dev.peripherals.adc12_a;
        let Some(volts) = volts else {
            let what =
                format!("ADC12 channel A{} has no voltage; connect one to it", sample.channel);
            self.pending_fault = Some(Fault::device(base, what));
            return;
        };
        let (on, select) = self.chip.reference.output();
        let settle = us(self.dev.reference.settle_us);
        let settled =
            self.chip.reference.on_since().is_some_and(|s| Picos(s) + settle <= sample.time);
        let reference = &self.dev.reference;
        let vref = on.then(|| (reference.levels_v[select], settled));
        if sample.uses_reference() && on && self.chip.vcc_v < reference.avcc_min_v[select] {
            self.chip.lints.report(crate::lint::LintKind::ReferenceSupply, base, cycles);
        }
        let result = self.chip.adc.finish(sample, volts, vref, &mut cx!(self, base, cycles, t));
        if let Err(fault) = result {
            self.pending_fault = Some(fault);
        }
        self.fx.clocks = true;
    }

    /// What accesses and events led to outside their peripheral.
    pub fn settle_effects(&mut self, now: Picos, cycles: Cycles) {
        self.note_faults();
        if std::mem::take(&mut self.fx.clocks) {
            self.update_clocks(now, cycles);
        }
        let adc = if self.chip.adc.busy() { accounts::ON } else { accounts::OFF };
        self.accounts.set_state(accounts::ADC12, adc, now, cycles, self.uncached);
        let before = self.chip.reference.output();
        self.chip.reference.adc = self.chip.adc.reference();
        self.chip.reference.update(now.0, before);
        let reference = if self.chip.reference.output().0 { accounts::ON } else { accounts::OFF };
        self.accounts.set_state(accounts::REF, reference, now, cycles, self.uncached);
    }

    // ---- pins and devices

    pub fn pin_level(&self, pin: Pin) -> bool {
        level(&self.chip.ports, pin)
    }

    pub fn drive(&mut self, pin: Pin, level: Option<bool>) {
        let (i, mask) = pair(pin);
        self.chip.ports[i].drive(mask, level);
    }

    /// Whether an outside level could raise an interrupt.
    pub fn pins_may_wake(&self) -> bool {
        self.chip.ports[0].may_wake()
    }

    fn port_written(&mut self, i: usize, now: Picos, cycles: Cycles) {
        let outputs = self.chip.ports[i].outputs();
        let mut changed = outputs ^ self.chip.outputs[i];
        self.chip.outputs[i] = outputs;
        while changed != 0 {
            let bit = changed.trailing_zeros() as u8;
            changed &= changed - 1;
            let port = if i == 6 { PORT_J } else { 2 * i as u8 + 1 + bit / 8 };
            let pin = Pin { port, bit: bit % 8 };
            let edge = PinEdge { time_ps: now.0, cycles, pin, level: outputs >> bit & 1 != 0 };
            if self.log_pins {
                self.chip.pin_log.push(edge);
            }
            if self.watch == Some(pin) {
                self.watched = Some(edge);
            }
        }
        for d in 0..self.devices.len() {
            let (port, mask) = pair(self.devices[d].cs);
            if port == i {
                let p = &self.chip.ports[i];
                let low = p.output_bits() & mask != 0 && outputs & mask == 0;
                let dev = &mut self.devices[d];
                if low != dev.selected {
                    dev.selected = low;
                    if low {
                        dev.device.select(now);
                    } else {
                        dev.device.deselect(now);
                    }
                    self.sync_device(d, now, cycles);
                }
            }
        }
    }

    pub fn attach(
        &mut self,
        name: &str,
        usci: usize,
        cs: Pin,
        device: Box<dyn SpiDevice>,
        cycles: Cycles,
    ) {
        let now = self.now();
        let component = self.accounts.component(name, device.state(), now, cycles);
        self.devices.push(Attached {
            name: name.to_owned(),
            usci,
            cs,
            device,
            component,
            selected: false,
            driving: Vec::new(),
        });
        self.sync_device(self.devices.len() - 1, now, cycles);
    }

    /// Takes over the pins that a device drives, and its state.
    pub fn sync_device(&mut self, d: usize, now: Picos, cycles: Cycles) {
        let dev = &mut self.devices[d];
        let pins = dev.device.pins().to_vec();
        let before = std::mem::replace(&mut dev.driving, pins.iter().map(|p| p.0).collect());
        let (component, state) =
            (dev.component, self.accounts.vocabulary.state(dev.device.state()));
        for pin in before {
            if !pins.iter().any(|p| p.0 == pin) {
                self.drive(pin, None);
            }
        }
        for (pin, high) in pins {
            self.drive(pin, Some(high));
        }
        self.accounts.set_state(component, state, now, cycles, self.uncached);
        self.deadline = 0;
    }

    // ---- registers

    #[cold]
    fn no_peripheral(&self, addr: u32) -> Fault {
        match self.dev.gaps().iter().find(|g| (g.start..=g.end).contains(&addr)) {
            Some(g) => Fault::device(
                addr,
                format!("register of {}, which is not modelled: {}", g.name, g.why),
            ),
            None => Fault::new(FaultKind::Unmapped, addr),
        }
    }

    fn read_register(&mut self, addr: u32, at: Cycles) -> Result<u16, Fault> {
        let now = self.chip.clocks.mclk.time_of(at);
        let (block, base) = self.blocks[(addr >> 2) as usize & 1023];
        let off = u32::from(base) + (addr & 2);
        let mut cx = cx!(self, addr, at, now);
        let mut touched = false;
        let value = match block {
            Block::None => return Err(self.no_peripheral(addr)),
            Block::Sfr => self.chip.sfr.read(off, &cx),
            Block::Pmm => self.chip.pmm.read(off, &cx),
            Block::Flash => self.chip.flash.read(off, &cx),
            Block::Crc16 => self.chip.crc.read(off, &cx),
            Block::RamControl => Ok(0x6900),
            Block::WdtA => self.chip.wdt.read(off, &cx),
            Block::Ucs => self.chip.ucs.read(off, &cx),
            Block::Sys => return self.read_sys(off, addr, at, now),
            Block::Ref => self.chip.reference.read(off, &cx),
            Block::Port(i) => self.chip.ports[usize::from(i)].read(off, &cx),
            Block::Timer(i) => {
                // Reading an interrupt vector clears a flag, and with it the next event is another one.
                touched = off == timer_a::IV;
                self.chip.timers[usize::from(i)].read(off, &cx)
            }
            Block::Mpy32 => self.chip.mpy.read(off, &mut cx),
            Block::Usci(i) => self.chip.usci[usize::from(i)].read(off, &cx),
            Block::Adc12 => self.chip.adc.read(off, &cx),
        };
        if touched || !self.chip.lints.pending.is_empty() {
            self.deadline = 0;
        }
        value
    }

    fn read_sys(&mut self, off: u32, addr: u32, at: Cycles, now: Picos) -> Result<u16, Fault> {
        match off {
            sys::SYSSNIV => Ok(match self.chip.pmm.snmi() {
                Some((code, flag)) => {
                    self.chip.pmm.clear(flag);
                    code
                }
                None => 0,
            }),
            sys::SYSUNIV => {
                let code = self.user_nmi().unwrap_or(0);
                match code {
                    2 => self.chip.sfr.ifg1 &= !sfr::NMIIFG,
                    4 => self.chip.sfr.ifg1 &= !sfr::OFIFG,
                    _ => {}
                }
                self.note_faults();
                Ok(code)
            }
            _ => {
                let cx = cx!(self, addr, at, now);
                self.chip.sys.read(off, &cx)
            }
        }
    }

    fn write_register(
        &mut self,
        addr: u32,
        value: u16,
        mask: u16,
        at: Cycles,
    ) -> Result<(), Fault> {
        let now = self.chip.clocks.mclk.time_of(at);
        let (block, base) = self.blocks[(addr >> 2) as usize & 1023];
        let off = u32::from(base) + (addr & 2);
        let fll = self.chip.mode & sr::SCG0 == 0;
        // Whatever it leads to is looked at behind this instruction.
        let deadline = std::mem::replace(&mut self.deadline, 0);
        let mut cx = cx!(self, addr, at, now);
        match block {
            Block::None => return Err(self.no_peripheral(addr)),
            Block::Sfr => self.chip.sfr.write(off, value, mask, &cx)?,
            Block::Pmm => self.chip.pmm.write(off, value, mask, &mut cx)?,
            Block::Flash => self.chip.flash.write(off, value, mask, &mut cx)?,
            Block::Crc16 => {
                // Leads to nothing else.
                self.deadline = deadline;
                return self.chip.crc.write(off, value, mask, &mut cx);
            }
            Block::RamControl => {
                if value & 0x000F != 0 {
                    return Err(cx.refuse("switching RAM sectors off is not modelled"));
                }
            }
            Block::WdtA => self.chip.wdt.write(off, value, mask, &mut cx)?,
            Block::Ucs => self.chip.ucs.write(off, value, mask, fll, &mut cx)?,
            Block::Sys => self.chip.sys.write(off, value, mask, &cx)?,
            Block::Ref => self.chip.reference.write(off, value, mask, &mut cx)?,
            Block::Port(i) => {
                self.chip.ports[usize::from(i)].write(off, value, mask, &cx)?;
                self.port_written(usize::from(i), now, at);
            }
            Block::Timer(i) => self.chip.timers[usize::from(i)].write(off, value, mask, &mut cx)?,
            Block::Mpy32 => {
                self.chip.mpy.write(off, value, mask, &mut cx)?;
                if self.chip.lints.pending.is_empty() {
                    self.deadline = deadline;
                }
                return Ok(());
            }
            Block::Usci(i) => self.chip.usci[usize::from(i)].write(off, value, mask, &cx)?,
            Block::Adc12 => self.chip.adc.write(off, value, mask, &mut cx)?,
        }
        self.settle_effects(now, at);
        Ok(())
    }

    /// The multiplier's registers, as far as a word access leads to nothing else.
    #[inline(never)]
    fn read_mpy(&self, addr: u32, width: Width, at: Cycles) -> Option<u16> {
        let off = addr.wrapping_sub(self.mpy_base);
        if off >= MPY_BYTES || width != Width::Word {
            return None;
        }
        self.chip.mpy.read_fast(off, at)
    }

    #[inline(never)]
    fn write_mpy(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> bool {
        let off = addr.wrapping_sub(self.mpy_base);
        if off >= MPY_BYTES || width != Width::Word {
            return false;
        }
        let Some(event) = self.chip.mpy.write_fast(off, value, at) else { return false };
        if let Some(event) = event {
            self.accounts.count(event);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn read_slow(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        if addr >= PERIPHERALS_END {
            return Err(self.flash_busy_at(addr).unwrap_or_else(|| Fault::unmapped(addr)));
        }
        let word = self.read_register(addr & !1, at)?;
        Ok(match width {
            Width::Word => word,
            Width::Byte => word >> (8 * (addr & 1)) & 0xFF,
        })
    }

    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> Result<(), Fault> {
        if addr < PERIPHERALS_END {
            let (value, mask) = match width {
                Width::Word => (value, 0xFFFF),
                Width::Byte => ((value & 0xFF) << (8 * (addr & 1)), 0xFF << (8 * (addr & 1))),
            };
            return self.write_register(addr & !1, value, mask, at);
        }
        let dev = Arc::clone(&self.dev);
        let Some(region) = dev.region(addr) else {
            return Err(Fault::new(FaultKind::Unmapped, addr));
        };
        if !matches!(region.kind, RegionKind::Flash | RegionKind::InfoFlash) {
            return Err(Fault::new(FaultKind::ReadOnly, addr));
        }
        let now = self.chip.clocks.mclk.time_of(at);
        self.deadline = 0;
        let mut cx = cx!(self, addr, at, now);
        let state = self.chip.flash.store(region, width, value, &self.memory[..], &mut cx);
        self.accounts.set_state(accounts::FLASH, state?, now, at, self.uncached);
        Ok(())
    }

    // ---- resets and power

    pub fn reset(&mut self, kind: ResetKind, cause: u8, now: Picos, cycles: Cycles) {
        self.fx = Effects::default();
        let dev = Arc::clone(&self.dev);
        // A reset aborts what the flash controller was doing.
        let aborted = self.chip.flash.cut(&mut self.memory[..], now.0 ^ cycles);
        self.flash_changed(aborted);
        if self.chip.powered {
            self.accounts.set_state(accounts::FLASH, accounts::IDLE, now, cycles, self.uncached);
        }
        let c = &mut self.chip;
        c.mode = 0;
        c.pmm.reset(kind);
        c.ucs = Ucs::new(&dev);
        c.flash.reset();
        c.mpy.reset();
        c.sfr.reset();
        c.sys.reset();
        c.sys.add_cause(cause);
        c.reference = Ref::new();
        c.ports.iter_mut().for_each(PortPair::reset);
        c.timers.iter_mut().for_each(TimerA::reset);
        c.usci.iter_mut().for_each(Usci::reset);
        c.adc.reset();
        self.pending_fault = None;
        self.update_clocks(now, cycles);
        self.chip.wdt.reset(&cx!(self, 0, cycles, now));
        for i in 0..7 {
            self.port_written(i, now, cycles);
        }
        self.settle_effects(now, cycles);
        self.deadline = 0;
    }

    /// The supply is gone.
    pub fn power_off(&mut self, now: Picos, cycles: Cycles, seed: u64) {
        let done = self.chip.flash.cut(&mut self.memory[..], seed);
        self.flash_changed(done);
        self.chip.powered = false;
        self.accounts.set_state(accounts::FLASH, accounts::OFF, now, cycles, self.uncached);
        self.accounts.set_state(accounts::ADC12, accounts::OFF, now, cycles, self.uncached);
        self.accounts.set_state(accounts::REF, accounts::OFF, now, cycles, self.uncached);
        for i in 0..self.devices.len() {
            self.devices[i].device.power(now, false);
            self.devices[i].selected = false;
            self.sync_device(i, now, cycles);
        }
        self.update_clocks(now, cycles);
    }

    // ---- snapshots

    pub fn save(&self) -> SavedSoc {
        let memory = self
            .dev
            .memory
            .iter()
            .filter(|r| r.kind != RegionKind::Peripheral)
            .map(|r| self.memory[r.start as usize..=r.end as usize].to_vec())
            .collect();
        SavedSoc {
            device: self.dev.name.clone(),
            memory,
            chip: self.chip.clone(),
            accounts: self.accounts.save(),
            uncached: self.uncached,
            devices: self
                .devices
                .iter()
                .map(|d| (d.name.clone(), d.device.save(), d.selected))
                .collect(),
        }
    }

    pub fn restore(&mut self, saved: SavedSoc) {
        let regions = self.dev.memory.iter().filter(|r| r.kind != RegionKind::Peripheral);
        for (r, bytes) in regions.zip(&saved.memory) {
            self.memory[r.start as usize..=r.end as usize].copy_from_slice(bytes);
            self.changed.push(r.start..r.end + 1);
        }
        self.chip = saved.chip;
        self.accounts = Accounts::restore(&saved.accounts);
        self.uncached = saved.uncached;
        for (d, (_, bytes, selected)) in self.devices.iter_mut().zip(&saved.devices) {
            d.device.restore(bytes);
            d.selected = *selected;
            d.driving = d.device.pins().iter().map(|p| p.0).collect();
        }
        self.fx = Effects::default();
        self.pending_fault = None;
        self.watched = None;
        self.hide_flash(false);
        self.update_clocks(self.now(), self.chip.clocks.mclk.ticks_at(self.now()));
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SavedSoc {
    pub device: String,
    pub memory: Vec<Vec<u8>>,
    pub chip: Chip,
    accounts: SavedAccounts,
    uncached: Cycles,
    pub devices: Vec<(String, Vec<u8>, bool)>,
}

impl Chip {
    fn new(dev: &Device) -> Self {
        let t = &dev.timers;
        let mut timers = [
            TimerA::new(t.ta0_ccrs, false),
            TimerA::new(t.ta1_ccrs, false),
            TimerA::new(t.tb0_ccrs, true),
        ];
        for c in &dev.capture {
            let timer = TIMERS.iter().position(|n| *n == c.timer);
            if let (Some(timer), "aclk") = (timer, c.signal.as_str()) {
                timers[timer].aclk_inputs[usize::from(c.ccr)][usize::from(c.input == "B")] = true;
            }
        }
        let stopped = Line::STOPPED;
        Self {
            clocks: Clocks {
                mclk: stopped,
                smclk: stopped,
                aclk: stopped,
                vlo: stopped,
                modosc: stopped,
            },
            lints: Lints::default(),
            mpy: Mpy32::new(&dev.mpy32),
            pmm: Pmm::new(),
            ucs: Ucs::new(dev),
            flash: FlashController::new(),
            crc: Crc16::new(),
            wdt: WdtA::new(),
            sfr: Sfr::new(),
            sys: Sys::new(),
            reference: Ref::new(),
            ports: std::array::from_fn(|i| PortPair::new(i == 0, i != 6)),
            timers,
            usci: std::array::from_fn(|i| Usci::new(i % 2 == 0)),
            adc: Adc12A::new(),
            vcc_v: dev.supply.vcc_default_v,
            mode: 0,
            now_ps: 0,
            powered: true,
            held_in_reset: false,
            vlo_seed: 0,
            pin_log: Vec::new(),
            uart_log: Vec::new(),
            outputs: [0; 7],
        }
    }
}

impl Bus for Soc {
    #[inline]
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        match self.read_plain(addr, width, at) {
            Some(value) => Ok(value),
            None => self.read_slow(addr, width, at),
        }
    }

    #[inline]
    fn write(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> Result<(), Fault> {
        if self.write_plain(addr, width, value, at) {
            return Ok(());
        }
        self.write_slow(addr, width, value, at)
    }

    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, at: Cycles) -> Option<u16> {
        if self.pages[(addr >> 8) as usize & (MASK >> 8)] & READ == 0 {
            return self.read_mpy(addr, width, at);
        }
        Some(match width {
            Width::Byte => u16::from(self.memory[addr as usize & MASK]),
            Width::Word => self.word(addr),
        })
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u16, at: Cycles) -> bool {
        if self.pages[(addr >> 8) as usize & (MASK >> 8)] & WRITE == 0 {
            return self.write_mpy(addr, width, value, at);
        }
        match width {
            Width::Byte => self.memory[addr as usize & MASK] = value as u8,
            Width::Word => {
                let i = addr as usize & (MASK & !1);
                [self.memory[i], self.memory[i + 1]] = value.to_le_bytes();
            }
        }
        true
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        if self.pages[(addr >> 8) as usize & (MASK >> 8)] & READ == 0 {
            return Err(self.flash_busy_at(addr).unwrap_or_else(|| Fault::not_code(addr)));
        }
        Ok(self.word(addr))
    }

    fn cacheable(&self, addr: u32) -> bool {
        self.pages[(addr >> 8) as usize & (MASK >> 8)] & (READ | WRITE) == READ
    }

    #[inline]
    fn deadline(&self) -> Cycles {
        self.deadline
    }
}
