# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recordings of instruments and harvesters: read, checked, integrated, compared, converted."""

from sunseal.traces.energy import Bench, Energy, Trigger, Window, measure
from sunseal.traces.formats import FORMATS, open_recording
from sunseal.traces.model import Channel, Recording

__all__ = [
    "FORMATS",
    "Bench",
    "Channel",
    "Energy",
    "Recording",
    "Trigger",
    "Window",
    "measure",
    "open_recording",
]
