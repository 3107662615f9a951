// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lives of a node that all end alike: a loop of starts and cuts that gets nowhere is told, not played.

use serde::{Deserialize, Serialize};
use sunseal_power::{Light, Load, Output, Supply, SupplyConfig};

use super::Node;
use crate::record::Doing;
use crate::vain::{needs_v, told};

/// So many lives alike are a loop.
const LOOP: u32 = 24;
/// Lives alike run as many cycles but for this share, from voltages that are so near.
const NEAR_CYCLES: f64 = 0.01;
const NEAR_V: f64 = 5e-3;

/// Lives of late.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Lives {
    begun: Begun,
    last: Option<Life>,
    /// How many before the last were like it, and where the first of them began.
    alike: u32,
    since: Begun,
}

/// Where a life begins.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Begun {
    time_s: f64,
    /// The store at rest.
    v_v: f64,
    /// What the node has had.
    load_j: f64,
    cycles: u64,
    sent: u64,
    operations: u64,
}

/// A life that ended in a cut.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Life {
    started_v: f64,
    cycles: u64,
    doing: Doing,
    sent: u64,
    operations: u64,
}

impl Life {
    fn is_like(&self, other: &Self) -> bool {
        let cycles = self.cycles.abs_diff(other.cycles) as f64;
        (self.doing, self.sent, self.operations) == (other.doing, other.sent, other.operations)
            && cycles <= NEAR_CYCLES * other.cycles as f64
            && (self.started_v - other.started_v).abs() <= NEAR_V
    }

    /// A computation may go on where the last life left it; a packet that is cut off is lost, and what never ran left
    /// nothing.
    fn leaves_nothing(&self) -> bool {
        self.cycles == 0 || self.doing == Doing::Radio && self.sent == 0
    }
}

impl Node {
    fn begins(&self) -> Begun {
        Begun {
            time_s: self.time_s(),
            v_v: self.supply.v_v(),
            load_j: self.supply.sums().load_j,
            cycles: self.machine.cycles(),
            sent: self.radio.as_ref().map_or(0, |r| r.counts().sent),
            operations: self.machine.pulses() - self.reset_falls,
        }
    }

    /// A life begins, the store already behind the start.
    pub(super) fn life_begins(&mut self) {
        self.lives.begun = self.begins();
    }

    /// A life has ended under a load: if many have so, with nothing done in them that could last, and if no light of the
    /// run would change that, why.
    pub(super) fn life_ends(&mut self, load: Load, doing: Doing) {
        let (from, to) = (self.lives.begun, self.begins());
        let life = Life {
            started_v: from.v_v,
            cycles: to.cycles - from.cycles,
            doing,
            sent: to.sent - from.sent,
            operations: to.operations - from.operations,
        };
        if self.lives.last.is_some_and(|l| life.is_like(&l)) {
            self.lives.alike += 1;
        } else {
            (self.lives.alike, self.lives.since) = (0, from);
        }
        self.lives.last = Some(life);
        if life.leaves_nothing() && self.lives.alike >= LOOP && self.lives.alike % LOOP == 0 {
            self.stuck = self.loops(&life, load, to);
        }
    }

    /// Why lives that were alike will go on so, if they will.
    fn loops(&self, life: &Life, load: Load, now: Begun) -> Option<String> {
        let (since, lives) = (self.lives.since, f64::from(self.lives.alike));
        let lasted_s = now.time_s - since.time_s;
        let light = self.harvest.peak();
        let takes_w = (now.load_j - since.load_j) / lasted_s;
        if light.max_w > self.light_now().0.max_w * (1.0 + 1e-9) && light.max_w > takes_w {
            return None;
        }
        let (config, rail_v) = (self.supply.config().clone(), self.supply.rail_v());
        let goes = |c: &SupplyConfig, v_v: f64| bears(c, v_v, load, rail_v, &light);
        let bears_it = goes(&config, life.started_v);
        // A store that fills while it loops may get there within the run.
        let rises_v =
            (life.started_v - since.v_v) * (self.scenario.duration_s - now.time_s) / lasted_s;
        let lacks_v = match bears_it {
            true => 0.0,
            false => {
                needs_v(&config, goes).map_or(f64::INFINITY, |v_v| match v_v > config.v_max_v {
                    true => f64::INFINITY,
                    false => v_v - life.started_v,
                })
            }
        };
        if rises_v > lacks_v.max(1e-3) {
            return None;
        }
        let at = match life.doing {
            Doing::Radio if now.sent == 0 => "its first transmission or reception",
            Doing::Radio => "its next transmission or reception",
            _ => "its start",
        };
        let needs = match bears_it {
            // For a moment, not for as long as it takes.
            true => format!(
                "it starts at {:.3} V, and the store holds too little for that; a larger one or a higher restart voltage \
                 (`supply.v_on_v`) would do",
                life.started_v
            ),
            false => told(&config, life.started_v, goes),
        };
        Some(format!(
            "the node never gets past {at}, {:.4} W: {needs} (stopped at {:.3} s: {} lives ended alike, after {} cycles each, \
             and no light of this run changes that)",
            load.vcc_w,
            now.time_s,
            lives + 1.0,
            life.cycles
        ))
    }
}

/// Whether a store at rest bears a load for a moment; of a rail that follows the store its current.
fn bears(config: &SupplyConfig, v_v: f64, load: Load, rail_v: f64, light: &Light) -> bool {
    let config = SupplyConfig { start_overhead_j: 0.0, ..config.clone() };
    let regulated = matches!(config.output, Output::Regulated { .. });
    let Ok(mut supply) = Supply::new(config, v_v) else { return false };
    supply.switch_on();
    let scale = if regulated { 1.0 } else { supply.rail_v() / rail_v };
    supply.above_cut_j(Load { vcc_w: load.vcc_w * scale, ..load }, light) > 0.0
}
