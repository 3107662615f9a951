// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSP430x1xx: the peripherals of the F1611 and how they hang together.
//!
//! Modules below 0x0100 are eight bits wide, the others sixteen (SLAU049, section 1.4.4). A word written
//! to a byte module leaves its high byte behind; a byte written to a word module clears the high byte.

mod basic_clock;
mod svs;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::msp430::{Timing, Width, sr};
use sunseal_isa::{Fault, FaultKind};
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos, StateId};

use crate::accounts::{self, Event, Names};
use crate::blocks::adc12_a::Adc12A;
use crate::blocks::block::wire;
use crate::blocks::dma::{self, Dma, Move, Next};
use crate::blocks::flash_f1xx::{Activity, Changed, FlashF1xx};
use crate::blocks::mpy32::Mpy32;
use crate::blocks::port::PortPair;
use crate::blocks::timer_a::{self, TimerA};
use crate::blocks::usart::{Sent, Usart};
use crate::blocks::wdt::Wdt;
use crate::blocks::{Block, Ctx, Effects, Reset, ResetKind, cause};
use crate::clock::{Clocks, Line};
use crate::common::{ROOM_C, UartByte};
use crate::cores::msp430::{CODE, Env, Peripherals, READ};
use crate::device::{self, Addresses, Device, RegionKind, us};
use crate::instruments::lint::LintKind;
use crate::instruments::taint::Follow;
use crate::pin::Pin;
use basic_clock::{At, BasicClock, Source};
use svs::Svs;

const SERIALS: [&str; 2] = ["usart0", "usart1"];
const USART_BYTE: [Event; 2] = [Event::Usart0Byte, Event::Usart1Byte];
const TIMERS: [&str; 2] = ["ta", "tb"];

const FLASH: ComponentId = ComponentId(1);
const ADC12: ComponentId = ComponentId(2);
const REF: ComponentId = ComponentId(3);
const SVS: ComponentId = ComponentId(4);
const LPM0: StateId = StateId(5);
const WRITE: StateId = StateId(10);
const ERASE: StateId = StateId(11);

const NAMES: Names = Names {
    components: &[
        ("cpu", accounts::OFF),
        ("flash", accounts::IDLE),
        ("adc12", accounts::OFF),
        ("ref", accounts::OFF),
        ("svs", accounts::OFF),
    ],
    states: &[
        "active.flash",
        "active.ram",
        "off",
        "idle",
        "on",
        "lpm0",
        "lpm1",
        "lpm2",
        "lpm3",
        "lpm4",
        "write",
        "erase",
    ],
    events: &[
        Event::Mpy16Op,
        Event::FlashWordWrite,
        Event::FlashSegmentErase,
        Event::FlashMassErase,
        Event::Adc12Conversion,
        Event::Usart0Byte,
        Event::Usart1Byte,
    ],
};

wire!(
    Blocks,
    Slot,
    Places {
        wdt: Wdt = [("wdt", ["wdt"])],
        svs: Svs = [("svs", [])],
        flash: FlashF1xx = [("flash", [])],
        timers: [TimerA; 2] = [("timer_a", ["ta_ccr0", "ta"]), ("timer_b", ["tb_ccr0", "tb"])],
        usarts: [Usart; 2] =
            [("usart0", ["usart0_rx", "usart0_tx"]), ("usart1", ["usart1_rx", "usart1_tx"]),],
        adc: Adc12A = [("adc12", ["adc12"])],
        dma: Dma = [("dma", ["dac12_dma"])],
        clock: BasicClock = [("basic_clock", [])],
        mpy: Mpy32 = [("mpy", [])],
        /// PA to PC.
        ports: [PortPair; 3] =
            [("ports", ["port1", "port2"]), ("ports", ["", ""]), ("ports", ["", ""]),],
    }
);

/// Vectors of the core and of blocks that are not modelled.
pub(crate) const OTHER_VECTORS: [&str; 3] = ["reset", "nmi", "comparator_a"];

/// How secrets go through the blocks. The multiplier has the first registers of the MPY32 alone.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    let mut known = Blocks::known();
    known.retain(|(name, _)| *name != "mpy");
    known.push(("mpy", Follow::Multiplier { bytes: MPY_BYTES }));
    known
}

// Where the modules lie, on the whole family (SLAS368, peripheral file map).
const SFR_END: u32 = 0x06;
const SVSCTL: u32 = 0x55;
const CLOCK: u32 = 0x56;
const CLOCK_END: u32 = 0x59;
const USART: u32 = 0x70;
const USART_BYTES: u32 = 8;
const UXTXBUF: u32 = 7;
const ADC12MCTL: u32 = 0x80;
const BYTE_MODULES_END: u32 = 0x100;
const TBIV: u32 = 0x11E;
const WDTCTL: u32 = 0x120;
const FCTL: u32 = 0x128;
const TAIV: u32 = 0x12E;
const MPY: u32 = 0x130;
const MPY_BYTES: u32 = 0x10;
const OP2: u32 = 0x08;
const ADC12MEM: u32 = 0x140;
const TA: u32 = 0x160;
const TB: u32 = 0x180;
const TA_END: u32 = TA + 0x20;
const TB_END: u32 = TB + 0x20;
const ADC12CTL: u32 = 0x1A0;
const DMACTL: u32 = 0x122;
const DMA_CHANNELS: u32 = 0x1E0;
const ADC12_TRIGGER: u8 = 6;
const PERIPHERALS_END: u32 = 0x200;

