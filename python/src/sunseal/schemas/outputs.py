# SPDX-License-Identifier: MIT OR Apache-2.0
"""JSON Schema of what the commands print by `--json`: from the dataclasses of the answers, where these are printed.

Published in docs/reference/schema/output beside those of files (`sunseal schema`). They take keys that they do not
name, as a later minor change may bring some; python/tests/test_outputs.py takes none, so that no key is without a word.
"""

from __future__ import annotations

from collections.abc import Callable

from sunseal.answers.outputs import head
from sunseal.answers.shapes import (
    ANY,
    NUMBER,
    OPTIONAL,
    TEXT,
    TEXTS,
    WHOLE,
    YES,
    Schema,
    joined,
    keys,
    listed,
    maybe,
    null,
    of,
    one_of,
    table,
    told,
)
from sunseal.errors import STATUS

MADE_BY = told(
    keys(
        version=told(TEXT, "Version of the package."),
        data=told(TEXT, "Revision of its data: the first digits of a hash of `data/` as it is installed."),
    ),
    "What made the answer, by which it can be found again (docs/reference/stability.md).",
)
WHY = told(TEXTS, "What is left open, a sentence each; empty where it passed.")
VERDICT = keys(verdict=one_of(*STATUS), why=WHY)
COST = keys(cycles=WHOLE, time_s=NUMBER, energy_j=NUMBER, edp_js=NUMBER)
SOME_COST: Schema = {"anyOf": [COST, {"type": "object", "maxProperties": 0}]}
SPREAD = keys(min=NUMBER, mean=NUMBER, max=NUMBER)
UNREAD = keys(
    unchecked=told(TEXTS, "Recalled from their document and not read again."),
    assumed=told(TEXTS, "Assumptions of ours, in no document."),
)
ROW = told({"type": "object"}, "A row of a table; names have the unit last.")


def output(name: str) -> Schema:
    """Return the schema of an output, its name and version among what it asks for."""
    title, shape, is_list = OUTPUTS[name]
    inner = shape()
    item = {
        "type": "object",
        "properties": {"schema": {"const": head(name)}, "sunseal": MADE_BY, **inner.get("properties", {})},
        "required": ["schema", "sunseal", *inner.get("required", [])],
        **{k: v for k, v in inner.items() if k not in ("type", "properties", "required", OPTIONAL)},
    }
    return {"title": title, **({"type": "array", "items": item} if is_list else item)}


# --- Inventory, files ----------------------------------------------------------------------------------


def _boards() -> Schema:
    level = keys(freq_max_hz=NUMBER, vcc_min_v=NUMBER, vcore=WHOLE)
    return keys(
        board=TEXT,
        from_=told(TEXT, "The package, or a folder of yours."),
        file=TEXT,
        device=TEXT,
        parts=TEXTS,
        variants=TEXTS,
        power_sets=TEXTS,
        levels=listed(level),
    )


def _gaps() -> Schema:
    return keys(part=TEXT, block=TEXT, addresses=TEXT, what=TEXT)


def _workloads() -> Schema:
    return keys(workload=TEXT, security_bits=WHOLE, summary=TEXT)


def _part_new() -> Schema:
    return keys(file=TEXT, kind=TEXT, part=TEXT)


def _parts() -> Schema:
    return keys(part=TEXT, kinds=TEXTS, title=TEXT, from_=TEXT, file=TEXT)


def _part_check() -> Schema:
    from sunseal.catalog.part_files import Checked

    return joined(VERDICT, of(Checked, valid=YES))


def _part_fit() -> Schema:
    figure = keys(value=NUMBER, standard_error=null(NUMBER))
    part = told({"type": "object"}, "What the part's file says of it.")
    return keys(
        kind=TEXT,
        figures=table(figure),
        part=part,
        points=WHOLE,
        residual_rms=NUMBER,
        residual_max=NUMBER,
        residual_unit=TEXT,
        remarks=TEXTS,
        file=null(TEXT),
    )


