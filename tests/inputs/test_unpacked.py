# SPDX-License-Identifier: Apache-2.0
"""Files of columns that say a long value once for many rows, or are packed: what they unpack to has a limit, as packed text has."""

from __future__ import annotations

import io
import random
import zlib
from contextlib import ExitStack, nullcontext
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import karat
from karat.read import arrow, docbin, source
from karat.read.source import Source

LONG, ROWS = "x" * 20_000, 200
ONCE = np.zeros(ROWS, np.int32)
OFFSETS = pa.array(range(ROWS + 1), pa.int32())


def named(texts, number=ONCE) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(number), pa.array(texts))


VIEWS = np.array([[len(LONG), 0x78787878, 0, 0]], np.int32).repeat(ROWS, 0).tobytes()
BOMBS = {
    "text": named([LONG]),
    "packed text": pa.array([LONG] * ROWS),
    "bytes": pa.array([LONG.encode()] * ROWS),
    "lists": pa.ListArray.from_arrays(OFFSETS, named([LONG])),
    "weights": pa.MapArray.from_arrays(OFFSETS, pa.array([LONG] * ROWS), pa.array([1.0] * ROWS)),
    "fields": pa.StructArray.from_arrays([pa.array([LONG] * ROWS), pa.array([1.0] * ROWS)], ["A", "B"]),
    "one row": pa.ListArray.from_arrays(pa.array([0, 3_000_000] + [3_000_000] * (ROWS - 1), pa.int32()), pa.array(np.zeros(3_000_000, np.int8))),
    "views": pa.Array.from_buffers(pa.string_view(), ROWS, [None, pa.py_buffer(VIEWS), pa.py_buffer(LONG.encode())]),
    "views of lists": pa.ListViewArray.from_arrays(pa.array(ONCE), pa.array(ONCE + 2_000), pa.array([f"label{i % 2}" for i in range(2_000)])),
}  # fmt: skip


def written(path, table, packing="zstd") -> str:
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression=packing)
    else:
        with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression=packing)) as file:
            file.write_table(table)
    return str(path)


def evaluated(path, **how):
    return karat.evaluate(path, path, allow_same=True, **how)


def codes(path, **how) -> list[str]:
    with pytest.raises(karat.InputError) as caught:
        evaluated(path, **how)
    return [f.code for f in caught.value.findings]


@pytest.fixture
def least(monkeypatch):
    monkeypatch.setattr(source, "LEAST", 1 << 20)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", BOMBS)
def test_few_bytes_that_unpack_to_many_are_refused(kind, suffix, tmp_path, least):
    table = pa.table({"id": [str(i) for i in range(ROWS)], "value": BOMBS[kind]})
    assert codes(written(tmp_path / f"gold.{suffix}", table)) == ["unpacked-too-large"] * 2


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_who_means_it_says_so(suffix, tmp_path, least):
    value = named([LONG, "B"], np.arange(ROWS, dtype=np.int32) % 2)
    path = written(tmp_path / f"gold.{suffix}", pa.table({"id": range(ROWS), "value": value}))
    assert codes(path) == ["unpacked-too-large"] * 2
    assert evaluated(path, metrics=["accuracy"], max_unpacked=1 << 25)["accuracy"].value == 1


@pytest.mark.parametrize("column", ["id", "value"])
def test_large_tables_are_refused_before_they_are_counted(column, tmp_path, least):
    """From 20,000 rows on, no row leaves the engine."""
    rows = np.arange(30_000)
    table = {"id": rows, "value": rows % 2} | {column: named([f"{i}{'x' * 1_000}" for i in range(3)], rows % 3)}
    path = written(tmp_path / "gold.parquet", pa.table(table))
    assert codes(path) == ["unpacked-too-large"] * 2
    assert codes(path, context="clustering", memory=64 << 20) == ["unpacked-too-large"] * 2


