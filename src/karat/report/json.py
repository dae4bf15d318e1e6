# SPDX-License-Identifier: Apache-2.0
"""The JSON report, schema 1."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

import karat
from karat.evaluation import Detail, Evaluation, Interval, Score, SystemResult
from karat.provenance import signature
from karat.report import sliced
from karat.report.mistakes import confused_labels, disputed_units, worst_units

SCHEMA = 1


def render(evaluation: Evaluation) -> str:
    """The whole evaluation as one JSON object, two-space indented; same input, same bytes but for ``created``."""
    return msgspec.json.format(msgspec.json.encode(document(evaluation)), indent=2).decode() + "\n"


def document(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation as plain data."""
    return {
        "schema": SCHEMA,
        "karat": karat.__version__,
        "context": evaluation.context,
        "systems": [_system(evaluation, s) for s in evaluation.systems],
        **_disagreements(evaluation),
        **_summaries(evaluation),
        **_rejected(evaluation),
        "provenance": evaluation.provenance | {"plan": evaluation.plan},
    }


def _summaries(evaluation: Evaluation) -> dict[str, Any]:
    """What stands above single systems, where there is any."""
    every: dict[str, list[Any]] = {"methods": evaluation.methods, "judged": evaluation.judged}
    return {name: [asdict(s) | {"metric": str(s.metric)} for s in scores] for name, scores in every.items() if scores}


def _rejected(evaluation: Evaluation) -> dict[str, Any]:
    rows = [{"name": r.name, "findings": [msgspec.structs.asdict(f) for f in r.findings]} for r in evaluation.rejected]
    return {"rejected": rows} if rows else {}


def _disagreements(evaluation: Evaluation) -> dict[str, Any]:
    disputed = disputed_units(evaluation)
    if disputed is None:
        return {}
    units = [asdict(u) for u in disputed.units]
    return {"disagreements": disputed._asdict() | {"metric": str(disputed.metric), "units": units}}


def _system(evaluation: Evaluation, system: SystemResult) -> dict[str, Any]:
    return {
        "name": system.name,
        "metrics": [_score(s) | {"signature": signature(evaluation, s)} for s in system],
        "counts": system.counts,
        "findings": [msgspec.structs.asdict(f) for f in system.findings],
        "details": [_detail(d) for d in system.details],
        **_worst(evaluation, system),
    }


def _detail(detail: Detail) -> dict[str, Any]:
    confused = {"confused": confused_labels(detail)} if detail.kind == "matrix" else {}
    return asdict(detail) | confused


def _worst(evaluation: Evaluation, system: SystemResult) -> dict[str, Any]:
    worst = worst_units(evaluation, system)
    return {"worst": asdict(worst) | {"metric": str(worst.metric)}} if worst else {}


def _score(score: Score) -> dict[str, Any]:
    out: dict[str, Any] = {
        "metric": str(score.metric),
        "name": score.label,
        "params": score.params,
        "better": score.better,
        "value": score.value,
        "undefined": score.undefined,
        "undefined_test_cases": score.n_undefined,
        "interval": _interval(score.interval),
        "by_test_case": [
            {"test_case": p.test_case, "value": p.value, "undefined": p.undefined, "interval": _interval(p.interval)}
            for p in score.parts()
        ],
    }
    if score.slices:
        out["slices"] = sliced.documents(score)
    several = len(score.test_cases) > 1
    if several:
        out["over_test_cases"] = asdict(score.spread)
    if score.result.by_class is not None:
        out["by_class"] = [
            {
                "test_case": p.test_case,
                "class": p.label,
                "value": p.value,
                "undefined": p.undefined,
                "interval": _interval(p.interval),
            }
            for p in score.class_parts()
        ]
        if several:
            out["by_class_mean"] = [
                {"class": name, "value": p.value, "undefined": p.undefined, "interval": _interval(p.interval)}
                for name, p in score.by_class.items()
            ]
    return out


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    return asdict(interval) if interval else None
