# SPDX-License-Identifier: MIT OR Apache-2.0
"""Figures of speed: what a ratio to the yardstick keeps out, and which page is older than the engine."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from sunseal import _engine
from sunseal.benchmark import bench, provenance, timing
from sunseal.errors import SunsealError


def test_other_work_that_slows_some_rounds_leaves_the_ratio_alone() -> None:
    quiet = timing.summed_up([[3.0, 3.0]] * 5, [[1.0, 1.0, 1.0]] * 5, 100)
    slowed = [1.0, 1.9, 1.5, 2.0, 1.0]
    busy = timing.summed_up([[3.0 * s] * 2 for s in slowed], [[1.0 * s] * 3 for s in slowed], 100)
    assert (quiet.steps, quiet.spread, quiet.best_s) == (300.0, 0.0, 3.0)
    assert busy.steps == pytest.approx(300.0)
    assert busy.spread == pytest.approx(0.5)
    assert busy.best_s == 3.0


def test_a_lucky_moment_of_the_yardstick_leaves_the_ratio_alone() -> None:
    lucky = timing.summed_up([[3.0, 3.0, 3.0]] * 5, [[1.0, 1.0, 0.5], *[[1.0, 1.0, 1.0]] * 4], 100)
    assert lucky.steps == pytest.approx(300.0)


def test_the_yardstick_is_the_same_work_for_ever() -> None:
    # A changed loop would make every ratio that was written down another.
    assert _engine.yardstick() == (47_115, 649_994_643)


def test_a_figure_is_measured_for_as_long_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = 0

    def run(takes_ns: int) -> tuple[int, int]:
        nonlocal now_ns
        now_ns += takes_ns
        return 1000, 0

    monkeypatch.setattr(time, "thread_time_ns", lambda: now_ns)
    monkeypatch.setattr(_engine, "yardstick", lambda: run(2_000_000))
    ran: list[int] = []
    measured = timing.timed(lambda: ran.append(run(5_000_000)[0]), clock_ns=lambda: now_ns)
    warm, least = 1, timing.LEAST_S / 0.005
    assert (measured.rounds, len(ran)) == (timing.ROUNDS, warm + least)
    assert measured.best_s == pytest.approx(0.005)
    assert measured.steps == pytest.approx(2500.0)


def test_bench_engine_tells_ratios_of_every_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "LEAST_S", 0.0)
    monkeypatch.setattr(bench, "CORES", {"msp430": ("telosb",)})
    rows = bench.run("engine")
    assert [r["name"] for r in rows] == ["yardstick.mips", *["engine.msp430.mips", "engine.msp430.mcps"] * 2]
    for row in rows:
        assert set(row) == {"name", "value", "unit", "conditions", "ratio", "spread", "rounds"}
        assert row["value"] > 0
        assert row["ratio"] > 0
    # A round is one turn here, and so is the yardstick's ratio to itself about 1.
    assert 0.2 < rows[0]["ratio"] < 5


def repository(home: Path) -> str:
    """Make a repository with both pages and a source of the engine; its first commit."""
    for path in provenance.PAGES:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
    for crate in {c for page in provenance.PAGES.values() for c in page.crates}:
        source = home / f"crates/sunseal-{crate}/src/lib.rs"
        source.parent.mkdir(parents=True)
        source.write_text("// A comment.\nfn a() {}\n")
    (home / "Cargo.lock").write_text("")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run((*git, "init", "--quiet"), cwd=home, check=True)
    subprocess.run((*git, "add", "."), cwd=home, check=True)
    subprocess.run((*git, "commit", "--quiet", "-m", "all"), cwd=home, check=True)
    done = subprocess.run((*git, "rev-parse", "HEAD"), cwd=home, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_page_that_is_older_than_the_engine_is_named_with_what_renews_it(tmp_path: Path) -> None:
    commit = repository(tmp_path)
    told = provenance.line(tmp_path)
    assert told.endswith(f" of commit {commit}")
    for path in provenance.PAGES:
        (tmp_path / path).write_text(f"{told} on a processor.\n")
    assert provenance.older(tmp_path) == {}

    performance, loop = provenance.PAGES
    source = tmp_path / "crates/sunseal-node/src/lib.rs"
    source.write_text("// Another comment.\n    /// And one.\nfn a() {}\n")
    assert provenance.older(tmp_path) == {}, "a comment makes no engine slower"
    source.write_text("// A comment.\nfn b() {}\n")
    why = f"is older than the engine: crates/sunseal-node/src/lib.rs changed since commit {commit[:12]}"
    # The closed loop is no part of what the other page measures.
    assert provenance.older(tmp_path) == {loop: f"{loop} {why}; `sunseal bench loop --page` renews it"}
    assert provenance.line(tmp_path).endswith(" of code that no commit has,")

    (tmp_path / performance).write_text(f"Measured of commit {'0' * 40}.\n")
    (tmp_path / loop).write_text("Measured some time ago.\n")
    told_now = provenance.older(tmp_path)
    assert "which this history does not have; `cargo run" in told_now[performance]
    assert "does not name the commit that it was measured of" in told_now[loop]


def test_where_there_are_no_pages_none_is_judged(tmp_path: Path) -> None:
    with pytest.raises(SunsealError, match=r"there is no docs/reference/performance\.md in .*a clone"):
        provenance.older(tmp_path)
