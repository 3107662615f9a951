// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSP432P4xx: a Cortex-M4F, its memory, and TI's peripherals around it.
//!
//! The core stacks and runs; which exception comes when, sleep, and faults are decided here.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunseal_isa::thumb::{self, Bus, Cpu, Entry, Exit, Scb, Timing, Usage};
use sunseal_isa::{Fault, FaultKind};
use sunseal_trace::{ComponentId, Cycles, Observer, OperatingPoint, Picos, StateId, Width};

use crate::accounts::{self, Event, Names};
use crate::clock::{Jitter, Line, splitmix64};
use crate::common::{Common, Drive, UartByte};
use crate::device::{self, Device, us};
use crate::engine::Chip;
use crate::lint::LintKind;
use crate::machine::Register;
use crate::peripherals::aes256::{Aes256, AesCycles, AesRun};
use crate::peripherals::eusci::{Done, Eusci};
use crate::peripherals::msp432::adc14::{Adc14, Inside, Reference};
use crate::peripherals::msp432::crc32::Crc32;
use crate::peripherals::msp432::cs::{Cs, Source, Tap};
use crate::peripherals::msp432::dio::Ports;
use crate::peripherals::msp432::dma::{self, Dma};
use crate::peripherals::msp432::dwt::Dwt;
use crate::peripherals::msp432::flctl::{self, Flctl};
use crate::peripherals::msp432::pcm::{self, Deep, Pcm, Pss};
use crate::peripherals::msp432::ref_a::RefA;
use crate::peripherals::msp432::rtc_c::RtcC;
use crate::peripherals::msp432::scs::{self, Masks, Scs, cfsr, hfsr};
use crate::peripherals::msp432::sysctl::Sysctl;
use crate::peripherals::msp432::timer32::Timer32;
use crate::peripherals::msp432::wdt::Wdt;
use crate::peripherals::msp432::{Class, Cx, Fx, Lines};
use crate::peripherals::timer_a::TimerA;
use crate::peripherals::{Ctx, Effects};
use crate::pin::{PORT_J, Pin};

const SERIALS: [&str; 8] = [
    "eusci_a0", "eusci_a1", "eusci_a2", "eusci_a3", "eusci_b0", "eusci_b1", "eusci_b2", "eusci_b3",
];
const SERIAL_BYTE: [Event; 8] = [
    Event::EusciA0Byte,
    Event::EusciA1Byte,
    Event::EusciA2Byte,
    Event::EusciA3Byte,
    Event::EusciB0Byte,
    Event::EusciB1Byte,
    Event::EusciB2Byte,
    Event::EusciB3Byte,
];
const TIMERS: [&str; 4] = ["ta0", "ta1", "ta2", "ta3"];

const FLASH: ComponentId = ComponentId(1);
const ADC14: ComponentId = ComponentId(2);
const REF: ComponentId = ComponentId(3);
const AES: ComponentId = ComponentId(4);
const LPM0: StateId = StateId(5);
const LPM3: StateId = StateId(6);
const LPM4: StateId = StateId(7);
const LPM35: StateId = StateId(8);
const LPM45: StateId = StateId(9);
pub(crate) const WRITE: StateId = StateId(10);
pub(crate) const ERASE: StateId = StateId(11);

const NAMES: Names = Names {
    components: &[
        ("cpu", accounts::OFF),
        ("flash", accounts::IDLE),
        ("adc14", accounts::OFF),
        ("ref", accounts::OFF),
        ("aes256", accounts::IDLE),
    ],
    states: &[
        "active.flash",
        "active.ram",
        "off",
        "idle",
        "on",
        "lpm0",
        "lpm3",
        "lpm4",
        "lpm35",
        "lpm45",
        "write",
        "erase",
    ],
    events: &[
        Event::FlashWordWrite,
        Event::FlashSegmentErase,
        Event::FlashMassErase,
        Event::Adc14Conversion,
        Event::Crc32Byte,
        Event::AesEncrypt,
        Event::AesDecrypt,
        Event::AesRoundKey,
        Event::EusciA0Byte,
        Event::EusciA1Byte,
        Event::EusciA2Byte,
        Event::EusciA3Byte,
        Event::EusciB0Byte,
        Event::EusciB1Byte,
        Event::EusciB2Byte,
        Event::EusciB3Byte,
    ],
};

// ---- memory

/// Flash, information flash, ROM and SRAM lie in one buffer, SRAM at a place of its own.
const BYTES: usize = 1 << 19;
const INFO_AT: u32 = 0x4_0000;
const ROM_AT: u32 = 0x4_4000;
const SRAM_AT: u32 = 0x5_0000;
const SRAM_BYTES: u32 = 0x1_0000;
const ROM_BYTES: u32 = 0x400;
const SRAM: u32 = 0x2000_0000;
const SRAM_CODE: u32 = 0x0100_0000;
const ROM: u32 = 0x0200_0000;
const BANK_BYTES: u32 = 0x2000;
const TLV: u32 = 0x0020_1000;
const PERIPHERALS: u32 = 0x4000_0000;
const SLOT: u32 = 0x400;
const SLOTS: usize = 0x50;
const SCS: u32 = 0xE000_E000;
const DWT: u32 = 0xE000_1000;

/// What 16 megabytes of the address space hold as far as plain accesses go.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// Place in the buffer.
    base: u32,
    /// Bytes that plain reads, and plain writes, may touch.
    readable: u32,
    writable: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    None,
    Timer(u8),
    Eusci(u8),
    RefA,
    Aes,
    Crc32,
    Rtc,
    Wdt,
    Dio,
    Pmap,
    Timer32,
    Dma,
    Pcm,
    Cs,
    Pss,
    Flctl,
    Adc,
}

/// How the CPU sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Sleep {
    Lpm0,
    Lpm3,
    Lpm4,
    Lpm35,
    Lpm45,
}

/// The registers of all blocks.
#[derive(Clone, Serialize, Deserialize)]
struct Registers {
    lines: Lines,
    scs: Scs,
    dwt: Dwt,
    cs: Cs,
    pcm: Pcm,
    pss: Pss,
    flctl: Flctl,
    sysctl: Sysctl,
    /// PA to PE, and PJ.
    ports: [Ports; 6],
    outputs: [u16; 6],
    timers: [TimerA; 4],
    timer32: Timer32,
    eusci: [Eusci; 8],
    reference: RefA,
    aes: Aes256,
    crc: Crc32,
    rtc: RtcC,
    wdt: Wdt,
    dma: Dma,
    adc: Adc14,
    pmap: Vec<u16>,
    pmap_unlocked: bool,
    sleep: Option<Sleep>,
    /// The sleep is one of WFE.
    for_event: bool,
    slept_from: u64,
}

impl Registers {
    fn new(facts: &device::Msp432) -> Self {
        let a = &facts.aes256;
        Self {
            lines: Lines::STOPPED,
            scs: Scs::new(),
            dwt: Dwt::default(),
            cs: Cs::new(0, 0),
            pcm: Pcm::new(),
            pss: Pss::new(),
            flctl: Flctl::new(),
            sysctl: Sysctl::new(),
            ports: std::array::from_fn(|i| Ports::new(i < 3)),
            outputs: [0; 6],
            timers: std::array::from_fn(|_| TimerA::new(5, false)),
            timer32: Timer32::new(),
            eusci: std::array::from_fn(|i| Eusci::new(i < 4)),
            reference: RefA::default(),
            aes: Aes256::new(AesCycles {
                encrypt: a.encrypt_cycles,
                decrypt: a.decrypt_cycles,
                round_key: a.round_key_cycles,
                decrypt_round_key: a.decrypt_round_cycles,
            }),
            crc: Crc32::default(),
            rtc: RtcC::new(),
            wdt: Wdt::new(),
            dma: Dma::default(),
            adc: Adc14::new(),
            pmap: vec![0; 0x20],
            pmap_unlocked: false,
            sleep: None,
            for_event: false,
            slept_from: 0,
        }
    }
}

/// The bus: memory and peripherals.
struct Soc {
    common: Common,
    facts: Arc<device::Msp432>,
    memory: Box<[u8; BYTES]>,
    windows: [Window; 256],
    blocks: [(Block, u32); SLOTS],
    r: Registers,
    scb: Scb,
    fx: Fx,
    /// The cycle at which the CPU's run ends; 0 ends it behind the present instruction.
    deadline: Cycles,
    /// Wait states of data accesses that the core has not been told.
    stall: Cycles,
    /// Fetches from flash may wait.
    waits: bool,
    /// A bank is read faster than it can be.
    too_fast: [bool; 2],
    /// IPSR, for ICSR.
    exception: u32,
    /// Flash changed: the core forgets.
    changed: bool,
    image: Option<Arc<Vec<u8>>>,
}

/// What a block sees.
macro_rules! cx {
    ($soc:expr, $addr:expr, $at:expr, $now:expr) => {
        Cx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.r.lines,
            dev: &$soc.facts,
            accounts: &mut $soc.common.accounts,
            lints: &mut $soc.common.state.lints,
            fx: &mut $soc.fx,
            vcc_v: $soc.common.state.vcc_v,
        }
    };
}

/// The same for blocks that the MSP430 has too.
macro_rules! ctx {
    ($soc:expr, $effects:expr, $addr:expr, $at:expr, $now:expr) => {
        Ctx {
            now: $now,
            at: $at,
            addr: $addr,
            clocks: &$soc.r.lines.base,
            dev: &$soc.common.dev,
            accounts: &mut $soc.common.accounts,
            lints: &mut $soc.common.state.lints,
            fx: &mut $effects,
            vcc_v: $soc.common.state.vcc_v,
        }
    };
}

fn pair(pin: Pin) -> (usize, u16) {
    if pin.port == PORT_J {
        return (5, u16::from(pin.mask()));
    }
    let n = pin.port - 1;
    (usize::from(n / 2).min(5), u16::from(pin.mask()) << (8 * (n % 2)))
}

fn level(ports: &[Ports; 6], pin: Pin) -> bool {
    let (i, mask) = pair(pin);
    ports[i].levels() & mask != 0
}

fn blocks(b: &device::Msp432Bases) -> [(Block, u32); SLOTS] {
    let mut blocks = [(Block::None, 0); SLOTS];
    let mut put = |block: Block, base: u32, slots: u32| {
        for i in 0..slots {
            blocks[((base - PERIPHERALS) / SLOT + i) as usize] = (block, base);
        }
    };
    for (i, base) in [b.ta0, b.ta1, b.ta2, b.ta3].into_iter().enumerate() {
        put(Block::Timer(i as u8), base, 1);
    }
    for (i, base) in eusci_bases(b).into_iter().enumerate() {
        put(Block::Eusci(i as u8), base, 1);
    }
    put(Block::RefA, b.ref_a, 1);
    put(Block::Aes, b.aes256, 1);
    put(Block::Crc32, b.crc32, 1);
    put(Block::Rtc, b.rtc_c, 1);
    put(Block::Wdt, b.wdt_a, 1);
    put(Block::Dio, b.dio, 1);
    put(Block::Pmap, b.pmap, 1);
    put(Block::Timer32, b.timer32, 4);
    put(Block::Dma, b.dma, 8);
    put(Block::Pcm, b.pcm, 1);
    put(Block::Cs, b.cs, 1);
    put(Block::Pss, b.pss, 1);
    put(Block::Flctl, b.flctl, 4);
    put(Block::Adc, b.adc14, 4);
    blocks
}

