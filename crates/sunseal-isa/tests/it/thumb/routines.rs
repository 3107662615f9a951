// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole routines whose cycles on a board without wait states are published, beside ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::thumb_tools::{folder, link, machine, run};
use sunseal_isa::Silent;
use sunseal_isa::thumb::{Exit, Timing};

/// Emil Lenngren's P256-Cortex-M4 on an nRF52840 with its instruction cache on, GCC with -O2 (README of the crate
/// p256-cortex-m4-sys 0.1.0). What reads tables from flash (the first three) waits there, and here not.
const P256: [(&str, u64); 5] = [
    ("key generation", 327_000),
    ("signature", 375_000),
    ("verification", 976_000),
    ("shared secret", 906_000),
    ("point decompression", 48_000),
];
/// What is promised of hand-written assembly (docs/accuracy.md).
const WORST: f64 = 0.02;

/// Each call between two breakpoints; R0 says whether it went well.
const CALLS: &str = r#"
#include <stdint.h>
#include "p256-cortex-m4.h"
static const uint32_t d[8] = {0x12345678, 0x9abcdef0, 0x0fedcba9, 0x87654321, 0x13579bdf, 0x2468ace0, 0xdeadbeef, 0x7eadbeef};
static const uint32_t k[8] = {0x92345678, 0x1abcdef0, 0x8fedcba9, 0x07654321, 0x93579bdf, 0xa468ace0, 0x5eadbeef, 0x1eadbeef};
static const uint8_t hash[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static uint32_t x[8], y[8], r[8], s[8], x2[8], y2[8];
static uint8_t secret[32], point[33];
#define TIMED(call) do { \
    __asm volatile("bkpt #1" ::: "memory"); \
    register int done __asm("r0") = (call); \
    __asm volatile("bkpt #2" :: "r"(done) : "memory"); \
} while (0)
__attribute__((section(".start"))) void start(void) {
    TIMED(p256_keygen(x, y, d));
    TIMED(p256_sign(r, s, hash, sizeof hash, d, k));
    TIMED(p256_verify(x, y, hash, sizeof hash, r, s));
    TIMED(p256_ecdh_calc_shared_secret(secret, k, x, y));
    p256_point_to_octet_string_compressed(point, x, y);
    TIMED(p256_octet_string_to_point(x2, y2, point, sizeof point));
    __asm volatile("bkpt #0");
    for (;;);
}
"#;

/// What a C library gives: copies of a multiple of 16 bytes by four words.
const MEMORY: &str = r#"
.syntax unified
.cpu cortex-m4
.thumb
.global memcpy, memset
.type memcpy, %function
.type memset, %function
.balign 4
memcpy: push {r0, r4-r7, lr}
1: subs r2, #16
  bcc 2f
  ldmia r1!, {r4-r7}
  stmia r0!, {r4-r7}
  b 1b
2: adds r2, #16
  beq 4f
3: ldrb r3, [r1], #1
  strb r3, [r0], #1
  subs r2, #1
  bne 3b
4: pop {r0, r4-r7, pc}
memset: push {r0, lr}
1: cbz r2, 2f
  strb r1, [r0], #1
  subs r2, #1
  b 1b
2: pop {r0, pc}
"#;

/// Where cargo unpacked the crate.
fn sources() -> PathBuf {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let args = ["metadata", "--format-version", "1", "--locked", "--offline"];
    let out = Command::new(env!("CARGO"))
        .args(args)
        .args(["--manifest-path", manifest])
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let found = text.split('"').find(|part| part.ends_with("p256-cortex-m4-sys-0.1.0/Cargo.toml"));
    let manifest = found.expect("cargo knows where the crate is");
    Path::new(manifest).parent().unwrap().join("P256-Cortex-M4")
}

fn p256() -> Vec<u8> {
    let (folder, sources) = (folder("thumb_routines"), sources());
    let file = |name: &str| folder.join(name).display().to_string();
    let source = |name: &str| sources.join(name).display().to_string();
    std::fs::write(file("calls.c"), CALLS).unwrap();
    std::fs::write(file("memory.s"), MEMORY).unwrap();
    let include = format!("-I{}", sources.display());
    for (object, from) in [
        ("calls.o", file("calls.c")),
        ("p256.o", source("p256-cortex-m4.c")),
        ("asm.o", source("p256-cortex-m4-asm-gcc.S")),
        ("memory.o", file("memory.s")),
    ] {
        let flags = ["-mcpu=cortex-m4", "-mthumb", "-O2", "-ffreestanding", &include, "-c", "-o"];
        run("arm-none-eabi-gcc", &[&flags[..], &[&file(object), &from]].concat());
    }
    link(&folder, &["calls.o", "p256.o", "asm.o", "memory.o"])
}

/// The cycles of each call.
fn cycles(code: &[u8], timing: Timing) -> Vec<u64> {
    let (mut cpu, mut bus) = machine(code, timing);
    let (mut all, mut begin) = (Vec::new(), 0);
    loop {
        match cpu.run(&mut bus, &mut Silent) {
            Exit::Bkpt(0) => return all,
            Exit::Bkpt(1) => begin = cpu.cycles,
            Exit::Bkpt(2) => {
                assert_eq!(cpu.r[0], 1, "call {} failed", all.len());
                all.push(cpu.cycles - begin);
            }
            exit => panic!("{exit:?} at {:#x}", cpu.r[15]),
        }
        cpu.r[15] += 2;
    }
}

#[test]
fn p256_takes_what_its_author_measured() {
    let ours = cycles(&p256(), Timing::CORTEX_M4);
    assert_eq!(ours.len(), P256.len());
    let mut far = Vec::new();
    for ((name, published), ours) in P256.into_iter().zip(ours) {
        let error = ours as f64 / published as f64 - 1.0;
        println!("{name}: {ours} cycles, published {published}: {:+.2} %", 100.0 * error);
        if error.abs() > WORST {
            far.push(name);
        }
    }
    assert!(far.is_empty(), "beyond {} %: {}", 100.0 * WORST, far.join(", "));
}
