# SPDX-License-Identifier: Apache-2.0
"""RankingCells metrics over subtopics: a document counts less when its subtopic was covered before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.cells import Weights
from karat.contexts.ranking.cells import Level, RankingCells, discount, relevant, safe
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.mean import mean
from karat.contexts.ranking.rows import Floats, Ints, Rows
from karat.metric import metric
from karat.score import Values

_CLARKE = (
    "Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008, doi:10.1145/1390334.1390446"
)
_NO_SUBTOPIC = "no subtopic has a relevant document"
Worth = Callable[[Ints], Floats]
"""What a place of the ranking is worth."""


def _relevant(cells: RankingCells, rel: Level) -> Rows:
    return cells.aspects.where(relevant(cells.aspects, rel))


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


def _hits(cells: RankingCells, rel: Level, k: int | None) -> Rows:
    """The relevant judgements of documents among the first ``k``, by rank."""
    rows = _relevant(cells, rel)
    rows = rows.where((rows.rank > 0) & (rows.rank <= (rows.rank if k is None else k)))
    return rows.by(lambda part: part.rank)


def _novelty(cells: RankingCells, rel: Level, k: int | None, alpha: float, worth: Worth) -> Floats:
    """Σ worth(rank) · (1 − α)^(earlier documents of the subtopic), over the first ``k``."""
    within(0, 1, alpha=alpha)
    rows = _hits(cells, rel, k)
    return rows.sum(worth(rows.rank) * (1 - alpha) ** _covered_before(rows))


def _ideal_novelty(cells: RankingCells, rel: Level, k: int | None, alpha: float, worth: Worth) -> Floats:
    """The same for a ranking built greedily: always the document that gains most next.

    Ties go to the greater document id, as in ndeval; one pass of array work per place, over all queries.
    """
    rows = _relevant(cells, rel)
    pair, doc = _numbered(rows.query, rows.topic), _numbered(rows.query, rows.document)
    query_of = np.zeros(doc.max(initial=-1) + 1, np.int64)
    query_of[doc] = rows.query
    fresh, left = np.ones(pair.max(initial=-1) + 1), np.ones(len(query_of), bool)
    total = np.zeros(len(cells))
    documents = np.bincount(query_of, minlength=len(cells)).max(initial=0)
    for weight in worth(np.arange(1, 1 + int(documents if k is None else min(k, documents)))).tolist():
        # Rounded, so that a tie is a tie in whatever order the subtopics were added up.
        gain = np.where(left, np.bincount(doc, fresh[pair], len(left)).round(12), -1.0)
        best = _argmax(gain, query_of)
        total[query_of[best]] += weight * np.maximum(gain[best], 0.0)
        taken = best[left[best]]
        left[taken] = False
        fresh[pair[np.isin(doc, taken)]] *= 1 - alpha
    return total


def _numbered(query: Ints, value: Ints) -> Ints:
    return np.unique(query * (int(value.max(initial=0)) + 1) + value, return_inverse=True)[1]


def _argmax(gain: Floats, query: Ints) -> Ints:
    """Number of the best document of each query that has any."""
    order = np.lexsort((-np.arange(len(gain)), -gain, query))
    first = np.ones(len(gain), bool)
    first[1:] = query[order][1:] != query[order][:-1]
    return order[first]


def _inverse(place: Ints) -> Floats:
    return 1.0 / place


def _geometric(beta: float) -> Worth:
    within(0, 1, beta=beta)
    return lambda place: np.power(beta, place - 1.0)


def _topics(cells: RankingCells, rel: Level) -> Floats:
    rows = _relevant(cells, rel)
    return rows.sum(_covered_before(rows) == 0)


def _of_topic(cells: RankingCells, rel: Level, rows: Rows) -> Ints:
    """How many documents are relevant to the subtopic of each row."""
    good, topics = _relevant(cells, rel), int(cells.aspects.topic.max(initial=0)) + 1
    return np.bincount(good.query * topics + good.topic)[rows.query * topics + rows.topic]


def _most(cells: RankingCells, rel: Level, k: int | None, alpha: float, worth: Worth) -> Floats:
    """The novelty of ``k`` documents (or as many as retrieved) that all cover every subtopic of the query."""
    depth = cells.retrieved.astype(np.int64) if k is None else np.full(len(cells), k)
    place = np.arange(1, int(depth.max(initial=0)) + 1)
    novelty = (1 - alpha) ** (place - 1.0) * worth(place)
    return _topics(cells, rel) * np.concatenate([[0.0], np.cumsum(novelty)])[depth]


def _normalized(W: Weights, cells: RankingCells, rel: Level, k: int | None, alpha: float, worth: Worth) -> Values:
    """The novelty over that of the ideal ranking."""
    novelty, best = _novelty(cells, rel, k, alpha, worth), _ideal_novelty(cells, rel, k, alpha, worth)
    return mean(W, cells, safe(novelty, best), best > 0, _NO_SUBTOPIC)


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

    Σ_{i ≤ k} Σ_s (1 − α)^(n_s) / log2(i + 1) over the subtopics s of document i, n_s the earlier documents of s;
    ``normalize`` divides by what documents that all cover every subtopic would give (ndeval).
    Where no subtopic has a relevant document: 0, or undefined with ``--no-relevant undefined``.

    Example: documents {a}, {a}, α = 0.5: 1/1 + 0.5/log2 3 = 1.315.
    """
    novelty = _novelty(cells, rel, k, alpha, discount)
    novelty = safe(novelty, _most(cells, rel, k, alpha, discount)) if normalize else novelty
    return mean(W, cells, novelty, _topics(cells, rel) > 0, _NO_SUBTOPIC)


