// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of constants, such as a chip's registers: several names to a line.

/// Constants of one type by name and value, as a data sheet's table has them; with `pub` in front of the type, public ones.
#[macro_export]
macro_rules! constants {
    ($vis:vis $type:ty: $($(#[$doc:meta])* $name:ident $value:expr),* $(,)?) => {
        $($(#[$doc])* $vis const $name: $type = $value;)*
    };
}
