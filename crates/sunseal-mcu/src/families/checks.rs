// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refusals of a device whose blocks its family cannot make, or which do not fit together.

use std::ops::Range;

use super::Makes;
use crate::device::{BlockInstance, Device, DeviceError, Facts, RegionKind};

impl Device {
    /// Refuses what the family does not know.
    pub(super) fn check_family(&self) -> Result<(), DeviceError> {
        self.check_blocks()?;
        match &self.facts {
            Facts::Atmega128(_) => super::atmega128::check(self),
            Facts::Msp432(_) => super::msp432p4::check(self),
            Facts::Fr5xx(_) => check_triggers(self),
            Facts::F1xx(_) | Facts::F5xx(_) | Facts::Stm32l4(_) => Ok(()),
        }
    }

    /// That the blocks are those that the family can make, and fit together.
    fn check_blocks(&self) -> Result<(), DeviceError> {
        let makes = super::makes(&self.facts);
        if !makes.states.contains(&self.waits_in.as_str()) {
            return self.wrong(format!(
                "waits_in is `{}`, which is no state of its CPU; write one of {}",
                self.waits_in,
                makes.states.join(", ")
            ));
        }
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
            return wrong(if super::kinds().contains(&kind.as_str()) {
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

/// That each trigger of the DMA controller is one that a block has, for each channel or for all.
fn check_triggers(device: &Device) -> Result<(), DeviceError> {
    let Some(dma) = device.block("dma") else { return Ok(()) };
    let channels = dma.channels.unwrap_or(0);
    if dma.triggers.len() != 32 || channels == 0 || channels > 8 {
        return device.wrong("[[block]] `dma` needs 1 to 8 channels and 32 triggers".into());
    }
    for names in &dma.triggers {
        let count = names.split('|').count();
        if count > 1 && count != channels {
            return device.wrong(format!(
                "[[block]] `dma`: trigger `{names}` needs one name for all channels or one for each of {channels}"
            ));
        }
        let unknown = |name: &&str| {
            !name.is_empty()
                && *name != "chain"
                && super::fr5xx::Blocks::trigger(None, name).is_none()
        };
        if let Some(name) = names.split('|').find(unknown) {
            return device
                .wrong(format!("[[block]] `dma`: trigger `{name}` is not one that a block has"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Device;

    const FR5994: &str = include_str!("../../../../data/devices/msp430fr5994.toml");

    /// Refusal of the FR5994's file with `old` replaced.
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
    fn a_state_to_wait_in_that_the_cpu_has_not_is_refused() {
        let said = refused("waits_in = \"lpm3\"", "waits_in = \"stop2\"");
        assert!(
            said.contains("`stop2`, which is no state of its CPU; write one of lpm0"),
            "{said}"
        );
    }

    #[test]
    fn a_block_of_a_kind_that_another_family_makes_is_refused() {
        let said = refused("kind = \"adc12_b\"", "kind = \"adc14\"");
        assert!(said.contains("`adc14` is not one that this family can make"), "{said}");
    }

    #[test]
    fn a_name_that_the_family_has_no_place_for_is_refused() {
        let said = refused("name = \"ta4\"", "name = \"ta8\"");
        assert!(said.contains("`ta8`: the name of a `timer_a` is one of ta0, ta1"), "{said}");
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
