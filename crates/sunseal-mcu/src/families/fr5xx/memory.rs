// SPDX-License-Identifier: MIT OR Apache-2.0
//! FRAM behind its cache, with its power and its rights.

use super::*;

impl Fr5xx {
    // ---- FRAM

    /// Gives FRAM's pages the flags that MPU, WPROT and its power state leave them, and who watches its writes.
    pub(super) fn protect(&mut self, env: &mut Env) {
        let dev = Arc::clone(&env.common.dev);
        let off = self.chip.fram_off;
        let plain = !self.chip.blocks.fram.has_write_protection() && !env.fram_is_watched();
        let write = if plain { FRAM_WRITE } else { 0 };
        let mpu = &self.chip.blocks.mpu;
        for r in dev.memory.iter().filter(|r| r.kind == RegionKind::Fram) {
            let info = r.start < 0x4000;
            let mut at = r.start & !0xFF;
            while at <= r.end {
                // Without the unit all of a region has the same rights.
                let last = if mpu.enabled() { at } else { r.end };
                let rights = mpu.rights(at, info);
                let flag = |right: u16, flag: u8| if rights & right != 0 { flag } else { 0 };
                let flags = if off {
                    flag(mpu::EXECUTE, CODE)
                } else {
                    flag(mpu::READ, FRAM_READ) | flag(mpu::WRITE, write) | flag(mpu::EXECUTE, CODE)
                };
                if env.set_pages(at, last, flags) {
                    env.changed.push(at..(last | 0xFF) + 1);
                }
                at = (last | 0xFF) + 1;
            }
        }
    }

    /// FRAM is accessed while it is off: it powers up, and the access waits.
    pub(super) fn power_fram_up(&mut self, env: &mut Env) {
        if !self.chip.fram_off {
            return;
        }
        self.chip.fram_off = false;
        self.chip.blocks.fram.power_up();
        let hz = f64::from(self.chip.clocks.mclk.freq_hz());
        self.chip.stalled += (self.facts.fram.power_up_us * 1e-6 * hz).ceil() as Cycles;
        env.common.accounts.count(Event::FramPowerUp);
        self.fx.clocks = true;
        self.protect(env);
        env.deadline = 0;
    }

    pub(super) fn fram_region(env: &Env, addr: u32) -> bool {
        env.common.dev.region(addr).is_some_and(|r| r.kind == RegionKind::Fram)
    }

    pub(super) fn violate(&mut self, env: &mut Env, addr: u32) {
        if let Some(reset) = self.chip.blocks.mpu.violate(addr, addr < 0x4000) {
            self.fx.reset = Some(reset);
        }
        env.deadline = 0;
    }

    /// Takes the counts of the cache over into the books.
    pub(super) fn book_fram(&mut self, env: &mut Env) {
        let c = &mut self.chip;
        for (event, seen, booked) in [
            (Event::FramHit, c.cache.hits, &mut c.booked_hits),
            (Event::FramMiss, c.cache.misses, &mut c.booked_misses),
            (Event::FramWrite, c.fram_writes, &mut c.booked_writes),
        ] {
            env.common.accounts.add(event, seen - *booked);
            *booked = seen;
        }
    }

    #[inline(never)]
    pub(super) fn fetched_elsewhere(&mut self, env: &mut Env, pc: u32, bytes: u32) -> Cycles {
        if !Self::fram_page(env, pc) {
            return 0;
        }
        let before = self.chip.stalled;
        self.power_fram_up(env);
        let power_up = self.chip.stalled - before;
        self.chip.stalled = before;
        self.chip.cache.fetch(pc, bytes) * self.chip.waits + power_up
    }

    /// Whether `pc` lies in FRAM: what is code and neither RAM nor ROM.
    pub(super) fn fram_page(env: &Env, pc: u32) -> bool {
        pc >= CODE_START || (env.page(pc) & CODE != 0 && Self::fram_region(env, pc))
    }

    /// The unit's random seed in the TLV.
    pub(super) fn put_random_seed(&mut self, env: &mut Env) {
        self.seeded = Some(env.common.state.seed);
        let t = &self.facts.tlv;
        for i in 0..t.random_bytes {
            let word = splitmix64(env.common.state.seed ^ 0x7461_6C76 ^ u64::from(i / 8) << 32);
            env.memory[(t.random_address + i) as usize] = word.to_le_bytes()[(i % 8) as usize];
        }
    }
}
