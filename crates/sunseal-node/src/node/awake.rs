// SPDX-License-Identifier: MIT OR Apache-2.0
//! One step of the loop while the chip has its supply.

use sunseal_power::SupplySums;
use sunseal_trace::{OperatingPoint, StateId};

use super::*;

impl Node {
    pub(super) fn step_on(&mut self) -> Result<(), NodeError> {
        let now = self.machine.time();
        let now_s = now.as_seconds();
        let (light, until_s) = self.light_now();
        self.follow_rail()?;
        let price = self.price()?;
        let Price { point, flash_w, ram_w, fpga_max_w, doing, .. } = self.prices[price];
        let store_w = self.divider_w();
        // Surely not more than this; what it was is known afterwards.
        let computes = doing == Activity::Compute;
        let cycles_w = if computes { self.events.cycle_j * f64::from(point.mclk_hz) } else { 0.0 };
        let events_w = cycles_w + fpga_max_w;
        let load = Load { vcc_w: flash_w.max(ram_w) + events_w, store_w };
        if let Some(s) = &self.sense {
            s.shared.store(self.supply.terminal_v(load, &light).to_bits(), Ordering::Relaxed);
        }
        let mut dt_s = self.horizon_s(now_s, until_s) - now_s;
        if computes {
            dt_s = dt_s.min(AWAKE_STEP_S);
        }
        let (mut last, mut ahead) = (None, None);
        if self.supply.rail_follows() {
            let likely = self.likely(flash_w, ram_w, store_w);
            let rail = self.rail_ahead(load, likely, &light, until_s, dt_s);
            (dt_s, ahead) = (rail.time_s, (rail.steps() > 1).then_some(rail));
        } else {
            let likely = || self.likely(flash_w, ram_w, store_w);
            let computing_hz = computes.then_some(point.mclk_hz);
            (dt_s, last) = self.up_to_cut(load, likely, computing_hz, &light, dt_s);
        }
        let (price, flash_w, ram_w) = match &ahead {
            None => (price, flash_w, ram_w),
            Some(rail) => {
                // At its mean.
                self.supply.tell_rail(rail.at_v(0.5));
                self.price_at(self.supply.rail_v())?;
                let price = self.price()?;
                (price, self.prices[price].flash_w, self.prices[price].ram_w)
            }
        };
        self.events.fpga_w = self.prices[price].fpga_w;
        let target = Picos(now.0 + to_picos(dt_s).max(1));
        let cycles = (self.machine.cycles(), self.machine.cycles_from_ram());
        let (begun, pc) = (*self.supply.sums(), self.machine.pc());
        let stop = self.run_until(target, last.is_some(), ahead);
        let gone = self.machine.time() - now;
        let gone_s = gone.as_seconds();
        let spent_j = self.spent_j();
        self.events.owed_j += spent_j;
        if let Some(more_j) = self.passed_j(price, &point)? {
            self.events.owed_j += more_j;
        }
        let load = if let Some(load) = last {
            self.events.owed_j -= self.events.recent_w * gone_s;
            load
        } else {
            if (computes || fpga_max_w > 0.0) && gone_s > 0.0 {
                self.events.recent_w = (spent_j / gone_s).min(events_w);
            }
            let ran = (self.machine.cycles() - cycles.0).max(1);
            let from_ram = (self.machine.cycles_from_ram() - cycles.1) as f64 / ran as f64;
            let vcc_w = flash_w + (ram_w - flash_w) * from_ram + self.events.draw_w(gone_s);
            Load { vcc_w, store_w }
        };
        let boundary = self.book(now_s, gone_s, load, &light, doing);
        self.tell_step(price, pc, gone_s, &begun);
        self.refuse_faults(&stop)?;
        // A step that ends on the cut's own bit of time is a cut.
        let at_cut = self.supply.above_cut_j(load, &light) <= 0.0;
        if boundary == Some(Boundary::Cut) || at_cut || (last.is_some() && stop == Stop::BrownOut) {
            self.cut(load, doing);
        }
        Ok(())
    }

