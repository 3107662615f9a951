# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lists of a server, page by page: nothing is held but the page at hand."""

from __future__ import annotations

import csv
import io
import json
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sunseal.errors import SunsealError
from sunseal.loop.services import fetch

NEXT = "Sunseal-Next-After"
TIME = "Sunseal-Time-Us"


@dataclass(frozen=True)
class Page:
    """Rows of a list, and the server's time when it told them."""

    time_us: int
    rows: list[dict[str, Any]]
    text: str
    """The page as CSV, where that was asked for."""


def query(**filters: Any) -> str:
    """Write filters as a query; one that is not given is left out."""
    given = {name: str(value).lower() if isinstance(value, bool) else value for name, value in filters.items()}
    return urllib.parse.urlencode({name: value for name, value in given.items() if value is not None})


def pages(server: str, token: str | None, path: str, asked: str, *, of: str, as_csv: bool) -> Iterator[Page]:
    """Fetch a list's pages, of `of`; as CSV each row has texts, and a page has more of them."""
    after = ""
    while True:
        form = "csv" if as_csv else "json"
        headers, said = fetch(server, token, "GET", f"{path}?format={form}&{asked}{after}")
        try:
            text = said.decode()
            rows = list(csv.DictReader(io.StringIO(text, newline=""))) if as_csv else json.loads(text)[of]
            yield Page(int(headers[TIME]), rows, text)
        except (ValueError, KeyError, TypeError) as e:
            raise SunsealError(f"what answers at {server} is no Sunseal server: it sends no such list") from e
        if headers[NEXT] is None:
            return
        after = f"&after={urllib.parse.quote(headers[NEXT], safe='')}"
