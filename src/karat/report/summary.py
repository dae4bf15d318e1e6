# SPDX-License-Identifier: Apache-2.0
"""An evaluation in one sentence."""

from __future__ import annotations

from karat.evaluation import Evaluation, Part, Score, SystemResult
from karat.metric import Metric
from karat.report.rows import cell, number
from karat.report.text import joined


def summary(evaluation: Evaluation, metric: Metric, digits: int = 4) -> str:
    """What was scored, how well, and where it is weakest."""
    if len(evaluation.systems) > 1:
        return _best_of(evaluation, metric, digits)
    system = evaluation.systems[0]
    score = system.scores[metric]
    if score.value is None:
        return f"{score.label} has no value: {score.undefined}."
    text = f"{score.label} is {cell(score.value, score.interval, digits)} over {_units(system)}"
    weakest = _weakest(score)
    return text + (f"; the weakest class is {weakest.label} with {number(weakest.value, digits)}." if weakest else ".")


def _units(system: SystemResult) -> str:
    gold, aligned = system.counts.get("gold", 0), system.counts.get("aligned", 0)
    return f"{gold:,} gold units" + (f", of which {aligned:,} were predicted" if aligned != gold else "")


def _weakest(score: Score) -> Part | None:
    known = [p for p in score.by_class.values() if p.value is not None]
    if len(known) < 2 or score.better not in ("higher", "lower"):
        return None
    return (max if score.better == "lower" else min)(known, key=lambda p: p.value or 0.0)


def _best_of(evaluation: Evaluation, metric: Metric, digits: int) -> str:
    scores = [(s.name, s.scores[metric]) for s in evaluation.systems]
    label, better = scores[0][1].label, scores[0][1].better
    known = [s.value for _, s in scores if s.value is not None]
    if not known or better not in ("higher", "lower"):
        return f"{len(scores)} systems on {label}."
    ends = (min(known), max(known)) if better == "lower" else (max(known), min(known))
    best, worst = ([(name, s) for name, s in scores if s.value == end] for end in ends)
    if len(best) == len(scores):
        return f"{len(scores)} systems have the same {label}, {number(ends[0], digits)}."
    have, span = ("has", best[0][1].interval) if len(best) == 1 else ("have", None)  # each has an interval of its own
    text = f"Of {len(scores)} systems {joined([n for n, _ in best])} {have} the best {label}, {cell(ends[0], span, digits)}"
    return text + (f"; {joined([n for n, _ in worst])} the worst, {number(ends[1], digits)}." if worst != best else ".")
