# SPDX-License-Identifier: Apache-2.0
"""Comparison of systems: pairing, tests, corrections, verdicts, gates, reports, the command."""

from __future__ import annotations

import csv
import io
import json
import pickle
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import karat
from karat.cli.main import karat as command
from karat.comparison import flipped
from karat.gate import gates
from karat.pytest_plugin import assert_not_worse  # noqa: F401 - the fixture
from karat.stats.tests import mcnemar

RNG = np.random.default_rng(4)
N = 240
GOLD = RNG.choice(["A", "B", "C"], N, p=[0.5, 0.3, 0.2])


def noisy(accuracy: float) -> np.ndarray:
    return np.where(RNG.random(N) < accuracy, GOLD, RNG.choice(["A", "B", "C"], N))


SYSTEMS = {"good": noisy(0.95), "fair": noisy(0.8), "even": noisy(0.8), "poor": noisy(0.4)}
METRICS = ["accuracy", "f1", "kappa", "hamming_loss"]


def records(labels, case=lambda i: "T", **more):
    return [
        {"test_case": case(i), "id": f"d{i}", "value": str(v)} | {k: f(i) for k, f in more.items()}
        for i, v in enumerate(labels)
    ]


@pytest.fixture(scope="module")
def comparison():
    return karat.compare(GOLD, SYSTEMS, metrics=METRICS, resamples=499)


def test_all_pairs_and_metrics(comparison):
    assert len(comparison.pairs) == 6 * 4
    assert comparison.family == 24
    assert [str(m) for m in comparison.metrics] == METRICS


def test_differences_are_those_of_the_scores(comparison):
    for pair in comparison.pairs:
        a, b = (
            next(s for s in comparison.evaluation.systems if s.name == n)[pair.metric].value for n in (pair.a, pair.b)
        )
        assert pair.difference == pytest.approx(a - b)
        assert pair.interval.low <= pair.difference <= pair.interval.high


def test_accuracy_is_mcnemar_and_paired_t(comparison):
    pair = comparison.pair("good", "fair", "accuracy")
    a, b = (SYSTEMS[n] == GOLD for n in ("good", "fair"))
    n10, n01 = int((a & ~b).sum()), int((~a & b).sum())
    assert pair.test.name == "McNemar mid-p"
    assert pair.p == pytest.approx(mcnemar(n10, n01).p)
    by_name = {t.name: t for t in pair.tests}
    assert by_name["randomisation"].p == pytest.approx(mcnemar(n10, n01, "exact").p)
    assert by_name["randomisation"].exact
    d = a.astype(float) - b
    assert by_name["paired t"].p == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    low, high = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    assert pair.interval.low == pytest.approx(low)
    assert pair.interval.high == pytest.approx(high)
    assert (pair.effect.win, pair.effect.loss) == (n10, n01)


def macro_f1(gold, pred):
    hit = gold == pred
    return np.mean([2 * (hit & (gold == c)).sum() / ((gold == c).sum() + (pred == c).sum()) for c in "ABC"])


def test_the_reference_is_scikit_learns():
    from sklearn.metrics import f1_score

    assert macro_f1(GOLD, SYSTEMS["fair"]) == pytest.approx(f1_score(GOLD, SYSTEMS["fair"], average="macro"))


def test_randomisation_of_f1_is_that_of_items(comparison):
    """The p of swapping cells against the p of swapping items in a loop."""
    rng, a, b = np.random.default_rng(0), SYSTEMS["fair"], SYSTEMS["even"]
    observed = abs(macro_f1(GOLD, a) - macro_f1(GOLD, b))
    extreme = 0
    for _ in range(400):
        swap = rng.random(N) < 0.5
        x, y = np.where(swap, b, a), np.where(swap, a, b)
        extreme += abs(macro_f1(GOLD, x) - macro_f1(GOLD, y)) >= observed - 1e-12
    ours = comparison.pair("fair", "even", "f1").p
    assert ours == pytest.approx((extreme + 1) / 401, abs=0.1)


