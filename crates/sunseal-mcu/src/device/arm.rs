// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a maker decides of a Cortex-M.

use super::{Device, DeviceError, block};

/// As many inputs as a set of exceptions holds beside the sixteen of the core.
pub(crate) const INPUTS_MAX: u32 = 128 - 16;

block!(
    /// The interrupt controller and SysTick as the chip's maker built them.
    Nvic {
        inputs: u32,
        /// Implemented bits of a priority, the upper ones.
        priority_bits: u32,
        /// SysTick's reference clock is the processor's divided by so much; absent where there is none.
        systick_reference_divider: Option<u32>,
    }
);

impl Nvic {
    /// The implemented bits of a priority.
    #[must_use]
    pub fn priority_mask(&self) -> u8 {
        !(0xFF_u8.checked_shr(self.priority_bits).unwrap_or(0))
    }

    pub(super) fn check(&self, device: &Device) -> Result<(), DeviceError> {
        if !(1..=INPUTS_MAX).contains(&self.inputs) {
            return device.wrong(format!(
                "[nvic] has {} inputs; 1 to {INPUTS_MAX} are possible here",
                self.inputs
            ));
        }
        if !(3..=8).contains(&self.priority_bits) {
            return device.wrong(format!(
                "[nvic] has priorities of {} bits; Armv7-M has 3 to 8",
                self.priority_bits
            ));
        }
        Ok(())
    }
}
