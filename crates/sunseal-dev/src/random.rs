// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that look random and are the same for the same seed, on every machine and in every version.

/// Generator xorshift64* of numbers for tests (Vigna 2016).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that depend on `seed` and `name` alone, so that what is drawn for one mnemonic does not move
    /// when another gets more.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a of the name, then one step of splitmix64.
        let mut hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        hash = hash.wrapping_add(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((hash ^ hash >> 31) | 1)
    }

    /// Draws the next 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    /// 0 to `n - 1`.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "nothing is below zero");
        ((u64::from(self.word()) * u64::from(n)) >> 32) as u32
    }

    /// Whether one of `n` drawn alike.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// A value of `bits` bits (1 to 32) of the kinds that show carries and signs: often at an edge.
    pub fn value(&mut self, bits: u32) -> u32 {
        let mask = u32::MAX >> (32 - bits);
        let top = 1 << (bits - 1);
        let edges = [
            0,
            1,
            2,
            0x7F,
            0x80,
            0xFF,
            0x7FFF,
            0x8000,
            0xFFFF,
            top - 1,
            top,
            top | 1,
            mask - 1,
            mask,
        ];
        if self.one_in(3) { self.pick(&edges) & mask } else { self.word() & mask }
    }
}
