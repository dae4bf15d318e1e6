# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's own arithmetic for labels: Kappa by zero, ICM whose class probabilities outlive their test case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from karat.contexts import monolabel
from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.labels import plain

if TYPE_CHECKING:
    from karat.doors.pyevall.scores.scorer import Setting


def kappa(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """0 where chance agreement is total."""
    found = plain(monolabel.kappa)(setting, case, params)
    return Outcome(0) if found.average is None else found


def icm(setting: Setting, case: TestCase, params: Params) -> Outcome:
    return Outcome(mean(case, case.pred, Information(case, setting.hierarchy, setting.memory), params))


def icm_norm(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """Fresh information for each test case; gold without information divides by zero."""
    information = Information(case, setting.hierarchy, {})
    found, best = (mean(case, side, information, params) for side in (case.pred, case.gold))
    norm = (found + best) / (2 * best)
    return Outcome(0 if norm < 0 else norm)


def labels(value: Any) -> Iterable[str]:
    return [value] if isinstance(value, str) else value


def mean(case: TestCase, pred: dict[str, Any], information: Information, params: Params) -> float:
    """α1·I(P) + α2·I(G) − β·I(P ∪ G), averaged over gold's items; alike items are worked out once."""
    pairs = Counter((frozenset(labels(pred.get(id, ()))), frozenset(labels(gold))) for id, gold in case.gold.items())
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
        self.parents = {} if hierarchy is None else first_parents(adopted(hierarchy, case))
        self.probability = memory.setdefault("probability", {})
        if hierarchy is None:
            counts = dict(Counter(label for value in case.gold.values() for label in labels(value)))
        else:
            counts = self.counts(case, hierarchy)
        self.probability |= {label: count / self.n for label, count in counts.items()}

    def counts(self, case: TestCase, hierarchy: Any) -> dict[str, int]:
        """Items at or below each node; where a class stands under two, PyEvALL counts it under both."""
        below = dict(subtrees(hierarchy))
        if case.kind == "mono":
            own = Counter(case.gold.values())
            found = {node: total(node, below, own) for node in below}
            return {**{label: own[label] for label in own if label not in below}, **found}
        sets = Counter(frozenset(value) for value in case.gold.values())
        reach = {node: {node, *descendants(node, below)} for node in below}
        return {node: sum(count for chosen, count in sets.items() if chosen & inside) for node, inside in reach.items()}

    def closure(self, chosen: Iterable[str]) -> set[str]:
        return {node for label in chosen for node in self.path(label)}

    def path(self, label: str | None) -> Iterator[str]:
        while label is not None:
            yield label
            label = self.parents.get(label)

    def at(self, node: str) -> float:
        probability = self.probability.get(node, 0) or 1 / self.n
        self.probability[node] = probability
        return -math.log2(probability)

    def of(self, chosen: frozenset[str]) -> float:
        return math.fsum(
            self.at(node) - (self.at(up) if (up := self.parents.get(node)) is not None else 0)
            for node in self.closure(chosen)
        )


def adopted(hierarchy: Any, case: TestCase) -> Any:
    """The hierarchy with gold's unknown classes added as roots, which PyEvALL does for sets and weights."""
    if case.kind != "mono":
        inside = {node for node, _ in edges(hierarchy, None)}
        for label in {label: None for value in case.gold.values() for label in value}:
            if label not in inside:
                hierarchy[label] = []
    return hierarchy


def first_parents(hierarchy: Any) -> dict[str, str | None]:
    """Each node's parent; the first found counts where a class stands under two."""
    found: dict[str, str | None] = {}
    for node, up in edges(hierarchy, None):
        found.setdefault(node, up)
    return found


def subtrees(hierarchy: Any) -> Iterator[tuple[str, list[str]]]:
    """(node, children) wherever a node stands."""
    for node in hierarchy:
        inner = hierarchy[node] if isinstance(hierarchy, dict) else []
        yield node, list(inner)
        if len(inner):
            yield from subtrees(inner)


def total(node: str, below: dict[str, list[str]], own: Counter[str]) -> int:
    return own[node] + sum(total(child, below, own) for child in below[node])


def descendants(node: str, below: dict[str, list[str]]) -> Iterator[str]:
    for child in below[node]:
        yield child
        yield from descendants(child, below)


def edges(hierarchy: Any, up: str | None) -> Iterator[tuple[str, str | None]]:
    """(node, parent) in the order of the nested form; a child without a form of its own has no length."""
    for node in hierarchy:
        yield node, up
        if isinstance(hierarchy, dict) and len(hierarchy[node]):
            yield from edges(hierarchy[node], node)


SCORES = {"Kappa": kappa, "ICM": icm, "ICMNorm": icm_norm}
