// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core's half of exceptions: stacking, unstacking and lazy floating-point state (Armv7-M ARM
//! B1.5.6 to B1.5.8).

use super::timing::{ENTRY_CYCLES, EXIT_CYCLES, TAIL_CHAIN_CYCLES};
use super::{Bus, Cpu, Entry, Exit, LR, PC, SP, Usage, ccr, control, fpccr, psr};
use crate::{Access, Cycles, Fault, Flow, Observer, Width};

/// Words of the frame: eight, and with a floating-point context S0 to S15, FPSCR and one reserved.
const BASIC_FRAME: u32 = 0x20;
const EXTENDED_FRAME: u32 = 0x68;
/// Stack accesses of the floating-point part: S0 to S15 and FPSCR.
const FLOAT_WORDS: u32 = 17;

/// The bits of EXC_RETURN that must be ones.
const EXC_RETURN: u32 = 0xFFFF_FFE0;
/// Set: the frame has no floating-point part.
const EXC_RETURN_BASIC: u32 = 1 << 4;

impl Cpu {
    fn stacked<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        addr: u32,
        kind: Access,
        value: u32,
        at: Cycles,
    ) -> Result<u32, Fault> {
        let pc = self.r[PC];
        let done = match kind {
            Access::Read => bus.read(addr, Width::W32, at),
            Access::Write => bus.write(addr, Width::W32, value, at).map(|()| value),
        };
        let value = done.map_err(|fault| fault.at_pc(pc))?;
        if O::ACCESSES {
            observer.access(pc, addr, kind, Width::W32, value, at);
        }
        Ok(value)
    }

    /// Takes exception number `exception`: stacks the context as `kind` says, fetches the vector, and
    /// spends the cycles. Which exception, and whether now, is the machine's question.
    ///
    /// FPCCR's bits about pending priorities (HFRDY, MMRDY, BFRDY, MONRDY) are the machine's to set.
    ///
    /// # Errors
    /// If the stack or the vector cannot be accessed. What was stacked stays so.
    pub fn enter<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        exception: u32,
        kind: Entry,
    ) -> Result<(), Fault> {
        let start = self.cycles;
        let (mut cycles, lr) = match kind {
            Entry::Fresh => (ENTRY_CYCLES, None),
            Entry::TailChain(exc_return) => (TAIL_CHAIN_CYCLES, Some(exc_return)),
            Entry::Late => (TAIL_CHAIN_CYCLES, Some(self.r[LR])),
        };
        let from = self.r[PC];
        let lr = match lr {
            Some(lr) => lr,
            None => {
                let (lr, more) = self.push_context(bus, observer)?;
                cycles += more;
                lr
            }
        };
        let vector = bus.scb().vtor.wrapping_add(4 * exception);
        let last = start + Cycles::from(cycles) - 3;
        let handler = self.stacked(bus, observer, vector, Access::Read, 0, last)?;
        self.switch(|cpu| {
            cpu.psr = cpu.psr & !(psr::IPSR | psr::IT | psr::T)
                | exception & psr::IPSR
                | ((handler & 1) * psr::T);
            cpu.control &= !(control::SPSEL | control::FPCA);
        });
        self.r[LR] = lr;
        self.r[PC] = handler & !1;
        self.moved_on(bus, observer, from, cycles, Flow::Interrupt { vector });
        Ok(())
    }

    /// Pushes the frame; the EXC_RETURN for the handler, and cycles beyond [`ENTRY_CYCLES`].
    fn push_context<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
    ) -> Result<(u32, u32), Fault> {
        let float = self.control & control::FPCA != 0;
        let (size, align) = frame_shape(bus, float);
        let old = self.r[SP];
        let realigned = align && old & 4 != 0;
        let frame = old.wrapping_sub(size) & if align { !7 } else { !3 };
        let words = [
            self.r[0],
            self.r[1],
            self.r[2],
            self.r[3],
            self.r[12],
            self.r[LR],
            self.r[PC],
            self.psr & !(1 << 9) | u32::from(realigned) << 9,
        ];
        let mut at = self.cycles;
        let mut addr = frame;
        for word in words {
            self.stacked(bus, observer, addr, Access::Write, word, at)?;
            addr = addr.wrapping_add(4);
            at += 1;
        }
        let mut more = 0;
        if float {
            if bus.scb().fpccr & fpccr::LSPEN == 0 {
                self.push_float(bus, observer, addr, at)?;
                more = FLOAT_WORDS;
            } else {
                let (user, thread) = (!self.privileged(), self.exception() == 0);
                let scb = bus.scb_mut();
                scb.fpcar = addr & !7;
                scb.fpccr = scb.fpccr & !(fpccr::USER | fpccr::THREAD)
                    | fpccr::LSPACT
                    | (u32::from(user) * fpccr::USER)
                    | (u32::from(thread) * fpccr::THREAD);
            }
        }
        self.r[SP] = frame;
        let basic = if float { 0 } else { EXC_RETURN_BASIC };
        let to = match (self.exception(), self.on_process_stack()) {
            (0, true) => 0xD,
            (0, false) => 0x9,
            _ => 0x1,
        };
        Ok((EXC_RETURN | basic | to, more))
    }

    fn push_float<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        addr: u32,
        at: Cycles,
    ) -> Result<(), Fault> {
        for i in 0..16 {
            let value = self.s[i as usize];
            let at = at + Cycles::from(i);
            self.stacked(bus, observer, addr.wrapping_add(4 * i), Access::Write, value, at)?;
        }
        let fpscr = self.fpscr;
        self.stacked(bus, observer, addr.wrapping_add(0x40), Access::Write, fpscr, at + 16)?;
        Ok(())
    }

    /// What every floating-point instruction does first: saves the state that an exception left in the
    /// registers, and makes a new context active (ExecuteFPCheck). Cycles spent on saving.
    ///
    /// # Errors
    /// If the stack cannot be written.
    pub(crate) fn open_float<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
    ) -> Result<u32, Fault> {
        let mut cycles = 0;
        if bus.scb().fpccr & fpccr::LSPACT != 0 {
            let addr = bus.scb().fpcar;
            self.push_float(bus, observer, addr, self.cycles)?;
            bus.scb_mut().fpccr &= !fpccr::LSPACT;
            cycles = FLOAT_WORDS;
        }
        let scb = bus.scb();
        if scb.fpccr & fpccr::ASPEN != 0 && self.control & control::FPCA == 0 {
            const DEFAULTS: u32 = 0x07C0_0000;
            self.fpscr = self.fpscr & !DEFAULTS | scb.fpdscr & DEFAULTS;
            self.control |= control::FPCA;
        }
        Ok(cycles)
    }

    /// Returns from the exception that runs by `exc_return`: unstacks, goes on where it was, and spends
    /// the cycles. FAULTMASK is cleared unless an NMI returns.
    ///
    /// # Errors
    /// [`Exit::Usage`] with [`Usage::InvalidPc`] if the value, or the mode it leads to, is impossible;
    /// [`Exit::Fault`] if the stack cannot be read.
    pub fn leave<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        exc_return: u32,
    ) -> Result<(), Exit> {
        let invalid = Exit::Usage { cause: Usage::InvalidPc, addr: exc_return };
        let (to_thread, process) = match exc_return & 0xF {
            0x1 => (false, false),
            0x9 => (true, false),
            0xD => (true, true),
            _ => return Err(invalid),
        };
        if exc_return & EXC_RETURN != EXC_RETURN || self.exception() == 0 {
            return Err(invalid);
        }
        let from = self.r[PC];
        let float = exc_return & EXC_RETURN_BASIC == 0;
        let frame = if process { self.psp() } else { self.msp() };
        let words = self.pop_basic(bus, observer, frame).map_err(Exit::Fault)?;
        let at = self.cycles + 8;
        let [r0, r1, r2, r3, r12, lr, pc, status] = words;
        if (status & psr::IPSR == 0) != to_thread {
            return Err(invalid);
        }
        let float_cycles =
            if float { self.pop_float(bus, observer, frame, at).map_err(Exit::Fault)? } else { 0 };
        let (size, align) = frame_shape(bus, float);
        let realigned = align && status & 1 << 9 != 0;
        let sp = frame.wrapping_add(size) | u32::from(realigned) << 2;
        if process {
            self.set_psp(sp);
        } else {
            self.set_msp(sp);
        }
        if self.exception() != 2 {
            self.faultmask = 0;
        }
        [self.r[0], self.r[1], self.r[2], self.r[3]] = [r0, r1, r2, r3];
        (self.r[12], self.r[LR]) = (r12, lr);
        self.switch(|cpu| {
            cpu.psr = status & (psr::APSR | psr::IT | psr::T | psr::IPSR);
            cpu.control = cpu.control & !(control::SPSEL | control::FPCA)
                | (u32::from(process) * control::SPSEL)
                | (u32::from(float) * control::FPCA);
        });
        self.r[PC] = pc & !1;
        self.moved_on(bus, observer, from, EXIT_CYCLES + float_cycles, Flow::InterruptReturn);
        Ok(())
    }

    /// The eight words of a basic frame.
    fn pop_basic<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        frame: u32,
    ) -> Result<[u32; 8], Fault> {
        let (mut words, mut at) = ([0; 8], self.cycles);
        for (i, word) in words.iter_mut().enumerate() {
            let addr = frame.wrapping_add(4 * i as u32);
            *word = self.stacked(bus, observer, addr, Access::Read, 0, at)?;
            at += 1;
        }
        Ok(words)
    }

    /// Takes S0 to S15 and FPSCR off an extended frame, if they were put there; the cycles of it.
    fn pop_float<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        frame: u32,
        mut at: Cycles,
    ) -> Result<u32, Fault> {
        if bus.scb().fpccr & fpccr::LSPACT != 0 {
            bus.scb_mut().fpccr &= !fpccr::LSPACT;
            return Ok(0);
        }
        for i in 0..=16 {
            let addr = frame.wrapping_add(BASIC_FRAME + 4 * i);
            let value = self.stacked(bus, observer, addr, Access::Read, 0, at)?;
            at += 1;
            match self.s.get_mut(i as usize) {
                Some(s) if i < 16 => *s = value,
                _ => self.fpscr = value,
            }
        }
        Ok(FLOAT_WORDS)
    }

    /// An entry or a return is done: what the pipeline remembers is gone, its cycles pass, and it is told.
    fn moved_on<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        from: u32,
        mut cycles: u32,
        flow: Flow,
    ) {
        self.exclusive = false;
        (self.recent, self.float_result) = (0, 0);
        self.cycles += Cycles::from(cycles);
        if B::WAITS {
            let stall = bus.stall();
            self.cycles += stall;
            cycles += stall as u32;
        }
        if O::INSTRUCTIONS {
            observer.instruction(from, self.r[SP], cycles, flow);
        }
    }
}

/// Bytes of a frame with or without floating-point registers, and whether the stack is aligned to eight of them.
fn frame_shape<B: Bus>(bus: &B, float: bool) -> (u32, bool) {
    if float { (EXTENDED_FRAME, true) } else { (BASIC_FRAME, bus.scb().ccr & ccr::STKALIGN != 0) }
}
