// SPDX-License-Identifier: MIT OR Apache-2.0
//! Brown-out, the supply voltage supervisor, resets, snapshots.

use sunseal_mcu::{Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

fn ms(n: u128) -> Picos {
    Picos(n * 1_000_000_000)
}

#[test]
fn below_brown_out_it_is_off_and_ram_is_lost() {
    let mut p = Program::new();
    p.set(RAM, 0x1234);
    let again = p.here();
    p.back("JMP", again);
    let mut m = p.machine();
    m.run(&Until::time(ms(1)), &mut Silent);
    m.set_vcc(1.6);
    assert!(matches!(m.run(&Until::time(ms(2)), &mut Silent), Stop::Fault(_)), "too low to run at");
    m.set_vcc(1.4);
    assert_eq!(m.run(&Until::time(ms(3)), &mut Silent), Stop::BrownOut);
    assert_eq!(m.state_of("cpu"), Some("off"));
    m.set_vcc(1.5);
    m.power_on(7);
    assert!(!m.is_powered(), "below the rising level");
    m.set_vcc(3.0);
    m.power_on(7);
    assert_ne!(word(&m, RAM), 0x1234);
    assert_eq!(m.time(), Picos(ms(3).0 + 2_000_000_000), "2 ms from power-on");
}

#[test]
fn the_supervisor_flags_or_resets_below_its_level() {
    // VLD = 5: 2.4 V; without PORON only the flag.
    let mut p = Program::new();
    p.set_b(SVSCTL, 0x50);
    let again = p.here();
    p.op_b("BIT", Imm(1), Abs(SVSCTL)).back("JEQ", again).keep_b(SVSCTL).halt();
    let mut m = p.machine();
    m.run(&Until::time(ms(1)), &mut Silent);
    assert_eq!(m.state_of("svs"), Some("on"));
    m.set_vcc(2.35);
    halt(&mut m);
    assert_eq!(kept(&m, 0), 0x50 | 0x04 | 0x02 | 0x01, "SVSON, SVSOP, SVSFG");
    // With PORON it is held in reset, and starts again above the level.
    let mut p = Program::bare();
    p.set(WDTCTL, 0x5A80).keep_b(SVSCTL).set_b(SVSCTL, 0x58);
    let again = p.here();
    p.back("JMP", again);
    let mut m = p.machine();
    m.run(&Until::time(ms(1)), &mut Silent);
    assert_eq!(kept(&m, 0), 0);
    let resets = m.resets();
    m.set_vcc(2.35);
    assert_eq!(m.run(&Until::time(ms(2)), &mut Silent), Stop::BrownOut);
    m.set_vcc(2.41);
    assert_eq!(m.run(&Until::time(ms(3)), &mut Silent), Stop::BrownOut, "within the hysteresis");
    m.set_vcc(2.5);
    m.run(&Until::time(ms(4)), &mut Silent);
    assert_eq!(m.resets(), resets + 1);
    // The register survives, and says who it was.
    assert_eq!(kept(&m, 0) & 0xF9, 0x59);
}

#[test]
fn a_supervisor_that_has_not_settled_says_nothing() {
    let mut p = Program::new();
    // 3.35 V at a supply of 3 V: low, but only 12 us on.
    p.set_b(SVSCTL, 0xC0).keep_b(SVSCTL).nops(20).keep_b(SVSCTL);
    assert_eq!(all_kept(&p.run_halted()), [0xC0, 0xC7]);
}

#[test]
fn the_dco_follows_the_supply() {
    let mut p = Program::new();
    p.set_b(BCSCTL1, 0x87);
    let again = p.here();
    p.back("JMP", again);
    let mut m = p.machine();
    m.run(&Until::time(ms(1)), &mut Silent);
    let at_3v = m.operating_point().mclk_hz;
    m.set_vcc(2.2);
    m.run(&Until::time(ms(2)), &mut Silent);
    let at_2v2 = m.operating_point().mclk_hz;
    assert_eq!((at_3v, at_2v2), (3_200_000, 2_900_000));
}

#[test]
fn a_snapshot_goes_on_where_it_was_taken() {
    let mut p = Program::new();
    p.set(TACCR0, 99).set(TACCTL0, 0x10).set(TACTL, 0x0114).op("MOV", Cg(0), R(5));
    let again = p.here();
    p.sleep(LPM3 | GIE).op("ADD", Cg(1), R(5)).back("JMP", again);
    p.handler(VECTOR_TA_CCR0).wake_and_return();
    let mut m = p.machine();
    m.run(&Until::time(ms(10)), &mut Silent);
    let snapshot = m.snapshot();
    m.run(&Until::time(ms(50)), &mut Silent);
    let (registers, ledger, cycles) = (m.registers(), m.ledger(), m.cycles());
    let mut n = p.machine();
    let read = n.read_snapshot(&snapshot.to_bytes()).unwrap();
    n.restore(&read).unwrap();
    n.run(&Until::time(ms(50)), &mut Silent);
    assert_eq!((n.registers(), n.cycles()), (registers, cycles));
    assert!(n.ledger().spans().eq(ledger.spans()));
    let other = sunseal_mcu::Machine::new(&sunseal_mcu::Device::msp430f5438a()).snapshot();
    assert!(n.restore(&other).unwrap_err().to_string().contains("another device"));
}

#[test]
fn states_and_events_of_a_run_are_in_its_vocabulary() {
    let mut p = Program::new();
    p.keep(FLASH_DATA);
    let m = p.run_halted();
    let v = m.vocabulary();
    for component in ["cpu", "flash", "adc12", "ref", "svs"] {
        assert!(v.find_component(component).is_some(), "{component}");
    }
    assert!(m.register("R16").is_err());
}
