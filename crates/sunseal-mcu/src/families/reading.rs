// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices by their files: read, and held to what their family can make.

use std::path::Path;

use sunseal_data::{Room, Table};

use crate::device::{Device, DeviceError};

/// The device files that are built in, by name.
const BUILT_IN: [(&str, &str); 8] = [
    ("atmega128l", include_str!("../../../../data/devices/atmega128l.toml")),
    ("msp430f1611", include_str!("../../../../data/devices/msp430f1611.toml")),
    ("msp430f5438a", include_str!("../../../../data/devices/msp430f5438a.toml")),
    ("msp430fr5969", include_str!("../../../../data/devices/msp430fr5969.toml")),
    ("msp430fr5994", include_str!("../../../../data/devices/msp430fr5994.toml")),
    ("msp430fr6989", include_str!("../../../../data/devices/msp430fr6989.toml")),
    ("msp432p401r", include_str!("../../../../data/devices/msp432p401r.toml")),
    ("stm32l476rg", include_str!("../../../../data/devices/stm32l476rg.toml")),
];

impl Device {
    /// The MSP430F5438A, from the data file built in.
    ///
    /// # Panics
    /// Never: a test reads the same file.
    #[must_use]
    pub fn msp430f5438a() -> Self {
        Self::named("msp430f5438a").expect("the built-in device file is valid")
    }

    /// The names of the devices that are built in.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|d| d.0).collect()
    }

    /// A device that is built in.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn named(name: &str) -> Result<Self, DeviceError> {
        let (_, text) = BUILT_IN
            .iter()
            .find(|d| d.0 == name)
            .ok_or_else(|| DeviceError::Unknown(name.to_owned()))?;
        Self::parse(text)
    }

    /// Device data from a file with what it extends: a file beside it, or a device that is built in.
    ///
    /// # Errors
    /// If a file cannot be read or is not valid.
    pub fn load(path: &Path) -> Result<Self, DeviceError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(&Room::with_built_in("devices", folder, &BUILT_IN), path)
    }

    /// Device data from a file with what it extends in a room.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn read(room: &Room, path: &Path) -> Result<Self, DeviceError> {
        let shown = || path.display().to_string();
        std::fs::metadata(path).map_err(|source| DeviceError::Read { path: shown(), source })?;
        let told = room.read_file(path).map_err(|e| match e.path {
            Some(at) if at == path => DeviceError::Parse(e.reason.into()),
            _ => DeviceError::Parse(e),
        });
        told.and_then(Self::of)
            .map_err(|error| DeviceError::InFile { path: shown(), error: Box::new(error) })
    }

    /// Device data from text.
    ///
    /// # Errors
    /// If the text has unknown or missing keys, or values that contradict one another.
    pub fn parse(text: &str) -> Result<Self, DeviceError> {
        Self::of(sunseal_data::parse(text)?)
    }

    fn of(own: Table) -> Result<Self, DeviceError> {
        let device = Self::told(own)?;
        device.check_family()?;
        Ok(device)
    }
}
