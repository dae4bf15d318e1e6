"""The same data score the same, whatever file or object they come in."""

from __future__ import annotations

import collections
import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse
import zstandard

import karat

GOLD = ["A", "b c", "Ünï", "A", "1", "1.0", "NA", "null", "true", 'say "x"', "A", "b c"]
PRED = ["A", "A", "Ünï", "1", "1", "1.0", "NA", "A", "true", "A", "A", "b c"]
IDS = [f"d{i:02d}" for i in range(len(GOLD))]
METRICS = ["accuracy", "f1", "kappa", "icm", "balanced_accuracy"]

Write = Callable[[Path, list[str], list[str]], Any]


def scores(gold: Any, pred: Any, **options: Any) -> list[float | None]:
    found = karat.evaluate(gold, pred, metrics=METRICS, context="monolabel", **options)
    return [found[m].value for m in METRICS]


EXPECTED = scores(GOLD, PRED)


def columns(ids: list[str], values: list[str]) -> dict[str, list[str]]:
    return {"id": ids, "value": values}


def records(ids: list[str], values: list[str]) -> list[dict[str, str]]:
    return [{"id": i, "value": v} for i, v in zip(ids, values, strict=True)]


def table(ids: list[str], values: list[str], mark: str, end: str = "\n") -> str:
    quote = lambda text: '"' + text.replace('"', '""') + '"'
    return end.join([f"id{mark}value", *(f"{i}{mark}{quote(v)}" for i, v in zip(ids, values, strict=True))]) + end


def file(suffix: str, content: Callable[[list[str], list[str]], str | bytes]) -> Write:
    def write(folder: Path, ids: list[str], values: list[str]) -> str:
        path = folder.with_suffix(suffix)
        found = content(ids, values)
        path.write_bytes(found.encode() if isinstance(found, str) else found)
        return str(path)

    return write


def memory(make: Callable[[list[str], list[str]], Any]) -> Write:
    return lambda folder, ids, values: make(ids, values)


def packed(columns: dict[str, list[str]], save: Callable[[Any, Any], Any]) -> bytes:
    out = pa.BufferOutputStream()
    save(pa.table(columns), out)
    return out.getvalue().to_pybytes()