def test_jackknife_of_the_difference_is_that_of_items(comparison):
    a, b = SYSTEMS["fair"], SYSTEMS["poor"]
    left_out = [
        macro_f1(np.delete(GOLD, i), np.delete(a, i)) - macro_f1(np.delete(GOLD, i), np.delete(b, i)) for i in range(N)
    ]
    se = np.sqrt((N - 1) / N * ((left_out - np.mean(left_out)) ** 2).sum())
    assert comparison.pair("fair", "poor", "f1").interval.se == pytest.approx(se)


def test_verdicts_and_sentences(comparison):
    assert comparison.pair("good", "poor", "f1").verdict == "better"
    assert comparison.pair("poor", "good", "f1").verdict == "worse"
    assert comparison.pair("fair", "even", "f1").verdict == "inconclusive"
    said = comparison.pair("good", "poor", "f1").sentence
    assert said.startswith("good is better than poor on F1")
    assert "Holm-corrected p" in said
    assert "cannot be told apart" in comparison.pair("fair", "even", "kappa").sentence


def test_lower_is_better_turns_the_verdict(comparison):
    pair = comparison.pair("good", "poor", "hamming_loss")
    assert pair.difference < 0 < pair.gain
    assert pair.verdict == "better"
    assert pair.effect.win > pair.effect.loss


def test_p_is_never_zero(comparison):
    assert all(0 < t.p <= 1 for p in comparison.pairs for t in p.tests)


def test_corrected_p_is_holm_over_the_family(comparison):
    from karat.stats.corrections import holm

    raw = np.array([p.p for p in comparison.pairs])
    np.testing.assert_allclose([p.p_corrected for p in comparison.pairs], holm(raw))


def test_order_of_rows_and_systems_does_not_matter():
    order = np.random.default_rng(1).permutation(N)
    names = ["fair", "even"]
    one = karat.compare(records(GOLD), {n: records(SYSTEMS[n]) for n in names}, metrics=["f1", "kappa"], resamples=199)
    gold = [records(GOLD)[i] for i in order]
    two = karat.compare(
        gold, {n: [records(SYSTEMS[n])[i] for i in order[::-1]] for n in names}, metrics=["f1", "kappa"], resamples=199
    )
    assert one.to_dicts() == two.to_dicts()


def test_flipped_is_the_other_side(comparison):
    pair = comparison.pairs[0]
    assert flipped(flipped(pair)) == pair
    assert flipped(pair).difference == -pair.difference


def test_identical_systems_are_equal():
    c = karat.compare(GOLD, {"a": SYSTEMS["fair"], "b": SYSTEMS["fair"]}, metrics=METRICS, resamples=199)
    assert all(p.p == 1.0 and p.verdict == "inconclusive" and p.difference == 0 for p in c.pairs)


def test_small_data_are_enumerated():
    gold, a, b = list("ABABAB"), list("ABABAA"), list("BBAAAB")
    c = karat.compare(gold, {"a": a, "b": b}, metrics=["f1"], resamples=199)
    assert c.pairs[0].test.exact


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none", "tukey", "maxt"])
def test_every_correction(correction):
    c = karat.compare(
        GOLD,
        SYSTEMS,
        metrics=["f1"],
        correction=correction,
        baseline="poor" if correction == "maxt" else None,
        draws=499,
        resamples=199,
    )
    best = c.pair("good", "poor", "f1")
    assert best.p_corrected <= 0.05
    assert best.verdict == "better"
    if correction == "tukey":
        assert c.pair("fair", "even", "f1").p_corrected > 0.05


def test_tukey_of_accuracy_is_that_of_item_means():
    from karat.stats.families import mean_scores, randomised_tukey
    from karat.stats.streams import stream

    c = karat.compare(GOLD, SYSTEMS, metrics=["accuracy"], correction="tukey", draws=1999, resamples=199)
    x = np.stack([s == GOLD for s in SYSTEMS.values()], -1).astype(float)
    want = randomised_tukey(mean_scores(x), x.mean(0), N, stream(1, "t"), 1999)
    names = list(SYSTEMS)
    for pair in c.pairs:
        assert pair.p_corrected == pytest.approx(want[names.index(pair.a), names.index(pair.b)], abs=0.04)


