// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSP430FR5xx and FR6xx: their peripherals and how they hang together.

mod cs;
mod pmm;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::msp430::{Timing, Width, sr};
use sunseal_isa::{Fault, FaultKind};
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos, StateId};

use crate::accounts::{self, Event, Names};
use crate::blocks::adc12_b::{Adc12B, AdcCycles, Inner};
use crate::blocks::aes256::Aes256;
use crate::blocks::block::{Named, numbered, present, wire};
use crate::blocks::crc16::Crc16;
use crate::blocks::crc32::Crc32;
use crate::blocks::dma::{self, Dma, Layout, Next};
use crate::blocks::eusci::{self, Eusci};
use crate::blocks::fram::{Cache, FramController};
use crate::blocks::mpu::{self, Mpu};
use crate::blocks::mpy32::Mpy32;
use crate::blocks::net;
use crate::blocks::port::PortPair;
use crate::blocks::ram_control::RamControl;
use crate::blocks::ref_a::RefA;
use crate::blocks::rtc::{Layout as RtcLayout, Rtc};
use crate::blocks::serial::Serial as _;
use crate::blocks::sfr::Sfr;
use crate::blocks::sys::Sys;
use crate::blocks::timer_a::TimerA;
use crate::blocks::wdt_a::WdtA;
use crate::blocks::{Block as _, Ctx, Effects, Reset, ResetKind, cause};
use crate::clock::{Clocks, Jitter, Line, Rate, STILL, splitmix64};
use crate::cores::msp430::{CODE, Env, FRAM_READ, FRAM_WRITE, Masked, Peripherals, Store};
use crate::device::fr5xx as facts;
use crate::device::{Device, Drifting, RegionKind, us};
use crate::families::Makes;
use crate::families::msp430::{self, Family, Net, Serials, cx};
use crate::lint::LintKind;
use crate::pin::Pin;
use crate::startup;
use cs::{Crystals, Cs, Source};
use pmm::PmmFr;

/// What runs from here on lies in FRAM.
const CODE_START: u32 = 0x4000;
/// Place of port J behind PA to PE.
const PAIR_J: usize = 5;
const PAIRS: usize = 6;

accounts::vocabulary! {
    components
    FRAM "fram" ON, AES "aes256" OFF, ADC12 "adc12" OFF, REF "ref" OFF;
}
const LPM35: StateId = StateId(10);
const LPM45: StateId = StateId(11);
const WAKE_LPM: [Event; 5] =
    [Event::WakeLpm0, Event::WakeLpm1, Event::WakeLpm2, Event::WakeLpm3, Event::WakeLpm4];

const NAMES: Names = Names {
    components: COMPONENTS,
    active: "active.fram",
    states: &["lpm0", "lpm1", "lpm2", "lpm3", "lpm4", "lpm35", "lpm45"],
    events: &[
        &[
            Event::MpyOp16,
            Event::MpyOp32,
            Event::FramHit,
            Event::FramMiss,
            Event::FramWrite,
            Event::FramPowerUp,
            Event::AesEncrypt,
            Event::AesDecrypt,
            Event::AesRoundKey,
            Event::Adc12Conversion,
            Event::Crc16Byte,
            Event::Crc32Byte,
            Event::DmaTransfer,
        ],
        &eusci::BYTES,
        &[
            Event::WakeLpm0,
            Event::WakeLpm1,
            Event::WakeLpm2,
            Event::WakeLpm3,
            Event::WakeLpm4,
            Event::WakeLpm35,
            Event::WakeLpm45,
            Event::WakeReset,
        ],
    ],
};