class Stream:
    """An object with nothing but the Arrow stream interface."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


def jsonl(i: list[str], v: list[str]) -> str:
    return "\n\n".join(json.dumps(r) for r in records(i, v))


WITH_IDS: dict[str, Write] = {
    "json": file(".json", lambda i, v: json.dumps(records(i, v))),
    "json indented": file(".json", lambda i, v: json.dumps(records(i, v), indent=3, ensure_ascii=False)),
    "json with test case": file(".json", lambda i, v: json.dumps([{"test_case": "T", **r} for r in records(i, v)])),
    "jsonl": file(".jsonl", jsonl),
    "csv": file(".csv", lambda i, v: table(i, v, ",")),
    "csv semicolon": file(".csv", lambda i, v: table(i, v, ";")),
    "csv crlf bom": file(".csv", lambda i, v: "\ufeff" + table(i, v, ",", "\r\n")),
    "csv cr": file(".csv", lambda i, v: table(i, v, ",", "\r")),
    "csv mixed line ends": file(".csv", lambda i, v: table(i, v, ",").replace("\n", "\r\n", 3)),
    "csv utf-16": file(".csv", lambda i, v: table(i, v, ",").encode("utf-16")),
    "csv without header": file(".csv", lambda i, v: table(i, v, ",").split("\n", 1)[1]),
    "csv other names": file(".csv", lambda i, v: table(i, v, ",").replace("id,value", " ID , Label ")),
    "tsv": file(".tsv", lambda i, v: table(i, v, "\t")),
    "tsv.gz": file(".gz", lambda i, v: gzip.compress(table(i, v, "\t").encode())),
    "json.zst": file(".zst", lambda i, v: zstandard.compress(json.dumps(records(i, v)).encode())),
    "zst of two frames": file(".zst", lambda i, v: b"".join(zstandard.compress(p.encode()) for p in (jsonl(i, v)[:99], jsonl(i, v)[99:]))),
    "parquet": file(".parquet", lambda i, v: packed(columns(i, v), pyarrow.parquet.write_table)),
    "arrow": file(".arrow", lambda i, v: packed(columns(i, v), pyarrow.feather.write_feather)),
    "records": memory(records),
    "dict": memory(lambda i, v: dict(zip(i, v, strict=True))),
    "dict of columns": memory(columns),
    "pandas": memory(lambda i, v: pd.DataFrame(columns(i, v))),
    "pandas objects": memory(lambda i, v: pd.DataFrame(columns(i, v), dtype=object)),
    "pandas categories": memory(lambda i, v: pd.DataFrame({"id": i, "value": pd.Categorical(v)})),
    "polars": memory(lambda i, v: pl.DataFrame(columns(i, v))),
    "polars categories": memory(lambda i, v: pl.DataFrame(columns(i, v), schema_overrides={"value": pl.Categorical})),
    "pyarrow": memory(lambda i, v: pa.table(columns(i, v))),
    "pyarrow dictionary": memory(lambda i, v: pa.table({"id": i, "value": pa.array(v).dictionary_encode()})),
    "record batches": memory(lambda i, v: pa.table(columns(i, v)).to_reader()),
    "arrow stream": memory(lambda i, v: Stream(pl.DataFrame(columns(i, v)))),
}  # fmt: skip

BY_POSITION: dict[str, Write] = {
    "list": memory(lambda i, v: v),
    "tuple": memory(lambda i, v: tuple(v)),
    "numpy unicode": memory(lambda i, v: np.array(v)),
    "numpy big-endian": memory(lambda i, v: np.array(v).astype(">U9")),
    "numpy strided": memory(lambda i, v: np.repeat(np.array(v), 2)[::2]),
    "numpy objects": memory(lambda i, v: np.array(v, object)),
    "numpy bytes": memory(lambda i, v: np.array([x.encode() for x in v])),
    "pandas series": memory(lambda i, v: pd.Series(v)),
    "pandas categorical series": memory(lambda i, v: pd.Series(pd.Categorical(v))),
    "pandas categorical": memory(lambda i, v: pd.Categorical(v)),
    "pandas frame of labels": memory(lambda i, v: pd.DataFrame({"label": v})),
    "pandas frame of categories": memory(lambda i, v: pd.DataFrame({"label": pd.Categorical(v)})),
    "polars series": memory(lambda i, v: pl.Series(v)),
    "polars categorical series": memory(lambda i, v: pl.Series(v, dtype=pl.Categorical)),
    "polars enum series": memory(lambda i, v: pl.Series(v, dtype=pl.Enum(sorted({*GOLD, *PRED})))),
    "pyarrow array": memory(lambda i, v: pa.array(v)),
    "pyarrow chunks": memory(lambda i, v: pa.chunked_array([v[:3], v[3:]])),
}


@pytest.mark.parametrize("name", WITH_IDS)
def test_with_ids(name: str, tmp_path: Path) -> None:
    """Predictions in gold's order, and in another."""
    write = WITH_IDS[name]
    for step in (1, -1):
        gold = write(tmp_path / "gold", IDS, GOLD)
        pred = write(tmp_path / "pred", IDS[::step], PRED[::step])
        assert scores(gold, pred) == EXPECTED


@pytest.mark.parametrize("name", BY_POSITION)
def test_by_position(name: str, tmp_path: Path) -> None:
    write = BY_POSITION[name]
    assert scores(write(tmp_path / "gold", IDS, GOLD), write(tmp_path / "pred", IDS, PRED)) == EXPECTED
    assert scores(GOLD, write(tmp_path / "pred", IDS, PRED)) == EXPECTED


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "bool", "object", "U8", "S8"]
)  # fmt: skip
def test_numpy_dtypes(dtype: str) -> None:
    rng = np.random.default_rng(3)
    gold, pred = rng.integers(0, 2, 50).astype(dtype), rng.integers(0, 2, 50).astype(dtype)
    plain = [[str(v) for v in side.astype(float).astype(int)] for side in (gold, pred)]
    assert scores(gold, pred) == scores(*plain)


@pytest.mark.parametrize("values", [[-5, 3, 10**15], [0.5, -0.0, 1e300], [2**63, 1, 0]])
def test_wide_numbers(values: list[float]) -> None:
    rng = np.random.default_rng(4)
    gold, pred = (np.array(values)[rng.integers(0, 3, 60)] for _ in "ab")
    assert scores(gold, pred) == scores(*([str(v) for v in side.tolist()] for side in (gold, pred)))


def test_codes_are_exact_where_hashes_collide() -> None:
    """More distinct values than slots, so that most lose their slot at first."""
    from karat.values import factorise

    values = np.random.default_rng(5).permutation(np.arange(200_000).repeat(2)).astype(str)
    coded = factorise(values)
    assert len(set(coded.names)) == len(coded.names) == 200_000
    assert (np.array(coded.names)[coded.code] == values).all()


