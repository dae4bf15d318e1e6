# SPDX-License-Identifier: Apache-2.0
"""The HTML report: one file that needs nothing else, for a screen, a phone, paper or a screen reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from karat.evaluation import Evaluation
from karat.findings import in_python
from karat.report.charts import svg
from karat.report.html.view import Section, View
from karat.report.tables import summaries


def render(
    evaluation: Evaluation,
    by: Sequence[str] = (),
    digits: int = 4,
    title: str | None = None,
    rows: int = 50,
    section: Section | None = None,
) -> str:
    """The evaluation as a page; ``rows`` is the longest list of classes, units or test cases that it holds.

    ``section`` stands before the scores: what another report adds to the page.
    """
    grids = list(summaries(evaluation, digits))
    if section is None and grids:
        section = Section("Summary", "What stands above single systems", [], [], grids)
    return _page("page.html", View(evaluation, digits, rows, section), title)


def fragment(evaluation: Evaluation, digits: int = 4, section: Section | None = None) -> str:
    """Scores (or the leaderboard of a section) and findings without a page around them, for a notebook."""
    return _page("fragment.html", View(evaluation, digits, 20, section), None)


def _page(name: str, view: View, title: str | None) -> str:
    return _templates().get_template(name).render(view=view, title=title or view.title).strip() + "\n"


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("karat.report.html", ""), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {"css": _text("page.css"), "js": _text("page.js"), "chart_css": Markup(svg.STYLE)}
    environment.filters |= filters()
    return environment


def filters() -> dict[str, Callable[[str], str]]:
    """What the parts of a page need of whoever fills them in: the server's pages use them too."""
    return {"shown": svg.printable, "name": name, "spans": spans, "tied": tied, "in_python": in_python}


def name(text: str) -> Markup:
    """A name that may break behind its marks, where a narrow page would cut it anywhere.

    >>> str(name("team_1.csv"))
    'team_<wbr>1.<wbr>csv'
    """
    return Markup(re.sub(r"([_./-])(?=\w)", r"\1<wbr>", str(escape(svg.printable(text)))))


def spans(text: str) -> Markup:
    """A cell whose interval may stand under its score, but is never broken itself.

    >>> str(spans("0.5 [0.4, 0.6]"))
    '0.5 <i>[0.4, 0.6]</i>'
    """
    shown = str(escape(svg.printable(text)))
    return Markup(re.sub(r" (\[[-\d.]+, [-\d.]+\])$", r" <i>\1</i>", shown))


def tied(text: str) -> Markup:
    """A sentence in which no interval and no p-value is broken over two lines.

    >>> str(tied("by 0.1 [0, 0.2], p ≤ 2e-06."))
    'by 0.1 <i>[0, 0.2]</i>, <i>p ≤ 2e-06</i>.'
    """
    return Markup(re.sub(r"\[[^][ ]+, [^][ ]+\]|\bp (?:[=<]|≤|&lt;) [\d.e+-]*\d", r"<i>\g<0></i>", str(escape(text))))


def _text(name: str) -> Any:
    return Markup(files("karat.report.html").joinpath(name).read_text("utf-8"))
