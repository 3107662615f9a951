// SPDX-License-Identifier: MIT OR Apache-2.0
//! Voltages that the ADCs sample.

use super::*;

impl Soc {
    pub(super) fn adc_event(&mut self, i: usize, t: Picos) {
        if let Some((channel, at)) = self.r.blocks.adc[i].sampled(t) {
            self.common.accounts.count(Event::AdcConversion);
            match self.adc_volts(i, channel, at) {
                Ok(volts) => self.r.blocks.adc[i].hold(volts, self.common.state.vcc_v),
                Err(what) => {
                    let base = self.map.base(Slot::adc(i));
                    self.common.pending_fault = Some(Fault::device(base, what));
                    self.r.blocks.adc[i].hold(0.0, 1.0);
                    self.side.deadline = 0;
                }
            }
        }
        self.r.blocks.adc[i].ended(t);
    }

    /// The voltage of a channel, or why it has none.
    fn adc_volts(&self, i: usize, channel: u8, at: Picos) -> Result<f64, String> {
        let facts = &self.facts.adc;
        let adc = i + 1;
        if matches!(channel, 0 | 17 | 18) {
            if i != 0 && (i, channel) != (2, 17) && (i, channel) != (2, 18) {
                return Err(format!(
                    "channel {channel} of ADC{adc} leads to nothing that is modelled; VREFINT, the temperature sensor and VBAT are channels 0, 17 and 18 of ADC1"
                ));
            }
            if !self.r.blocks.adc_common[0].connects(channel) {
                return Err(format!(
                    "channel {channel} of ADC{adc} is inside the chip and switched off; set VREFEN, CH17SEL or CH18SEL of ADC123_COMMON_CCR for channel 0, 17 or 18"
                ));
            }
            let state = &self.common.state;
            return Ok(match channel {
                0 => facts.vrefint_v,
                17 => facts.sensor_30c_v + facts.sensor_v_per_k * (state.temperature_c - 30.0),
                _ => state.vcc_v / 3.0,
            });
        }
        let Some(pin) = facts.pins.get(usize::from(channel) - 1).filter(|_| i < 2 || channel < 5)
        else {
            return Err(format!("channel {channel} of ADC{adc} has no pin in this package"));
        };
        let pin: Pin = pin.parse().map_err(|_| format!("[adc] pins has {pin}, which is no pin"))?;
        let port = &self.r.blocks.gpio[usize::from(pin.port - b'A') % 8];
        if !port.is_analogue(pin.bit) {
            return Err(format!(
                "channel {channel} of ADC{adc} is {pin}, which is not connected to it; set its field of GPIO{letter}_MODER to 3 and its bit of GPIO{letter}_ASCR",
                letter = char::from(pin.port),
            ));
        }
        let level = |pin: Pin| self.r.blocks.level(pin);
        self.common
            .adc_volts(channel, at, &level)
            .ok_or_else(|| crate::common::no_voltage(&format!("ADC{adc} channel "), &[channel]))
    }
}
