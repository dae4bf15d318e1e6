# SPDX-License-Identifier: Apache-2.0
"""Odd rows of Parquet and Arrow files, whose columns have one type each, and odd documents of spaCy's DocBin files."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.fuzz.formats import has_spacy
from tests.inputs.oddities import TAGS, TEXTS, Reader

NAN, INFINITE = float("nan"), float("inf")
KINDS: dict[str, tuple[Any, Any]] = {
    "text": ("A", "B"), "dictionary": ("A", "B"), "bytes": (b"A", b"B"), "whole": (1, 2), "unsigned": (1, 2), "double": (1.0, 2.0), "single": (1.0, 2.0), "truth": (True, False),
    "decimal": (Decimal("1.50"), Decimal("2.50")), "texts": (["A"], ["B"]), "wholes": ([1], [2]), "weights": ({"A": 0.75, "B": 0.25}, {"A": 0.25, "B": 0.75}),
    "map": ([("A", 0.75), ("B", 0.25)], [("A", 0.25), ("B", 0.75)]),
}  # fmt: skip
"""Types of a column, and the values of plain rows."""
VALUES: dict[str, list[Any]] = {
    "dictionary": [None, "", " ", "a", "\ufeffA", "é"],
    "bytes": [None, b"", b"\xff", b"A\xffB", b"\0"],
    "whole": [None, -1, 0, 1 << 62, -(1 << 63)],
    "unsigned": [None, (1 << 64) - 1],
    "double": [None, NAN, INFINITE, -INFINITE, 0.0, -0.0, 1.5, 1e300, 5e-324, 9007199254740993.0],
    "single": [None, NAN, -0.0, 0.1],
    "truth": [None],
    "decimal": [None, Decimal("-1.00"), Decimal("1.51")],
    "texts": [None, [], [None], ["A", None], ["A", "A"], [""], [" A"], ["A", "B"], ["é"], ["e\u0301"], ["\0"], ["[1]"], ["x" * 3000]],
    "wholes": [None, [], [None], [1, 1], [-1]],
    "weights": [None, {"A": None, "B": None}, {"A": 1.0, "B": None}, {"A": NAN, "B": 0.5}, {"A": -1.0, "B": 2.0}, {"A": 2.0, "B": 0.0}, {"A": INFINITE, "B": 0.0}, {"A": 0.0, "B": 0.0}, {"A": -0.0, "B": 1.0}],
    "map": [None, [], [("A", None)], [("A", 0.5), ("A", 0.5)], [("", 1.0)], [("A", NAN)], [("A", -1.0)], [("C", 1.0)]],
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A row: its number, or what is odd in it and the type that its column must have."""

    number: int = 0
    fat: bool = False
    id: Any = "odd"
    value: Any = "A"
    kind: str | None = None
    kind_of_id: str = "text"
    case: str | None = None

    def cells(self, kind: str, kind_of_id: str) -> tuple[Any, Any, str | None]:
        if self.kind:
            return self.id, self.value, self.case
        id = f"{'f' * 7000 * self.fat}{self.number}" if kind_of_id in ("text", "dictionary") else self.number
        return _of(kind_of_id, id), KINDS[kind][self.number % 2], self.case


def _of(kind: str, id: Any) -> Any:
    return float(id) if kind == "double" else str(id).encode() if kind == "bytes" else id


def _type(kind: str) -> Any:
    import pyarrow as pa

    return {
        "text": pa.string(), "dictionary": pa.dictionary(pa.int32(), pa.string()), "bytes": pa.binary(), "whole": pa.int64(), "unsigned": pa.uint64(), "double": pa.float64(),
        "single": pa.float32(), "truth": pa.bool_(), "decimal": pa.decimal128(9, 2), "texts": pa.list_(pa.string()), "wholes": pa.list_(pa.int64()),
        "weights": pa.struct([("A", pa.float64()), ("B", pa.float64())]), "map": pa.map_(pa.string(), pa.float64()),
    }[kind]  # fmt: skip