def _doctor() -> Schema:
    from sunseal.kit.doctor import Finding

    return of(Finding)


# --- One operation, a program --------------------------------------------------------------------------


def _measure() -> Schema:
    from sunseal.measurement.measuring import Measurement

    rare = {name: maybe({"type": "object"}) for name in ("timing", "coprocessor")}
    unknown = maybe(told(TEXT, "What of the path to memory is not known, so that cycles may differ."))
    return of(Measurement, "lints", measurement_unit=maybe(table()), memory_path=unknown, **rare)


def _calls() -> Schema:
    from sunseal.measurement.calling import Calls

    one = keys(
        cycles=WHOLE, time_s=NUMBER, energy_j=NUMBER, energy_low_j=NUMBER, energy_high_j=NUMBER, value=null(NUMBER)
    )
    written = told(table(TEXT), "Of each argument that the function wrote to, the bytes in hexadecimal.")
    spread = dict.fromkeys(("cycles", "time_s", "energy_j"), SPREAD)
    return of(Calls, "lints", calls=listed(one), written=written, **spread)


def _curve() -> Schema:
    names = ("time_s", "energy_j", "energy_low_j", "energy_high_j", "power_w")
    return keys(freq_hz=WHOLE, vcc_v=NUMBER, vcore=WHOLE, cycles=WHOLE, **dict.fromkeys(names, NUMBER))


def _profile() -> Schema:
    stacks = told(table(), "Cycles or joules of each folded stack.")
    return keys(unit=one_of("cycles", "J"), stacks=stacks, before=null(stacks))


def _constant_time() -> Schema:
    from sunseal.machine.taint import CALLED, Block, Leak, Secret

    covered = keys(
        runs=WHOLE,
        secrets=listed(of(Secret)),
        functions=TEXTS,
        code_bytes=WHOLE,
        code_bytes_run=WHOLE,
        code_share=NUMBER,
        blocks=listed(of(Block)),
        unseen=TEXT,
    )
    return keys(verdict=one_of(*CALLED.values()), findings=listed(of(Leak)), covered=covered, why=WHY)


def _matrix() -> Schema:
    cell = joined(keys(isa=TEXT, compiler=TEXT, level=TEXT), _constant_time())
    verdict = _constant_time()["properties"]["verdict"]
    return keys(source=TEXT, verdict=verdict, why=WHY, missing=TEXTS, cells=listed(cell))


def _run() -> Schema:
    return keys(
        board=TEXT,
        ended=told(TEXT, "Why the run ended, in a word."),
        why=TEXT,
        time_s=NUMBER,
        cycles=WHOLE,
        energy_j=null(NUMBER),
        energy_gap=told(null(TEXT), "Why the joules are not known."),
        device_energy_j=table(null(NUMBER)),
        resets=WHOLE,
        last_reset=null(TEXT),
        uart=told(table(TEXT), "What was written, by the interface."),
        uart_baud=told(table(WHOLE), "How fast it was written, in baud, by the interface."),
        uart_framing_errors=told(table(WHOLE), "Bytes without a stop bit that the terminal read, by the interface."),
        semihosting=TEXT,
        lints=TEXTS,
    )


def _run_network() -> Schema:
    node = keys(board=TEXT, cycles=WHOLE, resets=WHOLE, uart=table(TEXT), sent=maybe(WHOLE), received=maybe(WHOLE))
    return keys(
        time_s=NUMBER, ended_by=told(null(TEXT), "The node that wrote --until-uart."), failed=null(TEXT), frames=WHOLE,
        nodes=table(node),
    )  # fmt: skip


def _examples() -> Schema:
    from sunseal.kit.carried import Example

    return of(Example)


def _examples_copied() -> Schema:
    return keys(folder=TEXT, files=TEXTS)


def _new() -> Schema:
    return keys(board=TEXT, folder=TEXT, files=TEXTS)


