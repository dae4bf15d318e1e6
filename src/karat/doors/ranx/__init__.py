# SPDX-License-Identifier: Apache-2.0
"""ranx's evaluation and comparison of runs on karat's ranking context: Qrels, Run, evaluate, compare."""

from karat.doors.ranx.comparison import compare
from karat.doors.ranx.rankings import Qrels, Run
from karat.doors.ranx.report import Report
from karat.doors.ranx.scoring import evaluate

__all__ = ["Qrels", "Report", "Run", "compare", "evaluate"]
