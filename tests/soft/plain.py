"""PyEvALL's soft metrics from their definitions, one item at a time and without karat: the second opinion.

Where gold gives a class one weight in all items, the share of gold with at least that weight is 1, which is no news;
a larger weight has a share of 0, for which PyEvALL puts 1/n.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.reference.plain import mean, parents, path, rows

Weights = Mapping[str, float]


@dataclass
class Case:
    """One test case: the weights of each item."""

    gold: dict[str, Weights]
    pred: dict[str, Weights]
    parent: dict[str, str | None]
    spreads: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def classes(self) -> list[str]:
        return list(dict.fromkeys(label for item in self.gold.values() for label in item))

    def at(self, item: Weights, label: str) -> float:
        """The largest weight of the label and those below it."""
        return max((w for own, w in item.items() if label in path(self, own)), default=0.0)

    def spread(self, label: str) -> tuple[float, float]:
        """Mean and mean absolute deviation of gold's weights."""
        if label not in self.spreads:
            values = [self.at(item, label) for item in self.gold.values()]
            middle = math.fsum(values) / len(values)
            off = 0.0 if len(set(values)) == 1 else math.fsum(abs(v - middle) for v in values) / len(values)
            self.spreads[label] = middle, off
        return self.spreads[label]


def cases(gold: str, pred: str, hierarchy: Any) -> dict[str, Case]:
    """The test cases that both files have; an item whose gold has no weights at all asks nothing."""
    sides = [[row for row in rows(text) if row[2]] for text in (gold, pred)]
    names = dict.fromkeys(t for t, _, _ in sides[0] if t in {other for other, _, _ in sides[1]})
    tree = dict(parents(hierarchy))
    return {name: Case(*({i: v for t, i, v in side if t == name} for side in sides), tree) for name in names}


def bits(case: Case, label: str, weight: float) -> float:
    """−log2 of the share of gold, taken for normal, with a larger weight."""
    n = len(case.gold)
    if label == "":
        return 0.0
    if label not in case.parent and label not in case.classes:
        return math.log2(n)
    if weight == 0:
        return 0.0
    middle, off = case.spread(label)
    if off == 0:
        return math.log2(n) if weight > middle + 1e-12 else 0.0
    share = 1 - 0.5 * (1 + math.erf((weight - middle) / off / math.sqrt(2)))
    return -math.log2(share) if share > 0 else math.log2(n)


def information(case: Case, group: Sequence[tuple[str, float]]) -> float:
    """I(∅) = 0; I({c, rest}) = I(c) + I(rest) − I(what c shares with each of the rest, at the smaller weight)."""
    if not group:
        return 0.0
    (label, weight), *rest = group
    common: dict[str, float] = {}
    for other, w in rest:
        if (shared := next((a for a in path(case, label) if a in path(case, other)), None)) is not None:
            common[shared] = max(common.get(shared, -math.inf), min(weight, w))
    return bits(case, label, weight) + information(case, rest) - information(case, list(common.items()))


def contrast(case: Case, predicted: Mapping[str, Weights]) -> float:
    """Mean over gold items of 2·I(P) + 2·I(G) − 3·I(P ∪ G), the union having the larger weights."""
    total = 0.0
    for item, right in case.gold.items():
        said = predicted.get(item, {})
        both = {c: max(right.get(c, -math.inf), said.get(c, -math.inf)) for c in [*right, *said]}
        p, g, union = (information(case, list(group.items())) for group in (said, right, both))
        total += 2 * p + 2 * g - 3 * union
    return total / len(case.gold)


def icm_soft(case: Case) -> float | None:
    return contrast(case, case.pred)


def icm_soft_norm(case: Case) -> float | None:
    own = contrast(case, case.gold)
    return max((contrast(case, case.pred) + own) / (2 * own), 0.0) if abs(own) > 1e-12 else None


def shares(item: Weights) -> dict[str, float]:
    """The weights scaled to sum to 1, after .001 has taken the place of those that are not above 0."""
    lifted = {label: w if w > 0 else 0.001 for label, w in item.items()}
    return {label: w / sum(lifted.values()) for label, w in lifted.items()}


def cross_entropy(case: Case) -> float | None:
    """Mean over gold items of −Σ_c g_c·log2 p_c over the classes that gold and the prediction give."""
    total = 0.0
    for item, right in case.gold.items():
        said = shares(case.pred.get(item, {}))
        total -= sum(g * math.log2(said[c]) for c, g in shares(right).items() if c in said)
    return total / len(case.gold)


def mae(case: Case) -> float | None:
    """Mean over gold items and gold classes of |g_c − p_c|, 0 for what is not given."""
    off = [
        abs(right.get(c, 0) - case.pred.get(item, {}).get(c, 0))
        for item, right in case.gold.items()
        for c in case.classes
    ]
    return mean(off)


METRICS = {"ICMSoft": icm_soft, "ICMSoftNorm": icm_soft_norm, "CrossEntropy": cross_entropy, "MAE": mae}


def scores(record: Mapping[str, Any], metric: str) -> dict[str, float | None]:
    """A metric (by PyEvALL's name) of each test case that both files have."""
    found = cases(record["gold"], record["pred"], record["params"].get("hierarchy"))
    return {name: METRICS[metric](case) for name, case in found.items()}
