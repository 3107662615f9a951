// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts of a microcontroller, read from `data/devices`.

use std::path::Path;

use serde::Deserialize;
use sunseal_trace::Picos;

/// Why device data could not be used.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The file could not be read.
    #[error("device file {path} cannot be read: {source}; name a file of data/devices")]
    Read {
        /// The file.
        path: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// The text is not device data.
    #[error("device data is not valid: {0}")]
    Parse(#[from] toml::de::Error),
    /// The values contradict one another.
    #[error("device {device}: {what}")]
    Inconsistent {
        /// Name of the device.
        device: String,
        /// What is wrong and what would be right.
        what: String,
    },
}

/// One microcontroller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Part number in lower case.
    pub name: String,
    /// Family of peripherals.
    pub family: String,
    /// CPU core, which decides instruction timing.
    pub core: String,
    /// The address map.
    pub memory: Vec<Region>,
    /// Device descriptors.
    pub tlv: Tlv,
    /// Interrupt vectors.
    pub vectors: Vectors,
    /// Base addresses.
    pub peripherals: Bases,
    /// Capture/compare blocks of each timer.
    pub timers: Timers,
    /// Capture inputs wired inside the chip.
    #[serde(default)]
    pub capture: Vec<Capture>,
    /// What is on the chip and not modelled.
    #[serde(default, rename = "gap")]
    gap: Vec<Gap>,
    /// Functions of modelled blocks that trap or are flagged when used.
    #[serde(default)]
    pub partial: Vec<Partial>,
    /// Core voltage levels.
    pub pmm: Pmm,
    /// Supply limits and brown-out.
    pub supply: Supply,
    /// Supply voltage supervisor levels.
    pub svs: Svs,
    /// Fixed oscillators.
    pub clock: Clock,
    /// Digitally controlled oscillator.
    pub dco: Dco,
    /// Flash timing.
    pub flash: Flash,
    /// Wake-up times.
    pub wake: Wake,
    /// Analogue to digital converter.
    pub adc12: Adc12,
    /// Reference.
    #[serde(rename = "ref")]
    pub reference: Reference,
    /// Multiplier latencies.
    pub mpy32: Mpy32,
    /// Digital ports.
    pub ports: Ports,
}

/// What a stretch of addresses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionKind {
    /// Registers.
    Peripheral,
    /// Bootloader flash: readable, never written by a program here.
    Bsl,
    /// Information flash.
    InfoFlash,
    /// Factory memory.
    Rom,
    /// Static memory.
    Ram,
    /// Main flash.
    Flash,
}

/// A stretch of the address map.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: RegionKind,
    /// First address.
    pub start: u32,
    /// Last address.
    pub end: u32,
    /// Erase unit of flash.
    pub segment_bytes: Option<u32>,
    /// Document and table.
    pub source: String,
}

impl Region {
    /// Whether `addr` lies inside.
    #[must_use]
    pub fn contains(&self, addr: u32) -> bool {
        (self.start..=self.end).contains(&addr)
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u32 {
        self.end - self.start + 1
    }
}

macro_rules! block {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $(@$attr:ident = $val:literal)? $field:ident : $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$fdoc])* $(#[serde(rename = $val)])? pub $field: $ty,)*
            /// Document and table.
            pub source: String,
            /// Written from memory of the source.
            #[serde(default)]
            pub recalled: bool,
        }
    };
}

