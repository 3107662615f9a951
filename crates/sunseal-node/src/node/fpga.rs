// SPDX-License-Identifier: MIT OR Apache-2.0
//! The FPGAs of a node's board: each of their supplies has a power set and a voltage of its own, and their clocks and
//! toggles are counted by the model, where the machine's events are not. What regulators between the node's rail and
//! theirs lose is in none of the figures.

use sunseal_board::{Board, Fpgas as Fitted};
use sunseal_data::Library;
use sunseal_hdl::{FpgaCounts, FpgaHandle, FpgaPart};
use sunseal_power::{Clock, EnergyBreakdown, PowerModel, PowerSet, load_part};
use sunseal_trace::{Ledger, OperatingPoint, Picos, Vocabulary};

use super::Node;
use crate::NodeError;

/// An FPGA with its supplies and what its counts cost.
struct Fpga {
    name: String,
    handle: FpgaHandle,
    rails: Vec<Rail>,
    /// Energy of each of [`FpgaCounts::EVENTS`], on all rails.
    costs_j: [f64; 3],
}

/// One of its supplies.
#[derive(Debug)]
struct Rail {
    voltage_v: f64,
    model: PowerModel,
}

/// All of a board's.
#[derive(Default)]
pub(super) struct Fpgas(Vec<Fpga>);

impl Fpgas {
    pub fn new(library: &Library, board: &Board, fitted: Fitted) -> Result<Self, NodeError> {
        let mut all = Vec::new();
        for (name, handle) in fitted {
            let Some((_, part, _)) = board.wired().find(|w| w.0 == name) else { continue };
            let facts: FpgaPart = load_part(library.room("parts"), part, "fpga")?;
            let (mut rails, mut costs_j) = (Vec::new(), [0.0; 3]);
            for rail in &facts.rail {
                let set = PowerSet::load(library.room("power"), &rail.power_set, part)?;
                let model = PowerModel::new(vec![set])?;
                for (cost_j, event) in costs_j.iter_mut().zip(FpgaCounts::EVENTS) {
                    let event = format!("{name}.{event}");
                    *cost_j += model.event_j(&event, rail.voltage_v)?.value.typ;
                }
                rails.push(Rail { voltage_v: rail.voltage_v, model });
            }
            all.push(Fpga { name, handle, rails, costs_j });
        }
        Ok(Self(all))
    }

    fn named(&self, component: &str) -> Option<&Fpga> {
        self.0.iter().find(|f| f.name == component)
    }

    /// Power that all supplies of a component draw in a state; none where it is no FPGA.
    pub fn state_w(
        &self,
        component: &str,
        state: &str,
        point: &OperatingPoint,
    ) -> Result<Option<f64>, NodeError> {
        let Some(fpga) = self.named(component) else { return Ok(None) };
        let mut sum_w = 0.0;
        for rail in &fpga.rails {
            let current = rail.model.current_a(component, state, point, rail.voltage_v)?;
            sum_w += current.value.typ * rail.voltage_v;
        }
        Ok(Some(sum_w))
    }

    /// More than its clocks and toggles ever take in that state.
    pub fn events_max_w(&self, component: &str, state: &str) -> f64 {
        match self.named(component) {
            Some(f) if state == "on" => {
                let clock_j = f.costs_j[0] + f.costs_j[1] * f64::from(f.handle.toggles_max());
                clock_j * f.handle.clock_hz() as f64
            }
            _ => 0.0,
        }
    }

    /// Energy that clocks and toggles have taken since the last look, which `seen` remembers.
    pub fn spent_j(&self, now: Picos, seen: &mut Vec<[u64; 3]>) -> f64 {
        seen.resize(self.0.len(), [0; 3]);
        let mut sum_j = 0.0;
        for (fpga, seen) in self.0.iter().zip(seen) {
            let counts = fpga.handle.counts(now).by_event();
            for i in 0..counts.len() {
                // A frame that was told since, behind its end, may have moved less than its rest would have.
                sum_j += (counts[i] as f64 - seen[i] as f64) * fpga.costs_j[i];
            }
            *seen = counts;
        }
        sum_j
    }

    /// The first breach of a bus's contract: what came of it would be no answer.
    pub fn problem(&self) -> Option<String> {
        self.0.iter().find_map(|f| Some(format!("{}: {}", f.name, f.handle.problem()?)))
    }

    /// Adds what a ledger has of them to what the rest of it costs, each at its supplies' voltages.
    fn weigh_onto(
        &self,
        sum: &mut EnergyBreakdown,
        ledger: &Ledger,
        names: &Vocabulary,
        counts: &[[u64; 3]],
    ) -> Result<(), NodeError> {
        for (i, fpga) in self.0.iter().enumerate() {
            let (mut own, mut names) = (ledger.of(names, |c| c == fpga.name), names.clone());
            for (event, count) in
                FpgaCounts::EVENTS.iter().zip(counts.get(i).copied().unwrap_or_default())
            {
                own.add_event(names.event(&format!("{}.{event}", fpga.name)), count);
            }
            for rail in &fpga.rails {
                sum.merge(rail.model.weigh(&own, &names, rail.voltage_v, Clock::AsRun)?);
            }
        }
        Ok(())
    }

    /// Names of all power sets, behind those of the board.
    pub fn sets(&self, board: &str) -> String {
        let rails = self.0.iter().flat_map(|f| &f.rails);
        rails.fold(board.to_owned(), |all, rail| format!("{all} + {}", rail.model.name()))
    }

    /// All that their figures come from, to tell one run from another.
    pub fn told(&self) -> String {
        let figures: Vec<_> = self.0.iter().map(|f| (&f.name, &f.rails)).collect();
        match figures.is_empty() {
            true => String::new(),
            // The models' folder is named by a hash of the design.
            false => format!("{figures:?} {:?}", std::env::var_os(sunseal_hdl::MODELS)),
        }
    }
}

impl Node {
    /// Weighs what the ledger says, FPGAs at their own supplies; `counts` is what they counted meanwhile.
    pub(super) fn weigh(
        &self,
        ledger: &Ledger,
        vcc_v: f64,
        counts: &[[u64; 3]],
    ) -> Result<EnergyBreakdown, NodeError> {
        let names = self.machine.vocabulary();
        let rest = ledger.of(names, |component| self.fpgas.named(component).is_none());
        let mut sum = self.model.weigh(&rest, names, vcc_v, Clock::AsRun)?;
        self.fpgas.weigh_onto(&mut sum, ledger, names, counts)?;
        Ok(sum)
    }
}
