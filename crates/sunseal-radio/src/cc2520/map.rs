// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers, memory and exceptions of the CC2520 (SWRS068), with what they hold after a reset.

use crate::chip::preset;

/// Register addresses (SWRS068, section 28).
pub(super) mod reg {
    pub const FRMFILT0: u16 = 0x00;
    pub const FRMFILT1: u16 = 0x01;
    pub const SRCMATCH: u16 = 0x02;
    pub const SRCSHORTEN0: u16 = 0x04;
    pub const SRCEXTEN0: u16 = 0x08;
    pub const FRMCTRL0: u16 = 0x0C;
    pub const FRMCTRL1: u16 = 0x0D;
    pub const RXENABLE0: u16 = 0x0E;
    pub const RXENABLE1: u16 = 0x0F;
    pub const EXCFLAG0: u16 = 0x10;
    pub const EXCFLAG2: u16 = 0x12;
    pub const EXCMASKA0: u16 = 0x14;
    pub const EXCMASKB0: u16 = 0x18;
    pub const EXCBINDX0: u16 = 0x1C;
    pub const EXCBINDY1: u16 = 0x1F;
    pub const GPIOCTRL0: u16 = 0x20;
    pub const GPIOCTRL5: u16 = 0x25;
    pub const GPIOPOLARITY: u16 = 0x26;
    pub const DPUSTAT: u16 = 0x2C;
    pub const FREQCTRL: u16 = 0x2E;
    pub const TXPOWER: u16 = 0x30;
    pub const FSMSTAT0: u16 = 0x32;
    pub const FSMSTAT1: u16 = 0x33;
    pub const FIFOPCTRL: u16 = 0x34;
    pub const FSMCTRL: u16 = 0x35;
    pub const CCACTRL0: u16 = 0x36;
    pub const CCACTRL1: u16 = 0x37;
    pub const RSSI: u16 = 0x38;
    pub const RSSISTAT: u16 = 0x39;
    pub const RXFIRST: u16 = 0x3C;
    pub const RXFIFOCNT: u16 = 0x3E;
    pub const TXFIFOCNT: u16 = 0x3F;
    pub const CHIPID: u16 = 0x40;
    pub const VERSION: u16 = 0x42;
    pub const EXTCLOCK: u16 = 0x44;
    pub const MDMCTRL0: u16 = 0x46;
    pub const MDMCTRL1: u16 = 0x47;
}

/// Memory map (section 12).
pub(super) mod ram {
    pub const TXFIFO: u16 = 0x100;
    pub const RXFIFO: u16 = 0x180;
    pub const FREE: u16 = 0x200;
    pub const SOURCES: u16 = 0x380;
    pub const SRCRESMASK: u16 = 0x3E0;
    pub const SRCRESINDEX: u16 = 0x3E3;
    pub const SRCSHORTPENDEN: u16 = 0x3E4;
    pub const SRCEXTPENDEN: u16 = 0x3E7;
    pub const EXTADDR: u16 = 0x3EA;
    pub const PANID: u16 = 0x3F2;
    pub const SHORTADDR: u16 = 0x3F4;
    pub const END: u16 = 0x400;
}

/// Exceptions by number (table 14).
pub(super) mod exception {
    pub const RF_IDLE: u8 = 0x00;
    pub const TX_FRM_DONE: u8 = 0x01;
    pub const TX_ACK_DONE: u8 = 0x02;
    pub const TX_UNDERFLOW: u8 = 0x03;
    pub const TX_OVERFLOW: u8 = 0x04;
    pub const RX_UNDERFLOW: u8 = 0x05;
    pub const RX_OVERFLOW: u8 = 0x06;
    pub const RXENABLE_ZERO: u8 = 0x07;
    pub const RX_FRM_DONE: u8 = 0x08;
    pub const RX_FRM_ACCEPTED: u8 = 0x09;
    pub const SRC_MATCH_DONE: u8 = 0x0A;
    pub const SRC_MATCH_FOUND: u8 = 0x0B;
    pub const FIFOP: u8 = 0x0C;
    pub const SFD: u8 = 0x0D;
    pub const DPU_DONE_L: u8 = 0x0E;
    pub const MEMADDR_ERROR: u8 = 0x10;
    pub const USAGE_ERROR: u8 = 0x11;
    pub const OPERAND_ERROR: u8 = 0x12;
    pub const SPI_ERROR: u8 = 0x13;
    pub const RX_FRM_ABORTED: u8 = 0x15;
}