block!(
    /// Device descriptors.
    Tlv {
        /// Device identification word.
        device_id: u16,
        /// Silicon revision.
        hardware_revision: u8,
        /// Boot code revision.
        firmware_revision: u8,
    }
);
block!(
    /// Addresses of the interrupt vectors; higher address, higher priority.
    #[allow(missing_docs)]
    Vectors {
        reset: u32,
        sysnmi: u32,
        unmi: u32,
        tb0_ccr0: u32,
        tb0: u32,
        wdt: u32,
        usci_a0: u32,
        usci_b0: u32,
        adc12: u32,
        ta0_ccr0: u32,
        ta0: u32,
        usci_a2: u32,
        usci_b2: u32,
        dma: u32,
        ta1_ccr0: u32,
        ta1: u32,
        port1: u32,
        usci_a1: u32,
        usci_b1: u32,
        usci_a3: u32,
        usci_b3: u32,
        port2: u32,
        rtc: u32,
    }
);
block!(
    /// Base addresses of the peripherals.
    #[allow(missing_docs)]
    Bases {
        sfr: u32,
        pmm: u32,
        flash: u32,
        crc16: u32,
        ram_control: u32,
        wdt_a: u32,
        ucs: u32,
        sys: u32,
        @rename = "ref" reference: u32,
        port_a: u32,
        port_b: u32,
        port_c: u32,
        port_d: u32,
        port_e: u32,
        port_f: u32,
        port_j: u32,
        ta0: u32,
        ta1: u32,
        tb0: u32,
        mpy32: u32,
        usci_a0: u32,
        usci_b0: u32,
        usci_a1: u32,
        usci_b1: u32,
        usci_a2: u32,
        usci_b2: u32,
        usci_a3: u32,
        usci_b3: u32,
        adc12_a: u32,
    }
);
block!(
    /// Capture/compare blocks of each timer.
    #[allow(missing_docs)]
    Timers {
        ta0_ccrs: u8,
        ta1_ccrs: u8,
        tb0_ccrs: u8,
    }
);
block!(
    /// A capture input fed from inside the chip.
    Capture {
        /// Timer, "tb0".
        timer: String,
        /// Capture/compare block.
        ccr: u8,
        /// "A" or "B".
        input: String,
        /// "aclk" is the only one known.
        signal: String,
    }
);
block!(
    /// PMM timing.
    PmmTiming {
        /// SVS/SVM settling in full-performance mode.
        svs_delay_full_performance_us: f64,
        /// SVS/SVM settling in normal mode.
        svs_delay_normal_us: f64,
        /// Time for VCORE to reach a new level.
        vcore_settle_us: f64,
    }
);
block!(
    /// Core voltage levels.
    Pmm {
        /// Level 0 first.
        level: Vec<PmmLevel>,
        /// Delays.
        timing: PmmTiming,
    }
);
block!(
    /// Supply limits and brown-out.
    Supply {
        /// Most that the part stands.
        @rename = "vcc_max_V" vcc_max_v: f64,
        /// Supply of a machine that nobody told otherwise.
        @rename = "vcc_default_V" vcc_default_v: f64,
        /// Brown-out reset asserts below.
        @rename = "bor_falling_V" bor_falling_v: f64,
        /// Brown-out reset releases above.
        @rename = "bor_rising_V" bor_rising_v: f64,
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
    }
);
block!(
    /// Jitter of the VLO.
    VloJitter {
        /// Standard deviation of an edge around its ideal place, of the period.
        sigma_percent: f64,
    }
);
block!(
    /// Fixed oscillators.
    Clock {
        /// REFO.
        @rename = "refo_Hz" refo_hz: u32,
        /// VLO, typical.
        @rename = "vlo_Hz" vlo_hz: u32,
        /// ADC12OSC.
        @rename = "modosc_MHz" modosc_mhz: f64,
        /// Jitter of the VLO.
        vlo_jitter: VloJitter,
    }
);
block!(
    /// Span of the DCO by DCORSEL.
    Dco {
        /// Slowest part, DCOx = 0.
        @rename = "tap0_min_MHz" tap0_min_mhz: Vec<f64>,
        /// Fastest part, DCOx = 0.
        @rename = "tap0_max_MHz" tap0_max_mhz: Vec<f64>,
        /// Slowest part, DCOx = 31.
        @rename = "tap31_min_MHz" tap31_min_mhz: Vec<f64>,
        /// Fastest part, DCOx = 31.
        @rename = "tap31_max_MHz" tap31_max_mhz: Vec<f64>,
    }
);
block!(
    /// Flash timing.
    Flash {
        /// Byte or word.
        word_write_us: f64,
        /// 32 bits.
        long_word_write_us: f64,
        /// One segment.
        segment_erase_ms: f64,
        /// A bank, or all.
        mass_erase_ms: f64,
        /// Least supply for writing.
        @rename = "vcc_min_V" vcc_min_v: f64,
    }
);
block!(
    /// Wake-up times.
    Wake {
        /// LPM2 to LPM4 with SVSLFP, MCLK above the threshold.
        fast_us: f64,
        /// The same below the threshold.
        fast_slow_clock_us: f64,
        /// The threshold.
        @rename = "fast_clock_threshold_MHz" fast_clock_threshold_mhz: f64,
        /// LPM2 to LPM4 without SVSLFP.
        slow_us: f64,
        /// From reset or brown-out.
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
        /// Sampling by ADC12SHT.
        sample_cycles: Vec<u32>,
        /// Full width.
        bits: u32,
        /// Temperature sensor at A10, at 25 degrees Celsius.
        @rename = "sensor_25C_mV" sensor_25c_mv: f64,
    }
);
block!(
    /// Reference.
    Reference {
        /// By REFVSEL.
        @rename = "levels_V" levels_v: Vec<f64>,
        /// Least supply of each level.
        @rename = "avcc_min_V" avcc_min_v: Vec<f64>,
        /// From on to settled.
        settle_us: f64,
    }
);
block!(
    /// MCLK cycles from operand to result.
    Mpy32 {
        /// 16 x 16, after OP2: RES0..RES3, MPYC.
        op16_after_op2: [u8; 5],
        /// 32 x 16, after OP2.
        op1_32_after_op2: [u8; 5],
        /// 16 x 32, after OP2L.
        op2_32_after_op2l: [u8; 5],
        /// 16 x 32, after OP2H.
        op2_32_after_op2h: [u8; 5],
        /// 32 x 32, after OP2L.
        op32_after_op2l: [u8; 5],
        /// 32 x 32, after OP2H.
        op32_after_op2h: [u8; 5],
    }
);
block!(
    /// Digital ports.
    Ports {
        /// Highest port number (PJ is apart).
        last: u8,
        /// Ports that interrupt.
        interrupt_ports: Vec<u8>,
    }
);

