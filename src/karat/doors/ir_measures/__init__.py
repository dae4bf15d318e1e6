# SPDX-License-Identifier: Apache-2.0
"""ir_measures' interface on karat's ranking context.

from karat.doors import ir_measures
from karat.doors.ir_measures import *  # the measures: AP, nDCG, RR, P, …
"""

from typing import Any

from karat.doors.ir_measures.inputs import Qrel, ScoredDoc, read_trec_qrels, read_trec_run
from karat.doors.ir_measures.measure import (
    MEASURES,
    CalcResults,
    Evaluator,
    Measure,
    Metric,
    calc,
    calc_aggregate,
    evaluator,
    iter_calc,
    parse_measure,
)
from karat.doors.ir_measures.trec_names import parse_trec_measure

__all__ = [
    "CalcResults", "Evaluator", "Measure", "Metric", "Qrel", "ScoredDoc", "calc", "calc_aggregate", "evaluator",
    "iter_calc", "parse_measure", "parse_trec_measure", "read_trec_qrels", "read_trec_run", *MEASURES,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in MEASURES:
        return MEASURES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
