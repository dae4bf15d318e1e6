# SPDX-License-Identifier: Apache-2.0
"""RankingCells metrics of a reader who goes down the list and may stop at every document (the C/W/L framework).

All of them are the gain per document read: Σ look(i) · gain(i) / Σ look(i), look(i) being the chance that the
reader comes to place i, and gain the grade g scaled to (g − min_grade) / (max_grade − min_grade), from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from karat.cells import Weights
from karat.contexts.ranking.cells import Level, RankingCells, discount, safe
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.mean import NO_RELEVANT, mean
from karat.contexts.ranking.rows import Floats, Ints, Rows
from karat.metric import MetricError, metric
from karat.score import Values

Going = Callable[[Ints, Floats], Floats]
"""The chance to go on after each place, by the places and the gains there (a row per query)."""
_DEPTH = 1000
"""Places that a reader without a cutoff looks at, as in cwl_eval."""
_BLOCK = 256
"""Queries that are looked at together."""


def _gains(cells: RankingCells, k: int, low: float, high: Level) -> Rows:
    """The relevant documents among the first ``k`` with their gains, from 0 to 1."""
    if high is not None and high <= low:
        raise MetricError(f"max_grade={high:g}: it must be above min_grade={low:g}")
    hits = cells.hits(k=k)
    top = cells.top_grade[hits.query] if high is None else high
    return hits.with_columns(gain=np.clip(safe(hits.grade - low, top - low), 0.0, 1.0))


def _rate(W: Weights, cells: RankingCells, k: int, going: Going, low: float, high: Level) -> Values:
    """Gain per document read by a reader who looks at ``k`` places at most."""
    within(1, inf, k=k)
    hits, queries = _gains(cells, k, low, high), np.arange(len(cells))
    blocks = [queries[at : at + _BLOCK] for at in range(0, len(queries), _BLOCK)]
    per_query = np.concatenate([np.zeros(0), *(_rates(hits[block], k, going) for block in blocks)])
    return mean(W, cells, per_query, cells.relevant() > 0, NO_RELEVANT)


def _rates(hits: Rows, k: int, going: Going) -> Floats:
    gain, look = np.zeros((hits.queries, k)), np.ones((hits.queries, k))
    gain[hits.query, hits.rank - 1] = hits.gain
    goes = np.broadcast_to(going(np.arange(1, k + 1), gain), gain.shape)
    np.cumprod(goes[:, :-1], axis=1, out=look[:, 1:])
    return (look * gain).sum(1) / look.sum(1)


@metric(
    RankingCells,
    reference="Zhang et al., Evaluating web search with a bejeweled player model, SIGIR 2017, "
    "doi:10.1145/3077136.3080841",
    title="BPM",
    unit_mean=True,
)
def bpm(
    W: Weights, cells: RankingCells, *, k: int = 10, T: float = 1.0, min_grade: float = 0.0, max_grade: Level = None
) -> Values:
    """Gain per document of a reader who stops after k documents, or when a gain of T is reached.

    (Σ_{i ≤ s} gain(i)) / s, s the place at which the gains add up to T, at most k; gains are grades over the
    highest of the collection, or ``max_grade``.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking n r r, T = 1, k = 10: stops at the second, 1/2 = 0.5.
    """
    within(0, inf, T=T)
    going = lambda place, gain: (np.cumsum(gain, 1) < T).astype(float)
    return _rate(W, cells, k, going, min_grade, max_grade)


@metric(
    RankingCells,
    reference="Moffat, Thomas and Scholer, Users versus models, CIKM 2013, doi:10.1145/2505515.2507665",
    title="SDCG",
    unit_mean=True,
)
def sdcg(W: Weights, cells: RankingCells, *, k: int = 10, min_grade: float = 0.0, max_grade: Level = None) -> Values:
    """DCG of the first k documents over that of k documents of the highest grade.

    DCG@k / Σ_{i ≤ k} (1 / log2(i + 1)); gains are grades over the highest of the collection, or ``max_grade``.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 0 1, k = 2: 0.631 / (1 + 0.631) = 0.387.
    """
    within(1, inf, k=k)
    hits = _gains(cells, k, min_grade, max_grade)
    per_query = hits.sum(hits.gain * discount(hits.rank)) / discount(np.arange(1, k + 1)).sum()
    return mean(W, cells, per_query, cells.relevant() > 0, NO_RELEVANT)


def _patient(place: Ints | Floats, T: float) -> Floats:
    """The chance to go on of a reader who still wants ``T`` and expects to."""
    return ((place + 2 * T - 1) / (place + 2 * T)) ** 2


@metric(
    RankingCells,
    reference="Moffat, Scholer and Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012, "
    "doi:10.1145/2407085.2407092",
    title="INSQ",
    unit_mean=True,
)
def insq(W: Weights, cells: RankingCells, *, T: float = 1.0, min_grade: float = 0.0, max_grade: Level = None) -> Values:
    """Gain per document of a reader who wants a gain of T and grows more patient down the list.

    The chance to go on after place i is ((i + 2T − 1) / (i + 2T))², to place 1000; gains are grades over the
    highest of the collection, or ``max_grade``.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r, T = 1: place i is read with chance 4/(i + 1)², which add up to 2.576: 1/2.576 = 0.388.
    """
    within(0, inf, T=T)
    return _rate(W, cells, _DEPTH, lambda place, gain: _patient(place, T), min_grade, max_grade)


@metric(
    RankingCells,
    reference="Moffat et al., INST: an adaptive metric for information retrieval evaluation, ADCS 2015, "
    "doi:10.1145/2838931.2838938",
    title="INST",
    unit_mean=True,
)
def inst(W: Weights, cells: RankingCells, *, T: float = 1.0, min_grade: float = 0.0, max_grade: Level = None) -> Values:
    """Gain per document of a reader who wants a gain of T and is sooner content the more was found.

    The chance to go on after place i is ((i + T + t − 1) / (i + T + t))², to place 1000, t being T less the gains
    so far; gains are grades over the highest of the collection, or ``max_grade``.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking r, T = 1: place i is read with chance 1/i², which add up to 1.644: 1/1.644 = 0.608.
    """
    within(1e-9, inf, T=T)
    going = lambda place, gain: _patient(place - np.cumsum(gain, 1), T)
    return _rate(W, cells, _DEPTH, going, min_grade, max_grade)


_AZZOPARDI = "Azzopardi, Mackenzie and Moffat, ERR is not C/W/L, ICTIR 2021, doi:10.1145/3471158.3472239"


@metric(RankingCells, reference=_AZZOPARDI, title="NERR8", unit_mean=True)
def nerr8(W: Weights, cells: RankingCells, *, k: int = 10, min_grade: float = 0.0, max_grade: Level = None) -> Values:
    """Gain per document of a reader who stops at a document with the chance that is its gain (nearly ERR, eq. 8).

    The chance to go on after place i is 1 − gain(i), and 0 at k; gains are grades over the highest of the
    collection, or ``max_grade``.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 1 2, k = 2: gains 0.5 and 1, read with 1 and 0.5: (0.5 + 0.5) / 1.5 = 0.667.
    """
    return _rate(W, cells, k, lambda place, gain: 1 - gain, min_grade, max_grade)


@metric(RankingCells, reference=_AZZOPARDI, title="NERR9", unit_mean=True)
def nerr9(W: Weights, cells: RankingCells, *, k: int = 10, min_grade: float = 0.0, max_grade: Level = None) -> Values:
    """As nerr8, with a reader who also tires as the list goes on (nearly ERR, eq. 9).

    The chance to go on after place i is (1 − gain(i)) · i / (i + 1), and 0 at k.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: grades 1 2, k = 2: gains 0.5 and 1, read with 1 and 0.25: (0.5 + 0.25) / 1.25 = 0.6.
    """
    return _rate(W, cells, k, lambda place, gain: (1 - gain) * place / (place + 1), min_grade, max_grade)


@metric(RankingCells, reference=_AZZOPARDI, title="NERR10", unit_mean=True)
def nerr10(
    W: Weights, cells: RankingCells, *, p: float = 0.9, min_grade: float = 0.0, max_grade: Level = None
) -> Values:
    """As nerr8, with a reader who else goes on with probability p, as in RBP (nearly ERR, eq. 10).

    The chance to go on after place i is p · (1 − gain(i)), to place 1000.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking n r, p = 0.9: read with 1 and 0.9: 0.9 / 1.9 = 0.474.
    """
    within(0, 1, p=p)
    return _rate(W, cells, _DEPTH, lambda place, gain: p * (1 - gain), min_grade, max_grade)


@metric(RankingCells, reference=_AZZOPARDI, title="NERR11", unit_mean=True)
def nerr11(
    W: Weights, cells: RankingCells, *, T: float = 1.0, min_grade: float = 0.0, max_grade: Level = None
) -> Values:
    """As nerr8, with a reader who else goes on as in INSQ (nearly ERR, eq. 11).

    The chance to go on after place i is ((i + 2T − 1) / (i + 2T))² · (1 − gain(i)), to place 1000.
    Where R = 0: 0, or undefined with ``--no-relevant undefined``.

    Example: ranking n r, T = 1: read with 1 and (2/3)²: 0.444 / 1.444 = 0.308.
    """
    within(0, inf, T=T)
    return _rate(W, cells, _DEPTH, lambda place, gain: _patient(place, T) * (1 - gain), min_grade, max_grade)
