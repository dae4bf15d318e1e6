"""Small tables without quotes are read without the engine: the columns, or the findings, are the engine's."""

import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from karat.engines.duckdb import Engine
from karat.findings import InputError
from karat.read import FORMATS, fast
from karat.read.fast.bare_rows import bare_rows
from karat.read.source import Source
from karat.read.table import Read

PIECES = ["a", "B", "1", "1.0", "é", " ", "", "''", "\\", "#", ",", ",", ",", ";", "\t", "\n", "\n", "\n", "\x0b", "\u2028", "id,value\n"]  # fmt: skip
ODD = ['"', '""', "\r\n", "\r", "\n\n", "\ufeff", "\udcff"]


def outcome(engine: Engine, path: Path, format: str) -> Any:
    with ExitStack() as stack:
        try:
            records = FORMATS[format].read(engine, Source(path, stack), Read(str(path), "gold"))
        except InputError as error:
            return [(f.code, f.line, f.message) for f in error.findings]
        columns = {name: list(column) for name, column in records.columns.items()}
        return columns, records.rows, records.typed, [records.origin.line_of(i) for i in range(records.rows)]


@pytest.mark.parametrize("seed", range(3))
def test_columns_and_findings_are_those_of_the_engine(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    path, engine = tmp_path / "table", Engine(threads=1)
    for nth in range(40):
        head = draw.choice(["id,value\n", "id\tvalue\n", "value\n", "", "id,value,\n", "id,a,A,value\n"])
        pieces = PIECES + ODD * draw.choice([0, 0, 1])
        regular = "".join(
            f"{draw.choice(PIECES[:10])}{draw.choice(',	')}{draw.choice('AB ')}\n" for _ in range(nth % 7)
        )
        text = head + regular + "".join(draw.choices(pieces, k=draw.choice([0, 0, 3, 12])))
        path.write_bytes(text.encode(errors="surrogateescape") or b"x")
        for format in ("csv", "tsv"):
            monkeypatch.setattr(fast, "ON", True)
            quick = outcome(engine, path, format)
            monkeypatch.setattr(fast, "ON", False)
            assert quick == outcome(engine, path, format), (format, text)


@pytest.mark.parametrize(
    "text", ['id,value\n1,"A"\n', "id,value\r\n1,A\r\n", "id,value\n\n1,A\n", "id,value\n1\n", "id,value\n1,\udcff\n"]
)
def test_what_is_not_plain_is_left_to_the_engine(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with ExitStack() as stack:
        assert bare_rows(Source(path, stack), ",", True, ["id", "value"], 100) is None


def test_a_table_of_many_rows_is_left_to_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,value\n1,A\n2,\n")
    with ExitStack() as stack:
        source = Source(path, stack)
        assert bare_rows(source, ",", True, ["id", "value"], 2) is None
        assert bare_rows(source, ",", True, ["id", "value"], 3) == {"id": ["1", "2"], "value": ["A", None]}
