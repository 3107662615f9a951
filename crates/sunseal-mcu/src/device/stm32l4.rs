// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts that only the STM32L4 has.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Device, DeviceError, Level, Nvic, RegionKind, block};

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
        /// The same of Stop 1.
        stop1_wake_us: f64,
        /// The same of Stop 2.
        stop2_wake_us: f64,
        /// From a wake-up in Standby to the reset vector.
        standby_wake_us: f64,
        /// The same of Shutdown.
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
        /// From on to ready.
        msi_start_us: f64,
        /// The same of HSI16, from HSION to HSIRDY.
        hsi_start_us: f64,
        /// The same of LSI, from LSION to LSIRDY.
        lsi_start_us: f64,
        /// The same, of the crystal.
        lse_start_ms: f64,
        /// The same, of the crystal; a clock from outside is ready at once.
        hse_start_ms: f64,
        /// From PLLON to PLLRDY.
        pll_lock_us: f64,
        /// Least and greatest frequency behind PLLM.
        @rename = "pll_input_MHz" pll_input_mhz: [f64; 2],
        /// Least frequency of the VCO.
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
        /// The same in Range 1.
        @rename = "normal_read_vcore1_MHz" range1_mhz: Vec<f64>,
        /// Size of a page, which is erased at once.
        page_bytes: u32,
        /// Size of a bank.
        bank_bytes: u32,
        /// 64 bits and their error correction.
        double_word_program_us: f64,
        /// How long erasing one page takes.
        page_erase_ms: f64,
        /// How long erasing one bank takes.
        mass_erase_ms: f64,
    }
);
block!(
    /// The adaptive real-time accelerator between core and flash.
    Art {
        /// Bytes of a line.
        line_bytes: u32,
        /// What one read of the flash brings into it.
        read_bytes: u32,
        /// Lines of the instruction cache.
        instruction_lines: u32,
        /// Lines of the data cache.
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
    /// What no document gives.
    CoreTiming {
        /// Cycles of an exception entry within which a higher exception takes its place for nothing.
        late_arrival_cycles: u32,
        /// Cycles of an unstacking within which an exception is tail-chained instead.
        pop_preemption_cycles: u32,
    }
);

/// Where the blocks of a part lie, which inputs they ask by, and what gives them their bus clocks: its `[[block]]`, by
/// name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    bases: BTreeMap<String, u32>,
    inputs: BTreeMap<String, u32>,
    enables: BTreeMap<String, [u32; 2]>,
}

impl Places {
    fn of(device: &Device) -> Self {
        let mut found = Self::default();
        for block in &device.blocks {
            found.bases.insert(block.name.clone(), block.base);
            found.inputs.extend(block.interrupts.clone());
            if let Some(enable) = block.enable {
                found.enables.insert(block.name.clone(), enable);
            }
        }
        found
    }

    /// The first address of a block, if the part has it.
    #[must_use]
    pub fn base(&self, block: &str) -> Option<u32> {
        self.bases.get(block).copied()
    }

    /// The input of the interrupt controller that is called so.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<u32> {
        self.inputs.get(name).copied()
    }

    /// The enable register's offset in RCC and a block's bit in it; none where its clock is always on.
    #[must_use]
    pub fn enable(&self, block: &str) -> Option<[u32; 2]> {
        self.enables.get(block).copied()
    }
}

/// The family's own tables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stm32l4 {
    /// Where the blocks lie, and what is wired to them.
    #[serde(skip)]
    pub places: Places,
    /// The interrupt controller and SysTick as built.
    pub nvic: Nvic,
    /// Voltage ranges and low-power modes.
    pub power: Power,
    /// Oscillators and what the PLL takes.
    pub clock: Clock,
    /// Flash: wait states, pages and times.
    pub flash: Flash,
    /// What reads it ahead and keeps what was read.
    pub art: Art,
    /// Timing of the random number generator.
    pub rng: Rng,
    /// Cycles that no document gives.
    pub core_timing: CoreTiming,
}

impl Stm32l4 {
    /// With the places of the device's blocks.
    pub(super) fn placed(&mut self, device: &Device) {
        self.places = Places::of(device);
    }

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

    /// The letter of the last port.
    #[must_use]
    pub fn last_port(&self) -> u8 {
        let there = |letter: &u8| {
            let name = format!("gpio{}", char::from(letter.to_ascii_lowercase()));
            self.places.base(&name).is_some()
        };
        (b'A'..=b'H').filter(there).max().unwrap_or(b'A')
    }

    /// The fastest HCLK in megahertz that flash read with so many wait states allows.
    #[must_use]
    pub fn flash_max_mhz(&self, range1: bool, wait_states: u32) -> f64 {
        let table = if range1 { &self.flash.range1_mhz } else { &self.flash.range2_mhz };
        let last = table.last().copied().unwrap_or(0.0);
        table.get(wait_states as usize).copied().unwrap_or(last)
    }
}
