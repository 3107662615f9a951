// SPDX-License-Identifier: MIT OR Apache-2.0

use sunseal_mcu::{LintKind, Pin, PinEdge, Stop, Until};
use sunseal_trace::Silent;

use crate::support::*;

#[test]
fn a_written_counter_reads_one_more_with_each_cycle_and_lds_one_cycle_later_than_in() {
    for (read, value) in [
        ("in r18, TCNT0", 0x30),
        ("nop\n in r18, TCNT0", 0x31),
        ("nop\n lds r18, TCNT0 + 0x20", 0x32),
        ("lds r18, TCNT0 + 0x20", 0x31),
        ("nop\n nop\n in r18, TCNT0", 0x32),
    ] {
        let m = run(&format!(
            "ldi r16, 1\n out TCCR0, r16\n ldi r17, 0x30\n out TCNT0, r17\n {read}\n done: rjmp done"
        ));
        assert_eq!(r(&m, 18), value, "{read}");
    }
}

#[test]
fn overflow_and_compare_flags_show_with_the_tick_behind() {
    // OUT in cycle c: 0xFE shows in c + 1, 0xFF in c + 2, 0 and TOV2 in c + 3.
    for (wait, tifr) in [("nop", 0x00), ("nop\n nop", 0x40)] {
        let m = run(&format!(
            "ldi r16, 0x80\n out OCR2, r16\n ldi r16, 1\n out TCCR2, r16\n ldi r17, 0xFE\n out TCNT2, r17\n \
             {wait}\n in r18, TIFR\n done: rjmp done"
        ));
        assert_eq!(r(&m, 18), tifr, "{wait}");
    }
    // OCR2 is met in c + 3 and OCF2 set in c + 4.
    for (wait, tifr) in [("nop\n nop", 0x00), ("nop\n nop\n nop", 0x80)] {
        let m = run(&format!(
            "ldi r16, 0x12\n out OCR2, r16\n ldi r16, 1\n out TCCR2, r16\n ldi r17, 0x10\n out TCNT2, r17\n \
             {wait}\n in r18, TIFR\n done: rjmp done"
        ));
        assert_eq!(r(&m, 18), tifr, "{wait}");
    }
}

#[test]
fn a_write_of_the_counter_blocks_the_compare_match_of_its_next_clock() {
    let m = run(
        "ldi r16, 0x20\n out OCR2, r16\n ldi r17, 1\n out TCCR2, r17\n out TCNT2, r16\n nop\n nop\n nop\n \
         in r18, TIFR\n in r19, TCNT2\n done: rjmp done",
    );
    assert_eq!((r(&m, 18), r(&m, 19)), (0, 0x24));
}

#[test]
fn flags_are_cleared_by_writing_ones() {
    let m = run(
        "ldi r16, 0x80\n out OCR2, r16\n ldi r16, 1\n out TCCR2, r16\n ldi r17, 0xFF\n out TCNT2, r17\n nop\n nop\n in r18, TIFR\n \
         ldi r16, 0x40\n out TIFR, r16\n in r19, TIFR\n done: rjmp done",
    );
    assert_eq!((r(&m, 18) & 0xC0, r(&m, 19) & 0xC0), (0x40, 0x00));
}

#[test]
fn a_compare_interrupt_comes_at_its_cycle_every_period() {
    // CTC with a period of 100 cycles: PB0 toggles in each handler.
    let m = {
        let elf = assemble(
            "rjmp start\n .org 0x30\n rjmp isr\n start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 0xFF\n out SPL, r16\n \
             sbi DDRB, 0\n ldi r16, 0\n out OCR1AH, r16\n ldi r16, 99\n out OCR1AL, r16\n ldi r16, 0x10\n \
             out TIMSK, r16\n ldi r16, 0x09\n out TCCR1B, r16\n sei\n l: nop\n nop\n nop\n nop\n rjmp l\n \
             isr: in r17, PORTB\n ldi r18, 1\n eor r17, r18\n out PORTB, r17\n reti",
        );
        let mut m = load(&elf);
        assert_eq!(m.run(&Until::cycles(1050), &mut Silent), Stop::Cycles);
        m
    };
    let at: Vec<u64> = edges(&m).iter().map(|e| e.1).collect();
    assert!(at.len() >= 9, "{at:?}");
    // An instruction of one or two cycles may be under way.
    for pair in at.windows(2) {
        assert!((99..=101).contains(&(pair[1] - pair[0])), "{at:?}");
    }
    // OCF1A at (OUT TCCR1B) + 1 + 100; entry 4, RJMP 2, IN, LDI, EOR 3, and the pin one behind OUT.
    let started = 16; // cycles up to and with OUT TCCR1B
    let earliest = started + 100 + 4 + 2 + 3 + 1;
    assert!((earliest..=earliest + 1).contains(&at[0]), "{} for {earliest}", at[0]);
}