// IE1 and IFG1; USART0's bits lie in the top two.
const WDTIFG: u8 = 0x01;
const OFIFG: u8 = 0x02;
const NMIIFG: u8 = 0x10;
const ACCVIE: u8 = 0x20;
const IE1_OWN: u8 = OFIFG | NMIIFG | ACCVIE;
const IFG1_OWN: u8 = OFIFG | NMIIFG;
/// Place of the receiver's bit of each USART in IE, IFG and ME; the transmitter's is one higher.
const USART_BIT: [u8; 2] = [6, 4];

/// A port register: pair of ports, half of it, offset in [`PortPair`].
fn port_register(addr: u32) -> Option<(usize, u32, u32)> {
    const WITH_INTERRUPTS: [u32; 7] = [0x00, 0x02, 0x04, 0x1C, 0x18, 0x1A, 0x0A];
    const PLAIN: [u32; 4] = [0x00, 0x02, 0x04, 0x0A];
    let (port, registers, base): (u32, &[u32], u32) = match addr {
        0x18..=0x1B => (3, &PLAIN, 0x18),
        0x1C..=0x1F => (4, &PLAIN, 0x1C),
        0x20..=0x26 => (1, &WITH_INTERRUPTS, 0x20),
        0x28..=0x2E => (2, &WITH_INTERRUPTS, 0x28),
        0x30..=0x33 => (5, &PLAIN, 0x30),
        0x34..=0x37 => (6, &PLAIN, 0x34),
        _ => return None,
    };
    let n = port - 1;
    Some(((n / 2) as usize, n % 2, registers[(addr - base) as usize]))
}

fn pair(pin: Pin) -> Option<(usize, u16)> {
    let n = pin.port.checked_sub(1).filter(|n| *n < 6)?;
    Some((usize::from(n / 2), u16::from(pin.mask()) << (8 * (n % 2))))
}

fn level(ports: &[PortPair; 3], pin: Pin) -> bool {
    pair(pin).is_some_and(|(i, mask)| ports[i].levels() & mask != 0)
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

/// The registers.
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
    fn new(facts: &device::F1xx) -> Self {
        let mut timers = [TimerA::of_1xx(3), TimerA::new(7, true)];
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
            wdt: Wdt::new(),
            svs: Svs::new(),
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
            clocks: Clocks::STOPPED,
            blocks,
            ie1: 0,
            ifg1: OFIFG,
            dma_phase: DmaPhase::Idle,
            reference: None,
            outputs: [0; 3],
        }
    }
}

/// The peripherals.
pub(crate) struct F1xx {
    facts: Arc<device::F1xx>,
    at: Places,
    nmi: u32,
    /// Pins that feed capture inputs: timer, block, side.
    capture_pins: Vec<(Pin, usize, usize, usize)>,
    chip: Registers,
    fx: Effects,
    /// Flash is busy and code in RAM runs: reads and fetches of flash fault.
    flash_hidden: bool,
}

macro_rules! cx {
    ($soc:expr, $env:expr, $addr:expr, $at:expr, $now:expr) => {
        Ctx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.chip.clocks,
            dev: &$env.common.dev,
            accounts: &mut $env.common.accounts,
            lints: &mut $env.common.state.lints,
            fx: &mut $soc.fx,
            vcc_v: $env.common.state.vcc_v,
            mode: $env.mode,
        }
    };
}

/// What the DCO follows.
fn dco_at(env: &Env) -> At {
    let over_room_k = env.common.state.temperature_c - ROOM_C;
    At { vcc_v: env.common.stepped_vcc_v(), over_room_k }
}

impl F1xx {
    // ---- clocks and modes

    /// SMCLK runs: not switched off by SCG1, or kept by a USART.
    fn smclk_on(&self, mode: u32) -> bool {
        mode & sr::SCG1 == 0 || self.chip.blocks.usarts.iter().any(Block::requests_smclk)
    }

    /// LFXT1 runs: not switched off by OSCOFF, or MCLK comes from it.
    fn aclk_on(&self, env: &Env, mode: u32) -> bool {
        mode & sr::OSCOFF == 0
            || (mode & sr::CPUOFF == 0
                && self.chip.blocks.clock.mclk(&self.facts, dco_at(env)).source == Source::Lfxt1)
    }

    fn cpu_state(m: u32, on: bool, smclk_on: bool, aclk_on: bool) -> StateId {
        if !on {
            return accounts::OFF;
        }
        if m & sr::CPUOFF == 0 {
            return accounts::ACTIVE;
        }
        // A module that keeps SMCLK keeps the DCO: that is what the mode costs.
        let lpm = match (m & sr::SCG0 != 0, m & sr::SCG1 != 0) {
            _ if m & sr::OSCOFF != 0 && !aclk_on && !smclk_on => 4,
            (scg0, true) if !smclk_on => 2 + u16::from(scg0),
            (scg0, _) => u16::from(scg0),
        };
        StateId(LPM0.0 + lpm)
    }

    fn check_point(&self, env: &mut Env, cpu_on: bool, point: OperatingPoint) {
        env.common.illegal = None;
        if !cpu_on {
            return;
        }
        let (speed, vcc_v) = (&self.facts.speed, env.common.state.vcc_v);
        let mhz = f64::from(point.mclk_hz) / 1e6;
        if vcc_v < speed.vcc_low_v || vcc_v > env.common.dev.supply.vcc_max_v {
            env.common.illegal = Some(Fault::device(
                CLOCK,
                format!(
                    "supply of {vcc_v:.3} V is outside {} to {} V, in which programs run (MCLK {mhz:.3} MHz)",
                    speed.vcc_low_v, env.common.dev.supply.vcc_max_v,
                ),
            ));
        } else if f64::from(point.mclk_hz) > speed.mclk_max_hz(vcc_v) {
            env.common.illegal = Some(Fault::device(
                CLOCK,
                format!(
                    "MCLK {mhz:.3} MHz exceeds the {:.3} MHz that a supply of {vcc_v:.3} V allows; it needs {:.3} V, or a slower clock",
                    speed.mclk_max_hz(vcc_v) / 1e6,
                    speed.vcc_min_v(point.mclk_hz),
                ),
            ));
        }
    }

