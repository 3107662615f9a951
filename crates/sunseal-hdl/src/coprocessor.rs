// SPDX-License-Identifier: MIT OR Apache-2.0
//! The coprocessor beside a chip. Its clock is its own: edge k comes at `origin + phase + k / clock_hz`, and what the
//! chip did until then is what the edge sees.
//!
//! The model is stepped where somebody looks: up to each change of an input, and ahead of the chip as long as its outputs
//! may change by themselves. What was run ahead is taken back when an input changes before, unless the model rests since
//! before that: until an input changes, nothing does.

mod shift;
mod uart;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use sunseal_part::{Held, Part, Pin, Signal};
use sunseal_trace::Picos;

use crate::model::{Model, Moved, Told};
use crate::wiring::{Bus, SCK_CLOCKS};
use shift::Shift;

const PICOS: u128 = 1_000_000_000_000;
/// Clocks from an input to whatever it leads to: two flops, the bus, control. Behind them only what computes changes.
const PIPELINE_CLOCKS: u64 = 12;
/// The shortest look ahead at once, in which a byte on the bus mostly is through, and the longest.
const CHUNK_CLOCKS_MIN: u64 = 16;
const CHUNK_CLOCKS_MAX: u64 = 4096;
/// Clocks that the parallel bus needs: between toggles, from a toggle to the answer, from the last to the mote's byte.
const TOGGLE_CLOCKS: f64 = 4.0;
const TURN_CLOCKS: f64 = 8.0;
/// Clocks that the SPI needs of SCK beside its period: high, and low or selected in front of a rise.
const SCK_HIGH_CLOCKS: f64 = 1.0;
const SCK_LOW_CLOCKS: f64 = 4.0;

/// Of registers beyond 64 bits: PRESENT's key, a round a clock.
const WIDE_BITS: u32 = 128;

sunseal_trace::constants! { u32:
    RESET_N 1, TOGGLE 1 << 1, LINES 8, SCK 1 << 1, CS_N 1 << 2, MOSI 1 << 3, RX 1 << 1,
    TICK 1 << 4, IRQ 1,
    /// Drives its lines (parallel), MISO (SPI), TX (UART).
    OUT 1 << 1,
}

/// What a coprocessor has done since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FpgaCounts {
    /// Clocks that came to its flops; a gated one lets them stand still while nothing is wanted.
    pub clocks: u64,
    /// Changes of its flops.
    pub toggles: u64,
    /// How often it was configured.
    pub boots: u64,
    /// The first breach of the bus's contract, a sentence.
    pub problem: Option<String>,
}

impl FpgaCounts {
    /// The events of a ledger that it counts, behind the component's name and a dot.
    pub const EVENTS: [&str; 3] = ["clock", "toggle", "boot"];

    /// How often each of [`EVENTS`](Self::EVENTS) was.
    #[must_use]
    pub fn by_event(&self) -> [u64; 3] {
        [self.clocks, self.toggles, self.boots]
    }
}

/// Its supply and configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Power {
    Off,
    /// Until when it loads its configuration.
    Configuring(u128),
    /// Since when its clock runs.
    On(u128),
}

/// A frame of its UART: begin, and the levels since.
type Frame = (u128, Vec<(u128, bool)>);

/// What a snapshot keeps beside the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    power: Power,
    rail: bool,
    switched_on: bool,
    /// How the chip holds each wire, in the order of [`Bus::hears`].
    held: Vec<SavedHeld>,
    inputs: u32,
    outputs: u32,
    /// Periods of the clock in this configuration that are done, and to where it was looked ahead.
    clocks: u64,
    next_ps: Option<u128>,
    /// The next edge of the slow clock, while it is wanted.
    tick_ps: Option<u128>,
    last_toggle_ps: Option<u128>,
    /// When SCK last rose, and when it fell or the select did.
    last_rise_ps: Option<u128>,
    last_fall_ps: Option<u128>,
    frame: Option<Frame>,
    received: Vec<u8>,
    /// The byte that the chip's own SPI shifts.
    shift: Option<Shift>,
    counts: FpgaCounts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum SavedHeld {
    Low,
    High,
    PulledUp,
    Floating,
}

