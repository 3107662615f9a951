// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wait states, the ART's caches and reading ahead, programming and erasing.

use crate::support::*;

/// Cycles of a loop of NOPs of so many bytes, its second turn and its first, with FLASH_ACR so at 4 MHz.
fn turns(acr: u32, bytes: u32) -> (u64, u64) {
    let p = Program::new(&format!(
        "
  put FLASH_ACR, 0
  put FLASH_ACR, 0x1800
  put FLASH_ACR, {acr}
  mov r2, #2
  b from
.balign 32
.global from, to
from:
  .rept {bytes} / 2
  nop
  .endr
to:
  subs r2, #1
  bne.w from
  halt
"
    ));
    let mut r = p.machine();
    let start = r.to("from");
    let first = r.to("to") - start;
    let again = r.to("from");
    (r.to("to") - again, first)
}

#[test]
fn wait_states_cost_once_for_64_bits_and_never_from_the_cache() {
    for waits in 0..=4 {
        let (again, first) = turns(waits | 0x600, 256);
        assert_eq!((first, again), (128 + 32 * u64::from(waits), 128), "{waits} wait states");
        let (again, _) = turns(waits | 0x400, 256);
        assert_eq!(again, 128 + 32 * u64::from(waits), "without ICEN");
    }
}

#[test]
fn the_instruction_cache_holds_a_kilobyte() {
    assert_eq!(turns(0x602, 1024 - 32).0, 496);
    // One line more than there are, and the least recently used is always the one that is wanted next.
    assert_eq!(turns(0x602, 1024 + 32).0, 528 + 2 * 132);
}

#[test]
fn reading_ahead_hides_what_four_instructions_take() {
    // 64 bits are four NOPs of a cycle: of 1 + waits cycles four are hidden.
    for (waits, left) in [(1, 0), (2, 0), (3, 0), (4, 1)] {
        let (_, first) = turns(waits | 0x500, 256);
        assert_eq!(first, 128 + u64::from(waits) + 31 * left, "{waits} wait states");
    }
}

#[test]
fn data_have_a_cache_of_their_own() {
    let cycles = |acr: u32| {
        let p = Program::new(&format!(
            "
  put FLASH_ACR, 0
  put FLASH_ACR, 0x1800
  put FLASH_ACR, {acr}
  ldr r0, =0x08010000
  ldr r1, =0x20000200
  ldr r2, =from
  mov r3, #32
1:
  ldrb r4, [r2], #1
  strb r4, [r1], #1
  subs r3, #1
  bne 1b
  ldr r5, =0x20000201
  bx r5
.balign 4
from:
  ldr r1, [r0]
  nop
  ldr r1, [r0, #64]
  nop
  ldr r1, [r0]
  nop
  ldr r1, [r0, #68]
  nop
  b .
"
        ));
        let mut r = p.machine();
        let at = |r: &mut Run, addr: u32| {
            let until = sunseal_mcu::Until::pc(addr);
            r.m.run(&until, &mut sunseal_trace::Silent);
            r.m.cycles()
        };
        let start = at(&mut r, 0x2000_0200);
        at(&mut r, 0x2000_0210) - start
    };
    let none = cycles(0x600);
    assert_eq!(cycles(0x603) - none, 2 * 3, "two reads miss, two hit");
    assert_eq!(cycles(0x203) - none, 4 * 3, "without DCEN all four wait");
}

#[test]
fn the_caches_are_reset_only_while_they_are_off() {
    let r = Program::new("  put FLASH_ACR, 0xE00\n  halt\n").run();
    assert_eq!(r.m.lint_count(sunseal_mcu::LintKind::LockedBits), 1);
}

const UNLOCK: &str = "  put FLASH_KEYR, 0x45670123\n  put FLASH_KEYR, 0xCDEF89AB\n";

#[test]
fn a_double_word_is_programmed_once_in_bank_2_while_bank_1_runs() {
    let p = Program::new(&format!(
        "
{UNLOCK}
  put FLASH_CR, 1
.global from, to
from:
  put 0x08080000, 0x11223344
  put 0x08080004, 0x55667788
  until_clear FLASH_SR, 0x10000
to:
  keep 0x08080000
  keep 0x08080004
  @ It is not erased now.
  put 0x08080000, 0x01020304
  put 0x08080004, 0
  until_clear FLASH_SR, 0x10000
  keep FLASH_SR
  keep 0x08080000
  @ The other bank has gone on: how often?
  halt
"
    ));
    let mut r = p.machine();
    r.to("from");
    let us = r.us_to("to");
    assert!((81.0..95.0).contains(&us), "{us}");
    r.halt();
    assert_eq!([r.kept(0), r.kept(1)], [0x1122_3344, 0x5566_7788]);
    assert_eq!([r.kept(2), r.kept(3)], [8, 0x1122_3344], "PROGERR, and nothing changed");
}

#[test]
fn a_page_is_erased_by_bank_and_number() {
    let r = Program::new(&format!(
        "
{UNLOCK}
  put FLASH_CR, 1
  put 0x08081800, 0
  put 0x08081804, 0
  until_clear FLASH_SR, 0x10000
  keep 0x08081800
  @ Page 3 of bank 2.
  put FLASH_CR, 0x0001081A
  until_clear FLASH_SR, 0x10000
  keep 0x08081800
  halt
"
    ))
    .run();
    assert_eq!([r.kept(0), r.kept(1)], [0, u32::MAX]);
    let s = r.m.time().as_seconds();
    assert!((0.022..0.023).contains(&s), "{s}");
}

#[test]
fn code_in_the_bank_that_is_programmed_stands_still() {
    let p = Program::new(&format!(
        "
{UNLOCK}
  put FLASH_CR, 1
.global from, to
from:
  put 0x08040000, 0x11223344
  put 0x08040004, 0x55667788
to:
  halt
"
    ));
    let mut r = p.machine();
    r.to("from");
    let us = r.us_to("to");
    assert!(us < 85.0, "{us}");
    r.halt();
    assert!(r.m.time().as_seconds() > 81e-6);
}

#[test]
fn stores_to_flash_that_is_locked_say_what_to_do() {
    let fault = Program::new("  put 0x08080000, 0\n  halt\n").fault();
    assert!(fault.contains("FLASH_KEYR") && fault.contains("FLASH_CR.PG"), "{fault}");
    let locked = Program::new("  put FLASH_KEYR, 1\n  put FLASH_CR, 1\n  halt\n").run();
    assert_eq!(locked.m.lint_count(sunseal_mcu::LintKind::LockedBits), 1);
}
