// SPDX-License-Identifier: MIT OR Apache-2.0
//! The corpus by the stable compiler: each input as it is and with bytes changed, by a fixed seed. For tests of the
//! crates whose code it is.

use std::path::Path;
use std::time::{Duration, Instant};

/// Marsaglia's xorshift of 64 bits: the same changes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n.max(1)
    }

    /// Some bytes other ones, some gone, some twice, or an end that comes early.
    fn change(&mut self, input: &[u8]) -> Vec<u8> {
        let mut out = input.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(out.len());
            match self.below(6) {
                0 => out.truncate(at),
                1 if at < out.len() => {
                    out.remove(at);
                }
                2 => {
                    let end = (at + self.below(16)).min(out.len());
                    let part = out[at..end].to_vec();
                    out.splice(at..at, part);
                }
                3 if at < out.len() => out[at] = [0, 0xFF, 0x7F, 0x80][self.below(4)],
                _ if at < out.len() => out[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        out
    }
}

/// The inputs of a target.
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let list: Vec<_> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(list.len() >= 3, "{}: the corpus is not there", folder.display());
    list
}

/// Gives a body each input, and so many changed ones.
pub fn shake(inputs: &[Vec<u8>], times: usize, mut body: impl FnMut(&[u8])) {
    let mut random = Random(0x5EED);
    for input in inputs {
        for round in 0..=times {
            let changed = if round == 0 { input.clone() } else { random.change(input) };
            let start = Instant::now();
            body(&changed);
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "an input takes too long: {changed:x?}"
            );
        }
    }
}
