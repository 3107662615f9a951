# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arithmetic of the papers: expressions of printed inputs, and nothing else."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

from sunseal.errors import SunsealError

_OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def arithmetic(text: str) -> float:
    """Compute `+ - * / **` on numbers; anything else is refused."""

    def value(node: ast.expr) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.operand))
        raise SunsealError(f"`{text}` in data/published is no arithmetic on numbers")

    try:
        found = value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ZeroDivisionError, OverflowError) as e:
        raise SunsealError(f"`{text}` in data/published is no arithmetic on numbers: {e}") from e
    if isinstance(found, complex) or not math.isfinite(found):
        raise SunsealError(f"`{text}` in data/published is no arithmetic on numbers: it gives {found}")
    return found