    fn run_until(&mut self, target: Picos, to_cut: bool, ahead: Option<RailAhead>) -> Stop {
        // The divider is no component of the machine, so its pin is watched.
        let pin_edge = self.sense.as_ref().map(|s| s.enable);
        let pc = self.coupons.as_ref().map_or_else(Vec::new, Coupons::stops);
        let until =
            Until { time: Some(target), pin_edge, pc, state_change: true, ..Until::default() };
        match (to_cut, &mut self.functions) {
            // These few cycles are booked on the function that they begin in.
            (true, _) => self.machine.run_to_cut(&until),
            (false, Some(functions)) => run(&mut self.machine, &until, ahead, functions),
            (false, None) => run(&mut self.machine, &until, ahead, &mut Silent),
        }
    }

    /// Functions and coupons are told of the step that began at `pc` with these sums.
    fn tell_step(&mut self, price: usize, pc: u32, gone_s: f64, begun: &SupplySums) {
        let sums = self.supply.sums();
        if let (Some(functions), Some(powers)) = (&mut self.functions, &self.prices[price].powers) {
            let (load_j, divider_j) =
                (sums.load_j - begun.load_j, sums.store_load_j - begun.store_load_j);
            functions.step(powers, pc, gone_s, load_j, divider_j);
        }
        if let Some(coupons) = &mut self.coupons {
            coupons.look(&self.machine, sums.load_j);
        }
    }

    /// The run ends where the program or an FPGA's wires broke a rule.
    fn refuse_faults(&self, stop: &Stop) -> Result<(), NodeError> {
        let fault = match stop {
            Stop::Fault(fault) => Some(fault.to_string()),
            _ => self.fpgas.problem(),
        };
        fault.map_or(Ok(()), |fault| Err(NodeError::Fault { time_s: self.time_s(), fault }))
    }

    /// Time for which the machine may run before the store may be at the cut-off, `most_s` at the longest. Where that
    /// is the cut itself, to the cycle: the load that it was reckoned with, too.
    fn up_to_cut(
        &self,
        heaviest: Load,
        likely: impl FnOnce() -> Load,
        computing_hz: Option<u32>,
        light: &Light,
        most_s: f64,
    ) -> (f64, Option<Load>) {
        let sure_s = self.supply.sure_time_up_to_s(heaviest, light, most_s) * (1.0 - 1e-9);
        if sure_s >= most_s || sure_s.is_nan() {
            return (most_s, None);
        }
        let last_s = computing_hz.map(|hz| LAST_CYCLES / f64::from(hz.max(1)));
        match last_s {
            // A step ends with an instruction, which must not carry it over the cut.
            Some(last_s) if sure_s > NEAR_S.max(2.0 * last_s) => return (sure_s - last_s, None),
            None if sure_s > NEAR_S => return (sure_s, None),
            _ => {}
        }
        let ahead_s = most_s.min(LOOK_S);
        let ahead = |load| self.supply.clone().advance(ahead_s, load, light);
        let at_most = ahead(heaviest);
        if at_most.boundary != Some(Boundary::Cut) {
            return (at_most.elapsed_s, None);
        }
        if let Some(last_s) = last_s.filter(|last_s| at_most.elapsed_s > 2.0 * last_s) {
            return (at_most.elapsed_s - last_s, None);
        }
        let likely = likely();
        let crossing = ahead(likely);
        let cuts = crossing.boundary == Some(Boundary::Cut);
        (crossing.elapsed_s, cuts.then_some(likely))
    }

    /// Energy that a state which the CPU passed through cost above the state it was priced as.
    fn passed_j(&mut self, price: usize, point: &OperatingPoint) -> Result<Option<f64>, NodeError> {
        let Some((state, time)) = self.machine.take_passed() else { return Ok(None) };
        let names = self.machine.vocabulary();
        let power_w = |state: StateId| {
            let current =
                self.model.current_a("cpu", names.state_name(state), point, self.priced_v);
            current.map(|c| c.value.typ * self.priced_v)
        };
        let more_w = power_w(state)? - power_w(self.prices[price].states[0])?;
        Ok(Some(more_w * time.as_seconds()))
    }
}
