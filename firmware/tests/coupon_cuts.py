#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cut the power in the coupons' programs: python coupon_cuts.py [BOARD] [PROGRAM]... [--recoveries N]

In FRAM every cycle of making or using a coupon is cut, and every cycle of each recovery; in flash every write and
erase, before, within and behind it, and with N each Nth of these points of each recovery: hardly two leave the same
there. Few of many points tell nothing, as the last may lie in front of the use. Making is burning a number and writing
a slot; using is claim, use and wipe. Held to: no number serves twice, a coupon is lost only if it is in use, no torn
slot is taken, the store goes on. A pool of nonces is made once and stays, as a node's does.
"""

from __future__ import annotations

import argparse
import struct
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sunseal import EngineError, Machine
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.measurement import coupon, oracle
from sunseal.secure.cutting import Campaign, Left, Run

BUILD = Path(__file__).resolve().parents[1] / "build"
FRAM = "msp430fr5994-launchpad"
FLASH = {"msp430f5438a-anagear": (0xF000, 1024), "msp432p401r-launchpad": (0x38000, 8192)}
BLOCKS = 2
VARIANTS = {FRAM: "mpy-32", "msp430f5438a-anagear": "mpy-32", "msp432p401r-launchpad": "default"}
OFF_PS = 10**12
AGREES = "coupon-ecdh-p256-use"
READY, FREE = 0x5555, 0x0000
FULL = 2
RECORD_BYTES, HEADER_BYTES, FLASH_HEADER_BYTES, FLASH_BLOCK_BYTES = 16, 14, 16, 32
ERASED = 0xFFFF
TAKES = ("sunseal_coupon_move", "sunseal_coupon_move_xor", "sunseal_coupon_copy", "sunseal_coupon_copy_xor")
"""Where a claimed coupon's payload is read first."""


def program(board: str, name: str) -> Path:
    """Find a program of the bench."""
    return BUILD / board / VARIANTS[board] / f"bench-{name}.elf"


def feed(m: Machine, name: str, kept: bytes = b"") -> None:
    """Write what the program reads from RAM, which no power cut leaves: its input, and a pool that outlasts the cut."""
    fed = oracle.trial(boards.workload(name)).fed
    m.write("bench_input", fed)
    m.write("bench_input_len", len(fed).to_bytes(2, "little"))
    if kept:
        m.write(pool_of(name), kept)


def pool_of(name: str) -> str:
    """Name the object with the pairs of nonces of a program."""
    return f"{name.removeprefix('coupon-').partition('-')[0]}_kept"


@dataclass(frozen=True)
class Pool:
    """What the program's pool says of itself."""

    ready: int
    next: int
    oldest: int

    @classmethod
    def of(cls, m: Machine, board: str) -> Pool:
        """Read it from the program's memory (struct sunseal_coupon_pool)."""
        wide = board == "msp432p401r-launchpad"
        shape = struct.Struct("<12x H 10x I I" if wide else "<6x H 10x I H")
        return cls(*shape.unpack_from(m.read("pool")))


@dataclass(frozen=True)
class Slot:
    """A slot of the store."""

    state: int
    number: int
    payload: bytes


def slots(m: Machine, board: str = FRAM) -> list[Slot]:
    """Read the slots of a pool; in flash the state is READY or FREE."""
    size = int.from_bytes(m.read("kind")[2:4], "little")
    if board in FLASH:
        return flash_slots(m.read(*FLASH[board]), size)
    memory = m.read("memory")
    found = []
    for at in range(RECORD_BYTES, len(memory) - HEADER_BYTES - size + 1, HEADER_BYTES + size):
        state, _, _, _, low, high, _ = struct.unpack_from("<7H", memory, at)
        found.append(Slot(state, high << 16 | low, memory[at + HEADER_BYTES : at + HEADER_BYTES + size]))
    return found


def flash_slots(memory: bytes, size: int) -> list[Slot]:
    """Read the slots of a pool in flash, those that hold a coupon."""
    found, block_bytes = [], len(memory) // BLOCKS
    for block in range(0, len(memory), block_bytes):
        last = block + block_bytes - FLASH_HEADER_BYTES - size
        for at in range(block + FLASH_BLOCK_BYTES, last + 1, FLASH_HEADER_BYTES + size):
            commit, claim, _, _, _, low, high, _ = struct.unpack_from("<8H", memory, at)
            if (commit, claim) == (READY, ERASED):
                payload = memory[at + FLASH_HEADER_BYTES : at + FLASH_HEADER_BYTES + size]
                found.append(Slot(READY, high << 16 | low, payload))
    return found


