#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Registers for the S-box of aes128_fixslice_{encrypt,key}_armv7em.S: gen_fixslice.py FOLDER.

The circuit is that of aes_fixslice_substitute.c (Boyar and Peralta, eprint 2011/332), one gate a statement, in an
order in which few values must wait: found by trying random orders. x0 to x7 and s0 to s7 are the slices before and
after. A value that must wait goes to the stack (one cycle there, two or one back; the floating-point unit's registers
would take two each way); of those that have to leave, the one that is needed last goes.
"""

from collections import defaultdict

from generated import write

CORE = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr"]
# Words of the stack; the next one holds the round keys' address.
WAITING = 18
OPERATIONS = {"^": "eor.w", "&": "and.w"}

CIRCUIT = """
    y13 = x7 ^ x1; y14 = x4 ^ x2; y8 = x2 ^ x7; y12 = y14 ^ y13; t1 = x3 ^ y12; t0 = x6 ^ x5
    y15 = t1 ^ x2; y9 = x7 ^ x4; y1 = x0 ^ t0; y20 = t1 ^ x6; y11 = y20 ^ y9; y10 = y15 ^ t0
    y17 = y10 ^ y11; y5 = y1 ^ x1; t12 = y11 & y9; y7 = x0 ^ y11; y16 = y11 ^ t0; v35 = y14 & y17
    y2 = y1 ^ x7; v32 = y7 & y2; v30 = y1 & y5; y4 = x4 ^ y1; v37 = y8 & y10; t14 = v35 ^ t12
    t7 = y13 & y16; y18 = y16 ^ x7; t16 = t12 ^ v37; t9 = v30 ^ t7; v43 = t14 ^ t9; y21 = y13 ^ y16
    t23 = v43 ^ y21; t11 = v32 ^ t7; v27 = x0 & y4; v45 = t16 ^ t11; t24 = v45 ^ y18; y3 = y8 ^ y5
    y19 = y10 ^ y8; t2 = y15 & y12; t6 = v27 ^ t2; v41 = t6 ^ t16; y6 = y15 ^ x0; v25 = y6 & y3
    t22 = y19 ^ v41; t4 = t2 ^ v25; v39 = t4 ^ t14; t30 = t23 ^ t24; t21 = v39 ^ y20; t26 = t23 & t21
    t31 = t26 ^ t22; v54 = t30 & t31; t27 = t26 ^ t24; t25 = t21 ^ t22; t33 = t24 ^ v54; t34 = t33 ^ t23
    t35 = t27 ^ t33; t36 = t35 & t24; t37 = t34 ^ t36; v50 = t27 & t25; t38 = t27 ^ t36; t29 = t22 ^ v50
    t42 = t29 ^ t33; v61 = t38 & t29; z15 = t42 & y9; z1 = t37 & y6; z11 = t33 & y4; z2 = t33 & x0
    t40 = v61 ^ t25; z10 = y3 & t37; t41 = t40 ^ t37; t44 = t37 ^ t33; t45 = t42 ^ t41; t47 = z11 ^ z10
    z6 = t42 & y11; z9 = t44 & y12; z16 = y14 & t45; t49 = z9 ^ z10; z17 = y8 & t41; z5 = y7 & t29
    z7 = y17 & t45; t43 = t40 ^ t29; z8 = y10 & t41; z0 = t44 & y15; z3 = t43 & y16; t54 = z7 ^ z6
    t55 = z16 ^ z17; t46 = z16 ^ z15; t52 = z8 ^ z7; z4 = t40 & y1; z13 = t40 & y5; t59 = z3 ^ t54
    z12 = y13 & t43; t53 = z0 ^ z3; t58 = t46 ^ z4; t48 = z13 ^ z5; t50 = z12 ^ z2; t62 = t52 ^ t58
    t64 = t59 ^ z4; t51 = z2 ^ z5; t56 = t48 ^ z12; s1 = t56 ^ t62; z14 = y2 & t29; t63 = t58 ^ t49
    v114 = t64 ^ t55; t57 = t50 ^ t53; t60 = t57 ^ t46; t61 = t57 ^ z14; s7 = t59 ^ t63; t65 = t62 ^ t61
    t66 = z1 ^ t63; s4 = t53 ^ t66; s3 = t66 ^ t51; s0 = t60 ^ t48; s5 = t65 ^ v114; s2 = t47 ^ t65
    s6 = t64 ^ s4
