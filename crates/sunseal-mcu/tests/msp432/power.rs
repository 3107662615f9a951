// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clocks, power modes, sleep and wake-up, resets.

use crate::support::*;
use sunseal_mcu::{LintKind, Stop, Until};
use sunseal_trace::Silent;

/// Microseconds between two labels.
fn us_between(r: &mut Run, from: &str, to: &str) -> f64 {
    r.to(from);
    let start = r.m.time();
    r.to(to);
    r.m.time().since(start).as_seconds() * 1e6
}

#[test]
fn it_starts_with_the_dco_at_3_mhz_and_aclk_from_refo() {
    let r = Program::new("  halt\n").run();
    let p = Program::new(".global here\nhere: b here\n");
    let mut m = p.machine();
    m.to("here");
    let point = m.m.operating_point();
    assert_eq!((point.mclk_hz, point.smclk_hz, point.aclk_hz), (3_000_000, 3_000_000, 32_768));
    assert_eq!(point.vcore, 0);
    assert_eq!(r.m.state_of("cpu"), Some("lpm0"));
}

#[test]
fn the_clock_system_is_locked_without_its_key() {
    let text = |key: u32| {
        format!("  put CSKEY, {key}\n  put CSCTL0, 0x00030000\n  nop\n.global here\nhere: b here\n")
    };
    let mut locked = Program::new(&text(0x1234)).machine();
    locked.to("here");
    assert_eq!(locked.m.operating_point().mclk_hz, 3_000_000);
    assert_eq!(locked.m.lint_count(LintKind::LockedBits), 1);
    let mut open = Program::new(&text(0x695A)).machine();
    open.to("here");
    assert_eq!(open.m.operating_point().mclk_hz, 12_000_000);
}

#[test]
fn tuning_moves_the_dco_within_its_range_and_too_far_is_flagged() {
    let hz = |tune: u32| {
        let mut r = Program::new(&format!(
            "  put CSKEY, 0x695A\n  put CSCTL0, {}\n.global here\nhere: b here\n",
            1 << 16 | tune & 0x3FF
        ))
        .machine();
        r.to("here");
        (r.m.operating_point().mclk_hz, r.m.lint_count(LintKind::DcoRange))
    };
    // f = centre / (1 - K N / (1 + K (768 - FCAL))), K = 0.0019, FCAL = 450.
    let slope = 0.0019 / (1.0 + 0.0019 * 318.0);
    for tune in [100i32, -100] {
        let (got, lints) = hz(tune as u32);
        let want = 3e6 / (1.0 - slope * f64::from(tune));
        assert!((f64::from(got) - want).abs() < 1.0, "{got} {want}");
        assert_eq!(lints, 0);
    }
    assert_eq!(hz(400).1, 1);
}

#[test]
fn crystals_need_their_pins_their_time_and_to_be_fitted() {
    let p = Program::new(
        "
  putb PJSEL0, 3
  put CSKEY, 0x695A
  put CSCTL2, 0x00010103
  keep CSIFG
1:
  put CSCLRIFG, 1
  get r0, CSIFG
  tst r0, #1
  bne 1b
.global here
here:
  keep CSSTAT
  halt
",
    );
    let mut r = p.machine();
    r.m.fit_crystal("lfxt", 32_768).unwrap();
    r.m.fit_crystal("hfxt", 48_000_000).unwrap();
    r.to("here");
    let s = r.m.time().as_seconds();
    assert!((1.0..1.01).contains(&s), "{s}");
    r.halt();
    assert_eq!(r.kept(0) & 1, 1);
    assert_eq!(r.kept(1) >> 6 & 1, 1, "LFXT_ON");
    // Without a crystal its fault stays.
    let mut none = p.machine();
    let stop = none.m.run(&Until::cycles(6_000_000), &mut Silent);
    assert_eq!(stop, Stop::Cycles);
}

const TO_VCORE1: &str = "
  put PCMCTL0, 0x695A0001
1:
  get r0, PCMCTL1
  tst r0, #0x100
  bne 1b
";