    /// MCLK starts again: at its next edge if its source ran on, after the DCO's start-up time if not.
    fn wake(&mut self, env: &mut Env, old: u32, smclk_was_on: bool, now: Picos, cycles: Cycles) {
        let facts = Arc::clone(&self.facts);
        let at = dco_at(env);
        let tap = self.chip.blocks.clock.mclk(&facts, at);
        let ran_on = match tap.source {
            Source::Dco => {
                let feeds_smclk = self.chip.blocks.clock.smclk(&facts, at).source == Source::Dco;
                old & (sr::SCG0 | sr::SCG1) == 0 || (smclk_was_on && feeds_smclk)
            }
            Source::Lfxt1 | Source::Xt2 => true,
        };
        let start = if ran_on {
            let line = &self.chip.clocks.mclk;
            if line.is_running() { line.time_of(line.tick_not_before(now)) } else { now }
        } else {
            now + us(facts.wake.dco_us)
        };
        env.common.state.now_ps = start.0;
        self.chip.clocks.mclk.restart(start, cycles);
        self.update_clocks(env, start, cycles);
    }

    fn note_faults(&mut self) {
        if self.chip.blocks.clock.has_fault() {
            self.chip.ifg1 |= OFIFG;
        }
    }

    fn has_nmi(&self) -> bool {
        let c = &self.chip;
        c.ie1 & c.ifg1 & (OFIFG | NMIIFG) != 0
            || (c.ie1 & ACCVIE != 0 && c.blocks.flash.access_violation())
    }

    // ---- flash

    fn flash_changed(&mut self, env: &mut Env, done: Changed) {
        if !self.chip.blocks.flash.is_busy() {
            self.hide_flash(env, false);
        }
        for (start, bytes) in done {
            env.code_changed(start & !1..start + bytes);
        }
    }

    /// While flash is busy it cannot be read. Code in flash is held; code in RAM goes on, and its
    /// reads must be caught, those of instructions decoded before included.
    fn hide_flash(&mut self, env: &mut Env, hidden: bool) {
        if self.flash_hidden == hidden {
            return;
        }
        self.flash_hidden = hidden;
        let dev = Arc::clone(&env.common.dev);
        for r in dev.memory.iter().filter(|r| is_flash(r.kind)) {
            env.set_pages(r.start, r.end, if hidden { 0 } else { READ | CODE });
            if hidden {
                env.changed.push(r.start..r.end + 1);
            }
        }
    }

    fn book_flash(&self, env: &mut Env, now: Picos, cycles: Cycles) {
        let state = match self.chip.blocks.flash.activity() {
            Activity::Idle => accounts::IDLE,
            Activity::Write => WRITE,
            Activity::Erase => ERASE,
        };
        env.common.accounts.set_state(FLASH, state, now, cycles, env.common.uncached);
    }

    // ---- serial interfaces and the converter

    fn usart_event(&mut self, env: &mut Env, i: usize, t: Picos, cycles: Cycles) {
        let base = USART + USART_BYTES * i as u32;
        let mut usart = self.chip.blocks.usarts[i].clone();
        if let Some(sent) = usart.event(t) {
            env.common.accounts.count(USART_BYTE[i]);
            match sent {
                Sent::Uart(byte) => env.common.state.uart_log.push(UartByte {
                    time_ps: t.0,
                    usci: SERIALS[i].to_owned(),
                    byte,
                }),
                Sent::Spi(mosi) => {
                    let (miso, drives) = env.common.exchange(i, mosi, t, cycles);
                    for (pin, level) in drives {
                        self.drive(pin, level, t);
                    }
                    let lints = &mut env.common.state.lints;
                    if miso.is_none() {
                        lints.report(LintKind::SpiNobody, base, cycles);
                    } else if !usart.is_mode_0() {
                        lints.report(LintKind::SpiMode, base, cycles);
                    }
                    usart.spi_received(mosi, miso.unwrap_or(0xFF));
                }
            }
            if let Err(fault) = usart.go_on(&cx!(self, env, base, cycles, t)) {
                env.common.pending_fault = Some(fault);
            }
        }
        self.chip.blocks.usarts[i] = usart;
        self.fx.clocks = true;
    }

    fn adc_event(&mut self, env: &mut Env, t: Picos, cycles: Cycles) {
        let Some(sample) = self.chip.blocks.adc.take_sample(t) else { return };
        env.common.accounts.count(Event::Adc12Conversion);
        let ports = &self.chip.blocks.ports;
        let input = env.common.adc_volts(sample.channel, sample.time, &|pin| level(ports, pin));
        let volts = input.or(match sample.channel {
            10 => Some(self.facts.adc12.sensor_25c_mv * 1e-3),
            11 => Some(env.common.state.vcc_v / 2.0),
            _ => None,
        });
        let Some(volts) = volts else {
            let what =
                format!("ADC12 channel A{} has no voltage; connect one to it", sample.channel);
            env.common.pending_fault = Some(Fault::device(ADC12CTL, what));
            return;
        };
        let refs = &self.facts.reference;
        let settle = us(refs.settle_ms * 1e3);
        let vref = self.chip.reference.map(|(since, high)| {
            (refs.levels_v[usize::from(high)], Picos(since) + settle <= sample.time)
        });
        let asked = self.chip.reference.filter(|_| sample.uses_reference());
        let too_low = |r: (u128, bool)| env.common.state.vcc_v < refs.avcc_min_v[usize::from(r.1)];
        if asked.is_some_and(too_low) {
            env.common.state.lints.report(LintKind::ReferenceSupply, ADC12CTL, cycles);
        }
        let mut cx = cx!(self, env, ADC12CTL, cycles, t);
        if let Err(fault) = self.chip.blocks.adc.finish(sample, volts, vref, &mut cx) {
            env.common.pending_fault = Some(fault);
        }
        self.fx.clocks = true;
    }

