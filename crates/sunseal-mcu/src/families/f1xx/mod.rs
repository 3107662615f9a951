// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSP430x1xx: the peripherals of the F1611 and how they hang together.
//!
//! Modules below 0x0100 are eight bits wide, the others sixteen (SLAU049, section 1.4.4). A word written
//! to a byte module leaves its high byte behind; a byte written to a word module clears the high byte.

mod basic_clock;
mod svs;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::msp430::{Timing, Width, sr};
use sunseal_registers::msp430fr5xx::mpy32::OP2;
use sunseal_registers::msp430fr5xx::port::{P1IE, P1IES, P1IFG, PADIR, PAIN, PAOUT, PASEL0};
use sunseal_registers::msp430fr5xx::timer_a::TAIV;
use sunseal_registers::msp430x1xx as at;
use sunseal_registers::msp430x1xx::sfr::{ACCVIE, NMIIFG, OFIFG, WDTIFG};
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos};

use crate::accounts::{self, Event, Names};
use crate::blocks::adc12_a::Adc12A;
use crate::blocks::block::wire;
use crate::blocks::dma::{self, Dma, Move, Next};
use crate::blocks::flash_f1xx::{Activity, FlashF1xx};
use crate::blocks::follow::Follow;
use crate::blocks::mpy32::Mpy32;
use crate::blocks::net;
use crate::blocks::port::PortPair;
use crate::blocks::serial::Serial as _;
use crate::blocks::timer_a::TimerA;
use crate::blocks::usart::Usart;
use crate::blocks::wdt::Wdt;
use crate::blocks::{Block, Ctx, Effects, Reset, ResetKind, cause};
use crate::clock::{Clocks, Line, STILL};
use crate::common::ROOM_C;
use crate::cores::msp430::{Env, Masked, Peripherals, READ, Store};
use crate::device::{self, Device, RegionKind, us};
use crate::families::Makes;
use crate::families::msp430::{self, ERASE, Family, Net, Serials, WRITE, cx};
use crate::lint::LintKind;
use crate::pin::Pin;
use basic_clock::{At, BasicClock, Source};
use svs::Svs;

const SERIALS: [&str; 2] = ["usart0", "usart1"];
const USART_BYTE: [Event; 2] = [Event::Usart0Byte, Event::Usart1Byte];
const TIMERS: [&str; 2] = ["ta", "tb"];
/// Pairs of ports: PA to PC.
const PAIRS: usize = 3;

accounts::vocabulary! {
    components
    FLASH "flash" IDLE, ADC12 "adc12" OFF, REF "ref" OFF, SVS "svs" OFF;
}

const NAMES: Names = Names {
    components: COMPONENTS,
    active: "active.flash",
    states: msp430::FLASH_STATES,
    events: &[
        &[
            Event::Mpy16Op,
            Event::FlashWordWrite,
            Event::FlashSegmentErase,
            Event::FlashMassErase,
            Event::Adc12Conversion,
        ],
        &USART_BYTE,
    ],
};

wire!(
    Blocks,
    Slot,
    Places {
        wdt: Wdt = [("wdt", "wdt", ["wdt"])],
        svs: Svs = [("svs", "svs", [])],
        flash: FlashF1xx = [("flash", "flash", [])],
        timers: [TimerA; 2] =
            [("timer_a", "timer_a", ["ta_ccr0", "ta"]), ("timer_b", "timer_b", ["tb_ccr0", "tb"])],
        usarts: [Usart; 2] = [
            ("usart0", "usart", ["usart0_rx", "usart0_tx"]),
            ("usart1", "usart", ["usart1_rx", "usart1_tx"]),
        ],
        adc: Adc12A = [("adc12", "adc12", ["adc12"])],
        dma: Dma = [("dma", "dma", ["dac12_dma"])],
        clock: BasicClock = [("basic_clock", "basic_clock", [])],
        mpy: Mpy32 = [("mpy", "mpy", [])],
        ports: [PortPair; 3] = [
            ("ports", "ports", ["port1", "port2"]),
            ("ports", "ports", ["", ""]),
            ("ports", "ports", ["", ""]),
        ],
    }
);

