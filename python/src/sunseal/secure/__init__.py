# SPDX-License-Identifier: MIT OR Apache-2.0
"""Judgements of a program before an attacker or a loss of power."""
