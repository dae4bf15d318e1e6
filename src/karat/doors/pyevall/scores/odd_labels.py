# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's own arithmetic for labels: Kappa by zero, ICM whose class probabilities outlive their test case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from karat.contexts.monolabel import metrics as monolabel
from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores import labels
from karat.doors.pyevall.scores.odd_trees import Paths, adopted, nodes
from karat.doors.pyevall.scores.setting import Setting


def kappa(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """0 where chance agreement is total."""
    outcome = labels.plain(monolabel.kappa)(setting, case, params)
    return Outcome(0) if outcome.average is None else outcome


def f_measure(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """NaN passes as a weight, and makes NaN of every class with a hit."""
    outcome = labels.f_measure(setting, case, params)
    if not math.isnan(params["alfa_param"]):
        return outcome
    hits = labels.recall(setting, case, params).classes or {}
    classes: dict[str, float | None] = {label: math.nan if value else 0 for label, value in hits.items()}
    return Outcome(math.nan if any(hits.values()) else 0.0, classes)


def icm(setting: Setting, case: TestCase, params: Params) -> Outcome:
    return Outcome(mean(case, case.pred, Information(case, setting.hierarchy, setting.memory), params))


def icm_norm(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """Fresh information for each test case; gold without information divides by zero."""
    information = Information(case, setting.hierarchy, {})
    return normed(*(mean(case, side, information, params) for side in (case.pred, case.gold)))


def normed(contrast: float, best: float) -> Outcome:
    norm = (contrast + best) / (2 * best)
    return Outcome(0 if norm < 0 else norm)


def chosen(value: Any) -> Iterable[str]:
    return [value] if isinstance(value, str) else value


def mean(case: TestCase, pred: dict[str, Any], information: Information, params: Params) -> float:
    """α1·I(P) + α2·I(G) − β·I(P ∪ G), averaged over gold's items; alike items are worked out once."""
    pairs = Counter((frozenset(chosen(pred.get(id, ()))), frozenset(chosen(gold))) for id, gold in case.gold.items())
    total = math.fsum(
        count
        * (
            params["alpha_1"] * information.of(theirs)
            + params["alpha_2"] * information.of(ours)
            - params["beta"] * information.of(theirs | ours)
        )
        for (theirs, ours), count in pairs.items()
    )
    return total / len(case.gold)


class Information:
    """Bits of a set of labels: the sum over them and their ancestors of what each adds to its parent.

    ``memory`` holds class probabilities and outlives the test case, as in PyEvALL: a class unknown here
    keeps the probability that it had before.
    """

    def __init__(self, case: TestCase, hierarchy: Any, memory: dict[str, Any]) -> None:
        self.n = len(case.gold)
        if case.kind != "mono":
            hierarchy = adopted(hierarchy, case)
        self.paths = Paths(hierarchy)
        self.probability = memory.setdefault("probability", {})
        self.probability |= {label: count / self.n for label, count in counts(case, hierarchy).items()}

    def at(self, node: str) -> float:
        probability = self.probability.get(node, 0) or 1 / self.n
        self.probability[node] = probability
        return -math.log2(probability)

    def of(self, chosen: frozenset[str]) -> float:
        if self.paths.tangled:
            return self.tangled(sorted(chosen))
        closure = {node for label in chosen for node in self.paths.to.get(label, (label,))}
        ups = map(self.paths.parent, closure)
        return math.fsum(
            self.at(node) - (0 if up is None else self.at(up)) for node, up in zip(closure, ups, strict=True)
        )

    def tangled(self, chosen: list[str]) -> float:
        """The sum of PyEvALL's pairs, which on a tree is the sum above."""
        if not chosen:
            return 0.0
        first, *rest = chosen
        shared = dict.fromkeys(self.paths.common(first, other) for other in rest)
        return self.at(first) + self.tangled(rest) - self.tangled([node for node in shared if node is not None])


def counts(case: TestCase, hierarchy: Any) -> dict[str, int]:
    """Items at or below each node; where a class stands under two, PyEvALL counts it under both."""
    if case.kind == "mono":
        items = dict(Counter(case.gold.values()))
        if hierarchy is not None:
            summed(hierarchy, items)
        return items
    sets = Counter(frozenset(value) for value in case.gold.values())
    reach = {
        node: {node, *(inner for inner in nodes(below) if isinstance(inner, str))}
        for node, below in subtrees(hierarchy)
    }
    return {node: sum(count for chosen, count in sets.items() if chosen & inside) for node, inside in reach.items()}


def subtrees(tree: Any) -> Iterator[tuple[str, Any]]:
    """(node, what is below it) wherever a node stands; what has no length is an error, as in PyEvALL."""
    if len(tree) and isinstance(tree, (dict, list)):
        for node in tree:
            yield node, tree[node] if isinstance(tree, dict) else []
            yield from subtrees(tree[node]) if isinstance(tree, dict) else ()


def summed(tree: Any, counts: dict[str, int]) -> int:
    """Every node's count with those below it, in place; a class that stands twice gathers twice, as in PyEvALL."""
    level = 0
    for node in tree if len(tree) and isinstance(tree, (dict, list)) else ():
        direct = counts.get(node, 0)
        counts[node] = direct + (summed(tree[node], counts) if isinstance(tree, dict) else 0)
        level += counts[node]
    return level


SCORES = {"Kappa": kappa, "FMeasure": f_measure, "ICM": icm, "ICMNorm": icm_norm}
