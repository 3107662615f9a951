// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the machine counts: which component was in which state for how long, and how often what happened.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_trace::{
    ComponentId, Cycles, Ledger, OperatingPoint, Picos, Span, SpanKey, StateId, Vocabulary,
};

/// The CPU is every chip's first component, and its first three states are these.
pub(crate) const CPU: ComponentId = ComponentId(0);
/// It runs code from the memory that holds programs.
pub(crate) const ACTIVE: StateId = StateId(0);
/// It runs code from RAM: booked by what ran, not by switching to this state.
pub(crate) const ACTIVE_RAM: StateId = StateId(1);
/// Without supply, or held in reset.
pub(crate) const OFF: StateId = StateId(2);
/// States that other components have on every chip.
pub(crate) const IDLE: StateId = StateId(3);
pub(crate) const ON: StateId = StateId(4);

/// What a chip can report.
pub(crate) struct Names {
    /// Components with their state at power-on.
    pub components: &'static [(&'static str, StateId)],
    /// The state of the CPU that runs code from the memory that holds programs.
    pub active: &'static str,
    /// The chip's own states, behind the five above.
    pub states: &'static [&'static str],
    /// Events, in lists that blocks and families may share.
    pub events: &'static [&'static [Event]],
}

/// Numbers of a family's components behind the CPU, and of its states behind those that every chip has: each stands once,
/// with its name, a component also with its state at power-on. Makes `COMPONENTS` and `STATES` for [`Names`].
macro_rules! vocabulary {
    (components $($cvis:vis $component:ident $cname:literal $rest:ident),*;) => {
        const COMPONENTS: &[(&str, sunseal_trace::StateId)] =
            &[("cpu", accounts::OFF), $(($cname, accounts::$rest)),*];
        accounts::vocabulary!(@ ComponentId, 1; $($cvis $component,)*);
    };
    (states $($svis:vis $state:ident $sname:literal),*;) => {
        const STATES: &[&str] = &[$($sname),*];
        accounts::vocabulary!(@ StateId, 5; $($svis $state,)*);
    };
    (@ $id:ident, $n:expr;) => {};
    (@ $id:ident, $n:expr; $vis:vis $name:ident, $($rest:tt)*) => {
        $vis const $name: $id = $id($n);
        accounts::vocabulary!(@ $id, $n + 1; $($rest)*);
    };
}
pub(crate) use vocabulary;

macro_rules! events {
    ($($event:ident = $name:literal,)*) => {
        /// What is counted, on whichever chip.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Event { $($event,)* }

        impl Event {
            const ALL: &[Self] = &[$(Self::$event,)*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$event => $name,)* }
            }

            /// The event that is a byte of the serial interface of that name.
            pub fn byte(serial: &str) -> Self {
                let is = |e: &&Self| e.name().strip_suffix(".byte") == Some(serial);
                *Self::ALL.iter().find(is).expect("each serial interface that a family knows has its event")
            }
        }
    };
}