@metric(RankingCells, reference=_CLARKE, title="α-nDCG", unit_mean=True)
def alpha_ndcg(
    W: Weights, cells: RankingCells, *, k: int | None = None, alpha: float = 0.5, rel: Level = None
) -> Values:
    """α-DCG divided by that of a greedily built ideal ranking.

    α-nDCG@k = α-DCG@k / ideal α-DCG@k.
    Where no subtopic has a relevant document: 0, or undefined with ``--no-relevant undefined``.

    Example: documents {a}, {a} and {b} judged, ranking {a} {a}: (1 + 0.5/1.585) / (1 + 1/1.585) = 0.807.
    """
    return _normalized(W, cells, rel, k, alpha, discount)


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

    (1/S) Σ_s Σ_{i ≤ k} α·(1 − α)^(n_s) / i over documents of subtopic s, n_s the earlier ones; S subtopics have a
    relevant document, α is the chance that a document satisfies; ``normalize`` divides by what documents that all
    cover every subtopic would give (ndeval).
    Where S = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: subtopics a, b; documents {a}, {b}, α = 0.5: (0.5/1 + 0.5/2) / 2 = 0.375.
    """
    novelty, topics = _novelty(cells, rel, k, alpha, _inverse), _topics(cells, rel)
    novelty = safe(novelty, _most(cells, rel, k, alpha, _inverse)) if normalize else safe(alpha * novelty, topics)
    return mean(W, cells, novelty, topics > 0, _NO_SUBTOPIC)


@metric(RankingCells, reference=_CHAPELLE, title="nERR-IA", unit_mean=True)
def nerr_ia(W: Weights, cells: RankingCells, *, k: int | None = None, alpha: float = 0.5, rel: Level = None) -> Values:
    """ERR-IA divided by that of a greedily built ideal ranking.

    nERR-IA@k = ERR-IA@k / ideal ERR-IA@k.
    Where no subtopic has a relevant document: 0, or undefined with ``--no-relevant undefined``.

    Example: documents {a}, {a} and {b} judged, ranking {a} {a}, k = 2: (1 + 0.5/2) / (1 + 1/2) = 0.833.
    """
    return _normalized(W, cells, rel, k, alpha, _inverse)


_NOVELTY = (
    "Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009, "
    "doi:10.1007/978-3-642-04417-5_17"
)


@metric(RankingCells, reference=_NOVELTY, title="NRBP", unit_mean=True)
def nrbp(W: Weights, cells: RankingCells, *, alpha: float = 0.5, beta: float = 0.5, rel: Level = None) -> Values:
    """Rank-biased precision over subtopics in which repeating a subtopic gains less each time.

    ((1 − (1 − α)β) / S) Σ_i β^(i−1) Σ_s (1 − α)^(n_s) over the subtopics s of document i, n_s the earlier documents
    of s; S subtopics have a relevant document, β is the chance to go on.
    Where S = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: subtopics a, b; documents {a}, {b}, α = β = 0.5: (0.75/2) · (1 + 0.5) = 0.5625.
    """
    novelty, topics = _novelty(cells, rel, None, alpha, _geometric(beta)), _topics(cells, rel)
    return mean(W, cells, safe((1 - (1 - alpha) * beta) * novelty, topics), topics > 0, _NO_SUBTOPIC)


@metric(RankingCells, reference=_NOVELTY, title="nNRBP", unit_mean=True)
def nnrbp(W: Weights, cells: RankingCells, *, alpha: float = 0.5, beta: float = 0.5, rel: Level = None) -> Values:
    """NRBP divided by that of a greedily built ideal ranking.

    nNRBP = NRBP / ideal NRBP.
    Where no subtopic has a relevant document: 0, or undefined with ``--no-relevant undefined``.

    Example: documents {a}, {a} and {b} judged, ranking {a} {a}, α = β = 0.5:
    (1 + 0.5 · 0.5) / (1 + 0.5 + 0.25 · 0.5) = 0.769.
    """
    return _normalized(W, cells, rel, None, alpha, _geometric(beta))


_AGRAWAL = "Agrawal et al., Diversifying search results, WSDM 2009, doi:10.1145/1498759.1498766"


@metric(RankingCells, reference=_AGRAWAL, title="P-IA", unit_mean=True)
def precision_ia(W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None) -> Values:
    """Share of the first k documents that are relevant to a subtopic, averaged over the subtopics.

    (1/S) Σ_s (documents of subtopic s in the first k) / k; without k: / retrieved. S subtopics have a relevant
    document.
    Where S = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: subtopics a, b; documents {a}, {a, b}, k = 4: (2/4 + 1/4) / 2 = 0.375.
    """
    topics = _topics(cells, rel)
    size = cells.retrieved if k is None else float(k)
    return mean(W, cells, safe(_hits(cells, rel, k).size, size * topics), topics > 0, _NO_SUBTOPIC)


@metric(RankingCells, reference=_AGRAWAL, title="AP-IA", unit_mean=True)
def average_precision_ia(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Average precision for each subtopic, averaged over the subtopics.

    (1/S) Σ_s (1/R_s) Σ P_s@i over the ranks i of the documents of subtopic s; R_s are relevant to it, and S
    subtopics have a relevant document.
    Where S = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: subtopics a, b; documents {a}, {b} are all that are relevant: (1/1 + 1/2) / 2 = 0.75.
    """
    rows, topics = _hits(cells, rel, None), _topics(cells, rel)
    precision = (1 + _covered_before(rows)) / rows.rank
    return mean(W, cells, safe(rows.sum(precision / _of_topic(cells, rel, rows)), topics), topics > 0, _NO_SUBTOPIC)


@metric(
    RankingCells,
    reference="Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003, doi:10.1145/860435.860440",
    unit_mean=True,
)
def subtopic_recall(W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None) -> Values:
    """Share of a query's subtopics that the first k documents cover, averaged over queries.

    (subtopics with a relevant document in the first k) / (subtopics with one at all).
    Where no subtopic has one: 0, or undefined with ``--no-relevant undefined``.

    Example: subtopics a, b; documents {a}, {a}: 1/2 = 0.5.
    """
    hits, topics = _hits(cells, rel, k), _topics(cells, rel)
    covered = hits.sum(_covered_before(hits) == 0)
    return mean(W, cells, safe(covered, topics), topics > 0, _NO_SUBTOPIC)
