# SPDX-License-Identifier: Apache-2.0
"""Classification scores from karat's cells; classes are those of gold, in order of appearance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from karat.cells import Sparse
from karat.contexts.monolabel import MonoLabelCells
from karat.contexts.monolabel.metrics import accuracy, kappa, system_precision
from karat.contexts.multilabel import MultiLabelCells
from karat.contexts.tree import icm, icm_norm
from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.setting import Setting
from karat.hierarchy import Hierarchy
from karat.metric import Definition
from karat.score import ratio


def cells_of(setting: Setting, case: TestCase, hierarchy: Any = None) -> Any:
    """The test case counted, predictions for ids that gold lacks included."""
    kind = "labels" if hierarchy is None else "tree of labels"
    return setting.once(kind, case, lambda: (mono if case.kind == "mono" else sets)(case, tree(hierarchy)))


def mono(case: TestCase, hierarchy: Hierarchy | None) -> Any:
    classes = classes_of(case)
    code: dict[str | None, int] = {label: index for index, label in enumerate(classes)}
    pairs = Counter(
        (code.get(case.gold.get(id), -1), code.get(case.pred.get(id), -1)) for id in {**case.gold, **case.pred}
    )
    gold, pred = np.array(list(pairs), np.int64).reshape(-1, 2).T
    return MonoLabelCells(gold, pred, list(pairs.values()), np.zeros(len(pairs), int), [case.name], classes, hierarchy)


def sets(case: TestCase, hierarchy: Hierarchy | None) -> Any:
    ids, classes = list({**case.gold, **case.pred}), classes_of(case)
    gold, pred = (members(side, ids, classes) for side in (case.gold, case.pred))
    in_gold, in_pred = (np.array([id in side for id in ids]) for side in (case.gold, case.pred))
    zeros = np.zeros(len(ids), np.int64)
    return MultiLabelCells(gold, pred, in_gold, in_pred, zeros + 1, zeros, [case.name], classes, hierarchy)


def members(side: Mapping[str, list[str]], ids: list[str], classes: list[str]) -> Sparse:
    code = {label: index for index, label in enumerate(classes)}
    pairs = [(row, code[label]) for row, id in enumerate(ids) for label in side.get(id, ())]
    at = np.array(pairs, np.int64).reshape(-1, 2)
    return Sparse.of(at[:, 0], at[:, 1], 1.0, (len(ids), len(classes)))


def tree(hierarchy: Any) -> Hierarchy | None:
    return None if hierarchy is None else Hierarchy.of(hierarchy)


def classes_of(case: TestCase) -> list[str]:
    """Gold's classes by first appearance, then those only predicted."""
    classes: dict[str, None] = {}
    for side in (case.gold, case.pred):
        for value in side.values():
            classes |= dict.fromkeys([value] if isinstance(value, str) else value)
    return list(classes)


def plain(metric: Definition) -> Callable[[Setting, TestCase, Params], Outcome]:
    """A karat metric with one value a test case."""

    def score(setting: Setting, case: TestCase, params: Params) -> Outcome:
        cells = cells_of(setting, case, setting.hierarchy if metric in (icm, icm_norm) else None)
        return Outcome(known(metric.function(cells.by_test_case(), cells, **params.values).value[0]))

    return score


def known(value: float) -> float | None:
    """None for undefined: no NaN leaves karat."""
    return None if np.isnan(value) else float(value)


def by_class(setting: Setting, case: TestCase, num: Any, den: Any, undefined: float | None) -> Outcome:
    """A ratio of counts for each gold class, and the mean of those that are defined."""
    cells = cells_of(setting, case)
    W = cells.by_test_case()
    value = ratio(num(W, cells), den(W, cells), "").value[0]
    in_gold = (W @ cells.gold_of)[0] > 0
    chosen = {label: known(value[index]) for index, label in enumerate(cells.classes) if in_gold[index]}
    filled = {label: undefined if share is None else share for label, share in chosen.items()}
    defined = [share for share in filled.values() if share is not None]
    return Outcome(sum(defined) / len(defined) if defined else None, filled)


def precision(setting: Setting, case: TestCase, params: Params) -> Outcome:
    return by_class(setting, case, lambda W, c: W @ c.hit_of, lambda W, c: W @ c.pred_of, None)


def recall(setting: Setting, case: TestCase, params: Params) -> Outcome:
    return by_class(setting, case, lambda W, c: W @ c.hit_of, lambda W, c: W @ c.gold_of, None)


def f_measure(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """1 / (a/P + (1 − a)/R) = hits / (a·predicted + (1 − a)·gold); 0 where nothing is hit."""
    a = params["alfa_param"]
    outcome = by_class(
        setting, case, lambda W, c: W @ c.hit_of, lambda W, c: a * (W @ c.pred_of) + (1 - a) * (W @ c.gold_of), 0
    )
    return outcome._replace(classes={label: value or 0 for label, value in (outcome.classes or {}).items()})


SCORES = {
    "Accuracy": plain(accuracy),
    "SystemPrecision": plain(system_precision),
    "Kappa": plain(kappa),
    "Precision": precision,
    "Recall": recall,
    "FMeasure": f_measure,
    "ICM": plain(icm),
    "ICMNorm": plain(icm_norm),
}
