// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that fail, and why. The other simulator has agreed to the last register, byte and, on the AVR, cycle: what
//! stands here is the compiler's doing, the C library's, or the program's own. Those that never come to their end on the
//! MSP430 are not tried in mspdebug, which would run them for ever.

/// Instruction set, reason, programs.
type Row = (&'static str, &'static str, &'static [&'static str]);

const TOO_LARGE: &str = "its stack or heap leaves static memory";
const OLD_GCC: &str = "a fault of GCC's that is repaired behind the 5.4 of Debian's gcc-avr";

#[rustfmt::skip]
const KNOWN: &[Row] = &[
    ("avr", TOO_LARGE, &["20031012-1", "960521-1", "pr67037"]),
    ("avr", OLD_GCC, &["alias-1", "alias-2", "alias-3", "pr77767", "pr79043", "pr80501", "pr85156", "pr94412"]),
    ("avr", "avr-libc prints floating point only with its library printf_flt", &["920501-8", "930513-1", "ieee/920810-1"]),
    ("avr", "avr-libc has no standard output until a program opens one", &[
        "fprintf-1", "fprintf-chk-1", "printf-1", "printf-chk-1", "vfprintf-1", "vfprintf-chk-1", "vprintf-1", "vprintf-chk-1",
    ]),
    ("avr", "it takes more than 50 million cycles", &["arith-rand-ll"]),
    ("avr", "__builtin_longjmp by a copied buffer sets the stack pointer to 0xFFFF; why was not looked into", &["pr64242"]),
    ("thumb", TOO_LARGE, &["pr28982b"]),
    ("thumb", "Debian's newlib is built without the formats of C99", &["pr78622"]),
    ("msp430", TOO_LARGE, &["960521-1", "multi-ix"]),
    ("msp430", "clang 19 passes a structure behind `...` by value and takes it as if by reference", &[
        "920908-1", "931004-2", "931004-4", "931004-6", "931004-8", "931004-10", "931004-12", "931004-14", "strct-stdarg-1",
        "strct-varg-1", "va-arg-22",
    ]),
    ("msp430", "it takes more than 50 million cycles", &["920501-2", "920501-6", "930921-1", "arith-rand-ll", "strcmp-1", "strncmp-1"]),
    ("msp430", "clang differs from GCC, on the host as well: in bit-fields wider than int, in addresses of labels", &["990208-1", "bitfld-3", "bitfld-5", "pr32244-1", "pr34971"]),
    ("msp430", "the stack is aligned to less than the largest alignment, as its comment expects", &["alloca-1"]),
    ("msp430", "clang 19's back end at -O2, not looked into: right at -O0 and by clang on the host", &["pr53645"]),
    ("msp430", "clang 19's back end, not looked into: right by clang on the host", &["20071211-1"]),
    ("msp430", "it divides -32768 by -1, which overflows an int of 16 bits", &["divmod-1"]),
    ("msp430", "clang knows no attribute optimize", &["alias-1", "pr79043"]),
    ("msp430", "it asks for the return addresses of its callers", &["20010122-1"]),
];

/// Why a program fails there, if that is known.
pub fn reason(place: &str, name: &str) -> Option<&'static str> {
    KNOWN.iter().find(|row| row.0 == place && row.2.contains(&name)).map(|row| row.1)
}
