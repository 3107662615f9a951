// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions as the Armv7-M Architecture Reference Manual (DDI 0403E) names them, and their decoding
//! (chapters A5 and A6 there for the encodings, A7 for each instruction).

use super::{LR, PC, SP};
use crate::{Fault, FaultKind};

/// A condition, in the order of its encoding (A7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Condition {
    Eq = 0,
    Ne,
    Cs,
    Cc,
    Mi,
    Pl,
    Vs,
    Vc,
    Hi,
    Ls,
    Ge,
    Lt,
    Gt,
    Le,
    Al,
}

impl Condition {
    /// The condition with the low four bits of `bits`; 15 is "always" here.
    #[must_use]
    pub const fn of(bits: u32) -> Self {
        use Condition as C;
        const ALL: [Condition; 16] = [
            C::Eq,
            C::Ne,
            C::Cs,
            C::Cc,
            C::Mi,
            C::Pl,
            C::Vs,
            C::Vc,
            C::Hi,
            C::Ls,
            C::Ge,
            C::Lt,
            C::Gt,
            C::Le,
            C::Al,
            C::Al,
        ];
        ALL[bits as usize & 15]
    }
}

/// Whether an instruction is in an IT block: there, 16-bit instructions leave the flags alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Context {
    /// In none.
    #[default]
    Outside,
    /// In one, with this condition, and more instructions behind it.
    Inside(Condition),
    /// The last of one.
    Last(Condition),
}

impl Context {
    /// Of an instruction in front of which the state of an IT block is `it`; 0 is outside of one.
    #[must_use]
    pub fn of(it: u8) -> Self {
        let condition = Condition::of(u32::from(it) >> 4);
        match it & 0xF {
            0 => Self::Outside,
            8 => Self::Last(condition),
            _ => Self::Inside(condition),
        }
    }

    /// The condition of an instruction here.
    #[must_use]
    pub fn condition(self) -> Condition {
        match self {
            Self::Outside => Condition::Al,
            Self::Inside(condition) | Self::Last(condition) => condition,
        }
    }
}

/// The state of an IT block in the program status register.
#[must_use]
pub fn it_state(psr: u32) -> u8 {
    (psr >> 25 & 3 | psr >> 8 & 0xFC) as u8
}

/// The state behind an instruction of an IT block: behind the first condition, bits 4:0 move left until none is left.
#[inline(always)]
#[must_use]
pub fn it_behind(it: u8) -> u8 {
    if it & 7 == 0 { 0 } else { it & 0xE0 | it << 1 & 0x1F }
}

/// Data processing with a flexible second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sbc,
    Sub,
    Rsb,
    Mov,
    Mvn,
    Tst,
    Teq,
    Cmp,
    Cmn,
}

impl Alu {
    /// Whether only the flags get a result.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Tst | Self::Teq | Self::Cmp | Self::Cmn)
    }
    /// Whether there is no first operand.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Mov | Self::Mvn)
    }
    /// Whether the carry of the second operand's shift becomes the carry flag.
    #[must_use]
    pub const fn logical(self) -> bool {
        !matches!(
            self,
            Self::Add | Self::Adc | Self::Sbc | Self::Sub | Self::Rsb | Self::Cmp | Self::Cmn
        )
    }
}

/// A shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
    Rrx,
}

/// A flexible second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A constant, and the carry that making it leaves, if it does.
    Imm {
        /// Its value.
        value: u32,
        /// Bit 31 of a rotated constant.
        carry: Option<bool>,
    },
    /// A register.
    Reg(u8),
    /// A register shifted by 1 to 32 (RRX by one).
    Shifted(u8, Shift, u8),
    /// A register shifted by the low byte of another.
    ByRegister(u8, Shift, u8),
}

/// Where a load or store goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// `[Rn, #offset]`
    Offset(u8, i32),
    /// `[Rn, #offset]!`
    Pre(u8, i32),
    /// `[Rn], #offset`
    Post(u8, i32),
    /// `[Rn, Rm, LSL #n]`
    Register(u8, u8, u8),
    /// Relative to the program counter: the address itself.
    Literal(u32),
}

/// What a single load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // they say it
pub enum Moved {
    Word,
    Half,
    Byte,
    SignedHalf,
    SignedByte,
}

