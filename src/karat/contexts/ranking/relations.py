# SPDX-License-Identifier: Apache-2.0
"""Judgements and runs out of an engine's relations, or as a reader has left them in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from karat.contexts.base import Run, Table
from karat.contexts.pairing import bad_rows, repeated_ids
from karat.contexts.ranking.counting import Batch
from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.strings import Strings
from karat.findings import Finding

RANKS = ("rank", "value")
"""Columns that hold ranks unless the user says otherwise; PyEvALL calls its ranks value."""
GRADES = ("relevance", "rel", "grade")
"""Columns that hold judgements."""


def are_ranks(table: Table, options: Mapping[str, Any]) -> bool:
    """Are the values of a system ranks, 1 being best, rather than scores?"""
    if options["order"] != "auto":
        return bool(options["order"] == "rank")
    return table.roles.get("value", "score").lower() in RANKS


def rank_beside(columns: Iterable[str], value: str) -> str | None:
    """The column of ranks that stands beside one of scores."""
    return next((c for c in columns if c.lower() == "rank" and value.lower() == "score"), None)


def exchanged(gold: Table, pred: Table) -> bool:
    """Do the columns say that gold and run have changed places? A column called score alone does not: some gold has it."""
    named = [table.roles.get("value", "").lower() for table in (gold, pred)]
    return named[0] in ("rank", "score") and named[1] in GRADES


def check(run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with a relation of judgements or rankings."""
    twice = "repeated-judgement" if table.role == "gold" else "repeated-document"
    found = repeated_ids(run, table, twice) + bad_rows(run, table, "nan-score", "isnan(value)")
    if table.role == "gold":
        return found + bad_rows(run, table, "infinite-grade", "isinf(value)")
    if are_ranks(table, options):
        found += bad_rows(run, table, "rank-not-whole", "value <> floor(value)")
    return found


def judgements(run: Run, table: Table) -> Judgements:
    """Gold as arrays."""
    if table.native is not None:
        assert isinstance(table.native, Judgements)
        return table.native
    rows = run(f"SELECT test_case, id, value FROM {table.sql}")
    line = np.arange(1, len(rows["value"]) + 1)
    names, documents = Strings.of(rows["test_case"].tolist()), Strings.of(rows["id"].tolist())
    return Judgements(names, documents, np.asarray(rows["value"], float), line)


def rankings(run: Run, table: Table, options: Mapping[str, Any]) -> Any:
    """A system's documents as a run of batches."""
    source = Relation(run, table) if table.native is None else table.native
    return Scored(source, are_ranks(table, options), options["score_type"] == "single")


class Relation:
    """A run that the engine holds."""

    def __init__(self, run: Run, table: Table) -> None:
        self._run, self._table = run, table

    def batches(self, whole: bool) -> Iterator[Batch]:
        rank = rank_beside(self._table.columns, self._table.roles.get("value", ""))
        rows = self._run(f"SELECT test_case, id, value{', rank' if rank else ''} FROM {self._table.sql}")
        names, documents = Strings.of(rows["test_case"].tolist()), Strings.of(rows["id"].tolist())
        stated = np.asarray(rows["rank"], float) if rank else None
        yield Batch(names, documents, np.asarray(rows["value"], float), np.arange(1, len(names) + 1), stated)


class Scored:
    """A run whose values are turned into scores: ranks are negated, doubles made single if asked."""

    def __init__(self, source: Any, ranks: bool, single: bool) -> None:
        self.source, self._ranks, self._single = source, ranks, single

    def batches(self, whole: bool) -> Iterator[Batch]:
        for batch in self.source.batches(whole):
            yield self._scored(batch)

    def _scored(self, batch: Batch) -> Batch:
        score, rank = batch.score, batch.rank
        if self._ranks:
            rank = score if rank is None else rank
            score = -rank
        if self._single:
            with np.errstate(over="ignore"):
                score = score.astype(np.float32).astype(float)
        return Batch(batch.names, batch.document, score, batch.line, rank)
