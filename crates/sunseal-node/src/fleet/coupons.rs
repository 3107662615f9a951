// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coupons of a node from a profile: a part of a task that is done ahead, from surplus, and kept without supply.
//!
//! The policy is the node program's (`firmware/node/main.c`, `refill`): behind each task, and every so often after,
//! the node looks at its store and makes one if there is a surplus.

use serde::{Deserialize, Serialize};
use sunseal_power::{Boundary, Load, Supply};

use crate::coupons::SURPLUS;

use super::{FleetError, NodeProfile, Play, Task};

/// Something that the node does in one go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Energy at the regulated output, all that flows while it runs.
    pub energy_j: f64,
    /// Time for which it runs.
    pub time_s: f64,
    /// Energy that the store must hold above the cut-off before the node begins it.
    pub gate_j: f64,
}

impl Work {
    pub(super) fn load(&self) -> Load {
        Load { vcc_w: self.energy_j / self.time_s, store_w: 0.0 }
    }

    fn check(&self, name: &str) -> Result<(), FleetError> {
        let above_zero = |v: f64| v.is_finite() && v > 0.0;
        let bad = |key, value, must| Err(FleetError { key: format!("{name}.{key}"), value, must });
        if !above_zero(self.energy_j) {
            return bad("energy_j", self.energy_j, "it must be a number above zero");
        }
        if !above_zero(self.time_s) {
            return bad("time_s", self.time_s, "it must be a number above zero");
        }
        if !(self.gate_j.is_finite() && self.gate_j >= 0.0) {
            return bad("gate_j", self.gate_j, "it must be a number, zero or more");
        }
        Ok(())
    }
}

impl From<&Task> for Work {
    fn from(t: &Task) -> Self {
        Self { energy_j: t.energy_j, time_s: t.time_s, gate_j: t.gate_j }
    }
}

/// Conditions under which coupons are made, and the cost of them and of their store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouponProfile {
    /// Index of the task that they are a part of.
    pub task: usize,
    /// Number that is kept at most; 0: none is ever made.
    pub slots: u64,
    /// Number of coupons at the beginning.
    #[serde(default)]
    pub ready: u64,
    /// A surplus is what the store, at rest, holds at this voltage, or more; as in `[node.coupons]` if absent.
    #[serde(default)]
    pub refill_above_v: Option<f64>,
    /// From one look for a surplus to the next; the end of the task is one as well.
    pub every_s: f64,
    /// Making one and writing its slot.
    pub make: Work,
    /// The task from a coupon: claim, check and wipe included.
    pub from_coupon: Work,
}

impl CouponProfile {
    pub(super) fn check(&self, profile: &NodeProfile) -> Result<(), FleetError> {
        let bad =
            |key: &str, value, must| Err(FleetError { key: format!("coupons.{key}"), value, must });
        let Some(task) = profile.tasks.get(self.task) else {
            return bad("task", self.task as f64, "it must be the index of a task");
        };
        if self.ready > self.slots {
            return bad("ready", self.ready as f64, "there are fewer slots");
        }
        if !(self.every_s.is_finite() && self.every_s > 0.0) {
            return bad("every_s", self.every_s, "it must be a number above zero");
        }
        self.make.check("coupons.make")?;
        self.from_coupon.check("coupons.from_coupon")?;
        if self.from_coupon.time_s >= task.period_s {
            return bad(
                "from_coupon.time_s",
                self.from_coupon.time_s,
                "the task falls due more often",
            );
        }
        Ok(())
    }
}

/// Books of coupons: `ready + produced = used + discarded + in_store_end`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CouponFate {
    /// Coupons whose making ended and that were put into the store.
    pub produced: u64,
    /// Tasks done from one.
    pub used: u64,
    /// Claimed when the supply went.
    pub discarded: u64,
    /// Begun and not kept, for the supply went.
    pub interrupted: u64,
    /// Left at the end.
    pub in_store_end: u64,
    /// From where on the energy store had a surplus.
    pub refill_above_v: f64,
}

/// The store of coupons of a node at work.
pub(super) struct Pool {
    plan: CouponProfile,
    /// Energy that the store must hold above the cut-off before one is made.
    gate_j: f64,
    ready: u64,
    /// Time at which the node looks for a surplus next.
    look_s: f64,
    fate: CouponFate,
}

