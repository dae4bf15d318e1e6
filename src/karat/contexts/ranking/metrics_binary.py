# SPDX-License-Identifier: Apache-2.0
"""RankingCells metrics that see documents as relevant or not."""

from __future__ import annotations

from math import inf
from typing import Literal

import numpy as np

from karat.cells import Weights
from karat.contexts.ranking.cells import Level, Mask, RankingCells, relevant, safe
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.mean import NO_RELEVANT, mean
from karat.contexts.ranking.rows import Floats
from karat.contexts.ranking.ties import expected_precision_sum, expected_reciprocal_rank
from karat.metric import metric
from karat.score import Values, defined

_BUCKLEY = "Buckley and Voorhees, Retrieval System Evaluation, in: TREC: Experiment and Evaluation, MIT Press 2005"
_MANNING = "Manning, Raghavan and Schütze, Introduction to Information Retrieval, ch. 8, doi:10.1017/CBO9780511809071"
_TREC_EVAL = "Buckley, trec_eval 9, https://github.com/usnistgov/trec_eval"


@metric(RankingCells, reference=_MANNING, title="P", unit_mean=True)
def precision(
    W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None, judged_only: bool = False
) -> Values:
    """Share of the first k documents that are relevant, averaged over queries.

    P@k = (relevant in the first k) / k; k counts in full when fewer are retrieved.
    Without k: relevant retrieved / retrieved, 0 where nothing is retrieved. Undefined for k = 0.

    Example: ranking r n r n, k = 3: 2/3 = 0.667; without k: 2/4 = 0.5.
    """
    seen = cells.seen(judged_only)
    size = seen.retrieved if k is None else np.full(len(cells), float(k))
    out = mean(W, cells, safe(seen.hit_count(rel, k), size), any_order=True)
    return out if k != 0 else defined(out.value, False, "no document is looked at")


@metric(RankingCells, reference=_MANNING, title="R", unit_mean=True)
def recall(
    W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None, judged_only: bool = False
) -> Values:
    """Share of the relevant documents that are among the first k, averaged over queries.

    R@k = (relevant in the first k) / R, R the relevant documents of the query; without k over the whole list.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r n with R = 4, k = 3: 2/4 = 0.5.
    """
    seen = cells.seen(judged_only)
    total = seen.relevant(rel)
    return mean(W, cells, safe(seen.hit_count(rel, k), total), total > 0, NO_RELEVANT, any_order=True)


@metric(
    RankingCells, reference="van Rijsbergen, Information Retrieval, 2nd ed., ch. 7, 1979", title="F", unit_mean=True
)
def f(W: Weights, cells: RankingCells, *, k: int | None = None, beta: float = 1.0, rel: Level = None) -> Values:
    """Harmonic mean of precision and recall of the first k, averaged over queries.

    F@k = (1 + β²)·P·R / (β²·P + R), per query; 0 where nothing relevant is found.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: P@3 = 2/3, R@3 = 2/4: 2·(2/3)(1/2) / (2/3 + 1/2) = 0.571.
    """
    within(0, inf, beta=beta)
    total, hits = cells.relevant(rel), cells.hit_count(rel, k)
    p, r = safe(hits, cells.retrieved if k is None else float(k)), safe(hits, total)
    per_query = safe((1 + beta**2) * p * r, beta**2 * p + r)
    return mean(W, cells, per_query, total > 0, NO_RELEVANT, any_order=k is None)


@metric(RankingCells, reference=_TREC_EVAL, unit_mean=True)
def success(W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None) -> Values:
    """Share of queries with a relevant document among the first k (also: hit rate).

    Undefined for queries with ties under ``--ties average``, and for no other that is counted.

    Example: ranking n r: success@1 = 0, success@5 = 1.
    """
    return mean(W, cells, (cells.hits(rel, k).size > 0).astype(float))