def test_a_table_of_too_many_values_to_count_is_refused_where_it_is_read(tmp_path, least, monkeypatch):
    """What was counted of it is not all of it."""
    monkeypatch.setattr(source, "RATIO", 1)
    monkeypatch.setattr("karat.in_place.MOST_VALUES", 100)
    rows = np.arange(30_000)
    value = named([f"{i:05}{'x' * 60}" for i in range(10_000)], rows // 3)
    path = written(tmp_path / "gold.parquet", pa.table({"id": rows, "value": value}))
    assert codes(path) == ["unpacked-too-large"] * 2


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_rows_that_take_no_room_are_counted_too(suffix, tmp_path, least):
    assert (
        codes(written(tmp_path / f"gold.{suffix}", pa.table({"value": pa.nulls(2_000_000)})))
        == ["unpacked-too-large"] * 2
    )


def test_a_column_that_is_not_looked_at_counts_nothing(tmp_path, least):
    table = pa.table(
        {"id": range(30_000), "value": ["A", "B"] * 15_000, "model": named(["x" * 1_000], np.zeros(30_000, np.int8))}
    )
    path = written(tmp_path / "gold.parquet", table)
    assert evaluated(path, columns={"value": "value"})["accuracy"].value == 1


def test_ten_million_rows_of_one_label_are_an_honest_file(tmp_path):
    rows = 10_000_000
    table = pa.table({"id": np.arange(rows), "value": named(["A"], np.zeros(rows, np.int8))})
    path = tmp_path / "gold.parquet"
    pq.write_table(
        table, path, compression="zstd", use_dictionary=["value"], column_encoding={"id": "DELTA_BINARY_PACKED"}
    )
    assert path.stat().st_size * 1_000 < rows * 9
    assert evaluated(str(path), metrics=["accuracy"]).systems[0].counts["gold"] == rows


@pytest.mark.parametrize("packing", [None, "lz4", "zstd"])
def test_an_arrow_file_says_how_large_it_is(packing):
    lists = pa.ListArray.from_arrays(OFFSETS, named(["A"]))
    table = pa.table({"id": range(ROWS), "value": named(["A"]), "labels": lists, "nothing": pa.nulls(ROWS)})
    file = io.BytesIO()
    with ipc.new_file(file, table.schema, options=ipc.IpcWriteOptions(compression=packing)) as out:
        out.write_table(table, max_chunksize=70)
    cells = ROWS * 5 + 2  # the members of lists, and the texts of both dictionaries
    room = (64 - 1) * 100  # buffers of three batches and two dictionaries, each up to a whole line of the cache
    assert table.nbytes + cells <= arrow.size(file.getvalue()) <= table.nbytes + cells + room
    frame = pl.DataFrame({"id": range(ROWS), "value": [LONG] * ROWS})
    frame.write_ipc(file := io.BytesIO(), compression=packing or "uncompressed")
    assert arrow.size(file.getvalue()) >= 8 * ROWS + len(LONG)


@pytest.mark.parametrize("end", [12, 100, 600, -1, -10, -40, -300])
def test_an_arrow_file_that_is_cut_off(end, tmp_path):
    whole = Path(written(tmp_path / "whole.arrow", pa.table({"id": range(ROWS), "value": named(["A"])}))).read_bytes()
    (tmp_path / "gold.arrow").write_bytes(whole[:end])
    assert codes(str(tmp_path / "gold.arrow")) == ["file-unreadable"] * 2


def test_a_large_table_beside_a_stream(tmp_path):
    """The engine takes no stream before the answer of what it was asked is read to its end."""
    table = pa.table({"id": range(30_000), "value": ["A", "B", "C"] * 10_000})
    gold, pred = (written(tmp_path / f"{name}", table) for name in ("gold.parquet", "pred.arrow"))
    assert karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value == 1
    assert karat.evaluate(pred, gold, metrics=["accuracy"])["accuracy"].value == 1

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    assert karat.evaluate(gold, Stream(), metrics=["accuracy"])["accuracy"].value == 1


def test_what_spacy_unpacks_as_a_whole(tmp_path, least):
    path = tmp_path / "gold.spacy"
    with ExitStack() as stack:
        for size, fits in ((1 << 20, True), (3 << 20, False)):
            path.write_bytes(zlib.compress(random.Random(7).randbytes(4096) + bytes(size - 4096)))
            with nullcontext() if fits else pytest.raises(karat.InputError, match="unpacked-too-large"):
                docbin._must_fit(Source(path, stack))
