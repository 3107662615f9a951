// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inputs of a node: voltages at channels of its converter, devices on its buses.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sunseal_board::Board;
use sunseal_mcu::{Machine, Part, Pin, Wiring};
use sunseal_power::PowerSet;
use sunseal_trace::Picos;

use crate::NodeError;

/// Times in seconds, which rise, and volts.
type Points = Vec<(f64, f64)>;

/// A voltage at a channel of the analogue to digital converter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Voltage {
    /// Always the same, in volts.
    Steady(f64),
    /// A CSV file of seconds and volts, from the scenario's folder, with straight lines between its points.
    File(PathBuf),
}

/// A device on one of the chip's serial interfaces.
pub struct BusDevice {
    /// Component of the ledger.
    pub name: String,
    /// The interface that speaks the bus, as the device's data call it: "eusci_b0".
    pub serial: String,
    /// Pin that selects it, on SPI.
    pub select: Option<Pin>,
    /// Part that answers on the bus.
    pub part: Box<dyn Part>,
    /// Current that it draws in each state, in amperes.
    pub current_a: BTreeMap<String, f64>,
}

/// Things that a node is given at its inputs, for checkpoints to know it by.
pub(crate) struct Given {
    /// Voltages that each channel of the converter sees over time, in volts.
    pub adc: BTreeMap<u8, Points>,
    /// State that each device would keep of itself before the run.
    pub devices: Vec<Vec<u8>>,
}

/// Says what is wrong with points of a voltage, if anything.
///
/// # Errors
/// If there are none, a number is not finite, or time does not rise.
pub fn check_points(points: &[(f64, f64)]) -> Result<(), String> {
    let rising = points.windows(2).all(|p| p[0].0 < p[1].0);
    if points.is_empty() || !rising || !points.iter().all(|p| p.0.is_finite() && p.1.is_finite()) {
        return Err("the points of a voltage have finite times that rise".to_owned());
    }
    Ok(())
}

/// The voltage at a time: straight between points, and level before the first and behind the last.
#[must_use]
pub fn voltage_at(points: &[(f64, f64)], time: Picos) -> f64 {
    let t = time.0 as f64 * 1e-12;
    match points.partition_point(|p| p.0 <= t) {
        0 => points[0].1,
        n if n == points.len() => points[n - 1].1,
        n => {
            let ((t0, v0), (t1, v1)) = (points[n - 1], points[n]);
            v0 + (v1 - v0) * (t - t0) / (t1 - t0)
        }
    }
}

fn channel(key: &str) -> Option<u8> {
    key.parse().ok().filter(|n: &u8| n.to_string() == key)
}

/// Checks table `[adc]` as far as it needs no file.
pub(crate) fn check(adc: &BTreeMap<String, Voltage>) -> Result<(), String> {
    for (key, voltage) in adc {
        if channel(key).is_none() {
            return Err(format!(
                "adc.{key} is no channel of a converter; a channel is a number from 0 to 255, such as `3 = 1.2`"
            ));
        }
        match voltage {
            Voltage::Steady(v) if !v.is_finite() || *v < 0.0 => {
                return Err(format!(
                    "adc.{key} is {v}; it must be a number of volts, zero or more"
                ));
            }
            Voltage::File(path) if path.extension().is_none_or(|e| e != "csv") => {
                return Err(format!(
                    "adc.{key} is {:?}; write volts as a number, or the name of a .csv file of seconds and volts",
                    path.display().to_string()
                ));
            }
            Voltage::Steady(_) | Voltage::File(_) => {}
        }
    }
    Ok(())
}

/// Takes the names of files from the scenario's folder.
pub(crate) fn from_folder(adc: &mut BTreeMap<String, Voltage>, folder: &Path) {
    for voltage in adc.values_mut() {
        if let Voltage::File(path) = voltage {
            *path = folder.join(&*path);
        }
    }
}

/// Reads table `[adc]`, files included.
pub(crate) fn read(
    adc: &BTreeMap<String, Voltage>,
    board: &Board,
) -> Result<BTreeMap<u8, Points>, String> {
    let own = board.storage_sense.as_ref().map(|s| s.adc_channel);
    let mut all = BTreeMap::new();
    for (key, voltage) in adc {
        let n = channel(key).ok_or_else(|| format!("adc.{key} is no channel of a converter"))?;
        if own == Some(n) {
            return Err(format!(
                "adc.{key} stands at the store's voltage on {}; leave it out",
                board.name
            ));
        }
        let points = match voltage {
            Voltage::Steady(v) => vec![(0.0, *v)],
            Voltage::File(path) => read_file(path).map_err(|e| format!("adc.{key}: {e}"))?,
        };
        all.insert(n, points);
    }
    Ok(all)
}

