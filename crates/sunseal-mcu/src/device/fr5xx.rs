// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts of an MSP430FR5xx device.

use serde::Deserialize;

use super::{Aes, Capture, Device, DeviceError, Level, Mpy32, Pins, Reference, RegionKind, block};
use crate::startup::SramStartup;

/// What a device file of this family says beyond the common part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fr5xx {
    pub tlv: Tlv,
    #[serde(default)]
    pub capture: Vec<Capture>,
    pub pins: Option<Pins>,
    pub fram: Fram,
    pub aes: Aes,
    pub sram: Sram,
    pub svs: Svs,
    pub limits: Limits,
    pub clock: Clock,
    pub dco: Dco,
    pub jitter: Jitter,
    pub crystals: Crystals,
    pub wake: Wake,
    pub adc12: Adc12,
    #[serde(rename = "ref")]
    pub reference: Reference,
    pub mpy32: Mpy32,
}

block!(Tlv {
    device_id: u16,
    hardware_revision: u8,
    firmware_revision: u8,
    random_address: u32,
    random_bytes: u32,
});
block!(
    Fram {
        /// The controller is FRCTL_A, which sets its wait states by itself and refuses writes, and not FRCTL.
        frctl_a: bool,
        @rename = "access_max_MHz" access_max_mhz: f64,
        power_up_us: f64,
    }
);
block!(
    /// Start-up of static memory.
    Sram {
        /// Share of cells that start as 1.
        ones: f64,
        /// Share of cells that noise decides.
        noisy: f64,
        /// Time without supply after which half of the cells are lost.
        decay_ms: f64,
    }
);
block!(
    Svs {
        @rename = "falling_V" falling_v: f64,
        @rename = "rising_V" rising_v: f64,
        /// So long the supply must stay below.
        delay_us: f64,
    }
);
block!(
    /// Highest master clock and lowest supply at which the chip may run.
    Limits {
        @rename = "mclk_max_MHz" mclk_max_mhz: f64,
        @rename = "vcc_min_V" vcc_min_v: f64,
    }
);
block!(
    Clock {
        /// Typical frequency of the VLO oscillator.
        @rename = "vlo_Hz" vlo_hz: u32,
        @rename = "modosc_MHz" modosc_mhz: f64,
    }
);
block!(
    Dco {
        /// DCOFSEL 0 to 7 under DCORSEL 0, then 1.
        @rename = "frequency_MHz" frequency_mhz: Vec<f64>,
    }
);
block!(
    /// Oscillator noise: standard deviation of an edge around its ideal place, of the period.
    Jitter {
        vlo_sigma_percent: f64,
        dco_sigma_percent: f64,
    }
);
block!(
    /// Crystals on the board.
    Crystals {
        /// LFXT, 0 for none.
        @rename = "lfxt_Hz" lfxt_hz: u32,
        /// From on to swinging.
        lfxt_start_ms: f64,
        /// The same of an HFXT.
        hfxt_start_ms: f64,
    }
);
block!(Wake {
    lpm0_ns: f64,
    /// And so many periods of the DCO.
    lpm0_dco_cycles: f64,
    lpm12_us: f64,
    lpm34_us: f64,
    /// And so many periods of the DCO.
    lpm34_dco_cycles: f64,
    lpm35_us: f64,
    lpm45_us: f64,
    lpm45_without_svs_us: f64,
    reset_us: f64,
    power_up_us: f64,
});
block!(
    /// Analogue to digital converter.
    Adc12 {
        sample_cycles: Vec<u32>,
        /// Conversion at 8, 10 and 12 bits.
        convert_cycles: [u32; 3],
        @rename = "sensor_25C_mV" sensor_25c_mv: f64,
    }
);

impl Sram {
    pub(crate) fn startup(&self) -> SramStartup {
        SramStartup { ones: self.ones, noisy: self.noisy, decay_ms: self.decay_ms }
    }
}

impl Fr5xx {
    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        use RegionKind::{Fram, Peripheral, Ram};
        device.needs("cpuxv2", &[Ram, Fram, Peripheral])?;
        if self.dco.frequency_mhz.len() != 16 {
            return device
                .wrong("dco needs 16 frequencies (DCOFSEL under DCORSEL 0, then 1)".into());
        }
        if self.adc12.sample_cycles.len() > 16 {
            return device.wrong("adc12 needs up to 16 sample times".into());
        }
        self.reference.check(device)?;
        let share = |v: f64| (0.0..=1.0).contains(&v);
        if !share(self.sram.ones) || !share(self.sram.noisy) || self.sram.decay_ms < 0.0 {
            return device.wrong("sram shares lie within 0 and 1, decay_ms is not negative".into());
        }
        Ok(())
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        let mclk_max_hz = (self.limits.mclk_max_mhz * 1e6).round() as u32;
        vec![Level { mclk_max_hz, vcc_min_v: self.limits.vcc_min_v, vcore: 0 }]
    }
}
