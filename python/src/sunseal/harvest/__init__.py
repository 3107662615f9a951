# SPDX-License-Identifier: MIT OR Apache-2.0
"""Light and other harvests: panels under the sun, climates, and what harvesters recorded."""
