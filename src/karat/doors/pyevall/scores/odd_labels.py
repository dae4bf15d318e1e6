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
        grown = None if hierarchy is None else adopted(hierarchy, case)
        self.parents = {} if grown is None else first_parents(grown)
        self.paths = {} if grown is None else paths_of_tangle(grown)
        self.probability = memory.setdefault("probability", {})
        if hierarchy is None:
            counts = dict(Counter(label for value in case.gold.values() for label in labels(value)))
        else:
            counts = self.counts(case, hierarchy)
        self.probability |= {label: count / self.n for label, count in counts.items()}

    def counts(self, case: TestCase, hierarchy: Any) -> dict[str, int]:
        """Items at or below each node; where a class stands under two, PyEvALL counts it under both."""
        if case.kind == "mono":
            found = dict(Counter(case.gold.values()))
            summed(hierarchy, found)
            return found
        sets = Counter(frozenset(value) for value in case.gold.values())
        reach = {node: {node, *(inner for inner, _ in edges(below, None))} for node, below in subtrees(hierarchy)}
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
        if self.paths:
            return self.tangled(sorted(chosen))
        return math.fsum(
            self.at(node) - (self.at(up) if (up := self.parents.get(node)) is not None else 0)
            for node in self.closure(chosen)
        )

    def tangled(self, chosen: list[str]) -> float:
        """The sum of PyEvALL's pairs, which on a tree is the sum above."""
        if not chosen:
            return 0.0
        first, *rest = chosen
        return self.at(first) + self.tangled(rest) - self.tangled(self.shared(first, rest))

    def shared(self, first: str, rest: list[str]) -> list[str]:
        """The deepest node that the paths of the first and of each other label have in common."""
        path = self.paths.get(first, ())
        common = ([node for node in path if node in self.paths.get(other, ())] for other in rest)
        return list(dict.fromkeys(nodes[-1] for nodes in common if nodes))


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


def paths_of_tangle(hierarchy: Any) -> dict[str, tuple[str, ...]]:
    """From the root to the first place of each class, if some class stands in two places; on a tree nothing."""
    found: dict[str, tuple[str, ...]] = {}
    nodes = list(routes(hierarchy, ()))
    for path in nodes:
        found.setdefault(path[-1], path)
    return found if len(found) < len(nodes) else {}


def routes(hierarchy: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for node in hierarchy:
        yield (*above, node)
        if isinstance(hierarchy, dict) and len(hierarchy[node]):
            yield from routes(hierarchy[node], (*above, node))


def subtrees(hierarchy: Any) -> Iterator[tuple[str, Any]]:
    """(node, what is below it) wherever a node stands."""
    for node in hierarchy:
        inner = hierarchy[node] if isinstance(hierarchy, dict) else []
        yield node, inner
        if len(inner):
            yield from subtrees(inner)


def summed(hierarchy: Any, counts: dict[str, int]) -> int:
    """Every node's count with those below it, in place; a class that stands twice gathers twice, as in PyEvALL."""
    level = 0
    for node in hierarchy if len(hierarchy) else ():
        own = counts.get(node, 0)
        counts[node] = own + (summed(hierarchy[node], counts) if isinstance(hierarchy, dict) else 0)
        level += counts[node]
    return level


def edges(hierarchy: Any, up: str | None) -> Iterator[tuple[str, str | None]]:
    """(node, parent) in the order of the nested form; a child without a form of its own has no length."""
    for node in hierarchy:
        yield node, up
        if isinstance(hierarchy, dict) and len(hierarchy[node]):
            yield from edges(hierarchy[node], node)


SCORES = {"Kappa": kappa, "ICM": icm, "ICMNorm": icm_norm}
