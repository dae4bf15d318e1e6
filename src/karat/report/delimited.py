# SPDX-License-Identifier: Apache-2.0
"""Scores as TSV and CSV: a row per system, metric, test case and class, numbers in full."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from karat.evaluation import Evaluation
from karat.report.rows import dicts


def render_tsv(evaluation: Evaluation) -> str:
    return delimited(dicts(evaluation), "\t")


def render_csv(evaluation: Evaluation) -> str:
    return delimited(dicts(evaluation), ",")


def delimited(rows: Sequence[Mapping[str, Any]], mark: str) -> str:
    """Records as text with a head line, numbers in full."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["system"], delimiter=mark, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {k: "" if v is None else repr(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows
    )
    return out.getvalue()
