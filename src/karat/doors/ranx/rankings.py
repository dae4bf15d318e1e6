# SPDX-License-Identifier: Apache-2.0
"""ranx's Qrels and Run: query → document → number, with a name."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

Nested = dict[str, dict[str, Any]]


class Rankings:
    """What judgements and runs share."""

    number: ClassVar[Callable[[Any], Any]] = float
    place: ClassVar[int] = 4

    def __init__(self, data: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None) -> None:
        self.name = name
        self._data: Nested = {}
        data = data or {}
        self.add_multi(list(data), list(data.values()), [by.values() for by in data.values()])
        self.sorted = bool(data)

    @classmethod
    def from_dict(cls, d: Mapping[str, Mapping[str, float]], name: str | None = None) -> Self:
        return cls(d, name)

    @classmethod
    def from_file(cls, path: str, kind: str | None = None, name: str | None = None) -> Self:
        """A JSON or TREC file, the latter also gzipped; ``kind`` where the file's name does not say it."""
        kind = kind_of(path, kind)
        if kind == "parquet":
            return cls.from_parquet(path, name=name)
        if kind == "lz4":
            return cls(unpacked(path), name)
        with (gzip.open if kind == "gz" else open)(path, "rt", encoding="utf-8") as lines:
            return cls(json.load(lines), name) if kind == "json" else cls._of_lines(lines, name)

    @classmethod
    def _of_lines(cls, lines: Iterable[str], name: str | None) -> Self:
        """A TREC file; a run without a name has the tag of its first line."""
        data: Nested = {}
        rows = [line.split() for line in lines]
        for fields in rows:
            data.setdefault(fields[0], {})[fields[2]] = cls.number(fields[cls.place])
        return cls(data, name or next((row[5] for row in rows if len(row) > 5), None))

    @classmethod
    def from_df(
        cls,
        df: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Self:
        queries: Nested = {}
        rows = zip(*(df[column].tolist() for column in (q_id_col, doc_id_col, score_col)), strict=True)
        for query, document, score in rows:
            queries.setdefault(query, {})[document] = score
        return cls(queries, name)

    @classmethod
    def from_parquet(
        cls, path: str, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score",
        pd_kwargs: Mapping[str, Any] | None = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        import pandas as pd

        return cls.from_df(pd.read_parquet(path, **pd_kwargs or {}), q_id_col, doc_id_col, score_col, name)

    def add_score(self, q_id: str, doc_id: str, score: float) -> None:
        self._data.setdefault(q_id, {})[doc_id] = type(self).number(score)
        self.sorted = False

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Iterable[float]) -> None:
        """A query with its documents, in place of what it had."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self, q_ids: Sequence[str], doc_ids: Sequence[Iterable[str]], scores: Sequence[Iterable[float]]
    ) -> None:
        for query, documents, numbers in zip(q_ids, doc_ids, scores, strict=True):
            self._data[query] = dict(zip(documents, map(type(self).number, numbers), strict=True))
        self.sort()

    def keys(self) -> Any:
        return self._data.keys()

    def get_query_ids(self) -> list[str]:
        return list(self._data)

    def get_doc_ids_and_scores(self) -> list[dict[str, Any]]:
        return list(self.to_dict().values())

    def sort(self) -> None:
        """Queries by id, documents by falling number."""
        self._data = {query: self[query] for query in sorted(self._data)}
        self.sorted = True

    def to_dict(self) -> Nested:
        return {query: self[query] for query in self._data}

    def to_typed_list(self) -> list[NDArray[np.float64]]:
        """For each query in order an array of two columns: a number for the document's id, and its own number."""
        self.sort()
        return [
            np.array([(number_of(document), number) for document, number in documents.items()], float).reshape(-1, 2)
            for documents in self._data.values()
        ]

    def to_dataframe(self) -> Any:
        import pandas as pd

        rows = [(query, *pair) for query in self._data for pair in self[query].items()]
        return pd.DataFrame(rows, columns=["q_id", "doc_id", "score"])

    def save(self, path: str, kind: str | None = None) -> None:
        """As JSON, TREC, Parquet or LZ4, as the file's name or ``kind`` says."""
        kind = kind_of(path, kind)
        if kind == "parquet":
            self.to_dataframe().to_parquet(path, index=False)
        elif kind == "json":
            Path(path).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False), encoding="utf-8")
        elif kind == "lz4":
            packed(self.to_dict(), path)
        else:
            lines = (self._line(query, rank, *pair) for query in self._data for rank, pair in numbered(self[query]))
            Path(path).write_text("\n".join(lines), encoding="utf-8")

    def _line(self, query: str, rank: int, document: str, number: float) -> str:
        raise NotImplementedError

    @property
    def size(self) -> int:
        return len(self._data)

    def __getitem__(self, q_id: str) -> dict[str, Any]:
        return dict(sorted(self._data[q_id].items(), key=lambda pair: -pair[1]))

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return repr(self.to_dict())


