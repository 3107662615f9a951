# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal parts` and `sunseal part`: what parts there are, and parts of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from sunseal.catalog import boards, part_files, places, units
from sunseal.cli.console import Json, VerdictFiles, answer, judge, out, print_json, writable
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError, unknown
from sunseal.requests.asking import Quantity, asked, request

if TYPE_CHECKING:
    from sunseal.harvest import part_fitting

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
        print_json("parts", rows)
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
    kind: Annotated[str, typer.Argument(help=f"Kind of part: {', '.join(part_files.KINDS)}.")],
    name: Annotated[str, typer.Argument(help="Name of the part.")],
    extends: Annotated[
        str | None, typer.Option("--extends", help="A part whose figures it has but for your own.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--out", help="File to write.", show_default=f"{places.OWN}/parts/NAME.toml here")
    ] = None,
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
    answer(
        "part-new",
        as_json,
        lambda: {"file": str(path), "kind": kind, "part": name},
        lambda: out.print(f"wrote {path}: `sunseal part check {path}` checks it"),
    )


@part_app.command("check")
@spread
def check_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="A part's, a board's or a power set's file.")],
    *,
    files: VerdictFiles,
    as_json: Json = False,
) -> None:
    """Check a file as the engine reads it, and question what is far from other parts of its kind."""
    checked = part_files.check(file)
    judge("part-check", checked.judged, as_json, checked.to_dict, lambda: _show_checked(checked), files)


def _show_checked(checked: part_files.Checked) -> None:
    based = f", extends {checked.extends}" if checked.extends else ""
    out.print(f"{escape(checked.name)}: {' and '.join(checked.kinds)}{based}; can be used")
    for question in checked.questions:
        out.print(f"[yellow]question:[/] {escape(question)}")
    if not checked.compared_with:
        out.print("its figures were held against no other file's: the engine reads it, and that is all", style="dim")


@request
class Fit:
    """Measurements of a part, and what its curve does not tell."""

    file: Path = asked("", "time_s,voltage_v,current_a or voltage_v,current_a.", Path, metavar="MEASURED.csv")
    name: str | None = asked("--name", "Name of the part.", default=None, otherwise="as the file")
    rated_v: float | None = asked(
        "--rated", "A capacitor's rated voltage, such as 5.5V.", read=units.voltage_v, default=None
    )
    capacitance_f: float | None = asked(
        "--capacitance",
        "Capacitance of a capacitor left alone, whose curve does not tell it.",
        read=Quantity("F"),
        default=None,
    )
    esr_ohm: float | None = asked(
        "--esr", "A capacitor's series resistance, as 1Ohm, where known.", read=Quantity("Ohm"), default=None
    )
    branches: int | None = asked(
        "--branches", "Branches.", int, min=1, max=3, default=None, otherwise="as many as help"
    )
    cells: int | None = asked("--cells", "A panel's cells in series.", int, min=1, default=None)
    temperature_c: float = asked(
        "--temperature",
        "Temperature of the panel when measured, in degrees Celsius.",
        float,
        called="temperature_c",
        default=25.0,
    )
    light_w_m2: float = asked(
        "--light", "Light on the panel when measured, W/m2.", float, called="light_w_m2", default=1000.0
    )
    lux: float | None = asked(
        "--lux", "The same indoors: the panel is then told by this point, whatever its cell is of.", float, default=None
    )
    to: Path | None = asked(
        "--out", "Write the part's file here.", Path, called="to", default=None, otherwise="it is printed"
    )

    def fitted(self) -> part_fitting.Fit:
        """Fit the part's figures to what was measured."""
        from sunseal.harvest import part_fitting

        measured = part_fitting.read(self.file)
        if isinstance(measured, part_fitting.Discharge):
            if self.cells is not None:
                raise SunsealError(f"`{self.file}` is a discharge over time, and `--cells` is a panel's")
            known = {name: getattr(self, name) for name in ("rated_v", "capacitance_f", "esr_ohm", "branches")}
            return part_fitting.capacitor(measured, **known)
        if self.cells is None:
            raise SunsealError(f"`{self.file}` has I-V points: say by `--cells` how many cells the panel has in series")
        return part_fitting.panel(
            measured, cells=self.cells, temperature_c=self.temperature_c, light_w_m2=self.light_w_m2, lux=self.lux
        )


@part_app.command("fit")
@spread
def fit_command(asked: Fit, as_json: Json = False) -> None:
    """Fit a part to what was measured: a capacitor to its discharge, a panel to its I-V points.

    A discharge is `time_s,voltage_v`, with `current_a` what was drawn (0 where it is left out); I-V points are
    `voltage_v,current_a`.
    """
    from sunseal.harvest import part_fitting

    to = asked.to
    writable(to, (".toml",))
    called = asked.name or (to.stem if to is not None else asked.file.stem)
    if not part_files.NAME.fullmatch(called):
        raise SunsealError(f"`{called}` is no name of a part: give one by `--name`, such as `my-supercap`")
    if to is not None and to.stem != called:
        raise SunsealError(f"`{to}` would hold a part named `{called}`; a part's file has its name, `{called}.toml`")
    fit = asked.fitted()
    text = part_fitting.part_text(fit, called)
    if to is not None:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")
    if as_json:
        print_json("part-fit", {**fit.to_dict(), "file": None if to is None else str(to)})
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
