// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer_A against a counter that is stepped tick by tick, over random sequences of writes and waits.
//! The machine's timer is never stepped: it computes where its counter is and when flags fall due.

use proptest::prelude::*;

use crate::support::*;

const MODES: [u16; 4] = [0x00, 0x10, 0x20, 0x30];

#[derive(Clone, Debug)]
enum Step {
    Wait(u16),
    /// TA0CTL with TACLR: mode, input divider.
    Control {
        mode: usize,
        id: u16,
    },
    /// TA0CTL without TACLR: the interrupt's enable, and whether it counts on or stands.
    Write {
        running: bool,
        taie: u16,
    },
    Compare {
        block: usize,
        value: u16,
    },
    /// Clears the flag of a block.
    Clear {
        block: usize,
    },
    /// A read of counter and flags.
    Look,
}

/// Sequences that the manual defines: a change of mode or divider clears the counter (it says to stop it first).
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        4 => (0u16..60).prop_map(Step::Wait),
        2 => (0usize..4, 0u16..4).prop_map(|(mode, id)| Step::Control { mode, id }),
        2 => (any::<bool>(), 0u16..2).prop_map(|(running, taie)| Step::Write { running, taie }),
        3 => (0usize..2, 0u16..40).prop_map(|(block, value)| Step::Compare { block, value }),
        1 => (0usize..2).prop_map(|block| Step::Clear { block }),
        4 => Just(Step::Look),
    ];
    prop::collection::vec(one, 1..40)
}

/// The manual's description, one tick at a time (SLAU208, Timer_A operation).
#[derive(Default)]
struct Reference {
    mode: u16,
    held: bool,
    divider: u32,
    phase: u32,
    count: u16,
    down: bool,
    ccr: [u16; 2],
    ccifg: [bool; 2],
    taifg: bool,
}

impl Reference {
    fn stopped(&self) -> bool {
        self.held || self.mode == 0 || (self.mode != 0x20 && self.ccr[0] == 0)
    }

    /// TA0CCR0 of 0 clears the counter in the modes that it ends (SLAU208, stopping and starting the timer).
    fn settle(&mut self) {
        if !self.held && matches!(self.mode, 0x10 | 0x30) && self.ccr[0] == 0 {
            (self.count, self.down) = (0, false);
        }
    }

    fn tick(&mut self) {
        if self.stopped() {
            return;
        }
        self.phase += 1;
        if self.phase < self.divider {
            return;
        }
        self.phase = 0;
        let before = self.count;
        match self.mode {
            0x10 => self.count = if before >= self.ccr[0] { 0 } else { before + 1 },
            0x20 => self.count = before.wrapping_add(1),
            _ => {
                if !self.down && before >= self.ccr[0] {
                    self.down = true;
                }
                if self.down {
                    self.count = before - 1;
                } else {
                    self.count = before + 1;
                }
                if self.count == 0 {
                    self.down = false;
                }
            }
        }
        if self.count == 0 {
            self.taifg = true;
        }
        for i in 0..2 {
            // TA0CCR0's own flag comes on the way up alone.
            let passed = i == 0 && self.mode == 0x30 && before > self.count;
            if self.count == self.ccr[i] && !passed {
                self.ccifg[i] = true;
            }
        }
    }
}

/// What is compared: counter, CCIFG0, CCIFG1, TAIFG.
type Seen = (u16, bool, bool, bool);

fn reference(steps: &[Step]) -> Vec<Seen> {
    let mut r = Reference { divider: 1, ..Reference::default() };
    let mut seen = Vec::new();
    let ticks = |r: &mut Reference, n: u64| (0..n).for_each(|_| r.tick());
    for step in steps {
        match step {
            Step::Wait(n) => ticks(&mut r, u64::from(*n)),
            // MOV #N, &EDE: 4 cycles, the write in the last: the ticks up to its beginning are counted before.
            Step::Control { mode, id } => {
                ticks(&mut r, 3);
                (r.mode, r.divider) = (MODES[*mode], 1 << id);
                (r.count, r.down, r.phase, r.taifg) = (0, false, 0, false);
                r.held = false;
                ticks(&mut r, 1);
            }
            Step::Write { running, .. } => {
                ticks(&mut r, 3);
                let restart = r.stopped();
                r.held = !running;
                r.taifg = false;
                if restart {
                    r.phase = 0;
                }
                r.settle();
                ticks(&mut r, 1);
            }
            Step::Compare { block, value } => {
                ticks(&mut r, 3);
                let restart = r.stopped();
                r.ccr[*block] = *value;
                if restart && *block == 0 {
                    r.phase = 0;
                }
                r.settle();
                ticks(&mut r, 1);
            }
            Step::Clear { block } => {
                ticks(&mut r, 3);
                r.ccifg[*block] = false;
                ticks(&mut r, 1);
            }
            Step::Look => {
                // Four MOV &EDE, &EDE of 5 cycles, each reading in its third.
                ticks(&mut r, 2);
                let count = r.count;
                ticks(&mut r, 5);
                let first = r.ccifg[0];
                ticks(&mut r, 5);
                let second = r.ccifg[1];
                ticks(&mut r, 5);
                seen.push((count, first, second, r.taifg));
                ticks(&mut r, 3);
            }
        }
    }
    seen
}

fn machine(steps: &[Step]) -> Vec<Seen> {
    let mut p = Program::new();
    let (mut looks, mut control) = (0, 0x0200);
    for step in steps {
        match step {
            Step::Wait(n) => {
                p.nops(usize::from(*n));
            }
            Step::Control { mode, id } => {
                control = 0x0200 | id << 6 | MODES[*mode];
                p.set(TA0CTL, control | 4);
            }
            Step::Write { running, taie } => {
                p.set(TA0CTL, if *running { control } else { control & !0x30 } | taie << 1);
            }
            Step::Compare { block, value } => {
                p.set(TA0CCR0 + 2 * *block as u32, *value);
            }
            Step::Clear { block } => {
                p.set(TA0CCTL0 + 2 * *block as u32, 0);
            }
            Step::Look => {
                looks += 1;
                p.keep(TA0R).keep(TA0CCTL0).keep(TA0CCTL1).keep(TA0CTL);
            }
        }
    }
    let m = p.halt().run();
    let at = |i: u32| {
        (
            kept(&m, 4 * i),
            kept(&m, 4 * i + 1) & 1 != 0,
            kept(&m, 4 * i + 2) & 1 != 0,
            kept(&m, 4 * i + 3) & 1 != 0,
        )
    };
    (0..looks).map(at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn the_timer_is_where_a_stepped_counter_is(steps in steps()) {
        prop_assert_eq!(machine(&steps), reference(&steps));
    }
}

/// A shorter TACCR0 during a longer period lies on the way down, where only TACCR1 of the same value is met.
#[test]
fn a_shorter_period_is_passed_on_the_way_down() {
    let compare = |block, value| Step::Compare { block, value };
    let steps = [
        compare(1, 8),
        compare(0, 6),
        Step::Control { mode: 3, id: 1 },
        Step::Clear { block: 0 },
        compare(0, 14),
        Step::Wait(10),
        compare(0, 8),
        Step::Clear { block: 1 },
        Step::Look,
    ];
    let seen = machine(&steps);
    assert_eq!(seen, reference(&steps));
    assert_eq!(seen, [(8, false, true, true)]);
}
