# SPDX-License-Identifier: Apache-2.0
"""From a system's documents to cells: find the judged ones and place them, a batch of queries at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.order import Groups, places
from karat.contexts.ranking.pairs import repeats
from karat.contexts.ranking.rows import Floats, Ints
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
        self.gold, self.ties, self.pairs = gold, ties, gold.pairs
        self.rank = np.zeros(len(gold), np.int32)
        self.ahead, self.tied = self.rank.copy(), np.ones(len(gold), np.int32)
        self.retrieved = np.zeros(len(gold.queries), np.int64)
        self.problems = Problems()
        self._last = -1
        """The query that came last."""
        self._judged = gold.by_query(row=np.arange(len(gold), dtype=np.int32))

    def add(self, batch: Batch) -> None:
        self._check_ranks(batch)
        query, size = self._numbered(batch.names), batch.names.sizes
        if len(query) and query.min() < 0:
            batch, query, size = _only(batch, np.repeat(query >= 0, size)), query[query >= 0], size[query >= 0]
        if not len(query):
            return
        if np.isnan(batch.score).any():
            self.problems.nan += batch.line[np.isnan(batch.score)].tolist()
        key = self.pairs.keys(query, size, batch.document)
        self._check_repeats(batch, query, size, key)
        at, row = self.pairs.find(key, batch.document, self._judged[query].row)
        ids = batch.document.__getitem__ if self.ties != "order" else None
        found = places(Groups(query, size), batch.score, at, row, ids)
        self.rank[found.row], self.ahead[found.row], self.tied[found.row] = found.rank, found.ahead, found.tied
        self.problems.tied += found.tied_documents
        self.problems.documents += len(batch.score)
        np.add.at(self.retrieved, query, size)

    def _numbered(self, names: Strings) -> Ints:
        """Number of the query of each head, −1 for a stranger."""
        heads = names[names.heads]
        number = self._next(heads)
        if number is None:
            said = heads.tolist()
            number = np.array([self.gold.queries.get(name, -1) for name in said], np.int64)
            for i in np.flatnonzero(number < 0).tolist():
                self.problems.strangers[said[i]] = self.problems.strangers.get(said[i], 0) + 1
        if self.retrieved[number[number >= 0]].any():
            raise Regroup
        self._last = int(number[-1])
        return number

    def _next(self, heads: Strings) -> Ints | None:
        """The next queries of gold, if that is what the heads are: most runs keep gold's order."""
        first, last = self._last + 1, self._last + 1 + len(heads)
        expected = self.gold.distinct[first:last]
        same = len(expected) == len(heads) and heads.equals(expected).all()
        return np.arange(first, last) if same else None

    def _check_repeats(self, batch: Batch, query: Ints, size: Ints, key: Any) -> None:
        first, later = repeats(key)
        if not len(later):
            return
        query = np.repeat(query, size)
        same = (query[later] == query[first]) & batch.document[later].equals(batch.document[first])
        rows = np.sort(later[same])
        told = zip(batch.line[rows].tolist(), batch.names[rows].tolist(), batch.document[rows].tolist(), strict=True)
        self.problems.repeated += list(told)

    def _check_ranks(self, batch: Batch) -> None:
        """Stated ranks should rise where scores fall."""
        if batch.rank is None:
            return
        broken = ~(batch.rank == np.floor(batch.rank))
        self.problems.broken_ranks += batch.line[broken].tolist()
        up = (batch.rank[1:] > batch.rank[:-1]) & (batch.score[1:] > batch.score[:-1])
        down = (batch.rank[1:] < batch.rank[:-1]) & (batch.score[1:] < batch.score[:-1])
        wrong = up | down
        wrong[batch.names.heads[1:] - 1] = False
        self.problems.disagree += batch.line[1:][wrong].tolist()


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
