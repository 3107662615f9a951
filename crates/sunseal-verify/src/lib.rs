// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verifying side's cryptography, independent of the firmware.
