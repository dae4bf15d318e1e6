"""Scores as people have them: arrays, lists, tables with a column for each class, long tables, objects; and what is wrong."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command

GOLD = ["ham", "spam", "spam", "ham", "spam"]
SPAM = [0.1, 0.7, 0.4, 0.6, 0.9]
AUC = 5 / 6
"""Of 2 · 3 pairs only .4 < .6 is out of order."""


def rows(kind: str) -> list[dict[str, object]]:
    every = list(zip(GOLD, SPAM, strict=True))
    return {
        "single": [{"id": i, "score": p} for i, (_, p) in enumerate(every)],
        "wide": [{"id": i, "ham": 1 - p, "spam": p} for i, (_, p) in enumerate(every)],
        "prefixed": [{"id": i, "prob_ham": 1 - p, "prob_spam": p} for i, (_, p) in enumerate(every)],
        "long": [
            {"id": i, "label": label, "score": s}
            for i, (_, p) in enumerate(every)
            for label, s in (("spam", p), ("ham", 1 - p))
        ],
        "objects": [{"id": i, "value": {"ham": 1 - p, "spam": p}} for i, (_, p) in enumerate(every)],
    }[kind]


@pytest.mark.parametrize("form", ["json", "csv", "frame", "records"])
@pytest.mark.parametrize("kind", ["single", "wide", "prefixed", "long", "objects"])
def test_all_containers_score_alike(kind, form, tmp_path):
    gold, pred = pd.DataFrame({"id": range(5), "label": GOLD}), rows(kind)
    if form == "json":
        (tmp_path / "pred.json").write_text(json.dumps(pred))
        given = tmp_path / "pred.json"
    elif form == "csv":
        frame = pd.DataFrame(pred)
        if kind == "objects":
            frame["value"] = frame["value"].map(json.dumps)
        frame.to_csv(tmp_path / "pred.csv", index=False)
        given = tmp_path / "pred.csv"
    else:
        given = pd.DataFrame(pred) if form == "frame" else pred
    for named in (None, "probabilities"):
        e = karat.evaluate(gold, given, context=named, metrics=["roc_auc", "log_loss"])
        assert e.context == "probabilities"
        assert e["roc_auc"].value == pytest.approx(AUC)
        right = [p if g == "spam" else 1 - p for g, p in zip(GOLD, SPAM, strict=True)]
        assert e["log_loss"].value == pytest.approx(-np.log(right).mean())


def test_columns_without_names_are_golds_labels_in_order():
    e = karat.evaluate(GOLD, np.stack([1 - np.array(SPAM), SPAM], 1))
    assert e["roc_auc"].value == pytest.approx(AUC)
    assert [f.code for f in e.findings] == ["classes-in-order", "positive-class"]
    other = karat.evaluate(GOLD, np.stack([SPAM, 1 - np.array(SPAM)], 1), classes=["spam", "ham"])
    assert other["roc_auc"].value == pytest.approx(AUC)
    with pytest.raises(karat.InputError, match="3 columns, and gold has 2 labels"):
        karat.evaluate(GOLD, np.full((5, 3), 1 / 3))
    with pytest.raises(karat.InputError, match="1 classes are named"):
        karat.evaluate(GOLD, np.full((5, 2), 0.5), classes=["a"])


@pytest.mark.parametrize("kind", [np.array, list])
def test_a_sure_system_has_probabilities_where_classes_are_named(kind):
    """Zeros and ones alone may be a matrix of label sets; with names of classes they are what `predict_proba` gave."""
    e = karat.evaluate(
        ["A", "B", "A"], kind([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), classes=["A", "B"], metrics=["roc_auc"]
    )
    assert (e.context, e["roc_auc"].value) == ("probabilities", 0.25)


def test_truth_and_numbers_are_two_classes():
    e = karat.evaluate(np.array(GOLD) == "spam", SPAM)
    assert (e.context, e["roc_auc"].value) == ("probabilities", pytest.approx(AUC))


def test_the_positive_class_can_be_named():
    e = karat.evaluate(GOLD, 1 - np.array(SPAM), pos_label="ham", metrics=["roc_auc", "average_precision", "f1"])
    assert e["roc_auc"].value == pytest.approx(AUC)
    assert "positive-class" not in [f.code for f in e.findings]
    with pytest.raises(karat.InputError, match="no item has the label 'eggs'"):
        karat.evaluate(GOLD, SPAM, pos_label="eggs")


def test_binary_average_of_labels():
    sklearn = pytest.importorskip("sklearn.metrics")
    pred = ["ham", "spam", "ham", "ham", "spam"]
    for label in ("ham", "spam"):
        for name in ("f1", "precision", "recall"):
            e = karat.evaluate(GOLD, pred, metrics=[f"{name}(average=binary)"], pos_label=label)
            assert e[name].value == pytest.approx(getattr(sklearn, f"{name}_score")(GOLD, pred, pos_label=label))
    several = karat.evaluate([*GOLD, "eggs"], [*pred, "eggs"], metrics=["f1(average=binary)"])["f1"]
    assert several.value is None
    assert "pos_label" in several.undefined


@pytest.mark.parametrize(
    ("gold", "pred", "said"),
    [
        (["a", "b", "c"], [0.1, 0.2, 0.3], "labels"),
        (["a", "b"], [0.1, float("inf")], "no finite number"),
        (["a", "b"], ["a", "b"], "these are labels"),
    ],
)
def test_what_cannot_be_scored_is_said(gold, pred, said):
    with pytest.raises(karat.InputError, match=said):
        karat.evaluate(gold, pred, **({} if said == "labels" else {"context": "probabilities"}))


def test_scores_that_are_no_probabilities_are_ordered_all_the_same():
    e = karat.evaluate(GOLD, [-3.0, 2.5, -0.5, 0.25, 4.0])
    assert e["roc_auc"].value == pytest.approx(AUC)
    assert e["accuracy"].value == pytest.approx(3 / 5)
    assert e["log_loss"].value is None
    ece = karat.evaluate(GOLD, [-3.0, 2.5, -0.5, 0.25, 4.0], metrics=["ece"])["ece"]
    assert (ece.value, "probabilities" in ece.undefined) == (None, True)
    assert "no-probabilities" in [f.code for f in e.findings]


def test_silence_is_the_worst_answer():
    gold, pred = dict(enumerate(GOLD)), dict(enumerate(SPAM))
    for lost in range(5):
        left = {i: p for i, p in pred.items() if i != lost}
        worst = pred | {lost: 0.0 if gold[lost] == "spam" else 1.0}
        names = ["roc_auc", "average_precision", "log_loss", "brier", "accuracy", "ece"]
        one = karat.evaluate(gold, left, context="probabilities", metrics=names)
        two = karat.evaluate(gold, worst, context="probabilities", metrics=names)
        for name in names[:5]:
            assert one[name].value == pytest.approx(two[name].value), name


def test_silence_stands_in_the_bin_of_certain_and_wrong_answers():
    """C is silent and gold "yes": it counts as 0 and stands with B's 0.05 (mean 0.025, one of two a success); A stands alone."""
    e = karat.evaluate(
        {"A": "yes", "B": "no", "C": "yes"}, {"A": 0.8, "B": 0.05}, context="probabilities", missing="wrong",
        metrics=["brier_reliability", "brier_resolution"],
    )  # fmt: skip
    assert e["brier_reliability"].by_class["yes"].value == pytest.approx((0.2**2 + 2 * 0.475**2) / 3)
    # Shares of 1 and 1/2 about 2/3.
    assert e["brier_resolution"].by_class["yes"].value == pytest.approx((1 / 9 + 2 / 36) / 3)


