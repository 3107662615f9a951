// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoding of the instructions of two halfwords (DDI 0403E A5.3).

use super::*;

/// 32-bit instructions: `a` and `b` are their halfwords (A5.3).
pub(super) fn decode_wide(pc: u32, a: u32, b: u32) -> Decoded {
    match bits(a, 12, 11) {
        1 => match bits(a, 10, 9) {
            0 if a & 0x40 == 0 => load_store_many(a, b),
            0 => dual_exclusive_table(pc, a, b),
            1 => shifted_register(a, b),
            _ => coprocessor(a, b),
        },
        2 if b & 0x8000 == 0 => {
            if a & 0x200 == 0 {
                modified_immediate(a, b)
            } else {
                plain_immediate(pc, a, b)
            }
        }
        2 => branch_control(pc, a, b),
        _ => match bits(a, 10, 8) {
            0 | 1 => load_store_single(pc, a, b),
            2 => data_register(a, b),
            3 if a & 0x80 == 0 => multiply(a, b),
            3 => multiply_long(a, b),
            _ => coprocessor(a, b),
        },
    }
}

/// Load and store multiple, PUSH and POP (A5.3.5).
fn load_store_many(a: u32, b: u32) -> Decoded {
    let (rn, list, writeback) = (reg(a, 0), b as u16, a & 0x20 != 0);
    let load = a & 0x10 != 0;
    let before = match bits(a, 8, 7) {
        1 => false,
        2 => true,
        _ => return Err(Not::Undefined),
    };
    let few = "UNPREDICTABLE: LDM or STM of fewer than two registers";
    not_pc([rn])?;
    no_if(list.count_ones() < 2, few)?;
    let has = |r: usize| list & 1 << r != 0;
    no_if(has(SP), "UNPREDICTABLE: SP in the list of LDM or STM")?;
    if load {
        no_if(has(PC) && has(LR), "UNPREDICTABLE: LR and PC in the list of LDM")?;
        no_if(
            writeback && has(usize::from(rn)),
            "UNPREDICTABLE: LDM loads the base it writes back",
        )?;
        Ok(Kind::LoadMany { rn, list, writeback, before })
    } else {
        no_if(has(PC), "UNPREDICTABLE: PC in the list of STM")?;
        no_if(
            writeback && has(usize::from(rn)),
            "UNPREDICTABLE: STM stores the base it writes back",
        )?;
        Ok(Kind::StoreMany { rn, list, writeback, before })
    }
}

/// Load and store dual or exclusive, table branch (A5.3.6).
fn dual_exclusive_table(pc: u32, a: u32, b: u32) -> Decoded {
    let (rn, rt, rt2) = (reg(a, 0), reg(b, 12), reg(b, 8));
    let load = a & 0x10 != 0;
    let (index, add, writeback) = (a & 0x100 != 0, a & 0x80 != 0, a & 0x20 != 0);
    if index || writeback {
        let offset = ((b & 0xFF) << 2) as i32;
        let offset = if add { offset } else { -offset };
        let addr = match (index, writeback) {
            _ if rn == 15 && load => {
                no_if(writeback, "UNPREDICTABLE: LDRD relative to PC with writeback")?;
                Address::Literal((pc.wrapping_add(4) & !3).wrapping_add_signed(offset))
            }
            (true, false) => Address::Offset(rn, offset),
            (true, true) => Address::Pre(rn, offset),
            _ => Address::Post(rn, offset),
        };
        good([rt, rt2])?;
        no_if(
            writeback && (rn == rt || rn == rt2),
            "UNPREDICTABLE: a base that is loaded or stored and written back",
        )?;
        return if load {
            no_if(rt == rt2, "UNPREDICTABLE: LDRD of one register twice")?;
            Ok(Kind::LoadDual { rt, rt2, addr })
        } else {
            not_pc([rn])?;
            Ok(Kind::StoreDual { rt, rt2, addr })
        };
    }
    let rd_is = |r: u8, n: u8| no_if(r == n, "UNPREDICTABLE: STREX's result overwrites an operand");
    match (bits(a, 8, 7), load) {
        (0, _) => {
            let offset = (b & 0xFF) << 2;
            not_pc([rn])?;
            if load {
                good([rt])?;
                no_if(rt2 != 15, SBZ)?;
                Ok(Kind::LoadExclusive { moved: Moved::Word, rt, rn, offset })
            } else {
                good([rt, rt2])?;
                rd_is(rt2, rn)?;
                rd_is(rt2, rt)?;
                Ok(Kind::StoreExclusive { moved: Moved::Word, rd: rt2, rt, rn, offset })
            }
        }
        (1, true) if matches!(bits(b, 7, 4), 0 | 1) => {
            no_if(b >> 8 != 0xF0, SBZ)?;
            let rm = reg(b, 0);
            no_if(rn == 13, BAD_REGISTER)?;
            good([rm])?;
            Ok(Kind::TableBranch { half: b & 0x10 != 0, rn, rm })
        }
        (1, _) => {
            let moved = match bits(b, 7, 4) {
                4 => Moved::Byte,
                5 => Moved::Half,
                _ => return Err(Not::Undefined),
            };
            not_pc([rn])?;
            good([rt])?;
            no_if(rt2 != 15, SBZ)?;
            if load {
                no_if(b & 0xF != 15, SBZ)?;
                Ok(Kind::LoadExclusive { moved, rt, rn, offset: 0 })
            } else {
                let rd = reg(b, 0);
                good([rd])?;
                rd_is(rd, rn)?;
                rd_is(rd, rt)?;
                Ok(Kind::StoreExclusive { moved, rd, rt, rn, offset: 0 })
            }
        }
        _ => Err(Not::Undefined),
    }
}