def test_other_tests_on_request():
    c = karat.compare(
        GOLD,
        {k: SYSTEMS[k] for k in ("good", "fair")},
        metrics=["accuracy", "f1"],
        tests=["wilcoxon", "sign", "bootstrap"],
        resamples=199,
    )
    assert [t.name for t in c.pairs[0].tests] == [
        "McNemar mid-p",
        "randomisation",
        "paired t",
        "Wilcoxon",
        "sign",
        "paired bootstrap",
    ]
    assert [t.name for t in c.pairs[1].tests] == ["randomisation", "paired bootstrap"]
    assert c.pairs[1].tests[1].p == pytest.approx(c.pairs[1].p, abs=0.02)


def test_equivalence_and_posterior():
    c = karat.compare(
        GOLD,
        {k: SYSTEMS[k] for k in ("fair", "even", "poor")},
        metrics=["accuracy"],
        margin=0.5,
        rope=0.02,
        resamples=199,
    )
    pair = c.pair("fair", "even", "accuracy")
    assert pair.equivalence.p < 0.05
    found = c.pair("fair", "poor", "accuracy").posterior
    assert found.worse + found.equal + found.better == pytest.approx(1)
    assert found.better > 0.99


def test_leaderboard(comparison):
    board = next(iter(comparison.leaderboards.values()))
    assert board[0].system == "good"
    assert [p.rank for p in board] == [1, 2, 3, 4]
    assert board[0].low == 1
    assert board[-1].low == board[-1].high == 4
    middle = {p.system: p for p in board}
    assert middle["fair"].high == 3
    assert set(middle["fair"].groups) & set(middle["even"].groups)
    assert not set(middle["fair"].groups) & set(middle["poor"].groups)


def test_disagreements(comparison):
    rows = comparison.disagreements("good", "poor", "accuracy")
    a, b = (SYSTEMS[n] == GOLD for n in ("good", "poor"))
    assert len(rows) == int((a != b).sum())
    assert sum(r["wins"] == "good" for r in rows) == int((a & ~b).sum())
    assert [r["gain"] for r in rows] == sorted((r["gain"] for r in rows), reverse=True)
    back = comparison.disagreements("poor", "good", "accuracy")
    assert {r["id"] for r in back if r["wins"] == "good"} == {r["id"] for r in rows if r["wins"] == "good"}


def test_units_are_paired_by_id_and_missing_ones_are_said():
    a, b = records(SYSTEMS["good"]), records(SYSTEMS["fair"])[:200]
    c = karat.compare(records(GOLD), {"a": a, "b": b}, metrics=["accuracy"], resamples=199)
    assert c.pairs[0].units == N
    assert "gold-only-ids" in {f.code for f in c.findings}
    skipped = karat.compare(records(GOLD), {"a": a, "b": b}, metrics=["accuracy"], missing="skip", resamples=199)
    assert skipped.pairs[0].units == 200
    assert "common-units" in {f.code for f in skipped.findings}
    want = (SYSTEMS["good"] == GOLD)[:200].mean()
    assert skipped.pairs[0].a_value == pytest.approx(want)


def test_label_sets_may_differ():
    odd = SYSTEMS["fair"].copy()
    odd[:5] = "Z"
    c = karat.compare(GOLD, {"a": SYSTEMS["good"], "b": odd}, metrics=["accuracy", "f1", "icm"], resamples=199)
    assert all(p.verdict == "better" for p in c.pairs)
    assert c.pairs[1].test.name == "randomisation"
    for pair in c.pairs:
        assert pair.b_value == pytest.approx(c.evaluation.systems[1][pair.metric].value)


def test_label_sets_of_spans_may_differ():
    rng = np.random.default_rng(6)
    gold = spans(rng, 1.0)
    odd = [[t.replace("LOC", "ORG") for t in row] for row in spans(rng, 0.9, gold)]
    c = karat.compare(gold, {"a": spans(rng, 0.95, gold), "b": odd}, context="spans", metrics=["f1"], resamples=199)
    assert c.pairs[0].test.name == "paired bootstrap"
    assert "labels or levels differ" in c.pairs[0].test.note
    assert c.pairs[0].verdict == "better"


