// SPDX-License-Identifier: MIT OR Apache-2.0
//! What chips with an MSP430 core have alike beside the core: states of the CPU and of flash, pins that follow
//! the registers of a pair of ports, flash that cannot be read while it is busy.

use std::sync::Arc;

use sunseal_isa::msp430::sr;
use sunseal_isa::{Fault, FaultKind};
use sunseal_trace::{ComponentId, Cycles, OperatingPoint, Picos, StateId};

use crate::accounts::{self, Event};
use crate::blocks::adc12_a::Sample;
use crate::blocks::block::Named;
pub(crate) use crate::blocks::flash_cells::{ERASE, WRITE};
pub(crate) use crate::blocks::net::{Net, pair};
use crate::blocks::port::PortPair;
use crate::blocks::serial::{Serial, Which};
use crate::blocks::timer_a::TimerA;
use crate::blocks::{Ctx, Effects};
use crate::clock::Clocks;
use crate::cores::msp430::{CODE, Env, Peripherals, READ};
use crate::device::{Capture, Device, Region, RegionKind};
use crate::pin::{PORT_J, Pin};

/// States of a chip with flash behind those that every chip has, by the numbers that follow.
pub(crate) const FLASH_STATES: &[&str] =
    &["lpm0", "lpm1", "lpm2", "lpm3", "lpm4", "write", "erase"];
/// Number of "lpm0"; those of the deeper modes follow, on every MSP430.
const LPM0: u16 = 5;

/// What a block sees of the chip that has the blocks and effects of `$soc`.
macro_rules! cx {
    ($soc:expr, $env:expr, $addr:expr, $at:expr, $now:expr) => {
        $crate::blocks::Ctx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.chip.clocks,
            dev: &$env.common.dev,
            accounts: &mut $env.common.accounts,
            lints: &mut $env.common.state.lints,
            fx: &mut $soc.fx,
            vcc_v: $env.common.state.vcc_v,
            beside: $env.mode,
        }
    };
}
pub(crate) use cx;

/// The low-power mode that SR's bits and the requests of modules make: a module that asks for its clock keeps the
/// oscillator on, and that is what the mode costs.
pub(crate) fn lpm(mode: u32, smclk_on: bool, aclk_on: bool) -> u16 {
    match (mode & sr::SCG0 != 0, mode & sr::SCG1 != 0) {
        _ if mode & sr::OSCOFF != 0 && !aclk_on && !smclk_on => 4,
        (scg0, true) if !smclk_on => 2 + u16::from(scg0),
        (scg0, _) => u16::from(scg0),
    }
}

/// The CPU's state: off, active or in a low-power mode.
pub(crate) fn cpu_state(mode: u32, on: bool, smclk_on: bool, aclk_on: bool) -> StateId {
    match mode & sr::CPUOFF {
        _ if !on => accounts::OFF,
        0 => accounts::ACTIVE,
        _ => StateId(LPM0 + lpm(mode, smclk_on, aclk_on)),
    }
}

/// Books the CPU's state and the operating point that clocks and mode have come to.
pub(crate) fn book_point(
    env: &mut Env,
    clocks: &Clocks,
    state: StateId,
    (mclk_hz, vcore): (u32, u8),
    now: Picos,
    cycles: Cycles,
) -> OperatingPoint {
    let (smclk_hz, aclk_hz) = (clocks.smclk.freq_hz(), clocks.aclk.freq_hz());
    let point = OperatingPoint { mclk_hz, smclk_hz, aclk_hz, vcore };
    let uncached = env.common.uncached;
    env.common.accounts.set_state(accounts::CPU, state, now, cycles, uncached);
    env.common.accounts.set_point(point, now, cycles, uncached);
    point
}

/// Books components as without supply.
pub(crate) fn book_off(env: &mut Env, components: &[ComponentId], now: Picos, cycles: Cycles) {
    for &component in components {
        let uncached = env.common.uncached;
        env.common.accounts.set_state(component, accounts::OFF, now, cycles, uncached);
    }
}

