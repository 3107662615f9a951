// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptions, stacks, traps and the loop, as short programs.

use crate::log::Log;
use crate::thumb_tools::{assemble, machine};
use sunseal_isa::thumb::{
    Cpu, Entry, Exit, FlatBus, LR, PC, SP, Timing, Usage, ccr, control, fpccr, psr,
};
use sunseal_isa::{FaultKind, Silent};
use sunseal_trace::Pointed;

const STACK: u32 = FlatBus::RAM + 0x8000;
/// The exception of the tests: SysTick.
const TICK: u32 = 15;

/// A machine that runs `source`; the vector of [`TICK`] leads to the label at `handler`.
fn with_handler(name: &str, source: &str, handler: u32) -> (Cpu, FlatBus) {
    let code = assemble(name, &format!(".org 0x100\n{source}"));
    let (mut cpu, mut bus) = machine(&code, Timing::CORTEX_M4);
    bus.code_mut()[4 * TICK as usize..][..4].copy_from_slice(&(handler | 1).to_le_bytes());
    cpu.r[PC] = 0x100;
    (cpu, bus)
}

fn word(bus: &FlatBus, addr: u32) -> u32 {
    let at = (addr - FlatBus::RAM) as usize;
    u32::from_le_bytes(bus.ram()[at..at + 4].try_into().unwrap())
}

#[test]
fn an_exception_stacks_eight_words_and_its_return_takes_them_back() {
    let source = "nop\nnop\n.org 0x140\nmov r0, #7\nbx lr";
    let (mut cpu, mut bus) = with_handler("thumb_exception", source, 0x140);
    for i in 0..13 {
        cpu.r[i] = 0x1000 + i as u32;
    }
    (cpu.r[LR], cpu.r[SP]) = (0x55, STACK - 4);
    cpu.psr |= psr::N | psr::C | psr::Q | 3 << 16;
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    let before = cpu.state();
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    assert_eq!(cpu.cycles - before.cycles, 12);
    // Aligned to eight bytes, which bit 9 of the stacked status says.
    assert_eq!(cpu.r[SP], STACK - 4 - 4 - 32);
    let frame: Vec<u32> = (0..8).map(|i| word(&bus, cpu.r[SP] + 4 * i)).collect();
    let status = before.psr | 1 << 9;
    assert_eq!(frame, [0x1000, 0x1001, 0x1002, 0x1003, 0x100C, 0x55, 0x102, status]);
    assert_eq!((cpu.r[PC], cpu.r[LR], cpu.exception()), (0x140, 0xFFFF_FFF9, TICK));
    assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    let Exit::Return(exc_return) = cpu.step(&mut bus, &mut Silent) else { panic!() };
    let at = cpu.cycles;
    cpu.leave(&mut bus, &mut Silent, exc_return).unwrap();
    assert_eq!(cpu.cycles - at, 10);
    let after = cpu.state();
    assert_eq!((after.r, after.psr, after.control), (before.r, before.psr, before.control));
}

#[test]
fn a_pending_exception_is_entered_without_stacking() {
    let (mut cpu, mut bus) = with_handler("thumb_tail", "nop\n.org 0x140\nbx lr", 0x140);
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    let sp = cpu.r[SP];
    let Exit::Return(exc_return) = cpu.step(&mut bus, &mut Silent) else { panic!() };
    let at = cpu.cycles;
    bus.code_mut()[4 * 16..4 * 17].copy_from_slice(&0x141u32.to_le_bytes());
    cpu.enter(&mut bus, &mut Silent, 16, Entry::TailChain(exc_return)).unwrap();
    assert_eq!((cpu.cycles - at, cpu.r[SP], cpu.exception()), (6, sp, 16));
    assert_eq!(cpu.r[LR], exc_return);
}

