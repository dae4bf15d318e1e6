# SPDX-License-Identifier: Apache-2.0
"""Times and decimals of NumPy, pandas and Python: the same label in every container, and NaN nothing in all of them."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import karat
from karat.values import plain

MOMENTS = [datetime(2020, 1, 1), datetime(2020, 1, 2, 3, 4, 5, 600000)]
TEXTS = ["2020-01-01 00:00:00", "2020-01-02 03:04:05.600000"]


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
    assert plain(np.array(["12020-01-01"], "datetime64[s]")) == ["12020-01-01 00:00:00"]
    assert plain(np.array(["NaT", "2020-01-01"], "datetime64[ns]")) == [None, "2020-01-01 00:00:00"]


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