@metric(RankingCells, bounds=(0, np.inf), reference=_MANNING, unit_mean=True)
def hits(W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None) -> Values:
    """Relevant documents among the first k, averaged over queries.

    Never undefined for a counted query.

    Example: ranking r n r n, k = 3: 2.
    """
    return mean(W, cells, cells.hit_count(rel, k), any_order=True)


@metric(RankingCells, reference=_BUCKLEY, title="Rprec", unit_mean=True)
def r_precision(
    W: Weights, cells: RankingCells, *, multiple: float = 1.0, rel: Level = None, judged_only: bool = False
) -> Values:
    """Precision after as many documents as the query has relevant ones, averaged over queries.

    (relevant in the first c) / c with c = R; ``multiple`` m takes c = ⌊m·R + 0.9⌋.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r n with R = 2: one of the first two, 1/2 = 0.5.
    """
    within(0, inf, multiple=multiple)
    seen = cells.seen(judged_only)
    cut = np.floor(multiple * seen.relevant(rel) + 0.9)
    inside = seen.hits(rel)
    hits = inside.sum(inside.rank <= cut[inside.query])
    if cells.ties == "average":
        room = np.clip(cut[inside.query] - inside.ahead, 0, inside.tied)
        hits = inside.sum(room / inside.tied)
    return mean(W, cells, safe(hits, cut), cut > 0, NO_RELEVANT, any_order=True)


@metric(
    RankingCells, reference="Voorhees, The TREC-8 Question Answering Track Report, 1999", title="RR", unit_mean=True
)
def reciprocal_rank(
    W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None, judged_only: bool = False
) -> Values:
    """Inverse of the rank of the first relevant document, averaged over queries (MRR).

    RR = 1/r, r the rank of the first relevant document (within the first k); 0 if there is none.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking n r r: 1/2 = 0.5.
    """
    seen = cells.seen(judged_only)
    if cells.ties == "average":
        per_query = expected_reciprocal_rank(seen, rel, k)
    else:
        hits = seen.hits(rel, k)
        per_query = hits.sum((hits.nth() == 1) / np.maximum(hits.rank, 1))
    return mean(W, cells, per_query, seen.relevant(rel) > 0, NO_RELEVANT, any_order=True)


def _average_precision(cells: RankingCells, rel: Level, k: int | None = None) -> Floats:
    if cells.ties == "average":
        total = expected_precision_sum(cells, rel, k)
    else:
        hits = cells.hits(rel, k)
        total = hits.sum(hits.nth() / hits.rank)
    return safe(total, cells.relevant(rel))


@metric(RankingCells, reference=_BUCKLEY, title="AP", unit_mean=True)
def average_precision(
    W: Weights, cells: RankingCells, *, k: int | None = None, rel: Level = None, judged_only: bool = False
) -> Values:
    """Mean of the precisions at the ranks of the relevant documents, averaged over queries (MAP).

    AP = (1/R) Σ P@i over the ranks i (up to k) of relevant documents; those not retrieved add 0.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, R = 3: (1/1 + 2/3 + 0) / 3 = 0.556.
    """
    seen = cells.seen(judged_only)
    per_query = _average_precision(seen, rel, k)
    return mean(W, cells, per_query, seen.relevant(rel) > 0, NO_RELEVANT, any_order=True)


_FLOOR = 1e-5


def _geometric(W: Weights, cells: RankingCells, per_query: Floats, ok: Mask) -> Values:
    logs = mean(W, cells, np.log(np.maximum(per_query, _FLOOR)), ok, NO_RELEVANT)
    return defined(np.exp(logs.value), ~np.isnan(logs.value), logs.reason)


