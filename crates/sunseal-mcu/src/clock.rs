// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clock lines: ticks against machine time, without accumulated rounding.

use serde::{Deserialize, Serialize};
use sunseal_trace::Picos;

/// One step of SplitMix64: a hash good enough for jitter and start-up patterns.
#[must_use]
pub(crate) fn splitmix64(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

const PS_PER_S: u64 = 1_000_000_000_000;
/// Up to here less than a second's periods, in picoseconds, fit 64 bits.
const NARROW_HZ: u64 = u64::MAX / PS_PER_S - 1;

/// Seeded noise on the edges of an oscillator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Jitter {
    pub seed: u64,
    /// Standard deviation of an edge in picoseconds.
    pub sigma_ps: u64,
}

impl Jitter {
    /// Displacement of edge `k` of a source that began at `begun_ps`: the sum of four uniform variables, which stays
    /// within 3.5 sigma. A source that begins anew is another draw, or each start would bring the same noise.
    fn of_edge(self, begun_ps: u128, k: u64) -> i64 {
        let source = self.seed ^ (begun_ps as u64).wrapping_mul(0x9E6D_62D0_6F6A_9A9B);
        let h = splitmix64(source ^ k.wrapping_mul(0xD134_2543_DE82_EF95));
        let sum: i64 = (0..4).map(|i| ((h >> (16 * i)) & 0xFFFF) as i64 - 0x8000).sum();
        // Variance of one term is 2^32/12, of the sum 2^32/3: sigma = 2^16/sqrt(3) = 37837.
        match i64::try_from(self.sigma_ps).ok().and_then(|sigma| sum.checked_mul(sigma)) {
            Some(product) => product / 37_837,
            None => (i128::from(sum) * i128::from(self.sigma_ps) / 37_837) as i64,
        }
    }
}

/// A source in hertz, its divider, and its noise.
pub(crate) type Rate = (u32, u32, Option<Jitter>);

/// A line at rest.
pub(crate) const STILL: Rate = (0, 1, None);

/// A clock line: a source at `hz`, divided by `div`; 0 Hz is a line at rest. Its ticks are edges of the source, counted
/// from the moment at which that began: lines of one source that share this moment tick together to the picosecond,
/// wherever each begins, as rounding is done once, from the count of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Time of the source's edge 0.
    anchor_ps: u128,
    /// The edge that made tick `origin_ticks`, and when that was.
    origin_edge: u64,
    origin_ps: u128,
    origin_ticks: u64,
    hz: u32,
    div: u32,
    /// The source's period where it is a whole number, as of most; else 0.
    period_ps: u64,
    jitter: Option<Jitter>,
}

impl Default for Line {
    fn default() -> Self {
        Self::STOPPED
    }
}

impl Line {
    pub const STOPPED: Self = Self::new(0, 0, 0, 1, None);

    const fn new(
        anchor_ps: u128,
        origin_ticks: u64,
        hz: u32,
        div: u32,
        jitter: Option<Jitter>,
    ) -> Self {
        let period_ps =
            if hz != 0 && PS_PER_S.is_multiple_of(hz as u64) { PS_PER_S / hz as u64 } else { 0 };
        Self {
            anchor_ps,
            origin_edge: 0,
            origin_ps: anchor_ps,
            origin_ticks,
            hz,
            div,
            period_ps,
            jitter,
        }
    }

    /// The line's frequency in hertz, rounded.
    pub fn freq_hz(&self) -> u32 {
        (self.hz + self.div / 2) / self.div
    }

    pub fn is_running(&self) -> bool {
        self.hz != 0
    }

    /// Rate that it was tuned to last.
    pub fn rate(&self) -> Rate {
        (self.hz, self.div, self.jitter)
    }

    /// Time of edge `edge` of the source.
    #[inline]
    fn edge_at(&self, edge: u64) -> u128 {
        let ps = self.anchor_ps + self.span_ps(edge);
        match self.jitter {
            Some(j) => ps.saturating_add_signed(j.of_edge(self.anchor_ps, edge).into()),
            None => ps,
        }
    }

    fn edge_of(&self, tick: u64) -> Option<u64> {
        (tick - self.origin_ticks).checked_mul(self.div.into())?.checked_add(self.origin_edge)
    }

