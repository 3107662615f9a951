// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chip's start: from the output's switching on to its first instruction, and what that costs.

use sunseal_power::{Boundary, EnergyBreakdown, Light, Load, PowerError};
use sunseal_trace::Ledger;

use super::Node;
use crate::NodeError;
use crate::record::Activity;

/// Cost of the last start: the next one at that rail mostly passes the same.
pub(super) struct Start {
    rail_v: f64,
    passed: Ledger,
    weighed: EnergyBreakdown,
}

impl Node {
    pub(super) fn switch_on(&mut self, light: &Light) -> Result<(), NodeError> {
        self.supply.switch_on();
        self.life_begins();
        self.follow_rail()?;
        self.starts += 1;
        let (before, begun) = (self.machine.time(), self.machine.ledger());
        self.recorder.event(
            before.as_seconds(),
            "on",
            format!("store at {:.3} V", self.supply.v_v()),
        );
        let falls = self.machine.pulses();
        // Each start wakes another RAM pattern.
        self.machine.power_on(
            self.scenario.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(self.starts),
        );
        self.reset_falls += self.machine.pulses() - falls;
        let boot_s = (self.machine.time() - before).as_seconds();
        // The chip starts for so long before it runs its first instruction, with what its data say of that: the
        // charge of a reset (an event), or the states that it passes.
        let boot_j = self.weigh_start(&begun)?.weighed.total_j.typ;
        let boot_w = if boot_s > 0.0 { boot_j / boot_s } else { 0.0 };
        self.spent_j();
        self.events.fpga_w = 0.0;
        let load = Load { vcc_w: boot_w.max(0.0), store_w: 0.0 };
        let begun_j = self.supply.sums().load_j;
        if self.book(before.as_seconds(), boot_s, load, light, Activity::Sleep)
            == Some(Boundary::Cut)
        {
            self.cut(load, Activity::Sleep);
        }
        if let (Some(functions), Some(start)) = (&mut self.functions, &self.start) {
            let parts: Vec<&str> = self.machine.states().into_iter().map(|s| s.0).collect();
            let mut shares_j = vec![0.0; parts.len()];
            for item in &start.weighed.items {
                // The charge of a reset is an event of no component: the CPU, which is the first, starts.
                let place = parts.iter().position(|p| *p == item.component).unwrap_or(0);
                shares_j[place] += item.energy_j.typ;
            }
            functions.start(boot_s, self.supply.sums().load_j - begun_j, &shares_j);
        }
        Ok(())
    }

    /// Weighs what the machine's ledger has beyond that of before the start.
    fn weigh_start(&mut self, begun: &Ledger) -> Result<&Start, NodeError> {
        let passed = self.machine.ledger().since(begun);
        let passed = passed.map_err(|e| PowerError::Ledger(e.to_string()))?;
        let known = self.start.take();
        let known = known.filter(|s| s.rail_v == self.priced_v && s.passed == passed);
        let start = match known {
            Some(start) => start,
            None => {
                // An FPGA that is always on counts no clock so soon.
                let weighed = self.weigh(&passed, self.priced_v, &[])?;
                Start { rail_v: self.priced_v, passed, weighed }
            }
        };
        Ok(self.start.insert(start))
    }
}
