// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs to breakpoints beside one free run: they stop before each execution of their addresses, and change
//! nothing. Runs to watchpoints beside single steps: they stop behind each access, and change nothing.

use sunseal_mcu::elf::Architecture;
use sunseal_mcu::watch::{Watch, Watchpoints};
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

/// The same in runs that end every so many cycles and every so often as well.
fn in_slices(
    m: &mut Machine,
    sets: &[Vec<u32>],
    end: Cycles,
    cycles: Cycles,
    time: Option<Picos>,
) -> (Vec<At>, Snapshot) {
    let (mut all, mut set) = (Vec::new(), 0);
    loop {
        let slice = Until {
            time: time.map(|t| m.time() + t),
            ..until(m.cycles().saturating_add(cycles).min(end), &sets[set % sets.len()])
        };
        match m.run(&slice, &mut Silent) {
            Stop::Pc(pc) => {
                all.push((pc, m.cycles(), m.time()));
                set += 1;
            }
            Stop::Time => {}
            Stop::Cycles if m.cycles() < end => {}
            _ => return (all, m.snapshot()),
        }
    }
}

/// Tries a program's own addresses, all of them and some of them, as breakpoints of its first `cycles`, and what
/// it reads and writes as watchpoints; the addresses that ran.
pub fn check(m: &mut Machine, cycles: Cycles) -> Vec<u32> {
    let start = m.snapshot();
    check_watchpoints(m, cycles);
    m.restore(&start).unwrap();
    let end = m.cycles() + cycles;
    let path =
        || Path { ends_apart: m.device().architecture() == Architecture::Arm, ..Path::default() };
    let (mut free, mut watched, mut alone) = (path(), path(), path());
    let last = m.run(&until(end, &[]), &mut free);
    let state = m.snapshot();
    // What would have run next is stopped at too.
    let ahead: Vec<u32> =
        free.pcs.iter().copied().chain((last == Stop::Cycles).then(|| m.pc())).collect();
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
        for (i, pc) in ahead.iter().enumerate().skip(1) {
            if sets[set].contains(pc) && expected.last() != Some(&i) {
                expected.push(i);
                set = (set + 1) % sets.len();
            }
        }
        assert_eq!(indices, expected, "stops of {sets:x?}");
        assert_eq!(
            with.iter().map(|at| at.0).collect::<Vec<_>>(),
            expected.iter().map(|&i| ahead[i]).collect::<Vec<_>>(),
        );
        // A limit in front of a place hides it no more than sleep does. One that sleeps for good has no end by time.
        let by_time = (last == Stop::Cycles).then_some((Cycles::MAX, Some(Picos(31_000_000))));
        for (cycles, time) in [(7, None)].into_iter().chain(by_time) {
            m.restore(&start).unwrap();
            let (sliced, there) = in_slices(m, &sets, end, cycles, time);
            assert_eq!((&sliced, &there), (&with, &state), "slices of {cycles} cycles, {sets:x?}");
        }
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

/// An instruction or an interrupt's entry: its data accesses, and where and when it ends.
struct Done {
    accesses: Vec<(u32, Access, Width)>,
    entry: bool,
    pc: u32,
    cycles: Cycles,
    /// When the single step ends that it is in.
    step: Cycles,
}

/// What one single step does, in order.
#[derive(Default)]
struct Step {
    accesses: Vec<(u32, Access, Width)>,
    /// With its address and its cycles.
    done: Vec<(Done, u32, u32)>,
}

impl Observer for Step {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, at: u32, _: u32, cycles: u32, flow: Flow) {
        let accesses = std::mem::take(&mut self.accesses);
        let entry = matches!(flow, Flow::Interrupt { .. } | Flow::InterruptReturn);
        self.done.push((Done { accesses, entry, pc: 0, cycles: 0, step: 0 }, at, cycles));
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, _: u32, _: Cycles) {
        self.accesses.push((addr, kind, width));
    }
}

/// Single steps up to `end`, or until nothing goes on.
fn steps(m: &mut Machine, end: Cycles) -> (Vec<Done>, Stop) {
    let mut all = Vec::new();
    let mut stop = Stop::Cycles;
    while m.cycles() < end && stop == Stop::Cycles {
        let mut step = Step::default();
        stop = m.run(&until(m.cycles() + 1, &[]), &mut step);
        let (mut pc, mut cycles) = (m.pc(), m.cycles());
        let first = all.len();
        for (mut done, at, took) in step.done.into_iter().rev() {
            (done.pc, done.cycles, done.step) = (pc, cycles, m.cycles());
            (pc, cycles) = (at, cycles - Cycles::from(took));
            all.insert(first, done);
        }
    }
    (all, stop)
}

fn check_watchpoints(m: &mut Machine, cycles: Cycles) {
    let start = m.snapshot();
    let end = m.cycles() + cycles;
    let (all, last) = steps(m, end);
    let state = m.snapshot();
    let mut places: Vec<_> = all.iter().flat_map(|d| &d.accesses).copied().collect();
    places.sort_unstable_by_key(|p| (p.0, p.1 == Access::Write, p.2.bytes()));
    places.dedup();
    let whole = |reads, writes| vec![Watch { addr: 0, bytes: u32::MAX, reads, writes }];
    let mut trials = vec![Vec::new(), whole(true, false), whole(false, true), whole(true, true)];
    // Each byte of each access, by watchpoints of its own kind, of the other, of both; and in pairs.
    for pair in places.chunks(1 + places.len() / 40) {
        let (addr, kind, width) = pair[0];
        let watch = |addr, reads, writes| Watch { addr, bytes: 1, reads, writes };
        for byte in 0..width.bytes() {
            let reads = kind == Access::Read;
            trials.push(vec![watch(addr + byte, reads, !reads)]);
        }
        trials.push(vec![watch(addr, true, true)]);
        trials.push(vec![watch(addr, true, false), watch(pair[pair.len() - 1].0, false, true)]);
    }
    for watches in trials {
        let hits = |d: &Done| {
            d.accesses.iter().any(|&(addr, kind, width)| {
                watches.iter().any(|w| {
                    let counts = if kind == Access::Read { w.reads } else { w.writes };
                    counts
                        && (u64::from(addr) < u64::from(w.addr) + u64::from(w.bytes))
                        && w.addr < addr + width.bytes()
                })
            })
        };
        m.restore(&start).unwrap();
        let mut next = 0;
        loop {
            let mut watching = Watchpoints::new(&watches);
            let stop = m.run_to_access(&until(end, &[]), &mut watching);
            let expected = (next..all.len()).find(|&i| hits(&all[i]));
            if stop != Stop::Observer {
                assert_eq!((&stop, expected), (&last, None), "{watches:x?}");
                break;
            }
            let d = &all[expected.expect("an access")];
            assert!(watches.contains(&watching.hit().unwrap()));
            let here = (m.pc(), m.cycles());
            // Two exceptions may be one, and so may an exception's return and what leads to it.
            let apart = !d.entry && d.pc < 0xE000_0000;
            if apart {
                assert_eq!(here, (d.pc, d.cycles), "behind the access, {watches:x?}");
            }
            assert!((d.cycles..=d.step).contains(&here.1), "{watches:x?}");
            let at = (expected.unwrap()..all.len()).find(|&i| (all[i].pc, all[i].cycles) == here);
            next = at.expect("an instruction's end") + 1;
        }
        assert_eq!(m.snapshot(), state, "nothing changed by {watches:x?}");
    }
}
