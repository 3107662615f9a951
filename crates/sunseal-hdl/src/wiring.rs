// SPDX-License-Identifier: MIT OR Apache-2.0
//! A coprocessor on a board: table `[fpga]` of its part, and the wires of the board's `[[part]]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_data::sourced;
use sunseal_part::Pin;

use crate::HdlError;
use crate::coprocessor::{Coprocessor, Facts, FpgaHandle, Wires};
use crate::model::{Model, find};

sourced! {
    /// Table `[fpga]` of a file in `data/parts`.
    pub struct FpgaPart {
        /// What it is configured as; "coprocessor".
        pub design: String,
        /// PRESENT a round a clock.
        #[serde(default)]
        pub present_by_rounds: bool,
        /// Its clock where the board does not say otherwise.
        #[serde(rename = "clock_MHz")]
        pub clock_mhz: f64,
        /// A slow clock that passes the time while the fast one stands still, as nothing is wanted; none: the clock never does.
        #[serde(rename = "tick_kHz", default)]
        pub tick_khz: Option<f64>,
        /// The fastest that the design takes.
        #[serde(rename = "clock_max_MHz")]
        pub clock_max_mhz: f64,
        /// From its supply to its first clock: the configuration is loaded.
        pub boot_ms: f64,
        /// What it draws from.
        pub rail: Vec<Rail>,
    }
}

/// A supply of the FPGA.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rail {
    /// Name of the rail, "core" or "io".
    pub name: String,
    /// Voltage of the rail.
    #[serde(rename = "voltage_V")]
    pub voltage_v: f64,
    /// Its coefficients, of `data/power`.
    pub power_set: String,
}

/// Between mote and coprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bus {
    Parallel,
    Spi { by_bytes: bool },
    Uart { divider: u64 },
}

const PARALLEL: [&str; 10] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "toggle", "power"];
const SPI: [&str; 4] = ["sck", "cs", "mosi", "power"];
const UART: [&str; 1] = ["power"];
/// The SPI of an interface of the chip: the chip tells of bytes, and selects by the board's `cs`.
const BYTES: [&str; 1] = ["power"];
/// Keys of a `[[part]]` that are no pins.
const OTHERS: [&str; 10] = [
    "name",
    "part",
    "bus",
    "clock_MHz",
    "phase",
    "serial",
    "baud",
    "read_cycles",
    "sck_cycles",
    "timeout_bits",
];
/// Clocks from a toggle to the answer on the lines.
const READ_CLOCKS: f64 = 6.0;
/// And for an oscillator to be let through again.
const WAKE_CLOCKS: f64 = 2.0;
/// SCK may have an eighth of the clock.
pub(crate) const SCK_CLOCKS: f64 = 8.0;

impl Bus {
    /// Wires that it hears; the lines come first, by their numbers.
    pub fn hears(self) -> &'static [&'static str] {
        match self {
            Self::Parallel => &PARALLEL,
            Self::Spi { by_bytes: false } => &SPI,
            Self::Spi { by_bytes: true } => &BYTES,
            Self::Uart { .. } => &UART,
        }
    }

    pub fn is_uart(self) -> bool {
        matches!(self, Self::Uart { .. })
    }

    pub fn divider(self) -> u64 {
        match self {
            Self::Uart { divider } => divider,
            _ => 1,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Parallel => "the parallel bus",
            Self::Spi { .. } => "the SPI",
            Self::Uart { .. } => "the UART",
        }
    }

    fn named(self) -> String {
        match self {
            Self::Parallel => "parallel".to_owned(),
            Self::Spi { .. } => "spi".to_owned(),
            Self::Uart { divider } => format!("uart{divider}"),
        }
    }
}

/// A coprocessor that can be put on a machine.
pub struct Wired {
    pub part: Coprocessor,
    /// What looks at it.
    pub handle: FpgaHandle,
    /// The chip's serial interface that it is wired to, where it is.
    pub serial: Option<String>,
    /// The pin by which that selects it.
    pub cs: Option<Pin>,
}

struct Table<'a>(&'a BTreeMap<String, String>);

