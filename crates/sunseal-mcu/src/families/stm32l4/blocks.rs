// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks of an STM32L4, where they lie, and which input of the interrupt controller each has.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use crate::blocks::st::exti::Exti;
use crate::blocks::st::flash::Flash;
use crate::blocks::st::gpio::Gpio;
use crate::blocks::st::iwdg::Iwdg;
use crate::blocks::st::lptim::Lptim;
use crate::blocks::st::rng::Rng;
use crate::blocks::st::rtc::Rtc;
use crate::blocks::st::spi::Spi;
use crate::blocks::st::syscfg::Syscfg;
use crate::blocks::st::tim::Tim;
use crate::blocks::st::usart::Usart;
use crate::blocks::st::{Block, Cx};
use crate::clock::Line;
use crate::device::{Places, Stm32l4};
use crate::families::Makes;
use crate::instruments::taint::Follow;
use crate::pin::Pin;

/// Blocks that every part of the family has.
pub(crate) const NEEDED: &[&str] =
    &["rcc", "pwr", "flash", "exti", "syscfg", "gpioa", "gpiob", "gpioc", "rtc", "iwdg"];

/// Puts the family together: `field: Type, how many, names`.
macro_rules! blocks {
    ($($field:ident : $ty:ty, $n:literal, $names:expr;)*) => {
        /// The registers of all blocks but RCC and PWR.
        #[derive(Clone, Serialize, Deserialize)]
        pub(super) struct Blocks { $(pub $field: [$ty; $n],)* }

        /// A block in the address map.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(non_camel_case_types)]
        pub(super) enum Slot { rcc, pwr, $($field(usize),)* }

        fn slots() -> Vec<(&'static str, Slot, Follow)> {
            let mut all = vec![("rcc", Slot::rcc, Follow::Hole), ("pwr", Slot::pwr, Follow::Hole)];
            $(all.extend($names.into_iter().enumerate().map(|(i, name)| {
                (name, Slot::$field(i), <$ty as Block>::TAINT)
            }));)*
            all
        }

        impl Blocks {
            pub fn read(&mut self, slot: Slot, off: u32, mask: u32, cx: &mut Cx<'_>)
                -> Result<u32, Fault> {
                match slot {
                    $(Slot::$field(i) => self.$field[i].read(off, mask, cx),)*
                    Slot::rcc | Slot::pwr => Err(cx.no_register()),
                }
            }

            pub fn write(&mut self, slot: Slot, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>)
                -> Result<(), Fault> {
                match slot {
                    $(Slot::$field(i) => self.$field[i].write(off, value, mask, cx),)*
                    Slot::rcc | Slot::pwr => Err(cx.no_register()),
                }
            }

            /// When the earliest event of all is due.
            pub fn due(&self) -> Option<Picos> {
                let mut next = Picos::MAX;
                $(for b in &self.$field {
                    next = next.min(b.due().unwrap_or(Picos::MAX));
                })*
                (next != Picos::MAX).then_some(next)
            }

            /// What is due at `t` in the blocks that need nobody else for it.
            pub fn advance(&mut self, t: Picos) {
                $(for b in &mut self.$field {
                    if b.due().is_some_and(|e| e <= t) {
                        b.advance(t);
                    }
                })*
            }

            /// Every block is told its clock anew.
            pub fn clocked(&mut self, now: Picos, clock: impl Fn(Slot) -> Line) {
                $(for (i, b) in self.$field.iter_mut().enumerate() {
                    b.clocked(&clock(Slot::$field(i)), now);
                })*
            }
        }
    };
}

blocks! {
    flash: Flash, 1, ["flash"];
    gpio: Gpio, 8, ["gpioa", "gpiob", "gpioc", "gpiod", "gpioe", "gpiof", "gpiog", "gpioh"];
    exti: Exti, 1, ["exti"];
    syscfg: Syscfg, 1, ["syscfg"];
    tim: Tim, 4, ["tim2", "tim3", "tim4", "tim5"];
    lptim: Lptim, 2, ["lptim1", "lptim2"];
    usart: Usart, 3, ["usart1", "usart2", "usart3"];
    spi: Spi, 3, ["spi1", "spi2", "spi3"];
    rtc: Rtc, 1, ["rtc"];
    iwdg: Iwdg, 1, ["iwdg"];
    rng: Rng, 1, ["rng"];
}

impl Blocks {
    pub fn new(facts: &Stm32l4) -> Self {
        Self {
            flash: [Flash::new(facts)],
            gpio: std::array::from_fn(|i| Gpio::new(b'A' + i as u8)),
            exti: [Exti::default()],
            syscfg: [Syscfg::default()],
            // TIM2 and TIM5 are the wide ones.
            tim: [32, 16, 16, 32].map(Tim::new),
            lptim: std::array::from_fn(|_| Lptim::new()),
            usart: std::array::from_fn(|_| Usart::new()),
            spi: std::array::from_fn(|_| Spi::new()),
            rtc: [Rtc::new()],
            iwdg: [Iwdg::new()],
            rng: [Rng::new(facts.rng.cycles_per_word)],
        }
    }

    /// A reset of the whole system: only the backup domain stays, and the flash's caches.
    pub fn reset(&mut self, facts: &Stm32l4) {
        for (_, slot, _) in slots() {
            self.reset_one(slot, facts);
        }
        self.exti[0].reset();
        self.flash[0] = Flash::new(facts);
        self.iwdg[0] = Iwdg::new();
    }

    /// A reset of one block by RCC.
    pub fn reset_one(&mut self, slot: Slot, facts: &Stm32l4) {
        match slot {
            Slot::gpio(i) => self.gpio[i].reset(),
            Slot::syscfg(i) => self.syscfg[i] = Syscfg::default(),
            Slot::tim(i) => self.tim[i].reset(),
            Slot::lptim(i) => self.lptim[i].reset(),
            Slot::usart(i) => self.usart[i].reset(),
            Slot::spi(i) => self.spi[i].reset(),
            Slot::rng(i) => self.rng[i].reset(),
            Slot::flash(i) => self.flash[i] = Flash::new(facts),
            Slot::rcc | Slot::pwr | Slot::exti(_) | Slot::rtc(_) | Slot::iwdg(_) => {}
        }
    }

    fn port(pin: Pin) -> usize {
        usize::from(pin.port.wrapping_sub(b'A')).min(7)
    }

    /// The level at a pin.
    pub fn level(&self, pin: Pin) -> bool {
        self.gpio[Self::port(pin)].levels() >> pin.bit & 1 != 0
    }

    /// Whether the chip drives a pin low.
    pub fn drives_low(&self, pin: Pin) -> bool {
        let port = &self.gpio[Self::port(pin)];
        port.drives() & !port.outputs() & 1 << pin.bit != 0
    }

    /// Something outside drives a pin, or lets go of it.
    pub fn drive(&mut self, pin: Pin, level: Option<bool>) {
        self.gpio[Self::port(pin)].drive(pin.bit, level);
    }
}

/// How secrets go through the blocks, by their names in the device's data.
pub(crate) fn known() -> Vec<(&'static str, Follow)> {
    slots().into_iter().map(|(name, _, rule)| (name, rule)).collect()
}

/// What a device file of the family may list.
pub(crate) fn makes() -> Makes {
    let blocks = slots().into_iter().map(|(name, ..)| (name, kind(name))).collect();
    Makes::of((blocks, EXTI.into_iter().chain(OTHERS).collect()))
        .needs(NEEDED)
        .core(&["fpu"])
        .clocks(&["sysclk", "pclk1", "pclk2", "hsi", "hse", "lsi", "lse", "clk48"])
}

/// The kind of the block of a name: `gpioa` is a `gpio`, `usart1` a `usart`.
fn kind(name: &'static str) -> &'static str {
    match name.strip_prefix("gpio") {
        Some(_) => "gpio",
        None => name.trim_end_matches(|c: char| c.is_ascii_digit()),
    }
}

/// A block at its place.
#[derive(Clone, Debug)]
pub(super) struct Mapped {
    pub base: u32,
    pub slot: Slot,
    pub name: &'static str,
    /// The enable register's offset in RCC, and the bit.
    pub enable: Option<[u32; 2]>,
}

/// The blocks of a part, by their addresses.
pub(super) fn map(facts: &Stm32l4) -> Vec<Mapped> {
    let mapped = |(name, slot, _): (&'static str, Slot, Follow)| {
        let base = facts.places.base(name)?;
        Some(Mapped { base, slot, name, enable: facts.places.enable(name) })
    };
    let mut all: Vec<Mapped> = slots().into_iter().filter_map(mapped).collect();
    all.sort_by_key(|m| m.base);
    all
}

/// Inputs of the interrupt controller.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub rtc_wkup: u32,
    flash: u32,
    /// Lines 0 to 4, 5 to 9, 10 to 15.
    exti: [u32; 7],
    tim: [u32; 4],
    lptim: [u32; 2],
    usart: [u32; 3],
    spi: [u32; 3],
    rng: u32,
}

const EXTI: [&str; 7] = ["exti0", "exti1", "exti2", "exti3", "exti4", "exti9_5", "exti15_10"];
const EXTI_LINES: [u32; 7] = [1, 2, 4, 8, 0x10, 0x3E0, 0xFC00];
const OTHERS: [&str; 15] = [
    "rtc_wkup", "flash", "tim2", "tim3", "tim4", "tim5", "lptim1", "lptim2", "usart1", "usart2",
    "usart3", "spi1", "spi2", "spi3", "rng",
];
/// Of a block that the part has not.
const NONE: u32 = u32::MAX;

impl Inputs {
    pub fn of(places: &Places) -> Self {
        let one = |name: &str| places.input(name).unwrap_or(NONE);
        Self {
            rtc_wkup: one("rtc_wkup"),
            flash: one("flash"),
            exti: EXTI.map(one),
            tim: ["tim2", "tim3", "tim4", "tim5"].map(one),
            lptim: ["lptim1", "lptim2"].map(one),
            usart: ["usart1", "usart2", "usart3"].map(one),
            spi: ["spi1", "spi2", "spi3"].map(one),
            rng: one("rng"),
        }
    }

    /// Levels of all inputs; stopped, of a block whose own clock runs on only if EXTI lets it through.
    pub fn levels(&self, b: &Blocks, stopped: bool) -> u128 {
        let mut levels = 0u128;
        let mut put = |input: u32, on: bool| {
            levels |= u128::from(on).checked_shl(input).unwrap_or(0);
        };
        let lines = b.exti[0].asking();
        for (input, of) in self.exti.into_iter().zip(EXTI_LINES) {
            put(input, lines & of != 0);
        }
        put(self.rtc_wkup, lines >> crate::blocks::st::exti::RTC_WAKEUP & 1 != 0);
        put(self.flash, b.flash[0].asks());
        for (i, t) in b.lptim.iter().enumerate() {
            put(self.lptim[i], t.asks() && (!stopped || b.exti[0].lets_through(32 + i as u32)));
        }
        b.tim.iter().zip(self.tim).for_each(|(t, input)| put(input, t.asks()));
        b.usart.iter().zip(self.usart).for_each(|(u, input)| put(input, u.asks()));
        b.spi.iter().zip(self.spi).for_each(|(s, input)| put(input, s.asks()));
        put(self.rng, b.rng[0].asks());
        levels
    }

    /// Whether an interrupt that is enabled may come by itself.
    pub fn may_ask(&self, b: &Blocks, on: impl Fn(u32) -> bool) -> bool {
        let on = |input: u32| input != NONE && on(input);
        on(self.flash) && b.flash[0].may_ask()
            || b.tim.iter().zip(self.tim).any(|(t, i)| on(i) && t.may_ask())
            || b.lptim.iter().zip(self.lptim).any(|(t, i)| on(i) && t.may_ask())
            || b.usart.iter().zip(self.usart).any(|(u, i)| on(i) && u.may_ask())
            || b.spi.iter().zip(self.spi).any(|(s, i)| on(i) && s.may_ask())
            || on(self.rng) && b.rng[0].may_ask()
    }
}
