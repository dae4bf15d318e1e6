# SPDX-License-Identifier: Apache-2.0
"""The context from end to end: shapes of input, options, findings, tables, and values against outside tools."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn import metrics as sklearn

import karat
from karat.cells import Dense
from karat.contexts import catalogue
from karat.contexts.splitting import metrics_thresholds as thresholds
from karat.contexts.splitting import tables
from karat.contexts.splitting.checks import LARGEST
from karat.contexts.splitting.context import _last_known
from karat.contexts.splitting.paired import Paired
from karat.findings import InputError

RECORDS = [json.loads(line) for line in Path(__file__).parent.joinpath("../data/segmentation.jsonl").open()]
GOLD = {"20": ("1", [1, 0, 0]), "21": ("2", [1, 0, 1, 0, 1])}
PRED = {"20": ("1", [1, 0, 0]), "21": ("2", [1, 0, 1, 0, 0])}


def nested(side):
    return [
        {
            "document_id": name,
            "category": category,
            "pages": [{"number": i, "is_first_page": bool(f)} for i, f in enumerate(flags, 1)],
        }
        for name, (category, flags) in side.items()
    ]


def long(side):
    return [
        {"document": name, "page": i, "is_first_page": bool(flag), "category": category}
        for name, (category, flags) in side.items()
        for i, flag in enumerate(flags, 1)
    ]


def points(side):
    return [
        {"document_id": n, "category": c, "pages": len(f), "first_pages": [i for i, x in enumerate(f, 1) if x]}
        for n, (c, f) in side.items()
    ]


def ranges(flags):
    starts = [i for i, x in enumerate(flags, 1) if x]
    return [[a, b - 1] for a, b in zip(starts, [*starts[1:], len(flags) + 1], strict=True)]


def files(side):
    return [{"document_id": n, "category": c, "files": ranges(f)} for n, (c, f) in side.items()]


def written(tmp_path, name, records):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(record) for record in records))
    return path


def codes(error):
    return [f.code for f in error.value.findings]


def check_worked_example(evaluation):
    value = {name: evaluation[name].value for name in ("tp", "fp", "fn", "tn", "precision", "recall")}
    assert value == {"tp": 3, "fp": 0, "fn": 1, "tn": 4, "precision": 1, "recall": 0.75}
    assert evaluation["f1"].value == pytest.approx(6 / 7)
    by_category = {n: [evaluation[n].by_class[c].value for c in "12"] for n in ("tp", "fp", "fn", "tn", "f1")}
    assert by_category == {"tp": [1, 2], "fp": [0, 0], "fn": [0, 1], "tn": [2, 2], "f1": [1, pytest.approx(0.8)]}


METRICS = ["tp", "fp", "fn", "tn", "precision", "recall", "f1"]


@pytest.mark.parametrize("shaped", [nested, long, points, files])
def test_worked_example_in_memory(shaped):
    check_worked_example(karat.evaluate(shaped(GOLD), shaped(PRED), metrics=METRICS))


@pytest.mark.parametrize("shaped", [nested, long, points, files])
def test_worked_example_from_json_lines(shaped, tmp_path):
    gold, pred = (written(tmp_path, n, shaped(s)) for n, s in (("gold.jsonl", GOLD), ("pred.jsonl", PRED)))
    check_worked_example(karat.evaluate(gold, pred, metrics=METRICS))


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, lambda r: pyarrow.Table.from_pylist(r)])
@pytest.mark.parametrize("shaped", [nested, long, points, files])
def test_worked_example_from_frames(shaped, frame):
    check_worked_example(karat.evaluate(frame(shaped(GOLD)), frame(shaped(PRED)), metrics=METRICS))


@pytest.mark.parametrize("shaped", [nested, long, points])
def test_worked_example_from_parquet(shaped, tmp_path):
    for name, side in (("gold", GOLD), ("pred", PRED)):
        polars.DataFrame(shaped(side)).write_parquet(tmp_path / f"{name}.parquet")
    check_worked_example(karat.evaluate(tmp_path / "gold.parquet", tmp_path / "pred.parquet", metrics=METRICS))


def test_worked_example_from_csv(tmp_path):
    for name, side in (("gold", GOLD), ("pred", PRED)):
        pandas.DataFrame(long(side)).to_csv(tmp_path / f"{name}.csv", index=False)
    check_worked_example(karat.evaluate(tmp_path / "gold.csv", tmp_path / "pred.csv", metrics=METRICS))


def test_worked_example_from_csv_of_ranges(tmp_path):
    for name, side in (("gold", GOLD), ("pred", PRED)):
        rows = [f"{n},{a},{b},{c}" for n, (c, f) in side.items() for a, b in ranges(f)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["document,first_page,last_page,category", *rows]))
    check_worked_example(karat.evaluate(tmp_path / "gold.csv", tmp_path / "pred.csv", metrics=METRICS))


def test_ranges_and_points_as_text(tmp_path):
    (tmp_path / "gold.tsv").write_text("document\tfiles\tcategory\n20\t1-3\t1\n21\t1-2, 3-4, 5\t2\n")
    (tmp_path / "pred.csv").write_text("document,first_pages,category\n20,1,1\n21,1 3,2\n")
    check_worked_example(karat.evaluate(tmp_path / "gold.tsv", tmp_path / "pred.csv", metrics=METRICS))


def test_sides_may_have_different_shapes_and_orders():
    check_worked_example(karat.evaluate(nested(GOLD), long(PRED)[::-1], metrics=METRICS))


def test_other_data_with_pages_are_left_to_other_contexts():
    books = [{"id": "1", "label": "novel", "pages": 312}, {"id": "2", "label": "poem", "pages": 2}]
    assert karat.evaluate(books, list(books)).context == "monolabel"
    labelled = [{"id": "1", "value": "novel", "first_pages": "1"}]
    assert karat.evaluate(labelled, list(labelled)).context == "monolabel"


def test_scores_do_not_depend_on_the_order_of_bundles(scored):
    _, _, gold_frame, pred_frame = scored
    metrics = [d.name for d in catalogue("splitting")]
    whole = karat.evaluate(gold_frame, pred_frame, metrics=metrics)
    mixed = karat.evaluate(
        gold_frame.sample(frac=1, random_state=1), pred_frame.sample(frac=1, random_state=2), metrics=metrics
    )
    assert [s.value for s in whole.systems[0]] == pytest.approx([s.value for s in mixed.systems[0]])


def test_gold_against_itself_is_best(scored):
    _, _, gold_frame, _ = scored
    e = karat.evaluate(gold_frame, gold_frame.assign(confidence=gold_frame.is_first_page * 1.0), metrics=["all"])
    definitions = catalogue("splitting")
    for score in e.systems[0]:
        best = definitions[score.metric.name].best
        assert score.value is None or best is None or score.value == pytest.approx(best), score.metric


def test_bare_flags():
    e = karat.evaluate(
        [{"id": "a", "pages": [True, False, True]}], [{"id": "a", "pages": [True, True, True]}], metrics=["fp"]
    )
    assert e["fp"].value == 1


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_recorded_segmentations(record):
    gold, pred = (
        [{"id": str(i), "pages": [bool(f) for f in flags]} for i, flags in enumerate(record[s])]
        for s in ("true", "pred")
    )
    e = karat.evaluate(gold, pred, metrics=["all", "panoptic_quality(pairing=majority)", "mndd(per=page)"])
    expected = record["peers"]["formula_all"]
    # The record takes page 1 for first whatever its flag says; karat counts the flags as they are.
    flags = all(side[0] for side in record["pred"])
    pairs = {
        **{
            name: expected["page"][name]
            for name in flags * ("tp", "fp", "fn", "tn", "precision", "recall", "f1", "accuracy")
        },
        **{f"file_{name}": expected["document"][name] for name in ("precision", "recall", "f1")},
        **{f"bcubed_{name}": expected["bcubed"][name] for name in ("precision", "recall", "f1")},
        "panoptic_quality(pairing=majority)": expected["pq_star"]["pq"],
        "recognition_quality": expected["pq"]["rq"],
        "split_files": expected["errors"]["split_gold"],
        "merged_files": expected["errors"]["merged_pred"],
        "mndd": expected["mndd"]["mean"],
        "mndd(per=page)": expected["mndd"]["per_page"],
        "straight_through": expected["stp"],
        "pk": expected["pk"]["mean"],
        "windowdiff": expected["windowdiff"]["mean"],
    }
    found = {name: e.systems[0].scores[catalogue("splitting").resolve(name)].value for name in pairs}
    assert found == pytest.approx(pairs)
    quality = next(m for m in e.metrics if str(m) == "panoptic_quality")
    assert e.systems[0].scores[quality].value == pytest.approx(expected["pq"]["pq"])


@pytest.fixture(scope="module")
def scored():
    """Random bundles with confidences, as flat arrays and as records."""
    rng = np.random.default_rng(7)
    bundle = np.sort(rng.integers(0, 40, 900))
    number = np.arange(900) - np.searchsorted(bundle, bundle) + 1
    gold = rng.random(900) < 0.3
    confidence = np.round(np.clip(gold * 0.4 + rng.random(900) * 0.6, 0, 1), 2)
    frame = {"document": bundle, "page": number}
    gold_frame = pandas.DataFrame(frame | {"is_first_page": gold})
    pred_frame = pandas.DataFrame(frame | {"is_first_page": confidence >= 0.5, "confidence": confidence})
    return gold, confidence, gold_frame, pred_frame


def test_confidence_against_scikit_learn(scored):
    gold, confidence, gold_frame, pred_frame = scored
    e = karat.evaluate(
        gold_frame, pred_frame,
        metrics=["average_precision", "brier", "best_f1", "best_threshold", "mcc", "kappa", "accuracy", "precision", "recall"],
    )  # fmt: skip
    for name in ("accuracy", "precision", "recall"):
        assert e[name].value == pytest.approx(getattr(sklearn, f"{name}_score")(gold, confidence >= 0.5))
    assert e["average_precision"].value == pytest.approx(sklearn.average_precision_score(gold, confidence))
    assert e["brier"].value == pytest.approx(sklearn.brier_score_loss(gold, confidence))
    assert e["mcc"].value == pytest.approx(sklearn.matthews_corrcoef(gold, confidence >= 0.5))
    assert e["kappa"].value == pytest.approx(sklearn.cohen_kappa_score(gold, confidence >= 0.5))
    precision, recall, thresholds = sklearn.precision_recall_curve(gold, confidence)
    with np.errstate(invalid="ignore"):
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall))[:-1]
    assert e["best_f1"].value == pytest.approx(f1.max())
    assert e["best_threshold"].value in thresholds[np.isclose(f1, f1.max())]


def test_calibration_error_by_hand(scored):
    gold, confidence, gold_frame, pred_frame = scored
    bins = np.minimum((confidence * 5).astype(int), 4)
    expected = sum(abs(confidence[bins == b].sum() - gold[bins == b].sum()) for b in range(5)) / len(gold)
    e = karat.evaluate(gold_frame, pred_frame, metrics=["calibration_error(bins=5)"])
    assert e["calibration_error"].value == pytest.approx(expected)


def test_threshold_replaces_flags(scored):
    gold, confidence, gold_frame, pred_frame = scored
    e = karat.evaluate(gold_frame, pred_frame, metrics=["f1"], threshold=0.7)
    assert e["f1"].value == pytest.approx(sklearn.f1_score(gold, confidence >= 0.7))
    without = pred_frame.drop(columns="is_first_page")
    again = karat.evaluate(gold_frame, without, context="splitting", metrics=["f1"], threshold=0.7)
    assert again["f1"].value == e["f1"].value


@pytest.mark.parametrize("name", ["average_precision", "best_f1", "best_threshold"])
@pytest.mark.parametrize("how", ["per_cell_weights", "resampled", "one level"])
def test_curves_in_blocks_equal_curves_at_once(scored, name, how, monkeypatch):
    _, _, gold_frame, pred_frame = scored
    if how == "one level":
        pred_frame = pred_frame.assign(confidence=0.5)
    cells = karat.evaluate(gold_frame, pred_frame, metrics=["f1"]).systems[0].cells
    drawn = np.random.default_rng(0).multinomial(len(cells), np.full(len(cells), 1 / len(cells)), 30).astype(float)
    W = Dense(drawn) if how == "resampled" else cells.per_cell_weights()
    definition = catalogue("splitting")[name]
    whole = definition.function(W, cells).value
    monkeypatch.setattr(thresholds, "_BLOCK", 500 if how != "one level" else 5)
    again = W if how == "resampled" else cells.per_cell_weights()
    np.testing.assert_allclose(definition.function(again, cells).value, whole, equal_nan=True)


def test_confidence_of_the_flag(scored):
    _, confidence, gold_frame, pred_frame = scored
    of_flag = pred_frame.assign(confidence=np.where(pred_frame.is_first_page, confidence, 1 - confidence))
    e = karat.evaluate(gold_frame, of_flag, metrics=["average_precision"], confidence_of="flag")
    assert e["average_precision"].value == pytest.approx(
        karat.evaluate(gold_frame, pred_frame, metrics=["average_precision"])["average_precision"].value
    )
    suspicious = karat.evaluate(gold_frame, of_flag, metrics=["average_precision"])
    assert "confidence-of-flag" in [f.code for f in suspicious.findings]


def test_first_page_can_be_left_out():
    e = karat.evaluate(nested(GOLD), nested(PRED), metrics=METRICS, count_first_page="no")
    assert [e[m].value for m in ("tp", "fp", "fn", "tn")] == [1, 0, 1, 4]
    assert e["tn"].by_class["1"].value == 2
    assert e["precision"].by_class["1"].value is None


def test_missing_pages_stop_with_document_page_and_line(tmp_path):
    short = {"20": ("1", [1, 0, 0]), "21": ("2", [1, 0])}
    gold, pred = written(tmp_path, "gold.jsonl", nested(GOLD)), written(tmp_path, "pred.jsonl", nested(short))
    with pytest.raises(InputError) as error:
        karat.evaluate(gold, pred)
    found = error.value.findings[0]
    assert (found.code, found.file, found.line) == ("pages-on-one-side", str(gold), 2)
    assert "pages 3-5 of document '21'" in found.message


def test_missing_pages_count_as_not_first():
    short = {"20": ("1", [1, 0, 0]), "21": ("2", [1, 0])}
    e = karat.evaluate(nested(GOLD), nested(short), metrics=METRICS, missing_pages="not-first")
    assert [e[m].value for m in ("tp", "fp", "fn", "tn")] == [2, 0, 2, 4]
    assert [f.code for f in e.findings] == ["pages-as-not-first"]


def test_missing_pages_can_be_cut():
    short = {"20": ("1", [1, 0, 0]), "21": ("2", [1, 0])}
    e = karat.evaluate(nested(GOLD), nested(short), metrics=METRICS, missing_pages="truncate")
    assert [e[m].value for m in ("tp", "fp", "fn", "tn")] == [2, 0, 0, 3]
    assert [f.code for f in e.findings] == ["pages-left-out"]


def test_documents_on_one_side():
    only = {"20": GOLD["20"], "99": ("3", [1, 0])}
    e = karat.evaluate(nested(GOLD), nested(only), metrics=METRICS, missing_pages="not-first")
    # Document 21 has three first pages that nobody predicted, document 99 one that gold lacks.
    assert [e[m].value for m in ("tp", "fp", "fn", "tn")] == [1, 1, 3, 5]
    assert [f.message.split(" are")[0] for f in e.findings if f.code == "pages-as-not-first"] == [
        "pages 1-5 of document '21'",
        "pages 1-2 of document '99'",
    ]


def test_null_flag_is_an_error(tmp_path):
    records = nested(PRED)
    records[1]["pages"][3]["is_first_page"] = None
    with pytest.raises(InputError) as error:
        karat.evaluate(nested(GOLD), written(tmp_path, "pred.jsonl", records))
    assert codes(error) == ["page-flag-null"]
    assert error.value.findings[0].line == 2
    assert "page 4 of document '21'" in error.value.findings[0].message


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"page": 2}, "repeated-page"),
        ({"page": "two"}, "page-number-bad"),
        ({"is_first_page": "perhaps"}, "page-flag-null"),
        ({"confidence": 1.5}, "confidence-range"),
        ({"confidence": -0.5}, "confidence-range"),
        ({"document": None}, "missing-field"),
    ],
)
def test_bad_pages_are_named_with_their_line(change, code, tmp_path):
    records = [record | {"confidence": 0.5} for record in long(PRED)]
    records[2] |= change
    with pytest.raises(InputError) as error:
        karat.evaluate(long(GOLD), written(tmp_path, "pred.jsonl", records))
    assert (codes(error), error.value.findings[0].line) == ([code], 3)


def test_a_confidence_may_be_0_and_1():
    records = [record | {"confidence": float(record["is_first_page"])} for record in long(PRED)]
    assert not {"confidence-range"} & {f.code for f in karat.evaluate(long(GOLD), records).findings}


@pytest.mark.parametrize("bad", [[[3, 1]], [["x", 2]], "perhaps", 7])
def test_bad_ranges(bad):
    with pytest.raises(InputError):
        karat.evaluate(files(GOLD), [{"document_id": "20", "files": bad}])


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"files": [[1, 2], [4, 3]]}, "range-bad"),
        ({"files": [[1, 10**12]]}, "range-bad"),
        ({"first_pages": [1, 10**12]}, "page-list-bad"),
        ({"first_pages": [1, -3]}, "page-list-bad"),
        ({"first_pages": [0, 3]}, "page-list-bad"),
        ({"first_pages": "0 3"}, "page-list-bad"),
        ({"first_pages": "1 -3"}, "page-list-bad"),
        ({"pages": [{"number": "two", "is_first_page": True}]}, "page-number-bad"),
        ({"pages": [{"number": 1.5, "is_first_page": True}]}, "page-number-bad"),
        ({"pages": [{"number": 1, "is_first_page": "perhaps"}]}, "page-flag-null"),
    ],
)
@pytest.mark.parametrize("file", [False, True])
def test_what_is_no_page_is_refused_in_memory_and_in_files(record, code, file, tmp_path):
    records = [{"document_id": "20"} | record]
    with pytest.raises(InputError) as error:
        karat.evaluate(written(tmp_path, "gold.jsonl", records) if file else records, files(PRED), context="splitting")
    assert code in codes(error)


def test_intervals_do_not_depend_on_the_order_of_bundles(scored):
    _, _, gold, pred = scored
    mixed = (gold.sample(frac=1, random_state=1), pred.sample(frac=1, random_state=2))
    found = [karat.evaluate(*sides, metrics=["f1", "mndd"], intervals=True) for sides in ((gold, pred), mixed)]
    assert [s.interval for s in found[0].systems[0]] == [s.interval for s in found[1].systems[0]]


def test_categories_over_pages_and_files():
    gold = [{"document_id": "a", "files": [[1, 2, "invoice"], [3, 3, "letter"], [4, 5, "letter"]]}]
    pred = [{"document_id": "a", "files": [[1, 2, "invoice"], [3, 3, None], [4, 4, "letter"], [5, 5, "form"]]}]
    e = karat.evaluate(
        gold, pred, metrics=["category_accuracy", "category_accuracy(over=files)", "category_f1(average=macro)"]
    )
    values = [score.value for score in e.systems[0]]
    # Pages 1, 2, 4 of 5; file 1-2 of 3; invoice 1, letter 2·1/(3 + 1), form 0.
    assert values == [0.6, pytest.approx(1 / 3), pytest.approx(0.5)]
    assert {f.code for f in e.findings} == {"category-missing", "label-not-in-gold"}
    pages = e.systems[0].detail("categories-pages")
    assert pages.columns == ["gold", "invoice", "letter", "form", "(no category)"]
    assert pages.rows == [["invoice", 2, 0, 0, 0], ["letter", 0, 1, 1, 1]]
    table = e.systems[0].detail("categories-files")
    assert table.rows == [["invoice", 1, 0, 0, 0, 0], ["letter", 0, 0, 0, 1, 1], ["(no such file)", 0, 1, 1, 0, 0]]


def test_macro_over_categories():
    e = karat.evaluate(nested(GOLD), nested(PRED), metrics=["f1(average=macro)"])
    assert e["f1"].value == pytest.approx((1 + 0.8) / 2)


def test_categories_keep_the_order_of_gold():
    sides = [{"9": ("z", [1]), "8": ("b", [1]), "7": ("m", [1])}] * 2
    assert list(karat.evaluate(*map(nested, sides), metrics=["f1"])["f1"].by_class) == ["z", "b", "m"]


def test_error_list_and_timeline():
    system = karat.evaluate(nested(GOLD), nested(PRED)).systems[0]
    assert system.detail("errors").rows == [["21", 5, "missed first page", None, "2"]]
    assert [row[3].rstrip() for row in system.detail("timeline").rows] == ["|-|-|", "|-|--", "|--", "|--"]
    system.cells.unit_ids = None  # documents that nobody called anything are counted from 1
    assert tables.errors(system.cells).rows == [["2", 5, "missed first page", None, "2"]]


def test_test_cases_are_scored_apart():
    gold, pred = ([record | {"test_case": f"T{i}"} for i, record in enumerate(nested(s))] for s in (GOLD, PRED))
    e = karat.evaluate(gold, pred, metrics=["recall"])
    assert {name: part.value for name, part in e["recall"].by_test_case.items()} == {
        "T0": 1,
        "T1": pytest.approx(2 / 3),
    }


def test_cells_can_be_taken():
    cells = karat.evaluate(nested(GOLD), nested(PRED)).systems[0].cells
    twice = cells.take([1, 1])
    definition = catalogue("splitting")["fn"]
    assert definition.compute(twice.pooled(), twice, catalogue("splitting").resolve("fn")).value.tolist() == [2]


@pytest.mark.parametrize(
    "definition", [d for d in catalogue("splitting") if "splitting" in d.function.__module__], ids=lambda d: d.name
)
def test_examples_in_the_metrics(definition):
    example = doctest.DocTestParser().get_doctest(definition.doc, {"karat": karat}, definition.name, None, 0)
    assert example.examples, "every metric shows an example"
    assert doctest.DocTestRunner().run(example).failed == 0


def test_clusters_of_a_column_that_is_not_there():
    with pytest.raises(InputError) as error:
        karat.evaluate(long(GOLD), long(PRED), cluster_by="author")
    assert [(f.code, f.file) for f in error.value.findings] == [("cluster-column-missing", "gold")]


def test_fields_that_are_not_read_are_named_up_to_ten():
    more = {f"note{n:02}": 1 for n in range(12)}
    found = karat.evaluate([record | more for record in long(GOLD)], long(PRED)).findings
    (message,) = (f.message for f in found if f.code == "extra-fields")
    assert "note09" in message
    assert "note10" not in message


def test_a_page_that_gold_lacks_has_the_category_of_the_page_before():
    """The very first page is known; of the second bundle none before its first page is."""
    row, gold_at = np.array([0, 0, 0, 1, 1]), np.array([0, -1, 1, -1, 2])
    every = np.ones(5, bool)
    pages = Paired(row, np.array([1, 2, 3, 1, 2]), gold_at, np.arange(5), every, every)
    assert _last_known(pages).tolist() == [0, 0, 1, -1, 2]


def test_bundles_that_a_mean_leaves_out_are_counted() -> None:
    """One page has no window of two and no border; three pages in one file have a window and no border."""
    flags = {"a": ("1", [1, 0, 1, 0, 1]), "b": ("1", [1]), "c": ("1", [1, 0, 0])}
    asked = ["pk", "windowdiff(k=2)", "boundary_similarity", "pk(over=windows)", "f1"]
    said = karat.evaluate(nested(flags), nested(flags), metrics=asked, allow_same=True).systems[0].findings
    assert [f.message for f in said if f.code == "bundles-left-out"] == [
        "1 of 3 bundles has no value of pk, windowdiff@2, and is left out of the mean",
        "2 of 3 bundles have no value of boundary_similarity, and are left out of the mean",
    ]
    alone = {"b": flags["b"]}
    e = karat.evaluate(nested(alone), nested(alone), metrics=asked, allow_same=True)
    assert e["pk"].value is None
    assert "bundles-left-out" not in {f.code for f in e.findings}


def test_of_equal_thresholds_the_highest_counts_whatever_bundles_weigh():
    """F1 is 2/3 from .8 on, 2·3/(5 + 4), and from .6 on, 2·4/(8 + 4); times .01 floats make the lower one's larger."""
    gold = [{"document_id": b, "pages": 3, "first_pages": f} for b, f in (("0", [1]), ("1", [1, 3]))]
    said = {"0": [0.8, 0.9, 0.6], "1": [0.6, 0.5, 0.8]}
    pred = [
        {"document_id": b, "pages": [{"number": i, "confidence": c} for i, c in enumerate(given, 1)]}
        for b, given in said.items()
    ]
    for weight in ([2, 1], [0.02, 0.01], [0.2, 0.1]):
        e = karat.evaluate(gold, pred, metrics=["best_threshold"], weight=weight, threshold=0.7)
        assert e["best_threshold"].value == 0.8


