# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's own arithmetic for clusters: entropies of joint shares, pairs, B-cubed over memberships."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from karat.doors.pyevall import codes
from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.setting import Setting

Clusters = dict[str, set[str]]


class Overlap:
    """Clusters of both sides, predicted ones also without the items that gold lacks."""

    def __init__(self, case: TestCase) -> None:
        self.gold, self.whole = grouped(case.gold), grouped(case.pred)
        self.pred = {name: inside for name, items in self.whole.items() if (inside := items & case.gold.keys())}
        self.shared = {
            (g, x): count
            for g, ours in self.gold.items()
            for x, theirs in self.pred.items()
            if (count := len(ours & theirs))
        }
        self.case, self.n = case, len(case.gold)
        self.gold_n, self.pred_n = (sum(map(len, side.values())) for side in (self.gold, self.pred))

    def best_by_pred(self) -> int:
        return sum(max(len(items & ours) for ours in self.gold.values()) for items in self.pred.values())

    def best_by_gold(self) -> int:
        return sum(
            max((len(items & theirs) for theirs in self.pred.values()), default=0) for items in self.gold.values()
        )


def grouped(labels: dict[str, list[str]]) -> Clusters:
    clusters: Clusters = {}
    for id, names in labels.items():
        for name in names:
            clusters.setdefault(name, set()).add(id)
    return clusters


def overlap(setting: Setting, case: TestCase) -> Overlap:
    shared: Overlap = setting.once("overlap", case, lambda: Overlap(case))
    return shared


def purity(setting: Setting, case: TestCase, params: Params) -> Outcome:
    both = overlap(setting, case)
    return Outcome(both.best_by_pred() / both.pred_n if both.pred_n else 0.0)


def inverse_purity(setting: Setting, case: TestCase, params: Params) -> Outcome:
    both = overlap(setting, case)
    return Outcome(both.best_by_gold() / both.gold_n)


def f_of_purities(setting: Setting, case: TestCase, params: Params) -> Outcome:
    a = params["alfa_param"]
    pure, inverse = (score(setting, case, params).average or 0 for score in (purity, inverse_purity))
    return Outcome(1 / (a / pure + (1 - a) / inverse) if pure and inverse else 0.0)


def f_measure(setting: Setting, case: TestCase, params: Params) -> Outcome:
    both = overlap(setting, case)
    best = (
        len(ours)
        * max((2 * len(ours & theirs) / (len(ours) + len(theirs)) for theirs in both.pred.values()), default=0)
        for ours in both.gold.values()
    )
    return Outcome(sum(best) / both.gold_n)


def pairs(setting: Setting, case: TestCase) -> tuple[float, float, float, float]:
    """Pairs of items in both files: together on both sides, in the prediction only, in gold only, on neither."""
    items = [(tuple(case.gold[id]), tuple(case.pred[id])) for id in case.gold if id in case.pred]
    together = sum(map(two, Counter(items).values()))
    gold, pred = (sum(map(two, Counter(side).values())) for side in zip(*items, strict=True)) if items else (0, 0)
    return together, pred - together, gold - together, two(len(items)) - gold - pred + together


def two(n: int) -> float:
    return n * (n - 1) / 2


def rand(setting: Setting, case: TestCase, params: Params) -> Outcome:
    ss, sd, ds, dd = pairs(setting, case)
    return Outcome((ss + dd) / (ss + sd + ds + dd) if ss + sd + ds + dd else 0.0)


def jaccard(setting: Setting, case: TestCase, params: Params) -> Outcome | str:
    ss, sd, ds, _ = pairs(setting, case)
    return Outcome(ss / (ss + sd + ds)) if ss + sd + ds else codes.NO_PAIRS


def folkes_mallows(setting: Setting, case: TestCase, params: Params) -> Outcome | str:
    ss, sd, ds, _ = pairs(setting, case)
    return Outcome(math.sqrt(ss / (ss + sd) * ss / (ss + ds))) if ss + sd and ss + ds else codes.NO_PAIRS


def nmi(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """Undefined where a gold item is not predicted, or a side is one cluster."""
    both = overlap(setting, case)
    entropies = [
        -sum(len(x) / both.n * math.log2(len(x) / both.n) for x in side.values()) for side in (both.gold, both.pred)
    ]
    if case.gold.keys() - case.pred.keys() or not all(entropies):
        return Outcome(None)
    mutual = sum(
        count / both.n * math.log2(both.n * count / (len(both.gold[g]) * len(both.pred[x])))
        for (g, x), count in both.shared.items()
    )
    return Outcome(mutual / math.sqrt(entropies[0] * entropies[1]))


def entropy(setting: Setting, case: TestCase, params: Params) -> Outcome:
    both = overlap(setting, case)
    return Outcome(-sum(len(both.pred[x]) / both.n * bits(count / both.n) for (_, x), count in both.shared.items()))


def class_entropy(setting: Setting, case: TestCase, params: Params) -> Outcome:
    both = overlap(setting, case)
    return Outcome(-sum(len(both.gold[g]) / both.n * bits(count / both.n) for (g, _), count in both.shared.items()))


def bits(share: float) -> float:
    return share * math.log2(share)


def variation(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """Not divided by the number of items; predicted clusters count the items that gold lacks."""
    both = overlap(setting, case)
    return Outcome(
        -sum(
            (
                count * (math.log2(count / len(both.gold[g])) + math.log2(count / len(both.whole[x])))
                for (g, x), count in both.shared.items()
            ),
            0.0,
        )
    )


def reliability(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """B-cubed precision over memberships; an item is left out of its own mates where all of them overlap."""
    both, pred = overlap(setting, case), {id: set(names) for id, names in case.pred.items()}
    gold = {id: set(names) for id, names in case.gold.items()}
    total = 0.0
    for items in both.pred.values():
        apart = len(items) > 1 and all(len(pred[id]) > 1 for id in items)
        total += sum(share(pred, gold, i, j) for i in items for j in items if not (apart and i == j)) / len(items)
    return Outcome(total / both.pred_n if both.pred_n else 0.0)


def sensitivity(setting: Setting, case: TestCase, params: Params) -> Outcome:
    both, gold = overlap(setting, case), {id: set(names) for id, names in case.gold.items()}
    pred = {id: set(case.pred.get(id, ())) for id in case.gold}
    total = sum(sum(share(gold, pred, i, j) for i in items for j in items) / len(items) for items in both.gold.values())
    return Outcome(total / both.gold_n)


def share(here: dict[str, Any], there: dict[str, Any], i: str, j: str) -> float:
    shared = len(here[i] & here[j])
    return min(shared, len(there[i] & there[j])) / shared


SCORES = {
    "Purity": purity,
    "InversePurity": inverse_purity,
    "FMeasurePurityInversePurity": f_of_purities,
    "FMeasureClustering": f_measure,
    "RandStatistics": rand,
    "Jaccard": jaccard,
    "FolkesAndMallows": folkes_mallows,
    "NMI-SG": nmi,
    "ReliabilityBCubed": reliability,
    "SensitivityBCubed": sensitivity,
    "Entropy": entropy,
    "ClassEntropy": class_entropy,
    "VariationOfInformation": variation,
}
