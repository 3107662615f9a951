// SPDX-License-Identifier: MIT OR Apache-2.0
//! The DMA controller: what it moves, what sets it off, and the cycles it takes from the CPU.

use sunseal_trace::Picos;

use crate::asm::Arg::*;
use crate::support::*;

const SOURCE: u32 = RAM + 0x400;
const TARGET: u32 = RAM + 0x500;
/// Both addresses count up.
const BOTH_UP: u16 = 0x0F00;
const DMAEN: u16 = 0x10;
const DMAREQ: u16 = 0x01;

/// Words of a pattern at SOURCE, DMA0 set up to move `size` of them to TARGET.
fn set_up(size: u16) -> Program {
    let mut p = Program::new();
    for i in 0..8u16 {
        p.set(SOURCE + 2 * u32::from(i), 0x1100 + i);
    }
    p.set(DMA0SA, SOURCE as u16).set(DMA0DA, TARGET as u16).set(DMA0SZ, size);
    p
}

#[test]
fn a_block_moves_on_request_and_raises_its_flag() {
    let mut p = set_up(5);
    p.set(DMA0CTL, 0x1000 | BOTH_UP | DMAEN | DMAREQ).nops(1).keep(DMA0CTL).keep(DMA0SZ);
    let m = p.run_halted();
    assert_eq!(
        (0..5).map(|i| word(&m, TARGET + 2 * i)).collect::<Vec<_>>(),
        [0x1100, 0x1101, 0x1102, 0x1103, 0x1104]
    );
    assert_ne!(word(&m, TARGET + 10), 0x1105);
    assert_eq!(kept(&m, 0) & 0x1D, 0x08, "DMAIFG, and DMAEN is clear");
    assert_eq!(kept(&m, 1), 5, "DMA0SZ is loaded again");
}

/// Ticks of Timer_A between two points around a write of DMA0CTL, more than without DMAEN.
fn stolen(ctl: u16, size: u16) -> u16 {
    let span = |ctl: u16| {
        let mut p = set_up(size);
        p.set(TACTL, 0x0224).keep(TAR).set(DMA0CTL, ctl).nops(60).keep(TAR);
        let [from, to] = all_kept(&p.run_halted());
        to - from
    };
    span(ctl) - span(ctl & !(DMAEN | DMAREQ))
}

#[test]
fn the_cpu_stands_still_for_four_cycles_a_transfer() {
    // SLAU049 table 8-3: a single transfer takes 4 MCLK cycles at most in active mode.
    assert_eq!(stolen(BOTH_UP | DMAEN | DMAREQ, 3), 4);
    // A block: one to synchronize, two for each word, one to wait.
    assert_eq!(stolen(0x1000 | BOTH_UP | DMAEN | DMAREQ, 1), 4);
    assert_eq!(stolen(0x1000 | BOTH_UP | DMAEN | DMAREQ, 5), 12);
    assert_eq!(stolen(0x1000 | BOTH_UP | DMAEN | DMAREQ, 8), 18);
}

#[test]
fn a_burst_lets_the_cpu_run_between_four_moves() {
    // Two bursts of four: with the turns between them the CPU loses no less, but not all at once.
    let lost = stolen(0x2000 | BOTH_UP | DMAEN | DMAREQ, 8);
    assert!((16..=24).contains(&lost), "{lost}");
    let mut p = set_up(8);
    p.set(DMA0CTL, 0x2000 | BOTH_UP | DMAEN | DMAREQ).keep(DMA0SZ).nops(40).keep(DMA0CTL);
    let m = p.run_halted();
    assert!((1..8).contains(&kept(&m, 0)), "in the middle: {} left", kept(&m, 0));
    assert_eq!(word(&m, TARGET + 14), 0x1107);
}

#[test]
fn bytes_and_words_in_all_four_ways() {
    // DMADSTBYTE, DMASRCBYTE.
    for (bits, expected) in [
        (0x00, [0x1100, 0x1101]),
        (0xC0, [0x1100, 0xA5A5]),
        (0x80, [0x0100, 0xA5A5]),
        (0x40, [0x0000, 0x0011]),
    ] {
        let mut p = set_up(2);
        p.set(TARGET, 0xA5A5).set(TARGET + 2, 0xA5A5);
        p.set(DMA0CTL, 0x1000 | BOTH_UP | bits | DMAEN | DMAREQ).nops(1);
        let m = p.run_halted();
        assert_eq!([word(&m, TARGET), word(&m, TARGET + 2)], expected, "{bits:#x}");
    }
}

