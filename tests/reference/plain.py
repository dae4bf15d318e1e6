"""Classification scores from their definitions, one item at a time and without karat: the second opinion.

Counts are exact fractions. The information of a label set is the recursive definition of ICM's paper and not the
closed form that karat computes. Values are None where the definition divides by zero.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

Row = tuple[str, str, Any]
NAMES = ["test_case", "id", "value"]
ICM_WEIGHTS = {"alpha_1": 2, "alpha_2": 2, "beta": 3}


def rows(text: str) -> list[Row]:
    """The records of a file as anybody reads them: a header is a header, an empty line is none, a label is a text."""
    text = text.removeprefix("\ufeff")
    if text.startswith("["):
        return [(r["test_case"], r["id"], r["value"]) for r in json.loads(text)]
    separator = "\t" if "\t" in text.splitlines()[0] else ","
    lines = [line for line in csv.reader(io.StringIO(text), delimiter=separator) if line]
    header = [name.strip() for name in lines[0]]
    if sorted(header) != sorted(NAMES):
        return [(t, i, labels(v)) for t, i, v in lines]
    at = [header.index(name) for name in NAMES]
    return [(line[at[0]], line[at[1]], labels(line[at[2]])) for line in lines[1:]]


def labels(cell: str) -> Any:
    if cell.startswith("{"):
        return json.loads(cell)
    return [str(label) for label in json.loads(cell)] if cell.startswith("[") else cell


class Part(NamedTuple):
    """A metric of one test case, and of each gold class where it has them."""

    value: float | None
    classes: dict[str, float | None] = {}  # noqa: RUF012  (never written to)


@dataclass
class Case:
    """One test case: the labels of each item as a set."""

    gold: dict[str, frozenset[str]]
    pred: dict[str, frozenset[str]]
    parent: Mapping[str, str | None]

    @property
    def classes(self) -> list[str]:
        return list(dict.fromkeys(label for item in self.gold.values() for label in sorted(item)))

    def predicted(self, item: str) -> frozenset[str]:
        return self.pred.get(item, frozenset())


def cases(gold: Sequence[Row], pred: Sequence[Row], hierarchy: Any) -> dict[str, Case]:
    """Gold's test cases; items that gold lacks stay among the predictions."""
    tree = dict(parents(hierarchy))
    sides = [[(t, i, frozenset([v] if isinstance(v, str) else v)) for t, i, v in side] for side in (gold, pred)]
    return {
        name: Case(*({i: v for t, i, v in side if t == name} for side in sides), tree)
        for name in dict.fromkeys(t for t, _, _ in gold)
    }


def parents(tree: Any, above: str | None = None) -> list[tuple[str, str | None]]:
    """Each label of a nested hierarchy with the one above it."""
    out: list[tuple[str, str | None]] = []
    for label in tree or ():
        out.append((label, above))
        out += parents(tree[label], label) if isinstance(tree, dict) else []
    return out


def hits(case: Case) -> int:
    return sum(case.predicted(i) == right for i, right in case.gold.items())


def accuracy(case: Case) -> Part:
    return Part(hits(case) / len(case.gold))


def system_precision(case: Case) -> Part:
    return Part(hits(case) / len(case.pred) if case.pred else None)


def kappa(case: Case) -> Part:
    """(observed − chance) / (1 − chance), chance = Σ_c share of gold with c · share of gold items predicted c."""
    n = len(case.gold)
    chance = Fraction(0)
    for c in case.classes:
        in_gold = sum(c in right for right in case.gold.values())
        in_pred = sum(c in case.predicted(i) for i in case.gold)
        chance += Fraction(in_gold, n) * Fraction(in_pred, n)
    return Part(float((Fraction(hits(case), n) - chance) / (1 - chance)) if chance != 1 else None)


def counts(case: Case, label: str) -> tuple[int, int, int]:
    """Of a class: right predictions, items in gold, predictions (those for items that gold lacks too)."""
    right = sum(label in gold and label in case.predicted(i) for i, gold in case.gold.items())
    return right, sum(label in g for g in case.gold.values()), sum(label in p for p in case.pred.values())


