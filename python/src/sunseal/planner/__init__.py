# SPDX-License-Identifier: MIT OR Apache-2.0
"""From measured operations to a node: tune, size, lifetime, plan."""