wire!(
    Blocks,
    Slot,
    Places {
        /// A chip has one of them; the other never runs.
        rtc: [Rtc; 2] = [("rtc_b", "rtc_b", ["rtc"]), ("rtc_c", "rtc_c", ["rtc"])],
        cs: Cs = [("cs", "cs", [])],
        wdt: WdtA = [("wdt_a", "wdt_a", [])],
        aes: Aes256 = [("aes256", "aes256", ["aes"])],
        timers: Vec<TimerA> = [
            numbered!("ta", "timer_a", "_ccr0", ""),
            numbered!("tb", "timer_b", "_ccr0", ""),
        ]
        .concat(),
        eusci: Vec<Eusci> =
            [numbered!("eusci_a", "eusci_a", ""), numbered!("eusci_b", "eusci_b", "")].concat(),
        adc: Adc12B = [("adc12_b", "adc12_b", ["adc12"])],
        sfr: Sfr = [("sfr", "sfr", ["wdt"])],
        pmm: PmmFr = [("pmm", "pmm", [])],
        fram: FramController = [("frctl", "frctl", [])],
        crc: Crc16 = [("crc16", "crc16", [])],
        crc32: Crc32 = [("crc32", "crc32", [])],
        ram_control: RamControl = [("ram_control", "ram_control", [])],
        sys: Sys = [("sys", "sys", [])],
        reference: RefA = [("ref", "ref", [])],
        /// PA to PE, and PJ.
        ports: [PortPair; PAIRS] = [
            ("port_a", "port", ["port1", "port2"]),
            ("port_b", "port", ["port3", "port4"]),
            ("port_c", "port", ["port5", "port6"]),
            ("port_d", "port", ["port7", "port8"]),
            ("port_e", "port", ["port9", "port10"]),
            ("port_j", "port_j", ["", ""]),
        ],
        mpy: Mpy32 = [("mpy32", "mpy32", [])],
        dma: Dma = [("dma", "dma", ["dma"])],
        mpu: Mpu = [("mpu", "mpu", [])],
    }
);

/// What a device file of this family may list, and what it must.
pub(crate) fn makes() -> Makes {
    Makes::of(Blocks::made())
        .needs(&[
            "sfr", "pmm", "frctl", "wdt_a", "cs", "sys", "mpy32", "dma", "mpu", "port_a", "port_j",
        ])
        .core(&["reset", "sysnmi", "unmi"])
        .unmodelled(&["comp_e", "lea", "lcd_c", "esi"])
        .clocks(&["mclk", "smclk", "aclk", "vlo", "modosc", "lfxt"])
        .states(NAMES.states)
}

/// Channels of a device's DMA controller.
fn channels(device: &Device) -> usize {
    device.block("dma").and_then(|b| b.channels).unwrap_or(0)
}

/// What a DMA channel waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    Never,
    Block(Slot, u8),
    /// DMAxIFG of the channel before.
    Chain,
}

impl Trigger {
    fn parse(device: &Device, name: &str) -> Self {
        match Blocks::trigger(Some(device), name) {
            Some((slot, number)) => Self::Block(slot, number),
            None if name == "chain" => Self::Chain,
            None => Self::Never,
        }
    }
}

/// In LPM3.5 or LPM4.5, since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Deep {
    rtc: bool,
    since_ps: u128,
}

/// What a word held before a burst wrote it, in a cycle that the CPU has yet to wait for.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Ahead {
    at: Cycles,
    addr: u32,
    old: u16,
    byte: bool,
}

/// What the registers of the blocks and the clocks hold, as a snapshot keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Registers {
    clocks: Clocks,
    blocks: Blocks,
    cache: Cache,
    /// Wait states of a miss at the present clock.
    waits: Cycles,
    /// Those of data accesses that the CPU has not taken yet.
    stalled: Cycles,
    fram_writes: u64,
    /// FRAM is off: an access powers it up.
    fram_off: bool,
    /// The CPU stands still for a DMA transfer until then.
    dma_until: u128,
    /// A burst pauses for the CPU until then.
    dma_pause: u128,
    /// What the burst that the CPU waits for has written ahead of it.
    dma_ahead: Vec<Ahead>,
    rtc_seen_ps: u128,
    outputs: [u16; PAIRS],
    deep: Option<Deep>,
    booked_hits: u64,
    booked_misses: u64,
    booked_writes: u64,
}

impl Registers {
    fn new(device: &Device) -> Self {
        Self {
            clocks: Clocks::default(),
            blocks: Blocks::new(device),
            cache: Cache::new(),
            waits: 0,
            stalled: 0,
            fram_writes: 0,
            fram_off: false,
            dma_until: 0,
            dma_pause: 0,
            dma_ahead: Vec::new(),
            rtc_seen_ps: 0,
            outputs: [0; PAIRS],
            deep: None,
            booked_hits: 0,
            booked_misses: 0,
            booked_writes: 0,
        }
    }
}

