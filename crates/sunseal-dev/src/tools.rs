// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of others that ours are compared with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

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
        format!("{name} is neither on PATH nor fetched; `firmware/toolchain/get` fetches compilers, with `--for tests` what tests compare with")
    })
}

/// A folder for files that another program reads, gone when this is.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty one.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> Result<Self, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sunseal-dev-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)
            .map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
        Ok(Self(folder))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file in it; its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        std::fs::write(&path, content)
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Files left behind harm nobody.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
