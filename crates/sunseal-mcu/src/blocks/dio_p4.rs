// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digital I/O of the MSP432P4xx, its ports in pairs (SLAU356I chapter 12), and the port mapper (chapter 13).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::port::PortPair;
use super::wide::{Block, Cx, Half, P4};
use super::{merge, no_block};
use crate::device::PortMapper;
use crate::lint::LintKind;
use crate::pin::{PORT_J, Pin};

/// A bit for each of them.
pub(crate) const ALL_PORTS: u8 = 0x3F;

/// PA to PE, and PJ. The first three have interrupts.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Dio(pub [Half<PortPair>; 6]);

/// A pin's pair of ports, and its bit there.
fn pair(pin: Pin) -> (usize, u16) {
    if pin.port == PORT_J {
        return (5, u16::from(pin.mask()));
    }
    let n = pin.port - 1;
    (usize::from(n / 2).min(5), u16::from(pin.mask()) << (8 * (n % 2)))
}

impl Dio {
    pub fn new() -> Self {
        Self(std::array::from_fn(|i| Half(PortPair::p4(i < 3))))
    }

    pub fn reset(&mut self) {
        self.0.iter_mut().for_each(|p| p.0.reset());
    }

    /// The pins hold what they do, or follow their registers again.
    pub fn lock(&mut self, locked: bool) {
        self.0.iter_mut().for_each(|p| p.0.lock(locked, false));
    }

    /// Behind LPM3.5 or LPM4.5 the registers are new, what the pins hold and the flags are not.
    pub fn wake(&mut self) {
        self.0.iter_mut().for_each(|p| p.0.wake_reset());
    }

    pub fn pair(&self, i: usize) -> &PortPair {
        &self.0[i].0
    }

    /// The level at a pin.
    pub fn level(&self, pin: Pin) -> bool {
        let (i, mask) = pair(pin);
        self.pair(i).levels() & mask != 0
    }

    /// Whether the chip drives a pin low.
    pub fn drives_low(&self, pin: Pin) -> bool {
        let (i, mask) = pair(pin);
        self.pair(i).output_bits() & mask != 0 && self.pair(i).outputs() & mask == 0
    }

    /// Something outside drives a pin, or lets go of it.
    pub fn drive(&mut self, pin: Pin, level: Option<bool>) {
        let (i, mask) = pair(pin);
        self.0[i].0.drive(mask, level);
    }

    /// Whether a pin has had its edge that interrupts.
    pub fn pending(&self) -> bool {
        let asks = |p: &PortPair| super::Block::asks(p, 0) || super::Block::asks(p, 1);
        self.0.iter().any(|p| asks(&p.0))
    }

    /// Whether an outside level may wake the CPU.
    pub fn may_wake(&self) -> bool {
        self.0.iter().any(|p| p.0.may_wake())
    }

    /// The pair of ports of a register, and the register's offset in it.
    fn at(off: u32, cx: &Cx<'_>) -> Result<(usize, u32), Fault> {
        match off >> 5 {
            i @ 0..=4 => Ok((i as usize, off & 0x1E)),
            9 => Ok((5, off & 0x1E)),
            _ => Err(no_block(cx.dev, cx.addr)),
        }
    }
}

impl Block<P4> for Dio {
    fn read(&mut self, off: u32, mask: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        let (i, off) = Self::at(off, cx)?;
        self.0[i].read(off, mask, cx)
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let (i, off) = Self::at(off, cx)?;
        cx.fx.pins |= 1 << i;
        self.0[i].write(off, value, mask, cx)
    }

    /// Port 1 to port 6.
    fn asks(&mut self) -> u32 {
        (0..3).fold(0, |asks, i| asks | self.0[i].asks() << (2 * i))
    }
}

/// The port mapper, which says what function 1 of the pins of some ports stands for.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Pmap {
    kept: [u16; 32],
    unlocked: bool,
}

impl Pmap {
    pub fn new(facts: &PortMapper) -> Self {
        let mut new = Self { kept: [0; 32], unlocked: false };
        for (name, code) in &facts.defaults {
            let Ok(pin) = name.parse::<Pin>() else { continue };
            let at = 8 * usize::from(pin.port) + usize::from(pin.bit);
            new.kept[at / 2] |= u16::from(*code) << (8 * (at % 2));
        }
        new
    }

    /// Code that a pin is mapped to, by its pair of ports and its bit there.
    pub fn code(&self, pair: usize, mask: u16) -> u8 {
        let bit = mask.trailing_zeros() as usize;
        let at = 8 * (2 * pair + 1 + bit / 8) + bit % 8;
        self.kept.get(at / 2).map_or(0, |kept| (kept >> (8 * (at % 2))) as u8)
    }

    /// The pairs of ports whose pins are mapped.
    pub fn pairs(facts: &PortMapper) -> u8 {
        facts.ports.iter().fold(0, |pairs, port| pairs | 1 << ((port - 1) / 2))
    }
}

impl Block<P4> for Pmap {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        let value = match off {
            0 => Some(0x96A5),
            2 => Some(self.kept[1] & 2 | u16::from(!self.unlocked)),
            _ => self.kept.get((off / 2) as usize).copied(),
        };
        value.map(u32::from).ok_or_else(|| no_block(cx.dev, cx.addr))
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match self.kept.get_mut((off / 2) as usize) {
            _ if off == 0 => self.unlocked = value as u16 == 0x2D52,
            _ if !self.unlocked => cx.lint(LintKind::LockedBits),
            Some(kept) => {
                *kept = merge(*kept, value as u16, mask as u16);
                cx.fx.pins |= Self::pairs(&cx.dev.msp432().port_mapper);
                cx.fx.mapped = true;
            }
            None => return Err(no_block(cx.dev, cx.addr)),
        }
        Ok(())
    }
}