/// The operation of data processing with a flexible operand: by opcode, and by whether Rn or Rd is 15.
fn data_op(code: u32, rn: u8, rd: u8, set: bool) -> Result<Alu, Not> {
    let to_flags = rd == 15 && set;
    Ok(match code {
        0 if to_flags => Alu::Tst,
        0 => Alu::And,
        1 => Alu::Bic,
        2 if rn == 15 => Alu::Mov,
        2 => Alu::Orr,
        3 if rn == 15 => Alu::Mvn,
        3 => Alu::Orn,
        4 if to_flags => Alu::Teq,
        4 => Alu::Eor,
        8 if to_flags => Alu::Cmn,
        8 => Alu::Add,
        10 => Alu::Adc,
        11 => Alu::Sbc,
        13 if to_flags => Alu::Cmp,
        13 => Alu::Sub,
        14 => Alu::Rsb,
        _ => return Err(Not::Undefined),
    })
}

/// Registers that ADD, SUB, CMP and CMN of a constant may have: SP too.
fn data_registers(op: Alu, rd: u8, rn: u8, src: Source) -> Result<(), Not> {
    match op {
        Alu::Tst | Alu::Teq => good([rn]),
        Alu::Cmp | Alu::Cmn => not_pc([rn]),
        Alu::Mov | Alu::Mvn => good([rd]),
        Alu::Add | Alu::Sub => {
            not_pc([rn, rd])?;
            no_if(
                rd == 13 && rn != 13,
                "UNPREDICTABLE: SP as the result of an addition to another register",
            )?;
            if rd == 13
                && let Source::Shifted(_, kind, n) = src
            {
                no_if(
                    kind != Shift::Lsl || n > 3,
                    "UNPREDICTABLE: SP plus a register shifted by more than LSL #3",
                )?;
            }
            Ok(())
        }
        _ => good([rd, rn]),
    }
}

/// Data processing with a shifted register (A5.3.11).
fn shifted_register(a: u32, b: u32) -> Decoded {
    let (rn, rd, rm) = (reg(a, 0), reg(b, 8), reg(b, 0));
    let (code, set) = (bits(a, 8, 5), a & 0x10 != 0);
    let amount = bits(b, 14, 12) << 2 | bits(b, 7, 6);
    if code == 6 {
        if set || b & 0x10 != 0 {
            return Err(Not::Undefined);
        }
        no_if(b & 0x8000 != 0, SBZ)?;
        good([rd, rn, rm])?;
        let top = b & 0x20 != 0;
        let amount = if top && amount == 0 { 32 } else { amount };
        return Ok(Kind::Pkh { top, rd, rn, rm, amount: amount as u8 });
    }
    let op = data_op(code, rn, rd, set)?;
    let src = shifted(rm, bits(b, 5, 4), amount);
    no_if(b & 0x8000 != 0, SBZ)?;
    if op == Alu::Mov && src == Source::Reg(rm) {
        // MOV.W allows SP as source or destination, without setting flags.
        if set {
            good([rd, rm])?;
        } else {
            not_pc([rd, rm])?;
            no_if(rd == 13 && rm == 13, BAD_REGISTER)?;
        }
    } else {
        data_registers(op, rd, rn, src)?;
        good([rm])?;
    }
    Ok(Kind::Alu { op, set, rd: if op.compares() { 0 } else { rd }, rn, src })
}