#[test]
fn thread_mode_may_use_the_process_stack_and_handlers_do_not() {
    let source = "msr psp, r0\nmov r1, #2\nmsr control, r1\nisb\npush {r1}\n.org 0x140\npush {r1}\npop {r2}\nbx lr";
    let (mut cpu, mut bus) = with_handler("thumb_banks", source, 0x140);
    cpu.r[0] = FlatBus::RAM + 0x1000;
    assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Status);
    assert_eq!(
        (cpu.r[SP], cpu.msp(), cpu.psp()),
        (FlatBus::RAM + 0x1000, STACK, FlatBus::RAM + 0x1000)
    );
    for _ in 0..2 {
        cpu.step(&mut bus, &mut Silent);
    }
    assert_eq!(word(&bus, FlatBus::RAM + 0xFFC), 2);
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    assert_eq!((cpu.r[LR], cpu.r[SP], cpu.psp()), (0xFFFF_FFFD, STACK, FlatBus::RAM + 0xFD8));
    cpu.step(&mut bus, &mut Silent);
    assert_eq!(word(&bus, STACK - 4), 2);
    cpu.step(&mut bus, &mut Silent);
    let Exit::Return(exc_return) = cpu.step(&mut bus, &mut Silent) else { panic!() };
    cpu.leave(&mut bus, &mut Silent, exc_return).unwrap();
    assert_eq!((cpu.r[SP], cpu.msp()), (FlatBus::RAM + 0xFFC, STACK));
    assert_eq!(cpu.control & control::SPSEL, control::SPSEL);
}

#[test]
fn floating_point_state_is_saved_when_the_handler_needs_it() {
    let source = "vmov.f32 s0, #1.0\n.org 0x140\nvmov.f32 s0, #2.0\nbx lr\n.org 0x160\nnop\nbx lr";
    let (mut cpu, mut bus) = with_handler("thumb_lazy", source, 0x140);
    cpu.fpscr = 0x0300_0000;
    cpu.step(&mut bus, &mut Silent);
    assert_eq!(cpu.control & control::FPCA, control::FPCA);
    // A new context has the default modes (FPDSCR), none here.
    assert_eq!(cpu.fpscr, 0);
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    assert_eq!((cpu.r[LR], cpu.r[SP], cpu.cycles), (0xFFFF_FFE9, STACK - 0x68, 1 + 12));
    assert_eq!(bus.scb.fpccr & fpccr::LSPACT, fpccr::LSPACT);
    assert_eq!(word(&bus, bus.scb.fpcar), 0, "nothing is written yet");
    cpu.step(&mut bus, &mut Silent);
    assert_eq!(word(&bus, STACK - 0x68 + 0x20), 1.0f32.to_bits());
    assert_eq!((bus.scb.fpccr & fpccr::LSPACT, cpu.s[0]), (0, 2.0f32.to_bits()));
    let Exit::Return(exc_return) = cpu.step(&mut bus, &mut Silent) else { panic!() };
    cpu.leave(&mut bus, &mut Silent, exc_return).unwrap();
    assert_eq!((cpu.s[0], cpu.r[SP]), (1.0f32.to_bits(), STACK));
    assert_eq!(cpu.control & control::FPCA, control::FPCA);
    // Nobody needs it: it never leaves the registers.
    bus.code_mut()[4 * TICK as usize] = 0x61;
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    cpu.step(&mut bus, &mut Silent);
    let Exit::Return(exc_return) = cpu.step(&mut bus, &mut Silent) else { panic!() };
    cpu.s[0] = 3.0f32.to_bits();
    cpu.leave(&mut bus, &mut Silent, exc_return).unwrap();
    assert_eq!((cpu.s[0], bus.scb.fpccr & fpccr::LSPACT), (3.0f32.to_bits(), 0));
    // Without laziness the seventeen words are stacked at once.
    bus.scb.fpccr &= !fpccr::LSPEN;
    let at = cpu.cycles;
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    assert_eq!(cpu.cycles - at, 29);
    assert_eq!(word(&bus, STACK - 0x68 + 0x20), 3.0f32.to_bits());
}

#[test]
fn an_exception_in_an_it_block_goes_on_with_the_rest_of_it() {
    let source = "cmp r0, r0\nittee eq\nmoveq r1, #1\nmoveq r2, #2\nmovne r1, #3\nmovne r2, #4\nbkpt #1\n.org 0x140\ncmp r0, #1\nbx lr";
    let (mut cpu, mut bus) = with_handler("thumb_it", source, 0x140);
    for _ in 0..3 {
        assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
    }
    assert_eq!((cpu.r[1], cpu.r[2]), (1, 0));
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    assert_eq!(cpu.psr & psr::IT, 0);
    let Exit::Return(exc_return) = cpu.run(&mut bus, &mut Silent) else { panic!() };
    cpu.leave(&mut bus, &mut Silent, exc_return).unwrap();
    assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Bkpt(1));
    assert_eq!((cpu.r[1], cpu.r[2]), (1, 2));
}

