// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers, DMA, AES, CRC, UART, SPI, ADC, RTC; and an image of a C compiler.

use crate::support::*;
use sunseal_mcu::{LintKind, Part, Pin, Until};
use sunseal_trace::{Picos, Silent};

#[test]
fn timer_a_counts_smclk_from_the_cycle_of_its_start() {
    let r = Program::new(
        "
  ldr r0, =TA0
  mov r1, #0x0224
  strh r1, [r0]
  .rept 20
  nop
  .endr
  ldrh r2, [r0, #0x10]
  .rept 10
  nop
  .endr
  ldrh r3, [r0, #0x10]
  keepr r2
  keepr r3
  halt
",
    )
    .run();
    // Between two loads: ten NOPs, of which the load eats the first, and the two cycles of a load.
    assert_eq!(r.kept(1) - r.kept(0), 11);
    assert!((20..=22).contains(&r.kept(0)), "{}", r.kept(0));
}

#[test]
fn timer_a_sets_its_flag_at_ccr0_and_taifg_one_count_later() {
    let seen = |nops: u32, off: u32| {
        Program::new(&format!(
            "
  puth TA0 + 0x12, 100
  ldr r0, =TA0
  mov r1, #0x0214
  strh r1, [r0]
  .rept {nops}
  nop
  .endr
  ldrh r2, [r0, #{off}]
  keepr r2
  halt
"
        ))
        .run()
        .kept(0)
    };
    // The first read at which each flag is set: CCIFG by TA0CCTL0, TAIFG by TA0CTL.
    let first = |off: u32| (95..110).find(|&n| seen(n, off) & 1 != 0).unwrap();
    assert_eq!(first(0) - first(2), 1);
}

#[test]
fn timer32_interrupts_with_its_period() {
    let p = Program::new(
        "
  put T32, 2999
  put T32 + 8, 0xE2
  enable_irq 25
1:
  wfi
  b 1b
handler:
  put T32 + 0xC, 1
  ldr r0, =P1OUT
  ldrb r1, [r0]
  eor r1, #1
  strb r1, [r0]
  mov r1, #1
  strb r1, [r0, #2]
  bx lr
",
    )
    .irq(25, "handler");
    let mut r = p.machine();
    r.m.run(&Until::time(Picos(20_000_000_000)), &mut Silent);
    let edges: Vec<u128> = r.m.pin_log().iter().map(|e| e.time_ps).collect();
    assert!(edges.len() > 15, "{}", edges.len());
    for pair in edges[2..].windows(2) {
        let ticks = (pair[1] - pair[0]) as f64 * 1e-12 * 3e6;
        assert!((ticks - 3000.0).abs() < 0.01, "{ticks}");
    }
}

#[test]
fn timer32_keeps_all_bits_of_a_value_loaded_before_it_is_told_its_size() {
    let r = Program::new(
        "
  put T32, 3000000
  put (T32 + 8), 0xC2
  keep (T32 + 4)
  halt
",
    )
    .run();
    assert!((2_999_900..3_000_000).contains(&r.kept(0)), "{}", r.kept(0));
}

#[test]
fn the_rtc_alarms_at_its_minute() {
    let p = Program::new(
        "
  puth RTC, 0xA520
  puth (RTC + 0x10), 0x3B3A
  puth (RTC + 0x12), 0x0117
  puth (RTC + 0x14), 0x0C1F
  puth (RTC + 0x16), 2026
  puth (RTC + 0x18), 0x8080
  puth (RTC + 2), 0
  enable_irq 29
1:
  wfi
  b 1b
.global handler
handler:
  keeph (RTC + 0xE)
  keeph (RTC + 0x10)
  keeph (RTC + 0x14)
  keeph (RTC + 0x16)
  puth RTC, 0xA500
  halt
",
    )
    .irq(29, "handler");
    // 23:59:58 on the last of December 2026; the alarm is at 0:00.
    let r = p.run();
    assert_eq!([r.kept(0), r.kept(1), r.kept(2), r.kept(3)], [8, 0, 0x0101, 2027]);
    let s = r.m.time().as_seconds();
    assert!((2.0..2.01).contains(&s), "{s}");
}

#[test]
fn the_rtc_takes_single_bytes_and_its_prescaler_counts_two_seconds_while_it_is_polled() {
    let r = Program::new(
        "
  puth RTC, 0xA500
  puth (RTC + 0x10), 0x2238
  putb (RTC + 0x10), 7
  keeph (RTC + 0x10)
  puth (RTC + 0x12), 0x030C
  putb (RTC + 0x13), 2
  keeph (RTC + 0x12)
  puth (RTC + 0xA), 0x001C
  puth (RTC + 2), 0
1:
  geth r0, (RTC + 0xA)
  lsls r0, r0, #31
  beq 1b
  keeph (RTC + 0x10)
  halt
",
    )
    .run();
    assert_eq!([r.kept(0), r.kept(1), r.kept(2)], [0x2207, 0x020C, 0x2209]);
}

#[test]
fn aes_agrees_with_fips_197_and_takes_168_cycles() {
    let r = Program::new(
        "
  ldr r4, =key
  ldr r5, =AES
  mov r6, #8
1:
  ldrh r0, [r4], #2
  strh r0, [r5, #6]
  subs r6, #1
  bne 1b
  mov r6, #8
1:
  ldrh r0, [r4], #2
  strh r0, [r5, #8]
  subs r6, #1
  bne 1b
2:
  ldrh r0, [r5]
  tst r0, #0x100
  beq 2b
  mov r6, #8
1:
  ldrh r0, [r5, #0xA]
  strh r0, [r7], #2
  subs r6, #1
  bne 1b
  halt
.balign 4
key:
  .byte 0x00,0x01,0x02,0x03,0x04,0x05,0x06,0x07,0x08,0x09,0x0a,0x0b,0x0c,0x0d,0x0e,0x0f
  .byte 0x00,0x11,0x22,0x33,0x44,0x55,0x66,0x77,0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff
",
    )
    .run();
    // FIPS-197 appendix C.1.
    let want = [
        0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5,
        0x5a,
    ];
    assert_eq!(r.m.read_mem(KEPT, 16).unwrap(), want);
    let v = r.m.vocabulary();
    let (aes, on) = (v.find_component("aes256").unwrap(), v.find_state("on").unwrap());
    let ledger = r.m.ledger();
    let time: f64 = ledger
        .spans()
        .filter(|(k, _)| k.component == aes && k.state == on)
        .map(|(_, s)| s.time.as_seconds())
        .sum();
    assert!((time * 3e6 - 168.0).abs() < 0.1, "{}", time * 3e6);
}

/// A control word: mode, transfers, arbitration, size and increments all of `size`.
fn control(mode: u32, n: u32, r: u32, size: u32) -> u32 {
    size << 30 | size << 28 | size << 26 | size << 24 | r << 14 | (n - 1) << 4 | mode
}

#[test]
fn dma_copies_by_software_and_interrupts_when_done() {
    let auto = control(2, 16, 2, 2);
    let p = Program::new(&format!(
        "
  @ Channel 0 at 0x20000800: from `table` to 0x20002000, 16 words, auto.
  put 0x20000800, (table + 60)
  put 0x20000804, 0x2000203C
  put 0x20000808, {auto}
  put DMA_CFG, 1
  put DMA_CTLBASE, 0x20000800
  put DMA_ENASET, 1
  enable_irq 34
.global go
go:
  put DMA_SW_CHTRIG, 1
  wfi
  keep DMA_ENASET
  halt
handler:
  put DMA_INT0_CLRFLG, 1
  bx lr
.balign 4
table:
  .word 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
"
    ))
    .irq(34, "handler");
    let r = p.run();
    let copied: Vec<u32> = (0..16).map(|i| r.word(0x2000_2000 + 4 * i)).collect();
    assert_eq!(copied, (1..=16).collect::<Vec<u32>>());
    assert_eq!(r.kept(0), 0, "the channel is off again");
}

#[test]
fn dma_feeds_a_uart_byte_by_byte() {
    // Channel 0, source 1: eUSCI_A0 transmit. The source steps by bytes, the target stays.
    let word = 3 << 30 | 4 << 4 | 1;
    let p = Program::new(&format!(
        "
  putb PASEL0, 0x0C
  puth UCA0, 0x0081
  puth (UCA0 + 6), 26
  puth UCA0, 0x0080
  put 0x20000800, (text + 4)
  put 0x20000804, (UCA0 + 0xE)
  put 0x20000808, {word}
  put DMA_CFG, 1
  put DMA_CTLBASE, 0x20000800
  put DMA_CH0_SRCCFG, 1
  enable_irq 34
  put DMA_ENASET, 1
1:
  wfi
  b 1b
handler:
  put DMA_INT0_CLRFLG, 1
  bx lr
text:
  .ascii \"hello\"
"
    ))
    .irq(34, "handler");
    let mut r = p.machine();
    r.m.run(&Until::time(Picos(5_000_000_000)), &mut Silent);
    let bytes: Vec<u8> = r.m.uart_log().iter().map(|b| b.byte).collect();
    assert_eq!(bytes, b"hello");
    let log = r.m.uart_log();
    let bit = (log[2].time_ps - log[1].time_ps) as f64 * 1e-12 * 3e6 / 10.0;
    assert!((bit - 26.0).abs() < 0.3, "{bit}");
}

#[test]
fn crc32_gives_the_check_value() {
    let r = Program::new(
        "
  puth (CRC32 + 8), 0xFFFF
  puth (CRC32 + 0xA), 0xFFFF
  ldr r4, =text
  ldr r5, =CRC32
  mov r6, #9
1:
  ldrb r0, [r4], #1
  strb r0, [r5]
  subs r6, #1
  bne 1b
  ldrh r0, [r5, #0xC]
  ldrh r1, [r5, #0xE]
  orr r0, r0, r1, lsl #16
  mvn r0, r0
  keepr r0
  halt
text:
  .ascii \"123456789\"
",
    )
    .run();
    assert_eq!(r.kept(0), 0xCBF4_3926);
}

#[test]
fn a_uart_receives_and_interrupts() {
    let p = Program::new(
        "
  putb PASEL0, 0x0C
  puth UCA0, 0x0081
  puth (UCA0 + 6), 26
  puth UCA0, 0x0080
  puth (UCA0 + 0x1A), 1
  enable_irq 16
  wfi
  halt
handler:
  keeph (UCA0 + 0x1E)
  keeph (UCA0 + 0xC)
  bx lr
",
    )
    .irq(16, "handler");
    let mut r = p.machine();
    r.m.uart_in("eusci_a0", Picos(2_000_000_000), b'x').unwrap();
    r.halt();
    assert_eq!([r.kept(0), r.kept(1)], [2, u32::from(b'x')]);
}

#[test]
fn spi_exchanges_bytes_with_the_part_that_is_selected() {
    struct Echo(u8);
    impl Part for Echo {
        fn transfer(&mut self, _now: Picos, mosi: u8) -> u8 {
            std::mem::replace(&mut self.0, mosi)
        }
        fn state(&self) -> &str {
            "idle"
        }
    }
    let p = Program::new(
        "
  @ Master, mode 0, first bit high, SMCLK / 2; P1.5 to P1.7 belong to it, P1.0 selects.
  putb PASEL0, 0xE0
  putb P1OUT, 1
  putb P1DIR, 1
  puth UCB0, 0xA981
  puth (UCB0 + 6), 2
  puth UCB0, 0xA980
  putb P1OUT, 0
  mov r4, #0x5A
  bl exchange
  mov r4, #0xC3
  bl exchange
  putb P1OUT, 1
  halt
exchange:
  ldr r5, =UCB0
  strh r4, [r5, #0xE]
1:
  ldrh r0, [r5, #0x2C]
  tst r0, #1
  beq 1b
  ldrh r0, [r5, #0xC]
  keepr r0
  bx lr
",
    );
    let mut r = p.machine();
    r.m.attach_spi("echo", "eusci_b0", "P1.0".parse().unwrap(), Box::new(Echo(0x11))).unwrap();
    r.halt();
    assert_eq!([r.kept(0), r.kept(1)], [0x11, 0x5A]);
    assert!(r.m.lints().is_empty(), "{:?}", r.m.lints());
}

#[test]
fn the_adc_converts_against_supply_and_reference() {
    let p = Program::new(
        "
  puth REFCTL0, 0x31
1:
  geth r0, REFCTL0
  tst r0, #0x1000
  beq 1b
  @ MODOSC, 14 bits, pulse sampling; A5 against the supply, then against 2.5 V.
  put (ADC14 + 4), 0x30
  put (ADC14 + 0x18), 5
  bl convert
  put ADC14, 0x04000010
  put (ADC14 + 0x18), 0x105
  bl convert
  halt
.global go
convert:
go:
  put ADC14, 0x04000013
1:
  get r0, (ADC14 + 0x144)
  tst r0, #1
  beq 1b
  keep (ADC14 + 0x98)
  put ADC14, 0x04000010
  bx lr
",
    );
    let mut r = p.machine();
    r.m.adc_volts(5, 1.25);
    r.halt();
    assert_eq!([r.kept(0), r.kept(1)], [6827, 8192]);
    let v = r.m.vocabulary();
    let (adc, on) = (v.find_component("adc14").unwrap(), v.find_state("on").unwrap());
    let ledger = r.m.ledger();
    let time: f64 = ledger
        .spans()
        .filter(|(k, _)| k.component == adc && k.state == on)
        .map(|(_, s)| s.time.as_seconds())
        .sum();
    // Twice 4 cycles of sampling and 16 of conversion at 25 MHz, from the clock's next edge on.
    assert!((time * 1e6 - 2.0 * 0.8).abs() < 0.4, "{}", time * 1e6);
    let mut nobody = p.machine();
    assert!(nobody.fault().contains("A5"));
}

#[test]
fn an_image_of_gcc_with_its_library_runs() {
    const PROGRAM: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern uint32_t _estack;
int main(void);
void reset(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = { &_estack, reset };
extern uint32_t _etext, _data, _edata, _bss, _ebss;
char text[64];
volatile float ratio = 2.5f;
static uint64_t product(uint32_t a, uint32_t b) { return (uint64_t)a * b; }
void reset(void) {
    *(volatile uint16_t *)0x4000480C = 0x5A84;
    *(volatile uint32_t *)0xE000ED88 |= 0xF << 20;
    memcpy(&_data, &_etext, (char *)&_edata - (char *)&_data);
    memset(&_bss, 0, (char *)&_ebss - (char *)&_bss);
    main();
    __asm volatile("cpsid f");
    for (;;) __asm volatile("wfi");
}
int main(void) {
    uint64_t p = product(0xDEADBEEF, 0x12345678);
    snprintf(text, sizeof text, "%08lx%08lx %d %ld", (unsigned long)(p >> 32), (unsigned long)p,
             (int)(ratio * 4.0f), (long)(-1234567 / 89));
    return 0;
}
"#;
    const SCRIPT: &str = "
MEMORY { rom (rx) : ORIGIN = 0, LENGTH = 256K ram (rwx) : ORIGIN = 0x20000000, LENGTH = 64K }
_estack = ORIGIN(ram) + LENGTH(ram);
ENTRY(reset)
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(4); _etext = .; } > rom
  .ARM.exidx : { *(.ARM.exidx*) } > rom
  .data : AT(_etext) { _data = .; *(.data*) . = ALIGN(4); _edata = .; } > ram
  .bss : { _bss = .; *(.bss*) *(COMMON) . = ALIGN(4); _ebss = .; end = .; } > ram
}
";
    let elf = compile(PROGRAM, SCRIPT);
    let mut r = Run::of(elf);
    r.halt();
    let text = r.m.read_symbol(&r.elf, "text").unwrap();
    let text = String::from_utf8_lossy(&text);
    let want = format!("{:016x} {} {}", 0xDEAD_BEEFu64 * 0x1234_5678, 10, -1_234_567 / 89);
    assert_eq!(text.trim_end_matches('\0'), want);
}

/// TA0 in up mode with 10 counts, `ccr` for 3 of them, then asleep.
fn pwm(ccr: u32, pins: &str) -> Program {
    let (cctl, at) = (2 + 2 * ccr, 0x12 + 2 * ccr);
    Program::new(&format!(
        "{pins}  puth (TA0 + 0x12), 9\n  puth (TA0 + {at}), 3\n  puth (TA0 + {cctl}), 0xE0\n  puth TA0, 0x0214\n1:\n  wfi\n  b 1b\n"
    ))
}

/// Share of the time in which `pin` moves that it is high.
fn duty(p: &Program, pin: Pin) -> f64 {
    let mut r = p.machine();
    r.m.run(&Until::time(Picos(1_000_000_000)), &mut Silent);
    let all: Vec<_> = r.m.pin_log().iter().filter(|e| e.pin == pin).collect();
    assert!(all.len() > 20, "{pin} moved {} times", all.len());
    let edges = &all[10..13];
    let high = edges.windows(2).find(|w| w[0].level).unwrap();
    (high[1].time_ps - high[0].time_ps) as f64 / (edges[2].time_ps - edges[0].time_ps) as f64
}

#[test]
fn timers_move_the_pins_that_the_port_mapper_gives_them() {
    // P2.4 is TA0.1 as it comes from a reset; P3.0 when it is mapped so, and TA2.1 has P5.6 for its own.
    let own = "  puth 0x40004C04, 0x1000\n  puth 0x40004C0A, 0x1000\n";
    assert!((duty(&pwm(1, own), Pin::new(2, 4)) - 0.3).abs() < 0.01);
    let mapped = "  puth 0x40005000, 0x2D52\n  putb 0x40005018, 21\n  puth 0x40005000, 0\n  puth 0x40004C24, 1\n  puth 0x40004C2A, 1\n";
    assert!((duty(&pwm(2, mapped), Pin::new(3, 0)) - 0.3).abs() < 0.01);
    // Mapped to something else the pin keeps what its port has.
    let other = "  puth 0x40005000, 0x2D52\n  putb 0x40005014, 3\n  puth 0x40005000, 0\n";
    let mut r = pwm(1, &format!("{own}{other}")).machine();
    r.m.run(&Until::time(Picos(1_000_000_000)), &mut Silent);
    assert_eq!(r.m.pin_log().iter().filter(|e| e.pin == Pin::new(2, 4)).count(), 0);
}

#[test]
fn clocks_at_pins_are_named_and_dma_into_flash_is_told() {
    let p = Program::new("  puth 0x40004C24, 0x0800\n  puth 0x40004C2A, 0x0800\n  halt\n");
    let r = p.run();
    let said = r.m.lints()[0].kind.to_string();
    assert!(said.starts_with("P4.3 should carry MCLK,"), "{said}");
    let auto = control(2, 1, 0, 2);
    let r = Program::new(&format!(
        "
  put 0x20000800, 0x20002000
  put 0x20000804, 0x00020000
  put 0x20000808, {auto}
  put DMA_CFG, 1
  put DMA_CTLBASE, 0x20000800
  put DMA_ENASET, 1
  put DMA_SW_CHTRIG, 1
  nop
  nop
  nop
  nop
  keep DMA_ENASET
  keep 0x4000F04C
  halt
"
    ))
    .run();
    assert_eq!((r.kept(0), r.kept(1)), (0, 1), "the channel is off, DMA_ERRCLR reads one");
    assert_eq!(r.m.lint_count(LintKind::DmaRefused), 1);
}
