"""PyEvALL's own second opinion: where a bug spoils a record, it is asked for the same data without what triggers the bug.

Every test case and metric by itself (no leak, and a crash takes nothing else with it), as JSON (no guessing of types),
under two file names, with a hierarchy that is whole. What it then answers is what `plain` derives.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.oracle import Unavailable, ask, python
from tests.reference import plain
from tests.reference.pyevall_outcomes import WRONG
from tests.reference.test_pyevall_classification import RECORDS, is_extension, right, same

Question = tuple[str, str, str]
NO_VALUE = ("ZeroDivisionError: float division by zero",)
"""Q12 cannot be repaired away: the value is undefined."""


def questions() -> dict[Question, dict[str, Any]]:
    """Record, metric and test case of all that is wrong or not implemented, with the repaired input."""
    wrong = [(n, m) for n, b in WRONG.items() for m in b.metrics or RECORDS[n]["metrics"] if m in plain.METRICS]
    missing = [(n, m) for n, r in RECORDS.items() for m in r["metrics"] if is_extension(r, m)]
    asked = dict.fromkeys([*wrong, *missing])
    return {(n, m, t): repaired(RECORDS[n], m, t) for n, m in asked for t in right(RECORDS[n], m)}


def repaired(record: dict[str, Any], metric: str, test_case: str) -> dict[str, Any]:
    sides = {role: [r for r in plain.rows(record[role]) if r[0] == test_case] for role in ("gold", "pred")}
    texts = {role: json.dumps([dict(zip(plain.NAMES, r, strict=True)) for r in rows]) for role, rows in sides.items()}
    params = {k: v for k, v in record["params"].items() if k not in ("report", "hierarchy")}
    values = [v for rows in sides.values() for _, _, v in rows]
    if record["params"].get("hierarchy") is not None or isinstance(values[0], list):
        params["hierarchy"] = whole(record["params"].get("hierarchy"), values)
    return texts | {"gold_file": "gold.json", "pred_file": "pred.json", "metrics": [metric], "params": params}


def whole(tree: Any, values: list[Any]) -> dict[str, Any]:
    """The hierarchy as a nested object, with a root for each label that it lacks."""
    tree = {label: (tree[label] or []) if isinstance(tree, dict) else [] for label in tree or ()}
    known = dict(plain.parents(tree))
    used = [label for v in values for label in ([v] if isinstance(v, str) else v)]
    return tree | {label: [] for label in used if label not in known}


@pytest.fixture(scope="module")
def answers() -> dict[Question, dict[str, Any]]:
    try:
        python()
    except Unavailable as reason:
        pytest.skip(str(reason))
    asked = questions()
    return dict(zip(asked, ask(list(asked.values())), strict=True))


def test_the_repaired_record_scores_right(answers: dict[Question, dict[str, Any]]) -> None:
    assert len(answers) == 59
    for (name, metric, test_case), report in answers.items():
        part = right(RECORDS[name], metric)[test_case]
        if "exception" in report:
            assert report["exception"] in NO_VALUE, (name, metric)
            assert part.value is None
            continue
        found = (report["metrics"][metric]["results"]["test_cases"] or [{"average": None}])[0]
        assert same(found["average"], part.value), (name, metric, test_case)
        assert all(same(part.classes[c], v) for c, v in found.get("classes", {}).items()), (name, metric)


def test_blanks_in_a_header_are_the_only_cause() -> None:
    """The bug without a number: PyEvALL takes the line for a header (it is no record of a test case 'test_case '), and
    then finds no column; without the blanks the same file scores 3/4."""
    try:
        python()
    except Unavailable as reason:
        pytest.skip(str(reason))
    record = RECORDS["mono_tsv_header_spaces"]
    asked = {k: record[k] for k in ("gold", "pred", "gold_file", "pred_file", "metrics", "params")}
    header, rest = record["gold"].split("\n", 1)
    clean = asked | {"gold": "\t".join(name.strip() for name in header.split("\t")) + "\n" + rest}
    as_it_stands, without = ask([asked, clean])
    assert "FORMAT_INCORRECT_JSON_ERROR" in as_it_stands["files"]["gold.tsv"]["errors"]
    assert without["metrics"]["Accuracy"]["results"]["average_per_test_case"] == 0.75
