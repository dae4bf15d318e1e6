# SPDX-License-Identifier: Apache-2.0
"""What fast readers take and what they leave to the plain ones: where they give up no number tells, only the time."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from karat.columns import Numbering, Text
from karat.engines.duckdb import Engine
from karat.findings import InputError
from karat.read import Unread, names, read_input, trec
from karat.read.delimited import _names
from karat.read.fast import byte_codes, decimals, span_lines, tag_bytes, uniform
from karat.read.fast import trec as fast_trec
from karat.read.fast.bare_rows import bare_rows
from karat.read.source import Source
from karat.read.table import Read
from tests.kept.documents import DOCUMENTS, QRELS, RUN, uniform_lines
from tests.kept.evaluations import Cases
from tests.kept.inputs import SHAPES, lines

SPELT = {
    "whole": ["1", "20", "300"], "decimals": ["1.25", "10.50", "123.75"], "other decimals": ["1.25", "10.5", "3"], "signs": ["-1.5", "+2.5", "3.5"], "eight": ["12345678", "1"], "nine": ["123456789", "1"], "8 + 7": ["12345678.1234567"], "8 + 8": ["12345678.12345678"], "7 + 8": ["1234567.12345678"], "1 + 14": ["1.12345678901234"], "1 + 15": ["1.123456789012345"], "0 + 2": [".25", ".50"], "2 + 0": ["25.", "50."], "words": ["1.5", "x", "2.5"], "marks": ["1.25", "1x25"], "letter in digits": ["1.25", "1.2a"], "letter in whole": ["1.25", "a.25"], "exponents": ["1e3", "2.5e-3"], "underscore": ["1_0", "1"], "nan": ["nan", "inf", "-inf"], "long": ["0" * 33 + "1", "2"], "32": ["0" * 31 + "1", "2"], "zero": ["0", "-0", "0.0", "-0.0"], "none": [], "slash": ["1/2", "1:2", "1.5"], "nine decimals": ["1.123456789", "2.000000001"], "eight decimals": ["1.12345678", "22.00000001"], "shorter first": ["1", "1.5", "-2.25", "123456789012"], "empty": ["", "1"], "lonely sign": ["-", "1"],
}  # fmt: skip


def numbers() -> Cases:
    for name, given in SPELT.items():
        text = Text.of([word.encode() for word in given])
        yield f"decimals {name}", lambda t=text: decimals.decimals(t)
        if not given:
            continue
        if all(given):
            yield f"alike {name}", lambda t=text: decimals._alike(t)
        yield f"points {name}", lambda t=text: decimals._points(t)
        yield f"slowly {name}", lambda t=text: decimals._slowly(t)
        for point in (-1, 0, 1, 2, 7, 8, 14):
            yield f"with point {name} {point}", lambda t=text, p=point: _with_point(t, p)
        for count in (1, 2, 8, 9, 15):
            if all(len(word) >= count for word in given):
                yield f"long digits {name} {count}", lambda t=text, c=count: decimals._long_digits(t.buffer, t.start, c)
    for size in (1, 2, 7, 8):
        yield f"digits {size}", lambda s=size: decimals._digits(Text.of([b"1234567890"[:s], b"9" * s, b"0" * s, b"1" * (s - 1) + b"x", b":" * s, b"/" * s]))  # fmt: skip


def _with_point(text: Text, point: int) -> list[Any]:
    out, left = np.full(len(text), np.nan), np.arange(len(text))
    rest = decimals._with_point(out, text, text.start, text.length, left, point)
    return [out, rest]


def _of_file(content: str, use: Callable[[Source], Any]) -> Callable[[], Any]:
    def made() -> Any:
        with TemporaryDirectory() as folder, ExitStack() as stack:
            path = Path(folder) / "input"
            path.write_bytes(content.encode(errors="surrogateescape"))
            return use(Source(path, stack))

    return made


def trec_lines() -> Cases:
    for kind, files, layout in (("qrels", QRELS, trec.QRELS), ("run", RUN, trec.RUN)):
        for name, text in files.items():
            yield f"rows {kind} {name}", _of_file(text, lambda source, la=layout: _rows(fast_trec.rows(source, la.width, la.texts, la.numbers)))  # fmt: skip
            yield f"regular {kind} {name}", _of_file(text, lambda source, la=layout: _fields(source, la.width, fast_trec._regular))  # fmt: skip
            yield f"any {kind} {name}", _of_file(text, lambda source, la=layout: _fields(source, la.width, fast_trec._any))  # fmt: skip
            for most in (1, 2, 3, 100):
                yield f"stretches {kind} {name} {most}", _of_file(text, lambda source, m=most: _stretches(source, m))


def _rows(rows: Any) -> Any:
    if rows is None:
        return None
    return [rows.query.texts(), rows.size, [text.texts() for text in rows.texts], rows.numbers, rows.line]


def _fields(source: Source, width: int, reader: Any) -> Any:
    buffer, end = fast_trec._content(source)
    fields = reader(buffer, 0, end, width)
    if fields is None:
        return [end, fast_trec._is_text(buffer[:end]), None]
    return [end, [[t.decode(errors="replace") for t in fields.text(i).tolist()] for i in range(width)], fields.line, fields.lines]  # fmt: skip


def _stretches(source: Source, most: int) -> Any:
    found = trec.query_lines(source, most)
    return None if found is None else [found.query, found.start, found.line, found.rows]


def span_files() -> Cases:
    for name, input in uniform_lines():
        yield f"uniform {name}", _of_file(input.given, _columns)
    for name, records in DOCUMENTS.items():
        yield f"documents {name}", _of_file(lines(records), _columns)
    for count, size in ((1, 1), (3, 7), (3, 8), (3, 9), (40, 15), (2, 16), (2, 255), (2, 256), (2, 257)):
        records = [{"id": f"{n}".rjust(size, "p"), "spans": [{"start": n, "end": n + 1, "label": "L" * (n % 3 + 1)}] * (n % 2)} for n in range(count)]  # fmt: skip
        yield f"{count} ids of {size}", _of_file(lines([records[-1] | {"spans": [{"start": 1, "end": 2, "label": "X"}]}, *records]), _columns)  # fmt: skip
    line = json.dumps({"id": "a", "spans": [{"start": 1, "end": 2, "label": "X"}], "n": 3}).encode()
    for text in (line, line.replace(b" ", b"")):
        yield f"layout {text[:8]!r}", lambda t=text: _layout(uniform.Layout.of(t, "spans"))


def _columns(source: Source) -> Any:
    read = Read("input", "gold")
    columns = span_lines.read_columns(source, lambda record: span_lines._names(record, read))
    if columns is None:
        return None
    labels = [columns.labels[code] for code in columns.label.tolist()]
    return [columns.ids, columns.unit, columns.start, columns.end, labels, source.__dict__.get("sha256")]


def _layout(layout: uniform.Layout) -> list[Any]:
    return [layout.list_at, str(layout.comma), str(layout.colon), str(layout.head), layout.quotes, [str(layout.closing(n)) for n in range(len(layout.fields))], [layout.follower(n).name for n in range(len(layout.fields))]]  # fmt: skip


def words() -> Cases:
    for nth, texts in enumerate((["a"], ["a", "b", "a"], ["abcdefgh", "abcdefghi", "abcdefgh"], ["x" * n for n in range(1, 30)], [f"{n}" for n in range(300)])):  # fmt: skip
        yield f"codes {nth}", lambda t=texts: _coded(t, byte_codes._ROUNDS)
        yield f"codes {nth} in few slots", lambda t=texts: _coded(t, ((2, 0x9E3779B97F4A7C15), (3, 0xC2B2AE3D27D4EB4F)))
        yield f"codes {nth} sorted", lambda t=texts: _coded(t, ())
    sentences = {"plain": [["B-A", "O"], ["O", "I-A"]], "empty": [[], ["O"], []], "only O": [["O", "O"]], "letters": [["OO", "O", "o", "", "O-"]], "breaks": [["a\nb"]], "nul": [["a\0", "a", "O"]], "numbers": [["O", 1]], "long": [["B-" + "x" * 20, "O", "B-" + "x" * 21]]}  # fmt: skip
    for name, given in sentences.items():
        yield f"tags {name}", lambda g=given: _marked(g)


def _coded(texts: list[str], rounds: Any) -> list[Any]:
    """Texts by the row that stands for each of them: which it is, is left to the slots."""
    joined = "".join(texts).encode() + bytes(8)
    size = np.array([len(text.encode()) for text in texts])
    view = byte_codes.windows(joined)
    words = byte_codes.words_of(view, np.cumsum(size) - size, size)
    code, rows = byte_codes.coded(words, rounds)
    return [len(view), len(words), len(rows), [texts[rows[c]] for c in code.tolist()]]


def _marked(given: Any) -> Any:
    tags = Numbering({"O": 0})
    found = tag_bytes.marked(given, np.array(list(map(len, given))), tags)
    return None if found is None else [found[0], [list(tags)[code] for code in found[1].tolist()]]


def bare_tables() -> Cases:
    read = Read("input", "gold")
    for name, text in SHAPES.items():
        for mark in ",\t":
            first = text.split("\n")[0].rstrip("\r").split(mark)
            for header in (True, False):
                for most in (1, 2, 3, 4, 100):
                    yield f"{name} {mark!r} {header} {most}", _of_file(text, lambda source, f=first, m=mark, h=header, most=most: bare_rows(source, m, h, f, most))  # fmt: skip
    for header in (["a", "b"], ["a", ""], ["", "", "c"], ["a", "a"], ["a", "A", "b"], ["id", "ID"], ["x", "x", "x"]):
        yield f"names {header}", lambda h=header: _names(h, read, True)
    sides = [names.columns_of({"value": "v", "gold_value": "g", "pred_id": "p", "id": "i"}, side) for side in ("gold", "pred", "")]  # fmt: skip
    yield "names by side", lambda: sides


def heads() -> Cases:
    """How much of a file is looked at to tell its format."""
    for before in (0, 5, 65_535, 65_536, 65_537, 262_143, 262_144, 1_048_576, 4_194_303, 4_194_304):
        for mark in ("\n", "\r", ""):
            yield f"{before} bytes before {mark!r}", _of_file("x" * before + mark + "y" * 300_000, lambda source: [len(source.head), source.is_all_head(), source.is_blank()])  # fmt: skip
    for size in (10, 65_500, 65_536, 262_100, 300_000):
        yield f"a record of {size}", _of_file('{"id": "' + "x" * size + '"}' + "\n" * 70_000, lambda source: [len(source.beginning()), len(source.head)])  # fmt: skip
    for text in (" ", "\n\n", " x", "\ufeffx"):
        yield f"blank {text!a}", _of_file(text, lambda source: [source.is_blank(), len(source.head), len(source.start)])


UNREAD = {
    "json": ("input.json", '[{"id": 1, "value": "A"},\n{"id": 2, "value": "B"},\n{"id": 3, "value": "A"}]'), "jsonl": ("input.jsonl", '{"id": 1, "value": "A"}\n\n{"id": 2, "value": ""}\n{"id": 3, "value": "A"}\n'), "spans": ("input.jsonl", '{"id": 1, "text": "x", "spans": [{"start": 0, "end": 1, "label": "A"}]}\n{"id": 2, "spans": []}\n{"id": 3, "n_spans": 2, "spans": []}\n'), "array of spans": ("input.json", '[{"id": 1, "spans": [{"start": 0, "end": 1, "label": "A"}]}]'), "qrels": ("input", "q1 0 d1 1\nq2 0 d1\nq2 0 d2 1\nq2 0 d3 1\n"), "run": ("input", "q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\nq2 Q0 d2 2 1 t x\n"), "csv": ("input.csv", "id,value\n1,A\n"), "rankings": ("input.json", '{"q1": {"d1": 1}}'),
}  # fmt: skip


def unread() -> Cases:
    """Files that may be larger than memory: from which size on they are, and what some of their lines are."""
    for name, (file, text) in UNREAD.items():
        for factor in (1, 4, 6):
            for more in (-1, 0, 1):
                yield f"{name} {factor} {more}", _allowed(file, text, factor * len(text.encode()) + more)
        for part in ([2], [1, 3], [4], [3, 4]):
            yield f"{name} of lines {part}", _allowed(file, text, 1, part)


def _allowed(file: str, text: str, memory: int, part: list[int] | None = None) -> Callable[[], Any]:
    def made() -> Any:
        read = Read(file, "gold")
        with TemporaryDirectory() as folder, ExitStack() as stack, Engine(memory=max(memory, 1)) as engine:
            path = Path(folder) / file
            path.write_text(text, encoding="utf-8")
            side = read_input(engine, stack, path, read)
            read.name = file
            if not isinstance(side, Unread):
                return type(side).__name__
            facts = [side.format, side.origin.format, side.origin.role, side.origin.bytes, side.origin.sha256]
            if part is None:
                return facts
            some = Path(folder) / "some"
            chosen = [line for n, line in enumerate(text.split("\n"), 1) if n in part]
            some.write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
            try:
                found = side.part(some, np.array(part))
            except InputError as error:
                return [*facts, [[f.code, f.line] for f in error.findings]]
            return [*facts, [found.line(unit) for unit in range(len(found))], found.records, [[f.code, f.line] for f in found.findings]]  # fmt: skip

    return made


ALL = {"unread": unread, "fast heads": heads, "fast numbers": numbers, "fast trec": trec_lines, "fast spans": span_files, "fast words": words, "fast tables": bare_tables}  # fmt: skip