#[test]
fn core_voltage_1_allows_48_mhz_and_takes_its_time() {
    let p = Program::new(&format!(
        "
.global from, to, here
from:
{TO_VCORE1}
to:
  keep PCMCTL0
  put BANK0_RDCTL, 0x1000
  put CSKEY, 0x695A
  put CSCTL0, 0x00050000
here:
  b here
"
    ));
    let mut r = p.machine();
    let us = us_between(&mut r, "from", "to");
    assert!((300.0..305.0).contains(&us), "{us}");
    r.to("here");
    assert_eq!(r.m.operating_point().mclk_hz, 48_000_000);
    assert_eq!(r.m.operating_point().vcore, 1);
    assert_eq!(r.kept(0) & 0xFFFF, 0x0101);
    // Without the core voltage the same clock is a fault.
    let fault = Program::new(
        "  put BANK0_RDCTL, 0x1000\n  put CSKEY, 0x695A\n  put CSCTL0, 0x00050000\n  nop\n  nop\n",
    )
    .fault();
    assert!(fault.contains("48.000 MHz") && fault.contains("24 MHz"), "{fault}");
}

#[test]
fn regulator_changes_are_levels_of_their_own_and_jumps_are_refused() {
    let mut r = Program::new(
        "
  put PCMCTL0, 0x695A0004
1:
  get r0, PCMCTL1
  tst r0, #0x100
  bne 1b
  keep PCMCTL0
  @ From DC/DC at core voltage 0 not to core voltage 1 of the LDO.
  put PCMCTL0, 0x695A0001
  keep PCMIFG
.global here
here:
  b here
",
    )
    .machine();
    r.to("here");
    assert_eq!(r.kept(0) >> 8 & 0x3F, 4);
    assert_eq!(r.kept(1), 4, "AM_INVALID_TR");
    assert_eq!(r.m.operating_point().vcore, 2);
}