impl From<Held> for SavedHeld {
    fn from(held: Held) -> Self {
        match held {
            Held::Driven(false) => Self::Low,
            Held::Driven(true) => Self::High,
            Held::PulledUp => Self::PulledUp,
            Held::Floating => Self::Floating,
        }
    }
}

/// Facts that do not change.
pub(crate) struct Facts {
    pub bus: Bus,
    pub clock_hz: u64,
    /// Of the first edge behind the configuration, in shares of a period of 2^64.
    pub phase: u64,
    pub boot_ps: u128,
    /// Half a period of the slow clock, where the fast one stands still while nothing is wanted.
    pub tick_ps: Option<u128>,
    /// It cannot be switched: it is on whenever the rail is.
    pub always_on: bool,
    /// Its SPI is an interface of the chip, which tells of bytes and of levels of its outputs.
    pub by_bytes: bool,
}

/// What a waveform is told: registers' changes, committed and of what was run ahead.
#[derive(Default)]
struct Trace {
    values: Vec<u64>,
    log: Vec<(Picos, usize, u64)>,
    ahead_values: Vec<u64>,
    ahead_log: Vec<(Picos, usize, u64)>,
}

struct Inner {
    trace: Option<Trace>,
    facts: Facts,
    model: Model,
    s: State,
    /// What is to come, as of `s.clocks`.
    told: Told,
    /// Beyond `s.clocks`: where the model stands, with its outputs, what is to come, and what toggled on the way.
    ahead: u64,
    ahead_outputs: u32,
    ahead_told: Told,
    ahead_moved: Moved,
    /// It was run since it was kept.
    moved: bool,
    chunk: u64,
    /// Clock periods done when an input pin last changed: from there it is counted how far the model runs ahead.
    input_clocks: u64,
    /// Since when a look at what comes next is due.
    look_due_ps: Option<u128>,
}

impl Inner {
    fn period_ps(&self) -> f64 {
        PICOS as f64 / self.facts.clock_hz as f64
    }

    fn origin(&self) -> Option<u128> {
        match self.s.power {
            Power::On(since) => Some(since),
            _ => None,
        }
    }

    fn phase_ps(&self) -> u128 {
        (u128::from(self.facts.phase) * PICOS / u128::from(self.facts.clock_hz)) >> 64
    }

    fn edge_ps(&self, k: u64) -> u128 {
        let origin = self.origin().unwrap_or(0) + self.phase_ps();
        origin + u128::from(k) * PICOS / u128::from(self.facts.clock_hz)
    }

    /// Edges at or before a moment: the k of which `edge_ps(k)` is at most that.
    fn edges(&self, now_ps: u128) -> u64 {
        let Some(origin) = self.origin() else { return 0 };
        let Some(since) = now_ps.checked_sub(origin + self.phase_ps()) else { return 0 };
        edges_within(since, self.facts.clock_hz)
    }

    // ---- the model and its clock

    /// Takes back what was run ahead.
    fn rewind(&mut self) {
        if self.moved {
            self.model.back();
            self.moved = false;
            if let Some(trace) = &mut self.trace {
                trace.ahead_values.clone_from(&trace.values);
                trace.ahead_log.clear();
            }
        }
        self.ahead = self.s.clocks;
        self.ahead_told = self.told;
        (self.ahead_outputs, self.ahead_moved) = (self.s.outputs, Moved::default());
    }

