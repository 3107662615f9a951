// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the F1611: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, LintKind, Machine};

use crate::asm::Arg::*;

#[path = "../programs/mod.rs"]
mod programs;
pub use programs::*;

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

/// What a program writes before anything else.
pub const HELD: &[(u32, u16)] = &[(WDTCTL, 0x5A80)];

impl Program {
    /// BIS.B #bits, &addr
    pub fn bis_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        self.op_b("BIS", Imm(bits.into()), Abs(addr))
    }

    /// BIC.B #bits, &addr
    pub fn bic_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        self.op_b("BIC", Imm(bits.into()), Abs(addr))
    }

    /// MOV.B &addr, to the next kept word
    pub fn keep_b(&mut self, addr: u32) -> &mut Self {
        let to = self.next_kept();
        self.op("MOV", Cg(0), Abs(to)).op_b("MOV", Abs(addr), Abs(to))
    }

    /// Waits until bits of a byte are set.
    pub fn wait_set_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        let again = self.here();
        self.op_b("BIT", Imm(bits.into()), Abs(addr)).back("JEQ", again)
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
}

pub fn device() -> Device {
    Device::named("msp430f1611").unwrap()
}

pub fn machine() -> Machine {
    Machine::new(&device())
}

/// The first `N` kept words.
pub fn all_kept<const N: usize>(m: &Machine) -> [u16; N] {
    std::array::from_fn(|n| kept(m, n as u32))
}

/// The kinds of slips that were reported.
pub fn slips(m: &Machine) -> Vec<LintKind> {
    let mut kinds: Vec<_> = m.lints().iter().map(|l| l.kind).collect();
    kinds.dedup();
    kinds
}
