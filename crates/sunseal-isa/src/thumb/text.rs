// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions in the syntax of the manual (UAL).

use std::fmt::{self, Write as _};

use super::insn::{
    Address, Alu, Barrier, Condition, Extended, Field, Float, FloatUnary, Hint, Insn, Kind, Lanes,
    Moved, Mul, MulLong, Parallel, Saturating, Shift, Source, Unary,
};

struct R(u8);

impl fmt::Display for R {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            13 => f.write_str("SP"),
            14 => f.write_str("LR"),
            15 => f.write_str("PC"),
            n => write!(f, "R{n}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::Al {
            return Ok(());
        }
        f.write_str(&format!("{self:?}").to_uppercase())
    }
}

fn upper(value: impl fmt::Debug) -> String {
    format!("{value:?}").to_uppercase()
}

fn list(registers: u16) -> String {
    let mut text = String::new();
    let mut n = 0;
    while n < 16 {
        if registers & 1 << n == 0 {
            n += 1;
            continue;
        }
        let first = n;
        // SP, LR and PC are written one by one.
        while n < 12 && registers & 1 << (n + 1) != 0 {
            n += 1;
        }
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = match n - first {
            0 => write!(text, "{comma}{}", R(first)),
            1 => write!(text, "{comma}{}, {}", R(first), R(n)),
            _ => write!(text, "{comma}{}-{}", R(first), R(n)),
        };
        n += 1;
    }
    format!("{{{text}}}")
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Imm { value, .. } if value < 1 << 16 => write!(f, "#{value}"),
            Self::Imm { value, .. } => write!(f, "#{value:#x}"),
            Self::Reg(rm) => write!(f, "{}", R(rm)),
            Self::Shifted(rm, Shift::Rrx, _) => write!(f, "{}, RRX", R(rm)),
            Self::Shifted(rm, shift, n) => write!(f, "{}, {} #{n}", R(rm), upper(shift)),
            Self::ByRegister(rm, shift, rs) => write!(f, "{}, {} {}", R(rm), upper(shift), R(rs)),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Offset(rn, 0) => write!(f, "[{}]", R(rn)),
            Self::Offset(rn, offset) => write!(f, "[{}, #{offset}]", R(rn)),
            Self::Pre(rn, offset) => write!(f, "[{}, #{offset}]!", R(rn)),
            Self::Post(rn, offset) => write!(f, "[{}], #{offset}", R(rn)),
            Self::Register(rn, rm, 0) => write!(f, "[{}, {}]", R(rn), R(rm)),
            Self::Register(rn, rm, n) => write!(f, "[{}, {}, LSL #{n}]", R(rn), R(rm)),
            Self::Literal(addr) => write!(f, "{addr:#x}"),
        }
    }
}

fn special(number: u8) -> &'static str {
    match number {
        0 => "APSR",
        1 => "IAPSR",
        2 => "EAPSR",
        3 => "XPSR",
        5 => "IPSR",
        6 => "EPSR",
        7 => "IEPSR",
        8 => "MSP",
        9 => "PSP",
        16 => "PRIMASK",
        17 => "BASEPRI",
        18 => "BASEPRI_MAX",
        19 => "FAULTMASK",
        _ => "CONTROL",
    }
}

fn moved(moved: Moved) -> &'static str {
    match moved {
        Moved::Word => "",
        Moved::Half => "H",
        Moved::Byte => "B",
        Moved::SignedHalf => "SH",
        Moved::SignedByte => "SB",
    }
}

fn half(top: bool) -> char {
    if top { 'T' } else { 'B' }
}

