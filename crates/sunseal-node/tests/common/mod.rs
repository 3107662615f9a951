// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs, encoded by hand, as ELF files.

use std::path::{Path, PathBuf};

pub const CODE: u32 = 0x5C00;

/// Stops the watchdog: mov #0x5A80, &WDTCTL.
pub const STOP_WATCHDOG: [u16; 3] = [0x40B2, 0x5A80, 0x015C];
/// jmp $
pub const FOREVER: u16 = 0x3FFF;
/// bis #CPUOFF+SCG0+SCG1, SR: LPM3.
pub const LPM3: [u16; 2] = [0xD032, 0x00D0];

/// An ELF file for the MSP430: `words` at 0x5C00, reset vector there.
pub fn elf(words: &[u16]) -> Vec<u8> {
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut out = vec![0x7F, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |out: &mut Vec<u8>, v: u16| out.extend(v.to_le_bytes());
    let word = |out: &mut Vec<u8>, v: u32| out.extend(v.to_le_bytes());
    half(&mut out, 2);
    half(&mut out, 105);
    word(&mut out, 1);
    word(&mut out, CODE);
    word(&mut out, 52);
    word(&mut out, 0);
    word(&mut out, 0);
    for v in [52, 32, 2, 40, 0, 0] {
        half(&mut out, v);
    }
    let data = 52 + 2 * 32;
    let segments = [(CODE, data, code.len() as u32), (0xFFFE, data + code.len() as u32, 2)];
    for (addr, offset, size) in segments {
        for v in [1, offset, addr, addr, size, size, 5, 2] {
            word(&mut out, v);
        }
    }
    out.extend(code);
    half(&mut out, CODE as u16);
    out
}

pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

/// Writes a program where a scenario can name it.
pub fn program(name: &str, words: &[u16]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.elf"));
    std::fs::write(&path, elf(words)).unwrap();
    path
}
