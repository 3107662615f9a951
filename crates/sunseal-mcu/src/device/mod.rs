// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts of a microcontroller, read from `data/devices`: what all have in common here, what only
//! one family knows in a module of its own.

mod architecture;
mod arm;
pub mod avr;
pub mod blocks;
pub mod f1xx;
mod f5xx;
pub mod fr5xx;
mod msp432;
mod reading;
mod shared;
pub mod stm32l4;

use std::collections::BTreeMap;

use serde::Deserialize;
use sunseal_data::{NotRead, Value};
use sunseal_isa::{avr as avr_core, msp430, thumb};
use sunseal_trace::Picos;

use crate::pin::{PORT_J, Pin};

pub use architecture::Architecture;
pub(crate) use arm::INPUTS_MAX;
pub use arm::Nvic;
pub use avr::Atmega128;
pub use blocks::{BlockInstance, Stretch};
pub use f1xx::F1xx;
pub use f5xx::*;
pub use fr5xx::Fr5xx;
pub use msp432::{Msp432, PortMapper};
pub use shared::{Aes, Reference, VloJitter};
pub use stm32l4::Stm32l4;

/// Why device data could not be used.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The file could not be read.
    #[error("device file {path} cannot be read: {source}; name a file of data/devices")]
    Read { path: String, source: std::io::Error },
    /// The text is not device data.
    #[error("device data is not valid: {0}")]
    Parse(#[from] NotRead),
    /// What is wrong with a file, by its name.
    #[error("{path}: {error}")]
    InFile {
        /// Where the file lies.
        path: String,
        /// What is wrong with it.
        #[source]
        error: Box<DeviceError>,
    },
    #[error("device {device}: family `{family}` is not known; the known ones are {known}")]
    Family {
        /// Name of the device.
        device: String,
        family: String,
        /// What it may say.
        known: String,
    },
    #[error("`{0}` is no device that is built in; those are {known}", known = Device::names().join(", "))]
    Unknown(String),
    /// The values contradict one another.
    #[error("device {device}: {what}")]
    Inconsistent {
        /// Name of the device.
        device: String,
        /// What is wrong and what would be right.
        what: String,
    },
    #[error("`{pin}` is no pin of the {device}, which has {pins}")]
    NoPin {
        /// Name of the device.
        device: String,
        /// What was asked for.
        pin: String,
        /// Its ports, in words.
        pins: String,
    },
}

/// Microcontroller: the facts that its file states.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Part number in lower case.
    pub name: String,
    /// CPU core, which decides instruction timing.
    pub core: String,
    /// State of the CPU in which a node waits for its timer: the deepest that a timer on a crystal still ends.
    pub waits_in: String,
    pub memory: Vec<Region>,
    /// Supply limits and brown-out.
    pub supply: Supply,
    /// How far its oscillators drift; none where a crystal clocks it.
    pub drift: Option<Drift>,
    /// Functions of modelled blocks that trap or are flagged when used.
    pub partial: Vec<Partial>,
    pub(crate) gap: Vec<Gap>,
    /// Its peripheral blocks, in the order of the file.
    pub(crate) blocks: Vec<BlockInstance>,
    /// Interrupts that no block asks for.
    pub(crate) vectors: Addresses,
    /// Where the stretches of its blocks begin, by address.
    starts: Vec<(u32, String)>,
    /// Flash, cache and bus in the timing of a Cortex-M4, the only core that has them here.
    memory_path: Option<MemoryPath>,
    /// Switches of the core's timing that are not at their default.
    timing: BTreeMap<String, String>,
    /// What its family knows beyond that.
    pub facts: Facts,
}

/// A family's own facts.
#[derive(Clone, Debug, PartialEq)]
pub enum Facts {
    Atmega128(Box<Atmega128>),
    F1xx(Box<F1xx>),
    Msp432(Box<Msp432>),
    /// The STM32L4x6 of STMicroelectronics, whose manual is RM0351.
    Stm32l4(Box<Stm32l4>),
    F5xx(Box<F5xx>),
    Fr5xx(Box<Fr5xx>),
}

