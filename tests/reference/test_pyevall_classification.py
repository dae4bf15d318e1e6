"""Every recorded answer of PyEvALL 0.2.11 for mono-label, multi-label and hierarchical classification.

karat gives the same number to 1e-9, for every test case and class, or the table below names the proven bug (or the
decision) that parts them, and what karat gives instead: another value, or findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from tests.reference.pyevall_records import context, karat_metric, options, records, write

import karat

RECORDS = {record["name"]: record for record in records()}


class Other(NamedTuple):
    """What karat does instead, and why."""

    bug: str
    why: str
    values: Mapping[str, float | None] = MappingProxyType({})
    codes: str = ""


LEAK = "class probabilities of one test case stay for the next"
DIVIDES = "the normalised ICM divides by gold's own score, which is 0: undefined, not a crash"
DIFFERENT: dict[str, Other] = {
    "mono_multi_tc_2": Other("Q5", LEAK, {"ICM": 0.019680105057422292}),
    "mono_icm_tc_leak_ab": Other("Q5", LEAK, {"ICM": 0.4056390622295664}),
    "mono_icm_unseen_cached_across_tc": Other("Q5", LEAK, {"ICM": -0.25}),
    "mono_single_class_icmnorm": Other("Q12", DIVIDES, {"ICMNorm": None}),
    "multi_single_class_icmnorm": Other("Q12", DIVIDES, {"ICMNorm": None}),
    "mono_same_id_other_tc": Other("Q12", DIVIDES, {"Accuracy": 0.75, "Kappa": 0.5, "ICM": 0.25, "ICMNorm": 1.0}),
    "mono_param_icm_06": Other("Q12", DIVIDES + " (α1 + α2 = β)", {"ICM": -2.5150849518197793, "ICMNorm": None}),
    "mono_param_icm_07": Other("Q12", "with α1 = −1 gold's own score is negative: there is no scale", {"ICMNorm": None}),
    "mono_missing_tc_in_pred": Other(
        "Q8", "a test case without predictions costs nothing",
        {"Accuracy": 0.5, "Kappa": 0.5, "Recall": 0.5, "FMeasure": 0.5, "ICM": 0.0, "ICMNorm": 0.5},
    ),
    "mono_kappa_fails_second_tc": Other("Q29", "one undefined test case makes the whole metric fail", {"Kappa": 1.0}),
    "mono_gold_id_valid_and_empty": Other("Q23", "a repeated gold id passes", codes="empty-value repeated-id"),
    "mono_hier_none_child": Other("Q33", "a hierarchy child that is null is no child", {"ICM": 0.0}),
    "multi_hier_list_missing_class": Other("Q33", "a hierarchy that is a list crashes", {"ICM": -0.5}),
    "mono_same_name_tsv": Other("Q2", "files of one name become one temporary file", {"Accuracy": 0.0}),
    "mono_tsv_bom": Other("Q9", "a byte-order mark makes the header a record", {"Accuracy": 0.75}),
    "mono_report_invalid": Other("Q31", "an unknown report gives nothing, in silence", {"Accuracy": 0.6}),
    "mono_csv_na_labels": Other(
        "Q21", "labels that pandas takes for missing values are dropped",
        {"Accuracy": 1 / 3, "SystemPrecision": 1 / 3, "Kappa": 0.25, "Precision": 0.5111111111111111, "Recall": 1 / 3,
         "FMeasure": 0.2037037037037037, "ICM": -3.1699250014423126, "ICMNorm": 0.0},
    ),
    "mono_csv_numeric_labels": Other("Q21", "labels 0 and 1 make the file a ranking", {"Accuracy": 2 / 3}),
    "mono_tsv_mixed_numeric_labels": Other("Q21", "labels 1 and A are of two types", {"Accuracy": 2 / 3}),
    "mono_mixed_types_pred": Other("Q21", "a number among labels is a label", {"Accuracy": 0.5}),
    "mono_tsv_blank_line_end": Other("Q21", "a blank line is refused", {"Accuracy": 0.75}),
    "mono_csv_blank_line_mid": Other("Q21", "a blank line is refused", {"Accuracy": 0.75}),
    "mono_tsv_header_spaces": Other("Q37", "blanks around a header's names are refused", {"Accuracy": 0.75}),
    "mono_csv_header_order": Other("Q21", "the header's names count, not their order", {"Accuracy": 0.5}),
    "mono_tsv_open_quote": Other("Q21", "an open quote merges rows in silence", codes="bad-quote"),
    "mono_csv_open_quote": Other("Q21", "an open quote merges rows in silence", codes="bad-quote"),
    "multi_tsv_list_of_ints": Other("Q21", "numbers in a list are labels", {"Recall": 0.25, "ICM": -1.5}),
    "multi_tsv_bad_list": Other("Q37", "a broken list passes as a label", codes="wrong-values"),
    "multi_tsv_one_bad_list": Other("Q37", "a broken list passes as a label", codes="wrong-values"),
    "multi_empty_gold_list": Other(
        "decision", "an item without labels is an item: PyEvALL drops it and its prediction",
        {"Precision": 0.5, "FMeasure": 2 / 3, "ICM": 0.0, "ICMNorm": 0.5},
    ),
    "multi_dup_label_gold": Other("decision", "a repeated label counts once, with a warning", {"FMeasure": 1.0, "ICM": 1.0}),
    # Rows that PyEvALL drops with a warning are errors here: nothing is dropped in silence.
    "mono_empty_gold_value": Other("decision", "an empty value", codes="empty-value"),
    "mono_all_pred_empty": Other("decision", "empty values", codes="empty-value"),
    "mono_all_gold_empty": Other("decision", "empty values", codes="empty-value"),
    "mono_csv_empty_value": Other("decision", "an empty value", codes="missing-field"),
    "mono_tsv_short_row": Other("decision", "a row that is too short", codes="bad-row"),
    "mono_tsv_dup_pred": Other("decision", "a repeated prediction", codes="repeated-id"),
    "mono_csv_dup_pred": Other("decision", "a repeated prediction", codes="repeated-id"),
    "multi_empty_label_pred": Other("decision", "an empty label", codes="empty-value"),
    # What PyEvALL refuses, karat refuses too.
    "mono_no_common_tc": Other("both refuse", "no test case in common", codes="no-common-ids"),
    "mono_mixed_types_gold": Other("both refuse", "lists among labels", codes="wrong-type"),
    "mono_csv_dup_gold": Other("both refuse", "a repeated gold id", codes="repeated-id"),
    "mono_same_name_json_gold_error": Other("both refuse", "a repeated gold id", codes="repeated-id"),
    "mono_tsv_first_line_long": Other("both refuse", "four columns without a header", codes="missing-column"),
    "mono_csv_first_line_long": Other("both refuse", "four columns without a header", codes="missing-column"),
    "mono_csv_long_row": Other("both refuse", "a row that is too long", codes="bad-row"),
    "mono_csv_two_columns": Other("both refuse", "gold and prediction of different columns", codes="no-common-ids"),
    "multi_empty_label_gold": Other("both refuse", "an empty label", codes="empty-value"),
    "multi_csv_unquoted": Other("both refuse", "a list that is not quoted", codes="missing-column"),
}  # fmt: skip
NOT_IMPLEMENTED = "METRIC_PRECONDITION_NOT_IMPLEMENTED_EVALUATION_CONTEXT"
"""PyEvALL has no ICM of label sets without a hierarchy; karat has."""


def evaluated(record: dict[str, Any], folder: Path) -> tuple[dict[str, str], karat.Evaluation]:
    """karat's evaluation, and its name of each of PyEvALL's metrics."""
    names = {m: text for m in record["metrics"] if (text := karat_metric(record, m))}
    gold, pred = write(record, folder)
    return names, karat.evaluate(gold, pred, context=context(record), metrics=list(names.values()), **options(record))


@pytest.mark.parametrize("name", RECORDS)
def test_record(name: str, tmp_path: Path) -> None:
    other = DIFFERENT.get(name, Other("", ""))
    if other.codes:
        with pytest.raises(karat.InputError) as caught:
            evaluated(RECORDS[name], tmp_path)
        assert {f.code for f in caught.value.findings if f.severity == "error"} == set(other.codes.split())
        return
    names, found = evaluated(RECORDS[name], tmp_path)
    for metric, value in other.values.items():
        assert found[names[metric]].value == pytest.approx(value, abs=1e-9), metric
    theirs = RECORDS[name]["report"].get("metrics", {})
    for metric in names.keys() & theirs.keys() - other.values.keys():
        if NOT_IMPLEMENTED not in theirs[metric].get("preconditions", {}):
            compare(theirs[metric].get("results") or {}, found[names[metric]])


def compare(theirs: dict[str, Any], ours: karat.Score) -> None:
    """The mean, each test case and each class, to 1e-9."""
    assert ours.value == pytest.approx(theirs.get("average_per_test_case"), abs=1e-9)
    by_class = {(p.test_case, p.label): p.value for p in ours.class_parts()}
    for case in theirs.get("test_cases", []):
        assert ours.by_test_case[case["name"]].value == pytest.approx(case["average"], abs=1e-9)
        for label, value in case.get("classes", {}).items():
            assert by_class[case["name"], label] == pytest.approx(value, abs=1e-9)


def test_the_table_names_records() -> None:
    assert DIFFERENT.keys() <= RECORDS.keys()
    assert len(RECORDS) == 121
    assert len(DIFFERENT) < len(RECORDS) / 2
