# SPDX-License-Identifier: Apache-2.0
"""Units that two systems score differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.metric import Metric, MetricError
from karat.stats.common import on_units
from karat.stats.pair import Paired
from karat.stats.statistic import Statistic
from karat.stats.units import Joint


def disagreements(
    duels: Sequence[Paired], statistic: Statistic, joint: Joint, a: str, b: str, metric: str | Metric | None
) -> list[dict[str, Any]]:
    """Those that A wins by most come first."""
    duel = next((d for d in duels if set(d.names) == {a, b}), None)
    if duel is None:
        raise MetricError(f"{a!r} and {b!r} were not compared")
    column = _unit_column(duel, statistic, metric)
    turned = -1.0 if statistic.catalogue[statistic.metrics[column].name].better == "lower" else 1.0
    rows, here = [], on_units(joint, None, duel.kept)[0]
    for t, swap in enumerate(duel.swaps):
        keys = here.keys[here.case == t]
        score = [p.stratum.unit_scores.value[p.cell, column] for p in (swap.a, swap.b)]
        score = score if duel.names == (a, b) else score[::-1]
        gain = turned * (score[0] - score[1])
        for i in np.flatnonzero(np.abs(np.nan_to_num(gain)) > 1e-12).tolist():
            case, _, unit = str(keys[i]).rpartition("\x1f")
            rows.append({
                "test_case": case or joint.cases[t], "id": unit, "wins": a if gain[i] > 0 else b,
                a: float(score[0][i]), b: float(score[1][i]), "gain": float(gain[i]),
            })  # fmt: skip
    return sorted(rows, key=lambda r: (-r["gain"], r["test_case"], r["id"]))


def _unit_column(duel: Paired, statistic: Statistic, metric: str | Metric | None) -> int:
    """The metric's column, or the first whose score a single unit has."""
    if metric is not None:
        return list(statistic.metrics).index(statistic.catalogue.resolve(metric))
    for k in range(len(statistic.metrics)):
        if duel.unit_differences(k) is not None:
            return k
    raise MetricError("no metric of this comparison has a score for a single unit; name one that has")
