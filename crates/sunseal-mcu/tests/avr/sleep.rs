// SPDX-License-Identifier: MIT OR Apache-2.0

use sunseal_mcu::{Machine, Pin, Stop, Until};
use sunseal_trace::{Picos, Silent};

use crate::support::*;

/// Sleeps in a mode (MCUCR with SE) and wakes by INT0's low level, whose handler raises PB0 and masks it.
fn sleeper(mcucr: u32, before: &str) -> Machine {
    let elf = assemble(&format!(
        "jmp start\n .org 0x04\n out EIMSK, r1\n sbi PORTB, 0\n reti\n start: clr r1\n ldi r16, 0x10\n out SPH, r16\n sbi DDRB, 0\n \
         sbi PORTD, 0\n {before} ldi r16, 1\n out EIMSK, r16\n ldi r16, {mcucr:#x}\n out MCUCR, r16\n sei\n sleep\n done: rjmp done"
    ));
    let mut m = load(&elf);
    assert_eq!(m.run(&Until::time(Picos(200_000_000)), &mut Silent), Stop::Time);
    m
}

/// Microseconds from the pin's low level to the handler's first pin change, without the handler's own cycles.
fn wake(m: &mut Machine) -> f64 {
    let begin = m.time();
    m.set_pin("PD0".parse::<Pin>().unwrap(), Some(false));
    let pin = "PB0".parse().unwrap();
    let stop = m.run(&Until::pin_edge(pin), &mut Silent);
    let Stop::Pin(edge) = stop else { panic!("{stop:?}") };
    // OUT and SBI: three cycles.
    micros(edge.time().since(begin)) - 3e6 / f64::from(HZ)
}

#[test]
fn each_mode_has_its_state_and_its_time_to_wake() {
    let cycle = 1e6 / f64::from(HZ);
    for (mcucr, state, startup) in [
        (0x20, "idle", 0.0),
        (0x28, "adc_noise_reduction", 0.0),
        (0x30, "power_down", 16384.0),
        (0x38, "power_save", 16384.0),
        (0x34, "standby", 6.0),
        (0x3C, "extended_standby", 6.0),
    ] {
        let mut m = sleeper(mcucr, "");
        assert_eq!(m.state_of("cpu"), Some(state));
        assert_eq!(m.operating_point().mclk_hz, 0);
        assert_eq!(m.operating_point().smclk_hz, if mcucr == 0x20 { HZ } else { 0 });
        let cycles = m.cycles();
        let got = wake(&mut m);
        // Four cycles of waking, four of the entry.
        let expected = (startup + 8.0) * cycle;
        assert!((got - expected).abs() <= 1.01 * cycle, "{state}: {got} for {expected}");
        // Asleep no cycle passed.
        assert_eq!(m.cycles() - cycles, 4 + 4 + 3, "{state}");
        assert_eq!(m.state_of("cpu"), Some("active.flash"));
        let ledger = m.ledger();
        let slept = m.vocabulary().find_state(state).unwrap();
        let time: u128 =
            ledger.spans().filter(|(k, _)| k.state == slept).map(|(_, s)| s.time.0).sum();
        assert!(time > 190_000_000, "{state}: {time}");
    }
}

#[test]
fn without_se_sleep_does_nothing_and_without_a_way_out_the_machine_halts() {
    let m = run("sleep\n nop\n done: rjmp done");
    assert_eq!(m.cycles(), 2);
    let mut m = load(&assemble("ldi r16, 0x30\n out MCUCR, r16\n sleep\n l: rjmp l"));
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted);
    let mut m = load(&assemble("ldi r16, 0x30\n out MCUCR, r16\n sei\n sleep\n l: rjmp l"));
    assert_eq!(m.run(&Until::halted(), &mut Silent), Stop::Halted);
}

