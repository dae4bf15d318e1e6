# SPDX-License-Identifier: Apache-2.0
"""The scores of an evaluation as one flat dict, under names that trackers of experiments take."""

from __future__ import annotations

import re
from collections.abc import Iterable

from karat.comparison import Comparison
from karat.evaluation import Evaluation


def flat(result: Evaluation | Comparison, prefix: str = "", undefined: float | None = None) -> dict[str, float]:
    """Scores by name, with the system before it where there are several, and the ends of their intervals.

    What is undefined is left out, unless ``undefined`` says what stands for it. Of a comparison: its systems' scores.

    >>> flat(karat.evaluate(["A", "B"], ["A", "A"], metrics=["accuracy", "f1(average=micro)"]), prefix="test/")
    {'test/accuracy': 0.5, 'test/f1_average_micro': 0.5}
    """
    evaluation = result.evaluation if isinstance(result, Comparison) else result
    out: dict[str, float] = {}
    several = len(evaluation.systems) > 1
    for system, called in zip(evaluation.systems, plain_names(s.name for s in evaluation.systems), strict=True):
        place = f"{prefix}{called}/" if several else prefix
        for score, name in zip(system, plain_names(str(score.metric) for score in system), strict=True):
            value = undefined if score.value is None else score.value
            if value is None:
                continue
            out[place + name] = value
            if score.interval:
                out |= {f"{place}{name}_low": score.interval.low, f"{place}{name}_high": score.interval.high}
    return out


def plain_names(names: Iterable[str]) -> list[str]:
    """Names of letters, digits, dots, dashes and underscores; those that would be one are told apart by a number.

    >>> plain_names(["run (1)", "ndcg@10", "run/1"])
    ['run_1', 'ndcg_at_10', 'run_1_2']
    """
    out: list[str] = []
    for name in names:
        plain = re.sub(r"[^\w.-]+", "_", name.replace("@", "_at_")).strip("_") or "system"
        number = 2
        while (free := plain if number == 2 and plain not in out else f"{plain}_{number}") in out:
            number += 1
        out.append(free)
    return out