/// The constant that twelve bits stand for, with its carry: ThumbExpandImm_C (A5.3.2).
fn expand(imm12: u32) -> Result<Source, Not> {
    let byte = imm12 & 0xFF;
    if imm12 >> 10 == 0 {
        let value = match bits(imm12, 9, 8) {
            0 => byte,
            1 => byte << 16 | byte,
            2 => byte << 24 | byte << 8,
            _ => byte << 24 | byte << 16 | byte << 8 | byte,
        };
        no_if(imm12 >> 8 != 0 && byte == 0, "UNPREDICTABLE: a replicated zero as a constant")?;
        return Ok(Source::Imm { value, carry: None });
    }
    let value = (0x80 | imm12 & 0x7F).rotate_right(imm12 >> 7);
    Ok(Source::Imm { value, carry: Some(value >> 31 != 0) })
}

/// The constant of twelve bits that lies in both halfwords: i:imm3:imm8.
fn imm12(a: u32, b: u32) -> u32 {
    (a & 0x400) << 1 | (b & 0x7000) >> 4 | b & 0xFF
}

/// Data processing with a modified immediate (A5.3.1).
fn modified_immediate(a: u32, b: u32) -> Decoded {
    let (rn, rd) = (reg(a, 0), reg(b, 8));
    let (code, set) = (bits(a, 8, 5), a & 0x10 != 0);
    let op = data_op(code, rn, rd, set)?;
    let src = expand(imm12(a, b))?;
    data_registers(op, rd, rn, src)?;
    Ok(Kind::Alu { op, set, rd: if op.compares() { 0 } else { rd }, rn, src })
}

/// Data processing with a plain binary immediate (A5.3.3).
fn plain_immediate(pc: u32, a: u32, b: u32) -> Decoded {
    let (rn, rd) = (reg(a, 0), reg(b, 8));
    let imm = imm12(a, b);
    let base = pc.wrapping_add(4) & !3;
    let lsb = (bits(b, 14, 12) << 2 | bits(b, 7, 6)) as u8;
    let low = (b & 0x1F) as u8;
    match bits(a, 8, 4) {
        code @ (0 | 10) => {
            let subtract = code == 10;
            if rn == 15 {
                good([rd])?;
                let target = if subtract { base.wrapping_sub(imm) } else { base.wrapping_add(imm) };
                return Ok(Kind::Adr { rd, target });
            }
            no_if(rd == 15 || rd == 13 && rn != 13, BAD_REGISTER)?;
            Ok(Kind::AddWide { subtract, rd, rn, imm })
        }
        code @ (4 | 12) => {
            good([rd])?;
            let imm = (u32::from(rn) << 12 | imm) as u16;
            Ok(if code == 4 { Kind::Movw { rd, imm } } else { Kind::Movt { rd, imm } })
        }
        code @ (16 | 18 | 24 | 26) => {
            no_if(a & 0x400 != 0 || b & 0x20 != 0, SBZ)?;
            good([rd, rn])?;
            let signed = code < 24;
            if code & 2 != 0 && lsb == 0 {
                no_if(b & 0x10 != 0, SBZ)?;
                let to = (b & 0xF) as u8 + u8::from(signed);
                let (shift, amount) = (Shift::Lsl, 0);
                return Ok(Kind::Sat { signed, halves: true, rd, to, rn, shift, amount });
            }
            let shift = if code & 2 != 0 { Shift::Asr } else { Shift::Lsl };
            let to = low + u8::from(signed);
            Ok(Kind::Sat { signed, halves: false, rd, to, rn, shift, amount: lsb })
        }
        code @ (20 | 28) => {
            no_if(a & 0x400 != 0 || b & 0x20 != 0, SBZ)?;
            good([rd, rn])?;
            let width = low + 1;
            no_if(lsb + width > 32, "UNPREDICTABLE: a bit field beyond bit 31")?;
            let op = if code == 20 { Field::Sbfx } else { Field::Ubfx };
            Ok(Kind::Field { op, rd, rn, lsb, width })
        }
        22 => {
            no_if(a & 0x400 != 0 || b & 0x20 != 0, SBZ)?;
            no_if(low < lsb, "UNPREDICTABLE: a bit field whose end is before its beginning")?;
            good([rd])?;
            no_if(rn == 13, BAD_REGISTER)?;
            let op = if rn == 15 { Field::Bfc } else { Field::Bfi };
            Ok(Kind::Field { op, rd, rn, lsb, width: low + 1 - lsb })
        }
        _ => Err(Not::Undefined),
    }
}

