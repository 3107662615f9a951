// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of others that ours are compared with.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The repository's root, two folders above this crate.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folders that `firmware/toolchain/get` keeps programs in.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    [&["--for", "tests"][..], &[]].into_iter().filter_map(printed).collect()
}

fn printed(args: &[&str]) -> Option<PathBuf> {
    let get = root().join("firmware/toolchain/get");
    let out = Command::new("python3").arg(&get).args(args).arg("--print-bin").output().ok()?;
    Some(PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()))
}

/// The folder of GCC's torture tests that run.
///
/// # Errors
/// That they are not there, and how to get them.
pub fn torture() -> Result<PathBuf, String> {
    let folder = printed(&["--for", "torture"]).map(|bin| bin.join("gcc.c-torture/execute"));
    folder.filter(|folder| folder.is_dir()).ok_or_else(|| {
        "GCC's torture tests are not fetched; `firmware/toolchain/get --for torture` does"
            .to_owned()
    })
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

    /// Path of the tool on this machine.
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

/// A library of others in a process of its own: a small C program of ours around it, compiled anew.
#[derive(Debug)]
pub struct Driver {
    program: PathBuf,
    library: &'static str,
}

impl Driver {
    /// Compiles `source`, which links `library`, into `folder`.
    ///
    /// # Errors
    /// If there is no C compiler or no such library, and how to get it.
    pub fn compile(folder: &Path, library: &'static str, source: &str) -> Result<Self, String> {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let c = folder.join(format!("{library}.c"));
        std::fs::write(&c, source).map_err(|e| e.to_string())?;
        let driver = folder.join(format!("{library}-{}", std::process::id()));
        // What the library itself links lies beside it: only the older kind of run path leads there.
        let mut cc = Command::new(program("cc")?);
        cc.args(["-O2", "-Wl,--disable-new-dtags", "-o"]).arg(&driver).arg(&c);
        // Where the libraries were fetched instead of installed.
        for (flag, dir) in [("-I", "include"), ("-L", "lib"), ("-Wl,-rpath,", "lib")] {
            for prefix in folders().iter().filter_map(|bin| bin.parent()) {
                if prefix.join(dir).is_dir() {
                    cc.arg(format!("{flag}{}", prefix.join(dir).display()));
                }
            }
        }
        let done = cc.arg(format!("-l{library}")).output();
        let done = done.map_err(|e| format!("cc cannot be run: {e}"))?;
        if !done.status.success() {
            return Err(format!(
                "the driver of lib{library} cannot be compiled; `firmware/toolchain/get --for tests` brings it: {}",
                String::from_utf8_lossy(&done.stderr)
            ));
        }
        Ok(Self { program: driver, library })
    }

    /// The driver's answer to all requests.
    ///
    /// # Errors
    /// If it cannot be run, or fails.
    pub fn ask(&self, requests: Vec<u8>) -> Result<Vec<u8>, String> {
        let mut child = Command::new(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("the driver of lib{} cannot be run: {e}", self.library))?;
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        let writer = std::thread::spawn(move || stdin.write_all(&requests));
        let done = child.wait_with_output().map_err(|e| e.to_string())?;
        let wrote = writer.join().expect("writing does not panic");
        if !done.status.success() {
            return Err(format!("the driver of lib{} ended with {}", self.library, done.status));
        }
        wrote.map_err(|e| e.to_string())?;
        Ok(done.stdout)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It is made anew by the next; if it stays, it is a file too many.
        let _ = std::fs::remove_file(&self.program);
    }
}