/// A legal stretch of clocks: up to so fast, from so much supply on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Fastest CPU clock in hertz.
    pub mclk_max_hz: u32,
    /// Lowest supply in volts.
    pub vcc_min_v: f64,
    /// The core voltage level (PMMCOREV and its like) that it needs; 0 where there is no such choice.
    pub vcore: u8,
}

/// What a stretch of addresses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionKind {
    Peripheral,
    /// Bootloader flash: readable, never written by a program here.
    Bsl,
    InfoFlash,
    Rom,
    Ram,
    Flash,
    /// Ferroelectric memory: plain stores change it, and it stays.
    Fram,
    /// Memory that only its controller writes, byte by byte.
    Eeprom,
}

/// A stretch of the address map.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub name: String,
    /// What may be done with it: read, written, executed, kept without supply.
    pub kind: RegionKind,
    pub start: u32,
    pub end: u32,
    /// Erase unit of flash.
    pub segment_bytes: Option<u32>,
    pub source: String,
}

impl Region {
    /// Whether `addr` lies inside.
    #[must_use]
    pub fn contains(&self, addr: u32) -> bool {
        (self.start..=self.end).contains(&addr)
    }

    /// Number of bytes that the range holds.
    #[must_use]
    pub fn size_bytes(&self) -> u32 {
        self.end - self.start + 1
    }
}

macro_rules! block {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $(@$attr:ident = $val:literal)? $field:ident : $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[doc = concat!("Table of a device's file, read into `", stringify!($name), "`.")]
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$fdoc])* $(#[serde(rename = $val)])? pub $field: $ty,)*
            pub source: String,
            /// Written from memory of the source.
            #[serde(default)]
            pub recalled: bool,
            /// Why a figure is an assumption of ours and of no document, and what would settle it.
            pub assumed: Option<String>,
        }
    };
}

pub(crate) use block;

/// Kinds of blocks that read voltages at channels.
const CONVERTERS: [&str; 5] = ["adc", "adc12", "adc12_a", "adc12_b", "adc14"];

/// The switch by which clocks slightly above their limits are run: no timing of the core, but as much a fact of a run.
const OVERCLOCK: &str = "overclock";
/// The switch by which a timer that an MSP430 starts or sets counts as openMSP430's RTL has it.
const TIMER_WRITE: &str = "timer_write_counts_2_later";
/// Switches of a machine beside those of its core's timing: true or false.
const OF_MACHINES: [&str; 2] = [OVERCLOCK, TIMER_WRITE];

block!(
    /// The way from memory to a Cortex-M4, as far as it changes what instructions take without wait states.
    MemoryPath {
        /// Switches of [`thumb::Timing::MEMORY_PATH`] with their values.
        switches: BTreeMap<String, Value>,
        /// The sentence that an answer gets where nobody has measured this chip.
        unknown: Option<String>,
    }
);
block!(
    /// Supply limits and brown-out.
    Supply {
        /// Most that the part stands.
        @rename = "vcc_max_V" vcc_max_v: f64,
        /// Supply of a machine that nobody told otherwise.
        @rename = "vcc_default_V" vcc_default_v: f64,
        @rename = "bor_falling_V" bor_falling_v: f64,
        @rename = "bor_rising_V" bor_rising_v: f64,
        /// So long the supply must stay below before it asserts.
        bor_delay_us: f64,
    }
);
block!(
    /// Drift of the oscillators inside, typical: percent per kelvin from 25 degrees Celsius, and percent
    /// per volt of supply from 3 V.
    Drift {
        /// The DCO, or the reference that a FLL locks it to.
        @rename = "dco_percent_per_K" dco_percent_per_k: f64,
        @rename = "dco_percent_per_V" dco_percent_per_v: f64,
        @rename = "refo_percent_per_K" refo_percent_per_k: f64,
        @rename = "refo_percent_per_V" refo_percent_per_v: f64,
        @rename = "vlo_percent_per_K" vlo_percent_per_k: f64,
        @rename = "vlo_percent_per_V" vlo_percent_per_v: f64,
    }
);

/// Interrupts by name: addresses of vectors, inputs of the NVIC, or numbers of vectors.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Addresses {
    pub source: String,
    /// Written from memory of the source.
    #[serde(default)]
    pub recalled: bool,
    /// Why a figure is an assumption of ours and of no document, and what would settle it.
    pub assumed: Option<String>,
    #[serde(flatten)]
    at: BTreeMap<String, u32>,
}

