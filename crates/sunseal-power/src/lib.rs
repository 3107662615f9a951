// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts times coefficients are joules; supply, storage, converters, harvest.
