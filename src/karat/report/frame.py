# SPDX-License-Identifier: Apache-2.0
"""Scores as pandas and Polars frames, where those are installed."""

from __future__ import annotations

from typing import Any

from karat.evaluation import Evaluation
from karat.report.tables import dicts


def pandas(evaluation: Evaluation) -> Any:
    """One row per system, metric, test case and class."""
    import pandas as pd

    return pd.DataFrame(dicts(evaluation))


def polars(evaluation: Evaluation) -> Any:
    """One row per system, metric, test case and class."""
    import polars as pl

    texts = dict.fromkeys(("system", "metric", "name", "scope", "test_case", "class", "undefined"), pl.String)
    return pl.DataFrame(dicts(evaluation), schema_overrides=texts | dict.fromkeys(("value", "low", "high"), pl.Float64))
