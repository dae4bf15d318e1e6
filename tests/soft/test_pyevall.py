"""Every LeWiDi record of PyEvALL 0.2.11, reproduced or set apart by the bug that explains it."""

import json
from pathlib import Path

import pytest

import karat
from karat.findings import InputError

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

# What PyEvALL answers is wrong or a crash; what stands here was worked out from its formula without the bug.
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


def scored(record, tmp_path, metrics):
    paths = []
    for role in ("gold", "pred"):
        (tmp_path / role).mkdir()
        path = tmp_path / role / record[f"{role}_file"]
        path.write_text(record[role], encoding=record.get("encoding", "utf-8"))
        paths.append(path)
    hierarchy = record["params"].get("hierarchy")
    return karat.evaluate(*paths, context="soft", metrics=metrics, hierarchy=hierarchy)


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
def test_a_value_where_pyevall_has_a_bug(name, tmp_path):
    record = next(r for r in RECORDS if r["name"] == name)
    e = scored(record, tmp_path, [SAME[m] for m in known(record)])
    assert all(score.value is not None or score.undefined for score in e.systems[0])


def test_q26_names_of_columns_are_ordinary_labels(tmp_path):
    """The same weights under the labels A and B score .125 and 1.70."""
    for i, name in enumerate(("soft_class_named_value", "soft_class_named_id")):
        record = next(r for r in RECORDS if r["name"] == name)
        (tmp_path / str(i)).mkdir()
        e = scored(record, tmp_path / str(i), ["mae(variant=pyevall)", "icm_soft(variant=pyevall)"])
        assert e["mae"].value == pytest.approx(0.125)
        assert e["icm_soft"].value == pytest.approx(1.7018629291499927)


def test_q21_a_tsv_scores_as_the_same_json(tmp_path):
    found = []
    for i, name in enumerate(("soft_tsv_small_numbers", "soft_json_small_numbers")):
        (tmp_path / str(i)).mkdir()
        record = next(r for r in RECORDS if r["name"] == name)
        found.append(scored(record, tmp_path / str(i), ["icm_soft(variant=pyevall)"])["icm_soft"].value)
    assert found[0] == pytest.approx(found[1]) == 2.1716715694885127


def test_q22_a_header_less_csv_scores_as_the_one_with_a_header(tmp_path):
    record = next(r for r in RECORDS if r["name"] == "soft_csv_noheader_quoted_first_row")
    e = scored(record, tmp_path, list(SAME.values()))
    assert e["icm_soft"].value == pytest.approx(3.3357369923410523)


def test_q6_each_test_case_scores_as_if_alone(tmp_path):
    record = next(r for r in RECORDS if r["name"] == "soft_multi_tc_hier")
    both = scored(record, tmp_path, ["icm_soft(variant=pyevall)"])["icm_soft"].by_test_case
    alike = next(r for r in RECORDS if r["name"] == "soft_multi_tc_same_classes")
    flat = {t["name"]: t["average"] for t in alike["report"]["metrics"]["ICMSoft"]["results"]["test_cases"]}
    assert {t: p.value for t, p in both.items()} == pytest.approx(flat, abs=1e-9)
