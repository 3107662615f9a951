// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYSCTL and RSTCTL: memory banks, NMI sources, causes and requests of resets (SLAU356I chapters 3 and
//! 4).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::{rstctl::*, sysctl::*};

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
            SYS_REBOOT_CTL | SYS_RESET_REQ => 0,
            SYS_NMI_CTLSTAT => self.nmi | (nmi_flags & self.nmi & 7) << 16,
            SYS_WDTRESET_CTL => self.wdt_hard,
            SYS_PERIHALT_CTL => self.halt,
            SYS_SRAM_SIZE => 64 * 1024,
            SYS_SRAM_BANKEN => self.banks | READY,
            SYS_SRAM_BANKRET => self.retained() | READY,
            SYS_FLASH_SIZE => 256 * 1024,
            SYS_DIO_GLTFLT_CTL => self.glitch,
            SYS_SYSTEM_STAT => 0,
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let keyed = value & mask & 0xFF00 == KEY;
        match off {
            SYS_REBOOT_CTL => {
                if keyed && value & 1 != 0 {
                    cx.fx.ask(Class::Reboot, 0);
                }
            }
            SYS_NMI_CTLSTAT => {
                let new = merge(self.nmi, value, mask) & 0xF;
                if new & 8 != 0 {
                    return Err(cx.refuse(
                        "the NMI pin is not modelled; leave SYS_NMI_CTLSTAT.PIN_SRC clear",
                    ));
                }
                self.nmi = new;
            }
            SYS_WDTRESET_CTL => self.wdt_hard = merge(self.wdt_hard, value, mask) & 3,
            // It acts while a debugger halts the CPU: never here.
            SYS_PERIHALT_CTL => self.halt = merge(self.halt, value, mask) & 0xFFFF,
            SYS_SRAM_SIZE | SYS_FLASH_SIZE | SYS_SYSTEM_STAT => {}
            SYS_SRAM_BANKEN => {
                let asked = merge(self.banks, value, mask) & 0xFE;
                // All banks below the highest that is on are on too.
                self.banks = if asked == 0 { 1 } else { (2 << asked.ilog2()) - 1 };
                cx.fx.memory = true;
            }
            SYS_SRAM_BANKRET => self.retained = merge(self.retained, value, mask) & 0xFF,
            SYS_DIO_GLTFLT_CTL => self.glitch = merge(self.glitch, value, mask) & 1,
            SYS_RESET_REQ => {
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
            RSTCTL_RESET_REQ
            | RSTCTL_HARDRESET_CLR
            | RSTCTL_HARDRESET_SET
            | RSTCTL_SOFTRESET_CLR
            | RSTCTL_SOFTRESET_SET
            | RSTCTL_PSSRESET_CLR
            | RSTCTL_PCMRESET_CLR
            | RSTCTL_PINRESET_CLR
            | RSTCTL_REBOOTRESET_CLR
            | RSTCTL_CSRESET_CLR => 0,
            RSTCTL_HARDRESET_STAT => self.hard,
            RSTCTL_SOFTRESET_STAT => self.soft,
            RSTCTL_PSSRESET_STAT => self.pss,
            // PCM, pins, reboot and CS resets: none of them is distinguished here.
            RSTCTL_PCMRESET_STAT
            | RSTCTL_PINRESET_STAT
            | RSTCTL_REBOOTRESET_STAT
            | RSTCTL_CSRESET_STAT => 0,
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
            RSTCTL_RESET_REQ if v & 0xFF00 == KEY => {
                if v & HARD_REQ != 0 {
                    cx.fx.ask(Class::Hard, SOURCE_REQUEST);
                } else if v & SOFT_REQ != 0 {
                    cx.fx.ask(Class::Soft, SOURCE_REQUEST);
                }
            }
            RSTCTL_HARDRESET_CLR => self.hard &= !v,
            RSTCTL_SOFTRESET_CLR => self.soft &= !v,
            RSTCTL_HARDRESET_SET | RSTCTL_SOFTRESET_SET => {
                let class = if off == RSTCTL_HARDRESET_SET { Class::Hard } else { Class::Soft };
                if v & 0xFFFF != 0 {
                    cx.fx.ask(class, v.trailing_zeros() as u8);
                }
            }
            RSTCTL_PSSRESET_CLR => self.pss &= if v & 1 != 0 { 0 } else { u32::MAX },
            RSTCTL_RESET_REQ
            | RSTCTL_HARDRESET_STAT
            | RSTCTL_SOFTRESET_STAT
            | RSTCTL_PSSRESET_STAT
            | RSTCTL_PCMRESET_STAT..=RSTCTL_CSRESET_CLR => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}
