// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the power room weighs: integers, and nothing but integers.

use std::collections::BTreeMap;

use crate::{ComponentId, Cycles, EventId, OperatingPoint, Picos, StateId, Vocabulary};

/// A component in a state at an operating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanKey {
    pub component: ComponentId,
    /// What it was doing.
    pub state: StateId,
    /// Under which clocks and core voltage level.
    pub point: OperatingPoint,
}

/// How long it was so: CPU cycles where the CPU clock ran, and time always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// MCLK cycles that fell into the span.
    pub cycles: Cycles,
    pub time: Picos,
}

impl Span {
    fn is_zero(self) -> bool {
        self == Self::default()
    }
}

/// Two ledgers that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The window's beginning holds more than its end.
    #[error(
        "ledger subtraction: {what} has {begin} at the beginning and only {end} at the end; \
         subtract an earlier ledger of the same run"
    )]
    NotEarlier {
        /// Which counter, by ids.
        what: String,
        /// Its count in the subtrahend.
        begin: u128,
        /// Its count in the minuend.
        end: u128,
    },
}

/// Cycles and time per (component, state, operating point), and a count per event.
///
/// Ids belong to one [`Vocabulary`]; [`translate`](Self::translate) carries a ledger to another.
/// Zero entries are never kept, so equal contents are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    spans: BTreeMap<SpanKey, Span>,
    events: Vec<u64>,
}

impl Ledger {
    /// Makes a ledger without any time or event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Books `cycles` and `time` on a component's state.
    pub fn add_span(&mut self, key: SpanKey, cycles: Cycles, time: Picos) {
        if cycles == 0 && time == Picos::ZERO {
            return;
        }
        let span = self.spans.entry(key).or_default();
        span.cycles += cycles;
        span.time += time;
    }

    /// Counts `event` `count` times.
    #[inline]
    pub fn add_event(&mut self, event: EventId, count: u64) {
        if count == 0 {
            return;
        }
        if self.events.len() <= event.index() {
            self.events.resize(event.index() + 1, 0);
        }
        self.events[event.index()] += count;
    }

    /// What is booked on `key`.
    #[must_use]
    pub fn span(&self, key: &SpanKey) -> Span {
        self.spans.get(key).copied().unwrap_or_default()
    }

    /// How often `event` was counted.
    #[must_use]
    pub fn event(&self, event: EventId) -> u64 {
        self.events.get(event.index()).copied().unwrap_or(0)
    }

    /// All spans that are not zero, in the order of their keys.
    pub fn spans(&self) -> impl Iterator<Item = (&SpanKey, &Span)> {
        self.spans.iter()
    }

