# SPDX-License-Identifier: Apache-2.0
"""Columns of Parquet and Arrow files whose names or types are odd."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import karat

LABELS = ["A", "B", "A"]


@pytest.fixture(params=["parquet", "arrow"])
def evaluated(request, tmp_path):
    def evaluate(table):
        path = str(tmp_path / f"gold.{request.param}")
        if request.param == "parquet":
            pq.write_table(table, path)
        else:
            with ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        return karat.evaluate(path, path, allow_same=True)

    return evaluate


@pytest.mark.parametrize("names", [["id", "value", "value"], ["id", "Value", "value"], ["id", "value", "ID"]])
def test_a_needed_column_that_is_there_twice_is_refused_as_in_a_text(evaluated, names):
    """The engine puts a number behind the second, and the first was taken."""
    with pytest.raises(karat.InputError) as caught:
        evaluated(pa.Table.from_arrays([pa.array(LABELS), pa.array(LABELS), pa.array(["1", "2", "3"])], names))
    assert [f.code for f in caught.value.findings] == ["repeated-column"] * 2


def test_other_columns_may_be_there_twice(evaluated):
    inner = [{"id": 1, "value": 2}] * 3
    table = [pa.array([1, 2, 3]), pa.array(LABELS), *[pa.array(["x"] * 3)] * 2, pa.array(inner)]
    found = evaluated(pa.Table.from_arrays(table, ["id", "value", "note", "note", "more"]))
    assert found["accuracy"].value == 1


def test_lists_of_one_length_are_lists(evaluated):
    """In Arrow they are a type of their own, of which each was taken for one label: [A, B]."""
    value = pa.array([["A", "B"], ["B", "A"], ["A", "C"]], pa.list_(pa.string(), 2))
    found = evaluated(pa.table({"id": [1, 2, 3], "value": value}))
    assert (found.context, found["subset_accuracy"].value) == ("multilabel", 1)


def test_a_type_that_is_not_read_is_no_broken_file(tmp_path):
    table = pa.table({"id": [1, 2, 3], "value": pa.array(np.array([1, 2, 1], np.float16))})
    with ipc.new_file(tmp_path / "gold.arrow", table.schema) as file:
        file.write_table(table)
    with pytest.raises(karat.InputError, match="a type that is not read"):
        karat.evaluate(str(tmp_path / "gold.arrow"), str(tmp_path / "gold.arrow"), allow_same=True)
