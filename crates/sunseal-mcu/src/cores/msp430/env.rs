// SPDX-License-Identifier: MIT OR Apache-2.0
//! One flat memory with a kind a page, and what else the peripherals of an MSP430 see of the chip around them.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::msp430::Width;
use sunseal_trace::Cycles;

use super::*;

/// What peripherals see of the chip around them.
pub(crate) struct Env {
    pub common: Common,
    pub memory: Box<[u8; ADDRESS_SPACE]>,
    pub pages: Box<[u8; ADDRESS_SPACE >> 8]>,
    /// The cycle at which the CPU's run ends; 0 ends it behind the present instruction.
    pub deadline: Cycles,
    /// Code memory that changed.
    pub changed: Vec<Range<u32>>,
    /// SR bits that decide clocks and sleep.
    pub mode: u32,
    /// What the cells of RAM are like, where that is known.
    pub cells: Vec<Cells>,
    /// Copies of memory that plain stores do not change, for snapshots; by place in the memory map.
    pub(super) images: Vec<Option<Image>>,
    /// Pages of FRAM as they were at [`Chip::save_near`], each kept when it is first written; none while nobody asks.
    pub(super) near: Option<Vec<(usize, [u8; PAGE_BYTES])>>,
}

/// Bytes of a memory region that snapshots share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image(pub(crate) Arc<Vec<u8>>);

impl Serialize for Image {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Image {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the bytes of a memory")
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        Ok(Self(Arc::new(d.deserialize_bytes(Bytes)?)))
    }
}

fn zeroed<const N: usize>() -> Box<[u8; N]> {
    vec![0u8; N].into_boxed_slice().try_into().expect("the vector has as many bytes")
}

impl Env {
    pub(super) fn new(dev: Arc<Device>, names: &Names) -> Self {
        let mut memory: Box<[u8; ADDRESS_SPACE]> = zeroed();
        let mut pages: Box<[u8; ADDRESS_SPACE >> 8]> = zeroed();
        for r in &dev.memory {
            let flags = match r.kind {
                RegionKind::Peripheral => continue,
                RegionKind::Ram => READ | WRITE,
                RegionKind::Fram => READ | WRITE | CODE,
                _ => READ | CODE,
            };
            if r.kind != RegionKind::Ram {
                memory[r.start as usize..=r.end as usize].fill(0xFF);
            }
            pages[(r.start >> 8) as usize..=(r.end >> 8) as usize].fill(flags);
        }
        let images = vec![None; dev.memory.len()];
        Self {
            common: Common::new(dev, names),
            memory,
            pages,
            deadline: 0,
            changed: Vec::new(),
            mode: 0,
            cells: Vec::new(),
            images,
            near: None,
        }
    }

    /// Fills RAM with a start-up pattern: never zeros, the same for the same seed.
    pub fn scramble_ram(&mut self, seed: u64) {
        let dev = Arc::clone(&self.common.dev);
        let off = self.common.off_time();
        for r in dev.memory.iter().filter(|r| r.kind == RegionKind::Ram) {
            let range = r.start as usize..=r.end as usize;
            if let Some(startup) = self.common.sram {
                let device = self.common.state.seed;
                let memory = (&mut self.memory[range], r.start);
                startup::wake(&mut self.cells, startup, memory, device, seed, off);
                continue;
            }
            for (i, chunk) in self.memory[range].chunks_mut(8).enumerate() {
                let noise = splitmix64(seed ^ (i as u64) << 20).to_le_bytes();
                chunk.copy_from_slice(&noise[..chunk.len()]);
            }
        }
    }

    #[inline(always)]
    pub fn page(&self, addr: u32) -> u8 {
        self.pages[(addr >> 8) as usize & (MASK >> 8)]
    }

    /// Whether `addr` is memory that plain stores change and that holds no program.
    #[inline]
    pub fn is_ram(&self, addr: u32) -> bool {
        self.page(addr) & (WRITE | CODE) == WRITE
    }

    #[inline(always)]
    pub fn word(&self, addr: u32) -> u16 {
        let i = addr as usize & MASK & !1;
        u16::from_le_bytes([self.memory[i], self.memory[i + 1]])
    }

    #[inline(always)]
    pub fn load(&self, addr: u32, width: Width) -> u16 {
        match width {
            Width::Byte => u16::from(self.memory[addr as usize & MASK]),
            Width::Word => self.word(addr),
        }
    }