#[test]
fn conversions_are_collected_while_the_cpu_sleeps() {
    // Repeated single channel, each conversion started by the one before (MSC); ADC12IFG triggers.
    let mut p = Program::new();
    p.set(DMACTL0, 0x0006).set(DMA0SA, ADC12MEM0 as u16).set(DMA0DA, TARGET as u16);
    p.set(DMA0SZ, 4).set(DMA0CTL, 0x0C00 | DMAEN | 0x04);
    p.set(ADC12CTL0, 0x0F90).set(ADC12CTL1, 0x0204).set_b(ADC12MCTL0, 0);
    p.op("BIS", Imm(3), Abs(ADC12CTL0)).sleep(LPM0 | GIE).keep(DMA0CTL).halt();
    p.handler(VECTOR_DMA).op("BIC", Imm(8), Abs(DMA0CTL)).op("BIC", Imm(2), Abs(ADC12CTL0));
    p.wake_and_return();
    let mut m = p.machine();
    m.adc_input(0, Box::new(|probe| probe.time.0 as f64 * 1e-9));
    halt(&mut m);
    let got: Vec<u16> = (0..4).map(|i| word(&m, TARGET + 2 * i)).collect();
    assert!(got.windows(2).all(|w| w[1] > w[0]), "rising as the input does: {got:?}");
    assert_eq!(kept(&m, 0) & (DMAEN | 8), 0);
}

#[test]
fn a_timer_flag_triggers_and_falls_with_the_transfer() {
    let mut p = set_up(2);
    p.set(DMACTL0, 0x0007).set(DMA0CTL, BOTH_UP | DMAEN);
    p.set(TACCR0, 99).set(TACTL, 0x0214).nops(50).keep(TACCTL0).nops(60).keep(TACCTL0).keep(DMA0SZ);
    let m = p.run_halted();
    assert_eq!([kept(&m, 0) & 1, kept(&m, 1) & 1, kept(&m, 2)], [0, 0, 1]);
    assert_eq!(word(&m, TARGET), 0x1100);
}

#[test]
fn a_string_goes_out_over_the_uart_without_the_cpu() {
    let mut p = Program::new();
    p.set(SOURCE, u16::from_le_bytes(*b"ab")).set(SOURCE + 2, u16::from_le_bytes(*b"cd"));
    p.set_b(U1CTL, 0x11).set_b(U1TCTL, 0x20).set_b(U1BR0, 78).set_b(U1BR1, 0).set_b(U1MCTL, 0);
    p.bis_b(ME2, 0x30).bic_b(U1CTL, 1);
    // UTXIFG1; bytes; the first one by software, the other three behind it.
    p.set(DMACTL0, 0x000A).set(DMA0SA, SOURCE as u16 + 1).set(DMA0DA, U1TXBUF as u16);
    p.set(DMA0SZ, 3).set(DMA0CTL, 0x0300 | 0xC0 | DMAEN | 0x04);
    p.op_b("MOV", Abs(SOURCE), Abs(U1TXBUF)).sleep(LPM0 | GIE).wait_set_b(U1TCTL, 1).halt();
    p.handler(VECTOR_DMA).op("BIC", Imm(8), Abs(DMA0CTL)).wake_and_return();
    let mut m = p.machine();
    halt(&mut m);
    let log: Vec<u8> = m.take_uart_log().iter().map(|b| b.byte).collect();
    assert_eq!(log, b"abcd");
}

#[test]
fn a_received_byte_wakes_the_dco_for_its_transfer_only() {
    let mut p = Program::new();
    p.set_b(U1CTL, 0x11).set_b(U1TCTL, 0x10).set_b(U1BR0, 3).set_b(U1BR1, 0).set_b(U1MCTL, 0x4A);
    p.bis_b(ME2, 0x30).bic_b(U1CTL, 1);
    p.set(DMACTL0, 0x0009).set(DMA0SA, U1RXBUF as u16).set(DMA0DA, TARGET as u16);
    p.set(DMA0SZ, 2).set(DMA0CTL, 0x0C00 | 0xC0 | DMAEN | 0x04).sleep(LPM3 | GIE).halt();
    p.handler(VECTOR_DMA).set_b(P1DIR, 1).set_b(P1OUT, 1).op("BIC", Imm(8), Abs(DMA0CTL));
    p.wake_and_return();
    let mut m = p.machine();
    m.uart_in("usart1", Picos(2_000_000_000), 0x5A).unwrap();
    m.uart_in("usart1", Picos(4_000_000_000), 0xC3).unwrap();
    let cycles = m.cycles();
    halt(&mut m);
    assert_eq!(word(&m, TARGET), 0xC35A);
    assert!(m.cycles() - cycles < 200, "one wake-up");
    // 6 us and 4 cycles until the word is moved, 6 us and the handler's 6 + 5 + 4 cycles for the CPU.
    let wake = m.pin_log()[0].time_ps as f64 - 4e9;
    let cycle = 1e12 / 0.75e6;
    assert!((12e6 + 18.0 * cycle..12e6 + 19.0 * cycle).contains(&wake), "{wake}");
}

#[test]
fn what_is_not_modelled_is_refused() {
    let mut p = Program::new();
    p.set(DMACTL0, 0x000F);
    assert!(fault_of(&p).contains("DMAE0"), "{}", fault_of(&p));
}