impl Blocks {
    /// Serial interfaces of a chip.
    fn interfaces(device: &Device) -> Vec<Named<1>> {
        present(Self::eusci(), device)
    }

    fn new(device: &Device) -> Self {
        let dev = device.fr5xx();
        let hz = dev.crystals.lfxt_hz;
        let crystals = Crystals {
            lfxt_hz: (hz != 0).then_some(hz),
            hfxt_hz: None,
            lfxt_start_ps: us(dev.crystals.lfxt_start_ms * 1e3).0,
            hfxt_start_ps: us(dev.crystals.hfxt_start_ms * 1e3).0,
        };
        Self {
            rtc: [RtcLayout::B, RtcLayout::C].map(Rtc::new),
            cs: Cs::new(crystals),
            wdt: WdtA::new(),
            aes: Aes256::new(&dev.aes),
            timers: msp430::timers(device, present(Self::timers(), device), &dev.capture),
            eusci: Self::interfaces(device).iter().map(|n| Eusci::new(n.1 == "eusci_a")).collect(),
            adc: Adc12B::new(AdcCycles {
                sample: dev.adc12.sample_cycles.clone(),
                convert: dev.adc12.convert_cycles,
            }),
            sfr: Sfr::new(),
            pmm: PmmFr::new(),
            fram: FramController::new(dev.fram.frctl_a),
            crc: Crc16::new(),
            crc32: Crc32::new(),
            ram_control: RamControl::new(0x00FF, true),
            sys: Sys::default(),
            reference: RefA::new(us(dev.reference.settle_us)),
            ports: std::array::from_fn(|i| PortPair::fr5xx(i != PAIR_J)),
            mpy: Mpy32::new(&dev.mpy32),
            dma: Dma::new(Layout::Five, channels(device)),
            mpu: Mpu::new(),
        }
    }
}

/// The chip around its core: blocks, facts of the device and what a register access leads to.
pub(crate) struct Fr5xx {
    facts: Arc<facts::Fr5xx>,
    map: Box<[(Slot, u16); 1024]>,
    at: Places,
    /// Vectors of the system and the user NMI.
    nmi: [u32; 2],
    /// What each DMAxTSEL stands for, by channel.
    triggers: Box<[Vec<Trigger>; 32]>,
    net: Net,
    serials: Serials,
    chip: Registers,
    fx: Effects,
    /// The unit whose random seed lies in the TLV.
    seeded: Option<u64>,
}

mod converter;
mod memory;
mod modes;
mod registers;
mod transfers;

impl Fr5xx {
    msp430::mapped_inherent!();

    // ---- pins

    fn port_moved(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        self.tell_outputs(env, i, now, cycles);
    }

    fn follow_outputs(&mut self, env: &mut Env, cycles: Cycles) {
        msp430::follow_outputs!(self, env, cycles);
    }

    fn port_written(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        let (b, lints) = (&mut self.chip.blocks, &mut env.common.state.lints);
        let base = self.at.ports[0].base;
        let port = &mut b.ports[i];
        if port.regiven() {
            self.net.written(i, port, &b.timers, net::UNMAPPED, (lints, base, cycles));
        }
        self.tell_outputs(env, i, now, cycles);
        if i == PAIR_J {
            let select = self.chip.blocks.ports[PAIR_J].select_0();
            self.chip.blocks.cs.set_pins(select & 0x10 != 0, select & 0x40 != 0, now);
            self.fx.clocks = true;
        }
    }

    fn lock_pins(&mut self, env: &mut Env, locked: bool, power_up: bool, now: Picos, at: Cycles) {
        self.chip.blocks.ports.iter_mut().for_each(|p| p.lock(locked, power_up));
        for i in 0..PAIRS {
            self.port_written(env, i, now, at);
        }
    }
}

impl Family for Fr5xx {
    msp430::family!(Eusci, eusci, PAIR_J);
}

impl Peripherals for Fr5xx {
    msp430::reaches!();
    msp430::mapped!();

    const TIMING: Timing = Timing::CPUXV2;
    const FRAM: bool = true;

