// SPDX-License-Identifier: MIT OR Apache-2.0
//! What static memory holds when the supply comes back: content that has not yet decayed, else each
//! cell's own start-up value, with noise.
//!
//! A cell is a race of two inverters. Most are lopsided enough to start the same way each time: these
//! are the device's fingerprint. Some are so even that noise decides: these feed random number
//! generators (Holcomb 2009; Suslowicz 2017).

use serde::Deserialize;
use sunseal_trace::Picos;

use crate::clock::splitmix64;

/// How the static memory of a part starts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SramStartup {
    /// Share of cells that start as 1: 0.5 is no bias.
    pub ones: f64,
    /// Share of cells that noise decides, each with a chance of its own.
    pub noisy: f64,
    /// Time without supply after which half of the cells have lost their content, in milliseconds; all
    /// lose it between half and one and a half of this.
    pub decay_ms: f64,
}

/// One in two.
const HALF: u64 = 0x8000;

fn share(of: f64) -> u64 {
    (of.clamp(0.0, 1.0) * 65_536.0).round() as u64
}

impl SramStartup {
    pub(crate) fn decay_ps(&self) -> u64 {
        (self.decay_ms.max(0.0) * 1e9) as u64
    }

    /// The cells of `bytes` bytes from `start` on of the unit whose seed is `device`.
    pub(crate) fn cells(self, start: u32, bytes: usize, device: u64) -> Cells {
        let (ones, noisy) = (share(self.ones), share(self.noisy));
        // Chance of 1 of a noisy cell: a power of an even variable, so that its mean is the bias.
        let exponent = 1.0 / self.ones.clamp(0.01, 0.99) - 1.0;
        let mut cells = Cells {
            startup: self,
            start,
            device,
            own: vec![0; bytes],
            hold: Vec::with_capacity(8 * bytes),
            noisy: Vec::new(),
        };
        for i in 0..8 * bytes {
            let at = u64::from(start) * 8 + i as u64;
            let cell = splitmix64(device ^ at.wrapping_mul(0xA076_1D64_78BD_642F));
            let [value, kind, own, hold] = [0, 16, 32, 48].map(|s| cell >> s & 0xFFFF);
            cells.hold.push(hold as u16);
            if kind < noisy {
                let chance = if ones == HALF {
                    own
                } else {
                    ((own as f64 / 65_536.0).powf(exponent) * 65_536.0) as u64
                };
                cells.noisy.push(Noisy { at: i as u32, chance, salt: cell.rotate_left(17) });
            } else {
                cells.own[i / 8] |= u8::from(value < ones) << (i % 8);
            }
        }
        cells
    }
}

/// A cell that noise decides.
struct Noisy {
    at: u32,
    chance: u64,
    salt: u64,
}

/// What the cells of a memory are like; the same at each start.
pub(crate) struct Cells {
    startup: SramStartup,
    start: u32,
    device: u64,
    /// Start-up values of the cells that noise does not decide.
    own: Vec<u8>,
    /// How long each holds its content, in 65536ths of the decay time beyond its half.
    hold: Vec<u16>,
    noisy: Vec<Noisy>,
}

impl Cells {
    /// Whether these are the cells of that memory.
    pub fn are(&self, startup: SramStartup, start: u32, bytes: usize, device: u64) -> bool {
        (self.startup, self.start, self.own.len(), self.device) == (startup, start, bytes, device)
    }

    /// Gives `memory` what it holds after `off` without supply; `noise` is another one each time.
    pub fn wake(&self, memory: &mut [u8], noise: u64, off: Picos) {
        let (decay, off_ps) = (self.startup.decay_ps(), u64::try_from(off.0).unwrap_or(u64::MAX));
        if off_ps < decay / 2 {
            return;
        }
        let mut woken = self.own.clone();
        for cell in &self.noisy {
            let one = (splitmix64(noise ^ cell.salt) & 0xFFFF) < cell.chance;
            woken[cell.at as usize / 8] |= u8::from(one) << (cell.at % 8);
        }
        if off_ps >= decay.saturating_add(decay / 2) {
            memory.copy_from_slice(&woken);
            return;
        }
        // Cells that hold for less than this have lost their content: those whose time is up.
        let until = |hold: u32| decay / 2 + (u128::from(decay) * u128::from(hold) / 65_536) as u64;
        let (mut low, mut high) = (0, 65_536);
        while low < high {
            let mid = (low + high) / 2;
            if off_ps >= until(mid) { low = mid + 1 } else { high = mid }
        }
        for ((byte, woken), holds) in memory.iter_mut().zip(&woken).zip(self.hold.chunks_exact(8)) {
            let bit = |(i, hold): (usize, &u16)| u8::from(u32::from(*hold) < low) << i;
            let lost = holds.iter().enumerate().map(bit).fold(0, |all, bit| all | bit);
            *byte = *byte & !lost | woken & lost;
        }
    }
}

