// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sleep, Stop, Standby: what goes on, what wakes, and behind which time.

use crate::support::*;
use sunseal_mcu::{Stop, Until};
use sunseal_trace::{Picos, Silent};

/// The RTC's wakeup timer every second, by line 20 of EXTI.
const EVERY_SECOND: &str = "
  lse
  put (RTC + 0x24), 0xCA
  put (RTC + 0x24), 0x53
  put (RTC + 0x14), 0
  put (RTC + 0x08), 0x4404
  put EXTI_RTSR1, 0x100000
  put EXTI_IMR1, 0x100000
  enable_irq 3
";

const HANDLER: &str = "
.global handler
handler:
  put (RTC + 0x0C), 0
  put EXTI_PR1, 0x100000
  bx lr
";

fn sleeper(lpms: u32) -> Program {
    Program::new(&format!(
        "{EVERY_SECOND}
  put PWR_CR1, {}
  put SCR, 4
.global loop
loop:
  wfi
  b loop
{HANDLER}",
        0x300 | lpms
    ))
    .irq(3, "handler")
}

#[test]
fn a_program_that_polls_sees_the_wakeup_timer_run_out_without_its_interrupt() {
    let mut r = Program::new(
        "
  lse
  put (RTC + 0x24), 0xCA
  put (RTC + 0x24), 0x53
  put (RTC + 0x14), 0
  put (RTC + 0x08), 0x404
.global armed
armed:
  until_set (RTC + 0x0C), 0x400
.global over
over:
  halt
",
    )
    .machine();
    r.to("armed");
    let s = r.us_to("over") / 1e6;
    assert!((0.9..1.001).contains(&s), "{s}");
}

#[test]
fn the_rtc_ends_each_stop_mode_every_second() {
    let mut first_s = Vec::new();
    for (lpms, state) in [(0, "stop0"), (1, "stop1"), (2, "stop2")] {
        let mut r = sleeper(lpms).machine();
        r.to("handler");
        first_s.push(r.m.time().as_seconds());
        let s = r.us_to("handler") / 1e6;
        assert!((s - 1.0).abs() < 1e-4, "{state}: {s}");
        r.m.run(&Until::time(Picos(r.m.time().0 + 500_000_000_000)), &mut Silent);
        assert_eq!(r.m.state_of("cpu"), Some(state));
        assert_eq!((r.m.operating_point().mclk_hz, r.m.operating_point().aclk_hz), (0, 32_768));
    }
    // The same edge of the crystal, and 4.1, 6.6 and 8.0 us behind it.
    for (n, later_us) in [(1, 2.5), (2, 3.9)] {
        let us = (first_s[n] - first_s[0]) * 1e6;
        assert!((us - later_us).abs() < 0.01, "{us}");
    }
}

#[test]
fn a_wake_up_from_stop_2_loses_the_pll() {
    let p = Program::new(&format!(
        "{EVERY_SECOND}
  put FLASH_ACR, 0x604
  put RCC_PLLCFGR, 0x01002801
  put RCC_CR, 0x01000061
  until_set RCC_CR, 0x02000000
  put RCC_CFGR, 3
  put PWR_CR1, 0x302
  put SCR, 4
  wfi
  keep RCC_CFGR
  keep RCC_CR
.global awake
awake:
  halt
{HANDLER}"
    ))
    .irq(3, "handler");
    let mut r = p.machine();
    r.to("awake");
    assert_eq!((r.kept(0) & 0xF, r.kept(1) & 0x0300_0000), (0, 0), "MSI, and no PLL");
    assert_eq!(r.m.operating_point().mclk_hz, 4_000_000);
}