    #[inline(always)]
    pub fn put(&mut self, addr: u32, width: Width, value: u16) {
        match width {
            Width::Byte => self.memory[addr as usize & MASK] = value as u8,
            Width::Word => {
                let i = addr as usize & (MASK & !1);
                [self.memory[i], self.memory[i + 1]] = value.to_le_bytes();
            }
        }
    }

    /// Makes the pages of memory `flags`; whether that is code which was none, or none which was.
    pub fn set_pages(&mut self, start: u32, end: u32, flags: u8) -> bool {
        let pages = &mut self.pages[(start >> 8) as usize..=(end >> 8) as usize];
        let changes = pages.iter().fold(0, |all, page| all | (page ^ flags)) & CODE != 0;
        pages.fill(flags);
        changes
    }

    /// Plain memory of `range` changed, or cannot be read as before: the core forgets what it decoded.
    pub fn code_changed(&mut self, range: Range<u32>) {
        for (r, image) in self.common.dev.memory.iter().zip(&mut self.images) {
            if r.start < range.end && range.start <= r.end {
                *image = None;
            }
        }
        self.changed.push(range);
    }

    /// Whether writes of FRAM are to come by [`Peripherals::store`], which tells of them.
    pub fn fram_is_watched(&self) -> bool {
        self.near.is_some()
    }

    /// FRAM is about to be written: its page is kept, if there is to be a way back.
    pub fn keep_page(&mut self, addr: u32) {
        let start = addr as usize & MASK & !(PAGE_BYTES - 1);
        if let Some(kept) = self.near.as_mut().filter(|k| k.iter().all(|page| page.0 != start)) {
            let mut page = [0; PAGE_BYTES];
            page.copy_from_slice(&self.memory[start..start + PAGE_BYTES]);
            kept.push((start, page));
        }
    }

    /// Copies of all memory; with `near` FRAM's is left empty, for its pages are kept as they are written.
    pub(super) fn save_memory(&mut self, near: bool) -> Vec<Image> {
        let dev = Arc::clone(&self.common.dev);
        let regions = dev.memory.iter().zip(&mut self.images);
        let memory = &self.memory;
        let copy =
            |start: u32, end: u32| Image(Arc::new(memory[start as usize..=end as usize].to_vec()));
        regions
            .filter(|(r, _)| r.kind != RegionKind::Peripheral)
            .map(|(r, kept)| match r.kind {
                RegionKind::Fram if near => Image(Arc::default()),
                RegionKind::Ram | RegionKind::Fram => copy(r.start, r.end),
                _ => kept.get_or_insert_with(|| copy(r.start, r.end)).clone(),
            })
            .collect()
    }

    pub(super) fn restore_memory(&mut self, saved: &[Image]) {
        for (start, page) in self.near.take().unwrap_or_default() {
            self.memory[start..start + PAGE_BYTES].copy_from_slice(&page);
            self.changed.push(start as u32..(start + PAGE_BYTES) as u32);
        }
        let dev = Arc::clone(&self.common.dev);
        let regions = dev.memory.iter().enumerate();
        let regions = regions.filter(|(_, r)| r.kind != RegionKind::Peripheral);
        for ((i, r), image) in regions.zip(saved) {
            let kept = self.images[i].as_ref();
            if kept.is_some_and(|k| Arc::ptr_eq(&k.0, &image.0)) || image.0.is_empty() {
                continue;
            }
            let range = r.start as usize..=r.end as usize;
            if r.kind == RegionKind::Fram {
                // Little of it changes between two snapshots, and what is kept decoded is dear.
                let pages =
                    self.memory[range].chunks_mut(PAGE_BYTES).zip(image.0.chunks(PAGE_BYTES));
                for ((old, new), start) in pages.zip((r.start..).step_by(PAGE_BYTES)) {
                    if old != new {
                        old.copy_from_slice(new);
                        self.changed.push(start..start + PAGE_BYTES as u32);
                    }
                }
                continue;
            }
            self.memory[range].copy_from_slice(&image.0);
            if r.kind == RegionKind::Ram {
                continue;
            }
            self.code_changed(r.start..r.end + 1);
            self.images[i] = Some(image.clone());
        }
    }
}
