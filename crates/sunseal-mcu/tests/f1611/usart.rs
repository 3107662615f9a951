// SPDX-License-Identifier: MIT OR Apache-2.0
//! USART0 and USART1: UART with modulation, SPI master and slave.

use std::sync::{Arc, Mutex};

use sunseal_mcu::{LintKind, Machine, Part, Pin, Wiring};
use sunseal_trace::Picos;

use crate::asm::Arg::*;
use crate::support::*;

/// UART on USART1 at `br` with `mctl`, clocked by SMCLK, on.
fn uart(ssel: u8, br: u16, mctl: u8) -> Program {
    let mut p = Program::new();
    p.set_b(U1CTL, 0x11).set_b(U1TCTL, ssel);
    p.set_b(U1BR0, br as u8).set_b(U1BR1, (br >> 8) as u8).set_b(U1MCTL, mctl);
    p.bis_b(ME2, 0x30).bic_b(U1CTL, 0x01);
    p
}

fn sent(p: &mut Program) -> (Vec<u8>, Vec<u128>, Machine) {
    let mut m = p.run_halted();
    let log = m.take_uart_log();
    (log.iter().map(|b| b.byte).collect(), log.iter().map(|b| b.time_ps).collect(), m)
}

#[test]
fn two_bytes_follow_one_another_with_no_gap() {
    // 9600 baud of 32768 Hz: UxBR = 3, UxMCTL = 4Ah (SLAU049 table 13-2), 8 bits, no parity, one stop bit.
    let mut p = uart(0x10, 3, 0x4A);
    p.set_b(U1TXBUF, b'H').wait_set_b(IFG2, 0x20).set_b(U1TXBUF, b'i');
    p.wait_set_b(U1TCTL, 0x01);
    let (bytes, times, m) = sent(&mut p);
    assert_eq!(bytes, b"Hi");
    // Start bit m0, data m1.., stop m9 = m1: 4Ah has bits 1, 3, 6 set; bits 0 to 9 use 1, 3, 6 and again 1 (bit 9).
    let ticks = 10 * 3 + 4;
    let tick_ps = 1e12 / 32_768.0;
    let gap = (times[1] - times[0]) as f64 / tick_ps;
    assert!((gap - f64::from(ticks)).abs() < 1e-3, "{gap}");
    assert_eq!(m.ledger().event(m.vocabulary().find_event("usart1.byte").unwrap()), 2);
}

#[test]
fn modulation_is_taken_bit_by_bit() {
    let length = |ctl: u8, mctl: u8| {
        let mut p = uart(0x10, 3, mctl);
        p.set_b(U1CTL, ctl);
        p.set_b(U1TXBUF, 0).wait_set_b(IFG2, 0x20).set_b(U1TXBUF, 0).wait_set_b(U1TCTL, 0x01);
        let (_, times, _) = sent(&mut p);
        ((times[1] - times[0]) as f64 * 32_768.0 / 1e12).round() as u32
    };
    // CHAR, SPB, PENA: 1 start, 7 or 8 data, 0 or 1 parity, 1 or 2 stop bits.
    assert_eq!(length(0x10, 0), 30);
    assert_eq!(length(0x00, 0), 27);
    assert_eq!(length(0x30, 0), 33);
    assert_eq!(length(0x90, 0), 33);
    assert_eq!(length(0xB0, 0), 36);
    // All eight bits set: one more each; only m7: one more in bit 7.
    assert_eq!(length(0x10, 0xFF), 40);
    assert_eq!(length(0x10, 0x80), 31);
    // m0 and m1 come again for bits 8 and 9.
    assert_eq!(length(0x10, 0x03), 34);
}

#[test]
fn a_byte_from_outside_interrupts_and_reading_it_clears_the_flag() {
    let mut p = uart(0x20, 78, 0);
    p.bis_b(IE2, 0x10).sleep(LPM0 | GIE).keep_b(IFG2).keep_b(U1RXBUF).halt();
    p.handler(VECTOR_USART1_RX).wake_and_return();
    let mut m = p.machine();
    m.uart_in("usart1", Picos(2_000_000_000), 0x5A).unwrap();
    halt(&mut m);
    assert_eq!(kept(&m, 0) & 0x10, 0, "serving the interrupt clears URXIFG1");
    assert_eq!(kept(&m, 1), 0x5A);
    // Two bytes and no read between them: OE.
    let mut p = uart(0x20, 78, 0);
    p.nops(3000).keep_b(U1RCTL).keep_b(IFG2).keep_b(U1RXBUF).keep_b(U1RCTL).keep_b(IFG2).halt();
    let mut m = p.machine();
    m.uart_in("usart1", Picos(1_000_000_000), 0x11).unwrap();
    m.uart_in("usart1", Picos(2_000_000_000), 0x22).unwrap();
    halt(&mut m);
    let [rctl, ifg, byte, rctl_after, ifg_after] = all_kept(&m);
    assert_eq!((rctl & 0x20, ifg & 0x10, byte), (0x20, 0x10, 0x22));
    assert_eq!((rctl_after & 0x20, ifg_after & 0x10), (0, 0));
}

