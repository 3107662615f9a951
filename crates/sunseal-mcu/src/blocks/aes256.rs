// SPDX-License-Identifier: MIT OR Apache-2.0
//! AES256 accelerator of the FR5xx and the MSP432 (SLAU367P, AES256 chapter): state, key and data
//! registers by byte and word, cipher modes with DMA triggers. A block takes its MCLK cycles; what
//! comes out is computed when they are over.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::aes256::*;
use sunseal_trace::Picos;

use super::{Block, Ctx, Reset, merge};
use crate::accounts::Event;
use crate::blocks::follow::{Follow, Mix};
use crate::clock::Clocks;
use crate::device::Aes;

const CTL0: u16 = AESOP | AESKL | AESCM | AESRDYIFG | AESERRFG | AESRDYIE | AESCMEN;
/// Bits that cannot change while a block is worked on or blocks are still to come.
const LOCKED: u16 = AESOP | AESKL | AESCM | AESCMEN;

/// MCLK cycles by AESOPx, each for keys of 128, 192 and 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct AesCycles {
    encrypt: [u16; 3],
    decrypt: [u16; 3],
    round_key: [u16; 3],
    decrypt_round_key: [u16; 3],
}

impl From<&Aes> for AesCycles {
    fn from(facts: &Aes) -> Self {
        Self {
            encrypt: facts.encrypt_cycles,
            decrypt: facts.decrypt_cycles,
            round_key: facts.round_key_cycles,
            decrypt_round_key: facts.decrypt_round_key_cycles,
        }
    }
}

/// What a run of the cipher is booked as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AesRun {
    Encrypt,
    Decrypt,
    RoundKey,
}

/// What the next DMA transfers bring or fetch, in cipher mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    #[default]
    Idle,
    /// Trigger so, until a block has gone in (false) or out (true).
    Trigger(u8, bool),
    Running,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Aes256 {
    cycles: AesCycles,
    ctl0: u16,
    ctl1: u16,
    stat: u16,
    key: [u8; 32],
    /// The last round key of the schedule, from which AESOPx = 3 decrypts.
    last_round_key: [u8; 32],
    state: [u8; 16],
    key_count: u8,
    in_count: u8,
    out_count: u8,
    /// When the block that is being worked on is done.
    done_ps: Option<u128>,
    phase: Phase,
}

impl Aes256 {
    pub fn new(facts: &Aes) -> Self {
        Self::with(facts.into())
    }