    /// Makes what was run ahead the present.
    fn commit(&mut self) {
        let moved = std::mem::take(&mut self.ahead_moved);
        self.s.counts.clocks += moved.clocks;
        self.s.counts.toggles += moved.toggles;
        self.s.clocks = self.ahead;
        self.told = self.ahead_told;
        if let Some(trace) = &mut self.trace {
            trace.values.clone_from(&trace.ahead_values);
            trace.log.append(&mut trace.ahead_log);
        }
        if self.ahead_outputs != self.s.outputs {
            self.s.outputs = self.ahead_outputs;
            self.transmitted(self.edge_ps(self.s.clocks.saturating_sub(1)));
        }
        if self.moved {
            self.model.keep();
            self.moved = false;
        }
    }

    fn run(&mut self, clocks: u64) {
        if self.trace.is_some() {
            return self.run_traced(clocks);
        }
        let (out, moved) = (&mut self.ahead_outputs, &mut self.ahead_moved);
        let periods;
        (periods, self.ahead_told) = self.model.run(self.s.inputs, clocks, out, moved);
        self.ahead += periods;
        self.moved |= periods > 0;
    }

    /// Passes time in which nothing changes.
    fn rest_until(&mut self, clocks: u64) {
        let rested = clocks.saturating_sub(self.ahead);
        if self.ahead_told.is_clocked() {
            self.ahead_moved.clocks += rested;
        }
        self.ahead += rested;
    }

    /// The same a clock at a time, with what each register does.
    fn run_traced(&mut self, clocks: u64) {
        let (end, before) = (self.ahead + clocks, self.ahead_outputs);
        while self.ahead < end && self.ahead_outputs == before {
            let (out, moved) = (&mut self.ahead_outputs, &mut self.ahead_moved);
            let periods;
            (periods, self.ahead_told) = self.model.run(self.s.inputs, 1, out, moved);
            if periods == 0 {
                return;
            }
            self.ahead += 1;
            self.moved = true;
            self.look_at_registers(self.edge_ps(self.ahead - 1));
        }
    }

    fn look_at_registers(&mut self, at_ps: u128) {
        let Some(trace) = &mut self.trace else { return };
        for (i, old) in trace.ahead_values.iter_mut().enumerate() {
            let new = self.model.signal(i);
            if std::mem::replace(old, new) != new {
                trace.ahead_log.push((Picos(at_ps), i, new));
            }
        }
    }

    /// Runs to so many periods; each change of the outputs on the way becomes the present.
    fn run_until(&mut self, edges: u64) {
        if self.ahead > edges {
            self.rewind();
        }
        while self.ahead < edges {
            if self.ahead_outputs != self.s.outputs {
                self.commit();
            } else if self.ahead_told.rests() {
                self.rest_until(edges);
            } else {
                self.run(edges - self.ahead);
            }
        }
    }

    /// Brings the model to a moment, with the edges of SCK until then; other inputs are as they were.
    fn advance(&mut self, now_ps: u128) {
        self.shift_until(now_ps);
        self.advance_model(now_ps);
    }

    fn advance_model(&mut self, now_ps: u128) {
        if self.origin().is_none() {
            return;
        }
        self.run_until(self.edges(now_ps));
        self.commit();
        self.chunk = CHUNK_CLOCKS_MIN;
    }

    fn counts(&mut self, now_ps: u128) -> FpgaCounts {
        if !self.facts.bus.is_uart() || self.origin().is_none() {
            self.advance(now_ps);
            return self.s.counts.clone();
        }
        // A frame of the mote is told behind its end, and may have begun: nothing of it is made the present.
        self.run_until(self.edges(now_ps));
        let mut counts = self.s.counts.clone();
        counts.clocks += self.ahead_moved.clocks;
        counts.toggles += self.ahead_moved.toggles;
        counts
    }

    /// Looks at what comes next once somebody asks: several pins may change at once.
    fn look_later(&mut self, now_ps: u128) {
        self.look_due_ps = Some(now_ps);
    }

