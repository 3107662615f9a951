# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal doctor` and `sunseal bench`: tools and figures."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sunseal.answers import writing
from sunseal.catalog import boards
from sunseal.cli.console import Json, VerdictFiles, err, judge, out, print_json
from sunseal.cli.spread import spread
from sunseal.errors import SunsealError

if TYPE_CHECKING:
    from sunseal.kit.doctor import Finding


@spread
def doctor_command(files: VerdictFiles, as_json: Json = False) -> None:
    """Say which tools are there, which are missing, and how to get them; exit status 1 if the demo lacks one."""
    from sunseal.kit import doctor

    findings = doctor.examine()
    told = lambda: [vars(f) for f in findings]  # noqa: E731
    judge("doctor", doctor.judged(findings), as_json, told, lambda: _show_tools(findings), files)


def _show_tools(findings: list[Finding]) -> None:
    from sunseal.kit import doctor

    for f in findings:
        if f.ok:
            out.print(f"[green]ok[/]       {escape(f.name)} {f.version}  [dim]{escape(f.place)}[/]")
        else:
            out.print(f"[yellow]missing[/]  {escape(f.name)}: {escape(f.get)}  [dim]({f.needed_for})[/]")
    if missing := doctor.required_missing(findings):
        out.print(f"not ready: {', '.join(missing)} missing")
    else:
        out.print("ready: `sunseal demo` has all it needs")


def bench_command(
    part: Annotated[
        str | None,
        typer.Argument(metavar="[engine|coprocessor|loop|year|fleet|planner|inject|crypto]", help="Only this part."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Say whether the pages of speeds are of this engine; with `crypto`, whether its page is current.",
        ),
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="With `loop`: write docs/reference/loop.md anew, year and fleet in it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure the simulator's own speed, and what cryptography costs: the tracked figures.

    Speeds are CPU time, warm, in turns with a yardstick: a fixed loop in the engine. The ratio to it comes first, as
    other work and another processor leave it alone. `bench crypto` writes docs/reference/crypto.md anew.
    """
    from sunseal.benchmark import bench, bench_loop

    if page and part != "loop":
        raise SunsealError("`--page` belongs to `bench loop`")

    if check and part not in (None, "crypto"):
        raise SunsealError("`--check` belongs to `bench crypto`, or stands alone and judges the pages of speeds")
    if check and part is None:
        _judge_pages()
        return
    if part == "crypto" and not as_json:
        _crypto_page(check)
        return
    with contextlib.nullcontext() if as_json else err.status("measuring"):
        rows = [row for name in ((part, "year", "fleet") if page else (part,)) for row in bench.run(name)]
    if page:
        writing.write_atomic(boards.home() / bench_loop.PAGE, bench_loop.page(rows))
    if as_json:
        print_json("bench", rows)
        return
    table = Table("figure", "ratio", "spread", "value", "unit", "conditions", box=None)
    for row in rows:
        beside = (format(row[key], form) if key in row else "" for key, form in (("ratio", ".4g"), ("spread", ".0%")))
        table.add_row(row["name"], *beside, f"{row['value']:,.4g}", row["unit"], row["conditions"])
    out.print(table)


def _judge_pages() -> None:
    from sunseal.benchmark import provenance

    told = provenance.older(boards.home())
    for path in provenance.PAGES:
        out.print(escape(told.get(path, f"{path} is of this engine")))
    if told:
        raise typer.Exit(1)


def _crypto_page(check: bool) -> None:
    from sunseal.benchmark import crypto_table

    path = boards.home() / crypto_table.PATH
    with err.status("measuring") as status:
        page = crypto_table.page(lambda what: status.update(f"measuring {escape(what)}"))
    if not check:
        writing.write_atomic(path, page)
        out.print(f"wrote {crypto_table.PATH}")
        return
    written = path.read_text(encoding="utf-8") if path.is_file() else ""
    if written == page:
        out.print(f"{crypto_table.PATH} is current")
        return
    names = ", ".join(crypto_table.differing(written, page))
    out.print(f"{crypto_table.PATH} is not current: {escape(names)}; run `sunseal bench crypto`")
    raise typer.Exit(1)
