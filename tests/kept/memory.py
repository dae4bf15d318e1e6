# SPDX-License-Identifier: Apache-2.0
"""Data in memory of many libraries, and files as they come from disk: packed, encoded, foreign."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from tests.kept.inputs import CONTEXTS, ROLES, Inputs, everywhere
from tests.kept.reading import FOLDER, Input


def _given() -> dict[str, Callable[[], Any]]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import scipy.sparse as sp

    label = ["A", "B", "A", None]
    return {
        "list": lambda: ["A", "B", "A"], "tuple": lambda: ("A", "B", "A"), "generator": lambda: (text for text in "ABA"), "range": lambda: range(3), "empty": list, "empty dict": dict, "set": lambda: {"A"}, "frozenset": lambda: frozenset("A"), "number": lambda: 7, "none": lambda: None, "nested tuples": lambda: [("A",), ("B", "C")], "sets": lambda: [{"A"}, {"B"}], "bytes": lambda: [b"A", b"\xff"], "surrogate": lambda: ["\ud800", "A"], "surrogate id": lambda: {"\ud800": "A"}, "surrogate case": lambda: [{"test_case": "\ud800", "id": 1, "value": "A"}], "surrogate text": lambda: [{"text": "\ud800", "value": "A"}], "huge": lambda: [10**5000], "itself": _ring,
        "whole array": lambda: np.array([1, 2, 1]), "float array": lambda: np.array([1.0, 2.5, np.nan]), "truth array": lambda: np.array([True, False]), "text array": lambda: np.array(["A", "B"]), "object array": lambda: np.array(["A", None, 1], object), "lists in an array": lambda: np.array([["A"], ["B", "C"], None], object), "dates": lambda: np.array(["2020-01-01"], "M8[D]"), "masked": lambda: np.ma.masked_array([1, 2, 3], [False, True, False]), "masked matrix": lambda: np.ma.masked_array([[1, 0], [0, 1]], False), "structured": lambda: np.array([("a", 1), ("b", 2)], [("id", "U1"), ("value", int)]), "structured other": lambda: np.array([("a", 1)], [("x", "U1"), ("y", int)]), "column": lambda: np.array([[1], [0], [1]]), "float column": lambda: np.array([[0.5], [0.25]]), "zeros and ones": lambda: np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]]), "true matrix": lambda: np.array([[True, False], [False, False]]), "float zeros and ones": lambda: np.array([[1.0, 0.0], [0.0, 1.0]]), "scores": lambda: np.array([[0.5, 0.5], [0.25, 0.75]]), "scores with nan": lambda: np.array([[0.5, np.nan], [0.25, 0.75]]), "whole matrix": lambda: np.array([[1, 2], [3, 4]]), "text matrix": lambda: np.array([["A", "B"], ["C", "D"]]), "cube": lambda: np.zeros((2, 2, 2)), "scalar array": lambda: np.array(3), "no rows": lambda: np.zeros((0, 2)), "no columns": lambda: np.zeros((2, 0)), "empty array": lambda: np.array([]),
        "lists of scores": lambda: [[0.5, 0.5], [0.25, 0.75]], "lists of whole scores": lambda: [[1, 0], [0, 2]], "lists of ones": lambda: [[1.0, 0.0], [0.0, 1.0]], "ragged scores": lambda: [[0.5, 0.5], [0.25]], "scores and a word": lambda: [[0.5, 0.5], ["x", 1]], "scores and a number": lambda: [[0.5, 0.5], 1], "arrays of scores": lambda: [np.array([0.5, 0.5]), np.array([0.25, 0.75])], "tuples of scores": lambda: ((0.5, 0.5), (0.25, 0.75)), "one score": lambda: [[0.5], [0.25]], "empty rows": lambda: [[], []], "scores of truth": lambda: [[True, 0.5], [False, 0.5]], "csr": lambda: sp.csr_matrix([[1, 0, 1], [0, 0, 0], [0, 1, 0]]), "csr with zeros": lambda: sp.csr_matrix((np.array([1, 0, 1]), np.array([0, 1, 2]), np.array([0, 2, 3]))), "csc": lambda: sp.csc_matrix([[1, 0, 1], [0, 0, 0], [1, 1, 0]]), "coo": lambda: sp.coo_matrix((np.array([1, 1, 0, 1]), (np.array([2, 0, 1, 0]), np.array([1, 2, 0, 0]))), shape=(3, 3)), "no ones": lambda: sp.csr_matrix((2, 3)),
        "tags": lambda: [["B-A", "O"], ["O"], []], "tags alone": lambda: [["O", "O"]], "labels like tags": lambda: [["B"], ["I"]], "labels": lambda: [["x", "y"], ["z"]], "tags late": lambda: [[], ["B-A"]], "tags and others": lambda: [["B-A", "O"], ["x"]], "100 tags": lambda: [["B-A"]] * 100 + [["x"], [1]], "101 tags": lambda: [["B-A"]] * 100 + [7, ["O", None]], "tags of arrays": lambda: np.array([["B-A", "O"], ["O", "O"]]), "tags with breaks": lambda: [["B-A\nx", "O"], ["O"]], "no tags": lambda: [[], []], "many bad tags": lambda: [["B-A"]] * 100 + [[1]] * 25, "spans": lambda: [[{"start": 0, "end": 4, "label": "A"}], []], "triples": lambda: [[(0, 4, "A")], []], "documents": lambda: [{"id": "a", "spans": [{"start": 0, "end": 4, "label": "A"}]}], "documents without": lambda: [{"id": "a", "spans": []}], "documents null": lambda: [{"id": "a", "spans": None}], "null and value": lambda: [{"id": "a", "spans": None, "value": "A"}], "numpy spans": lambda: [{"id": "a", "spans": [{"start": np.int64(0), "end": np.int32(4), "label": "A"}]}], "huge spans": lambda: [{"id": "a", "spans": [{"start": 0, "end": 2**64, "label": "A"}]}], "luis": lambda: [{"LabeledData": {"Entities": []}, "PredictedData": {"Entities": []}}],
        "records": lambda: [{"id": 1, "value": "A"}, {"id": 2, "value": "B", "note": 3}], "records of names": lambda: [{1: "a", "value": "A"}], "records without": lambda: [{"x": 1}, {"x": 2}], "records of scores": lambda: [{"id": 1, "A": 0.5, "B": 0.5}, {"id": 2, "A": 0.25, "B": 0.75}], "scores without ids": lambda: [{"A": 0.5, "B": 0.5}, {"A": 0.25, "B": 0.75}], "records of lists": lambda: [{"A": ["x"]}, {"A": ["y"]}], "columns": lambda: {"id": [1, 2], "value": ["A", "B"]}, "array columns": lambda: {"id": np.array([1, 2]), "value": np.array([0.5, 2])}, "columns of scores": lambda: {"id": [1, 2], "A": [0.5, 0.25], "B": [0.5, 0.75]}, "columns without ids": lambda: {"A": [0.5, 0.25], "B": [0.5, 0.75]}, "dict of lists": lambda: {"a": ["A"], "b": ["B", "C"]}, "dict": lambda: {"a": "A", 2: "B", 3.0: "C"}, "dict of null": lambda: {None: "A", "b": None}, "dict of dicts": lambda: {"a": {"A": 1.0}, "b": {"B": 0.5}}, "dict of none keys": lambda: {"a": {None: 1.0}, "b": {"B": 0.5}}, "pages": lambda: {"doc": ["a"], "page": [1], "first": [1]},
        "series": lambda: pd.Series(label), "series of numbers": lambda: pd.Series([1.0, None, 2.0]), "series of lists": lambda: pd.Series([["A"], ["B"], None]), "categories": lambda: pd.Series(["A", "B", None]).astype("category"), "nullable": lambda: pd.Series([1, None, 2], dtype="Int64"), "strings": lambda: pd.Series(["A", None], dtype="string"), "frame": lambda: pd.DataFrame({"id": [1, 2, 3, 4], "value": label}), "frame of scores": lambda: pd.DataFrame({"id": [1, 2], "A": [0.5, 0.25], "B": [0.5, 0.75]}), "frame twice": lambda: pd.DataFrame([[1, "A", "B"]], columns=["id", "value", "value"]), "frame of nothing": pd.DataFrame, "empty frame": lambda: pd.DataFrame({"id": [], "value": []}), "frame of numbers": lambda: pd.DataFrame({1: ["a"], "value": ["A"]}), "ranking frame": lambda: pd.DataFrame({"query": ["q", "q", "r"], "doc": ["a", "b", "a"], "score": [1, 2, 3]}), "ranks": lambda: pd.DataFrame({"query": ["q", "q", "r"], "doc": ["a", "b", "a"], "score": [1.5, 2, 3], "rank": [2, 1, 1]}), "rank words": lambda: pd.DataFrame({"query": ["q", "r"], "doc": ["a", "b"], "score": [1.5, 2], "rank": ["x", "y"]}), "ranking with gaps": lambda: pd.DataFrame({"query": ["q", "q"], "doc": ["a", None], "score": [1, 2]}), "ranking of texts": lambda: pd.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "score": ["1", "2"]}), "ranking of categories": lambda: pd.DataFrame({"query": pd.Categorical(["q", "r", "q"]), "doc": ["a", "b", "c"], "score": [True, False, True]}), "no rankings": lambda: pd.DataFrame({"query": [], "doc": [], "score": np.array([], float)}), "ranking of numbers": lambda: pd.DataFrame({"query": [1, 2], "doc": [3, 4], "relevance": [1, 0]}),
        "polars": lambda: pl.DataFrame({"id": [1, 2, 3, 4], "value": label}), "polars series": lambda: pl.Series(label), "polars lists": lambda: pl.DataFrame({"id": [1, 2], "value": [["A"], ["B", "C"]]}), "polars structs": lambda: pl.DataFrame({"id": [1, 2], "value": [{"A": 0.5, "B": None}, {"A": 1.0, "B": 0.0}]}), "lazy": lambda: pl.LazyFrame({"id": [1, 2], "value": ["A", "B"]}), "polars ranking": lambda: pl.DataFrame({"query": ["q", "q", "r"], "doc": ["a", "b", "a" * 20], "score": [1.5, 2, 3]}), "polars short": lambda: pl.DataFrame({"query": ["q", "q", "r"], "doc": ["a", "b", "a" * 12], "score": [1.5, 2, 3]}), "polars sliced": lambda: pl.DataFrame({"query": ["q", "q", "r"], "doc": ["a", "b", "c"], "score": [1.5, 2, 3]})[1:], "polars categories": lambda: pl.DataFrame({"query": pl.Series(["q", "q", "r"], dtype=pl.Categorical), "doc": ["a", "b", "c"], "rank": [1, 2, 1]}), "polars gaps": lambda: pl.DataFrame({"query": ["q", "r"], "doc": ["a", "b"], "score": [1.5, None]}),
        "arrow": lambda: pa.table({"id": [1, 2, 3, 4], "value": label}), "arrow array": lambda: pa.array(label), "arrow structs": lambda: pa.table({"id": [1, 2], "value": [{"A": 0.5}, {"B": 1.0}]}), "arrow map": lambda: pa.table({"id": [1, 2], "value": pa.array([[("A", 0.5)], None], pa.map_(pa.string(), pa.float64()))}), "arrow codes": lambda: pa.table({"id": [1, 2, 3, 4], "value": pa.array(label).dictionary_encode()}), "arrow ranking": lambda: pa.table({"query": ["q", "q", "r"], "doc": ["a", "b", "a"], "score": [1, 2, 3]}), "arrow large": lambda: pa.table({"query": pa.array(["q", "r"], pa.large_string()), "doc": pa.array(["a", "b"], pa.large_string()), "score": [0.5, 1.5], "rank": [2, None]}), "arrow views": lambda: pa.table({"query": pa.array(["q", "r", "r"], pa.string_view()), "doc": pa.array(["a" * 12, "b", "c"], pa.string_view()), "score": [0.5, 1.5, 2]}), "arrow long views": lambda: pa.table({"query": pa.array(["q", "r", "r"], pa.string_view()), "doc": pa.array(["a" * 13, "b", "c"], pa.string_view()), "score": [0.5, 1.5, 2]}), "arrow sliced": lambda: pa.table({"query": ["q", "q", "r"], "doc": ["a", "b", "c"], "score": [1, 2, 3]})[1:], "arrow chunks": lambda: pa.concat_tables([pa.table({"query": ["q"], "doc": ["a"], "score": [1]}), pa.table({"query": ["q"], "doc": ["b"], "score": [2]})]), "arrow no rows": lambda: pa.table({"query": pa.array([], pa.string()), "doc": pa.array([], pa.string()), "score": pa.array([], pa.float64())}), "arrow without columns": lambda: pa.table({}), "arrow repeats": lambda: pa.table([pa.array([1]), pa.array([2])], names=["value", "value"]),
    }  # fmt: skip


def _ring() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


def containers() -> Inputs:
    for name, make in _given().items():
        for role, context in product(ROLES, CONTEXTS):
            yield f"{name} {role} {context}", Input(make(), role=role, context=context)
        for classes in (["x", "y"], "x, y", ["x"], np.array([1, 2]), ["x", None]):
            yield f"{name} of classes {classes}", Input(make(), role="pred", options={"classes": classes})
        for columns in ({"cluster": "id"}, {"value": "note"}, {"value": "score", "id": "doc"}, {"test_case": "query", "id": "doc", "value": "score"}):  # fmt: skip
            yield f"{name} {columns}", Input(make(), columns=columns)


TABLE = b"id,value\n1,A\n2,B\n"
ENCODED = "id,value\n1,Café\n2,Ünı\n"


def sources() -> Inputs:
    """Files before anybody looks at their lines."""
    import zstandard

    packers = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstandard.ZstdCompressor(write_checksum=True).compress}  # fmt: skip
    for name, pack in packers.items():
        packed = pack(TABLE)
        for title, content in {"good": packed, "twice": packed + pack(b"3,C\n"), "zeros": packed + bytes(4) + pack(b"3,C\n") + bytes(4), "cut off": packed[:-5], "cut short": packed[:12], "text behind": packed + b"what is this", "nothing": pack(b""), "blank": pack(b" \n"), "json": pack(b'[{"id": 1, "value": "A"}]'), "utf-16": pack(ENCODED.encode("utf-16")), "itself": pack(packed)}.items():  # fmt: skip
            yield f"{name} {title}", Input(content, f"input.csv.{name}")
        for most in (len(TABLE) - 1, len(TABLE), len(TABLE) + 1):
            yield f"{name} at most {most}", Input(packed, "input.csv", most=most)
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-32"):
        content = ENCODED.encode(encoding, errors="replace")
        for said in (None, "utf-8", "utf-16", "utf-16-le", "latin-1", "UTF8", "cp1252", "klingon", "rot13", "utf-8-sig", "ascii"):  # fmt: skip
            yield f"{encoding} said to be {said}", Input(content, "input.csv", encoding=said)
    for size in range(1, 12):
        for wide in ("utf-16-le", "utf-16-be"):
            yield f"{size} letters in {wide}", Input("abcdefghijkl"[:size].encode(wide), "input.csv")
    for zeros in range(0, 11):
        yield f"{zeros} of 10 zeros", Input(b"".join(b"a\0" if n < zeros else b"ab" for n in range(10)), "input.csv")
        yield f"{zeros} of 10 zeros before", Input(b"".join(b"\0a" if n < zeros else b"ba" for n in range(10)), "input.csv")  # fmt: skip
    foreign = {"zip": b"PK\3\4\0\0", "zip text": b"PK,value\n1,A\n", "7z": b"7z\xbc\xaf\0", "pdf": b"%PDF-1.4\n\xff", "pdf text": b"%PDF,value\n1,A\n", "png": b"\x89PNG\r\n", "sqlite": b"SQLite format 3\0", "empty": b"", "blank": b" \n\t ", "nul": b"\0", "xml": b"<a></a>", "one word": b"word\n", "words": b"some words here\nand there\n", "parquet": b"PAR1 oops", "arrow": b"ARROW1 oops", "latin": b"some w\xf6rds\n", "bracket": b"[", "brace": b"{", "nan": b"NaN", "json text": b'"x"', "json number": b"7", "long line": b"x" * 70_000, "long csv": b"id,value," + b"x" * 70_000 + b"\n1,A,B\n", "long jsonl": b'{"id": "1", "value": "' + b"x" * 70_000 + b'"}\n'}  # fmt: skip
    for name, content in foreign.items():
        for file, context in product(("input", "input.csv", "input.tsv.gz", "x.CSV"), (None, "spans")):
            yield f"{name} as {file} {context}", Input(content, file, context=context)
    yield "no file", Input(FOLDER, "nowhere.csv")
    yield "a folder", Input(FOLDER, "more", beside={"more/a.csv": TABLE})
    for name in ("a b.csv", "a'b.csv", "a[1].csv", "a*.csv", "é.csv", "a\udcff.csv"):
        yield f"called {name!a}", Input('id,value\n1,"A"\n2,B\n', name)


def ranked_frames() -> Inputs:
    """Frames of rankings under other names and of other types."""
    import pandas as pd

    for query, doc, value in product(("query", "test_case", "x"), ("doc", "id", "y"), ("score", "rank", "relevance", "value", "z")):  # fmt: skip
        frame = pd.DataFrame({query: ["q", "r", "q"], doc: ["a", "b", "c"], value: [1, 0, 2]})
        yield from everywhere(f"{query} {doc} {value}", Input(frame), (None, "ranking", "monolabel"))
