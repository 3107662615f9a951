// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the F1611: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, LintKind, Machine, Stop, Until};
use sunseal_trace::Silent;

use crate::asm::{self, Arg, Arg::*, Size::*, double, single};

pub const CODE: u32 = 0x4000;
pub const RAM: u32 = 0x1100;
pub const STACK: u32 = 0x3900;
pub const FLASH_DATA: u32 = 0x8000;
pub const INFO_B: u32 = 0x1000;
pub const INFO_A: u32 = 0x1080;

pub const IE1: u32 = 0x00;
pub const IE2: u32 = 0x01;
pub const IFG1: u32 = 0x02;
pub const IFG2: u32 = 0x03;
pub const ME1: u32 = 0x04;
pub const ME2: u32 = 0x05;
pub const P3IN: u32 = 0x18;
pub const P3OUT: u32 = 0x19;
pub const P3DIR: u32 = 0x1A;
pub const P3SEL: u32 = 0x1B;
pub const P4OUT: u32 = 0x1D;
pub const P4DIR: u32 = 0x1E;
pub const P4SEL: u32 = 0x1F;
pub const P1IN: u32 = 0x20;
pub const P1OUT: u32 = 0x21;
pub const P1DIR: u32 = 0x22;
pub const P1IFG: u32 = 0x23;
pub const P1IES: u32 = 0x24;
pub const P1IE: u32 = 0x25;
pub const P1SEL: u32 = 0x26;
pub const P2IN: u32 = 0x28;
pub const P2OUT: u32 = 0x29;
pub const P2DIR: u32 = 0x2A;
pub const P2IFG: u32 = 0x2B;
pub const P2IE: u32 = 0x2D;
pub const P5OUT: u32 = 0x31;
pub const P5DIR: u32 = 0x32;
pub const P6SEL: u32 = 0x37;
pub const SVSCTL: u32 = 0x55;
pub const DCOCTL: u32 = 0x56;
pub const BCSCTL1: u32 = 0x57;
pub const BCSCTL2: u32 = 0x58;
pub const CACTL1: u32 = 0x59;
pub const U0CTL: u32 = 0x70;
pub const U0TCTL: u32 = 0x71;
pub const U0RCTL: u32 = 0x72;
pub const U0MCTL: u32 = 0x73;
pub const U0BR0: u32 = 0x74;
pub const U0BR1: u32 = 0x75;
pub const U0RXBUF: u32 = 0x76;
pub const U0TXBUF: u32 = 0x77;
pub const U1CTL: u32 = 0x78;
pub const U1TCTL: u32 = 0x79;
pub const U1RCTL: u32 = 0x7A;
pub const U1MCTL: u32 = 0x7B;
pub const U1BR0: u32 = 0x7C;
pub const U1BR1: u32 = 0x7D;
pub const U1RXBUF: u32 = 0x7E;
pub const U1TXBUF: u32 = 0x7F;
pub const ADC12MCTL0: u32 = 0x80;
pub const TBIV: u32 = 0x11E;
pub const WDTCTL: u32 = 0x120;
pub const DMACTL0: u32 = 0x122;
pub const DMACTL1: u32 = 0x124;
pub const FCTL1: u32 = 0x128;
pub const FCTL2: u32 = 0x12A;
pub const FCTL3: u32 = 0x12C;
pub const TAIV: u32 = 0x12E;
pub const MPY: u32 = 0x130;
pub const MPYS: u32 = 0x132;
pub const MAC: u32 = 0x134;
pub const MACS: u32 = 0x136;
pub const OP2: u32 = 0x138;
pub const RESLO: u32 = 0x13A;
pub const RESHI: u32 = 0x13C;
pub const SUMEXT: u32 = 0x13E;
pub const ADC12MEM0: u32 = 0x140;
pub const TACTL: u32 = 0x160;
pub const TACCTL0: u32 = 0x162;
pub const TACCTL1: u32 = 0x164;
pub const TACCTL2: u32 = 0x166;
pub const TAR: u32 = 0x170;
pub const TACCR0: u32 = 0x172;
pub const TACCR1: u32 = 0x174;
pub const TACCR2: u32 = 0x176;
pub const TBCTL: u32 = 0x180;
pub const TBCCTL0: u32 = 0x182;
pub const TBCCTL1: u32 = 0x184;
pub const TBCCTL2: u32 = 0x186;
pub const TBCCTL6: u32 = 0x18E;
pub const TBR: u32 = 0x190;
pub const TBCCR0: u32 = 0x192;
pub const TBCCR1: u32 = 0x194;
pub const TBCCR2: u32 = 0x196;
pub const TBCCR6: u32 = 0x19E;
pub const ADC12CTL0: u32 = 0x1A0;
pub const ADC12CTL1: u32 = 0x1A2;
pub const ADC12IFG: u32 = 0x1A4;
pub const ADC12IE: u32 = 0x1A6;
pub const ADC12IV: u32 = 0x1A8;
pub const DAC12_0CTL: u32 = 0x1C0;
pub const DMA0CTL: u32 = 0x1E0;
pub const DMA0SA: u32 = 0x1E2;
pub const DMA0DA: u32 = 0x1E4;
pub const DMA0SZ: u32 = 0x1E6;

