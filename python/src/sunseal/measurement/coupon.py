# SPDX-License-Identifier: MIT OR Apache-2.0
"""Coupons in figures: an operation whole, its part done ahead, its part at run time, and what the store adds.

The ratios are equations 1 to 3 of Suslowicz 2017. Every run is priced at the clock that its program runs at after
a reset: programming flash takes its time at any clock, so a run that programs cannot be priced at another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from sunseal import _engine, requests
from sunseal.catalog import boards, power_sets
from sunseal.errors import SunsealError, unknown
from sunseal.measurement import coupon_store, measuring, oracle
from sunseal.measurement.costs import Cost
from sunseal.requests.asking import answers

PAPER_POWER, PAPER_VCC_V = "suslowicz2017", 3.0
"""Fitted to the LaunchPads' rail, which the paper's joules are of."""
KEY_AND_COUNTER_BYTES = {"ctr": 32}
KEY_BYTES = 16


VECTORS = 0xFF80
"""Address at which signatures and vectors of an MSP430 with FRAM begin."""


@dataclass(frozen=True)
class Kind:
    """A kind of coupon, and the workloads that it is made of and measured against."""

    title: str
    originals: Mapping[str, tuple[tuple[int, str], ...]]
    """By variant: workloads added (1) and left out (-1). None at all: no workload does the same."""
    bare: str | None = None
    """The same use without a store: no claim, check or wipe."""
    source: str | None = None
    """Source of a coupon's entropy, where the workload that makes one is fed with it: a workload, or ORIGINAL."""
    message_bytes: int | None = None
    """Bytes that the ciphers among the originals are fed, where that is not the bench's input."""
    made_by: str | None = None
    """The work of `produce` without a store, where a workload does just that."""
    note: str = ""


def _ctr(cipher: str) -> tuple[tuple[int, str], ...]:
    # Counter mode with another cipher: its blocks in place of those of the board's choice.
    return (1, "aes128-ctr-encrypt"), (1, f"aes128-{cipher}-encrypt"), (-1, "aes128-encrypt")


def _ecdsa(curve: str, digest: str, way: str = "") -> Kind:
    return Kind(
        f"ECDSA, {curve}{way}",
        {"sign": ((1, f"ecdsa-{curve}-sign"), (-1, f"{digest}-hash"))},
        bare=f"ecdsa-{curve}-sign-online",
        made_by=f"ecdsa-{curve}-sign-offline",
        note="without the hash of the message; the original hedges its nonce with key and hash, a coupon's is entropy",
    )


def _other_ways(curve: str, digest: str) -> dict[str, Kind]:
    """The same coupons made in steps, and for comparison of a pool of nonces."""
    steps = _ecdsa(curve, digest, ", in steps")
    pool = _ecdsa(curve, digest, ", nonces of a pool (not recommended)")
    against = (
        "nonces of a pool give the key away to who has enough signatures: firmware/crypto/include/sunseal/ecdsa_pool.h"
    )
    return {
        f"{curve}-steps": replace(steps, made_by=None),
        f"{curve}-pool": replace(pool, made_by=None, note=f"not recommended: {against}"),
    }


def _key_agreement(curve: str) -> Kind:
    pair, secret = f"ecdsa-{curve}-keygen", f"ecdh-{curve}-agree"
    return Kind(
        f"ECDH, {curve}, ephemeral key pair",
        {"agree": ((1, pair), (1, secret))},
        bare=secret,
        made_by=pair,
        note="the larger part stays for run time, when the peer's public key is multiplied",
    )


def _winternitz(digest: str, every: int) -> Kind:
    return Kind(
        f"Winternitz, {digest.upper()}, each {every}th value",
        {"sign": ((1, f"coupon-wots-{digest}-whole"),)},
        note="without the hash of the message; whole and coupon burn a number of the store",
    )