# --- Losses of power -----------------------------------------------------------------------------------


def _inject() -> Schema:
    from sunseal.secure.injecting import Failure, Injection

    failure = of(
        Failure,
        again=maybe(told(listed(WHOLE), "Cycles of further cuts, each behind the reboot before it.")),
        trace=maybe(told(TEXTS, "The last instructions, the cut one last.")),
        registers=maybe(table(WHOLE)),
    )
    return joined(VERDICT, of(Injection, failures=listed(failure), passed=YES))


def _war() -> Schema:
    from sunseal.secure.injecting import Hazard

    return joined(VERDICT, keys(program=TEXT, board=TEXT, hazards=listed(of(Hazard))))


def _least() -> Schema:
    from sunseal.secure.lasting import Least

    return joined(VERDICT, of(Least))


# --- Supplies, plans -----------------------------------------------------------------------------------


def _priced() -> Schema:
    from sunseal.planner.radio import Exchange

    sleep = keys(
        **dict.fromkeys(("total_w", "total_low_w", "total_high_w", "cpu_w", "oscillator_w", "radio_w"), NUMBER),
        residual_w=null(NUMBER),
        remark=null(TEXT),
    )
    exchange = of(Exchange, send_j=NUMBER, receive_j=NUMBER)
    return joined(UNREAD, keys(asleep=null(sleep), exchange=null(exchange)))


def _between() -> Schema:
    return keys(start_j=null(NUMBER), start_s=null(NUMBER), wait_w=NUMBER, pause_s=null(NUMBER))


def _size() -> Schema:
    from sunseal.planner.priced import Priced
    from sunseal.planner.size import Sized

    own = of(Sized, "question", *Priced.__dataclass_fields__)
    powers = dict.fromkeys(("mean_w", "sleep_w", "compute_j", "radio_j"), NUMBER)
    coprocessor = joined(keys(between=null(TEXT)), _between())
    return joined(own, keys(**powers, coprocessor=maybe(coprocessor)), _priced())


def _lifetime() -> Schema:
    from sunseal.planner.lifetime import Lifetime
    from sunseal.planner.priced import Priced

    own = of(Lifetime, "question", *Priced.__dataclass_fields__)
    powers = dict.fromkeys(("sleep_w", "compute_j", "radio_j"), NUMBER)
    rare = {name: maybe(schema) for name, schema in {"coprocessor_j": NUMBER, **_between()["properties"]}.items()}
    return joined(own, keys(**powers, remark=null(TEXT), **rare), _priced())


def _tune() -> Schema:
    from sunseal.planner.tune import Binding, Relaxation

    return keys(
        objective=TEXT,
        bounds=table(),
        best=null(ROW),
        qualifying=listed(ROW),
        front=listed(ROW),
        binds=listed(of(Binding)),
        relaxations=listed(of(Relaxation, row=null(ROW))),
        nearest=null(ROW),
        nearest_factor=null(NUMBER),
        left_out=TEXTS,
    )


def _plan() -> Schema:
    from sunseal.planner.plan import Margin
    from sunseal.planner.plan_confirm import Row
    from sunseal.planner.relaxations import Relaxation
    from sunseal.planner.surest import Beside
    from sunseal.planner.uncertainty import Swing

    ends = dict.fromkeys(("value", "low", "high"), null(NUMBER))
    outcomes = dict.fromkeys(("outcome_low", "outcome_high"), null(NUMBER))
    configuration = keys(
        name=TEXT,
        cost=NUMBER,
        margins=listed(of(Margin, **ends, sure=YES)),
        sure=YES,
        sensitivity=listed(of(Swing, **outcomes)),
        year=null(_year()),
        words=TEXT,
    )
    configuration["additionalProperties"] = told(ANY, "Columns of the sweep; names have the unit last.")
    confirmed = joined(VERDICT, keys(holds=YES, rows=listed(of(Row, inside=YES))))
    source = keys(file=TEXT, source=TEXT, recalled=YES, assumed=null(ANY))
    return joined(
        VERDICT,
        keys(
            name=TEXT,
            considered=WHOLE,
            qualifying=WHOLE,
            configurations=listed(configuration),
            runners_up=listed(keys(name=TEXT, words=TEXT)),
            beside=listed(of(Beside)),
            relaxations=listed(of(Relaxation, sentence=TEXT)),
            remarks=TEXTS,
            sources=listed(source),
            confirmed=null(confirmed),
        ),
        UNREAD,
    )


