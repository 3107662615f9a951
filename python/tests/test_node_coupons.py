# SPDX-License-Identifier: MIT OR Apache-2.0
"""The node's program with coupons: supply lost while it refills and while it signs, on each board's own memory."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from conftest import require
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.machine.machine import Machine
from sunseal.measurement import oracle

# The channel that sees half of the store.
BOARDS = {"msp430fr5994-launchpad": 3, "msp430f5438a-anagear": 0, "msp432p401r-launchpad": 13}
PROGRAM = "node-p256-coupons"
FULL_V, LOW_V = 2.4, 1.3
BYTES = 32
DEVICES = 12


@dataclass
class Bench:
    """A node that nobody answers: it enrols, rests, refills while it rests, and enrols again."""

    board: str
    name: str = PROGRAM
    machine: Machine = field(init=False)
    nonces: dict[bytes, int] = field(default_factory=dict)
    life: int = 0

    def __post_init__(self) -> None:
        try:
            program = boards.firmware_path(self.board, boards.variant((), self.board), self.name)
        except SunsealError as e:
            require(False, str(e))
        self.machine = Machine(self.board, program)
        self.machine.adc_volts(BOARDS[self.board], FULL_V)

    @property
    def arm(self) -> bool:
        return "msp432" in self.board

    def argument(self, number: int) -> int:
        """An argument at a function's first instruction, or its answer behind its last."""
        return self.machine.registers[f"R{number if self.arm else 12 + number}"] & (0xFFFFFFFF if self.arm else 0xFFFF)

    def back(self) -> int:
        """Find where a function returns to, at its first instruction."""
        if self.arm:
            return self.machine.registers["LR"] & ~1
        return int.from_bytes(self.machine.read(self.machine.registers["SP"], 2), "little")

    def call(self, name: str, cut_s: float | None = None, wait_s: float = 8000.0) -> int | None:
        """Run into a function and through it; its answer, or None where the supply goes `cut_s` after its entry."""
        machine = self.machine
        machine.run(until=name, time_s=wait_s)
        assert machine.pc == machine.address(name), f"{name} was not called"
        signature, digest, back = self.argument(0), self.argument(1), self.back()
        machine.run(until=back, time_s=60.0 if cut_s is None else cut_s)
        done = machine.pc == back
        if name == "coupons_sign":
            self.judge(signature, digest, done and self.argument(0) in (0, 3))
        if done and cut_s is None:
            return self.argument(0)
        self.life += 1
        machine.power_cut()
        machine.power_on(1000 * self.life + 7)
        return None

    def judge(self, signature: int, digest: int, done: bool) -> None:
        """No nonce comes twice, and every signature is right."""
        raw = self.machine.read(signature, 2 * BYTES)
        r, s = (int.from_bytes(raw[i : i + BYTES], "big") for i in (0, BYTES))
        if not done:
            return
        assert raw[:BYTES] not in self.nonces, f"a nonce of life {self.nonces[raw[:BYTES]]} again in {self.life}"
        self.nonces[raw[:BYTES]] = self.life
        q = self.machine.read(self.machine.address("node_key") + 36, 2 * BYTES)
        key = ec.EllipticCurvePublicNumbers(
            int.from_bytes(q[:BYTES], "big"), int.from_bytes(q[BYTES:], "big"), ec.SECP256R1()
        ).public_key()
        hashed = self.machine.read(digest, BYTES)
        key.verify(utils.encode_dss_signature(r, s), hashed, ec.ECDSA(utils.Prehashed(hashes.SHA256())))

    def seconds(self, name: str) -> float:
        """Time a call from here; the machine is left as it was."""
        before = self.machine.snapshot()
        self.machine.run(until=name, time_s=8000.0)
        began_s = self.machine.time_s
        self.machine.run(until=self.back(), time_s=60.0)
        lasts_s = self.machine.time_s - began_s
        self.machine.restore(before)
        return lasts_s


def open_(bench: Bench) -> int:
    ready = bench.call("coupons_open")
    assert ready is not None
    return ready


