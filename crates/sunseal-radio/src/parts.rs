// SPDX-License-Identifier: MIT OR Apache-2.0
//! Radios of `data/parts`, table `[radio]`: what a model needs beside its registers. Currents are in
//! `data/power`.

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_data::sourced;

/// Sensitivity of a receiver, and its selectivity beside its channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiverPart {
    /// Input power at which so many packets are lost.
    #[serde(rename = "sensitivity_dBm")]
    pub sensitivity_dbm: f64,
    /// Share of bits that are wrong there.
    pub sensitivity_ber: f64,
    /// Distance of two channels.
    #[serde(rename = "channel_MHz")]
    pub channel_mhz: f64,
    /// Attenuation of a sender on the next channel.
    #[serde(rename = "adjacent_dB")]
    pub adjacent_db: f64,
    /// And one further away.
    #[serde(rename = "alternate_dB")]
    pub alternate_db: f64,
}

/// Cost of a message: bits at a rate, or symbols of LoRa, in the state of an output power.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagePart {
    /// The part's name, with its band where it has several.
    pub name: String,
    /// Its carrier, for path losses.
    #[serde(rename = "carrier_MHz")]
    pub carrier_mhz: f64,
    /// Bits a second, of a radio that sends them one after the other.
    pub rate_bit_s: Option<f64>,
    /// Modulation and packet of a radio that sends LoRa.
    pub lora: Option<LoraPart>,
    /// Bytes of a packet around its frame: preamble, synchronisation, length, CRC; of LoRa those of its payload alone.
    #[serde(default)]
    pub overhead_bytes: f64,
    /// Longest frame that a packet holds, where that is shorter than the link layer's.
    pub frame_max_bytes: Option<u32>,
    /// Input power at which so many packets are lost; else the receiver's.
    #[serde(rename = "sensitivity_dBm")]
    pub sensitivity_dbm: Option<f64>,
    /// From the state of least current to where a packet can begin, once a message: states with their
    /// times in microseconds.
    pub wake: Vec<(String, f64)>,
    /// The same before each packet.
    pub settle: Vec<(String, f64)>,
    /// State of the receiver.
    pub receive: String,
    /// Output power in dBm, and the state that gives it.
    pub send: Vec<(f64, String)>,
    /// Document, and the place in it.
    pub source: String,
    /// True if a figure is unchecked: from memory, not from its document.
    #[serde(default)]
    pub recalled: bool,
}

/// Generation of Semtech's modems: they differ in how they send at the two lowest spreading factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoraModem {
    /// SX1272 to SX1279: spreading factors 6 to 12, at 6 without an explicit header.
    Sx127x,
    /// SX1261, SX1262, SX1268: 5 to 12.
    Sx126x,
}

/// Settings with which a LoRa packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoraPart {
    /// Generation of the modem.
    pub modem: LoraModem,
    /// Bits of a symbol.
    pub spreading_factor: u32,
    /// Chips a second are as many.
    #[serde(rename = "bandwidth_kHz")]
    pub bandwidth_khz: f64,
    /// Bits that four bits of payload become: 5 to 8.
    pub coding_rate: u32,
    /// Programmed length of the preamble; the modem adds its own 4.25 symbols.
    pub preamble_symbols: u32,
    /// Length and coding rate are agreed on and not sent.
    #[serde(default)]
    pub implicit_header: bool,
    /// True if the payload ends with a CRC.
    #[serde(default = "with_crc")]
    pub crc: bool,
    /// Two bits fewer a symbol, against drift; else where a symbol lasts longer than 16 ms, as the sheets demand.
    pub low_data_rate: Option<bool>,
}

fn with_crc() -> bool {
    true
}

/// Payload that a LoRa packet can have.
const LORA_BYTES_MAX: f64 = 255.0;
/// Symbols longer than this need the low data rate's optimisation.
const LORA_SLOW_S: f64 = 16e-3;

