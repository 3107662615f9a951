# SPDX-License-Identifier: MIT OR Apache-2.0
"""Inventory: boards, parts, workloads, coefficients, units and citations; the only reader of keys with a unit."""