def test_categories_are_weighed_by_the_pages_or_files_that_are_counted():
    """One file of six pages u, two of one page v: F1 of u is 2·3/(6 + 3), of v 2·2/(2 + 5)."""
    gold = [{"document_id": "a", "files": [[1, 6, "u"], [7, 7, "v"], [8, 8, "v"]]}]
    pred = [{"document_id": "a", "files": [[1, 3, "u"], [4, 7, "v"], [8, 8, "v"]]}]
    asked = ["category_f1(average=weighted)", "category_f1(average=weighted,over=files)"]
    e = karat.evaluate(gold, pred, metrics=asked)
    assert e[asked[0]].value == pytest.approx((6 * 6 / 9 + 2 * 4 / 7) / 8)
    assert e[asked[1]].value == pytest.approx((1 * 0 + 2 * 2 / 4) / 3)


@pytest.mark.parametrize("count", ["yes", "no"])
def test_categories_of_first_pages_alone_are_averaged_whether_those_count_or_not(count: str) -> None:
    """Categories are scored on all pages: u was w, and v is right: u 0, w 0, v 1. It was 1/2 without first pages."""
    gold = [{"document_id": "d", "files": [[1, 1, "u"], [2, 2, "v"]]}]
    pred = [{"document_id": "d", "files": [[1, 1, "w"], [2, 2, "v"]]}]
    asked = [
        "category_f1(average=macro)",
        "category_f1(average=macro,over=files)",
        "category_f1(average=macro,classes=gold)",
    ]
    e = karat.evaluate(gold, pred, metrics=asked, count_first_page=count)
    assert [e[m].value for m in asked] == [pytest.approx(1 / 3), pytest.approx(1 / 3), 0.5]