    fn with(cycles: AesCycles) -> Self {
        Self { cycles, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self::with(self.cycles);
    }

    /// AESSWRST: everything but AESRDYIE and the key length returns; the key memory is forgotten.
    fn software_reset(&mut self) {
        let keep = self.ctl0 & (AESRDYIE | AESOP | AESKL | AESCM | AESCMEN);
        self.reset();
        self.ctl0 = keep;
    }

    fn key_length(&self) -> usize {
        usize::from((self.ctl0 & AESKL) >> 2).min(2)
    }

    fn key_bytes(&self) -> usize {
        16 + 8 * self.key_length()
    }

    fn op(&self) -> u16 {
        self.ctl0 & AESOP
    }

    /// Cipher mode runs: AESCMEN and blocks to come.
    fn in_mode(&self) -> bool {
        self.ctl0 & AESCMEN != 0 && self.ctl1 & 0xFF != 0
    }

    pub fn busy(&self) -> bool {
        self.done_ps.is_some()
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.done_ps.filter(|t| *t != u128::MAX).map(Picos)
    }

    /// Whether its interrupt is enabled.
    pub fn enabled(&self) -> bool {
        self.ctl0 & AESRDYIE != 0
    }

    pub fn pending(&self) -> bool {
        self.ctl0 & (AESRDYIE | AESRDYIFG) == AESRDYIE | AESRDYIFG
    }

    /// The level of DMA trigger `n` (0 to 2).
    pub fn dma_trigger(&self, n: u8) -> bool {
        matches!(self.phase, Phase::Trigger(t, _) if t == n)
    }

    fn begin(&mut self, cx: &mut Ctx<'_>) {
        let l = self.key_length();
        // In OFB and CFB the block cipher runs forward whatever AESOPx says.
        let forward = self.ctl0 & AESCMEN != 0 && self.ctl0 & AESCM >= 0x40 && self.op() != 2;
        let (run, cycles) = match self.op() {
            _ if forward => (AesRun::Encrypt, self.cycles.encrypt[l]),
            0 => (AesRun::Encrypt, self.cycles.encrypt[l]),
            1 => (AesRun::Decrypt, self.cycles.decrypt[l]),
            2 => (AesRun::RoundKey, self.cycles.round_key[l]),
            _ => (AesRun::Decrypt, self.cycles.decrypt_round_key[l]),
        };
        match run {
            AesRun::Encrypt => cipher::encrypt(&self.key[..self.key_bytes()], &mut self.state),
            AesRun::Decrypt if self.op() == 3 => {
                let key = cipher::first_key(&self.last_round_key, self.key_bytes());
                cipher::decrypt(&key[..self.key_bytes()], &mut self.state);
            }
            AesRun::Decrypt => cipher::decrypt(&self.key[..self.key_bytes()], &mut self.state),
            AesRun::RoundKey => {
                self.last_round_key = cipher::last_key(&self.key[..self.key_bytes()]);
            }
        }
        cx.accounts.count(match run {
            AesRun::Encrypt => Event::AesEncrypt,
            AesRun::Decrypt => Event::AesDecrypt,
            AesRun::RoundKey => Event::AesRoundKey,
        });
        self.done_ps = Some(cx.clocks.mclk.time_of(cx.at + u64::from(cycles)).0);
        self.stat = (self.stat & !(AESDINWR | AESDOUTRD)) | AESBUSY;
        (self.in_count, self.out_count) = (0, 0);
        if self.in_mode() {
            self.phase = Phase::Running;
        }
    }

    /// Begins if a key is there and the data were written.
    fn begin_if_ready(&mut self, cx: &mut Ctx<'_>) {
        let ready = match self.op() {
            2 => self.stat & AESKEYWR != 0,
            3 => self.stat & AESDINWR != 0,
            _ => self.stat & (AESKEYWR | AESDINWR) == AESKEYWR | AESDINWR,
        };
        if ready && !self.busy() {
            self.begin(cx);
        }
    }

    /// The block is done, if its time has come.
    pub fn event(&mut self, now: Picos) {
        if self.done_ps.take_if(|t| *t <= now.0).is_none() {
            return;
        }
        self.stat &= !AESBUSY;
        if self.in_mode() {
            let writes_first = match self.ctl0 & AESCM {
                0x20 => self.op() != 0,
                0x40 | 0x60 => true,
                _ => false,
            };
            self.phase = Phase::Trigger(0, !writes_first);
        } else {
            self.ctl0 |= AESRDYIFG;
        }
    }

    /// A whole block went in (false) or out (true) while cipher mode runs.
    fn block_moved(&mut self, out: bool, cx: &mut Ctx<'_>) {
        let Phase::Trigger(n, wants) = self.phase else { return };
        if wants != out {
            return;
        }
        // The trigger that fetches what is done, and the one that brings the next block.
        let (fetch, bring) = match (self.ctl0 & AESCM, self.op()) {
            (0x00, _) | (0x20, 0) => (0, Some(1)),
            (0x60, 0) => (1, None),
            _ => (1, Some(2)),
        };
        if n < fetch {
            self.phase = Phase::Trigger(fetch, true);
        } else if n == fetch {
            self.ctl1 -= 1;
            if self.ctl1 == 0 {
                self.phase = Phase::Idle;
                self.ctl0 |= AESRDYIFG;
            } else if let Some(bring) = bring {
                self.phase = Phase::Trigger(bring, false);
            } else {
                self.begin(cx);
            }
        }
    }

    /// AESBLKCNT was written: the first block is asked for, where DMA brings it.
    fn start_mode(&mut self) {
        self.phase = match (self.ctl0 & AESCM, self.op()) {
            _ if !self.in_mode() => Phase::Idle,
            (0x00, _) | (0x20, 0) => Phase::Trigger(1, false),
            (0x20, _) => Phase::Trigger(2, false),
            _ => Phase::Idle,
        };
    }

    fn read_out(&mut self, mask: u16, cx: &mut Ctx<'_>) -> u16 {
        if self.busy() {
            self.fail();
            return 0;
        }
        self.ctl0 &= !AESRDYIFG;
        let mut value = 0;
        for i in 0..2 {
            if mask >> (8 * i) & 0xFF != 0 {
                value |= u16::from(self.state[usize::from(self.out_count & 15)]) << (8 * i);
                self.out_count += 1;
            }
        }
        if self.out_count >= 16 {
            self.out_count = 0;
            self.stat |= AESDOUTRD;
            self.block_moved(true, cx);
        }
        value
    }

    /// A register was used while a block is worked on.
    fn fail(&mut self) {
        self.ctl0 |= AESERRFG;
    }

    fn write_key(&mut self, bytes: &[u8]) {
        if self.stat & AESKEYWR != 0 || self.key_count == 0 {
            self.stat &= !AESKEYWR;
            self.key_count = 0;
        }
        for &b in bytes {
            self.key[usize::from(self.key_count) % self.key_bytes()] = b;
            self.key_count += 1;
        }
        if usize::from(self.key_count) >= self.key_bytes() {
            self.key_count = 0;
            self.stat |= AESKEYWR;
            if self.op() == 3 {
                // The key that is written here is a last round key already.
                self.last_round_key = self.key;
            }
        }
    }

    fn write_data(&mut self, bytes: &[u8], xor: bool, starts: bool, cx: &mut Ctx<'_>) {
        if self.in_count == 0 {
            self.stat &= !(AESDINWR | AESDOUTRD);
            self.out_count = 0;
        }
        for &b in bytes {
            let cell = &mut self.state[usize::from(self.in_count & 15)];
            *cell = if xor { *cell ^ b } else { b };
            self.in_count += 1;
        }
        if self.in_count >= 16 {
            self.in_count = 0;
            if starts {
                self.stat |= AESDINWR;
                self.begin_if_ready(cx);
            } else {
                self.block_moved(false, cx);
            }
        }
    }
}

/// The cipher itself (FIPS 197).
mod cipher {
    const fn xtime(a: u8) -> u8 {
        (a << 1) ^ (if a & 0x80 != 0 { 0x1B } else { 0 })
    }