/// Branches and miscellaneous control (A5.3.4).
fn branch_control(pc: u32, a: u32, b: u32) -> Decoded {
    let here = pc.wrapping_add(4);
    let s = a >> 10 & 1;
    let (j1, j2) = (b >> 13 & 1, b >> 11 & 1);
    let far = || {
        let (i1, i2) = (1 ^ j1 ^ s, 1 ^ j2 ^ s);
        let distance = s << 24 | i1 << 23 | i2 << 22 | (a & 0x3FF) << 12 | (b & 0x7FF) << 1;
        here.wrapping_add(signed(distance, 25))
    };
    match (b >> 14 & 1, b >> 12 & 1) {
        (1, 1) => return Ok(Kind::BranchLink { target: far() }),
        (1, _) => return Err(Not::Undefined), // BLX to Arm state
        (_, 1) => return Ok(Kind::Branch { condition: Condition::Al, target: far() }),
        _ => {}
    }
    if bits(a, 9, 7) != 7 {
        let distance = s << 20 | j2 << 19 | j1 << 18 | (a & 0x3F) << 12 | (b & 0x7FF) << 1;
        return Ok(Kind::Branch {
            condition: Condition::of(bits(a, 9, 6)),
            target: here.wrapping_add(signed(distance, 21)),
        });
    }
    if a & 0x400 != 0 {
        return Err(Not::Undefined);
    }
    let rn = reg(a, 0);
    match bits(a, 6, 4) {
        0 | 1 => {
            no_if(a & 0x10 != 0 || b & 0x2300 != 0, SBZ)?;
            good([rn])?;
            let (mask, special) = (bits(b, 11, 10) as u8, b as u8);
            let known = matches!(special, 0..=3 | 5..=9 | 16..=20);
            no_if(
                !known || mask == 0 || mask != 2 && special > 3,
                "UNPREDICTABLE: MSR of a special register, or part of one, that does not exist",
            )?;
            Ok(Kind::Msr { rn, mask, special })
        }
        2 => {
            no_if(rn != 15 || b & 0x2000 != 0, SBZ)?;
            if bits(b, 10, 8) != 0 {
                return Err(Not::Undefined);
            }
            no_if(b & 0x800 != 0, SBZ)?;
            Ok(match b & 0xFF {
                number @ 0..=4 => Kind::Hint(hint(number)),
                number if number >> 4 == 15 => Kind::Hint(Hint::Dbg(number as u8 & 15)),
                _ => Kind::Hint(Hint::Nop),
            })
        }
        3 => {
            no_if(rn != 15 || b & 0x2F00 != 0xF00, SBZ)?;
            let option = (b & 0xF) as u8;
            match bits(b, 7, 4) {
                2 => {
                    no_if(option != 15, SBZ)?;
                    Ok(Kind::Clrex)
                }
                4 => Ok(Kind::Barrier(Barrier::Dsb, option)),
                5 => Ok(Kind::Barrier(Barrier::Dmb, option)),
                6 => Ok(Kind::Barrier(Barrier::Isb, option)),
                _ => Err(Not::Undefined),
            }
        }
        6 | 7 => {
            no_if(a & 0x10 != 0 || rn != 15 || b & 0x2000 != 0, SBZ)?;
            let (rd, special) = (reg(b, 8), b as u8);
            good([rd])?;
            no_if(
                !matches!(special, 0..=3 | 5..=9 | 16..=20),
                "UNPREDICTABLE: MRS of a special register that does not exist",
            )?;
            Ok(Kind::Mrs { rd, special })
        }
        _ => Err(Not::Undefined),
    }
}

