# SPDX-License-Identifier: MIT OR Apache-2.0
"""`tune`, `size`, `plan` and `lifetime` as functions: typed results in SI base units, which cite what they rest on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sunseal import requests
from sunseal.catalog import boards, citing, power_sets, units
from sunseal.errors import SunsealError
from sunseal.measurement import measuring
from sunseal.requests.asking import answers

if TYPE_CHECKING:
    from sunseal.measurement.switching import Between
    from sunseal.planner.lifetime import Lifetime
    from sunseal.planner.plan import Planned
    from sunseal.planner.size import Sized
    from sunseal.planner.tune import Tuned


@answers(requests.Tune)
def tune(to: requests.Tune) -> Tuned:
    """Find the operating points within bounds (Mane 2014, chapter 5), over all curves at once.

    `workloads`, else all that do `operation`; each bound is at most, but the security level, which is at least.
    `best` names what is asked for: energy, latency, power, security, flash, ram. An operation by a coprocessor counts
    its start, or, with `every_s` from one operation to the next, its waiting where that takes less.
    """
    from sunseal.planner import operations as every
    from sunseal.planner import tune as tuning

    given = {
        "energy": to.energy_j,
        "latency": to.latency_s,
        "power": to.power_w,
        "security": to.security_bits,
        "flash": to.flash_bytes,
        "ram": to.ram_bytes,
    }
    bounds = {name: float(value) for name, value in given.items() if value is not None}
    names = list(to.workloads or ()) or [w.name for w in boards.WORKLOADS.values() if w.operation == to.operation]
    if not names:
        known = sorted({w.operation for w in boards.WORKLOADS.values()})
        raise SunsealError(f"no workload does `{to.operation}`; known operations: {', '.join(known)}")
    wanted = list(to.board_names or ())
    chosen = every.operations(names, wanted)
    if not chosen:
        raise SunsealError(f"none of the boards {', '.join(wanted)} has any of {', '.join(names)}")
    if to.power != boards.DEFAULT_POWER:
        # A set named by a paper is for the paper's device.
        chosen = [o for o in chosen if _has_set(to.power, o.board)]
        if not chosen:
            raise SunsealError(f"no chosen board has the parameter set `{to.power}`")
    frame = every.points(chosen, power=to.power, voltages_v=to.voltages_v, progress=to.progress)
    others = [] if wanted else [name for name in boards.names("boards") if name not in boards.of_nodes()]
    left_out = tuple(name for name in others if any(boards.has_workload(name, work) for work in names))
    return replace(tuning.tune(frame, bounds, to.best, to.every_s), left_out=left_out)


def _has_set(power: str, board: str) -> bool:
    try:
        power_sets.PowerSet(power, board)
    except SunsealError:
        return False
    return True


def _measured(to: requests.Work) -> measuring.Measurement:
    where = {name: getattr(to, name) for name in ("board", "variant", "freq_hz", "vcc_v", "power")}
    measured = measuring.measure(to.workload, **where)
    if measured.result_valid is False:
        raise SunsealError(f"`{to.workload}` gives a wrong result on {measured.board}, so its price means nothing")
    return measured


def _between(to: requests.Work, vcc_v: float) -> Between | None:
    """Return what a coprocessor takes between two uses."""
    from sunseal.measurement import switching

    variant = tuple(sorted(boards.variant(tuple(to.variant), to.board).items()))
    return switching.of(to.workload, to.board, variant, vcc_v, to.power)


@answers(requests.Size)
def size(to: requests.Size) -> Sized:
    """Size capacitor and panel (Mane 2014, equations 6.1 to 6.3), and play the node through a typical year.

    With each operation a REPORT of `sends_bytes` goes out, with the signature, in the link layer's packets at `dbm`;
    `radio_j` is its energy instead; a board without a radio sends nothing. `sleep_w` is else the board's own asleep,
    `capacitance_f` else the board's store, `shading` the share of the sun that reaches the panel. `supply` names the
    board whose harvester, store and panel are taken, else its own. A coprocessor is switched off between uses, or
    left on where that takes less. `temperature_c` is the store's.
    """
    from sunseal.loop import fleet as fleets
    from sunseal.planner import asleep, radio, sensors
    from sunseal.planner import lifetime as life
    from sunseal.planner import size as sizing

    if not to.margin >= 1:
        raise SunsealError(f"the margin {to.margin:g} is below 1: the operation could not be paid from what is stored")
    m, board = _measured(to), to.board
    exchange = None
    sleep = asleep.of_board(board, m.vcc_v, to.power, to.radio) if to.sleep_w is None else None
    if to.radio_j is None and (to.radio is not None or "radio" in boards.board(board)):
        body_bytes = radio.REPORT_BYTES + to.sends_bytes + radio.added_bytes(boards.workload(to.workload))
        exchange = radio.prices(radio.of_board(board, to.radio), to.dbm, m.vcc_v).exchange(body_bytes)
    read = sensors.of_parts(to.sensors, m.vcc_v)
    demand = sizing.Demand(
        compute_j=m.energy_j + (sleep.beside_w[0] * m.time_s if sleep else 0.0) + read.reading_j,
        compute_s=m.time_s,
        radio_j=exchange.send_j[0] if exchange else to.radio_j or 0.0,
        radio_s=exchange.time_s if exchange else 0.0,
        sleep_w=(sleep.total_w[0] if sleep else to.sleep_w or 0.0) + read.idle_w,
        period_s=to.every_s,
        margin=to.margin,
        overhead_j=to.overhead_j,
    )
    life.fit(to.workload, board, demand.compute_s + demand.radio_s, to.every_s)
    between = _between(to, m.vcc_v)
    ways = sizing.ways(demand, between)
    demand = min(ways, key=lambda d: d.mean_w)
    lender = to.supply or board
    own = sizing.supply_of(lender)
    light = fleets.sunlight(lender, {"shading": to.shading}) if to.year else None
    sized = sizing.size(
        demand,
        board,
        store_f=own["capacitance_f"] if to.capacitance_f is None else to.capacitance_f,
        v_max_v=own["v_max_v"],
        cutoff_v=own["v_cut_v"],
        trace=(light.time_s.tolist(), light.power_w.tolist()) if light else None,
        efficiency=own["charge_efficiency"],
        lender=to.supply,
        others=[d for d in ways if d is not demand],
        vcc_v=m.vcc_v,
        temperature_c=to.temperature_c,
    )
    cited = m.cite() + citing.of(
        power_sets=asleep.power_sets(board, to.radio),
        parts=[*citing.supply_parts(lender), *_carried(to.board, to.radio, to.sensors)],
        papers=["mane2014"],
        climate=light.provenance if light else None,
    )
    if sized.year is not None and light is not None:
        sized = replace(sized, year={**sized.year, "low_light": list(light.low_light)})
    return replace(sized, measured=m, asleep=sleep, exchange=exchange, between=between, citations=cited)


def _carried(board: str, other: str | None, sensors: Sequence[str]) -> list[str]:
    """Name the parts that were asked for beside a board's own."""
    from sunseal.planner import radio

    return [*([radio.of_board(board, other).part] if other else []), *sensors]


