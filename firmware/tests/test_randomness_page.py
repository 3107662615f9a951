# SPDX-License-Identifier: MIT OR Apache-2.0
"""The page of the random sources is of what the firmware gives; asking NIST's estimators anew is `make randomness`."""

from __future__ import annotations

import pytest
import randomness


def test_the_tables_of_the_random_sources_are_of_the_starts_that_the_firmware_gives() -> None:
    told = randomness.told()
    generators = [name for part in randomness.blocks() for name in randomness.PARTS[part]]
    assert "sram_sha256" in generators
    assert told == randomness.starts(generators), "python firmware/tests/randomness.py write"
    another = randomness.starts(generators, seed=2)
    assert all(another[name] != digest for name, digest in told.items())


def test_a_part_is_written_and_checked_between_its_marks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: randomness.Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- figures: sram -->\nold\n<!-- end of figures -->\nbehind\n")
    monkeypatch.setattr(randomness, "PAGE", page)
    monkeypatch.setattr(randomness, "measured", lambda part: {"part": part})
    monkeypatch.setattr(randomness, "starts", lambda generators: dict.fromkeys(generators, "0"))
    monkeypatch.setattr(randomness, "tables", lambda found, digests: [found["part"], *digests])
    assert randomness.main("check", []) == 1
    assert randomness.main("write", ["osc_clksft"]) == 2
    assert randomness.main("write", []) == 0
    assert page.read_text().startswith("before\n<!-- figures: sram -->\nsram\nsram_")
    assert page.read_text().endswith("<!-- end of figures -->\nbehind\n")
    assert randomness.main("check", ["sram"]) == 0
