// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions as the Armv7-M Architecture Reference Manual (DDI 0403E) names them, and their decoding
//! (chapters A5 and A6 there for the encodings, A7 for each instruction).

mod narrow;
mod wide;

use super::{LR, PC, SP};
use crate::{Fault, FaultKind};
use narrow::{decode_narrow, hint};
use wide::decode_wide;

/// A condition, in the order of its encoding (A7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
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

/// Shift of an operand, by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
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
        value: u32,
        /// Bit 31 of a rotated constant.
        carry: Option<bool>,
    },
    Reg(u8),
    /// A register shifted by 1 to 32 (RRX by one).
    Shifted(u8, Shift, u8),
    /// A register shifted by the low byte of another.
    ByRegister(u8, Shift, u8),
}

/// Where a load or store goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    Offset(u8, i32),
    Pre(u8, i32),
    Post(u8, i32),
    /// `[Rn, Rm, LSL #n]`
    Register(u8, u8, u8),
    /// Relative to the program counter: the address itself.
    Literal(u32),
}

/// What a single load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moved {
    Word,
    Half,
    Byte,
    SignedHalf,
    SignedByte,
}

/// Multiplications and divisions with a 32-bit result. `(bool, bool)`: the top halves of Rn and Rm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    SignedSaturated,
    SignedHalved,
    /// U: unsigned, sets GE.
    Unsigned,
    UnsignedSaturated,
    UnsignedHalved,
}

/// One register in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Clz,
    Rbit,
    Rev,
    Rev16,
    Revsh,
}

/// Saturating arithmetic on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Saturating {
    Qadd,
    Qdadd,
    Qsub,
    Qdsub,
}

/// What an extension takes of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extended {
    Byte,
    Half,
    TwoBytes,
}

/// Instructions that move bit fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Bfc,
    Bfi,
    Sbfx,
    Ubfx,
}

/// Barriers of memory and instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Barrier {
    Dsb,
    Dmb,
    Isb,
}

/// Hints that do something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    Mov,
    Abs,
    Neg,
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
        fraction: u8,
    },
    /// VCVT to fixed point
    ToFixed {
        /// Of a signed number.
        signed: bool,
        /// Of 32 bits, else 16.
        word: bool,
        fraction: u8,
    },
}

/// What an instruction does, with its operands. Registers are numbers; of the floating-point unit, Sn is `n`
/// and Dn is `n` where `double` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    FloatMany {
        load: bool,
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
    pub bytes: u8,
    /// Whether and how an IT block conditions it.
    pub context: Context,
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
#[must_use]
pub fn branches(kind: Kind) -> bool {
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
