// SPDX-License-Identifier: MIT OR Apache-2.0
//! Analog to digital converter, single-ended: ADMUX, ADCSRA, ADCH, ADCL.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::atmega128::adc::{ADEN, ADFR, ADIE, ADIF, ADLAR, ADSC};
use sunseal_trace::Picos;

use super::Cx;
use crate::clock::Line;

const ADPS: u8 = 0x07;
const MUX: u8 = 0x1F;

/// ADC clocks of a conversion, the first one's with the analog circuitry's start-up, and when each samples, in halves
/// (datasheet, table "ADC Conversion Time").
const NORMAL: (u64, u64) = (13, 3);
const FIRST: (u64, u64) = (25, 27);

/// What a conversion needs from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The voltages, now that the input is held; answer with [`hold`](Adc::hold).
    Sample { mux: u8, reference: u8 },
    /// It has ended at this tick; answer with [`finish`](Adc::finish).
    End(u64),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adc {
    admux: u8,
    adcsra: u8,
    result: u16,
    /// ADCL was read: the result stays until ADCH is.
    locked: bool,
    /// The tick at which ADEN was set, from which the prescaler counts.
    enabled_at: u64,
    warmed_up: bool,
    /// A conversion: time of sample and end, ADMUX at its start, its last tick.
    running: Option<(u128, u128, u8, u64)>,
    /// Its ten bits, once the input is held.
    held: Option<u16>,
}

impl Adc {
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    pub fn is_on(&self) -> bool {
        self.adcsra & ADEN != 0
    }

    pub fn admux(&self) -> u8 {
        self.admux
    }

    pub fn write_admux(&mut self, value: u8, cx: &Cx<'_>) -> Result<(), Fault> {
        if (8..30).contains(&(value & MUX)) {
            return Err(cx.refuse(
                "differential channels of the ADC (MUX4:0 8 to 29) are not modelled; use ADC0 to ADC7",
            ));
        }
        self.admux = value;
        Ok(())
    }

    pub fn adcsra(&self) -> u8 {
        self.adcsra | if self.running.is_some() { ADSC } else { 0 }
    }

    fn divider(&self) -> u64 {
        1 << (self.adcsra & ADPS).max(1)
    }

    /// Starts at the first edge of the ADC clock that is not before `tick`.
    fn start(&mut self, tick: u64, adc: &Line) {
        let divider = self.divider();
        let edge = self.enabled_at + (tick - self.enabled_at).div_ceil(divider) * divider;
        let (clocks, sample) =
            if std::mem::replace(&mut self.warmed_up, true) { NORMAL } else { FIRST };
        let end = edge + clocks * divider;
        let sampled = adc.time_of(edge + sample * divider / 2);
        self.held = None;
        self.running = Some((sampled.0, adc.time_of(end).0, self.admux, end));
    }

    pub fn write_adcsra(&mut self, value: u8, cx: &Cx<'_>) {
        let tick = cx.clocks.adc.ticks_at(cx.now) + 1;
        let was_on = self.is_on();
        // ADIF is cleared by writing one.
        let adif = self.adcsra & ADIF & !value;
        self.adcsra = value & (ADEN | ADFR | ADIE | ADPS) | adif;
        if !self.is_on() {
            self.running = None;
            self.warmed_up = false;
            return;
        }
        if !was_on {
            self.enabled_at = tick;
        }
        if value & ADSC != 0 && self.running.is_none() {
            self.start(tick, &cx.clocks.adc);
        }
    }

    /// The CPU went to ADC Noise Reduction (or Idle): a conversion starts by itself.
    pub fn sleep(&mut self, now: Picos, adc: &Line) {
        if self.is_on() && self.running.is_none() && self.adcsra & ADFR == 0 {
            self.start(adc.ticks_at(now), adc);
        }
    }

    /// The clock stopped under it.
    pub fn stop(&mut self) {
        self.running = None;
    }

    pub fn adcl(&mut self) -> u8 {
        self.locked = true;
        self.shown() as u8
    }

    pub fn adch(&mut self) -> u8 {
        self.locked = false;
        (self.shown() >> 8) as u8
    }

    fn shown(&self) -> u16 {
        if self.admux & ADLAR != 0 { self.result << 6 } else { self.result }
    }

    pub fn pending(&self) -> bool {
        self.adcsra & (ADIE | ADIF) == ADIE | ADIF
    }

    pub fn may_interrupt(&self) -> bool {
        self.pending() || self.adcsra & ADIE != 0 && self.running.is_some()
    }

    pub fn acknowledge(&mut self) {
        self.adcsra &= !ADIF;
    }

    pub fn next_event(&self) -> Option<Picos> {
        let (sampled, end, ..) = self.running?;
        let next = if self.held.is_none() { sampled } else { end };
        (next != u128::MAX).then_some(Picos(next))
    }

    /// Takes the step of a conversion that is due at `t`.
    pub fn event(&mut self, t: Picos) -> Option<Need> {
        self.next_event().filter(|e| *e <= t)?;
        let (_, _, admux, end) = self.running?;
        if self.held.is_none() {
            return Some(Need::Sample { mux: admux & MUX, reference: admux >> 6 });
        }
        self.running = None;
        Some(Need::End(end))
    }

    /// Ten bits of `volts` against `reference_v`.
    pub fn hold(&mut self, volts: f64, reference_v: f64) {
        self.held = Some((volts / reference_v * 1024.0).floor().clamp(0.0, 1023.0) as u16);
    }

    /// The result, and the next conversion if it runs free.
    pub fn finish(&mut self, end: u64, adc: &Line) {
        if let (Some(held), false) = (self.held.take(), self.locked) {
            self.result = held;
        }
        self.adcsra |= ADIF;
        if self.adcsra & ADFR != 0 {
            self.start(end, adc);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_stays_whole_between_its_bytes_left_adjusted_too() {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 1_000_000, 1, None);
        for admux in [0, ADLAR] {
            let mut adc = Adc { admux, result: 0x155, held: Some(0x2AA), ..Adc::default() };
            let (low, whole) = (adc.adcl(), adc.shown());
            adc.finish(0, &line);
            assert_eq!([low, adc.adch()], whole.to_le_bytes());
            adc.held = Some(0x2AA);
            adc.finish(0, &line);
            assert_eq!(adc.result, 0x2AA);
        }
    }
}