    fn new(env: &mut Env) -> Self {
        let dev = Arc::clone(&env.common.dev);
        let facts = Arc::new(dev.fr5xx().clone());
        let tlv = dev.region(0x1A00).map_or(0x1A00, |r| r.start as usize);
        env.memory[tlv + 4..tlv + 6].copy_from_slice(&facts.tlv.device_id.to_le_bytes());
        env.memory[tlv + 6] = facts.tlv.firmware_revision;
        env.memory[tlv + 7] = facts.tlv.hardware_revision;
        let triggers = std::array::from_fn(|i| {
            let dma = dev.block("dma").expect("checked when the device was read");
            (0..channels(&dev)).map(|c| Trigger::parse(&dev, dma.trigger(i, c))).collect()
        });
        let at = Places::of(&dev);
        let named = Blocks::interfaces(&dev);
        let serials = Serials::new(env, named.iter().map(|n| n.0).collect());
        let unit = |name: &str| match Blocks::trigger(Some(&dev), name)? {
            (Slot::timers(i), ccr) => Some((usize::from(i), usize::from(ccr))),
            _ => None,
        };
        let net = Net::new(&dev, facts.pins.as_ref(), "adc12_b", PAIR_J, unit);
        let mut chip = Registers::new(&dev);
        net.tell(&mut chip.blocks.timers);
        let mut p = Self {
            map: at.map(),
            at,
            nmi: Self::nmi_vectors(&dev),
            triggers: Box::new(triggers),
            net,
            serials,
            chip,
            fx: Effects::default(),
            seeded: None,
            facts,
        };
        p.put_random_seed(env);
        p.protect(env);
        p
    }

    fn set_registers(&mut self, env: &mut Env, registers: Registers) {
        self.chip = registers;
        self.fx = Effects::default();
        self.put_random_seed(env);
        self.protect(env);
    }

    fn fram_watched(&mut self, env: &mut Env) {
        self.protect(env);
    }

    fn remains(&self) -> Option<Vec<u8>> {
        let mut left = self.chip.clone();
        // Counts for the books, and how far events have been looked at.
        (left.cache.hits, left.cache.misses, left.fram_writes) = (0, 0, 0);
        (left.booked_hits, left.booked_misses, left.booked_writes) = (0, 0, 0);
        left.rtc_seen_ps = 0;
        left.dma_ahead.clear();
        postcard::to_stdvec(&left).ok()
    }

    fn update_clocks(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        if self.seeded != Some(env.common.state.seed) {
            self.put_random_seed(env);
        }
        let supplied = env.common.runs();
        let on = supplied && self.chip.deep.is_none();
        let cpu_on = on && env.mode & sr::CPUOFF == 0;
        let smclk_on = on && self.smclk_on(env.mode);
        let aclk_on = on && self.aclk_on(env.mode);
        let mclk_tap = self.chip.blocks.cs.mclk(now);
        let mclk = self.line_for(env, mclk_tap);
        let smclk =
            if smclk_on { self.line_for(env, self.chip.blocks.cs.smclk(now)) } else { STILL };
        let aclk = if aclk_on { self.line_for(env, self.chip.blocks.cs.aclk(now)) } else { STILL };
        let vlo = if on { self.line_for(env, (Source::Vlo, 1)) } else { STILL };
        let modosc = if on { self.hz(Source::Mod) } else { 0 };
        let crystal = self.chip.blocks.cs.lfxt_hz(now);
        // With the RTC it swings through LPM3.5 and the start behind it.
        let keeps = self.chip.deep.map_or(supplied, |d| d.rtc && env.common.state.powered);
        let lfxt = crystal.filter(|_| keeps).unwrap_or(0);
        let l = &mut self.chip.clocks;
        l.retune(now, cpu_on, mclk, smclk, aclk);
        l.vlo.retune(now, vlo.0, vlo.1, vlo.2);
        l.modosc.retune(now, modosc, 1, None);
        l.lfxt.retune(now, lfxt, 1, None);
        self.chip.blocks.clocked(l, now);
        let access_hz = (self.facts.fram.access_max_mhz * 1e6) as u32;
        // What is set up may drift.
        let set_up_hz = self.hz(mclk_tap.0) / mclk_tap.1;
        self.chip.waits = self.chip.blocks.fram.wait_states(set_up_hz, access_hz);
        let state = self.cpu_state(env.mode, supplied, smclk_on, aclk_on);
        let at = (if cpu_on { mclk.0 / mclk.1 } else { 0 }, 0);
        let point = msp430::book_point(env, &self.chip.clocks, state, at, now, cycles);
        let fram = msp430::on(cpu_on && !self.chip.fram_off);
        env.common.accounts.set_state(FRAM, fram, now, cycles, env.common.uncached);
        self.check_point(env, cpu_on, OperatingPoint { mclk_hz: set_up_hz, ..point });
    }

