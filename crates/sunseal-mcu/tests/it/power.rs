// SPDX-License-Identifier: MIT OR Apache-2.0
//! PMM, SVS, brown-out, resets and their causes, and what survives a cut.

use proptest::prelude::*;
use sunseal_mcu::{Device, LintKind, Machine, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::clocks::fast;
use crate::support::*;

#[test]
fn a_clock_above_the_core_levels_limit_faults_and_names_both() {
    let mut p = Program::new();
    // 16 MHz at level 1 (12 MHz).
    fast(&mut p, 1, 5, 488);
    let fault = fault_of(p.nops(10).halt());
    assert!(
        fault.contains("15.991 MHz") && fault.contains("12 MHz") && fault.contains("level 1"),
        "{fault}"
    );
    let mut p = Program::new();
    fast(&mut p, 2, 5, 488);
    p.halt().run();
}

#[test]
fn a_core_voltage_step_over_a_level_is_flagged() {
    let raised = |levels: &[u8]| {
        let mut p = Program::new();
        p.set_b(PMMCTL0 + 1, 0xA5).set(SVSMLCTL, 0);
        for &level in levels {
            p.set_b(PMMCTL0, level).nops(40);
        }
        p.halt().run().lint_count(LintKind::CoreVoltageStep)
    };
    assert_eq!(raised(&[1, 2]), 0);
    assert_eq!(raised(&[2]), 1);
}

#[test]
fn a_supply_below_the_levels_floor_faults() {
    let mut p = Program::new();
    fast(&mut p, 3, 6, 740);
    let end = p.here();
    p.nops(100).halt();
    let mut m = p.machine();
    m.set_vcc(2.5);
    assert_eq!(m.run(&Until::pc(end), &mut Silent), Stop::Pc(end));
    // SVSH at level 3 resets below 2.1 V; between that and the floor of 2.4 V the program is at fault.
    m.set_vcc(2.3);
    let fault = fault_in(&mut m);
    assert!(
        fault.contains("2.300 V") && fault.contains("2.4") && fault.contains("level 3"),
        "{fault}"
    );
}

#[test]
fn the_highest_clock_needs_the_highest_level() {
    let d = Device::msp430f5438a();
    for (level, mhz) in [(0, 8.0), (1, 12.0), (2, 20.0), (3, 25.0)] {
        assert_eq!(d.levels()[level].mclk_max_hz, (mhz * 1e6) as u32);
    }
}

#[test]
fn svsh_holds_in_reset_until_the_supply_is_back() {
    let mut p = Program::new();
    p.keep(SYSRSTIV).keep(SYSRSTIV).keep(SYSRSTIV);
    let forever = p.here();
    p.back("JMP", forever);
    let mut m = p.machine();
    m.run(&Until::cycles(500), &mut Silent);
    assert_eq!([kept(&m, 0), kept(&m, 1)], [2, 0]);
    // Below SVSH level 0 (1.60 V falling), above brown-out.
    m.set_vcc(1.55);
    assert_eq!(m.run(&Until::time(Picos(m.time().0 + 1_000_000)), &mut Silent), Stop::BrownOut);
    assert_eq!(m.state_of("cpu"), Some("off"));
    let cycles = m.cycles();
    m.set_vcc(1.65);
    assert_eq!(m.run(&Until::cycles(cycles + 100), &mut Silent), Stop::BrownOut, "hysteresis");
    m.set_vcc(3.0);
    assert_eq!(m.run(&Until::cycles(cycles + 500), &mut Silent), Stop::Cycles);
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0x0E, 0], "SYSRSTIV: SVSH");
}

/// A supply that falls at a moment of its own, the program at rest in LPM4 or running.
fn supervised(svsmhctl: u16, asleep: bool) -> Machine {
    let mut p = Program::new();
    p.set_b(PMMCTL0 + 1, 0xA5).set(SVSMHCTL, svsmhctl).set(RAM, 0x1234).nops(200);
    if asleep {
        p.halt();
    } else {
        let again = p.here();
        p.op("ADD", Cg(1), R(5)).back("JMP", again);
    }
    let mut m = p.machine();
    m.run(&Until::time(Picos(2_000_000_000)), &mut Silent);
    m
}