def per_class(case: Case, function: Any) -> Part:
    """The plain mean over gold's classes that have a value."""
    found = {label: function(*counts(case, label)) for label in case.classes}
    return Part(mean(list(found.values())), found)


def precision(case: Case) -> Part:
    return per_class(case, lambda right, in_gold, in_pred: right / in_pred if in_pred else None)


def recall(case: Case) -> Part:
    return per_class(case, lambda right, in_gold, in_pred: right / in_gold)


def f_measure(case: Case, alfa_param: float = 0.5) -> Part:
    """1 / (α/precision + (1 − α)/recall), 0 without a right prediction."""

    def f(right: int, in_gold: int, in_pred: int) -> float:
        return 1 / (alfa_param * in_pred / right + (1 - alfa_param) * in_gold / right) if right else 0.0

    return per_class(case, f)


def path(case: Any, label: str) -> list[str]:
    """The label and all above it, deepest first."""
    out = [label]
    while (above := case.parent.get(out[-1])) is not None:
        out.append(above)
    return out


def content(case: Case, label: str) -> float:
    """−log2 of the share of gold items with the label or one below it; of a label that none has, log2 n."""
    having = sum(any(label in path(case, own) for own in item) for item in case.gold.values())
    return -math.log2(max(having, 1) / len(case.gold))


def information(case: Case, group: Sequence[str]) -> float:
    """I(∅) = 0; I({c, rest}) = I(c) + I(rest) − I(deepest labels that c shares with each of the rest)."""
    if not group:
        return 0.0
    first, *rest = group
    own = path(case, first)
    shared = [next((a for a in own if a in path(case, other)), None) for other in rest]
    common = list(dict.fromkeys(a for a in shared if a is not None))
    return content(case, first) + information(case, rest) - information(case, common)


def contrast(case: Case, predicted: Mapping[str, frozenset[str]], weights: Mapping[str, float]) -> float:
    """Mean over gold items of α1·I(P) + α2·I(G) − β·I(P ∪ G)."""
    a, b, c = (weights[k] for k in ("alpha_1", "alpha_2", "beta"))
    total = 0.0
    for item, right in case.gold.items():
        said = predicted.get(item, frozenset())
        parts = [information(case, sorted(group)) for group in (said, right, said | right)]
        total += a * parts[0] + b * parts[1] - c * parts[2]
    return total / len(case.gold)


def icm(case: Case, **weights: float) -> Part:
    return Part(contrast(case, case.pred, ICM_WEIGHTS | weights))


def icm_norm(case: Case, **weights: float) -> Part:
    """(ICM(P, G) + ICM(G, G)) / (2 · ICM(G, G)), not below 0."""
    own = contrast(case, case.gold, ICM_WEIGHTS | weights)
    if abs(own) < 1e-12:
        return Part(None)
    return Part(max((contrast(case, case.pred, ICM_WEIGHTS | weights) + own) / (2 * own), 0.0))


def scores(gold: str, pred: str, metric: str, given: Mapping[str, Any]) -> dict[str, Part]:
    """A metric (by PyEvALL's name) of each test case of two files."""
    own = {k: given[k] for k in PARAMETERS.get(metric, ()) if k in given}
    found = cases(rows(gold), rows(pred), given.get("hierarchy"))
    return {name: METRICS[metric](case, **own) for name, case in found.items()}


METRICS: dict[str, Any] = {
    "Accuracy": accuracy, "SystemPrecision": system_precision, "Kappa": kappa, "Precision": precision, "Recall": recall,
    "FMeasure": f_measure, "ICM": icm, "ICMNorm": icm_norm,
}  # fmt: skip
PARAMETERS = {"FMeasure": ("alfa_param",), "ICM": tuple(ICM_WEIGHTS), "ICMNorm": tuple(ICM_WEIGHTS)}


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that are defined."""
    there = [v for v in values if v is not None]
    return math.fsum(there) / len(there) if there else None
