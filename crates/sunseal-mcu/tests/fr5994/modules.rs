// SPDX-License-Identifier: MIT OR Apache-2.0
//! Serial interfaces, checksums, ports, calendar.

use sunseal_mcu::{Pin, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

#[test]
fn checksums_of_the_catalogue_by_bytes_and_words() {
    let mut p = Program::new();
    p.set(CRC32INIRESW0, 0xFFFF).set(CRC32INIRESW1, 0xFFFF).set(CRCINIRES, 0xFFFF);
    for b in b"123456789" {
        p.set_b(CRC32DIW0, *b).set_b(0x152, *b);
    }
    p.keep(CRC32RESRW0).keep(CRC32RESRW1).keep(CRCINIRES);
    let m = p.run_halted();
    // CRC-32/ISO-HDLC is the mirrored result, inverted; CRC32RESRW0 has its upper half (TI's driverlib).
    let mirrored = u32::from(kept(&m, 0)) << 16 | u32::from(kept(&m, 1));
    assert_eq!(!mirrored, 0xCBF4_3926, "{mirrored:08x}");
    assert_eq!(kept(&m, 2), 0x29B1);
    assert_eq!((events(&m, "crc32.byte"), events(&m, "crc16.byte")), (9, 9));
}

/// "1234" as words: bit 0 first through CRC32DI, and a word of it with its bits the other way round, high byte first.
#[test]
fn checksums_of_words_begin_with_the_right_byte() {
    let mut p = Program::new();
    p.set(CRC32INIRESW0, 0xFFFF).set(CRC32INIRESW1, 0xFFFF);
    p.set(CRC32DIW0, 0x3231).set(CRC32DIW1, 0x3433).keep(CRC32RESRW0).keep(CRC32RESRW1);
    p.set(CRC16INIRESW0, 0xFFFF).set(CRC16DIRBW0, 0x3132).keep(CRC16INIRESW0);
    let m = p.run_halted();
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0x641C, 0x1F5C], "zlib.crc32(b\"1234\"), inverted");
    assert_eq!(kept(&m, 2), 0x3DBA, "binascii.crc_hqx(b\"12\", 0xFFFF)");
}

#[test]
fn ucsync_of_an_interface_b_reads_as_one_whatever_is_written() {
    let mut p = Program::new();
    p.set(UCB0CTLW0, 1).keep(UCB0CTLW0).op("BIS", Imm(0x0E80), Abs(UCB0CTLW0));
    p.op("BIC", Imm(1), Abs(UCB0CTLW0)).keep(UCB0CTLW0);
    let m = p.run_halted();
    assert_eq!([kept(&m, 0), kept(&m, 1)], [0x0101, 0x0F80], "an I2C master out of reset");
}

#[test]
fn uart_bytes_take_the_time_of_their_modulation() {
    // 9600 baud from 1 MHz: UCBR = 6, UCBRF = 8, UCBRS = 20h (SLAU367P table 30-5).
    let mut p = Program::new();
    p.set(UCA0CTLW0, 0x0081).set(UCA0BRW, 6).set(UCA0MCTLW, 0x2081).set(UCA0CTLW0, 0x0080);
    p.set(UCA0TXBUF, 0x55).wait_clear(UCA0STATW, 1).set(UCA0TXBUF, 0xAA).wait_clear(UCA0STATW, 1);
    let m = p.run_halted();
    let log = m.uart_log();
    assert_eq!((log[0].byte, log[1].byte), (0x55, 0xAA));
    // Ten bits of 104 ticks, one of them longer by one.
    let mut p = Program::new();
    p.set(UCA0CTLW0, 0x0081).set(UCA0BRW, 6).set(UCA0MCTLW, 0x2081).set(UCA0CTLW0, 0x0080);
    let send = p.here();
    p.set(UCA0TXBUF, 0x55).set(UCA0TXBUF, 0x55).nops(2).halt();
    let mut m = p.machine();
    m.run(&Until::pc(send), &mut Silent);
    m.run(&Until::time(Picos(m.time().0 + 10_000_000_000)), &mut Silent);
    let log = m.uart_log();
    let us = (log[1].time_ps - log[0].time_ps) / 1_000_000;
    assert!(us.abs_diff(10 * 104 + 1) <= 1, "{us}");
}

