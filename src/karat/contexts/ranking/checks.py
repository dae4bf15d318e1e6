# SPDX-License-Identifier: Apache-2.0
"""What is to be said about judgements and runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.align import EXAMPLES, Meeting
from karat.check import at_entries, more
from karat.columns import Ints, repeats
from karat.findings import LIMIT, Finding, finding
from karat.side import Entries, Side

RANKS = ("rank", "value")
"""Columns that hold ranks unless the user says otherwise; PyEvALL calls its ranks value."""
GRADES = ("relevance", "rel", "grade")
"""Columns that hold judgements."""
_POLICY = {"zero": "scored 0", "skip": "left out", "undefined": "undefined", "error": ""}
TIES = {
    "trec": "they stand by falling document id, as in trec_eval",
    "order": "they keep the order of the file",
    "average": "scores are averaged over their orders",
}


def are_ranks(run: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Are a system's numbers ranks, 1 being best, rather than scores? ``run`` are the facts of its side."""
    if options["order"] != "auto":
        return bool(options["order"] == "rank")
    return run.get("column", "score") in RANKS


def judgements(gold: Side) -> list[Finding]:
    """Judgements that contradict or repeat each other, or that need an explanation."""
    grade = gold.entries["number"]
    out = _repeated(gold, "repeated-judgement")
    out += at_entries(gold, "nan-score", np.flatnonzero(np.isnan(grade)))
    out += at_entries(gold, "infinite-grade", np.flatnonzero(np.isinf(grade)))
    if negative := int((grade < 0).sum()):
        out.append(finding("negative-grades", gold.name, count=negative))
    return out


def run(side: Side, options: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with a run by itself."""
    entries = side.entries
    score, rank = entries["number"], entries.columns.get("rank")
    out = _repeated(side, "repeated-document")
    if are_ranks(side.facts, options):
        rank = score if rank is None else rank
        return out + at_entries(side, "rank-not-whole", _not_whole(rank))
    out += at_entries(side, "nan-score", np.flatnonzero(np.isnan(score)))
    if rank is not None:
        stated = {"stated-rank-not-whole": _not_whole(rank), "rank-score-disagree": _disagree(entries, score, rank)}
        out += [
            finding(code, side.name, side.entry_line(int(at[np.argmin(entries["record"][at])])), count=len(at))
            for code, at in stated.items()
            if len(at)
        ]
    return out


def _not_whole(rank: Any) -> Ints:
    return np.zeros(0, np.int64) if rank.dtype.kind == "i" else np.flatnonzero(~(rank == np.floor(rank)))


def _disagree(entries: Entries, score: Any, rank: Any) -> Ints:
    """Documents whose stated rank and score both rise, or both fall, from the document before."""
    up = (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])
    down = (rank[1:] < rank[:-1]) & (score[1:] < score[:-1])
    return np.flatnonzero((up | down) & (entries.unit[1:] == entries.unit[:-1])) + 1


def _repeated(side: Side, code: str) -> list[Finding]:
    """Documents (and subtopics of them) that stand twice for a query, with the line where they stood first."""
    entries = side.entries
    later, first = entries.repeated("document")
    if len(later) and "subtopic" in entries:
        document = entries.index("document")[0].code
        later, first = repeats((document * len(side.names["subtopic"]) + entries["subtopic"]).view(np.uint64))
        order = np.argsort(later)
        later, first = later[order], first[order]
    shown = later[:LIMIT]
    texts = zip(shown.tolist(), first[:LIMIT].tolist(), entries["document"][shown].texts(), strict=True)
    out = [
        finding(
            code, side.name, side.entry_line(entry), query=side.keys.case.text(int(entries.unit[entry])),
            document=document, first=side.entry_line(before),
        )
        for entry, before, document in texts
    ]  # fmt: skip
    return out + more(code, len(later), side)


def exchanged(gold: Side, pred: Side) -> bool:
    """Have gold and run changed places? A column called score alone does not say so: some gold has it."""
    named = gold.facts.get("column"), pred.facts.get("column")
    return gold.facts.get("form") == "run" or (named[0] in ("rank", "score") and named[1] in GRADES)


def coverage(gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
    """Queries that one side lacks, and those for which nothing is relevant."""
    if exchanged(gold, pred):
        return [finding("run-as-judgements", gold.name)]
    missing, strange = both.gold[both.pred < 0], both.pred[both.gold < 0]
    if len(missing) == len(gold):
        every = _examples(gold, np.arange(len(gold)))
        return [finding("no-common-queries", pred.name, gold=every, pred=_examples(pred, strange))]
    out: list[Finding] = []
    facts: dict[str, Any]
    if len(missing):
        code = "missing-queries" if options["missing_queries"] == "error" else "queries-not-in-run"
        facts = {"count": len(missing), "total": len(gold), "examples": _examples(gold, missing)}
        out.append(finding(code, pred.name, policy=_POLICY[options["missing_queries"]], **facts))
    if len(strange):
        out.append(finding("queries-not-in-gold", pred.name, count=len(strange), examples=_examples(pred, strange)))
    relevant = np.bincount(gold.entries.unit, gold.entries["number"] > 0, len(gold))
    if len(barren := np.flatnonzero(relevant == 0)):
        facts = {"count": len(barren), "total": len(gold), "examples": _examples(gold, barren)}
        out.append(finding("no-relevant-documents", gold.name, policy=_POLICY[options["no_relevant"]], **facts))
    return out


def _examples(side: Side, units: Ints) -> str:
    return ", ".join(side.keys.case.text(unit) for unit in units[:EXAMPLES].tolist())


def tied(pred: Side, documents: int, ties: str) -> list[Finding]:
    """Documents whose order is a matter of the rule for ties."""
    facts: dict[str, Any] = {"count": documents, "total": len(pred.entries), "rule": TIES[ties]}
    return [finding("tied-documents", pred.name, **facts)] if documents else []
