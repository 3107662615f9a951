// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panel, charger, supercapacitor, regulated output with cut-off and restart.

use serde::Serialize;

use crate::Storage;

/// The figures of a supply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SupplyConfig {
    /// Capacitance of the store.
    pub capacitance_f: f64,
    /// Its series resistance.
    pub esr_ohm: f64,
    /// Its leakage as a resistor.
    pub leak_ohm: f64,
    /// The charger stops here.
    pub v_max_v: f64,
    /// The output switches on when the store has risen to this.
    pub v_on_v: f64,
    /// The output switches off when the store's terminal has fallen to this.
    pub v_cut_v: f64,
    /// Regulated output.
    pub vcc_v: f64,
    /// Share of the panel's power that reaches the store.
    pub charge_efficiency: f64,
    /// Below this the charger does not start.
    pub panel_min_w: f64,
    /// Share of the power taken from the store that reaches the load.
    pub output_efficiency: f64,
    /// What the harvester itself takes from the store while the output is on.
    pub quiescent_on_w: f64,
    /// The same while it is off, at the restart voltage; falling with the square of the voltage, so
    /// that an empty store owes nothing.
    pub quiescent_off_w: f64,
    /// What each switching-on of the output costs the store.
    pub start_overhead_j: f64,
}

/// A figure of a supply that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("supply: {key} is {value}; {must}")]
pub struct SupplyError {
    /// Which.
    pub key: &'static str,
    /// Its value.
    pub value: f64,
    /// What would be right.
    pub must: String,
}

/// What the node takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// From the regulated output.
    pub vcc_w: f64,
    /// From the store itself, past the converter.
    pub store_w: f64,
}

/// Why time stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The output is off and the store has risen to the restart voltage.
    Restart,
    /// The output is on and the terminal has fallen to the cut-off.
    Cut,
}

/// How far time went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// Time gone by.
    pub elapsed_s: f64,
    /// Set if it is less than asked for, or a boundary was met at its end.
    pub boundary: Option<Boundary>,
}

/// Joules since the beginning. In = out + losses + change of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SupplySums {
    /// What the panel offered at its maximum power point.
    pub panel_j: f64,
    /// Of that, not taken: too little to start the charger.
    pub unused_j: f64,
    /// Of that, not taken: the store was full.
    pub curtailed_j: f64,
    /// Lost in the charger.
    pub charger_j: f64,
    /// Lost in the store's leakage.
    pub leak_j: f64,
    /// Lost in the store's series resistance.
    pub esr_j: f64,
    /// Taken by the harvester itself.
    pub quiescent_j: f64,
    /// Taken by switching the output on.
    pub overhead_j: f64,
    /// Lost in the output converter.
    pub converter_j: f64,
    /// Delivered at the regulated output.
    pub load_j: f64,
    /// Taken from the store past the converter.
    pub store_load_j: f64,
}

impl SupplySums {
    /// All that was lost on the way, curtailed light included.
    #[must_use]
    pub fn lost_j(&self) -> f64 {
        self.unused_j
            + self.curtailed_j
            + self.charger_j
            + self.leak_j
            + self.esr_j
            + self.quiescent_j
            + self.overhead_j
            + self.converter_j
    }

    /// All that reached the node.
    #[must_use]
    pub fn out_j(&self) -> f64 {
        self.load_j + self.store_load_j
    }
}

/// A supply in operation.
#[derive(Clone, Debug)]
pub struct Supply {
    config: SupplyConfig,
    storage: Storage,
    v_v: f64,
    v_begin_v: f64,
    on: bool,
    sums: SupplySums,
}

impl Supply {
    /// A supply whose store stands at `v_v`, output off.
    ///
    /// # Errors
    /// If a figure cannot be.
    pub fn new(config: SupplyConfig, v_v: f64) -> Result<Self, SupplyError> {
        config.check()?;
        if !(0.0..=config.v_max_v).contains(&v_v) {
            let must = format!("the store lies between 0 and {} V", config.v_max_v);
            return Err(SupplyError { key: "initial_v", value: v_v, must });
        }
        let storage = Storage {
            capacitance_f: config.capacitance_f,
            esr_ohm: config.esr_ohm,
            leak_ohm: config.leak_ohm,
        };
        Ok(Self { config, storage, v_v, v_begin_v: v_v, on: false, sums: SupplySums::default() })
    }

