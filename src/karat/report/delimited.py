# SPDX-License-Identifier: Apache-2.0
"""Scores as TSV and CSV: a row per system, metric, test case and class, numbers in full."""

from __future__ import annotations

import csv
import io

from karat.evaluation import Evaluation
from karat.report.rows import dicts


def render_tsv(evaluation: Evaluation) -> str:
    return _render(evaluation, "\t")


def render_csv(evaluation: Evaluation) -> str:
    return _render(evaluation, ",")


def _render(evaluation: Evaluation, mark: str) -> str:
    rows, out = dicts(evaluation), io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["system"], delimiter=mark, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {k: "" if v is None else repr(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows
    )
    return out.getvalue()
