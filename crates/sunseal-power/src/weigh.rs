// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy of a ledger: counts times coefficients.

use std::collections::BTreeMap;

use serde::Serialize;
use sunseal_trace::{Ledger, OperatingPoint, Picos, Vocabulary};

use crate::units::{Amperes, Hertz, Seconds, Volts};
use crate::{Interval, Limits, PowerError, PowerModel, Segment};

/// At which clock the counts are priced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// The one they were counted at.
    AsRun,
    /// Another: CPU cycles take their new time, time spent asleep stays what it was.
    At {
        /// Clock of the CPU, MCLK.
        mclk_hz: u32,
        /// Level of the core voltage.
        vcore: u8,
    },
}

/// Kind of a line of the breakdown: a state or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// State: current times time.
    State,
    /// Event: count times energy.
    Event,
}

/// One line of the breakdown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// Kind of the line.
    pub kind: ItemKind,
    /// Component that the line is of.
    pub component: String,
    /// The state's or event's name.
    pub name: String,
    /// CPU clock it is priced at; 0 for an event.
    pub mclk_hz: u32,
    /// Core voltage level it is priced at.
    pub vcore: u8,
    /// CPU cycles within the state.
    pub cycles: u64,
    /// Time within the state.
    pub time_s: f64,
    /// Number of events; 0 for a state.
    pub count: u64,
    /// Current of the state, energy of one event.
    pub coefficient: Interval,
    /// Energy: the product of both.
    pub energy_j: Interval,
    /// Name of the set that it came from.
    pub set: String,
    /// Document, and the place in it.
    pub source: String,
    /// True if the figure is unchecked: from memory, not from its document.
    pub recalled: bool,
    /// True if the figure is an assumption of ours and of no document.
    pub assumed: bool,
}

/// Breakdown of the joules of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EnergyBreakdown {
    /// Lines, in the ledger's order: states, then events.
    pub items: Vec<Item>,
    /// Sum of the lines; its ends are the sums of their ends.
    pub total_j: Interval,
    /// Time of the component that was longest on the books.
    pub time_s: f64,
    /// CPU cycles of the component that has most.
    pub cycles: u64,
    /// Supply voltage of the chip.
    pub vcc_v: f64,
    /// Lines whose figure the named set lacks and the set it extends gave.
    pub fallbacks: Vec<String>,
    /// Lines whose figure nobody has checked against its document.
    pub unchecked: Vec<String>,
    /// Lines whose figure is an assumption of ours and of no document.
    pub assumed: Vec<String>,
}

impl EnergyBreakdown {
    fn grouped(&self, key: impl Fn(&Item) -> String) -> BTreeMap<String, Interval> {
        let mut out: BTreeMap<String, Interval> = BTreeMap::new();
        for item in &self.items {
            *out.entry(key(item)).or_default() += item.energy_j;
        }
        out
    }

