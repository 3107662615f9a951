// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins, UART, SPI, timers, random numbers, the watchdog.

use crate::support::*;
use sunseal_mcu::{LintKind, Part, Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

#[test]
fn an_output_pin_is_set_and_reset_by_bits() {
    let r = Program::new(
        "
  put RCC_AHB2ENR, 1
  put GPIOA, 0xABFDFFFF
  put (GPIOA + 0x18), 0x100
  keep (GPIOA + 0x10)
  put (GPIOA + 0x28), 0x100
  put (GPIOA + 0x18), 0x01000100
  halt
",
    )
    .run();
    let edges: Vec<_> = r.m.pin_log().iter().map(|e| (e.pin.to_string(), e.level)).collect();
    let edge = |level| ("PA8".to_owned(), level);
    assert_eq!(edges, [edge(true), edge(false), edge(true)]);
    assert_eq!(r.kept(0) & 0x100, 0x100);
}

#[test]
fn a_uart_sends_at_the_rate_of_its_divider_and_receives() {
    // 4 MHz / 35 = 114,286 baud.
    let p = Program::new(
        "
  put RCC_APB1ENR1, 0x20000
  put (USART2 + 0x0C), 35
  put USART2, 0x0D
  put (USART2 + 0x28), 0x48
  until_set (USART2 + 0x1C), 0x80
  put (USART2 + 0x28), 0x69
  until_set (USART2 + 0x1C), 0x40
  until_set (USART2 + 0x1C), 0x20
  keep (USART2 + 0x24)
  keep (USART2 + 0x1C)
  halt
",
    );
    let mut r = p.machine();
    r.m.uart_in("usart2", Picos(2_000_000_000), 0x5A).unwrap();
    r.halt();
    let log = r.m.uart_log();
    let sent: Vec<u8> = log.iter().map(|b| b.byte).collect();
    assert_eq!((sent.as_slice(), log[0].usci.as_str()), (&b"Hi"[..], "usart2"));
    let us = (log[1].time_ps - log[0].time_ps) as f64 / 1e6;
    assert!((us - 10.0 * 35.0 / 4.0).abs() < 0.3, "ten bits take {us} us");
    assert_eq!((r.kept(0), r.kept(1) & 0x20), (0x5A, 0), "a read takes the byte away");
}

#[test]
fn a_byte_that_overruns_is_told_though_none_follows_it() {
    let p = Program::new(
        "
  put RCC_APB1ENR1, 0x20000
  put (USART2 + 0x0C), 35
  put USART2, 0x05
1:
  b 1b
",
    );
    let mut r = p.machine();
    for ms in [2, 4] {
        r.m.uart_in("usart2", Picos(ms * 1_000_000_000), 0x5A).unwrap();
    }
    r.m.run(&Until::time(Picos(4_100_000_000)), &mut Silent);
    assert_eq!(r.m.lint_count(LintKind::UartOverrun), 1);
    assert_eq!(r.m.register_value(0x4000_441C, 4).unwrap() & 0x28, 0x28, "RXNE and ORE");
}

#[test]
fn the_clock_output_is_named() {
    let r = Program::new("  put RCC_CFGR, 0x01000000\n  halt\n").run();
    let said = r.m.lints()[0].kind.to_string();
    assert!(said.starts_with("PA8 should carry MCO,"), "{said}");
}

#[test]
fn a_uart_that_is_off_or_has_no_rate_refuses() {
    let fault = Program::new("  put RCC_APB1ENR1, 0x20000\n  put USART2, 9\n  halt\n").fault();
    assert!(fault.contains("USART_BRR must be 16 or more"), "{fault}");
    let fault =
        Program::new("  put RCC_APB1ENR1, 0x20000\n  put (USART2 + 0x28), 1\n  halt\n").fault();
    assert!(fault.contains("set USART_CR1.UE and TE first"), "{fault}");
}

/// Gives back what it was given the last time, plus one.
#[derive(Default)]
struct Echo(u8);

impl Part for Echo {
    fn state(&self) -> &'static str {
        "on"
    }

    fn transfer(&mut self, _: Picos, mosi: u8) -> u8 {
        std::mem::replace(&mut self.0, mosi.wrapping_add(1))
    }
}

#[test]
fn spi_exchanges_bytes_with_the_part_whose_select_is_low() {
    let p = Program::new(
        "
  put RCC_AHB2ENR, 1
  put RCC_APB2ENR, 0x1000
  put GPIOA, 0xABFFFDFF
  put SPI1, 0x304
  put (SPI1 + 4), 0x1700
  put SPI1, 0x344
  ldr r0, =(SPI1 + 0x0C)
  mov r1, #0x40
.global from, to
from:
  strb r1, [r0]
  until_set (SPI1 + 8), 1
to:
  ldr r0, =(SPI1 + 0x0C)
  ldrb r1, [r0]
  keepr r1
  mov r1, #0x99
  strb r1, [r0]
  until_clear (SPI1 + 8), 0x80
  ldr r0, =(SPI1 + 0x0C)
  ldrb r1, [r0]
  keepr r1
  halt
",
    );
    let mut r = p.machine();
    r.m.attach_spi("echo", "spi1", Pin::new(b'A', 4), Box::new(Echo::default())).unwrap();
    r.to("from");
    // Eight bits of two cycles of PCLK2, and the loop that waits for them.
    let cycles = r.m.cycles();
    r.to("to");
    assert!((16..40).contains(&(r.m.cycles() - cycles)), "{}", r.m.cycles() - cycles);
    r.halt();
    assert_eq!([r.kept(0), r.kept(1)], [0, 0x41]);
    assert!(r.m.lints().is_empty(), "{:?}", r.m.lints());
}