    /// When to look again, if nothing changes before.
    fn next_ps(&mut self) -> Option<u128> {
        if let Some(now_ps) = self.look_due_ps.take() {
            self.look(now_ps);
        }
        let edge_ps = self.s.shift.and_then(|shift| shift.next_ps());
        self.s.next_ps.into_iter().chain(edge_ps).min()
    }

    /// Looks ahead until the outputs change, or says when to look again.
    fn look(&mut self, now_ps: u128) {
        self.s.next_ps = match self.s.power {
            Power::Off => None,
            Power::Configuring(until) => Some(until),
            Power::On(since) => {
                let next_ps = self.look_at_clocks();
                self.look_at_ticks(now_ps, since);
                next_ps.into_iter().chain(self.s.tick_ps).min()
            }
        };
        if let Some((begin, _)) = &self.s.frame {
            let end = begin + self.bits_ps(20);
            self.s.next_ps = Some(self.s.next_ps.map_or(end, |next| next.min(end)));
        }
    }

    fn look_at_clocks(&mut self) -> Option<u128> {
        if self.ahead_outputs == self.s.outputs {
            if self.ahead_told.rests() {
                return None;
            }
            // One whose clock stands still says when it is done; another is given the time that an input takes.
            if self.facts.tick_ps.is_none() && !self.ahead_told.by_itself() {
                let is_uart = self.facts.bus.is_uart();
                let since = if is_uart { self.s.clocks } else { self.input_clocks };
                if self.ahead - since >= PIPELINE_CLOCKS {
                    return None;
                }
                if !is_uart {
                    // It may begin to send once what came is through; a further input mostly comes before.
                    return Some(self.edge_ps(since + PIPELINE_CLOCKS));
                }
            }
            self.run(self.chunk);
            self.chunk = CHUNK_CLOCKS_MAX.min(2 * self.chunk);
            if self.ahead_outputs == self.s.outputs && self.ahead_told.rests() {
                return None;
            }
        }
        Some(self.edge_ps(self.ahead - 1))
    }

    /// While a transfer is open the slow clock passes the time: where it may be by then, an edge is due.
    fn look_at_ticks(&mut self, now_ps: u128, since: u128) {
        let Some(half) = self.facts.tick_ps else { return };
        if !self.told.is_ticked() && !self.ahead_told.is_ticked() {
            self.s.tick_ps = None;
        } else if self.s.tick_ps.is_none() {
            self.s.tick_ps = Some(since + ((now_ps - since) / half + 1) * half);
        }
    }

    /// An edge of the slow clock that is due comes if it is wanted at that moment, however far was looked ahead.
    fn tick(&mut self, now_ps: u128) {
        if self.s.tick_ps.is_some_and(|at| at <= now_ps) {
            self.advance(now_ps);
            if self.told.is_ticked() {
                self.input(TICK, self.s.inputs & TICK == 0);
            }
            self.s.tick_ps = None;
        }
    }

    /// Goes on from where the last look ended; what changed on the way is committed.
    fn look_again(&mut self, now_ps: u128) {
        if self.origin().is_some() {
            self.run_until(self.edges(now_ps));
            if self.ahead_outputs != self.s.outputs {
                self.commit();
                self.chunk = CHUNK_CLOCKS_MIN;
            } else if !self.facts.bus.is_uart() {
                // A frame of the mote is told behind its end, all else when it comes: nothing will reach back to here.
                self.commit();
            }
        }
    }

    // ---- supply

    fn supply(&mut self, now_ps: u128) {
        let on = self.s.rail && (self.s.switched_on || self.facts.always_on);
        match (on, self.s.power) {
            (true, Power::Off) => self.s.power = Power::Configuring(now_ps + self.facts.boot_ps),
            (false, Power::Off) => {}
            (false, _) => {
                self.advance(now_ps);
                self.s.power = Power::Off;
                self.s.tick_ps = None;
                self.s.outputs = 0;
                (self.s.frame, self.s.shift) = (None, None);
            }
            (true, _) => {}
        }
    }