class Rows(Reader):
    """Tables that have columns in the place of lines."""

    def file(self, records: Sequence[Row]) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        odd = next((row for row in records if row.kind), Row(kind="text"))
        cells = [row.cells(odd.kind or "text", odd.kind_of_id) for row in records]
        types = (_type(odd.kind_of_id), _type(odd.kind or "text"), pa.string())
        columns = [pa.array(column, kind) for column, kind in zip(zip(*cells, strict=True), types, strict=True)]
        names = ["id", "value", "test_case"]
        table = pa.table(dict(list(zip(names, columns, strict=True))[: 3 if odd.case else 2]))
        out = io.BytesIO()
        if self.suffix == "parquet":
            pq.write_table(table, out, row_group_size=1000, compression="none", use_dictionary=False)
        else:
            with pa.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table, max_chunksize=1000)
        return out.getvalue()

    def line(self, before: Sequence[Row]) -> int:
        return 1 + len(before)

    def lines(self, odd: Row) -> int:
        return 1

    def may_lead(self, odd: Row) -> bool:
        return odd.id not in ("1", 1, 0)  # of two rows with one id the later is named


def _texts() -> list[str]:
    """What JSON texts stand for, and what they could be mistaken for."""
    out = []
    for text in TEXTS:
        try:
            value = json.loads(f'"{text}"')
            value.encode()
        except ValueError:
            continue
        out.append(value)
    return [*out, "A\nB", "A\tB", '["A"]', '{"A": 1}', "None", "nan", "-0.0", "x" * 5000]


def _rows() -> dict[str, Row]:
    rows = [Row(value=text, kind="text") for text in [None, *_texts()]]
    rows += [Row(id=text, kind="text") for text in [None, *_texts()]]
    rows += [Row(value=value, kind=kind) for kind, values in VALUES.items() for value in values]
    rows += [Row(id=id, kind="text", kind_of_id="whole") for id in (None, -1, 1 << 62, 1)]
    rows += [Row(id=id, kind="text", kind_of_id="double") for id in (None, NAN, -0.0, 1.0, 1.5, INFINITE)]
    rows += [Row(id=id, kind="text", kind_of_id="bytes") for id in (None, b"", b"\xff", b"odd")]
    rows += [Row(kind="text", case=case) for case in ("T", "", " ")]
    return {f"{row.kind_of_id} {str(row.id)[:30]!r}, {row.kind} {str(row.value)[:30]!r} {n}": row for n, row in enumerate(rows)}  # fmt: skip


@dataclass(frozen=True)
class Document:
    """Words of a text, and which of them are an entity of which label."""

    words: tuple[str, ...]
    entities: tuple[tuple[int, int, str], ...] = ((0, 1, "A"),)
    spaces: bool = True
    odd: bool = False


class Binary(Reader):
    """DocBin files: documents in their order, without ids or lines."""

    def file(self, records: Sequence[Document]) -> bytes:
        from spacy.tokens import Doc, DocBin, Span
        from spacy.vocab import Vocab

        binary, vocab = DocBin(), Vocab()
        for record in records:
            document = Doc(vocab, words=list(record.words), spaces=[record.spaces] * len(record.words))
            document.ents = [Span(document, start, end, label=label) for start, end, label in record.entities]
            binary.add(document)
        return binary.to_bytes()

    def line(self, before: Sequence[Document]) -> int:
        return 1 + len(before)

    def lines(self, odd: Document) -> int:
        return 1

    def may_lead(self, odd: Document) -> bool:
        return True


def _documents() -> dict[str, Document]:
    texts = [text for text in _texts() if text]
    out = [Document(("Ada", "met", "Bob"), ((0, 1, label),), odd=True) for label in [*TAGS, *texts]]
    out += [Document((word, "met"), odd=True) for word in texts]
    out += [
        Document((), (), odd=True), Document(("Ada",), (), odd=True), Document(("Ada", "Bob"), ((0, 2, "A"),), odd=True), Document(("Ada", "Bob"), ((0, 1, "A"), (1, 2, "A")), odd=True),
        Document(("Ada", "Bob"), spaces=False, odd=True), Document((" ",), (), odd=True), Document(("\n", "\n"), (), odd=True), Document(tuple("abcdefgh" * 40), ((0, 320, "A"),), odd=True),
    ]  # fmt: skip
    return {f"{str(d.words)[:40]} {str(d.entities)[:40]} {n}": d for n, d in enumerate(out)}


def _table(suffix: str) -> Reader:
    return Rows(suffix, _rows(), lambda n: Row(n), lambda n: Row(n, fat=True), format=suffix)


TABLES: dict[str, Reader] = {"parquet": _table("parquet"), "arrow": _table("arrow")}
if has_spacy():
    TABLES["docbin"] = Binary(
        "spacy", _documents(), lambda n: Document(("Ada", "met"), ((0, 1, "AB"[n % 2]),)), lambda n: Document((f"{'w' * 7000}{n}", "met")), options={"context": "spans"},
        by_position=True, format="docbin",
    )  # fmt: skip
