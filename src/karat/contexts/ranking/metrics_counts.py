# SPDX-License-Identifier: Apache-2.0
"""RankingCells metrics that count: documents, judgements, and lists taken as sets."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from karat.cells import Weights
from karat.contexts.ranking.cells import Level, RankingCells, safe
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.mean import NO_RELEVANT, mean
from karat.contexts.ranking.rows import Floats
from karat.metric import Better, Definition, metric
from karat.score import Values, defined

_TREC_EVAL = "Buckley, trec_eval 9, https://github.com/usnistgov/trec_eval"


def count(title: str, better: Better = "neither") -> Callable[[Callable[..., Values]], Definition]:
    """Declare a metric that adds up over queries."""
    facts = {"pooled": True, "tags": frozenset({"sum"})}
    return metric(RankingCells, better=better, bounds=(0, np.inf), reference=_TREC_EVAL, title=title, **facts)


def _total(W: Weights, cells: RankingCells, x: object) -> Values:
    """Sum over the counted queries: counts add up, they are not averaged."""
    return defined(W @ (np.asarray(x, float) * cells.counted), True, "")


@count("Queries")
def num_q(W: Weights, cells: RankingCells) -> Values:
    """Queries that were scored.

    Never undefined.

    Example: 3 gold queries, one left out: 2.
    """
    return _total(W, cells, cells.ones)


@count("Retrieved")
def num_ret(W: Weights, cells: RankingCells) -> Values:
    """Documents retrieved.

    Never undefined.

    Example: lists of 3 and 2 documents: 5.
    """
    return _total(W, cells, cells.retrieved)


@count("Relevant")
def num_rel(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Relevant documents in the judgements.

    Never undefined.

    Example: queries with 2 and 1 relevant documents: 3.
    """
    return _total(W, cells, cells.relevant(rel))


@count("Relevant retrieved", "higher")
def num_rel_ret(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Relevant documents that were retrieved.

    Never undefined.

    Example: rankings r n r and n r: 3.
    """
    return _total(W, cells, cells.hits(rel).size)


@count("Non-relevant judged retrieved", "lower")
def num_nonrel_judged_ret(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Documents retrieved that were judged not relevant.

    Never undefined.

    Example: ranking r n u with u unjudged: 1.
    """
    return _total(W, cells, cells.shown.size - cells.hits(rel).size)


def _judged_of_first(cells: RankingCells, k: int | None) -> tuple[Floats, Floats]:
    """How many of the first ``k`` documents were judged, and how many there are."""
    within(0, inf, k=k)
    if k is None:
        return cells.shown.sum(), cells.retrieved
    return cells.shown.sum(cells.shown.rank <= k), np.minimum(cells.retrieved, k)


@metric(RankingCells, reference=_TREC_EVAL, better="neither", unit_mean=True)
def judged(W: Weights, cells: RankingCells, *, k: int | None = None) -> Values:
    """Share of the first k documents that were judged, averaged over queries.

    (judged in the first k) / min(k, retrieved).
    Where nothing is retrieved: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r u n, k = 2: 1/2 = 0.5.
    """
    seen, size = _judged_of_first(cells, k)
    return mean(W, cells, safe(seen, size), size > 0, "nothing retrieved")


@metric(RankingCells, reference=_TREC_EVAL, better="lower", unit_mean=True)
def unjudged(W: Weights, cells: RankingCells, *, k: int | None = None) -> Values:
    """Share of the first k places that hold a document without a judgement (trec_eval's unj).

    (unjudged in the first k) / k; without k over the documents retrieved.
    Where nothing is retrieved and no k is set: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r u n, k = 5: 1/5 = 0.2.
    """
    seen, size = _judged_of_first(cells, k)
    places = size if k is None else np.full(len(cells), float(k))
    return mean(W, cells, safe(size - seen, places), places > 0, "nothing retrieved")


@metric(RankingCells, reference=_TREC_EVAL, title="Relative P", unit_mean=True)
def relative_precision(W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None) -> Values:
    """Precision of the first k documents against the best precision possible there.

    (relevant in the first k) / min(k, R); without k, k is the number retrieved.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n n, R = 2, k = 3: 1/2 = 0.5.
    """
    total = cells.relevant(rel)
    size = np.minimum(cells.retrieved if k is None else float(k), total)
    return mean(W, cells, safe(cells.hit_count(rel, k), size), total > 0, NO_RELEVANT, any_order=True)


@metric(RankingCells, reference=_TREC_EVAL, title="Set MAP", unit_mean=True)
def set_map(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Precision times recall of the whole list: the average precision of an unordered set.

    (relevant retrieved)² / (retrieved · R).
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: 2 of 4 retrieved are relevant, R = 4: (2/4)(2/4) = 0.25.
    """
    total, hits = cells.relevant(rel), cells.hit_count(rel)
    per_query = safe(hits * hits, cells.retrieved * total)
    return mean(W, cells, per_query, total > 0, NO_RELEVANT, any_order=True)


@metric(RankingCells, bounds=(-np.inf, np.inf), reference=_TREC_EVAL, unit_mean=True)
def utility(
    W: Weights,
    cells: RankingCells,
    *,
    found: float = 1.0,
    wrong: float = -1.0,
    missed: float = 0.0,
    rel: Level = None,
) -> Values:
    """Worth of the list as a set: so much for each relevant, wrong and missed document.

    found·(relevant retrieved) + wrong·(others retrieved) + missed·(relevant not retrieved).
    Never undefined for a counted query.

    Example: 2 relevant of 5 retrieved: 2 − 3 = −1.
    """
    total, hit = cells.relevant(rel), cells.hit_count(rel)
    return mean(W, cells, found * hit + wrong * (cells.retrieved - hit) + missed * (total - hit), any_order=True)
