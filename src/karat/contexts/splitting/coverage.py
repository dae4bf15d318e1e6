# SPDX-License-Identifier: Apache-2.0
"""Pages that only one side has: said with their document and line, and handled as the option says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karat.contexts.base import Run, Table
from karat.contexts.pairing import more
from karat.contexts.splitting.pages import Bools, Ints
from karat.contexts.splitting.sides import Paired
from karat.findings import LIMIT, Finding, finding

_CODES = {"error": "pages-on-one-side", "not-first": "pages-as-not-first", "truncate": "pages-left-out"}


def counts(pages: Paired) -> dict[str, int]:
    """Coverage in pages."""
    gold, pred = pages.in_gold, pages.in_pred
    named = {"gold": gold, "pred": pred, "aligned": gold & pred, "gold_only": gold & ~pred, "pred_only": pred & ~gold}
    return {name: int(mask.sum()) for name, mask in named.items()}


def coverage_findings(run: Run, gold: Table, pred: Table, pages: Paired, policy: str) -> list[Finding]:
    """One finding for each document with pages that the other side lacks."""
    return [
        *_one_sided(run, pages, ~pages.in_pred, gold, pred, _CODES[policy]),
        *_one_sided(run, pages, ~pages.in_gold, pred, gold, _CODES[policy]),
    ]


def _one_sided(run: Run, pages: Paired, only: Bools, here: Table, there: Table, code: str) -> Iterator[Finding]:
    bundles = np.unique(pages.bundle[only])
    for bundle in bundles[:LIMIT].tolist():
        test_case, name = pages.names[bundle]
        numbers = pages.number[only & (pages.bundle == bundle)]
        line = _line(run, here, test_case, name, int(numbers[0]))
        yield finding(code, here.name, line, id=name, count=len(numbers), pages=ranges(numbers), other=there.name)
    yield from more(code, len(bundles), here)


def ranges(numbers: Ints) -> str:
    """Page numbers as text.

    >>> ranges(np.array([2, 4, 5, 6]))
    'pages 2, 4-6'
    """
    start = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 2) != 1)
    end = np.append(start[1:], len(numbers)) - 1
    parts = [
        str(a) if a == b else f"{a}-{b}" for a, b in zip(numbers[start].tolist(), numbers[end].tolist(), strict=True)
    ]
    return f"page{'s' if len(numbers) > 1 else ''} " + ", ".join(parts)


def _line(run: Run, table: Table, test_case: str, name: str, number: int) -> int | None:
    here = " AND ".join((f"test_case = {_quoted(test_case)}", f"id = {_quoted(name)}", f"number = {number}"))
    found = run(f"SELECT nth FROM (SELECT *, row_number() OVER () - 1 AS nth FROM {table.sql}) WHERE {here} LIMIT 1")[
        "nth"
    ]
    return table.line(int(found[0])) if len(found) else None


def _quoted(text: str) -> str:
    return "'" + str(text).replace("'", "''") + "'"