/// What a device file of this family lists: all of it, as its modules lie at the same addresses on every chip.
pub(crate) fn makes() -> Makes {
    let (mut blocks, interrupts) = Blocks::made();
    blocks.push(("sfr", "sfr"));
    let needed: Vec<_> = blocks.iter().map(|b| b.0).collect();
    Makes::of((blocks, interrupts))
        .needs(&needed)
        .core(&["reset", "nmi"])
        .unmodelled(&["comparator_a"])
        .clocks(&["mclk", "smclk", "aclk", "adc12osc"])
        .states(NAMES.states)
}

/// How secrets go through the blocks. The multiplier has the first registers of the MPY32 alone.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    let mut known = Blocks::known();
    known.retain(|(name, _)| *name != "mpy");
    known.push(("mpy", Follow::Multiplier { bytes: MPY_BYTES }));
    known
}

/// Registers of byte modules lie below, words above (SLAS368, peripheral file map).
const BYTE_MODULES_END: u32 = 0x100;
const PERIPHERALS_END: u32 = 0x200;
const MPY_BYTES: u32 = 0x10;
const ADC12_TRIGGER: u8 = 6;

const IE1_OWN: u8 = OFIFG | NMIIFG | ACCVIE;
const IFG1_OWN: u8 = OFIFG | NMIIFG;
/// Place of the receiver's bit of each USART in IE, IFG and ME; the transmitter's is one higher.
const USART_BIT: [u8; 2] = [6, 4];

/// A port register: pair of ports, half of it, offset in [`PortPair`].
fn port_register(addr: u32) -> Option<(usize, u32, u32)> {
    const WITH_INTERRUPTS: [u32; 7] = [PAIN, PAOUT, PADIR, P1IFG, P1IES, P1IE, PASEL0];
    const PLAIN: [u32; 4] = [PAIN, PAOUT, PADIR, PASEL0];
    let (port, registers, base): (u32, &[u32], u32) = match addr {
        at::P3IN..=at::P3SEL => (3, &PLAIN, at::P3IN),
        at::P4IN..=at::P4SEL => (4, &PLAIN, at::P4IN),
        at::P1IN..=at::P1SEL => (1, &WITH_INTERRUPTS, at::P1IN),
        at::P2IN..=at::P2SEL => (2, &WITH_INTERRUPTS, at::P2IN),
        at::P5IN..=at::P5SEL => (5, &PLAIN, at::P5IN),
        at::P6IN..=at::P6SEL => (6, &PLAIN, at::P6IN),
        _ => return None,
    };
    let n = port - 1;
    Some(((n / 2) as usize, n % 2, registers[(addr - base) as usize]))
}

/// There is no port J.
fn pair(pin: Pin) -> Option<(usize, u16)> {
    msp430::pair(pin, PAIRS).filter(|(i, _)| *i < PAIRS)
}

fn is_flash(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Flash | RegionKind::InfoFlash)
}

/// Where the DMA controller is; with the time at which that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum DmaPhase {
    Idle,
    /// A byte or word is on its way; the CPU is halted.
    Moving(u128),
    /// The cycle behind a transfer.
    Ending(u128),
    /// The CPU has its turn in a burst.
    Paused(u128),
}

impl DmaPhase {
    fn ends(self) -> Option<u128> {
        match self {
            Self::Idle => None,
            Self::Moving(t) | Self::Ending(t) | Self::Paused(t) => Some(t),
        }
    }
}

/// What the registers of the blocks and the clocks hold, as a snapshot keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Registers {
    clocks: Clocks,
    blocks: Blocks,
    ie1: u8,
    ifg1: u8,
    dma_phase: DmaPhase,
    /// Since when the reference stands, and REF2_5V.
    reference: Option<(u128, bool)>,
    outputs: [u16; 3],
}

