# SPDX-License-Identifier: Apache-2.0
"""What speaks against an interval is judged in each test case, never of all of them pooled, and is seen in every report."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command


def records(sizes, gold=None, seed=0):
    """Test cases of these sizes; ``gold`` is the pattern of labels in each."""
    rng, sides = np.random.default_rng(seed), ([], [])
    for case, n in enumerate(sizes):
        labels = (gold or ["A", "B"]) * n
        for i, label in enumerate(labels[:n]):
            said = label if rng.random() < 0.7 else "A"
            for side, value in zip(sides, (label, said), strict=True):
                side.append({"test_case": f"T{case}", "id": str(i), "value": value})
    return sides


def messages(evaluation):
    return {f.code: f.message for f in evaluation.findings}


def found(sizes, metrics=("accuracy",), **options):
    return messages(karat.evaluate(*records(sizes, **options), metrics=list(metrics), intervals=True))


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([20, 20, 20], "3 of 3 test cases have"),  # 60 items together are many
        ([100, 10], "1 of 2 test cases has"),
        ([100, 30], "1 of 2 test cases has"),
        ([30] * 50, "50 of 50 test cases have"),
    ],
)
def test_small_test_cases_are_counted_one_by_one(sizes, said):
    by_code = found(sizes)
    assert "few-units" not in by_code
    assert by_code["cases-of-few-units"].startswith(f"{said} 30 items or fewer")


@pytest.mark.parametrize("sizes", [[31, 31], [500], [31]])
def test_test_cases_that_are_large_enough_are_not_mentioned(sizes):
    assert not {"few-units", "cases-of-few-units"} & set(found(sizes))


@pytest.mark.parametrize("sizes", [[30], [10, 10]])
def test_few_units_in_all_are_few_units(sizes):
    assert found(sizes)["few-units"].startswith(f"{sum(sizes)} items are too few")


def of_queries(count):
    rows = [{"test_case": f"q{q}", "id": d, "value": v} for q in range(count) for d, v in (("a", 1), ("b", 0))]
    said = [r | {"value": 1.0 + r["value"] * (int(r["test_case"][1:]) % 3)} for r in rows]
    return messages(karat.evaluate(rows, said, context="ranking", order="score", metrics=["ndcg"], intervals=True))


def test_queries_are_units_not_small_test_cases():
    assert not {"few-units", "cases-of-few-units"} & set(of_queries(40))
    assert of_queries(20)["few-units"].startswith("20 queries are too few")


def test_a_class_is_rare_where_a_test_case_has_few_of_it():
    """Of C there are six in each of three test cases: eighteen together, but every F1 of C stands on six."""
    gold = ["A"] * 12 + ["B"] * 12 + ["C"] * 6
    by_code = found([60, 60, 60], ["f1"], gold=gold * 2)
    assert "rare-classes" not in by_code  # twelve of C in each
    by_code = found([40, 40, 40], ["f1"], gold=["A"] * 17 + ["B"] * 17 + ["C"] * 6)
    assert by_code["rare-classes"].startswith("1 class has fewer than 10 gold members in a test case: C (6)")


def test_a_class_that_a_test_case_lacks_is_not_rare_there():
    one, other = records([40], gold=["A", "B"]), records([40], gold=["A", "C"], seed=1)
    gold, pred = (x + [r | {"test_case": "T9"} for r in y] for x, y in zip(one, other, strict=True))
    assert "rare-classes" not in messages(karat.evaluate(gold, pred, metrics=["f1"], intervals=True))


def test_test_cases_of_one_item_beside_one_of_two_have_a_spread():
    """42 of 60 right, each a test case of its own, and a test case of two: it was [0.7, 0.7]."""
    gold = [{"test_case": f"T{i}", "id": "0", "value": "A"} for i in range(60)]
    pred = [r | {"value": "A" if i < 42 else "B"} for i, r in enumerate(gold)]
    more = [{"test_case": "T60", "id": str(i), "value": "A"} for i in range(2)]
    e = karat.evaluate(gold + more, [*pred, more[0], more[1] | {"value": "B"}], metrics=["accuracy"], intervals=True)
    interval = e["accuracy"].interval
    assert interval.low == pytest.approx(0.58, abs=0.02)
    assert interval.high == pytest.approx(0.81, abs=0.02)


@pytest.mark.parametrize("report", ["table", "markdown", "html", "json"])
def test_every_report_says_it(report, tmp_path):
    gold, pred = records([20, 20, 20])
    for name, side in (("gold", gold), ("pred", pred)):
        (tmp_path / f"{name}.json").write_text(json.dumps(side))
    files = [str(tmp_path / f"{name}.json") for name in ("gold", "pred")]
    done = CliRunner().invoke(command, ["evaluate", *files, "-m", "f1", "--intervals", "--report", report])
    assert done.exit_code == 0
    shown = " ".join(done.output.split())
    assert "3 of 3 test cases have 30 items or fewer" in shown
