# SPDX-License-Identifier: Apache-2.0
"""The context of numbers: a measured or rated value for each item, and a predicted one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat.align import Aligned
from karat.check import at_units, repeated_ids
from karat.contexts.base import Context
from karat.contexts.numbers.cells import NumberCells
from karat.contexts.options import OPTIONS
from karat.findings import Finding, InputError, finding
from karat.side import Entries, Side


class Numbers(Context):
    """Numbers against numbers."""

    name = "numbers"
    title = "Numbers: regression, ratings"
    cells = NumberCells
    kinds = ("numbers", "number", "label")
    numbers = ("gold", "pred")
    metrics = ("mae", "rmse", "r2", "pearson", "spearman")
    options = OPTIONS["numbers"]
    example = '{"id": "1", "value": 3.7}'

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        """The numbers alone; labels that are all numbers are numbers."""
        of = side.entries
        number = of["number"] if "number" in of else _spelt(side)
        return replace(side, kind="number", entries=Entries(of.unit, {"number": number}, of.single), names={})

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        bad = ~np.isfinite(side.entries["number"])
        return repeated_ids(side) + at_units(side, "value-not-finite", side.entries.unit[bad])

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Items that both sides have; equal items are one."""
        keep = (both.gold.sizes(len(both)) > 0) & (both.pred.sizes(len(both)) > 0)
        return (both if keep.all() else both.take(np.flatnonzero(keep))).collapsed()

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> NumberCells:
        gold, pred = np.zeros(len(both)), np.zeros(len(both))
        gold[both.gold.unit], pred[both.pred.unit] = both.gold["number"], both.pred["number"]
        case = both.case
        return NumberCells(gold, pred, both.n, case.code, case.names, unit=both.unit, unit_ids=both.ids)


def _spelt(side: Side) -> Any:
    """Labels as the numbers that they spell."""
    names = side.names["label"]
    try:
        number = np.array([float(name) for name in names] or [0.0])
    except ValueError:
        lone = next(name for name in names if not _is_number(name))
        line = side.line(int(side.entries.unit[side.entries["label"] == names.index(lone)][0]))
        raise InputError([finding("not-a-number", side.name, line, field="value", text=lone)]) from None
    return number[side.entries["label"]]


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


context = Numbers()
