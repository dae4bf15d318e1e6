# SPDX-License-Identifier: Apache-2.0
"""A system's result as rows of the store."""

from __future__ import annotations

from typing import Any

from karat.evaluation import SystemResult


def score_rows(run_id: str, position: int, result: SystemResult) -> list[dict[str, Any]]:
    """One row per score."""
    return [
        {
            "run_id": run_id, "position": position, "metric": str(score.metric), "value": score.value,
            "low": score.interval.low if score.interval else None, "high": score.interval.high if score.interval else None,
        }
        for score in result
    ]  # fmt: skip