def test_confidences_of_the_flag_that_stand_at_the_edge_of_a_bin_or_at_the_threshold() -> None:
    """Not first with .8 is first with .2: in the bin of .25, (.25 + .2 − 1)/2, and at a threshold of .2. 1 − .8 is less."""
    gold = [{"document_id": "a", "pages": 2, "first_pages": [1]}]
    pages = [
        {"number": 1, "is_first_page": True, "confidence": 0.25},
        {"number": 2, "is_first_page": False, "confidence": 0.8},
    ]
    pred = [{"document_id": "a", "pages": pages}]
    asked = ["calibration_error", "fp"]
    e = karat.evaluate(gold, pred, metrics=asked, confidence_of="flag", threshold=0.2)
    assert [e[m].value for m in asked] == [pytest.approx(0.275), 1]


def test_confidences_at_the_edge_of_one_of_many_bins() -> None:
    """.29 is in the bin of .295, not before: |.29 + .295 − 1| / 2."""
    gold = [{"document_id": "a", "pages": 2, "first_pages": [1]}]
    pages = [{"number": 1, "confidence": 0.29}, {"number": 2, "confidence": 0.295}]
    e = karat.evaluate(
        gold, [{"document_id": "a", "pages": pages}], metrics=["calibration_error(bins=100)"], threshold=0.2
    )
    assert e["calibration_error"].value == pytest.approx(0.2075)