/// Load and store of single data items, memory hints (A5.3.7 to A5.3.10).
fn load_store_single(pc: u32, a: u32, b: u32) -> Decoded {
    let (rn, rt) = (reg(a, 0), reg(b, 12));
    let (load, sign) = (a & 0x10 != 0, a & 0x100 != 0);
    let moved = match (bits(a, 6, 5), sign) {
        (0, false) => Moved::Byte,
        (1, false) => Moved::Half,
        (2, false) => Moved::Word,
        (0, true) if load => Moved::SignedByte,
        (1, true) if load => Moved::SignedHalf,
        _ => return Err(Not::Undefined),
    };
    let word = moved == Moved::Word;
    let hint = load && rt == 15 && !word;
    if load && rn == 15 {
        let imm = (b & 0xFFF) as i32;
        let imm = if a & 0x80 != 0 { imm } else { -imm };
        let addr = Address::Literal((pc.wrapping_add(4) & !3).wrapping_add_signed(imm));
        if hint {
            return preload(moved, addr);
        }
        no_if(rt == 13 && !word, BAD_REGISTER)?;
        return Ok(Kind::Load { moved, rt, addr, user: false });
    }
    if rn == 15 {
        return Err(Not::Undefined);
    }
    let (mut user, mut writeback) = (false, false);
    let addr = if a & 0x80 != 0 {
        Address::Offset(rn, (b & 0xFFF) as i32)
    } else if b & 0x800 == 0 {
        if bits(b, 10, 6) != 0 {
            return Err(Not::Undefined);
        }
        let rm = reg(b, 0);
        good([rm])?;
        Address::Register(rn, rm, bits(b, 5, 4) as u8)
    } else {
        let imm = (b & 0xFF) as i32;
        let (index, add, back) = (b & 0x400 != 0, b & 0x200 != 0, b & 0x100 != 0);
        let imm = if add { imm } else { -imm };
        match (index, add, back) {
            (true, true, false) => {
                user = true;
                Address::Offset(rn, imm)
            }
            (true, false, false) => Address::Offset(rn, imm),
            (false, _, false) => return Err(Not::Undefined),
            (index, _, _) => {
                writeback = true;
                if index { Address::Pre(rn, imm) } else { Address::Post(rn, imm) }
            }
        }
    };
    if hint && !user && !writeback {
        return preload(moved, addr);
    }
    no_if(
        writeback && rn == rt,
        "UNPREDICTABLE: a base that is loaded or stored and written back",
    )?;
    if load {
        if word && !user {
            return Ok(Kind::Load { moved, rt, addr, user });
        }
        good([rt])?;
        Ok(Kind::Load { moved, rt, addr, user })
    } else {
        if word && !user {
            not_pc([rt])?;
        } else {
            good([rt])?;
        }
        Ok(Kind::Store { moved, rt, addr, user })
    }
}

/// Loads of bytes and halfwords to PC are memory hints; those of halfwords are unallocated ones.
fn preload(moved: Moved, addr: Address) -> Decoded {
    match moved {
        Moved::Byte => Ok(Kind::Preload { instruction: false, addr }),
        Moved::SignedByte => Ok(Kind::Preload { instruction: true, addr }),
        _ => Err(Not::Unpredictable("UNPREDICTABLE: a memory hint that is not allocated")),
    }
}

