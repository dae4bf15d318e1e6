# SPDX-License-Identifier: Apache-2.0
"""What is to be said about judgements and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.contexts.base import Table
from karat.contexts.pairing import more
from karat.contexts.ranking.counting import Counter
from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.relations import are_ranks
from karat.findings import LIMIT, Finding, finding

_POLICY = {"zero": "scored 0", "skip": "left out", "undefined": "undefined", "error": ""}


def each(code: str, table: Table, lines: Sequence[int | None], **facts: Any) -> list[Finding]:
    """One finding per line, the first of them shown and the rest counted."""
    return [finding(code, table.name, line, **facts) for line in lines[:LIMIT]] + more(code, len(lines), table)


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


def _line(table: Table, at: int) -> int | None:
    """Where a row stands in its file; readers of their own count lines, an engine counts records."""
    return at if table.native is not None else table.line(at - 1)


def _first(names: Sequence[bytes]) -> str:
    return ", ".join(_text(n) for n in names[:3])


def _repeats(code: str, table: Table, rows: Judgements) -> list[Finding]:
    """Documents that stand twice for a query, with the line where they stood first."""
    found = [
        finding(code, table.name, line, query=_text(query), document=_text(document), first=first)
        for line, query, document, first in rows.twice(LIMIT)
    ]
    return found + more(code, len(rows.repeated), table)


def gold_remarks(table: Table, gold: Judgements) -> list[Finding]:
    """Judgements that contradict or repeat each other, or that need an explanation."""
    out = _repeats("repeated-judgement", table, gold)
    out += each("nan-score", table, gold.line[np.isnan(gold.grade)].tolist())
    out += each("infinite-grade", table, gold.line[np.isinf(gold.grade)].tolist())
    negative = int((gold.grade < 0).sum())
    if negative:
        out.append(finding("negative-grades", table.name, count=negative))
    return out


def run_remarks(
    gold_table: Table, table: Table, gold: Judgements, counter: Counter, options: Mapping[str, Any]
) -> list[Finding]:
    """What is wrong with a run, and how it meets the judgements."""
    found = counter.problems
    out = [
        finding("repeated-document", table.name, line, query=_text(query), document=_text(document))
        for line, query, document in found.repeated[:LIMIT]
    ]
    out += more("repeated-document", len(found.repeated), table)
    if are_ranks(table, options):
        out += each("rank-not-whole", table, [_line(table, at) for at in found.broken_ranks])
    else:
        out += each("nan-score", table, found.nan)
        stated = {"stated-rank-not-whole": found.broken_ranks, "rank-score-disagree": found.disagree}
        out += [finding(c, table.name, _line(table, at[0]), count=len(at)) for c, at in stated.items() if at]
    if found.tied:
        facts: dict[str, Any] = {"count": found.tied, "total": found.documents, "rule": _RULES[counter.ties]}
        out.append(finding("tied-documents", table.name, **facts))
    return out + _coverage(gold_table, table, gold, counter, options)


def run_alone(table: Table) -> list[Finding]:
    """What is wrong with a run by itself: its own documents stand in for the judgements."""
    batch = next(iter(table.native.batches(whole=True)), None)
    if batch is None:
        return [*table.native.findings, finding("no-records", table.name)]
    told = {f.line for f in table.native.findings}
    own = Judgements(batch.names, batch.document, batch.score, batch.line)
    nan = [line for line in batch.line[np.isnan(batch.score)].tolist() if line not in told]
    return [
        *table.native.findings,
        *_repeats("repeated-document", table, own),
        *each("nan-score", table, nan),
    ]


_RULES = {
    "trec": "they stand by falling document id, as in trec_eval",
    "order": "they keep the order of the file",
    "average": "scores are averaged over their orders",
}


def _coverage(
    gold_table: Table, table: Table, gold: Judgements, counter: Counter, options: Mapping[str, Any]
) -> list[Finding]:
    names, total = list(gold.queries), len(gold.queries)
    missing, strangers = np.flatnonzero(counter.retrieved == 0), list(counter.problems.strangers)
    if len(missing) == total and total:
        gold_names, pred_names = _first(names), _first(strangers)
        return [finding("no-common-queries", table.name, gold=gold_names, pred=pred_names)] if strangers else []
    out: list[Finding] = []
    facts: dict[str, Any]
    if len(missing):
        code = "missing-queries" if options["missing_queries"] == "error" else "queries-not-in-run"
        facts = {"count": len(missing), "total": total, "examples": _first([names[i] for i in missing[:3]])}
        out.append(finding(code, table.name, policy=_POLICY[options["missing_queries"]], **facts))
    if strangers:
        out.append(finding("queries-not-in-gold", table.name, count=len(strangers), examples=_first(strangers)))
    barren = np.flatnonzero(np.bincount(gold.query, gold.grade > 0, total) == 0)
    if len(barren):
        policy = _POLICY[options["no_relevant"]]
        facts = {"count": len(barren), "total": total, "examples": _first([names[i] for i in barren[:3]])}
        out.append(finding("no-relevant-documents", gold_table.name, policy=policy, **facts))
    return out
