// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSP430F5xx: the peripherals of the F5438A and how they hang together.

mod pmm;
mod ucs;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::msp430::{Timing, Width, sr};
use sunseal_registers::msp430fr5xx::sys::{SYSSNIV, SYSUNIV};
use sunseal_registers::msp430x5xx::flash::ACCVIE;
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos};

use crate::accounts::{self, Event, Names};
use crate::blocks::adc12_a::Adc12A;
use crate::blocks::block::{Named, numbered, present, wire};
use crate::blocks::crc16::Crc16;
use crate::blocks::flash::FlashController;
use crate::blocks::mpy32::Mpy32;
use crate::blocks::net;
use crate::blocks::port::PortPair;
use crate::blocks::ram_control::RamControl;
use crate::blocks::reference::Ref;
use crate::blocks::serial::Serial as _;
use crate::blocks::sfr::Sfr;
use crate::blocks::sys::Sys;
use crate::blocks::timer_a::TimerA;
use crate::blocks::usci::Usci;
use crate::blocks::wdt_a::WdtA;
use crate::blocks::{Ctx, Effects, Reset, ResetKind, cause};
use crate::clock::{Clocks, Jitter, Line, Rate, STILL};
use crate::cores::msp430::{Env, Masked, Peripherals, Store, of_word};
use crate::device::{self, Device, Drifting, RegionKind, us};
use crate::families::Makes;
use crate::families::msp430::{self, Family, Net, Serials, cx};
use crate::lint::LintKind;
use crate::pin::Pin;
use pmm::Pmm;
use ucs::{Source, Tap, Ucs};

const USCI_BYTE: [Event; 8] = [
    Event::UsciA0Byte,
    Event::UsciB0Byte,
    Event::UsciA1Byte,
    Event::UsciB1Byte,
    Event::UsciA2Byte,
    Event::UsciB2Byte,
    Event::UsciA3Byte,
    Event::UsciB3Byte,
];

/// PA to PF; PJ lies behind them.
const PAIRS: usize = 6;

accounts::vocabulary! {
    components
    pub(crate) FLASH "flash" IDLE, ADC12 "adc12" OFF, REF "ref" OFF;
}

const NAMES: Names = Names {
    components: COMPONENTS,
    active: "active.flash",
    states: msp430::FLASH_STATES,
    events: &[
        &[
            Event::MpyOp16,
            Event::MpyOp32,
            Event::FlashWordWrite,
            Event::FlashSegmentErase,
            Event::FlashMassErase,
            Event::Adc12Conversion,
            Event::Crc16Byte,
        ],
        &USCI_BYTE,
    ],
};

wire!(
    Blocks,
    Slot,
    Places {
        pmm: Pmm = [("pmm", "pmm", [])],
        wdt: WdtA = [("wdt_a", "wdt_a", [])],
        flash: FlashController = [("flash", "flash", [])],
        timers: Vec<TimerA> = [
            numbered!("ta", "timer_a", "_ccr0", ""),
            numbered!("tb", "timer_b", "_ccr0", ""),
        ]
        .concat(),
        usci: Vec<Usci> =
            [numbered!("usci_a", "usci_a", ""), numbered!("usci_b", "usci_b", "")].concat(),
        adc: Adc12A = [("adc12_a", "adc12_a", ["adc12"])],
        sfr: Sfr = [("sfr", "sfr", ["wdt"])],
        crc: Crc16 = [("crc16", "crc16", [])],
        ram_control: RamControl = [("ram_control", "ram_control", [])],
        ucs: Ucs = [("ucs", "ucs", [])],
        sys: Sys = [("sys", "sys", [])],
        reference: Ref = [("ref", "ref", [])],
        /// PA to PF, and PJ.
        ports: [PortPair; 7] = [
            ("port_a", "port", ["port1", "port2"]),
            ("port_b", "port", ["", ""]),
            ("port_c", "port", ["", ""]),
            ("port_d", "port", ["", ""]),
            ("port_e", "port", ["", ""]),
            ("port_f", "port", ["", ""]),
            ("port_j", "port_j", ["", ""]),
        ],
        mpy: Mpy32 = [("mpy32", "mpy32", [])],
    }
);

/// What a device file of this family may list, and what it must.
pub(crate) fn makes() -> Makes {
    Makes::of(Blocks::made())
        .needs(&["sfr", "pmm", "flash", "wdt_a", "ucs", "sys", "mpy32", "port_a", "port_j"])
        .core(&["reset", "sysnmi", "unmi"])
        .unmodelled(&["dma", "rtc"])
        .clocks(&["mclk", "smclk", "aclk", "vlo", "modosc"])
        .states(NAMES.states)
}

