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

/// Probability of one half, in 65,536ths.
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
        let cell_of = |i: usize| {
            let at = u64::from(start) * 8 + i as u64;
            splitmix64(device ^ at.wrapping_mul(0xA076_1D64_78BD_642F))
        };
        let mut noisy_cells = Vec::new();
        let mut words = Vec::with_capacity(bytes.div_ceil(8));
        for word in 0..bytes.div_ceil(8) {
            let mut made = Word { own: 0, hold: [0; 16], noisy_end: 0 };
            for bit in 0..64.min(8 * (bytes - 8 * word)) {
                let cell = cell_of(64 * word + bit);
                let [value, kind, own, hold] = [0, 16, 32, 48].map(|s| cell >> s & 0xFFFF);
                for (place, plane) in made.hold.iter_mut().enumerate() {
                    *plane |= (hold >> place & 1) << bit;
                }
                if kind < noisy {
                    let chance = if ones == HALF {
                        own
                    } else {
                        ((own as f64 / 65_536.0).powf(exponent) * 65_536.0) as u64
                    };
                    let salt = cell.rotate_left(17);
                    noisy_cells.push(Noisy { salt, chance: chance as u32, bit: bit as u32 });
                } else {
                    made.own |= u64::from(value < ones) << bit;
                }
            }
            made.noisy_end = noisy_cells.len();
            words.push(made);
        }
        Cells { startup: self, start, device, bytes, words, noisy: noisy_cells }
    }
}

/// A cell that noise decides.
struct Noisy {
    salt: u64,
    chance: u32,
    /// Its place in the word.
    bit: u32,
}

/// What 64 cells are like.
struct Word {
    /// Start-up values of those that noise does not decide.
    own: u64,
    /// How long each holds its content, in 65536ths of the decay time beyond its half: a bit of that of all 64 each,
    /// the lowest first.
    hold: [u64; 16],
    /// Where the noisy cells of the next word begin.
    noisy_end: usize,
}

impl Word {
    /// The cells that hold for less than `limit`: all 64 compared at once, from the highest bit down.
    fn holds_less(&self, limit: u32) -> u64 {
        if limit > 0xFFFF {
            return !0;
        }
        let (mut less, mut equal) = (0, !0);
        for (place, plane) in self.hold.iter().enumerate().rev() {
            if limit >> place & 1 != 0 {
                less |= equal & !plane;
                equal &= plane;
            } else {
                equal &= !plane;
            }
        }
        less
    }
}

/// What the cells of a memory are like; the same at each start.
pub(crate) struct Cells {
    startup: SramStartup,
    start: u32,
    device: u64,
    bytes: usize,
    words: Vec<Word>,
    /// Those that noise decides, word by word.
    noisy: Vec<Noisy>,
}

impl Cells {
    /// Whether these are the cells of that memory.
    pub fn are(&self, startup: SramStartup, start: u32, bytes: usize, device: u64) -> bool {
        (self.startup, self.start, self.bytes, self.device) == (startup, start, bytes, device)
    }

    /// Gives `memory` what it holds after `off` without supply; `noise` is another one each time.
    pub fn wake(&self, memory: &mut [u8], noise: u64, off: Picos) {
        let (decay, off_ps) = (self.startup.decay_ps(), u64::try_from(off.0).unwrap_or(u64::MAX));
        if off_ps < decay / 2 {
            return;
        }
        let all = off_ps >= decay.saturating_add(decay / 2);
        // Cells that hold for less than this have lost their content: those whose time is up.
        let until = |hold: u32| decay / 2 + (u128::from(decay) * u128::from(hold) / 65_536) as u64;
        let (mut low, mut high) = (0, 65_536);
        while !all && low < high {
            let mid = (low + high) / 2;
            if off_ps >= until(mid) { low = mid + 1 } else { high = mid }
        }
        let mut noisy_begin = 0;
        for (bytes, word) in memory.chunks_mut(8).zip(&self.words) {
            let noisy = &self.noisy[noisy_begin..word.noisy_end];
            noisy_begin = word.noisy_end;
            let one = |cell: &Noisy| {
                let drawn = splitmix64(noise ^ cell.salt) as u32 & 0xFFFF;
                u64::from(drawn < cell.chance) << cell.bit
            };
            let mut woken = noisy.iter().fold(word.own, |bits, cell| bits | one(cell));
            if !all {
                let mut kept = [0; 8];
                kept[..bytes.len()].copy_from_slice(bytes);
                let lost = word.holds_less(low);
                woken = u64::from_le_bytes(kept) & !lost | woken & lost;
            }
            bytes.copy_from_slice(&woken.to_le_bytes()[..bytes.len()]);
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

    /// As the cells of a memory are defined, one after the other.
    fn bit_by_bit(s: SramStartup, memory: &mut [u8], start: u32, noise: u64, off: Picos) {
        let (decay, off_ps) = (s.decay_ps(), off.0 as u64);
        for i in 0..8 * memory.len() {
            let at = u64::from(start) * 8 + i as u64;
            let cell = splitmix64(7 ^ at.wrapping_mul(0xA076_1D64_78BD_642F));
            let [value, kind, own, hold] = [0, 16, 32, 48].map(|s| cell >> s & 0xFFFF);
            let even = if s.ones == 0.5 {
                own
            } else {
                ((own as f64 / 65_536.0).powf(1.0 / s.ones - 1.0) * 65_536.0) as u64
            };
            let one = match kind < share(s.noisy) {
                true => (splitmix64(noise ^ cell.rotate_left(17)) & 0xFFFF) < even,
                false => value < share(s.ones),
            };
            let lost = off_ps >= decay / 2 + decay * hold / 65_536 && off_ps >= decay / 2;
            if lost {
                memory[i / 8] = memory[i / 8] & !(1 << (i % 8)) | u8::from(one) << (i % 8);
            }
        }
    }

    #[test]
    fn words_wake_as_their_cells_do() {
        for (ones, bytes) in [(0.5, 4096), (0.62, 1021), (0.2, 3)] {
            let s = SramStartup { ones, noisy: 0.15, decay_ms: 0.1 };
            let mut kept = Vec::new();
            // Around the first and the last cell's time, and between.
            for off_us in [0.0, 49.999, 50.0, 50.001, 77.0, 100.0, 149.99, 150.0, 1e6] {
                let off = Picos((off_us * 1e6) as u128);
                let mut ours: Vec<u8> = (0..bytes).map(|i| (i * 37) as u8).collect();
                let mut theirs = ours.clone();
                wake(&mut kept, s, (&mut ours, 0x1C00), 7, 3, off);
                bit_by_bit(s, &mut theirs, 0x1C00, 3, off);
                assert_eq!(ours, theirs, "{ones} {bytes} {off_us}");
            }
        }
    }
}
