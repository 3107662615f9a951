# SPDX-License-Identifier: MIT OR Apache-2.0
"""Clocks slightly above a chip's limit: refused with the option's name, run with a warning where they are allowed."""

from pathlib import Path

import pytest

from sunseal import Bench, EngineError, SunsealError, measure
from sunseal.catalog import boards

FR5994 = "msp430fr5994-launchpad"
MICAZ = "micaz"


@pytest.fixture
def fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a MICAz with a crystal of 8.192 MHz, on a part for 8."""
    own = (boards.home() / "data" / "boards" / f"{MICAZ}.toml").read_text().replace("7372800", "8192000")
    (tmp_path / "sunseal" / "boards").mkdir(parents=True)
    (tmp_path / "sunseal" / "boards" / "fast.toml").write_text(own.replace(f'name = "{MICAZ}"', 'name = "fast"'))
    monkeypatch.chdir(tmp_path)
    return "fast"


def test_a_program_above_its_limit_is_refused_and_runs_where_it_is_allowed(fast: str) -> None:
    elf = boards.firmware_path(MICAZ, boards.variant((), MICAZ), "bench-sha256-hash")
    with pytest.raises(EngineError, match=r"8\.1920 MHz exceeds the 8 MHz .* `--allow overclock`"):
        Bench(fast, elf).run()
    bench = Bench(fast, elf, allow=["overclock"])
    assert bench.run().why == "halted"
    assert any("clock above what the data sheet allows" in lint for lint in bench.machine.lints())
    assert bench.energy_j > 0
    with pytest.raises(SunsealError, match="none of what can be allowed: overclock"):
        Bench(fast, elf, allow=["speed"])


def test_a_workload_is_priced_above_its_limit_by_permission_alone() -> None:
    above_hz = 16_384_000
    with pytest.raises(EngineError, match="`--allow overclock` has it run all the same"):
        measure("aes128-ctr-encrypt", board=FR5994, freq_hz=above_hz)
    above = measure("aes128-ctr-encrypt", board=FR5994, freq_hz=above_hz, allow=("overclock",))
    assert above.lints and "16.384 MHz is above the 16 MHz" in above.lints[0]
    # As many wait states as at the fastest printed clock, so faster, and as many joules within a few percent.
    limit = measure("aes128-ctr-encrypt", board=FR5994, freq_hz=16_000_000)
    assert above.time_s < limit.time_s
    assert above.energy_j == pytest.approx(limit.energy_j, rel=0.1)
    with pytest.raises(EngineError, match="above what any core voltage level allows") as far:
        measure("aes128-ctr-encrypt", board=FR5994, freq_hz=25_000_000, allow=("overclock",))
    assert "--allow" not in str(far.value)