ORIGINAL = "original"
"""A kind whose entropy is the whole operation: each way to do that is the source of a coupon."""
RANDOM = {
    generator: ((1, f"trng-{generator}-256bit"),)
    for generator in (
        "sram_sha256",
        "sram_aes",
        "sram_swaes",
        "sram_xor16cvn",
        "sram_xor32cvn",
        "osc_clksft",
        "osc_noclksft",
    )
}
"""Suslowicz 2017, table 6, as we make them: each sample tested."""
UNTESTED = ("sram_aes_untested", "sram_aes_folded")
"""The paper's AES again without our health tests, to be compared and no way to make a coupon."""
KINDS: dict[str, Kind] = {
    "ctr": Kind(
        "AES-128 keystream, 128 bytes",
        {cipher: _ctr(cipher) for cipher in ("sbox", "tbox", "fixslice", "hw")},
        bare="coupon-ctr-bare",
        message_bytes=128,
        note="coupons are made by the cipher that is the board's choice, whichever the original has; the key schedule "
        "stands in front of both, where the paper's program expands the key for each block",
    ),
    "ccm": Kind(
        "AES-128 CCM, 64 bytes",
        {"board's choice": ((1, "aes128-ccm-seal"),)},
        note="the original authenticates 19 bytes besides, the coupon's use 16: two blocks both",
    ),
    "schedule": Kind(
        "AES-128 key and schedule", {}, note="no workload derives and expands a key alone, so there is no original"
    ),
    "random": Kind(
        "256 random bits",
        RANDOM,
        bare="coupon-random-bare",
        source=ORIGINAL,
        note="the cycle of power that refills the SRAM is not counted; Von Neumann's generators need more or fewer "
        "samples with each unit and run: these are one seed's",
    ),
    "sealed": Kind("256 random bits, sealed", RANDOM, source=ORIGINAL, note="as random, under a device's key"),
    "secp160r1": _ecdsa("secp160r1", "sha1"),
    "p224": _ecdsa("p224", "sha256"),
    "p256": _ecdsa("p256", "sha256"),
    "ecdh-p256": _key_agreement("p256"),
    **_other_ways("secp160r1", "sha1"),
    **_other_ways("p224", "sha256"),
    **_other_ways("p256", "sha256"),
    "wots-sha1": _winternitz("sha1", 4),
    "wots-sha256": _winternitz("sha256", 8),
}


OF_WORKLOAD: dict[str, tuple[str, int | None]] = {
    **{f"ecdsa-{curve}-sign": (curve, None) for curve in ("secp160r1", "p224", "p256")},
    "aes128-ctr-encrypt": ("ctr", 128),
    "aes128-ccm-seal": ("ccm", 64),
}
"""The kind of coupon that does a workload's work ahead, and of which message, bytes."""


@dataclass(frozen=True)
class Metrics:
    """One kind of coupon on one board, beside one way to do the operation whole."""

    kind: str
    variant: str
    board: str
    freq_hz: int
    """After a reset, as the programs leave it."""
    vcc_v: float
    power_set: str
    original: Cost | None
    precompute: Cost
    runtime: Cost
    """With claim, check and wipe."""
    bare: Cost | None
    """Cost without coupons at all."""
    store: Mapping[str, Cost]
    """Functions of the store's medium: `burn`, `write` while one is made; `claim`, `pass`, `wipe` or `use` in a use."""
    slot_bytes: int
    published: dict[str, dict[str, float]] | None
    """The paper's own whole operation over our runtime, in the paper's conditions."""
    note: str = field(default="")

    def as_json(self) -> dict[str, Any]:
        """Return the contract's shape."""
        whole, bare, write = self.original, self.bare, self.store["burn"] + self.store["write"]
        guard = None if bare is None else self.runtime - bare
        return {
            "kind": self.kind,
            "variant": self.variant,
            "board": self.board,
            "freq_hz": self.freq_hz,
            "vcc_v": self.vcc_v,
            "power_set": self.power_set,
            "original": whole.as_json() if whole else {},
            "precompute": self.precompute.as_json(),
            "runtime": self.runtime.as_json(),
            "runtime_without_guard": bare.as_json() if bare else {},
            "ratio": whole.over(self.runtime) if whole else {},
            "ratio_without_guard": whole.over(bare) if whole and bare else {},
            "store": {
                "guard": guard.as_json() if guard else {},
                "guard_share_cycles": guard.cycles / self.runtime.cycles if guard else None,
                "write": write.as_json(),
                "functions": {name: cost.as_json() for name, cost in self.store.items()},
            },
            "slot_bytes": self.slot_bytes,
            "published": self.published or {},
            "note": self.note,
        }


