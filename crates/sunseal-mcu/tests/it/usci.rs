// SPDX-License-Identifier: MIT OR Apache-2.0
//! USCI: SPI with an attached device, UART out and in.

use std::sync::{Arc, Mutex};

use sunseal_mcu::{LintKind, Machine, MachineError, Part, Pin, Wiring};
use sunseal_trace::Picos;

use crate::asm::Arg::*;
use crate::bus::{Registers, Step, WRITTEN_AND_READ};
use crate::support::*;

const CS: Pin = Pin::new(3, 0);
const READY: Pin = Pin::new(1, 7);

/// What the device heard, and when.
type Heard = Arc<Mutex<Vec<(u128, String)>>>;

/// Answers each byte with its complement and raises a pin 1 ms after it was selected.
struct Echo {
    heard: Heard,
    due: Option<Picos>,
    pins: Vec<(Pin, bool)>,
}

impl Echo {
    fn note(&self, now: Picos, what: String) {
        self.heard.lock().unwrap().push((now.0, what));
    }
}

impl Part for Echo {
    fn select(&mut self, now: Picos) {
        self.note(now, "select".into());
        self.due = Some(Picos(now.0 + 1_000_000_000));
    }
    fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
        self.note(now, format!("{mosi:02x}"));
        !mosi
    }
    fn deselect(&mut self, now: Picos) {
        self.note(now, "deselect".into());
    }
    fn next_event(&self) -> Option<Picos> {
        self.due
    }
    fn event(&mut self, now: Picos) {
        assert_eq!(self.due, Some(now));
        self.due = None;
        self.pins = vec![(READY, true)];
    }
    fn pins(&self) -> &[(Pin, bool)] {
        &self.pins
    }
    fn state(&self) -> &str {
        if self.due.is_some() { "busy" } else { "idle" }
    }
}

fn echo(heard: &Heard) -> Box<Echo> {
    Box::new(Echo { heard: Arc::clone(heard), due: None, pins: vec![(READY, false)] })
}

fn with_echo(p: &Program) -> (Machine, Heard) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut m = p.machine();
    m.attach_spi("radio", "usci_b0", CS, echo(&heard)).unwrap();
    (m, heard)
}

/// Notes when each byte begins and ends, by what it is told at its beginning and behind its end.
struct Ear {
    begun: Option<(u128, u128, u8)>,
    heard: Arc<Mutex<Vec<[u128; 3]>>>,
}

impl Part for Ear {
    fn shifting(&mut self, begin: Picos, end: Picos, mosi: u8) {
        self.begun = Some((begin.0, end.0, mosi));
    }
    fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
        let (begin, end, told) = self.begun.take().unwrap();
        assert_eq!(told, mosi);
        self.heard.lock().unwrap().push([begin, end, now.0]);
        0
    }
    fn state(&self) -> &str {
        "idle"
    }
}

/// SPI master on SMCLK / 2, chip select P3.0.
fn spi(p: &mut Program) {
    p.set_b(PBOUT, 1).set_b(PBDIR, 1);
    p.set(UCB0CTLW0, 0xA981).set(UCB0BRW, 2).set(UCB0CTLW0, 0xA980);
}

fn byte(p: &mut Program, value: u8) {
    p.set_b(UCB0TXBUF, value).wait_set(UCB0ICTL, 0x0100).keep(UCB0RXBUF);
}

#[test]
fn bytes_go_out_and_come_in_while_the_chip_is_selected() {
    let mut p = Program::new();
    spi(&mut p);
    p.set_b(PBOUT, 0);
    byte(&mut p, 0x5A);
    byte(&mut p, 0x00);
    p.set_b(PBOUT, 1).halt();
    let (mut m, heard) = with_echo(&p);
    halt(&mut m);
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0xA5, 0xFF]);
    let heard = heard.lock().unwrap();
    let words: Vec<&str> = heard.iter().map(|(_, w)| w.as_str()).collect();
    assert_eq!(words, ["select", "5a", "00", "deselect"]);
    assert_eq!(m.lints(), []);
    assert_eq!(m.ledger().event(m.vocabulary().find_event("usci_b0.byte").unwrap()), 2);
}