    const fn mul(mut a: u8, mut b: u8) -> u8 {
        let mut r = 0;
        while b != 0 {
            if b & 1 != 0 {
                r ^= a;
            }
            a = xtime(a);
            b >>= 1;
        }
        r
    }

    /// The S-box: the inverse in GF(2^8) under an affine map.
    const SBOX: [u8; 256] = {
        let mut t = [0u8; 256];
        let (mut p, mut q) = (1u8, 1u8);
        loop {
            // p runs through all but 0 as powers of 3, q through their inverses.
            p = p ^ xtime(p);
            q ^= q << 1;
            q ^= q << 2;
            q ^= q << 4;
            if q & 0x80 != 0 {
                q ^= 0x09;
            }
            t[p as usize] = q
                ^ q.rotate_left(1)
                ^ q.rotate_left(2)
                ^ q.rotate_left(3)
                ^ q.rotate_left(4)
                ^ 0x63;
            if p == 1 {
                break;
            }
        }
        t[0] = 0x63;
        t
    };

    const INVERSE: [u8; 256] = {
        let mut t = [0u8; 256];
        let mut i = 0;
        while i < 256 {
            t[SBOX[i] as usize] = i as u8;
            i += 1;
        }
        t
    };

    type Word = [u8; 4];

    fn xor(a: Word, b: Word) -> Word {
        std::array::from_fn(|i| a[i] ^ b[i])
    }

    /// What word `i` of the schedule takes from the word before it.
    fn from_before(i: usize, words: usize, before: Word) -> Word {
        let substitute = |w: Word| w.map(|b| SBOX[usize::from(b)]);
        if i.is_multiple_of(words) {
            let mut w = substitute([before[1], before[2], before[3], before[0]]);
            let mut round = 1;
            for _ in 1..i / words {
                round = xtime(round);
            }
            w[0] ^= round;
            w
        } else if words > 6 && i % words == 4 {
            substitute(before)
        } else {
            before
        }
    }

    fn rounds(key_bytes: usize) -> usize {
        6 + key_bytes / 4
    }

