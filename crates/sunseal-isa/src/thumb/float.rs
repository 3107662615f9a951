// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single-precision arithmetic with every rounding mode, flush-to-zero, default NaN and the cumulative
//! flags, in integers (Armv7-M ARM A2.5 and the FP pseudocode of its appendix D). Where the inexact flag is
//! set already and operands and result are normal, the host's floats give the same bits and no flag.

use super::insn::{Float, FloatUnary};

/// Bits of the floating-point status register, FPSCR.
pub mod fpscr {
    bits! { u32:
        N 31 "Negative: less than.",
        Z 30 "Equal.",
        C 29 "Not less than, or unordered.",
        V 28 "Unordered.",
        AHP 26 "Alternative half precision.",
        DN 25 "Every NaN result is the default one.",
        FZ 24 "Subnormal numbers are zero.",
    }
    /// Rounding: nearest, up, down, towards zero.
    pub const RMODE: u32 = 3 << 22;
    bits! { u32:
        IDC 7 "A subnormal operand was taken as zero.",
        IXC 4 "A result was inexact.",
        UFC 3 "A result was too small.",
        OFC 2 "A result was too large.",
        DZC 1 "A number was divided by zero.",
        IOC 0 "An operation was invalid.",
    }
    /// The bits that exist.
    pub const ALL: u32 = 0xF7C0_009F;
}

const DEFAULT_NAN: u32 = 0x7FC0_0000;
const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7F80_0000;

/// How a result is rounded: the encoding of FPSCR.RMode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Round {
    fn of(fpscr: u32) -> Self {
        [Self::Nearest, Self::Up, Self::Down, Self::Zero][(fpscr >> 22 & 3) as usize]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Zero,
    Finite,
    Infinity,
    Quiet,
    Signaling,
}

/// A number: `sig * 2^exp`, `sig` with its highest bit at 23 if finite.
#[derive(Clone, Copy)]
struct Number {
    class: Class,
    negative: bool,
    exp: i32,
    sig: u32,
    bits: u32,
}

impl Number {
    fn is_nan(self) -> bool {
        matches!(self.class, Class::Quiet | Class::Signaling)
    }
}

fn unpack(bits: u32, fpscr: &mut u32) -> Number {
    let negative = bits & SIGN != 0;
    let (exponent, fraction) = ((bits >> 23 & 0xFF) as i32, bits & 0x7F_FFFF);
    let number = |class, exp, sig| Number { class, negative, exp, sig, bits };
    match (exponent, fraction) {
        (0, 0) => number(Class::Zero, 0, 0),
        (0, _) if *fpscr & fpscr::FZ != 0 => {
            *fpscr |= fpscr::IDC;
            number(Class::Zero, 0, 0)
        }
        (0, _) => {
            let shift = fraction.leading_zeros() - 8;
            number(Class::Finite, -149 - shift as i32, fraction << shift)
        }
        (255, 0) => number(Class::Infinity, 0, 0),
        (255, _) if fraction & 1 << 22 != 0 => number(Class::Quiet, 0, 0),
        (255, _) => number(Class::Signaling, 0, 0),
        _ => number(Class::Finite, exponent - 150, fraction | 1 << 23),
    }
}

fn zero(negative: bool) -> u32 {
    u32::from(negative) << 31
}

fn infinity(negative: bool) -> u32 {
    zero(negative) | INFINITY
}

fn invalid(fpscr: &mut u32) -> u32 {
    *fpscr |= fpscr::IOC;
    DEFAULT_NAN
}

fn process_nan(nan: Number, fpscr: &mut u32) -> u32 {
    if nan.class == Class::Signaling {
        *fpscr |= fpscr::IOC;
    }
    if *fpscr & fpscr::DN != 0 { DEFAULT_NAN } else { nan.bits | 1 << 22 }
}

/// The NaN among the operands that the result is: the first signaling one, else the first.
fn process_nans(operands: &[Number], fpscr: &mut u32) -> Option<u32> {
    let signaling = operands.iter().find(|n| n.class == Class::Signaling);
    let nan = signaling.or_else(|| operands.iter().find(|n| n.is_nan()))?;
    Some(process_nan(*nan, fpscr))
}

/// Shifts right; what falls out is kept as the lowest bit.
fn jam(sig: u128, shift: u32) -> u128 {
    match shift {
        0 => sig,
        1..128 => sig >> shift | u128::from(sig & ((1 << shift) - 1) != 0),
        _ => u128::from(sig != 0),
    }
}