    // ---- DMA

    /// The level of a trigger (SLAU049 table 8-2).
    fn trigger(&self, channel: usize, select: u8) -> bool {
        let c = &self.chip.blocks;
        let [ta, tb] = &c.timers;
        match select {
            1 => ta.dma_flag(2),
            2 => tb.dma_flag(2),
            3 => c.usarts[0].rx_ifg && !c.usarts[0].rx_ie,
            4 => c.usarts[0].tx_ifg && !c.usarts[0].tx_ie,
            ADC12_TRIGGER => c.adc.dma_flag(),
            7 => ta.dma_flag(0),
            8 => tb.dma_flag(0),
            9 => c.usarts[1].rx_ifg && !c.usarts[1].rx_ie,
            10 => c.usarts[1].tx_ifg && !c.usarts[1].tx_ie,
            14 => c.dma.flag((channel + 2) % 3),
            _ => false,
        }
    }

    /// The transfer that a flag asked for begins: the flag falls, except the converter's.
    fn triggered(&mut self, select: u8) {
        let c = &mut self.chip.blocks;
        match select {
            1 => c.timers[0].clear_flag(2),
            2 => c.timers[1].clear_flag(2),
            3 => c.usarts[0].rx_ifg = false,
            4 => c.usarts[0].tx_ifg = false,
            7 => c.timers[0].clear_flag(0),
            8 => c.timers[1].clear_flag(0),
            9 => c.usarts[1].rx_ifg = false,
            10 => c.usarts[1].tx_ifg = false,
            _ => {}
        }
    }

    fn look_at_triggers(&mut self) {
        if self.chip.blocks.dma.is_watching() {
            let watched: Vec<_> = self.chip.blocks.dma.watched().collect();
            for (channel, select) in watched {
                let level = self.trigger(channel, select);
                self.chip.blocks.dma.observe(channel, level);
            }
        }
    }

    /// A trigger fell; whether it rose again shows when triggers are looked at next.
    fn see_fall(&mut self, select: u8) {
        let watched: Vec<_> = self.chip.blocks.dma.watched().filter(|w| w.1 == select).collect();
        for (channel, _) in watched {
            self.chip.blocks.dma.observe(channel, false);
        }
    }

    /// `cycles` of MCLK behind `t`.
    fn after_cycles(&self, t: Picos, cycles: u64) -> u128 {
        let mclk = &self.chip.clocks.mclk;
        mclk.time_of(mclk.ticks_at(t) + cycles).0
    }

    /// A transfer that waits begins, between instructions or while the CPU sleeps.
    fn begin_dma(&mut self, env: &Env, sleeping: bool) {
        if self.chip.dma_phase != DmaPhase::Idle || !self.chip.blocks.dma.has_work() {
            return;
        }
        if let Some((channel, select)) = self.chip.blocks.dma.begin() {
            self.triggered(select);
            if select == ADC12_TRIGGER {
                // Its flag falls when the result is read.
                self.chip.blocks.dma.keep_level(channel);
            }
        }
        let mut from = env.common.now();
        let mut sync = dma::SYNC_CYCLES;
        if sleeping {
            sync = dma::SYNC_CYCLES_ASLEEP;
            let dco = self.chip.blocks.clock.mclk(&self.facts, dco_at(env)).source == Source::Dco;
            if dco && !self.smclk_on(env.mode) {
                from += us(self.facts.wake.dco_us);
            }
        }
        self.chip.dma_phase = DmaPhase::Moving(self.after_cycles(from, sync + dma::MOVE_CYCLES));
    }

    fn dma_event(&mut self, env: &mut Env, t: Picos) {
        // Idle while it moves: the accesses it makes look at events, too.
        self.chip.dma_phase = match std::mem::replace(&mut self.chip.dma_phase, DmaPhase::Idle) {
            DmaPhase::Moving(_) => match self.chip.blocks.dma.current() {
                Some(m) => {
                    if let Err(fault) = self.carry(env, m, t) {
                        env.common.pending_fault = Some(fault);
                    }
                    match self.chip.blocks.dma.moved() {
                        Next::Move => DmaPhase::Moving(self.after_cycles(t, dma::MOVE_CYCLES)),
                        Next::Pause => {
                            DmaPhase::Paused(self.after_cycles(t, dma::BURST_PAUSE_CYCLES))
                        }
                        Next::Done => DmaPhase::Ending(self.after_cycles(t, dma::WAIT_CYCLES)),
                    }
                }
                // Disabled under way.
                None => DmaPhase::Idle,
            },
            _ => DmaPhase::Idle,
        };
    }

