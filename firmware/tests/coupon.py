#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measure what coupons cost on three boards: python coupon.py write|check.

The figures go between the marks in docs/reference/coupon.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from figures import settle

from sunseal import Machine
from sunseal.catalog import boards
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
    if m.result_valid is False:
        raise SystemExit(f"coupon.py: the output of {name} on {board} is wrong")
    return m.cycles


def milliseconds(board: str, name: str) -> float:
    """Time between the marks at the clock after reset; programming and erasing flash take time, not cycles."""
    m = Machine(board, FIRMWARE / "build" / board / FLASH[board] / f"bench-{name}.elf")
    trial = oracle.trial(boards.workload(name))
    m.write("bench_input", trial.fed)
    m.write("bench_input_len", len(trial.fed).to_bytes(2, "little"))
    m.run()
    if m.read_int("bench_status") != 0 or trial.right(m.read("bench_output")[: trial.output_bytes]) is False:
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
        slot = coupon.payload_bytes(kind) + HEADERS[FRAM]
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
            yield f"| {title} | {coupon.payload_bytes(kind) + FLASH_HEADER} | {' | '.join(cells)} |"
    alone = cycles("msp432p401r-launchpad", "coupon-ctr-bare")
    yield f"\nOn the MSP432P401R the XOR of 128 bytes from flash alone takes {alone:,} cycles.\n"
    yield from beside_the_goals()


def beside_the_goals() -> Iterator[str]:
    """Set what this library was to reach, and the paper's own figures, beside what a coupon costs."""
    on = {board: coupon.metrics(board=board) for board in (FRAM, "msp432p401r-launchpad")}

    def row(title: str, goal: str, cell: Callable[[list[coupon.Metrics]], str]) -> str:
        return f"| {title} | {goal} | {' | '.join(cell(found) for found in on.values())} |"

    def of(found: list[coupon.Metrics], kind: str, variant: str | None = None) -> coupon.Metrics:
        return next(m for m in found if m.kind == kind and variant in (None, m.variant))

    def alone(kind: str) -> Callable[[list[coupon.Metrics]], str]:
        return lambda found: f"{bare.cycles:,}" if (bare := of(found, kind).bare) else ""

    def used(kind: str) -> Callable[[list[coupon.Metrics]], str]:
        return lambda found: f"{of(found, kind).runtime.cycles:,}"

    def guard(*kinds: str) -> Callable[[list[coupon.Metrics]], str]:
        def told(found: list[coupon.Metrics]) -> str:
            shares = sorted(100 * of(found, kind).as_json()["store"]["guard_share_cycles"] for kind in kinds)
            return " to ".join(f"{share:.1f} %" for share in dict.fromkeys((shares[0], shares[-1])))

        return told

    def saved(variant: str, *way: str) -> Callable[[list[coupon.Metrics]], str]:
        def told(found: list[coupon.Metrics]) -> str:
            ratio = of(found, "ctr", variant).as_json()
            for key in way:
                ratio = ratio[key]
            return f"{ratio['cycles']:.3g}, {ratio['energy_j']:.3g}"

        return told

    def drawn(*way: str) -> Callable[[list[coupon.Metrics]], str]:
        def told(found: list[coupon.Metrics]) -> str:
            ratios = [m.as_json() for m in found if m.kind == "random"]
            for key in way:
                ratios = [ratio.get(key) or {} for ratio in ratios]
            joules = [ratio["energy_j"] for ratio in ratios if ratio]
            return f"{min(joules):,.1f} to {max(joules):,.1f}" if joules else ""

        return told

    yield "Goals and the paper's figures beside these, `coupon metrics` of FRAM and of the MSP432P401R's flash:\n"
    yield "| | goal, or the paper's | MSP430FR5994 | MSP432P401R |"
    yield "|---|--:|--:|--:|"
    yield row("XOR of 128 bytes alone, cycles", "1,100; 500", alone("ctr"))
    yield row("with claim, check and wipe", "6,904; 3,455 alone", used("ctr"))
    yield row("256 bits fetched alone, cycles", "120", alone("random"))
    yield row("with claim, check and wipe", "679 alone", used("random"))
    yield row("ECDSA from the store, secp160r1, cycles", "9,000", used("secp160r1"))
    yield row("ECDSA from the store, P-256, cycles", "13,000", used("p256"))
    yield row("guard of an ECDSA coupon's use", "15 %", guard("secp160r1", "p224", "p256"))
    yield row("guard of 128 bytes of keystream", "40 %", guard("ctr"))
    for variant, title, goal in (
        ("sbox", "S-box", "22.3, 28.1; 27.5, 27.8"),
        ("hw", "accelerator", "1.9, 2.1; 3.2, 3.2"),
    ):
        yield row(
            f"keystream, {title}, the paper's whole over our use, in cycles and energy",
            goal,
            saved(variant, "published", "ratio"),
        )
        yield row("ours whole over our use", "", saved(variant, "ratio"))
        yield row("ours whole over our use alone", "", saved(variant, "ratio_without_guard"))
    yield row(
        "256 bits, seven generators, the paper's whole over our use, in energy",
        "118.2 to 4,531.9",
        drawn("published", "ratio"),
    )
    yield row("over our use alone", "", drawn("published", "ratio_without_guard"))
    yield row("ours whole over our use", "", drawn("ratio"))


if __name__ == "__main__":
    sys.exit(settle(PAGE, figures(), __file__))