/// Runs TIM2 from 4 MHz to its first interrupt, whose handler clears the flag and does what `also` says.
fn tim2(prescaler: u32, reload: u32, also: &str) -> Run {
    let p = Program::new(&format!(
        "
  put RCC_APB1ENR1, 1
  put (TIM2 + 0x28), {prescaler}
  put (TIM2 + 0x2C), {reload}
  put (TIM2 + 0x14), 1
  put (TIM2 + 0x10), 0
  put (TIM2 + 0x0C), 1
  enable_irq 28
  put TIM2, 1
1:
  wfi
  b 1b
.global handler
handler:
  put (TIM2 + 0x10), 0
  {also}
  bx lr
"
    ))
    .irq(28, "handler");
    let mut r = p.machine();
    r.to("handler");
    r
}

#[test]
fn tim2_interrupts_each_time_it_wraps() {
    let us = tim2(3, 999, "").us_to("handler");
    // 4 MHz / 4 and a thousand counts.
    assert!((us - 1000.0).abs() < 0.01, "{us}");
}

#[test]
fn a_period_written_anew_keeps_the_place_of_the_prescaler() {
    let mut r = tim2(3999, 1, "put (TIM2 + 0x2C), 1");
    let us: f64 = (0..50).map(|_| r.us_to("handler")).sum();
    // 4 MHz / 4000 and two counts, fifty times.
    assert!((us - 100_000.0).abs() < 0.5, "{us}");
}

#[test]
fn an_edge_at_a_pin_wakes_by_its_line_of_exti() {
    let p = Program::new(
        "
  put RCC_AHB2ENR, 4
  put RCC_APB2ENR, 1
  put GPIOC, 0xF3FFFFFF
  put SYSCFG_EXTICR4, 0x20
  put EXTI_IMR1, 0x2000
  put EXTI_FTSR1, 0x2000
  enable_irq 40
1:
  wfi
  b 1b
.global handler
handler:
  keep EXTI_PR1
  put EXTI_PR1, 0x2000
  halt
",
    )
    .irq(40, "handler");
    let mut r = p.machine();
    let button = Pin::new(b'C', 13);
    r.m.set_pin(button, Some(true));
    r.m.run(&sunseal_mcu::Until::time(Picos(5_000_000_000)), &mut Silent);
    assert_eq!(r.m.state_of("cpu"), Some("sleep"));
    r.m.set_pin(button, Some(false));
    r.halt();
    assert_eq!(r.kept(0), 0x2000);
}

#[test]
fn random_words_need_48_mhz_and_time() {
    let off = Program::new("  put RCC_AHB2ENR, 0x40000\n  put RNG, 4\n  halt\n").fault();
    assert!(off.contains("RCC_CCIPR.CLK48SEL"), "{off}");
    let words = |seed: u64| {
        let p = Program::new(
            "
  put FLASH_ACR, 0x602
  put RCC_CR, 0xB9
  put RCC_AHB2ENR, 0x40000
  put RCC_CCIPR, 0x0C000000
  put RNG, 4
  keep (RNG + 4)
  until_set (RNG + 4), 1
  keep (RNG + 8)
  until_set (RNG + 4), 1
  keep (RNG + 8)
  halt
",
        );
        let mut r = p.machine();
        r.m.set_unit_seed(seed);
        r.halt();
        (r.kept(0), r.kept(1), r.kept(2))
    };
    let (first, a, b) = words(1);
    assert_eq!(first, 0, "not ready at once");
    assert_ne!(a, b);
    assert_eq!(words(1), (0, a, b));
    assert_ne!(words(2).1, a);
}

#[test]
fn the_watchdog_resets_when_nobody_reloads_it() {
    // 32 kHz / 4, eight counts: a millisecond.
    let p = Program::new(
        "
  keep RCC_CSR
  get r0, RCC_CSR
  tst r0, #0x20000000
  bne 2f
  put IWDG, 0x5555
  put (IWDG + 8), 7
  put IWDG, 0xCCCC
.global from
from:
  b from
2:
  halt
",
    );
    let mut r = p.machine();
    r.to("from");
    let start = r.m.time();
    r.halt();
    assert_eq!(r.kept(0) >> 29 & 1, 1, "IWDGRSTF");
    let ms = r.m.time().since(start).as_seconds() * 1e3;
    assert!((0.9..1.1).contains(&ms), "{ms}");
}