    /// The configuration is loaded: flops at their initial values, a reset of some clocks inside.
    fn configured(&mut self, at_ps: u128) {
        self.model = self.model.fresh();
        let mut out = 0;
        let reset = self.s.inputs & !RESET_N;
        let (_, told) = self.model.run(reset, 4, &mut out, &mut Moved::default());
        self.s.power = Power::On(at_ps);
        self.s.inputs |= RESET_N;
        (self.s.clocks, self.ahead, self.ahead_moved) = (0, 0, Moved::default());
        (self.told, self.ahead_told) = (told.woken(), told.woken());
        (self.input_clocks, self.moved) = (0, false);
        (self.s.outputs, self.ahead_outputs) = (out, out);
        (self.s.last_toggle_ps, self.s.last_rise_ps, self.s.last_fall_ps) = (None, None, None);
        self.s.counts.boots += 1;
        self.chunk = CHUNK_CLOCKS_MIN;
        self.model.keep();
        self.look_at_registers(at_ps);
    }

    // ---- wires

    /// How the chip holds wire `i` has changed.
    fn wire(&mut self, now_ps: u128, i: usize, held: SavedHeld) {
        if self.s.held[i] == held {
            return;
        }
        self.advance(now_ps);
        self.s.held[i] = held;
        let high = matches!(held, SavedHeld::High | SavedHeld::PulledUp);
        let driven = matches!(held, SavedHeld::High | SavedHeld::Low);
        let name = self.facts.bus.hears()[i];
        match name {
            "power" => {
                self.s.switched_on = held == SavedHeld::High;
                self.supply(now_ps);
            }
            "toggle" => self.toggle(now_ps, high),
            "sck" => self.sck(now_ps, high),
            "cs" => self.cs(now_ps, high),
            "mosi" => self.input(MOSI, high),
            _ => {
                // A line that both let go of is high by the pull-up, or at no level, which reads as low.
                if driven {
                    self.drives(now_ps);
                }
                self.input(1 << (LINES + i as u32), high);
            }
        }
        self.look_later(now_ps);
    }

    fn cs(&mut self, now_ps: u128, high: bool) {
        self.input(CS_N, high);
        (self.s.last_rise_ps, self.s.last_fall_ps) = (None, Some(now_ps));
    }

    /// The chip selects it, or no longer does.
    fn chip_select(&mut self, now_ps: u128, high: bool) {
        self.advance(now_ps);
        self.cs(now_ps, high);
        self.look_later(now_ps);
    }

    /// Sets an input, behind [`advance`](Self::advance).
    fn input(&mut self, bit: u32, high: bool) {
        let inputs = if high { self.s.inputs | bit } else { self.s.inputs & !bit };
        if inputs != self.s.inputs {
            self.s.inputs = inputs;
            self.told = self.told.woken();
            self.ahead_told = self.told;
            self.input_clocks = self.s.clocks;
        }
    }

    fn toggle(&mut self, now_ps: u128, high: bool) {
        let bit = if high { TOGGLE } else { 0 };
        if self.s.inputs & TOGGLE == bit {
            return;
        }
        self.input(TOGGLE, high);
        if self.origin().is_none() {
            return;
        }
        if let Some(last) = self.s.last_toggle_ps.replace(now_ps) {
            self.hold_to("toggled", "after its last toggle", now_ps - last, TOGGLE_CLOCKS);
        }
    }

    fn sck(&mut self, now_ps: u128, high: bool) {
        if (self.s.inputs & SCK != 0) == high {
            return;
        }
        self.input(SCK, high);
        if self.origin().is_none() || self.s.inputs & CS_N != 0 {
            return;
        }
        let (rise, fall) = (self.s.last_rise_ps, self.s.last_fall_ps);
        if !high {
            self.s.last_fall_ps = Some(now_ps);
            if let Some(rise) = rise {
                self.hold_to(
                    "lowered SCK",
                    "after it had raised it",
                    now_ps - rise,
                    SCK_HIGH_CLOCKS,
                );
            }
            return;
        }
        self.s.last_rise_ps = Some(now_ps);
        if let Some(fall) = fall {
            self.hold_to("raised SCK", "after SCK or CS had fallen", now_ps - fall, SCK_LOW_CLOCKS);
        }
        if let Some(rise) = rise {
            self.hold_to("raised SCK", "after it last had", now_ps - rise, SCK_CLOCKS);
        }
    }