#[test]
fn uart_receives_and_its_vector_says_so() {
    let mut p = Program::new();
    p.set(UCA0CTLW0, 0x0081).set(UCA0BRW, 104).set(UCA0CTLW0, 0x0080).set(UCA0IE, 1);
    p.sleep(LPM0 | GIE).keep(UCA0RXBUF).halt();
    p.handler(0xFFF0).keep(UCA0IV).wake_and_return();
    let mut m = p.machine();
    m.uart_in("eusci_a0", Picos(m.time().0 + 5_000_000_000), 0x42).unwrap();
    halt(&mut m);
    assert_eq!((kept(&m, 0), kept(&m, 1)), (0x42, 2));
}

#[test]
fn spi_loops_back_and_an_empty_bus_does_not_acknowledge() {
    let mut p = Program::new();
    p.set(UCB0CTLW0, 0xA981).set(UCB0BRW, 2).set(UCB0CTLW0, 0xA980).set(0x648, 0x80);
    p.set(UCB0TXBUF, 0xC3).wait_set(UCB0IFG, 1).keep(UCB0RXBUF);
    // I2C master: start and address, nobody there: UCNACKIFG.
    p.set(UCB0CTLW0, 0x0FC1)
        .set(UCB0BRW, 10)
        .set(UCB0I2CSA, 0x48)
        .set(UCB0CTLW0, 0x0FC0)
        .op("BIS", Imm(0x12), Abs(UCB0CTLW0))
        .wait_clear(UCB0CTLW0, 2)
        .keep(UCB0IFG);
    let m = p.run_halted();
    assert_eq!(kept(&m, 0), 0xC3);
    assert_eq!(kept(&m, 1) & 0x20, 0x20);
}

#[test]
fn every_port_interrupts() {
    let mut p = Program::new();
    p.set(0x258, 0).set(PCIFG, 0).set(PCIE, 0x0004).sleep(LPM4 | GIE).halt();
    p.handler(VECTOR_PORT5).keep(P5IV).wake_and_return();
    let mut m = p.machine();
    m.set_pin(Pin::new(5, 2), Some(false));
    m.run(&Until::time(Picos(m.time().0 + 1_000_000_000)), &mut Silent);
    m.set_pin(Pin::new(5, 2), Some(true));
    halt(&mut m);
    assert_eq!(kept(&m, 0), 6);
}

#[test]
fn both_select_registers_are_complemented_at_once() {
    let mut p = Program::new();
    p.set_b(P2SEL0, 0x01).set_b(0x217, 0x03).keep(0x20A).keep(0x20C);
    let m = p.run_halted();
    assert_eq!((kept(&m, 0), kept(&m, 1)), (0x0200, 0x0300));
}

#[test]
fn the_calendar_counts_rolls_over_and_alarms() {
    let mut p = Program::new();
    p.set(PJSEL0, 0x30).set(CSCTL0, 0xA500).set(CSCTL4, 0xCDC8);
    let again = p.here();
    p.op("BIC", Imm(3), Abs(CSCTL5)).op("BIT", Imm(1), Abs(CSCTL5)).back("JNE", again);
    // 2023-12-31 23:58:50, a Sunday; alarm at minute 0.
    p.set(RTCCTL0, 0xA500)
        .set(RTCCTL13, 0x0060)
        .set(RTCYEAR, 2023)
        .set(RTCDATE, 12 << 8 | 31)
        .set(RTCTIM1, 23)
        .set(RTCTIM0, 58 << 8 | 50)
        .set(RTCAMINHR, 0x0080)
        .set(RTCCTL13, 0x0020)
        .set(RTCCTL0, 0xA520);
    p.sleep(LPM3 | GIE);
    p.keep(RTCTIM0).keep(RTCTIM1).keep(RTCDATE).keep(RTCYEAR).halt();
    p.handler(VECTOR_RTC).keep(RTCIV).wake_and_return();
    let mut m = p.machine();
    let begin = m.time();
    m.run(&Until::halted(), &mut Silent);
    assert_eq!([0, 1, 2, 3].map(|n| kept(&m, n)), [0, 1 << 8, 1 << 8 | 1, 2024]);
    assert_eq!(kept(&m, 4), 8, "RTCIV: alarm");
    let s = (m.time().0 - begin.0) as f64 * 1e-12;
    assert!((s - 70.8).abs() < 0.2, "{s}");
}

