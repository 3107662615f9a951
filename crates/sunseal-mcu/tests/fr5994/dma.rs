// SPDX-License-Identifier: MIT OR Apache-2.0
//! DMA: what it moves, and the cycles that it takes from the CPU.

use sunseal_mcu::Until;
use sunseal_trace::Silent;

use crate::support::*;

const OUT: u32 = RAM + 0x400;

/// A transfer by software trigger: cycles of the instructions that start it and 20 NOPs behind.
fn cycles(ctl: u16, from: u32, size: u16, clock: (u16, u16)) -> (u64, Vec<u8>) {
    let mut p = Program::clocked(clock.0, clock.1);
    p.set(DMA0SA, from as u16)
        .set(DMA0SA + 2, (from >> 16) as u16)
        .set(DMA0DA, OUT as u16)
        .set(DMA0SZ, size);
    // Whole cache lines from here on, so that the code costs the same each time.
    while !p.here().is_multiple_of(8) {
        p.nops(1);
    }
    let begin = p.here();
    p.set(DMA0CTL, ctl);
    p.nops(21);
    let end = p.here();
    p.halt();
    let mut m = p.machine();
    m.write_mem(0x12340, &(0..64).collect::<Vec<u8>>()).unwrap();
    m.write_mem(RAM, &(0..64).collect::<Vec<u8>>()).unwrap();
    m.run(&Until::pc(begin), &mut Silent);
    let before = m.cycles();
    m.run(&Until::pc(end), &mut Silent);
    (m.cycles() - before, m.read_mem(OUT, 64).unwrap().to_vec())
}

const EN_REQ: u16 = 0x0011;
const WORDS_UP: u16 = 0x0F00;
const SINGLE: u16 = 0x0000;
const BLOCK: u16 = 0x1000;
const BURST: u16 = 0x2000;
const MHZ_8: (u16, u16) = (0x000C, 0);
const MHZ_16: (u16, u16) = (0x0048, 1);

#[test]
fn a_single_transfer_takes_four_cycles_and_a_block_two_for_each_word() {
    let (idle, _) = cycles(WORDS_UP, RAM, 8, MHZ_8);
    let taken = |mode: u16, size: u16| cycles(mode | WORDS_UP | EN_REQ, RAM, size, MHZ_8);
    // SLAU367P, table 11-3: 4 MCLK cycles at most with the CPU on.
    let (single, out) = taken(SINGLE, 8);
    assert_eq!(single - idle, 4);
    assert_eq!(out[..2], [0, 1]);
    let (block, out) = taken(BLOCK, 16);
    assert_eq!(block - idle, 1 + 2 * 16 + 1);
    assert_eq!(out[..32], (0..32).collect::<Vec<u8>>());
    // A burst gives the CPU two cycles behind each four words: nothing is added to the total.
    let (burst, out) = taken(BURST, 16);
    assert_eq!(burst - idle, 1 + 2 * 16 + 1);
    assert_eq!(out[..32], (0..32).collect::<Vec<u8>>());
}

#[test]
fn a_transfer_from_fram_pays_the_waits_of_its_misses() {
    let (idle, _) = cycles(WORDS_UP, 0x12340, 16, MHZ_16);
    let (from_ram, _) = cycles(BLOCK | WORDS_UP | EN_REQ, RAM, 16, MHZ_16);
    let (from_fram, out) = cycles(BLOCK | WORDS_UP | EN_REQ, 0x12340, 16, MHZ_16);
    assert_eq!(from_ram - idle, 1 + 2 * 16 + 1);
    assert_eq!(out[..32], (0..32).collect::<Vec<u8>>());
    // 32 bytes are four lines; they also drive out up to two lines of the code behind.
    let waits = from_fram - from_ram;
    assert!((4..=5).contains(&waits), "{waits}");
}

#[test]
fn bytes_go_into_words_and_addresses_count_as_told() {
    // Bytes from a fixed source into falling words.
    let mut p = Program::new();
    p.set(RAM, 0xABCD)
        .set(DMA0SA, RAM as u16)
        .set(DMA0DA, OUT as u16 + 4)
        .set(DMA0SZ, 3)
        .set(DMA0CTL, BLOCK | 0x0800 | 0x0040 | EN_REQ)
        .nops(1)
        .keep(DMA0CTL)
        .keep(DMA0SZ);
    let m = p.run_halted();
    assert_eq!([0, 2, 4].map(|i| word(&m, OUT + i)), [0xCD; 3]);
    assert_eq!(kept(&m, 0), BLOCK | 0x0848, "DMAEN fell, DMAIFG rose");
    assert_eq!(kept(&m, 1), 3, "DMAxSZ shows its first value again");
    assert_eq!(events(&m, "dma.transfer"), 3);
}

