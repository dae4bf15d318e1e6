# SPDX-License-Identifier: Apache-2.0
"""The JSON report, schema 1."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

import karat
from karat.evaluation import Evaluation, Interval, Score, SystemResult
from karat.provenance import signature

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
        "provenance": evaluation.provenance | {"plan": evaluation.plan},
    }


def _system(evaluation: Evaluation, system: SystemResult) -> dict[str, Any]:
    return {
        "name": system.name,
        "metrics": [_score(s) | {"signature": signature(evaluation, s)} for s in system],
        "counts": system.counts,
        "findings": [msgspec.structs.asdict(f) for f in system.findings],
        "details": [asdict(d) for d in system.details],
    }


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
            {"test_case": name, "value": p.value, "undefined": p.undefined, "interval": _interval(p.interval)}
            for name, p in score.by_test_case.items()
        ],
    }
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
    return out


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    return asdict(interval) if interval else None
