# SPDX-License-Identifier: MIT OR Apache-2.0
"""Write the recordings of this folder: one signal, in the form of each instrument's export.

60 samples, 100 us apart: 1 mA, and 5 mA in the two windows of 12 samples where the trigger is at 3 V. Scopes show
the current over 100 ohm. `python make.py` writes every file anew, always with the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

STEP_S = 1e-4
SAMPLES = 60
BEGIN_S = -20 * STEP_S
WINDOWS = ((10, 22), (34, 46))
VCC_V, SHUNT_OHM, IDLE_A, BUSY_A = 3.0, 100.0, 1e-3, 5e-3

BUSY = [any(a <= i < b for a, b in WINDOWS) for i in range(SAMPLES)]
CURRENT_A = [BUSY_A if b else IDLE_A for b in BUSY]
SHUNT_V = [i * SHUNT_OHM for i in CURRENT_A]
TRIGGER_V = [VCC_V if b else 0.0 for b in BUSY]


def _rows(form: str, scale_s: float = 1.0, begin_s: float = 0.0, scale_v: float = 1.0) -> list[str]:
    return [
        form.format(i=i, t=(begin_s + i * STEP_S) / scale_s, v=v / scale_v, g=g)
        for i, (v, g) in enumerate(zip(SHUNT_V, TRIGGER_V, strict=True))
    ]


def _text(*lines: str) -> str:
    return "\n".join([*lines, ""])


def _sampled(of: Sequence[Any]) -> Iterator[tuple[int, float, Any]]:
    """Yield each sample's number and current, and what else was sampled."""
    return zip(range(SAMPLES), CURRENT_A, of, strict=True)


def oscilloscopes() -> dict[str, str]:
    """Return name and text of what scopes export."""
    tds = ["Record Length,6.000000e+01", "Sample Interval,1.000000e-04", "Trigger Point,2.000000000000e+01"]
    tds += ["", "", "", "Source,CH1", "Vertical Units,V", "Vertical Scale,1.000000e-01", "Vertical Offset,0.0"]
    tds += ["Horizontal Units,s", "Horizontal Scale,5.000000e-04", "Pt Fmt,Y", "Yzero,0.0", "Probe Atten,1.0"]
    tds += ["Model Number,TDS2014B", "Serial Number,C000000", "Firmware Version,FV:v22.01"]
    tds += [""] * (SAMPLES - len(tds))
    return {
        "tektronix-tds.csv": "".join(
            (f"{key if ',' in key else ',' + key},," if key else ",,,") + row + "\n"
            for key, row in zip(tds, _rows("{t:.12f},{v:.5f},", begin_s=BEGIN_S), strict=True)
        ),
        "tektronix-mso.csv": _text(
            "Model,MSO2024",
            "Firmware Version,1.52",
            "",
            "Point Format,Y,Y",
            "Horizontal Units,S",
            "Horizontal Scale,0.0004",
            ",,",
            "Sample Interval,0.0001",
            "Filter Frequency,1e+08",
            "Record Length,60",
            "Gating,0.0% to 100.0%",
            "Probe Attenuation,1,10",
            "Vertical Units,V,V",
            "Vertical Offset,0,0",
            "Vertical Scale,0.1,1",
            "Label,,",
            "TIME,CH1,CH2",
            *_rows("{t:.4e},{v:g},{g:g}", begin_s=BEGIN_S),
        ),
        "rigol.csv": _text(
            "X,CH1,CH2,Start,Increment,",
            "Sequence,Volt,Volt,-2.000000e-03,1.000000e-04",
            *_rows("{i},{v:.2e},{g:.2e},"),
        ),
        "siglent.csv": _text(
            "Record Length,Analog:60,",
            "Sample Interval,Analog:1.000000E-04,",
            "Vertical Units,CH1:V,CH2:V,,",
            "Vertical Scale,CH1:1.00E-01,CH2:1.00E+00,,",
            "Vertical Offset,CH1:+0.00E+00,CH2:+0.00E+00,,",
            "Horizontal Units,s,",
            "Horizontal Scale,5.000000E-04,",
            "Model Number,SDS2104X Plus,",
            "Source,CH1,CH2",
            "Second,Value,Value",
            *_rows("{t:+.6E},{v:+.6E},{g:+.6E}", begin_s=BEGIN_S),
        ),
        "keysight.csv": _text("x-axis,1,2", "second,Volt,Volt", *_rows("{t:+.7E},{v:+.5E},{g:+.5E}", begin_s=BEGIN_S)),
        "lecroy.csv": _text(
            "LECROYHDO4054,12345,Waveform",
            "Segments,1,SegmentSize,60",
            "Segment,TrigTime,TimeSinceSegment1",
            "#1,21-Nov-2026 12:00:00,0                 ",
            "Time,Ampl",
            *_rows("{t:.7g},{v:.6g}", begin_s=BEGIN_S),
        ),
        "picoscope.csv": _text(
            "Time,Channel A,Channel B",
            "(ms),(mV),(V)",
            "",
            *_rows("{t:.6f},{v:.4f},{g:.4f}", scale_s=1e-3, begin_s=BEGIN_S, scale_v=1e-3),
        ),
    }


def loggers() -> dict[str, str]:
    """Return name and text of what meters of current export, and of tables with units in their heads."""
    energy_uj, total = [], 0.0
    for i in CURRENT_A:
        energy_uj.append(total)
        total += i * VCC_V * STEP_S * 1e6
    bits = [f"{'01'[b]}0000000" for b in BUSY]
    return {
        "ppk2.csv": _text(
            "Timestamp(ms),Current(uA),D0-D7",
            *(f"{i * STEP_S * 1e3:.1f},{a * 1e6:.3f},{b}" for i, a, b in _sampled(bits)),
        ),
        "energytrace.csv": _text(
            "Time (ns),Current (nA),Voltage (mV),Energy (uJ)",
            *(
                f"{round(i * STEP_S * 1e9)},{round(a * 1e9)},{round(VCC_V * 1e3)},{e:.2f}"
                for i, a, e in _sampled(energy_uj)
            ),
        ),
        "energytrace-util.txt": _text(
            "# MSP430_GetSupplyVoltage",
            *(
                f"{round(i * STEP_S * 1e6)} {round(a * 1e9)} {round(VCC_V * 1e3)} {round(e * 1e3)}"
                for i, a, e in _sampled(energy_uj)
            ),
        ),
        "units.csv": _text(
            "time_s,current_mA,supply (V),GPI0",
            *(f"{i * STEP_S:.4f},{a * 1e3:g},{VCC_V},{int(b)}" for i, a, b in _sampled(BUSY)),
        ),
        "decimal-comma.csv": _text(
            "Zeit;Strom;Marke",
            "(ms);(mA);(V)",
            *(f"{i * STEP_S * 1e3:.1f};{a * 1e3:.3f};{g:.1f}".replace(".", ",") for i, a, g in _sampled(TRIGGER_V)),
        ),
    }


def files() -> dict[str, str]:
    """Return the name and the text of every recording."""
    return oscilloscopes() | loggers()


if __name__ == "__main__":
    for name, text in files().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