def test_several_test_cases_give_ranks():
    case = lambda i: f"T{i % 8}"
    c = karat.compare(
        records(GOLD, case), {n: records(s, case) for n, s in SYSTEMS.items()}, metrics=["f1"], rope=0.01, resamples=199
    )
    ranks = c.ranks[0]
    assert ranks.test_cases == 8
    assert ranks.mean_ranks[0] < ranks.mean_ranks[3]
    assert sum(c.pairs[0].test_cases) == 8
    assert c.pairs[0].posterior is not None
    assert c.pair("good", "poor", "f1").verdict == "better"


def test_clusters_swap_whole():
    doc = lambda i: f"doc{i // 8}"
    gold = records(GOLD, doc=doc)
    c = karat.compare(
        gold,
        {n: records(SYSTEMS[n]) for n in ("good", "poor")},
        metrics=["accuracy", "f1"],
        cluster_by="doc",
        resamples=199,
    )
    assert all(p.verdict == "better" for p in c.pairs)
    assert c.pairs[0].test.name == "randomisation"


def test_too_few_draws_are_said():
    c = karat.compare(GOLD, SYSTEMS, metrics=["f1", "kappa"], draws=99, resamples=199)
    assert "too-few-draws" in {f.code for f in c.findings}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"correction": "magic"}, "not one of"),
        ({"tests": ["magic"]}, "not one of"),
        ({"baseline": "nobody"}, "no system 'nobody'"),
        ({"correction": "maxt"}, "name one"),
        ({"level": 2.0}, "not between"),
    ],
)
def test_wrong_wishes_are_explained(given, said):
    with pytest.raises(karat.MetricError, match=said):
        karat.compare(GOLD, {k: SYSTEMS[k] for k in ("good", "fair")}, **given)


def test_one_system_is_no_comparison():
    with pytest.raises(karat.MetricError, match="two systems"):
        karat.compare(GOLD, {"a": SYSTEMS["good"]})


@pytest.mark.parametrize("report", ["table", "markdown", "latex", "tsv", "csv", "json", "html"])
def test_reports(comparison, report):
    text = comparison.render(report)
    for name in SYSTEMS:
        assert name in text
    assert "nan" not in text.lower().replace("provenance", "")
    if report == "json":
        assert json.loads(text)["family"]["size"] == 24
    if report == "csv":
        assert len(list(csv.DictReader(io.StringIO(text)))) == 24


def test_page_is_well_formed_and_stands_alone(comparison):
    text = comparison.to_html()
    charts = [chart.split("</svg>")[0] + "</svg>" for chart in text.split("<figure>")[1:]]
    assert sum("Difference of" in c or "p-values" in c for c in charts) == 4 * 2
    for chart in charts:
        ElementTree.fromstring(chart[chart.index("<svg") :])
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_frames(comparison):
    assert len(comparison.to_pandas()) == len(comparison.to_polars()) == 24


def test_unknown_reports_and_metrics_suggest(comparison):
    with pytest.raises(karat.MetricError, match="markdown"):
        comparison.render("markdwn")
    with pytest.raises(karat.MetricError, match="in this comparison"):
        comparison.of("mcc")
    with pytest.raises(karat.MetricError, match="not compared"):
        comparison.pair("good", "nobody", "f1")


def test_gate_has_three_outcomes():
    base = {"metrics": ["accuracy"], "baseline": "fair", "resamples": 199}
    c = karat.compare(GOLD, {k: SYSTEMS[k] for k in ("good", "even", "poor", "fair")}, **base)
    assert {g.system: g.outcome for g in gates(c)} == {"good": "not worse", "even": "inconclusive", "poor": "worse"}
    assert {g.system: g.outcome for g in gates(c, margin=0.2)}["even"] == "not worse"


