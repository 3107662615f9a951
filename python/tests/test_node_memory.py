# SPDX-License-Identifier: MIT OR Apache-2.0
"""The node's counter in the memory of each board, through losses of supply at any moment of its first seconds."""

from __future__ import annotations

import random

import pytest

from conftest import require
from sunseal.catalog import boards
from sunseal.errors import SunsealError
from sunseal.machine.machine import Machine

# Segments C and D (firmware/hal), and the channel that sees half of a charged store.
BOARDS = {
    "micaz": ((0x810180, 0x810200), None),
    "telosb": ((0xFA00, 0xFC00), None),
    "msp432p401r-launchpad": ((0x3E000, 0x3F000), 13),
    "msp430fr5994-launchpad": ((0x1880, 0x1800), 3),
}
SEGMENT_BYTES = 128
FIRST_SLOT = 4
# The counter is open then, and its number may be signed.
OPENED = "hal_entropy_samples"
SIGNS = "sunseal_ecdsa_p256_sign"
DEVICES, LIVES = 12, 3


def number(machine: Machine, segments: tuple[int, int]) -> int:
    """The counter as counter.h has it: base of the newer segment and the slots up to the last one used."""
    found = []
    for start in segments:
        raw = machine.read(start, SEGMENT_BYTES)
        words = [int.from_bytes(raw[i : i + 2], "little") for i in range(0, SEGMENT_BYTES, 2)]
        base = words[0] | words[1] << 16
        if (words[0] ^ words[2], words[1] ^ words[3]) == (0xFFFF, 0xFFFF):
            used = [i for i, word in enumerate(words[FIRST_SLOT:]) if word != 0xFFFF]
            found.append((base, base + max(used, default=-1) + 1))
    return max(found)[1]


@pytest.mark.parametrize("board", BOARDS)
def test_no_number_comes_twice_whatever_the_supply_does(board: str) -> None:
    segments, channel = BOARDS[board]
    try:
        program = boards.firmware_path(board, boards.variant((), board), "node-p256")
    except SunsealError as e:
        require(False, str(e))
    machine = Machine(board, program)
    if channel is not None:
        machine.adc_volts(channel, 1.8)
    new = machine.snapshot()
    began_s = machine.time_s
    machine.run(until=OPENED)
    opened_s = machine.time_s - began_s
    machine.run(until=SIGNS)
    signs_s = machine.time_s - began_s
    assert number(machine, segments) == 1
    # TelosB's DCO is measured upwards, past where the fastest part would be too fast.
    assert board == "telosb" or machine.lints() == []
    halved, opened = 0, False
    for device in range(DEVICES):
        lots = random.Random(device)
        machine.restore(new)
        if device % 2:
            # The first segment is full: the next number begins the other one.
            machine.write(segments[1], bytes(4) + b"\xff" * 4 + bytes(SEGMENT_BYTES - 8))
        last = 60 if device % 2 else 0
        for life in range(LIVES + 1):
            # Half of the cuts while the counter is opened, half while the key is made.
            cut_s = lots.uniform(0, lots.choice((opened_s, signs_s))) if life < LIVES else 2 * signs_s
            until_s = machine.time_s + cut_s
            machine.run(until=OPENED, time_s=cut_s)
            opened = machine.pc == machine.address(OPENED)
            if opened:
                now = number(machine, segments)
                assert now > last, f"{now} behind {last}, device {device}, life {life}"
                last = now
                machine.run(time_s=max(until_s - machine.time_s, 0.0))
            else:
                halved += 1
            machine.power_cut()
            machine.power_on(lots.getrandbits(32))
        assert opened, f"device {device} did not come back"
    # Some cuts fell in front of the counter's opening, or into it.
    assert halved > 0