    fn expand(key: &[u8]) -> Vec<Word> {
        let words = key.len() / 4;
        let mut w: Vec<Word> =
            key.chunks(4).map(|c| c.try_into().expect("a key is whole words")).collect();
        for i in words..4 * (rounds(key.len()) + 1) {
            w.push(xor(w[i - words], from_before(i, words, w[i - 1])));
        }
        w
    }

    /// As many words as the key has, from the end of its schedule.
    pub fn last_key(key: &[u8]) -> [u8; 32] {
        let w = expand(key);
        let mut out = [0; 32];
        for (to, from) in out.chunks_mut(4).zip(&w[w.len() - key.len() / 4..]) {
            to.copy_from_slice(from);
        }
        out
    }

    /// The key whose schedule ends in `last`.
    pub fn first_key(last: &[u8; 32], key_bytes: usize) -> [u8; 32] {
        let words = key_bytes / 4;
        let total = 4 * (rounds(key_bytes) + 1);
        let mut w = vec![[0u8; 4]; total];
        for (to, from) in w[total - words..].iter_mut().zip(last.chunks(4)) {
            to.copy_from_slice(from);
        }
        for i in (words..total).rev() {
            w[i - words] = xor(w[i], from_before(i, words, w[i - 1]));
        }
        let mut out = [0; 32];
        for (to, from) in out.chunks_mut(4).zip(&w[..words]) {
            to.copy_from_slice(from);
        }
        out
    }

    fn add(state: &mut [u8; 16], key: &[Word]) {
        for (cell, k) in state.iter_mut().zip(key.iter().flatten()) {
            *cell ^= k;
        }
    }

    fn mix(state: &mut [u8; 16], by: [u8; 4]) {
        for column in state.chunks_mut(4) {
            let c: Word = column.try_into().expect("a column has four cells");
            for (i, cell) in column.iter_mut().enumerate() {
                *cell = (0..4).fold(0, |sum, j| sum ^ mul(c[j], by[(4 + j - i) % 4]));
            }
        }
    }

    fn shift(state: &mut [u8; 16], by: usize) {
        let old = *state;
        for (i, cell) in state.iter_mut().enumerate() {
            *cell = old[(i + by * 4 * (i % 4)) % 16];
        }
    }

    pub fn encrypt(key: &[u8], state: &mut [u8; 16]) {
        let w = expand(key);
        let last = rounds(key.len());
        add(state, &w[..4]);
        for round in 1..=last {
            state.iter_mut().for_each(|c| *c = SBOX[usize::from(*c)]);
            shift(state, 1);
            if round != last {
                mix(state, [2, 3, 1, 1]);
            }
            add(state, &w[4 * round..4 * round + 4]);
        }
    }

    pub fn decrypt(key: &[u8], state: &mut [u8; 16]) {
        let w = expand(key);
        let last = rounds(key.len());
        for round in (1..=last).rev() {
            add(state, &w[4 * round..4 * round + 4]);
            if round != last {
                mix(state, [14, 11, 13, 9]);
            }
            shift(state, 3);
            state.iter_mut().for_each(|c| *c = INVERSE[usize::from(*c)]);
        }
        add(state, &w[..4]);
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// FIPS 197, appendix C.
        #[test]
        fn the_examples_of_the_standard_forward_and_back() {
            let key: Vec<u8> = (0..32).collect();
            let plain: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
            for (bytes, text) in [
                (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
                (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
                (32, "8ea2b7ca516745bfeafc49904b496089"),
            ] {
                let mut state = plain;
                encrypt(&key[..bytes], &mut state);
                let hex: String = state.iter().map(|b| format!("{b:02x}")).collect();
                assert_eq!(hex, text);
                decrypt(&key[..bytes], &mut state);
                assert_eq!(state, plain);
                let last = last_key(&key[..bytes]);
                assert_eq!(first_key(&last, bytes)[..bytes], key[..bytes]);
            }
        }

        /// FIPS 197, appendix A.1: w[40] to w[43].
        #[test]
        fn the_last_round_key_is_the_end_of_the_schedule() {
            let key = [
                0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf,
                0x4f, 0x3c,
            ];
            let hex: String = last_key(&key)[..16].iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex, "d014f9a8c9ee2589e13f0cc8b6630ca6");
        }
    }
}

impl Block for Aes256 {
    const LINES: usize = 1;
    /// AESAKEY to AESAXIN; AESADOUT; AESSWRST in AESACTL0.
    const TAINT: Follow = Follow::Mixers(&[Mix {
        input: 6..16,
        output: 10..12,
        start: 0..0,
        reset: Some((0, 0x80)),
    }]);

