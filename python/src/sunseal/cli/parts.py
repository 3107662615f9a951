# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal parts` and `sunseal part`: what parts there are, and parts of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from sunseal import boards, part_files, places, units
from sunseal.cli.console import out, print_json, writable
from sunseal.cli.options import Json
from sunseal.errors import SunsealError, unknown

part_app = typer.Typer(help="Parts of your own: a template, a check, a fit of what you measured.", no_args_is_help=True)


def parts_command(
    kind: Annotated[str | None, typer.Option("--kind", help="Only capacitor, cell, charger, panel, ...")] = None,
    as_json: Json = False,
) -> None:
    """List the parts, what each is, and where its file is from: a folder of yours, or the package."""
    if kind is not None and kind not in part_files.KINDS:
        raise unknown("kind", kind, part_files.KINDS)
    rows: list[dict[str, Any]] = []
    for name in boards.names("parts"):
        path, facts = boards.part_path(name), boards.part(name)
        kinds = part_files.kinds_of(facts)
        if kind is None or kind in kinds:
            row = {
                "part": name,
                "kinds": kinds,
                "title": facts["title"],
                "from": boards.origin(path),
                "file": str(path),
            }
            rows.append(row)
    if as_json:
        print_json(rows)
        return
    table = Table("part", "kind", "what it is", "from", box=None)
    for row in rows:
        table.add_row(row["part"], ", ".join(row["kinds"]), escape(row["title"]), escape(row["from"]))
    out.print(table)
    folders = places.own_folders()
    out.print(
        f"your own: {', '.join(map(str, folders)) or f'none; they would be in ./{places.OWN} or {places.user_dir()}'}",
        style="dim",
    )


@part_app.command("new")
def new_command(
    kind: Annotated[str, typer.Argument(help=f"What it is: {', '.join(part_files.KINDS)}.")],
    name: Annotated[str, typer.Argument(help="What it is called.")],
    extends: Annotated[
        str | None, typer.Option("--extends", help="A part whose figures it has but for your own.")
    ] = None,
    to: Annotated[Path | None, typer.Option("--out", help=f"The file; else {places.OWN}/parts/NAME.toml here.")] = None,
    as_json: Json = False,
) -> None:
    """Write a part's file, commented and ready to be used, for your figures."""
    path = to or Path(places.OWN) / "parts" / f"{name}.toml"
    writable(to, (".toml",))
    text = part_files.template(kind, name, extends)
    if path.stem != name:
        raise SunsealError(f"`{path}` would hold a part named `{name}`; a part's file has its name, `{name}.toml`")
    if path.exists():
        raise SunsealError(f"`{path}` is there already: remove it, or take another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"file": str(path), "kind": kind, "part": name})
    else:
        out.print(f"wrote {path}: `sunseal part check {path}` checks it")


@part_app.command("check")
def check_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="A part's, a board's or a power set's file.")],
    as_json: Json = False,
) -> None:
    """Check a file as the engine reads it, and question what is far from other parts of its kind."""
    checked = part_files.check(file)
    if as_json:
        print_json(checked.to_dict())
        return
    based = f", extends {checked.extends}" if checked.extends else ""
    out.print(f"{escape(checked.name)}: {' and '.join(checked.kinds)}{based}; can be used")
    for question in checked.questions:
        out.print(f"[yellow]question:[/] {escape(question)}")


@part_app.command("fit")
def fit_command(
    file: Annotated[
        Path, typer.Argument(metavar="MEASURED.csv", help="time_s,voltage_v,current_a or voltage_v,current_a.")
    ],
    name: Annotated[str | None, typer.Option("--name", help="What the part is called; else as the file.")] = None,
    rated: Annotated[str | None, typer.Option("--rated", help="A capacitor's rated voltage, such as 5.5V.")] = None,
    capacitance: Annotated[
        str | None, typer.Option("--capacitance", help="Of a capacitor left alone, whose curve does not tell it.")
    ] = None,
    esr: Annotated[
        str | None, typer.Option("--esr", help="A capacitor's series resistance, as 1Ohm, where known.")
    ] = None,
    branches: Annotated[
        int | None, typer.Option("--branches", min=1, max=3, help="Branches; else as many as help.")
    ] = None,
    cells: Annotated[int | None, typer.Option("--cells", min=1, help="A panel's cells in series.")] = None,
    temperature_c: Annotated[float, typer.Option("--temperature", help="Of the panel when measured.")] = 25.0,
    light_w_m2: Annotated[float, typer.Option("--light", help="Light on the panel when measured, W/m2.")] = 1000.0,
    to: Annotated[Path | None, typer.Option("--out", help="Write the part's file here; else it is printed.")] = None,
    as_json: Json = False,
) -> None:
    """Fit a part to what was measured: a capacitor to its discharge, a panel to its I-V points.

    A discharge is `time_s,voltage_v`, with `current_a` what was drawn (0 where it is left out); I-V points are
    `voltage_v,current_a`.
    """
    from sunseal import part_fitting

    writable(to, (".toml",))
    called = name or (to.stem if to is not None else file.stem)
    if not part_files.NAME.fullmatch(called):
        raise SunsealError(f"`{called}` is no name of a part: give one by `--name`, such as `my-supercap`")
    if to is not None and to.stem != called:
        raise SunsealError(f"`{to}` would hold a part named `{called}`; a part's file has its name, `{called}.toml`")
    measured = part_fitting.read(file)
    if isinstance(measured, part_fitting.Discharge):
        if cells is not None:
            raise SunsealError(f"`{file}` is a discharge over time, and `--cells` is a panel's")
        fit: part_fitting.Fit = part_fitting.capacitor(
            measured,
            rated_v=None if rated is None else units.voltage_v(rated, "--rated"),
            capacitance_f=None if capacitance is None else units.parse(capacitance, "F", "--capacitance"),
            esr_ohm=None if esr is None else units.parse(esr, "Ohm", "--esr"),
            branches=branches,
        )
    else:
        if cells is None:
            raise SunsealError(f"`{file}` has I-V points: say by `--cells` how many cells the panel has in series")
        fit = part_fitting.panel(measured, cells=cells, temperature_c=temperature_c, light_w_m2=light_w_m2)
    text = part_fitting.part_text(fit, called)
    if to is not None:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")
    if as_json:
        print_json({**fit.to_dict(), "file": None if to is None else str(to)})
        return
    table = Table("", "fitted", "standard error", box=None)
    for key, (value, error) in fit.figures.items():
        table.add_row(key, f"{value:.4g}", "not told by these points" if error is None else f"{error:.2g}")
    out.print(table)
    unit = fit.unit
    out.print(
        f"residuals over {fit.points} points: {units.show(fit.rms, unit)} rms, {units.show(fit.worst, unit)} at most"
    )
    for remark in fit.remarks:
        out.print(escape(remark), style="dim")
    out.print(f"wrote {to}" if to is not None else "\n" + escape(text))
