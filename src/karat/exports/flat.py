# SPDX-License-Identifier: Apache-2.0
"""The scores of an evaluation as one flat dict, under names that trackers of experiments take."""

from __future__ import annotations

import re

from karat.evaluation import Evaluation


def flat(evaluation: Evaluation, prefix: str = "") -> dict[str, float]:
    """Scores by name, with the system before it where there are several; ends of intervals; undefined ones are left out.

    >>> flat(karat.evaluate(["A", "B"], ["A", "A"], metrics=["accuracy", "f1(average=micro)"]), prefix="test/")
    {'test/accuracy': 0.5, 'test/f1_average_micro': 0.5}
    """
    out: dict[str, float] = {}
    several = len(evaluation.systems) > 1
    for system in evaluation.systems:
        place = f"{prefix}{plain(system.name)}/" if several else prefix
        for score in system:
            if score.value is None:
                continue
            name = place + plain(str(score.metric))
            out[name] = score.value
            if score.interval:
                out |= {f"{name}_low": score.interval.low, f"{name}_high": score.interval.high}
    return out


def plain(name: str) -> str:
    """A name of letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^\w.-]+", "_", name.replace("@", "_at_")).strip("_")
