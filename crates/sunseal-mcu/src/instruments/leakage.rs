// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leakage: a power trace in Hamming weights and distances, a sample for each CPU cycle.
//!
//! The model, for cycle `c`:
//!
//! ```text
//! sample[c] =  bus_weight   x HW(v)          for each data access of value v in cycle c
//!           +  bus_distance x HD(v, u)       ... where u is the value of the access before it
//!           +  register_distance x HD(o, n)  for each register that went from o to n, in the last cycle
//!                                            of its instruction
//! ```
//!
//! saturating at what a sample holds. Values are as wide as the access. Instruction fetches, flags, the
//! program counter and pointers stepped by push and pop are not in it. Cycles in which the CPU is
//! held are samples of zero; asleep it has no cycles.

use sunseal_trace::{Access, Cycles, Flow, Observer, Width};

/// A type of sample.
pub trait Sample: Copy {
    /// Sample of a cycle without activity.
    const ZERO: Self;
    /// Adds activity, up to the largest value that a sample holds.
    #[must_use]
    fn plus(self, activity: u32) -> Self;
}

impl Sample for u8 {
    const ZERO: Self = 0;
    #[inline(always)]
    fn plus(self, activity: u32) -> Self {
        (u32::from(self) + activity).min(0xFF) as Self
    }
}

impl Sample for u16 {
    const ZERO: Self = 0;
    #[inline(always)]
    fn plus(self, activity: u32) -> Self {
        (u32::from(self) + activity).min(0xFFFF) as Self
    }
}

/// How much each kind of activity counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// For each set bit of a value on the data bus.
    pub bus_weight: u8,
    /// For each bit in which a value on the data bus differs from the one before.
    pub bus_distance: u8,
    /// For each bit that changes in a register.
    pub register_distance: u8,
}

impl Default for Model {
    /// Hamming weight of bus values, Hamming distance of registers.
    fn default() -> Self {
        Self { bus_weight: 1, bus_distance: 0, register_distance: 1 }
    }
}

/// Writes samples into a buffer; what does not fit is counted and forgotten.
pub struct Leakage<'a, S> {
    buffer: &'a mut [S],
    model: Model,
    /// The cycle of the first sample.
    origin: Cycles,
    /// The cycle in which the present instruction began.
    now: Cycles,
    /// The cycle behind its last access.
    behind: Cycles,
    bus: u32,
    /// Register activity of the present instruction.
    pending: u32,
}

impl<'a, S: Sample> Leakage<'a, S> {
    /// Samples from cycle `origin` on (`Machine::cycles`) into `buffer`, which is set to zero.
    #[must_use]
    pub fn new(buffer: &'a mut [S], model: Model, origin: Cycles) -> Self {
        buffer.fill(S::ZERO);
        Self { buffer, model, origin, now: origin, behind: origin, bus: 0, pending: 0 }
    }

    /// Samples written: one a cycle, at most as many as the buffer holds.
    #[must_use]
    pub fn samples(&self) -> usize {
        usize::try_from(self.now - self.origin)
            .map_or(self.buffer.len(), |n| n.min(self.buffer.len()))
    }

    /// Cycles that found the buffer full.
    #[must_use]
    pub fn lost(&self) -> u64 {
        (self.now - self.origin).saturating_sub(self.buffer.len() as u64)
    }

    #[inline(always)]
    fn add(&mut self, at: Cycles, activity: u32) {
        if let Some(sample) = self.buffer.get_mut(at.wrapping_sub(self.origin) as usize) {
            *sample = sample.plus(activity);
        }
    }
}

/// Set bits of numbers of eleven bits: quicker than counting where the processor built for has no instruction
/// for it.
static WEIGHTS: [u8; 1 << 11] = {
    let mut weights = [0; 1 << 11];
    let mut n = 0;
    while n < weights.len() {
        weights[n] = n.count_ones() as u8;
        n += 1;
    }
    weights
};

/// Number of bits that are set.
#[inline(always)]
fn weight(value: u32) -> u32 {
    if cfg!(any(target_feature = "popcnt", not(target_arch = "x86_64"))) {
        return value.count_ones();
    }
    let part = |shift: u32| u32::from(WEIGHTS[(value >> shift) as usize & 0x7FF]);
    part(0) + part(11) + part(22)
}

impl<S: Sample> Observer for Leakage<'_, S> {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;
    const RESULTS: bool = true;
    const OWN_LOOP: bool = true;

    #[inline(always)]
    fn instruction(&mut self, _: u32, _: u32, cycles: u32, _: Flow) {
        // An access later than the instruction can have made: the CPU was held before it.
        self.now = (self.now + Cycles::from(cycles)).max(self.behind);
        let (at, activity) = (self.now.wrapping_sub(1), self.pending);
        self.pending = 0;
        self.add(at, activity);
    }

    // Nothing is behind its beginning.
    #[inline(always)]
    fn instruction_inside(&mut self, _: u32, _: u32, cycles: u32, _: Flow) -> bool {
        self.now += Cycles::from(cycles);
        let activity = std::mem::take(&mut self.pending);
        self.add(self.now.wrapping_sub(1), activity);
        false
    }

    #[inline(always)]
    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, value: u32, at: Cycles) {
        let m = self.model;
        let mut activity = u32::from(m.bus_weight) * weight(value);
        if m.bus_distance != 0 {
            activity += u32::from(m.bus_distance) * weight(value ^ self.bus);
        }
        self.bus = value;
        self.behind = at + 1;
        self.add(at, activity);
    }

    #[inline(always)]
    fn result(&mut self, _: u8, old: u32, new: u32) {
        self.pending += u32::from(self.model.register_distance) * weight(old ^ new);
    }
}
