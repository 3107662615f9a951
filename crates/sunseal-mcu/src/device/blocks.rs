// SPDX-License-Identifier: MIT OR Apache-2.0
//! The peripheral blocks of a device, `[[block]]` of its file: what lies where, asks for which interrupt and runs by
//! which clock.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::{Addresses, Device};

/// A stretch of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Address of its first register.
    pub base: u32,
    /// From there to behind its last register.
    pub size_bytes: u32,
}

impl Stretch {
    pub(crate) fn range(self) -> Range<u64> {
        u64::from(self.base)..u64::from(self.base) + u64::from(self.size_bytes)
    }
}

/// One peripheral block of a device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockInstance {
    /// Its own name, "ta0".
    pub name: String,
    /// What it is one of, "timer_a": the block of `data/registers`, and of this crate's `blocks/`.
    pub kind: String,
    /// Address of its first register.
    pub base: u32,
    /// From there to behind its last register.
    pub size_bytes: u32,
    /// Where further registers of it lie.
    #[serde(default)]
    pub apart: Vec<Stretch>,
    /// Its interrupts: the vector's address (MSP430), the input of the NVIC (Arm), the vector's number (AVR).
    #[serde(default)]
    pub interrupts: BTreeMap<String, u32>,
    /// The lines of the clock system that it can run by.
    #[serde(default)]
    pub clocks: Vec<String>,
    /// A timer's capture/compare registers.
    pub ccrs: Option<u8>,
    /// Channels of a DMA controller, or inputs that a converter chooses among.
    pub channels: Option<usize>,
    /// What each trigger select of a DMA controller waits for, by number; with bars, one name a channel.
    #[serde(default)]
    pub triggers: Vec<String>,
    /// What lets it have its bus clock, where something must: a register of RCC by its offset, and the bit.
    pub enable: Option<[u32; 2]>,
    /// The numbers of the digital ports that it is.
    #[serde(default)]
    pub ports: Vec<u8>,
    /// The document that these figures stand in, and its table.
    pub source: String,
    /// Written from memory of the source.
    #[serde(default)]
    pub recalled: bool,
}

impl BlockInstance {
    /// All its stretches of registers, the first one first.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch> + '_ {
        let first = Stretch { base: self.base, size_bytes: self.size_bytes };
        std::iter::once(first).chain(self.apart.iter().copied())
    }

    /// Name of DMA trigger `select` for a channel; none: not modelled, or reserved.
    #[must_use]
    pub fn trigger(&self, select: usize, channel: usize) -> &str {
        let names = &self.triggers[select];
        if names.contains('|') { names.split('|').nth(channel).unwrap_or("") } else { names }
    }
}

impl Device {
    /// The block of that name, if the device has it.
    #[must_use]
    pub fn block(&self, name: &str) -> Option<&BlockInstance> {
        self.blocks.iter().find(|b| b.name == name)
    }

    /// Where the registers of the block of that name begin, if the device has it.
    #[must_use]
    pub fn base(&self, name: &str) -> Option<u32> {
        self.block(name).map(|b| b.base)
    }

    /// Vector or number of an interrupt, of whatever asks for it.
    #[must_use]
    pub fn interrupt(&self, name: &str) -> Option<u32> {
        let of_blocks = self.blocks.iter().find_map(|b| b.interrupts.get(name).copied());
        let of_gaps = || self.gap.iter().find_map(|g| g.interrupts.get(name).copied());
        of_blocks.or_else(|| self.vectors.at(name)).or_else(of_gaps)
    }

    /// Capture/compare registers of a timer; none where the device has no such timer.
    pub(crate) fn ccrs(&self, timer: &str) -> u8 {
        self.block(timer).and_then(|b| b.ccrs).unwrap_or(0)
    }

    /// The highest number of a digital port.
    pub(crate) fn last_port(&self) -> u8 {
        self.blocks.iter().flat_map(|b| &b.ports).copied().max().unwrap_or(0)
    }
}

impl Addresses {
    /// All of them by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, u32)> {
        self.at.iter().map(|(name, at)| (name.as_str(), *at))
    }
}
