// SPDX-License-Identifier: MIT OR Apache-2.0
//! The I2C master of eUSCI_B, with a part that logs what goes over the bus.

use sunseal_mcu::{Machine, MachineError, Wiring};

use crate::asm::Arg::*;
use crate::bus::{Registers, Step};
use crate::support::*;

const UCB0CTLW1: u32 = 0x642;
const UCB0STATW: u32 = 0x648;
const UCB0TBCNT: u32 = 0x64A;
const UCB0IE: u32 = 0x66A;
const UCB0IV: u32 = 0x66E;
const VECTOR_UCB0: u32 = 0xFFEE;
const DMACTL0_DMA0_UCB0TX: u16 = 19;

const UCTXSTT: u16 = 0x02;
const UCTXSTP: u16 = 0x04;
const UCTR: u16 = 0x10;
const RX: u16 = 0x01;
const TX: u16 = 0x02;
const NACK: u16 = 0x20;
const BRW: u16 = 10;
const ADDRESS: u8 = 0x48;

/// Master of a bus at SMCLK (1 MHz) by ten, the other side's address written; UCASTPx and UCCLTOx by `ctlw1`.
fn bus(ctlw1: u16, count: u16) -> Program {
    let mut p = Program::new();
    p.set(UCB0CTLW0, 0x0FC1)
        .set(UCB0CTLW1, ctlw1)
        .set(UCB0BRW, BRW)
        .set(UCB0TBCNT, count)
        .set(UCB0I2CSA, ADDRESS.into())
        .set(UCB0CTLW0, 0x0FC0);
    p
}

fn ask(p: &mut Program, bits: u16) -> &mut Program {
    p.op("BIS", Imm(bits.into()), Abs(UCB0CTLW0))
}

fn send(p: &mut Program, byte: u8) -> &mut Program {
    p.wait_set(UCB0IFG, TX).set(UCB0TXBUF, byte.into())
}

fn with(p: &Program, part: &Registers) -> Machine {
    let mut m = p.machine();
    let wiring = Wiring { serial: Some("eusci_b0"), cs: None };
    m.attach_part("registers", wiring, Box::new(part.clone())).unwrap();
    m
}

fn run(p: &mut Program, part: &Registers) -> Machine {
    let mut m = with(p.halt(), part);
    halt(&mut m);
    assert!(m.lints().is_empty(), "{:?}", m.lints());
    m
}

#[test]
fn bytes_are_written_and_read_back_behind_a_repeated_start() {
    let mut p = bus(3, 0);
    ask(&mut p, UCTR | UCTXSTT);
    send(&mut p, 0x20);
    send(&mut p, 0xA5);
    send(&mut p, 0x5A);
    p.wait_set(UCB0IFG, TX);
    ask(&mut p, UCTXSTP).wait_clear(UCB0CTLW0, UCTXSTP);
    // The pointer, then two bytes read.
    ask(&mut p, UCTXSTT);
    send(&mut p, 0x20);
    p.wait_set(UCB0IFG, TX).op("BIC", Imm(UCTR.into()), Abs(UCB0CTLW0));
    ask(&mut p, UCTXSTT).wait_set(UCB0IFG, RX).keep(UCB0RXBUF);
    ask(&mut p, UCTXSTP).wait_set(UCB0IFG, RX).keep(UCB0RXBUF).wait_clear(UCB0CTLW0, UCTXSTP);
    p.keep(UCB0STATW).keep(UCB0IFG);
    let part = Registers::at(ADDRESS);
    let m = run(&mut p, &part);
    use Step::*;
    let expected = [
        Address(false),
        Write(0x20),
        Write(0xA5),
        Write(0x5A),
        Stop,
        Address(false),
        Write(0x20),
        Address(true),
        Read(0xA5),
        Read(0x5A),
        Stop,
    ];
    assert_eq!(part.steps(), expected);
    assert_eq!((kept(&m, 0), kept(&m, 1)), (0xA5, 0x5A));
    // Free; the count of bytes stands in the upper half.
    assert_eq!(kept(&m, 2), 0x0200);
    assert_eq!(kept(&m, 3) & NACK, 0);
    assert_eq!(events(&m, "eusci_b0.byte"), 9);
}