impl Pool {
    pub(super) fn new(plan: &CouponProfile, supply: &Supply) -> Result<Self, FleetError> {
        let config = supply.config();
        let above_v = plan.refill_above_v.unwrap_or(SURPLUS * config.v_max_v);
        let bad = |must| FleetError { key: "coupons.refill_above_v".into(), value: above_v, must };
        if above_v > config.v_max_v {
            return Err(bad("charging stops below, so there would never be a surplus"));
        }
        let at_v = Supply::new(config.clone(), above_v)
            .map_err(|_| bad("it must be a voltage that the store can have"))?;
        let surplus_j = at_v.above_cut_j(Load::default(), 0.0);
        let gate_j = plan.make.gate_j.max(surplus_j);
        let fate = CouponFate { refill_above_v: above_v, ..CouponFate::default() };
        Ok(Self { plan: plan.clone(), gate_j, ready: plan.ready, look_s: 0.0, fate })
    }

    fn refills(&self) -> bool {
        self.ready < self.plan.slots
    }

    pub(super) fn closed(self) -> CouponFate {
        CouponFate { in_store_end: self.ready, ..self.fate }
    }

    /// From the beginning of one coupon to that of the next.
    fn turn_s(&self) -> f64 {
        self.plan.every_s + self.plan.make.time_s
    }
}

/// Surplus of a stretch of one jump: from its beginning to its end, or none.
#[derive(Clone, Copy)]
pub(super) struct Surplus(bool);

