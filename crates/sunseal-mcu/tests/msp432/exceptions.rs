// SPDX-License-Identifier: MIT OR Apache-2.0
//! NVIC, SysTick, DWT, faults: who comes when, and after how many cycles.

use crate::support::*;

/// A store to the system control space takes one cycle; what it leads to is taken behind it.
const STORE: u64 = 1;
const ENTRY: u64 = 12;
const TAIL_CHAIN: u64 = 6;
const EXIT: u64 = 10;
const NOP: u64 = 1;
/// BX of an EXC_RETURN costs what a branch by register costs in `Timing::CORTEX_M4`: one and its refill.
const BX: u64 = 3;

#[test]
fn entry_takes_twelve_cycles_and_return_ten() {
    let p = Program::new(
        "
  enable_irq 8
  ldr r0, =ISPR0
  mov r1, #0x100
.global trigger, behind, handler, leave
trigger:
  str r1, [r0]
  nop
  nop
behind:
  halt
handler:
  nop
leave:
  bx lr
",
    )
    .irq(8, "handler");
    let mut r = p.machine();
    let trigger = r.to("trigger");
    let handler = r.to("handler");
    assert_eq!(handler - trigger, STORE + ENTRY);
    // The frame of eight words, and EXC_RETURN to Thread mode on the main stack.
    assert_eq!(r.reg("SP"), 0x2000_FFE0);
    assert_eq!(r.reg("LR"), 0xFFFF_FFF9);
    assert_eq!(r.reg("xPSR") & 0x1FF, 24);
    assert_eq!(r.word(0x2000_FFE0 + 4), 0x100, "R1 in its place");
    let leave = r.to("leave");
    assert_eq!(r.to("behind") - leave, BX + EXIT + 2 * NOP);
    assert_eq!(r.reg("SP"), 0x2001_0000);
    r.halt();
}

#[test]
fn two_that_wait_are_tail_chained_in_order_of_priority() {
    let p = Program::new(
        "
  priority 8, 0x40
  priority 9, 0x20
  enable_irq 8
  enable_irq 9
  ldr r0, =ISPR0
  mov r1, #0x300
.global trigger, first, second, leave, behind
trigger:
  str r1, [r0]
behind:
  halt
first:
  nop
leave:
  bx lr
second:
  bx lr
",
    )
    .irq(9, "first")
    .irq(8, "second");
    let mut r = p.machine();
    let trigger = r.to("trigger");
    assert_eq!(r.to("first") - trigger, STORE + ENTRY);
    let leave = r.to("leave");
    let second = r.to("second");
    assert_eq!(second - leave, BX + TAIL_CHAIN);
    assert_eq!(r.reg("SP"), 0x2000_FFE0, "one frame for both");
    assert_eq!(r.to("behind") - second, BX + EXIT);
}

#[test]
fn a_higher_priority_nests_and_an_equal_one_waits() {
    let text = |priority: u8| {
        format!(
            "
  priority 8, 0x60
  priority 9, {priority}
  enable_irq 8
  enable_irq 9
  put ISPR0, 0x100
  halt
outer:
  put ISPR0, 0x200
  mov r2, #1
  orr r6, r6, #1
  mrs r0, ipsr
  keepr r0
  bx lr
inner:
  mrs r0, ipsr
  keepr r0
  bx lr
"
        )
    };
    let run = |priority| Program::new(&text(priority)).irq(8, "outer").irq(9, "inner").run();
    let nested = run(0x20);
    assert_eq!([nested.kept(0), nested.kept(1)], [25, 24]);
    let waits = run(0x60);
    assert_eq!([waits.kept(0), waits.kept(1)], [24, 25]);
}