/// Whether a magnitude is rounded away from zero, by what falls out beside half a unit.
fn rounds_up(round: Round, negative: bool, odd: bool, rest: u128, half: u128) -> bool {
    match round {
        Round::Nearest => rest > half || rest == half && odd,
        Round::Up => !negative && rest != 0,
        Round::Down => negative && rest != 0,
        Round::Zero => false,
    }
}

/// A binary format: fraction bits and the exponents of normal numbers.
struct Format {
    fraction: i32,
    min: i32,
    max: i32,
}

const SINGLE: Format = Format { fraction: 23, min: -126, max: 127 };
const HALF: Format = Format { fraction: 10, min: -14, max: 15 };
const ALTERNATIVE_HALF: Format = Format { fraction: 10, min: -14, max: 16 };

/// Rounds `sig * 2^exp`, not zero, to a format; the flags that it raises. Its sign bit is left out. `None`:
/// the magnitude is too large.
fn round_to(
    format: &Format,
    round: Round,
    negative: bool,
    exp: i32,
    sig: u128,
) -> (Option<u32>, u32) {
    let e = exp + 127 - sig.leading_zeros() as i32;
    let lsb = (e - format.fraction).max(format.min - format.fraction);
    let shift = lsb - exp;
    let (mut magnitude, inexact) = if shift <= 0 {
        ((sig << -shift) as u32, false)
    } else {
        // Nothing below bit 126 matters beyond being there.
        let (sig, shift) =
            if shift > 126 { (jam(sig, shift as u32 - 126), 126) } else { (sig, shift) };
        let (kept, rest) = ((sig >> shift) as u32, sig & ((1 << shift) - 1));
        let up = rounds_up(round, negative, kept & 1 != 0, rest, 1 << (shift - 1));
        (kept + u32::from(up), rest != 0)
    };
    let mut flags = 0;
    if inexact {
        flags |= fpscr::IXC;
        if e < format.min {
            flags |= fpscr::UFC;
        }
    }
    // The hidden bit counts as one in the exponent field.
    magnitude += ((e.max(format.min) - format.min) as u32) << format.fraction;
    let limit = ((format.max - format.min + 2) as u32) << format.fraction;
    ((magnitude < limit).then_some(magnitude), flags)
}

/// FPRound to single precision.
fn pack(negative: bool, exp: i32, sig: u128, fpscr: &mut u32) -> u32 {
    pack_rounding(Round::of(*fpscr), negative, exp, sig, fpscr)
}

fn pack_rounding(round: Round, negative: bool, exp: i32, sig: u128, fpscr: &mut u32) -> u32 {
    if *fpscr & fpscr::FZ != 0 && exp + 127 - (sig.leading_zeros() as i32) < SINGLE.min {
        *fpscr |= fpscr::UFC;
        return zero(negative);
    }
    let (magnitude, flags) = round_to(&SINGLE, round, negative, exp, sig);
    *fpscr |= flags;
    zero(negative)
        | magnitude.unwrap_or_else(|| {
            *fpscr |= fpscr::OFC | fpscr::IXC;
            INFINITY - u32::from(!overflows_to_infinity(round, negative))
        })
}

fn overflows_to_infinity(round: Round, negative: bool) -> bool {
    match round {
        Round::Nearest => true,
        Round::Up => !negative,
        Round::Down => negative,
        Round::Zero => false,
    }
}

/// An exact number in the middle of an operation; `sig` is zero or has its highest bit at 120.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    exp: i32,
    sig: u128,
}

impl Exact {
    fn new(negative: bool, exp: i32, sig: u128) -> Self {
        if sig == 0 {
            return Self { negative, exp: i32::MIN / 2, sig };
        }
        let shift = sig.leading_zeros() as i32 - 7;
        Self { negative, exp: exp - shift, sig: sig << shift }
    }

    fn of(n: Number) -> Self {
        Self::new(n.negative, n.exp, u128::from(n.sig))
    }

    /// The sum, exact but for a sticky lowest bit far below a single's.
    fn plus(self, other: Self) -> Self {
        let (a, b) = if self.exp >= other.exp { (self, other) } else { (other, self) };
        let low = jam(b.sig, (a.exp - b.exp).min(200) as u32);
        let (negative, sig) = if a.negative == b.negative {
            (a.negative, a.sig + low)
        } else if a.sig >= low {
            (a.negative, a.sig - low)
        } else {
            (b.negative, low - a.sig)
        };
        Self { negative, exp: a.exp, sig }
    }

    fn round(self, fpscr: &mut u32) -> u32 {
        if self.sig == 0 {
            return zero(Round::of(*fpscr) == Round::Down);
        }
        pack(self.negative, self.exp, self.sig, fpscr)
    }
}

