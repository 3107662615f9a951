// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RAM controller: all sectors stay on.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::{Block, Ctx};
use crate::blocks::follow::Follow;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RamControl {
    /// Bits that switch sectors off.
    sectors: u16,
    /// They are heeded only with the key 0x5A in the high byte.
    keyed: bool,
}

impl RamControl {
    pub const fn new(sectors: u16, keyed: bool) -> Self {
        Self { sectors, keyed }
    }
}

impl Block for RamControl {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, _: u32, _: u16, _: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(0x6900)
    }

    fn write(&mut self, _: u32, value: u16, _: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let heeded = !self.keyed || value & 0xFF00 == 0x5A00;
        if value & self.sectors != 0 && heeded {
            return Err(cx.refuse("switching RAM sectors off is not modelled"));
        }
        Ok(())
    }
}