    /// Adds what something else costs that was on the books over the same time, at a supply of its own.
    pub fn merge(&mut self, other: Self) {
        self.total_j += other.total_j;
        self.time_s = self.time_s.max(other.time_s);
        self.cycles = self.cycles.max(other.cycles);
        self.items.extend(other.items);
        let lists = [
            (&mut self.fallbacks, other.fallbacks),
            (&mut self.unchecked, other.unchecked),
            (&mut self.assumed, other.assumed),
        ];
        for (list, more) in lists {
            for name in more {
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
    }

    /// Currents that the CPU draws in one state after the other, as something at its supply measures it.
    #[must_use]
    pub fn cpu_waveform(&self) -> Vec<Segment> {
        let cpu = self.items.iter().filter(|i| i.kind == ItemKind::State && i.component == "cpu");
        cpu.map(|i| Segment { duration_s: i.time_s, current_a: i.coefficient.typ }).collect()
    }

    /// Joules by component, summed.
    #[must_use]
    pub fn by_component(&self) -> BTreeMap<String, Interval> {
        self.grouped(|i| i.component.clone())
    }

    /// Joules by component and state, or by event, over all operating points.
    #[must_use]
    pub fn by_state(&self) -> BTreeMap<String, Interval> {
        self.grouped(|i| match i.kind {
            ItemKind::State => format!("{}.{}", i.component, i.name),
            ItemKind::Event => i.name.clone(),
        })
    }
}

/// One point of an energy and latency curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Supply voltage of the chip.
    pub vcc_v: f64,
    /// Clock of the CPU, MCLK.
    pub mclk_hz: u32,
    /// Core voltage level: the lowest that allows the clock.
    pub vcore: u8,
    /// Time that the same cycles take.
    pub time_s: f64,
    /// Energy that they cost.
    pub energy_j: Interval,
}

impl PowerModel {
    /// Prices a ledger.
    ///
    /// # Errors
    /// If a coefficient is missing or does not reach, or the ledger contradicts itself.
    pub fn weigh(
        &self,
        ledger: &Ledger,
        vocabulary: &Vocabulary,
        vcc_v: f64,
        clock: Clock,
    ) -> Result<EnergyBreakdown, PowerError> {
        let mut out = EnergyBreakdown { vcc_v, ..EnergyBreakdown::default() };
        let mut longest: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
        for (key, span) in ledger.spans() {
            let component = vocabulary.component_name(key.component);
            let state = vocabulary.state_name(key.state);
            let (point, time_s) = repriced(key.point, span.cycles, span.time, clock)
                .map_err(|e| PowerError::Ledger(format!("{component} in state {state} {e}")))?;
            let c = self.current_a(component, state, &point, vcc_v)?;
            let charge = |i: f64| (Volts(vcc_v) * (Amperes(i) * Seconds(time_s))).0;
            let energy_j = Interval {
                low: charge(c.value.low),
                typ: charge(c.value.typ),
                high: charge(c.value.high),
            };
            let sum = longest.entry(component).or_default();
            *sum = (sum.0 + time_s, sum.1 + span.cycles);
            out.push(
                Item {
                    kind: ItemKind::State,
                    component: component.to_owned(),
                    name: state.to_owned(),
                    mclk_hz: point.mclk_hz,
                    vcore: point.vcore,
                    cycles: span.cycles,
                    time_s,
                    count: 0,
                    coefficient: c.value,
                    energy_j,
                    set: c.set,
                    source: c.source,
                    recalled: c.recalled,
                    assumed: c.assumed,
                },
                c.fallback,
            );
        }
        for (event, count) in ledger.events() {
            let name = vocabulary.event_name(event);
            let c = self.event_j(name, vcc_v)?;
            out.push(
                Item {
                    kind: ItemKind::Event,
                    component: name.split('.').next().unwrap_or(name).to_owned(),
                    name: name.to_owned(),
                    mclk_hz: 0,
                    vcore: 0,
                    cycles: 0,
                    time_s: 0.0,
                    count,
                    coefficient: c.value,
                    energy_j: c.value * count as f64,
                    set: c.set,
                    source: c.source,
                    recalled: c.recalled,
                    assumed: c.assumed,
                },
                c.fallback,
            );
        }
        out.total_j = out.items.iter().map(|i| i.energy_j).sum();
        out.time_s = longest.values().map(|l| l.0).fold(0.0, f64::max);
        out.cycles = longest.values().map(|l| l.1).max().unwrap_or(0);
        Ok(out)
    }

    /// Prices the same counts at any legal voltage and clock, at the lowest core level that allows it.
    ///
    /// # Errors
    /// As [`weigh`](Self::weigh), and if the pair is not legal.
    pub fn reweigh(
        &self,
        ledger: &Ledger,
        vocabulary: &Vocabulary,
        limits: &Limits,
        vcc_v: f64,
        mclk_hz: u32,
    ) -> Result<EnergyBreakdown, PowerError> {
        let vcore = limits.level_for(vcc_v, f64::from(mclk_hz))?;
        self.weigh(ledger, vocabulary, vcc_v, Clock::At { mclk_hz, vcore })
    }

