// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prices of the machine's states and events at the rail that it stands on.

use serde::{Deserialize, Serialize};
use sunseal_mcu::Machine;
use sunseal_trace::{OperatingPoint, StateId};

use super::Node;
use super::functions::Powers;
use crate::NodeError;
use crate::record::Activity;

/// Power of one set of states, and what the node is at. Where code runs from is no state of the machine: it
/// may change with every jump, so a step is priced by the cycles that ran from RAM.
#[derive(Clone, Debug)]
pub(super) struct Price {
    pub states: Vec<StateId>,
    pub point: OperatingPoint,
    pub flash_w: f64,
    pub ram_w: f64,
    /// Part of it that FPGAs draw whatever the rail is; and more than their clocks and toggles take.
    pub fpga_w: f64,
    pub fpga_max_w: f64,
    pub doing: Activity,
    /// By component, where functions are asked for.
    pub powers: Option<Powers>,
}

/// Prices at one rail: sets of states, and events.
#[derive(Default)]
pub(super) struct Priced {
    pub prices: Vec<Price>,
    pub costs_j: Vec<(usize, f64)>,
    pub cycle_j: f64,
}

/// Costs of the events that a power set prices one by one: FRAM misses, wake-ups, multiplications.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Events {
    /// Place in the machine's counts, and energy, at the rail.
    pub costs_j: Vec<(usize, f64)>,
    /// The dearest that may come with every cycle.
    pub cycle_j: f64,
    /// As they were last looked at, and those of FPGAs.
    pub counts: Vec<u64>,
    pub fpgas: Vec<[u64; 3]>,
    /// Power that FPGAs draw now in their states, and have drawn.
    pub fpga_w: f64,
    pub fpga_j: f64,
    /// Spent and not yet drawn.
    pub owed_j: f64,
    /// Power of the last step in which the CPU ran, or an FPGA was on.
    pub recent_w: f64,
}

impl Events {
    /// The energy of what has happened since the last look.
    pub fn spent_j(&mut self, counts: &[u64]) -> f64 {
        if self.costs_j.is_empty() {
            return 0.0;
        }
        self.counts.resize(counts.len(), 0);
        let since = |i: usize| (counts[i] - self.counts[i]) as f64;
        let spent_j = self.costs_j.iter().map(|(i, j)| since(*i) * j).sum();
        self.counts.copy_from_slice(counts);
        spent_j
    }

    /// The power by which what is owed is drawn in a step.
    pub fn draw_w(&mut self, dt_s: f64) -> f64 {
        if dt_s <= 0.0 {
            return 0.0;
        }
        let w = (self.owed_j / dt_s).clamp(0.0, EVENTS_MAX_W);
        self.owed_j -= w * dt_s;
        w
    }
}

/// The charge of a wake-up is drawn with so much power at most, which is some microseconds.
const EVENTS_MAX_W: f64 = 0.02;

/// The CPU's first state on every chip: "active.flash" or "active.fram".
const FROM_PROGRAM_MEMORY: StateId = StateId(0);
/// Rails whose prices are remembered.
const RAILS: usize = 1000;

impl Node {
    /// The place of the price of the states that the machine's parts are in, at its rail.
    pub(super) fn price(&mut self) -> Result<usize, NodeError> {
        let point = self.machine.operating_point();
        let is =
            |p: &Price| p.point == point && self.machine.state_ids().eq(p.states.iter().copied());
        if !self.prices.get(self.price).is_some_and(is) {
            self.price = match self.prices.iter().position(is) {
                Some(known) => known,
                None => {
                    let price = self.new_price(point)?;
                    self.prices.push(price);
                    self.prices.len() - 1
                }
            };
        }
        Ok(self.price)
    }

    fn new_price(&self, point: OperatingPoint) -> Result<Price, NodeError> {
        let vcc_v = self.priced_v;
        let states = self.machine.state_ids().collect();
        let doing = self.doing();
        let mut price = Price {
            states,
            point,
            flash_w: 0.0,
            ram_w: 0.0,
            fpga_w: 0.0,
            fpga_max_w: 0.0,
            doing,
            powers: None,
        };
        let mut powers = Powers { watts: Vec::new(), cpu_ram_w: 0.0, awake: false };
        let names = self.machine.vocabulary();
        for (component, state) in self.machine.states() {
            let power_w = |state: &str| {
                self.model.current_a(component, state, &point, vcc_v).map(|c| c.value.typ * vcc_v)
            };
            if component == "cpu" && state.starts_with("active") {
                let (flash_w, ram_w) =
                    (power_w(names.state_name(FROM_PROGRAM_MEMORY))?, power_w("active.ram")?);
                price.flash_w += flash_w;
                price.ram_w += ram_w;
                powers.watts.push(flash_w);
                (powers.cpu_ram_w, powers.awake) = (ram_w, true);
            } else {
                let fpga_w = self.fpgas.state_w(component, state, &point)?;
                let w = fpga_w.map_or_else(|| power_w(state), Ok)?;
                price.fpga_w += fpga_w.unwrap_or(0.0);
                price.fpga_max_w += self.fpgas.events_max_w(component, state);
                price.flash_w += w;
                price.ram_w += w;
                powers.watts.push(w);
            }
        }
        if !powers.awake {
            powers.cpu_ram_w = powers.watts[0];
        }
        price.powers = self.functions.is_some().then_some(powers);
        Ok(price)
    }

    /// The energy of what has happened since the last look.
    pub(super) fn spent_j(&mut self) -> f64 {
        let own_j = self.events.spent_j(self.machine.event_counts());
        own_j + self.fpgas.spent_j(self.machine.time(), &mut self.events.fpgas)
    }

    /// Tells the machine the rail, where that follows the store.
    pub(super) fn follow_rail(&mut self) -> Result<(), NodeError> {
        let rail_v = self.supply.rail_v();
        self.price_at(rail_v)?;
        if rail_v != self.machine.vcc() {
            self.machine.set_vcc(rail_v);
        }
        Ok(())
    }

    /// Prices states and events at a rail.
    pub(super) fn price_at(&mut self, rail_v: f64) -> Result<(), NodeError> {
        if rail_v == self.priced_v {
            return Ok(());
        }
        if self.priced.len() >= RAILS {
            self.priced.clear();
        }
        let e = &mut self.events;
        let before = Priced {
            prices: std::mem::take(&mut self.prices),
            costs_j: std::mem::take(&mut e.costs_j),
            cycle_j: e.cycle_j,
        };
        self.priced.insert(self.priced_v.to_bits(), before);
        self.priced_v = rail_v;
        match self.priced.remove(&rail_v.to_bits()) {
            Some(known) => {
                (self.prices, e.costs_j, e.cycle_j) = (known.prices, known.costs_j, known.cycle_j);
                Ok(())
            }
            None => self.price_events(),
        }
    }

    /// Prices each event at the rail; its price must be in the set.
    pub(super) fn price_events(&mut self) -> Result<(), NodeError> {
        let e = &mut self.events;
        (e.costs_j, e.cycle_j) = (Vec::new(), 0.0);
        for (_, event) in self.machine.vocabulary().events() {
            let cost_j = self.model.event_j(event, self.priced_v)?.value.typ;
            if cost_j == 0.0 {
                continue;
            }
            // Chips count by these names.
            let Some(place) = Machine::event_place(event) else { continue };
            e.costs_j.push((place, cost_j));
            if !(event.starts_with("pmm.wake") || event == "fram.power_up") {
                e.cycle_j = e.cycle_j.max(cost_j);
            }
        }
        Ok(())
    }
}
