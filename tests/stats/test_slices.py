# SPDX-License-Identifier: Apache-2.0
"""Scores by slice are the scores of the slice alone, in every context; gaps hold for all pairs at once."""

from __future__ import annotations

import csv
import json
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.evaluation import Interval
from karat.stats.clusters import ClusterKeys
from karat.stats.slices import difference, slice_keys
from karat.store import Recorded, open_store, verify

LABELS = np.array(["favor", "against", "none"])
COUNTRIES = np.array(["en", "es", "pt"])


def rows(n: int = 400) -> list[dict[str, str]]:
    """Messages of three countries; the system is poor on the third."""
    rng = np.random.default_rng(5)
    label, country = LABELS[rng.integers(0, 3, n)], COUNTRIES[rng.choice(3, n, p=[0.5, 0.3, 0.2])]
    right = rng.random(n) < np.where(country == "pt", 0.5, 0.9)
    pred = np.where(right, label, LABELS[rng.integers(0, 3, n)])
    length, weight = rng.integers(1, 200, n), rng.integers(1, 4, n)
    return [
        {"id": f"m{i}", "label": label[i], "country": country[i], "length": str(length[i]), "weight": str(weight[i]),
         "prediction": pred[i]}
        for i in range(n)
    ]  # fmt: skip


@pytest.fixture
def data(tmp_path):
    found = rows()
    write(tmp_path / "gold.csv", found, ["id", "label", "country", "length", "weight"])
    write(tmp_path / "pred.csv", found, ["id", "prediction"])
    return tmp_path


def write(path, found, columns):
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, columns, extrasaction="ignore")
        out.writeheader()
        out.writerows(found)


def run(*args):
    return CliRunner().invoke(command, [str(a) for a in args])


def test_a_slice_is_scored_as_if_it_were_alone(data):
    e = karat.evaluate(data / "gold.csv", data / "pred.csv", metrics=["f1", "accuracy", "kappa"], slices="country")
    for name in COUNTRIES:
        part = [r for r in rows() if r["country"] == name]
        alone = karat.evaluate(
            [r["label"] for r in part], [r["prediction"] for r in part], metrics=["f1", "accuracy", "kappa"]
        )
        for metric in ("f1", "accuracy", "kappa"):
            found = e[metric].slices["country"][name]
            assert found.value == pytest.approx(alone[metric].value, abs=1e-12)
            assert found.units == len(part)
            assert found.interval.low < found.value < found.interval.high


def test_worst_slices_come_first_and_stand_out_against_the_rest(data):
    e = karat.evaluate(data / "gold.csv", data / "pred.csv", metrics=["accuracy"], slices="country")
    found = e["accuracy"].slices["country"]
    assert found.slices[0].name == "pt"
    assert found["pt"].verdict("higher") == "worse"
    others = [r for r in rows() if r["country"] != "pt"]
    rest = np.mean([r["label"] == r["prediction"] for r in others])
    assert found["pt"].difference == pytest.approx(found["pt"].value - rest)
    assert found.gap.worst == "pt"
    assert found.gap.interval.low > 0
    assert found.gap.pairs == 3


def test_lower_is_better_turns_order_and_verdict(data):
    e = karat.evaluate(data / "gold.csv", data / "pred.csv", metrics=["accuracy"], slices="country")
    found = e["accuracy"].slices["country"]
    assert found["pt"].verdict("lower") == "better"
    assert found["pt"].verdict("neither") == ""


def test_numbers_are_binned():
    unit = np.array([f"{i:03d}" for i in range(100)])
    keys = ClusterKeys(unit, np.array([str(i) for i in range(100)]), "length")
    assert slice_keys(keys).order == ["0 to 24", "25 to 49", "50 to 74", "75 to 99"]
    assert slice_keys(keys, "2").order == ["0 to 49", "50 to 99"]
    edges = slice_keys(keys, "10,50")
    assert edges.order == ["below 10", "[10, 50)", "50 or more"]
    assert edges.name[[9, 10, 49, 50]].tolist() == ["below 10", "[10, 50)", "[10, 50)", "50 or more"]
    few = ClusterKeys(unit, np.array([str(i % 5) for i in range(100)]), "stars")
    assert slice_keys(few).order == ["0", "1", "2", "3", "4"]


def test_bins_hold_every_number_once():
    values = np.sort(np.random.default_rng(1).choice(np.array([0.5, 1, 1, 1, 2, 7.25, -3]), 500))
    unit = np.array([f"{i:03d}" for i in range(500)])
    found = slice_keys(ClusterKeys(unit, np.array([f"{v:g}" for v in values]), "x"), "3")
    for name in found.order:
        inside = values[found.name == name]
        assert name in (f"{inside.min():g} to {inside.max():g}", f"{inside.min():g}")
    assert set(found.order) == set(found.name.tolist())


