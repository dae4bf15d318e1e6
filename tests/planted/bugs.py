"""Metrics with a bug each, and the law that must catch it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from karat.cells import Weights
from karat.contexts.monolabel import MonoLabelCells
from karat.metric import Definition, metric
from karat.score import Values, ratio


class Bug(NamedTuple):
    definition: Definition
    law: str


PLANTED: list[Bug] = []


def plant(law: str, **facts: Any) -> Any:
    """Declare a metric with a bug that the named law must find."""

    def declare(function: Any) -> Any:
        definition = metric(MonoLabelCells, reference="a bug", **{"symmetric": True, **facts})(function)
        PLANTED.append(Bug(definition, law))
        return definition

    return declare


@plant("test_cases_apart")
def counts_all_test_cases(W: Weights, cells: MonoLabelCells) -> Values:
    """Divides by all units, not by the group's."""
    return ratio(W @ cells.hit, float(cells.n.sum()), "no items")


@plant("weights_are_copies")
def reads_the_counts(W: Weights, cells: MonoLabelCells) -> Values:
    """Divides by what the cells count, whatever the weights say: wrong for every resample."""
    return ratio(W @ cells.hit, cells.by_test_case() @ cells.in_gold, "no items")


@plant("scale_of_weights")
def never_below_one(W: Weights, cells: MonoLabelCells) -> Values:
    """Takes a sum of weights for a number of units."""
    return ratio(W @ cells.hit, np.maximum(W @ cells.in_gold, 1), "no items")


@plant("parts_and_whole")
def counts_cells(W: Weights, cells: MonoLabelCells) -> Values:
    """A share of cells instead of units."""
    return ratio(cells.hit.sum() + 0 * (W @ cells.ones), float(len(cells)), "no cells")


@plant("parts_and_whole")
def ignores_counts(W: Weights, cells: MonoLabelCells) -> Values:
    """Every cell weighs the same: wrong as soon as a cell holds two units."""
    once = type(cells.by_test_case())(cells.test_case, np.ones(len(cells)), (len(cells.test_cases), len(cells)))
    return ratio(once @ cells.hit, once @ cells.in_gold, "no items")


@plant("dense_is_grouped")
def looks_into_the_weights(W: Weights, cells: MonoLabelCells) -> Values:
    """Another result for another form of the weights."""
    bonus = 0.0 if hasattr(W, "group") else 0.1
    return ratio((1 - bonus) * (W @ cells.hit), W @ cells.in_gold, "no items")


@plant("order_of_rows")
def first_row_counts_twice(W: Weights, cells: MonoLabelCells) -> Values:
    """State that remembers what it saw first."""
    seen.append(None)
    return ratio(W @ cells.hit, W @ cells.in_gold + len(seen) % 2, "no items")


seen: list[None] = []


@plant("names_of_labels")
def forgets_the_first_class(W: Weights, cells: MonoLabelCells) -> Values:
    """Takes the first label in text order for a background class."""
    return ratio((W @ cells.hit_of)[:, 1:].sum(-1), (W @ cells.gold_of)[:, 1:].sum(-1), "no items")


@plant("bounds")
def twice_the_share(W: Weights, cells: MonoLabelCells) -> Values:
    return ratio(2 * (W @ cells.hit), W @ cells.in_gold, "no items")


@plant("perfect_is_best")
def never_quite_one(W: Weights, cells: MonoLabelCells) -> Values:
    return ratio(W @ cells.hit, W @ cells.in_gold + 1, "no items")


@plant("perfect_is_best", better="lower")
def wrong_direction(W: Weights, cells: MonoLabelCells) -> Values:
    return ratio(W @ cells.hit, W @ cells.in_gold, "no items")


@plant("perfect_is_best", bounds=(0, np.inf))
def rewards_errors(W: Weights, cells: MonoLabelCells) -> Values:
    return ratio(W @ (cells.in_gold - cells.hit), 1.0, "no items")


@plant("defined_or_why")
def divides_by_nothing(W: Weights, cells: MonoLabelCells) -> Values:
    """Infinity where something is missing."""
    lost = W @ (cells.in_gold * (1 - cells.in_pred))
    return Values(np.where(lost > 0, np.inf, 1.0), "something is missing")


@plant("defined_or_why")
def no_reason(W: Weights, cells: MonoLabelCells) -> Values:
    lost = W @ (cells.in_gold * (1 - cells.in_pred))
    return Values(np.where(lost > 0, np.nan, 1.0), "")


@plant("pooled_is_one")
def knows_its_test_case(W: Weights, cells: MonoLabelCells) -> Values:
    """Looks at the cells' test cases instead of the weights' rows."""
    several = len(cells.test_cases) > 1 and W.shape[0] == 1
    return ratio(W @ cells.hit, W @ cells.in_gold * (1 + several), "no items")


@plant("parse_print")
def unprintable(W: Weights, cells: MonoLabelCells, *, k: float = 1.5) -> Values:
    """A cut that is no whole number cannot be written name@k."""
    return ratio(W @ cells.hit, W @ cells.in_gold, "no items")