class Cuts:
    """A program whose making or using of a coupon is cut."""

    def __init__(self, board: str, name: str, losses: int | None, every: int = 1, every_behind: int = 1) -> None:
        """Run it once without a cut."""
        self.board, self.name = board, name
        self.uses = name.endswith("-use")
        self.block = FLASH[board][1] // BLOCKS // FLASH_HEADER_BYTES if board in FLASH else 0
        """Numbers of a block of flash: as many as slots without a payload."""
        self.pool = self._pool() if board in FLASH and "-pool-" in name else b""
        self.numbers: list[int] = []
        """The last number that each run behind a reboot, or one before it, gave."""
        self.public_keys: dict[bytes, int] = {}
        """Of ephemeral pairs, each with the number that it came with: the program draws another for each number."""
        self.pieces: set[bytes] = set()
        """Of the payloads of the coupon that is there when use begins, and of the one behind it."""
        self.run = Run(
            program(board, name),
            board,
            f"bench_{name.replace('-', '_')}",
            None,
            None,
            None,
            self._feed,
            (),
            {},
            [self.right],
            None,
        )
        told = self.run.uninterrupted(None)
        self.number = self.numbers[-1]
        self.numbers.clear()
        if self.uses and board in FLASH:
            self._keep_payloads()
        points = "cycles" if board == FRAM else "writes"
        self.campaign = Campaign(
            self.run, told, OFF_PS, 7, losses=losses, points=points, every=every, every_behind=every_behind
        )

    def _feed(self, m: Machine) -> None:
        feed(m, self.name, self.pool)

    def _pool(self) -> bytes:
        m = Machine(self.board, program(self.board, self.name))
        feed(m, self.name)
        m.run(until=f"bench_{self.name.replace('-', '_')}")
        return m.read(pool_of(self.name))

    def _keep_payloads(self) -> None:
        m = Machine(self.board, program(self.board, self.name))
        for life in range(2):
            self._feed(m)
            m.run(until=self.run.start)
            size = int.from_bytes(m.read("kind")[2:4], "little")
            payload = m.read(Pool.of(m, self.board).oldest + FLASH_HEADER_BYTES, size)
            pieces = (payload[i : i + 8] for i in range(0, size - 7, 8))
            self.pieces.update(p for p in pieces if len(set(p)) > 2)
            m.run()
            m.power_cut()
            m.power_on(life)

    def right(self, m: Machine) -> None:
        """Hold what a run leaves to what must hold; take its number down."""
        pool = Pool.of(m, self.board)
        status = m.read_int("bench_status")
        assert status == 0 or (status == FULL and not self.uses), "the program fails"
        if self.uses:
            trial = oracle.trial(boards.workload(self.name))
            assert trial.right(m.read("bench_output", trial.output_bytes)) is not False, "the output is wrong"
            assert pool.ready == 0, "a coupon is left that was not there"
            if self.name == AGREES:
                public = m.read("bench_output", trial.output_bytes)[32:]
                assert self.public_keys.setdefault(public, pool.next - 1) == pool.next - 1, "a key pair comes twice"
            self._nothing_left(m)
        else:
            assert pool.ready > 0, "there is no coupon"
            held = [slot.number for slot in slots(m, self.board) if slot.state == READY]
            assert len(held) == len(set(held)) == pool.ready, "two coupons of one number, or fewer than are told"
            assert all(number < pool.next for number in held), "the number of a coupon will be burnt again"
        self.numbers.append(pool.next - 1)

    def _nothing_left(self, m: Machine) -> None:
        if self.board == FRAM:
            assert not any(slot.state != FREE or any(slot.payload) for slot in slots(m)), "a coupon was not wiped"
        else:
            memory = m.read(*FLASH[self.board])
            assert not any(piece in memory for piece in self.pieces), "a coupon was not wiped"

    def cut(self) -> Result:
        """Cut it everywhere."""
        begun = time.process_time()
        campaign = self.campaign
        root = Left((), stretch=self.run.stretch)
        campaign.cut_all(root, False, None)
        for node in campaign.nodes:
            for cycle, reason in campaign.failed(node)[:1]:
                raise SunsealError(f"{self.name} on {self.board}, cut at {(*node.path, cycle)}: {reason}")
        for node in campaign.nodes:
            self._no_number_twice(node)
        return Result(
            self.board,
            self.name,
            len(campaign.points_of(root)),
            len(campaign.recoveries),
            sum(campaign.cut(node) for node in campaign.recoveries),
            campaign.runs,
            len(campaign.uncut),
            time.process_time() - begun,
        )

    def _number(self, left: Left) -> int:
        return self.numbers[left.run]

    def _no_number_twice(self, node: Left) -> None:
        """A cut costs a number at most; where the payload is read, and behind it, no cut brings its coupon back."""
        own = self.number if not node.path else self._number(node)
        seen = [(last, self._number(left)) for _, last, left in node.classes]
        behind = f", behind cuts at {node.path}" if node.path else ""
        where = f"{self.name} on {self.board}{behind}"
        if wrong := sorted({number for _, number in seen if not self._may_follow(own, number)}):
            raise SunsealError(f"{where}: cuts lead to the numbers {wrong} and not to {own}")
        if not self.uses:
            return
        again = max((last for last, number in seen if number == own), default=-1)
        if not node.path and (seen[0][1] != own or any(number != own for last, number in seen if last < again)):
            raise SunsealError(f"{where}: the coupon {own} is lost without being used")
        if again == seen[-1][0]:
            raise SunsealError(f"{where}: the coupon {own} serves again when it has been used")
        if again >= (taken := self._taken(node)):
            raise SunsealError(f"{where}: the coupon {own}, read from cycle {taken} on, serves again behind {again}")

    def _may_follow(self, own: int, number: int) -> bool:
        """Say whether a cut may lead to a number: it costs one at most, or in flash the rest of a block.

        A block that was not begun whole, and the one behind it, are passed over: `block_next` in coupon/src/flash.c.
        """
        if number in (own, own + 1):
            return True
        return self.block > 0 and number % self.block == 0 and 1 <= number // self.block - own // self.block <= 2

    def _taken(self, node: Left) -> int:
        """Return the cycle of the stretch in which the payload is read first."""
        m = self.run.machine
        if node.path:
            assert node.snapshot is not None
            m.restore(node.snapshot)
            self.run.begin()
        else:
            m = Machine(self.board, program(self.board, self.name))
            self._feed(m)
            m.run(until=self.run.start)
        begun = m.cycles
        # What opens the store wipes, which reads no payload.
        stop = m.engine.run(begun + 10**9, None, [m.address(name) for name in TAKES if self._has(name)], None)
        if stop[0] != "pc":
            raise SunsealError(f"{self.name} uses its coupon by none of {', '.join(TAKES)}")
        return m.cycles - begun

    def _has(self, name: str) -> bool:
        try:
            self.run.machine.address(name)
        except EngineError:
            return False
        return True