#[test]
fn the_transmit_interrupt_sends_a_string() {
    let mut p = uart(0x20, 78, 0x08);
    p.op("MOV", Imm(u32::from(b'a')), R(6)).bis_b(IE2, 0x20);
    let again = p.here();
    p.sleep(LPM0 | GIE).op("CMP", Imm(u32::from(b'e')), R(6)).back("JNE", again);
    p.bic_b(IE2, 0x20).wait_set_b(U1TCTL, 0x01).halt();
    p.handler(VECTOR_USART1_TX).op_b("MOV", R(6), Abs(U1TXBUF)).op("ADD", Cg(1), R(6));
    p.wake_and_return();
    let mut m = p.machine();
    halt(&mut m);
    let log: Vec<u8> = m.take_uart_log().iter().map(|b| b.byte).collect();
    assert_eq!(log, b"abcd");
}

#[test]
fn swrst_sets_utxifg_and_leaves_the_module_enables() {
    let mut p = uart(0x20, 78, 0);
    p.bis_b(IE2, 0x30).set_b(U1TXBUF, 1).set_b(U1TXBUF, 2);
    p.keep_b(IFG2).set_b(U1CTL, 0x11).keep_b(IFG2).keep_b(IE2).keep_b(ME2).keep_b(U1TCTL);
    let [before, after, ie, me, tctl] = all_kept(&p.run_halted());
    assert_eq!((before & 0x20, after & 0x30, ie & 0x30, me & 0x30), (0, 0x20, 0, 0x30));
    assert_eq!(tctl & 1, 1, "TXEPT");
}

#[test]
fn listen_loops_a_byte_back() {
    let mut p = uart(0x20, 78, 0);
    p.bis_b(U1CTL, 0x08).set_b(U1TXBUF, 0xC3).wait_set_b(IFG2, 0x10).keep_b(U1RXBUF);
    assert_eq!(kept(&p.run_halted(), 0), 0xC3);
}

#[test]
fn usart_keeps_smclk_in_lpm3_until_its_byte_is_out() {
    let mut p = uart(0x20, 78, 0);
    p.set_b(U1TXBUF, 0xC3).set(TACCR0, 66).set(TACCTL0, 0x10).set(TACTL, 0x0114);
    p.sleep(LPM3 | GIE).halt();
    p.handler(VECTOR_TA_CCR0).wake_and_return();
    let mut m = p.machine();
    halt(&mut m);
    let log = m.take_uart_log();
    assert_eq!(log.len(), 1, "2 ms are enough for 10 bits of 9600 baud");
    let lpm = |name: &str| {
        let v = m.vocabulary();
        let state = v.find_state(name).unwrap();
        m.ledger().spans().filter(|(k, _)| k.state == state).map(|(_, s)| s.time.0).sum::<u128>()
    };
    // While the byte goes, the DCO runs: that costs what LPM1 does.
    assert!(lpm("lpm1") > 900_000_000 && lpm("lpm3") > 800_000_000);
}

