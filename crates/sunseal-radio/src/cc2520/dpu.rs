// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data processing unit: AES and its modes, copies, counters.

use sunseal_trace::Picos;

use super::map::*;
use super::{Chip, Job};
use crate::chip::{RadioChip, micros};
use crate::security::{Block, Cipher, Nonce};

impl Chip {
    pub(super) fn start_job(&mut self, now: Picos, i: &[u8]) {
        let priority = usize::from(i[0] & 1);
        if self.jobs[priority].is_some() {
            self.raise(exception::USAGE_ERROR);
            return;
        }
        let block = micros(self.part.aes_block_us);
        let step = micros(self.part.move_byte_us);
        let blocks = |bytes: u8| u64::from(bytes & 0x7F).div_ceil(16);
        let time = match i[0] & 0xFE {
            0x60 => block * blocks(i[2]),
            0x64 | 0x66 => block * (1 + blocks(i[2])),
            0x68 | 0x6A => {
                let a =
                    if i[7] & 0x7F == 0 { 0 } else { (u64::from(i[7] & 0x7F) + 2).div_ceil(16) };
                block * (2 + a + 2 * blocks(i[2]))
            }
            0x70..=0x77 => block,
            0x78 => step * 16,
            _ => step * u64::from(i[1]),
        };
        let behind = self.jobs[1 - priority].as_ref().map_or(now, |j| j.until.max(now));
        // The high one goes first.
        let start = if priority == 1 { now } else { behind };
        self.jobs[priority] = Some(Job { until: start + time.max(step), bytes: i.to_vec() });
    }

    pub(super) fn reversed(&mut self, address: u16) -> Block {
        std::array::from_fn(|k| self.read(address + 15 - k as u16))
    }