@pytest.mark.parametrize("board", BOARDS)
def test_a_node_signs_whole_without_a_coupon_and_from_one_where_it_has_one(board: str) -> None:
    bench = Bench(board)
    assert open_(bench) == 0
    assert bench.call("coupons_sign") == 3
    assert bench.call("coupons_make") == 0
    assert bench.call("coupons_make") == 0
    # Below the surplus nothing more is made, and what there is gets used up.
    bench.machine.adc_volts(BOARDS[board], LOW_V)
    assert [bench.call("coupons_sign") for _ in range(3)] == [0, 0, 3]
    assert len(bench.nonces) == 4
    assert bench.machine.lints() == []


@pytest.mark.parametrize("board", BOARDS)
def test_whatever_the_supply_does_no_coupon_serves_twice_and_none_is_lost_but_the_one_in_use(board: str) -> None:
    bench = Bench(board)
    open_(bench)
    bench.call("coupons_sign")
    for _ in range(3):
        bench.call("coupons_make")
    made = bench.machine.snapshot()
    whole_s = {name: bench.seconds(name) for name in ("coupons_make", "coupons_sign")}
    assert whole_s["coupons_sign"] < whole_s["coupons_make"] / 4
    torn = used = 0
    for device in range(DEVICES):
        lots = random.Random(device)
        bench.machine.restore(made)
        bench.nonces.clear()
        # While one is made: all along, and where it is written.
        share = lots.uniform(0, 1) if device % 2 else lots.uniform(0.98, 1)
        assert bench.call("coupons_make", cut_s=share * whole_s["coupons_make"]) is None
        ready = open_(bench)
        assert ready in (3, 4)
        torn += ready == 3
        # While one is used, and again in the next life.
        for _ in range(2):
            assert bench.call("coupons_sign", cut_s=lots.uniform(0, whole_s["coupons_sign"])) is None
            now = open_(bench)
            assert now in (ready - 1, ready)
            used += now < ready
            ready = now
        # What is left serves once each; then there is none.
        bench.machine.adc_volts(BOARDS[board], LOW_V)
        answers = [bench.call("coupons_sign") for _ in range(ready + 1)]
        assert answers == [0] * ready + [3]
        bench.machine.adc_volts(BOARDS[board], FULL_V)
    assert torn > 0 and used > 0


def test_secp160r1_signs_from_coupons_where_its_table_and_constants_lie_above_64_kb() -> None:
    bench, curve = Bench("msp430f5438a-anagear", "node-secp160r1-coupons"), oracle.SECP160R1
    machine, taken = bench.machine, []

    def signed() -> int:
        machine.run(until="coupons_sign", time_s=8000.0)
        place, digest, back = bench.argument(0), bench.argument(1), bench.back()
        size = bench.argument(2) & 0xFF
        machine.run(until=back, time_s=60.0)
        status = bench.argument(0)
        r, s = (int.from_bytes(machine.read(place + at, 21), "big") for at in (0, 21))
        e = int.from_bytes(machine.read(digest, size), "big") >> max(8 * size - curve.n.bit_length(), 0)
        d = int.from_bytes(machine.read(machine.address("node_key") + 4, 21), "big")
        # k G for the k of this signature: (e + r d) / s.
        k = (e + r * d) * pow(s, -1, curve.n) % curve.n
        assert oracle._multiply(curve, k, curve.g)[0] % curve.n == r
        taken.append(r)
        return status

    assert open_(bench) == 0
    assert signed() == 3
    assert bench.call("coupons_make") == 0
    machine.adc_volts(BOARDS[bench.board], LOW_V)
    assert signed() == 0
    assert signed() == 3
    assert len(set(taken)) == 3


@pytest.mark.parametrize("board", ["msp430fr5994-launchpad", "msp430f5438a-anagear"])
def test_coupons_of_another_key_are_refused_and_wiped(board: str) -> None:
    bench = Bench(board)
    open_(bench)
    bench.call("coupons_make")
    assert bench.call("coupons_make") == 0
    machine = bench.machine
    # A node without a key makes another one.
    machine.write(machine.address("node_key"), b"\xff" * 128)
    machine.power_cut()
    machine.power_on(5)
    assert open_(bench) == 0
    assert bench.call("coupons_sign") == 3