impl Addresses {
    /// The address of that name, if the device has it.
    #[must_use]
    pub fn at(&self, name: &str) -> Option<u32> {
        self.at.get(name).copied()
    }
}

/// Oscillators that have tables of drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drifting {
    Dco,
    Refo,
    Vlo,
}

block!(
    /// A capture input fed from inside the chip.
    Capture {
        timer: String,
        ccr: u8,
        input: String,
        /// "aclk" is the only one known.
        signal: String,
    }
);

block!(
    /// Signals that a program may give a pin to: by pin, the signal that each value of its function select stands for,
    /// 1 first.
    Pins {
        functions: BTreeMap<String, Vec<String>>,
    }
);

/// Registers that are on the chip and trap here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    pub name: String,
    pub start: u32,
    pub end: u32,
    /// Its interrupts, as a block's.
    #[serde(default)]
    pub interrupts: BTreeMap<String, u32>,
    /// Why it is not modelled.
    pub why: String,
}

/// A function of a modelled block that is missing: using it traps or is flagged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    pub name: String,
    /// What of it is missing.
    pub missing: String,
}

/// Microseconds to machine time.
#[must_use]
pub(crate) fn us(time_us: f64) -> Picos {
    Picos((time_us * 1e6).round() as u128)
}

impl Device {
    fn check(&self) -> Result<(), DeviceError> {
        for r in &self.memory {
            if r.end <= r.start || !r.start.is_multiple_of(2) || r.end.is_multiple_of(2) {
                return self.wrong(format!(
                    "memory `{}` from {:#07x} to {:#07x} must start even and end odd",
                    r.name, r.start, r.end
                ));
            }
            let flash = matches!(r.kind, RegionKind::Flash | RegionKind::InfoFlash);
            if flash && r.segment_bytes.is_none_or(|s| !s.is_power_of_two()) {
                return self
                    .wrong(format!("flash `{}` needs segment_bytes, a power of two", r.name));
            }
        }
        for (i, a) in self.memory.iter().enumerate() {
            for b in &self.memory[i + 1..] {
                if a.start <= b.end && b.start <= a.end {
                    return self.wrong(format!("memory `{}` and `{}` overlap", a.name, b.name));
                }
            }
        }
        match &self.facts {
            Facts::Atmega128(f) => f.check(self),
            Facts::F1xx(f) => f.check(self),
            Facts::F5xx(f) => f.check(self),
            Facts::Fr5xx(f) => f.check(self),
            Facts::Msp432(f) => f.check(self),
            Facts::Stm32l4(f) => f.check(self),
        }
    }

    /// Refuses a Cortex-M4 without a memory path, another core with one, and a switch that belongs to none.
    fn check_memory_path(&self) -> Result<(), DeviceError> {
        let Some(path) = &self.memory_path else {
            return match self.architecture() {
                Architecture::Arm => self.wrong(
                    "a Cortex-M4 needs [memory_path]: switches, source, and unknown where nobody measured it"
                        .to_owned(),
                ),
                _ => Ok(()),
            };
        };
        let known = thumb::Timing::MEMORY_PATH;
        let mut timing = thumb::Timing::CORTEX_M4;
        for (switch, value) in &path.switches {
            if self.architecture() != Architecture::Arm || !known.contains(&switch.as_str()) {
                let known = known.join(", ");
                return self.wrong(format!(
                    "[memory_path] has `{switch}`; the memory path of a Cortex-M4 has {known}"
                ));
            }
            timing.set(switch, &switch_text(value)).or_else(|what| self.wrong(what))?;
        }
        Ok(())
    }