    fn carry(&mut self, env: &mut Env, m: Move, t: Picos) -> Result<(), Fault> {
        let at = self.chip.clocks.mclk.ticks_at(t);
        let width = |byte: bool| if byte { Width::Byte } else { Width::Word };
        let place = |addr: u32, byte: bool| if byte { addr } else { addr & !1 };
        let (from, to) = (place(m.from, m.from_byte), place(m.to, m.to_byte));
        let value = if env.page(from) & READ != 0 {
            match m.from_byte {
                true => u16::from(env.memory[from as usize]),
                false => env.word(from),
            }
        } else if from < <Self as Peripherals>::PERIPHERALS_END {
            self.read(env, from, width(m.from_byte), at)?
        } else {
            return Err(self.unreadable(env, from).unwrap_or_else(|| Fault::unmapped(from)));
        };
        let value = if m.to_byte || m.from_byte { value & 0xFF } else { value };
        env.common.moved(from, to, 2 - u32::from(m.from_byte), 2 - u32::from(m.to_byte));
        if to < <Self as Peripherals>::PERIPHERALS_END {
            self.write(env, to, width(m.to_byte), value, at)
        } else if env.is_ram(to) {
            let [low, high] = value.to_le_bytes();
            env.memory[to as usize] = low;
            if !m.to_byte {
                env.memory[to as usize + 1] = high;
            }
            Ok(())
        } else {
            self.store(env, to, width(m.to_byte), value, at)
        }
    }

    /// Events that fall due inside an instruction show to its later accesses.
    fn catch_up(&mut self, env: &mut Env, at: Cycles) {
        let now = self.chip.clocks.mclk.time_of(at);
        while let Some(t) = self.next_event().filter(|t| *t <= now) {
            self.process_at(env, t, now, at);
            env.deadline = 0;
            if self.fx.reset.is_some() || env.common.pending_fault.is_some() {
                break;
            }
        }
    }

    // ---- pins

    fn port_written(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        let outputs = self.chip.blocks.ports[i].outputs();
        let mut changed = outputs ^ self.chip.outputs[i];
        self.chip.outputs[i] = outputs;
        let mut drives = Vec::new();
        while changed != 0 {
            let bit = changed.trailing_zeros() as u8;
            changed &= changed - 1;
            let pin = Pin { port: 2 * i as u8 + 1 + bit / 8, bit: bit % 8 };
            drives.extend(env.common.output(pin, outputs >> bit & 1 != 0, now, cycles));
        }
        let ports = &self.chip.blocks.ports;
        let low = |pin| {
            pair(pin).is_some_and(|(i, mask)| {
                ports[i].output_bits() & mask != 0 && ports[i].outputs() & mask == 0
            })
        };
        drives.extend(env.common.select(low, now, cycles));
        for (pin, level) in drives {
            self.drive(pin, level, now);
        }
        self.feed_captures(now);
    }

    /// Pins handed to the timers by PxSEL feed their capture inputs; the others keep their last level.
    fn feed_captures(&mut self, now: Picos) {
        for &(pin, timer, ccr, side) in &self.capture_pins {
            let Some((i, mask)) = pair(pin) else { continue };
            if self.chip.blocks.ports[i].selected() & mask != 0 {
                let high = self.chip.blocks.ports[i].levels() & mask != 0;
                self.chip.blocks.timers[timer].input(ccr, side, high, &self.chip.clocks, now);
            }
        }
    }

    // ---- special function registers

    fn read_sfr(&self, addr: u32) -> u8 {
        let c = &self.chip;
        let u = usize::from(addr & 1 != 0);
        let (usart, bit) = (&c.blocks.usarts[u], USART_BIT[u]);
        let wdt = &c.blocks.wdt;
        let pair = |rx: bool, tx: bool| u8::from(rx) << bit | u8::from(tx) << (bit + 1);
        match addr {
            0 => c.ie1 | u8::from(wdt.ie) | pair(usart.rx_ie, usart.tx_ie),
            1 => pair(usart.rx_ie, usart.tx_ie),
            2 => c.ifg1 | u8::from(wdt.ifg) | pair(usart.rx_ifg, usart.tx_ifg),
            3 => pair(usart.rx_ifg, usart.tx_ifg),
            _ => pair(usart.rx_on, usart.tx_on),
        }
    }

    fn write_sfr(
        &mut self,
        addr: u32,
        value: u8,
        cx_at: (Cycles, Picos),
        env: &mut Env,
    ) -> Result<(), Fault> {
        let u = usize::from(addr & 1 != 0);
        let bit = USART_BIT[u];
        let (rx, tx) = (value >> bit & 1 != 0, value >> (bit + 1) & 1 != 0);
        match addr {
            0 => {
                self.chip.ie1 = value & IE1_OWN;
                self.chip.blocks.wdt.ie = value & WDTIFG != 0;
            }
            2 => {
                self.chip.ifg1 = value & IFG1_OWN;
                self.chip.blocks.wdt.ifg = value & WDTIFG != 0;
            }
            _ => {}
        }
        let mut usart = self.chip.blocks.usarts[u].clone();
        match addr {
            0 | 1 => (usart.rx_ie, usart.tx_ie) = (rx, tx),
            2 | 3 => (usart.rx_ifg, usart.tx_ifg) = (rx, tx),
            _ => {
                (usart.rx_on, usart.tx_on) = (rx, tx);
                usart.enabled_changed(&cx!(self, env, addr, cx_at.0, cx_at.1))?;
            }
        }
        self.chip.blocks.usarts[u] = usart;
        Ok(())
    }

    // ---- registers

