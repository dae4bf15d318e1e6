# SPDX-License-Identifier: Apache-2.0
"""ranx's compare: several runs, their means and which differences are significant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.doors.ranx.report import Pairs, Report
from karat.doors.ranx.scoring import by_query, metric
from karat.metric import MetricError
from karat.stats.randomisation import Coins, randomisation
from karat.stats.tests import paired_t

Floats = NDArray[np.float64]


def compare(
    qrels: Any,
    runs: Sequence[Any],
    metrics: str | Sequence[str],
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
) -> Report:
    """Means of every run, with the runs that each is significantly better than.

    ``stat_test``: student (paired t), fisher (randomisation) or tukey (HSD of independent groups).
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    values = {
        getattr(run, "name", None) or f"run_{number}": arrays(qrels, run, names, make_comparable)
        for number, run in enumerate(runs, 1)
    }
    p_values = {name: tested(stat_test, values, name, n_permutations, random_seed) for name in names}
    models = list(values)
    return Report(
        models,
        {model: {name: float(np.mean(values[model][name])) for name in names} for model in models},
        {pair: {name: pvalue(p_values[name][pair], max_p) for name in names} for pair in permutations(models, 2)},
        names,
        max_p,
        {(a, b): {name: wins(values[a][name], values[b][name]) for name in names} for a, b in permutations(models, 2)},
        rounding_digits,
        show_percentages,
        stat_test,
    )


def arrays(qrels: Any, run: Any, names: Sequence[str], make_comparable: bool) -> dict[str, Floats]:
    """Scores in the order of the queries' ids, so that those of two runs belong together."""
    scores = by_query(qrels, run, {name: metric(name) for name in names}, make_comparable)
    return {name: np.array([by[query] for query in sorted(by)]) for name, by in scores.items()}


def pvalue(p: float, max_p: float) -> dict[str, Any]:
    return {"p_value": p, "significant": p <= max_p}


def wins(a: Floats, b: Floats) -> dict[str, int]:
    return {"W": int((a > b).sum()), "T": int((a == b).sum()), "L": int((a < b).sum())}


def tested(test: str, values: dict[str, dict[str, Floats]], name: str, draws: int, seed: int) -> Pairs[float]:
    """p of every ordered pair of runs."""
    scores = {model: by[name] for model, by in values.items()}
    if test == "tukey":
        return tukey(scores)
    if test not in ("student", "fisher"):
        raise MetricError(f"unknown test {test!r}; there are student, fisher and tukey")
    return {
        (a, b): student(scores[a] - scores[b]) if test == "student" else fisher(scores[a] - scores[b], draws, seed)
        for a, b in permutations(scores, 2)
    }


def student(d: Floats) -> float:
    """A difference that is the same for every query is certain."""
    p = paired_t(d).p
    return 0.0 if np.isnan(p) and len(d) > 1 else p


def fisher(d: Floats, draws: int, seed: int) -> float:
    turned = randomisation(
        lambda swapped: ((1 - 2 * swapped) @ d / len(d))[:, None], np.ones(len(d)), np.array([d.mean()]),
        Coins(seed), draws,
    )  # fmt: skip
    return float(turned.p[0])


def tukey(scores: dict[str, Floats]) -> Pairs[float]:
    from scipy.stats import tukey_hsd

    p = tukey_hsd(*scores.values()).pvalue
    place = {model: number for number, model in enumerate(scores)}
    return {(a, b): float(p[place[a], place[b]]) for a, b in permutations(scores, 2)}