fn eusci_bases(b: &device::Msp432Bases) -> [u32; 8] {
    [b.eusci_a0, b.eusci_a1, b.eusci_a2, b.eusci_a3, b.eusci_b0, b.eusci_b1, b.eusci_b2, b.eusci_b3]
}

/// The place of memory in the buffer.
fn place(addr: u32) -> Option<u32> {
    match addr {
        0..flctl::MAIN_BYTES => Some(addr),
        flctl::INFO.. if addr < flctl::INFO + flctl::INFO_BYTES => {
            Some(INFO_AT + addr - flctl::INFO)
        }
        SRAM_CODE.. if addr < SRAM_CODE + SRAM_BYTES => Some(SRAM_AT + addr - SRAM_CODE),
        ROM.. if addr < ROM + ROM_BYTES => Some(ROM_AT + addr - ROM),
        SRAM.. if addr < SRAM + SRAM_BYTES => Some(SRAM_AT + addr - SRAM),
        _ => None,
    }
}

fn is_flash(addr: u32) -> bool {
    addr < SRAM_CODE
}

impl Soc {
    fn now(&self) -> Picos {
        self.common.now()
    }

    /// Time of a CPU cycle.
    fn time_of(&self, at: Cycles) -> Picos {
        self.r.lines.base.mclk.time_of(at)
    }