@metric(
    RankingCells,
    reference="Robertson, On GMAP: and other transformations, CIKM 2006, doi:10.1145/1183614.1183630",
    title="GMAP",
    pooled=True,
)
def gm_map(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Geometric mean of the queries' average precisions, each raised to at least 0.00001.

    GMAP = exp(mean of ln max(AP, 10⁻⁵)).
    Where R = 0: 10⁻⁵, or undefined with ``--no-relevant undefined``.

    Example: AP 0.25 and 1: √(0.25 · 1) = 0.5.
    """
    return _geometric(W, cells, _average_precision(cells, rel), cells.relevant(rel) > 0)


def _bpref(cells: RankingCells, rel: Level) -> Floats:
    shown, total = cells.shown, cells.relevant(rel)
    others = cells.judged.sum(cells.judged.grade >= 0) - total
    good = relevant(shown, rel)
    bad_before = np.minimum(shown.running(~good), total[shown.query])
    share = safe(bad_before, np.minimum(others, total)[shown.query])
    return safe(shown.sum(good * (1.0 - share)), total)


@metric(
    RankingCells,
    reference="Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004, "
    "doi:10.1145/1008992.1009000",
    unit_mean=True,
)
def bpref(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Share of judged non-relevant documents that stand after the relevant ones.

    bpref = (1/R) Σ_r (1 − min(n_r, R) / min(N, R)) over retrieved relevant documents r; n_r judged non-relevant
    documents stand before r, N are judged in all. Unjudged documents do not matter.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, R = 2, N = 1: ((1 − 0) + (1 − 1/1)) / 2 = 0.5.
    """
    return mean(W, cells, _bpref(cells, rel), cells.relevant(rel) > 0, NO_RELEVANT)


@metric(RankingCells, reference=_TREC_EVAL, title="GM bpref", pooled=True)
def gm_bpref(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Geometric mean of the queries' bpref, each raised to at least 0.00001.

    exp(mean of ln max(bpref, 10⁻⁵)).
    Where R = 0: 10⁻⁵, or undefined with ``--no-relevant undefined``.

    Example: bpref 0.25 and 1: √(0.25 · 1) = 0.5.
    """
    return _geometric(W, cells, _bpref(cells, rel), cells.relevant(rel) > 0)


@metric(
    RankingCells,
    reference="Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, "
    "CIKM 2006, doi:10.1145/1183614.1183633",
    title="infAP",
    unit_mean=True,
)
def infap(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Average precision estimated from a sampled pool; grades below 0 are pooled but not judged.

    At rank k of a relevant document: 1/k + ((k − 1)/k) · (m/(k − 1)) · ((r + ε)/(j + 2ε)), ε = 10⁻⁵, of the
    documents before it m pooled, j judged and r relevant; the mean of these over R.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, all judged, R = 2: (1 + (1/3 + 2/3 · 1 · 1/2)) / 2 = 0.833.
    """
    pool = cells.judged.where(cells.judged.rank > 0)
    good = relevant(pool, rel)
    judged_before = pool.running(pool.grade >= 0) - 1
    good_before = pool.running(good) - 1
    pooled = (pool.nth() - 1) / pool.rank
    expected = 1.0 / pool.rank + pooled * (good_before + _FLOOR) / (judged_before + 2 * _FLOOR)
    total = cells.relevant(rel)
    summed = pool.sum(np.where(good, np.where(pool.rank == 1, 1.0, expected), 0.0))
    return mean(W, cells, safe(summed, total), total > 0, NO_RELEVANT)


Rounding = Literal["up", "nearest"]


def _interpolated(cells: RankingCells, rel: Level, recall: float, rounding: Rounding) -> Floats:
    hits = cells.hits(rel)
    total = cells.relevant(rel)
    need = np.floor(recall * total + (0.9 if rounding == "up" else 0.5))
    best = _best_from_here(hits.nth() / hits.rank, hits.start)
    at = hits.start[:-1] + np.maximum(need - 1, 0).astype(np.int64)
    reached = (need <= hits.size) & (hits.size > 0)
    return np.where(reached, best[np.where(reached, at, 0)] if len(best) else 0.0, 0.0)


def _best_from_here(x: Floats, start: np.ndarray) -> Floats:
    """Largest of ``x`` from each row to the end of its query."""
    out = x.copy()
    step, last = 1, np.repeat(start[1:], np.diff(start))
    while step < (np.diff(start).max(initial=0)):
        ahead = np.minimum(np.arange(len(x)) + step, last - 1)
        out = np.maximum(out, out[ahead])
        step *= 2
    return out


@metric(RankingCells, reference=_MANNING, title="iprec", unit_mean=True)
def interpolated_precision(
    W: Weights, cells: RankingCells, *, recall: float = 0.0, rel: Level = None, rounding: Rounding = "up"
) -> Values:
    """Best precision at or after the rank where a share of the relevant documents is found.

    max of P@i for i ≥ the rank of relevant document number c; c = ⌊recall·R + 0.9⌋ as trec_eval 9 has it, or
    recall·R to the nearest (``rounding=nearest``, trec_eval 10).
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, R = 2, recall 1: c = 2, found at rank 3: 2/3 = 0.667.
    """
    within(0, 1, recall=recall)
    per_query = _interpolated(cells, rel, recall, rounding)
    return mean(W, cells, per_query, cells.relevant(rel) > 0, NO_RELEVANT)


@metric(RankingCells, reference=_MANNING, title="11-point AP", unit_mean=True)
def eleven_point(W: Weights, cells: RankingCells, *, rel: Level = None, rounding: Rounding = "up") -> Values:
    """Mean of the interpolated precisions at recall 0, 0.1, …, 1.

    (1/11) Σ interpolated_precision(recall).
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, R = 2: recall 0 to 0.5 give 1 (6 points, c ≤ 1), the rest 2/3 (5 points):
    (6·1 + 5·2/3) / 11 = 0.848.
    """
    points = [_interpolated(cells, rel, i / 10, rounding) for i in range(11)]
    return mean(W, cells, sum(points, np.zeros(len(cells))) / 11, cells.relevant(rel) > 0, NO_RELEVANT)


@metric(RankingCells, better="lower", bounds=(1, np.inf), reference=_MANNING, unit_mean=True)
def mean_rank(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Mean rank of the relevant documents that were retrieved, averaged over queries.

    Tied documents share the mean of their ranks if ties are averaged. Undefined for a query
    with no relevant document retrieved.

    Example: ranking n r r: (2 + 3) / 2 = 2.5.
    """
    hits = cells.hits(rel)
    rank = hits.ahead + (hits.tied + 1) / 2 if cells.ties == "average" else hits.rank
    use = cells.counted * (hits.size > 0)
    total, reason = safe(hits.sum(rank), hits.size), "no relevant document retrieved"
    return defined(safe(W @ (total * use), W @ use), W @ use > 0, reason)


@metric(RankingCells, reference=_TREC_EVAL, title="Binary G", unit_mean=True)
def bin_g(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Mean over the relevant documents of a gain that falls with the non-relevant ones before each.

    (1/R) Σ_d 1 / log2(2 + n_d) over retrieved relevant documents d, n_d the non-relevant ones before d.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, R = 2: (1/log2 2 + 1/log2 3) / 2 = 0.815.
    """
    hits, total = cells.hits(rel), cells.relevant(rel)
    gain = hits.sum(1.0 / np.log2(2 + hits.rank - hits.nth()))
    return mean(W, cells, safe(gain, total), total > 0, NO_RELEVANT)


@metric(
    RankingCells,
    bounds=(-np.inf, np.inf),
    reference="Robertson, On smoothing average precision, ECIR 2012, doi:10.1007/978-3-642-28997-2_14",
    unit_mean=True,
)
def yaap(W: Weights, cells: RankingCells, *, rel: Level = None) -> Values:
    """Average precision on a log-odds scale, so that very low and very high values average well.

    ln((1 + S) / (1 + R − S)), S the sum of the precisions at the relevant documents.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r n r, R = 3: S = 1 + 2/3; ln(2.667 / 2.333) = 0.134.
    """
    total = cells.relevant(rel)
    summed = _average_precision(cells, rel) * total
    per_query = np.log((1 + summed) / (1 + total - summed))
    return mean(W, cells, per_query, total > 0, NO_RELEVANT)