/// Whether the host's result of normal operands raises no flag but the inexact one, which is set.
#[inline]
fn quiet(fpscr: u32, a: u32, b: u32) -> bool {
    const FAST: u32 = fpscr::RMODE | fpscr::IXC;
    fpscr & FAST == fpscr::IXC && normal(a) && normal(b)
}

/// Neither zero nor subnormal nor infinite, nor close to that.
#[inline]
fn normal(bits: u32) -> bool {
    (bits >> 23 & 0xFF).wrapping_sub(2) < 251
}

fn add(a: u32, b: u32, fpscr: &mut u32) -> u32 {
    if quiet(*fpscr, a, b) {
        let sum = (f32::from_bits(a) + f32::from_bits(b)).to_bits();
        if normal(sum) {
            return sum;
        }
    }
    let (x, y) = (unpack(a, fpscr), unpack(b, fpscr));
    if let Some(nan) = process_nans(&[x, y], fpscr) {
        return nan;
    }
    match (x.class, y.class) {
        (Class::Infinity, Class::Infinity) if x.negative != y.negative => invalid(fpscr),
        (Class::Infinity, _) => infinity(x.negative),
        (_, Class::Infinity) => infinity(y.negative),
        (Class::Zero, Class::Zero) if x.negative == y.negative => zero(x.negative),
        _ => Exact::of(x).plus(Exact::of(y)).round(fpscr),
    }
}

fn mul(a: u32, b: u32, fpscr: &mut u32) -> u32 {
    if quiet(*fpscr, a, b) {
        let product = (f32::from_bits(a) * f32::from_bits(b)).to_bits();
        if normal(product) {
            return product;
        }
    }
    let (x, y) = (unpack(a, fpscr), unpack(b, fpscr));
    if let Some(nan) = process_nans(&[x, y], fpscr) {
        return nan;
    }
    let negative = x.negative != y.negative;
    match (x.class, y.class) {
        (Class::Infinity, Class::Zero) | (Class::Zero, Class::Infinity) => invalid(fpscr),
        (Class::Infinity, _) | (_, Class::Infinity) => infinity(negative),
        (Class::Zero, _) | (_, Class::Zero) => zero(negative),
        _ => pack(negative, x.exp + y.exp, u128::from(x.sig) * u128::from(y.sig), fpscr),
    }
}

fn div(a: u32, b: u32, fpscr: &mut u32) -> u32 {
    let (x, y) = (unpack(a, fpscr), unpack(b, fpscr));
    if let Some(nan) = process_nans(&[x, y], fpscr) {
        return nan;
    }
    let negative = x.negative != y.negative;
    match (x.class, y.class) {
        (Class::Infinity, Class::Infinity) | (Class::Zero, Class::Zero) => invalid(fpscr),
        (Class::Infinity, _) => infinity(negative),
        (_, Class::Zero) => {
            *fpscr |= fpscr::DZC;
            infinity(negative)
        }
        (Class::Zero, _) | (_, Class::Infinity) => zero(negative),
        _ => {
            let (dividend, divisor) = (u64::from(x.sig) << 39, u64::from(y.sig));
            let quotient = (dividend / divisor) << 1 | u64::from(dividend % divisor != 0);
            pack(negative, x.exp - y.exp - 40, quotient.into(), fpscr)
        }
    }
}

fn sqrt(a: u32, fpscr: &mut u32) -> u32 {
    let x = unpack(a, fpscr);
    if let Some(nan) = process_nans(&[x], fpscr) {
        return nan;
    }
    match x.class {
        Class::Zero => zero(x.negative),
        _ if x.negative => invalid(fpscr),
        Class::Infinity => infinity(false),
        _ => {
            // An even exponent, and 62 or 63 bits.
            let shift = 38 + (x.exp & 1);
            let square = u64::from(x.sig) << shift;
            let root = square.isqrt();
            let sig = root << 1 | u64::from(root * root != square);
            pack(false, (x.exp - shift) / 2 - 1, sig.into(), fpscr)
        }
    }
}

