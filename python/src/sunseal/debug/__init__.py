# SPDX-License-Identifier: MIT OR Apache-2.0
"""Debugging from an editor: source lines, frames and locals of a program on a bench, by the Debug Adapter Protocol."""
