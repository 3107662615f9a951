// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memories of a chip in one buffer, and what of the address space reaches it by plain accesses.

use sunseal_trace::Width;

/// What 16 megabytes of the address space hold as far as plain accesses go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// Place in the buffer.
    pub base: u32,
    /// Bytes that plain reads, and plain writes, may touch.
    pub readable: u32,
    pub writable: u32,
}

/// A power of two of bytes.
pub(crate) struct Memory<const BYTES: usize> {
    pub bytes: Box<[u8; BYTES]>,
    pub windows: [Window; 256],
}

impl<const BYTES: usize> Memory<BYTES> {
    /// Erased, and reached from nowhere.
    pub fn new() -> Self {
        let bytes = vec![0xFF; BYTES].into_boxed_slice();
        let bytes = bytes.try_into().expect("the vector has as many bytes");
        Self { bytes, windows: [Window::default(); 256] }
    }

    #[inline(always)]
    pub fn read_plain(&self, addr: u32, width: Width) -> Option<u32> {
        let w = &self.windows[(addr >> 24) as usize];
        let off = addr & 0x00FF_FFFF;
        if off >= w.readable {
            return None;
        }
        let i = (w.base + off) as usize & (BYTES - 1);
        let b = &self.bytes;
        Some(match width {
            Width::W8 => u32::from(b[i]),
            Width::W16 => {
                let i = i & !1;
                u32::from(u16::from_le_bytes([b[i], b[i + 1]]))
            }
            Width::W32 => {
                let i = i & !3;
                u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]])
            }
        })
    }

    #[inline(always)]
    pub fn write_plain(&mut self, addr: u32, width: Width, value: u32) -> bool {
        let w = &self.windows[(addr >> 24) as usize];
        let off = addr & 0x00FF_FFFF;
        if off >= w.writable {
            return false;
        }
        let i = (w.base + off) as usize & (BYTES - 1);
        let new = value.to_le_bytes();
        match width {
            Width::W8 => self.bytes[i] = new[0],
            Width::W16 => {
                let i = i & !1;
                self.bytes[i] = new[0];
                self.bytes[i + 1] = new[1];
            }
            Width::W32 => {
                let i = i & !3;
                self.bytes[i..i + 4].copy_from_slice(&new);
            }
        }
        true
    }

    /// So many bytes at a place in the buffer, as a number.
    pub fn peek(&self, place: u32, width: Width) -> u32 {
        let bytes = &self.bytes[place as usize..];
        (0..width.bytes()).fold(0, |v, n| v | u32::from(bytes[n as usize]) << (8 * n))
    }
}