impl LoraPart {
    fn check(&self) -> Result<(), String> {
        let least = if self.modem == LoraModem::Sx126x { 5 } else { 6 };
        if !(least..=12).contains(&self.spreading_factor) {
            let sf = self.spreading_factor;
            return Err(format!("lora.spreading_factor is {sf}; this modem has {least} to 12"));
        }
        if !(5..=8).contains(&self.coding_rate) {
            let bits = self.coding_rate;
            return Err(format!("lora.coding_rate is {bits}; it is 5 to 8, for 4/5 to 4/8"));
        }
        if !(7.8..=500.0).contains(&self.bandwidth_khz) {
            let khz = self.bandwidth_khz;
            return Err(format!("lora.bandwidth_kHz is {khz}; it is 7.8 to 500"));
        }
        if self.modem == LoraModem::Sx127x && self.spreading_factor == 6 && !self.implicit_header {
            return Err(
                "lora.spreading_factor is 6, and this modem has no explicit header there; say implicit_header = true"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Time of a symbol.
    #[must_use]
    pub fn symbol_s(&self) -> f64 {
        f64::from(1u32 << self.spreading_factor) / (self.bandwidth_khz * 1e3)
    }

    /// Quarters of a symbol that a packet of so many bytes lasts: AN1200.13, section 4; SX1276 data sheet, section
    /// 4.1.1.7; SX1261/2 data sheet, section 6.1.4.
    #[must_use]
    pub fn quarter_symbols(&self, payload_bytes: u32) -> u32 {
        let sf = self.spreading_factor;
        let short = self.modem == LoraModem::Sx126x && sf < 7;
        let slow = self.low_data_rate.unwrap_or(self.symbol_s() > LORA_SLOW_S);
        let head = i64::from(!self.implicit_header) * 20 + if short { 0 } else { 8 };
        let bits =
            8 * i64::from(payload_bytes) + i64::from(self.crc) * 16 + head - 4 * i64::from(sf);
        let block = 4 * (i64::from(sf) - 2 * i64::from(slow));
        let blocks = u32::try_from((bits.max(0) + block - 1) / block).unwrap_or(u32::MAX);
        let sync = if short { 25 } else { 17 };
        4 * (self.preamble_symbols + 8 + blocks * self.coding_rate) + sync
    }
}

impl MessagePart {
    /// Checks that a packet's time can be told.
    ///
    /// # Errors
    /// A clause with what is missing, or cannot be.
    pub fn check(&self) -> Result<(), String> {
        let name = &self.name;
        match (self.rate_bit_s, &self.lora) {
            (Some(rate), None) if rate > 0.0 => Ok(()),
            (None, Some(_)) if self.overhead_bytes.fract() != 0.0 || self.overhead_bytes < 0.0 => {
                Err(format!(
                    "message {name}: overhead_bytes is {}; of LoRa they are whole bytes of the payload",
                    self.overhead_bytes
                ))
            }
            (None, Some(lora)) => lora.check().map_err(|e| format!("message {name}: {e}")),
            (Some(rate), None) => {
                Err(format!("message {name}: rate_bit_s is {rate}; it must be above zero"))
            }
            _ => Err(format!("message {name} needs rate_bit_s or a table lora, one of the two")),
        }
    }

    /// Time on the air of one packet with a frame of so many bytes.
    ///
    /// # Errors
    /// A clause, if no packet is that long.
    pub fn airtime_s(&self, frame_bytes: u32) -> Result<f64, String> {
        self.check()?;
        let most = self.frame_max_bytes.unwrap_or(u32::MAX);
        if frame_bytes > most {
            return Err(format!(
                "message {} holds a frame of at most {most} bytes, and {frame_bytes} are asked for",
                self.name
            ));
        }
        let bytes = f64::from(frame_bytes) + self.overhead_bytes;
        match (&self.lora, self.rate_bit_s) {
            (Some(_), _) if bytes > LORA_BYTES_MAX => Err(format!(
                "a LoRa packet holds at most {LORA_BYTES_MAX} bytes, and {bytes} are asked for"
            )),
            (Some(lora), _) => {
                Ok(f64::from(lora.quarter_symbols(bytes as u32)) / 4.0 * lora.symbol_s())
            }
            (None, rate) => Ok(8.0 * bytes / rate.unwrap_or(f64::NAN)),
        }
    }
}

macro_rules! part {
    ($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $key:ident: $type:ty,)* }) => {
        sourced! {
            $(#[$doc])*
            #[derive(Default)]
            pub struct $name {
                /// Model by which this crate plays it.
                #[serde(default)]
                pub model: String,
                /// The power set that speaks for it.
                pub power_set: String,
                /// Its state with least current.
                pub asleep: String,
                /// Frequency of the reference crystal.
                #[serde(rename = "crystal_MHz")]
                pub crystal_mhz: f64,
                /// Start of the crystal oscillator.
                pub crystal_start_us: f64,
                $($(#[$field])* pub $key: $type,)*
                /// Figures of its receiver.
                pub receiver: ReceiverPart,
                /// Messages that can be priced.
                #[serde(default)]
                pub message: Vec<MessagePart>,
                /// Lowest supply voltage at which it works.
                pub vcc_min_v: f64,
                /// Highest supply voltage that it stands.
                pub vcc_max_v: f64,
            }
        }
    };
}

part! {
    /// Figures of a CC2500.
    Cc2500Part {
        /// IDLE to RX, TX or FSTXON without calibration.
        settle_us: f64,
        /// IDLE to RX, TX or FSTXON with calibration.
        settle_with_calibration_us: f64,
        /// RX to the first valid carrier sense.
        carrier_sense_us: f64,
        /// Calibration by strobe, or on the way to IDLE.
        calibrate_us: f64,
        /// Time from RX to TX.
        rx_to_tx_us: f64,
        /// Time from TX to RX.
        tx_to_rx_us: f64,
        /// Bytes of each FIFO.
        fifo_bytes: u32,
        /// True for a chip whose own timer wakes it to listen.
        wake_on_radio: bool,
    }
}

part! {
    /// Figures of a CC2420.
    Cc2420Part {
        /// VREG_EN to a stable core supply.
        regulator_start_us: f64,
        /// Time that one AES block takes.
        aes_block_us: f64,
        /// RSSI_VAL at an input of 0 dBm, negated.
        #[serde(rename = "rssi_offset_dBm")]
        rssi_offset_dbm: f64,
        /// Bytes of each FIFO.
        fifo_bytes: u32,
    }
}

part! {
    /// Figures of a CC2520.
    Cc2520Part {
        /// VREG_EN to a stable core supply.
        regulator_start_us: f64,
        /// Time that one AES block takes.
        aes_block_us: f64,
        /// One byte moved by the data processing unit.
        move_byte_us: f64,
        /// RSSI_VAL at an input of 0 dBm, negated.
        #[serde(rename = "rssi_offset_dBm")]
        rssi_offset_dbm: f64,
        /// Bytes of each FIFO.
        fifo_bytes: u32,
    }
}

part! {
    /// Figures of a CC1000.
    Cc1000Part {
        /// Power-down of the bias generator to a stable bias.
        bias_start_us: f64,
        /// Synthesizer to lock, from power-down or from the other frequency.
        settle_us: f64,
        /// Power amplifier to full power.
        pa_start_us: f64,
        /// Calibration at a reference frequency of 1 MHz.
        calibrate_at_1mhz_us: f64,
    }
}

sourced! {
    /// A radio of which messages are priced; no program can drive it here.
    pub struct PricedPart {
        /// The chip that the power set speaks for.
        pub device: String,
        /// The power set that speaks for it.
        pub power_set: String,
        /// Its state with least current.
        pub asleep: String,
        /// Messages that can be priced.
        pub message: Vec<MessagePart>,
        /// Lowest supply voltage at which it works.
        pub vcc_min_v: f64,
        /// Highest supply voltage that it stands.
        pub vcc_max_v: f64,
    }
}

/// Radio chip, by its model.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "lowercase")]
pub enum RadioPart {
    /// Texas Instruments, 2.4 GHz, proprietary packets.
    Cc2500(Cc2500Part),
    /// Chipcon, 2.4 GHz, IEEE 802.15.4.
    Cc2420(Cc2420Part),
    /// Texas Instruments, 2.4 GHz, IEEE 802.15.4.
    Cc2520(Cc2520Part),
    /// Chipcon, 300 to 1000 MHz, bits.
    Cc1000(Cc1000Part),
    /// Any other: its messages are priced, and it sleeps in the closed loop.
    Priced(PricedPart),
}

impl RadioPart {
    /// Its model in this room.
    #[must_use]
    pub fn model(&self) -> &'static str {
        match self {
            Self::Cc2500(_) => "cc2500",
            Self::Cc2420(_) => "cc2420",
            Self::Cc2520(_) => "cc2520",
            Self::Cc1000(_) => "cc1000",
            Self::Priced(_) => "priced",
        }
    }

    /// The chip that its power set speaks for.
    #[must_use]
    pub fn device(&self) -> &str {
        match self {
            Self::Priced(p) => &p.device,
            simulated => simulated.model(),
        }
    }

    /// Its messages that can be priced.
    #[must_use]
    pub fn messages(&self) -> &[MessagePart] {
        match self {
            Self::Cc2500(p) => &p.message,
            Self::Cc2420(p) => &p.message,
            Self::Cc2520(p) => &p.message,
            Self::Cc1000(p) => &p.message,
            Self::Priced(p) => &p.message,
        }
    }

    /// True if a timer of its own wakes it to listen while the microcontroller sleeps.
    #[must_use]
    pub fn wakes_to_listen(&self) -> bool {
        matches!(self, Self::Cc2500(p) if p.wake_on_radio)
    }

    /// Checks each message.
    ///
    /// # Errors
    /// A clause with the first that cannot be.
    pub fn check(&self) -> Result<(), String> {
        let deaf = self.messages().iter().find(|m| m.sensitivity_dbm.is_none());
        if let (Self::Priced(_), Some(m)) = (self, deaf) {
            return Err(format!(
                "message {} has no sensitivity_dBm, by which links are judged",
                m.name
            ));
        }
        self.messages().iter().try_for_each(MessagePart::check)
    }

    /// The power set that speaks for it.
    #[must_use]
    pub fn power_set(&self) -> &str {
        match self {
            Self::Cc2500(p) => &p.power_set,
            Self::Cc2420(p) => &p.power_set,
            Self::Cc2520(p) => &p.power_set,
            Self::Cc1000(p) => &p.power_set,
            Self::Priced(p) => &p.power_set,
        }
    }
}

impl Cc2500Part {
    /// States and seconds of one packet of so many bytes, its length byte included, from a calibrated synthesizer on:
    /// settling, then preamble (4), synchronisation word (4), the bytes and CRC (2) at the data rate that the node's
    /// program sets (MDMCFG4 and MDMCFG3 of `firmware/node/cc2500.c`). A calibration is beside it.
    #[must_use]
    pub fn packet(&self, packet_bytes: u32) -> [(&'static str, f64); 2] {
        let rate_bd = (256.0 + 59.0) * 2f64.powi(13 - 28) * self.crystal_mhz * 1e6;
        let on_air = f64::from(4 + 4 + packet_bytes + 2) * 8.0;
        [("settle", self.settle_us * 1e-6), ("tx.0dbm", on_air / rate_bd)]
    }
}