/// The state of a component that is on or off.
pub(crate) fn on(is_on: bool) -> StateId {
    if is_on { accounts::ON } else { accounts::OFF }
}

/// A start-up time passes, booked as off.
pub(crate) fn start_up<P: Peripherals>(soc: &mut P, env: &mut Env, time: Picos, cycles: Cycles) {
    env.common.state.held_in_reset = true;
    soc.update_clocks(env, env.common.now(), cycles);
    env.common.state.held_in_reset = false;
    env.common.state.now_ps += time.0;
}

/// Has edges of output units reach their pins and the converter, in the order of their times.
macro_rules! follow_outputs {
    ($self:ident, $env:ident, $cycles:expr) => {
        if $self.chip.blocks.timers.iter().any(|t| !t.edges.is_empty()) {
            for (at, unit, level) in $crate::blocks::net::edges(&mut $self.chip.blocks.timers) {
                let pairs =
                    $self.net.moved(&mut $self.chip.blocks.ports, unit, level, net::UNMAPPED);
                for i in pairs {
                    $self.port_moved($env, i, at, $cycles);
                }
                let adc = &mut $self.chip.blocks.adc;
                if level && adc.is_armed() && $self.net.starts(adc.trigger_source(), unit) {
                    let base = $self.at.adc[0].base;
                    let mut adc = $self.chip.blocks.adc.clone();
                    let started = adc.triggered(&cx!($self, $env, base, $cycles, at));
                    $self.chip.blocks.adc = adc;
                    $env.common.keep_fault(started);
                    $self.fx.clocks = true;
                }
            }
        }
    };
}
pub(crate) use follow_outputs;

/// The timers of a chip, with ACLK at the capture inputs that the device's data name.
pub(crate) fn timers(device: &Device, named: Vec<Named<2>>, capture: &[Capture]) -> Vec<TimerA> {
    let timer = |(name, kind, _): Named<2>| {
        let mut timer = TimerA::new(device.ccrs(name), kind == "timer_b");
        for c in capture.iter().filter(|c| c.signal == "aclk" && c.timer == name) {
            timer.wire_aclk(c.ccr, c.input == "B");
        }
        timer
    };
    named.into_iter().map(timer).collect()
}

/// The serial interfaces of a chip by their numbers.
pub(crate) struct Serials {
    /// Names in the device's data.
    pub names: Vec<&'static str>,
    /// The events that are bytes of each.
    bytes: Vec<Event>,
}

impl Serials {
    /// Interfaces of these names; a chip reports bytes of those that it has.
    pub fn new(env: &mut Env, names: Vec<&'static str>) -> Self {
        let bytes: Vec<Event> = names.iter().map(|name| Event::byte(name)).collect();
        bytes.iter().for_each(|event| env.common.accounts.has(*event));
        Self { names, bytes }
    }
}

/// Those of [`Peripherals`] of a chip whose program memory is flash, with its components that lose their supply.
macro_rules! flash_chip {
    ($off:expr) => {
        fn set_registers(&mut self, env: &mut Env, registers: Registers) {
            self.chip = registers;
            self.fx = Effects::default();
            self.hide_flash(env, false);
        }
        fn remains(&self) -> Option<Vec<u8>> {
            postcard::to_stdvec(&self.chip).ok()
        }
        fn power_off(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
            let done = self.chip.blocks.flash.cut(&mut env.memory[..], now.0 as u64 ^ cycles);
            self.flash_changed(env, done);
            msp430::book_off(env, $off, now, cycles);
        }
        fn power_on(&mut self, env: &mut Env, ram_seed: u64, cycles: Cycles) {
            let start_up = us(self.facts.wake.reset_ms * 1e3);
            msp430::power_on(env, FLASH, ram_seed, start_up, cycles);
            self.chip.blocks.forget(ram_seed);
        }
        fn unreadable(&self, env: &Env, addr: u32) -> Option<Fault> {
            self.flash_hidden.then(|| msp430::flash_is_busy(env, is_flash, addr)).flatten()
        }
    };
}
pub(crate) use flash_chip;

