# SPDX-License-Identifier: Apache-2.0
"""The context of single labels: what its sides must be, how its cells are made, what it says of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.align import Aligned
from karat.cells import Cells
from karat.check import repeated_ids
from karat.contexts.base import Context
from karat.contexts.labels import label_findings
from karat.contexts.monolabel.cells import MonoLabelCells
from karat.contexts.options import OPTIONS
from karat.evaluation import Detail
from karat.findings import Finding
from karat.side import Side


class MonoLabel(Context):
    """Mono-label classification."""

    name = "monolabel"
    title = "Mono-label classification"
    cells = MonoLabelCells
    kinds = ("label",)
    metrics = ("accuracy", "precision", "recall", "f1", "kappa", "mcc", "icm", "icm_norm")
    options = OPTIONS["monolabel"]
    example = '{"id": "1", "value": "A"}'

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        return repeated_ids(side)

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> MonoLabelCells:
        gold, pred = np.full(len(both.n), -1), np.full(len(both.n), -1)
        for out, side in ((gold, both.gold), (pred, both.pred)):
            out[side.unit] = side.columns["label"]
        case = both.case
        return MonoLabelCells(
            gold,
            pred,
            both.n,
            case.code,
            case.names,
            both.names["label"],
            options["hierarchy"],
            options["pos_label"],
            unit=both.unit,
            unit_ids=both.ids,
        )

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        return label_findings(gold, pred, options["hierarchy"])

    def details(self, cells: Any) -> Sequence[Detail]:
        return [_confusion(cells)] if cells.classes and len(cells.classes) <= 200 else []


def _confusion(cells: MonoLabelCells) -> Detail:
    """Gold labels down, predicted labels across."""
    size = len(cells.classes)
    table = np.zeros((size + 1, size + 1), np.int64)
    np.add.at(table, (cells.gold, cells.pred), cells.n)
    across = [*range(size), -1] if table[:, -1].any() else list(range(size))
    down = [*range(size), -1] if table[-1].any() else list(range(size))
    names = [*cells.classes, "—"]
    rows = [[names[i], *table[i, across].tolist()] for i in down]
    return Detail(
        "confusion",
        "Confusion matrix (gold down, predicted across)",
        ["gold", *(names[i] for i in across)],
        rows,
        "matrix",
    )


context = MonoLabel()