#[test]
fn without_ucmsb_the_lowest_bit_goes_first_and_another_clock_mode_is_flagged() {
    let mut p = Program::new();
    // UCMSB clear: the device, which takes the highest bit first, hears the byte backwards.
    p.set_b(PBOUT, 1).set_b(PBDIR, 1);
    p.set(UCB0CTLW0, 0x8981).set(UCB0BRW, 2).set(UCB0CTLW0, 0x8980).set_b(PBOUT, 0);
    byte(&mut p, 0x01);
    // Most significant first again, but UCCKPH clear.
    p.set(UCB0CTLW0, 0x2981).set(UCB0CTLW0, 0x2980);
    byte(&mut p, 0x0F);
    p.set_b(PBOUT, 1).halt();
    let (mut m, heard) = with_echo(&p);
    halt(&mut m);
    let heard = heard.lock().unwrap();
    let words: Vec<&str> = heard.iter().map(|(_, w)| w.as_str()).collect();
    assert_eq!(words, ["select", "80", "0f", "deselect"]);
    // Its answer, the complement, comes back backwards too.
    assert_eq!(kept(&m, 0), 0xFE);
    assert_eq!(m.lint_count(LintKind::SpiMode), 1);
}

#[test]
fn a_byte_takes_eight_bit_times() {
    let mut p = Program::new();
    spi(&mut p);
    p.set_b(PBOUT, 0).set_b(UCB0TXBUF, 1);
    p.nops(60).halt();
    let (mut m, heard) = with_echo(&p);
    halt(&mut m);
    let heard = heard.lock().unwrap();
    // 8 bits x 2 ticks, starting behind the 4 cycles of the write of TXBUF.
    let ticks = (heard[1].0 - heard[0].0) as f64 * 1e-12 * 1_048_576.0;
    assert!((ticks - 20.0).abs() < 0.01, "{ticks}");
}

#[test]
fn a_part_is_told_when_a_byte_begins_and_when_it_will_end() {
    let mut p = Program::new();
    spi(&mut p);
    // The second one waits in the buffer and begins where the first one ends.
    p.set_b(PBOUT, 0).set_b(UCB0TXBUF, 0xA5).set_b(UCB0TXBUF, 0x3C);
    p.nops(80).halt();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut m = p.machine();
    let ear = Ear { begun: None, heard: Arc::clone(&heard) };
    m.attach_spi("ear", "usci_b0", CS, Box::new(ear)).unwrap();
    halt(&mut m);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    for [begin, end, now] in heard.iter() {
        assert_eq!(end, now);
        let ticks = (end - begin) as f64 * 1e-12 * 1_048_576.0;
        assert!((ticks - 16.0).abs() < 0.01, "{ticks}");
    }
    assert_eq!(heard[1][0], heard[0][1]);
}

#[test]
fn the_transmit_buffer_is_one_byte_ahead() {
    let mut p = Program::new();
    spi(&mut p);
    p.set_b(PBOUT, 0).set_b(UCB0TXBUF, 0x11).keep(UCB0ICTL).set_b(UCB0TXBUF, 0x22).keep(UCB0ICTL);
    p.nops(80).keep(0x5EA).halt();
    let (mut m, heard) = with_echo(&p);
    halt(&mut m);
    assert_ne!(kept(&m, 0) & 0x200, 0, "the shift register took the first byte at once");
    assert_eq!(kept(&m, 1) & 0x200, 0, "the second waits");
    assert_eq!(heard.lock().unwrap().len(), 3);
    // Nobody read the first answer: overrun; and the interface is at rest.
    assert_eq!(kept(&m, 2) & 0x21, 0x20);
}

#[test]
fn a_receive_interrupt_wakes() {
    let mut p = Program::new();
    spi(&mut p);
    p.set(UCB0ICTL, 0x0001)
        .set_b(PBOUT, 0)
        .set_b(UCB0TXBUF, 0x77)
        .sleep(LPM0 | GIE)
        .keep(UCB0RXBUF)
        .halt();
    p.handler(VECTOR_USCI_B0).keep(0x5FE).wake_and_return();
    let (mut m, _) = with_echo(&p);
    halt(&mut m);
    assert_eq!(kept(&m, 1), 2, "UCB0IV");
    assert_eq!(kept(&m, 0), 0x88);
}

