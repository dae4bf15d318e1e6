# SPDX-License-Identifier: Apache-2.0
"""What numbers are where nobody said it: labels, ranks, scores of classes or measured values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.columns import ordered, within
from karat.findings import InputError, finding
from karat.read.names import NUMBERS
from karat.side import Side
from karat.values import fractional


def of_numbers(gold: Side, sides: Sequence[Side]) -> str | None:
    """The context of scores by class, or of measured values, where the numbers show it; None elsewhere."""
    if not sides:
        return None
    unsure = gold.kind == "number" and bool(gold.facts.get("unsure"))
    kinds = {side.kind for side in sides}
    if (gold.kind == "label" or unsure) and "weights" in kinds and kinds <= {"weights", "number"}:
        return "probabilities"
    if _are_measured(gold, sides):
        return "numbers"
    if not all(side.kind == "number" for side in sides) or gold.kind not in ("label", "number"):
        return None
    two = len(gold.names.get("label", "012")) <= 2
    if gold.kind == "label":
        truth = {name.lower() for name in gold.names["label"]} <= {"true", "false"}
        labels = truth or all(_names_labels_of(gold, side) for side in sides)
        return "probabilities" if two and not (labels and not any(map(_fractional, sides))) else None
    alone = gold.keys.by_position or gold.keys.case.names == [""]
    if not alone or any(_are_ranks(side) for side in sides) or not (unsure or gold.keys.by_position):
        return None
    if two and all(map(_fractional, sides)):
        return "probabilities"
    if gold.keys.by_position:
        return "numbers" if _fractional(gold) or any(map(_fractional, sides)) else None
    if not are_labels(gold, sides) and all(side.facts.get("unsure") for side in sides):
        raise InputError([finding("numbers-or-ranking", gold.name)])
    return None


MANY_VALUES = 20
"""Distinct fractions from which labels that are numbers are measured values."""


def _are_measured(gold: Side, systems: Sequence[Side]) -> bool:
    """Are labels that are numbers, on all sides, measured values? Grades as 0.5, 1, 1.5 are few, and all known to gold."""
    if gold.kind != "label" or not all(side.kind == "label" for side in systems):
        return False
    if not all(side.facts.get("numeric") for side in (gold, *systems)) or len(gold.names["label"]) <= MANY_VALUES:
        return False
    known = {*gold.names["label"]}
    return any("." in name for name in known) and not any({*side.names["label"]} <= known for side in systems)


def _names_labels_of(gold: Side, side: Side) -> bool:
    """Are these numbers labels of gold, under a name that does not say that they are scores?"""
    return side.facts.get("column") not in NUMBERS and {*side.names.get("label", ("",))} <= {*gold.names["label"]}


def _fractional(side: Side) -> bool:
    """Is any number not whole?"""
    return fractional(side.entries["number"])


def are_labels(gold: Side, systems: Sequence[Side]) -> bool:
    """Are numbers labels? They are if they are paired by position, or if a system uses no number that gold lacks.

    Ranks are no labels: in every test case they are 1, 2, 3, …
    """
    known = {*gold.names.get("label", ())}
    for side in systems:
        if side.kind not in ("number", "label"):
            return False
        if side.keys.by_position and gold.keys.by_position:
            return True
        if not {*side.names.get("label", ("",))} <= known or (side.kind == "number" and _are_ranks(side)):
            return False
    return bool(systems)


def _are_ranks(side: Side) -> bool:
    """Does every test case have the numbers from 1 on, each once, and one of them more than one?"""
    number, cases = side.entries["number"], len(side.keys.case.names)
    if len(number) < 2 or (number == 1).sum() > cases:  # few labels of many items need no sorting
        return False
    case = side.keys.case.code[side.entries.unit]
    size = np.bincount(case)
    if not number.max() == size.max() > 1:
        return False
    return bool((number[np.lexsort((number, case))] == within(size[size > 0]) + 1).all())


def name_columns(gold: Side, systems: Sequence[Side]) -> None:
    """Columns of scores without names are gold's labels in order, as scikit-learn has them."""
    for side in systems:
        if not side.facts.get("unnamed"):
            continue
        known, columns = ordered(gold.names.get("label", ())), side.names["label"]
        if len(known) != len(columns):
            message = f"the scores have {len(columns)} columns, and gold has {len(known)} labels"
            way_out = "name the classes of the columns with classes=, as classes=model.classes_"
            raise InputError([finding("bad-option", side.name, message=message, way_out=way_out)])
        side.names["label"] = known
        side.findings.append(finding("classes-in-order", side.name, labels=", ".join(known[:10])))
