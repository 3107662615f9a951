// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers of the CC2500 (SWRS040C), with what they hold after a reset, and the tables that they choose from.

/// Register addresses (SWRS040C, table 36).
pub(super) mod reg {
    sunseal_trace::constants! { pub u8:
        IOCFG2 0x00, IOCFG0 0x02, FIFOTHR 0x03, SYNC1 0x04, PKTLEN 0x06, PKTCTRL1 0x07,
        PKTCTRL0 0x08, ADDR 0x09, CHANNR 0x0A, FREQ2 0x0D, MDMCFG4 0x10, MDMCFG3 0x11, MDMCFG2 0x12,
        MDMCFG1 0x13, MDMCFG0 0x14, MCSM2 0x16, MCSM1 0x17, MCSM0 0x18, AGCCTRL2 0x1B,
        AGCCTRL1 0x1C, WOREVT1 0x1E, WORCTRL 0x20, FREND0 0x22, LAST 0x2E, PATABLE 0x3E, FIFO 0x3F,
    }
}

/// Values after a reset, from IOCFG2 (0x00) to TEST0 (0x2E): SWRS040C, table 36. Recalled.
pub(super) const RESET: [u8; 0x2F] = [
    0x29, 0x2E, 0x3F, 0x07, 0xD3, 0x91, 0xFF, 0x04, 0x45, 0x00, 0x00, 0x0F, 0x00, 0x5E, 0xC4,
    0xEC, //
    0x8C, 0x22, 0x02, 0x22, 0xF8, 0x47, 0x07, 0x30, 0x04, 0x76, 0x6C, 0x03, 0x40, 0x91, 0x87,
    0x6B, //
    0xF8, 0x56, 0x10, 0xA9, 0x0A, 0x20, 0x0D, 0x41, 0x00, 0x59, 0x7F, 0x3F, 0x88, 0x31, 0x0B,
];

/// Output power by PATABLE value (SWRS040C, table 31), dBm. Recalled.
pub(super) const POWER_DBM: [(u8, i8); 18] = [
    (0x00, -55),
    (0x50, -30),
    (0x44, -28),
    (0xC0, -26),
    (0x84, -24),
    (0x81, -22),
    (0x46, -20),
    (0x93, -18),
    (0x55, -16),
    (0x8D, -14),
    (0xC6, -12),
    (0x97, -10),
    (0x6E, -8),
    (0x7F, -6),
    (0xA9, -4),
    (0xBB, -2),
    (0xFE, 0),
    (0xFF, 1),
];

/// Carrier sense at MAGN_TARGET 3 and CARRIER_SENSE_ABS_THR 0, in dBm by MAX_LNA_GAIN and MAX_DVGA_GAIN (SWRS040A,
/// tables 26 and 27), at 2.4 and at 250 kBaud.
pub(super) const CARRIER_SENSE_DBM: [[[f64; 4]; 8]; 2] = [
    [
        [-99.0, -93.0, -87.0, -81.5],
        [-97.0, -90.5, -85.0, -78.5],
        [-93.5, -87.0, -82.0, -76.0],
        [-91.5, -86.0, -80.0, -74.0],
        [-90.5, -84.0, -78.0, -72.5],
        [-88.0, -82.5, -76.0, -70.0],
        [-84.5, -78.5, -73.0, -67.0],
        [-82.5, -76.0, -70.0, -64.0],
    ],
    [
        [-96.0, -90.0, -84.0, -78.5],
        [-94.5, -89.0, -83.0, -77.5],
        [-92.5, -87.0, -81.0, -75.0],
        [-91.0, -85.0, -78.5, -73.0],
        [-87.5, -82.0, -76.0, -70.0],
        [-85.0, -79.5, -73.5, -67.5],
        [-83.0, -76.5, -70.5, -65.0],
        [-78.0, -72.0, -66.0, -60.0],
    ],
];

/// Target of the amplification, MAGN_TARGET (register AGCCTRL2).
pub(super) const MAGN_TARGET_DB: [f64; 8] = [24.0, 27.0, 30.0, 33.0, 36.0, 38.0, 40.0, 42.0];

/// RSSI_offset by data rate in baud (SWRS040C, page 35, table 25).
pub(super) const RSSI_OFFSET_DB: [(f64, f64); 4] =
    [(2.4e3, 71.0), (10e3, 69.0), (250e3, 72.0), (500e3, 72.0)];