#[test]
fn a_late_arrival_takes_the_place_of_what_is_being_stacked() {
    // SysTick (priority 0) falls due while input 8 (priority 0x80) is entered: one frame, 12 cycles, its
    // handler first, then the other by tail-chaining.
    let p = |delay: u32| {
        Program::new(&format!(
            "
  priority 8, 0x80
  enable_irq 8
  put SYST_RVR, {delay}
  put SYST_CVR, 0
  ldr r0, =ISPR0
  mov r1, #0x100
  ldr r2, =SYST_CSR
  mov r3, #7
  isb
.global trigger, low, tick, behind
  str r3, [r2]
trigger:
  str r1, [r0]
behind:
  halt
low:
  .rept 40
  nop
  .endr
  bx lr
tick:
  ldr r2, =SYST_CSR
  mov r3, #0
  str r3, [r2]
  bx lr
"
        ))
        .irq(8, "low")
        .exception(15, "tick")
    };
    // The tick comes so many cycles behind the store that starts it; one cycle later the entry begins.
    let mut late = p(5).machine();
    let trigger = late.to("trigger");
    let tick = late.to("tick");
    assert_eq!(tick - trigger, STORE + ENTRY, "nothing is lost");
    assert_eq!(late.reg("SP"), 0x2000_FFE0);
    late.to("low");
    assert_eq!(late.reg("SP"), 0x2000_FFE0, "chained onto the same frame");
    // Behind the entry it nests.
    let mut nested = p(30).machine();
    nested.to("low");
    nested.to("tick");
    assert_eq!(nested.reg("SP"), 0x2000_FFC0);
}

#[test]
fn masks_hold_interrupts_back_until_they_are_lifted() {
    let p = Program::new(
        "
  priority 8, 0x40
  enable_irq 8
  cpsid i
  put ISPR0, 0x100
  mov r6, #1
  cpsie i
  mov r6, #2
  mov r0, #0x40
  msr basepri, r0
  put ISPR0, 0x100
  mov r6, #3
  mov r0, #0x60
  msr basepri, r0
  mov r6, #4
  nop
  halt
handler:
  keepr r6
  bx lr
",
    )
    .irq(8, "handler")
    .run();
    assert_eq!([p.kept(0), p.kept(1)], [1, 3]);
}

