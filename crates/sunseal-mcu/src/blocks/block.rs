// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every peripheral block says of itself, and how a chip is put together from a list of them.
//!
//! A family names each block once, in [`wire!`](crate::blocks::block::wire); fields, address map, clock
//! requests, events and interrupts are made from that at compile time, with no call through a pointer.

use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::{Ctx, ResetKind};
use crate::blocks::follow::Follow;
use crate::clock::Clocks;

/// A reset as blocks see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub kind: ResetKind,
    /// It ends LPM3.5 or LPM4.5 by an interrupt.
    pub woke: bool,
    /// The RTC ran through LPM3.5.
    pub rtc_kept: bool,
}

impl Reset {
    pub const fn of(kind: ResetKind) -> Self {
        Self { kind, woke: false, rtc_kept: false }
    }
}

/// A peripheral block on a 16-bit bus. A byte access is a word access under a mask.
pub(crate) trait Block {
    /// Interrupts that it raises; a chip names a vector for each.
    const LINES: usize = 0;
    /// How secrets go through it.
    const TAINT: Follow;
    /// A write to a register leads to nothing outside the block.
    const QUIET: bool = false;

    fn read(&mut self, off: u32, mask: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault>;
    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault>;

    /// Takes its reset values, where the block does so by itself.
    fn restart(&mut self, _how: Reset) {}

    /// The supply was gone: what no reset sets is lost too. `noise` is what registers wake with whose value the
    /// manual leaves open, where programs could mistake what was left in them for a result.
    fn forget(&mut self, _noise: u64) {}

    /// When something happens in it next; `seen` is how far the chip has come.
    fn due(&self, _clocks: &Clocks, _seen: Picos) -> Option<Picos> {
        None
    }

    /// What is due at `t` happens, where nothing outside the block takes part.
    fn advance(&mut self, _clocks: &Clocks, _t: Picos) {}

    /// The lines of the clock system changed.
    fn clocked(&mut self, _clocks: &Clocks, _now: Picos) {}

    fn requests_smclk(&self) -> bool {
        false
    }

    fn requests_aclk(&self) -> bool {
        false
    }

    /// Whether interrupt `line` is asked for.
    fn asks(&self, _line: usize) -> bool {
        false
    }

    /// The CPU took interrupt `line`: flags of a single source clear themselves.
    fn taken(&mut self, _line: usize) {}

    /// Whether an interrupt that is enabled may come by itself, or (`pins`) by levels from outside.
    fn may_ask(&self, _clocks: &Clocks, _now: Picos, _pins: bool) -> bool {
        false
    }

    /// The number of a DMA trigger by its name in the device's data.
    fn trigger(_name: &str) -> Option<u8> {
        None
    }

    /// The level of a DMA trigger.
    fn triggers(&self, _number: u8) -> bool {
        false
    }

    /// The transfer that trigger `number` asked for begins.
    fn served(&mut self, _number: u8) {}
}

/// One block, or several of a kind: as many as the family says (an array), or as the device's file lists (a `Vec`).
pub(crate) trait Blocks {
    type Item: Block;
    /// Only those blocks are made that the device's file lists.
    const LISTED: bool = false;
    fn all(&self) -> &[Self::Item];
    fn all_mut(&mut self) -> &mut [Self::Item];
}

impl<B: Block> Blocks for B {
    type Item = B;

    #[inline(always)]
    fn all(&self) -> &[B] {
        std::slice::from_ref(self)
    }

    #[inline(always)]
    fn all_mut(&mut self) -> &mut [B] {
        std::slice::from_mut(self)
    }
}

impl<B: Block, const N: usize> Blocks for [B; N] {
    type Item = B;

    #[inline(always)]
    fn all(&self) -> &[B] {
        self
    }

    #[inline(always)]
    fn all_mut(&mut self) -> &mut [B] {
        self
    }
}

impl<B: Block> Blocks for Vec<B> {
    type Item = B;
    const LISTED: bool = true;

