// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts of an MSP430x1xx device.

use serde::Deserialize;

use super::{Capture, Device, DeviceError, Level, Pins, RegionKind, block};

/// What a device file of this family says beyond the common part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct F1xx {
    pub mirror: Mirror,
    pub boot_rom: BootRom,
    #[serde(default)]
    pub capture: Vec<Capture>,
    pub pins: Option<Pins>,
    pub speed: Speed,
    pub svs: Svs,
    pub clock: Clock,
    pub dco: Dco,
    pub flash: Flash,
    pub wake: Wake,
    pub adc12: Adc12,
    #[serde(rename = "ref")]
    pub reference: Reference,
    pub mpy16: Mpy16,
}

/// Where the whole family has its blocks (SLAU049F, register tables of the chapters): it decodes addresses by these.
const BLOCKS: &[(u32, &str)] = &[
    (0x000, "sfr"),
    (0x018, "ports"),
    (0x055, "svs"),
    (0x056, "basic_clock"),
    (0x070, "usart0"),
    (0x078, "usart1"),
    (0x080, "adc12"),
    (0x11E, "timer_b"),
    (0x120, "wdt"),
    (0x122, "dma"),
    (0x128, "flash"),
    (0x12E, "timer_a"),
    (0x130, "mpy"),
    (0x140, "adc12"),
    (0x160, "timer_a"),
    (0x180, "timer_b"),
    (0x1A0, "adc12"),
    (0x1E0, "dma"),
];

block!(
    /// RAM that shows at a second place.
    Mirror {
        start: u32,
        end: u32,
        /// Where the same bytes are.
        of: u32,
    }
);
block!(
    /// The boot ROM's identification.
    BootRom {
        id_at: u32,
        /// Device identification, high byte first.
        device_id: u16,
    }
);
block!(
    /// Fastest CPU clock against supply: a straight line between two corners.
    Speed {
        @rename = "vcc_low_V" vcc_low_v: f64,
        @rename = "mclk_max_low_MHz" mclk_max_low_mhz: f64,
        @rename = "vcc_high_V" vcc_high_v: f64,
        @rename = "mclk_max_high_MHz" mclk_max_high_mhz: f64,
    }
);
block!(
    Svs {
        /// Falling edge by VLD, from 1 on.
        @rename = "falling_V" falling_v: Vec<f64>,
        /// Hysteresis of VLD = 1.
        @rename = "hysteresis_vld1_V" hysteresis_vld1_v: f64,
        /// Hysteresis of the others, of the level.
        hysteresis_rel: f64,
        /// From a change of VLD to a sound comparison.
        settle_us: f64,
        /// So long the supply must stay below the level.
        delay_us: f64,
    }
);
block!(
    /// Crystals and fixed oscillators.
    Clock {
        /// Watch crystal or resonator at LFXT1; 0: none.
        @rename = "lfxt1_Hz" lfxt1_hz: u32,
        /// Crystal at XT2; 0: none.
        @rename = "xt2_Hz" xt2_hz: u32,
        /// Frequency of the oscillator ADC12OSC.
        @rename = "adc12osc_MHz" adc12osc_mhz: f64,
    }
);
block!(
    /// DCO at DCOx = 3 by RSELx.
    Dco {
        @rename = "tap3_2V2_MHz" tap3_2v2_mhz: Vec<f64>,
        @rename = "tap3_2V2_max_MHz" tap3_2v2_max_mhz: Vec<f64>,
        @rename = "tap3_3V_MHz" tap3_3v_mhz: Vec<f64>,
        @rename = "tap3_3V_max_MHz" tap3_3v_max_mhz: Vec<f64>,
        /// From one DCOx to the next.
        step: f64,
        /// With an external resistor at RSELx = 4, 2.2 V.
        @rename = "rosc_2V2_MHz" rosc_2v2_mhz: f64,
        /// With an external resistor at RSELx = 4, 3 V.
        @rename = "rosc_3V_MHz" rosc_3v_mhz: f64,
        /// Drift with temperature at 2.2 V, typical.
        @rename = "percent_per_K_2V2" percent_per_k_2v2: f64,
        @rename = "percent_per_K_3V" percent_per_k_3v: f64,
        /// With an external resistor.
        @rename = "rosc_percent_per_K" rosc_percent_per_k: f64,
    }
);
block!(
    /// Flash timing, in cycles of its timing generator.
    Flash {
        @rename = "timing_min_kHz" timing_min_khz: f64,
        @rename = "timing_max_kHz" timing_max_khz: f64,
        word_cycles: u32,
        /// First byte or word of a block.
        block_first_cycles: u32,
        block_next_cycles: u32,
        /// End of a block.
        block_end_cycles: u32,
        segment_erase_cycles: u32,
        mass_erase_cycles: u32,
        /// Longest programming of one row of 64 bytes between two erasures.
        cumulative_ms: f64,
        @rename = "vcc_min_V" vcc_min_v: f64,
    }
);
block!(Wake {
    /// DCO from rest to the first MCLK cycle.
    dco_us: f64,
    reset_ms: f64,
});
block!(
    /// Analogue to digital converter.
    Adc12 {
        /// ADC12CLK cycles of a conversion.
        convert_cycles: u32,
        sample_cycles: Vec<u32>,
        bits: u32,
        /// Temperature sensor at A10, at 25 degrees Celsius.
        @rename = "sensor_25C_mV" sensor_25c_mv: f64,
        /// Slowest ADC12CLK for which accuracy is specified.
        @rename = "clock_min_MHz" clock_min_mhz: f64,
        /// Fastest clock that the converter takes.
        @rename = "clock_max_MHz" clock_max_mhz: f64,
    }
);
block!(
    Reference {
        /// Voltages of the reference, by bit REF2_5V.
        @rename = "levels_V" levels_v: Vec<f64>,
        @rename = "avcc_min_V" avcc_min_v: Vec<f64>,
        settle_ms: f64,
    }
);
block!(Mpy16 {
    /// MCLK cycles from OP2 to the results.
    after_op2: [u8; 5],
});