#[test]
fn a_device_raises_its_pin_at_its_own_time_and_wakes_the_cpu() {
    let mut p = Program::new();
    spi(&mut p);
    p.set(PAIE, 0x80).set(PAIFG, 0).set_b(PBOUT, 0).sleep(LPM3 | GIE).halt();
    p.handler(VECTOR_PORT1).keep(P1IV).wake_and_return();
    let (mut m, heard) = with_echo(&p);
    halt(&mut m);
    assert_eq!(kept(&m, 0), 0x10);
    let selected = heard.lock().unwrap()[0].0;
    let woke = m.time().0 - selected;
    assert!((1_000_000_000..1_400_000_000).contains(&woke), "{woke}");
    // The device's states are in the ledger under its name.
    let v = m.vocabulary();
    let (radio, busy) = (v.find_component("radio").unwrap(), v.find_state("busy").unwrap());
    let ledger = m.ledger();
    let time: u128 = ledger
        .spans()
        .filter(|(k, _)| k.component == radio && k.state == busy)
        .map(|(_, s)| s.time.0)
        .sum();
    assert_eq!(time, 1_000_000_000);
}

#[test]
fn bytes_to_nobody_are_flagged_and_read_as_ones() {
    let mut p = Program::new();
    spi(&mut p);
    byte(&mut p, 0x12);
    p.halt();
    let (mut m, heard) = with_echo(&p);
    halt(&mut m);
    assert_eq!(kept(&m, 0), 0xFF);
    assert_eq!(m.lint_count(LintKind::SpiNobody), 1);
    assert!(heard.lock().unwrap().is_empty());
}

#[test]
fn bytes_to_several_parts_are_flagged() {
    let mut p = Program::new();
    spi(&mut p);
    p.set_b(PBDIR, 3).set_b(PBOUT, 2);
    byte(&mut p, 0x12);
    p.set_b(PBOUT, 0);
    byte(&mut p, 0x34);
    p.halt();
    let (mut m, heard) = with_echo(&p);
    let low = Wiring { serial: Some("usci_b0"), cs: Some(Pin::new(3, 1)) };
    m.attach_part("flash", low, echo(&heard)).unwrap();
    halt(&mut m);
    assert_eq!(m.lint_count(LintKind::SpiSeveral), 1);
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0xED, 0xCB]);
    let bytes = heard.lock().unwrap().iter().filter(|(_, w)| w == "34").count();
    assert_eq!(bytes, 2, "each part hears it");
}

#[test]
fn an_unknown_interface_is_refused() {
    let mut m = Program::new().machine();
    let echo = Echo { heard: Arc::default(), due: None, pins: Vec::new() };
    let err = m.attach_spi("radio", "usci_c7", CS, Box::new(echo)).unwrap_err();
    assert!(
        matches!(err, MachineError::NoSerial { .. }) && err.to_string().contains("usci_c7"),
        "{err}"
    );
}

/// UART on SMCLK at 9600 baud: UCBR = 109, UCBRS = 2.
fn uart(p: &mut Program) {
    p.set(UCA1CTLW0, 0x0081).set(UCA1BRW, 109).set(UCA1MCTL, 2 << 1).set(UCA1CTLW0, 0x0080);
}

#[test]
fn a_uart_sends_at_its_baud_rate() {
    let mut p = Program::new();
    uart(&mut p);
    for b in b"hi" {
        p.wait_set(UCA1ICTL, 0x0200).set_b(UCA1TXBUF, *b);
    }
    p.wait_clear(0x60A, 1).halt();
    let m = p.run();
    let log = m.uart_log();
    assert_eq!(log.iter().map(|b| b.byte).collect::<Vec<_>>(), b"hi");
    assert_eq!(log[0].usci, "usci_a1");
    let s = (log[1].time_ps - log[0].time_ps) as f64 * 1e-12;
    assert!((s - 10.0 / 9600.0).abs() < 2e-6, "{s}");
}

