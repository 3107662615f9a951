// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oscillators, the PLL, voltage ranges, and what is refused.

use crate::support::*;
use sunseal_mcu::LintKind;

/// The clock and the level of the operating point at `here`.
fn point(text: &str) -> (u32, u8) {
    let mut r = Program::new(&format!("{text}\n.global here\nhere: b here\n")).machine();
    r.to("here");
    let p = r.m.operating_point();
    (p.mclk_hz, p.vcore)
}

#[test]
fn it_starts_on_msi_at_4_mhz_in_range_1() {
    assert_eq!(point(""), (4_000_000, 1));
    let r = Program::new("  keep RCC_CR\n  keep RCC_CFGR\n  keep FLASH_ACR\n  halt\n").run();
    assert_eq!(
        [r.kept(0), r.kept(1), r.kept(2)],
        [0x63, 0, 0x600],
        "as the register description has them"
    );
    assert_eq!(r.m.state_of("cpu"), Some("sleep"));
}

#[test]
fn msi_has_twelve_ranges() {
    // MSIRGSEL makes MSIRANGE the one that counts.
    let at = |range: u32| {
        point(&format!("  put FLASH_ACR, 0x602\n  put RCC_CR, {}", 0x9 | range << 4)).0
    };
    assert_eq!([at(0), at(4), at(7), at(11)], [100_000, 1_000_000, 8_000_000, 48_000_000]);
}

#[test]
fn the_pll_multiplies_and_takes_its_time_to_lock() {
    // MSI / 1 x 40 / 2 = 80 MHz with four wait states.
    let p = Program::new(
        "
  put FLASH_ACR, 0x604
  put RCC_PLLCFGR, 0x01002801
  put RCC_CR, 0x01000061
.global from, to, here
from:
  until_set RCC_CR, 0x02000000
to:
  put RCC_CFGR, 3
  keep RCC_CFGR
here:
  b here
",
    );
    let mut r = p.machine();
    r.to("from");
    let us = r.us_to("to");
    assert!((13.0..20.0).contains(&us), "{us}");
    r.to("here");
    assert_eq!(r.m.operating_point().mclk_hz, 80_000_000);
    assert_eq!(r.kept(0), 0xF, "SWS follows SW");
}

#[test]
fn a_clock_above_what_range_or_wait_states_allow_is_a_fault() {
    let range_2 = "  put RCC_APB1ENR1, 0x10000000\n  put PWR_CR1, 0x400\n";
    // 32 MHz in Range 2, with wait states enough.
    let fault = Program::new(&format!(
        "{range_2}  put FLASH_ACR, 0x603\n  put RCC_CR, 0xA9\n  nop\n  halt\n"
    ))
    .fault();
    assert!(fault.contains("32.000 MHz exceeds the 26 MHz that Range 2 allows"), "{fault}");
    assert_eq!(
        point(&format!("{range_2}  put FLASH_ACR, 0x603\n  put RCC_CR, 0x99")),
        (24_000_000, 0)
    );
    // 16 MHz needs no wait state in Range 1, and two in Range 2.
    assert_eq!(point("  put RCC_CR, 0x89"), (16_000_000, 1));
    let fault = Program::new(&format!(
        "{range_2}  put FLASH_ACR, 0x601\n  put RCC_CR, 0x89\n  nop\n  halt\n"
    ))
    .fault();
    assert!(
        fault.contains("16.000 MHz with 1 wait states, which allow 12 MHz in Range 2"),
        "{fault}"
    );
    let fault = Program::new("  put FLASH_ACR, 0x600\n  put RCC_CR, 0x99\n  nop\n  halt\n").fault();
    assert!(
        fault.contains("24.000 MHz with 0 wait states, which allow 16 MHz in Range 1"),
        "{fault}"
    );
}

#[test]
fn the_low_power_run_mode_allows_2_mhz() {
    let low = "  put RCC_APB1ENR1, 0x10000000\n  put RCC_CR, 0x59\n  put PWR_CR1, 0x4200\n";
    assert_eq!(point(low), (2_000_000, 2));
    let fault = Program::new(&format!("{low}  put RCC_CR, 0x69\n  nop\n  halt\n")).fault();
    assert!(fault.contains("exceeds the 2 MHz that the low-power run mode allows"), "{fault}");
}

#[test]
fn a_higher_clock_waits_until_range_1_is_reached() {
    let up = |wait: &str| {
        format!(
            "
  put RCC_APB1ENR1, 0x10000000
  put PWR_CR1, 0x400
  put PWR_CR1, 0x200
  keep PWR_SR2
{wait}
  put FLASH_ACR, 0x602
  put RCC_CR, 0xA9
  nop
.global here
here: b here
"
        )
    };
    let fault = Program::new(&up("")).fault();
    assert!(fault.contains("until PWR_SR2.VOSF is clear"), "{fault}");
    let mut r = Program::new(&up("  until_clear PWR_SR2, 0x400")).machine();
    r.to("here");
    assert_eq!((r.m.operating_point().mclk_hz, r.kept(0) & 0x400), (32_000_000, 0x400));
}

