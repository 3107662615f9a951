// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts of an ATmega128.

use serde::Deserialize;

use super::{Device, DeviceError, Level, RegionKind, block};

/// What a device file of this family says beyond the common part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atmega128 {
    pub speed: Speed,
    pub bod: Bod,
    pub fuses: Fuses,
    pub startup: Startup,
    pub clock: Oscillators,
    pub watchdog: WatchdogTime,
    pub eeprom: EepromTime,
    pub flash: PageTime,
    pub adc: AdcLevels,
}

block!(
    Speed {
        @rename = "clock_max_MHz" clock_max_mhz: f64,
        @rename = "vcc_min_V" vcc_min_v: f64,
    }
);
block!(
    Bod {
        /// By BODLEVEL: unprogrammed, programmed.
        @rename = "level_V" level_v: [f64; 2],
        /// What the supply must rise above the level again.
        @rename = "hysteresis_V" hysteresis_v: f64,
        /// So long the supply must stay below.
        delay_us: f64,
    }
);
block!(
    /// Fuse bytes of a new chip.
    Fuses {
        /// BODLEVEL, BODEN, SUT, CKSEL.
        low: u8,
        /// OCDEN, JTAGEN, SPIEN, CKOPT, EESAVE, BOOTSZ, BOOTRST.
        high: u8,
        extended: u8,
    }
);
block!(
    /// Start-up times by fuses.
    Startup {
        /// Crystal or resonator, by 4 * CKSEL0 + SUT.
        @rename = "crystal_CK" crystal_ck: [u64; 8],
        crystal_reset_ms: [f64; 8],
        @rename = "low_frequency_CK" low_frequency_ck: [u64; 4],
        low_frequency_reset_ms: [f64; 4],
        @rename = "rc_CK" rc_ck: u64,
        rc_reset_ms: [f64; 4],
        @rename = "external_CK" external_ck: u64,
        external_reset_ms: [f64; 4],
        @rename = "standby_CK" standby_ck: u64,
        /// Before the interrupt's own cycles, from any sleep.
        @rename = "wake_extra_CK" wake_extra_ck: u64,
    }
);
block!(
    Oscillators {
        /// Internal, by CKSEL - 1.
        @rename = "rc_MHz" rc_mhz: [u32; 4],
        /// Frequency of the crystal at pin TOSC1.
        @rename = "tosc_Hz" tosc_hz: u32,
    }
);
block!(
    /// Shortest time-out of the watchdog.
    WatchdogTime {
        @rename = "timeout_3V_ms" timeout_3v_ms: f64,
        @rename = "timeout_5V_ms" timeout_5v_ms: f64,
    }
);
block!(EepromTime { write_ms: f64 });
block!(PageTime {
    /// A page erased, or written.
    page_ms: f64,
});
block!(
    /// References of the converter.
    AdcLevels {
        @rename = "internal_V" internal_v: f64,
        /// Bandgap, as MUX 30 sees it.
        @rename = "bandgap_V" bandgap_v: f64,
    }
);

/// Where the whole family has its blocks in the data space (DS40002198 "Register Summary"): it decodes addresses by
/// these.
const BLOCKS: &[(u32, &str)] = &[
    (0x80_0000, "registers"),
    (0x80_0020, "ports"),
    (0x80_0024, "adc"),
    (0x80_0028, "analog_comparator"),
    (0x80_0029, "usart0"),
    (0x80_002D, "spi"),
    (0x80_0030, "ports"),
    (0x80_003C, "eeprom"),
    (0x80_0040, "sfior"),
    (0x80_0041, "watchdog"),
    (0x80_0043, "timer2"),
    (0x80_0046, "timer1"),
    (0x80_0050, "timer0"),
    (0x80_0054, "mcu_control"),
    (0x80_0056, "timer_interrupts"),
    (0x80_0058, "external_interrupts"),
    (0x80_005B, "rampz"),
    (0x80_005C, "xdiv"),
    (0x80_005D, "stack_pointer"),
    (0x80_005F, "sreg"),
    (0x80_0060, "ports"),
    (0x80_0068, "self_programming"),
    (0x80_006A, "external_interrupts"),
    (0x80_006C, "external_memory"),
    (0x80_006F, "osccal"),
    (0x80_0070, "twi"),
    (0x80_0078, "timer1"),
    (0x80_007C, "timer_interrupts"),
    (0x80_0080, "timer3"),
    (0x80_0090, "usart0"),
    (0x80_0098, "usart1"),
];

impl Atmega128 {
    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        use RegionKind::{Eeprom, Flash, Peripheral, Ram};
        device.needs("avre", &[Ram, Flash, Eeprom, Peripheral])?;
        device.lies_at(BLOCKS)?;
        let ram = device.region_of(Ram);
        if (ram.start, ram.size_bytes()) != (0x80_0100, 0x1000) {
            return device.wrong("ram of this family is 0x800100 to 0x8010ff".to_owned());
        }
        for (name, start, bytes) in
            [("flash", 0, 0x2_0000), ("eeprom", 0x81_0000, 0x1000), ("fuses", 0x82_0000, 4)]
        {
            let found =
                device.region(start).is_some_and(|r| r.name == name && r.size_bytes() == bytes);
            if !found {
                return device.wrong(format!(
                    "{name} of this family begins at {start:#x} with {bytes:#x} bytes"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        let mclk_max_hz = (self.speed.clock_max_mhz * 1e6).round() as u32;
        vec![Level { mclk_max_hz, vcc_min_v: self.speed.vcc_min_v, vcore: 0 }]
    }
}