    /// When tick `k` happens; never, if the line is at rest.
    pub fn time_of(&self, k: u64) -> Picos {
        if k <= self.origin_ticks {
            return Picos(self.origin_ps);
        }
        if self.hz == 0 {
            return Picos::MAX;
        }
        self.edge_of(k).map_or(Picos::MAX, |edge| Picos(self.edge_at(edge).max(self.origin_ps)))
    }

    /// Duration of so many periods of the source.
    fn span_ps(&self, periods: u64) -> u128 {
        if self.period_ps != 0 {
            return u128::from(periods) * u128::from(self.period_ps);
        }
        let hz = u64::from(self.hz);
        if hz <= NARROW_HZ {
            // The same as below, whole seconds first: nothing is divided that does not fit 64 bits.
            let by_hz =
                |n: u64| if hz.is_power_of_two() { n >> hz.trailing_zeros() } else { n / hz };
            let seconds = by_hz(periods);
            let rest = periods - seconds * hz;
            return u128::from(seconds) * u128::from(PS_PER_S)
                + u128::from(by_hz(rest * PS_PER_S + hz / 2));
        }
        let wide = u128::from(periods) * u128::from(PS_PER_S);
        let hz = u128::from(hz);
        (wide + hz / 2) / hz
    }

    /// Duration of so many ticks; `None` at rest.
    pub fn lasting(&self, ticks: u64) -> Option<u128> {
        self.is_running().then(|| self.span_ps(ticks.saturating_mul(self.div.into())))
    }

    /// Number of whole periods of the source that fit a time.
    fn periods_in(&self, ps: u128) -> u64 {
        let hz = u64::from(self.hz);
        if let Ok(ps) = u64::try_from(ps) {
            if let Some(periods) = ps.checked_div(self.period_ps) {
                return periods;
            }
            if hz <= NARROW_HZ {
                return ps / PS_PER_S * hz + ps % PS_PER_S * hz / PS_PER_S;
            }
        }
        let (second, hz) = (u128::from(PS_PER_S), u128::from(hz));
        u64::try_from(ps / second * hz + ps % second * hz / second).unwrap_or(u64::MAX)
    }

    /// How many ticks have happened at `t`: the largest `k` with `time_of(k) <= t`.
    pub fn ticks_at(&self, t: Picos) -> u64 {
        if self.hz == 0 || t.0 <= self.origin_ps {
            return self.origin_ticks;
        }
        let ahead =
            self.periods_in(t.0.saturating_sub(self.anchor_ps)).saturating_sub(self.origin_edge);
        let ticks = if self.div == 1 { ahead } else { ahead / u64::from(self.div) };
        let guess = ticks.saturating_add(self.origin_ticks);
        if self.period_ps != 0 && self.jitter.is_none() {
            return guess;
        }
        let mut k = guess.saturating_add(1);
        while k > self.origin_ticks && self.time_of(k) > t {
            k -= 1;
        }
        k
    }

    /// The first tick that is not before `t`.
    pub fn tick_not_before(&self, t: Picos) -> u64 {
        let k = self.ticks_at(t);
        if self.time_of(k) >= t { k } else { k + 1 }
    }

    /// The source's first edge that is not before `t`.
    fn edge_not_before(&self, t: Picos) -> u64 {
        let mut edge = self.periods_in(t.0.saturating_sub(self.anchor_ps)).saturating_add(2);
        while edge > 0 && self.edge_at(edge - 1) >= t.0 {
            edge -= 1;
        }
        edge
    }

    /// From here on tick `ticks` is the one that edge `edge` made.
    fn count_from(&mut self, edge: u64, ticks: u64) {
        (self.origin_edge, self.origin_ticks) = (edge, ticks);
        self.origin_ps = self.edge_at(edge);
    }

    /// True if both come from one source, as far as lines tell.
    pub fn shares(&self, hz: u32, jitter: Option<Jitter>) -> bool {
        self.hz != 0 && (self.hz, self.jitter) == (hz, jitter)
    }

    /// Another frequency from `t` on; the ticks so far are kept. The source is one of `beside`, if that has it.
    fn retune_beside(&mut self, t: Picos, (hz, div, jitter): Rate, beside: Option<&Self>) {
        if (self.hz, self.div, self.jitter) == (hz, div, jitter) {
            return;
        }
        let ticks = self.ticks_at(t);
        // A divider that is changed goes on with edges of the source that it had.
        let source = if self.shares(hz, jitter) { Some(*self) } else { beside.copied() };
        *self = Self::new(t.0, ticks, hz, div, jitter);
        if let Some(source) = source {
            self.anchor_ps = source.anchor_ps;
            self.count_from(source.edge_not_before(t), ticks);
        }
    }