impl Registers {
    fn new(device: &Device) -> Self {
        let facts = device.f1xx();
        let mut timers =
            [TimerA::of_1xx(device.ccrs("timer_a")), TimerA::new(device.ccrs("timer_b"), true)];
        for c in &facts.capture {
            let Some(timer) = TIMERS.iter().position(|n| *n == c.timer) else { continue };
            let (ccr, side) = (usize::from(c.ccr), usize::from(c.input == "B"));
            if c.signal == "aclk" {
                timers[timer].aclk_inputs[ccr][side] = true;
            } else {
                timers[timer].pin_inputs[ccr][side] = true;
            }
        }
        let a = &facts.adc12;
        let blocks = Blocks {
            wdt: Wdt::default(),
            svs: Svs::default(),
            flash: FlashF1xx::new(),
            timers,
            usarts: [Usart::new(true), Usart::new(false)],
            adc: Adc12A::new(&a.sample_cycles, a.convert_cycles, a.bits),
            dma: Dma::new(dma::Layout::One, 3),
            clock: BasicClock::new(facts.clock.lfxt1_hz, facts.clock.xt2_hz),
            mpy: Mpy32::sixteen(facts.mpy16.after_op2),
            ports: std::array::from_fn(|i| PortPair::new(i == 0, true)),
        };
        Self {
            clocks: Clocks::default(),
            blocks,
            ie1: 0,
            ifg1: OFIFG,
            dma_phase: DmaPhase::Idle,
            reference: None,
            outputs: [0; 3],
        }
    }
}

/// The chip around its core: blocks, facts of the device and what a register access leads to.
pub(crate) struct F1xx {
    facts: Arc<device::F1xx>,
    at: Places,
    nmi: u32,
    /// Pins that feed capture inputs: timer, block, side; the level that each was last seen at.
    capture_pins: Vec<(Pin, (usize, usize, usize), bool)>,
    /// Remarks on captures that wait to be made.
    notes: Vec<LintKind>,
    net: Net,
    serials: Serials,
    chip: Registers,
    fx: Effects,
    /// Flash is busy and code in RAM runs: reads and fetches of flash fault.
    flash_hidden: bool,
}

mod modes;
mod registers;
mod transfers;

/// What the DCO follows.
fn dco_at(env: &Env) -> At {
    let over_room_k = env.common.state.temperature_c - ROOM_C;
    At { vcc_v: env.common.stepped_vcc_v(), over_room_k }
}

impl F1xx {
    // ---- the converter

    fn adc_event(&mut self, env: &mut Env, t: Picos, cycles: Cycles) {
        let asked = self.chip.blocks.adc.channels();
        let Some(sample) = self.chip.blocks.adc.take_sample(t) else { return };
        let (ports, sensor_v) = (&self.chip.blocks.ports, self.facts.adc12.sensor_25c_mv * 1e-3);
        let level = |pin| msp430::level(ports, PAIRS, pin);
        let volts = msp430::adc12_volts(env, &sample, &asked, sensor_v, &level, at::ADC12CTL0);
        let Some(volts) = volts else { return };
        let refs = &self.facts.reference;
        let settle = us(refs.settle_ms * 1e3);
        let vref = self.chip.reference.map(|(since, high)| {
            (refs.levels_v[usize::from(high)], Picos(since) + settle <= sample.time)
        });
        let asked = self.chip.reference.filter(|_| sample.uses_reference());
        let too_low = |r: (u128, bool)| env.common.state.vcc_v < refs.avcc_min_v[usize::from(r.1)];
        if asked.is_some_and(too_low) {
            env.common.state.lints.report(LintKind::ReferenceSupply, at::ADC12CTL0, cycles);
        }
        let mut cx = cx!(self, env, at::ADC12CTL0, cycles, t);
        let result = self.chip.blocks.adc.finish(sample, volts, vref, &mut cx);
        env.common.keep_fault(result);
        self.fx.clocks = true;
    }

    // ---- pins

    fn port_written(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        let (b, lints) = (&mut self.chip.blocks, &mut env.common.state.lints);
        let port = &mut b.ports[i];
        if port.regiven() {
            self.net.written(i, port, &b.timers, net::UNMAPPED, (lints, at::P1OUT, cycles));
        }
        self.port_moved(env, i, now, cycles);
    }