events! {
    MpyOp16 = "mpy32.op16",
    MpyOp32 = "mpy32.op32",
    FlashWordWrite = "flash.word_write",
    FlashSegmentErase = "flash.segment_erase",
    FlashMassErase = "flash.mass_erase",
    Adc12Conversion = "adc12.conversion",
    Crc16Byte = "crc16.byte",
    UsciA0Byte = "usci_a0.byte",
    UsciB0Byte = "usci_b0.byte",
    UsciA1Byte = "usci_a1.byte",
    UsciB1Byte = "usci_b1.byte",
    UsciA2Byte = "usci_a2.byte",
    UsciB2Byte = "usci_b2.byte",
    UsciA3Byte = "usci_a3.byte",
    UsciB3Byte = "usci_b3.byte",
    FramHit = "fram.hit",
    FramMiss = "fram.miss",
    FramWrite = "fram.write",
    FramPowerUp = "fram.power_up",
    DmaTransfer = "dma.transfer",
    WakeLpm0 = "pmm.wake_lpm0",
    WakeLpm1 = "pmm.wake_lpm1",
    WakeLpm2 = "pmm.wake_lpm2",
    WakeLpm3 = "pmm.wake_lpm3",
    WakeLpm4 = "pmm.wake_lpm4",
    WakeLpm35 = "pmm.wake_lpm35",
    WakeLpm45 = "pmm.wake_lpm45",
    WakeReset = "pmm.wake_reset",
    Mpy16Op = "mpy16.op",
    Usart0Byte = "usart0.byte",
    Usart1Byte = "usart1.byte",
    EepromWrite = "eeprom.write",
    EepromRead = "eeprom.read",
    FlashPageErase = "flash.page_erase",
    FlashPageWrite = "flash.page_write",
    AdcConversion = "adc.conversion",
    SpiByte = "spi.byte",
    TwiByte = "twi.byte",
    Adc14Conversion = "adc14.conversion",
    Crc32Byte = "crc32.byte",
    AesEncrypt = "aes256.encrypt",
    AesDecrypt = "aes256.decrypt",
    AesRoundKey = "aes256.round_key",
    EusciA0Byte = "eusci_a0.byte",
    EusciA1Byte = "eusci_a1.byte",
    EusciA2Byte = "eusci_a2.byte",
    EusciA3Byte = "eusci_a3.byte",
    EusciB0Byte = "eusci_b0.byte",
    EusciB1Byte = "eusci_b1.byte",
    EusciB2Byte = "eusci_b2.byte",
    EusciB3Byte = "eusci_b3.byte",
    UsciA4Byte = "usci_a4.byte",
    UsciA5Byte = "usci_a5.byte",
    UsciA6Byte = "usci_a6.byte",
    UsciA7Byte = "usci_a7.byte",
    UsciB4Byte = "usci_b4.byte",
    UsciB5Byte = "usci_b5.byte",
    UsciB6Byte = "usci_b6.byte",
    UsciB7Byte = "usci_b7.byte",
    EusciA4Byte = "eusci_a4.byte",
    EusciA5Byte = "eusci_a5.byte",
    EusciA6Byte = "eusci_a6.byte",
    EusciA7Byte = "eusci_a7.byte",
    EusciB4Byte = "eusci_b4.byte",
    EusciB5Byte = "eusci_b5.byte",
    EusciB6Byte = "eusci_b6.byte",
    EusciB7Byte = "eusci_b7.byte",
    FlashDoubleWordWrite = "flash.double_word_write",
    Usart2Byte = "usart2.byte",
    Usart3Byte = "usart3.byte",
    Spi1Byte = "spi1.byte",
    Spi2Byte = "spi2.byte",
    Spi3Byte = "spi3.byte",
    Lpuart1Byte = "lpuart1.byte",
    I2c1Byte = "i2c1.byte",
    I2c2Byte = "i2c2.byte",
    I2c3Byte = "i2c3.byte",
}

/// One component's present state and since when it is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Present {
    state: u16,
    since: u128,
    since_cycles: Cycles,
}

/// Times of states and counts of events, up to now.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    pub vocabulary: Arc<Vocabulary>,
    ledger: Ledger,
    present: Vec<Present>,
    since_uncached: Cycles,
    point: OperatingPoint,
    /// Events since the machine was made, by their place in [`Event`].
    events: [u64; Event::ALL.len()],
    /// A state or the operating point changed since the flag was cleared.
    pub changed: bool,
    /// A state of the CPU that one event led through, such as an oscillator's start: nobody could stop in it.
    pub passed: Option<(StateId, Picos)>,
}

impl Accounts {
    pub fn new(names: &Names) -> Self {
        let mut vocabulary = Vocabulary::new();
        for (name, _) in names.components {
            vocabulary.component(name);
        }
        for name in [names.active, "active.ram", "off", "idle", "on"].iter().chain(names.states) {
            vocabulary.state(name);
        }
        for event in names.events.iter().copied().flatten() {
            vocabulary.event(event.name());
        }
        debug_assert_eq!(names.components[0].0, "cpu");
        let present = names.components.iter().map(|(_, state)| Present {
            state: state.0,
            since: 0,
            since_cycles: 0,
        });
        Self {
            present: present.collect(),
            vocabulary: Arc::new(vocabulary),
            ledger: Ledger::new(),
            since_uncached: 0,
            point: OperatingPoint::default(),
            events: [0; Event::ALL.len()],
            changed: false,
            passed: None,
        }
    }

