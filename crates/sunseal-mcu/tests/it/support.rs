// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the machine: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, Machine, Stop, Until};
use sunseal_trace::Silent;

use crate::asm::{self, Arg, Arg::*, Size::*, double, single};

pub const CODE: u32 = 0x5C00;
pub const RAM: u32 = 0x1C00;
pub const STACK: u32 = 0x5C00;
pub const FLASH_DATA: u32 = 0x8000;
pub const INFO_D: u32 = 0x1800;

pub const SFRIE1: u32 = 0x100;
pub const SFRIFG1: u32 = 0x102;
pub const PMMCTL0: u32 = 0x120;
pub const SVSMHCTL: u32 = 0x124;
pub const SVSMLCTL: u32 = 0x126;
pub const PMMIFG: u32 = 0x12C;
pub const FCTL1: u32 = 0x140;
pub const FCTL3: u32 = 0x144;
pub const FCTL4: u32 = 0x146;
pub const CRCDI: u32 = 0x150;
pub const CRCINIRES: u32 = 0x154;
pub const WDTCTL: u32 = 0x15C;
pub const UCSCTL0: u32 = 0x160;
pub const UCSCTL1: u32 = 0x162;
pub const UCSCTL2: u32 = 0x164;
pub const UCSCTL3: u32 = 0x166;
pub const UCSCTL4: u32 = 0x168;
pub const UCSCTL7: u32 = 0x16E;
pub const SYSSNIV: u32 = 0x19C;
pub const SYSUNIV: u32 = 0x19A;
pub const SYSRSTIV: u32 = 0x19E;
pub const REFCTL0: u32 = 0x1B0;
pub const PAIN: u32 = 0x200;
pub const PAOUT: u32 = 0x202;
pub const PADIR: u32 = 0x204;
pub const PAREN: u32 = 0x206;
pub const PASEL: u32 = 0x20A;
pub const P1IV: u32 = 0x20E;
pub const PAIES: u32 = 0x218;
pub const PAIE: u32 = 0x21A;
pub const PAIFG: u32 = 0x21C;
pub const PBOUT: u32 = 0x222;
pub const PBDIR: u32 = 0x224;
pub const TA0CTL: u32 = 0x340;
pub const TA0CCTL0: u32 = 0x342;
pub const TA0CCTL1: u32 = 0x344;
pub const TA0R: u32 = 0x350;
pub const TA0CCR0: u32 = 0x352;
pub const TA0CCR1: u32 = 0x354;
pub const TA0IV: u32 = 0x36E;
pub const TB0CTL: u32 = 0x3C0;
pub const TB0CCTL6: u32 = 0x3CE;
pub const TB0CCR6: u32 = 0x3DE;
pub const TB0IV: u32 = 0x3EE;
pub const MPY: u32 = 0x4C0;
pub const MPYS: u32 = 0x4C2;
pub const MAC: u32 = 0x4C4;
pub const MACS: u32 = 0x4C6;
pub const OP2: u32 = 0x4C8;
pub const RESLO: u32 = 0x4CA;
pub const RESHI: u32 = 0x4CC;
pub const SUMEXT: u32 = 0x4CE;
pub const MPY32L: u32 = 0x4D0;
pub const MPY32H: u32 = 0x4D2;
pub const MPYS32L: u32 = 0x4D4;
pub const MPYS32H: u32 = 0x4D6;
pub const MAC32L: u32 = 0x4D8;
pub const MAC32H: u32 = 0x4DA;
pub const OP2L: u32 = 0x4E0;
pub const OP2H: u32 = 0x4E2;
pub const RES0: u32 = 0x4E4;
pub const MPY32CTL0: u32 = 0x4EC;
pub const UCA1CTLW0: u32 = 0x600;
pub const UCA1BRW: u32 = 0x606;
pub const UCA1MCTL: u32 = 0x608;
pub const UCA1RXBUF: u32 = 0x60C;
pub const UCA1TXBUF: u32 = 0x60E;
pub const UCA1ICTL: u32 = 0x61C;
pub const UCB0CTLW0: u32 = 0x5E0;
pub const UCB0BRW: u32 = 0x5E6;
pub const UCB0RXBUF: u32 = 0x5EC;
pub const UCB0TXBUF: u32 = 0x5EE;
pub const UCB0ICTL: u32 = 0x5FC;
pub const ADC12CTL0: u32 = 0x700;
pub const ADC12CTL1: u32 = 0x702;
pub const ADC12CTL2: u32 = 0x704;
pub const ADC12IFG: u32 = 0x70A;
pub const ADC12IE: u32 = 0x70C;
pub const ADC12IV: u32 = 0x70E;
pub const ADC12MCTL0: u32 = 0x710;
pub const ADC12MEM0: u32 = 0x720;