impl Play<'_> {
    /// A task as it would be done now: from a coupon if there is one.
    pub(super) fn work(&self, task: usize) -> Work {
        match &self.pool {
            Some(p) if p.plan.task == task && p.ready > 0 => p.plan.from_coupon,
            _ => Work::from(&self.profile.tasks[task]),
        }
    }

    /// Takes a coupon for a task that begins; false if it has none.
    pub(super) fn claim(&mut self, task: usize) -> bool {
        match &mut self.pool {
            Some(p) if p.plan.task == task && p.ready > 0 => {
                p.ready -= 1;
                true
            }
            _ => false,
        }
    }

    /// A task has ended, or the supply has gone in it.
    pub(super) fn claimed(&mut self, task: usize, from_coupon: bool, done: bool) {
        let t_s = self.t_s;
        let Some(p) = self.pool.as_mut().filter(|p| p.plan.task == task) else { return };
        p.look_s = t_s;
        if from_coupon {
            *(if done { &mut p.fate.used } else { &mut p.fate.discarded }) += 1;
        }
    }

    fn has_surplus(&self, pool: &Pool, power_w: f64) -> bool {
        self.supply.above_cut_j(self.sleep(), power_w) >= pool.gate_j
    }

    /// Makes one if it is time to look and there is a surplus.
    pub(super) fn make(&mut self) -> bool {
        let (power_w, _) = self.light();
        let Some(p) = &self.pool else { return false };
        if !p.refills() || self.t_s < p.look_s || !self.has_surplus(p, power_w) {
            return false;
        }
        let work = p.plan.make;
        let end_s = self.t_s + work.time_s;
        let cut = self.flow(end_s, work.load()) == Some(Boundary::Cut);
        let (t_s, whole) = (self.t_s, !cut && self.t_s >= end_s);
        if let Some(p) = &mut self.pool {
            p.look_s = t_s + p.plan.every_s;
            if whole {
                p.fate.produced += 1;
                p.ready += 1;
            } else {
                p.fate.interrupted += 1;
            }
        }
        if cut {
            self.cut();
        }
        true
    }

    /// Time at which a look may next find a surplus; looks that surely find too little are not taken.
    pub(super) fn next_make_s(&self) -> f64 {
        let Some(p) = self.pool.as_ref().filter(|p| p.refills()) else { return f64::INFINITY };
        let (power_w, light_s) = self.light();
        let every_s = p.plan.every_s;
        let looks =
            |until_s: f64| p.look_s + ((until_s - p.look_s) / every_s).ceil().max(0.0) * every_s;
        let next_s = if p.look_s > self.t_s { p.look_s } else { looks(self.t_s + 1e-6) };
        let lacking_j = p.gate_j - self.supply.above_cut_j(self.sleep(), power_w);
        if lacking_j <= 0.0 {
            return next_s;
        }
        // All the light, without a loss, and no load; at a change of the light the question is asked again.
        let soonest_s = self.t_s + lacking_j / power_w.max(1e-30);
        next_s.max(looks(soonest_s.min(light_s)))
    }

    /// Up to when all tasks of a stretch can be done alike, from coupons or whole; none if they cannot.
    pub(super) fn alike_until(&self, end_s: f64, power_w: f64) -> Option<(Surplus, f64)> {
        let Some(p) = self.pool.as_ref().filter(|p| p.plan.slots > 0) else {
            return Some((Surplus(false), end_s));
        };
        let rich = self.has_surplus(p, power_w);
        let (task, period_s) = (p.plan.task, self.profile.tasks[p.plan.task].period_s);
        let end_s = match (rich, p.ready) {
            // One is made first.
            (true, 0) => return None,
            (true, n) if n < p.plan.slots && period_s > p.turn_s() => {
                let net_hz = 1.0 / p.turn_s() - 1.0 / period_s;
                end_s.min(self.t_s + (p.plan.slots - n) as f64 / net_hz)
            }
            (false, n) if n > 0 => end_s.min(self.due_at_s(task, self.due[task] + n)),
            _ => end_s,
        };
        Some((Surplus(rich), end_s))
    }

    /// Number of coupons that are made in a stretch in which the task is done so many times.
    pub(super) fn made_in(&self, surplus: Surplus, span_s: f64, done: &[u64]) -> u64 {
        match self.pool.as_ref().filter(|_| surplus.0) {
            Some(p) => {
                let used = done[p.plan.task];
                // Each task's end is a look, and finds a surplus.
                let most = ((span_s / p.turn_s()) as u64).max(used);
                most.min(p.plan.slots - p.ready + used)
            }
            None => 0,
        }
    }

    /// Work of making them, and the energy that the store must hold meanwhile.
    pub(super) fn making(&self, surplus: Surplus) -> Option<(Work, f64)> {
        self.pool.as_ref().filter(|_| surplus.0).map(|p| (p.plan.make, p.gate_j))
    }

    /// After a jump: whether it held what it began with; then the books are written.
    pub(super) fn settle(
        &mut self,
        surplus: Surplus,
        power_w: f64,
        made: u64,
        done: &[u64],
    ) -> bool {
        let Some(p) = &self.pool else { return true };
        let asked = done[p.plan.task];
        let used = if p.ready > 0 { asked } else { 0 };
        if !surplus.0 && p.ready - used < p.plan.slots && self.has_surplus(p, power_w) {
            return false;
        }
        let t_s = self.t_s;
        if let Some(p) = &mut self.pool {
            p.ready = p.ready + made - used;
            p.fate.produced += made;
            p.fate.used += used;
            if asked > 0 || made > 0 {
                p.look_s = t_s;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{alone, begun, config, days, near_v};
    use super::super::{DAY_S, Fate, play_with};
    use super::*;
    use proptest::prelude::*;
    use sunseal_power::{Store, SupplyConfig};

    const SIGN_J: f64 = 2e-3;
    const MAKE_J: f64 = 2.2e-3;
    const USE_J: f64 = 1e-5;
    const SLEEP_W: f64 = 2e-5;

    fn signer(period_s: f64, slots: u64) -> NodeProfile {
        let work = |energy_j: f64, time_s: f64| Work { energy_j, time_s, gate_j: 2.0 * energy_j };
        let sign = Task {
            name: "sign".into(),
            period_s,
            energy_j: SIGN_J,
            time_s: 0.2,
            gate_j: 2.0 * SIGN_J,
            deadline_s: Some(10.0),
        };
        let coupons = CouponProfile {
            task: 0,
            slots,
            ready: 0,
            refill_above_v: None,
            every_s: 10.0,
            make: work(MAKE_J, 0.22),
            from_coupon: work(USE_J, 0.002),
        };
        NodeProfile {
            sleep_w: SLEEP_W,
            start_j: 3e-3,
            start_s: 0.5,
            poll_s: 30.0,
            tasks: vec![sign],
            coupons: Some(coupons),
        }
    }

    fn store(capacitance_f: f64) -> SupplyConfig {
        SupplyConfig {
            store: Store::capacitor(capacitance_f, 0.08, 2.75e6),
            start_overhead_j: 1e-4,
            ..config()
        }
    }

    fn told(fate: &Fate) -> &CouponFate {
        fate.coupons.as_ref().unwrap()
    }

    /// Coupons and joules, each counted once.
    fn closes(fate: &Fate, profile: &NodeProfile) {
        let c = told(fate);
        assert_eq!(c.produced, c.used + c.discarded + c.in_store_end, "{c:?}");
        let t = fate.tasks[0];
        assert!(t.in_time <= t.done && t.done + t.lost <= t.due && c.used <= t.done, "{t:?} {c:?}");
        assert!(fate.balance_rel < 1e-6, "{}", fate.balance_rel);
        if c.interrupted + t.lost + fate.brown_outs == 0 {
            let whole_j = (t.done - c.used) as f64 * SIGN_J;
            let worked_j = whole_j + c.used as f64 * USE_J + c.produced as f64 * MAKE_J;
            let on_s = fate.days as f64 * DAY_S - fate.off_s;
            let spent_j = worked_j + profile.sleep_w * on_s + fate.starts as f64 * profile.start_j;
            // A node that never starts takes nothing.
            let load_j = fate.sums.load_j;
            assert!((load_j - spent_j).abs() <= 5e-3 * spent_j, "{load_j} {spent_j}");
        }
    }

    #[test]
    fn surplus_is_kept_as_coupons_and_carries_the_node_through_the_night() {
        let play = |slots| {
            let profile = signer(60.0, slots);
            let fate = super::super::play(
                begun(store(0.05), 3.0),
                &profile,
                &days(2e-3),
                alone(),
                10.0 * DAY_S,
            )
            .unwrap();
            closes(&fate, &profile);
            fate
        };
        let (with, without) = (play(800), play(0));
        assert_eq!((told(&without).produced, told(&without).refill_above_v), (0, 4.75));
        assert!(with.tasks[0].in_time > without.tasks[0].in_time + 1000, "{with:?} {without:?}");
        assert!(with.sums.curtailed_j < without.sums.curtailed_j);
    }

    #[test]
    fn without_a_surplus_none_is_made() {
        let dim = sunseal_power::HarvestTrace::constant(5e-5, DAY_S).unwrap();
        let fate = super::super::play(
            begun(store(0.05), 3.0),
            &signer(60.0, 24),
            &dim,
            alone(),
            10.0 * DAY_S,
        )
        .unwrap();
        assert_eq!((told(&fate).produced, told(&fate).used), (0, 0));
    }

    #[test]
    fn coupons_that_cannot_be_are_named() {
        let light = days(1e-3);
        let refused = |change: fn(&mut CouponProfile)| {
            let mut profile = signer(60.0, 4);
            change(profile.coupons.as_mut().unwrap());
            super::super::play(begun(store(0.05), 3.0), &profile, &light, alone(), DAY_S)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(|c| c.task = 1),
            "fleet: coupons.task is 1; it must be the index of a task"
        );
        assert_eq!(refused(|c| c.ready = 5), "fleet: coupons.ready is 5; there are fewer slots");
        assert_eq!(
            refused(|c| c.every_s = 0.0),
            "fleet: coupons.every_s is 0; it must be a number above zero"
        );
        assert_eq!(
            refused(|c| c.make.time_s = 0.0),
            "fleet: coupons.make.time_s is 0; it must be a number above zero"
        );
        assert!(refused(|c| c.from_coupon.time_s = 60.0).contains("the task falls due more often"));
        assert!(refused(|c| c.refill_above_v = Some(9.0)).contains("never be a surplus"));
        assert!(
            refused(|c| c.refill_above_v = Some(-1.0))
                .contains("a voltage that the store can have")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn jumps_do_what_single_steps_do(
            peak_w in 0.0f64..4e-3, v in 2.0f64..5.0, period_s in 20.0f64..2000.0, slots in 0u64..200,
            capacitance_f in 0.02f64..1.0,
        ) {
            let profile = signer(period_s, slots);
            let [fast, slow] = [true, false].map(|spreads| {
                let fate = play_with(begun(store(capacitance_f), v), &profile, &days(peak_w), alone(), 3.0 * DAY_S, spreads)
                    .unwrap();
                closes(&fate, &profile);
                fate
            });
            let (f, s) = (fast.tasks[0], slow.tasks[0]);
            prop_assert_eq!(f.due, s.due);
            // Which of two is the last before a threshold may change, at each dusk and dawn.
            let apart = 6 + s.done / 500;
            prop_assert!(f.done.abs_diff(s.done) <= apart, "{:?} {:?}", fast, slow);
            prop_assert!(told(&fast).produced.abs_diff(told(&slow).produced) <= apart, "{:?} {:?}", fast, slow);
            prop_assert!((fast.v_end_v - slow.v_end_v).abs() < near_v(&slow, 5.0, capacitance_f) + 0.02, "{:?} {:?}", fast, slow);
        }

        #[test]
        fn a_coupon_more_in_store_never_answers_less_in_the_dark(ready in 0u64..100, v in 2.7f64..5.0) {
            let dark = sunseal_power::HarvestTrace::constant(0.0, DAY_S).unwrap();
            let [less, more] = [ready, ready + 1].map(|n| {
                let mut profile = signer(300.0, 101);
                profile.coupons.as_mut().unwrap().ready = n;
                super::super::play(begun(store(0.05), v), &profile, &dark, alone(), DAY_S).unwrap()
            });
            prop_assert!(more.tasks[0].done >= less.tasks[0].done, "{:?} {:?}", less, more);
        }
    }
}
