# SPDX-License-Identifier: Apache-2.0
"""Columns of Parquet and Arrow files whose names or types are odd."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
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


@pytest.mark.parametrize("names", [("id", "Label", "label"), ("id", "label", " label "), ("id", "label", "ID")])
@pytest.mark.parametrize("container", ["records", "columns", "pandas", "polars", "arrow", "csv", "parquet", "ipc"])
def test_a_needed_column_is_there_once_in_every_container(names, container, tmp_path):
    """In memory the last of them was taken, in silence."""
    columns = dict(zip(names, (["1", "2"], ["A", "B"], ["3", "4"]), strict=True))
    assert refused({"1": "A", "2": "B"}, given(columns, container, tmp_path)) == {"repeated-column"}
    if "ID" not in names:
        ranked = dict(zip(("query", "doc", *names[1:]), (["q"], ["d"], [1.0], [2.0]), strict=True))
        named = {"columns": {"pred_value": "label"}, "context": "ranking"}
        assert refused({"q": {"d": 1}}, given(ranked, container, tmp_path), **named) == {"repeated-column"}


@pytest.mark.parametrize("container", ["csv", "parquet", "ipc"])
def test_scores_of_a_class_are_there_once(container, tmp_path):
    """The second column was a class called A_1."""
    columns = {"id": ["1", "2"], "prob_A": [0.9, 0.2], "Prob_A": [0.1, 0.1], "prob_B": [0.1, 0.8]}
    for context in (None, "probabilities"):
        given_ = given(columns, container, tmp_path)
        assert refused({"1": "A", "2": "B"}, given_, context=context) == {"repeated-column"}


def given(columns, container, tmp_path):
    table, path = pa.table(columns), tmp_path / f"pred.{container}"
    if container == "parquet":
        pq.write_table(table, path)
    elif container == "ipc":
        with ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    elif container == "csv":
        path.write_text(
            "\n".join(",".join(map(str, row)) for row in (columns, *zip(*columns.values(), strict=True))) + "\n"
        )
    return {
        "records": table.to_pylist(), "columns": columns, "pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns),
        "arrow": table,
    }.get(container, path)  # fmt: skip


def refused(gold, pred, **wish):
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred, **wish)
    return {f.code for f in caught.value.findings if f.severity == "error"}


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
