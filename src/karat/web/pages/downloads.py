# SPDX-License-Identifier: Apache-2.0
"""Every table of a page as a file."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from karat.inputs import distinct
from karat.report import latex, markdown
from karat.report.delimited import delimited
from karat.report.rows import Grid
from karat.web.asking import Ask
from karat.web.problems import missing
from karat.web.showing import download

FORMS = {"json": "json", "tsv": "tsv", "csv": "csv", "md": "markdown", "tex": "latex", "html": "html"}
"""Downloads by the ending of their address, and the report that each is."""
MOST = 10_000
"""Rows of a list that is downloaded whole."""


def asked_form(ask: Ask) -> str:
    """The form in which the address asks for a table; empty where it asks for the page."""
    if not ask.query("as"):
        return ""
    form = FORMS.get(ask.query("as"), "")
    if form in ("", "html"):
        raise missing("form of report")
    return form


def table_download(grid: Grid, form: str, name: str) -> Response:
    """A table in the form that was asked for."""
    if form == "markdown":
        return download(markdown.table(grid) + "\n", form, name)
    if form == "latex":
        return download(latex.table(grid) + "\n", form, name)
    head = distinct(grid.head)
    records = [dict(zip(head, row, strict=True)) for row in grid.rows]
    if form == "json":
        return download(msgspec.json.encode(records), form, name)
    mark = "," if form == "csv" else "\t"
    return download(delimited(records, mark) if records else mark.join(head) + "\n", form, name)