    fn port_moved(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        self.tell_outputs(env, i, now, cycles);
        self.feed_captures(now);
    }

    fn follow_outputs(&mut self, env: &mut Env, cycles: Cycles) {
        msp430::follow_outputs!(self, env, cycles);
    }

    /// Tells what was noticed where no books were at hand.
    fn tell_notes(&mut self, env: &mut Env) {
        for kind in self.notes.drain(..) {
            let cycles = self.chip.clocks.mclk.ticks_at(env.common.now());
            env.common.state.lints.note(kind, at::P1OUT, cycles);
        }
    }

    /// Pins handed to the timers by PxSEL feed their capture inputs; the others keep their last level.
    fn feed_captures(&mut self, now: Picos) {
        for (pin, (timer, ccr, side), seen) in &mut self.capture_pins {
            let (timer, ccr, side) = (*timer, *ccr, *side);
            let Some((i, mask)) = pair(*pin) else { continue };
            let port = &self.chip.blocks.ports[i];
            let (given, high) = (port.selected() & mask != 0, port.levels() & mask != 0);
            let timer = &mut self.chip.blocks.timers[timer];
            let moved = std::mem::replace(seen, high) != high;
            if given {
                timer.input(ccr, side, high, &self.chip.clocks, now);
            }
            if given && port.is_output(mask) && timer.captures(ccr, side, None) {
                self.notes.push(LintKind::CaptureOutput { pin: *pin });
            } else if !given && moved && timer.captures(ccr, side, Some(high)) {
                self.notes.push(LintKind::CaptureUnselected { pin: *pin });
            }
        }
    }
}

impl Family for F1xx {
    msp430::family!(Usart, usarts, PAIRS);
}

impl Peripherals for F1xx {
    msp430::reaches!();
    msp430::flash_chip!(&[FLASH, ADC12, REF, SVS]);

    const TIMING: Timing = Timing::CPU;
    /// The mirror of RAM follows the registers.
    const PERIPHERALS_END: u32 = 0x0A00;

    fn new(env: &mut Env) -> Self {
        let dev = Arc::clone(&env.common.dev);
        let facts = Arc::new(dev.f1xx().clone());
        let id = facts.boot_rom.id_at as usize;
        env.memory[id..id + 2].copy_from_slice(&facts.boot_rom.device_id.to_be_bytes());
        let pins = facts.capture.iter().filter_map(|c| {
            let timer = TIMERS.iter().position(|n| *n == c.timer)?;
            let place = (timer, usize::from(c.ccr), usize::from(c.input == "B"));
            Some((c.signal.parse().ok()?, place, false))
        });
        let unit = |name: &str| match Blocks::trigger(Some(&dev), name)? {
            (Slot::timers(i), ccr) => Some((usize::from(i), usize::from(ccr))),
            _ => None,
        };
        let net = Net::new(&dev, facts.pins.as_ref(), "adc12", PAIRS, unit);
        let mut chip = Registers::new(&dev);
        net.tell(&mut chip.blocks.timers);
        Self {
            // Registers lie where the whole family has them: see `place_of`.
            at: Places::of(&dev),
            nmi: dev.interrupt("nmi").unwrap_or(0),
            capture_pins: pins.collect(),
            notes: Vec::new(),
            net,
            serials: Serials::new(env, SERIALS.to_vec()),
            chip,
            fx: Effects::default(),
            flash_hidden: false,
            facts,
        }
    }

