# SPDX-License-Identifier: Apache-2.0
"""Tables whose columns have names that nobody could know: a header is never counted as a record, nor ids passed over in silence."""

import json
from pathlib import Path

import pytest

import karat

GOLD = {"T-1": "billing", "T-2": "bug", "T-3": "bug", "T-4": "other"}
PRED = {"T-4": "other", "T-1": "billing", "T-2": "bug", "T-3": "billing"}


def table(path: Path, rows: dict[str, str], head: str, mark: str = ",") -> str:
    lines = [head] if head else []
    path.write_text("\n".join([*lines, *(f"{id}{mark}{value}" for id, value in rows.items())]) + "\n")
    return str(path)


@pytest.mark.parametrize(("id", "value"), [("ticket", "category"), ("ticket", "team"), ("row", "y_pred")])
@pytest.mark.parametrize("mark", [",", "\t"])
def test_a_header_of_other_names_is_no_record(id: str, value: str, mark: str, tmp_path: Path) -> None:
    files = [table(tmp_path / name, rows, id + mark + value, mark) for name, rows in (("g", GOLD), ("p", PRED))]
    with pytest.raises(karat.InputError) as raised:
        karat.evaluate(*files)
    assert [(f.code, f.line) for f in raised.value.findings] == [("header-unclear", 1)] * 2
    hints = [f.hint for f in raised.value.findings]
    assert [f"--id {id} --{side}-value {value}" in hint for side, hint in zip(("gold", "pred"), hints)] == [True, True]
    assert karat.evaluate(*files, columns={"id": id, "value": value})["accuracy"].value == 0.75  # 3 of 4, by id


@pytest.mark.parametrize(
    ("head", "rows", "value"),
    [
        ("ticket,team,confidence", {"T-1": "bug,0.9", "T-2": "bug,1", "T-3": "other,2e-1"}, "team"),
        ("name,team,confidence", {"anna": "bug,0.9", "bob": "bug,1", "eve": "other,0.2"}, "team"),
        ("house,price", {"mill": "100", "inn": "120", "barn": "95,5"}, "price"),
        ("customer,churn,stay", {"C-1": "0.9,0.1", "C-2": "1,0", "C-3": "0.25,0.75"}, ""),
        ("ticket,subject,team", {"T-1": "hello,bug", "T-2": "hello,bug", "T-3": "bye,other"}, "team"),
    ],
)
def test_a_word_over_numbers_is_a_name(head: str, rows: dict[str, str], value: str, tmp_path: Path) -> None:
    mark = ";" if value == "price" else ","
    path = table(tmp_path / "g.csv", rows, head.replace(",", mark), mark)
    with pytest.raises(karat.InputError, match="reads like a header") as raised:
        karat.evaluate(path, path, allow_same=True)
    option = f" --gold-value {value}" if value else ""
    assert f"--id {head.split(',')[0]}{option};" in raised.value.findings[0].hint


@pytest.mark.parametrize("value", ["topic", "query", "document"])
def test_a_column_that_is_named_is_nothing_else(value: str, tmp_path: Path) -> None:
    """A topic is a test case by its usual name, and a label where somebody says so."""
    files = [table(tmp_path / name, rows, f"key,{value}") for name, rows in (("g.csv", GOLD), ("p.csv", PRED))]
    found = karat.evaluate(*files, columns={"id": "key", "value": value}, metrics=["accuracy"])
    assert found["accuracy"].value == 0.75


def test_a_first_line_whose_value_never_comes_again_is_doubted(tmp_path: Path) -> None:
    """Ids without a number leave open whether it is a header: the score stands, and what was counted is said."""
    rows = {"anna": "billing", "bob": "tech", "cleo": "tech", "dan": "billing"}
    named = [table(tmp_path / name, rows, "customer,team") for name in ("g.csv", "p.csv")]
    found = karat.evaluate(*named, allow_same=True)
    assert [(f.file, f.line) for f in found.findings if f.code == "header-doubted"] == [(f, 1) for f in named]
    assert found.systems[0].counts["gold"] == 5
    said = karat.evaluate(*named, columns={"id": "customer", "value": "team"}, allow_same=True)
    assert said.systems[0].counts["gold"] == 4
    bare = [table(tmp_path / name, rows, "") for name in ("g.csv", "p.csv")]
    assert "header-doubted" not in {f.code for f in karat.evaluate(*bare, allow_same=True).findings}


def test_columns_of_pages_may_have_any_name(tmp_path: Path) -> None:
    text = "scan_name,page,new_document\n" + "".join(
        f"s{s},{p},{int(p in (1, 3))}\n" for s in range(2) for p in range(1, 5)
    )
    (tmp_path / "g.csv").write_text(text)
    found = karat.evaluate(
        tmp_path / "g.csv", tmp_path / "g.csv", context="splitting", metrics=["tp"], allow_same=True,
        columns={"id": "scan_name", "value": "new_document"},
    )  # fmt: skip
    assert found["tp"].value == 4


def test_a_first_record_that_reads_like_a_header_can_be_said_to_be_one(tmp_path: Path) -> None:
    gold = table(tmp_path / "g.csv", {"nobody": "team", **GOLD}, "")
    with pytest.raises(karat.InputError, match="reads like a header"):
        karat.evaluate(gold, gold, allow_same=True)
    assert (
        karat.evaluate(gold, gold, columns={"id": "id", "value": "value"}, allow_same=True).systems[0].counts["gold"]
        == 5
    )


@pytest.mark.parametrize(
    "rows",
    [
        GOLD,  # ids with digits in every row
        {"anna": "bug", "bob": "bug", "eve": "team"},  # ids without any
        {"nobody": "bug", **GOLD},  # its label comes again
    ],
)
def test_records_without_a_header_are_read(rows: dict[str, str], tmp_path: Path) -> None:
    files = [table(tmp_path / name, rows, "") for name in ("g.csv", "p.csv")]
    assert karat.evaluate(*files).systems[0].counts["gold"] == len(rows)


def test_a_common_column_that_is_not_read_is_said_where_rows_are_paired_as_they_stand(tmp_path: Path) -> None:
    for name, rows in (("g.json", GOLD), ("p.json", PRED)):
        (tmp_path / name).write_text(json.dumps([{"ticket": id, "label": value} for id, value in rows.items()]))
    files = str(tmp_path / "g.json"), str(tmp_path / "p.json")
    plain = karat.evaluate(*files, metrics=["accuracy"])
    assert "paired-by-position" in {f.code for f in plain.systems[0].findings}
    named = karat.evaluate(*files, metrics=["accuracy"], columns={"id": "ticket"})
    assert "paired-by-position" not in {f.code for f in named.systems[0].findings}
    assert (plain["accuracy"].value, named["accuracy"].value) == (0.25, 0.75)
