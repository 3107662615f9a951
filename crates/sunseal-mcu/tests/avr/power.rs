// SPDX-License-Identifier: MIT OR Apache-2.0

use sunseal_mcu::{Device, Machine, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::support::*;

#[test]
fn the_watchdog_resets_in_its_time_unless_it_is_told_otherwise() {
    // The shortest time-out; R20 counts what the program saw of WDRF.
    let source = "in r20, MCUCSR\n sbrc r20, 3\n rjmp done\n clr r16\n out MCUCSR, r16\n ldi r16, 0x08\n out WDTCR, r16\n KICK l: rjmp l\n done: rjmp done";
    let elf = assemble(&source.replace("KICK", ""));
    let mut m = load(&elf);
    assert_eq!(m.run(&Until::time(Picos(14_700_000_000)), &mut Silent), Stop::Time);
    assert_eq!((m.resets(), m.state_of("wdt")), (3, Some("on")));
    // 14.8 ms, then 69 ms and 16384 cycles of start-up.
    assert_eq!(m.run(&Until::time(Picos(85_000_000_000)), &mut Silent), Stop::Time);
    let done = elf.symbol("done").unwrap().addr;
    assert_eq!(
        m.run(&Until { cycles: Some(2_000_000), ..Until::pc(done) }, &mut Silent),
        Stop::Pc(done)
    );
    assert_eq!(m.reg(20) & 0x08, 0x08);
    let started = micros(m.time());
    assert!((started - (14_800.0 + 69_000.0 + 16384e6 / f64::from(HZ))).abs() < 20.0, "{started}");
    // Kicked in time it stays quiet.
    let elf = assemble(&source.replace("KICK", "k: wdr\n rjmp k\n"));
    let mut m = load(&elf);
    assert_eq!(m.run(&Until::time(Picos(100_000_000_000)), &mut Silent), Stop::Time);
    assert_eq!(m.resets(), 3);
}

#[test]
fn the_watchdog_is_switched_off_only_by_its_timed_sequence() {
    let on = "ldi r16, 0x0F\n out WDTCR, r16\n clr r17\n ldi r18, 0x18\n";
    let m = run(&format!(
        "{on} out WDTCR, r17\n in r19, WDTCR\n out WDTCR, r18\n out WDTCR, r17\n in r20, WDTCR\n done: rjmp done"
    ));
    assert_eq!((r(&m, 19), r(&m, 20)), (0x0F, 0x00));
    let m = run(&format!(
        "{on} out WDTCR, r18\n nop\n nop\n nop\n nop\n out WDTCR, r17\n in r20, WDTCR\n done: rjmp done"
    ));
    assert_eq!(r(&m, 20), 0x0F);
}

#[test]
fn reset_causes_are_flagged_and_cleared_by_zeros() {
    let m = run("in r18, MCUCSR\n clr r16\n out MCUCSR, r16\n in r19, MCUCSR\n done: rjmp done");
    assert_eq!((r(&m, 18), r(&m, 19)), (1, 0));
}

#[test]
fn xdiv_divides_every_clock_from_the_next_cycle_on() {
    let m = run(
        "ldi r16, 1\n out TCCR2, r16\n ldi r16, 0xFF\n out XDIV, r16\n nop\n nop\n nop\n nop\n in r18, TCNT2\n done: rjmp done",
    );
    // 129 - 127 = 2.
    assert_eq!(m.operating_point().mclk_hz, HZ / 2);
    let cycles = m.cycles();
    assert_eq!(m.time(), Picos::of_ticks(4 + 2 * (cycles - 4), HZ));
    assert_eq!(r(&m, 18), 6);
}

fn faults(set_up: impl FnOnce(&mut Machine)) -> String {
    let mut m = load(&assemble("l: rjmp l"));
    set_up(&mut m);
    match m.run(&Until::cycles(1000), &mut Silent) {
        Stop::Fault(fault) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn clock_supply_and_fuses_that_the_part_forbids_are_faults() {
    let fast = faults(|m| m.fit_crystal("xtal", 8_000_001).unwrap());
    assert!(fast.contains("8 MHz"), "{fast}");
    let low = faults(|m| m.set_vcc(2.6));
    assert!(low.contains("2.7"), "{low}");
    let high = faults(|m| m.set_vcc(5.6));
    assert!(high.contains("5.5"), "{high}");
    let none = faults(|m| m.fit_crystal("xtal", 0).unwrap());
    assert!(none.contains("xtal"), "{none}");
    let old = faults(|m| {
        m.write_mem(FUSES, &[0xFF, 0xD9, 0xFD]).unwrap();
        m.reset();
    });
    assert!(old.contains("M103C"), "{old}");
}

#[test]
fn a_new_chip_runs_at_one_megahertz() {
    let mut m = Machine::new(&Device::named("atmega128l").unwrap());
    m.load(&assemble("l: rjmp l")).unwrap();
    assert_eq!(m.run(&Until::cycles(1000), &mut Silent), Stop::Cycles);
    assert_eq!((m.operating_point().mclk_hz, m.time()), (1_000_000, Picos(1_000_000_000)));
}

#[test]
fn the_brown_out_detector_holds_in_reset_where_its_fuse_is_programmed() {
    let elf = assemble("in r20, MCUCSR\n l: rjmp l");
    let mut m = load(&elf);
    m.write_mem(FUSES, &[0xBF, 0xD9, 0xFF]).unwrap();
    m.reset();
    assert_eq!(m.state_of("bod"), Some("on"));
    let until = Until::cycles(m.cycles() + 100);
    assert_eq!(m.run(&until, &mut Silent), Stop::Cycles);
    m.set_vcc(2.55);
    assert_eq!(m.run(&Until::cycles(u64::MAX), &mut Silent), Stop::BrownOut);
    assert_eq!(m.state_of("cpu"), Some("off"));
    m.set_vcc(2.65);
    assert_eq!(m.run(&Until::cycles(u64::MAX), &mut Silent), Stop::BrownOut);
    m.set_vcc(3.0);
    let until = Until::cycles(m.cycles() + 100);
    assert_eq!(m.run(&until, &mut Silent), Stop::Cycles);
    assert_eq!(m.reg(20) & 0x04, 0x04);
    m.set_vcc(1.0);
    assert!(!m.is_powered());
}

#[test]
fn the_brown_out_detector_takes_its_time() {
    // BODLEVEL programmed: 4.0 V, below which this part is legal still.
    let mut m = load(&assemble("l: rjmp l"));
    m.write_mem(FUSES, &[0x3F, 0xD9, 0xFF]).unwrap();
    m.set_vcc(5.0);
    m.reset();
    let for_ns =
        |m: &mut Machine, ns: u128| m.run(&Until::time(Picos(m.time().0 + ns * 1000)), &mut Silent);
    for_ns(&mut m, 10_000);
    let resets = m.resets();
    m.set_vcc(3.9);
    assert_eq!(for_ns(&mut m, 1_500), Stop::Time);
    m.set_vcc(5.0);
    assert_eq!(for_ns(&mut m, 100_000), Stop::Time);
    m.set_vcc(3.9);
    let low = m.time();
    assert_eq!(m.run(&Until::cycles(u64::MAX), &mut Silent), Stop::BrownOut);
    let late_ns = m.time().since(low).0 as f64 / 1e3 - 2000.0;
    // The jump under way ends: two cycles.
    assert!((0.0..2e9 / f64::from(HZ)).contains(&late_ns), "{late_ns}");
    m.set_vcc(5.0);
    for_ns(&mut m, 1000);
    assert_eq!(m.resets(), resets + 1);
}

#[test]
fn memory_wakes_with_a_pattern_and_flash_stays() {
    let elf = assemble("l: rjmp l");
    let mut m = load(&elf);
    m.write_mem(DATA + 0x100, &[0; 16]).unwrap();
    m.power_cut();
    assert_eq!(m.run(&Until::time(Picos(1_000_000_000)), &mut Silent), Stop::BrownOut);
    m.power_on(42);
    assert_ne!(m.read_mem(DATA + 0x100, 16).unwrap(), [0; 16]);
    assert_eq!(m.read_mem(0, 2).unwrap(), [0xFF, 0xCF]);
    // 69 ms and 16384 cycles.
    let up = micros(m.time());
    assert!((up - 1000.0 - 69_000.0 - 16384e6 / f64::from(HZ)).abs() < 1.0, "{up}");
}
