// SPDX-License-Identifier: MIT OR Apache-2.0
//! What belongs to a CPU core and not to the chip around it: memory as the core sees it, sleep,
//! interrupts and exceptions.

pub(crate) mod armv7m;
pub(crate) mod msp430;

/// Those of [`Chip`](crate::engine::Chip) that every chip answers alike by its `cpu`, its own `set_deadline` and what it does when a run ends.
macro_rules! by_cpu {
    () => {
        fn cycles(&self) -> Cycles {
            self.cpu.cycles
        }
        fn set_cycles(&mut self, cycles: Cycles) {
            self.cpu.cycles = cycles;
        }
        fn set_breakpoints(&mut self, addrs: &[u32]) {
            self.cpu.set_breakpoints(addrs);
        }
        fn is_breakpoint(&self, addr: u32) -> bool {
            self.cpu.is_breakpoint(addr)
        }
        fn run_cpu<O: Observer>(
            &mut self,
            deadline: Cycles,
            once: bool,
            observer: &mut O,
        ) -> Result<Ran, Fault> {
            self.soc.set_deadline(deadline);
            let exit = if once {
                self.cpu.step(&mut self.soc, observer)
            } else {
                self.cpu.run(&mut self.soc, observer)
            };
            self.act_on(exit)
        }
    };
}
pub(crate) use by_cpu;