    /// The mote drives a line: not while the coprocessor does, and not too soon behind its last toggle.
    fn drives(&mut self, now_ps: u128) {
        if self.origin().is_none() || self.s.outputs & OUT == 0 {
            return;
        }
        if let Some(last) = self.s.last_toggle_ps {
            let what = "while the coprocessor still drove them, after its last toggle";
            self.hold_to("drove the lines", what, now_ps - last, TURN_CLOCKS);
        }
        self.s.counts.problem.get_or_insert_with(|| {
            "the mote drives the lines of the parallel bus while the coprocessor drives them"
                .to_owned()
        });
    }

    fn hold_to(&mut self, did: &str, when: &str, after_ps: u128, needed: f64) {
        let clocks = after_ps as f64 / self.period_ps();
        if clocks < needed {
            let mhz = needed / (after_ps as f64 * 1e-6);
            self.s.counts.problem.get_or_insert_with(|| {
                format!(
                    "the mote {did} {clocks:.2} clocks of the coprocessor {when}; {} needs {needed:.0}, so a clock of at least {mhz:.2} MHz instead of {:.2} MHz",
                    self.facts.bus.title(),
                    self.facts.clock_hz as f64 * 1e-6
                )
            });
        }
    }
}

/// The part on the board.
pub struct Coprocessor {
    inner: Arc<Mutex<Inner>>,
    listens: Vec<Pin>,
    pins: Vec<(Pin, bool)>,
    wires: Wires,
    /// The outputs that `pins` are of, none where it is not on.
    shown: Option<u32>,
    state: &'static str,
}

/// The pins that it drives.
pub(crate) struct Wires {
    pub lines: Vec<Pin>,
    pub miso: Option<Pin>,
    pub irq: Option<Pin>,
    /// The pins that it hears, in the order of [`Bus::hears`].
    pub heard: Vec<Pin>,
}

/// Edges of a clock within so long from the first one on.
fn edges_within(since_ps: u128, clock_hz: u64) -> u64 {
    // Edge k is at floor(k PICOS / clock_hz): the k below (since + 1) clock_hz / PICOS.
    ((since_ps + 1) * u128::from(clock_hz)).div_ceil(PICOS) as u64
}

/// A look at a coprocessor from outside.
#[derive(Clone)]
pub struct FpgaHandle(Arc<Mutex<Inner>>);

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FpgaHandle {
    /// What it has done until a moment that the machine has reached.
    #[must_use]
    pub fn counts(&self, now: Picos) -> FpgaCounts {
        let mut inner = lock(&self.0);
        let counts = inner.counts(now.0);
        inner.look_later(now.0);
        counts
    }

    /// Of its clock, which stands still where nothing is wanted.
    #[must_use]
    pub fn clock_hz(&self) -> u64 {
        lock(&self.0).facts.clock_hz
    }

    /// More than a clock changes: the bits of its registers, and of the few that are wider than a waveform shows.
    #[must_use]
    pub fn toggles_max(&self) -> u32 {
        WIDE_BITS + lock(&self.0).model.signals().iter().map(|s| s.1).sum::<u32>()
    }

    /// The first breach of the bus's contract, a sentence.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        lock(&self.0).s.counts.problem.clone()
    }
}