    pub(super) fn fetch(&mut self, address: u16, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|k| self.read(address + k as u16)).collect()
    }

    pub(super) fn store(&mut self, address: u16, data: &[u8]) {
        let now = self.core.now;
        for (k, b) in data.iter().enumerate() {
            self.write(now, address + k as u16, *b);
        }
    }

    pub(super) fn perform(&mut self, priority: usize, i: &[u8]) {
        let pair = |at: usize| {
            (
                u16::from(i[at] >> 4) << 8 | u16::from(i[at + 1]),
                u16::from(i[at] & 0x0F) << 8 | u16::from(i[at + 2]),
            )
        };
        let single = |at: usize| u16::from(i[at] & 0x0F) << 8 | u16::from(i[at + 1]);
        let count = |at: usize| usize::from(i[at] & 0x7F);
        match i[0] & 0xFE {
            0x32 => {
                let (bytes, to) = (usize::from(i[1]), single(2));
                if self.core.modem.rx.len() < bytes {
                    self.unknown(
                        "RXBUFMOV asked for more bytes than the RX FIFO holds (it waits for them)",
                    );
                    return;
                }
                let data: Vec<u8> = (0..bytes).map(|_| self.take_rx()).collect();
                self.store(to, &data);
            }
            0x3E => {
                let data = self.fetch(single(2), usize::from(i[1]));
                data.into_iter().for_each(|b| self.put_tx(b));
            }
            0x50 | 0x52 | 0x54 => {
                let (a, e) = pair(2);
                let mut data = self.fetch(a, usize::from(i[1]));
                match i[0] & 0xFE {
                    0x52 => data.reverse(),
                    0x54 => {
                        let old = self.fetch(e, data.len());
                        data.iter_mut().zip(old).for_each(|(d, o)| *d ^= o);
                    }
                    _ => {}
                }
                self.store(e, &data);
            }
            0x60 => {
                let (a, e) = pair(4);
                let (key, n) =
                    (self.reversed(u16::from(i[1]) << 4), self.reversed(u16::from(i[3]) << 4));
                let mut data = self.fetch(a, count(2));
                Cipher::new(&key).ctr(Nonce(n).first(), &mut data);
                self.store(or_there(e, a), &data);
            }
            0x64 => self.cbc_mac(priority, i, pair(3), false),
            0x66 => self.cbc_mac(priority, i, (single(3), 0), true),
            0x68 | 0x6A => self.ccm(priority, i, pair(4)),
            0x70 | 0x74 => self.ecb(i, single(2), single(4)),
            0x72 | 0x76 => self.ecb(i, single(2), single(2)),
            _ => self.increment(single(1), 1 << (i[1] >> 4 & 3)),
        }
    }

    /// CBCMAC and UCBCMAC, with the tag behind the data or at `e`.
    fn cbc_mac(&mut self, priority: usize, i: &[u8], (a, e): (u16, u16), verify: bool) {
        let tag_bytes = tag_bytes(i[if verify { 5 } else { 6 }]);
        let (bytes, key) = (usize::from(i[2] & 0x7F), self.reversed(u16::from(i[1]) << 4));
        let data = self.fetch(a, bytes);
        let tag = Cipher::new(&key).cbc_mac(&[&data]);
        if verify {
            let given = self.fetch(a + bytes as u16, tag_bytes);
            self.authentic[priority] = given == tag[..tag_bytes];
        } else {
            self.store(or_there(e, a + bytes as u16), &tag[..tag_bytes]);
        }
    }

    /// ECB and what puts the block elsewhere or combines it with what is there.
    fn ecb(&mut self, i: &[u8], a: u16, e: u16) {
        if i[2] >> 4 != 0 {
            self.unknown("ECB with C other than 0 (a shortened block)");
            return;
        }
        let key = self.reversed(u16::from(i[1]) << 4);
        let mut block: Block = std::array::from_fn(|k| self.read(a + k as u16));
        Cipher::new(&key).encrypt(&mut block);
        if i[0] & 4 != 0 {
            let old = self.fetch(e, 16);
            block.iter_mut().zip(old).for_each(|(b, o)| *b ^= o);
        }
        self.store(or_there(e, a), &block);
    }

    /// INC: a number of 1, 2, 4 or 8 bytes, least significant first.
    fn increment(&mut self, a: u16, bytes: usize) {
        let mut number = self.fetch(a, bytes);
        for b in &mut number {
            *b = b.wrapping_add(1);
            if *b != 0 {
                break;
            }
        }
        self.store(a, &number);
    }

    pub(super) fn ccm(&mut self, priority: usize, i: &[u8], (a, e): (u16, u16)) {
        let verify = i[0] & 2 != 0;
        let (clear, bytes) = (usize::from(i[7] & 0x7F), usize::from(i[2] & 0x7F));
        let tag_len = tag_bytes(i[8]);
        if usize::from(a) + clear + bytes + tag_len > usize::from(ram::END) {
            self.raise(exception::OPERAND_ERROR);
            return;
        }
        let (key, n) = (self.reversed(u16::from(i[1]) << 4), self.reversed(u16::from(i[3]) << 4));
        let m = match tag_len {
            0 => 0,
            len => (len as u8 - 2) / 2,
        };
        let head = self.fetch(a, clear);
        let mut data = self.fetch(a + clear as u16, bytes);
        let tag = Cipher::new(&key).ccm(&Nonce(n), m, &head, &mut data, verify);
        let body = a + clear as u16;
        if verify {
            let given = self.fetch(body + bytes as u16, tag_len);
            self.authentic[priority] = given == tag[..tag_len];
            self.store(if e == 0 { body } else { e }, &data);
        } else {
            let to = if e == 0 { body } else { e };
            self.store(to, &data);
            self.store(to + bytes as u16, &tag[..tag_len]);
        }
    }
}

/// Bytes of the integrity code by the parameter M of CBCMAC and CCM.
fn tag_bytes(m: u8) -> usize {
    [0, 4, 8, 16][usize::from(m & 3)]
}

/// The second address of an instruction, or the other where it is 0.
fn or_there(e: u16, a: u16) -> u16 {
    if e == 0 { a } else { e }
}
