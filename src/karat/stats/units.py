# SPDX-License-Identifier: Apache-2.0
"""Systems side by side: the units that all of them have, by id, each with the cell that it falls into for every system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from karat.cells import Cells
from karat.columns import ordered
from karat.evaluation import SystemResult
from karat.findings import Finding, InputError, finding
from karat.metric import MetricError
from karat.plan import Plan
from karat.weights import Ints, Texts


def over_test_cases(cells: Cells) -> bool:
    """Whether the units are the test cases themselves (queries): one unit in each."""
    return cells.are_test_cases and (len(cells.test_cases) > 1 or cells.unit is None)


def unit_keys(cells: Cells) -> Texts:
    """Test case and id of each unit as one text; the test case alone where it is the unit."""
    if over_test_cases(cells):
        return np.array(cells.test_cases, str)
    if cells.unit is None or cells.unit_ids is None:
        raise MetricError("the units of this evaluation were not kept; evaluate with units=True")
    case = np.array(cells.test_cases, str)[cells.test_case[cells.unit]]
    return np.char.add(np.char.add(case, "\x1f"), np.asarray(cells.unit_ids).astype(str))


@dataclass(frozen=True)
class Joint:
    """Several systems over the units that all of them have."""

    names: list[str]
    cells: list[Cells]
    keys: Texts
    """The units, sorted, so that the order of files does not matter."""
    cell: Ints
    """Systems × units: the cell of each unit (its test case, where these are the units)."""
    cases: list[str]
    case: Ints
    """Test case of each unit."""

    @cached_property
    def over_cases(self) -> bool:
        return over_test_cases(self.cells[0])


def joined(systems: Sequence[SystemResult]) -> Joint:
    """Pair units by test case and id, never by position; every system must have the same ones."""
    cells = same_classes([s.cells for s in systems])
    keys = [unit_keys(cells[0])] if same_rows(cells) else [unit_keys(c) for c in cells]
    order = [np.argsort(k, kind="stable") for k in keys]
    order, common = order * (len(cells) // len(order)), keys[0][order[0]]
    if over_test_cases(cells[0]):
        return Joint([s.name for s in systems], cells, common, np.stack(order), [""], np.zeros(len(common), np.int64))
    cell = np.stack([_of_units(c)[at] for c, at in zip(cells, order, strict=True)])
    cases = np.array(cells[0].test_cases, str)
    used, case = np.unique(cases[cells[0].test_case[cell[0]]], return_inverse=True)
    return Joint([s.name for s in systems], cells, common, cell, used.tolist(), case)


def same_rows(cells: Sequence[Cells]) -> bool:
    """Whether all have the same units in the same order: most do, and texts need not be compared one by one."""
    first, *others = cells
    return all(
        c.test_cases == first.test_cases
        and c.unit_ids == first.unit_ids
        and np.array_equal(c.test_case[_of_units(c)], first.test_case[_of_units(first)])
        for c in others
    )


def _of_units(cells: Cells) -> Ints:
    """The cell of each unit."""
    return np.argsort(cells.test_case, kind="stable") if cells.unit is None else cells.unit


def same_classes(cells: Sequence[Cells]) -> list[Cells]:
    """The systems' cells over the labels of all of them, where their kind of cells allows it."""
    if all(c.classes == cells[0].classes for c in cells) or any(c.class_codes is None for c in cells):
        return list(cells)
    classes = ordered({label for c in cells for label in c.classes})
    return [c.with_classes(classes) for c in cells]


def on_common_units(systems: Sequence[SystemResult], plan: Plan) -> tuple[list[SystemResult], list[Finding]]:
    """The systems scored on the units that all of them have, and what that leaves out."""
    partial = any(s.cells.left_out is not None for s in systems)
    if same_rows([s.cells for s in systems]) and not partial:
        return list(systems), []
    keys = [unit_keys(s.cells) for s in systems]
    every = np.unique(np.concatenate(keys))
    left_out = np.stack([_left_out(s.cells, k, every) for s, k in zip(systems, keys, strict=True)])
    shared = (left_out == left_out[0]).all(0) & (left_out[0] != ABSENT)
    if shared.all():
        return list(systems), []
    common = every[shared]
    lacks = {s.name: int((x[~shared] != 0).sum()) for s, x in zip(systems, left_out, strict=True)}
    shown = ", ".join(f"{name} lacks {count}" for name, count in lacks.items() if count)
    if not len(common):
        raise InputError([finding("no-common-units", shown=shown)])
    kept = [
        replace(s, cells=cells, scores=plan.score(cells))
        for s, cells in ((s, only(s.cells, np.isin(k, common)).as_whole()) for s, k in zip(systems, keys, strict=True))
    ]
    return kept, [finding("common-units", count=len(common), total=len(every), shown=shown)]


ABSENT = np.iinfo(np.int64).min
"""Left out of a unit that a system does not have: all."""


def _left_out(cells: Cells, keys: Texts, every: Texts) -> Ints:
    """By unit of ``every``, what of it the system lacks, as a number."""
    out = np.full(len(every), ABSENT)
    part = cells.left_out
    out[np.searchsorted(every, keys)] = 0 if part is None else part[_of_units(cells)]
    return out


def only(cells: Cells, keep: np.ndarray[tuple[int], np.dtype[np.bool_]], *, named: bool = True) -> Cells:
    """The cells of these units alone; ``named``: with their ids."""
    of_units = _of_units(cells)[keep]
    used, unit = np.unique(of_units, return_inverse=True)
    out = cells.take(used, np.bincount(unit, minlength=len(used)))
    cases, out.test_case = np.unique(out.test_case, return_inverse=True)
    out.test_cases = [cells.test_cases[t] for t in cases.tolist()]
    if cells.unit is not None and cells.unit_ids is not None:
        out.unit, out.unit_ids = unit, np.asarray(cells.unit_ids, object)[keep].tolist() if named else None
    return out