def test_bins_of_words_and_names_of_units_are_errors(data):
    for column, code in [
        ("country:3", "slices-not-numbers"),
        ("id", "too-many-slices"),
        ("nope", "slice-column-missing"),
    ]:
        with pytest.raises(karat.InputError) as caught:
            karat.evaluate(data / "gold.csv", data / "pred.csv", slices=column)
        assert [f.code for f in caught.value.findings] == [code]
    shown = run("evaluate", data / "gold.csv", data / "pred.csv", "--by", "nope")
    assert shown.exit_code == 2
    assert "gold has no column 'nope' to slice or weigh by; it has: id, label, country" in shown.stderr


def test_a_file_and_lists_give_the_same_slices(data):
    found = rows()
    gold, pred = [r["label"] for r in found], [r["prediction"] for r in found]
    by_list = karat.evaluate(gold, pred, metrics=["f1"], slices={"country": [r["country"] for r in found]})
    by_file = karat.evaluate(data / "gold.csv", data / "pred.csv", metrics=["f1"], slices=["country"])
    assert by_list["f1"].slices == by_file["f1"].slices
    with pytest.raises(karat.MetricError, match="2 values for 400 units"):
        karat.evaluate(gold, pred, slices={"country": ["en", "es"]})


def test_frames(data):
    import pandas as pd

    gold = pd.DataFrame(rows())
    e = karat.evaluate(gold[["id", "label", "country"]], gold[["id", "prediction"]], metrics=["f1"], slices="country")
    by_file = karat.evaluate(data / "gold.csv", data / "pred.csv", metrics=["f1"], slices=["country"])
    assert e["f1"].slices == by_file["f1"].slices


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_with_several_columns_beside(data, library):
    """The second column is read again, of whatever gold is."""
    module = pytest.importorskip(library)
    frame = getattr(module, "DataFrame", None) or (lambda columns: module.table(columns))
    side = lambda *names: frame({name: [row[name] for row in rows()] for name in names})
    for by in ("country", ["country", "length:3"]):
        e = karat.evaluate(
            side("id", "label", "country", "length", "weight"), side("id", "prediction"), metrics=["f1"], slices=by, weight="weight"
        )  # fmt: skip
        by_file = karat.evaluate(data / "gold.csv", data / "pred.csv", metrics=["f1"], slices=by, weight="weight")
        assert e["f1"].slices == by_file["f1"].slices


def test_every_report_shows_slices(data):
    args = [
        "evaluate",
        data / "gold.csv",
        data / "pred.csv",
        "-m",
        "f1",
        "-m",
        "accuracy",
        "--by",
        "country",
        "--by",
        "length:2",
    ]
    table = run(*args).stdout
    assert "By country: pred\n" in table
    assert "against the rest" in table
    assert "corrected for looking at 3 slices" in table
    assert table.index("\npt ") < table.index("\nes ")
    assert "| pt | " in run(*args, "--report", "markdown").stdout
    assert "pt & " in run(*args, "--report", "latex").stdout
    page = run(*args, "--report", "html").stdout
    assert 'aria-label="F1 (macro, all classes) by country: pred"' in page
    for report, mark in (("csv", ","), ("tsv", "\t")):
        found = list(csv.DictReader(run(*args, "--report", report).stdout.splitlines(), delimiter=mark))
        slices = [r for r in found if r["scope"] == "slice" and r["column"] == "country" and r["metric"] == "f1"]
        assert slices[0]["slice"] == "pt"
        assert sum(int(r["units"]) for r in slices) == 400
        assert next(r["slice"] for r in found if r["scope"] == "gap").endswith(" − pt")