    /// Another frequency from `t` on; the ticks so far are kept.
    pub fn retune(&mut self, t: Picos, hz: u32, div: u32, jitter: Option<Jitter>) {
        self.retune_beside(t, (hz, div, jitter), None);
    }

    /// The same frequency, its source begun anew: tick `ticks` at `t`.
    pub fn restart(&mut self, t: Picos, ticks: u64) {
        *self = Self::new(t.0, ticks, self.hz, self.div, self.jitter);
    }

    /// Stood still and goes on at its first tick behind `t` and `more`, which becomes tick `ticks`; answers when that is.
    pub fn resume(&mut self, t: Picos, more: u64, ticks: u64) -> Picos {
        let tick = self.tick_not_before(t) + more;
        match self.edge_of(tick) {
            Some(edge) if self.hz != 0 => self.count_from(edge, ticks),
            _ => self.restart(t, ticks),
        }
        Picos(self.origin_ps)
    }

    /// Stood still and goes on, as tick `ticks`, at the source's first edge behind `t` and `delay`; answers when that is.
    /// The delay is counted in edges: from an edge on it is the same number always.
    pub fn resume_behind(&mut self, t: Picos, delay: Picos, ticks: u64) -> Picos {
        if self.hz == 0 {
            self.restart(Picos(t.0 + delay.0), ticks);
        } else {
            let edges = (delay.0 * u128::from(self.hz)).div_ceil(u128::from(PS_PER_S));
            self.count_from(self.edge_not_before(t) + edges as u64, ticks);
        }
        Picos(self.origin_ps)
    }

    /// Takes the edges of `other`, if both have one source.
    pub fn join(&mut self, other: &Self) {
        if other.shares(self.hz, self.jitter) {
            let (ticks, t) = (self.origin_ticks, Picos(self.origin_ps));
            self.anchor_ps = other.anchor_ps;
            self.count_from(other.edge_not_before(t), ticks);
        }
    }
}

/// Brings lines to their new rates, those that run: lines of one source count its edges from one moment.
pub(crate) fn retune_together(now: Picos, lines: &mut [(&mut Line, Rate)]) {
    for i in 0..lines.len() {
        let (line, rate) = &lines[i];
        if (line.hz, line.div, line.jitter) == *rate {
            continue;
        }
        let (hz, _, jitter) = *rate;
        let of_source = |(j, l): (usize, &(&mut Line, Rate))| {
            (j != i && l.0.shares(hz, jitter)).then_some(*l.0)
        };
        let beside = lines.iter().enumerate().find_map(of_source);
        let rate = *rate;
        lines[i].0.retune_beside(now, rate, beside.as_ref());
    }
}

/// The lines of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clocks {
    /// CPU clock; its ticks are the CPU's cycles.
    pub mclk: Line,
    pub smclk: Line,
    pub aclk: Line,
    pub vlo: Line,
    pub modosc: Line,
    /// The watch crystal itself, where a block counts it.
    pub lfxt: Line,
}

impl Clocks {
    /// Behind a reset MCLK begins with tick `cycles`, on the edges of SMCLK if both have one source.
    pub fn restart(&mut self, now: Picos, cycles: u64) {
        self.mclk.restart(now, cycles);
        self.mclk.join(&self.smclk);
    }

