// SPDX-License-Identifier: MIT OR Apache-2.0
//! The own current of whole chips: charger and converter of one file are halves of one chip, and whoever takes a half
//! pays for the other.

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_data::{Room, sourced};

use crate::parts::part_table;
use crate::{ChargerPart, ConverterPart, PartError, load_part};

sourced! {
    /// A chip that is charger and converter at once, by what its sheet prints of it whole.
    pub struct ChipPart {
        /// Own current with both halves enabled and asleep between their pulses.
        #[serde(rename = "quiescent_nA")]
        pub quiescent_na: f64,
    }
}

/// Two figures of a sheet are rounded, each to so much of the whole.
const ROUNDED: f64 = 0.01;

impl ChipPart {
    /// Checks what a file says of its halves against the whole.
    ///
    /// # Errors
    /// A clause, if the halves do not add up to the chip, or the table is missing or speaks of no two halves.
    pub fn check(
        chip: Option<&Self>,
        charger: Option<&ChargerPart>,
        converter: Option<&ConverterPart>,
    ) -> Result<(), String> {
        let (charger, converter, chip) = match (charger, converter, chip) {
            (Some(a), Some(b), Some(chip)) => (a, b, chip),
            (Some(_), Some(_), None) => {
                return Err(
                    "has [charger] and [converter] and no table [chip]: say by chip.quiescent_nA what its sheet prints for the whole"
                        .to_owned(),
                );
            }
            (_, _, Some(_)) => {
                return Err(
                    "has a table [chip], which is for a file with [charger] and [converter]; the one half's own current is the whole chip's"
                        .to_owned(),
                );
            }
            _ => return Ok(()),
        };
        let (first, second) = (charger.quiescent_na, converter.quiescent_ua * 1e3);
        let sum = first + second;
        if (sum - chip.quiescent_na).abs() <= ROUNDED * chip.quiescent_na {
            return Ok(());
        }
        let side = if sum < chip.quiescent_na { "less" } else { "more" };
        Err(format!(
            "says that its halves draw {first} nA (charger) and {second:.6} nA (converter), which is {side} than the {} nA of chip.quiescent_nA; the two must add up to the whole",
            chip.quiescent_na
        ))
    }
}

/// Currents that the electronics of a supply take for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnCurrents {
    /// Always, while the source gives what a charger runs from.
    pub lit_a: f64,
    /// Always, while it does not.
    pub dark_a: f64,
    /// Beside that, while the output is on.
    pub on_a: f64,
    /// Beside that, while the output is off.
    pub off_a: f64,
}

impl OwnCurrents {
    /// The own currents of a charger's chip and of an output's, which may be the same: each chip counts whole, also
    /// the half of it that nobody uses.
    ///
    /// # Errors
    /// If there is no such part, or its halves do not add up.
    pub fn of(
        parts: &Room,
        charger: Option<&str>,
        converter: Option<&str>,
    ) -> Result<Self, PartError> {
        let mut own = Self::default();
        if let Some(name) = charger {
            let chip = Halves::load(parts, name)?;
            let half: ChargerPart = load_part(parts, name, "charger")?;
            own.lit_a += half.quiescent_na * 1e-9;
            own.dark_a += half.asleep_na.unwrap_or(half.quiescent_na) * 1e-9;
            if let (Some(unused), true) = (&chip.converter, converter != Some(name)) {
                own.lit_a += unused.shutdown_ua * 1e-6;
                own.dark_a += unused.shutdown_ua * 1e-6;
            }
        }
        if let Some(name) = converter {
            let chip = Halves::load(parts, name)?;
            let half: ConverterPart = load_part(parts, name, "converter")?;
            own.on_a = half.quiescent_ua * 1e-6;
            own.off_a = half.shutdown_ua * 1e-6;
            if let (Some(unused), true) = (&chip.charger, charger != Some(name)) {
                // Nothing is at its input.
                let idle_na = unused.disabled_na.or(unused.asleep_na);
                let idle_a = idle_na.unwrap_or(unused.quiescent_na) * 1e-9;
                own.lit_a += idle_a;
                own.dark_a += idle_a;
            }
        }
        Ok(own)
    }
}

/// Halves of a chip that a file has.
struct Halves {
    charger: Option<ChargerPart>,
    converter: Option<ConverterPart>,
}

impl Halves {
    fn load(parts: &Room, name: &str) -> Result<Self, PartError> {
        let chip: Option<ChipPart> = part_table(parts, name, "chip")?;
        let charger: Option<ChargerPart> = part_table(parts, name, "charger")?;
        let converter: Option<ConverterPart> = part_table(parts, name, "converter")?;
        ChipPart::check(chip.as_ref(), charger.as_ref(), converter.as_ref())
            .map_err(|reason| PartError::Whole { part: name.to_owned(), reason })?;
        Ok(Self { charger, converter })
    }
}
