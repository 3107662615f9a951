// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks of an MSP432P4xx, and which input of the interrupt controller each has.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::cs::Cs;
use super::pcm::{Pcm, Pss};
use crate::blocks::adc14::Adc14;
use crate::blocks::aes256::Aes256;
use crate::blocks::crc32_p4::Crc32;
use crate::blocks::dio_p4::{Dio, Pmap};
use crate::blocks::eusci::Eusci;
use crate::blocks::flctl::Flctl;
use crate::blocks::follow::Follow;
use crate::blocks::ref_a_p4::RefA;
use crate::blocks::rtc_c_p4::RtcC;
use crate::blocks::timer_a::TimerA;
use crate::blocks::timer32::Timer32;
use crate::blocks::udma::Dma;
use crate::blocks::wdt_a_p4::Wdt;
use crate::blocks::wide::{self, Block, Class, Half, Listed, Map, Named, P4};
use crate::blocks::{Access, Family};
use crate::clock::Line;
use crate::device::{self, Device, DeviceError};
use crate::families::Makes;

wide::blocks! {
    P4, beside rstctl, sysctl;
    pcm: Pcm, 1 = [("pcm", "pcm", &["pcm"])];
    timer32: Timer32, 1 = [("timer32", "timer32", &["t32_int1", "t32_int2", "t32_intc"])];
    rtc: RtcC, 1 = [("rtc_c", "rtc_c", &["rtc_c"])];
    timers: Half<TimerA>, 4 = [
        ("ta0", "timer_a", &["ta0_0", "ta0_n"]),
        ("ta1", "timer_a", &["ta1_0", "ta1_n"]),
        ("ta2", "timer_a", &["ta2_0", "ta2_n"]),
        ("ta3", "timer_a", &["ta3_0", "ta3_n"]),
    ];
    eusci: Half<Eusci>, 8 = [
        ("eusci_a0", "eusci_a", &["eusci_a0"]),
        ("eusci_a1", "eusci_a", &["eusci_a1"]),
        ("eusci_a2", "eusci_a", &["eusci_a2"]),
        ("eusci_a3", "eusci_a", &["eusci_a3"]),
        ("eusci_b0", "eusci_b", &["eusci_b0"]),
        ("eusci_b1", "eusci_b", &["eusci_b1"]),
        ("eusci_b2", "eusci_b", &["eusci_b2"]),
        ("eusci_b3", "eusci_b", &["eusci_b3"]),
    ];
    reference: RefA, 1 = [("ref_a", "ref_a", &[])];
    aes: Half<Aes256>, 1 = [("aes256", "aes256", &["aes256"])];
    crc: Crc32, 1 = [("crc32", "crc32", &[])];
    wdt: Wdt, 1 = [("wdt_a", "wdt_a", &["wdt_a"])];
    dio: Dio, 1 = [("dio", "dio", &["port1", "port2", "port3", "port4", "port5", "port6"])];
    pmap: Pmap, 1 = [("pmap", "pmap", &[])];
    dma: Dma, 1 =
        [("dma", "dma", &["dma_int0", "dma_int1", "dma_int2", "dma_int3", "dma_err"])];
    cs: Cs, 1 = [("cs", "cs", &["cs"])];
    pss: Pss, 1 = [("pss", "pss", &["pss"])];
    flctl: Flctl, 1 = [("flctl", "flctl", &["flctl"])];
    adc: Adc14, 1 = [("adc14", "adc14", &["adc14"])];
}

impl Blocks {
    pub fn new(facts: &device::Msp432) -> Self {
        Self {
            pcm: [Pcm::default()],
            timer32: [Timer32::new()],
            rtc: [RtcC::new()],
            timers: std::array::from_fn(|_| Half(TimerA::new(5, false))),
            eusci: std::array::from_fn(|i| Half(Eusci::new(i < 4))),
            reference: [RefA::default()],
            aes: [Half(Aes256::new(&facts.aes256))],
            crc: [Crc32::new()],
            wdt: [Wdt::new()],
            dio: [Dio::new()],
            pmap: [Pmap::new(&facts.port_mapper)],
            dma: [Dma::default()],
            cs: [Cs::new(0, 0)],
            pss: [Pss::new()],
            flctl: [Flctl::new()],
            adc: [Adc14::new()],
        }
    }

    /// A reset of that class; the watchdog follows once the clocks are known.
    pub fn reset(&mut self, facts: &device::Msp432, class: Class, keep_pins: bool) {
        self.dma = [Dma::default()];
        self.timers.iter_mut().for_each(|t| t.0.reset());
        self.eusci.iter_mut().for_each(|u| u.0.reset());
        self.timer32 = [Timer32::new()];
        self.adc = [Adc14::new()];
        self.aes[0].0.reset();
        self.crc = [Crc32::new()];
        self.reference = [RefA::default()];
        self.flctl[0].reset();
        if class >= Class::Hard {
            if keep_pins {
                self.dio[0].wake();
            } else {
                self.dio[0].reset();
            }
            self.pmap = [Pmap::new(&facts.port_mapper)];
        }
        if class >= Class::Reboot {
            // Clocks, power and the flash's ways of reading go back too.
            self.cs[0].reset(keep_pins && self.pcm[0].holds_backup());
            self.pcm[0].reset(keep_pins);
            self.pss = [Pss::new()];
            self.flctl = [Flctl::new()];
            self.rtc = [RtcC::new()];
        }
    }
}

/// What a device file of this family lists: all of it.
pub(crate) fn makes() -> Makes {
    let all = wide::made(&listed());
    let names: Vec<_> = all.0.iter().map(|b| b.0).collect();
    Makes::of(all)
        .needs(&names)
        .core(&["fpu"])
        .clocks(&["mclk", "hsmclk", "smclk", "aclk", "bclk", "vlo", "modosc", "sysosc"])
        .states(super::NAMES.states)
}

/// That `device` has every interrupt by which the family asks.
pub(crate) fn check(device: &Device) -> Result<(), DeviceError> {
    match makes().interrupts.iter().find(|name| device.interrupt(name).is_none()) {
        Some(name) => device.wrong(format!("no [[block]] has `{name}`")),
        None => Ok(()),
    }
}