@cache
def _priced(
    name: str, board: str, variant: tuple[str, ...], power: str, vcc_v: float | None, message_bytes: int | None
) -> tuple[Cost, int, float, str, Mapping[str, float]]:
    """Weigh a workload as it ran; return its cost, clock, supply, power set, and joules by state and event."""
    weights = power_sets.PowerSet(power, board)
    program = measuring.builtin(name, board, boards.variant(variant, board))
    counts, valid = measuring.run(program, board)
    if valid is False:
        raise SunsealError(f"`{name}` gives a wrong result on {board}, so its coupon has no figures")
    work = boards.workload(name)
    if message_bytes is not None and work.algorithm == "aes128":
        # The whole input's output was judged; of a shorter or longer one only the price is taken.
        fed = oracle.trial(work).fed
        head = KEY_AND_COUNTER_BYTES.get(work.parameter or "", KEY_BYTES)
        counts = measuring.count(program, board, (fed * 2)[: head + message_bytes])
        if counts.status != oracle.STATUS_OK:
            raise SunsealError(f"`{name}` takes no message of {message_bytes} bytes on {board}")
    clock_hz = _clock(counts, work)
    vcc_v = power_sets.operating_point(weights, None, vcc_v)[1]
    point = weights.inner.weigh_as_run(counts, vcc_v)
    return Cost(counts.cycles, point.time_s, point.energy_j), clock_hz, vcc_v, weights.name, point.by_state_j


def _clock(counts: _engine.Counts, work: boards.Workload) -> int:
    """Return the one clock that a run had, or the one that it had longest where it sets its own."""
    clocks = counts.clocks()
    if len(clocks) > 1 and not work.own_clock:
        raise SunsealError(f"`{work.name}` changed its clock between its marks, so its coupon has no figures")
    return clocks[0][0]


@cache
def _header_bytes(board: str) -> int:
    """Read what the store puts around a payload from the store's own header."""
    device = boards.load(board).device
    facts = boards.device(device)
    text = (boards.home() / "firmware/coupon/include/sunseal/coupon.h").read_text(encoding="utf-8")
    name = f"SUNSEAL_COUPON_{'FRAM' if 'fram' in facts else 'FLASH'}_HEADER_WORDS"
    found = re.search(rf"#define {name} (\d+)", text)
    if found is None:
        raise SunsealError(f"firmware/coupon/include/sunseal/coupon.h has no `{name}`")
    return 2 * int(found[1])


def payload_bytes(kind: str) -> int:
    """Return what a coupon of a kind holds."""
    return boards.workload(f"coupon-{kind}-use").coupon_bytes


def slot_bytes(kind: str, board: str) -> int:
    """Return what one coupon occupies."""
    return payload_bytes(kind) + _header_bytes(board)


def fram_bytes(board: str) -> int | None:
    """Return the FRAM that program and coupons share, up to the vectors; None on a board that has none.

    Our firmware's pointers have 16 bits, as those of every compiler's small data model: FRAM from 0x10000 on holds
    none of its coupons.
    """
    device = boards.load(board).device
    facts = boards.device(device)
    if "fram" not in facts:
        return None
    return sum(
        min(int(m["end"]) + 1, VECTORS) - int(m["start"])
        for m in facts["memory"]
        if m["kind"] == "fram" and m["name"] == "fram"
    )


