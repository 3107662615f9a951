// SPDX-License-Identifier: MIT OR Apache-2.0
//! The books of a node's coupons.
//!
//! Nothing of the simulator is compiled into the program: the loop stops where its functions `coupons_open`, `_make` and
//! `_sign` begin and where they return, reads the answer that `firmware/node/coupons.h` gives it, and takes the energy
//! that went meanwhile.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sunseal_mcu::{Device, Elf, Machine};

use crate::CouponRecord;

/// Statuses of `sunseal/error.h` and `sunseal/coupon.h`.
const OK: u32 = 0;
const PENDING: u32 = 1;
const FULL: u32 = 2;
const MONOLITHIC: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Call {
    Open,
    Make,
    Sign,
}

const CALLS: [(&str, Call); 3] =
    [("coupons_open", Call::Open), ("coupons_make", Call::Make), ("coupons_sign", Call::Sign)];

/// A call that has not returned.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Present {
    call: Call,
    back: u32,
    /// The stack pointer behind the return.
    sp: u32,
    begun_j: f64,
}

/// State that a checkpoint keeps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Books {
    told: CouponRecord,
    /// Energy that each coupon in the store has cost, the oldest first; `None` before the first start.
    costs_j: Option<VecDeque<f64>>,
    present: Option<Present>,
    /// Spent on the coupon that is under way.
    steps_j: f64,
    /// Energy of a call to make one, or to sign, in which the supply went.
    torn: Option<(Call, f64)>,
}

/// Watches the calls of one program.
pub(crate) struct Coupons {
    calls: [(u32, Call); 3],
    /// A Cortex: the return address is in LR, the answer in R0.
    links: bool,
    pub books: Books,
}

impl Coupons {
    /// None for a program without coupons.
    pub fn new(elf: &Elf, device: &Device) -> Option<Self> {
        let mut calls = [(0, Call::Open); 3];
        for (place, (name, call)) in calls.iter_mut().zip(CALLS) {
            *place = (elf.symbol(name).ok()?.addr & !1, call);
        }
        let links = device.core.starts_with("cortex");
        Some(Self { calls, links, books: Books::default() })
    }

    /// Addresses at which the machine is to stop.
    pub fn stops(&self) -> Vec<u32> {
        match &self.books.present {
            Some(present) => vec![present.back],
            None => self.calls.iter().map(|c| c.0).collect(),
        }
    }

    /// After each step: the load has taken `load_j` since the run began.
    pub fn look(&mut self, machine: &Machine, load_j: f64) {
        let (pc, sp) = (machine.pc(), machine.sp());
        if let Some(present) = &self.books.present {
            if pc == present.back && sp == present.sp {
                let answer = self.answer(machine);
                self.books.returned(answer, load_j);
            }
        } else if let Some((_, call)) = self.calls.iter().find(|c| c.0 == pc)
            && machine.is_powered()
        {
            let (back, sp) = self.return_to(machine, sp);
            self.books.present = Some(Present { call: *call, back, sp, begun_j: load_j });
        }
    }

    /// The supply has gone.
    pub fn cut(&mut self, load_j: f64) {
        self.books.cut(load_j);
    }

    pub fn told(&self) -> CouponRecord {
        let costs_j = self.books.costs_j.as_ref();
        CouponRecord {
            in_store_end: costs_j.map_or(0, |c| c.len() as u64),
            in_store_end_j: costs_j.map_or(0.0, |c| c.iter().fold(0.0, |sum, j| sum + j)),
            ..self.books.told.clone()
        }
    }

    fn return_to(&self, machine: &Machine, sp: u32) -> (u32, u32) {
        if self.links {
            return (machine.reg(14) & !1, sp);
        }
        // CALL pushes a word: small-model code lies in the lower 64 KB.
        let word = machine.read_mem(sp, 2).map_or([0; 2], |b| [b[0], b[1]]);
        (u32::from(u16::from_le_bytes(word)), sp + 2)
    }

    /// A 16-bit `int` or `uint16_t`.
    fn answer(&self, machine: &Machine) -> u32 {
        if self.links { machine.reg(0) } else { machine.reg(12) & 0xFFFF }
    }
}

impl Books {
    fn returned(&mut self, answer: u32, load_j: f64) {
        let Some(present) = self.present.take() else { return };
        let spent_j = load_j - present.begun_j;
        match present.call {
            Call::Open => self.opened(u64::from(answer), spent_j),
            Call::Make => self.made(answer, spent_j),
            Call::Sign => self.signed(answer, spent_j),
        }
    }

    fn opened(&mut self, ready: u64, spent_j: f64) {
        self.told.open_j += spent_j;
        let torn = self.torn.take();
        let Some(costs_j) = &mut self.costs_j else {
            self.told.in_store_begin = ready;
            self.costs_j = Some(vec![0.0; ready as usize].into());
            return;
        };
        // Committed, and cut before the call returned.
        if let (true, Some((Call::Make, cost_j))) = (ready > costs_j.len() as u64, torn) {
            self.told.interrupted -= 1;
            self.told.interrupted_j -= cost_j;
            self.told.produced += 1;
            self.told.produced_j += cost_j;
            costs_j.push_back(cost_j);
        }
        let lost = (costs_j.len() as u64).saturating_sub(ready);
        if let (true, Some((Call::Sign, cost_j))) = (lost > 0, torn) {
            self.told.discarded_j += cost_j;
        }
        self.discard(lost as usize);
    }

