// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs built by the installed compilers.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler with the machine it compiles for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    AvrGcc,
    ArmGcc,
    ArmClang,
    Msp430Clang,
}

pub const TOOLS: [Tool; 4] = [Tool::AvrGcc, Tool::ArmGcc, Tool::ArmClang, Tool::Msp430Clang];

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instruments/fixtures")
}

/// A program on PATH, or in one of the folders of `firmware/toolchain/get`.
pub fn program(name: &str) -> PathBuf {
    let get = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware/toolchain/get");
    let mut folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    for group in [&[][..], &["--for", "tests"]] {
        if let Ok(out) = Command::new(&get).args(group).arg("--print-bin").output() {
            folders.push(PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()));
        }
    }
    // Debian's LLVM carries its version in its programs' names.
    let names = [name.to_owned(), format!("{name}-19")];
    let mut paths = folders.iter().flat_map(|f| names.iter().map(|n| f.join(n)));
    paths.find(|p| p.is_file()).unwrap_or_else(|| {
        panic!("`{name}` is neither on PATH nor in the tool cache; get it with `firmware/toolchain/get --for tests`")
    })
}

/// The line of `leaks.c` that has `text`.
pub fn line_of(text: &str) -> u32 {
    let source = std::fs::read_to_string(folder().join("leaks.c")).unwrap();
    let at = source.lines().position(|l| l.contains(text)).expect("the text is in leaks.c");
    at as u32 + 1
}

pub fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (stdout, stderr) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?} fails:\n{stdout}{stderr}");
    format!("{stdout}{stderr}")
}

/// The image of `leaks.c`.
pub fn leaks(tool: Tool) -> Vec<u8> {
    // Each test by itself: they run at the same time.
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("leaks-{tool:?}-{}-{number}", std::process::id());
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let object = |n: usize| out.with_extension(format!("{n}.o"));
    let compile = |program: &Path, flags: &[&str], sources: &[&str]| {
        for (n, source) in sources.iter().enumerate() {
            let mut c = Command::new(program);
            run(c
                .args(flags)
                .args(["-gdwarf-4", "-Os", "-c", "-o"])
                .arg(object(n))
                .arg(folder().join(source)));
        }
    };
    let objects = [object(0), object(1)];
    match tool {
        Tool::AvrGcc => {
            let source = folder().join("leaks.c");
            let flags = ["-mmcu=atmega128", "-gdwarf-4", "-Os", "-DDIVIDES", "-o"];
            run(Command::new(program("avr-gcc")).args(flags).arg(&out).arg(source));
        }
        Tool::ArmGcc => {
            let gcc = program("arm-none-eabi-gcc");
            let cpu = ["-mcpu=cortex-m4", "-mthumb", "-ffreestanding", "-DDIVIDES"];
            compile(&gcc, &cpu, &["leaks.c", "start_arm.c"]);
            let script = folder().join("arm.ld");
            let flags = ["-nostdlib", "-mcpu=cortex-m4", "-mthumb", "-T"];
            run(Command::new(gcc).args(flags).arg(script).arg("-o").arg(&out).args(&objects));
        }
        Tool::ArmClang | Tool::Msp430Clang => {
            let clang = program("clang");
            let (flags, start, script): (&[&str], _, _) = match tool {
                Tool::ArmClang => (
                    &[
                        "--target=thumbv7em-none-eabi",
                        "-mcpu=cortex-m4",
                        "-ffreestanding",
                        "-DDIVIDES",
                    ],
                    "start_arm.c",
                    "arm.ld",
                ),
                _ => (&["--target=msp430", "-ffreestanding"], "start_msp430.c", "msp430.ld"),
            };
            compile(&clang, flags, &["leaks.c", start]);
            let mut lld = Command::new(program("ld.lld"));
            run(lld.arg("-T").arg(folder().join(script)).arg("-o").arg(&out).args(&objects));
        }
    }
    let bytes = std::fs::read(&out).unwrap();
    for file in [out.clone(), objects[0].clone(), objects[1].clone()] {
        let _ = std::fs::remove_file(file);
    }
    bytes
}

/// An image of avr-gcc that also sets fuses.
pub fn with_fuses() -> Vec<u8> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuses-{}", std::process::id()));
    let source = out.with_extension("c");
    let text = "__attribute__((section(\".fuse\"), used)) const unsigned char fuses[3] = {1, 2, 3};\n\
                int main(void) { return 0; }\n";
    std::fs::write(&source, text).unwrap();
    run(Command::new(program("avr-gcc"))
        .args(["-mmcu=atmega128", "-Os", "-o"])
        .arg(&out)
        .arg(&source));
    let bytes = std::fs::read(&out).unwrap();
    for file in [out, source] {
        let _ = std::fs::remove_file(file);
    }
    bytes
}

/// A file with an image in it, for programs that read one.
pub fn image_path(bytes: &[u8], name: &str) -> PathBuf {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("{name}-{}-{number}.elf", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}