impl Table<'_> {
    fn bad(key: &str, reason: impl Into<String>) -> HdlError {
        HdlError::Wire { key: key.to_owned(), reason: reason.into() }
    }

    fn text(&self, key: &str, why: &str) -> Result<&str, HdlError> {
        self.0
            .get(key)
            .map(String::as_str)
            .ok_or_else(|| Self::bad(key, format!("is missing; {why}")))
    }

    fn pin(&self, key: &str) -> Result<Option<Pin>, HdlError> {
        let parse = |text: &String| text.parse().map_err(|e| Self::bad(key, format!("{e}")));
        self.0.get(key).map(parse).transpose()
    }

    fn number(&self, key: &str) -> Result<Option<f64>, HdlError> {
        let parse = |text: &String| {
            let number = text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
            number.ok_or_else(|| Self::bad(key, format!("`{text}` is no number from 0")))
        };
        self.0.get(key).map(parse).transpose()
    }
}

/// Puts a coprocessor on wires: `bus` (parallel, spi, uart) and its pins, `power` for the switch of its supply (none: always
/// on), `irq`; `clock_MHz` and `phase` (0 to 1, of its clock) where they are not the part's and 0. An SPI without pin `sck` is
/// that of the chip's interface `serial`, with pin `cs`. `mote_hz` is the chip's clock where it has but one, to hold the board's `read_cycles` (from a toggle to the read of the answer) and `sck_cycles` (least period of SCK) to what
/// the bus needs.
///
/// # Errors
/// If a wire is missing or wrong, a clock is too slow for the bus or too fast for the design, or there is no model.
pub fn wire(
    part: &FpgaPart,
    wires: &BTreeMap<String, String>,
    mote_hz: Option<f64>,
) -> Result<Wired, HdlError> {
    let table = Table(wires);
    let clock_mhz = table.number("clock_MHz")?.unwrap_or(part.clock_mhz);
    let clock_hz = (clock_mhz * 1e6).round() as u64;
    let bus = bus_of(&table, clock_hz)?;
    for key in wires.keys().map(String::as_str) {
        let pins = ["irq", "miso"];
        let every = [&PARALLEL[..], &SPI, &UART, &pins, &OTHERS].concat();
        if !every.contains(&key) {
            return Err(Table::bad(
                key,
                format!("is no wire of a coprocessor; its own are {}", every.join(", ")),
            ));
        }
    }
    let by_bytes = bus == Bus::Spi { by_bytes: true };
    if mote_hz.is_none() && !by_bytes {
        return Err(Table::bad(
            "bus",
            "is followed pin by pin, which takes a chip that a crystal clocks and that tells how it holds its pins, the ATmega128L; with others take \"spi\" of an interface: `serial` and `cs`, no `sck`",
        ));
    }
    check_clock(part, &table, bus, clock_mhz, mote_hz)?;
    let power = table.pin("power")?;
    let mut heard = Vec::new();
    for key in bus.hears().iter().filter(|k| **k != "power") {
        let why = format!("bus {} cannot do without", bus.named());
        table.text(key, &why)?;
        heard.extend(table.pin(key)?);
    }
    let lines = if bus == Bus::Parallel { heard[..8].to_vec() } else { Vec::new() };
    heard.extend(power);
    let pins = bus == Bus::Spi { by_bytes: false };
    let miso = if pins { table.pin("miso")? } else { None };
    if pins && miso.is_none() {
        table.text("miso", "bus spi cannot do without")?;
    }
    let serial = match bus {
        Bus::Uart { .. } => Some(table.text("serial", "which of the chip's USARTs it is on")?),
        Bus::Spi { by_bytes: true } => {
            table.text("cs", "by which the chip's interface selects it")?;
            Some(table.text("serial", "which of the chip's interfaces it is on")?)
        }
        _ => None,
    };
    let serial = serial.map(str::to_owned);
    let cs = if by_bytes { table.pin("cs")? } else { None };
    let phase = table.number("phase")?.unwrap_or(0.0).fract();
    let tick_ps = part.tick_khz.map(|khz| (0.5e9 / khz).round() as u128);
    if tick_ps == Some(0) || part.tick_khz.is_some_and(|khz| khz.is_nan() || khz <= 0.0) {
        return Err(Table::bad("tick_kHz", "is no frequency; write one above 0"));
    }
    // A frame of the mote is told behind its end: what passes the time in between cannot be stepped beside it.
    let tick_ps = tick_ps.filter(|_| !bus.is_uart());
    let facts = Facts {
        bus,
        tick_ps,
        clock_hz,
        phase: (phase * 2_f64.powi(64)) as u64,
        boot_ps: (part.boot_ms * 1e9).round() as u128,
        always_on: power.is_none(),
        by_bytes,
    };
    let rounds = if part.present_by_rounds { "-rounds" } else { "" };
    let gated = if tick_ps.is_some() { "-gated" } else { "" };
    let timeout = table.number("timeout_bits")?.map_or(String::new(), |n| format!("-timeout{n}"));
    let model = Model::open(&find(&format!("{}{rounds}{gated}{timeout}", bus.named()))?)?;
    let irq = table.pin("irq")?;
    let (part, handle) = Coprocessor::new(model, facts, Wires { lines, miso, irq, heard });
    Ok(Wired { part, handle, serial, cs })
}

