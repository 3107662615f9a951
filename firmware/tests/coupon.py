#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measure what coupons cost on three boards: python coupon.py write|check.

The figures go between the marks in docs/reference/coupon.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from figures import settle

from sunseal import Machine, boards
from sunseal.measurement import coupon, measuring, oracle

FIRMWARE = Path(__file__).resolve().parents[1]
PAGE = FIRMWARE.parent / "docs" / "reference" / "coupon.md"
FRAM = "msp430fr5994-launchpad"
FLASH = {"msp430f5438a-anagear": "mpy-32", "msp432p401r-launchpad": "default"}
KINDS = {
    "ctr": "keystream, 128 bytes",
    "ccm": "CCM, 64 bytes",
    "schedule": "AES-128 key and schedule",
    "random": "256 random bits",
    "sealed": "256 random bits, sealed",
    "secp160r1": "ECDSA, secp160r1",
    "p224": "ECDSA, P-224",
    "p256": "ECDSA, P-256",
    "ecdh-p256": "ECDH, P-256, ephemeral pair",
    **{
        f"{curve}-{way}": f"ECDSA, {name}, {how}"
        for way, how in (("steps", "in steps"), ("pool", "of a pool (not recommended)"))
        for curve, name in (("secp160r1", "secp160r1"), ("p224", "P-224"), ("p256", "P-256"))
    },
    "wots-sha1": "Winternitz, SHA-1, each fourth value",
    "wots-sha256": "Winternitz, SHA-256, each eighth value",
}
HEADERS = {FRAM: 14}
FLASH_HEADER = 16


def cycles(board: str, name: str) -> int:
    """Cycles between the marks of a workload whose output was right."""
    m = measuring.measure(name, board=board)
    if not m.result_valid:
        raise SystemExit(f"coupon.py: the output of {name} on {board} is wrong")
    return m.cycles


def milliseconds(board: str, name: str) -> float:
    """Time between the marks at the clock after reset; programming and erasing flash take time, not cycles."""
    m = Machine(board, FIRMWARE / "build" / board / FLASH[board] / f"bench-{name}.elf")
    trial = oracle.trial(boards.workload(name))
    m.write("bench_input", trial.fed)
    m.write("bench_input_len", len(trial.fed).to_bytes(2, "little"))
    m.run()
    if m.read_int("bench_status") != 0 or not trial.right(m.read("bench_output")[: trial.output_bytes]):
        raise SystemExit(f"coupon.py: the output of {name} on {board} is wrong")
    at = {level: time_s for time_s, _, _, level in m.pin_log()}
    return 1e3 * (at[False] - at[True])


def bare(kind: str) -> int | None:
    """Cycles of the same use without a store: from memory, or from a coupon in RAM."""
    if kind.startswith("wots"):
        return None
    if kind.startswith("ecdh-"):
        return cycles(FRAM, f"{kind}-agree")
    curve = kind.partition("-")[0]
    if curve in ("secp160r1", "p224", "p256"):
        return cycles(FRAM, f"ecdsa-{curve}-sign-online")
    return cycles(FRAM, f"coupon-{kind}-bare") if kind in ("ctr", "random") else None


def figures() -> Iterator[str]:
    """Lines of the page."""
    yield "FRAM, MSP430FR5994, in cycles. Guard: what claim, check and wipe add to a use without a store.\n"
    yield "| kind | slot, bytes | produce | use | without a store | guard |"
    yield "|---|--:|--:|--:|--:|--:|"
    for kind, title in KINDS.items():
        use, alone = cycles(FRAM, f"coupon-{kind}-use"), bare(kind)
        share = "| " if alone is None else f"{alone:,} | {100 * (use - alone) / use:.1f} %"
        slot = coupon.KINDS[kind].payload_bytes + HEADERS[FRAM]
        yield f"| {title} | {slot} | {cycles(FRAM, f'coupon-{kind}-produce'):,} | {use:,} | {share} |"
    yield "\nFlash, in milliseconds at the clock after reset (about 1 MHz; 3 MHz on the MSP432P401R):\n"
    yield "| kind | slot, bytes | F5438A produce | F5438A use | MSP432P401R produce | MSP432P401R use |"
    yield "|---|--:|--:|--:|--:|--:|"
    for kind, title in KINDS.items():
        cells = [
            f"{milliseconds(board, f'coupon-{kind}-{op}'):,.2f}"
            if boards.has_workload(board, f"coupon-{kind}-{op}")
            else ""
            for board in FLASH
            for op in ("produce", "use")
        ]
        if any(cells):
            yield f"| {title} | {coupon.KINDS[kind].payload_bytes + FLASH_HEADER} | {' | '.join(cells)} |"
    alone = cycles("msp432p401r-launchpad", "coupon-ctr-bare")
    yield f"\nOn the MSP432P401R the XOR of 128 bytes from flash alone takes {alone:,} cycles."


if __name__ == "__main__":
    sys.exit(settle(PAGE, figures(), __file__))