    fn mode_changed(&mut self, env: &mut Env, old: u32, now: Picos, cycles: Cycles) {
        let new = env.mode;
        if old & sr::CPUOFF != 0 && new & sr::CPUOFF == 0 {
            let lpm = msp430::lpm(old, self.smclk_on(old), self.aclk_on(old));
            self.wake(env, old, lpm, now, cycles);
            return;
        }
        let deep = new & sr::CPUOFF != 0 && new & sr::SCG0 != 0 && new & sr::SCG1 != 0;
        if deep && self.chip.blocks.pmm.regulator_off() {
            self.go_deep(env, now, cycles);
        } else {
            self.update_clocks(env, now, cycles);
        }
    }

    fn carry_out_reset(&mut self, env: &mut Env, cycles: Cycles) {
        let Some((kind, cause)) = self.fx.reset.take() else { return };
        if kind == ResetKind::Bor {
            let w = &self.facts.wake;
            let time_us = match (cause, self.chip.deep) {
                (cause::LPM5WU, Some(Deep { rtc: true, .. })) => w.lpm35_us,
                (cause::LPM5WU, _) if self.chip.blocks.pmm.svsh_on() => w.lpm45_us,
                (cause::LPM5WU, _) => w.lpm45_without_svs_us,
                _ => w.reset_us,
            };
            let event = match self.chip.deep {
                Some(Deep { rtc: true, .. }) => Event::WakeLpm35,
                Some(_) => Event::WakeLpm45,
                None => Event::WakeReset,
            };
            env.common.accounts.count(event);
            if let Some(deep) = self.chip.deep {
                let off = env.common.now().since(Picos(deep.since_ps));
                self.wake_ram(env, off, splitmix64(env.common.now().0 as u64));
            }
            msp430::start_up(self, env, us(time_us), cycles);
        }
        self.reset_as(env, kind, cause, env.common.now(), cycles);
    }

    fn vcc_changed(&mut self, env: &mut Env, now: Picos, cycles: Cycles) -> bool {
        let state = &mut env.common.state;
        if state.held_in_reset && state.vcc_v >= self.facts.svs.rising_v {
            state.held_in_reset = false;
            self.reset_as(env, ResetKind::Bor, cause::SVSH, now, cycles);
            return true;
        }
        false
    }

    fn too_low(&self, env: &Env) -> Option<Picos> {
        let svs = &self.facts.svs;
        let low = self.chip.blocks.pmm.svsh_on() && env.common.state.vcc_v < svs.falling_v;
        low.then(|| us(svs.delay_us))
    }

    fn power_off(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        self.book_fram(env);
        self.undo_dma(env, cycles);
        self.chip.deep = None;
        self.chip.fram_off = true;
        msp430::book_off(env, &[FRAM, AES, ADC12, REF], now, cycles);
    }

    fn power_on(&mut self, env: &mut Env, ram_seed: u64, _cycles: Cycles) {
        let off = env.common.off_time();
        self.wake_ram(env, off, ram_seed);
        self.chip.blocks.forget(ram_seed);
        env.common.accounts.count(Event::WakeReset);
        env.common.state.now_ps += us(self.facts.wake.power_up_us).0;
        // SVSH is on after a reset and lets go at its rising level only.
        let state = &mut env.common.state;
        state.held_in_reset = state.vcc_v < self.facts.svs.rising_v;
        state.supervisor_resets += u64::from(state.held_in_reset);
    }