fn is_flash(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Flash | RegionKind::InfoFlash | RegionKind::Bsl)
}

/// What the registers of the blocks and the clocks hold, as a snapshot keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Registers {
    clocks: Clocks,
    blocks: Blocks,
    outputs: [u16; 7],
}

impl Blocks {
    /// Serial interfaces of a chip.
    fn interfaces(device: &Device) -> Vec<Named<1>> {
        present(Self::usci(), device)
    }

    fn new(device: &Device) -> Self {
        let dev = device.f5xx();
        Self {
            pmm: Pmm::new(),
            wdt: WdtA::new(),
            flash: FlashController::new(),
            timers: msp430::timers(device, present(Self::timers(), device), &dev.capture),
            usci: Self::interfaces(device).iter().map(|n| Usci::new(n.1 == "usci_a")).collect(),
            adc: Adc12A::new(&dev.adc12.sample_cycles, dev.adc12.convert_cycles, dev.adc12.bits),
            sfr: Sfr::new(),
            crc: Crc16::new(),
            ram_control: RamControl::new(0x000F, false),
            ucs: Ucs::new(dev),
            sys: Sys::default(),
            reference: Ref::new(),
            ports: std::array::from_fn(|i| PortPair::new(i == 0, i != PAIRS)),
            mpy: Mpy32::new(&dev.mpy32),
        }
    }
}

/// The chip around its core: blocks, facts of the device and what a register access leads to.
pub(crate) struct F5xx {
    facts: Arc<device::F5xx>,
    map: Box<[(Slot, u16); 1024]>,
    at: Places,
    /// Vectors of the system and the user NMI.
    nmi: [u32; 2],
    net: Net,
    serials: Serials,
    chip: Registers,
    fx: Effects,
    /// Flash is busy and code in RAM runs: reads and fetches of flash fault.
    flash_hidden: bool,
}

mod modes;

impl F5xx {
    msp430::mapped_inherent!();

    fn adc_event(&mut self, env: &mut Env, t: Picos, cycles: Cycles) {
        let asked = self.chip.blocks.adc.channels();
        let Some(sample) = self.chip.blocks.adc.take_sample(t) else { return };
        let base = self.at.adc[0].base;
        let (ports, sensor_v) = (&self.chip.blocks.ports, self.facts.adc12.sensor_25c_mv * 1e-3);
        let level = |pin| msp430::level(ports, PAIRS, pin);
        let Some(volts) = msp430::adc12_volts(env, &sample, &asked, sensor_v, &level, base) else {
            return;
        };
        let (on, select) = self.chip.blocks.reference.output();
        let settle = us(self.facts.reference.settle_us);
        let settled =
            self.chip.blocks.reference.on_since().is_some_and(|s| Picos(s) + settle <= sample.time);
        let reference = &self.facts.reference;
        let vref = on.then(|| (reference.levels_v[select], settled));
        if sample.uses_reference() && on && env.common.state.vcc_v < reference.avcc_min_v[select] {
            env.common.state.lints.report(LintKind::ReferenceSupply, base, cycles);
        }
        let result =
            self.chip.blocks.adc.finish(sample, volts, vref, &mut cx!(self, env, base, cycles, t));
        env.common.keep_fault(result);
        self.fx.clocks = true;
    }

    fn read_register(&mut self, env: &mut Env, addr: u32, at: Cycles) -> Result<u16, Fault> {
        let now = self.chip.clocks.mclk.time_of(at);
        let (slot, off) = self.slot_at(addr);
        if let (Slot::sys(_), SYSSNIV | SYSUNIV) = (slot, off) {
            return Ok(self.take_nmi(off));
        }
        let mut cx = cx!(self, env, addr, at, now);
        let value = self.chip.blocks.read(slot, off, 0xFFFF, &mut cx);
        if std::mem::take(&mut self.fx.touched) || !env.common.state.lints.pending.is_empty() {
            env.deadline = 0;
        }
        if let Slot::timers(_) = slot {
            self.follow_outputs(env, at);
        }
        value
    }

    fn port_written(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        let (b, lints) = (&mut self.chip.blocks, &mut env.common.state.lints);
        let base = self.at.ports[0].base;
        let port = &mut b.ports[i];
        if port.regiven() {
            self.net.written(i, port, &b.timers, net::UNMAPPED, (lints, base, cycles));
        }
        self.port_moved(env, i, now, cycles);
    }

