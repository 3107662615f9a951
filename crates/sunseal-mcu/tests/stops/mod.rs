// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs to breakpoints beside one free run: they stop before each execution of their addresses, and change
//! nothing.

use sunseal_mcu::elf::Architecture;
use sunseal_mcu::{Machine, Snapshot, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Silent, Width};

/// Where the instructions were that ran, in order.
#[derive(Default)]
struct Path {
    pcs: Vec<u32>,
    /// Whether an exception's end is told beside the instruction that led to it.
    ends_apart: bool,
}

impl Observer for Path {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, pc: u32, _: u32, _: u32, flow: Flow) {
        let none = match flow {
            Flow::Interrupt { .. } => true,
            Flow::InterruptReturn => self.ends_apart,
            _ => false,
        };
        if !none {
            self.pcs.push(pc);
        }
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// A stop at a breakpoint: where, and when.
type At = (u32, Cycles, Picos);

fn until(cycles: Cycles, pc: &[u32]) -> Until {
    Until { cycles: Some(cycles), pc: pc.to_vec(), ..Until::default() }
}

/// Runs to `end`, with the sets of breakpoints taking turns at each stop. What it stopped at, how many
/// instructions `observer` had heard of by then, and the end.
fn stops<O: Observer>(
    m: &mut Machine,
    sets: &[Vec<u32>],
    end: Cycles,
    observer: &mut O,
    heard: impl Fn(&O) -> usize,
) -> (Vec<At>, Vec<usize>, Stop, Snapshot) {
    let (mut all, mut indices) = (Vec::new(), Vec::new());
    for set in sets.iter().cycle() {
        match m.run(&until(end, set), observer) {
            Stop::Pc(pc) => {
                assert_eq!(pc, m.pc());
                all.push((pc, m.cycles(), m.time()));
                indices.push(heard(observer));
            }
            stop => return (all, indices, stop, m.snapshot()),
        }
    }
    unreachable!("there is a set")
}

/// Tries a program's own addresses, all of them and some of them, as breakpoints of its first `cycles`; the
/// addresses that ran.
pub fn check(m: &mut Machine, cycles: Cycles) -> Vec<u32> {
    let start = m.snapshot();
    let end = m.cycles() + cycles;
    let path =
        || Path { ends_apart: m.device().architecture() == Architecture::Arm, ..Path::default() };
    let (mut free, mut watched, mut alone) = (path(), path(), path());
    let last = m.run(&until(end, &[]), &mut free);
    let state = m.snapshot();
    let mut places = free.pcs.clone();
    places.sort_unstable();
    places.dedup();
    assert!(places.len() > 8, "a program that does something: {places:x?}");

    let some = |modulus: usize, rest: usize| -> Vec<u32> {
        places.iter().enumerate().filter(|(i, _)| i % modulus == rest).map(|p| *p.1).collect()
    };
    let mut trials: Vec<Vec<Vec<u32>>> = vec![vec![places.clone()], vec![some(2, 0), some(2, 1)]];
    trials.extend((0..5).map(|rest| vec![some(5, rest)]));
    trials.push(vec![some(3, 0), some(4, 1), Vec::new()]);
    // One at a time; also one that is nowhere, one between instructions, one twice.
    trials.extend(places.iter().map(|p| vec![vec![*p, *p, p + 1, 0xFFFF_FFFF]]));
    for sets in trials {
        m.restore(&start).unwrap();
        watched.pcs.clear();
        let (with, indices, stop, there) = stops(m, &sets, end, &mut watched, |o| o.pcs.len());
        assert_eq!(
            watched.pcs, free.pcs,
            "the same instructions run with breakpoints at {sets:x?}"
        );
        assert_eq!((&stop, &there), (&last, &state), "breakpoints at {sets:x?}");
        let (mut expected, mut set) = (Vec::new(), 0);
        // Not where a run begins; that is where the one before it stopped.
        for (i, pc) in free.pcs.iter().enumerate().skip(1) {
            if sets[set].contains(pc) && expected.last() != Some(&i) {
                expected.push(i);
                set = (set + 1) % sets.len();
            }
        }
        assert_eq!(indices, expected, "stops of {sets:x?}");
        assert_eq!(
            with.iter().map(|at| at.0).collect::<Vec<_>>(),
            expected.iter().map(|&i| free.pcs[i]).collect::<Vec<_>>(),
        );
        // Nobody looks on: another loop.
        m.restore(&start).unwrap();
        let (silent, _, stop, there) = stops(m, &sets, end, &mut Silent, |_| 0);
        assert_eq!((silent, &stop, &there), (with.clone(), &last, &state), "silent, {sets:x?}");
        // As a debugger steps: each instruction a run of its own, up to the same places.
        if let Some(&(pc, at, time)) = with.last() {
            m.restore(&start).unwrap();
            alone.pcs.clear();
            while m.cycles() < at {
                assert_eq!(m.run(&until(m.cycles() + 1, &[]), &mut alone), Stop::Cycles);
            }
            assert_eq!((m.cycles(), m.time()), (at, time));
            // What costs no cycle lies before or behind such a stop.
            let (ran, last) = (alone.pcs.len(), *indices.last().unwrap());
            assert!(ran == last && m.pc() == pc || ran < last && m.pc() == free.pcs[ran]);
        }
    }
    m.restore(&state).unwrap();
    places
}