fn mul_name(op: Mul) -> String {
    let x = |x: bool| if x { "X" } else { "" };
    let r = |r: bool| if r { "R" } else { "" };
    match op {
        Mul::Smul(n, m) => format!("SMUL{}{}", half(n), half(m)),
        Mul::Smla(n, m) => format!("SMLA{}{}", half(n), half(m)),
        Mul::Smulw(m) => format!("SMULW{}", half(m)),
        Mul::Smlaw(m) => format!("SMLAW{}", half(m)),
        Mul::Smuad(e) => format!("SMUAD{}", x(e)),
        Mul::Smusd(e) => format!("SMUSD{}", x(e)),
        Mul::Smlad(e) => format!("SMLAD{}", x(e)),
        Mul::Smlsd(e) => format!("SMLSD{}", x(e)),
        Mul::Smmul(e) => format!("SMMUL{}", r(e)),
        Mul::Smmla(e) => format!("SMMLA{}", r(e)),
        Mul::Smmls(e) => format!("SMMLS{}", r(e)),
        op => upper(op),
    }
}

fn mul_long_name(op: MulLong) -> String {
    let x = |x: bool| if x { "X" } else { "" };
    match op {
        MulLong::SmlalHalves(n, m) => format!("SMLAL{}{}", half(n), half(m)),
        MulLong::Smlald(e) => format!("SMLALD{}", x(e)),
        MulLong::Smlsld(e) => format!("SMLSLD{}", x(e)),
        op => upper(op),
    }
}

fn parallel_name(op: Parallel, lanes: Lanes) -> String {
    let prefix = match lanes {
        Lanes::Signed => "S",
        Lanes::SignedSaturated => "Q",
        Lanes::SignedHalved => "SH",
        Lanes::Unsigned => "U",
        Lanes::UnsignedSaturated => "UQ",
        Lanes::UnsignedHalved => "UH",
    };
    format!("{prefix}{}", upper(op))
}

fn float_name(op: Float) -> &'static str {
    match op {
        Float::Mla => "VMLA",
        Float::Mls => "VMLS",
        Float::Nmla => "VNMLA",
        Float::Nmls => "VNMLS",
        Float::Mul => "VMUL",
        Float::Nmul => "VNMUL",
        Float::Add => "VADD",
        Float::Sub => "VSUB",
        Float::Div => "VDIV",
        Float::Fma => "VFMA",
        Float::Fms => "VFMS",
        Float::Fnma => "VFNMA",
        Float::Fnms => "VFNMS",
    }
}

/// S or D registers from `first` on.
fn floats(double: bool, first: u8, count: u8) -> String {
    let letter = if double { 'D' } else { 'S' };
    match count {
        1 => format!("{{{letter}{first}}}"),
        n => format!("{{{letter}{first}-{letter}{}}}", first + n - 1),
    }
}

impl Insn {
    /// A mnemonic with its condition and width, and its operands.
    fn line(&self, mnemonic: impl fmt::Display, operands: impl fmt::Display) -> String {
        let wide = if self.bytes == 4 && self.has_narrow_form() { ".W" } else { "" };
        let condition = self.context.condition();
        format!("{mnemonic}{condition}{wide} {operands}")
    }

    /// With a data type behind the condition.
    fn typed(&self, mnemonic: &str, data: &str, operands: impl fmt::Display) -> String {
        format!("{mnemonic}{}{data} {operands}", self.context.condition())
    }

    /// Whether an assembler could take a 16-bit instruction of the same name.
    fn has_narrow_form(&self) -> bool {
        match self.kind {
            Kind::Alu { op, .. } => !matches!(op, Alu::Orn | Alu::Teq),
            Kind::Mul { op, .. } => op == Mul::Mul,
            Kind::Extend { rn, part, .. } => rn == 15 && part != Extended::TwoBytes,
            Kind::Unary { op, .. } => !matches!(op, Unary::Clz | Unary::Rbit),
            Kind::Load { user, .. } | Kind::Store { user, .. } => !user,
            Kind::LoadMany { rn, before, .. } => !before || rn == 13,
            Kind::StoreMany { rn, before, .. } => !before || rn == 13,
            Kind::Adr { .. } | Kind::Branch { .. } => true,
            Kind::Hint(hint) => !matches!(hint, Hint::Dbg(_)),
            _ => false,
        }
    }

