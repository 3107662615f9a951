// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the processors do alike: run, stop at breakpoints, keep snapshots.

/// So many values, made where they are to stay; of zeros only pages that are touched exist.
pub(crate) fn boxed<T: Clone, const N: usize>(value: T) -> Box<[T; N]> {
    vec![value; N].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("it has N"))
}

/// Methods of a `Cpu`. Its own are `start` (checks what software outside may have put into the registers, and gives the
/// program counter), `dispatch` (to the handler at a program counter), `ends` (whether what handlers return ends the loop),
/// `halt` (why it does), `rest` (puts the program counter and what the loop keeps elsewhere back), `mark` and `unmark` (a
/// breakpoint in the cache of decoded instructions).
macro_rules! runs {
    ($(#[$run:meta])*) => {
        $(#[$run])*
        pub fn run<B: Bus, O: Observer>(&mut self, bus: &mut B, observer: &mut O) -> Exit {
            if self.cycles >= bus.deadline() {
                return Exit::Deadline;
            }
            let mut pc = match self.start() {
                Ok(pc) => pc,
                Err(exit) => return exit,
            };
            loop {
                self.threaded_until = bus.deadline().min(self.cycles + $crate::threading::THREAD_CYCLES);
                let next = self.dispatch(bus, observer, pc);
                if O::LATE {
                    observer.catch_up();
                }
                if self.ends(next) {
                    return self.halt(bus, next);
                }
                pc = next;
                if self.cycles >= bus.deadline() || O::ENDS && observer.ends() {
                    return self.rest(pc);
                }
            }
        }

        /// Runs one instruction whatever the deadline and breakpoints. `Exit::Deadline` means that nothing special
        /// happened.
        pub fn step<B: Bus, O: Observer>(&mut self, bus: &mut B, observer: &mut O) -> Exit {
            let pc = match self.start() {
                Ok(pc) => pc,
                Err(exit) => return exit,
            };
            self.single = true;
            self.threaded_until = 0;
            let next = self.dispatch(bus, observer, pc);
            self.single = false;
            if O::LATE {
                observer.catch_up();
            }
            if self.ends(next) {
                return self.halt(bus, next);
            }
            self.rest(next)
        }

        /// From now on [`run`](Self::run) ends before an instruction at any of these byte addresses, the one where it
        /// begins included. They stay until others are set, whatever happens to the code.
        pub fn set_breakpoints(&mut self, addrs: &[u32]) {
            let Some(old) = self.breakpoints.replace(addrs) else { return };
            for addr in old {
                self.unmark(addr);
            }
            self.mark(0..u32::MAX);
        }

        /// Whether there is a breakpoint at byte address `addr`.
        #[must_use]
        pub fn is_breakpoint(&self, addr: u32) -> bool {
            self.breakpoints.contains(addr)
        }

        /// The timing it was made with.
        #[must_use]
        pub fn timing(&self) -> &Timing {
            &self.timing
        }
    };
}

/// Snapshots of a `Cpu`: those of its fields that are the same in its `State`, and of the others what gets and sets them.
macro_rules! snapshots {
    ({ $($field:ident),* } $($get:ident $set:ident)?) => {
        /// A copy of everything that a snapshot keeps.
        #[must_use]
        pub fn state(&self) -> State {
            State { $($field: self.$field,)* $($get: self.$get())? }
        }

        /// Goes back to a snapshot. Decoded instructions stay: invalidate what changed in code memory.
        pub fn set_state(&mut self, state: &State) {
            $(self.$set(state.$get);)?
            $(self.$field = state.$field;)*
        }
    };
}
