// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every chip has around its core: time, supply, books, pins and the parts wired to them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::{ComponentId, Cycles, Picos};

use crate::accounts::{Accounts, Names};
use crate::device::{Device, Drifting};
use crate::lint::{LintKind, Lints};
use crate::pin::{Held, Part, Pin, PinEdge, Wiring};
use crate::startup::SramStartup;

/// The voltage at an ADC input, asked for when a sample ends.
pub struct Probe<'a> {
    /// When the sample ends.
    pub time: Picos,
    pub vcc_v: f64,
    pub(crate) level: &'a dyn Fn(Pin) -> bool,
}

impl Probe<'_> {
    /// Level of a pin, for circuits that a pin switches.
    #[must_use]
    pub fn pin(&self, pin: Pin) -> bool {
        (self.level)(pin)
    }
}

pub(crate) type AdcInput = Box<dyn Fn(&Probe<'_>) -> f64 + Send>;

/// A byte that left a UART.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UartByte {
    /// Machine time in picoseconds at which its last bit ended.
    pub time_ps: u128,
    pub usci: String,
    pub byte: u8,
    /// Duration of one of its bits in picoseconds.
    pub bit_ps: u128,
}

/// A byte that an SPI master begins to shift, as the line carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shifting {
    pub mosi: u8,
    pub begin: Picos,
    pub end: Picos,
}

/// A byte that an SPI master has shifted out.
pub(crate) struct Exchange {
    /// Number of the chip's serial interface.
    pub serial: usize,
    pub mosi: u8,
    /// The master is in the mode that the parts speak.
    pub is_mode_0: bool,
    /// Its data register, for slips.
    pub addr: u32,
}

/// A part with its wires.
pub(crate) struct Attached {
    pub name: String,
    /// Number of the chip's serial interface.
    pub serial: Option<usize>,
    cs: Option<Pin>,
    pub part: Box<dyn Part>,
    component: ComponentId,
    selected: bool,
    driving: Vec<Pin>,
}

/// Share of its limit up to which a clock is run by permission: a choice of ours, so that a crystal of 8.192 MHz on a
/// part for 8, or of 18.432 on one for 16, runs, and a slip of the digits does not.
pub const OVERCLOCK: f64 = 1.25;

/// The temperature of data sheets' figures.
pub(crate) const ROOM_C: f64 = 25.0;

/// What a snapshot keeps of it, next to the books.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub now_ps: u128,
    pub vcc_v: f64,
    /// Of the chip, in degrees Celsius.
    pub temperature_c: f64,
    pub powered: bool,
    pub held_in_reset: bool,
    /// When the supply will have been below the brown-out level for long enough.
    pub bor_due_ps: Option<u128>,
    /// The same of a supervisor.
    pub svs_due_ps: Option<u128>,
    /// How often one has held the chip in reset.
    pub supervisor_resets: u64,
    /// Brown-out and supervisors act without their delays.
    pub at_once: bool,
    /// When the supply last went away.
    pub off_since_ps: u128,
    /// Seed of this unit's oscillators.
    pub seed: u64,
    pub lints: Lints,
    /// How often the counted pin fell while the chip ran.
    pub pulses: u64,
    pub pin_log: Vec<PinEdge>,
    pub uart_log: Vec<UartByte>,
}

pub(crate) struct Common {
    pub dev: Arc<Device>,
    pub accounts: Accounts,
    pub state: State,
    /// CPU cycles that ran code from RAM, as the books need them.
    pub uncached: Cycles,
    /// Words and bytes that a DMA controller has moved, for instruments that do not follow it. Snapshots leave
    /// it out.
    pub dma_moves: u64,
    pub parts: Vec<Attached>,
    pub adc_inputs: BTreeMap<u8, AdcInput>,
    /// How static memory starts, if not as the device's data say.
    pub sram: Option<SramStartup>,
    /// A fault outside any instruction.
    pub pending_fault: Option<Fault>,
    /// The operating point is not allowed.
    pub illegal: Option<Fault>,
    /// Clocks slightly above what data sheets allow are run.
    pub overclocks: bool,
    pub watch: Option<Pin>,
    pub watched: Option<PinEdge>,
    pub log_pins: bool,
    /// The pin whose pulses are counted.
    pub counted: Option<Pin>,
    /// Bytes that a DMA controller moved (from, to), not told to the observer yet; none where nobody asks.
    pub moved: Option<Vec<(Range<u32>, Range<u32>)>>,
}

