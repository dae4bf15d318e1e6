# SPDX-License-Identifier: Apache-2.0
"""Do probabilities mean what they say? Error of calibration, and the parts of the Brier score."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Ints, Sparse, Weights
from karat.columns import Mask
from karat.contexts.probabilities.cells import ProbabilityCells
from karat.contexts.probabilities.metrics import single
from karat.metric import MetricError, metric
from karat.score import Values, defined, ratio

Strategy = Literal["uniform", "quantile"]
Of = Literal["auto", "top", "positive"]
_GUO = "Guo et al. 2017, On calibration of modern neural networks; Naeini et al. 2015, doi:10.1609/aaai.v29i1.9602"
_MURPHY = "Murphy 1973, doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2"


def edges(score: Floats, n: Ints, bins: int, strategy: str) -> Floats:
    """Upper ends of the bins: of equal width, or such that each holds as many items."""
    if strategy == "uniform":
        return np.arange(1, bins + 1) / bins
    every = np.repeat(score, n)
    return np.quantile(every, np.arange(1, bins + 1) / bins, method="inverted_cdf") if len(every) else np.ones(bins)


def bin_of(score: Floats, ends: Floats) -> Ints:
    """Bin i holds what is above end i − 1, up to end i (0 goes to the first).

    Sums of floats may give 0.4 + 1e-16: rounding keeps it on its side of the end.
    """
    return np.clip(np.searchsorted(np.round(ends, 9), np.round(score, 9)), 0, len(ends) - 1)


def confidence(cells: ProbabilityCells, of: str) -> tuple[Floats, Mask]:
    """The probability that is judged, and whether it came true: of the positive class, or of the likeliest one."""
    chosen = cells.positive if of == "positive" or (of == "auto" and cells.binary) else None
    if chosen is not None:
        return cells.probability[:, chosen], cells.truth[:, chosen]
    if not len(cells.classes):
        return np.zeros(len(cells)), np.zeros(len(cells), bool)
    top = cells.probability.argmax(1)
    every = np.arange(len(cells))
    return cells.probability[every, top], cells.truth[every, top]


def gaps(W: Weights, cells: ProbabilityCells, bins: int, strategy: str, of: str) -> tuple[Floats, Floats]:
    """Rows × bins: items of each bin, and by how much their mean confidence misses their share of successes.

    Items without a prediction are certain and wrong, in a bin of their own.
    """
    if bins < 1:
        raise MetricError(f"bins={bins}: there is at least one bin")
    sure, right = confidence(cells, of)
    whole = cells.whole
    ends = edges(confidence(whole, of)[0][whole.answered], whole.n[whole.answered], bins, strategy)
    at = np.where(cells.answered, bin_of(sure, ends), bins)
    shape = (len(cells), bins + 1)
    gap = np.where(cells.answered, sure - right, 1.0)
    every = np.arange(len(cells))
    return W @ Sparse.of(every, at, 1.0, shape), W @ Sparse.of(every, at, gap, shape)


def _refused(cells: ProbabilityCells, of: str) -> str:
    if cells.trusted:
        return cells.trusted
    if of == "positive" and cells.positive is None:
        return "which class is positive is not known: name it with pos_label"
    return "items may have several classes: no class is the likeliest" if cells.several and of != "positive" else ""


@metric(ProbabilityCells, better="lower", title="Expected calibration error", reference=_GUO)
def ece(
    W: Weights, cells: ProbabilityCells, *, bins: int = 10, strategy: Strategy = "uniform", of: Of = "auto"
) -> Values:  # fmt: skip
    """Mean distance between how sure the system is and how often it is right, by bins of its probabilities.

    Σ_b n_b/n · |mean probability − share of successes| over bins (i/bins, (i+1)/bins], or bins with as many items each
    (quantile). Judged is the positive class of two, else the likeliest class (top). No prediction is certain and wrong.
    It depends on the bins and is too large on few items. Undefined for scores that are no probabilities.

    >>> # bin (.7, .8]: .8 came true; bin (.4, .5]: .5 did not: (|.8 − 1| + |.5 − 0|) / 2
    >>> e = karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["ece"])
    >>> round(e["ece"].value, 4)
    0.35
    """
    _, gap = gaps(W, cells, bins, strategy, of)
    error = ratio(np.abs(gap).sum(1), W @ cells.ones, "no gold items")
    return error if not _refused(cells, of) else defined(error.value, False, _refused(cells, of))


@metric(ProbabilityCells, better="lower", title="Maximum calibration error", reference=_GUO)
def mce(
    W: Weights, cells: ProbabilityCells, *, bins: int = 10, strategy: Strategy = "uniform", of: Of = "auto"
) -> Values:  # fmt: skip
    """The largest distance, over bins, between mean probability and share of successes; bins as in `ece`.

    max_b |mean probability − share of successes|: a bin of one item counts as much as one of a thousand.
    Undefined for scores that are no probabilities.

    >>> # |.8 − 1| and |.5 − 0|
    >>> karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["mce"])["mce"].value
    0.5
    """
    size, gap = gaps(W, cells, bins, strategy, of)
    mean = np.divide(np.abs(gap), size, out=np.zeros(gap.shape), where=size > 0)
    error = ratio(mean.max(1), (W @ cells.ones > 0).astype(float), "no gold items")
    return error if not _refused(cells, of) else defined(error.value, False, _refused(cells, of))


def _binned(W: Weights, cells: ProbabilityCells, bins: int) -> tuple[Floats, Floats, Floats]:
    """Rows × classes × bins: items, sums of probabilities and of successes; silence counts as certain and wrong."""
    if bins < 1:
        raise MetricError(f"bins={bins}: there is at least one bin")
    classes, rows = len(cells.classes), W.shape[0]
    sure = np.where(cells.answered[:, None], cells.probability, 1.0 - cells.truth)
    at = bin_of(sure, edges(sure, cells.n, bins, "uniform")) + bins * np.arange(classes)
    cell, shape = np.repeat(np.arange(len(cells)), classes), (len(cells), bins * classes)
    out = [
        (W @ Sparse.of(cell, at.reshape(-1), x, shape)).reshape(rows, classes, bins)
        for x in (1.0, sure.reshape(-1), cells.truth.astype(float).reshape(-1))
    ]
    return out[0], out[1], out[2]


def _part(W: Weights, cells: ProbabilityCells, part: Floats) -> Values:
    size = (W @ cells.ones)[:, None]
    mean = ratio(part, np.broadcast_to(size, part.shape), "no gold items")
    return mean if not cells.trusted else defined(mean.value, False, cells.trusted)


def _mean(total: Floats, size: Floats) -> Floats:
    return np.divide(total, size, out=np.zeros(total.shape), where=size > 0)


@metric(ProbabilityCells, better="lower", by_class=True, reference=_MURPHY)
def brier_reliability(W: Weights, cells: ProbabilityCells, *, bins: int = 10) -> Values:
    """The part of the Brier score that calibration would save: squared distance of probability and success by bin.

    Σ_b n_b/n · (mean probability − share of successes)², of one class; Brier = reliability − resolution + uncertainty,
    exactly where all probabilities of a bin are equal. A class that is neither gold nor the likeliest of any item is in
    no mean over classes, though it has probabilities. Undefined for scores that are no probabilities.

    >>> # ((.8 − 1)² + (.5 − 0)²) / 2
    >>> e = karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["brier_reliability"])
    >>> round(e["brier_reliability"].value, 4)
    0.145
    """
    single(cells)
    size, sure, right = _binned(W, cells, bins)
    return _part(W, cells, (size * (_mean(sure, size) - _mean(right, size)) ** 2).sum(2))


@metric(ProbabilityCells, bounds=(0, 0.25), better="neither", by_class=True, reference=_MURPHY)
def brier_resolution(W: Weights, cells: ProbabilityCells, *, bins: int = 10) -> Values:
    """The part of the Brier score that telling items apart has saved: how far the bins' successes lie from the mean.

    Σ_b n_b/n · (share of successes in b − share of successes)², of one class; at most the uncertainty.
    Undefined for scores that are no probabilities.

    >>> # successes 1 and 0 about the mean 1/2
    >>> e = karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["brier_resolution"])
    >>> e["brier_resolution"].value
    0.25
    """
    single(cells)
    size, _, right = _binned(W, cells, bins)
    overall = _mean(right.sum(2), size.sum(2))[:, :, None]
    return _part(W, cells, (size * (_mean(right, size) - overall) ** 2).sum(2))


@metric(ProbabilityCells, bounds=(0, 0.25), better="neither", by_class=True, reference=_MURPHY)
def brier_uncertainty(W: Weights, cells: ProbabilityCells) -> Values:
    """The part of the Brier score that no system can help: how mixed gold is.

    o · (1 − o), o the share of items that have the class. Undefined for scores that are no probabilities.

    >>> # one of two: ½ · ½
    >>> e = karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["brier_uncertainty"])
    >>> e["brier_uncertainty"].value
    0.25
    """
    single(cells)
    size = (W @ cells.ones)[:, None]
    overall = _mean(W @ cells.gold_of, np.broadcast_to(size, (W.shape[0], len(cells.classes))))
    return _part(W, cells, overall * (1 - overall) * size)
