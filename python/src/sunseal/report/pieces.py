# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pieces of pages from the templates: text that is escaped, pictures that the page draws."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sunseal.report import plots

COLOURS = {"ink": plots.INK, "grid": plots.GRID, "font": Markup(plots.FONT)}  # its quotes stand in a style sheet


@cache
def _templates() -> Environment:
    """Return the templates beside this file; whatever is not `Markup` is escaped in them."""
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def _parts() -> Any:
    return _templates().get_template("parts.html").module


def part(macro: str, *told: Any) -> Markup:
    """Write one of the pieces of templates/parts.html."""
    return Markup(str(getattr(_parts(), macro)(*told)).strip())  # the template has escaped it


def whole(template: str, **told: Any) -> str:
    """Write a whole page by its template, with the house's colours."""
    return str(_templates().get_template(template).render(**told, **COLOURS))


def figure(key: str, told: Mapping[str, Any], caption: str) -> Markup:
    """Embed a picture that the page draws, under the sentence that says what it shows."""
    # `</` would end the script that it stands in.
    called = json.dumps([key, told], separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    return part("figure", key, told["height"], Markup(called), caption)  # JSON in a script


def alone(told: Mapping[str, Any], caption: str) -> str:
    """Write a picture as a notebook shows it: a page of its own in a frame."""
    inner = whole("alone.html", drawn=figure("figure-1", told, caption))
    return str(part("frame", inner, told["height"] + 90))