/// A byte that a part shifted into a serial slave of the chip.
pub(crate) struct Shift {
    part: usize,
    pub serial: usize,
    pub byte: u8,
}

/// What an I2C master has done on its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnBus {
    Address { address: u8, read: bool },
    Write(u8),
    Read,
    Stop,
}

/// A pin that a part has begun to drive (with its level) or let go of.
pub(crate) type Drive = (Pin, Option<bool>);

impl Attached {
    fn is_on_i2c(&self) -> bool {
        !self.part.addresses().is_empty()
    }

    /// Whether it is selected while nothing is driven: it has no chip select, and is on no bus of addresses.
    fn is_always_selected(&self) -> bool {
        self.cs.is_none() && !self.is_on_i2c()
    }
}

impl Common {
    pub fn new(dev: Arc<Device>, names: &Names) -> Self {
        Self {
            accounts: Accounts::new(names),
            state: State {
                now_ps: 0,
                vcc_v: dev.supply.vcc_default_v,
                temperature_c: ROOM_C,
                powered: true,
                held_in_reset: false,
                bor_due_ps: None,
                svs_due_ps: None,
                supervisor_resets: 0,
                at_once: false,
                off_since_ps: 0,
                seed: 0,
                lints: Lints::default(),
                pulses: 0,
                pin_log: Vec::new(),
                uart_log: Vec::new(),
            },
            uncached: 0,
            dma_moves: 0,
            parts: Vec::new(),
            adc_inputs: BTreeMap::new(),
            sram: None,
            pending_fault: None,
            illegal: None,
            overclocks: dev.overclocks(),
            watch: None,
            watched: None,
            log_pins: true,
            counted: None,
            moved: None,
            dev,
        }
    }

    pub fn now(&self) -> Picos {
        Picos(self.state.now_ps)
    }

    /// Time since the supply went away. A cut of no length is none that a supply makes: who lets no time pass says
    /// nothing of it, and it counts as a long one, behind which nothing is left of RAM.
    pub fn off_time(&self) -> Picos {
        match self.now().since(Picos(self.state.off_since_ps)) {
            Picos::ZERO => Picos::MAX,
            off => off,
        }
    }

    /// The supply as oscillators see it: in steps, so that the books of a day have a finite number of clocks.
    pub fn stepped_vcc_v(&self) -> f64 {
        (self.state.vcc_v.clamp(1.8, 3.6) * 20.0).round() / 20.0
    }

    /// The frequency of an oscillator of so many hertz at room temperature and 3 V.
    pub fn drifted(&self, which: Drifting, hz: u32) -> u32 {
        let Some(d) = &self.dev.drift else { return hz };
        let (per_k, per_v) = match which {
            Drifting::Dco => (d.dco_percent_per_k, d.dco_percent_per_v),
            Drifting::Refo => (d.refo_percent_per_k, d.refo_percent_per_v),
            Drifting::Vlo => (d.vlo_percent_per_k, d.vlo_percent_per_v),
        };
        let percent =
            per_k * (self.state.temperature_c - ROOM_C) + per_v * (self.stepped_vcc_v() - 3.0);
        (f64::from(hz) * (1.0 + percent / 100.0)).round() as u32
    }

    /// Refuses a clock that exceeds its limit; none where it does not, or where it is run all the same by permission.
    pub fn too_fast(
        &mut self,
        (mhz, max_mhz): (f64, f64),
        addr: u32,
        what: impl FnOnce() -> String,
    ) -> Option<Fault> {
        if mhz <= max_mhz {
            return None;
        }
        let slightly = mhz <= max_mhz * OVERCLOCK;
        if slightly && self.overclocks {
            self.state.lints.note(LintKind::Overclocked, addr, 0);
            return None;
        }
        let hint =
            if slightly { ", or run it as a bench would by `--allow overclock`" } else { "" };
        Some(Fault::device(addr, what() + hint))
    }

    /// A DMA controller has moved so many bytes.
    pub fn moved(&mut self, from: u32, to: u32, from_bytes: u32, to_bytes: u32) {
        self.dma_moves += 1;
        if let Some(moved) = &mut self.moved {
            moved.push((from..from + from_bytes, to..to + to_bytes));
        }
    }

    /// When the next reset is due for which the supply is too low already.
    pub fn trip_at(&self) -> Option<Picos> {
        [self.state.bor_due_ps, self.state.svs_due_ps].into_iter().flatten().min().map(Picos)
    }

    /// The brown-out circuit finds the supply too low, which must last for so long, or it does not.
    pub fn bor_sees(&mut self, now: Picos, too_low: Option<Picos>) {
        self.state.bor_due_ps = self.due(self.state.bor_due_ps, now, too_low);
    }