def _year() -> Schema:
    return told({"type": "object"}, "A typical year by the fleet's engine: shares, days, volts, joules.")


def _fleet() -> Schema:
    return keys(
        nodes=WHOLE,
        node_days=WHOLE,
        survived_share=told(table(), "Quantiles over the nodes."),
        nodes_never_down=WHOLE,
        brown_outs=WHOLE,
        done_share=null(NUMBER),
        curtailed_share=null(NUMBER),
        energy_balance_rel_max=NUMBER,
        low_light=maybe(ANY),
        residual_known=YES,
    )


# --- The closed loop -----------------------------------------------------------------------------------


def _closing() -> Schema:
    joules = ("in_j", "out_j", "lost_j", "stored_begin_j", "stored_end_j", "stored_delta_j")
    energy = keys(**dict.fromkeys(joules, NUMBER), by_component_j=table(), by_state_j=table(), lost_by_j=table())
    counted = ("seed", "cycles", "starts", "brown_outs", "supervisor_resets")
    messages = keys(**dict.fromkeys(("sent", "received", "verdicts"), table(WHOLE)))
    rare = {name: maybe(ANY) for name in ("functions", "window", "coupons", "load")}
    return keys(
        scenario=TEXT,
        board=TEXT,
        power_set=TEXT,
        simulated_s=NUMBER,
        **dict.fromkeys(counted, WHOLE),
        messages=messages,
        energy=energy,
        energy_balance_rel=told(NUMBER, "In - out - lost - change in store, over what went in."),
        residual_known=told(YES, "False where nobody's measurement of the board's residual current is known."),
        low_light=maybe(listed(NUMBER)),
        untouched=maybe(told(TEXTS, "Parts that the program never spoke to, with what they took.")),
        remarks=maybe(told(TEXTS, "Figures of the store that its sheet does not have over the temperature.")),
        first_cut_s=maybe(told(NUMBER, "When the supply was cut off for the first time.")),
        repeated=maybe(told(keys(cycles=WHOLE, time_s=NUMBER), "Cycles of a load that went by at once.")),
        stuck=maybe(told(TEXT, "Why a load or a node never gets past what cuts it off, and what would help.")),
        **rare,
    )


def _run_supply() -> Schema:
    return joined(_closing(), keys(uart=told(TEXT, "What the program wrote.")))


def _demo() -> Schema:
    counted = ("asked", "answered", "reports", "verified", "refused")
    attempt = told({"type": "object"}, "What was sent under the node's name, and the verdict on it.")
    return joined(
        _closing(),
        keys(
            **dict.fromkeys(counted, WHOLE),
            verified_by_kind=table(WHOLE),
            refused_by_verdict=table(WHOLE),
            challenges=table(ANY),
            accepted_by_security_bits=ANY,
            intruder=listed(attempt),
            **dict.fromkeys(("wall_s", "played_wall_s", "simulated_over_wall"), NUMBER),
            files=told(ANY, "Where report, picture and series lie."),
            ends=maybe(told(listed({"type": "object"}), "The day at both ends of what the panel's sheet leaves open.")),
        ),
    )


def _sweep() -> Schema:
    point = keys(error=told(TEXT, "Why the point could not be run; else empty."))
    return {**point, "additionalProperties": told(ANY, "Keys that were swept, and figures.")}