/// Values after a reset of the registers 0x00 to 0x7F.
pub(super) const RESET: [u8; 0x80] = preset(&[
    (0x00, 0x0D),
    (0x01, 0x78),
    (0x02, 0x07),
    (0x0C, 0x40),
    (0x0D, 0x01),
    (0x21, 0x27),
    (0x22, 0x28),
    (0x23, 0x29),
    (0x24, 0x2A),
    (0x25, 0x90),
    (0x26, 0x3F),
    (0x2A, 0x01),
    (0x2E, 0x0B),
    (0x2F, 0x0F),
    (0x30, 0x06),
    (0x31, 0x69),
    (0x34, 0x40),
    (0x35, 0x01),
    (0x36, 0xE0),
    (0x37, 0x1A),
    (0x38, 0x80),
    (0x40, 0x84),
    (0x44, 0x20),
    (0x46, 0x45),
    (0x47, 0x2E),
    (0x4A, 0x29),
    (0x4C, 0x55),
    (0x4E, 0x24),
    (0x4F, 0x29),
    (0x50, 0x20),
    (0x51, 0x2A),
    (0x52, 0x5F),
    (0x53, 0x0E),
    (0x54, 0x00),
    (0x55, 0x2E),
    (0x56, 0x66),
    (0x57, 0x0A),
    (0x58, 0x05),
    (0x5A, 0x05),
    (0x5B, 0x08),
    (0x5C, 0x00),
    (0x5D, 0x00),
    (0x5E, 0x00),
    (0x5F, 0x00),
    (0x60, 0x00),
    (0x61, 0x00),
    (0x7E, 0x02),
]);

/// Values that the data sheet asks for instead (section 28.1, table 21).
pub(super) const RECOMMENDED: [(u16, u8); 8] = [
    (0x4A, 0x3F),
    (0x4C, 0x5A),
    (0x4F, 0x2B),
    (0x53, 0x11),
    // AGCCTRL2 as Contiki's driver sets it: the LNA's gain fixed instead of controlled.
    (0x54, 0xEB),
    (0x56, 0x10),
    (0x57, 0x0E),
    (0x58, 0x03),
];

/// Output power by TXPOWER (table 17), dBm, with the name of the state.
pub(super) const POWER: [(u8, f64, &str); 9] = [
    (0xF7, 5.0, "tx.plus5dbm"),
    (0xF2, 3.0, "tx.plus3dbm"),
    (0xAB, 2.0, "tx.plus2dbm"),
    (0x13, 1.0, "tx.plus1dbm"),
    (0x32, 0.0, "tx.0dbm"),
    (0x81, -2.0, "tx.minus2dbm"),
    (0x88, -4.0, "tx.minus4dbm"),
    (0x2C, -7.0, "tx.minus7dbm"),
    (0x03, -18.0, "tx.minus18dbm"),
];

/// Strobes that a rising GPIO input gives (table 13).
pub(super) const GPIO_STROBES: [(u8, u8); 14] = [
    (0x00, 0x03),
    (0x01, 0x4D),
    (0x02, 0x4C),
    (0x03, 0x42),
    (0x04, 0x04),
    (0x05, 0x49),
    (0x06, 0x4A),
    (0x07, 0x4B),
    (0x08, 0x43),
    (0x09, 0x44),
    (0x0A, 0x47),
    (0x0B, 0x48),
    (0x0E, 0x45),
    (0x0F, 0x46),
];

/// Outputs and inputs that the model drives or follows.
pub(super) fn known_gpio(control: u8) -> bool {
    if control & 0x80 != 0 {
        return GPIO_STROBES.iter().any(|s| s.0 == control & 0x7F) || control & 0x7F == 0x10;
    }
    matches!(control, 0x00..=0x18 | 0x21 | 0x22 | 0x27..=0x2D | 0x7E | 0x7F)
}
