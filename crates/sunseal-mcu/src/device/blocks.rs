// SPDX-License-Identifier: MIT OR Apache-2.0
//! The peripheral blocks of a device, `[[block]]` of its file: what lies where, asks for which interrupt and runs by
//! which clock.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::{Addresses, Device, DeviceError, RegionKind};
use crate::families::{self, Makes};

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
    fn range(self) -> Range<u64> {
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

    /// That the blocks are those that the family can make, and fit together.
    pub(super) fn check_blocks(&self) -> Result<(), DeviceError> {
        let makes = families::makes(&self.facts);
        for block in &self.blocks {
            self.check_block(block, &makes)?;
        }
        if let Some(name) = makes.needed.iter().find(|name| self.block(name).is_none()) {
            return self.wrong(format!("there is no [[block]] `{name}`, which the family needs"));
        }
        self.check_stretches()?;
        self.check_interrupts(&makes)
    }

    fn check_block(&self, block: &BlockInstance, makes: &Makes) -> Result<(), DeviceError> {
        let (name, kind) = (&block.name, &block.kind);
        let wrong = |what: String| self.wrong(format!("[[block]] `{name}`: {what}"));
        if self.blocks.iter().filter(|b| b.name == *name).count() > 1 {
            return wrong("there are two of that name".to_owned());
        }
        let mut kinds: Vec<&str> = makes.blocks.iter().map(|b| b.1).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if !kinds.contains(&kind.as_str()) {
            let kinds = kinds.join(", ");
            return wrong(if families::kinds().contains(&kind.as_str()) {
                format!("kind `{kind}` is not one that this family can make; it makes {kinds}")
            } else {
                format!("kind `{kind}` is not known; this family makes {kinds}")
            });
        }
        if !makes.blocks.iter().any(|b| (b.0, b.1) == (name.as_str(), kind.as_str())) {
            let names: Vec<&str> =
                makes.blocks.iter().filter(|b| b.1 == *kind).map(|b| b.0).collect();
            let names = names.join(", ");
            return wrong(format!("the name of a `{kind}` is one of {names} in this family"));
        }
        if let Some(clock) = block.clocks.iter().find(|c| !makes.clocks.contains(&c.as_str())) {
            let known = makes.clocks.join(", ");
            return wrong(format!("clocks has `{clock}`; this family's are {known}"));
        }
        let is = |kinds: &[&str]| kinds.contains(&kind.as_str());
        for (key, given, wanted) in [
            ("ccrs", block.ccrs.is_some(), is(&["timer_a", "timer_b", "timer16"])),
            ("channels", block.channels.is_some(), is(&["dma"])),
            ("ports", !block.ports.is_empty(), is(&["port", "dio"])),
        ] {
            if wanted && !given {
                return wrong(format!("`{key}` is missing, which a `{kind}` needs"));
            }
        }
        Ok(())
    }

    /// That each block lies among the registers, and apart from the others and from what is not modelled.
    fn check_stretches(&self) -> Result<(), DeviceError> {
        let mut all: Vec<(Range<u64>, &str)> = Vec::new();
        for block in &self.blocks {
            for stretch in block.stretches() {
                let (name, range) = (&block.name, stretch.range());
                let inside = self.memory.iter().any(|r| {
                    r.kind == RegionKind::Peripheral
                        && u64::from(r.start) <= range.start
                        && range.end <= u64::from(r.end) + 1
                });
                if range.is_empty() || !inside {
                    return self.wrong(format!(
                        "[[block]] `{name}`: base {:#06x} with size_bytes {:#x} lies in no [[memory]] of kind peripheral",
                        stretch.base, stretch.size_bytes
                    ));
                }
                all.push((range, name));
            }
        }
        let gaps = self.gap.iter().map(|g| (u64::from(g.start)..u64::from(g.end) + 1, &*g.name));
        let others: Vec<_> = all.iter().cloned().chain(gaps).collect();
        for (i, (range, name)) in all.iter().enumerate() {
            let meets = |o: &&(Range<u64>, &str)| o.0.start < range.end && range.start < o.0.end;
            if let Some((_, other)) = others.iter().skip(i + 1).find(meets) {
                return self.wrong(format!(
                    "[[block]] `{name}`: base {:#06x} to {:#06x} overlaps `{other}`",
                    range.start,
                    range.end - 1
                ));
            }
        }
        Ok(())
    }

    /// That each interrupt is known and stands once.
    fn check_interrupts(&self, makes: &Makes) -> Result<(), DeviceError> {
        let of_blocks = self.blocks.iter().flat_map(|b| {
            b.interrupts.iter().map(|(n, at)| (n.as_str(), *at, format!("[[block]] `{}`", b.name)))
        });
        let of_gaps = self.gap.iter().flat_map(|g| {
            g.interrupts.iter().map(|(n, at)| (n.as_str(), *at, format!("[[gap]] `{}`", g.name)))
        });
        let own = self.vectors.all().map(|(n, at)| (n, at, "[vectors]".to_owned()));
        let mut seen: Vec<(&str, u32, String)> = Vec::new();
        for (name, at, place) in own.chain(of_blocks).chain(of_gaps) {
            if let Some((other, _, there)) = seen.iter().find(|s| s.0 == name || s.1 == at) {
                return self.wrong(if *other == name {
                    format!("{place}: interrupt `{name}` is named twice, by {there} too")
                } else {
                    format!(
                        "{place}: interrupt `{name}` is at {at:#x}, where {there} has `{other}`"
                    )
                });
            }
            // What a [[gap]] would ask for is never asked for, so its names are free.
            if !place.starts_with("[[gap]]") && !makes.interrupts.contains(&name) {
                let known: Vec<&str> =
                    makes.interrupts.iter().copied().filter(|n| !n.is_empty()).collect();
                let known = known.join(", ");
                return self.wrong(format!(
                    "{place}: interrupt `{name}` is not known in this family; it knows {known}"
                ));
            }
            seen.push((name, at, place));
        }
        let missing = |name: &&&str| !seen.iter().any(|s| s.0 == **name);
        match makes.needed_interrupts.iter().find(missing) {
            Some(name) => self.wrong(format!("[vectors] needs `{name}`")),
            None => Ok(()),
        }
    }
}

