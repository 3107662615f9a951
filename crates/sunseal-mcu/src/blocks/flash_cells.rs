// SPDX-License-Identifier: MIT OR Apache-2.0
//! What flash controllers do to cells, to the end or cut short: programming clears bits, erasing sets them.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sunseal_trace::{Picos, StateId};

use crate::accounts;
use crate::clock::splitmix64;

/// An operation, by addresses as its controller has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Operation {
    Program { addr: u32, bytes: Vec<u8> },
    Erase(Vec<Range<u32>>),
}

/// The operation that runs, if one does, and when it ends.
pub(crate) type Running = Option<(Operation, u128)>;

/// When the operation that runs ends.
pub(crate) fn ends(running: &Running) -> Option<Picos> {
    running.as_ref().map(|(_, t)| Picos(*t))
}

/// State "write" of TI's chips with flash, behind five that every chip has and five low-power modes.
pub(crate) const WRITE: StateId = StateId(10);
/// State "erase" of the same.
pub(crate) const ERASE: StateId = StateId(11);

/// State that a controller's flash is booked in, of those that its family has.
pub(crate) fn state(running: &Running, write: StateId, erase: StateId) -> StateId {
    match running {
        None => accounts::IDLE,
        Some((Operation::Program { .. }, _)) => write,
        Some((Operation::Erase(_), _)) => erase,
    }
}

/// The operation that runs is over: memory changes, and where. `place` tells where in `memory` an address lies.
pub(crate) fn finish(
    running: &mut Running,
    memory: &mut [u8],
    place: impl Fn(u32) -> usize,
) -> Vec<Range<u32>> {
    let Some((operation, _)) = running.take() else { return Vec::new() };
    operation.finish(memory, place);
    operation.touches()
}

/// The supply went away, or a reset came, in the middle of it.
pub(crate) fn cut(
    running: &mut Running,
    memory: &mut [u8],
    place: impl Fn(u32) -> usize,
    seed: u64,
) -> Vec<Range<u32>> {
    let Some((operation, _)) = running.take() else { return Vec::new() };
    operation.cut(memory, place, seed);
    operation.touches()
}

impl Operation {
    /// The addresses whose cells it changes.
    pub fn touches(&self) -> Vec<Range<u32>> {
        match self {
            Self::Program { addr, bytes } => vec![*addr..*addr + bytes.len() as u32],
            Self::Erase(ranges) => ranges.clone(),
        }
    }

    /// Whether it would set a bit that only an erasure can.
    pub fn overwrites(&self, memory: &[u8], place: impl Fn(u32) -> usize) -> bool {
        match self {
            Self::Program { addr, bytes } => {
                (*addr..).zip(bytes).any(|(a, new)| memory[place(a)] & new != *new)
            }
            Self::Erase(_) => false,
        }
    }

    fn finish(&self, memory: &mut [u8], place: impl Fn(u32) -> usize) {
        match self {
            Self::Program { addr, bytes } => {
                (*addr..).zip(bytes).for_each(|(a, new)| memory[place(a)] &= new);
            }
            Self::Erase(ranges) => {
                ranges.iter().cloned().flatten().for_each(|a| memory[place(a)] = 0xFF);
            }
        }
    }

    /// Each bit is either old or new, by the seed.
    fn cut(&self, memory: &mut [u8], place: impl Fn(u32) -> usize, seed: u64) {
        let noise = |a: u32| splitmix64(seed ^ u64::from(a)) as u8;
        match self {
            Self::Program { addr, bytes } => {
                (*addr..).zip(bytes).for_each(|(a, new)| memory[place(a)] &= new | noise(a));
            }
            Self::Erase(ranges) => {
                ranges.iter().cloned().flatten().for_each(|a| memory[place(a)] |= noise(a));
            }
        }
    }
}

/// The place of an address in a memory that begins at 0.
pub(crate) fn as_is(addr: u32) -> usize {
    addr as usize
}
