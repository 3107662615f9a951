// SPDX-License-Identifier: MIT OR Apache-2.0
//! Readings that Mane's measurement unit (equations 3.1 and 3.2) would have taken while our program signs: `cargo run
//! --release -p sunseal-board --example measurement_unit [bench.elf]`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sunseal_board::{Board, Trial, limits_of};
use sunseal_data::Library;
use sunseal_mcu::Elf;
use sunseal_power::{MeasurementUnit, PowerModel, PowerSet};
use sunseal_trace::Silent;

fn main() -> ExitCode {
    match table() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("measurement_unit: {e}");
            ExitCode::from(2)
        }
    }
}

fn table() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = Library::from(&root.join("data"));
    let board = Board::load(library.room("boards"), "msp430f5438a-anagear")?;
    let built =
        root.join("firmware/build").join(&board.name).join("mpy-32/bench-ecdsa-secp160r1-sign.elf");
    let path = std::env::args().nth(1).map_or(built, PathBuf::from);
    let bytes = std::fs::read(&path).map_err(|e| {
        format!("{} cannot be read ({e}); `make firmware` builds it", path.display())
    })?;
    let device = board.device(&library)?;
    let mut told = |_| true;
    let parts = library.room("parts");
    let mut trial =
        Trial::new(&board, &parts, &device, Elf::parse(&bytes)?, None, u64::MAX, &mut told)?;
    // d = 1, no added entropy, a message of three bytes: firmware/bench/bench.h.
    let mut input = [0u8; 21 + 32 + 3];
    input[20] = 1;
    input[53..].copy_from_slice(b"abc");
    trial.feed(&input)?;
    let window = trial.measure(&mut Silent)?;

    let set = PowerSet::load(library.room("power"), "mane2014", &board.device)?;
    let model = PowerModel::new(vec![set])?;
    let limits = limits_of(&device);
    println!("{}, {}", path.file_name().unwrap_or_default().to_string_lossy(), model.name());
    println!("  V    MHz   MS/s   energy/mJ  eq. 3.1/mJ   gap/%     cycles    eq. 3.2   clipped/%");
    for (vcc_v, mhz) in [
        (2.0, 3),
        (2.0, 8),
        (2.7, 3),
        (2.7, 9),
        (2.7, 12),
        (2.7, 14),
        (2.7, 16),
        (2.7, 20),
        (2.7, 25),
    ] {
        let weighed =
            model.reweigh(&window.ledger, &window.vocabulary, &limits, vcc_v, mhz * 1_000_000)?;
        let (waveform, cycles) = (weighed.cpu_waveform(), window.cycles);
        let unit = MeasurementUnit::mane2014(f64::from(mhz) * 1e6);
        let read = unit.measure(vcc_v, f64::from(mhz) * 1e6, &waveform, 0.5)?;
        println!(
            "{vcc_v:4.1} {mhz:5} {:6.0} {:11.4} {:11.4} {:8.3} {cycles:10} {:10.0} {:10.1}",
            unit.sample_rate_hz * 1e-6,
            read.true_energy_j * 1e3,
            read.energy_j * 1e3,
            100.0 * read.error_j / read.true_energy_j,
            read.cycles,
            100.0 * read.clipped as f64 / read.samples as f64
        );
    }
    Ok(())
}