/// Data processing with registers: shifts, extensions, parallel, miscellaneous (A5.3.12 to A5.3.15).
fn data_register(a: u32, b: u32) -> Decoded {
    if bits(b, 15, 12) != 15 {
        return Err(Not::Undefined);
    }
    let (rn, rd, rm) = (reg(a, 0), reg(b, 8), reg(b, 0));
    let code = bits(a, 7, 4);
    let low = bits(b, 7, 4);
    match (code, low) {
        (0..=7, 0) => {
            good([rd, rn, rm])?;
            let kind = [Shift::Lsl, Shift::Lsr, Shift::Asr, Shift::Ror][code as usize >> 1];
            let src = Source::ByRegister(rn, kind, rm);
            Ok(Kind::Alu { op: Alu::Mov, set: code & 1 != 0, rd, rn: 0, src })
        }
        (0..=5, 8..) => {
            let part = [Extended::Half, Extended::TwoBytes, Extended::Byte][code as usize >> 1];
            no_if(b & 0x40 != 0, SBZ)?;
            good([rd, rm])?;
            no_if(rn == 13, BAD_REGISTER)?;
            let rotate = (bits(b, 5, 4) * 8) as u8;
            Ok(Kind::Extend { signed: code & 1 == 0, part, rd, rn, rm, rotate })
        }
        (8.., 0..8) => {
            let op = match code {
                8 => Parallel::Add8,
                9 => Parallel::Add16,
                10 => Parallel::Asx,
                12 => Parallel::Sub8,
                13 => Parallel::Sub16,
                14 => Parallel::Sax,
                _ => return Err(Not::Undefined),
            };
            let lanes = match low {
                0 => Lanes::Signed,
                1 => Lanes::SignedSaturated,
                2 => Lanes::SignedHalved,
                4 => Lanes::Unsigned,
                5 => Lanes::UnsignedSaturated,
                6 => Lanes::UnsignedHalved,
                _ => return Err(Not::Undefined),
            };
            good([rd, rn, rm])?;
            Ok(Kind::Parallel { op, lanes, rd, rn, rm })
        }
        (8, 8..12) => {
            let op = [Saturating::Qadd, Saturating::Qdadd, Saturating::Qsub, Saturating::Qdsub]
                [low as usize - 8];
            good([rd, rn, rm])?;
            Ok(Kind::Saturating { op, rd, rm, rn })
        }
        (9 | 11, 8..12) => {
            let op = match (code, low) {
                (9, 8) => Unary::Rev,
                (9, 9) => Unary::Rev16,
                (9, 10) => Unary::Rbit,
                (9, _) => Unary::Revsh,
                (_, 8) => Unary::Clz,
                _ => return Err(Not::Undefined),
            };
            no_if(rn != rm, "UNPREDICTABLE: the two fields of Rm differ")?;
            good([rd, rm])?;
            Ok(Kind::Unary { op, rd, rm })
        }
        (10, 8) => {
            good([rd, rn, rm])?;
            Ok(Kind::Sel { rd, rn, rm })
        }
        _ => Err(Not::Undefined),
    }
}

/// Multiply, multiply accumulate, absolute difference (A5.3.16).
fn multiply(a: u32, b: u32) -> Decoded {
    let (rn, ra, rd, rm) = (reg(a, 0), reg(b, 12), reg(b, 8), reg(b, 0));
    let (n_top, m_top) = (b & 0x20 != 0, b & 0x10 != 0);
    let none = ra == 15;
    if b & 0xC0 != 0 {
        return Err(Not::Undefined);
    }
    let low = bits(b, 5, 4);
    let op = match (bits(a, 6, 4), low) {
        (0, 0) if none => Mul::Mul,
        (0, 0) => Mul::Mla,
        (0, 1) => Mul::Mls,
        (1, _) if none => Mul::Smul(n_top, m_top),
        (1, _) => Mul::Smla(n_top, m_top),
        (2, 0 | 1) if none => Mul::Smuad(m_top),
        (2, 0 | 1) => Mul::Smlad(m_top),
        (3, 0 | 1) if none => Mul::Smulw(m_top),
        (3, 0 | 1) => Mul::Smlaw(m_top),
        (4, 0 | 1) if none => Mul::Smusd(m_top),
        (4, 0 | 1) => Mul::Smlsd(m_top),
        (5, 0 | 1) if none => Mul::Smmul(m_top),
        (5, 0 | 1) => Mul::Smmla(m_top),
        (6, 0 | 1) => Mul::Smmls(m_top),
        (7, 0) if none => Mul::Usad8,
        (7, 0) => Mul::Usada8,
        _ => return Err(Not::Undefined),
    };
    good([rd, rn, rm])?;
    if op.accumulates() {
        good([ra])?;
    }
    Ok(Kind::Mul { op, set: false, rd, rn, rm, ra: if op.accumulates() { ra } else { 0 } })
}

/// Long multiply, long multiply accumulate, divide (A5.3.17).
fn multiply_long(a: u32, b: u32) -> Decoded {
    let (rn, lo, hi, rm) = (reg(a, 0), reg(b, 12), reg(b, 8), reg(b, 0));
    let op = match (bits(a, 6, 4), bits(b, 7, 4)) {
        (code @ (1 | 3), 15) => {
            no_if(lo != 15, SBZ)?;
            good([hi, rn, rm])?;
            let op = if code == 1 { Mul::Sdiv } else { Mul::Udiv };
            return Ok(Kind::Mul { op, set: false, rd: hi, rn, rm, ra: 0 });
        }
        (0, 0) => MulLong::Smull,
        (2, 0) => MulLong::Umull,
        (4, 0) => MulLong::Smlal,
        (4, 8..12) => MulLong::SmlalHalves(b & 0x20 != 0, b & 0x10 != 0),
        (4, 12 | 13) => MulLong::Smlald(b & 0x10 != 0),
        (5, 12 | 13) => MulLong::Smlsld(b & 0x10 != 0),
        (6, 0) => MulLong::Umlal,
        (6, 6) => MulLong::Umaal,
        _ => return Err(Not::Undefined),
    };
    good([lo, hi, rn, rm])?;
    no_if(lo == hi, "UNPREDICTABLE: one register as both halves of a result")?;
    Ok(Kind::MulLong { op, lo, hi, rn, rm })
}