/// Multiplications and divisions with a 32-bit result. `(bool, bool)`: the top halves of Rn and Rm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Mul {
    Mul,
    Mla,
    Mls,
    Smul(bool, bool),
    Smla(bool, bool),
    Smulw(bool),
    Smlaw(bool),
    Smuad(bool),
    Smusd(bool),
    Smlad(bool),
    Smlsd(bool),
    Smmul(bool),
    Smmla(bool),
    Smmls(bool),
    Usad8,
    Usada8,
    Sdiv,
    Udiv,
}

impl Mul {
    /// Whether Ra is added to or subtracted from.
    #[must_use]
    pub const fn accumulates(self) -> bool {
        use Mul as M;
        matches!(
            self,
            M::Mla
                | M::Mls
                | M::Smla(..)
                | M::Smlaw(_)
                | M::Smlad(_)
                | M::Smlsd(_)
                | M::Smmla(_)
                | M::Smmls(_)
                | M::Usada8
        )
    }
}

/// Multiplications with a 64-bit result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum MulLong {
    Smull,
    Umull,
    Smlal,
    Umlal,
    Umaal,
    SmlalHalves(bool, bool),
    Smlald(bool),
    Smlsld(bool),
}

/// What a parallel addition or subtraction does with its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Parallel {
    Add16,
    Asx,
    Sax,
    Sub16,
    Add8,
    Sub8,
}

/// How the results of parallel arithmetic are kept: the mnemonic's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// S: signed, sets GE.
    Signed,
    /// Q: signed, saturated.
    SignedSaturated,
    /// SH: signed, halved.
    SignedHalved,
    /// U: unsigned, sets GE.
    Unsigned,
    /// UQ: unsigned, saturated.
    UnsignedSaturated,
    /// UH: unsigned, halved.
    UnsignedHalved,
}

/// One register in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Unary {
    Clz,
    Rbit,
    Rev,
    Rev16,
    Revsh,
}

/// Saturating arithmetic on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Saturating {
    Qadd,
    Qdadd,
    Qsub,
    Qdsub,
}

/// What an extension takes of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // they say it
pub enum Extended {
    Byte,
    Half,
    TwoBytes,
}

/// Bit fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Field {
    Bfc,
    Bfi,
    Sbfx,
    Ubfx,
}

/// Barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Barrier {
    Dsb,
    Dmb,
    Isb,
}

/// Hints that do something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Hint {
    Nop,
    Yield,
    Wfe,
    Wfi,
    Sev,
    Dbg(u8),
}

/// Floating-point arithmetic of two registers, or three where one accumulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the manual's mnemonics
pub enum Float {
    Mla,
    Mls,
    Nmla,
    Nmls,
    Mul,
    Nmul,
    Add,
    Sub,
    Div,
    Fma,
    Fms,
    Fnma,
    Fnms,
}

impl Float {
    /// Whether Sd is an operand.
    #[must_use]
    pub const fn accumulates(self) -> bool {
        matches!(
            self,
            Self::Mla
                | Self::Mls
                | Self::Nmla
                | Self::Nmls
                | Self::Fma
                | Self::Fms
                | Self::Fnma
                | Self::Fnms
        )
    }
}

/// Floating-point operations on one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatUnary {
    /// VMOV
    Mov,
    /// VABS
    Abs,
    /// VNEG
    Neg,
    /// VSQRT
    Sqrt,
    /// VCVTB and VCVTT from half precision; true: of the top half
    FromHalf(bool),
    /// VCVTB and VCVTT to half precision; true: to the top half
    ToHalf(bool),
    /// VCVT from an integer; true: signed
    FromInt(bool),
    /// VCVT and VCVTR to an integer
    ToInt {
        /// Of a signed integer.
        signed: bool,
        /// Towards zero; else as FPSCR says.
        to_zero: bool,
    },
    /// VCVT from fixed point
    FromFixed {
        /// Of a signed number.
        signed: bool,
        /// Of 32 bits, else 16.
        word: bool,
        /// Its fraction bits.
        fraction: u8,
    },
    /// VCVT to fixed point
    ToFixed {
        /// Of a signed number.
        signed: bool,
        /// Of 32 bits, else 16.
        word: bool,
        /// Its fraction bits.
        fraction: u8,
    },
}