    fn update_clocks(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        let facts = Arc::clone(&self.facts);
        let at = dco_at(env);
        let on = env.common.runs();
        let cpu_on = on && env.mode & sr::CPUOFF == 0;
        let smclk_on = on && self.smclk_on(env.mode);
        let aclk_on = on && self.aclk_on(env, env.mode);
        let c = &self.chip.blocks.clock;
        let mclk = c.mclk(&facts, at);
        let smclk = if smclk_on { c.smclk(&facts, at).rate() } else { STILL };
        let aclk = if aclk_on { c.aclk(&facts, at).rate() } else { STILL };
        let adc12osc = if on { (facts.clock.adc12osc_mhz * 1e6).round() as u32 } else { 0 };
        let l = &mut self.chip.clocks;
        l.retune(now, cpu_on, mclk.rate(), smclk, aclk);
        l.modosc.retune(now, adc12osc, 1, None);
        let state = msp430::cpu_state(env.mode, on, smclk_on, aclk_on);
        let mclk_hz = if cpu_on { mclk.hz / mclk.div } else { 0 };
        let point = msp430::book_point(env, &self.chip.clocks, state, (mclk_hz, 0), now, cycles);
        self.check_point(env, cpu_on, point);
    }

    fn mode_changed(&mut self, env: &mut Env, old: u32, now: Picos, cycles: Cycles) {
        let smclk_was_on = self.smclk_on(old);
        if old & sr::CPUOFF != 0 && env.mode & sr::CPUOFF == 0 {
            self.wake(env, old, smclk_was_on, now, cycles);
        } else {
            self.update_clocks(env, now, cycles);
        }
    }

    fn reset(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        self.reset_as(env, ResetKind::Bor, false, now, cycles);
    }

    fn carry_out_reset(&mut self, env: &mut Env, cycles: Cycles) {
        let Some((kind, _)) = self.fx.reset.take() else { return };
        self.reset_as(env, kind, false, env.common.now(), cycles);
    }

    fn vcc_changed(&mut self, env: &mut Env, now: Picos, cycles: Cycles) -> bool {
        let low = self.chip.blocks.svs.recover(&self.facts, env.common.state.vcc_v);
        let held = env.common.state.held_in_reset;
        if held && !low {
            env.common.state.held_in_reset = false;
            self.reset_as(env, ResetKind::Por, true, now, cycles);
        }
        held && !low
    }

    fn supervise(&mut self, env: &mut Env, now: Picos) {
        self.chip.blocks.svs.recover(&self.facts, env.common.state.vcc_v);
        let too_low = self.too_low(env);
        env.common.svs_sees(now, too_low);
    }

    fn too_low(&self, env: &Env) -> Option<Picos> {
        let low = self.chip.blocks.svs.below(&self.facts, env.common.state.vcc_v);
        low.then(|| us(self.facts.svs.delay_us))
    }

    fn hold(&mut self, env: &mut Env) {
        env.common.state.held_in_reset = self.chip.blocks.svs.trip();
    }

    fn pending_interrupt(&self, _env: &Env) -> Option<(u32, bool)> {
        if self.has_nmi() {
            return Some((self.nmi, false));
        }
        self.chip.blocks.asks(&self.at, |_| false).map(|vector| (vector, true))
    }

    fn acknowledge(&mut self, _env: &mut Env, vector: u32) {
        if vector == self.nmi {
            // All enable bits of unmaskable interrupts fall; the handler sets them again (SLAU049, 2.2.1.2).
            self.chip.ie1 &= !(NMIIFG | OFIFG | ACCVIE);
            self.chip.blocks.dma.nmi();
        } else {
            self.chip.blocks.taken(&self.at, vector);
        }
    }

    fn unmaskable_possible(&self) -> bool {
        let c = &self.chip;
        c.blocks.wdt.resets(&c.clocks) || self.has_nmi()
    }

    fn maskable_possible(&self, env: &Env) -> bool {
        let (b, clocks) = (&self.chip.blocks, &self.chip.clocks);
        let pins = self.pins_may_wake();
        b.may_ask(clocks, env.common.now(), pins)
            || b.dma.enabled()
                && (b.dma.is_watching() || b.dma.has_work())
                && self.next_event().is_some()
            || b.adc.enabled() && b.adc.is_armed() && self.next_event().is_some()
            || (pins || b.usarts.iter().any(Usart::enabled)) && env.common.next_event().is_some()
            || self.pending_interrupt(env).is_some()
    }