impl Speed {
    /// Fastest CPU clock at a supply, in hertz.
    #[must_use]
    pub fn mclk_max_hz(&self, vcc_v: f64) -> f64 {
        let slope =
            (self.mclk_max_high_mhz - self.mclk_max_low_mhz) / (self.vcc_high_v - self.vcc_low_v);
        let vcc_v = vcc_v.min(self.vcc_high_v);
        (self.mclk_max_low_mhz + slope * (vcc_v - self.vcc_low_v)) * 1e6
    }

    /// Lowest supply for a CPU clock, in volts.
    #[must_use]
    pub fn vcc_min_v(&self, mclk_hz: u32) -> f64 {
        let over = f64::from(mclk_hz) / 1e6 - self.mclk_max_low_mhz;
        let slope =
            (self.vcc_high_v - self.vcc_low_v) / (self.mclk_max_high_mhz - self.mclk_max_low_mhz);
        self.vcc_low_v + (over * slope).max(0.0)
    }
}

impl F1xx {
    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        use RegionKind::{Bsl, Flash, InfoFlash, Peripheral, Ram};
        device.needs("cpu", &[Ram, Flash, InfoFlash, Peripheral, Bsl])?;
        device.lies_at(BLOCKS)?;
        if self.svs.falling_v.len() != 14 {
            return device.wrong("svs needs 14 falling levels (VLD 1 to 14)".to_owned());
        }
        let d = &self.dco;
        if [&d.tap3_2v2_mhz, &d.tap3_2v2_max_mhz, &d.tap3_3v_mhz, &d.tap3_3v_max_mhz]
            .iter()
            .any(|v| v.len() != 8)
        {
            return device.wrong("dco needs 8 ranges (RSEL 0 to 7)".to_owned());
        }
        let r = &self.reference;
        if self.adc12.sample_cycles.len() != 16 || r.levels_v.len() != 2 || r.avcc_min_v.len() != 2
        {
            return device.wrong(
                "adc12 needs 16 sample times, ref 2 levels with their least supplies".to_owned(),
            );
        }
        Ok(())
    }

    /// The straight line in steps of 0.1 V, each as fast as its lower end allows.
    pub(super) fn levels(&self) -> Vec<Level> {
        let s = &self.speed;
        let steps = ((s.vcc_high_v - s.vcc_low_v) * 10.0).round() as u32;
        (0..=steps)
            .map(|i| {
                let vcc_min_v = s.vcc_low_v + f64::from(i) / 10.0;
                Level { mclk_max_hz: s.mclk_max_hz(vcc_min_v) as u32, vcc_min_v, vcore: 0 }
            })
            .collect()
    }
}