    /// The same of a supervisor.
    pub fn svs_sees(&mut self, now: Picos, too_low: Option<Picos>) {
        self.state.svs_due_ps = self.due(self.state.svs_due_ps, now, too_low);
    }

    fn due(&self, already: Option<u128>, now: Picos, too_low: Option<Picos>) -> Option<u128> {
        let delay = too_low?;
        let delay_ps = if self.state.at_once { 0 } else { delay.0 };
        already.or(Some(now.0 + delay_ps))
    }

    /// Supplied and let go of by its supervisors.
    pub fn runs(&self) -> bool {
        self.state.powered && !self.state.held_in_reset
    }

    /// An output pin of the chip changed.
    #[must_use]
    pub fn output(&mut self, pin: Pin, level: bool, now: Picos, cycles: Cycles) -> Vec<Drive> {
        let edge = PinEdge { time_ps: now.0, cycles, pin, level };
        if self.log_pins {
            self.state.pin_log.push(edge);
        }
        if self.watch == Some(pin) {
            self.watched = Some(edge);
        }
        if self.counted == Some(pin) && !level && self.runs() {
            self.state.pulses += 1;
        }
        self.tell(now, cycles, |a| {
            let listens = a.part.listens().contains(&pin);
            if listens {
                a.part.pin(now, pin, level);
            }
            listens
        })
    }

    /// Tells each part, if `told` says it was one that this concerns, and collects what they drive then.
    fn tell(
        &mut self,
        now: Picos,
        cycles: Cycles,
        mut told: impl FnMut(&mut Attached) -> bool,
    ) -> Vec<Drive> {
        let mut drives = Vec::new();
        for i in 0..self.parts.len() {
            if told(&mut self.parts[i]) {
                drives.append(&mut self.sync(i, now, cycles));
            }
        }
        drives
    }

    /// Keeps a fault that an event led to.
    pub fn keep_fault(&mut self, result: Result<(), Fault>) {
        if let Err(fault) = result {
            self.pending_fault = Some(fault);
        }
    }

    /// The chip holds a pin in another way.
    #[must_use]
    pub fn held(&mut self, pin: Pin, held: Held, now: Picos, cycles: Cycles) -> Vec<Drive> {
        self.tell(now, cycles, |a| {
            let listens = a.part.listens().contains(&pin);
            if listens {
                a.part.held(now, pin, held);
            }
            listens
        })
    }

    /// The level of chip selects: `driven_low` says of a pin whether the chip drives it low.
    #[must_use]
    pub fn select(
        &mut self,
        driven_low: impl Fn(Pin) -> bool,
        now: Picos,
        cycles: Cycles,
    ) -> Vec<Drive> {
        self.tell(now, cycles, |a| {
            let Some(cs) = a.cs else { return false };
            let low = driven_low(cs);
            let changed = low != a.selected;
            if changed {
                a.selected = low;
                if low {
                    a.part.select(now);
                } else {
                    a.part.deselect(now);
                }
            }
            changed
        })
    }

    /// A byte begins on serial interface `serial`, an SPI, and takes that time.
    #[must_use]
    pub fn begins(
        &mut self,
        serial: usize,
        shift: Shifting,
        now: Picos,
        cycles: Cycles,
    ) -> Vec<Drive> {
        self.tell(now, cycles, |a| {
            let concerned = a.serial == Some(serial) && a.selected && !a.is_on_i2c();
            if concerned {
                a.part.shifting(shift.begin, shift.end, shift.mosi);
            }
            concerned
        })
    }

    /// A byte went over an SPI: what the selected part gave back, 0xFF where there was none. Notes slips.
    pub fn exchange(&mut self, spi: &Exchange, now: Picos, cycles: Cycles) -> (u8, Vec<Drive>) {
        let (mut miso, mut answers, mut drives) = (0xFF, 0, Vec::new());
        for i in 0..self.parts.len() {
            let a = &self.parts[i];
            if a.serial == Some(spi.serial) && a.selected && !a.is_on_i2c() {
                // What several make of the line is anyone's guess; here a low level wins, and a slip says so.
                miso &= self.parts[i].part.transfer(now, spi.mosi);
                answers += 1;
                drives.append(&mut self.sync(i, now, cycles));
            }
        }
        let slip = match answers {
            0 => Some(LintKind::SpiNobody),
            1 => (!spi.is_mode_0).then_some(LintKind::SpiMode),
            _ => Some(LintKind::SpiSeveral),
        };
        if let Some(kind) = slip {
            self.state.lints.report(kind, spi.addr, cycles);
        }
        (miso, drives)
    }

