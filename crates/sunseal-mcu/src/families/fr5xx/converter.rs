// SPDX-License-Identifier: MIT OR Apache-2.0
//! What enters the chip when the converter is done.

use super::*;

impl Fr5xx {
    pub(super) fn adc_event(&mut self, env: &mut Env, t: Picos, cycles: Cycles) {
        let Some(sample) = self.chip.blocks.adc.take_sample(t) else { return };
        env.common.accounts.count(Event::Adc12Conversion);
        let ports = &self.chip.blocks.ports;
        let level = |pin| msp430::level(ports, PAIR_J, pin);
        let volts = match sample.inner {
            Some(Inner::Temperature) => Some(self.facts.adc12.sensor_25c_mv * 1e-3),
            Some(Inner::HalfSupply) => Some(env.common.state.vcc_v / 2.0),
            None => env.common.adc_volts(sample.channel, sample.time, &level),
        };
        let base = self.at.adc[0].base;
        let Some(volts) = volts else {
            let asked = self.chip.blocks.adc.channels();
            let open = env.common.without_volts(sample.channel, &asked, &[30, 31]);
            let what = crate::common::no_voltage("ADC12 channel A", &open);
            env.common.pending_fault = Some(Fault::device(base, what));
            return;
        };
        let r = &self.chip.blocks.reference;
        let (select, reference) = (r.level(), &self.facts.reference);
        let vref = r.is_on().then(|| (reference.levels_v[select], r.settled(sample.time)));
        if sample.uses_reference() && env.common.state.vcc_v < reference.avcc_min_v[select] {
            env.common.state.lints.report(LintKind::ReferenceSupply, base, cycles);
        }
        let result =
            self.chip.blocks.adc.finish(sample, volts, vref, &mut cx!(self, env, base, cycles, t));
        env.common.keep_fault(result);
        self.fx.clocks = true;
    }
}
