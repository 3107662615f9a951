// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of constants: numbers that count up, and bits of registers.

/// Constants that count up from the first, or from 0.
macro_rules! numbers {
    ($type:ty: $($name:ident),*) => { numbers! { $type, 0; $($name),* } };
    ($type:ty, $first:expr;) => {};
    ($type:ty, $first:expr; $name:ident $(, $rest:ident)*) => {
        pub const $name: $type = $first;
        numbers! { $type, $name + 1; $($rest),* }
    };
}

/// Bits of a register by their numbers, each with what it says; of a type that is no number, with what makes it of one.
macro_rules! bits {
    ($type:ty: $($name:ident $bit:literal $doc:literal,)*) => {
        $(#[doc = $doc] pub const $name: $type = 1 << $bit;)*
    };
    ($type:ty, $of:expr; $($name:ident $bit:literal $doc:literal,)*) => {
        $(#[doc = $doc] pub const $name: $type = $of(1 << $bit);)*
    };
}
