# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every register that the data name is answered by a block, and what is told as a gap says so when it is touched."""

import pytest

from conftest import ONE_OF_EACH_CHIP, bench
from sunseal._engine import EngineError
from sunseal.catalog import boards
from sunseal.kit import registers

NO_CLOCK = "whose clock is off; set bit"
"""Words of an STM32 about a block that a program has not enabled: the register is there."""
MEMORY = ("Mailbox and flash boot override", "TLV calibration words")
"""Gaps in memory, which reads as erased: the boot code's look at the one, what the maker wrote into the other."""


@pytest.mark.parametrize("board", ONE_OF_EACH_CHIP)
def test_a_register_of_the_data_is_answered_by_its_block(board: str) -> None:
    m = bench(board)
    silent = []
    for block in registers.blocks(m.device):
        for register in block.registers:
            try:
                m.io[register.name]
            except EngineError as e:
                if NO_CLOCK not in str(e):
                    silent.append(f"{register.name} at {register.address:#x}: {e}")
    assert len(list(m.io)) > 80
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("board", ONE_OF_EACH_CHIP)
def test_a_gap_that_is_touched_names_itself(board: str) -> None:
    m = bench(board)
    gaps = [gap for gap in boards.device(m.device)["gap"] if "start" in gap and gap["name"] not in MEMORY]
    assert gaps
    bits = {"msp430": 16, "atmega": 8}.get(m.device[:6], 32)
    for gap in gaps:
        for at in {gap["start"], gap["end"] & -(bits // 8)}:
            with pytest.raises(EngineError, match=r"not modelled|clock is off") as said:
                m.io.at(at, 8 if at < 0x100 else bits)
            assert gap["name"] in str(said.value) or "clock is off" in str(said.value), at