/// VFPExpandImm of single precision (A6.4.1).
fn float_imm(imm8: u32) -> u32 {
    let exponent = if imm8 & 0x40 != 0 { 0x7C } else { 0x80 } | imm8 >> 4 & 3;
    (imm8 & 0x80) << 24 | exponent << 23 | (imm8 & 0xF) << 19
}

/// Coprocessor instructions, of which floating point is there (A5.3.18 and chapter A6).
fn coprocessor(a: u32, b: u32) -> Decoded {
    if bits(a, 9, 8) == 3 && a & 0x1000 != 0 {
        return Err(Not::Undefined);
    }
    if bits(b, 11, 9) != 5 {
        return Err(if a & 0xFFE0 == 0xEC00 { Not::Undefined } else { Not::NoCoprocessor });
    }
    if a & 0x1000 != 0 {
        return Err(Not::Undefined);
    }
    if bits(a, 9, 8) == 3 {
        return Err(Not::Undefined);
    }
    let double = b & 0x100 != 0;
    // A register of single precision is Vx:x, of double precision x:Vx.
    let single = |word: u32, low: u32, extra: u32| (bits(word, low + 3, low) << 1 | extra) as u8;
    let (d, n, m) = (a >> 6 & 1, b >> 7 & 1, b >> 5 & 1);
    let (sd, sn, sm) = (single(b, 12, d), single(a, 0, n), single(b, 0, m));
    let rt = reg(b, 12);
    if bits(a, 9, 8) != 2 {
        return float_memory(a, b, double);
    }
    if b & 0x10 != 0 {
        let load = a & 0x10 != 0;
        no_if(b & 0xF != 0, SBZ)?;
        if !double {
            return match bits(a, 7, 5) {
                0 => {
                    no_if(b & 0x60 != 0, SBZ)?;
                    good([rt])?;
                    Ok(if load {
                        Kind::FloatToCore { rt, sn }
                    } else {
                        Kind::CoreToFloat { rt, sn }
                    })
                }
                7 if reg(a, 0) == 1 => {
                    no_if(b & 0xE0 != 0, SBZ)?;
                    no_if(rt == 13 || rt == 15 && !load, BAD_REGISTER)?;
                    Ok(if load { Kind::Vmrs { rt } } else { Kind::Vmsr { rt } })
                }
                _ => Err(Not::Undefined),
            };
        }
        // VMOV of a half of a doubleword register.
        if a & 0xC0 != 0 || b & 0x60 != 0 {
            return Err(Not::Undefined);
        }
        if n != 0 {
            return Err(Not::Undefined); // D16 to D31
        }
        good([rt])?;
        let s = reg(a, 0) * 2 + (a >> 5 & 1) as u8;
        return Ok(if load { Kind::HalfToCore { rt, s } } else { Kind::CoreToHalf { rt, s } });
    }
    if double {
        return Err(Not::Undefined);
    }
    let sub = b & 0x40 != 0;
    let op = match (bits(a, 7, 4) & !4, sub) {
        (0, false) => Float::Mla,
        (0, true) => Float::Mls,
        (1, false) => Float::Nmls,
        (1, true) => Float::Nmla,
        (2, false) => Float::Mul,
        (2, true) => Float::Nmul,
        (3, false) => Float::Add,
        (3, true) => Float::Sub,
        (8, false) => Float::Div,
        (9, false) => Float::Fnms,
        (9, true) => Float::Fnma,
        (10, false) => Float::Fma,
        (10, true) => Float::Fms,
        (11, false) => {
            no_if(b & 0xA0 != 0, SBZ)?;
            return Ok(Kind::FloatImm { sd, bits: float_imm((a & 0xF) << 4 | b & 0xF) });
        }
        (11, true) => return float_unary(a, b, sd, sm),
        _ => return Err(Not::Undefined),
    };
    Ok(Kind::Float { op, sd, sn, sm })
}