    /// A step on the I2C bus of serial interface `serial`: `None` where nobody acknowledged, else the byte that was
    /// read. On I2C the selected part is the one that was addressed.
    pub fn i2c(
        &mut self,
        serial: usize,
        step: OnBus,
        now: Picos,
        cycles: Cycles,
    ) -> (Option<u8>, Vec<Drive>) {
        let (mut answer, mut drives) = (None, Vec::new());
        for i in 0..self.parts.len() {
            let a = &mut self.parts[i];
            if a.serial != Some(serial) || !a.is_on_i2c() {
                continue;
            }
            let part = &mut a.part;
            match step {
                OnBus::Address { address, read } if part.addresses().contains(&address) => {
                    a.selected = part.addressed(now, address, read);
                    answer = a.selected.then_some(0);
                }
                _ if !a.selected => continue,
                OnBus::Write(byte) => answer = part.written(now, byte).then_some(0),
                OnBus::Read => answer = Some(part.given(now)),
                OnBus::Address { .. } | OnBus::Stop => {
                    part.stopped(now);
                    a.selected = false;
                }
            }
            drives.append(&mut self.sync(i, now, cycles));
        }
        (answer, drives)
    }

    /// The part that has the I2C address of another on the same bus, if there is one, and the address.
    pub fn shares_address(&self, serial: usize, part: &dyn Part) -> Option<(&str, u8)> {
        let on_bus = self.parts.iter().filter(|a| a.serial == Some(serial));
        let shared = |a: &Attached| {
            a.part.addresses().iter().copied().find(|address| part.addresses().contains(address))
        };
        on_bus.filter_map(|a| Some((a.name.as_str(), shared(a)?))).next()
    }

    /// A byte left UART `serial`, in that time.
    #[must_use]
    pub fn sent(
        &mut self,
        serial: usize,
        byte: u8,
        time: Range<Picos>,
        cycles: Cycles,
    ) -> Vec<Drive> {
        let mut drives = Vec::new();
        for i in 0..self.parts.len() {
            if self.parts[i].serial == Some(serial) {
                self.parts[i].part.uart(time.start, time.end, byte);
                drives.append(&mut self.sync(i, time.end, cycles));
            }
        }
        drives
    }

    pub fn attach(
        &mut self,
        name: &str,
        serial: Option<usize>,
        wiring: Wiring<'_>,
        part: Box<dyn Part>,
        cycles: Cycles,
    ) -> Vec<Drive> {
        let now = self.now();
        let component = self.accounts.component(name, part.state(), now, cycles);
        self.parts.push(Attached {
            name: name.to_owned(),
            serial,
            cs: wiring.cs,
            part,
            component,
            selected: false,
            driving: Vec::new(),
        });
        if let Some(a) = self.parts.last_mut() {
            a.selected = a.is_always_selected();
        }
        self.sync(self.parts.len() - 1, now, cycles)
    }

    /// When a part wants to be called next.
    pub fn next_event(&self) -> Option<Picos> {
        self.parts.iter().filter_map(|a| a.part.next_event()).min()
    }

    /// Calls the parts whose time `t` has come. Answers what they drive, and the bytes that they shifted
    /// into the chip's serial slaves: each wants its [`shifted_out`](Self::shifted_out).
    #[must_use]
    pub fn events(&mut self, t: Picos, now: Picos, cycles: Cycles) -> (Vec<Drive>, Vec<Shift>) {
        let (mut drives, mut shifts) = (Vec::new(), Vec::new());
        for i in 0..self.parts.len() {
            if self.parts[i].part.next_event().is_some_and(|e| e <= t) {
                let a = &mut self.parts[i];
                a.part.event(t);
                if let (Some(serial), Some(byte)) = (a.serial, a.part.shifted_in()) {
                    shifts.push(Shift { part: i, serial, byte });
                }
                drives.append(&mut self.sync(i, now, cycles));
            }
        }
        (drives, shifts)
    }

    /// The byte that the chip's shift register gave for one shifted in.
    pub fn shifted_out(&mut self, shift: &Shift, t: Picos, byte: u8) {
        self.parts[shift.part].part.shifted_out(t, byte);
    }

