// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plays a scenario without Python: `cargo run --release -p sunseal-node --example play -- scenario.toml`.
//!
//! `--trace FILE` gives the light, `--gateway HOST:PORT` the gateway, `--json FILE` keeps the record.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use sunseal_node::{GatewayChoice, Node, NodeError, Scenario};
use sunseal_power::HarvestTrace;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (mut scenario, mut trace, mut gateway, mut json) = (None, None, None, None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--trace" => trace = args.next().map(PathBuf::from),
            "--gateway" => gateway = args.next(),
            "--json" => json = args.next().map(PathBuf::from),
            _ => scenario = Some(PathBuf::from(arg)),
        }
    }
    let Some(scenario) = scenario else {
        eprintln!("play: name a scenario, as in `play examples/scenarios/minutes.toml`");
        return ExitCode::from(2);
    };
    match play(&scenario, trace.as_deref(), gateway, json.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("play: {e}");
            ExitCode::from(2)
        }
    }
}

fn play(
    path: &Path,
    trace: Option<&Path>,
    gateway: Option<String>,
    json: Option<&Path>,
) -> Result<(), NodeError> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let mut scenario = Scenario::load(path)?;
    if let Some(address) = gateway {
        scenario.gateway = Some(GatewayChoice { address });
    }
    let light = trace.map(HarvestTrace::load).transpose()?;
    let mut node = Node::new(&data, scenario, light)?;
    let started = Instant::now();
    let mut shown = 0;
    let record = node.run(&mut |p| {
        let tenth = (10.0 * p.simulated_s / p.duration_s) as u32;
        if tenth > shown {
            shown = tenth;
            eprintln!(
                "{:3} %  {:.3} V  {} sent  {} brown-outs",
                tenth * 10,
                p.vcap_v,
                p.sent,
                p.brown_outs
            );
        }
        true
    })?;
    let wall_s = started.elapsed().as_secs_f64();
    println!("{record}");
    println!(
        "wall clock          {wall_s:.2} s, {:.0} times real time",
        record.simulated_s / wall_s
    );
    if let Some(to) = json {
        let text = serde_json::to_string(&record).expect("a record can always be written");
        let half = to.with_extension("part");
        let kept = std::fs::write(&half, text).and_then(|()| std::fs::rename(&half, to));
        kept.map_err(|e| NodeError::Output {
            path: to.display().to_string(),
            reason: e.to_string(),
        })?;
    }
    Ok(())
}
