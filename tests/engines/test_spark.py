"""Data on Spark give what the same data give in memory: scores to the last bit, counts, and the codes of findings."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.contexts import MODULES
from karat.read.table import Read
from tests.engines import test_in_place as in_place

Table = dict[str, list[Any]]


def table(columns: Table, kinds: dict[str, Any]) -> pa.Table:
    return pa.table({name: pa.array(values, kinds.get(name)) for name, values in columns.items()})


@dataclass(frozen=True)
class Case:
    """Gold and predictions by columns, the types that Arrow cannot tell, and options."""

    gold: Table
    pred: Table
    kinds: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def tables(self) -> tuple[pa.Table, pa.Table]:
        return table(self.gold, self.kinds), table(self.pred, self.kinds)


def drawn(rows: int, seed: int) -> tuple[Any, list[int], list[int]]:
    """A generator, gold's ids, and the prediction's: shuffled, a few missing, a few more."""
    rng = np.random.default_rng(seed)
    pred = rng.permutation(np.arange(2, rows + 3)).tolist()
    return rng, list(range(rows)), pred


def labels() -> Case:
    rng, gold, pred = drawn(300, 1)
    pick = lambda ids: [f"L{c}" for c in rng.integers(0, 4, len(ids)).tolist()]
    case = lambda ids: [f"t{i % 3}" for i in ids]
    return Case(
        {"test_case": case(gold), "id": gold, "label": pick(gold)},
        {"test_case": case(pred), "id": pred, "label": pick(pred)},
    )


def numbers() -> Case:
    rng, gold, pred = drawn(200, 2)
    pick = lambda ids: rng.integers(0, 3, len(ids)).astype(float).tolist()
    return Case({"id": gold, "value": pick(gold)}, {"id": [float(i) for i in pred], "value": pick(pred)})


def label_sets() -> Case:
    rng, gold, pred = drawn(200, 3)
    pick = lambda ids: [rng.choice(list("ABCDE"), rng.integers(0, 4), replace=False).tolist() for _ in ids]
    kinds = {"labels": pa.list_(pa.string())}
    metrics = ["f1", "subset_accuracy", "hamming_loss", "adjusted_accuracy", "average_accuracy", "coverage_error"]
    return Case(
        {"paperid": gold, "labels": pick(gold)}, {"paperid": pred, "labels": pick(pred)}, kinds, {"metrics": metrics}
    )


def weights() -> Case:
    rng, gold, pred = drawn(100, 4)
    pick = lambda ids: [list(zip("AB", (x, 1 - x))) for x in (rng.integers(0, 5, len(ids)) / 4).tolist()]
    kinds = {"value": pa.map_(pa.string(), pa.float64())}
    return Case({"id": gold, "value": pick(gold)}, {"id": pred, "value": pick(pred)}, kinds)


def clusters(**options: Any) -> Case:
    rng, gold, pred = drawn(150, 5)
    pick = lambda ids: [str(c) for c in rng.integers(-1, 6, len(ids)).tolist()]
    return Case(
        {"id": gold, "cluster": pick(gold)}, {"id": pred, "cluster": pick(pred)}, {}, {"context": "clustering"} | options
    )  # fmt: skip


def rankings() -> Case:
    rng = np.random.default_rng(6)
    gold, pred = {"query": [], "doc": [], "relevance": []}, {"query": [], "doc": [], "score": []}
    for sides, queries, depth, column, top in (
        (gold, range(12), 8, "relevance", 3),
        (pred, range(2, 14), 20, "score", 12),
    ):
        for query in queries:
            sides["query"] += [f"q{query}"] * depth
            sides["doc"] += [f"d{d}" for d in rng.permutation(30)[:depth].tolist()]
            sides[column] += rng.integers(0, top, depth).tolist()
    return Case(gold, pred, {"score": pa.float64()})


def spans() -> Case:
    rng, gold, pred = drawn(20, 7)

    def marked(ids: list[int]) -> Table:
        starts = [sorted(rng.choice(80, 3, replace=False).tolist()) for _ in ids]
        each = [
            [{"start": s, "end": s + 5, "label": str(rng.choice(["PER", "LOC"]))} for s in found] for found in starts
        ]
        return {"id": [f"d{i}" for i in ids], "text": ["x" * 100] * len(ids), "spans": each}

    return Case(marked(gold), marked(pred))


def tags() -> Case:
    rng, ids, _ = drawn(10, 8)
    pick = lambda: [rng.choice(["B-PER", "I-PER", "O"], 5).tolist() for _ in ids]
    return Case({"id": ids, "tags": pick()}, {"id": ids, "tags": pick()}, {}, {"context": "spans"})


def pages() -> Case:
    rng = np.random.default_rng(9)
    place = [(f"b{bundle}", page) for bundle in range(6) for page in range(1, 8)]
    side = lambda: {
        "document_id": [bundle for bundle, _ in place],
        "page": [page for _, page in place],
        "is_first_page": [page == 1 or bool(rng.integers(0, 2)) for _, page in place],
        "category": [str(rng.choice(["invoice", bundle])) for bundle, _ in place],
    }
    options = {"metrics": ["f1(average=macro)", "file_f1", "pk", "category_f1"]}
    return Case(side(), side(), {}, options)  # categories that not every partition has


def votes() -> Case:
    rng, gold, pred = drawn(80, 10)
    pick = lambda ids: [{a: str(rng.choice(list("AB"))) for a in ("ann", "bob", "cem")} for _ in ids]
    shares = lambda ids: [{"A": x, "B": 1 - x} for x in (rng.integers(0, 5, len(ids)) / 4).tolist()]
    entries = lambda maps: [list(one.items()) for one in maps]
    kinds = {"label": pa.map_(pa.string(), pa.string()), "value": pa.map_(pa.string(), pa.float64())}
    return Case({"id": gold, "label": entries(pick(gold))}, {"id": pred, "value": entries(shares(pred))}, kinds)


def probabilities() -> Case:
    rng, gold, pred = drawn(90, 11)
    shares = [list(zip("ABC", row)) for row in rng.dirichlet(np.ones(3), len(pred)).round(3).tolist()]
    kinds = {"value": pa.map_(pa.string(), pa.float64())}
    picked = [str(label) for label in rng.choice(list("ABC"), len(gold))]
    return Case({"id": gold, "label": picked}, {"id": pred, "value": shares}, kinds, {"missing": "skip"})


def scores() -> Case:
    rng, gold, pred = drawn(90, 13)
    picked = [str(label) for label in rng.choice(["no", "yes"], len(gold))]
    options = {"context": "probabilities", "pos_label": "yes", "missing": "skip"}
    return Case(
        {"id": gold, "label": picked}, {"id": pred, "score": rng.random(len(pred)).round(3).tolist()}, {}, options
    )


def measured() -> Case:
    rng, gold, pred = drawn(90, 12)
    pick = lambda ids: rng.normal(size=len(ids)).round(3).tolist()
    return Case(
        {"id": gold, "value": pick(gold)},
        {"id": pred, "value": pick(pred)},
        {},
        {"context": "numbers", "missing": "skip"},
    )


def tree() -> Case:
    case = labels()
    return Case(case.gold, case.pred, {}, {"hierarchy": {"X": ["L0", "L1"], "Y": ["L2", "L3"]}})


CASES: dict[str, Callable[[], Case]] = {
    "labels": labels,
    "labels of a tree": tree,
    "votes": votes,
    "probabilities": probabilities,
    "scores": scores,
    "measured numbers": measured,
    "numbers": numbers,
    "label sets": label_sets,
    "weights": weights,
    "clusters": clusters,
    "clusters with noise": lambda: clusters(noise="-1", missing="singletons"),
    "rankings": rankings,
    "spans": spans,
    "tags": tags,
    "pages": pages,
}


def records(columns: pa.Table) -> Any:
    """What data in memory are: tables, or records where a table cannot hold what they hold."""
    nested = {"spans", "tags"} & {*columns.column_names}
    return columns.to_pylist() if nested else columns


def on_cluster(spark: Any, columns: pa.Table) -> Any:
    """A DataFrame of an Arrow table, which Spark takes itself since 4.0."""
    if int(spark.version.partition(".")[0]) >= 4:
        return spark.createDataFrame(columns)
    from pyspark.sql.pandas.types import from_arrow_schema

    lists = [[dict(v) if pa.types.is_map(c.type) and v else v for v in c.to_pylist()] for c in columns.columns]
    return spark.createDataFrame([*zip(*lists, strict=True)], from_arrow_schema(columns.schema))


def outcome(gold: Any, pred: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Everything that must be alike, whoever counted; which of the missing ids is shown first is not."""
    try:
        found = karat.evaluate(gold, pred, **options).only
    except karat.InputError as error:
        return {"errors": sorted({f.code for f in error.findings})}
    scores = {str(m): [s.value, *s.result.value.tolist()] for m, s in found.scores.items()}
    said = sorted(f.message.split("(first: ")[0] for f in found.findings)
    return {"counts": found.counts, "findings": said, "scores": scores}