    fn port_moved(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        self.tell_outputs(env, i, now, cycles);
    }

    fn follow_outputs(&mut self, env: &mut Env, cycles: Cycles) {
        msp430::follow_outputs!(self, env, cycles);
    }

    /// The vector of the pending system or user NMI, which is cleared.
    fn take_nmi(&mut self, off: u32) -> u16 {
        if off == SYSSNIV {
            let Some((code, flag)) = self.chip.blocks.pmm.snmi() else { return 0 };
            self.chip.blocks.pmm.clear(flag);
            return code;
        }
        let code = self.user_nmi().unwrap_or(0);
        self.chip.blocks.sfr.user_nmi_taken(code);
        self.note_faults();
        code
    }

    fn write_register(&mut self, env: &mut Env, to: Masked, at: Cycles) -> Result<(), Fault> {
        let Masked { addr, value, mask } = to;
        let now = self.chip.clocks.mclk.time_of(at);
        let (slot, off) = self.slot_at(addr);
        // Whatever it leads to is looked at behind this instruction.
        let deadline = std::mem::replace(&mut env.deadline, 0);
        let level = self.chip.blocks.pmm.svsh_level();
        let mut cx = cx!(self, env, addr, at, now);
        if self.chip.blocks.write(slot, off, value, mask, &mut cx)? {
            if env.common.state.lints.pending.is_empty() {
                env.deadline = deadline;
            }
            return Ok(());
        }
        match slot {
            Slot::pmm(_) if level != self.chip.blocks.pmm.svsh_level() => self.supervise(env, now),
            Slot::ports(i) => self.port_written(env, usize::from(i), now, at),
            Slot::timers(_) => self.follow_outputs(env, at),
            Slot::usci(i) => self.spi_begins(env, usize::from(i), now, at),
            _ => {}
        }
        self.settle_effects(env, now, at);
        Ok(())
    }

    fn reset_as(&mut self, env: &mut Env, kind: ResetKind, cause: u8, now: Picos, cycles: Cycles) {
        self.fx = Effects::default();
        // MCLK may have been at rest.
        self.chip.clocks.restart(now, cycles);
        env.mode = 0;
        let facts = Arc::clone(&self.facts);
        // A reset aborts what the flash controller was doing.
        let aborted = self.chip.blocks.flash.cut(&mut env.memory[..], now.0 as u64 ^ cycles);
        self.flash_changed(env, aborted);
        if env.common.state.powered {
            env.common.accounts.set_state(FLASH, accounts::IDLE, now, cycles, env.common.uncached);
        }
        let b = &mut self.chip.blocks;
        b.restart(Reset::of(kind));
        b.ucs = Ucs::new(&facts);
        b.sys.add_cause(cause);
        env.common.pending_fault = None;
        self.update_clocks(env, now, cycles);
        self.chip.blocks.wdt.reset(&cx!(self, env, 0, cycles, now));
        for i in 0..=PAIRS {
            self.port_written(env, i, now, cycles);
        }
        self.settle_effects(env, now, cycles);
        env.deadline = 0;
    }
}

impl Family for F5xx {
    msp430::family!(Usci, usci, PAIRS);
}

impl Peripherals for F5xx {
    msp430::reaches!();
    msp430::mapped!();
    msp430::flash_chip!(&[FLASH, ADC12, REF]);

    const TIMING: Timing = Timing::CPUXV2;

    const EVENTS_STAY: bool = true;

    fn new(env: &mut Env) -> Self {
        let dev = Arc::clone(&env.common.dev);
        let facts = Arc::new(dev.f5xx().clone());
        if let Some(rom) = dev.memory.iter().find(|r| r.kind == RegionKind::Rom) {
            let tlv = rom.start as usize;
            env.memory[tlv + 4..tlv + 6].copy_from_slice(&facts.tlv.device_id.to_le_bytes());
            env.memory[tlv + 6] = facts.tlv.firmware_revision;
            env.memory[tlv + 7] = facts.tlv.hardware_revision;
        }
        let at = Places::of(&dev);
        let named = Blocks::interfaces(&dev);
        let serials = Serials::new(env, named.iter().map(|n| n.0).collect());
        let unit = |name: &str| match Blocks::trigger(Some(&dev), name)? {
            (Slot::timers(i), ccr) => Some((usize::from(i), usize::from(ccr))),
            _ => None,
        };
        let net = Net::new(&dev, facts.pins.as_ref(), "adc12_a", PAIRS, unit);
        let mut blocks = Blocks::new(&dev);
        net.tell(&mut blocks.timers);
        Self {
            map: at.map(),
            at,
            nmi: Self::nmi_vectors(&dev),
            net,
            serials,
            chip: Registers { clocks: Clocks::default(), blocks, outputs: [0; 7] },
            fx: Effects::default(),
            flash_hidden: false,
            facts,
        }
    }