/// One core voltage level.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PmmLevel {
    /// Highest MCLK.
    #[serde(rename = "mclk_max_MHz")]
    pub mclk_max_mhz: f64,
    /// Lowest supply.
    #[serde(rename = "vcc_min_V")]
    pub vcc_min_v: f64,
    /// Core voltage, typical.
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

/// Registers that are on the chip and trap here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The block.
    pub name: String,
    /// First address.
    pub start: u32,
    /// Last address.
    pub end: u32,
    /// Why it is not modelled.
    pub why: String,
}

/// A function of a modelled block that is missing: using it traps or is flagged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// The block.
    pub name: String,
    /// What of it is missing.
    pub missing: String,
}

/// Microseconds to machine time.
#[must_use]
pub(crate) fn us(time_us: f64) -> Picos {
    Picos((time_us * 1e6).round() as u64)
}

impl Device {
    /// The MSP430F5438A, from the data file built in.
    ///
    /// # Panics
    /// Never: a test reads the same file.
    #[must_use]
    pub fn msp430f5438a() -> Self {
        Self::parse(include_str!("../../../data/devices/msp430f5438a.toml"))
            .expect("the built-in device file is valid")
    }

    /// Device data from a file.
    ///
    /// # Errors
    /// If the file cannot be read or is not valid.
    pub fn load(path: &Path) -> Result<Self, DeviceError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| DeviceError::Read { path: path.display().to_string(), source })?;
        Self::parse(&text)
    }

    /// Device data from text.
    ///
    /// # Errors
    /// If the text has unknown or missing keys, or values that contradict one another.
    pub fn parse(text: &str) -> Result<Self, DeviceError> {
        let device: Self = toml::from_str(text)?;
        device.check()?;
        Ok(device)
    }

    fn check(&self) -> Result<(), DeviceError> {
        let wrong =
            |what: String| Err(DeviceError::Inconsistent { device: self.name.clone(), what });
        if self.core != "cpuxv2" {
            return wrong(format!("core `{}` is not known; the known one is `cpuxv2`", self.core));
        }
        for r in &self.memory {
            if r.end <= r.start
                || r.end >= 1 << 20
                || !r.start.is_multiple_of(2)
                || r.end.is_multiple_of(2)
            {
                return wrong(format!(
                    "memory `{}` from {:#07x} to {:#07x} must start even, end odd and lie below 0x100000",
                    r.name, r.start, r.end
                ));
            }
            let flash = matches!(r.kind, RegionKind::Flash | RegionKind::InfoFlash);
            if flash && r.segment_bytes.is_none_or(|s| !s.is_power_of_two()) {
                return wrong(format!("flash `{}` needs segment_bytes, a power of two", r.name));
            }
        }
        for (i, a) in self.memory.iter().enumerate() {
            for b in &self.memory[i + 1..] {
                if a.start <= b.end && b.start <= a.end {
                    return wrong(format!("memory `{}` and `{}` overlap", a.name, b.name));
                }
            }
        }
        for kind in
            [RegionKind::Ram, RegionKind::Flash, RegionKind::InfoFlash, RegionKind::Peripheral]
        {
            if !self.memory.iter().any(|r| r.kind == kind) {
                return wrong(format!("there is no memory of kind {kind:?}"));
            }
        }
        if self.pmm.level.len() != 4 {
            return wrong(format!("pmm has {} levels; the PMM knows 4", self.pmm.level.len()));
        }
        if self.svs.svsh_falling_v.len() != 4
            || self.svs.svsh_rising_v.len() != 8
            || self.svs.svml_v.len() != 4
        {
            return wrong("svs needs 4 falling, 8 rising and 4 SVML levels".to_owned());
        }
        let d = &self.dco;
        if [&d.tap0_min_mhz, &d.tap0_max_mhz, &d.tap31_min_mhz, &d.tap31_max_mhz]
            .iter()
            .any(|v| v.len() != 8)
        {
            return wrong("dco needs 8 ranges (DCORSEL 0 to 7)".to_owned());
        }
        let r = &self.reference;
        if self.adc12.sample_cycles.len() != 16 || r.levels_v.len() != 4 || r.avcc_min_v.len() != 4
        {
            return wrong(
                "adc12 needs 16 sample times, ref 4 levels with their least supplies".to_owned(),
            );
        }
        Ok(())
    }

    /// What is on the chip and not modelled.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gap
    }

    /// The stretch of memory that holds `addr`.
    #[must_use]
    pub fn region(&self, addr: u32) -> Option<&Region> {
        self.memory.iter().find(|r| r.contains(addr))
    }

    /// The first stretch of a kind.
    ///
    /// # Panics
    /// If the device has none; [`parse`](Self::parse) refuses such a device.
    #[must_use]
    pub fn region_of(&self, kind: RegionKind) -> &Region {
        self.memory.iter().find(|r| r.kind == kind).expect("checked when the device was read")
    }

    /// The lowest core voltage level that allows `mclk_hz` at `vcc_v`, if any does.
    #[must_use]
    pub fn level_for(&self, mclk_hz: u32, vcc_v: f64) -> Option<u8> {
        let fits = |l: &PmmLevel| mclk_hz <= l.mclk_max_hz() && vcc_v >= l.vcc_min_v;
        (vcc_v <= self.supply.vcc_max_v)
            .then(|| self.pmm.level.iter().position(fits))
            .flatten()
            .map(|i| i as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_file_is_valid_and_says_what_is_missing() {
        let d = Device::msp430f5438a();
        assert_eq!(d.region_of(RegionKind::Ram).size_bytes(), 16 * 1024);
        assert_eq!(d.region_of(RegionKind::Flash).size_bytes(), 256 * 1024);
        assert_eq!(d.region(0x1980).unwrap().name, "info");
        assert!(d.region(0x1B00).is_none());
        assert!(d.gaps().iter().any(|g| g.name == "DMA"));
    }

    #[test]
    fn an_unknown_key_is_named() {
        let text =
            include_str!("../../../data/devices/msp430f5438a.toml").replace("refo_Hz", "refo_hz");
        let err = Device::parse(&text).unwrap_err().to_string();
        assert!(err.contains("refo_hz"), "{err}");
    }

    #[test]
    fn the_level_follows_clock_and_supply() {
        let d = Device::msp430f5438a();
        assert_eq!(d.level_for(8_000_000, 1.8), Some(0));
        assert_eq!(d.level_for(8_000_001, 1.8), None);
        assert_eq!(d.level_for(14_000_000, 2.7), Some(2));
        assert_eq!(d.level_for(25_000_000, 2.4), Some(3));
        assert_eq!(d.level_for(25_000_000, 3.7), None);
    }
}
