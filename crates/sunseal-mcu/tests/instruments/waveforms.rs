// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waveforms: what is written is what happened, and drives another run to the same end.

use sunseal_mcu::vcd::{Dump, Probes, Recorder, Stimulus, Variable, VcdError};
use sunseal_mcu::{Device, Machine, Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

const CODE: u32 = 0x5C00;
const COUNT: u32 = 0x2000;

/// Copies P2.0 to P1.0 and counts its changes.
fn machine() -> Machine {
    let words: [u16; 16] = [
        0x40B2,
        0x5A80,
        0x015C, // mov #0x5A80, &WDTCTL
        0x43D2,
        0x0204, // mov.b #1, &P1DIR
        0x4255,
        0x0201, // mov.b &P2IN, r5
        0xF355, // and.b #1, r5
        0x9546, // cmp.b r5, r6
        0x27FB, // jeq -5
        0x4546, // mov.b r5, r6
        0x45C2,
        0x0202, // mov.b r5, &P1OUT
        0x5392,
        COUNT as u16, // inc &COUNT
        0x3FF5,       // jmp -11
    ];
    let mut m = Machine::new(&Device::msp430f5438a());
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    m.write_mem(CODE, &bytes).unwrap();
    m.write_mem(COUNT, &[0, 0]).unwrap();
    m.write_mem(0xFFFE, &(CODE as u16).to_le_bytes()).unwrap();
    m.reset();
    m
}

fn p2_0() -> Pin {
    "P2.0".parse().unwrap()
}

fn probes() -> Probes {
    let pins = vec!["P1.0".parse().unwrap(), p2_0()];
    let mut probes = Probes { pins, exact: true, ..Probes::default() };
    probes.variable(Variable { name: "count".to_owned(), addr: COUNT, bytes: 2 }).unwrap();
    probes
}

/// Runs for a millisecond under a stimulus; the dump and the count.
fn run(stimulus: Stimulus, probes: Probes) -> (String, Vec<u8>) {
    let (dump, count) = recorded(stimulus, probes);
    (text(&dump), count)
}

fn recorded(mut stimulus: Stimulus, probes: Probes) -> (Dump, Vec<u8>) {
    let mut m = machine();
    let mut recorder = Recorder::new(&m, probes).unwrap();
    let until = Until::time(Picos(1_000_000_000));
    let stop = stimulus.run_recorded(&mut m, &until, &mut Silent, &mut recorder).unwrap();
    assert_eq!(stop, Stop::Time);
    (recorder.finish(&m).unwrap(), m.read_mem(COUNT, 2).unwrap().to_vec())
}

fn text(dump: &Dump) -> String {
    let mut written = Vec::new();
    dump.write_vcd(&mut written).unwrap();
    String::from_utf8(written).unwrap()
}

/// Ticks of a dump, and how many picoseconds one has.
fn ticks(dump: &str) -> (Vec<u64>, u64) {
    let scale = dump.split("$timescale").nth(1).unwrap().split("$end").next().unwrap().trim();
    let (number, unit) = scale.split_once(' ').unwrap();
    let units = ["ps", "ns", "us", "ms", "s"];
    let power = units.iter().position(|u| *u == unit).unwrap() as u32;
    let tick = number.parse::<u64>().unwrap() * 1000u64.pow(power);
    let times = dump.lines().filter_map(|l| l.strip_prefix('#'));
    (times.map(|t| t.parse().unwrap()).collect(), tick)
}

fn by_hand() -> Stimulus {
    let us = |n: u128| Picos(n * 1_000_000);
    let change = |n, level| (us(n), p2_0(), level);
    Stimulus::new(vec![
        change(100, Some(true)),
        change(250, Some(false)),
        change(251, Some(true)),
        change(700, Some(false)),
    ])
}

#[test]
fn a_dump_is_as_it_was() {
    let (dump, count) = run(by_hand(), probes());
    assert!(count[0] == 2 || count[0] == 4, "a pulse of a microsecond may be missed: {count:?}");
    let golden = include_str!("fixtures/golden.vcd");
    // The version of this crate is in the head.
    let body = |text: &str| {
        text.lines()
            .filter(|l| !l.contains("version") && !l.contains("Sunseal"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(body(&dump), body(golden), "the dump is now:\n{dump}");
}

#[test]
fn a_written_dump_drives_another_run_to_the_same_end() {
    let (first, count) = run(by_hand(), probes());
    let again = Stimulus::read(first.as_bytes(), &[("P2.0", p2_0())]).unwrap();
    let (second, again) = run(again, probes());
    assert_eq!(second, first);
    assert_eq!(again, count);
}

#[test]
fn states_are_numbers_with_names_and_operating_points_do_not_bend_times() {
    let mut probes = probes();
    probes.states = true;
    let (dump, _) = recorded(by_hand(), probes);
    let written = text(&dump);
    assert!(!written.contains("$var string"), "{written}");
    let active = dump.states().iter().position(|s| s.starts_with("active")).unwrap();
    assert!(written.contains(&format!("{active} active")), "{written}");
    let (times, tick) = ticks(&written);
    assert!(times.is_sorted() && times.last() >= Some(&1_000_000_000), "{times:?}");
    assert_eq!(tick, 1);
}

#[test]
fn a_tick_is_as_coarse_as_edges_allow_and_only_pins_that_move_are_written() {
    let moved = Probes { states: false, ..Probes::default() };
    let (dump, _) = run(by_hand(), moved);
    let named: Vec<&str> = dump
        .lines()
        .filter(|l| l.starts_with("$var"))
        .map(|l| l.split(' ').nth(4).unwrap())
        .collect();
    assert_eq!(named, ["P1.0", "P2.0"], "{dump}");
    let (times, tick) = ticks(&dump);
    // The shortest pulse has a microsecond.
    assert_eq!(tick, 1_000_000, "{dump}");
    assert!(times.windows(2).all(|t| t[0] < t[1]), "{times:?}");
    let edges = Stimulus::read(dump.as_bytes(), &[("P2.0", p2_0())]).unwrap();
    assert_eq!(run(edges, probes()).1, run(by_hand(), probes()).1);
}

#[test]
fn an_fst_has_the_dumps_head() {
    let (dump, _) = recorded(by_hand(), Probes { states: true, ..probes() });
    let mut out = std::io::Cursor::new(Vec::new());
    dump.write_fst(&mut out).unwrap();
    let out = out.into_inner();
    assert_eq!(out[0], 0, "the first block is the header");
    assert_eq!(u64::from_be_bytes(out[1..9].try_into().unwrap()), 329);
}

#[test]
fn a_dump_of_another_tool_is_scaled_and_found_by_scope() {
    let text = "$timescale 10 ns $end\n$scope module top $end\n$scope module io $end\n\
                $var wire 1 ! button $end\n$var wire 8 # bus $end\n$upscope $end\n$upscope $end\n\
                $enddefinitions $end\n#0\nx!\n#5\n1!\nb101 #\n#7\n0!\n";
    let expected = Stimulus::new(vec![
        (Picos(0), p2_0(), None),
        (Picos(50_000), p2_0(), Some(true)),
        (Picos(70_000), p2_0(), Some(false)),
    ]);
    for name in ["button", "io.button", "top.io.button"] {
        assert_eq!(Stimulus::read(text.as_bytes(), &[(name, p2_0())]).unwrap(), expected);
    }
    let err = Stimulus::read(text.as_bytes(), &[("top.button", p2_0())]).unwrap_err();
    assert_eq!(err.to_string(), "the waveform has no signal `top.button`; it has button, bus");
    let err = Stimulus::read(text.as_bytes(), &[("bus", p2_0())]).unwrap_err();
    assert!(matches!(err, VcdError::Wide { bits: 8, .. }), "{err}");
    let err = Stimulus::read(&b"$timescale 1 ps"[..], &[]).unwrap_err();
    assert!(matches!(err, VcdError::Syntax { .. }), "{err}");
}