/// A part that keeps what it is sent and answers with its complement.
#[derive(Default)]
struct Complement {
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Part for Complement {
    fn transfer(&mut self, _now: Picos, mosi: u8) -> u8 {
        self.heard.lock().unwrap().push(mosi);
        !mosi
    }
    fn state(&self) -> &str {
        "on"
    }
}

/// SPI master on USART0, mode 0, SMCLK / 2, as a CC2420 driver sets it up.
fn spi() -> Program {
    let mut p = Program::new();
    p.set_b(U0CTL, 0x17).set_b(U0TCTL, 0xA2).set_b(U0BR0, 2).set_b(U0BR1, 0).set_b(U0MCTL, 0);
    p.bis_b(P3SEL, 0x0E).bis_b(ME1, 0x40).bic_b(U0CTL, 0x01);
    p.set_b(P4OUT, 0x04).set_b(P4DIR, 0x04);
    p
}

#[test]
fn an_spi_byte_takes_eight_bits_of_two_ticks() {
    let mut p = spi();
    p.bic_b(P4OUT, 0x04).set(TACTL, 0x0224);
    p.set_b(U0TXBUF, 0x35)
        .wait_set_b(IFG1, 0x40)
        .keep(TAR)
        .keep_b(U0RXBUF)
        .bis_b(P4OUT, 0x04)
        .halt();
    let mut m = p.machine();
    let part = Complement::default();
    let heard = Arc::clone(&part.heard);
    let wiring = Wiring { serial: Some("usart0"), cs: Some(Pin::new(4, 2)) };
    m.attach_part("radio", wiring, Box::new(part)).unwrap();
    halt(&mut m);
    assert_eq!((heard.lock().unwrap().as_slice(), kept(&m, 1)), (&[0x35][..], 0xCA));
    // 16 ticks from the next edge, the loop's step (5 + 2 cycles) and MOV's read.
    assert!((16..16 + 24).contains(&kept(&m, 0)), "{}", kept(&m, 0));
    assert_eq!(slips(&m), []);
}

#[test]
fn bytes_to_nobody_and_in_another_mode_are_flagged() {
    let mut p = spi();
    p.set_b(U0TXBUF, 1).wait_set_b(IFG1, 0x40);
    assert_eq!(slips(&p.run_halted()), [LintKind::SpiNobody]);
    let mut p = spi();
    p.bic_b(U0TCTL, 0x80).bic_b(P4OUT, 0x04).set_b(U0TXBUF, 1).wait_set_b(IFG1, 0x40).halt();
    let mut m = p.machine();
    let wiring = Wiring { serial: Some("usart0"), cs: Some(Pin::new(4, 2)) };
    m.attach_part("radio", wiring, Box::new(Complement::default())).unwrap();
    halt(&mut m);
    assert_eq!(slips(&m), [LintKind::SpiMode]);
}

/// A part that clocks one byte into the chip every 100 us.
struct Clocking {
    next: Picos,
    to_send: Vec<u8>,
    sending: Option<u8>,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Part for Clocking {
    fn next_event(&self) -> Option<Picos> {
        (!self.to_send.is_empty()).then_some(self.next)
    }
    fn event(&mut self, now: Picos) {
        self.sending = Some(self.to_send.remove(0));
        self.next = Picos(now.0 + 100_000_000);
    }
    fn shifted_in(&mut self) -> Option<u8> {
        self.sending.take()
    }
    fn shifted_out(&mut self, _now: Picos, byte: u8) {
        self.heard.lock().unwrap().push(byte);
    }
    fn state(&self) -> &str {
        "on"
    }
}

#[test]
fn as_spi_slave_it_exchanges_bytes_with_a_part_that_clocks_it() {
    let mut p = Program::new();
    // Slave, 3-pin.
    p.set_b(U1CTL, 0x15).set_b(U1TCTL, 0x82).bis_b(ME2, 0x10).bic_b(U1CTL, 0x01).bis_b(IE2, 0x10);
    p.set_b(U1TXBUF, 0x80);
    let again = p.here();
    p.sleep(LPM4 | GIE).op_b("MOV", Abs(U1RXBUF), R(6)).op_b("MOV", R(6), Abs(U1TXBUF));
    p.op_b("CMP", Imm(3), R(6)).back("JNE", again).halt();
    p.handler(VECTOR_USART1_RX).wake_and_return();
    let mut m = p.machine();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let part = Clocking {
        next: Picos(1_000_000_000),
        to_send: vec![1, 2, 3],
        sending: None,
        heard: Arc::clone(&heard),
    };
    let wiring = Wiring { serial: Some("usart1"), cs: None };
    m.attach_part("radio", wiring, Box::new(part)).unwrap();
    halt(&mut m);
    // What was loaded first, then the echoes.
    assert_eq!(*heard.lock().unwrap(), [0x80, 1, 2]);
}

#[test]
fn what_is_not_modelled_is_refused() {
    let mut p = Program::new();
    p.set_b(U0CTL, 0x25);
    assert!(fault_of(&p).contains("I2C"), "{}", fault_of(&p));
    let mut p = Program::new();
    p.set_b(U0CTL, 0x17).set_b(U0TCTL, 0xA0).bic_b(U0CTL, 1);
    assert!(fault_of(&p).contains("STC"), "{}", fault_of(&p));
    let mut p = spi();
    p.set_b(U0BR0, 1).set_b(U0TXBUF, 1);
    assert!(fault_of(&p).contains("divider of 1"), "{}", fault_of(&p));
}
