// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two-wire interface as a master.

use sunseal_mcu::{LintKind, Machine, Wiring};

use crate::bus::{Registers, Step, WRITTEN_AND_READ};
use crate::support::*;

/// Macros: `twi` starts a step with bits of TWCR and keeps the status behind it; registers lie beyond IN and OUT.
const HEAD: &str = "
 .macro twi bits
 ldi r16, \\bits
 sts 0x74, r16
 rcall wait
 .endm
 .macro byte value
 ldi r16, \\value
 sts 0x73, r16
 twi 0x84
 .endm
 rjmp start
 wait: lds r16, 0x74
 sbrs r16, 7
 rjmp wait
 lds r16, 0x71
 st Y+, r16
 ret
 start: ldi r16, 0x10
 out SPH, r16
 ldi r28, 0
 ldi r29, 2
";

fn with(source: &str, part: &Registers) -> Machine {
    let elf = assemble(&format!("{HEAD}{source} done: rjmp done"));
    let mut m = load(&elf);
    let wiring = Wiring { serial: Some("twi"), cs: None };
    m.attach_part("registers", wiring, Box::new(part.clone())).unwrap();
    finish(&mut m, &elf);
    m
}

fn statuses(m: &Machine, count: usize) -> Vec<u8> {
    m.read_mem(DATA + 0x200, count).unwrap().to_vec()
}

#[test]
fn a_master_writes_and_reads_behind_a_repeated_start() {
    let part = Registers::at(0x48);
    let m = with(
        "ldi r16, 29\n sts 0x70, r16\n twi 0xA4\n byte 0x90\n byte 0x20\n byte 0xA5\n twi 0xA4\n byte 0x90\n byte 0x20\n \
         twi 0xA4\n byte 0x91\n twi 0xC4\n lds r18, 0x73\n twi 0x84\n lds r19, 0x73\n ldi r16, 0x94\n sts 0x74, r16\n \
         s: lds r16, 0x74\n sbrc r16, 4\n rjmp s\n lds r20, 0x71\n",
        &part,
    );
    use Step::*;
    let read = 0x21u8.wrapping_mul(7);
    let expected = [&WRITTEN_AND_READ[..], &[Read(read), Stop]].concat();
    assert_eq!(part.steps(), expected);
    let told = [8, 0x18, 0x28, 0x28, 0x10, 0x18, 0x28, 0x10, 0x40, 0x50, 0x58];
    assert_eq!(statuses(&m, 11), told);
    assert_eq!((r(&m, 18), r(&m, 19), r(&m, 20)), (0xA5, read.into(), 0xF8));
    assert!(m.lints().is_empty(), "{:?}", m.lints());
    // 16 + 2 * 29 = 74 cycles a bit; STOP is asked for some cycles behind the last byte.
    let times = part.times_ps();
    let cycles = |ps: u128| (ps * u128::from(HZ) + 500_000_000_000) / 1_000_000_000_000;
    let byte = cycles(times[1] - times[0]);
    assert!((9 * 74..9 * 74 + 40).contains(&byte), "{byte}");
}

#[test]
fn nobody_and_a_part_that_has_enough_are_told_by_the_status() {
    let m = with(
        "ldi r16, 29\n sts 0x70, r16\n twi 0xA4\n byte 0x20\n ldi r16, 0x94\n sts 0x74, r16\n",
        &Registers::at(0x48),
    );
    assert_eq!(statuses(&m, 2), [8, 0x20]);
    let part = Registers { takes: 1, ..Registers::at(0x48) };
    // TWBR 4 is faster than the master is good for.
    let m = with("ldi r16, 4\n sts 0x70, r16\n twi 0xA4\n byte 0x90\n byte 1\n byte 2\n", &part);
    assert_eq!(statuses(&m, 4), [8, 0x18, 0x28, 0x30]);
    assert_eq!(m.lint_count(LintKind::TwiTooFast), 1);
}
