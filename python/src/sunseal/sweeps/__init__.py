# SPDX-License-Identifier: MIT OR Apache-2.0
"""A scenario or a plan at many points: keys, points, workers, journal, table and indices."""
