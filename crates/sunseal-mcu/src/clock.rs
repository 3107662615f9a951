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
    /// Displacement of edge `k`: the sum of four uniform variables, which stays within 3.5 sigma.
    fn of_edge(self, k: u64) -> i64 {
        let h = splitmix64(self.seed ^ k.wrapping_mul(0xD134_2543_DE82_EF95));
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

/// A clock line: a source at `hz`, divided by `div`; 0 Hz is a line at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    origin_ps: u128,
    origin_ticks: u64,
    hz: u32,
    div: u32,
    /// A tick's length where it is a whole number, as of most CPU clocks; else 0.
    whole_ps: u64,
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
        origin_ps: u128,
        origin_ticks: u64,
        hz: u32,
        div: u32,
        jitter: Option<Jitter>,
    ) -> Self {
        let whole_ps = match PS_PER_S.checked_mul(div as u64) {
            Some(span_ps) if hz != 0 && span_ps % hz as u64 == 0 => span_ps / hz as u64,
            _ => 0,
        };
        Self { origin_ps, origin_ticks, hz, div, whole_ps, jitter }
    }

    /// The line's frequency in hertz, rounded.
    pub fn freq_hz(&self) -> u32 {
        (self.hz + self.div / 2) / self.div
    }

    pub fn is_running(&self) -> bool {
        self.hz != 0
    }

    /// When tick `k` happens; never, if the line is at rest.
    pub fn time_of(&self, k: u64) -> Picos {
        if k <= self.origin_ticks {
            return Picos(self.origin_ps);
        }
        if self.hz == 0 {
            return Picos::MAX;
        }
        let ps = self.origin_ps + self.span_ps(k - self.origin_ticks);
        match self.jitter {
            Some(j) => Picos(ps.saturating_add_signed(j.of_edge(k).into()).max(self.origin_ps)),
            None => Picos(ps),
        }
    }

    /// How long so many ticks take.
    fn span_ps(&self, ticks: u64) -> u128 {
        if self.whole_ps != 0 {
            return u128::from(ticks) * u128::from(self.whole_ps);
        }
        let hz = u64::from(self.hz);
        if hz <= NARROW_HZ
            && let Some(periods) = ticks.checked_mul(self.div.into())
        {
            // The same as below, whole seconds first: nothing is divided that does not fit 64 bits.
            let by_hz =
                |n: u64| if hz.is_power_of_two() { n >> hz.trailing_zeros() } else { n / hz };
            let seconds = by_hz(periods);
            let rest = periods - seconds * hz;
            return u128::from(seconds) * u128::from(PS_PER_S)
                + u128::from(by_hz(rest * PS_PER_S + hz / 2));
        }
        let wide = u128::from(ticks) * u128::from(self.div) * u128::from(PS_PER_S);
        let hz = u128::from(hz);
        (wide + hz / 2) / hz
    }

    /// How long so many ticks take; `None` at rest.
    pub fn lasting(&self, ticks: u64) -> Option<u128> {
        self.is_running().then(|| self.span_ps(ticks))
    }

    /// How many whole ticks fit a time.
    fn ticks_in(&self, ps: u128) -> u64 {
        let (hz, div) = (u64::from(self.hz), u64::from(self.div));
        if let Ok(ps) = u64::try_from(ps) {
            if let Some(ticks) = ps.checked_div(self.whole_ps) {
                return ticks;
            }
            if hz <= NARROW_HZ {
                return (ps / PS_PER_S * hz + ps % PS_PER_S * hz / PS_PER_S) / div;
            }
        }
        let (second, hz) = (u128::from(PS_PER_S), u128::from(hz));
        let ticks = (ps / second * hz + ps % second * hz / second) / u128::from(div);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// How many ticks have happened at `t`: the largest `k` with `time_of(k) <= t`.
    pub fn ticks_at(&self, t: Picos) -> u64 {
        if self.hz == 0 || t.0 <= self.origin_ps {
            return self.origin_ticks;
        }
        let guess = self.ticks_in(t.0 - self.origin_ps).saturating_add(self.origin_ticks);
        if self.whole_ps != 0 && self.jitter.is_none() {
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

    /// Another frequency from `t` on; the ticks so far are kept.
    pub fn retune(&mut self, t: Picos, hz: u32, div: u32, jitter: Option<Jitter>) {
        if (self.hz, self.div, self.jitter) != (hz, div, jitter) {
            let ticks = self.ticks_at(t);
            *self = Self::new(t.0, ticks, hz, div, jitter);
        }
    }

    /// The same frequency, with tick `ticks` at `t`.
    pub fn restart(&mut self, t: Picos, ticks: u64) {
        self.origin_ps = t.0;
        self.origin_ticks = ticks;
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
    /// Brings the lines that the MSP430 families have in common to their new rates. MCLK's ticks are the CPU's cycles:
    /// while the CPU sleeps its line is put right at wake-up.
    pub fn retune(&mut self, now: Picos, cpu_on: bool, mclk: Rate, smclk: Rate, aclk: Rate) {
        for (line, (hz, div, jitter), runs) in [
            (&mut self.mclk, mclk, cpu_on),
            (&mut self.smclk, smclk, true),
            (&mut self.aclk, aclk, true),
        ] {
            if runs {
                line.retune(now, hz, div, jitter);
            }
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
            let wide = u128::from(ticks) * u128::from(div) * 1_000_000_000_000;
            let hz = u128::from(hz);
            prop_assert_eq!(l.span_ps(ticks), (wide + hz / 2) / hz);
            let fit = ps * hz / (1_000_000_000_000 * u128::from(div));
            prop_assert_eq!(u128::from(l.ticks_in(ps)), fit);
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
        let var: f64 = (0..n).map(|k| (j.of_edge(k) as f64).powi(2)).sum::<f64>() / n as f64;
        assert!((var.sqrt() / 1e6 - 1.0).abs() < 0.02, "{}", var.sqrt());
    }
}
