// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts that only the MSP432P4xx has.

use serde::Deserialize;

use super::{Aes, Device, DeviceError, Level, Nvic, Reference, RegionKind, VloJitter, block};

block!(
    /// Device descriptors: what software reads at 0x0020_1000.
    Tlv {
        /// Device identification.
        device_id: u32,
        /// Silicon revision.
        hardware_revision: u32,
        /// Boot code revision.
        boot_revision: u32,
        /// Revision of the driver library in ROM.
        rom_revision: u32,
        /// DCO calibration of ranges 0 to 4, internal resistor.
        dcoir_fcal_rsel04: u32,
        /// The same of range 5.
        dcoir_fcal_rsel5: u32,
        /// DCO constant K of ranges 0 to 4.
        dcoir_constk_rsel04: f64,
        /// The same of range 5.
        dcoir_constk_rsel5: f64,
    }
);
/// Addresses or numbers that the code knows by name, out of those of the blocks.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident by $find:ident { $($field:ident,)* }) => {
        $(#[$doc])*
        #[allow(missing_docs)]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $(pub $field: u32,)* }

        impl $name {
            /// The names of all.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];

            fn of(device: &Device) -> Result<Self, DeviceError> {
                let mut found = Self::default();
                $(match device.$find(stringify!($field)) {
                    Some(at) => found.$field = at,
                    None => device.wrong(concat!("no [[block]] has `", stringify!($field), "`").to_owned())?,
                })*
                Ok(found)
            }
        }
    };
}

