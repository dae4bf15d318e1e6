# SPDX-License-Identifier: Apache-2.0
"""The cells of rankings: one per query, with the judged documents and where the system put them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from karat.cells import Cells
from karat.columns import ranked
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.rows import Floats, Ints, Rows
from karat.state import stored

Mask = NDArray[np.bool_]
SHOWN = 5
"""Ranks that a list of errors shows of a query."""
Level = int | float | None
"""Lowest grade that counts as relevant; None for every grade above 0."""


@stored("ranking-cells")
class RankingCells(Cells):
    """Queries with their judged documents.

    ``judged`` holds, for each judged document: ``grade`` (below 0: in the pool but not judged),
    ``rank`` (0: not retrieved), ``ahead`` (documents with a better score) and ``tied`` (documents
    with the same score, itself included); retrieved ones first, by rank. ``aspects`` holds one row
    per judgement of a subtopic. Nothing about the other documents is needed but their number.
    """

    per_cell = ("retrieved", "counted", "judged", "aspects", "top_grade")
    classes: list[str]
    run_id = ""
    """What the run calls itself."""
    tied_documents = 0
    """Documents, judged or not, that share their score with another of their query."""

    def __init__(
        self,
        test_cases: Sequence[str],
        retrieved: Any,
        judged: Rows,
        aspects: Rows | None,
        counted: Any,
        ties: str,
        no_relevant: Literal["zero", "undefined"],
        top_grade: float,
    ) -> None:
        queries = len(test_cases)
        super().__init__(np.ones(queries), np.arange(queries), test_cases)
        self.retrieved: Floats = np.asarray(retrieved, float)
        self.judged = judged.by(_place)
        self.aspects = aspects if aspects is not None else _one_aspect(self.judged)
        self.counted: Floats = np.ones(queries) if counted is None else np.asarray(counted, float)
        """0 for queries that are left out of every mean."""
        self.ties, self.no_relevant = ties, no_relevant
        self.top_grade: Floats = np.full(queries, top_grade)
        """Highest grade of the whole collection."""

    @property
    def counts(self) -> Mask:
        return self.counted > 0

    def blocks(self) -> Iterator[Self]:
        return (self.take(np.arange(first, last)) for first, last in self.judged.cuts())

    def answers(self, cell: int) -> tuple[str, str]:
        """How many documents are relevant, and the ranks at which the first of them stand."""
        mine = slice(*self.judged.start[cell : cell + 2].tolist())
        relevant = self.is_relevant(None)[mine]
        ranks = sorted(r for r in self.judged.rank[mine][relevant].tolist() if r > 0)
        shown = ", ".join(map(str, ranks[:SHOWN])) + (", …" if len(ranks) > SHOWN else "")
        return f"{int(relevant.sum())} relevant", f"{len(ranks)} found" + (f", at {shown}" if ranks else "")

    @cached_property
    def condensed(self) -> RankingCells:
        """The same queries with every unjudged document taken out of the ranking."""
        kept = self.judged.where(self.judged.grade >= 0)
        placed = kept.where(kept.rank > 0)
        block = np.concatenate([[0], np.flatnonzero(np.diff(placed.ahead) | np.diff(placed.query)) + 1, [len(placed)]])
        size = np.diff(block)
        ahead = np.repeat(placed.nth()[block[:-1]] - 1 if len(placed) else size, size)
        moved = [c.copy() for c in (kept.rank, kept.ahead, kept.tied)]
        for column, new in zip(moved, (placed.nth(), ahead, np.repeat(size, size)), strict=True):
            column[kept.rank > 0] = new
        out = self.take(np.arange(len(self)))
        out.judged = kept.with_columns(rank=moved[0], ahead=moved[1], tied=moved[2])
        out.retrieved = placed.size.astype(float)
        return out

    def seen(self, judged_only: bool) -> RankingCells:
        return self.condensed if judged_only else self

    def cut(self, depth: int) -> Self:
        """The same queries with every list cut after ``depth`` documents."""
        out = self.take(np.arange(len(self)))
        rank = np.where(self.judged.rank <= depth, self.judged.rank, 0)
        out.judged = self.judged.with_columns(rank=rank)
        out.aspects = self.aspects.with_columns(rank=np.where(self.aspects.rank <= depth, self.aspects.rank, 0))
        out.retrieved = np.minimum(self.retrieved, depth)
        return out

    def is_relevant(self, rel: Level) -> Mask:
        return relevant(self.judged, rel)

    @cached_property
    def shown(self) -> Rows:
        """The judged documents that were retrieved, by rank; those in the pool only are not among them."""
        return self.judged.where((self.judged.rank > 0) & (self.judged.grade >= 0))

    @cached_property
    def _known(self) -> dict[Any, Any]:
        """What several metrics ask for: relevant documents by level, hits by level and depth."""
        return {}

    def relevant(self, rel: Level = None) -> Floats:
        """Relevant documents of each query."""
        if rel not in self._known:
            self._known[rel] = self.judged.count(self.is_relevant(rel)).astype(float)
        return self._known[rel]

    def hits(self, rel: Level = None, k: int | None = None) -> Rows:
        """The relevant documents that were retrieved (in the first ``k``), by rank."""
        if (rel, k) not in self._known:
            within(0, inf, k=k)
            rows = self.judged if k is None else self.hits(rel)
            self._known[rel, k] = rows.where(self.is_relevant(rel) & (rows.rank > 0) if k is None else rows.rank <= k)
        return self._known[rel, k]

    def hit_count(self, rel: Level = None, k: int | None = None) -> Floats:
        """Relevant documents among the first ``k``; their expected number where ties are averaged."""
        if self.ties != "average" or k is None:
            return self.hits(rel, k).size.astype(float)
        hits = self.hits(rel)
        return hits.sum(np.clip(k - hits.ahead, 0, hits.tied) / hits.tied)

    def needing(self, ok: Mask | Floats) -> Floats:
        """1 for queries that count in a mean; one without what a measure needs counts unless asked not to."""
        return self.counted if self.no_relevant == "zero" else self.counted * ok

    @cached_property
    def ideal(self) -> Rows:
        """The documents with a grade above 0, by falling grade; those of one grade in the order of the system."""
        worth = self.judged.where(self.judged.grade > 0)
        return worth.by(lambda rows: -rows.grade)


def _place(judged: Rows) -> Ints:
    """Ranks; sums must not depend on the order of a file, so that documents that were not retrieved follow by falling grade."""
    behind = judged.rank.max(initial=0) + 1 + ranked(-judged.grade)
    return np.where(judged.rank > 0, judged.rank, behind)


def _one_aspect(judged: Rows) -> Rows:
    """Judgements without subtopics: each query has a single one."""
    return Rows(
        judged.start,
        rank=judged.rank,
        grade=judged.grade,
        topic=np.broadcast_to(0, len(judged)),
        document=np.arange(len(judged), dtype=np.int32),
    )


def relevant(rows: Rows, rel: Level) -> Mask:
    """Which rows have a grade above 0, or of ``rel`` and more; a grade below 0 is no judgement."""
    grade = rows.grade
    return grade > 0 if rel is None else (grade >= rel) & (grade >= 0)


def safe(num: Any, den: Any) -> Floats:
    """``num / den``, 0 where ``den`` is 0: for queries whose weight in the mean is decided elsewhere."""
    num, den = np.broadcast_arrays(np.asarray(num, float), np.asarray(den, float))
    return np.divide(num, den, out=np.zeros(num.shape), where=den != 0)


def discount(rank: Ints) -> Floats:
    """1 / log2(rank + 1); read from a table, because most ranks come often."""
    last = int(rank.max(initial=0))
    if last > len(rank):
        return 1.0 / np.log2(rank + 1.0)
    return np.concatenate([[0.0], 1.0 / np.log2(np.arange(2.0, last + 2))])[rank]
