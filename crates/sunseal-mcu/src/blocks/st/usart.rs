// SPDX-License-Identifier: MIT OR Apache-2.0
//! USART as a UART (RM0351 chapter 40): asynchronous, both ways, 7 to 9 bits with or without parity; and LPUART1, which
//! differs in its divider, and wakes from Stop (chapter 41).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::usart::*;
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::blocks::serial::{Incoming, Sampling};
use crate::clock::Line;

const CR1_KNOWN: u32 = USART_CR1_UE
    | USART_CR1_RE
    | USART_CR1_TE
    | USART_CR1_RXNEIE
    | USART_CR1_TCIE
    | USART_CR1_TXEIE
    | USART_CR1_PS
    | USART_CR1_PCE
    | USART_CR1_M0
    | USART_CR1_OVER8
    | USART_CR1_M1
    | 1 << 4
    | 1 << 8;
/// EIE and ONEBIT, which noise alone would matter to.
const CR3_KNOWN: u32 = 1 | 1 << 11 | USART_CR3_OVRDIS | USART_CR3_DMAR | USART_CR3_DMAT;
/// WUS and WUFIE, of LPUART1: what wakes from Stop.
const CR3_WAKES: u32 = 7 << 20;
/// WUS of "RXNE is set", the one that is modelled.
const WAKES_BY_BYTE: u32 = 3 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usart {
    low_power: bool,
    cr1: u32,
    cr2: u32,
    cr3: u32,
    brr: u32,
    rtor: u32,
    gtpr: u32,
    rdr: u16,
    /// FE, ORE, RXNE and TC.
    flags: u32,
    tdr: Option<u16>,
    /// What is on its way out, and when its last bit ends.
    shifting: Option<(u16, u128)>,
    /// An idle frame goes out first, until then.
    idle_until: u128,
    pub coming: Incoming,
    clock: Line,
}

impl Usart {
    pub fn new() -> Self {
        Self { flags: USART_ISR_TC, ..Self::default() }
    }

    pub fn low_power() -> Self {
        Self { low_power: true, ..Self::new() }
    }

    pub fn reset(&mut self) {
        let coming = std::mem::take(&mut self.coming);
        *self = Self { coming, clock: self.clock, low_power: self.low_power, ..Self::new() };
    }

    fn on(&self, side: u32) -> bool {
        self.cr1 & (USART_CR1_UE | side) == USART_CR1_UE | side
    }

    /// Bits between start and stop bit, parity's with them.
    fn word_bits(&self) -> u32 {
        if self.cr1 & USART_CR1_M1 != 0 {
            7
        } else if self.cr1 & USART_CR1_M0 != 0 {
            9
        } else {
            8
        }
    }

    /// Kernel clock ticks of 256 bits.
    fn many_bits_ticks(&self) -> u64 {
        let (over8, brr) = (self.cr1 & USART_CR1_OVER8 != 0, u64::from(self.brr));
        match (self.low_power, over8) {
            (true, _) => brr,
            (false, true) => 128 * (brr & 0xFFF0 | (brr & 7) << 1),
            (false, false) => 256 * brr,
        }
    }

    /// A request of DMA, to receive or to send.
    pub fn requests(&self, receive: bool) -> bool {
        let (on, side, flag) = if receive {
            (USART_CR3_DMAR, USART_CR1_RE, USART_ISR_RXNE)
        } else {
            (USART_CR3_DMAT, USART_CR1_TE, USART_ISR_TXE)
        };
        self.cr3 & on != 0 && self.on(side) && self.isr() & flag != 0
    }

    /// LPUART1 is set to end a Stop mode by a byte.
    pub fn wakes(&self) -> bool {
        self.cr1 & USART_CR1_UESM != 0 && self.on(USART_CR1_RE)
    }

    /// Kernel clock ticks of a frame: start bit, data with parity, stop bits.
    fn frame_ticks(&self) -> u64 {
        // Halves of bits.
        let stop = [2, 1, 4, 3][(self.cr2 >> 12 & 3) as usize];
        let halves: u64 = 2 + 2 * u64::from(self.word_bits()) + stop;
        (halves * self.many_bits_ticks()).div_ceil(512)
    }

    /// Duration of a bit at the rate that is set.
    pub fn bit_ps(&self) -> u128 {
        self.clock.lasting(self.many_bits_ticks()).unwrap_or(0) / 256
    }

