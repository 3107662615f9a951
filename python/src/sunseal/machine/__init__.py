# SPDX-License-Identifier: MIT OR Apache-2.0
"""A simulated board as an object: memory, registers, calls, variables, devices, the bench and the air."""
