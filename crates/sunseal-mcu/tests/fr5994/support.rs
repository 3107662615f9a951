// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the FR5994: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, Machine, Stop, Until};
use sunseal_trace::Silent;

use crate::asm::{self, Arg, Arg::*, Size::*, double, single};

pub const CODE: u32 = 0x4400;
pub const RAM: u32 = 0x1C00;
pub const STACK: u32 = 0x2C00;
pub const DATA: u32 = 0x8000;
pub const INFO_D: u32 = 0x1800;

pub const SFRIE1: u32 = 0x100;
pub const SFRIFG1: u32 = 0x102;
pub const PMMCTL0: u32 = 0x120;
pub const PMMIFG: u32 = 0x12A;
pub const PM5CTL0: u32 = 0x130;
pub const FRCTL0: u32 = 0x140;
pub const GCCTL0: u32 = 0x144;
pub const GCCTL1: u32 = 0x146;
pub const CRCDI: u32 = 0x150;
pub const CRCINIRES: u32 = 0x154;
pub const WDTCTL: u32 = 0x15C;
pub const CSCTL0: u32 = 0x160;
pub const CSCTL1: u32 = 0x162;
pub const CSCTL2: u32 = 0x164;
pub const CSCTL3: u32 = 0x166;
pub const CSCTL4: u32 = 0x168;
pub const CSCTL5: u32 = 0x16A;
pub const SYSUNIV: u32 = 0x19A;
pub const SYSSNIV: u32 = 0x19C;
pub const SYSRSTIV: u32 = 0x19E;
pub const REFCTL0: u32 = 0x1B0;
pub const P1OUT: u32 = 0x202;
pub const P1DIR: u32 = 0x204;
pub const P2SEL0: u32 = 0x20B;
pub const P2SEL1: u32 = 0x20D;
pub const P1IV: u32 = 0x20E;
pub const PAIES: u32 = 0x218;
pub const PAIE: u32 = 0x21A;
pub const PAIFG: u32 = 0x21C;
pub const PCIE: u32 = 0x25A;
pub const PCIFG: u32 = 0x25C;
pub const P5IV: u32 = 0x24E;
pub const PJSEL0: u32 = 0x32A;
pub const TA0CTL: u32 = 0x340;
pub const TA0CCTL0: u32 = 0x342;
pub const TA0R: u32 = 0x350;
pub const TA0CCR0: u32 = 0x352;
pub const TA1CTL: u32 = 0x380;
pub const TA1CCTL0: u32 = 0x382;
pub const TA1CCR0: u32 = 0x392;
pub const TA2CTL: u32 = 0x400;
pub const TA2CCTL1: u32 = 0x404;
pub const TA2CCR1: u32 = 0x414;
pub const RTCCTL0: u32 = 0x4A0;
pub const RTCCTL13: u32 = 0x4A2;
pub const RTCPS1CTL: u32 = 0x4AA;
pub const RTCIV: u32 = 0x4AE;
pub const RTCTIM0: u32 = 0x4B0;
pub const RTCTIM1: u32 = 0x4B2;
pub const RTCDATE: u32 = 0x4B4;
pub const RTCYEAR: u32 = 0x4B6;
pub const RTCAMINHR: u32 = 0x4B8;
pub const DMACTL0: u32 = 0x500;
pub const DMACTL1: u32 = 0x502;
pub const DMACTL4: u32 = 0x508;
pub const DMAIV: u32 = 0x50E;
pub const DMA0CTL: u32 = 0x510;
pub const DMA0SA: u32 = 0x512;
pub const DMA0DA: u32 = 0x516;
pub const DMA0SZ: u32 = 0x51A;
pub const MPUCTL0: u32 = 0x5A0;
pub const MPUCTL1: u32 = 0x5A2;
pub const MPUSEGB2: u32 = 0x5A4;
pub const MPUSEGB1: u32 = 0x5A6;
pub const MPUSAM: u32 = 0x5A8;
pub const MPUIPC0: u32 = 0x5AA;
pub const UCA0CTLW0: u32 = 0x5C0;
pub const UCA0BRW: u32 = 0x5C6;
pub const UCA0MCTLW: u32 = 0x5C8;
pub const UCA0STATW: u32 = 0x5CA;
pub const UCA0RXBUF: u32 = 0x5CC;
pub const UCA0TXBUF: u32 = 0x5CE;
pub const UCA0IE: u32 = 0x5DA;
pub const UCA0IFG: u32 = 0x5DC;
pub const UCA0IV: u32 = 0x5DE;
pub const UCB0CTLW0: u32 = 0x640;
pub const UCB0BRW: u32 = 0x646;
pub const UCB0RXBUF: u32 = 0x64C;
pub const UCB0TXBUF: u32 = 0x64E;
pub const UCB0I2CSA: u32 = 0x660;
pub const UCB0IFG: u32 = 0x66C;
pub const ADC12CTL0: u32 = 0x800;
pub const ADC12CTL1: u32 = 0x802;
pub const ADC12CTL3: u32 = 0x806;
pub const ADC12LO: u32 = 0x808;
pub const ADC12HI: u32 = 0x80A;
pub const ADC12IFGR0: u32 = 0x80C;
pub const ADC12IFGR2: u32 = 0x810;
pub const ADC12IER0: u32 = 0x812;
pub const ADC12IV: u32 = 0x818;
pub const ADC12MCTL0: u32 = 0x820;
pub const ADC12MEM0: u32 = 0x860;
pub const CRC32DIW0: u32 = 0x980;
pub const CRC32DIRBW0: u32 = 0x986;
pub const CRC32INIRESW0: u32 = 0x988;
pub const CRC32INIRESW1: u32 = 0x98A;
pub const CRC32RESRW1: u32 = 0x98C;
pub const CRC32RESRW0: u32 = 0x98E;
pub const AESACTL0: u32 = 0x9C0;
pub const AESACTL1: u32 = 0x9C2;
pub const AESASTAT: u32 = 0x9C4;
pub const AESAKEY: u32 = 0x9C6;
pub const AESADIN: u32 = 0x9C8;
pub const AESADOUT: u32 = 0x9CA;
pub const AESAXDIN: u32 = 0x9CC;
pub const AESAXIN: u32 = 0x9CE;