/// MOV @SP+, PC
pub const RET: u16 = 0x4130;

pub const GIE: u16 = 0x08;
pub const SCG0: u16 = 0x40;
pub const LPM0: u16 = 0x10;
pub const LPM1: u16 = 0x50;
pub const LPM2: u16 = 0x90;
pub const LPM3: u16 = 0xD0;
pub const LPM4: u16 = 0xF0;

pub const VECTOR_RESET: u32 = 0xFFFE;
pub const VECTOR_NMI: u32 = 0xFFFC;
pub const VECTOR_TB_CCR0: u32 = 0xFFFA;
pub const VECTOR_TB: u32 = 0xFFF8;
pub const VECTOR_WDT: u32 = 0xFFF4;
pub const VECTOR_USART0_RX: u32 = 0xFFF2;
pub const VECTOR_USART0_TX: u32 = 0xFFF0;
pub const VECTOR_ADC12: u32 = 0xFFEE;
pub const VECTOR_TA_CCR0: u32 = 0xFFEC;
pub const VECTOR_TA: u32 = 0xFFEA;
pub const VECTOR_PORT1: u32 = 0xFFE8;
pub const VECTOR_USART1_RX: u32 = 0xFFE6;
pub const VECTOR_USART1_TX: u32 = 0xFFE4;
pub const VECTOR_PORT2: u32 = 0xFFE2;
pub const VECTOR_DMA: u32 = 0xFFE0;

/// Word addresses of kept values, one behind the other.
pub const KEPT: u32 = RAM + 0x100;