fn bus_of(table: &Table<'_>, clock_hz: u64) -> Result<Bus, HdlError> {
    match table.text("bus", "parallel, spi or uart")? {
        "parallel" => Ok(Bus::Parallel),
        "spi" => Ok(Bus::Spi { by_bytes: !table.0.contains_key("sck") }),
        "uart" => {
            table.text("baud", "the rate of the mote's USART")?;
            let baud = table.number("baud")?.filter(|b| *b > 0.0);
            let baud = baud.ok_or_else(|| Table::bad("baud", "is 0; give the mote's rate"))?;
            let divider = (clock_hz as f64 / baud).round() as u64;
            let off = (clock_hz as f64 / (divider as f64 * baud) - 1.0).abs();
            // Half a bit over ten bits is 5 %; the rest is for the mote's own rate and the edge's sampling.
            if divider < 8 || off > 0.02 {
                return Err(Table::bad(
                    "baud",
                    format!(
                        "{baud} does not divide the clock of {:.3} MHz within 2 %, or by less than 8",
                        clock_hz as f64 * 1e-6
                    ),
                ));
            }
            Ok(Bus::Uart { divider })
        }
        other => Err(Table::bad("bus", format!("`{other}` is none; write parallel, spi or uart"))),
    }
}

fn check_clock(
    part: &FpgaPart,
    table: &Table<'_>,
    bus: Bus,
    clock_mhz: f64,
    mote_hz: Option<f64>,
) -> Result<(), HdlError> {
    let bad = |reason: String| Err(HdlError::Clock { clock_mhz, reason });
    if clock_mhz > part.clock_max_mhz {
        return bad(format!("is above the {} MHz that the design reaches", part.clock_max_mhz));
    }
    let wake = if part.tick_khz.is_some() { WAKE_CLOCKS } else { 0.0 };
    let (key, clocks, what) = match bus {
        Bus::Parallel => ("read_cycles", READ_CLOCKS + wake, "reads the answer after its toggle"),
        Bus::Spi { by_bytes: false } => ("sck_cycles", SCK_CLOCKS, "ends a period of SCK"),
        // The rate is its program's: each edge is held to the contract.
        Bus::Spi { by_bytes: true } | Bus::Uart { .. } => return Ok(()),
    };
    let Some(mote_hz) = mote_hz else { return Ok(()) };
    table.text(key, "the mote's cycles that the clock is held to")?;
    let cycles = table.number(key)?.filter(|c| *c > 0.0);
    let cycles = cycles.ok_or_else(|| Table::bad(key, "is 0; count the driver's cycles"))?;
    let least_mhz = clocks * mote_hz / cycles * 1e-6;
    if clock_mhz < least_mhz {
        return bad(format!(
            "is too slow for the bus: in {cycles} cycles of {:.4} MHz the mote {what}, which must be {clocks} clocks of the coprocessor, so at least {least_mhz:.2} MHz",
            mote_hz * 1e-6
        ));
    }
    Ok(())
}