/// What an instruction does, with its operands. Registers are numbers; of the floating-point unit, Sn is `n`
/// and Dn is `n` where `double` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // operands have the names of the manual
pub enum Kind {
    Alu {
        op: Alu,
        set: bool,
        rd: u8,
        rn: u8,
        src: Source,
    },
    /// ADDW and SUBW: a plain 12-bit constant.
    AddWide {
        subtract: bool,
        rd: u8,
        rn: u8,
        imm: u32,
    },
    Adr {
        rd: u8,
        target: u32,
    },
    Movw {
        rd: u8,
        imm: u16,
    },
    Movt {
        rd: u8,
        imm: u16,
    },
    Mul {
        op: Mul,
        set: bool,
        rd: u8,
        rn: u8,
        rm: u8,
        ra: u8,
    },
    MulLong {
        op: MulLong,
        lo: u8,
        hi: u8,
        rn: u8,
        rm: u8,
    },
    Parallel {
        op: Parallel,
        lanes: Lanes,
        rd: u8,
        rn: u8,
        rm: u8,
    },
    Saturating {
        op: Saturating,
        rd: u8,
        rm: u8,
        rn: u8,
    },
    /// SSAT, USAT: `to` bits; SSAT16, USAT16 have no shift.
    Sat {
        signed: bool,
        halves: bool,
        rd: u8,
        to: u8,
        rn: u8,
        shift: Shift,
        amount: u8,
    },
    /// SXTB, SXTH, SXTB16, UXTB...; with `rn` other than 15 the adding forms.
    Extend {
        signed: bool,
        part: Extended,
        rd: u8,
        rn: u8,
        rm: u8,
        rotate: u8,
    },
    Unary {
        op: Unary,
        rd: u8,
        rm: u8,
    },
    Sel {
        rd: u8,
        rn: u8,
        rm: u8,
    },
    Pkh {
        top: bool,
        rd: u8,
        rn: u8,
        rm: u8,
        amount: u8,
    },
    Field {
        op: Field,
        rd: u8,
        rn: u8,
        lsb: u8,
        width: u8,
    },
    Load {
        moved: Moved,
        rt: u8,
        addr: Address,
        user: bool,
    },
    Store {
        moved: Moved,
        rt: u8,
        addr: Address,
        user: bool,
    },
    LoadDual {
        rt: u8,
        rt2: u8,
        addr: Address,
    },
    StoreDual {
        rt: u8,
        rt2: u8,
        addr: Address,
    },
    LoadMany {
        rn: u8,
        list: u16,
        writeback: bool,
        before: bool,
    },
    StoreMany {
        rn: u8,
        list: u16,
        writeback: bool,
        before: bool,
    },
    LoadExclusive {
        moved: Moved,
        rt: u8,
        rn: u8,
        offset: u32,
    },
    StoreExclusive {
        moved: Moved,
        rd: u8,
        rt: u8,
        rn: u8,
        offset: u32,
    },
    Clrex,
    /// PLD, PLI: nothing happens.
    Preload {
        instruction: bool,
        addr: Address,
    },
    Branch {
        condition: Condition,
        target: u32,
    },
    BranchLink {
        target: u32,
    },
    BranchExchange {
        rm: u8,
    },
    BranchLinkExchange {
        rm: u8,
    },
    CompareBranch {
        nonzero: bool,
        rn: u8,
        target: u32,
    },
    TableBranch {
        half: bool,
        rn: u8,
        rm: u8,
    },
    It {
        first: u8,
        mask: u8,
    },
    Svc {
        imm: u8,
    },
    Bkpt {
        imm: u8,
    },
    /// CPSIE, CPSID.
    Cps {
        disable: bool,
        primask: bool,
        faultmask: bool,
    },
    Mrs {
        rd: u8,
        special: u8,
    },
    Msr {
        rn: u8,
        mask: u8,
        special: u8,
    },
    Hint(Hint),
    Barrier(Barrier, u8),
    Float {
        op: Float,
        sd: u8,
        sn: u8,
        sm: u8,
    },
    FloatUnary {
        op: FloatUnary,
        sd: u8,
        sm: u8,
    },
    FloatImm {
        sd: u8,
        bits: u32,
    },
    /// With zero if `sm` is none.
    FloatCompare {
        quiet_too: bool,
        sd: u8,
        sm: Option<u8>,
    },
    FloatToCore {
        rt: u8,
        sn: u8,
    },
    CoreToFloat {
        rt: u8,
        sn: u8,
    },
    /// Two registers of each kind; `double`: written as Dm.
    FloatsToCore {
        rt: u8,
        rt2: u8,
        sm: u8,
        double: bool,
    },
    CoreToFloats {
        rt: u8,
        rt2: u8,
        sm: u8,
        double: bool,
    },
    /// `VMOV.32 Dd[x], Rt`: the half register's number as a single.
    CoreToHalf {
        rt: u8,
        s: u8,
    },
    HalfToCore {
        rt: u8,
        s: u8,
    },
    FloatLoad {
        double: bool,
        fd: u8,
        rn: u8,
        offset: i32,
    },
    FloatStore {
        double: bool,
        fd: u8,
        rn: u8,
        offset: i32,
    },
    FloatLoadMany {
        double: bool,
        first: u8,
        count: u8,
        rn: u8,
        writeback: bool,
        before: bool,
    },
    FloatStoreMany {
        double: bool,
        first: u8,
        count: u8,
        rn: u8,
        writeback: bool,
        before: bool,
    },
    Vmrs {
        rt: u8,
    },
    Vmsr {
        rt: u8,
    },
}

