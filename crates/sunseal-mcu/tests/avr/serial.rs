// SPDX-License-Identifier: MIT OR Apache-2.0

use std::sync::{Arc, Mutex};

use sunseal_mcu::{LintKind, Part, Stop, Until, Wiring};
use sunseal_trace::{Picos, Silent};

use crate::support::*;

/// Answers each byte with its complement and remembers when it came.
#[derive(Clone, Default)]
struct Echo(Arc<Mutex<Vec<(u128, u8)>>>);

impl Part for Echo {
    fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
        self.0.lock().unwrap().push((now.0, mosi));
        !mosi
    }
    fn state(&self) -> &str {
        "on"
    }
}

#[test]
fn the_master_exchanges_a_byte_in_eight_clocks() {
    let elf = assemble(
        "ldi r16, 0x07\n out DDRB, r16\n sbi PORTB, 0\n ldi r16, 0x50\n out SPCR, r16\n cbi PORTB, 0\n ldi r17, 0x3C\n \
         out SPDR, r17\n w: sbis SPSR, 7\n rjmp w\n in r18, SPDR\n in r19, SPSR\n sbi PORTB, 0\n done: rjmp done",
    );
    let mut m = load(&elf);
    let echo = Echo::default();
    let wiring = Wiring { serial: Some("spi"), cs: Some("PB0".parse().unwrap()) };
    m.attach_part("echo", wiring, Box::new(echo.clone())).unwrap();
    finish(&mut m, &elf);
    assert_eq!((r(&m, 18), r(&m, 19)), (0xC3, 0x00));
    let got = echo.0.lock().unwrap().clone();
    // CS falls two cycles before SPDR is written in cycle c; 8 bits of 4 ticks end in tick c + 1 + 32.
    let fall = edges(&m).iter().filter(|e| !e.2).map(|e| e.1).next_back().unwrap();
    assert_eq!(got, [(Picos::of_ticks(fall + 1 + 1 + 32, HZ).0, 0x3C)]);
    assert_eq!(m.lint_count(LintKind::SpiNobody), 0);
}

/// Clocks bytes into the chip's slave every 100 microseconds.
struct Clocking {
    next: u128,
    bytes: Vec<u8>,
    got: Arc<Mutex<Vec<u8>>>,
    shifted: Option<u8>,
}

impl Part for Clocking {
    fn next_event(&self) -> Option<Picos> {
        (!self.bytes.is_empty()).then_some(Picos(self.next))
    }
    fn event(&mut self, _: Picos) {
        self.next += 100_000_000;
        self.shifted = Some(self.bytes.remove(0));
    }
    fn shifted_in(&mut self) -> Option<u8> {
        self.shifted.take()
    }
    fn shifted_out(&mut self, _: Picos, byte: u8) {
        self.got.lock().unwrap().push(byte);
    }
    fn state(&self) -> &str {
        "on"
    }
}

#[test]
fn the_slave_gives_what_it_was_told_or_the_byte_it_got() {
    let elf = assemble(
        "jmp start\n .org 0x44\n in r20, SPDR\n st Y+, r20\n inc r21\n reti\n \
         start: ldi r16, 0x10\n out SPH, r16\n ldi r28, 0\n ldi r29, 2\n clr r21\n ldi r16, 0xC0\n out SPCR, r16\n ldi r17, 0x99\n \
         out SPDR, r17\n sei\n w: cpi r21, 3\n brne w\n done: rjmp done",
    );
    let mut m = load(&elf);
    let got = Arc::new(Mutex::new(Vec::new()));
    let part = Clocking { next: 50_000_000, bytes: vec![1, 2, 3], got: got.clone(), shifted: None };
    m.attach_part("radio", Wiring { serial: Some("spi"), cs: None }, Box::new(part)).unwrap();
    finish(&mut m, &elf);
    assert_eq!(m.read_mem(DATA + 0x200, 3).unwrap(), [1, 2, 3]);
    assert_eq!(*got.lock().unwrap(), [0x99, 1, 2]);
}

#[test]
fn a_low_select_pin_takes_the_bus_from_a_master() {
    let elf = assemble(
        "sbi PORTB, 0\n ldi r16, 0x50\n out SPCR, r16\n in r18, SPCR\n cbi PORTB, 0\n nop\n in r19, SPCR\n in r20, SPSR\n done: rjmp done",
    );
    let mut m = load(&elf);
    finish(&mut m, &elf);
    assert_eq!((r(&m, 18), r(&m, 19), r(&m, 20)), (0x50, 0x40, 0x80));
}

#[test]
fn the_transmitter_takes_its_bits_and_buffers_one_byte() {
    // 57600 baud with U2X and UBRR 15: 8 * 16 = 128 cycles a bit, as TinyOS sets it up.
    let elf = assemble(
        "ldi r16, 15\n out UBRR0L, r16\n ldi r16, 2\n out UCSR0A, r16\n ldi r16, 0x08\n out UCSR0B, r16\n ldi r17, 'H'\n \
         out UDR0, r17\n in r18, UCSR0A\n ldi r17, 'i'\n out UDR0, r17\n in r19, UCSR0A\n w: sbis UCSR0A, 6\n rjmp w\n done: rjmp done",
    );
    let mut m = load(&elf);
    finish(&mut m, &elf);
    assert_eq!((r(&m, 18), r(&m, 19)), (0x22, 0x02));
    let sent: Vec<(u128, u8)> = m.uart_log().iter().map(|b| (b.time_ps, b.byte)).collect();
    // The first write is in cycle 7; ten bits each.
    let end = |n: u64| Picos::of_ticks(8 + n * 1280, HZ).0;
    assert_eq!(sent, [(end(1), b'H'), (end(2), b'i')]);
    assert_eq!(m.uart_log()[0].usci, "usart0");
}

#[test]
fn the_receiver_interrupts_and_overruns_behind_three_bytes() {
    let elf = assemble(
        "ldi r16, 0x10\n sts UCSR1B, r16\n ldi r18, 0\n w: dec r18\n brne w\n lds r19, UCSR1A\n lds r20, UDR1\n lds r21, UDR1\n \
         lds r22, UDR1\n lds r23, UCSR1A\n done: rjmp done",
    );
    let mut m = load(&elf);
    for i in 0..4 {
        m.uart_in("usart1", Picos(2_000_000 * (i + 1)), 0x41 + i as u8).unwrap();
    }
    finish(&mut m, &elf);
    let got: Vec<u32> = (19..24).map(|n| r(&m, n)).collect();
    assert_eq!(got, [0xA8, 0x41, 0x42, 0x43, 0x20]);
    assert!(m.uart_in("usart2", Picos(0), 0).unwrap_err().to_string().contains("usart1"));
}

#[test]
fn what_serial_interfaces_do_not_do_is_refused() {
    assert!(fault("ldi r16, 0x46\n sts UCSR0C, r16").contains("synchronous"));
    let mut m =
        load(&assemble("ldi r16, 0x50\n out SPCR, r16\n sbi DDRB, 0\n out SPDR, r16\n l: rjmp l"));
    // Nobody is there: said, not refused.
    assert_eq!(m.run(&Until::cycles(200), &mut Silent), Stop::Cycles);
}