def test_truth_values_are_the_numbers_that_they_equal() -> None:
    assert karat.evaluate([1, 1, 2], [1.0, True, 2], context="monolabel")["accuracy"].value == 1.0
    assert karat.evaluate([1, 0, 0], [True, False, True])["accuracy"].value == pytest.approx(2 / 3)
    assert karat.evaluate([True, False, True], np.array([1.0, 0.0, 0.0]))["accuracy"].value == pytest.approx(2 / 3)


def test_texts_and_numbers_are_not_mixed() -> None:
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate([1, "1", 2, 3], [1, 1, 2, 3])
    assert [(f.code, f.line) for f in caught.value.findings] == [("wrong-type", 2)]


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, np.float64("nan")])
def test_a_gap_is_found(gap: Any) -> None:
    with pytest.raises(karat.InputError, match="missing") as caught:
        karat.evaluate(["A", "B"], ["A", gap], context="monolabel")
    assert caught.value.findings[0].line == 2


def indicator_forms() -> dict[str, Callable[[Any], Any]]:
    from scipy.sparse import csr_matrix

    lists = lambda marks: [[str(j) for j in np.flatnonzero(row)] for row in marks]
    return {
        "int": lambda m: m,
        "bool": lambda m: m.astype(bool),
        "float": lambda m: m * 1.0,
        "sparse": csr_matrix,
        "lists": lists,
    }


@pytest.mark.parametrize("form", indicator_forms())
def test_indicator_matrices(form: str) -> None:
    """Rows without a label are items with an empty set."""
    rng = np.random.default_rng(6)
    gold, pred = (rng.integers(0, 2, (40, 4)) for _ in "ab")
    gold[3] = pred[3] = 0
    from sklearn.metrics import f1_score, jaccard_score

    make = indicator_forms()[form]
    found = karat.evaluate(
        make(gold), make(pred), context="multilabel", metrics=["f1", "f1(average=micro)", "jaccard", "subset_accuracy"]
    )
    assert found["f1"].value == pytest.approx(f1_score(gold, pred, average="macro"), abs=1e-12)
    assert found["f1(average=micro)"].value == pytest.approx(f1_score(gold, pred, average="micro"), abs=1e-12)
    assert found["jaccard"].value == pytest.approx(jaccard_score(gold, pred, average="macro"), abs=1e-12)
    assert found["subset_accuracy"].value == pytest.approx((gold == pred).all(1).mean(), abs=1e-12)


WITHOUT_ARROW = """
import sys
import threading
sys.modules["pyarrow"] = None
import polars, pandas, karat
data = {"id": ["1", "2", "3"], "value": ["A", "B", "A"]}
for gold, pred in ((polars.DataFrame(data), polars.DataFrame(data)), (pandas.DataFrame(data), polars.DataFrame(data)),
                   (polars.Series(data["value"]), polars.Series(data["value"])), (pandas.DataFrame(data), data)):
    assert karat.evaluate(gold, pred)["accuracy"].value == 1.0
print("done")
"""


def test_frames_need_no_pyarrow() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_ARROW], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(
    ("gold", "pred", "right"),
    [
        ([1.0, 2.0, 3.0], [1, 2, 2], 2 / 3),
        (np.array([1, 2.5], np.float32), ["1", "2.5"], 1.0),
        ([0.5, 1, 2.0], ["0.5", "1", "2"], 1.0),
        ([True, 1.0, 0], ["1", "1", "0"], 1.0),
        (["1.0", "1"], ["1", "1"], 0.5),
    ],
)
def test_whole_numbers_are_spelt_without_a_fraction(gold, pred, right):
    assert karat.evaluate(gold, pred)["accuracy"].value == pytest.approx(right)


def test_whole_numbers_in_a_float_column_are_those_of_an_integer_column():
    gold = pd.DataFrame({"id": [1.0, 2.0, 30.0], "label": [1.0, 10.0, 2.5]})
    pred = pd.DataFrame({"id": [1, 2, 30], "label": ["1", "10", "2.5"]})
    assert karat.evaluate(gold, pred)["accuracy"].value == 1.0


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_several_systems_in_memory(make: Any) -> None:
    gold, right, wrong = make(["A", "B", "B"]), make(["A", "B", "B"]), make(["A", "A", "B"])
    by_name = karat.evaluate(gold, {"x": right, "y": wrong})
    listed = karat.evaluate(gold, [right, wrong], names=["x", "y"])
    for found in (by_name, listed):
        assert [(s.name, s["accuracy"].value) for s in found.systems] == [("x", 1.0), ("y", pytest.approx(2 / 3))]