    /// Sets a switch of its core's timing, one of those of docs/accuracy.md, or `overclock`; the machines made from then on have it.
    ///
    /// # Errors
    /// If its core has no such switch, or the switch does not take that value.
    pub fn set_timing(&mut self, switch: &str, value: &str) -> Result<(), DeviceError> {
        let (mut avr, mut arm) = (avr_core::Timing::AVRE, thumb::Timing::CORTEX_M4);
        let mut msp430 = msp430::Timing::CPUXV2;
        let checked = match self.architecture() {
            Architecture::Avr | Architecture::Arm if switch == TIMER_WRITE => {
                Err(format!("{TIMER_WRITE} is a switch of Timer_A and Timer_B of the MSP430"))
            }
            _ if OF_MACHINES.contains(&switch) => matches!(value, "true" | "false")
                .then_some(())
                .ok_or_else(|| format!("{switch} is true or false, not `{value}`")),
            Architecture::Avr => avr.set(switch, value),
            Architecture::Arm => arm.set(switch, value),
            Architecture::Msp430 => msp430.set(switch, value),
        };
        checked.or_else(|what| self.wrong(what))?;
        self.timing.insert(switch.to_owned(), value.to_owned());
        Ok(())
    }

    /// Tells if clocks slightly above what its data sheet allows are run, with a remark.
    pub(crate) fn overclocks(&self) -> bool {
        self.timing.get(OVERCLOCK).is_some_and(|value| value == "true")
    }

    /// Cycles of MCLK between a write that starts or sets a timer and the moment from which it counts.
    pub(crate) fn timer_write_cycles(&self) -> u64 {
        let later = self.timing.get(TIMER_WRITE).is_some_and(|value| value == "true");
        if later { 2 } else { 0 }
    }

    /// The switches of its core's timing that were [set](Self::set_timing).
    #[must_use]
    pub fn timing(&self) -> Vec<(String, String)> {
        self.timing.clone().into_iter().collect()
    }

    /// A core's timing with the switches that were set.
    pub(crate) fn timed<T>(
        &self,
        mut timing: T,
        set: impl Fn(&mut T, &str, &str) -> Result<(), String>,
    ) -> T {
        let path = self.memory_path.iter().flat_map(|path| &path.switches);
        let path = path.map(|(switch, value)| (switch, switch_text(value)));
        let asked = self.timing.iter().map(|(switch, value)| (switch, value.clone()));
        for (switch, value) in path.chain(asked).filter(|s| !OF_MACHINES.contains(&s.0.as_str())) {
            set(&mut timing, switch, &value).expect("checked when it was set");
        }
        timing
    }

    /// Refuses a voltage at a channel that no converter of this device chooses.
    ///
    /// # Errors
    /// If it has no converter, or none with so many channels.
    pub fn check_adc_channel(&self, channel: u8) -> Result<(), DeviceError> {
        let mut most = None;
        for adc in self.blocks.iter().filter(|b| CONVERTERS.contains(&b.kind.as_str())) {
            most = most.max(Some(adc.channels.unwrap_or(usize::from(u8::MAX) + 1)));
        }
        match most {
            None => self.wrong(format!("no ADC is modelled, so nothing reads channel {channel}")),
            Some(n) if usize::from(channel) >= n => {
                self.wrong(format!("the ADC has channels 0 to {}, and no {channel}", n - 1))
            }
            Some(_) => Ok(()),
        }
    }

    /// That the stretches of its blocks are those that its family decodes addresses by.
    pub(crate) fn lies_at(&self, family: &[(u32, &str)]) -> Result<(), DeviceError> {
        let wrong = |(at, name): (u32, &str)| {
            let there = self.starts.iter().any(|s| (s.0, s.1.as_str()) == (at, name));
            (!there)
                .then(|| format!("[[block]] `{name}` of this family has registers from {at:#x}"))
        };
        match family.iter().copied().find_map(wrong) {
            Some(what) => self.wrong(what),
            None => Ok(()),
        }
    }

    /// The refusal of a device whose values do not fit together.
    pub(crate) fn wrong(&self, what: String) -> Result<(), DeviceError> {
        Err(DeviceError::Inconsistent { device: self.name.clone(), what })
    }

    /// That the core is `core`, and that there is memory of each kind.
    pub(crate) fn needs(&self, core: &str, kinds: &[RegionKind]) -> Result<(), DeviceError> {
        if self.core != core {
            return self
                .wrong(format!("core `{}` is not known; this family has `{core}`", self.core));
        }
        match kinds.iter().find(|k| !self.memory.iter().any(|r| r.kind == **k)) {
            Some(kind) => self.wrong(format!("there is no memory of kind {kind:?}")),
            None => Ok(()),
        }
    }

