// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2420's security engine: a block alone, and frames in its FIFOs.

use sunseal_trace::Picos;

use super::{Chip, ram, reg};
use crate::chip::{RadioChip, micros};
use crate::security::{Block, Cipher, Nonce};

impl Chip {
    pub(super) fn key(&self, second: bool) -> Block {
        self.reversed(if second { ram::KEY1 } else { ram::KEY0 })
    }

    pub(super) fn busy(&mut self, now: Picos, cipher: &Cipher) {
        let time = micros(self.part.aes_block_us) * u64::from(cipher.blocks);
        self.busy_until = self.busy_until.max(now) + time;
    }

    pub(super) fn stand_alone(&mut self, now: Picos) {
        let i = usize::from(ram::SABUF - ram::KEY0);
        let mut block: Block = std::array::from_fn(|k| self.bank[i + k]);
        let mut cipher = Cipher::new(&self.key(self.reg(reg::SECCTRL0) & 0x80 != 0));
        cipher.encrypt(&mut block);
        self.bank[i..i + 16].copy_from_slice(&block);
        self.busy(now, &cipher);
    }

    /// Bytes of the message integrity code.
    pub(super) fn tag_bytes(&mut self) -> usize {
        let m = usize::from(self.reg(reg::SECCTRL0) >> 2 & 7);
        if m == 0 {
            self.misuse("SECCTRL0.SEC_M is 0, which is reserved; 1 to 7 are 4 to 16 bytes");
        }
        2 * (m + 1)
    }

    /// Runs the mode of SECCTRL0 over `body`, whose first `clear` bytes stay readable and whose last are
    /// the integrity code, if there is one. Decrypting, the code ends in 0x00 if it held, else in 0xFF.
    pub(super) fn secure(
        &mut self,
        now: Picos,
        clear: usize,
        second: bool,
        nonce: u16,
        body: &mut [u8],
        decrypt: bool,
    ) {
        let control = self.reg(reg::SECCTRL0);
        let nonce = Nonce(self.reversed(nonce));
        let mode = control & 3;
        let tag_bytes = if mode == 2 { 0 } else { self.tag_bytes() };
        let Some(end) = body.len().checked_sub(tag_bytes).filter(|end| *end >= clear) else {
            self.misuse("the frame is shorter than SEC_TXL or SEC_RXL and the integrity code say");
            return;
        };
        let mut cipher = Cipher::new(&self.key(second));
        let (head, rest) = body.split_at_mut(clear);
        let (data, tag) = rest.split_at_mut(end - clear);
        let expected = match mode {
            1 => {
                let length = [data.len() as u8];
                let first: &[u8] = if control & 0x100 != 0 { &length } else { &[] };
                Some(cipher.cbc_mac(&[&[first, data].concat()]))
            }
            2 => {
                cipher.ctr(nonce.first(), data);
                None
            }
            _ => Some(cipher.ccm(&nonce, (control >> 2 & 7) as u8, head, data, decrypt)),
        };
        if let Some(expected) = expected {
            if decrypt {
                let held = *tag == expected[..tag_bytes];
                if let Some(last) = tag.last_mut() {
                    *last = if held { 0x00 } else { 0xFF };
                }
            } else {
                tag.copy_from_slice(&expected[..tag_bytes]);
            }
        }
        self.busy(now, &cipher);
    }

    pub(super) fn fcs_bytes(&self) -> usize {
        if self.reg(reg::MDMCTRL0) & 0x20 != 0 { 2 } else { 0 }
    }

    pub(super) fn encrypt(&mut self, now: Picos) {
        let control = self.reg(reg::SECCTRL0);
        if control & 3 == 0 {
            return;
        }
        let clear = usize::from(self.reg(reg::SECCTRL1) >> 8 & 0x7F);
        let tag_bytes = if control & 3 == 2 { 0 } else { 2 * (usize::from(control >> 2 & 7) + 1) };
        let length = self.core.modem.tx.first().map_or(0, |l| usize::from(l & 0x7F));
        let Some(body_bytes) = length.checked_sub(self.fcs_bytes()).filter(|b| *b >= tag_bytes)
        else {
            self.misuse("in-line encryption began without a frame in the TXFIFO");
            return;
        };
        if self.core.modem.tx.len() < 1 + body_bytes - tag_bytes {
            self.unknown("in-line encryption began before the whole frame was in the TXFIFO");
            return;
        }
        let mut tx = std::mem::take(&mut self.core.modem.tx);
        tx.resize(1 + body_bytes, 0);
        self.secure(now, clear, control & 0x40 != 0, ram::TXNONCE, &mut tx[1..], false);
        self.core.modem.tx = tx;
    }

    pub(super) fn decrypt(&mut self, now: Picos) {
        let control = self.reg(reg::SECCTRL0);
        if control & 3 == 0 {
            return;
        }
        let Some((start, end)) = self.core.modem.rx.frame() else {
            self.unknown("SRXDEC was strobed without a whole frame in the RXFIFO");
            return;
        };
        let clear = usize::from(self.reg(reg::SECCTRL1) & 0x7F);
        let last = end.saturating_sub(2).max(start + 1);
        let mut body: Vec<u8> = (start + 1..last).map(|p| self.core.modem.rx.at(p)).collect();
        self.secure(now, clear, control & 0x20 != 0, ram::RXNONCE, &mut body, true);
        for (p, byte) in (start + 1..last).zip(body) {
            self.core.modem.rx.set(p, byte);
        }
        self.rx_held = true;
    }
}