#[test]
fn a_transfer_takes_the_time_of_its_divider() {
    for divider in [4, 10, 33] {
        let mut p = bus(3 | 0x08, 2);
        p.set(UCB0CTLW0, 0x0FC1).set(UCB0BRW, divider).set(UCB0CTLW0, 0x0FC0);
        ask(&mut p, UCTR | UCTXSTT);
        send(&mut p, 1);
        send(&mut p, 2);
        p.wait_clear(UCB0STATW, 0x10);
        let part = Registers::at(ADDRESS);
        run(&mut p, &part);
        let times = part.times_ps();
        let ticks = |a: usize, b: usize| (times[b] - times[a] + 500_000) / 1_000_000;
        let bit = u128::from(divider);
        assert_eq!(
            part.steps(),
            [Step::Address(false), Step::Write(1), Step::Write(2), Step::Stop]
        );
        // Software is in time with every byte: the bus never waits.
        assert_eq!([ticks(0, 1), ticks(1, 2), ticks(2, 3)], [9 * bit, 9 * bit, bit]);
    }
}

#[test]
fn nobody_and_a_part_that_has_enough_do_not_acknowledge() {
    // Nobody at the address: the master holds the bus until it is stopped.
    let mut p = bus(3, 0);
    ask(&mut p, UCTR | UCTXSTT).set(UCB0TXBUF, 1).wait_clear(UCB0CTLW0, UCTXSTT);
    p.keep(UCB0IFG).keep(UCB0STATW);
    ask(&mut p, UCTXSTP).wait_clear(UCB0CTLW0, UCTXSTP).keep(UCB0STATW).keep(UCB0IFG);
    let m = run(&mut p, &Registers::at(0x49));
    assert_eq!(kept(&m, 0) & (NACK | TX), NACK);
    assert_eq!((kept(&m, 1), kept(&m, 2)), (0x50, 0));
    assert_eq!(kept(&m, 3) & (NACK | 8), NACK | 8);

    // A part that takes one byte of two; the third is discarded.
    let mut p = bus(3, 0);
    ask(&mut p, UCTR | UCTXSTT);
    send(&mut p, 0x10);
    send(&mut p, 0x11);
    send(&mut p, 0x12);
    p.wait_set(UCB0IFG, NACK).keep(UCB0IFG);
    ask(&mut p, UCTXSTP).wait_clear(UCB0CTLW0, UCTXSTP);
    let part = Registers { takes: 1, ..Registers::at(ADDRESS) };
    let m = run(&mut p, &part);
    assert_eq!(kept(&m, 0) & TX, 0);
    use Step::*;
    assert_eq!(part.steps(), [Address(false), Write(0x10), Write(0x11), Stop]);

    // A probe: START and STOP at once, no byte.
    for (address, there) in [(ADDRESS, true), (0x10, false)] {
        let mut p = bus(3, 0);
        ask(&mut p, UCTR | UCTXSTT | UCTXSTP).wait_clear(UCB0CTLW0, UCTXSTP).keep(UCB0IFG);
        let part = Registers::at(address);
        let m = run(&mut p, &part);
        assert_eq!(kept(&m, 0) & NACK == 0, there);
        assert_eq!(part.steps().len(), if there { 2 } else { 0 });
    }
}

#[test]
fn the_byte_counter_stops_and_its_vector_says_so() {
    // Three bytes received asleep, UCASTPx = 2.
    let mut p = bus(3 | 0x08, 3);
    p.set(UCB0IE, RX | 0x48).op("BIC", Imm(UCTR.into()), Abs(UCB0CTLW0));
    ask(&mut p, UCTXSTT);
    for _ in 0..5 {
        p.sleep(LPM0 | GIE);
    }
    p.halt();
    p.handler(VECTOR_UCB0).keep(UCB0IV);
    // The program keeps one word at one place: the handler counts instead.
    p.op("MOV", Abs(KEPT), R(5))
        .op("ADD", Imm(2), R(6))
        .op("MOV", R(5), X(KEPT as i32 + 16, 6))
        .op("CMP", Imm(22), R(5));
    let other = p.ahead("JNE");
    p.op("MOV", Abs(UCB0RXBUF), X(KEPT as i32 + 40, 6));
    p.land(other);
    p.wake_and_return();
    let part = Registers::at(ADDRESS);
    let mut m = with(&p, &part);
    halt(&mut m);
    let seen: Vec<_> = (1..=5).map(|n| kept(&m, 8 + n)).collect();
    // STOP is over before the first handler, and comes before the counter.
    assert_eq!(seen, [22, 22, 22, 8, 26]);
    assert_eq!((kept(&m, 21), kept(&m, 22), kept(&m, 23)), (0, 7, 14));
    use Step::*;
    assert_eq!(part.steps(), [Address(true), Read(0), Read(7), Read(14), Stop]);
}