#[test]
fn timers_go_on_in_idle_and_wake_it_to_the_cycle() {
    let elf = assemble(
        "jmp start\n .org 0x28\n in r17, TCNT2\n sbi PORTB, 0\n reti\n start: ldi r16, 0x10\n out SPH, r16\n sbi DDRB, 0\n ldi r16, 0x40\n \
         out TIMSK, r16\n ldi r16, 0x20\n out MCUCR, r16\n ldi r16, 1\n out TCCR2, r16\n ldi r16, 0x80\n out TCNT2, r16\n sei\n sleep\n \
         done: rjmp done",
    );
    let mut m = load(&elf);
    finish(&mut m, &elf);
    // TOV2 with the counter at 0: four cycles to wake, four of entry, then IN.
    assert_eq!(r(&m, 17), 8);
    // 0x80 shows one cycle behind OUT; SEI and SLEEP end at 0x82; asleep until 0x100.
    let e = edges(&m)[0].clone();
    let awake_cycles = 3 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 1;
    assert!(e.1 < awake_cycles + 20, "{e:?}");
    let time = Picos::of_ticks(e.1 + 0x100 - 0x82, HZ);
    assert!(m.pin_log()[0].time_ps.abs_diff(time.0) <= 1);
}

#[test]
fn the_watch_crystal_wakes_from_power_save_once_a_second() {
    // Prescaler 128: overflow after 256 * 128 / 32768 s.
    let elf = assemble(
        "jmp start\n .org 0x40\n sbi PORTB, 0\n cbi PORTB, 0\n reti\n start: ldi r16, 0x10\n out SPH, r16\n sbi DDRB, 0\n ldi r16, 8\n \
         out ASSR, r16\n ldi r16, 1\n out TIMSK, r16\n ldi r16, 5\n out TCCR0, r16\n w: in r17, ASSR\n andi r17, 7\n brne w\n \
         ldi r16, 0x38\n out MCUCR, r16\n sei\n l: sleep\n rjmp l",
    );
    let mut m = load(&elf);
    assert_eq!(m.run(&Until::time(Picos(5_500_000_000_000)), &mut Silent), Stop::Time);
    let rises: Vec<u128> = m.pin_log().iter().filter(|e| e.level).map(|e| e.time_ps).collect();
    assert_eq!(rises.len(), 5, "{rises:?}");
    for pair in rises.windows(2) {
        let period = (pair[1] - pair[0]) as f64 * 1e-12;
        assert!((period - 1.0).abs() < 1e-6, "{period}");
    }
    assert_eq!(m.state_of("timer_oscillator"), Some("on"));
    // Five wakes of a few dozen cycles: a sleeping node costs nothing.
    assert!(m.cycles() < 1500, "{}", m.cycles());
}

#[test]
fn behind_power_save_the_asynchronous_counter_reads_as_before_until_its_next_edge() {
    let m = {
        let elf = assemble(
            "jmp start\n .org 0x40\n in r17, TCNT0\n ldi r19, 200\n v: dec r19\n brne v\n in r18, TCNT0\n reti\n \
             start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 8\n out ASSR, r16\n ldi r16, 1\n out TIMSK, r16\n ldi r16, 1\n out TCCR0, r16\n \
             ldi r16, 0xF0\n out TCNT0, r16\n w: in r17, ASSR\n andi r17, 7\n brne w\n ldi r16, 0x3C\n out MCUCR, r16\n sei\n sleep\n \
             done: rjmp done",
        );
        let mut m = load(&elf);
        finish(&mut m, &elf);
        m
    };
    // As it was when it went to sleep, then what it is.
    assert!((0xF0..=0xF2).contains(&r(&m, 17)), "{:#x}", r(&m, 17));
    assert!((1..=4).contains(&r(&m, 18)), "{:#x}", r(&m, 18));
}

#[test]
fn adc_noise_reduction_starts_a_conversion_and_its_end_wakes() {
    let elf = assemble(
        "jmp start\n .org 0x54\n in r18, ADCL\n in r19, ADCH\n reti\n start: ldi r16, 0x10\n out SPH, r16\n ldi r16, 0x40\n out ADMUX, r16\n \
         ldi r16, 0x8E\n out ADCSRA, r16\n ldi r16, 0x28\n out MCUCR, r16\n sei\n sleep\n done: rjmp done",
    );
    let mut m = load(&elf);
    m.adc_volts(0, 0.75);
    finish(&mut m, &elf);
    assert_eq!(r(&m, 18) | r(&m, 19) << 8, 256);
    // 25 clocks of 64 cycles.
    let ticks = m.time().ticks(HZ) - m.cycles();
    assert!((25 * 64..26 * 64).contains(&ticks), "{ticks}");
}
