// SPDX-License-Identifier: MIT OR Apache-2.0
//! What blocks on a 32-bit bus see. Registers are 16 or 32 bits wide; a narrower access is an access
//! under a mask.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::{Access, Ctx, Effects, Family, Made};
use crate::blocks::follow::Follow;
use crate::clock::{Clocks, Line};
use crate::device::Device;

/// Classes of reset, deepest last (SLAU356I chapter 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Class {
    /// The processor and what it runs; clocks, power and flash settings stay.
    Soft,
    /// All that software set, but not the clock and power system.
    Hard,
    /// From the boot code on.
    Reboot,
    /// All but what the RTC keeps over LPM3.5.
    Por,
}

/// What an access or an event leads to outside its block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fx {
    /// The class of a reset and the number of its source within RSTCTL's registers.
    pub reset: Option<(Class, u8)>,
    /// Clock lines or the operating point may have changed.
    pub clocks: bool,
    /// Wait states, banks or the ways of reading have changed.
    pub memory: bool,
    /// Pairs of ports that were written, a bit each.
    pub pins: u8,
    /// The port mapper was.
    pub mapped: bool,
}

impl Fx {
    /// Asks for a reset; of several the deepest comes.
    pub fn ask(&mut self, class: Class, source: u8) {
        if self.reset.is_none_or(|(c, _)| c < class) {
            self.reset = Some((class, source));
        }
    }
}

/// The clock lines of the chip. Ticks of `base.mclk` are the CPU's cycles; `fclk` has its rate and
/// goes on while the CPU sleeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lines {
    pub base: Clocks,
    pub fclk: Line,
    pub hsmclk: Line,
    pub bclk: Line,
    pub sysosc: Line,
}

/// The MSP432P4xx as its blocks see it.
pub(crate) enum P4 {}

impl Family for P4 {
    type Lines = Lines;
    type Fx = Fx;
    /// Whether a time-out and a wrong password of the watchdog lead to a hard reset (SYS_WDTRESET_CTL).
    type Beside = (bool, bool);
}

pub(crate) type Cx<'a> = Access<'a, P4>;

/// A peripheral block on a 32-bit bus.
pub(crate) trait Block<F: Family> {
    /// How secrets go through it.
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, mask: u32, cx: &mut Access<'_, F>) -> Result<u32, Fault>;
    fn write(
        &mut self,
        off: u32,
        value: u32,
        mask: u32,
        cx: &mut Access<'_, F>,
    ) -> Result<(), Fault>;

    /// Its clock is now another, or ticks at another rate.
    fn clocked(&mut self, _clock: &Line, _now: Picos) {}

    /// When something happens in it next.
    fn due(&self, _lines: &F::Lines) -> Option<Picos> {
        None
    }

    /// What is due at `t` happens, where nothing outside the block takes part.
    fn advance(&mut self, _lines: &F::Lines, _t: Picos) {}

    /// The interrupts that are asked for, a bit each; one that is a pulse is told once.
    fn asks(&mut self) -> u32 {
        0
    }

    /// Whether an interrupt that is enabled may come by itself.
    fn may_ask(&self, _lines: &F::Lines) -> bool {
        false
    }
}

/// A block of a 16-bit bus on that of the MSP432P4xx.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Half<B>(pub B);

impl<B> std::borrow::Borrow<B> for Half<B> {
    fn borrow(&self) -> &B {
        &self.0
    }
}

impl<B> std::borrow::BorrowMut<B> for Half<B> {
    fn borrow_mut(&mut self) -> &mut B {
        &mut self.0
    }
}

impl<B: super::Block> Half<B> {
    pub fn with<T>(&mut self, cx: &mut Cx<'_>, act: impl FnOnce(&mut B, &mut Ctx<'_>) -> T) -> T {
        let mut cx = Ctx {
            now: cx.now,
            at: cx.at,
            addr: cx.addr,
            clocks: &cx.clocks.base,
            dev: cx.dev,
            accounts: cx.accounts,
            lints: cx.lints,
            fx: &mut Effects::default(),
            vcc_v: cx.vcc_v,
            beside: 0,
        };
        act(&mut self.0, &mut cx)
    }

    pub fn requests_clock(&self) -> bool {
        self.0.requests_smclk() || self.0.requests_aclk()
    }
}

impl<B: super::Block> Block<P4> for Half<B> {
    const TAINT: Follow = B::TAINT;

    fn read(&mut self, off: u32, mask: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        self.with(cx, |block, cx| block.read(off, mask as u16, cx)).map(u32::from)
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        self.with(cx, |block, cx| block.write(off, value as u16, mask as u16, cx))
    }