    /// The chip reports `event`, too.
    pub fn has(&mut self, event: Event) {
        Arc::make_mut(&mut self.vocabulary).event(event.name());
    }

    /// The id of a state that a part names.
    pub fn state(&mut self, name: &str) -> StateId {
        let known = self.vocabulary.find_state(name);
        known.unwrap_or_else(|| Arc::make_mut(&mut self.vocabulary).state(name))
    }

    /// A further component, from outside the chip.
    pub fn component(
        &mut self,
        name: &str,
        state: &str,
        now: Picos,
        cycles: Cycles,
    ) -> ComponentId {
        let id = Arc::make_mut(&mut self.vocabulary).component(name);
        let state = self.state(state).0;
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
        // What a DMA controller's burst led to is booked at the burst's cycles, ahead of the CPU: who comes later
        // with an earlier time finds that time booked.
        let (now, cycles) = (Picos(now.0.max(p.since)), cycles.max(p.since_cycles));
        let mut span = Span { cycles: cycles - p.since_cycles, time: now.since(Picos(p.since)) };
        let state = StateId(p.state);
        (p.since, p.since_cycles) = (now.0, cycles);
        if c == CPU {
            // Decided by what ran, not by where the program counter happens to be now.
            let ram = uncached - self.since_uncached;
            self.since_uncached = uncached;
            if state == ACTIVE && ram != 0 && self.point.mclk_hz != 0 {
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

    /// The events that are counted, in the order of [`counts`](Self::counts).
    pub fn counted() -> impl Iterator<Item = &'static str> {
        Event::ALL.iter().map(|e| e.name())
    }

    /// How often each has happened since the machine was made.
    pub fn counts(&self) -> &[u64] {
        &self.events
    }

    #[inline]
    pub fn add(&mut self, e: Event, n: u64) {
        self.events[e as usize] += n;
    }

    #[inline]
    pub fn count(&mut self, event: Event) {
        self.events[event as usize] += 1;
    }

    /// The ledger with everything up to now.
    pub fn ledger(&self, now: Picos, cycles: Cycles, uncached: Cycles) -> Ledger {
        let mut copy = self.clone();
        copy.book_all(now, cycles, uncached);
        for (event, n) in Event::ALL.iter().zip(copy.events).filter(|(_, n)| *n != 0) {
            let id = copy.vocabulary.find_event(event.name());
            copy.ledger.add_event(id.expect("a chip names all its events"), n);
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
            events: Event::ALL
                .iter()
                .zip(self.events)
                .filter(|(_, n)| *n != 0)
                .map(|(e, n)| (e.name().to_owned(), n))
                .collect(),
        }
    }

    /// Goes back to saved books of the same chip.
    pub fn restore(&mut self, saved: &SavedAccounts) {
        let a = self;
        a.ledger = Ledger::new();
        for name in &saved.components {
            Arc::make_mut(&mut a.vocabulary).component(name);
        }
        for name in &saved.states {
            a.state(name);
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
        for (event, n) in Event::ALL.iter().zip(&mut a.events) {
            *n = saved.events.iter().find(|s| s.0 == event.name()).map_or(0, |s| s.1);
        }
        (a.changed, a.passed) = (false, None);
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
    time_ps: u128,
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
    events: Vec<(String, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_began_ahead_of_the_cpu_leaves_no_time_out_and_none_twice() {
        let names = Names {
            components: &[("cpu", OFF), ("aes256", OFF)],
            active: "active.fram",
            states: &[],
            events: &[],
        };
        let mut accounts = Accounts::new(&names);
        let aes = ComponentId(1);
        // A burst of DMA starts the block in cycle 20, while the CPU stands in cycle 15.
        accounts.set_state(aes, ON, Picos(200), 20, 0);
        accounts.set_state(aes, OFF, Picos(150), 15, 0);
        let ledger = accounts.ledger(Picos(300), 30, 0);
        let spans: Vec<_> = ledger.spans().filter(|(k, _)| k.component == aes).collect();
        assert_eq!(spans.iter().map(|(_, s)| s.time.0).sum::<u128>(), 300);
        assert_eq!(spans.iter().map(|(_, s)| s.cycles).sum::<Cycles>(), 30);
        assert!(spans.iter().all(|(_, s)| s.cycles <= 30), "{spans:?}");
    }
}