    /// Energy and latency of the same counts at every legal pair of the given voltages and clocks.
    ///
    /// # Errors
    /// As [`weigh`](Self::weigh). Pairs that are not legal are left out.
    pub fn curve(
        &self,
        ledger: &Ledger,
        vocabulary: &Vocabulary,
        limits: &Limits,
        vcc_v: &[f64],
        mclk_hz: &[u32],
    ) -> Result<Vec<CurvePoint>, PowerError> {
        let mut out = Vec::new();
        for &v in vcc_v {
            for &f in mclk_hz {
                let Ok(vcore) = limits.level_for(v, f64::from(f)) else { continue };
                let b = self.weigh(ledger, vocabulary, v, Clock::At { mclk_hz: f, vcore })?;
                out.push(CurvePoint {
                    vcc_v: v,
                    mclk_hz: f,
                    vcore,
                    time_s: b.time_s,
                    energy_j: b.total_j,
                });
            }
        }
        Ok(out)
    }
}

impl EnergyBreakdown {
    fn push(&mut self, item: Item, fallback: bool) {
        let name = match item.kind {
            ItemKind::State => format!("{}.{}", item.component, item.name),
            ItemKind::Event => item.name.clone(),
        };
        for (list, yes) in [
            (&mut self.fallbacks, fallback),
            (&mut self.unchecked, item.recalled),
            (&mut self.assumed, item.assumed),
        ] {
            if yes && !list.contains(&name) {
                list.push(name.clone());
            }
        }
        self.items.push(item);
    }
}

/// The operating point and length of a span at another clock: its CPU cycles take their new time, the
/// rest of it stays.
fn repriced(
    point: OperatingPoint,
    cycles: u64,
    time: Picos,
    clock: Clock,
) -> Result<(OperatingPoint, f64), String> {
    let Clock::At { mclk_hz, vcore } = clock else { return Ok((point, time.as_seconds())) };
    let busy = match (cycles, point.mclk_hz) {
        (0, _) => Picos::ZERO,
        (n, 0) => return Err(format!("has {n} cycles at a clock of 0 Hz")),
        (n, f) => Picos::of_ticks(n, f),
    };
    // Cycles are whole and spans may begin between two of them: a cycle per span may stick out.
    let slack = Picos::of_ticks(2, point.mclk_hz.max(1)).0.max(1000);
    if busy.0 > time.0.saturating_add(slack).saturating_add(time.0 / 20) {
        return Err(format!(
            "has {cycles} cycles at {} Hz in only {} s",
            point.mclk_hz,
            time.as_seconds()
        ));
    }
    let rest = time.since(busy).as_seconds();
    let smclk_hz = if point.smclk_hz == point.mclk_hz { mclk_hz } else { point.smclk_hz };
    let new = OperatingPoint { mclk_hz, smclk_hz, vcore, ..point };
    Ok((new, Seconds::of_cycles(cycles, Hertz(f64::from(mclk_hz))).0 + rest))
}

#[cfg(test)]
mod tests {
    use super::EnergyBreakdown;

    #[test]
    fn what_is_merged_keeps_what_each_says_of_its_figures() {
        let said = |name: &str| vec![name.to_owned(), "cpu".to_owned()];
        let of = |name| EnergyBreakdown {
            fallbacks: said(name),
            unchecked: said(name),
            assumed: said(name),
            ..EnergyBreakdown::default()
        };
        let mut chip = of("flash");
        chip.merge(of("fpga"));
        for list in [&chip.fallbacks, &chip.unchecked, &chip.assumed] {
            assert_eq!(list, &["flash", "cpu", "fpga"]);
        }
    }
}