    fn due(&self, lines: &Lines) -> Option<Picos> {
        self.0.due(&lines.base, Picos::ZERO)
    }

    fn advance(&mut self, lines: &Lines, t: Picos) {
        self.0.advance(&lines.base, t);
    }

    fn asks(&mut self) -> u32 {
        (0..B::LINES).fold(0, |lines, line| lines | u32::from(self.0.asks(line)) << line)
    }

    fn may_ask(&self, lines: &Lines) -> bool {
        self.0.may_ask(&lines.base, Picos::ZERO, false)
    }
}

/// Inputs of the interrupt controller that one block may have.
const INPUTS: usize = 9;
/// The input of a block that the part has not.
const NONE: u32 = u32::MAX;

/// A block as a family lists it: its name and kind in the device's data, and the names of its interrupts.
pub(crate) type Named = (&'static str, &'static str, &'static [&'static str]);

/// A listed block, its slot in the address map, and how secrets go through it.
pub(crate) struct Listed<S> {
    pub named: Named,
    pub slot: S,
    pub taint: Follow,
}

/// How secrets go through the blocks, by their names.
pub(crate) fn known<S>(all: Vec<Listed<S>>) -> Vec<(&'static str, Follow)> {
    all.into_iter().map(|l| (l.named.0, l.taint)).collect()
}

/// What a device file may list.
pub(crate) fn made<S>(all: &[Listed<S>]) -> Made {
    let blocks = all.iter().map(|l| (l.named.0, l.named.1)).collect();
    (blocks, all.iter().flat_map(|l| l.named.2).copied().collect())
}

/// A block at its place.
pub(crate) struct Mapped<S> {
    pub base: u32,
    pub slot: S,
    pub name: &'static str,
    /// What gives it its bus clock: the enable register's offset in RCC, and the bit.
    pub enable: Option<[u32; 2]>,
    bytes: u32,
    inputs: [u32; INPUTS],
}

/// The blocks of a part by their addresses, and the inputs of the interrupt controller that each has.
pub(crate) struct Map<S> {
    pub blocks: Vec<Mapped<S>>,
    /// In the order of the list.
    pub listed: Vec<[u32; INPUTS]>,
}

impl<S: Copy + PartialEq> Map<S> {
    pub fn of(all: &[Listed<S>], device: &Device) -> Self {
        let inputs = |l: &Listed<S>| -> [u32; INPUTS] {
            let one =
                |i: usize| l.named.2.get(i).and_then(|name| device.interrupt(name)).unwrap_or(NONE);
            std::array::from_fn(one)
        };
        let mapped = |l: &Listed<S>| {
            let block = device.block(l.named.0)?;
            let (base, enable) = (block.base, block.enable);
            let bytes = block.size_bytes.next_multiple_of(0x100);
            Some(Mapped { base, slot: l.slot, name: l.named.0, enable, bytes, inputs: inputs(l) })
        };
        let mut blocks: Vec<_> = all.iter().filter_map(mapped).collect();
        blocks.sort_by_key(|m| m.base);
        Self { blocks, listed: all.iter().map(inputs).collect() }
    }

    /// The block that has a register at `addr`.
    pub fn at(&self, addr: u32) -> Option<&Mapped<S>> {
        let at = self.blocks.partition_point(|m| m.base <= addr);
        let found = &self.blocks[at.checked_sub(1)?];
        (addr - found.base < found.bytes).then_some(found)
    }

    /// The inputs of a block.
    pub fn inputs(&self, slot: S) -> [u32; INPUTS] {
        self.blocks.iter().find(|m| m.slot == slot).map_or([NONE; INPUTS], |m| m.inputs)
    }

    /// The first address of a block; 0 of one that the part has not.
    pub fn base(&self, slot: S) -> u32 {
        self.blocks.iter().find(|m| m.slot == slot).map_or(0, |m| m.base)
    }
}

/// The levels of those of a block's inputs that it asks by.
pub(crate) fn levels(asked: u32, inputs: &[u32; INPUTS]) -> u128 {
    let (mut levels, mut asked) = (0, asked);
    while asked != 0 {
        let input = inputs[asked.trailing_zeros() as usize];
        levels |= 1u128.checked_shl(input).unwrap_or(0);
        asked &= asked - 1;
    }
    levels
}

/// Whether one of a block's inputs is `on`.
pub(crate) fn any(inputs: &[u32], on: impl Fn(u32) -> bool) -> bool {
    inputs.iter().any(|input| *input != NONE && on(*input))
}