impl Coprocessor {
    pub(crate) fn new(model: Model, facts: Facts, wires: Wires) -> (Self, FpgaHandle) {
        let held = vec![SavedHeld::Floating; facts.bus.hears().len()];
        // What nobody drives: CS by its pull-up on the board, the UART's line at rest.
        let inputs = match facts.bus {
            Bus::Parallel => 0,
            Bus::Spi { .. } => CS_N,
            Bus::Uart { .. } => RX,
        };
        let inner = Inner {
            trace: None,
            facts,
            model,
            s: State {
                power: Power::Off,
                rail: false,
                switched_on: false,
                held,
                inputs,
                outputs: 0,
                clocks: 0,
                next_ps: None,
                tick_ps: None,
                last_toggle_ps: None,
                last_rise_ps: None,
                last_fall_ps: None,
                frame: None,
                received: Vec::new(),
                shift: None,
                counts: FpgaCounts::default(),
            },
            told: Told::default(),
            ahead: 0,
            ahead_outputs: 0,
            ahead_told: Told::default(),
            ahead_moved: Moved::default(),
            moved: false,
            chunk: CHUNK_CLOCKS_MIN,
            input_clocks: 0,
            look_due_ps: None,
        };
        let inner = Arc::new(Mutex::new(inner));
        let part = Self {
            inner: Arc::clone(&inner),
            listens: wires.heard.clone(),
            pins: Vec::new(),
            wires,
            shown: None,
            state: "off",
        };
        (part, FpgaHandle(inner))
    }

    /// Does something, and takes over what came of it.
    fn with<T>(&mut self, act: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = lock(&self.inner);
        let answer = act(&mut inner);
        self.state = match inner.s.power {
            Power::Off => "off",
            Power::Configuring(_) => "configuring",
            Power::On(_) => "on",
        };
        let shown = inner.origin().map(|_| inner.s.outputs);
        if shown != self.shown {
            self.shown = shown;
            self.pins.clear();
            if let Some(out) = shown {
                if out & OUT != 0 {
                    let lines = self.wires.lines.iter().enumerate();
                    self.pins.extend(lines.map(|(i, p)| (*p, out >> (LINES + i as u32) & 1 != 0)));
                }
                self.pins.extend(self.wires.miso.map(|p| (p, out & OUT != 0)));
                self.pins.extend(self.wires.irq.map(|p| (p, out & IRQ != 0)));
            }
        }
        answer
    }
}

impl Part for Coprocessor {
    fn signals(&self) -> Vec<Signal> {
        let mut inner = lock(&self.inner);
        inner.rewind();
        let known = inner.model.signals();
        let values: Vec<u64> = (0..known.len()).map(|i| inner.model.signal(i)).collect();
        inner.trace = Some(Trace {
            values: values.clone(),
            ahead_values: values.clone(),
            ..Trace::default()
        });
        let named = known.into_iter().zip(values);
        named.map(|((name, bits), value)| Signal { name, bits, value }).collect()
    }

    fn changes(&self, now: Picos) -> Vec<(Picos, usize, u64)> {
        let mut inner = lock(&self.inner);
        inner.advance(now.0);
        inner.look_later(now.0);
        inner.trace.as_mut().map(|t| std::mem::take(&mut t.log)).unwrap_or_default()
    }

    fn next_event(&self) -> Option<Picos> {
        lock(&self.inner).next_ps().map(Picos)
    }

    fn event(&mut self, now: Picos) {
        self.with(|inner| {
            if let Power::Configuring(until) = inner.s.power
                && until <= now.0
            {
                inner.configured(until);
            }
            inner.shift_until(now.0);
            inner.look_again(now.0);
            inner.tick(now.0);
            inner.framed(now.0);
            inner.look_later(now.0);
        });
    }

    fn pins(&self) -> &[(Pin, bool)] {
        &self.pins
    }

    fn listens(&self) -> &[Pin] {
        &self.listens
    }

