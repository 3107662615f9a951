# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measure a program of your own, find its cheapest supply, and see where its cycles go.

Run `examples/own_firmware/build.sh /tmp/fletcher.elf`, then
`python examples/own_firmware/measure.py /tmp/fletcher.elf`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import sunseal


def main(elf: Path) -> None:
    # At the clock that the program sets up itself: here the one behind a reset.
    whole = sunseal.measure(elf=elf, vcc_v=2.2)
    at = f"{whole.freq_hz / 1e6:.3g} MHz, 2.2 V"
    print(f"between the marks: {whole.cycles} cycles, {whole.energy_j * 1e9:.1f} nJ at {at}")

    inner = sunseal.measure(elf=elf, window=("fletcher16", "done"))
    print(f"from fletcher16 to done: {inner.cycles} cycles, stack {inner.stack_bytes} bytes")

    best = min(sunseal.curve(elf=elf), key=lambda p: float(p["energy_j"]))
    print(f"cheapest: {best['freq_hz'] / 1e6:.3g} MHz at {best['vcc_v']:g} V, {best['energy_j'] * 1e9:.1f} nJ")

    for stack, cycles in sunseal.profile(elf=elf).items():
        print(f"{cycles:6d} cycles in {stack}")

    print("currents from:", *sunseal.PowerSet("datasheet").cite(), sep="\n  ")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("measure.py takes the program to measure: measure.py FILE.elf")
    try:
        main(Path(sys.argv[1]))
    except (sunseal.SunsealError, sunseal.EngineError) as e:
        sys.exit(f"error: {e}")