    /// Begins the next frame, if there is one.
    fn go_on(&mut self, now: Picos) {
        if self.shifting.is_some() || !self.on(USART_CR1_TE) {
            return;
        }
        if let Some(word) = self.tdr.take() {
            let start = Picos(now.0.max(self.idle_until));
            let tick = self.clock.tick_not_before(start);
            let end = self.clock.time_of(tick + self.frame_ticks());
            self.shifting = Some((word, end.0));
        }
    }

    /// The byte whose last bit has left by `t`, and when.
    pub fn sent(&mut self, t: Picos) -> Option<(u8, Picos)> {
        let (word, end) = self.shifting.take_if(|(_, end)| *end <= t.0)?;
        self.go_on(Picos(end));
        if self.shifting.is_none() {
            self.flags |= USART_ISR_TC;
        }
        // With parity its bit is the highest of the word.
        let bits = if self.cr1 & USART_CR1_M1 != 0 { 7 } else { 8 };
        let data = if self.cr1 & (USART_CR1_PCE | USART_CR1_M0) == USART_CR1_PCE {
            bits - 1
        } else {
            bits
        };
        Some((word as u8 & (0xFF >> (8 - data.min(8))), Picos(end)))
    }

    /// A frame is on its way out.
    pub fn is_sending(&self) -> bool {
        self.shifting.is_some()
    }

    /// A byte that arrives, its last bit ending at `time`.
    pub fn uart_in(&mut self, time: Picos, byte: u8, bit_ps: u128) {
        self.coming.push(time, byte, bit_ps);
    }

    fn check(&self, cx: &Cx<'_>) -> Result<(), Fault> {
        if self.cr1 & USART_CR1_UE != 0
            && self.cr1 & (USART_CR1_TE | USART_CR1_RE) != 0
            && self.brr < if self.low_power { 0x300 } else { 16 }
        {
            return Err(cx.refuse(if self.low_power {
                "LPUART_BRR must be 0x300 or more before UE, TE or RE is set"
            } else {
                "USART_BRR must be 16 or more before UE, TE or RE is set"
            }));
        }
        if self.cr1 & USART_CR1_UE != 0 && self.cr1 & USART_CR1_TE != 0 && !self.clock.is_running()
        {
            return Err(cx.refuse(
                "the USART's kernel clock is off; RCC_CCIPR chooses it, and its oscillator must run",
            ));
        }
        Ok(())
    }

    fn write_cr1(&mut self, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let new = merge(self.cr1, value, mask);
        let what = "receiver time-outs, wake-up from Stop, mute mode and driver enable of the USART are not modelled";
        let known = if self.low_power { USART_CR1_UESM & !USART_CR1_OVER8 } else { 0 };
        only(new, CR1_KNOWN | known, what, cx)?;
        let began = new & !self.cr1 & (USART_CR1_UE | USART_CR1_TE) != 0;
        self.cr1 = new;
        self.check(cx)?;
        if began && self.on(USART_CR1_TE) {
            self.idle_until =
                self.clock.time_of(self.clock.ticks_at(cx.now) + self.frame_ticks()).0;
        }
        if new & USART_CR1_UE == 0 {
            // Off, it forgets what is on its way.
            (self.tdr, self.shifting, self.flags) = (None, None, USART_ISR_TC);
        }
        self.go_on(cx.now);
        Ok(())
    }

    fn write_tdr(&mut self, value: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        if !self.on(USART_CR1_TE) {
            return Err(cx.refuse(
                "USART_TDR written while the transmitter is off; set USART_CR1.UE and TE first",
            ));
        }
        self.flags &= !USART_ISR_TC;
        self.tdr = Some(value as u16 & 0x1FF);
        self.go_on(cx.now);
        Ok(())
    }

    fn isr(&self) -> u32 {
        self.flags
            | if self.tdr.is_none() { USART_ISR_TXE } else { 0 }
            | if self.on(USART_CR1_TE) { USART_ISR_TEACK } else { 0 }
            | if self.on(USART_CR1_RE) { USART_ISR_REACK } else { 0 }
    }
}