#[test]
fn sixteen_bit_registers_go_through_temp() {
    let m = run(
        "ldi r16, 0x12\n out TCNT1H, r16\n ldi r16, 0x34\n out TCNT1L, r16\n ldi r16, 0x09\n \
         in r18, TCNT1L\n in r19, TCNT1H\n ldi r16, 0xAB\n out OCR1AH, r16\n ldi r16, 0xCD\n out OCR1AL, r16\n \
         in r20, OCR1AH\n in r21, OCR1AL\n ldi r16, 0x56\n sts TCNT3H, r16\n ldi r16, 0x78\n sts TCNT3L, r16\n \
         lds r22, TCNT3L\n lds r23, TCNT3H\n done: rjmp done",
    );
    let got: Vec<u32> = (18..24).map(|n| r(&m, n)).collect();
    assert_eq!(got, [0x34, 0x12, 0xAB, 0xCD, 0x78, 0x56]);
}

#[test]
fn the_prescaler_is_shared_and_its_reset_is_timed() {
    // Reset it; a tap of 8 ticks eight cycles behind.
    for (nops, value) in [(6, 0), (7, 1)] {
        let m = run(&format!(
            "ldi r16, 2\n out TCCR2, r16\n clr r17\n ldi r16, 1\n nop\n nop\n nop\n out SFIOR, r16\n out TCNT2, r17\n \
             {}in r18, TCNT2\n done: rjmp done",
            "nop\n ".repeat(nops)
        ));
        assert_eq!(r(&m, 18), value, "{nops}");
    }
    // Held by TSM, timers 1 to 3 stand still.
    let m = run(
        "ldi r16, 1\n out TCCR2, r16\n out TCCR1B, r16\n ldi r16, 0x81\n out SFIOR, r16\n in r18, TCNT2\n nop\n nop\n nop\n \
         in r19, TCNT2\n clr r16\n out SFIOR, r16\n nop\n nop\n in r20, TCNT2\n done: rjmp done",
    );
    assert_eq!(r(&m, 18), r(&m, 19));
    assert_eq!(r(&m, 20), r(&m, 19) + 2);
}

#[test]
fn fast_pwm_takes_a_new_compare_value_at_the_bottom() {
    let m = run(
        "ldi r16, 0x20\n out OCR2, r16\n ldi r16, 0x49\n out TCCR2, r16\n ldi r16, 0xF0\n out TCNT2, r16\n \
         ldi r16, 0xFF\n out TIFR, r16\n ldi r17, 0xF8\n out OCR2, r17\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n \
         in r18, TIFR\n nop\n nop\n nop\n in r19, TIFR\n done: rjmp done",
    );
    // 0xF8 is passed before the bottom: no match yet. Overflow with the bottom.
    assert_eq!((r(&m, 18) & 0xC0, r(&m, 19) & 0xC0), (0x00, 0x40));
}

#[test]
fn an_edge_at_icp1_is_captured_three_ticks_on() {
    // PD4 is driven by the program itself.
    let m = run(
        "sbi DDRD, 4\n ldi r16, 0x41\n out TCCR1B, r16\n clr r16\n out TCNT1H, r16\n out TCNT1L, r16\n sbi PORTD, 4\n \
         nop\n nop\n nop\n nop\n in r17, TIFR\n in r18, ICR1L\n in r19, ICR1H\n done: rjmp done",
    );
    // SBI writes two cycles behind OUT TCNT1L; the pin is up in the third, captured two ticks on.
    assert_eq!((r(&m, 17) & 0x20, r(&m, 18), r(&m, 19)), (0x20, 4, 0));
    assert_eq!(m.lints(), [], "by hand, as the data sheet has it");
    // With its interrupt, somebody waits for a signal that cannot come.
    let m = run("sbi DDRD, 4\n ldi r16, 0x20\n out TIMSK, r16\n done: rjmp done");
    let pin = Pin::new(b'D', 4);
    assert_eq!(m.lint_count(LintKind::CaptureOutput { pin }), 1);
}

