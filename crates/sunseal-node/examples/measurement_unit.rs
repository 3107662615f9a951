// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Mane's measurement unit (equations 3.1 and 3.2) would have read while our program signs:
//! `cargo run --release -p sunseal-node --example measurement_unit [bench.elf]`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_node::{Board, limits_of};
use sunseal_power::{ItemKind, MeasurementUnit, PowerModel, PowerSet, Segment};
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
    let board = Board::load(&root.join("data/boards"), "msp430f5438a-anagear")?;
    let built =
        root.join("firmware/build").join(&board.name).join("mpy-32/bench-ecdsa-secp160r1-sign.elf");
    let path = std::env::args().nth(1).map_or(built, PathBuf::from);
    let bytes = std::fs::read(&path).map_err(|e| {
        format!("{} cannot be read ({e}); `make firmware` builds it", path.display())
    })?;
    let elf = Elf::parse(&bytes)?;
    let device = Device::msp430f5438a();
    let mut machine = Machine::new(&device);
    machine.load(&elf)?;
    // d = 1, no added entropy, a message of three bytes: firmware/bench/bench.h.
    let mut input = [0u8; 21 + 32 + 3];
    input[20] = 1;
    input[53..].copy_from_slice(b"abc");
    machine.write_symbol(&elf, "bench_input", &input)?;
    machine.write_symbol(&elf, "bench_input_len", &(input.len() as u16).to_le_bytes())?;
    let mark = board.trigger.pin.parse()?;
    let wait = |machine: &mut Machine, level: bool| match machine
        .run(&Until::pin_edge(mark), &mut Silent)
    {
        Stop::Pin(edge) if edge.level == level => Ok(machine.ledger()),
        other => {
            Err(format!("the trigger did not go {}: {other:?}", if level { "high" } else { "low" }))
        }
    };
    let begin = wait(&mut machine, true)?;
    let end = wait(&mut machine, false)?;
    let window = end.since(&begin)?;

    let set = PowerSet::load(&root.join("data/power"), "mane2014", &board.device)?;
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
            model.reweigh(&window, machine.vocabulary(), &limits, vcc_v, mhz * 1_000_000)?;
        let cpu =
            weighed.items.iter().filter(|i| i.kind == ItemKind::State && i.component == "cpu");
        let waveform: Vec<_> = cpu
            .clone()
            .map(|i| Segment { duration_s: i.time_s, current_a: i.coefficient.typ })
            .collect();
        let cycles: u64 = cpu.map(|i| i.cycles).sum();
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
