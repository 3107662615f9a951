# SPDX-License-Identifier: MIT OR Apache-2.0
"""A linter of pictures: what a reader at a desk or with a phone, by day or by night, could not read of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FAULTS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").partition("() =>")
WIDTHS = (1400, 400)
SCHEMES = ("light", "dark")


def faults(tab: Any) -> list[str]:
    """Return the faults of what a tab shows now."""
    found: list[str] = tab.evaluate("() =>" + FAULTS[2])
    return found


def looked_at(browser: Any, page: str, folder: Path) -> list[str]:
    """Open a page, or a picture in a page, at both widths and in both schemes; nothing may be asked of the network."""
    path = folder / "page.html"
    path.write_text(page if page.startswith("<!doctype") else f"<body>{page[page.index('<svg') :]}", encoding="utf-8")
    found: list[str] = []

    def thrown(error: object) -> None:
        found.append(f"error: {error}")

    def asked(url: str) -> None:
        if not url.startswith(("file:", "data:")):
            found.append(f"asked for {url}")

    for scheme in SCHEMES:
        context = browser.new_context(viewport={"width": WIDTHS[0], "height": 1000}, offline=True, color_scheme=scheme)
        tab = context.new_page()
        tab.on("pageerror", thrown)
        tab.on("request", lambda r: asked(r.url))
        tab.goto(path.as_uri())
        for width in WIDTHS if page.startswith("<!doctype") else WIDTHS[:1]:
            tab.set_viewport_size({"width": width, "height": 1000})
            drawn_to(tab)
            found += [f"{scheme}, {width} px: {fault}" for fault in faults(tab)]
        context.close()
    return found


def drawn_to(tab: Any) -> None:
    """Wait until every picture of a page is drawn as wide as the page has it."""
    fits = "(e) => e.firstChild && e.firstChild.clientWidth === e.clientWidth"
    tab.wait_for_function(f"[...document.querySelectorAll('.drawn')].every({fits})")