def _sobol() -> Schema:
    return keys(points=listed(_sweep()), indices=listed(ROW))


# --- Recordings ----------------------------------------------------------------------------------------


def _trace_import() -> Schema:
    channel = keys(name=TEXT, unit=TEXT, min=NUMBER, mean=NUMBER, max=NUMBER)
    return keys(
        format=TEXT,
        device=TEXT,
        samples=WHOLE,
        begin_s=null(NUMBER),
        time_s=NUMBER,
        sample_interval_s=NUMBER,
        channels=listed(channel),
        windows=WHOLE,
        notes=TEXTS,
    )


def _uncertainty() -> Schema:
    from sunseal.trace.energy import Term

    return keys(standard_uncertainty_j=NUMBER, expanded_uncertainty_j=NUMBER, uncertainty=listed(of(Term)))


def _trace_energy() -> Schema:
    from sunseal.trace.energy import Window

    some = ("deviation_j", "idle_w", "vcc_v", "lsb", "lsb_energy_j", "clipped")
    own = keys(
        windows=listed(of(Window, power_w=NUMBER)),
        **dict.fromkeys(("energy_j", "time_s", "power_w", "coverage_factor", "sample_interval_s"), NUMBER),
        **dict.fromkeys(some, null(NUMBER)),
        idle_subtracted=YES,
        channel=TEXT,
        notes=TEXTS,
        cycles=maybe(NUMBER),
    )
    return joined(own, _uncertainty())


def _trace_capacitor() -> Schema:
    from sunseal.trace.capacitor import Reading

    return joined(of(Reading, "terms", energy_j=NUMBER), _uncertainty())


def _trace_virtual() -> Schema:
    asked = keys(workload=TEXT, board=TEXT, freq_hz=WHOLE, power_set=TEXT, seed=null(WHOLE))
    return joined(VERDICT, asked, _trace_capacitor(), keys(ledger_j=NUMBER, error_j=NUMBER, agrees=YES))


def _trace_compare() -> Schema:
    from sunseal.trace.comparing import Row, Simulated

    simulated = of(Simulated, "begin_s", "end_s", power_w=NUMBER)
    ratios = keys(energy_ratio=NUMBER, energy_ratio_uncertainty=NUMBER, within=YES)
    own = keys(measured=_trace_energy(), simulated=simulated, windows=listed(of(Row)))
    return joined(VERDICT, own, ratios)


def _trace_harvest() -> Schema:
    figures = dict.fromkeys(("time_s", "energy_j", "power_mean_w", "power_max_w"), NUMBER)
    return keys(kind=TEXT, steps=WHOLE, **figures, provenance=table(TEXT))


# --- Precomputed work ----------------------------------------------------------------------------------


def _analyze() -> Schema:
    from sunseal.secure.precomputable import Analysis, Cut, Part

    rows = {"cuts": listed(of(Cut)), "functions": listed(of(Part)), "lines": listed(of(Part))}
    branch = keys(at=TEXT, count=WHOLE)
    return joined(VERDICT, of(Analysis, **rows, branches=listed(branch)))


def _metrics() -> Schema:
    ratio = table()
    store = keys(guard=SOME_COST, guard_share_cycles=null(NUMBER), write=COST, functions=table(COST))
    costs = {"original": SOME_COST, "precompute": COST, "runtime": COST, "runtime_without_guard": SOME_COST}
    return keys(
        kind=TEXT,
        variant=TEXT,
        board=TEXT,
        freq_hz=WHOLE,
        vcc_v=NUMBER,
        power_set=TEXT,
        **costs,
        ratio=ratio,
        ratio_without_guard=ratio,
        store=store,
        slot_bytes=WHOLE,
        published=told({"type": "object"}, "The paper's figures, where it has some."),
        note=TEXT,
    )


def _rate() -> Schema:
    from sunseal.papers.coupon_rate import Point, Rates

    inflection = told(table(), "Harvested power from which on latency is the limit, not energy.")
    return of(Rates, points=listed(of(Point)), inflection_w=inflection)


