// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers: who spent the cycles, how deep the stack went.

use sunseal_mcu::profile::{Both, Profiler, StackWatch, TraceHash};
use sunseal_mcu::{Elf, Machine, Until};
use sunseal_trace::Silent;

use crate::asm::Arg::*;
use crate::asm::{RET, RETI, Size::W, single};
use crate::elf::{Part, image};
use crate::support::*;

/// main calls `outer` twice, which calls `inner` three times; a timer interrupts once in `inner`.
fn program() -> (Machine, Elf) {
    let mut p = Program::new();
    let to_main = p.ahead("JMP");
    let inner = p.here();
    p.put(single("PUSH", W, R(10)))
        .nops(7)
        .put(single("PUSH", W, R(10)))
        .op("ADD", Imm(4), R(1))
        .put(vec![RET]);
    let outer = p.here();
    for _ in 0..3 {
        p.call(inner);
    }
    p.put(vec![RET]);
    let tick = p.here();
    p.handler(VECTOR_TA0_CCR0).nops(2).set(TA0CCTL0, 0).put(vec![RETI]);
    let main = p.here();
    p.land(to_main);
    p.set(TA0CCR0, 60).set(TA0CCTL0, 0x10).set(TA0CTL, 0x0214).op("BIS", Imm(u32::from(GIE)), R(2));
    p.call(outer).call(outer).op("MOV", Imm(3), Abs(MPY)).op("MOV", Imm(3), Abs(OP2)).halt();
    let end = p.here();
    let bytes = image(
        &[Part { addr: CODE, load_addr: CODE, bytes: p.bytes() }],
        &[
            ("start", CODE, inner - CODE, true),
            ("inner", inner, outer - inner, true),
            ("outer", outer, tick - outer, true),
            ("tick", tick, main - tick, true),
            ("main", main, end - main, true),
        ],
    );
    (p.machine(), Elf::parse(&bytes).unwrap())
}

#[test]
fn folded_stacks_add_up_to_every_cycle() {
    let (mut m, elf) = program();
    let mut profiler = Profiler::new(m.device().multiplier().unwrap());
    m.run(&Until::halted(), &mut profiler);
    let folded = profiler.folded(&elf);
    let total: u64 =
        folded.lines().map(|l| l.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(total, m.cycles());
    let stacks: Vec<&str> = folded.lines().map(|l| l.rsplit_once(' ').unwrap().0).collect();
    assert!(stacks.contains(&"start;outer;inner") && stacks.contains(&"start;outer"), "{folded}");
    assert!(stacks.iter().any(|s| s.ends_with(";tick") && s.contains("outer")), "{folded}");
    // PUSH 3 + 7 NOPs + PUSH 3 + ADD #imm 2 + RET 4, six times.
    assert!(folded.contains("start;outer;inner 114\n"), "{folded}");
    let table = profiler.functions(&elf);
    let outer = table.iter().find(|f| f.0 == "outer").unwrap();
    // 3 CALL #imm 4 + RET 4, twice, and with its callees and the interrupt within them.
    assert_eq!(outer.1, 2 * (3 * 4 + 4));
    assert!(outer.2 >= outer.1 + 114);
    let mpy: u64 = profiler.stacks().iter().map(|s| s.mpy).sum();
    assert_eq!(mpy, 1);
}

#[test]
fn the_deepest_stack_is_found_and_observers_change_nothing() {
    let (mut silent, _) = program();
    silent.run(&Until::halted(), &mut Silent);
    let (mut m, _) = program();
    let mut both = Both(StackWatch::default(), TraceHash::<true>::default());
    m.run(&Until::halted(), &mut both);
    // Two calls, two pushes; the interrupt comes where it comes.
    assert!((8..=12).contains(&both.0.bytes()), "{}", both.0.bytes());
    assert_eq!(m.snapshot(), silent.snapshot());
    assert!(both.1.instructions() > 60);
}

#[test]
fn lines_are_profiled_where_the_image_has_them() {
    // Without debug data every line is unknown; the cycles are still all there.
    let (mut m, elf) = program();
    let mut profiler = Profiler::of(m.device()).by_address();
    m.run(&Until::halted(), &mut profiler);
    let lines = profiler.lines(&elf);
    assert_eq!(lines.iter().map(|l| l.1).sum::<u64>(), m.cycles());
}

#[test]
fn energy_is_shared_out_without_loss() {
    let (mut m, elf) = program();
    let mut profiler = Profiler::new(m.device().multiplier().unwrap());
    m.run(&Until::halted(), &mut profiler);
    // 2 nJ a cycle and 5 nJ a multiplication.
    let folded = profiler.folded_by(&elf, |s| 2 * s.cycles + 5 * s.mpy);
    let total: u64 =
        folded.lines().map(|l| l.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(total, 2 * m.cycles() + 5);
}