    fn word(&self, addr: u32) -> Option<u32> {
        let i = place(addr)? as usize;
        let b = self.memory.get(i..i + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn scramble_ram(&mut self, seed: u64, banks: impl Fn(u32) -> bool) {
        let range = SRAM_AT as usize..(SRAM_AT + SRAM_BYTES) as usize;
        for (i, chunk) in self.memory[range].chunks_mut(8).enumerate() {
            if banks(8 * i as u32 / BANK_BYTES) {
                let noise = splitmix64(seed ^ (i as u64) << 20).to_le_bytes();
                chunk.copy_from_slice(&noise[..chunk.len()]);
            }
        }
    }

    /// Brings what plain accesses may touch in step with the controllers.
    fn map(&mut self) {
        let f = &self.r.flctl;
        let flash = if f.may_wait() || self.too_fast != [false; 2] { 0 } else { flctl::MAIN_BYTES };
        let sram = (self.r.sysctl.banks().count_ones() * BANK_BYTES).min(SRAM_BYTES);
        self.windows[0x00] = Window { base: 0, readable: flash, writable: 0 };
        self.windows[0x01] = Window { base: SRAM_AT, readable: sram, writable: sram };
        self.windows[0x02] = Window { base: ROM_AT, readable: ROM_BYTES, writable: 0 };
        self.windows[0x20] = Window { base: SRAM_AT, readable: sram, writable: sram };
        self.waits = flash == 0;
    }

    // ---- clocks and modes

    fn vlo_jitter(&self) -> Jitter {
        let c = &self.facts.clock;
        let period_ps = 1e12 / f64::from(c.vlo_hz);
        Jitter {
            seed: self.common.state.seed,
            sigma_ps: (period_ps * c.vlo_jitter.sigma_percent / 100.0).round() as u64,
        }
    }

    fn line_for(&self, tap: Tap, on: bool) -> (u32, u32, Option<Jitter>) {
        let jitter = (tap.source == Source::Vlo).then(|| self.vlo_jitter());
        if on { (tap.hz, tap.div, jitter) } else { (0, 1, None) }
    }

    /// Brings the lines, the operating point and the CPU's state in step with the registers.
    fn update_clocks(&mut self, now: Picos, cycles: Cycles) {
        let facts = Arc::clone(&self.facts);
        let on = self.common.runs();
        let awake = on && self.r.sleep.is_none();
        // Clocks go on in LPM0; in LPM3 only those of RTC and watchdog.
        let fast = on && matches!(self.r.sleep, None | Some(Sleep::Lpm0));
        let slow = on && !matches!(self.r.sleep, Some(Sleep::Lpm4 | Sleep::Lpm45));
        let cs = &self.r.cs;
        let tap = cs.mclk(now, &facts);
        let mclk = self.line_for(tap, true);
        let smclk = self.line_for(cs.smclk(now, &facts), fast);
        let hsmclk = self.line_for(cs.hsmclk(now, &facts), fast);
        let aclk = self.line_for(cs.aclk(now, &facts), fast);
        let bclk = self.line_for(cs.bclk(now, &facts), slow);
        let vlo =
            if slow { (facts.clock.vlo_hz, 1, Some(self.vlo_jitter())) } else { (0, 1, None) };
        let mhz = |mhz: f64| if fast { (mhz * 1e6).round() as u32 } else { 0 };
        let (modosc, sysosc) = (mhz(facts.clock.modosc_mhz), mhz(facts.clock.sysosc_mhz));
        let l = &mut self.r.lines;
        // MCLK's ticks are the CPU's cycles; while the CPU sleeps its line is put right at wake-up.
        if awake {
            l.base.mclk.retune(now, mclk.0, mclk.1, mclk.2);
        }
        if fast {
            l.fclk.retune(now, mclk.0, mclk.1, mclk.2);
        } else {
            l.fclk.retune(now, 0, 1, None);
        }
        l.base.smclk.retune(now, smclk.0, smclk.1, smclk.2);
        l.base.aclk.retune(now, aclk.0, aclk.1, aclk.2);
        l.base.vlo.retune(now, vlo.0, vlo.1, vlo.2);
        l.base.modosc.retune(now, modosc, 1, None);
        l.hsmclk.retune(now, hsmclk.0, hsmclk.1, hsmclk.2);
        l.bclk.retune(now, bclk.0, bclk.1, bclk.2);
        l.sysosc.retune(now, sysosc, 1, None);
        let state = match self.r.sleep {
            _ if !on => accounts::OFF,
            None => accounts::ACTIVE,
            Some(Sleep::Lpm0) => LPM0,
            Some(Sleep::Lpm3) => LPM3,
            Some(Sleep::Lpm4) => LPM4,
            Some(Sleep::Lpm35) => LPM35,
            Some(Sleep::Lpm45) => LPM45,
        };
        let point = OperatingPoint {
            mclk_hz: if fast { tap.hz / tap.div } else { 0 },
            smclk_hz: self.r.lines.base.smclk.freq_hz(),
            aclk_hz: self.r.lines.base.aclk.freq_hz().max(self.r.lines.bclk.freq_hz()),
            vcore: self.level(),
        };
        let uncached = self.common.uncached;
        self.common.accounts.set_state(accounts::CPU, state, now, cycles, uncached);
        self.common.accounts.set_point(point, now, cycles, uncached);
        self.check_point(awake, point);
    }

    /// The level of the operating point: core voltage 0 and 1 from the LDO, the same from the DC/DC
    /// regulator (2, 3), the same in the low-frequency mode (4, 5).
    fn level(&self) -> u8 {
        let p = &self.r.pcm;
        p.vcore() + if p.dcdc() { 2 } else { 0 } + if p.low_frequency() { 4 } else { 0 }
    }

    fn check_point(&mut self, awake: bool, point: OperatingPoint) {
        self.common.illegal = None;
        let before = self.too_fast;
        self.too_fast = [false; 2];
        if awake {
            let p = &self.facts.pcm;
            let vcore = self.r.pcm.vcore();
            let (vcc_v, mhz) = (self.common.state.vcc_v, f64::from(point.mclk_hz) / 1e6);
            let max = if self.r.pcm.low_frequency() {
                p.lf_max_khz / 1e3
            } else {
                p.mclk_max_mhz[usize::from(vcore)]
            };
            let vcc_min = if self.r.pcm.dcdc() { p.dcdc_vcc_min_v } else { p.vcc_min_v };
            // DCO frequencies are rounded.
            if mhz > max * 1.0001 {
                self.common.illegal = Some(Fault::device(
                    self.facts.peripherals.cs,
                    format!(
                        "MCLK {mhz:.3} MHz exceeds the {max} MHz that the power mode allows (core voltage level {vcore}); request another by PCMCTL0.AMR before the clock"
                    ),
                ));
            } else if vcc_v < vcc_min || vcc_v > self.common.dev.supply.vcc_max_v {
                let vcc_max = self.common.dev.supply.vcc_max_v;
                self.common.illegal = Some(Fault::device(
                    self.facts.peripherals.pcm,
                    format!(
                        "supply of {vcc_v:.3} V is outside {vcc_min} to {vcc_max} V, which the power mode needs"
                    ),
                ));
            }
            for bank in 0..2 {
                let (waits, normal) =
                    (self.r.flctl.wait_states(bank), self.r.flctl.normal_read(bank));
                let reach = self.facts.flash_max_mhz(vcore, waits, normal);
                self.too_fast[bank] = mhz > reach * 1.0001;
            }
        }
        if self.too_fast != before {
            self.map();
        }
    }

    /// A bank was read faster than it can be.
    #[cold]
    fn note_too_fast(&mut self, addr: u32) {
        let bank = usize::from(addr & 0x3_FFFF >= self.facts.flash.bank_bytes);
        let waits = self.r.flctl.wait_states(bank);
        let mhz = f64::from(self.r.lines.base.mclk.freq_hz()) / 1e6;
        let reach =
            self.facts.flash_max_mhz(self.r.pcm.vcore(), waits, self.r.flctl.normal_read(bank));
        self.common.pending_fault.get_or_insert_with(|| {
            Fault::device(
                addr,
                format!(
                    "flash bank {bank} is read at MCLK {mhz:.3} MHz with {waits} wait states, which allow {reach} MHz; raise FLCTL_BANK{bank}_RDCTL.WAIT before the clock"
                ),
            )
        });
        self.deadline = 0;
    }

    // ---- interrupts

    /// The inputs of the NVIC.
    fn inputs(&mut self) -> u64 {
        let i = &self.facts.interrupts;
        let r = &mut self.r;
        let mut lines = 0u64;
        let mut put = |input: u32, on: bool| lines |= u64::from(on) << input;
        put(i.cs, r.cs.pending() && r.sysctl.nmi_sources() & 1 == 0);
        put(i.pcm, r.pcm.pending() && r.sysctl.nmi_sources() & 4 == 0);
        put(i.wdt_a, std::mem::take(&mut r.wdt.pulse));
        put(i.flctl, r.flctl.pending());
        for (t, input) in r.timers.iter().zip([i.ta0_0, i.ta1_0, i.ta2_0, i.ta3_0]) {
            put(input, t.pending_ccr0());
            put(input + 1, t.pending());
        }
        for (n, u) in r.eusci.iter().enumerate() {
            put(i.eusci_a0 + n as u32, u.pending());
        }
        put(i.adc14, r.adc.pending());
        put(i.t32_int1, r.timer32.pending(0));
        put(i.t32_int2, r.timer32.pending(1));
        put(i.t32_intc, r.timer32.pending(0) || r.timer32.pending(1));
        put(i.aes256, r.aes.pending());
        put(i.rtc_c, r.rtc.pending());
        let dma = r.dma.interrupts();
        put(i.dma_int0, dma & 1 != 0);
        put(i.dma_int1, dma & 2 != 0);
        put(i.dma_int2, dma & 4 != 0);
        put(i.dma_int3, dma & 8 != 0);
        put(i.dma_err, dma & 16 != 0);
        for (n, p) in r.ports[..3].iter().enumerate() {
            put(i.port1 + 2 * n as u32, p.pending(0));
            put(i.port1 + 2 * n as u32 + 1, p.pending(1));
        }
        lines
    }

    /// What the DMA channels are asked for.
    fn dma_requests(&self) -> u32 {
        let r = &self.r;
        let mut requests = 0;
        for channel in 0..dma::CHANNELS {
            let source = r.dma.source(channel);
            let (n, receive) = (channel / 2, channel % 2 == 1);
            let serial = |u: &Eusci| if receive { u.rx_trigger() } else { u.tx_trigger() };
            // Sources 2 to 5: eUSCI_B in a rotation of their own (SLAS826H table 6-37).
            const B: [[usize; 4]; 4] = [[0, 3, 2, 1], [1, 0, 3, 2], [2, 1, 0, 3], [3, 2, 1, 0]];
            let on = match source {
                1 => serial(&r.eusci[n]),
                2..=5 => serial(&r.eusci[4 + B[n][usize::from(source) - 2]]),
                6 => r.timers[n].dma_flag(if receive { 2 } else { 0 }),
                7 => match channel {
                    0..=2 => r.aes.trigger(channel as u8),
                    7 => r.adc.filled != 0,
                    _ => false,
                },
                _ => false,
            };
            requests |= u32::from(on) << channel;
        }
        requests
    }

    /// Behind whatever may have changed a flag.
    fn refresh(&mut self, now: Picos, cycles: Cycles) {
        let inputs = self.inputs();
        self.r.scs.set_lines(inputs);
        let nmi = self.nmi_flags() & self.r.sysctl.nmi_sources();
        if nmi != 0 {
            self.r.scs.pend(scs::NMI);
        }
        if self.r.dma.is_on() {
            let requests = self.dma_requests();
            self.r.dma.set_lines(requests);
            self.with_dma(|dma, soc| {
                let c = &soc.facts.core_timing;
                let cost = (c.dma_control_cycles, c.dma_transfer_cycles);
                let clock = soc.r.lines.fclk;
                dma.start(&clock, now, cost, &mut DmaBus { soc, at: cycles, now });
            });
        }
    }

    fn with_dma(&mut self, act: impl FnOnce(&mut Dma, &mut Self)) {
        let mut dma = std::mem::take(&mut self.r.dma);
        act(&mut dma, self);
        self.r.dma = dma;
    }

    fn nmi_flags(&self) -> u32 {
        u32::from(self.r.cs.pending()) | u32::from(self.r.pcm.pending()) << 2
    }

    // ---- events

    fn next_event(&self) -> Option<Picos> {
        let (r, l) = (&self.r, &self.r.lines);
        let mut next = Picos::MAX;
        let mut sooner = |t: Option<Picos>| next = next.min(t.unwrap_or(Picos::MAX));
        sooner(r.scs.next_event(&l.fclk));
        sooner(r.cs.next_event(self.now()));
        sooner(r.pcm.next_event());
        sooner(r.flctl.busy_until());
        sooner(r.timer32.next_event(&l.fclk));
        sooner(r.wdt.next_event(l));
        sooner(r.rtc.next_event(&l.bclk));
        sooner(r.adc.next_event());
        sooner(r.aes.next_event());
        sooner(r.dma.next_event(&l.fclk));
        for t in &r.timers {
            sooner(t.next_event(&l.base));
        }
        for u in &r.eusci {
            sooner(u.next_event());
        }
        (next != Picos::MAX).then_some(next)
    }

    /// Carries out what is due at `t`.
    fn process_at(&mut self, t: Picos, cycles: Cycles) {
        let due = |e: Option<Picos>| e.is_some_and(|e| e <= t);
        let lines = self.r.lines.clone();
        if due(self.r.scs.next_event(&lines.fclk)) {
            self.r.scs.event(&lines.fclk, t);
        }
        if self.r.pcm.event(t) {
            self.fx.clocks = true;
        }
        if due(self.r.flctl.busy_until()) {
            self.flash_done(t);
        }
        self.r.timer32.event(&lines.fclk, t);
        if due(self.r.wdt.next_event(&lines)) {
            let hard = self.r.sysctl.watchdog_is_hard();
            let base = self.facts.peripherals.wdt_a;
            self.r.wdt.event(hard, &mut cx!(self, base, cycles, t));
        }
        if due(self.r.rtc.next_event(&lines.bclk)) {
            self.r.rtc.event(&lines.bclk, t);
        }
        for timer in &mut self.r.timers {
            if timer.next_event(&lines.base).is_some_and(|e| e <= t) {
                timer.event(&lines.base, t);
            }
        }
        for i in 0..self.r.eusci.len() {
            if due(self.r.eusci[i].next_event()) {
                self.eusci_event(i, t, cycles);
            }
        }
        if due(self.r.aes.next_event()) {
            self.r.aes.event(t);
        }
        if due(self.r.adc.next_event()) {
            self.adc_event(t, cycles);
        }
        if due(self.r.dma.next_event(&lines.fclk)) {
            self.with_dma(|dma, soc| {
                dma.event(&mut DmaBus { soc, at: cycles, now: t });
            });
        }
        self.settle_effects(t, cycles);
    }

    fn flash_done(&mut self, t: Picos) {
        let mut flctl = self.r.flctl.clone();
        let mut pokes = Vec::new();
        let memory = &self.memory;
        flctl.event(t, &mut |a| place(a).map(|i| memory[i as usize]), &mut |a, v| {
            pokes.push((a, v))
        });
        self.finish_flash(flctl, pokes);
    }

    fn finish_flash(&mut self, flctl: Flctl, pokes: Vec<(u32, u8)>) {
        for (addr, value) in pokes {
            if let Some(i) = place(addr) {
                self.memory[i as usize] = value;
            }
        }
        self.r.flctl = flctl;
        self.changed = true;
        self.image = None;
        self.fx.memory = true;
    }

    fn eusci_event(&mut self, i: usize, t: Picos, cycles: Cycles) {
        let mut eusci = self.r.eusci[i].clone();
        let base = eusci_bases(&self.facts.peripherals)[i];
        if let Some(done) = eusci.event(t) {
            self.common.accounts.count(SERIAL_BYTE[i]);
            match done {
                Done::Uart(byte) => {
                    self.common.state.uart_log.push(UartByte {
                        time_ps: t.0,
                        usci: SERIALS[i].to_owned(),
                        byte,
                    });
                }
                Done::Spi(mosi) => {
                    let (miso, drives) = self.common.exchange(i, mosi, t, cycles);
                    self.drive(drives);
                    if miso.is_none() {
                        self.common.state.lints.report(LintKind::SpiNobody, base, cycles);
                    } else if !eusci.is_mode_0() {
                        self.common.state.lints.report(LintKind::SpiMode, base, cycles);
                    }
                    eusci.spi_received(mosi, miso.unwrap_or(0xFF));
                }
                Done::Unanswered => {}
            }
            let mut effects = Effects::default();
            if let Err(fault) = eusci.go_on(&ctx!(self, effects, base, cycles, t)) {
                self.common.pending_fault = Some(fault);
            }
        }
        self.r.eusci[i] = eusci;
    }

    fn adc_event(&mut self, t: Picos, cycles: Cycles) {
        let base = self.facts.peripherals.adc14;
        let mut adc = self.r.adc.clone();
        if let Some(sample) = adc.take_sample(t) {
            self.common.accounts.count(Event::Adc14Conversion);
            let ports = &self.r.ports;
            let inside = match sample.inside {
                Some(Inside::HalfSupply) => Some(self.common.state.vcc_v / 2.0),
                Some(Inside::Temperature) => Some(self.facts.adc14.sensor_25c_mv * 1e-3),
                None => None,
            };
            let volts = inside.or_else(|| {
                self.common.adc_volts(sample.channel, sample.time, &|pin| level(ports, pin))
            });
            let reference = &self.facts.reference;
            let vref = match sample.reference {
                Reference::Supply => Some(self.common.state.vcc_v),
                Reference::RefA => {
                    let select = self.r.reference.level();
                    if !self.r.reference.settled(sample.time, reference.settle_us) {
                        self.common.state.lints.report(LintKind::ReferenceNotReady, base, cycles);
                    }
                    if self.common.state.vcc_v < reference.avcc_min_v[select] {
                        self.common.state.lints.report(LintKind::ReferenceSupply, base, cycles);
                    }
                    Some(reference.levels_v[select])
                }
                Reference::Outside => None,
            };
            match (volts, vref) {
                (Some(volts), Some(vref)) => {
                    let bits = adc.bits(&self.facts);
                    adc.hold(volts, vref, bits);
                }
                (None, _) => {
                    let what = format!(
                        "ADC14 channel A{} has no voltage; connect one to it",
                        sample.channel
                    );
                    self.common.pending_fault = Some(Fault::device(base, what));
                }
                (_, None) => {
                    let what = "external references of the ADC14 are not modelled; choose ADC14VRSEL 0 or 1";
                    self.common.pending_fault = Some(Fault::device(base, what));
                }
            }
        }
        if let Err(fault) = adc.event(t, &mut cx!(self, base, cycles, t)) {
            self.common.pending_fault = Some(fault);
        }
        self.r.adc = adc;
    }

    /// What accesses and events led to outside their block.
    fn settle_effects(&mut self, now: Picos, cycles: Cycles) {
        if std::mem::take(&mut self.fx.memory) {
            self.map();
        }
        if std::mem::take(&mut self.fx.clocks) {
            self.update_clocks(now, cycles);
        }
        while let Some((run, _)) = self.r.aes.take_run() {
            self.common.accounts.count(match run {
                AesRun::Encrypt => Event::AesEncrypt,
                AesRun::Decrypt => Event::AesDecrypt,
                AesRun::RoundKey => Event::AesRoundKey,
            });
        }
        let uncached = self.common.uncached;
        let on = |on: bool, rest: StateId| if on { accounts::ON } else { rest };
        let states = [
            (FLASH, self.r.flctl.state()),
            (ADC14, on(self.r.adc.busy(), accounts::OFF)),
            (REF, on(self.r.reference.is_on(), accounts::OFF)),
            (AES, on(self.r.aes.busy(), accounts::IDLE)),
        ];
        if self.common.state.powered {
            for (component, state) in states {
                self.common.accounts.set_state(component, state, now, cycles, uncached);
            }
        }
        self.refresh(now, cycles);
    }

    // ---- pins

    fn drive(&mut self, drives: Vec<Drive>) {
        for (pin, level) in drives {
            let (i, mask) = pair(pin);
            self.r.ports[i].drive(mask, level);
            self.deadline = 0;
        }
    }

    fn port_written(&mut self, i: usize, now: Picos, cycles: Cycles) {
        let outputs = self.r.ports[i].outputs();
        let mut changed = outputs ^ self.r.outputs[i];
        self.r.outputs[i] = outputs;
        let mut drives = Vec::new();
        while changed != 0 {
            let bit = changed.trailing_zeros() as u8;
            changed &= changed - 1;
            let port = if i == 5 { PORT_J } else { 2 * i as u8 + 1 + bit / 8 };
            let high = outputs >> bit & 1 != 0;
            drives.extend(self.common.output(Pin { port, bit: bit % 8 }, high, now, cycles));
        }
        let ports = &self.r.ports;
        let low = |pin| {
            let (i, mask) = pair(pin);
            ports[i].output_bits() & mask != 0 && ports[i].outputs() & mask == 0
        };
        drives.extend(self.common.select(low, now, cycles));
        self.drive(drives);
        if i == 5 {
            let sel = self.r.ports[5].sel0();
            let facts = Arc::clone(&self.facts);
            self.r.cs.set_pins(sel & 3 == 3, sel & 0xC == 0xC, now, &facts);
            self.fx.clocks = true;
        }
    }

    // ---- registers

    #[cold]
    fn no_peripheral(&self, addr: u32) -> Fault {
        match self.common.dev.gap_at(addr) {
            Some(g) => Fault::device(
                addr,
                format!("register of {}, which is not modelled: {}", g.name, g.why),
            ),
            None => Fault::unmapped(addr),
        }
    }

    /// A 16-bit register at an even address.
    fn read_half(&mut self, addr: u32, mask: u32, at: Cycles) -> Result<u32, Fault> {
        let now = self.time_of(at);
        let Some(&(block, base)) = self.blocks.get(((addr - PERIPHERALS) / SLOT) as usize) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let mut effects = Effects::default();
        match block {
            Block::Timer(i) => {
                let t = &mut self.r.timers[usize::from(i)];
                t.read(off, &ctx!(self, effects, addr, at, now)).map(u32::from)
            }
            Block::Eusci(i) => {
                let u = &mut self.r.eusci[usize::from(i)];
                u.read(off, &ctx!(self, effects, addr, at, now)).map(u32::from)
            }
            Block::Aes => {
                let c = ctx!(self, effects, addr, at, now);
                self.r.aes.read(off, mask as u16, &c).map(u32::from)
            }
            Block::RefA => self.r.reference.read(off, &cx!(self, addr, at, now)),
            Block::Crc32 => self.r.crc.read(off, &cx!(self, addr, at, now)),
            Block::Rtc => self.r.rtc.read(off, &cx!(self, addr, at, now)),
            Block::Wdt => self.r.wdt.read(off, &cx!(self, addr, at, now)),
            Block::Dio => {
                let (i, off) = Self::port_at(off).ok_or_else(|| self.no_peripheral(addr))?;
                self.r.ports[i].read(off, &cx!(self, addr, at, now))
            }
            Block::Pmap => Ok(match off {
                0 => 0x96A5,
                2 => u32::from(self.pmap_control()),
                _ => {
                    let kept = self.r.pmap.get((off / 2) as usize);
                    u32::from(*kept.ok_or_else(|| self.no_peripheral(addr))?)
                }
            }),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    fn pmap_control(&self) -> u16 {
        self.r.pmap[1] & 2 | u16::from(!self.r.pmap_unlocked)
    }

    fn write_half(&mut self, addr: u32, value: u32, mask: u32, at: Cycles) -> Result<(), Fault> {
        let now = self.time_of(at);
        let Some(&(block, base)) = self.blocks.get(((addr - PERIPHERALS) / SLOT) as usize) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let mut effects = Effects::default();
        let (v, m) = (value as u16, mask as u16);
        match block {
            Block::Timer(i) => {
                let t = &mut self.r.timers[usize::from(i)];
                t.write(off, v, m, &mut ctx!(self, effects, addr, at, now))
            }
            Block::Eusci(i) => {
                let u = &mut self.r.eusci[usize::from(i)];
                u.write(off, v, m, &ctx!(self, effects, addr, at, now))
            }
            Block::Aes => self.r.aes.write(off, v, m, &mut ctx!(self, effects, addr, at, now)),
            Block::RefA => self.r.reference.write(off, value, mask, &mut cx!(self, addr, at, now)),
            Block::Crc32 => self.r.crc.write(off, value, mask, &mut cx!(self, addr, at, now)),
            Block::Rtc => self.r.rtc.write(off, value, mask, &mut cx!(self, addr, at, now)),
            Block::Wdt => {
                let hard = self.r.sysctl.watchdog_is_hard();
                self.r.wdt.write(off, value, mask, hard, &mut cx!(self, addr, at, now))
            }
            Block::Dio => {
                let (i, off) = Self::port_at(off).ok_or_else(|| self.no_peripheral(addr))?;
                self.r.ports[i].write(off, value, mask, &mut cx!(self, addr, at, now))?;
                self.port_written(i, now, at);
                Ok(())
            }
            Block::Pmap => {
                match off {
                    0 => self.r.pmap_unlocked = v == 0x2D52,
                    _ if self.r.pmap_unlocked => {
                        let i = (off / 2) as usize;
                        let Some(kept) = self.r.pmap.get_mut(i) else {
                            return Err(self.no_peripheral(addr));
                        };
                        *kept = *kept & !m | v & m;
                    }
                    _ => self.common.state.lints.report(LintKind::LockedBits, addr, at),
                }
                Ok(())
            }
            _ => Err(self.no_peripheral(addr)),
        }
    }

    /// The pair of ports and the register's offset in it.
    fn port_at(off: u32) -> Option<(usize, u32)> {
        match off >> 5 {
            i @ 0..=4 => Some((i as usize, off & 0x1E)),
            9 => Some((5, off & 0x1E)),
            _ => None,
        }
    }

    /// A 32-bit register at a multiple of four.
    fn read_word(&mut self, addr: u32, at: Cycles) -> Result<u32, Fault> {
        let now = self.time_of(at);
        let trace = self.r.scs.trace_enabled();
        if addr >= SCS {
            let b = &self.facts.peripherals;
            let nmi = self.nmi_flags();
            return match addr {
                SCS..0xE000_F000 if self.common.dev.gap_at(addr).is_none() => {
                    let (off, scb, exception) = (addr - SCS, self.scb, self.exception);
                    let c = cx!(self, addr, at, now);
                    self.r.scs.read(off, exception, &scb, &c)
                }
                _ if addr & !0xFFF == b.rstctl => {
                    let off = addr - b.rstctl;
                    self.r.sysctl.read_rstctl(off, &cx!(self, addr, at, now))
                }
                _ if addr >= b.sysctl && addr < b.sysctl + 0x2000 => {
                    let off = addr - b.sysctl;
                    self.r.sysctl.read(off, nmi, &cx!(self, addr, at, now))
                }
                _ => Err(self.no_peripheral(addr)),
            };
        }
        if addr & !0xFFF == DWT {
            return self.r.dwt.read(addr - DWT, trace, &cx!(self, addr, at, now));
        }
        let slot = (addr.wrapping_sub(PERIPHERALS) / SLOT) as usize;
        let Some(&(block, base)) = self.blocks.get(slot) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let c = cx!(self, addr, at, now);
        match block {
            Block::Timer32 => self.r.timer32.read(off, &c),
            Block::Dma => self.r.dma.read(off, &c),
            Block::Pcm => self.r.pcm.read(off, &c),
            Block::Cs => self.r.cs.read(off, &c),
            Block::Pss => self.r.pss.read(off, &c),
            Block::Flctl => self.r.flctl.read(off, &c),
            Block::Adc => self.r.adc.read(off, &c),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    fn write_word(&mut self, addr: u32, value: u32, mask: u32, at: Cycles) -> Result<(), Fault> {
        let now = self.time_of(at);
        let trace = self.r.scs.trace_enabled();
        if addr >= SCS {
            let b = &self.facts.peripherals;
            return match addr {
                SCS..0xE000_F000 if self.common.dev.gap_at(addr).is_none() => {
                    let mut scb = self.scb;
                    let mut c = cx!(self, addr, at, now);
                    self.r.scs.write(addr - SCS, value, mask, &mut scb, &mut c)?;
                    self.scb = scb;
                    let after = self.r.scs.trace_enabled();
                    if after != trace {
                        self.r.dwt.trace_switched(after, at);
                    }
                    Ok(())
                }
                _ if addr & !0xFFF == b.rstctl => {
                    let off = addr - b.rstctl;
                    self.r.sysctl.write_rstctl(off, value, mask, &mut cx!(self, addr, at, now))
                }
                _ if addr >= b.sysctl && addr < b.sysctl + 0x2000 => {
                    let off = addr - b.sysctl;
                    self.r.sysctl.write(off, value, mask, &mut cx!(self, addr, at, now))
                }
                _ => Err(self.no_peripheral(addr)),
            };
        }
        if addr & !0xFFF == DWT {
            let mut c = cx!(self, addr, at, now);
            return self.r.dwt.write(addr - DWT, value, mask, trace, &mut c);
        }
        let slot = (addr.wrapping_sub(PERIPHERALS) / SLOT) as usize;
        let Some(&(block, base)) = self.blocks.get(slot) else {
            return Err(self.no_peripheral(addr));
        };
        let off = addr - base;
        let mut c = cx!(self, addr, at, now);
        match block {
            Block::Timer32 => self.r.timer32.write(off, value, mask, &mut c),
            Block::Dma => self.r.dma.write(off, value, mask, &mut c),
            Block::Pcm => self.r.pcm.write(off, value, mask, &mut c),
            Block::Cs => self.r.cs.write(off, value, mask, &mut c),
            Block::Pss => self.r.pss.write(off, value, mask, &mut c),
            Block::Flctl => self.r.flctl.write(off, value, mask, &mut c),
            Block::Adc => self.r.adc.write(off, value, mask, &mut c),
            _ => Err(self.no_peripheral(addr)),
        }
    }

    /// Whether the registers of `addr` are 16 bits wide.
    fn is_half(addr: u32) -> bool {
        (PERIPHERALS..PERIPHERALS + 0xC000).contains(&addr)
    }

    fn read_register(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        let value = if Self::is_half(addr) {
            match width {
                Width::W32 => {
                    let low = self.read_half(addr, 0xFFFF, at)?;
                    low | self.read_half(addr + 2, 0xFFFF, at)? << 16
                }
                Width::W16 => self.read_half(addr, 0xFFFF, at)?,
                Width::W8 => {
                    let shift = 8 * (addr & 1);
                    self.read_half(addr & !1, 0xFF << shift, at)? >> shift & 0xFF
                }
            }
        } else {
            let shift = 8 * (addr & 3);
            let bits = match width {
                Width::W8 => 0xFF,
                Width::W16 => 0xFFFF,
                Width::W32 => u32::MAX,
            };
            self.read_word(addr & !3, at)? >> shift & bits
        };
        // Reading may clear a flag, and with it the next event or an interrupt is another one.
        self.deadline = 0;
        let now = self.time_of(at);
        self.refresh(now, at);
        Ok(value)
    }

    fn write_register(
        &mut self,
        addr: u32,
        width: Width,
        value: u32,
        at: Cycles,
    ) -> Result<(), Fault> {
        // Whatever it leads to is looked at behind this instruction.
        self.deadline = 0;
        if Self::is_half(addr) {
            match width {
                Width::W32 => {
                    self.write_half(addr, value & 0xFFFF, 0xFFFF, at)?;
                    self.write_half(addr + 2, value >> 16, 0xFFFF, at)?;
                }
                Width::W16 => self.write_half(addr, value & 0xFFFF, 0xFFFF, at)?,
                Width::W8 => {
                    let shift = 8 * (addr & 1);
                    self.write_half(addr & !1, (value & 0xFF) << shift, 0xFF << shift, at)?;
                }
            }
        } else {
            let shift = 8 * (addr & 3);
            let mask = match width {
                Width::W8 => 0xFF << shift,
                Width::W16 => 0xFFFF << shift,
                Width::W32 => u32::MAX,
            };
            self.write_word(addr & !3, value << shift, mask, at)?;
        }
        let now = self.time_of(at);
        self.settle_effects(now, at);
        Ok(())
    }

    // ---- accesses that are not plain

    #[cold]
    #[inline(never)]
    fn read_slow(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        match addr >> 24 {
            0x00 if place(addr).is_some() => {
                if self.r.flctl.is_busy(addr) {
                    self.wait_for_flash(at);
                } else {
                    self.stall += self.r.flctl.loaded(addr);
                }
                if self.too_fast != [false; 2] && self.too_fast[self.bank(addr)] {
                    self.note_too_fast(addr);
                }
                Ok(self.peek(addr, width))
            }
            0x01 | 0x20 if place(addr).is_some() => Err(self.bank_is_off(addr)),
            0x22 | 0x23 | 0x42 | 0x43 => {
                let (byte, bit) = bit_band(addr);
                Ok(self.read(byte, Width::W8, at)? >> bit & 1)
            }
            0x40 | 0xE0 => self.read_register(addr, width, at),
            _ => Err(Fault::unmapped(addr)),
        }
    }

    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        match addr >> 24 {
            0x00 if place(addr).is_some() => {
                let now = self.time_of(at);
                self.deadline = 0;
                let mut flctl = self.r.flctl.clone();
                flctl.store(width, value, &mut cx!(self, addr, at, now))?;
                self.r.flctl = flctl;
                self.settle_effects(now, at);
                Ok(())
            }
            0x02 if place(addr).is_some() => Err(Fault::read_only(addr)),
            0x01 | 0x20 if place(addr).is_some() => Err(self.bank_is_off(addr)),
            0x22 | 0x23 | 0x42 | 0x43 => {
                let (byte, bit) = bit_band(addr);
                let old = self.read(byte, Width::W8, at)?;
                self.write(byte, Width::W8, old & !(1 << bit) | (value & 1) << bit, at)
            }
            0x40 | 0xE0 => self.write_register(addr, width, value, at),
            _ => Err(Fault::unmapped(addr)),
        }
    }

    fn bank(&self, addr: u32) -> usize {
        usize::from(addr & 0x3_FFFF >= self.facts.flash.bank_bytes)
    }

    /// A read of a bank that is being changed waits for the end.
    fn wait_for_flash(&mut self, at: Cycles) {
        if let Some(end) = self.r.flctl.busy_until() {
            let tick = self.r.lines.base.mclk.tick_not_before(end);
            self.stall += tick.saturating_sub(at + self.stall);
        }
        self.deadline = 0;
    }

    fn bank_is_off(&self, addr: u32) -> Fault {
        Fault::device(addr, "access to an SRAM bank that is off; set its bit in SYS_SRAM_BANKEN")
    }

    fn peek(&self, addr: u32, width: Width) -> u32 {
        let Some(i) = place(addr) else { return 0 };
        let bytes = &self.memory[i as usize..];
        (0..width.bytes()).fold(0, |v, n| v | u32::from(bytes[n as usize]) << (8 * n))
    }

    // ---- resets

    fn reset_as(&mut self, class: Class, source: u8, now: Picos, cycles: Cycles) {
        self.reset_with(class, source, false, now, cycles);
    }

    /// Behind LPM3.5 and LPM4.5 the pins keep what they had.
    fn reset_with(
        &mut self,
        class: Class,
        source: u8,
        keep_pins: bool,
        now: Picos,
        cycles: Cycles,
    ) {
        self.fx = Fx::default();
        // MCLK may have been at rest.
        self.r.lines.base.mclk.restart(now, cycles);
        self.r.sleep = None;
        self.r.for_event = false;
        self.scb = Scb::default();
        let r = &mut self.r;
        r.scs.reset();
        r.sysctl.reset(class, source);
        r.dma = Dma::default();
        r.timers.iter_mut().for_each(TimerA::reset);
        r.eusci.iter_mut().for_each(Eusci::reset);
        r.timer32 = Timer32::new();
        r.adc.reset();
        r.aes.reset();
        r.crc = Crc32::default();
        r.reference = RefA::default();
        r.flctl.reset();
        if class >= Class::Hard && !keep_pins {
            r.ports.iter_mut().for_each(Ports::reset);
            r.pmap.fill(0);
        }
        if class >= Class::Reboot {
            // Clocks, power and the flash's ways of reading go back too.
            r.cs.reset();
            r.pcm = Pcm::new();
            r.pss = Pss::new();
            r.flctl = Flctl::new();
            r.dwt = Dwt::default();
            r.rtc = RtcC::new();
        }
        self.common.pending_fault = None;
        self.map();
        self.update_clocks(now, cycles);
        self.r.wdt.reset(&self.r.lines.clone(), now);
        for i in 0..6 {
            self.port_written(i, now, cycles);
        }
        self.settle_effects(now, cycles);
        self.deadline = 0;
    }

    fn abort_flash(&mut self, seed: u64) {
        let mut flctl = self.r.flctl.clone();
        let mut pokes = Vec::new();
        let memory = &self.memory;
        if flctl.cut(seed, &mut |a| place(a).map(|i| memory[i as usize]), &mut |a, v| {
            pokes.push((a, v))
        }) {
            self.finish_flash(flctl, pokes);
        }
    }

    fn write_tlv(&mut self) {
        let t = &self.facts.tlv;
        // Tags and lengths as SLAU356I chapter 2 has them: info, then clock system calibration.
        let words = [
            (0x00, 0x0000_0000),
            (0x04, 0x0000_000B),
            (0x08, 0x0000_0004),
            (0x0C, t.device_id),
            (0x10, t.hardware_revision),
            (0x14, t.boot_revision),
            (0x18, t.rom_revision),
            (0x30, 0x0000_0003),
            (0x34, 0x0000_0010),
            (0x40, t.dcoir_fcal_rsel04),
            (0x44, t.dcoir_fcal_rsel5),
            (0x50, (t.dcoir_constk_rsel04 as f32).to_bits()),
            (0x54, (t.dcoir_constk_rsel5 as f32).to_bits()),
        ];
        for (off, word) in words {
            if let Some(i) = place(TLV + off) {
                self.memory[i as usize..i as usize + 4].copy_from_slice(&u32::to_le_bytes(word));
            }
        }
    }
}

/// The byte and the bit that a word of an alias region stands for (Armv7-M ARM B3.1; DDI0439 3.7).
fn bit_band(addr: u32) -> (u32, u32) {
    let off = addr & 0x01FF_FFFF;
    (addr & 0xF000_0000 | off >> 5, off >> 2 & 7)
}

/// Memory as the DMA controller sees it: all but the core's own registers.
struct DmaBus<'a> {
    soc: &'a mut Soc,
    at: Cycles,
    now: Picos,
}

impl DmaBus<'_> {
    /// The CPU's clock may stand: a cycle number at which it is now.
    fn cycle(&self) -> Cycles {
        let mclk = &self.soc.r.lines.base.mclk;
        mclk.ticks_at(self.now).max(self.at)
    }
}

impl dma::Memory for DmaBus<'_> {
    fn read(&mut self, addr: u32, width: Width) -> Result<u32, Fault> {
        if addr >= 0xE000_0000 {
            return Err(Fault::unmapped(addr));
        }
        let at = self.cycle();
        let value = self.soc.read(addr, width, at);
        self.soc.stall = 0;
        value
    }

    fn write(&mut self, addr: u32, width: Width, value: u32) -> Result<(), Fault> {
        if addr >= 0xE000_0000 {
            return Err(Fault::unmapped(addr));
        }
        let at = self.cycle();
        let done = self.soc.write(addr, width, value, at);
        self.soc.stall = 0;
        done
    }
}

impl Bus for Soc {
    const WAITS: bool = true;

    #[inline]
    fn read(&mut self, addr: u32, width: Width, at: Cycles) -> Result<u32, Fault> {
        match self.read_plain(addr, width, at) {
            Some(value) => Ok(value),
            None => self.read_slow(addr, width, at),
        }
    }

    #[inline]
    fn write(&mut self, addr: u32, width: Width, value: u32, at: Cycles) -> Result<(), Fault> {
        if self.write_plain(addr, width, value, at) {
            return Ok(());
        }
        self.write_slow(addr, width, value, at)
    }

    #[inline(always)]
    fn read_plain(&self, addr: u32, width: Width, _at: Cycles) -> Option<u32> {
        let w = &self.windows[(addr >> 24) as usize];
        let off = addr & 0x00FF_FFFF;
        if off >= w.readable {
            return None;
        }
        let i = (w.base + off) as usize & (BYTES - 1);
        Some(match width {
            Width::W8 => u32::from(self.memory[i]),
            Width::W16 => {
                let i = i & !1;
                u32::from(u16::from_le_bytes([self.memory[i], self.memory[i + 1]]))
            }
            Width::W32 => {
                let i = i & !3;
                u32::from_le_bytes([
                    self.memory[i],
                    self.memory[i + 1],
                    self.memory[i + 2],
                    self.memory[i + 3],
                ])
            }
        })
    }

    #[inline(always)]
    fn write_plain(&mut self, addr: u32, width: Width, value: u32, _at: Cycles) -> bool {
        let w = &self.windows[(addr >> 24) as usize];
        let off = addr & 0x00FF_FFFF;
        if off >= w.writable {
            return false;
        }
        let i = (w.base + off) as usize & (BYTES - 1);
        let bytes = value.to_le_bytes();
        match width {
            Width::W8 => self.memory[i] = bytes[0],
            Width::W16 => {
                let i = i & !1;
                self.memory[i] = bytes[0];
                self.memory[i + 1] = bytes[1];
            }
            Width::W32 => {
                let i = i & !3;
                self.memory[i..i + 4].copy_from_slice(&bytes);
            }
        }
        true
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        let sram = matches!(addr >> 24, 0x01 | 0x20);
        if sram && addr & 0x00FF_FFFF >= self.windows[0x20].readable {
            return Err(Fault::not_code(addr));
        }
        let Some(i) = place(addr).map(|i| i as usize) else { return Err(Fault::not_code(addr)) };
        Ok(u16::from_le_bytes([self.memory[i], self.memory[i + 1]]))
    }

    #[inline]
    fn cacheable(&self, addr: u32) -> bool {
        is_flash(addr)
    }

    #[inline]
    fn deadline(&self) -> Cycles {
        self.deadline
    }

    #[inline]
    fn scb(&self) -> &Scb {
        &self.scb
    }

    #[inline]
    fn scb_mut(&mut self) -> &mut Scb {
        &mut self.scb
    }

    #[inline(always)]
    fn fetched(&mut self, pc: u32, bytes: u32) -> Cycles {
        if !self.waits || !is_flash(pc) {
            return 0;
        }
        self.fetched_slow(pc, bytes)
    }

    #[inline(always)]
    fn stall(&mut self) -> Cycles {
        if self.stall == 0 { 0 } else { std::mem::take(&mut self.stall) }
    }
}

impl Soc {
    #[inline(never)]
    fn fetched_slow(&mut self, pc: u32, bytes: u32) -> Cycles {
        if self.too_fast[self.bank(pc)] {
            self.note_too_fast(pc);
        }
        if self.r.flctl.is_busy(pc) {
            // The run loop holds the CPU until the bank can be read.
            self.deadline = 0;
            return 0;
        }
        self.r.flctl.fetched(pc, bytes)
    }
}

/// The chip.
pub(crate) struct Msp432 {
    cpu: Cpu,
    soc: Soc,
    /// An EXC_RETURN that has been branched to and not been acted upon; asleep, that of SLEEPONEXIT.
    returning: Option<u32>,
}

/// What a snapshot keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedMsp432 {
    flash: SharedBytes,
    sram: Vec<u8>,
    registers: Registers,
    scb: [u32; 6],
    stall: Cycles,
    r: [u32; 16],
    sp_other: u32,
    psr: u32,
    masks: [u32; 4],
    s: [u32; 32],
    fpscr: u32,
    exclusive: bool,
    cycles: Cycles,
    cycles_uncached: Cycles,
    pipeline: (u32, u32, Cycles),
    returning: Option<u32>,
}

/// Bytes that snapshots share until one changes.
#[derive(Clone)]
struct SharedBytes(Arc<Vec<u8>>);

impl Serialize for SharedBytes {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(s)
    }
}

