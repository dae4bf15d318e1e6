# SPDX-License-Identifier: Apache-2.0
"""What speaks against trusting an interval."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from karat.cells import Cells
from karat.evaluation import Score
from karat.findings import Finding, finding
from karat.metric import Metric
from karat.stats.statistic import Statistic, recorded
from karat.stats.units import over_test_cases

FEW_UNITS, FEW_MEMBERS, OFTEN_UNDEFINED, MUCH_BIAS = 30, 10, 0.02, 0.25
"""Units and gold members below which intervals cover too little; share of resamples; bias in standard errors."""

FIXED = ("icm_soft_norm",)
"""Metrics whose resamples keep what was estimated from all of gold, though it weighs in the score."""

EXTREMES = ("mce", "ks", "recall_at_precision", "recall_at_fpr", "max_error")
"""Metrics that are the largest of many numbers, of which chance chooses one: neither jackknife nor resamples know by how much."""

ALWAYS = {"information-fixed": FIXED, "score-extreme": EXTREMES}


def doubts(cells: Cells, scores: Mapping[Metric, Score], statistic: Statistic, unit: str) -> list[Finding]:
    """Why intervals of this size should not be trusted."""
    out = few_units(cells, unit)
    rare = rare_classes(cells)
    if rare and reads_classes(cells, statistic):
        shown = ", ".join(f"{label} ({count})" for label, count in rare[:5]) + (", …" if len(rare) > 5 else "")
        where = " in a test case" if len(cells.test_cases) > 1 else ""
        out.append(finding("rare-classes", count=len(rare), where=where, examples=shown))
    return out + [f for m, s in scores.items() if s.better != "neither" for f in of_score(str(m), s)]


def reads_classes(cells: Cells, statistic: Statistic) -> bool:
    """Whether a metric reads numbers by class (macro averages, balanced accuracy, ICM), so that a rare one weighs much."""
    tape = recorded(statistic.of(cells), cells.n.astype(float), cells.classes, ())
    widths = {len(cells.classes), len(getattr(cells, "nodes", cells.classes))} - {1}
    return any(len(x.shape) > 1 and x.shape[1] in widths for x in tape.vectors)


def few_units(cells: Cells, unit: str) -> list[Finding]:
    many = unit[:-1] + "ies" if unit[-1] == "y" else unit + "s"
    total = int(cells.n.sum())
    if total <= FEW_UNITS:
        return [finding("few-units", count=total, counted=unit if total == 1 else many, units=many)]
    if over_test_cases(cells):
        return []
    by_case = np.bincount(cells.test_case, cells.n, len(cells.test_cases))
    few = int((by_case <= FEW_UNITS).sum())
    return [finding("cases-of-few-units", count=few, total=len(by_case), units=many)] if few else []


def of_score(metric: str, score: Score) -> list[Finding]:
    """What speaks against the interval of one score."""
    out, interval = [], score.interval
    if interval is None:
        return []
    if interval.method == "rule-of-three" or interval.low == interval.high:
        out.append(finding("interval-degenerate", metric=metric))
    if interval.undefined > OFTEN_UNDEFINED:
        out.append(finding("interval-undefined", metric=metric, share=f"{interval.undefined:.0%}"))
    if interval.se and abs(interval.bias) > MUCH_BIAS * interval.se:
        code = "bias-corrected" if interval.method == "folded-t" else "score-biased"
        out.append(finding(code, metric=metric, bias=f"{interval.bias:+.2g}"))
    if interval.method == "tailed-t":
        out.append(finding("heavy-tails", metric=metric))
    name = metric.partition("(")[0]
    out += [finding(code, metric=metric) for code, names in ALWAYS.items() if name in names]
    return out


def rare_classes(cells: Cells) -> list[tuple[str, int]]:
    """Classes with fewer than ten gold members in a test case that has them, and how many they have there."""
    if not hasattr(cells, "gold_of") or not cells.classes or over_test_cases(cells):
        return []
    gold = cells.by_test_case() @ cells.gold_of
    least = np.where(gold > 0, gold, np.inf).min(0, initial=np.inf)
    return [(label, int(least[i])) for i, label in enumerate(cells.classes) if least[i] < FEW_MEMBERS]