    fn update_clocks(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        let facts = Arc::clone(&self.facts);
        let on = env.common.runs();
        let cpu_on = on && env.mode & sr::CPUOFF == 0;
        let smclk_on = on && self.smclk_on(env.mode);
        let aclk_on = on && self.aclk_on(env.mode);
        let mclk_tap = self.chip.blocks.ucs.mclk(&facts);
        let mclk = self.line_for(env, mclk_tap);
        let smclk =
            if smclk_on { self.line_for(env, self.chip.blocks.ucs.smclk(&facts)) } else { STILL };
        let aclk =
            if aclk_on { self.line_for(env, self.chip.blocks.ucs.aclk(&facts)) } else { STILL };
        let vlo = if on {
            self.line_for(env, Tap { source: Source::Vlo, hz: facts.clock.vlo_hz, div: 1 })
        } else {
            STILL
        };
        let modosc = if on { (facts.clock.modosc_mhz * 1e6).round() as u32 } else { 0 };
        let l = &mut self.chip.clocks;
        l.retune(now, cpu_on, mclk, smclk, aclk);
        l.vlo.retune(now, vlo.0, vlo.1, vlo.2);
        l.modosc.retune(now, modosc, 1, None);
        self.chip.blocks.clocked(l, now);
        let state = msp430::cpu_state(env.mode, on, smclk_on, aclk_on);
        let mclk_hz = if cpu_on { mclk.0 / mclk.1 } else { 0 };
        let at = (mclk_hz, self.chip.blocks.pmm.level);
        let point = msp430::book_point(env, &self.chip.clocks, state, at, now, cycles);
        // What is set up may drift.
        let set_up = OperatingPoint { mclk_hz: mclk_tap.hz / mclk_tap.div, ..point };
        self.check_point(env, cpu_on, set_up);
    }

    fn mode_changed(&mut self, env: &mut Env, old: u32, now: Picos, cycles: Cycles) {
        let new = env.mode;
        let smclk_was_on = self.smclk_on(old);
        if old & sr::SCG0 != 0 && new & sr::SCG0 == 0 {
            self.chip.blocks.ucs.relock(&mut cx!(self, env, self.at.ucs[0].base, cycles, now));
            self.fx.clocks = false;
            self.note_faults();
        }
        if old & sr::CPUOFF != 0 && new & sr::CPUOFF == 0 {
            self.wake(env, old, smclk_was_on, now, cycles);
        } else {
            self.update_clocks(env, now, cycles);
        }
    }

    fn carry_out_reset(&mut self, env: &mut Env, cycles: Cycles) {
        let Some((kind, cause)) = self.fx.reset.take() else { return };
        if kind == ResetKind::Bor {
            let time = us(self.facts.wake.reset_ms * 1e3);
            msp430::start_up(self, env, time, cycles);
        }
        self.reset_as(env, kind, cause, env.common.now(), cycles);
    }

    fn vcc_changed(&mut self, env: &mut Env, now: Picos, cycles: Cycles) -> bool {
        let rising_v = &self.facts.svs.svsh_rising_v;
        let least_v = self.chip.blocks.pmm.svsh_level().map_or(0.0, |l| rising_v[l]);
        let state = &mut env.common.state;
        if state.held_in_reset && state.vcc_v >= least_v {
            state.held_in_reset = false;
            self.reset_as(env, ResetKind::Por, cause::SVSH, now, cycles);
            return true;
        }
        false
    }

    fn too_low(&self, env: &Env) -> Option<Picos> {
        let (pmm, svs) = (&self.chip.blocks.pmm, &self.facts.svs);
        // A level that the program just chose is not looked at until it has settled.
        if pmm.svsh_settles() {
            return None;
        }
        let delay_us = match pmm.svsh_full_performance() {
            true => svs.delay_full_performance_us,
            false => svs.delay_normal_us,
        };
        let level = pmm.svsh_level()?;
        (env.common.state.vcc_v < svs.svsh_falling_v[level]).then(|| us(delay_us))
    }

