"""The right column on each side: what newcomers hand in gives the right number, an error, or a warning that is seen."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.sparse import coo_array, csr_array

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


@pytest.mark.parametrize(
    ("mine", "theirs", "expected", "said"),
    [
        ([1, 2, 3], ["2", "1", "3"], 1.0, {"paired-by-index"}),
        (["1", "2", "3"], [2, 1, 3], 1.0, {"paired-by-index"}),
        ([1, 2, 3], [2.0, 1.0, 3.0], 1.0, {"paired-by-index"}),
        ([1, 2, 3], ["1", "2", "3"], 1 / 3, set()),
        ([1, 2, 3], ["2", "1", "4"], 1 / 3, {"index-differs"}),
        ([1, "1", 2], ["2", "1", 3], 1 / 3, {"index-differs"}),
        ([1, 2, 3], ["x", "y", "z"], 1 / 3, set()),
    ],
)
def test_labels_of_an_index_are_the_same_as_ids_are(mine, theirs, expected, said):
    gold, pred = pd.Series(list("abb"), index=mine), pd.Series(list("bab"), index=theirs)
    e = karat.evaluate(gold, pred, metrics=["accuracy"])
    assert (e["accuracy"].value, codes(e) & {"paired-by-index", "index-differs"}) == (expected, said)


def test_an_index_of_several_levels():
    index = pd.MultiIndex.from_tuples([(1, "x"), (2, "y"), (3, "z")])
    gold = pd.Series(list("abb"), index=index)
    e = karat.evaluate(gold, gold.iloc[::-1], metrics=["accuracy"])
    assert (e["accuracy"].value, codes(e)) == (1.0, {"paired-by-index"})


BY_ID = pd.Series({"a": 1, "b": 5, "c": 2})
OF_TABLE = pd.DataFrame({"id": [2, 0, 1], "label": list("xyx"), "w": [1, 5, 2]})


@pytest.mark.parametrize(
    ("gold", "weight"),
    [
        ({"a": "x", "b": "y", "c": "x"}, BY_ID),
        ({"a": "x", "b": "y", "c": "x"}, BY_ID[::-1]),
        ({"a": "x", "b": "y", "c": "x"}, pd.Series({"d": 7, "c": 2, "b": 5, "a": 1})),
        ({"a": "x", "b": "y", "c": "x"}, pd.Series([1, 5, 2])),
        ({1: "x", 2: "y", 3: "x"}, pd.Series([1, 5, 2])),
        ({2: "x", 1: "y", 0: "x"}, pd.Series([2, 5, 1])),
        (list("xyx"), pd.Series([1, 5, 2], index=[3, 2, 1])),
        (list("xyx"), pd.Series([1, 5, 2], index=["r", "q", "q"])),
        (OF_TABLE[["id", "label"]], OF_TABLE["w"]),
        (OF_TABLE[["id", "label"]], OF_TABLE["w"][::-1]),
        (OF_TABLE[["id", "label"]], OF_TABLE.set_index("id")["w"]),
        (OF_TABLE[["id", "label"]], OF_TABLE.set_index("id")["w"].sort_index()),
        (OF_TABLE[["id", "label"]].assign(id=list("klm")), pd.Series({"m": 2, "l": 5, "k": 1})),
    ],
)
def test_weights_by_the_ids_of_gold(gold, weight):
    pred = dict.fromkeys(gold, "x") if isinstance(gold, dict) else ["x"] * 3 if isinstance(gold, list) else gold.assign(label="x")  # fmt: skip
    assert karat.evaluate(gold, pred, metrics=["accuracy"], weight=weight)["accuracy"].value == 3 / 8
    e = karat.evaluate(gold, pred, metrics=["accuracy"], slices={"z": weight.map(lambda w: f"w{w}")})
    sliced = e.systems[0].sliced["z"]
    assert [sliced.names[place] for place in sliced.place] == ["w1", "w5", "w2"]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("ids", [[3, 1, 2], [1, 2, 3], ["b", "a", "c"]])
def test_a_series_and_a_dict_meet_by_ids(ids, turned):
    named, series = dict(zip(sorted(ids), "xyy", strict=True)), pd.Series(list("yxy"), index=ids)
    expected = sum(named[i] == series[i] for i in ids) / 3
    gold, pred = (series, named) if turned else (named, series)
    assert karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value == expected


def test_a_series_beside_ids_that_no_text_holds():
    series = pd.Series(["A"])
    assert refused({10**5000: "A"}, series) == refused(series, {10**5000: "A"}) == {"data-unreadable"}
    assert refused({"a": "x", "b": "y"}, pd.Series(["x"], index=[10**5000])) == {"ids-on-one-side"}


def test_rows_left_out_leave_their_places():
    """Rows that were dropped are no ids: the others keep the places that they had."""
    gold, pred = [["a"], ["b"], ["c"]], [["a"], [], ["c"]]
    e = karat.evaluate(gold, pred, metrics=["recall"], faulty="drop")
    assert (e["recall"].value, e["recall"].by_class["c"].value) == (2 / 3, 1)
    assert refused(gold, pred[:2], faulty="drop") == {"length-differs"}


def test_ids_on_one_side_alone():
    assert refused({3: "a", 1: "b", 2: "a"}, list("aba")) == {"ids-on-one-side"}
    assert refused(list("aba"), {0: "a", 1: "b", 2: "a"}) == {"ids-on-one-side"}
    assert refused({1: "a", 2: "b", 3: "a"}, list("ab")) == {"ids-on-one-side"}
    assert accuracy({1: "a", 2: "b", 3: "b"}, list("aba")) == 2 / 3
    with pytest.raises(karat.InputError, match=r"the prediction has ids \('0', '1'\) and gold has none"):
        karat.evaluate(list("ab"), {0: "a", 1: "b"})


def test_a_weight_of_an_id_that_gold_lacks():
    weight = pd.Series({"a": 1, "b": 5, "d": 2})
    assert refused({"a": "x", "b": "y", "c": "x"}, {"a": "x", "b": "x", "c": "x"}, weight=weight) == {"weight-missing"}


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


def runs(tmp_path):
    (tmp_path / "a.conll").write_text("Anna B-PER\nran O\n")
    (tmp_path / "a.jsonl").write_text(
        '{"id": "1", "text": "Anna", "spans": [{"start": 0, "end": 4, "label": "PER"}]}\n'
    )
    (tmp_path / "soft.csv").write_text("id,label,score\n1,a,0.3\n1,b,0.7\n")
    return [
        cells(tmp_path, "a.csv", "a", "b"),
        *(tmp_path / name for name in ("a.conll", "a.jsonl", "soft.csv")),
    ]


@pytest.mark.parametrize("which", range(4))
def test_a_file_against_itself_is_an_error_unless_it_is_meant(which, tmp_path):
    file = runs(tmp_path)[which]
    assert refused(file, file) <= {"same-file", "same-column"}
    assert not codes(karat.evaluate(file, file, allow_same=True)) & {"same-file", "same-column"}
    asked = CliRunner().invoke(command, ["evaluate", str(file), str(file)])
    assert (asked.exit_code, "--allow-same" in asked.output) == (2, True)
    assert CliRunner().invoke(command, ["evaluate", str(file), str(file), "--allow-same"]).exit_code == 0
    again = CliRunner().invoke(command, ["compare", str(file), str(file), str(file), "--name", "a", "--name", "b"])
    assert (again.exit_code, "--allow-same" in again.output) == (2, True)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_in_memory_against_itself_is_an_error_unless_it_is_meant(make):
    table = make({"id": [1, 2], "label": ["a", "b"]})
    with pytest.raises(karat.InputError, match="allow_same=True"):
        karat.evaluate(table, table)
    assert accuracy(table, table, allow_same=True) == 1.0
    assert accuracy(table, make({"id": [1, 2], "label": ["a", "b"]})) == 1.0  # another table that is equal


def test_a_column_that_both_sides_name_is_one_column(tmp_path):
    (tmp_path / "t.csv").write_text("id,y_true,y_pred\n1,a,b\n2,b,b\n")
    for said in ({"value": "y_true"}, {"gold_value": "y_pred", "pred_value": "y_pred"}):
        assert refused(tmp_path / "t.csv", tmp_path / "t.csv", columns=said) == {"same-column"}


def test_a_kept_run_against_itself_is_verified(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells(tmp_path, "a.csv", "a|b", "b")
    line = ["evaluate", "a.csv", "a.csv", "--allow-same", "--separator", "|", "--report", "json", "-o", "report.json"]
    assert CliRunner().invoke(command, line).exit_code == 0
    checked = CliRunner().invoke(command, ["verify", "report.json"])
    assert (checked.exit_code, "changed" in checked.output) == (0, False)


def test_votes_alone_give_the_agreement_of_the_annotators(tmp_path):
    rows = [(i, name, label) for i in range(8) for name, label in (("ann", "ab"[i % 2]), ("ben", "ab"[i > 3]))]
    (tmp_path / "votes.csv").write_text("id,annotator,label\n" + "".join(f"{i},{n},{v}\n" for i, n, v in rows))
    votes = tmp_path / "votes.csv"
    assert karat.evaluate(votes)["percent_agreement"].value == 0.5  # items 0, 2, 5, 7 of 8
    assert {s.metric.name for s in karat.evaluate(votes).only} <= {"percent_agreement", "fleiss_kappa", "pairwise_kappa", "krippendorff_alpha"}  # fmt: skip
    assert karat.evaluate(votes, votes, metrics=["fleiss_kappa"])["fleiss_kappa"].value is not None
    assert (
        refused(votes, metrics=["accuracy"]) == refused(votes, votes, metrics=["fleiss_kappa", "f1"]) == {"votes-alone"}
    )


@pytest.mark.parametrize("kind", [int, float, bool])
def test_rows_of_zeros_and_ones(kind):
    gold, pred = ([list(map(kind, row)) for row in rows] for rows in ([[1, 0, 1], [0, 1, 0]], [[0, 1, 1], [0, 1, 0]]))
    e = karat.evaluate(gold, pred, metrics=["f1"])
    assert e["f1"].value == karat.evaluate(np.array(gold), np.array(pred), metrics=["f1"])["f1"].value
    assert codes(e) == {"indicator-rows"}
    narrow = [[kind(1), kind(0)], [kind(0), kind(1)]]
    assert refused(narrow, narrow[::-1]) == {"indicator-rows-unclear"}


FORMS = [
    np.array,
    lambda x: np.array(x, bool),
    lambda x: csr_array(np.array(x)),
    lambda x: coo_array(np.array(x)),
    list,
]


@pytest.mark.parametrize("of_gold", FORMS)
@pytest.mark.parametrize("of_pred", FORMS)
def test_matrices_of_unlike_width_do_not_meet(of_gold, of_pred):
    three, two = [[1, 0, 0], [0, 1, 0], [1, 1, 0]], [[1, 0], [0, 1], [1, 1]]
    e = karat.evaluate(of_gold(three), of_pred(three), metrics=["accuracy"])
    assert e["accuracy"].value == 1  # a list beside an array is one, too
    for gold, pred, said in ((three, two, "3 columns, the prediction one of 2"), (two, three, "2 columns")):
        with pytest.raises(karat.InputError, match=said) as error:
            karat.evaluate(of_gold(gold), of_pred(pred), metrics=["accuracy"])
        assert [f.code for f in error.value.findings] == ["indicator-widths"]


def test_the_system_whose_matrix_is_narrower_is_named():
    three, two = np.array([[1, 0, 0], [0, 1, 0]]), np.array([[1, 0], [0, 1]])
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(three, {"wide": three, "narrow": two, "listed": [["0"], ["1"]]})
    assert [(f.code, f.file) for f in error.value.findings] == [("indicator-widths", "narrow")]
    assert refused(np.array([[1], [0]]), three, context="multilabel") == {"indicator-widths"}


def test_two_columns_in_an_array_say_what_rows_of_two_are():
    gold, pred = np.array([[1, 0], [0, 1]]), [[0, 1], [0, 1]]
    assert karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value == 0.5
    assert karat.evaluate(pred, gold, metrics=["accuracy"])["accuracy"].value == 0.5


def test_an_array_beside_lists_of_labels_has_no_width_to_differ():
    e = karat.evaluate(np.array([[1, 0, 0], [0, 1, 1]]), [["0"], ["2", "1"]], metrics=["accuracy"])
    assert e["accuracy"].value == 1
    texts = np.array(["a|b", "a"], object)
    assert karat.evaluate(texts, texts.copy(), metrics=["accuracy"], separator="|")["accuracy"].value == 1
    assert karat.evaluate(texts[:, None], texts, metrics=["accuracy"], separator="|")["accuracy"].value == 1


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


def test_labels_of_which_some_stand_alone_look_like_several(tmp_path):
    gold = cells(tmp_path, "gold.csv", "beach;sea", "city", "beach;sea")
    pred = cells(tmp_path, "pred.csv", "beach", "city;night", "beach")
    assert "several-labels" in codes(karat.evaluate(gold, pred, metrics=["accuracy"]))
    one = cells(tmp_path, "one.csv", "Sports, Football", "Sports, Tennis", "Sports")
    assert "several-labels" not in codes(karat.evaluate(one, one, metrics=["accuracy"], allow_same=True))


def test_lists_as_python_prints_them(tmp_path):
    gold = cells(tmp_path, "gold.csv", *map(str, SETS))
    pred = cells(tmp_path, "pred.csv", *(str(s[::-1]) for s in SETS))
    e = karat.evaluate(gold, pred, metrics=["f1"])
    assert (e.context, e["f1"].value) == ("multilabel", 1.0)


def test_an_empty_cell_is_no_label(tmp_path):
    (tmp_path / "gold.csv").write_text("id,label\n1,a|b\n2,\n")
    gold = tmp_path / "gold.csv"
    e = karat.evaluate(
        gold, gold, separator="|", metrics=["subset_accuracy"], columns={"value": "label"}, allow_same=True
    )
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
    assert (
        karat.evaluate(sets, sets, columns={"value": "tags"}, metrics=["f1"], allow_same=True).context == "multilabel"
    )


# ---- tables as pandas writes them, and columns that are not what they are called


def test_the_index_that_pandas_writes_pairs_the_rows(tmp_path):
    """`frame.to_csv("out.csv")` leaves the name of the first column blank."""
    pd.DataFrame({"label": LABELS}).to_csv(tmp_path / "gold.csv")
    pd.DataFrame({"prediction": GUESSES}).sample(frac=1, random_state=3).to_csv(tmp_path / "out.csv")
    assert accuracy(tmp_path / "gold.csv", tmp_path / "out.csv") == 0.25
    pd.read_csv(tmp_path / "out.csv").to_csv(tmp_path / "out.csv", index=False)  # Unnamed: 0
    assert accuracy(tmp_path / "gold.csv", tmp_path / "out.csv") == 0.25
    pd.DataFrame({"label": LABELS}, index=[4, 2, 7, 5]).to_parquet(tmp_path / "gold.parquet")
    pd.DataFrame({"y_pred": GUESSES[::-1]}, index=[5, 7, 2, 4]).to_parquet(tmp_path / "out.parquet")
    assert accuracy(tmp_path / "gold.parquet", tmp_path / "out.parquet") == 0.25


def test_a_header_with_a_blank_first_name_is_no_record(tmp_path):
    pd.DataFrame({"sentiment": LABELS, "bert": GUESSES}).to_csv(tmp_path / "both.csv")
    assert refused(tmp_path / "both.csv", tmp_path / "both.csv") == {"missing-column"}
    columns = {"gold_value": "sentiment", "pred_value": "bert"}
    assert accuracy(tmp_path / "both.csv", columns=columns) == 0.25
    (tmp_path / "bare.csv").write_text(",1,a\n,2,b\n")  # three columns without a header, and no test case
    assert karat.evaluate(tmp_path / "bare.csv", {"1": "a", "2": "b"}).systems[0].counts["gold"] == 2


def test_row_numbers_beside_another_key_are_said(tmp_path):
    """Who sorted the rows and numbered them anew has numbers that mean nothing."""
    rows = pd.DataFrame({"tweet_id": [7, 5, 9, 8], "label": LABELS})
    rows.to_csv(tmp_path / "gold.csv")
    out = pd.DataFrame({"tweet_id": [5, 7, 8, 9], "prediction": ["neg", "pos", "neg", "pos"]})
    out.to_csv(tmp_path / "out.csv")
    assert "paired-by-position" in codes(karat.evaluate(tmp_path / "gold.csv", tmp_path / "out.csv"))
    assert accuracy(tmp_path / "gold.csv", tmp_path / "out.csv", columns={"id": "tweet_id"}) == 1.0


@pytest.mark.parametrize("name", ["topic", "query"])
def test_a_topic_is_said_to_be_taken_for_the_test_case(name):
    table = {"id": [1, 2, 3, 4], name: ["x", "x", "x", "y"], "label": LABELS, "prediction": GUESSES}
    e = karat.evaluate(table, metrics=["accuracy"])
    assert e["accuracy"].value == pytest.approx((1 / 3 + 0) / 2)
    assert codes(e) == {"test-case-found"}
    assert f"the column {name!r} is taken for the test case: each score is a mean over its 2 values" in str(e)
    assert accuracy(table, columns={"test_case": ""}) == 0.25
    assert codes(karat.evaluate(table, columns={"test_case": name})) == set()
    votes = table | {"annotator": ["ann"] * 4}
    assert "test-case-found" in codes(karat.evaluate(votes))
    table["test_case"] = table.pop(name)
    assert codes(karat.evaluate(table)) == set()


def test_a_topic_that_only_gold_has_can_be_left_unread(tmp_path):
    (tmp_path / "gold.csv").write_text("id,topic,label\n1,x,a\n2,x,b\n3,y,a\n")
    (tmp_path / "out.csv").write_text("id,label\n1,a\n2,a\n3,a\n")
    line = ["evaluate", str(tmp_path / "gold.csv"), str(tmp_path / "out.csv"), "-m", "accuracy"]
    asked = CliRunner().invoke(command, line)
    assert (asked.exit_code, "--test-case ''" in asked.output) == (2, True)
    found = CliRunner().invoke(command, [*line, "--test-case", ""])
    assert (found.exit_code, "0.6667" in found.stdout) == (0, True)


@pytest.mark.parametrize("gold", ["y", "target", "class"])
@pytest.mark.parametrize("prediction", ["label", "value"])
def test_gold_that_holds_the_predictions_under_a_plainer_name_is_doubted(gold, prediction):
    both = pd.DataFrame({"id": [1, 2, 3, 4], gold: LABELS, prediction: GUESSES})
    e = karat.evaluate(both, both[["id", prediction]], metrics=["accuracy"])
    assert e["accuracy"].value == 1.0
    assert "equal-to-gold" in codes(e)


def test_the_id_of_a_row_comes_before_the_document_that_it_is_of():
    table = pd.DataFrame({"uid": [1, 2, 3, 4], "document": list("aabb"), "label": LABELS, "prediction": GUESSES})
    assert accuracy(table) == 0.25


# ---- a column for each annotator


def test_votes_of_annotators_side_by_side(tmp_path):
    wide = pd.DataFrame(
        {"id": [1, 2, 3], "text": ["x", "y", "z"], "ann": list("aab"), "ben": ["a", None, "a"], "cas": list("bab")}
    )
    wide.to_csv(tmp_path / "wide.csv", index=False)
    long = wide.drop(columns="text").melt("id", var_name="annotator", value_name="label").dropna()
    long.to_csv(tmp_path / "long.csv", index=False)
    answers = {"1": {"a": 0.6, "b": 0.4}, "2": {"a": 1.0}, "3": {"b": 0.5, "a": 0.5}}
    given = [karat.evaluate(tmp_path / name, answers, context="soft") for name in ("wide.csv", "long.csv")]
    assert [s.value for s in given[0].only] == [s.value for s in given[1].only]
    assert "annotator-columns" in codes(given[0])
    alone = karat.evaluate(tmp_path / "wide.csv", context="soft"), karat.evaluate(tmp_path / "long.csv")
    assert [s.value for s in alone[0].only] == [s.value for s in alone[1].only]
    with pytest.raises(karat.InputError, match='context="soft" where each annotator has a column'):
        karat.evaluate(tmp_path / "wide.csv", answers)


# ---- pages that name their file


def pages(tmp_path, name, files, start=1):
    rows = [f"{bundle},{i},{file}\n" for bundle, named in files.items() for i, file in enumerate(named, start)]
    (tmp_path / name).write_text("bundle,page,doc_id\n" + "".join(rows))
    return tmp_path / name


def test_pages_that_name_the_file_that_they_belong_to(tmp_path):
    gold = pages(tmp_path, "gold.csv", {"b1": "aabbb", "b2": "cc"})
    pred = pages(tmp_path, "pred.csv", {"b2": "11", "b1": "11123"})
    e = karat.evaluate(gold, pred, metrics=["tp", "fp", "fn", "file_f1"])
    assert e.context == "splitting"
    # gold begins files at b1 1, 3 and b2 1; the prediction at b1 1, 4, 5 and b2 1
    assert [e[name].value for name in ("tp", "fp", "fn")] == [2, 2, 1]
    rows = gold.read_text().splitlines()
    (tmp_path / "mixed.csv").write_text("\n".join([rows[0], *rows[:0:-1]]) + "\n")
    mixed = karat.evaluate(tmp_path / "mixed.csv", pred, metrics=["tp", "fp", "fn", "file_f1"])
    assert [s.value for s in mixed.only] == [s.value for s in e.only]


def test_pages_counted_from_zero_on_one_side_are_one_error(tmp_path):
    gold = pages(tmp_path, "gold.csv", {"b1": "aabbb", "b2": "cc"})
    pred = pages(tmp_path, "pred.csv", {"b1": "aabbb", "b2": "cc"}, start=0)
    assert refused(gold, pred) == refused(pred, gold) == {"pages-from-zero"}
    assert refused(gold, pred, missing_pages="truncate") == {"pages-from-zero"}


# ---- scores beside labels


SCORES = [0.9, 0.2, 0.4, 0.6]
"""Against pos, neg, pos, neg: three of four pairs are in order."""


def area(*given, **how):
    e = karat.evaluate(*given, metrics=["roc_auc"], **how)
    return e.context, e["roc_auc"].value


def test_one_table_of_labels_and_scores(tmp_path):
    ids, labels = [1, 2, 3, 4], LABELS
    tables = [
        {"id": ids, "label": labels, "score": SCORES},
        {"id": ids, "label": labels, "neg": [1 - s for s in SCORES], "pos": SCORES},
        {"id": ids, "label": [1, 0, 1, 0], "0": [1 - s for s in SCORES], "1": SCORES},
    ]
    for number, table in enumerate(tables):
        file = tmp_path / f"{number}.csv"
        pd.DataFrame(table).to_csv(file, index=False)
        assert area(file) == area(pd.DataFrame(table)) == ("probabilities", 0.75)


def test_one_large_table_of_labels_and_scores(tmp_path):
    """Such tables are counted where they are, without their rows."""
    pd.DataFrame({"id": range(24_000), "label": LABELS * 6_000, "score": SCORES * 6_000}).to_csv(tmp_path / "t.csv")
    assert area(tmp_path / "t.csv") == ("probabilities", 0.75)


def test_of_two_numbers_the_larger_is_positive_as_in_scikit_learn():
    for labels in ([1, 0, 1, 0], [2, 1, 2, 1], [1, -1, 1, -1], [10, 9, 10, 9]):
        assert area(labels, SCORES) == ("probabilities", 0.75)


def test_a_positive_class_that_only_the_order_tells_is_said():
    e = karat.evaluate(["good", "bad", "good", "bad"], SCORES)
    assert (e["roc_auc"].value, codes(e)) == (0.75, {"positive-class-guessed"})
    assert "nothing says whether the scores are those of 'good' or of 'bad'" in str(e)
    assert codes(karat.evaluate(["good", "bad", "good", "bad"], SCORES, pos_label="good")) == set()
    assert codes(karat.evaluate(["good", "bad"] * 2, [{"bad": 1 - s, "good": s} for s in SCORES])) == {"positive-class"}
    assert codes(karat.evaluate(LABELS, SCORES)) == {"positive-class"}


def test_a_column_of_scores_or_labels_is_as_good_as_a_row():
    truth = np.array([1, 0, 1, 0])
    assert area(truth[:, None], np.array(SCORES)[:, None]) == ("probabilities", 0.75)
    assert accuracy(truth[:, None], np.array([[0], [0], [0], [1]])) == 0.25
    one = karat.evaluate(truth[:, None], truth[:, None], context="multilabel", metrics=["f1"])
    assert one["f1"].by_class.keys() == {"0"}


def test_digits_are_labels_whatever_type_they_have():
    e = karat.evaluate(["1", "0", "1"], np.array([1, 1, 1]))
    assert (e.context, e["accuracy"].value) == ("monolabel", pytest.approx(2 / 3))


def columns(**given):
    return [
        {"id": str(i), **dict(zip(given, row, strict=True))} for i, row in enumerate(zip(*given.values(), strict=True))
    ]


PLAIN = columns(value="ab")


@pytest.mark.parametrize(
    ("gold", "pred", "said"),
    [
        (columns(value="ab", label="aa"), PLAIN, "the gold values are read from 'value'; label could hold them too"),
        (PLAIN, columns(labels="ab", label="aa"), "the predictions are read from 'label'; labels could hold them too"),
        (columns(pred="ab"), PLAIN, "the gold values are read from 'pred', which is a name of predictions"),
        (columns(pred="ab", text="xy"), PLAIN, "the gold values are read from 'pred', which is a name of predictions"),
        (PLAIN, columns(actual="ab"), "the predictions are read from 'actual', which is a name of gold values"),
        (columns(gold="ab", note="xy"), PLAIN, None),
        (columns(label="ab", category="aa"), PLAIN, None),
    ],
)
def test_a_column_that_another_could_stand_for_is_said(gold, pred, said):
    found = [f.message for f in karat.evaluate(gold, pred).findings if f.code.startswith("value-column")]
    assert found == ([said] if said else [])


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (columns(gold="ab", y_true="aa"), "gold, y_true could all hold the gold values"),
        (columns(pred="ab", note="xy"), "'pred' is a name of predictions, and no other column is known"),
    ],
)
def test_a_column_that_nobody_can_choose_is_asked_for(gold, said):
    with pytest.raises(karat.InputError, match=said) as caught:
        karat.evaluate(gold, PLAIN)
    assert [f.code for f in caught.value.findings] == ["value-column-unclear"]


def test_votes_beside_predictions_are_scored_and_not_compared_with_each_other(tmp_path):
    """One table with a row for each annotator, gold and a prediction."""
    table = {"id": [1, 2, 3, 4], "annotator": ["ann"] * 4, "y_true": LABELS, "y_pred": GUESSES}
    pd.DataFrame(table).to_csv(tmp_path / "both.csv", index=False)
    for given in ((tmp_path / "both.csv",), (tmp_path / "both.csv", tmp_path / "both.csv")):
        assert karat.evaluate(*given)["accuracy"].value == 0.25


def test_clusters_beside_labels_of_an_unknown_name_are_doubted():
    gold = pd.DataFrame({"id": [1, 2, 3, 4], "cluster": [0, 1, 0, 1], "true_label": [1, 0, 1, 0]})
    pred = pd.DataFrame({"id": [1, 2, 3, 4], "cluster": [0, 1, 0, 1], "bert": [1, 0, 1, 1]})
    assert "value-column-chosen" in codes(karat.evaluate(gold, pred))
    columns = ["id", "cluster"]
    assert "value-column-chosen" not in codes(karat.evaluate(gold[columns], pred[columns], context="clustering"))


@pytest.mark.parametrize("make", frames())
def test_rows_whose_texts_stand_in_another_order_are_doubted(make):
    gold = make({"text": ["x", "y", "z"], "label": ["a", "b", "a"]})
    same = make({"text": ["x", "y", "z"], "prediction": ["a", "b", "a"]})
    turned = make({"text": ["y", "x", "z"], "prediction": ["b", "a", "a"]})
    (said,) = [f for f in karat.evaluate(gold, turned).findings if f.code == "rows-differ"]
    assert "2 rows have another text" in said.message
    assert not [f for f in karat.evaluate(gold, same).findings if f.code == "rows-differ"]


SHAPES = {
    "multilabel": lambda label: [[label(1)], [label(0)], [label(1)]],
    "soft": lambda label: [{label(1): 0.25, label(0): 0.75}, {label(1): 0.5, label(0): 0.5}],
    "spans": lambda label: [{"spans": [{"start": at, "end": at + 3, "label": label(at % 2)}]} for at in range(4)],
    "clustering": lambda label: [label(1), label(0), label(1)],
    "monolabel": lambda label: [label(1), label(0), label(1)],
}


@pytest.mark.parametrize("context", SHAPES)
@pytest.mark.parametrize("one", [bool, int, str, lambda bit: str(bool(bit)), lambda bit: np.bool_(bit)])
@pytest.mark.parametrize("other", [bool, lambda bit: str(bool(bit)).lower()])
def test_truth_is_one_label_in_every_shape(context, one, other):
    shape = SHAPES[context]
    for gold, pred in ((one, other), (other, one)):
        e = karat.evaluate(shape(gold), shape(pred), context=context)
        same = karat.evaluate(shape(gold), shape(gold), context=context)
        assert [s.value for s in e.only] == [s.value for s in same.only]
        assert [f.code for f in e.findings if f.severity != "note"] == [
            f.code for f in same.findings if f.severity != "note"
        ]


def test_truth_beside_more_numbers_is_one():
    e = karat.evaluate([1, 0, 2, 1], [True, False, True, True], context="monolabel", metrics=["accuracy"])
    assert (e["accuracy"].value, [f.code for f in e.findings if f.severity != "note"]) == (0.75, [])


def test_columns_of_a_matrix_are_no_truth():
    matrix = np.array([[0, 1], [1, 0], [1, 1]])
    e = karat.evaluate(matrix, [["true"], ["false"], ["true", "false"]], metrics=["f1(average=micro)"])
    assert [f.code for f in e.findings if f.severity == "warning"] == ["no-common-labels"]


@pytest.mark.parametrize(("gold", "pred"), [([True, False], ["True", "False"]), (["true", "false"], ["TRUE", "FALSE"])])
def test_true_and_false_are_spelt_in_any_case(gold, pred):
    e = karat.evaluate(gold, pred, metrics=["accuracy"])
    assert (e["accuracy"].value, [f.code for f in e.findings]) == (1.0, [])


def test_a_class_of_gold_without_a_column_of_scores_is_said():
    gold = pd.DataFrame({"id": [1, 2, 3], "label": ["a", "b", "c"]})
    scores = pd.DataFrame({"id": [1, 2, 3], "a": [0.9, 0.2, 0.6], "b": [0.1, 0.8, 0.4]})
    e = karat.evaluate(gold, scores, metrics=["log_loss"])
    assert [f.code for f in e.findings if f.severity == "warning"] == ["class-without-scores"]
    assert "'c'" in e.findings[-1].message


def test_other_numbers_beside_columns_that_are_called_scores():
    """A length beside prob_a and prob_b was a third class, whose scores had no part in gold's: ROC AUC .5, without an error."""
    gold = pd.DataFrame({"id": [1, 2, 3, 4], "label": list("abab")})
    scores = pd.DataFrame({"id": [1, 2, 3, 4], "length": [10, 20, 30, 5], "prob_a": [0.9, 0.2, 0.6, 0.3], "prob_b": [0.1, 0.8, 0.4, 0.7]})  # fmt: skip
    e = karat.evaluate(gold, scores, metrics=["roc_auc", "log_loss"])
    assert (e["roc_auc"].value, e["log_loss"].undefined) == (1.0, None)
    assert [f.message for f in e.findings if f.code == "extra-fields"] == ["ignored: length"]


def test_scores_of_no_class_of_gold():
    gold = pd.DataFrame({"id": [1, 2], "label": list("ab")})
    scores = pd.DataFrame({"id": [1, 2], "length": [10, 20], "p_a": [0.9, 0.2], "p_b": [0.1, 0.8]})
    assert refused(gold, scores) == {"no-class-has-scores"}


@pytest.mark.parametrize("spelt", [".9", "0.9", "9e-1", "+.9"])
def test_scores_in_a_named_column_are_spelt_as_anywhere(spelt, tmp_path):
    (tmp_path / "t.csv").write_text(f"id,y_true,prob_spam\n1,spam,{spelt}\n2,ham,.2\n")
    columns = {"gold_value": "y_true", "pred_value": "prob_spam"}
    e = karat.evaluate(tmp_path / "t.csv", columns=columns, context="probabilities", metrics=["brier"], pos_label="spam")  # fmt: skip
    assert e["brier"].value == pytest.approx((0.1**2 + 0.2**2) / 2)
