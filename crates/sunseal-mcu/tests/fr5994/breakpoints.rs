// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::asm::{Arg::*, ONCE, Size::*, address, double, double_x, many, single};
use crate::stops::check;
use crate::support::*;

#[test]
fn runs_stop_in_handlers_in_sram_and_at_code_that_the_program_writes() {
    // Waits of FRAM, a timer's interrupts, a subroutine in SRAM, and one in FRAM that the program changes.
    let (in_ram, in_fram) = (RAM + 0x400, DATA);
    let mut p = Program::clocked(0x000C, 1);
    for (i, word) in [double("ADD", W, Cg(1), R(9)), vec![0x4130]].concat().iter().enumerate() {
        p.set(in_ram + 2 * i as u32, *word).set(in_fram + 2 * i as u32, *word);
    }
    p.set(TA0CCR0, 60).set(TA0CCTL0, 0x10).set(TA0CTL, 0x0210);
    p.op("MOV", Imm(30), R(10)).sleep(GIE);
    let again = p.here();
    p.call(in_ram).call(in_fram);
    // ADD #1 becomes ADD #2, and back.
    p.op("XOR", Imm(u32::from(0x5319u16 ^ 0x5329)), Abs(in_fram));
    p.put(single("PUSH", W, R(9))).op("MOV", Inc(1), R(8));
    p.op("SUB", Cg(1), R(10)).back("JNE", again).halt();
    p.handler(VECTOR_TA0_CCR0).op("ADD", Cg(1), R(11)).reti();
    let mut m = p.machine();
    let places = check(&mut m, 20_000);
    assert!(places.contains(&in_ram) && places.contains(&in_fram));
    assert_eq!(m.reg(9), 30 + 15 + 30, "half of the times by two");
    assert!(m.reg(11) > 3, "interrupts came");
}

#[test]
fn runs_stop_behind_accesses_of_every_width() {
    // Bytes, words, 20 bits, several registers at once, from and to SRAM and FRAM; a timer's interrupts.
    let (ram, fram) = (RAM + 0x400, DATA);
    let mut p = Program::clocked(0x000C, 1);
    p.set(TA0CCR0, 90).set(TA0CCTL0, 0x10).set(TA0CTL, 0x0210);
    p.op("MOV", Imm(12), R(10)).sleep(GIE);
    let again = p.here();
    p.put(many("PUSHM", A, 3, 10)).put(many("POPM", A, 3, 10)).put(many("PUSHM", W, 2, 10));
    p.put(many("POPM", W, 2, 10)).put(single("PUSH", W, R(10))).op("MOV", Inc(1), R(8));
    p.op_b("MOV", R(10), Abs(ram + 1)).op_b("ADD", Abs(ram + 1), Abs(fram + 3));
    p.op("XOR", Abs(fram + 2), Abs(ram + 2)).op("CMP", R(10), Abs(ram + 2));
    p.put(double_x("MOV", A, R(10), Abs(ram + 4), ONCE));
    p.put(double_x("ADD", A, Abs(ram + 4), Abs(fram + 4), ONCE));
    p.put(address("MOVA", Abs(fram + 4), R(9))).put(address("MOVA", R(9), Abs(ram + 8)));
    p.op("SUB", Cg(1), R(10)).back("JNE", again).halt();
    p.handler(VECTOR_TA0_CCR0).op("ADD", Cg(1), Abs(ram + 12)).reti();
    let mut m = p.machine();
    check(&mut m, 4_000);
    assert!(word(&m, ram + 12) > 1, "interrupts came");
    assert_eq!(m.reg(10), 0, "it came to its end");
}