/// Flash that code in RAM cannot read while it is busy.
macro_rules! hidden_flash {
    () => {
        pub(super) fn hide_flash(&mut self, env: &mut Env, hidden: bool) {
            if std::mem::replace(&mut self.flash_hidden, hidden) != hidden {
                msp430::hide_flash(env, is_flash, hidden);
            }
        }
    };
}
pub(crate) use hidden_flash;

/// Those of [`Peripherals`] of a chip that looks its blocks up in a map of addresses.
macro_rules! mapped {
    () => {
        fn reset(&mut self, env: &mut Env, now: Picos, cycles: Cycles) {
            self.reset_as(env, ResetKind::Bor, cause::BOR, now, cycles);
        }
        fn hold(&mut self, env: &mut Env) {
            env.common.state.held_in_reset = true;
            self.chip.blocks.pmm.note_svsh();
        }
        fn maskable_possible(&self, env: &Env) -> bool {
            let (b, clocks) = (&self.chip.blocks, &self.chip.clocks);
            let pins = self.pins_may_wake();
            b.sfr.ie1 & sunseal_registers::msp430fr5xx::sfr::WDTIFG != 0
                && b.wdt.next_event(clocks).is_some()
                || b.may_ask(clocks, env.common.now(), pins)
                || pins && env.common.next_event().is_some()
                || b.adc.enabled() && b.adc.is_armed() && self.next_event().is_some()
                || self.pending_interrupt(env).is_some()
        }
        fn write(&mut self, env: &mut Env, to: Store, at: Cycles) -> Result<(), Fault> {
            self.write_register(env, to.masked(), at)
        }
        #[inline(always)]
        fn mpy(&self) -> (&Mpy32, u32) {
            (&self.chip.blocks.mpy, self.at.mpy[0].base)
        }
        fn timer(&mut self, name: &str) -> Option<&mut TimerA> {
            let i = self.at.timers.iter().position(|place| place.name == name)?;
            Some(&mut self.chip.blocks.timers[i])
        }
    };
}
pub(crate) use mapped;

/// Those of such a chip beside the trait.
macro_rules! mapped_inherent {
    () => {
        /// The block at an address, and the word's offset in it.
        #[inline(always)]
        fn slot_at(&self, addr: u32) -> (Slot, u32) {
            let (slot, base) = self.map[(addr >> 2) as usize & 1023];
            (slot, u32::from(base) + (addr & 2))
        }

        /// The watchdog's time-out, if it is due at `t`.
        fn watchdog_event(&mut self, env: &mut Env, t: Picos, cycles: Cycles) {
            if self.chip.blocks.wdt.next_event(&self.chip.clocks).is_some_and(|e| e <= t) {
                self.chip.blocks.wdt.event(&mut cx!(self, env, self.at.wdt[0].base, cycles, t));
                // A time-out also leaves WDTIFG set, by which start-up code knows it.
                self.chip.blocks.sfr.ifg1 |= sunseal_registers::msp430fr5xx::sfr::WDTIFG;
            }
        }

        /// The vectors of the system and the user NMI.
        fn nmi_vectors(device: &Device) -> [u32; 2] {
            ["sysnmi", "unmi"].map(|name| device.interrupt(name).unwrap_or(0))
        }
    };
}
pub(crate) use mapped_inherent;

/// Those of [`Peripherals`] that only reach into what the struct of every family has.
macro_rules! reaches {
    () => {
        type Registers = Registers;
        const NAMES: Names = NAMES;

        fn serials(&self) -> &[&'static str] {
            &self.serials.names
        }

        fn registers(&self) -> &Registers {
            &self.chip
        }
        fn forget_ticks(&mut self) {
            self.chip.clocks = Clocks::default();
        }
        fn mclk(&self) -> &Line {
            &self.chip.clocks.mclk
        }
        fn mclk_mut(&mut self) -> &mut Line {
            &mut self.chip.clocks.mclk
        }
        fn effects(&self) -> &Effects {
            &self.fx
        }
        #[inline(always)]
        fn mpy_mut(&mut self) -> &mut Mpy32 {
            &mut self.chip.blocks.mpy
        }
        fn pin_level(&self, pin: Pin) -> bool {
            msp430::level(&self.chip.blocks.ports, <Self as Family>::PAIRS, pin)
        }
        fn uart_in(&mut self, serial: usize, time: Picos, byte: u8, bit_ps: u128) {
            self.interface(serial).0.uart_in(time, byte, bit_ps);
        }
    };
}
pub(crate) use reaches;