    fn pins_may_wake(&self) -> bool {
        self.chip.blocks.ports[0].may_wake()
            || self.chip.blocks.timers.iter().any(TimerA::pins_may_wake)
    }

    fn works_on(&self) -> bool {
        let (b, dma) = (&self.chip.blocks, &self.chip.blocks.dma);
        (self.net.works_on(|i| &b.ports[i], &b.timers, net::UNMAPPED)
            || dma.is_watching()
            || dma.has_work()
            || b.usarts.iter().any(|s| s.next_event().is_some()))
            && self.next_event().is_some()
    }

    fn next_event(&self) -> Option<Picos> {
        let c = &self.chip;
        let next = c.blocks.due(&c.clocks, Picos::ZERO);
        let next = c.dma_phase.ends().map_or(next, |t| next.min(Picos(t)));
        (next != Picos::MAX).then_some(next)
    }

    fn process_at(&mut self, env: &mut Env, t: Picos, now: Picos, cycles: Cycles) {
        if self.chip.blocks.wdt.next_event(&self.chip.clocks).is_some_and(|e| e <= t)
            && self.chip.blocks.wdt.event(&self.chip.clocks, t)
        {
            // In the codes of later parts.
            self.fx.reset = Some((ResetKind::Puc, cause::WDTTO));
        }
        if self.chip.blocks.svs.next_event().is_some_and(|e| e <= t) {
            self.chip.blocks.svs.event(t);
            self.supervise(env, t);
        }
        if self.chip.blocks.flash.next_event().is_some_and(|e| e <= t) {
            let done = self.chip.blocks.flash.event(&mut env.memory[..]);
            self.flash_changed(env, done);
            self.book_flash(env, now, cycles);
        }
        self.chip.blocks.advance(&self.chip.clocks, t);
        self.follow_outputs(env, cycles);
        self.serial_events(env, t, cycles);
        self.adc_event(env, t, cycles);
        self.look_at_triggers();
        if self.chip.dma_phase.ends().is_some_and(|at| at <= t.0) {
            self.dma_event(env, t);
            self.look_at_triggers();
        }
    }

    fn settle_effects(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        self.note_faults();
        self.look_at_triggers();
        self.tell_notes(env);
        if std::mem::take(&mut self.fx.clocks) {
            self.update_clocks(env, now, cycles);
        }
        let uncached = env.common.uncached;
        let accounts = &mut env.common.accounts;
        accounts.set_state(ADC12, msp430::on(self.chip.blocks.adc.busy()), now, cycles, uncached);
        let (refon, level) = self.chip.blocks.adc.reference();
        let asked = refon.then_some(level != 0);
        if self.chip.reference.map(|r| r.1) != asked {
            self.chip.reference = asked.map(|high| (now.0, high));
        }
        accounts.set_state(REF, msp430::on(refon), now, cycles, uncached);
        accounts.set_state(SVS, msp430::on(self.chip.blocks.svs.is_on()), now, cycles, uncached);
    }

    fn held_until(&mut self, env: &mut Env, pc: u32, sleeping: bool) -> Option<Picos> {
        self.tell_notes(env);
        self.begin_dma(env, sleeping);
        if let (DmaPhase::Moving(t) | DmaPhase::Ending(t), false) = (self.chip.dma_phase, sleeping)
        {
            return Some(Picos(t));
        }
        let flash = &self.chip.blocks.flash;
        if !flash.is_busy() {
            return None;
        }
        if sleeping || !env.is_ram(pc) {
            if flash.in_block() {
                env.common.pending_fault = Some(Fault::device(
                    at::FCTL1,
                    "block write by code in flash, which cannot be read until it ends; run it from RAM",
                ));
                return Some(env.common.now());
            }
            // Flash cannot be read meanwhile: the CPU is held.
            return flash.next_event();
        }
        self.hide_flash(env, true);
        None
    }

