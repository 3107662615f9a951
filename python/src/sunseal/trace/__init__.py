# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recordings of instruments and harvesters: read, checked, integrated, compared, converted."""

from sunseal.requests import Bench, Trigger
from sunseal.trace.energy import Energy, Window, measure
from sunseal.trace.formats import FORMATS, open_recording
from sunseal.trace.model import Channel, Recording

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
