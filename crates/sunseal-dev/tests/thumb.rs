// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Armv7E-M core beside Unicorn.

use std::path::{Path, PathBuf};
use std::process::Command;

use sunseal_dev::fuzz::{self, Until, Verdict};
use sunseal_dev::single_step::{self, Core};
use sunseal_dev::thumb::{Thumb, Unicorn};
use sunseal_dev::{tools, torture};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn random_programs_run_as_in_unicorn() {
    let seed = std::env::var("SUNSEAL_SEED").map_or(5, |seed| seed.parse().unwrap());
    let programs = std::env::var("SUNSEAL_PROGRAMS").map_or(6000, |n| n.parse().unwrap());
    let mut target = Unicorn::new(&folder("thumb-fuzz")).unwrap();
    let (report, failure) = fuzz::run(&mut target, seed, Until::Programs(programs)).unwrap();
    println!("{report:#?}");
    if let Some(failure) = failure {
        panic!("{}\n{}", failure.why, failure.test);
    }
    // If nearly all were masked, nothing would be tested.
    assert!(report.instructions > 3 * programs, "{report:?}");
}

const SORT_AND_SUMS: &str = r#"
#include <stdint.h>

static int16_t values[60];
static volatile uint32_t sum;
static volatile uint64_t big;
static volatile float mean;

static void sort(int16_t *from, int16_t *to) {
    if (to - from < 2) return;
    int16_t pivot = from[(to - from) / 2], *low = from, *high = to - 1;
    while (low <= high) {
        while (*low < pivot) low++;
        while (*high > pivot) high--;
        if (low <= high) { int16_t t = *low; *low++ = *high; *high-- = t; }
    }
    sort(from, high + 1);
    sort(low, to);
}

static uint32_t divided(uint32_t kind, uint32_t n) {
    switch (kind) {
    case 0: return n / 7;
    case 1: return n % 10;
    case 2: return (int32_t)n / -3;
    case 3: return __builtin_bswap32(n) + __builtin_clz(n | 1);
    case 4: return (uint16_t)n * (int16_t)(n >> 16);
    default: return n << (n & 31) | n >> (kind & 31);
    }
}

__attribute__((section(".start"))) int main(void) {
    uint32_t state = 1;
    sum = 0; big = 1; mean = 0;
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 60; i++) {
            state = state * 1664525u + 1013904223u;
            values[i] = state >> 16;
        }
        sort(values, values + 60);
        int64_t total = 0;
        for (int i = 0; i < 60; i++) {
            total += (int32_t)values[i] * values[i] / (i + 1);
            sum += divided(i % 7, state + i);
        }
        big = big * 6364136223846793005u + (uint64_t)total / (turn + 1);
        mean = (float)total / 60 + mean / 2 - (float)(int32_t)state * 0.125f;
        state ^= sum % 1000003u ^ (uint32_t)mean;
    }
    return (int)(sum + (uint32_t)(big >> 32));
}
"#;

#[test]
fn compiled_programs_run_as_in_unicorn() {
    let folder = folder("thumb-compiled");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    std::fs::write(file("program.c"), SORT_AND_SUMS).unwrap();
    let (code, data) = Unicorn::IMAGE;
    let script = format!(
        "SECTIONS {{ .text {code:#x} : {{ *(.start) *(.text*) *(.rodata*) }} .bss {data:#x} (NOLOAD) : \
         {{ *(.bss* .data* COMMON) }} /DISCARD/ : {{ *(.ARM.*) }} }}"
    );
    std::fs::write(file("program.ld"), script).unwrap();
    let run = |tool: &str, args: &[&str]| {
        // Debian calls it by its version where it is installed.
        let program = tools::program(tool).or_else(|why| match tool {
            "clang" => tools::program("clang-19").map_err(|_| why),
            _ => Err(why),
        });
        let done = Command::new(program.unwrap()).args(args).output().unwrap();
        assert!(done.status.success(), "{tool}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    let libgcc = run(
        "arm-none-eabi-gcc",
        &["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-print-libgcc-file-name"],
    );
    let mut unicorn = Unicorn::new(&folder).unwrap();
    let core =
        ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-ffreestanding"];
    for (compiler, target) in
        [("arm-none-eabi-gcc", None), ("clang", Some("--target=thumbv7em-none-eabihf"))]
    {
        for level in ["-O0", "-Os", "-O3"] {
            let out = ["-c", level, "-o", &file("program.o"), &file("program.c")];
            let target: Vec<&str> = target.into_iter().collect();
            run(compiler, &[&core[..], &target, &out].concat());
            let (elf, bin) = (file("program.elf"), file("program.bin"));
            let link = ["-T", &file("program.ld"), "-o", &elf, &file("program.o"), &libgcc];
            run("arm-none-eabi-ld", &link);
            run("arm-none-eabi-objcopy", &["-O", "binary", "-j", ".text", &elf, &bin]);
            let image = std::fs::read(bin).unwrap();
            let words =
                image.chunks(2).map(|b| u16::from_le_bytes([b[0], *b.get(1).unwrap_or(&0)]));
            let verdict = unicorn.compare_image(words.collect()).unwrap();
            assert_eq!(verdict, Verdict::Agree { instructions: 1 }, "{compiler} {level}");
        }
    }
}

#[test]
fn single_step_files_are_what_the_core_does_and_what_is_made_today() {
    let files = tools::root().join("data/single-step");
    let same_as = Some((single_step::SEED, single_step::CASES));
    for mut core in [Thumb::integer(), Thumb::float()] {
        let cases = single_step::check_all(&mut core, &files, same_as).unwrap();
        assert_eq!(cases, core.mnemonics().len() * single_step::CASES);
    }
}

#[test]
fn a_sample_of_gccs_torture_tests_passes_as_in_unicorn() {
    torture::sample_passes(torture::Thumb::new, 90);
}
