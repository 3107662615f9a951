// SPDX-License-Identifier: MIT OR Apache-2.0
//! Radios of `data/parts`, table `[radio]`: what a model needs beside its registers. Currents are in
//! `data/power`.

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_data::sourced;

/// How well a receiver hears, and what beside its channel.
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
    /// How much weaker a sender on the next channel is heard.
    #[serde(rename = "adjacent_dB")]
    pub adjacent_db: f64,
    /// And one further away.
    #[serde(rename = "alternate_dB")]
    pub alternate_db: f64,
}

/// What a message costs: bits at a rate, in the state of an output power.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagePart {
    /// The part's name, with its band where it has several.
    pub name: String,
    /// Its carrier, for path losses.
    #[serde(rename = "carrier_MHz")]
    pub carrier_mhz: f64,
    /// Payload.
    pub rate_bit_s: f64,
    /// Bytes of a packet around its frame: preamble, synchronisation, length, CRC.
    pub overhead_bytes: u32,
    /// From the state of least current to where a packet can begin, once a message: states with their
    /// times in microseconds.
    pub wake: Vec<(String, f64)>,
    /// The same before each packet.
    pub settle: Vec<(String, f64)>,
    /// State of the receiver.
    pub receive: String,
    /// Output power in dBm, and the state that gives it.
    pub send: Vec<(f64, String)>,
    /// Document and place.
    pub source: String,
}

macro_rules! part {
    ($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $key:ident: $type:ty,)* }) => {
        sourced! {
            $(#[$doc])*
            #[derive(Default)]
            pub struct $name {
                /// Which model of this room it is.
                #[serde(default)]
                pub model: String,
                /// The power set that speaks for it.
                pub power_set: String,
                /// Its state with least current.
                pub asleep: String,
                /// Reference crystal.
                #[serde(rename = "crystal_MHz")]
                pub crystal_mhz: f64,
                /// Start of the crystal oscillator.
                pub crystal_start_us: f64,
                $($(#[$field])* pub $key: $type,)*
                /// Its receiver.
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
    /// A CC2500.
    Cc2500Part {
        /// IDLE to RX, TX or FSTXON without calibration.
        settle_us: f64,
        /// IDLE to RX, TX or FSTXON with calibration.
        settle_with_calibration_us: f64,
        /// RX to the first valid carrier sense.
        carrier_sense_us: f64,
        /// Calibration by strobe, or on the way to IDLE.
        calibrate_us: f64,
        /// RX to TX.
        rx_to_tx_us: f64,
        /// TX to RX.
        tx_to_rx_us: f64,
        /// Bytes of each FIFO.
        fifo_bytes: u32,
    }
}

part! {
    /// A CC2420.
    Cc2420Part {
        /// VREG_EN to a stable core supply.
        regulator_start_us: f64,
        /// One AES block.
        aes_block_us: f64,
        /// RSSI_VAL at an input of 0 dBm, negated.
        #[serde(rename = "rssi_offset_dBm")]
        rssi_offset_dbm: f64,
        /// Bytes of each FIFO.
        fifo_bytes: u32,
    }
}

part! {
    /// A CC2520.
    Cc2520Part {
        /// VREG_EN to a stable core supply.
        regulator_start_us: f64,
        /// One AES block.
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
    /// A CC1000.
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

/// A radio.
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
}

impl RadioPart {
    /// Its model: also the device of its power set.
    #[must_use]
    pub fn model(&self) -> &'static str {
        match self {
            Self::Cc2500(_) => "cc2500",
            Self::Cc2420(_) => "cc2420",
            Self::Cc2520(_) => "cc2520",
            Self::Cc1000(_) => "cc1000",
        }
    }

    /// The power set that speaks for it.
    #[must_use]
    pub fn power_set(&self) -> &str {
        match self {
            Self::Cc2500(p) => &p.power_set,
            Self::Cc2420(p) => &p.power_set,
            Self::Cc2520(p) => &p.power_set,
            Self::Cc1000(p) => &p.power_set,
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
