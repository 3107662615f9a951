// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is one byte on the air, told once for its number, its name and the way back.

/// Declares an enumeration of variants, each with its number on the air and its name.
macro_rules! codes {
    (
        $(#[$meta:meta])*
        $enum:ident { $($(#[$doc:meta])* $variant:ident = $code:literal $name:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $enum {
            $($(#[$doc])* $variant = $code,)*
        }

        impl $enum {
            /// Every one, in the order of their numbers.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            /// The one of a number on the air.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The number on the air.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The name in this project's texts, in JSON and on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