    fn read(&mut self, env: &mut Env, addr: u32, width: Width, at: Cycles) -> Result<u16, Fault> {
        if addr < PERIPHERALS_END {
            self.catch_up(env, at);
        }
        let value = if addr >= PERIPHERALS_END {
            let m = &self.facts.mirror;
            let there = addr - m.start + m.of;
            match width {
                Width::Word => env.word(there),
                Width::Byte => u16::from(env.memory[there as usize]),
            }
        } else if addr < BYTE_MODULES_END {
            if width == Width::Word {
                env.common.state.lints.report(LintKind::ByteModule, addr, at);
            }
            self.read_register(env, addr, 0xFF, at)?
        } else {
            let word = self.read_register(env, even(addr)?, 0xFFFF, at)?;
            if width == Width::Byte { word & 0xFF } else { word }
        };
        if !env.common.state.lints.pending.is_empty() {
            env.deadline = 0;
        }
        Ok(value)
    }

    fn write(&mut self, env: &mut Env, to: Store, at: Cycles) -> Result<(), Fault> {
        let Store { addr, width, value } = to;
        if addr >= PERIPHERALS_END {
            let m = &self.facts.mirror;
            let there = (addr - m.start + m.of) as usize;
            let [low, high] = value.to_le_bytes();
            env.memory[there] = low;
            if width == Width::Word {
                env.memory[there + 1] = high;
            }
            return Ok(());
        }
        self.catch_up(env, at);
        // Whatever it leads to is looked at behind this instruction.
        env.deadline = 0;
        if addr < BYTE_MODULES_END {
            if width == Width::Word && value > 0xFF {
                env.common.state.lints.report(LintKind::ByteModule, addr, at);
            }
            let to = Masked { addr, value: value & 0xFF, mask: 0xFF };
            self.write_register(env, to, at)?;
        } else {
            let value = if width == Width::Byte { value & 0xFF } else { value };
            self.write_register(env, Masked { addr: even(addr)?, value, mask: 0xFFFF }, at)?;
        }
        let now = self.chip.clocks.mclk.time_of(at);
        self.settle_effects(env, now, at);
        Ok(())
    }

    const MPY_BYTES: u32 = MPY_BYTES;
    const MPY_EVENT: Option<Event> = Some(Event::Mpy16Op);

    #[inline(always)]
    fn mpy(&self) -> (&Mpy32, u32) {
        (&self.chip.blocks.mpy, at::MPY)
    }

    fn store(&mut self, env: &mut Env, to: Store, at: Cycles) -> Result<(), Fault> {
        let Store { addr, width, value } = to;
        let dev: Arc<Device> = Arc::clone(&env.common.dev);
        let region = msp430::flash_at(&dev, addr)?;
        let now = self.chip.clocks.mclk.time_of(at);
        env.deadline = 0;
        let mut cx = cx!(self, env, addr, at, now);
        self.chip.blocks.flash.store(region, width, value, &env.memory[..], &mut cx)?;
        self.book_flash(env, now, at);
        Ok(())
    }

    fn drive(&mut self, pin: Pin, level: Option<bool>, at: Picos) {
        if let Some((i, mask)) = pair(pin) {
            self.chip.blocks.ports[i].drive(mask, level);
            self.feed_captures(at);
        }
    }

    fn shifted_in(&mut self, env: &mut Env, serial: usize, byte: u8) -> u8 {
        env.common.accounts.count(USART_BYTE[serial]);
        env.deadline = 0;
        self.chip.blocks.usarts[serial].slave_exchange(byte)
    }

    fn timer(&mut self, name: &str) -> Option<&mut TimerA> {
        let i = TIMERS.iter().position(|n| *n == name)?;
        Some(&mut self.chip.blocks.timers[i])
    }

    fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> bool {
        match oscillator {
            "lfxt1" => self.chip.blocks.clock.lfxt1_hz = hz,
            "xt2" => self.chip.blocks.clock.xt2_hz = hz,
            _ => return false,
        }
        true
    }
}

/// Word modules have their registers at even addresses.
fn even(addr: u32) -> Result<u32, Fault> {
    if addr & 1 == 0 {
        return Ok(addr);
    }
    Err(Fault::device(
        addr,
        "byte access to the odd address of a 16-bit module; use its even address or a word",
    ))
}