#[derive(Clone)]
pub struct Program {
    words: Vec<u16>,
    vectors: Vec<(u32, u32)>,
    kept: u32,
}

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

    /// BIS.B #bits, &addr
    pub fn bis_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        self.op_b("BIS", Imm(bits.into()), Abs(addr))
    }

    /// BIC.B #bits, &addr
    pub fn bic_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        self.op_b("BIC", Imm(bits.into()), Abs(addr))
    }

    /// MOV.W &addr, to the next kept word
    pub fn keep(&mut self, addr: u32) -> &mut Self {
        let to = self.next_kept();
        self.op("MOV", Abs(addr), Abs(to))
    }

    /// MOV.B &addr, to the next kept word
    pub fn keep_b(&mut self, addr: u32) -> &mut Self {
        let to = self.next_kept();
        self.op("MOV", Cg(0), Abs(to)).op_b("MOV", Abs(addr), Abs(to))
    }

    fn next_kept(&mut self) -> u32 {
        self.kept += 2;
        KEPT + self.kept - 2
    }

    pub fn nops(&mut self, n: usize) -> &mut Self {
        self.put(vec![0x4303; n])
    }

    pub fn back(&mut self, condition: &str, target: u32) -> &mut Self {
        let words = (target as i32 - self.here() as i32 - 2) / 2;
        self.put(asm::jump(condition, words as i16))
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

    /// Waits until bits of a byte are set.
    pub fn wait_set_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        let again = self.here();
        self.op_b("BIT", Imm(bits.into()), Abs(addr)).back("JEQ", again)
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

    /// Leaves a handler with the CPU awake: BIC #LPM4, 0(SP); RETI
    pub fn wake_and_return(&mut self) -> &mut Self {
        self.op("BIC", Imm(LPM4.into()), X(0, 1)).reti()
    }

    pub fn reti(&mut self) -> &mut Self {
        self.put(vec![asm::RETI])
    }

    pub fn call(&mut self, addr: u32) -> &mut Self {
        self.put(single("CALL", W, Imm(addr)))
    }

    /// Copies the words from `from` to `to` into RAM at `at` and calls them there.
    pub fn call_in_ram(&mut self, from: u32, to: u32, at: u32) -> &mut Self {
        self.op("MOV", Imm(from), R(10)).op("MOV", Imm(at), R(11));
        let again = self.here();
        self.op("MOV", Inc(10), X(0, 11)).op("ADD", Cg(2), R(11));
        self.op("CMP", Imm(to), R(10)).back("JNE", again).call(at)
    }

    /// Words for another place: jumps are relative, other addresses absolute.
    pub fn routine() -> Self {
        Self { words: Vec::new(), vectors: Vec::new(), kept: 0 }
    }

    /// Copies a routine into RAM, calls it there, and halts behind it.
    pub fn run_in_ram(&mut self, routine: &Self, at: u32) -> &mut Self {
        let mut probe = self.clone();
        let from = probe.call_in_ram(0, 0, at).halt().here();
        let to = from + 2 * routine.words.len() as u32;
        self.call_in_ram(from, to, at).halt().put(routine.words.clone())
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    pub fn machine(&self) -> Machine {
        let mut m = Machine::new(&device());
        m.write_mem(CODE, &self.bytes()).unwrap();
        for &(vector, handler) in &self.vectors {
            m.write_mem(vector, &(handler as u16).to_le_bytes()).unwrap();
        }
        m.reset();
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

pub fn device() -> Device {
    Device::named("msp430f1611").unwrap()
}

pub fn halt(m: &mut Machine) {
    let until = Until { cycles: Some(m.cycles() + 50_000_000), ..Until::default() };
    assert_eq!(m.run(&until, &mut Silent), Stop::Halted, "at {:#07x}", m.pc());
}

pub fn word(m: &Machine, addr: u32) -> u16 {
    let b = m.read_mem(addr, 2).unwrap();
    u16::from_le_bytes([b[0], b[1]])
}

/// The n-th kept word.
pub fn kept(m: &Machine, n: u32) -> u16 {
    word(m, KEPT + 2 * n)
}

/// The first `N` kept words.
pub fn all_kept<const N: usize>(m: &Machine) -> [u16; N] {
    std::array::from_fn(|n| kept(m, n as u32))
}

/// The fault that a program ends in, as its sentence.
pub fn fault_of(p: &Program) -> String {
    fault_in(&mut p.machine())
}

pub fn fault_in(m: &mut Machine) -> String {
    let until = Until { cycles: Some(m.cycles() + 10_000_000), ..Until::default() };
    match m.run(&until, &mut Silent) {
        Stop::Fault(f) => f.to_string(),
        other => panic!("no fault but {other:?} at {:#07x}", m.pc()),
    }
}

/// The kinds of slips that were reported.
pub fn slips(m: &Machine) -> Vec<LintKind> {
    let mut kinds: Vec<_> = m.lints().iter().map(|l| l.kind).collect();
    kinds.dedup();
    kinds
}
