// SPDX-License-Identifier: MIT OR Apache-2.0
//! How handlers of decoded instructions follow each other.
//!
//! A quick handler ends with a call of the next instruction's handler, which compilers turn into a jump of its own
//! (threaded code: Bell, CACM 16(6), 1973). Processors without a history of indirect jumps, or with it switched off,
//! predict such a jump by where it went last, and one jump in a loop goes elsewhere each time. Before it, a handler
//! asks for those that came behind it most often in the library's own programs (`likely.in` of each core, written by
//! `sunseal-dev likely`): conditional jumps are predicted by how the program came here.

use crate::Cycles;

/// Where a compiler leaves a call a call, the loop takes over after so many cycles, and that bounds the stack. Where
/// nothing is optimised every call stays one, and the frame of each is some kilobytes.
pub(crate) const THREAD_CYCLES: Cycles = if cfg!(debug_assertions) { 64 } else { 1024 };

/// How many handlers are asked for by each row of a core's `LIKELY`: handlers and those that came behind them most often,
/// the likeliest first; 0 is none.
pub(crate) const MOST: usize = 4;

/// Numbers of handlers, the likeliest first; 0 is none.
pub(crate) type Likely = [usize; MOST];

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

/// `$handlers[$kind]($args)`, those likely behind handler `$behind` by jumps of their own; `[return]` leaves with it.
macro_rules! dispatch {
    ([$($leave:tt)?] $kind:expr, $behind:expr, ($($arg:expr),*)) => {{
        let handlers = &Table::<B, O>::HANDLERS;
        let (kind, likely) =
            ($kind, const { $crate::threading::likely(super::LIKELY, $behind as u16) });
        if likely[0] != 0 && kind == likely[0] {
            $($leave)? handlers[likely[0]]($($arg),*)
        } else if likely[1] != 0 && kind == likely[1] {
            $($leave)? handlers[likely[1]]($($arg),*)
        } else if likely[2] != 0 && kind == likely[2] {
            $($leave)? handlers[likely[2]]($($arg),*)
        } else if likely[3] != 0 && kind == likely[3] {
            $($leave)? handlers[likely[3]]($($arg),*)
        } else {
            $($leave)? handlers[kind]($($arg),*)
        }
    }};
}
pub(crate) use dispatch;

/// To the handler of the instruction at `$next`, behind handler `$behind`, which did nothing outside CPU and plain memory;
/// or to the loop, if it is time (`Cpu::upcoming`).
macro_rules! follow {
    ($next:expr, $behind:expr, $cpu:ident, $bus:ident, $obs:ident) => {{
        let next = $next;
        match $cpu.upcoming($bus, next) {
            Some(op) => dispatch!([return] op.kind(), $behind, ($cpu, $bus, $obs, op, next)),
            None => next,
        }
    }};
}
pub(crate) use follow;

/// A handler of decoded instructions. What it works on travels in the five arguments that stand between the bars, as they
/// stay in registers from one handler to the next.
///
/// `name { N: u8 }` has constants, `inline(how)` an attribute. Behind `follow(kind)` it goes on with the handler of the
/// instruction that its body leads to, by a jump predicted for handler `kind`; so it does behind `follow_access(kind)`,
/// unless a peripheral, which it may have reached, has drawn the deadline near, and behind `follow_write(kind)`, unless
/// `STATUS` says that the loop ends, too. `return` ends the body without.
macro_rules! handler {
    ($name:ident $({ $($n:ident: $t:ty),* })?, inline($how:ident), $($rest:tt)*) => {
        handler!(@ #[inline($how)] $name [$($($n: $t),*)?] $($rest)*);
    };
    ($name:ident $({ $($n:ident: $t:ty),* })?, $($rest:tt)*) => {
        handler!(@ $name [$($($n: $t),*)?] $($rest)*);
    };
    (@ $(#[$inline:meta])? $name:ident [$($n:ident: $t:ty),*] $($end:ident($kind:expr),)?
        |$cpu:ident, $bus:ident, $obs:ident, $op:ident, $pc:ident| $body:block
    ) => {
        $(#[$inline])?
        pub(super) fn $name<B: Bus, O: Observer $(, const $n: $t)*>(
            $cpu: &mut Cpu,
            $bus: &mut B,
            $obs: &mut O,
            $op: Op,
            $pc: u32,
        ) -> u32 {
            handler!(@then $body $(, $end, $kind, $cpu, $bus, $obs)?)
        }
    };
    (@then $next:block) => { $next };
    (@then $next:block, follow, $($behind:tt)*) => { follow!($next, $($behind)*) };
    (@then $next:block, follow_access, $kind:expr, $cpu:ident, $bus:ident, $obs:ident) => {{
        let next = $next;
        if $cpu.cycles >= $bus.deadline() {
            return next;
        }
        follow!(next, $kind, $cpu, $bus, $obs)
    }};
    (@then $next:block, follow_write, $kind:expr, $cpu:ident, $bus:ident, $obs:ident) => {{
        let next = $next;
        if next & STATUS != 0 || $cpu.cycles >= $bus.deadline() {
            return next;
        }
        follow!(next, $kind, $cpu, $bus, $obs)
    }};
}
pub(crate) use handler;

/// A handler that another falls back to, and that must not become part of it.
macro_rules! watched {
    ($name:ident $({ $($n:ident: $t:ty),* })?, $($rest:tt)*) => {
        handler!($name $({ $($n: $t),* })?, inline(never), $($rest)*);
    };
}
pub(crate) use watched;

/// The value, or the end of the run at `$pc`.
macro_rules! or_fault {
    ($cpu:expr, $pc:expr, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(fault) => return stop($cpu, fault, $pc),
        }
    };
}
pub(crate) use or_fault;