    /// The block of a register, the offset there, and how much higher the bits of a byte lie.
    fn place_of(addr: u32) -> (Slot, u32, u32) {
        if let Some((i, half, off)) = port_register(addr) {
            return (Slot::ports(i as u8), off, 8 * half);
        }
        let (slot, off) = match addr {
            SVSCTL => (Slot::svs(0), 0),
            CLOCK..CLOCK_END => (Slot::clock(0), addr - CLOCK),
            0x70..=0x7F => (Slot::usarts(((addr - USART) / USART_BYTES) as u8), addr % USART_BYTES),
            0x80..=0x8F => {
                let off = 0x10 + ((addr - ADC12MCTL) & !1);
                return (Slot::adc(0), off, 8 * (addr & 1));
            }
            TBIV => (Slot::timers(1), timer_a::IV),
            WDTCTL => (Slot::wdt(0), 0),
            0x122 | 0x124 => (Slot::dma(0), addr - DMACTL),
            0x128 | 0x12A | 0x12C => (Slot::flash(0), addr - FCTL),
            TAIV => (Slot::timers(0), timer_a::IV),
            0x130..=0x13E => (Slot::mpy(0), addr - MPY),
            // The converter has its registers at the offsets of the ADC12_A.
            0x140..=0x15E => (Slot::adc(0), 0x20 + (addr - ADC12MEM)),
            TA..TA_END => (Slot::timers(0), addr - TA),
            TB..TB_END => (Slot::timers(1), addr - TB),
            0x1A0 | 0x1A2 => (Slot::adc(0), addr - ADC12CTL),
            0x1A4 | 0x1A6 | 0x1A8 => (Slot::adc(0), addr - ADC12CTL - 4 + 0x0A),
            0x1E0..=0x1F6 => (Slot::dma(0), 0x10 + (addr - DMA_CHANNELS)),
            _ => (Slot::none, 0),
        };
        (slot, off, 0)
    }

    /// `mask` is 0xFF in a byte module.
    fn read_register(
        &mut self,
        env: &mut Env,
        addr: u32,
        mask: u16,
        at: Cycles,
    ) -> Result<u16, Fault> {
        if addr < SFR_END {
            return Ok(self.read_sfr(addr).into());
        }
        let now = self.chip.clocks.mclk.time_of(at);
        let (slot, off, shift) = Self::place_of(addr);
        let mut cx = cx!(self, env, addr, at, now);
        let word = self.chip.blocks.read(slot, off, mask << shift, &mut cx)?;
        if std::mem::take(&mut self.fx.touched) {
            env.deadline = 0;
        }
        Ok(word >> shift & mask)
    }

