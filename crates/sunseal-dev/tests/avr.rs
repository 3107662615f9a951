// SPDX-License-Identifier: MIT OR Apache-2.0
//! The AVR core beside simavr, and its single-step files.

use std::path::{Path, PathBuf};
use std::process::Command;

use sunseal_dev::avr::{Avr, Simavr};
use sunseal_dev::fuzz::{self, Until, Verdict};
use sunseal_dev::single_step;
use sunseal_dev::{tools, torture};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn random_programs_run_as_in_simavr_with_their_cycles() {
    let mut target = Simavr::new(&folder("avr-fuzz")).unwrap();
    let (report, failure) = fuzz::run(&mut target, 3, Until::Programs(2000)).unwrap();
    if let Some(failure) = failure {
        panic!("{}\n{}", failure.why, failure.test);
    }
    // If nearly all were masked, nothing would be tested.
    assert!(report.instructions > 40_000, "{report:?}");
}

/// What a failing program was made into. Each stays here once its cause is found.
fn agrees(words: &[u16], registers: &[u32; 36], memory: u64) {
    let mut simavr = Simavr::new(&folder("avr-found")).unwrap();
    let verdict = simavr.judge_words(words, registers, memory).unwrap();
    assert!(matches!(verdict, Verdict::Agree { instructions: 1.. }), "{verdict:?}");
}

#[test]
fn a_load_that_wins_over_its_pointers_step_does_so_there_too() {
    // LD R26, X+; ST -Y, R28: undefined in the manual, run here only by a switch.
    let mut registers = [0; 36];
    (registers[26], registers[27], registers[29]) = (0x34, 0x02, 0x03);
    let mut simavr = Simavr::new(&folder("avr-undefined")).unwrap();
    let verdict = simavr.judge_words(&[0x91AD, 0x93CA], &registers, 1).unwrap();
    assert!(matches!(verdict, Verdict::Masked(why) if why.contains("undefined")), "{verdict:?}");
}

#[test]
fn skips_over_long_instructions_and_chains_of_subtractions_agree() {
    // SBRS R0, 0; STS 0x0200, R1; SBC R2, R3; CPSE R0, R0; CALL 0x0000; CPC R2, R3
    let words = [0xFE00, 0x9210, 0x0200, 0x0823, 0x1000, 0x940E, 0x0000, 0x0423];
    let mut registers = [0; 36];
    (registers[0], registers[1], registers[2], registers[3], registers[32]) = (1, 0x55, 4, 4, 3);
    registers[33] = 0x10FF;
    agrees(&words, &registers, 5);
}

const SORT_AND_SUMS: &str = r#"
#include <stdint.h>
#include <stdlib.h>
#include <avr/pgmspace.h>

static const uint16_t table[] PROGMEM = {3, 141, 59, 26, 535, 897, 932, 384, 626, 433};
static int16_t values[60];
static volatile uint32_t sum;
static volatile float mean;

static int compare(const void *a, const void *b) {
    return *(const int16_t *)a - *(const int16_t *)b;
}

int main(void) {
    uint32_t state = 1;
    for (;;) {
        for (uint8_t i = 0; i < 60; i++) {
            state = state * 1664525UL + 1013904223UL + pgm_read_word(&table[i % 10]);
            values[i] = state >> 16;
        }
        qsort(values, 60, sizeof values[0], compare);
        int64_t total = 0;
        for (uint8_t i = 0; i < 60; i++) total += (int32_t)values[i] * values[i] / (i + 1);
        sum += total;
        mean = (float)total / 60 + mean / 2;
        state ^= sum % 1000003UL;
    }
}
"#;

#[test]
fn compiled_programs_run_as_in_simavr_with_their_cycles() {
    let folder = folder("avr-compiled");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    std::fs::write(file("program.c"), SORT_AND_SUMS).unwrap();
    let run = |tool: &str, args: &[&str]| {
        let done = Command::new(tools::program(tool).unwrap()).args(args).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let simavr = Simavr::new(&folder).unwrap();
    for level in ["-O0", "-Os", "-O3"] {
        let flags = ["-mmcu=atmega128", "-std=gnu99", level, "-mcall-prologues", "-o"];
        run("avr-gcc", &[&flags[..], &[&file("program.elf"), &file("program.c")]].concat());
        let sections = ["-O", "binary", "-j", ".text", "-j", ".data"];
        run(
            "avr-objcopy",
            &[&sections[..], &[&file("program.elf"), &file("program.bin")]].concat(),
        );
        let image = std::fs::read(file("program.bin")).unwrap();
        let words: Vec<u16> =
            image.chunks(2).map(|b| u16::from_le_bytes([b[0], *b.get(1).unwrap_or(&0)])).collect();
        let verdict = simavr.compare_image(&words, 150_000).unwrap();
        assert_eq!(verdict, Verdict::Agree { instructions: 150_000 }, "{level}");
    }
}

#[test]
fn single_step_files_are_what_the_core_does_and_what_is_made_today() {
    let files = tools::root().join("data/single-step");
    let same_as = Some((single_step::SEED, single_step::CASES));
    let cases = single_step::check_all(&mut Avr::new(), &files, same_as).unwrap();
    assert_eq!(cases, sunseal_dev::avr::mnemonics().len() * single_step::CASES);
}

#[test]
fn a_sample_of_gccs_torture_tests_passes_as_in_simavr_with_its_cycles() {
    torture::sample_passes(torture::Avr::new, 80);
}
