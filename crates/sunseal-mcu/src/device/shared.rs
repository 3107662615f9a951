// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts that devices of several families have alike.

use super::{Device, DeviceError, block};

block!(
    /// The built-in voltage reference.
    Reference {
        /// Levels by the value of REFVSEL.
        @rename = "levels_V" levels_v: Vec<f64>,
        @rename = "avcc_min_V" avcc_min_v: Vec<f64>,
        settle_us: f64,
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
    /// AES accelerator: MCLK cycles with keys of 128, 192 and 256 bits.
    Aes {
        encrypt_cycles: [u16; 3],
        decrypt_cycles: [u16; 3],
        round_key_cycles: [u16; 3],
        decrypt_round_key_cycles: [u16; 3],
    }
);

impl Reference {
    /// That each level of REFVSEL is there, with its least supply.
    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        if self.levels_v.len() == 4 && self.avcc_min_v.len() == 4 {
            return Ok(());
        }
        device.wrong("ref needs 4 levels with their least supplies".to_owned())
    }
}