    fn write_register(
        &mut self,
        env: &mut Env,
        addr: u32,
        value: u16,
        mask: u16,
        at: Cycles,
    ) -> Result<(), Fault> {
        let now = self.chip.clocks.mclk.time_of(at);
        if addr < SFR_END {
            return self.write_sfr(addr, value as u8, (at, now), env);
        }
        let (slot, off, shift) = Self::place_of(addr);
        if let Slot::mpy(_) = slot {
            // Only the fast way counts operations; a second one too early comes here first.
            if off == OP2 && self.chip.blocks.mpy.abandon(at) {
                env.common.state.lints.report(LintKind::MpyOverlap, addr, at);
            }
            if self.write_mpy(env, off, value, at) {
                return Ok(());
            }
        }
        let mut cx = cx!(self, env, addr, at, now);
        let trigger = |i: u16| value >> (4 * i) & 0xF;
        if addr == DMACTL && (0..3).any(|i| matches!(trigger(i), 5 | 11..=13 | 15)) {
            return Err(cx.refuse(
                "DMA triggers from DAC12, the multiplier and the pin DMAE0 are not modelled",
            ));
        }
        self.chip.blocks.write(slot, off, value << shift, mask << shift, &mut cx)?;
        match slot {
            Slot::ports(i) => self.port_written(env, usize::from(i), now, at),
            Slot::svs(_) => self.supervise(env, now),
            Slot::flash(_) => self.book_flash(env, now, at),
            // UTXIFGx falls with the write; where the shift register is free it rises again at once.
            Slot::usarts(i) if off == UXTXBUF => self.see_fall([4, 10][usize::from(i)]),
            Slot::clock(_) => {
                let (surroundings, speed) = (dco_at(env), &self.facts.speed);
                let fastest_hz = self.chip.blocks.clock.mclk_fastest_hz(&self.facts, surroundings);
                if fastest_hz > speed.mclk_max_hz(env.common.state.vcc_v) {
                    env.common.state.lints.report(LintKind::DcoTooFast, addr, at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn write_mpy(&mut self, env: &mut Env, off: u32, value: u16, at: Cycles) -> bool {
        let Some(event) = self.chip.blocks.mpy.write_fast(off, value, at) else { return false };
        if event.is_some() {
            env.common.accounts.count(Event::Mpy16Op);
        }
        true
    }

    /// Compares the supply with the SVS level.
    fn supervise(&mut self, env: &mut Env, now: Picos) {
        self.chip.blocks.svs.recover(&self.facts, env.common.state.vcc_v);
        let too_low = self.too_low(env);
        env.common.svs_sees(now, too_low);
    }

    // ---- resets

    fn reset_as(
        &mut self,
        env: &mut Env,
        kind: ResetKind,
        by_svs: bool,
        now: Picos,
        cycles: Cycles,
    ) {
        self.fx = Effects::default();
        // MCLK may have been at rest.
        self.chip.clocks.mclk.restart(now, cycles);
        env.mode = 0;
        // A reset aborts what the flash controller was doing.
        let aborted = self.chip.blocks.flash.cut(&mut env.memory[..], now.0 as u64 ^ cycles);
        self.flash_changed(env, aborted);
        let power_on = kind != ResetKind::Puc;
        let how = Reset::of(kind);
        let c = &mut self.chip;
        let b = &mut c.blocks;
        b.clock.restart(how);
        b.flash.restart(how);
        c.ie1 = 0;
        c.ifg1 = c.ifg1 & NMIIFG | OFIFG;
        b.ports.iter_mut().for_each(|p| p.restart(how));
        b.usarts.iter_mut().for_each(|u| u.restart(how));
        // Registers marked (0) in the guide know the power-on reset only: timers and converter go on.
        if power_on {
            c.ifg1 = OFIFG;
            b.wdt.ifg = false;
            b.mpy.restart(how);
            b.timers.iter_mut().for_each(|t| t.restart(how));
            b.adc.restart(how);
            b.dma.restart(how);
            c.dma_phase = DmaPhase::Idle;
            c.reference = None;
        }
        if kind == ResetKind::Bor || by_svs {
            b.svs.reset(by_svs);
        }
        env.common.pending_fault = None;
        self.update_clocks(env, now, cycles);
        self.chip.blocks.wdt.reset(&self.chip.clocks, now);
        for i in 0..3 {
            self.port_written(env, i, now, cycles);
        }
        if env.common.state.powered {
            self.book_flash(env, now, cycles);
        }
        self.settle_effects(env, now, cycles);
        env.deadline = 0;
    }
}

impl Peripherals for F1xx {
    type Registers = Registers;
    const NAMES: Names = NAMES;
    const TIMING: Timing = Timing::CPU;
    const SERIALS: &'static [&'static str] = &SERIALS;
    /// The mirror of RAM follows the registers.
    const PERIPHERALS_END: u32 = 0x0A00;

    fn new(env: &mut Env) -> Self {
        let dev = Arc::clone(&env.common.dev);
        let facts = Arc::new(dev.f1xx().clone());
        let id = facts.boot_rom.id_at as usize;
        env.memory[id..id + 2].copy_from_slice(&facts.boot_rom.device_id.to_be_bytes());
        let pins = facts.capture.iter().filter_map(|c| {
            let timer = TIMERS.iter().position(|n| *n == c.timer)?;
            Some((c.signal.parse().ok()?, timer, usize::from(c.ccr), usize::from(c.input == "B")))
        });
        Self {
            // Registers lie where the whole family has them: see `place_of`.
            at: Places::of(&Addresses::default(), &facts.vectors),
            nmi: facts.vectors.at("nmi").unwrap_or(0),
            capture_pins: pins.collect(),
            chip: Registers::new(&facts),
            fx: Effects::default(),
            flash_hidden: false,
            facts,
        }
    }

    fn registers(&self) -> &Registers {
        &self.chip
    }

    fn set_registers(&mut self, env: &mut Env, registers: Registers) {
        self.chip = registers;
        self.fx = Effects::default();
        self.hide_flash(env, false);
    }

    fn mclk(&self) -> &Line {
        &self.chip.clocks.mclk
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
        let smclk = if smclk_on { c.smclk(&facts, at).line() } else { (0, 1) };
        let aclk = if aclk_on { c.aclk(&facts, at).line() } else { (0, 1) };
        let adc12osc = if on { (facts.clock.adc12osc_mhz * 1e6).round() as u32 } else { 0 };
        let l = &mut self.chip.clocks;
        // MCLK's ticks are the CPU's cycles; while the CPU sleeps its line is put right at wake-up.
        if cpu_on {
            l.mclk.retune(now, mclk.hz, mclk.div, None);
        }
        l.smclk.retune(now, smclk.0, smclk.1, None);
        l.aclk.retune(now, aclk.0, aclk.1, None);
        l.modosc.retune(now, adc12osc, 1, None);
        let state = Self::cpu_state(env.mode, on, smclk_on, aclk_on);
        let point = OperatingPoint {
            mclk_hz: if cpu_on { mclk.hz / mclk.div } else { 0 },
            smclk_hz: self.chip.clocks.smclk.freq_hz(),
            aclk_hz: self.chip.clocks.aclk.freq_hz(),
            vcore: 0,
        };
        env.common.accounts.set_state(accounts::CPU, state, now, cycles, env.common.uncached);
        env.common.accounts.set_point(point, now, cycles, env.common.uncached);
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

    fn reset_pending(&self) -> bool {
        self.fx.reset.is_some()
    }

    fn reset_code(&self) -> u8 {
        self.fx.reset.map_or(0, |(_, code)| code)
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

    fn too_low(&self, env: &Env) -> Option<Picos> {
        let low = self.chip.blocks.svs.below(&self.facts, env.common.state.vcc_v);
        low.then(|| us(self.facts.svs.delay_us))
    }

    fn hold(&mut self, env: &mut Env) {
        env.common.state.held_in_reset = self.chip.blocks.svs.trip();
    }

    fn power_off(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
        let done = self.chip.blocks.flash.cut(&mut env.memory[..], now.0 as u64 ^ cycles);
        self.flash_changed(env, done);
        for component in [FLASH, ADC12, REF, SVS] {
            let uncached = env.common.uncached;
            env.common.accounts.set_state(component, accounts::OFF, now, cycles, uncached);
        }
    }

    fn power_on(&mut self, env: &mut Env, ram_seed: u64, cycles: Cycles) {
        env.scramble_ram(ram_seed);
        env.common.state.now_ps += us(self.facts.wake.reset_ms * 1e3).0;
        let (now, uncached) = (env.common.now(), env.common.uncached);
        env.common.accounts.set_state(FLASH, accounts::IDLE, now, cycles, uncached);
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
            || (pins || b.usarts.iter().any(Usart::enabled)) && env.common.next_event().is_some()
            || self.pending_interrupt(env).is_some()
    }

    fn pins_may_wake(&self) -> bool {
        self.chip.blocks.ports[0].may_wake()
            || self.chip.blocks.timers.iter().any(TimerA::pins_may_wake)
    }

    fn next_event(&self) -> Option<Picos> {
        let c = &self.chip;
        let next = c.blocks.due(&c.clocks, Picos::ZERO);
        let next = c.dma_phase.ends().map_or(next, |t| next.min(Picos(t)));
        (next != Picos::MAX).then_some(next)
    }

    fn process_at(&mut self, env: &mut Env, t: Picos, now: Picos, cycles: Cycles) {
        if self.chip.blocks.wdt.next_event(&self.chip.clocks).is_some_and(|e| e <= t) {
            if self.chip.blocks.wdt.event(&self.chip.clocks, t) {
                // In the codes of later parts.
                self.fx.reset = Some((ResetKind::Puc, cause::WDTTO));
            }
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
        for i in 0..self.chip.blocks.usarts.len() {
            if self.chip.blocks.usarts[i].next_event().is_some_and(|e| e <= t) {
                self.usart_event(env, i, t, cycles);
            }
        }
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
        if std::mem::take(&mut self.fx.clocks) {
            self.update_clocks(env, now, cycles);
        }
        let on = |on: bool| if on { accounts::ON } else { accounts::OFF };
        let uncached = env.common.uncached;
        let accounts = &mut env.common.accounts;
        accounts.set_state(ADC12, on(self.chip.blocks.adc.busy()), now, cycles, uncached);
        let (refon, level) = self.chip.blocks.adc.reference();
        let asked = refon.then_some(level != 0);
        if self.chip.reference.map(|r| r.1) != asked {
            self.chip.reference = asked.map(|high| (now.0, high));
        }
        accounts.set_state(REF, on(refon), now, cycles, uncached);
        accounts.set_state(SVS, on(self.chip.blocks.svs.is_on()), now, cycles, uncached);
    }

    fn held_until(&mut self, env: &mut Env, pc: u32, sleeping: bool) -> Option<Picos> {
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
                    FCTL,
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

    fn write(
        &mut self,
        env: &mut Env,
        addr: u32,
        width: Width,
        value: u16,
        at: Cycles,
    ) -> Result<(), Fault> {
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
            self.write_register(env, addr, value & 0xFF, 0xFF, at)?;
        } else {
            let value = if width == Width::Byte { value & 0xFF } else { value };
            self.write_register(env, even(addr)?, value, 0xFFFF, at)?;
        }
        let now = self.chip.clocks.mclk.time_of(at);
        self.settle_effects(env, now, at);
        Ok(())
    }

    /// The multiplier's registers, as far as a word access leads to nothing else.
    #[inline(always)]
    fn read_plain_register(&self, addr: u32, at: Cycles) -> Option<u16> {
        let off = addr.wrapping_sub(MPY);
        if off < MPY_BYTES { self.chip.blocks.mpy.read_fast(off, at) } else { None }
    }

    #[inline(always)]
    fn write_plain_register(&mut self, env: &mut Env, addr: u32, value: u16, at: Cycles) -> bool {
        let off = addr.wrapping_sub(MPY);
        if off >= MPY_BYTES {
            return false;
        }
        self.write_mpy(env, off, value, at)
    }

    fn store(
        &mut self,
        env: &mut Env,
        addr: u32,
        width: Width,
        value: u16,
        at: Cycles,
    ) -> Result<(), Fault> {
        let dev: Arc<Device> = Arc::clone(&env.common.dev);
        let Some(region) = dev.region(addr) else {
            return Err(Fault::new(FaultKind::Unmapped, addr));
        };
        if !is_flash(region.kind) {
            return Err(Fault::new(FaultKind::ReadOnly, addr));
        }
        let now = self.chip.clocks.mclk.time_of(at);
        env.deadline = 0;
        let mut cx = cx!(self, env, addr, at, now);
        self.chip.blocks.flash.store(region, width, value, &env.memory[..], &mut cx)?;
        self.book_flash(env, now, at);
        Ok(())
    }

    fn unreadable(&self, env: &Env, addr: u32) -> Option<Fault> {
        let flash =
            self.flash_hidden && env.common.dev.region(addr).is_some_and(|r| is_flash(r.kind));
        flash.then(|| {
            Fault::device(
                addr,
                "access to flash while BUSY is set, by code in RAM; wait until FCTL3.BUSY is clear",
            )
        })
    }

    fn pin_level(&self, pin: Pin) -> bool {
        level(&self.chip.blocks.ports, pin)
    }

    fn drive(&mut self, pin: Pin, level: Option<bool>, at: Picos) {
        if let Some((i, mask)) = pair(pin) {
            self.chip.blocks.ports[i].drive(mask, level);
            self.feed_captures(at);
        }
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8) {
        self.chip.blocks.usarts[serial].uart_in(time, byte);
    }

    fn shifted_in(&mut self, env: &mut Env, serial: usize, byte: u8) -> u8 {
        env.common.accounts.count(USART_BYTE[serial]);
        env.deadline = 0;
        self.chip.blocks.usarts[serial].slave_exchange(byte)
    }

    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        match TIMERS.iter().position(|n| *n == timer) {
            Some(i) if matches!(input, 'A' | 'B') => {
                self.chip.blocks.timers[i].wire_aclk(ccr, input == 'B')
            }
            _ => false,
        }
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