    fn pending_interrupt(&self, _env: &Env) -> Option<(u32, bool)> {
        if self.chip.deep.is_some() {
            return None;
        }
        if self.system_nmi().is_some() {
            return Some((self.nmi[0], false));
        }
        if self.user_nmi().is_some() {
            return Some((self.nmi[1], false));
        }
        let b = &self.chip.blocks;
        let locked = b.pmm.pins_locked();
        let vector = b.asks(&self.at, |slot| locked && matches!(slot, Slot::ports(_)))?;
        Some((vector, true))
    }

    fn acknowledge(&mut self, _env: &mut Env, vector: u32) {
        if self.nmi.contains(&vector) {
            self.chip.blocks.dma.nmi();
        } else {
            self.chip.blocks.taken(&self.at, vector);
        }
    }

    fn unmaskable_possible(&self) -> bool {
        let b = &self.chip.blocks;
        if let Some(deep) = self.chip.deep {
            // Waking up from there is a reset.
            return (deep.rtc && b.rtc.iter().any(Rtc::enabled)) || self.pins_may_wake();
        }
        // A DMA transfer that is still to come may end in something that wakes.
        b.wdt.resets() || (b.dma.enabled() && b.dma.is_watching())
    }

    fn pins_may_wake(&self) -> bool {
        self.chip.blocks.ports.iter().any(PortPair::may_wake)
    }

    fn works_on(&self) -> bool {
        let (b, dma) = (&self.chip.blocks, &self.chip.blocks.dma);
        self.chip.deep.is_none()
            && (self.net.works_on(|i| &b.ports[i], &b.timers, net::UNMAPPED)
                || dma.is_watching()
                || dma.has_work()
                || b.eusci.iter().any(|s| s.next_event().is_some()))
            && self.next_event().is_some()
    }

    fn next_event(&self) -> Option<Picos> {
        let (c, seen) = (&self.chip, Picos(self.chip.rtc_seen_ps));
        if c.deep.is_some() {
            return c.blocks.rtc.iter().filter_map(|r| r.next_event(&c.clocks.lfxt, seen)).min();
        }
        let next = c.blocks.due(&c.clocks, seen);
        let next = if c.dma_pause == 0 { next } else { next.min(Picos(c.dma_pause)) };
        (next != Picos::MAX).then_some(next)
    }

    fn process_at(&mut self, env: &mut Env, t: Picos, _now: Picos, cycles: Cycles) {
        let seen = Picos(self.chip.rtc_seen_ps);
        let lfxt = &self.chip.clocks.lfxt;
        for rtc in &mut self.chip.blocks.rtc {
            if rtc.next_event(lfxt, seen).is_some_and(|e| e <= t) {
                rtc.event(lfxt, t);
            }
        }
        if self.chip.blocks.cs.next_event(seen).is_some_and(|e| e <= t) {
            self.fx.clocks = true;
        }
        self.chip.rtc_seen_ps = t.0;
        if self.chip.deep.is_some() {
            self.wake_if_asked();
            return;
        }
        self.watchdog_event(env, t, cycles);
        if self.chip.dma_pause != 0 && self.chip.dma_pause <= t.0 {
            self.chip.dma_pause = 0;
        }
        self.chip.blocks.advance(&self.chip.clocks, t);
        self.follow_outputs(env, cycles);
        self.serial_events(env, t, cycles);
        self.adc_event(env, t, cycles);
    }

    fn settle_effects(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        self.note_faults();
        if std::mem::take(&mut self.fx.protection) {
            self.protect(env);
        }
        if std::mem::take(&mut self.fx.clocks) {
            self.update_clocks(env, now, cycles);
        }
        let uncached = env.common.uncached;
        let c = &mut self.chip.blocks;
        c.reference.want(c.adc.wants_reference(), now);
        let states = [(AES, c.aes.busy()), (ADC12, c.adc.busy()), (REF, c.reference.is_on())];
        for (component, is_on) in states {
            env.common.accounts.set_state(component, msp430::on(is_on), now, cycles, uncached);
        }
    }