/// Wakes a memory whose cells are kept from one start to the next.
pub(crate) fn wake(
    kept: &mut Vec<Cells>,
    startup: SramStartup,
    (memory, start): (&mut [u8], u32),
    device: u64,
    noise: u64,
    off: Picos,
) {
    if off.0 < u128::from(startup.decay_ps() / 2) {
        return;
    }
    let found = kept.iter().position(|c| c.are(startup, start, memory.len(), device));
    let place = found.unwrap_or_else(|| {
        // Of another unit, or another kind of memory.
        kept.retain(|c| c.device == device && c.startup == startup);
        kept.push(startup.cells(start, memory.len(), device));
        kept.len() - 1
    });
    kept[place].wake(memory, noise, off);
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 8192;
    const LONG: Picos = Picos(u64::MAX as u128);

    fn woken(s: SramStartup, device: u64, noise: u64) -> Vec<u8> {
        let mut m = vec![0; BYTES];
        wake(&mut Vec::new(), s, (&mut m, 0x1C00), device, noise, LONG);
        m
    }

    fn ones(m: &[u8]) -> f64 {
        f64::from(m.iter().map(|b| b.count_ones()).sum::<u32>()) / (8 * m.len()) as f64
    }

    fn distance(a: &[u8], b: &[u8]) -> f64 {
        ones(&a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<_>>())
    }

    const TYPICAL: SramStartup = SramStartup { ones: 0.5, noisy: 0.15, decay_ms: 200.0 };

    #[test]
    fn the_bias_is_the_share_of_ones_over_the_memory() {
        for share in [0.2, 0.5, 0.62] {
            let m = woken(SramStartup { ones: share, ..TYPICAL }, 1, 2);
            // Three deviations of 65536 draws.
            assert!((ones(&m) - share).abs() < 0.006, "{share}: {}", ones(&m));
        }
    }

    #[test]
    fn a_unit_starts_alike_but_for_its_noisy_cells_and_two_units_differ_in_half() {
        let a = woken(TYPICAL, 1, 2);
        let again = woken(TYPICAL, 1, 3);
        let other = woken(TYPICAL, 9, 2);
        assert_eq!(a, woken(TYPICAL, 1, 2), "the same seeds give the same bytes");
        // A noisy cell whose chance p is even over 0 to 1 differs in 2 p (1 - p): a third, on average.
        let within = distance(&a, &again);
        assert!((within - 0.15 / 3.0).abs() < 0.004, "{within}");
        assert!((distance(&a, &other) - 0.5).abs() < 0.006);
    }

    #[test]
    fn only_noisy_cells_change_over_many_starts_and_their_entropy_is_what_their_share_gives() {
        let starts: Vec<_> = (0..40).map(|n| woken(TYPICAL, 5, n)).collect();
        let ever: Vec<u8> = (0..BYTES)
            .map(|i| starts.iter().fold(0, |acc, s| acc | (s[i] ^ starts[0][i])))
            .collect();
        // 40 starts leave a noisy cell unseen with a chance of 2/42 or so.
        let seen = ones(&ever);
        assert!(seen > 0.15 * 0.90 && seen < 0.15 * 1.01, "{seen}");
        // Min-entropy a cell: -log2 of the mean chance of its likelier value, 3/4 for noisy cells.
        let likely: f64 = (0..BYTES * 8)
            .map(|c| {
                let n =
                    starts.iter().filter(|s| s[c / 8] >> (c % 8) & 1 != 0).count() as f64 / 40.0;
                n.max(1.0 - n)
            })
            .sum::<f64>()
            / (BYTES * 8) as f64;
        assert!((likely - (0.85 + 0.15 * 0.76)).abs() < 0.01, "{likely}");
    }

    #[test]
    fn a_short_cut_loses_nothing_a_long_one_all_and_one_between_a_share() {
        let kept = |ms: f64| {
            let mut m = vec![0xA5; BYTES];
            wake(&mut Vec::new(), TYPICAL, (&mut m, 0x1C00), 1, 2, Picos((ms * 1e9) as u128));
            1.0 - 2.0 * distance(&m, &[0xA5; BYTES])
        };
        assert_eq!(kept(99.0), 1.0);
        assert!((kept(200.0) - 0.5).abs() < 0.02, "{}", kept(200.0));
        assert!(kept(301.0).abs() < 0.02, "{}", kept(301.0));
    }
}