#[test]
fn a_return_that_cannot_be_is_a_usage_fault() {
    let (mut cpu, mut bus) = with_handler("thumb_invpc", "nop\n.org 0x140\nbx lr", 0x140);
    let invalid = |addr| Err(Exit::Usage { cause: Usage::InvalidPc, addr });
    assert_eq!(cpu.leave(&mut bus, &mut Silent, 0xFFFF_FFF9), invalid(0xFFFF_FFF9));
    cpu.enter(&mut bus, &mut Silent, TICK, Entry::Fresh).unwrap();
    assert_eq!(cpu.leave(&mut bus, &mut Silent, 0xFFFF_FFF0), invalid(0xFFFF_FFF0));
    // To Handler mode, with a status of Thread mode on the stack.
    assert_eq!(cpu.leave(&mut bus, &mut Silent, 0xFFFF_FFF1), invalid(0xFFFF_FFF1));
}

#[test]
fn what_the_machine_must_know_ends_the_loop_behind_the_instruction() {
    let source = "wfi\nwfe\nsev\nsvc #9\ncpsid i\nmsr basepri, r0\nbkpt #3";
    let (mut cpu, mut bus) = with_handler("thumb_exits", source, 0x140);
    cpu.r[0] = 0xFF;
    cpu.basepri_mask = 0xE0;
    let exits: Vec<_> = (0..7).map(|_| (cpu.run(&mut bus, &mut Silent), cpu.r[PC])).collect();
    assert_eq!(
        exits,
        [
            (Exit::Wfi, 0x102),
            (Exit::Wfe, 0x104),
            (Exit::Sev, 0x106),
            (Exit::Svc(9), 0x108),
            (Exit::Status, 0x10A),
            (Exit::Status, 0x10E),
            (Exit::Bkpt(3), 0x10E)
        ]
    );
    assert_eq!((cpu.primask, cpu.basepri), (1, 0xE0));
    assert!(!cpu.accepts_interrupts(0));
    cpu.primask = 0;
    assert!(cpu.accepts_interrupts(0xC0) && !cpu.accepts_interrupts(0xE0));
}

#[test]
fn traps_name_their_cause_and_change_nothing() {
    let source = "udiv r0, r1, r2\n.org 0x120\nldr r0, [r3, #1]\n.org 0x130\nldrd r0, r1, [r3, #4]\n.org 0x140\nudf #1\n.org 0x150\nvadd.f32 s0, s1, s2\n.org 0x160\nmcr p15, 0, r0, c0, c0, 0\n.org 0x170\nbx r4\n.org 0x180\nldr r0, [r5]";
    let (mut cpu, mut bus) = with_handler("thumb_traps", source, 0x140);
    bus.scb.ccr |= ccr::DIV_0_TRP | ccr::UNALIGN_TRP;
    bus.scb.cpacr = 0;
    cpu.r = [9, 5, 0, FlatBus::RAM + 2, 0x100, 0x5000_0000, 0, 0, 0, 0, 0, 0, 0, STACK, 0, 0];
    let before = cpu.r;
    let mut at = |pc: u32| {
        cpu.r = before;
        cpu.r[PC] = pc;
        let exit = cpu.run(&mut bus, &mut Silent);
        assert_eq!(
            (&cpu.r[..15], cpu.r[PC]),
            (&before[..15], if pc == 0x170 { 0x100 } else { pc })
        );
        exit
    };
    let usage = |cause, addr| Exit::Usage { cause, addr };
    assert_eq!(at(0x100), usage(Usage::DivideByZero, 0x100));
    assert_eq!(at(0x120), usage(Usage::Unaligned, FlatBus::RAM + 3));
    assert_eq!(at(0x130), usage(Usage::Unaligned, FlatBus::RAM + 6));
    assert_eq!(at(0x140), usage(Usage::Undefined, 0x140));
    assert_eq!(at(0x150), usage(Usage::NoCoprocessor, 0x150));
    assert_eq!(at(0x160), usage(Usage::NoCoprocessor, 0x160));
    assert_eq!(at(0x170), usage(Usage::InvalidState, 0x100));
    cpu.psr |= psr::T;
    cpu.r = before;
    cpu.r[PC] = 0x180;
    let Exit::Fault(fault) = cpu.run(&mut bus, &mut Silent) else { panic!() };
    assert_eq!(
        (fault.kind(), fault.addr(), fault.pc()),
        (&FaultKind::Unmapped, 0x5000_0000, Some(0x180))
    );
    assert!(fault.to_string().ends_with(": LDR R0, [R5]]"), "{fault}");
    assert_eq!(Usage::DivideByZero.ufsr(), 1 << 9);
}

