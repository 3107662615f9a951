// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same bytes again: snapshots resume exactly, runs repeat exactly, slices change nothing.

use proptest::prelude::*;
use sunseal_mcu::profile::TraceHash;
use sunseal_mcu::{Machine, MachineError, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

/// A program that uses everything at once: timer interrupts asleep and awake, ADC, UART, multiplier,
/// flash writes, VLO, a change of clock.
fn busy() -> Program {
    let mut p = Program::new();
    p.set(UCSCTL4, 0x0144).op("MOV", Cg(0), R(10));
    p.set(PADIR, 3).set(UCA1CTLW0, 0x0081).set(UCA1BRW, 9).set(UCA1CTLW0, 0x0080);
    p.set(ADC12CTL0, 0x0210).set(ADC12CTL1, 0x0200).set(ADC12MCTL0, 0x000B);
    p.set(TA0CCR0, 7).set(TA0CCTL0, 0x10).set(TA0CTL, 0x0114);
    p.op("MOV", Imm(FLASH_DATA), R(8)).set(TB0CTL, 0x0224).set(TB0CCTL6, 0x5100);
    let again = p.here();
    p.sleep(LPM3 | GIE).op("ADD", Cg(1), R(10));
    p.op("MOV", R(10), Abs(MPY)).op("MOV", Imm(0x4321), Abs(OP2)).op("ADD", Abs(RESLO), R(11));
    p.op("ADD", Abs(TB0CCR6), R(11)).op_b("MOV", R(10), Abs(UCA1TXBUF)).op_b(
        "XOR",
        Cg(2),
        Abs(PAOUT),
    );
    p.op("BIS", Imm(3), Abs(ADC12CTL0)).op("ADD", Abs(ADC12MEM0), R(11));
    // Every eighth round a word goes to flash.
    p.op("BIT", Imm(7), R(10));
    let not_now = p.ahead("JNE");
    p.set(FCTL3, 0xA500)
        .set(FCTL1, 0xA540)
        .op("MOV", R(11), X(0, 8))
        .op("ADD", Cg(2), R(8))
        .set(FCTL3, 0xA510);
    p.land(not_now).set(UCSCTL2, 60).set(UCSCTL2, 0x101F).back("JMP", again);
    p.handler(VECTOR_TA0_CCR0).wake_and_return();
    p
}

fn run_to(m: &mut Machine, time_us: u64) -> u64 {
    let mut hash = TraceHash::<true>::default();
    let stop = m.run(&Until::time(Picos(1_000_000) * time_us), &mut hash);
    assert!(matches!(stop, Stop::Time | Stop::Halted), "{stop:?}");
    hash.hash()
}

#[test]
fn two_runs_give_the_same_trace_and_the_same_snapshot() {
    let (mut a, mut b) = (busy().machine(), busy().machine());
    assert_eq!(run_to(&mut a, 100_000), run_to(&mut b, 100_000));
    assert_eq!(a.snapshot(), b.snapshot());
    assert!(a.reg(10) > 80, "it does something: {} rounds", a.reg(10));
    assert!(a.uart_log().len() > 80 && a.pin_log().len() > 80);
    let mut c = busy().machine();
    c.set_unit_seed(5);
    run_to(&mut c, 100_000);
    assert_ne!(a.snapshot(), c.snapshot());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_restored_machine_goes_on_exactly(at_us in 10u64..60_000, more_us in 1u64..20_000) {
        let p = busy();
        let mut m = p.machine();
        run_to(&mut m, at_us);
        let saved = m.snapshot();
        let hash = run_to(&mut m, at_us + more_us);
        let after = m.snapshot();
        // Into a machine that has run elsewhere meanwhile.
        let mut other = p.machine();
        run_to(&mut other, 1_234);
        other.restore(&saved).unwrap();
        prop_assert_eq!(other.snapshot(), saved, "restoring and saving is the same");
        prop_assert_eq!(run_to(&mut other, at_us + more_us), hash);
        prop_assert_eq!(other.snapshot(), after);
    }

    #[test]
    fn a_run_in_slices_is_the_same_run(slices in prop::collection::vec(1u64..3_000, 1..40)) {
        let p = busy();
        let total: u64 = slices.iter().sum();
        let mut whole = p.machine();
        run_to(&mut whole, total);
        let mut sliced = p.machine();
        let mut at = 0;
        for s in slices {
            at += s;
            run_to(&mut sliced, at);
        }
        prop_assert_eq!(whole.registers(), sliced.registers());
        prop_assert_eq!(whole.cycles(), sliced.cycles());
        prop_assert_eq!(whole.time(), sliced.time());
        prop_assert_eq!(whole.ledger(), sliced.ledger());
        prop_assert_eq!(whole.pin_log(), sliced.pin_log());
        prop_assert_eq!(whole.uart_log(), sliced.uart_log());
    }

    #[test]
    fn steps_and_runs_agree(cycles in 100u64..20_000) {
        let p = busy();
        let mut run = p.machine();
        run.run(&Until::cycles(cycles), &mut Silent);
        let mut step = p.machine();
        // An address that is never reached makes it go instruction by instruction.
        let until = Until { cycles: Some(cycles), pc: vec![0xF000], ..Until::default() };
        step.run(&until, &mut Silent);
        prop_assert_eq!(run.snapshot(), step.snapshot());
    }

    #[test]
    fn a_cut_at_any_moment_leaves_the_same_flash_for_the_same_moment(at_us in 10u64..50_000, seed: u64) {
        let cut = || {
            let mut m = busy().machine();
            run_to(&mut m, at_us);
            m.power_cut();
            m.power_on(seed);
            m.run(&Until::time(Picos(m.time().0 + 5_000_000_000)), &mut Silent);
            m.snapshot()
        };
        prop_assert_eq!(cut(), cut());
    }
}

#[test]
fn an_old_machine_runs_as_a_young_one() {
    let lived = |off: Picos| {
        let mut m = busy().machine();
        run_to(&mut m, 20_000);
        m.power_cut();
        m.run(&Until::time(m.time() + off), &mut Silent);
        let (begun, edges) = (m.time(), m.pin_log().len());
        m.power_on(3);
        let mut hash = TraceHash::<true>::default();
        m.run(&Until::time(begun + Picos(100_000_000_000)), &mut hash);
        let kept = m.snapshot().to_bytes();
        let times: Vec<u128> = m.pin_log()[edges..].iter().map(|e| e.time().0 - begun.0).collect();
        // A snapshot holds times as late as these.
        let mut copy = busy().machine();
        copy.restore(&copy.read_snapshot(&kept).unwrap()).unwrap();
        assert_eq!(copy.time(), m.time());
        (hash.hash(), times)
    };
    const DAY: Picos = Picos(86_400_000_000_000_000);
    let young = lived(DAY);
    assert!(young.1.len() > 80, "{}", young.1.len());
    // Of an oscillator that begins anew the noise is another draw: two microseconds of these edges.
    let alike = |old: (u64, Vec<u128>), when: &str| {
        assert_eq!((old.0, old.1.len()), (young.0, young.1.len()), "{when}");
        let apart = old.1.iter().zip(&young.1).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(apart < Some(2_000_000), "{when}: {apart:?} ps");
    };
    alike(lived(DAY * 213), "where 64 bits of picoseconds end");
    alike(lived(DAY * 3650), "ten years");
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let mut m = busy().machine();
    let kept = m.snapshot();
    let saved = kept.to_bytes();
    assert_eq!(m.read_snapshot(&saved).unwrap(), kept);
    for bytes in [&saved[..saved.len() / 2], &[][..], &[0xFF; 64][..]] {
        let err = m.read_snapshot(bytes).unwrap_err();
        assert!(matches!(err, MachineError::Snapshot(_)), "{err}");
    }
    assert_eq!(m.snapshot(), kept, "a refused snapshot changes nothing");
}

#[test]
fn books_close_time_of_every_component_is_the_machines() {
    let mut m = busy().machine();
    run_to(&mut m, 80_000);
    let (ledger, now, v) = (m.ledger(), m.time(), m.vocabulary());
    for (id, name) in v.components() {
        assert_eq!(ledger.component_total(id).time, now, "{name}");
    }
    let cpu = v.find_component("cpu").unwrap();
    assert_eq!(ledger.component_total(cpu).cycles, m.cycles());
}
