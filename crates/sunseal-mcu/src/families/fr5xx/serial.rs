// SPDX-License-Identifier: MIT OR Apache-2.0
//! What leaves and enters the chip when a serial interface or the converter is done.

use super::*;

impl Fr5xx {
    pub(super) fn eusci_event(&mut self, env: &mut Env, i: usize, t: Picos, cycles: Cycles) {
        let mut eusci = self.chip.blocks.eusci[i].clone();
        if let Some(done) = eusci.event(t) {
            let base = self.at.eusci[i].base;
            match done {
                Done::Uart(byte) => {
                    env.common.accounts.count(EUSCI_BYTE[i]);
                    let usci = SERIALS[i].to_owned();
                    env.common.state.uart_log.push(UartByte { time_ps: t.0, usci, byte });
                }
                Done::Spi(mosi) => {
                    env.common.accounts.count(EUSCI_BYTE[i]);
                    let (miso, drives) = env.common.exchange(i, mosi, t, cycles);
                    for (pin, level) in drives {
                        self.drive(pin, level, t);
                    }
                    if miso.is_none() {
                        env.common.state.lints.report(LintKind::SpiNobody, base, cycles);
                    } else if !eusci.is_mode_0() {
                        env.common.state.lints.report(LintKind::SpiMode, base, cycles);
                    }
                    eusci.spi_received(mosi, miso.unwrap_or(0xFF));
                }
                Done::I2c(step) => {
                    if step != OnBus::Stop {
                        env.common.accounts.count(EUSCI_BYTE[i]);
                    }
                    let (answer, drives) = env.common.i2c(i, step, t, cycles);
                    for (pin, level) in drives {
                        self.drive(pin, level, t);
                    }
                    eusci.i2c_answered(answer, t);
                }
            }
            if let Err(fault) = eusci.go_on(&cx!(self, env, base, cycles, t)) {
                env.common.pending_fault = Some(fault);
            }
        }
        self.chip.blocks.eusci[i] = eusci;
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
