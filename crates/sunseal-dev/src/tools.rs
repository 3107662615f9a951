// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of others that ours are compared with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root, two folders above this crate.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folders that `firmware/toolchain/get` keeps programs in.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    let get = root().join("firmware/toolchain/get");
    let printed = |args: &[&str]| {
        let out = Command::new("python3").arg(&get).args(args).arg("--print-bin").output().ok()?;
        Some(PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()))
    };
    [&["--for", "tests"][..], &[]].into_iter().filter_map(printed).collect()
}

/// Where a program is: on PATH or where `firmware/toolchain/get` puts it.
///
/// # Errors
/// That it is nowhere, and how to get it.
pub fn program(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |folder: PathBuf| Some(folder.join(name)).filter(|program| program.is_file());
    let found = std::env::split_paths(&path).find_map(is_there);
    found.or_else(|| folders().into_iter().find_map(is_there)).ok_or_else(|| {
        format!("{name} is neither on PATH nor fetched; `firmware/toolchain/get --for tests` fetches what tests compare with")
    })
}