    #[inline(always)]
    fn all(&self) -> &[B] {
        self
    }

    #[inline(always)]
    fn all_mut(&mut self) -> &mut [B] {
        self
    }
}

/// A block's name and kind in the device's data, and the names of its interrupts.
pub(crate) type Named<const LINES: usize> = (&'static str, &'static str, [&'static str; LINES]);

/// Names of the blocks of a kind that a device file may list, from number 0 to 7: `numbered!("ta", "timer_a", "_ccr0", "")`
/// has `ta0` with the interrupts `ta0_ccr0` and `ta0`.
macro_rules! numbered {
    ($prefix:literal, $kind:literal $(, $line:literal)*) => {
        numbered!(@ $prefix, $kind, [$($line),*]; 0 1 2 3 4 5 6 7)
    };
    (@ $prefix:literal, $kind:literal, $lines:tt; $($n:literal)*) => {
        [$(numbered!(# $prefix, $kind, $lines, $n)),*]
    };
    (# $prefix:literal, $kind:literal, [$($line:literal),*], $n:literal) => {
        (concat!($prefix, $n), $kind, [$(concat!($prefix, $n, $line)),*])
    };
}
pub(crate) use numbered;

/// Those of a family's blocks that a device has, in the family's order.
pub(crate) fn present<const LINES: usize>(
    mut all: Vec<Named<LINES>>,
    device: &crate::device::Device,
) -> Vec<Named<LINES>> {
    all.retain(|(name, kind, _)| device.block(name).is_some_and(|b| b.kind == *kind));
    all
}

/// Where a block lies on a chip, 0 where the chip has none, and its vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<const LINES: usize> {
    pub name: &'static str,
    pub base: u32,
    pub size_bytes: u32,
    pub vectors: [u32; LINES],
}

/// Puts a family together: `field: Type = names`, in the order in which events of one instant are served. Of a `Vec`
/// a chip has those that its file lists. Makes the struct of the blocks, their slots in the address map, and their
/// places.
macro_rules! wire {
    ($blocks:ident, $slot:ident, $places:ident {
        $($(#[$doc:meta])* $field:ident : $ty:ty = $names:expr,)*
    }) => {
        /// The blocks of a chip.
        #[derive(Clone, serde::Serialize, serde::Deserialize)]
        pub(crate) struct $blocks { $($(#[$doc])* pub $field: $ty,)* }

        /// A block in the address map.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $slot { none, $($field(u8),)* }

        /// First addresses and vectors, as the device's data have them.
        pub(crate) struct $places {
            $(pub $field: Vec<$crate::blocks::block::Place<
                { <<$ty as $crate::blocks::block::Blocks>::Item as $crate::blocks::block::Block>::LINES }
            >>,)*
        }

        #[allow(dead_code)]
        impl $places {
            fn of(device: &$crate::device::Device) -> Self {
                Self { $($field: {
                    let listed = <$ty as $crate::blocks::block::Blocks>::LISTED;
                    let of = $blocks::of(listed, $blocks::$field(), Some(device));
                    of.into_iter().map(|(name, _, lines)| {
                        $crate::blocks::block::place(name, lines, device)
                    }).collect()
                },)* }
            }

            /// The slot and the offset of every fourth address.
            fn map(&self) -> Box<[($slot, u16); 1024]> {
                let mut map = Box::new([($slot::none, 0u16); 1024]);
                $(for (i, place) in self.$field.iter().enumerate().filter(|(_, p)| p.base != 0) {
                    for at in place.base / 4..(place.base + place.size_bytes).div_ceil(4) {
                        map[at as usize] = ($slot::$field(i as u8), (4 * at - place.base) as u16);
                    }
                })*
                map
            }
        }

        #[allow(dead_code)]
        impl $blocks {
            $(fn $field() -> Vec<$crate::blocks::block::Named<
                { <<$ty as $crate::blocks::block::Blocks>::Item as $crate::blocks::block::Block>::LINES }
            >> { Vec::from($names) })*

            /// Those of `all` that a device has, where only those are made.
            fn of<const LINES: usize>(
                listed: bool,
                all: Vec<$crate::blocks::block::Named<LINES>>,
                device: Option<&$crate::device::Device>,
            ) -> Vec<$crate::blocks::block::Named<LINES>> {
                match device {
                    Some(device) if listed => $crate::blocks::block::present(all, device),
                    _ => all,
                }
            }

            /// The blocks that the family knows: their names, and how secrets go through them.
            pub(crate) fn known() -> Vec<(&'static str, $crate::blocks::follow::Follow)> {
                let mut known = Vec::new();
                $(known.extend(Self::$field().into_iter().map(|(name, ..)| {
                    (name, <<$ty as $crate::blocks::block::Blocks>::Item
                        as $crate::blocks::block::Block>::TAINT)
                }));)*
                known
            }

            /// Their names and kinds, and the names of their interrupts.
            pub(crate) fn made() -> $crate::blocks::Made {
                let (mut blocks, mut interrupts) = (Vec::new(), Vec::new());
                $(for (name, kind, lines) in Self::$field() {
                    blocks.push((name, kind));
                    interrupts.extend(lines);
                })*
                (blocks, interrupts)
            }

            /// The slot of the block of that name, on a device or on any.
            fn find(device: Option<&$crate::device::Device>, name: &str) -> Option<$slot> {
                $(
                    let listed = <$ty as $crate::blocks::block::Blocks>::LISTED;
                    let of = Self::of(listed, Self::$field(), device);
                    if let Some(i) = of.iter().position(|n| n.0 == name) {
                        return Some($slot::$field(i as u8));
                    }
                )*
                None
            }

            #[inline]
            fn read(&mut self, slot: $slot, off: u32, mask: u16, cx: &mut $crate::blocks::Ctx<'_>)
                -> Result<u16, sunseal_isa::Fault> {
                use $crate::blocks::block::{Block, Blocks};
                match slot {
                    $slot::none => Err($crate::blocks::no_block(cx.dev, cx.addr)),
                    $($slot::$field(i) => {
                        Block::read(&mut self.$field.all_mut()[usize::from(i)], off, mask, cx)
                    })*
                }
            }

            /// True if the write leads to nothing outside the block.
            #[inline]
            fn write(
                &mut self, slot: $slot, off: u32, value: u16, mask: u16, cx: &mut $crate::blocks::Ctx<'_>
            ) -> Result<bool, sunseal_isa::Fault> {
                use $crate::blocks::block::{Block, Blocks};
                match slot {
                    $slot::none => Err($crate::blocks::no_block(cx.dev, cx.addr)),
                    $($slot::$field(i) => {
                        Block::write(&mut self.$field.all_mut()[usize::from(i)], off, value, mask, cx)?;
                        Ok(<<$ty as Blocks>::Item as Block>::QUIET)
                    })*
                }
            }

            fn restart(&mut self, how: $crate::blocks::block::Reset) {
                use $crate::blocks::block::{Block, Blocks};
                $(self.$field.all_mut().iter_mut().for_each(|b| b.restart(how));)*
            }

            fn forget(&mut self, noise: u64) {
                use $crate::blocks::block::{Block, Blocks};
                $(self.$field.all_mut().iter_mut().for_each(|b| b.forget(noise));)*
            }

            fn clocked(&mut self, clocks: &$crate::clock::Clocks, now: sunseal_trace::Picos) {
                use $crate::blocks::block::{Block, Blocks};
                $(self.$field.all_mut().iter_mut().for_each(|b| Block::clocked(b, clocks, now));)*
            }

            /// The earliest event; `Picos::MAX` if there is none.
            #[inline]
            fn due(&self, clocks: &$crate::clock::Clocks, seen: sunseal_trace::Picos)
                -> sunseal_trace::Picos {
                use $crate::blocks::block::{Block, Blocks};
                let mut next = sunseal_trace::Picos::MAX;
                $(for b in self.$field.all() {
                    next = next.min(b.due(clocks, seen).unwrap_or(sunseal_trace::Picos::MAX));
                })*
                next
            }

            #[inline]
            fn advance(&mut self, clocks: &$crate::clock::Clocks, t: sunseal_trace::Picos) {
                use $crate::blocks::block::{Block, Blocks};
                $(for b in self.$field.all_mut() {
                    if b.due(clocks, t).is_some_and(|e| e <= t) {
                        b.advance(clocks, t);
                    }
                })*
            }

            fn requests_smclk(&self) -> bool {
                use $crate::blocks::block::{Block, Blocks};
                false $(|| self.$field.all().iter().any(Block::requests_smclk))*
            }

            fn requests_aclk(&self) -> bool {
                use $crate::blocks::block::{Block, Blocks};
                false $(|| self.$field.all().iter().any(Block::requests_aclk))*
            }

            fn may_ask(&self, clocks: &$crate::clock::Clocks, now: sunseal_trace::Picos, pins: bool)
                -> bool {
                use $crate::blocks::block::{Block, Blocks};
                false $(|| self.$field.all().iter().any(|b| b.may_ask(clocks, now, pins)))*
            }

            /// The vector of the interrupt that comes first: the highest address of all that are asked for.
            #[inline]
            fn asks(&self, at: &$places, but: impl Fn($slot) -> bool) -> Option<u32> {
                use $crate::blocks::block::{Block, Blocks};
                let mut first = 0;
                $(for (i, (b, place)) in self.$field.all().iter().zip(&at.$field).enumerate() {
                    for (line, &vector) in place.vectors.iter().enumerate() {
                        if vector > first && b.asks(line) && !but($slot::$field(i as u8)) {
                            first = vector;
                        }
                    }
                })*
                (first != 0).then_some(first)
            }

            fn taken(&mut self, at: &$places, taken: u32) {
                use $crate::blocks::block::{Block, Blocks};
                $(for (b, place) in self.$field.all_mut().iter_mut().zip(&at.$field) {
                    for (line, &vector) in place.vectors.iter().enumerate() {
                        if vector == taken {
                            b.taken(line);
                        }
                    }
                })*
            }

            /// A DMA trigger by its name in the device's data, on a device or on any.
            pub(crate) fn trigger(device: Option<&$crate::device::Device>, name: &str)
                -> Option<($slot, u8)> {
                use $crate::blocks::block::{Block, Blocks};
                let (block, what) = name.split_once('.').unwrap_or((name, ""));
                let slot = Self::find(device, block)?;
                let number = match slot {
                    $slot::none => None,
                    $($slot::$field(_) => <<$ty as Blocks>::Item as Block>::trigger(what),)*
                };
                Some((slot, number?))
            }

            #[inline]
            fn triggers(&self, slot: $slot, number: u8) -> bool {
                use $crate::blocks::block::{Block, Blocks};
                match slot {
                    $slot::none => false,
                    $($slot::$field(i) => self.$field.all()[usize::from(i)].triggers(number),)*
                }
            }

            fn served(&mut self, slot: $slot, number: u8) {
                use $crate::blocks::block::{Block, Blocks};
                match slot {
                    $slot::none => {}
                    $($slot::$field(i) => self.$field.all_mut()[usize::from(i)].served(number),)*
                }
            }
        }
    };
}

pub(crate) use wire;

/// Looks a block's addresses up. Vector 0 is none: a chip may lack the block, or its interrupt.
pub(crate) fn place<const LINES: usize>(
    name: &'static str,
    lines: [&str; LINES],
    device: &crate::device::Device,
) -> Place<LINES> {
    let (base, size_bytes) = device.block(name).map_or((0, 0), |b| (b.base, b.size_bytes));
    Place { name, base, size_bytes, vectors: lines.map(|line| device.interrupt(line).unwrap_or(0)) }
}
