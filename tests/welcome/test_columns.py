"""The right column on each side: what newcomers hand in gives the right number, an error, or a warning that is seen."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.read.names import GOLD, PRED, VALUES

LABELS, GUESSES = ["pos", "neg", "pos", "neg"], ["neg", "neg", "neg", "pos"]
"""One of four is right."""


def codes(e):
    return {f.code for f in e.findings}


def accuracy(gold, pred=None, **how):
    return karat.evaluate(gold, pred, metrics=["accuracy"], **how)["accuracy"].value


def refused(*given, **how):
    with pytest.raises(karat.InputError) as raised:
        karat.evaluate(*given, **how)
    return {f.code for f in raised.value.findings}


def frames():
    return [pd.DataFrame, pl.DataFrame, dict, lambda columns: pd.DataFrame(columns).to_dict("records")]


PLAIN = ["value", "label", "class", "category", "target", "y"]


@pytest.mark.parametrize("make", frames())
@pytest.mark.parametrize(
    ("gold", "prediction"), [("label", name) for name in PRED] + [(g, "y_pred") for g in (*GOLD, *PLAIN)]
)
def test_a_test_table_with_one_more_column(make, gold, prediction):
    test = make({"id": [1, 2, 3, 4], gold: LABELS})
    out = make({"id": [1, 2, 3, 4], gold: LABELS, prediction: GUESSES})
    assert accuracy(test, out) == accuracy(out) == accuracy(out, out) == 0.25


def test_every_name_stands_in_one_tier_of_each_side():
    for tiers in VALUES.values():
        names = [name for tier in tiers for name in tier]
        assert len(names) == len(set(names))
    assert {n for t in VALUES["gold"] for n in t} <= {n for t in VALUES["pred"] for n in t}


@pytest.mark.parametrize("make", frames()[:3])
def test_columns_by_side(make):
    gold, out = make({"key": [1, 2, 3, 4], "truth": LABELS}), make({"nr": [4, 3, 2, 1], "bert": GUESSES[::-1]})
    columns = {"gold_id": "key", "gold_value": "truth", "pred_id": "nr", "pred_value": "bert"}
    assert accuracy(gold, out, columns=columns) == 0.25


def test_systems_that_are_columns_of_a_file(tmp_path):
    pd.DataFrame({"id": [1, 2, 3, 4], "label": LABELS}).to_csv(tmp_path / "gold.csv", index=False)
    table = pd.DataFrame({"id": [1, 2, 3, 4], "a": LABELS, "b": GUESSES})
    table.to_csv(tmp_path / "out.csv", index=False)
    for given in (tmp_path / "out.csv", table):
        e = karat.evaluate(tmp_path / "gold.csv", given, columns={"pred_value": ["a", "b"]}, metrics=["accuracy"])
        assert {s.name: s["accuracy"].value for s in e.systems} == {"a": 1.0, "b": 0.25}


@pytest.mark.parametrize("column", ["score", "rank", "confidence", "prob"])
def test_a_score_beside_labels_is_no_ranking(column):
    table = pd.DataFrame({"id": [1, 2, 3, 4], "y_true": LABELS, "y_pred": GUESSES, column: [0.1, 0.2, 0.3, 0.4]})
    e = karat.evaluate(table, table)
    assert e.context == "monolabel"
    assert e["accuracy"].value == 0.25


def test_a_merged_table_of_judgements_and_scores_is_a_ranking():
    table = pd.DataFrame({"qid": [1, 1], "docid": ["a", "b"], "rel": [1, 0], "score": [0.1, 0.9]})
    e = karat.evaluate(table, table, metrics=["reciprocal_rank"])
    assert (e.context, e["reciprocal_rank"].value) == ("ranking", 0.5)


def test_a_kept_run_of_columns_is_verified(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"id": [1, 2, 3, 4], "y_true": LABELS, "a": LABELS, "b": GUESSES}).to_csv("t.csv", index=False)
    line = ["evaluate", "t.csv", "--pred-value", "a", "--pred-value", "b", "--report", "json", "-o", "report.json"]
    assert CliRunner().invoke(command, line).exit_code == 0
    checked = CliRunner().invoke(command, ["verify", "report.json"])
    assert checked.exit_code == 0, checked.output
    assert "changed" not in checked.output


def test_one_table_without_predictions_is_an_error():
    assert refused(["a", "b"]) == {"same-column"}
    assert refused(pd.DataFrame({"id": [1], "label": ["a"]})) == {"same-column"}


def test_no_such_role():
    with pytest.raises(karat.MetricError, match="did you mean 'pred_value'"):
        karat.evaluate(["a"], ["a"], columns={"pred_vale": "x"})


# ---- conlleval


CONLLEVAL = "Anna NNP B-PER B-PER\nran VBD O O\n\nBob NNP B-PER O\n"


def test_a_conlleval_file_is_both_sides(tmp_path):
    (tmp_path / "both.conll").write_text(CONLLEVAL)
    (tmp_path / "pred.conll").write_text(
        CONLLEVAL.replace(" B-PER B-PER", " B-PER").replace(" O O", " O").replace(" B-PER O", " O")
    )
    f1 = ["f1"]
    assert karat.evaluate(tmp_path / "both.conll", metrics=f1)["f1"].value == pytest.approx(2 / 3)
    assert refused(tmp_path / "both.conll", tmp_path / "both.conll") == {"value-column-unclear"}
    columns = {"gold_value": "-2", "pred_value": "-1"}
    assert karat.evaluate(tmp_path / "both.conll", tmp_path / "both.conll", columns=columns, metrics=f1)["f1"].value == pytest.approx(2 / 3)  # fmt: skip
    assert refused(tmp_path / "both.conll", tmp_path / "pred.conll") == {"value-column-unclear"}


def test_chunks_beside_entities_are_no_predictions(tmp_path):
    (tmp_path / "2003.conll").write_text("Anna NNP B-NP B-PER\nran VBD B-VP O\n")
    (tmp_path / "out.conll").write_text("Anna B-PER\nran O\n")
    assert karat.evaluate(tmp_path / "2003.conll", tmp_path / "out.conll")["f1"].value == 1
    assert refused(tmp_path / "2003.conll") == {"value-column-unclear"}


def test_a_column_that_no_line_has_is_one_finding(tmp_path):
    (tmp_path / "a.conll").write_text("Anna B-PER\nran O\n" * 50)
    with pytest.raises(karat.InputError, match="there is no column 9: the lines have 2 columns") as raised:
        karat.evaluate(tmp_path / "a.conll", tmp_path / "a.conll", columns={"value": "9"})
    assert len(raised.value.findings) == 2  # one a side


def test_tags_against_characters_is_about_units(tmp_path):
    (tmp_path / "gold.conll").write_text("Anna B-PER\nran O\n")
    (tmp_path / "pred.jsonl").write_text('{"text": "Anna ran", "spans": [{"start": 0, "end": 4, "label": "PER"}]}\n')
    assert refused(tmp_path / "gold.conll", tmp_path / "pred.jsonl") == {"units-differ"}
    assert refused(tmp_path / "pred.jsonl", tmp_path / "gold.conll") == {"units-differ"}


def test_spans_of_tokens_against_tags_still_meet(tmp_path):
    (tmp_path / "gold.conll").write_text("Anna B-PER\nran O\n")
    (tmp_path / "pred.jsonl").write_text('{"spans": [{"start": 0, "end": 1, "label": "PER"}]}\n')
    assert karat.evaluate(tmp_path / "gold.conll", tmp_path / "pred.jsonl", metrics=["f1"])["f1"].value == 1


# ---- series, numbers, truth, rows of zeros and ones


def test_series_with_the_same_index_in_another_order():
    gold = pd.Series(list("aabbcabcab"), index=range(100, 110))
    e = karat.evaluate(gold, gold.sample(frac=1, random_state=1), metrics=["accuracy"])
    assert e["accuracy"].value == 1.0
    assert codes(e) == {"paired-by-index"}
    assert "paired-by-index" not in codes(karat.evaluate(gold, gold.copy(), metrics=["accuracy"]))


def test_series_with_another_index_are_paired_by_position():
    gold = pd.Series(list("aabb"), index=[7, 3, 9, 5])
    assert accuracy(gold, pd.Series(list("aabb"))) == 1.0 or "index-differs" in codes(
        karat.evaluate(gold, pd.Series(list("aabb")))
    )
    assert "index-differs" in codes(karat.evaluate(gold, pd.Series(list("aabb"), index=[7, 3, 9, 4])))


def test_scores_given_as_labels():
    rng = np.random.default_rng(0)
    truth, score = rng.choice(list("abc"), 143), rng.random(143)
    for given in (score, score.tolist(), pd.Series(score), [str(x) for x in score], np.round(score, 3)):
        assert refused(truth, given) & {"scores-as-labels", "mixed-contexts"}
        assert refused(truth, given, context="monolabel") == {"scores-as-labels"}
        assert refused(rng.integers(0, 2, 143), given, context="monolabel") == {"scores-as-labels"}


def test_grades_with_halves_are_labels_where_that_is_said():
    grades = [0.5, 1.0, 1.5, 2.0] * 10
    assert accuracy(grades, grades[1:] + grades[:1], context="monolabel") == 0.0
    assert accuracy(grades, grades, context="monolabel") == 1.0


@pytest.mark.parametrize(
    ("gold", "pred"), [([True, False], [1, 0]), ([1, 0], [True, False]), (np.array([1, 0]), np.array([True, False]))]
)
def test_true_and_false_are_one_and_zero(gold, pred):
    assert karat.evaluate(gold, pred).context == "monolabel"
    assert accuracy(gold, pred) == 1.0


def test_true_and_false_against_fractions_are_scored_classes():
    assert karat.evaluate([True, False, True], [0.9, 0.2, 0.4]).context == "probabilities"


@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
@pytest.mark.parametrize("bits", [("1", "0"), ("1.0", "0.0")])
@pytest.mark.parametrize("turned", [False, True])
def test_true_and_false_of_a_file_are_one_and_zero(words, bits, turned, tmp_path):
    """As pandas writes booleans beside integers: the labels are gold's, in gold's spelling."""
    sides = [(words[0], words[1], words[0]), (bits[0], bits[1], bits[1])]
    mine, theirs = sides if turned else sides[::-1]
    gold, pred = cells(tmp_path, "gold.csv", *mine), cells(tmp_path, "pred.csv", *theirs)
    e = karat.evaluate(gold, pred, metrics=["accuracy", "f1"])
    assert e["accuracy"].value == pytest.approx(2 / 3)
    assert {*e["f1"].by_class} == ({*words} if turned else {"1", "0"})
    assert codes(e) == set()


def test_truth_that_gold_never_has_is_spelt_as_gold_would(tmp_path):
    gold, pred = cells(tmp_path, "gold.csv", "True", "True"), cells(tmp_path, "pred.csv", "1", "0")
    assert {*karat.evaluate(gold, pred, metrics=["f1"])["f1"].by_class} == {"True", "False"}


def test_a_file_of_ids_and_values_against_itself_is_said(tmp_path):
    file = cells(tmp_path, "gold.csv", "a", "b")
    assert codes(karat.evaluate(file, file)) == {"same-file"}
    assert "scored against itself" in str(karat.evaluate(file, file))


def test_rows_of_zeros_and_ones():
    gold, pred = [[1, 0, 1], [0, 1, 0]], [[0, 1, 1], [0, 1, 0]]
    e = karat.evaluate(gold, pred, metrics=["f1"])
    assert e["f1"].value == karat.evaluate(np.array(gold), np.array(pred), metrics=["f1"])["f1"].value
    assert codes(e) == {"indicator-rows"}
    assert refused([[1, 0], [0, 1]], [[0, 1], [1, 0]]) == {"indicator-rows-unclear"}


def test_lists_of_other_labels_are_lists():
    assert "indicator-rows" not in codes(karat.evaluate([[1, 2], [0, 1]], [[0, 1], [1, 0]]))
    assert "indicator-rows" not in codes(karat.evaluate([["0", "1"], ["1"]], [["0"], ["1"]]))


# ---- several labels in a cell


def cells(tmp_path, name, *values):
    rows = "".join(f'{i},"{value}"\n' for i, value in enumerate(values))
    (tmp_path / name).write_text("id,label\n" + rows)
    return tmp_path / name


SETS = [["sports", "politics"], ["art"], ["art", "sports"]]


@pytest.mark.parametrize("mark", ["|", ";", ","])
def test_separators(tmp_path, mark):
    gold = cells(tmp_path, "gold.csv", *(mark.join(s) for s in SETS))
    pred = cells(tmp_path, "pred.csv", *(mark.join(reversed(s)) for s in SETS))
    assert karat.evaluate(gold, pred, separator=mark, metrics=["f1"])["f1"].value == 1.0
    e = karat.evaluate(gold, pred, context="multilabel", metrics=["f1"])
    assert (e["f1"].value, codes(e)) == (1.0, {"separator-found"})
    assert "several-labels" in codes(karat.evaluate(gold, pred, metrics=["accuracy"]))
    listed = {str(i): labels for i, labels in enumerate(SETS)}
    assert karat.evaluate(listed, pred, metrics=["f1"])["f1"].value == 1.0
    assert karat.evaluate(gold, listed, metrics=["f1"])["f1"].value == 1.0


def test_lists_as_python_prints_them(tmp_path):
    gold = cells(tmp_path, "gold.csv", *map(str, SETS))
    pred = cells(tmp_path, "pred.csv", *(str(s[::-1]) for s in SETS))
    e = karat.evaluate(gold, pred, metrics=["f1"])
    assert (e.context, e["f1"].value) == ("multilabel", 1.0)


def test_an_empty_cell_is_no_label(tmp_path):
    (tmp_path / "gold.csv").write_text("id,label\n1,a|b\n2,\n")
    gold = tmp_path / "gold.csv"
    e = karat.evaluate(gold, gold, separator="|", metrics=["subset_accuracy"], columns={"value": "label"})
    assert e["subset_accuracy"].value == 1.0


@pytest.mark.parametrize("names", [["Paris, France", "Bonn, Germany"], ["a", "b"], ["A|", "|B"]])
def test_names_with_marks_are_no_sets(names):
    assert "several-labels" not in codes(karat.evaluate(names * 3, names * 3))


def test_a_separator_that_is_nowhere():
    assert "separator-absent" in codes(karat.evaluate(["a", "b"], ["a", "b"], separator="|", context="multilabel"))


def test_of_two_columns_of_tags_the_last_is_the_prediction(tmp_path):
    (tmp_path / "both.conll").write_text("Ada B-PER O\nmet O O\nBob B-PER B-PER\n")
    found = karat.evaluate(tmp_path / "both.conll", metrics=["precision", "recall"])
    assert (found["precision"].value, found["recall"].value) == (1, 1 / 2)  # one of two is found, and nothing else


@pytest.mark.parametrize(
    "names", ["y_true,y_pred", "gold,pred", "text,gold,pred", "label,prediction", "Actual,Predicted"]
)
def test_two_usual_names_are_a_header_also_without_an_id(names, tmp_path):
    width = names.count(",") + 1
    rows = [["some words", "a", "b"], ["more words", "b", "b"], ["the rest", "a", "a"]]
    (tmp_path / "table.csv").write_text("\n".join([names, *(",".join(row[3 - width :]) for row in rows)]) + "\n")
    e = karat.evaluate(tmp_path / "table.csv", metrics=["accuracy"])
    assert e["accuracy"].value == pytest.approx(2 / 3)
    assert e.systems[0].counts["gold"] == 3


@pytest.mark.parametrize("pred", ["label\na\na\nb\n", "a\na\nb\n"])
def test_texts_with_labels_against_a_column_of_labels(pred, tmp_path):
    (tmp_path / "gold.csv").write_text("sentence,label\nhello,a\nworld,b\nagain,b\n")
    (tmp_path / "pred.csv").write_text(pred)
    e = karat.evaluate(tmp_path / "gold.csv", tmp_path / "pred.csv", metrics=["accuracy"])
    assert e["accuracy"].value == pytest.approx(2 / 3)


def test_tags_beside_tokens_are_spans_and_other_tags_are_label_sets(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"id": "1", "tokens": ["Anna", "ran"], "ner_tags": ["B-PER", "O"]}\n')
    (tmp_path / "pred.jsonl").write_text('{"id": "1", "tokens": ["Anna", "ran"], "ner_tags": ["O", "O"]}\n')
    e = karat.evaluate(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl", metrics=["recall"])
    assert (e.context, e["recall"].value) == ("spans", 0.0)
    numbers = tmp_path / "numbers.jsonl"
    numbers.write_text('{"id": "1", "tokens": ["Anna", "ran"], "ner_tags": [1, 0]}\n')
    with pytest.raises(karat.InputError, match="ner_tags holds numbers in place of tags"):
        karat.evaluate(tmp_path / "gold.jsonl", numbers)
    (tmp_path / "sets.jsonl").write_text('{"id": "1", "words": ["x"], "tags": ["python", "web"]}\n')
    sets = tmp_path / "sets.jsonl"
    assert karat.evaluate(sets, sets, columns={"value": "tags"}, metrics=["f1"]).context == "multilabel"