def test_assert_not_worse(assert_not_worse):  # noqa: F811
    assert_not_worse(GOLD, SYSTEMS["good"], SYSTEMS["fair"], metrics=["accuracy"])
    with pytest.raises(AssertionError, match="worse than baseline on Accuracy"):
        assert_not_worse(GOLD, SYSTEMS["poor"], SYSTEMS["fair"], metrics=["accuracy"])
    with pytest.raises(AssertionError, match="not shown"):
        assert_not_worse(GOLD, SYSTEMS["even"], SYSTEMS["fair"], metrics=["accuracy"], inconclusive="fail")


@pytest.fixture
def files(tmp_path):
    for name, labels in {"gold": GOLD, **SYSTEMS}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(records(labels)))
    return tmp_path


def run(files, *args):
    given = [str(files / f"{a}.json") if a in ("gold", *SYSTEMS) else a for a in args]
    return CliRunner().invoke(command, ["compare", *given, "--resamples", "199"])


def test_command_reports(files):
    result = run(files, "gold", "good", "poor", "-m", "f1")
    assert result.exit_code == 0, result.output
    assert "good.json is better than poor.json on F1" in result.stdout
    assert json.loads(run(files, "gold", "good", "poor", "-m", "f1", "--report", "json").stdout)["pairs"]


def test_command_gate(files):
    worse = run(files, "gold", "poor", "good", "-m", "accuracy", "--fail-if-worse", "good.json")
    assert worse.exit_code == 1
    assert "failed: poor.json is worse than good.json" in worse.stderr
    assert run(files, "gold", "good", "poor", "-m", "accuracy", "--fail-if-worse", "poor.json").exit_code == 0
    unsure = ["gold", "even", "fair", "-m", "accuracy", "--fail-if-worse", "fair.json"]
    assert run(files, *unsure).exit_code == 0
    assert run(files, *unsure, "--inconclusive", "fail").exit_code == 1
    assert run(files, "gold", "even", "fair", "--fail-if-worse", "nobody").exit_code == 2


def test_command_disagree(files):
    target = files / "units.csv"
    assert run(files, "gold", "good", "poor", "-m", "accuracy", "--disagree", str(target)).exit_code == 0
    rows = list(csv.DictReader(target.open()))
    assert {r["wins"] for r in rows} == {"good.json", "poor.json"}
    shown = run(files, "gold", "good", "poor", "-m", "accuracy", "--disagree", "-")
    assert len(shown.stdout.splitlines()) == len(rows) + 1


def test_weights_of_joint_cells_are_gathered():
    from karat.stats.comparing import gathered

    W = np.array([[1.0, 2.0, 4.0, 8.0]])
    np.testing.assert_array_equal(gathered(W, np.array([2, -1, 0, 2]), 4), [[4, 0, 9, 0]])


def spans(rng, accuracy, gold=None):
    tags = ["O", "O", "O", "B-PER", "B-LOC"]
    if gold is None:
        return [list(rng.choice(tags, 12)) for _ in range(60)]
    return [[t if rng.random() < accuracy else str(rng.choice(tags)) for t in row] for row in gold]


def bundles(rng, accuracy, gold=None):
    turned = lambda first: first if rng.random() < accuracy else not first
    first = lambda i, j: (
        bool(j == 0 or rng.random() < 0.3) if gold is None else turned(gold[i]["pages"][j]["is_first_page"])
    )
    page = lambda i, j: {"number": j + 1, "is_first_page": first(i, j)}
    return [{"document_id": str(i), "pages": [page(i, j) for j in range(6)]} for i in range(50)]


def label_sets(rng, accuracy, gold=None):
    pick = lambda: [str(x) for x in rng.choice(list("ABCD"), 2, replace=False)]
    if gold is None:
        return [{"id": str(i), "value": pick()} for i in range(120)]
    return [row if rng.random() < accuracy else row | {"value": pick()} for row in gold]


def weights(rng, accuracy, gold=None):
    draw = lambda: rng.dirichlet([1.0, 1.0, 1.0])
    if gold is None:
        return [{"id": str(i), "value": dict(zip("ABC", draw().round(3).tolist(), strict=True))} for i in range(80)]
    mix = lambda row: accuracy * np.array(list(row["value"].values())) + (1 - accuracy) * draw()
    return [{"id": row["id"], "value": dict(zip("ABC", mix(row).round(4).tolist(), strict=True))} for row in gold]