    fn alu(&self, op: Alu, set: bool, rd: u8, rn: u8, src: Source) -> String {
        let s = if set && !op.compares() { "S" } else { "" };
        let (rd, rn) = (R(rd), R(rn));
        match (op, src) {
            (Alu::Mov, Source::Shifted(rm, Shift::Rrx, _)) => {
                self.line(format!("RRX{s}"), format!("{rd}, {}", R(rm)))
            }
            (Alu::Mov, Source::Shifted(rm, shift, n)) => {
                self.line(upper(shift) + s, format!("{rd}, {}, #{n}", R(rm)))
            }
            (Alu::Mov, Source::ByRegister(rm, shift, rs)) => {
                self.line(upper(shift) + s, format!("{rd}, {}, {}", R(rm), R(rs)))
            }
            _ if op.moves() => self.line(upper(op) + s, format!("{rd}, {src}")),
            _ if op.compares() => self.line(upper(op), format!("{rn}, {src}")),
            _ => self.line(upper(op) + s, format!("{rd}, {rn}, {src}")),
        }
    }

    fn float_unary(&self, op: FloatUnary, sd: u8, sm: u8) -> String {
        let two = format!("S{sd}, S{sm}");
        let half = |top: bool| if top { "VCVTT" } else { "VCVTB" };
        let int = |signed: bool| if signed { "S32" } else { "U32" };
        let fixed = |signed: bool, word: bool| match (signed, word) {
            (true, true) => "S32",
            (false, true) => "U32",
            (true, false) => "S16",
            (false, false) => "U16",
        };
        match op {
            FloatUnary::Mov => self.typed("VMOV", ".F32", two),
            FloatUnary::Abs => self.typed("VABS", ".F32", two),
            FloatUnary::Neg => self.typed("VNEG", ".F32", two),
            FloatUnary::Sqrt => self.typed("VSQRT", ".F32", two),
            FloatUnary::FromHalf(top) => self.typed(half(top), ".F32.F16", two),
            FloatUnary::ToHalf(top) => self.typed(half(top), ".F16.F32", two),
            FloatUnary::FromInt(signed) => {
                self.typed("VCVT", &format!(".F32.{}", int(signed)), two)
            }
            FloatUnary::ToInt { signed, to_zero } => {
                let name = if to_zero { "VCVT" } else { "VCVTR" };
                self.typed(name, &format!(".{}.F32", int(signed)), two)
            }
            FloatUnary::FromFixed { signed, word, fraction } => {
                let data = format!(".F32.{}", fixed(signed, word));
                self.typed("VCVT", &data, format!("{two}, #{fraction}"))
            }
            FloatUnary::ToFixed { signed, word, fraction } => {
                let data = format!(".{}.F32", fixed(signed, word));
                self.typed("VCVT", &data, format!("{two}, #{fraction}"))
            }
        }
    }

