# SPDX-License-Identifier: MIT OR Apache-2.0
"""The simulator's own speed, and what cryptography costs: the tracked figures."""