#[test]
fn a_uart_receives_and_interrupts() {
    let mut p = Program::new();
    uart(&mut p);
    p.set(UCA1ICTL, 0x0001).sleep(LPM0 | GIE).keep(0x61E).halt();
    p.handler(VECTOR_USCI_A1).keep(UCA1RXBUF).wake_and_return();
    let mut m = p.machine();
    m.uart_in("usci_a1", Picos(5_000_000_000), b'x').unwrap();
    halt(&mut m);
    assert_eq!([kept(&m, 1), kept(&m, 0)], [u16::from(b'x'), 0], "reading RXBUF clears the flag");
    assert!(m.time().0 > 5_000_000_000);
}

#[test]
fn i2c_writes_reads_and_is_not_acknowledged_by_nobody() {
    const UCB0I2CSA: u32 = 0x5F2;
    const UCB0STAT: u32 = 0x5EA;
    const UCB0IV: u32 = 0x5FE;
    // UCTXSTT 2, UCTXSTP 4, UCTR 10h of UCB0CTL1.
    let ask = |p: &mut Program, bits: u32| {
        p.op_b("BIS", Imm(bits), Abs(UCB0CTLW0));
    };
    let mut p = Program::new();
    p.set(UCB0CTLW0, 0x0F81).set(UCB0BRW, 10).set(UCB0I2CSA, 0x48).set(UCB0CTLW0, 0x0F80);
    p.set_b(UCB0ICTL, 0x3F);
    ask(&mut p, 0x12);
    for byte in [0x20, 0xA5] {
        p.wait_set(UCB0ICTL, 0x0200).set_b(UCB0TXBUF, byte);
    }
    // The pointer again, then a single byte: STOP is asked for as soon as the address is out.
    p.wait_set(UCB0ICTL, 0x0200);
    ask(&mut p, 0x02);
    // UCTXIFG still tells of the byte before: what is written now would be discarded by the START.
    p.wait_clear(UCB0CTLW0, 2).set_b(UCB0TXBUF, 0x20).wait_set(UCB0ICTL, 0x0200);
    p.op_b("BIC", Imm(0x10), Abs(UCB0CTLW0));
    ask(&mut p, 0x02);
    p.wait_clear(UCB0CTLW0, 2);
    ask(&mut p, 0x04);
    p.wait_clear(UCB0CTLW0, 4).keep(UCB0IV).keep(UCB0RXBUF).keep(UCB0IV);
    // Somebody else's address.
    p.set(UCB0I2CSA, 0x10);
    ask(&mut p, 0x12);
    p.wait_clear(UCB0CTLW0, 2).keep(UCB0IV).keep(UCB0STAT);
    ask(&mut p, 0x04);
    p.wait_clear(UCB0CTLW0, 4).keep(UCB0STAT).halt();
    let part = Registers::at(0x48);
    let mut m = p.machine();
    let wiring = Wiring { serial: Some("usci_b0"), cs: None };
    m.attach_part("registers", wiring, Box::new(part.clone())).unwrap();
    halt(&mut m);
    use Step::*;
    let expected = [&WRITTEN_AND_READ[..], &[Stop]].concat();
    assert_eq!(part.steps(), expected);
    // Received, room for a byte (of the time before), not acknowledged; SCL low and the bus busy, then free.
    let words: Vec<_> = (0..5).map(|n| kept(&m, n)).collect();
    assert_eq!(words, [10, 0xA5, 12, 4, 0x50]);
    assert_eq!(kept(&m, 5) & 0xFF, 0);
    let times = part.times_ps();
    let tick_ps = (times[7] - times[6]) / 10;
    assert!((times[1] - times[0]).abs_diff(90 * tick_ps) < 10 * tick_ps);
}

#[test]
fn what_the_usci_cannot_do_traps() {
    for (ctlw0, words) in [(0x0780, "I2C slave"), (0x0180, "slave"), (0x0B80, "4-pin")] {
        let mut p = Program::new();
        let fault = fault_of(p.set(UCB0CTLW0, ctlw0));
        assert!(fault.contains(words) && fault.contains("not modelled"), "{fault}");
    }
    let mut p = Program::new();
    uart(&mut p);
    p.set(UCA1CTLW0, 0x0001).set(UCA1CTLW0, 0x0000);
    let fault = fault_of(p.set_b(UCA1TXBUF, 1));
    assert!(fault.contains("UCLK"), "{fault}");
    let _ = Cg(0);
}