@pytest.mark.parametrize("name", CASES)
def test_scores_counts_and_findings_are_those_of_data_in_memory(spark: Any, name: str) -> None:
    case = CASES[name]()
    gold, pred = case.tables()
    there = outcome(on_cluster(spark, gold), on_cluster(spark, pred), case.options)
    here = outcome(records(gold), records(pred), case.options)
    if name != "clusters with noise":  # whose items of their own are summed in another order
        assert repr(there) == repr(here)
        return
    for metric, values in here.pop("scores").items():
        assert there["scores"][metric] == pytest.approx(values, rel=1e-12)
    assert {**there, "scores": None} == {**here, "scores": None}


def test_every_context_has_a_case() -> None:
    contexts = {karat.evaluate(*map(records, case().tables()), **case().options).context for case in CASES.values()}
    assert contexts == {*MODULES}


def jobs(spark: Any, gold: pa.Table, pred: pa.Table) -> int:
    """How many jobs Spark runs for an evaluation."""
    context, name = spark.sparkContext, f"jobs {gold.num_rows} {pred.num_rows}"
    frames = [on_cluster(spark, side) for side in (gold, pred)]
    context.setJobGroup(name, name)
    try:
        karat.evaluate(*frames, metrics=["accuracy"])
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    return len(context.statusTracker().getJobIdsForGroup(name))


