# SPDX-License-Identifier: Apache-2.0
"""An evaluation or a comparison in a run of Weights & Biases: scores to plot, and all of them as a table."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from karat.comparison import Comparison
from karat.evaluation import Evaluation
from karat.exports.flat import flat


def log(result: Evaluation | Comparison, run: Any = None, prefix: str = "", table: bool = True) -> dict[str, float]:
    """Log to the run, or to the one that is active; returns what was logged."""
    wandb = import_module("wandb")
    target = run or wandb.run
    if target is None:
        raise ValueError("no run is active: call wandb.init() first, or give run=")
    scores = flat(result, prefix)
    rows = result.to_dicts()
    tables: dict[str, Any] = {}
    if table and rows:
        head = list(rows[0])
        tables = {f"{prefix}karat": wandb.Table(columns=head, data=[[row[name] for name in head] for row in rows])}
    target.log({**scores, **tables})
    return scores