impl<'de> Deserialize<'de> for SharedBytes {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self(Arc::new(Vec::deserialize(d)?)))
    }
}

impl Msp432 {
    fn masks(&self) -> Masks {
        Masks {
            primask: self.cpu.primask & 1 != 0,
            faultmask: self.cpu.faultmask & 1 != 0,
            basepri: self.cpu.basepri as u8,
        }
    }

    fn start_at_vector(&mut self) {
        let word = |addr: u32| self.soc.word(addr).unwrap_or(u32::MAX);
        let (sp, pc) = (word(0), word(4));
        let state = thumb::State {
            psr: thumb::psr::T * (pc & 1),
            cycles: self.cpu.cycles,
            cycles_uncached: self.cpu.cycles_uncached,
            ..thumb::State::default()
        };
        self.cpu.set_state(&state);
        self.cpu.r[thumb::SP] = sp & !3;
        self.cpu.r[thumb::PC] = pc & !1;
        self.cpu.r[thumb::LR] = u32::MAX;
        self.returning = None;
        self.soc.exception = 0;
    }

    /// WFI or WFE: the mode that SCR and PCM ask for.
    fn fall_asleep(&mut self, for_event: bool) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        let r = &mut self.soc.r;
        let mut sleep = Sleep::Lpm0;
        if r.scs.sleep_deep() {
            let deep = r.pcm.deep();
            let clocks_asked = r.timers.iter().any(|t| t.requests_smclk() || t.requests_aclk())
                || r.eusci.iter().any(|u| u.requests_smclk() || u.requests_aclk())
                || r.adc.busy()
                || !r.wdt.held() && !r.wdt.low_frequency();
            if r.pcm.refuses(deep) {
                r.pcm.flag(pcm::LPM_INVALID_TR);
            } else if clocks_asked && !r.pcm.forces_entry() {
                r.pcm.flag(pcm::LPM_INVALID_CLK);
            } else {
                sleep = match deep {
                    Deep::Lpm3 if r.rtc.held() && r.wdt.held() => Sleep::Lpm4,
                    Deep::Lpm3 => Sleep::Lpm3,
                    Deep::Lpm35 => Sleep::Lpm35,
                    Deep::Lpm45 => Sleep::Lpm45,
                };
            }
        }
        r.sleep = Some(sleep);
        r.for_event = for_event;
        let mut start = now;
        if sleep != Sleep::Lpm0 {
            // The way down still costs what the CPU costs.
            start = now + us(self.soc.facts.pcm.lpm3_entry_us);
            self.soc.common.state.now_ps = start.0;
        }
        self.soc.r.slept_from = self.soc.r.lines.fclk.ticks_at(start);
        if matches!(sleep, Sleep::Lpm35 | Sleep::Lpm45) {
            let keep = sleep == Sleep::Lpm35;
            let seed = self.soc.common.state.seed ^ start.0;
            self.soc.scramble_ram(seed, |bank| !(keep && bank == 0));
        } else if sleep != Sleep::Lpm0 {
            let retained = self.soc.r.sysctl.retained();
            let seed = self.soc.common.state.seed ^ start.0;
            self.soc.scramble_ram(seed, |bank| retained >> bank & 1 == 0);
        }
        self.soc.update_clocks(start, cycles);
        self.soc.refresh(start, cycles);
    }

    /// The CPU goes on: at an edge of its clock from LPM0, behind the wake-up time from deeper modes,
    /// by a reset from those that lose their registers.
    fn wake(&mut self) {
        let Some(sleep) = self.soc.r.sleep.take() else { return };
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        let p = &self.soc.facts.pcm;
        let fclk = self.soc.r.lines.fclk;
        let start = match sleep {
            Sleep::Lpm0 => {
                let trace = self.soc.r.scs.trace_enabled();
                let slept = fclk.ticks_at(now).saturating_sub(self.soc.r.slept_from);
                self.soc.r.dwt.slept(trace, slept);
                let edge = fclk.tick_not_before(now);
                fclk.time_of(edge + u64::from(p.lpm0_wake_cycles))
            }
            Sleep::Lpm3 | Sleep::Lpm4 => now + us(p.lpm3_wake_us),
            Sleep::Lpm35 | Sleep::Lpm45 => {
                let wait = if sleep == Sleep::Lpm35 { p.lpm35_wake_us } else { p.lpm45_wake_us };
                let start = now + us(wait);
                self.soc.common.state.now_ps = start.0;
                let rtc = self.soc.r.rtc.clone();
                self.soc.reset_with(Class::Por, 0, true, start, cycles);
                if sleep == Sleep::Lpm35 {
                    self.soc.r.rtc = rtc;
                }
                self.soc.r.pcm.lock(sleep == Sleep::Lpm35);
                self.start_at_vector();
                return;
            }
        };
        self.soc.common.state.now_ps = start.0;
        self.soc.r.lines.base.mclk.restart(start, cycles);
        self.soc.update_clocks(start, cycles);
    }

    // ---- exceptions

    /// Whether a vector leads somewhere.
    fn has_handler(&self, exception: u32) -> bool {
        let vector = self.soc.scb.vtor.wrapping_add(4 * exception);
        self.soc.word(vector).is_some_and(|v| v & 1 != 0 && place(v & !1).is_some())
    }

    /// A fault of the program: its handler's, HardFault's, or the end.
    fn raise(
        &mut self,
        exception: u32,
        status: u32,
        addr: Option<u32>,
        end: Fault,
    ) -> Result<(), Fault> {
        let masks = self.masks();
        let s = &mut self.soc.r.scs;
        s.cfsr |= status;
        if let Some(addr) = addr {
            s.bfar = addr;
        }
        if s.fault_enabled(exception) && s.can_take(exception, masks) {
            s.pend(exception);
            return Ok(());
        }
        if s.can_take(scs::HARD_FAULT, masks) && self.has_handler(scs::HARD_FAULT) {
            let s = &mut self.soc.r.scs;
            s.hfsr |= hfsr::FORCED;
            s.pend(scs::HARD_FAULT);
            return Ok(());
        }
        Err(end)
    }

    fn usage_fault(&mut self, cause: Usage, addr: u32) -> Result<(), Fault> {
        let pc = self.cpu.r[thumb::PC];
        let (bit, what) = match cause {
            Usage::Undefined => (cfsr::UNDEFINSTR, "UNDEFINSTR: no instruction of this core"),
            Usage::InvalidState => (
                cfsr::INVSTATE,
                "INVSTATE: a branch to an even address, which leaves Thumb state; function pointers have bit 0 set",
            ),
            Usage::InvalidPc => (cfsr::INVPC, "INVPC: an impossible EXC_RETURN"),
            Usage::NoCoprocessor => (
                cfsr::NOCP,
                "NOCP: a floating-point instruction while the unit is off; set CPACR bits 20 to 23",
            ),
            Usage::Unaligned => (cfsr::UNALIGNED, "UNALIGNED: an access that must be aligned"),
            Usage::DivideByZero => {
                (cfsr::DIVBYZERO, "DIVBYZERO: division by zero with CCR.DIV_0_TRP")
            }
        };
        let lockup = !self.soc.r.scs.can_take(scs::HARD_FAULT, self.masks());
        let why = if lockup { "lockup" } else { "no handler" };
        let end = Fault::device(addr, format!("UsageFault with {why}: {what}")).at_pc(pc);
        self.raise(scs::USAGE_FAULT, bit, None, end)
    }

    /// An access that failed: a BusFault where the program has enabled it, else the end, because the
    /// sentence tells its author more than a default handler's loop would.
    fn bus_fault(&mut self, fault: Fault) -> Result<(), Fault> {
        let masks = self.masks();
        let addr = fault.addr();
        let status = match fault.kind() {
            FaultKind::Unmapped | FaultKind::ReadOnly => cfsr::PRECISERR | cfsr::BFARVALID,
            FaultKind::NotCode => cfsr::IBUSERR,
            _ => return Err(fault),
        };
        let s = &self.soc.r.scs;
        if !s.fault_enabled(scs::BUS_FAULT) || !s.can_take(scs::BUS_FAULT, masks) {
            return Err(fault);
        }
        let precise = (status & cfsr::PRECISERR != 0).then_some(addr);
        self.raise(scs::BUS_FAULT, status, precise, fault)
    }

    fn supervisor_call(&mut self) -> Result<(), Fault> {
        let masks = self.masks();
        if self.soc.r.scs.can_take(scs::SVCALL, masks) {
            self.soc.r.scs.pend(scs::SVCALL);
            return Ok(());
        }
        // At its own or a higher priority SVC escalates (DDI0403 B1.5.10).
        let pc = self.cpu.r[thumb::PC];
        let end =
            Fault::device(pc, "SVC at a priority that does not allow it, and no HardFault handler")
                .at_pc(pc);
        if self.soc.r.scs.can_take(scs::HARD_FAULT, masks) && self.has_handler(scs::HARD_FAULT) {
            self.soc.r.scs.hfsr |= hfsr::FORCED;
            self.soc.r.scs.pend(scs::HARD_FAULT);
            return Ok(());
        }
        Err(end)
    }

    /// Carries out the events up to `end`; the exception that would now be taken.
    fn look_ahead(&mut self, end: Picos) -> Option<u32> {
        let masks = self.masks();
        loop {
            if let Some(e) = self.soc.r.scs.next(masks) {
                return Some(e);
            }
            let t = self.next_event().filter(|t| *t <= end)?;
            self.event_at(t);
        }
    }

    fn event_at(&mut self, t: Picos) {
        let cycles = self.soc.r.lines.base.mclk.ticks_at(t).max(self.cpu.cycles);
        self.process(t, t, cycles);
    }

    fn process(&mut self, t: Picos, now: Picos, cycles: Cycles) {
        let soc = &mut self.soc;
        soc.process_at(t, cycles);
        if soc.common.next_event().is_some_and(|e| e <= t) {
            let (drives, shifts) = soc.common.events(t, now, cycles);
            for shift in shifts {
                let gave = soc.r.eusci[shift.serial].slave_exchange(shift.byte);
                soc.common.shifted_out(&shift, t, gave);
            }
            soc.drive(drives);
            soc.settle_effects(now, cycles);
        }
    }

    fn enter<O: Observer>(
        &mut self,
        first: u32,
        entry: Entry,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let start = self.cpu.cycles;
        // Until its vector is fetched a higher exception takes its place, and the stacking serves it.
        let window = u64::from(self.soc.facts.core_timing.late_arrival_cycles);
        let end = self.soc.time_of(start + window);
        let exception = self.higher(first, end);
        self.soc.r.scs.activate(exception);
        self.soc.stall = 0;
        self.cpu.enter(&mut self.soc, observer, exception, entry)?;
        // Behind that, until its first instruction, only the vector is fetched anew.
        let end = self.soc.time_of(self.cpu.cycles - 1);
        let late = self.higher(exception, end);
        if late != exception {
            self.soc.r.scs.put_back(exception);
            self.soc.r.scs.activate(late);
            self.cpu.enter(&mut self.soc, observer, late, Entry::Late)?;
        }
        self.soc.exception = self.cpu.exception();
        let trace = self.soc.r.scs.trace_enabled();
        self.soc.r.dwt.exception(trace, self.cpu.cycles - start);
        self.after_cpu();
        Ok(())
    }

    /// The exception that is to be entered if those that arrive up to `end` are looked at.
    fn higher(&mut self, mut exception: u32, end: Picos) -> u32 {
        while let Some(t) = self.next_event().filter(|t| *t <= end) {
            if self.soc.fx.reset.is_some() || self.soc.common.pending_fault.is_some() {
                break;
            }
            self.event_at(t);
            if let Some(other) = self.soc.r.scs.next(self.masks()) {
                if self.soc.r.scs.pre_empts(other, exception) {
                    exception = other;
                }
            }
        }
        exception
    }

    /// A handler has branched to EXC_RETURN.
    fn exception_return<O: Observer>(
        &mut self,
        exc_return: u32,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let current = self.cpu.exception();
        let to_thread = exc_return & 8 != 0;
        if current == 0 || !self.soc.r.scs.is_active(current) {
            return self.usage_fault(Usage::InvalidPc, exc_return);
        }
        if to_thread
            && self.soc.r.scs.nested()
            && self.soc.scb.ccr & thumb::ccr::NONBASETHRDENA == 0
        {
            return self.usage_fault(Usage::InvalidPc, exc_return);
        }
        self.soc.r.scs.deactivate(current);
        let faultmask = self.cpu.faultmask;
        if current != scs::NMI {
            self.cpu.faultmask = 0;
        }
        if let Some(next) = self.soc.r.scs.next(self.masks()) {
            return self.enter(next, Entry::TailChain(exc_return), observer);
        }
        if to_thread && self.soc.r.scs.sleep_on_exit() {
            self.returning = Some(exc_return);
            self.fall_asleep(false);
            return Ok(());
        }
        // What arrives while the registers are popped is tail-chained.
        let start = self.cpu.cycles;
        let window = u64::from(self.soc.facts.core_timing.pop_preemption_cycles);
        let end = self.soc.time_of(start + window);
        if let Some(next) = self.look_ahead(end) {
            let t = self.soc.now();
            self.cpu.cycles =
                self.soc.r.lines.base.mclk.ticks_at(t.max(self.soc.time_of(start))).max(start);
            return self.enter(next, Entry::TailChain(exc_return), observer);
        }
        self.cpu.faultmask = faultmask;
        match self.cpu.leave(&mut self.soc, observer, exc_return) {
            Ok(()) => {}
            Err(Exit::Usage { cause, addr }) => return self.usage_fault(cause, addr),
            Err(Exit::Fault(fault)) => {
                self.soc.r.scs.cfsr |= cfsr::UNSTKERR;
                return Err(fault);
            }
            Err(_) => {}
        }
        self.soc.r.scs.event_register = true;
        self.soc.exception = self.cpu.exception();
        let trace = self.soc.r.scs.trace_enabled();
        self.soc.r.dwt.exception(trace, self.cpu.cycles - start);
        self.after_cpu();
        Ok(())
    }

    fn act_on(&mut self, exit: Exit) -> Result<bool, Fault> {
        match exit {
            Exit::Deadline => return Ok(self.cpu.cycles < self.soc.deadline),
            Exit::Status => {}
            Exit::Wfi => {
                self.after_cpu();
                if !self.soc.r.scs.wakes(self.masks()) {
                    self.fall_asleep(false);
                }
            }
            Exit::Wfe => {
                self.after_cpu();
                if !std::mem::take(&mut self.soc.r.scs.event_register) {
                    self.fall_asleep(true);
                }
            }
            Exit::Sev => self.soc.r.scs.event_register = true,
            Exit::Svc(_) => self.supervisor_call()?,
            Exit::Bkpt(n) => {
                let pc = self.cpu.r[thumb::PC];
                let what = format!("BKPT #{n} without a debugger; run it under `sunseal gdb`");
                return Err(Fault::device(pc, what).at_pc(pc));
            }
            Exit::Return(exc_return) => self.returning = Some(exc_return),
            Exit::Usage { cause, addr } => self.usage_fault(cause, addr)?,
            Exit::Fault(fault) => self.bus_fault(fault)?,
        }
        Ok(false)
    }
}