"""


class Allocator:
    """Where each value is while the code is written."""

    def __init__(self, gates: list[tuple[str, str, str, str]]) -> None:
        """Start with the slices in r4 to r11."""
        self.gates = gates
        self.home = {f"s{i}": f"r{4 + i}" for i in range(8)}
        self.core = {f"x{i}": f"r{4 + i}" for i in range(8)}
        self.waiting: dict[str, int] = {}
        self.code: list[str] = []
        self.uses: dict[str, list[int]] = defaultdict(list)
        for i, (_, a, _, b) in enumerate(gates):
            self.uses[a].append(i)
            self.uses[b].append(i)
        for s in self.home:
            self.uses[s].append(len(gates))

    def next_use(self, value: str, now: int) -> int | None:
        """When a value is needed again."""
        return next((i for i in self.uses[value] if i >= now), None)

    def emit(self, operation: str, *operands: str) -> None:
        """One instruction."""
        self.code.append(f"    {operation:<7} {', '.join(operands)}")

    def register(self, now: int, keep: set[str], wanted: str | None = None) -> str:
        """A free register; if there is none, one is made free."""
        for value in [v for v in self.waiting if self.next_use(v, now) is None]:
            del self.waiting[value]
        free = [r for r in CORE if r not in self.core.values()]
        if free:
            homes = set(self.home.values())
            return wanted if wanted in free else min(free, key=lambda r: r in homes)
        # One that waits already can go for nothing: that is worth three gates.
        goes = max(
            (v for v in self.core if v not in keep),
            key=lambda v: (self.next_use(v, now) or 0) + (3 if v in self.waiting else 0),
        )
        if goes not in self.waiting:
            slot = min(set(range(WAITING)) - set(self.waiting.values()))
            self.waiting[goes] = slot
            self.emit("str.w", self.core[goes], f"[sp, #{4 * slot}]")
        return self.core.pop(goes)

    def run(self) -> list[str]:
        """Write all gates, then bring every slice home."""
        for now, (to, a, operation, b) in enumerate(self.gates):
            for value in (a, b):
                if value not in self.core:
                    self.core[value] = self.register(now, {a, b} & set(self.core))
                    self.emit("ldr.w", self.core[value], f"[sp, #{4 * self.waiting[value]}]")
            operands = self.core[a], self.core[b]
            for value in {a, b}:
                if self.next_use(value, now + 1) is None:
                    del self.core[value]
            self.core[to] = self.register(now + 1, {a, b} & set(self.core), self.home.get(to))
            self.emit(OPERATIONS[operation], self.core[to], *operands)
        away = {s: home for s, home in self.home.items() if self.core.get(s) != home}
        while away:
            taken = {self.core[s] for s in self.home if s in self.core}
            s = next((s for s, home in away.items() if home not in taken), None)
            if s is None:
                s = next(iter(away))
                spare = next(r for r in CORE if r not in taken)
                self.emit("mov.w", spare, self.core[s])
                self.core[s] = spare
                continue
            if s in self.core:
                self.emit("mov.w", away[s], self.core[s])
            else:
                self.emit("ldr.w", away[s], f"[sp, #{4 * self.waiting[s]}]")
            self.core[s] = away.pop(s)
        return self.code


def text() -> str:
    """The file."""
    gates = []
    for statement in CIRCUIT.replace(";", "\n").split("\n"):
        if statement.strip():
            to, a, operation, b = statement.replace("=", " ").split()
            gates.append((to, a, operation, b))
    code = Allocator(gates).run()
    return f"/* {len(gates)} gates in {len(code)} instructions. */\n" + "\n".join(code) + "\n"


if __name__ == "__main__":
    write({"aes_fixslice_armv7em.inc": text()})