@answers(requests.Plan)
def plan(to: requests.Plan) -> Planned:
    """Find the cheapest nodes that meet requirements, with their margins and what these depend on.

    `requirements` is a file or its tables; `best` how many to offer; `check` plays a harvested one through its
    year; `temperature_c` of battery and store goes before that of the requirements.
    """
    from sunseal.planner import plan as planning

    wanted = Path(to.requirements) if isinstance(to.requirements, str) else to.requirements
    return planning.plan(wanted, best=to.best, check=to.check, temperature_c=to.temperature_c)


ACCELERATED = 1000.0
"""Factor by which an accelerator is taken to be faster than the firmware (Piotrowski 2006, section 5)."""


@answers(requests.Life)
def lifetime(to: requests.Life) -> Lifetime:
    """Tell how long a battery lasts under an operation (Piotrowski 2006, section 4).

    `every_s` 0 is without pause; `bits` are sent with each operation at `dbm` and `receives` bits come in, both in
    the link layer's packets with their answers; with each of its own messages the node passes `hops` of others on;
    `accelerator_j` is the operation's energy in hardware instead; `converter` stands behind the cells: one that assists
    is switched on below the cut-off, such as `ti-tps61000`, a linear one always regulates. It ends where the heaviest
    pulse first pulls the rail below `cutoff_v`, or below what chip or radio needs if that is more, at `temperature_c`.
    """
    from sunseal.planner import asleep, radio, sensors, sweep
    from sunseal.planner import lifetime as life

    part = to.battery or life.battery_of(to.board)
    m, board, hops = _measured(to), to.board, to.hops
    if hops and not to.bits:
        raise SunsealError(f"{hops} hops of nothing: `bits` says how long the messages are that the node passes on")
    sent = received = None
    if to.bits or to.receives:
        prices = radio.prices(radio.of_board(board, to.radio), to.dbm, m.vcc_v)
        sent, received = prices.exchange(math.ceil(to.bits / 8)), prices.exchange(math.ceil(to.receives / 8))
    sleep = asleep.of_board(board, m.vcc_v, to.power, to.radio) if to.sleep_w is None else None
    between, read = _between(to, m.vcc_v), sensors.of_parts(to.sensors, m.vcc_v)
    pulse_w, sending = 0.0, sent is not None and sent.packets + (received.packets if received else 0) > 0
    beside_w = sleep.beside_w[0] if sleep else 0.0
    if sending:
        pulse_w = prices.heaviest_w + beside_w
    _, high_v = sweep.rail_limits(board, sending, to.radio)
    use = life.Use(
        operation=to.workload,
        board=board,
        vcc_v=m.vcc_v,
        energy_j=(m.energy_j if to.accelerator_j is None else to.accelerator_j) + read.reading_j,
        time_s=m.time_s if to.accelerator_j is None else m.time_s / ACCELERATED,
        radio_j=(1 + hops) * sent.send_j[0] + hops * sent.receive_j[0] + received.receive_j[0]
        if sent and received
        else 0.0,
        radio_s=(1 + 2 * hops) * sent.time_s + received.time_s if sent and received else 0.0,
        sleep_w=(sleep.total_w[0] if sleep else to.sleep_w or 0.0) + read.idle_w,
        period_s=to.every_s,
        beside_w=beside_w,
        coprocessor_j=between.energy_j(to.every_s - m.time_s) if between else 0.0,
        pulse_w=pulse_w,
        needs_v=sweep.needs_v(board, m.freq_hz, to.power, sending, to.radio),
        freq_hz=m.freq_hz,
    )
    temperature_c = life.WARM_C if to.temperature_c is None else units.degrees(to.temperature_c, "temperature_c")
    asked = life.Question(use, part, to.cutoff_v, to.converter, temperature_c)
    found = replace(life.of(asked), supply_remark=life.remarks(asked, high_v))
    cited = m.cite() + citing.of(
        power_sets=asleep.power_sets(board, to.radio),
        parts=filter(None, (part, to.converter, *_carried(board, to.radio, to.sensors))),
        papers=["piotrowski2006"],
    )
    return replace(found, measured=m, asleep=sleep, exchange=sent, between=between, citations=cited)
