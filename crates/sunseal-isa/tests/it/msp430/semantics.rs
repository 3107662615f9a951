// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core against the plain reference: random instructions of every form on random state,
//! registers, flags and every byte written compared.

use super::reference::{self, Machine, Memory, initial};
use crate::asm::{self, Arg, Repeat, SP, Size};
use crate::log::Writes;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use sunseal_isa::msp430::{Cpu, Exit, PC, Timing, sr};
use sunseal_isa::msp430::{FlatBus, PageKind};
use sunseal_isa::{Fault, Silent};
use sunseal_trace::Pointed;

const CODE: u32 = 0x8000;
/// Where words are even.
const STACK: u32 = reference::STACK;

thread_local! {
    static RIG: RefCell<(Cpu, FlatBus)> = RefCell::new({
        let mut bus = FlatBus::new();
        bus.map(0..0x10_0000, PageKind::Ram);
        bus.map(CODE..CODE + 0x100, PageKind::Code);
        for (addr, byte) in bus.bytes_mut().iter_mut().enumerate() {
            *byte = initial(addr as u32);
        }
        (Cpu::new(Timing::CPUXV2), bus)
    });
}

#[derive(Clone, Debug)]
enum Form {
    Double(&'static str, Size, Option<Repeat>, Arg, Arg),
    Single(&'static str, Size, Option<Repeat>, Arg),
    Address(&'static str, Arg, Arg),
    Rotate(&'static str, Size, u16, u16),
    Many(&'static str, Size, u16, u16),
    Calla(Arg),
}

impl Form {
    fn words(&self) -> Vec<u16> {
        match *self {
            Self::Double(op, size, None, src, dst) => asm::double(op, size, src, dst),
            Self::Double(op, size, Some(rpt), src, dst) => asm::double_x(op, size, src, dst, rpt),
            Self::Single(op, size, None, arg) => asm::single(op, size, arg),
            Self::Single(op, size, Some(rpt), arg) => asm::single_x(op, size, arg, rpt),
            Self::Address(op, src, dst) => asm::address(op, src, dst),
            Self::Rotate(op, size, n, reg) => asm::rotate(op, size, n, reg),
            Self::Many(op, size, n, reg) => asm::many(op, size, n, reg),
            Self::Calla(arg) => asm::calla(arg),
        }
    }

    fn on_reference(&self, m: &mut Machine) -> Option<()> {
        let length = self.words().len();
        match *self {
            Self::Double(op, size, rpt, src, dst) => {
                return m.double(op, size, rpt, src, dst, length);
            }
            Self::Single(op, size, rpt, arg) => m.single(op, size, rpt, arg, length),
            Self::Address(op, src, dst) => m.address(op, src, dst, length),
            Self::Rotate(op, size, n, reg) => m.rotate(op, size, n, reg),
            Self::Many(op, size, n, reg) => m.many(op, size, n, reg),
            Self::Calla(arg) => m.calla(arg, length),
        }
        Some(())
    }
}

fn registers() -> impl Strategy<Value = [u32; 16]> {
    let value = prop_oneof![
        3 => (0u32..1 << 20).prop_map(|v| v & !1),
        2 => (0u32..1 << 16).prop_map(|v| v & !1),
        1 => 0u32..1 << 20,
        1 => (0u32..100_000).prop_map(|v| u32::from_str_radix(&v.to_string(), 16).unwrap()),
        1 => prop::sample::select(vec![0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7_FFFF, 0x8_0000, 0xF_FFFF]),
    ];
    (prop::array::uniform16(value), 0u32..512).prop_map(|(mut r, flags)| {
        r[PC] = CODE;
        r[1] &= !1;
        r[2] = flags & (sr::C | sr::Z | sr::N | sr::V);
        r[3] = 0;
        r
    })
}

fn general() -> impl Strategy<Value = u16> {
    4u16..16
}

fn any_register() -> impl Strategy<Value = u16> {
    prop_oneof![8 => general(), 1 => 0u16..4]
}

fn index(extended: bool) -> BoxedStrategy<i32> {
    if extended {
        (-0x8_0000i32..0x8_0000).prop_map(|x| x & !1).boxed()
    } else {
        (-0x8000i32..0x8000).prop_map(|x| x & !1).boxed()
    }
}

fn memory(extended: bool) -> impl Strategy<Value = Arg> {
    let top = if extended { 1u32 << 20 } else { 1 << 16 };
    prop_oneof![
        3 => (index(extended), prop_oneof![8 => general(), 1 => Just(SP)]).prop_map(|(x, r)| Arg::X(x, r)),
        1 => index(extended).prop_map(|x| Arg::X(x, 0)),
        1 => (0..top).prop_map(|a| Arg::Abs(a & !1)),
    ]
}

fn source(extended: bool) -> impl Strategy<Value = Arg> {
    let top = if extended { 1u32 << 20 } else { 1 << 16 };
    prop_oneof![
        3 => any_register().prop_map(Arg::R),
        3 => memory(extended),
        1 => general().prop_map(Arg::At),
        2 => prop_oneof![6 => general(), 1 => Just(SP)].prop_map(Arg::Inc),
        1 => (0..top).prop_map(Arg::Imm),
        1 => prop::sample::select(vec![0, 1, 2, 4, 8, -1]).prop_map(Arg::Cg),
    ]
}

fn repeat() -> impl Strategy<Value = Repeat> {
    let times =
        prop_oneof![2 => Just(Ok(1)), 2 => (1u16..=16).prop_map(Ok), 1 => general().prop_map(Err)];
    (any::<bool>(), times).prop_map(|(zc, times)| Repeat { zc, times })
}

fn form() -> impl Strategy<Value = Form> {
    let base = prop::sample::select(vec![Size::B, Size::W]);
    let all = prop::sample::select(vec![Size::B, Size::W, Size::A]);
    let double = prop::sample::select(asm::DOUBLE.to_vec());
    let destination = |extended| prop_oneof![any_register().prop_map(Arg::R), memory(extended)];
    let wide = prop::sample::select(vec![Size::W, Size::A]);
    prop_oneof![
        6 => (double.clone(), base.clone(), source(false), destination(false))
            .prop_map(|(op, size, s, d)| Form::Double(op, size, None, s, d)),
        6 => (double, all.clone(), repeat(), source(true), destination(true))
            .prop_map(|(op, size, rpt, s, d)| Form::Double(op, size, Some(rpt), s, d)),
        3 => (prop::sample::select(asm::SINGLE.to_vec()), base, source(false))
            .prop_map(|(op, size, arg)| Form::Single(op, byte_only_where_allowed(op, size), None, arg)),
        3 => (prop::sample::select(asm::SINGLE[..5].to_vec()), all, repeat(), source(true))
            .prop_map(|(op, size, rpt, arg)| {
                Form::Single(op, byte_only_where_allowed(op, size), Some(rpt), arg)
            }),
        2 => address_form(),
        1 => (prop::sample::select(vec!["RRCM", "RRAM", "RLAM", "RRUM"]), wide.clone(), 1u16..=4, general())
            .prop_map(|(op, size, n, reg)| Form::Rotate(op, size, n, reg)),
        1 => (prop::sample::select(vec!["PUSHM", "POPM"]), wide, 1u16..=12, general())
            .prop_filter("registers above R3", |(_, _, n, reg)| n + 3 <= *reg)
            .prop_map(|(op, size, n, reg)| Form::Many(op, size, n, reg)),
        1 => calla_form(),
    ]
    .prop_filter("constants are no destination", |form| match form {
        Form::Single(op, _, _, arg) => {
            matches!(*op, "PUSH" | "CALL") || !matches!(arg, Arg::Imm(_) | Arg::R(0) | Arg::Cg(_))
        }
        _ => true,
    })
}

fn byte_only_where_allowed(op: &str, size: Size) -> Size {
    if size == Size::B && matches!(op, "SWPB" | "SXT" | "CALL") { Size::W } else { size }
}

fn address_form() -> impl Strategy<Value = Form> {
    let near = || index(false);
    let reg = || general().prop_map(Arg::R);
    let memory = || {
        prop_oneof![
            (near(), general()).prop_map(|(x, r)| Arg::X(x, r)),
            near().prop_map(|x| Arg::X(x, 0)),
            (0u32..1 << 20).prop_map(|a| Arg::Abs(a & !1)),
        ]
    };
    let alu = prop::sample::select(vec!["MOVA", "CMPA", "ADDA", "SUBA"]);
    prop_oneof![
        (alu.clone(), any_register().prop_map(Arg::R), any_register().prop_map(Arg::R))
            .prop_map(|(op, s, d)| Form::Address(op, s, d)),
        (alu, (0u32..1 << 20).prop_map(Arg::Imm), reg())
            .prop_map(|(op, s, d)| Form::Address(op, s, d)),
        (memory(), reg()).prop_map(|(s, d)| Form::Address("MOVA", s, d)),
        (reg(), memory()).prop_map(|(s, d)| Form::Address("MOVA", s, d)),
        (general().prop_map(Arg::At), reg()).prop_map(|(s, d)| Form::Address("MOVA", s, d)),
        (general().prop_map(Arg::Inc), reg()).prop_map(|(s, d)| Form::Address("MOVA", s, d)),
        (0u32..1 << 20).prop_map(|n| Form::Address("MOVA", Arg::Imm(n & !1), Arg::R(0))),
    ]
}

fn calla_form() -> impl Strategy<Value = Form> {
    prop_oneof![
        (0u32..1 << 20).prop_map(|n| Arg::Imm(n & !1)),
        (0u32..1 << 20).prop_map(|n| Arg::Abs(n & !1)),
        general().prop_map(Arg::R),
        general().prop_map(Arg::At),
        general().prop_map(Arg::Inc),
        (index(false), general()).prop_map(|(x, r)| Arg::X(x, r)),
        index(true).prop_map(|x| Arg::X(x, 0)),
    ]
    .prop_map(Form::Calla)
}

/// Runs `words` on the core: registers and bytes written, or the fault. Memory is left as it was.
fn on_core(words: &[u16], r: [u32; 16]) -> Result<([u32; 16], BTreeMap<u32, u8>), Fault> {
    RIG.with_borrow_mut(|(cpu, bus)| {
        bus.load(CODE, words);
        cpu.invalidate(CODE..CODE + 16);
        cpu.r = r;
        let start = cpu.cycles;
        let mut writes = Writes::default();
        let exit = cpu.step(bus, &mut Pointed::new(&mut writes));
        let written: BTreeMap<u32, u8> = writes.bytes().collect();
        for (&addr, &byte) in &written {
            assert_eq!(bus.bytes()[addr as usize], byte, "what the observer heard at {addr:#x}");
            bus.bytes_mut()[addr as usize] = initial(addr);
        }
        // Unobserved, other handlers run, to the same end.
        let watched = std::mem::replace(&mut cpu.r, r);
        let cycles = cpu.cycles;
        assert_eq!(cpu.step(bus, &mut Silent), exit, "unobserved {words:04x?}");
        assert_eq!(cpu.r, watched, "registers after unobserved {words:04x?}");
        assert_eq!(cpu.cycles - cycles, cycles - start, "cycles of unobserved {words:04x?}");
        for (&addr, &byte) in &written {
            assert_eq!(bus.bytes()[addr as usize], byte, "{addr:#x} after unobserved {words:04x?}");
            bus.bytes_mut()[addr as usize] = initial(addr);
        }
        for addr in CODE..CODE + 8 {
            bus.bytes_mut()[addr as usize] = initial(addr);
        }
        match exit {
            Exit::Fault(fault) => Err(fault),
            Exit::Deadline | Exit::Status => Ok((cpu.r, written)),
            Exit::Breakpoint => unreachable!("none is set"),
        }
    })
}

fn compare(form: &Form, r: [u32; 16]) -> Result<(), TestCaseError> {
    let words = form.words();
    let mut memory = Memory::default();
    for (i, byte) in words.iter().flat_map(|w| w.to_le_bytes()).enumerate() {
        memory.code.insert(CODE + i as u32, byte);
    }
    let mut machine = Machine { r, memory };
    if form.on_reference(&mut machine).is_none() {
        return Ok(()); // digits above nine
    }
    let to_code = machine.memory.written.keys().any(|a| (CODE..CODE + 0x100).contains(a));
    let odd = machine.memory.odd.get() || machine.r[PC] % 2 == 1;
    match on_core(&words, r) {
        Err(fault) => {
            prop_assert!(odd || to_code, "{fault} in {words:04x?}");
            prop_assert_eq!(fault.pc(), Some(CODE));
        }
        Ok((mut registers, written)) => {
            prop_assert!(!odd && !to_code, "no fault in {:04x?}", words);
            let mut expected = machine.r;
            let dadd = matches!(form, Form::Double("DADD", ..));
            let rlam = matches!(form, Form::Rotate("RLAM", ..));
            if dadd || rlam {
                // V is undefined.
                expected[2] &= !sr::V;
                registers[2] &= !sr::V;
            }
            prop_assert_eq!(registers, expected, "registers after {:04x?}", words);
            prop_assert_eq!(written, machine.memory.written, "bytes written by {:04x?}", words);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16_000, ..ProptestConfig::default() })]

    #[test]
    fn every_form_does_what_the_manual_says(form in form(), r in registers()) {
        compare(&form, r)?;
    }
}

/// Instructions whose operands are SP, PC, or a constant register, on a stack of numbers that are all different and
/// even, so that a call by any of them goes somewhere and the place tells which.
fn special() -> impl Strategy<Value = Form> {
    let sp = || {
        prop_oneof![
            (-8i32..8).prop_map(|x| Arg::X(2 * x, SP)),
            Just(Arg::At(SP)),
            Just(Arg::Inc(SP)),
            Just(Arg::R(SP))
        ]
    };
    let low = || prop_oneof![Just(Arg::R(0)), Just(Arg::R(1)), Just(Arg::R(2)), Just(Arg::R(3))];
    let size = prop::sample::select(vec![Size::B, Size::W]);
    let all = prop::sample::select(vec![Size::B, Size::W, Size::A]);
    let once = Repeat { zc: false, times: Ok(1) };
    prop_oneof![
        3 => (prop::sample::select(vec!["PUSH", "CALL"]), size.clone(), prop_oneof![4 => sp(), 1 => low()])
            .prop_map(|(op, size, arg)| Form::Single(op, byte_only_where_allowed(op, size), None, arg)),
        1 => (all.clone(), sp()).prop_map(move |(size, arg)| Form::Single("PUSH", size, Some(once), arg)),
        2 => (prop::sample::select(vec!["ADDA", "SUBA", "CMPA", "MOVA"]), low(), general())
            .prop_map(|(op, s, d)| Form::Address(op, s, Arg::R(d))),
        2 => (prop::sample::select(asm::DOUBLE.to_vec()), size, low(), memory(false))
            .prop_map(|(op, size, s, d)| Form::Double(op, size, None, s, d)),
        1 => (prop::sample::select(asm::DOUBLE.to_vec()), all, low(), memory(true))
            .prop_map(move |(op, size, s, d)| Form::Double(op, size, Some(once), s, d)),
        1 => (low(), memory(false).prop_filter("of 20 bits", |m| !matches!(m, Arg::X(_, SP))))
            .prop_map(|(s, d)| Form::Address("MOVA", s, d)),
        1 => (-8i32..8).prop_map(|x| Form::Calla(Arg::X(2 * x, SP))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, ..ProptestConfig::default() })]

    #[test]
    fn operands_by_sp_pc_and_constant_registers_are_what_silicon_makes_of_them(
        form in special(),
        mut r in registers(),
        at in 0u32..0x100,
    ) {
        r[1] = STACK + 2 * at;
        compare(&form, r)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, ..ProptestConfig::default() })]

    #[test]
    fn alu_flags_agree_with_signed_and_unsigned_integers(
        op in prop::sample::select(asm::DOUBLE.to_vec()),
        size in prop::sample::select(vec![Size::B, Size::W, Size::A]),
        r in registers(),
        zc in any::<bool>(),
    ) {
        let rpt = Repeat { zc, times: Ok(1) };
        compare(&Form::Double(op, size, Some(rpt), Arg::R(5), Arg::R(6)), r)?;
    }

    #[test]
    fn decimal_addition_is_decimal(
        a in 0u32..100_000, b in 0u32..100_000, carry in any::<bool>(),
        size in prop::sample::select(vec![Size::B, Size::W, Size::A]),
    ) {
        let bcd = |n: u32| u32::from_str_radix(&n.to_string(), 16).unwrap();
        let digits = match size { Size::B => 2, Size::W => 4, Size::A => 5 };
        let top = 10u32.pow(digits);
        let (a, b) = (a % top, b % top);
        let mut r = [0; 16];
        r[PC] = CODE;
        r[2] = u32::from(carry);
        r[5] = bcd(a);
        r[6] = bcd(b);
        let once = Repeat { zc: false, times: Ok(1) };
        let words = asm::double_x("DADD", size, Arg::R(5), Arg::R(6), once);
        let (after, _) = on_core(&words, r).unwrap();
        let sum = a + b + u32::from(carry);
        prop_assert_eq!(after[6], bcd(sum % top));
        prop_assert_eq!(after[2] & sr::C != 0, sum >= top);
        prop_assert_eq!(after[2] & sr::Z != 0, sum % top == 0);
        prop_assert_eq!(after[2] & sr::N != 0, bcd(sum % top) >> (digits * 4 - 1) == 1);
    }
}