impl Chip for Msp432 {
    type Saved = SavedMsp432;

    fn new(dev: Arc<Device>) -> Self {
        let facts = Arc::new(dev.msp432().clone());
        let memory: Box<[u8; BYTES]> =
            vec![0xFF; BYTES].into_boxed_slice().try_into().expect("the vector has as many bytes");
        let soc = Soc {
            common: Common::new(dev, &NAMES),
            memory,
            windows: [Window::default(); 256],
            blocks: blocks(&facts.peripherals),
            r: Registers::new(&facts),
            scb: Scb::default(),
            fx: Fx::default(),
            deadline: 0,
            stall: 0,
            waits: false,
            too_fast: [false; 2],
            exception: 0,
            changed: false,
            image: None,
            facts,
        };
        let mut cpu = Cpu::new(Timing::CORTEX_M4);
        cpu.basepri_mask = 0xE0;
        let mut chip = Self { cpu, soc, returning: None };
        chip.soc.write_tlv();
        chip.soc.scramble_ram(0, |_| true);
        chip.reset();
        chip.settle();
        chip
    }

    fn common(&self) -> &Common {
        &self.soc.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.soc.common
    }

    fn cycles(&self) -> Cycles {
        self.cpu.cycles
    }

    fn set_cycles(&mut self, cycles: Cycles) {
        self.cpu.cycles = cycles;
    }