def test_the_json_report_follows_its_schema(data):
    import jsonschema

    args = ["evaluate", data / "gold.csv", data / "pred.csv", "-m", "f1", "--by", "country", "--report", "json"]
    document = json.loads(run(*args).stdout)
    schema = json.loads(files("karat.report").joinpath("report-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    found = document["systems"][0]["metrics"][0]["slices"][0]
    assert found["column"] == "country"
    assert found["slices"][0]["verdict"] == "worse"
    assert found["gap"]["worst"] == "pt"


def test_a_kept_run_has_its_slices_and_can_be_verified(data):
    e = karat.evaluate(
        data / "gold.csv", data / "pred.csv", metrics=["f1"], slices=["country", "length:3"], units=True, hashes=True
    )
    run = open_store(data / "runs.db").save(e)
    kept = open_store(data / "runs.db")[run.id].evaluation
    assert kept["f1"].slices == e["f1"].slices
    assert kept.to_markdown() == e.to_markdown()
    assert {c.status for c in verify(Recorded.of_run(run))} == {"equal"}
    assert {c.status for c in verify(Recorded.of_report(json.loads(e.to_json())), folder=data)} == {"equal"}


def test_units_that_gold_leaves_without_a_value_are_a_slice(tmp_path):
    (tmp_path / "gold.csv").write_text("id,label,country\n1,a,en\n2,b,en\n3,a,\n4,b,es\n")
    (tmp_path / "pred.csv").write_text("id,prediction\n1,a\n2,a\n3,a\n4,b\n")
    e = karat.evaluate(tmp_path / "gold.csv", tmp_path / "pred.csv", metrics=["accuracy"], slices="country")
    assert {s.name: (s.units, s.value) for s in e["accuracy"].slices["country"]} == {
        "en": (2, 0.5),
        "es": (1, 1.0),
        "(no value)": (1, 1.0),
    }
    assert any(f.code == "small-slices" for f in e.findings)


def test_queries_by_a_column_of_the_qrels(tmp_path):
    rng = np.random.default_rng(2)
    gold = [
        (f"q{q}", f"d{d}", int(rng.integers(0, 2)), "long" if q % 2 else "short") for q in range(12) for d in range(9)
    ]
    (tmp_path / "gold.csv").write_text(
        "query,doc,relevance,kind\n" + "".join(f"{q},{d},{r},{k}\n" for q, d, r, k in gold)
    )
    (tmp_path / "run.csv").write_text(
        "query,doc,score\n" + "".join(f"{q},{d},{rng.random():.4f}\n" for q, d, _, _ in gold)
    )
    e = karat.evaluate(
        tmp_path / "gold.csv", tmp_path / "run.csv", metrics=["ndcg@5", "average_precision"], slices="kind"
    )
    for metric in ("ndcg@5", "average_precision"):
        found, by_query = e[metric].slices["kind"], e[metric].by_test_case
        for name, odd in (("long", 1), ("short", 0)):
            expected = np.mean([by_query[f"q{q}"].value for q in range(12) if q % 2 == odd])
            assert found[name].value == pytest.approx(expected)
            assert found[name].units == 6


def test_documents_by_a_field(tmp_path):
    rng = np.random.default_rng(3)

    def spans(miss: float) -> list[dict[str, object]]:
        places = [(i * 10, i * 10 + 4) for i in range(5)]
        return [{"start": a, "end": b, "label": "PER"} for a, b in places if rng.random() > miss]

    gold = [
        {"id": f"d{i}", "text": "x" * 60, "spans": spans(0), "source": "web" if i % 3 else "mail"} for i in range(30)
    ]
    pred = [{"id": d["id"], "spans": spans(0.4 if d["source"] == "mail" else 0.1)} for d in gold]
    for name, found in (("gold", gold), ("pred", pred)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(d) + "\n" for d in found))
    e = karat.evaluate(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl", metrics=["f1", "recall"], slices="source")
    for name in ("web", "mail"):
        kept = {d["id"] for d in gold if d["source"] == name}
        alone = karat.evaluate(
            [d for d in gold if d["id"] in kept], [d for d in pred if d["id"] in kept], metrics=["f1", "recall"],
            context="spans",
        )  # fmt: skip
        for metric in ("f1", "recall"):
            assert e[metric].slices["source"][name].value == pytest.approx(alone[metric].value)
    assert e["recall"].slices["source"].slices[0].name == "mail"


def test_bundles_by_a_column_of_their_pages(tmp_path):
    lines = [(f"b{b}", p, int(p in (1, 3)), "scan" if b % 2 else "fax") for b in range(8) for p in range(1, 6)]
    (tmp_path / "gold.csv").write_text(
        "bundle,page,first,origin\n" + "".join(f"{b},{p},{f},{o}\n" for b, p, f, o in lines)
    )
    (tmp_path / "pred.csv").write_text(
        "bundle,page,first\n" + "".join(f"{b},{p},{f if o == 'scan' else int(p == 1)}\n" for b, p, f, o in lines)
    )
    e = karat.evaluate(tmp_path / "gold.csv", tmp_path / "pred.csv", slices="origin")
    found = [s.slices["origin"] for s in e if s.better == "higher"]
    assert {by["scan"].value for by in found} <= {1.0, None}
    assert min(by["fax"].value for by in found if by["fax"].value is not None) < 1
    assert {by["scan"].units for by in found} == {4}


def test_a_slice_of_several_test_cases_is_the_mean_over_them(tmp_path):
    found = rows()
    for i, row in enumerate(found):
        row["test_case"] = f"T{i % 3}"
    write(tmp_path / "gold.csv", found, ["test_case", "id", "label", "country"])
    write(tmp_path / "pred.csv", found, ["test_case", "id", "prediction"])
    e = karat.evaluate(tmp_path / "gold.csv", tmp_path / "pred.csv", metrics=["accuracy"], slices="country")
    for name in COUNTRIES:
        by_case = [
            np.mean([r["label"] == r["prediction"] for r in found if (r["country"], r["test_case"]) == (name, case)])
            for case in ("T0", "T1", "T2")
        ]
        assert e["accuracy"].slices["country"][name].value == pytest.approx(np.mean(by_case))


def test_facts_of_the_whole_are_those_of_the_test_case():
    """A slice that is one whole test case scores as that test case: how common its labels are is not read elsewhere."""
    rng = np.random.default_rng(6)
    rows = lambda draw: [
        {"test_case": case, "id": str(i), "value": {"A": round(p, 3), "B": round(1 - p, 3)}, "part": case}
        for case, more in (("x", 1), ("y", 4))
        for i, p in enumerate(draw(more))
    ]
    gold, pred = rows(lambda more: rng.beta(more, 1, 20)), rows(lambda more: rng.beta(1, 1, 20))
    score = karat.evaluate(gold, pred, context="soft", metrics=["icm_soft"], slices=["part"])["icm_soft"]
    sliced = {one.name: one.value for one in score.slices["part"].slices}
    assert sliced == pytest.approx(dict(zip(score.test_cases, score.result.value.tolist(), strict=True)))


def test_slices_of_clustered_units_have_wider_intervals(tmp_path):
    """Ten messages of each user are right or wrong together: an interval that does not know it is too narrow."""
    rng = np.random.default_rng(8)
    found = [
        {"id": f"{u}-{i}", "label": "a", "prediction": "a" if right else "b", "user": f"u{u}", "country": "en" if u < 30 else "es"}
        for u, right in enumerate(rng.random(60) < 0.7)
        for i in range(10)
    ]  # fmt: skip
    write(tmp_path / "gold.csv", found, ["id", "label", "user", "country"])
    write(tmp_path / "pred.csv", found, ["id", "prediction"])
    files = tmp_path / "gold.csv", tmp_path / "pred.csv"
    alone, together = (
        karat.evaluate(*files, metrics=["accuracy"], slices="country", cluster_by=by)["accuracy"]
        .slices["country"]["en"]
        .interval
        for by in (None, "user")
    )
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_difference_of_shares_is_newcombes():
    # Newcombe (1998), method 10, the example 56/70 against 48/80: 0.0524 to 0.3339.
    from karat.stats.intervals import wilson

    ends = [[float(x) for x in wilson(np.array(k), np.array(n), 0.95)] for k, n in ((56, 70), (48, 80))]
    a, b = (Interval(0.95, *pair, "wilson") for pair in ends)
    found = difference(56 / 70, 48 / 80, a, b, 0.95)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.slow
def test_gaps_between_equal_slices_are_rarely_sure():
    """Eight slices of one and the same accuracy: the gap of best and worst excludes 0 in 5 % of samples at most."""
    rng, sure, trials = np.random.default_rng(11), 0, 200
    for _ in range(trials):
        country = rng.integers(0, 8, 400).astype(str)
        gold = np.full(400, "a")
        pred = np.where(rng.random(400) < 0.7, "a", "b")
        e = karat.evaluate(gold, pred, metrics=["accuracy"], slices={"country": country})
        sure += e["accuracy"].slices["country"].gap.interval.low > 0
    assert sure <= 0.05 * trials + 3 * np.sqrt(trials * 0.05 * 0.95)


def test_slices_of_weights_that_no_annotators_gave() -> None:
    """No two annotators: nothing is multiplied, in several test cases as in one."""
    gold = [{"test_case": f"T{i % 2}", "id": str(i), "value": {"A": i % 3 / 2, "B": 1 - i % 3 / 2}, "part": "xxy"[i % 3]} for i in range(12)]  # fmt: skip
    pred = [{"test_case": f"T{i % 2}", "id": str(i), "value": {"A": 0.5, "B": 0.5}} for i in range(12)]
    found = karat.evaluate(gold, pred, context="soft", metrics=["pairwise_kappa", "mae"], slices="part", resamples=50)
    assert [part.value for part in found["pairwise_kappa"].slices["part"]] == [None, None]
    assert {part.name: part.value for part in found["mae"].slices["part"]} == {"x": 0.25, "y": 0.5}


@pytest.mark.parametrize(("units", "small"), [(29, True), (30, False)])
def test_slices_of_thirty_units_are_not_small(units, small):
    gold = [{"id": str(i), "value": "ab"[i % 2], "part": "xy"[i % 2]} for i in range(2 * units)]
    e = karat.evaluate(gold, {str(i): "a" for i in range(2 * units)}, metrics=["accuracy"], slices="part")
    assert [f.facts["count"] for f in e.findings if f.code == "small-slices"] == [2] * small
