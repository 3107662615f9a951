# SPDX-License-Identifier: MIT OR Apache-2.0
"""Finish a signature over many lives: an FR5994 on a small capacitor, in light too little to run it.

`python examples/intermittent/lives.py`; in a source tree behind `make firmware BOARD=msp430fr5994-launchpad`.

The capacitor lies at VCC; the light is there for a part of each quarter of a minute. The real program runs on the
simulated part, which sees the capacitor's voltage: it starts when its supervisor lets go, waits until there is
enough, works, is cut. A store too small for a task's longest step never gets on with tasks; with checkpoints it does.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import sunseal
from sunseal.catalog import boards
from sunseal.measurement import oracle

BOARD = "msp430fr5994-launchpad"
BUILD = boards.home() / "firmware" / "build" / BOARD / "mpy-32"
MAX_V = 3.0
"""Voltage at which the harvester stops."""
STEP_S, ASLEEP_STEP_S = 2e-4, 5e-3
PATIENCE_S = 180.0
PERIOD_S = 15.0
# SLASE54D: LPM3 with VLO; ADC12_B, reference; charge of a wake-up by reset, typical.
LPM3_A, ADC_A, REFERENCE_A, START_C = 0.5e-6, 145e-6, 19e-6, 102e-9


@dataclass(frozen=True)
class Outcome:
    """Fate of a store."""

    lives: int
    time_s: float
    done: bool


def play(workload: str, capacitance_f: float, light_w: float, light_s: float) -> Outcome:
    """Play one store and light until the signature is out, found right by another implementation."""
    work = boards.workload(workload)
    trial = oracle.trial(work)
    m = sunseal.Machine(BOARD, BUILD / f"bench-{workload}.elf")
    m.write("bench_input", trial.fed)
    # Without ADC and reference, which are told apart below.
    plain = sunseal.measure(workload.rpartition("-")[0], board=BOARD, freq_hz=1_000_000, vcc_v=2.2)
    active_a = plain.energy_j / plain.time_s / 2.2
    volts, now_s, powered, seed = 0.0, 0.0, False, 0
    m.power_cut()
    while now_s < PATIENCE_S:
        states = m.states()
        cpu = states["cpu"]
        active = powered and cpu.startswith("active")
        load_a = active_a if active else LPM3_A if powered and cpu != "off" else 0.0
        load_a += ADC_A * (states["adc12"] == "on") + REFERENCE_A * (states["ref"] == "on")
        step_s = STEP_S if active or states["adc12"] == "on" else ASLEEP_STEP_S
        light_a = light_w / max(volts, 0.5) if now_s % PERIOD_S < light_s else 0.0
        volts = max(0.0, min(MAX_V, volts + (light_a - load_a) * step_s / capacitance_f))
        now_s += step_s
        m.vcc_v = volts
        if powered and volts < 1.0:
            powered = False
        elif not powered and volts > 1.9:
            seed += 1
            m.power_on(seed)
            powered = True
            volts -= START_C / capacitance_f
        m.run(time_s=step_s)
        if m.read_int("bench_done"):
            if not trial.right(m.read("bench_output")[: trial.output_bytes]):
                raise sunseal.SunsealError(f"{workload}: the signature is wrong")
            return Outcome(m.read_int("bench_lives"), now_s, True)
    return Outcome(m.read_int("bench_lives"), now_s, False)


def main() -> None:
    """Print a table of them."""
    print(f"{'workload':30} {'store':>8} {'light, of 15 s':>18} {'lives':>6} {'time':>8}")
    for workload, capacitance_f, light_w, light_s in (
        ("ecdsa-p256-sign-checkpoint", 22e-6, 100e-6, 15.0),
        ("ecdsa-p256-sign-checkpoint", 22e-6, 100e-6, 2.0),
        ("ecdsa-p256-sign-tasks", 330e-6, 100e-6, 5.0),
        ("ecdsa-p256-sign-tasks", 22e-6, 100e-6, 5.0),
    ):
        o = play(workload, capacitance_f, light_w, light_s)
        end = f"{o.time_s:6.1f} s" if o.done else "never"
        light = f"{light_w * 1e6:.0f} uW, {light_s:.0f} s"
        print(f"{workload:30} {capacitance_f * 1e6:5.0f} uF {light:>18} {o.lives:6} {end:>8}")


if __name__ == "__main__":
    try:
        main()
    except (sunseal.SunsealError, sunseal.EngineError) as e:
        sys.exit(f"error: {e}")
