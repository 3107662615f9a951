// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priorities, nesting, latency, unmaskable interrupts and low-power modes.

use sunseal_mcu::{Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::asm::Arg::*;
use crate::support::*;

/// Appends the number to a list at RAM.
fn note(p: &mut Program, n: u16) -> &mut Program {
    p.op("MOV", Imm(n.into()), X(0, 9)).op("ADD", Cg(2), R(9))
}

fn noted(m: &sunseal_mcu::Machine, n: u32) -> Vec<u16> {
    (0..n).map(|i| word(m, RAM + 2 * i)).collect()
}

#[test]
fn all_sources_at_once_are_served_by_priority() {
    let mut p = Program::new();
    p.op("MOV", Imm(RAM), R(9));
    // Flags set by software; USARTs raise UTXIFG by themselves.
    p.set(TBCCTL0, 0x11).set(TBCCTL1, 0x11).bis_b(IFG1, 0x41).bis_b(IE1, 0xC1);
    p.set(TACCTL0, 0x11).set(TACCTL1, 0x11).set_b(P1IFG, 1).set_b(P1IE, 1);
    p.bis_b(IFG2, 0x10).bis_b(IE2, 0x30).set_b(P2IFG, 1).set_b(P2IE, 1);
    p.set(ADC12IFG, 1).set(ADC12IE, 1).set(DMA0CTL, 0x0C);
    p.op("BIS", Imm(GIE.into()), R(2)).nops(2).halt();
    let vectors = [
        (VECTOR_TB_CCR0, 0),
        (VECTOR_TB, TBIV),
        (VECTOR_WDT, 0),
        (VECTOR_USART0_RX, 0),
        (VECTOR_USART0_TX, 0),
        (VECTOR_ADC12, ADC12MEM0),
        (VECTOR_TA_CCR0, 0),
        (VECTOR_TA, TAIV),
        (VECTOR_PORT1, 0),
        (VECTOR_USART1_RX, 0),
        (VECTOR_USART1_TX, 0),
        (VECTOR_PORT2, 0),
        (VECTOR_DMA, 0),
    ];
    for (n, (vector, clears)) in vectors.iter().enumerate() {
        p.handler(*vector);
        note(&mut p, n as u16 + 1);
        match *vector {
            VECTOR_PORT1 => {
                p.set_b(P1IFG, 0);
            }
            VECTOR_PORT2 => {
                p.set_b(P2IFG, 0);
            }
            VECTOR_DMA => {
                p.set(DMA0CTL, 0);
            }
            // Reading the vector register or the result clears the flag; the others clear themselves.
            _ if *clears != 0 => {
                p.op("MOV", Abs(*clears), R(8));
            }
            _ => {}
        }
        p.reti();
    }
    let m = p.run();
    assert_eq!(noted(&m, 13), (1..=13).collect::<Vec<_>>());
}

#[test]
fn a_handler_that_sets_gie_is_interrupted_even_by_a_lower_priority() {
    let mut p = Program::new();
    p.op("MOV", Imm(RAM), R(9)).set_b(P1IE, 1).set_b(P2IE, 1);
    p.op("BIS", Imm(GIE.into()), R(2)).set_b(P1IFG, 1).nops(1).halt();
    p.handler(VECTOR_PORT1).set_b(P1IFG, 0);
    note(&mut p, 1).set_b(P2IFG, 1).op("BIS", Imm(GIE.into()), R(2)).nops(1);
    note(&mut p, 3).reti();
    p.handler(VECTOR_PORT2).set_b(P2IFG, 0);
    note(&mut p, 2).reti();
    assert_eq!(noted(&p.run(), 3), [1, 2, 3]);
    // Without GIE it is not.
    let mut p = Program::new();
    p.op("MOV", Imm(RAM), R(9)).set_b(P1IE, 1).set_b(P2IE, 1);
    p.op("BIS", Imm(GIE.into()), R(2)).set_b(P2IFG, 1).nops(2).halt();
    p.handler(VECTOR_PORT2).set_b(P2IFG, 0).set_b(P1IFG, 1);
    note(&mut p, 1).reti();
    p.handler(VECTOR_PORT1).set_b(P1IFG, 0);
    note(&mut p, 2).reti();
    assert_eq!(noted(&p.run(), 2), [1, 2]);
}

#[test]
fn entry_takes_six_cycles_and_reti_five() {
    let cycles = |interrupt: bool| {
        let mut p = Program::new();
        p.set_b(P1IE, u8::from(interrupt)).op("BIS", Imm(GIE.into()), R(2));
        p.set_b(P1IFG, 1).nops(4).halt();
        p.handler(VECTOR_PORT1).set_b(P1IFG, 0).reti();
        p.run().cycles()
    };
    // SLAU049 section 2.2.3 and table 3-14; MOV.B #0, &P1IFG: 5 cycles with an immediate word.
    assert_eq!(cycles(true) - cycles(false), 6 + 5 + 5);
}

#[test]
fn the_instruction_behind_eint_runs_first() {
    let mut p = Program::new();
    p.op("MOV", Imm(RAM), R(9)).set_b(P1IE, 1).set_b(P1IFG, 1);
    p.op("MOV", Cg(0), R(7)).put(crate::asm::double("BIS", crate::asm::Size::W, Cg(8), R(2)));
    p.op("MOV", Cg(1), R(7)).op("MOV", Cg(2), R(7)).halt();
    p.handler(VECTOR_PORT1).set_b(P1IFG, 0).op("MOV", R(7), Abs(RAM)).reti();
    assert_eq!(word(&p.run(), RAM), 1);
}

#[test]
fn an_oscillator_fault_is_an_nmi_that_clears_its_enable() {
    let mut p = Program::new();
    p.op("MOV", Imm(RAM), R(9)).bic_b(IFG1, 2).bis_b(IE1, 2);
    // XT2, which is not fitted.
    p.bic_b(BCSCTL1, 0x80).nops(2).keep_b(IE1).halt();
    p.handler(VECTOR_NMI);
    note(&mut p, 7).reti();
    let m = p.run();
    assert_eq!(noted(&m, 1), [7], "GIE was clear");
    assert_eq!(kept(&m, 0) & 0x32, 0, "OFIE fell: it does not come again at once");
}

#[test]
fn a_pin_wakes_from_every_mode() {
    for mode in [LPM0, LPM1, LPM2, LPM3, LPM4] {
        let mut p = Program::new();
        p.set_b(P2IE, 0x08).sleep(mode | GIE).set_b(P5DIR, 0x10).halt();
        p.handler(VECTOR_PORT2).set_b(P2IFG, 0).wake_and_return();
        let mut m = p.machine();
        m.set_pin(Pin::new(2, 3), Some(false));
        let t = Picos(1_000_000_000);
        assert_eq!(m.run(&Until::time(t), &mut Silent), Stop::Time, "{mode:#x}");
        let expected = ["lpm0", "lpm1", "lpm2", "lpm3", "lpm4"]
            [[LPM0, LPM1, LPM2, LPM3, LPM4].iter().position(|x| *x == mode).unwrap()];
        assert_eq!(m.state_of("cpu"), Some(expected));
        m.set_pin(Pin::new(2, 3), Some(true));
        assert_eq!(m.run(&Until::pin_edge(Pin::new(5, 4)), &mut Silent), Stop::Halted, "{mode:#x}");
    }
}

#[test]
fn a_sleep_that_nothing_ends_is_a_halt() {
    let mut p = Program::new();
    p.set(TACCR0, 100).set(TACTL, 0x0114).sleep(LPM3 | GIE);
    let mut m = p.machine();
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted, "TACCIE is clear");
}
