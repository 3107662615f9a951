# SPDX-License-Identifier: MIT OR Apache-2.0
"""Results in a notebook: each shows itself as a table, and gives its figures as a frame."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

ROWS_MAX = 30
"""Rows of a frame that a notebook shows at most."""


class Shown:
    """Result that shows itself in a notebook; one whose figures are rows of a kind has a frame of its own."""

    def frame(self) -> pd.DataFrame:
        """Return its figures, a row each, by the keys that `--json` gives them."""
        import pandas as pd

        told: Any = getattr(self, "to_dict", None) or getattr(self, "as_json", None) or (lambda: vars(self))
        rows = list(_figures(told(), ""))
        return pd.DataFrame(
            {"value": [value for _, value in rows]}, index=pd.Index([key for key, _ in rows], name="figure")
        )

    def _repr_html_(self) -> str:
        """Return its frame as a notebook shows it, under what it says in a sentence."""
        sentence = getattr(self, "sentence", None)
        judged = getattr(self, "judged", None)
        said = (
            sentence if isinstance(sentence, str) else f"{judged.of}: {judged.word}" if judged else type(self).__name__
        )
        frame = self.frame()
        shown = frame.head(ROWS_MAX).to_html(border=0, na_rep="", float_format=lambda v: f"{v:.6g}")
        more = f"<p>and {len(frame) - ROWS_MAX:,} more, in <code>.frame()</code></p>" if len(frame) > ROWS_MAX else ""
        return f"<p><b>{html.escape(said)}</b></p>{shown}{more}"


def _figures(told: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield each figure by the path of its keys; lists of plain values are one figure."""
    if isinstance(told, Mapping):
        for name, value in told.items():
            yield from _figures(value, f"{key}.{name}" if key else str(name))
    elif isinstance(told, list | tuple) and any(isinstance(v, Mapping | list | tuple) for v in told):
        for i, value in enumerate(told):
            yield from _figures(value, f"{key}[{i}]")
    else:
        yield key, ", ".join(map(str, told)) if isinstance(told, list | tuple) else told
