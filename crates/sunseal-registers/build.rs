// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs `python/src/sunseal/kit/chips.py`, the one place that knows what `data/` says of registers.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("python/src/sunseal/kit/chips.py");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("chips.rs");
    for input in [&script, &root.join("data/devices"), &root.join("data/registers")] {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    let run = Command::new("python3").arg(&script).arg("rust").arg(&out).status();
    assert!(
        run.as_ref().is_ok_and(std::process::ExitStatus::success),
        "registers are made of data/ by python3, 3.11 or later: {run:?}"
    );
}
