"""Labels with the special characters of every report, and why a score has no value."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

import karat

UGLY = [
    "a_b%c&d#e$f{g}h~i^j\\k", "[1ex] x", "*star", "x|y", "<b>z</b>", "&amp;", "`code`", "[l](u)", "[bold]m[/bold]",
    '=1+1"q"', "two\nlines", "tab\there", "\x1b[31mred", "\u202egniht", "日本語", "é́", "≤",
]  # fmt: skip


@pytest.fixture(scope="module")
def ugly() -> karat.Evaluation:
    return karat.evaluate(UGLY, UGLY[1:] + UGLY[:1], metrics=["f1", "accuracy"])


def test_csv_and_tsv_give_labels_back(ugly: karat.Evaluation) -> None:
    """All but what drives a terminal, which is spelt out, and a formula of CSV, which is told to stay one."""
    expected = {label.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e") for label in UGLY}
    for text, mark in ((ugly.to_csv(escape_formulas=False), ","), (ugly.to_tsv(), "\t")):
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark)
        assert {row["class"] for row in rows} == {"", *expected}


def test_json_gives_labels_back(ugly: karat.Evaluation) -> None:
    system = json.loads(ugly.to_json())["systems"][0]
    assert {part["class"] for part in system["metrics"][0]["by_class"]} == set(UGLY)


def test_terminal_shows_one_line_per_label_and_no_control_characters(ugly: karat.Evaluation) -> None:
    text = ugly.render("table", by=["class"])
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    table = text.split("By class")[1].splitlines()
    assert len(table) == 3 + len(UGLY)
    assert "\\x1b[31mred" in text
    assert next(line for line in table if line.startswith("日本語")).endswith("  0.0000")


def test_wide_signs_take_two_columns() -> None:
    lines = karat.evaluate(["日本語", "A"], ["A", "A"], metrics=["recall"]).render("table", by=["class"]).splitlines()
    wide, narrow = (next(line for line in lines if line.startswith(name)) for name in ("日本語", "A  "))
    assert len(wide) == len(narrow) - 3


def test_markdown_keeps_its_columns(ugly: karat.Evaluation) -> None:
    lines = [line for line in ugly.to_markdown(by=["class"]).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}
    text = "\n".join(lines)
    assert r"\<b>z\</b>" in text
    assert r"\`code\`" in text
    assert r"[l\](u)" in text
    assert r"\&amp;" in text


def test_latex_disarms_what_it_would_read(ugly: karat.Evaluation) -> None:
    text = ugly.to_latex(by=["class"])
    assert r"a\_b\%c\&d\#e\$f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k & " in text
    assert "\n{}[1ex] x &" in text
    assert "\n{}*star &" in text
    assert r"\textless{}b\textgreater{}" in text
    assert "two lines" in text


@pytest.mark.parametrize("report", ["table", "json", "markdown", "latex", "tsv", "csv", "html", "notebook"])
def test_undefined_says_why(report: str) -> None:
    e = karat.evaluate(["A", "A"], ["A", "A"], metrics=["kappa"])
    assert "one label in use: agreement by chance is total" in e.render(report)


@pytest.mark.parametrize("report", ["table", "markdown", "latex"])
def test_parts_without_a_value_are_counted(report: str) -> None:
    records = [{"test_case": t, "id": i, "value": v} for t, i, v in (("1", "a", "A"), ("2", "a", "A"), ("2", "b", "B"))]
    pred = [{**r, "value": "A"} for r in records]
    text = karat.evaluate(records, pred, metrics=["kappa", "precision"]).render(report)
    assert "Cohen's kappa: no value for 1 of 2 test cases (one label in use" in text
    assert "Precision (macro, all classes): no value for 1 of 2 classes (nothing was predicted)" in text


def test_a_default_that_is_spelt_out_names_the_metric_without_it() -> None:
    e = karat.evaluate(["A", "B"], ["A", "A"], metrics=["f1", "f1(classes=gold)", "f1(average=micro)"])
    assert e["f1(average=macro)"] is e["f1"]
    assert e["f1(average=macro,classes=gold)"] is e["f1(classes=gold)"]
