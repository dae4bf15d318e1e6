# SPDX-License-Identifier: Apache-2.0
"""Agreement between annotators, where gold is given as votes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.agreement import NO_COPIES, Couples, ordinal_terms
from karat.contexts.groups import less, sums
from karat.contexts.soft.cells import SoftCells
from karat.metric import metric
from karat.score import Values, defined, mean_defined, ratio

_KRIPPENDORFF = "Krippendorff, Content Analysis, 4th ed., 2018, ch. 12"
_NO_PAIRS = "no item has two votes"


@metric(SoftCells, better="neither", reference="Artstein & Poesio 2008, doi:10.1162/coli.07-034-R2")
def percent_agreement(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of the share of pairs of votes that agree.

    agreeing pairs / pairs, over items with at least two votes.
    Undefined when no item has two votes, or gold is not votes.

    >>> # votes A A B: 1 of 3 pairs
    >>> votes = [{"ann1": "A", "ann2": "A", "ann3": "B"}]
    >>> e = karat.evaluate(votes, [{"A": 1.0}], context="soft", metrics=["percent_agreement"])
    >>> round(e["percent_agreement"].value, 4)
    0.3333
    """
    v = cells.votes
    several = (v.pairs > 0).astype(float)
    return ratio(W @ (v.agreeing / np.maximum(v.pairs, 1)), W @ several, _NO_PAIRS)


@metric(
    SoftCells, better="neither", bounds=(-1, 1), title="Fleiss' kappa", reference="Fleiss 1971, doi:10.1037/h0031619"
)
def fleiss_kappa(W: Weights, cells: SoftCells) -> Values:
    """Agreement of any number of annotators beyond chance.

    (P − e) / (1 − e): P the percent agreement, e = Σ_c (share of all votes that are c)², over items with at
    least two votes; items may have different numbers of votes.
    Undefined when no item has two votes, or all votes are one label.

    >>> # votes A A, A B, B B: P = 2/3, e = 1/2: (2/3 − 1/2) / (1/2)
    >>> votes = [{"ann1": "A", "ann2": "A"}, {"ann1": "A", "ann2": "B"}, {"ann1": "B", "ann2": "B"}]
    >>> answers = [{"A": 1.0}, {"A": 1.0}, {"B": 1.0}]
    >>> e = karat.evaluate(votes, answers, context="soft", metrics=["fleiss_kappa"])
    >>> round(e["fleiss_kappa"].value, 4)
    0.3333
    """
    observed = percent_agreement.function(W, cells).value
    votes = W @ cells.votes.pairable
    total = votes.sum(1)
    chance = (votes**2).sum(1)
    return ratio(
        np.nan_to_num(observed) * total**2 - chance, less(total**2, chance), f"{_NO_PAIRS}, or all votes are one label"
    )


@metric(SoftCells, better="neither", bounds=(-1, 1), title="Krippendorff's alpha", reference=_KRIPPENDORFF)
def krippendorff_alpha(
    W: Weights, cells: SoftCells, *, level: Literal["nominal", "ordinal", "interval"] = "nominal"
) -> Values:
    """Agreement of any annotators on any items: 1 − observed / expected disagreement.

    Pairs of votes within an item, each item weighing its votes, against all pairs of votes; a pair costs 1 unless
    equal (nominal), the squared ranks between (ordinal) or the squared difference (interval).
    Undefined when no item has two votes, all votes are equal, labels have no order where one is needed, or weights
    are no whole numbers.

    >>> # votes A A, A B, B B: observed 2, n = 6, m = 3, 3: 1 − 5·2 / (36 − 18)
    >>> votes = [{"ann1": "A", "ann2": "A"}, {"ann1": "A", "ann2": "B"}, {"ann1": "B", "ann2": "B"}]
    >>> answers = [{"A": 1.0}, {"A": 1.0}, {"B": 1.0}]
    >>> e = karat.evaluate(votes, answers, context="soft", metrics=["krippendorff_alpha"])
    >>> round(e["krippendorff_alpha"].value, 4)
    0.4444
    """
    if not cells.copies:
        return defined(np.zeros(W.shape[0]), False, NO_COPIES)
    if level != "nominal" and cells.position is None:
        return defined(np.zeros(W.shape[0]), False, "the labels have no order: name it with order=")
    observed, expected = _DISAGREEMENT[level](W, cells)
    n = (W @ cells.votes.pairable).sum(1)
    reason = f"{_NO_PAIRS}, or all votes are equal"
    # Equal votes leave rounding dust in the quadratic forms.
    expected = np.where(expected > 1e-9 * np.maximum(n, 1), expected, 0.0)
    return ratio(expected - (n - 1) * observed, expected, reason)


def _nominal(W: Weights, cells: SoftCells) -> tuple[Floats, Floats]:
    v = cells.votes
    margin = W @ v.pairable
    apart = W @ ((v.pairs - v.agreeing) / np.maximum(v.per_item - 1, 1))
    return apart, margin.sum(1) ** 2 - (margin**2).sum(1)


def _interval(W: Weights, cells: SoftCells) -> tuple[Floats, Floats]:
    v, x = cells.votes, cells.position
    assert x is not None
    x = x - x.mean()
    first, second = (sums(v.item, x[v.label] ** power, v.items) for power in (1, 2))
    several = v.per_item > 1
    apart = np.where(several, 2 * (v.per_item * second - first**2) / np.maximum(v.per_item - 1, 1), 0.0)
    margin = W @ v.pairable
    return W @ apart, 2 * (margin.sum(1) * (margin @ x**2) - (margin @ x) ** 2)


def _ordinal(W: Weights, cells: SoftCells) -> tuple[Floats, Floats]:
    assert cells.position is not None
    order = np.argsort(cells.position, kind="stable")
    return ordinal_terms(W @ cells.votes.coincidences, W @ cells.votes.pairable, order)


_DISAGREEMENT = {"nominal": _nominal, "interval": _interval, "ordinal": _ordinal}


@metric(
    SoftCells,
    better="neither",
    bounds=(-1, 1),
    title="Pairwise Cohen's kappa",
    reference="Cohen 1960, doi:10.1177/001316446002000104",
)
def pairwise_kappa(W: Weights, cells: SoftCells) -> Values:
    """Mean over pairs of annotators of Cohen's kappa on the items that both labelled.

    κ = (A − e) / (1 − e) for each pair; pairs without common items or with one label in use have none.
    Undefined when no pair has a kappa.

    >>> # votes A A, A B, B B: A = 2/3, e = (2·1 + 1·2)/9 = 4/9: (2/3 − 4/9) / (5/9)
    >>> votes = [{"ann1": "A", "ann2": "A"}, {"ann1": "A", "ann2": "B"}, {"ann1": "B", "ann2": "B"}]
    >>> answers = [{"A": 1.0}, {"A": 1.0}, {"B": 1.0}]
    >>> e = karat.evaluate(votes, answers, context="soft", metrics=["pairwise_kappa"])
    >>> round(e["pairwise_kappa"].value, 4)
    0.4
    """
    kappas = [_kappas(W, couples, len(cells.classes)) for couples in cells.votes.couples()]
    return Values(mean_defined(np.concatenate(kappas, 1)), "no two annotators share items with more than one label")


def _kappas(W: Weights, c: Couples, labels: int) -> Floats:
    shape = (W.shape[0], len(c.couple), labels)
    n, chance = W @ c.common, ((W @ c.left_of).reshape(shape) * (W @ c.right_of).reshape(shape)).sum(2)
    return ratio(n * (W @ c.same) - chance, less(n**2, chance), "").value
