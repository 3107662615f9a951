// SPDX-License-Identifier: MIT OR Apache-2.0
//! What leaves and enters the chip when a serial interface or the converter is done.

use super::*;

impl Fr5xx {
    pub(super) fn spi_begins(&mut self, env: &mut Env, i: usize, now: Picos, cycles: Cycles) {
        let Some(shift) = self.chip.blocks.eusci[i].begun() else { return };
        for (pin, level) in env.common.begins(i, shift, now, cycles) {
            self.drive(pin, level, now);
        }
    }

    pub(super) fn eusci_event(&mut self, env: &mut Env, i: usize, t: Picos, cycles: Cycles) {
        let mut eusci = self.chip.blocks.eusci[i].clone();
        if let Some(done) = eusci.event(t) {
            let base = self.at.eusci[i].base;
            let which = Which { index: i, name: SERIALS[i], byte: EUSCI_BYTE[i], base };
            for (pin, level) in env.common.carry_out(&mut eusci, which, done, (t, cycles)) {
                self.drive(pin, level, t);
            }
            if let Err(fault) = eusci.go_on(&cx!(self, env, base, cycles, t)) {
                env.common.pending_fault = Some(fault);
            }
        }
        self.chip.blocks.eusci[i] = eusci;
        self.spi_begins(env, i, t, cycles);
        self.fx.clocks = true;
    }

    pub(super) fn adc_event(&mut self, env: &mut Env, t: Picos, cycles: Cycles) {
        let Some(sample) = self.chip.blocks.adc.take_sample(t) else { return };
        env.common.accounts.count(Event::Adc12Conversion);
        let ports = &self.chip.blocks.ports;
        let volts = match sample.inner {
            Some(Inner::Temperature) => Some(self.facts.adc12.sensor_25c_mv * 1e-3),
            Some(Inner::HalfSupply) => Some(env.common.state.vcc_v / 2.0),
            None => env.common.adc_volts(sample.channel, sample.time, &|pin| level(ports, pin)),
        };
        let base = self.at.adc[0].base;
        let Some(volts) = volts else {
            let what = crate::common::no_voltage("ADC12 channel A", sample.channel);
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
        if let Err(fault) = result {
            env.common.pending_fault = Some(fault);
        }
        self.fx.clocks = true;
    }
}