#[test]
fn a_pending_line_of_exti_keeps_it_from_stopping() {
    let p = Program::new(
        "
  put RCC_APB1ENR1, 0x10000000
  put PWR_CR1, 0x202
  put SCR, 4
  @ A software edge of line 0, whose interrupt is not enabled in the NVIC.
  put 0x40010410, 1
  put EXTI_IMR1, 1
  wfi
.global awake
awake:
  put EXTI_PR1, 1
1:
  wfi
  b 1b
",
    );
    let mut r = p.machine();
    r.to("awake");
    assert_eq!(r.m.run(&Until::halted(), &mut Silent), Stop::Halted);
    assert_eq!(r.m.state_of("cpu"), Some("stop2"));
}

#[test]
fn a_serial_interface_that_still_sends_cannot_be_stopped_silently() {
    let fault = Program::new(
        "
  put RCC_APB1ENR1, 0x10020000
  put (USART2 + 0x0C), 35
  put USART2, 9
  put (USART2 + 0x28), 0x48
  put PWR_CR1, 0x202
  put SCR, 4
  wfi
  halt
",
    )
    .fault();
    assert!(fault.contains("still sends"), "{fault}");
}

#[test]
fn lptim_counts_the_crystal_through_stop_2() {
    let p = Program::new(
        "
  lse
  put RCC_APB1ENR1, 0x90000000
  put RCC_CCIPR, 0x000C0000
  put (LPTIM1 + 8), 2
  put (LPTIM1 + 0x10), 1
  put (LPTIM1 + 0x18), 16383
  enable_irq 65
  put (LPTIM1 + 0x10), 5
  put PWR_CR1, 0x302
  put SCR, 4
1:
  wfi
  b 1b
.global handler
handler:
  put (LPTIM1 + 4), 2
  bx lr
",
    )
    .irq(65, "handler");
    let mut r = p.machine();
    r.to("handler");
    let s = r.us_to("handler") / 1e6;
    assert!((s - 0.5).abs() < 1e-4, "{s}");
}

#[test]
fn standby_loses_the_ram_and_ends_by_a_reset_that_says_so() {
    let p = Program::new(&format!(
        "
  put RCC_APB1ENR1, 0x10000000
  get r0, PWR_SR1
  tst r0, #0x100
  bne 2f
{EVERY_SECOND}
  put (RTC + 0x50), 0x12345678
  put PWR_CR1, 0x303
  put SCR, 4
  wfi
2:
  keep PWR_SR1
  keep (RTC + 0x50)
  keep RCC_CSR
  halt
"
    ));
    let mut r = p.machine();
    let resets = r.m.resets();
    r.halt();
    assert_eq!(
        [r.kept(0), r.kept(1)],
        [0x8100, 0x1234_5678],
        "SBF and WUFI; the backup registers stay"
    );
    let s = r.m.time().as_seconds();
    assert!((3.0..3.001).contains(&s), "{s}");
    assert_eq!(r.m.resets(), resets, "the end of Standby is not counted as one");
}

#[test]
fn sleep_costs_six_cycles_to_leave() {
    let p = Program::new(
        "
  put RCC_APB1ENR1, 1
  put (TIM2 + 0x2C), 99
  put (TIM2 + 0x14), 1
  put (TIM2 + 0x10), 0
  put (TIM2 + 0x0C), 1
  enable_irq 28
  cpsid i
  put TIM2, 1
  wfi
.global awake
awake:
  keep (TIM2 + 0x24)
  halt
",
    );
    let mut r = p.machine();
    r.to("awake");
    r.halt();
    // The counter begins anew with the wake-up; six cycles, then those of the two loads.
    assert!((6..12).contains(&r.kept(0)), "{}", r.kept(0));
}

#[test]
fn a_snapshot_goes_back_to_the_same_machine() {
    let mut r = sleeper(2).machine();
    r.to("handler");
    let snapshot = r.m.snapshot();
    let bytes = snapshot.to_bytes();
    let again = r.m.read_snapshot(&bytes).unwrap();
    r.to("handler");
    let (time, cycles) = (r.m.time(), r.m.cycles());
    r.m.restore(&again).unwrap();
    r.to("handler");
    assert_eq!((r.m.time(), r.m.cycles()), (time, cycles));
}

