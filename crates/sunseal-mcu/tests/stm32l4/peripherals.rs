// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins, UART, SPI, timers, random numbers, the watchdog.

use crate::support::*;
use sunseal_mcu::{Part, Pin};
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
