// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYSCTL and RSTCTL: memory banks, NMI sources, causes and requests of resets (SLAU356I chapters 3 and
//! 4).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use crate::blocks::wide::{Class, Cx, merge};

const KEY: u32 = 0x6900;

/// Sources of hard resets that software asks for.
const SOFT_REQ: u32 = 1;
const HARD_REQ: u32 = 2;
/// Numbers of the sources that RSTCTL_RESET_REQ is itself.
const SOURCE_REQUEST: u8 = 15;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sysctl {
    nmi: u32,
    wdt_hard: u32,
    halt: u32,
    /// Banks of SRAM that are on, and those kept in LPM3 and LPM4: bit 0 is always set.
    banks: u32,
    retained: u32,
    glitch: u32,
    // RSTCTL.
    hard: u32,
    soft: u32,
    pss: u32,
}

impl Sysctl {
    pub fn new() -> Self {
        Self {
            wdt_hard: 0x3,
            halt: 0x4000,
            banks: 0xFF,
            retained: 0xFF,
            glitch: 1,
            ..Self::default()
        }
    }

    /// Keeps the causes, and takes down a new one.
    pub fn reset(&mut self, class: Class, source: u8) {
        let (mut hard, mut soft, mut pss) = (self.hard, self.soft, self.pss);
        match class {
            Class::Soft => soft |= 1 << source,
            Class::Hard => hard |= 1 << source,
            Class::Reboot => {}
            Class::Por => pss |= 1 << source,
        }
        if class == Class::Soft {
            (self.hard, self.soft) = (hard, soft);
        } else {
            *self = Self { hard, soft, pss, ..Self::new() };
        }
    }

    /// Time-outs and password violations of the watchdog lead to a hard reset.
    pub fn watchdog_is_hard(&self) -> (bool, bool) {
        (self.wdt_hard & 1 != 0, self.wdt_hard & 2 != 0)
    }

    pub fn banks(&self) -> u32 {
        self.banks
    }

    pub fn retained(&self) -> u32 {
        self.retained | 1
    }

    /// CS, PSS, PCM as sources of NMI.
    pub fn nmi_sources(&self) -> u32 {
        self.nmi & 7
    }

    pub fn read(&self, off: u32, nmi_flags: u32, cx: &Cx<'_>) -> Result<u32, Fault> {
        const READY: u32 = 1 << 16;
        Ok(match off {
            0x0000 => 0,
            0x0004 => self.nmi | (nmi_flags & self.nmi & 7) << 16,
            0x0008 => self.wdt_hard,
            0x000C => self.halt,
            0x0010 => 64 * 1024,
            0x0014 => self.banks | READY,
            0x0018 => self.retained() | READY,
            0x0020 => 256 * 1024,
            0x0030 => self.glitch,
            0x1020 => 0,
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let keyed = value & mask & 0xFF00 == KEY;
        match off {
            0x0000 => {
                if keyed && value & 1 != 0 {
                    cx.fx.ask(Class::Reboot, 0);
                }
            }
            0x0004 => {
                let new = merge(self.nmi, value, mask) & 0xF;
                if new & 8 != 0 {
                    return Err(cx.refuse(
                        "the NMI pin is not modelled; leave SYS_NMI_CTLSTAT.PIN_SRC clear",
                    ));
                }
                self.nmi = new;
            }
            0x0008 => self.wdt_hard = merge(self.wdt_hard, value, mask) & 3,
            // It acts while a debugger halts the CPU: never here.
            0x000C => self.halt = merge(self.halt, value, mask) & 0xFFFF,
            0x0010 | 0x0020 | 0x1020 => {}
            0x0014 => {
                let asked = merge(self.banks, value, mask) & 0xFE;
                // All banks below the highest that is on are on too.
                self.banks = if asked == 0 { 1 } else { (2 << asked.ilog2()) - 1 };
                cx.fx.memory = true;
            }
            0x0018 => self.retained = merge(self.retained, value, mask) & 0xFF,
            0x0030 => self.glitch = merge(self.glitch, value, mask) & 1,
            0x1010 => {
                if keyed && value & 2 != 0 {
                    cx.fx.ask(Class::Reboot, 0);
                } else if keyed && value & 1 != 0 {
                    cx.fx.ask(Class::Por, 0);
                }
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    pub fn read_rstctl(&self, off: u32, cx: &Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            0x000 | 0x008 | 0x00C | 0x014 | 0x018 | 0x104 | 0x10C | 0x114 | 0x11C => 0,
            0x004 => self.hard,
            0x010 => self.soft,
            0x100 => self.pss,
            // PCM, pins, reboot and CS resets: none of them is distinguished here.
            0x108 | 0x110 | 0x118 | 0x120 => 0,
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write_rstctl(
        &mut self,
        off: u32,
        value: u32,
        mask: u32,
        cx: &mut Cx<'_>,
    ) -> Result<(), Fault> {
        let v = value & mask;
        match off {
            0x000 if v & 0xFF00 == KEY => {
                if v & HARD_REQ != 0 {
                    cx.fx.ask(Class::Hard, SOURCE_REQUEST);
                } else if v & SOFT_REQ != 0 {
                    cx.fx.ask(Class::Soft, SOURCE_REQUEST);
                }
            }
            0x008 => self.hard &= !v,
            0x014 => self.soft &= !v,
            0x00C | 0x018 => {
                let class = if off == 0x00C { Class::Hard } else { Class::Soft };
                if v & 0xFFFF != 0 {
                    cx.fx.ask(class, v.trailing_zeros() as u8);
                }
            }
            0x104 => self.pss &= if v & 1 != 0 { 0 } else { u32::MAX },
            0x000 | 0x004 | 0x010 | 0x100 | 0x108..=0x124 => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}