    /// The supply of the parts went away or came back.
    #[must_use]
    pub fn power_parts(&mut self, on: bool, now: Picos, cycles: Cycles) -> Vec<Drive> {
        let mut drives = Vec::new();
        for i in 0..self.parts.len() {
            let a = &mut self.parts[i];
            a.part.power(now, on);
            a.selected = on && a.selected || a.is_always_selected();
            drives.append(&mut self.sync(i, now, cycles));
        }
        drives
    }

    /// Takes over a part's state; answers how the pins it drives have changed.
    #[must_use]
    pub fn sync(&mut self, i: usize, now: Picos, cycles: Cycles) -> Vec<Drive> {
        let a = &mut self.parts[i];
        if let Some(problem) = a.part.problem() {
            self.pending_fault = Some(Fault::device(0, format!("{}: {problem}", a.name)));
        }
        let (component, state) = (a.component, self.accounts.state(a.part.state()));
        self.accounts.set_state(component, state, now, cycles, self.uncached);
        let pins = a.part.pins();
        let let_go = a.driving.iter().filter(|d| !pins.iter().any(|p| p.0 == **d));
        let mut drives: Vec<Drive> = let_go.map(|p| (*p, None)).collect();
        drives.extend(pins.iter().map(|(p, high)| (*p, Some(*high))));
        a.driving = pins.iter().map(|p| p.0).collect();
        drives
    }

    /// The same for all parts, behind a change from outside.
    #[must_use]
    pub fn sync_all(&mut self, now: Picos, cycles: Cycles) -> Vec<Drive> {
        (0..self.parts.len()).flat_map(|i| self.sync(i, now, cycles)).collect()
    }

    /// The voltage at an ADC channel, if one is connected.
    pub fn adc_volts(&self, channel: u8, time: Picos, level: &dyn Fn(Pin) -> bool) -> Option<f64> {
        let input = self.adc_inputs.get(&channel)?;
        Some(input(&Probe { time, vcc_v: self.state.vcc_v, level }))
    }

    /// Those of `channels` beside the first that no voltage is connected to, each once; the first goes ahead.
    pub fn without_volts(&self, first: u8, channels: &[u8], inner: &[u8]) -> Vec<u8> {
        let mut missing = vec![first];
        for channel in channels {
            let open = !self.adc_inputs.contains_key(channel) && !inner.contains(channel);
            if open && !missing.contains(channel) {
                missing.push(*channel);
            }
        }
        missing
    }

    /// The parts that tell of their inside, by name, and what does.
    pub fn telling(&self) -> impl Iterator<Item = (&str, &dyn Part)> {
        self.parts.iter().map(|a| (a.name.as_str(), &*a.part as &dyn Part))
    }

    pub fn save_parts(&self) -> Vec<(String, Vec<u8>, bool)> {
        self.parts.iter().map(|a| (a.name.clone(), a.part.save(), a.selected)).collect()
    }

    /// What a loss of power left in the parts, each with its length in front.
    pub fn parts_remain(&self) -> Vec<u8> {
        let each = |left: Vec<u8>| [&(left.len() as u64).to_le_bytes()[..], &left].concat();
        self.parts.iter().flat_map(|a| each(a.part.remains())).collect()
    }

    pub fn restore_parts(&mut self, saved: &[(String, Vec<u8>, bool)]) {
        for (a, (_, bytes, selected)) in self.parts.iter_mut().zip(saved) {
            a.part.restore(bytes);
            a.selected = *selected;
            a.driving = a.part.pins().iter().map(|p| p.0).collect();
        }
    }
}

/// Says that nothing stands at a channel of a converter, and by what something would.
#[cold]
pub fn no_voltage(label: &str, channels: &[u8]) -> String {
    let Some((channel, others)) = channels.split_first() else { return format!("{label}?") };
    let all: Vec<String> = channels.iter().map(u8::to_string).collect();
    let has = match others {
        [] => format!("{label}{channel} has no voltage; connect one to it"),
        _ => format!(
            "{label}{channel} has no voltage, nor have all that are to be measured with it ({}); connect one to each",
            all.join(", ")
        ),
    };
    let options: Vec<String> = channels.iter().map(|c| format!("--adc {c}=1.2V")).collect();
    format!(
        "{has}: `{}`, `{channel} = 1.2` in [adc] of a scenario, or `adc_volts({channel}, 1.2)` in Python",
        options.join(" ")
    )
}

/// Bytes that snapshots share until one changes.
#[derive(Clone)]
pub(crate) struct SharedBytes(pub Arc<Vec<u8>>);

impl Serialize for SharedBytes {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(s)
    }
}

impl<'de> Deserialize<'de> for SharedBytes {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self(Arc::new(Vec::deserialize(d)?)))
    }
}