    fn held_until(&mut self, env: &mut Env, _pc: u32, sleeping: bool) -> Option<Picos> {
        let now = env.common.now();
        if self.chip.deep.is_some() {
            return None;
        }
        if now.0 < self.chip.dma_until {
            return Some(Picos(self.chip.dma_until));
        }
        self.poll_dma();
        if !self.chip.blocks.dma.has_work() || self.chip.dma_pause != 0 {
            return None;
        }
        let cycles = self.chip.clocks.mclk.ticks_at(now);
        match self.run_dma(env, cycles, sleeping) {
            Ok(taken) if !sleeping && taken != 0 => {
                let end = self.chip.clocks.mclk.time_of(cycles + taken);
                self.chip.dma_until = end.0;
                Some(end)
            }
            Ok(_) => None,
            Err(fault) => {
                env.common.pending_fault = Some(fault);
                None
            }
        }
    }

    fn ran(&mut self, env: &mut Env, _cycles: Cycles) {
        self.book_fram(env);
    }

    fn read(&mut self, env: &mut Env, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        let shift = 8 * (addr & 1);
        match width {
            Width::Word => self.read_register(env, addr, 0xFFFF, at),
            Width::Byte => {
                Ok(self.read_register(env, addr & !1, 0xFF << shift, at)? >> shift & 0xFF)
            }
        }
    }

    /// A store to memory that refuses it, to FRAM that is off, or to ROM.
    fn store(&mut self, env: &mut Env, to: Store, _at: Cycles) -> Result<(), Fault> {
        let Store { addr, width, value } = to;
        match env.common.dev.region(addr).map(|r| r.kind) {
            Some(RegionKind::Fram) => {}
            Some(_) => return Err(Fault::new(FaultKind::ReadOnly, addr)),
            None => return Err(Fault::new(FaultKind::Unmapped, addr)),
        }
        self.power_fram_up(env);
        if self.chip.blocks.mpu.rights(addr, addr < 0x4000) & mpu::WRITE == 0 {
            self.violate(env, addr);
        } else if self.chip.blocks.fram.write_protected() {
            env.deadline = 0;
        } else {
            self.fram_written(addr);
            env.keep_page(addr);
            env.put(addr, width, value);
            env.code_changed(addr & !1..(addr & !1) + 2);
        }
        Ok(())
    }

    #[inline(always)]
    fn fetched(&mut self, env: &mut Env, pc: u32, bytes: u32) -> Cycles {
        // The line of the last access is FRAM's, and so is this.
        if self.chip.cache.has_at_hand(pc, bytes) {
            self.chip.cache.hits += u64::from(bytes / 2);
            return 0;
        }
        if pc >= CODE_START && !self.chip.fram_off {
            return self.chip.cache.fetch(pc, bytes) * self.chip.waits;
        }
        self.fetched_elsewhere(env, pc, bytes)
    }

    #[inline(always)]
    fn stall(&mut self) -> Cycles {
        std::mem::take(&mut self.chip.stalled)
    }

    #[inline(always)]
    fn fram_read(&mut self, addr: u32) {
        self.chip.stalled += self.chip.cache.read(addr, 1) * self.chip.waits;
    }

    #[inline(always)]
    fn fram_written(&mut self, addr: u32) {
        self.chip.cache.write(addr);
        self.chip.fram_writes += 1;
        self.chip.stalled += self.chip.waits;
    }

    fn refused(&mut self, env: &mut Env, addr: u32) -> Option<u16> {
        if !Self::fram_region(env, addr) {
            return None;
        }
        if self.chip.fram_off {
            self.power_fram_up(env);
            if env.page(addr) & FRAM_READ != 0 {
                self.fram_read(addr);
                return Some(env.word(addr));
            }
        }
        self.violate(env, addr);
        Some(mpu::REFUSED)
    }

    fn drive(&mut self, pin: Pin, level: Option<bool>, _at: Picos) {
        let Some((i, mask)) = msp430::pair(pin, PAIR_J) else { return };
        self.chip.blocks.ports[i].drive(mask, level);
        self.wake_if_asked();
    }

    fn shifted_in(&mut self, _env: &mut Env, serial: usize, byte: u8) -> u8 {
        self.chip.blocks.eusci[serial].slave_exchange(byte)
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        self.chip.blocks.cs.fit(oscillator, hz)
    }
}
