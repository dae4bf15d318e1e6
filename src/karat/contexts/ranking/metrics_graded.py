# SPDX-License-Identifier: Apache-2.0
"""RankingCells metrics that see how relevant a document is."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Weights
from karat.contexts.ranking.cells import Level, RankingCells, discount, safe
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.mean import NO_RELEVANT, mean
from karat.contexts.ranking.rows import Floats, Ints, Rows
from karat.contexts.ranking.ties import mean_discount
from karat.metric import MetricError, metric
from karat.score import Values

_JARVELIN = (
    "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4) 2002, "
    "doi:10.1145/582415.582418"
)
_CHAPELLE = "Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009, doi:10.1145/1645953.1646033"
_MOFFAT = "Moffat and Zobel, Rank-biased precision, TOIS 27(1) 2008, doi:10.1145/1416950.1416952"
_TREC_EVAL = "Buckley, trec_eval 9, https://github.com/usnistgov/trec_eval"
Gain = Literal["linear", "exponential"]
_STEEP = 1000.0
"""Grades up to which sums of 2^grade stay finite."""


def gains(rows: Rows, gain: Gain) -> Floats:
    """Gain of each document: its grade g (0 if negative), or 2^g − 1."""
    grade = np.maximum(rows.grade, 0.0)
    if gain == "linear":
        return grade
    if grade.max(initial=0.0) > _STEEP:
        raise MetricError(f"a grade of {grade.max():g} has no exponential gain: 2^grade passes the largest number")
    return np.exp2(grade) - 1.0


def _dcg(cells: RankingCells, gain: Gain, k: int | None) -> Floats:
    if cells.ties == "average":
        hits = cells.hits()
        return hits.sum(gains(hits, gain) * mean_discount(hits, k))
    hits = cells.hits(k=k)
    return hits.sum(gains(hits, gain) * discount(hits.rank))


def _ideal_dcg(cells: RankingCells, gain: Gain, k: int | None) -> Floats:
    place = cells.ideal.nth()
    value = gains(cells.ideal, gain) * discount(place)
    return cells.ideal.sum(value if k is None else value * (place <= k))


@metric(RankingCells, bounds=(0, np.inf), reference=_JARVELIN, title="DCG", unit_mean=True)
def dcg(
    W: Weights, cells: RankingCells, *, k: int | None = None, gain: Gain = "linear", judged_only: bool = False
) -> Values:
    """Gains of the first k documents, each divided by the logarithm of its rank.

    DCG@k = Σ_{i ≤ k} gain(i) / log2(i + 1); gain is the grade, or 2^grade − 1; documents that are unjudged or of
    negative grade gain 0.
    Where no document has a grade above 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 2 0 1: 2/1 + 0 + 1/2 = 2.5.
    """
    per_query = _dcg(cells.seen(judged_only), gain, k)
    return mean(W, cells, per_query, cells.relevant() > 0, NO_RELEVANT, any_order=True)


@metric(RankingCells, bounds=(0, np.inf), reference=_JARVELIN, title="Ideal DCG", better="neither", unit_mean=True)
def ideal_dcg(W: Weights, cells: RankingCells, *, k: int | None = None, gain: Gain = "linear") -> Values:
    """The DCG that the best order of the judged documents would have.

    Σ_{i ≤ k} gain(i) / log2(i + 1) over the judged documents by falling grade. Never undefined for a counted
    query.

    Example: grades 1, 2: 2/1 + 1/log2 3 = 2.631.
    """
    return mean(W, cells, _ideal_dcg(cells, gain, k), any_order=True)


@metric(RankingCells, reference=_JARVELIN, title="nDCG", unit_mean=True)
def ndcg(
    W: Weights, cells: RankingCells, *, k: int | None = None, gain: Gain = "linear", judged_only: bool = False
) -> Values:
    """DCG of the first k documents divided by that of the best possible order.

    nDCG@k = DCG@k / ideal DCG@k; the ideal takes all judged documents, retrieved or not. ``judged_only`` takes
    unjudged documents out of the ranking first.
    Where no document has a grade above 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 1 2 retrieved: (1/1 + 2/1.585) / (2/1 + 1/1.585) = 0.860.
    """
    seen = cells.seen(judged_only)
    best = _ideal_dcg(cells, gain, k)
    return mean(W, cells, safe(_dcg(seen, gain, k), best), best > 0, NO_RELEVANT, any_order=True)


Scale = Literal["collection", "query"]


def _stops(cells: RankingCells, rows: Rows, scale: Scale, max_grade: Level) -> Floats:
    """Chance that a reader is satisfied by each document: (2^g − 1) / 2^max."""
    if max_grade is not None and max_grade < cells.judged.grade.max(initial=0.0):
        raise MetricError(f"max_grade={max_grade:g}: the judgements have a grade of {cells.judged.grade.max():g}")
    top = cells.top_grade if max_grade is None else np.full(len(cells), float(max_grade))
    if scale == "query":
        top, some = np.zeros(len(cells)), cells.ideal.size > 0
        top[some] = cells.ideal.grade[cells.ideal.start[:-1][some]]
    return gains(rows, "exponential") / np.exp2(top)[rows.query]


def _err(rows: Rows, stop: Floats, place: Ints) -> Floats:
    going = np.log1p(-np.minimum(stop, 1 - 1e-16))
    return rows.sum(stop * np.exp(rows.running(going) - going) / place)


def _err_at(cells: RankingCells, k: int | None, scale: Scale, max_grade: Level) -> Floats:
    hits = cells.hits(k=k)
    return _err(hits, _stops(cells, hits, scale, max_grade), hits.rank)


@metric(RankingCells, reference=_CHAPELLE, title="ERR", unit_mean=True)
def err(
    W: Weights, cells: RankingCells, *, k: int | None = None, scale: Scale = "collection", max_grade: Level = None
) -> Values:
    """Expected inverse rank at which a reader who goes down the list is satisfied.

    ERR@k = Σ_{i ≤ k} (t_i / i) Π_{j < i} (1 − t_j), t = (2^grade − 1) / 2^M; M is the highest grade of the
    collection, of the query (``scale=query``), or ``max_grade``.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 1 0 1, M = 1: 1/2 + (1/2)(1/2)/3 = 0.583.
    """
    per_query = _err_at(cells, k, scale, max_grade)
    return mean(W, cells, per_query, cells.relevant() > 0, NO_RELEVANT)


@metric(RankingCells, reference=_CHAPELLE, title="nERR", unit_mean=True)
def nerr(
    W: Weights, cells: RankingCells, *, k: int | None = None, scale: Scale = "collection", max_grade: Level = None
) -> Values:
    """ERR of the first k documents divided by that of the best possible order.

    nERR@k = ERR@k / ideal ERR@k.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 0 1, M = 1: (1/2 / 2) / (1/2) = 0.5.
    """
    ideal = cells.ideal if k is None else cells.ideal.where(cells.ideal.nth() <= k)
    best = _err(ideal, _stops(cells, ideal, scale, max_grade), ideal.nth())
    return mean(W, cells, safe(_err_at(cells, k, scale, max_grade), best), best > 0, NO_RELEVANT)


RbpGain = Literal["binary", "scaled", "raw"]


@metric(RankingCells, reference=_MOFFAT, title="RBP", unit_mean=True)
def rbp(
    W: Weights,
    cells: RankingCells,
    *,
    p: float = 0.8,
    gain: RbpGain = "binary",
    k: int | None = None,
    rel: Level = None,
) -> Values:
    """Gain per document of a reader who goes on to the next one with probability p.

    RBP = (1 − p) Σ_i gain(i) · p^(i−1); gain is 1 for relevant documents; ``scaled``: the grade over the highest of
    the collection; ``raw``: the grade, which can exceed 1.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, p = 0.8: 0.2 · (1 + 0.64) = 0.328.
    """
    within(0, 1, p=p)
    hits = cells.hits(rel, k)
    grade = np.maximum(hits.grade, 0.0)
    value = {"binary": np.ones(len(hits)), "scaled": safe(grade, cells.top_grade[hits.query]), "raw": grade}[gain]
    per_query = (1 - p) * hits.sum(value * p ** (hits.rank - 1.0))
    return mean(W, cells, per_query, cells.relevant(rel) > 0, NO_RELEVANT)


@metric(RankingCells, better="lower", reference=_MOFFAT, title="RBP residual", unit_mean=True)
def rbp_residual(W: Weights, cells: RankingCells, *, p: float = 0.8) -> Values:
    """How much RBP could still rise if every document without a judgement were relevant.

    (1 − p) Σ_i p^(i−1) over unjudged ranks i, and over all ranks after the end of the list.
    Undefined for queries with ties under ``--ties average``, and for no other that is counted.

    Example: unjudged at rank 2 of 2, p = 0.8: 0.2 · 0.8 + 0.8² = 0.8.
    """
    within(0, 1, p=p)
    known = cells.shown.sum(p ** (cells.shown.rank - 1.0))
    return mean(W, cells, 1.0 - (1 - p) * known)


def _running_ideal(cells: RankingCells, value: Floats, place: Ints, query: Ints) -> Floats:
    """Sum of ``value`` over the first ``place`` documents of the ideal ranking of each query."""
    return _reached(cells.ideal.running(value), cells.ideal.start[query], np.minimum(place, cells.ideal.size[query]))


def _reached(running: Floats, start: Ints, count: Ints) -> Floats:
    """Running sum after ``count`` rows from ``start``; 0 after none."""
    return np.concatenate([[0.0], running])[np.where(count > 0, start + count, 0)]


@metric(RankingCells, reference=_TREC_EVAL, title="G", unit_mean=True)
def g(W: Weights, cells: RankingCells) -> Values:
    """Gain of each document, divided by the logarithm of how far the list is behind the ideal there.

    (1/G) Σ_i gain(i) / log2(2 + cost(i) − gained(i)), G the sum of all gains; cost(i) sums max(ideal gain, 1) over
    the first i places, gained(i) the list's gains.
    Where no document has a grade above 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 0 1, ideal 1: (1 / log2(2 + 2 − 1)) / 1 = 0.631.
    """
    hits = cells.hits()
    ideal = gains(cells.ideal, "linear")
    extra = _running_ideal(cells, np.maximum(ideal, 1.0) - 1.0, hits.rank, hits.query)
    behind = 2 + extra + hits.rank - hits.running(hits.grade)
    total = cells.ideal.sum(ideal)
    return mean(W, cells, safe(hits.sum(hits.grade / np.log2(behind)), total), total > 0, NO_RELEVANT)


@metric(RankingCells, reference=_TREC_EVAL, title="nDCG over relevant", unit_mean=True)
def ndcg_rel(W: Weights, cells: RankingCells) -> Values:
    """nDCG at the rank of every document with a gain, averaged over these documents.

    (1/R) Σ nDCG@rank(d); for a document that was not retrieved, nDCG of the whole list.
    Where no document has a grade above 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 0 1, R = 1: DCG@2 = 1/log2 3, ideal 1: 0.631.
    """
    hits = cells.hits()
    ideal = gains(cells.ideal, "linear") * discount(cells.ideal.nth())
    best = _running_ideal(cells, ideal, hits.rank, hits.query)
    reached = hits.sum(safe(hits.running(hits.grade * discount(hits.rank)), best))
    total = cells.relevant()
    whole = safe(_dcg(cells, "linear", None), cells.ideal.sum(ideal))
    return mean(W, cells, safe(reached + (total - hits.size) * whole, total), total > 0, NO_RELEVANT)


@metric(RankingCells, reference=_TREC_EVAL, title="nDCG over levels", unit_mean=True)
def r_ndcg(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """nDCG at the ranks where the ideal ranking passes from one grade to the next, averaged.

    Mean of nDCG@c over c = documents of the highest grade, of the two highest, …, of all above 0, and nDCG of the
    whole list if it goes on for two or more.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 2 1 judged, ranking 1 2: (nDCG@1 + nDCG@2) / 2 = (0.5 + 0.860) / 2 = 0.680.
    """
    ends = _level_ends(cells)
    hits = cells.hits()
    before = np.searchsorted(hits.query * 2**40 + hits.rank, ends.query * 2**40 + ends.place, "right")
    start = hits.start[ends.query]
    upto = _reached(hits.running(hits.grade * discount(hits.rank)), start, before - start)
    ideal = gains(cells.ideal, "linear") * discount(cells.ideal.nth())
    points = ends.sum(safe(upto, _running_ideal(cells, ideal, ends.place, ends.query)))
    longer = cells.retrieved > cells.relevant() + 1
    whole = safe(_dcg(cells, "linear", None), cells.ideal.sum(ideal)) * longer
    total = cells.relevant(rel)
    return mean(W, cells, safe(points + whole, ends.size + longer) * (total > 0), total > 0, NO_RELEVANT)


def _level_ends(cells: RankingCells) -> Rows:
    """The places of the ideal ranking at which a grade above 0 ends."""
    ideal = cells.ideal
    last = np.ones(len(ideal), bool)
    last[:-1] = (ideal.query[1:] != ideal.query[:-1]) | (ideal.grade[1:] != ideal.grade[:-1])
    return ideal.with_columns(place=ideal.nth()).where(last & (ideal.grade > 0))


@metric(
    RankingCells,
    reference="Clarke, Vtyurina and Smucker, Assessing top-k preferences, TOIS 39(3) 2021, doi:10.1145/3451161",
    unit_mean=True,
)
def compatibility(W: Weights, cells: RankingCells, *, p: float = 0.95, normalize: bool = True) -> Values:
    """Rank-biased overlap of the ranking with the ideal ranking nearest to it.

    RBO = (Σ_d p^(d−1) · overlap(d)/d) / Σ_d p^(d−1), d to the longer list's depth; divided by the ideal's own RBO
    if ``normalize``. Documents of one grade stand in the ideal in the system's order.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ideal a, ranking b a, p = 0.5: overlap 0, 1/2: (0.5/2) / (1 + 0.5/2) = 0.2.
    """
    within(0, 1, p=p)
    ideal = cells.ideal
    depth = np.maximum(cells.retrieved, ideal.size)
    tail = np.concatenate(
        [[0.0], np.cumsum(p ** np.arange(depth.max(initial=0)) / (1 + np.arange(depth.max(initial=0))))]
    )
    end, place = tail[depth.astype(np.int64)], ideal.nth()
    both = (ideal.rank > 0) * (end[ideal.query] - tail[np.maximum(place, ideal.rank) - 1])
    ideal_overlap = ideal.sum(end[ideal.query] - tail[place - 1])
    whole = ideal_overlap if normalize else safe(1 - p**depth, 1 - p) if p < 1 else depth
    return mean(W, cells, safe(ideal.sum(both), whole), ideal.size > 0, NO_RELEVANT)