    fn read(&mut self, off: u32, mask: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        cx.fx.touched = true;
        self.event(cx.now);
        Ok(match off {
            AESACTL0 => self.ctl0,
            AESACTL1 => self.ctl1,
            AESASTAT => {
                self.stat
                    | u16::from(self.key_count & 15) << 4
                    | u16::from(self.in_count & 15) << 8
                    | u16::from(self.out_count & 15) << 12
            }
            AESADOUT => self.read_out(mask, cx),
            // Write-only: they read as zero.
            AESAKEY | AESADIN | AESAXDIN | AESAXIN => 0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        self.event(cx.now);
        let pair = value.to_le_bytes();
        let bytes = match mask {
            0x00FF => &pair[..1],
            0xFF00 => &pair[1..],
            _ => &pair[..],
        };
        let held = self.busy() || self.in_mode();
        match off {
            AESACTL0 => {
                let mut new = merge(self.ctl0, value, mask);
                if new & AESSWRST != 0 {
                    self.software_reset();
                    return Ok(());
                }
                if held && (new ^ self.ctl0) & LOCKED != 0 {
                    cx.lint(crate::lint::LintKind::LockedBits);
                    new = (new & !LOCKED) | (self.ctl0 & LOCKED);
                }
                if (new ^ self.ctl0) & (AESKL | AESCMEN) != 0 {
                    self.stat &= !(AESKEYWR | AESDINWR);
                    (self.key_count, self.in_count, self.out_count) = (0, 0, 0);
                }
                self.ctl0 = new & CTL0;
            }
            AESACTL1 => {
                if held {
                    cx.lint(crate::lint::LintKind::LockedBits);
                } else if self.ctl0 & AESCMEN != 0 {
                    self.ctl1 = merge(self.ctl1, value, mask) & 0xFF;
                    self.start_mode();
                } else {
                    cx.lint(crate::lint::LintKind::LockedBits);
                }
            }
            AESASTAT => {
                if self.busy() {
                    self.fail();
                    return Ok(());
                }
                let new = merge(self.stat, value, mask);
                if (new ^ self.stat) & AESKEYWR != 0 {
                    self.key_count = 0;
                }
                if (new ^ self.stat) & AESDINWR != 0 {
                    self.in_count = 0;
                }
                if (new ^ self.stat) & AESDOUTRD != 0 {
                    self.out_count = 0;
                }
                self.stat = new & (AESKEYWR | AESDINWR | AESDOUTRD);
                self.begin_if_ready(cx);
            }
            AESAKEY | AESADIN | AESAXDIN | AESAXIN if self.busy() => self.fail(),
            AESAKEY => {
                self.ctl0 &= !AESRDYIFG;
                self.write_key(bytes);
                if self.op() == 2 {
                    self.begin_if_ready(cx);
                }
            }
            AESADIN => {
                self.ctl0 &= !AESRDYIFG;
                self.write_data(bytes, false, true, cx);
            }
            AESAXDIN => {
                self.ctl0 &= !AESRDYIFG;
                self.write_data(bytes, true, true, cx);
            }
            AESAXIN => {
                self.ctl0 &= !AESRDYIFG;
                self.write_data(bytes, true, false, cx);
            }
            AESADOUT => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event()
    }

    fn advance(&mut self, _: &Clocks, t: Picos) {
        self.event(t);
    }

    fn asks(&self, _: usize) -> bool {
        self.pending()
    }

    fn may_ask(&self, _: &Clocks, _: Picos, _: bool) -> bool {
        self.enabled() && self.busy()
    }

    fn trigger(name: &str) -> Option<u8> {
        name.parse().ok()
    }

    fn triggers(&self, number: u8) -> bool {
        self.dma_trigger(number)
    }
}
