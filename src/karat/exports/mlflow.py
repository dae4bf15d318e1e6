# SPDX-License-Identifier: Apache-2.0
"""An evaluation or a comparison in the active run of MLflow: scores as metrics, the report and its page as artefacts."""

from __future__ import annotations

import json
from importlib import import_module

from karat.comparison import Comparison
from karat.evaluation import Evaluation
from karat.exports.flat import flat


def log(
    result: Evaluation | Comparison, prefix: str = "", step: int | None = None, artifacts: bool = True
) -> dict[str, float]:
    """Log to the active run, or to one that is begun; returns what was logged."""
    mlflow = import_module("mlflow")
    scores = flat(result, prefix)
    mlflow.log_metrics(scores, step=step)
    if artifacts:
        mlflow.log_dict(json.loads(result.to_json()), f"{prefix}karat.json")
        mlflow.log_text(result.to_html(), f"{prefix}karat.html")
    return scores
