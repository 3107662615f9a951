// SPDX-License-Identifier: MIT OR Apache-2.0
//! AES-128 and its modes as the 802.15.4 chips have them: CTR, CBC-MAC, CCM (RFC 3610, and CCM* of
//! IEEE Std 802.15.4-2006, annex B).

use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit};

pub(crate) type Block = [u8; 16];

pub(crate) struct Cipher {
    aes: Aes128,
    /// Blocks encrypted so far: what the time depends on.
    pub blocks: u32,
}

impl Cipher {
    pub fn new(key: &Block) -> Self {
        Self { aes: Aes128::new(key.into()), blocks: 0 }
    }

    pub fn encrypt(&mut self, block: &mut Block) {
        self.blocks += 1;
        self.aes.encrypt_block(block.into());
    }

    /// Xors the key stream that begins at `counter` over the data; the last two bytes count.
    pub fn ctr(&mut self, mut counter: Block, data: &mut [u8]) {
        for chunk in data.chunks_mut(16) {
            let mut stream = counter;
            self.encrypt(&mut stream);
            chunk.iter_mut().zip(stream).for_each(|(d, s)| *d ^= s);
            let n = u16::from_be_bytes([counter[14], counter[15]]).wrapping_add(1);
            counter[14..].copy_from_slice(&n.to_be_bytes());
        }
    }

    /// CBC-MAC over parts, each padded with zeros to whole blocks.
    pub fn cbc_mac(&mut self, parts: &[&[u8]]) -> Block {
        let mut x = [0; 16];
        for chunk in parts.iter().flat_map(|p| p.chunks(16)) {
            x.iter_mut().zip(chunk).for_each(|(x, c)| *x ^= c);
            self.encrypt(&mut x);
        }
        x
    }

    /// The authentication tag of CCM, not yet encrypted. `nonce` has thirteen bytes; `m` is the tag's length.
    fn ccm_tag(&mut self, flags: u8, nonce: &[u8], a: &[u8], data: &[u8]) -> Block {
        let mut b0 = [0; 16];
        b0[0] = flags;
        b0[1..14].copy_from_slice(nonce);
        b0[14..].copy_from_slice(&(data.len() as u16).to_be_bytes());
        let mut head = Vec::new();
        if !a.is_empty() {
            head.extend((a.len() as u16).to_be_bytes());
            head.extend(a);
        }
        self.cbc_mac(&[&b0, &head, data])
    }

    /// CCM: encrypts the data behind `head`, or decrypts them, and gives their authentication tag as it is sent.
    /// `m` is the tag's length as the flags have it.
    pub fn ccm(&mut self, n: &Nonce, m: u8, head: &[u8], data: &mut [u8], decrypt: bool) -> Block {
        let flags = n.0[0] >> 3 << 6 | m << 3 | n.0[0] & 7;
        if decrypt {
            self.ctr(n.counter(1), data);
        }
        let mut tag = self.ccm_tag(flags, &n.0[1..14], head, data);
        if !decrypt {
            self.ctr(n.counter(1), data);
        }
        self.ctr(n.counter(0), &mut tag);
        tag
    }
}

/// Nonce and flags of CTR and CCM, as a chip keeps both in one block.
pub(crate) struct Nonce(pub Block);

impl Nonce {
    fn ctr_flags(&self) -> u8 {
        self.0[0] >> 5 << 6 | self.0[0] & 7
    }

    /// The first counter block of CTR, from the counter in the block.
    pub fn first(&self) -> Block {
        self.counter(u16::from_be_bytes([self.0[14], self.0[15]]))
    }

    fn counter(&self, i: u16) -> Block {
        counter(self.ctr_flags(), &self.0[1..14], i)
    }
}

/// The counter block `i` of CCM.
fn counter(flags: u8, nonce: &[u8], i: u16) -> Block {
    let mut out = [0; 16];
    out[0] = flags;
    out[1..14].copy_from_slice(nonce);
    out[14..].copy_from_slice(&i.to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fips_197_appendix_c() {
        let key = std::array::from_fn(|i| i as u8);
        let mut block: Block = std::array::from_fn(|i| (i * 0x11) as u8);
        Cipher::new(&key).encrypt(&mut block);
        assert_eq!(block[..4], [0x69, 0xC4, 0xE0, 0xD8]);
        assert_eq!(block[12..], [0x70, 0xB4, 0xC5, 0x5A]);
    }

    #[test]
    fn rfc_3610_packet_vector_1() {
        let key: Block = std::array::from_fn(|i| 0xC0 + i as u8);
        let nonce = [0, 0, 0, 3, 2, 1, 0, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5];
        let a: Vec<u8> = (0..8).collect();
        let mut data: Vec<u8> = (8..0x1F).collect();
        let mut c = Cipher::new(&key);
        // M = 8, L = 2.
        let mut tag = c.ccm_tag(0x40 | 3 << 3 | 1, &nonce, &a, &data);
        c.ctr(counter(1, &nonce, 1), &mut data);
        c.ctr(counter(1, &nonce, 0), &mut tag[..8]);
        assert_eq!(
            data,
            [
                0x58, 0x8C, 0x97, 0x9A, 0x61, 0xC6, 0x63, 0xD2, 0xF0, 0x66, 0xD0, 0xC2, 0xC0, 0xF9,
                0x89, 0x80, 0x6D, 0x5F, 0x6B, 0x61, 0xDA, 0xC3, 0x84
            ]
        );
        assert_eq!(tag[..8], [0x17, 0xE8, 0xD1, 0x2C, 0xFD, 0xF9, 0x26, 0xE0]);
        assert_eq!(c.blocks, 1 + 1 + 2 + 2 + 1);
    }
}