    fn cpu_clock(&self) -> &Line {
        &self.soc.r.lines.base.mclk
    }

    fn pc(&self) -> u32 {
        self.cpu.r[thumb::PC]
    }

    fn sp(&self) -> u32 {
        self.cpu.r[thumb::SP]
    }

    fn registers(&self) -> Vec<Register> {
        const NAMES: [&str; 16] = [
            "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "SP",
            "LR", "PC",
        ];
        let c = &self.cpu;
        let named =
            |name: &'static str, value: u32| Register { name: name.into(), bits: 32, value };
        let mut all: Vec<Register> =
            NAMES.iter().zip(c.r).map(|(name, value)| named(name, value)).collect();
        all.extend([
            named("xPSR", c.psr),
            named("MSP", c.msp()),
            named("PSP", c.psp()),
            named("PRIMASK", c.primask),
            named("BASEPRI", c.basepri),
            named("FAULTMASK", c.faultmask),
            named("CONTROL", c.control),
            named("FPSCR", c.fpscr),
        ]);
        all.extend((0..32).map(|i| Register {
            name: format!("S{i}").into(),
            bits: 32,
            value: c.s[i],
        }));
        all
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        let numbered = |prefix: &str, end: usize| {
            let n: Option<usize> = name.strip_prefix(prefix).and_then(|n| n.parse().ok());
            n.filter(|n| *n < end)
        };
        let c = &mut self.cpu;
        match name {
            "SP" => c.r[thumb::SP] = value & !3,
            "LR" => c.r[thumb::LR] = value,
            "PC" => c.r[thumb::PC] = value & !1,
            "xPSR" => c.psr = value,
            "MSP" => c.set_msp(value),
            "PSP" => c.set_psp(value),
            "PRIMASK" => c.primask = value & 1,
            "BASEPRI" => c.basepri = value & c.basepri_mask,
            "FAULTMASK" => c.faultmask = value & 1,
            "CONTROL" => return false,
            "FPSCR" => c.fpscr = value,
            _ => {
                if let Some(n) = numbered("R", 13) {
                    c.r[n] = value;
                } else if let Some(n) = numbered("S", 32) {
                    c.s[n] = value;
                } else {
                    return false;
                }
            }
        }
        true
    }