#[test]
fn the_crc_unit_takes_words_and_bytes_and_needs_its_clock() {
    let p = Program::new(
        "
  put 0x40021048, 0x1100
  put 0x40023000, 0x31323334
  putb 0x40023000, 0x35
  keep 0x40023000
  put 0x40023008, 0xA1
  ldr r2, =text
  mov r3, #9
1:
  ldrb r1, [r2], #1
  ldr r0, =0x40023000
  strb r1, [r0]
  subs r3, #1
  bne 1b
  keep 0x40023000
  halt
text:
  .ascii \"123456789\"
.balign 4
",
    );
    let r = p.run();
    assert_eq!(r.kept(1), !0xCBF4_3926, "CRC-32 without its last inversion");
    // Over "12345" the same way, bit by bit.
    let bits = b"12345".iter().flat_map(|b| (0..8).rev().map(move |i| u32::from(b >> i & 1)));
    let crc = bits
        .fold(u32::MAX, |crc, bit| crc << 1 ^ if crc >> 31 ^ bit != 0 { 0x04C1_1DB7 } else { 0 });
    assert_eq!(r.kept(0), crc);
    let fault = Program::new("  put 0x40023000, 1\n  halt\n").fault();
    assert!(fault.contains("whose clock is off; set bit 12 of RCC_AHB1ENR first"), "{fault}");
}

/// HCLK cycles between edges of a pin at 4 MHz from its first rising edge on; then the CPU sleeps for good.
fn spans(setup: &str, pin: Pin) -> Vec<u64> {
    let p = Program::new(&format!(
        "  put 0x4002104C, 0xFF\n  put RCC_APB1ENR1, 0xF\n{setup}1:\n  wfi\n  b 1b\n"
    ));
    let mut r = p.machine();
    let ended = r.m.run(&Until::time(Picos(1_000_000_000)), &mut Silent);
    let edges: Vec<_> = r.m.pin_log().iter().filter(|e| e.pin == pin).collect();
    let from = edges.iter().position(|e| e.level).unwrap_or(edges.len());
    let spans: Vec<u64> = edges[from..]
        .windows(2)
        .map(|w| ((w[1].time_ps - w[0].time_ps) as f64 / 250_000.0).round() as u64)
        .collect();
    // A timer that moves a pin goes on though nothing wakes the CPU.
    assert_eq!(ended == Stop::Halted, spans.is_empty());
    spans
}

/// RM0351, OCxM: PWM mode 1 is active below CCRx counting up and at or below it counting down; mode 3 toggles.
#[test]
fn timers_move_the_pins_that_have_their_alternate_function() {
    // TIM2's channel 1 at PA5 by AF1; ARR = 99, CCR1 = 30.
    let tim2 = |ccmr: u32, ccer: u32, cr1: u32| {
        format!(
            "  put GPIOA, 0xABFFFBFF\n  put (GPIOA + 0x20), 0x00100000\n  put (TIM2 + 0x2C), 99\n  put (TIM2 + 0x34), 30\n  put (TIM2 + 0x18), {ccmr}\n  put (TIM2 + 0x20), {ccer}\n  put TIM2, {cr1}\n"
        )
    };
    let pa5 = Pin::new(b'A', 5);
    for (what, ccmr, ccer, cr1, high, low) in [
        ("PWM mode 1", 0x60, 1, 1, 30, 70),
        ("PWM mode 2", 0x70, 1, 1, 70, 30),
        ("PWM mode 1, inverted", 0x60, 3, 1, 70, 30),
        ("PWM mode 1, down", 0x60, 1, 0x11, 31, 69),
        ("PWM mode 1, centre-aligned", 0x60, 1, 0x61, 60, 138),
        ("PWM mode 1, centre-aligned, flags on the way down", 0x60, 1, 0x21, 60, 138),
        ("toggle", 0x30, 1, 1, 100, 100),
    ] {
        let found = spans(&tim2(ccmr, ccer, cr1), pa5);
        let right = found.len() > 8
            && found[2..].iter().zip([high, low].iter().cycle()).all(|(a, b)| a == b);
        assert!(right, "{what}: {found:?}");
    }
    assert_eq!(spans(&tim2(0x50, 1, 1), pa5), [], "forced active");
    // Another alternate function, or none, is not the timer's.
    let other = tim2(0x60, 1, 1).replace("0x00100000", "0x00200000");
    assert_eq!(spans(&other, pa5), []);
    // TIM3's channel 4 at PC9 by AF2.
    let tim3 = "  put GPIOC, 0xFFFBFFFF\n  put (GPIOC + 0x24), 0x20\n  put 0x4000042C, 9\n  put 0x40000440, 4\n  put 0x4000041C, 0x6000\n  put 0x40000420, 0x1000\n  put 0x40000400, 1\n";
    let found = spans(tim3, Pin::new(b'C', 9));
    assert!(
        found.len() > 8 && found[2..].iter().zip([4u64, 6].iter().cycle()).all(|(a, b)| a == b),
        "{found:?}"
    );
}
