// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the machine counts: which component was in which state for how long, and how often what happened.

use serde::{Deserialize, Serialize};
use sunseal_trace::{
    ComponentId, Cycles, EventId, Ledger, OperatingPoint, Picos, Span, SpanKey, StateId, Vocabulary,
};

pub(crate) const CPU: ComponentId = ComponentId(0);
pub(crate) const FLASH: ComponentId = ComponentId(1);
pub(crate) const ADC12: ComponentId = ComponentId(2);
pub(crate) const REF: ComponentId = ComponentId(3);
const BUILT_IN: [&str; 4] = ["cpu", "flash", "adc12", "ref"];

pub(crate) const ACTIVE_FLASH: StateId = StateId(0);
pub(crate) const ACTIVE_RAM: StateId = StateId(1);
pub(crate) const LPM0: StateId = StateId(2);
pub(crate) const OFF: StateId = StateId(7);
pub(crate) const IDLE: StateId = StateId(8);
pub(crate) const WRITE: StateId = StateId(9);
pub(crate) const ERASE: StateId = StateId(10);
pub(crate) const ON: StateId = StateId(11);
const STATES: [&str; 12] = [
    "active.flash",
    "active.ram",
    "lpm0",
    "lpm1",
    "lpm2",
    "lpm3",
    "lpm4",
    "off",
    "idle",
    "write",
    "erase",
    "on",
];

pub(crate) const MPY_OP16: EventId = EventId(0);
pub(crate) const MPY_OP32: EventId = EventId(1);
pub(crate) const FLASH_WORD_WRITE: EventId = EventId(2);
pub(crate) const FLASH_SEGMENT_ERASE: EventId = EventId(3);
pub(crate) const FLASH_MASS_ERASE: EventId = EventId(4);
pub(crate) const ADC12_CONVERSION: EventId = EventId(5);
pub(crate) const CRC16_BYTE: EventId = EventId(6);
pub(crate) const USCI_BYTE: EventId = EventId(7);
const EVENTS: [&str; 15] = [
    "mpy32.op16",
    "mpy32.op32",
    "flash.word_write",
    "flash.segment_erase",
    "flash.mass_erase",
    "adc12.conversion",
    "crc16.byte",
    "usci_a0.byte",
    "usci_b0.byte",
    "usci_a1.byte",
    "usci_b1.byte",
    "usci_a2.byte",
    "usci_b2.byte",
    "usci_a3.byte",
    "usci_b3.byte",
];

/// One component's present state and since when it is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Present {
    state: u16,
    since: u64,
    since_cycles: Cycles,
}

/// The books.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    pub vocabulary: Vocabulary,
    ledger: Ledger,
    present: Vec<Present>,
    since_uncached: Cycles,
    point: OperatingPoint,
    /// Events since the ledger was made, by id.
    pub events: Vec<u64>,
    /// A state or the operating point changed since the flag was cleared.
    pub changed: bool,
}

impl Accounts {
    pub fn new() -> Self {
        let mut vocabulary = Vocabulary::new();
        for name in BUILT_IN {
            vocabulary.component(name);
        }
        for name in STATES {
            vocabulary.state(name);
        }
        for name in EVENTS {
            vocabulary.event(name);
        }
        let present = [OFF, IDLE, OFF, OFF]
            .map(|s| Present { state: s.0, since: 0, since_cycles: 0 })
            .to_vec();
        Self {
            vocabulary,
            ledger: Ledger::new(),
            present,
            since_uncached: 0,
            point: OperatingPoint::default(),
            events: vec![0; EVENTS.len()],
            changed: false,
        }
    }

    /// A further component, from outside the chip.
    pub fn component(
        &mut self,
        name: &str,
        state: &str,
        now: Picos,
        cycles: Cycles,
    ) -> ComponentId {
        let id = self.vocabulary.component(name);
        let state = self.vocabulary.state(state).0;
        let p = Present { state, since: now.0, since_cycles: cycles };
        if id.index() == self.present.len() {
            self.present.push(p);
        } else {
            self.present[id.index()] = p;
        }
        id
    }

    pub fn point(&self) -> OperatingPoint {
        self.point
    }

