# SPDX-License-Identifier: Apache-2.0
"""What ir_measures takes for judgements and runs: records, frames, dictionaries, TREC files."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from karat.columns import Codes, Text
from karat.side import Origin, Side, by_query

Nested = dict[str, dict[str, float]]


class Qrel(NamedTuple):
    """One judgement; ``iteration`` is the subtopic."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """One document of a run."""

    query_id: str
    doc_id: str
    score: float


def read_trec_qrels(file: Any) -> Iterator[Qrel]:
    """Judgements out of a TREC file: a path, an open file, or its text."""
    for query, iteration, document, grade in fields(file):
        yield Qrel(query, document, int(grade), iteration)


def read_trec_run(file: Any) -> Iterator[ScoredDoc]:
    """A run out of a TREC file: a path, an open file, or its text."""
    for query, _, document, _, score, _ in fields(file):
        yield ScoredDoc(query, document, float(score))


def fields(file: Any) -> Iterator[list[str]]:
    if hasattr(file, "read"):
        yield from (line.split() for line in file if line.strip())
    elif "\n" in str(file):
        yield from fields(io.StringIO(file))
    else:
        with (gzip.open if str(file).endswith(".gz") else open)(file, "rt") as lines:
            yield from fields(lines)


@dataclass(frozen=True)
class Judged:
    """Judgements as most measures see them, a document's last one counting, and by subtopic where there are several."""

    last: Nested
    by_topic: Side | None = None

    @classmethod
    def of(cls, qrels: Any) -> Judged:
        if isinstance(qrels, Mapping):
            return cls(nested(qrels))
        rows = list(records(qrels, ("query_id", "doc_id", "relevance", "iteration"), ("0",)))
        if len({row[3] for row in rows}) <= 1:
            return cls(nested(rows))
        queries, documents, grades, subtopics = zip(*rows, strict=True)
        topic = Codes.of(list(map(str, subtopics)))
        columns = {"document": Text.of(map(str, documents)), "number": np.array(grades, float), "subtopic": topic.code}
        query = Text.of(map(str, queries))
        origin, sizes = Origin("gold", "gold", "judgements", lambda record: record + 1), np.ones(len(rows), np.int64)
        return cls(nested(rows), by_query(origin, query, sizes, columns, {"subtopic": topic.names}))

    @property
    def queries(self) -> list[str]:
        """The judged queries, in order."""
        return [query for query, documents in self.last.items() if documents]

    def seen(self, gains: Mapping[int, float], topics: bool) -> Any:
        """What a measure is scored on, with other gains for grades where it has them."""
        if topics and self.by_topic is not None:
            return self.by_topic
        if not gains:
            return self.last
        return {query: {d: gains.get(int(g), g) for d, g in grades.items()} for query, grades in self.last.items()}


def nested(data: Any, value: str = "") -> Nested:
    """query → document → number, from dictionaries, records with these fields, or a frame of them."""
    if isinstance(data, Mapping):
        return {str(query): dict(documents) for query, documents in data.items()}
    queries: Nested = {}
    for query, document, number, *_ in data if not value else records(data, ("query_id", "doc_id", value)):
        queries.setdefault(str(query), {})[str(document)] = number
    return queries


def records(data: Any, names: tuple[str, ...], defaults: tuple[str, ...] = ()) -> Iterable[tuple[Any, ...]]:
    """Rows of these columns or fields; the last ones may be missing and are then as given."""
    needed = names[: len(names) - len(defaults)]
    if not hasattr(data, "columns"):
        after = list(zip(names[len(needed) :], defaults, strict=True))
        try:
            return [
                (*(getattr(row, name) for name in needed), *(getattr(row, name, other) for name, other in after))
                for row in data
            ]
        except (AttributeError, TypeError):
            raise unknown(data, needed) from None
    if not set(needed) <= set(data.columns):
        raise unknown(list(data.columns), needed)
    there = [name for name in names if name in data.columns]
    rows = zip(*(data[name].tolist() for name in there), strict=True)
    return ((*row, *defaults[: len(names) - len(there)]) for row in rows)


def unknown(data: Any, needed: tuple[str, ...]) -> ValueError:
    kind = "run" if "score" in needed else "qrels"
    return ValueError(
        f"unknown {kind} format: give records, or a frame, with {', '.join(needed)}, or a dictionary, not {data!r:.60}"
    )
