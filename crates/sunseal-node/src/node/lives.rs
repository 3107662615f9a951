// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lives of a node that all end alike: a loop of starts and cuts that gets nowhere is told, not played.
//!
//! The store's voltage where a life begins follows from that of the life before, in steady light. Where it falls from one
//! life to the next, no later life begins higher than where it falls, nor behind a pause than the restart: so a load that
//! takes more than the highest of them is never borne.

use serde::{Deserialize, Serialize};
use sunseal_mcu::device::RegionKind;
use sunseal_power::{Light, Load, Output, Supply, SupplyConfig};

use super::Node;
use crate::record::Activity;
use crate::vain::{needs_v, told};

/// So many lives alike are a loop.
const LOOP: u32 = 24;
/// So many, where the store bears the load for a moment and only holds too little: how much is missing is not known.
const BY_CHANCE: u32 = 10 * LOOP;
/// Lives alike run as many cycles but for this share, from voltages that are so near.
const NEAR_CYCLES: f64 = 0.01;
const NEAR_V: f64 = 5e-3;
/// A store that fills while it loops may come to fill faster: so many times as fast is thought of.
const FASTER: f64 = 3.0;

/// Books of the last lives, for whether they are alike.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Lives {
    begun: Begun,
    last: Option<Life>,
    /// Number of lives before the last that were like it, and where the first of them began.
    alike: u32,
    since: Begun,
    /// Digest of what the first of them left in memory that survives, once there are many.
    left: u64,
    /// Shortest time that power was away for between them.
    off_s: f64,
    ended_s: f64,
}

/// Activity at which a cut found the node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum At {
    /// Before the first instruction.
    Start,
    /// The radio on the air, or getting there.
    Radio,
    Compute,
}

/// Books at which a life begins.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Begun {
    time_s: f64,
    /// The store at rest.
    v_v: f64,
    /// Energy that the node has had.
    load_j: f64,
    cycles: u64,
    sent: u64,
}

/// A life that ended in a cut.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Life {
    started_v: f64,
    cycles: u64,
    at: At,
    sent: u64,
}

impl Life {
    fn is_like(&self, other: &Self) -> bool {
        let cycles = self.cycles.abs_diff(other.cycles) as f64;
        (self.at, self.sent) == (other.at, other.sent)
            && cycles <= NEAR_CYCLES * other.cycles as f64
            && (self.started_v - other.started_v).abs() <= NEAR_V
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
        }
    }

    /// Notes where a life begins, the store already behind the start.
    pub(super) fn life_begins(&mut self) {
        self.lives.begun = self.begins();
        let off_s = self.lives.begun.time_s - self.lives.ended_s;
        self.lives.off_s = self.lives.off_s.min(off_s);
    }

    /// Looks at a life that has ended under a load: if many have ended so, with nothing done in them that could last, and
    /// if no light of the run would change that, it says why.
    pub(super) fn life_ends(&mut self, load: Load, doing: Activity) {
        let (from, to) = (self.lives.begun, self.begins());
        let cycles = to.cycles - from.cycles;
        let life = Life {
            started_v: from.v_v,
            cycles,
            at: match doing {
                _ if cycles == 0 => At::Start,
                Activity::Radio => At::Radio,
                _ => At::Compute,
            },
            sent: to.sent - from.sent,
        };
        if self.lives.last.is_some_and(|l| life.is_like(&l)) {
            self.lives.alike += 1;
        } else {
            (self.lives.alike, self.lives.since, self.lives.off_s) = (0, from, f64::INFINITY);
        }
        (self.lives.last, self.lives.ended_s) = (Some(life), to.time_s);
        let count = self.lives.alike % LOOP;
        if count == 1 && life.at == At::Compute {
            self.lives.left = self.left();
        }
        if self.lives.alike >= LOOP && count == 0 && life.sent == 0 && self.leaves_nothing(life.at)
        {
            self.stuck = self.loops(&life, load, to);
        }
    }

    /// A packet that is cut off is lost, and so is a computation whose life leaves memory as it was.
    fn leaves_nothing(&self, at: At) -> bool {
        at != At::Compute
            || self.lives.off_s > self.machine.ram_holds().as_seconds()
                && self.lives.left == self.left()
    }

    /// Digest of all memory that survives a loss of power.
    fn left(&self) -> u64 {
        let kept = self.machine.device().memory.iter().filter(|r| {
            use RegionKind::{Eeprom, Flash, Fram, InfoFlash};
            matches!(r.kind, Fram | Flash | InfoFlash | Eeprom)
        });
        let bytes = kept.map(|r| self.machine.read_mem(r.start, r.size_bytes() as usize));
        bytes
            .filter_map(Result::ok)
            .fold(0, |so_far: u64, bytes| so_far.rotate_left(1) ^ digest(bytes))
    }

    /// Reason for which lives that were alike will go on so, if they will.
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
        // By chance a life may begin a little higher, or need a little less than the others.
        let by_chance = if bears_it { self.lives.alike < BY_CHANCE } else { lacks_v < NEAR_V };
        if by_chance || FASTER * rises_v > lacks_v.max(1e-3) {
            return None;
        }
        let at = match life.at {
            At::Start => "its start",
            At::Radio if now.sent == 0 => "its first transmission or reception",
            At::Radio => "its next transmission or reception",
            At::Compute => "what it computes",
        };
        let needs = match bears_it {
            // For a moment, not for as long as it takes.
            true => format!(
                "it starts at {:.3} V, and the store holds too little for that; a larger one or a higher restart voltage \
                 (`supply.v_on_v`) would do",
                life.started_v
            ),
            // A store that falls comes to begin where the output switches on.
            false if rises_v < 0.0 => told(&config, config.v_on_v.min(life.started_v), goes),
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

/// Digest of memory in four lanes side by side, as a chip holds a quarter of a megabyte and looks at it are many.
fn digest(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |lane: u64, word: u64| (lane ^ word).wrapping_mul(ODD).rotate_left(29);
    let mut lanes = [1u64, 2, 3, 4];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    }
    let rest = blocks.remainder().iter().fold(0, |so_far, byte| mix(so_far, u64::from(*byte)));
    lanes.into_iter().fold(rest, mix)
}

/// True if a store at rest bears a load for a moment; of a rail that follows the store its current.
fn bears(config: &SupplyConfig, v_v: f64, load: Load, rail_v: f64, light: &Light) -> bool {
    let config = SupplyConfig { start_overhead_j: 0.0, ..config.clone() };
    let regulated = matches!(config.output, Output::Regulated { .. });
    let Ok(mut supply) = Supply::new(config, v_v) else { return false };
    supply.switch_on();
    let scale = if regulated { 1.0 } else { supply.rail_v() / rail_v };
    supply.above_cut_j(Load { vcc_w: load.vcc_w * scale, ..load }, light) > 0.0
}

#[cfg(test)]
mod tests {
    use super::digest;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_digest_of_memory_tells_each_changed_byte(
            mut bytes in prop::collection::vec(any::<u8>(), 1..300), at: prop::sample::Index, by in 1u8..,
        ) {
            let before = digest(&bytes);
            prop_assert_eq!(digest(&bytes), before);
            let at = at.index(bytes.len());
            bytes[at] ^= by;
            prop_assert_ne!(digest(&bytes), before);
        }
    }
}