    pub fn components(&self) -> impl Iterator<Item = (ComponentId, StateId)> + '_ {
        self.present.iter().enumerate().map(|(i, p)| (ComponentId(i as u16), StateId(p.state)))
    }

    /// Books component `c` up to now.
    fn book(&mut self, c: ComponentId, now: Picos, cycles: Cycles, uncached: Cycles) {
        let p = &mut self.present[c.index()];
        let mut span =
            Span { cycles: cycles - p.since_cycles, time: Picos(now.0).since(Picos(p.since)) };
        let state = StateId(p.state);
        (p.since, p.since_cycles) = (now.0, cycles);
        if c == CPU {
            // Decided by what ran, not by where the program counter happens to be now.
            let ram = uncached - self.since_uncached;
            self.since_uncached = uncached;
            if state == ACTIVE_FLASH && ram != 0 && self.point.mclk_hz != 0 {
                let all = Picos::of_ticks(ram, self.point.mclk_hz);
                let time = Picos(all.0.min(span.time.0));
                let key = SpanKey { component: CPU, state: ACTIVE_RAM, point: self.point };
                self.ledger.add_span(key, ram, time);
                span = Span { cycles: span.cycles - ram.min(span.cycles), time: span.time - time };
            }
        }
        let key = SpanKey { component: c, state, point: self.point };
        self.ledger.add_span(key, span.cycles, span.time);
    }

    /// Books everything up to now.
    pub fn book_all(&mut self, now: Picos, cycles: Cycles, uncached: Cycles) {
        for i in 0..self.present.len() {
            self.book(ComponentId(i as u16), now, cycles, uncached);
        }
    }

    pub fn set_state(
        &mut self,
        c: ComponentId,
        state: StateId,
        now: Picos,
        cycles: Cycles,
        uncached: Cycles,
    ) {
        if self.present[c.index()].state != state.0 {
            self.book(c, now, cycles, uncached);
            self.present[c.index()].state = state.0;
            self.changed = true;
        }
    }

    pub fn set_point(
        &mut self,
        point: OperatingPoint,
        now: Picos,
        cycles: Cycles,
        uncached: Cycles,
    ) {
        if self.point != point {
            self.book_all(now, cycles, uncached);
            self.point = point;
            self.changed = true;
        }
    }

    #[inline]
    pub fn count(&mut self, e: EventId) {
        self.events[e.index()] += 1;
    }

    /// The ledger with everything up to now.
    pub fn ledger(&self, now: Picos, cycles: Cycles, uncached: Cycles) -> Ledger {
        let mut copy = self.clone();
        copy.book_all(now, cycles, uncached);
        for (i, &n) in copy.events.iter().enumerate() {
            copy.ledger.add_event(EventId(i as u16), n);
        }
        copy.ledger
    }

    pub fn save(&self) -> SavedAccounts {
        let spans = self
            .ledger
            .spans()
            .map(|(k, s)| SavedSpan {
                component: k.component.0,
                state: k.state.0,
                point: save_point(k.point),
                cycles: s.cycles,
                time_ps: s.time.0,
            })
            .collect();
        SavedAccounts {
            components: self.vocabulary.components().map(|(_, n)| n.to_owned()).collect(),
            states: self.vocabulary.states().map(|(_, n)| n.to_owned()).collect(),
            spans,
            present: self.present.clone(),
            since_uncached: self.since_uncached,
            point: save_point(self.point),
            events: self.events.clone(),
        }
    }

    pub fn restore(saved: &SavedAccounts) -> Self {
        let mut a = Self::new();
        for name in &saved.components {
            a.vocabulary.component(name);
        }
        for name in &saved.states {
            a.vocabulary.state(name);
        }
        for s in &saved.spans {
            let key = SpanKey {
                component: ComponentId(s.component),
                state: StateId(s.state),
                point: load_point(s.point),
            };
            a.ledger.add_span(key, s.cycles, Picos(s.time_ps));
        }
        a.present.clone_from(&saved.present);
        a.since_uncached = saved.since_uncached;
        a.point = load_point(saved.point);
        a.events.clone_from(&saved.events);
        a
    }
}

fn save_point(p: OperatingPoint) -> (u32, u32, u32, u8) {
    (p.mclk_hz, p.smclk_hz, p.aclk_hz, p.vcore)
}

fn load_point((mclk_hz, smclk_hz, aclk_hz, vcore): (u32, u32, u32, u8)) -> OperatingPoint {
    OperatingPoint { mclk_hz, smclk_hz, aclk_hz, vcore }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedSpan {
    component: u16,
    state: u16,
    point: (u32, u32, u32, u8),
    cycles: u64,
    time_ps: u64,
}

/// The books as a snapshot keeps them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedAccounts {
    components: Vec<String>,
    states: Vec<String>,
    spans: Vec<SavedSpan>,
    present: Vec<Present>,
    since_uncached: u64,
    point: (u32, u32, u32, u8),
    events: Vec<u64>,
}
