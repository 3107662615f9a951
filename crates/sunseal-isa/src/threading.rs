// SPDX-License-Identifier: MIT OR Apache-2.0
//! How handlers of decoded instructions follow each other.
//!
//! A quick handler ends with a call of the next instruction's handler, which compilers turn into a jump of its own
//! (threaded code: Bell, CACM 16(6), 1973). Processors without a history of indirect jumps, or with it switched off,
//! predict such a jump by where it went last, and one jump in a loop goes elsewhere each time. Before it, a handler
//! asks for those that came behind it most often in the library's own programs (`likely.rs` of each core, written by
//! `sunseal-dev likely`): conditional jumps are predicted by how the program came here.

use crate::Cycles;

/// Where a compiler leaves a call a call, the loop takes over after so many cycles, and that bounds the stack. Where
/// nothing is optimised every call stays one, and the frame of each is some kilobytes.
pub(crate) const THREAD_CYCLES: Cycles = if cfg!(debug_assertions) { 64 } else { 1024 };

/// How many handlers are asked for.
pub(crate) const MOST: usize = 4;

/// Numbers of handlers, the likeliest first; 0 is none.
pub(crate) type Likely = [usize; MOST];

/// Nothing is known of what follows.
pub(crate) const UNKNOWN: Likely = [0; MOST];

/// Those likely behind handler `kind`.
pub(crate) const fn likely(table: &[(u16, [u16; MOST])], kind: u16) -> Likely {
    let mut found = [0; MOST];
    let mut i = 0;
    while i < table.len() {
        if table[i].0 == kind {
            let mut n = 0;
            while n < MOST {
                found[n] = table[i].1[n] as usize;
                n += 1;
            }
        }
        i += 1;
    }
    found
}

/// `$handlers[$kind]($args)`, the likely ones by jumps of their own; `[return]` leaves with it.
macro_rules! dispatch {
    ([$($leave:tt)?] $handlers:expr, $kind:expr, $likely:expr, ($($arg:expr),*)) => {{
        let (kind, likely) = ($kind, $likely);
        if likely[0] != 0 && kind == likely[0] {
            $($leave)? $handlers[likely[0]]($($arg),*)
        } else if likely[1] != 0 && kind == likely[1] {
            $($leave)? $handlers[likely[1]]($($arg),*)
        } else if likely[2] != 0 && kind == likely[2] {
            $($leave)? $handlers[likely[2]]($($arg),*)
        } else if likely[3] != 0 && kind == likely[3] {
            $($leave)? $handlers[likely[3]]($($arg),*)
        } else {
            $($leave)? $handlers[kind]($($arg),*)
        }
    }};
}
pub(crate) use dispatch;
