// SPDX-License-Identifier: MIT OR Apache-2.0
//! A radio on a machine, as table `[radio]` of a board's file says it.

use std::collections::BTreeMap;

use sunseal_mcu::{Machine, MachineError};
use sunseal_part::{Pin, PinError, Wiring};

use crate::air::Air;
use crate::cc1000::Cc1000Pins;
use crate::cc2420::Cc2420Pins;
use crate::cc2500::RadioPins;
use crate::cc2520::Cc2520Pins;
use crate::chip::{Radio, RadioHandle};
use crate::medium::{Medium, Port, Position};
use crate::parts::{RadioPart, ReceiverPart};

/// Path loss to a gateway's antenna: what a GatewayAir reports of a packet is -60 dBm.
const GATEWAY_LOSS_DB: f64 = 60.0;

/// Air in which a board's antenna stands, and who hears it.
pub enum Antenna<'a> {
    /// Among others on a medium.
    On(&'a Medium, Position),
    /// Alone, with a gateway: a chip that sends whole frames of the link layer as its packets hands them to the air
    /// itself, any other is heard by the gateway's antenna on the medium.
    Gateway(&'a Medium, Box<dyn Air>),
}

impl Antenna<'_> {
    /// The place on a medium of a chip that is heard by its bits.
    fn port(self, receiver: ReceiverPart) -> Port {
        match self {
            Self::On(medium, position) => medium.join(position, receiver),
            Self::Gateway(medium, air) => {
                medium.set_gateway(air, GATEWAY_LOSS_DB);
                medium.join(Position::default(), receiver)
            }
        }
    }
}

/// Mistake in the wiring of a board's radio.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WiringError {
    /// A pin that is none.
    #[error("[radio] {key}: {source}")]
    Pin {
        /// Key of the board's file.
        key: String,
        /// Reason for which the pin is refused.
        source: PinError,
    },
    /// A connection that the chip does not have.
    #[error("[radio] {key} is no connection of a {model}; its own are {known}")]
    Key {
        /// Key of the board's file.
        key: String,
        /// Model of the chip.
        model: &'static str,
        /// Pins or keys that it has.
        known: String,
    },
    /// A connection that must be there.
    #[error("[radio] {key} is missing; a {model} cannot be spoken to without it")]
    Missing {
        /// Key of the board's file.
        key: &'static str,
        /// Model of the chip.
        model: &'static str,
    },
    /// A channel of the converter that is none.
    #[error(
        "[radio] rssi: `{text}` is no channel of the converter; write ADC and its number, as in ADC0"
    )]
    Channel {
        /// Text that was asked for.
        text: String,
    },
    /// It has no model.
    #[error("the messages of a {device} are priced; no program can drive it here")]
    Priced {
        /// Name of the chip.
        device: String,
    },
    /// The machine has no such interface.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

impl RadioPart {
    /// Figures of its receiver.
    #[must_use]
    pub fn receiver(&self) -> ReceiverPart {
        match self {
            Self::Cc2500(p) => p.receiver,
            Self::Cc2420(p) => p.receiver,
            Self::Cc2520(p) => p.receiver,
            Self::Cc1000(p) => p.receiver,
            Self::Priced(_) => ReceiverPart::default(),
        }
    }

    /// Every state that it can be in, as the ledger names it: its power set must know them all.
    #[must_use]
    pub fn states(&self) -> Vec<&'static str> {
        match self {
            Self::Cc2500(_) => crate::cc2500::states(),
            Self::Cc2420(_) => crate::cc2420::states(),
            Self::Cc2520(_) => crate::cc2520::states(),
            Self::Cc1000(_) => crate::cc1000::states(),
            Self::Priced(_) => Vec::new(),
        }
    }

    /// The wires of another radio that this one has, too: its serial interface and the pins of the same name.
    ///
    /// # Errors
    /// The key of a connection that it needs and that is not among them.
    pub fn wires_of(
        &self,
        wiring: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, &'static str> {
        let (must, may) = self.keys();
        if let Some(missing) = must.iter().find(|key| !wiring.contains_key(**key)) {
            return Err(missing);
        }
        let serial = ["serial", "usci", "simo", "somi", "clk"];
        let has = |key: &str| serial.contains(&key) || must.contains(&key) || may.contains(&key);
        Ok(wiring.iter().filter(|(key, _)| has(key)).map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    /// Keys of `[radio]` that name its connections: those that must be there, and the others.
    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Cc2500(_) => (&["csn"], &["somi", "gdo0", "gdo2"]),
            Self::Cc2420(_) => (&["csn"], &["fifo", "fifop", "sfd", "cca", "vreg_en", "resetn"]),
            Self::Cc2520(_) => (
                &["csn"],
                &[
                    "somi", "gpio0", "gpio1", "gpio2", "gpio3", "gpio4", "gpio5", "vreg_en",
                    "resetn",
                ],
            ),
            Self::Cc1000(_) => (&["pale", "pclk", "pdata"], &["dio", "dclk", "rssi"]),
            Self::Priced(_) => (&[], &[]),
        }
    }
}

