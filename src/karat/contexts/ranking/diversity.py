# SPDX-License-Identifier: Apache-2.0
"""RankingCells metrics over subtopics: a document counts less when its subtopic was covered before."""

from __future__ import annotations

import numpy as np

from karat.cells import Weights
from karat.contexts.ranking.cells import Level, RankingCells, discount, safe
from karat.contexts.ranking.mean import mean
from karat.contexts.ranking.rows import Floats, Ints, Rows
from karat.metric import metric
from karat.score import Values

_CLARKE = (
    "Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008, doi:10.1145/1390334.1390446"
)
_NO_SUBTOPIC = "no subtopic has a relevant document"


def _relevant(cells: RankingCells, rel: Level) -> Rows:
    grade = cells.aspects.grade
    return cells.aspects.where(grade > 0 if rel is None else grade >= max(rel, 0))


def _covered_before(rows: Rows) -> Ints:
    """Earlier documents of the same subtopic, for rows that are in rank order."""
    order = np.lexsort((np.arange(len(rows)), rows.topic, rows.query))
    query, topic = rows.query[order], rows.topic[order]
    new = np.ones(len(rows), bool)
    new[1:] = (query[1:] != query[:-1]) | (topic[1:] != topic[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))
    out = np.empty(len(rows), np.int64)
    out[order] = np.arange(len(rows)) - first
    return out


def _novelty(cells: RankingCells, rel: Level, k: int | None, alpha: float, weight: Floats) -> Floats:
    """Σ weight(rank) · (1 − α)^(earlier documents of the subtopic), over the first ``k``."""
    rows = _relevant(cells, rel)
    rows = rows.where((rows.rank > 0) & (rows.rank <= (rows.rank if k is None else k)))
    rows = rows.by(rows.rank)
    return rows.sum(weight[rows.rank] * (1 - alpha) ** _covered_before(rows))


def _ideal_novelty(cells: RankingCells, rel: Level, k: int | None, alpha: float, weight: Floats) -> Floats:
    """The same for a ranking built greedily: always the document that gains most next.

    Ties go to the greater document id, as in ndeval; one pass of array work per place, over all queries.
    """
    rows = _relevant(cells, rel)
    pair, doc = _numbered(rows.query, rows.topic), _numbered(rows.query, rows.document)
    query_of = np.zeros(doc.max(initial=-1) + 1, np.int64)
    query_of[doc] = rows.query
    worth, left = np.ones(pair.max(initial=-1) + 1), np.ones(len(query_of), bool)
    total = np.zeros(len(cells))
    documents = np.bincount(query_of, minlength=len(cells)).max(initial=0)
    for place in range(1, 1 + int(documents if k is None else min(k, documents))):
        # Rounded, so that a tie is a tie in whatever order the subtopics were added up.
        gain = np.where(left, np.bincount(doc, worth[pair], len(left)).round(12), -1.0)
        best = _argmax(gain, query_of, len(cells))
        total[query_of[best]] += weight[place] * np.maximum(gain[best], 0.0)
        taken = best[left[best]]
        left[taken] = False
        worth[pair[np.isin(doc, taken)]] *= 1 - alpha
    return total


def _numbered(query: Ints, value: Ints) -> Ints:
    return np.unique(query * (int(value.max(initial=0)) + 1) + value, return_inverse=True)[1]


def _argmax(gain: Floats, query: Ints, queries: int) -> Ints:
    """Number of the best document of each query that has any."""
    order = np.lexsort((-np.arange(len(gain)), -gain, query))
    first = np.ones(len(gain), bool)
    first[1:] = query[order][1:] != query[order][:-1]
    return order[first]


def _weights(cells: RankingCells, of: str) -> Floats:
    last = int(max(cells.retrieved.max(initial=0), cells.aspects.size.max(initial=0))) + 1
    place = np.arange(1, last + 1)
    return np.concatenate([[0.0], discount(place) if of == "log" else 1.0 / place])


def _topics(cells: RankingCells, rel: Level) -> Floats:
    rows = _relevant(cells, rel)
    return rows.sum(_covered_before(rows) == 0)


def _most(cells: RankingCells, rel: Level, k: int | None, alpha: float, of: str) -> Floats:
    """The novelty of ``k`` documents (or as many as retrieved) that all cover every subtopic of the query."""
    depth = cells.retrieved.astype(np.int64) if k is None else np.full(len(cells), k)
    place = np.arange(1, int(depth.max(initial=0)) + 1)
    each = (1 - alpha) ** (place - 1.0) * (discount(place) if of == "log" else 1.0 / place)
    return _topics(cells, rel) * np.concatenate([[0.0], np.cumsum(each)])[depth]


