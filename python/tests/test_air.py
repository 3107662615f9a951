# SPDX-License-Identifier: MIT OR Apache-2.0
"""Machines on one air: two MICAz whose CC2420 exchange a frame."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sunseal import Air, EngineError, Machine, SunsealError
from test_workloads import tool

PROGRAM = (Path(__file__).parents[2] / "crates/sunseal-radio/tests/data/micaz.c").read_text()

FRAME = bytes([9 + 2 + 5, 0x61, 0x88, 0x11, 0x22, 0x00, 0x02, 0x00, 0x01, 0x00]) + b"hello"
ACK = bytes([5, 0x02, 0x00, 0x11])


@pytest.fixture(scope="module")
def elfs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("air")
    source = folder / "frame.c"
    source.write_text(PROGRAM)
    made = []
    for own in (1, 2):
        elf = folder / f"frame{own}.elf"
        frame = ",".join(map(str, FRAME))
        flags = ["-mmcu=atmega128", "-Os", "-std=gnu11", "-DF_CPU=7372800UL", f"-DOWN={own}", f"-DFRAME={frame}"]
        subprocess.run([tool("avr-gcc"), *flags, "-o", elf, source], check=True)
        made.append(elf)
    return made


def two(elfs: list[Path], **how: float) -> tuple[Air, Machine, Machine]:
    air = Air(**how)  # type: ignore[arg-type]
    a = air.machine("micaz", elfs[0])
    b = air.machine("micaz", elfs[1], x_m=10)
    return air, a, b


def got(machine: Machine) -> bytes:
    return bytes(machine.read("got"))[: machine.read("got_bytes")[0]]


def test_two_motes_exchange_a_frame_and_its_acknowledgment(elfs: list[Path]) -> None:
    air, a, b = two(elfs)
    air.run(time_s=0.1)
    assert got(b)[: len(FRAME)] == FRAME
    assert got(a)[: len(ACK)] == ACK
    assert a.radio is not None and b.radio is not None
    assert (a.radio.sent, b.radio.received) == (1, 1)
    assert air.time_s == pytest.approx(0.1, abs=1e-4)
    data, ack = air.frames()
    assert (data.sender, ack.sender) == (a, b)
    assert data.data[: len(FRAME)] == FRAME
    # 192 us of turn-round, 12 symbols of 16 us, behind the frame.
    assert ack.start_s - data.end_s == pytest.approx(192e-6, abs=1e-6)
    assert air.frames() == []


def test_losses_and_places_decide_who_hears(elfs: list[Path]) -> None:
    # At 95 dB the CC2420 hears, at 110 it does not; so far away as that it does not either.
    for how, heard in (("near", True), ("far", False), ("linked", True), ("lossy", False)):
        air, a, b = two(elfs, frame_loss=float(how == "lossy"))
        if how == "far":
            air.place(b, 2000, 0)
        if how == "linked":
            air.place(b, 2000, 0)
            air.link(a, b, loss_db=85)
        air.run(time_s=0.1)
        assert (got(b)[: len(FRAME)] == FRAME) == heard, how


def test_the_same_seed_gives_the_same_bytes(elfs: list[Path]) -> None:
    def played(seed: int) -> tuple[bytes, int, int]:
        air, a, b = two(elfs, seed=seed, loss_db=96.5)
        air.run(time_s=0.1)
        return bytes(b.read("got")), a.cycles, b.cycles

    assert played(1) == played(1)
    assert len({played(seed)[0] for seed in range(1, 9)}) > 1


def test_a_machine_of_a_board_has_its_radio_and_may_be_taken_back(elfs: list[Path]) -> None:
    m = Machine("micaz", elfs[0])
    m.run(time_s=0.003)
    kept = m.snapshot()
    m.run(time_s=0.02)
    assert m.radio is not None and m.radio.sent == 1
    cycles = m.cycles
    m.restore(kept)
    assert m.radio.sent == 0
    m.run(time_s=0.02)
    assert (m.radio.sent, m.cycles) == (1, cycles)
    assert Machine("atmega128l").radio is None


def test_who_shares_an_air_runs_with_the_others(elfs: list[Path]) -> None:
    air, a, _ = two(elfs)
    with pytest.raises(EngineError, match=r"shares its air with 1 more; run all of them by Air\.run"):
        a.run(time_s=0.01)
    with pytest.raises(EngineError, match="whom a snapshot of it cannot take back"):
        a.snapshot()
    air.run(time_s=0.01)
    with pytest.raises(SunsealError, match="begin at the same time"):
        air.machine("micaz")
    with pytest.raises(SunsealError, match="is not on this air"):
        air.link(a, Machine("micaz"), 60)
    with pytest.raises(EngineError, match="only a machine of a board with a radio"):
        Air().machine("atmega128l")
    with pytest.raises(SunsealError, match="has no machines"):
        Air().run(1)