def test_labels_are_counted_in_one_job(spark: Any) -> None:
    gold, _ = labels().tables()
    assert jobs(spark, gold, gold.select(gold.column_names)) == 1


def test_records_without_an_id_do_not_multiply(spark: Any) -> None:
    from karat.distributed import Pair, framed

    side = on_cluster(spark, pa.table({"id": ["1", *[None] * 50], "label": ["A"] * 51}))
    frames = [framed(side.select("*"), Read(name, role=name), None, None) for name in ("gold", "pred")]
    out = Pair(*frames, None).outcomes
    assert (out.n.sum(), out.rows) == (101, {"gold": 51, "pred": 51})


FAULTS: dict[str, tuple[Table, Table]] = {
    "nothing, blanks and repeats": (
        {"id": ["1", "2", "3", "4", "4"], "label": ["A", None, "A", " ", "B"]},
        {"id": ["1", "2", "3", "3", "5"], "label": ["A", "A", "A", "B", "B"]},
    ),
    "ids that are none": (
        {"test_case": ["t", "t", ""], "id": ["1", " ", None], "label": ["A", "B", "B"]},
        {"test_case": ["t", "t", "t"], "id": ["1", "2", "3"], "label": ["A", "B", "B"]},
    ),
    "no ids on either side": (
        {"id": ["1", None, None, "", " "], "label": ["A", "A", "B", "B", "A"]},
        {"id": ["1", None, "2", "", " "], "label": ["A", "A", "B", "B", "B"]},
    ),
    "test cases that some lack": (
        {"test_case": ["a", "", None], "id": ["1", "2", "3"], "label": ["A", "A", "B"]},
        {"test_case": ["a", "a", "a"], "id": ["1", "2", "3"], "label": ["A", "A", "B"]},
    ),
    "repeats that gold lacks": (
        {"id": ["1", "2"], "label": ["A", "B"]},
        {"id": ["1", "2", "3", "3"], "label": ["A", "B", "B", "A"]},
    ),
    "no common id": ({"id": ["1", "2"], "label": ["A", "B"]}, {"id": ["01", "02.0"], "label": ["A", "B"]}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_found_where_the_data_are(spark: Any, name: str) -> None:
    gold, pred = map(pa.table, FAULTS[name])
    here = outcome(gold, pred, {})
    assert here["errors"]
    assert outcome(on_cluster(spark, gold), on_cluster(spark, pred), {}) == here


def test_records_are_named_by_their_keys(spark: Any) -> None:
    gold = pa.table({"id": ["1", "2", "3"], "label": ["A", None, None]})
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(on_cluster(spark, gold), on_cluster(spark, gold), metrics=["accuracy"])
    found = error.value.findings[0]
    assert found.code == "missing-field"
    assert found.file in ("gold (id '2' and 1 more like it)", "gold (id '3' and 1 more like it)")


def test_groups_of_units_give_the_intervals_that_they_give_in_memory(spark: Any) -> None:
    gold, pred = labels().tables()
    options: dict[str, Any] = {"metrics": ["accuracy", "f1"], "intervals": True, "interval_method": "groups"}
    here = karat.evaluate(gold, pred, **options)
    there = karat.evaluate(on_cluster(spark, gold), on_cluster(spark, pred), **options)
    assert there.only.cells.unit is None
    for metric in ("accuracy", "f1"):
        mine, theirs = here[metric].interval, there[metric].interval
        assert mine is not None
        assert theirs is not None
        assert theirs.method == mine.method == "random-groups"
        assert (theirs.low, theirs.high) == pytest.approx((mine.low, mine.high), rel=1e-12)


def test_single_units_come_here_for_those_who_ask(spark: Any) -> None:
    gold, pred = labels().tables()
    found = karat.evaluate(on_cluster(spark, gold), on_cluster(spark, pred), metrics=["accuracy"], units=True)
    assert found["accuracy"].value == karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value
    assert found.only.cells.unit is not None


VECTORS = Path(__file__).parents[1] / "data" / "label-set-accuracy.jsonl"
RECORDS = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def papers(kind: str) -> pa.Table:
    """Every record of a kind as a test case of one table; ids are papers."""
    rows = [
        (record["id"], paper, [str(label) for label in true], [str(label) for label in predicted])
        for record in RECORDS
        if record["kind"] == kind
        for paper, (true, predicted) in enumerate(
            zip(record["input"]["true_label"], record["input"]["predicted_label"], strict=True)
        )
    ]
    lists = pa.list_(pa.string())
    kinds = (pa.string(), pa.int64(), lists, lists)
    names = ("test_case", "paperid", "labels", "predicted")
    return pa.table({name: pa.array(c, kind) for name, c, kind in zip(names, zip(*rows), kinds, strict=True)})


@pytest.mark.parametrize("kind", ["accuracy", "adjusted_accuracy", "average_accuracy"])
def test_reference_values_of_label_sets(spark: Any, kind: str) -> None:
    columns = {"gold_value": "labels", "pred_value": "predicted"}
    metric = {"average_accuracy": "average_accuracy(empty=skip)"}.get(kind, kind)
    found = karat.evaluate(
        on_cluster(spark, papers(kind)), columns=columns, context="multilabel", metrics=[metric], faulty="drop"
    )  # fmt: skip
    scores = {name: part.value for name, part in found[metric].by_test_case.items()}
    checked = 0
    for record in (r for r in RECORDS if r["kind"] == kind and r["id"] in scores):
        out = record["output"]
        expected = out["mean_over_papers"]["precision_set"] if kind == "average_accuracy" else out[kind]
        value = None if expected is None else float(Fraction(expected["fraction"]))
        assert scores[record["id"]] == (None if value is None else pytest.approx(value, abs=1e-12)), record["id"]
        checked += 1
    assert checked >= 3


def test_what_spark_calls_nothing_is_weighted_f1(spark: Any) -> None:
    chosen = [r for r in RECORDS if r["kind"] == "spark_MulticlassClassificationEvaluator_default"]
    rows = [
        (r["id"], i, float(g), float(p))
        for r in chosen
        for i, (g, p) in enumerate(zip(r["input"]["label"], r["input"]["prediction"], strict=True))
    ]
    names = ("test_case", "id", "label", "prediction")
    data = on_cluster(spark, pa.table(dict(zip(names, map(list, zip(*rows)), strict=True))))
    metrics = ["f1(average=weighted)", "accuracy"]
    found = karat.evaluate(data, context="monolabel", metrics=metrics)
    for record in chosen:
        out, by_case = record["output"], [found[m].by_test_case[record["id"]].value for m in metrics]
        assert by_case == pytest.approx([out["evaluate_default"], out["evaluate_accuracy"]], abs=1e-12)


def test_the_field_of_study_example_runs(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    from spark_field_of_study import main  # type: ignore[import-not-found]

    found = main(spark)
    # First labels: gold p p o o, predicted p p p o. Weighted F1: (4/5 + 2/3) / 2.
    assert found["unnamed"] == pytest.approx(11 / 15, abs=1e-12)
    assert found["weighted f1"] == pytest.approx(found["unnamed"], abs=1e-12)
    assert (found["single accuracy"], found["accuracy"], found["adjusted_accuracy"]) == (0.75, 0.25, 0.75)
    assert found["average_accuracy"] == pytest.approx((1 / 2 + 1 + 1 / 3 + 1) / 4)


@pytest.mark.slow
def test_the_evaluator_chooses_in_cross_validation_and_in_a_split(spark: Any) -> None:
    from pyspark.ml.classification import DecisionTreeClassifier
    from pyspark.ml.linalg import Vectors
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder, TrainValidationSplit

    from karat.spark import Evaluator

    rows = [(Vectors.dense([float(i % 8)]), float(i % 8 in (1, 2, 5))) for i in range(64)]
    data = spark.createDataFrame(rows, ["features", "label"])
    tree, evaluator = DecisionTreeClassifier(seed=1), Evaluator(metric="f1")
    grid = ParamGridBuilder().addGrid(tree.maxDepth, [0, 4]).build()
    assert str(evaluator) == "F1 (macro, all classes) (f1) of prediction against label"
    assert evaluator.isLargerBetter()
    settings = {"estimator": tree, "estimatorParamMaps": grid, "evaluator": evaluator, "seed": 1}
    folds = CrossValidator(numFolds=2, **settings).fit(data)
    assert folds.avgMetrics[1] == 1.0 > folds.avgMetrics[0]
    assert TrainValidationSplit(trainRatio=0.5, **settings).fit(data).validationMetrics[1] == 1.0


def test_an_unknown_metric_is_said_before_the_first_model() -> None:
    pytest.importorskip("pyspark")
    from karat.spark import Evaluator

    with pytest.raises(karat.MetricError, match="did you mean"):
        Evaluator(metric="acuracy")


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_command_line_lets_the_cluster_read(spark: Any, tmp_path: Path, format: str) -> None:
    gold, pred = labels().tables()
    for name, data in (("gold", gold), ("pred", pred)):
        path = tmp_path / f"{name}.{format}"
        data.to_pandas().to_csv(path, index=False) if format == "csv" else pq.write_table(data, path)
    files = [str(tmp_path / f"{name}.{format}") for name in ("gold", "pred")]
    reports = [
        json.loads(CliRunner().invoke(command, ["evaluate", *files, "--report", "json", "-q", *engine]).stdout)
        for engine in ([], ["--engine", "spark"])
    ]
    here, there = ([(m["metric"], m["value"]) for m in report["systems"][0]["metrics"]] for report in reports)
    assert there == here


def test_a_path_that_is_not_there_is_a_finding(spark: Any, tmp_path: Path) -> None:
    found = CliRunner().invoke(command, ["evaluate", str(tmp_path / "a.parquet"), "b.parquet", "--engine", "spark"])
    assert found.exit_code == 2
    assert "file-missing" in found.output


def test_spark_that_does_not_start_is_a_finding(tmp_path: Path) -> None:
    """As on a machine without Java."""
    (tmp_path / "gold.csv").write_text("id,label\n1,A\n")
    command = [sys.executable, "-m", "karat", "evaluate", "gold.csv", "gold.csv", "--allow-same", "--engine", "spark"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 2, done.stderr
    assert "error[spark-unavailable]: Spark does not start: [JAVA_GATEWAY_EXITED]" in done.stderr


CONNECT = """
import os, sys
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1"}  # on any port that is free: others run here too
from pyspark.sql import SparkSession
import pyarrow as pa, json, karat
from tests.engines.conftest import QUICK
from tests.engines.test_spark import labels, on_cluster, outcome
builder = SparkSession.builder.remote("local[2]")
for name, value in QUICK.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
gold, pred = labels().tables()
there = outcome(on_cluster(spark, gold), on_cluster(spark, pred), {})
print(json.dumps(there))
"""


def test_connect_gives_the_same() -> None:
    """In a process of its own: a session is classic or remote for good."""
    pytest.importorskip("grpc", reason="Connect needs pyspark[connect]")
    done = subprocess.run(
        [sys.executable, "-c", CONNECT], capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == outcome(*labels().tables(), {})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("fault", sorted({*in_place.FAULTS}))
def test_files_with_faults(spark: Any, tmp_path: Path, fault: str, seed: int) -> None:
    draw = random.Random(f"spark {seed} {fault}")
    ids, values = draw.choice(list(in_place.IDS)), draw.choice(list(in_place.VALUES))
    cases, kind = draw.random() < 0.3, draw.choice(["parquet", "csv", "tsv"])
    types = {
        "test_case": "VARCHAR",
        "id": "BIGINT" if ids == "whole" else "VARCHAR",
        "label": {"texts": "VARCHAR", "whole": "BIGINT", "floats": "DOUBLE", "truth": "BOOLEAN"}[values],
    }
    sides = in_place.rows(draw, ids, values, cases, fault)
    names = ("gold", "pred")
    paths = [in_place.written(tmp_path / f"{n}.{kind}", s, cases, True, types) for n, s in zip(names, sides)]
    here, there = (outcome(*paths, {"metrics": ["accuracy", "f1"], **on}) for on in ({}, {"engine": "spark"}))
    assert there == here