impl Block<Stm32> for Usart {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            USART_CR1 => self.cr1,
            USART_CR2 => self.cr2,
            USART_CR3 => self.cr3,
            USART_BRR => self.brr,
            USART_GTPR | USART_RTOR if self.low_power => return Err(cx.no_register()),
            USART_GTPR => self.gtpr,
            USART_RTOR => self.rtor,
            USART_RQR | USART_ICR => 0,
            USART_ISR => self.isr() & !USART_ISR_BUSY,
            USART_RDR => {
                self.flags &= !USART_ISR_RXNE;
                self.rdr.into()
            }
            USART_TDR => self.tdr.unwrap_or(0).into(),
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let bits = value & mask;
        let off_only = |usart: &Self, cx: &Cx<'_>| match usart.cr1 & USART_CR1_UE {
            0 => Ok(()),
            _ => Err(
                cx.refuse("this register of the USART is written only while USART_CR1.UE is clear")
            ),
        };
        match off {
            USART_CR1 => self.write_cr1(value, mask, cx)?,
            USART_CR2 => {
                off_only(self, cx)?;
                self.cr2 = merge(self.cr2, value, mask);
                let what = "synchronous mode, LIN, inverted or swapped pins, automatic baud rates and time-outs of the USART are not modelled";
                only(self.cr2, USART_CR2_STOP, what, cx)?;
            }
            USART_CR3 => {
                self.cr3 = merge(self.cr3, value, mask);
                let what =
                    "IrDA, smartcards, half duplex and flow control of the USART are not modelled";
                let known = if self.low_power { CR3_WAKES } else { 0 };
                only(self.cr3, CR3_KNOWN | known, what, cx)?;
                if self.wakes() && self.cr3 & WAKES_BY_BYTE != WAKES_BY_BYTE {
                    return Err(cx.refuse(
                        "of what wakes LPUART1 from Stop, a received byte is modelled (WUS = 3)",
                    ));
                }
            }
            USART_BRR => {
                off_only(self, cx)?;
                self.brr =
                    merge(self.brr, value, mask) & if self.low_power { 0xF_FFFF } else { 0xFFFF };
            }
            USART_GTPR | USART_RTOR if self.low_power => return Err(cx.no_register()),
            USART_GTPR => self.gtpr = merge(self.gtpr, value, mask) & 0xFFFF,
            USART_RTOR => self.rtor = merge(self.rtor, value, mask),
            USART_RQR => {
                only(bits, 1 << 3, "of USART_RQR only RXFRQ is modelled", cx)?;
                if bits & 1 << 3 != 0 {
                    self.flags &= !USART_ISR_RXNE;
                }
            }
            USART_ISR => {}
            USART_ICR => self.flags &= !(bits & (USART_ISR_FE | USART_ISR_ORE | USART_ISR_TC)),
            USART_TDR => self.write_tdr(bits, cx)?,
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, _: Picos) {
        self.clock = *clock;
    }

    fn due(&self, _: &()) -> Option<Picos> {
        let sent = self.shifting.map(|(_, end)| end);
        sent.into_iter().chain(self.coming.due()).min().map(Picos)
    }

    /// Bytes that have arrived.
    fn advance(&mut self, _: &(), t: Picos) {
        let on = self.on(USART_CR1_RE) && self.clock.is_running();
        let parity = u32::from(self.cr1 & USART_CR1_PCE != 0);
        let data = self.word_bits().min(8 + parity) - parity;
        let bit_ps = self.bit_ps();
        self.coming.listen(t, (on && bit_ps != 0).then_some(Sampling { bit_ps, data, parity }));
        while let Some(received) = self.coming.take(t) {
            if !on {
                continue;
            }
            let byte = received.byte;
            if received.misframed {
                self.flags |= USART_ISR_FE;
            }
            if self.flags & USART_ISR_RXNE == 0 {
                self.rdr = byte.into();
                self.flags |= USART_ISR_RXNE;
            } else if self.cr3 & USART_CR3_OVRDIS != 0 {
                self.rdr = byte.into();
            } else {
                self.flags |= USART_ISR_ORE;
                self.coming.overran = true;
            }
        }
    }

    fn asks(&mut self) -> u32 {
        let isr = self.isr();
        let asks = self.cr1 & USART_CR1_RXNEIE != 0 && isr & (USART_ISR_RXNE | USART_ISR_ORE) != 0
            || self.cr1 & USART_CR1_TCIE != 0 && isr & USART_ISR_TC != 0
            || self.cr1 & USART_CR1_TXEIE != 0 && isr & USART_ISR_TXE != 0;
        asks.into()
    }

    fn may_ask(&self, _: &()) -> bool {
        self.cr1 & (USART_CR1_TCIE | USART_CR1_TXEIE) != 0 && self.shifting.is_some()
            || self.on(USART_CR1_RE)
                && self.cr1 & USART_CR1_RXNEIE != 0
                && self.coming.due().is_some()
    }
}
