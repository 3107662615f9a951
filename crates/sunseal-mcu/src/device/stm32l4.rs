// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts that only the STM32L4 has.

use serde::Deserialize;

use super::{Device, DeviceError, Level, Nvic, Pins, RegionKind, block};

block!(
    /// Voltage ranges, low-power modes and the way out of them. Where there are three, they are Range 2, Range 1 and the
    /// low-power run mode.
    Power {
        /// Fastest HCLK in each of the three.
        @rename = "hclk_max_MHz" hclk_max_mhz: [f64; 3],
        /// Least supply that the part runs on.
        @rename = "vdd_min_V" vdd_min_v: f64,
        /// From Range 2 to Range 1, until VOSF clears.
        range_up_us: f64,
        /// HCLK cycles from an interrupt in Sleep mode to its entry.
        sleep_wake_cycles: u32,
        /// From a wake-up in Stop 0 to the next instruction.
        stop0_wake_us: f64,
        stop1_wake_us: f64,
        stop2_wake_us: f64,
        /// From a wake-up in Standby to the reset vector.
        standby_wake_us: f64,
        shutdown_wake_us: f64,
        /// From the supply's rise to the reset vector.
        power_on_us: f64,
    }
);
block!(
    /// Oscillators and the PLL.
    Clock {
        /// Frequency of MSI by RCC_CR.MSIRANGE.
        @rename = "msi_Hz" msi_hz: [u32; 12],
        /// Frequency of the fast internal oscillator, HSI16.
        @rename = "hsi_Hz" hsi_hz: u32,
        /// Frequency of the slow internal oscillator, LSI.
        @rename = "lsi_Hz" lsi_hz: u32,
        msi_start_us: f64,
        /// The same of HSI16, from HSION to HSIRDY.
        hsi_start_us: f64,
        /// The same of LSI, from LSION to LSIRDY.
        lsi_start_us: f64,
        lse_start_ms: f64,
        /// The same, of the crystal; a clock from outside is ready at once.
        hse_start_ms: f64,
        pll_lock_us: f64,
        /// Least and greatest frequency behind PLLM.
        @rename = "pll_input_MHz" pll_input_mhz: [f64; 2],
        @rename = "vco_min_MHz" vco_min_mhz: f64,
        /// Greatest one, in Range 2 and in Range 1.
        @rename = "vco_max_MHz" vco_max_mhz: [f64; 2],
    }
);
block!(
    /// Flash: HCLK by wait states, pages, times.
    Flash {
        /// Fastest HCLK by wait states in Range 2.
        @rename = "normal_read_vcore0_MHz" range2_mhz: Vec<f64>,
        @rename = "normal_read_vcore1_MHz" range1_mhz: Vec<f64>,
        /// Size of a page, which is erased at once.
        page_bytes: u32,
        bank_bytes: u32,
        /// 64 bits and their error correction.
        double_word_program_us: f64,
        page_erase_ms: f64,
        mass_erase_ms: f64,
    }
);
block!(
    /// The adaptive real-time accelerator between core and flash.
    Art {
        line_bytes: u32,
        /// What one read of the flash brings into it.
        read_bytes: u32,
        instruction_lines: u32,
        data_lines: u32,
    }
);
block!(
    /// The random number generator.
    Rng {
        /// Cycles of its 48 MHz clock from one word to the next.
        cycles_per_word: u64,
    }
);
block!(
    /// The converters: what is inside the chip, and the pins of channels 1 and on.
    Adc {
        @rename = "vrefint_V" vrefint_v: f64,
        @rename = "sensor_30C_V" sensor_30c_v: f64,
        @rename = "sensor_V_per_K" sensor_v_per_k: f64,
        pins: Vec<String>,
    }
);
block!(DmaTiming {
    /// Cycles of HCLK from a request to the end of its transfer.
    transfer_cycles: u64,
});
block!(
    /// What no document gives.
    CoreTiming {
        /// Cycles of an exception entry within which a higher exception takes its place for nothing.
        late_arrival_cycles: u32,
        /// Cycles of an unstacking within which an exception is tail-chained instead.
        pop_preemption_cycles: u32,
    }
);

/// The family's own tables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stm32l4 {
    pub pins: Option<Pins>,
    pub nvic: Nvic,
    pub power: Power,
    pub clock: Clock,
    pub flash: Flash,
    pub art: Art,
    pub rng: Rng,
    pub adc: Adc,
    pub dma: DmaTiming,
    pub core_timing: CoreTiming,
}

impl Stm32l4 {
    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        use RegionKind::{Flash, Peripheral, Ram};
        device.needs("cortex_m4", &[Ram, Flash, Peripheral])?;
        self.nvic.check(device)?;
        let f = &self.flash;
        if [&f.range2_mhz, &f.range1_mhz].iter().any(|t| t.is_empty() || !t.is_sorted()) {
            return device
                .wrong("flash needs its fastest HCLK by wait states, slowest first".to_owned());
        }
        let a = &self.art;
        let whole = a.read_bytes.is_power_of_two() && a.line_bytes.is_power_of_two();
        if !whole || a.read_bytes > a.line_bytes || a.line_bytes > 32 * a.read_bytes {
            return device.wrong(
                "[art] needs lines of 1 to 32 reads, both powers of two of bytes".to_owned(),
            );
        }
        Ok(())
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        let level = |(vcore, mhz): (usize, &f64)| Level {
            mclk_max_hz: (mhz * 1e6).round() as u32,
            vcc_min_v: self.power.vdd_min_v,
            vcore: vcore as u8,
        };
        self.power.hclk_max_mhz[..2].iter().enumerate().map(level).collect()
    }

    /// The fastest HCLK in megahertz that flash read with so many wait states allows.
    #[must_use]
    pub fn flash_max_mhz(&self, range1: bool, wait_states: u32) -> f64 {
        let table = if range1 { &self.flash.range1_mhz } else { &self.flash.range2_mhz };
        let last = table.last().copied().unwrap_or(0.0);
        table.get(wait_states as usize).copied().unwrap_or(last)
    }
}

impl Device {
    /// The letter of the last port that is a `gpio`.
    pub(super) fn last_gpio(&self) -> u8 {
        let there = |letter: &u8| self.base(&format!("gpio{}", char::from(*letter))).is_some();
        (b'a'..=b'h').filter(there).max().unwrap_or(b'a').to_ascii_uppercase()
    }
}