#[test]
fn a_supply_outside_its_bounds_is_a_fault_and_a_loss_forgets_the_calendar() {
    let mut r = sleeper(2).machine();
    r.to("handler");
    r.m.set_vcc(0.0);
    r.m.run(&Until::time(Picos(r.m.time().0 + 1_000_000_000)), &mut Silent);
    r.m.set_vcc(3.0);
    r.m.power_on(7);
    let us = r.us_to("loop");
    assert!(us > 2e6, "LSE starts anew: {us}");
}

/// Register, its value before, and its value behind Stop 2, Standby and Shutdown; none: it wakes with noise.
type Survival = (&'static str, u32, [Option<u32>; 3]);

const fn kept(value: u32) -> [Option<u32>; 3] {
    [Some(value); 3]
}

const fn lost(value: u32, reset: u32) -> [Option<u32>; 3] {
    [Some(value), Some(reset), Some(reset)]
}

/// Block by block: Stop 2 keeps all registers and both SRAMs (RM0351 section 5.3.8), Standby and Shutdown the
/// backup domain (5.3.9, 5.3.10); reset values by each chapter's registers.
const SURVIVALS: &[Survival] = &[
    ("(RTC + 0x50)", 0x1234_5678, kept(0x1234_5678)),
    ("RCC_BDCR", 0x8103, kept(0x8103)),
    ("(TIM2 + 0x2C)", 999, lost(999, 0xFFFF_FFFF)),
    ("(TIM2 + 0x34)", 0x1234, lost(0x1234, 0)),
    ("(USART2 + 0x0C)", 0x45, lost(0x45, 0)),
    ("(GPIOC + 0x14)", 5, lost(5, 0)),
    ("(GPIOC + 0x00)", 0xFFFF_FFF5, lost(0xFFFF_FFF5, 0xFFFF_FFFF)),
    ("RCC_CCIPR", 4, lost(4, 0)),
    ("EXTI_FTSR1", 0x10, lost(0x10, 0)),
    ("0x20002000", 0xF00D_F00D, [Some(0xF00D_F00D), None, None]),
    ("0x10000100", 0xF00D_F00D, [Some(0xF00D_F00D), None, None]),
];

#[test]
fn deep_sleep_takes_of_each_block_what_the_manual_says() {
    let clocks = "  put RCC_APB1ENR1, 0x10020001\n  put RCC_AHB2ENR, 0xFF\n";
    let sets: String = SURVIVALS
        .iter()
        .map(|(register, value, _)| format!("  put {register}, {value}\n"))
        .collect();
    let keeps: String =
        SURVIVALS.iter().map(|(register, ..)| format!("  keep {register}\n")).collect();
    for (column, (lpms, state)) in
        [(2, "stop2"), (3, "standby"), (4, "shutdown")].into_iter().enumerate()
    {
        // A backup register says which life it is.
        let p = Program::new(&format!(
            "
  get r0, (RTC + 0x54)
  cmp r0, #0x77
  beq 2f
{EVERY_SECOND}{clocks}  put (RTC + 0x54), 0x77
{sets}  put PWR_CR1, {}
  put SCR, 4
.global asleep
asleep:
  wfi
2:
{clocks}{keeps}  halt
.ltorg
{HANDLER}",
            0x300 | lpms
        ))
        .irq(3, "handler");
        let mut r = p.machine();
        r.to("asleep");
        r.m.run(&Until::time(Picos(r.m.time().0 + 500_000_000_000)), &mut Silent);
        assert_eq!(r.m.state_of("cpu"), Some(state));
        r.halt();
        for (i, (register, set, behind)) in SURVIVALS.iter().enumerate() {
            match behind[column] {
                Some(value) => assert_eq!(r.kept(i as u32), value, "{register} behind {state}"),
                None => assert_ne!(r.kept(i as u32), *set, "{register} behind {state}"),
            }
        }
    }
}