named!(
    /// Base addresses of the peripherals.
    Bases by base {
        ta0,
        ta1,
        ta2,
        ta3,
        eusci_a0,
        eusci_a1,
        eusci_a2,
        eusci_a3,
        eusci_b0,
        eusci_b1,
        eusci_b2,
        eusci_b3,
        ref_a,
        aes256,
        crc32,
        rtc_c,
        wdt_a,
        dio,
        pmap,
        timer32,
        dma,
        pcm,
        cs,
        pss,
        flctl,
        adc14,
        rstctl,
        sysctl,
    }
);
named!(
    /// Inputs of the NVIC.
    Interrupts by interrupt {
        pss,
        cs,
        pcm,
        wdt_a,
        fpu,
        flctl,
        ta0_0,
        ta0_n,
        ta1_0,
        ta1_n,
        ta2_0,
        ta2_n,
        ta3_0,
        ta3_n,
        eusci_a0,
        eusci_a1,
        eusci_a2,
        eusci_a3,
        eusci_b0,
        eusci_b1,
        eusci_b2,
        eusci_b3,
        adc14,
        t32_int1,
        t32_int2,
        t32_intc,
        aes256,
        rtc_c,
        dma_err,
        dma_int3,
        dma_int2,
        dma_int1,
        dma_int0,
        port1,
    }
);
block!(
    /// Core voltage levels, regulators, and how long it takes to change.
    Pcm {
        /// Fastest MCLK by core voltage level.
        @rename = "mclk_max_MHz" mclk_max_mhz: [f64; 2],
        /// Fastest MCLK in the low-frequency modes.
        @rename = "lf_max_kHz" lf_max_khz: f64,
        /// Least supply.
        @rename = "vcc_min_V" vcc_min_v: f64,
        /// Least supply of the DC/DC regulator.
        @rename = "dcdc_vcc_min_V" dcdc_vcc_min_v: f64,
        /// From core voltage 0 to 1.
        vcore_up_us: f64,
        /// And back.
        vcore_down_us: f64,
        /// To the DC/DC regulator.
        ldo_to_dcdc_us: f64,
        /// And back.
        dcdc_to_ldo_us: f64,
        /// Into the low-frequency mode.
        to_lf_us: f64,
        /// And back.
        from_lf_us: f64,
        /// MCLK cycles from an interrupt in LPM0 to its entry.
        lpm0_wake_cycles: u32,
        /// From WFI to LPM3 or LPM4.
        lpm3_entry_us: f64,
        /// From a wake-up there to its entry.
        lpm3_wake_us: f64,
        /// From a wake-up in LPM3.5 to the reset vector.
        lpm35_wake_us: f64,
        /// From a wake-up in LPM4.5 to the reset vector.
        lpm45_wake_us: f64,
        /// From power-on to the reset vector.
        reset_ms: f64,
    }
);
block!(
    /// Supply supervisor.
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
        /// REFO.
        @rename = "refo_Hz" refo_hz: u32,
        /// REFO with REFOFSEL.
        @rename = "refo_fast_Hz" refo_fast_hz: u32,
        /// VLO, typical.
        @rename = "vlo_Hz" vlo_hz: u32,
        /// MODOSC.
        @rename = "modosc_MHz" modosc_mhz: f64,
        /// SYSOSC.
        @rename = "sysosc_MHz" sysosc_mhz: f64,
        /// From on to stable.
        lfxt_start_ms: f64,
        /// From on to stable.
        hfxt_start_ms: f64,
        /// Jitter of the VLO.
        vlo_jitter: VloJitter,
    }
);
block!(
    /// Ranges of the DCO by DCORSEL.
    Dco {
        /// Centre frequency.
        @rename = "nominal_MHz" nominal_mhz: [f64; 6],
        /// Slowest that every part reaches.
        @rename = "range_min_MHz" range_min_mhz: [f64; 6],
        /// Fastest that every part reaches.
        @rename = "range_max_MHz" range_max_mhz: [f64; 6],
    }
);
block!(
    /// Flash: MCLK by wait states, buffers, times.
    Flash {
        /// Fastest MCLK by wait states, normal read mode, core voltage 0.
        @rename = "normal_read_vcore0_MHz" normal_read_vcore0_mhz: Vec<f64>,
        /// The same for core voltage 1.
        @rename = "normal_read_vcore1_MHz" normal_read_vcore1_mhz: Vec<f64>,
        /// The other read modes, core voltage 0.
        @rename = "other_read_vcore0_MHz" other_read_vcore0_mhz: Vec<f64>,
        /// The same for core voltage 1.
        @rename = "other_read_vcore1_MHz" other_read_vcore1_mhz: Vec<f64>,
        /// Width of a bank's read buffer.
        buffer_bytes: u32,
        /// Size of a bank.
        bank_bytes: u32,
        /// Up to 32 bits.
        word_program_us: f64,
        /// 128 bits.
        full_word_program_us: f64,
        /// One sector.
        sector_erase_ms: f64,
        /// All sectors that are not protected.
        mass_erase_ms: f64,
    }
);
block!(
    /// Analogue to digital converter.
    Adc14 {
        /// Cycles of a conversion by ADC14RES.
        convert_cycles: [u32; 4],
        /// Its width.
        bits: [u32; 4],
        /// Sampling by ADC14SHTx.
        sample_cycles: Vec<u32>,
        /// Temperature sensor at 25 degrees Celsius.
        @rename = "sensor_25C_mV" sensor_25c_mv: f64,
        /// Fastest ADC14CLK.
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
        /// DMA: one transfer.
        dma_transfer_cycles: u32,
    }
);

/// The family's own tables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Msp432 {
    /// Device descriptors.
    pub tlv: Tlv,
    /// Base addresses, those of the blocks.
    #[serde(skip)]
    pub peripherals: Bases,
    /// The interrupt controller and SysTick as built.
    pub nvic: Nvic,
    /// Inputs of the NVIC, those of the blocks.
    #[serde(skip)]
    pub interrupts: Interrupts,
    /// Core voltage and power modes.
    pub pcm: Pcm,
    /// Supply supervisor.
    pub svs: Svs,
    /// Oscillators.
    pub clock: Clock,
    /// Digitally controlled oscillator.
    pub dco: Dco,
    /// Flash.
    pub flash: Flash,
    /// Analogue to digital converter.
    pub adc14: Adc14,
    /// Reference.
    #[serde(rename = "ref")]
    pub reference: Reference,
    /// AES accelerator.
    pub aes256: Aes,
    /// Undocumented cycles.
    pub core_timing: CoreTiming,
}

impl Msp432 {
    /// With the places of the device's blocks.
    pub(super) fn placed(&mut self, device: &Device) -> Result<(), DeviceError> {
        (self.peripherals, self.interrupts) = (Bases::of(device)?, Interrupts::of(device)?);
        Ok(())
    }

    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        use RegionKind::{Flash, InfoFlash, Peripheral, Ram};
        device.needs("cortex_m4", &[Ram, Flash, InfoFlash, Peripheral])?;
        self.nvic.check(device)?;
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
