# SPDX-License-Identifier: MIT OR Apache-2.0
"""What all Python tests share: no example fails because the machine was busy."""

from hypothesis import settings

settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")
