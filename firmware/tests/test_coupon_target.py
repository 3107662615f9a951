# SPDX-License-Identifier: MIT OR Apache-2.0
"""Coupons on the boards, the power cut in front of every instruction, at every cycle, and in flash at every write.

The programs are `bench-coupon-*.elf`: they open the store, make a coupon where there is none, and use it.
"""

from __future__ import annotations

import pytest
from coupon_cuts import AGREES, FRAM, VARIANTS, Cuts, Pool, feed, program

from sunseal import Machine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.measurement import measuring, oracle
from sunseal.secure.cutting import Left

MONOLITHIC, PUBLIC_KEY_ERROR = 3, -3
"""SUNSEAL_COUPON_MONOLITHIC, SUNSEAL_ERR_PUBLIC_KEY."""


def result(m: Machine, name: str) -> tuple[bytes, int]:
    """Check the output of a run and return it with the number of its coupon."""
    trial = oracle.trial(boards.workload(name))
    output = m.read("bench_output")[: trial.output_bytes]
    assert m.read_int("bench_status") == 0
    assert trial.right(output) is not False
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


# A minute of `coupon_cuts.py`: how often the power goes in a row, each how many-th cut of a recovery is made, and how
# many there are at least.
@pytest.mark.parametrize(
    ("board", "name", "losses", "every_behind", "least"),
    [
        (FRAM, "coupon-ctr-use", 2, 1, 30_000),
        (FRAM, "coupon-ctr-produce", 2, 1, 50_000),
        (FRAM, "coupon-wots-sha1-produce", 1, 1, 4_000_000),
        (FRAM, "coupon-wots-sha1-use", 1, 1, 100_000),
        (FRAM, "coupon-secp160r1-pool-use", 2, 1, 500_000),
        (FRAM, "coupon-ecdh-p256-produce", 1, 1, 1_500_000),
        (FRAM, "coupon-ecdh-p256-use", 1, 1, 6_000_000),
        ("msp430f5438a-anagear", "coupon-ctr-use", 1, 1, 40),
        ("msp430f5438a-anagear", "coupon-ctr-produce", 1, 1, 40),
        ("msp430f5438a-anagear", "coupon-random-use", 2, 16, 250),
        ("msp432p401r-launchpad", "coupon-ctr-use", 1, 1, 39),
        ("msp432p401r-launchpad", "coupon-ctr-produce", 1, 1, 39),
        ("msp432p401r-launchpad", "coupon-ecdh-p256-use", 1, 1, 35),
    ],
)
def test_no_cut_lets_a_number_serve_twice(board: str, name: str, losses: int, every_behind: int, least: int) -> None:
    done = Cuts(board, name, losses, 1, every_behind).cut()
    assert done.cuts + done.recovery_cuts > least
    assert done.uncut == 0
    if losses > 1:
        assert done.recoveries > 1


@pytest.mark.parametrize(
    ("board", "name", "block"),
    [(FRAM, "coupon-ctr-use", 0), ("msp432p401r-launchpad", "coupon-wots-sha1-use", 256)],
)
def test_the_campaign_tells_a_number_that_comes_again(board: str, name: str, block: int) -> None:
    """In flash a cut may cost the rest of a block, or two blocks; no number comes again, and none is made up."""
    cuts = Cuts(board, name, 1)
    root = Left((), stretch=cuts.run.stretch)
    own, taken = cuts.number, cuts._taken(root)

    def judge(*numbers: int, turn: int = taken) -> None:
        cuts.numbers = list(numbers)
        ends = [(0, turn - 1), (turn, cuts.run.stretch.cycles)]
        root.classes = [(first, last, Left((), run=i)) for i, (first, last) in enumerate(ends)]
        cuts._no_number_twice(root)

    base = own - own % block if block else own
    for number in (own + 1, *((base + block, base + 2 * block) if block else ())):
        judge(own, number)
    for number in (own - 1, own + 2, *((base + block + 1, base + 3 * block) if block else ())):
        with pytest.raises(SunsealError, match=f"lead to the numbers .*{number}"):
            judge(own, number)
    with pytest.raises(SunsealError, match="serves again when it has been used"):
        judge(own, own)
    with pytest.raises(SunsealError, match="lost without being used"):
        judge(own + 1, own)
    with pytest.raises(SunsealError, match=f"read from cycle {taken} on, serves again"):
        judge(own, own + 1, turn=taken + 1)


def test_the_campaign_tells_a_key_pair_that_comes_again() -> None:
    cuts = Cuts(FRAM, AGREES, 1)
    (public,) = cuts.public_keys
    m = Machine(FRAM, program(FRAM, AGREES))
    feed(m, AGREES)
    m.run()
    cuts.right(m)
    cuts.public_keys[public] += 1
    with pytest.raises(AssertionError, match="a key pair comes twice"):
        cuts.right(m)


@pytest.mark.parametrize("board", VARIANTS)
@pytest.mark.parametrize("empty", [False, True])
def test_a_pair_agrees_whether_or_not_there_was_a_coupon_and_a_false_key_is_refused(board: str, empty: bool) -> None:
    trial = oracle.trial(boards.workload(AGREES))
    assert trial.refused is not None
    for fed, status in ((trial.fed, MONOLITHIC if empty else 0), (trial.refused, PUBLIC_KEY_ERROR)):
        m = Machine(board, program(board, AGREES))
        feed(m, AGREES)
        m.run(until="bench_coupon_ecdh_p256_use")
        m.write("bench_input", fed)
        m.write("bench_output", b"\xff" * trial.output_bytes)
        assert Pool.of(m, board).ready == 1
        if empty:
            m.write(m.address("pool") + (12 if board == "msp432p401r-launchpad" else 6), b"\0\0")
        m.run()
        assert m.read_int("bench_status") == status % 2**16
        output = m.read("bench_output", trial.output_bytes)
        assert trial.right(output) is not False if status >= 0 else output == bytes(trial.output_bytes)
        assert Pool.of(m, board).ready == 0
        assert m.read("work", 96) == bytes(96)


@pytest.mark.parametrize("board", VARIANTS)
def test_every_kind_is_right(board: str) -> None:
    kinds = [w.name for w in boards.WORKLOADS.values() if w.algorithm == "coupon"]
    assert len(kinds) == 38
    there = [name for name in kinds if boards.has_workload(board, name)]
    assert len(there) == {FRAM: 38, "msp430f5438a-anagear": 32, "msp432p401r-launchpad": 35}[board]
    for name in there:
        assert measuring.measure(name, board=board).result_valid is not False


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