class Qrels(Rankings):
    """Judgements.

    >>> Qrels({"q": {"a": 1, "b": 3}}, name="mine")["q"]
    {'b': 3, 'a': 1}
    """

    number = int
    place = 3

    @classmethod
    def from_ir_datasets(cls, dataset_id: str) -> Self:
        import ir_datasets

        return cls(ir_datasets.load(dataset_id).qrels_dict(), dataset_id)

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Grades lowered so that this one becomes 1."""
        self._data = {q: {d: g - (rel_lvl - 1) for d, g in grades.items()} for q, grades in self._data.items()}

    @property
    def qrels(self) -> Nested:
        """query → document → grade, the object's own dictionary."""
        return self._data

    def save(self, path: str = "qrels.json", kind: str | None = None) -> None:
        super().save(path, kind)

    def _line(self, query: str, rank: int, document: str, number: float) -> str:
        return f"{query} 0 {document} {number}"


class Run(Rankings):
    """A system's scores; `evaluate` leaves its numbers in ``mean_scores``, ``std_scores`` and ``scores``."""

    def __init__(self, run: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: dict[str, dict[str, float]] = defaultdict(dict)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @property
    def run(self) -> Nested:
        """query → document → score, the object's own dictionary."""
        return self._data

    def make_comparable(self, qrels: Qrels) -> Run:
        """Without queries that have no judgements, and with an empty answer for those it lacks."""
        self._data = {query: self._data.get(query, {}) for query in qrels.get_query_ids()}
        return self

    def save(self, path: str = "run.json", kind: str | None = None) -> None:
        super().save(path, kind)

    def _line(self, query: str, rank: int, document: str, number: float) -> str:
        return f"{query} Q0 {document} {rank} {number} {self.name}"


def numbered(documents: dict[str, Any]) -> Iterable[tuple[int, tuple[str, Any]]]:
    return enumerate(documents.items(), 1)


def number_of(document: str) -> float:
    """The same number for the same id in every process; 48 bits are exact in a float."""
    return float(int.from_bytes(blake2b(document.encode(), digest_size=6).digest()))


def kind_of(path: str, kind: str | None) -> str:
    """The layout of a file, by its ending."""
    ending = kind or Path(path).suffix[1:]
    layout = {"txt": "trec", "parq": "parquet"}.get(ending, ending)
    if layout not in ("json", "trec", "gz", "parquet", "lz4"):
        raise AssertionError(f"{path}: say kind='json', 'trec', 'gz', 'parquet' or 'lz4'")
    return layout


def unpacked(path: str) -> Nested:
    """CBOR in LZ4 in LZ4, as ranx writes it; its packages cbor2 and lz4 are needed."""
    import cbor2
    import lz4.frame

    with lz4.frame.open(path) as file:
        nested: Nested = cbor2.loads(lz4.frame.decompress(file.read()))
    return nested


def packed(data: Nested, path: str) -> None:
    import cbor2
    import lz4.frame

    with lz4.frame.open(path, "wb") as file:
        file.write(lz4.frame.compress(cbor2.dumps(data)))