def _recovery() -> Schema:
    from sunseal.papers.coupon_recovery import First, Recoveries, Recovery

    first = told(null(of(First)), "The first answer; null where each charge ends before it.")
    return of(Recoveries, "courses", recoveries=listed(of(Recovery, coupons=first, none=first)))


def _breakeven() -> Schema:
    from sunseal.planner.breakeven import Costs, Edges, Outcome, Question

    outcome = of(Outcome)
    point = keys(value=NUMBER, with_=outcome, without=outcome)
    return keys(
        pays=YES,
        sentence=TEXT,
        costs=of(Costs),
        supply={"type": "object"},
        question=of(Question, "costs", "supply", "trace", mean_light_w=NUMBER),
        with_=outcome,
        without=outcome,
        break_even=listed(of(Edges, points=listed(point), sentence=TEXT)),
        remarks=TEXTS,
    )


def _leakage() -> Schema:
    from sunseal.secure.attacking import Guessed

    test = keys(
        fixed=TEXT, traces=WHOLE, samples=WHOLE, t_most=null(NUMBER), at_cycle=WHOLE, threshold=NUMBER,
        samples_above=WHOLE, leaks=YES,
    )  # fmt: skip
    guess = of(Guessed, "curve", traces_foretold=null(WHOLE))
    attack = keys(
        on=TEXT, places_known=YES, key_found=YES, disclosed_at=null(WHOLE), traces=WHOLE, steps=listed(listed(guess))
    )
    phase = keys(phase=TEXT, title=TEXT, tests=listed(test), attack=attack, shows=table())
    asked = keys(kind=TEXT, way=TEXT, board=TEXT, traces=WHOLE, noise_bits=NUMBER, seed=WHOLE)
    return joined(VERDICT, asked, keys(phases=listed(phase), sentence=TEXT, remarks=TEXTS))


def _randomness() -> Schema:
    entropy = keys(
        samples=WHOLE, bits_per_sample=WHOLE, symbols=WHOLE, min_entropy_bits=NUMBER, by=TEXT, of_samples=table(),
        of_bits=table(),
    )  # fmt: skip
    restarts = keys(
        rows=entropy, columns=entropy, most_seen=WHOLE, most_allowed=WHOLE, mean_by_place_bits=NUMBER,
        constant_columns=WHOLE,
    )  # fmt: skip
    source = keys(
        source=TEXT,
        claim_bits=null(NUMBER),
        assessed_bits=null(NUMBER),
        holds=YES,
        sequential=entropy,
        low_bit=null(entropy),
        restarts=null(restarts),
        sentence=TEXT,
    )
    test = keys(test=TEXT, p=null(NUMBER), not_asked=null(TEXT))
    bits = keys(bits=WHOLE, threshold=NUMBER, failed=TEXTS, tests=listed(test))
    generator = keys(
        generator=TEXT, starts=WHOLE, refused=WHOLE, repeated=WHOLE, holds=YES, sp800_22=null(bits), sentence=TEXT
    )
    asked = keys(board=null(TEXT), simulated=YES, seed=WHOLE, off_s=NUMBER, holds=YES)
    found = keys(sources=listed(source), generators=listed(generator), sentence=TEXT, remarks=TEXTS)
    return joined(VERDICT, asked, found)


def _noise() -> Schema:
    from sunseal.secure.noise import Foretold

    foretold = joined(of(Foretold), keys(holds=YES))
    return joined(
        VERDICT,
        keys(
            kind=one_of("memory", "oscillator"),
            recordings=TEXTS,
            samples=told(WHOLE, "Starts, or periods."),
            model=told({"type": "object"}, "Of a memory or of an oscillator, as --save writes it."),
            foretold=listed(foretold),
            sentence=TEXT,
            remarks=TEXTS,
        ),
    )


# --- Papers, hardware, servers -------------------------------------------------------------------------