/// Those of [`Family`], with the blocks of its serial interfaces.
macro_rules! family {
    ($interface:ty, $serials:ident, $pairs:expr) => {
        type Interface = $interface;
        const PAIRS: usize = $pairs;

        fn interfaces(&self) -> &Serials {
            &self.serials
        }
        fn context<'a>(
            &'a mut self,
            env: &'a mut Env,
            addr: u32,
            at: Cycles,
            now: Picos,
        ) -> Ctx<'a> {
            cx!(self, env, addr, at, now)
        }
        fn effects_mut(&mut self) -> &mut Effects {
            &mut self.fx
        }
        fn interface(&mut self, i: usize) -> (&mut $interface, u32) {
            (&mut self.chip.blocks.$serials[i], self.at.$serials[i].base)
        }
        fn ports(&mut self) -> (&[PortPair], &mut [u16]) {
            (&self.chip.blocks.ports, &mut self.chip.outputs)
        }
    };
}
pub(crate) use family;

/// What the families do alike with their serial interfaces and pins.
pub(crate) trait Family: Peripherals {
    /// The block of its serial interfaces.
    type Interface: Serial + Clone;
    /// Pairs of numbered ports. Behind them lies PJ, where the chip has it.
    const PAIRS: usize;

    /// What a block sees, for an access to `addr` in cycle `at` or an event at `now`.
    fn context<'a>(&'a mut self, env: &'a mut Env, addr: u32, at: Cycles, now: Picos) -> Ctx<'a>;
    fn effects_mut(&mut self) -> &mut Effects;
    /// All serial interfaces by name.
    fn interfaces(&self) -> &Serials;
    /// Serial interface `i` and its first address.
    fn interface(&mut self, i: usize) -> (&mut Self::Interface, u32);
    /// The pairs of ports, and their outputs as parts were last told them.
    fn ports(&mut self) -> (&[PortPair], &mut [u16]);

    /// A byte of SPI that has begun goes to parts which follow its bits.
    fn spi_begins(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        let Some(shift) = self.interface(i).0.begun() else { return };
        for (pin, level) in env.common.begins(i, shift, now, cycles) {
            self.drive(pin, level, now);
        }
    }

    /// What is due by `t` at the serial interfaces happens.
    fn serial_events(&mut self, env: &mut Env, t: Picos, cycles: Cycles) {
        for i in 0..self.interfaces().names.len() {
            if self.interface(i).0.next_event().is_some_and(|e| e <= t) {
                self.serial_event(env, i, t, cycles);
            }
        }
    }

    fn serial_event(&mut self, env: &mut Env, i: usize, t: Picos, cycles: Cycles) {
        let (serial, base) = self.interface(i);
        let mut serial = serial.clone();
        serial.listen(&self.context(env, base, cycles, t));
        let done = serial.event(t);
        env.common.uart_slips(serial.incoming(), base, cycles);
        if let Some(done) = done {
            let Serials { names, bytes } = self.interfaces();
            let which = Which { index: i, name: names[i], byte: bytes[i], base };
            for (pin, level) in env.common.carry_out(&mut serial, which, done, (t, cycles)) {
                self.drive(pin, level, t);
            }
            if let Err(fault) = serial.go_on(&self.context(env, base, cycles, t)) {
                env.common.pending_fault = Some(fault);
            }
        }
        *self.interface(i).0 = serial;
        self.spi_begins(env, i, t, cycles);
        self.effects_mut().clocks = true;
    }