    /// The figures.
    #[must_use]
    pub fn config(&self) -> &SupplyConfig {
        &self.config
    }

    /// Voltage of the capacitance.
    #[must_use]
    pub fn v_v(&self) -> f64 {
        self.v_v
    }

    /// Whether the output is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Joules so far.
    #[must_use]
    pub fn sums(&self) -> &SupplySums {
        &self.sums
    }

    /// Energy in the store.
    #[must_use]
    pub fn stored_j(&self) -> f64 {
        self.storage.energy_j(self.v_v)
    }

    /// Energy in the store now less that at the beginning.
    #[must_use]
    pub fn stored_delta_j(&self) -> f64 {
        self.stored_j() - self.storage.energy_j(self.v_begin_v)
    }

    /// In - out - lost - change of the store, over the larger of in and out.
    #[must_use]
    pub fn balance_rel(&self) -> f64 {
        let s = &self.sums;
        let rest = s.panel_j - s.out_j() - s.lost_j() - self.stored_delta_j();
        let scale = s.panel_j.max(s.out_j() + s.lost_j());
        if scale == 0.0 { 0.0 } else { rest.abs() / scale }
    }

    /// Switches the output on; its overhead leaves the store at once.
    pub fn switch_on(&mut self) {
        let spent = self.config.start_overhead_j.min(self.stored_j());
        self.v_v = self.storage.voltage_v(self.stored_j() - spent);
        self.sums.overhead_j += spent;
        self.on = true;
    }

    /// Switches the output off.
    pub fn switch_off(&mut self) {
        self.on = false;
    }

    fn charge_w(&self, panel_w: f64) -> f64 {
        if panel_w < self.config.panel_min_w {
            0.0
        } else {
            panel_w * self.config.charge_efficiency
        }
    }

    /// Power that a load, and the harvester for it, takes from the store.
    #[must_use]
    pub fn drawn_w(&self, load: Load) -> f64 {
        if self.on {
            load.vcc_w / self.config.output_efficiency + load.store_w + self.config.quiescent_on_w
        } else {
            load.store_w
        }
    }

    /// The store with all that drains it by its voltage, and the harvester's share of that drain.
    fn drained(&self) -> (Storage, f64) {
        if self.on {
            return (self.storage, 0.0);
        }
        let own_s = self.config.quiescent_off_w / (self.config.v_on_v * self.config.v_on_v);
        let all_s = own_s + 1.0 / self.storage.leak_ohm;
        (Storage { leak_ohm: 1.0 / all_s, ..self.storage }, own_s / all_s)
    }

    /// Lets the store flow and books what it lost.
    fn flow(&mut self, net_w: f64, dt_s: f64, stop: impl Fn(f64) -> bool) -> f64 {
        let (store, own_share) = self.drained();
        let (t, flow) = store.flow(self.v_v, net_w, dt_s, stop);
        self.v_v = flow.v_v;
        self.sums.leak_j += flow.leak_j * (1.0 - own_share);
        self.sums.quiescent_j += flow.leak_j * own_share;
        self.sums.esr_j += flow.esr_j;
        t
    }

    /// Voltage at the store's terminal under a load.
    #[must_use]
    pub fn terminal_v(&self, load: Load, panel_w: f64) -> f64 {
        self.storage.terminal_v(self.v_v, self.charge_w(panel_w) - self.drawn_w(load))
    }

    /// Energy between the present voltage and the one at which this load meets the cut-off; negative if below.
    #[must_use]
    pub fn above_cut_j(&self, load: Load, panel_w: f64) -> f64 {
        let net = self.charge_w(panel_w) - self.drawn_w(load);
        self.stored_j() - self.storage.energy_j(self.storage.inner_v(self.config.v_cut_v, net))
    }

    /// A time for which the energy above the cut-off surely covers this load: a lower bound, infinite
    /// if the light alone covers it.
    #[must_use]
    pub fn sure_time_s(&self, load: Load, panel_w: f64) -> f64 {
        let net = self.charge_w(panel_w) - self.drawn_w(load);
        let i_max = net.abs() / self.config.v_cut_v;
        let v_top = self.v_v.max(self.config.v_cut_v);
        let drain =
            -net + self.storage.esr_ohm * i_max * i_max + v_top * v_top / self.storage.leak_ohm;
        let above = self.above_cut_j(load, panel_w);
        match (above > 0.0, drain > 0.0) {
            (false, _) => 0.0,
            (true, false) => f64::INFINITY,
            (true, true) => above / drain,
        }
    }

