// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 16-bit hardware multiplier against num-bigint, its result timing and its byte operands.

use num_bigint::BigInt;
use proptest::prelude::*;
use sunseal_mcu::LintKind;

use crate::asm::Arg::*;
use crate::support::*;

#[derive(Clone, Debug)]
struct Operation {
    /// MPY, MPYS, MAC, MACS.
    mode: usize,
    op1: u16,
    op2: u16,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let word = prop_oneof![
        any::<u16>(),
        prop::sample::select(vec![0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF]),
    ];
    let one =
        (0usize..4, word.clone(), word).prop_map(|(mode, op1, op2)| Operation { mode, op1, op2 });
    prop::collection::vec(one, 1..8)
}

/// RESLO, RESHI and SUMEXT behind each operation (SLAU049 section 7.2.3), by numbers without end.
fn expected(operations: &[Operation]) -> Vec<[u16; 3]> {
    let modulus = BigInt::from(1u64 << 32);
    let mut result = BigInt::ZERO;
    let words = |r: &BigInt| -> (u16, u16) {
        let low = ((r % &modulus) + &modulus) % &modulus;
        let low = u32::try_from(low).unwrap();
        (low as u16, (low >> 16) as u16)
    };
    let mut all = Vec::new();
    for o in operations {
        let signed = o.mode & 1 == 1;
        let value = |w: u16| if signed { BigInt::from(w as i16) } else { BigInt::from(w) };
        let product = value(o.op1) * value(o.op2);
        let before = if o.mode >= 2 {
            let (low, high) = words(&result);
            let r = u32::from(high) << 16 | u32::from(low);
            if signed { BigInt::from(r as i32) } else { BigInt::from(r) }
        } else {
            BigInt::ZERO
        };
        result = before + product;
        let (low, high) = words(&result);
        let sumext = match (o.mode, signed) {
            (_, true) => {
                if high & 0x8000 != 0 {
                    0xFFFF
                } else {
                    0
                }
            }
            (_, false) => u16::from(result >= modulus),
        };
        all.push([low, high, sumext]);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn results_are_those_of_big_integers(operations in operations()) {
        let mut p = Program::new();
        for o in &operations {
            p.set(MPY + 2 * o.mode as u32, o.op1).set(OP2, o.op2);
            p.keep(RESLO).keep(RESHI).keep(SUMEXT);
        }
        let m = p.run_halted();
        for (i, want) in expected(&operations).iter().enumerate() {
            let got: [u16; 3] = std::array::from_fn(|k| kept(&m, 3 * i as u32 + k as u32));
            prop_assert_eq!(&got, want, "operation {} of {:?}", i, operations);
        }
        prop_assert_eq!(slips(&m), []);
    }
}

#[test]
fn a_result_read_by_indirect_addressing_needs_an_instruction_between() {
    let read = |wait: bool, indirect: bool| {
        let mut p = Program::new();
        p.op("MOV", Imm(RESLO), R(5)).set(MPY, 300).set(OP2, 7);
        if wait {
            p.nops(1);
        }
        p.op("MOV", if indirect { At(5) } else { Abs(RESLO) }, R(6)).halt();
        let m = p.run();
        (m.register("R6").unwrap(), slips(&m))
    };
    assert_eq!(read(false, false), (2100, vec![]));
    assert_eq!(read(true, true), (2100, vec![]));
    assert_eq!(read(false, true).1, [LintKind::EarlyMpyRead]);
}

#[test]
fn byte_operands_are_extended_with_zeros_by_software_with_signs() {
    let mut p = Program::new();
    p.set_b(MPY, 0x80).set_b(OP2, 0x02).keep(RESLO);
    // SLAU049 section 7.2.2.2: MOV.B #x,&MPYS; SXT &MPYS.
    p.set_b(MPYS, 0x80).put(crate::asm::single("SXT", crate::asm::Size::W, Abs(MPYS)));
    p.set_b(OP2, 0x02).keep(RESLO).keep(SUMEXT);
    assert_eq!(all_kept(&p.run_halted()), [0x0100, 0xFF00, 0xFFFF]);
}

#[test]
fn results_can_be_written_for_a_start_value_and_operations_are_counted() {
    let mut p = Program::new();
    p.set(RESLO, 0xFFFF).set(RESHI, 0xFFFF).set(MAC, 1).set(OP2, 1);
    p.keep(RESLO).keep(RESHI).keep(SUMEXT).keep(MAC).keep(OP2);
    let m = p.run_halted();
    assert_eq!(all_kept(&m), [0, 0, 1, 1, 1]);
    assert_eq!(m.ledger().event(m.vocabulary().find_event("mpy16.op").unwrap()), 1);
}

#[test]
fn the_registers_end_with_sumext() {
    let mut p = Program::new();
    p.set(SUMEXT, 1);
    assert!(fault_of(&p).contains("read-only"), "{}", fault_of(&p));
}