#[test]
fn a_timer_triggers_and_its_flag_falls() {
    // Repeated single transfers on TA0CCR0: a word each period, the CPU asleep in LPM0.
    let mut p = Program::new();
    p.set(DMACTL0, 1)
        .set(DMA0SA, TA0CCR0 as u16)
        .set(DMA0DA, OUT as u16)
        .set(DMA0SZ, 4)
        .set(DMA0CTL, 0x0C14)
        .set(TA0CCR0, 999)
        .set(TA0CTL, 0x0214)
        .sleep(LPM0 | GIE)
        .keep(TA0CCTL0);
    p.halt();
    p.handler(VECTOR_DMA).keep(DMAIV).set(TA0CTL, 0).wake_and_return();
    let m = p.run();
    assert_eq!([0, 2, 4, 6, 8].map(|i| word(&m, OUT + i) == 999), [true, true, true, true, false]);
    assert_eq!((kept(&m, 0), kept(&m, 1)), (0, 2), "CCIFG, DMAIV");
    assert_eq!(events(&m, "dma.transfer"), 4);
}

#[test]
fn the_vector_register_tells_the_channel() {
    let mut p = Program::new();
    p.set(DMA0SA + 0x20, RAM as u16)
        .set(DMA0DA + 0x20, OUT as u16)
        .set(DMA0SZ + 0x20, 1)
        .set(DMA0CTL + 0x20, 0x0004 | EN_REQ)
        .nops(1)
        .keep(DMAIV)
        .keep(DMAIV);
    let m = p.run_halted();
    assert_eq!([kept(&m, 0), kept(&m, 1)], [6, 0]);
}

#[test]
fn serial_bytes_go_out_by_dma() {
    let mut p = Program::new();
    p.set(UCA0CTLW0, 0x0081)
        .set(UCA0BRW, 8)
        .set(UCA0CTLW0, 0x0080)
        .set(DMACTL0, 15)
        .set(DMA0SA, DATA as u16)
        .set(DMA0DA, UCA0TXBUF as u16)
        .set(DMA0SZ, 5)
        .set(DMA0CTL, 0x0300 | 0x00C0 | 0x0014)
        // The flag that stands already is no edge: let it fall and rise.
        .set(UCA0IFG, 0)
        .set(UCA0IFG, 2)
        .sleep(LPM0 | GIE);
    p.halt();
    p.handler(VECTOR_DMA).keep(DMAIV).wait_clear(UCA0STATW, 1).wake_and_return();
    let mut m = p.machine();
    m.write_mem(DATA, b"hello").unwrap();
    halt(&mut m);
    let text: Vec<u8> = m.uart_log().iter().map(|b| b.byte).collect();
    assert_eq!(text, b"hello");
}

#[test]
fn the_upper_channels_wait_for_an_eusci_b_each() {
    // TI's msp430fr5994.h: trigger 19 is UCB0TXIFG0 for channels 0 to 2, then UCB1, UCB2 and UCB3.
    for (channel, other) in [(0, 1), (1, 1), (2, 0), (3, 1), (4, 2), (5, 3)] {
        let module = [0, 0, 0, 1, 2, 3][channel as usize];
        let at = |module: u32, register: u32| register + 0x40 * module;
        let mut p = Program::new();
        // SPI masters on SMCLK, both let go: their TXIFG rises.
        for m in [module, other] {
            p.set(at(m, UCB0CTLW0), 0x0981).set(at(m, UCB0BRW), 8).set(at(m, UCB0CTLW0), 0x0980);
        }
        let select = if channel % 2 == 0 { 19 } else { 19 << 8 };
        p.set(DMACTL0 + 2 * (channel / 2), select)
            .set(DMA0SA + 0x10 * channel, RAM as u16)
            .set(DMA0DA + 0x10 * channel, OUT as u16)
            .set(DMA0SZ + 0x10 * channel, 1)
            .set(DMA0CTL + 0x10 * channel, 0x0010);
        let edge = |p: &mut Program, m: u32| {
            p.set(at(m, UCB0IFG), 0).set(at(m, UCB0IFG), 2).nops(8);
        };
        if other != module {
            edge(&mut p, other);
        }
        p.keep(DMA0CTL + 0x10 * channel);
        edge(&mut p, module);
        p.keep(DMA0CTL + 0x10 * channel);
        let m = p.run_halted();
        let done = [kept(&m, 0) & 8, kept(&m, 1) & 8];
        assert_eq!(done, [0, 8], "channel {channel}: eUSCI_B{other}, eUSCI_B{module}");
    }
}

#[test]
fn a_channel_that_would_wait_for_ever_stops_the_program() {
    // Slave addresses of eUSCI_B0, LEA, a ready multiplier, DMAE0, and a reserved one.
    for select in [20, 27, 28, 29, 31] {
        let mut p = Program::new();
        p.set(DMACTL0, select).set(DMA0SZ, 1).set(DMA0CTL, 0x0010).halt();
        let text = fault_of(&p);
        assert!(text.contains("DMA channel"), "trigger {select}: {text}");
    }
}