#[test]
fn a_byte_without_room_holds_the_clock_and_the_timeout_tells() {
    // UCCLTOx = 1; two bytes come and nobody reads the first.
    let mut p = bus(3 | 0x40, 0);
    p.op("BIC", Imm(UCTR.into()), Abs(UCB0CTLW0));
    ask(&mut p, UCTXSTT).wait_set(UCB0IFG, 0x80).keep(UCB0STATW);
    // STOP: the NACK comes at once, both bytes stay to be read.
    ask(&mut p, UCTXSTP).keep(UCB0RXBUF).keep(UCB0RXBUF).wait_clear(UCB0CTLW0, UCTXSTP);
    let part = Registers::at(ADDRESS);
    let m = run(&mut p, &part);
    assert_eq!(kept(&m, 0) & 0x50, 0x50);
    assert_eq!((kept(&m, 1), kept(&m, 2)), (0, 7));
    let times = part.times_ps();
    let held_ps = times[3] - times[2];
    assert!(held_ps.abs_diff(28_125_000_000) < 200_000_000, "{held_ps}");
}

#[test]
fn dma_sends_a_block() {
    let mut p = bus(3 | 0x08, 8);
    for i in 0..4 {
        p.set(RAM + 2 * i, 0x1110 + 0x2222 * i as u16);
    }
    p.set(DMACTL0, DMACTL0_DMA0_UCB0TX)
        .set(DMA0SA, RAM as u16)
        .set(DMA0DA, UCB0TXBUF as u16)
        .set(DMA0SZ, 8)
        // Single transfers, bytes, the source counts up, enabled by edges.
        .set(DMA0CTL, 0x03D0);
    ask(&mut p, UCTR | UCTXSTT).wait_set(UCB0IFG, 8);
    let part = Registers::at(ADDRESS);
    run(&mut p, &part);
    let sent: Vec<u8> = (0..4u16).flat_map(|i| (0x1110 + 0x2222 * i).to_le_bytes()).collect();
    assert_eq!(part.steps().len(), 10);
    assert_eq!(part.shared.lock().unwrap().memory[0x10..0x17], sent[1..]);
}

#[test]
fn what_the_bus_cannot_do_is_refused() {
    let mut slave = Program::new();
    slave.set(UCB0CTLW0, 0x07C1).set(UCB0CTLW0, 0x07C0).halt();
    let mut fast = bus(3, 0);
    fast.set(UCB0BRW, 3);
    ask(&mut fast, UCTXSTT).halt();
    let mut ten = bus(3, 0);
    ten.set(UCB0CTLW0, 0x4FC0);
    ask(&mut ten, UCTXSTT).halt();
    for (p, words) in [(slave, "slave"), (fast, "divider of 3"), (ten, "ten bits")] {
        assert!(fault_of(&p).contains(words), "{}", fault_of(&p));
    }
    let mut m = with(&Program::new(), &Registers::at(0x48));
    let mut attach = |serial, address| {
        let wiring = Wiring { serial: Some(serial), cs: None };
        m.attach_part("second", wiring, Box::new(Registers::at(address)))
    };
    assert!(matches!(attach("eusci_b0", 0x48), Err(MachineError::AddressTaken { .. })));
    assert!(matches!(attach("eusci_a0", 0x48), Err(MachineError::NoI2c { .. })));
    attach("eusci_b1", 0x48).unwrap();
    attach("eusci_b0", 0x49).unwrap();
}
