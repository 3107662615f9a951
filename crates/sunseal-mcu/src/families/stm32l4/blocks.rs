// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks of an STM32L4, where they lie, and which input of the interrupt controller each has.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use crate::blocks::follow::Follow;
use crate::blocks::st::adc::{self, Adc};
use crate::blocks::st::crc::Crc;
use crate::blocks::st::dma::Dma;
use crate::blocks::st::exti::Exti;
use crate::blocks::st::flash::Flash;
use crate::blocks::st::gpio::Gpio;
use crate::blocks::st::i2c::I2c;
use crate::blocks::st::iwdg::Iwdg;
use crate::blocks::st::lptim::Lptim;
use crate::blocks::st::rng::Rng;
use crate::blocks::st::rtc::Rtc;
use crate::blocks::st::spi::Spi;
use crate::blocks::st::syscfg::Syscfg;
use crate::blocks::st::tim::Tim;
use crate::blocks::st::usart::Usart;
use crate::blocks::st::{Block, Stm32};
use crate::blocks::wide::{self, Listed, Map, Named};
use crate::blocks::{Access, Family};
use crate::clock::Line;
use crate::device::Stm32l4;
use crate::families::Makes;
use crate::pin::Pin;

/// Blocks that every part of the family has.
pub(crate) const NEEDED: &[&str] =
    &["rcc", "pwr", "flash", "exti", "syscfg", "gpioa", "gpiob", "gpioc", "rtc", "iwdg"];

const PORTS: [&str; 8] = ["gpioa", "gpiob", "gpioc", "gpiod", "gpioe", "gpiof", "gpiog", "gpioh"];
const EXTI: &[&str] =
    &["exti0", "exti1", "exti2", "exti3", "exti4", "exti9_5", "exti15_10", "rtc_wkup", "rtc_alarm"];
const DMA1: &[&str] = &[
    "dma1_channel1",
    "dma1_channel2",
    "dma1_channel3",
    "dma1_channel4",
    "dma1_channel5",
    "dma1_channel6",
    "dma1_channel7",
];
const DMA2: &[&str] = &[
    "dma2_channel1",
    "dma2_channel2",
    "dma2_channel3",
    "dma2_channel4",
    "dma2_channel5",
    "dma2_channel6",
    "dma2_channel7",
];

wide::blocks! {
    Stm32, beside rcc, pwr;
    flash: Flash, 1 = [("flash", "flash", &["flash"])];
    gpio: Gpio, 8 = PORTS.map(|name| -> Named { (name, "gpio", &[]) });
    exti: Exti, 1 = [("exti", "exti", EXTI)];
    syscfg: Syscfg, 1 = [("syscfg", "syscfg", &[])];
    tim: Tim, 4 = [
        ("tim2", "tim", &["tim2"]),
        ("tim3", "tim", &["tim3"]),
        ("tim4", "tim", &["tim4"]),
        ("tim5", "tim", &["tim5"]),
    ];
    lptim: Lptim, 2 = [("lptim1", "lptim", &["lptim1"]), ("lptim2", "lptim", &["lptim2"])];
    usart: Usart, 4 = [
        ("usart1", "usart", &["usart1"]),
        ("usart2", "usart", &["usart2"]),
        ("usart3", "usart", &["usart3"]),
        ("lpuart1", "lpuart", &["lpuart1"]),
    ];
    spi: Spi, 3 = [
        ("spi1", "spi", &["spi1"]),
        ("spi2", "spi", &["spi2"]),
        ("spi3", "spi", &["spi3"]),
    ];
    i2c: I2c, 3 = [
        ("i2c1", "i2c", &["i2c1_ev", "i2c1_er"]),
        ("i2c2", "i2c", &["i2c2_ev", "i2c2_er"]),
        ("i2c3", "i2c", &["i2c3_ev", "i2c3_er"]),
    ];
    dma: Dma, 2 = [("dma1", "dma", DMA1), ("dma2", "dma", DMA2)];
    adc: Adc, 3 = [
        ("adc1", "adc", &["adc1_2"]),
        ("adc2", "adc", &["adc1_2"]),
        ("adc3", "adc", &["adc3"]),
    ];
    adc_common: adc::Common, 1 = [("adc123_common", "adc_common", &[])];
    rtc: Rtc, 1 = [("rtc", "rtc", &[])];
    iwdg: Iwdg, 1 = [("iwdg", "iwdg", &[])];
    rng: Rng, 1 = [("rng", "rng", &["rng"])];
    crc: Crc, 1 = [("crc", "crc", &[])];
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
            usart: std::array::from_fn(|i| if i < 3 { Usart::new() } else { Usart::low_power() }),
            spi: std::array::from_fn(|_| Spi::new()),
            i2c: std::array::from_fn(|_| I2c::new()),
            dma: std::array::from_fn(|_| Dma::default()),
            adc: std::array::from_fn(|_| Adc::new()),
            adc_common: [adc::Common::default()],
            rtc: [Rtc::new()],
            iwdg: [Iwdg::new()],
            rng: [Rng::new(facts.rng.cycles_per_word)],
            crc: [Crc::default()],
        }
    }

    /// A reset of the whole system: only the backup domain stays, and the flash's caches.
    pub fn reset(&mut self, facts: &Stm32l4) {
        for listed in listed() {
            self.reset_one(listed.slot, facts);
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
            Slot::i2c(i) => self.i2c[i].reset(),
            Slot::dma(i) => self.dma[i].reset(),
            Slot::adc(i) => self.adc[i].reset(),
            Slot::adc_common(i) => self.adc_common[i] = adc::Common::default(),
            Slot::rng(i) => self.rng[i].reset(),
            Slot::crc(i) => self.crc[i] = Crc::default(),
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

/// What a device file of the family may list.
pub(crate) fn makes() -> Makes {
    Makes::of(wide::made(&listed()))
        .needs(NEEDED)
        .core(&["fpu"])
        .clocks(&["sysclk", "pclk1", "pclk2", "hsi", "hse", "lsi", "lse", "clk48", "adc"])
        .states(super::NAMES.states)
}