@pytest.mark.parametrize(
    ("context", "make"), [("spans", spans), ("splitting", bundles), ("multilabel", label_sets), ("soft", weights)]
)
def test_every_metric_of_every_context(context, make):
    """All metrics have an interval around their score, and the better system is never called worse."""
    rng = np.random.default_rng(6)
    gold = make(rng, 1.0)
    pair = {"good": make(rng, 0.95, gold), "poor": make(rng, 0.6, gold)}
    c = karat.compare(gold, pair, context=context, metrics=["all"], resamples=199, draws=299, correction="none")
    assert c.evaluation.context == context
    for score in c.evaluation.systems[0]:
        if score.value is not None:
            assert score.interval is not None, score.metric
            assert score.interval.low - 1e-9 <= score.value <= score.interval.high + 1e-9, score.metric
    f1 = c.pair("good", "poor", "f1")
    assert f1.verdict == "better"
    assert f1.test.name == "randomisation"
    assert f1.interval.low <= f1.difference <= f1.interval.high


def test_units_needed_for_a_difference():
    pair = {k: SYSTEMS[k] for k in ("fair", "even")}
    first, half = (
        karat.compare(GOLD, pair, metrics=["accuracy"], detect=d, resamples=199).pairs[0] for d in (0.02, 0.01)
    )
    # Half the difference needs four times the units; as many units as there are show the detectable difference.
    assert half.needed == pytest.approx(4 * first.needed, rel=0.01)
    again = karat.compare(GOLD, pair, metrics=["accuracy"], detect=first.mde, resamples=199).pairs[0]
    assert again.needed == pytest.approx(N, abs=2)
    with pytest.raises(karat.MetricError, match="positive"):
        karat.compare(GOLD, pair, detect=-1.0)


def test_queries_are_units(tmp_path):
    """Rankings: a query is a test case and a unit; t and interval are those of SciPy on the queries."""
    rng = np.random.default_rng(8)
    grade = rng.integers(0, 3, (30, 20))
    qrels = "".join(f"q{q} 0 d{d} {grade[q, d]}\n" for q in range(30) for d in range(20))
    (tmp_path / "qrels.txt").write_text(qrels)
    for name, noise in (("sharp", 0.5), ("blurred", 2.0)):
        score = grade + noise * rng.normal(size=grade.shape)
        lines = [f"q{q} Q0 d{d} 1 {score[q, d]:.5f} {name}\n" for q in range(30) for d in range(20)]
        (tmp_path / name).write_text("".join(lines))
    files = [tmp_path / "sharp", tmp_path / "blurred"]
    c = karat.compare(tmp_path / "qrels.txt", files, metrics=["average_precision", "ndcg"], resamples=499)
    a, b = ([p.value for p in s["ndcg"].by_test_case.values()] for s in c.evaluation.systems)
    pair = c.of("ndcg")[0]
    want = stats.ttest_rel(a, b)
    assert {t.name: t.p for t in pair.tests}["paired t"] == pytest.approx(want.pvalue)
    low, high = want.confidence_interval(0.95)
    assert (pair.interval.low, pair.interval.high) == pytest.approx((low, high))
    assert pair.units == 30
    assert pair.verdict == "better"
    assert c.evaluation.systems[0]["ndcg"].interval.method in ("student-t", "bootstrap-bca")
    assert len(c.disagreements(pair.a, pair.b, "ndcg")) == 30


def test_clusterings_fall_back_to_the_bootstrap():
    rng = np.random.default_rng(2)
    gold = {str(i): f"c{i % 5}" for i in range(100)}
    noise = lambda share: {k: v if rng.random() < share else f"c{rng.integers(5)}" for k, v in gold.items()}
    c = karat.compare(
        gold, {"a": noise(0.95), "b": noise(0.5)}, context="clustering", metrics=["bcubed_f1"], resamples=199
    )
    assert c.pairs[0].test.name == "paired bootstrap"
    assert c.pairs[0].verdict == "better"