def test_the_command_line(tmp_path):
    pd.DataFrame({"id": range(5), "label": GOLD}).to_csv(tmp_path / "gold.csv", index=False)
    pd.DataFrame(rows("wide")).to_csv(tmp_path / "pred.csv", index=False)
    files = [str(tmp_path / "gold.csv"), str(tmp_path / "pred.csv")]
    asked = ["-m", "roc_auc", "-m", "best(of=f1)", "--pos-label", "spam", "--report", "json"]
    done = CliRunner().invoke(command, ["evaluate", *files, *asked])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["context"] == "probabilities"
    assert found["systems"][0]["metrics"][0]["value"] == pytest.approx(AUC)
    assert [f["code"] for f in found["systems"][0]["findings"]] == ["threshold-tuned"]


def test_two_systems_are_compared():
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, 300)
    good, poor = gold + rng.normal(0, 0.6, 300), gold + rng.normal(0, 3, 300)
    c = karat.compare(gold, {"good": good, "poor": poor}, context="probabilities", metrics=["roc_auc"], draws=199)
    assert c.pairs[0].p < 0.02
    assert c.pairs[0].difference > 0.2


def test_systems_may_give_scores_in_different_forms():
    systems = {"one": SPAM, "each": [{"ham": 1 - p, "spam": p} for p in SPAM]}
    e = karat.evaluate(GOLD, systems, metrics=["roc_auc"])
    assert [s["roc_auc"].value for s in e.systems] == [pytest.approx(AUC)] * 2


def test_the_calibration_of_a_positive_class_needs_one():
    gold, pred = ["a", "b", "c"], [{"a": 0.5, "b": 0.25, "c": 0.25}] * 3
    found = karat.evaluate(gold, pred, context="probabilities", metrics=["ece(of=positive)", "ece"])
    positive, likeliest = found.systems[0]
    assert (positive.value, "pos_label" in positive.undefined) == (None, True)
    assert likeliest.value == pytest.approx(0.5 - 1 / 3)  # a is the likeliest each time, and once right


@pytest.mark.parametrize("context", [None, "probabilities"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "memory"])
def test_a_word_among_the_scores_of_a_class_is_said_with_its_line_and_drops_no_column(form, context, tmp_path):
    ham, spam = [0.1, "oops", 0.3, 0.4, None], [0.9, 0.8, 0.7, 0.6, 0.5]
    frame = pd.DataFrame({"id": range(5), "ham": ham, "spam": spam})
    given = tmp_path / f"pred.{form}"
    if form == "csv":
        frame.to_csv(given, index=False)
    elif form == "jsonl":
        frame.to_json(given, orient="records", lines=True)
    else:
        given = frame
    with pytest.raises(karat.InputError) as refused:
        karat.evaluate(pd.DataFrame({"id": range(5), "label": GOLD}), given, context=context)
    first = 2 if form == "csv" else 1
    assert {(f.code, f.line) for f in refused.value.findings} == {
        ("not-a-number", first + 1),
        ("missing-field", first + 4),
    }
    assert "score of ham 'oops'" in str(refused.value)


def test_a_column_of_words_beside_one_of_numbers_is_no_class():
    gold = pd.DataFrame({"id": range(5), "label": GOLD})
    pred = pd.DataFrame({"id": range(5), "note": ["a", "b", "3", "c", "d"], "spam": SPAM})
    assert karat.evaluate(gold, pred, context="probabilities")["roc_auc"].value == pytest.approx(AUC)
