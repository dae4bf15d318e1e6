# SPDX-License-Identifier: Apache-2.0
"""The context of rankings: its options, what it checks, and how it counts."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from karat.contexts.base import Context, Counted, Run, Table
from karat.contexts.options import OPTIONS
from karat.contexts.ranking import relations
from karat.contexts.ranking.cells import RankingCells
from karat.contexts.ranking.counting import Counter, counted
from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.remarks import gold_remarks, run_alone, run_remarks
from karat.contexts.ranking.trec import GROUPS
from karat.findings import Finding, InputError, finding
from karat.metric import MetricError


class Ranking(Context):
    """Documents ranked for queries."""

    name = "ranking"
    title = "Ranking"
    cells = RankingCells
    kinds = ("number",)
    metrics = (
        "average_precision",
        "ndcg",
        "ndcg@10",
        "precision@10",
        "recall@100",
        "reciprocal_rank",
        "r_precision",
        "bpref",
    )
    groups = GROUPS
    options = OPTIONS["ranking"]
    unit = "query"
    example = "q1 0 doc7 2  (judgements)   q1 Q0 doc7 1 14.2 run  (ranking)"

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        if table.native is None:
            return relations.check(run, table, options)
        if isinstance(table.native, Judgements):
            return (
                gold_remarks(table, table.native)
                if table.role == "gold"
                else [finding("judgements-as-run", table.name)]
            )
        return run_alone(table) if table.role == "gold" else []

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        ties = _ties(pred, options)
        _check_depth(options)
        if relations.exchanged(gold, pred) or not isinstance(gold.native, Judgements | None):
            raise InputError([finding("run-as-judgements", gold.name)])
        judgements = relations.judgements(run, gold)
        counter = counted(judgements, relations.rankings(run, pred, options), ties)
        findings: list[Finding] = list(getattr(pred.native, "findings", ()))
        told = {f.line for f in findings}
        counter.problems.nan = [line for line in counter.problems.nan if line not in told]
        pred.rows = pred.rows or getattr(pred.native, "rows", 0)
        findings += gold_remarks(gold, judgements) if gold.native is None else []
        findings += run_remarks(gold, pred, judgements, counter, options)
        if any(f.severity == "error" for f in findings):
            return Counted(_cells(judgements, counter, ties, options), {}, findings)
        cells = _kept(judgements, counter, ties, options)
        cells.run_id = getattr(pred.native, "tag", b"").decode(errors="replace")
        return Counted(cells, _counts(judgements, counter), findings)


def _check_depth(options: Mapping[str, Any]) -> None:
    within(1, inf, depth=options["depth"])
    if options["depth"] is not None and options["ties"] == "average":  # a cut through a tie has no closed form
        raise MetricError("--depth and --ties average do not go together; give the metrics a cutoff, as in nDCG@10")


def _ties(pred: Table, options: Mapping[str, Any]) -> str:
    if options["ties"] != "auto":
        return str(options["ties"])
    return "order" if relations.are_ranks(pred, options) else "trec"


def _cells(gold: Judgements, counter: Counter, ties: str, options: Mapping[str, Any]) -> RankingCells:
    missing = counter.retrieved == 0
    return RankingCells(
        [name.decode(errors="replace") for name in gold.queries],
        counter.retrieved,
        gold.judged(counter.rank, counter.ahead, counter.tied),
        gold.aspects(counter.rank),
        counted=~missing if options["missing_queries"] == "undefined" else None,
        ties=ties,
        no_relevant=options["no_relevant"],
    )


def _kept(gold: Judgements, counter: Counter, ties: str, options: Mapping[str, Any]) -> RankingCells:
    """The cells as the options want them: without missing queries, cut, condensed."""
    cells = _cells(gold, counter, ties, options)
    if options["missing_queries"] == "skip" and not counter.retrieved.all():
        there = np.flatnonzero(counter.retrieved)
        names = cells.test_cases
        cells = cells.take(there)
        cells.test_cases, cells.test_case = [names[i] for i in there], np.arange(len(there))
    if options["depth"] is not None:
        cells = cells.cut(options["depth"])
    return cells.condensed if options["unjudged"] == "drop" else cells


def _counts(gold: Judgements, counter: Counter) -> dict[str, int]:
    aligned = int((counter.retrieved > 0).sum())
    strangers = len(counter.problems.strangers)
    return {
        "gold": len(gold.queries),
        "pred": aligned + strangers,
        "aligned": aligned,
        "gold_only": len(gold.queries) - aligned,
        "pred_only": strangers,
        "documents": int(counter.retrieved.sum()),
        "judged_documents": int((counter.rank > 0).sum()),
        "tied_documents": counter.problems.tied,
    }


context = Ranking()