    fn held(&mut self, now: Picos, pin: Pin, held: Held) {
        let wire = self.listens.iter().position(|p| *p == pin);
        if let Some(i) = wire {
            self.with(|inner| inner.wire(now.0, i, held.into()));
        }
    }

    fn pin(&mut self, now: Picos, pin: Pin, level: bool) {
        let wire = self.listens.iter().position(|p| *p == pin);
        let held = if level { SavedHeld::High } else { SavedHeld::Low };
        self.with(|inner| {
            if let Some(i) = wire.filter(|_| inner.facts.by_bytes) {
                inner.wire(now.0, i, held);
            }
        });
    }

    fn select(&mut self, now: Picos) {
        self.with(|inner| inner.chip_select(now.0, false));
    }

    fn deselect(&mut self, now: Picos) {
        self.with(|inner| inner.chip_select(now.0, true));
    }

    fn shifting(&mut self, begin: Picos, end: Picos, mosi: u8) {
        self.with(|inner| inner.shifting(begin.0, end.0, mosi));
    }

    fn transfer(&mut self, now: Picos, _mosi: u8) -> u8 {
        self.with(|inner| inner.shifted(now.0))
    }

    fn uart(&mut self, start: Picos, end: Picos, byte: u8) {
        self.with(|inner| inner.uart(start.0, end.0, byte));
    }

    fn shifted_in(&mut self) -> Option<u8> {
        self.with(|inner| (!inner.s.received.is_empty()).then(|| inner.s.received.remove(0)))
    }

    fn state(&self) -> &str {
        self.state
    }

    fn power(&mut self, now: Picos, on: bool) {
        self.with(|inner| {
            inner.s.rail = on;
            if !on {
                // A chip without supply holds no pin, and says so only behind its next start.
                inner.s.held.fill(SavedHeld::Floating);
                (inner.s.switched_on, inner.s.shift) = (false, None);
                if inner.facts.by_bytes {
                    inner.s.inputs |= CS_N;
                }
            }
            inner.supply(now.0);
            inner.look_later(now.0);
        });
    }

    fn save(&self) -> Vec<u8> {
        let mut inner = lock(&self.inner);
        inner.next_ps();
        inner.rewind();
        let model = inner.model.save();
        postcard::to_allocvec(&(&inner.s, model)).expect("plain data are written to memory")
    }

    fn restore(&mut self, saved: &[u8]) {
        // A machine's snapshot is of this very build; what cannot be read is none of ours.
        let Ok((state, model)) = postcard::from_bytes::<(State, Vec<u8>)>(saved) else { return };
        self.with(|inner| {
            inner.s = state;
            inner.model.restore(&model);
            inner.model.keep();
            inner.look_due_ps = None;
            (inner.ahead, inner.input_clocks) = (inner.s.clocks, inner.s.clocks);
            let (inputs, mut out) = (inner.s.inputs, inner.s.outputs);
            let (_, told) = inner.model.run(inputs, 0, &mut out, &mut Moved::default());
            (inner.told, inner.ahead_told, inner.moved) = (told.woken(), told.woken(), false);
            if let Some(trace) = &mut inner.trace {
                trace.ahead_log.clear();
                trace.values.clone_from(&trace.ahead_values);
            }
            (inner.ahead_outputs, inner.ahead_moved) = (inner.s.outputs, Moved::default());
            inner.chunk = CHUNK_CLOCKS_MIN;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_counted_up_to_the_picosecond_of_each() {
        for clock_hz in [14_745_600, 24_000_000, 33_333_333, 50_000_000] {
            let edge_ps = |k: u64| u128::from(k) * PICOS / u128::from(clock_hz);
            for k in [1, 2, 3, 1000, 1_000_003, 86_400 * clock_hz + 7] {
                assert_eq!(edges_within(edge_ps(k) - 1, clock_hz), k);
                assert_eq!(edges_within(edge_ps(k), clock_hz), k + 1);
            }
            assert_eq!(edges_within(0, clock_hz), 1);
        }
    }
}
