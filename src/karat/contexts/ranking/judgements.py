# SPDX-License-Identifier: Apache-2.0
"""The gold side of rankings: which documents were judged for which query, and how."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from karat.contexts.ranking.pairs import Pairs
from karat.contexts.ranking.rows import Floats, Ints, Rows, SmallInts
from karat.contexts.ranking.strings import Strings


class Judgements:
    """Judgements as arrays, one row per line of the gold standard."""

    def __init__(
        self, names: Strings, document: Strings, grade: Floats, line: Ints, subtopic: Strings | None = None
    ) -> None:
        self.document, self.grade = document, grade
        self.line = line.astype(np.int32)
        """Where each row stands in its file (line or record, from 1)."""
        self._stretches, self._sizes = names[names.heads], names.sizes
        several = subtopic is not None and bool(subtopic.changes()[1:].any())
        self.subtopic = subtopic if several else None
        """Subtopic of each row; None where there is only one."""

    @cached_property
    def _heads(self) -> list[bytes]:
        """Query of each stretch of rows that have the same one."""
        return self._stretches.tolist()

    @cached_property
    def queries(self) -> dict[bytes, int]:
        """Number of each query, in order of first appearance."""
        distinct = dict.fromkeys(self._heads)
        return dict(zip(distinct, range(len(distinct)), strict=True))

    @cached_property
    def distinct(self) -> Strings:
        """The queries by number."""
        return self._stretches if len(self.queries) == len(self._heads) else Strings.of(self.queries)

    def names(self, row: Any) -> Strings:
        """Queries of some rows."""
        return self.distinct[self.query[row]]

    def records(self) -> dict[str, Any]:
        """What gold says, a row for each judgement, for its hash."""
        names = self.distinct[self.query].texts()
        found: dict[str, Any] = {"test_case": names, "id": self.document.texts(), "value": self.grade}
        return found | ({"subtopic": self.subtopic.texts()} if self.subtopic is not None else {})

    @cached_property
    def query(self) -> Ints:
        """Number of each row's query."""
        number = np.fromiter(map(self.queries.__getitem__, self._heads), np.int64, len(self._heads))
        return np.repeat(number, self._sizes)

    @cached_property
    def topic(self) -> Ints | None:
        """Number of each row's subtopic; None where there is only one."""
        return None if self.subtopic is None else np.unique(self.subtopic.hash(), return_inverse=True)[1]

    @cached_property
    def documents(self) -> Ints | slice:
        """First row of each judged document of a query (subtopics apart), in row order."""
        if not len(self._pairs.repeats):
            return slice(None)
        first = np.ones(len(self.grade), bool)
        first[self._pairs.repeats] = False
        return np.flatnonzero(first)

    def __len__(self) -> int:
        """How many documents were judged."""
        return len(self.grade) - len(self._pairs.repeats)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(self.query, self.document)

    @cached_property
    def pairs(self) -> Pairs:
        """Finds the documents of `documents` by query and id."""
        if isinstance(self.documents, slice):
            return self._pairs
        return Pairs(self.query[self.documents], self.document[self.documents])

    @cached_property
    def owner(self) -> Ints:
        """Place in `documents` of each row's document."""
        if isinstance(self.documents, slice):
            return np.arange(len(self.grade))
        return self.pairs.find(self.pairs.keys(self.query, 1, self.document), self.document)[1]

    @cached_property
    def _first(self) -> Ints:
        """The first row that judges the document (and subtopic) of each row."""
        topic = self.topic if self.topic is not None else np.zeros(len(self.grade), np.int64)
        _, first, inverse = np.unique(np.stack([self.owner, topic], 1), axis=0, return_index=True, return_inverse=True)
        return first[inverse.ravel()]

    @cached_property
    def repeated(self) -> Ints:
        """Rows that judge a document (and subtopic) that an earlier row has judged."""
        if isinstance(self.documents, slice):
            return np.zeros(0, np.int64)
        return np.flatnonzero(self._first != np.arange(len(self.grade)))

    def twice(self, limit: int) -> Iterator[tuple[int, bytes, bytes, int]]:
        """Line, query and document of the first of these rows, and the line that each repeats."""
        rows = self.repeated[:limit]
        if not len(rows):
            return iter(())
        line, first = self.line[rows].tolist(), self.line[self._first[rows]].tolist()
        return zip(line, self.names(rows).tolist(), self.document[rows].tolist(), first, strict=True)

    def by_query(self, **columns: Any) -> Rows:
        """Columns of the judged documents, grouped by query."""
        return Rows.grouped(self.query[self.documents], len(self.queries), **columns)

    def judged(self, rank: SmallInts, ahead: SmallInts, tied: SmallInts) -> Rows:
        """The judged documents by query, with their places; several grades of one give the highest."""
        grade = self.grade
        if not isinstance(self.documents, slice):
            grade = np.full(len(self), -np.inf)
            np.maximum.at(grade, self.owner, self.grade)
        return self.by_query(grade=grade, rank=rank, ahead=ahead, tied=tied)

    def aspects(self, rank: SmallInts) -> Rows | None:
        """One row per judged subtopic of a document; documents are numbered by rising id."""
        if self.topic is None:
            return None
        number = np.empty(len(self), np.int64)
        number[np.lexsort(self.document[self.documents].sort_keys())] = np.arange(len(self))
        columns = {"rank": rank[self.owner], "grade": self.grade, "topic": self.topic, "document": number[self.owner]}
        return Rows.grouped(self.query, len(self.queries), **columns)
