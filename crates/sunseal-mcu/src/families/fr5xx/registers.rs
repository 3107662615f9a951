// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses to registers, what they lead to outside their block, resets.

use sunseal_registers::msp430fr5xx::sys::{SYSSNIV, SYSUNIV};

use super::*;

impl Fr5xx {
    // ---- registers

    pub(super) fn read_register(
        &mut self,
        env: &mut Env,
        addr: u32,
        mask: u16,
        at: Cycles,
    ) -> Result<u16, Fault> {
        let now = self.chip.clocks.mclk.time_of(at);
        let (slot, off) = self.slot_at(addr);
        if let (Slot::sys(_), SYSSNIV | SYSUNIV) = (slot, off) {
            return Ok(self.take_nmi(off));
        }
        let mut cx = cx!(self, env, addr, at, now);
        let value = self.chip.blocks.read(slot, off, mask, &mut cx);
        let touched = std::mem::take(&mut self.fx.touched) || self.chip.blocks.dma.is_watching();
        if touched || !env.common.state.lints.pending.is_empty() {
            env.deadline = 0;
        }
        if let Slot::timers(_) = slot {
            self.follow_outputs(env, at);
        }
        value
    }

    /// The vector of the pending system or user NMI, which is cleared.
    pub(super) fn take_nmi(&mut self, off: u32) -> u16 {
        if off == SYSSNIV {
            let code = self.system_nmi().unwrap_or(0);
            match code {
                0 => {}
                0x0A..=0x10 => self.chip.blocks.mpu.clear(code),
                _ => self.chip.blocks.fram.clear(code),
            }
            return code;
        }
        let code = self.user_nmi().unwrap_or(0);
        self.chip.blocks.sfr.user_nmi_taken(code);
        self.note_faults();
        code
    }

    pub(super) fn write_register(
        &mut self,
        env: &mut Env,
        to: Masked,
        at: Cycles,
    ) -> Result<(), Fault> {
        let Masked { addr, value, mask } = to;
        let now = self.chip.clocks.mclk.time_of(at);
        let (slot, off) = self.slot_at(addr);
        // Whatever it leads to is looked at behind this instruction.
        let deadline = std::mem::replace(&mut env.deadline, 0);
        if let Slot::rtc(_) = slot {
            self.chip.rtc_seen_ps = now.0;
        }
        let pmm = &self.chip.blocks.pmm;
        let (locked, watched) = (pmm.pins_locked(), pmm.svsh_on());
        let mut cx = cx!(self, env, addr, at, now);
        let settled = self.chip.blocks.write(slot, off, value, mask, &mut cx)?;
        if let Slot::dma(_) = slot {
            // A channel would wait for ever.
            let never = |(c, select): (usize, u8)| {
                self.triggers[usize::from(select & 31)][c] == Trigger::Never
            };
            if self.chip.blocks.dma.watched().any(never) {
                return Err(cx.refuse(
                    "a DMA channel is enabled with a trigger that is reserved or not modelled",
                ));
            }
        }
        if settled {
            if env.common.state.lints.pending.is_empty() {
                env.deadline = deadline;
            }
            return Ok(());
        }
        match slot {
            Slot::pmm(_) => {
                if locked && !self.chip.blocks.pmm.pins_locked() {
                    self.lock_pins(env, false, false, now, at);
                }
                if watched != self.chip.blocks.pmm.svsh_on() {
                    self.supervise(env, now);
                }
            }
            Slot::fram(_) => {
                if !self.chip.blocks.fram.powered() && !self.chip.fram_off {
                    self.chip.fram_off = true;
                    self.chip.cache.clear();
                }
                self.fx.clocks = true;
                self.fx.protection = true;
            }
            Slot::timers(_) => self.follow_outputs(env, at),
            Slot::ports(i) => self.port_written(env, usize::from(i), now, at),
            Slot::eusci(i) => self.spi_begins(env, usize::from(i), now, at),
            _ => {}
        }
        self.settle_effects(env, now, at);
        Ok(())
    }

    pub(super) fn reset_as(
        &mut self,
        env: &mut Env,
        kind: ResetKind,
        cause: u8,
        now: Picos,
        cycles: Cycles,
    ) {
        self.fx = Effects::default();
        let deep = self.chip.deep.take();
        self.book_fram(env);
        // MCLK may have been at rest.
        self.chip.clocks.restart(now, cycles);
        env.mode = 0;
        let woke = deep.is_some() && cause == cause::LPM5WU;
        if let Some(deep) = deep {
            self.wake_blocks(deep, now);
        }
        let c = &mut self.chip;
        c.cache.clear();
        c.blocks.restart(Reset { kind, woke, rtc_kept: deep.is_some_and(|d| d.rtc) });
        c.fram_off = false;
        c.stalled = 0;
        (c.dma_until, c.dma_pause) = (0, 0);
        c.blocks.sys.add_cause(cause);
        if woke {
            c.blocks.pmm.note_lpm5();
        }
        env.common.pending_fault = None;
        let locked = self.chip.blocks.pmm.pins_locked();
        self.update_clocks(env, now, cycles);
        self.chip.blocks.wdt.reset(&cx!(self, env, 0, cycles, now));
        self.lock_pins(env, locked, kind == ResetKind::Bor && !woke, now, cycles);
        self.protect(env);
        self.settle_effects(env, now, cycles);
        env.deadline = 0;
    }
}
