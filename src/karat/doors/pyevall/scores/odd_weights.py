# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's own arithmetic for distributions over labels (learning with disagreement)."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.odd_labels import normed
from karat.doors.pyevall.scores.odd_trees import Paths, adopted, nodes
from karat.doors.pyevall.scores.setting import Setting

Weights = dict[str, float]
COLUMNS = ("test_case", "id", "value")
"""PyEvALL keeps classes as columns beside these, so classes of the same names are lost or overwrite them."""


class InvalidIndexError(Exception):
    """What pandas raises inside PyEvALL for a class listed twice: in the hierarchy, or by a second test case."""


TWICE = "Reindexing only valid with uniquely valued Index objects"


def icm_soft(setting: Setting, case: TestCase, params: Params) -> Outcome:
    if setting.hierarchy is not None and setting.memory:
        raise InvalidIndexError(TWICE)
    return Outcome(mean(case, case.pred, Information(case, setting.hierarchy, setting.memory), params))


def icm_soft_norm(setting: Setting, case: TestCase, params: Params) -> Outcome:
    information = Information(case, setting.hierarchy, {})
    return normed(*(mean(case, side, information, params) for side in (case.pred, case.gold)))


def mean(case: TestCase, pred: dict[str, Any], information: Information, params: Params) -> float:
    a, b, c = params["alpha_1"], params["alpha_2"], params["beta"]
    total = 0.0
    for id, gold in case.gold.items():
        theirs = pred.get(id, {})
        both = {**gold, **{label: max(weight, gold.get(label, weight)) for label, weight in theirs.items()}}
        total += a * information.of(theirs) + b * information.of(gold) - c * information.of(both)
    return total / len(case.gold)


class Information:
    """Bits of a weighted label: how rare so large a weight is in gold, by a normal curve around the class's mean."""

    def __init__(self, case: TestCase, hierarchy: Any, memory: dict[str, Any]) -> None:
        self.n = len(case.gold)
        classes: dict[str, None] = memory.setdefault("classes", {})
        classes |= dict.fromkeys(label for weights in case.gold.values() for label in weights)
        tree = None if hierarchy is None else adopted(hierarchy, case)
        self.paths = Paths(tree)
        items = [dict(weights) for weights in case.gold.values()]
        for item in items:
            raised(tree, item)
        known = list(classes if tree is None else nodes(tree))
        if len(set(known)) < len(known):
            raise InvalidIndexError(TWICE)
        self.curves = {node: curve([item.get(node, 0) for item in items]) for node in known if node not in COLUMNS}

    def at(self, label: str, weight: float) -> float:
        if label == "":
            return 0.0
        if label not in self.curves:
            return math.log2(self.n)
        if weight == 0:
            return 0.0
        rest = 1 - self.curves[label].cdf(weight)
        return math.log2(self.n) if rest == 0.0 else -math.log2(rest)

    def of(self, weights: Weights) -> float:
        """First label plus the rest minus what they share; shared is the common ancestor with the lesser weight."""
        if not weights:
            return 0.0
        (label, weight), *rest = weights.items()
        shared: Weights = {}
        for other, its_weight in rest:
            if (ancestor := self.paths.common(label, other)) is not None:
                lesser = min(weight, its_weight)
                shared[ancestor] = max(lesser, shared.get(ancestor, lesser))
        return self.at(label, weight) + self.of(dict(rest)) - self.of(shared)


def curve(values: list[float]) -> NormalDist:
    """Around the mean, with the mean absolute deviation in the place of the standard deviation.

    The sums are pandas': NaN adds nothing but is counted, and pairs are added first, which decides whether a class
    that has the same weight everywhere deviates by nothing (an error) or by the last bit (a number).
    """
    known = [0.0 if math.isnan(value) else value for value in values]
    mu = float(np.array(known, float).sum()) / len(values)
    return NormalDist(mu, math.fsum(abs(value - mu) for value in values if not math.isnan(value)) / len(values))


def raised(tree: Any, item: dict[Any, float], up: str | None = None) -> None:
    """Every parent's weight at least its children's; a child that stands in an object must have one (KeyError)."""
    for node in tree if isinstance(tree, (dict, list)) else ():
        if isinstance(tree, dict):
            raised(tree[node], item, node)
        else:
            item.setdefault(node, 0.0)
        if up is not None:
            item[up] = max(item.get(up, item[node]), item[node])


def cross_entropy(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """Labels that the prediction lacks, and items without a prediction, add nothing."""
    total = 0.0
    for id, gold in case.gold.items():
        g, p = shares(gold), shares(case.pred.get(id, {}))
        total -= sum(g[label] * math.log2(p[label]) for label in g if label in p)
    return Outcome(total / len(case.gold))


def shares(weights: Weights) -> Weights:
    positive = {label: 0.001 if weight <= 0 else weight for label, weight in weights.items()}
    whole = sum(positive.values())
    return {label: weight / whole for label, weight in positive.items()}


def mae(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """Over gold's classes, those of earlier test cases included; a class called id hides the predictions."""
    classes = setting.memory.setdefault("classes", {})
    classes |= dict.fromkeys(label for weights in case.gold.values() for label in weights)
    pred = {} if "id" in classes else case.pred
    total = sum(
        abs(gold.get(label, 0) - pred.get(id, {}).get(label, 0))
        for id, gold in case.gold.items()
        for label in classes
        if label not in COLUMNS
    )
    return Outcome(total / len(classes) / len(case.gold))


SCORES = {"ICMSoft": icm_soft, "ICMSoftNorm": icm_soft_norm, "CrossEntropy": cross_entropy, "MAE": mae}
