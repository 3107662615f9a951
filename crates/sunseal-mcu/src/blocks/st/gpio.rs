// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port of sixteen pins (RM0351 chapter 8).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::gpio::*;

use super::{Block, Cx, Stm32, merge};

/// Refused, so that no header has it.
const LCKR: u32 = 0x1C;

/// Fields of a pin in MODER and PUPDR.
const OUTPUT: u32 = 1;
const ALTERNATE: u32 = 2;
const ANALOG: u32 = 3;
const PULL_UP: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gpio {
    letter: u8,
    moder: u32,
    otyper: u32,
    ospeedr: u32,
    pupdr: u32,
    odr: u32,
    afr: [u32; 2],
    ascr: u32,
    /// Pins that something outside drives, and to what.
    driven: u16,
    levels: u16,
    /// Pins that a block drives by their alternate function, and their levels.
    pub given: (u16, u16),
}

impl Gpio {
    /// Port `letter` as after a reset: pins are analogue but those of the debugger (RM0351 section 8.4).
    pub fn new(letter: u8) -> Self {
        let (moder, ospeedr, pupdr) = match letter {
            b'A' => (0xABFF_FFFF, 0x0C00_0000, 0x6400_0000),
            b'B' => (0xFFFF_FEBF, 0, 0x0000_0100),
            // Two pins.
            b'H' => (0x0000_000F, 0, 0),
            _ => (0xFFFF_FFFF, 0, 0),
        };
        Self { letter, moder, ospeedr, pupdr, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self { driven: self.driven, levels: self.levels, ..Self::new(self.letter) };
    }

    /// A pin is analogue and its switch to the ADC is closed.
    pub fn is_analogue(&self, bit: u8) -> bool {
        self.moder >> (2 * bit) & 3 == ANALOG && self.ascr >> bit & 1 != 0
    }

    pub fn letter(&self) -> u8 {
        self.letter
    }

    /// Something outside drives a pin, or lets go of it.
    pub fn drive(&mut self, bit: u8, level: Option<bool>) {
        let mask = 1 << bit;
        self.driven &= !mask;
        self.levels &= !mask;
        if let Some(high) = level {
            self.driven |= mask;
            self.levels |= u16::from(high) << bit;
        }
    }

    fn with(field: u32, value: u32) -> u16 {
        (0..16).fold(0, |set, i| set | u16::from(field >> (2 * i) & 3 == value) << i)
    }

    /// Levels that outputs carry, a timer's or the port's.
    fn out(&self) -> u16 {
        let (given, levels) = self.given;
        self.odr as u16 & !given | levels & given
    }

    /// Pins that the chip drives: outputs, but for open drains that are let go of.
    pub fn drives(&self) -> u16 {
        let open = self.otyper as u16 & self.out();
        (Self::with(self.moder, OUTPUT) | self.given.0) & !open
    }

    /// Those of them that are high.
    pub fn outputs(&self) -> u16 {
        self.drives() & self.out()
    }

    /// The number of the alternate function that a pin has; none in another mode.
    pub fn alternate(&self, bit: u8) -> Option<u8> {
        let function = self.afr[usize::from(bit / 8)] >> (4 * (bit % 8)) & 0xF;
        (self.moder >> (2 * bit) & 3 == ALTERNATE).then_some(function as u8)
    }

    /// Levels at all pins.
    pub fn levels(&self) -> u16 {
        let drives = self.drives();
        let pulled = Self::with(self.pupdr, PULL_UP);
        let outside = self.driven & self.levels | !self.driven & pulled;
        drives & self.out() | !drives & outside
    }

    /// Levels as IDR and EXTI see them: those of analogue pins are cut off.
    pub fn inputs(&self) -> u16 {
        self.levels() & !Self::with(self.moder, ANALOG)
    }
}

impl Block<Stm32> for Gpio {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            GPIO_MODER => self.moder,
            GPIO_OTYPER => self.otyper,
            GPIO_OSPEEDR => self.ospeedr,
            GPIO_PUPDR => self.pupdr,
            GPIO_IDR => self.inputs().into(),
            GPIO_ODR => self.odr,
            GPIO_BSRR | GPIO_BRR => 0,
            GPIO_AFRL => self.afr[0],
            GPIO_AFRH => self.afr[1],
            GPIO_ASCR => self.ascr,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let bits = value & mask;
        match off {
            GPIO_MODER => self.moder = merge(self.moder, value, mask),
            GPIO_OTYPER => self.otyper = merge(self.otyper, value, mask) & 0xFFFF,
            GPIO_OSPEEDR => self.ospeedr = merge(self.ospeedr, value, mask),
            GPIO_PUPDR => self.pupdr = merge(self.pupdr, value, mask),
            GPIO_IDR => {}
            GPIO_ODR => self.odr = merge(self.odr, value, mask) & 0xFFFF,
            // Where both are asked for, set wins.
            GPIO_BSRR => self.odr = self.odr & !(bits >> 16) | bits & 0xFFFF,
            GPIO_BRR => self.odr &= !(bits & 0xFFFF),
            LCKR => {
                return Err(cx.refuse("locked pins (GPIOx_LCKR) are not modelled; leave it alone"));
            }
            GPIO_AFRL => self.afr[0] = merge(self.afr[0], value, mask),
            GPIO_AFRH => self.afr[1] = merge(self.afr[1], value, mask),
            GPIO_ASCR => self.ascr = merge(self.ascr, value, mask) & 0xFFFF,
            _ => return Err(cx.no_register()),
        }
        cx.fx.pins = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_the_outputs_the_outsides_or_the_pulls() {
        let mut p = Gpio::new(b'C');
        p.moder = 1 | 1 << 2; // PC0 and PC1 outputs, the others inputs
        (p.odr, p.otyper, p.pupdr) = (3, 2, 1 << 4 | 2 << 6); // PC1 open drain; PC2 up, PC3 down
        assert_eq!((p.drives(), p.outputs(), p.levels()), (1, 1, 1 | 4));
        p.drive(1, Some(true));
        p.drive(2, Some(false));
        p.drive(3, Some(true));
        assert_eq!(p.levels(), 1 | 2 | 8);
        p.odr = 0;
        assert_eq!((p.drives(), p.levels()), (3, 8), "low, an open drain is driven");
        p.moder |= 3 << 6;
        assert_eq!(p.inputs(), 0, "an analogue pin reads low");
    }
}
