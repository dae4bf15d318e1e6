"""Every LeWiDi record of PyEvALL 0.2.11, reproduced or set apart by the bug that explains it."""

import json
from pathlib import Path

import pytest

import karat
from karat.findings import InputError
from tests.oracle import Unavailable, ask, python
from tests.reference.plain import rows
from tests.reference.pyevall_records import write
from tests.soft import plain

DATA = Path(__file__).parents[1] / "data" / "pyevall-soft-clustering.jsonl"
RECORDS = [r for r in map(json.loads, DATA.read_text().splitlines()) if r["context"].startswith("lewidi")]

SAME = {
    "ICMSoft": "icm_soft(variant=pyevall)",
    "ICMSoftNorm": "icm_soft_norm(variant=pyevall)",
    "CrossEntropy": "cross_entropy(variant=pyevall)",
    "MAE": "mae(variant=pyevall)",
}

REFUSED = {
    "soft_nan": "Q25: NaN is taken for a weight",
    "soft_csv_unquoted": "refused by both: the commas of the objects are separators",
    "soft_tsv_single_quotes": "refused by both: objects in single quotes are not JSON",
}

BUGS = {
    "soft_multi_tc_hier": "Q6: crashes with a hierarchy and two test cases",
    "soft_constant_class": "Q13: crashes on a class with the same weight everywhere",
    "soft_one_item": "Q13: crashes on a single item",
    "soft_hier_nested_list_leaf_keyerror": "Q15: crashes on a leaf written as an empty list",
    "soft_hier_class_not_in_hierarchy": "Q13: crashes on a leaf that never occurs in gold",
    "soft_class_named_value": "Q26: a class called value overwrites that column",
    "soft_class_named_id": "Q26: a class called id overwrites that column",
    "soft_csv_noheader_quoted_first_row": "Q22: the first row of a CSV is split at every comma",
    "soft_tsv_small_numbers": "Q21: numbers of a TSV are rounded to 10 decimals",
}
"""PyEvALL's answer is wrong or a crash; the right values are derived by `plain`, which knows neither tool."""
UNTOUCHED = {("soft_class_named_value", "CrossEntropy"), ("soft_class_named_id", "CrossEntropy"),
             ("soft_tsv_small_numbers", "CrossEntropy"), ("soft_tsv_small_numbers", "MAE")}  # fmt: skip
"""Metrics of those records that the bug leaves right to 1e-9."""
BY_NAME = {r["name"]: r for r in RECORDS}


def scored(record, tmp_path, metrics):
    hierarchy = record["params"].get("hierarchy")
    return karat.evaluate(*write(record, tmp_path), context="soft", metrics=metrics, hierarchy=hierarchy)


def known(record):
    return [m for m in record["metrics"] if m in SAME]


@pytest.mark.parametrize("record", [r for r in RECORDS if r["name"] not in {*BUGS, *REFUSED}], ids=lambda r: r["name"])
def test_the_same_scores(record, tmp_path):
    e = scored(record, tmp_path, [SAME[m] for m in known(record)])
    for name in known(record):
        results = record["report"]["metrics"][name]["results"]
        expected = {t["name"]: t["average"] for t in results["test_cases"]}
        found = {t: part.value for t, part in e[SAME[name]].by_test_case.items()}
        assert found == pytest.approx(expected, abs=1e-9), name
        assert e[SAME[name]].value == pytest.approx(results["average_per_test_case"], abs=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    record = next(r for r in RECORDS if r["name"] == name)
    with pytest.raises(InputError):
        scored(record, tmp_path, [SAME[m] for m in known(record)])


@pytest.mark.parametrize("name", BUGS)
def test_right_where_pyevall_has_a_bug(name, tmp_path):
    record = BY_NAME[name]
    e = scored(record, tmp_path, [SAME[m] for m in known(record)])
    for metric in known(record):
        right, score = plain.scores(record, metric), e[SAME[metric]]
        assert {t: part.value for t, part in score.by_test_case.items()} == pytest.approx(right, abs=1e-9)
        assert score.value == pytest.approx(plain.mean(list(right.values())), abs=1e-9)
        shows = theirs(record, metric) != pytest.approx(right, abs=1e-9)
        assert shows == ((name, metric) not in UNTOUCHED), (metric, BUGS[name])


def theirs(record, metric):
    results = record["report"].get("metrics", {}).get(metric, {}).get("results") or {}
    return {t["name"]: t["average"] for t in results.get("test_cases", [])}


@pytest.mark.parametrize("record", [r for r in RECORDS if r["name"] not in {*BUGS, *REFUSED}], ids=lambda r: r["name"])
def test_the_second_opinion_is_pyevalls_where_no_bug_is(record):
    for metric in known(record):
        assert plain.scores(record, metric) == pytest.approx(theirs(record, metric), abs=1e-9), metric


def test_every_record_has_one_outcome():
    assert not BUGS.keys() & REFUSED.keys()
    assert (len(RECORDS), len(BUGS), len(REFUSED)) == (34, 9, 3)
    metrics = [m for r in RECORDS for m in r["metrics"] if m not in SAME]
    assert all(r["report"]["metrics"][m]["status"] == "FAIL" for r in RECORDS for m in r["metrics"] if m in metrics)


def test_by_hand():
    """Two items {C .2, B .8}, {C .7, B .3}, predicted with C .7 in both: C off by .5 in one of 2·2 weights."""
    for name in ("soft_class_named_value", "soft_class_named_id"):
        assert plain.scores(BY_NAME[name], "MAE") == pytest.approx({"t": 0.5 / 4})
    # Every item has the same weights, so that none of them is news
    assert plain.scores(BY_NAME["soft_constant_class"], "ICMSoft") == {"t": 0.0}


REPAIRED = {
    "soft_multi_tc_hier": lambda r: without(r, hierarchy=None),  # all labels are roots: no hierarchy is the same tree
    "soft_hier_nested_list_leaf_keyerror": lambda r: without(r, hierarchy={"YES": ["D", "J"], "NO": []}),
    "soft_class_named_value": lambda r: renamed(r, '"value": 0.', '"C": 0.'),
    "soft_class_named_id": lambda r: renamed(r, '"id": 0.', '"C": 0.'),
    "soft_csv_noheader_quoted_first_row": lambda r: as_json(r),
    "soft_tsv_small_numbers": lambda r: as_json(r),
}
"""The same data without what triggers the bug. Q13 cannot be repaired away: there the definition itself needs a rule."""


def without(record, hierarchy):
    return record | {"params": {"hierarchy": hierarchy} if hierarchy else {}}


def renamed(record, old, new):
    return record | {role: record[role].replace(old, new) for role in ("gold", "pred")}


def as_json(record):
    names = {"gold_file": "gold.json", "pred_file": "pred.json"}
    fields = ("test_case", "id", "value")
    return (
        record
        | names
        | {r: json.dumps([dict(zip(fields, row, strict=True)) for row in rows(record[r])]) for r in ("gold", "pred")}
    )


def test_pyevall_agrees_once_the_trigger_is_repaired():
    try:
        python()
    except Unavailable as reason:
        pytest.skip(str(reason))
    cases = {name: repair(BY_NAME[name]) for name, repair in REPAIRED.items()}
    keys = ("gold", "pred", "gold_file", "pred_file", "metrics", "params")
    answers = ask([{k: case[k] for k in keys} for case in cases.values()])
    for (name, case), report in zip(cases.items(), answers, strict=True):
        for metric in known(case):
            assert theirs({"report": report}, metric) == pytest.approx(plain.scores(BY_NAME[name], metric), abs=1e-9)
