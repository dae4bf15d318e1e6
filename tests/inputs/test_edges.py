# SPDX-License-Identifier: Apache-2.0
"""Files at the edges of their format: what is read, what is refused, and which words say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command


def written(folder: Path, **texts: str) -> list[str]:
    paths = {name: folder / name.replace("_", ".") for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name])
    return [str(path) for path in paths.values()]


def messages(gold: str, pred: str, **options: str) -> list[str]:
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred, **options)
    return [finding.message for finding in caught.value.findings]


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_file_of_one_column(tmp_path: Path, end: str) -> None:
    gold, pred = written(tmp_path, gold_csv=f"value\na\nb\nb{end}", pred_csv="value\na\nb\na\n")
    for format in (None, "csv"):
        e = karat.evaluate(gold, pred, format=format, metrics=["accuracy"])
        assert e["accuracy"].value == pytest.approx(2 / 3)


def test_the_way_out_of_an_unknown_format_is_named_for_python_too(tmp_path: Path) -> None:
    gold, pred = written(tmp_path, gold_txt="a\nb\n", pred_txt="a\nb\n")
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred)
    assert "--input-format" in caught.value.findings[0].hint
    assert "name it with format= (csv where every line is one label);" in str(caught.value)


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize(("at", "size"), [(2, 3_000_000), (3, 15_000_000)])
def test_a_row_of_megabytes_is_named_wherever_it_stands(tmp_path: Path, at: int, size: int, end: str) -> None:
    rows = ["1,A", "2,B", "3,A"]
    rows[at - 1] = f"{at}," + "x" * size
    gold, pred = written(tmp_path, gold_csv="id,value\n1,A\n2,B\n3,A\n", pred_csv="id,value\n" + "\n".join(rows) + end)
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred)
    assert [(f.code, f.line) for f in caught.value.findings] == [("bad-row", at + 1)]
    assert "2,000,000" in caught.value.findings[0].message


def test_a_first_line_longer_than_the_sample_tells_the_format(tmp_path: Path) -> None:
    """A table of many columns, and a run whose first query has a long name."""
    wide, query = ",".join(f"column {n}" for n in range(9_000)), "q" * 70_000
    rows = [f"{n},{label}{',' * 9_000}" for n, label in ((1, "A"), (2, "B"))]
    names = {"gold_txt": [f"id,value,{wide}", *rows], "pred_txt": ["id,value", "1,A", "2,A"]}
    gold, pred = written(tmp_path, **{name: "\n".join(lines) + "\n" for name, lines in names.items()})
    assert karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value == 0.5
    qrels, run = written(
        tmp_path, qrels_txt=f"{query} 0 d1 1\nq 0 d2 1\n", run_txt=f"{query} Q0 d1 1 2 t\nq Q0 d1 1 2 t\n"
    )
    assert karat.evaluate(qrels, run, metrics=["average_precision"])["average_precision"].value == 0.5


def test_a_last_line_longer_than_the_engine_takes_at_once_is_not_lost(tmp_path: Path) -> None:
    """DuckDB says nothing of it where it ends the file behind 32 MB."""
    gold, pred = written(tmp_path, gold_csv="id,value\n1,A\n2,B\n", pred_csv="id,value\n1,A\n2," + "x" * 33_000_000)
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred)
    assert [(f.code, f.line) for f in caught.value.findings] == [("bad-row", 3)]


def test_a_quoted_row_of_megabytes_over_many_lines_is_named(tmp_path: Path) -> None:
    text = ("x" * 79 + "\n") * 26_000
    gold, pred = written(tmp_path, gold_csv="id,value\n1,A\n2,B\n", pred_csv=f'id,value\n1,A\n2,"{text}"\n3,B\n')
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred)
    assert [(f.code, f.line) for f in caught.value.findings] == [("bad-row", 3)]
    assert "the row has 2,080,005 bytes" in caught.value.findings[0].message


def test_records_without_an_id_do_not_repeat_one(tmp_path: Path) -> None:
    gold, pred = written(tmp_path, gold_csv="id,value\n,A\n,B\n3,A\n", pred_csv="id,value\n3,A\n")
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred)
    assert [(f.code, f.line) for f in caught.value.findings] == [("missing-field", 2), ("missing-field", 3)]


@pytest.mark.parametrize("header", ["note,id,value,note", "note,id,value,Note", "id,value,note,note,NOTE"])
def test_columns_that_nobody_needs_may_repeat(tmp_path: Path, header: str) -> None:
    names = header.split(",")
    rows = [",".join({"id": str(i), "value": "ab"[i]}.get(name, "x") for name in names) for i in range(2)]
    gold, pred = written(tmp_path, gold_csv="\n".join([header, *rows, ""]), pred_csv="id,value\n0,a\n1,a\n")
    assert karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value == 0.5


@pytest.mark.parametrize("header", ["id,value,value", "id,Value,VALUE", "id,id,value"])
def test_columns_that_are_needed_may_not_repeat(tmp_path: Path, header: str) -> None:
    gold, pred = written(tmp_path, gold_csv=f"{header}\n1,a,b\n", pred_csv="id,value\n1,a\n")
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred)
    assert [(f.code, f.line) for f in caught.value.findings] == [("repeated-column", 1)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('2,"b\n3,c\n', "a quote opens in this row and does not close"),
        ('2,"b"x\n3,c\n', "text follows the closing quote"),
    ],
)
def test_a_quote_that_does_not_close_and_one_that_closes_early(tmp_path: Path, row: str, reason: str) -> None:
    gold, pred = written(tmp_path, gold_csv=f"id,value\n1,a\n{row}", pred_csv="id,value\n1,a\n2,b\n3,c\n")
    assert [reason in message for message in messages(gold, pred)] == [True]


def test_a_repeated_field_is_named(tmp_path: Path) -> None:
    text = '{"id": "1", "value": "a"}\n{"id": "2", "value": "a", "value": "b"}\n'
    gold, pred = written(tmp_path, gold_jsonl=text, pred_jsonl='{"id": "1", "value": "a"}\n')
    assert messages(gold, pred) == ["not valid JSON: the field 'value' is there twice"]


@pytest.mark.parametrize("quick", [True, False])
def test_a_comment_as_long_as_a_record_is_a_comment(tmp_path: Path, quick: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr("karat.read.fast.ON", quick)
    gold, run = written(
        tmp_path,
        gold_qrels="# iteration document grade\nq 0 d 1\n",
        run_run="# Q0 document rank score tag\nq Q0 d 1 2.5 mine\n",
    )
    found = karat.evaluate(gold, run, metrics=["map"])
    assert found["map"].value == 1.0
    assert found.systems[0].cells.run_id == "mine"


def test_a_run_without_any_score(tmp_path: Path) -> None:
    (run,) = written(tmp_path, run_run="q Q0 d 1 high mine\nq Q0 e 2 low mine\n")
    said = [(f.code, f.line) for f in karat.validate(run)]
    assert said == [("not-a-number", 1), ("not-a-number", 2)]


def test_labels_that_gold_never_has_and_items_without_labels_are_counted() -> None:
    gold, pred = [["a"], ["a", "b"], [], []], [["z"], ["a"], ["z"], ["a"]]
    found = {f.code: f.message for f in karat.evaluate(gold, pred, context="multilabel").findings}
    assert found["label-not-in-gold"] == "label 'z' never occurs in gold (2 predictions)"
    assert found["no-gold-labels"].startswith("2 of 4 gold items have no label")


def test_a_label_that_is_left_out_is_not_said_to_be_unknown() -> None:
    gold = [{"id": "1", "value": "a"}, {"id": "2", "value": "b"}]
    found = karat.evaluate(gold, [*gold, {"id": "2", "value": "z"}], metrics=["accuracy"], faulty="drop")
    assert [f.code for f in found.findings] == ["left-out"]


EXTRA = {
    "ignore": "1 predicted id is not in gold (first: 3) and is left out",
    "wrong": "1 predicted id is not in gold (first: 3) and is counted as wrong",
}


@pytest.mark.parametrize("extra", EXTRA)
def test_extra_predictions_and_what_is_said_of_them(tmp_path: Path, extra: str) -> None:
    gold, pred = written(tmp_path, gold_csv="id,value\n1,a\n2,b\n", pred_csv="id,value\n1,a\n2,a\n3,a\n")
    evaluation = karat.evaluate(gold, pred, metrics=["precision"], extra=extra)
    assert [f.message for f in evaluation.findings if f.code == "pred-only-ids"] == [EXTRA[extra]]
    # Of a's predictions the first is right; the third counts if it is wrong.
    assert evaluation["precision"].by_class["a"].value == pytest.approx({"ignore": 1 / 2, "wrong": 1 / 3}[extra])


def test_an_item_that_only_gold_has_keeps_its_id_beside_extra_ones() -> None:
    gold = [{"id": id, "value": value} for id, value in zip("1234", "abbb", strict=True)]
    pred = [{"id": id, "value": value} for id, value in zip("2349", "babb", strict=True)]
    report = json.loads(karat.evaluate(gold, pred, metrics=["accuracy"], extra="wrong", units=True).to_json())
    assert [unit["id"] for unit in report["systems"][0]["worst"]["units"]] == ["1", "3"]


def test_extra_documents_and_what_is_said_of_them() -> None:
    span = {"start": 0, "end": 1, "label": "x"}
    gold = [{"id": "1", "spans": [span]}]
    pred = [{"id": "1", "spans": [span]}, {"id": "2", "spans": [span]}]
    for extra, said in (("ignore", "left out"), ("wrong", "counted as wrong")):
        found = karat.evaluate(gold, pred, extra=extra).findings
        assert [f.message for f in found if f.code == "pred-only-ids"] == [
            f"1 predicted id is not in gold (first: 2) and is {said}"
        ]


def test_the_confusion_matrix_has_a_row_for_extra_predictions(tmp_path: Path) -> None:
    gold, pred = written(tmp_path, gold_csv="id,value\n1,a\n2,b\n3,b\n", pred_csv="id,value\n1,a\n2,b\n3,b\n4,a\n")
    line = ["evaluate", gold, pred, "--extra", "wrong", "--show", "confusion", "--report", "markdown", "--quiet"]
    lines = CliRunner().invoke(command, line).stdout.splitlines()
    rows = [[cell.strip() for cell in text.strip("|").split("|")] for text in lines if text.startswith("|")]
    last = [row for row in rows if row[0] in ("a", "b", "—")][-3:]
    assert last == [["a", "1", "0"], ["b", "0", "2"], ["—", "1", "0"]]


@pytest.mark.parametrize("head", ["id,value", "document,page,first", "document,first_page,last_page"])
def test_a_header_and_nothing_below(tmp_path: Path, head: str) -> None:
    (path,) = written(tmp_path, gold_csv=head + "\n")
    assert [f.code for f in karat.validate(path)] == ["no-records"]


@pytest.mark.parametrize("text", ['{"\\ud800": {"d": 1}}', '{"q": {"\\ud800": 1}}'])
def test_half_of_a_surrogate_pair_is_no_name_in_a_ranking(tmp_path: Path, text: str) -> None:
    gold, run = written(tmp_path, gold_json='{"q": {"d": 1}}', run_json=text)
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, run, context="ranking")
    assert [f.code for f in caught.value.findings] == ["bad-json"]


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -float("inf")])
def test_a_weight_of_a_struct_that_is_no_number(tmp_path: Path, weight: float) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="comes with the extra frames")
    rows = [{"A": 0.75, "B": 0.25}, {"A": weight, "B": 0.5}]
    table = pyarrow.table({"id": ["1", "2"], "value": rows})
    with pyarrow.ipc.new_file(str(tmp_path / "gold.arrow"), table.schema) as file:
        file.write_table(table)
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(tmp_path / "gold.arrow", [{"id": "1", "value": rows[0]}, {"id": "2", "value": rows[0]}])
    assert [f.line for f in caught.value.findings if f.severity == "error"] == [2]


def test_a_text_that_begins_as_an_archive_does_is_a_text(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("PK,value\n1,A\n2,B\n")
    assert karat.evaluate(str(path), {"1": "A", "2": "A"}, columns={"gold_id": "PK"})["accuracy"].value == 0.5
    path.write_bytes(b"PK\x03\x04, \xff")
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(str(path), {"1": "A"})
    assert [f.code for f in error.value.findings] == ["file-foreign"]


@pytest.mark.parametrize(("columns", "said"), [(None, 2), ({"value": "value"}, 0)])
def test_who_names_the_column_of_values_leaves_others_out_on_purpose(columns: Any, said: int) -> None:
    gold = [{"id": "1", "value": "A", "model": "x"}, {"id": "2", "value": "B", "model": "y"}]
    pred = [record | {"value": "A"} for record in gold]
    found = karat.evaluate(gold, pred, metrics=["accuracy"], columns=columns)
    assert [f.code for f in found.findings].count("extra-fields") == said


def test_the_text_of_an_item_needs_no_word_that_it_is_left_out() -> None:
    gold = [{"id": "1", "value": "A", "Text": "how nice", "mood": "good", "place": "x"}]
    found = karat.evaluate(gold, {"1": "A"}, metrics=["accuracy"])
    assert [f.message for f in found.findings if f.code == "extra-fields"] == ["ignored: mood, place"]
    without = [{name: value for name, value in gold[0].items() if name in ("id", "value", "Text")}]
    assert karat.evaluate(without, {"1": "A"}, metrics=["accuracy"]).findings == []


def test_columns_beside_both_sides_of_one_table_are_left_out_on_purpose() -> None:
    both = [{"id": "1", "gold": "A", "pred": "A", "model": "x"}, {"id": "2", "gold": "B", "pred": "A", "model": "y"}]
    found = karat.evaluate(both, metrics=["accuracy"])
    assert found["accuracy"].value == 0.5
    assert "extra-fields" not in [f.code for f in found.findings]


def test_lists_in_cells_are_read_in_every_row(tmp_path: Path) -> None:
    gold, pred = written(
        tmp_path, gold_csv='id,value\n1,"[""a""]"\n2,"[""b""]"\n3,"[""a"",""b""]"\n',
        pred_csv='id,value\n1,"[""a""]"\n2,"[""a""]"\n3,"[""a"",""b""]"\n',
    )  # fmt: skip
    found = karat.evaluate(gold, pred, metrics=["subset_accuracy"])
    assert found["subset_accuracy"].value == pytest.approx(2 / 3)


def test_two_usual_names_make_a_header_however_many_others_stand_beside(tmp_path: Path) -> None:
    gold, pred = written(
        tmp_path, gold_csv="label,text,note\na,x,1\nb,y,2\n", pred_csv="label,text,note\na,x,1\na,y,2\n"
    )
    assert karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value == 0.5


HEADED = {
    "a weight": ("id\tlabel\tnote\tw", "{0}\tB\tx\t{0}"),
    "six columns": ("id\tlabel\tnote\tw\tmore\tlast", "{0}\tB\tx\t{0}\ty\tz"),
    "names of one's own": ("Ticket\tTeam\tWho\tMinutes", "{0}\tB\tx\t{0}"),
    "classes that are numbers": ("id\t0\t1\t2", "{0}\t0.5\t0.25\t0.25"),
    "ranks beside scores": ("query\tdoc\tscore\trank", "q\td{0}\t0.5\t{0}"),
    "pages with a confidence": ("document\tpage\tis_first_page\tconfidence", "b\t{0}\ttrue\t0.5"),
}


@pytest.mark.parametrize("kind", HEADED)
def test_a_header_apart_by_tabs_is_no_line_of_trec(tmp_path: Path, kind: str) -> None:
    head, row = HEADED[kind]
    lines = [head, *(row.format(n) for n in range(1, 9))]
    tabs, commas = written(tmp_path, a_tsv="\n".join(lines), b_csv="\n".join(lines).replace("\t", ","))
    own = {"columns": {"id": "Ticket", "value": "Team"}} if "own" in kind else {}
    more = {"context": "probabilities", "role": "pred"} if "classes" in kind else {"role": "pred"}
    said = [[(f.code, f.line) for f in karat.validate(path, **own, **more)] for path in (tabs, commas)]
    assert said[0] == said[1]
    assert not {"not-a-number", "bad-option"} & {code for code, _ in said[0]}


def test_objects_in_two_fields_are_no_field_twice(tmp_path: Path) -> None:
    lines = [{"id": str(i), "value": {"A": 0.5, "B": 0.5}, "about": {"x": 1, "y": i}} for i in range(3)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    gold, pred = written(tmp_path, gold_jsonl=text, pred_jsonl=text)
    assert karat.evaluate(gold, pred, context="soft", metrics=["cross_entropy"], allow_same=True)["cross_entropy"].value


def test_texts_that_nothing_reads_are_not_said_to_be_ignored(tmp_path):
    gold, pred = tmp_path / "gold.csv", tmp_path / "pred.csv"
    gold.write_text("id,value\n1,A\n2,B\n")
    pred.write_text("id,value,text\n1,A,one\n2,B,two\n")
    codes = lambda: [f.code for f in karat.evaluate(gold, pred).findings]
    assert "extra-fields" not in codes()
    pred.write_text("id,value,shade\n1,A,red\n2,B,blue\n")
    assert "extra-fields" in codes()


def test_a_carriage_return_alone_has_its_line_where_a_file_begins_with_an_empty_one(tmp_path):
    torn = tmp_path / "torn.csv"
    torn.write_bytes(b"\nid,value\n1,A\n2,B\r3,C\n4,A\n")
    lines = {f.line for f in karat.validate(torn) if f.severity == "error"}
    assert 4 in lines


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"id": 1%s, "value": "A"}]', "a number of 5,001 digits"),
        ('[{"id": "1", "value": "A"},\n{"id": 1%s, "value": "A"}]', "a number of 5,001 digits"),
        ('{"id": "1", "value": "A"}\n{"id": "2", "value": "A", "size": 1%s}\n', "a number of 5,001 digits"),
        ('[{"id": "1", "spans": [{"start": 0, "end": 1%s, "label": "A"}]}]', "a number of 5,001 digits"),
        ('[{"id": "1", "value": 1e%.3s999}]', "the number 1e000999 is out of range"),
    ],
)
def test_a_number_that_is_too_long_or_too_large_is_named(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "gold").write_text(text % ("0" * 5000))
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(str(tmp_path / "gold"), str(tmp_path / "gold"), allow_same=True)
    found = caught.value.findings[0]
    assert (found.code, found.line) == ("bad-json", 1 + text.count("\n", 0, text.index("%")))
    assert reason in found.message


def test_bars_part_fields_where_they_make_the_first_line_a_header(tmp_path: Path) -> None:
    """They were one column, whose header was counted as a record that is right."""
    gold, pred = tmp_path / "gold.csv", tmp_path / "pred.csv"
    gold.write_text("id|value\n1|A\n2|B\n3|A\n")
    pred.write_text("id|value\n3|B\n2|B\n1|A\n")
    found = karat.evaluate(str(gold), str(pred), metrics=["accuracy"])
    assert (found["accuracy"].value, found.systems[0].counts["gold"]) == (2 / 3, 3)
    gold.write_text("labels\nA|B\nB\n")
    sets = karat.evaluate(str(gold), str(gold), context="multilabel", separator="|", allow_same=True)
    assert sets.systems[0].counts["gold"] == 2


@pytest.mark.parametrize("context", ["numbers", "probabilities"])
@pytest.mark.parametrize(
    "text", ["q1 0 d1 1\nq1 0 d2 0\n", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t\n", '{"q1": {"d1": 1, "d2": 0}}']
)
def test_a_ranking_is_neither_numbers_nor_probabilities(tmp_path: Path, text: str, context: str) -> None:
    (tmp_path / "gold").write_text(text)
    with pytest.raises(karat.InputError, match="this is a ranking") as caught:
        karat.evaluate(str(tmp_path / "gold"), str(tmp_path / "gold"), context=context, allow_same=True)
    assert {f.code for f in caught.value.findings} == {"bad-option"}


@pytest.mark.parametrize("inner", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_break_in_a_header_is_not_the_end_of_lines(tmp_path, inner, end):
    """Excel writes LF inside of a cell and CR LF behind a row: no record was found."""
    path = tmp_path / "gold.csv"
    rows = ["id,label,confidence", f'1,A,"0.1{inner}"', "2,B,0.2", ""]
    path.write_text(end.join(rows).replace("confidence", f'"how{inner}sure"'), newline="")
    assert karat.evaluate(path, {"1": "A", "2": "A"})["accuracy"].value == 0.5