    /// Lets `dt_s` go by under a constant load and light, or less if a boundary comes first.
    pub fn advance(&mut self, dt_s: f64, load: Load, panel_w: f64) -> Advance {
        let (charge, drawn) = (self.charge_w(panel_w), self.drawn_w(load));
        let net = charge - drawn;
        let mut gone = 0.0;
        let cut_inner = self.storage.inner_v(self.config.v_cut_v, net);
        let (v_max, v_on) = (self.config.v_max_v, self.config.v_on_v);
        loop {
            let boundary = if self.on {
                (self.v_v <= cut_inner).then_some(Boundary::Cut)
            } else {
                (self.v_v >= v_on).then_some(Boundary::Restart)
            };
            let left = dt_s - gone;
            if boundary.is_some() || left <= 0.0 {
                return Advance { elapsed_s: gone, boundary };
            }
            // Full: the charger gives what leakage and load take, the rest of the light is curtailed.
            let hold_a = v_max / self.storage.leak_ohm;
            let hold_w = v_max * hold_a + self.storage.esr_ohm * hold_a * hold_a;
            if self.v_v >= v_max && net >= hold_w {
                self.sums.leak_j += v_max * hold_a * left;
                self.sums.esr_j += self.storage.esr_ohm * hold_a * hold_a * left;
                // What is not needed is given up at the panel, in front of the charger.
                let spare = ((net - hold_w) / self.config.charge_efficiency).min(panel_w);
                self.sums.curtailed_j += spare * left;
                self.book(left, load, panel_w, spare);
                return Advance { elapsed_s: dt_s, boundary: None };
            }
            let on = self.on;
            let below = self.v_v < v_max;
            let t = self.flow(net, left, |v| {
                (below && v >= v_max) || if on { v <= cut_inner } else { v >= v_on }
            });
            if below && self.v_v >= v_max {
                // The crossing overshoots by less than a bit of time: what that holds is booked as leakage.
                self.sums.leak_j += self.storage.energy_j(self.v_v) - self.storage.energy_j(v_max);
                self.v_v = v_max;
            }
            self.book(t, load, panel_w, 0.0);
            gone += t;
            if self.on && self.v_v <= cut_inner {
                return Advance { elapsed_s: gone, boundary: Some(Boundary::Cut) };
            }
        }
    }

    /// Lets `dt_s` go by although the terminal is at the cut-off: an instruction that has begun ends.
    pub fn finish_beyond_cut(&mut self, dt_s: f64, load: Load, panel_w: f64) {
        let net = self.charge_w(panel_w) - self.drawn_w(load);
        let t = self.flow(net, dt_s, |_| false);
        self.book(t, load, panel_w, 0.0);
    }

    /// Books `dt_s` of light and load; `spare_w` of the light is curtailed elsewhere.
    fn book(&mut self, dt_s: f64, load: Load, panel_w: f64, spare_w: f64) {
        let (s, c) = (&mut self.sums, &self.config);
        s.panel_j += panel_w * dt_s;
        if panel_w < c.panel_min_w {
            s.unused_j += panel_w * dt_s;
        } else {
            s.charger_j += (panel_w - spare_w) * (1.0 - c.charge_efficiency) * dt_s;
        }
        s.store_load_j += load.store_w * dt_s;
        if self.on {
            s.load_j += load.vcc_w * dt_s;
            s.converter_j += load.vcc_w * (1.0 / c.output_efficiency - 1.0) * dt_s;
            s.quiescent_j += c.quiescent_on_w * dt_s;
        }
    }
}