/// The same rules as those of `sunseal run --adc`.
fn read_file(path: &Path) -> Result<Points, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{shown} cannot be read: {e}"))?;
    let mut points = Points::new();
    for (n, line) in text.lines().enumerate().map(|(n, l)| (n + 1, l.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let numbers: Vec<f64> = cells.iter().filter_map(|c| c.parse().ok()).collect();
        let &[time_s, volts] = numbers.as_slice() else {
            let names = |c: &&str| !c.is_empty() && !c.starts_with(|d: char| d.is_ascii_digit());
            if n == 1 && cells.iter().all(names) {
                continue;
            }
            return Err(format!(
                "{shown} line {n} is not a time in seconds and a value: write `0.25,1.2`"
            ));
        };
        if cells.len() != 2 {
            return Err(format!(
                "{shown} line {n} is not a time in seconds and a value: write `0.25,1.2`"
            ));
        }
        if !(time_s.is_finite() && volts.is_finite()) {
            return Err(format!("{shown} line {n} holds what is no finite number: `{line}`"));
        }
        if points.last().is_some_and(|p| time_s <= p.0) {
            return Err(format!(
                "{shown} line {n} does not come after the line before it: its time must rise"
            ));
        }
        points.push((time_s, volts));
    }
    if points.is_empty() {
        return Err(format!("{shown} holds no points: write lines such as `0.25,1.2`"));
    }
    Ok(points)
}

/// Connects voltages to a machine's converter.
pub(crate) fn connect(machine: &mut Machine, adc: &BTreeMap<u8, Points>) {
    for (channel, points) in adc {
        let points = points.clone();
        machine.adc_input(*channel, Box::new(move |probe| voltage_at(&points, probe.time)));
    }
}

/// The devices' currents as a power set, where there are any; a typical figure is taken to be within a half, assumed.
pub(crate) fn prices(devices: &[BusDevice]) -> Result<Option<PowerSet>, NodeError> {
    if devices.is_empty() {
        return Ok(None);
    }
    let mut text = "[set]\nname = \"devices\"\ntitle = \"Devices on buses\"\ndevice = \"devices\"\n\
                    cite = \"\"\n[source.device]\ndocument = \"the device\"\nplace = \"its currents by state\"\n"
        .to_owned();
    for device in devices {
        for (state, current_a) in &device.current_a {
            let _ = write!(
                text,
                "[[current]]\ncomponent = {:?}\nstate = {state:?}\nlaw = \"constant\"\nsource = \"device\"\ntyp_ua = {:e}\nuncertainty_rel = 0.5\n",
                device.name,
                current_a * 1e6
            );
        }
    }
    Ok(Some(PowerSet::parse(&text, Path::new("devices.toml"))?))
}

/// Puts devices on a machine's buses.
pub(crate) fn attach(machine: &mut Machine, devices: Vec<BusDevice>) -> Result<(), NodeError> {
    for device in devices {
        let wiring = Wiring { serial: Some(&device.serial), cs: device.select };
        machine.attach_part(&device.name, wiring, device.part)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voltage_is_straight_between_its_points_and_level_beyond_them() {
        let points = [(1.0, 0.5), (2.0, 1.5)];
        let at = |s: f64| voltage_at(&points, Picos((s * 1e12) as u128));
        assert_eq!([0.0, 1.0, 1.25, 2.0, 9.0].map(at), [0.5, 0.5, 0.75, 1.5, 1.5]);
        for bad in [&[][..], &[(1.0, 0.5), (1.0, 0.6)], &[(0.0, f64::NAN)]] {
            assert!(check_points(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_file_of_points_with_a_gap_names_its_line() {
        let folder = std::env::temp_dir().join(format!("sunseal-adc-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("v.csv");
        let said = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_file(&path).unwrap_err()
        };
        assert!(said("time_s,volts\n0,1\n1\n").contains("line 3 is not a time"));
        assert!(said("0,1\n1,\n").contains("line 2 is not a time"));
        assert!(said("0,1\n1,nan\n").contains("line 2 holds what is no finite number"));
        assert!(said("0,1\n0,2\n").contains("line 2 does not come after"));
        assert!(said("# nothing\n").contains("holds no points"));
        std::fs::write(&path, "time_s,volts\n# comment\n0, 1\n\n2,0.5\n").unwrap();
        assert_eq!(read_file(&path).unwrap(), [(0.0, 1.0), (2.0, 0.5)]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