    fn sleeping(&self) -> bool {
        self.soc.r.sleep.is_some()
    }

    fn held_until(&mut self) -> Option<Picos> {
        let end = self.soc.r.flctl.busy_until()?;
        // A handler's vector and code may lie in the bank too; the core waits for them itself.
        (!self.sleeping() && is_flash(self.pc()) && self.soc.r.flctl.is_busy(self.pc()))
            .then_some(end)
    }

    fn must_step(&self) -> bool {
        false
    }

    fn run_cpu<O: Observer>(
        &mut self,
        deadline: Cycles,
        once: bool,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        self.soc.deadline = deadline;
        let exit = if once {
            self.cpu.step(&mut self.soc, observer)
        } else {
            self.cpu.run(&mut self.soc, observer)
        };
        self.act_on(exit)
    }

    fn after_cpu(&mut self) {
        if self.sleeping() {
            return;
        }
        self.soc.common.uncached = self.cpu.cycles_uncached;
        let now = self.soc.time_of(self.cpu.cycles);
        self.soc.common.state.now_ps = now.0;
    }

    fn take_interrupt<O: Observer>(
        &mut self,
        stop_on_change: bool,
        observer: &mut O,
    ) -> Result<bool, Fault> {
        let masks = self.masks();
        if self.sleeping() {
            let r = &mut self.soc.r;
            let lost = matches!(r.sleep, Some(Sleep::Lpm35 | Sleep::Lpm45));
            let event = r.for_event && std::mem::take(&mut r.scs.event_register);
            // Behind SLEEPONEXIT there is no program to go on with: only an exception ends it.
            let wakes = if lost {
                self.wakes_from_shutdown()
            } else if self.returning.is_some() {
                r.scs.next(masks).is_some()
            } else {
                event || r.scs.wakes(masks)
            };
            if !wakes {
                return Ok(false);
            }
            self.wake();
            if let Some(fault) = &self.soc.common.illegal {
                return Err(fault.clone().at_pc(self.pc()));
            }
            if lost || stop_on_change && self.soc.common.accounts.changed {
                return Ok(true);
            }
            if let (Some(exc_return), Some(next)) =
                (self.returning.take(), self.soc.r.scs.next(masks))
            {
                // SLEEPONEXIT: the stack has stayed.
                return self.enter(next, Entry::TailChain(exc_return), observer).map(|()| true);
            }
        }
        if let Some(exc_return) = self.returning.take() {
            return self.exception_return(exc_return, observer).map(|()| true);
        }
        let Some(exception) = self.soc.r.scs.next(masks) else { return Ok(false) };
        self.enter(exception, Entry::Fresh, observer)?;
        Ok(true)
    }