    /// The instruction set that it runs.
    #[must_use]
    pub fn architecture(&self) -> Architecture {
        match self.core.as_str() {
            "avre" => Architecture::Avr,
            "cortex_m4" => Architecture::Arm,
            _ => Architecture::Msp430,
        }
    }

    /// Address of the first register of the hardware multiplier, if there is one.
    #[must_use]
    pub fn multiplier(&self) -> Option<u32> {
        self.base("mpy32").or_else(|| self.base("mpy"))
    }

    /// The legal stretches of clock and supply, slowest first.
    #[must_use]
    pub fn levels(&self) -> Vec<Level> {
        match &self.facts {
            Facts::Atmega128(f) => f.levels(),
            Facts::F1xx(f) => f.levels(),
            Facts::F5xx(f) => f.levels(),
            Facts::Fr5xx(f) => f.levels(),
            Facts::Msp432(f) => f.levels(),
            Facts::Stm32l4(f) => f.levels(),
        }
    }

    /// The supply from which the chip starts: its brown-out circuit has let go, and the supervisor that is on after a
    /// reset, where the device's data have its level.
    #[must_use]
    pub fn starts_from_v(&self) -> f64 {
        match &self.facts {
            Facts::Fr5xx(f) => f.svs.rising_v.max(self.supply.bor_rising_v),
            _ => self.supply.bor_rising_v,
        }
    }

    /// The lowest core voltage level that allows `mclk_hz` at `vcc_v`, if any does.
    #[must_use]
    pub fn level_for(&self, mclk_hz: u32, vcc_v: f64) -> Option<u8> {
        let fits = |l: &Level| mclk_hz <= l.mclk_max_hz && vcc_v >= l.vcc_min_v;
        let level = self.levels().into_iter().find(fits);
        level.filter(|_| vcc_v <= self.supply.vcc_max_v).map(|l| l.vcore)
    }

    /// What is on the chip and not modelled.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gap
    }

    /// A pin of this device by its name in the data sheet.
    ///
    /// # Errors
    /// If no port of this device has it; bits that a port lacks (PJ, PG) are not told apart.
    pub fn pin(&self, name: &str) -> Result<Pin, DeviceError> {
        let ports = match &self.facts {
            // PA to PG (2467X, figure 1); no port J (SLAS368G, figure 1); P1 to P10 and PJ (SLAS826H, table 4-1).
            Facts::Atmega128(_) => b'A'..=b'G',
            Facts::Stm32l4(_) => b'A'..=self.last_gpio(),
            _ => 1..=self.last_port(),
        };
        let has_j = !matches!(self.facts, Facts::Atmega128(_) | Facts::F1xx(_) | Facts::Stm32l4(_));
        let last_bit = if matches!(self.facts, Facts::Stm32l4(_)) { 15 } else { 7 };
        let here = |pin: &Pin| {
            pin.bit <= last_bit && (ports.contains(&pin.port) || (has_j && pin.port == PORT_J))
        };
        name.parse().ok().filter(here).ok_or_else(|| DeviceError::NoPin {
            device: self.name.clone(),
            pin: name.to_owned(),
            pins: format!(
                "{} to {}{}",
                Pin::new(*ports.start(), 0),
                Pin::new(*ports.end(), last_bit),
                if has_j { " and PJ" } else { "" }
            ),
        })
    }

    /// The stretches of the peripheral blocks: first address and name, by address.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, &str)> {
        self.starts.iter().map(|(at, name)| (*at, name.as_str()))
    }

    /// The peripheral block that `addr` is a register of: the last that begins there or before, in the same stretch.
    #[must_use]
    pub fn block_at(&self, addr: u32) -> Option<&str> {
        let region = self.region(addr).filter(|r| r.kind == RegionKind::Peripheral)?;
        let (at, name) = &self.starts[..self.starts.partition_point(|b| b.0 <= addr)].last()?;
        region.contains(*at).then_some(name.as_str())
    }

    /// The gap that `addr` is a register of.
    #[must_use]
    pub fn gap_at(&self, addr: u32) -> Option<&Gap> {
        self.gap.iter().find(|g| (g.start..=g.end).contains(&addr))
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
}