/// FPMulAdd: the product plus `addend`, rounded once.
fn mul_add(addend: u32, a: u32, b: u32, fpscr: &mut u32) -> u32 {
    let (z, x, y) = (unpack(addend, fpscr), unpack(a, fpscr), unpack(b, fpscr));
    let meaningless = matches!(
        (x.class, y.class),
        (Class::Infinity, Class::Zero) | (Class::Zero, Class::Infinity)
    );
    if let Some(nan) = process_nans(&[z, x, y], fpscr) {
        return if z.class == Class::Quiet && meaningless { invalid(fpscr) } else { nan };
    }
    let negative = x.negative != y.negative;
    let infinite = x.class == Class::Infinity || y.class == Class::Infinity;
    let vanishes = x.class == Class::Zero || y.class == Class::Zero;
    if meaningless || infinite && z.class == Class::Infinity && z.negative != negative {
        return invalid(fpscr);
    }
    if infinite {
        return infinity(negative);
    }
    if z.class == Class::Infinity {
        return infinity(z.negative);
    }
    if vanishes && z.class == Class::Zero && z.negative == negative {
        return zero(negative);
    }
    let product = u128::from(x.sig) * u128::from(y.sig);
    Exact::new(negative, x.exp + y.exp, product).plus(Exact::of(z)).round(fpscr)
}

/// Sd, Sn and Sm to Sd.
pub(crate) fn arithmetic(op: Float, d: u32, n: u32, m: u32, fpscr: &mut u32) -> u32 {
    match op {
        Float::Add => add(n, m, fpscr),
        Float::Sub => sub(n, m, fpscr),
        Float::Mul => mul(n, m, fpscr),
        Float::Nmul => mul(n, m, fpscr) ^ SIGN,
        Float::Div => div(n, m, fpscr),
        Float::Mla => {
            let product = mul(n, m, fpscr);
            add(d, product, fpscr)
        }
        Float::Mls => {
            let product = mul(n, m, fpscr) ^ SIGN;
            add(d, product, fpscr)
        }
        Float::Nmla => {
            let product = mul(n, m, fpscr) ^ SIGN;
            add(d ^ SIGN, product, fpscr)
        }
        Float::Nmls => {
            let product = mul(n, m, fpscr);
            add(d ^ SIGN, product, fpscr)
        }
        Float::Fma => mul_add(d, n, m, fpscr),
        Float::Fms => mul_add(d, n ^ SIGN, m, fpscr),
        Float::Fnma => mul_add(d ^ SIGN, n ^ SIGN, m, fpscr),
        Float::Fnms => mul_add(d ^ SIGN, n, m, fpscr),
    }
}

/// Subtraction changes the sign of a number, not of a NaN.
fn sub(a: u32, b: u32, fpscr: &mut u32) -> u32 {
    if b << 1 > INFINITY << 1 {
        return add(a, b, fpscr);
    }
    add(a, b ^ SIGN, fpscr)
}

/// FPCompare: the flags N, Z, C, V.
pub(crate) fn compare(a: u32, b: u32, quiet_too: bool, fpscr: &mut u32) {
    let (x, y) = (unpack(a, fpscr), unpack(b, fpscr));
    let flags = if x.is_nan() || y.is_nan() {
        if quiet_too || x.class == Class::Signaling || y.class == Class::Signaling {
            *fpscr |= fpscr::IOC;
        }
        fpscr::C | fpscr::V
    } else {
        let value = |n: Number| if n.class == Class::Zero { 0.0 } else { f32::from_bits(n.bits) };
        let (x, y) = (value(x), value(y));
        if x == y {
            fpscr::Z | fpscr::C
        } else if x < y {
            fpscr::N
        } else {
            fpscr::C
        }
    };
    *fpscr = *fpscr & !(fpscr::N | fpscr::Z | fpscr::C | fpscr::V) | flags;
}

/// One register to another. `d` is Sd, of which a conversion to half precision keeps a half.
pub(crate) fn unary(op: FloatUnary, d: u32, m: u32, fpscr: &mut u32) -> u32 {
    match op {
        FloatUnary::Mov => m,
        FloatUnary::Abs => m & !SIGN,
        FloatUnary::Neg => m ^ SIGN,
        FloatUnary::Sqrt => sqrt(m, fpscr),
        FloatUnary::FromHalf(top) => from_half(if top { m >> 16 } else { m & 0xFFFF }, fpscr),
        FloatUnary::ToHalf(top) => {
            let half = to_half(m, fpscr);
            if top { d & 0xFFFF | half << 16 } else { d & 0xFFFF_0000 | half }
        }
        FloatUnary::FromInt(signed) => {
            let value = if signed { i64::from(m as i32) } else { i64::from(m) };
            from_integer(value, 0, Round::of(*fpscr), fpscr)
        }
        FloatUnary::ToInt { signed, to_zero } => {
            let round = if to_zero { Round::Zero } else { Round::of(*fpscr) };
            let (min, max) = limits(signed, 32);
            to_integer(m, 0, min, max, round, fpscr) as u32
        }
        FloatUnary::FromFixed { signed, word, fraction } => {
            let value = match (word, signed) {
                (true, true) => i64::from(m as i32),
                (true, false) => i64::from(m),
                (false, true) => i64::from(m as i16),
                (false, false) => i64::from(m as u16),
            };
            from_integer(value, fraction, Round::Nearest, fpscr)
        }
        FloatUnary::ToFixed { signed, word, fraction } => {
            let (min, max) = limits(signed, if word { 32 } else { 16 });
            to_integer(m, fraction, min, max, Round::Zero, fpscr) as u32
        }
    }
}

