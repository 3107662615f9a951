# SPDX-License-Identifier: MIT OR Apache-2.0
"""Key, entropy and message of a signature in steps, for `sunseal inject --check` (docs/reference/intermittent.md).

The program's input lies in FRAM. It is written at each power-up, as `inject` asks: the answer says so.
"""

from __future__ import annotations

import sunseal
from sunseal.catalog import boards
from sunseal.measurement import oracle


def setup(machine: sunseal.Machine) -> None:
    """Write what is signed."""
    fed = oracle.trial(boards.workload("ecdsa-p256-sign-tasks")).fed
    machine.write("bench_input", fed)
    machine.write("bench_input_len", len(fed).to_bytes(2, "little"))