#[test]
fn what_the_manual_calls_unpredictable_is_refused_with_its_address() {
    // ADD SP, R0, #1; POP {}; an LDR that writes back its own destination.
    for (i, words) in [[0xF100, 0x0D01], [0xBC00, 0xBF00], [0xF850, 0x0B04]].iter().enumerate() {
        let (mut cpu, mut bus) = machine(&[], Timing::CORTEX_M4);
        for (at, word) in words.iter().enumerate() {
            bus.code_mut()[2 * at..2 * at + 2].copy_from_slice(&u16::to_le_bytes(*word));
        }
        let exit = cpu.run(&mut bus, &mut Silent);
        let Exit::Fault(fault) = exit else { panic!("{i}: {exit:?}") };
        let FaultKind::IllegalOpcode { reason, .. } = fault.kind() else { panic!("{fault}") };
        assert!(reason.starts_with("UNPREDICTABLE"), "{fault}");
        assert_eq!((fault.addr(), cpu.cycles), (0, 0));
    }
}

#[test]
fn observers_hear_accesses_then_results_then_the_instruction() {
    let source =
        "push {r0, r1}\nldr r2, [sp], #4\nbl 1f\n1: umull r3, r4, r0, r1\nvmov s3, r0\nbx lr";
    let (mut cpu, mut bus) = with_handler("thumb_observer", source, 0x140);
    (cpu.r[0], cpu.r[1]) = (2, 3);
    let mut log = Log::default();
    for _ in 0..6 {
        cpu.step(&mut bus, &mut Pointed::new(&mut log));
    }
    assert_eq!(
        log.0,
        [
            "100 Write W32 20007ff8 2 at 1",
            "100 Write W32 20007ffc 3 at 2",
            "100 sp 20007ff8 cycles 3 Next",
            "102 Read W32 20007ff8 2 at 4",
            "R2 0 -> 2",
            "102 sp 20007ffc cycles 2 Next",
            "R14 0 -> 10b",
            "106 sp 20007ffc cycles 2 Call { target: 266 }",
            "R3 0 -> 6",
            "R4 0 -> 0",
            "10a sp 20007ffc cycles 2 Next",
            "R35 0 -> 2",
            "10e sp 20007ffc cycles 2 Next",
            "112 sp 20007ffc cycles 3 Return",
        ]
    );
}

/// The loop stops before the first instruction at or behind the limit, wherever it is, IT blocks included, and goes on as if it
/// had not stopped.
#[test]
fn the_cycle_limit_holds_before_every_instruction() {
    let source = "movs r0, #50\n1: subs r0, #1\nitte ne\naddne r1, #3\nldrne r2, [r3]\nmoveq r4, #1\nudiv r5, r1, r0\nbne 1b\nbkpt #0";
    let (mut cpu, mut bus) = with_handler("thumb_limit", source, 0x140);
    cpu.r[3] = FlatBus::RAM;
    let first = cpu.state();
    let mut steps = vec![first.clone()];
    while cpu.step(&mut bus, &mut Silent) == Exit::Deadline {
        steps.push(cpu.state());
    }
    let end = cpu.cycles;
    for limit in 1..=end {
        cpu.set_state(&first);
        bus.deadline = limit;
        assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Deadline, "{limit}");
        // Of folded instructions, which take no cycle, all or none may be behind it.
        let reached = cpu.state();
        assert_eq!(Some(&reached), steps.iter().find(|state| state.cycles >= limit), "{limit}");
    }
    // Resumed at every limit.
    cpu.set_state(&first);
    for limit in 1..=end {
        bus.deadline = limit;
        assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Deadline);
    }
    assert_eq!(Some(&cpu.state()), steps.last());
}

