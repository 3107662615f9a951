# SPDX-License-Identifier: MIT OR Apache-2.0
"""The notebooks of examples/ as pages: each is run, and what it prints and draws stands under its cells."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from facts import ROOT, table, toctree

from sunseal.report.charts import Chart


def notebooks(folder: Path) -> Iterator[tuple[str, str]]:
    """Run each notebook; its pictures go into the folder. Yield the name and text of each page."""
    folder.mkdir(parents=True)
    rows = []
    paths = sorted((ROOT / "examples").glob("*.ipynb"))
    for path in paths:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        lines = list(_page(path.stem, cells, folder))
        title = next(line for line in lines if line.startswith("# ")).removeprefix("# ")
        rows.append((f"[{title}]({path.stem}.md)", f"`examples/{path.name}`"))
        yield path.stem, "\n".join(lines)
    told = "Notebooks, run when these pages were made: what stands under a cell came out of it."
    tree = toctree((p.stem for p in paths), hidden=True)
    yield "index", "\n".join(["# Gallery", "", told, "", table(("notebook", "file"), rows), tree])


def _page(name: str, cells: list[dict[str, Any]], folder: Path) -> Iterator[str]:
    names: dict[str, Any] = {"__name__": name}
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield from (source, "")
            continue
        yield from ("```python", source, "```", "")
        printed, shown = _run(source, names)
        printed = printed.replace(f"{ROOT}/", "")  # the page does not depend on where it was made
        if printed:
            yield from ("```text", printed.rstrip(), "```", "")
        if isinstance(shown, Chart):
            picture = f"{name}-{number}.svg"
            shown.write(folder / picture)
            yield from (f"![{shown.title or f'{shown.y.title} over {shown.x.title}'}]({picture})", "")
        elif isinstance(shown, pd.DataFrame):
            yield table([str(c) for c in shown.columns], ([_number(v) for v in row] for row in shown.values.tolist()))
        elif shown is not None:
            yield from ("```text", str(shown), "```", "")


def _run(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Run a cell; return what it printed and the value of its last line."""
    body = ast.parse(source).body
    last = body[-1] if body else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
            return out.getvalue(), None
        exec(compile(ast.Module(body[:-1], []), "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    return out.getvalue(), value


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