@metric(RankingCells, bounds=(0, np.inf), reference=_CLARKE, title="α-DCG", unit_mean=True)
def alpha_dcg(
    W: Weights,
    cells: RankingCells,
    *,
    k: int | None = None,
    alpha: float = 0.5,
    rel: Level = None,
    normalize: bool = False,
) -> Values:
    """DCG over subtopics in which repeating a subtopic gains less each time.

    Σ_{i ≤ k} Σ_s (1 − α)^(earlier documents of s) / log2(i + 1), s over the subtopics of document i;
    ``normalize`` divides by what documents that all cover every subtopic would give (ndeval).
    Undefined where no subtopic has a relevant document.

    Example: documents {a}, {a}, α = 0.5: 1/1 + 0.5/log2 3 = 1.315.
    """
    each = _novelty(cells, rel, k, alpha, _weights(cells, "log"))
    each = safe(each, _most(cells, rel, k, alpha, "log")) if normalize else each
    return mean(W, cells, each, _topics(cells, rel) > 0, _NO_SUBTOPIC)


@metric(RankingCells, reference=_CLARKE, title="α-nDCG", unit_mean=True)
def alpha_ndcg(
    W: Weights, cells: RankingCells, *, k: int | None = None, alpha: float = 0.5, rel: Level = None
) -> Values:
    """α-DCG divided by that of a greedily built ideal ranking.

    α-nDCG@k = α-DCG@k / ideal α-DCG@k. Undefined where no subtopic has a relevant document.

    Example: documents {a}, {a} and {b} judged, ranking {a} {a}: (1 + 0.5/1.585) / (1 + 1/1.585) = 0.807.
    """
    weight = _weights(cells, "log")
    best = _ideal_novelty(cells, rel, k, alpha, weight)
    return mean(W, cells, safe(_novelty(cells, rel, k, alpha, weight), best), best > 0, _NO_SUBTOPIC)


_CHAPELLE = (
    "Chapelle et al., Intent-based diversification of web search results, Information Retrieval 14 2011, "
    "doi:10.1007/s10791-011-9167-7"
)


@metric(RankingCells, reference=_CHAPELLE, title="ERR-IA", unit_mean=True)
def err_ia(
    W: Weights,
    cells: RankingCells,
    *,
    k: int | None = None,
    alpha: float = 0.5,
    rel: Level = None,
    normalize: bool = False,
) -> Values:
    """Expected reciprocal rank, averaged over the subtopics of a query.

    (1/S) Σ_s Σ_{i ≤ k} α·(1 − α)^(earlier documents of s) / i over documents of subtopic s; S subtopics have
    a relevant document, α is the chance that a document satisfies; ``normalize`` divides by what documents
    that all cover every subtopic would give (ndeval). Undefined where S = 0.

    Example: subtopics a, b; documents {a}, {b}, α = 0.5: (0.5/1 + 0.5/2) / 2 = 0.375.
    """
    each = _novelty(cells, rel, k, alpha, _weights(cells, "inverse"))
    topics = _topics(cells, rel)
    most = _most(cells, rel, k, alpha, "inverse") if normalize else topics / alpha
    return mean(W, cells, safe(each, most), topics > 0, _NO_SUBTOPIC)


@metric(RankingCells, reference=_CHAPELLE, title="nERR-IA", unit_mean=True)
def nerr_ia(W: Weights, cells: RankingCells, *, k: int | None = None, alpha: float = 0.5, rel: Level = None) -> Values:
    """ERR-IA divided by that of a greedily built ideal ranking.

    nERR-IA@k = ERR-IA@k / ideal ERR-IA@k. Undefined where no subtopic has a relevant document.

    Example: documents {a}, {a} and {b} judged, ranking {a} {a}, k = 2: (1 + 0.5/2) / (1 + 1/2) = 0.833.
    """
    weight = _weights(cells, "inverse")
    best = _ideal_novelty(cells, rel, k, alpha, weight)
    return mean(W, cells, safe(_novelty(cells, rel, k, alpha, weight), best), best > 0, _NO_SUBTOPIC)


@metric(
    RankingCells,
    reference="Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003, doi:10.1145/860435.860440",
)
def subtopic_recall(W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None) -> Values:
    """Share of a query's subtopics that the first k documents cover, averaged over queries.

    Subtopics with a relevant document in the first k / subtopics with one at all.
    Undefined where there is none.

    Example: subtopics a, b; documents {a}, {a}: 1/2 = 0.5.
    """
    rows = _relevant(cells, rel)
    inside = rows.where((rows.rank > 0) & (rows.rank <= (rows.rank if k is None else k)))
    covered = inside.sum(_covered_before(inside) == 0)
    topics = _topics(cells, rel)
    return mean(W, cells, safe(covered, topics), topics > 0, _NO_SUBTOPIC)