impl Addresses {
    /// All of them by name.
    fn all(&self) -> impl Iterator<Item = (&str, u32)> {
        self.at.iter().map(|(name, at)| (name.as_str(), *at))
    }
}

#[cfg(test)]
mod tests {
    use crate::Device;

    const FR5994: &str = include_str!("../../../../data/devices/msp430fr5994.toml");

    /// What the reader says of the FR5994's file with `old` replaced.
    fn refused(old: &str, new: &str) -> String {
        assert!(FR5994.contains(old), "{old}");
        Device::parse(&FR5994.replace(old, new)).unwrap_err().to_string()
    }

    #[test]
    fn a_block_of_a_kind_that_nobody_knows_is_refused() {
        let said = refused("kind = \"crc32\"", "kind = \"crc64\"");
        assert!(
            said.contains(
                "msp430fr5994: [[block]] `crc32`: kind `crc64` is not known; this family makes"
            ),
            "{said}"
        );
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_name() {
        let path = std::env::temp_dir().join(format!("sunseal-{}.toml", std::process::id()));
        std::fs::write(&path, FR5994.replace("kind = \"crc32\"", "kind = \"crc64\"")).unwrap();
        let said = Device::load(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(said.starts_with(&path.display().to_string()), "{said}");
        assert!(said.contains("[[block]] `crc32`: kind `crc64`"), "{said}");
    }

    #[test]
    fn a_block_of_a_kind_that_another_family_makes_is_refused() {
        let said = refused("kind = \"adc12_b\"", "kind = \"adc14\"");
        assert!(said.contains("`adc14` is not one that this family can make"), "{said}");
    }

    #[test]
    fn a_name_that_the_family_has_no_place_for_is_refused() {
        let said = refused("name = \"ta4\"", "name = \"ta5\"");
        assert!(said.contains("`ta5`: the name of a `timer_a` is one of ta0, ta1"), "{said}");
    }

    #[test]
    fn two_blocks_at_one_address_are_refused() {
        let said = refused("base = 0x0380", "base = 0x0360");
        assert!(said.contains("[[block]] `ta0`: base 0x0340 to 0x036f overlaps `ta1`"), "{said}");
        let gap = refused("size_bytes = 0xA0", "size_bytes = 0xC2");
        assert!(gap.contains("`adc12_b`: base 0x0800 to 0x08c1 overlaps `COMP_E`"), "{gap}");
        let outside = refused("base = 0x0980", "base = 0x2980");
        assert!(outside.contains("`crc32`: base 0x2980"), "{outside}");
    }

    #[test]
    fn an_interrupt_that_is_named_twice_is_refused() {
        let said = refused("{ rtc = 0xFFCE }", "{ wdt = 0xFFCE }");
        assert!(
            said.contains(
                "[[block]] `rtc_c`: interrupt `wdt` is named twice, by [[block]] `wdt_a`"
            ),
            "{said}"
        );
        let at = refused("{ rtc = 0xFFCE }", "{ rtc = 0xFFFE }");
        assert!(at.contains("`rtc` is at 0xfffe, where [vectors] has `reset`"), "{at}");
        let unknown = refused("ta0_ccr0 = 0x", "ta0_ccr9 = 0x");
        assert!(unknown.contains("`ta0_ccr9` is not known"), "{unknown}");
    }

    #[test]
    fn what_a_block_needs_is_named_where_it_is_missing() {
        for (old, key) in [("ccrs = 7\n", "ccrs"), ("channels = 6\n", "channels")] {
            let said = refused(old, "");
            assert!(said.contains(&format!("`{key}` is missing")), "{said}");
        }
        let clock = refused("clocks = [\"lfxt\"]", "clocks = [\"hfxt\"]");
        assert!(clock.contains("`rtc_c`: clocks has `hfxt`; this family's are"), "{clock}");
    }
}
