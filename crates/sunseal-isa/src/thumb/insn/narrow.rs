// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoding of the instructions of one halfword (DDI 0403E A5.2).

use super::*;

pub(super) fn decode_narrow(pc: u32, w: u32, in_it: bool) -> Decoded {
    let (rd, rm3) = (low_reg(w, 0), low_reg(w, 3));
    let set = !in_it;
    let here = pc.wrapping_add(4);
    let alu = |op, rd, rn, src| Ok(Kind::Alu { op, set, rd, rn, src });
    let offset = |n: u32| n as i32;
    match w >> 11 {
        0..=2 => {
            let src = shifted(rm3, w >> 11, bits(w, 10, 6));
            no_if(in_it && src == Source::Reg(rm3), "UNPREDICTABLE: MOVS in an IT block")?;
            alu(Alu::Mov, rd, 0, src)
        }
        3 => {
            let op = if w & 1 << 9 == 0 { Alu::Add } else { Alu::Sub };
            let m = low_reg(w, 6);
            let src = if w & 1 << 10 == 0 { Source::Reg(m) } else { plain(u32::from(m)) };
            alu(op, rd, rm3, src)
        }
        4..=7 => {
            let r = low_reg(w, 8);
            let src = plain(w & 0xFF);
            match w >> 11 {
                4 => alu(Alu::Mov, r, 0, src),
                5 => Ok(Kind::Alu { op: Alu::Cmp, set: true, rd: 0, rn: r, src }),
                6 => alu(Alu::Add, r, r, src),
                _ => alu(Alu::Sub, r, r, src),
            }
        }
        8 if w & 1 << 10 == 0 => {
            let two = |op| alu(op, rd, rd, Source::Reg(rm3));
            let shift = |kind| alu(Alu::Mov, rd, 0, Source::ByRegister(rd, kind, rm3));
            let compare =
                |op| Ok(Kind::Alu { op, set: true, rd: 0, rn: rd, src: Source::Reg(rm3) });
            match bits(w, 9, 6) {
                0 => two(Alu::And),
                1 => two(Alu::Eor),
                2 => shift(Shift::Lsl),
                3 => shift(Shift::Lsr),
                4 => shift(Shift::Asr),
                5 => two(Alu::Adc),
                6 => two(Alu::Sbc),
                7 => shift(Shift::Ror),
                8 => compare(Alu::Tst),
                9 => alu(Alu::Rsb, rd, rm3, plain(0)),
                10 => compare(Alu::Cmp),
                11 => compare(Alu::Cmn),
                12 => two(Alu::Orr),
                13 => Ok(Kind::Mul { op: Mul::Mul, set, rd, rn: rm3, rm: rd, ra: 0 }),
                14 => two(Alu::Bic),
                _ => alu(Alu::Mvn, rd, 0, Source::Reg(rm3)),
            }
        }
        8 => {
            let rm = reg(w, 3);
            let rd = rd | (w >> 4 & 8) as u8;
            match bits(w, 9, 8) {
                0 => {
                    no_if(rd == 15 && rm == 15, "UNPREDICTABLE: ADD PC, PC")?;
                    let src = Source::Reg(rm);
                    Ok(Kind::Alu { op: Alu::Add, set: false, rd, rn: rd, src })
                }
                1 => {
                    no_if(
                        rd < 8 && rm < 8,
                        "UNPREDICTABLE: the high-register CMP of two low ones",
                    )?;
                    not_pc([rd, rm])?;
                    let src = Source::Reg(rm);
                    Ok(Kind::Alu { op: Alu::Cmp, set: true, rd: 0, rn: rd, src })
                }
                2 => Ok(Kind::Alu { op: Alu::Mov, set: false, rd, rn: 0, src: Source::Reg(rm) }),
                _ => {
                    no_if(w & 7 != 0, SBZ)?;
                    if w & 1 << 7 == 0 {
                        Ok(Kind::BranchExchange { rm })
                    } else {
                        not_pc([rm])?;
                        Ok(Kind::BranchLinkExchange { rm })
                    }
                }
            }
        }
        9 => {
            let addr = Address::Literal((here & !3).wrapping_add((w & 0xFF) << 2));
            Ok(Kind::Load { moved: Moved::Word, rt: low_reg(w, 8), addr, user: false })
        }
        10 | 11 => {
            let addr = Address::Register(rm3, low_reg(w, 6), 0);
            let load = |moved| Ok(Kind::Load { moved, rt: rd, addr, user: false });
            let store = |moved| Ok(Kind::Store { moved, rt: rd, addr, user: false });
            match bits(w, 11, 9) {
                0 => store(Moved::Word),
                1 => store(Moved::Half),
                2 => store(Moved::Byte),
                3 => load(Moved::SignedByte),
                4 => load(Moved::Word),
                5 => load(Moved::Half),
                6 => load(Moved::Byte),
                _ => load(Moved::SignedHalf),
            }
        }
        12..=17 => {
            let imm = bits(w, 10, 6);
            let (moved, scale) = match w >> 12 {
                6 => (Moved::Word, 2),
                7 => (Moved::Byte, 0),
                _ => (Moved::Half, 1),
            };
            let addr = Address::Offset(rm3, offset(imm << scale));
            Ok(if w & 1 << 11 == 0 {
                Kind::Store { moved, rt: rd, addr, user: false }
            } else {
                Kind::Load { moved, rt: rd, addr, user: false }
            })
        }
        18 | 19 => {
            let addr = Address::Offset(SP as u8, offset((w & 0xFF) << 2));
            let (moved, rt) = (Moved::Word, low_reg(w, 8));
            Ok(if w & 1 << 11 == 0 {
                Kind::Store { moved, rt, addr, user: false }
            } else {
                Kind::Load { moved, rt, addr, user: false }
            })
        }
        20 => {
            let target = (here & !3).wrapping_add((w & 0xFF) << 2);
            Ok(Kind::Adr { rd: low_reg(w, 8), target })
        }
        21 => Ok(Kind::Alu {
            op: Alu::Add,
            set: false,
            rd: low_reg(w, 8),
            rn: SP as u8,
            src: plain((w & 0xFF) << 2),
        }),
        22 | 23 => decode_misc16(pc, w),
        24 => {
            let (rn, list) = (low_reg(w, 8), (w & 0xFF) as u16);
            no_if(list == 0, "UNPREDICTABLE: STM of no register")?;
            let first = list.trailing_zeros();
            no_if(
                list & 1 << rn != 0 && first != u32::from(rn),
                "UNPREDICTABLE: STM stores its base after changing it",
            )?;
            Ok(Kind::StoreMany { rn, list, writeback: true, before: false })
        }
        25 => {
            let (rn, list) = (low_reg(w, 8), (w & 0xFF) as u16);
            no_if(list == 0, "UNPREDICTABLE: LDM of no register")?;
            let writeback = list & 1 << rn == 0;
            Ok(Kind::LoadMany { rn, list, writeback, before: false })
        }
        26 | 27 => match bits(w, 11, 8) {
            14 => Err(Not::Undefined),
            15 => Ok(Kind::Svc { imm: w as u8 }),
            condition => Ok(Kind::Branch {
                condition: Condition::of(condition),
                target: here.wrapping_add(signed(w & 0xFF, 8) << 1),
            }),
        },
        _ => Ok(Kind::Branch {
            condition: Condition::Al,
            target: here.wrapping_add(signed(w & 0x7FF, 11) << 1),
        }),
    }
}