def _reproduce() -> Schema:
    from sunseal.papers.evidence import CLASSES
    from sunseal.papers.published import VERDICTS

    row = keys(
        label=TEXT,
        published=null(NUMBER),
        ours=null(NUMBER),
        ratio=null(NUMBER),
        verdict=one_of(*VERDICTS),
        class_=told(one_of(*CLASSES), "By rule, from the coefficients."),
        rule=told(TEXT, "Rule by which the class follows."),
        task=told(TEXT, "Operation of ours whose figure stands beside the paper's."),
        resources=told(TEXT, "Board, variant, voltage and clock that it runs with."),
        coefficients=told(TEXTS, "Coefficients that weigh it, else power sets, each with what it was fitted to."),
        run=told(TEXT, "Identity of the run or fact that the figure rests on: rows of one run share it."),
        unit=TEXT,
        printed=told(null(TEXT), "What the paper prints, where that is a misprint."),
        note=TEXT,
    )
    return keys(id=TEXT, title=TEXT, source=TEXT, confirmed=TEXT, rows=listed(row))


def _hdl_size() -> Schema:
    goal = told(null(NUMBER), "None where there is none: such a row is not judged.")
    return keys(design=TEXT, target=TEXT, value=NUMBER, unit=TEXT, estimate=null(TEXT), goal=goal)


def _hdl_energy() -> Schema:
    from sunseal.papers.asic import Energy

    return of(Energy, energy_j=NUMBER)


def _bench() -> Schema:
    ratio = told(NUMBER, "A speed by the yardstick's million instructions a second; a time multiplied by it.")
    spread = told(NUMBER, "Share by which the median of the rounds lies above the fastest run.")
    timed = {"ratio": maybe(ratio), "spread": maybe(spread), "rounds": maybe(WHOLE)}
    return keys(name=TEXT, value=NUMBER, unit=TEXT, conditions=TEXT, **timed)


def _send() -> Schema:
    block = keys(in_=TEXT, out=TEXT, valid=YES)
    counted = dict.fromkeys(("packets", "retries", "packet_bytes", "window"), WHOLE)
    times = dict.fromkeys(("time_s", "encrypting_s", "node_j", "node_radio_j", "station_j"), NUMBER)
    return keys(cipher=TEXT, board=TEXT, variant=TEXT, blocks=listed(block), result_valid=YES, **counted, **times)


def _node() -> Schema:
    """Tell what the server says of a node; docs/reference/http.md has its fields."""
    return {**keys(node_id=TEXT, state=TEXT), "additionalProperties": ANY}


def _challenge() -> Schema:
    return {**keys(challenge_id=ANY), "additionalProperties": ANY}


def _event() -> Schema:
    """Tell of an event; docs/reference/http.md has its fields."""
    return {**keys(event_id=WHOLE, time_us=WHOLE, kind=TEXT), "additionalProperties": ANY}


def _gateway() -> Schema:
    return {**keys(token_id=WHOLE, name=TEXT, state=one_of("active", "ended")), "additionalProperties": ANY}


def _error() -> Schema:
    return keys(kind=one_of("error", "findings", "undecided"), error=TEXT, hint=null(TEXT), exit_status=one_of(1, 2, 3))