#[test]
fn svsh_resets_when_the_supply_was_low_for_its_delay() {
    // Level 3, 2.10 V, which is legal still at VCORE 0; SVSHFP decides.
    for (svsmhctl, delay_ps) in [(0x4F03, 2_500_000), (0x4703, 20_000_000)] {
        for asleep in [true, false] {
            let mut m = supervised(svsmhctl, asleep);
            let (resets, before) = (m.resets(), m.reg(5));
            let for_ps = |m: &mut Machine, ps: u128| {
                m.run(&Until::time(Picos(m.time().0 + ps)), &mut Silent)
            };
            // A dip that is shorter does nothing, not even to the next. Awake the last instruction adds to it.
            let dip_ps = if asleep { delay_ps - 1 } else { delay_ps / 10 };
            m.set_vcc(2.05);
            assert_ne!(for_ps(&mut m, dip_ps), Stop::BrownOut);
            m.set_vcc(3.0);
            assert_ne!(for_ps(&mut m, 10 * delay_ps), Stop::BrownOut);
            m.set_vcc(2.05);
            let low_ps = m.time().0;
            assert_ne!(for_ps(&mut m, dip_ps), Stop::BrownOut);
            m.set_vcc(2.06);
            // A snapshot goes on to the same moment.
            let kept = m.snapshot().to_bytes();
            let ends = |m: &mut Machine| {
                assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::BrownOut);
                assert_eq!(m.state_of("cpu"), Some("off"));
                (m.time().0 - low_ps, m.cycles(), m.reg(5))
            };
            let (low_for_ps, ..) = ends(&mut m);
            // Awake the instruction ends that is under way: 2 cycles of a microsecond at most.
            let late_ps = low_for_ps - delay_ps;
            assert!(late_ps <= if asleep { 0 } else { 2_000_000 }, "{delay_ps} {late_ps}");
            assert_eq!(m.reg(5) > before, !asleep, "it counts on meanwhile");
            let mut n = supervised(svsmhctl, asleep);
            let kept = n.read_snapshot(&kept).unwrap();
            n.restore(&kept).unwrap();
            let again = ends(&mut n);
            assert_eq!(again, (low_for_ps, m.cycles(), m.reg(5)));
            m.set_vcc(3.0);
            for_ps(&mut m, 1_000_000);
            assert_eq!(m.resets(), resets + 1);
        }
    }
    // Switched off.
    let mut m = supervised(0x4703, true);
    m.supervise_at_once(true);
    m.set_vcc(2.05);
    assert_eq!(m.state_of("cpu"), Some("off"));
}

#[test]
fn a_level_raised_above_the_supply_resets_once_it_has_settled() {
    let mut p = Program::new();
    // SVSH at level 3 (2.10 V) of a supply of 2.00 V, which is legal still at VCORE 0.
    p.nops(200).set_b(PMMCTL0 + 1, 0xA5).set(SVSMHCTL, 0x4F03);
    let again = p.here();
    p.op("ADD", Cg(1), R(5)).back("JMP", again);
    let mut m = p.machine();
    m.run(&Until::cycles(100), &mut Silent);
    m.set_vcc(2.0);
    assert_eq!(m.run(&Until::time(Picos(2_000_000_000)), &mut Silent), Stop::BrownOut);
    assert_eq!(m.state_of("cpu"), Some("off"));
    assert!(m.reg(5) > 0, "the level settles first");
}