/// Miscellaneous 16-bit instructions, 1011 xxxx (A5.2.5).
fn decode_misc16(pc: u32, w: u32) -> Decoded {
    let (rd, rm) = (low_reg(w, 0), low_reg(w, 3));
    let list = (w & 0xFF) as u16;
    match bits(w, 11, 8) {
        0 => {
            let op = if w & 0x80 == 0 { Alu::Add } else { Alu::Sub };
            let src = plain((w & 0x7F) << 2);
            Ok(Kind::Alu { op, set: false, rd: SP as u8, rn: SP as u8, src })
        }
        1 | 3 | 9 | 11 => {
            let distance = (w >> 3 & 0x40) | (w >> 2 & 0x3E);
            Ok(Kind::CompareBranch {
                nonzero: w & 1 << 11 != 0,
                rn: rd,
                target: pc.wrapping_add(4 + distance),
            })
        }
        2 => {
            let part = if w & 0x40 == 0 { Extended::Half } else { Extended::Byte };
            Ok(Kind::Extend { signed: w & 0x80 == 0, part, rd, rn: 15, rm, rotate: 0 })
        }
        4 | 5 => {
            let list = list | (w as u16 & 0x100) << (LR - 8);
            no_if(list == 0, "UNPREDICTABLE: PUSH of no register")?;
            Ok(Kind::StoreMany { rn: SP as u8, list, writeback: true, before: true })
        }
        12 | 13 => {
            let list = list | (w as u16 & 0x100) << (PC - 8);
            no_if(list == 0, "UNPREDICTABLE: POP of no register")?;
            Ok(Kind::LoadMany { rn: SP as u8, list, writeback: true, before: false })
        }
        6 => {
            if w & 0xE0 != 0x60 {
                return Err(Not::Undefined);
            }
            no_if(w & 0xC != 0, SBZ)?;
            no_if(w & 3 == 0, "UNPREDICTABLE: CPS of no flag")?;
            Ok(Kind::Cps { disable: w & 0x10 != 0, primask: w & 2 != 0, faultmask: w & 1 != 0 })
        }
        10 => {
            let op = match bits(w, 7, 6) {
                0 => Unary::Rev,
                1 => Unary::Rev16,
                3 => Unary::Revsh,
                _ => return Err(Not::Undefined),
            };
            Ok(Kind::Unary { op, rd, rm })
        }
        14 => Ok(Kind::Bkpt { imm: w as u8 }),
        15 if w & 0xF != 0 => {
            let (first, mask) = (bits(w, 7, 4) as u8, (w & 0xF) as u8);
            no_if(
                first == 15 || first == 14 && mask.count_ones() != 1,
                "UNPREDICTABLE: IT with the condition \"never\"",
            )?;
            Ok(Kind::It { first, mask })
        }
        15 => Ok(Kind::Hint(hint(bits(w, 7, 4)))),
        _ => Err(Not::Undefined),
    }
}

/// Unallocated hints are no operation.
pub(super) fn hint(number: u32) -> Hint {
    match number {
        1 => Hint::Yield,
        2 => Hint::Wfe,
        3 => Hint::Wfi,
        4 => Hint::Sev,
        _ => Hint::Nop,
    }
}
