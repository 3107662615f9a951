// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPY32: products against wide arithmetic, and when they may be read (SLAU208, result availability).

use proptest::prelude::*;
use sunseal_mcu::LintKind;

use crate::asm::Arg::*;
use crate::support::*;

#[test]
fn unsigned_and_signed_products_of_16_bits() {
    let mut p = Program::new();
    p.set(MPY, 0xFFFE).set(OP2, 0x0003).keep(RESLO).keep(RESHI).keep(SUMEXT);
    p.set(MPYS, 0xFFFE).set(OP2, 0x0003).keep(RESLO).keep(RESHI).keep(SUMEXT);
    p.set(MAC, 0x1000).set(OP2, 0x1000).keep(RESLO).keep(RESHI).keep(SUMEXT);
    let m = p.halt().run();
    assert_eq!([kept(&m, 0), kept(&m, 1), kept(&m, 2)], [0xFFFA, 0x0002, 0]);
    assert_eq!([kept(&m, 3), kept(&m, 4), kept(&m, 5)], [0xFFFA, 0xFFFF, 0xFFFF]);
    // MAC adds to the 32 bits before: FFFFFFFA + 01000000 carries out.
    assert_eq!([kept(&m, 6), kept(&m, 7), kept(&m, 8)], [0xFFFA, 0x00FF, 1]);
    assert_eq!(m.lints(), []);
}

#[test]
fn macs_overflow_shows_as_a_sign_that_differs_from_the_carry() {
    // 7FFFFFFF + 1: the result's sign (SUMEXT) is negative, the sum's (MPYC) is not.
    let mut p = Program::new();
    p.set(RESLO, 0xFFFF)
        .set(RESHI, 0x7FFF)
        .set(MACS, 1)
        .set(OP2, 1)
        .nops(1)
        .keep(RESHI)
        .keep(SUMEXT)
        .keep(MPY32CTL0);
    // 80000000 - 1: the other way round.
    p.set(RESLO, 0)
        .set(RESHI, 0x8000)
        .set(MACS, 0xFFFF)
        .set(OP2, 1)
        .nops(1)
        .keep(RESHI)
        .keep(SUMEXT)
        .keep(MPY32CTL0);
    let m = p.halt().run();
    assert_eq!([kept(&m, 0), kept(&m, 1), kept(&m, 2) & 1], [0x8000, 0xFFFF, 0]);
    assert_eq!([kept(&m, 3), kept(&m, 4), kept(&m, 5) & 1], [0x7FFF, 0x0000, 1]);
}

#[test]
fn byte_operands_are_extended_by_the_mode() {
    let mut p = Program::new();
    p.set_b(MPYS, 0xFE).set_b(OP2, 0x03).keep(RESLO).keep(RESHI);
    p.set_b(MPY, 0xFE).set_b(OP2, 0x03).keep(RESLO).keep(RESHI);
    let m = p.halt().run();
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0xFFFA, 0xFFFF]);
    assert_eq!([kept(&m, 2), kept(&m, 3)], [0x02FA, 0x0000]);
}

fn op32(low: u32, a: u32, b: u32) -> [u16; 4] {
    let mut p = Program::new();
    p.set(low, a as u16)
        .set(low + 2, (a >> 16) as u16)
        .set(OP2L, b as u16)
        .set(OP2H, (b >> 16) as u16);
    p.nops(4).keep(RES0).keep(RES0 + 2).keep(RES0 + 4).keep(RES0 + 6).halt();
    let m = p.run();
    assert_eq!(m.lints(), []);
    [0, 1, 2, 3].map(|i| kept(&m, i))
}

fn words(v: u64) -> [u16; 4] {
    [0, 16, 32, 48].map(|s| (v >> s) as u16)
}