    fn can_wake(&self) -> bool {
        let r = &self.soc.r;
        let masks = self.masks();
        if r.scs.wakes(masks) || r.for_event && r.scs.event_register {
            return true;
        }
        if !matches!(r.sleep, Some(Sleep::Lpm45))
            && r.wdt.resets()
            && r.wdt.next_event(&r.lines).is_some()
        {
            return true;
        }
        let i = &self.soc.facts.interrupts;
        let on = |input: u32| r.scs.may_wake(scs::IRQ0 + input, masks, r.for_event);
        let l = &r.lines;
        let pins = self.pins_may_wake();
        let timer = |n: usize, t: &TimerA| {
            let first = i.ta0_0 + 2 * n as u32;
            t.enabled() && (on(first) || on(first + 1)) && t.next_event(&l.base).is_some()
        };
        let serial = |n: usize, u: &Eusci| {
            (u.enabled() && on(i.eusci_a0 + n as u32) || pins) && u.next_event().is_some()
        };
        let timer32 = on(i.t32_int1) || on(i.t32_int2) || on(i.t32_intc);
        r.scs.systick_interrupts()
            && r.scs.may_wake(scs::SYSTICK, masks, false)
            && r.scs.next_event(&l.fclk).is_some()
            || on(i.wdt_a) && r.wdt.next_event(l).is_some()
            || on(i.rtc_c) && r.rtc.enabled() && r.rtc.next_event(&l.bclk).is_some()
            || timer32 && r.timer32.enabled() && r.timer32.next_event(&l.fclk).is_some()
            || r.timers.iter().enumerate().any(|(n, t)| timer(n, t))
            || r.eusci.iter().enumerate().any(|(n, u)| serial(n, u))
            || on(i.adc14) && r.adc.enabled() && r.adc.busy()
            || on(i.aes256) && r.aes.enabled() && r.aes.busy()
            || on(i.flctl) && r.flctl.enabled() && r.flctl.busy_until().is_some()
            || on(i.pcm) && r.pcm.next_event().is_some()
            || r.dma.is_on() && (r.dma.next_event(&l.fclk).is_some() || self.dma_may_go_on())
            || pins && self.soc.common.next_event().is_some()
    }

    fn pins_may_wake(&self) -> bool {
        let r = &self.soc.r;
        let port1 = self.soc.facts.interrupts.port1;
        let shut_down = matches!(r.sleep, Some(Sleep::Lpm35 | Sleep::Lpm45));
        let may = |n| r.scs.may_wake(scs::IRQ0 + port1 + n, self.masks(), r.for_event);
        (shut_down || (0..6).any(may)) && r.ports[..3].iter().any(Ports::may_wake)
    }

    fn next_event(&self) -> Option<Picos> {
        [self.soc.next_event(), self.soc.common.next_event()].into_iter().flatten().min()
    }

    fn process_events(&mut self, now: Picos, cycles: Cycles) {
        while let Some(t) = self.next_event() {
            if t > now || self.soc.common.pending_fault.is_some() {
                break;
            }
            self.process(t, now, cycles);
            if self.soc.fx.reset.is_some() {
                break;
            }
        }
        // Levels from outside are looked at too.
        self.soc.refresh(now, cycles);
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.soc.changed) {
            self.cpu.invalidate(0..flctl::INFO + flctl::INFO_BYTES);
        }
    }

    fn reset_pending(&self) -> bool {
        self.soc.fx.reset.is_some()
    }

    fn carry_out_reset(&mut self) {
        let Some((class, source)) = self.soc.fx.reset.take() else { return };
        let cycles = self.cpu.cycles;
        if class >= Class::Reboot {
            // The boot code's time passes, booked as off.
            self.soc.common.state.held_in_reset = true;
            self.soc.update_clocks(self.soc.now(), cycles);
            self.soc.common.state.held_in_reset = false;
            self.soc.common.state.now_ps += us(self.soc.facts.pcm.reset_ms * 1e3).0;
        }
        self.soc.abort_flash(self.soc.now().0 ^ cycles);
        self.soc.reset_as(class, source, self.soc.now(), cycles);
        self.start_at_vector();
    }

    fn reset(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.abort_flash(now.0 ^ cycles);
        self.soc.reset_as(Class::Por, 0, now, cycles);
        self.start_at_vector();
    }

    fn vcc_changed(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        let levels = &self.soc.facts.svs.svsmh_falling_v;
        let least = self.soc.r.pss.svsmh_level().map_or(0.0, |l| levels[l]);
        let state = &mut self.soc.common.state;
        if state.held_in_reset {
            if state.vcc_v >= least.max(self.soc.facts.pcm.vcc_min_v) {
                state.held_in_reset = false;
                // SVSMH tripped: source 1 of the PSS.
                self.soc.reset_as(Class::Por, 1, now, cycles);
                self.start_at_vector();
            }
        } else if state.vcc_v < least {
            state.held_in_reset = true;
        }
        self.soc.update_clocks(now, cycles);
    }

    fn power_off(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.abort_flash(now.0 ^ cycles);
        self.soc.common.state.powered = false;
        self.soc.r.sleep = None;
        let uncached = self.soc.common.uncached;
        for component in [FLASH, ADC14, REF, AES] {
            self.soc.common.accounts.set_state(component, accounts::OFF, now, cycles, uncached);
        }
        let drives = self.soc.common.power_parts(false, now, cycles);
        self.soc.drive(drives);
        self.soc.update_clocks(now, cycles);
    }

    fn power_on(&mut self, ram_seed: u64) {
        let cycles = self.cpu.cycles;
        self.soc.scramble_ram(ram_seed, |_| true);
        self.soc.common.state.now_ps += us(self.soc.facts.pcm.reset_ms * 1e3).0;
        let now = self.soc.now();
        let drives = self.soc.common.power_parts(true, now, cycles);
        self.soc.drive(drives);
        self.reset();
    }

    fn reclock(&mut self) {
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.update_clocks(now, cycles);
    }

    fn memory(&self, addr: u32, bytes: usize) -> Option<&[u8]> {
        let i = place(addr)? as usize;
        self.soc.memory.get(i..i + bytes)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) {
        if let Some(i) = place(addr).map(|i| i as usize) {
            let end = (i + bytes.len()).min(BYTES);
            self.soc.memory[i..end].copy_from_slice(&bytes[..end - i]);
            self.soc.changed = true;
            self.soc.image = None;
            self.settle();
        }
    }

    fn pin_level(&self, pin: Pin) -> bool {
        level(&self.soc.r.ports, pin)
    }

    fn drive(&mut self, drives: Vec<Drive>) {
        self.soc.drive(drives);
    }

    fn serials(&self) -> &'static [&'static str] {
        &SERIALS
    }

    fn uart_in(&mut self, serial: usize, time: Picos, byte: u8) {
        self.soc.r.eusci[serial].uart_in(time, byte);
    }

    fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> bool {
        let timer = TIMERS.iter().position(|n| *n == timer);
        let side = ['A', 'B'].iter().position(|n| *n == input);
        let (Some(timer), Some(side)) = (timer, side) else { return false };
        let block = self.soc.r.timers[timer].aclk_inputs.get_mut(usize::from(ccr));
        block.is_some_and(|b| {
            b[side] = true;
            true
        })
    }

    fn fit_crystals(&mut self, lfxt_hz: u32, hfxt_hz: u32) -> bool {
        self.soc.r.cs.fit(lfxt_hz, hfxt_hz);
        self.reclock();
        true
    }

    fn cycles_from_ram(&self) -> Cycles {
        self.cpu.cycles_uncached
    }

    fn save(&mut self) -> Self::Saved {
        let s = self.cpu.state();
        let soc = &mut self.soc;
        let memory = &soc.memory;
        let flash =
            soc.image.get_or_insert_with(|| Arc::new(memory[..SRAM_AT as usize].to_vec())).clone();
        let scb = soc.scb;
        SavedMsp432 {
            flash: SharedBytes(flash),
            sram: memory[SRAM_AT as usize..(SRAM_AT + SRAM_BYTES) as usize].to_vec(),
            registers: soc.r.clone(),
            scb: [scb.vtor, scb.ccr, scb.cpacr, scb.fpccr, scb.fpcar, scb.fpdscr],
            stall: soc.stall,
            r: s.r,
            sp_other: s.sp_other,
            psr: s.psr,
            masks: [s.primask, s.basepri, s.faultmask, s.control],
            s: s.s,
            fpscr: s.fpscr,
            exclusive: s.exclusive,
            cycles: s.cycles,
            cycles_uncached: s.cycles_uncached,
            pipeline: (s.pipeline.recent, s.pipeline.float_result, s.pipeline.float_ready),
            returning: self.returning,
        }
    }

    fn restore(&mut self, s: Self::Saved) {
        let soc = &mut self.soc;
        let same = soc.image.as_ref().is_some_and(|i| Arc::ptr_eq(i, &s.flash.0));
        if !same {
            let n = s.flash.0.len().min(SRAM_AT as usize);
            soc.memory[..n].copy_from_slice(&s.flash.0[..n]);
            soc.image = Some(Arc::clone(&s.flash.0));
            soc.changed = true;
        }
        let n = s.sram.len().min(SRAM_BYTES as usize);
        soc.memory[SRAM_AT as usize..SRAM_AT as usize + n].copy_from_slice(&s.sram[..n]);
        soc.r = s.registers;
        let [vtor, ccr, cpacr, fpccr, fpcar, fpdscr] = s.scb;
        soc.scb = Scb { vtor, ccr, cpacr, fpccr, fpcar, fpdscr };
        soc.stall = s.stall;
        soc.fx = Fx::default();
        let [primask, basepri, faultmask, control] = s.masks;
        let (recent, float_result, float_ready) = s.pipeline;
        let pipeline = thumb::Pipeline { recent, float_result, float_ready };
        self.cpu.set_state(&thumb::State {
            r: s.r,
            sp_other: s.sp_other,
            psr: s.psr,
            primask,
            basepri,
            faultmask,
            control,
            s: s.s,
            fpscr: s.fpscr,
            exclusive: s.exclusive,
            cycles: s.cycles,
            cycles_uncached: s.cycles_uncached,
            pipeline,
        });
        self.returning = s.returning;
        self.soc.exception = self.cpu.exception();
        let (now, cycles) = (self.soc.now(), self.cpu.cycles);
        self.soc.map();
        self.soc.update_clocks(now, cycles);
    }
}

impl Msp432 {
    /// LPM3.5 ends by RTC or pins, LPM4.5 by pins.
    fn wakes_from_shutdown(&self) -> bool {
        let r = &self.soc.r;
        let rtc = matches!(r.sleep, Some(Sleep::Lpm35)) && r.rtc.pending();
        rtc || r.ports[..3].iter().any(|p| p.pending(0) || p.pending(1))
    }

    fn dma_may_go_on(&self) -> bool {
        let r = &self.soc.r;
        r.aes.busy()
            || r.adc.busy()
            || r.eusci.iter().any(|u| u.next_event().is_some())
            || r.timers.iter().any(|t| t.next_event(&r.lines.base).is_some())
    }
}