    /// Parts are told what has changed of the outputs of pair `i`.
    fn tell_outputs(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        let (ports, seen) = self.ports();
        let outputs = ports[i].outputs();
        let mut changed = outputs ^ std::mem::replace(&mut seen[i], outputs);
        let mut drives = Vec::new();
        while changed != 0 {
            let bit = changed.trailing_zeros() as u8;
            changed &= changed - 1;
            let port = if i == Self::PAIRS { PORT_J } else { 2 * i as u8 + 1 + bit / 8 };
            let pin = Pin { port, bit: bit % 8 };
            drives.extend(env.common.output(pin, outputs >> bit & 1 != 0, now, cycles));
        }
        let low = |pin| {
            let place = pair(pin, Self::PAIRS).and_then(|(i, mask)| Some((ports.get(i)?, mask)));
            place.is_some_and(|(p, mask)| p.output_bits() & mask != 0 && p.outputs() & mask == 0)
        };
        drives.extend(env.common.select(low, now, cycles));
        for (pin, level) in drives {
            self.drive(pin, level, now);
        }
    }
}

/// The level at a pin of these ports; low where there is none.
pub(crate) fn level(ports: &[PortPair], pairs: usize, pin: Pin) -> bool {
    pair(pin, pairs).and_then(|(i, mask)| Some(ports.get(i)?.levels() & mask != 0)).unwrap_or(false)
}

/// What an ADC12 of the F1xx or F5xx measures: a part's voltage, its own sensor or half of the supply. None is a fault.
pub(crate) fn adc12_volts(
    env: &mut Env,
    sample: &Sample,
    asked: &[u8],
    sensor_v: f64,
    level: &dyn Fn(Pin) -> bool,
    base: u32,
) -> Option<f64> {
    env.common.accounts.count(Event::Adc12Conversion);
    let input = env.common.adc_volts(sample.channel, sample.time, level);
    let volts = input.or(match sample.channel {
        10 => Some(sensor_v),
        11 => Some(env.common.state.vcc_v / 2.0),
        _ => None,
    });
    if volts.is_none() {
        let open = env.common.without_volts(sample.channel, asked, &[10, 11]);
        let what = crate::common::no_voltage("ADC12 channel A", &open);
        env.common.pending_fault = Some(Fault::device(base, what));
    }
    volts
}

/// A chip with flash starts: RAM wakes, the start-up time passes.
pub(crate) fn power_on(
    env: &mut Env,
    flash: ComponentId,
    ram_seed: u64,
    start_up: Picos,
    cycles: Cycles,
) {
    env.scramble_ram(ram_seed);
    env.common.state.now_ps += start_up.0;
    let (now, uncached) = (env.common.now(), env.common.uncached);
    env.common.accounts.set_state(flash, accounts::IDLE, now, cycles, uncached);
}

/// The region of flash that a store goes to; a fault where it cannot.
pub(crate) fn flash_at(dev: &Device, addr: u32) -> Result<&Region, Fault> {
    let region = dev.region(addr).ok_or_else(|| Fault::new(FaultKind::Unmapped, addr))?;
    match region.kind {
        RegionKind::Flash | RegionKind::InfoFlash => Ok(region),
        _ => Err(Fault::new(FaultKind::ReadOnly, addr)),
    }
}

/// While flash is busy it cannot be read. Code in flash is held; code in RAM goes on, and its
/// reads must be caught, those of instructions decoded before included.
pub(crate) fn hide_flash(env: &mut Env, is_flash: fn(RegionKind) -> bool, hidden: bool) {
    let dev = Arc::clone(&env.common.dev);
    for r in dev.memory.iter().filter(|r| is_flash(r.kind)) {
        env.set_pages(r.start, r.end, if hidden { 0 } else { READ | CODE });
        if hidden {
            env.changed.push(r.start..r.end + 1);
        }
    }
}

/// Why flash that is hidden cannot be read, where `addr` lies in it.
pub(crate) fn flash_is_busy(
    env: &Env,
    is_flash: fn(RegionKind) -> bool,
    addr: u32,
) -> Option<Fault> {
    let what = "access to flash while BUSY is set, by code in RAM; wait until FCTL3.BUSY is clear";
    let flash = env.common.dev.region(addr).is_some_and(|r| is_flash(r.kind));
    flash.then(|| Fault::device(addr, what))
}