    /// Brings the lines that the MSP430 families have in common to their new rates. MCLK's ticks are the CPU's cycles:
    /// while the CPU sleeps its line is put right at wake-up.
    pub fn retune(&mut self, now: Picos, cpu_on: bool, mclk: Rate, smclk: Rate, aclk: Rate) {
        let Self { mclk: cpu, smclk: sub, aclk: auxiliary, .. } = self;
        if cpu_on {
            retune_together(now, &mut [(cpu, mclk), (sub, smclk), (auxiliary, aclk)]);
        } else {
            retune_together(now, &mut [(sub, smclk), (auxiliary, aclk)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(hz: u32, div: u32, jitter: Option<Jitter>) -> Line {
        Line::new(12_345, 7, hz, div, jitter)
    }

    proptest! {
        #[test]
        fn narrow_arithmetic_is_the_wide_one(
            ticks in 0u64..1 << 50, ps in prop_oneof![0u128..1 << 62, 0u128..1 << 70],
            hz in prop_oneof![1u32..40_000_000, Just(16_000_000)], div in 1u32..33,
        ) {
            let l = line(hz, div, None);
            let wide = u128::from(ticks) * 1_000_000_000_000;
            let hz = u128::from(hz);
            prop_assert_eq!(l.span_ps(ticks), (wide + hz / 2) / hz);
            prop_assert_eq!(u128::from(l.periods_in(ps)), ps * hz / 1_000_000_000_000);
        }

        #[test]
        fn ticks_at_inverts_time_of(
            k in prop_oneof![8u64..1 << 30, 8u64..1 << 50], hz in prop_oneof![5_000u32..25_000_000, Just(8_000_000)], div in 1u32..32,
            noisy: bool
        ) {
            let jitter = noisy.then_some(Jitter { seed: 9, sigma_ps: 1_000_000_000_000 / u64::from(hz) / 1000 });
            let l = line(hz, div, jitter);
            let t = l.time_of(k);
            prop_assert_eq!(l.ticks_at(t), k);
            prop_assert_eq!(l.ticks_at(Picos(t.0 - 1)), k - 1);
            prop_assert_eq!(l.tick_not_before(t), k);
            prop_assert_eq!(l.tick_not_before(Picos(t.0 + 1)), k + 1);
        }

        /// A CPU that slept and woke for a year, beside a timer of its source: the count of the one is that of the
        /// other, to the cycle, wherever their ticks fall together.
        #[test]
        fn lines_of_one_source_never_drift(
            hz in 5_000u32..25_000_000, noisy: bool, cpu_div in 1u32..9, timer_div in 1u32..9,
            sleeps in proptest::collection::vec((1u64..1 << 40, 0u64..9, 0u128..20_000_000), 1..60),
        ) {
            let jitter = noisy.then_some(Jitter { seed: 3, sigma_ps: 2_500_000_000 / u64::from(hz) });
            let (mut cpu, mut timer) = (Line::STOPPED, Line::STOPPED);
            let began = Picos(77_777);
            retune_together(began, &mut [
                (&mut cpu, (hz, cpu_div, jitter)), (&mut timer, (hz, timer_div, jitter)),
            ]);
            let (mut cycles, mut edges) = (0, 0);
            for (asleep, more, delay) in sleeps {
                let woken = timer.time_of(timer.ticks_at(cpu.time_of(cycles)) + asleep);
                let from = timer.edge_not_before(woken);
                let start = if more & 1 == 0 {
                    cpu.resume(woken, more, cycles)
                } else {
                    cpu.resume_behind(woken, Picos(delay), cycles)
                };
                edges = timer.edge_not_before(start);
                prop_assert_eq!(timer.edge_at(edges), start.0, "the CPU goes on at an edge");
                if more & 1 != 0 {
                    let wanted = (delay * u128::from(hz)).div_ceil(1_000_000_000_000);
                    prop_assert_eq!(u128::from(edges - from), wanted, "the same for every wake-up");
                }
                cycles += 9;
                prop_assert_eq!(cpu.time_of(cycles).0, timer.edge_at(edges + 9 * u64::from(cpu_div)));
            }
            // One that starts beside it has its edges.
            let mut late = Line::STOPPED;
            let t = cpu.time_of(cycles + 5);
            retune_together(t, &mut [(&mut late, (hz, 1, jitter)), (&mut cpu, (hz, cpu_div, jitter))]);
            let due = edges + 14 * u64::from(cpu_div);
            prop_assert_eq!((late.time_of(0).0, late.time_of(6).0), (t.0, timer.edge_at(due + 6)));
        }
    }

    #[test]
    fn a_line_at_rest_keeps_its_ticks() {
        let mut l = line(32_768, 1, None);
        let t = l.time_of(100);
        l.retune(t, 0, 1, None);
        assert_eq!(l.ticks_at(Picos(t.0 + 1_000_000_000_000)), 100);
        assert_eq!(l.time_of(101), Picos::MAX);
        l.retune(Picos(2_000_000_000_000), 10, 1, None);
        assert_eq!(l.time_of(101), Picos(2_100_000_000_000));
    }

    #[test]
    fn jitter_has_the_deviation_it_is_given() {
        let j = Jitter { seed: 1, sigma_ps: 1_000_000 };
        let n = 20_000;
        let var: f64 = (0..n).map(|k| (j.of_edge(0, k) as f64).powi(2)).sum::<f64>() / n as f64;
        assert!((var.sqrt() / 1e6 - 1.0).abs() < 0.02, "{}", var.sqrt());
    }
}
