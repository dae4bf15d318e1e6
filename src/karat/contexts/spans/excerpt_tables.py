# SPDX-License-Identifier: Apache-2.0
"""Tables of pages with excerpts: counts, scores by credit and average, poems, works, and the list of what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.contexts.lazy_table import LISTED, SCORES, LaterDetail
from karat.contexts.spans.cells import SpansCells
from karat.contexts.spans.data import RULE, SpanData
from karat.contexts.spans.excerpts import Excerpts, Floats
from karat.contexts.spans.span import Ints, counts, totals
from karat.evaluation import Detail

_OF_WORK = re.compile(r"(.+)[_/:.-]\d+")
"""A page id that is a work's id and a page number."""

CREDITS = {"graded": (RULE, 1.0), "exact only": (RULE, 0.0), "any overlap": (replace(RULE, factor="any"), 1.0)}
"""What a match that is not exact is worth: its factor, nothing, or as much as an exact one."""


def excerpt_tables(cells: SpansCells) -> list[Detail]:
    """None where the file does not say that its spans are excerpts: entities have no pages and no poems."""
    if not cells.data.paged:
        return []
    tables: list[Detail] = [
        LaterDetail("excerpts", "Page excerpts", ["count", "number"], lambda: _counts(cells.data)),
    ]
    head = ["references", "retrieved", "matched", "missed", "spurious", *SCORES]
    tables.append(
        LaterDetail(
            "excerpt-scores", "Page excerpts by credit", ["credit", "over", *SCORES], lambda: _scores(cells.data)
        )
    )
    tables.append(
        LaterDetail("poems", f"Poems (the {LISTED:,} with most excerpts)", ["poem", *head], lambda: _poems(cells.data))
    )
    if cells.data.units and _OF_WORK.fullmatch(cells.data.ids[0]):
        tables.append(
            LaterDetail(
                "works", f"Works (the {LISTED:,} with most excerpts)", ["work", *head], lambda: _works(cells.data)
            )
        )
    title = f"Excerpts missed, spurious or not exact (first {LISTED:,})"
    tables.append(LaterDetail("excerpt-list", title, _LISTED, lambda: _list(cells.data)))
    return tables


def _counts(data: SpanData) -> list[list[Any]]:
    pages = data.pages()
    names = ("matched", "missed", "spurious", "poems_matched", "poems_missed", "poems_spurious")
    rows: list[list[Any]] = [[name.replace("_", " "), int(getattr(pages, name).sum())] for name in names]
    empty = int(((pages.gold == 0) & (pages.pred == 0)).sum())
    return [*rows, ["pages", len(pages.gold)], ["pages empty on both sides", empty]]


def _scores(data: SpanData) -> list[list[Any]]:
    """Precision, recall and F1 for each credit: mean over pages, over pages with spans, and of the sums."""
    out = []
    for credit, (rule, weight) in CREDITS.items():
        pages = data.pages(rule, weight)
        used = (pages.gold > 0) | (pages.pred > 0)
        scores = (pages.precision, pages.recall, pages.f1)
        sums = [(pages.relevance.sum(), below.sum()) for below in (pages.retrieved, pages.gold, pages.halves)]
        out.append([credit, "pages", *(_share(x.sum(), len(x)) for x in scores)])
        out.append([credit, "nonempty", *(_share(x[used].sum(), used.sum()) for x in scores)])
        out.append([credit, "pooled", *(_share(*pair) for pair in sums)])
    return out


def _share(above: Any, below: Any) -> float | None:
    return float(above / below) if below else None


def _poems(data: SpanData) -> list[list[Any]]:
    excerpts = data.excerpts()
    return _grouped(excerpts, excerpts.gold.label, excerpts.pred.label, data.labels)


def _works(data: SpanData) -> list[list[Any]]:
    excerpts, place = data.excerpts(), dict[str, int]()
    names = (_OF_WORK.fullmatch(page) for page in data.ids)
    work = [name[1] if name else page for name, page in zip(names, data.ids, strict=True)]
    code = np.array([place.setdefault(name, len(place)) for name in work], dtype=np.int64)
    return _grouped(excerpts, code[excerpts.gold.unit], code[excerpts.pred.unit], list(place))


def _grouped(excerpts: Excerpts, gold: Ints, pred: Ints, names: Sequence[str]) -> list[list[Any]]:
    """Counts and pooled scores of groups, given the group of each reference and of each system span."""
    size = len(names)
    references, matched = counts(gold, size), counts(gold[excerpts.chosen], size)
    retrieved = totals(pred, np.maximum(excerpts.taken, 1), size).astype(np.int64)
    spurious = counts(pred[excerpts.taken == 0], size)
    relevance = totals(gold[excerpts.rows], excerpts.credit(1.0), size)
    largest = np.lexsort((np.arange(size), -retrieved, -references))[:LISTED].tolist()
    columns = [c.tolist() for c in (references, retrieved, matched, references - matched, spurious)]
    return [[names[i], *(c[i] for c in columns), *_three(relevance[i], retrieved[i], references[i])] for i in largest]


def _three(relevance: Floats, retrieved: Ints, references: Ints) -> list[float | None]:
    return [_share(relevance, retrieved), _share(relevance, references), _share(2 * relevance, retrieved + references)]


_LISTED = ["page", "kind", "poem", "start", "end", "system start", "system end", "factor"]


def _list(data: SpanData) -> list[list[Any]]:
    """What is not exact, page by page in the order of the places."""
    return [row for _, row in sorted(_wrong(data), key=lambda pair: pair[0])][:LISTED]


def _wrong(data: SpanData) -> Iterator[tuple[tuple[int, int], list[Any]]]:
    excerpts = data.excerpts()
    gold, pred = excerpts.gold, excerpts.pred
    for row in np.flatnonzero(~excerpts.chosen)[:LISTED].tolist():
        place = int(gold.start[row]), int(gold.end[row])
        poem = data.labels[gold.label[row]]
        yield (int(gold.unit[row]), place[0]), [data.ids[gold.unit[row]], "missed", poem, *place, None, None, None]
    for row in np.flatnonzero(excerpts.taken == 0)[:LISTED].tolist():
        place, poem = (int(pred.start[row]), int(pred.end[row])), data.labels[pred.label[row]]
        yield (int(pred.unit[row]), place[0]), [data.ids[pred.unit[row]], "spurious", poem, None, None, *place, None]
    partial = np.flatnonzero(~excerpts.exact)
    for nth in partial[np.argsort(excerpts.rows[partial], kind="stable")][:LISTED].tolist():
        row, piece = int(excerpts.rows[nth]), (int(excerpts.piece_start[nth]), int(excerpts.piece_end[nth]))
        place, poem = (int(gold.start[row]), int(gold.end[row])), data.labels[gold.label[row]]
        line = [data.ids[gold.unit[row]], "partial", poem, *place, *piece, float(excerpts.factor[nth])]
        yield (int(gold.unit[row]), place[0]), line