#[test]
fn the_multiplier_is_there() {
    let mut p = Program::new();
    p.set(0x4C0, 1234).set(0x4C8, 5678).nops(3).keep(0x4CA).keep(0x4CC);
    let m = p.run_halted();
    let product = u32::from(kept(&m, 1)) << 16 | u32::from(kept(&m, 0));
    assert_eq!(product, 1234 * 5678);
    assert_eq!(events(&m, "mpy32.op16"), 1);
}

#[test]
fn a_snapshot_goes_on_as_the_machine_does() {
    let mut p = Program::clocked(0x0048, 1);
    p.op("MOV", Imm(0), R(5));
    let again = p.here();
    p.op("ADD", Imm(7), R(5))
        .op("MOV", R(5), Abs(DATA))
        .op("MOV", Abs(DATA), R(6))
        .back("JMP", again);
    let mut m = p.machine();
    m.run(&Until::cycles(m.cycles() + 5000), &mut Silent);
    let snapshot = m.snapshot();
    m.run(&Until::cycles(m.cycles() + 5000), &mut Silent);
    let (ledger, time) = (m.ledger(), m.time());
    m.restore(&snapshot).unwrap();
    m.run(&Until::cycles(m.cycles() + 5000), &mut Silent);
    assert_eq!((m.ledger(), m.time()), (ledger, time));
}

#[test]
fn a_byte_asks_for_smclk_while_scg1_is_set() {
    // LPM3 is left by RETI with CPUOFF alone cleared: SCG1 stays set, and SMCLK with it at rest until it is asked for
    // (SLAU367P 3.2.7 and table 3-2).
    let mut p = Program::new();
    p.set(UCA0CTLW0, 0x0081).set(UCA0BRW, 104).set(UCA0CTLW0, 0x0080);
    p.op("BIS", Imm(0x80), R(2)).nops(1);
    p.set(UCA0TXBUF, 0x5A).set(UCA0TXBUF, 0xA5).wait_clear(UCA0STATW, 1);
    let m = p.run_halted();
    let log = m.uart_log();
    assert_eq!(log.iter().map(|b| b.byte).collect::<Vec<_>>(), [0x5A, 0xA5]);
    let us = (log[1].time_ps - log[0].time_ps) / 1_000_000;
    assert!(us.abs_diff(10 * 104) <= 1, "{us}");
    // Requests switched off (SMCLKREQEN in CSCTL6): it waits until SCG1 is cleared.
    let mut p = Program::new();
    p.set(CSCTL0, 0xA500).set(0x16C, 0);
    p.set(UCA0CTLW0, 0x0081).set(UCA0BRW, 104).set(UCA0CTLW0, 0x0080);
    p.op("BIS", Imm(0x80), R(2)).nops(1).set(UCA0TXBUF, 0x5A).nops(4_000);
    let waits = p.here();
    p.op("BIC", Imm(0x80), R(2)).wait_clear(UCA0STATW, 1).halt();
    let mut m = p.machine();
    m.run(&Until::pc(waits), &mut Silent);
    assert!(m.uart_log().is_empty());
    m.run(&Until::halted(), &mut Silent);
    assert_eq!(m.uart_log()[0].byte, 0x5A);
}

/// Pins of the FR5994 by both function selects: TA0.1 is P1.0's first function, TA1.0 is P1.7's third.
#[test]
fn output_units_reach_the_pins_that_both_selects_give_them() {
    let mut p = Program::new();
    p.set_b(P1DIR, 0x81).set_b(P1SEL0, 0x81).set_b(P1SEL1, 0x80);
    p.set(TA0CCR0, 99).set(TA0CCR1, 25).set(TA0CCTL1, 0x00E0).set(TA0CTL, 0x0214);
    p.set(TA1CCR0, 49).set(TA1CCTL0, 0x0080).set(TA1CTL, 0x0214).sleep(LPM0);
    let mut m = p.machine();
    m.run(&Until::time(Picos(m.time().0 + 3_000_000_000)), &mut Silent);
    let (pwm, square) = (spans(&m, Pin::new(1, 0), 1e6), spans(&m, Pin::new(1, 7), 1e6));
    assert!(pwm.len() > 20 && pwm.chunks_exact(2).all(|s| s == [25, 75]), "{pwm:?}");
    assert!(square.len() > 20 && square.iter().all(|s| *s == 50), "{square:?}");
}