impl SupplyConfig {
    /// Checks every figure.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn check(&self) -> Result<(), SupplyError> {
        let bad = |key, value, must: &str| Err(SupplyError { key, value, must: must.to_owned() });
        let positive = [
            ("capacitance_f", self.capacitance_f),
            ("esr_ohm", self.esr_ohm),
            ("leak_ohm", self.leak_ohm),
            ("v_max_v", self.v_max_v),
            ("v_on_v", self.v_on_v),
            ("v_cut_v", self.v_cut_v),
            ("vcc_v", self.vcc_v),
        ];
        for (key, value) in positive {
            if !value.is_finite() || value <= 0.0 {
                return bad(key, value, "it must be a number above zero");
            }
        }
        for (key, value) in [
            ("panel_min_w", self.panel_min_w),
            ("quiescent_on_w", self.quiescent_on_w),
            ("quiescent_off_w", self.quiescent_off_w),
            ("start_overhead_j", self.start_overhead_j),
        ] {
            if !value.is_finite() || value < 0.0 {
                return bad(key, value, "it must be a number, zero or more");
            }
        }
        for (key, value) in [
            ("charge_efficiency", self.charge_efficiency),
            ("output_efficiency", self.output_efficiency),
        ] {
            if !(value > 0.0 && value <= 1.0) {
                return bad(key, value, "it is a share above 0 and up to 1");
            }
        }
        // The steps of the integration follow the leakage; a store that is empty at once is none.
        if self.leak_ohm * self.capacitance_f < 1e-3 {
            return bad(
                "leak_ohm",
                self.leak_ohm,
                "with that the store leaks empty within milliseconds; take a larger resistance, as a leaking \
                 capacitor's is megohms",
            );
        }
        if self.v_on_v > self.v_max_v {
            let must =
                format!("the restart voltage must not lie above v_max_v = {} V", self.v_max_v);
            return bad("v_on_v", self.v_on_v, &must);
        }
        let after = self.v_on_v * self.v_on_v - 2.0 * self.start_overhead_j / self.capacitance_f;
        if after <= self.v_cut_v * self.v_cut_v {
            let need = (self.v_cut_v * self.v_cut_v
                + 2.0 * self.start_overhead_j / self.capacitance_f)
                .sqrt();
            let must = format!(
                "after the start overhead of {} J the store would stand at or below the cut-off of {} V; \
                 take a restart voltage above {need:.3} V or a larger capacitor",
                self.start_overhead_j, self.v_cut_v
            );
            return bad("v_on_v", self.v_on_v, &must);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config() -> SupplyConfig {
        SupplyConfig {
            capacitance_f: 0.5,
            esr_ohm: 0.08,
            leak_ohm: 2.75e6,
            v_max_v: 5.0,
            v_on_v: 2.6,
            v_cut_v: 1.9,
            vcc_v: 2.8,
            charge_efficiency: 0.8,
            panel_min_w: 5e-6,
            output_efficiency: 0.85,
            quiescent_on_w: 5e-6,
            quiescent_off_w: 1e-6,
            start_overhead_j: 0.125,
        }
    }

    #[test]
    fn it_charges_switches_on_runs_down_and_cuts_off() {
        let mut s = Supply::new(config(), 1.0).unwrap();
        let a = s.advance(1e6, Load::default(), 0.01);
        assert_eq!(a.boundary, Some(Boundary::Restart));
        // (2.6^2 - 1) * 0.25 J at 8 mW less a little.
        assert!((a.elapsed_s - 180.0).abs() < 0.5, "{}", a.elapsed_s);
        assert!(s.v_v() >= 2.6 && s.v_v() < 2.6 + 1e-9);
        s.switch_on();
        assert!((s.v_v() - (2.6f64 * 2.6 - 0.5).sqrt()).abs() < 1e-6);
        let load = Load { vcc_w: 0.02, store_w: 0.0 };
        let sure = s.sure_time_s(load, 0.0);
        let a = s.advance(1e6, load, 0.0);
        assert_eq!(a.boundary, Some(Boundary::Cut));
        assert!(sure <= a.elapsed_s && sure > 0.95 * a.elapsed_s, "{sure} {}", a.elapsed_s);
        assert!((s.terminal_v(load, 0.0) - 1.9).abs() < 1e-9);
        assert!(s.balance_rel() < 1e-9, "{}", s.balance_rel());
    }

    #[test]
    fn a_full_store_curtails_and_the_balance_still_closes() {
        let mut s = Supply::new(config(), 4.9).unwrap();
        s.switch_on();
        let a = s.advance(5000.0, Load { vcc_w: 1e-3, store_w: 1e-5 }, 0.05);
        assert_eq!(a, Advance { elapsed_s: 5000.0, boundary: None });
        assert_eq!(s.v_v(), 5.0);
        assert!(s.sums().curtailed_j > 0.8 * s.sums().panel_j);
        assert!(s.balance_rel() < 1e-9, "{}", s.balance_rel());
    }

    #[test]
    fn an_empty_store_in_the_dark_stays_empty() {
        let mut s = Supply::new(config(), 2.0).unwrap();
        let a = s.advance(1e8, Load::default(), 0.0);
        assert_eq!(a, Advance { elapsed_s: 1e8, boundary: None });
        assert!(s.v_v() >= 0.0 && s.v_v() < 1e-3, "{}", s.v_v());
        assert!(s.balance_rel() < 1e-9, "{}", s.balance_rel());
        // 1 uW at 2.6 V beside 2.75 megohm: what drains is shared as their conductances are.
        let share = (1e-6 / 6.76) / (1e-6 / 6.76 + 1.0 / 2.75e6);
        assert!(
            (s.sums().quiescent_j / (s.sums().quiescent_j + s.sums().leak_j) - share).abs() < 1e-12
        );
    }

    #[test]
    fn a_load_that_the_resistance_does_not_let_through_is_a_cut() {
        // 75 ohm carry v^2 / (4 r): 67.5 mW at 4.5 V, and the terminal is still above the cut-off there.
        let c = SupplyConfig { esr_ohm: 75.0, ..config() };
        let mut s = Supply::new(c, 4.7).unwrap();
        s.switch_on();
        let load = Load { vcc_w: 0.07 * 0.85, store_w: 0.0 };
        let a = s.advance(1e3, load, 0.0);
        assert_eq!(a.boundary, Some(Boundary::Cut));
        assert!((s.v_v() - 2.0 * (75.0f64 * (0.07 + 5e-6)).sqrt()).abs() < 1e-6, "{}", s.v_v());
        assert!(s.balance_rel() < 1e-6, "{}", s.balance_rel());
    }

    #[test]
    fn bad_figures_are_named() {
        let text = |c: SupplyConfig| Supply::new(c, 1.0).unwrap_err().to_string();
        assert!(
            text(SupplyConfig { capacitance_f: -0.5, ..config() })
                .contains("capacitance_f is -0.5")
        );
        assert!(text(SupplyConfig { charge_efficiency: 1.2, ..config() }).contains("up to 1"));
        assert!(text(SupplyConfig { leak_ohm: 1e-9, ..config() }).contains("leaks empty within"));
        assert!(text(SupplyConfig { v_on_v: 5.5, ..config() }).contains("v_max_v = 5 V"));
        let small = text(SupplyConfig { capacitance_f: 0.05, ..config() });
        assert!(small.contains("above 2.934 V or a larger capacitor"), "{small}");
        assert!(Supply::new(config(), 6.0).unwrap_err().to_string().contains("between 0 and 5 V"));
    }

    proptest! {
        #[test]
        fn energy_is_conserved_whatever_happens(
            v in 0.5f64..5.0,
            steps in prop::collection::vec((1e-6f64..3000.0, 0.0f64..0.03, 0.0f64..1e-4, 0.0f64..0.06), 1..40),
        ) {
            let mut s = Supply::new(config(), v).unwrap();
            let mut scale = s.stored_j();
            for (dt, vcc_w, store_w, panel_w) in steps {
                let mut left = dt;
                while left > 0.0 {
                    let a = s.advance(left, Load { vcc_w, store_w }, panel_w);
                    left -= a.elapsed_s;
                    match a.boundary {
                        Some(Boundary::Restart) => s.switch_on(),
                        Some(Boundary::Cut) => s.switch_off(),
                        None => break,
                    }
                }
                scale += panel_w * dt;
            }
            let sums = *s.sums();
            let rest = sums.panel_j - sums.out_j() - sums.lost_j() - s.stored_delta_j();
            prop_assert!(rest.abs() < 1e-9 * scale, "{rest} of {scale}");
            prop_assert!(s.v_v() <= 5.0);
        }

        #[test]
        fn the_sure_time_is_sure(v in 2.0f64..5.0, vcc_w in 1e-6f64..0.06, panel_w in 0.0f64..0.05, esr_ohm in 0.01f64..20.0) {
            let c = SupplyConfig { esr_ohm, start_overhead_j: 0.0, ..config() };
            let mut s = Supply::new(c, v).unwrap();
            s.switch_on();
            let load = Load { vcc_w, store_w: 0.0 };
            let sure = s.sure_time_s(load, panel_w).min(1e6);
            let a = s.advance(sure * (1.0 - 1e-9), load, panel_w);
            prop_assert!(a.boundary.is_none() || sure == 0.0, "{a:?} of {sure}");
        }
    }
}
