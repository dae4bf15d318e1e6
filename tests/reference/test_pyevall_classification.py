"""Every recorded answer of PyEvALL 0.2.11 for mono-label, multi-label and hierarchical classification.

karat gives the same number to 1e-9 for every mean, test case and class, or differs for a proven bug that
`pyevall_outcomes` names; then it gives the value that `plain` derives from the definition.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.clustering.test_pyevall import SAME as CLUSTERING
from tests.reference import plain
from tests.reference.pyevall_outcomes import OPTIONS, OPTIONS_OF_METRIC, PROVEN, REFUSED, WRONG, WRONGLY_SCORED
from tests.reference.pyevall_records import context, karat_metric, options, parameters, records, write

import karat

RECORDS = {record["name"]: record for record in records()}
AS_IT_STANDS = [name for name in RECORDS if name not in WRONG | WRONGLY_SCORED | OPTIONS | REFUSED]
NOT_IMPLEMENTED = "METRIC_PRECONDITION_NOT_IMPLEMENTED_EVALUATION_CONTEXT"
"""PyEvALL has no ICM of label sets without a hierarchy, and says so; karat has, with every label a root."""
ELSEWHERE = {("multi_all_metrics_hier", m) for m in (*CLUSTERING, "VariationOfInformation")} | {
    ("mono_csv_numeric_labels", "MRR")
}
"""Metrics of other contexts that PyEvALL computes: `test_lists_are_clusters_too`, and the ranking that Q21 makes of labels."""


def evaluated(record: dict[str, Any], folder: Path, **more: str) -> tuple[dict[str, str], karat.Evaluation]:
    """karat's evaluation, and its name of each of PyEvALL's metrics."""
    names = {m: text for m in record["metrics"] if (text := karat_metric(record, m))}
    gold, pred = write(record, folder)
    given = options(record) | more
    return names, karat.evaluate(gold, pred, context=context(record), metrics=list(names.values()), **given)


def right(record: dict[str, Any], metric: str) -> dict[str, plain.Part]:
    given = parameters(record, metric) | {"hierarchy": record["params"].get("hierarchy")}
    return plain.scores(record["gold"], record["pred"], metric, given)


def results(record: dict[str, Any], metric: str) -> dict[str, Any]:
    """What PyEvALL says of a metric; nothing where it crashed or failed."""
    return record["report"].get("metrics", {}).get(metric, {}).get("results") or {}


def is_extension(record: dict[str, Any], metric: str) -> bool:
    return NOT_IMPLEMENTED in record["report"].get("metrics", {}).get(metric, {}).get("preconditions", {})


def same(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else abs(a - b) <= 1e-9


def compare(theirs: dict[str, Any], ours: karat.Score) -> None:
    """The mean, each test case and each class, to 1e-9."""
    assert same(ours.value, theirs.get("average_per_test_case"))
    by_class = {(p.test_case, p.label): p.value for p in ours.class_parts()}
    for case in theirs.get("test_cases", []):
        assert same(ours.by_test_case[case["name"]].value, case["average"])
        for label, value in case.get("classes", {}).items():
            assert same(by_class[case["name"], label], value)


def as_report(parts: dict[str, plain.Part]) -> dict[str, Any]:
    """The parts in the form of PyEvALL's results."""
    found = [{"name": n, "average": p.value, "classes": p.classes} for n, p in parts.items()]
    return {"average_per_test_case": plain.mean([p.value for p in parts.values()]), "test_cases": found}


def repeated(record: dict[str, Any], names: dict[str, str], found: karat.Evaluation, but: tuple[str, ...] = ()) -> None:
    """PyEvALL's number for each metric; metrics of other contexts fail there, and karat has none to ask."""
    for metric in record["metrics"]:
        if metric not in names:
            assert record["report"]["metrics"][metric]["status"] == "FAIL" or (record["name"], metric) in ELSEWHERE
        elif is_extension(record, metric):
            compare(as_report(right(record, metric)), found[names[metric]])
        elif metric not in but:
            compare(results(record, metric), found[names[metric]])


@pytest.mark.parametrize("name", AS_IT_STANDS)
def test_repeated_as_it_stands(name: str, tmp_path: Path) -> None:
    repeated(RECORDS[name], *evaluated(RECORDS[name], tmp_path))


@pytest.mark.parametrize("name", OPTIONS)
def test_repeated_under_an_option(name: str, tmp_path: Path) -> None:
    own = {metric: given for (record, metric), given in OPTIONS_OF_METRIC.items() if record == name}
    repeated(RECORDS[name], *evaluated(RECORDS[name], tmp_path / "all", **OPTIONS[name]), but=tuple(own))
    for metric, given in own.items():
        names, found = evaluated(RECORDS[name], tmp_path / metric, **given)
        compare(results(RECORDS[name], metric), found[names[metric]])