OUTPUTS: dict[str, tuple[str, Callable[[], Schema], bool]] = {
    "bench": ("`sunseal bench`: a tracked figure each", _bench, True),
    "boards": ("`sunseal boards`: a board each", _boards, True),
    "calls": ("`sunseal measure --call`", _calls, False),
    "challenge": ("`sunseal node ask`", _challenge, False),
    "constant-time": ("`sunseal constant-time`", _constant_time, False),
    "constant-time-matrix": ("`sunseal constant-time --matrix`", _matrix, False),
    "coupon-analyze": ("`sunseal coupon analyze`", _analyze, False),
    "coupon-breakeven": ("`sunseal coupon breakeven`", _breakeven, False),
    "coupon-leakage": ("`sunseal coupon leakage`", _leakage, False),
    "coupon-metrics": ("`sunseal coupon metrics`: a coupon each", _metrics, True),
    "coupon-noise": ("`sunseal coupon randomness --fit`", _noise, False),
    "coupon-randomness": ("`sunseal coupon randomness`", _randomness, False),
    "coupon-rate": ("`sunseal coupon rate`", _rate, False),
    "coupon-recovery": ("`sunseal coupon recovery`", _recovery, False),
    "curve": ("`sunseal curve`: an operating point each", _curve, True),
    "demo": ("`sunseal demo`", _demo, False),
    "doctor": ("`sunseal doctor`: a tool each", _doctor, True),
    "error": ("What ended a command that was asked for JSON, in place of its answer", _error, False),
    "events": ("`sunseal node events`: an event each", _event, True),
    "fleet": ("`sunseal fleet`", _fleet, False),
    "gaps": ("`sunseal boards --gaps`: a gap each", _gaps, True),
    "gateways": ("`sunseal gateway list`: a gateway each", _gateway, True),
    "hdl-energy": ("`sunseal hdl energy`: a core each", _hdl_energy, True),
    "hdl-size": ("`sunseal hdl size`: a figure each", _hdl_size, True),
    "inject": ("`sunseal inject`", _inject, False),
    "least-capacitor": ("`sunseal least-capacitor`", _least, False),
    "lifetime": ("`sunseal lifetime`", _lifetime, False),
    "measure": ("`sunseal measure`", _measure, False),
    "examples": ("`sunseal examples`: an example each", _examples, True),
    "examples-copied": ("`sunseal examples NAME`", _examples_copied, False),
    "new": ("`sunseal new`", _new, False),
    "node": ("`sunseal node open`, `show`, `change`, `revoke`, `rekey`", _node, False),
    "node-import": ("`sunseal node import`", lambda: keys(imported=WHOLE), False),
    "nodes": ("`sunseal node list`: a node each", _node, True),
    "part-check": ("`sunseal part check`", _part_check, False),
    "part-fit": ("`sunseal part fit`", _part_fit, False),
    "part-new": ("`sunseal part new`", _part_new, False),
    "parts": ("`sunseal parts`: a part each", _parts, True),
    "plan": ("`sunseal plan`", _plan, False),
    "profile": ("`sunseal profile`", _profile, False),
    "queue": ("`sunseal queue`: a challenge each", _challenge, True),
    "reproduce": ("`sunseal reproduce`: a table each", _reproduce, True),
    "run": ("`sunseal run`", _run, False),
    "run-network": ("`sunseal run` of several programs on one air", _run_network, False),
    "run-supply": ("`sunseal run --supply`", _run_supply, False),
    "send": ("`sunseal send`", _send, False),
    "simulate": ("`sunseal simulate`", _closing, False),
    "size": ("`sunseal size`", _size, False),
    "sweep": ("`sunseal sweep`: a point each", _sweep, True),
    "sweep-sobol": ("`sunseal sweep --sobol`", _sobol, False),
    "trace-capacitor": ("`sunseal trace capacitor` of readings", _trace_capacitor, False),
    "trace-capacitor-virtual": ("`sunseal trace capacitor` at a simulated board", _trace_virtual, False),
    "trace-compare": ("`sunseal trace compare`", _trace_compare, False),
    "trace-energy": ("`sunseal trace energy`", _trace_energy, False),
    "trace-harvest": ("`sunseal trace harvest`", _trace_harvest, False),
    "trace-import": ("`sunseal trace import`", _trace_import, False),
    "tune": ("`sunseal tune`", _tune, False),
    "war": ("`sunseal war`", _war, False),
    "workloads": ("`sunseal workloads`: an operation each", _workloads, True),
}  # fmt: skip
"""Title and keys of each output, and whether the answer is a list of such objects."""