pub const GIE: u16 = 0x08;
pub const SCG0: u16 = 0x40;
pub const LPM0: u16 = 0x10;
pub const LPM1: u16 = 0x50;
pub const LPM2: u16 = 0x90;
pub const LPM3: u16 = 0xD0;
pub const LPM4: u16 = 0xF0;

pub const VECTOR_RESET: u32 = 0xFFFE;
pub const VECTOR_SYSNMI: u32 = 0xFFFC;
pub const VECTOR_UNMI: u32 = 0xFFFA;
pub const VECTOR_TB0: u32 = 0xFFF6;
pub const VECTOR_WDT: u32 = 0xFFF4;
pub const VECTOR_USCI_B0: u32 = 0xFFF0;
pub const VECTOR_ADC12: u32 = 0xFFEE;
pub const VECTOR_TA0_CCR0: u32 = 0xFFEC;
pub const VECTOR_TA0: u32 = 0xFFEA;
pub const VECTOR_PORT1: u32 = 0xFFDE;
pub const VECTOR_USCI_A1: u32 = 0xFFDC;

/// Word addresses of kept values, one behind the other.
pub const KEPT: u32 = RAM + 0x100;

#[derive(Clone)]
pub struct Program {
    words: Vec<u16>,
    vectors: Vec<(u32, u32)>,
    kept: u32,
}

