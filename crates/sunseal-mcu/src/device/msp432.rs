// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts that only the MSP432P4xx has.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Aes, Device, DeviceError, Level, Nvic, Pins, Reference, RegionKind, VloJitter, block};

block!(
    /// Device descriptors: what software reads at 0x0020_1000.
    Tlv {
        device_id: u32,
        hardware_revision: u32,
        boot_revision: u32,
        /// Revision of the driver library in ROM.
        rom_revision: u32,
        /// DCO calibration of ranges 0 to 4, internal resistor.
        dcoir_fcal_rsel04: u32,
        dcoir_fcal_rsel5: u32,
        /// DCO constant K of ranges 0 to 4.
        dcoir_constk_rsel04: f64,
        dcoir_constk_rsel5: f64,
    }
);
block!(
    /// Port mapper: PxMAPy chooses what function 1 of the pins of some ports stands for.
    PortMapper {
        ports: Vec<u8>,
        /// The values of PxMAPy that lead to what is modelled.
        signals: BTreeMap<String, u8>,
        /// Those behind a reset, of pins that have such a one.
        defaults: BTreeMap<String, u8>,
    }
);
block!(
    /// Core voltage levels, regulators, and how long it takes to change.
    Pcm {
        @rename = "mclk_max_MHz" mclk_max_mhz: [f64; 2],
        @rename = "lf_max_kHz" lf_max_khz: f64,
        @rename = "vcc_min_V" vcc_min_v: f64,
        @rename = "dcdc_vcc_min_V" dcdc_vcc_min_v: f64,
        vcore_up_us: f64,
        vcore_down_us: f64,
        ldo_to_dcdc_us: f64,
        dcdc_to_ldo_us: f64,
        to_lf_us: f64,
        from_lf_us: f64,
        /// MCLK cycles from an interrupt in LPM0 to its entry.
        lpm0_wake_cycles: u32,
        lpm3_entry_us: f64,
        /// From a wake-up there to its entry.
        lpm3_wake_us: f64,
        /// From a wake-up in LPM3.5 to the reset vector.
        lpm35_wake_us: f64,
        /// From a wake-up in LPM4.5 to the reset vector.
        lpm45_wake_us: f64,
        reset_ms: f64,
    }
);
block!(
    Svs {
        /// Reset level by SVSMHTH.
        @rename = "svsmh_falling_V" svsmh_falling_v: [f64; 8],
        /// So long the supply must stay below.
        delay_full_performance_us: f64,
        /// The same asleep from LPM3 on with SVSMHLP.
        delay_normal_us: f64,
    }
);
block!(
    /// Fixed oscillators and crystals.
    Clock {
        @rename = "refo_Hz" refo_hz: u32,
        @rename = "refo_fast_Hz" refo_fast_hz: u32,
        /// Typical frequency of the VLO oscillator.
        @rename = "vlo_Hz" vlo_hz: u32,
        @rename = "modosc_MHz" modosc_mhz: f64,
        @rename = "sysosc_MHz" sysosc_mhz: f64,
        lfxt_start_ms: f64,
        hfxt_start_ms: f64,
        vlo_jitter: VloJitter,
    }
);
block!(
    /// Ranges of the DCO by DCORSEL.
    Dco {
        @rename = "nominal_MHz" nominal_mhz: [f64; 6],
        @rename = "range_min_MHz" range_min_mhz: [f64; 6],
        @rename = "range_max_MHz" range_max_mhz: [f64; 6],
    }
);
block!(
    /// Flash: MCLK by wait states, buffers, times.
    Flash {
        /// Fastest MCLK by wait states, normal read mode, core voltage 0.
        @rename = "normal_read_vcore0_MHz" normal_read_vcore0_mhz: Vec<f64>,
        @rename = "normal_read_vcore1_MHz" normal_read_vcore1_mhz: Vec<f64>,
        /// The other read modes, core voltage 0.
        @rename = "other_read_vcore0_MHz" other_read_vcore0_mhz: Vec<f64>,
        @rename = "other_read_vcore1_MHz" other_read_vcore1_mhz: Vec<f64>,
        /// Width of a bank's read buffer.
        buffer_bytes: u32,
        bank_bytes: u32,
        /// Up to 32 bits.
        word_program_us: f64,
        full_word_program_us: f64,
        sector_erase_ms: f64,
        mass_erase_ms: f64,
    }
);
block!(
    /// Analogue to digital converter.
    Adc14 {
        /// Cycles of a conversion by ADC14RES.
        convert_cycles: [u32; 4],
        bits: [u32; 4],
        sample_cycles: Vec<u32>,
        @rename = "sensor_25C_mV" sensor_25c_mv: f64,
        @rename = "clock_max_MHz" clock_max_mhz: f64,
    }
);
block!(
    /// What no document gives.
    CoreTiming {
        /// Cycles of an exception entry within which a higher exception takes its place for nothing.
        late_arrival_cycles: u32,
        /// Cycles of an unstacking within which an exception is tail-chained instead.
        pop_preemption_cycles: u32,
        /// DMA: reading and writing back a control structure.
        dma_control_cycles: u32,
        dma_transfer_cycles: u32,
    }
);

/// The family's own tables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Msp432 {
    pub tlv: Tlv,
    pub pins: Option<Pins>,
    pub port_mapper: PortMapper,
    pub nvic: Nvic,
    pub pcm: Pcm,
    pub svs: Svs,
    pub clock: Clock,
    pub dco: Dco,
    pub flash: Flash,
    pub adc14: Adc14,
    #[serde(rename = "ref")]
    pub reference: Reference,
    pub aes256: Aes,
    pub core_timing: CoreTiming,
}

impl Msp432 {
    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        use RegionKind::{Flash, InfoFlash, Peripheral, Ram};
        device.needs("cortex_m4", &[Ram, Flash, InfoFlash, Peripheral])?;
        self.nvic.check(device)?;
        if self.port_mapper.ports.iter().any(|port| !(1..=10).contains(port)) {
            return device.wrong("port_mapper: ports has one that is none of 1 to 10".to_owned());
        }
        let f = &self.flash;
        if [
            &f.normal_read_vcore0_mhz,
            &f.normal_read_vcore1_mhz,
            &f.other_read_vcore0_mhz,
            &f.other_read_vcore1_mhz,
        ]
        .iter()
        .any(|t| t.is_empty() || !t.is_sorted())
        {
            return device
                .wrong("flash needs its fastest MCLK by wait states, slowest first".to_owned());
        }
        if self.adc14.sample_cycles.len() != 8 {
            return device.wrong("adc14 needs 8 sample times (ADC14SHTx)".to_owned());
        }
        self.reference.check(device)
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        let level = |(vcore, mhz): (usize, &f64)| Level {
            mclk_max_hz: (mhz * 1e6).round() as u32,
            vcc_min_v: self.pcm.vcc_min_v,
            vcore: vcore as u8,
        };
        self.pcm.mclk_max_mhz.iter().enumerate().map(level).collect()
    }

    /// The fastest MCLK in megahertz that flash read with so many wait states allows.
    #[must_use]
    pub fn flash_max_mhz(&self, vcore: u8, wait_states: u32, normal_read: bool) -> f64 {
        let f = &self.flash;
        let table = match (normal_read, vcore) {
            (true, 0) => &f.normal_read_vcore0_mhz,
            (true, _) => &f.normal_read_vcore1_mhz,
            (false, 0) => &f.other_read_vcore0_mhz,
            (false, _) => &f.other_read_vcore1_mhz,
        };
        let last = table.last().copied().unwrap_or(0.0);
        table.get(wait_states as usize).copied().unwrap_or(last)
    }
}