def test_a_dict_of_columns_is_one_system() -> None:
    gold = [{"id": "1", "value": "A"}, {"id": "2", "value": "B"}]
    assert karat.evaluate(gold, {"1": "A", "2": "B"})["accuracy"].value == 1.0
    assert karat.evaluate(gold, {"id": ["1", "2"], "value": ["A", "B"]})["accuracy"].value == 1.0


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gold.csv").write_text("id,value\n1,A\n2,B\n")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[b"id,value\n1,A\n2,A\n"])
    writer.start()
    assert karat.evaluate(tmp_path / "gold.csv", tmp_path / "pipe")["accuracy"].value == 0.5
    writer.join()


@pytest.mark.parametrize("kind", [iter, tuple, collections.deque, lambda values: dict(enumerate(values)).values()])
def test_whatever_can_be_gone_through_is_a_list(kind: Callable[[list[str]], Any]) -> None:
    assert scores(kind(GOLD), kind(PRED)) == EXPECTED


class Label(str, Enum):  # noqa: UP042 - a StrEnum calls itself by its text
    spam = "spam"
    ham = "ham"


def test_members_of_an_enum_that_are_texts_are_these() -> None:
    gold, pred = ["spam", "ham", "ham"], [Label.spam, Label.ham, Label.ham]
    assert karat.evaluate(gold, pred)["accuracy"].value == 1.0
    assert karat.evaluate([[x] for x in gold], [[x] for x in pred])["f1"].value == 1.0
    weights = [{Label.spam: 0.25, "ham": 0.75}, {"spam": 1.0}]
    assert karat.evaluate(weights, [dict(w) for w in weights], context="soft", metrics=["mae"])["mae"].value == 0.0
    assert {*karat.evaluate({Label.spam: "A"}, {"spam": "A"}, metrics=["accuracy"])["accuracy"].by_test_case} == {""}


def test_members_of_an_enum_are_texts_in_spans_rankings_and_names_of_classes() -> None:
    gold, pred = ([{"id": i, "spans": [{"start": 0, "end": 4, "label": i}]}] for i in ("spam", Label.spam))
    assert karat.evaluate(gold, pred, metrics=["f1"])["f1"].value == 1.0
    run = {Label.ham: {"ham": 1}, "q": {Label.spam: 1.0}}
    assert karat.evaluate({"q": {"spam": 1}}, run, context="ranking")["AP"].value == 1.0
    scores = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert karat.evaluate(["spam", "ham"], scores, classes=list(Label), metrics=["accuracy"])["accuracy"].value == 1.0


@pytest.mark.parametrize("container", [pd.Categorical, pd.Series, lambda x: pa.array(x).dictionary_encode(), np.array])
def test_categories_of_truth_are_numbers_too(container: Any) -> None:
    truth = [True, False, True]
    assert karat.evaluate([1, 0, 0.5], container(truth), context="numbers", metrics=["mae"])[
        "mae"
    ].value == pytest.approx(1 / 6)
    assert karat.evaluate(truth, container(truth), context="monolabel")["accuracy"].value == 1.0


@pytest.mark.parametrize("values", [["x", None, "y"], [True, None, False], [2, None, 1]])
def test_nulls_of_arrow_are_no_slice(values: list[Any]) -> None:
    def slices(given: Any) -> list[tuple[str, int]]:
        e = karat.evaluate(["a", "b", "a"], ["a", "b", "b"], slices={"s": given}, metrics=["accuracy"])
        return [(s.name, s.units) for s in e["accuracy"].slices["s"]]

    assert slices(pa.array(values)) == slices(pa.chunked_array([values[:1], values[1:]])) == slices(values)


def test_weights_meet_ids_that_are_numbers() -> None:
    gold, pred = {1: "a", 2: "b"}, {1: "a", 2: "a"}
    for weight in ({1.0: 3, 2.0: 1}, {np.float64(1): 3, np.int8(2): 1}, {"1": 3, "2": 1}):
        assert karat.evaluate(gold, pred, weight=weight, metrics=["accuracy"])["accuracy"].value == 0.75


MATRIX = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices_are_the_dense_ones(form: str) -> None:
    pred = scipy.sparse.coo_array(MATRIX).asformat(form)
    assert karat.evaluate(MATRIX, pred, metrics=["subset_accuracy"])["subset_accuracy"].value == 1.0
    with pytest.raises(karat.InputError, match="other numbers than 0 and 1"):
        karat.evaluate(MATRIX, pred * 0.5, metrics=["subset_accuracy"])


