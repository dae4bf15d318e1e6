# SPDX-License-Identifier: Apache-2.0
"""Timeline of page streams: gold files above predicted files, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from karat.evaluation import Detail
from karat.report.charts import svg

PAGE, BAR, GAP, LEFT = 12, 14, 10, 150
"""Width of a page, height of a bar, space below a pair of bars, space for names, in pixels."""


def timeline(detail: Detail, link: Callable[[str], str] | None = None) -> str:
    """An SVG of the detail table called timeline; a file that only one side has is red, and ``link`` leads to a bundle.

    >>> rows = [["a", 1, "gold", "|-|"], ["a", 1, "pred", "|--"]]
    >>> timeline(Detail("timeline", "Files", ["bundle", "page", "side", "files"], rows)).count("<rect")
    3
    """
    pairs = list(zip(detail.rows[::2], detail.rows[1::2], strict=True))
    side = svg.side([_name(gold) for gold, _ in pairs], LEFT) + 8
    width = side + PAGE * max((len(gold[3]) for gold, _ in pairs), default=0) + 8
    parts = [svg.text(0, 14, svg.fitted(detail.title, max(width, 300)), css="title", title=detail.title)]
    for i, pair in enumerate(pairs):
        y = 28 + i * (2 * BAR + GAP)
        parts += _bundle(*pair, side, y=y)
        if link:
            parts.append(svg.linked(link(str(pair[0][0])), _name(pair[0]), svg.rect(0, y, width, 2 * BAR, opacity=0)))
    return svg.document(max(width, 300), 28 + len(pairs) * (2 * BAR + GAP), parts, detail.title)


def _name(gold: Sequence[Any]) -> str:
    return str(gold[0]) if gold[1] == 1 else f"{gold[0]} from {gold[1]}"


def _bundle(gold: Sequence[Any], pred: Sequence[Any], side: float, y: float) -> Iterator[str]:
    """Both bars of one stretch of pages."""
    name, shown = _name(gold), svg.fitted(_name(gold), side - 12)
    yield svg.text(side - 8, y + BAR, shown, anchor="end", title=name if shown != name else "")
    above, below = (list(_files(row[3].rstrip(), row[1])) for row in (gold, pred))
    for file in above:
        yield _bar("gold", file, file in below, side, y, gold[1])
    for file in below:
        yield _bar("predicted", file, file in above, side, y + BAR, gold[1])


def _files(marks: str, page: int) -> Iterator[tuple[int, int]]:
    """First and last page of each file."""
    starts = [i for i, mark in enumerate(marks) if mark == "|" or i == 0]
    for a, b in pairwise([*starts, len(marks)]):
        yield page + a, page + b - 1


def _bar(whose: str, file: tuple[int, int], right: bool, left: float, y: float, page: int) -> str:
    first, last = file
    label = f"{whose} file: page{'s' if last > first else ''} {first}" + (f"-{last}" if last > first else "")
    x, width = left + (first - page) * PAGE, (last - first + 1) * PAGE - 2
    return svg.rect(x, y, width, BAR - 2, css="good" if right else "bad", opacity=0.55, title=label)