/// Puts a family together: `field: Type, how many = names`, and the blocks that it keeps outside this list.
macro_rules! blocks {
    ($family:ty, beside $($other:ident),*; $($field:ident : $ty:ty, $n:literal = $named:expr;)*) => {
        /// The blocks of a chip.
        #[derive(Clone, Serialize, Deserialize)]
        pub(super) struct Blocks { $(pub $field: [$ty; $n],)* }

        /// A block in the address map.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(non_camel_case_types)]
        pub(super) enum Slot { $($field(usize),)* $($other,)* }

        /// All blocks that the family knows.
        pub(super) fn listed() -> Vec<Listed<Slot>> {
            let mut all = Vec::new();
            $(let named: [Named; $n] = $named;
            all.extend(named.into_iter().enumerate().map(|(i, named)| {
                let taint = <$ty as Block<$family>>::TAINT;
                Listed { named, slot: Slot::$field(i), taint }
            }));)*
            $(let name = stringify!($other);
            all.push(Listed { named: (name, name, &[]), slot: Slot::$other, taint: Follow::Hole });)*
            all
        }

        impl Blocks {
            pub fn read(&mut self, slot: Slot, off: u32, mask: u32, cx: &mut Access<'_, $family>)
                -> Result<u32, Fault> {
                match slot {
                    $(Slot::$field(i) => Block::read(&mut self.$field[i], off, mask, cx),)*
                    $(Slot::$other)|* => Err(cx.no_register()),
                }
            }

            pub fn write(
                &mut self, slot: Slot, off: u32, value: u32, mask: u32, cx: &mut Access<'_, $family>
            ) -> Result<(), Fault> {
                match slot {
                    $(Slot::$field(i) => Block::write(&mut self.$field[i], off, value, mask, cx),)*
                    $(Slot::$other)|* => Err(cx.no_register()),
                }
            }

            /// When the earliest event of all is due.
            pub fn due(&self, lines: &<$family as Family>::Lines) -> Option<Picos> {
                let mut next = Picos::MAX;
                $(for b in &self.$field {
                    next = next.min(Block::due(b, lines).unwrap_or(Picos::MAX));
                })*
                (next != Picos::MAX).then_some(next)
            }

            /// What is due at `t` in the blocks that need nobody else for it.
            pub fn advance(&mut self, lines: &<$family as Family>::Lines, t: Picos) {
                $(for b in &mut self.$field {
                    if Block::due(b, lines).is_some_and(|e| e <= t) {
                        Block::advance(b, lines, t);
                    }
                })*
            }

            /// Every block is told its clock anew.
            #[allow(dead_code)]
            pub fn clocked(&mut self, now: Picos, clock: impl Fn(Slot) -> Line) {
                $(for (i, b) in self.$field.iter_mut().enumerate() {
                    b.clocked(&clock(Slot::$field(i)), now);
                })*
            }

            /// Levels of the inputs of the interrupt controller, `but` those of some blocks.
            pub fn levels(&mut self, map: &Map<Slot>, but: impl Fn(Slot) -> bool) -> u128 {
                // Behind most accesses no block asks: one test of all, before inputs are looked up.
                const ALL: usize = 0 $(+ $n)*;
                let (mut asked, mut any, mut n) = ([0; ALL], 0, 0);
                $(for b in &mut self.$field {
                    asked[n] = Block::asks(b);
                    any |= asked[n];
                    n += 1;
                })*
                let mut levels = 0;
                if any != 0 {
                    let mut all = asked.into_iter().zip(&map.listed);
                    $(for (i, (asked, inputs)) in (0..$n).zip(&mut all) {
                        if asked != 0 && !but(Slot::$field(i)) {
                            levels |= wide::levels(asked, inputs);
                        }
                    })*
                }
                levels
            }

            /// Whether an interrupt whose input is `on` may come by itself.
            pub fn may_ask(
                &self, map: &Map<Slot>, lines: &<$family as Family>::Lines, on: impl Fn(u32) -> bool
            ) -> bool {
                let mut inputs = map.listed.iter();
                false $(|| self.$field.iter().zip(&mut inputs).any(|(b, inputs)| {
                    wide::any(inputs, &on) && Block::may_ask(b, lines)
                }))*
            }
        }
    };
}
pub(crate) use blocks;

/// `old` with the masked bits from `value`.
pub(crate) fn merge(old: u32, value: u32, mask: u32) -> u32 {
    (old & !mask) | (value & mask)
}

/// The same for a register of 16 bits.
pub(crate) fn merge16(old: u16, value: u32, mask: u32) -> u16 {
    merge(u32::from(old), value, mask) as u16
}

/// The earlier of times that may never come.
pub(crate) fn sooner(a: Option<Picos>, b: Option<Picos>) -> Option<Picos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
