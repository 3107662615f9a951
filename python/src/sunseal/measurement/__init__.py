# SPDX-License-Identifier: MIT OR Apache-2.0
"""One operation on one board: its counts and joules, whether its result is right, what secrets decide in it."""
