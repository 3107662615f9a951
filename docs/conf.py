# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sphinx: what `docs/pages.py` has brought together becomes pages that need no network."""

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

project = "Sunseal"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["pictures/README.md"]
templates_path = ["templates"]
html_theme = "furo"
html_title = "Sunseal"
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None
html_static_path = ["static"]
html_css_files = ["site.css"]
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
# What a doctest or a console shows is nobody's syntax; a code of an unknown language is shown as it is.
suppress_warnings = ["misc.highlighting_failure"]

# Quotes and ellipses only: `--out` in a sentence is an option and no dash.
smartquotes_action = "qe"

# The docstrings write code in single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
add_module_names = False


def setup(app: Any) -> None:
    """Write equations as MathML, which a browser draws without a script."""

    def inline(writer: Any, node: nodes.math) -> None:
        writer.body.append(latex2mathml.tex2mathml(node.astext()))
        raise nodes.SkipNode

    def block(writer: Any, node: nodes.math_block) -> None:
        writer.body.append(f'<div class="math">{latex2mathml.tex2mathml(node.astext(), as_block=True)}</div>')
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