/// Ticks between edges of a pin from its first rising edge on, behind `setup`; the CPU idles in a loop.
fn spans(setup: &str, pin: Pin, ticks: u64) -> Vec<u64> {
    let mut m = load(&assemble(&format!("{setup}\n done: rjmp done")));
    m.run(&Until::cycles(m.cycles() + ticks), &mut Silent);
    let edges: Vec<_> = m.pin_log().iter().filter(|e| e.pin == pin).collect();
    let from = edges.iter().position(|e| e.level).unwrap_or(edges.len());
    let tick_ps = 1e12 / f64::from(HZ);
    let span = |w: &[&PinEdge]| ((w[1].time_ps - w[0].time_ps) as f64 / tick_ps).round() as u64;
    edges[from..].windows(2).map(span).collect()
}

/// High and low by turns from the second period on.
fn by_turns(spans: &[u64], high: u64, low: u64) -> bool {
    spans.len() > 6 && spans[2..].iter().zip([high, low].iter().cycle()).all(|(a, b)| a == b)
}

/// 2467X, tables of COMn1:0 and the timing diagrams: a fast PWM of 8 bits is high for OCRn + 1 of 256 clocks, one that is
/// phase correct for 2 OCRn of 510.
#[test]
fn output_units_move_their_pins_by_their_modes() {
    let (pb4, pb5, pb6, pb7, pe3) = (
        Pin::new(b'B', 4),
        Pin::new(b'B', 5),
        Pin::new(b'B', 6),
        Pin::new(b'B', 7),
        Pin::new(b'E', 3),
    );
    let eight = |ocr: u8, tccr: u8, n: u8| {
        format!(
            "ldi r16, 0x90\n out DDRB, r16\n ldi r16, {ocr}\n out OCR{n}, r16\n ldi r16, {tccr}\n out TCCR{n}, r16"
        )
    };
    for (what, setup, pin, high, low) in [
        ("fast, clear on match", eight(99, 0x69, 2), pb7, 100, 156),
        ("fast, set on match", eight(99, 0x79, 2), pb7, 156, 100),
        ("fast at the bottom, a spike", eight(0, 0x69, 2), pb7, 1, 255),
        ("phase correct", eight(99, 0x61, 2), pb7, 198, 312),
        ("phase correct, inverted", eight(99, 0x71, 0), pb4, 312, 198),
        ("CTC, toggled", eight(99, 0x19, 0), pb4, 100, 100),
    ] {
        let found = spans(&setup, pin, 9 * 600);
        assert!(by_turns(&found, high, low), "{what}: {found:?}");
    }
    for (ocr, tccr) in [(255, 0x69), (255, 0x61), (0, 0x61)] {
        assert_eq!(spans(&eight(ocr, tccr, 2), pb7, 3000), [], "constant: {ocr} {tccr:#x}");
    }
    // Timer 1 with its top in ICR1 (mode 14), 1,000 clocks, OC1A for 250 and OC1B for 900; timer 3 toggles OC3A.
    let sixteen = "ldi r16, 0x60\n out DDRB, r16\n ldi r16, 0xA2\n out TCCR1A, r16\n ldi r16, 0x18\n out TCCR1B, r16\n \
         ldi r16, 3\n out ICR1H, r16\n ldi r16, 0xE7\n out ICR1L, r16\n clr r16\n out OCR1AH, r16\n ldi r16, 249\n out OCR1AL, r16\n \
         ldi r16, 3\n out OCR1BH, r16\n ldi r16, 0x83\n out OCR1BL, r16\n ldi r16, 0x19\n out TCCR1B, r16";
    for (pin, high) in [(pb5, 250), (pb6, 900)] {
        let found = spans(sixteen, pin, 9000);
        assert!(by_turns(&found, high, 1000 - high), "{pin}: {found:?}");
    }
    let third = "ldi r16, 8\n out DDRE, r16\n ldi r16, 0x40\n sts TCCR3A, r16\n clr r16\n sts OCR3AH, r16\n ldi r16, 49\n \
         sts OCR3AL, r16\n ldi r16, 0x0A\n sts TCCR3B, r16";
    let found = spans(third, pe3, 8000);
    assert!(by_turns(&found, 400, 400), "by the tap of 8: {found:?}");
}

