// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames and link layer, shared by node, gateway and server; no I/O.