/// A decoded instruction. Its text is the manual's (UAL).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Insn {
    /// Two or four.
    pub bytes: u8,
    /// Whether and how an IT block conditions it.
    pub context: Context,
    /// The rest.
    pub kind: Kind,
}

/// Why bytes are no instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// The architecture defines that they raise UsageFault (UNDEFINSTR).
    Undefined,
    /// They are for a coprocessor that the device lacks: UsageFault (NOCP).
    NoCoprocessor,
    /// The architecture leaves open what happens, or there is no code: a fault of the program.
    Fault(Fault),
}

impl From<Fault> for Undecoded {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What the manual calls UNPREDICTABLE, with what it says about it.
struct Unpredictable(&'static str);

enum Not {
    Undefined,
    NoCoprocessor,
    Unpredictable(&'static str),
}

impl From<Unpredictable> for Not {
    fn from(Unpredictable(reason): Unpredictable) -> Self {
        Self::Unpredictable(reason)
    }
}

type Decoded = Result<Kind, Not>;

const BAD_REGISTER: &str = "UNPREDICTABLE: SP or PC as an operand that must not be one";
const SBZ: &str = "UNPREDICTABLE: bits that should be zero (or one) are not";

fn no_if(wrong: bool, reason: &'static str) -> Result<(), Not> {
    if wrong { Err(Not::Unpredictable(reason)) } else { Ok(()) }
}

/// Registers that are neither SP nor PC.
fn good<const N: usize>(registers: [u8; N]) -> Result<(), Not> {
    no_if(registers.iter().any(|&r| r == 13 || r == 15), BAD_REGISTER)
}

/// Registers that are not PC.
fn not_pc<const N: usize>(registers: [u8; N]) -> Result<(), Not> {
    no_if(registers.contains(&15), "UNPREDICTABLE: PC as an operand that must not be it")
}

/// Decodes the instruction at `pc`, whose halfwords `fetch` returns.
///
/// # Errors
/// Where there is no code, or no instruction that the architecture defines.
pub fn decode(
    pc: u32,
    context: Context,
    mut fetch: impl FnMut(u32) -> Result<u16, Fault>,
) -> Result<Insn, Undecoded> {
    let first = fetch(pc)?;
    let wide = first >> 11 >= 0b11101;
    let bytes = if wide { 4 } else { 2 };
    let kind = if wide {
        let second = fetch(pc.wrapping_add(2))?;
        decode_wide(pc, u32::from(first), u32::from(second))
    } else {
        decode_narrow(pc, u32::from(first), context != Context::Outside)
    };
    let kind = kind.and_then(|kind| in_context(kind, context).map(|()| kind));
    match kind {
        Ok(kind) => Ok(Insn { bytes, context, kind }),
        Err(Not::Undefined) => Err(Undecoded::Undefined),
        Err(Not::NoCoprocessor) => Err(Undecoded::NoCoprocessor),
        Err(Not::Unpredictable(reason)) => {
            let kind = FaultKind::IllegalOpcode { word: first, reason };
            Err(Undecoded::Fault(Fault::new(kind, pc)))
        }
    }
}

/// Instructions that may not be in an IT block, or only at its end.
fn in_context(kind: Kind, context: Context) -> Result<(), Not> {
    if context == Context::Outside {
        return Ok(());
    }
    let never = matches!(kind, Kind::It { .. } | Kind::CompareBranch { .. } | Kind::Cps { .. })
        || matches!(kind, Kind::Branch { condition, .. } if condition != Condition::Al);
    no_if(never, "UNPREDICTABLE: this instruction in an IT block")?;
    let last = matches!(context, Context::Last(_));
    no_if(!last && branches(kind), "UNPREDICTABLE: a branch in an IT block, not as its last")
}

/// Whether the instruction may write the program counter.
pub(crate) fn branches(kind: Kind) -> bool {
    match kind {
        Kind::Branch { .. }
        | Kind::BranchLink { .. }
        | Kind::BranchExchange { .. }
        | Kind::BranchLinkExchange { .. }
        | Kind::CompareBranch { .. }
        | Kind::TableBranch { .. } => true,
        Kind::Alu { op, rd: 15, .. } => !op.compares(),
        Kind::Load { rt: 15, .. } => true,
        Kind::LoadMany { list, .. } => list & 1 << 15 != 0,
        _ => false,
    }
}

const fn bits(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

fn reg(word: u32, low: u32) -> u8 {
    (word >> low & 0xF) as u8
}

fn low_reg(word: u32, low: u32) -> u8 {
    (word >> low & 7) as u8
}

/// Sign-extends the low `width` bits.
const fn signed(value: u32, width: u32) -> u32 {
    ((value << (32 - width)) as i32 >> (32 - width)) as u32
}

/// DecodeImmShift (A7.4.2), and no shift at all.
fn shifted(rm: u8, kind: u32, amount: u32) -> Source {
    match (kind, amount as u8) {
        (0, 0) => Source::Reg(rm),
        (0, n) => Source::Shifted(rm, Shift::Lsl, n),
        (1, n) => Source::Shifted(rm, Shift::Lsr, if n == 0 { 32 } else { n }),
        (2, n) => Source::Shifted(rm, Shift::Asr, if n == 0 { 32 } else { n }),
        (_, 0) => Source::Shifted(rm, Shift::Rrx, 1),
        (_, n) => Source::Shifted(rm, Shift::Ror, n),
    }
}

fn plain(value: u32) -> Source {
    Source::Imm { value, carry: None }
}

fn decode_narrow(pc: u32, w: u32, in_it: bool) -> Decoded {
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
fn hint(number: u32) -> Hint {
    match number {
        1 => Hint::Yield,
        2 => Hint::Wfe,
        3 => Hint::Wfi,
        4 => Hint::Sev,
        _ => Hint::Nop,
    }
}

/// 32-bit instructions: `a` and `b` are their halfwords (A5.3).
fn decode_wide(pc: u32, a: u32, b: u32) -> Decoded {
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

/// A5.3.5
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

/// A5.3.6
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

/// A5.3.11
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

/// ThumbExpandImm_C (A5.3.2).
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

/// i:imm3:imm8
fn imm12(a: u32, b: u32) -> u32 {
    (a & 0x400) << 1 | (b & 0x7000) >> 4 | b & 0xFF
}

/// A5.3.1
fn modified_immediate(a: u32, b: u32) -> Decoded {
    let (rn, rd) = (reg(a, 0), reg(b, 8));
    let (code, set) = (bits(a, 8, 5), a & 0x10 != 0);
    let op = data_op(code, rn, rd, set)?;
    let src = expand(imm12(a, b))?;
    data_registers(op, rd, rn, src)?;
    Ok(Kind::Alu { op, set, rd: if op.compares() { 0 } else { rd }, rn, src })
}

/// A5.3.3
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

/// A5.3.4
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

/// A5.3.7 to A5.3.10
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

/// A5.3.12 to A5.3.15
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

/// A5.3.16
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

/// A5.3.17
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

/// A5.3.18 and chapter A6
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
        Ok(if load {
            Kind::FloatLoadMany { double, first: fd, count, rn, writeback, before }
        } else {
            Kind::FloatStoreMany { double, first: fd, count, rn, writeback, before }
        })
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
