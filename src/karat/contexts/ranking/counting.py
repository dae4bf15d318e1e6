# SPDX-License-Identifier: Apache-2.0
"""From a system's documents to cells: find the judged ones and place them, a batch of queries at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.order import places
from karat.contexts.ranking.rows import Floats, Ints, Rows
from karat.contexts.ranking.strings import Strings


@dataclass(frozen=True, eq=False)
class Batch:
    """Documents of some queries as a system ranked them."""

    names: Strings
    """Query of each row."""
    document: Strings
    score: Floats
    """Higher is better."""
    line: Ints
    rank: Floats | None = None
    """The rank that the file states beside the score."""

    def records(self) -> dict[str, Any]:
        """What the rows say, for their hash; stated ranks only where they contradict the scores."""
        found: dict[str, Any] = {"test_case": self.names.texts(), "id": self.document.texts(), "value": self.score}
        if self.rank is not None and self._contradicts(found["test_case"]):
            found["rank"] = self.rank
        return found

    def _contradicts(self, query: Any) -> bool:
        """Does any document have a better score and a worse rank than another of its query?"""
        group, rank = np.unique(query, return_inverse=True)[1], np.asarray(self.rank)
        order = np.lexsort((rank, -self.score, group))
        worse = np.diff(rank[order]) < 0
        return bool((worse & (np.diff(group[order]) == 0)).any())


class Run(Protocol):
    """A system's rankings, in batches."""

    grouped: bool
    """Each query stands in one batch."""

    def batches(self, whole: bool) -> Iterable[Batch]:
        """Batches that hold queries whole, or one batch of all."""
        ...


@dataclass
class Problems:
    """What was found in a run, as lines."""

    repeated: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    """Line, query and document of each document that its query has already."""
    nan: list[int] = field(default_factory=list)
    disagree: list[int] = field(default_factory=list)
    """Lines whose stated rank contradicts the order of the scores."""
    broken_ranks: list[int] = field(default_factory=list)
    """Lines whose stated rank is no whole number."""
    strangers: dict[bytes, int] = field(default_factory=dict)
    """Queries that gold lacks."""
    tied: int = 0
    documents: int = 0


class Regroup(Exception):
    """A query came back after another one: the run has to be read as a whole."""


class Counter:
    """Collects the places of judged documents over the batches of one run."""

    def __init__(self, gold: Judgements, ties: str) -> None:
        self.gold, self.ties, self.table = gold, ties, gold.table
        self.rank = np.zeros(len(gold.documents), np.int64)
        self.ahead, self.tied = self.rank.copy(), np.ones(len(self.rank), np.int64)
        self.retrieved = np.zeros(len(gold.queries), np.int64)
        self.problems = Problems()
        self._closed = np.zeros(len(gold.queries), bool)
        rows = np.arange(len(gold.documents))
        self._judged = Rows.grouped(gold.query[gold.documents], len(gold.queries), row=rows)

    def add(self, batch: Batch) -> None:
        heads = self._numbered(batch.names)
        query = np.repeat(heads, np.diff(batch.names.heads, append=len(batch.names)))
        self._check_ranks(batch, query)
        known = query >= 0
        if not known.all():
            batch, query = _only(batch, known), query[known]
        if not len(query):
            return
        self.problems.nan += batch.line[np.isnan(batch.score)].tolist()
        key = self.table.keys(query, batch.document)
        self._check_repeats(batch, query, key)
        judged = self.table.find(key, batch.document, self._judged[heads[heads >= 0]].row)
        ids = (lambda row: batch.document[row]) if self.ties != "order" else None
        found = places(query, batch.score, judged, ids)
        self.rank[found.row], self.ahead[found.row], self.tied[found.row] = found.rank, found.ahead, found.tied
        self.problems.tied += found.tied_documents
        self.problems.documents += len(query)
        self.retrieved += np.bincount(query, minlength=len(self.retrieved))

    def _numbered(self, names: Strings) -> Ints:
        """Number of the query of each head, −1 for a stranger."""
        said = names[names.heads].tolist()
        heads = np.array([self.gold.queries.get(name, -1) for name in said], np.int64)
        for i in np.flatnonzero(heads < 0).tolist():
            self.problems.strangers[said[i]] = self.problems.strangers.get(said[i], 0) + 1
        seen = heads[heads >= 0]
        if self._closed[seen].any():
            raise Regroup
        self._closed[seen] = True
        return heads

    def _check_repeats(self, batch: Batch, query: Ints, key: Any) -> None:
        halves = (key >> np.uint64(32)).astype(np.uint32)  # sorted in half the time, and nearly always enough
        if not (_has_twins(halves) and _has_twins(key)):
            return
        order = np.argsort(key, kind="stable")
        later = order[1:][key[order[1:]] == key[order[:-1]]]
        first = order[np.searchsorted(key[order], key[later])]
        same = (query[later] == query[first]) & batch.document[later].equals(batch.document[first])
        rows = np.sort(later[same])
        told = zip(batch.line[rows].tolist(), batch.names[rows].tolist(), batch.document[rows].tolist(), strict=True)
        self.problems.repeated += list(told)

    def _check_ranks(self, batch: Batch, query: Ints) -> None:
        """Stated ranks should rise where scores fall."""
        if batch.rank is None or len(query) < 2:
            return
        broken = ~(batch.rank == np.floor(batch.rank))
        self.problems.broken_ranks += batch.line[broken].tolist()
        same = query[1:] == query[:-1]
        up = (batch.rank[1:] > batch.rank[:-1]) & (batch.score[1:] > batch.score[:-1])
        down = (batch.rank[1:] < batch.rank[:-1]) & (batch.score[1:] < batch.score[:-1])
        self.problems.disagree += batch.line[1:][same & (up | down)].tolist()


def _has_twins(key: Any) -> bool:
    ordered = np.sort(key)
    return bool(np.any(ordered[1:] == ordered[:-1]))


def _only(batch: Batch, keep: Any) -> Batch:
    rank = None if batch.rank is None else batch.rank[keep]
    return Batch(batch.names[keep], batch.document[keep], batch.score[keep], batch.line[keep], rank)


def counted(gold: Judgements, run: Run, ties: str) -> Counter:
    """Every document of a run placed, batch by batch; in one piece if its queries are scattered."""
    try:
        return _filled(gold, run.batches(whole=False), ties)
    except Regroup:
        return _filled(gold, run.batches(whole=True), ties)


def _filled(gold: Judgements, batches: Iterable[Batch], ties: str) -> Counter:
    counter = Counter(gold, ties)
    for batch in batches:
        counter.add(batch)
    return counter