#[test]
fn a_pll_outside_its_bounds_or_changed_while_on_is_refused() {
    // 4 MHz x 8 = 32 MHz.
    let low =
        Program::new("  put RCC_PLLCFGR, 0x01000801\n  put RCC_CR, 0x01000061\n  halt\n").fault();
    assert!(low.contains("VCO is at 32 MHz, outside 64 to 344 MHz"), "{low}");
    let none =
        Program::new("  put RCC_PLLCFGR, 0x01002802\n  put RCC_CR, 0x01000061\n  halt\n").fault();
    assert!(none.contains("PLLON without a source"), "{none}");
    let on = "  put RCC_PLLCFGR, 0x01002801\n  put RCC_CR, 0x01000061\n  put RCC_PLLCFGR, 0x01002001\n  halt\n";
    assert!(Program::new(on).fault().contains("while the PLL is on"));
}

#[test]
fn lse_needs_dbp_its_crystal_and_two_seconds() {
    let mut r = Program::new("  lse\n.global here\nhere: b here\n").machine();
    let s = r.us_to("here") / 1e6;
    assert!((2.0..2.01).contains(&s), "{s}");
    assert_eq!(r.m.operating_point().aclk_hz, 32_768);
    assert_eq!(r.m.state_of("timer_oscillator"), Some("on"));
    let locked = Program::new("  put RCC_APB1ENR1, 0x10000000\n  put RCC_BDCR, 1\n  halt\n").run();
    assert_eq!(locked.m.lint_count(LintKind::LockedBits), 1);
    assert_eq!(locked.m.state_of("timer_oscillator"), Some("off"));
}

#[test]
fn a_block_without_a_clock_says_which_bit_is_missing() {
    let fault = Program::new("  put USART2, 0\n  halt\n").fault();
    assert!(fault.contains("USART2") && fault.contains("bit 17 of RCC_APB1ENR1"), "{fault}");
    let fault = Program::new("  put 0x40007400, 0\n  halt\n").fault();
    assert!(fault.contains("DAC1 and OPAMP, which is not modelled"), "{fault}");
}

#[test]
fn what_the_system_runs_on_cannot_be_switched_off() {
    let r = Program::new("  put RCC_CR, 0x160\n  keep RCC_CR\n  halt\n").run();
    assert_eq!(r.kept(0) & 3, 3, "MSI stays on");
    assert_eq!(r.m.lint_count(LintKind::LockedBits), 1);
}

/// SysTick's least and greatest count on entry to its handler, behind what sets the CPU's clock.
fn counts_on_entry(clock: &str) -> Run {
    Program::new(&format!(
        "
{clock}  put 0xE000E014, 999
  put 0xE000E018, 0
  mov r4, #0
  ldr r5, =0xFFFF
  mov r6, #0
  put 0xE000E010, 7
1:
  wfi
  cmp r4, #60
  bne 1b
  put 0xE000E010, 0
  keepr r5
  keepr r6
  halt
.global handler
handler:
  ldr r0, =0xE000E018
  ldr r1, [r0]
  add r4, #1
  cmp r4, #3
  bls 2f
  cmp r1, r5
  it lo
  movlo r5, r1
  cmp r1, r6
  it hi
  movhi r6, r1
2:
  bx lr
"
    ))
    .exception(15, "handler")
    .run()
}

/// SysTick runs by the CPU's own clock: its count on entry is one value, whatever the period.
#[test]
fn a_timer_of_the_cpus_own_source_has_one_count_on_entry_to_its_handler() {
    let latency = "  put 0x40022000, 0x604
";
    let mut clocks = vec![format!(
        "{latency}  put 0x40021000, 0x99
"
    )];
    // The PLL of 4 MHz times N by 4, and divided for the CPU.
    for n in (16..=80).step_by(3) {
        let (pll, divided) = (0x0300_0001 | n << 8, if n % 2 == 0 { 3 } else { 0x83 });
        clocks.push(format!(
            "{latency}  put RCC_PLLCFGR, {pll}
  put RCC_CR, 0x01000061
  until_set RCC_CR, 0x02000000
  put RCC_CFGR, {divided}
"
        ));
    }
    for clock in clocks {
        let r = counts_on_entry(&clock);
        assert!(r.kept(0) > 900, "{clock}");
        assert_eq!(r.kept(0), r.kept(1), "{clock}");
    }
}
