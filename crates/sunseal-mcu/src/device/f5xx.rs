// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts of an MSP430x5xx device.

use serde::Deserialize;

use super::{Capture, Device, DeviceError, Level, Pins, Reference, RegionKind, VloJitter, block};

/// What a device file of this family says beyond the common part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct F5xx {
    pub tlv: Tlv,
    #[serde(default)]
    pub capture: Vec<Capture>,
    pub pins: Option<Pins>,
    pub pmm: Pmm,
    pub svs: Svs,
    pub clock: Clock,
    pub dco: Dco,
    pub flash: Flash,
    pub wake: Wake,
    pub adc12: Adc12,
    #[serde(rename = "ref")]
    pub reference: Reference,
    pub mpy32: Mpy32,
}

block!(Tlv { device_id: u16, hardware_revision: u8, firmware_revision: u8 });
block!(PmmTiming {
    svs_delay_full_performance_us: f64,
    svs_delay_normal_us: f64,
    /// Time for VCORE to reach a new level.
    vcore_settle_us: f64,
});
block!(
    Pmm {
        level: Vec<PmmLevel>,
        timing: PmmTiming,
    }
);
block!(
    /// Supply voltage supervisor levels.
    Svs {
        /// SVSH reset level by SVSHRVL.
        @rename = "svsh_falling_V" svsh_falling_v: Vec<f64>,
        /// SVSH release and SVMH level by SVSMHRRL.
        @rename = "svsh_rising_V" svsh_rising_v: Vec<f64>,
        /// SVML level by SVSMLRRL.
        @rename = "svml_V" svml_v: Vec<f64>,
        /// So long the supply must stay below the SVSH level, with SVSHFP.
        delay_full_performance_us: f64,
        delay_normal_us: f64,
    }
);
block!(
    Clock {
        @rename = "refo_Hz" refo_hz: u32,
        /// Typical frequency of the VLO oscillator.
        @rename = "vlo_Hz" vlo_hz: u32,
        /// Frequency of the oscillator of ADC12_A.
        @rename = "modosc_MHz" modosc_mhz: f64,
        vlo_jitter: VloJitter,
    }
);
block!(
    /// Span of the DCO by DCORSEL.
    Dco {
        @rename = "tap0_min_MHz" tap0_min_mhz: Vec<f64>,
        @rename = "tap0_max_MHz" tap0_max_mhz: Vec<f64>,
        @rename = "tap31_min_MHz" tap31_min_mhz: Vec<f64>,
        @rename = "tap31_max_MHz" tap31_max_mhz: Vec<f64>,
    }
);
block!(
    Flash {
        word_write_us: f64,
        long_word_write_us: f64,
        segment_erase_ms: f64,
        /// A bank, or all.
        mass_erase_ms: f64,
        @rename = "vcc_min_V" vcc_min_v: f64,
    }
);
block!(
    Wake {
        /// LPM2 to LPM4 with SVSLFP, MCLK above the threshold.
        fast_us: f64,
        fast_slow_clock_us: f64,
        @rename = "fast_clock_threshold_MHz" fast_clock_threshold_mhz: f64,
        /// LPM2 to LPM4 without SVSLFP.
        slow_us: f64,
        reset_ms: f64,
        /// Extra MCLK cycles from LPM0 and LPM1.
        lpm01_cycles: u32,
    }
);
block!(
    /// Analogue to digital converter.
    Adc12 {
        /// ADC12CLK cycles of a conversion of full width.
        convert_cycles: u32,
        sample_cycles: Vec<u32>,
        bits: u32,
        /// Temperature sensor at A10, at 25 degrees Celsius.
        @rename = "sensor_25C_mV" sensor_25c_mv: f64,
    }
);
block!(
    /// MCLK cycles from operand to result.
    Mpy32 {
        /// 16 x 16, after OP2: RES0..RES3, MPYC.
        op16_after_op2: [u8; 5],
        op1_32_after_op2: [u8; 5],
        op2_32_after_op2l: [u8; 5],
        op2_32_after_op2h: [u8; 5],
        op32_after_op2l: [u8; 5],
        op32_after_op2h: [u8; 5],
    }
);

/// One core voltage level.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PmmLevel {
    #[serde(rename = "mclk_max_MHz")]
    pub mclk_max_mhz: f64,
    #[serde(rename = "vcc_min_V")]
    pub vcc_min_v: f64,
    #[serde(rename = "vcore_V")]
    pub vcore_v: f64,
}

impl PmmLevel {
    /// Highest MCLK in hertz.
    #[must_use]
    pub fn mclk_max_hz(&self) -> u32 {
        (self.mclk_max_mhz * 1e6).round() as u32
    }
}

impl F5xx {
    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        use RegionKind::{Flash, InfoFlash, Peripheral, Ram};
        device.needs("cpuxv2", &[Ram, Flash, InfoFlash, Peripheral])?;
        if self.pmm.level.len() != 4 {
            return device
                .wrong(format!("pmm has {} levels; the PMM knows 4", self.pmm.level.len()));
        }
        if self.svs.svsh_falling_v.len() != 4
            || self.svs.svsh_rising_v.len() != 8
            || self.svs.svml_v.len() != 4
        {
            return device.wrong("svs needs 4 falling, 8 rising and 4 SVML levels".to_owned());
        }
        let d = &self.dco;
        if [&d.tap0_min_mhz, &d.tap0_max_mhz, &d.tap31_min_mhz, &d.tap31_max_mhz]
            .iter()
            .any(|v| v.len() != 8)
        {
            return device.wrong("dco needs 8 ranges (DCORSEL 0 to 7)".to_owned());
        }
        if self.adc12.sample_cycles.len() != 16 {
            return device.wrong("adc12 needs 16 sample times".to_owned());
        }
        self.reference.check(device)
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        let level = |(vcore, l): (usize, &PmmLevel)| Level {
            mclk_max_hz: l.mclk_max_hz(),
            vcc_min_v: l.vcc_min_v,
            vcore: vcore as u8,
        };
        self.pmm.level.iter().enumerate().map(level).collect()
    }
}