#[test]
fn lpm0_ends_four_cycles_behind_the_interrupt() {
    let p = Program::new(
        "
  puth TA0 + 0x12, 999
  puth TA0 + 0x02, 0x10
  enable_irq 8
  ldr r0, =TA0
  mov r1, #0x0214
.global start_timer, asleep, handler
start_timer:
  strh r1, [r0]
asleep:
  wfi
  halt
handler:
  ldr r0, =TA0
  mov r1, #0
  strh r1, [r0, #2]
  bx lr
",
    )
    .irq(8, "handler");
    let mut r = p.machine();
    let us = us_between(&mut r, "start_timer", "handler");
    // 999 counts to the flag, four cycles to wake, twelve to enter; the first count comes within a tick.
    let cycles = us * 3.0;
    assert!((999.0 + 4.0 + 12.0..999.0 + 4.0 + 12.0 + 3.0).contains(&cycles), "{cycles}");
    r.halt();
}

#[test]
fn lpm3_goes_on_with_the_rtc_and_wakes_in_8_us() {
    let p = Program::new(
        "
  puth RTC, 0xA510
  puth (RTC + 2), 0x0000
  enable_irq 29
  put SCR, 4
.global asleep, handler
asleep:
  wfi
  halt
alarm:
  nop
handler:
  geth r0, (RTC + 0xE)
  keepr r0
  keeph (RTC + 0x10)
  puth RTC, 0xA500
  bx lr
",
    )
    .irq(29, "alarm");
    let mut r = p.machine();
    r.to("asleep");
    let until = Until { state_change: true, ..Until::default() };
    assert_eq!(r.m.run(&until, &mut Silent), Stop::StateChange);
    assert_eq!(r.m.state_of("cpu"), Some("lpm3"));
    assert_eq!(r.m.operating_point().mclk_hz, 0);
    r.to("handler");
    let s = r.m.time().as_seconds();
    // The second, the wake-up and the entry.
    let late_us = (s - 1.0) * 1e6;
    assert!((8.0..80.0).contains(&late_us), "{late_us}");
    r.halt();
    assert_eq!([r.kept(0), r.kept(1)], [4, 1], "RDYIFG, one second");
    let asleep = r.m.ledger();
    assert!(asleep.spans().count() > 3);
}

#[test]
fn without_rtc_and_watchdog_lpm3_is_lpm4_and_a_pin_wakes() {
    let p = Program::new(
        "
  putb P1IE, 2
  enable_irq 35
  put SCR, 4
.global asleep, handler
asleep:
  wfi
  halt
port1:
  nop
handler:
  keeph P1IV
  bx lr
",
    )
    .irq(35, "port1");
    let mut r = p.machine();
    r.to("asleep");
    let half = sunseal_trace::Picos(500_000_000_000);
    assert_eq!(r.m.run(&Until::time(half), &mut Silent), Stop::Time);
    assert_eq!(r.m.state_of("cpu"), Some("lpm4"));
    r.m.set_pin("P1.1".parse().unwrap(), Some(true));
    r.to("handler");
    let us = r.m.time().since(half).as_seconds() * 1e6;
    let want = 8.0 + (12.0 + 1.0) / 3.0;
    assert!((us - want).abs() < 0.01, "8 us, entry and a NOP at 3 MHz: {us}");
    r.halt();
    assert_eq!(r.kept(0), 4);
}

#[test]
fn a_timer_that_wants_its_clock_keeps_lpm3_from_coming() {
    let p = Program::new(
        "
  puth TA0 + 0x12, 999
  puth TA0 + 0x02, 0x10
  puth TA0, 0x0214
  enable_irq 8
  put SCR, 4
  wfi
  keep PCMIFG
  halt
handler:
  puth TA0 + 0x02, 0
  bx lr
",
    )
    .irq(8, "handler");
    let r = p.run();
    assert_eq!(r.kept(0), 2, "LPM_INVALID_CLK");
}

#[test]
fn sram_that_is_not_retained_is_lost_in_lpm3() {
    let p = Program::new(
        "
  put SYS_SRAM_BANKRET, 0x01
  ldr r0, =0x20001800
  ldr r1, =0x20006000
  ldr r2, =0x12345678
  str r2, [r0]
  str r2, [r1]
  putb P1IE, 2
  enable_irq 35
  put SCR, 4
.global asleep
asleep:
  cpsid i
  wfi
  halt
",
    );
    let mut r = p.machine();
    r.to("asleep");
    r.m.run(&Until::time(sunseal_trace::Picos(1_000_000_000)), &mut Silent);
    r.m.set_pin("P1.1".parse().unwrap(), Some(true));
    r.halt();
    assert_eq!(r.word(0x2000_1800), 0x1234_5678);
    assert_ne!(r.word(0x2000_6000), 0x1234_5678);
}

#[test]
fn lpm45_loses_all_and_a_pin_starts_the_program_anew() {
    let p = Program::new(
        "
  get r0, PCMCTL1
  tst r0, #1
  bne again
  ldr r0, =0x20001800
  ldr r2, =0x12345678
  str r2, [r0]
  putb P1IE, 2
  put PCMCTL0, 0x695A00C0
  put SCR, 4
.global asleep
asleep:
  wfi
  b asleep
again:
  put PCMCTL1, 0x695A0000
  keep PCMCTL1
  halt
",
    );
    let mut r = p.machine();
    r.to("asleep");
    r.m.run(&Until::time(sunseal_trace::Picos(10_000_000_000)), &mut Silent);
    assert_eq!(r.m.state_of("cpu"), Some("lpm45"));
    let before = r.m.time();
    r.m.set_pin("P1.1".parse().unwrap(), Some(true));
    r.halt();
    assert!(r.m.time().since(before).as_seconds() > 800e-6);
    assert_ne!(r.word(0x2000_1800), 0x1234_5678);
    assert_eq!(r.kept(0) & 3, 0, "unlocked");
}

#[test]
fn the_watchdog_resets_and_leaves_its_cause() {
    let p = Program::new(
        "
  get r0, RSTCTL + 4
  tst r0, #2
  bne second
1:
  b 1b
second:
  puth WDTCTL, 0x5A84
  keep RSTCTL + 4
  halt
",
    )
    .bare();
    let r = p.run();
    assert_eq!(r.kept(0), 2, "hard reset source 1: time-out");
    assert!((32_768..32_900).contains(&r.m.cycles()), "{}", r.m.cycles());
}

#[test]
fn a_supply_below_its_supervisor_holds_the_chip() {
    let p = Program::new(".global here\nhere: b here\n");
    let mut r = p.machine();
    r.to("here");
    r.m.set_vcc(1.5);
    assert_eq!(r.m.run(&Until::cycles(u64::MAX), &mut Silent), Stop::BrownOut);
    r.m.set_vcc(3.0);
    r.to("here");
    r.m.power_cut();
    r.m.power_on(7);
    r.to("here");
}

#[test]
fn a_snapshot_goes_back_to_the_same_future() {
    let p = Program::new(
        "
  put CPACR, 0x00F00000
  puth TA0 + 0x12, 77
  puth TA0 + 0x02, 0x10
  enable_irq 8
  puth TA0, 0x0214
  vmov.f32 s3, #1.5
1:
  vadd.f32 s3, s3, s3
  add r5, #3
  b 1b
handler:
  ldr r0, =TA0
  mov r1, #0x10
  strh r1, [r0, #2]
  add r6, r5
  ldr r1, =0x20002000
  str r6, [r1]
  bx lr
",
    )
    .irq(8, "handler");
    let mut r = p.machine();
    r.m.run(&Until::cycles(5_003), &mut Silent);
    let snapshot = r.m.snapshot();
    let look = |r: &mut Run| {
        r.m.run(&Until::cycles(50_007), &mut Silent);
        (r.m.registers(), r.m.time(), r.word(0x2000_2000), r.m.ledger())
    };
    let first = look(&mut r);
    r.m.restore(&snapshot).unwrap();
    assert_eq!(look(&mut r), first);
    let bytes = snapshot.to_bytes();
    let mut other = p.machine();
    let read = other.m.read_snapshot(&bytes).unwrap();
    other.m.restore(&read).unwrap();
    assert_eq!(look(&mut other), first);
    assert_eq!(read.to_bytes(), bytes);
}

/// Register (a halfword, or a word), its value before, and its value behind LPM3.5 and LPM4.5; none: noise, or not what it was.
type Survival = (&'static str, bool, u32, [Option<u32>; 2]);

/// Block by block: LPM3.5 keeps the RTC, the watchdog and bank 0 of the SRAM, LPM4.5 nothing (SLAU356I section 8.8); reset
/// values by each chapter's registers.
const SURVIVALS: &[Survival] = &[
    ("(RTC + 0x16)", false, 2031, [Some(2031), None]),
    ("(RTC + 0x18)", false, 0x1234, [Some(0x1234), None]),
    ("(TA0 + 0x14)", false, 0x1234, [Some(0), Some(0)]),
    ("(UCA0 + 6)", false, 0x33, [Some(0), Some(0)]),
    ("T32", true, 0x1234, [Some(0), Some(0)]),
    ("(ADC14 + 0x18)", true, 5, [Some(0), Some(0)]),
    ("0x20001800", true, 0x1234_5678, [Some(0x1234_5678), None]),
    ("0x20006000", true, 0x1234_5678, [None, None]),
];

#[test]
fn deep_sleep_takes_of_each_block_what_the_manual_says() {
    let wide = |wide: &bool| if *wide { "" } else { "h" };
    let sets: String = SURVIVALS
        .iter()
        .map(|(at, w, value, _)| format!("  put{} {at}, {value}\n", wide(w)))
        .collect();
    let keeps: String =
        SURVIVALS.iter().map(|(at, w, ..)| format!("  keep{} {at}\n", wide(w))).collect();
    for (column, (lpmr, state)) in [(0xA0, "lpm35"), (0xC0, "lpm45")].into_iter().enumerate() {
        let p = Program::new(&format!(
            "
  get r0, PCMCTL1
  tst r0, #1
  bne again
  puth RTC, 0xA500
{sets}  puth (RTC + 2), 0
  putb P1IE, 2
  put PCMCTL0, 0x695A0000 + {lpmr}
  put SCR, 4
.global asleep
asleep:
  wfi
  b asleep
again:
{keeps}  halt
"
        ));
        let mut r = p.machine();
        r.to("asleep");
        r.m.run(&Until::time(sunseal_trace::Picos(10_000_000_000)), &mut Silent);
        assert_eq!(r.m.state_of("cpu"), Some(state));
        r.m.set_pin("P1.1".parse().unwrap(), Some(true));
        r.halt();
        for (i, (register, _, set, behind)) in SURVIVALS.iter().enumerate() {
            match behind[column] {
                Some(value) => assert_eq!(r.kept(i as u32), value, "{register} behind {state}"),
                None => assert_ne!(r.kept(i as u32), *set, "{register} behind {state}"),
            }
        }
    }
}