/// The facts of a device of each family.
macro_rules! facts {
    ($($name:ident: $family:ident,)*) => {
        impl Device {
            $(
                /// # Panics
                /// For a device of another family.
                pub(crate) fn $name(&self) -> &$family {
                    match &self.facts {
                        Facts::$family(facts) => facts,
                        _ => unreachable!("a chip is made of its own family's facts"),
                    }
                }
            )*
        }
    };
}

facts! {
    atmega128: Atmega128,
    f1xx: F1xx,
    f5xx: F5xx,
    fr5xx: Fr5xx,
    msp432: Msp432,
    stm32l4: Stm32l4,
}

/// A switch's value as a text: `true`, `2`, `"keep"`.
#[must_use]
pub fn switch_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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
        let text = include_str!("../../../../data/devices/msp430f5438a.toml")
            .replace("refo_Hz", "refo_hz");
        let err = Device::parse(&text).unwrap_err().to_string();
        assert!(err.contains("refo_hz"), "{err}");
    }

    #[test]
    fn what_is_not_modelled_may_have_interrupts_of_any_name() {
        let text = include_str!("../../../../data/devices/msp430f5438a.toml");
        let usb = "[[gap]]\nname = \"USB\"\nstart = 0x0900\nend = 0x093F\ninterrupts = { usb = 0xFFD0 }\nwhy = \"-\"\n";
        Device::parse(&format!("{text}\n{usb}")).unwrap();
        let said = text.replace("interrupts = { wdt =", "interrupts = { wtd =");
        let said = Device::parse(&said).unwrap_err().to_string();
        assert!(said.contains("`wtd` is not known") && !said.contains(", ,"), "{said}");
    }

    #[test]
    fn a_chip_may_lack_a_block_but_not_have_one_that_nobody_knows() {
        let text = include_str!("../../../../data/devices/msp430fr5994.toml");
        let cut = |text: &str, name: &str| {
            let (before, block) =
                text.split_once(&format!("[[block]]\nname = \"{name}\"")).unwrap();
            format!("{before}{}", &block[block.find("\n\n").unwrap()..])
        };
        let device = Device::parse(&cut(&cut(text, "crc32"), "aes256")).unwrap();
        assert!(device.blocks().all(|(_, name)| name != "crc32" && name != "aes256"));
        let needed = Device::parse(&cut(text, "sfr")).unwrap_err().to_string();
        assert!(needed.contains("there is no [[block]] `sfr`"), "{needed}");
        let dangling = Device::parse(&cut(text, "ta4")).map(|_| ());
        assert!(
            dangling.is_ok(),
            "a trigger of a timer that is not there never comes: {dangling:?}"
        );
    }

    #[test]
    fn a_pin_is_one_of_the_ports_that_the_device_has() {
        for (device, has, lacks) in [
            ("atmega128l", &["PA0", "PG4"][..], &["P1.0", "PJ.0", "PH0", "PA8"][..]),
            ("msp430f1611", &["P1.0", "P6.7"], &["P7.0", "PJ.0", "PA0"]),
            ("msp430f5438a", &["P11.2", "PJ.3"], &["PA0", "P0.0"]),
            ("msp430fr5969", &["P4.7", "PJ.0"], &["P5.0", "P9.1"]),
            ("msp430fr6989", &["P10.2"], &["P11.0"]),
            ("msp432p401r", &["P10.0", "PJ.5"], &["P11.0", "PB0"]),
            ("stm32l476rg", &["PA0", "PC13", "PH1"], &["PI0", "P1.0", "PJ.0"]),
        ] {
            let device = Device::named(device).unwrap();
            for name in has {
                assert_eq!(device.pin(name).unwrap().to_string(), *name);
            }
            for name in lacks {
                let said = device.pin(name).unwrap_err().to_string();
                assert!(
                    said.contains(&format!("`{name}` is no pin of the {}", device.name)),
                    "{said}"
                );
            }
        }
        let said = Device::named("msp430fr5969").unwrap().pin("P5.0").unwrap_err().to_string();
        assert!(said.ends_with("which has P1.0 to P4.7 and PJ"), "{said}");
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
