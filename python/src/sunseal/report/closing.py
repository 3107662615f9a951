# SPDX-License-Identifier: MIT OR Apache-2.0
"""The closing figures of a run or a day in words, and laid out for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from sunseal.catalog.units import duration, show
from sunseal.harvest import light as harvest

YEAR_S = 365.25 * harvest.DAY_S


def rows(closing: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say the closing figures in words; rows that a run without a server lacks are left out."""
    out: list[tuple[str, str]] = []
    if "asked" in closing:
        kinds = closing["verified_by_kind"]
        refused = ", ".join(f"{n} {name}" for name, n in closing["refused_by_verdict"].items())
        bits = ", ".join(f"{n} at {b} bit" for b, n in closing["accepted_by_security_bits"].items())
        out += [
            ("authentications asked", f"{closing['asked']} challenges queued by the server"),
            (
                "answered",
                f"{closing['answered']} responses; {closing['reports']} reports came unasked",
            ),
            (
                "verified",
                f"{closing['verified']}: {kinds['response']} responses, {kinds['report']} reports ({bits})",
            ),
            ("refused", f"{closing['refused']}: {refused}" if refused else "0"),
        ]
        for attempt in closing["intruder"]:
            out.append((f"  intruder's {attempt['what']}", attempt["verdict_name"]))
    energy = closing["energy"]
    most_j = max(abs(energy[key]) for key in ("in_j", "out_j", "lost_j", "stored_delta_j"))

    def joules(value: float) -> str:
        return show(value, "J", like=most_j)

    out.append(("energy in", joules(energy["in_j"])))
    if "low_light" in closing:
        out.append(("  uncertain at low light", harvest.low_light_text(closing["low_light"])))
    out += _at_ends(closing)
    out.append(("energy out", joules(energy["out_j"])))
    out += [
        (f"  {name}", joules(j)) for name, j in sorted(energy["by_component_j"].items(), key=lambda kv: -kv[1]) if j > 0
    ]
    out += [("  never used", sentence) for sentence in closing.get("untouched", [])]
    out += _by_function(closing.get("functions", []))
    if not closing.get("residual_known", True):
        out.append(("  not counted", f"the residual current of {closing['board']}: nobody's measurement is known here"))
    out += [("  not counted", sentence) for sentence in closing.get("remarks", [])]
    out.append(("energy lost", joules(energy["lost_j"])))
    out += [(f"  {name}", joules(j)) for name, j in sorted(energy["lost_by_j"].items(), key=lambda kv: -kv[1]) if j > 0]
    out += [
        ("change of the store", joules(energy["stored_delta_j"])),
        ("balance", f"{closing['energy_balance_rel']:.1e} of the energy moved"),
        ("starts, brown-outs", f"{closing['starts']}, {closing['brown_outs']}"),
        *([("first cut", f"after {_long(closing['first_cut_s'])}")] if "first_cut_s" in closing else []),
        *_repeated(closing.get("repeated")),
        *([("supervisor resets", f"{closing['supervisor_resets']:,}")] if closing["supervisor_resets"] else []),
        *_of_load(closing.get("load")),
        *of_coupons(closing.get("coupons")),
        ("CPU cycles", f"{closing['cycles']:,}"),
        ("simulated time", duration(closing["simulated_s"])),
    ]
    if "simulated_over_wall" in closing:
        out.append(
            (
                "simulated over wall time",
                f"{closing['simulated_over_wall']:,.0f} ({closing['played_wall_s']:.1f} s for the day, "
                f"{closing['wall_s']:.1f} s in all)",
            )
        )
    return out


def _at_ends(closing: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say the day's verdict, and whether it is the same at both ends of what is open of the panel."""
    if "ends" not in closing:
        return []

    def verdict(day: Mapping[str, Any]) -> str:
        outs = int(day["brown_outs"])
        return f"{day['answered']} of {day['asked']} answered, {outs} brown-out{'' if outs == 1 else 's'}"

    said, days = verdict(closing), closing["ends"]
    same = all(verdict(day) == said for day in days)
    told = [("verdict", f"{said}; {'the same at both ends of the light' if same else 'NOT the same at both ends'}")]
    for day in days:
        more = f"{day['verified']} verified, {show(day['in_j'], 'J')} in"
        told.append((f"  by the {day['reading']} reading", f"{verdict(day)}; {more}"))
    return told


def _repeated(told: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Say which part of a run was extrapolated."""
    if told is None:
        return []
    cycles = f"{told['cycles']:,} cycles of load or of starts and cuts"
    return [
        ("  extrapolated", f"{cycles}, {_long(told['time_s'])} in all, each like those played before and behind it")
    ]


def _long(seconds: float) -> str:
    """Write a time that may be years."""
    return f"{seconds / YEAR_S:.3g} years" if seconds >= YEAR_S else duration(seconds)


def of_coupons(told: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Say what became of a node's coupons; energies are at the rail, and lie in the load's."""
    if told is None:
        return []
    return [
        ("coupons produced", f"{told['produced']:,} for {show(told['produced_j'], 'J')}"),
        ("  used", f"{told['used']:,} signatures for {show(told['used_j'], 'J')}"),
        ("  no coupon left", f"{told['fallbacks']:,} signatures computed whole for {show(told['fallback_j'], 'J')}"),
        ("  discarded", f"{told['discarded']:,}, {show(told['discarded_j'], 'J')} lost with them"),
        ("  interrupted", f"{told['interrupted']:,} begun and not kept, {show(told['interrupted_j'], 'J')}"),
        (
            "  in the store",
            f"{told['in_store_begin']:,} at the beginning, {told['in_store_end']:,} at the end; "
            f"{show(told['open_j'], 'J')} to find them at starts",
        ),
    ]


def _of_load(load: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Say what a load by profile met."""
    if load is None:
        return []
    safe = load["v_safe_v"]
    return [
        ("rounds of the load", f"{load['rounds']:,}, and {load['rounds_cut']:,} that were cut off"),
        ("lowest terminal", f"{load['terminal_min_v']:.4g} V"),
        (
            "V_safe",
            "none: a full store does not carry one round"
            if safe is None
            else f"{safe:.4f} V at rest carry one round without light",
        ),
    ]


FUNCTIONS = 12
"""So many functions have a row of their own."""


def _by_function(functions: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Say what each function took while it ran itself, the most first, and which component took it."""
    if not functions:
        return []
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for row in functions:
        parts.setdefault(row["function"], []).append(row)
    joules = {name: sum(row["energy_j"] for row in rows) for name, rows in parts.items()}
    most = sorted(joules, key=lambda name: -joules[name])
    total_j = sum(joules.values())
    out = [("energy by function", show(total_j, "J"))]
    for name in most[:FUNCTIONS]:
        first = parts[name][0]
        by = ", ".join(f"{row['component']} {show(row['energy_j'], 'J', 3, total_j)}" for row in parts[name][:3])
        out.append((f"  {name}", f"{show(joules[name], 'J', like=total_j)} in {show(first['time_s'], 's')}: {by}"))
    rest = most[FUNCTIONS:]
    if rest:
        out.append((f"  and {len(rest)} more", show(sum(joules[name] for name in rest), "J", like=total_j)))
    return out


def closing_table(closing: Mapping[str, Any]) -> Table:
    """Lay the closing figures out for a terminal."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in rows(closing):
        table.add_row(name, value, style="dim" if name.startswith("  ") else None)
    return table