#[test]
fn systick_counts_down_and_interrupts_every_reload_plus_one_cycles() {
    let p = Program::new(
        "
  put SYST_RVR, 999
  put SYST_CVR, 0
  put SYST_CSR, 7
again:
  wfi
  b again
tick:
  ldr r0, =DIO
  ldrb r1, [r0, #2]
  eor r1, #1
  strb r1, [r0, #2]
  mov r1, #1
  strb r1, [r0, #4]
  bx lr
",
    )
    .exception(15, "tick");
    let mut r = p.machine();
    let until = sunseal_mcu::Until::cycles(60_000);
    r.m.run(&until, &mut sunseal_trace::Silent);
    let edges: Vec<u128> = r.m.pin_log().iter().map(|e| e.time_ps).collect();
    assert!(edges.len() > 20, "{}", edges.len());
    for pair in edges[2..].windows(2) {
        let ticks = (pair[1] - pair[0]) as f64 * 1e-12 * 3e6;
        assert!((ticks - 1000.0).abs() < 0.01, "{ticks}");
    }
}

#[test]
fn cyccnt_counts_cycles_once_trace_is_enabled() {
    let r = Program::new(
        "
  put DWT_CTRL, 1
  keep DWT_CYCCNT
  put DEMCR, 0x01000000
  put DWT_CTRL, 1
  ldr r0, =DWT_CYCCNT
  mov r1, #0
  str r1, [r0]
  nop
  nop
  nop
  nop
  nop
  ldr r2, [r0]
  ldr r3, [r0]
  keepr r2
  keepr r3
  halt
",
    )
    .run();
    assert_eq!(r.kept(0), 0, "TRCENA is clear");
    // From the cycle of the store to that of the load: five NOPs, the load's first cycle, the store's own.
    assert!((6..=8).contains(&r.kept(1)), "{}", r.kept(1));
    assert!((1..=2).contains(&(r.kept(2) - r.kept(1))), "loads pair");
}

#[test]
fn exccnt_counts_the_cycles_of_entry_and_exit() {
    let r = Program::new(
        "
  put DEMCR, 0x01000000
  put DWT_CTRL, 0x00040001
  enable_irq 8
  put ISPR0, 0x100
  keep DWT_EXCCNT
  halt
handler:
  bx lr
",
    )
    .irq(8, "handler")
    .run();
    assert_eq!(u64::from(r.kept(0)), ENTRY + EXIT);
}

#[test]
fn wfe_waits_for_an_event_and_sev_is_one() {
    let r = Program::new(
        "
  sev
  wfe
  mov r6, #1
  keepr r6
  @ An input that becomes pending is an event with SEVONPEND, enabled or not.
  put SCR, 0x10
  put TA0 + 0x12, 100
  puth TA0 + 0x02, 0x10
  puth TA0, 0x0214
  wfe
  mov r6, #2
  keepr r6
  put ICPR0, 0x100
  halt
",
    )
    .run();
    assert_eq!([r.kept(0), r.kept(1)], [1, 2]);
}

#[test]
fn wfi_wakes_with_primask_set_and_goes_on_without_a_handler() {
    let r = Program::new(
        "
  puth TA0 + 0x12, 300
  puth TA0 + 0x02, 0x10
  enable_irq 8
  cpsid i
  puth TA0, 0x0214
  wfi
  keeph TA0 + 0x02
  halt
",
    )
    .run();
    assert_eq!(r.kept(0) & 0x11, 0x11);
}

#[test]
fn sleep_on_exit_does_without_unstacking() {
    let p = Program::new(
        "
  puth TA0 + 0x12, 999
  puth TA0 + 0x02, 0x10
  enable_irq 8
  put SCR, 2
  mov r4, #0
  puth TA0, 0x0214
  wfi
  keepr r4
  halt
.global handler
handler:
  ldr r0, =TA0
  mov r1, #0x10
  strh r1, [r0, #2]
  add r4, #1
  cmp r4, #3
  bne 1f
  put SCR, 0
1:
  bx lr
",
    )
    .irq(8, "handler");
    let mut r = p.machine();
    for _ in 0..3 {
        r.to("handler");
        assert_eq!(r.reg("SP"), 0x2000_FFE0);
    }
    r.halt();
    assert_eq!(r.kept(0), 3);
}

#[test]
fn faults_escalate_as_on_the_chip() {
    // A division by zero: HardFault where UsageFault is not enabled, UsageFault where it is.
    let text = |enables: u32| {
        format!(
            "
  put CCR, 0x210
  put SHCSR, {enables}
  mov r0, #1
  mov r1, #0
  udiv r2, r0, r1
  halt
usage:
  mov r6, #6
  b report
hard:
  mov r6, #3
report:
  keepr r6
  keep CFSR
  keep HFSR
  @ Step over the UDIV.
  ldr r0, [sp, #24]
  add r0, #4
  str r0, [sp, #24]
  bx lr
"
        )
    };
    let run =
        |enables| Program::new(&text(enables)).exception(3, "hard").exception(6, "usage").run();
    let hard = run(0);
    assert_eq!([hard.kept(0), hard.kept(1), hard.kept(2)], [3, 1 << 25, 1 << 30]);
    let usage = run(1 << 18);
    assert_eq!([usage.kept(0), usage.kept(1), usage.kept(2)], [6, 1 << 25, 0]);
}

#[test]
fn a_fault_without_a_handler_stops_with_a_sentence() {
    let undefined = Program::new("  udf #1\n").fault();
    assert!(undefined.contains("UNDEFINSTR") && undefined.contains("no handler"), "{undefined}");
    let float = Program::new("  vadd.f32 s0, s1, s2\n").fault();
    assert!(float.contains("CPACR"), "{float}");
    let lockup = Program::new("  udf #1\nhard:\n  udf #2\n").exception(3, "hard").fault();
    assert!(lockup.contains("lockup"), "{lockup}");
    let even = Program::new("  ldr r0, =0x100\n  bx r0\n").fault();
    assert!(even.contains("INVSTATE"), "{even}");
    let breakpoint = Program::new("  bkpt #3\n").fault();
    assert!(breakpoint.contains("BKPT #3"), "{breakpoint}");
}

#[test]
fn an_unmapped_access_stops_unless_the_program_enabled_busfault() {
    let text = |enable: &str| {
        format!(
            "
  {enable}
  ldr r0, =0x30000000
  ldr r1, [r0]
  halt
hard:
  b hard
bus:
  keep CFSR
  keep BFAR
  ldr r0, [sp, #24]
  add r0, #2
  str r0, [sp, #24]
  bx lr
"
        )
    };
    let fault = Program::new(&text("")).exception(3, "hard").exception(5, "bus").fault();
    assert!(fault.contains("0x30000000"), "{fault}");
    let r = Program::new(&text("put SHCSR, 0x20000")).exception(5, "bus").run();
    assert_eq!([r.kept(0), r.kept(1)], [0x8200, 0x3000_0000]);
}

#[test]
fn svc_and_pendsv_take_their_turns() {
    let r = Program::new(
        "
  put SHPR3, 0x00E00000
  svc #7
  mov r0, #3
  keepr r0
  halt
call:
  ldr r0, [sp, #24]
  ldrb r0, [r0, #-2]
  keepr r0
  put ICSR, 0x10000000
  bx lr
later:
  mov r0, #14
  keepr r0
  bx lr
",
    )
    .exception(11, "call")
    .exception(14, "later")
    .run();
    assert_eq!([r.kept(0), r.kept(1), r.kept(2)], [7, 14, 3]);
}

#[test]
fn the_vector_table_moves_and_a_system_reset_brings_it_back() {
    let r = Program::new(
        "
  @ A reset asked for is source 0 of the hard resets: the second start sees it.
  get r0, RSTCTL + 4
  lsls r0, #31
  bne second
  ldr r0, =0x20000400
  ldr r1, =moved + 1
  str r1, [r0, #(4 * 24)]
  put VTOR, 0x20000400
  enable_irq 8
  put ISPR0, 0x100
  dsb
  put AIRCR, 0x05FA0004
1:
  b 1b
moved:
  mov r0, #77
  ldr r1, =0x20000300
  str r0, [r1]
  bx lr
second:
  keep VTOR
  halt
",
    )
    .run();
    assert_eq!(r.word(0x2000_0300), 77);
    assert_eq!(r.kept(0), 0);
    assert_eq!(r.m.resets(), 3, "new, loaded, asked for");
}

#[test]
fn the_floating_point_context_is_stacked_lazily() {
    let p = Program::new(
        "
  put CPACR, 0x00F00000
  vmov.f32 s0, #2.0
  enable_irq 8
  ldr r0, =ISPR0
  mov r1, #0x100
.global trigger, handler, leave, behind
trigger:
  str r1, [r0]
behind:
  vmov r0, s0
  keepr r0
  halt
handler:
  nop
  vmov.f32 s0, #1.0
leave:
  bx lr
",
    )
    .irq(8, "handler");
    let mut r = p.machine();
    let trigger = r.to("trigger");
    assert_eq!(r.to("handler") - trigger, STORE + ENTRY, "room is made, nothing is saved yet");
    assert_eq!(r.reg("SP"), 0x2001_0000 - 0x68);
    assert_eq!(r.reg("LR"), 0xFFFF_FFE9);
    r.halt();
    assert_eq!(r.kept(0), 2.0f32.to_bits(), "the handler used S0, the program has its own again");
}

/// SysTick runs by the CPU's own clock: its count on entry is one value, at 3 MHz and settings of the DCO around it and below.
#[test]
fn a_timer_of_the_cpus_own_source_has_one_count_on_entry_to_its_handler() {
    for setting in (0..40u32).map(|n| ((n % 2) << 16) | (n * 9)) {
        let r = Program::new(&format!(
            "
  put CSKEY, 0x695A
  put CSCTL0, {setting}
  put 0xE000E014, 999
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
        .run();
        assert!(r.kept(0) > 900, "{setting:#x}");
        assert_eq!(r.kept(0), r.kept(1), "{setting:#x}");
    }
}