/// A6.5, table A6-4: other floating-point data processing.
fn float_unary(a: u32, b: u32, sd: u8, sm: u8) -> Decoded {
    let top = b & 0x80 != 0;
    let op = match a & 0xF {
        0 if top => FloatUnary::Abs,
        0 => FloatUnary::Mov,
        1 if top => FloatUnary::Sqrt,
        1 => FloatUnary::Neg,
        2 => FloatUnary::FromHalf(top),
        3 => FloatUnary::ToHalf(top),
        4 => return Ok(Kind::FloatCompare { quiet_too: top, sd, sm: Some(sm) }),
        5 => {
            no_if(b & 0x2F != 0, SBZ)?;
            return Ok(Kind::FloatCompare { quiet_too: top, sd, sm: None });
        }
        8 => FloatUnary::FromInt(top),
        code @ (12 | 13) => FloatUnary::ToInt { signed: code == 13, to_zero: top },
        code @ (10 | 11 | 14 | 15) => {
            let size = if top { 32 } else { 16 };
            let imm = (b & 0xF) << 1 | b >> 5 & 1;
            no_if(imm > size, "UNPREDICTABLE: more fraction bits than the number has")?;
            let (signed, word, fraction) = (code & 1 == 0, top, (size - imm) as u8);
            let op = if code & 4 == 0 {
                FloatUnary::FromFixed { signed, word, fraction }
            } else {
                FloatUnary::ToFixed { signed, word, fraction }
            };
            return Ok(Kind::FloatUnary { op, sd, sm: sd });
        }
        _ => return Err(Not::Undefined),
    };
    Ok(Kind::FloatUnary { op, sd, sm })
}

/// A6.6 and A6.7: loads, stores, and moves of two registers.
fn float_memory(a: u32, b: u32, double: bool) -> Decoded {
    let (rn, rt) = (reg(a, 0), reg(b, 12));
    let d = (a >> 6 & 1) as u8;
    let fd = if double { rt | d << 4 } else { rt << 1 | d };
    let (p, u, w, load) = (a & 0x100 != 0, a & 0x80 != 0, a & 0x20 != 0, a & 0x10 != 0);
    let imm = b & 0xFF;
    let many = |before, writeback| {
        let count = if double { imm >> 1 } else { imm } as u8;
        no_if(double && imm & 1 != 0, "UNPREDICTABLE here: FLDMX or FSTMX")?;
        let last = u32::from(fd) + u32::from(count);
        let most = if double { 16 } else { 32 };
        no_if(count == 0 || last > most, "UNPREDICTABLE: no register, or more than exist")?;
        not_pc([rn])?;
        Ok(Kind::FloatMany { load, double, first: fd, count, rn, writeback, before })
    };
    match (p, u, w) {
        (false, false, false) if d != 0 => {
            let rt2 = rn;
            if b & 0xD0 != 0x10 {
                return Err(Not::Undefined);
            }
            let m = (b >> 5 & 1) as u8;
            let sm = if double { reg(b, 0) << 1 } else { reg(b, 0) << 1 | m };
            if double && m != 0 {
                return Err(Not::Undefined); // D16 to D31
            }
            good([rt, rt2])?;
            no_if(sm == 31, "UNPREDICTABLE: two registers from S31 on")?;
            if load {
                no_if(rt == rt2, "UNPREDICTABLE: one register for two results")?;
                Ok(Kind::FloatsToCore { rt, rt2, sm, double })
            } else {
                Ok(Kind::CoreToFloats { rt, rt2, sm, double })
            }
        }
        (true, _, false) => {
            if double && fd > 15 {
                return Err(Not::Undefined);
            }
            let offset = (imm << 2) as i32;
            let offset = if u { offset } else { -offset };
            no_if(!load && rn == 15, "UNPREDICTABLE: VSTR relative to PC")?;
            Ok(if load {
                Kind::FloatLoad { double, fd, rn, offset }
            } else {
                Kind::FloatStore { double, fd, rn, offset }
            })
        }
        (false, true, writeback) => many(false, writeback),
        (true, false, true) => many(true, true),
        _ => Err(Not::Undefined),
    }
}