pub const GIE: u16 = 0x08;
pub const LPM0: u16 = 0x10;
pub const LPM1: u16 = 0x50;
pub const LPM2: u16 = 0x90;
pub const LPM3: u16 = 0xD0;
pub const LPM4: u16 = 0xF0;

pub const VECTOR_RESET: u32 = 0xFFFE;
pub const VECTOR_SYSNMI: u32 = 0xFFFC;
pub const VECTOR_ADC12: u32 = 0xFFEC;
pub const VECTOR_TA0_CCR0: u32 = 0xFFEA;
pub const VECTOR_DMA: u32 = 0xFFE4;
pub const VECTOR_PORT1: u32 = 0xFFDE;
pub const VECTOR_RTC: u32 = 0xFFCE;
pub const VECTOR_AES: u32 = 0xFFCC;
pub const VECTOR_PORT5: u32 = 0xFFC6;

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

    /// The same with the watchdog held and the pins let go of.
    pub fn new() -> Self {
        let mut p = Self::bare();
        p.set(WDTCTL, 0x5A80).set(PM5CTL0, 0);
        p
    }

    /// MCLK = SMCLK = DCO at the given CSCTL1, undivided, with as many wait states.
    pub fn clocked(csctl1: u16, waits: u16) -> Self {
        let mut p = Self::new();
        p.set(FRCTL0, 0xA500 | waits << 4).set(CSCTL0, 0xA500).set(CSCTL3, 0).set(CSCTL1, csctl1);
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

    pub fn reti(&mut self) -> &mut Self {
        self.put(vec![asm::RETI])
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
        let mut m = fr5994();
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

pub fn fr5994() -> Machine {
    Machine::new(&Device::named("msp430fr5994").unwrap())
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

pub fn events(m: &Machine, name: &str) -> u64 {
    let id = m.vocabulary().find_event(name).expect("the machine can report it");
    m.ledger().events().find(|(e, _)| *e == id).map_or(0, |(_, n)| n)
}

/// The fault that a program ends in, as its sentence.
pub fn fault_of(p: &Program) -> String {
    let mut m = p.machine();
    let until = Until { cycles: Some(m.cycles() + 10_000_000), ..Until::default() };
    match m.run(&until, &mut Silent) {
        Stop::Fault(f) => f.to_string(),
        other => panic!("no fault but {other:?} at {:#07x}", m.pc()),
    }
}

/// Time in a state, in picoseconds, summed over operating points.
pub fn time_in(m: &Machine, component: &str, state: &str) -> u128 {
    let (v, l) = (m.vocabulary(), m.ledger());
    l.spans()
        .filter(|(k, _)| {
            v.component_name(k.component) == component && v.state_name(k.state) == state
        })
        .map(|(_, s)| s.time.0)
        .sum()
}