    /// All events that were counted, in the order of their ids.
    pub fn events(&self) -> impl Iterator<Item = (EventId, u64)> + '_ {
        self.events
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count != 0)
            .map(|(i, &count)| (EventId(i as u16), count))
    }

    /// Whether nothing is booked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.events.is_empty()
    }

    /// Cycles and time of one component over all its states and operating points.
    #[must_use]
    pub fn component_total(&self, component: ComponentId) -> Span {
        let mut total = Span::default();
        for (key, span) in &self.spans {
            if key.component == component {
                total.cycles += span.cycles;
                total.time += span.time;
            }
        }
        total
    }

    /// Adds everything in `other`, which uses the same vocabulary.
    pub fn merge(&mut self, other: &Self) {
        for (key, span) in &other.spans {
            self.add_span(*key, span.cycles, span.time);
        }
        for (event, count) in other.events() {
            self.add_event(event, count);
        }
    }

    /// The spans and events of some components; an event belongs to the component in front of its first dot.
    #[must_use]
    pub fn of(&self, names: &Vocabulary, wanted: impl Fn(&str) -> bool) -> Self {
        let mut own = Self::new();
        for (key, span) in &self.spans {
            if wanted(names.component_name(key.component)) {
                own.add_span(*key, span.cycles, span.time);
            }
        }
        for (event, count) in self.events() {
            if wanted(names.event_name(event).split('.').next().unwrap_or_default()) {
                own.add_event(event, count);
            }
        }
        own
    }

    /// The window from `begin` to `self`: what was booked in between.
    ///
    /// # Errors
    /// If `begin` is not an earlier state of the same ledger.
    pub fn since(&self, begin: &Self) -> Result<Self, LedgerError> {
        fn less(
            end: u128,
            begin: u128,
            what: impl FnOnce() -> String,
        ) -> Result<u128, LedgerError> {
            end.checked_sub(begin).ok_or_else(|| LedgerError::NotEarlier {
                what: what(),
                begin,
                end,
            })
        }
        fn fewer(end: u64, begin: u64, what: impl FnOnce() -> String) -> Result<u64, LedgerError> {
            less(end.into(), begin.into(), what).map(|left| left as u64)
        }
        let mut window = self.clone();
        for (key, span) in &begin.spans {
            let end = self.span(key);
            let left = Span {
                cycles: fewer(end.cycles, span.cycles, || format!("cycles of {key:?}"))?,
                time: Picos(less(end.time.0, span.time.0, || format!("time of {key:?}"))?),
            };
            if left.is_zero() {
                window.spans.remove(key);
            } else {
                window.spans.insert(*key, left);
            }
        }
        for (event, count) in begin.events() {
            let left = fewer(self.event(event), count, || format!("{event:?}"))?;
            window.events[event.index()] = left;
        }
        while window.events.last() == Some(&0) {
            window.events.pop();
        }
        Ok(window)
    }

    /// The same counts under another vocabulary's ids; names that `to` lacks are added to it.
    #[must_use]
    pub fn translate(&self, from: &Vocabulary, to: &mut Vocabulary) -> Self {
        let mut out = Self::new();
        for (key, span) in &self.spans {
            let key = SpanKey {
                component: to.component(from.component_name(key.component)),
                state: to.state(from.state_name(key.state)),
                point: key.point,
            };
            out.add_span(key, span.cycles, span.time);
        }
        for (event, count) in self.events() {
            out.add_event(to.event(from.event_name(event)), count);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(component: u16, state: u16, mclk_hz: u32) -> SpanKey {
        SpanKey {
            component: ComponentId(component),
            state: StateId(state),
            point: OperatingPoint { mclk_hz, ..OperatingPoint::default() },
        }
    }

    fn ledgers() -> impl Strategy<Value = Ledger> {
        let span = (0u16..3, 0u16..3, 0u32..2, 0u64..1000, 0u64..1000);
        let event = (0u16..6, 0u64..100);
        (prop::collection::vec(span, 0..12), prop::collection::vec(event, 0..12)).prop_map(
            |(spans, events)| {
                let mut l = Ledger::new();
                for (c, s, f, cycles, time) in spans {
                    l.add_span(key(c, s, f), cycles, Picos(time.into()));
                }
                for (e, n) in events {
                    l.add_event(EventId(e), n);
                }
                l
            },
        )
    }

    fn merged(a: &Ledger, b: &Ledger) -> Ledger {
        let mut m = a.clone();
        m.merge(b);
        m
    }

    #[test]
    fn booking_nothing_leaves_nothing() {
        let mut l = Ledger::new();
        l.add_span(key(0, 0, 1), 0, Picos::ZERO);
        l.add_event(EventId(4), 0);
        assert!(l.is_empty());
        assert_eq!(l, Ledger::new());
    }

    #[test]
    fn spans_are_kept_apart_by_operating_point_and_summed_by_component() {
        let mut l = Ledger::new();
        l.add_span(key(0, 1, 8_000_000), 8, Picos(1_000_000));
        l.add_span(key(0, 1, 16_000_000), 16, Picos(1_000_000));
        l.add_span(key(1, 1, 16_000_000), 5, Picos(5));
        assert_eq!(l.span(&key(0, 1, 8_000_000)).cycles, 8);
        assert_eq!(l.spans().count(), 3);
        let total = l.component_total(ComponentId(0));
        assert_eq!(total, Span { cycles: 24, time: Picos(2_000_000) });
    }

    #[test]
    fn a_window_that_goes_back_in_time_names_the_counter() {
        let mut later = Ledger::new();
        later.add_event(EventId(2), 7);
        let err = Ledger::new().since(&later).unwrap_err();
        assert!(err.to_string().contains("EventId(2) has 7 at the beginning and only 0"), "{err}");
    }

    #[test]
    fn translation_goes_by_name() {
        let (mut a, mut b) = (Vocabulary::new(), Vocabulary::new());
        b.component("radio");
        let k = SpanKey {
            component: a.component("cpu"),
            state: a.state("lpm3"),
            point: OperatingPoint::default(),
        };
        let mut l = Ledger::new();
        l.add_span(k, 1, Picos(2));
        l.add_event(a.event("crc16.byte"), 3);
        let t = l.translate(&a, &mut b);
        let cpu = b.find_component("cpu").unwrap();
        assert_eq!(cpu, ComponentId(1));
        assert_eq!(t.component_total(cpu).cycles, 1);
        assert_eq!(t.event(b.find_event("crc16.byte").unwrap()), 3);
    }

    #[test]
    fn a_component_takes_its_states_and_events_along() {
        let mut names = Vocabulary::new();
        let point = OperatingPoint::default();
        let mut l = Ledger::new();
        for (name, cycles) in [("cpu", 5), ("fpga", 7)] {
            let key = SpanKey { component: names.component(name), state: names.state("on"), point };
            l.add_span(key, cycles, Picos(1));
        }
        l.add_event(names.event("fpga.clock"), 3);
        l.add_event(names.event("fram.miss"), 4);
        let own = l.of(&names, |name| name == "fpga");
        assert_eq!(own.spans().map(|s| s.1.cycles).collect::<Vec<_>>(), [7]);
        assert_eq!(own.events().map(|e| e.1).collect::<Vec<_>>(), [3]);
        let mut both = l.of(&names, |name| name != "fpga");
        both.merge(&own);
        assert_eq!(both, l);
    }

    proptest! {
        #[test]
        fn subtraction_undoes_merge(a in ledgers(), b in ledgers()) {
            prop_assert_eq!(merged(&a, &b).since(&a).unwrap(), b);
        }

        #[test]
        fn merge_commutes_and_associates(a in ledgers(), b in ledgers(), c in ledgers()) {
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        }

        #[test]
        fn a_window_of_nothing_is_empty(a in ledgers()) {
            prop_assert!(a.since(&a).unwrap().is_empty());
            prop_assert_eq!(a.since(&Ledger::new()).unwrap(), a);
        }
    }
}