/// The number of a channel of the analogue to digital converter.
fn channel(text: &str) -> Result<u8, WiringError> {
    let number = text.strip_prefix("ADC").and_then(|n| n.parse().ok());
    number.ok_or_else(|| WiringError::Channel { text: text.to_owned() })
}

/// The pins by their keys, and the converter's channel of an analogue output.
fn read_wires<'a>(
    part: &RadioPart,
    wiring: &'a BTreeMap<String, String>,
) -> Result<(BTreeMap<&'a str, Pin>, Option<u8>), WiringError> {
    let model = part.model();
    let (must, may) = part.keys();
    let mut pins: BTreeMap<&str, Pin> = BTreeMap::new();
    let mut rssi = None;
    for (key, text) in wiring {
        let key = key.as_str();
        match key {
            "part" | "message" | "serial" | "usci" => continue,
            "simo" | "somi" | "clk" => {}
            "rssi" if may.contains(&key) => {
                rssi = Some(channel(text)?);
                continue;
            }
            _ if must.contains(&key) || may.contains(&key) => {}
            _ => {
                let known = ["serial"].iter().chain(must).chain(may).copied().collect::<Vec<_>>();
                let (key, known) = (key.to_owned(), known.join(", "));
                return Err(WiringError::Key { key, model, known });
            }
        }
        let pin =
            text.parse().map_err(|source| WiringError::Pin { key: key.to_owned(), source })?;
        pins.insert(key, pin);
    }
    if let Some(key) = must.iter().find(|k| !pins.contains_key(*k)) {
        return Err(WiringError::Missing { key, model });
    }
    Ok((pins, rssi))
}

/// The chip with its pins; without a serial interface it has its data by `dio` and `dclk`.
fn made(
    part: RadioPart,
    pin: &dyn Fn(&str) -> Option<Pin>,
    by_pins: bool,
    antenna: Antenna<'_>,
) -> (Radio, RadioHandle) {
    let receiver = part.receiver();
    let port = |antenna: Antenna<'_>| antenna.port(receiver);
    match (part, antenna) {
        (RadioPart::Cc2500(p), Antenna::Gateway(_, air)) => {
            Radio::cc2500(p, RadioPins::by_key(pin), air)
        }
        (RadioPart::Cc2500(p), on) => Radio::cc2500_on(p, RadioPins::by_key(pin), port(on)),
        (RadioPart::Cc2420(p), antenna) => {
            Radio::cc2420(p, Cc2420Pins::by_key(pin), Some(port(antenna)))
        }
        (RadioPart::Cc2520(p), antenna) => {
            let gpio = ["gpio0", "gpio1", "gpio2", "gpio3", "gpio4", "gpio5"].map(pin);
            let wired = Cc2520Pins {
                gpio,
                somi: pin("somi"),
                vreg_en: pin("vreg_en"),
                resetn: pin("resetn"),
            };
            Radio::cc2520(p, wired, Some(port(antenna)))
        }
        (RadioPart::Cc1000(p), antenna) => {
            let wired = |key: &str| pin(key).filter(|_| by_pins || !matches!(key, "dio" | "dclk"));
            Radio::cc1000(p, Cc1000Pins::by_key(wired), Some(port(antenna)))
        }
        (RadioPart::Priced(_), _) => unreachable!("refused by attach"),
    }
}

/// Puts a radio on a machine and switches its supply as the machine's. `wiring` is the board's table
/// `[radio]` without `part`: `serial` (or `usci`) names the serial interface, `rssi` the channel of the analogue to
/// digital converter that an analogue output leads to, the other keys the pins of the microcontroller. The lines of
/// the serial interface itself (`simo`, `clk`, also `somi`) may be named and need not; `part` and `message` say which
/// radio it is.
///
/// # Errors
/// If the chip has no such connection, lacks one, or the machine has no such interface.
pub fn attach(
    machine: &mut Machine,
    part: RadioPart,
    wiring: &BTreeMap<String, String>,
    antenna: Antenna<'_>,
) -> Result<RadioHandle, WiringError> {
    let model = part.model();
    if let RadioPart::Priced(p) = part {
        return Err(WiringError::Priced { device: p.device });
    }
    let (pins, rssi) = read_wires(&part, wiring)?;
    let pin = |key: &str| pins.get(key).copied();
    let serial = wiring.get("serial").or_else(|| wiring.get("usci")).map(String::as_str);
    if serial.is_none() && pin("dio").is_none() {
        return Err(WiringError::Missing { key: "serial", model });
    }
    let (radio, handle) = made(part, &pin, serial.is_none(), antenna);
    let now = machine.time();
    let on = machine.is_powered();
    let csn = pin("csn");
    machine.attach_part("radio", Wiring { serial, cs: csn }, Box::new(radio))?;
    if on {
        if let Some(part) = machine.part("radio") {
            part.power(now, true);
        }
        machine.sync_parts();
    }
    if let Some(channel) = rssi {
        let handle = handle.clone();
        machine.adc_input(channel, Box::new(move |probe| handle.rssi_v(probe.time)));
    }
    Ok(handle)
}