#[test]
fn a_block_that_has_run_stops_at_new_breakpoints_and_sees_new_code() {
    // 0x100 cmp, 0x102 itte eq, 0x104 moveq r1, 0x106 moveq r2, 0x108 movne r3, 0x10A b
    let source = "cmp r0, r0\nitte eq\nmoveq r1, #1\nmoveq r2, #2\nmovne r3, #3\nb 0x100";
    let (mut cpu, mut bus) = with_handler("thumb_block", source, 0x140);
    let turn = |cpu: &mut Cpu, bus: &mut FlatBus| {
        bus.deadline = cpu.cycles + 20;
        cpu.run(bus, &mut Silent)
    };
    assert_eq!(turn(&mut cpu, &mut bus), Exit::Deadline);
    assert_eq!(&cpu.r[1..4], [1, 2, 0]);
    for inside in [0x104, 0x106, 0x108] {
        cpu.set_breakpoints(&[inside]);
        assert_eq!((turn(&mut cpu, &mut bus), cpu.r[PC]), (Exit::Breakpoint, inside));
        assert_ne!(cpu.psr & psr::IT, 0, "{inside:#x} is in the block");
        assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
        assert_eq!((turn(&mut cpu, &mut bus), cpu.r[PC]), (Exit::Breakpoint, inside));
        assert_eq!(cpu.step(&mut bus, &mut Silent), Exit::Deadline);
        cpu.set_breakpoints(&[]);
        assert_eq!(turn(&mut cpu, &mut bus), Exit::Deadline);
    }
    bus.code_mut()[0x106] = 7;
    cpu.invalidate(0x106..0x107);
    assert_eq!(turn(&mut cpu, &mut bus), Exit::Deadline);
    assert_eq!((&cpu.r[1..4], cpu.cycles_uncached), (&[1, 7, 0][..], 0));
}

#[test]
fn changed_code_is_decoded_anew_and_code_in_ram_each_time() {
    let (mut cpu, mut bus) = with_handler("thumb_invalidate", "movs r0, #1\nb 0x100", 0x140);
    cpu.step(&mut bus, &mut Silent);
    cpu.step(&mut bus, &mut Silent);
    bus.code_mut()[0x100] = 2;
    cpu.invalidate(0x100..0x101);
    cpu.r[PC] = 0x100;
    cpu.step(&mut bus, &mut Silent);
    assert_eq!((cpu.r[0], cpu.cycles_uncached), (2, 0));
    for value in [3, 4] {
        // MOVS R0, #value in RAM, another megabyte.
        bus.ram_mut()[..2].copy_from_slice(&(0x2000u16 | value).to_le_bytes());
        cpu.r[PC] = FlatBus::RAM;
        cpu.step(&mut bus, &mut Silent);
        assert_eq!(cpu.r[0], u32::from(value));
    }
    assert_eq!(cpu.cycles_uncached, 2);
}

#[test]
fn the_exclusive_monitor_covers_all_of_memory() {
    let source = "ldrex r0, [r1]\nstrex r2, r0, [r3]\nstrex r4, r0, [r3]\nldrex r0, [r1]\nclrex\nstrex r5, r0, [r3]";
    let (mut cpu, mut bus) = with_handler("thumb_exclusive", source, 0x140);
    (cpu.r[1], cpu.r[3]) = (FlatBus::RAM, FlatBus::RAM + 8);
    bus.ram_mut()[0] = 7;
    for _ in 0..6 {
        cpu.step(&mut bus, &mut Silent);
    }
    assert_eq!((cpu.r[2], cpu.r[4], cpu.r[5], word(&bus, FlatBus::RAM + 8)), (0, 1, 1, 7));
}

#[test]
fn unprivileged_code_changes_no_mask_and_reads_zeros() {
    let source = "cpsid i\nmsr primask, r0\nmrs r1, msp\nmsr control, r2\nmrs r3, control\nmsr apsr_nzcvq, r4";
    let (mut cpu, mut bus) = with_handler("thumb_unprivileged", source, 0x140);
    cpu.control = control::NPRIV;
    (cpu.r[0], cpu.r[1], cpu.r[4]) = (1, 5, psr::N | psr::C | 3);
    for _ in 0..6 {
        cpu.step(&mut bus, &mut Silent);
    }
    assert_eq!((cpu.primask, cpu.r[1], cpu.r[3], cpu.control), (0, 0, 1, 1));
    assert_eq!(cpu.psr & psr::APSR, psr::N | psr::C);
}
