# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with one side's pages by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.check import at_limit
from karat.columns import Mask
from karat.findings import Finding, finding
from karat.side import Side
from karat.values import NO_NUMBER

LARGEST = 1_000_000_000
"""Largest page number: bundle and page share one 64-bit key."""


def page_findings(side: Side, *, flags: bool = True) -> list[Finding]:
    """Every rule's findings, each with the line of its record; ``flags`` asks for a flag on each page."""
    pages = side.entries
    number, unknown = pages["page"], pages["page"] == NO_NUMBER
    out = _at_pages(side, "page-number-bad", unknown | (number < 0) | (number > LARGEST))
    if flags:
        out += _at_pages(side, "page-flag-null", ~unknown & (pages["first"] < 0))
    if "confidence" in pages:
        confidence = pages["confidence"]
        out += _at_pages(side, "confidence-range", (confidence < 0) | (confidence > 1), confidence)
    return out + _repeated_pages(side)


def _at_pages(side: Side, code: str, wrong: Mask, value: Any = None) -> list[Finding]:
    pages, ids = side.entries, side.keys.id
    return at_limit(
        code,
        np.flatnonzero(wrong),
        side,
        lambda at: finding(
            code, side.name, side.entry_line(at), id=ids[pages.unit[at]], number=_page(int(pages["page"][at])),
            value=None if value is None else float(value[at]),
        ),
    )  # fmt: skip


def _page(number: int) -> str:
    return "a page" if number == NO_NUMBER else f"page {number}"


def _repeated_pages(side: Side) -> list[Finding]:
    """Pages whose bundle and number an earlier page has."""
    pages, ids = side.entries, side.keys.id
    number, unit = pages["page"], pages.unit
    if ((np.diff(unit) > 0) | (np.diff(number) > 0)).all():
        return []
    order = np.lexsort((np.arange(len(unit)), number, unit))
    alike = (np.diff(unit[order]) == 0) & (np.diff(number[order]) == 0) & (number[order][1:] != NO_NUMBER)
    begin = np.maximum.accumulate(np.where(np.append(True, ~alike), np.arange(len(order)), 0))[1:]
    first = dict(zip(order[1:][alike].tolist(), order[begin[alike]].tolist(), strict=True))
    return at_limit(
        "repeated-page",
        np.array(sorted(first, key=lambda at: int(pages["record"][at])), np.int64),
        side,
        lambda at: finding(
            "repeated-page", side.name, side.entry_line(at), id=ids[unit[at]], number=int(number[at]),
            first=side.entry_line(first[at]),
        ),
    )  # fmt: skip
