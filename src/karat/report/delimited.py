# SPDX-License-Identifier: Apache-2.0
"""Scores as TSV and CSV: a row per system, metric, test case and class, numbers in full."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from karat.evaluation import Evaluation
from karat.report.tables import dicts


def render_tsv(evaluation: Evaluation, escape_formulas: bool | None = None) -> str:
    return delimited(dicts(evaluation), "\t", escape_formulas)


def render_csv(evaluation: Evaluation, escape_formulas: bool | None = None) -> str:
    return delimited(dicts(evaluation), ",", escape_formulas)


def delimited(rows: Sequence[Mapping[str, Any]], mark: str, escape_formulas: bool | None = None) -> str:
    """Records as text with a head line, numbers in full.

    ``escape_formulas`` puts an apostrophe before texts that a spreadsheet would compute; by default in CSV.
    """
    escape = mark == "," if escape_formulas is None else escape_formulas
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["system"], delimiter=mark, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _cell(v, escape) for k, v in row.items()} for row in rows)
    return out.getvalue()


def _cell(value: Any, escape_formulas: bool) -> Any:
    if isinstance(value, str):
        text = _CONTROL.sub(lambda match: ascii(match[0])[1:-1], value)
        return "'" + text if escape_formulas and text.startswith(_FORMULA) and not _is_number(text) else text
    return "" if value is None else repr(value) if isinstance(value, float) else value


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What drives a terminal or turns the direction of text; tabs and line feeds are quoted, which Python does not do for CR."""
_FORMULA = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20", "\t", "\n")
"""What begins a formula in a spreadsheet, in full width too."""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
