# SPDX-License-Identifier: MIT OR Apache-2.0
"""JSON Schema of every kind of file, for editors that complete and check, and of every output (`output_schemas`).

Those of parts, boards, power sets and scenarios come from the types by which the engine reads them; those of
requirements, fleets and networks stand here, and python/tests/test_schemas.py holds each to its reader.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from sunseal import _engine
from sunseal.errors import FindingsError, unknown

DRAFT = "https://json-schema.org/draft/2020-12/schema"
FOLDER = Path("docs/reference/schema")
EXTENDING = ("part", "board")
"""Kinds whose files may extend another: what is left out stands there."""
TITLES = {
    "part": "A part of Sunseal: data/parts, or one of your own",
    "board": "A board of Sunseal: data/boards, or one of your own",
    "power-set": "A power set of Sunseal: data/power, or one of your own",
    "scenario": "A scenario of `sunseal simulate`",
    "requirements": "Requirements of `sunseal plan`",
    "fleet": "A fleet of `sunseal fleet`",
    "network": "Programs on one air, of `sunseal run`",
}
OUTPUT = "output/"
"""In front of the name of what a command prints by --json."""
Schema = dict[str, Any]


def kinds() -> list[str]:
    """Name everything that has a schema: kinds of files, then outputs."""
    from sunseal.answers.outputs import VERSIONS

    return [*TITLES, *(f"{OUTPUT}{name}" for name in VERSIONS)]


def schema(kind: str) -> Schema:
    """Return the schema of a kind of file."""
    if kind.startswith(OUTPUT) and kind in kinds():
        from sunseal.schemas.outputs import output

        return {"$schema": DRAFT, **output(kind.removeprefix(OUTPUT))}
    if kind not in TITLES:
        raise unknown("kind of file or output", kind, kinds())
    head = {"$schema": DRAFT, "title": TITLES[kind]}
    by_hand = {"requirements": _requirements, "fleet": _fleet, "network": _network}
    if kind in by_hand:
        return {**head, **by_hand[kind]()}
    told = _tidy(json.loads(_engine.schema(kind)))
    told.pop("$schema", None)
    told.pop("title", None)
    if kind == "board":
        told["properties"]["radio"] = {"anyOf": [{"const": "none"}, told["properties"]["radio"]]}
    if kind not in EXTENDING:
        return {**head, **told}
    defs = told.pop("$defs", {})
    loose, loose_defs = _loose(told), {f"{name}Extending": _loose(d) for name, d in defs.items()}
    loose["properties"]["extends"] = {"type": "string", "description": f"A {kind} whose keys it has but for its own."}
    loose["required"] = ["name", "extends"]
    return {
        **head,
        "type": "object",
        "properties": {"extends": loose["properties"]["extends"]},
        "if": {"required": ["extends"]},
        "then": loose,
        "else": told,
        "$defs": {**defs, **loose_defs},
    }


def text(kind: str) -> str:
    """Write a schema as its file."""
    return json.dumps(schema(kind), indent=1, ensure_ascii=False) + "\n"


def write(folder: Path) -> list[Path]:
    """Write every schema into a folder."""
    (folder / OUTPUT).mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{kind}.schema.json" for kind in kinds()]
    for kind, path in zip(kinds(), paths, strict=True):
        path.write_text(text(kind), encoding="utf-8")
    return paths


def check(folder: Path) -> None:
    """Refuse a folder whose schemas are not those of this build."""
    for kind in kinds():
        path = folder / f"{kind}.schema.json"
        if not path.is_file() or path.read_text(encoding="utf-8") != text(kind):
            raise FindingsError(
                f"`{path}` is not the schema of what is read now", hint=f"`sunseal schema --write {folder}` writes it"
            )


def _tidy(node: Any) -> Any:
    """Leave out what TOML does not have (null) and what no editor needs (formats of numbers)."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {k: _tidy(v) for k, v in node.items() if not (k == "format" and isinstance(v, str))}
    if isinstance(found.get("type"), list):
        kinds = [t for t in found["type"] if t != "null"]
        found["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "anyOf" in found:
        some = [s for s in found["anyOf"] if s != {"type": "null"}]
        found["anyOf"] = some
        if len(some) == 1:
            found = {**{k: v for k, v in found.items() if k != "anyOf"}, **some[0]}
    if found.get("default", ...) is None:
        del found["default"]
    if isinstance(found.get("description"), str):
        found["description"] = " ".join(found["description"].split())
    return found


def _loose(node: Any) -> Any:
    """Ask for no key, in the tables below as well."""
    node = copy.deepcopy(node)

    def walk(part: Any) -> None:
        if isinstance(part, list):
            for item in part:
                walk(item)
        if not isinstance(part, dict):
            return
        # A kind of radio is still told by its model.
        if "required" in part and isinstance(part["required"], list):
            del part["required"]
        if "oneOf" in part:
            part["anyOf"] = part.pop("oneOf")
        if isinstance(part.get("$ref"), str):
            part["$ref"] += "Extending"
        for value in part.values():
            walk(value)

    walk(node)
    return node


# --- What Python reads -----------------------------------------------------------------------


def _table(required: list[str], **keys: Schema) -> Schema:
    told: Schema = {"type": "object", "properties": keys, "additionalProperties": False}
    return {**told, "required": required} if required else told


def _number(low: float | None = None, high: float | None = None, above: float | None = None) -> Schema:
    ends = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
    return {"type": "number", **{k: v for k, v in ends.items() if v is not None}}


def _quantity(unit: str) -> Schema:
    figure: list[Schema] = [{"type": "string", "examples": [unit]}, {"type": "number", "exclusiveMinimum": 0}]
    return {"anyOf": figure, "description": f"With its unit, such as {unit}, or a number in the SI base unit."}


TEXT: Schema = {"type": "string", "minLength": 1}
NAMES: Schema = {"type": "array", "items": TEXT, "minItems": 1}
WHOLE: Schema = {"type": "integer", "minimum": 1}


def _requirements() -> Schema:
    from sunseal.planner import plan_requirements as reader

    ends = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    task = _table(
        ["every"],
        operation=TEXT,
        workloads=NAMES,
        every=_quantity("600s"),
        asked_every=_quantity("1h"),
        latency=_quantity("1s"),
        bytes=_quantity("64B"),
        sends=_quantity("32B"),
        coupons=WHOLE,
        name=TEXT,
    )
    task["oneOf"] = [{"required": ["operation"]}, {"required": ["workloads"]}]
    link = _table(
        [],
        dbm={"type": "integer"},
        distance=_quantity("15m"),
        exponent=_number(1, 8),
        margin_dB=_number(0),
        retries=_number(0),
        listen=_quantity("5ms"),
    )
    link["oneOf"] = [{"required": ["dbm"]}, {"required": ["distance"]}]
    climate = _table(
        [],
        survive=_number(above=0, high=1),
        safety=_number(1),
        weather=TEXT,
        trace=TEXT,
        lux=TEXT,
        light={"enum": ["led", "fluorescent"]},
        constant_w=_number(above=0),
        latitude_deg=_number(-90, 90),
        clearness=_number(above=0, high=1),
        air_c=_number(-60, 60),
        tilt_deg=_number(0, 90),
        azimuth_deg=_number(0, 360),
        shading=_number(above=0, high=1),
    )
    whole = _table(
        ["security", "task"],
        name=TEXT,
        power_set=TEXT,
        security=_table(["bits"], bits=WHOLE),
        task={"type": "array", "items": task, "minItems": 1},
        allow=_table([], **dict.fromkeys((*reader.KINDS, "voltages", "clocks"), NAMES)),
        link=link,
        protocol=_table(
            [],
            modes={"type": "array", "items": {"enum": list(reader.MODES)}, "minItems": 1},
            listen_every=_quantity("15s"),
            listen_for=_quantity("20ms"),
        ),
        climate=climate,
        temperature={"type": ["number", "string"], "description": "Degrees Celsius, such as -20C."},
        battery=_table(["lifetime"], lifetime=_quantity("2years")),
        radio=_table(["part"], part=TEXT),
        bounds=_table([], mass_g=_number(0), volume_cm3=_number(0)),
        memory=_table([], flash=_quantity("64kB"), ram=_quantity("4kB")),
        weights=_table([], **{k: {**_number(0), "description": what} for k, what in reader.WEIGHTS.items()}),
        prices={"type": "object", "additionalProperties": _number(0), "description": "By part and board."},
        uncertainty=_table([], **dict.fromkeys(vars(reader.Uncertainty()), ends)),
    )
    whole["anyOf"] = [{"required": ["climate"]}, {"required": ["battery"]}]
    return whole


def _fleet() -> Schema:
    from sunseal.loop import fleet as reader

    number = {"type": "number"}
    pair = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
    shapes = {"uniform": pair, "normal": pair, "choice": {"type": "array", "items": number, "minItems": 1}}
    spread: Schema = {"anyOf": [number, *(_table([k], **{k: v}) for k, v in shapes.items())]}
    climate_keys: dict[str, Schema] = dict.fromkeys(sorted(reader.CLIMATE), number)
    climate_keys |= dict.fromkeys(("weather", "panel", "trace"), TEXT)
    task = _table(
        ["name", "period_s", "energy_j", "time_s", "gate_j"],
        name=TEXT, period_s=number, energy_j=number, time_s=number, gate_j=number,
    )  # fmt: skip
    profile = _table(
        ["sleep_w", "start_j", "start_s", "poll_s"],
        sleep_w=number, start_j=number, start_s=number, poll_s=number, task={"type": "array", "items": task},
    )  # fmt: skip
    return _table(
        ["scenario", "nodes"],
        name=TEXT,
        scenario=TEXT,
        nodes=WHOLE,
        days=WHOLE,
        seed={"type": "integer"},
        climate=_table([], **climate_keys),
        spread=_table([], **dict.fromkeys(sorted(reader.SPREADS), spread)),
        profile=profile,
    )


def _network() -> Schema:
    from sunseal.machine import network as reader

    number = _number()
    listed = {"type": "array", "items": TEXT}
    node = _table(
        ["name", "board", "elf"],
        name=TEXT, board=TEXT, elf=TEXT, x_m=number, y_m=number,
        uart=TEXT, baud=WHOLE, input=TEXT, input_at_s=_number(0), i2c=listed, spi=listed,
    )  # fmt: skip
    pair = {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}
    return _table(
        ["node"],
        seed={"type": "integer", "minimum": 0},
        air=_table([], **{key: _number(0, 1) if key == "frame_loss" else number for key in reader.AIR}),
        node={"type": "array", "items": node, "minItems": 1, "maxItems": reader.NODES_MAX},
        link={"type": "array", "items": _table(["between", "loss_db"], between=pair, loss_db=number)},
    )