#[test]
fn a_sleeping_machine_outlives_a_short_brown_out() {
    let mut m = supervised(0x4400, true);
    let cut = |m: &mut Machine, time_us: u128| {
        m.set_vcc(1.2);
        m.run(&Until::time(Picos(m.time().0 + time_us * 1_000_000)), &mut Silent);
        m.set_vcc(3.0);
    };
    cut(&mut m, 1);
    assert!(m.is_powered() && word(&m, RAM) == 0x1234);
    cut(&mut m, 2);
    assert!(!m.is_powered());
    // Where code would run no delay holds the reset up.
    let mut m = supervised(0x4400, false);
    cut(&mut m, 0);
    assert!(!m.is_powered());
}

#[test]
fn a_cut_at_any_cycle_keeps_flash_and_loses_ram_and_registers() {
    let mut p = Program::new();
    p.op("MOV", Imm(0xBEEF), R(10)).set(KEPT, 0x1234).op("ADD", Cg(1), Abs(KEPT + 2));
    let again = p.here();
    p.op("ADD", Cg(1), R(5)).op("MOV", R(5), Abs(KEPT + 4)).back("JMP", again);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(32));
    runner
        .run(&(20u64..5_000, any::<u64>()), |(cycles, seed)| {
            let mut m = p.machine();
            m.run(&Until::cycles(cycles), &mut Silent);
            let flash = m.read_mem(0x5C00, 0x40000).unwrap().to_vec();
            let info = m.read_mem(INFO_D, 0x200).unwrap().to_vec();
            let ram = m.read_mem(RAM, 0x4000).unwrap().to_vec();
            m.power_cut();
            prop_assert!(!m.is_powered());
            prop_assert_eq!(
                m.run(&Until::time(Picos(m.time().0 + 1_000)), &mut Silent),
                Stop::BrownOut
            );
            m.power_on(seed);
            prop_assert_eq!(m.read_mem(0x5C00, 0x40000).unwrap(), &flash[..]);
            prop_assert_eq!(m.read_mem(INFO_D, 0x200).unwrap(), &info[..]);
            let now = m.read_mem(RAM, 0x4000).unwrap();
            let same = ram.iter().zip(now).filter(|(a, b)| a == b).count();
            prop_assert!(same < 200, "{} bytes of RAM survived", same);
            prop_assert!(m.registers()[4..].iter().all(|r| r.value == 0));
            prop_assert_eq!(m.reg(0), CODE);
            // And it runs again.
            let until = Until::cycles(m.cycles() + 100);
            prop_assert_eq!(m.run(&until, &mut Silent), Stop::Cycles);
            Ok(())
        })
        .unwrap();
}

#[test]
fn ram_wakes_with_a_pattern_by_seed_never_the_same_for_two() {
    let mut m = Program::new().machine();
    let mut wake = |seed| {
        m.power_cut();
        m.power_on(seed);
        m.read_mem(RAM, 0x4000).unwrap().to_vec()
    };
    let (a, b, c) = (wake(1), wake(2), wake(1));
    assert_eq!(a, c);
    assert_ne!(a, b);
    let ones: u32 = a.iter().map(|b| b.count_ones()).sum();
    assert!((60_000..71_000).contains(&ones), "{ones} of 131072 bits");
}

#[test]
fn start_up_takes_the_time_of_the_data_sheet() {
    let mut m = Program::new().machine();
    m.power_cut();
    let before = m.time();
    m.power_on(1);
    // t(WAKE-UP-RESET), typical: 2 ms.
    assert_eq!(m.time().0 - before.0, 2_000_000_000);
}

#[test]
fn a_cut_stops_at_the_cycle_that_was_asked_for() {
    let mut p = Program::new();
    p.nops(10_000).halt();
    for cycles in [1_000, 1_001, 1_002] {
        let mut m = p.machine();
        m.run(&Until::cycles(cycles), &mut Silent);
        assert_eq!(m.cycles(), cycles);
        m.power_cut();
        assert_eq!(m.cycles(), cycles);
    }
}

