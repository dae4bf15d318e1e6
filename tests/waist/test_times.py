# SPDX-License-Identifier: Apache-2.0
"""Times and decimals of NumPy, pandas and Python: the same label in every container, and NaN nothing in all of them."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat
from karat.values import plain

MOMENTS = [datetime(2020, 1, 1), datetime(2020, 1, 2, 3, 4, 5, 600000)]
TEXTS = ["2020-01-01", "2020-01-02 03:04:05.600000"]


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize(
    "container",
    [
        lambda x: x, list, pd.Series, lambda x: pd.DataFrame({"id": ["1", "2"], "value": x}),
        lambda x: {"id": ["1", "2"], "value": x}, lambda x: dict(zip("12", x, strict=True)),
        lambda x: [{"id": id, "value": value} for id, value in zip("12", x, strict=True)],
        lambda x: pl.Series(x), lambda x: pa.table({"id": ["1", "2"], "value": pa.array(x)}),
    ],
)  # fmt: skip
def test_times_are_the_same_labels_in_every_container(container, unit):
    """A time that counts nanoseconds was its number, which is no label that anything else has."""
    e = karat.evaluate(
        container(np.array(MOMENTS, f"datetime64[{unit}]")), container(np.array(MOMENTS, "datetime64[us]"))
    )
    assert e["accuracy"].value == 1
    assert e.systems[0].cells.classes == TEXTS


def test_times_in_plain_words():
    fine = np.datetime64("2020-01-01T00:00:00.000000001", "ns")
    assert plain([fine]) == ["2020-01-01 00:00:00.000000001"] == plain([pd.Timestamp(fine)])
    assert plain(np.array([1_000, 2_000], "timedelta64[ms]")) == plain([timedelta(seconds=1), timedelta(seconds=2)])
    assert plain(np.array([10**9], "timedelta64[ns]")) == plain([timedelta(seconds=1)])
    assert plain(np.array(["2020-01", "2020-02"], "datetime64[M]")) == plain([date(2020, 1, 1), date(2020, 2, 1)])
    assert plain(np.array(["12020-01-01"], "datetime64[s]")) == ["12020-01-01"]
    assert plain(np.array(["NaT", "2020-01-01"], "datetime64[ns]")) == [None, "2020-01-01"]
    assert plain([np.timedelta64(3, "Y")]) == ["3 years"]
    odd = np.timedelta64(-86_400_000_000_001, "ns")
    assert plain([odd]) == plain([pd.Timedelta(odd)]) == ["-2 days, 23:59:59.999999999"]


@pytest.mark.parametrize(
    "nothing", [Decimal("NaN"), Decimal("sNaN"), np.datetime64("NaT", "ns"), np.timedelta64("NaT", "ns")]
)
@pytest.mark.parametrize(
    "container",
    [
        list, lambda x: dict(zip("12", x, strict=True)), lambda x: pd.DataFrame({"id": ["1", "2"], "value": pd.Series(x, dtype=object)}),
        lambda x: [{"id": id, "value": value} for id, value in zip("12", x, strict=True)],
    ],
)  # fmt: skip
def test_what_is_no_number_and_no_time_is_missing(container, nothing):
    with pytest.raises(karat.InputError) as refused:
        karat.evaluate(container(["A", nothing]), container(["A", "B"]))
    assert [f.code for f in refused.value.findings] == ["missing-field"]


def test_decimals_without_end_are_floats_without_end():
    assert plain([Decimal("Infinity"), Decimal("-Infinity")]) == [float("inf"), float("-inf")]


DAYS = [date(2020, 1, 1), date(2020, 1, 2)]
NIGHTS = [datetime(2020, 1, 1), datetime(2020, 1, 2)]
ZONE = timezone(timedelta(hours=2))
FORMS = {
    "dates": (DAYS, ["2020-01-01", "2020-01-02"]),
    "midnights": (NIGHTS, ["2020-01-01", "2020-01-02"]),
    "moments": (MOMENTS, TEXTS),
    "moments in a zone": ([m.replace(tzinfo=ZONE) for m in MOMENTS], ["2019-12-31 22:00:00+00:00", "2020-01-02 01:04:05.600000+00:00"]),
    "spans of time": ([timedelta(1), timedelta(0, 5, 7)], ["1 day, 0:00:00", "0:00:05.000007"]),
}  # fmt: skip


@pytest.mark.parametrize(("given", "texts"), FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "container",
    [
        list, pd.Series, pl.Series, pa.array, lambda x: pa.array(x).dictionary_encode(), lambda x: pd.Series(x).astype("category"),
        lambda x: np.array(x, object), lambda x: pd.DataFrame({"value": x}), lambda x: pl.DataFrame({"value": x}),
        lambda x: pd.Series(x).convert_dtypes(dtype_backend="pyarrow"), lambda x: np.ma.masked_array(pd.Series(x).to_numpy(), [0, 0])
        if getattr(x[0], "tzinfo", None) is None else x,
    ],
)  # fmt: skip
def test_a_time_is_one_label_and_one_id_in_every_container(given, texts, container):
    e = karat.evaluate(texts, container(given), metrics=["accuracy"])
    assert (e["accuracy"].value, [f.code for f in e.findings]) == (1.0, [])
    assert (
        karat.evaluate(dict(zip(given, "AB", strict=True)), dict(zip(texts, "AB", strict=True)))["accuracy"].value
        == 1.0
    )


@pytest.mark.parametrize("unit", ["date32", "timestamp[ms]", "timestamp[us]", "timestamp[ns]"])
def test_times_of_parquet_are_those_in_memory(unit, tmp_path):
    given = DAYS if unit == "date32" else MOMENTS
    if unit == "timestamp[us]":
        given = [m.replace(tzinfo=ZONE) for m in given]
    path = tmp_path / "pred.parquet"
    column = pa.array([*given, None]) if unit == "timestamp[us]" else pa.array([*given, None]).cast(unit)
    pq.write_table(pa.table({"id": ["1", "2", "3"], "value": column, "when": column}).slice(0, 2), path)
    assert karat.evaluate({"1": given[0], "2": given[1]}, path)["accuracy"].value == 1.0
    e = karat.evaluate(path, {"1": given[0], "2": given[1]}, slices="when")
    assert [s.name for s in e["accuracy"].slices["when"]] == sorted(plain(given))
    e = karat.evaluate(["A", "A"], ["A", "A"], slices={"when": given})
    assert [s.name for s in e["accuracy"].slices["when"]] == sorted(plain(given))


def test_times_are_the_same_documents_queries_and_classes_in_every_container():
    for given, texts in FORMS.values():
        spans = [{"start": 0, "end": 4, "label": given[0]}], [{"start": 0, "end": 4, "label": texts[0]}]
        documents = [[{"id": i, "spans": s} for i in ids] for ids, s in zip((given, texts), spans, strict=True)]
        assert karat.evaluate(*documents, metrics=["f1"])["f1"].value == 1.0
        by_text = {q: {d: float(n) for n, d in enumerate(texts)} for q in texts}
        rows = [{"query": q, "doc_id": d, "score": float(n)} for q in given for n, d in enumerate(given)]
        dicts = {q: {d: float(n) for n, d in enumerate(given)} for q in given}
        for run in (dicts, pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows)):
            e = karat.evaluate({q: {texts[0]: 1} for q in texts}, run, context="ranking", metrics=["RR"])
            assert (e["RR"].value, e.systems[0].counts["aligned"]) == (0.5, 2), run
        assert karat.evaluate(by_text, rows, context="ranking", metrics=["nDCG"])["nDCG"].value == 1.0
        scores = np.array([[0.9, 0.1], [0.2, 0.8]])
        assert karat.evaluate(texts, scores, classes=given, metrics=["accuracy"])["accuracy"].value == 1.0


@pytest.mark.parametrize("sign", [" ", "T"])
def test_midnights_in_a_text_file_are_dates_where_all_are_moments(sign, tmp_path):
    path = tmp_path / "pred.csv"
    path.write_text(f"id,value\n2020-01-01{sign}00:00:00,A\n2020-01-02 06:00:00,B\n")
    e = karat.evaluate({datetime(2020, 1, 1): "A", datetime(2020, 1, 2, 6): "B"}, path)
    assert (e["accuracy"].value, [f.code for f in e.findings]) == (1.0, [])
    path.write_text("id,value\n1,2020-01-01 00:00:00\n2,at noon\n")
    assert karat.evaluate({"1": "2020-01-01 00:00:00", "2": "at noon"}, path)["accuracy"].value == 1.0


def test_what_a_mask_hides_is_missing_in_columns_too():
    hidden = np.ma.masked_array([7, 0, 7], [False, True, False])
    for given in (
        {"id": ["1", "2", "3"], "label": hidden},
        np.ma.masked_array(MOMENTS, [True, False]).astype("datetime64[ns]"),
    ):
        assert [f.code for f in karat.validate(given)] == ["missing-field"]