/// A forward jump that waits for its target.
#[must_use]
pub struct Ahead(usize, &'static str);

impl Program {
    /// Begins at the reset vector with a stack and the watchdog still on.
    pub fn bare() -> Self {
        let mut p = Self { words: Vec::new(), vectors: vec![(VECTOR_RESET, CODE)], kept: 0 };
        p.put(double("MOV", W, Imm(STACK), R(1)));
        p
    }

    /// The same with the watchdog held.
    pub fn new() -> Self {
        let mut p = Self::bare();
        p.set(WDTCTL, 0x5A80);
        p
    }

    pub fn here(&self) -> u32 {
        CODE + 2 * self.words.len() as u32
    }

    pub fn put(&mut self, words: Vec<u16>) -> &mut Self {
        self.words.extend(words);
        self
    }

    pub fn op(&mut self, op: &str, src: Arg, dst: Arg) -> &mut Self {
        self.put(double(op, W, src, dst))
    }

    pub fn op_b(&mut self, op: &str, src: Arg, dst: Arg) -> &mut Self {
        self.put(double(op, B, src, dst))
    }

    /// MOV.W #value, &addr
    pub fn set(&mut self, addr: u32, value: u16) -> &mut Self {
        self.op("MOV", Imm(value.into()), Abs(addr))
    }

    /// MOV.B #value, &addr
    pub fn set_b(&mut self, addr: u32, value: u8) -> &mut Self {
        self.op_b("MOV", Imm(value.into()), Abs(addr))
    }

    /// MOV.W &addr, to the next kept word
    pub fn keep(&mut self, addr: u32) -> &mut Self {
        let to = KEPT + self.kept;
        self.kept += 2;
        self.op("MOV", Abs(addr), Abs(to))
    }

    pub fn nops(&mut self, n: usize) -> &mut Self {
        self.put(vec![0x4303; n])
    }

    pub fn back(&mut self, condition: &str, target: u32) -> &mut Self {
        let words = (target as i32 - self.here() as i32 - 2) / 2;
        self.put(asm::jump(condition, words as i16))
    }

    pub fn ahead(&mut self, condition: &'static str) -> Ahead {
        self.words.push(0);
        Ahead(self.words.len() - 1, condition)
    }

    pub fn land(&mut self, from: Ahead) -> &mut Self {
        let distance = self.words.len() - from.0 - 1;
        self.words[from.0] = asm::jump(from.1, distance as i16)[0];
        self
    }

    /// Waits until bits of a word are set.
    pub fn wait_set(&mut self, addr: u32, bits: u16) -> &mut Self {
        let again = self.here();
        self.op("BIT", Imm(bits.into()), Abs(addr)).back("JEQ", again)
    }

    /// Waits until bits of a word are clear.
    pub fn wait_clear(&mut self, addr: u32, bits: u16) -> &mut Self {
        let again = self.here();
        self.op("BIT", Imm(bits.into()), Abs(addr)).back("JNE", again)
    }

    /// BIS #bits, SR
    pub fn sleep(&mut self, bits: u16) -> &mut Self {
        self.op("BIS", Imm(bits.into()), R(2))
    }

    /// MOV #LPM4, SR: no interrupts either, the machine halts.
    pub fn halt(&mut self) -> &mut Self {
        self.op("MOV", Imm(LPM4.into()), R(2))
    }

    /// From here on, the handler of `vector`.
    pub fn handler(&mut self, vector: u32) -> &mut Self {
        self.vectors.push((vector, self.here()));
        self
    }

    /// Leaves a handler with the CPU awake: BIC #CPUOFF.., 0(SP); RETI
    pub fn wake_and_return(&mut self) -> &mut Self {
        self.op("BIC", Imm(LPM4.into()), X(0, 1)).put(vec![asm::RETI])
    }

    pub fn call(&mut self, addr: u32) -> &mut Self {
        self.put(single("CALL", W, Imm(addr)))
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    pub fn store_in(&self, m: &mut Machine) {
        m.write_mem(CODE, &self.bytes()).unwrap();
        for &(vector, handler) in &self.vectors {
            m.write_mem(vector, &(handler as u16).to_le_bytes()).unwrap();
        }
        m.reset();
    }

    pub fn machine(&self) -> Machine {
        let mut m = Machine::new(&Device::msp430f5438a());
        self.store_in(&mut m);
        m
    }

    /// Ends it in a halt and runs it there.
    pub fn run_halted(&mut self) -> Machine {
        self.halt().run()
    }

    /// Runs it to its halt.
    pub fn run(&self) -> Machine {
        let mut m = self.machine();
        halt(&mut m);
        m
    }
}

pub fn halt(m: &mut Machine) {
    let until = Until { cycles: Some(m.cycles() + 50_000_000), ..Until::default() };
    assert_eq!(m.run(&until, &mut Silent), Stop::Halted, "at {:#07x}", m.reg(0));
}

pub fn word(m: &Machine, addr: u32) -> u16 {
    let b = m.read_mem(addr, 2).unwrap();
    u16::from_le_bytes([b[0], b[1]])
}

/// The n-th kept word.
pub fn kept(m: &Machine, n: u32) -> u16 {
    word(m, KEPT + 2 * n)
}

/// The fault that a program ends in, as its sentence.
pub fn fault_of(p: &Program) -> String {
    fault_in(&mut p.machine())
}

pub fn fault_in(m: &mut Machine) -> String {
    let until = Until { cycles: Some(m.cycles() + 10_000_000), ..Until::default() };
    match m.run(&until, &mut Silent) {
        Stop::Fault(f) => f.to_string(),
        other => panic!("no fault but {other:?} at {:#07x}", m.reg(0)),
    }
}
