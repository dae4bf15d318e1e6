# SPDX-License-Identifier: Apache-2.0
"""Pages that only one side has: said with their document and line, and handled as the option says."""

from __future__ import annotations

import numpy as np

from karat.align import Aligned
from karat.check import at_limit
from karat.contexts.splitting.pages import Bools, Ints
from karat.contexts.splitting.paired import Paired
from karat.findings import Finding, finding
from karat.side import Entries, Side

_CODES = {"error": "pages-on-one-side", "not-first": "pages-as-not-first", "truncate": "pages-left-out"}


def coverage_findings(gold: Side, pred: Side, both: Aligned, pages: Paired, policy: str) -> list[Finding]:
    """One finding for each document with pages that the other side lacks, or the one that says why all of them do."""
    code = _CODES[policy]
    if shifted := _shifted(gold, pred, pages):
        return [shifted]
    return [
        *_one_sided(both, pages, ~pages.in_pred, pages.gold_at, both.gold, gold, pred, code),
        *_one_sided(both, pages, ~pages.in_gold, pages.pred_at, both.pred, pred, gold, code),
    ]


def _shifted(gold: Side, pred: Side, pages: Paired) -> Finding | None:
    """Does one side count pages from 0 and the other from 1? Each page would meet its neighbour."""
    bundles = len(np.unique(pages.row))
    zeros = [len(np.unique(pages.row[there & (pages.number == 0)])) for there in (pages.in_gold, pages.in_pred)]
    if min(zeros) or max(zeros) * 2 <= bundles:
        return None
    from_zero, other = (gold, pred) if zeros[0] else (pred, gold)
    return finding("pages-from-zero", from_zero.name, other=other.name)


def _one_sided(
    both: Aligned, pages: Paired, only: Bools, at: Ints, entries: Entries, here: Side, there: Side, code: str
) -> list[Finding]:
    def of_row(row: int) -> Finding:
        mine = np.flatnonzero(only & (pages.row == row))
        assert both.ids is not None
        line = here.origin.line_of(int(entries["record"][at[mine[0]]]))
        facts = {"count": len(mine), "pages": ranges(pages.number[mine]), "other": there.name}
        return finding(code, here.name, line, id=both.ids[row], **facts)

    return at_limit(code, np.unique(pages.row[only]), here, of_row)


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
