// SPDX-License-Identifier: MIT OR Apache-2.0
//! Aliases, bit-banding, SRAM banks, flash: wait states, buffers, programming and erasing.

use crate::support::*;

#[test]
fn sram_is_seen_through_the_code_buses_too() {
    let r = Program::new(
        "
  ldr r0, =0x20000100
  ldr r1, =0x11223344
  str r1, [r0]
  ldr r0, =0x01000100
  ldr r2, [r0]
  keepr r2
  strb r0, [r0, #1]
  ldr r0, =0x20000100
  ldr r2, [r0]
  keepr r2
  @ A routine copied there runs.
  ldr r0, =0x20000200
  ldr r1, =0x4770202A
  str r1, [r0]
  ldr r0, =0x01000201
  blx r0
  keepr r0
  halt
",
    )
    .run();
    assert_eq!([r.kept(0), r.kept(1), r.kept(2)], [0x1122_3344, 0x1122_0044, 42]);
}

#[test]
fn bit_band_words_are_bits_of_sram_and_of_registers() {
    let r = Program::new(
        "
  ldr r0, =0x20000104
  mov r1, #0
  str r1, [r0]
  @ Bit 13 of the word at 0x20000104.
  ldr r0, =0x22000000 + (0x104 * 32) + 13 * 4
  mov r1, #1
  str r1, [r0]
  ldr r2, [r0]
  keepr r2
  ldr r0, =0x20000104
  ldr r2, [r0]
  keepr r2
  @ P1DIR and P1OUT bit 2 through the peripherals' alias.
  ldr r0, =0x42000000 + (0x4C04 * 32) + 2 * 4
  str r1, [r0]
  ldr r0, =0x42000000 + (0x4C02 * 32) + 2 * 4
  str r1, [r0]
  keeph P1OUT
  ldr r0, =0x42000000 + (0x4C02 * 32) + 2 * 4
  mov r1, #0xFE
  str r1, [r0]
  keeph P1OUT
  halt
",
    )
    .run();
    assert_eq!([r.kept(0), r.kept(1)], [1, 1 << 13]);
    assert_eq!([r.kept(2), r.kept(3)], [4, 0], "only bit 0 of what is written counts");
    let edges: Vec<_> = r.m.pin_log().iter().map(|e| (e.pin.to_string(), e.level)).collect();
    assert_eq!(edges, [("P1.2".to_owned(), true), ("P1.2".to_owned(), false)]);
}

#[test]
fn an_sram_bank_that_is_off_traps() {
    let fault = Program::new(
        "
  put SYS_SRAM_BANKEN, 1
  ldr r0, =0x20002000
  ldr r1, [r0]
",
    )
    .fault();
    assert!(fault.contains("SYS_SRAM_BANKEN"), "{fault}");
}

/// Cycles of sixteen NOPs in flash with a setting of both banks' read control.
fn sixteen_nops(rdctl: u32) -> u64 {
    let p = Program::new(&format!(
        "
  put BANK0_RDCTL, {rdctl}
  b from
.balign 16
.global from, to
from:
  .rept 16
  nop
  .endr
to:
  halt
"
    ));
    let mut r = p.machine();
    let from = r.to("from");
    r.to("to") - from
}

#[test]
fn flash_waits_for_every_word_or_with_the_buffer_for_every_line() {
    assert_eq!(sixteen_nops(0), 16);
    // 32 bytes: eight words, two lines of 128 bits.
    assert_eq!(sixteen_nops(1 << 12), 16 + 8);
    assert_eq!(sixteen_nops(2 << 12), 16 + 2 * 8);
    assert_eq!(sixteen_nops(1 << 12 | 1 << 4), 16 + 2);
    assert_eq!(sixteen_nops(3 << 12 | 1 << 4), 16 + 3 * 2);
}

#[test]
fn data_reads_wait_by_their_own_switch() {
    let cycles = |rdctl: u32| {
        let p = Program::new(&format!(
            "
  ldr r0, =table
  ldr r5, =0x20000201
  @ The loop runs in SRAM, so that only its data wait.
  ldr r1, =code
  ldr r2, =0x20000200
  mov r3, #32
1:
  ldrb r4, [r1], #1
  strb r4, [r2], #1
  subs r3, #1
  bne 1b
  put BANK0_RDCTL, {rdctl}
  ldr r0, =table
  b go
.balign 16
.global go, done
go:
  blx r5
done:
  halt
.balign 4
code:
  ldr r1, [r0]
  ldr r2, [r0, #4]
  ldr r3, [r0, #8]
  ldr r4, [r0, #12]
  bx lr
.balign 16
table:
  .word 1, 2, 3, 4
"
        ));
        let mut r = p.machine();
        let go = r.to("go");
        r.to("done") - go
    };
    let none = cycles(0);
    // BLX at a line's beginning is fetched with one wait, and what it returns to in the same word is there.
    let fetch = 1;
    assert_eq!(cycles(1 << 12) - none, 4 + fetch);
    assert_eq!(cycles(1 << 12 | 1 << 5) - none, 1 + fetch);
}

#[test]
fn a_clock_that_the_wait_states_do_not_reach_is_a_fault() {
    let text = |rdctl: u32| {
        format!(
            "
  put BANK0_RDCTL, {rdctl}
  put CSKEY, 0x695A
  put CSCTL0, 0x00040000
  nop
  nop
  halt
"
        )
    };
    let fault = Program::new(&text(0)).fault();
    assert!(fault.contains("wait states") && fault.contains("24.000 MHz"), "{fault}");
    Program::new(&text(1 << 12)).run();
}

#[test]
fn flash_is_programmed_word_by_word_and_only_from_one_to_zero() {
    let r = Program::new(
        "
  put BANK1_MAIN_WEPROT, 0
  put PRG_CTLSTAT, 0xD
  ldr r0, =0x20000
  ldr r1, =0x12345678
  str r1, [r0]
1:
  get r2, FLCTL_IFG
  tst r2, #8
  beq 1b
  ldr r0, =0x20000
  ldr r2, [r0]
  keepr r2
  put FLCTL_CLRIFG, 0xFFFF
  ldr r0, =0x20000
  ldr r1, =0xFFFF0000
  str r1, [r0]
1:
  get r2, FLCTL_IFG
  tst r2, #8
  beq 1b
  keepr r2
  ldr r0, =0x20000
  ldr r2, [r0]
  keepr r2
  halt
",
    )
    .run();
    assert_eq!(r.kept(0), 0x1234_5678);
    assert_eq!(r.kept(1) & 0xC, 0xC, "PRG, and AVPST because a 0 did not become a 1");
    assert_eq!(r.kept(2), 0x1234_0000);
}

#[test]
fn a_sector_is_erased_in_its_time_while_the_other_bank_runs_on() {
    let p = Program::new(
        "
  put BANK1_MAIN_WEPROT, 0
  put ERASE_SECTADDR, 0x21000
  put FLCTL_IE, 0x20
  put ERASE_CTLSTAT, 1
  keep ERASE_CTLSTAT
  enable_irq 5
.global go, done
go:
  wfi
done:
  keep ERASE_CTLSTAT
  ldr r0, =0x21000
  ldr r0, [r0]
  keepr r0
  halt
handler:
  put FLCTL_CLRIFG, 0x20
  bx lr
",
    )
    .irq(5, "handler");
    let mut r = p.machine();
    r.m.write_mem(0x21000, &[0; 4096]).unwrap();
    r.m.write_mem(0x22000, &[0; 4]).unwrap();
    r.to("go");
    let go = r.m.time();
    r.to("done");
    let ms = r.m.time().since(go).as_seconds() * 1e3;
    assert!((10.9..11.1).contains(&ms), "{ms}");
    r.halt();
    assert_eq!([r.kept(0) >> 16 & 3, r.kept(1) >> 16 & 3, r.kept(2)], [2, 3, u32::MAX]);
    assert_eq!(r.word(0x22000), 0, "the next sector stays");
}

#[test]
fn code_in_the_bank_that_is_erased_is_held() {
    let p = Program::new(
        "
  put BANK0_MAIN_WEPROT, 0
  put ERASE_SECTADDR, 0x1F000
  ldr r0, =ERASE_CTLSTAT
  mov r1, #1
.global go, done
go:
  str r1, [r0]
  nop
done:
  halt
",
    );
    let mut r = p.machine();
    let go = r.to("go");
    let held = r.to("done") - go;
    // 11 ms at 3 MHz.
    assert!((33_000..33_010).contains(&held), "{held}");
}

#[test]
fn protected_or_unprepared_flash_refuses_stores() {
    let unprepared = Program::new("  ldr r0, =0x20000\n  str r0, [r0]\n").fault();
    assert!(unprepared.contains("PRG_CTLSTAT"), "{unprepared}");
    let protected =
        Program::new("  put PRG_CTLSTAT, 1\n  ldr r0, =0x20000\n  str r0, [r0]\n").fault();
    assert!(protected.contains("WEPROT"), "{protected}");
}

#[test]
fn a_supply_cut_leaves_a_sector_half_erased() {
    let p = Program::new(
        "
  put BANK1_MAIN_WEPROT, 0
  put ERASE_SECTADDR, 0x21000
  put ERASE_CTLSTAT, 1
.global go
go:
  b go
",
    );
    let mut r = p.machine();
    r.m.write_mem(0x21000, &[0; 4096]).unwrap();
    r.to("go");
    r.m.power_cut();
    let ones: u32 = r.m.read_mem(0x21000, 4096).unwrap().iter().map(|b| b.count_ones()).sum();
    assert!((10_000..24_000).contains(&ones), "{ones}");
}

#[test]
fn registers_that_are_not_modelled_name_themselves() {
    let fault = Program::new("  get r0, 0x40003400\n").fault();
    assert!(fault.contains("COMP_E0"), "{fault}");
    let fault = Program::new("  put 0xE0000000, 1\n").fault();
    assert!(fault.contains("ITM"), "{fault}");
}
