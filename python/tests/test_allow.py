# SPDX-License-Identifier: MIT OR Apache-2.0
"""Clocks slightly above a chip's limit: refused with the option's name, run with a warning where they are allowed."""

import pytest

from sunseal import Bench, EngineError, SunsealError, boards, measure

FR5994 = "msp430fr5994-launchpad"
TELOSB = "telosb"


def _mote(**how: object) -> Bench:
    elf = boards.firmware_path(TELOSB, boards.variant((), TELOSB), "bench-sha256-hash")
    return Bench(TELOSB, elf, vcc_v=2.0, **how)  # type: ignore[arg-type]


def test_a_program_above_its_limit_is_refused_and_runs_where_it_is_allowed() -> None:
    with pytest.raises(EngineError, match=r"exceeds the .* `--allow overclock`"):
        _mote().run()
    bench = _mote(allow=["overclock"])
    assert bench.run().why == "halted"
    assert any("clock above what the data sheet allows" in lint for lint in bench.machine.lints())
    assert bench.energy_j > 0
    with pytest.raises(SunsealError, match="none of what can be allowed: overclock"):
        _mote(allow=["speed"])


def test_a_workload_is_priced_above_its_limit_by_permission_alone() -> None:
    above_hz = 16_384_000
    with pytest.raises(EngineError, match="`--allow overclock` has it run all the same"):
        measure("aes128-ctr-encrypt", board=FR5994, freq_hz=above_hz)
    above = measure("aes128-ctr-encrypt", board=FR5994, freq_hz=above_hz, allow=("overclock",))
    assert above.lints and "16.384 MHz is above the 16 MHz" in above.lints[0]
    # A line of current by clock: faster, and as many joules within a few percent.
    limit = measure("aes128-ctr-encrypt", board=FR5994, freq_hz=16_000_000)
    assert above.time_s < limit.time_s * 1.05
    assert above.energy_j == pytest.approx(limit.energy_j, rel=0.1)
    with pytest.raises(EngineError, match="above what any core voltage level allows") as far:
        measure("aes128-ctr-encrypt", board=FR5994, freq_hz=25_000_000, allow=("overclock",))
    assert "--allow" not in str(far.value)