def fitting(kind: str, board: str, program_bytes: int = 0) -> int | None:
    """Return how many coupons fit into a board's FRAM beside a program; None on a board that has none."""
    room = fram_bytes(board)
    return None if room is None else max((room - program_bytes) // slot_bytes(kind, board), 0)


def weighed(
    kind: str, board: str, power: str, vcc_v: float | None = None, *, way: str | None = None, guarded: bool = True
) -> list[tuple[str, Mapping[str, float]]]:
    """Return power set and joules by state and event of a coupon's use, or of one way to do its operation whole."""
    of: list[tuple[str, int | None]]
    if way is None:
        of = [(f"coupon-{kind}-use" if guarded else KINDS[kind].bare or "", None)]
    else:
        of = [(workload, KINDS[kind].message_bytes) for _, workload in KINDS[kind].originals[way]]
    return [_priced(name, board, (), power, vcc_v, message_bytes)[3:] for name, message_bytes in of]


def runtime(kind: str, board: str, power: str, vcc_v: float | None = None, *, guarded: bool = True) -> Cost:
    """Price the use of a coupon, with claim, check and wipe or without."""
    if kind not in KINDS:
        raise unknown("kind of coupon", kind, KINDS)
    name = f"coupon-{kind}-use" if guarded else KINDS[kind].bare
    if name is None:
        raise SunsealError(f"no workload uses a coupon of kind `{kind}` without its guard")
    return _priced(name, board, (), power, vcc_v, None)[0]


def _published(kind: str, variant: str, board: str) -> dict[str, dict[str, float]] | None:
    """Compare the paper's own original with our runtime on the paper's rail, where the paper has one."""
    paper = boards.read_toml(boards.home() / "data" / "published" / f"{PAPER_POWER}.toml")
    rows: Any = paper["monolithic"]
    for row in rows:
        if (row["kind"], row["variant"], row["board"]) == (kind, variant, board):
            whole = Cost(row["cycles"], row["time_s"], row["energy_j"])
            ours = runtime(kind, board, PAPER_POWER, PAPER_VCC_V)
            bare = runtime(kind, board, PAPER_POWER, PAPER_VCC_V, guarded=False)
            return {
                "original": whole.as_json(),
                "runtime": ours.as_json(),
                "ratio": whole.over(ours),
                "runtime_without_guard": bare.as_json(),
                "ratio_without_guard": whole.over(bare),
            }
    return None


@answers(requests.Metrics)
def metrics(to: requests.Metrics) -> list[Metrics]:
    """Price every kind of coupon, or one, on a board that keeps coupons.

    A kind comes once for each way to do its operation whole: with S-box, T-box, no tables or the accelerator.
    """
    kind, board = to.kind, to.board
    if kind is not None and kind not in KINDS:
        raise unknown("kind of coupon", kind, KINDS)
    boards.board_path(board)
    if not boards.has_workload(board, "coupon-ctr-use"):
        raise SunsealError(f"the firmware of {board} keeps no coupons, so they have no figures there")
    if kind is not None and not boards.has_workload(board, f"coupon-{kind}-use"):
        raise SunsealError(
            f"the firmware of {board} keeps no coupons of kind `{kind}`: a slot is longer than its memory's"
        )
    kept = [kind] if kind else [name for name in KINDS if boards.has_workload(board, f"coupon-{name}-use")]
    return [m for name in kept for m in _of_kind(name, board, tuple(to.variant), to.power)]


def _of_kind(name: str, board: str, variant: tuple[str, ...], power: str) -> list[Metrics]:
    kind = KINDS[name]

    def cost(workload: str) -> Cost:
        return _priced(workload, board, variant, power, None, kind.message_bytes)[0]

    produce = cost(f"coupon-{name}-produce")
    used, clock_hz, vcc_v, power_set, _ = _priced(f"coupon-{name}-use", board, variant, power, None, None)
    bare = cost(kind.bare) if kind.bare else None
    store = {
        function: part
        for operation in ("produce", "use")
        for function, part in coupon_store.parts(f"coupon-{name}-{operation}", board, variant, power, None).items()
    }
    made = []
    ways = {
        way: parts
        for way, parts in kind.originals.items()
        if all(boards.has_workload(board, workload) for _, workload in parts)
    }
    for way, parts in (ways or {"": ()}).items():
        sources = [workload for _, workload in parts] if kind.source == ORIGINAL else [kind.source or ""]
        precompute = sum((cost(source) for source in sources if source), produce)
        whole = None
        for sign, workload in parts:
            part = cost(workload)
            whole = part if whole is None else whole + part if sign > 0 else whole - part
        made.append(
            Metrics(
                kind=name,
                variant=way,
                board=board,
                freq_hz=clock_hz,
                vcc_v=vcc_v,
                power_set=power_set,
                original=whole,
                precompute=precompute,
                runtime=used,
                bare=bare,
                store=store,
                slot_bytes=slot_bytes(name, board),
                published=_published(name, way, board),
                note=kind.note,
            )
        )
    return made