    fn made(&mut self, status: u32, spent_j: f64) {
        let cost_j = std::mem::take(&mut self.steps_j) + spent_j;
        match status {
            OK => {
                self.told.produced += 1;
                self.told.produced_j += cost_j;
                self.costs_j.get_or_insert_default().push_back(cost_j);
            }
            PENDING => self.steps_j = cost_j,
            FULL => self.told.interrupted_j += cost_j,
            _ => self.interrupt(cost_j),
        }
    }

    fn signed(&mut self, status: u32, spent_j: f64) {
        let left = self.costs_j.as_ref().map_or(0, VecDeque::len);
        match status {
            OK => {
                self.told.used += 1;
                self.told.used_j += spent_j;
                if let Some(costs_j) = &mut self.costs_j {
                    costs_j.pop_front();
                }
            }
            // Those that it had were refused, each of them.
            MONOLITHIC => {
                self.told.fallbacks += 1;
                self.told.fallback_j += spent_j;
                self.discard(left);
            }
            _ => {
                self.told.discarded_j += spent_j;
                self.discard(left.min(1));
            }
        }
    }

    fn interrupt(&mut self, cost_j: f64) {
        self.told.interrupted += 1;
        self.told.interrupted_j += cost_j;
    }

    /// Takes the oldest coupons out of the books as discarded.
    fn discard(&mut self, count: usize) {
        let Some(costs_j) = &mut self.costs_j else { return };
        self.told.discarded += count as u64;
        self.told.discarded_j += costs_j.drain(..count).sum::<f64>();
    }

    fn cut(&mut self, load_j: f64) {
        let steps_j = std::mem::take(&mut self.steps_j);
        let Some(present) = self.present.take() else {
            if steps_j > 0.0 {
                self.interrupt(steps_j);
            }
            return;
        };
        let spent_j = load_j - present.begun_j;
        match present.call {
            Call::Open => self.told.open_j += spent_j,
            Call::Make => {
                self.interrupt(steps_j + spent_j);
                self.torn = Some((present.call, steps_j + spent_j));
            }
            Call::Sign => self.torn = Some((present.call, spent_j)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(books: &mut Books, call: Call, answer: u32, spent_j: f64) {
        books.present = Some(Present { call, back: 0, sp: 0, begun_j: 1.0 });
        books.returned(answer, 1.0 + spent_j);
    }

    fn cut_in(books: &mut Books, call: Call, spent_j: f64) {
        books.present = Some(Present { call, back: 0, sp: 0, begun_j: 1.0 });
        books.cut(1.0 + spent_j);
    }

    fn closes(books: &Books) -> usize {
        let (t, left) = (&books.told, books.costs_j.as_ref().map_or(0, VecDeque::len));
        assert_eq!(t.in_store_begin + t.produced, t.used + t.discarded + left as u64, "{t:?}");
        left
    }

    #[test]
    fn coupons_and_joules_are_booked_once_whatever_a_cut_leaves() {
        let mut b = Books::default();
        call(&mut b, Call::Open, 1, 0.5);
        call(&mut b, Call::Make, OK, 4.0);
        call(&mut b, Call::Make, OK, 4.0);
        call(&mut b, Call::Sign, OK, 0.25);
        assert_eq!((closes(&b), b.told.produced_j, b.told.used_j), (2, 8.0, 0.25));
        // Cut in the middle of making one: it is not there.
        cut_in(&mut b, Call::Make, 2.0);
        call(&mut b, Call::Open, 2, 0.5);
        assert_eq!((closes(&b), b.told.interrupted, b.told.interrupted_j), (2, 1, 2.0));
        // Cut behind its commit: it is.
        cut_in(&mut b, Call::Make, 4.0);
        call(&mut b, Call::Open, 3, 0.5);
        assert_eq!((closes(&b), b.told.interrupted, b.told.interrupted_j), (3, 1, 2.0));
        assert_eq!((b.told.produced, b.told.produced_j), (3, 12.0));
        // Cut behind the claim: one is gone, with what it had cost and what its use took.
        cut_in(&mut b, Call::Sign, 0.125);
        call(&mut b, Call::Open, 2, 0.5);
        assert_eq!((closes(&b), b.told.discarded, b.told.discarded_j), (2, 1, 4.125));
        // Cut before the claim: none is.
        cut_in(&mut b, Call::Sign, 0.125);
        call(&mut b, Call::Open, 2, 0.5);
        assert_eq!((closes(&b), b.told.discarded), (2, 1));
        // All that were left are refused.
        call(&mut b, Call::Sign, MONOLITHIC, 5.0);
        assert_eq!((closes(&b), b.told.fallbacks, b.told.fallback_j), (0, 1, 5.0));
        assert_eq!((b.told.discarded, b.told.discarded_j, b.told.open_j), (3, 12.125, 2.5));
        // An unhealthy source.
        call(&mut b, Call::Make, 0xFFF0, 1.0);
        assert_eq!((closes(&b), b.told.interrupted, b.told.interrupted_j), (0, 2, 3.0));
    }
}
