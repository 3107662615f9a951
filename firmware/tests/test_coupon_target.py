# SPDX-License-Identifier: MIT OR Apache-2.0
"""Coupons on the boards, the power cut in front of every instruction, and in flash at every write.

The programs are `bench-coupon-*.elf`: they open the store, make a coupon where there is none, and use it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import sunseal
from sunseal import Machine, boards
from sunseal.measurement import measuring, oracle

BUILD = Path(__file__).resolve().parents[1] / "build"
FRAM = "msp430fr5994-launchpad"
FLASH = {"msp430f5438a-anagear": (0xF000, 1024), "msp432p401r-launchpad": (0x38000, 8192)}
VARIANTS = {FRAM: "mpy-32", "msp430f5438a-anagear": "mpy-32", "msp432p401r-launchpad": "default"}


def program(board: str, name: str) -> Path:
    return BUILD / board / VARIANTS[board] / f"bench-{name}.elf"


def feed(m: Machine, name: str) -> None:
    """Write what the program reads from RAM, which no power cut leaves."""
    fed = oracle.trial(boards.workload(name)).fed
    m.write("bench_input", fed)
    m.write("bench_input_len", len(fed).to_bytes(2, "little"))


def result(m: Machine, name: str) -> tuple[bytes, int]:
    """Check the output of a run and return it with the number of its coupon."""
    trial = oracle.trial(boards.workload(name))
    output = m.read("bench_output")[: trial.output_bytes]
    assert m.read_int("bench_status") == 0
    assert trial.right(output)
    return output, int.from_bytes(output[-4:], "little")


def keystream(number: int) -> bytes:
    """The payload of a coupon: what the message and its ciphertext differ by."""
    trial = oracle.trial(boards.workload("coupon-ctr-use"))
    work = boards.workload("coupon-ctr-use")
    assert work.parameter == "ctr"
    key, nonce, message = trial.fed[:16], trial.fed[16:24], trial.fed[24:]
    encrypted = oracle.ctr(key, nonce + number.to_bytes(4, "big") + bytes(4), message)
    return bytes(a ^ b for a, b in zip(message, encrypted, strict=True))


def left_in(memory: bytes, number: int) -> bool:
    """Say whether a piece of the coupon is in the memory."""
    stream = keystream(number)
    return any(stream[i : i + 8] in memory for i in range(0, len(stream), 8))


def reboot(m: Machine, name: str, seed: int) -> None:
    m.power_cut()
    m.vcc_v = 3.0
    m.power_on(seed)
    feed(m, name)


@pytest.mark.parametrize("operation", ["use", "produce"])
def test_cut_in_front_of_every_instruction(operation: str) -> None:
    """A coupon is used once: before its claim the next life has it whole, behind it not at all."""
    name = f"coupon-ctr-{operation}"
    m = Machine(FRAM, program(FRAM, name))
    feed(m, name)
    m.run(until=f"bench_coupon_ctr_{operation}")
    seen: list[int] = []
    sp = m.registers["SP"]
    while m.registers["SP"] <= sp:
        here = m.snapshot()
        reboot(m, name, len(seen))
        m.run(until=f"bench_coupon_ctr_{operation}")
        memory, ready = m.read("memory"), m.read("pool")[6]
        numbers = [n for n in range(4) if left_in(memory, n)]
        assert len(numbers) == ready, "there is more or less in the memory than ready coupons"
        if operation == "use":
            m.run()
            _, number = result(m, name)
            assert numbers == [number]
            assert not left_in(m.read("memory"), number)
        else:
            number = ready
        seen.append(number)
        m.restore(here)
        m.step()
    turn = seen.index(seen[0] + 1)
    assert seen == [seen[0]] * turn + [seen[0] + 1] * (len(seen) - turn)
    assert 30 < turn < len(seen) - 100 if operation == "use" else turn > 1000
    assert len(seen) > 300


@pytest.mark.parametrize("board", FLASH)
@pytest.mark.parametrize("operation", ["use", "produce"])
def test_flash_cut_at_every_write(board: str, operation: str) -> None:
    """Writes and erases cut before, within and behind them; the next life is right and keeps no copy."""
    name = f"coupon-ctr-{operation}"
    place, size = FLASH[board]
    seen: set[int] = set()

    def right(m: Machine) -> None:
        memory = m.read(place, size)
        if operation == "use":
            _, number = result(m, name)
            seen.add(number)
            assert not any(left_in(memory, n) for n in range(number + 1) if n >= number - 2)

    done = sunseal.inject(
        program(board, name),
        board,
        start=f"bench_coupon_ctr_{operation}",
        points="writes",
        setup=lambda m: feed(m, name),
        invariants=[right],
        seed=7,
    )
    assert done.passed, done.earliest
    assert done.cuts > 40
    if operation == "use":
        # The coupon that was there, or where the cut came behind its claim, the next one.
        assert len(seen) == 2


def checkpoints(seed: bytes, index: int) -> list[bytes]:
    """The values that a coupon of SHA-1 chains keeps: each fourth of each chain."""
    values = []
    for j in range(43):
        x = hashlib.sha1(seed + index.to_bytes(4, "big") + j.to_bytes(2, "big"), usedforsecurity=False).digest()
        for link in range(16):
            if link % 4 == 0:
                values.append(x)
            x = hashlib.sha1(x, usedforsecurity=False).digest()
    return values


@pytest.mark.parametrize(("operation", "every"), [("use", 151), ("produce", 211)])
def test_a_one_time_key_signs_once(operation: str, every: int) -> None:
    """Behind a cut the chains of a claimed index are gone, and the signature is of another one."""
    name = f"coupon-wots-sha1-{operation}"
    seed = oracle.trial(boards.workload(name)).fed[:20]
    seen: set[int] = set()

    def right(m: Machine) -> None:
        memory = m.read("memory")
        if operation == "use":
            _, number = result(m, name)
            seen.add(number)
            assert not any(value in memory for value in checkpoints(seed, number))
        else:
            held = [n for n in range(5) if any(value in memory for value in checkpoints(seed, n))]
            assert len(held) == 1, "chains of two one-time keys, or of none"

    done = sunseal.inject(
        program(FRAM, name),
        FRAM,
        start=f"bench_{name.replace('-', '_')}",
        points="writes",
        every=every,
        setup=lambda m: feed(m, name),
        invariants=[right],
        seed=7,
    )
    assert done.passed, done.earliest
    assert done.cuts > 8
    if operation == "use":
        assert len(seen) == 2, "the index that was there, or where the cut came behind its claim the next one"


@pytest.mark.parametrize("board", VARIANTS)
def test_every_kind_is_right(board: str) -> None:
    kinds = [w.name for w in boards.WORKLOADS.values() if w.algorithm == "coupon"]
    assert len(kinds) == 36
    there = [name for name in kinds if boards.has_workload(board, name)]
    assert len(there) == {FRAM: 36, "msp430f5438a-anagear": 30, "msp432p401r-launchpad": 33}[board]
    for name in there:
        assert measuring.measure(name, board=board).result_valid is True


@pytest.mark.parametrize(("curve", "part"), [("secp160r1", 6), ("p224", 7), ("p256", 8)])
def test_a_step_of_a_coupon_is_a_bounded_part_of_it(curve: str, part: int) -> None:
    name = f"coupon-{curve}-steps-produce"
    m = Machine(FRAM, program(FRAM, name))
    feed(m, name)
    m.run(until=f"bench_{name.replace('-', '_')}")
    begun, steps = m.cycles, []
    while m.read_int("bench_status") == 0x7FFF:
        at = m.cycles
        m.run(until="sunseal_coupon_produce")
        steps.append(m.cycles - at)
    assert m.read_int("bench_status") == 0
    assert len(steps) > 30
    assert max(steps) < (m.cycles - begun) / part