@dataclass(frozen=True)
class Result:
    """What came of one program."""

    board: str
    name: str
    cuts: int
    """Of making or using."""
    recoveries: int
    """Different ones that were cut, too."""
    recovery_cuts: int
    runs: int
    """That were made, one for each class."""
    uncut: int
    cpu_s: float

    def row(self) -> str:
        """Return it as a line of the table."""
        return (
            f"{self.board:24} {self.name:28} {self.cuts:12,} {self.recoveries:10,} {self.recovery_cuts:14,} "
            f"{self.runs:8,} {self.cpu_s:8.1f}"
        )


def programs(board: str) -> list[str]:
    """Name the programs of a board that make or use a coupon, a kind after the other."""
    named = [f"coupon-{kind}-{op}" for kind in coupon.KINDS for op in ("produce", "use")]
    return [name for name in named if name in boards.WORKLOADS and boards.has_workload(board, name)]


def cut(job: tuple[str, str, int | None]) -> Result:
    """Cut one program of a board; in flash the recoveries too, if it is said at each how many-th of their points."""
    board, name, every = job
    return Cuts(board, name, 2 if board == FRAM or every else 1, 1, 1 if board == FRAM else every or 1).cut()


def main(asked: Sequence[str] | None = None) -> None:
    """Cut what is asked for, or everything, on all cores, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("asked", nargs="*", metavar="BOARD|PROGRAM")
    parser.add_argument("--recoveries", type=int, metavar="N", help="in flash: cut recoveries at each Nth point")
    given = parser.parse_args(asked)
    on = [board for board in VARIANTS if board in given.asked] or list(VARIANTS)
    names = [name for name in given.asked if name not in VARIANTS]
    jobs = [(b, name, given.recoveries) for b in on for name in programs(b) if not names or name in names]
    if not jobs:
        raise SystemExit(f"coupon_cuts.py: no such program: {', '.join(names)}; there are {', '.join(programs(FRAM))}")
    print(f"{'board':24} {'program':28} {'cuts':>12} {'recoveries':>10} {'cuts in them':>14} {'runs':>8} {'CPU, s':>8}")
    done: list[Result] = []
    with ProcessPoolExecutor() as pool:
        for result in pool.map(cut, jobs):
            done.append(result)
            print(result.row(), flush=True)
    cuts, runs = sum(r.cuts + r.recovery_cuts for r in done), sum(r.runs for r in done)
    print(f"{cuts:,} cuts in {runs:,} classes, {sum(r.cpu_s for r in done):,.0f} s of CPU; each was survived")


if __name__ == "__main__":
    main()
