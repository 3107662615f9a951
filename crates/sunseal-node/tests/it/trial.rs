// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program on its board from mark to mark: what is counted, and what is said of one that does not come there.

use crate::common::{FOREVER, STOP_WATCHDOG, data, elf};
use sunseal_board::{Board, BoardError, Counted, Trial, Window};
use sunseal_data::Library;
use sunseal_mcu::Elf;
use sunseal_trace::Silent;

/// mov.b #BIT0, &P1DIR: the trigger pin is an output.
const DRIVE: [u16; 2] = [0x43D2, 0x0204];
/// mov.b #BIT0, &P1OUT: the pin rises.
const RAISE: [u16; 2] = [0x43D2, 0x0202];
/// clr.b &P1OUT: the pin falls.
const LOWER: [u16; 2] = [0x43C2, 0x0202];
const NOP: u16 = 0x4303;
/// bis #LPM4, SR: nothing wakes it.
const HALT: [u16; 2] = [0xD032, 0x00F0];
/// inc R15 ; jmp to it: it never comes to an end, and not to rest.
const BUSY: [u16; 2] = [0x531F, 0x3FFE];

fn run(
    words: &[&[u16]],
    window: Window,
    told: &mut dyn FnMut(u64) -> bool,
) -> Result<Counted, BoardError> {
    let library = Library::from(&data());
    let board = Board::load(library.room("boards"), "msp430f5438a-anagear")?;
    let (parts, device) = (library.room("parts"), board.device(&library)?);
    let program = Elf::parse(&elf(&[&STOP_WATCHDOG[..], &words.concat()].concat()))?;
    let mut trial = Trial::new(&board, &parts, &device, program, window, 25_000_000, told)?;
    trial.measure(&mut Silent)
}

#[test]
fn a_trial_counts_what_lies_between_the_marks() {
    let between = |nops: usize| {
        let nops = vec![NOP; nops];
        let words = [&DRIVE[..], &[NOP; 9], &RAISE, &nops, &LOWER, &[FOREVER]];
        run(&words, None, &mut |_| true).unwrap()
    };
    let (bare, more) = (between(0), between(7));
    assert!(bare.cycles > 0);
    assert_eq!(more.cycles, bare.cycles + 7);
    let of_cpu = more.ledger.of(&more.vocabulary, |component| component == "cpu");
    assert_eq!(of_cpu.spans().map(|(_, span)| span.cycles).sum::<u64>(), more.cycles);
    assert!(more.time > bare.time);
}

#[test]
fn a_program_that_misses_a_mark_is_told_with_its_place() {
    let said = |words: &[&[u16]], window: Window| {
        run(words, window, &mut |_| true).map(|c| c.cycles).unwrap_err().to_string()
    };
    let halted = said(&[&HALT], None);
    let start = "the program did not raise its trigger pin P1.0: it stopped for good at ";
    assert!(halted.starts_with(start), "{halted}");
    let high = said(&[&DRIVE, &RAISE, &HALT], None);
    assert!(high.starts_with("the program did not lower its trigger pin P1.0: "), "{high}");
    let late = said(&[&BUSY], None);
    let start = "the program did not raise its trigger pin P1.0 within 25000000 cycles and ";
    assert!(late.starts_with(start), "{late}");
    let unnamed = said(&[&BUSY], Some(("begin".to_owned(), "end".to_owned())));
    assert!(unnamed.contains("begin"), "{unnamed}");
}

#[test]
fn whoever_is_told_of_a_trial_may_end_it() {
    let mut cycles = Vec::new();
    let mut told = |now| {
        cycles.push(now / 1_000_000);
        cycles.len() < 2
    };
    assert!(matches!(run(&[&BUSY], None, &mut told), Err(BoardError::Stopped)));
    assert_eq!(cycles, [10, 20]);
}