    fn pending_interrupt(&self, _env: &Env) -> Option<(u32, bool)> {
        if self.chip.blocks.pmm.snmi().is_some() {
            return Some((self.nmi[0], false));
        }
        if self.user_nmi().is_some() {
            return Some((self.nmi[1], false));
        }
        self.chip.blocks.asks(&self.at, |_| false).map(|vector| (vector, true))
    }

    fn acknowledge(&mut self, _env: &mut Env, vector: u32) {
        self.chip.blocks.taken(&self.at, vector);
    }

    fn unmaskable_possible(&self) -> bool {
        let b = &self.chip.blocks;
        b.wdt.resets()
            || b.pmm.snmi_possible()
            || b.sfr.ie1 & ACCVIE != 0 && b.flash.busy_until().is_some()
    }

    fn pins_may_wake(&self) -> bool {
        self.chip.blocks.ports[0].may_wake()
    }

    fn works_on(&self) -> bool {
        let b = &self.chip.blocks;
        (self.net.works_on(|i| &b.ports[i], &b.timers, net::UNMAPPED)
            || b.usci.iter().any(|s| s.next_event().is_some()))
            && self.next_event().is_some()
    }

    fn next_event(&self) -> Option<Picos> {
        let next = self.chip.blocks.due(&self.chip.clocks, Picos::ZERO);
        (next != Picos::MAX).then_some(next)
    }

    fn process_at(&mut self, env: &mut Env, t: Picos, now: Picos, cycles: Cycles) {
        if self.chip.blocks.pmm.next_event().is_some_and(|e| e <= t) {
            self.chip.blocks.pmm.event(&mut cx!(self, env, self.at.pmm[0].base, cycles, t));
            self.supervise(env, t);
        }
        self.watchdog_event(env, t, cycles);
        if self.chip.blocks.flash.next_event().is_some_and(|e| e <= t) {
            let done = self.chip.blocks.flash.event(&mut env.memory[..]);
            self.flash_changed(env, done);
            env.common.accounts.set_state(FLASH, accounts::IDLE, now, cycles, env.common.uncached);
        }
        self.chip.blocks.advance(&self.chip.clocks, t);
        self.follow_outputs(env, cycles);
        self.serial_events(env, t, cycles);
        self.adc_event(env, t, cycles);
    }

    fn settle_effects(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        self.note_faults();
        if std::mem::take(&mut self.fx.clocks) {
            self.update_clocks(env, now, cycles);
        }
        let adc = msp430::on(self.chip.blocks.adc.busy());
        env.common.accounts.set_state(ADC12, adc, now, cycles, env.common.uncached);
        let before = self.chip.blocks.reference.output();
        self.chip.blocks.reference.adc = self.chip.blocks.adc.reference();
        self.chip.blocks.reference.update(now.0, before);
        let reference = msp430::on(self.chip.blocks.reference.output().0);
        env.common.accounts.set_state(REF, reference, now, cycles, env.common.uncached);
    }

    fn held_until(&mut self, env: &mut Env, pc: u32, sleeping: bool) -> Option<Picos> {
        let end = self.chip.blocks.flash.busy_until()?;
        if sleeping || !env.is_ram(pc) {
            // Flash cannot be read meanwhile: the CPU is held.
            return Some(end);
        }
        self.hide_flash(env, true);
        None
    }

    fn read(&mut self, env: &mut Env, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        let word = self.read_register(env, addr & !1, at)?;
        Ok(of_word(addr, width, word))
    }

    fn store(&mut self, env: &mut Env, to: Store, at: Cycles) -> Result<(), Fault> {
        let Store { addr, width, value } = to;
        let dev = Arc::clone(&env.common.dev);
        let region = msp430::flash_at(&dev, addr)?;
        let now = self.chip.clocks.mclk.time_of(at);
        env.deadline = 0;
        let mut cx = cx!(self, env, addr, at, now);
        let state = self.chip.blocks.flash.store(region, width, value, &env.memory[..], &mut cx);
        env.common.accounts.set_state(FLASH, state?, now, at, env.common.uncached);
        Ok(())
    }

    fn drive(&mut self, pin: Pin, level: Option<bool>, _at: Picos) {
        let Some((i, mask)) = msp430::pair(pin, PAIRS) else { return };
        self.chip.blocks.ports[i].drive(mask, level);
    }
}