/// One operation on an accumulator: operand sizes, mode (MPY, MPYS, MAC, MACS), values.
fn operate(wide1: bool, wide2: bool, mode: u32, acc: u64, a: u32, b: u32) -> (u64, u16) {
    let mut p = Program::new();
    for (i, w) in words(acc).into_iter().enumerate() {
        p.set(RES0 + 2 * i as u32, w);
    }
    if wide1 {
        p.set(MPY32L + 4 * mode, a as u16).set(MPY32H + 4 * mode, (a >> 16) as u16);
    } else {
        p.set(MPY + 2 * mode, a as u16);
    }
    if wide2 {
        p.set(OP2L, b as u16).set(OP2H, (b >> 16) as u16);
    } else {
        p.set(OP2, b as u16);
    }
    p.nops(8);
    (0..4).for_each(|i| {
        p.keep(RES0 + 2 * i);
    });
    let m = p.keep(SUMEXT).halt().run();
    let res = (0..4).map(|i| u64::from(kept(&m, i)) << (16 * i)).sum();
    (res, kept(&m, 4))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_size_and_mode_is_wide_arithmetic(
        wide1: bool, wide2: bool, mode in 0u32..4, acc: u64, a: u32, b: u32
    ) {
        let (signed, accumulate) = (mode & 1 != 0, mode & 2 != 0);
        let extend = |v: u32, wide: bool| match (wide, signed) {
            (true, true) => i128::from(v as i32),
            (true, false) => i128::from(v),
            (false, true) => i128::from(v as u16 as i16),
            (false, false) => i128::from(v as u16),
        };
        let product = extend(a, wide1) * extend(b, wide2);
        let (res, sumext) = operate(wide1, wide2, mode, acc, a, b);
        if wide1 || wide2 {
            let before = match (accumulate, signed) {
                (false, _) => 0,
                (true, true) => i128::from(acc as i64),
                (true, false) => i128::from(acc),
            };
            let sum = before + product;
            prop_assert_eq!(res, sum as u64);
            let extension = if signed { ((sum as i64) >> 63) as u16 } else { u16::from(sum >> 64 != 0) };
            prop_assert_eq!(sumext, extension);
        } else {
            let before = match (accumulate, signed) {
                (false, _) => 0,
                (true, true) => i128::from(acc as u32 as i32),
                (true, false) => i128::from(acc as u32),
            };
            let sum = before + product;
            prop_assert_eq!(res as u32, sum as u32);
            let extension = if signed { ((sum as i32) >> 31) as u16 } else { u16::from(sum >> 32 != 0) };
            prop_assert_eq!(sumext, extension);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn products_of_32_bits_are_those_of_wide_integers(a: u32, b: u32) {
        prop_assert_eq!(op32(MPY32L, a, b), words(u64::from(a) * u64::from(b)));
        let signed = i64::from(a as i32) * i64::from(b as i32);
        prop_assert_eq!(op32(MPYS32L, a, b), words(signed as u64));
    }
}

#[test]
fn accumulating_32_bits_carries_into_sumext() {
    let mut p = Program::new();
    for i in 0..4 {
        p.set(RES0 + 2 * i, 0xFFFF);
    }
    p.set(MAC32L, 2).set(MAC32H, 0).set(OP2L, 1).set(OP2H, 0).nops(5);
    p.keep(RES0).keep(RES0 + 6).keep(SUMEXT).halt();
    let m = p.run();
    assert_eq!([kept(&m, 0), kept(&m, 1), kept(&m, 2)], [1, 0, 1]);
}

#[test]
fn fraction_and_saturation_of_q15() {
    let mut p = Program::new();
    // 0.5 x 0.5 = 0.25 in Q31 without the doubled sign; -1 x -1 saturates.
    p.set(MPY32CTL0, 0x0004).set(MPYS, 0x4000).set(OP2, 0x4000).nops(2).keep(RESHI);
    p.set(MPY32CTL0, 0x000C).set(MPYS, 0x8000).set(OP2, 0x8000).nops(2).keep(RESHI).keep(RESLO);
    let m = p.halt().run();
    assert_eq!([kept(&m, 0), kept(&m, 1), kept(&m, 2)], [0x2000, 0x7FFF, 0xFFFF]);
}

/// Cycles between the write of the last operand (the last cycle of its MOV) and the read of `addr`:
/// the read of an absolute source happens in the third cycle, of an indirect one in the second.
fn early(wide: bool, addr: u32, nops: usize, indirect: bool) -> u64 {
    let mut p = Program::new();
    p.op("MOV", Imm(addr), R(5)).op("MOV", Imm(3), R(4));
    if wide {
        p.set(MPY32L, 1).set(MPY32H, 1).op("MOV", R(4), Abs(OP2L)).nops(2).op(
            "MOV",
            R(4),
            Abs(OP2H),
        );
    } else {
        p.set(MPY, 1).op("MOV", R(4), Abs(OP2));
    }
    p.nops(nops);
    if indirect {
        p.op("MOV", At(5), R(6));
    } else {
        p.op("MOV", Abs(addr), R(6));
    }
    p.halt().run().lint_count(LintKind::EarlyMpyRead)
}

#[test]
fn a_16_bit_result_may_be_read_by_the_next_instruction_but_not_indirectly() {
    // "3" in the table: an absolute read is in the third cycle behind the write, an indirect one in the second.
    assert_eq!(early(false, RESLO, 0, false), 0);
    assert_eq!(early(false, RESLO, 0, true), 1);
    assert_eq!(early(false, RESLO, 1, true), 0);
}

#[test]
fn a_32_bit_result_is_flagged_until_its_words_are_there() {
    // OP2H is written five cycles behind OP2L; columns RES1, RES2, RES3, MPYC are 8, 10, 11, 11 behind OP2L.
    for (word, cycles) in [(1, 3), (2, 5), (3, 6)] {
        let addr = RES0 + 2 * word;
        let enough = cycles - 3;
        assert_eq!(early(true, addr, enough, false), 0, "RES{word}");
        if enough > 0 {
            assert_eq!(early(true, addr, enough - 1, false), 1, "RES{word}");
        }
    }
    assert_eq!(early(true, SUMEXT, 2, false), 1);
    assert_eq!(early(true, SUMEXT, 3, false), 0);
    assert_eq!(early(true, RES0, 0, false), 0);
}

/// The same under a mode: cycles from the write of the last operand to a read that is not early.
fn ready(mode: u16, wide: bool, addr: u32) -> usize {
    let flagged = |nops: usize| {
        let mut p = Program::new();
        p.set(MPY32CTL0, mode).op("MOV", Imm(3), R(4));
        if wide {
            p.set(MPYS32L, 1).set(MPYS32H, 1).op("MOV", R(4), Abs(OP2L)).nops(2);
            p.op("MOV", R(4), Abs(OP2H));
        } else {
            p.set(MPYS, 1).op("MOV", R(4), Abs(OP2));
        }
        p.nops(nops).op("MOV", Abs(addr), R(6)).halt().run().lint_count(LintKind::EarlyMpyRead) > 0
    };
    3 + (0..12).find(|&nops| !flagged(nops)).expect("ready some time")
}

#[test]
fn a_fraction_is_ready_like_any_result_and_a_saturated_word_with_the_top_one() {
    // SLAU367P table 5-5; 3 stands for "no later than the next absolute read".
    let plain: Vec<usize> = (0..4).map(|w| ready(0, true, RES0 + 2 * w)).collect();
    let fraction: Vec<usize> = (0..4).map(|w| ready(0x0004, true, RES0 + 2 * w)).collect();
    let saturated: Vec<usize> = (0..4).map(|w| ready(0x0008, true, RES0 + 2 * w)).collect();
    assert_eq!(plain, [3, 3, 5, 6]);
    assert_eq!(fraction, plain);
    assert_eq!(saturated, [6, 6, 6, 6]);
    assert_eq!([ready(0x0004, false, RESHI), ready(0x0008, false, RESHI)], [3, 3]);
}

#[test]
fn an_early_read_can_be_made_a_fault_and_names_register_and_place() {
    let mut p = Program::new();
    p.op("MOV", Imm(RES0), R(5)).set(MPY, 2).set(OP2, 2).op("MOV", At(5), R(6)).halt();
    let mut m = p.machine();
    m.fault_on_lints(true);
    let fault = fault_in(&mut m);
    assert!(fault.contains("early MPY32 read") && fault.contains("0x004e4"), "{fault}");
    let lint = m.lints()[0];
    assert_eq!((lint.kind, lint.addr, lint.count), (LintKind::EarlyMpyRead, RES0, 1));
}

#[test]
fn an_operation_started_too_soon_and_the_high_words_of_16_bits_are_flagged() {
    let mut p = Program::new();
    p.set(MPY32L, 1).set(MPY32H, 1).set(OP2L, 3).set(OP2H, 3).op("MOV", R(4), Abs(OP2));
    let m = p.halt().run();
    assert_eq!(m.lint_count(LintKind::MpyOverlap), 1);

    let mut p = Program::new();
    p.set(MPY, 1).set(OP2, 3).nops(8).keep(RES0 + 4);
    assert_eq!(p.halt().run().lint_count(LintKind::Mpy16HighWords), 1);
}

#[test]
fn operations_are_counted_by_width() {
    let mut p = Program::new();
    p.set(MPY, 1).set(OP2, 3).nops(4).set(OP2, 4).nops(4);
    p.set(MPY32L, 1).set(MPY32H, 0).set(OP2L, 3).set(OP2H, 0).nops(9).halt();
    let m = p.run();
    let (ledger, names) = (m.ledger(), m.vocabulary());
    let count = |name: &str| ledger.event(names.find_event(name).unwrap());
    assert_eq!((count("mpy32.op16"), count("mpy32.op32")), (2, 1));
}

#[test]
fn a_delayed_write_waits_for_the_result_before_it() {
    // RELIC's way: the next OP2L comes while RES2 and RES3 of the product before are not there.
    let sum = |ctl: u16| {
        let mut p = Program::new();
        p.set(MPY32CTL0, ctl);
        p.set(MPY32L, 0x5678).set(MPY32H, 0x1234).op("MOV", Imm(0xFFFF), R(4));
        p.op("MOV", R(4), Abs(OP2L)).op("MOV", R(4), Abs(OP2H)).op("MOV", R(4), Abs(OP2L));
        p.op("MOV", Cg(0), Abs(OP2H)).nops(12).keep(RES0).keep(RES0 + 2).keep(RES0 + 4).halt();
        p.run()
    };
    let product = words(0x1234_5678 * 0xFFFF);
    for (ctl, overlaps) in [(0, 1), (0x0100, 0), (0x0300, 0)] {
        let m = sum(ctl);
        assert_eq!(m.lint_count(LintKind::MpyOverlap), overlaps, "MPY32CTL0 {ctl:#06x}");
        assert_eq!([0, 1, 2].map(|i| kept(&m, i)), product[..3]);
    }
    // A delayed operation begins late, and its results are late by as much.
    let early = |ctl: u16| {
        let mut p = Program::new();
        p.set(MPY32CTL0, ctl).set(MPY32L, 1).set(MPY32H, 1).op("MOV", Imm(3), R(4));
        p.op("MOV", R(4), Abs(OP2L)).op("MOV", R(4), Abs(OP2H)).op("MOV", R(4), Abs(OP2));
        p.nops(2).op("MOV", Abs(RES0), R(6)).halt().run().lint_count(LintKind::EarlyMpyRead)
    };
    assert_eq!([early(0x0100), early(0x0300)], [1, 0]);
}

#[test]
fn writes_to_sumext_trap() {
    let mut p = Program::new();
    let fault = fault_of(p.set(SUMEXT, 1));
    assert!(fault.contains("read-only") && fault.contains("0x004ce"), "{fault}");
}
