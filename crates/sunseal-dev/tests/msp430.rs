// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430 cores: the single-step files of the repository, and random programs beside mspdebug's simulator.

use sunseal_dev::fuzz::{self, Program, Target, Until, Verdict};
use sunseal_dev::msp430::{Compiled, Mspdebug, SingleStep, mspdebug::Form};
use sunseal_dev::single_step::{self, Core};
use sunseal_dev::{tools, torture};
use sunseal_isa::msp430::Timing;

fn committed(mut core: SingleStep) {
    let folder = tools::root().join("data/single-step");
    let same_as = Some((single_step::SEED, single_step::CASES));
    let cases =
        single_step::check_all(&mut core, &folder, same_as).unwrap_or_else(|why| panic!("{why}"));
    assert!(cases >= 27 * single_step::CASES, "{cases} cases");
}

#[test]
fn single_steps_of_the_cpu_are_what_the_repository_has() {
    committed(SingleStep::cpu());
}

#[test]
fn single_steps_of_the_cpux_end_as_they_say() {
    let mut core = SingleStep::cpux();
    for mnemonic in core.mnemonics() {
        let file =
            single_step::generate(&mut core, mnemonic, 2, 5).unwrap_or_else(|why| panic!("{why}"));
        let checked = single_step::check(&mut core, &single_step::to_text(&file));
        assert_eq!(checked, Ok(5), "{mnemonic}");
    }
}

#[test]
fn a_wrong_case_is_named_and_a_changed_file_too() {
    let mut core = SingleStep::cpu();
    let file = single_step::generate(&mut core, "ADD", 3, 4).unwrap();
    let text = single_step::to_text(&file);
    let cycles = format!("\"cycles\":{}", file.cases[2].cycles);
    let at = text.match_indices("\"cycles\"").nth(2).unwrap().0;
    let wrong = format!("{}\"cycles\":99{}", &text[..at], &text[at + cycles.len()..]);
    let why = single_step::check(&mut core, &wrong).unwrap_err();
    assert!(why.contains(&file.cases[2].name) && why.contains("99 cycles"), "{why}");
    let missing = text.replacen("[[", "[[4096,1],[", 1);
    assert!(
        single_step::check(&mut core, &missing).is_ok(),
        "a byte that nothing touches does no harm"
    );
    let why = single_step::check(&mut core, &text.replace("\"R15\"", "\"R16\"")).unwrap_err();
    assert!(why.contains("R16"), "{why}");
}

#[test]
fn single_steps_of_the_cpuxv2_are_what_the_repository_has() {
    committed(SingleStep::cpuxv2());
}

fn fuzz(target: Result<Mspdebug, String>) {
    let mut target = target.unwrap_or_else(|why| panic!("{why}"));
    let (report, failure) =
        fuzz::run(&mut target, 0x5EED, Until::Programs(400)).unwrap_or_else(|why| panic!("{why}"));
    if let Some(failure) = failure {
        panic!(
            "{} instructions end differently: {}\n{}",
            failure.instructions, failure.why, failure.test
        );
    }
    assert!(report.programs > 350 && report.instructions > 5_000, "{report:?}");
}

#[test]
fn random_programs_on_the_cpu_end_as_in_mspdebugs_simulator() {
    fuzz(Mspdebug::cpu());
}

#[test]
fn random_programs_on_the_cpuxv2_end_as_in_mspdebugs_simulator() {
    fuzz(Mspdebug::cpuxv2());
}

/// What fuzzing finds is added below as a test that calls this.
fn agrees(program: Program<Form>) {
    for target in [Mspdebug::cpu(), Mspdebug::cpuxv2()] {
        let mut target = target.unwrap_or_else(|why| panic!("{why}"));
        let verdicts =
            target.judge(std::slice::from_ref(&program)).unwrap_or_else(|why| panic!("{why}"));
        assert!(matches!(verdicts[..], [Verdict::Agree { .. }]), "{verdicts:?}");
    }
}

#[test]
fn a_call_and_a_jump_over_an_instruction_agree() {
    use sunseal_dev::msp430::asm::{Arg::*, Size::*};
    let insns = vec![
        Form::Double("SUB", W, Imm(0x8000), R(4)),
        Form::JumpOver("JGE", 5),
        Form::CallNext,
        Form::Single("PUSH", W, X(0x0500, 0)),
    ];
    let registers = vec![0x4000, 0x0900, 0, 0, 0x7FFF, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    agrees(Program { registers, memory: 7, insns });
}

#[test]
fn compiled_programs_end_as_in_mspdebugs_simulator() {
    for timing in [Timing::CPU, Timing::CPUXV2] {
        let mut target = Compiled::new(timing).unwrap_or_else(|why| panic!("{why}"));
        let (report, failure) = fuzz::run(&mut target, 0xC0DE, Until::Programs(8))
            .unwrap_or_else(|why| panic!("{why}"));
        if let Some(failure) = failure {
            panic!("{}\n{}", failure.why, failure.test);
        }
        assert!(report.programs == 8 && report.instructions > 1_000, "{report:?}");
    }
}

/// What fuzzing finds is added below as a test that calls this.
fn compiled_agrees(memory: u64, statements: &[&str]) {
    let insns = statements.iter().map(|&text| text.to_owned()).collect();
    let program = Program { registers: Vec::new(), memory, insns };
    for timing in [Timing::CPU, Timing::CPUXV2] {
        let mut target = Compiled::new(timing).unwrap_or_else(|why| panic!("{why}"));
        let verdicts =
            target.judge(std::slice::from_ref(&program)).unwrap_or_else(|why| panic!("{why}"));
        assert!(matches!(verdicts[..], [Verdict::Agree { .. }]), "{verdicts:?}");
    }
}

#[test]
fn a_jump_table_and_wide_arithmetic_agree_when_compiled() {
    for level in 0..4 {
        compiled_agrees(
            level,
            &[
                "switch (b[1] & 7) { case 0: l[0] -= s[1]; break; default: l[1] += wide(a[1], s[2], 3); }",
            ],
        );
    }
}

#[test]
fn a_sample_of_gccs_torture_tests_passes_as_in_mspdebugs_simulator() {
    torture::sample_passes(torture::Msp430::new, 60);
}
