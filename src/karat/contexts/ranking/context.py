# SPDX-License-Identifier: Apache-2.0
"""The context of rankings: its options, what it checks, and how it counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from karat.align import Aligned, Meeting
from karat.cells import Cells
from karat.columns import Floats, Mask, firsts, paired
from karat.contexts.base import Context
from karat.contexts.options import OPTIONS
from karat.contexts.ranking import checks
from karat.contexts.ranking.cells import RankingCells
from karat.contexts.ranking.checks import are_ranks
from karat.contexts.ranking.limits import within
from karat.contexts.ranking.places import places
from karat.contexts.ranking.rows import Rows
from karat.contexts.ranking.sides import by_documents
from karat.contexts.ranking.trec import GROUPS
from karat.findings import Finding, finding
from karat.metric import MetricError
from karat.side import Entries, Side


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

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        return by_documents(side)

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        form = side.facts.get("form")
        if side.role == "pred" and form == "judgements":
            return [finding("judgements-as-run", side.name)]
        return checks.judgements(side) if side.role == "gold" and form != "run" else checks.run(side, options)

    def coverage(self, gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
        return checks.coverage(gold, pred, both, options)

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Judged documents with their places; the others are only counted."""
        within(1, inf, depth=options["depth"])
        if options["depth"] is not None and options["ties"] == "average":  # a cut through a tie has no closed form
            raise MetricError("--depth and --ties average do not go together; give the metrics a cutoff, as in nDCG@10")
        size, by_id = both.pred.sizes(len(both)), _ties(both, options) != "order"
        rank, ahead, tied, ties = places(
            both.pred, size, _scores(both, options), both.partners("document"), by_id=by_id
        )
        columns = {"grade": both.gold["number"], "rank": rank, "ahead": ahead, "tied": tied}
        gold = Entries(both.gold.unit, columns)
        if "subtopic" in both.gold:
            gold = _by_document(both.gold, columns)
        rows = {**both.rows, "retrieved": size, "ties": ties}
        return replace(both, gold=gold, pred=Entries.none(), rows=rows)

    def totals(self, both: Aligned) -> dict[str, int]:
        shown = both.gold["rank"][_documents(both.gold)] > 0
        counts = {"documents": both.rows["retrieved"], "judged_documents": shown, "tied_documents": both.rows["ties"]}
        return {name: int(column.sum()) for name, column in counts.items()}

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> RankingCells:
        """The queries by name, without missing ones, cut and condensed as the options want it."""
        if (np.diff(both.case.code) < 0).any():  # in order they need no copy
            both = both.take(np.argsort(both.case.code, kind="stable"))
        top, retrieved = max(both.gold["grade"].max(initial=0.0), 0.0), both.rows["retrieved"] > 0
        if options["missing_queries"] == "skip":
            both = both.take(np.flatnonzero(retrieved))
        judged, aspects = _judged(both)
        cells = RankingCells(
            both.case.names, both.rows["retrieved"], judged, aspects,
            counted=retrieved if options["missing_queries"] == "undefined" else None,
            ties=_ties(both, options), no_relevant=options["no_relevant"], top_grade=top,
        )  # fmt: skip
        cells = cells if options["depth"] is None else cells.cut(options["depth"])
        cells = cells.condensed if options["unjudged"] == "drop" else cells
        cells.run_id, cells.tied_documents = both.facts["pred"].get("run_id", ""), int(both.rows["ties"].sum())
        return cells

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        assert isinstance(cells, RankingCells)
        return checks.tied(pred, cells.tied_documents, cells.ties)


def _ties(both: Aligned, options: Mapping[str, Any]) -> str:
    if options["ties"] != "auto":
        return str(options["ties"])
    return "order" if are_ranks(both.facts["pred"], options) else "trec"


def _scores(both: Aligned, options: Mapping[str, Any]) -> Floats:
    """What a system's documents are ordered by, higher being better; in single precision if asked."""
    score: Floats = both.pred["number"]
    if are_ranks(both.facts["pred"], options):
        score = -np.asarray(both.pred.columns.get("rank", score), float)
    if options["score_type"] == "single":
        with np.errstate(over="ignore"):
            score = score.astype(np.float32).astype(float)
    return score


def _by_document(judged: Entries, columns: dict[str, Any]) -> Entries:
    """Judgements of subtopics by query and document, the documents of a query numbered by rising id."""
    keys = judged["document"].sort_keys()
    order = np.lexsort((judged["subtopic"], *keys, judged.unit))
    new = firsts(judged.unit[order])
    for key in keys:
        new |= firsts(key[order])
    columns = {**columns, "subtopic": judged["subtopic"]}
    return Entries(judged.unit[order], {name: c[order] for name, c in columns.items()} | {"document": np.cumsum(new)})


def _documents(judged: Entries) -> Mask:
    """The first judgement of each document."""
    if "document" not in judged:
        return np.ones(len(judged), bool)
    return firsts(paired(judged.unit, judged["document"]))


def _judged(both: Aligned) -> tuple[Rows, Rows | None]:
    """The judged documents of each query, several grades of one giving the highest; and the judgements by subtopic."""
    gold, queries = both.gold, len(both)
    if "subtopic" not in gold:
        return Rows.grouped(gold.unit, queries, **gold.columns), None
    first = _documents(gold)
    columns = {name: gold[name][first] for name in ("rank", "ahead", "tied")}
    grade = np.maximum.reduceat(gold["grade"], np.flatnonzero(first))
    aspects = {"rank": gold["rank"], "grade": gold["grade"], "topic": gold["subtopic"], "document": gold["document"]}
    return Rows.grouped(gold.unit[first], queries, grade=grade, **columns), Rows.grouped(gold.unit, queries, **aspects)


context = Ranking()