def test_entries_of_one_place_are_summed() -> None:
    row, column = [0, 0, 1, 1, 2, 2, 3, 3], [0, 2, 1, 2, 0, 1, 0, 0]
    pred = scipy.sparse.coo_array(([1, 1, 1, 1, 1, 1, 1, -1], (row, column)), shape=(4, 3))
    e = karat.evaluate(MATRIX, pred, metrics=["subset_accuracy"])
    dense = karat.evaluate(MATRIX, pred.toarray(), metrics=["subset_accuracy"])
    assert e["subset_accuracy"].value == dense["subset_accuracy"].value == 0.75
    assert [f.code for f in e.findings] == [f.code for f in dense.findings]


def test_what_a_mask_hides_in_a_matrix_is_refused() -> None:
    hidden = np.zeros((4, 3), bool)
    hidden[1, 1] = True
    scores = np.ma.masked_array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.3, 0.2]], hidden)
    for gold, pred, context in (
        (["a", "b", "c", "a"], scores, "probabilities"),
        (MATRIX, np.ma.masked_array(MATRIX, hidden), "multilabel"),
    ):
        with pytest.raises(karat.InputError):
            karat.evaluate(gold, pred, context=context)
        assert karat.evaluate(gold, np.ma.masked_array(pred.data), context=context)


@pytest.mark.parametrize("type", ["int64[pyarrow]", "double[pyarrow]", "Int64", "Float64"])
def test_numbers_of_pandas_that_are_missing_are_no_nan(type: str) -> None:
    pred = pd.DataFrame({"id": [1, 2, 3], "value": pd.Series([1, None, 2], dtype=type)})
    with pytest.raises(karat.InputError) as refused:
        karat.evaluate({"1": 1, "2": 2, "3": 3}, pred, context="numbers")
    assert [f.code for f in refused.value.findings] == ["missing-field"]


@pytest.mark.parametrize("names", [("prob_A", "prob_B", "prob_C"), ("0", "1", "2"), ("0", "1", "2", "3", "4")])
def test_tables_of_tabs_are_no_rankings(names: tuple[str, ...], tmp_path: Path) -> None:
    """A line of four fields of which the last is a number, as judgements of TREC have."""
    gold, pred = tmp_path / "gold.tsv", tmp_path / "pred.tsv"
    label = [name.removeprefix("prob_") for name in names]
    gold.write_text("id\tlabel\tcountry\tlength\n" + "".join(f"{i}\t{label[i]}\tde\t{i}\n" for i in range(3)))
    rows = [
        "\t".join(["id", *names]),
        *("\t".join([str(i), *("0.5", "0.25", "0.25", "0", "0")[: len(names)]]) for i in range(3)),
    ]
    pred.write_text("\n".join(rows) + "\n")
    e = karat.evaluate(gold, pred, context="probabilities", metrics=["accuracy"])
    assert e["accuracy"].value == pytest.approx(1 / 3)
    pred.write_text("ticket\tteam\tcountry\tlength\n" + "".join(f"{i}\t{label[i]}\tde\t{i}\n" for i in range(3)))
    columns = {"pred_id": "ticket", "pred_value": "team"}
    assert karat.evaluate(gold, pred, context="monolabel", columns=columns)["accuracy"].value == 1.0


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ([True, False], True), (np.array([1.0, 0.0]), 1.0), ([Label.spam, Label.ham], Label.spam),
        (pd.to_datetime(["2024-02-01", "2024-01-01"]), pd.Timestamp(2024, 2, 1)), ([1, 0], np.float32(1)),
    ],
)  # fmt: skip
def test_labels_that_options_name_are_spelt_as_those_of_the_data(labels: Any, named: Any) -> None:
    first, other = labels
    e = karat.evaluate([first, other, other], [0.9, 0.2, 0.1], context="probabilities", pos_label=named, metrics=["f1"])
    assert (e["f1"].value, e.plan["options"]["pos_label"]) == (1.0, e.systems[0].cells.pos_label)
    f1 = karat.evaluate(
        [first, other], [first, first], metrics=["f1(average=binary)"], pos_label=named, context="monolabel"
    )
    assert f1["f1(average=binary)"].value == pytest.approx(2 / 3)
    e = karat.evaluate([first, other, other], [first, other, other], context="clustering", noise=named)
    assert "noise-items" in {f.code for f in e.findings}