def test_tables_of_confidence_weigh_bundles():
    rng, weight = np.random.default_rng(6), [1, 2, 0, 3, 1]

    def streams(copies):
        firsts, sure = rng.random((5, 6)) < 0.4, rng.random((5, 6)).round(1)
        firsts[:, 0] = True
        pages = [
            [
                {"number": j + 1, "is_first_page": bool(f), "confidence": s}
                for j, (f, s) in enumerate(zip(fs, ss, strict=True))
            ]
            for fs, ss in zip(firsts.tolist(), sure.tolist(), strict=True)
        ]
        once = [{"document_id": str(i), "category": "a", "pages": p} for i, p in enumerate(pages)]
        return once, [{**once[i], "document_id": f"{i}-{j}"} for i in range(5) for j in range(copies[i])]

    (gold, golds), (pred, preds) = streams(weight), streams(weight)
    weighed, copies = karat.evaluate(gold, pred, weight=weight).only, karat.evaluate(golds, preds).only
    for name in ("thresholds", "calibration"):
        np.testing.assert_allclose(weighed.detail(name).rows, copies.detail(name).rows)
        assert weighed.detail(name).title == copies.detail(name).title + ", by weight"


def test_the_largest_page_number_is_one_that_can_be():
    gold = [{"document": "1", "page": page, "is_first_page": True} for page in (1, LARGEST)]
    assert karat.evaluate(gold, gold, allow_same=True, context="splitting").findings == []
    gold[1] = gold[1] | {"page": LARGEST + 1}
    with pytest.raises(InputError) as error:
        karat.evaluate(gold, gold, allow_same=True, context="splitting")
    assert {f.code for f in error.value.findings} == {"page-number-bad"}