    fn text(&self) -> String {
        match self.kind {
            Kind::Alu { op, set, rd, rn, src } => self.alu(op, set, rd, rn, src),
            Kind::AddWide { subtract, rd, rn, imm } => {
                let name = if subtract { "SUBW" } else { "ADDW" };
                self.line(name, format!("{}, {}, #{imm}", R(rd), R(rn)))
            }
            Kind::Adr { rd, target } => self.line("ADR", format!("{}, {target:#x}", R(rd))),
            Kind::Movw { rd, imm } => self.line("MOVW", format!("{}, #{imm}", R(rd))),
            Kind::Movt { rd, imm } => self.line("MOVT", format!("{}, #{imm}", R(rd))),
            Kind::Mul { op, set, rd, rn, rm, ra } => {
                let s = if set { "S" } else { "" };
                let more = if op.accumulates() { format!(", {}", R(ra)) } else { String::new() };
                let operands = format!("{}, {}, {}{more}", R(rd), R(rn), R(rm));
                self.line(mul_name(op) + s, operands)
            }
            Kind::MulLong { op, lo, hi, rn, rm } => {
                let operands = format!("{}, {}, {}, {}", R(lo), R(hi), R(rn), R(rm));
                self.line(mul_long_name(op), operands)
            }
            Kind::Parallel { op, lanes, rd, rn, rm } => {
                let operands = format!("{}, {}, {}", R(rd), R(rn), R(rm));
                self.line(parallel_name(op, lanes), operands)
            }
            Kind::Saturating { op, rd, rm, rn } => {
                let name = match op {
                    Saturating::Qadd => "QADD",
                    Saturating::Qdadd => "QDADD",
                    Saturating::Qsub => "QSUB",
                    Saturating::Qdsub => "QDSUB",
                };
                self.line(name, format!("{}, {}, {}", R(rd), R(rm), R(rn)))
            }
            Kind::Sat { signed, halves, rd, to, rn, shift, amount } => {
                let name = match (signed, halves) {
                    (true, false) => "SSAT",
                    (false, false) => "USAT",
                    (true, true) => "SSAT16",
                    (false, true) => "USAT16",
                };
                let shift = match amount {
                    0 => String::new(),
                    n => format!(", {} #{n}", upper(shift)),
                };
                self.line(name, format!("{}, #{to}, {}{shift}", R(rd), R(rn)))
            }
            Kind::Extend { signed, part, rd, rn, rm, rotate } => {
                let sign = if signed { 'S' } else { 'U' };
                let adds = if rn == 15 { "" } else { "A" };
                let part = match part {
                    Extended::Byte => "B",
                    Extended::Half => "H",
                    Extended::TwoBytes => "B16",
                };
                let first = if rn == 15 { String::new() } else { format!(", {}", R(rn)) };
                let rotate = match rotate {
                    0 => String::new(),
                    n => format!(", ROR #{n}"),
                };
                let operands = format!("{}{first}, {}{rotate}", R(rd), R(rm));
                self.line(format!("{sign}XT{adds}{part}"), operands)
            }
            Kind::Unary { op, rd, rm } => self.line(upper(op), format!("{}, {}", R(rd), R(rm))),
            Kind::Sel { rd, rn, rm } => {
                self.line("SEL", format!("{}, {}, {}", R(rd), R(rn), R(rm)))
            }
            Kind::Pkh { top, rd, rn, rm, amount } => {
                let (name, shift) = if top { ("PKHTB", "ASR") } else { ("PKHBT", "LSL") };
                let shift = match amount {
                    0 => String::new(),
                    n => format!(", {shift} #{n}"),
                };
                self.line(name, format!("{}, {}, {}{shift}", R(rd), R(rn), R(rm)))
            }
            Kind::Field { op: Field::Bfc, rd, lsb, width, .. } => {
                self.line("BFC", format!("{}, #{lsb}, #{width}", R(rd)))
            }
            Kind::Field { op, rd, rn, lsb, width } => {
                self.line(upper(op), format!("{}, {}, #{lsb}, #{width}", R(rd), R(rn)))
            }
            Kind::Load { moved: size, rt, addr, user } => {
                let user = if user { "T" } else { "" };
                self.line(format!("LDR{}{user}", moved(size)), format!("{}, {addr}", R(rt)))
            }
            Kind::Store { moved: size, rt, addr, user } => {
                let user = if user { "T" } else { "" };
                self.line(format!("STR{}{user}", moved(size)), format!("{}, {addr}", R(rt)))
            }
            Kind::LoadDual { rt, rt2, addr } => {
                self.line("LDRD", format!("{}, {}, {addr}", R(rt), R(rt2)))
            }
            Kind::StoreDual { rt, rt2, addr } => {
                self.line("STRD", format!("{}, {}, {addr}", R(rt), R(rt2)))
            }
            Kind::LoadMany { rn: 13, list: registers, writeback: true, before: false } => {
                self.line("POP", list(registers))
            }
            Kind::StoreMany { rn: 13, list: registers, writeback: true, before: true } => {
                self.line("PUSH", list(registers))
            }
            Kind::LoadMany { rn, list: registers, writeback, before }
            | Kind::StoreMany { rn, list: registers, writeback, before } => {
                let name = if matches!(self.kind, Kind::LoadMany { .. }) { "LDM" } else { "STM" };
                let back = if writeback { "!" } else { "" };
                let operands = format!("{}{back}, {}", R(rn), list(registers));
                self.line(format!("{name}{}", if before { "DB" } else { "" }), operands)
            }
            Kind::LoadExclusive { moved: size, rt, rn, offset } => {
                let addr = Address::Offset(rn, offset as i32);
                self.line(format!("LDREX{}", moved(size)), format!("{}, {addr}", R(rt)))
            }
            Kind::StoreExclusive { moved: size, rd, rt, rn, offset } => {
                let addr = Address::Offset(rn, offset as i32);
                let operands = format!("{}, {}, {addr}", R(rd), R(rt));
                self.line(format!("STREX{}", moved(size)), operands)
            }
            Kind::Clrex => self.line("CLREX", ""),
            Kind::Preload { instruction, addr } => {
                self.line(if instruction { "PLI" } else { "PLD" }, addr)
            }
            Kind::Branch { condition, target } => {
                let wide = if self.bytes == 4 { ".W" } else { "" };
                let condition =
                    if condition == Condition::Al { self.context.condition() } else { condition };
                format!("B{condition}{wide} {target:#x}")
            }
            Kind::BranchLink { target } => self.line("BL", format!("{target:#x}")),
            Kind::BranchExchange { rm } => self.line("BX", R(rm)),
            Kind::BranchLinkExchange { rm } => self.line("BLX", R(rm)),
            Kind::CompareBranch { nonzero, rn, target } => {
                let name = if nonzero { "CBNZ" } else { "CBZ" };
                format!("{name} {}, {target:#x}", R(rn))
            }
            Kind::TableBranch { half: false, rn, rm } => {
                self.line("TBB", format!("[{}, {}]", R(rn), R(rm)))
            }
            Kind::TableBranch { rn, rm, .. } => {
                self.line("TBH", format!("[{}, {}, LSL #1]", R(rn), R(rm)))
            }
            Kind::It { first, mask } => {
                let mut name = String::from("IT");
                for i in (mask.trailing_zeros() + 1..4).rev() {
                    let same = mask >> i & 1 == first & 1;
                    name.push(if same { 'T' } else { 'E' });
                }
                let condition = Condition::of(first.into());
                let always = if condition == Condition::Al { "AL" } else { "" };
                format!("{name} {condition}{always}")
            }
            Kind::Svc { imm } => self.line("SVC", format!("#{imm}")),
            Kind::Bkpt { imm } => format!("BKPT #{imm}"),
            Kind::Cps { disable, primask, faultmask } => {
                let name = if disable { "CPSID" } else { "CPSIE" };
                let flags = [("i", primask), ("f", faultmask)];
                let flags: String =
                    flags.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
                format!("{name} {flags}")
            }
            Kind::Mrs { rd, special: number } => {
                self.line("MRS", format!("{}, {}", R(rd), special(number)))
            }
            Kind::Msr { rn, mask, special: number } => {
                let part = match (number, mask) {
                    (0..4, 1) => "_g",
                    (0..4, 2) => "_nzcvq",
                    (0..4, _) => "_nzcvqg",
                    _ => "",
                };
                self.line("MSR", format!("{}{part}, {}", special(number), R(rn)))
            }
            Kind::Hint(Hint::Dbg(option)) => self.line("DBG", format!("#{option}")),
            Kind::Hint(hint) => self.line(upper(hint), ""),
            Kind::Barrier(barrier, 15) => self.line(upper(barrier), "SY"),
            Kind::Barrier(barrier @ (Barrier::Dsb | Barrier::Dmb), option) => {
                let name = match option {
                    2 => "OSHST",
                    3 => "OSH",
                    6 => "NSHST",
                    7 => "NSH",
                    10 => "ISHST",
                    11 => "ISH",
                    14 => "ST",
                    _ => return self.line(upper(barrier), format!("#{option}")),
                };
                self.line(upper(barrier), name)
            }
            Kind::Barrier(barrier, option) => self.line(upper(barrier), format!("#{option}")),
            Kind::Float { op, sd, sn, sm } => {
                self.typed(float_name(op), ".F32", format!("S{sd}, S{sn}, S{sm}"))
            }
            Kind::FloatUnary { op, sd, sm } => self.float_unary(op, sd, sm),
            Kind::FloatImm { sd, bits } => {
                self.typed("VMOV", ".F32", format!("S{sd}, #{:?}", f32::from_bits(bits)))
            }
            Kind::FloatCompare { quiet_too, sd, sm } => {
                let other = sm.map_or("#0.0".to_owned(), |sm| format!("S{sm}"));
                let name = if quiet_too { "VCMPE" } else { "VCMP" };
                self.typed(name, ".F32", format!("S{sd}, {other}"))
            }
            Kind::FloatToCore { rt, sn } => self.line("VMOV", format!("{}, S{sn}", R(rt))),
            Kind::CoreToFloat { rt, sn } => self.line("VMOV", format!("S{sn}, {}", R(rt))),
            Kind::FloatsToCore { rt, rt2, sm, double: true } => {
                self.line("VMOV", format!("{}, {}, D{}", R(rt), R(rt2), sm / 2))
            }
            Kind::FloatsToCore { rt, rt2, sm, .. } => {
                self.line("VMOV", format!("{}, {}, S{sm}, S{}", R(rt), R(rt2), sm + 1))
            }
            Kind::CoreToFloats { rt, rt2, sm, double: true } => {
                self.line("VMOV", format!("D{}, {}, {}", sm / 2, R(rt), R(rt2)))
            }
            Kind::CoreToFloats { rt, rt2, sm, .. } => {
                self.line("VMOV", format!("S{sm}, S{}, {}, {}", sm + 1, R(rt), R(rt2)))
            }
            Kind::CoreToHalf { rt, s } => {
                self.typed("VMOV", ".32", format!("D{}[{}], {}", s / 2, s % 2, R(rt)))
            }
            Kind::HalfToCore { rt, s } => {
                self.typed("VMOV", ".32", format!("{}, D{}[{}]", R(rt), s / 2, s % 2))
            }
            Kind::FloatLoad { double, fd, rn, offset }
            | Kind::FloatStore { double, fd, rn, offset } => {
                let load = matches!(self.kind, Kind::FloatLoad { .. });
                let letter = if double { 'D' } else { 'S' };
                let addr = Address::Offset(rn, offset);
                self.line(if load { "VLDR" } else { "VSTR" }, format!("{letter}{fd}, {addr}"))
            }
            Kind::FloatMany { load, double, first, count, rn: 13, writeback: true, before }
                if before != load =>
            {
                self.line(if load { "VPOP" } else { "VPUSH" }, floats(double, first, count))
            }
            Kind::FloatMany { load, double, first, count, rn, writeback, before } => {
                let name = if load { "VLDM" } else { "VSTM" };
                let back = if writeback { "!" } else { "" };
                let operands = format!("{}{back}, {}", R(rn), floats(double, first, count));
                self.line(format!("{name}{}", if before { "DB" } else { "IA" }), operands)
            }
            Kind::Vmrs { rt: 15 } => self.line("VMRS", "APSR_nzcv, FPSCR"),
            Kind::Vmrs { rt } => self.line("VMRS", format!("{}, FPSCR", R(rt))),
            Kind::Vmsr { rt } => self.line("VMSR", format!("FPSCR, {}", R(rt))),
        }
    }
}

impl fmt::Display for Insn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().trim_end())
    }
}