#[test]
fn the_supply_below_brown_out_is_a_cut_and_needs_the_rising_level_to_come_back() {
    let mut m = Program::new().machine();
    m.set_vcc(1.2);
    assert!(!m.is_powered());
    m.power_on(3);
    assert!(!m.is_powered(), "1.2 V is below the rising level");
    m.set_vcc(3.0);
    m.power_on(3);
    assert!(m.is_powered());
}

#[test]
fn software_resets_name_their_cause_and_pmm_its_password() {
    for (ctl0, cause) in [(0xA504, 0x06), (0xA508, 0x14), (0x0000, 0x20)] {
        let mut p = Program::new();
        // BOR (2) comes first, once.
        p.until_cause(cause, |p| p.set(PMMCTL0, ctl0).nops(2)).halt();
        let m = p.run();
        assert_eq!(m.reg(5), cause, "PMMCTL0 = {ctl0:#x}");
    }
}

#[test]
fn a_software_brown_out_takes_the_reset_time() {
    let mut p = Program::new();
    p.until_cause(6, |p| p.set(PMMCTL0, 0xA504)).halt();
    let s = p.run().time().as_seconds();
    assert!((0.002..0.0022).contains(&s), "{s}");
}

#[test]
fn pmm_registers_are_locked_without_the_password() {
    let mut p = Program::new();
    p.until_cause(0x20, |p| p.set(SVSMHCTL, 0x4401)).halt();
    assert_eq!(p.run().reg(5), 0x20);
}

#[test]
fn pmm_flags_interrupt_through_sysnmi() {
    let mut p = Program::new();
    p.set_b(PMMCTL0 + 1, 0xA5).set(0x12E, 0x1101).set(SVSMLCTL, 0x4400).nops(400).halt();
    p.handler(VECTOR_SYSNMI).keep(SYSSNIV).put(vec![crate::asm::RETI]);
    let m = p.run();
    assert_eq!(kept(&m, 0), 6, "SVSMLDLYIFG");
}

#[test]
fn unknown_registers_and_unmapped_memory_trap_with_their_address() {
    for (addr, words) in [
        (0x0500, "DMA"),
        (0x04A0, "RTC_A"),
        (0x01F0, "0x001f0"),
        (0x4_5C00, "0x45c00"),
        (0x1B02, "0x01b02"),
    ] {
        let mut p = Program::new();
        p.put(crate::asm::double_x("MOV", crate::asm::Size::W, Abs(addr), R(5), crate::asm::ONCE));
        let fault = fault_of(&p);
        assert!(fault.contains(words) && fault.contains("pc 0x05c0a"), "{addr:#x}: {fault}");
    }
}

#[test]
fn code_outside_code_memory_odd_jumps_and_odd_words_trap() {
    let mut p = Program::new();
    p.op("MOV", Imm(0x0200), R(0));
    assert!(fault_of(&p).contains("0x00200"), "fetch from a register block");
    let mut p = Program::new();
    p.op("MOV", Imm(0x5C01), R(0));
    assert!(fault_of(&p).contains("odd"), "{}", fault_of(&p));
    let mut p = Program::new();
    p.op("MOV", Abs(RAM + 1), R(5));
    assert!(fault_of(&p).contains("odd address 0x01c01"));
    // Erased flash is AND.B @R15+, ...: it runs into what it does not understand, and says so.
    let mut p = Program::new();
    p.put(vec![0x0001 << 4 | 0x0080]);
    let mut m = Machine::new(&Device::msp430f5438a());
    assert!(matches!(m.run(&Until::cycles(1_000_000), &mut Silent), Stop::Fault(_)));
}

#[test]
fn switching_off_what_is_not_modelled_says_so() {
    for (addr, value, words) in
        [(0x0158, 0x0001, "RAM"), (0x0180, 0x0001, "SYSRIVECT"), (PMMCTL0, 0xA510, "LPM4.5")]
    {
        let mut p = Program::new();
        let fault = fault_of(p.set(addr, value));
        assert!(fault.contains(words) && fault.contains("not modelled"), "{fault}");
    }
}
