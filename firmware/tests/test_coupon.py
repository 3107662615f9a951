# SPDX-License-Identifier: MIT OR Apache-2.0
"""The campaign of cuts against the coupon store finds what is wrong with a store: faults seeded one at a time.

Each fault is a change of one place in a copy of the sources. The campaign itself is tests/test_coupon.c, which
`make test-host` runs on the sources as they are.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

FIRMWARE = Path(__file__).resolve().parents[1]
SOURCES = ("fram.c", "flash.c", "store.c")
INCLUDES = ("coupon/include", "intermittent/include", "crypto/include", "crypto/src")
FRAM, FLASH = 0, 1


@dataclass(frozen=True)
class Fault:
    """One place of one source, and what stands there instead; a second one where the first alone does no harm."""

    name: str
    source: str
    right: str
    wrong: str
    also: tuple[str, str] | None = None


FAULTS = (
    Fault(
        "fram: used without a claim, and wiped behind",
        "fram.c",
        "    sunseal_coupon_commit(slot + STATE, CLAIMED);\n    pool->oldest",
        "    pool->oldest",
        also=("sunseal_coupon_move(out, slot + PAYLOAD, words);", "sunseal_coupon_copy(out, slot + PAYLOAD, words);"),
    ),
    Fault(
        "fram: ready before the payload is written",
        "fram.c",
        "sunseal_nvm_commit(slot + STATE, WRITING);",
        "sunseal_nvm_commit(slot + STATE, READY);",
    ),
    Fault(
        "fram: a slot that was being written is taken for free",
        "fram.c",
        "} else if (slot[STATE] != FREE) {",
        "} else if (slot[STATE] != FREE && slot[STATE] != WRITING) {",
    ),
    Fault(
        "fram: what was claimed is not wiped by open",
        "fram.c",
        "sunseal_coupon_zero(slot + CHECK, payload_words(pool) + 1);",
        ";",
    ),
    Fault(
        "fram: free before it is wiped",
        "fram.c",
        "    sunseal_nvm_commit(slot + STATE, CLAIMED);\n    sunseal_coupon_zero",
        "    sunseal_nvm_commit(slot + STATE, FREE);\n    sunseal_coupon_zero",
    ),
    Fault("fram: numbers are not burnt", "fram.c", "record_write(older_a ? a : b, pool->next);", "(void)older_a;"),
    Fault(
        "fram: the newer record is written", "fram.c", "record_write(older_a ? a : b,", "record_write(older_a ? b : a,"
    ),
    Fault("fram: the older record is preferred", "fram.c", "in_a > in_b ? in_a : in_b", "in_a < in_b ? in_a : in_b"),
    Fault(
        "fram: one record lost is not made good",
        "fram.c",
        "pool->next = (good_a ? in_a : in_b) + 1;",
        "pool->next = (good_a ? in_a : in_b);",
    ),
    Fault(
        "fram: foreign slots are taken for ours",
        "fram.c",
        " && slot[EPOCH] == pool->epoch &&\n           slot[VERSION] == pool->version;",
        ";",
    ),
    Fault("store: the CRC of a short message's coupon is not looked at", "store.c", "crc == slot.check", "crc < 65536"),
    Fault("store: what is claimed is not wiped", "store.c", "        pool->medium->wipe(pool, &slot);\n", ""),
    Fault("fram: the CRC is not looked at", "fram.c", "if (crc == check) {", "if (1) {"),
    Fault(
        "fram: the payload stays where the whole of it is used",
        "fram.c",
        "sunseal_coupon_move_xor(out, in, slot + PAYLOAD, words)",
        "sunseal_coupon_copy_xor(out, in, slot + PAYLOAD, words)",
    ),
    Fault("flash: the CRC is not looked at", "flash.c", "if (crc == slot.check) {", "if (1) {"),
    Fault("flash: used and not wiped", "flash.c", "        slot_wipe(pool, slot.slot);\n", ""),
    Fault(
        "store: a generator that fails makes a coupon",
        "store.c",
        "    if (status == SUNSEAL_OK) {\n        status = pool->medium->write(",
        "    if (status != SUNSEAL_PENDING) {\n        status = pool->medium->write(",
    ),
    Fault(
        "store: a number is given to a coupon and to the caller",
        "store.c",
        "store->making == NULL) {\n        struct sunseal_coupon_pool *pool = most",
        "store->making == NULL) {\n        if (store->pools->next > 8) store->pools->next--;\n"
        "        struct sunseal_coupon_pool *pool = most",
    ),
    Fault(
        "flash: used without a claim",
        "flash.c",
        "            program(pool, slot + CLAIM, NULL, 1);\n            pool->oldest",
        "            pool->oldest",
    ),
    Fault(
        "flash: not wiped",
        "flash.c",
        "    program(pool, slot + CHECK, NULL, (uint16_t)(slot_words(pool) - CHECK));\n",
        "",
    ),
    Fault(
        "flash: the kind goes before the payload is wiped",
        "flash.c",
        "    program(pool, slot + CHECK, NULL, (uint16_t)(slot_words(pool) - CHECK));\n",
        "    program(pool, slot + KIND, NULL, (uint16_t)(slot_words(pool) - KIND));\n",
    ),
    Fault(
        "flash: committed before the payload is there",
        "flash.c",
        "    program(pool, slot + EPOCH, header, PAYLOAD - EPOCH);\n",
        "    program(pool, slot + EPOCH, header, PAYLOAD - EPOCH);\n    program(pool, slot + COMMIT, &committed, 1);\n",
    ),
    Fault("flash: the stale block is preferred", "flash.c", "header.base > pool->next)", "header.base < pool->next)"),
    Fault(
        "flash: a block is erased with coupons in it",
        "flash.c",
        "if (known && block_in_use(pool, block)) {",
        "if (known && 0) {",
    ),
    Fault(
        "flash: a lost header's numbers come again",
        "flash.c",
        "base += known ? numbers : 2 * (uint32_t)numbers;\n",
        "base = now.base + numbers;\n",
    ),
    Fault(
        "flash: a doubtful header is trusted",
        "flash.c",
        "pool->fixed = pool->left < slots;",
        "pool->fixed = true;",
    ),
    Fault(
        "flash: a block that reads erased is not erased",
        "flash.c",
        "    (void)place_of(pool)->driver->erase(block);\n    for (",
        "    for (uint16_t i = 0; i < block_words(pool); i++) {\n        if (word(pool, block + i) != ERASED) {\n"
        "            (void)place_of(pool)->driver->erase(block);\n            break;\n        }\n    }\n    for (",
    ),
    Fault(
        "flash: a doubtful commit is left so",
        "flash.c",
        "        program(pool, newest + COMMIT, &committed, 1);\n",
        "        (void)committed;\n",
    ),
    Fault(
        "flash: another firmware's places are counted as ours",
        "flash.c",
        "        pool->left = 0;\n    }\n    pool->fixed",
        "        pool->left = slots;\n    }\n    pool->fixed",
    ),
    Fault(
        "flash: foreign slots are taken for ours",
        "flash.c",
        "word(pool, slot + EPOCH) == pool->epoch &&\n           word(pool, slot + VERSION) == pool->version;",
        "pool != NULL;",
    ),
)


def run(folder: Path, fault: Fault | None) -> subprocess.CompletedProcess[str]:
    """Build the campaign with the fault in its source, and run it."""
    for source in SOURCES:
        text = (FIRMWARE / "coupon" / "src" / source).read_text(encoding="utf-8")
        if fault is not None and source == fault.source:
            assert text.count(fault.right) == 1, f"{source} has changed: `{fault.right}` is not there once"
            text = text.replace(fault.right, fault.wrong)
            if fault.also is not None:
                assert text.count(fault.also[0]) == 1
                text = text.replace(*fault.also)
        (folder / source).write_text(text, encoding="utf-8")
    program = folder / "campaign"
    flags = ["-std=c11", "-O2", "-w", "-ffunction-sections", "-Wl,--gc-sections", "-I", str(FIRMWARE / "coupon/src")]
    flags += [f"-I{FIRMWARE / path}" for path in INCLUDES]
    sources = [*(str(folder / s) for s in SOURCES), str(FIRMWARE / "tests/test_coupon.c")]
    sources.append(str(FIRMWARE / "crypto/src/mp/mp.c"))
    subprocess.run(["cc", *flags, "-o", str(program), *sources], check=True)
    medium = ["flash"] if fault is not None and fault.source == "flash.c" else []
    return subprocess.run(
        [str(program), "2", "3", "1", *medium], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_a_seeded_fault_is_found(fault: Fault, tmp_path: Path) -> None:
    done = run(tmp_path, fault)
    assert done.returncode != 0, f"{fault.name}: no cut shows it"
    print(done.stderr.splitlines()[0])
