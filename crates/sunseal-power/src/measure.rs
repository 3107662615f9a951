// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mane's measurement unit (section 3.1): a shunt, a converter, an accumulator between two triggers.

use serde::Serialize;

use crate::units::{Amperes, Joules, Ohms, Seconds, Volts, Watts};

/// Mistake in a measurement unit or a waveform.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// A figure of the unit.
    #[error("measurement unit: {what} is {value}; it must be {must}")]
    Unit {
        /// Name of the figure.
        what: &'static str,
        /// Value that was given.
        value: f64,
        /// Clause that tells what would be right.
        must: &'static str,
    },
    /// A piece of the waveform.
    #[error("waveform segment {index}: {what} is {value}; it must be a number, zero or more")]
    Segment {
        /// Index of the segment, from 0.
        index: usize,
        /// Key of the segment: duration or current.
        what: &'static str,
        /// Value that was given.
        value: f64,
    },
}

/// A shunt in the supply line, a converter over it, an accumulator behind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasurementUnit {
    /// Resistance of the shunt.
    pub shunt_ohm: f64,
    /// Bits of the converter.
    pub adc_bits: u32,
    /// Full scale of the converter.
    pub vref_v: f64,
    /// Sampling rate of the converter.
    pub sample_rate_hz: f64,
}

/// A stretch of constant current.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Duration of the segment.
    pub duration_s: f64,
    /// Current through the shunt.
    pub current_a: f64,
}

/// Reading of the unit, and what it should have been.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Sum of the codes.
    pub accumulator: u64,
    /// Number of samples in the trigger window.
    pub samples: u64,
    /// Samples at or above full scale: their energy is lost.
    pub clipped: u64,
    /// Energy by equation 3.1.
    pub energy_j: f64,
    /// Cycles by equation 3.2.
    pub cycles: f64,
    /// The waveform's own energy at the same supply.
    pub true_energy_j: f64,
    /// Error: the reading minus the truth.
    pub error_j: f64,
    /// Bound of the error that quantisation and the edges of the window may cause: one code per sample, one sample.
    pub bound_j: f64,
}

impl MeasurementUnit {
    /// The unit of the thesis at a CPU clock: 100 ohm, 10 bit, 0.5 V; 20 MS/s below 15 MHz, else 30 MS/s.
    #[must_use]
    pub fn mane2014(mclk_hz: f64) -> Self {
        let sample_rate_hz = if mclk_hz < 15e6 { 20e6 } else { 30e6 };
        Self { shunt_ohm: 100.0, adc_bits: 10, vref_v: 0.5, sample_rate_hz }
    }

    /// The largest current that is not clipped.
    #[must_use]
    pub fn full_scale_a(&self) -> f64 {
        (Volts(self.vref_v) / Ohms(self.shunt_ohm)).0
    }

    /// Reads a waveform from trigger to trigger; `phase` is the first sample's delay in sample periods, 0 to 1.
    ///
    /// Like the thesis, it takes the drop over the shunt as negligible against `vcc_v`.
    ///
    /// # Errors
    /// If a figure is not sound.
    pub fn measure(
        &self,
        vcc_v: f64,
        mclk_hz: f64,
        waveform: &[Segment],
        phase: f64,
    ) -> Result<Measurement, MeasureError> {
        self.check(vcc_v, mclk_hz, phase)?;
        let scale = f64::from(1u32 << self.adc_bits);
        let top = scale - 1.0;
        let (mut accumulator, mut samples, mut clipped) = (0u64, 0u64, 0u64);
        let (mut end_s, mut truth, mut peak_a) = (0.0, Joules(0.0), 0.0f64);
        for (index, s) in waveform.iter().enumerate() {
            for (what, value) in [("duration_s", s.duration_s), ("current_a", s.current_a)] {
                if value.is_nan() || value < 0.0 || value.is_infinite() {
                    return Err(MeasureError::Segment { index, what, value });
                }
            }
            end_s += s.duration_s;
            peak_a = peak_a.max(s.current_a);
            truth = truth + Volts(vcc_v) * Amperes(s.current_a) * Seconds(s.duration_s);
            // Sample k is taken at (k + phase) / rate; those before end_s belong to this or earlier segments.
            let upto = (end_s * self.sample_rate_hz - phase).ceil().max(0.0) as u64;
            let here = upto.saturating_sub(samples);
            let code =
                ((Amperes(s.current_a) * Ohms(self.shunt_ohm)).0 / self.vref_v * scale).floor();
            if code > top {
                clipped += here;
            }
            accumulator += here * code.min(top) as u64;
            samples += here;
        }
        let period = Seconds(1.0 / self.sample_rate_hz);
        let lsb = Volts(self.vref_v / scale) / Ohms(self.shunt_ohm);
        let power: Watts = Volts(vcc_v) * lsb * accumulator as f64;
        let energy = power * period;
        let bound = Volts(vcc_v) * lsb * period * samples as f64
            + Volts(vcc_v) * Amperes(peak_a) * period * (waveform.len() as f64 + 1.0);
        Ok(Measurement {
            accumulator,
            samples,
            clipped,
            energy_j: energy.0,
            cycles: samples as f64 * period.0 * mclk_hz,
            true_energy_j: truth.0,
            error_j: (energy - truth).0,
            bound_j: bound.0,
        })
    }