#[test]
fn oc1c_and_oc2_share_pb7_by_its_port_bit() {
    // OC2 forced high, OC1C low: and, or.
    let both = |port: &str| {
        format!(
            "sbi DDRB, 7\n {port} PORTB, 7\n ldi r16, 0xB0\n out TCCR2, r16\n ldi r16, 0x08\n sts TCCR1A, r16\n nop\n nop\n \
             in r18, PINB\n done: rjmp done"
        )
        .replace("sts TCCR1A", "out TCCR1A")
    };
    assert_eq!(r(&run(&both("cbi")), 18) & 0x80, 0x00);
    assert_eq!(r(&run(&both("sbi")), 18) & 0x80, 0x80);
}

#[test]
fn what_timers_do_not_do_is_refused() {
    let pin = fault("ldi r16, 7\n out TCCR1B, r16\n nop");
    assert!(pin.contains("pin Tn") && pin.contains("0x80004e"), "{pin}");
    let reserved = fault("ldi r16, 1\n out TCCR1A, r16\n ldi r16, 0x19\n out TCCR1B, r16\n nop");
    assert!(reserved.contains("mode 13"), "{reserved}");
}

#[test]
fn asynchronous_timer_0_is_busy_until_two_edges_of_its_crystal() {
    let elf = assemble(
        "ldi r16, 0x08\n out ASSR, r16\n ldi r16, 0x55\n out TCNT0, r16\n in r17, ASSR\n w: in r18, ASSR\n \
         sbrc r18, 2\n rjmp w\n in r19, TCNT0\n done: rjmp done",
    );
    let mut m = load(&elf);
    finish(&mut m, &elf);
    assert_eq!((r(&m, 17), r(&m, 19)), (0x0C, 0x55));
    // Between one and two periods of 32768 Hz.
    let cycles = m.cycles() as f64 * 32768.0 / f64::from(HZ);
    assert!((1.0..2.1).contains(&cycles), "{cycles}");
    assert_eq!(m.operating_point().aclk_hz, 32768);
}

#[test]
fn a_second_write_while_asynchronous_timer_0_is_busy_is_flagged() {
    let m = run("ldi r16, 8\n out ASSR, r16\n out OCR0, r16\n out OCR0, r16\n done: rjmp done");
    assert_eq!(m.lint_count(LintKind::AsynchronousBusy), 1);
}

/// Crystals of 200 frequencies, most of them with periods of no whole number of picoseconds.
#[test]
fn a_timer_of_the_cpus_own_source_has_one_count_on_entry_to_its_handler() {
    // TIMER1_COMPA, each 1,000 ticks, ends the idle mode.
    let elf = assemble(
        "rjmp start\n .org 0x30\n in r18, TCNT1L\n seen: reti\n start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 3\n out OCR1AH, r16\n \
         ldi r16, 0xE7\n out OCR1AL, r16\n ldi r16, 0x10\n out TIMSK, r16\n ldi r16, 0x09\n out TCCR1B, r16\n \
         ldi r16, 0x20\n out MCUCR, r16\n sei\n again: sleep\n rjmp again",
    );
    let seen = elf.symbol("seen").unwrap().addr;
    for n in 0..200 {
        let mut m = mica2();
        m.fit_crystal("xtal", 1_000_003 + 34_567 * n).unwrap();
        m.load(&elf).unwrap();
        let count = |_| {
            assert_eq!(m.run(&Until::pc(seen), &mut Silent), Stop::Pc(seen));
            r(&m, 18)
        };
        let counts: Vec<u32> = (0..12).map(count).collect();
        assert!(counts.iter().all(|c| *c == counts[0]), "crystal {n}: {counts:?}");
    }
}