def test_lists_are_clusters_too(tmp_path: Path) -> None:
    """PyEvALL scores multi_all_metrics_hier as a clustering as well; karat does where it is told that it is one."""
    record = RECORDS["multi_all_metrics_hier"]
    wanted = [m for m in CLUSTERING if record["report"]["metrics"][m]["status"] == "OK"]
    assert len(wanted) == 6
    paths = write(record, tmp_path)
    found = karat.evaluate(*paths, context="clustering", metrics=[CLUSTERING[m] for m in wanted])
    for metric in wanted:
        compare(results(record, metric), found[CLUSTERING[metric]])
    # Q19: its variation of information is a sum that grows with the items, and of clusters that overlap: undefined
    assert results(record, "VariationOfInformation")["average_per_test_case"] == 6.0
    vi = karat.evaluate(*paths, context="clustering", metrics=["variation_of_information"])
    assert "exactly one cluster" in str(vi["variation_of_information"].undefined)


@pytest.mark.parametrize(("name", "bug"), [(n, b.name) for n, b in WRONG.items()])
def test_right_where_pyevall_has_a_bug(name: str, bug: str, tmp_path: Path) -> None:
    record, metrics = RECORDS[name], WRONG[name].metrics
    names, found = evaluated(record, tmp_path)
    for metric in metrics or names:
        expected = as_report(right(record, metric))
        compare(expected, found[names[metric]])
        theirs = results(record, metric)
        assert theirs != expected, f"{metric}: {bug} does not show"
    if metrics:
        repeated(record, names, found, but=metrics)


@pytest.mark.parametrize("name", WRONGLY_SCORED)
def test_refused_where_pyevall_scores_for_a_bug(name: str, tmp_path: Path) -> None:
    record = RECORDS[name]
    assert all(results(record, m)["average_per_test_case"] is not None for m in record["metrics"])
    assert refused(record, tmp_path) == set(WRONGLY_SCORED[name][1].split())


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_both(name: str, tmp_path: Path) -> None:
    """PyEvALL stops at a file, or leaves every test case out."""
    record = RECORDS[name]
    assert not any(results(record, m) for m in record["metrics"])
    assert "exception" not in record["report"]
    assert refused(record, tmp_path) == set(REFUSED[name].split())


def refused(record: dict[str, Any], folder: Path) -> set[str]:
    with pytest.raises(karat.InputError) as caught:
        evaluated(record, folder)
    return {f.code for f in caught.value.findings if f.severity == "error"}


@pytest.mark.parametrize("name", AS_IT_STANDS)
def test_the_second_opinion_is_pyevalls_where_no_bug_is(name: str) -> None:
    """`plain` is trusted where PyEvALL is wrong because it agrees wherever PyEvALL is right."""
    record = RECORDS[name]
    for metric in plain.METRICS:
        for case in results(record, metric).get("test_cases", []):
            part = right(record, metric)[case["name"]]
            assert same(part.value, case["average"]), metric
            assert all(same(part.classes[c], v) for c, v in case.get("classes", {}).items()), metric


def test_q8_a_test_case_without_predictions_costs_by_default(tmp_path: Path) -> None:
    """PyEvALL leaves it out, as missing=skip does; by default its two items are wrong."""
    record = RECORDS["mono_missing_tc_in_pred"]
    names, found = evaluated(record, tmp_path)
    for metric, name in names.items():
        compare(as_report(right(record, metric)), found[name])
    assert (results(record, "Accuracy")["average_per_test_case"], found["accuracy"].value) == (1.0, 0.5)


def test_a_short_row_is_refused_as_json() -> None:
    """The proof for mono_tsv_short_row: PyEvALL refuses the JSON record that lacks its value."""
    found = {r["name"]: r for r in records(("invalid",))}["schema_missing_value"]
    assert found["report"]["metrics"] == {}
    assert "FORMAT_INCORRECT_SCHEMA_JSON_ERROR" in found["report"]["files"]["pred.json"]["errors"]


def test_every_record_has_one_outcome() -> None:
    """Counted, so that none moves to another group unseen."""
    groups = [*WRONG, *WRONGLY_SCORED, *OPTIONS, *REFUSED]
    assert len(groups) == len(set(groups))
    assert set(groups) <= RECORDS.keys()
    assert (len(RECORDS), len(AS_IT_STANDS)) == (121, 73)
    assert (len(OPTIONS), len(REFUSED)) == (8, 16)
    assert (len(WRONG), len(WRONGLY_SCORED)) == (20, 4)
    assert {b.name for b in WRONG.values()} | {b.name for b, _ in WRONGLY_SCORED.values()} == PROVEN.keys()