    fn check(&self, vcc_v: f64, mclk_hz: f64, phase: f64) -> Result<(), MeasureError> {
        let positive = [
            ("shunt_ohm", self.shunt_ohm),
            ("vref_v", self.vref_v),
            ("sample_rate_hz", self.sample_rate_hz),
            ("vcc_v", vcc_v),
            ("mclk_hz", mclk_hz),
        ];
        for (what, value) in positive {
            if value.is_nan() || value <= 0.0 || value.is_infinite() {
                return Err(MeasureError::Unit { what, value, must: "a number above zero" });
            }
        }
        if !(1..=24).contains(&self.adc_bits) {
            return Err(MeasureError::Unit {
                what: "adc_bits",
                value: f64::from(self.adc_bits),
                must: "1 to 24",
            });
        }
        if !(0.0..=1.0).contains(&phase) {
            return Err(MeasureError::Unit { what: "phase", value: phase, must: "0 to 1" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_code_of_one_hundred_over_one_millisecond() {
        // 100 codes of 0.5 V / 1024 over 100 ohm are 0.488 mA; 20000 samples; 3.0 V: 1.4648 uJ.
        let unit = MeasurementUnit::mane2014(8e6);
        let wave = [Segment { duration_s: 1e-3, current_a: 100.5 * 0.5 / 1024.0 / 100.0 }];
        let m = unit.measure(3.0, 8e6, &wave, 0.5).unwrap();
        assert_eq!((m.accumulator, m.samples, m.clipped), (2_000_000, 20_000, 0));
        assert!((m.energy_j - 3.0 * 100.0 * 0.5 / 1024.0 / 100.0 * 1e-3).abs() < 1e-15);
        assert!((m.cycles - 8000.0).abs() < 1e-6);
    }

    #[test]
    fn above_five_milliampere_the_unit_of_the_thesis_clips() {
        let unit = MeasurementUnit::mane2014(25e6);
        assert!((unit.full_scale_a() - 5e-3).abs() < 1e-12);
        assert_eq!(unit.sample_rate_hz, 30e6);
        let m = unit
            .measure(2.7, 25e6, &[Segment { duration_s: 1e-3, current_a: 8.9e-3 }], 0.0)
            .unwrap();
        assert_eq!(m.clipped, m.samples);
        assert!(m.energy_j < 0.6 * m.true_energy_j);
    }

    #[test]
    fn bad_figures_are_named() {
        let unit = MeasurementUnit { adc_bits: 0, ..MeasurementUnit::mane2014(8e6) };
        assert!(
            unit.measure(3.0, 8e6, &[], 0.0).unwrap_err().to_string().contains("adc_bits is 0")
        );
        let unit = MeasurementUnit::mane2014(8e6);
        let bad = [
            Segment { duration_s: 1.0, current_a: 0.0 },
            Segment { duration_s: f64::NAN, current_a: 0.0 },
        ];
        assert!(
            unit.measure(3.0, 8e6, &bad, 0.0)
                .unwrap_err()
                .to_string()
                .contains("segment 1: duration_s")
        );
    }

    fn waves() -> impl Strategy<Value = Vec<Segment>> {
        let one = (1e-6f64..1e-3, 0.0f64..4.9e-3);
        prop::collection::vec(
            one.prop_map(|(duration_s, current_a)| Segment { duration_s, current_a }),
            1..20,
        )
    }

    proptest! {
        #[test]
        fn the_error_stays_within_its_bound(wave in waves(), phase in 0.0f64..1.0, vcc in 1.8f64..3.6) {
            let m = MeasurementUnit::mane2014(8e6).measure(vcc, 8e6, &wave, phase).unwrap();
            prop_assert!(m.error_j.abs() <= m.bound_j, "{m:?}");
            prop_assert_eq!(m.clipped, 0);
        }

        #[test]
        fn two_more_bits_quarter_the_code_error(current in 1e-4f64..4.9e-3, bits in 6u32..14) {
            // A constant current and whole samples: only the code's truncation is left.
            let wave = [Segment { duration_s: 1e-3, current_a: current }];
            let at = |adc_bits| {
                let unit = MeasurementUnit { adc_bits, ..MeasurementUnit::mane2014(8e6) };
                unit.measure(3.0, 8e6, &wave, 0.5).unwrap()
            };
            let (coarse, fine) = (at(bits), at(bits + 2));
            prop_assert!(coarse.error_j <= 1e-15 && fine.error_j <= 1e-15);
            let lsb = 3.0 * 0.5 / f64::from(1u32 << bits) / 100.0 * 1e-3;
            prop_assert!(coarse.error_j >= -lsb * 1.0001 && fine.error_j >= -lsb / 4.0 * 1.0001);
        }

        #[test]
        fn a_lower_reference_resolves_more(current in 1e-5f64..2.4e-3) {
            let wave = [Segment { duration_s: 1e-3, current_a: current }];
            let at = |vref_v| {
                let unit = MeasurementUnit { vref_v, ..MeasurementUnit::mane2014(8e6) };
                unit.measure(3.0, 8e6, &wave, 0.5).unwrap().bound_j
            };
            prop_assert!(at(0.25) < at(0.5));
        }

        #[test]
        fn cycles_follow_the_window(us in 10.0f64..10_000.0, phase in 0.0f64..1.0) {
            let wave = [Segment { duration_s: us * 1e-6, current_a: 1e-3 }];
            let m = MeasurementUnit::mane2014(8e6).measure(3.0, 8e6, &wave, phase).unwrap();
            // Equation 3.2 resolves one sample: 0.4 cycles at 8 MHz and 20 MS/s.
            prop_assert!((m.cycles - us * 8.0).abs() <= 0.4 + 1e-6);
        }
    }
}