fn limits(signed: bool, width: u32) -> (i64, i64) {
    if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

/// FixedToFP
fn from_integer(value: i64, fraction: u8, round: Round, fpscr: &mut u32) -> u32 {
    if value == 0 {
        return 0;
    }
    let sig = u128::from(value.unsigned_abs());
    pack_rounding(round, value < 0, -i32::from(fraction), sig, fpscr)
}

/// FPToFixed
fn to_integer(bits: u32, fraction: u8, min: i64, max: i64, round: Round, fpscr: &mut u32) -> i64 {
    let x = unpack(bits, fpscr);
    if x.is_nan() {
        *fpscr |= fpscr::IOC;
        return 0;
    }
    let shift = x.exp + i32::from(fraction);
    let (magnitude, inexact) = match x.class {
        Class::Infinity => (i64::MAX, false),
        Class::Zero => (0, false),
        _ if shift >= 32 => (i64::MAX, false),
        _ if shift >= 0 => (i64::from(x.sig) << shift, false),
        _ => {
            let shift = -shift as u32;
            let (sig, shift) =
                if shift > 60 { (1, 60) } else { (u128::from(x.sig) << 2, shift + 2) };
            let (kept, rest) = ((sig >> shift) as i64, sig & ((1 << shift) - 1));
            let up = rounds_up(round, x.negative, kept & 1 != 0, rest, 1 << (shift - 1));
            (kept + i64::from(up), rest != 0)
        }
    };
    let value = if x.negative { -magnitude } else { magnitude };
    let limited = value.clamp(min, max);
    if limited != value {
        *fpscr |= fpscr::IOC;
    } else if inexact {
        *fpscr |= fpscr::IXC;
    }
    limited
}

/// FPHalfToSingle. Subnormal halves are never flushed.
fn from_half(half: u32, fpscr: &mut u32) -> u32 {
    let negative = half & 0x8000 != 0;
    let (exponent, fraction) = (half >> 10 & 0x1F, half & 0x3FF);
    match (exponent, fraction) {
        (0, 0) => zero(negative),
        (0, _) => pack(negative, -24, fraction.into(), &mut (*fpscr & !fpscr::FZ)),
        (31, _) if *fpscr & fpscr::AHP == 0 => {
            if fraction == 0 {
                return infinity(negative);
            }
            if fraction & 0x200 == 0 {
                *fpscr |= fpscr::IOC;
            }
            if *fpscr & fpscr::DN != 0 {
                return DEFAULT_NAN;
            }
            zero(negative) | DEFAULT_NAN | fraction << 13
        }
        _ => zero(negative) | (exponent + 112) << 23 | fraction << 13,
    }
}

/// FPSingleToHalf
fn to_half(bits: u32, fpscr: &mut u32) -> u32 {
    let x = unpack(bits, fpscr);
    let sign = u32::from(x.negative) << 15;
    let alternative = *fpscr & fpscr::AHP != 0;
    match x.class {
        Class::Quiet | Class::Signaling => {
            if x.class == Class::Signaling || alternative {
                *fpscr |= fpscr::IOC;
            }
            if alternative {
                sign
            } else if *fpscr & fpscr::DN != 0 {
                0x7E00
            } else {
                sign | 0x7E00 | bits >> 13 & 0x1FF
            }
        }
        Class::Infinity if alternative => {
            *fpscr |= fpscr::IOC;
            sign | 0x7FFF
        }
        Class::Infinity => sign | 0x7C00,
        Class::Zero => sign,
        Class::Finite => {
            let round = Round::of(*fpscr);
            let format = if alternative { ALTERNATIVE_HALF } else { HALF };
            let (magnitude, flags) = round_to(&format, round, x.negative, x.exp, x.sig.into());
            let magnitude = match magnitude {
                Some(magnitude) => {
                    *fpscr |= flags;
                    magnitude
                }
                None if alternative => {
                    *fpscr |= fpscr::IOC;
                    0x7FFF
                }
                None => {
                    *fpscr |= fpscr::OFC | fpscr::IXC;
                    0x7C00 - u32::from(!overflows_to_infinity(round, x.negative))
                }
            };
            sign | magnitude
        }
    }
}