def test_comparisons_can_be_pickled(comparison):
    again = pickle.loads(pickle.dumps(comparison))
    assert again.to_json() == comparison.to_json()
    with pytest.raises(karat.MetricError, match="compare again"):
        again.disagreements("good", "poor")


def test_names_of_corrections_are_those_that_exist():
    from karat.stats import corrections, wishes

    assert tuple(corrections.CORRECTIONS) == wishes.CORRECTIONS


@pytest.mark.slow
def test_family_error_of_three_equal_systems():
    """Holm over pairs and metrics: a false verdict in at most 5 % of null experiments."""
    rng, wrong, runs = np.random.default_rng(31), 0, 200
    for seed in range(runs):
        gold = rng.choice(["A", "B", "C"], 150, p=[0.5, 0.3, 0.2])
        null = {n: np.where(rng.random(150) < 0.75, gold, rng.choice(["A", "B", "C"], 150)) for n in "xyz"}
        c = karat.compare(gold, null, metrics=["f1", "kappa"], resamples=100, draws=999, seed=seed)
        wrong += any(p.verdict != "inconclusive" for p in c.pairs)
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    ("context", "make"), [("spans", spans), ("splitting", bundles), ("multilabel", label_sets), ("soft", weights)]
)
def test_cells_that_no_metric_tells_apart_may_be_merged(context, make):
    """Scores of merged cells are the scores, whatever the counts."""
    from karat.contexts import catalogue
    from karat.stats.battery import Battery
    from karat.stats.estimate import sample_of
    from karat.stats.ledger import merged

    rng = np.random.default_rng(9)
    gold = make(rng, 1.0)
    e = karat.evaluate(gold, make(rng, 0.7, gold), context=context, metrics=["all"])
    battery = Battery(catalogue(context), e.metrics)
    stratum = sample_of(e.systems[0].cells, battery, True).strata[0]
    for _ in range(3):
        n = rng.integers(0, 4, stratum.design.width).astype(float)
        score, count = merged(stratum.statistic, n, few=0)
        assert count.sum() == n.sum()
        np.testing.assert_allclose(score(count[None]), stratum.statistic(n[None]), rtol=1e-9, atol=1e-12)


def test_label_sets_of_sets_may_differ():
    rng = np.random.default_rng(6)
    gold = label_sets(rng, 1.0)
    odd = [row | {"value": [*row["value"], "Z"]} if i < 40 else row for i, row in enumerate(label_sets(rng, 0.9, gold))]
    c = karat.compare(gold, {"a": label_sets(rng, 0.95, gold), "b": odd}, metrics=["f1", "jaccard"], resamples=199)
    assert all(p.test.name == "randomisation" and p.verdict == "better" for p in c.pairs)
    assert c.pairs[0].b_value == pytest.approx(c.evaluation.systems[1]["f1"].value)


def test_threads_do_not_change_a_digit():
    from concurrent.futures import ThreadPoolExecutor

    def rows(_):
        return karat.compare(
            GOLD, {k: SYSTEMS[k] for k in ("fair", "even")}, metrics=["f1", "kappa"], resamples=199, draws=499
        ).to_dicts()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(rows, range(4)))
    assert all(f == found[0] for f in found)


def test_charts_share_their_groups_with_the_table(comparison):
    charts = comparison.charts()
    assert len(charts) == 8
    assert all(chart.startswith("<svg") for chart in charts)


def test_a_metric_that_is_undefined_from_the_start():
    """It asks for no product at all."""
    gold = [{"A": 0.7, "B": 0.3}, {"A": 0.2, "B": 0.8}] * 10
    found = karat.compare(gold, {"x": gold, "y": gold[::-1]}, metrics=["wasserstein", "manhattan"], draws=19)
    assert found.pairs[0].verdict == "undefined"
    alone = karat.compare(gold, {"x": gold, "y": gold[::-1]}, metrics=["wasserstein"], draws=19)
    assert alone.pairs[0].p is None
